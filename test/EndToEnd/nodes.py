#!/usr/bin/env python3
"""Tests ONNX operators for which ONNX 1.12 has no tests, by computing their formulas in
Python: p-norms of windows and of planes (LpPool, GlobalLpPool), sums of overlapping blocks
(Col2Im), and scattered extrema, products and sums (ScatterElements). Needs only Python's
standard library."""

import itertools
import math
import random
import sys

from harness import REFERENCE, Work, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import INT64, graph, integers, model, node, tensor, value  # noqa: E402

IMAGE = (2, 3, 7, 6)
KERNEL, STRIDES, PADS, DILATIONS = (3, 2), (2, 1), (1, 0, 1, 1), (1, 2)
# Indices of ScatterElements. Indices of the first row occur several times, and some are
# negative.
INDICES = [[0, 2, 2, -2, 0, 2], [1, 3, 2, 0, -1, 1]]


def windows(size, axis):
    """Yields, for each position of the window along an axis, the indices of its elements.
    Indices outside the axis are in the padding."""
    extent = (KERNEL[axis] - 1) * DILATIONS[axis] + 1
    room = size + PADS[axis] + PADS[2 + axis] - extent
    for position in range(room // STRIDES[axis] + 1):
        first = position * STRIDES[axis] - PADS[axis]
        yield [first + element * DILATIONS[axis] for element in range(KERNEL[axis])]


def planes(numbers):
    height, width = IMAGE[2:]
    for plane in range(IMAGE[0] * IMAGE[1]):
        begin = plane * height * width
        yield [numbers[begin + row * width:begin + (row + 1) * width]
               for row in range(height)]


def norm(numbers, p):
    return sum(abs(number) ** p for number in numbers) ** (1 / p)


def pool(numbers, p):
    height, width = IMAGE[2:]
    return [norm([plane[y][x] for y in rows for x in columns
                  if 0 <= y < height and 0 <= x < width], p)
            for plane in planes(numbers)
            for rows in windows(height, 0) for columns in windows(width, 1)]


def pool_planes(numbers, p):
    return [norm(itertools.chain(*plane), p) for plane in planes(numbers)]


def fold(numbers):
    """Computes Col2Im: adds up overlapping blocks. `numbers` are ordered by plane, then by
    element of a block, then by the block's position."""
    height, width = IMAGE[2:]
    result = [0.0] * math.prod(IMAGE)
    source = iter(numbers)
    rows, columns = list(windows(height, 0)), list(windows(width, 1))
    for plane in range(IMAGE[0] * IMAGE[1]):
        for row, column in itertools.product(range(KERNEL[0]), range(KERNEL[1])):
            for ys, xs in itertools.product(rows, columns):
                y, x, number = ys[row], xs[column], next(source)
                if 0 <= y < height and 0 <= x < width:
                    result[(plane * height + y) * width + x] += number
    return result


def scatter(data, updates, combine):
    result = list(data)
    for row, (line, indices) in enumerate(zip(updates, INDICES)):
        for update, index in zip(line, indices):
            place = row * 4 + index % 4
            result[place] = combine(result[place], update)
    return result


def main():
    work = Work(__doc__)
    generator = random.Random(4)
    positions = (len(list(windows(IMAGE[2], 0))) * len(list(windows(IMAGE[3], 1))))
    blocks = (IMAGE[0], IMAGE[1] * math.prod(KERNEL), positions)
    shapes = {"image": IMAGE, "blocks": blocks, "data": (2, 4), "updates": (2, 6)}
    inputs = {}
    for name, shape in shapes.items():
        inputs[name] = [generator.uniform(-2, 2) for _ in range(math.prod(shape))]
        write_npy(work.folder / f"{name}.npy", "<f4", inputs[name], shape)
    updates = [inputs["updates"][:6], inputs["updates"][6:]]
    window = {"strides": STRIDES, "pads": PADS, "dilations": DILATIONS}
    nodes, expected = [], {}
    for p in (1, 2, 3):
        nodes += [node("LpPool", ["image"], [f"pool{p}"], f"pool{p}", kernel_shape=KERNEL,
                       p=p, **window),
                  node("GlobalLpPool", ["image"], [f"plane{p}"], f"plane{p}", p=p)]
        expected[f"pool{p}"] = pool(inputs["image"], p)
        expected[f"plane{p}"] = pool_planes(inputs["image"], p)
    nodes.append(node("Col2Im", ["blocks", "size", "kernel"], ["fold"], **window))
    expected["fold"] = fold(inputs["blocks"])
    for name, combine in (("max", max), ("min", min), ("mul", lambda x, y: x * y),
                          ("add", lambda x, y: x + y)):
        nodes.append(node("ScatterElements", ["data", "indices", "updates"], [name], name,
                          axis=1, reduction=name))
        expected[name] = scatter(inputs["data"], updates, combine)
    path = work.folder / "nodes.onnx"
    path.write_bytes(model(graph(
        nodes, [value(name, shape) for name, shape in shapes.items()], list(expected),
        [integers("size", IMAGE[2:]), integers("kernel", KERNEL),
         tensor("indices", [2, 6], list(itertools.chain(*INDICES)), INT64)]), opset=18))
    binary = path.with_suffix("")
    run(work.hftac, path, "-o", binary)
    run(binary, "run", *itertools.chain(*(
        ("--input", f"{name}={work.folder / name}.npy") for name in shapes)),
        "--output", work.folder)
    for name, numbers in expected.items():
        found = read_npy(work.folder / f"{name}.npy", "f")
        worst = max(abs(a - b) for a, b in zip(found, numbers))
        if len(found) != len(numbers) or not worst < 1e-5:
            fail(f"{name}: {worst} off")


if __name__ == "__main__":
    main()
