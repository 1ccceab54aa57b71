#!/usr/bin/env python3
"""Kills a training 20 times at random moments and resumes it each time. Checkpoints and log
must be the same as those of a training that was never stopped."""

import json
import random
import shutil
import signal
import subprocess
import time

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint,
                     fail, make_job)

KILLS = 20
STEPS = 120


def read_log(path):
    """Returns the events of a log without start events, and without the time that each has
    in `seconds`."""
    events = []
    for line in path.read_text().splitlines():
        event = json.loads(line)
        event.pop("seconds", None)
        if event["event"] != "start":
            events.append(event)
    return events


def main():
    work = Work(__doc__, "mlp")
    job = make_job("mlp", STEPS, "  clip_norm 1.0").replace(
        "relu(linear(flatten(image), 37))",
        "dropout(relu(batch_norm(linear(flatten(image), 37))), 0.25)")
    binary = work.compile("sweep", job)
    whole_log = work.folder / "whole.jsonl"
    flags = ["--every", "5", "--log-every", "1"]
    start = time.monotonic()
    whole = checkpoint(
        work.train(binary, *flags, "--log", whole_log), STEPS)
    duration = time.monotonic() - start

    folder = work.folder / "killed"
    log = work.folder / "killed.jsonl"
    command = [str(part) for part in (
        binary, "train", "--data", work.folder, "--checkpoint", folder,
        "--resume", "--no-progress", "--log", log, *flags)]
    numbers = random.Random(1)
    kills = completed = 0
    while kills < KILLS or not completed:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            limit = duration * numbers.uniform(0, 0.4)
            _, messages = process.communicate(
                timeout=limit if kills < KILLS else None)
        except subprocess.TimeoutExpired:
            process.kill()
            _, messages = process.communicate()
        if process.returncode == -signal.SIGKILL:
            kills += 1
            continue
        if process.returncode:
            fail(f"exit {process.returncode} after {kills} kills: {messages}")
        completed += 1
        expect_same_checkpoint(checkpoint(folder, STEPS), whole,
                               f"after {kills} kills")
        expect_equal(read_log(log), read_log(whole_log), "log")
        if kills < KILLS:
            shutil.rmtree(folder)
            log.unlink()
    print(f"{kills} kills, {completed} trainings")


if __name__ == "__main__":
    main()
