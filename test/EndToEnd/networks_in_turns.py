#!/usr/bin/env python3
"""Tests jobs whose networks take turns: a generator and a discriminator. Weights, running
statistics and losses are compared with a simulation in Python, for turns one after the other
and together, for a turn that comes twice in a step, and for micro-batches. A copy is trained
to the bytes that it has alone, without fusion, with any number of threads, resumed, and on a
GPU. Needs only Python's standard library."""

import math
import os

from harness import (Work, checkpoint, copy_file, expect_equal, expect_same_checkpoint,
                     expect_same_file, fail, read_log, read_safetensors, run)
from objectives import expect_near
from turns_simulation import BATCH, IMAGES, NOISE, RATES, STEPS, Networks, write_networks
from make_data import write_npy  # found by harness

GPU = ["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"]


def make_formula_job(times, weights, clauses):
    return f"""
model g = onnx("g.onnx")
model d = onnx("d.onnx")
data made {{
  train image = npy("image.npy"), z = npy("z.npy")
}}
train gan {{
  data made, batch = {BATCH}, shuffle = false
  steps {STEPS}
  precision f64
  {clauses}
  turn d, times = {times} {{
    loss binary_cross_entropy(d(image), 0.875)
      + {weights} * binary_cross_entropy(d(stop(g(z))), 0)
    optimizer adam(lr = {RATES}, beta1 = 0.5, beta2 = 0.75)
  }}
  turn g {{
    loss binary_cross_entropy(d(g(z)), 1)
    optimizer sgd(lr = 0.05, momentum = 0.5)
  }}
}}
"""


def expect_simulated(name, networks, events, folder, copy, times, parts, together):
    """Compares the losses of each step, and what the last one leaves, with a simulation."""
    size = times * BATCH
    for number, event in enumerate(events):
        rows = slice(number * size, (number + 1) * size)
        losses = networks.step(IMAGES[rows], NOISE[rows], times, parts, together)
        expect_near([float(numbers[copy]) for key, numbers in event.items()
                     if key.startswith("loss_")], losses,
                    f"{name}, losses of copy {copy} in step {number + 1}")
        weights = [1, networks.weight] * times + [1]
        expect_near([float(event["loss"][copy])],
                    [sum(w * x for w, x in zip(weights, losses) if w)], f"{name}, sum")
    trained = read_safetensors(copy_file(folder, copy))
    for key, expected in networks.get_tensors().items():
        expect_near(trained[key][2], expected, f"{name}, {key} of copy {copy}")


def check_formula(work, name, times=1, weights=(1,), parts=1, clauses="", most=math.inf):
    binary = work.compile(name, make_formula_job(times, list(weights), clauses))
    log = work.folder / f"{name}.jsonl"
    folder = work.train(binary, "--log", log, "--log-every", 1)
    events = [event for event in read_log(log) if event["event"] == "step"]
    for copy, (rate, weight) in enumerate((r, w) for w in weights for r in RATES):
        expect_simulated(name, Networks(rate, weight, most), events, checkpoint(folder, STEPS),
                         copy, times, parts, "together" in clauses)
    print(f"as simulated: {name}")


def make_drawn_job(seeds, rates):
    return f"""
model g(z: f32[batch, 3]) {{
  hidden = relu(batch_norm(linear(z, 8)))
  parts = reshape(dropout(hidden, 0.25), [batch, 4, 2])
  spread = conv_transpose(parts, 1, 2, stride = 2, padding = 1, output_padding = 1)
  return image = tanh(flatten(spread))
}}
model d(x: f32[batch, 3]) {{
  hidden = leaky_relu(batch_norm(linear(dropout(x, 0.125), 7)), 0.25)
  return logit = linear(hidden, 1), features = hidden
}}
model judge(x: f32[batch, 3]) {{
  return tanh(batch_norm(linear(x, 7)))
}}
data made {{
  train image = npy("image.npy")
}}
train gan {{
  data made, batch = {BATCH}
  draw z = normal(3)
  evaluation_mode "judge.*"
  seed {seeds}
  steps 6
  turn d {{
    loss binary_cross_entropy(d(image).logit, 0.9)
      + binary_cross_entropy(d(stop(g(z))).logit, 0)
    optimizer adam(lr = {rates}, beta1 = 0.5)
  }}
  turn g {{
    loss binary_cross_entropy(d(g(z)).logit, 1)
      + 0.1 * mse(d(g(z)).features, stop(d(image).features))
      + 0.2 * mse(judge(g(z)), judge(image)) + 0.3 * mse(g(z), average(g(z)))
    optimizer rmsprop(lr = 0.01)
  }}
  schedule cosine(warmup = 2)
  average ema(decay = 0.5)
}}
"""


