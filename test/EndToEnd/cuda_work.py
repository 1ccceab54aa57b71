"""A few small jobs for a GPU, and a class that compiles them and runs them with the
emulated driver. The jobs cover the ways in which kernels, streams and graphs can differ.
Needs only Python's standard library."""

import os
import re
import shutil
import subprocess

import harness
from harness import (COPIES, MODELS, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_safetensors, run)

from make_data import SAMPLES, hash32, write_npy  # from the folder test/reference

STEPS = 5
RATES = ["1e-3", "3e-3", "1e-2"]
# Tolerances for differences from the CPU, relative to the largest number of a tensor. The
# models have no bias in front of a batch norm: its exact gradient is zero, so that rounding
# errors alone would be compared.
NEAR = {"f64": 1e-9, "f32": 1e-4, "tf32": 5e-3, "f16": 5e-3, "bf16": 2e-2}
SMALLEST = 1e-3
MLP = """
model net(image: f32[batch, 1, 8, 8]) {
  hidden = dropout(gelu(linear(flatten(image), 37)), 0.1)
  return output = linear(layer_norm(hidden), 10)
}
"""
CNN = """
model net(image: f32[batch, 1, 28, 28]) {
  first  = relu(batch_norm(conv(image, 4, 3, padding = 1, bias = false)))
  second = conv(max_pool(first, 2), 6, 3, stride = 2, padding = 1)
  return output = linear(flatten(dropout(tanh(second), 0.2)), 10)
}
"""
# A convolution with strides, whose second moments for K-FAC are added up from pieces.
PATCHES = """
model net(image: f32[batch, 1, 28, 28]) {
  first = max_pool(relu(conv(image, 3, 3, stride = 2, padding = 1)), 4)
  return output = linear(flatten(first), 10)
}
"""
# A grouped convolution, whose diagonal blocks of second moments K-FAC computes one by one.
GROUPS = """
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(conv(image, 4, 3, padding = 1))
  second = relu(conv(first, 4, 3, stride = 2, padding = 1, groups = 2))
  return output = linear(flatten(second), 10)
}
"""
# A batch has so many words that the gradient of the embedding's table is computed from
# sorted indices, even for a micro-batch of half the batch.
WORDS, TABLE = 32, 1500
EMBEDDING = f"""
model net(image: i64[batch, {WORDS}]) {{
  hidden = gelu(linear(flatten(embedding(image, {TABLE}, 16)), 12))
  return output = linear(layer_norm(hidden), 10)
}}
"""
# Matrix products in which tiles have 64 or more rows, since they have many rows (tokens in
# TALL, pixels in PIXELS) and few terms per sum. Forward and gradients together cover both
# layouts of each operand.
TALL = """
model net(image: f32[batch, 1, 8, 8]) {
  x = reshape(linear(reshape(image, [batch, 64, 1]), 64), [batch, 256, 16])
  y = gelu(linear(layer_norm(x), 128))
  return output = linear(flatten(mean(linear(y, 32), 1)), 10)
}
"""
PIXELS = """
model net(image: f32[batch, 1, 8, 8]) {
  x = reshape(linear(reshape(image, [batch, 64, 1]), 64), [batch, 16, 16, 16])
  y = relu(batch_norm(conv(x, 128, 1, bias = false)))
  z = relu(batch_norm(conv(y, 64, 1, bias = false)))
  return output = linear(flatten(mean(z, [2, 3])), 10)
}
"""
# The jobs: name to model, optimizer (`{}` stands for the learning rates), and clauses.
JOBS = {
    "mlp": (MLP, "adamw(lr = {}, weight_decay = 0.01)",
            "  schedule cosine(warmup = 2)\n  micro_batches 2\n  clip_norm 0.5"),
    "cnn": (CNN, "sgd(lr = {}, momentum = 0.9)", ""),
    "kfac": (MODELS["mlp"], "sgd(lr = {}, momentum = 0.9)",
             "  precondition kfac(damping = 1e-2)"),
    "patches": (PATCHES, "sgd(lr = {}, momentum = 0.9)",
                "  precondition kfac(damping = 1e-2)"),
    "groups": (GROUPS, "sgd(lr = {}, momentum = 0.9)",
               "  precondition kfac(damping = 1e-2)"),
    "tall": (TALL, "sgd(lr = {}, momentum = 0.9)", ""),
    "pixels": (PIXELS, "sgd(lr = {}, momentum = 0.9)", ""),
    "words": (EMBEDDING, "adam(lr = {})", "  micro_batches 2"),
}
DATA = {**harness.DATA, "patches": harness.DATA["cnn"], "kfac": harness.DATA["mlp"],
        "groups": harness.DATA["mlp"], "tall": harness.DATA["mlp"],
        "pixels": harness.DATA["mlp"],
        "words": 'image = npy("words.npy"), label = npy("mlp-label.npy")'}


