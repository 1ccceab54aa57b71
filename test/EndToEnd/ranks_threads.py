#!/usr/bin/env python3
"""Trains a network with batch norm on one rank and on three, two stages with three workers,
of which several share a process, and two stages of two chunks each; the bytes must be
equal. scripts/check-threads uses these programs to look for data races."""

import ranks
from harness import expect_same_checkpoint


def check_stages(check):
    for name, clauses in (
            ("stages", 'micro_batches 6, groups = 3\n'
                       '  pipeline cuts = ["pool1"], replicas = [2, 1]'),
            ("chunks", 'micro_batches 6\n  pipeline cuts = ["conv1", "pool1", "pool2"], '
                       "order = v_shape\n  recompute all")):
        binary = check.work.compile(name, ranks.make_job(
            "cnn", f"{clauses}\n  clip_norm 0.5"))
        alone = check.train(binary, 1, f"{name}-1", "--threads", 2)
        expect_same_checkpoint(check.train(binary, 2, f"{name}-2", "--threads", 2),
                               alone, f"{name} on two ranks", ranks.COPIES)


def main():
    check = ranks.Check()
    # The small buckets and the cuts let gradients be summed during the backward.
    binary = check.work.compile("threads", ranks.make_job(
        "cnn", "micro_batches 6, groups = 3\n  clip_norm 0.5\n"
               "  pipeline replicas = [3], bucket = 8KiB"), "--cuts=pool1,pool2")
    alone = check.train(binary, 1, "threads-1", "--threads", 2)
    expect_same_checkpoint(check.train(binary, 3, "threads-3", "--threads", 2), alone,
                           "three ranks", ranks.COPIES)
    check_stages(check)


if __name__ == "__main__":
    main()
