#!/usr/bin/env python3
"""How many kernels a step of the networks' copies launches on a GPU, where each costs
time whatever it computes. Needs only Python's standard library."""

import argparse
import pathlib
import re

from harness import fail, run
from network_run import NetworkFolder, networks

MOST = {"resnet18": 240, "pointnet_cls": 150, "mobilenetv3_large": 600,
        "transformer_lm": 210, "bert_medium": 235}
STEP = {"forward", "backward", "statistics", "update"}


def count_launches(hftac, name, work):
    """By --plan, whose rows have a task's kernels behind its name."""
    folder = NetworkFolder(hftac, name, work / name)
    job = folder.work / f"{name}.hfta"
    job.write_text(networks.make_job(name, str(folder.model.absolute()), "f32"))
    text = run(hftac, job, "--data", folder.work, "--target=cuda", "--plan")
    rows = re.findall(r"^  (\w+)(?:\.\d+)? +(\d+)(?: +\d+){4}", text, re.MULTILINE)
    found = {task: int(kernels) for task, kernels in rows if task in STEP}
    if not {"forward", "backward", "update"} <= found.keys():
        fail(f"{name}: no kernels of a step in what --plan prints:\n{text}")
    return sum(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name, most in MOST.items():
        launches = count_launches(options.hftac, name, options.work)
        print(f"{name}: {launches} of {most}")
        if launches > most:
            fail(f"{name}: a step launches {launches} kernels, expected at most {most}")


if __name__ == "__main__":
    main()
