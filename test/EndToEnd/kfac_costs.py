#!/usr/bin/env python3
"""Tests that costs measured by a program with K-FAC decide which replica does what: which
one inverts a factor, and which factors are summed together. The step times that `--plan`
prints must be the sums of the tasks' times. The plan must not depend on the plan of the
measured program, and costs of another program must be refused. Needs only Python's standard
library."""

import json
import re

from harness import Work, expect_equal, fail, run
from kfac_plans import find_plan, get_numbers

REPLICAS = 4
JOB = """
model net(x: f32[batch, 40]) {{
  a = relu(linear(x, 40))
  b = relu(linear(a, 40))
  c = relu(linear(b, 40))
  return output = linear(c, 10)
}}
data made {{
  train x: f32[40] = npy("x.npy"), label: u8 = npy("label.npy")
}}
train sweep {{
  model         net(x)
  data          made, batch = 32
  loss          cross_entropy(net, label)
  optimizer     sgd(lr = [1e-2, 1e-3])
  precondition  kfac(placement = {placement}, factor_every = 2, inverse_every = 4)
  micro_batches 4
  pipeline      replicas = [{replicas}], bucket = 4KiB
  cluster       devices = [{replicas}], link = 1e9, latency = 1e-4
  steps         10
}}
"""
COPIES = 2
# The seconds that a task takes for both copies, by part.
SECONDS = {"forward": 1, "backward": 2, "curvature": 0.5, "precondition": 0.25,
           "update": 3}


def get_part(task):
    return task["name"].split(".")[0]


class Check:
    def __init__(self, work):
        self.work = work

    def write(self, name, placement="balanced", replicas=REPLICAS):
        return self.work.write_job(name, JOB.format(placement=placement,
                                                    replicas=replicas))

    def write_costs(self, measured, seconds, **fields):
        """Writes a costs file in which each measured task takes the seconds of its part for
        all copies, 0 if `seconds` lacks the part. `fields` replace other fields. Returns
        the path."""
        tasks = [{**task, "seconds": (task["copies"] / COPIES
                                      * seconds.get(get_part(task), 0))}
                 for task in measured["tasks"]]
        path = self.work.folder / "costs.json"
        path.write_text(json.dumps({**measured, "tasks": tasks, **fields}))
        return path

    def plan(self, job, costs):
        return find_plan(run(self.work.hftac, job, "--emit=train", "-o", "-",
                             f"--costs={costs}"))

    def get_steps(self, job, costs):
        """Returns the milliseconds that --plan prints for steps with inverses, steps with
        factors only, and other steps."""
        text = run(self.work.hftac, job, "--plan", f"--costs={costs}")
        if "preconditioner, by measured costs: " not in text:
            fail(f"--plan says nothing of measured costs:\n{text}")
        return [float(number) for number in re.search(
            r"steps (\S+) ms with inverses, (\S+) ms with factors, (\S+) ms else",
            text).groups()]

    def refuse(self, job, costs, *texts):
        message = run(self.work.hftac, job, f"--costs={costs}", "-o",
                      self.work.folder / "refused", code=1)
        for text in texts:
            if text not in message:
                fail(f"expected {text!r}:\n{message}")


def check_owners(check, measured):
    job = check.write("sweep")
    # Inversions that take as long as a step are divided among the replicas. If inversions
    # take no time, each replica does all of them, as sending the results would take longer.
    for seconds, owned in ((1, True), (1e-9, False)):
        costs = check.write_costs(measured, {**SECONDS, "invert": seconds})
        owners = get_numbers(check.plan(job, costs), "owners")
        expect_equal(len(set(owners)) == REPLICAS and -1 not in owners, owned,
                     f"owners of inversions of {seconds} s: {owners}")
        expect_equal(set(owners) == {-1}, not owned, f"owners: {owners}")


def check_steps(check, measured):
    """Checks the step times that --plan prints. Besides the tasks, they may include less
    than 0.1 percent for sums and messages."""
    job = check.write("sweep")
    costs = check.write_costs(measured, SECONDS)
    blocks = sum(get_part(task) == "update" for task in measured["tasks"])
    step = blocks * (SECONDS["forward"] + SECONDS["backward"] + SECONDS["update"]
                     + SECONDS["precondition"])
    expected = [step + blocks * SECONDS["curvature"]] * 2 + [step]
    # SECONDS has no times for the tasks with moments, so these count as 0 s. As a task with
    # moments can't be faster than the one without, hftac uses the latter's time.
    for got, wanted in zip(check.get_steps(job, costs), expected):
        if not 1 <= 1e-3 * got / wanted < 1.001:
            fail(f"steps of {got} ms, expected {1e3 * wanted}")


def check_measured(check, measured):
    """Tests that costs measured by programs with other plans give the same plan."""
    job = check.write("sweep")
    expected = check.plan(job, check.write_costs(measured, {**SECONDS, "invert": 1}))
    for placement in ("fraction(0.25)", "fraction(0.5)"):
        binary = check.work.compile("other", JOB.format(placement=placement,
                                                        replicas=REPLICAS))
        other = json.loads(run(binary, "bench", "--phases", "--json", "--steps", 8))
        # The tasks with which the other program inverts a block's factors share one second,
        # as in the costs compared with.
        own = {block: sum(task["name"].split(".")[:2] == ["invert", block]
                          for task in other["tasks"]) for block in "0123"}
        costs = check.write_costs(other, SECONDS)
        tasks = json.loads(costs.read_text())["tasks"]
        for task in tasks:
            if get_part(task) == "invert":
                task["seconds"] = (task["copies"] / COPIES
                                   / own[task["name"].split(".")[1]])
        costs.write_text(json.dumps({**other, "tasks": tasks}))
        plan = check.plan(job, costs)
        for name in ("owners", "buckets", "order"):
            expect_equal(get_numbers(plan, name), get_numbers(expected, name),
                         f"{name}, measured with {placement}")


def check_refused(check, measured):
    job = check.write("sweep")
    check.refuse(job, check.write_costs(measured, SECONDS, model="0f"),
                 "costs.json: error: model: expected the digest of the job's model", "'0f'")
    check.refuse(job, check.write_costs(measured, SECONDS, copies=3),
                 "costs.json: error: copies: expected the job's 2, got 3")
    check.refuse(job, check.write_costs(measured, SECONDS, cuts=[["a"], ["b", "c"]]),
                 "costs.json': cuts[0]: expected none, as the job's program is cut, "
                 "got after 'a'")
    tasks = [task for task in measured["tasks"] if not task["name"].endswith(".1")]
    check.refuse(job, check.write_costs({**measured, "tasks": tasks}, SECONDS),
                 "costs.json': tasks: expected one with the name 'forward.1'")
    extra = measured["tasks"] + [{"name": "update.9", "runs": 1, "copies": 1}]
    check.refuse(job, check.write_costs({**measured, "tasks": extra}, SECONDS),
                 "costs.json': tasks: expected those of the program's 4 blocks, got "
                 "'update.9'")


def main():
    work = Work(__doc__, "mlp")
    check = Check(work)
    binary = work.compile("measured", JOB.format(placement="balanced",
                                                 replicas=REPLICAS))
    measured = json.loads(run(binary, "bench", "--phases", "--json", "--steps", 8))
    check_owners(check, measured)
    check_steps(check, measured)
    check_measured(check, measured)
    check_refused(check, measured)


if __name__ == "__main__":
    main()
