"""Types of command-line arguments that the scripts of this folder share. Needs only
Python's standard library."""

import argparse


def list_of(known, convert=str):
    """Returns an argparse type that reads a list of values separated by commas and
    refuses values that aren't in `known`, unless that is None. '' is an empty list."""
    def parse(text):
        values = [convert(part) for part in text.split(",") if part]
        for value in values:
            if known and value not in known:
                raise argparse.ArgumentTypeError(
                    f"'{value}': expected some of {', '.join(map(str, known))}")
        return values
    return parse


def positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected a number from 1 on")
    return int(text)
