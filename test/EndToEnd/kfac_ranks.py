#!/usr/bin/env python3
"""Tests a preconditioned sweep of 2 or 4 replicas that share K-FAC's work. On any number of
ranks it must get the same bytes, factors and inverses too, as one rank with as many
groups; also when resumed on another number of ranks, and with plans in which consecutive
factors have different owners, or all factors are summed at once. With `placement = local`,
where factors come from one group's samples, the bytes must follow from the groups alone.
Needs only Python's standard library and an MPI launcher.

    kfac_ranks.py --hftac HFTAC --work DIR [--part two|four|local|sampled]
"""

import argparse
import re
import sys

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint, read_log,
                     run)
from kfac import COPIES, STEPS, make
from kfac_plans import compile_forced, join_buckets
from mpirun import run_ranks

# The step after which a training is stopped, to be resumed later.
STOPPED = 5


def write_job(kind, method, replicas, placement, parts="micro_batches 4",
              pipeline=""):
    text = make(kind, COPIES,
                f"  {parts}\n  pipeline replicas = [{replicas}]{pipeline}", method)
    return text.replace("kfac(", f"kfac(placement = {placement}, ")


class Check:
    """Compares programs of one job with `alone`, a program of one replica; by default, the
    one with as many groups as replicas, which sums the moments of all groups."""

    def __init__(self, work, kind, method, replicas, alone=None):
        self.work, self.kind, self.method = work, kind, method
        self.replicas = replicas
        self.name = f"{kind}-{method}-{replicas}"
        alone = alone or work.compile(
            f"{self.name}-groups",
            make(kind, COPIES, f"  micro_batches 4, groups = {replicas}", method))
        self.expected = self.train(alone, alone.name, 1)

    def train(self, binary, name, ranks, *flags):
        """Trains, and returns the folder of the checkpoints and the step and curvature
        events of the log."""
        folder = self.work.folder / f"{self.name}-{name}-on-{ranks}"
        log = self.work.folder / f"{self.name}-{name}-on-{ranks}.jsonl"
        command = [binary, "train", "--data", self.work.folder, "--checkpoint", folder,
                   "--log", log, "--log-every", 1, "--no-progress", *flags]
        run_ranks(ranks, *command) if ranks > 1 else run(*command)
        steps = [event for event in read_log(log)
                 if event["event"] in ("step", "curvature")]
        return folder, steps

    def expect_same(self, binary, name, ranks, expected):
        folder, steps = self.train(binary, name, ranks)
        expect_same_checkpoint(checkpoint(folder, STEPS),
                               checkpoint(expected[0], STEPS),
                               f"{self.name}, {name}, {ranks} ranks")
        expect_equal(steps, expected[1], f"{self.name}, {name}, {ranks} ranks: log")

    def check(self, placement, counts, groups=None):
        name = re.sub(r"\W+", "-", placement)
        parts = f"micro_batches 4, groups = {groups or self.replicas}"
        binary = self.work.compile(
            f"{self.name}-{name}",
            write_job(self.kind, self.method, self.replicas, placement, parts))
        for ranks in counts:
            self.expect_same(binary, name, ranks, self.expected)
        return binary

    def check_resumed(self, binary, before, after):
        """Stops a training on `before` ranks, resumes it on `after` ranks, and compares the
        result."""
        name = f"resumed-{before}-{after}"
        folder, _ = self.train(binary, name, before, "--steps", STOPPED)
        command = [binary, "train", "--data", self.work.folder, "--checkpoint", folder,
                   "--no-progress", "--resume"]
        run_ranks(after, *command)
        expect_same_checkpoint(checkpoint(folder, STEPS),
                               checkpoint(self.expected[0], STEPS),
                               f"{self.name}, resumed on {after} of {before} ranks")

    def force(self, placement, counts, pipeline="", **lists):
        """Compares a program whose plan has other lists; see compile_forced."""
        name = "-".join(["forced", re.sub(r"\W+", "-", placement), *lists])
        job = self.work.write_job(
            f"{self.name}-{name}",
            write_job(self.kind, self.method, self.replicas, placement,
                      pipeline=pipeline))
        binary = compile_forced(self.work.hftac, job, self.work.folder /
                                f"{self.name}-{name}", "--data", self.work.folder,
                                **lists)
        for ranks in counts:
            self.expect_same(binary, name, ranks, self.expected)


def check_two(work):
    for kind, method in (("mlp", "eigen"), ("cnn", "cholesky")):
        check = Check(work, kind, method, 2)
        check.check("auto", [1, 2])
        check.check("fraction(1 / 2)", [1, 2])
        check.force("balanced", [1, 2])
        check.force("balanced", [2], ", bucket = 1KiB", buckets=join_buckets)


def check_four(work):
    for kind, method in (("mlp", "cholesky"), ("cnn", "eigen")):
        check = Check(work, kind, method, 4)
        check.check("balanced", [2, 4])
        check.check("fraction(0.25)", [1, 4])
        binary = check.check("fraction(0.5)", [1, 2, 3, 4])
        check.check_resumed(binary, 4, 3)
        check.force("balanced", [3, 4])
        check.force("fraction(0.5)", [2, 4])


def check_local(work):
    """Tests factors of one group's samples, where several replicas share a group or one
    replica has several groups."""
    for kind, method in (("mlp", "cholesky"), ("cnn", "eigen")):
        groups = make(kind, COPIES, "  micro_batches 4, groups = 4", method)
        alone = work.compile(f"{kind}-local",
                             groups.replace("kfac(", "kfac(placement = local, "))
        for replicas in (2, 4):
            check = Check(work, kind, method, replicas, alone)
            binary = check.check("local", range(1, replicas + 1), groups=4)
        check.check_resumed(binary, 3, 2)
        unfused = work.compile(f"{kind}-local-unfused", write_job(
            kind, method, 4, "local"), "--no-fuse")
        check.expect_same(unfused, "unfused", 4, check.expected)


def check_sampled(work):
    """Tests sampled targets, which depend on the sample's position in the whole batch."""
    for kind in ("mlp", "cnn"):
        check = Check(work, kind, "sampled", 4)
        check.check("balanced", [1, 3])
        binary = check.check("fraction(0.5)", [2, 4])
        check.check_resumed(binary, 4, 3)
        check.force("balanced", [4])


PARTS = {"two": check_two, "four": check_four, "local": check_local,
         "sampled": check_sampled}


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--part", choices=PARTS)
    options, sys.argv[1:] = parser.parse_known_args()
    work = Work(__doc__, "cnn", "mlp")
    for part in [options.part] if options.part else PARTS:
        PARTS[part](work)


if __name__ == "__main__":
    main()
