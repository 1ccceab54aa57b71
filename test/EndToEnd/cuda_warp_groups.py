#!/usr/bin/env python3
"""Tests programs with GPU kernels that use warp-group instructions. On an H100 they must
train to the same bytes as programs without these instructions, with and without fusion;
other chips must run the kernels that were compiled for them. Needs only Python's standard
library."""

import shutil
import subprocess

import cuda_work
from cuda_work import CudaWork
from harness import copy_file, checkpoint, expect_equal, fail, run

STEPS, COPIES = 1, 2
cuda_work.STEPS = STEPS
HOPPER = {"device": "sm_90"}


class WarpGroups(CudaWork):
    copied = 0

    def compile(self, name, job, *flags, chips):
        return super().compile(name, job, *flags, chips=chips,
                               rates=cuda_work.RATES[:COPIES])

    def expect_same(self, mine, theirs, what):
        self.expect_bytes(mine, theirs, what, COPIES)

    def count_products(self, job, precision, chip):
        """Returns the number of kernels for `chip` that multiply by warp groups, and the
        number of kernels with a producer warp."""
        text = self.folder / f"{job}.{chip}.ptx"
        run(self.work.options.hftac, self.folder / f"{job}-gpu.hfta", "--target=cuda",
            f"--chip={chip}", f"--precision={precision}", "--emit=ptx", "-o", text)
        kernels = text.read_text().split(".entry ")[1:]
        return [sum(name in kernel for kernel in kernels)
                for name in ("wgmma.mma_async", "cp.async.bulk.tensor")]

    def check(self, job, precision):
        flag, what = f"--precision={precision}", f"{job}, {precision}"
        plain = self.compile(job, job, flag, chips="sm_90")
        expected = self.train(plain, f"{what}-plain", **HOPPER)
        both = self.compile(f"{job}-both", job, flag, chips="sm_80,sm_90,sm_90a")
        self.expect_same(self.train(both, f"{what}-both", seed=1, **HOPPER), expected,
                         f"{what} by warp groups")
        found, copied = self.count_products(job, precision, "sm_90a")
        print(f"{what}: {found} kernels with products of warp groups, {copied} with copies "
              "of a warp")
        if found < 3:
            fail(f"{what}: expected three kernels of warp groups at least, got {found}")
        self.copied += copied
        expect_equal(self.count_products(job, precision, "sm_90"), [0, 0],
                     f"kernels of warp groups for sm_90, {what}")
        return both, expected

    def check_apart(self, job, expected):
        apart = self.compile(f"{job}-apart", job, "--precision=bf16", "--no-fuse",
                             chips="sm_90a")
        self.expect_same(self.train(apart, f"{job}-apart", seed=2, **HOPPER), expected,
                         f"{job} by warp groups, without fusion")

    def check_other_chips(self, both, job):
        """Tests that an A100, whose order of summation differs, gives the same bytes with
        the program for several chips as with a program for it alone."""
        alone = self.compile(f"{job}-80", job, "--precision=bf16", chips="sm_80")
        self.expect_same(self.train(both, "sm_80-both", device="sm_80"),
                         self.train(alone, "sm_80-alone", device="sm_80"),
                         f"{job} on an A100")

    def check_fault(self, both, expected, fault):
        """Checks that training with a planted fault fails or writes other bytes, for one of
        three seeds. A thread that doesn't wait for a step's products lets the next copies
        overwrite their operands; one that doesn't wait for a step's copies reads old
        values."""
        folder = self.folder / "faulty"
        for seed in range(1, 4):
            shutil.rmtree(folder, ignore_errors=True)
            result = subprocess.run(
                [both, "train", "--data", self.folder, "--checkpoint", folder,
                 "--no-progress"], text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self.environment(fault=fault, seed=seed, **HOPPER))
            if result.returncode or any(
                    copy_file(checkpoint(folder, STEPS), copy).read_bytes() !=
                    copy_file(checkpoint(expected, STEPS), copy).read_bytes()
                    for copy in range(COPIES)):
                print(f"{fault}: found by seed {seed}")
                return
        fail(f"{fault} isn't found")


def main():
    work = WarpGroups(__doc__)
    both, expected = work.check("tall", "bf16")
    work.check_apart("tall", expected)
    work.check_other_chips(both, "tall")
    both, expected = work.check("pixels", "bf16")
    for fault in ("products:2", "async:2"):
        work.check_fault(both, expected, fault)
    work.expect_failures(both, ["cuFuncSetAttribute", "cuTensorMapEncodeTiled"], **HOPPER)
    work.check("tall", "f16")
    work.check("tall", "tf32")
    if work.copied < 10:
        fail(f"expected ten kernels with copies of a warp at least, got {work.copied}")


if __name__ == "__main__":
    main()
