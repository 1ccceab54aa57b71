#!/usr/bin/env python3
"""Trains jobs whose numbers follow schedules, and compares the logged numbers, and the
trained weights, with formulas computed in Python. Copies that are compiled alone, and
trainings that are resumed in the middle of a schedule, must have the same bytes. Needs only
Python's standard library."""

import json
import math
import shutil
import struct

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_file, fail,
                     read_log, read_safetensors)

# From test/reference, which harness has added to the path.
import schedule_formulas as formulas  # noqa: E402
from schedule_formulas import sequence, with_warmup  # noqa: E402

STEPS = 24
LAST = STEPS - 1
SAMPLES = [0.5, -1.0, 2.0, 1.5, -0.25, 0.75, -2.0, 1.0]
TARGETS = [1.0, -0.5, 0.25, 2.0, 0.1, 0.7, -1.2, 3.0]
BATCH = 4
RATE = 0.1

HEAD = """
model net(x: f64[batch, 1]) {
  return y = linear(x, 1, bias = false)
}
data made {
  train x: f64[1] = raw("x.raw"), t: f64[1] = raw("t.raw")
  test  x: f64[1] = raw("x.raw"), t: f64[1] = raw("t.raw")
}
data scored {
  train      x: f64[1] = raw("x.raw"), t: f64[1] = raw("t.raw")
  validation x: f64[1] = raw("x.raw"), t: f64[1] = raw("t.raw")
}
"""


def of(formula, *settings, warmup=0, **others):
    """Returns a function of the step for each copy."""
    return [lambda s, one=one: with_warmup(s, warmup, formula, **one, **others)
            for one in settings or [{}]]


