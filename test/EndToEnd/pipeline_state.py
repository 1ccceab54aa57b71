#!/usr/bin/env python3
"""Tests the state of stages on several ranks. The first rank must save it, and any number
of ranks must resume from it: without a common folder, after a signal, and with tensors that
are longer than a message. A checkpoint that can't be written must end all ranks. Exports
and evaluations must be those of the program without stages. Needs Open MPI's mpirun, and
only Python's standard library."""

import json
import signal
import time

from harness import (DATA, Work, checkpoint, expect_equal, expect_same_checkpoint,
                     expect_same_file, fail, make_blocks, run)
from mpirun import Ranks, run_apart, run_ranks
from ranks import wait_for_step

COPIES = 2
STEPS = 4
# The weight of the second stage is longer than the longest message.
MODEL = """
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(linear(flatten(image), 300))
  second = relu(linear(first, 1000))
  return output = linear(second, 10)
}
"""
PIPELINE = "micro_batches 4, groups = 4\n  pipeline cuts = [\"first\", \"second\"]"


def make_job(clauses, steps=STEPS):
    return MODEL + make_blocks(
        DATA["mlp"] + "\n  test " + DATA["mlp"], "cross_entropy(net, label)",
        "adam(lr = [1e-3, 3e-3])", steps,
        clauses=f"  seed 3\n  metric accuracy(net, label)\n  {clauses}")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")
        self.folder = self.work.folder
        self.binary = self.work.compile("stages", make_job(PIPELINE))
        self.uncut = self.work.compile("uncut", make_job("micro_batches 4, groups = 4"))
        run(self.uncut, *self.flags("never-stopped"))
        self.expected = checkpoint(self.folder / "never-stopped", STEPS)

    def flags(self, name):
        return ["train", "--data", self.folder, "--checkpoint", self.folder / name,
                "--no-progress"]


def check_apart(check):
    """Tests resuming with other numbers of ranks and another program, if only the first
    rank sees the folder of checkpoints."""
    for step, (ranks, binary) in enumerate(((3, check.binary), (2, check.binary),
                                            (1, check.uncut), (3, check.binary)), 1):
        run_apart(ranks, check.folder, binary, "train", "--data", check.folder,
                  "--checkpoint", "stopped", "--no-progress", "--resume", "--steps", step)
    if list(check.folder.glob("apart-*/stopped")):
        fail("a rank that isn't the first has written a checkpoint")
    expect_same_checkpoint(checkpoint(check.folder / "stopped", STEPS), check.expected,
                           "resumed by 3, 2, 1 and 3 ranks", COPIES)


def check_full(check):
    """Tests a checkpoint that can't be written completely: the first rank's limit on the
    size of files is reached within the first copy's tensors of the second stage."""
    flags = check.flags("full")
    run_ranks(3, check.binary, *flags, "--steps", 1)
    limit = 'test $OMPI_COMM_WORLD_RANK != 0 || ulimit -f 2000; exec "$@"'
    output = run_ranks(3, "bash", "-c", limit, "bash", check.binary, *flags, "--resume",
                       code=4)
    errors = [line for line in output.splitlines() if ": error: " in line]
    if len(errors) != 1 or not errors[0].startswith(
            "stages: rank 0 (stage 0, replica 0): error: cannot save checkpoint "):
        fail(f"a full disk: {output:.3000}")
    left = sorted(path.name for path in (check.folder / "full").iterdir())
    expect_equal([name for name in left if name != ".hfta-lock"], ["step-00000001"],
                 "what a full disk has left")
    run_ranks(2, check.binary, *flags, "--resume")
    expect_same_checkpoint(checkpoint(check.folder / "full", STEPS), check.expected,
                           "after a full disk", COPIES)


