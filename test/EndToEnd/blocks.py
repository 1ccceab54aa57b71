#!/usr/bin/env python3
"""Tests that a CNN that is cut into blocks trains to the same bytes as the uncut CNN, and
that evaluation and inference, which are cut at the same values, give the same numbers."""

import json

from harness import (DATA, Work, checkpoint, expect_equal,
                     expect_same_checkpoint, make_job, run)
from make_data import write_npy  # from the folder test/reference

STEPS = 30


def main():
    work = Work(__doc__, "cnn")
    train = f"train {DATA['cnn']}\n"
    job = make_job("cnn", STEPS, "  clip_norm 1.0\n"
                   "  metric accuracy(net, label)")
    job = job.replace(train, f"{train}  test {DATA['cnn']}\n")

    def train_and_evaluate(binary):
        log = work.folder / f"{binary.name}.jsonl"
        folder = work.train(binary, "--log", log)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        return checkpoint(folder, STEPS), [
            (event["eval_loss"], event["eval_accuracy"])
            for event in events if event["event"] == "epoch"]

    image = work.folder / "image.npy"
    write_npy(image, "<f4", [(n * 37 % 101) / 101 for n in range(16 * 28 * 28)],
              (16, 1, 28, 28))

    def infer(binary, trained):
        folder = work.folder / f"{binary.name}-outputs"
        run(binary, "run", "--input", f"image={image}", "--output", folder, "--copy", 1,
            "--checkpoint", trained)
        return (folder / "output.npy").read_bytes()

    whole = work.compile("whole", job)
    expected, evaluated = train_and_evaluate(whole)
    expect_equal(len(evaluated), 2, "evaluations")
    inferred = infer(whole, expected)
    for name, cuts, blocks, flags in [
            ("three", "pool1,pool2", 3, []),
            ("six", "conv1,pool1,conv2,pool2,hidden", 6, []),
            ("alone", "pool1,pool2", 3, ["--no-fuse"])]:
        binary = work.compile(name, job, f"--cuts={cuts}", *flags)
        info = json.loads(run(binary, "info", "--json", "--threads", 1))
        expect_equal(info["blocks"], blocks, f"blocks after --cuts={cuts}")
        # Even a model with cuts must let its copies take turns through a step.
        if not flags:
            expect_equal(info["memory"]["copies_at_once"], 1,
                         f"copies at once after --cuts={cuts}")
        for part in ("evaluate", "infer"):
            expect_equal([task["name"] for task in info["tasks"]
                          if task["name"].startswith(part)],
                         [f"{part}.{block}" for block in range(blocks)],
                         f"tasks after --cuts={cuts}")
        trained, evaluation = train_and_evaluate(binary)
        expect_same_checkpoint(trained, expected, f"{name}: {blocks} blocks")
        expect_equal(evaluation, evaluated, f"{name}: evaluation")
        expect_equal(infer(binary, trained), inferred, f"{name}: inference")


if __name__ == "__main__":
    main()
