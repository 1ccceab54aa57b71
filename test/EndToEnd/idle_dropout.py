#!/usr/bin/env python3
"""Tests that a dropout of rate 0 in all copies draws no random numbers and changes no byte.
Needs only Python's standard library."""

import sys

from harness import (DATA, REFERENCE, Work, checkpoint, copy_file,
                     expect_equal, expect_same_file, make_blocks,
                     read_safetensors, run)

sys.path.insert(0, str(REFERENCE.parent / "Hostile"))

from onnx_writer import graph, integers, model, node, tensor, value  # noqa: E402

STEPS = 5

MODEL = """
model net(image: f32[batch, 1, 8, 8]{inputs}) {{
  hidden = {first}
  again = {second}
  return linear(again, 10)
}}
"""
FIRST = "relu(linear(flatten(image), 37))"
SECOND = "linear(hidden, 21)"


def make_training(lr, clauses=""):
    return make_blocks(DATA["mlp"], "cross_entropy(net, label)",
                       f"adam(lr = [{lr}])", STEPS,
                       clauses=f"  seed 3\n{clauses}")


def make_job(rates, lr="1e-3, 1e-2", clauses=""):
    """Returns a job with two dropouts of the given rates, or without dropout if `rates` is
    None."""
    job = make_training(lr, clauses)
    if rates is None:
        return MODEL.format(inputs="", first=FIRST, second=SECOND) + job
    return MODEL.format(inputs=f", rate = {rates}",
                        first=f"dropout({FIRST}, rate)",
                        second=f"dropout({SECOND}, rate)") + job


def write_model(path, ratio):
    nodes = [node("Reshape", ["image", "flat"], ["h"]),
             node("MatMul", ["h", "weight"], ["v"]),
             node("Dropout", ["v", "ratio"], ["kept"], name="kept"),
             node("Relu", ["kept"], ["r"]),
             node("MatMul", ["r", "last"], ["y"])]
    weights = [((7 * i) % 23 - 11) / 50 for i in range(640)]
    path.write_bytes(model(graph(
        nodes, [value("image", ["batch", 1, 8, 8])],
        [value("y", ["batch", 10])],
        [integers("flat", [-1, 64]), tensor("ratio", [], [ratio]),
         tensor("weight", [64, 10], weights),
         tensor("last", [10, 10], weights[:100])])))


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")

    def draws(self, name, text):
        job = self.work.write_job(name, text)
        module = run(self.work.hftac, job, "--emit=train", "-o", "-")
        training = module[module.index('"task/forward.0"'):]
        return "random_uniform" in training[:training.index('"task/update.0"')]

    def train(self, name, text, *flags):
        binary = self.work.compile(name, text, *flags)
        return checkpoint(self.work.train(binary), STEPS)

    def language(self):
        zero = make_job("[0, 0]", clauses="  zip(lr, rate)")
        some = make_job("[0, 0.25]", clauses="  zip(lr, rate)")
        expect_equal(self.draws("draws-zero", zero), False, "rates of zero")
        expect_equal(self.draws("draws-some", some), True, "one rate")
        without = self.train("without", make_job(None))
        idle = self.train("idle", zero)
        mixed = self.train("mixed", some)
        for copy in range(2):
            expect_equal(read_safetensors(copy_file(idle, copy)),
                         read_safetensors(copy_file(without, copy)),
                         f"copy {copy} without dropout")
        expect_same_file(copy_file(mixed, 0), copy_file(idle, 0),
                         "rate 0 beside another rate")
        alone = self.train("alone", make_job("0", lr="1e-3"))
        expect_same_file(copy_file(alone, 0), copy_file(mixed, 0),
                         "rate 0 alone")
        # A training may be resumed with other rates of dropout.
        folder = self.work.folder / "changed"
        for name, steps in (("idle", 2), ("mixed", 4), ("idle", 5)):
            run(self.work.folder / name, "train", "--data", self.work.folder,
                "--checkpoint", folder, "--no-progress", "--steps", steps,
                *(["--resume"] if steps > 2 else []))

    def onnx(self):
        trained = {}
        for ratio in (0.0, 0.5):
            path = self.work.folder / f"drop-{ratio}.onnx"
            write_model(path, ratio)
            text = (f'model net = onnx("{path.name}")\n' +
                    make_training("1e-3"))
            expect_equal(self.draws(path.stem, text), ratio != 0,
                         f"random numbers for a ratio of {ratio}")
            trained[ratio] = [self.train(f"{path.stem}-{index}", text, *flags)
                              for index, flags in enumerate(
                                  ([], ["--cuts=kept"]))]
            expect_same_file(*[copy_file(folder, 0)
                               for folder in trained[ratio]],
                             f"cut after a dropout of ratio {ratio}")


def main():
    check = Check()
    check.language()
    check.onnx()


if __name__ == "__main__":
    main()
