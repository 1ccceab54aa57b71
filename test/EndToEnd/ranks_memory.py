#!/usr/bin/env python3
"""Tests that a rank has no more anonymous memory than the peak that `bench` plans for it,
plus 40 MiB for MPI, the program's own memory and messages in flight, and that each rank
needs less if there are more ranks."""

import argparse
import json
import pathlib
import time

from harness import fail
from mpirun import Ranks, find_rank, run_ranks
from network_run import NetworkFolder

ALLOWANCE = 40 << 20
REPLICAS, BATCH, STEPS = 4, 256, 4


def anonymous_bytes(process):
    try:
        with open(f"/proc/{process}/status") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0  # The process has ended.


def watch(binary, count, data):
    """Trains on `count` ranks and returns a dictionary from each rank to the largest number
    of bytes of anonymous memory that was observed."""
    ranks = Ranks(count, binary, "train", "--data", data, "--no-progress",
                  "--threads", 4)
    processes, most = {}, dict.fromkeys(range(count), 0)
    while ranks.process.poll() is None:
        for rank in range(count):
            if not processes.get(rank):
                processes[rank] = find_rank(binary, rank)
            else:
                most[rank] = max(most[rank], anonymous_bytes(processes[rank]))
        time.sleep(0.005)
    ranks.finish()
    return most


def expect_planned(name, most, planned):
    """Compares the bytes that each rank has had with those that are planned for it."""
    print(f"{name}: planned {planned}, had {most}", flush=True)
    for rank, had in most.items():
        if had > planned[rank] + ALLOWANCE:
            fail(f"{name}: rank {rank} takes more memory than planned")
        # If the measurement didn't work, it would give too small a number.
        if had < planned[rank] / 2:
            fail(f"{name}: rank {rank} takes less than half of what is planned")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    check = NetworkFolder(options.hftac, "resnet18", options.work, samples=BATCH)
    binary = check.compile("ranks", "f32", steps=STEPS, batch=BATCH, clauses=[
        "micro_batches 8, all_forwards_first = true",
        f"pipeline replicas = [{REPLICAS}]"])
    peaks = []
    for count in (1, 2, 4):
        output = run_ranks(count, binary, "bench", "--json", "--steps", 1,
                           "--threads", 4)
        planned = json.loads(output)["peak_bytes"]
        most = watch(binary, count, check.work)
        expect_planned(f"{count} ranks", most, dict.fromkeys(most, planned))
        peaks.append(planned)
    # The planned peaks must decrease with the number of ranks.
    if peaks[0] < peaks[2] + ALLOWANCE or not peaks[0] > peaks[1] > peaks[2]:
        fail(f"planned peaks {peaks}")


if __name__ == "__main__":
    main()
