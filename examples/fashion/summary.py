#!/usr/bin/env python3
"""Prints a table of a training log's last epoch, one line a copy.

    summary.py LOG          the table
    summary.py --best LOG   only the number of the copy with the best accuracy
"""

import argparse
import json
import math


def read_last(path):
    """The last epoch event, and the learning rates of the first step."""
    rates, epoch = None, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event["event"] == "step" and rates is None:
                rates = event["lr"]
            elif event["event"] == "epoch":
                epoch = event
    if rates is None or epoch is None:
        raise SystemExit(f"{path}: no finished epoch")
    return rates, epoch


def rank(accuracy):
    """Accuracies in order; a copy that diverged comes last."""
    value = float(accuracy)
    return -math.inf if math.isnan(value) else value


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--best", action="store_true",
                        help="print only the best copy's number")
    options = parser.parse_args()

    rates, epoch = read_last(options.log)
    accuracies = epoch["eval_accuracy"]
    if options.best:
        print(max(range(len(accuracies)), key=lambda k: rank(accuracies[k])))
        return
    print("copy  learning rate  train loss  test loss  test accuracy")
    for copy, accuracy in enumerate(accuracies):
        print(f"{copy:<4}  {float(rates[copy]):<13g}"
              f"  {float(epoch['train_loss'][copy]):10.4f}"
              f"  {float(epoch['eval_loss'][copy]):9.4f}"
              f"  {100 * float(accuracy):11.2f} %")


if __name__ == "__main__":
    main()
