#!/usr/bin/env python3
"""Tests traces of trainings and of `bench`. No two events of a row may overlap, and each
step must run every task of its schedule for every micro-batch and copy."""

import collections
import json
import signal
import subprocess
import time

from harness import COPIES, Work, expect_equal, fail, make_job, run
from tracing import RESOLUTION, end, expect_order, read_trace

ROOM = 65536  # the largest number of events of a rank in a trace
MICRO_BATCHES = 4
GROUPS = 2


def walk(commands, times=1):
    """Yields the commands of a schedule, including nested ones, each with the number of
    times that it is executed per step: MICRO_BATCHES within a loop over micro-batches, else
    1."""
    for command in commands:
        is_repeated = command.get("over", "").endswith("micro_batches")
        yield command, times
        yield from walk(command.get("commands", []),
                        MICRO_BATCHES if is_repeated else times)


def expected_runs(info):
    """Returns the number of runs of each task in a step: pairs of a micro-batch and a copy,
    or, for a task that adds up groups, calls."""
    step = next(s for s in info["schedules"] if s["name"] == "step")
    runs = {}
    for command, times in walk(step["commands"]):
        if command["command"] == "run":
            runs[command["task"]] = times * COPIES
        elif command["command"] == "all_reduce":
            runs[command["task"]] = GROUPS - 1
    return runs


def expect_tasks(rows, info, steps):
    """Checks that the events of each step are within it, that each task runs as often as
    expected, and that there are no other events."""
    tasks = {task["name"] for task in info["tasks"]}
    expect_equal([event["args"]["step"] for event in rows["steps"]], steps,
                 "steps")
    events = [event for name in ("compute", "transfers", "sums")
              for event in rows[name]]
    for step in rows["steps"]:
        within = [event for event in events if step["ts"] <= event["ts"]
                  and end(event) <= end(step) + RESOLUTION]
        events = [event for event in events if event not in within]
        runs, done = collections.Counter(), set()
        for event in within:
            arguments = event["args"]
            if event["name"] not in tasks:
                continue
            runs[event["name"]] += arguments.get("copies", 1)
            if "copies" in arguments:
                key = (event["name"], arguments.get("micro_batch"),
                       arguments["first_copy"])
                if key in done:
                    fail(f"{key} ran twice in a step")
                done.add(key)
        expect_equal(dict(runs), expected_runs(info), f"runs in {step['args']}")
    expect_equal(events, [], "events of no step")


def expect_times(result, rows, steps):
    """Checks that the runs and seconds that the program reports for its tasks are those of
    the trace."""
    runs, seconds = collections.Counter(), collections.Counter()
    tasks = {task["name"]: task for task in result["tasks"]}
    for name in ("compute", "sums"):
        for event in rows[name]:
            if event["name"] in tasks:
                runs[event["name"]] += 1
                seconds[event["name"]] += 1e-6 * event["dur"]
    for name, task in tasks.items():
        expect_equal(task["runs"], runs[name] / steps, f"runs of {name}")
        expect_equal(round(task["seconds"] - seconds[name] / steps, 6), 0,
                     f"seconds of {name}")


def main():
    work = Work(__doc__, "mlp")
    binary = work.compile("sweep", make_job(
        "mlp", 12, f"  micro_batches {MICRO_BATCHES}, groups = {GROUPS}"))
    info = json.loads(run(binary, "info", "--json"))
    path = work.folder / "trace.json"

    def trace(command, *options):
        path.write_text("an older one")
        output = run(binary, command, "--trace", path, *options)
        whole, processes = read_trace(path)
        rows = processes[0]
        expect_equal(list(work.folder.glob("trace.json?*")), [], "other files")
        expect_equal(whole["otherData"], {"program": "sweep", "ranks": 1},
                     "otherData")
        return output, whole, rows

    def train(*options):
        return trace("train", "--data", work.folder, *options)

    _, whole, rows = train("--no-progress")
    expect_order(rows)
    expect_tasks(rows, info, [1, 2, 3, 4, 5])
    expect_equal([event["args"]["step"] for event in rows["reading"]],
                 [1, 2, 3, 4, 5], "batches that were read")
    names = [event["args"]["name"] for event in whole["traceEvents"]
             if event["name"] == "process_name"]
    expect_equal(names, ["rank 0 (worker 0)"], "names of processes")

    # This run resumes another one; the traced steps are the first ones of this run.
    saved = work.folder / "saved"
    options = ["--checkpoint", saved, "--resume"]
    run(binary, "train", "--data", work.folder, "--steps", "3", *options)
    _, _, rows = train("--trace-steps", "2", "--steps", "6", *options)
    expect_tasks(rows, info, [4, 5])
    # This run has nothing left to do, so its trace has no rows.
    _, _, rows = train("--steps", "6", *options)
    expect_equal(rows, {}, "rows without steps")
    _, _, rows = train("--trace-steps", "9", "--steps", "8", *options)
    expect_tasks(rows, info, [7, 8])

    _, _, rows = trace("bench", "--steps", "4", "--trace-steps", "3", "--phases")
    expect_order(rows)
    expect_tasks(rows, info, [1, 2, 3])
    output, _, rows = trace("bench", "--steps", "2", "--json", "--phases")
    expect_tasks(rows, info, [1, 2])
    expect_times(json.loads(output), rows, 2)
    expect_equal("tasks" in json.loads(run(binary, "bench", "--json")), False,
                 "seconds without --phases")

    # A training that is stopped must write its trace, too.
    path.unlink()
    log = work.folder / "stopped.jsonl"
    process = subprocess.Popen(
        [binary, "train", "--data", work.folder, "--steps", "1000000000", "--log",
         log, "--trace", path, "--trace-steps", "1000000000"],
        stderr=subprocess.PIPE)
    while not log.exists() or '"step":50,' not in log.read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate()
    expect_equal(process.returncode, 130, "exit code")
    _, processes = read_trace(path)
    if len(processes[0]["steps"]) < 50:
        fail(f"{len(processes[0]['steps'])} steps after 50")

    # If there are more events than a trace can hold, the output must say how many are
    # missing.
    output, whole, rows = train("--steps", "3000", "--trace-steps", "3000")
    expect_order(rows)
    expect_equal(sum(map(len, rows.values())), ROOM, "events")
    labels = [event["args"]["labels"] for event in whole["traceEvents"]
              if event["name"] == "process_labels"]
    lacking = labels[0].split()[0]
    if f"the trace lacks {lacking} events" not in output:
        fail(f"no note about {labels}: {output}")


if __name__ == "__main__":
    main()
