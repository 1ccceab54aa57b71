"""Rows of hftac with files that aren't ONNX models, and with graphs that break ONNX's
rules."""

import os
import pathlib

from onnx_writer import (BOOL, INT64, STRING, Message, field, fields, function,
                         graph, model, node, reference, simple, tensor, value,
                         varint, zeros)
from row import Row

CNN = pathlib.Path(__file__).parents[2] / "examples/fashion/cnn.onnx"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"
HUGE = 1 << 62
PETA = 1 << 50


def row(name, content, code, *texts, files=(), options=("--batch=2",),
        before=()):
    """Makes a row of hftac with the file bad.onnx, which the error must name. The command
    line has the files of `before` before it."""
    return Row(name, {"bad.onnx": content, "program": "an older one",
                      **dict(files)},
               ["hftac", *before, "bad.onnx", "-o", "program", *options],
               code if isinstance(code, tuple) else (code,),
               ("bad.onnx: error: ", *texts))


def make_file_rows():
    good = CNN.read_bytes()
    relu = simple([node("Relu", ["x"], ["y"])])
    yield row("an empty file", b"", 1, "holds no graph")
    yield row("a batch of none in the file",
              simple([node("Relu", ["x"], ["y"])], inputs=[value("x", [0, 4])],
                     outputs=[value("y", [0, 4])]), 1,
              "output 'y' is declared as [0, 4], but computed as [2, 4]")
    yield row("a text", "not a model\n" * 9, 1, "not an ONNX model")
    yield row("a picture", PNG + bytes(200), 1, "not an ONNX model")
    yield row("binary zeros", bytes(4096), 1, "not an ONNX model")
    for share in (1, 7, 50, 99):
        yield row(f"a file cut off after {share} %",
                  good[:len(good) * share // 100], 1, "not an ONNX model")
    yield row("the last byte is missing", relu[:-1], 1, "not an ONNX model")
    yield row("a length of 2^63", field(1, 8) + varint(7 << 3 | 2) +
              varint(1 << 63), 1, "not an ONNX model")
    yield row("a varint that doesn't end", b"\x08" + b"\xff" * 40, 1,
              "not an ONNX model")
    yield row("no graph", model(None), 1, "holds no graph")
    yield row("no IR version", model(graph([], [], ["y"]))[2:], 1,
              "it has no IR version")
    yield row("an IR version of the future",
              simple([node("Relu", ["x"], ["y"])], ir_version=99), 3,
              "IR version 99")
    yield row("no operator set", simple([node("Relu", ["x"], ["y"])],
                                        opset=None), 1, "operator set")
    yield row("operator set 0", simple([node("Relu", ["x"], ["y"])], opset=0),
              1, "operator set")
    yield row("a negative operator set",
              simple([node("Relu", ["x"], ["y"])], opset=-3), 1, "operator set")
    yield row("an operator set of the future",
              simple([node("Relu", ["x"], ["y"])], opset=1000), 3,
              "operator set 1000", "at most")
    yield row("an operator older than its oldest version",
              simple([node("Einsum", ["x", "x"], ["y"], equation="ij,ij->i")],
                     opset=9), 3, "node 'einsum' (Einsum)", "from operator set")
    yield Row("no such file", {}, ["hftac", "bad.onnx", "-o", "program"], (1,),
              ("error: no such file: 'bad.onnx'",))
    yield Row("a folder instead of a file", {"bad.onnx": None},
              ["hftac", "bad.onnx", "-o", "program"], (1,),
              ("bad.onnx: error: ", "cannot read the file", "regular file"))
    yield Row("a device instead of a file",
              {"bad.onnx": lambda path: os.symlink("/dev/zero", path)},
              ["hftac", "bad.onnx", "-o", "program"], (1,),
              ("bad.onnx: error: ", "cannot read the file", "regular file"))
    yield Row("a pipe that nothing writes to", {"bad.onnx": os.mkfifo},
              ["hftac", "bad.onnx", "-o", "program"], (1,),
              ("bad.onnx: error: ", "cannot read the file", "regular file"))
    for step in range(24):
        flipped = bytearray(good)
        place = step * 37 if step < 16 else step * len(good) // 24
        flipped[place] ^= 1 << step % 8
        yield row(f"a bit flipped in byte {place}", bytes(flipped), (0, 1, 3),
                  options=["--batch=2", "--emit=import"])


def make_parameter_rows():
    """Makes rows of wrong metadata entries `hfta.parameters`."""
    def listing(text, *more):
        entries = b"".join(field(14, field(1, "hfta.parameters") + field(2, entry))
                           for entry in (text, *more))
        return simple([node("Mul", ["x", "w"], ["h"]),
                       node("BatchNormalization", ["h", "w", "w", "mean", "mean"],
                            ["y"])],
                      [zeros("w", 4), zeros("mean", 4),
                       tensor("sizes", [1], [4], type=INT64)], more=entries)

    start = "metadata entry 'hfta.parameters'"
    for name, text, reason in (
            ("that isn't there", "w\nnowhere", "lists 'nowhere'"),
            ("of a value that no initializer fills", "h", "lists 'h'"),
            ("of whole numbers", "sizes", "holds no floats"),
            ("of a running mean", "mean", "running mean"),
            ("of no letters", "w\n\nw", "no name in line 2"),
            ("of control characters", "\x1b[31mw", "no name in line 1"),
            ("of no characters", b"w\n\xff\xfe", "no name in line 2"),
            ("of 60 000 letters", "w" * 60000, "no initializer"),
            ("in a torn JSON array", '["w"', "begins like a JSON array"),
            ("below a million JSON arrays", "[" * 1000000, "begins like a JSON array"),
            ("that a JSON array holds as a number", "[1]", "begins like a JSON array"),
            ("in a JSON array that isn't there", '["w", "v"]', "lists 'v'"),
            ("of no letters in a JSON array", '["w", ""]', "no name as element 2")):
        yield row(f"a trained tensor {name}", listing(text), 1, start, reason)
    yield row("two lists of trained tensors", listing("w", "w"), 1, start,
              "twice")


SCALAR = b"\x93NUMPY\1\0v\0" + (
    "{'descr': '<f4', 'fortran_order': False, 'shape': (), }").ljust(117).encode() + \
    b"\n\0\0\0\0"
def make_frozen_rows():
    """Makes rows of wrong metadata entries `hfta.frozen_statistics`."""
    start = "metadata entry 'hfta.frozen_statistics'"
    for name, text, reason in (
            ("that isn't there", "nowhere", "lists 'nowhere'"),
            ("that is a weight", "mean\nvariance\nw", "lists 'w'"),
            ("that is a value", "h", "lists 'h'"),
            ("of no letters", "mean\n\nvariance", "no name in line 2"),
            ("of no characters", b"mean\n\xff\xfe", "no name in line 2"),
            ("in a torn JSON array", '["mean"', "begins like a JSON array")):
        entry = field(14, field(1, "hfta.frozen_statistics") + field(2, text))
        yield row(f"a frozen statistic {name}", simple(
            [node("Mul", ["x", "w"], ["h"]),
             node("BatchNormalization", ["h", "w", "w", "mean", "variance"], ["y"])],
            [zeros("w", 4), zeros("mean", 4), zeros("variance", 4)], more=entry), 1,
            start, reason)


def make_domain_rows():
    """Makes rows of wrong nodes of the operator set `hfta`."""
    for name, inputs, op, code, text in (
            ("that doesn't exist", ["x"], "Detach", 3, "'StopGradient'"),
            ("without an operand", [], "StopGradient", 1, "operand 0 is missing"),
            ("with two operands", ["x", "x"], "StopGradient", 1, "has 2 operands")):
        yield row(f"an operator of our domain {name}",
                  simple([node(op, inputs, ["y"], domain="hfta")], domains=["hfta"]),
                  code, f"({op})", text)
    defined = function("StopGradient", ["a", "b"], ["r"], [node("Add", ["a", "b"], ["r"])],
                       domain="hfta")
    yield row("an operator of our domain that the file defines otherwise",
              simple([node("StopGradient", ["x", "x"], ["y"], domain="hfta")],
                     domains=["hfta"], more=defined), 1, "(StopGradient)",
              "has 2 operands")


TRAINING_JOB = """model net = onnx("bad.onnx")
data made {
  x: f32[4]
  target: f32[4]
  train x = npy("x.npy"), target = npy("target.npy")
}
train bad {
  model     net(x)
  data      made, batch = 2
  loss      mse(net, target)
  optimizer sgd(lr = 0.1)
  steps     1
}
"""


def make_scale_rows():
    """Makes rows of a normalization whose scale isn't of floats. Whether an operand is
    trained is decided by its use and its values."""
    for type, name in ((INT64, "whole numbers"), (BOOL, "truth values")):
        scale = tensor("s", [4], [1] * 4, type=type)
        content = simple([node("BatchNormalization", ["x", "s", "w", "w", "w"],
                               ["y"])], [scale, zeros("w", 4)])
        yield Row(f"a trained normalization's scale of {name}",
                  {"bad.onnx": content, "bad.hfta": TRAINING_JOB},
                  ["hftac", "bad.hfta", "--emit=import", "-o", "-"], (0,), ())


def make_binding_rows():
    """Makes rows of trainings with an input that has no batch axis."""
    content = model(graph([node("Mul", ["x", "w"], ["h"]), node("Mul", ["h", "k"], ["y"])],
                          [value("x", ["n", 4]), value("k", [])],
                          [value("y", ["n", 4])], [zeros("w", 4)]))
    fields = TRAINING_JOB.replace("net(x)", "net(x, target)")
    for name, job, options, texts in (
            ("a scalar input that isn't bound", TRAINING_JOB, [],
             ("input 'k' is a scalar and so has no batch axis",)),
            ("a scalar input that is bound to a field", fields, [],
             ("input 'k' is a scalar and so has no batch axis",)),
            ("a scalar input that is bound by name", TRAINING_JOB.replace(
                "net(x)", "net").replace("target", "k").replace("k.npy", "t.npy"), [],
             ("input 'k' is a scalar and so has no batch axis",)),
            ("another size of the batch's axis", TRAINING_JOB,
             ["--constant=k=k.npy", "--dim=n=8"],
             ("axis 'n' counts the samples of a batch, which are 2, not 8",))):
        yield Row(name, {"bad.onnx": content, "bad.hfta": job, "k.npy": SCALAR},
                  ["hftac", "bad.hfta", "--emit=import", "-o", "-", *options],
                  (1,), texts)
    for name, options in (("", []), (", and the batch by its axis", ["--dim=n=2"])):
        yield Row(f"a scalar input that is bound to a constant{name}",
                  {"bad.onnx": content, "bad.hfta": TRAINING_JOB, "k.npy": SCALAR},
                  ["hftac", "bad.hfta", "--emit=import", "-o", "-",
                   "--constant=k=k.npy", *options], (0,), ())


def make_statistics_rows():
    """Makes rows in which another node reads a running statistic. So each micro-batch's
    forward depends on the one before, and several replicas can't share a step."""
    content = simple([node("Add", ["x", "mean"], ["h"]),
                      node("BatchNormalization", ["h", "w", "w", "mean", "var"],
                           ["y"])],
                     [zeros("w", 4), zeros("mean", 4), zeros("var", 4)])
    for replicas, code, texts in (
            (1, 0, ()),
            (2, 3, ("error: the model itself computes with the running "
                    "statistic 'mean'", "2 replicas"))):
        yield Row(f"a running mean that is added, for {replicas} replicas",
                  {"bad.onnx": content, "bad.hfta": TRAINING_JOB},
                  ["hftac", "bad.hfta", "--emit=train", "-o", "-", "--batch=4",
                   "--micro-batches=2", f"--pipeline=replicas = [{replicas}]"],
                  (code,), texts)


def make_single_value_rows():
    """Makes rows of batch normalizations. In training, each channel needs several values in
    each micro-batch; in inference and with frozen statistics, one is enough."""
    def content(*axes, more=b""):
        return simple([node("BatchNormalization", ["x", *"sbmv"], ["y"], "norm")],
                      [zeros(name, 4) for name in "sbmv"], [value("x", ["batch", 4, *axes])],
                      more=more)

    refused = ("bad.onnx: error: batch normalization in training needs more than one value "
               "per channel", "(at 'norm')")
    for name, axes, options, size in (
            ("a batch of one sample", (), ["--batch=1"], "[1, 4]"),
            ("micro-batches of one sample", (), ["--batch=4", "--micro-batches=4"], "[1, 4]"),
            ("one pixel of one sample", (1, 1), ["--batch=2", "--micro-batches=2"],
             "[1, 4, 1, 1]"),
            ("two pixels of one sample", (1, 2), ["--batch=1"], None),
            ("micro-batches of two samples", (), ["--batch=4", "--micro-batches=2"], None)):
        job = TRAINING_JOB.replace("f32[4]", f"f32[{', '.join(map(str, (4, *axes)))}]")
        yield Row(f"trained normalizations of {name}",
                  {"bad.onnx": content(*axes), "bad.hfta": job},
                  ["hftac", "bad.hfta", "--emit=train", "-o", "-", *options],
                  (3,) if size else (0,), (*refused, size) if size else ())
    yield Row("normalizations of one sample for inference", {"bad.onnx": content()},
              ["hftac", "bad.onnx", "--emit=train", "-o", "-", "--batch=1"], (0,), ())
    frozen = content(more=field(14, field(1, "hfta.frozen_statistics") + field(2, "m\nv")))
    yield Row("trained normalizations of one sample by frozen statistics",
              {"bad.onnx": frozen, "bad.hfta": TRAINING_JOB},
              ["hftac", "bad.hfta", "--emit=train", "-o", "-", "--batch=1"], (0,), ())


def make_graph_rows():
    relu = node("Relu", ["x"], ["y"])
    x = value("x", ["batch", 4])
    yield row("a cycle", simple([node("Add", ["x", "b"], ["a"], "first"),
                                 node("Relu", ["a"], ["b"], "second"),
                                 node("Relu", ["b"], ["y"], "third")]), 1,
              "reads its own result", "first", "second")
    yield row("a node that reads itself",
              simple([node("Add", ["x", "y"], ["y"])]), 1, "node 'add' (Add)",
              "reads its own result")
    yield row("an operator that doesn't exist",
              simple([node("Frobnicate", ["x"], ["y"])]), 3,
              "node 'frobnicate' (Frobnicate)", "operator is not supported")
    yield row("an operator without a name", simple([node("", ["x"], ["y"])]), 3,
              "operator is not supported")
    yield row("a domain that doesn't exist",
              simple([node("Relu", ["x"], ["y"], domain="com.example")],
                     domains=["com.example"]), 3, "node 'relu' (Relu)",
              "com.example")
    yield row("a value that nothing defines",
              simple([node("Add", ["x", "nowhere"], ["y"])]), 1,
              "node 'add' (Add)", "'nowhere'")
    yield row("an output that nothing defines",
              simple([node("Relu", ["x"], ["z"])]), 1,
              "nothing defines output 'y'")
    yield row("no outputs", model(graph([relu], [x], [])), 1, "no output")
    yield row("two outputs of one name",
              model(graph([relu], [x], ["y", "y"])), 1,
              "two outputs are called 'y'")
    yield row("two inputs of one name", model(graph([relu], [x, x], ["y"])), 1,
              "two inputs are called 'x'")
    yield row("an input without a name",
              model(graph([relu], [x, value("", [1])], ["y"])), 1, "input")
    yield row("two initializers of one name",
              simple([node("Add", ["x", "w"], ["y"])],
                     [zeros("w", 4), zeros("w", 4)]), 1,
              "two initializers are called 'w'")
    yield row("two nodes that define one value",
              simple([node("Relu", ["x"], ["y"], "one"),
                      node("Exp", ["x"], ["y"], "two")]), 1, "node 'two' (Exp)",
              "'y' is already defined")
    yield row("a node that defines its input anew",
              simple([node("Relu", ["x"], ["x"]), node("Exp", ["x"], ["y"])]), 1,
              "node 'relu' (Relu)", "'x' is already defined")
    yield row("a node that defines an initializer",
              simple([node("Relu", ["x"], ["w"]), node("Exp", ["w"], ["y"])],
                     [zeros("w", 4)]), 1, "node 'relu' (Relu)", "'w'")
    yield row("a name with a line break",
              simple([node("Relu", ["x"], ["a\nerror: b"]),
                      node("Exp", ["a\nerror: b"], ["y"])]), 1,
              "node 'relu' (Relu)", "not printable")
    yield row("a node without a name that defines a value with a line break",
              simple([node("Relu", ["x"], ["a\nerror: b"], ""),
                      node("Exp", ["a\nerror: b"], ["y"])]), 1,
              "node 'a\\0Aerror: b' (Relu)", "not printable")
    yield row("an operand with a line break that nothing defines",
              simple([node("Add", ["x", "a\nerror: b"], ["y"])]), 1,
              "node 'add' (Add)", "'a\\0Aerror: b'")
    yield row("a name that is no UTF-8",
              simple([node("Relu", ["x"], ["y"], b"\xff\xfe")]), 1)
    yield row("an initializer without a name",
              simple([relu], [zeros("", 4)]), 1, "initializer has no name")
    yield row("a sparse initializer",
              model(graph([relu], [x], ["y"], more=field(15, field(
                  1, zeros("w", 1))))), 3, "sparse initializers")
    yield row("an input without a type",
              model(graph([relu], [field(1, "x")], ["y"])), 3, "input 'x'")
    yield row("an input without a shape",
              model(graph([relu], [value("x")], ["y"])), 3,
              "input 'x' has no shape")
    yield row("an input of texts",
              model(graph([relu], [value("x", [2], STRING)], ["y"])), 3,
              "input 'x'", "string")
    yield row("an input of no known type",
              model(graph([relu], [value("x", [2], 77)], ["y"])), 3,
              "input 'x'", "number 77")
    sequence = field(1, "x") + field(2, field(4, field(1, field(
        1, field(1, 1)))))
    yield row("an input that is a sequence",
              model(graph([relu], [sequence], ["y"])), 3, "input 'x'",
              "no tensor")
    optional = field(1, "x") + field(2, field(9, field(1, field(
        1, field(1, 1)))))
    yield row("an optional input", model(graph([relu], [optional], ["y"])), 3,
              "input 'x'", "no tensor")
    yield row("an axis without a size or a name",
              model(graph([relu], [value("x", ["batch", ""])], ["y"])), 1,
              "axis 1 of input 'x'", "--dim x.1=N")
    yield row("a size for an axis that the file fixes",
              model(graph([relu], [value("x", ["batch", 3])], ["y"])), 1,
              "no axis of the model's inputs is called 'x.1'",
              options=["--batch=2", "--dim=x.1=3"])
    yield row("a size for an axis that the input hasn't",
              model(graph([relu], [value("x", ["batch", ""])], ["y"])), 1,
              "'x.2'", options=["--batch=2", "--dim=x.1=3", "--dim=x.2=3"])
    yield row("an axis without a size",
              model(graph([relu], [value("x", ["batch", "n"])], ["y"])), 1,
              "axis 1 ('n') of input 'x'", "--dim n=N")
    yield row("a negative axis",
              model(graph([relu], [value("x", [2, -4])], ["y"])), 1,
              "axis 1 of input 'x'")
    yield row("an axis of 2^62",
              model(graph([relu], [value("x", [2, HUGE])], ["y"])), 1,
              "input 'x' cannot have shape [2, 4611686018427387904]")
    yield row("sizes whose product overflows",
              model(graph([relu], [value("x", [2, 1 << 32, 1 << 32])], ["y"])),
              1, "input 'x' cannot have shape")
    yield row("an input of a petabyte",
              model(graph([relu], [value("x", [2, PETA >> 12])], ["y"])), 1,
              "input 'x' cannot have shape [2, 274877906944]")
    yield row("an axis of size 0",
              model(graph([relu], [value("x", [2, 0])], ["y"])), 0)
    yield row("an input of 5000 axes",
              model(graph([relu], [value("x", [1] * 5000)], ["y"])), 1,
              "input 'x' cannot have shape", "5000 in all")
    yield row("a symbol with two sizes",
              model(graph([node("Add", ["x", "z"], ["y"])],
                          [value("x", ["batch", 4]), value("z", ["batch", 5])],
                          ["y"])), 1, "node 'add' (Add)", "[2, 4] and [2, 5]")
    yield row("an output whose shape contradicts",
              model(graph([relu], [x], [value("y", ["batch", 5])])), 1,
              "output 'y' is declared as [?, 5], but computed as [2, 4]")
    yield row("an output whose type contradicts",
              model(graph([relu], [x], [value("y", ["batch", 4], INT64)])), 1,
              "output 'y' is declared as int64, but computed as f32")
    yield row("an option for an axis that doesn't exist",
              simple([relu]), 1, "'tokens'",
              options=["--batch=2", "--dim=tokens=4"])
    yield row("a constant for an input that doesn't exist",
              simple([relu]), 1, "'axes'",
              files={"a.npy": b"\x93NUMPY\1\0F\0" + (
                  "{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"
              ).ljust(69).encode() + b"\n"}.items(),
              options=["--batch=2", "--constant=axes=a.npy"])


def make_nested(depth):
    """Returns a model with Ifs nested `depth` + 1 deep."""
    inner = graph([node("Relu", ["x"], ["r"])], [], ["r"])
    for level in range(depth):
        inner = graph([node("If", ["c"], [f"v{level}"], f"if{level}",
                            then_branch=inner, else_branch=graph(
                                [node("Relu", ["x"], [f"e{level}"])], [],
                                [f"e{level}"]))], [], [f"v{level}"])
    top = node("If", ["c"], ["y"], "top", then_branch=inner, else_branch=graph(
        [node("Relu", ["x"], ["e"])], [], ["e"]))
    return simple([top], [tensor("c", [], [1], BOOL)])


def make_body(kind):
    """Returns a model with a Loop, a Scan or a SequenceMap. Its body has an unknown
    operator, which must not be reported: the node itself isn't supported."""
    ports = [value("i", [], INT64), value("cond_in", [], BOOL), value("s", [4])]
    return simple([node(kind, ["x"], ["y"], body=graph(
        [node("Identity", ["cond_in"], ["cond_out"]),
         node("Frobnicate", ["s"], ["x"])], ports, ["cond_out", "x"]))])


def make_structure_rows():
    for kind in "Loop", "Scan", "SequenceMap":
        yield row(f"a {kind}", make_body(kind), 3,
                  f"node '{kind.lower()}' ({kind})", "operator is not supported")
    yield row("operators of another domain alone",
              simple([node("Adam", ["x"], ["y"], domain="ai.onnx.preview")],
                     opset=None, domains=["ai.onnx.preview"]), 3,
              "node 'adam' (Adam)", "'ai.onnx.preview' is not supported")
    for number, name in (20, "float8e5m2fnuz"), (22, "int4"), (28, "float6e3m2"):
        yield row(f"an initializer of {name}",
                  simple([node("Add", ["x", "w"], ["y"])],
                         [tensor("w", [1], type=number, raw=b"\0")], opset=28), 3,
                  "initializer 'w'", f"element type {name} is not supported")
    yield row("If in If, 10 000 deep", make_nested(10000), 1,
              "not an ONNX model")
    branch = graph([node("Relu", ["x"], ["r"])], [], ["r"])
    yield row("an If without a branch",
              simple([node("If", ["c"], ["y"], then_branch=branch)],
                     [tensor("c", [], [0], BOOL)]), 1, "node 'if' (If)",
              "'else_branch' is missing")
    yield row("an If whose branch has two outputs",
              simple([node("If", ["c"], ["y"], then_branch=graph(
                  [node("Relu", ["x"], ["r"])], [], ["r", "x"]),
                           else_branch=branch)],
                     [tensor("c", [], [1], BOOL)]), 1, "node 'if' (If)",
              "2 outputs", "the node 1")
    yield row("an If whose condition isn't known",
              model(graph([node("If", ["c"], ["y"], then_branch=branch,
                                else_branch=branch)],
                          [value("x", ["batch", 4]), value("c", ["batch"], BOOL)],
                          ["y"])), 3, "node 'if' (If)",
              "condition ('c') must be known at compile time")
    chain = [node("Relu", [f"v{i}"], [f"v{i + 1}"], "") for i in range(50000)]
    yield row("a chain of 50 000 nodes that ends in an error",
              simple([node("Relu", ["x"], ["v0"], "begin"), *chain,
                      node("MatMul", ["v50000", "w"], ["y"])],
                     [zeros("w", 5, 2)]), 1, "node 'matmul' (MatMul)", "size 4",
              "5")
    yield row("a node of 100 000 operands",
              simple([node("Concat", ["x"] * 100000, ["y"], axis=7)]), 1,
              "node 'concat' (Concat)", "axis 7")
    doubling = [node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=1)
                for i in range(60)]
    yield row("a concatenation doubled 60 times",
              simple([node("Relu", ["x"], ["v0"]), *doubling,
                      node("Relu", ["v60"], ["y"], "last")]), 1, "too large")


def external(**entries):
    return simple([node("Add", ["x", "w"], ["y"])],
                  [tensor("w", [4], external=entries)])


def escape(path):
    """Makes a symbolic link to a new file outside of the model's folder."""
    outside = path.parents[1] / (path.parent.name + "-outside.bin")
    outside.write_bytes(bytes(16))
    path.symlink_to(outside)


def make_tensor_rows():
    def initializer(content):
        return simple([node("Add", ["x", "w"], ["y"])], [content])

    data = {"w.bin": bytes(32)}.items()
    w = "initializer 'w'"
    yield row("external data that isn't there", external(location="w.bin"), 1, w,
              "cannot find external data 'w.bin'")
    yield row("external data without a location", external(length="16"), 1, w,
              "path inside the model's folder")
    yield row("external data in the folder above",
              external(location="../outside.bin"), 1, w, "'../outside.bin'",
              "inside the model's folder")
    yield row("external data at an absolute path",
              external(location="/etc/passwd"), 1, w, "'/etc/passwd'",
              "inside the model's folder")
    yield row("external data behind a link that leads outside",
              external(location="w.bin"), 1, w, "'w.bin'",
              "outside the model's folder", files={"w.bin": escape}.items())
    yield row("external data in a folder that a link leads to",
              external(location="d/passwd"), 1, w,
              "outside the model's folder",
              files={"d": lambda path: path.symlink_to("/etc")}.items())
    yield row("external data that is a folder", external(location="w.bin"), 1, w,
              "cannot read external data", files={"w.bin": None}.items())
    yield row("external data with a null byte in its name",
              external(location="w.bin\0.txt"), 1, w,
              "inside the model's folder", files=data)
    yield row("external data beyond the file's end",
              external(location="w.bin", offset="24"), 1, w, "32 bytes",
              "expected 16 from 24", files=data)
    yield row("external data at offset 2^64 - 1",
              external(location="w.bin", offset=str((1 << 64) - 1)), 1, w,
              "32 bytes", files=data)
    yield row("external data at a negative offset",
              external(location="w.bin", offset="-16"), 1, w, "offset '-16'",
              "expected a number", files=data)
    yield row("external data of a negative length",
              external(location="w.bin", length="-1"), 1, w, "length '-1'",
              "expected a number", files=data)
    yield row("external data of another length",
              external(location="w.bin", length="20"), 1, w, "20 bytes",
              "expected 16", files=data)
    yield row("raw data that is too short",
              initializer(tensor("w", [4], raw=bytes(15))), 1, w,
              "15 bytes, expected 16")
    yield row("raw data that is too long",
              initializer(tensor("w", [4], raw=bytes(20))), 1, w,
              "20 bytes, expected 16")
    yield row("too few numbers", initializer(tensor("w", [4], [1.0, 2.0])), 1, w,
              "8 bytes, expected 16")
    yield row("numbers of another type's field",
              initializer(Message("tensor", field(1, 4), field(2, 1),
                                  field(8, "w"), fields(7, [1, 2, 3, 4]))), 1, w,
              "0 bytes, expected 16")
    yield row("a negative size", initializer(tensor("w", [-4], raw=b"")), 1, w,
              "[-4]", "negative")
    yield row("sizes whose product overflows to 0",
              initializer(tensor("w", [1 << 32, 1 << 32], raw=b"")), 1, w,
              "too many elements")
    yield row("sizes whose product overflows beside a 0",
              initializer(tensor("w", [0, HUGE, HUGE], raw=b"")), 1, w,
              "too many elements")
    yield row("256 GiB without data",
              initializer(tensor("w", [1 << 36], raw=b"")), 1, w,
              "0 bytes, expected 274877906944")
    yield row("an initializer of texts",
              initializer(tensor("w", [1], ["text"], STRING)), 3, w, "string")
    yield row("an initializer of no known type",
              initializer(tensor("w", [1], type=99, raw=b"\0")), 3, w,
              "number 99")
    yield row("an initializer of 5000 axes",
              initializer(tensor("w", [1] * 5000, [1.0])), 1, w,
              "5000 in all", "more than 32 axes")
    yield row("a constant with external data",
              simple([node("Constant", [], ["w"], value=tensor(
                  "", [4], external={"location": "w.bin"})),
                      node("Add", ["x", "w"], ["y"])]), 3,
              "node 'constant' (Constant)", "external data", files=data)
    yield row("a constant whose data are too short",
              simple([node("Constant", [], ["w"],
                           value=tensor("", [4], raw=bytes(8))),
                      node("Add", ["x", "w"], ["y"])]), 1,
              "node 'constant' (Constant)", "8 bytes, expected 16")


def make_array_rows():
    def narrow(size):
        """Returns a model whose output y has `size` columns, unlike y@1."""
        return model(graph(
            [node("MatMul", ["x", "w"], ["y"]), node("Relu", ["x"], ["y@1"])],
            [value("x", [3, 4])],
            [value("y", [3, size]), value("y@1", [3, 4])],
            [tensor("w", [4, size], [1] * (4 * size))]))

    yield row("a common output called as a copy's own one", narrow(2), 3,
              "output 'y' of copy 1 would be called 'y@1', as another one that all "
              "copies have: rename one of them", files={"first.onnx": narrow(4)},
              options=(), before=("first.onnx",))


def make_function_rows():
    """Makes rows of wrong model-local functions, which are inlined into their calls."""
    def call(name, inputs=("x",), outputs=("y",), **options):
        return node(name, inputs, outputs, f"call {name}", domain="my", **options)

    def calling(*functions, node=call("f")):
        return simple([node], more=b"".join(functions))

    relu = [node("Relu", ["a"], ["r"])]
    good = function("f", ["a"], ["r"], relu)

    def chain(count, nodes):
        return b"".join(function(f"f{i}" if i < count else "f", ["a"], ["r"],
                                 nodes(f"f{i - 1}") if i else relu)
                        for i in range(count + 1))

    def twice(name):
        return [call(name, ["a"], ["h"]), call(name, ["h"], ["r"])]

    def once(name):
        return [call(name, ["a"], ["r"])]

    def itself(name):
        return function("f", ["a"], ["r"], [call(name, ["a"], ["r"])])

    at = "node 'call f' (f): "
    yield row("a function that calls itself", calling(itself("f")), 1,
              "node 'call f/call f' (f)", "calls itself: my::f → my::f")
    yield row("functions that call each other",
              calling(itself("g"), function("g", ["a"], ["r"], once("f"))), 1,
              "calls itself: my::f → my::g → my::f")
    yield row("a function that isn't there", calling(good, node=call("g")), 3,
              "node 'call g' (g): the file has no function 'my::g'")
    yield row("a function that isn't there in a function", calling(itself("g")), 3,
              "node 'call f/call g' (g): the file has no function 'my::g'")
    yield row("two functions of one name", calling(good, good), 1,
              "two functions are called 'my::f'")
    yield row("a function of no operator set",
              calling(function("f", ["a"], ["r"], relu, opset=None)), 1, at,
              "names no operator set")
    yield row("a function of an operator set of the future",
              calling(function("f", ["a"], ["r"], relu, opset=1000)), 3, at,
              "operator set 1000", "at most")
    yield row("too many operands of a function",
              calling(good, node=call("f", ["x", "x"])), 1, at, "has 2 operands",
              "'my::f' has 1")
    yield row("too many results of a function",
              calling(good, node=call("f", outputs=["y", "z"])), 1, at,
              "has 2 outputs", "'my::f' has 1")
    yield row("a function's output of nothing",
              calling(function("f", ["a"], ["q"], relu)), 1, at,
              "no value for its output 'q'")
    yield row("a function that reads values around it",
              calling(function("f", ["a"], ["r"], [node("Add", ["a", "x"], ["r"])])), 1,
              "node 'call f/add' (Add): reads 'call f/x', which nothing defines")
    yield row("a function's value that is there twice",
              calling(function("f", ["a"], ["r"], relu + relu)), 1,
              "'my::f' defines its value 'r' twice")
    yield row("a cycle in a function",
              calling(function("f", ["a"], ["r"], [node("Add", ["r", "a"], ["r"])])), 1,
              "node 'call f/add' (Add)", "reads its own result")
    yield row("an error in a function", calling(function("f", ["a"], ["r"], [
        node("Softmax", ["a"], ["r"], axis=7)])), 1,
              "node 'call f/softmax' (Softmax): axis 7")
    yield row("an operator of a function that isn't supported",
              calling(function("f", ["a"], ["r"], [node("NonZero", ["a"], ["r"])])), 3,
              "node 'call f/nonzero' (NonZero): operator is not supported")
    yield row("a function's attribute outside of functions",
              simple([node("LeakyRelu", ["x"], ["y"],
                           references=[reference("alpha", "slope")])]), 1,
              "attribute 'alpha' stands for 'slope' of a function")
    yield row("a default that isn't an attribute",
              calling(function("f", ["a"], ["r"], relu, defaults=[b"\xff\xff"])), 1,
              "function 'my::f'", "default cannot be parsed")
    yield row("a function's name of control characters",
              calling(function("\x1b[31m", ["a"], ["r"], relu), node=call("f")), 3,
              "the file has no function 'my::f'")
    yield row("functions that make 2^40 nodes", calling(chain(40, twice)), 3,
              "the file's functions hold more than 65536 nodes")
    yield row("10 000 functions in each other", calling(chain(10000, once)), 3,
              "nested more than 100 deep")
    yield row("functions of a name of a million letters",
              calling(chain(12, twice), node=node("f", ["x"], ["y"], "n" * 1000000,
                                                  domain="my")), 3, "or 512 MiB")


def make_rows(_):
    yield from make_file_rows()
    yield from make_parameter_rows()
    yield from make_frozen_rows()
    yield from make_domain_rows()
    yield from make_scale_rows()
    yield from make_statistics_rows()
    yield from make_binding_rows()
    yield from make_single_value_rows()
    yield from make_graph_rows()
    yield from make_structure_rows()
    yield from make_tensor_rows()
    yield from make_array_rows()
    yield from make_function_rows()
