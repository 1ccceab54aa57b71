#!/usr/bin/env python3
"""Tests that a rank with a stage has no more anonymous memory than is planned for it, plus
40 MiB as in ranks_memory.py. The first of two stages must need less memory in the order
one_f_one_b, which has fewer micro-batches in flight, than in all_forwards_first."""

import argparse
import json
import pathlib

from harness import fail
from mpirun import run_ranks
from network_run import NetworkFolder
from ranks_memory import expect_planned, watch

BATCH, STEPS, MICRO_BATCHES = 256, 4, 8
# The value at which the model is cut, in its middle.
CUT = "/layers.0/norm2/LayerNormalization"
# The largest accepted ratio of the first stage's planned peaks: that of one_f_one_b divided
# by that of all_forwards_first.
MOST = 0.88


def measure(check, order):
    """Trains on two ranks, checks their memory, and returns the bytes planned for rank
    0."""
    binary = check.compile(order, "f32", steps=STEPS, batch=BATCH, clauses=[
        f"micro_batches {MICRO_BATCHES}", f'pipeline cuts = ["{CUT}"], order = {order}'])
    output = run_ranks(2, binary, "bench", "--json", "--phases", "--steps", 1,
                       "--threads", 4)
    planned = {rank["rank"]: rank["peak_bytes"]
               for rank in json.loads(output)["rank_times"]}
    most = watch(binary, 2, check.work)
    expect_planned(order, most, planned)
    return planned[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    check = NetworkFolder(options.hftac, "bert_medium", options.work, samples=BATCH)
    peaks = [measure(check, order) for order in ("all_forwards_first", "one_f_one_b")]
    if peaks[1] > MOST * peaks[0]:
        fail(f"rank 0's planned peaks {peaks}")


if __name__ == "__main__":
    main()
