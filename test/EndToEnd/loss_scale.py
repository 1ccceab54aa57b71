#!/usr/bin/env python3
"""Tests loss scaling. The changes of a scale, by overflows and by steps without overflow,
are compared with a computation in Python. A copy must get the same alone, without fusion,
and when resumed; scales that are powers of two must change no bit if nothing is rounded to
f16; and a program for a GPU must do the same. Needs only Python's standard library."""

import math
import os
import struct

from harness import (COPIES, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, expect_same_file, fail, make_blocks, make_job, read_least_budget,
                     read_log, read_safetensors, run)

STEPS = 14
SAMPLES = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-2.0, 1.0, 0.5], [0.1, 0.7, -1.2]]
TARGETS = [1.0, -0.5, 3.25, 2.0]
RATES, SCALES, INTERVAL = [0.05, 0.1, 0.02], [65536, 1, 1048576], 3
MODEL = """
model net(x: f32[batch, 3]) {
  return y = linear(x, 1)
}
"""
CLAUSES = f"""  seed 3
  precision f16
  loss_scale {SCALES}, growth_interval = {INTERVAL}
  zip(lr, loss_scale)
"""
STATES = ["loss_scale/factor", "loss_scale/good_steps", "loss_scale/skipped_steps"]


def to_half(value):
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def find_gradients(weight, bias, scale):
    """Returns the gradients of the loss times the scale. The loss is the mean of squared
    differences; operands of products are rounded to f16."""
    gradient, shift = [0.0] * 3, 0.0
    for sample, target in zip(SAMPLES, TARGETS):
        inputs = [to_half(x) for x in sample]
        error = sum(to_half(w) * x for w, x in zip(weight, inputs)) + bias - target
        slope = scale * 2 * error / len(SAMPLES)
        shift += slope
        for i, x in enumerate(inputs):
            gradient[i] += to_half(slope) * x
    return [*gradient, shift]


def simulate(numbers, rate, scale, limit=math.inf):
    """Returns weights and bias after all steps of Adam, and the state of the loss scale."""
    good = skipped = taken = 0
    first, second = [0.0] * 4, [0.0] * 4
    for _ in range(STEPS):
        slopes = find_gradients(numbers[:3], numbers[3], scale)
        if not all(map(math.isfinite, slopes)):
            scale, good, skipped = scale / 2, 0, skipped + 1
            continue
        taken += 1
        slopes = [slope / scale for slope in slopes]
        clip = min(1.0, limit / (math.hypot(*slopes) + 1e-6))
        for i, slope in enumerate(slopes):
            first[i] += 0.1 * (slope * clip - first[i])
            second[i] = 0.999 * second[i] + 0.001 * (slope * clip) ** 2
            size = math.sqrt(second[i] / (1 - 0.999 ** taken)) + 1e-8
            numbers[i] -= rate * first[i] / (1 - 0.9 ** taken) / size
        good += 1
        if good == INTERVAL:
            scale, good = scale * 2, 0
    return numbers, [scale, good, skipped]


def read(folder, step, copy):
    tensors = read_safetensors(copy_file(checkpoint(folder, step), copy))
    return {name: list(numbers) for name, (_, _, numbers) in tensors.items()}


def write_data(folder):
    for name, rows in (("x", SAMPLES), ("t", [[target] for target in TARGETS])):
        numbers = [number for row in rows for number in row]
        (folder / f"{name}.raw").write_bytes(struct.pack(f"<{len(numbers)}f", *numbers))


def make_line(rates, clauses):
    return MODEL + make_blocks(
        'x: f32[3] = raw("x.raw"), t: f32[1] = raw("t.raw")', "mse(net, t)",
        f"adam(lr = {rates})", STEPS, batch=4, model="net(x)", clauses=clauses)


def expect_simulated(folder, initial, what, limit=math.inf):
    for copy, (rate, scale) in enumerate(zip(RATES, SCALES)):
        numbers, states = simulate(list(initial[copy]), rate, scale, limit)
        mine = read(folder, STEPS, copy)
        expect_equal([mine[name][0] for name in STATES], states, f"{what}, copy {copy}")
        for got, expected in zip(mine["y.weight"] + mine["y.bias"], numbers):
            if abs(got - expected) > 2e-3 * max(1.0, abs(expected)):
                fail(f"{what}, copy {copy}: got {got!r}, expected {expected!r}")


def read_initial(binary, folder):
    """Returns the initial values of each copy. The program has learning rates of 0, so that
    a step doesn't change them."""
    run(binary, "train", "--data", folder, "--checkpoint", folder / "initial",
        "--steps", "1", "--no-progress")
    tensors = [read(folder / "initial", 1, copy) for copy in range(COPIES)]
    return [own["y.weight"] + own["y.bias"] for own in tensors]


def check_line(work):
    """Compares trainings with the computation in Python, without and with clipping. Returns
    the program, its checkpoint folder, and each copy's initial values."""
    binary = work.compile("line", make_line(RATES, CLAUSES))
    still = work.compile("still", make_line([0, 0, 0], CLAUSES))
    initial = read_initial(still, work.folder)
    log = work.folder / "line.jsonl"
    folder = work.train(binary, "--log", log, "--log-every", "1")
    expect_simulated(folder, initial, "line")
    # A line of the log has the scale with which its step was computed.
    lines = [line for line in read_log(log) if line["event"] == "step"]
    expect_equal(lines[0]["loss_scale"], SCALES, "the first step's scales")
    expect_equal(lines[0]["skipped_steps"], [1, 0, 1], "steps skipped at first")
    for copy in range(COPIES):
        for now, after in zip(lines, lines[1:]):
            skipped = after["skipped_steps"][copy] - now["skipped_steps"][copy]
            growth = after["loss_scale"][copy] / now["loss_scale"][copy]
            expect_equal(growth in (1, 0.5, 2) and skipped in (0, 1), True, now)
        expect_equal(lines[-1]["skipped_steps"][copy],
                     read(folder, STEPS, copy)[STATES[2]][0], "steps skipped at last")
    clipped = work.compile("clipped", make_line(RATES, CLAUSES + "  clip_norm 0.5"))
    expect_simulated(work.train(clipped), initial, "clipped", limit=0.5)
    print("overflows halve a scale and skip the step")
    return binary, folder, initial


