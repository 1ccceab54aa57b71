"""Rows of trainings that resume from damaged, wrong or missing checkpoints."""

import copy
import json
import struct

import data_rows
from row import Row

STEP = "checkpoints/step-00000004/"
COPY = STEP + "copy-0001.safetensors"


def unpack(content):
    """Returns the header and the tensors' bytes of a safetensors file."""
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + size]), content[8 + size:]


def pack(header, body):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


class Checkpoint:
    """The checkpoint that the program `sweep` has written, and functions that make rows
    with changes to it."""

    def __init__(self, program):
        folder = program / "good/step-00000004"
        self.files = {STEP + path.name: path.read_bytes()
                      for path in folder.iterdir()}
        self.checked, self.body = unpack(self.files[COPY])
        # Version 1 has no checksum, which would detect every change.
        self.header = copy.deepcopy(self.checked)
        self.header["__metadata__"].pop("checksum")
        self.header["__metadata__"]["version"] = "1"

    def row(self, name, content, *texts, code=1, file=COPY, removed=(),
            command=()):
        """Makes a row of a training that resumes with one file replaced by `content`,
        or without it if that is None."""
        files = {**data_rows.OLD, **data_rows.DATA, **self.files, file: content}
        for path in [*removed, *([file] if content is None else [])]:
            files.pop(path, None)
        return Row(name, files, ["sweep", *(command or (
            "train", "--no-progress", "--resume", "--steps", "8", "--log",
            "log.jsonl", "--checkpoint", "checkpoints"))], (code,),
                   ("sweep: error: ", *texts))

    def change(self, name, edit, *texts, **options):
        """Makes a row in which `edit` has changed the header of COPY."""
        header = copy.deepcopy(self.header)
        edit(header)
        return self.row(name, pack(header, self.body), "copy-0001", *texts,
                        **options)

    def text(self, name, old, new, *texts):
        """Makes a row in which a text in the header of COPY is replaced."""
        text = json.dumps(self.header)
        if old not in text:
            raise ValueError(f"'{old}' isn't in the header")
        return self.row(name, pack(text.replace(old, new, 1).encode(),
                                   self.body), "copy-0001", *texts)


def make_file_rows(checkpoint):
    good = checkpoint.files[COPY]
    row = checkpoint.row
    yield row("a copy is missing", None, "step-00000004", "incomplete",
              "copy-0001.safetensors is missing")
    yield row("all copies are missing", "a note", "step-00000004", "incomplete",
              file=STEP + "note", removed=[
                  path for path in checkpoint.files])
    yield row("an empty file", b"", "copy-0001", "no whole safetensors file")
    yield row("seven bytes", good[:7], "copy-0001", "no whole safetensors file")
    yield row("a header that is cut off", good[:100], "copy-0001",
              "no whole safetensors file")
    yield row("tensors that are cut off", good[:-1], "copy-0001",
              "no whole safetensors file")
    yield row("bytes behind the tensors", good + b"x", "copy-0001")
    yield row("a header of 2^64 - 1 bytes", b"\xff" * 8 + good[8:], "copy-0001")
    yield row("a header of 2^63 - 8 bytes",
              struct.pack("<Q", (1 << 63) - 8) + good[8:], "copy-0001")
    yield row("an empty header", struct.pack("<Q", 0), "copy-0001")
    yield row("a folder", lambda path: path.mkdir(), "copy-0001", "a folder")
    yield row("a link to nowhere", lambda path: path.symlink_to("nowhere"),
              "copy-0001")
    yield row("a step folder that is a file", "a file", "step-00000009",
              file="checkpoints/step-00000009")
    yield row("a picture", b"\x89PNG\r\n\x1a\n" + bytes(4000), "copy-0001")


