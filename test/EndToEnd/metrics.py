#!/usr/bin/env python3
"""Tests metrics: their values beside formulas in Python, with labels and elements that don't
count, classes that no label or no guess has, and equal scores; and that the values have the
same bits in batches, micro-batches, replicas, stages and ranks of any size and number, for
any number of threads and copies, without fusion, and on a GPU. With --ranks, only compares
ranks. Needs only Python's standard library."""

import json
import math
import os
import sys

from harness import REFERENCE, Work, expect_equal, fail, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from metric_formulas import (auroc, average_precision, find_confusion,  # noqa: E402
                             find_ranked, find_rate, find_top, perplexity, r2)
from mpirun import run_ranks  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

SAMPLES, FEATURES, HIDDEN, CLASSES, COPIES = 22, 4, 6, 5, 2


def draw(key, count, least, most, unit=1):
    return [unit * (least + int(uniform(key, i) * (most - least + 1))) for i in range(count)]


def rows(numbers, width):
    return [numbers[i:i + width] for i in range(0, len(numbers), width)]


# All numbers are multiples of 1/4 and so small that f32 holds all scores exactly. Inputs
# occur twice, so that there are equal scores.
INPUTS = rows(draw(1, SAMPLES // 2 * FEATURES, -4, 4, 0.5), FEATURES) * 2
# No label has the class 3.
LABELS = [-100 if i % 7 == 3 else [0, 1, 2, 4][(i * i + i // 3) % 4] for i in range(SAMPLES)]
# The first column has no ones.
ONES = [[0] + row[1:] for row in rows(draw(2, SAMPLES * CLASSES, 0, 1), CLASSES)]
# All labels of the last column are equal.
VALUES = [row[:-1] + [0.5] for row in rows(draw(3, SAMPLES * CLASSES, -6, 6, 0.5), CLASSES)]
MASK = rows([int(x > 0) for x in draw(4, SAMPLES * CLASSES, 0, 3)], CLASSES)
WEIGHTS = [{"w": draw(5 + copy, HIDDEN * FEATURES, -2, 2, 0.5), "b": draw(7, HIDDEN, -2, 2),
            "v": draw(9 + copy, CLASSES * HIDDEN, -2, 2, 0.5),
            "c": draw(11 + copy, CLASSES, -2, 2, 0.5)[:-1] + [-30]} for copy in range(COPIES)]


def multiply(matrix, bias, row):
    return [sum(x * y for x, y in zip(row, own)) + b
            for own, b in zip(rows(matrix, len(row)), bias)]


def score(weights, row):
    hidden = [max(x, 0) for x in multiply(weights["w"], weights["b"], row)]
    return multiply(weights["v"], weights["c"], hidden)


COUNTED = [int(label >= 0) for label in LABELS]
RATES = [(f"{kind}({'' if average == 'macro' else f'average = {average}'})",
          kind + ("" if average == "macro" else f"_{average}"), kind, average)
         for kind in ("precision", "recall", "f1")
         for average in ("macro", "micro", "weighted")]
RANKED = [(f"{name}(average = {average})", name + ("" if average == "macro" else f"_{average}"),
           find, average)
          for name, find in (("auroc", auroc), ("average_precision", average_precision))
          for average in ("macro", "micro", "weighted")]
# For each loss: its label, the weights of elements, and for each metric what a job says, its
# name in logs, and the formula's function of labels, scores and weights.
CASES = {
    "cross_entropy(net, label)": ("label", LABELS, COUNTED, [
        ("accuracy(net, label)", "accuracy", lambda *of: find_rate("recall", "micro", *of)),
        ("accuracy(average = macro)", "accuracy_macro",
         lambda *of: find_rate("recall", "macro", *of)),
        ("top_k(k = 2)", "top_2", lambda *of: find_top(2, *of)),
        ("confusion", "confusion", find_confusion),
        ("perplexity", "perplexity", perplexity),
        *((text, name, lambda *of, rule=(kind, average): find_rate(*rule, *of))
          for text, name, kind, average in RATES),
        *((text, name, lambda *of, rule=(find, average): find_ranked(*rule, *of))
          for text, name, find, average in RANKED)]),
    "binary_cross_entropy(net, ones, weights = mask)": ("ones", ONES, MASK, [
        ("confusion(net, ones)", "confusion", lambda labels, scores, weights: find_confusion(
            sum(labels, []), [[0, x] for x in sum(scores, [])], sum(weights, []))[:2]),
        *((text, name, lambda *of, rule=(kind, average): find_rate(*rule, *of))
          for text, name, kind, average in RATES),
        *((text, name, lambda *of, rule=(find, average): find_ranked(*rule, *of))
          for text, name, find, average in RANKED)]),
    "mse(net, values, weights = mask)": ("values", VALUES, MASK, [
        ("r2", "r2", lambda *of: r2("macro", *of)),
        ("r2(average = weighted)", "r2_weighted", lambda *of: r2("weighted", *of)),
        ("mse", "mse", lambda *of: find_mean(2, *of)),
        ("mae", "mae", lambda *of: find_mean(1, *of)),
        ("mae", "mae_2", lambda *of: find_mean(1, *of))])}


def find_mean(power, labels, scores, weights):
    each = [(w * abs(t - x) ** power, w) for of in zip(labels, scores, weights)
            for t, x, w in zip(*of)]
    return sum(value for value, _ in each) / sum(weight for _, weight in each)


def is_near(mine, theirs):
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(is_near, mine, theirs))
    mine = float(mine)
    # Logarithms of probabilities are computed in f32.
    return abs(mine - theirs) <= 1e-6 * abs(theirs) or math.isnan(mine) and math.isnan(theirs)


class Check:
    def __init__(self):
        self.work = Work(__doc__, more=["--emulation", "--ranks"])
        self.folder = folder = self.work.folder
        write_npy(folder / "x.npy", "<f4", sum(INPUTS, []), [SAMPLES, FEATURES])
        write_npy(folder / "label.npy", "<i8", LABELS, [SAMPLES])
        for name, numbers in (("ones", ONES), ("values", VALUES), ("mask", MASK)):
            write_npy(folder / f"{name}.npy", "<f4", sum(numbers, []), [SAMPLES, CLASSES])
        for copy, weights in enumerate(WEIGHTS):
            shapes = {"w": [HIDDEN, FEATURES], "b": [HIDDEN], "v": [CLASSES, HIDDEN],
                      "c": [CLASSES]}
            (folder / f"net{copy}.onnx").write_bytes(model(graph(
                [node("Gemm", ["x", "w", "b"], ["before"], transB=1),
                 node("Relu", ["before"], ["hidden"]),
                 node("Gemm", ["hidden", "v", "c"], ["output"], transB=1)],
                [value("x", ["batch", FEATURES])], ["output"],
                [tensor(name, shape, weights[name]) for name, shape in shapes.items()])))

    def compile(self, name, loss, batch=8, clauses="", flags=(), copies=range(COPIES)):
        label, _, weights, metrics = CASES[loss]
        fields = ["x", label] + (["mask"] if weights is MASK else [])
        fields = ", ".join(f'{field} = npy("{field}.npy")' for field in fields)
        files = ", ".join(f'"net{copy}.onnx"' for copy in copies)
        return self.work.compile(name, f"""
model net = onnx({files})
data made {{
  train {fields}
  test {fields}
}}
train sweep {{
  model     net(x)
  data      made, batch = {batch}, shuffle = false
  loss      {loss}
  metric    {", ".join(text for text, *_ in metrics)}
  optimizer sgd(lr = 0)
  steps     1
  {clauses}
}}
""", *flags)

    def evaluate(self, binary, *flags, ranks=0):
        """Returns the metrics of a log."""
        log = binary.with_suffix(".jsonl")
        command = [binary, "train", "--data", self.folder, "--log", log, "--no-progress",
                   *flags]
        if ranks:
            run_ranks(ranks, *command)
        else:
            run(*command,
                env={**os.environ, "LD_LIBRARY_PATH": self.work.options.emulation or ""})
        event = [json.loads(line) for line in log.read_text().splitlines()][-1]
        return {key[5:]: numbers for key, numbers in event.items()
                if key.startswith("eval_") and key != "eval_loss"}

    def check_values(self):
        for number, (loss, (_, labels, weights, metrics)) in enumerate(CASES.items()):
            binary = self.compile(f"values{number}", loss)
            found = self.evaluate(binary, "--checkpoint", self.folder / f"values{number}.run")
            expect_equal(sorted(found), sorted(name for _, name, _ in metrics),
                         f"metrics with {loss}")
            for _, name, find in metrics:
                for copy in range(COPIES):
                    expected = find(labels, [score(WEIGHTS[copy], row) for row in INPUTS],
                                    weights)
                    if not is_near(found[name][copy], expected):
                        fail(f"{name} of copy {copy} with {loss}: got {found[name][copy]}, "
                             f"expected {expected}")
            print(f"as the formulas: metrics with {loss}")
            self.check_eval(binary, number, found)

    def check_eval(self, binary, number, found):
        """The command eval computes the same values as a training."""
        flags = ["eval", "--data", self.folder, "--checkpoint",
                 self.folder / f"values{number}.run"]
        printed = json.loads(run(binary, *flags, "--json"))
        expect_equal(printed.pop("name"), "sweep", "name of the job")
        printed.pop("eval_loss")
        expect_equal({key[5:]: numbers for key, numbers in printed.items()}, found,
                     "metrics of eval --json")
        text = run(binary, *flags)
        if "confusion" not in found:
            return
        heading = "\ntest confusion of copy 1: rows are labels, columns guesses\n"
        if heading not in text:
            fail(f"no matrix of copy 1 in\n{text}")
        matrix = [[int(number) for number in line.split()]
                  for line in text.split(heading)[1].splitlines()]
        expect_equal(matrix, found["confusion"][1], "matrix of eval")

    def check_splits(self):
        cuda = ("--target=cuda", "--gpu-code=emulated", "--chip=sm_80")
        for number, loss in enumerate(CASES):
            expected = self.evaluate(self.compile(f"one{number}", loss, SAMPLES))
            splits = [("batches of 5", 5, "", ()), ("micro-batches", 8, "micro_batches 4", ()),
                      ("a GPU", 8, "micro_batches 2", cuda)]
            if number == 0:
                splits += [("groups", 16, "micro_batches 8, groups = 4", ()),
                           ("replicas", 8, "micro_batches 4\n  pipeline replicas = [2]", ()),
                           ("stages", 8, 'micro_batches 4\n  pipeline cuts = ["relu"]', ()),
                           ("no fusion", 6, "micro_batches 3", ("--no-fuse",)),
                           ("a budget", 8, "micro_batches 2", ("--memory=256KiB",))]
            for place, (what, batch, clauses, flags) in enumerate(splits):
                binary = self.compile(f"split{number}-{place}", loss, batch, clauses, flags)
                expect_equal(self.evaluate(binary, "--threads", 1 + place), expected,
                             f"metrics with {what}, {loss}")
            binary = self.compile(f"alone{number}", loss, 8, "micro_batches 2", copies=[1])
            expect_equal(self.evaluate(binary),
                         {name: numbers[1:] for name, numbers in expected.items()},
                         f"metrics of copy 1 alone, {loss}")
            print(f"equal in all splits: metrics with {loss}")

    def check_ranks(self):
        for number, loss in enumerate(CASES):
            for place, clauses in enumerate(("pipeline replicas = [2]",
                                             'pipeline cuts = ["relu"]')):
                binary = self.compile(f"ranks{number}-{place}", loss, 8,
                                      f"micro_batches 4\n  {clauses}")
                expect_equal(self.evaluate(binary, ranks=2), self.evaluate(binary),
                             f"metrics of 2 ranks, {clauses}, {loss}")
        print("equal on 1 and 2 ranks")


def main():
    check = Check()
    if check.work.options.ranks:
        check.check_ranks()
        return
    check.check_values()
    check.check_splits()


main()
