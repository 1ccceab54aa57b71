#!/usr/bin/env python3
"""Trains copies with different optimizers in one array: every copy must get the bytes that it
gets alone, its memory must be the sum of what the copies need alone, and programs of other
kinds must give the same bytes: unfused, with other threads, with a memory budget, with stages,
on the emulated GPU, and resumed. --set chooses the copies, --only kinds of programs. With --ranks, replicas and stages also
run on that many ranks, for which Open MPI's mpirun is needed. Needs only Python's standard
library."""

import json
import os
import shutil

from harness import (DATA, MODELS, Work, checkpoint, copy_file, expect_equal, expect_same_file,
                     fail, make_blocks, read_least_budget, run)
from mpirun import run_ranks

STEPS = 6
# The optimizer of each copy. Kinds and copies alternate, and two kinds have two copies.
OPTIMIZERS = [
    "sgd(lr = 0.1, momentum = 0.9)", "adam(lr = 1e-2)", "sgd(lr = 0.1, nesterov = true, "
    "momentum = 0.5)", "adamw(lr = 1e-2, amsgrad = true)", "adam(lr = 3e-2, beta1 = 0.5)",
    "rmsprop(lr = 1e-2, momentum = 0.5, centered = true)", "lion(lr = 1e-3)",
    "adamax(lr = 1e-2)", "radam(lr = 1e-2)", "adadelta(lr = 1)", "adagrad(lr = 1e-2)",
    "sgd(lr = 0.05)", "adan(lr = 1e-2)", "nadam(lr = 1e-2)", "lamb(lr = 1e-2)",
    "adafactor(lr = 1e-2)", "soap(lr = 1e-2, every = 2)",
]
CLAUSES = """  seed 3
  micro_batches 4, groups = 2
  clip_norm 0.5
  schedule cosine(warmup = 4)
  group vectors, lr_scale = 2
  group "hidden.*", weight_decay = 0.1
"""
# Matrices have optimizers of their own, whose rates follow the schedule, too.
MUON = """  group hidden, optimizer = muon(lr = {}, coefficients = quintic)
  group outputs, optimizer = normuon(lr = 0.05)
  average ema(decay = 0.5)
"""
RATES = (0.02, 0.05)
# Optimizers that average weights themselves, one of them for some parameters alone, beside one
# whose updates ranks share. Averages are evaluated.
AVERAGING = ["schedule_free_sgd(lr = 0.5)", "adamw(lr = 1e-2)",
             "schedule_free_adamw(lr = 1e-2, weight_decay = 0.1)",
             "schedule_free_sgd(lr = 0.1, momentum = 0.5, r = 1)", "soap(lr = 1e-2, every = 2)"]
OF_GROUP = CLAUSES + ("  group biases, optimizer = schedule_free_adamw(lr = 0.05)\n"
                      "  validation 0.25\n")
# Optimizers with factors, which are decomposed in different steps.
KRONECKER = ["soap(lr = 1e-2, every = 2)",
             "shampoo(lr = 1e-2, every = 3, eps = 1e-6, graft = adam)",
             "soap(lr = 2e-2, every = 1)", "adamw(lr = 1e-2)",
             "kl_shampoo(lr = 1e-2, every = 2, eps = 1e-4)"]
WARMED = "  seed 3\n  micro_batches 4, groups = 2\n  schedule cosine(warmup = 4)\n"
# The sets of copies: the optimizers and the clauses of the array, and those of each copy.
SETS = {
    "kinds": ([f"[{', '.join(OPTIMIZERS)}]", CLAUSES],
              [[optimizer, CLAUSES] for optimizer in OPTIMIZERS]),
    "muon": (["[adamw(lr = 1e-2), sgd(lr = 0.1)]", CLAUSES + MUON.format(list(RATES))],
             [[optimizer, CLAUSES + MUON.format(rate)]
              for optimizer in ("adamw(lr = 1e-2)", "sgd(lr = 0.1)") for rate in RATES]),
    "averaging": ([f"[{', '.join(AVERAGING)}]", OF_GROUP],
                  [[optimizer, OF_GROUP] for optimizer in AVERAGING]),
    "kronecker": ([f"[{', '.join(KRONECKER)}]", WARMED],
                  [[optimizer, WARMED] for optimizer in KRONECKER]),
}

