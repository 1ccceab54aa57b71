#!/usr/bin/env python3
"""Tests that the identity of a model, which checkpoints store, doesn't depend on the batch
size, differs for different graphs, and is the same as in earlier versions of hftac. Needs
only Python's standard library."""

import re
import sys

from harness import REFERENCE, Work, expect_equal, fail, run

sys.path.insert(0, str(REFERENCE.parent / "Hostile"))

from onnx_writer import (graph, integers, model, node, tensor,  # noqa: E402
                         value)

JOB = """
data d {{
  train x: f32[{shape}] = npy("x.npy"), target: f32[4] = npy("y.npy")
}}
train t {{
  model     {model}
  data      d, batch = {batch}
  loss      mse({output}, target)
  optimizer sgd(lr = 0.1)
  steps     1
}}
"""

LANGUAGE = {
    "dense": ("3, 8", """
  h = dropout(relu(linear(reshape(x, [batch, 2, 12]), 6)), 0.25)
  return linear(concat(flatten(h), mean(h, {axis})), 4)"""),
    "windows": ("3, 8, 8", """
  h = max_pool(relu(batch_norm(conv(x, 4, 3, padding = {axis}))), 2)
  return linear(flatten(global_average_pool(h)), 4)"""),
}


# The identity of model "windows-1" in checkpoints of earlier versions, and the identity
# that also covered the batch size, at a batch size of 4.
FORMER = "ed7a81d0340681e2e58d4079c82eb19c40144e1f6c11ef1ff3f1824e434ae069"
FORMER_AT_4 = "5ae229f4ea7f2cee2f62e951476d01e51bcfdf24430bc089d11a73dbbda7ed07"


def floats(name, *dims):
    count = 1
    for size in dims:
        count *= size
    return tensor(name, dims, [((7 * i) % 13 - 6) / 20 for i in range(count)])


