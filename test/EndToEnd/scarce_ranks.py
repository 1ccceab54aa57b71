#!/usr/bin/env python3
"""Tests two stages of a model, each of which needs eight times as much memory as its rank
may have. A program that was compiled without a budget must refuse to train on two ranks
under such a limit. With a budget it must train there, to the same bytes as with enough
memory, on one to three threads, and with two replicas of each stage. Each rank's anonymous
memory must stay below its worker's peak plus 32 MiB. Needs only Python's standard library,
mpirun and prlimit."""

import json
import pathlib
import threading

from harness import DATA, checkpoint, expect_same_checkpoint, fail, make_blocks, run
from mpirun import Ranks, find_rank
from scarcity import (ADAM, ALLOWANCE, COPIES, STEPS, TIMES, Check, dropped,
                      make_chain)

STACK = 1 << 20  # the limit on the stack of each process, in bytes
LAYERS = 28
CLAUSES = "seed 3\n  clip_norm 0.5\n  micro_batches 4, groups = 2\n  pipeline cuts = [\"a14\"]"


class Watch:
    """A thread that measures the largest RssAnon of a program's rank, in bytes."""

    def __init__(self, ranks, binary, rank):
        self.most, self.process = 0, ranks.process
        self.binary, self.rank = binary, rank
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        found = None
        while self.process.poll() is None:
            found = found or find_rank(self.binary, self.rank)
            try:
                status = pathlib.Path(f"/proc/{found}/status").read_text()
            except (OSError, ProcessLookupError):
                status = ""
            for line in status.splitlines():
                if line.startswith("RssAnon:"):
                    self.most = max(self.most, int(line.split()[1]) << 10)
            threading.Event().wait(0.005)


def get_peak(binary):
    """Returns the peak in bytes of the stage that needs the most memory."""
    stages = json.loads(run(binary, "info", "--json"))["stages"]
    return max(stage["memory"]["peak_bytes"] for stage in stages)


def train(check, binary, name, ranks, limit, *flags, code=0):
    """Trains on ranks that may have `limit` bytes of data each. Returns their output, and
    the largest RssAnon of any rank in bytes."""
    folder = check.work.folder
    started = Ranks(ranks, "prlimit", f"--data={limit}", f"--stack={STACK}", binary,
                    "train", "--data", folder, "--checkpoint", folder / name,
                    "--no-progress", *flags)
    watches = [Watch(started, binary, rank) for rank in range(ranks)]
    text = started.finish(code)
    for watch in watches:
        watch.thread.join()
    return text, max(watch.most for watch in watches)


def make_job(clauses):
    return make_chain(dropped, layers=LAYERS) + make_blocks(
        DATA["mlp"], "cross_entropy(net, label)", ADAM, STEPS,
        clauses=f"  {clauses}")


def main():
    check = Check()
    free = check.work.compile("free", make_job(CLAUSES))
    needed = get_peak(free)
    device = needed // TIMES
    run(free, "train", "--data", check.work.folder, "--checkpoint",
        check.work.folder / "trained", "--no-progress")
    expected = checkpoint(check.work.folder / "trained", STEPS)
    refused, _ = train(check, free, "refused", 2, device + ALLOWANCE, code=3)
    if "bytes of memory and may have" not in refused:
        fail(f"under a limit the program says {refused!r}")
    for name, clauses, runs in (
            ("stages", CLAUSES, ((2, 1), (2, 2), (2, 3))),
            ("replicas", f"{CLAUSES}, replicas = [2, 2]", ((4, 1),))):
        spilled = check.work.compile(name, make_job(clauses),
                                     f"--memory=device = {device}, threads = 3")
        peak = get_peak(spilled)
        if peak > device:
            fail(f"{name}: {peak} bytes within {device}")
        for ranks, threads in runs:
            what = f"{name}-{ranks}-{threads}"
            _, most = train(check, spilled, what, ranks, device + ALLOWANCE,
                            "--threads", threads)
            print(f"{what}: {needed} bytes needed, budget {device}, peak {peak}, "
                  f"RssAnon {most}")
            if not 0 < most <= peak + ALLOWANCE:
                fail(f"{what}: {most} bytes of its own, planned were {peak}")
            expect_same_checkpoint(checkpoint(check.work.folder / what, STEPS),
                                   expected, what, COPIES)


if __name__ == "__main__":
    main()
