#!/usr/bin/env python3
"""Tests that running statistics average those of all micro-batches in order: with forwards
first or not, in one block or several, with and without fusion, and if the forward itself
reads a statistic, which then differs for each micro-batch. Everything is compared with a
computation in Python, in f64. A stage that recomputes values for its backward must use the
statistic that its forward read."""

import random
import re
import statistics

from harness import (Work, checkpoint, copy_file, expect_equal, fail,
                     expect_same_checkpoint, make_blocks, read_safetensors, run)
from make_data import write_npy  # from test/reference

STEPS, BATCH, CHANNELS, COPIES = 3, 24, 3, 2
MOMENTUM = 0.75  # the share of its old value that a running statistic keeps
MODEL = """
model net(image: f32[batch, 3]) {
  normalized = batch_norm(image, momentum = 0.25)
  again = batch_norm(tanh(normalized))
  return output = linear(again, 2)
}
"""


def compute(samples, micro_batches, uses_mean):
    """Returns the running mean and variance of the model's first batch norm after all
    steps. With `uses_mean`, its input is the samples plus the running mean."""
    mean, variance = [0.0] * CHANNELS, [1.0] * CHANNELS
    size = BATCH // micro_batches
    for begin in range(0, len(samples), size):
        for channel in range(CHANNELS):
            added = mean[channel] if uses_mean else 0
            column = [row[channel] + added
                      for row in samples[begin:begin + size]]
            for running, new in ((mean, statistics.fmean(column)),
                                 (variance, statistics.variance(column))):
                running[channel] = (running[channel] * MOMENTUM +
                                    new * (1 - MOMENTUM))
    return mean, variance


def use_mean(module):
    """Returns the module's text with the running mean added to the input of batch_norm."""
    read = re.search(r"(%\d+) = hfta.read @normalized.running_mean.*\n", module)
    norm = re.search(r"hfta.batch_norm (%arg0),.*?: (tensor<(\d+)x3xf32>)",
                     module)
    added = (f"%use = hfta.broadcast {read[1]} to [{norm[3]}, 3] along [1] : "
             f"tensor<3xf32>\n"
             f"%sum = hfta.add %arg0, %use : {norm[2]}, {norm[2]}\n")
    changed = (module[:read.end()] + added + module[read.end():norm.start(1)] +
               "%sum" + module[norm.end(1):])
    return changed


def main():
    work = Work(__doc__)
    numbers = random.Random(7)
    samples = [[numbers.randint(-99, 99) / 16 for _ in range(CHANNELS)]
               for _ in range(STEPS * BATCH)]
    write_npy(work.folder / "image.npy", "<f4",
              [number for row in samples for number in row],
              (len(samples), CHANNELS))
    write_npy(work.folder / "label.npy", "<i8",
              [numbers.randrange(2) for _ in samples], (len(samples),))

    def check(name, micro_batches, clause="", uses_mean=False, flags=(),
              model_flags=()):
        job = MODEL + make_blocks(
            'image: f32[3] = npy("image.npy"), label: i64 = npy("label.npy")',
            "cross_entropy(net, label)", "sgd(lr = [0.1, 0.3])", STEPS,
            batch=f"{BATCH}, shuffle = false",
            clauses=f"  precision f64\n  seed 1\n"
                    f"  micro_batches {micro_batches}{clause}")
        source = work.write_job(name, job)
        if uses_mean:
            module = run(work.hftac, source, "--emit=import", "-o", "-",
                         *model_flags)
            source = work.folder / f"{name}.mlir"
            source.write_text(use_mean(module))
            model_flags = ()
        binary = work.folder / name
        run(work.hftac, source, "-o", binary, *flags, *model_flags)
        tasks = run(binary, "info", "--schedule")
        expect_equal("task/statistics." in tasks, True, f"{name}: statistics")
        mean, variance = compute(samples, micro_batches, uses_mean)
        trained = checkpoint(work.train(binary), STEPS)
        for copy in range(COPIES):
            tensors = read_safetensors(copy_file(trained, copy))
            for tensor, expected in (("running_mean", mean),
                                     ("running_var", variance)):
                got = tensors[f"normalized.{tensor}"][2]
                if max(abs(a - b) for a, b in zip(got, expected)) > 1e-12:
                    fail(f"{name}: {tensor} of copy {copy} is {list(got)}, "
                         f"expected {expected}")
        print(f"as computed: {name}")
        return trained

    first = ", all_forwards_first = true"
    for uses_mean, name in ((False, ""), (True, "used-")):
        check(f"{name}whole", 1, uses_mean=uses_mean)
        check(f"{name}parts", 4, uses_mean=uses_mean)
        check(f"{name}alone", 4, uses_mean=uses_mean,
              model_flags=["--no-fuse"])
        check(f"{name}ahead", 4, first, uses_mean,
              ["--cuts=normalized,again"])
    stages = '\n  pipeline cuts = ["again"], order = '
    for order in ("one_f_one_b", "zero_bubble"):
        kept = check(f"kept-{order}", 4, stages + order, True)
        again = check(f"again-{order}", 4, stages + order + "\n  recompute all", True)
        expect_same_checkpoint(again, kept, f"{order}, computed again", COPIES)


if __name__ == "__main__":
    main()
