#!/usr/bin/env python3
"""Makes the small ONNX files of this folder; needs the onnx package."""

import os

import numpy
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))


def save(name, nodes, shape, initializers=(), opset=17):
    """Saves a model with one float input `x` and one output `y`, both of `shape`."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, key) for key, value in initializers],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    )
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(model.SerializeToString())


node = helper.make_node
weight = numpy.arange(9, dtype=numpy.float32).reshape(3, 3) / 8

save(
    "unsupported.onnx",
    [
        node("NonZero", ["x"], ["a"], "find"),
        node("Relu", ["a"], ["b"], "fine"),
        node("Fancy", ["b"], ["c"], "own", domain="com.example"),
        node("Cast", ["x"], ["d"], "text", to=TensorProto.STRING),
        node("Sum", ["c", "d"], ["y"], "all"),
    ],
    ["batch", 3],
)
save(
    "cycle.onnx",
    [node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"),
     node("Exp", ["b"], ["y"], "last")],
    ["batch", 3],
)
save(
    "merged-batch.onnx",
    [node("Reshape", ["x", "flat"], ["a"], "merge"),
     node("Relu", ["a"], ["b"], "act"),
     node("Reshape", ["b", "back"], ["y"], "split")],
    [2, 4, 3],
    [("flat", numpy.array([8, 3])), ("back", numpy.array([2, 4, 3]))],
)
# Nodes that aren't in topological order, a weight that is used twice, through Transpose and
# through Identity, and shape arithmetic.
save(
    "shapes.onnx",
    [
        node("Reshape", ["d", "target"], ["y"], "restore"),
        node("Concat", ["n", "three"], ["target"], "sizes", axis=0),
        node("Gather", ["s", "zero"], ["n"], "count"),
        node("Shape", ["x"], ["s"], "shape"),
        node("Identity", ["w"], ["w2"], "same"),
        node("Transpose", ["w"], ["wt"], "turn"),
        node("MatMul", ["x", "wt"], ["c"], "one"),
        node("MatMul", ["c", "w2"], ["d"], "two"),
    ],
    ["batch", 3],
    [("w", weight), ("zero", numpy.array([0])), ("three", numpy.array([3]))],
)
