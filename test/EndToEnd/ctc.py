#!/usr/bin/env python3
"""Tests the loss ctc. Weights, losses and evaluations are compared with sums over all
alignments: for several lengths, blanks and axes, labels that don't fit, micro-batches,
replicas, memory budgets and a GPU. Copies of a training must have the bytes that they have
alone, with any number of threads and any vectors. Needs only Python's standard library."""

import json
import math
import os
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, expect_same_file, fail, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from loss_formulas import ctc, find_mean  # noqa: E402
from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

SAMPLES, BATCH, UPDATES, STEPS, FEATURES, CLASSES, ELEMENTS = 12, 4, 3, 5, 3, 4, 3
RATES = [0.5, 0.125]
INPUTS = [[[2 * uniform(1, 60 * i + FEATURES * t + j) - 1 for j in range(FEATURES)]
           for t in range(STEPS)] for i in range(SAMPLES)]
# With repeated classes, without any class, and one that needs all five steps.
LABELS = [[1, 2, 2], [3], [], [1, 1, 1], [2, 3, 2], [3, 3], [1], [2, 1, 2], [], [3, 2, 1],
          [1, 1], [2]]
LENGTHS = [5, 1, 2, 5, 4, 3, 5, 3, 1, 3, 3, 2]
# Too few steps for the labels of samples 0, 3, 5 and 10.
SHORT = [3, 1, 2, 4, 4, 2, 5, 3, 1, 3, 2, 2]
WEIGHTS = {"w": [0.125 * ((7 * i) % 11 - 5) for i in range(FEATURES * CLASSES)],
           "b": [0.25, -0.5, 0.125, 0.375]}
GPU = ("--target=cuda", "--gpu-code=emulated", "--chip=sm_80")


def score(weights, rows):
    return [[sum(weights["w"][CLASSES * j + c] * x for j, x in enumerate(row)) + bias
             for c, bias in enumerate(weights["b"])] for row in rows]


