#!/usr/bin/env python3
"""Runs the commands of examples/ranks/README.md on a few samples, and its library on ranks
without a common folder, one of which ends its training earlier. Needs Open MPI's mpirun,
and only Python's standard library."""

import argparse
import gzip
import pathlib
import re
import struct
import tempfile

from harness import expect_equal, fail, run
from mpirun import LIMIT, get_environment, run_ranks

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/ranks"
DATA = "/usr/share/datasets/fashion-mnist"
# The number of steps per epoch with the data of this test.
STEPS = 3
BATCH = 256
# Waits and numbers of epochs in the README, and what replaces them here.
WAITS = [("sleep 10", "until grep -q '\"step\"' stopped.jsonl; do sleep 0.1; done"),
         ("--epochs 50", "--epochs 1000000")]


def write_data(folder):
    """Writes files in the form of Fashion-MNIST with a few samples."""
    folder.mkdir(parents=True)
    for prefix, samples in (("train", STEPS * BATCH), ("t10k", BATCH + 44)):
        labels = bytes(i * i % 10 for i in range(samples))
        images = b"".join(bytes((label * p + p * p // 7) % 256 for p in range(784))
                          for label in labels)
        for name, shape, content in (("images-idx3", (samples, 28, 28), images),
                                     ("labels-idx1", (samples,), labels)):
            head = struct.pack(f">4B{len(shape)}I", 0, 0, 8, len(shape), *shape)
            (folder / f"{prefix}-{name}-ubyte.gz").write_bytes(
                gzip.compress(head + content, 1))


def run_block(text, folder):
    """Runs a block of shell commands of a README and returns its output."""
    with tempfile.TemporaryDirectory(prefix="ranks-") as temporary:
        return run("timeout", str(LIMIT), "bash", "-ec", text, cwd=folder,
                   env=get_environment(temporary))


def run_readme(name, hftac, folder, *changes):
    """Runs the shell blocks of the example's README in `folder`, with made-up data, and
    returns the outputs. `changes` are pairs of a text and its replacement."""
    data = folder / "data"
    write_data(data)
    text = (ROOT / "examples" / name / "README.md").read_text()
    outputs = []
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        # Another test builds the example's C program.
        if "main.c" in block or "cmake" in block:
            continue
        for old, new in [("build/bin/hftac", hftac),
                         (f"examples/{name}", str(ROOT / "examples" / name)),
                         (DATA, str(data)), *changes]:
            block = block.replace(old, new)
        outputs.append(run_block(block, folder))
    return outputs


def check_readme(hftac, folder):
    outputs = run_readme("ranks", hftac, folder, *WAITS)
    expect_equal(len(outputs), 5, "blocks of commands")
    names = {name: sorted(path.name for path in (folder / name).iterdir())
             for name in ("ranks", "alone")}
    expect_equal(names, {"ranks": [f"step-{STEPS:08d}", f"step-{2 * STEPS:08d}"],
                         "alone": [f"step-{2 * STEPS:08d}"]}, "checkpoints")
    # A command that doesn't train, such as export, runs on each rank separately.
    run_ranks(2, "sh", "-c", "exec ./sweep export --copy 1 --checkpoint alone "
              "-o $OMPI_COMM_WORLD_RANK.onnx", place=folder)
    expect_equal((folder / "0.onnx").read_bytes(), (folder / "1.onnx").read_bytes(),
                 "exported models")
    expect_equal((folder / "trace.json").read_text().count('"process_name"'), 4,
                 "processes in the trace")
    if "; saved " not in outputs[4] or "exit code 138" not in outputs[4]:
        fail(f"SIGUSR1: {outputs[4]:.3000}")
    if not list((folder / "stopped").iterdir()):
        fail("SIGUSR1 left no checkpoint")


def check_library(hftac, cc, folder):
    """Tests that ranks that are given different folders for checkpoints use only the first
    rank's, and that a rank may end its training while the others go on."""
    folder = folder / "library"
    folder.mkdir()
    run(hftac, EXAMPLE / "curve.hfta", "--emit=lib", "-o", "libcurve.a", cwd=folder)
    run(*cc.split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.",
        ROOT / "test/Inputs/RanksLibrary.c", "libcurve.a", "-lm", "-lpthread", "-ldl",
        "-o", "library", cwd=folder)
    for ranks in (1, 4):
        name = f"checkpoints-{ranks}"
        run_ranks(ranks, "sh", "-c", f"exec ./library {name}-$OMPI_COMM_WORLD_RANK",
                  place=folder)
        expect_equal([path.name for path in folder.glob(f"{name}-*")], [f"{name}-0"],
                     "folders of checkpoints")
    run_ranks(3, "./library", place=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True)
    check_readme(options.hftac, options.work)
    check_library(options.hftac, options.cc, options.work)


if __name__ == "__main__":
    main()
