#!/usr/bin/env python3
"""Trains models of different depth in one array by optimizers whose ops on matrices are merged
over layers: each copy must get the bytes that it gets alone, where more or fewer matrices are
merged. Needs only Python's standard library."""

import os
import sys

from harness import REFERENCE, Work, checkpoint, copy_file, expect_same_file, make_blocks

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import node, simple, tensor, value  # noqa: E402

SIDE, WIDE, STEPS = 24, 40, 3
DEPTHS = (1, 3)
MUON, GRAM = "muon(lr = 0.05)", "normuon(lr = 0.05, iteration = gram)"
SOAP, SHAMPOO = "soap(lr = 0.01, every = 1)", "shampoo(lr = 0.01, eps = 1e-4, every = 1)"
OPTIMIZERS = {"cpu": [MUON, GRAM, SOAP, SHAMPOO], "gpu": [GRAM]}
TARGETS = {"cpu": [], "gpu": ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"]}


def numbers(seed, count):
    return [0.4 * uniform(seed, i) - 0.2 for i in range(count)]


def make_model(depth):
    """Returns a model with `depth` pairs of a matrix and a transposed one behind each other."""
    nodes, tensors, last = [], [], "x"
    for layer in range(depth):
        for name, shape in (("up", [SIDE, WIDE]), ("down", [WIDE, SIDE])):
            weight = f"{name}{layer}"
            tensors.append(tensor(weight, shape,
                                  numbers(len(tensors) + 1, shape[0] * shape[1])))
            nodes.append(node("MatMul", [last, weight], [f"{weight}.product"]))
            last = f"{weight}.product"
    nodes.append(node("Tanh", [last], ["y"]))
    return simple(nodes, tensors, inputs=[value("x", ["batch", SIDE])])


def make_job(depths, optimizer):
    files = ", ".join(f'"{depth}.onnx"' for depth in depths)
    return f"model net = onnx({files})" + make_blocks(
        'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)", optimizer, STEPS,
        batch=4, model="net(x)")


def check(work, target, optimizer):
    kind = optimizer.split("(")[0]

    def train(depths):
        name = "-".join([target, kind, *map(str, depths)])
        return work.train(work.compile(name, make_job(depths, optimizer), *TARGETS[target]))

    together = train(DEPTHS)
    for copy, depth in enumerate(DEPTHS):
        expect_same_file(copy_file(checkpoint(train([depth]), STEPS), 0),
                         copy_file(checkpoint(together, STEPS), copy),
                         f"{optimizer} on {target}, depth {depth}")
    print(f"{target}, {kind}: same")


def main():
    work = Work(__doc__, "mlp", more=["--emulation"])
    os.environ["HFTA_EMULATION_DEVICE"] = "sm_80"
    os.environ["LD_LIBRARY_PATH"] = work.options.emulation or ""
    for depth in DEPTHS:
        (work.folder / f"{depth}.onnx").write_bytes(make_model(depth))
    for seed, name in enumerate(("x", "target")):
        write_npy(work.folder / f"{name}.npy", "<f4", numbers(100 + seed, 12 * SIDE), (12, SIDE))
    for target, optimizers in OPTIMIZERS.items():
        for optimizer in optimizers:
            check(work, target, optimizer)


main()
