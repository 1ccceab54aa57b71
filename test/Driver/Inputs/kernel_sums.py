"""Compares the sums of the kernels that bench --kernels --json prints with the plan of the tasks
that have run, and with the tasks' times."""

import json
import sys

with open(sys.argv[1]) as info, open(sys.argv[2]) as bench:
    plan, bench = json.load(info)["plan"], json.load(bench)
seconds = {task["name"].split(".")[0]: task["seconds"] for task in bench["tasks"]}
runs = {task["name"]: task["runs"] for task in bench["tasks"]}
tasks = [task for task in plan["tasks"] if task["name"].split(".")[0] in seconds]
kernels = bench["kernels"]
assert len(seconds) == len(tasks), "each part has one task"


def compare(name, mine, planned):
    assert abs(mine - planned) <= 1e-9 * planned, f"{name}: got {mine}, expected {planned}"


compare("flops", sum(kernel["flops"] for kernel in kernels), sum(t["flops"] for t in tasks))
compare("bytes", sum(kernel["bytes"] for kernel in kernels),
        sum(task["bytes_read"] + task["bytes_written"] for task in tasks))
compare("launches", sum(kernel["launches"] for kernel in kernels),
        sum(task["kernels"] * runs[task["name"]] for task in tasks))
for part, limit in seconds.items():
    own = [kernel for kernel in kernels if kernel["part"] == part]
    assert own and sum(kernel["seconds"] for kernel in own) <= limit, part
    for kernel in own:
        assert 0 < kernel["thread_seconds"] <= kernel["seconds"] * bench["threads"], kernel
        assert kernel["warm_seconds"] > 0 and kernel["cold_seconds"] > 0, kernel
print("flops, bytes and launches are equal, no launch is longer than its task")
