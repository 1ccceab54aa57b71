#!/usr/bin/env python3
"""Checks how many kernels a training step of the test networks launches on a GPU, where
each launch costs time, and how many bytes these kernels move. Needs only Python's standard
library."""

import argparse
import pathlib
import re

from harness import fail, run
from network_run import NetworkFolder, networks

# Limits for each network: the number of launches of a step on a GPU, and the bytes moved by
# the forward and backward pass.
MOST = {"resnet18": (195, 19_450_000), "pointnet_cls": (110, 94_700_000),
        "mobilenetv3_large": (490, 95_370_000), "transformer_lm": (100, 62_560_000),
        "bert_medium": (130, 67_820_000)}
STEP = {"forward", "backward", "statistics", "update"}


def measure(hftac, name, folder, job):
    """Returns the number of launches of a step, and the bytes that forward and backward move,
    from the output of --plan. A row of that output has a task's name, its number of kernels,
    flops, bytes read and bytes written."""
    text = run(hftac, job, "--data", folder.work, "--target=cuda", "--plan")
    rows = re.findall(r"^  (\w+)(?:\.\d+)? +(\d+) +\d+ +(\d+) +(\d+)(?: +\d+){2}", text,
                      re.MULTILINE)
    found = {row[0]: [int(number) for number in row[1:]] for row in rows if row[0] in STEP}
    if not {"forward", "backward", "update"} <= found.keys():
        fail(f"{name}: no kernels of a step in what --plan prints:\n{text}")
    moved = sum(sum(found[task][1:]) for task in ("forward", "backward"))
    return sum(numbers[0] for numbers in found.values()), moved


def check(hftac, name, work):
    folder = NetworkFolder(hftac, name, work / name)
    job = folder.work / f"{name}.hfta"
    job.write_text(networks.make_job(name, str(folder.model.absolute()), "f32"))
    launches, moved = measure(hftac, name, folder, job)
    most, most_moved = MOST[name]
    print(f"{name}: {launches} of {most} launches, {moved} of {most_moved} bytes")
    if launches > most:
        fail(f"{name}: a step launches {launches} kernels, expected at most {most}")
    if moved > most_moved:
        fail(f"{name}: a step moves {moved} bytes, expected at most {most_moved}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name in MOST:
        check(options.hftac, name, options.work)


if __name__ == "__main__":
    main()
