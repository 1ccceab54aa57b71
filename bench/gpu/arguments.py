"""Types of arguments that the scripts of this folder share. Needs only Python's standard
library."""

import argparse


def list_of(known, convert=str):
    """A list with commas, of known values where there are such; '' is an empty one."""
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
