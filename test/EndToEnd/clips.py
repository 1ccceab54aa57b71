#!/usr/bin/env python3
"""Tests what changes updates beside the optimizer: clipping of gradients by norm, by value
and adaptively, of the job and of groups of parameters, and rates that fall from layer to
layer. Steps are compared with the formulas in plain Python. Needs only Python's standard
library."""

import json
import math
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import INT64, graph, model, node, tensor, value  # noqa: E402

# The parameters, a matrix of 3 x 4 and a vector of 4 numbers, and the gradients of a step,
# all exact in binary.
MATRIX = [((5 * k) % 13 - 6) / 8 for k in range(12)]
VECTOR = [((3 * k + 1) % 5 - 2) / 4 for k in range(4)]
OF_MATRIX = [w - ((7 * k + 6) % 11 - 5) / 4 for k, w in enumerate(MATRIX)]
OF_VECTOR = [w - ((5 * k + 4) % 7 - 3) / 4 for k, w in enumerate(VECTOR[:3])] + [0.0]


# The model y = 4 (x + p), where p are all parameters. The gradient of the mean of the
# squares of its 16 numbers is 2 (x + p). In the layered form, the matrix is cut from rows
# that have names of their own.
def make_file():
    nodes = [node("Reshape", ["block.0.matrix", "twelve"], ["flat"], "reshape"),
             node("Slice", ["x", "zero", "middle", "one"], ["left"], "left"),
             node("Slice", ["x", "middle", "end", "one"], ["right"], "right"),
             node("Add", ["left", "flat"], ["first"], "first"),
             node("Add", ["right", "head.vector"], ["second"], "second"),
             node("Concat", ["first", "second"], ["both"], "both", axis=1),
             node("Mul", ["both", "four"], ["y"], "output")]
    tensors = [tensor("block.0.matrix", [3, 4], MATRIX), tensor("head.vector", [4], VECTOR),
               tensor("four", [], [4.0])]
    tensors += [tensor(name, [1], [number], type=INT64) for name, number in
                (("twelve", 12), ("zero", 0), ("middle", 12), ("end", 16), ("one", 1))]
    return model(graph(nodes, [value("x", ["n", 16])], [value("y", ["n", 16])], tensors))


def make_text(clauses, optimizer="sgd(lr = [1, 0.5])", steps=1):
    return 'model net = onnx("model.onnx")' + make_blocks(
        'x = npy("x.npy")', "mse(net, 0)", optimizer, steps, batch=2, model="net(x)",
        clauses=f"  precision f64\n{clauses}").replace("batch = 2",
                                                       "batch = 2, shuffle = false")


def compile_job(work, name, clauses, *settings, flags=(), **others):
    binary = work.folder / name
    text = make_text(clauses, *settings, **others)
    return binary, run(work.hftac, work.write_job(name, text), "-o", binary, *flags)


def train(work, binary, steps=1):
    return checkpoint(work.train(binary), steps)


def find_norm(numbers):
    return math.sqrt(sum(number * number for number in numbers))


def by_norm(limit, *tensors):
    scale = min(1.0, limit / (find_norm(sum(tensors, [])) + 1e-6))
    return [[scale * number for number in numbers] for numbers in tensors]


def by_value(limit, numbers):
    return [max(-limit, min(limit, number)) for number in numbers]


def adaptively(factor, numbers, weights, row, eps=1e-3):
    result = []
    for begin in range(0, len(numbers), row):
        part, own = numbers[begin:begin + row], weights[begin:begin + row]
        most, norm = factor * max(find_norm(own), eps), find_norm(part)
        scale = most / max(norm, 1e-6) if norm >= most else 1.0
        result += [scale * number for number in part]
    return result


def expect_gradients(folder, copy, rate, gradients, what):
    after = read_safetensors(copy_file(folder, copy))
    worst = 0.0
    for name, before, gradient in zip(("block.0.matrix", "head.vector"), (MATRIX, VECTOR),
                                      gradients):
        worst = max([worst, *(abs(w - rate * g - now) for w, g, now in
                              zip(before, gradient, after[name][2], strict=True))])
    if not worst < 1e-14:
        fail(f"{what}, copy {copy}: differs by {worst}")
    print(f"{what}, copy {copy}: within {worst:.1e}")


