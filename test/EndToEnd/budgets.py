#!/usr/bin/env python3
"""Tests that, within a memory budget, a sweep trains to the same bytes and writes the same
log as without a budget: with the smallest budget for which a plan exists, with larger ones,
and without spilling; with dropout, running statistics, skip connections, tied and frozen
weights, K-FAC, and copies that differ in part or aren't fused; on any number of threads.
Programs must keep to the budget. Needs only Python's standard library."""

import json
import re

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     read_least_budget, read_log, run)
from pipeline_models import (COPIES, STEPS, make_job, write_masked, write_partial,
                             write_tied)

# The jobs: name to clauses of the train block and flags of hftac. The part of a name before
# the first "-" selects the network.
JOBS = {
    "mlp": ("clip_norm 0.5", ()),
    "mlp-parts": ("micro_batches 4\n  clip_norm 0.5", ()),
    "cnn": ("precision f64", ()),
    "cnn-parts": ("micro_batches 4", ("--optimizer=sgd(lr = [1e-3, 3e-3, 1e-2, 3e-2],"
                                      " momentum = 0.9, nesterov = true)",)),
    "deep": ("", ("--optimizer=sgd(lr = [1e-3, 3e-3, 1e-2, 3e-2])",)),
    "deep-parts": ("micro_batches 8\n  recompute none", ()),
    "skip": ("freeze \"*.bias\"", ("--no-fuse",)),
    "tied": ("", ()),
    "tied-parts": ("micro_batches 3", ()),
    "partial": ("micro_batches 2", ()),
    "masked": ("recompute all", ()),
    "mlp-kfac": ("precondition kfac(factor_every = 2, inverse_every = 4)", ()),
    "deep-kfac": ("micro_batches 4\n  precondition kfac(factor_every = 2, "
                  "inverse_every = 2, method = eigen, fisher = sampled)", ()),
    "deep-kfac-again": ("micro_batches 2\n  recompute all\n  precondition kfac("
                   "factor_every = 2, inverse_every = 2, fisher = sampled)", ()),
}


def find_least(work, name, text, flags, clause):
    """Returns the smallest sufficient budget in bytes, as stated by the error with which
    hftac refuses a budget of 1 KiB. `clause` is appended to the flag --memory."""
    job = work.write_job(name, text)
    refusal = run(work.hftac, job, "-o", work.folder / name, *flags,
                  f"--memory=device = 1KiB, threads = 3{clause}", code=3)
    if (work.folder / name).exists():
        fail(f"{name} is there, but was refused")
    return read_least_budget(refusal)


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", "cnn", more=["--jobs"])
        write_tied(self.work.folder)
        write_masked(self.work.folder)
        write_partial(self.work.folder)

    def train(self, binary, name, *more):
        folder = self.work.folder
        log = folder / f"{name}.jsonl"
        run(binary, "train", "--data", folder, "--checkpoint", folder / name,
            "--log", log, "--log-every", 1, "--no-progress", *more)
        return (checkpoint(folder / name, STEPS),
                [event for event in read_log(log) if event["event"] != "start"])

    def compare(self, name, text, flags, device, clause, threads, expected):
        binary = self.work.compile(
            name, text, *flags, f"--memory=device = {device}, threads = 3{clause}")
        memory = json.loads(run(binary, "info", "--json"))["memory"]["array"]
        if memory["peak_bytes"] > device:
            fail(f"{name}: {memory['peak_bytes']} bytes within {device}")
        for count in threads:
            trained, log = self.train(binary, f"{name}-{count}", "--threads", count)
            what = f"{name} on {count} threads"
            expect_same_checkpoint(trained, expected[0], what, COPIES)
            expect_equal(log, expected[1], f"the log of {what}")

    def check(self, name):
        net = name.split("-")[0]
        clauses, flags = JOBS[name]
        text = make_job(net, clauses)
        expected = self.train(self.work.compile(f"{name}-free", text, *flags),
                              f"{name}-trained")
        for clause in ("", ", spill = none"):
            least = find_least(self.work, f"{name}-none", text, flags, clause)
            half = least // 2048
            budgets = (((0, (1, 2)), (60, (3,)), (half, (2,))) if not clause
                       else ((0, (2,)),))
            for more, threads in budgets:
                self.compare(f"{name}{'-kept' if clause else ''}-{more}", text, flags,
                             least + 1024 * more, clause, threads, expected)


def main():
    check = Check()
    wanted = re.compile(check.work.options.jobs)
    for name in JOBS:
        if wanted.search(name):
            check.check(name)


if __name__ == "__main__":
    main()
