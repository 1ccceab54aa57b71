#!/usr/bin/env python3
"""Tests losses that are sums of weighted terms over several outputs. Trained weights, losses
of terms and evaluations are compared with formulas in Python, for any number of
micro-batches, on several workers, within a memory budget, and on a GPU. A copy is trained to
the bytes that it has alone, and a term whose weight is 0 for a copy changes nothing of it,
even if its gradient isn't finite. Needs only Python's standard library."""

import math

from harness import checkpoint, copy_file, expect_equal, fail, read_safetensors
from objectives import (BATCH, FIELDS, INPUTS, SAMPLES, STEPS, TENSORS, Check, expect_near,
                        score, simulate)
from loss_formulas import cross_entropy, find_mean, l1, weigh  # found by objectives
from make_data import write_npy

WEIGHTS = [0, 0.5]
LOSS = "cross_entropy(net.output, label) + {} * l1(net.second, 0) + 2 * mse(net.third, " \
    "ones, weights = shares)"
GPU = ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"]
# Two outputs with parameters of their own. In the second half of the steps, a loss isn't
# finite.
NET = """
model net(x: f32[batch, 4]) {
  hidden = tanh(linear(x, 5))
  deep = tanh(linear(hidden, 5))
  return logits = linear(deep, 3), second = linear(hidden, 3)
}
data made {
  train x = npy("x.npy"), label = npy("label.npy"), bad = npy("bad.npy")
}
"""


def find_terms(rows, labels):
    """Returns the mean and the gradient of each term."""
    def place(slopes, output):
        return [0.0] * (3 * output) + slopes + [0.0] * (6 - 3 * output)

    terms = [[], [], []]
    for row, (label, ones, share) in zip(rows, labels):
        squares = [x - t for x, t in zip(row[6:], ones)]
        for output, (loss, slopes, divisor) in enumerate((
                cross_entropy(row[:3], label), l1(row[3:6], [0, 0, 0]),
                weigh((sum(d * d for d in squares), [2 * d for d in squares], 3), share))):
            terms[output].append((loss, place(slopes, output), divisor))
    return [find_mean(term) for term in terms]


def make_rule(weight):
    """Returns the loss of a copy, for simulate()."""
    def find_batch(_, rows, labels):
        total, slopes = 0.0, [[0.0] * 9 for _ in rows]
        for factor, (loss, own) in zip((1, weight, 2), find_terms(rows, labels)):
            if factor:
                total += factor * loss
                slopes = [[x + factor * y for x, y in zip(*pair)]
                          for pair in zip(slopes, own)]
        return total, slopes

    find_batch.find_batch = find_batch
    return find_batch


def expect_formulas(check, name, clauses="", flags=()):
    """Trains both copies, and compares weights, the log and the evaluation."""
    fields = ["label", "ones", "shares"]
    labels = list(zip(*(FIELDS[field] for field in fields)))
    folder, events = check.train(name, LOSS.format(WEIGHTS), fields, clauses, flags, "wide")
    steps = [event for event in events if event["event"] == "step"]
    for copy, weight in enumerate(WEIGHTS):
        weights, losses = simulate(make_rule(weight), labels, TENSORS["wide"])
        trained = read_safetensors(copy_file(folder, copy))
        for tensor, expected in weights.items():
            expect_near(trained[tensor][2], expected, f"{name}, {tensor} of copy {copy}")
        expect_near([float(step["loss"][copy]) for step in steps], losses, f"{name}, losses")
        final = [score(weights, row) for row in INPUTS]
        expect_near([float(events[-1]["eval_loss"][copy])],
                    [make_rule(weight)(None, final, labels)[0]], f"{name}, evaluation")
        for term, (loss, _) in zip(("cross_entropy", "l1", "mse"),
                                   find_terms(final, labels)):
            expect_near([float(events[-1][f"eval_loss_{term}"][copy])], [loss],
                        f"{name}, evaluation of {term}")
        first = find_terms([score(TENSORS["wide"], row) for row in INPUTS[:BATCH]],
                           labels[:BATCH])
        for term, (loss, _) in zip(("cross_entropy", "l1", "mse"), first):
            expect_near([float(steps[0][f"loss_{term}"][copy])], [loss],
                        f"{name}, first {term}")
    print(f"as the formulas: {name}")
    return folder


