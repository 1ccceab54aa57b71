#!/usr/bin/env python3
"""Tests copies that stop: of eight, three stop after step 4 and two more after step 8. The
others must train to the same bytes as if all went on, and the stopped ones must keep their
values. This is tested with one model, with micro-batches, without fusion, and with models
that differ in part. Needs only Python's standard library."""

import partial_fusion
from harness import (checkpoint, copy_file, expect_equal, expect_same_file,
                     read_safetensors)

COPIES = 8
# For each of these steps, the copies that are trained up to it.
LIVE = {4: range(COPIES), 8: (0, 2, 4, 6, 7), 14: (2, 6, 7)}
LAST = max(LIVE)
RATES = [1e-3 * (1 + copy) for copy in range(COPIES)]
ONE = ["resnet18"]
MANY = [partial_fusion.NAMES[copy % 3] for copy in range(COPIES)]


def main():
    check = partial_fusion.Check(__doc__)
    for name, models, flags in [("one", ONE, []),
                                ("parts", ONE, ["--micro-batches=2"]),
                                ("unfused", ONE, ["--no-fuse"]),
                                ("many", MANY, [])]:
        binary, _ = check.compile(name, models, RATES, *flags)

        def train(folder, steps, *options):
            folder = check.work / f"{name}-{folder}"
            check.train(binary, "--steps", steps, "--threads", 2, *options,
                        folder=folder)
            return folder

        together = train("together", LAST, "--every", 4)
        stopped = {}
        for step, live in LIVE.items():
            folder = train("leaving", step, "--resume", "--only",
                           ",".join(map(str, live)))
            for copy in range(COPIES):
                mine = copy_file(checkpoint(folder, step), copy)
                if copy in live:
                    expect_same_file(mine, copy_file(checkpoint(together, step), copy),
                                     f"{name}: copy {copy} after step {step}")
                    stopped[copy] = read_safetensors(mine)
                else:
                    expect_equal(read_safetensors(mine) == stopped[copy], True,
                                 f"{name}: copy {copy} as it stopped")


if __name__ == "__main__":
    main()
