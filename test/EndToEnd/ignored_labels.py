#!/usr/bin/env python3
"""Tests steps in which no label counts: the loss is NaN and the gradients are zero, as in
PyTorch, for any number of micro-batches, and training goes on. Plain steps are compared
with a computation in Python. Clipping, Adam, scaled losses, replicas, stages, K-FAC and
memory budgets are tested with micro-batches, against that computation or against whole
batches. Needs only Python's standard library."""

import json
import math
import os
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail,
                     make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

SAMPLES, BATCH, STEPS, FEATURES, CLASSES = 24, 8, 3, 4, 3
RATE, SMOOTHING = 0.5, [0, 0.25]
INPUTS = [[2 * uniform(1, 4 * i + j) - 1 for j in range(FEATURES)] for i in range(SAMPLES)]
# The labels for each ignored number, which is -100 (not a class) or 1 (a class). In step 2,
# all labels are ignored; in the other steps, some are.
LABELS = {number: [number if 8 <= i < 16 or i % 5 == 0 else i % 2 * 2
                   for i in range(SAMPLES)] for number in (-100, 1)}
WEIGHTS = [0.125 * ((7 * i) % 11 - 5) for i in range(CLASSES * FEATURES)]
BIASES = [0.25, -0.5, 0.125]
LAYERS = """
model net(x: f32[batch, 4]) {
  hidden = tanh(linear(x, 5))
  return output = linear(hidden, 3)
}
"""
ADAM = "adam(lr = 0.1)"


def find_gradients(weights, first, labels, ignored, smoothing):
    """Returns the gradients of a step (weights, then biases), and its loss."""
    gradients, loss, count = [0.0] * len(weights), 0.0, 0
    for i in range(first, first + BATCH):
        if labels[i] == ignored:
            continue
        count += 1
        scores = [sum(weights[FEATURES * c + j] * x for j, x in enumerate(INPUTS[i]))
                  + weights[CLASSES * FEATURES + c] for c in range(CLASSES)]
        total = math.log(sum(map(math.exp, scores)))
        for c, score in enumerate(scores):
            wanted = smoothing / CLASSES + (1 - smoothing) * (c == labels[i])
            loss += wanted * (total - score)
            slope = math.exp(score - total) - wanted
            for j, x in enumerate(INPUTS[i]):
                gradients[FEATURES * c + j] += slope * x
            gradients[CLASSES * FEATURES + c] += slope
    if not count:
        return gradients, math.nan
    return [gradient / count for gradient in gradients], loss / count


def simulate(ignored, smoothing):
    """Returns weights and biases after all steps of SGD, and each step's loss."""
    weights, losses = [*WEIGHTS, *BIASES], []
    for step in range(STEPS):
        gradients, loss = find_gradients(weights, BATCH * step, LABELS[ignored], ignored,
                                         smoothing)
        weights = [weight - RATE * gradient
                   for weight, gradient in zip(weights, gradients)]
        losses.append(loss)
    return weights, losses


