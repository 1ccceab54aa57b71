#!/usr/bin/env python3
"""How long a step of many stages takes beside what the planner says that it takes: tasks
only take time (`bench --device paced:COSTS.json`), schedules and messages are real.

    bench/paced_pipelines.py [--hftac build/bin/hftac] [--ranks 8,16]
                             [--orders one_f_one_b,all_forwards_first,zero_bubble]
                             [--micro-batches 16] [--steps 10] [--rounds 3]

Each rank has a stage. The plan is made with the times that tasks take, and with links as
`bench --phases --json` of a program of so many ranks measures them. Needs Python's
standard library and Open MPI's mpirun."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

from harness import run  # noqa: E402  (of another folder)
from mpirun import run_ranks  # noqa: E402

# Milliseconds of a run, by part of the step; a backward is in halves where the order
# asks for it. The first stage's has no gradients of inputs.
PARTS = {"forward": 5.0, "backward": 10.0, "update": 4.0}
HALVES = {"forward": 5.0, "backward": 5.0, "backward_weight": 5.0, "update": 4.0}

JOB = """
model net(x: f32[batch, 64]) {{
  h0 = relu(linear(x, 64))
{layers}
  return output = linear(h{last}, 10)
}}
data made {{
  train x: f32[64] = npy("x.npy"), label: u8 = npy("label.npy")
}}
train sweep {{
  model     net(x)
  data      made, batch = {batch}
  loss      cross_entropy(net, label)
  optimizer sgd(lr = 1e-3)
  steps     1
  micro_batches {micro_batches}
  cluster   devices = [{ranks}]
  pipeline  cuts = {cuts}, order = {order}{more}
}}
"""


class Bench:
    def __init__(self, options, ranks, folder):
        self.options, self.ranks, self.folder = options, ranks, folder

    def write(self, order, more=""):
        cuts = [f"h{layer}" for layer in range(self.ranks - 1)]
        layers = [f"  h{layer} = relu(linear(h{layer - 1}, 64))"
                  for layer in range(1, self.ranks - 1)]
        job = self.folder / f"{order}.hfta"
        job.write_text(JOB.format(
            layers="\n".join(layers), last=self.ranks - 2, ranks=self.ranks,
            batch=2 * self.options.micro_batches, order=order, more=more,
            micro_batches=self.options.micro_batches, cuts=json.dumps(cuts)))
        return job

    def compile(self, job):
        binary = job.with_suffix("")
        run(self.options.hftac, job, "-o", binary)
        return binary

    def bench(self, binary, *flags):
        return json.loads(run_ranks(self.ranks, binary, "bench", "--json", "--threads",
                                    1, "--steps", self.options.steps, *flags))

    def get_costs(self, binary):
        """With nominal times."""
        info = json.loads(run(binary, "info", "--json"))
        names = [task["name"] for task in info["tasks"]]
        parts = HALVES if "backward_weight.0" in names else PARTS
        costs = []
        for name in names:
            part, _, stage = name.partition(".")
            milliseconds = parts.get(part, 0.0)
            if parts is HALVES and stage == "0" and part.startswith("backward"):
                milliseconds = 0.0 if part == "backward" else 10.0
            runs = 1 if part == "update" else self.options.micro_batches
            costs.append({"name": name, "runs": runs,
                          "seconds": 1e-3 * runs * milliseconds})
        return {"model": info["plan"]["model"], "cuts": info["plan"]["cuts"],
                "copies": 1, "batch": 2 * self.options.micro_batches,
                "micro_batches": self.options.micro_batches, "tasks": costs}

    def plan(self, job, costs):
        file = self.folder / "plan.json"
        (self.folder / "costs.json").write_text(json.dumps(costs))
        subprocess.run([self.options.hftac, job, "--plan-pipeline", "--costs",
                        self.folder / "costs.json", "-o", file], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())

    def measure(self, order):
        job = self.write(order)
        binary = self.compile(job)
        costs = self.get_costs(binary)
        file = self.folder / f"{order}.json"
        file.write_text(json.dumps(costs))
        device = f"--device=paced:{file}"
        links = self.bench(binary, device, "--phases")["links"]
        for link in links:
            link["slowdown"] = 1  # of tasks that compute
        costs["links"] = links
        plan = self.plan(job, costs)
        counts = [stage["in_flight"] for stage in plan["stages"]]
        binary = self.compile(self.write(order, f", in_flight = {counts}"))
        steps = [self.bench(binary, device)["seconds"] / self.options.steps
                 for _ in range(self.options.rounds)]
        predicted, measured = plan["simulated_ms"], 1e3 * min(steps)
        print(f"{self.ranks} ranks, {order}: predicted {predicted:.2f} ms, measured "
              f"{measured:.2f} ms, ratio {predicted / measured:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--ranks", default="8,16")
    parser.add_argument("--orders", default="one_f_one_b,all_forwards_first,zero_bubble")
    parser.add_argument("--micro-batches", type=int, default=16)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.hftac = options.hftac.resolve()
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, ranks, pathlib.Path(folder))
            for order in options.orders.split(","):
                bench.measure(order)


if __name__ == "__main__":
    main()