def make_header_rows(checkpoint):
    body, row, change = checkpoint.body, checkpoint.row, checkpoint.change
    tensor = "hidden.weight"
    for name, text in (("no JSON", b"not json at all"),
                       ("a list", b"[1, 2]"),
                       ("no UTF-8", b'{"\xff\xfe": 1}'),
                       ("an object that doesn't end", b'{"a": {"dtype": "F32"'),
                       ("100 000 brackets", b'{"a": ' + b"[" * 100000),
                       ("100 000 objects", b'{"a":' * 100000),
                       ("null bytes", bytes(64)),
                       ("a number of 400 digits",
                        b'{"a": {"dtype": "F32", "shape": [' + b"9" * 400 +
                        b'], "data_offsets": [0, 4]}}')):
        yield row(f"a header with {name}", pack(text, body), "copy-0001",
                  "no whole safetensors file")
    yield change("a tensor is missing", lambda header: header.pop(tensor),
                 "'hidden.bias' has a gap before it")
    yield checkpoint.text("a tensor twice", '"hidden.bias"', '"hidden.weight"',
                          tensor)
    yield change("a tensor that the model hasn't", lambda header: header.update(
        {"other": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}),
                 "13 tensors, expected 12")

    def give(**values):
        return lambda header: header[tensor].update(values)

    begin, end = checkpoint.header[tensor]["data_offsets"]
    size = len(body)
    yield change("another element type", give(dtype="I32"), tensor, "i32",
                 "expected f32")
    yield change("an element type that doesn't exist", give(dtype="F33"),
                 tensor, "'F33'", code=3)
    yield change("an element type that is a number", give(dtype=32))
    yield change("another shape", give(shape=[4, 16]), tensor)
    yield change("another rank", give(shape=[64]), tensor)
    yield change("a negative size", give(shape=[-8, -8]), "copy-0001")
    yield change("sizes whose product overflows",
                 give(shape=[1 << 62, 1 << 62]), tensor)
    yield change("a shape of 1000 axes", give(shape=[1] * 1000))
    yield change("offsets beyond the file",
                 give(data_offsets=[size, size + end - begin]), tensor,
                 "ends beyond the end of the file")
    yield change("offsets of 2^63", give(data_offsets=[1 << 63, 1 << 63]))
    yield change("negative offsets", give(data_offsets=[-256, 0]))
    yield change("offsets that end before they begin",
                 give(data_offsets=[end, begin]), tensor)
    yield change("a tensor shorter than its shape",
                 give(data_offsets=[begin, end - 4]), tensor)
    yield change("one offset", give(data_offsets=[0]))
    yield change("offsets that are texts", give(data_offsets=["0", "256"]))
    other = next(key for key, entry in checkpoint.header.items()
                 if key not in (tensor, "__metadata__") and
                 entry["shape"] == checkpoint.header[tensor]["shape"])
    yield change("tensors that overlap", give(
        data_offsets=checkpoint.header[other]["data_offsets"]), "gap")


def flip(content, text, bits=1):
    """Returns the content with some bits flipped in the first byte after a text."""
    at = content.index(text) + len(text)
    return content[:at] + bytes([content[at] ^ bits]) + content[at + 1:]


def make_checksum_rows(checkpoint):
    row = checkpoint.row
    good, body = checkpoint.files[COPY], checkpoint.body
    yield row("a byte of a tensor is another", good[:-1] + bytes([
        good[-1] ^ 1]), "copy-0001", "is damaged", "checksum")
    for where in (b'"epoch_loss":"', b'"step":"', b'"identity":"',
                  b'"checksum":"'):
        yield row(f"a byte after {where.decode()} is another",
                  flip(good, where), "copy-0001", "is damaged", "checksum")
    yield row("a byte of a tensor's name is another", flip(
        good, b'"hidden.weigh'), "copy-0001", "is damaged")
    yield row("the version of files without a checksum", flip(
        good, b'"version":"', ord("1") ^ ord("2")), "copy-0001", "is damaged")
    for name, text in (("no checksum", None), ("an empty checksum", ""),
                       ("a checksum of another length", "0" * 15),
                       ("a checksum of 1000 digits", "0" * 1000)):
        header = copy.deepcopy(checkpoint.checked)
        header["__metadata__"].pop("checksum")
        if text is not None:
            header["__metadata__"]["checksum"] = text
        yield row(name, pack(header, body), "copy-0001", "is damaged")
    yield row("a file of an older program, without a checksum", pack(
        checkpoint.header, body), code=0)


def make_metadata_rows(checkpoint):
    row, change = checkpoint.row, checkpoint.change

    def give(**values):
        return lambda header: header["__metadata__"].update(values)

    yield change("no metadata", lambda header: header.pop("__metadata__"))
    yield change("the identity of another model",
                 give(identity="0" * 64), "another model")
    yield change("no identity",
                 lambda header: header["__metadata__"].pop("identity"),
                 "not a checkpoint")
    yield change("a version of the future", give(version="99"), "99")
    yield change("another format", give(format="pt"))
    yield change("a step that is no number", give(step="four"), "four")
    yield change("a negative step", give(step="-4"), "-4")
    yield change("a step beyond 64 bits", give(step="9" * 30))
    yield change("another step than the folder's", give(step="5"), "5", "4")
    yield change("a loss that is no number", give(epoch_loss="much"), "much")
    yield change("a number of losses that is none", give(epoch_steps="4.5"),
                 "epoch_steps", "4.5")
    yield change("a negative number of losses", give(epoch_steps="-1"), "-1")
    yield change("more losses than steps", give(epoch_steps="5"), "5")
    yield change("a number of losses beyond 64 bits",
                 give(epoch_steps="9" * 30), "epoch_steps")
    yield change("metadata that are no texts", give(step=4))


