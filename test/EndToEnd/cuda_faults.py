#!/usr/bin/env python3
"""Tests that the emulated GPU exposes errors of a program. With a planted fault
(emulation/Faults.h), training must fail, or write other bytes than without the fault, in
one of the orders of execution that ten seeds determine. Needs only Python's standard
library."""

import os
import shutil
import subprocess

from cuda_work import DATA, JOBS, STEPS, CudaWork
from harness import COPIES, checkpoint, copy_file, expect_equal, fail

# A product with so many terms that tensor cores need several steps for its sums.
JOBS["wide"] = ("""
model net(image: f32[batch, 1, 8, 8]) {
  hidden = relu(linear(flatten(image), 256))
  return output = linear(hidden, 10)
}
""", "sgd(lr = {}, momentum = 0.9)", "")
DATA["wide"] = DATA["mlp"]
# For each kind of fault: the job whose operations it affects; the numbers N of the
# operations that are tried; and whether each of these faults must be found, or only at
# least one of them. Not every fault can be found: some waits of a program are implied by
# others, some memory is cleared although it is overwritten before it is read, and some
# waits are repeated before a read.
FAULTS = {
    "barrier": ("cnn", (1, 2, 3), True),
    "edge": ("mlp", (5, 8, 13), True),
    "bounds": ("cnn", (1, 5, 40), True),
    "copy": ("mlp", (6, 7, 8), True),
    "wait": ("mlp", range(1, 9), False),
    "clear": ("mlp", range(1, 17), False),
    "host": ("mlp", range(1, 33), False),
    "async": ("wide", (1, 2, 3), True),
}
# The programs: name to job and flags. Only in bf16 does "wide" use tensor cores, whose
# operands are copied asynchronously.
PROGRAMS = {"cnn": ("cnn", ()), "mlp": ("mlp", ()),
            "wide": ("wide", ("--precision=bf16",))}
SEEDS = range(1, 11)


class Faults(CudaWork):
    def __init__(self):
        super().__init__(__doc__)
        self.programs, self.expected = {}, {}
        for name, (job, flags) in PROGRAMS.items():
            self.programs[name] = self.compile(name, job, *flags)
            self.expected[name] = self.read(self.train(self.programs[name], name))

    def read(self, folder):
        step = checkpoint(folder, STEPS)
        return [copy_file(step, copy).read_bytes() for copy in range(COPIES)]

    def is_found(self, job, fault, seed):
        """Returns whether a training with this fault fails, or writes other bytes than
        without it."""
        folder = self.folder / "faulty"
        shutil.rmtree(folder, ignore_errors=True)
        result = subprocess.run(
            [self.programs[job], "train", "--data", self.folder, "--checkpoint", folder,
             "--no-progress"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=self.environment(fault=fault, seed=seed))
        if result.returncode:
            expect_equal(result.returncode, 70, f"{fault}: {result.stdout!r}")
            return True
        return self.read(folder) != self.expected[job]

    def find(self, job, fault):
        """Tries all seeds until one exposes the fault. Returns whether one did."""
        found = next((seed for seed in SEEDS if self.is_found(job, fault, seed)), None)
        print(f"{fault} of {job}: " + (f"found by seed {found}" if found else "not found"))
        return found is not None

    def check(self):
        for kind, (job, numbers, each) in FAULTS.items():
            found = (self.find(job, f"{kind}:{number}") for number in numbers)
            if not (all(found) if each else any(found)):
                fail(f"a fault of {kind} isn't found")
        for wrong in ("edges:1", "edge", "edge:0"):
            result = subprocess.run(
                [self.programs["mlp"], "train", "--data", self.folder], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=self.environment(fault=wrong))
            expect_equal((result.returncode, "expected FAULT:N" in result.stdout),
                         (2, True), f"{wrong}: {result.stdout!r}")


if __name__ == "__main__":
    Faults().check()
