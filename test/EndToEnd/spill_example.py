#!/usr/bin/env python3
"""Runs the commands of examples/spill/README.md on a few samples, and checks its statements
about the job's budgets. Needs only Python's standard library."""

import argparse
import json
import pathlib

from harness import expect_equal, fail, read_least_budget, run
from ranks_example import ROOT, STEPS, run_readme

EXAMPLE = ROOT / "examples/spill"
BUDGET = 24 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    # The checkpoint after an epoch has another step than in the README, as the test has
    # fewer samples.
    outputs = run_readme("spill", options.hftac, folder,
                         ("step-00000234", f"step-{STEPS:08d}"))
    expect_equal(len(outputs), 3, "blocks of commands")
    for name, moves in (("sweep", True), ("whole", False)):
        measured = json.loads(run(folder / name, "bench", "--json", "--steps", 1,
                                  cwd=folder))
        expect_equal(measured.get("store_read_bytes", 0) > 0, moves,
                     f"{name} reads from a file")
        expect_equal(measured["peak_bytes"] <= BUDGET, moves,
                     f"{name} keeps to {BUDGET} bytes")
    refused = run(options.hftac, EXAMPLE / "sweep.hfta", "-o", folder / "none",
                  "--memory=device = 24MiB, spill = none", code=3)
    if read_least_budget(refused) < 4 * BUDGET:
        fail(f"unspilled, hftac says {refused!r}")



if __name__ == "__main__":
    main()
