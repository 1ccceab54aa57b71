#!/usr/bin/env python3
"""Compares steps that recompute activations that don't fit into memory with steps that
keep them all: this is the price of less memory for activations, if nothing can be
spilled.

    bench/recompute.py [--hftac build/bin/hftac] [--job FILE.hfta] [--parts 2,3]
                       [--threads 1] [--rounds 3] [--steps 10] [--plan-only]

The job is 48 convolutions, one after another, or that of a file, whose clause 'memory' is
replaced. Activations are the bytes that a step keeps from forward to backward if
everything fits. For each part N, the budget is the memory of that step, reduced so far
that an N-th of the activations' bytes is left; if no plan fits into that, the budget is
the least into which one does. Prints the bytes that forwards then keep, and the time of
the step relative to the step that keeps everything, as planned and as measured: ratios of
the best of interleaved runs. Needs only Python's standard library."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEBIBYTE = 2**20
EVERY_BYTE = 2**40
CONVOLUTIONS, CHANNELS = 48, 32


def write_chain(folder):
    layers = [f"  a1 = relu(conv(image, {CHANNELS}, 3, padding = 1))"]
    layers += [f"  a{layer} = relu(conv(a{layer - 1}, {CHANNELS}, 3, padding = 1))"
               for layer in range(2, CONVOLUTIONS + 1)]
    job = folder / "convolutions.hfta"
    job.write_text("\n".join([
        "model net(image: f32[batch, 3, 16, 16]) {", *layers,
        f"  return output = linear(flatten(a{CONVOLUTIONS}), 10)", "}",
        "data made {", "  image: f32[3,16,16], label: u8",
        '  train image = raw("image"), label = raw("label")', "}",
        "train convolutions {", "  model     net(image)",
        "  data      made, batch = 32", "  loss      cross_entropy(net, label)",
        "  optimizer sgd(lr = [1e-4])", "  steps     10", "}", ""]))
    return job


def compile_job(options, job, budget, *flags):
    """Runs hftac within a budget in bytes and returns the completed process. Its exit code
    is 3 if no plan fits into the budget; exits if hftac fails otherwise."""
    result = subprocess.run(
        [options.hftac, job, f"--memory=device = {budget}, spill = none, "
         f"threads = {options.threads}", *flags],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode not in (0, 3):
        sys.exit(result.stderr)
    return result


def plan(options, job, budget):
    """Returns, of the plan for a budget in bytes, the program's peak memory, the bytes that
    forwards keep, and the seconds of a step. If no plan fits into the budget, plans for the
    least budget into which one does."""
    result = compile_job(options, job, budget, "--plan")
    if result.returncode:
        least = re.search(r"expected at least (\d+)", result.stderr)
        if not least:
            sys.exit(result.stderr)
        result = compile_job(options, job, int(least[1]), "--plan")
    text = result.stdout
    rows = re.findall(r"^  \d+ +[a-z]+ +\d+ +\d+ +(\d+) +\d+ +(\d+)$", text, re.MULTILINE)
    peak = int(re.search(r"^  peak +(\d+)", text, re.MULTILINE)[1])
    seconds = float(re.search(r"^  predicted +(\S+)", text, re.MULTILINE)[1])
    return peak, sum(int(kept) for kept, _ in rows), seconds


def bench(options, binary):
    text = subprocess.run(
        [binary, "bench", "--json", f"--steps={options.steps}",
         f"--threads={options.threads}"], check=True, stdout=subprocess.PIPE).stdout
    measured = json.loads(text)
    return measured["seconds"] / measured["steps"]


def measure(options, folder, job, budgets):
    """Returns the seconds of a step within each budget, the best of all rounds."""
    binaries = []
    for number, budget in enumerate(budgets):
        binaries.append(folder / f"within-{number}")
        if compile_job(options, job, budget, "-o", binaries[-1]).returncode:
            sys.exit(f"{job}: no program for {budget} bytes, but a plan")
    runs = [[bench(options, binary) for binary in binaries]
            for _ in range(options.rounds)]
    return [min(run[number] for run in runs) for number in range(len(budgets))]


def report(options, folder, job):
    peak, activations, seconds = plan(options, job, EVERY_BYTE)
    plans = [(peak, activations, seconds)]
    for part in options.parts:
        plans.append(plan(options, job, peak - int(activations * (1 - 1 / part))))
    measured = None
    if not options.plan_only:
        measured = measure(options, folder, job, [bytes for bytes, _, _ in plans])
    print(f"{job.stem}: {peak / MEBIBYTE:.1f} MiB, of these "
          f"{activations / MEBIBYTE:.1f} of activations")
    for number, (needed, kept, predicted) in enumerate(plans[1:], start=1):
        left = activations - (peak - needed)
        line = (f"  {needed / MEBIBYTE:.1f} MiB, activations / {activations / left:.2f} "
                f"({kept / MEBIBYTE:.1f} MiB kept): planned {predicted / seconds:.3f} x")
        if measured:
            line += f", measured {measured[number] / measured[0]:.3f} x"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--job", type=pathlib.Path)
    parser.add_argument("--parts", default="2,3")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--plan-only", action="store_true")
    options = parser.parse_args()
    options.parts = [float(part) for part in options.parts.split(",")]
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = pathlib.Path(name).resolve()
        report(options, folder, options.job or write_chain(folder))


if __name__ == "__main__":
    main()
