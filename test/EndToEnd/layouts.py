#!/usr/bin/env python3
"""Tests models that share a part, and of which only some have convolutions or pooling,
which are faster with channels last. Each copy's bytes must be the same as alone, whichever
copies are in the array. Needs only Python's standard library."""

import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_same_file,
                     make_blocks)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import graph, integers, model, node, tensor, value  # noqa: E402

STEPS = 4
BATCH = 8
SAMPLES = 32
CHANNELS, SIZE = 16, 7


def floats(name, *dims):
    count = 1
    for size in dims:
        count *= size
    seed = sum(name.encode())
    return tensor(name, dims, [((seed + 7 * i) % 23 - 11) / 40
                               for i in range(count)])


class Model:
    """A chain of nodes, each of which reads the one before it, and the tensors that they
    read."""

    def __init__(self):
        self.nodes, self.tensors, self.last = [], [], "image"

    def add(self, op, *operands, name, **attributes):
        self.nodes.append(node(op, [self.last, *operands], [name], name=name,
                               **attributes))
        self.last = name
        return self

    def parameter(self, op, name, *dims):
        self.tensors.append(floats(name, *dims))
        return self.add(op, name, name=f"{name}_{op.lower()}")

    def conv(self, name):
        self.tensors.append(floats(name, CHANNELS, CHANNELS, 3, 3))
        return self.add("Conv", name, name=f"{name}_conv", pads=[1, 1, 1, 1])

    def pool(self, name):
        return self.add("MaxPool", name=name, kernel_shape=[3, 3],
                        pads=[1, 1, 1, 1])

    def write(self, path):
        self.add("ReduceMean", name="mean", axes=[2, 3], keepdims=0)
        self.parameter("MatMul", "head", CHANNELS, 4)
        path.write_bytes(model(graph(
            self.nodes, [value("image", ["batch", CHANNELS, SIZE, SIZE])],
            [value(self.last, ["batch", 4])], self.tensors)))


def affine(model):
    """Adds a common beginning with trained parameters, which each copy has for itself."""
    return (model.parameter("Mul", "scale", CHANNELS, 1, 1)
            .parameter("Add", "shift", CHANNELS, 1, 1).add("Tanh", name="t"))


def normalized(model):
    """Adds a common beginning that depends on data alone up to its last node, so that it is
    computed once for all copies."""
    return (model.add("Softplus", name="s")
            .add("ReduceMean", name="m", axes=[0, 2, 3], keepdims=1)
            .add("Sub", "s", name="centred")
            .parameter("Mul", "scale", CHANNELS, 1, 1))


def plain(model):
    return model


def convolved(model):
    return model.conv("k").add("Relu", name="r")


def pooled(model):
    return model.pool("p")


def reshaped(model):
    """Adds a value between two reshapes, which the backward recomputes or reads."""
    model.tensors += [integers("rows", [-1, CHANNELS, SIZE * SIZE]),
                      integers("grid", [-1, CHANNELS, SIZE, SIZE])]
    model.add("Reshape", "rows", name="flat").add("Sigmoid", name="g")
    return model.add("Reshape", "grid", name="back")


def branched(model):
    """Adds a convolution of the common beginning, multiplied by that beginning."""
    before = model.last
    return model.conv("k").add("Mul", before, name="gate")


class Check:
    def __init__(self):
        self.work = Work(__doc__)
        folder = self.work.folder
        pixels = SAMPLES * CHANNELS * SIZE * SIZE
        write_npy(folder / "x.npy", "<f4",
                  [((i * 2654435761) % 1009) / 504.5 - 1
                   for i in range(pixels)],
                  (SAMPLES, CHANNELS, SIZE, SIZE))
        write_npy(folder / "y.npy", "<f4",
                  [((i * 40503) % 97) / 97 for i in range(SAMPLES * 4)],
                  (SAMPLES, 4))

    def train(self, name, paths, rates):
        files = ", ".join(f'"{path.name}"' for path in paths)
        if len(paths) > 1:
            files = f"[{files}]"
        zipped = "  zip(lr, model)\n" if len(paths) > 1 else ""
        text = f"model net = onnx({files})\n" + make_blocks(
            'image = npy("x.npy"), target = npy("y.npy")', "mse(net, target)",
            f"sgd(lr = {rates}, momentum = 0.9)", STEPS, BATCH,
            clauses=f"{zipped}  clip_norm 1.0")
        return checkpoint(self.work.train(self.work.compile(
            name, text, "--data", self.work.folder)), STEPS)

    def check(self, start):
        """Trains the models that begin with `start` alone, in pairs, and all together, and
        compares each copy with its model alone."""
        paths, alone = [], []
        rates = [0.05 * (index + 1) for index in range(len(PARTS))]
        for part, rate in zip(PARTS, rates):
            path = self.work.folder / f"{start.__name__}-{part.__name__}.onnx"
            part(start(Model())).write(path)
            paths.append(path)
            alone.append(self.train(path.stem, [path], [rate]))
        everything = tuple(range(len(PARTS)))
        for members in (*((0, other) for other in everything[1:]), everything):
            label = "+".join(paths[member].stem for member in members)
            together = self.train(label, [paths[member] for member in members],
                                  [rates[member] for member in members])
            for copy, member in enumerate(members):
                expect_same_file(copy_file(together, copy),
                                 copy_file(alone[member], 0),
                                 f"{label}: copy {copy}")


PARTS = [plain, convolved, pooled, reshaped, branched]


def main():
    check = Check()
    check.check(affine)
    check.check(normalized)


if __name__ == "__main__":
    main()
