#!/usr/bin/env python3
"""Tests that the output of every phase in MLIR can be read by hfta-opt and compiled further
by hftac, and that the program logs the same numbers as the directly compiled one."""

import json

from harness import Work, expect_equal, make_job, run

PHASES = ["import", "fused", "train", "planned", "linalg", "llvm"]


def main():
    work = Work(__doc__, "mlp")
    job = work.write_job("sweep", make_job("mlp", 5).replace(
        "relu(", "dropout(relu(batch_norm(").replace("37))", "37))), 0.25)"))

    def train(name, source):
        binary, log = work.folder / name, work.folder / f"{name}.jsonl"
        run(work.hftac, source, "-o", binary)
        run(binary, "train", "--data", work.folder, "--log", log,
            "--log-every", "1", "--no-progress")
        return [json.loads(line) for line in log.read_text().splitlines()
                if '"event":"step"' in line]

    direct = train("direct", job)
    expect_equal(len(direct), 5, "logged steps")
    for phase in PHASES:
        made = work.folder / f"{phase}.mlir"
        again = work.folder / f"{phase}-again.mlir"
        run(work.hftac, job, f"--emit={phase}", "-o", made)
        run(work.hfta_opt, made, "--verify-roundtrip",
            "--mlir-print-debuginfo", "-o", again)
        expect_equal(train(f"from-{phase}", again), direct,
                     f"log from {phase}")
        print(f"equal: from {phase}")


if __name__ == "__main__":
    main()
