#!/usr/bin/env python3
"""Tests eight copies in the memory of three. They run several steps at a time, turn by
turn, and if there is room, the next turn's copies are fetched while those of one turn
compute. Bytes, log and checkpoints must be those without a budget: with a schedule of
learning rates, dropout, running statistics, micro-batches and clipping, on any number of
threads, with some of the copies, and resumed from any checkpoint, also after SIGINT and
SIGKILL. The bytes read and written per step must decrease with the number of steps per
turn. A failing disk must end the training. Needs only Python's standard library."""

import json
import os
import random
import signal
import subprocess
import time

from harness import (DATA, Work, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     make_blocks, read_log, run)

COPIES = 8
STEPS = 26
RATES = "[" + ", ".join(f"{1 + copy}e-3" for copy in range(COPIES)) + "]"
KILLS = 5
# The number of threads, each of which runs one copy at a time. With two threads, the arena
# has room for the copies of two turns.
THREADS = {"mlp": 2, "cnn": 3}
NETWORKS = {
    "mlp": ("""
  first  = dropout(relu(linear(flatten(image), 200)), 0.2)
  second = dropout(relu(linear(first, 200)), 0.1)
  return output = linear(second, 10)
""", f"adam(lr = {RATES})", """
  schedule cosine(warmup = 5)
  micro_batches 2
  clip_norm 0.5"""),
    "cnn": ("""
  first  = relu(batch_norm(conv(image, 6, 3, padding = 1)))
  second = relu(linear(flatten(first), 300))
  return output = linear(second, 10)
""", f"sgd(lr = {RATES}, momentum = 0.9)", ""),
}


