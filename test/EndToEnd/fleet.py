#!/usr/bin/env python3
"""Tests unequal jobs at seats: sweeps, one job that spills, and a small one. Each must
train to the same bytes as in its own program, with any scheduler, after kills, and beside a
job that fails. A signal must stop and save all of them."""

import json
import os
import random
import shutil
import signal
import subprocess

import jobs as one_by_one
from harness import expect_equal, fail, run
from jobs import COPIES, NAMES, STEPS, TRAINS, Jobs, measure, run_killed

KILLS = 10
# An additional job, whose memory budget is less than it needs at one time, so that it
# spills.
BUDGET = "  memory    device = 2304KiB\n"
LARGE = """
train large {
  model     large(image)
  data      digits, batch = 16
  loss      cross_entropy(large, label)
  optimizer adam(lr = 1e-3)
%s  steps     25
}
"""
one_by_one.DECLARATIONS += """
model large(image: f32[batch, 1, 8, 8]) {
  first  = relu(linear(flatten(image), 300))
  second = relu(linear(first, 300))
  third  = relu(linear(second, 300))
  return output = linear(third, 10)
}
"""
NAMES.append("large")
STEPS["large"] = 25
COPIES["large"] = 1
TRAINS["large"] = LARGE % ""
SCHEDULERS = ["lrtf", "fifo", "srtf", "random", "exact", "model_parallel"]


class Fleet(Jobs):
    """The jobs of jobs.py and the additional one, in one program."""

    def __init__(self):
        super().__init__()
        trains = dict(TRAINS, large=LARGE % BUDGET)
        self.binary = self.work.compile(
            "fleet", one_by_one.DECLARATIONS + "".join(trains.values()))

    def seats(self, folder, count, *flags):
        return self.command(folder, "--seats", str(count), "--spill-dir",
                            self.work.folder, *flags)


def test_schedulers(fleet):
    for count, name in enumerate(SCHEDULERS):
        folder = fleet.work.folder / name
        log = fleet.work.folder / f"{name}.jsonl"
        log.write_text("an older one\n")
        text = run(*fleet.seats(folder, 1 + count % 3, "--scheduler", name, "--log", log))
        expect_equal(sorted(line for line in text.splitlines() if line in NAMES),
                     sorted(NAMES), "blocks")
        fleet.expect_trained(folder, name)
        expect_equal(one_by_one.read_events(log), fleet.events, f"log of {name}")


def test_files(fleet):
    """Tests that a trace has a row for each of a seat's two places, and that the simulator
    reads the workload that a training writes."""
    folder, trace = fleet.work.folder / "files", fleet.work.folder / "trace.json"
    workload = fleet.work.folder / "workload.json"
    run(*fleet.seats(folder, 2, "--trace", trace, "--workload", workload))
    events = json.loads(trace.read_text())["traceEvents"]
    rows = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    expect_equal(rows, ["seat 0", "seat 0, ahead", "seat 1", "seat 1, ahead"], "rows")
    for name in NAMES:
        steps = sum(event["args"].get("steps", 0) for event in events
                    if event["ph"] == "X" and event["name"] == name)
        expect_equal(steps, STEPS[name], f"traced steps of {name}")
    names = [model["name"] for model in json.loads(workload.read_text())["models"]]
    expect_equal(names, NAMES, "models of the workload")
    result = json.loads(run(fleet.work.hftac, f"--simulate={workload}", "--json"))
    if not result["schedulers"]["lrtf"]["makespan"] > 0.999 * result["lower_bound"] > 0:
        fail(f"no sensible simulation: {result}")


def test_kills(fleet):
    """Kills and resumes a training at random times. If it ends before KILLS kills, another
    training is begun."""
    folder, log = fleet.work.folder / "killed", fleet.work.folder / "killed.jsonl"
    duration = measure(fleet.seats(fleet.work.folder / "timed", 2))
    numbers = random.Random(5)
    left = KILLS
    while True:
        left -= run_killed(
            fleet.seats(folder, 2, "--log", log, "--resume", "--every", "3"),
            duration * 0.8, left, numbers)
        fleet.expect_trained(folder, f"{left} kills before the last")
        fleet.expect_logged(log, f"{left} kills before the last")
        if left == 0:
            return
        shutil.rmtree(folder)
        log.unlink()


