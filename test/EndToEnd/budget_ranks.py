#!/usr/bin/env python3
"""Tests that, within a memory budget, a job of several workers trains to the same bytes and
writes the same log as without a budget, on any number of ranks. Covered are replicas that
share micro-batches, groups of micro-batches on one worker, and pipeline stages with
replicas; clipping, dropout, running statistics, tied weights, and copies that differ in
part; copies that take turns, where the last turn has fewer copies, and a loss whose divisor
requires all copies at once. Each worker must keep to the budget. Needs only Python's
standard library and mpirun."""

import json
import re

from budgets import find_least
from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     read_log, run)
from mpirun import run_ranks
from pipeline_models import (COPIES, SAMPLES, STEPS, make_job, uniform, write_masked,
                             write_npy, write_partial, write_tied)

SGD = "--optimizer=sgd(lr = [1e-3, 3e-3, 1e-2, 3e-2], momentum = 0.9)"
# A job whose losses have no weights, so that its copies may take turns.
TURNS = f"""
model net(image: f32[batch, 16]) {{
  first = dropout(relu(linear(image, 64)), 0.1)
  second = relu(linear(first, 64))
  return output = linear(second, 4)
}}
data made {{
  train image = npy("rows.npy"), label = npy("targets.npy")
}}
train sweep {{
  model     net(image)
  data      made, batch = 16
  loss      mse(net, label)
  optimizer adam(lr = [1e-3, 3e-3, 1e-2, 3e-2])
  steps     {STEPS}
  seed      3
"""
# The jobs: name to clauses, flags of hftac, and numbers of ranks to run on. The part of a
# name before the first "-" selects the network.
JOBS = {
    "mlp-groups": ("micro_batches 4, groups = 3\n  clip_norm 0.5", (), (1,)),
    "mlp-replicas": ("micro_batches 4\n  pipeline replicas = [2]", (), (1, 2)),
    "cnn-statistics": ("micro_batches 4\n  pipeline replicas = [2], bucket = 4KiB",
                       (SGD,), (1, 2)),
    "deep-clip": ("micro_batches 6, groups = 6\n  pipeline replicas = [3]\n"
                  "  clip_norm 0.5", (), (1, 2, 3)),
    "skip-one": ("pipeline replicas = [2]\n  freeze \"*.bias\"", (), (2,)),
    "tied-replicas": ("micro_batches 4\n  pipeline replicas = [2]", (), (2,)),
    "turns-replicas": ("micro_batches 4\n  pipeline replicas = [2]", (), (1, 2)),
    "turns-clip": ("micro_batches 8, groups = 4\n  pipeline replicas = [3], bucket = 8e3"
                   "\n  clip_norm 0.1", (), (1, 3)),
    "partial-replicas": ("micro_batches 4\n  pipeline replicas = [2]", (), (2,)),
    "mlp-stages": ('pipeline cuts = ["second"]', (), (1, 2)),
    "deep-stages": ('micro_batches 4\n  pipeline cuts = ["a3"], replicas = [2, 2]\n'
                    "  clip_norm 0.5", (), (1, 2, 4)),
    "cnn-stages": ('micro_batches 4\n  pipeline cuts = ["pool1"], replicas = [2, 1]',
                   (SGD,), (3,)),
    "skip-stages": ('micro_batches 2\n  pipeline cuts = ["first", "third"]\n'
                    '  recompute all\n  freeze "*.bias"', (), (1, 3)),
    "tied-stages": ('micro_batches 4\n  pipeline cuts = ["mixed1"], replicas = [2, 2], '
                    "order = all_forwards_first", (), (2,)),
    "masked-stages": ('micro_batches 2\n  pipeline cuts = ["m1"]', (), (2,)),
}


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", "cnn", more=["--jobs"])
        write_tied(self.work.folder)
        write_masked(self.work.folder)
        write_partial(self.work.folder)
        for seed, (name, width) in enumerate((("rows", 16), ("targets", 4))):
            write_npy(self.work.folder / f"{name}.npy", "<f4",
                      [uniform(seed, index) for index in range(SAMPLES * width)],
                      [SAMPLES, width])

    def train(self, binary, name, ranks, *more):
        folder = self.work.folder
        log = folder / f"{name}.jsonl"
        command = (binary, "train", "--data", folder, "--checkpoint", folder / name,
                   "--log", log, "--log-every", 1, "--no-progress", "--threads", 1, *more)
        if ranks == 1:
            run(*command)
        else:
            run_ranks(ranks, *command)
        return (checkpoint(folder / name, STEPS),
                [event for event in read_log(log) if event["event"] != "start"])

    def check_memory(self, binary, name, device):
        info = json.loads(run(binary, "info", "--json"))
        # With several stages, a rank needs the memory of a stage for each worker that it
        # runs.
        plans = ([stage["memory"] for stage in info["stages"]]
                 if len(info["stages"]) > 1 else
                 [info["memory"]["array"], *info["memory"].get("ranks", [])])
        for plan in plans:
            if plan["peak_bytes"] > device:
                fail(f"{name}: {plan['peak_bytes']} bytes within {device}")

    def check(self, name):
        net = name.split("-")[0]
        clauses, flags, numbers = JOBS[name]
        text = f"{TURNS}  {clauses}\n}}\n" if net == "turns" else make_job(net, clauses)
        expected = self.train(self.work.compile(f"{name}-free", text, *flags),
                              f"{name}-trained", 1)
        for clause, more in (("", 0), ("", 512), (", spill = none", 0)):
            device = find_least(self.work, f"{name}-none", text, flags,
                                clause) + 1024 * more
            kind = f"{name}{'-kept' if clause else ''}-{more}"
            binary = self.work.compile(
                kind, text, *flags, f"--memory=device = {device}, threads = 3{clause}")
            self.check_memory(binary, kind, device)
            for ranks in numbers:
                trained, log = self.train(binary, f"{kind}-{ranks}", ranks)
                what = f"{kind} on {ranks} ranks"
                expect_same_checkpoint(trained, expected[0], what, COPIES)
                expect_equal(log, expected[1], f"the log of {what}")


def main():
    check = Check()
    wanted = re.compile(check.work.options.jobs or "")
    for name in JOBS:
        if wanted.search(name):
            check.check(name)


if __name__ == "__main__":
    main()
