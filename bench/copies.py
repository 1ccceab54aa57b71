#!/usr/bin/env python3
"""Compares the 8 copies of examples/fashion in one program with the same copies one by
one, and with PyTorch on the CPU.

    bench/copies.py [--hftac build/bin/hftac] [--torch PYTHON] [--threads N] [--steps 100]
                    [--rounds 5] [--rows step,v3,torch,memory,compile] [--json]

Prints a table. Its rows are:

    step      a step of the 8 copies, beside 8 times a step of a program of one copy
    v3        the same for --cpu=x86-64-v3, if this processor has its features
    torch     a step of the 8 copies, beside the fastest of copies_peer.py's ways: models
              one after another, and torch.func.vmap, with the same hyper-parameters
    memory    resident memory at its peak, beside 8 processes of one copy that run at once
    compile   hftac's time for 8 copies beside 1 copy, without and with a warm cache

Times are the best of interleaved rounds, on as many threads as there are processors
unless --threads says otherwise; data are synthetic. --json adds a line of JSON, in
seconds and bytes. Needs Python's standard library, and for the row torch a Python with
PyTorch, which --torch or HFTA_TORCH_PYTHON names. If something is missing, says what,
measures the other rows, and ends with exit code 3."""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from compile_time import compile_once
from needs import MISSING, need_file
from timed_runs import bench, best

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "gpu"))

from arguments import list_of, positive  # noqa: E402  (found by the path above)

JOB = ROOT / "examples/fashion/sweep.hfta"
PEER = ROOT / "bench" / "copies_peer.py"
ROWS = ("step", "v3", "torch", "memory", "compile")
WAYS = ("eager", "vmap")
MEMORY_STEPS = 3
SET_CHILD_SUBREAPER = 36  # an option of prctl


def find_torch(python):
    """Returns (PyTorch's version, None), or (None, the reason why it can't be used)."""
    if not python:
        return None, "name a Python that has PyTorch by --torch or HFTA_TORCH_PYTHON"
    try:
        tried = subprocess.run([python, "-c", "import torch; print(torch.__version__)"],
                               text=True, check=False, capture_output=True)
    except OSError as error:
        return None, f"{python}: {error.strerror}"
    if tried.returncode:
        return None, f"{python}: {(tried.stderr.splitlines() or ['it fails'])[-1]}"
    return tried.stdout.strip(), None


