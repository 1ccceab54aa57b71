#!/usr/bin/env python3
"""Checks how many kernels a training step of the test networks launches on a GPU, where
each launch costs time, and how many bytes these kernels move compared with the CPU's
kernels, which find intermediate values in caches. Needs only Python's standard library."""

import argparse
import pathlib
import re

from harness import fail, run
from network_run import NetworkFolder, networks

# Limits for each network: the number of launches of a step on a GPU, and the bytes moved by
# the forward and backward pass on a GPU divided by those of a CPU that adds to gradients.
MOST = {"resnet18": (195, 0.673), "pointnet_cls": (110, 0.638),
        "mobilenetv3_large": (490, 0.718), "transformer_lm": (100, 0.7),
        "bert_medium": (130, 0.78)}
STEP = {"forward", "backward", "statistics", "update"}


def measure(hftac, name, folder, job, target):
    """Returns the number of launches of a step, the bytes that forward and backward move, and
    those of all gradients, from the output of --plan. A row of that output has a task's name,
    its number of kernels, flops, bytes read and bytes written."""
    text = run(hftac, job, "--data", folder.work, f"--target={target}", "--plan")
    rows = re.findall(r"^  (\w+)(?:\.\d+)? +(\d+) +\d+ +(\d+) +(\d+)(?: +\d+){2}", text,
                      re.MULTILINE)
    found = {row[0]: [int(number) for number in row[1:]] for row in rows if row[0] in STEP}
    if not {"forward", "backward", "update"} <= found.keys():
        fail(f"{name}: no kernels of a step in what --plan prints:\n{text}")
    moved = sum(sum(found[task][1:]) for task in ("forward", "backward"))
    gradients = re.search(r"^  gradient +(\d+)", text, re.MULTILINE)
    return sum(numbers[0] for numbers in found.values()), moved, int(gradients[1])


def check(hftac, name, work):
    folder = NetworkFolder(hftac, name, work / name)
    job = folder.work / f"{name}.hfta"
    job.write_text(networks.make_job(name, str(folder.model.absolute()), "f32"))
    launches, moved, _ = measure(hftac, name, folder, job, "cuda")
    # The backward of a single micro-batch stores gradients. To add to them, it would read
    # them, too.
    ratio = moved / sum(measure(hftac, name, folder, job, "cpu")[1:])
    most, most_moved = MOST[name]
    print(f"{name}: {launches} of {most} launches, {ratio:.3f} of {most_moved} of the bytes")
    if launches > most:
        fail(f"{name}: a step launches {launches} kernels, expected at most {most}")
    if ratio > most_moved:
        fail(f"{name}: a step moves {ratio:.3f} times the CPU's bytes, expected at most "
             f"{most_moved}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name in MOST:
        check(options.hftac, name, options.work)


if __name__ == "__main__":
    main()
