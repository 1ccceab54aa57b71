"""Collects the inputs from which fuzzing begins, in a folder for each fuzz target.

Models and jobs come from the repository, from Debian's package libonnx-testdata if it is
installed, and from --models. Data files are generated.
"""

import argparse
import gzip
import io
import json
import pathlib
import re
import struct
import sys
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "Hostile"))

import extremes  # noqa: E402
from onnx_writer import field  # noqa: E402

TINY_JOB = ROOT / "test" / "Driver" / "Inputs" / "tiny.hfta"
ONNX_NODES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
MOST_BYTES = 1 << 16  # larger files are left out; also the -max_len in docs/fuzzing.md


def find(folder, pattern):
    """Yields the name and contents of small files that match, except in build folders."""
    for path in sorted(folder.rglob(pattern)):
        inside = path.relative_to(folder).parts
        if inside[0].startswith("build") or path.stat().st_size > MOST_BYTES:
            continue
        yield "-".join(inside), path.read_bytes()


def bind(model, tensors):
    """Adds initializers (field 5) to the model's graph (field 7) by appending a model that
    has only these: in concatenated protobuf messages, submessages are merged."""
    return model + field(7, b"".join(field(5, tensor) for tensor in tensors))


def renew(model):
    """Sets the newest IR version and operator set by appending them: of a protobuf field
    that is given twice, the last value counts."""
    return (model + field(1, extremes.NEWEST_IR) +
            field(8, field(1, "") + field(2, extremes.NEWEST_OPSET)))


def choose(model, *lists):
    """Adds a metadata entry `hfta.parameters` for each list of trained parameters, as
    python/hfta/export.py does."""
    return model + b"".join(field(14, field(1, "hfta.parameters") + field(2, names))
                            for names in lists)


def onnx_seeds(folders=()):
    for folder in [ROOT, *folders]:
        yield from find(folder, "*.onnx")
    model = (ROOT / "test/models/mlp.onnx").read_bytes()
    for index, lists in enumerate([
            ["hidden.weight\nhidden.bias"], ["hidden.weight", "hidden.bias"],
            ["norm.weight\nnorm.running_mean"], [""], ["nowhere"]]):
        yield f"parameters-{index}", choose(model, *lists)
    yield from extremes.extreme_models()
    for name, model in find(ONNX_NODES, "*.onnx"):
        yield name, model
        yield "newest-" + name, renew(model)
        # In these models, settings such as shapes are inputs, but Hfta needs them as
        # constants. So the integers (data_type 7, int64), or all inputs, are made
        # initializers.
        folder = ONNX_NODES / name.removesuffix("-model.onnx") / "test_data_set_0"
        inputs = [path.read_bytes() for path in sorted(folder.glob("input_*.pb"))]
        integers = [tensor for tensor in inputs if b"\x10\x07" in tensor[:32]]
        if integers and sum(map(len, inputs)) < MOST_BYTES // 2:
            yield "settings-" + name, bind(model, integers)
            yield "constant-" + name, bind(model, inputs)


# Clauses that distribute a job to workers.
PIPELINES = [
    "pipeline auto", 'pipeline plan("plan.json")', "pipeline replicas = [4], bucket = 4KiB",
    'pipeline cuts = ["hidden"], order = file("order.csv")',
    'pipeline cuts = ["hidden"], replicas = [2, 4], in_flight = [1, 2], overlap = false',
    'pipeline cuts = [["hidden", "image"]], order = zero_bubble',
    'pipeline cuts = ["hidden", "a", "b"], order = interleaved, chunks = 2',
    'pipeline cuts = ["hidden", "a", "b"], order = v_shape\n  recompute all',
    "cluster devices = [2, 2]\n  recompute auto\n  pipeline auto, costs = published",
    "cluster devices = [4, 2, 2], memory = 1e9, link = 25e9, network = 3e9, "
    "point_to_point = 1e9, latency = 1e-5, duplex = half\n  pipeline auto",
]


def pipeline_jobs(job):
    """Yields versions of `job` with more layers after the first one, and with the clauses
    of PIPELINES."""
    job = job.replace("return linear(hidden, 3)",
                      "a = relu(linear(hidden, 8))\n  b = relu(linear(a, 8) + hidden)\n"
                      "  return linear(b, 3)")
    for index, clauses in enumerate(PIPELINES):
        yield f"pipeline-{index}.hfta", job.replace(
            "seed      1", f"micro_batches 8, groups = 4\n  {clauses}", 1).encode()


