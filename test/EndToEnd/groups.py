#!/usr/bin/env python3
"""Tests the sums of a step's groups of micro-batches. The order of additions must follow
from the number of groups, which is checked bit by bit against a computation in Python, and
nothing else may change a bit."""

import array
import struct

from harness import (COPIES, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_job, read_safetensors)

COLUMNS = 24
# Returns a job in which the gradients of a layer norm's bias are known. The normalization
# turns rows of zeros into zeros, so the bias, which is added to them, is zero at first and
# has the gradient -2 label / terms. One step with a learning rate of 1 makes the bias minus
# the sum of these gradients.
def make_sums(micro_batches, groups):
    return f"""
model net(image: f32[batch, {COLUMNS}]) {{
  return output = layer_norm(image)
}}
data rows {{
  train image = npy("zeros.npy"), label = npy("labels.npy")
}}
train sums {{
  model     net(image)
  data      rows, batch = {micro_batches}, shuffle = false
  loss      mse(net, label)
  optimizer sgd(lr = 1)
  micro_batches {micro_batches}, groups = {groups}
  steps     1
}}
"""


def round_f32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def write_npy(path, rows):
    numbers = array.array("f", [number for row in rows for number in row])
    header = (f"{{'descr': '<f4', 'fortran_order': False, "
              f"'shape': ({len(rows)}, {len(rows[0])}), }}")
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                     + header.encode() + numbers.tobytes())


def make_labels(rows):
    """Returns rows of numbers whose sum is rounded differently in most other orders of
    addition."""
    return [[round_f32(((row * 7919 + column * 104729) % 1013 - 500) / 3
                       * 10.0 ** (row % 5)) for column in range(COLUMNS)]
            for row in range(rows)]


def add_groups(gradients, groups):
    sums = []
    for group in range(groups):
        total = 0.0
        for gradient in gradients[group::groups]:
            total = round_f32(total + gradient)
        sums.append(total)

    def tree(group, distance):
        if group + distance >= groups:
            return sums[group]
        return round_f32(tree(group, 2 * distance)
                         + tree(group + distance, 2 * distance))

    return tree(0, 1)


def check_order(work, micro_batches, groups):
    labels = make_labels(micro_batches)
    write_npy(work.folder / "zeros.npy", [[0.0] * COLUMNS] * micro_batches)
    write_npy(work.folder / "labels.npy", labels)
    name = f"sums-{micro_batches}-{groups}"
    binary = work.compile(name, make_sums(micro_batches, groups))
    tensors = read_safetensors(copy_file(checkpoint(work.train(binary), 1), 0))
    biases = [numbers for key, (_, _, numbers) in tensors.items()
              if key.endswith("bias")]
    scale = round_f32(1 / (micro_batches * COLUMNS))
    expected = []
    for column in range(COLUMNS):
        gradients = [round_f32(round_f32(2 * -row[column]) * scale)
                     for row in labels]
        expected.append(round_f32(0.0 - add_groups(gradients, groups)))
    expect_equal(list(biases[0]), expected, name)
    print(f"{micro_batches} micro-batches in {groups} groups: as expected")


def main():
    work = Work(__doc__, "cnn")
    for micro_batches, groups in ((8, 8), (8, 1), (8, 3), (6, 4), (5, 5), (16, 7)):
        check_order(work, micro_batches, groups)

    def train(name, clause, *flags):
        job = make_job("cnn", 4, f"  clip_norm 0.5\n{clause}")
        return checkpoint(work.train(work.compile(name, job, *flags)), 4)

    eight = train("eight", "  micro_batches 8, groups = 8")
    for name, clause, flags in (
            ("workers", "pipeline replicas = [4]", ()),
            ("most-workers", "pipeline replicas = [8], bucket = 8KiB", ()),
            ("late", "pipeline replicas = [2], overlap = false", ()),
            ("blocks", "pipeline replicas = [3], bucket = 4e3",
             ("--cuts=pool1,pool2",))):
        other = train(name, f"  micro_batches 8, groups = 8\n  {clause}", *flags)
        expect_same_checkpoint(other, eight, name)
    # Groups of two micro-batches are the innermost additions in the binary tree of eight
    # groups, so the sums are equal.
    expect_same_checkpoint(train("four", "  micro_batches 8, groups = 4"), eight,
                           "4 groups of two")
    # By default, there are as many micro-batches and groups as replicas.
    expect_same_checkpoint(
        train("auto", "  pipeline replicas = [4]"),
        train("said", "  micro_batches 4, groups = 4"), "4 replicas")
    one = train("one", "  micro_batches 8")
    for copy in range(COPIES):
        if copy_file(one, copy).read_bytes() == copy_file(eight, copy).read_bytes():
            fail("one group and eight give equal bytes: is anything summed?")


if __name__ == "__main__":
    main()
