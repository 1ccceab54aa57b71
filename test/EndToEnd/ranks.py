#!/usr/bin/env python3
"""Tests that a program trains to the same bytes and log on each number of ranks, resumes
from checkpoints of any number of ranks, and ends as a whole if one rank can't go on. Needs
Open MPI's mpirun, and only Python's standard library."""

import json
import os
import signal
import time
from pathlib import Path

from harness import (DATA, MODELS, Work, checkpoint, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_log, run)
from make_data import SAMPLES, mlp_data, write_npy  # from the folder test/reference
from mpirun import Ranks, find_rank, run_apart, run_ranks

ROOT = Path(__file__).resolve().parents[2]
COPIES = 4
RATES = "[1e-3, 3e-3, 1e-2, 3e-2]"
STEPS = 4
NETS = {
    "mlp": MODELS["mlp"].replace("relu(linear(flatten(image), 37))",
                                 "dropout(relu(linear(flatten(image), 37)), 0.2)"),
    "cnn": MODELS["cnn"].replace("relu(conv1)", "relu(batch_norm(conv1))")
                        .replace("relu(conv2)", "relu(batch_norm(conv2))"),
}
# The jobs: name to network, clauses of the train block, and flags of hftac. The number at
# the end of a name is the number of replicas.
JOBS = {
    "mlp-4": ("mlp", "micro_batches 8\n  pipeline replicas = [4]", ()),
    "mlp-3": ("mlp", "micro_batches 4, groups = 4\n  precision f64\n"
                     "  pipeline replicas = [3], bucket = 4KiB", ()),
    "cnn-4": ("cnn", "micro_batches 8, groups = 8\n  clip_norm 0.5\n"
                     "  pipeline replicas = [4], bucket = 8KiB",
              ("--cuts=pool1,pool2",)),
    "cnn-3": ("cnn", "micro_batches 4, groups = 3, all_forwards_first = true\n"
                     "  pipeline replicas = [3], overlap = false",
              ("--no-fuse",)),
}


def make_job(net, clauses, steps=STEPS):
    # The batch sizes don't divide the number of samples, so that the last batch of an
    # evaluation is incomplete.
    data = DATA[net] + "\n  test " + DATA[net]
    return NETS[net] + make_blocks(
        data, "cross_entropy(net, label)", f"adam(lr = {RATES})", steps,
        batch=48 if net == "mlp" else 24,
        clauses=f"  metric accuracy(net, label)\n  seed 3\n  {clauses}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", "cnn")
        self.folder = self.work.folder

    def flags(self, name, *more):
        return ["train", "--data", self.folder, "--checkpoint", self.folder / name,
                "--log", self.folder / f"{name}.jsonl", "--log-every", 1,
                "--no-progress", *more]

    def train(self, binary, ranks, name, *more):
        output = run_ranks(ranks, binary, *self.flags(name, *more))
        if output.count("train loss") != 1:
            fail(f"{name}: expected one table, got\n{output:.2000}")
        return checkpoint(self.folder / name, STEPS)


def check_bytes(check):
    """Compares checkpoints and logs on all numbers of ranks, and with a program without
    replicas."""
    for name, (net, clauses, flags) in JOBS.items():
        job = make_job(net, clauses)
        binary = check.work.compile(name, job, *flags)
        alone = check.train(binary, 1, f"{name}-1")
        expected = read_log(check.folder / f"{name}-1.jsonl")
        for ranks in range(2, int(name[-1]) + 1):
            other = f"{name}-{ranks}"
            expect_same_checkpoint(check.train(binary, ranks, other), alone, other,
                                   COPIES)
            if read_log(check.folder / f"{other}.jsonl") != expected:
                fail(f"{other}: another log than one rank's")
        # The program without replicas has the same number of groups.
        groups = "groups = 4" if name == "mlp-4" else None
        plain = clauses.split("\n  pipeline")[0]
        if groups:
            plain = plain.replace("micro_batches 8", f"micro_batches 8, {groups}")
        if "groups" in plain:
            plain = check.work.compile(f"{name}-plain", make_job(net, plain), *flags)
            expect_same_checkpoint(check.train(plain, 1, f"{name}-plain-1"), alone,
                                   f"{name} without replicas", COPIES)


