#!/usr/bin/env python3
"""Tests a job whose copies take turns within a memory budget, and which shares the seats
with a small job, so that several seats compute different groups of its copies at the same
time. The copies must train to the same bytes and log as with enough memory, with turns of
one step and of several, and after signals and kills; a failure must end the job as a whole.
With '--only single', only the program with that job alone is tested."""

import json
import os
import random
import signal
import subprocess

from harness import (DATA, MODELS, Work, checkpoint, expect_equal, expect_same_checkpoint,
                     fail, run)
from jobs import NAMES, read_events, run_killed, without_starts

KILLS = 4
NAMES[:] = ["small", "groups"]
STEPS, COPIES, LOG_EVERY = 45, 5, 10
# The budgets, and the first and last copies of the job's two parts. In the smaller budget,
# turns have one copy and one step; in the larger one, two copies and several steps.
BUDGETS = {"3MiB": [(0, 1), (2, 4)], "8MiB": [(0, 1), (2, 4)]}

DECLARATIONS = MODELS["mlp"] + """
model large(image: f32[batch, 1, 8, 8]) {
  first  = relu(linear(flatten(image), 300))
  second = dropout(relu(linear(first, 300)), 0.2)
  third  = relu(linear(second, 300))
  return output = linear(third, 10)
}
data digits {
  train %s
  test  %s
}
""" % (DATA["mlp"], DATA["mlp"])
GROUPS = """
train groups {
  model     large(image)
  data      digits, batch = 16
  loss      cross_entropy(large, label)
  metric    accuracy(large, label)
  optimizer adam(lr = [1e-3, 2e-3, 3e-3, 4e-3, 5e-3])
%s  steps     45
}
"""
SMALL = """
train small {
  model     net(image)
  data      digits, batch = 16
  loss      cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
  steps     30
}
"""


class Groups:
    def __init__(self):
        self.work = work = Work(__doc__, "mlp", more=["--only"])
        whole = work.compile("groups", DECLARATIONS + GROUPS % "")
        log = work.folder / "groups.jsonl"
        self.alone = checkpoint(
            work.train(whole, "--log", log, "--log-every", LOG_EVERY), STEPS)
        self.events = [json.loads(line) for line in log.read_text().splitlines()]
        for event in self.events:
            event.pop("seconds", None)
        self.binaries = {}

    def command(self, budget, folder, seats, *flags):
        if budget not in self.binaries:
            self.binaries[budget] = self.work.compile(
                f"fleet-{budget}", DECLARATIONS + SMALL
                + GROUPS % f"  memory    device = {budget}\n")
        return [str(part) for part in (
            self.binaries[budget], "train", "--data", self.work.folder, "--checkpoint",
            folder, "--spill-dir", self.work.folder, "--no-progress", "--log-every",
            LOG_EVERY, "--seats", seats, *flags)]

    def expect_trained(self, folder, what):
        expect_same_checkpoint(checkpoint(folder / "groups", STEPS), self.alone, what, COPIES)

    def expect_logged(self, log, what):
        expect_equal(without_starts(read_events(log)["groups"]), without_starts(self.events),
                     f"log, {what}")


def test_seats(groups, budget):
    for seats in (1, 2, 3):
        what = f"{budget}, {seats} seats"
        folder = groups.work.folder / f"{budget}-{seats}"
        log, trace = (folder.with_suffix(end) for end in (".jsonl", ".json"))
        run(*groups.command(budget, folder, seats, "--log", log, "--trace", trace,
                            "--threads", seats))
        groups.expect_trained(folder, what)
        expect_equal(read_events(log)["groups"], groups.events, f"log, {what}")
        steps = {}
        for event in json.loads(trace.read_text())["traceEvents"]:
            if event["ph"] == "X" and "steps" in event["args"]:
                steps[event["name"]] = steps.get(event["name"], 0) + event["args"]["steps"]
        steps.pop("small")
        expect_equal(set(steps.values()), {STEPS}, f"steps, {what}")
        expect_equal(len(steps), seats, f"parts, {what}: {steps}")
        if seats == 2:
            names = {f"groups, copies {first} to {last}" for first, last in BUDGETS[budget]}
            expect_equal(set(steps), names, f"parts, {what}")


