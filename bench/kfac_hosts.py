#!/usr/bin/env python3
"""Measures the benefit of two hosts adding up K-FAC's statistics in buckets while they
compute: a step of a planned job is compared with a step that adds up all statistics at
once, at the end.

    bench/kfac_hosts.py [--hftac build/bin/hftac] [--rate 200e6] [--rounds 5] [--steps 4]
                        [--goals]

The two hosts are network namespaces of this machine, with `rate` bits per second between
them, and a rank of one thread on each. The plan is based on the measurements of `bench
--phases --json` on these hosts. Both steps add up gradients in the same way, and measure
factors. With --goals, exits with 1 unless the planned step is the shorter
one. Needs root, iproute2, Open MPI and Python's standard library; times are the best of
interleaved runs."""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/EndToEnd"))

from harness import run  # noqa: E402  (found by the path above)
from hosts import make_hosts  # noqa: E402
from kfac_plans import compile_forced, find_plan, get_numbers, join_buckets  # noqa: E402
from timed_runs import bench, best  # noqa: E402

WIDTH, DEPTH, BATCH = 512, 8, 4096
JOB = f"""
model net(x: f32[batch, {WIDTH}]) {{
  x0 = x
{chr(10).join(f"  x{i + 1} = relu(linear(x{i}, {WIDTH}))" for i in range(DEPTH))}
  return output = linear(x{DEPTH}, 10)
}}
data made {{
  train x: f32[{WIDTH}] = npy("x.npy"), label: u8 = npy("label.npy")
}}
train hosts {{
  model         net(x)
  data          made, batch = {BATCH}
  loss          cross_entropy(net, label)
  optimizer     sgd(lr = 0.01)
  precondition  kfac(placement = balanced, factor_every = 1, inverse_every = 1000)
  micro_batches 2
  pipeline      replicas = [2], bucket = 1MiB
  cluster       devices = [1, 1]
  steps         1
}}
"""


def compile_both(options, folder, command):
    """Compiles the planned program `planned`, and the program `end`, which adds up all
    statistics at the end. Returns both, and the numbers of factors in the plan's
    buckets."""
    job = folder / "job.hfta"
    job.write_text(JOB)
    binary = folder / "measured"
    run(options.hftac, job, "-o", binary)
    costs = folder / "costs.json"
    costs.write_text(json.dumps(bench([*command, binary], options.steps, "--phases",
                                      "--threads=1")))
    flags = [f"--costs={costs}"]
    plan = find_plan(run(options.hftac, job, "--emit=train", "-o", "-", *flags))
    planned = folder / "planned"
    run(options.hftac, job, "-o", planned, *flags)
    end = compile_forced(options.hftac, job, folder / "end", *flags,
                         buckets=join_buckets)
    return {"planned": planned, "end": end}, get_numbers(plan, "buckets")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--rate", type=float, default=200e6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with make_hosts(folder, rate=options.rate / 8, burst="128kb") as hosts:
            command = [*hosts, "-n", "2"]
            binaries, buckets = compile_both(options, folder, command)
            step = best({name: lambda binary=binary: bench(
                [*command, binary], options.steps, "--threads=1")
                for name, binary in binaries.items()}, options.rounds)
    ratio = step["planned"] / step["end"]
    print(f"two hosts, {options.rate / 1e6:.0f} Mbit/s: {1e3 * step['planned']:.1f} ms a "
          f"step with buckets of {', '.join(map(str, buckets))} factors, with one sum at "
          f"the end {1e3 * step['end']:.1f} ms: {ratio:.3f}")
    if options.goals and ratio >= 1:
        sys.exit(1)


if __name__ == "__main__":
    main()
