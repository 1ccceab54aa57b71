#!/usr/bin/env python3
"""Trains four copies of a network with dropout for five steps, and compares the checkpoints
byte by byte: fused, not fused, and the last copy in a binary of its own, with several
numbers of threads. Needs only Python's standard library."""

from harness import checkpoint, copy_file, expect_same_file, fail
from network_run import NetworkRun, networks

STEPS = 5


class Check(NetworkRun):
    def __init__(self):
        super().__init__(__doc__)
        network = networks.NETWORKS[self.name]
        self.rates = networks.RATES[network.optimizer]
        self.dropout = 0.25 if network.has_dropout else None

    def folder(self, name, threads, *flags, rates=None):
        """Compiles and trains a job, and returns the folder of its last checkpoint."""
        binary = self.compile(name, "f32", *flags, steps=STEPS,
                              rates=rates or self.rates, dropout=self.dropout)
        return self.checkpoint(binary, threads)

    def checkpoint(self, binary, threads):
        folder = self.work / f"{binary.name}-{threads}"
        self.train(binary, "--threads", threads, "--checkpoint", folder)
        return checkpoint(folder, STEPS)


def main():
    check = Check()
    array = check.folder("array", 2)
    others = [("with 1 thread", check.checkpoint(check.work / "array", 1)),
              ("not fused", check.folder("unfused", 2, "--no-fuse"))]
    for what, other in others:
        for copy in range(len(check.rates)):
            expect_same_file(copy_file(array, copy), copy_file(other, copy),
                             f"copy {copy} {what}")
    last = len(check.rates) - 1
    alone = check.folder("alone", 3, rates=check.rates[last:])
    expect_same_file(copy_file(array, last), copy_file(alone, 0),
                     f"copy {last} alone")
    if copy_file(array, 0).read_bytes() == copy_file(array, 1).read_bytes():
        fail("copies 0 and 1 are equal: nothing was trained?")


if __name__ == "__main__":
    main()
