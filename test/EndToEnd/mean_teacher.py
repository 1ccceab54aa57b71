#!/usr/bin/env python3
"""Tests a network that learns from the running average of its own weights, once or twice in a
step. Losses, weights, averages and running statistics are compared with a simulation in Python.
Copies differ in the average's decay; each has the bytes that it has alone, also when the
training is resumed. An evaluation of a checkpoint has the losses of the training's own. Needs
only Python's standard library."""

import json

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_checkpoint,
                     expect_same_file, read_log, read_safetensors, run)
from objectives import expect_near
from turns_simulation import (BATCH, IMAGES, WEIGHTS, Value, backward, copy_rows, grid, leaky,
                              linear, normalize, write_networks)
from make_data import write_npy  # found by harness

STEPS, RATE, DECAYS = 4, 0.05, [0.5, 0.75]
VIEWS = grid(5, 3, 19, 9, 8, 2 * BATCH * STEPS, 3)
TARGETS = grid(13, 1, 29, 14, 16, 2 * BATCH * STEPS, 1)


def make_job(decays, times=1):
    tested = 'test image = npy("image.npy"), view = npy("view.npy"), target = npy("target.npy")'
    return f"""
model d = onnx("d.onnx")
data made {{
  train image = npy("image.npy"), view = npy("view.npy"), target = npy("target.npy")
  {tested if times == 1 else ""}
}}
train consistent {{
  data made, batch = {BATCH}, shuffle = false
  steps {STEPS}
  precision f64
  average ema(decay = {decays})
  turn d, times = {times} {{
    loss mse(d(image), target) + 0.5 * mse(d(image), average(d(view)))
    optimizer sgd(lr = {RATE})
  }}
}}
"""


class Student:
    """The network, and the average of its weights, which begins as the weights."""

    def __init__(self, decay):
        self.decay, self.updates = decay, 0
        self.weights = {name: Value(copy_rows(rows)) for name, rows in WEIGHTS["d"].items()}
        self.average = {name: copy_rows(rows) for name, rows in WEIGHTS["d"].items()}
        hidden = len(WEIGHTS["d"]["first"])
        self.running = {"mean": [0.0] * hidden, "var": [1.0] * hidden}

    @staticmethod
    def call(weights, running, x):
        normed = normalize(linear(x, weights["first"]), weights["scale"], weights["shift"],
                           running)
        return linear(leaky(normed), weights["last"])

    def step(self, images, views, targets):
        """Takes a step, and returns both losses."""
        output = self.call(self.weights, self.running, Value(images))
        teacher = self.call({name: Value(rows) for name, rows in self.average.items()},
                            dict(self.running), Value(views))
        losses, slopes = [], [0.0] * len(images)
        for share, wanted in ((1, targets), (0.5, teacher.rows)):
            differences = [y - t for (y,), (t,) in zip(output.rows, wanted)]
            losses.append(sum(d * d for d in differences) / len(images))
            slopes = [s + share * 2 * d / len(images) for s, d in zip(slopes, differences)]
        backward(output, [[s] for s in slopes])
        for name, one in self.weights.items():
            one.rows = [[p - RATE * g for p, g in zip(*rows)]
                        for rows in zip(one.rows, one.grad)]
            one.grad = [[0.0] * len(row) for row in one.rows]
            share = 1 - self.decay if self.updates else 1
            self.average[name] = [[e + share * (p - e) for e, p in zip(*rows)]
                                  for rows in zip(self.average[name], one.rows)]
        self.updates += 1
        return losses


def check_formula(folder, events, times):
    events = [event for event in events if event["event"] == "step"]
    for copy, decay in enumerate(DECAYS):
        student = Student(decay)
        for number, event in enumerate(events):
            losses = []
            for part in range(number * times, (number + 1) * times):
                rows = slice(part * BATCH, (part + 1) * BATCH)
                losses += student.step(IMAGES[rows], VIEWS[rows], TARGETS[rows])
            expect_near([float(numbers[copy]) for key, numbers in event.items()
                         if key.startswith("loss_")], losses,
                        f"losses of copy {copy} in step {number + 1}")
        trained = read_safetensors(copy_file(folder, copy))
        for name, one in student.weights.items():
            expect_near(trained[f"d.{name}"][2], sum(one.rows, []), f"{name} of copy {copy}")
            expect_near(trained[f"average/d.{name}"][2], sum(student.average[name], []),
                        f"average of {name} of copy {copy}")
        for name, numbers in student.running.items():
            expect_near(trained[f"d.{name}"][2], numbers, f"running {name} of copy {copy}")
    print(f"as simulated: {times} a step")


def train(work, name, times):
    """Returns the program, its last checkpoint, and the events of its log."""
    binary = work.compile(name, make_job(DECAYS, times))
    log = work.folder / f"{name}.jsonl"
    folder = checkpoint(work.train(binary, "--log", log, "--log-every", 1), STEPS)
    return binary, folder, list(read_log(log))


def main():
    work = Work(__doc__)
    for name, rows in (("image", IMAGES), ("view", VIEWS), ("target", TARGETS)):
        write_npy(work.folder / f"{name}.npy", "<f4", sum(rows[:2 * BATCH * STEPS], []),
                  [2 * BATCH * STEPS, len(rows[0])])
    write_networks(work.folder)
    _, folder, events = train(work, "twice", 2)
    check_formula(folder, events, 2)
    binary, folder, events = train(work, "all", 1)
    check_formula(folder, events, 1)

    evaluated = json.loads(run(binary, "eval", "--data", work.folder, "--checkpoint", folder,
                               "--json"))
    for name in ("eval_loss", "eval_loss_d_mse_2"):
        expect_equal(evaluated[name], events[-1][name], f"{name} of the checkpoint")
    alone = work.compile("alone", make_job(DECAYS[1]))
    expect_same_file(copy_file(checkpoint(work.train(alone), STEPS), 0), copy_file(folder, 1),
                     "copy 1 alone")
    resumed = work.folder / "resumed"
    for steps, more in ((1, []), (STEPS, ["--resume"])):
        run(binary, "train", "--data", work.folder, "--checkpoint", resumed, "--steps", steps,
            "--no-progress", *more)
    expect_same_checkpoint(checkpoint(resumed, STEPS), folder, "resumed", len(DECAYS))


main()
