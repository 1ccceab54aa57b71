"""Rows of a training program whose data are in archives, tables, several files, folders of
images and windows of tokens, which are damaged or wrong."""

import io
import json
import os
import struct
import zipfile
import zlib

import data_rows
from row import Row

SAMPLES = 32

JOB = """model net(a: f32[batch, 2], b: f32[batch, 2], c: f32[batch, 2], d: f32[batch, 2]) {
  return output = linear(concat(a, b, c, d), 3)
}
data forms {
  a: f32[2], b: f32[2], c: f32[2], d: f32[2], label: u8, image: u8[1, 2, 2], text: u8[3]
  train a = npz("a.npz", "a"), b = safetensors("b.safetensors", "b"),
        c = csv("form.csv", column = ["height", "width"], separator = semicolon),
        d = npy(["d0.npy", "d1.npy"]), image = images("set"), kind = classes("set"),
        text = tokens("text.bin", stride = 1), label = csv("form.csv", column = "label",
        separator = semicolon)
}
train forms {
  model     net
  data      forms, batch = 16
  loss      cross_entropy(net, label)
  optimizer sgd
  steps     2
}
"""


def npz(name="a.npy", content=None, method=zipfile.ZIP_DEFLATED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(name, data_rows.npy(SAMPLES) if content is None else content)
        archive.writestr("other.npy", data_rows.npy(3))
        archive.comment = comment
    return out.getvalue()


def safetensors(name="b", shape=(SAMPLES, 2), body=bytes(8 * SAMPLES)):
    header = json.dumps({name: {"dtype": "F32", "shape": shape,
                                "data_offsets": [0, len(body)]}}).encode()
    return struct.pack("<Q", len(header)) + header + body


def table(header="name;height;width;label", line='"Smith; J.";1.5;2;1'):
    return header + "\n" + (line + "\n") * SAMPLES


def png(width=2, height=2, data=None):
    def chunk(kind, content):
        part = kind + content
        return struct.pack(">I", len(content)) + part + struct.pack(">I", zlib.crc32(part))

    data = bytes((width + 1) * height) if data is None else data
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


IMAGES = {f"set/{'cat' if index % 3 else 'dog'}/{index}.png": png()
          for index in range(SAMPLES)}
DATA = {**IMAGES, "text.bin": bytes(SAMPLES + 3), "a.npz": npz(), "b.safetensors": safetensors(), "form.csv": table(),
        "d0.npy": data_rows.npy(20), "d1.npy": data_rows.npy(SAMPLES - 20)}


def row(name, file, content, *texts, code=1):
    """Makes a row with one file replaced, or missing if its content is None."""
    files = {**data_rows.OLD, **DATA, file: content}
    if content is None:
        del files[file]
    return Row(f"forms: {name}", files,
               ["forms", "train", "--no-progress", "--log", "log.jsonl", "--checkpoint",
                "checkpoints"], (code,), ("forms: error: ", *texts))


def make_archive_rows():
    yield row("no npz file", "a.npz", None, "'a.npz'", "No such file")
    yield row("an empty npz file", "a.npz", b"", "'a.npz'", "no whole zip archive")
    yield row("an npz file that is cut off", "a.npz", npz()[:-1], "'a.npz'",
              "no whole zip archive")
    yield row("an npz file without its beginning", "a.npz", npz()[30:], "'a.npz'")
    yield row("another array", "a.npz", npz("b.npy"),
              "'a.npz' has no array 'a'; its arrays are 'b', 'other'")
    yield row("an array that is no npy file", "a.npz", npz(content=b"text"),
              "'a.npz:a' is no npy file")
    yield row("an array of another shape", "a.npz",
              npz(content=data_rows.npy(shape="(64, 1)", body=bytes(256))),
              "'a.npz:a': expected samples of shape 2, got 1")
    yield row("an array that is packed by another method", "a.npz",
              npz(method=zipfile.ZIP_BZIP2), "'a.npz:a.npy'", "method 12", code=3)
    yield row("an array of another number of samples", "a.npz",
              npz(content=data_rows.npy(7)), "'a.npz' holds 7")
    good = npz()
    at = good.index(b"a.npy") + 5
    yield row("bytes of an array that have changed", "a.npz",
              good[:at + 70] + bytes([good[at + 70] ^ 16]) + good[at + 71:], "'a.npz:a'")
    size = good.index(b"PK\1\2") + 24
    yield row("an array of 4 GiB in few bytes", "a.npz",
              good[:size] + b"\xf0\xff\xff\xff" + good[size + 4:], "'a.npz:a'")
    yield row("another tensor", "b.safetensors", safetensors("a"),
              "'b.safetensors' has no tensor 'b'; its tensors are 'a'")
    yield row("a tensor without samples' axis", "b.safetensors",
              safetensors(shape=(), body=bytes(4)), "'b.safetensors:b' holds a scalar")
    yield row("a file of tensors that is cut off", "b.safetensors", safetensors()[:-1],
              "'b.safetensors'")


def make_table_rows():
    yield row("no column of a name", "form.csv", table("name;length;width;label"),
              "'form.csv' has no column 'height'; its columns are 'name', 'length'")
    yield row("two columns of a name", "form.csv", table("height;height;width;label"),
              "'form.csv' has two columns 'height'")
    yield row("commas", "form.csv", table().replace(";", ","), "'form.csv' has no column 'height'")
    yield row("a missing value", "form.csv", table(line="x;1;;1"),
              "'form.csv', line 2, column 2 ('width'): the value is missing")
    yield row("a word for a number", "form.csv", table(line="x;1;n/a;1"),
              "'form.csv', line 2, column 2 ('width')", "got 'n/a'")
    yield row("a column too many", "form.csv", table(line="x;1;2;1;5"),
              "'form.csv', line 2: expected 4 columns, got 5")
    yield row("a quote that isn't closed", "form.csv", table() + '"x;1;2;1\n',
              "'form.csv', line 34", "no '\"' ends it")
    yield row("a label that is no class", "form.csv", table(line="x;1;2;3"),
              "'form.csv': sample 0 holds 3, expected 0 to 2 for 'label'")


def make_part_rows():
    yield row("no second file", "d1.npy", None, "'d1.npy'", "No such file")
    yield row("a second file of another type", "d1.npy",
              data_rows.npy(12, descr="<f8", body=bytes(192)),
              "'d1.npy': expected elements of type f32 as in 'd0.npy', got f64")
    yield row("a second file of another shape", "d1.npy",
              data_rows.npy(shape="(12, 3)", body=bytes(144)),
              "'d1.npy': expected samples of shape 2 as in 'd0.npy', got 3")
    yield row("a second file that is too short", "d1.npy", data_rows.npy(11),
              "'d0.npy' with the 1 files after it holds 31 samples", "32")


def make_image_rows():
    cat = "set/cat/10.png"
    yield row("an image that is cut off", cat, png()[:-1],
              f"'{cat}' is a damaged PNG image: it ends too early")
    yield row("an image whose bytes have changed", cat, png()[:45] + b"?" + png()[46:],
              f"'{cat}' is a damaged PNG image: a part has a wrong checksum")
    yield row("an image without its pixels", cat, png(data=b""),
              f"'{cat}' is a damaged PNG image: pixels are missing")
    yield row("an image of another size", cat, png(3, 2),
              f"'{cat}' has 2 x 3 pixels (height x width), expected 2 x 2", "resize = crop")
    yield row("an image of a terabyte", cat, png(1 << 20, 1 << 20, b""), f"'{cat}'", "2^28",
              code=3)
    yield row("an image without bytes", cat, b"", f"'{cat}' is neither a PNG nor a JPEG image")
    yield row("a text for an image", cat, b"text", f"'{cat}' is neither a PNG nor a JPEG")
    yield row("a JPEG image that is cut off", cat, b"\xff\xd8\xff\xe0", f"'{cat}'",
              "JPEG", code=1)
    yield row("a folder for an image", cat, lambda path: path.mkdir(), f"'{cat}'")
    yield row("a pipe for an image", cat, os.mkfifo, f"'{cat}' is no regular file")
    yield row("a link to nothing for an image", cat,
              lambda path: path.symlink_to("nothing"), f"'{cat}'", "No such file")
    yield row("an image less", cat, None, "holds 31 samples")
    yield row("a class without images", "set/owl/notes.txt", b"text",
              "'set/owl' has no images")
    yield Row("forms: no folder of images",
              {**data_rows.OLD, **{name: data for name, data in DATA.items()
                                   if not name.startswith("set/")}},
              ["forms", "train", "--no-progress", "--log", "log.jsonl", "--checkpoint",
               "checkpoints"], (1,), ("forms: error: ", "'set'", "No such file"))
    yield row("tokens for no window", "text.bin", b"abc",
              "'text.bin' holds 3 numbers, less than a window of 3 and 1 more")


def make_rows(_):
    yield from make_archive_rows()
    yield from make_table_rows()
    yield from make_part_rows()
    yield from make_image_rows()
