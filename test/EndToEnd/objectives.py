#!/usr/bin/env python3
"""Tests all losses, with class weights, with weights of positive labels or of elements, and
with probabilities as labels, and metrics. Trained weights, losses, and results of an
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

from loss_formulas import (binary_cross_entropy, contrastive, cross_entropy,  # noqa: E402
                           find_log_softmax,
                           find_mean, focal, gaussian, hinge, hinge_embedding, huber,
                           info_nce, kl, l1, multi_margin, poisson, smooth_l1, triplet,
                           weigh)
from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import graph, integers, model, node, tensor, value  # noqa: E402

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
SIGNS = [[1 if x > 0.5 else -1 for x in row] for row in ONES]
ALIKE = [i % 3 // 2 for i in range(SAMPLES)]
# In the second step, no element counts.
MASK = [[0 if 8 <= i < 16 else [1, 0, 0.5][(2 * i + j) % 3] for j in range(CLASSES)]
        for i in range(SAMPLES)]
SHARES = [0 if i % 4 == 1 else 0.25 * (i % 3 + 1) for i in range(SAMPLES)]
FIELDS = {"label": LABELS, "probabilities": PROBABILITIES, "ones": ONES, "signs": SIGNS,
          "mask": MASK, "alike": ALIKE, "shares": SHARES}
# A model of one vector of scores, and one of three.
TENSORS = {"net": {"w": [0.125 * ((7 * i) % 11 - 5) for i in range(CLASSES * FEATURES)],
                   "b": [0.25, -0.5, 0.125]},
           "wide": {"w": [0.125 * ((5 * i) % 13 - 6) for i in range(36)],
                    "b": [0.125 * ((3 * i) % 7 - 2) for i in range(9)]}}


def score(weights, row):
    return [sum(weights["w"][FEATURES * c + j] * x for j, x in enumerate(row)) + bias
            for c, bias in enumerate(weights["b"])]


def find_batch(find_element, rows, labels):
    """Returns the mean loss of rows of scores, and its gradient."""
    return find_mean([find_element(*each) for each in zip(rows, labels)])


def simulate(find_element, labels, tensors):
    """Returns the weights after all steps of SGD, and the loss of each step."""
    weights, losses = {name: list(numbers) for name, numbers in tensors.items()}, []
    for first in range(0, SAMPLES, BATCH):
        rows = range(first, first + BATCH)
        loss, slopes = getattr(find_element, "find_batch", find_batch)(
            find_element, [score(weights, INPUTS[i]) for i in rows],
            labels[first:first + BATCH])
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
        for name in ("probabilities", "ones", "signs", "mask"):
            write_npy(folder / f"{name}.npy", "<f4", sum(FIELDS[name], []),
                      [SAMPLES, CLASSES])
        write_npy(folder / "alike.npy", "<i8", ALIKE, [SAMPLES])
        write_npy(folder / "shares.npy", "<f4", SHARES, [SAMPLES])
        self.write_model("net", [node("Gemm", ["x", "w", "b"], ["output"], transB=1)],
                         ["output"])
        outputs = ["output", "second", "third"]
        self.write_model("wide", [node("Gemm", ["x", "w", "b"], ["all"], transB=1),
                                  node("Split", ["all"], outputs, axis=1),
                                  node("Reshape", ["all", "shape"], ["matrix"])],
                         [*outputs, "matrix"], [integers("shape", [-1, 3, 3])])

    def write_model(self, name, nodes, outputs, constants=()):
        w, b = TENSORS[name]["w"], TENSORS[name]["b"]
        (self.work.folder / f"{name}.onnx").write_bytes(model(graph(
            nodes, [value("x", ["batch", FEATURES])], outputs,
            [tensor("w", [len(b), FEATURES], w), tensor("b", [len(b)], b), *constants])))

    def train(self, name, loss, fields, clauses, flags, net="net"):
        """Returns the folder of the last checkpoint, and the log's events."""
        fields = ", ".join(f'{field} = npy("{field}.npy")' for field in ["x", *fields])
        binary = self.work.compile(name, f"""
model net = onnx("{net}.onnx")
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

    def expect_formula(self, name, loss, field, elements, clauses="", flags=(),
                       net="net"):
        """Trains, and compares weights, losses and the evaluation with the formulas.
        `elements` has a function for each copy, which returns an element's loss, its
        gradient, and its part of the mean's divisor. `field` is the label's, several
        fields make a list of labels for each sample. Returns each copy's tensors."""
        fields = [field] if isinstance(field, str) else field
        labels = FIELDS[field] if isinstance(field, str) else list(
            zip(*(FIELDS[one] for one in fields)))
        folder, events = self.train(name, loss, fields, clauses, flags, net)
        steps = [event["loss"] for event in events if event["event"] == "step"]
        for copy, find_element in enumerate(elements):
            weights, losses = simulate(find_element, labels, TENSORS[net])
            trained = read_safetensors(copy_file(folder, copy))
            for tensor_name, expected in weights.items():
                expect_near(trained[tensor_name][2], expected,
                            f"{name}, {tensor_name} of copy {copy}")
            expect_near([float(step[copy]) for step in steps], losses,
                        f"{name}, losses of copy {copy}")
            if not hasattr(find_element, "find_batch"):
                self.expect_evaluation(name, events, copy, find_element, labels, weights)
        print(f"as the formula: {name}")
        return {copy: read_safetensors(copy_file(folder, copy))
                for copy in range(len(elements))}

    def expect_evaluation(self, name, events, copy, find_element, labels, weights):
        scores = [score(weights, row) for row in INPUTS]
        event = [event for event in events if "eval_loss" in event][-1]
        loss, _ = find_mean(list(map(find_element, scores, labels)))
        expect_near([float(event["eval_loss"][copy])], [loss], f"{name}, loss of the test")
        for metric, power in (("mae", 1), ("mse", 2)):
            if f"eval_{metric}" in event:
                powers = [abs(x - t) ** power for row, label in zip(scores, labels)
                          for x, t in zip(row, label)]
                expect_near([float(event[f"eval_{metric}"][copy])],
                            [sum(powers) / len(powers)], f"{name}, {metric} of the test")
        for metric, most in (("accuracy", 1), ("top_2", 2)):
            if f"eval_{metric}" not in event:
                continue
            right = counts = 0
            for row, label in zip(scores, labels):
                weight = find_element(row, label)[2]
                label = label.index(max(label)) if isinstance(label, list) else label
                best = sorted(range(CLASSES), key=lambda c: (-row[c], c))[:most]
                counts += weight
                right += weight * (label in best)
            expect_near([float(event[f"eval_{metric}"][copy])], [right / counts],
                        f"{name}, {metric} of the test")


def check_elementwise(check):
    """Losses of single scores, alone and with weights of elements."""
    def of(rule, **options):
        return lambda scores, labels: rule(scores, labels, **options)

    check.expect_formula("smooth", "smooth_l1(net, ones, beta = [0.25, 2])", "ones",
                         [of(smooth_l1, beta=0.25), of(smooth_l1, beta=2)],
                         "micro_batches 2")
    check.expect_formula("smooth0", "smooth_l1(net, ones, beta = 0)", "ones", [l1],
                         "metric mse")
    check.expect_formula("poisson", "poisson(net, ones)", "ones", [poisson],
                         "micro_batches 4")
    check.expect_formula("focal", "focal(net, ones, gamma = [0, 1.5])", "ones",
                         [of(focal, gamma=0), of(focal, gamma=1.5)], "micro_batches 2")
    check.expect_formula("hinge", "hinge(net, signs)", "signs", [hinge])
    check.expect_formula("embedded", "hinge_embedding(net, signs, margin = 0.5)", "signs",
                         [of(hinge_embedding, margin=0.5)])
    check.expect_formula("number", "mse(net, 0.25)", "ones", [
        lambda scores, _: (sum((x - 0.25) ** 2 for x in scores),
                           [2 * (x - 0.25) for x in scores], 3)], "micro_batches 2")
    check.expect_formula("kl", "kl(net, probabilities)", "probabilities", [kl],
                         "micro_batches 2")
    check.expect_formula("logs", "kl(net, ones, log_target = true)", "ones",
                         [of(kl, of_logs=True)])

    def masked(scores, labels):
        loss, slopes, divisor = 0.0, [], 0.0
        for x, t, weight in zip(scores, *labels):
            loss += weight * (x - t) ** 2
            slopes.append(2 * weight * (x - t))
            divisor += weight
        return loss, slopes, divisor

    for number, (clauses, *flags) in enumerate([
            ("",), ("micro_batches 4, groups = 2",),
            ("micro_batches 4", "--target=cuda", "--gpu-code=emulated", "--chip=sm_80")]):
        check.expect_formula(f"mask{number}", "mse(net, ones, weights = mask)",
                             ["ones", "mask"], [masked], clauses, flags)
    check.expect_formula(
        "shares", f"cross_entropy(net, label, class_weights = {WEIGHTS}, weights = shares)",
        ["label", "shares"],
        [lambda scores, labels: weigh(cross_entropy(scores, labels[0], WEIGHTS),
                                      labels[1])], "micro_batches 2")
    check.expect_formula("rows", "l1(weights = shares)", ["ones", "shares"],
                         [lambda scores, labels: weigh(l1(scores, labels[0]), labels[1])])


def check_rowwise(check):
    """Losses of classes and of vectors."""
    check.expect_formula(
        "margin", f"multi_margin(net, label, class_weights = {WEIGHTS}, p = 2, "
        "margin = [0.5, 1])", "label",
        [lambda scores, label, margin=margin: multi_margin(scores, label, 2, margin, WEIGHTS)
         for margin in (0.5, 1)], "micro_batches 4")
    check.expect_formula("margin1", "multi_margin(net, label)", "label", [multi_margin])

    def of_two(rule):
        """Leaves out the third vector."""
        def find(scores, label):
            loss, slopes, divisor = rule(scores[:6], label)
            return loss, slopes + [0.0] * 3, divisor
        return find

    check.expect_formula(
        "variance", "gaussian(net.output, ones, net.second, eps = 0.5)", "ones",
        [of_two(lambda scores, labels: gaussian(scores, labels, 0.5))], "micro_batches 2",
        net="wide")
    for number, swap in enumerate(("false", "true")):
        check.expect_formula(
            f"triplet{number}", f"triplet(net.output, net.second, net.third, swap = {swap})",
            "ones", [lambda scores, _, swap=swap: triplet(scores, 0, swap=swap == "true")],
            "micro_batches 2", net="wide")
    check.expect_formula("contrastive", "contrastive(net.output, net.second, alike)", "alike",
                         [of_two(contrastive)], "micro_batches 2", net="wide")

    def find_batch_of_two(_, rows, labels):
        loss, slopes = info_nce([row[:6] for row in rows], 0.5)
        return loss, [own + [0.0] * 3 for own in slopes]

    find_batch_of_two.find_batch = find_batch_of_two
    for number, flags in enumerate(([], ["--target=cuda", "--gpu-code=emulated",
                                         "--chip=sm_80"])):
        check.expect_formula(
            f"nce{number}", "info_nce(net.output, net.second, temperature = 0.5)", "alike",
            [find_batch_of_two], "", flags, net="wide")


def differentiate(rule):
    """Returns an element's rule with gradients, from one that returns a loss and its part
    of the mean's divisor."""
    def find(scores, labels):
        def move(place, by):
            moved = [*scores[:place], scores[place] + by, *scores[place + 1:]]
            return rule(moved, labels)[0]

        loss, divisor = rule(scores, labels)
        return loss, [(move(place, 1e-5) - move(place, -1e-5)) / 2e-5
                      for place in range(len(scores))], divisor

    return find


def find_softened(scores, temperature):
    return find_log_softmax([x / temperature for x in scores])


def check_pairs(check):
    """Losses of two outputs, and of classes, whose gradients are differences."""
    def dot(a, b):
        return sum(x * y for x, y in zip(a, b))

    def soft_margin(scores, signs):
        return sum(math.log1p(math.exp(-s * x)) for x, s in zip(scores, signs)), len(scores)

    def class_focal(scores, label, gamma):
        if label < 0:
            return 0, 0
        chosen = find_log_softmax(scores)[label]
        return -(1 - math.exp(chosen)) ** gamma * chosen, 1

    def policy_gradient(scores, labels):
        action, advantage = labels
        if action < 0:
            return 0, 0
        return -find_log_softmax(scores)[action] * advantage, 1

    def margin_ranking(scores, signs):
        return sum(max(0, 0.25 - s * (x - y))
                   for x, y, s in zip(scores, scores[3:], signs)), 3

    def cosine_embedding(scores, alike):
        a, b = scores[:3], scores[3:6]
        cosine = dot(a, b) / math.sqrt((dot(a, a) + 1e-12) * (dot(b, b) + 1e-12))
        return 1 - cosine if alike > 0 else max(0, cosine - 0.125), 1

    def distillation(scores, _, teacher, temperature):
        own = find_softened(scores[:3], temperature)
        theirs = find_softened(teacher[3:6], temperature)
        return temperature ** 2 * sum(math.exp(t) * (t - x) for t, x in zip(theirs, own)), 1

    check.expect_formula("soft", "soft_margin(net, signs)", "signs",
                         [differentiate(soft_margin)], "micro_batches 2")
    check.expect_formula(
        "class-focal", "class_focal(net, label, gamma = [0.5, 2])", "label",
        [differentiate(lambda scores, label, gamma=gamma: class_focal(scores, label, gamma))
         for gamma in (0.5, 2)], "micro_batches 2")
    check.expect_formula("policy", "policy_gradient(net, label, shares)", ["label", "shares"],
                         [differentiate(policy_gradient)])
    check.expect_formula(
        "ranking", "margin_ranking(net.output, net.second, signs, margin = 0.25)", "signs",
        [differentiate(margin_ranking)], net="wide")
    check.expect_formula(
        "cosine", "cosine_embedding(net.output, net.second, alike, margin = 0.125)", "alike",
        [differentiate(cosine_embedding)], "micro_batches 2", net="wide")
    check.expect_formula(
        "distilled", "distillation(net.output, net.second, temperature = [1, 3])", "alike",
        [lambda scores, label, temperature=temperature: differentiate(
            lambda moved, _: distillation(moved, _, scores, temperature))(scores, label)
         for temperature in (1, 3)], "micro_batches 2", net="wide")

    def orthogonality(scores, _):
        rows = [scores[:3], scores[3:6], scores[6:]]
        return math.sqrt(sum((dot(a, b) - (i == j)) ** 2 for i, a in enumerate(rows)
                             for j, b in enumerate(rows))), 1

    check.expect_formula("orthogonal", "orthogonality(net.matrix)", "alike",
                         [differentiate(orthogonality)], "micro_batches 2", net="wide")

    def find_pairs(_, rows, __):
        def find(moved):
            vectors = [[x / math.sqrt(dot(v, v)) for x in v]
                       for v in [row[:3] for row in moved] + [row[3:6] for row in moved]]
            loss = 0
            for i, v in enumerate(vectors):
                scores = [dot(v, w) / 0.5 for j, w in enumerate(vectors) if j != i]
                own = (i + len(moved)) % len(vectors)
                loss -= find_log_softmax(scores)[own - (own > i)] / len(vectors)
            return loss, 1

        slopes = [differentiate(lambda moved, _, at=at: find(
            [*rows[:at], moved, *rows[at + 1:]]))(row, None)[1]
                  for at, row in enumerate(rows)]
        return find(rows)[0], slopes

    find_pairs.find_batch = find_pairs
    check.expect_formula("xent", "nt_xent(net.output, net.second)", "alike", [find_pairs],
                         net="wide")


def main():
    check = Check()
    check_elementwise(check)
    check_rowwise(check)
    check_pairs(check)

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
        for name in TENSORS["net"]:
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
                         [lambda scores, labels: huber(scores, labels, 1)], "metric mae")
    for number, flags in enumerate(([], ["--target=cuda", "--gpu-code=emulated",
                                         "--chip=sm_80"])):
        check.expect_formula(
            f"best{number}", f"cross_entropy(net, label, class_weights = {WEIGHTS})",
            "label", [of_classes(0)], "metric top_k(net, label, k = 2)", flags)
    check.expect_formula("best", "cross_entropy(net, probabilities)", "probabilities",
                         [of_probabilities(0)], "metric top_k(k = 2)")


if __name__ == "__main__":
    main()