def sizes(first, slope):
    """Makes a graph with values that depend on the shape: an expansion, a mask, a range and
    a mean. Returns the shape of a sample and the file."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["rows"], axis=0),
        node("Concat", ["rows", "four"], ["wide"], axis=0),
        node("Expand", ["bias", "wide"], ["b"]),
        node("ConstantOfShape", ["wide"], ["mask"]),
        node("Slice", ["x", "from", "to", "axis"], ["s"]),
        node("ReduceMean", ["s"], ["mean"], axes=[0], keepdims=1),
        node("Sub", ["s", "mean"], ["centred"]),
        node("LeakyRelu", ["centred"], ["l"], alpha=slope),
        node("Squeeze", ["rows", "zero"], ["count"]),
        node("Range", ["start", "count", "delta"], ["range"]),
        node("Gather", ["l", "range"], ["g"], axis=0),
        node("Add", ["g", "b"], ["sum"]),
        node("Add", ["sum", "mask"], ["all"]),
        node("Mul", ["all", "w"], ["y"]),
    ]
    return "8", model(graph(
        nodes, [value("x", ["batch", 8])], [value("y", ["batch", 4])],
        [integers("zero", [0]), integers("four", [4]), integers("axis", [1]),
         integers("from", [first]), integers("to", [first + 4]),
         tensor("start", [], [0], type=7), tensor("delta", [], [1], type=7),
         floats("bias", 1, 4), floats("w", 4)]), opset=13)


def transposed(first, stride):
    """Makes a graph with a transposed convolution, whose output shape is inferred. Returns
    the shape of a sample and the file."""
    nodes = [
        node("Reshape", ["x", "image"], ["i"]),
        node("ConvTranspose", ["i", "w"], ["c"], strides=[stride, stride]),
        node("AveragePool", ["c"], ["a"], kernel_shape=[2, 2]),
        node("Flatten", ["a"], ["f"]),
        node("Slice", ["f", "from", "to", "axis"], ["y"]),
    ]
    return "2, 3, 3", model(graph(
        nodes, [value("x", ["batch", 2, 3, 3])], [value("y", ["batch", 4])],
        [integers("image", [-1, 2, 3, 3]), floats("w", 2, 3, 2, 2),
         integers("from", [first]), integers("to", [first + 4]),
         integers("axis", [1])]))


def attention(first, scale):
    """Makes a part of an attention, in which samples aren't on axis 0: they are swapped
    with positions, and one of three parts is sliced from a new axis 0. Returns the shape of
    a sample and the file."""
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        node("MatMul", ["t", "w"], ["qkv"]),
        node("Reshape", ["qkv", "apart"], ["r"]),
        node("Transpose", ["r"], ["heads"], perm=[2, 0, 1, 3]),
        node("Slice", ["heads", "from", "to", "axis"], ["h"]),
        node("Squeeze", ["h", "axis"], ["q"]),
        node("Mul", ["q", "scale"], ["scaled"]),
        node("ReduceSum", ["scaled", "axis"], ["y"], keepdims=0),
    ]
    return "5, 4", model(graph(
        nodes, [value("x", ["batch", 5, 4])], [value("y", ["batch", 4])],
        [floats("w", 4, 12), integers("apart", [0, -1, 3, 4]),
         integers("from", [first]), integers("to", [first + 1]),
         integers("axis", [0]), tensor("scale", [], [scale])]))


def norms():
    """Returns an ONNX file with a model that divides each sample by its norm."""
    nodes = [node("ReduceL2", ["x"], ["n"], "norm", axes=[1]),
             node("Div", ["x", "n"], ["u"]), node("Mul", ["u", "w"], ["y"])]
    return model(graph(nodes, [value("x", ["batch", 4])], [value("y", ["batch", 4])],
                       [tensor("w", [4], [0.5, 1, 1.5, 2])]))


# The identity of the model of `norms` in checkpoints of earlier versions, which didn't
# recognize norms.
FORMER_NORMS = "f4abc4bc179b5682ec5a7579dc607f7531a883d0e2cf2028fd690b7d33c99118"

ONNX = {"sizes": (sizes, 0.1, 0.2), "transposed": (transposed, 1, 2),
        "attention": (attention, 0.5, 0.25)}


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")
        self.seen = {}

    def identity(self, name, text, key="identity"):
        job = self.work.write_job(name, text)
        module = run(self.work.hftac, job, "--emit=fused", "-o", "-")
        return re.search(rf'[^_]{key} = "([0-9a-f]{{64}})"', module).group(1)

    def expect_own(self, name, make_text):
        """Checks that a job's model has the same identity for several batch sizes, and that
        no model before had this identity. `make_text` returns the job's text for a batch
        size."""
        found = self.identity(name, make_text(4))
        # With a batch of one sample, a range has only one element and is simplified away,
        # which changes the graph.
        ones = [] if name.startswith("sizes") else [1]
        for batch in (*ones, 6, 16, 20):
            expect_equal(self.identity(name, make_text(batch)), found,
                         f"{name}: identity at batch {batch}")
        if found in self.seen:
            fail(f"{name} has the identity of {self.seen[found]}")
        self.seen[found] = name
        print(f"one identity: {name}")


def main():
    check = Check()
    for name, (shape, body) in LANGUAGE.items():
        for axis in (1, 2):
            declared = (f"model net(x: f32[batch, {shape}]) {{"
                        f"{body.format(axis=axis)}\n}}")

            def make_text(batch):
                return declared + JOB.format(shape=shape, model="net(x)",
                                             output="net", batch=batch)

            check.expect_own(f"{name}-{axis}", make_text)
            if f"{name}-{axis}" == "windows-1":
                expect_equal(check.identity("former", make_text(4)), FORMER,
                             "a former identity")
                expect_equal(check.identity("former", make_text(4),
                                            "identity_of_batch"), FORMER_AT_4,
                             "a former identity of a batch size")
    (check.work.folder / "norms.onnx").write_bytes(norms())
    expect_equal(check.identity("norms", 'model net = onnx("norms.onnx")\n' + JOB.format(
        shape="4", model="net(x)", output="net", batch=4)), FORMER_NORMS,
        "the identity of a model with norms")
    for name, (make, one, other) in ONNX.items():
        for first, parameter in ((0, one), (1, one), (0, other)):
            shape, file = make(first, parameter)
            path = check.work.folder / f"{name}-{first}-{parameter}.onnx"
            path.write_bytes(file)
            check.expect_own(path.stem, lambda batch: (
                f'model net = onnx("{path.name}")\n' +
                JOB.format(shape=shape, model="net(x)", output="net",
                           batch=batch)))


if __name__ == "__main__":
    main()
