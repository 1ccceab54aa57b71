#!/usr/bin/env python3
"""Tests that K-FAC doesn't depend on which axis has a model's samples. A network that puts
positions first, or merges them with the samples, must get the same factors as with the
samples first. Needs only Python's standard library."""

import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail,
                     make_blocks, read_safetensors)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import (graph, integers, model, node, tensor, value)  # noqa: E402

# There are twice as many positions as samples in a batch, so that the number of samples
# divides the sizes of both axes and doesn't tell which of them has the samples.
BATCH, POSITIONS, WIDTH = 4, 8, 6
SAMPLES, STEPS = 16, 4


def numbers(seed, count):
    return [uniform(seed, i) - 0.5 for i in range(count)]


def make_model(layout):
    """Makes a linear layer, a layer norm and another linear layer. Depending on `layout`,
    samples and positions are swapped or merged before these layers, and restored after
    them."""
    moves = {
        "samples": ([], []),
        "positions": ([node("Transpose", ["x"], ["in"], "swap", perm=[1, 0, 2])],
                      [node("Transpose", ["out"], ["y"], "back", perm=[1, 0, 2])]),
        "rows": ([node("Reshape", ["x", "flat"], ["in"], "flatten")],
                 [node("Reshape", ["out", "whole"], ["y"], "unflatten")]),
    }
    before, after = moves[layout]
    first, last = ("in", "out") if before else ("x", "y")
    nodes = [*before,
             node("MatMul", [first, "first.weight"], ["product"], "multiply"),
             node("Add", ["product", "first.bias"], ["sum"], "shift"),
             node("LayerNormalization", ["sum", "norm.scale", "norm.shift"], ["norm"],
                  axis=-1),
             node("Tanh", ["norm"], ["bounded"]),
             node("MatMul", ["bounded", "second.weight"], [last], "project"),
             *after]
    tensors = [tensor("first.weight", [WIDTH, WIDTH], numbers(1, WIDTH * WIDTH)),
               tensor("first.bias", [WIDTH], numbers(2, WIDTH)),
               tensor("norm.scale", [WIDTH], [1 + n for n in numbers(3, WIDTH)]),
               tensor("norm.shift", [WIDTH], numbers(4, WIDTH)),
               tensor("second.weight", [WIDTH, 2], numbers(5, 2 * WIDTH)),
               integers("flat", [-1, WIDTH]), integers("whole", [-1, POSITIONS, 2])]
    return model(graph(nodes, [value("x", ["batch", POSITIONS, WIDTH])], [value("y")],
                       tensors))


def train(work, layout, sharing):
    (work.folder / f"{layout}.onnx").write_bytes(make_model(layout))
    job = (f'model net = onnx("{layout}.onnx")' + make_blocks(
        'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)",
        "sgd(lr = [0.1, 0.3])", STEPS, batch=BATCH, model="net(x)",
        clauses="  precision f64\n  precondition kfac(damping = 1e-2, factor_every = 1, "
                f"inverse_every = 2, sharing = {sharing})\n"))
    binary = work.compile(f"{layout}-{sharing}", job)
    return checkpoint(work.train(binary), STEPS)


def check_same(mine, expected, what):
    for copy in range(2):
        theirs = read_safetensors(copy_file(expected, copy))
        ours = read_safetensors(copy_file(mine, copy))
        expect_equal(sorted(ours), sorted(theirs), f"{what}: names")
        if "factor/norm.scale" not in ours:
            fail(f"{what}: the norm has no factor: {sorted(ours)}")
        for name, (_, shape, found) in ours.items():
            expect_equal(shape, theirs[name][1], f"{what}: shape of {name}")
            for a, b in zip(found, theirs[name][2]):
                if abs(a - b) > 1e-11 + 1e-9 * abs(b):
                    fail(f"{what}, copy {copy}, {name}: got {a}, expected {b}")
    print(f"same factors: {what}")


def main():
    work = Work(__doc__)
    for name, width, seed in (("x", WIDTH, 11), ("target", 2, 12)):
        shape = [SAMPLES, POSITIONS, width]
        write_npy(work.folder / f"{name}.npy", "<f4",
                  numbers(seed, SAMPLES * POSITIONS * width), shape)
    for sharing in ("expand", "reduce"):
        expected = train(work, "samples", sharing)
        for layout in ("positions", "rows"):
            check_same(train(work, layout, sharing), expected, f"{layout}, {sharing}")


if __name__ == "__main__":
    main()
