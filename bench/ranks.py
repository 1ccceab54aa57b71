#!/usr/bin/env python3
"""Measures the benefit of ranks adding up gradients while they compute, and of having two
ranks.

    bench/ranks.py [--hftac build/bin/hftac] [--rounds 5] [--steps 4]

First, two hosts, which are network namespaces of this machine, with so little bandwidth
between them that adding up gradients takes as long as backward: a step with `overlap` is
compared with one without. Then, on this machine, two ranks of one thread are compared
with one rank of two. Needs root, iproute2, Open MPI and Python's standard library; times
are the best of interleaved runs."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/EndToEnd"))

from hosts import make_hosts  # noqa: E402  (found by the path above)
from mpirun import COMMAND  # noqa: E402
from timed_runs import bench, best  # noqa: E402

WIDTH, DEPTH, BATCH, MICRO_BATCHES = 1024, 8, 4096, 2
JOB = f"""
model net(image: f32[batch, {WIDTH}]) {{
  x0 = image
{chr(10).join(f"  x{i + 1} = relu(linear(x{i}, {WIDTH}))" for i in range(DEPTH))}
  return output = linear(x{DEPTH}, 10)
}}
data made {{
  image: f32[{WIDTH}], label: u8
  train image = npy("image.npy"), label = npy("label.npy")
}}
train ranks {{
  model         net(image)
  data          made, batch = {BATCH}
  loss          cross_entropy(net, label)
  optimizer     sgd(lr = 0.01)
  micro_batches {MICRO_BATCHES}
  pipeline      replicas = [2], overlap = OVERLAP
  steps         1
}}
"""


def compile_job(hftac, folder, overlap):
    job = folder / f"overlap-{overlap}.hfta"
    job.write_text(JOB.replace("OVERLAP", overlap))
    binary = job.with_suffix("")
    subprocess.run([hftac, job, "-o", binary], check=True, stderr=subprocess.DEVNULL)
    return binary


def measure_overlap(binaries, folder, options):
    alone = bench([binaries["true"]], options.steps, "--phases", "--threads=1")
    backward = sum(task["seconds"] for task in alone["tasks"]
                   if task["name"].startswith("backward")) / 2
    gradients = 4 * (DEPTH * WIDTH * (WIDTH + 1) + WIDTH * 10)
    rate = gradients / backward
    with make_hosts(folder, rate=rate) as hosts:
        step = best({name: lambda binary=binary: bench(
            [*hosts, "-n", "2", binary], options.steps, "--threads=1")
            for name, binary in binaries.items()}, options.rounds)
    print(f"two hosts, {rate / 1e6:.0f} MB/s each way, {gradients / 1e6:.0f} MB of "
          f"gradients: {1e3 * step['true']:.1f} ms a step, without overlap "
          f"{1e3 * step['false']:.1f} ms: {step['true'] / step['false']:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    if not shutil.which("mpirun"):
        sys.exit("error: no mpirun: install openmpi-bin")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        binaries = {overlap: compile_job(options.hftac, folder, overlap)
                    for overlap in ("true", "false")}
        if os.getuid() == 0 and shutil.which("tc"):
            measure_overlap(binaries, folder, options)
        else:
            print("two hosts: skipped, which needs root and iproute2")
        step = best({
            "one": lambda: bench([binaries["true"]], options.steps, "--threads=2"),
            "two": lambda: bench([*COMMAND, "--allow-run-as-root", "-n", "2",
                                  binaries["true"]],
                                 options.steps, "--threads=1")}, options.rounds)
        print(f"one rank of two threads {1e3 * step['one']:.1f} ms a step, two of one "
              f"{1e3 * step['two']:.1f} ms: {step['one'] / step['two']:.3f} of the speed")


if __name__ == "__main__":
    main()
