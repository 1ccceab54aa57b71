"""Rows of a training program with damaged or wrong data files. Other rows also use GOOD,
the files of its job and correct data."""

import gzip
import os
import struct

from row import Row

SAMPLES = 64

JOB = """model net(a: f32[batch, 4], b: f32[batch, 2], c: f32[batch, 2]) {
  hidden = relu(linear(concat(a, b, c), 8))
  return output = linear(hidden, 3)
}

data made {
  a: u8[4], b: f32[2], c: f32[2], label: u8, weight: f32
  train a = idx("a.gz") / 255, b = npy("b.npy"), c = csv("c.csv"), label = raw("label.raw"),
        weight = csv("c.csv", column = 2)
  test  a = idx("a.gz") / 255, b = npy("b.npy"), c = csv("c.csv"), label = raw("label.raw"),
        weight = csv("c.csv", column = 2)
}

train sweep {
  model     net(a, b, c)
  data      made, batch = 16
  loss      cross_entropy(net, label)
  metric    accuracy(net, label)
  optimizer adam(lr = [1e-3, 1e-2])
  steps     4
}
"""


def npy(samples=SAMPLES, shape=None, descr="<f4", body=None, order="False",
        header=None):
    """Returns an npy file. `header` replaces its dictionary, `body` its elements."""
    text = header or (f"{{'descr': '{descr}', 'fortran_order': {order}, "
                      f"'shape': {shape or (samples, 2)}, }}")
    text = text.ljust(117).encode() + b"\n"
    body = struct.pack("<2f", 0.5, -0.5) * samples if body is None else body
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + body


def idx(samples=SAMPLES, magic=0x0802, sizes=None, body=None):
    sizes = (samples, 4) if sizes is None else sizes
    body = bytes(range(4)) * samples if body is None else body
    return struct.pack(f">I{len(sizes)}I", magic, *sizes) + body


def pack(content, **options):
    return gzip.compress(content, mtime=0, **options)


def csv(samples=SAMPLES):
    return "0.25,0.75,1\n" * samples


IDX, CSV = pack(idx()), csv()
LABELS = bytes(index % 3 for index in range(SAMPLES))
DATA = {"a.gz": IDX, "b.npy": npy(), "c.csv": CSV, "label.raw": LABELS}
GOOD = {"job.hfta": JOB, **DATA}
OLD = {"log.jsonl": "an older log\n", "checkpoints/note": "kept\n"}


def row(name, file, content, *texts, code=1, command="train"):
    """Makes a row with one file replaced, or missing if its content is None."""
    files = {**OLD, **DATA, file: content}
    if content is None:
        del files[file]
    arguments = ["--no-progress", "--log", "log.jsonl", "--checkpoint",
                 "checkpoints"] if command == "train" else []
    return Row(name, files, ["sweep", command, *arguments], (code,),
               ("sweep: error: ", *texts))


def lock(content):
    def write(path):
        path.write_bytes(content)
        path.chmod(0)
    return write


