#!/usr/bin/env python3
"""Tests that models whose tensors or hyper-parameters are named like variables of the
compiler train to the same numbers as under other names, with any number of threads, alone
and in an array. Needs only Python's standard library."""

import sys

from harness import (DATA, REFERENCE, Work, checkpoint, copy_file,
                     expect_equal, expect_same_checkpoint, expect_same_file,
                     make_blocks, read_safetensors, run)

sys.path.insert(0, str(REFERENCE.parent / "Hostile"))

from onnx_writer import graph, model, node, tensor, value  # noqa: E402

STEPS = 6

# Names for hyper-parameters of a model. Any name is allowed except the settings of jobs.
SCALARS = ["learning_rate", "loss", "clip_scale", "micro_batch",
           "valid_samples", "mean_loss", "step", "first_sample", "norm",
           "forward", "prepare", "objective", "hfta"]

# Names for tensors of an ONNX file. Any name is allowed.
TENSORS = SCALARS + [
    "lr", "momentum", "weight_decay", "seed", "label_smoothing", "loss/weight",
    "evaluation/loss_sum", "gradient/lr", "norm/lr", "initial/lr", "saved/0",
    "cut/0", "constant/0", "constant/value0", "input/image", "infer/image",
    "output/y", "hfta.step", "hfta.seed", "hfta.loss", "hfta.gradient/lr",
    "hfta.velocity/lr", "hfta.model/lr", "hfta.hyper_parameter/lr", "hfta.x",
    "hfta.model/hfta.x", "lr@0", "hfta_launch", "task/init.0", "task/update.0",
    "kernel/matmul.0"]

# Clauses that use all scalars of the compiler: a learning rate that changes with the step,
# and clipping (the optimizer has momentum).
CLAUSES = """
  seed 3
  schedule cosine(warmup = 2)
  clip_norm 0.5
"""


def make_training(rates):
    return make_blocks(
        DATA["mlp"], "cross_entropy(net, label, label_smoothing = 0.1)",
        f"sgd(lr = {rates}, momentum = 0.9, weight_decay = 1e-3)", STEPS,
        clauses=CLAUSES)


def language_job(names, rates):
    inputs = "".join(f", {name} = {1 + 0.1 * index}"
                     for index, name in enumerate(names))
    product = " * ".join(["hidden", *names])
    return f"""
model net(image: f32[batch, 1, 8, 8]{inputs}) {{
  hidden = dropout(relu(linear(flatten(image), 37)), 0.25)
  return linear({product}, 10)
}}
""" + make_training(rates)


def onnx_job(path, rates):
    """Returns a job that trains all tensors, even those whose names look as if an exporter
    had generated them."""
    return f'model net = onnx("{path.name}")\n' + make_training(rates).replace(
        CLAUSES, CLAUSES + '  trainable "*"\n')


def write_model(path, names):
    """Writes a model that maps an image to 10 numbers by a matrix, and then multiplies or
    adds each of the tensors `names` in turn."""
    tensors = [tensor("flat", [2], [-1, 64], type=7),
               tensor("weight", [64, 10],
                      [((7 * i) % 23 - 11) / 50 for i in range(640)])]
    nodes = [node("Reshape", ["image", "flat"], ["h"]),
             node("MatMul", ["h", "weight"], ["v0"])]
    for index, name in enumerate(names):
        tensors.append(tensor(name, [10], [1 + 0.01 * ((3 * index + i) % 7)
                                           for i in range(10)]))
        nodes.append(node("Mul" if index % 2 else "Add", [f"v{index}", name],
                          [f"v{index + 1}"], name=f"n{index}"))
    nodes.append(node("Identity", [f"v{len(names)}"], ["y"]))
    path.write_bytes(model(graph(nodes, [value("image", ["batch", 1, 8, 8])],
                                 [value("y", ["batch", 10])], tensors)))


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")

    def train(self, binary, threads):
        folder = self.work.folder / f"{binary.name}-{threads}-threads"
        run(binary, "train", "--data", self.work.folder, "--checkpoint",
            folder, "--no-progress", "--threads", threads)
        return checkpoint(folder, STEPS)

    def check(self, what, make_job, names):
        """Checks the job that `make_job(names, rates)` returns: copies in an array, alone,
        with several threads, and with other names must give the same results."""
        rates = [0.1, 0.02]
        array = self.work.compile(what, make_job(names, rates))
        together = self.train(array, 1)
        expect_same_checkpoint(self.train(array, 4), together,
                               f"{what}: 4 threads", copies=2)
        for copy, rate in enumerate(rates):
            alone = self.work.compile(f"{what}-{copy}", make_job(names, [rate]))
            expect_same_file(copy_file(self.train(alone, 4), 0),
                             copy_file(together, copy), f"{what}: copy {copy}")
        others = [f"own{index}" for index in range(len(names))]
        renamed = self.train(self.work.compile(f"{what}-renamed",
                                               make_job(others, rates)), 1)
        back = dict(zip(others, names))
        for copy in range(2):
            mine = read_safetensors(copy_file(together, copy))
            theirs = read_safetensors(copy_file(renamed, copy))
            for name, expected in theirs.items():
                kind, slash, rest = name.rpartition("/")
                known = kind + slash + back.get(rest, rest)
                expect_equal(mine.get(known), expected,
                             f"{what}: copy {copy}: '{known}'")
            expect_equal(len(mine), len(theirs), f"{what}: tensors")
        print(f"equal: {what}: under other names")

    def onnx(self, names, rates):
        path = self.work.folder / f"{names[0]}.onnx"
        write_model(path, names)
        return onnx_job(path, rates)


def main():
    check = Check()
    check.check("language", language_job, SCALARS)
    check.check("onnx", check.onnx, TENSORS)
    # An optimizer's state and a model's tensors have a common name space in checkpoints, so
    # a collision must be refused.
    path = check.work.folder / "state.onnx"
    write_model(path, ["w", "velocity/w"])
    job = check.work.write_job("state", onnx_job(path, [0.1]))
    message = run(check.work.hftac, job, code=3)
    expect_equal("'velocity/w' is also what checkpoints call the optimizer's "
                 "state of 'w': rename it" in message, True, message)


if __name__ == "__main__":
    main()
