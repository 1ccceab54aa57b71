#!/usr/bin/env python3
"""Tests that a program within a memory budget trains to the same bytes as one without, with
every medium of its store, and that evaluations, exports and resumed trainings find the
spilled values. Folders that can't be used, a limit on the size of files, and a failing disk
must end it with a message and exit code 3 or 4, and must not damage older checkpoints. A
killed program must leave no files. Only programs with a store must have options for it."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from harness import (DATA, Work, checkpoint, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, run)

MODEL = """
model net(image: f32[batch, 1, 8, 8]) {
  first  = relu(linear(flatten(image), 300))
  second = relu(linear(first, 300))
  third  = relu(linear(second, 300))
  return output = linear(third, 10)
}
"""
COPIES = 2
JOB = MODEL + make_blocks(
    DATA["mlp"] + "\n  test  " + DATA["mlp"], "cross_entropy(net, label)",
    "adam(lr = [1e-3, 3e-3])", 6, clauses="  seed 3")
BUDGET = "--memory=device = 3MiB, threads = 3"
KILLS = 20
FLAGS = ["--spill-dir", "--io-threads"]


def train(work, binary, name, *flags, environment=None, code=0, limit=None):
    """Trains from the start, with checkpoints in the folder `name` of the work folder, and
    returns the output. `limit` is the largest size of a file in bytes."""
    folder = work.folder / name

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = subprocess.run(
        [binary, "train", "--data", work.folder, "--checkpoint", folder,
         "--no-progress", *map(str, flags)], text=True, cwd=work.folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
        preexec_fn=limit_files if limit else None)
    if result.returncode != code:
        fail(f"{name}: exit {result.returncode}, expected {code}\n"
             f"{result.stdout:.2000}")
    return result.stdout


def expect_message(output, message):
    if message not in output:
        fail(f"expected '{message}' in\n{output}")
    print(f"as expected: {message}")


def check_bytes(work, plain, spilling):
    """Checks that all media, numbers of threads and folders give the same checkpoints."""
    train(work, plain, "plain")
    expected = checkpoint(work.folder / "plain", 6)
    (work.folder / "store").mkdir()
    for name, flags, store in [
            ("file", [], None),
            ("folder", ["--spill-dir", "store", "--io-threads", 1], None),
            ("threads", ["--io-threads", 16, "--threads", 3], None),
            ("memory", [], "memory"),
            ("slow", [], "throttled=4e8:2e8")]:
        output = train(work, spilling, name, *flags,
                       environment={"HFTA_STORE": store} if store else None)
        expect_equal("note: spilled data lie in memory that no plan counts" in
                     output, store == "memory", f"a note of {name}")
        expect_same_checkpoint(checkpoint(work.folder / name, 6), expected,
                               name, COPIES)
    # Each of the two programs must resume from the other's checkpoint.
    for first, second in ((plain, spilling), (spilling, plain)):
        name = f"{first.name}-{second.name}"
        train(work, first, name, "--steps", 3)
        train(work, second, name, "--steps", 6, "--resume")
        expect_same_checkpoint(checkpoint(work.folder / name, 6), expected,
                               name, COPIES)
    expect_equal(os.listdir(work.folder / "store"), [], "the store's folder")


def check_commands(work, plain, spilling):
    """Tests the commands that use a checkpoint, and bench."""
    folder = work.folder / "file"
    outputs = [run(binary, "eval", "--data", work.folder, "--checkpoint", folder)
               for binary in (plain, spilling)]
    expect_equal(outputs[1], outputs[0], "evaluation")
    files = []
    for binary in (plain, spilling):
        path = work.folder / f"{binary.name}.onnx"
        run(binary, "export", "--copy", 1, "-o", path, "--checkpoint", folder)
        files.append(path.read_bytes())
    expect_equal(files[0] == files[1], True, "exported models are equal")
    results = []
    for binary in (plain, spilling):
        output = work.folder / f"{binary.name}-output"
        run(binary, "run", "--input", f"image={work.folder}/mlp-image.npy",
            "--output", output, "--copy", 1, "--checkpoint", folder)
        results.append({path.name: path.read_bytes()
                        for path in sorted(output.iterdir())})
    expect_equal(results[0] == results[1], True, "outputs are equal")
    moved = []
    for flags in ((), ("--no-overlap",)):
        measured = json.loads(run(spilling, "bench", "--json", "--steps", 3,
                                  "--threads", 2, *flags))
        moved.append((measured["store_read_bytes"], measured["store_written_bytes"]))
    expect_equal(moved[1], moved[0], "traffic without overlap")
    if min(moved[0]) == 0:
        fail("nothing is read or written")
    expect_message(run(spilling, "bench", "--steps", 3, "--no-overlap",
                       env={**os.environ, "HFTA_STORE": "faulty=io:120"}, code=4),
                   "Input/output error")


def check_info(plain, spilling):
    text = json.loads(run(spilling, "info", "--json", "--threads", 3))
    memory = text["memory"]["array"]
    if text["peak_bytes"] > 3 << 20 or memory["arena"] == 0:
        fail(f"the budget isn't kept to: {memory}")
    spilled = [row for row in text["segments"]
               if row.get("residency") == "spilled"]
    if not spilled:
        fail("nothing is spilled")
    for command in ("train", "eval", "run", "export", "bench"):
        for binary, expected in ((plain, False), (spilling, True)):
            text = run(binary, command, "--help")
            for flag in FLAGS:
                expect_equal(flag in text, expected,
                             f"{flag} in {binary.name} {command} --help")
    for flag in FLAGS:
        expect_message(run(plain, "train", flag, 1, code=2),
                       f"unknown option '{flag}'")


def check_refusals(work, spilling):
    expect_message(train(work, spilling, "r1", "--threads", 4, code=2),
                   "option '--threads': the job plans memory for at most 3, "
                   "got 4")
    expect_message(train(work, spilling, "r2", "--io-threads", 17, code=2),
                   "option '--io-threads': '17' is not a whole number from 1 "
                   "to 16")
    expect_message(train(work, spilling, "r3", "--spill-dir", "nowhere", code=4),
                   "cannot spill in 'nowhere': No such file or directory")
    expect_message(train(work, spilling, "r4", "--spill-dir", "/dev/shm", code=3),
                   "its file system is memory itself")
    if os.geteuid() != 0:
        (work.folder / "readonly").mkdir(mode=0o555)
        expect_message(
            train(work, spilling, "r5", "--spill-dir", "readonly", code=4),
            "cannot spill in 'readonly': Permission denied")
    expect_message(train(work, spilling, "r6", limit=1 << 20, code=4),
                   "File too large")
    for name in ("r1", "r2", "r3", "r4", "r6"):
        if (work.folder / name).exists():
            fail(f"{name}: a folder is left")


def check_faults(work, spilling):
    """Tests faults of the disk: they must not damage the older checkpoint, from which
    training must be able to resume."""
    expected = checkpoint(work.folder / "plain", 6)
    for fault, message in [
            ("no_space", "No space left on device"), ("io", "Input/output error"),
            ("short", "the rest is missing"),
            ("flip", "spilled data have changed")]:
        name = f"fault-{fault}"
        train(work, spilling, name, "--steps", 3)
        before = {path.name: path.read_bytes()
                  for path in checkpoint(work.folder / name, 3).iterdir()}
        # The fault occurs only after the checkpoint has been loaded.
        output = train(work, spilling, name, "--steps", 6, "--resume",
                       environment={"HFTA_STORE": f"faulty={fault}:75"}, code=4)
        expect_message(output, message)
        after = {path.name: path.read_bytes()
                 for path in checkpoint(work.folder / name, 3).iterdir()}
        expect_equal(before == after, True, "the older checkpoint is whole")
        train(work, spilling, name, "--steps", 6, "--resume")
        expect_same_checkpoint(checkpoint(work.folder / name, 6), expected,
                               name, COPIES)


def check_kills(work, spilling):
    """Tests that no file of the store is left, whenever the process is killed."""
    store = work.folder / "killed-store"
    store.mkdir()
    steps = 60
    train(work, spilling, "unkilled", "--steps", steps, "--every", 5)
    expected = checkpoint(work.folder / "unkilled", steps)
    draw = random.Random(5)
    # The training is killed at random times and resumed each time.
    command = [spilling, "train", "--data", work.folder, "--steps", str(steps),
               "--spill-dir", store, "--no-progress", "--every", "5",
               "--checkpoint", work.folder / "killed", "--resume"]
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.005, 0.12))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        expect_equal(os.listdir(store), [], "the store's folder after a kill")
        if checkpoint(work.folder / "killed", steps).exists():
            shutil.rmtree(work.folder / "killed")
    run(*command)
    expect_same_checkpoint(checkpoint(work.folder / "killed", steps), expected,
                           f"after {kills} kills", COPIES)


def main():
    work = Work(__doc__, "mlp")
    plain = work.compile("unlimited", JOB)
    spilling = work.compile("spilling", JOB, BUDGET)
    check_bytes(work, plain, spilling)
    check_commands(work, plain, spilling)
    check_info(plain, spilling)
    check_refusals(work, spilling)
    check_faults(work, spilling)
    check_kills(work, spilling)
    shutil.rmtree(work.folder / "store")


main()