def check_bytes(work):
    """Compares copies of an array with each copy alone, and other ways to train."""
    seeds, rates = [1, 2], [0.01, 0.03]
    binary = work.compile("all", make_drawn_job(seeds, rates))
    log = work.folder / "all.jsonl"
    folder = checkpoint(work.train(binary, "--log", log, "--log-every", 1), 6)
    losses = [event["loss"] for event in read_log(log) if event["event"] == "step"]
    if len(set(losses[-1])) != 4 or not all(map(math.isfinite, sum(losses, []))):
        fail(f"all: losses {losses}")
    for copy, seed, rate in ((1, 1, 0.03), (2, 2, 0.01)):
        alone = work.compile(f"alone{copy}", make_drawn_job(seed, rate))
        expect_same_file(copy_file(checkpoint(work.train(alone), 6), 0),
                         copy_file(folder, copy), f"copy {copy} alone")
    serial = work.compile("serial", make_drawn_job(seeds, rates), "--no-fuse")
    expect_same_checkpoint(checkpoint(work.train(serial), 6), folder, "without fusion", 4)
    resumed = work.folder / "resumed"
    for steps, more in ((1, []), (6, ["--resume", "--threads", "3"])):
        run(binary, "train", "--data", work.folder, "--checkpoint", resumed, "--steps",
            steps, "--no-progress", *more)
    expect_same_checkpoint(checkpoint(resumed, 6), folder, "resumed with 3 threads", 4)
    check_served(work, binary, folder)
    check_gpu(work, seeds, rates)


def check_gpu(work, seeds, rates):
    if not work.options.emulation:
        return
    found = []
    for name, job in (("gpu", make_drawn_job(seeds, rates)),
                      ("gpu-alone", make_drawn_job(2, 0.01))):
        binary = work.compile(name, job, *GPU)
        folder = work.folder / f"{name}.run"
        run(binary, "train", "--data", work.folder, "--checkpoint", folder, "--no-progress",
            env={**os.environ, "LD_LIBRARY_PATH": work.options.emulation})
        found.append(checkpoint(folder, 6))
    expect_same_file(copy_file(found[1], 0), copy_file(found[0], 2), "copy 2 on a GPU")


def check_served(work, binary, folder):
    """Exports the generator, and runs it."""
    path = work.folder / "generator.onnx"
    run(binary, "export", "--checkpoint", folder, "--copy", 1, "-o", path)
    data = path.read_bytes()
    if b"d.hidden" in data or b"g.hidden" not in data:
        fail("the exported file should have the generator's tensors alone")
    noise = work.folder / "noise.npy"
    write_npy(noise, "<f4", [0.5, -1, 2] * BATCH, [BATCH, 3])
    exported = work.folder / "exported"
    run(work.hftac, path, f"--dim=batch={BATCH}", "-o", exported)
    outputs = []
    for program, more in ((binary, ["--checkpoint", folder, "--copy", 1]), (exported, [])):
        to = work.folder / f"{program.name}.out"
        run(program, "run", "--input", f"z={noise}", "--output", to, *more)
        outputs.append((to / "image.npy").read_bytes())
    expect_equal(*outputs, "the exported generator")


def main():
    work = Work(__doc__, more=["--emulation"])
    write_npy(work.folder / "image.npy", "<f4", sum(IMAGES, []), [len(IMAGES), 3])
    write_npy(work.folder / "z.npy", "<f4", sum(NOISE, []), [len(NOISE), 2])
    write_networks(work.folder)
    check_formula(work, "alternating", weights=(1, 0.5, 0))
    check_formula(work, "together", clauses="updates together")
    check_formula(work, "twice", times=2, clauses="clip_norm 0.5", most=0.5)
    check_formula(work, "parts", parts=2, weights=(1, 0.5), clauses="micro_batches 2")
    check_bytes(work)


main()
