#!/usr/bin/env python3
"""Tests `precision bf16` on CPUs, where products multiply pairs of bf16: by an instruction of
AVX512-BF16, or as f32 elsewhere. Each copy's bytes must be the same on both, and alone on one
thread; so must those that are computed from numbers so small that sums are denormal. Losses
must stay near those of f32, and a product must equal one that is computed in exact
arithmetic with a rounding after each step. Needs only Python's standard library."""

import array
from fractions import Fraction
import sys

from harness import (MODELS, REFERENCE, Work, checkpoint, expect_equal,
                     expect_same_checkpoint, fail, make_job, read_log, read_npy,
                     run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

STEPS = 100
PAIRS, HALVES = "--cpu=znver4", "--cpu=x86-64-v3"
INSTRUCTION = "vdpbf16ps"
ROWS, TERMS, COLUMNS = 16, 63, 32


def uses_instruction(work, job, cpu):
    path = work.folder / "code.s"
    run(work.hftac, job, cpu, "--emit=asm", "-o", path)
    return INSTRUCTION in path.read_text()


def runs_here(binary):
    """Whether this processor has the features that the program needs."""
    try:
        run(binary, "info")
    except SystemExit as error:
        if "avx512" in str(error):
            return False
        raise
    return True


def train(work, name, job, *flags, data=None):
    """Trains, and returns the checkpoint's folder and the losses of the copies at each step;
    nothing if this processor can't."""
    binary = work.compile(name, job, *flags)
    if not runs_here(binary):
        return None
    folder, log = work.folder / f"{name}-checkpoints", work.folder / f"{name}.jsonl"
    run(binary, "train", "--data", data or work.folder, "--checkpoint", folder, "--log", log,
        "--log-every", 1, "--no-progress", *["--threads", 1] * ("--no-fuse" in flags))
    losses = [event["loss"] for event in read_log(log) if event["event"] == "step"]
    return checkpoint(folder, len(losses)), losses


def check_network(work, kind):
    """Compares a network's training in bf16 with those on other processors and in f32."""
    def make(precision):
        return make_job(kind, STEPS, f"  precision {precision}",
                        optimizer="sgd(lr = [1e-3, 3e-3, 1e-2])")

    job = make("bf16")
    for cpu, expected in ((PAIRS, True), (HALVES, False)):
        expect_equal(uses_instruction(work, work.write_job(kind, job), cpu), expected,
                     f"{kind}: whether code for {cpu} has {INSTRUCTION}")
    folder, losses = train(work, f"{kind}-halves", job, HALVES)
    alone, _ = train(work, f"{kind}-alone", job, HALVES, "--no-fuse")
    expect_same_checkpoint(alone, folder, f"{kind}: alone")
    pairs = train(work, f"{kind}-pairs", job, PAIRS)
    if pairs:
        expect_same_checkpoint(pairs[0], folder, f"{kind}: by {INSTRUCTION}")
        expect_equal(pairs[1], losses, f"{kind}: losses by {INSTRUCTION}")
    _, exact = train(work, f"{kind}-f32", make("f32"))
    gap = max(abs(a - b) for mine, theirs in zip(losses, exact, strict=True)
              for a, b in zip(mine, theirs, strict=True))
    if not 0 < gap < 1e-2:
        fail(f"{kind}: losses are {gap} from those of f32")
    print(f"{kind}: {'both' if pairs else 'one'} of the ways, losses {gap:.1e} from f32's")


def check_small(work):
    """Trains for a step on images with pixels so small that gradients of weights are nearly
    or wholly denormal; the learning rates make these gradients large enough to see."""
    small = work.folder / "small"
    small.mkdir(exist_ok=True)
    image = read_npy(work.folder / "mlp-image.npy", "f")
    scaled = [number * 2.0 ** -(115 + i % 64 % 24) for i, number in enumerate(image)]
    write_npy(small / "mlp-image.npy", "<f4", scaled, [len(scaled) // 64, 1, 8, 8])
    (small / "mlp-label.npy").write_bytes((work.folder / "mlp-label.npy").read_bytes())
    job = make_job("mlp", 1, "  precision bf16", optimizer="sgd(lr = [1e30, 1e34, 1e38])")
    halves = train(work, "small-halves", job, HALVES, data=small)
    pairs = train(work, "small-pairs", job, PAIRS, data=small)
    if pairs:
        expect_same_checkpoint(pairs[0], halves[0], "small numbers")


def round_to(number, bits):
    """Rounds a fraction to a float with this many bits of significand, ties to even."""
    if number == 0:
        return number
    exponent = 0
    while abs(number) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(number) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - bits + 1)
    return round(number / unit) * unit


def multiply(row, column):
    """Returns the sum of the products of two lists: of the pairs of element i and element
    i + n / 2, the second product is added first."""
    half = (len(row) + 1) // 2
    total = Fraction(0)
    for i in range(half):
        for k in (i + half, i):
            if k < len(row):
                total = round_to(total + row[k] * column[k], 24)
    return total


def check_product(work):
    """Compares a product over an odd number of terms with exact arithmetic."""
    x, w = (array.array("f", [((factor * i) % 1009 - 504) / 811 for i in range(count)])
            for factor, count in ((37, ROWS * TERMS), (53, TERMS * COLUMNS)))
    path, binary = work.folder / "product.onnx", work.folder / "product"
    path.write_bytes(model(graph(
        [node("MatMul", ["x", "w"], ["output"], name="product")],
        [value("x", ["batch", TERMS])], [value("output", ["batch", COLUMNS])],
        [tensor("w", [TERMS, COLUMNS], w)])))
    run(work.hftac, path, HALVES, "--precision=bf16", f"--batch={ROWS}", "-o", binary)
    write_npy(work.folder / "x.npy", "<f4", x, [ROWS, TERMS])
    run(binary, "run", "--input", f"x={work.folder / 'x.npy'}", "--output",
        work.folder / "out")
    got = read_npy(work.folder / "out" / "output.npy", "f")
    x, w = ([round_to(Fraction(number), 8) for number in numbers] for numbers in (x, w))
    for place, number in enumerate(got):
        row, column = divmod(place, COLUMNS)
        expected = multiply(x[TERMS * row:TERMS * (row + 1)], w[column::COLUMNS])
        expect_equal(Fraction(number), expected, f"element {row}, {column} of the product")
    print(f"product: {len(got)} elements as in exact arithmetic")


def main():
    work = Work(__doc__, "mlp", "cnn")
    for kind in MODELS:
        check_network(work, kind)
    check_small(work)
    check_product(work)


if __name__ == "__main__":
    main()
