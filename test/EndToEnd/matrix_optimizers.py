#!/usr/bin/env python3
"""Compares steps of optimizers of matrices, in f64, with the formulas in plain Python. The
layers of the model store their weights in four ways, and a matrix has a row for each output
of its layer in all of them. All optimizers are copies of one array. Needs only Python's
standard library."""

import math
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail, make_blocks,
                     read_safetensors)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import INT64, graph, model, node, tensor, value  # noqa: E402

STEPS = 3
SAMPLES = [[((7 * row + 5 * i) % 11 - 5) / 4 for i in range(6)] for row in range(4)]
# A matrix of 4 outputs and 6 inputs, which three of the layers have.
MATRIX = [[((5 * (6 * row + i)) % 13 - 6) / 16 for i in range(6)] for row in range(4)]
# The fourth layer's matrix: 2 outputs, and 6 inputs times 2 places.
UPWARD = [[((3 * (12 * row + i)) % 17 - 8) / 16 for i in range(12)] for row in range(2)]

SIMPLE = [(3.4445, -4.7750, 2.0315)] * 5
QUINTIC = [(4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
           (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012)]
SCALES = {"original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
          "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
          "rms_to_rms": lambda rows, columns: math.sqrt(rows / columns)}
COPIES = [
    ("muon", {"lr": 0.1}),
    ("muon", {"lr": 0.02, "weight_decay": 0.5, "scale": "match_rms_adamw"}),
    ("muon", {"lr": 0.1, "scale": "rms_to_rms", "coefficients": "quintic", "momentum": 0.5}),
    ("muon", {"lr": 0.1, "nesterov": False}),
    ("normuon", {"lr": 0.1}),
    ("normuon", {"lr": 0.05, "beta2": 0.5, "weight_decay": 0.3, "scale": "rms_to_rms",
                 "coefficients": "quintic", "nesterov": False}),
    ("muon", {"lr": 0.1, "iteration": "gram", "coefficients": "quintic"}),
    ("normuon", {"lr": 0.05, "iteration": "gram"}),
]


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transpose(a):
    return [list(column) for column in zip(*a)]


def combine(function, *matrices):
    return [[function(*numbers) for numbers in zip(*rows)] for rows in zip(*matrices)]


def find_norm(a):
    return math.sqrt(sum(x * x for row in a for x in row))


def orthogonalize(x, steps):
    for a, b, c in steps:
        gram = multiply(x, transpose(x))
        change = combine(lambda g, h, b=b, c=c: b * g + c * h, gram, multiply(gram, gram))
        x = combine(lambda w, v, a=a: a * w + v, x, multiply(change, x))
    return x


def update(optimizer, w, g, state, lr, momentum=0.95, beta2=0.95, weight_decay=None, eps=1e-7,
           nesterov=True, scale="original", coefficients="simple", iteration="direct"):
    del iteration  # It changes the order of computations alone.
    if weight_decay is None:
        weight_decay = 0.1 if optimizer == "muon" else 0.0
    rows, columns = len(w), len(w[0])
    mean = state["momentum_buffer"] = combine(
        lambda m, d: momentum * m + (1 - momentum) * d,
        state.get("momentum_buffer", [[0.0] * columns] * rows), g)
    direction = combine(lambda m, d: (1 - momentum) * d + momentum * m, mean,
                        g) if nesterov else mean
    length = find_norm(direction)
    length = length + eps if optimizer == "normuon" else max(length, eps)
    step = orthogonalize(combine(lambda d: d / length, direction),
                         QUINTIC if coefficients == "quintic" else SIMPLE)
    if optimizer == "normuon":
        squares = state["second_momentum_buffer"] = [
            beta2 * v + (1 - beta2) * sum(x * x for x in row) / columns
            for v, row in zip(state.get("second_momentum_buffer", [0.0] * rows), step)]
        scaled = [[x / (math.sqrt(v) + 1e-10) for x in row] for v, row in zip(squares, step)]
        ratio = find_norm(step) / (find_norm(scaled) + 1e-10)
        step = combine(lambda x: x * ratio, scaled)
    rate = lr * SCALES[scale](rows, columns)
    return combine(lambda p, x: p * (1 - lr * weight_decay) - rate * x, w, step)


def find_gradients(w, up):
    """Returns the gradients of the mean of the squares of the outputs, which are the sum of
    those of all layers, three of which are equal."""
    of_matrix = [[0.0] * 6 for _ in range(4)]
    of_upward = [[0.0] * 12 for _ in range(2)]
    for x in SAMPLES:
        for row in range(4):
            output, place = divmod(row, 2)
            y = sum((3 * w[row][i] + up[output][2 * i + place]) * x[i] for i in range(6))
            for i in range(6):
                of_matrix[row][i] += 2 * y * x[i] / 16
                of_upward[output][2 * i + place] += 2 * y * x[i] / 16
    return of_matrix, of_upward


def flatten(rows):
    return [number for row in rows for number in row]


def store_upward(a):
    """Returns a matrix of the transposed convolution as its weight of 6 x 2 x 2."""
    return [a[output][2 * i + place] for i in range(6) for output in range(2)
            for place in range(2)]


# How each weight stores its matrix.
STORED = {"columns": lambda a: flatten(transpose(a)), "rows": flatten, "kernel": flatten,
          "upward": store_upward}


def make_file():
    nodes = [node("MatMul", ["x", "columns"], ["a"], "a"),
             node("Gemm", ["x", "rows"], ["b"], "b", transB=1),
             node("Reshape", ["x", "two_channels"], ["wide"], "wide"),
             node("Conv", ["wide", "kernel"], ["c"], "c"),
             node("Reshape", ["c", "four"], ["flat"], "flat"),
             node("Reshape", ["x", "six_channels"], ["deep"], "deep"),
             node("ConvTranspose", ["deep", "upward"], ["d"], "d"),
             node("Reshape", ["d", "four"], ["grown"], "grown"),
             node("Sum", ["a", "b", "flat", "grown"], ["y"], "y")]
    shapes = {"columns": [6, 4], "rows": [4, 6], "kernel": [4, 2, 3], "upward": [6, 2, 2]}
    tensors = [tensor(name, shape, STORED[name](UPWARD if name == "upward" else MATRIX))
               for name, shape in shapes.items()]
    tensors += [tensor(name, [len(numbers)], numbers, type=INT64) for name, numbers in
                (("two_channels", [-1, 2, 3]), ("six_channels", [-1, 6, 1]), ("four", [-1, 4]))]
    return model(graph(nodes, [value("x", ["n", 6])], [value("y", ["n", 4])], tensors))


def simulate(optimizer, settings):
    """Returns parameters and states after all steps, by their names in checkpoints."""
    matrix, upward = MATRIX, UPWARD
    own, other = {}, {}
    for _ in range(STEPS):
        of_matrix, of_upward = find_gradients(matrix, upward)
        matrix = update(optimizer, matrix, of_matrix, own, **settings)
        upward = update(optimizer, upward, of_upward, other, **settings)
    result = {}
    for name, store in STORED.items():
        last, state = (upward, other) if name == "upward" else (matrix, own)
        result[name] = store(last)
        result[f"momentum_buffer/{name}"] = store(state["momentum_buffer"])
        if optimizer == "normuon":
            result[f"second_momentum_buffer/{name}"] = state["second_momentum_buffer"]
    return result


def write(settings):
    return ", ".join(f"{name} = {str(value).lower()}" for name, value in settings.items())


def main():
    work = Work(__doc__)
    write_npy(work.folder / "x.npy", "<f4", flatten(SAMPLES), (4, 6))
    (work.folder / "model.onnx").write_bytes(make_file())
    optimizers = ", ".join(f"{name}({write(settings)})" for name, settings in COPIES)
    text = 'model net = onnx("model.onnx")' + make_blocks(
        'x = npy("x.npy")', "mse(net, 0)", f"[{optimizers}]", STEPS, batch=4, model="net(x)",
        clauses="  precision f64\n")
    folder = work.train(work.compile("all", text))
    for copy, (optimizer, settings) in enumerate(COPIES):
        tensors = read_safetensors(copy_file(checkpoint(folder, STEPS), copy))
        expected = simulate(optimizer, settings)
        expect_equal(sorted(tensors), sorted(expected), f"copy {copy}: tensors")
        worst = max(abs(got - wanted) for name, numbers in expected.items()
                    for got, wanted in zip(tensors[name][2], numbers, strict=True))
        if not worst < 1e-13:
            fail(f"{optimizer}({write(settings)}) differs by {worst}")
        print(f"{optimizer}({write(settings)}): within {worst:.1e}")


if __name__ == "__main__":
    main()