def simulate(rule, rate):
    """Returns the weights after all steps of SGD, and the loss of each step. `rule` gets
    rows of scores and the sample's number."""
    weights, losses = {name: list(numbers) for name, numbers in WEIGHTS.items()}, []
    for first in range(0, SAMPLES, BATCH):
        own = range(first, first + BATCH)
        loss, slopes = find_mean([rule(score(weights, INPUTS[i]), i) for i in own])
        for i, of_sample in zip(own, slopes):
            for place, slope in enumerate(of_sample):
                row, c = INPUTS[i][place // CLASSES], place % CLASSES
                weights["b"][c] -= rate * slope
                for j, x in enumerate(row):
                    weights["w"][CLASSES * j + c] -= rate * slope * x
        losses.append(loss)
    return weights, losses


def expect_near(mine, theirs, what):
    expect_equal(len(mine), len(theirs), what)
    for own, other in zip(mine, theirs):
        if not (own == other or abs(own - other) <= 1e-10 * (1 + abs(other))
                or math.isnan(own) and math.isnan(other)):
            fail(f"{what}: got {own}, expected {other}")


def fill(labels, filler):
    return [own + [filler] * (ELEMENTS - len(own)) for own in labels]


class Check:
    def __init__(self):
        self.work = Work(__doc__, more=["--emulation"])
        folder = self.work.folder
        write_npy(folder / "x.npy", "<f4", sum(sum(INPUTS, []), []),
                  [SAMPLES, STEPS, FEATURES])
        # Classes of the last job are the same, but with the blank behind them.
        behind = [[one - 1 for one in own] for own in LABELS]
        for name, labels in (("label", fill(LABELS, -100)), ("zeros", fill(LABELS, 0)),
                             ("others", fill(LABELS, 3)), ("behind", fill(behind, -100)),
                             ("wrong", fill([*LABELS[:7], [2, CLASSES]] + LABELS[8:], 0)),
                             ("blanks", fill([*LABELS[:9], [2, 0, 1]] + LABELS[10:], 1))):
            write_npy(folder / f"{name}.npy", "<i8", sum(labels, []), [SAMPLES, ELEMENTS])
        for name, numbers in (("count", [*map(len, LABELS)]), ("steps", LENGTHS),
                              ("short", SHORT), ("long", [STEPS + 1] + LENGTHS[1:])):
            write_npy(folder / f"{name}.npy", "<i8", numbers, [SAMPLES])
        for name, last in (("net", []), ("turned", [
                node("Transpose", ["sum"], ["output"], perm=[0, 2, 1])])):
            nodes = [node("MatMul", ["x", "w"], ["product"]),
                     node("Add", ["product", "b"], ["sum" if last else "output"]), *last]
            (folder / f"{name}.onnx").write_bytes(model(graph(
                nodes, [value("x", ["batch", STEPS, FEATURES])], ["output"],
                [tensor("w", [FEATURES, CLASSES], WEIGHTS["w"]),
                 tensor("b", [CLASSES], WEIGHTS["b"])])))

    def compile(self, name, loss, fields, clauses="", flags=(), net="net"):
        fields = ", ".join(f'{field} = npy("{field}.npy")' for field in ["x", *fields])
        return self.work.compile(name, f"""
model net = onnx("{net}.onnx")
data made {{
  train {fields}
  test {fields}
}}
train sweep {{
  model     net(x)
  data      made, batch = {BATCH}, shuffle = false
  loss      {loss}
  optimizer sgd(lr = {RATES})
  epochs    1
  precision f64
  {clauses}
}}
""", *flags)

    def expect_formula(self, name, loss, fields, rule, clauses="", flags=(), net="net"):
        """Trains, and compares weights, losses and the evaluation with the rule."""
        binary = self.compile(name, loss, fields, clauses, flags, net)
        folder, log = binary.with_suffix(".run"), binary.with_suffix(".jsonl")
        run(binary, "train", "--data", self.work.folder, "--checkpoint", folder, "--log",
            log, "--log-every", 1, "--no-progress",
            env={**os.environ, "LD_LIBRARY_PATH": self.work.options.emulation})
        events = [json.loads(line) for line in log.read_text().splitlines()]
        steps = [event["loss"] for event in events if event["event"] == "step"]
        tested = [event for event in events if "eval_loss" in event][-1]["eval_loss"]
        for copy, rate in enumerate(RATES):
            weights, losses = simulate(rule, rate)
            trained = read_safetensors(copy_file(checkpoint(folder, UPDATES), copy))
            for tensor_name, expected in weights.items():
                expect_near(trained[tensor_name][2], expected,
                            f"{name}, {tensor_name} of copy {copy}")
            expect_near([float(step[copy]) for step in steps], losses,
                        f"{name}, losses of copy {copy}")
            loss, _ = find_mean([rule(score(weights, INPUTS[i]), i)
                                 for i in range(SAMPLES)])
            expect_near([float(tested[copy])], [loss], f"{name}, loss of the test")
        print(f"as the formula: {name}")

    def expect_refusal(self, name, loss, fields, *texts):
        binary = self.compile(name, loss, fields)
        said = run(binary, "train", "--data", self.work.folder, "--no-progress", code=1)
        for text in texts:
            if text not in said:
                fail(f"{name}: expected {text!r} in {said}")
        print(f"refused: {name}")


def check_formulas(check):
    def whole(rows, sample):
        return ctc(rows, LABELS[sample])

    def of_lengths(rows, sample):
        return ctc(rows, LABELS[sample], steps=LENGTHS[sample])

    for number, (clauses, *flags) in enumerate([
            ("",), ("micro_batches 4, groups = 2",), ("micro_batches 2", *GPU),
            ("micro_batches 4\n  pipeline replicas = [2]",),
            ("micro_batches 2\n  memory device = 1MiB",)]):
        check.expect_formula(f"whole{number}", "ctc(net, label)", ["label"], whole, clauses,
                             flags)
    check.expect_formula("zeros", "ctc(ignore_index = 0)", ["zeros"], whole)
    check.expect_formula("behind", f"ctc(net, behind, blank = {CLASSES - 1})", ["behind"],
                         lambda rows, sample: ctc(
                             rows, [one - 1 for one in LABELS[sample]], CLASSES - 1),
                         "micro_batches 2")
    check.expect_formula("turned", "ctc(net, label, axis = 1)", ["label"], whole,
                         net="turned")
    for number, flags in enumerate(((), GPU)):
        check.expect_formula(f"lengths{number}", "ctc(net, others, steps, count)",
                             ["others", "steps", "count"], of_lengths, "micro_batches 2",
                             flags)
    for number, flags in enumerate(((), GPU)):
        check.expect_formula(
            f"short{number}", "ctc(input_length = short, zero_infinity = true)",
            ["label", "short"], lambda rows, sample: ctc(
                rows, LABELS[sample], steps=SHORT[sample], zero_infinity=True), "", flags)

    def weighted(rows, sample):
        loss, slopes, _ = ctc(rows, LABELS[sample])
        weight = LENGTHS[sample]
        return weight * loss, [weight * slope for slope in slopes], weight

    check.expect_formula("weighted", "ctc(net, label, weights = steps)", ["label", "steps"],
                         weighted, "micro_batches 2")


def check_infinity(check):
    """A label that doesn't fit makes its copy's loss infinite."""
    binary = check.compile("infinite", "ctc(net, label, short)", ["label", "short"])
    log = binary.with_suffix(".jsonl")
    run(binary, "train", "--data", check.work.folder, "--log", log, "--log-every", 1,
        "--no-progress")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    losses = [float(event["loss"][0]) for event in events if event["event"] == "step"]
    expect_equal(losses[0], math.inf, "the loss of labels that don't fit")


def check_refusals(check):
    check.expect_refusal("wrong", "ctc(ignore_index = 0)", ["wrong"],
                         "sample 7 holds 4, expected 1 to 3 for 'wrong'")
    check.expect_refusal("blanks", "ctc(net, blanks, label_length = count)",
                         ["blanks", "count"],
                         "sample 9 holds 0, expected 1 to 3 for 'blanks'")
    check.expect_refusal("long", "ctc(net, label, long)", ["label", "long"],
                         "sample 0 holds 6, expected 1 to 5 for 'long'")
    check.expect_refusal("counts", "ctc(net, label, label_length = steps)",
                         ["label", "steps"],
                         "sample 0 holds 5, expected 0 to 3 for 'steps'")


def make_toy(rates, steps=60):
    return f"""
model net(x: f32[batch, 8, 6]) {{
  return linear(tanh(linear(x, 24)), 5)
}}
data toy {{
  train x = npy("toy-x.npy"), label = npy("toy-label.npy")
}}
train toy {{
  model     net(x)
  data      toy, batch = 16
  loss      ctc(net, label)
  optimizer adam(lr = {rates})
  steps     {steps}
  micro_batches 2
}}
"""


def check_toy(check):
    """Classes whose order is to be learned from noisy steps, each class in two of them."""
    work, samples = check.work, 64
    inputs, labels = [], []
    for i in range(samples):
        label = [1 + int(4 * uniform(5, 4 * i + j)) for j in range(3)]
        labels += [*label, -100]
        for t in range(8):
            seen = label[t // 2] if t < 6 else 0
            inputs += [(j == seen) + 0.5 * uniform(6, 48 * i + 6 * t + j) for j in range(6)]
    write_npy(work.folder / "toy-x.npy", "<f4", inputs, [samples, 8, 6])
    write_npy(work.folder / "toy-label.npy", "<i8", labels, [samples, 4])
    rates = [0.01, 0.03, 0.1]
    binary = work.compile("toy", make_toy(rates))
    log = work.folder / "toy.jsonl"
    folder = checkpoint(work.train(binary, "--log", log, "--log-every", 1), 60)
    losses = [event["loss"] for event in map(json.loads, log.read_text().splitlines())
              if event["event"] == "step"]
    for copy in range(3):
        first, last = float(losses[0][copy]), float(losses[-1][copy])
        if not last < 0.5 * first:
            fail(f"copy {copy} of the toy learns nothing: from {first} to {last}")
    for copy, rate in enumerate(rates):
        alone = work.compile(f"toy{copy}", make_toy(rate))
        expect_same_file(copy_file(folder, copy),
                         copy_file(checkpoint(work.train(alone), 60), 0),
                         f"copy {copy}, and a training of it alone")
    for name, flags, threads in (("toy-one", [], ["--threads", 1]),
                                 ("toy-narrow", ["--cpu=x86-64-v3"], [])):
        other = work.compile(name, make_toy(rates), *flags)
        expect_same_checkpoint(folder, checkpoint(work.train(other, *threads), 60), name)


def main():
    check = Check()
    check_formulas(check)
    check_infinity(check)
    check_refusals(check)
    check_toy(check)


if __name__ == "__main__":
    main()
