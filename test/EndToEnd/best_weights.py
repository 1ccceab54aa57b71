#!/usr/bin/env python3
"""Tests trainings that keep each copy's best weights, in programs of several kinds. These
must be, byte for byte, the weights of a training that ends with the copy's best epoch; the
training itself must be that of a job that doesn't keep them. Kills, ranks and seats change
nothing. --only chooses kinds. With --ranks, programs of several workers run on that many
ranks, for which Open MPI's mpirun is needed. Needs only Python's standard library."""

import filecmp
import json
import os
import random
import re
import shutil
import signal
import subprocess

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_file,
                     fail, make_blocks, read_least_budget, run)
from mpirun import run_ranks
from searches import MADE, MODEL

COPIES = 4
EPOCHS = 6
STEPS = 7  # those of an epoch
KILLS = 8
# The kinds: clauses of the job, and flags of hftac; None: a memory budget.
KINDS = {
    "plain": ("", []),
    "bf16": ("  micro_batches 4\n  precision bf16", []),
    "patience": ("  metric top_k(k = 2), accuracy\n  objective validation.accuracy", []),
    "budget": ("", None),
    "replicas": ("", ["--micro-batches=4", "--pipeline=replicas = [2]"]),
    "stages": ("", ["--micro-batches=4",
                    '--pipeline=cuts = ["hidden"], replicas = [1, 1]']),
    "kfac": ("  precondition kfac(damping = 1e-2, factor_every = 2, inverse_every = 2)",
             ["--micro-batches=4", "--pipeline=replicas = [2]"]),
    "gpu": ("", ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"]),
}


# A model with more parameters than those of one block, so that a budget makes it spill.
LARGE = """
model net(image: f32[batch, 1, 8, 8]) {
  first  = relu(linear(flatten(image), 96))
  hidden = relu(linear(first, 96))
  third  = relu(linear(batch_norm(hidden), 96))
  return output = linear(third, 10)
}
"""


def make_job(keep, clauses, name="kept", model=MODEL):
    text = model + make_blocks(
        MADE, "cross_entropy(net, label)", "adamw(lr = [1e-3, 1e-2, 5e-2, 0.3])", 1,
        batch=32, clauses=f"  validation 0.25\n  keep {keep}\n  seed 3\n{clauses}")
    text = text.replace("  steps     1\n", f"  epochs {EPOCHS}\n")
    text = text.replace("train sweep {", f"train {name} {{")
    return text.replace(f"  train {MADE}", f"  train {MADE}\n  test {MADE}")


def best_file(folder, copy):
    return folder / f"best-{copy:04d}.safetensors"


def read_tensors(path):
    """Returns the bytes of a file's tensors by their names."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__")
    return {name: data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]]
            for name, entry in header.items()}


def expect_same_folder(mine, theirs, what):
    """Compares checkpoints, but for the seconds that training took."""
    names = sorted(path.name for path in theirs.iterdir())
    expect_equal(sorted(path.name for path in mine.iterdir()), names, f"{what}: files")
    for name in names:
        if name != "training.safetensors" and not filecmp.cmp(
                mine / name, theirs / name, shallow=False):
            fail(f"{what}: {mine / name} differs")
    print(f"equal: {what}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--emulation", "--only", "--ranks"])
        self.folder = self.work.folder
        os.environ["HFTA_EMULATION_DEVICE"] = "sm_80"
        os.environ["LD_LIBRARY_PATH"] = self.work.options.emulation or ""

    def find_budget(self, job):
        """Returns a little more than the least memory that the job can be trained in."""
        least = read_least_budget(run(
            self.work.hftac, self.work.write_job("least", job), "--memory=device = 1KiB",
            "-o", self.folder / "least", code=3))
        return least + least // 8

    def compile(self, kind, keep):
        clauses, flags = KINDS[kind]
        job = make_job(keep, clauses, model=MODEL if flags is not None else LARGE)
        if flags is None:
            flags = [f"--memory=device = {self.find_budget(job)}"]
        binary = self.work.compile(f"{kind}-{keep.split(',')[0]}", job, *flags)
        spills = '"residency":"spilled"' in run(binary, "info", "--json")
        expect_equal(spills, kind == "budget", f"whether {kind} spills")
        return binary

    def train(self, binary, name, *flags, launch=run, epochs=EPOCHS):
        """Trains and returns the checkpoint after the epochs, and the printed table."""
        folder = self.folder / name
        text = launch(binary, "train", "--data", self.folder, "--checkpoint", folder,
                      "--no-progress", "--epochs", epochs, *flags)
        return checkpoint(folder, STEPS * epochs), text

    def find_best(self, log, by_accuracy):
        """Returns each copy's best step by the log, and compares it with the log's own."""
        key = "validation_accuracy" if by_accuracy else "validation_loss"
        sign = -1 if by_accuracy else 1
        events = [json.loads(line) for line in log.read_text().splitlines()]
        events = [event for event in events if event["event"] == "epoch"]
        best = []
        for copy in range(COPIES):
            scores = [sign * event[key][copy] for event in events
                      if event[key][copy] is not None]
            best.append(STEPS * (1 + scores.index(min(scores))))
        expect_equal(events[-1]["best_step"], best, "steps in the log")
        if len(set(best)) == 1 or min(best) == STEPS * EPOCHS:
            fail(f"copies don't differ in their best epochs: {best}")
        return best

    def check(self, kind):
        by_accuracy = kind == "patience"
        binary = self.compile(kind, "best, patience = 2" if by_accuracy else "best")
        log = self.folder / f"{kind}.jsonl"
        whole, table = self.train(binary, f"{kind}-whole", "--log", log)
        if not whole.exists():  # the patience of all copies has ended
            whole = next((self.folder / f"{kind}-whole").iterdir())
        best = self.find_best(log, by_accuracy)
        rows = [line.split() for line in table.splitlines()[-COPIES:]]
        for copy, step in enumerate(best):
            expect_equal(str(step) in rows[copy], True, f"{kind}: row {rows[copy]}")
        run_eval = [binary, "eval", "--data", self.folder, "--checkpoint"]
        tested, validated = run(*run_eval, whole), run(*run_eval, whole, "--validation")
        for step in sorted(set(best)):
            cut, text = self.train(binary, f"{kind}-cut-{step}", epochs=step // STEPS)
            for copy in (copy for copy in range(COPIES) if best[copy] == step):
                what = f"{kind}: copy {copy}, best after step {step}"
                mine = read_tensors(best_file(whole, copy))
                theirs = read_tensors(copy_file(cut, copy))
                # Only what isn't a weight has the name of one behind a "/".
                weights = {name: data for name, data in theirs.items() if "/" not in name}
                expect_equal(sorted(mine), sorted(weights), f"{what}: names")
                expect_equal(mine == weights, True, what)
                row = -COPIES + copy
                expect_equal(tested.splitlines()[row],
                             run(*run_eval, cut).splitlines()[row], f"{what}: eval")
                words = text.splitlines()[row].split()
                expect_equal(rows[copy][3:], words[3:], f"{what}: table")
                expect_equal(validated.splitlines()[row].split()[-1] in rows[copy], True,
                             f"{what}: validation")
                self.check_export(binary, whole, cut, copy, what)
        if kind != "patience":
            last, _ = self.train(self.compile(kind, "last"), f"{kind}-free")
            for copy in range(COPIES):
                expect_equal(read_tensors(copy_file(last, copy)),
                             read_tensors(copy_file(whole, copy)),
                             f"{kind}: last weights of copy {copy}")
            expect_equal(sorted(path.name for path in last.iterdir()),
                         [f"copy-{copy:04d}.safetensors" for copy in range(COPIES)],
                         f"{kind}: files without best weights")
        self.check_kills(kind, binary, whole)

    def check_export(self, binary, whole, cut, copy, what):
        paths = self.folder / "mine.onnx", self.folder / "theirs.onnx"
        for path, source in zip(paths, (whole, cut)):
            text = run(binary, "export", "--copy", copy, "--checkpoint", source, "-o", path)
            if not re.search(f": copy {copy} has its best weights, those of step", text):
                fail(f"{what}: {text}")
        expect_same_file(*paths, f"{what}: export")

    def check_kills(self, kind, binary, whole):
        """Kills and resumes a training at random times; the files of its end must be those
        of one that was never stopped."""
        generator = random.Random(7)
        folder = self.folder / f"{kind}-killed"
        command = [str(part) for part in (
            binary, "train", "--data", self.folder, "--checkpoint", folder, "--resume",
            "--every", 3, "--keep", 1, "--no-progress")]
        kills = 0
        while True:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            try:
                limit = generator.uniform(0, 0.3) if kills < KILLS else None
                _, messages = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.send_signal(generator.choice([signal.SIGKILL, signal.SIGINT]))
                _, messages = process.communicate()
                kills += 1
                continue
            expect_equal(process.returncode, 0, f"{kind} after {kills} kills: {messages}")
            expect_same_folder(next(folder.glob("step-*")), whole,
                               f"{kind} after {kills} kills")
            if kills >= KILLS:
                return
            shutil.rmtree(folder)

    def check_ranks(self, kind, ranks):
        """Compares trainings on one and on several ranks, of which each goes on from what
        the other has saved."""
        binary = self.compile(kind, "best")

        def launch(*command):
            return run_ranks(ranks, *command)

        whole, table = self.train(binary, f"{kind}-alone")
        mine, text = self.train(binary, f"{kind}-ranks", launch=launch)
        expect_same_folder(mine, whole, f"{kind}, {ranks} ranks")
        expect_equal(text, table, f"{kind}: table")
        for name, first, second in (("to", run, launch), ("from", launch, run)):
            name = f"{kind}-{name}-ranks"
            self.train(binary, name, launch=first, epochs=3)
            mine, text = self.train(binary, name, "--resume", launch=second)
            expect_same_folder(mine, whole, name)
            expect_equal(text, table, f"{name}: table")
        command = [binary, "eval", "--data", self.folder, "--checkpoint", whole]
        expect_equal(launch(*command), run(*command), f"{kind}: eval on {ranks} ranks")

    def check_seats(self):
        """Tests two jobs at seats. The copies of one take turns within a memory budget, so
        that several seats compute them."""
        budget = self.find_budget(make_job("best", "", model=LARGE))
        jobs = {name: make_job("best", clauses, name, LARGE)
                for name, clauses in (("one", ""), ("two", f"  memory device = {budget}"))}
        alone = {name: self.train(self.work.compile(f"alone-{name}", job),
                                  f"seatless-{name}")[0] for name, job in jobs.items()}
        two = jobs["two"]
        binary = self.work.compile(
            "both", jobs["one"] + two[two.index("train two"):])
        for seats in (1, 2):
            folder = self.folder / f"seats-{seats}"
            text = run(binary, "train", "--data", self.folder, "--checkpoint", folder,
                       "--seats", seats, "--no-progress")
            expect_equal(text.count("best step"), 2, f"tables at {seats} seats")
            for name, expected in alone.items():
                expect_same_folder(checkpoint(folder / name, STEPS * EPOCHS), expected,
                                   f"{name} at {seats} seats")


def main():
    check = Check()
    options = check.work.options
    for kind in options.only.split(",") if options.only else [*KINDS, "seats"]:
        if kind == "seats":
            check.check_seats()
        elif options.ranks:
            check.check_ranks(kind, int(options.ranks))
        else:
            check.check(kind)


if __name__ == "__main__":
    main()