def expect_near(mine, theirs, what):
    expect_equal(len(mine), len(theirs), what)
    for own, other in zip(mine, theirs):
        if not (abs(own - other) <= 1e-9 or math.isnan(own) and math.isnan(other)):
            fail(f"{what}: got {own}, expected {other}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, more=["--emulation"])
        folder = self.work.folder
        write_npy(folder / "x.npy", "<f4", sum(INPUTS, []), [SAMPLES, FEATURES])
        for number, labels in LABELS.items():
            write_npy(folder / f"label{number}.npy", "<i8", labels, [SAMPLES])
        (folder / "net.onnx").write_bytes(model(graph(
            [node("Gemm", ["x", "w", "b"], ["output"], transB=1)],
            [value("x", ["batch", FEATURES])], ["output"],
            [tensor("w", [CLASSES, FEATURES], WEIGHTS), tensor("b", [CLASSES], BIASES)])))

    def train(self, name, clauses, ignored=-100, text='model net = onnx("net.onnx")\n',
              loss="cross_entropy(net, label, ignore_index = {}, label_smoothing = {})",
              optimizer=f"sgd(lr = {RATE})", flags=()):
        """Returns the folder of the last checkpoint, and for each step the losses of all
        copies."""
        job = text + make_blocks(
            f'x = npy("x.npy"), label = npy("label{ignored}.npy")',
            loss.format(ignored, SMOOTHING), optimizer, STEPS, model="net(x)",
            batch=f"{BATCH}, shuffle = false", clauses=f"  precision f64\n{clauses}")
        binary = self.work.compile(name, job, *flags)
        folder, log = binary.with_suffix(".run"), binary.with_suffix(".jsonl")
        run(binary, "train", "--data", self.work.folder, "--checkpoint", folder, "--log",
            log, "--log-every", 1, "--no-progress",
            env={**os.environ, "LD_LIBRARY_PATH": self.work.options.emulation})
        events = [json.loads(line) for line in log.read_text().splitlines()]
        losses = [[float(loss) for loss in event["loss"]] for event in events
                  if event["event"] == "step"]
        return checkpoint(folder, STEPS), losses

    def expect_formula(self, name, clauses, ignored=-100, **options):
        folder, losses = self.train(name, clauses, ignored, **options)
        for copy, smoothing in enumerate(SMOOTHING):
            weights, expected = simulate(ignored, smoothing)
            trained = read_safetensors(copy_file(folder, copy))
            expect_near([*trained["w"][2], *trained["b"][2]], weights,
                        f"{name}, weights of copy {copy}")
            expect_near([step[copy] for step in losses], expected,
                        f"{name}, losses of copy {copy}")
        print(f"as the formula: {name}")
        return folder

    def expect_whole(self, name, clause, *parts, copies=1, **options):
        """Checks that, with each of `parts`, clauses that divide steps into micro-batches,
        the copies are trained as by whole batches."""
        whole, losses = self.train(name, clause, **options)
        expect_equal([math.isnan(step[0]) for step in losses], [False, True, False],
                     f"{name}: steps without a loss")
        for number, part in enumerate(parts):
            mine, own = self.train(f"{name}{number}", f"{clause}\n{part}", **options)
            for step in range(STEPS):
                expect_near(own[step], losses[step], f"{name}{number}: losses")
            for copy in range(copies):
                expected = read_safetensors(copy_file(whole, copy))
                trained = read_safetensors(copy_file(mine, copy))
                expect_equal(trained.keys(), expected.keys(), f"{name}{number}: tensors")
                for tensor_name, (_, _, numbers) in trained.items():
                    if any(map(math.isnan, numbers)):
                        fail(f"{name}{number}: {tensor_name} is NaN")
                    expect_near(numbers, expected[tensor_name][2],
                                f"{name}{number}: {tensor_name}")
        print(f"as without micro-batches: {name}")


def main():
    check = Check()
    for ignored, clauses in [
            (-100, ""), (-100, "micro_batches 2"), (-100, "micro_batches 4, groups = 2"),
            (-100, "micro_batches 8, all_forwards_first = true"), (1, ""),
            (1, "micro_batches 4\n  pipeline replicas = [2]")]:
        name = f"plain{ignored}-" + "".join(filter(str.isalnum, clauses))[:24]
        check.expect_formula(name, f"  {clauses}", ignored)
    check.expect_formula("gpu", "  micro_batches 4", flags=(
        "--target=cuda", "--gpu-code=emulated", "--chip=sm_80"))

    folder = check.expect_formula("scaled", "  micro_batches 4\n  loss_scale 1024")
    for copy in range(len(SMOOTHING)):
        state = read_safetensors(copy_file(folder, copy))
        expect_equal([state[f"loss_scale/{name}"][2][0] for name in
                      ("factor", "good_steps", "skipped_steps")], [1024, STEPS, 0],
                     "a loss scale, of finite gradients alone")

    check.expect_whole("adam", "  clip_norm 0.1", "  micro_batches 4", optimizer=ADAM,
                       copies=2)
    check.expect_whole(
        "layers", "", "  micro_batches 4\n  pipeline cuts = [\"hidden\"]",
        "  micro_batches 4\n  memory device = 1MiB", text=LAYERS, optimizer=ADAM,
        loss="nll(net, label)")
    for fisher in ("empirical", "sampled"):
        check.expect_whole(
            f"kfac-{fisher}", f"  precondition kfac(damping = 1e-2, fisher = {fisher})",
            "  micro_batches 4", text=LAYERS, copies=2)


if __name__ == "__main__":
    main()