def test_interrupt(fleet):
    """Tests that Ctrl-C saves every job, and that a message names the step at which each
    has stopped."""
    folder, log = fleet.work.folder / "stopped", fleet.work.folder / "stopped.jsonl"
    os.mkfifo(log)
    process = subprocess.Popen(
        fleet.seats(folder, 2, "--log", log, "--steps", "100000000"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stepped = set()
    with open(log) as lines:
        for line in lines:
            event = json.loads(line)
            if event["event"] == "step":
                stepped.add(event["job"])
            if stepped == set(NAMES):
                process.send_signal(signal.SIGINT)
                break
        lines.read()
    out, err = process.communicate()
    expect_equal((process.returncode, out), (130, ""), f"exit code, results ({err})")
    for name in NAMES:
        saved = next((folder / name).glob("step-*"))
        if f"stopped after step {int(saved.name[5:])}; saved {saved}" not in err:
            fail(f"nothing about {name}: {err}")


def test_missing_data(fleet):
    """Tests that a job without its data fails while the others go on, and that it can be
    resumed when the data are there."""
    folder, log = fleet.work.folder / "partial", fleet.work.folder / "partial.jsonl"
    pictures, away = (fleet.work.folder / name for name in ("cnn-image.npy", "away.npy"))
    pictures.rename(away)
    text = run(*fleet.seats(folder, 2, "--log", log), code=1)
    if "fleet: error: job 'conv': " not in text or "cnn-image.npy" not in text:
        fail(f"no word about its data: {text}")
    fleet.expect_trained(folder, "beside a failure", ["narrow", "wide", "large"])
    away.rename(pictures)
    run(*fleet.seats(folder, 2, "--log", log, "--resume"))
    fleet.expect_trained(folder, "after a failure")
    fleet.expect_logged(log, "after a failure")
    # A new training fails for each job whose checkpoint folder isn't empty, and only for
    # these.
    shutil.rmtree(folder / "large")
    text = run(*fleet.seats(folder, 2), code=1)
    for name in ("narrow", "conv", "wide"):
        if f"fleet: error: job '{name}': '{folder}/{name}' holds checkpoints" not in text:
            fail(f"nothing about {name}: {text}")
    fleet.expect_trained(folder, "beside full folders", ["large"])


def test_info(fleet):
    """Tests that `info` shows which jobs spill, and the memory and forecast for two
    seats."""
    told = json.loads(run(fleet.binary, "info", "--seats", "2", "--json"))
    expect_equal([job["name"] for job in told["jobs"] if job["spills"]], ["large"],
                 "who spills")
    expect_equal([job["steps"] for job in told["jobs"]],
                 [STEPS[name] for name in NAMES], "steps")
    seats = told["seats"]
    expect_equal(seats["all_bytes"],
                 seats["jobs_bytes"] + 2 * (seats["seat_bytes"] + seats["arena_bytes"]),
                 "bytes of two seats with two places each")
    if not 0 < seats["lower_bound"] <= seats["makespan"] <= seats["model_parallel"]:
        fail(f"no sensible forecast: {seats}")


def test_help(fleet):
    """Tests that a program of several jobs has the option --seats, and that a program
    with only job "narrow" doesn't."""
    alone = fleet.work.folder / "narrow"
    expect_equal("--seats" in run(alone, "train", "--help"), False, "--seats of one job")
    expect_equal("--seats" in run(fleet.binary, "train", "--help"), True, "--seats")


def main():
    fleet = Fleet()
    test_schedulers(fleet)
    test_files(fleet)
    test_kills(fleet)
    test_interrupt(fleet)
    test_missing_data(fleet)
    test_info(fleet)
    test_help(fleet)
    print("all jobs as alone")


if __name__ == "__main__":
    main()