def check_resumed(check):
    """Tests that any number of ranks and replicas resumes from the checkpoint of any
    other."""
    job = "micro_batches 8, groups = 8\n  pipeline replicas = [{}]"
    binaries = [check.work.compile(f"resumed-{replicas}",
                                   make_job("cnn", job.format(replicas)))
                for replicas in (1, 2, 4)]
    expected = check.train(binaries[0], 1, "never-stopped")
    name = "stopped"
    for step, (binary, ranks) in enumerate(((binaries[2], 4), (binaries[0], 1),
                                            (binaries[1], 2), (binaries[2], 3)), 1):
        # The first rank runs in this test's folder; each other rank runs in a folder of its
        # own and doesn't see the checkpoints.
        run_apart(ranks, check.folder, binary, "train", "--data", check.folder,
                  "--checkpoint", name, "--no-progress", "--resume", "--steps", step)
    if any((check.folder / f"apart-{rank}" / name).exists() for rank in (1, 2, 3)):
        fail("a rank that isn't the first has written a checkpoint")
    expect_same_checkpoint(checkpoint(check.folder / name, STEPS), expected,
                           "resumed by 4, 1, 2 and 3 ranks", COPIES)


def expect_message(output, *words, most=1):
    errors = [line for line in output.splitlines() if ": error: " in line]
    if not 1 <= len(errors) <= most or any(word not in line for word in words
                                           for line in errors):
        fail(f"expected at most {most} errors with {words}, got\n{output:.3000}")