def check_clips(work):
    plain = [OF_MATRIX, OF_VECTOR]
    half = by_norm(0.5, OF_VECTOR)[0]
    rows = adaptively(0.05, OF_MATRIX, MATRIX, 4)
    whole = adaptively(0.05, OF_VECTOR, VECTOR, 4)
    # By three clips in a row: the norm first, each row's then, elements at last.
    thrice = by_value(0.01, adaptively(0.05, by_norm(1, OF_MATRIX, OF_VECTOR)[0], MATRIX, 4))
    for name, clauses, expected in (
            ("value", "clip_value [0.5, 1e9]\n  zip(lr, clip_value)",
             [[by_value(0.5, OF_MATRIX), by_value(0.5, OF_VECTOR)], plain]),
            ("norm", "clip_norm 1", [by_norm(1, OF_MATRIX, OF_VECTOR)] * 2),
            ("groups", 'group "*.matrix", clip_norm = [1, 1e9]\n  group vectors, clip_norm = '
             '0.5\n  zip(lr, matrix_clip_norm)',
             [[by_norm(1, OF_MATRIX)[0], half], [OF_MATRIX, half]]),
            # A group's limit is of its members alone, and the job's of all others.
            ("rest", "clip_norm 1\n  group vectors, clip_norm = 0.5",
             [[by_norm(1, OF_MATRIX)[0], half]] * 2),
            ("scaled", "loss_scale 1024\n  group vectors, clip_norm = 0.5, clip_value = 0.2",
             [[OF_MATRIX, by_value(0.2, half)]] * 2),
            ("adaptive", "clip adaptive([0.05, 1e9])\n  zip(lr, clip_factor)",
             [[rows, whole], plain]),
            ("eps", "clip adaptive(0.05, eps = 10)",
             [[adaptively(0.05, OF_MATRIX, MATRIX, 4, 10),
               adaptively(0.05, OF_VECTOR, VECTOR, 4, 10)]] * 2),
            ("none", "clip adaptive(0.05)\n  group vectors, clip = none",
             [[rows, OF_VECTOR]] * 2),
            ("one", 'group "block*", clip = adaptive(0.05)', [[rows, OF_VECTOR]] * 2),
            ("again", 'group vectors, clip = none\n  group "head*", clip = adaptive(0.05)',
             [[OF_MATRIX, whole]] * 2),
            ("all", "clip_norm 1\n  clip adaptive(0.05)\n  clip_value 0.01",
             [[thrice, by_value(0.01, adaptively(
                 0.05, by_norm(1, OF_MATRIX, OF_VECTOR)[1], VECTOR, 4))]] * 2)):
        binary, _ = compile_job(work, name, f"  {clauses}\n")
        folder = train(work, binary)
        for copy, rate in enumerate((1, 0.5)):
            expect_gradients(folder, copy, rate, expected[copy], name)


def check_axes(work):
    """Checks that rows are outputs of layers, along whatever axis the file has them."""
    nodes = [node("MatMul", ["x", "columns"], ["a"], "a"),
             node("Gemm", ["a", "rows"], ["b"], "b", transB=1),
             node("Reshape", ["folded", "shape"], ["unfolded"], "reshape"),
             node("Transpose", ["unfolded"], ["turned"], "turn", perm=[1, 0]),
             node("MatMul", ["b", "turned"], ["y"], "y")]
    tensors = [tensor("columns", [16, 3], [0.5] * 48), tensor("rows", [4, 3], [0.5] * 12),
               tensor("folded", [16, 2, 2], [0.5] * 64),
               tensor("shape", [2], [16, 4], type=INT64)]
    (work.folder / "axes.onnx").write_bytes(model(graph(
        nodes, [value("x", ["n", 16])], [value("y", ["n", 16])], tensors)))
    text = make_text("  clip adaptive(0.1)\n").replace("model.onnx", "axes.onnx")
    printed = run(work.hftac, work.write_job("axes", text), "--emit=import", "-o", "-")
    for name, axis in (("columns", 1), ("rows", 0), ("folded", 0)):
        if f"@{name} {{hfta.output_axes = array<i64: {axis}>" not in printed:
            fail(f"the outputs of '{name}' aren't along axis {axis}: {printed:.3000}")


