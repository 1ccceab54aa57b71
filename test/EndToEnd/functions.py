#!/usr/bin/env python3
"""Compares a model whose nodes call functions of the ONNX file, and which has unused nodes,
with the same model written without functions. The results of an inference program are also
compared with a computation in Python, and those of a training bit by bit. Needs only
Python's standard library."""

import random
import sys

from harness import (REFERENCE, Work, checkpoint, expect_same_checkpoint, fail, make_blocks,
                     read_npy, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import (attribute, function, graph, model, node, reference,  # noqa: E402
                         tensor, value)

SIZE, ROWS, SAMPLES, STEPS = 6, 4, 16, 4
SLOPES = [0.5, 0.25]


def make_called():
    """Returns nodes and functions of the model with calls: function `block` calls `dense`
    and has an attribute with a default, the slope of its LeakyRelu. Its second output,
    which nothing uses, comes from an operator that isn't supported."""
    dense = function("dense", ["a", "w", "b"], ["r"], [
        node("MatMul", ["a", "w"], ["h"]), node("Add", ["h", "b"], ["r"])])
    block = function("block", ["a", "w", "b"], ["r", "which"], [
        node("dense", ["a", "w", "b"], ["h"], domain="my"),
        node("LeakyRelu", ["h"], ["r"], references=[reference("alpha", "slope")]),
        node("NonZero", ["h"], ["which"])], defaults=[attribute("slope", SLOPES[0])])
    return [node("block", ["x", "w0", "b0"], ["h"], domain="my"),
            node("block", ["h", "w1", "b1"], ["y"], domain="my", slope=SLOPES[1]),
            node("NonZero", ["h"], ["unused"])], dense + block


def make_plain():
    nodes, name = [], "x"
    for i, slope in enumerate(SLOPES):
        nodes += [node("MatMul", [name, f"w{i}"], [f"m{i}"]),
                  node("Add", [f"m{i}", f"b{i}"], [f"s{i}"]),
                  node("LeakyRelu", [f"s{i}"], ["y" if i else "h"], alpha=slope)]
        name = "h"
    return nodes, b""


def compute(rows, weights):
    for i, slope in enumerate(SLOPES):
        matrix, bias = weights[f"w{i}"], weights[f"b{i}"]
        rows = [[sum(row[k] * matrix[k * SIZE + j] for k in range(SIZE)) + bias[j]
                 for j in range(SIZE)] for row in rows]
        rows = [[max(number, slope * number) for number in row] for row in rows]
    return sum(rows, [])


def main():
    work = Work(__doc__)
    generator = random.Random(2)

    def draw(*shape):
        count = 1
        for size in shape:
            count *= size
        return [generator.uniform(-1, 1) for _ in range(count)]

    weights = {f"{kind}{i}": draw(*shape) for i in range(2)
               for kind, shape in (("w", (SIZE, SIZE)), ("b", (SIZE,)))}
    tensors = [tensor(name, [SIZE, SIZE] if name[0] == "w" else [SIZE], numbers)
               for name, numbers in weights.items()]
    for name in ("x", "target"):
        write_npy(work.folder / f"{name}.npy", "<f4", draw(SAMPLES, SIZE), (SAMPLES, SIZE))
    few = draw(ROWS, SIZE)
    write_npy(work.folder / "few.npy", "<f4", few, (ROWS, SIZE))
    expected = compute([few[i:i + SIZE] for i in range(0, len(few), SIZE)], weights)
    for name, (nodes, functions) in (("called", make_called()), ("plain", make_plain())):
        path = work.folder / f"{name}.onnx"
        path.write_bytes(model(graph(nodes, [value("x", ["batch", SIZE])], ["y"], tensors),
                               more=functions))
        binary = work.folder / f"{name}-infer"
        run(work.hftac, path, f"--batch={ROWS}", "-o", binary)
        run(binary, "run", "--input", f"x={work.folder / 'few.npy'}", "--output",
            work.folder / name)
        found = read_npy(work.folder / name / "y.npy", "f")
        worst = max(abs(one - other) for one, other in zip(found, expected, strict=True))
        if worst > 1e-5:
            fail(f"{name}: an output differs by {worst}")
        job = work.folder / f"{name}.hfta"
        job.write_text(f'model net = onnx("{name}.onnx")\n' + make_blocks(
            'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)",
            "adam(lr = [1e-2, 1e-3])", STEPS, model="net(x)", batch=ROWS))
        run(work.hftac, job, "-o", work.folder / name / "train")
        run(work.folder / name / "train", "train", "--no-progress", "--data", work.folder,
            "--checkpoint", work.folder / name / "trained")
    expect_same_checkpoint(checkpoint(work.folder / "called" / "trained", STEPS),
                           checkpoint(work.folder / "plain" / "trained", STEPS),
                           "a model with functions and without", copies=2)


if __name__ == "__main__":
    main()
