#!/usr/bin/env python3
"""Runs the commands of examples/search/README.md on a few samples, and checks its
statements. Needs only Python's standard library."""

import argparse
import json
import pathlib

from harness import expect_equal, fail, run
from ranks_example import ROOT, run_readme

EXAMPLE = ROOT / "examples/search"
EQUAL = "scores equal those of the search; state equal, byte for byte"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    outputs = run_readme("search", options.hftac, folder, ("INT 60", "INT 2"))
    expect_equal(len(outputs), 7, "blocks of commands")
    text = (EXAMPLE / "README.md").read_text()
    [line] = [line for line in outputs[0].splitlines() if ": search: " in line]
    if line not in text.replace("\n    at most", " at most"):
        fail(f"the README doesn't say what hftac does: {line}")
    told = json.loads((folder / "trials.json").read_text())
    expect_equal(told["over"], True, "whether the search is over")
    expect_equal(sum(trial["epochs"] for trial in told["trials"]), 63, "epochs")
    expect_equal(len(outputs[3].splitlines()), 28, "lines of the table")
    best = told["trials"][0]["trial"]
    for output in (outputs[2], outputs[4]):
        if f"trial {best}" not in output.splitlines()[-1]:
            fail(f"trial {best} is the best one, got {output:.3000}")
    if EQUAL not in outputs[5] or EQUAL not in " ".join(text.split()):
        fail(f"trial 0 alone: {outputs[5]}")
    run(folder / "full", "info", cwd=folder)


if __name__ == "__main__":
    main()
