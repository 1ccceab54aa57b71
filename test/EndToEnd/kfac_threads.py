#!/usr/bin/env python3
"""Trains preconditioned sweeps on three threads, with each method, and compares the bytes
with those of one thread; also on four ranks that share K-FAC's work, if there is an MPI
launcher. scripts/check-threads uses these programs to look for data races. Needs only
Python's standard library."""

import shutil

from harness import Work, checkpoint, expect_same_checkpoint
from kfac import COPIES, METHODS, STEPS, make
from kfac_ranks import Check


def check_threads(work, kind, method):
    binary = work.compile(f"{kind}-{method}",
                          make(kind, COPIES, "  micro_batches 2", method))
    alone = work.train(binary, "--threads", 1)
    alone = alone.rename(alone.with_name(f"{alone.name}-alone"))
    several = work.train(binary, "--threads", 3)
    expect_same_checkpoint(checkpoint(several, STEPS), checkpoint(alone, STEPS),
                           f"{kind}, {method}: three threads")


def main():
    work = Work(__doc__, "cnn", "mlp")
    for kind in ("cnn", "mlp"):
        for method in METHODS:
            check_threads(work, kind, method)
    if not shutil.which("mpirun"):
        return
    check = Check(work, "mlp", "cholesky", 4)
    for placement in ("balanced", "fraction(0.5)"):
        check.check(placement, [4])


if __name__ == "__main__":
    main()
