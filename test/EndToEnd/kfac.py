#!/usr/bin/env python3
"""Tests a sweep preconditioned by K-FAC, whose copies differ in learning rate, seed,
damping, decay, both periods and the clip. Each copy must get the same bytes as alone,
including factors and inverses: in turns of any size, with micro-batches, without fusion,
beside a copy that diverges, if other copies stop, and when resumed at any step of a period.
All methods are tested, and sampled targets. Needs only Python's standard library."""

import shutil

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_checkpoint,
                     expect_same_file, make_job, read_safetensors, run)

STEPS = 11
# The settings of each copy. The last one diverges, because of its learning rate.
COPIES = [
    {"damping": 1e-2, "decay": 0.95, "factor_every": 1, "inverse_every": 3,
     "kl_clip": 1e-2, "lr": 1e-3, "seed": 3},
    {"damping": 3e-3, "decay": 0.5, "factor_every": 2, "inverse_every": 2,
     "kl_clip": 0, "lr": 3e-3, "seed": 4},
    {"damping": 1e-1, "decay": 0, "factor_every": 3, "inverse_every": 7,
     "kl_clip": 1e-4, "lr": 1e30, "seed": 3},
]
OPTIMIZERS = {"cnn": "sgd(lr = {}, momentum = 0.9)", "mlp": "adam(lr = {})"}
METHODS = {"cholesky": "method = cholesky", "eigen": "method = eigen",
           "sampled": "fisher = sampled",
           "cut": "method = cholesky, block = 9"}
CASES = {
    "turns": ("", []),
    "parts": ("  micro_batches 4", []),
    "ahead": ("  micro_batches 2, all_forwards_first = true\n  clip_norm 0.5", []),
    "groups": ("  micro_batches 4, groups = 2", []),
    "unfused": ("", ["--no-fuse"]),
    "blocks": ("", ["--cuts=hidden"]),
    # One micro-batch is tested too, as a stage then computes preconditioned gradients
    # directly from the rows of layers.
    "stages": ("", ["--micro-batches=1",
                    '--pipeline=cuts = ["hidden"], order = zero_bubble']),
}


def make(kind, copies, clauses, method):
    def write(name):
        values = [copy[name] for copy in copies]
        return str(values[0] if len(values) == 1 else values)

    options = ", ".join(f"{name} = {write(name)}"
                        for name in ("damping", "decay", "factor_every",
                                     "inverse_every", "kl_clip"))
    paired = "" if len(copies) == 1 else (
        "  zip (lr, damping, decay, factor_every, inverse_every, kl_clip, seed)\n")
    return make_job(kind, STEPS,
                    f"  precondition kfac({options}, {METHODS[method]})\n"
                    f"{paired}{clauses}", OPTIMIZERS[kind].format(write("lr")),
                    write("seed"))


def check_alone(work, kind, method, cases):
    alone = []
    for clauses in sorted({CASES[name][0] for name in cases}):
        for number, copy in enumerate(COPIES):
            name = f"{kind}-{method}-alone-{number}-{len(alone)}"
            binary = work.compile(name, make(kind, [copy], clauses, method))
            alone.append((clauses, number, checkpoint(work.train(binary), STEPS)))
    for name in cases:
        clauses, flags = CASES[name]
        binary = work.compile(f"{kind}-{method}-{name}",
                              make(kind, COPIES, clauses, method), *flags)
        for threads in (1, 2, 3):
            folder = checkpoint(work.train(binary, "--threads", threads,
                                           "--overwrite"), STEPS)
            for of, number, expected in alone:
                if of == clauses:
                    expect_same_file(
                        copy_file(folder, number), copy_file(expected, 0),
                        f"{kind}, {method}: {name} of {threads} threads, copy {number}")


def check_resumed(work, kind, method):
    """Tests that the copies can be resumed after a stop at any step."""
    binary = work.compile(f"{kind}-{method}-resumed", make(kind, COPIES, "", method))
    whole = work.train(binary, "--every", 1, "--overwrite")
    for step in range(1, STEPS):
        folder = work.folder / f"{kind}-{method}-after-{step}"
        shutil.copytree(checkpoint(whole, step), checkpoint(folder, step))
        run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--resume",
            "--no-progress")
        expect_same_checkpoint(checkpoint(folder, STEPS), checkpoint(whole, STEPS),
                               f"{kind}, {method}: resumed after step {step}")


def check_leaving(work, kind):
    """Tests that values that copies share are still updated when one of the copies
    stops."""
    binary = work.compile(f"{kind}-leaving", make(kind, COPIES, "", "cholesky"))
    whole = work.train(binary, "--every", 4, "--overwrite")
    folder = work.folder / f"{kind}-left"
    shutil.copytree(checkpoint(whole, 4), checkpoint(folder, 4))
    run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--resume",
        "--only", "0,2", "--no-progress")
    for copy, step in ((0, STEPS), (1, 4), (2, STEPS)):
        mine, other = (read_safetensors(copy_file(checkpoint(of, at), copy))
                       for of, at in ((folder, STEPS), (whole, step)))
        expect_equal({name: list(map(repr, numbers))
                      for name, (_, _, numbers) in mine.items()},
                     {name: list(map(repr, numbers))
                      for name, (_, _, numbers) in other.items()},
                     f"{kind}: copy {copy} where copy 1 leaves")


def main():
    work = Work(__doc__, "cnn", "mlp")
    for kind, method, cases in (("mlp", "cholesky", CASES), ("cnn", "cholesky", CASES),
                                ("mlp", "eigen", ("turns", "unfused")),
                                ("mlp", "sampled", CASES),
                                ("cnn", "sampled", ("turns", "parts")),
                                ("cnn", "cut", ("turns", "groups", "unfused"))):
        check_alone(work, kind, method, cases)
        check_resumed(work, kind, method)
    check_leaving(work, "mlp")


if __name__ == "__main__":
    main()
