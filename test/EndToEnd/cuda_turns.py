#!/usr/bin/env python3
"""Tests copies that take turns on a GPU without memory for all of them. They must take as
few turns as possible, and train to the same bytes and log lines as all copies at once: for
any number of copies per turn, for any order in which the GPU works, with and without
fusion, when resuming from each other's checkpoints, and if some copies stop earlier.
Evaluations, other commands and traces must work in turns, too. If not even one copy fits,
or if copies can't take turns, one message must say so; failing calls of the driver must
leave one message and no partly written files. Needs only Python's standard library."""

import json
import os
import re
import shutil
import subprocess

from cuda_work import DATA, JOBS, CudaWork, make_job
from harness import (checkpoint, expect_equal, expect_same_checkpoint, fail, read_log,
                     run)

RATES = ["1e-3", "3e-3", "1e-2", "2e-3", "5e-3", "7e-3", "4e-3", "6e-3"]
BATCH, STEPS, EVERY = 64, 13, 4
# One part in FREE_PART of the copies' memory stays free, as in host_copies.c.
FREE_PART = 32
# A network with running statistics.
JOBS["norm"] = ("""
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(batch_norm(conv(image, 3, 3, stride = 2, bias = false)))
  return output = linear(flatten(first), 10)
}
""", "sgd(lr = {}, momentum = 0.9)", "")
DATA["norm"] = DATA["mlp"]
# A host program for the library, in which copies can't take turns. It prints the error.
EMBEDDED = """
#include "net.h"
#include <stdio.h>
int main(void) {
  hfta_error error;
  hfta_options options = {.error = &error};
  net *instance;
  hfta_status status = net_create(&options, &instance);
  puts(error.message);
  return (int)status;
}
"""


def make_turns_job(name, rates):
    """Returns the text of a job with test data and larger batches; it evaluates after each
    epoch of five steps."""
    text = make_job(name, rates).replace("batch = 16", f"batch = {BATCH}")
    return text.replace("}\ntrain sweep {", f"  test  {DATA['mlp']}\n}}\ntrain sweep {{\n"
                                            "  metric    accuracy")