def make_job(name, rates):
    model, optimizer, clauses = JOBS[name]
    return model + make_blocks(DATA[name], "cross_entropy(net, label)",
                               optimizer.format(f"[{', '.join(rates)}]"), STEPS,
                               clauses=f"  seed 3\n{clauses}")


def write_words(folder):
    """Writes the data of job "words", a few of whose words are frequent."""
    words = [hash32(11, i) % TABLE if i % 3 else i % 5 for i in range(SAMPLES * WORDS)]
    write_npy(folder / "words.npy", "<i8", words, [SAMPLES, WORDS])


class CudaWork:
    """A test's folder with data and jobs, and methods that compile programs for a GPU and
    run them with the emulated driver."""

    def __init__(self, text, more=()):
        self.work = Work(text, "cnn", "mlp", more=["--emulation", *more])
        self.folder = self.work.folder
        write_words(self.folder)

    def environment(self, **more):
        return {**os.environ, "LD_LIBRARY_PATH": self.work.options.emulation,
                **{f"HFTA_EMULATION_{name.upper()}": str(value)
                   for name, value in more.items()}}

    def compile(self, name, job, *flags, chips="sm_80", rates=tuple(RATES)):
        return self.work.compile(f"{name}-gpu", make_job(job, rates), "--target=cuda",
                                 "--gpu-code=emulated", f"--chip={chips}", *flags)

    def train(self, binary, name, *flags, code=0, **more):
        folder = self.folder / name
        text = run(binary, "train", "--data", self.folder, "--checkpoint", folder,
                   "--no-progress", *flags, code=code, env=self.environment(**more))
        return text if code else folder

    def expect_failures(self, binary, calls, **more):
        """Lets calls of the driver fail: for each name in `calls`, its first call, and its
        40th, which is in a later step. Each failure must give one message and exit code 70,
        and must leave no checkpoint."""
        folder = self.folder / "failed"
        for call in calls:
            for number in (1, 40):
                shutil.rmtree(folder, ignore_errors=True)
                result = subprocess.run(
                    [binary, "train", "--data", self.folder, "--checkpoint", folder,
                     "--no-progress", "--overwrite"], text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    env=self.environment(fail=f"{call}:{number}", **more))
                text = result.stdout
                if number > 1 and result.returncode == 0:
                    continue
                expect_equal(result.returncode, 70, f"{call}: {text!r}")
                expect_equal(len(re.findall("error:", text)), 1, f"{call}: {text!r}")
                expect_equal(call in text and "CUDA_ERROR_UNKNOWN" in text, True, text)
                left = sorted(path.name for path in folder.glob("*"))
                expect_equal(left, [], f"what {call} leaves")
        print(f"told: each of {len(calls)} calls of the driver that fails")

    def expect_near(self, mine, theirs, what, limit):
        for copy in range(COPIES):
            own, other = (read_safetensors(copy_file(checkpoint(folder, STEPS), copy))
                          for folder in (mine, theirs))
            expect_equal(own.keys(), other.keys(), f"tensors of {what}")
            for tensor, (_, _, numbers) in own.items():
                wanted = other[tensor][2]
                size = max(map(abs, wanted), default=0) + SMALLEST
                worst = max((abs(a - b) for a, b in zip(numbers, wanted)), default=0)
                if not worst <= limit * size:
                    fail(f"{what}, {tensor} of copy {copy}: {worst / size} off")
        print(f"near: {what}")

    def check_numbers(self, job, precision):
        what = f"{job}-{precision}"
        cpu = self.work.compile(f"{what}-cpu", make_job(job, RATES),
                                f"--precision={precision}")
        gpu = self.compile(what, job, f"--precision={precision}", chips="sm_80,sm_90")
        expected = self.work.train(cpu)
        mine = self.train(gpu, f"{what}-1", seed=1)
        self.expect_near(mine, expected, what, NEAR[precision])
        return gpu, mine

    def expect_bytes(self, mine, theirs, what, copies=COPIES):
        expect_same_checkpoint(checkpoint(mine, STEPS), checkpoint(theirs, STEPS), what,
                               copies)
