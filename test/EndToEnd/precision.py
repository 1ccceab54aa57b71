#!/usr/bin/env python3
"""Tests computation in f32 with parameters, state or gradients of other types. Each mixture
must train to numbers near those of f64, checkpoints and `info` must have the stored types,
a resumed training and one without fusion must give the same bytes, and an exported model
must compute the copy's outputs."""

import json

from harness import (COPIES, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_job, read_npy,
                     read_safetensors, run)

STEPS = 20

# For each name: the precision clause, the types of parameters and of the optimizer's state
# in checkpoints, and the largest accepted difference from f64.
MIXTURES = {
    "stored64": ("f64, compute = f32", "F64", "F64", 1e-3),
    "parameters64": ("f32, parameters = f64", "F64", "F32", 1e-3),
    "state64": ("f32, state = f64", "F32", "F64", 1e-3),
    "gradients64": ("f32, gradients = f64, accumulate = f64", "F32", "F32", 1e-3),
    "parameters-bf16": ("f32, parameters = bf16", "BF16", "F32", 0.1),
    "parameters-f16": ("f32, parameters = f16, accumulate = f64", "F16", "F32", 0.03),
    "all-bf16": ("f32, parameters = bf16, gradients = bf16, state = bf16", "BF16",
                 "BF16", 0.2),
    "f16-in-f64": ("f64, parameters = f16, gradients = f16", "F16", "F64", 0.03),
}


def check_resumed(work, binary, trained):
    """Trains half of the steps, resumes with the rest, and compares the checkpoint."""
    other = work.folder / f"{binary.name}-resumed"
    for steps in (STEPS // 2, STEPS):
        run(binary, "train", "--data", work.folder, "--checkpoint", other,
            "--no-progress", "--steps", steps, *["--resume"] * (steps == STEPS))
    expect_same_checkpoint(checkpoint(other, STEPS), trained,
                           f"{binary.name}, resumed")


def check_alone(work, binary, job, trained):
    """Compares copies that aren't fused, on one thread."""
    alone = work.compile(f"{binary.name}-alone", job, "--no-fuse")
    other = work.train(alone, "--threads", 1)
    expect_same_checkpoint(checkpoint(other, STEPS), trained,
                           f"{binary.name}, alone")


def check_export(work, binary, trained):
    """Checks that an exported model computes the copy's outputs, up to rounding."""
    path, image = work.folder / f"{binary.name}.onnx", work.folder / "mlp-image.npy"
    run(binary, "export", "--copy", 1, "-o", path, "--checkpoint", trained)
    alone = work.folder / f"{binary.name}-exported"
    run(work.hftac, path, "--batch=16", "-o", alone)
    outputs = []
    for program, flags in ((binary, ["--copy", 1, "--checkpoint", trained]),
                           (alone, [])):
        folder = work.folder / f"{program.name}-outputs"
        run(program, "run", "--input", f"image={image}", "--output", folder, *flags)
        wide = binary.name == "f16-in-f64"
        outputs.append(read_npy(folder / "output.npy", "d" if wide else "f"))
    gap = max(abs(a - b) for a, b in zip(*outputs))
    if not gap < 1e-5:
        fail(f"{binary.name}: the exported model is {gap} from the copy")


def main():
    work = Work(__doc__, "mlp")

    def train(name, job):
        binary = work.compile(name, job)
        return binary, checkpoint(work.train(binary), STEPS)

    def make(clause):
        return make_job("mlp", STEPS, f"  precision {clause}\n  micro_batches 2")

    _, exact = train("exact", make("f64"))
    for name, (clause, parameters, state, tolerance) in MIXTURES.items():
        binary, folder = train(name, make(clause))
        check_alone(work, binary, make(clause), folder)
        check_resumed(work, binary, folder)
        check_export(work, binary, folder)
        told = f"hidden.weight  {parameters.lower()} 37x64"
        if told not in run(binary, "info"):
            fail(f"{name}: info doesn't say '{told}'")
        types = json.loads(run(binary, "info", "--json"))["plan"]["types"]
        expect_equal((types["parameters"], types["state"]),
                     (parameters.lower(), state.lower()), f"{name}: types")
        for copy in range(COPIES):
            mine = read_safetensors(copy_file(folder, copy))
            theirs = read_safetensors(copy_file(exact, copy))
            expect_equal(set(mine), set(theirs), f"{name}: tensors")
            for tensor, (kind, _, numbers) in mine.items():
                wanted = state if "/" in tensor else parameters
                expect_equal(kind, wanted, f"{name}: type of {tensor}")
                gap = max(abs(a - b)
                          for a, b in zip(numbers, theirs[tensor][2]))
                if not 0 < gap < tolerance:
                    fail(f"{name}: copy {copy}: {tensor} is {gap} from f64")
        print(f"{name}: parameters {parameters}, state {state}")


if __name__ == "__main__":
    main()