def make_folder_rows(checkpoint):
    row = checkpoint.row
    none = list(checkpoint.files)
    yield row("a folder that is a file, to save in", "a file", "'checkpoints'",
              code=4, file="checkpoints", removed=[*none, "checkpoints/note"],
              command=("train", "--no-progress", "--checkpoint", "checkpoints"))
    yield row("a folder that isn't there, to evaluate", None, "'nowhere'",
              "doesn't exist", command=("eval", "--checkpoint", "nowhere"),
              file="unused")
    yield row("an empty folder, to evaluate", None, "'checkpoints'",
              "holds no checkpoint", removed=none, file="unused",
              command=("eval", "--checkpoint", "checkpoints"))
    yield row("a torn checkpoint, to evaluate", None, "copy-0001",
              command=("eval", "--checkpoint", "checkpoints"))
    yield row("a torn checkpoint, to export", b"x", "copy-0001",
              command=("export", "--checkpoint", "checkpoints", "--copy", "1",
                       "-o", "out.onnx"))
    yield row("a torn checkpoint, to run", b"x", "copy-0001",
              command=("run", "--checkpoint", "checkpoints", "--copy", "1",
                       "--input", "a=b.npy", "--output", "out"))
    yield from make_training_rows(checkpoint)


def make_training_rows(checkpoint):
    """Makes rows of trainings whose checkpoints or log belong to another training."""

    def row(name, code, *texts, options, files=(), before=()):
        files = {**data_rows.OLD, **data_rows.DATA, **checkpoint.files,
                 **dict(files)}
        return Row(name, files, [
            *before, "sweep", "train", "--no-progress", "--checkpoint",
            "checkpoints", *options], (code,), ("sweep: error: ", *texts))

    for steps in ("2", "4", "8"):
        yield row(f"another training's folder, {steps} steps", 1,
                  "'checkpoints'", "step-00000004", "--resume", "--overwrite",
                  options=["--steps", steps, "--log", "log.jsonl"])
    yield row("resuming and overwriting", 2, "'--resume'", "'--overwrite'",
              options=["--resume", "--overwrite"])
    yield row("overwriting twice", 2, "'--overwrite'", "twice",
              options=["--overwrite", "--overwrite"])
    yield row("overwriting with a value", 2, "'--overwrite'",
              options=["--overwrite=yes"])
    for name, code, *options in (
            ("data that aren't there", 1, "--data", "nowhere"),
            ("a log that can't be made", 4, "--log", "nowhere/log.jsonl"),
            ("a log that can't be written", 4, "--log", "/dev/full"),
            ("a device that doesn't exist", 3, "--device", "abacus"),
            ("a wrong number of steps", 2, "--steps", "0")):
        yield row(f"overwriting, with {name}", code,
                  options=["--overwrite", *options])
    lock = {"checkpoints/.hfta-lock": ""}
    for option in ("--resume", "--overwrite"):
        yield row(f"another training's folder, with {option}", 1,
                  "'checkpoints'", "in use by another training", files=lock,
                  options=[option], before=["flock", *lock])
        yield row(f"another training's log, with {option}", 1, "'log.jsonl'",
                  "in use by another training", before=["flock", "log.jsonl"],
                  options=[option, "--log", "log.jsonl"])
    yield row("a lock that is a folder", 4, "'checkpoints'", "directory",
              options=["--resume"], files={"checkpoints/.hfta-lock": None})
    yield row("a lock that is a link", 4, "'checkpoints'", "symbolic links",
              options=["--resume"], files={
                  "checkpoints/.hfta-lock":
                      lambda path: path.symlink_to("../b.npy")})
    yield row("another model's log", 1, "'log.jsonl'", "another training",
              "abc", options=["--resume", "--log", "log.jsonl"], files={
                  "log.jsonl": '{"event":"start","identity":"abc"}\n'})


def make_rows(program):
    checkpoint = Checkpoint(program)
    yield from make_file_rows(checkpoint)
    yield from make_header_rows(checkpoint)
    yield from make_checksum_rows(checkpoint)
    yield from make_metadata_rows(checkpoint)
    yield from make_folder_rows(checkpoint)
