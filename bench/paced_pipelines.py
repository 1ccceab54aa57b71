#!/usr/bin/env python3
"""Compares the time of a step of many stages with the time that the planner predicts.
Tasks only sleep (`bench --device paced:COSTS.json`), but schedules and messages are real.

    bench/paced_pipelines.py [--hftac build/bin/hftac] [--ranks 8,16]
                             [--orders one_f_one_b,…] [--micro-batches 16]
                             [--in-flight N] [--steps 10] [--rounds 3]

Each rank has a stage; for orders with several chunks, a stage has two parts of half the
length. The plan is made with the times that tasks take, and with links as `bench --phases
--json` of a program with as many ranks measures them. With --in-flight, stages have
memory for that many micro-batches; orders are compared with the first one. Needs Python's
standard library and Open MPI's mpirun."""

import json
import pathlib
import subprocess
import tempfile

from paced_runs import make_job, make_parser, run_paced

# These are found by the path that paced_runs adds.
from harness import run
from pipeline_orders import CHUNKS_OF_ORDERS as ORDERS

# The milliseconds that one run of a stage's task sleeps, by the task's part. HALVES is for
# orders that split the backward. The first stage has no gradients of inputs to compute: its
# backward takes no time then, and its backward_weight 10 ms.
PARTS = {"forward": 5.0, "backward": 10.0, "update": 4.0}
HALVES = {"forward": 5.0, "backward": 5.0, "backward_weight": 5.0, "update": 4.0}


class Bench:
    def __init__(self, options, ranks, folder):
        self.options, self.ranks, self.folder = options, ranks, folder

    def write(self, order, pipeline="cuts = {cuts}, order = {order}, chunks = {chunks}"):
        chunks = ORDERS[order]
        names = [f"h{layer}" for layer in range(self.ranks * chunks - 1)]
        pipeline = pipeline.format(cuts=json.dumps(names), order=order, chunks=chunks)
        if self.options.in_flight and pipeline.startswith("cuts"):
            pipeline += f", in_flight = {[self.options.in_flight] * self.ranks}"
        job = self.folder / f"{order}.hfta"
        job.write_text(make_job(
            64, names, self.options.micro_batches, "sgd(lr = 1e-3)",
            f"cluster devices = [{self.ranks}]", f"pipeline {pipeline}"))
        return job

    def compile(self, job):
        binary = job.with_suffix("")
        run(self.options.hftac, job, "-o", binary)
        return binary

    def bench(self, binary, costs, *flags):
        return run_paced(self.ranks, binary, self.options.steps, costs, *flags)

    def get_costs(self, binary, chunks):
        """Returns costs in the form of `bench --phases --json`, with the times of PARTS or
        HALVES divided by the number of chunks per stage."""
        info = json.loads(run(binary, "info", "--json"))
        names = [task["name"] for task in info["tasks"]]
        parts = HALVES if "backward_weight.0" in names else PARTS
        costs = []
        for name in names:
            part, _, block = name.partition(".")
            milliseconds = parts.get(part, 0.0) / chunks
            if parts is HALVES and block == "0" and part.startswith("backward"):
                milliseconds = 0.0 if part == "backward" else 10.0 / chunks
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
        costs = self.get_costs(binary, ORDERS[order])
        file = self.folder / f"{order}.json"
        file.write_text(json.dumps(costs))
        links = self.bench(binary, file, "--phases")["links"]
        for link in links:
            link["slowdown"] = 1  # tasks only sleep, so transfers don't slow them down
        costs["links"] = links
        plan = self.plan(job, costs)
        binary = self.compile(self.write(order, 'plan("plan.json")'))
        steps = [self.bench(binary, file)["seconds"] / self.options.steps
                 for _ in range(self.options.rounds)]
        predicted, measured = plan["simulated_ms"], 1e3 * min(steps)
        print(f"{self.ranks} ranks, {order}: predicted {predicted:.2f} ms, measured "
              f"{measured:.2f} ms, ratio {predicted / measured:.3f}", flush=True)
        return measured


def main():
    parser = make_parser(__doc__.split("\n\n")[0], 16, 10)
    parser.add_argument("--orders", default=",".join(ORDERS))
    parser.add_argument("--in-flight", type=int)
    options = parser.parse_args()
    options.hftac = options.hftac.resolve()
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, ranks, pathlib.Path(folder))
            steps = {order: bench.measure(order) for order in options.orders.split(",")}
            first = next(iter(steps))
            for order, step in list(steps.items())[1:]:
                print(f"{ranks} ranks, {order}: {step / steps[first]:.3f} times as long as "
                      f"{first}", flush=True)


if __name__ == "__main__":
    main()
