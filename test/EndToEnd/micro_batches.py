#!/usr/bin/env python3
"""Tests that the gradients of a batch in micro-batches are those of the whole batch, in f64
within 1e-12. Neither the order of the micro-batches' forwards and backwards nor a cut may
change a bit."""

import json

from harness import (COPIES, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_job,
                     read_safetensors, run)

STEPS = 20
# The optimizer isn't Adam, because Adam divides small gradients by their own size: a
# difference in the last bit of a gradient would change the size of a step.
SGD = "sgd(lr = [1e-2, 3e-2, 1e-1], momentum = 0.9)"


def largest_difference(mine, theirs):
    expect_equal({name: tensor[:2] for name, tensor in mine.items()},
                 {name: tensor[:2] for name, tensor in theirs.items()},
                 "tensors of the checkpoint")
    return max(abs(a - b) for name in mine
               for a, b in zip(mine[name][2], theirs[name][2]))


def main():
    work = Work(__doc__, "cnn")

    def train(name, clause, *flags):
        job = make_job("cnn", STEPS, f"  precision f64\n{clause}", SGD)
        binary = work.compile(name, job, *flags)
        return binary, checkpoint(work.train(binary), STEPS)

    _, whole = train("whole", "")
    parts = {}
    for count in (2, 4):
        binary, parts[count] = train(f"parts{count}",
                                     f"  micro_batches {count}")
        info = json.loads(run(binary, "info", "--json"))
        expect_equal(info["micro_batches"], count, "micro_batches")
        for copy in range(COPIES):
            difference = largest_difference(
                read_safetensors(copy_file(parts[count], copy)),
                read_safetensors(copy_file(whole, copy)))
            print(f"{count} parts, copy {copy}: within {difference:.2g}")
            if not 0 < difference <= 1e-12:
                fail(f"{count} micro-batches differ by {difference}")

    for name, flags in [("ahead", []), ("ahead3", ["--cuts=pool1,pool2"])]:
        binary, ahead = train(
            name, "  micro_batches 4, all_forwards_first = true", *flags)
        segments = json.loads(run(binary, "info", "--json"))["segments"]
        flying = {segment["role"] for segment in segments
                  if segment["instances"] == 4}
        if "saved" not in flying or (flags and "cut" not in flying):
            fail(f"only {flying} have four instances")
        expect_same_checkpoint(ahead, parts[4], f"{name}: forwards first")


if __name__ == "__main__":
    main()