def language_seeds():
    yield from find(ROOT, "*.hfta")
    yield from extremes.extreme_jobs(TINY_JOB.read_text())
    yield from pipeline_jobs(TINY_JOB.read_text())
    for page in ("language", "pipelines"):
        text = (ROOT / f"docs/{page}.md").read_text()
        for index, block in enumerate(re.findall(r"```\w*\n(.*?)```", text, re.S)):
            yield f"{page}-{index}.hfta", block.encode()
    for name, test in find(ROOT / "test", "*.test"):
        for part, text in re.findall(r"^#--- (\S+\.hfta)\n(.*?)(?=^#--- |\Z)",
                                     test.decode(), re.M | re.S):
            yield f"{name}-{part.replace('/', '-')}", text.encode()


# Files that planning reads: a plan of `hftac --plan-pipeline`, costs as `bench --phases
# --json` of a program prints them, and a workload for `hftac --simulate`.
PLAN = {
    "model": "5c03", "cluster": {
        "devices": [2, 1], "memory": 1000000000, "link": 25000000000,
        "network": 3000000000, "point_to_point": 3000000000, "latency": 0,
        "duplex": "full"},
    "micro_batches": 4, "order": "auto",
    "actions": ["0F0,0F1,0F2,0F3,0I0,0W0,0I1,0W1,0I2,0W2,0I3,0W3",
                "1F0,1I0,1F1,1I1,1W0,1W1"],
    "latency_ms": 0.29, "estimate_ms": 0.27, "pivot": 2, "simulated_ms": 0.255,
    "speedup": 2.03, "stages": [
        {"first": "a", "last": "a", "replicas": 1, "devices": [0], "groups": 1,
         "in_flight": 4, "forward_ms": 0.005, "backward_ms": 0.02, "all_reduce_ms": 0,
         "peak_bytes": 5568},
        {"first": "loss", "last": "loss", "replicas": 2, "devices": [1, 2], "groups": 2,
         "in_flight": 2, "forward_ms": 0.065, "backward_ms": 0.04,
         "all_reduce_ms": 4.8e-05, "peak_bytes": 11776}]}
COSTS = {
    "model": "5c03", "cuts": [["a"], ["b", "skip"]], "copies": 2, "batch": 64,
    "micro_batches": 8, "tasks": [
        {"name": "forward.0", "runs": 8, "seconds": 0.25},
        {"name": "update.0", "runs": 1, "seconds": 0}],
    "links": [{"ranks": [0, 1], "latency": 1e-5, "bytes_per_second": 4e9},
              {"ranks": [0, 2], "latency": 3e-5, "bytes_per_second": 1e8,
               "slowdown": 1.25}]}
WORKLOAD = {
    "devices": 2, "read_bytes_per_second": 1e9, "write_bytes_per_second": 5e8,
    "double_buffer": True, "models": [{"name": name, "batches": 2, "units": [
        {"kind": kind, "shard": shard, "seconds": 0.25, "bytes_in": 3000,
         "bytes_out": 100, "shard_bytes": 2000}
        for kind, shard in (("f", 0), ("fl", 1), ("b", 0))]} for name in "abc"]}
# Files for `order = file(...)`, with a row for each worker: with whole backwards (B) or
# split ones (I and W), and with one chunk or two per stage.
ORDERS = ["0F0,0F1,0B0,0B1,0F2,0F3,0B2,0B3", "0F0,0F1,0F2,0F3,0B0,0B1,0B2,0B3\n"
          "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3",
          "0F0,0F1,0F2,0F3,0I0,0W0,,0I1,0W1,0I2,0W2,0I3,0W3\n"
          "1F0,1I0,1F1,1I1,1W0,1W1,1F2,1I2,1F3,1I3,1W2,1W3",
          "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1,0F2,0F3,2F2,2F3,2B2,2B3,0B2,0B3\n"
          "1F0,1F1,3F0,3B0,3F1,3B1,1B0,1B1,1F2,1F3,3F2,3B2,3F3,3B3,1B2,1B3",
          "0F0,0F1,3F0,3B0,3F1,3B1,0B0,0B1,0F2,0F3,3F2,3B2,3F3,3B3,0B2,0B3\n"
          "1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1,1F2,2F2,1F3,2F3,2B2,1B2,2B3,1B3"]