def test_single(groups, budget):
    """Tests that a program with this job alone has seats, too, and that a program whose
    copies don't take turns has none."""
    work = groups.work
    binary = work.compile(f"single-{budget}",
                          DECLARATIONS + GROUPS % f"  memory    device = {budget}\n")
    folder, log = work.folder / f"single-{budget}-2", work.folder / f"single-{budget}.jsonl"
    files = [work.folder / f"single-{budget}.{end}" for end in ("trace", "workload")]
    run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--spill-dir",
        work.folder, "--log", log, "--log-every", LOG_EVERY, "--seats", 2, "--trace",
        files[0], "--workload", files[1])
    expect_same_checkpoint(checkpoint(folder, STEPS), groups.alone, f"single, {budget}",
                           COPIES)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    for event in events:
        event.pop("seconds", None)
    expect_equal(events, groups.events, f"log, single, {budget}")
    models = json.loads(files[1].read_text())["models"]
    expect_equal([model["name"] for model in models],
                 [f"groups, copies {first} to {last}" for first, last in BUDGETS[budget]],
                 "models of the workload")
    told = json.loads(run(binary, "info", "--seats", 2, "--json"))
    expect_equal([(job["name"], job["spills"]) for job in told["jobs"]], [("groups", True)],
                 "info")
    expect_equal(told["seats"]["makespan"] < 0.7 * told["seats"]["model_parallel"], True,
                 "two seats are faster")
    for command in ("train", "info"):
        expect_equal("--seats" in run(binary, command, "--help"), True, "--seats")
        expect_equal("--seats" in run(work.folder / "groups", command, "--help"), False,
                     "--seats without groups")
    text = run(binary, "train", "--seats", 2, "--only", 0, code=2)
    if "option '--only': with '--seats' all copies run" not in text:
        fail(text)


def test_interrupt(groups, budget):
    """Tests that, after Ctrl-C, all parts of the job have ended at the same step, and that
    the training can be resumed from there."""
    folder = groups.work.folder / f"stopped-{budget}"
    log, pipe = folder.with_suffix(".jsonl"), folder.with_suffix(".pipe")
    os.mkfifo(pipe)
    process = subprocess.Popen(groups.command(budget, folder, 2, "--log", pipe),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(pipe) as lines, open(log, "w") as kept:
        for line in lines:
            kept.write(line)
            event = json.loads(line)
            if event["job"] == "groups" and event.get("step") == 10:
                process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    expect_equal(process.returncode, 130, f"exit code, {budget} ({err})")
    saved = next((folder / "groups").glob("step-*"))
    if not 10 <= int(saved.name[5:]) < STEPS:
        fail(f"stopped at {saved}: {err}")
    run(*groups.command(budget, folder, 3, "--log", log, "--resume"))
    groups.expect_trained(folder, f"{budget}, after a signal")
    groups.expect_logged(log, f"{budget}, after a signal")


def test_kills(groups, budget):
    folder = groups.work.folder / f"killed-{budget}"
    log = folder.with_suffix(".jsonl")
    kills = run_killed(
        groups.command(budget, folder, 2, "--log", log, "--resume", "--every", "4"),
        0.25, KILLS, random.Random(6))
    groups.expect_trained(folder, f"{budget}, after {kills} kills")
    groups.expect_logged(log, f"{budget}, after {kills} kills")


def test_failure(groups, budget):
    """Tests that a failing store gives one message, and that the other job goes on."""
    folder = groups.work.folder / f"failed-{budget}"
    environment = {**os.environ, "HFTA_STORE": "memory,faulty=io:40"}
    process = subprocess.run(groups.command(budget, folder, 2), check=False, text=True,
                             capture_output=True, env=environment)
    expect_equal(process.returncode, 4, f"exit code ({process.stderr})")
    errors = [line for line in process.stderr.splitlines() if ": error: " in line]
    expect_equal(len(errors), 1, f"errors: {process.stderr}")
    if f"fleet-{budget}: error: job 'groups': " not in errors[0]:
        fail(f"not of the job: {errors[0]}")
    expect_equal(checkpoint(folder / "small", 30).is_dir(), True, "the other job")
    expect_equal((folder / "groups").is_dir() and os.listdir(folder / "groups"), [],
                 "checkpoints of the job that failed")


def main():
    groups = Groups()
    for budget in BUDGETS:
        test_single(groups, budget)
        if groups.work.options.only == "single":
            continue
        test_seats(groups, budget)
        test_interrupt(groups, budget)
        test_kills(groups, budget)
        test_failure(groups, budget)
    print("all copies as alone")


if __name__ == "__main__":
    main()