class Measurement:
    """The compiled programs, the rows measured so far, and those that are left out."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.flags = [f"--threads={options.threads}"]
        self.wanted, self.rows, self.missing = list(options.rows), [], []
        if "torch" in self.wanted:
            self.torch, reason = find_torch(options.torch)
            if reason:
                self.leave_out("torch", reason)
        if not self.wanted:
            sys.exit(MISSING)
        self.compile_programs()

    def compile_programs(self):
        os.environ["HFTA_CACHE"] = "none"
        eight = self.compile("8", [JOB])
        self.info = json.loads(subprocess.run([eight, "info", "--json"], check=True,
                                              stdout=subprocess.PIPE).stdout)
        self.copies = [copy["hyper_parameters"] for copy in self.info["copies"]]
        values = ", ".join(f"{name} = {value!r}"
                           for name, value in self.copies[-1].items())
        self.arguments = {
            "8": [JOB], "1": [JOB, f"--optimizer={self.info['optimizer']}({values})"]}
        self.programs = {"8": eight, "1": self.compile("1", self.arguments["1"])}
        if "v3" in self.wanted:
            self.compile_for_v3()

    def compile(self, name, arguments):
        binary = self.folder / name
        compile_once(self.options.hftac, arguments, binary)
        return binary

    def leave_out(self, row, reason):
        self.wanted.remove(row)
        self.missing.append(f"row {row}: {reason}")
        print(f"error: row {row} is left out: {reason}", file=sys.stderr, flush=True)

    def compile_for_v3(self):
        """Compiles both programs for x86-64-v3. If a program reports that this processor
        lacks the features, leaves out the row."""
        for name in ("8", "1"):
            self.programs[f"{name}-v3"] = self.compile(
                f"{name}-v3", [*self.arguments[name], "--cpu=x86-64-v3"])
        tried = subprocess.run([self.programs["1-v3"], "bench", "--steps=1"], text=True,
                               check=False, capture_output=True)
        if tried.returncode == MISSING:
            self.leave_out("v3", tried.stderr.partition("error: ")[2].strip())

    def time_steps(self):
        runs = {}
        for row, names in (("step", ("8", "1")), ("v3", ("8-v3", "1-v3")),
                           ("torch", ("8",))):
            for name in names if row in self.wanted else ():
                runs[name] = lambda binary=self.programs[name]: bench(
                    [binary], self.options.steps, *self.flags)
        for way in WAYS if "torch" in self.wanted else ():
            runs[way] = lambda way=way: bench(
                [self.options.torch, PEER, way], self.options.steps, *self.flags,
                f"--batch={self.info['batch']}", f"--copies={json.dumps(self.copies)}")
        seconds = best(runs, self.options.rounds)
        if "step" in self.wanted:
            self.add("step", "a step of 8 copies, fused, beside one by one", seconds["8"],
                     8 * seconds["1"])
        if "v3" in self.wanted:
            self.add("v3", "the same for x86-64-v3", seconds["8-v3"],
                     8 * seconds["1-v3"])
        if "torch" in self.wanted:
            ways = {way: seconds[way] for way in WAYS}
            fastest = min(ways, key=ways.get)
            self.add("torch", f"a step of 8 copies beside PyTorch {self.torch}: {fastest}",
                     seconds["8"], ways[fastest], version=self.torch, ways=ways)

    def measure_memory(self):
        self.add("memory", "peak memory of 8 fused copies beside 8 processes",
                 self.measure_peak(self.programs["8"], 1),
                 self.measure_peak(self.programs["1"], len(self.copies)))

    def measure_peak(self, binary, count):
        """Runs `count` processes at once and returns the sum of their peaks of resident
        memory, in bytes. A process's ru_maxrss is at least that of the process that forked
        it, so they are started by a shell, which is small. As subreaper, this process
        becomes their parent when the shell ends, and can wait for them."""
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
        command = [binary, "bench", f"--steps={MEMORY_STEPS}", *self.flags]
        processes = [int(subprocess.run(
            ["sh", "-c", '"$@" >/dev/null & echo $!', "sh", *command], check=True,
            stdout=subprocess.PIPE).stdout) for _ in range(count)]
        total = 0
        for process in processes:
            _, status, usage = os.wait4(process, 0)
            if status:
                sys.exit(f"error: {binary} failed")
            total += usage.ru_maxrss << 10
        return total

    def measure_compiling(self):
        for what, cache in (("without a cache", "none"), ("with a warm cache",
                                                          str(self.folder / "cache"))):
            os.environ["HFTA_CACHE"] = cache
            runs = {name: lambda name=name: {"steps": 1, "seconds": compile_once(
                self.options.hftac, self.arguments[name], self.folder / "out").seconds}
                for name in ("8", "1")}
            if cache != "none":
                best(runs, 1)
            seconds = best(runs, self.options.rounds)
            self.add("compile", f"time of hftac for 8 copies beside 1 copy, {what}",
                     seconds["8"], seconds["1"])

    def add(self, row, what, ours, other, **more):
        """Adds a row and prints it. Its ratio is the other's time divided by ours; in the
        rows memory and compile, our memory or time divided by the other's."""
        ratio = ours / other if row in ("memory", "compile") else other / ours
        self.rows.append({"row": row, "what": what, "hfta": ours, "other": other,
                          "ratio": ratio, **more})
        scale, unit, told = {"memory": (2**-20, "MiB", "x the memory"),
                             "compile": (1, "s", "x the time")}.get(
                                 row, (1e3, "ms", "x as fast"))
        print(f"{what:62} {ours * scale:8.2f} {unit:3} {other * scale:8.2f} {unit:3} "
              f"{ratio:6.2f}{told}", flush=True)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--torch", metavar="PYTHON",
                        default=os.environ.get("HFTA_TORCH_PYTHON"))
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--steps", type=positive, default=100)
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--rows", type=list_of(ROWS), default=list(ROWS))
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    need_file(options.hftac)
    with tempfile.TemporaryDirectory() as name:
        measurement = Measurement(options, pathlib.Path(name))
        print(f"{'what':62} {'Hfta':>12} {'other':>12}  ratio", flush=True)
        measurement.time_steps()
        if "memory" in measurement.wanted:
            measurement.measure_memory()
        if "compile" in measurement.wanted:
            measurement.measure_compiling()
    if options.json:
        print(json.dumps({"threads": options.threads, "steps": options.steps,
                          "rounds": options.rounds, "rows": measurement.rows,
                          "missing": measurement.missing}))
    sys.exit(MISSING if measurement.missing else 0)


if __name__ == "__main__":
    main()
