#!/usr/bin/env python3
"""Tests running averages of weights: after each update they equal the formulas in plain
Python, in programs of any kind, and trainings, evaluations and exports use them. Needs only
Python's standard library."""

import json
import sys

from clips import MATRIX, VECTOR, make_file
from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_log, read_safetensors,
                     run)

sys.path[:0] = [str(REFERENCE)]

from make_data import write_npy  # noqa: E402

STEPS = 6
# The rate by which the gradient is multiplied twice, see clips.py.
RATE = 0.125
KINDS = {
    "ema(decay = 0.9)": lambda k: 1 - 0.9,
    "ema(decay = 0.9, start = 2, every = 2)": lambda k: 1 - 0.9,
    "swa(start = 0)": lambda k: 1 / (k + 1),
    "swa(start = 1, every = 3)": lambda k: 1 / (k + 1),
    "warm_ema(decay = 0.9)": lambda k: max(1 - 0.9, (1 + k) ** (-2 / 3)),
    "warm_ema(decay = 0.9, power = 0.75, start = 2)": lambda k: max(0.1, (1 + k) ** -0.75),
    "warm_ema(decay = 0.99, gamma = 2)": lambda k: max(0.01, (1 + k / 2) ** (-2 / 3)),
}
# The vector after six steps, as PyTorch's AveragedModel and timm's ModelEmaV3 have it.
GOLDEN = {
    "ema(decay = 0.9)": [-0.147686640625, 0.161031474609375, 0.06881763671875],
    "swa(start = 0)": [-0.047119140625, 0.13526407877604166, 0.0026245117187499974],
    "warm_ema(decay = 0.9)": [-0.0033276990567985003, 0.12279883643775595,
                              0.01021747218572939],
    "warm_ema(decay = 0.9, power = 0.75, start = 2)": [
        0.02367816921606494, 0.12381502201663286, 0.015881167370048827]}


def find_targets(step):
    """Returns the numbers to which a step, from 1, draws the parameters. An element whose
    gradient is zero stays."""
    matrix = [((7 * k + 3 * step) % 11 - 5) / 4 for k in range(12)]
    vector = [((5 * k + 2 * step) % 7 - 3) / 4 for k in range(3)] + [VECTOR[3]]
    return matrix + vector


