#!/usr/bin/env python3
"""Tests single ONNX nodes, from hftac's command line to a program's output files: element
types, inputs bound with --constant, axes sized with --dim, tensors without elements, and
operators of operator sets 22 to 28. Needs only Python's standard library."""

import struct
import sys

from harness import REFERENCE, Work, expect_equal, fail, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import (FLOAT, INT64, graph, integers, model, node,  # noqa: E402
                         tensor, value)

DOUBLE, BFLOAT16 = 11, 16
CODES = {FLOAT: ("<f4", "f"), DOUBLE: ("<f8", "d"), INT64: ("<i8", "q")}


def bfloat16(name, number):
    return tensor(name, [], type=BFLOAT16, raw=struct.pack("<f", number)[2:])


class Case:
    """A model of a few nodes, its inputs and the expected outputs. `inputs` and `outputs`
    map names to (type, shape, numbers). The model declares inputs with these types and with
    these shapes, unless `axes` has other axes for an input."""

    def __init__(self, name, nodes, inputs, outputs, tensors=(), options=(), axes=None,
                 constants=(), opset=17):
        self.name, self.options, self.constants = name, options, constants
        self.inputs, self.outputs = inputs, outputs
        ports = [value(port, (axes or {}).get(port, shape), type)
                 for port, (type, shape, _) in inputs.items()]
        self.model = model(graph(nodes, ports, [value(port, type=type) for port, (
            type, _, _) in outputs.items()], tensors), opset=opset, ir_version=10)

    def run(self, work):
        folder = work.folder / self.name
        folder.mkdir(exist_ok=True)
        path, program = folder / "node.onnx", folder / "node"
        path.write_bytes(self.model)
        bound, given = [], []
        for name, (type, shape, numbers) in self.inputs.items():
            data = folder / f"{name}.npy"
            write_npy(data, CODES[type][0], numbers, shape)
            if name in self.constants:
                bound += ["--constant", f"{name}={data}"]
            else:
                given += ["--input", f"{name}={data}"]
        run(work.hftac, path, *self.options, *bound, "-o", program)
        run(program, "run", *given, "--output", folder / "out")
        for name, (type, shape, numbers) in self.outputs.items():
            file = folder / "out" / f"{name}.npy"
            if f"'shape': {tuple(shape)}" not in file.read_bytes()[:128].decode("latin-1"):
                fail(f"{self.name}: {name} isn't of shape {shape}")
            expect_equal(read_npy(file, CODES[type][1]), numbers, f"{self.name}: {name}")


def count(last):
    return [float(number) for number in range(last)]


CASES = [
    Case("convolution", [node("Conv", ["x", "w"], ["y"])],
         {"x": (FLOAT, [1, 1, 3, 3], count(9)), "w": (FLOAT, [1, 1, 2, 2], [1.0] * 4)},
         {"y": (FLOAT, [1, 1, 2, 2], [8.0, 12.0, 20.0, 24.0])}),
    Case("doubles", [node("Add", ["x", "z"], ["y"])],
         {"x": (DOUBLE, [2], [0.1, 1e300]), "z": (DOUBLE, [2], [0.2, 1.0])},
         {"y": (DOUBLE, [2], [0.1 + 0.2, 1e300])}),
    Case("integers", [node("ArgMax", ["x"], ["y"], axis=1, keepdims=0)],
         {"x": (FLOAT, [2, 3], [1.0, 3.0, 2.0, 9.0, 8.0, 7.0])},
         {"y": (INT64, [2], [1, 0])}),
    Case("constant", [node("Reshape", ["x", "shape"], ["y"])],
         {"x": (FLOAT, [2, 3], count(6)), "shape": (INT64, [2], [3, -1])},
         {"y": (FLOAT, [3, 2], count(6))}, constants=["shape"]),
    Case("nameless-axes", [node("Relu", ["x"], ["y"])],
         {"x": (FLOAT, [2, 3], count(6))}, {"y": (FLOAT, [2, 3], count(6))},
         axes={"x": ["", ""]}, options=["--dim=x.0=2", "--dim=x.1=3"]),
    Case("empty-part", [node("Split", ["x", "sizes"], ["a", "b"], axis=1),
                        node("Concat", ["b", "a"], ["c"], axis=1)],
         {"x": (FLOAT, [2, 2], count(4))},
         {"a": (FLOAT, [2, 2], count(4)), "b": (FLOAT, [2, 0], []),
          "c": (FLOAT, [2, 2], count(4))}, tensors=[integers("sizes", [2, 0])]),
    Case("part-of-none", [node("Gather", ["x", "index"], ["y"], axis=0)],
         {"x": (FLOAT, [3, 0], [])}, {"y": (FLOAT, [0], [])},
         tensors=[tensor("index", [], [1], INT64)]),
    Case("none-of-all", [node("TopK", ["x", "k"], ["y", "i"])],
         {"x": (FLOAT, [2, 3], count(6))},
         {"y": (FLOAT, [2, 0], []), "i": (INT64, [2, 0], [])},
         tensors=[integers("k", [0])]),
    Case("pool-22", [node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[3],
                          pads=[0, 0], ceil_mode=1)],
         {"x": (FLOAT, [1, 1, 4], count(4))}, {"y": (FLOAT, [1, 1, 2], [0.0, 3.0])},
         opset=22),
    Case("shape-25", [node("Shape", ["x"], ["y"])], {"x": (FLOAT, [2, 3], count(6))},
         {"y": (INT64, [2], [2, 3])}, opset=25),
    # bfloat16 holds all integers only up to 256; it rounds 257 to 256. If start + index *
    # step were computed in bfloat16, elements from index 257 on would be wrong.
    Case("range-27", [node("Range", ["start", "limit", "step"], ["r"]),
                      node("Cast", ["r"], ["f"], to=FLOAT),
                      node("Add", ["f", "x"], ["y"])],
         {"x": (FLOAT, [1], [0.0])},
         {"y": (FLOAT, [264], [float(number) for number in range(-256, 8)])},
         tensors=[bfloat16("start", -256), bfloat16("limit", 8), bfloat16("step", 1)],
         opset=27),
    Case("depth-28", [node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD"),
                      node("SpaceToDepth", ["x"], ["z"], blocksize=2)],
         {"x": (FLOAT, [1, 2, 2, 2], count(8))},
         {"y": (FLOAT, [1, 8, 1, 1], count(8)),
          "z": (FLOAT, [1, 8, 1, 1], [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0])},
         opset=28),
]


def main():
    work = Work(__doc__)
    for case in CASES:
        case.run(work)


if __name__ == "__main__":
    main()
