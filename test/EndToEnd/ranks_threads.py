#!/usr/bin/env python3
"""A network with batch norm trains on three ranks to the bytes of one, and so do two
stages of three workers, several of which share a process: programs for
scripts/check-threads to look for data races in."""

import ranks
from harness import expect_same_checkpoint


def check_stages(check):
    binary = check.work.compile("stages", ranks.make_job(
        "cnn", "micro_batches 6, groups = 3\n  clip_norm 0.5\n"
               '  pipeline cuts = ["pool1"], replicas = [2, 1]'))
    alone = check.train(binary, 1, "stages-1", "--threads", 2)
    expect_same_checkpoint(check.train(binary, 2, "stages-2", "--threads", 2), alone,
                           "stages on two ranks", ranks.COPIES)


def main():
    check = ranks.Check()
    # Gradients are added up under the backward.
    binary = check.work.compile("threads", ranks.make_job(
        "cnn", "micro_batches 6, groups = 3\n  clip_norm 0.5\n"
               "  pipeline replicas = [3], bucket = 8KiB"), "--cuts=pool1,pool2")
    alone = check.train(binary, 1, "threads-1", "--threads", 2)
    expect_same_checkpoint(check.train(binary, 3, "threads-3", "--threads", 2), alone,
                           "three ranks", ranks.COPIES)
    check_stages(check)


if __name__ == "__main__":
    main()
