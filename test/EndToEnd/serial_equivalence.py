#!/usr/bin/env python3
"""Trains the same copies fused, not fused in one binary, and in smaller binaries, with
several numbers of threads and copies, and compares the checkpoints byte by byte. Needs only
Python's standard library.

A checkpoint of copy k must not depend on the copies that were trained beside it.
"""

import argparse
import filecmp
import pathlib
import subprocess
import sys

COPIES = [(lr, decay) for lr in (1e-3, 3e-3, 1e-2, 3e-2) for decay in (0.0, 1e-2)]

MLP = """
model net(image: f32[batch, 1, 8, 8]) {
  hidden = dropout(relu(batch_norm(linear(flatten(image), 37))), 0.25)
  return linear(hidden, 10)
}
"""

CNN = """
model net(image: f32[batch, 1, 28, 28]) {
  first = max_pool(relu(conv(image, 5, 3, padding = 1)), 2)
  second = max_pool(relu(conv(first, 7, 3, padding = 1)), 2)
  hidden = relu(linear(flatten(second), 19))
  return linear(hidden, 10)
}
"""

JOB = """
data made {{
  train image = npy("{data}-image.npy"){scale}, label = npy("{data}-label.npy")
}}
train sweep {{
  model     net(image)
  data      made, batch = 16
  loss      cross_entropy(net, label)
  optimizer adam(lr = [{rates}], weight_decay = [{decays}])
  zip(lr, weight_decay)
  clip_norm 1.0
  seed      3
  steps     {steps}
{extra}
}}
"""


class Check:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.work.mkdir(parents=True, exist_ok=True)
        self.data = "mlp" if options.kind == "mlp" else "cnn"

    def run(self, *command):
        result = subprocess.run([str(part) for part in command],
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, command))}\nexit "
                     f"{result.returncode}\n{result.stdout}")

    def compile(self, name, copies, *flags, extra=""):
        model = MLP if self.options.kind == "mlp" else CNN
        scale = "" if self.options.kind == "mlp" else " / 255"
        job = self.work / f"{name}.hfta"
        job.write_text(model + JOB.format(
            data=self.data, scale=scale, steps=self.options.steps, extra=extra,
            rates=", ".join(repr(rate) for rate, _ in copies),
            decays=", ".join(repr(decay) for _, decay in copies)))
        binary = self.work / name
        self.run(self.options.hftac, job, "-o", binary, "--data", self.work,
                 *flags)
        return binary

    def train(self, binary, threads, tag=""):
        folder = self.work / f"{binary.name}{tag}-{threads}"
        self.run(binary, "train", "--data", self.work, "--threads", threads,
                 "--checkpoint", folder, "--no-progress")
        return folder / f"step-{self.options.steps:08d}"

    def expect_equal(self, mine, theirs, what):
        if not filecmp.cmp(mine, theirs, shallow=False):
            sys.exit(f"{what}: {mine} and {theirs} differ")
        print(f"equal: {what}")


def copy_file(folder, copy):
    return folder / f"copy-{copy:04d}.safetensors"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--kind", choices=["mlp", "cnn"], required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--flags", default="", help="more options of hftac")
    options = parser.parse_args()
    check = Check(options)
    flags = options.flags.split()
    make_data = pathlib.Path(__file__).parent.parent / "reference/make_data.py"
    check.run(sys.executable, make_data, check.work, check.data)

    array = check.compile("array8", COPIES, *flags)
    reference = check.train(array, 1)
    for threads in (2, 3):
        other = check.train(array, threads)
        for copy in range(len(COPIES)):
            check.expect_equal(copy_file(reference, copy),
                               copy_file(other, copy),
                               f"copy {copy} with {threads} threads")
    alone = check.train(check.compile("unfused8", COPIES, "--no-fuse", *flags), 2)
    for copy in range(len(COPIES)):
        check.expect_equal(copy_file(reference, copy), copy_file(alone, copy),
                           f"copy {copy} not fused")
    three = check.train(check.compile("array3", COPIES[2:5], *flags), 2)
    for copy in range(3):
        check.expect_equal(copy_file(reference, 2 + copy),
                           copy_file(three, copy),
                           f"copy {2 + copy} in an array of 3")
    for copy in (0, 7):
        one = check.train(check.compile(f"array1-{copy}", [COPIES[copy]], *flags), 3)
        check.expect_equal(copy_file(reference, copy), copy_file(one, 0),
                           f"copy {copy} alone")
    for copy in range(1, len(COPIES)):
        if filecmp.cmp(copy_file(reference, 0), copy_file(reference, copy),
                       shallow=False):
            sys.exit(f"copies 0 and {copy} are equal: nothing was trained?")
    # A copy that diverges must not affect the others.
    wild = list(COPIES)
    wild[3] = (1e9, 0.0)
    diverged = check.train(check.compile("wild", wild, *flags), 2)
    for copy in range(len(COPIES)):
        if copy != 3:
            check.expect_equal(copy_file(reference, copy),
                               copy_file(diverged, copy),
                               f"copy {copy} beside a diverged one")


if __name__ == "__main__":
    main()
