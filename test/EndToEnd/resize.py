#!/usr/bin/env python3
"""Compares Resize of short and of long axes, for which different code is generated, with
the formulas of linear and cubic interpolation, with and without antialiasing. Needs only
Python's standard library."""

import math
import random
import sys

from harness import REFERENCE, Work, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, integers, model, node, value  # noqa: E402

ROWS = 2
SIZES = [(7, 11), (11, 7), (1500, 2000), (2000, 900)]  # pairs: size before, size after


def cubic(x):
    """Returns Keys' cubic convolution kernel with a = -0.75 at x."""
    x = abs(x)
    if x <= 1:
        return (1.25 * x - 2.25) * x * x + 1
    return ((-0.75 * x + 3.75) * x - 6) * x + 3 if x < 2 else 0.0


def linear(x):
    return max(0.0, 1 - abs(x))


# The outputs: name to interpolation kernel and attributes of the node.
OUTPUTS = {
    "linear": (linear, {}),
    "cubic": (cubic, {}),
    "filtered": (linear, {"antialias": 1}),
    "inside": (cubic, {"antialias": 1, "exclude_outside": 1}),
}


def interpolate(line, size, kernel, antialias=0, exclude_outside=0):
    last = len(line) - 1
    widening = max(1, len(line) / size) if antialias else 1
    result = []
    for out in range(size):
        place = (out + 0.5) * len(line) / size - 0.5
        reach = math.ceil(2 * widening)
        places = [i for i in range(math.floor(place) - reach, math.ceil(place) + reach + 1)
                  if 0 <= i <= last or not exclude_outside]
        weights = [kernel((place - i) / widening) for i in places]
        result.append(sum(line[min(max(i, 0), last)] * weight
                          for i, weight in zip(places, weights)) / sum(weights))
    return result


def main():
    work = Work(__doc__)
    generator = random.Random(3)
    for before, after in SIZES:
        numbers = [generator.uniform(-1, 1) for _ in range(ROWS * before)]
        write_npy(work.folder / "x.npy", "<f4", numbers, (ROWS, 1, before))
        nodes = [node("Resize", ["x", "", "", "size"], [name], name, mode=kernel.__name__,
                      **settings) for name, (kernel, settings) in OUTPUTS.items()]
        path = work.folder / f"resize-{before}.onnx"
        path.write_bytes(model(graph(nodes, [value("x", ["batch", 1, before])],
                                     list(OUTPUTS),
                                     [integers("size", [ROWS, 1, after])]), opset=18))
        binary = path.with_suffix("")
        run(work.hftac, path, f"--batch={ROWS}", "-o", binary)
        run(binary, "run", "--input", f"x={work.folder / 'x.npy'}", "--output", work.folder)
        for name, (kernel, settings) in OUTPUTS.items():
            found = read_npy(work.folder / f"{name}.npy", "f")
            expected = [number for row in range(ROWS) for number in interpolate(
                numbers[row * before:(row + 1) * before], after, kernel, **settings)]
            worst = max(abs(a - b) for a, b in zip(found, expected))
            if len(found) != len(expected) or not worst < 1e-5:
                fail(f"{name}, {before} to {after}: {worst} off")


if __name__ == "__main__":
    main()