def check_decay(work):
    clauses = '  layer_decay [0.5, 1], layers = ["block.*", "head.*"]\n'
    binary, _ = compile_job(work, "decay", clauses + "  zip(lr, layer_decay)\n")
    folder = train(work, binary)
    expect_gradients(folder, 0, 1, [[0.5 * g for g in OF_MATRIX], OF_VECTOR], "layer_decay")
    expect_gradients(folder, 1, 0.5, [OF_MATRIX, OF_VECTOR], "layer_decay")
    tensors = json.loads(run(binary, "info", "--json"))["parameters"]["tensors"]
    expect_equal({tensor["name"]: tensor.get("layer_distance") for tensor in tensors
                  if tensor["trained"]}, {"block.0.matrix": 1, "head.vector": 0},
                 "distances")
    text = run(binary, "info")
    for line in ("block.0.matrix  f64 3x4: by default, rate times layer_decay^1",
                 "head.vector  f64 4: by default, rate times 1"):
        if line not in text:
            fail(f"info prints no {line!r}: {text}")
    # With a group's scale, both count; a frozen layer counts as well.
    binary, _ = compile_job(work, "both", '  layer_decay 0.5, layers = ["block.*", "*"]\n'
                            '  group "block*", lr_scale = 3\n  freeze "head.*"\n')
    expect_gradients(train(work, binary), 0, 1,
                     [[1.5 * g for g in OF_MATRIX], [0.0] * 4], "layer_decay and lr_scale")
    if "rate times 0.5" not in run(binary, "info"):
        fail("info prints no scale")


def check_programs(work):
    """Checks that other kinds of programs, and each copy alone, give the same bytes in
    several steps."""
    clauses = ('  clip_norm [0.5, 2]\n  clip adaptive(0.05)\n  group vectors, clip_norm = 0.4, '
               'clip_value = 0.2\n  layer_decay 0.75, layers = ["block.*", "head.*"]\n'
               '  schedule_of clip_factor = exponential(0.9)\n  micro_batches 2\n')
    optimizer = "adam(lr = [0.1, 0.05])"
    binary, _ = compile_job(work, "programs", clauses, optimizer, steps=3)
    folder = train(work, binary, 3)
    for name, more, flags in (
            ("unfused", "", ["--no-fuse"]), ("stages", '  pipeline cuts = ["first"]\n', []),
            ("budget", "  memory device = 64MiB\n", [])):
        other, _ = compile_job(work, name, clauses + more, optimizer, flags=flags, steps=3)
        expect_same_checkpoint(train(work, other, 3), folder, name, copies=4)
    for copy, (rate, limit) in enumerate(((0.1, 0.5), (0.1, 2), (0.05, 0.5), (0.05, 2))):
        alone, _ = compile_job(work, f"alone-{copy}", clauses.replace("[0.5, 2]", str(limit)),
                               f"adam(lr = {rate})", steps=3)
        expect_equal(read_safetensors(copy_file(train(work, alone, 3), 0)),
                     read_safetensors(copy_file(folder, copy)), f"copy {copy} alone")


def main():
    work = Work(__doc__)
    (work.folder / "model.onnx").write_bytes(make_file())
    # Half of each gradient, so that twice the half is the gradient.
    row = [g / 2 - w for g, w in zip(OF_MATRIX + OF_VECTOR, MATRIX + VECTOR)]
    write_npy(work.folder / "x.npy", "<f4", row * 6, (6, 16))
    check_clips(work)
    check_axes(work)
    check_decay(work)
    check_programs(work)


if __name__ == "__main__":
    main()
