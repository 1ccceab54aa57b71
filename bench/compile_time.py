#!/usr/bin/env python3
"""Measures hftac's time and the size of the code that it generates, for several numbers of
copies or for models that are hard to compile.

    bench/compile_time.py [--hftac build/bin/hftac] [--job examples/fashion/sweep.hfta]
                          [--copies 1 32] [--runs 5]
    bench/compile_time.py --cases [NAME ...] [--hftac build/bin/hftac] [--runs 5]

For each number of copies, or each case of hard_cases.py, prints the figures of the fastest
of several runs: its time, the processor time in user mode, the peak memory, the size of
the program's code segments in bytes, and the time of each phase. For several numbers of
copies, also prints how much time and code grow from the smallest to the largest. Needs
only Python's standard library."""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from hard_cases import CASES

ROOT = pathlib.Path(__file__).resolve().parent.parent


def with_copies(text, copies):
    """Returns the job with a list of `copies` learning rates as the only optimizer
    setting."""
    rates = ", ".join(repr(1e-4 * (1 + i / copies)) for i in range(copies))
    return re.sub(r"^(\s*optimizer\s+\w+)\(.*?\)", rf"\1(lr = [{rates}])", text,
                  flags=re.M)


@dataclasses.dataclass
class Run:
    """One compilation."""
    seconds: float
    processor: float  # seconds in user mode
    memory: int       # peak, in bytes
    phases: list      # pairs of a name and seconds
    code: int         # size in bytes

    def print(self, label):
        print(f"{label:10}  {self.seconds:7.3f} s  {self.processor:7.3f} s of "
              f"processor  {self.memory >> 20:5} MiB  {self.code:9} bytes of code  "
              + "  ".join(f"{name} {value}" for name, value in self.phases),
              flush=True)


def compile_once(hftac, arguments, binary):
    command = [hftac, *arguments, "-o", binary, "--timing"]
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen([str(part) for part in command], stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read()
    if process.returncode:
        sys.exit(text)
    return Run(seconds, usage.ru_utime, usage.ru_maxrss << 10,
               re.findall(r"^(\S+) +([\d.]+) s$", text, re.M),
               code_bytes(binary))


def measure(hftac, arguments, binary, runs):
    """Compiles `runs` times and returns the fastest run."""
    return min((compile_once(hftac, arguments, binary) for _ in range(runs)),
               key=lambda run: run.seconds)


def code_bytes(binary):
    """Returns the size in bytes of the executable segments of an ELF file."""
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


def measure_copies(options, folder):
    text = options.job.read_text()
    # File names in a job are relative to the job file.
    text = re.sub(r'onnx\("(?!/)', f'onnx("{options.job.resolve().parent}/', text)
    results = []
    for copies in sorted(options.copies):
        job = folder / f"copies{copies}.hfta"
        job.write_text(with_copies(text, copies))
        results.append(measure(options.hftac, [job], job.with_suffix(""),
                               options.runs))
        results[-1].print(f"{copies} copies")
    if len(results) > 1:
        first, last = results[0], results[-1]
        print(f"growth  {100 * (last.seconds / first.seconds - 1):+.1f} % of time, "
              f"{100 * (last.code / first.code - 1):+.1f} % of code")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path,
                        default=ROOT / "build/bin/hftac")
    parser.add_argument("--job", type=pathlib.Path,
                        default=ROOT / "examples/fashion/sweep.hfta")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cases", nargs="*", metavar="NAME",
                        help="of " + ", ".join(CASES) + " (default: all)")
    options = parser.parse_args()
    for case in options.cases or ():
        if case not in CASES:
            parser.error(f"there is no case '{case}'")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.cases is None:
            return measure_copies(options, folder)
        for case in options.cases or CASES:
            arguments = CASES[case](folder)
            measure(options.hftac, arguments, folder / case,
                    options.runs).print(case)


if __name__ == "__main__":
    main()
