#!/usr/bin/env python3
"""Tests failures in one copy of a preconditioned sweep: factors that have no inverse, and a
batch whose statistics aren't finite. They must be reported, the copy must go on, and the
other copies must keep their bytes. Needs only Python's standard library."""

import math

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_file, fail,
                     make_blocks, read_log, read_npy, read_safetensors, run)
from kfac import COPIES, make
import make_data  # from test/reference

BATCH, SIDE, SAMPLES = 16, 8, 320
STEPS = 12
BAD = 4  # the step, counted from 0, that gets the batch with large numbers
DROPPING = """
model net(image: f32[batch, 1, 8, 8]) {{
  hidden = relu(linear(dropout(flatten(image), {}), 37))
  return output = linear(hidden, 10)
}}
"""
RATES = [0.0, 0.9375, 0.0]
DAMPINGS = [1e-2, 1e-2, 1e-1]


def check_singular(work):
    """Tests a copy whose factors have no inverse at first, because of its tiny damping. The
    log must report this, and the copy must go on training with more damping."""
    copies = [COPIES[0], {**COPIES[0], "damping": 1e-16}, COPIES[0]]
    binary = work.compile("failing", make("mlp", copies, "", "cholesky"))
    log = work.folder / "failing.jsonl"
    table = run(binary, "train", "--data", work.folder, "--no-progress", "--log", log,
                "--log-every", 1, "--checkpoint", work.folder / "failing-checkpoints")
    if "retried inverses" not in table:
        fail(f"the final table doesn't tell of inverses that took more damping:\n{table}")
    events = read_log(log)
    told = [event for event in events if event["event"] == "curvature"]
    if not told:
        fail("the log doesn't tell of inverses that took more damping")
    for event in told:
        retried = event["retried_inverses"]
        expect_equal((retried[0], retried[2]), (0, 0), "others' inverses")
        expect_equal(event["skipped_statistics"], [0, 0, 0], "skipped statistics")
    losses = [event["loss"] for event in events if event["event"] == "step"]
    expect_equal([loss[0] for loss in losses], [loss[2] for loss in losses], "losses")
    if not all(isinstance(loss[1], float) and loss[1] < 3 for loss in losses):
        fail(f"the copy whose inverses failed diverges: {losses}")


def write_spike(work):
    """Writes images in which one batch is scaled so much that squares of its pixels are
    finite in f32, but no longer are if dropout scales the kept pixels by 16."""
    values = read_npy(work.folder / "mlp-image.npy", "f")
    size = BATCH * SIDE * SIDE
    for i in range(BAD * size, (BAD + 1) * size):
        values[i] *= 2e18
    make_data.write_npy(work.folder / "spike-image.npy", "<f4", values,
                        (SAMPLES, 1, SIDE, SIDE))


def train_spike(work, name, rates, dampings):
    """Trains copies with these dropout rates and dampings. Returns the last checkpoint, and
    the log's events."""
    def write(values):
        return str(values if len(values) > 1 else values[0])

    paired = "  zip (dropout_rate, damping)\n" if len(rates) > 1 else ""
    job = DROPPING.format(write(rates)) + make_blocks(
        'image = npy("spike-image.npy"), label = npy("mlp-label.npy")',
        "cross_entropy(net, label)", "sgd(lr = 0.01, momentum = 0.9)", STEPS,
        f"{BATCH}, shuffle = false", clauses=(
            f"  seed 3\n{paired}  precondition kfac(damping = {write(dampings)}, "
            "decay = 0.5, factor_every = 1, inverse_every = 2)"))
    log = work.folder / f"{name}.jsonl"
    log.unlink(missing_ok=True)
    folder = work.train(work.compile(name, job), "--overwrite", "--log", log,
                        "--log-every", 1)
    return checkpoint(folder, STEPS), read_log(log)


def check_infinite(work):
    """Tests a batch for which the statistics of only one copy are infinite."""
    write_spike(work)
    folder, events = train_spike(work, "spike", RATES, DAMPINGS)
    skipped = {event["step"]: event["skipped_statistics"] for event in events
               if event["event"] == "curvature" and any(event["skipped_statistics"])}
    expect_equal(skipped, {BAD + 1: [0, 1, 0]}, "skipped statistics")
    losses = [event["loss"] for event in events if event["event"] == "step"]
    if not all(isinstance(loss, float) for row in losses for loss in row):
        fail(f"a loss isn't finite: {losses}")
    if not all(row[1] < 3 for row in losses[BAD + 1:]):
        fail(f"the copy whose statistic was skipped diverges: {losses}")
    tensors = read_safetensors(copy_file(folder, 1))
    for name, (_, _, numbers) in tensors.items():
        if not all(map(math.isfinite, numbers)):
            fail(f"'{name}' isn't finite after a skipped statistic")
    weights = [tensors[f"{side}_factor_weight/hidden.weight"][2][0]
               for side in ("input", "output")]
    if not weights[0] < weights[1]:
        fail(f"the skipped statistic counts: weights {weights}")
    for copy, (rate, damping) in enumerate(zip(RATES, DAMPINGS)):
        alone, _ = train_spike(work, f"spike-{copy}", [rate], [damping])
        expect_same_file(copy_file(folder, copy), copy_file(alone, 0),
                         f"copy {copy} beside a statistic that isn't finite")


def main():
    work = Work(__doc__, "mlp")
    check_singular(work)
    check_infinite(work)


if __name__ == "__main__":
    main()
