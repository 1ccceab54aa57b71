#!/usr/bin/env python3
"""Tests that a GPU may be given a step while it still computes the previous one.
Checkpoints and log lines must have the same bytes as those of a training that waits for
each step: for any order in which the emulated GPU works, any intervals of logging,
evaluating and saving, with and without a trace, and when resuming from a checkpoint. If a
call of the driver fails, there must be one message, complete checkpoints only, and no
additional log line. Needs only Python's standard library."""

import re
import shutil
import subprocess

from cuda_work import DATA, JOBS, CudaWork, make_job
from harness import (COPIES, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     read_log)

RATES = ["1e-3", "3e-3", "1e-2"]
STEPS, EVERY = 48, 12
# Pairs of a seed, which determines the order in which the emulated GPU works, and the
# number of steps between log lines.
ORDERS = ((1, 7), (2, 50), (3, 7), (4, 50), (5, 7))
# A job with running statistics and one micro-batch per step, so that the memory of a step's
# data is reused by the step after next.
JOBS["norm"] = ("""
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(batch_norm(conv(image, 2, 3, stride = 4, bias = false)))
  return output = linear(dropout(flatten(first), 0.1), 10)
}
""", "sgd(lr = {}, momentum = 0.9)", "  schedule cosine(warmup = 3)")
DATA["norm"] = DATA["mlp"]
# The driver's function with which the program waits for a step if the next step has already
# been given to the GPU.
WAIT = "cuEventSynchronize"


class Ahead(CudaWork):
    def __init__(self):
        super().__init__(__doc__)

    def compile_evaluated(self, name, job, *flags):
        text = make_job(job, RATES).replace(
            "}\ntrain sweep {", f"  test  {DATA[job]}\n}}\ntrain sweep {{\n"
            "  metric    accuracy")
        return self.work.compile(f"{name}-gpu", text, "--target=cuda",
                                 "--gpu-code=emulated", "--chip=sm_80", *flags)

    def train_log(self, binary, name, *flags, log_every, every=EVERY, **more):
        return self.train(binary, name, "--log", self.folder / f"{name}.jsonl",
                          "--log-every", log_every, "--every", every, "--steps", STEPS,
                          *flags, **more)

    def read_events(self, folder, log_every=1):
        """Returns the log's events that a training with `--log-every` of `log_every` would
        have written: all but the step events, and those of the first, the last and every
        `log_every`-th step."""
        return [event for event in read_log(folder.with_suffix(".jsonl"))
                if event["event"] != "step" or
                event["step"] in (1, STEPS) or event["step"] % log_every == 0]

    def expect_same(self, mine, plain, what, log_every):
        for step in range(EVERY, STEPS + 1, EVERY):
            expect_same_checkpoint(checkpoint(mine, step), checkpoint(plain, step),
                                   f"{what}, step {step}")
        expect_equal(self.read_events(mine), self.read_events(plain, log_every),
                     f"log of {what}")

    def check(self, name, job, *flags):
        """Compares trainings with various seeds and log intervals with a training that logs
        and saves after each step. Returns the program and the latter's folder."""
        binary = self.compile_evaluated(name, job, *flags)
        plain = self.train_log(binary, f"{name}-plain", log_every=1, every=1,
                               fail=f"{WAIT}:1")
        for seed, log_every in ORDERS:
            mine = self.train_log(binary, f"{name}-{seed}", log_every=log_every, seed=seed)
            self.expect_same(mine, plain, f"{name}, seed {seed}, log of every "
                             f"{log_every} steps", log_every)
        return binary, plain

    def check_traced(self, binary, plain):
        mine = self.train_log(binary, "traced", "--trace", self.folder / "trace.json",
                              log_every=50, seed=2)
        self.expect_same(mine, plain, "traced", 50)

    def check_resumed(self, binary, plain):
        folder = self.train_log(binary, "resumed", log_every=50)
        for step in range(2 * EVERY, STEPS + 1, EVERY):
            shutil.rmtree(checkpoint(folder, step))
        mine = self.train_log(binary, "resumed", "--resume", log_every=50, seed=3)
        for step in range(EVERY, STEPS + 1, EVERY):
            expect_same_checkpoint(checkpoint(mine, step), checkpoint(plain, step),
                                   f"resumed, step {step}")

    def check_unlocked(self, binary, plain):
        for number in (1, 2):
            mine = self.train_log(binary, "unlocked", "--overwrite", log_every=50,
                                  fail=f"cuMemHostRegister:{number}")
            self.expect_same(mine, plain, "memory that isn't locked", 50)

    def expect_failure(self, binary, plain, call, number):
        what = f"{call}:{number}"
        folder = self.folder / "failed"
        shutil.rmtree(folder, ignore_errors=True)
        result = subprocess.run(
            [binary, "train", "--data", self.folder, "--checkpoint", folder, "--log",
             folder.with_suffix(".jsonl"), "--every", str(EVERY), "--steps", str(STEPS),
             "--no-progress"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=self.environment(fail=what))
        expect_equal(result.returncode, 70, f"{what}: {result.stdout!r}")
        expect_equal(result.stdout.count("error:"), 1, f"{what}: {result.stdout!r}")
        if not re.search(f"error: .*device 'cuda:0': {call} failed", result.stdout):
            fail(f"{what}: {result.stdout!r}")
        saved = sorted(path.name for path in folder.glob("*"))
        for name in saved:
            expect_same_checkpoint(folder / name, plain / name, f"{what}, {name}")
        events, wanted = self.read_events(folder), self.read_events(plain, 50)
        expect_equal(events, wanted[:len(events)], f"log of {what}")
        return len(saved)

    def check_failures(self, binary, plain):
        """Lets calls fail in the middle of a training. At least one of these trainings must
        have saved a checkpoint before."""
        saved = sum(self.expect_failure(binary, plain, call, number)
                    for call, numbers in ((WAIT, (1, 2, 7, 20)),
                                          ("cuEventRecord", (40, 41, 100, 101)),
                                          ("cuStreamWaitEvent", (40, 41, 100, 101)),
                                          ("cuMemcpyAsync", (80, 81, 82, 83, 120)),
                                          ("cuMemsetD8Async", (60,)),
                                          ("cuGraphLaunch", (5, 25, 26)),
                                          ("cuCtxSetCurrent", (300, 301, 302, 500)))
                    for number in numbers)
        if saved == 0:
            fail("each failure comes before the first checkpoint")


def main():
    check = Ahead()
    check.check("mlp", "mlp", "--precision=bf16")
    check.check("f16", "mlp", "--precision=f16")
    check.check("apart", "norm", "--no-fuse")
    binary, plain = check.check("norm", "norm")
    check.check_traced(binary, plain)
    check.check_resumed(binary, plain)
    check.check_unlocked(binary, plain)
    check.check_failures(binary, plain)
    # A training that is given steps ahead must use the call WAIT, so it fails if that call
    # does.
    check.train(binary, "waits", "--steps", STEPS, code=70, fail=f"{WAIT}:1")


if __name__ == "__main__":
    main()
