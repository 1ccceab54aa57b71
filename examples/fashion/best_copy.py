#!/usr/bin/env python3
"""Prints the number of the copy with the best accuracy in a training log.

If several copies have it, the first one is taken. Needs only Python.
"""

import argparse
import json
import math


def read_accuracies(path):
    """Returns one accuracy per copy, from the log's last epoch event."""
    accuracies = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event["event"] == "epoch":
                accuracies = event["eval_accuracy"]
    if accuracies is None:
        raise SystemExit(f"{path}: no finished epoch")
    return accuracies


def rank(accuracy):
    """Returns the key by which accuracies are compared: NaN is the lowest."""
    value = float(accuracy)
    return -math.inf if math.isnan(value) else value


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("log", help="what train --log wrote")
    accuracies = read_accuracies(parser.parse_args().log)
    print(max(range(len(accuracies)), key=lambda k: rank(accuracies[k])))


if __name__ == "__main__":
    main()
