#!/usr/bin/env python3
"""Tests losses with class weights or with weights of positive labels, with probabilities as
labels, and of differences, and metrics. Trained weights, losses, and results of an
evaluation are compared with formulas in Python, for any number of micro-batches, on several
workers, within a memory budget, and on a GPU. Steps in which no label counts must change
nothing. Needs only Python's standard library."""

import json
import math
import os
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail,
                     read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from loss_formulas import (binary_cross_entropy, cross_entropy, find_mean,  # noqa: E402
                           huber, l1)
from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

SAMPLES, BATCH, STEPS, FEATURES, CLASSES = 24, 8, 3, 4, 3
RATE, SMOOTHING = 0.5, [0, 0.25]
INPUTS = [[2 * uniform(1, 4 * i + j) - 1 for j in range(FEATURES)] for i in range(SAMPLES)]
# In the second step, no label counts: each is ignored or of the class whose weight is 0.
LABELS = [-100 if i % 5 == 0 else 2 if 8 <= i < 16 else i % 3 for i in range(SAMPLES)]
WEIGHTS = [0.625, 2.5, 0]
# Multiples of 1/32, which are exact in f32.
PROBABILITIES = [[a / 32, b / 32, (32 - a - b) / 32]
                 for a, b in ((3 * i % 17, 5 * i % 13) for i in range(SAMPLES))]
ONES = [[[0, 0.25, 1][(i + 2 * j) % 3] for j in range(CLASSES)] for i in range(SAMPLES)]
POSITIVE = [3, 0.25, 1]
DELTAS = [0.25, 1.5]
FIELDS = {"label": LABELS, "probabilities": PROBABILITIES, "ones": ONES}
TENSORS = {"w": [0.125 * ((7 * i) % 11 - 5) for i in range(CLASSES * FEATURES)],
           "b": [0.25, -0.5, 0.125]}


def score(weights, row):
    return [sum(weights["w"][FEATURES * c + j] * x for j, x in enumerate(row))
            + weights["b"][c] for c in range(CLASSES)]


def simulate(find_element, labels):
    """Returns the weights after all steps of SGD, and the loss of each step."""
    weights, losses = {name: list(numbers) for name, numbers in TENSORS.items()}, []
    for first in range(0, SAMPLES, BATCH):
        rows = range(first, first + BATCH)
        loss, slopes = find_mean([find_element(score(weights, INPUTS[i]), labels[i])
                                  for i in rows])
        for i, own in zip(rows, slopes):
            for c, slope in enumerate(own):
                slope *= RATE
                weights["b"][c] -= slope
                for j, x in enumerate(INPUTS[i]):
                    weights["w"][FEATURES * c + j] -= slope * x
        losses.append(loss)
    return weights, losses


