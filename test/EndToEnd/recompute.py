#!/usr/bin/env python3
"""Tests that recomputing forward values changes no byte. Jobs must train to the same
checkpoints and logs with `recompute all`, and with values that are saved or recomputed at
random, with and without a pipeline. The models are random, or have batch norm; half of the
random ones are preconditioned. With --network, networks of test/models/networks are tested
instead, also within memory budgets without spilling. Needs only Python's standard library.

    recompute.py --hftac HFTAC --hfta-opt HFTA-OPT --work DIR [--count N] [--seed K]
                 [--network NAME,...] [--precision f32,f64]
"""

import argparse
import pathlib
import sys

from harness import (ADAM, COPIES, DATA, REFERENCE, fail, make_blocks, read_least_budget,
                     run)
from network_run import NetworkFolder, networks
from random_pipelines import COPIES as RANDOM_COPIES, STEPS, RandomJob
from trainings import expect_same_training, expect_trained, read_training

NETWORK_STEPS = 4
NORMALIZED_MODEL = """
model net(image: f32[batch, 1, 28, 28]) {
  norm1 = relu(batch_norm(conv(image, 4, 3, padding = 1)))
  pool1 = dropout(max_pool(norm1, 2), 0.1)
  norm2 = relu(batch_norm(conv(pool1, 6, 3, padding = 1)))
  pool2 = max_pool(norm2, 2)
  hidden = gelu(linear(flatten(pool2), 16))
  return output = linear(hidden, 10)
}
"""
# Jobs of the model with batch norm: name to clauses of the train block and flags of hftac.
NORMALIZED = {
    "plain": ("", ()),
    "micro-batches": ("  micro_batches 4\n  clip_norm 0.5", ()),
    "all-forwards": ("  micro_batches 4, all_forwards_first = true", ("--no-fuse",)),
    "groups": ("  micro_batches 4, groups = 2\n  precision f64", ()),
    "wide-sums": ("  precision f32, accumulate = f64", ()),
    "kfac": ("  precondition kfac(factor_every = 2, fisher = sampled)", ()),
}
# The passes from the fused model to tasks. `hfta-test-keep` chooses at random, by a seed,
# which values are saved.
SPLIT = ("--hfta-differentiate", "--hfta-test-keep=seed={}", "--hfta-split-tasks",
         "--hfta-insert-kfac", "--hfta-place-updates", "--hfta-stage-pipeline",
         "--canonicalize", "--cse", "--hfta-mark-phase=phase=train")


