#!/usr/bin/env python3
"""Compares the time of steps of many replicas that share K-FAC's work with the time that
`--plan` predicts. Tasks only sleep (`bench --device paced:COSTS.json`), but schedules and
messages are real.

    bench/paced_kfac.py [--hftac build/bin/hftac] [--networks resnet18,transformer_lm]
                        [--placements balanced,fraction(0.25),local] [--ranks 16]
                        [--micro-batches 16] [--steps 12] [--rounds 3] [--goals]

A quarter of the steps compute inverses, another quarter only factors. A task takes the
share of its part's time that corresponds to its flops in the plan; links take what `bench
--phases --json` of a program with as many ranks measures. The placement is planned with
both, as --costs. With --goals, exits with 1 unless each kind of step takes what was
planned within a tenth. Needs Python's standard library and Open MPI's mpirun."""

import collections
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

from paced_runs import make_parser, run_paced

# These are found by the path that paced_runs adds.
from harness import run
from network_run import NetworkFolder, networks

KINDS = ("with inverses", "with factors", "else")
GOAL = 0.1
# The seconds that all tasks of a part take on one rank, for one micro-batch. For the
# versions of tasks that also add up second moments (*_moments), this is the additional
# time.
SECONDS = {"forward": 0.2, "forward_moments": 0.1, "shared_moments": 0.02,
           "backward": 0.4, "backward_moments": 0.1, "curvature": 0.1, "invert": 4.0,
           "precondition": 0.6, "norm": 0.02, "scale": 0.01, "update": 0.1}
# How many blocks of --cuts=all are merged into one block.
PARTS_OF_BLOCK = 3


def get_part(name):
    return name.split(".")[0]


def get_first_version(name):
    """Returns the task that computes as `name` does, but adds up no second moments; or None
    if the task `name` isn't one that adds them up."""
    return name.replace("_moments.", ".") if name.startswith(
        ("forward_moments", "backward_moments")) else None


def make_times(info):
    """Returns the seconds that each task sleeps. The time of a part (SECONDS) is divided
    among its tasks in proportion to their flops."""
    flops = {task["name"]: task["flops"] for task in info["plan"]["tasks"]}
    flops = {name: max(0, count - flops.get(get_first_version(name), 0))
             for name, count in flops.items()}
    whole = collections.Counter()
    for name, count in flops.items():
        whole[get_part(name)] += count
    times = {name: SECONDS.get(get_part(name), 0) * flops[name]
             / max(1, whole[get_part(name)]) for name in flops}
    return {task["name"]: times.get(task["name"], 0)
            + times.get(get_first_version(task["name"]), 0) for task in info["tasks"]}


class Bench:
    def __init__(self, options, name, folder):
        self.options, self.name = options, name
        self.parts = options.micro_batches or options.ranks
        self.folder = NetworkFolder(options.hftac, name, folder / name, samples=1)
        self.job = self.folder.work / "job.hfta"
        self.costs = self.folder.work / "costs.json"
        self.write("auto")
        whole = json.loads(run(self.compile("--cuts=all"), "info", "--json"))
        names = [cut[0] for cut in whole["plan"]["cuts"]]
        self.cuts = "--cuts=" + ",".join(names[PARTS_OF_BLOCK - 1::PARTS_OF_BLOCK])

    def write(self, placement):
        ranks = self.options.ranks
        self.job.write_text(networks.make_job(
            self.name, str(self.folder.model), "f32", rates=[1e-3], dropout=None,
            batch=4 * self.parts, clauses=[
                f"precondition kfac(placement = {placement}, factor_every = 2, "
                "inverse_every = 4)", f"micro_batches {self.parts}",
                f"pipeline replicas = [{ranks}]", f"cluster devices = [{ranks}]"]))

    def compile(self, *flags):
        """Compiles the job, overwriting the previous program."""
        binary = self.job.with_suffix("")
        run(self.options.hftac, self.job, "-o", binary, *flags)
        return binary

    def write_times(self, binary, links):
        """Writes a file of costs like that of `bench --phases --json` on one rank."""
        info = json.loads(run(binary, "info", "--json"))
        tasks = [{"name": name, "runs": 1, "copies": 1, "seconds": seconds}
                 for name, seconds in make_times(info).items()]
        self.costs.write_text(json.dumps({
            "model": info["plan"]["model"], "cuts": info["plan"]["cuts"], "copies": 1,
            "batch": 4 * self.parts, "micro_batches": self.parts,
            "tasks": tasks, "links": links}))

    def get_planned(self):
        """Returns a description of the planned placement, and the planned seconds of each
        kind of step."""
        text = run(self.options.hftac, self.job, self.cuts, "--plan",
                   f"--costs={self.costs}")
        found = re.search(r"preconditioner, by measured costs: (.*)\nsteps (\S+) ms with "
                          r"inverses, (\S+) ms with factors, (\S+) ms else", text)
        return found.group(1), [1e-3 * float(found.group(part)) for part in (2, 3, 4)]

    def measure(self, binary):
        """Returns the seconds of each kind of step: the median of the steps of all
        rounds."""
        steps = [[], [], []]
        trace = self.folder.work / "trace.json"
        for _ in range(self.options.rounds):
            run_paced(self.options.ranks, binary, self.options.steps, self.costs,
                      f"--trace={trace}", f"--trace-steps={self.options.steps}")
            events = [event for event in json.loads(trace.read_text())["traceEvents"]
                      if event["ph"] == "X"]
            begins = sorted(event["ts"] for event in events
                            if event["name"] == "step" and event["pid"] == 0)
            for begin, end in zip(begins, begins[1:]):
                parts = {get_part(event["name"]) for event in events
                         if begin <= event["ts"] < end}
                kind = 0 if "invert" in parts else 1 if "curvature" in parts else 2
                steps[kind].append(1e-6 * (end - begin))
        return [statistics.median(kind) for kind in steps]

    def compare(self, placement):
        self.write(placement)
        binary = self.compile(self.cuts)
        self.write_times(binary, [])
        links = run_paced(self.options.ranks, binary, 1, self.costs, "--phases")["links"]
        for link in links:
            link["slowdown"] = 1  # tasks only sleep, so transfers don't slow them down
        self.write_times(binary, links)
        plan, planned = self.get_planned()
        binary = self.compile(self.cuts, f"--costs={self.costs}")
        self.write_times(binary, links)
        ratios = []
        for kind, ours, measured in zip(KINDS, planned, self.measure(binary)):
            ratios.append(measured / ours)
            print(f"{self.name}, {plan}: steps {kind} planned {1e3 * ours:.1f} ms, measured "
                  f"{1e3 * measured:.1f} ms, ratio {measured / ours:.3f}", flush=True)
        return ratios


def main():
    parser = make_parser(__doc__.split("\n\n")[0], None, 12)
    parser.set_defaults(ranks="16")
    parser.add_argument("--networks", default="resnet18,transformer_lm")
    parser.add_argument("--placements", default="balanced,fraction(0.25),local")
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    options.hftac = options.hftac.resolve()
    options.ranks = int(options.ranks)
    ratios = []
    for name in options.networks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, name, pathlib.Path(folder))
            for placement in options.placements.split(","):
                ratios += bench.compare(placement)
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    print(f"{os.cpu_count()} processors; worst ratio {worst:.3f}")
    if options.goals and abs(worst - 1) > GOAL:
        sys.exit(1)


if __name__ == "__main__":
    main()
