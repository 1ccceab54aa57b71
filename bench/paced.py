#!/usr/bin/env python3
"""Measures how close many ranks come to the critical path of their schedule.
Tasks only sleep (`bench --device paced:COSTS.json`), but schedules and
messages are real.

    bench/paced.py [--hftac build/bin/hftac] [--ranks 8,16] [--micro-batches 64]
                   [--steps 20] [--rounds 3]

The critical path is that of a step's tasks; messages count as taking no time.
Needs Python's standard library and Open MPI's mpirun."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile

from paced_runs import make_job, make_parser, run_paced

# The milliseconds that one run of a task sleeps, by the task's part.
PARTS = {"forward": 5.0, "backward": 10.0, "update": 4.0, "report": 0.5,
         "combine": 0.2, "combine_results": 0.1}


class Walk:
    """Simulates a schedule on all ranks. `queues[rank][queue]` is the time in seconds at
    which a queue is done with the commands so far, `events[rank][event]` the time of the
    event's last record."""

    def __init__(self, seconds, info, ranks):
        self.seconds = seconds
        self.ranks = range(ranks)
        self.groups = info["groups"]
        self.own = [sum(m % self.groups % ranks == rank
                        for m in range(info["micro_batches"]))
                    for rank in self.ranks]
        self.queues = [collections.Counter() for _ in self.ranks]
        self.events = [{} for _ in self.ranks]

    def all_reduce(self, command):
        """Simulates an all-reduce: each rank adds up all groups' sums for its share of
        the bytes, and then gathers the other shares. So all ranks wait for each other
        twice: before the additions and after them."""
        blocks = command["bytes"] // command["at"]["copy_stride"]
        queue, ranks = command["queue"], len(self.ranks)
        self.meet(queue)
        for rank in self.ranks:
            if blocks * rank // ranks < blocks * (rank + 1) // ranks:
                self.queues[rank][queue] += ((self.groups - 1)
                                             * self.seconds[command["task"]])
        self.meet(queue)

    def meet(self, queue):
        last = max(queues[queue] for queues in self.queues)
        for queues in self.queues:
            queues[queue] = last

    def one(self, rank, command):
        """Simulates a command that one rank runs without waiting for others."""
        queues, events = self.queues[rank], self.events[rank]
        queue = command.get("queue", 0)
        if command["command"] == "run":
            queues[queue] += self.seconds[command["task"]]
        elif command["command"] == "record":
            events[command["event"]] = queues[queue]
        elif command["command"] == "await":
            queues[queue] = max(queues[queue], events.get(command["event"], 0.0))
        elif command["command"] == "repeat":
            times = self.own[rank] if command["over"] == "micro_batches" else 1
            for _ in range(times):
                for inner in command["commands"]:
                    self.one(rank, inner)

    def all(self, commands):
        for command in commands:
            if command["command"] == "all_reduce":
                self.all_reduce(command)
            else:
                for rank in self.ranks:
                    self.one(rank, command)
        return max(max(queues.values()) for queues in self.queues)


def find_path(info, seconds, ranks):
    step = next(s for s in info["schedules"] if s["name"] == "step")
    return Walk(seconds, info, ranks).all(step["commands"])


def call(*command):
    return subprocess.run([str(part) for part in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def measure(options, ranks, folder):
    job, binary, costs = (folder / name for name in ("sweep.hfta", "sweep",
                                                     "costs.json"))
    job.write_text(make_job(256, ["first", "second"], options.micro_batches,
                            "adam(lr = 1e-3)", f"pipeline replicas = [{ranks}]"))
    call(options.hftac, job, "--cuts=first,second", "-o", binary)
    info = json.loads(call(binary, "info", "--json"))
    seconds = {task["name"]: 1e-3 * PARTS[task["name"].split(".")[0]]
               for task in info["tasks"] if task["name"].split(".")[0] in PARTS}
    costs.write_text(json.dumps({"tasks": [
        {"name": name, "runs": 1, "seconds": time}
        for name, time in seconds.items()]}))
    path = find_path(info, seconds, ranks)
    for _ in range(options.rounds):
        step = (run_paced(ranks, binary, options.steps, costs)["seconds"]
                / options.steps)
        print(f"{ranks} ranks: a step takes {1e3 * step:.2f} ms, its critical path "
              f"{1e3 * path:.2f} ms: {step / path:.3f} times", flush=True)


def main():
    options = make_parser(__doc__, 64, 20).parse_args()
    print(f"{os.cpu_count()} processors")
    for ranks in options.ranks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            measure(options, int(ranks), pathlib.Path(folder))


if __name__ == "__main__":
    main()
