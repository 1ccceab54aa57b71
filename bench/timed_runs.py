"""Runs compiled programs, one after another, and times them. Needs only
Python's standard library."""

import json
import subprocess
import sys


def bench(command, steps, *flags):
    result = subprocess.run([*map(str, command), "bench", "--json",
                             f"--steps={steps}", *flags], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode or not lines:
        sys.exit(f"error: {' '.join(map(str, command))}\n{result.stderr:.2000}")
    return json.loads(lines[0])


def best(runs, rounds):
    """Calls each function of `runs`, which returns a result of `bench`, in turn for several
    rounds. Returns the least seconds per step by the name of the function."""
    seconds = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            measured = run()
            seconds[name].append(measured["seconds"] / measured["steps"])
    return {name: min(values) for name, values in seconds.items()}
