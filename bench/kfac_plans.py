#!/usr/bin/env python3
"""Compares the times of published runs of distributed K-FAC with those that the planner's
simulation predicts for them, and with those of its own plans at the same costs.

    bench/kfac_plans.py [--tool build/bin/kfac-plans]

The runs are those of SPD-KFAC's paper (ICDCS 2021): a step of each of three algorithms on
64 GPUs. "ours" is our plan with broadcasts after all inversions, as in the paper;
"overlapped" broadcasts while other inversions still run. Then it measures how long a plan
for 400 factors on 1024 ranks takes to make. Prints what misses its goal, and exits with 1
if anything does. Needs Python's standard library and the tool: ninja -C build
kfac-plans."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALGORITHMS = ["D-KFAC", "MPD-KFAC", "SPD-KFAC"]
# The largest allowed relative difference between a step's simulated and published times.
TOLERANCE = 0.05
# The most seconds that making a plan may take.
LONGEST = 2


def print_runs(networks):
    """Prints a table and returns a message for each run that misses its goal."""
    missed = []
    print(f"{'seconds a step':<14}", *(f"{name:>22}" for name in ALGORITHMS),
          f"{'ours':>7} {'at most':>8} {'overlapped':>11}  owners")
    for network in networks:
        cells = []
        for name, published, replayed in zip(ALGORITHMS, network["published"],
                                             network["replayed"]):
            off = replayed / published - 1
            cells.append(f"{published:.4f} {replayed:.4f} {100 * off:+5.1f} %")
            if abs(off) > TOLERANCE:
                missed.append(f"{network['name']}: {name} is off by more than "
                              f"{100 * TOLERANCE:.0f} %")
        ours = network["ours"]["seconds"]
        if ours > network["goal"]:
            missed.append(f"{network['name']}: our plan takes too long")
        print(f"{network['name']:<14}", *(f"{cell:>22}" for cell in cells),
              f"{ours:7.3f} {network['goal']:8.3f} "
              f"{network['overlapped']['seconds']:11.3f}  "
              f"{network['ours']['owners']}, {network['overlapped']['owners']}")
    return missed


def print_large(large):
    print(f"{large['factors']} factors on {large['ranks']} ranks: a balanced plan in "
          f"{large['balanced']:.2f} s, the best of all placements in "
          f"{large['chosen']:.2f} s")
    return ["planning takes too long"] if large["chosen"] > LONGEST else []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path,
                        default=ROOT / "build" / "bin" / "kfac-plans")
    options = parser.parse_args()
    if not options.tool.exists():
        parser.error(f"there is no {options.tool}: expected what "
                     "`ninja -C build kfac-plans` makes")
    figures = json.loads(subprocess.run([options.tool], check=True,
                                        stdout=subprocess.PIPE).stdout)
    missed = print_runs(figures["networks"]) + print_large(figures["large"])
    for line in missed:
        print("missed:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
