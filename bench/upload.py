#!/usr/bin/env python3
"""Measures the cost of slow transfers to the device: steps of a job whose batches take
half a step's time to upload, compared with steps whose batches come at the processor's
speed.

    bench/upload.py [--hftac build/bin/hftac] [--job examples/fashion/sweep.hfta]
                    [--threads 1] [--rounds 10]

Prints both times, the best of interleaved runs, and how much longer the slow one is.
Needs Python's standard library and clang-22."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INPUTS = ROOT / "test" / "Inputs"
STEPS = 30
UNIT = 1e-5  # seconds; slow_device.c counts delays in this unit


def link(hftac, job, folder):
    """Compiles a job and links it with the devices of slow_device.c. Returns the program
    and the number of fields in a batch, each of which is a transfer."""
    kernels, binary = folder / "kernels.o", folder / "program"
    subprocess.run([hftac, job, "--emit=obj", "-o", kernels], check=True)
    subprocess.run([os.environ.get("CC", "clang-22"), "-O1", "-I",
                    ROOT / "runtime" / "include", INPUTS / "program_main.c",
                    ROOT / "bench" / "slow_device.c", kernels,
                    hftac.resolve().parents[1] / "lib" / "libhfta_runtime.a", "-lm",
                    "-lpthread", "-ldl", "-Wl,--wrap=memcpy", "-o", binary],
                   check=True)
    schedule = subprocess.run([binary, "info", "--schedule"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    return binary, 1 + max(map(int, re.findall(r"from <field, (\d+)", schedule)))


def time_step(binary, device, threads):
    """Returns the seconds of a step on this device."""
    output = subprocess.run([binary, "bench", "--json", f"--steps={STEPS}",
                             f"--threads={threads}", f"--device={device}"],
                            check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)["seconds"] / STEPS


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--job", type=pathlib.Path,
                        default=ROOT / "examples/fashion/sweep.hfta")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary, fields = link(options.hftac, options.job, pathlib.Path(folder))
        step = min(time_step(binary, "cpu", options.threads) for _ in range(3))
        slow_device = f"slow:{max(1, round(step / 2 / fields / UNIT))}"
        fast, slow = [], []
        for _ in range(options.rounds):
            fast.append(time_step(binary, "cpu", options.threads))
            slow.append(time_step(binary, slow_device, options.threads))
        print(f"step {1e3 * min(fast):.3f} ms; with uploads of {1e3 * step / 2:.3f} ms "
              f"{1e3 * min(slow):.3f} ms, {100 * (min(slow) / min(fast) - 1):+.1f} %")


if __name__ == "__main__":
    main()
