#!/usr/bin/env python3
"""Runs the commands of examples/fleet/README.md on a few samples. Needs only Python's
standard library."""

import argparse
import json
import pathlib

from harness import expect_equal, fail
from ranks_example import run_readme

JOBS = ["rates", "deep", "small"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    info, trained, again, simulated = run_readme("fleet", options.hftac, options.work)
    lines = [line.split() for line in info.splitlines()]
    expect_equal([line[0] for line in lines if line and line[0] in JOBS], JOBS, "lines of info")
    expect_equal([line[0] for line in lines if line and line[-1] == "spills"], ["deep"],
                 "who spills")
    if not any(line and line[0] == "lrtf" for line in lines):
        fail(f"no forecast: {info}")
    for text in trained, again:
        expect_equal(sorted(line for line in text.splitlines() if line in JOBS), sorted(JOBS),
                     "tables")
    expect_equal(again.splitlines()[-1], "equal", "trained one after the other")
    expect_equal(simulated.count("lower bound"), 2, "simulations")
    events = json.loads((options.work / "trace.json").read_text())["traceEvents"]
    expect_equal({event["name"] for event in events if event["ph"] == "X"}, set(JOBS),
                 "who sat at seats")


if __name__ == "__main__":
    main()
