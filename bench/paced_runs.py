"""The common parts of the benchmarks on the device `paced`, whose tasks only sleep for the
time that a file of costs says: their options, jobs and runs. Needs only Python's standard
library.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

from mpirun import run_ranks  # found by the path above

JOB = """
model net(x: f32[batch, {width}]) {{
{layers}
  return output = linear({last}, 10)
}}
data made {{
  train x: f32[{width}] = npy("x.npy"), label: u8 = npy("label.npy")
}}
train sweep {{
  model     net(x)
  data      made, batch = {batch}
  loss      cross_entropy(net, label)
  optimizer {optimizer}
  steps     1
  micro_batches {micro_batches}
{clauses}
}}
"""


def make_job(width, names, micro_batches, optimizer, *clauses):
    """Returns the text of a job that trains a chain of linear layers with `width` features,
    whose results have these names, on two samples per micro-batch."""
    layers = [f"  {name} = relu(linear({source}, {width}))"
              for source, name in zip(["x", *names], names)]
    return JOB.format(width=width, layers="\n".join(layers), last=names[-1],
                      batch=2 * micro_batches, micro_batches=micro_batches,
                      optimizer=optimizer,
                      clauses="\n".join(f"  {clause}" for clause in clauses))


def make_parser(description, micro_batches, steps):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--ranks", default="8,16")
    parser.add_argument("--micro-batches", type=int, default=micro_batches)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rounds", type=int, default=3)
    return parser


def run_paced(ranks, binary, steps, costs, *flags):
    """Runs `bench` of a program on ranks whose tasks sleep for the times of a file of
    costs, and returns its output."""
    return json.loads(run_ranks(ranks, binary, "bench", "--json", "--threads", 1,
                                "--steps", steps, f"--device=paced:{costs}", *flags))
