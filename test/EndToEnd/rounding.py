#!/usr/bin/env python3
"""Tests that casts from f64 and f32 to bf16 and f16 give the nearest number, ties to even,
on every processor. A number of f64 must not be rounded twice, first to f32. Needs only
Python's standard library."""

import math
import random
import struct
import sys

from harness import REFERENCE, Work, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, value  # noqa: E402

DOUBLE, FLOAT, HALF, BFLOAT = 11, 1, 10, 16
# For each type: the bits of the significand with the leading one, the exponent of the last
# bit of a denormal number, and the smallest number that rounds to infinity.
BF16 = 8, -133, 2.0 ** 128 - 2.0 ** 119
F16 = 11, -24, 65520.0


def nearest(number, kind):
    precision, least, overflow = kind
    if not math.isfinite(number) or number == 0:
        return number
    if abs(number) >= overflow:
        return math.copysign(math.inf, number)
    last = max(math.frexp(number)[1] - precision, least)
    # Both calls of ldexp are exact, because the numbers are far from the limits of f64.
    return math.copysign(math.ldexp(round(math.ldexp(abs(number), -last)), last), number)


def make_numbers():
    """Returns f64 numbers: random ones, numbers halfway between two numbers of bf16 or f16,
    their neighbours, and extreme ones."""
    generator = random.Random(11)
    numbers = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, -1e300, 5e-324, 65519.9,
               65520.0, 65504.0, 3.3961775292304e38, 2.0 ** 128 - 2.0 ** 119, 1e-40, 1e-45,
               2.0 ** -134, 2.0 ** -25, 1.0000001 * 2.0 ** -25]
    for _ in range(3000):
        numbers.append(math.ldexp(generator.uniform(-1, 1), generator.randint(-160, 140)))
        numbers.append(math.ldexp(generator.uniform(-1, 1), generator.randint(-28, 18)))
        for bits in (BF16[0], F16[0]):
            half = generator.randint(1 << bits, 2 << bits) + 0.5
            exponent = generator.randint(-14, 4) - bits
            for nudge in (0, 2.0 ** -40, -2.0 ** -40, 2.0 ** -14, -2.0 ** -14):
                numbers.append(math.ldexp(half + nudge, exponent))
    return numbers


def round_to_f32(number):
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def is_same(mine, theirs):
    return mine == theirs and math.copysign(1, mine) == math.copysign(1, theirs) \
        or math.isnan(mine) and math.isnan(theirs)


def main():
    work = Work(__doc__)
    doubles = make_numbers()
    given = {"double": (DOUBLE, "<f8", doubles),
             "float": (FLOAT, "<f4", [round_to_f32(number) for number in doubles])}
    for name, (type, code, numbers) in given.items():
        nodes = [node("Cast", ["x"], [f"{kind}"], f"to-{kind}", to=number)
                 for kind, number in (("b", BFLOAT), ("h", HALF))]
        nodes += [node("Cast", [kind], [f"{kind}-wide"], f"from-{kind}", to=FLOAT)
                  for kind in "bh"]
        path = work.folder / f"{name}.onnx"
        path.write_bytes(model(graph(nodes, [value("x", ["batch"], type)],
                                     ["b-wide", "h-wide"])))
        data = work.folder / f"{name}.npy"
        write_npy(data, code, numbers, (len(numbers),))
        for cpu in ("native", "x86-64"):
            binary, folder = path.with_suffix(f".{cpu}"), path.with_suffix(f".{cpu}.out")
            run(work.hftac, path, f"--batch={len(numbers)}", f"--cpu={cpu}", "-o", binary)
            run(binary, "run", "--input", f"x={data}", "--output", folder)
            for kind, form in (("b", BF16), ("h", F16)):
                for x, got in zip(numbers, read_npy(folder / f"{kind}-wide.npy", "f")):
                    if not is_same(got, nearest(x, form)):
                        fail(f"{name} to {kind}16 on {cpu}: {x!r} became {got!r}, "
                             f"expected {nearest(x, form)!r}")
        print(f"{name}: {len(numbers)} numbers")


if __name__ == "__main__":
    main()