def make_job(name, copies=COPIES):
    layers, optimizer, clauses = NETWORKS[name]
    if copies < COPIES:
        optimizer = optimizer.replace(RATES, f"[{', '.join(['1e-3'] * copies)}]")
    return f"model net(image: f32[batch, 1, 8, 8]) {{{layers}}}\n" + make_blocks(
        f"{DATA['mlp']}\n  test  {DATA['mlp']}", "cross_entropy(net, label)", optimizer,
        STEPS, batch=32, clauses=f"  metric accuracy(net, label)\n  seed 3{clauses}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--only"])

    def command(self, binary, name, *flags, log_every=7, every=6):
        folder = self.work.folder
        return [binary, "train", "--data", folder, "--checkpoint", folder / name,
                "--log", folder / f"{name}.jsonl", f"--log-every={log_every}",
                f"--every={every}", "--no-progress", *map(str, flags)]

    def train(self, binary, name, *flags, **options):
        return run(*self.command(binary, name, *flags), **options)

    def compare(self, name, expected):
        """Compares all checkpoints of two trainings, and their logs except start events."""
        folder = self.work.folder
        found = sorted(path.name for path in (folder / expected).glob("step-*"))
        expect_equal(sorted(path.name for path in (folder / name).glob("step-*")), found,
                     f"checkpoints of {name}")
        for step in found:
            mine, theirs = (folder / run / step for run in (name, expected))
            expect_same_checkpoint(mine, theirs, f"{name} {step}", COPIES)
        logs = [[event for event in read_log(folder / f"{run}.jsonl")
                 if event["event"] != "start"] for run in (name, expected)]
        expect_equal(logs[0], logs[1], f"the log of {name}")

    def compile(self, name):
        """Compiles the job without a budget, and with the memory that three copies need
        plus 2 MiB for the store. Checks which schedules the latter has. Returns both
        programs."""
        threads = THREADS[name]
        free = self.work.compile(f"{name}-free", make_job(name))
        three = self.work.compile(f"{name}-three", make_job(name, copies=3))
        peak = json.loads(run(three, "info", "--json", "--threads", threads))["peak_bytes"]
        budget = peak + (2 << 20)
        turns = self.work.compile(f"{name}-turns", make_job(name),
                                  f"--memory=device = {budget}, threads = {threads}")
        needed = json.loads(run(turns, "info", "--json"))["peak_bytes"]
        if needed > budget:
            fail(f"{name}: {needed} bytes within {budget}")
        text = run(turns, "info", "--schedule")
        for schedule in ("begin_turn", "turn_step", "end_turn", "begin_turn_beside"):
            expected = schedule != "begin_turn_beside" or name == "mlp"
            expect_equal(f"@{schedule} " in text, expected, f"{name} has {schedule}")
        return free, turns

    def check_bytes(self, name, free, turns):
        expected = f"{name}-expected"
        self.train(free, expected)
        for threads in range(1, THREADS[name] + 1):
            trained = f"{name}-{threads}"
            self.train(turns, trained, "--threads", threads)
            self.compare(trained, expected)
        # Each program resumes from the other's checkpoint, which is in the middle of an
        # epoch.
        for first, second, steps in ((free, turns, 9), (turns, free, 17)):
            trained = f"{name}-{first.name}-{second.name}"
            self.train(free, f"{trained}-expected", "--steps", steps)
            self.train(free, f"{trained}-expected", "--steps", STEPS, "--resume")
            self.train(first, trained, "--steps", steps)
            self.train(second, trained, "--steps", STEPS, "--resume")
            self.compare(trained, f"{trained}-expected")

    def check_some(self, name, free, turns):
        for binary, trained in ((free, f"{name}-some-expected"), (turns, f"{name}-some")):
            self.train(binary, trained, "--only", "1,2,4,6,7")
        for step in (6, STEPS):
            for copy in (1, 2, 4, 6, 7):
                mine, theirs = (
                    checkpoint(self.work.folder / run, step) /
                    f"copy-{copy:04d}.safetensors"
                    for run in (f"{name}-some", f"{name}-some-expected"))
                expect_equal(mine.read_bytes() == theirs.read_bytes(), True,
                             f"copy {copy} of step {step}")

    def check_traffic(self, name, turns):
        """Checks that a step of a turn of 20 steps moves at most a tenth of the bytes that
        a single step moves."""
        moved = []
        for steps in (1, 20):
            measured = json.loads(run(turns, "bench", "--json", "--steps", steps))
            moved.append((measured["store_read_bytes"] + measured["store_written_bytes"]) /
                         steps)
        print(f"{name}: {moved[0]:.0f} bytes a step, in turns of 20 steps {moved[1]:.0f}")
        if not 0 < moved[1] <= moved[0] / 10:
            fail(f"{name}: turns of 20 steps move {moved[1]} bytes a step, of one "
                 f"{moved[0]}")

    def check_interrupts(self, name, free, turns, kind):
        """Interrupts a training KILLS times at random times with the signal `kind`, lets it
        end, and compares the last checkpoint."""
        steps = 400
        expected, trained = f"{name}-{kind.name}-expected", f"{name}-{kind.name}"
        run(*self.command(free, expected, "--steps", steps, log_every=60, every=50))
        draw = random.Random(7)
        command = self.command(turns, trained, "--steps", steps, "--resume",
                               log_every=60, every=50)
        done = 0
        while done < KILLS:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.02, 0.3))
            process.send_signal(kind)
            code = process.wait()
            expect_equal(code in (0, 130, -kind), True, f"exit code {code}")
            done += 1
        run(*command)
        expect_same_checkpoint(checkpoint(self.work.folder / trained, steps),
                               checkpoint(self.work.folder / expected, steps),
                               f"{name} after {done} times {kind.name}", COPIES)

    def check_failure(self, name, turns):
        """Tests that a failing disk ends the training, which can be resumed from the
        checkpoint before."""
        trained = f"{name}-failed"
        self.train(turns, trained, "--steps", 6)
        text = self.train(turns, trained, "--steps", STEPS, "--resume", code=4,
                          env={**os.environ, "HFTA_STORE": "faulty=io:90"})
        expect_equal("Input/output error" in text, True, text)
        self.train(turns, trained, "--resume")
        expect_same_checkpoint(checkpoint(self.work.folder / trained, STEPS),
                               checkpoint(self.work.folder / f"{name}-1", STEPS),
                               f"{name} after a failure", COPIES)


def main():
    check = Check()
    for name in NETWORKS:
        free, turns = check.compile(name)
        check.check_bytes(name, free, turns)
        if check.work.options.only == "bytes":
            break
        check.check_some(name, free, turns)
        check.check_traffic(name, turns)
        if name == "mlp":
            check.check_interrupts(name, free, turns, signal.SIGINT)
            check.check_interrupts(name, free, turns, signal.SIGKILL)
            check.check_failure(name, turns)


main()