def planning_seeds():
    yield from find(ROOT / "test" / "Driver" / "Inputs", "*.txt")
    for name, value in (("plan", PLAN), ("costs", COSTS),
                        ("workload", WORKLOAD)):
        yield name, json.dumps(value).encode()
    for index, order in enumerate(ORDERS):
        yield f"order-{index}", order.encode()


def idx_file(code, shape, data):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, code, len(shape), *shape) + data


def idx_seeds():
    images = idx_file(0x08, [3, 2, 2], bytes(range(12)))
    yield "images", images
    yield "images.gz", gzip.compress(images, mtime=0)
    yield "labels", idx_file(0x08, [3], bytes(3))
    for code, size in [(0x09, 1), (0x0B, 2), (0x0C, 4), (0x0D, 4), (0x0E, 8)]:
        yield f"type-{code}", idx_file(code, [2, 3], bytes(6 * size))
    yield "empty", idx_file(0x08, [0, 4], b"")


def npy_file(descr, shape, data, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    size = "<H" if version == 1 else "<I"
    start = 8 + struct.calcsize(size)
    header += " " * (-(start + len(header) + 1) % 64) + "\n"
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack(size, len(header)) +
            header.encode() + data)


def npy_seeds():
    types = ["|b1", "|u1", "|i1", "<u2", "<i2", "<i4", "<i8", "<f2", "<V2", "<f4",
             "<f8", "<u4", "<u8"]
    for descr in types:
        size = int(descr[-1])
        yield descr[1:], npy_file(descr, (2, 3), bytes(6 * size))
    for version in (2, 3):
        yield f"version-{version}", npy_file("<f4", (2,), bytes(8), version)
    yield "fortran", npy_file("<f4", (4, 1), bytes(16), fortran=True)
    yield "transposed", npy_file("<f4", (2, 3, 2), bytes(48), fortran=True)
    yield "big-endian", npy_file(">f4", (2, 3), bytes(24))
    yield "everything", npy_file(">u4", (3, 2), bytes(24), fortran=True)
    yield "large", npy_file("<u8", (1,), b"\xff" * 8)
    yield "scalar", npy_file("<f8", (), bytes(8))
    yield "empty", npy_file("<f4", (0, 5), b"")


def npz_seeds():
    arrays = {"x.npy": npy_file("<f4", (2, 3), bytes(24)),
              "y.npy": npy_file(">i2", (3, 2), bytes(12), fortran=True)}
    for name, method in [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)]:
        for order in (arrays, dict(reversed(arrays.items())), {"x": arrays["y.npy"]}):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", method) as out:
                for member, data in order.items():
                    # As NumPy does, with 64-bit sizes.
                    with out.open(zipfile.ZipInfo(member), "w", force_zip64=True) as file:
                        file.write(data)
            yield f"{name}-{'-'.join(order)}", archive.getvalue()