# The schedules of the learning rate: a job's name, its schedule, and for each copy the
# factor in step s.
RATES = {
    "multi_step": (
        "multi_step(zip(milestones = [[4, 9, 9, 20], [3]], gamma = [0.5, 0.1]), warmup = 2)",
        of(formulas.multi_step, {"milestones": [4, 9, 9, 20], "gamma": 0.5},
           {"milestones": [3], "gamma": 0.1}, warmup=2)),
    "exponential": ("exponential(gamma = [0.9, 1])",
                    of(formulas.exponential, {"gamma": 0.9}, {"gamma": 1})),
    "polynomial": ("polynomial(power = [2, 0.7], length = 20, minimum = 0.1)",
                   of(formulas.polynomial, {"power": 2}, {"power": 0.7}, length=20,
                      minimum=0.1)),
    "polynomial_to_the_end": ("polynomial(warmup = 4)",
                              of(formulas.polynomial, length=LAST - 4, warmup=4)),
    "linear": ("linear(start = [0, 0.25], end = 0.75, length = 10)",
               of(formulas.linear, {"start": 0}, {"start": 0.25}, end=0.75, length=10)),
    "linear_to_the_end": ("linear", of(formulas.linear, length=LAST)),
    "cosine": ("cosine(length = [20, 5], minimum = 0.1)",
               of(formulas.cosine, {"length": 20}, {"length": 5}, minimum=0.1)),
    "cosine_restarts": (
        "cosine_restarts(zip(period = [4, 20 / 3], growth = [2, 1]), minimum = 0.1)",
        of(formulas.cosine_restarts, {"period": 4, "growth": 2}, {"period": 20 / 3},
           minimum=0.1)),
    "one_cycle": ("one_cycle(length = 19, rise = [0.3, 0, 1])",
                  of(formulas.one_cycle, {"rise": 0.3}, length=19)
                  + of(formulas.cosine, length=19, minimum=4e-6)
                  + [lambda s: 0.04 + 0.96 * (1 - formulas.fall(s / 19)) if s < 20
                     else 4e-6]),
    "one_cycle_linear": ("one_cycle(shape = linear)",
                         of(formulas.one_cycle, length=LAST, shape="linear")),
    "one_cycle_three": ("one_cycle(rise = 0.4, three_phases = true)",
                        of(formulas.one_cycle, length=LAST, rise=0.4, three_phases=True)),
    "inverse_root": ("inverse_root(warmup = 5)",
                     of(formulas.inverse_root, timescale=5, warmup=5)),
    "inverse_root_scaled": ("inverse_root(timescale = [20, 1.5])",
                            of(formulas.inverse_root, {"timescale": 20},
                               {"timescale": 1.5})),
    "wsd": ("wsd(stable_steps = 6, decay_steps = [10, 3], shape = root, minimum = 0.1, "
            "warmup = 3)",
            of(formulas.wsd, {"decay_steps": 10}, {"decay_steps": 3}, stable_steps=6,
               shape="root", minimum=0.1, warmup=3)),
    "wsd_to_the_end": ("wsd(8, shape = cosine, warmup = 2)",
                       of(formulas.wsd, stable_steps=LAST - 2 - 8, decay_steps=8,
                          shape="cosine", warmup=2)),
    "wsd_without_room": ("wsd(100)", of(formulas.wsd, stable_steps=0, decay_steps=100)),
    # hf's cosine with restarts: a warm-up from 0, three cycles, and 0 after the end.
    "sequence": (
        "sequence([linear(start = 0, end = 1), cosine_restarts(period = 5), "
        "linear(start = 0, end = 0)], milestones = [[5, 20], [2, 22]])",
        [lambda s, ends=ends: sequence(
            s, [lambda t: formulas.linear(t, ends[0], 0, 1),
                lambda t: formulas.cosine_restarts(t, 5), lambda t: 0.0], ends)
         for ends in ([5, 20], [2, 22])]),
    "sequence_to_the_end": (
        "sequence([constant(warmup = 3), sequence([linear(end = 0.5), cosine], [4])], [6])",
        [lambda s: sequence(
            s, [lambda t: with_warmup(t, 3, lambda t: 1.0),
                lambda t: sequence(t, [lambda u: formulas.linear(u, 4, end=0.5),
                                       lambda u: formulas.cosine(u, LAST - 10)], [4])],
            [6])]),
    # PyTorch's ChainedScheduler.
    "product": (
        "product([constant(warmup = [3, 5]), exponential(0.9), "
        "sequence([constant, linear(end = 0.5, length = 4)], [8])])",
        [lambda s, warmup=warmup: with_warmup(s, warmup, lambda t: 1.0) * 0.9**s * sequence(
            s, [lambda t: 1.0, lambda t: formulas.linear(t, 4, end=0.5)], [8])
         for warmup in (3, 5)]),
}

# PyTorch's one-cycle schedule of the momentum, from 0.95 to 0.85 and back.
CYCLE = "one_cycle(start = 0.95 / 0.85, end = 0.95 / 0.85)"


def cycle(s):
    return formulas.one_cycle(s, LAST, start=0.95 / 0.85, end=0.95 / 0.85)


def huber_slope(difference, delta):
    return max(-delta, min(delta, difference))


def train_sgd(weights, batches, numbers):
    velocity, w = 0.0, weights
    for s in range(STEPS):
        now = {name: values[s] for name, values in numbers.items()}
        g = sum(x * huber_slope(w * x - t, now["delta"]) for x, t in batches[s]) / BATCH
        velocity = now["momentum"] * velocity + g
        w -= now["lr"] * velocity
    return w


def train_adamw(weights, batches, numbers):
    first, second, w = 0.0, 0.0, weights
    for s in range(STEPS):
        now = {name: values[s] for name, values in numbers.items()}
        g = sum(2 * x * (w * x - t) + now["l1_weight"] * math.copysign(x, w)
                for x, t in batches[s]) / BATCH
        w *= 1 - now["lr"] * now["weight_decay"]
        # The correction is that of this step's beta1.
        first = now["beta1"] * first + (1 - now["beta1"]) * g
        second = 0.999 * second + 0.001 * g * g
        w -= (now["lr"] * first / (1 - now["beta1"] ** (s + 1))
              / (math.sqrt(second / (1 - 0.999 ** (s + 1))) + 1e-8))
    return w