def expect_near(mine, theirs, what):
    expect_equal(len(mine), len(theirs), what)
    for own, other in zip(mine, theirs):
        if not (own == other or abs(own - other) <= 1e-9
                or math.isnan(own) and math.isnan(other)):
            fail(f"{what}: got {own}, expected {other}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, more=["--emulation"])
        folder = self.work.folder
        write_npy(folder / "x.npy", "<f4", sum(INPUTS, []), [SAMPLES, FEATURES])
        write_npy(folder / "label.npy", "<i8", LABELS, [SAMPLES])
        for name in ("probabilities", "ones"):
            write_npy(folder / f"{name}.npy", "<f4", sum(FIELDS[name], []),
                      [SAMPLES, CLASSES])
        (folder / "net.onnx").write_bytes(model(graph(
            [node("Gemm", ["x", "w", "b"], ["output"], transB=1)],
            [value("x", ["batch", FEATURES])], ["output"],
            [tensor("w", [CLASSES, FEATURES], TENSORS["w"]),
             tensor("b", [CLASSES], TENSORS["b"])])))

    def train(self, name, loss, field, clauses, flags):
        """Returns the folder of the last checkpoint, and the log's events."""
        fields = f'x = npy("x.npy"), {field} = npy("{field}.npy")'
        binary = self.work.compile(name, f"""
model net = onnx("net.onnx")
data made {{
  train {fields}
  test {fields}
}}
train sweep {{
  model     net(x)
  data      made, batch = {BATCH}, shuffle = false
  loss      {loss}
  optimizer sgd(lr = {RATE})
  epochs    1
  precision f64
  {clauses}
}}
""", *flags)
        folder, log = binary.with_suffix(".run"), binary.with_suffix(".jsonl")
        run(binary, "train", "--data", self.work.folder, "--checkpoint", folder, "--log",
            log, "--log-every", 1, "--no-progress",
            env={**os.environ, "LD_LIBRARY_PATH": self.work.options.emulation})
        return (checkpoint(folder, STEPS),
                [json.loads(line) for line in log.read_text().splitlines()])

    def expect_formula(self, name, loss, field, elements, clauses="", flags=()):
        """Trains, and compares weights, losses and the evaluation with the formulas.
        `elements` has a function for each copy, which returns an element's loss, its
        gradient, and its part of the mean's divisor. Returns each copy's tensors."""
        folder, events = self.train(name, loss, field, clauses, flags)
        steps = [event["loss"] for event in events if event["event"] == "step"]
        for copy, find_element in enumerate(elements):
            weights, losses = simulate(find_element, FIELDS[field])
            trained = read_safetensors(copy_file(folder, copy))
            for tensor_name, expected in weights.items():
                expect_near(trained[tensor_name][2], expected,
                            f"{name}, {tensor_name} of copy {copy}")
            expect_near([float(step[copy]) for step in steps], losses,
                        f"{name}, losses of copy {copy}")
            self.expect_evaluation(name, events, copy, find_element, field, weights)
        print(f"as the formula: {name}")
        return {copy: read_safetensors(copy_file(folder, copy))
                for copy in range(len(elements))}

    def expect_evaluation(self, name, events, copy, find_element, field, weights):
        scores = [score(weights, row) for row in INPUTS]
        event = [event for event in events if "eval_loss" in event][-1]
        loss, _ = find_mean(list(map(find_element, scores, FIELDS[field])))
        expect_near([float(event["eval_loss"][copy])], [loss], f"{name}, loss of the test")
        for metric, most in (("accuracy", 1), ("top_2", 2)):
            if f"eval_{metric}" not in event:
                continue
            right = counts = 0
            for row, label in zip(scores, FIELDS[field]):
                weight = find_element(row, label)[2]
                label = label if field == "label" else label.index(max(label))
                best = sorted(range(CLASSES), key=lambda c: (-row[c], c))[:most]
                counts += weight
                right += weight * (label in best)
            expect_near([float(event[f"eval_{metric}"][copy])], [right / counts],
                        f"{name}, {metric} of the test")


def main():
    check = Check()

    def of_classes(smoothing):
        return lambda scores, label: cross_entropy(scores, label, WEIGHTS,
                                                   smoothing=smoothing)

    def of_probabilities(smoothing, weights=None):
        return lambda scores, label: cross_entropy(scores, label, weights,
                                                   smoothing=smoothing)

    def write_loss(smoothing):
        return (f"cross_entropy(net, label, class_weights = {WEIGHTS}, "
                f"label_smoothing = {smoothing})")

    classes, elements = write_loss(SMOOTHING), [*map(of_classes, SMOOTHING)]
    metric = "metric accuracy"
    both = check.expect_formula("classes", classes, "label", elements, metric)
    for copy, smoothing in enumerate(SMOOTHING):
        alone = check.expect_formula(f"alone{copy}", write_loss(smoothing), "label",
                                     elements[copy:copy + 1])[0]
        for name in TENSORS:
            expect_equal(alone[name][2].tobytes(), both[copy][name][2].tobytes(),
                         f"{name} of copy {copy}, and of a training of it alone")
    for number, (clauses, *flags) in enumerate([
            ("micro_batches 2",), ("micro_batches 4, groups = 2",),
            ("micro_batches 8, all_forwards_first = true",),
            (f"micro_batches 4\n  pipeline replicas = [2]\n  {metric}",),
            ("micro_batches 4\n  memory device = 1MiB",),
            (f"micro_batches 4\n  {metric}", "--target=cuda", "--gpu-code=emulated",
             "--chip=sm_80")]):
        check.expect_formula(f"classes{number}", classes, "label", elements, clauses, flags)
    check.expect_formula(
        "probabilities", f"cross_entropy(net, probabilities, label_smoothing = {SMOOTHING})",
        "probabilities", [*map(of_probabilities, SMOOTHING)],
        f"micro_batches 2\n  {metric}")
    check.expect_formula(
        "weighted-probabilities",
        f"cross_entropy(net, probabilities, class_weights = {WEIGHTS})", "probabilities",
        [of_probabilities(0, WEIGHTS)])
    check.expect_formula(
        "ones", f"binary_cross_entropy(net, ones, pos_weight = {POSITIVE})", "ones",
        [lambda scores, labels: binary_cross_entropy(scores, labels, POSITIVE)],
        "micro_batches 2")
    check.expect_formula("l1", "l1(net, ones)", "ones", [l1], "micro_batches 2")
    for number, (clauses, *flags) in enumerate([
            ("",), ("micro_batches 4\n  memory device = 1MiB",),
            ("micro_batches 4", "--target=cuda", "--gpu-code=emulated", "--chip=sm_80")]):
        check.expect_formula(
            f"huber{number}", f"huber(net, ones, delta = {DELTAS})", "ones",
            [lambda scores, labels, delta=delta: huber(scores, labels, delta)
             for delta in DELTAS], clauses, flags)
    check.expect_formula("default", "huber(net, ones)", "ones",
                         [lambda scores, labels: huber(scores, labels, 1)])
    for number, flags in enumerate(([], ["--target=cuda", "--gpu-code=emulated",
                                         "--chip=sm_80"])):
        check.expect_formula(
            f"best{number}", f"cross_entropy(net, label, class_weights = {WEIGHTS})",
            "label", [of_classes(0)], "metric top_k(net, label, k = 2)", flags)
    check.expect_formula("best", "cross_entropy(net, probabilities)", "probabilities",
                         [of_probabilities(0)], "metric top_k(k = 2)")


if __name__ == "__main__":
    main()
