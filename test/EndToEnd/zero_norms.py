#!/usr/bin/env python3
"""Tests that the gradient of a norm at zero is zero, as in PyTorch, on the CPU and on the
emulated GPU. This covers ReduceL2 and the forms that exporters give it, and in addition
ReduceL1, ReduceSumSquare, ReduceLogSumExp and standard deviations. A model is trained for
one step, in which one sample's norms are zero, and compared with formulas in Python. An
exported model must contain ReduceL2 again. Needs only Python's standard library."""

import math
import os
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail,
                     make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

SIZE, LEAST, RATES = 4, 0.5, [0.5, 0.125]
P = [0.5, -1.25, 2.0, 0.75]
# The samples x, such that h = x + p is zero, has no zero, has some zeros, and has equal
# elements.
SAMPLES = [[-p for p in P], [1.0, 0.5, -3.0, 0.25], [-0.5, 1.25, 1.0, 2.0],
           [0.75, 2.5, -0.75, 0.5]]
# The number of each kind of output of a sample, in order: the norm; h / max(norm, 0.5); the
# norms of single elements; the sum of magnitudes; the sum of squares; the logarithm of the
# sum of exponentials; and h minus its mean, divided by its standard deviation.
SIZES = [1, SIZE, SIZE, 1, 1, 1, SIZE]


def make_model():
    def reduce(op, output):
        return node(op, ["h"], [output], output, axes=[1])

    return model(graph(
        [node("Add", ["x", "p"], ["h"]), reduce("ReduceL2", "norm"),
         node("Max", ["norm", "least"], ["kept"]), node("Div", ["h", "kept"], ["unit"]),
         node("Reshape", ["h", "apart"], ["single"]),
         node("ReduceL2", ["single"], ["own"], "own", axes=[2], keepdims=0),
         reduce("ReduceL1", "sum"), reduce("ReduceSumSquare", "squares"),
         reduce("ReduceLogSumExp", "log"),
         node("MeanVarianceNormalization", ["h"], ["z"], axes=[1]),
         node("Concat", ["norm", "unit", "own", "sum", "squares", "log", "z"], ["y"],
              axis=1)],
        [value("x", ["batch", SIZE])], ["y"],
        [tensor("p", [SIZE], P), tensor("least", [1], [LEAST]),
         tensor("apart", [3], [-1, SIZE, 1], type=7)]))


def dot(first, second):
    return sum(map(math.prod, zip(first, second)))


def sign(number):
    return (number > 0) - (number < 0)


def evaluate(h):
    norm, mean = math.hypot(*h), sum(h) / SIZE
    centered = [x - mean for x in h]
    deviation = math.hypot(*centered) / SIZE ** 0.5 + 1e-9
    return [norm, *(x / max(norm, LEAST) for x in h), *map(abs, h), sum(map(abs, h)),
            dot(h, h), math.log(sum(map(math.exp, h))), *(c / deviation for c in centered)]


def find_gradient(h, slopes):
    """Returns the gradient with respect to h. `slopes` is the gradient with respect to the
    outputs."""
    ends = [sum(SIZES[:i + 1]) for i in range(len(SIZES))]
    parts = [slopes[end - size:end] for end, size in zip(ends, SIZES)]
    (of_norm,), of_unit, of_own, (of_sum,), (of_squares,), (of_log,), of_z = parts
    norm, mean = math.hypot(*h), sum(h) / SIZE
    centered = [x - mean for x in h]
    root = math.hypot(*centered) / SIZE ** 0.5
    total = sum(map(math.exp, h))
    gradient = []
    for i, x in enumerate(h):
        found = of_norm * x / norm if norm else 0.0
        found += of_unit[i] / max(norm, LEAST)
        if norm > LEAST:
            found -= x * dot(h, of_unit) / norm ** 3
        found += (of_own[i] + of_sum) * sign(x) + 2 * of_squares * x
        gradient.append(found + of_log * math.exp(x) / total)
    inner = [slope / (root + 1e-9) for slope in of_z]
    if root:
        factor = dot(centered, of_z) / ((root + 1e-9) ** 2 * root * SIZE)
        inner = [slope - c * factor for slope, c in zip(inner, centered)]
    return [found + slope - sum(inner) / SIZE for found, slope in zip(gradient, inner)]


def find_step(targets):
    """Returns the gradient of the mean of squared differences with respect to p."""
    count = len(SAMPLES) * sum(SIZES)
    sums = [0.0] * SIZE
    for sample, target in zip(SAMPLES, targets):
        h = [x + p for x, p in zip(sample, P)]
        slopes = [2 * (y - t) / count for y, t in zip(evaluate(h), target)]
        sums = [a + b for a, b in zip(sums, find_gradient(h, slopes))]
    return sums


def main():
    work = Work(__doc__, more=["--emulation"])
    folder = work.folder
    # At a deviation of zero, the derivative of the normalization is 1e9. So the first
    # sample's targets for these outputs are equal to the outputs, which makes their
    # gradients zero.
    targets = [[0.25 * ((5 * i + 3 * j) % 7 - 2) for j in range(sum(SIZES))]
               for i in range(len(SAMPLES))]
    targets[0][-SIZE:] = [0.0] * SIZE
    write_npy(folder / "x.npy", "<f4", sum(SAMPLES, []), [len(SAMPLES), SIZE])
    write_npy(folder / "t.npy", "<f4", sum(targets, []), [len(SAMPLES), sum(SIZES)])
    (folder / "net.onnx").write_bytes(make_model())
    job = 'model net = onnx("net.onnx")\n' + make_blocks(
        'x = npy("x.npy"), t = npy("t.npy")', "mse(net, t)", f"sgd(lr = {RATES})", 1,
        model="net(x)", batch=len(SAMPLES), clauses='  precision f64\n  freeze "least"')
    environment = {**os.environ, "LD_LIBRARY_PATH": work.options.emulation}
    for name, flags in (("cpu", ()), ("gpu", ("--target=cuda", "--gpu-code=emulated",
                                              "--chip=sm_80"))):
        binary = work.compile(name, job, *flags)
        saved = folder / f"{name}.run"
        run(binary, "train", "--data", folder, "--checkpoint", saved, "--no-progress",
            env=environment)
        for copy, rate in enumerate(RATES):
            trained = read_safetensors(copy_file(checkpoint(saved, 1), copy))["p"][2]
            for mine, p, gradient in zip(trained, P, find_step(targets)):
                if not abs(mine - (p - rate * gradient)) <= 1e-6:
                    fail(f"{name}: got {mine}, expected {p - rate * gradient}")
        print(f"as the formula: {name}")

    exported = folder / "again.onnx"
    run(folder / "cpu", "export", "--copy", 0, "-o", exported)
    expect_equal(exported.read_bytes().count(b"ReduceL2"), 2, "exported norms")
    again = work.compile("again", job.replace("net.onnx", "again.onnx"), "--precision=f64")
    trained = work.train(again)
    copies = [read_safetensors(copy_file(checkpoint(trained, 1), copy))["p"][2]
              for copy in range(len(RATES))]
    if not all(map(math.isfinite, sum(map(list, copies), []))):
        fail(f"the exported model trains to {copies}")


if __name__ == "__main__":
    main()