def image_seeds():
    def chunk(kind, data):
        part = kind + data
        return struct.pack(">I", len(data)) + part + struct.pack(">I", zlib.crc32(part))

    # Color types with their numbers of samples, and depths.
    for color, samples, depths in ((0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)),
                                   (3, 1, (1, 2, 4, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))):
        for depth in depths:
            row = (5 * samples * depth + 7) // 8
            rows = b"".join(bytes([y]) + bytes(range(y, y + row)) for y in range(5))
            header = struct.pack(">IIBBBBB", 5, 5, depth, color, 0, 0, 0)
            yield f"png-{color}-{depth}", (
                b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                chunk(b"PLTE", bytes(3 * 256)) + chunk(b"IDAT", zlib.compress(rows)) +
                chunk(b"IEND", b""))
    header = struct.pack(">IIBBBBB", 3, 3, 8, 0, 0, 0, 1)
    rows = b"\0a\0b\0cd\0e\0f\0ghi"
    yield "png-interlaced", (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                             chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def csv_seeds():
    yield "header", b"a,b,c,d\n1,2,3,4\n5,6,7,8\n"
    yield "floats", b"1.5, -2e3,inf,nan\r\n\r\n 3.0,4,-inf,.5"
    yield "gzip", gzip.compress(b"1,2,3,4\n" * 3, mtime=0)
    yield "numbers", b"\xef\xbb\xbf0,1,2,3\n1,2,3,4\n"
    yield "tabs", b"1\t2\t3\t4\n1\t2\t3\t4\n"
    yield "quotes", b'a,"b""c",c\n"1",2,"x,\n"\n3, "4" ,\n'
    yield "semicolons", b"a;b\"c;c\n1;2;3\n"
    yield "bars", b"a|b\"c|c\n1|2|3\n"
    yield "spaces", b"a  b\"c c\n 1\t 2 3 \n"
    yield "utf-16", "1,2,3,4\n".encode("utf-16")


def safetensors_file(tensors, metadata=None):
    """Returns a safetensors file of tensors, given as (name, type, shape, data)."""
    header, end = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(t[3] for t in tensors)


def safetensors_seeds():
    yield "none", safetensors_file([])
    yield "types", safetensors_file(
        [(f"t.{kind}", kind, [2, 1], bytes(2 * size))
         for kind, size in [("BOOL", 1), ("U8", 1), ("I8", 1), ("U16", 2), ("I16", 2),
                            ("I32", 4), ("I64", 8), ("F16", 2), ("BF16", 2),
                            ("F32", 4), ("F64", 8)]], {"a": "\u00e9\n"})
    yield "scalar", safetensors_file([("s", "F32", [], bytes(4)),
                                      ("empty", "F32", [0], b"")])
    # These are the variables of unittests/Runtime/Fakes/FakeProgram.c.
    weights = [(name, "F32", shape, bytes(4 * shape[0] * shape[1]))
               for name, shape in [("first.weight", [6, 5]), ("second.weight", [5, 3]),
                                   ("first.weight.momentum", [6, 5]),
                                   ("second.weight.momentum", [5, 3])]]
    metadata = {"format": "hfta-checkpoint", "version": "1",
                "identity": "identity-mlp", "step": "1",
                "epoch_loss": "3ff0000000000000"}
    yield "checkpoint", safetensors_file(weights, metadata)
    yield "checksum", safetensors_file(
        weights, {**metadata, "version": "2", "checksum": "0" * 16})


# Requests, and lines of a journal.
REQUESTS = [
    {"id": 7, "command": "status", "trials": [0, 1]}, {"id": "a", "command": "save"},
    {"command": "add", "settings": [{"lr": 0.5, "seed": 3}, {"lr": 1e-3, "seed": 4}]},
    {"command": "more", "count": 2}, {"command": "stop", "trials": [3, 5]},
    {"command": "clone", "trial": 3, "set": {"lr": 0.25}, "warm": False},
    {"command": "set", "trials": [0], "set": {"seed": 9}}, {"command": "end", "now": True},
    {"command": "ask", "count": 1}, {"command": "tell", "trial": 2, "at": 3, "score": "nan"},
    {"command": "add", "settings": [{"lr": 1, "seed": 2, "schedule": "cosine"}]}]
EVENTS = [
    {"event": "search", "version": 1, "job": "tune", "trials": "9"},
    {"event": "trial", "trial": 0, "settings": {"lr": 0.5}},
    {"event": "evaluated", "fold": 0, "epoch": 1, "trials": [0, 1], "train_loss": [0.5, "nan"],
     "validation_loss": [0.25, "inf"], "validation_metric": ["nan", "-inf"]},
    {"event": "decided", "trial": 0, "epoch": 1, "verdict": "goes on", "score": 0.25},
    {"event": "command", "command": "stop", "trials": [3]}]


def search_seeds():
    lines = [json.dumps(line, separators=(",", ":")) for line in REQUESTS + EVENTS]
    for index, line in enumerate(lines):
        yield f"line-{index}", line.encode()
    yield "journal", ("\n".join(lines[len(REQUESTS):]) + "\n").encode()


TARGETS = {"onnx": onnx_seeds, "language": language_seeds, "planning": planning_seeds,
           "idx": idx_seeds, "npy": npy_seeds, "npz": npz_seeds, "csv": csv_seeds,
           "image": image_seeds,
           "safetensors": safetensors_seeds, "search": search_seeds}


def write_seeds(folder, target, *arguments):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in TARGETS[target](*arguments):
        (folder / name).write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path, help="gets a folder a target")
    parser.add_argument("--models", type=pathlib.Path, action="append", default=[],
                        metavar="FOLDER", help="more ONNX models")
    arguments = parser.parse_args()
    for target in TARGETS:
        write_seeds(arguments.out / target, target,
                    *([arguments.models] if target == "onnx" else []))


if __name__ == "__main__":
    main()