# Jobs with schedules of other numbers: the clauses, for each copy each number's first value
# and its factor in step s, and the training.
NUMBERS = {
    "sgd": ("""  loss      huber(net, t, delta = 2)
  optimizer sgd(lr = 0.1, momentum = [0.85, 0.5])
  schedule  one_cycle
  schedule_of momentum = """ + CYCLE + """, delta = linear(end = 0.1)
""", [{"lr": (RATE, lambda s: formulas.one_cycle(s, LAST)), "momentum": (momentum, cycle),
       "delta": (2, lambda s: formulas.linear(s, LAST, end=0.1))}
      for momentum in (0.85, 0.5)], train_sgd),
    "adamw": ("""  loss      mse(net, t) + -0.05 * l1(net, 0)
  optimizer adamw(lr = 0.1, beta1 = 0.85, weight_decay = 0.2)
  schedule_of beta1 = """ + CYCLE + """
  schedule_of weight_decay = step(step_size = [5, 9], gamma = 0.5)
  schedule_of l1_weight = linear(end = 0.1)
""", [{"lr": (RATE, lambda s: 1.0), "beta1": (0.85, cycle),
       "weight_decay": (0.2, lambda s, size=size: formulas.step(s, size, 0.5)),
       "l1_weight": (-0.05, lambda s: formulas.linear(s, LAST, end=0.1))}
      for size in (5, 9)], train_adamw),
}

# A learning rate of 0 can't be reduced, and one of 1.5 makes the training diverge.
PLATEAU_RATES = [0.1, 0, 1.5, 0.3]
PLATEAU = {"factor": 0.5, "patience": 1, "cooldown": 1, "minimum": 0.1}


def make_job(name, clauses, data="made", length=f"steps {STEPS}"):
    return f"""
train {name} {{
  model     net(x)
  data      {data}, batch = {BATCH}, shuffle = false
{clauses}  precision f64
  {length}
}}
"""


def make_jobs():
    """Returns the jobs by their names."""
    jobs = {}
    for name, (schedule, _) in RATES.items():
        jobs[name] = make_job(name, f"""  loss      mse(net, t)
  optimizer sgd(lr = {RATE})
  schedule  {schedule}
""")
    for name, (clauses, _, _) in NUMBERS.items():
        jobs[name] = make_job(name, clauses)
    settings = ", ".join(f"{name} = {value}" for name, value in PLATEAU.items())
    jobs["plateau"] = make_job("plateau", f"""  loss      mse(net, t)
  optimizer sgd(lr = {PLATEAU_RATES})
  schedule  plateau({settings})
""", "scored", f"epochs {STEPS // 2}")
    return jobs


def expect_close(mine, theirs, what):
    expect_equal(len(mine), len(theirs), f"{what}: values")
    for s, (got, expected) in enumerate(zip(mine, theirs)):
        if not abs(float(got) - expected) <= 1e-12 * max(1.0, abs(expected)):
            fail(f"{what}: {got!r} in step {s}, expected {expected!r}")


def check_rates(steps):
    for name, (_, factors) in RATES.items():
        for copy, factor in enumerate(factors):
            expect_close([event["lr"][copy] for event in steps[name]],
                         [RATE * factor(s) for s in range(STEPS)], f"{name}, copy {copy}")
        expect_equal(len(steps[name][0]["lr"]), len(factors), f"{name}: copies")


def read_weight(folder, step, copy):
    (_, _, numbers) = read_safetensors(copy_file(checkpoint(folder, step), copy))["y.weight"]
    return numbers[0]


def check_evaluation(folder, events):
    """The evaluations of the job `sgd` use its delta without the schedule."""
    scores = [event["eval_loss"] for event in events if event["event"] == "epoch"][-1]
    for copy, score in enumerate(scores):
        w = read_weight(folder, STEPS, copy)
        losses = [d * d / 2 if abs(d) <= 2 else 2 * (abs(d) - 1)
                  for d in (w * x - t for x, t in zip(SAMPLES, TARGETS))]
        expect_close([score], [sum(losses) / len(losses)], f"sgd, copy {copy}: eval_loss")


