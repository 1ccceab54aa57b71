#!/usr/bin/env python3
"""Time of hftac and size of the code that it makes, by number of copies.

    bench/compile_time.py [--hftac build/bin/hftac] [--job examples/fashion/sweep.hfta]
                          [--copies 1 32] [--runs 5]

Prints for each number of copies the shortest of several runs, by phase too, and
the bytes of the program's segment of code; then what the largest number of copies
costs over the smallest. Needs only Python's standard library."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def with_copies(text, copies):
    """The job with a list of this many learning rates and no other list."""
    rates = ", ".join(repr(1e-4 * (1 + i / copies)) for i in range(copies))
    return re.sub(r"^(\s*optimizer\s+\w+)\(.*?\)", rf"\1(lr = [{rates}])", text,
                  flags=re.M)


def measure(hftac, job, binary, runs):
    """The shortest run's seconds in all and by phase."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        result = subprocess.run([hftac, job, "-o", binary, "--timing"],
                                stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - start
        if result.returncode:
            sys.exit(result.stderr)
        if best is None or seconds < best[0]:
            best = seconds, re.findall(r"^(\S+) +([\d.]+) s$", result.stderr,
                                       re.M)
    return best


def code_bytes(binary):
    """Bytes of the executable segments of an ELF file."""
    data = binary.read_bytes()
    offset = int.from_bytes(data[32:40], "little")
    size, count = (int.from_bytes(data[at:at + 2], "little") for at in (54, 56))
    total = 0
    for i in range(count):
        header = data[offset + i * size:offset + (i + 1) * size]
        kind, flags = (int.from_bytes(header[at:at + 4], "little")
                       for at in (0, 4))
        if kind == 1 and flags & 1:  # PT_LOAD, PF_X
            total += int.from_bytes(header[32:40], "little")
    return total


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path,
                        default=ROOT / "build/bin/hftac")
    parser.add_argument("--job", type=pathlib.Path,
                        default=ROOT / "examples/fashion/sweep.hfta")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    text = options.job.read_text()
    # Files are named relative to the job file.
    text = re.sub(r'onnx\("(?!/)', f'onnx("{options.job.resolve().parent}/', text)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for copies in sorted(options.copies):
            job = pathlib.Path(folder) / f"copies{copies}.hfta"
            job.write_text(with_copies(text, copies))
            binary = job.with_suffix("")
            seconds, phases = measure(options.hftac, job, binary, options.runs)
            size = code_bytes(binary)
            results.append((seconds, size))
            print(f"{copies:4} copies  {seconds:7.3f} s  {size:9} bytes of code  "
                  + "  ".join(f"{name} {value}" for name, value in phases))
    if len(results) > 1:
        (seconds, size), (last_seconds, last_size) = results[0], results[-1]
        print(f"growth       {100 * (last_seconds / seconds - 1):+7.1f} %  "
              f"{100 * (last_size / size - 1):+9.1f} %")


if __name__ == "__main__":
    main()
