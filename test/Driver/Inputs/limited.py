#!/usr/bin/env python3
"""Runs a command, hftac or a compiled program, with growing limits of memory. It
must succeed, or exit with code 3, one error message about memory or threads,
and no files left behind."""

import os
import resource
import subprocess
import sys

MIB = 1 << 20


def run(command, kind, most):
    """Runs a command with a limit of `most` bytes for a resource. Returns the exit code,
    and the lines of standard error."""
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)))
    return done.returncode, done.stderr.splitlines()


def find(kind, text, command):
    """Tries limits, each 1.25 times the one before, until the command succeeds.
    Returns that limit in MiB, and how often the program itself has reported that
    memory is short."""
    size, refused = 8 * MIB, 0
    while size < 64 << 30:
        before = sorted(os.listdir())
        code, lines = run(command, kind, size)
        if code == 0:
            return size // MIB, refused
        # With the lowest limits, the program doesn't start: the kernel kills it without
        # a message if its file doesn't fit, and the dynamic loader has messages of its
        # own.
        fits = size > os.path.getsize(command[0]) or code >= 0 or lines
        loaded = fits and not any("error while loading shared" in line
                                  for line in lines)
        errors = [line for line in lines if "error: " in line]
        if loaded and (code != 3 or len(errors) != 1 or not any(
                word in errors[0] for word in ("memory", "thread"))):
            sys.exit(f"{text} {size // MIB} MiB: exit {code}: {lines[:3]}")
        if sorted(os.listdir()) != before:
            sys.exit(f"{text} {size // MIB} MiB: leaves files")
        refused += bool(loaded)
        size = size * 5 // 4
    sys.exit(f"{text} is never enough")


def main():
    for kind, text in ((resource.RLIMIT_AS, "ulimit -v"),
                       (resource.RLIMIT_DATA, "ulimit -d")):
        least, refused = find(kind, text, sys.argv[1:])
        print(f"{text}: enough {least} MiB, refused with less: {refused > 0}")


if __name__ == "__main__":
    main()
