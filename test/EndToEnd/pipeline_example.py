#!/usr/bin/env python3
"""Runs the commands of examples/pipeline/README.md on a few samples. Needs Open MPI's
mpirun, and only Python's standard library."""

import argparse
import pathlib

from harness import expect_equal
from ranks_example import STEPS, run_readme


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    # The checkpoint after two epochs has another step than in the README, as the test has
    # fewer samples.
    outputs = run_readme("pipeline", options.hftac, folder,
                         ("step-00000468", f"step-{2 * STEPS:08d}"))
    expect_equal(len(outputs), 4, "blocks of commands")
    expect_equal((folder / "trace.json").read_text().count('"process_name"'), 4,
                 "processes in the trace")


if __name__ == "__main__":
    main()
