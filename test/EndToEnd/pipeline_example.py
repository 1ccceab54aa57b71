#!/usr/bin/env python3
"""Runs the commands of examples/pipeline/README.md on few samples. Needs Open MPI's
mpirun, and only Python's standard library."""

import argparse
import pathlib
import re

from harness import expect_equal
from ranks_example import DATA, ROOT, STEPS, run_block, write_data

EXAMPLE = ROOT / "examples/pipeline"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    data = folder / "data"
    write_data(data)
    text = (EXAMPLE / "README.md").read_text()
    outputs = []
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        for old, new in [("build/bin/hftac", options.hftac),
                         ("examples/pipeline", str(EXAMPLE)), (DATA, str(data)),
                         # Two epochs of the test's samples.
                         ("step-00000468", f"step-{2 * STEPS:08d}")]:
            block = block.replace(old, new)
        outputs.append(run_block(block, folder))
    expect_equal(len(outputs), 4, "blocks of commands")
    expect_equal((folder / "trace.json").read_text().count('"process_name"'), 4,
                 "processes in the trace")


if __name__ == "__main__":
    main()