def train(check, name, loss, clauses, *flags):
    """Returns the checkpoint of a training of the model above with momentum."""
    binary = check.work.compile(name, NET + f"""
train sweep {{
  model     net(x)
  data      made, batch = {BATCH}, shuffle = false
  loss      {loss}
  optimizer adamw(lr = 0.05, weight_decay = 0.125)
  seed      7
  epochs    1
  {clauses}
}}
""", *flags)
    return checkpoint(check.work.train(binary), STEPS)


def expect_same(mine, copy, theirs, other, what):
    """Compares all tensors that the second checkpoint has."""
    own, expected = (read_safetensors(copy_file(folder, number))
                     for folder, number in ((mine, copy), (theirs, other)))
    for name, (_, _, numbers) in expected.items():
        if name not in own or own[name][2].tobytes() != numbers.tobytes():
            fail(f"{what}: {name} differs")
    print(f"the same bytes: {what}")


def check_bytes(check):
    """Compares copies of an array with trainings of one copy, and of fewer terms."""
    first = "cross_entropy(net.logits, label)"
    for clauses in ("", "micro_batches 4", "clip_norm 0.5\n  micro_batches 2"):
        tag = str(len(clauses))
        both = train(check, f"both{tag}", f"{first} + [0, 0.5] * mse(net.second, bad)",
                     clauses)
        none = train(check, f"none{tag}", first, clauses)
        expect_same(both, 0, none, 0, f"weight 0, and no term, '{clauses}'")
        alone = train(check, f"alone{tag}", f"{first} + 0 * mse(net.second, bad)", clauses)
        expect_same(both, 0, alone, 0, f"weight 0 alone, '{clauses}'")
    loss = f"{first} + [0.5, 2] * l1(net.second, 0)"
    fused = train(check, "fused", loss, "micro_batches 2")
    serial = train(check, "serial", loss, "micro_batches 2", "--no-fuse")
    other = train(check, "other", f"{first} + 2 * l1(net.second, 0)", "micro_batches 2")
    # The second term is computed in the second of three stages.
    staged = train(check, "staged", loss,
                   'micro_batches 2\n  pipeline cuts = ["hidden", "deep"]')
    for copy in range(2):
        expect_same(fused, copy, serial, copy, f"copy {copy} without fusion")
        expect_same(fused, copy, staged, copy, f"copy {copy} in stages")
    expect_same(fused, 1, other, 0, "copy 1 alone")


def main():
    check = Check()
    bad = [math.inf if i >= SAMPLES // 2 else 0.25 * (i % 5) for i in range(SAMPLES)]
    write_npy(check.work.folder / "bad.npy", "<f4", [x for x in bad for _ in range(3)],
              [SAMPLES, 3])
    plain = expect_formulas(check, "plain")
    for number, (clauses, *flags) in enumerate([
            ("micro_batches 4, groups = 2",),
            ("micro_batches 4\n  pipeline replicas = [2]",),
            ("micro_batches 4\n  memory device = 1MiB",), ("micro_batches 2", *GPU)]):
        expect_formulas(check, f"terms{number}", clauses, flags)
    serial = expect_formulas(check, "serial", "", ["--no-fuse"])
    for copy in range(2):
        expect_equal(read_safetensors(copy_file(plain, copy))["w"][2].tobytes(),
                     read_safetensors(copy_file(serial, copy))["w"][2].tobytes(),
                     f"copy {copy} without fusion")
    check_bytes(check)


if __name__ == "__main__":
    main()
