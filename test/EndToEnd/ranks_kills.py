#!/usr/bin/env python3
"""Kills a rank at random times. All other ranks must end and leave nothing behind, and
another number of ranks must resume to the bytes of a training that was never stopped.

    ranks_kills.py --hftac HFTAC --work DIR [--count N] [--seed K] [--cuts NAMES]
                   [--replicas R,R...] [--precondition TEXT]

With --cuts (names joined by commas), each stage has only a part of the training's state;
--replicas gives the numbers of workers of the stages, by default one each; there are four
in all. With --precondition, each worker may have only a part of the preconditioner's state.
"""

import argparse
import os
import random
import re
import shutil
import signal
import sys
import time

from harness import Work, checkpoint, expect_same_checkpoint, fail
from mpirun import LIMIT, Ranks, find_rank, run_ranks
from ranks import COPIES, make_job

STEPS, WORKERS = 240, 4
# The seconds within which the launcher must end the other ranks.
GRACE = 10


def wait_for_rank(ranks, binary, rank):
    begin = time.monotonic()
    while ranks.process.poll() is None and time.monotonic() - begin < LIMIT:
        process = find_rank(binary, rank)
        if process:
            return process
        time.sleep(0.005)
    return fail(f"no rank {rank}: {ranks.finish()}")


def find_shared_memory(process):
    """Returns the names of the files in shared memory that a process has mapped."""
    try:
        with open(f"/proc/{process}/maps") as file:
            return set(re.findall(r"/dev/shm/\S+", file.read()))
    except OSError:
        return set()


class Kills:
    def __init__(self, work, choices, cuts, replicas, preconditioner):
        self.work, self.choices = work, choices
        pipeline = f"pipeline replicas = [{WORKERS}]"
        if cuts:
            names = ", ".join(f'"{name}"' for name in cuts.split(","))
            pipeline = f"pipeline cuts = [{names}]"
            pipeline += f", replicas = [{replicas}]" if replicas else ""
        if preconditioner:
            pipeline += f"\n  precondition {preconditioner}"
        self.binary = work.compile("killed", make_job(
            "cnn", f"micro_batches 8\n  {pipeline}", STEPS))
        begin = time.monotonic()
        self.expected = checkpoint(self.train("never-stopped", WORKERS), STEPS)
        self.seconds = time.monotonic() - begin

    def command(self, name, *flags):
        folder = self.work.folder / name
        return folder, [self.binary, "train", "--data", self.work.folder, "--every", 9,
                        "--checkpoint", folder, "--keep", 2, "--no-progress", *flags]

    def train(self, name, ranks, *flags):
        folder, command = self.command(name, *flags)
        run_ranks(ranks, *command)
        return folder

    def kill(self, number):
        count = self.choices.randint(2, WORKERS)
        victim = self.choices.randrange(count)
        delay = self.choices.uniform(0, self.seconds)
        name = f"killed-{number}"
        what = f"{name}: rank {victim} of {count} after {delay:.2f} s"
        _, command = self.command(name)
        ranks = Ranks(count, *command)
        process = wait_for_rank(ranks, self.binary, victim)
        time.sleep(delay)
        shared = set()
        for rank in range(count):
            other = find_rank(self.binary, rank)
            shared |= find_shared_memory(other) if other else set()
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass  # The process has already ended.
        begin = time.monotonic()
        ranks.finish(128 + signal.SIGKILL, 0)
        if time.monotonic() - begin > GRACE:
            fail(f"{what}: mpirun has taken more than {GRACE} s to end")
        left = [rank for rank in range(count) if find_rank(self.binary, rank)]
        files = ranks.left + [path for path in shared if os.path.exists(path)]
        if left or files:
            fail(f"{what}: left ranks {left}, files {files}")
        self.resume(name, what, count)

    def resume(self, name, what, count):
        others = [ranks for ranks in range(1, WORKERS + 1) if ranks != count]
        folder = self.train(name, self.choices.choice(others), "--resume")
        strange = [path.name for path in folder.iterdir()
                   if not re.fullmatch(r"step-\d{8}", path.name)]
        if strange:
            fail(f"{what}: left {strange}")
        expect_same_checkpoint(checkpoint(folder, STEPS), self.expected, what, COPIES)
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts")
    parser.add_argument("--replicas")
    parser.add_argument("--precondition")
    options, sys.argv[1:] = parser.parse_known_args()
    kills = Kills(Work(__doc__, "cnn"), random.Random(options.seed),
                  options.cuts, options.replicas, options.precondition)
    for number in range(options.count):
        kills.kill(number)


if __name__ == "__main__":
    main()
