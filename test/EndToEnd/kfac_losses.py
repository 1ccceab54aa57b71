#!/usr/bin/env python3
"""Trains runs of test/reference/kfac_cases.py, two copies each, in f64, and compares
losses, scales of preconditioned gradients, factors and inverses with those of NumPy and
PyTorch. Needs only Python's standard library.

    kfac_losses.py --hftac HFTAC --work DIR [--golden DIR] [--alone] CASE...

With --alone, each copy is also trained alone, and must give the same checkpoint.
"""

import argparse
import json
import pathlib
import sys

from harness import (REFERENCE, checkpoint, copy_file, expect_equal,
                     expect_same_file, fail, read_log, read_safetensors, run)

sys.path.insert(0, str(REFERENCE))

import kfac_cases  # noqa: E402  (from test/reference)

MODELS = REFERENCE.parent / "models" / "kfac"
RELATIVE = 1e-8
STATE = ("input_", "output_", "factor/")
# State that golden files lack: weights follow from the periods, and bases and eigenvalues
# aren't unique.
UNCOMPARED = ("input_factor_weight/", "output_factor_weight/", "factor_weight/",
              "input_basis/", "output_basis/", "input_eigenvalues/",
              "output_eigenvalues/")


def unpack_basis(basis, values):
    """Returns the lower triangles of Q d Q^T for each block, in row-major order. `basis`
    holds Q [blocks, n, n], `values` holds d [blocks, n]."""
    n = len(basis) // len(values)
    blocks = len(values) // n
    packed = []
    for block in range(blocks):
        rows = [basis[(block * n + i) * n:(block * n + i + 1) * n] for i in range(n)]
        d = values[block * n:(block + 1) * n]
        packed += [sum(rows[i][k] * d[k] * rows[j][k] for k in range(n))
                   for i in range(n) for j in range(i + 1)]
    return packed


def read_state(path, velocity):
    """Returns the tensors of K-FAC's state in a checkpoint, and sgd's velocities if
    `velocity`, as a dictionary from names to lists of numbers. A basis and its eigenvalues
    become one tensor, named spectrum, that doesn't depend on the choice of the basis."""
    tensors = read_safetensors(path)
    wanted = (*STATE, "velocity/") if velocity else STATE
    state = {name: numbers for name, (_, _, numbers) in tensors.items()
             if name.startswith(wanted) and not name.startswith(UNCOMPARED)}
    for name, (_, _, numbers) in tensors.items():
        side, _, parameter = name.partition("_basis/")
        if side in ("input", "output"):
            values = tensors[f"{side}_eigenvalues/{parameter}"][2]
            state[f"{side}_spectrum/{parameter}"] = unpack_basis(numbers, values)
    return state


class Training:
    """A case's job, compiled and trained on construction, with its checkpoints and log."""

    def __init__(self, options, case, work):
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        kfac_cases.write_data(work, case)
        job = work / "job.hfta"
        job.write_text(kfac_cases.make_job(case, MODELS))
        binary = work / "program"
        run(options.hftac, job, "-o", binary, "--data", work,
            *options.flags.split())
        self.folder = work / "checkpoints"
        self.log = work / "log.jsonl"
        self.log.unlink(missing_ok=True)
        run(binary, "train", "--data", work, "--log", self.log, "--log-every", 1,
            "--checkpoint", self.folder, "--overwrite", "--every",
            kfac_cases.EVERY, "--no-progress")

    def get_steps(self):
        return [event for event in read_log(self.log) if event["event"] == "step"]


class Check:
    def __init__(self, options, name):
        self.options, self.name = options, name
        self.case = kfac_cases.CASES[name]
        path = options.golden / f"{self.case.network}.json"
        self.golden = json.loads(path.read_text())[name]
        training = Training(options, self.case, options.work / name)
        self.folder, self.steps = training.folder, training.get_steps()
        expect_equal(len(self.steps), self.case.steps, "steps")

    def check_alone(self):
        for copy in range(self.case.copies):
            alone = Training(self.options, self.case.take(copy),
                             self.options.work / f"{self.name}.{copy}")
            expect_same_file(
                copy_file(checkpoint(self.folder, self.case.steps), copy),
                copy_file(checkpoint(alone.folder, self.case.steps), 0),
                f"{self.name}, copy {copy} alone")

    def compare_rows(self, key):
        worst, where = 0.0, "none"
        for event, wanted in zip(self.steps, self.golden[key]):
            if key not in event:
                fail(f"{self.name}: step {event['step']} has no '{key}'")
            for copy, (got, want) in enumerate(zip(event[key], wanted, strict=True)):
                off = abs(got - want) / abs(want)
                if not off <= worst:
                    worst, where = off, f"step {event['step']}, copy {copy}"
        print(f"{self.name}: {key} within {worst:.2e} ({where})")
        return worst

    def compare_state(self):
        worst, where = 0.0, "none"
        for step, tensors in self.golden["state"].items():
            for copy in range(self.case.copies):
                path = copy_file(checkpoint(self.folder, int(step)), copy)
                state = {name: numbers for name, numbers
                         in read_state(path, self.case.velocity).items()
                         if name in tensors or not name.startswith("velocity/")}
                expect_equal(sorted(state), sorted(tensors),
                             f"{self.name}: names of the state after step {step}")
                for name, wanted in tensors.items():
                    off = self.compare_tensor(state[name], wanted[copy])
                    if not off <= worst:
                        worst, where = off, f"{name}, step {step}, copy {copy}"
        print(f"{self.name}: state within {worst:.2e} ({where})")
        return worst

    @staticmethod
    def compare_tensor(numbers, wanted):
        got = kfac_cases.summarize(numbers)
        return max(abs(a - b) for a, b in zip(got, wanted)) / (wanted[0] or 1.0)

    def check(self):
        if self.options.alone:
            self.check_alone()
        worst = [self.compare_rows("loss"), self.compare_rows("kl_scale"),
                 self.compare_state()]
        return all(off <= RELATIVE for off in worst)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--golden", type=pathlib.Path,
                        default=REFERENCE / "golden" / "kfac")
    parser.add_argument("--flags", default="", help="more options of hftac")
    parser.add_argument("--alone", action="store_true",
                        help="train each copy alone, too")
    parser.add_argument("cases", nargs="+", choices=kfac_cases.CASES)
    options = parser.parse_args()
    wrong = [name for name in options.cases if not Check(options, name).check()]
    if wrong:
        fail(f"beyond {RELATIVE}: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