class Turns(CudaWork):
    def __init__(self):
        super().__init__(__doc__, more=["--cc"])

    def compile_copies(self, name, job, copies, *flags):
        return self.work.compile(f"{name}-gpu", make_turns_job(job, RATES[:copies]),
                                 "--target=cuda", "--gpu-code=emulated", "--chip=sm_80",
                                 *flags)

    def read_needs(self, binary):
        """Returns what `info --json` says about the GPU memory that a program needs. This
        works without a driver."""
        bare = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        return json.loads(run(binary, "info", "--json", env=bare))["gpu"]

    def find_device(self, binary, at_once):
        """Returns the description, for the emulation, of the smallest GPU that has memory
        for `at_once` copies."""
        needs = self.read_needs(binary)
        expect_equal(needs["takes_turns"], True, f"turns of {binary.name}")
        size = needs["first_copy_bytes"] + (at_once - 1) * needs["next_copy_bytes"]
        return f"sm_80:{size + (size // FREE_PART if at_once > 1 else 0)}"

    def train_log(self, binary, name, *flags, at_once=0, steps=STEPS, **more):
        """Trains into a folder of checkpoints, with a log beside it, and returns the
        folder. If `at_once` isn't 0, the GPU has memory for that many copies only."""
        if at_once:
            more["device"] = self.find_device(binary, at_once)
        return self.train(binary, name, "--log", self.folder / f"{name}.jsonl",
                          "--log-every", "5", "--every", EVERY, "--steps", steps, *flags,
                          **more)

    def expect_same(self, mine, theirs, what, copies):
        for step in (*range(EVERY, STEPS, EVERY), STEPS):
            expect_same_checkpoint(checkpoint(mine, step), checkpoint(theirs, step),
                                   f"{what}, step {step}", copies)
        logs = [read_log(folder.with_suffix(".jsonl")) for folder in (mine, theirs)]
        expect_equal(*logs, f"log of {what}")

    def check_copies(self, job, precision, copies, widths, *flags):
        """Checks that turns of each of the widths give the same bytes as all copies at
        once. Returns the program and the folder of the training of all at once."""
        what = "-".join([job, precision, str(copies), *(flag.strip("-") for flag in flags)])
        binary = self.compile_copies(what, job, copies, f"--precision={precision}", *flags)
        expected = self.train_log(binary, what)
        for at_once in widths:
            self.expect_same(self.train_log(binary, f"{what}-of-{at_once}",
                                            at_once=at_once, seed=at_once),
                             expected, f"{what}, {at_once} at a time", copies)
        return binary, expected

    def check_seeds(self, binary, expected, copies):
        for seed in (6, 7):
            self.expect_same(self.train_log(binary, f"seed-{seed}", at_once=2, seed=seed),
                             expected, f"seed {seed}", copies)

    def check_turns(self, binary, copies):
        """Checks the note about turns: there are as few as possible, with equally many
        copies each."""
        for room, turns, each in ((4, 2, 3), (3, 2, 3), (2, 3, 2)):
            result = subprocess.run(
                [binary, "train", "--data", self.folder, "--steps", "1"], text=True,
                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                env=self.environment(device=self.find_device(binary, room)))
            note = f"no room for all copies at a time: they take {turns} turns of {each} copies"
            expect_equal(note in result.stderr, True, result.stderr)

    def check_resumed(self, binary, copies):
        """Tests that a training that began in turns can be resumed without turns, and the
        reverse."""
        expected = None
        for first, second in ((0, 0), (2, 0), (0, 2), (1, 2)):
            name = f"resumed-{first}-{second}"
            self.train_log(binary, name, steps=6, at_once=first)
            mine = self.train_log(binary, name, "--resume", at_once=second, seed=5)
            expected = expected or mine
            self.expect_same(mine, expected, f"{first or 'all'}, then {second or 'all'} at "
                             "a time", copies)

    def check_leaving(self, binary, expected, copies):
        """Tests that, if copies 1 and 3 stop after step 6, the others get the same bytes
        with and without turns."""
        folders = []
        for at_once in (0, 2):
            name = f"leaving-{at_once}"
            self.train_log(binary, name, steps=6, at_once=at_once)
            folders.append(self.train_log(binary, name, "--resume", "--only", "0,2,4",
                                          at_once=at_once, seed=7))
        expect_same_checkpoint(*(checkpoint(folder, STEPS) for folder in folders),
                               "copies that stop", copies)
        logs = [read_log(folder.with_suffix(".jsonl")) for folder in folders]
        expect_equal(*logs, "log of copies that stop")

    def check_commands(self, binary, folder, copies):
        texts, arrays = [], []
        trace = self.folder / "trace.json"
        for device in ("sm_80", self.find_device(binary, 2)):
            environment = self.environment(device=device, seed=4)
            texts.append(run(binary, "eval", "--data", self.folder, "--checkpoint", folder,
                             env=environment))
            out = self.folder / f"out-{len(texts)}"
            run(binary, "run", "--input", f"image={self.folder / 'mlp-image.npy'}",
                "--output", out, "--copy", 3, "--checkpoint", folder, env=environment)
            arrays.append((out / "output.npy").read_bytes())
            run(binary, "bench", "--steps", 3, "--phases", env=environment)
            run(binary, "bench", "--steps", 3, env=environment)
        expect_equal(*texts, "eval in turns")
        expect_equal(*arrays, "run on a small GPU")
        mine = self.train_log(binary, "traced", "--trace", trace, at_once=2)
        self.expect_same(mine, folder, "traced", copies)
        names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
        for wanted in ("copy to parameter.0", "copy parameter.0 to the host", "forward.0"):
            expect_equal(wanted in names, True, f"{wanted} in {sorted(names)}")

    def expect_refused(self, binary, size, pattern):
        text = self.train(binary, "refused", code=3, device=f"sm_80:{size}")
        if not re.search(pattern, text) or len(text.splitlines()) != 1:
            fail(f"expected one line with {pattern!r}, got {text!r}")

    def check_messages(self, binary):
        least = self.read_needs(binary)["first_copy_bytes"]
        self.train(binary, "least", "--steps", 1, device=f"sm_80:{least}")
        self.expect_refused(binary, least - 1, "segment '.*': device 'cuda:0' .* needs .* "
                            f"are free; one copy alone needs {least} bytes: make batches")
        kfac = self.compile_copies("kfac", "kfac", 3)
        needs = self.read_needs(kfac)
        expect_equal(needs["takes_turns"], False, "turns of K-FAC")
        least = needs["first_copy_bytes"]
        self.expect_refused(kfac, least, f"one copy alone needs {least} bytes, but copies "
                            "can't take turns because of shared_moments.0: train fewer")
        job = self.work.write_job("net", make_turns_job("mlp", RATES[:3]))
        run(self.work.hftac, job, "--target=cuda", "--gpu-code=emulated", "--emit=lib",
            "-o", self.folder / "libnet.a")
        (self.folder / "main.c").write_text(EMBEDDED)
        library = self.folder / "embedded"
        run(*self.work.options.cc.split(), self.folder / "main.c",
            self.folder / "libnet.a", "-lm", "-lpthread", "-ldl", "-o", library)
        text = run(library, code=3, env=self.environment(device="sm_80:100000"))
        expect_equal("but copies can't take turns in a library" in text, True, text)

    def check_failures(self, binary, expected, copies):
        """Lets calls of the driver fail at the program's start, in the middle of training,
        and late."""
        device = self.find_device(binary, 2)
        folder = self.folder / "failed"
        for call, numbers in (("cuMemAlloc", (3, 25)), ("cuStreamSynchronize", (60,)),
                              ("cuMemcpyAsync", (5, 90, 190)), ("cuLaunchKernel", (90,)),
                              ("cuGraphLaunch", (1,))):
            for number in numbers:
                shutil.rmtree(folder, ignore_errors=True)
                result = subprocess.run(
                    [binary, "train", "--data", self.folder, "--checkpoint", folder,
                     "--no-progress", "--steps", str(STEPS)], text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    env=self.environment(device=device, fail=f"{call}:{number}"))
                what = f"{call}:{number}: {result.stdout!r}"
                expect_equal(result.returncode, 70, what)
                expect_equal(result.stdout.count("error:"), 1, what)
                expect_equal(call in result.stdout, True, what)
                expect_equal(list(folder.glob("*")), [], f"what {call}:{number} leaves")
        # If memory can't be page-locked, copies must only take longer.
        self.expect_same(self.train_log(binary, "unlocked", at_once=2,
                                        fail="cuMemHostRegister:1"),
                         expected, "memory that isn't locked", copies)


def main():
    check = Turns()
    check.check_copies("mlp", "f32", 3, (1,))
    check.check_copies("mlp", "f32", 8, (3,))
    check.check_copies("mlp", "f32", 5, (1, 2, 3))
    check.check_copies("mlp", "f16", 5, (2,))
    check.check_copies("norm", "f32", 5, (2,))
    check.check_copies("mlp", "f32", 3, (2,), "--no-fuse")
    binary, expected = check.check_copies("mlp", "bf16", 5, (2,))
    check.check_seeds(binary, expected, 5)
    check.check_turns(binary, 5)
    check.check_resumed(binary, 5)
    check.check_leaving(binary, expected, 5)
    check.check_commands(binary, expected, 5)
    check.check_messages(binary)
    check.check_failures(binary, expected, 5)


if __name__ == "__main__":
    main()