class Check:
    def __init__(self, options):
        self.hftac, self.hfta_opt = options.hftac, options.hfta_opt
        self.folder = options.work.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        run(sys.executable, REFERENCE / "make_data.py", self.folder, "mlp", "cnn")

    def compile(self, name, text, *flags):
        job = self.folder / f"{name}.hfta"
        job.write_text(text)
        return self.compile_file(name, job, *flags)

    def compile_file(self, name, source, *flags):
        binary = self.folder / name
        run(self.hftac, source, "-o", binary, *flags)
        return binary

    def compile_at_random(self, name, text, seed, cuts, *flags):
        """Compiles a job whose values are saved or recomputed at random, and returns the
        program. Fails if nothing is recomputed."""
        job = self.folder / f"{name}.hfta"
        fused, split = job.with_suffix(".fused.mlir"), job.with_suffix(".mlir")
        job.write_text(text)
        run(self.hftac, job, "--emit=fused", "-o", fused, *flags)
        plan = "--hfta-plan-pipeline" + (f"=cuts={cuts}" if cuts else "")
        run(self.hfta_opt, fused, plan, *(flag.format(seed) for flag in SPLIT), "-o",
            split)
        if "task/recompute" not in split.read_text():
            fail(f"{split} computes nothing again")
        return self.compile_file(name, split)

    def train(self, binary, steps):
        checkpoints = binary.with_suffix(".checkpoints")
        log = binary.with_suffix(".jsonl")
        run(binary, "train", "--data", self.folder, "--checkpoint", checkpoints,
            "--no-progress", "--overwrite", "--log", log, "--log-every", 1)
        binary.unlink()
        training = read_training(checkpoints, log, steps)
        # The start event has the program's name, which differs.
        training.events[:] = [event for event in training.events
                              if event["event"] != "start"]
        return training

    def check(self, name, text, copies, steps, flags, pipeline=None):
        expected = self.train(self.compile(f"{name}-none", text, *flags), steps)
        expect_trained(expected, steps, copies, name)
        programs = {"all": self.compile(f"{name}-all", text, "--recompute=all", *flags)}
        for seed, cuts in ((0, "all"), (1, "all"), (2, None)):
            programs[f"random {seed}"] = self.compile_at_random(
                f"{name}-random-{seed}", text, seed, cuts, *flags)
        if pipeline:
            programs["random in a pipeline"] = self.compile_at_random(
                f"{name}-pipeline", pipeline, 3, None, *flags)
        for what, binary in programs.items():
            expect_same_training(self.train(binary, steps), expected, copies,
                                 f"{name}, {what}")
        print(f"equal: {name}: {', '.join(programs)}", flush=True)

    def check_random(self, seed):
        job = RandomJob(seed, self.folder)
        self.check(job.name, job.get_text(), RANDOM_COPIES, STEPS, job.flags,
                   job.get_text(job.pipeline))

    def check_normalized(self, name):
        clauses, flags = NORMALIZED[name]
        text = NORMALIZED_MODEL + make_blocks(
            DATA["cnn"], "cross_entropy(net, label)", ADAM, STEPS,
            clauses=f"  seed 3\n{clauses}")
        self.check(name, text, COPIES, STEPS, flags)

    def check_network(self, name, precision):
        """Compares trainings that recompute nothing, everything, and what a memory budget
        requires. The budget is the smallest possible one in f32; otherwise it is halfway
        between that and the budget that needs no recomputation. Random choices would take
        too long."""
        work = NetworkFolder(self.hftac, name, self.folder / name,
                             samples=NETWORK_STEPS * networks.BATCH)
        dropout = 0.25 if networks.NETWORKS[name].has_dropout else None
        settings = {"steps": NETWORK_STEPS, "dropout": dropout}
        least, most = (read_least_budget(work.run_hftac(
            "refused", precision, f"--recompute={recompute}",
            "--memory=device = 1, spill = none", code=3, **settings)[1])
                       for recompute in ("auto", "none"))
        if least >= most:
            fail(f"{name} needs {least} bytes, and {most} with nothing computed again")
        device = least if precision == "f32" else (least + most) // 2
        programs = {"none": (), "all": (),
                    "auto": (f"--memory=device = {device}, spill = none",)}
        trainings = [self.train_network(work, f"{recompute}-{precision}", precision,
                                        settings, f"--recompute={recompute}", *flags)
                     for recompute, flags in programs.items()]
        copies = len(trainings[0].events[0]["loss"])
        expect_trained(trainings[0], NETWORK_STEPS, copies, name)
        for what, training in zip(programs, trainings):
            expect_same_training(training, trainings[0], copies,
                                 f"{name} in {precision}, {what}")
        print(f"equal: {name} in {precision}", flush=True)

    def train_network(self, work, name, precision, settings, *flags):
        binary = work.compile(name, precision, *flags, **settings)
        checkpoints = binary.with_suffix(".checkpoints")
        work.train(binary, "--steps", NETWORK_STEPS, "--checkpoint", checkpoints,
                   "--overwrite")
        training = read_training(checkpoints, binary.with_suffix(".jsonl"),
                                 NETWORK_STEPS)
        training.events.pop(0)
        binary.unlink()
        return training


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--hfta-opt", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--network", default="")
    parser.add_argument("--precision", default="f32,f64")
    options = parser.parse_args()
    check = Check(options)
    if options.network:
        for name in options.network.split(","):
            for precision in options.precision.split(","):
                check.check_network(name, precision)
        return
    for name in NORMALIZED:
        check.check_normalized(name)
    for seed in range(options.seed, options.seed + options.count):
        check.check_random(seed)


if __name__ == "__main__":
    main()