def check_log(check):
    """Tests a log that the first rank can't write any more. The steps that are done when
    the other ranks learn about this must be saved."""
    tiny = ('model net(image: f32[batch, 1, 8, 8]) {\n  first = linear(flatten(image), 4)\n'
            '  second = relu(first)\n  return output = linear(second, 10)\n}\n')
    stages, uncut = (check.work.compile(
        name, make_job(clauses, 100000).replace(MODEL, tiny)) for name, clauses in
        (("tiny", PIPELINE), ("tiny-uncut", "micro_batches 4, groups = 4")))
    log = check.folder / "ended.jsonl"
    limit = 'test $OMPI_COMM_WORLD_RANK != 0 || ulimit -f 32; exec "$@"'
    output = run_ranks(3, "bash", "-c", limit, "bash", stages, *check.flags("ended"),
                       "--log", log, "--log-every", 1, code=4)
    errors = [line for line in output.splitlines() if ": error: " in line]
    if len(errors) != 1 or "ended.jsonl" not in errors[0]:
        fail(f"a log that can't be written: {output:.3000}")
    steps = max(int(path.name[5:]) for path in (check.folder / "ended").glob("step-*"))
    run(uncut, *check.flags("ended-uncut"), "--steps", steps)
    expect_same_checkpoint(checkpoint(check.folder / "ended", steps),
                           checkpoint(check.folder / "ended-uncut", steps),
                           f"a log that ended before step {steps}", COPIES)


def check_asked(check):
    """Tests that a signal ends all ranks after a common step, which is saved."""
    binary = check.work.compile("long", make_job(PIPELINE, 100000))
    log = check.folder / "asked.jsonl"
    ranks = Ranks(3, binary, *check.flags("asked"), "--log", log, "--log-every", 1)
    wait_for_step(ranks, log)
    ranks.process.send_signal(signal.SIGUSR1)
    ranks.finish(128 + signal.SIGUSR1)
    steps = max(int(path.name[5:]) for path in (check.folder / "asked").glob("step-*"))
    run(check.uncut, *check.flags("as-long"), "--steps", steps)
    expect_same_checkpoint(checkpoint(check.folder / "asked", steps),
                           checkpoint(check.folder / "as-long", steps),
                           f"asked to stop after step {steps}", COPIES)


def check_used(check):
    saved = check.folder / "never-stopped"
    for name, binary in (("stages", check.binary), ("uncut", check.uncut)):
        run(binary, "export", "--copy", 1, "--checkpoint", saved, "-o",
            check.folder / f"{name}.onnx")
    expect_same_file(check.folder / "stages.onnx", check.folder / "uncut.onnx",
                     "exported copy")
    flags = ["eval", "--data", check.folder, "--checkpoint", saved]
    expected = run(check.uncut, *flags)
    for ranks in (1, 2, 3):
        expect_equal(run_ranks(ranks, check.binary, *flags), expected,
                     f"an evaluation on {ranks} ranks")


def check_peaks(check):
    """Checks that each rank reports its stage's memory."""
    stages = json.loads(run(check.binary, "info", "--json", "--threads", 1))["stages"]
    output = run_ranks(3, check.binary, "bench", "--steps", 1, "--phases", "--json",
                       "--threads", 1)
    expect_equal([rank["peak_bytes"] for rank in json.loads(output)["rank_times"]],
                 [stage["memory"]["peak_bytes"] for stage in stages], "peaks of ranks")


def check_many(check):
    """Tests that ranks with more workers than the tags of messages can distinguish are
    refused."""
    job = make_job("micro_batches 256\n  pipeline cuts = [\"first\"], "
                   "replicas = [128, 128]", steps=1).replace("batch = 16", "batch = 256")
    binary = check.work.compile("many", job)
    output = run_ranks(2, binary, *check.flags("many"), code=3)
    if "128 workers on a rank" not in output or "start more ranks" not in output:
        fail(f"too many workers on a rank: {output:.2000}")


def main():
    check = Check()
    for name, function in list(globals().items()):
        if name.startswith("check_"):
            begin = time.monotonic()
            function(check)
            print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
