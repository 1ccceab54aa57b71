#!/usr/bin/env python3
"""Tests that training gives the same bytes for files that hold the same numbers in any of
the supported forms: npy files in C and in Fortran order, little- and big-endian, with
labels of other types, csv files with and without a header, with names and quotes, archives
of arrays, tensors, and several files. Needs only Python's standard library."""

import argparse
import pathlib
import random
import struct
import zipfile

from harness import (checkpoint, copy_file, expect_equal, expect_same_file, fail, run)

SAMPLES, ROWS, COLUMNS, STEPS = 24, 2, 3, 5

JOBS = """model net(x: f32[batch, 2, 3]) {
  return linear(flatten(x), 3)
}
data arrays {
  x: f32[2, 3], label: i64
  train x = npy("x.npy"), label = npy("label.npy")
}
data lines {
  x: f32[2, 3], label: i64
  train x = csv("lines.csv"), label = csv("lines.csv", column = 6)
}
data headed {
  x: f32[2, 3], label: i64
  train x = csv("headed.csv", header = true), label = csv("headed.csv", column = 6, header = true)
}
data told {
  x: f32[2, 3], label: i64
  train x = csv("lines.csv", header = false),
        label = csv("lines.csv", column = 6, header = false)
}
data named {
  x: f32[2, 3], label: i64
  train x = csv("named.csv", column = ["a", "b", "c", "d", "e", "f"], separator = semicolon),
        label = csv("named.csv", column = "class", separator = semicolon)
}
data packed {
  train x = npz("all.npz", "x"), label = safetensors("all.safetensors", "label")
}
data parts {
  x: f32[2, 3], label: i64
  train x = ["x0.npy", "x1.npy"], label = csv(["lines0.csv", "lines1.csv"], column = [6])
}
""" + "".join(f"""
train by_{data} {{
  model     net(x)
  data      {data}, batch = 8
  loss      cross_entropy(net, label)
  optimizer sgd(lr = [0.1, 0.5])
}}
""" for data in ("arrays", "lines", "headed", "told", "named",
                                "packed", "parts"))


def write_npy(path, descr, shape, numbers, fortran=False):
    """Writes an npy file. `numbers` are in row-major order; with `fortran`, the file has
    them in column-major order. `descr` is NumPy's name of the element type, e.g. "<f4"."""
    order = list(range(len(numbers)))
    if fortran:
        # Returns the index in the file, in which the first axis is the fastest, of an
        # element whose row-major index is given.
        def place(index):
            at, stride = 0, len(numbers)
            for size in reversed(shape):
                stride //= size
                index, rest = divmod(index, size)
                at += rest * stride
            return at
        for index in range(len(numbers)):
            order[place(index)] = index
    code = {"f4": "f", "i8": "q", "u4": "I", "u8": "Q"}[descr[1:]]
    header = (f"{{'descr': '{descr}', 'fortran_order': {fortran}, "
              f"'shape': {shape}, }}").ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header +
                     struct.pack(f"{descr[0]}{len(numbers)}{code}",
                                 *(numbers[index] for index in order)))


def write_other_forms(folder, values, labels, lines):
    """Writes the same samples as named columns, archives, and in several files."""
    size, first = ROWS * COLUMNS, 7
    with open(folder / "named.csv", "w", encoding="utf-8") as out:
        # The columns are in another order than the job's.
        out.write('class;"f";e;note;d;c;b;a\n')
        for index, label in enumerate(labels):
            f, e, d, c, b, a = map(repr, values[size * index:size * (index + 1)][::-1])
            out.write(f'{label};{f};"{e}";"{index}; ""\n""";{d};{c};{b};{a}\r\n')
    write_npy(folder / "x0.npy", "<f4", (first, ROWS, COLUMNS), values[:first * size])
    write_npy(folder / "x1.npy", "<f4", (SAMPLES - first, ROWS, COLUMNS),
              values[first * size:])
    split = lines.splitlines(keepends=True)
    (folder / "lines0.csv").write_text("".join(split[:10]))
    (folder / "lines1.csv").write_text("".join(split[10:]))
    write_npy(folder / "part.npy", "<f4", (SAMPLES, ROWS, COLUMNS), values)
    with zipfile.ZipFile(folder / "all.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "lines.csv", "lines.csv")
        archive.write(folder / "part.npy", "x.npy")
    header = (f'{{"other":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}},"label":'
              f'{{"dtype":"I64","shape":[{SAMPLES}],"data_offsets":[1,{1 + 8 * SAMPLES}]}}}}')
    (folder / "all.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header.encode() + b"x" +
        struct.pack(f"<{SAMPLES}q", *labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    folder.mkdir(parents=True)
    numbers = random.Random(5)
    values = [struct.unpack("f", struct.pack("f", numbers.uniform(-1, 1)))[0]
              for _ in range(SAMPLES * ROWS * COLUMNS)]
    labels = [numbers.randrange(3) for _ in range(SAMPLES)]
    size = ROWS * COLUMNS
    lines = "".join(",".join(map(repr, values[size * i:size * (i + 1)])) + f",{label}\n"
                    for i, label in enumerate(labels))
    (folder / "lines.csv").write_text(lines)
    (folder / "headed.csv").write_text("0,1,2,3,4,5,6\n" + lines)
    write_other_forms(folder, values, labels, lines)
    binary = folder / "jobs"
    (folder / "jobs.hfta").write_text(JOBS)

    def write_arrays(byte_order, fortran, label_type):
        write_npy(folder / "x.npy", byte_order + "f4", (SAMPLES, ROWS, COLUMNS), values,
                  fortran)
        write_npy(folder / "label.npy", label_type, (SAMPLES,), labels)

    def train(job, name):
        text = run(binary, "train", "--data", folder, "--job", job, "--steps", STEPS,
                   "--checkpoint", folder / name)
        return checkpoint(folder / name / job, STEPS), text

    write_arrays("<", False, "<i8")
    note = ("line 1 of '{}' is read as a sample; if it is a header, set header = true, "
            "else header = false")
    said = run(options.hftac, folder / "jobs.hfta", "-o", binary)
    expect_equal(said.count("note: "), 3, "notes of hftac")
    if note.format(folder / "lines.csv") not in said:
        fail(f"hftac doesn't note a first line of numbers: {said}")
    expected, said = train("by_arrays", "plain")
    expect_equal("note: " in said, False, "a note about arrays")

    def compare(found, what):
        for copy in range(2):
            expect_same_file(copy_file(found, copy), copy_file(expected, copy), what)

    for index, form in enumerate([("<", True, "<u4"), (">", False, ">u8"),
                                  (">", True, ">i8")]):
        write_arrays(*form)
        compare(train("by_arrays", f"form{index}")[0], f"arrays {form}")
    for job, notes in (("by_lines", 1), ("by_headed", 0), ("by_told", 0),
                       ("by_named", 0), ("by_packed", 0), ("by_parts", 1)):
        found, said = train(job, job)
        compare(found, job)
        expect_equal(said.count("is read as a sample"), notes, f"notes of {job}")
    said = run(binary, "train", "--data", folder, "--job", "by_lines", "--steps", 1,
               "--no-progress")
    expect_equal("note: " in said, False, "a note without progress")


if __name__ == "__main__":
    main()
