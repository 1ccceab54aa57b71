#!/usr/bin/env python3
"""Compares the time of a step of stages with the time that the planner predicts from
costs that were measured before.

    bench/pipelines.py [--hftac build/bin/hftac] [--networks resnet18,transformer_lm]
                       [--orders one_f_one_b,…]
                       [--copies 1] [--batch 1024] [--micro-batches 8] [--own-cuts]
                       [--hosts 200e6,1e9] [--steps 20] [--rounds 3]

There are two stages on two ranks of one thread, each on a processor of its own; for
orders with several chunks, a stage has two parts of the model, as the planner cuts it.
The costs are measured by `bench --phases --json` of a program of all layers or, with
--own-cuts, of a program of the same stages. The plan predicts the time of a step, and the
program of the stages is timed. With --hosts, each rank is on a host of its own, a network
namespace of this machine, with that many bits per second between them; this needs root
and iproute2. The best steps are compared with those of the program that isn't cut, on one
rank of two threads. Runs of all programs take turns. Other processes on the machine
disturb some steps and some tasks, so the lower quartile of each counts. Needs Open MPI's
mpirun and Python's standard library."""

import argparse
import collections
import contextlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

from harness import run  # noqa: E402  (found by the path above)
from hosts import make_hosts  # noqa: E402
from mpirun import COMMAND, get_environment  # noqa: E402
from network_run import NetworkFolder, networks  # noqa: E402
from pipeline_orders import CHUNKS_OF_ORDERS as ORDERS  # noqa: E402

# The value at which each network is cut into two stages with about equal work.
CUTS = {"resnet18": "/MaxPool",
        "transformer_lm": "/layers.1/norm2/LayerNormalization"}


# Pins each rank to a processor of its own.
PIN = 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"'


