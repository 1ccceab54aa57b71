#!/usr/bin/env python3
"""Tests the paced device, whose tasks take the times that a costs file states. A step must
run all of its tasks, and must take at least the sum of the times of tasks that depend on
each other."""

import json

from harness import Work, expect_equal, fail, make_job, run

SECONDS = 0.005  # the time that each run of a task takes
STEPS = 3
MICRO_BATCHES = 4


def main():
    work = Work(__doc__, "mlp")
    binary = work.compile("sweep", make_job(
        "mlp", 5, f"  micro_batches {MICRO_BATCHES}, groups = 2"))
    bench = [binary, "bench", "--phases", "--json", "--steps", STEPS]
    measured = json.loads(run(*bench))
    costs = work.folder / "costs.json"

    def pace(tasks):
        costs.write_text(json.dumps({**measured, "tasks": tasks}))
        return json.loads(run(*bench, "--device", f"paced:{costs}"))

    # A file states the time of all runs of a task together.
    paced = pace([{**task, "seconds": SECONDS * task["runs"]}
                  for task in measured["tasks"]])
    runs = {task["name"]: task["runs"] for task in paced["tasks"]}
    expect_equal(set(runs), {task["name"] for task in measured["tasks"]}, "tasks")
    for task in paced["tasks"]:
        # After too long a sleep, the device shortens the next sleep by the excess.
        if task["seconds"] < 0.5 * SECONDS * task["runs"]:
            fail(f"{task} takes less than {SECONDS} s a run")
    chain = 2 * MICRO_BATCHES + runs["combine.0"] + runs["update.0"]
    if paced["seconds"] < STEPS * SECONDS * chain:
        fail(f"{paced['seconds']} s for {STEPS} steps of {chain} runs one after "
             f"the other, {SECONDS} s each")
    free = pace([{**task, "seconds": 0} for task in measured["tasks"]])
    expect_equal(free["copies"], measured["copies"], "copies")


if __name__ == "__main__":
    main()
