#!/usr/bin/env python3
"""Tests layers whose matrices exceed caches, so that terms are added in blocks, or so that
their kernels differ otherwise from those of small networks: some of the outputs of an ONNX
model must equal those that are computed here. Needs only Python's standard library."""

import array
import sys

from harness import REFERENCE, Work, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

CHECKED = 64
# For each layer: rows, terms, columns, and whether the weight is stored transposed, as
# PyTorch's linear layers are.
LAYERS = ((320, 784, 500, 1), (128, 1024, 1024, 1), (64, 2048, 512, 0), (16, 4096, 640, 1))


def make(count, factor):
    return array.array("f", [((factor * i) % 1009 - 504) / 811 for i in range(count)])


def check(work, rows, terms, columns, transposed, precision, tolerance):
    x, w, b = make(rows * terms, 37), make(terms * columns, 53), make(columns, 71)
    name = f"layer-{rows}x{terms}x{columns}-{precision}"
    path, binary, out = (work.folder / f"{name}{end}" for end in (".onnx", "", "-out"))
    shape = [columns, terms] if transposed else [terms, columns]
    path.write_bytes(model(graph(
        [node("Gemm", ["x", "w", "b"], ["sum"], name="sum", transB=transposed),
         node("Relu", ["sum"], ["output"], name="output")],
        [value("x", ["batch", terms])], [value("output", ["batch", columns])],
        [tensor("w", shape, w), tensor("b", [columns], b)])))
    run(work.hftac, path, f"--precision={precision}", f"--batch={rows}", "-o", binary)
    write_npy(work.folder / "x.npy", "<f4", x, [rows, terms])
    run(binary, "run", "--input", f"x={work.folder / 'x.npy'}", "--output", out)
    got = read_npy(out / "output.npy", "f")
    row_step, column_step = (terms, 1) if transposed else (1, columns)
    for place in range(0, rows * columns, rows * columns // CHECKED + 1):
        row, column = divmod(place, columns)
        wanted = b[column] + sum(
            x[terms * row + k] * w[row_step * column + column_step * k]
            for k in range(terms))
        if abs(got[place] - max(wanted, 0)) > tolerance * terms ** 0.5:
            fail(f"{name}: element {row}, {column} is {got[place]}, expected {wanted}")
    print(f"{name}: {CHECKED} elements as expected")


def main():
    work = Work(__doc__)
    for layer in LAYERS:
        check(work, *layer, "f32", 1e-5)
    check(work, *LAYERS[0], "bf16", 1e-2)


if __name__ == "__main__":
    main()