def check_other_data(check):
    """Tests that a rank with fewer samples than the others, or with a program without test
    data, is refused. It would keep other ranks waiting, or train on other samples than they
    expect."""
    fewer = check.folder / "fewer"
    fewer.mkdir()
    for name, code, shape, numbers in zip(("image", "label"), ("<f4", "<i8"),
                                          ((1, 8, 8), ()), mlp_data()):
        write_npy(fewer / f"mlp-{name}.npy", code, numbers[:len(numbers) // 2],
                  [SAMPLES // 2, *shape])
    job = make_job("mlp", JOBS["mlp-4"][1])
    binary = check.work.compile("lengths", job)
    shell = 'test $OMPI_COMM_WORLD_RANK = 1 && {}; exec "$@"'
    for command in (["train", "--steps", 2, "--no-progress"], ["eval"]):
        expect_message(run_ranks(3, "sh", "-c", shell.format("cd fewer"), "sh", binary,
                                 *command, "--data", ".", code=2, place=check.folder),
                       "rank 1", "samples")
    other = check.work.compile("untested", job.replace("\n  test", "\n  //"))
    expect_message(run_ranks(2, "sh", "-c", shell.format(f'shift && exec {other} "$@"'),
                             "sh", binary, "train", "--data", check.folder, code=2),
                   "rank 1", "program")


def check_refusals(check):
    binary = check.work.compile("refused", make_job("mlp", JOBS["mlp-4"][1]))
    plain = check.work.compile("plain", make_job("mlp", "micro_batches 8"))
    flags = check.flags("refused")
    expect_message(run_ranks(5, binary, *flags, code=2), "5 ranks", "4 workers")
    expect_message(run_ranks(2, plain, *flags, code=2), "2 ranks", "for one")
    expect_message(run_ranks(2, binary, *flags, "--ranks", "3", code=2), "--ranks", "3",
                   "mpirun")
    expect_message(run_ranks(2, binary, *flags, "--mpi", "nothing.so", code=3),
                   "nothing.so")
    expect_message(run_ranks(2, binary, *flags, "--data", "/nowhere", code=2), "--data")
    # Only the second rank gets another number of steps, or another program.
    shell = 'test $OMPI_COMM_WORLD_RANK = 1 && {}; exec "$@"'
    expect_message(run_ranks(3, "sh", "-c", shell.format('exec "$@" --steps 3'), "sh",
                             binary, *flags, code=2), "rank 1", "options")
    job = make_job("mlp", JOBS["mlp-4"][1])
    for name, text in (
            ("other", make_job("mlp", JOBS["mlp-4"][1].replace("seed 3", "seed 4")
                               + "\n  clip_norm 1")),
            ("ignoring", job.replace("label)", "label, ignore_index = 9)", 1))):
        other = check.work.compile(name, text)
        expect_message(run_ranks(2, "sh", "-c", shell.format(
            f'shift && exec {other} "$@"'), "sh", binary, *flags, code=2),
            "rank 1", "program")
    # An error of a rank that can't start must be reported even if the other ranks can
    # start.
    if "nothing.so" not in run_ranks(2, "sh", "-c", shell.format(
            'exec "$@" --mpi nothing.so'), "sh", binary, *flags, code=3):
        fail("a rank that can't open MPI has said nothing")
    # Each rank measures a program for one rank separately.
    if run_ranks(2, plain, "bench", "--steps", 1).count("planned peak") != 2:
        fail("bench of a program for one rank: expected two results")
    # A file that only one rank lacks must end all ranks, with one message.
    expect_message(run_ranks(3, "sh", "-c", shell.format("cd /"), "sh", binary,
                             "train", "--data", ".", "--no-progress", code=1,
                             place=check.folder), "rank 1 (replica 1)", "mlp-image")
    if (check.folder / "refused").exists() and any(
            (check.folder / "refused").glob("step-*")):
        fail("a refused training has left a checkpoint")
    run_ranks(2, binary, "info")
    run_ranks(2, plain, "train", "--data", check.folder, "--ranks", "1", "--steps", 1,
              "--no-progress")


def check_alone(check):
    """Tests that a process that is the only rank never looks for the MPI library, even if a
    launcher has started it."""
    binary = check.work.compile("lone", make_job("mlp", JOBS["mlp-4"][1]))
    # With LD_DEBUG, the dynamic linker prints which libraries it looks for.
    command = ["env", "LD_DEBUG=libs", binary, "train", "--data", check.folder,
               "--no-progress"]
    for what, output in (("no launcher", run(*command)),
                         ("one rank", run_ranks(1, *command)),
                         ("--ranks 1", run_ranks(2, *command, "--ranks", 1)),
                         ("two ranks", run_ranks(2, *command))):
        looks = output.count("find library=libmpi.so.40")
        if ("find library=libc.so" not in output
                or (looks > 0) != (what == "two ranks")):
            fail(f"{what}: looks {looks} times for MPI's library")


def wait_for_step(ranks, log):
    """Waits until the log has a step; fails if the ranks end before, or after 100 s."""
    begin = time.monotonic()
    while not log.exists() or '"step"' not in log.read_text():
        if ranks.process.poll() is not None or time.monotonic() - begin > 100:
            fail(f"no step: {ranks.finish()}")
        time.sleep(0.05)


def check_ends(check):
    """Tests ranks one of which is killed or stopped, and ranks that a signal asks to
    end."""
    binary = check.work.compile("ends", make_job(
        "cnn", "micro_batches 8, groups = 8\n  pipeline replicas = [4]", 10 ** 6))
    expected = check.work.compile("whole", make_job(
        "cnn", "micro_batches 8, groups = 8", 10 ** 6))

    def begin(name, *flags):
        ranks = Ranks(4, binary, *check.flags(name, "--every", 3, *flags))
        wait_for_step(ranks, check.folder / f"{name}.jsonl")
        return ranks

    ranks = begin("killed")
    os.kill(find_rank(binary, 2), signal.SIGKILL)
    at = time.monotonic()
    ranks.finish(128 + signal.SIGKILL)
    if time.monotonic() - at > 10:
        fail("mpirun has taken more than 10 s to end")
    ranks = begin("stopped-rank", "--rank-timeout", 2)
    os.kill(find_rank(binary, 1), signal.SIGSTOP)
    # Each of the three other ranks may report the stopped one before the first report ends
    # all.
    expect_message(ranks.finish(5), "rank 1", "2 s", most=3)
    ranks = begin("asked")
    ranks.process.send_signal(signal.SIGUSR1)
    output = ranks.finish(128 + signal.SIGUSR1)
    if output.count("; saved ") != 1:
        fail(f"SIGUSR1: nothing saved\n{output:.2000}")
    # A program for one rank must get the same bytes after as many steps.
    steps = max(int(path.name[5:]) for path in (check.folder / "asked").glob("step-*"))
    work = check.work
    work.train(expected, "--steps", steps)
    expect_same_checkpoint(checkpoint(check.folder / "asked", steps),
                           checkpoint(check.folder / "whole-checkpoints", steps),
                           f"asked to stop after step {steps}", COPIES)


def check_evaluations(check, compiler):
    """Tests evaluations: each rank must get the same losses as one process, even for a
    batch of which it has no sample."""
    kernels = check.work.compile("evaluated.o", make_job("cnn", JOBS["cnn-4"][1]),
                                 "--emit=obj")
    binary = kernels.with_suffix("")
    run(*compiler.split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I",
        ROOT / "runtime" / "include", ROOT / "test" / "Inputs" / "RanksEvaluate.c",
        kernels, Path(check.work.hftac).parents[1] / "lib" / "libhfta_runtime.a",
        "-lm", "-lpthread", "-ldl", "-o", binary)
    expected = run(binary).splitlines()
    lines = run_ranks(4, binary).splitlines()
    for rank in range(4):
        mine = [line for line in lines if line.startswith(f"{rank}: ")]
        expect_equal([line.split(": ", 1)[1] for line in mine],
                     [line.split(": ", 1)[1] for line in expected],
                     f"evaluations of rank {rank}")


def check_lacking_epoch(check):
    """Tests a log without the evaluation of its last epoch, which all ranks together must
    compute when they resume."""
    job = make_job("mlp", JOBS["mlp-4"][1], steps=12)  # two epochs of six steps
    binary = check.work.compile("lacking", job)
    flags = [*check.flags("lacking-epoch"), "--steps"]
    run(binary, *flags, 6)
    log = check.folder / "lacking-epoch.jsonl"
    expected = log.read_text().splitlines()
    log.write_text("".join(line + "\n" for line in expected
                           if '"epoch","epoch"' not in line))
    run_ranks(3, binary, *flags, 12, "--resume", "--rank-timeout", 20)
    epochs = [event for event in read_log(log) if event["event"] == "epoch"]
    expect_equal(len(epochs), 2, "epochs of a log that lacked one")


def check_slow_ranks(check):
    """Tests a rank that works longer than the timeout for idle ranks: with three ranks, the
    last one computes two workers' micro-batches."""
    binary = check.work.compile("slow", make_job("mlp", JOBS["mlp-4"][1]))
    costs = json.loads(run(binary, "bench", "--steps", 1, "--phases", "--json"))
    for task in costs["tasks"]:
        part = task["name"].split(".")[0]
        task["seconds"] = (0.1 * task["runs"] if part in ("forward", "backward")
                           else 0.0)
    path = check.folder / "costs.json"
    path.write_text(json.dumps(costs))
    run_ranks(3, binary, "bench", "--steps", 1, "--device", f"paced:{path}",
              "--threads", 1, "--rank-timeout", 1)


def main():
    compiler = os.environ["CC"]
    check = Check()
    check_evaluations(check, compiler)
    check_bytes(check)
    check_resumed(check)
    check_refusals(check)
    check_other_data(check)
    check_alone(check)
    check_ends(check)
    check_slow_ranks(check)
    check_lacking_epoch(check)


if __name__ == "__main__":
    main()
