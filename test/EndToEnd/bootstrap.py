#!/usr/bin/env python3
"""Tests that a copy which draws how often samples count, by `weights = bootstrap()`, trains
to the bytes of a job that reads these numbers from a file, in any array, and in
micro-batches; and that evaluations count all samples once. Needs only Python's standard
library."""

import argparse
import pathlib
import random

from data_forms import write_npy
from harness import checkpoint, copy_file, expect_equal, fail, read_safetensors, run

import augmentation_formulas as formulas  # from the folder test/reference

SAMPLES, COLUMNS, CLASSES, BATCH, STEPS = 22, 5, 3, 8, 6
SEEDS = [3, 5 + (3 << 33), 8]
TEST = 'test x = npy("x.npy"), label = npy("label.npy")'


def make_train(name, data, loss, seeds, steps=STEPS, rate=0.1):
    return f"""train {name} {{
  model     net(x)
  data      {data}, batch = {BATCH}
  loss      cross_entropy(net, label{loss})
  optimizer adam(lr = {rate})
  seed      {seeds}
  steps     {steps}
  micro_batches 2
}}
"""


def make_jobs():
    jobs = f"""model net(x: f32[batch, {COLUMNS}]) {{
  return linear(tanh(linear(x, 7)), {CLASSES})
}}
data plain {{
  train x = npy("x.npy"), label = npy("label.npy")
  {TEST}
}}
"""
    for loss, name in (("", "same"), (", weights = bootstrap()", "drawn")):
        jobs += make_train(name, "plain", loss, SEEDS)
        jobs += make_train(f"{name}_at_rest", "plain", loss, SEEDS, 1, 0)
    for copy, seed in enumerate(SEEDS):
        jobs += f"""data counted_{copy} {{
  train x = npy("x.npy"), label = npy("label.npy"), count = npy("count-{copy}.npy")
}}
""" + make_train(f"counted_{copy}", f"counted_{copy}", ", weights = count", seed)
    return jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    folder.mkdir(parents=True)
    numbers = random.Random(4)
    write_npy(folder / "x.npy", "<f4", (SAMPLES, COLUMNS),
              [numbers.gauss(0, 1) for _ in range(SAMPLES * COLUMNS)])
    write_npy(folder / "label.npy", "<i8", (SAMPLES,),
              [numbers.randrange(CLASSES) for _ in range(SAMPLES)])
    for copy, seed in enumerate(SEEDS):
        counts = [formulas.draw_count(seed, i) for i in range(SAMPLES)]
        write_npy(folder / f"count-{copy}.npy", "<f4", (SAMPLES,), counts)
        if not {0, 1, 2} <= set(counts):
            fail(f"unlikely counts: {counts}")
    (folder / "jobs.hfta").write_text(make_jobs())
    binary = folder / "jobs"
    run(options.hftac, folder / "jobs.hfta", "-o", binary)

    def train(job):
        said = run(binary, "train", "--data", folder, "--job", job, "--checkpoint",
                   folder / "all", "--no-progress")
        return said, folder / "all" / job

    _, drawn = train("drawn")
    for copy in range(len(SEEDS)):
        _, counted = train(f"counted_{copy}")
        expect_equal(read_safetensors(copy_file(checkpoint(drawn, STEPS), copy)),
                     read_safetensors(copy_file(checkpoint(counted, STEPS), 0)),
                     f"copy {copy}")

    def get_test_losses(job):
        rows = [line.split() for line in train(job)[0].splitlines()]
        return [row[-1] for row in rows if row and row[0] in ("0", "1", "2")]
    expect_equal(get_test_losses("drawn_at_rest"), get_test_losses("same_at_rest"),
                 "losses of evaluations")


if __name__ == "__main__":
    main()
