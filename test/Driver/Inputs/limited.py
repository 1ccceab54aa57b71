#!/usr/bin/env python3
"""Runs hftac, or a program that it made, with less memory than it needs, and
with enough: it succeeds, or reports with exit code 3 that memory is short and
leaves no files."""

import os
import resource
import subprocess
import sys

MIB = 1 << 20


def run(command, kind, most):
    """The exit code, and the lines of standard error."""
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)))
    return done.returncode, done.stderr.splitlines()


def find(kind, text, command):
    """Returns the least limit in MiB, up to a factor of 1.25, with which the
    command succeeds. All limits up to it are tried."""
    size, refused = 8 * MIB, 0
    while size < 64 << 30:
        before = sorted(os.listdir())
        code, lines = run(command, kind, size)
        if code == 0:
            return size // MIB, refused
        # The system's loader reports a lack of memory in its own words; the kernel
        # ends a program, without a word, that has no room for its own file.
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
