#!/usr/bin/env python3
"""Compares TopK of few and of many elements, along inner and outer axes and with equal
elements, with a sort in Python. With NaN, the indices must still exist. Needs only Python's
standard library."""

import random
import sys

from harness import REFERENCE, Work, expect_equal, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import INT64, graph, integers, model, node, value  # noqa: E402

SHAPE = 2, 40, 50
# Selections: the number of elements, the axis, and whether the largest elements are
# selected (1) or the smallest (0).
SELECTIONS = [(3, -1, 1), (40, -1, 0), (50, 2, 1), (5, 1, 0), (33, 1, 1), (1, 1, 1)]


def make_model():
    nodes, outputs, counts = [], [], []
    for i, (count, axis, largest) in enumerate(SELECTIONS):
        counts.append(integers(f"k{i}", [count]))
        nodes.append(node("TopK", ["x", f"k{i}"], [f"value{i}", f"index{i}"], f"top{i}",
                          axis=axis, largest=largest))
        outputs += [value(f"value{i}"), value(f"index{i}", type=INT64)]
    return model(graph(nodes, [value("x", ["batch", *SHAPE[1:]])], outputs, counts))


def select(numbers, count, axis, largest):
    """Computes TopK. Returns the selected values and their indices along the axis, in
    row-major order; in the result, the axis has `count` elements."""
    inner = SHAPE[2] if axis == 1 else 1
    size = SHAPE[axis]
    values, indices = [], []
    for outer in range(len(numbers) // (size * inner)):
        columns = []
        for column in range(inner):
            line = numbers[outer * size * inner + column::inner][:size]
            order = sorted(range(size), key=lambda i: (-line[i] if largest else line[i], i))
            columns.append([(line[i], i) for i in order[:count]])
        for rank in range(count):
            values += [chosen[rank][0] for chosen in columns]
            indices += [chosen[rank][1] for chosen in columns]
    return values, indices


def main():
    work = Work(__doc__)
    path = work.folder / "top.onnx"
    path.write_bytes(make_model())
    binary = work.folder / "top"
    run(work.hftac, path, f"--batch={SHAPE[0]}", "-o", binary)
    generator = random.Random(5)
    numbers = [float(generator.randint(-15, 15)) for _ in range(2 * SHAPE[1] * SHAPE[2])]
    for name in ("plain", "nan"):
        data, folder = work.folder / f"{name}.npy", work.folder / name
        write_npy(data, "<f4", numbers, SHAPE)
        run(binary, "run", "--input", f"x={data}", "--output", folder)
        for i, (count, axis, largest) in enumerate(SELECTIONS):
            what = f"{count} of axis {axis}"
            values = read_npy(folder / f"value{i}.npy", "f")
            indices = read_npy(folder / f"index{i}.npy", "q")
            if name == "plain":
                expected = select(numbers, count, axis, largest)
                expect_equal(values, expected[0], f"values, {what}")
                expect_equal(indices, expected[1], f"indices, {what}")
            elif not all(0 <= index < SHAPE[axis] for index in indices):
                fail(f"indices beyond the axis, {what}")
        numbers[7] = numbers[1234] = float("nan")


if __name__ == "__main__":
    main()