def train_resumed(work, binary):
    """Trains half of the steps, resumes with the rest, and returns the checkpoint
    folder."""
    folder = work.folder / f"{binary.name}-resumed"
    for steps, flags in ((STEPS // 2, []), (STEPS, ["--resume"])):
        run(binary, "train", "--data", work.folder, "--checkpoint", folder,
            "--no-progress", "--steps", steps, *flags)
    return folder


def check_line_otherwise(work, binary, folder):
    """Checks that copies get the same bytes without fusion, alone, and when resumed in the
    middle of overflows."""
    expected = checkpoint(folder, STEPS)
    apart = work.train(work.compile("apart", make_line(RATES, CLAUSES), "--no-fuse"))
    expect_same_checkpoint(checkpoint(apart, STEPS), expected, "copies compiled alone")
    expect_same_checkpoint(checkpoint(train_resumed(work, binary), STEPS), expected,
                           "resumed")
    for copy, (rate, scale) in enumerate(zip(RATES, SCALES)):
        clauses = CLAUSES.replace(str(SCALES), str(scale)).replace("  zip(lr, loss_scale)",
                                                                    "")
        alone = work.train(work.compile(f"alone-{copy}", make_line(rate, clauses)))
        expect_same_file(copy_file(checkpoint(alone, STEPS), 0), copy_file(expected, copy),
                         f"copy {copy} alone")
    print("copies have the scales that they have alone")


def check_powers_of_two(work):
    """Checks that scales that are powers of two change only the scale's own state if
    nothing is rounded to f16, also within a memory budget."""
    clauses = "  micro_batches 2\n  clip_norm 0.5\n"
    plain = work.train(work.compile("plain", make_job("mlp", STEPS, clauses)))
    scaled = make_job("mlp", STEPS, clauses + "  loss_scale [1024, 0.25, 65536]\n"
                                              "  zip(lr, loss_scale)\n")
    folder = work.train(work.compile("scaled", scaled))
    for copy in range(COPIES):
        mine, theirs = read(folder, STEPS, copy), read(plain, STEPS, copy)
        expect_equal({name: mine[name] for name in theirs}, theirs, f"scaled copy {copy}")
        expect_equal(sorted(set(mine) - set(theirs)), STATES, "more tensors")
    path = work.write_job("least", scaled)
    least = read_least_budget(run(work.hftac, path, "--memory=device = 1", "-o",
                                  work.folder / "least", code=3))
    budget = work.compile("budget", scaled, f"--memory=device = {least}")
    expect_same_checkpoint(checkpoint(work.train(budget), STEPS),
                           checkpoint(folder, STEPS), "within a budget")
    print("powers of two change no bit")


def check_narrow_state(work):
    """Checks that a skipped step keeps state or parameters of a narrow type on a GPU. Of
    two steps, the copy with the largest scale skips both, and the one with scale 1 none."""
    for number, stored in enumerate(("state = bf16", "parameters = f16")):
        clauses = CLAUSES.replace("precision f16", f"precision f16, {stored}")
        binary = work.compile("narrow", make_line(RATES, clauses), "--target=cuda",
                              "--gpu-code=emulated", "--chip=sm_80")
        folder = work.folder / f"narrow-{number}"
        run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--every", "1",
            "--steps", "2", "--no-progress",
            env={**os.environ, "LD_LIBRARY_PATH": work.options.emulation})
        for copy, skipped in ((1, 0), (2, 2)):
            first, second = (read(folder, step, copy) for step in (1, 2))
            expect_equal(second[STATES[2]][0], skipped, f"{stored}: steps skipped")
            expect_equal(all(first[name] == second[name]
                             for name in first.keys() - set(STATES)), skipped == 2,
                         f"{stored}: whether copy {copy} is left as it was")
    print("narrow state is left as it was")


def check_gpu(work, initial):
    emulated = {**os.environ, "LD_LIBRARY_PATH": work.options.emulation}
    folders = []
    for flags in ([], ["--no-fuse"]):
        name = "gpu" + "".join(flags)
        binary = work.compile(name, make_line(RATES, CLAUSES), "--target=cuda",
                              "--gpu-code=emulated", "--chip=sm_80", *flags)
        folders.append(work.folder / f"{name}-checkpoints")
        run(binary, "train", "--data", work.folder, "--checkpoint", folders[-1],
            "--no-progress", env=emulated)
        expect_simulated(folders[-1], initial, name)
    expect_same_checkpoint(*(checkpoint(folder, STEPS) for folder in folders),
                           "on a GPU, copies compiled alone")
    print("a GPU's scales are the same")


def main():
    work = Work(__doc__, "mlp", more=["--emulation"])
    write_data(work.folder)
    binary, folder, initial = check_line(work)
    check_line_otherwise(work, binary, folder)
    check_powers_of_two(work)
    check_gpu(work, initial)
    check_narrow_state(work)


main()