def check_numbers(folder, steps):
    pairs = list(zip(SAMPLES, TARGETS))
    batches = [pairs[:BATCH] if s % 2 == 0 else pairs[BATCH:] for s in range(STEPS)]
    for name, (_, copies, train) in NUMBERS.items():
        for copy, numbers in enumerate(copies):
            values = {number: [first * factor(s) for s in range(STEPS)]
                      for number, (first, factor) in numbers.items()}
            for number, expected in values.items():
                logged = [(event if number == "lr" else event["scheduled"])[number][copy]
                          for event in steps[name]]
                expect_close(logged, expected, f"{name}, copy {copy}: {number}")
            # The first loss tells the first weight: it is saved after no step.
            first = read_weight(folder / name, 0, copy)
            expect_close([read_weight(folder / name, STEPS, copy)],
                         [train(first, batches, values)], f"{name}, copy {copy}: weight")


def check_plateau(events):
    schedules = [formulas.Plateau(**PLATEAU, number=rate) for rate in PLATEAU_RATES]
    factors, reduced = [1.0] * len(schedules), set()
    for event in events:
        if event["event"] == "step":
            expect_close(event["lr"], [r * f for r, f in zip(PLATEAU_RATES, factors)],
                         f"plateau, step {event['step']}")
        elif event["event"] == "epoch":
            factors = [schedule.note(float(score)) for schedule, score in
                       zip(schedules, event["validation_loss"])]
            reduced |= {copy for copy, factor in enumerate(factors) if factor < 1}
    expect_equal(2 in reduced and 1 not in reduced, True, "plateau: copies reduced")


def expect_same(mine, theirs, what):
    """Compares all files of the last checkpoints of the jobs in `mine`, but for the one
    that holds the time that was spent."""
    files = sorted(path.relative_to(mine)
                   for path in mine.glob(f"*/step-{STEPS:08d}/*.safetensors")
                   if path.name != "training.safetensors")
    for path in files:
        expect_same_file(mine / path, theirs / path, f"{what}: {path}")
    return len(files)


def main():
    work = Work(__doc__)
    for name, numbers in (("x", SAMPLES), ("t", TARGETS)):
        (work.folder / f"{name}.raw").write_bytes(
            struct.pack(f"<{len(numbers)}d", *numbers))
    jobs = make_jobs()
    binary = work.compile("schedules", HEAD + "".join(jobs.values()))
    log = work.folder / "log.jsonl"
    folder = work.train(binary, "--log", log, "--log-every", "1", "--every", "7")
    # A training whose rate is 0 leaves the weights as they begin.
    first = HEAD + "".join(jobs[name] for name in NUMBERS)
    start = work.train(work.compile("start", first.replace(f"steps {STEPS}", "steps 1")
                                    .replace("lr = 0.1", "lr = 0")))
    events = {}
    for event in read_log(log):
        events.setdefault(event["job"], []).append(event)
    steps = {name: [event for event in own if event["event"] == "step"]
             for name, own in events.items()}
    for name in NUMBERS:
        shutil.copytree(start / name / f"step-{1:08d}", folder / name / f"step-{0:08d}")
    check_rates(steps)
    check_numbers(folder, steps)
    check_evaluation(folder / "sgd", events["sgd"])
    check_plateau(events["plateau"])
    print(f"{len(steps)} schedules")

    # Resumed in the middle of everything, the trainings end with the same bytes.
    part = work.folder / "resumed-checkpoints"
    for own in folder.iterdir():
        if own.is_dir():
            shutil.copytree(own / f"step-{7:08d}", part / own.name / f"step-{7:08d}")
    work.train(binary.rename(work.folder / "resumed"), "--resume")
    print(f"resumed: {expect_same(part, folder, 'resumed')} equal files")

    several = ("multi_step", "one_cycle", "sequence", "product", "sgd", "adamw", "plateau")
    alone = work.train(work.compile(
        "alone", HEAD + "".join(jobs[name] for name in several), "--no-fuse"))
    print(f"alone: {expect_same(alone, folder, 'alone')} equal files")


main()
