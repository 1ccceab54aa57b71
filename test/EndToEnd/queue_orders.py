#!/usr/bin/env python3
"""Trains copies of a network on devices that execute the commands of their queues in other
orders that their events allow, and compares the checkpoints byte by byte. Needs only
Python's standard library and a C compiler."""

from harness import checkpoint, copy_file, expect_same_file, fail
from network_run import NetworkRun, networks

STEPS = 3
# Transfers to the device are executed as late as possible, as early as possible, and in two
# random orders; see TestDevices.c.
DEVICES = ["shuffled:0", "shuffled:1", "shuffled:2", "shuffled:3"]


def main():
    check = NetworkRun(__doc__)
    network = networks.NETWORKS[check.name]
    rates = networks.RATES[network.optimizer]

    def train(binary, device):
        folder = check.work / f"{binary.name}-{device.replace(':', '-')}"
        check.train(binary, "--device", device, "--checkpoint", folder)
        return checkpoint(folder, STEPS)

    for job, flags in (("whole", ()), ("parts", ("--micro-batches=4",))):
        binary = check.compile(job, "f32", *flags, steps=STEPS, rates=rates,
                               dropout=0.25 if network.has_dropout else None)
        ordinary = train(binary, "cpu")
        for device in DEVICES:
            shuffled = train(binary, device)
            for copy in range(len(rates)):
                expect_same_file(copy_file(ordinary, copy),
                                 copy_file(shuffled, copy),
                                 f"{job}: copy {copy} on {device}")
        if (copy_file(ordinary, 0).read_bytes()
                == copy_file(ordinary, 1).read_bytes()):
            fail("copies 0 and 1 are equal: nothing was trained?")


if __name__ == "__main__":
    main()