def make_npy_rows():
    yield row("no npy file", "b.npy", None, "'b.npy'", "No such file")
    yield row("an empty npy file", "b.npy", b"", "'b.npy'", "no npy file")
    yield row("a folder", "b.npy", lambda path: path.mkdir(), "'b.npy'",
              "a folder")
    yield row("a device", "b.npy", lambda path: path.symlink_to("/dev/zero"),
              "'b.npy'", "a device")
    yield row("a pipe that nothing writes to", "b.npy", os.mkfifo, "'b.npy'",
              "pipe")
    yield row("a link to itself", "b.npy",
              lambda path: path.symlink_to("b.npy"), "'b.npy'")
    if os.geteuid():
        yield row("a file that can't be read", "b.npy", lock(npy()), "'b.npy'",
                  "Permission denied")
    yield row("another format", "b.npy", idx(), "'b.npy'", "no npy file")
    yield row("an npy file that is packed", "b.npy", pack(npy()), "'b.npy'",
              "packed by gzip", code=3)
    yield row("an archive of npy files", "b.npy", b"PK\3\4" + npy(), "'b.npy'",
              "packed by zip", code=3)
    yield row("a version of the future", "b.npy",
              npy().replace(b"NUMPY\1", b"NUMPY\x09"), "'b.npy'",
              "version 9.0", code=3)
    yield row("a header that is cut off", "b.npy", npy()[:50], "'b.npy'",
              "truncated within its npy header")
    yield row("a header length beyond the file", "b.npy",
              b"\x93NUMPY\2\0\xff\xff\xff\xff" + npy()[10:], "'b.npy'", code=3)
    yield row("a header that is no dictionary", "b.npy", npy(header="[1, 2]"),
              "'b.npy'", "header")
    yield row("a header without a shape", "b.npy",
              npy(header="{'descr': '<f4', 'fortran_order': False}"), "'b.npy'",
              "shape")
    yield row("a header, 10 000 parentheses deep", "b.npy",
              b"\x93NUMPY\2\0" + struct.pack("<I", 20000) + b"(" * 20000,
              "'b.npy'")
    yield row("a header with 100 axes", "b.npy",
              npy(shape="(" + "1, " * 100 + ")"), "'b.npy'", "32", code=3)
    yield row("a size of 20 digits", "b.npy",
              npy(shape=f"({10 ** 20}, 2)"), "'b.npy'")
    yield row("sizes whose product overflows", "b.npy",
              npy(shape=f"({1 << 62}, {1 << 62})"), "'b.npy'", "2^63")
    yield row("a negative size", "b.npy", npy(shape="(-64, 2)"), "'b.npy'")
    yield row("data that are cut off", "b.npy", npy()[:-1], "'b.npy'",
              "needs 512 bytes", "got 511")
    yield row("data that are too long", "b.npy", npy() + b"x", "'b.npy'", "512",
              "513")
    yield row("another element type", "b.npy", npy(descr="<f8", samples=64,
                                                   body=bytes(1024)),
              "'b.npy'", "expected elements of type f32, got f64")
    yield row("an element type that doesn't exist", "b.npy", npy(descr="<f3"),
              "'b.npy'", "'<f3'", code=3)
    yield row("texts", "b.npy", npy(descr="<U4"), "'b.npy'", "'<U4'", code=3)
    yield row("complex numbers", "b.npy", npy(descr="<c8", body=bytes(1024)),
              "'b.npy'", "'<c8'", code=3)
    yield row("numbers of 128 bits", "b.npy", npy(descr="<f16"), "'b.npy'",
              "'<f16'", code=3)
    yield row("big-endian bf16", "b.npy", npy(descr=">V2"), "'b.npy'", "'>V2'",
              code=3)
    yield row("Fortran's order, cut off", "b.npy", npy(order="True")[:-1],
              "'b.npy'", "needs 512 bytes", "got 511")
    yield row("Fortran's order of another shape", "b.npy",
              npy(order="True", shape="(2, 64)"), "'b.npy'",
              "expected samples of shape 2, got 64")
    yield row("unsigned numbers of 32 bits for floats", "b.npy",
              npy(descr="<u4"), "'b.npy'", "expected elements of type f32, got i64")
    yield row("unsigned numbers of 64 bits, cut off", "b.npy",
              npy(descr=">u8", body=bytes(1023)), "'b.npy'",
              "64x2 of u64 needs 1024 bytes", "got 1023")
    yield row("unsigned numbers of 32 bits that take more than 2^63 bytes",
              "b.npy", npy(descr="<u4", shape=f"({1 << 59}, 2)"), "'b.npy'",
              "2^63")
    yield row("another size of samples", "b.npy",
              npy(shape="(64, 3)", body=bytes(768)), "'b.npy'",
              "expected samples of shape 2, got 3")
    yield row("another rank", "b.npy",
              npy(shape="(64, 2, 5)", body=bytes(2560)), "'b.npy'",
              "expected samples of shape 2, got 2x5")
    yield row("a number instead of an array", "b.npy",
              npy(shape="()", body=bytes(4)), "'b.npy'")
    yield row("another number of samples", "b.npy", npy(63), "63", "64")
    yield row("no samples", "b.npy", npy(0), "b")