def lower_quartile(values):
    return sorted(values)[(len(values) - 1) // 4]


class Runs:
    """The measurements of all runs of one program."""

    def __init__(self, binary):
        self.binary = binary
        self.steps = []                            # seconds
        self.tasks = collections.defaultdict(list)  # seconds of each run, by task
        self.phases = None
        self.links = []

    def add(self, command, options):
        trace = self.binary.with_suffix(".trace.json")
        result = subprocess.run(
            [*map(str, command), "-n", "2", "sh", "-c", PIN, "sh", str(self.binary),
             "bench", "--json", "--phases", "--threads=1", f"--steps={options.steps}",
             f"--trace-steps={options.steps}", f"--trace={trace}"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=get_environment(self.binary.parent))
        self.phases = json.loads(next(line for line in result.stdout.splitlines()
                                      if line.startswith("{")))
        self.links.append(self.phases["links"][0])
        self.add_trace(json.loads(trace.read_text())["traceEvents"])

    def add_trace(self, events):
        names = {task["name"] for task in self.phases["tasks"]}
        begins = []
        for event in events:
            if event["ph"] == "X" and event["name"] in names:
                self.tasks[event["name"]].append(1e-6 * event["dur"])
            elif event["ph"] == "X" and event["name"] == "step" and not event["pid"]:
                begins.append(1e-6 * event["ts"])
        begins.sort()
        self.steps += [end - begin for begin, end in zip(begins, begins[1:])]

    def get_step(self):
        return lower_quartile(self.steps)

    def get_costs(self):
        """Returns the costs in the form of `bench --phases --json`."""
        tasks = [{**task, "seconds": task["runs"]
                  * lower_quartile(self.tasks[task["name"]])}
                 for task in self.phases["tasks"] if self.tasks[task["name"]]]
        link = {"ranks": [0, 1], **{
            key: statistics.median(link[key] for link in self.links)
            for key in ("latency", "bytes_per_second", "slowdown")}}
        return {**self.phases, "tasks": tasks, "links": [link]}


class Bench:
    def __init__(self, name, folder, options):
        self.name, self.options = name, options
        self.folder = NetworkFolder(options.hftac, name, folder / name, samples=1)
        network = networks.NETWORKS[name]
        self.settings = {"batch": options.batch,
                         "rates": [1e-3 / 2**copy for copy in range(options.copies)]}
        if network.has_dropout:
            self.settings["dropout"] = 0.1

    def write(self, program, pipeline, cluster):
        """Writes a job file and returns its path. Without a pipeline, one rank trains the
        whole model."""
        clauses = [f"micro_batches {self.options.micro_batches}"]
        if pipeline:
            clauses += [f"cluster devices = {cluster}", f"pipeline {pipeline}"]
        job = self.folder.work / f"{program}.hfta"
        job.write_text(networks.make_job(self.name, str(self.folder.model), "f32",
                                         clauses=clauses, **self.settings))
        return job

    def compile(self, program, pipeline, cluster, *flags):
        job = self.write(program, pipeline, cluster)
        binary = job.with_suffix("")
        run(self.options.hftac, job, "-o", binary, *flags)
        return binary

    def get_cuts(self, order, cluster, costs):
        """Returns the cuts between the parts of the model, each a list of values."""
        if ORDERS[order] == 1:
            return [[CUTS[self.name]]]
        self.write(order, f"auto, chunks = {ORDERS[order]}, order = {order}", cluster)
        parts = [part for stage in self.plan(order, costs)["stages"]
                 for part in stage["chunks"]]
        parts.sort(key=lambda part: part["part"])
        return [part.get("cut", [part["last"]]) for part in parts[:-1]]

    def compile_order(self, order, cluster, costs):
        """Compiles the job with an order as the plan refines it: with the plan's list of
        actions if it has one, else with its numbers of micro-batches in flight."""
        pipeline = (f"cuts = {json.dumps(self.get_cuts(order, cluster, costs))}, "
                    f"chunks = {ORDERS[order]}, order = ")
        self.write(order, pipeline + order, cluster)
        plan = self.plan(order, costs)
        if "actions" in plan:
            rows = "".join(row + "\n" for row in plan["actions"])
            (self.folder.work / f"{order}.csv").write_text(rows)
            return self.compile(order, f'{pipeline}file("{order}.csv")', cluster)
        counts = [stage["in_flight"] for stage in plan["stages"]]
        return self.compile(order, f"{pipeline}{order}, in_flight = {counts}", cluster)

    def plan(self, program, costs):
        """Returns hftac's plan for the job file of a program, made with these costs."""
        folder = self.folder.work
        (folder / "costs.json").write_text(json.dumps(costs))
        subprocess.run([self.options.hftac, folder / f"{program}.hfta",
                        "--plan-pipeline", f"--costs={folder / 'costs.json'}",
                        "-o", folder / "plan.json"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads((folder / "plan.json").read_text())

    def measure(self, command, cluster, where):
        """Times the steps of each order and prints them beside the planned times. Returns
        for each order the ratio of the planned to the measured time."""
        options = self.options
        layers = Runs(self.compile("layers", "replicas = [2]", cluster, "--cuts=all"))
        layers.add(command, options)
        runs = {order: Runs(self.compile_order(order, cluster, layers.get_costs()))
                for order in options.orders.split(",")}
        whole = self.compile("whole", None, cluster)
        steps = []
        for _ in range(options.rounds):
            for one in [layers, *runs.values()]:
                one.add(command, options)
            steps.append(json.loads(run(whole, "bench", "--json", "--threads=2",
                                        f"--steps={options.steps}"))["seconds"])
        ratios = []
        for order, one in runs.items():
            costs = (one if options.own_cuts else layers).get_costs()
            predicted = 1e-3 * self.plan(order, costs)["simulated_ms"]
            measured = one.get_step()
            ratios.append(predicted / measured)
            print(f"{self.name}, {where}, {order}: predicted {1e3 * predicted:.2f} ms, "
                  f"measured {1e3 * measured:.2f} ms, ratio {ratios[-1]:.3f}; "
                  f"{min(steps) / options.steps / min(one.steps):.2f} times the speed of "
                  "one rank of two threads", flush=True)
        return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--networks", default=",".join(CUTS))
    parser.add_argument("--orders", default=",".join(ORDERS))
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--own-cuts", action="store_true")
    parser.add_argument("--hosts", help="bits a second between two hosts")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=pathlib.Path,
                        help="where to leave jobs, costs, plans and traces")
    options = parser.parse_args()
    options.hftac = options.hftac.resolve()
    ratios = []
    with contextlib.ExitStack() as stack:
        folder = options.work or pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory()))
        for name in options.networks.split(","):
            bench = Bench(name, folder.resolve(), options)
            if not options.hosts:
                ratios += bench.measure(COMMAND, "[2]", "one machine")
                continue
            for rate in map(float, options.hosts.split(",")):
                with make_hosts(bench.folder.work, rate=rate / 8,
                                burst="128kb") as command:
                    ratios += bench.measure(command, "[1, 1]",
                                            f"{rate / 1e6:.0f} Mbit/s")
    worst = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    print(f"{os.cpu_count()} processors; worst ratio {worst:.3f}")


if __name__ == "__main__":
    main()
