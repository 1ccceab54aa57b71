#!/usr/bin/env python3
"""Tests that memory is known at compile time. A training process' anonymous memory must
stay below the peak that `info` prints, plus the decompressed data and 32 MiB. `info` must
list the segments that make up the peak, the tasks, and each layer's parameter, input and
output gradient. Turns of any size must train to the same bytes."""

import gzip
import json
import struct
import subprocess
import time

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint,
                     fail, run)

ALLOWANCE = 32 << 20
SAMPLES, SIDE, BATCH = 12000, 64, 256

JOB = """
model cnn(image: f32[batch, 1, 64, 64]) {
  conv1 = conv(image, 8, 3, padding = 1)
  pool1 = max_pool(relu(conv1), 2)
  conv2 = conv(pool1, 8, 3, padding = 1)
  pool2 = max_pool(relu(conv2), 2)
  hidden = relu(linear(flatten(pool2), 64))
  return output = linear(hidden, 10)
}
data made {
  train image = idx("images.gz") / 255, label = idx("labels")
}
train sweep {
  model     cnn(image)
  data      made, batch = 256
  loss      cross_entropy(cnn, label)
  optimizer adam(lr = [1e-4, 1e-3])
  steps     8
}
"""

LAYERS = {
    "conv1.weight": ("convolution", "conv1.bias", [1, 64, 64], [8, 64, 64]),
    "conv2.weight": ("convolution", "conv2.bias", [8, 32, 32], [8, 32, 32]),
    "hidden.weight": ("dense", "hidden.bias", [2048], [64]),
    "output.weight": ("dense", "output.bias", [64], [10]),
}


def write_data(folder):
    """Writes data in the form of the MNIST files: images compressed, labels
    uncompressed."""
    image = bytes(i * 7 % 251 for i in range(SIDE * SIDE))
    header = struct.pack(">IIII", 0x00000803, SAMPLES, SIDE, SIDE)
    with gzip.open(folder / "images.gz", "wb", compresslevel=1) as file:
        file.write(header + image * SAMPLES)
    header = struct.pack(">II", 0x00000801, SAMPLES)
    (folder / "labels").write_bytes(
        header + bytes(i % 10 for i in range(SAMPLES)))


def tensor(shape):
    return f"tensor<{'x'.join(str(size) for size in [BATCH, *shape])}xf32>"


def check_layers(layers):
    found = {layer["parameter"]: (layer["kind"], layer["bias"], layer["input"],
                                  layer["output_gradient"]) for layer in layers
             if layer["bias_column"]}
    expect_equal(found, {name: (kind, bias, tensor(given), tensor(gradient))
                         for name, (kind, bias, given, gradient)
                         in LAYERS.items()}, "layers")


def check_plan(info):
    """Checks that the peak is the sum of its parts, and that tasks access only segments of
    the plan."""
    for owner, copies in [("array", 1), ("per_copy", 2)]:
        memory = info["memory"][owner]
        peak = memory["peak_bytes"]
        parts = sum(memory.values()) - peak
        if abs(parts - peak) > len(memory):
            fail(f"the parts of {owner} have {parts} bytes, its peak {peak}")
        expect_equal(round(peak * copies / info["peak_bytes"], 4), 1.0, owner)
    threads = info["memory"]["threads"]
    total = sum(segment["bytes"] * segment["instances"]
                * (threads if segment["role"] == "scratch" else 1)
                for segment in info["segments"])
    expect_equal(total + info["memory"]["array"]["prefetch"],
                 info["peak_bytes"], "segments and prefetched batches")
    names = {segment["name"] for segment in info["segments"]}
    for task in info["tasks"]:
        if not names.issuperset(task["reads"] + task["writes"]):
            fail(f"task {task['name']} uses unknown segments")
    expect_equal([task["name"] for task in info["tasks"]],
                 ["forward.0", "backward.0", "update.0", "init.0",
                  "evaluate.0", "infer.0"], "tasks")


def check_turns(plans):
    """Checks that as many copies as threads run at a time, and that activations have a
    fixed number of bytes per copy that runs."""
    for threads, info in plans.items():
        expect_equal(info["memory"]["copies_at_once"],
                     min(threads, len(info["copies"])),
                     f"copies at once with {threads} threads")
    slabs = {sum(segment["bytes"] for segment in info["segments"]
                 if segment["name"] == "saved.0") // info["memory"]["copies_at_once"]
             for info in plans.values()}
    expect_equal(len(slabs), 1, "bytes of activations for a copy at a time")


def check_widths(work):
    """Compares trainings with one thread and with three. With several threads, half of the
    steps run one copy after the other on all threads, as the runtime measures whether that
    is faster."""
    one, several = (checkpoint(work.folder / f"checkpoints-{threads}", 8)
                    for threads in (1, 3))
    expect_same_checkpoint(one, several, "turns of one and of two copies", 2)


def anonymous_bytes(process):
    with open(f"/proc/{process.pid}/status") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0  # The process has ended.


def watch(command):
    process = subprocess.Popen([str(part) for part in command],
                               stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, anonymous_bytes(process))
        time.sleep(0.002)
    expect_equal(process.returncode, 0, "exit code of the training")
    return most


def main():
    work = Work(__doc__, "mlp")
    write_data(work.folder)
    binary = work.compile("sweep", JOB)
    data = SAMPLES * SIDE * SIDE
    plans = {}
    for threads in (1, 3):
        info = json.loads(
            run(binary, "info", "--json", "--threads", threads))
        check_layers(info["plan"]["layers"])
        check_plan(info)
        plans[threads] = info
        most = watch([binary, "train", "--data", work.folder, "--threads",
                      threads, "--no-progress", "--checkpoint",
                      work.folder / f"checkpoints-{threads}"])
        print(f"{threads} threads: {most} bytes, planned {info['peak_bytes']}, "
              f"data {data}")
        if most > info["peak_bytes"] + data + ALLOWANCE:
            fail("the training takes more memory than planned")
        # If the measurement didn't work, it would give too small a number.
        if most < data:
            fail("the training takes less memory than its data")
    check_turns(plans)
    check_widths(work)


if __name__ == "__main__":
    main()