def compute(kind, steps=STEPS):
    """Returns the parameters and their averages after each step."""
    _, arguments = kind.rstrip(")").split("(")
    values = dict(part.split(" = ") for part in arguments.split(", "))
    start, every = int(values.get("start", 0)), int(values.get("every", 1))
    weights, average, history = MATRIX + VECTOR, None, []
    for step in range(1, steps + 1):
        weights = [w - 2 * RATE * (w - t) for w, t in zip(weights, find_targets(step))]
        done = step - 1 - start
        if done <= 0:
            average = weights
        elif done % every == 0:
            share = KINDS[kind](done // every)
            average = [e + share * (p - e) for e, p in zip(average, weights)]
        history.append((weights, average))
    return history


def make_text(kind, clauses="", rates="0.125", steps=STEPS):
    return 'model net = onnx("model.onnx")' + make_blocks(
        'x = npy("x.npy")\n  test x = npy("x.npy")', "mse(net, 0)", f"sgd(lr = {rates})",
        steps, batch=1, model="net(x)", clauses=f"  average {kind}\n{clauses}").replace(
            "batch = 1", "batch = 1, shuffle = false")


def read_tensors(folder, copy=0):
    return {name: list(values) for name, (_, _, values) in
            read_safetensors(copy_file(folder, copy)).items()}


def expect_averages(folder, expected, what, tolerance=1e-13):
    tensors = read_tensors(folder)
    mine = tensors["average/block.0.matrix"] + tensors["average/head.vector"]
    worst = max(abs(a - b) for a, b in zip(mine, expected, strict=True))
    if not worst < tolerance:
        fail(f"{what}: differs by {worst}")
    print(f"{what}: within {worst:.1e}")


def check_kinds(work):
    for number, kind in enumerate(KINDS):
        binary = work.compile(f"kind-{number}", make_text(kind, "  precision f64"))
        history = compute(kind)
        folder = work.train(binary, "--every", "1", "--keep", "9")
        for step, (_, average) in enumerate(history, 1):
            expect_averages(checkpoint(folder, step), average, f"{kind}, step {step}")
        vector = read_tensors(checkpoint(folder, STEPS))["average/head.vector"]
        if kind in GOLDEN and max(abs(a - b) for a, b in zip(vector, GOLDEN[kind])) > 1e-13:
            fail(f"{kind}: {vector}, expected {GOLDEN[kind]}")


def read_results(log):
    """Returns what the epochs' evaluations have found, by names."""
    return [{key: value for key, value in event.items() if "eval_" in key}
            for event in read_log(log) if event["event"] == "epoch"]


def check_programs(work):
    """Checks that other kinds of programs, each copy alone and a resumed training give the
    same bytes, though evaluations put averages in the weights' places meanwhile."""
    steps = 2 * STEPS
    kind = "ema(decay = [0.9, 0.5], start = 1)"
    clauses = "  schedule_of average_decay = exponential(0.9)\n"
    rates = "[0.125, 0.25]"
    binary = work.compile("programs", make_text(kind, clauses, rates, steps))
    log = work.folder / "programs.jsonl"
    folder = checkpoint(work.train(binary, "--log", log), steps)
    results = read_results(log)
    if len(results) != 2 or results[0]["eval_loss"] == results[0]["average_eval_loss"]:
        fail(f"evaluations find {results}")
    for name, more, flags in (("unfused", "", ["--no-fuse"]),
                              ("stages", '  pipeline cuts = ["first"]\n', []),
                              ("budget", "  memory device = 64MiB\n", [])):
        other = work.compile(name, make_text(kind, clauses + more, rates, steps), *flags)
        log = work.folder / f"{name}.jsonl"
        expect_same_checkpoint(checkpoint(work.train(other, "--log", log), steps), folder,
                               name, copies=4)
        expect_equal(read_results(log), results, f"{name}: evaluations")
    half = work.compile("half", make_text(kind, clauses, rates, steps))
    work.train(half, "--steps", "4")
    again = work.train(half, "--steps", str(steps), "--resume")
    expect_same_checkpoint(checkpoint(again, steps), folder, "resumed", copies=4)
    for copy, (rate, decay) in enumerate(((0.125, 0.9), (0.125, 0.5), (0.25, 0.9),
                                          (0.25, 0.5))):
        alone = work.compile(f"alone-{copy}", make_text(
            f"ema(decay = {decay}, start = 1)", clauses, str(rate), steps))
        expect_equal(read_tensors(checkpoint(work.train(alone), steps)),
                     read_tensors(folder, copy), f"copy {copy} alone")
    # A step that is skipped, because its gradients overflow, isn't averaged.
    scaled = work.compile("scaled", make_text(
        "swa(start = 0)", "  loss_scale 65536\n  precision f32, gradients = f16\n"))
    folder = checkpoint(work.train(scaled), STEPS)
    skipped = int(read_tensors(folder)["loss_scale/skipped_steps"][0])
    if not 0 < skipped < STEPS - 1:
        fail(f"{skipped} of {STEPS} steps are skipped")
    weights, sums = MATRIX + VECTOR, [0.0] * 16
    for step in range(skipped + 1, STEPS + 1):
        weights = [w - 2 * RATE * (w - t) for w, t in zip(weights, find_targets(step))]
        sums = [total + w for total, w in zip(sums, weights)]
    expect_averages(folder, [total / (STEPS - skipped) for total in sums], "skipped steps",
                    2e-3)
    # An average is an f32 though the parameter is a bf16.
    narrow = work.compile("narrow", make_text("ema(decay = 0.9)",
                                              "  precision f32, parameters = bf16\n"))
    folder = checkpoint(work.train(narrow), STEPS)
    kinds = {name: kind for name, (kind, _, _) in
             read_safetensors(copy_file(folder, 0)).items()}
    expect_equal((kinds["head.vector"], kinds["average/head.vector"]), ("BF16", "F32"),
                 "types")
    run(narrow, "eval", "--data", work.folder, "--checkpoint", folder, "--average")


def find_loss(weights):
    """Returns the mean loss on the test data, which are the targets of all steps."""
    total = 0.0
    for step in range(1, STEPS + 1):
        total += sum((4 * (w - t)) ** 2 for w, t in zip(weights, find_targets(step))) / 16
    return total / STEPS


def check_uses(work):
    kind = "ema(decay = 0.9)"
    binary = work.compile("uses", make_text(kind, "  precision f64"))
    log = work.folder / "uses.jsonl"
    folder = work.train(binary, "--log", log)
    weights, average = compute(kind)[-1]
    event = [event for event in read_log(log) if event["event"] == "epoch"][-1]
    for key, expected in (("eval_loss", find_loss(weights)),
                          ("average_eval_loss", find_loss(average))):
        if abs(event[key][0] - expected) > 1e-12:
            fail(f"{key} is {event[key][0]}, expected {expected}")
    for flags, expected in (([], weights), (["--average"], average)):
        text = run(binary, "eval", "--data", work.folder, "--checkpoint", folder, *flags)
        if f"{find_loss(expected):.5g}" not in text:
            fail(f"eval {flags} prints {text}, expected {find_loss(expected)}")
    # The exported average gives the same outputs as `run --average`.
    run(binary, "export", "--copy", "0", "--average", "-o", work.folder / "out.onnx",
        "--checkpoint", folder)
    run(binary, "run", "--input", f"x={work.folder / 'one.npy'}", "--average", "--output",
        work.folder / "run", "--checkpoint", folder)
    again = work.folder / "again"
    run(work.hftac, work.folder / "out.onnx", "--batch=1", "-o", again)
    run(again, "run", "--input", f"x={work.folder / 'one.npy'}", "--output",
        work.folder / "exported")
    values = []
    for place in ("run", "exported"):
        data = (work.folder / place / "y.npy").read_bytes()
        import array
        numbers = array.array("d" if b"f8" in data[:128] else "f")
        numbers.frombytes(data[128:])
        values.append(numbers)
    worst = max(abs(a - 4 * (w - t)) for numbers in values for a, w, t in
                zip(numbers, average, find_targets(1)))
    if not worst < 1e-5:
        fail(f"outputs of the average differ by {worst}")
    print(f"outputs of the average: within {worst:.1e}")
    if "evaluates the averages of weights" not in run(binary, "info"):
        fail("info doesn't tell of averages")
    plain = work.compile("plain", make_text(kind).replace(f"  average {kind}\n", ""))
    run(plain, "eval", "--average", code=2)
    run(binary, "eval", "--average", code=2)
    table = run(binary, "train", "--data", work.folder)
    for text in ("average's test loss", "test loss"):
        if text not in table:
            fail(f"train prints no {text!r}: {table}")


def main():
    work = Work(__doc__)
    (work.folder / "model.onnx").write_bytes(make_file())
    rows = [-t for step in range(1, STEPS + 1) for t in find_targets(step)]
    write_npy(work.folder / "x.npy", "<f4", rows, (STEPS, 16))
    write_npy(work.folder / "one.npy", "<f4", rows[:16], (1, 16))
    check_kinds(work)
    check_programs(work)
    check_uses(work)


if __name__ == "__main__":
    main()
