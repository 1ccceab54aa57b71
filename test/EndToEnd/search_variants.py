#!/usr/bin/env python3
"""Tests searches in programs of several kinds: unfused, with micro-batches and other
precisions, with a memory budget, with replicas, with stages, with K-FAC, and on the emulated
GPU. In each kind, 3 slots and 8 or 1 must decide alike and leave equal files, as must other
numbers of threads, and trials must be what trainings of them alone make of them. --only
chooses kinds. With --kills, each kind's search is killed at random times, that many times in
all. With --ranks, programs of several workers run on that many ranks, too, for which Open
MPI's mpirun is needed; there, a rank is killed while a client steers the search. Needs only
Python's standard library."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import REFERENCE, Work, expect_equal, fail, read_least_budget, run
from mpirun import Ranks, find_rank, run_ranks
from searches import Found, expect_replays, expect_same_search, make_job, search

sys.path.insert(0, str(REFERENCE.parent.parent / "python"))

from hfta.client import Search, SearchError  # noqa: E402

COSINE = "  schedule cosine(warmup = 2)\n"
# The kinds: clauses of the job, flags of hftac, and the number of slots beside 3.
KINDS = {
    "unfused": (COSINE, ["--no-fuse"], 8),
    "f16": (COSINE + "  micro_batches 2\n  clip_norm 0.5\n  precision f16", [], 1),
    "bf16": ("  micro_batches 4\n  precision bf16\n  keep best", [], 8),
    "budget": (COSINE, None, 1),
    "replicas": (COSINE, ["--micro-batches=4", "--pipeline=replicas = [2]"], 1),
    "stages": (COSINE, ["--micro-batches=4",
                        '--pipeline=cuts = ["hidden"], replicas = [1, 1]'], 8),
    "kfac": (COSINE + "  precondition kfac(damping = log_uniform(1e-3, 1e-1), "
             "factor_every = choice(1, 2), inverse_every = 2)", [], 1),
    "gpu": (COSINE, ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"], 1),
}
SLOTS = 3


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp",
                         more=["--emulation", "--only", "--kills", "--ranks"])
        self.folder = self.work.folder
        os.environ["HFTA_EMULATION_DEVICE"] = "sm_80"
        os.environ["LD_LIBRARY_PATH"] = self.work.options.emulation or ""

    def compile(self, kind, slots, more=""):
        clauses, flags, _ = KINDS[kind]
        job = make_job(slots=slots, clauses=f"{clauses}\n{more}")
        if flags is None:
            least = read_least_budget(run(
                self.work.hftac, self.work.write_job("least", job),
                "--memory=device = 1KiB", "-o", self.folder / "least", code=3))
            flags = [f"--memory=device = {least + least // 8}"]
        name = f"{kind}-{slots}{'-hasty' if more else ''}"
        return self.work.compile(name, job, *flags)

    def search(self, binary, name, *flags, launch=run):
        return search(binary, self.folder / name, *flags, data=self.folder, launch=launch)

    def check(self, kind):
        other = KINDS[kind][2]
        binary = self.compile(kind, SLOTS)
        found = self.search(binary, f"{kind}-found", "--threads", 2)
        expect_same_search(
            self.search(self.compile(kind, other), f"{kind}-{other}-found"), found,
            f"{kind}, {other} slots")
        for threads in (1, 3):
            expect_same_search(
                self.search(binary, f"{kind}-{threads}-threads", "--threads", threads),
                found, f"{kind}, {threads} threads", to_the_byte=True)
        expect_replays(binary, found, data=self.folder)
        run(binary, "export", "--best", "--checkpoint", found.folder, "-o",
            self.folder / f"{kind}.onnx")
        if self.work.options.kills:
            self.check_kills(kind, binary, found, int(self.work.options.kills))

    def check_kills(self, kind, binary, found, count):
        generator = random.Random(3)
        seconds, kills, rounds = 1, 0, 0
        while kills < count:
            folder = self.folder / f"{kind}-killed-{rounds}"
            rounds += 1
            while True:
                process = subprocess.Popen(
                    list(map(str, [binary, "train", "--data", self.folder, "--checkpoint",
                                   folder, "--resume", "--no-progress"])),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(generator.uniform(0, seconds))
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    kills += 1
            expect_equal(process.returncode, 0, f"{folder.name}: exit code")
            expect_same_search(Found(folder), found, folder.name)

    def check_ranks(self, kind, ranks):
        """Compares a search on several ranks with one on a single rank, and lets each
        continue what the other has begun."""
        binary = self.compile(kind, SLOTS)
        hasty = self.compile(kind, SLOTS, "  minutes 1e-5")
        found = self.search(binary, f"{kind}-alone")

        def launch(*command, **options):
            return run_ranks(ranks, *command, **options)

        expect_same_search(self.search(binary, f"{kind}-ranks", launch=launch), found,
                           f"{kind}, {ranks} ranks", to_the_byte=True)
        for first, second in ((launch, run), (run, launch)):
            name = f"{kind}-{first.__name__}-first"
            text = first(hasty, "train", "--data", self.folder, "--checkpoint",
                         self.folder / name)
            if "; saved " not in text:
                fail(f"{name}: {text}")
            expect_same_search(self.search(binary, name, "--resume", launch=second), found,
                               f"{name}, then on another number of ranks")
        text = launch(binary, "train", "--data", self.folder, "--checkpoint", found.folder,
                      "--replay", 0)
        if "state equal, byte for byte" not in text:
            fail(f"replay on {ranks} ranks: {text}")
        launch(binary, "eval", "--best", "--data", self.folder, "--checkpoint",
               found.folder)


    def check_lost_rank(self, kind, ranks):
        """Kills a rank of a search while a client steers it. What has been answered must not
        be lost, and the search must go on to the same results on any number of ranks."""
        binary = self.compile(kind, SLOTS)
        folder = self.folder / f"{kind}-lost"
        settings = {"label_smoothing": 0.1, "lr": 0.01, "weight_decay": 0, "seed": 7}
        with tempfile.TemporaryDirectory() as short:  # The path of a socket must be short.
            run_of_ranks = Ranks(ranks, binary, "train", "--data", self.folder, "--checkpoint",
                                 folder, "--no-progress", "--control", f"{short}/s")
            followed = []
            with Search(f"{short}/s") as client:
                client.hold()
                for seed in range(1, 4):
                    followed += client.add([{**settings, "seed": seed}])
                client.pause(followed[:1])
                os.kill(find_rank(binary, ranks - 1), signal.SIGKILL)
                try:
                    while True:
                        followed += client.add([settings])
                except SearchError:
                    pass
            run_of_ranks.finish(*range(1, 256))
        lines = Found(folder).list("command")
        expect_equal(sum(line["command"] == "add" for line in lines) >= len(followed), True,
                     "whether the journal has all requests that were answered")
        alone = self.folder / f"{kind}-lost-alone"
        shutil.copytree(folder, alone)

        def go_on(name, launch):
            # Nobody resumes the paused trial, so that the search isn't over.
            search(binary, name, "--resume", data=self.folder, launch=launch)
            return Found(name)

        found = go_on(folder, lambda *command, **rest: run_ranks(ranks, *command, **rest))
        expect_same_search(go_on(alone, run), found, f"{kind}, after a rank was lost")
        trials = {trial for event in found.list("evaluated") for trial in event["trials"]}
        expect_replays(binary, found, data=self.folder, trials=sorted(trials))


def main():
    check = Check()
    options = check.work.options
    for kind in options.only.split(",") if options.only else KINDS:
        if options.ranks:
            check.check_ranks(kind, int(options.ranks))
            check.check_lost_rank(kind, int(options.ranks))
        else:
            check.check(kind)


if __name__ == "__main__":
    main()