# Flags of hftac by kind; None: a memory budget.
KINDS = {
    "unfused": ["--no-fuse"],
    "budget": None,
    "stages": ['--pipeline=cuts = ["hidden"], replicas = [1, 1]'],
    "replicas": ["--pipeline=replicas = [2]"],
    "gpu": ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"],
}


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--emulation", "--only", "--ranks", "--set"])
        os.environ["HFTA_EMULATION_DEVICE"] = "sm_80"
        os.environ["LD_LIBRARY_PATH"] = self.work.options.emulation or ""
        array, self.alone = SETS[self.work.options.set or "kinds"]
        self.text = self.make_job(*array)
        self.binary = self.work.compile("all", self.text)
        self.folder = self.train(self.binary, "--threads", 2)

    @staticmethod
    def make_job(optimizer, clauses):
        return MODELS["mlp"] + make_blocks(DATA["mlp"], "cross_entropy(net, label)", optimizer,
                                           STEPS, clauses=clauses)

    def train(self, binary, *flags):
        shutil.rmtree(self.work.folder / f"{binary.name}-checkpoints", ignore_errors=True)
        return self.work.train(binary, *flags)

    def expect_same(self, folder, what, copies=None):
        for copy in range(len(self.alone)) if copies is None else copies:
            expect_same_file(copy_file(checkpoint(folder, STEPS), copy),
                             copy_file(checkpoint(self.folder, STEPS), copy),
                             f"{what}, copy {copy}")
        print(f"{what}: same")

    def check_alone(self):
        """Compares each copy with a job of its own, in bytes and in memory."""
        state = 0
        for copy in range(len(self.alone)):
            state += self.read_state_bytes(self.expect_alone(copy, self.folder))
        mine = self.read_state_bytes(self.binary)
        # States that are one number lie beside each other, and need less to be aligned.
        if mine > state or "schedule_free" not in self.text:
            expect_equal(mine, state, "bytes of state")
        print(f"alone: {len(self.alone)} same, {state} bytes of state")

    def expect_alone(self, copy, folder, *flags):
        """Compares a copy's checkpoint with that of a job of its own, and returns the job's
        program."""
        binary = self.work.compile(f"alone-{copy}", self.make_job(*self.alone[copy]), *flags)
        expect_same_file(copy_file(checkpoint(self.train(binary), STEPS), 0),
                         copy_file(checkpoint(folder, STEPS), copy),
                         f"copy {copy} alone")
        return binary

    @staticmethod
    def read_state_bytes(binary):
        return json.loads(run(binary, "info", "--json"))["memory"]["array"]["optimizer_state"]

    def check_threads(self):
        for threads in (1, 3):
            self.expect_same(self.train(self.binary, "--threads", threads),
                             f"{threads} threads")

    def check_resumed(self):
        """Resumes in the middle of the warm-up."""
        half = STEPS // 3
        folder = self.train(self.binary, "--every", half)
        self.expect_same(folder, "with more checkpoints")
        for step in range(half + 1, STEPS + 1):
            shutil.rmtree(checkpoint(folder, step), ignore_errors=True)
        self.work.train(self.binary, "--resume")
        self.expect_same(folder, "resumed")

    def check_kind(self, kind):
        flags = KINDS[kind]
        if flags is None:
            least = read_least_budget(run(
                self.work.hftac, self.work.write_job("least", self.text),
                "--memory=device = 1KiB", "-o", self.work.folder / "least", code=3))
            flags = [f"--memory=device = {least + least // 8}"]
        folder = self.train(self.work.compile(kind, self.text, *flags))
        # A GPU adds up norms in another order than a processor.
        of_norms = [copy for copy, (optimizer, clauses) in enumerate(self.alone)
                    if kind == "gpu" and (optimizer.startswith(("lamb", "adafactor", "soap",
                                                                "shampoo", "kl_shampoo")) or
                                          "muon" in clauses)]
        for copy in of_norms:
            self.expect_alone(copy, folder, *flags)
        self.expect_same(folder, kind,
                         [c for c in range(len(self.alone)) if c not in of_norms])
        ranks = self.work.options.ranks
        if ranks and kind in ("replicas", "stages"):
            folder = self.work.folder / f"{kind}-ranks"
            run_ranks(int(ranks), self.work.folder / kind, "train", "--data", self.work.folder, "--checkpoint",
                      folder, "--no-progress")
            self.expect_same(folder, f"{kind}, {ranks} ranks")

    def check(self):
        only = self.work.options.only
        chosen = only.split(",") if only else ["alone", "threads", "resumed", *KINDS]
        for kind in chosen:
            if kind in KINDS:
                self.check_kind(kind)
            else:
                getattr(self, f"check_{kind}")()


if __name__ == "__main__":
    Check().check()
