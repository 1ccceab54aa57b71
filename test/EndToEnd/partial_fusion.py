#!/usr/bin/env python3
"""Tests three variants of ResNet-18 that are trained as one array; one has another number
of classes, another one an additional block. Each copy must get the same bytes as alone,
with checkpoints, exports and outputs of its own, and remarks must report what wasn't fused.
Needs only Python's standard library."""

import argparse
import json
import pathlib
import sys

from harness import (REFERENCE, checkpoint, copy_file, expect_equal,
                     expect_same_file, fail, run)

sys.path.insert(0, str(REFERENCE))

import networks  # noqa: E402  (from test/reference)

MODELS = REFERENCE.parent / "models" / "networks"
NAMES = ["resnet18", "resnet18_wide", "resnet18_deep"]
CLASSES = [10, 100, 10]
RATES = [1e-2, 2e-2, 3e-2]
STEPS = 5


class Check:
    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
        parser.add_argument("--hftac", required=True)
        parser.add_argument("--work", type=pathlib.Path, required=True)
        options = parser.parse_args()
        self.hftac, self.work = options.hftac, options.work
        self.work.mkdir(parents=True, exist_ok=True)
        networks.write_data(self.work, NAMES[0])
        for name in NAMES:
            (self.work / f"{name}.onnx").symlink_to(
                (MODELS / f"{name}.onnx").resolve())
            networks.write_weights(self.work, MODELS / f"{name}.json")

    def compile(self, name, models, rates, *flags, clauses=()):
        job = self.work / f"{name}.hfta"
        optimizer = f"sgd(lr = {rates}, momentum = 0.9)"
        zipped = ["zip(lr, model)"] if len(models) > 1 else []
        files = [f"{model}.onnx" for model in models]
        job.write_text(networks.make_job(
            NAMES[0], files if len(files) > 1 else files[0], "f32",
            steps=STEPS, optimizer=optimizer,
            clauses=[*clauses, *zipped, "clip_norm 1.0"]))
        binary = job.with_suffix("")
        output = run(self.hftac, job, "-o", binary, "--data", self.work, *flags)
        return binary, output

    def train(self, binary, *flags, folder=None):
        folder = folder or self.work / f"{binary.name}-checkpoints"
        run(binary, "train", "--data", self.work, "--checkpoint", folder,
            "--no-progress", *flags)
        return checkpoint(folder, STEPS)


def check_remarks(text):
    for part in ("only for copy 1: 'head.weight' is tensor<10x64xf32> (trained) "
                 "against tensor<100x64xf32> (trained)",
                 "only for copy 2: 'extra.conv1.weight' is missing in another "
                 "model", "3 copies of 3 model(s) in one array"):
        if part not in text:
            fail(f"no remark says: {part}\n{text}")


def check_info(binary):
    info = json.loads(run(binary, "info", "--json"))
    owners = {(tensor["name"], tensor.get("copy")): tensor["shape"]
              for tensor in info["parameters"]["tensors"]}
    for copy, classes in enumerate(CLASSES):
        expect_equal(owners.get(("head.weight", copy)), [classes, 64],
                     f"head of copy {copy}")
    expect_equal(owners.get(("stem.weight", None)), [8, 3, 7, 7], "stem")
    expect_equal(("extra.conv1.weight", 2) in owners, True, "extra block")
    expect_equal(("extra.conv1.weight", 0) in owners, False, "extra block")


def check_outputs(check, array, alone, copy):
    """Checks that `run` and `export` write the same files as with the copy's own
    program."""
    written = []
    for binary, index in ((array, copy), (alone, 0)):
        folder = check.work / f"{binary.name}-{copy}-out"
        steps = check.work / f"{binary.name}-checkpoints"
        run(binary, "run", "--copy", index, "--checkpoint", steps, "--input",
            f"image={check.work / 'resnet18-image.npy'}", "--output", folder)
        model = folder / "model.onnx"
        run(binary, "export", "--copy", index, "--checkpoint", steps, "-o",
            model)
        written.append((folder / "log_probs.npy", model))
    for mine, theirs in zip(*written):
        expect_same_file(mine, theirs, f"copy {copy}: {mine.name}")


def check_groups(check):
    """Tests groups of micro-batches, whose sums are partly in segments that all copies
    have, and partly in segments of only one copy."""
    clauses = ["micro_batches 2, groups = 2"]
    array, _ = check.compile("groups", NAMES, RATES, clauses=clauses)
    alone, _ = check.compile("groups-alone", NAMES[2:], RATES[2:], clauses=clauses)
    expect_same_file(copy_file(check.train(array), 2), copy_file(check.train(alone), 0),
                     "copy 2 of 2 groups")


def main():
    check = Check(__doc__)
    array, remarks = check.compile("array", NAMES, RATES, "--remarks")
    check_remarks(remarks)
    check_info(array)
    together = check.train(array)
    for copy, (name, rate) in enumerate(zip(NAMES, RATES)):
        alone, _ = check.compile(f"alone-{name}", [name], [rate])
        single = check.train(alone)
        expect_same_file(copy_file(together, copy), copy_file(single, 0),
                         f"copy {copy}, {name}")
        check_outputs(check, array, alone, copy)
    unfused, _ = check.compile("unfused", NAMES, RATES, "--no-fuse")
    apart = check.train(unfused)
    for copy in range(len(NAMES)):
        expect_same_file(copy_file(together, copy), copy_file(apart, copy),
                         f"copy {copy} not fused")
    check_groups(check)
    # A checkpoint of the array can be resumed.
    folder = check.work / "resumed"
    run(array, "train", "--data", check.work, "--steps", 2, "--checkpoint",
        folder, "--no-progress")
    resumed = check.train(array, "--resume", folder=folder)
    for copy in range(len(NAMES)):
        expect_same_file(copy_file(together, copy), copy_file(resumed, copy),
                         f"copy {copy} resumed")


if __name__ == "__main__":
    main()
