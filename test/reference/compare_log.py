#!/usr/bin/env python3
"""Compares the losses in a training log with a golden file.

    compare_log.py LOG GOLDEN [--rtol R] [--atol A] [--steps 1,3,20]
                              [--copies 0,2]

LOG has one JSON object a line, as a training binary writes with --log and
--log-every 1. GOLDEN is one of make_golden.py's files. At every compared step,
each copy's "loss" and "lr" must satisfy

    |log - golden| <= A + R * |golden|

The worst difference of each is printed. Exit status: 0 within the bounds, 1
beyond them or when a step is missing, 2 when a file can't be read.
"""

import argparse
import json
import math
import sys


def numbers(text):
    """Parses a list of whole numbers such as 1,3,20; a type for argparse."""
    return [int(part) for part in text.split(",")]


def read_steps(path):
    """Returns a map from step numbers to the log's step events. If a step is
    repeated, its last event counts."""
    steps = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                event = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
            if event.get("event") == "step":
                steps[event["step"]] = event
    return steps


def excess(got, want, rtol, atol):
    """Returns the difference of two numbers, divided by the allowed one. Two NaNs
    count as equal."""
    if math.isnan(got) and math.isnan(want):
        return 0.0
    if got == want:
        return 0.0
    difference = abs(got - want)
    if not math.isfinite(difference):
        return math.inf
    allowed = atol + rtol * abs(want)
    return difference / allowed if allowed else math.inf


def compare(key, steps, golden, options):
    """Prints the worst difference in `key`; returns whether it is allowed."""
    worst = None
    for step in options.steps:
        want_row = golden[key][step - 1]
        if options.copies is not None:
            want_row = [want_row[copy] for copy in options.copies]
        row = steps[step].get(key)
        if not isinstance(row, list) or len(row) != len(want_row):
            print(f"{key}: step {step} has {row}, "
                  f"expected {len(want_row)} numbers")
            return False
        for copy, want in enumerate(want_row):
            got = float(row[copy])
            units = excess(got, want, options.rtol, options.atol)
            if worst is None or units > worst[0]:
                worst = (units, step, copy, got, want)
    units, step, copy, got, want = worst
    relative = abs(got - want) / abs(want) if want else abs(got - want)
    print(f"{key}: worst at step {step}, copy {copy}: got {got!r}, "
          f"expected {want!r}, relative difference {relative:.2e}, "
          f"{units:.2e} of the allowed")
    return units <= 1.0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("golden")
    parser.add_argument("--rtol", type=float, default=1e-8,
                        help="default: %(default)s")
    parser.add_argument("--atol", type=float, default=1e-12,
                        help="default: %(default)s")
    parser.add_argument("--steps", type=numbers, metavar="S,…",
                        help="steps to compare, from 1 (default: all)")
    parser.add_argument("--copies", type=numbers, metavar="K,…",
                        help="golden copies that the log's copies are "
                        "(default: all, in order)")
    options = parser.parse_args()

    try:
        with open(options.golden, encoding="utf-8") as file:
            golden = json.load(file)
    except (OSError, ValueError) as error:
        print(f"{options.golden}: {error}", file=sys.stderr)
        return 2
    try:
        steps = read_steps(options.log)
    except (OSError, ValueError) as error:
        print(f"{options.log}: {error}", file=sys.stderr)
        return 2

    count = len(golden["loss"])
    options.steps = options.steps or list(range(1, count + 1))
    if not all(1 <= step <= count for step in options.steps):
        parser.error(f"--steps: expected numbers from 1 to {count}")
    copies = len(golden["loss"][0])
    if not all(0 <= copy < copies for copy in options.copies or []):
        parser.error(f"--copies: expected numbers from 0 to {copies - 1}")
    missing = [step for step in options.steps if step not in steps]
    if missing:
        print(f"missing in the log: steps {missing}")
        return 1
    results = [compare(key, steps, golden, options) for key in ("loss", "lr")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
