#!/usr/bin/env python3
"""Tests models that differ in the ops after a layer. The layer's result is read by ops of
one model only, in one model twice, and also by the common part. Trained as one array, each
model must add up its gradients in the same order as alone, so that even the signs of zeros
are equal. Needs only Python's standard library."""

import os
import random
import struct
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_same_file, make_blocks,
                     run)

sys.path.append(str(REFERENCE.parent / "Hostile"))

from onnx_writer import graph, model, node, tensor, value  # noqa: E402

STEPS, SAMPLES = 4, 16
BRANCHES = {
    "swish": [node("Sigmoid", ["h"], ["s"]), node("Mul", ["h", "s"], ["g"])],
    "tanh": [node("Tanh", ["h"], ["g"])],
    "cube": [node("Mul", ["h", "h"], ["q"]), node("Mul", ["q", "h"], ["g"])],
}


def make_model(branch):
    draw = random.Random(5)
    weights = [tensor(name, dims, [draw.uniform(-1, 1) for _ in range(dims[0] * dims[1])])
               for name, dims in (("w1", [4, 6]), ("w2", [6, 3]))]
    return model(graph([node("MatMul", ["x", "w1"], ["h"]), *branch,
                        node("Add", ["h", "g"], ["a"]), node("Relu", ["a"], ["r"]),
                        node("MatMul", ["r", "w2"], ["y"], "last")],
                       [value("x", ["batch", 4])], [value("y")], weights))


def make_job(names):
    files = ", ".join(f'"{name}.onnx"' for name in names)
    return f"model net = onnx([{files}])\n" + make_blocks(
        'x: f32[4] = raw("x.raw"), t: f32[3] = raw("t.raw")', "mse(net, t)",
        "sgd(lr = 0.1, momentum = 0.9)", STEPS, batch=4, model="net(x)")


def train(work, name, names, *flags, **options):
    binary = work.compile(name, make_job(names), *flags)
    folder = work.folder / f"{name}-checkpoints"
    run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--no-progress",
        **options)
    return checkpoint(folder, STEPS)


def main():
    work = Work(__doc__, more=["--emulation"])
    draw = random.Random(7)
    for name, width in (("x", 4), ("t", 3)):
        numbers = [draw.uniform(-1, 1) for _ in range(SAMPLES * width)]
        (work.folder / f"{name}.raw").write_bytes(
            struct.pack(f"<{len(numbers)}f", *numbers))
    for name, branch in BRANCHES.items():
        (work.folder / f"{name}.onnx").write_bytes(make_model(branch))
    names = list(BRANCHES)
    emulated = {**os.environ, "LD_LIBRARY_PATH": work.options.emulation}
    gpu = ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"]
    for target, flags, options in (("cpu", [], {}), ("f64", ["--precision=f64"], {}),
                                   ("gpu", gpu, {"env": emulated})):
        together = train(work, target, names, *flags, **options)
        for copy, name in enumerate(names):
            alone = train(work, f"{target}-{name}", [name], *flags, **options)
            expect_same_file(copy_file(together, copy), copy_file(alone, 0),
                             f"{name} beside others, {target}")
    print("each model has the bytes that it has alone")


main()
