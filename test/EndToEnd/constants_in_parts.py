#!/usr/bin/env python3
"""Links programs whose code is compiled in several parts, where constants of a graph, such
as weights and index tables, are read by functions of more than one part. Compares results
with a computation in Python. Needs only Python's standard library."""

import array
import math
import operator
import random
import sys

from harness import REFERENCE, Work, fail, make_blocks, read_log, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

BLOCKS, NARROW, WIDE, SIZE = 8, 16, 40, 8
AREA = SIZE * SIZE
DOUBLE = 11
EPSILON = 1e-5


def dot(one, other):
    return sum(map(operator.mul, one, other))


class Network:
    """A chain of inverted residual blocks whose weights are ONNX Constant nodes. Each
    method appends nodes to the graph and applies the same operation to `planes`, the
    channels of the image, so that `planes` holds the expected result."""

    def __init__(self, image, is_double, trains=False):
        self.random = random.Random(5)
        self.letter, self.type = ("d", DOUBLE) if is_double else ("f", 1)
        self.nodes, self.count = [], 0
        self.name, self.planes, self.trains = "x", image, trains

    def add(self, kind, inputs, **attributes):
        self.count += 1
        output = f"v{self.count}"
        self.nodes.append(node(kind, inputs, [output], output, **attributes))
        return output

    def constant(self, dims, low, high):
        numbers = array.array(self.letter, (self.random.uniform(low, high)
                                            for _ in range(math.prod(dims))))
        contents = tensor("", dims, raw=numbers.tobytes(), type=self.type)
        return self.add("Constant", [], value=contents), list(numbers)

    def normalize(self):
        sizes = [(.5, 1.5), (-.2, .2), (-.2, .2), (.5, 1.5)]
        made = [self.constant([len(self.planes)], *bounds) for bounds in sizes]
        self.name = self.add("BatchNormalization",
                             [self.name, *(name for name, _ in made)])
        scales, shifts, means, variances = (numbers for _, numbers in made)
        if self.trains:  # uses the statistics of the batch, one image
            means = [sum(plane) / AREA for plane in self.planes]
            variances = [dot(plane, plane) / AREA - mean * mean
                         for plane, mean in zip(self.planes, means)]
        self.planes = [
            [(number - mean) * scale / math.sqrt(variance + EPSILON) + shift
             for number in plane]
            for plane, scale, shift, mean, variance in zip(
                self.planes, scales, shifts, means, variances)]

    def relu(self):
        self.name = self.add("Relu", [self.name])
        self.planes = [[max(number, 0.0) for number in plane] for plane in self.planes]

    def mix(self, channels):
        """Adds a 1 x 1 convolution with the given number of output channels."""
        before = len(self.planes)
        weight, numbers = self.constant([channels, before, 1, 1], -.3, .3)
        self.name = self.add("Conv", [self.name, weight])
        points = list(zip(*self.planes))
        self.planes = [
            [dot(row, point) for point in points]
            for row in (numbers[i * before:(i + 1) * before] for i in range(channels))]

    def blur(self):
        """Adds a depthwise 3 x 3 convolution with a padding of 1."""
        channels = len(self.planes)
        weight, numbers = self.constant([channels, 1, 3, 3], -.3, .3)
        self.name = self.add("Conv", [self.name, weight], group=channels,
                             pads=[1, 1, 1, 1])
        self.planes = [blur(plane, numbers[i * 9:i * 9 + 9])
                       for i, plane in enumerate(self.planes)]

    def block(self):
        name, planes = self.name, self.planes
        self.mix(WIDE)
        self.normalize()
        self.relu()
        self.blur()
        self.normalize()
        self.relu()
        self.mix(NARROW)
        self.normalize()
        self.name = self.add("Add", [self.name, name])
        self.planes = [[one + other for one, other in zip(*pair)]
                       for pair in zip(self.planes, planes)]

    def resize(self):
        """Doubles both spatial axes by the nearest pixel, which hftac computes with a table
        of indices."""
        self.name = self.add("Resize", [self.name, "", "scales"], mode="nearest",
                             coordinate_transformation_mode="half_pixel",
                             nearest_mode="round_prefer_floor")
        self.planes = [[plane[(y // 2) * SIZE + x // 2]
                        for y in range(2 * SIZE) for x in range(2 * SIZE)]
                       for plane in self.planes]


def blur(plane, weights):
    rows = [[0.0] * (SIZE + 2)] + [
        [0.0, *plane[y * SIZE:(y + 1) * SIZE], 0.0] for y in range(SIZE)] + [
        [0.0] * (SIZE + 2)]
    return [dot(weights, rows[y][x:x + 3] + rows[y + 1][x:x + 3] +
                         rows[y + 2][x:x + 3])
            for y in range(SIZE) for x in range(SIZE)]


def make_image(letter):
    source = random.Random(3)
    return [list(array.array(letter, (source.uniform(-1, 1) for _ in range(AREA))))
            for _ in range(NARROW)]


def write(path, network, batch, tensors):
    path.write_bytes(model(graph(
        network.nodes, [value("x", [batch, NARROW, SIZE, SIZE], network.type)],
        [value(network.name, None, network.type)], tensors), opset=13))


def check(work, name, is_double):
    letter = "d" if is_double else "f"
    image = make_image(letter)
    network = Network(image, is_double)
    for _ in range(BLOCKS):
        network.block()
    network.resize()
    write_npy(work.folder / "x.npy", "<f8" if is_double else "<f4",
              sum(image, []), (1, NARROW, SIZE, SIZE))
    path = work.folder / f"{name}.onnx"
    write(path, network, 1, [tensor("scales", [4], [1.0, 1.0, 2.0, 2.0])])
    binary = path.with_suffix("")
    run(work.hftac, path, "-o", binary)
    run(binary, "run", "--input", f"x={work.folder / 'x.npy'}", "--output", work.folder)
    found = read_npy(work.folder / f"{network.name}.npy", letter)
    expected = sum(network.planes, [])
    bound = 1e-10 if is_double else 1e-3
    worst = max(abs(one - other) for one, other in zip(found, expected, strict=True))
    if worst > bound:
        fail(f"{name}: an output differs by {worst}, expected at most {bound}")
    print(f"equal: {name}")


def check_training(work):
    """Compares the loss of one training step, in which only a scale of the image is
    trained, with the loss computed in Python."""
    image = make_image("f")
    network = Network(image, False, trains=True)
    network.name = network.add("Mul", ["x", "scale"])
    for _ in range(BLOCKS):
        network.block()
    shape = (1, NARROW, SIZE, SIZE)
    write_npy(work.folder / "x.npy", "<f4", sum(image, []), shape)
    write_npy(work.folder / "zeros.npy", "<f4", [0.0] * NARROW * AREA, shape)
    write(work.folder / "trained.onnx", network, "batch",
          [tensor("scale", [NARROW, 1, 1], [1.0] * NARROW)])
    job = work.folder / "trained.hfta"
    job.write_text('model net = onnx("trained.onnx")\n' + make_blocks(
        'x = npy("x.npy"), target = npy("zeros.npy")', "mse(net, target)",
        "sgd(lr = 0.1)", 1, model="net(x)", batch=1))
    run(work.hftac, job, "-o", work.folder / "trained")
    log = work.folder / "log.jsonl"
    run(work.folder / "trained", "train", "--no-progress", "--data", work.folder,
        "--log", log, "--log-every", 1)
    found = next(event["loss"][0] for event in read_log(log) if event["event"] == "step")
    numbers = sum(network.planes, [])
    expected = dot(numbers, numbers) / len(numbers)
    if abs(found - expected) > 1e-3 * expected:
        fail(f"training: expected a loss of {expected}, got {found}")
    print("equal: training")


def main():
    work = Work(__doc__)
    check(work, "single", False)
    check(work, "double", True)
    check_training(work)


if __name__ == "__main__":
    main()