def make_idx_rows():
    yield row("no idx file", "a.gz", None, "'a.gz'", "No such file")
    yield row("an empty file for gzip", "a.gz", b"", "'a.gz'")
    yield row("a text", "a.gz", "a text, not numbers", "'a.gz'")
    yield row("an idx magic that isn't one", "a.gz",
              pack(idx(magic=0x12340802)), "'a.gz'", "idx")
    yield row("an idx element type that doesn't exist", "a.gz",
              pack(idx(magic=0x0702)), "'a.gz'", "7")
    yield row("idx with another element type", "a.gz",
              pack(idx(magic=0x0d02, body=bytes(1024))), "'a.gz'",
              "expected elements of type u8, got f32")
    yield row("idx without axes", "a.gz", pack(idx(magic=0x0800, sizes=(),
                                                   body=b"")), "'a.gz'", "0")
    yield row("idx with 255 axes", "a.gz",
              pack(idx(magic=0x08ff, sizes=(1,) * 255, body=b"x")), "'a.gz'",
              "255")
    yield row("idx with another size of samples", "a.gz",
              pack(idx(sizes=(64, 5), body=bytes(320))), "'a.gz'", "4", "5")
    yield row("idx with another rank", "a.gz",
              pack(idx(magic=0x0801, sizes=(64,), body=bytes(64))), "'a.gz'")
    yield row("idx with sizes whose product overflows", "a.gz",
              pack(idx(magic=0x0804, sizes=(0xffffffff,) * 4)), "'a.gz'")
    yield row("idx of 16 GiB that aren't there", "a.gz",
              pack(idx(sizes=(0xffffffff, 4))), "'a.gz'")
    yield row("idx with a header that is cut off", "a.gz", pack(idx()[:7]),
              "'a.gz'")
    yield row("idx with data that are cut off", "a.gz", pack(idx()[:-3]),
              "'a.gz'")
    yield row("idx with data that are too long", "a.gz", pack(idx() + b"x"),
              "'a.gz'")
    yield row("gzip with a wrong checksum", "a.gz",
              IDX[:-8] + bytes([IDX[-8] ^ 1]) + IDX[-7:], "'a.gz'")
    yield row("gzip with a wrong length", "a.gz",
              IDX[:-1] + bytes([IDX[-1] ^ 1]), "'a.gz'")
    yield row("gzip that is cut off in its data", "a.gz", IDX[:len(IDX) // 2],
              "'a.gz'")
    yield row("gzip that is cut off in its header", "a.gz", IDX[:9], "'a.gz'")
    yield row("gzip without its checksum", "a.gz", IDX[:-8], "'a.gz'")
    yield row("gzip with something behind it", "a.gz", IDX + b"garbage",
              "'a.gz'")
    yield row("gzip with zeros and something behind it", "a.gz",
              IDX + bytes(512) + b"x", "'a.gz'", "after the end")
    yield row("gzip of an unknown method", "a.gz", IDX[:2] + b"\7" + IDX[3:],
              "'a.gz'")
    yield row("gzip with bits flipped in its data", "a.gz",
              IDX[:12] + bytes(byte ^ 0x55 for byte in IDX[12:20]) + IDX[20:],
              "'a.gz'")
    yield row("a gigabyte of zeros in a megabyte", "a.gz",
              pack(idx() + bytes(200 << 20), compresslevel=1), "'a.gz'")
    yield row("idx that isn't packed, cut off", "a.gz", idx()[:-1], "'a.gz'")


def make_csv_rows():
    def change(line, text):
        lines = CSV.splitlines()
        lines[line - 1] = text
        return "\n".join(lines) + "\n"

    yield row("no csv file", "c.csv", None, "'c.csv'", "No such file")
    yield row("an empty csv file", "c.csv", "")
    yield row("a folder for csv", "c.csv", lambda path: path.mkdir(), "'c.csv'")
    yield row("too few columns", "c.csv", change(7, "0.5,1"), "'c.csv'",
              "line 7", "expected 3 columns, got 2")
    yield row("a column too many", "c.csv", change(7, "0.5,1,2,3"), "'c.csv'",
              "line 7", "expected 3 columns, got 4")
    yield row("a comma at the end of each line", "c.csv",
              CSV.replace("\n", ",\n"), "'c.csv'", "line 1",
              "expected 3 columns, got 4")
    yield row("semicolons", "c.csv", CSV.replace(",", ";"), "'c.csv'", "line 2",
              "here they may be by ';'")
    yield row("semicolons and decimal commas", "c.csv",
              CSV.replace(",", ";").replace(".", ","), "'c.csv'", "';'")
    yield row("tabs", "c.csv", CSV.replace(",", "\t"), "'c.csv'", "line 2",
              "here they may be by tabs")
    yield row("spaces", "c.csv", CSV.replace(",", " "), "'c.csv'", "line 2",
              "here they may be by spaces")
    yield row("bars", "c.csv", CSV.replace(",", "|"), "'c.csv'", "line 2",
              "here they may be by '|'")
    for name, encoding in (("UTF-16", "utf-16"), ("UTF-16LE", "utf-16-le"),
                           ("UTF-16BE", "utf-16-be"), ("UTF-32", "utf-32")):
        yield row(f"csv in {name}", "c.csv", CSV.encode(encoding), "'c.csv'",
                  "UTF-16", code=3)
    yield row("csv that is packed", "c.csv", pack(CSV.encode()), "'c.csv'",
              "packed by gzip", "unpack it", code=3)
    yield row("a spreadsheet for csv", "c.csv", b"PK\3\4" + bytes(500),
              "'c.csv'", "packed by zip", code=3)
    yield row("bytes that are no characters", "c.csv", CSV.encode() +
              b"1,\x8b\x1b[2J\xc2\x9b,3\n", "'c.csv'", "got '??[2J??'")
    yield row("a word", "c.csv", change(9, "0.5,half,1"), "'c.csv'", "9",
              "half")
    yield row("an empty field", "c.csv", change(3, "0.5,,1"), "'c.csv'", "3")
    yield row("an empty line", "c.csv", change(5, ""), code=1)
    yield row("a number beyond f32", "c.csv", change(2, "0.5,1e300,1"),
              "'c.csv'", "2", "1e300")
    yield row("a number with letters behind it", "c.csv", change(4, "1x,2,1"),
              "'c.csv'", "4", "1x")
    yield row("a quote without an end", "c.csv", change(6, '"0.5,1,1'),
              "'c.csv'", "6")
    yield row("a null byte", "c.csv", change(8, "0.5,1\0,1"), "'c.csv'", "8")
    yield row("a field of a megabyte", "c.csv",
              change(8, "0.5," + "1" * 1000000 + ",1"), "'c.csv'", "line 8")
    yield row("a line of ten megabytes", "c.csv", change(8, "0," * 5000000),
              "'c.csv'", "line 8", "5000001")
    yield row("two headers", "c.csv", "x,y,z\nx,y,z\n" + CSV, "'c.csv'", "2", "x")
    yield row("a picture for csv", "c.csv", b"\x89PNG\r\n\x1a\n" + bytes(500),
              "'c.csv'")
    yield row("one sample more in csv", "c.csv", csv(65), "65", "64")


def make_raw_rows():
    yield row("no raw file", "label.raw", None, "'label.raw'", "No such file")
    yield row("an empty raw file", "label.raw", b"")
    yield row("one label less", "label.raw", LABELS[:-1], "63", "64")
    yield row("a label that is no class", "label.raw", LABELS[:-1] + b"\3",
              "'label.raw'", "sample 63 holds 3, expected 0 to 2 for 'label'")
    yield row("a label of 255", "label.raw", b"\xff" + LABELS[1:],
              "'label.raw'", "sample 0 holds 255")
    yield row("a label that is no class, in an evaluation", "label.raw",
              LABELS[:40] + b"\x09" + LABELS[41:], "'label.raw'",
              "sample 40 holds 9", command="eval")
    few = {"a.gz": pack(idx(7)), "b.npy": npy(7), "c.csv": csv(7),
           "label.raw": LABELS[:7]}
    yield Row("fewer samples than a batch", {**OLD, **few},
              ["sweep", "train", "--no-progress", "--log", "log.jsonl",
               "--checkpoint", "checkpoints"], (1,),
              ("sweep: error: ", "7", "16"))
    none = {"a.gz": pack(idx(0)), "b.npy": npy(0), "c.csv": "",
            "label.raw": b""}
    yield Row("no samples at all", {**OLD, **none},
              ["sweep", "train", "--no-progress", "--log", "log.jsonl",
               "--checkpoint", "checkpoints"], (1,), ("sweep: error: ",))


def make_rows(_):
    yield from make_npy_rows()
    yield from make_idx_rows()
    yield from make_csv_rows()
    yield from make_raw_rows()
