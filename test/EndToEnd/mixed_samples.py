#!/usr/bin/env python3
"""Tests models that mix the samples of a batch. They must be recognized, and no ordinary
model may be mistaken for one. With whole batches, such a model must train and evaluate to
the numbers that are computed in Python; incomplete batches and micro-batches must be
refused. Needs only Python's standard library."""

import random
import sys

from harness import REFERENCE, Work, expect_equal, fail, read_log, read_npy, run

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import (INT64, graph, integers, model, node, tensor,  # noqa: E402
                         value)

BATCH, FEATURES, OUTPUTS = 4, 4, 3
WEIGHTS = [0.1 * i - 0.5 for i in range(FEATURES * OUTPUTS)]
LEAST, MOST = -(1 << 62), 1 << 62


class Net:
    """A graph under construction, which computes h, [batch, 4], from x and ends with a
    linear layer. `axes` are the axes of x behind the batch."""

    def __init__(self, *axes, opset=17):
        self.axes, self.opset = axes or (FEATURES,), opset
        self.nodes, self.tensors = [], []

    def constant(self, given):
        """Returns the name of an operand. A text is the name of a value. Anything else
        becomes a constant: an integer a scalar, a list a vector of integers, and a tuple a
        weight of that shape."""
        if isinstance(given, str):
            return given
        name = f"constant{len(self.tensors)}"
        if isinstance(given, int):
            made = tensor(name, [], [given], type=INT64)
        elif isinstance(given, list):
            made = integers(name, given)
        else:
            count = 1
            for size in given:
                count *= size
            made = tensor(name, given, [1.0 + i % 5 for i in range(count)])
        self.tensors.append(made)
        return name

    def add(self, op, inputs, outputs, name="", **attributes):
        self.nodes.append(node(op, [self.constant(one) for one in inputs],
                               outputs.split(), name or f"n{len(self.nodes)}",
                               **attributes))
        return self

    def mix(self, op, inputs, outputs, **attributes):
        return self.add(op, inputs, outputs, "mix", **attributes)

    def count_batch(self):
        """Adds the value n, the size of the batch."""
        return self.add("Shape", ["x"], "s").add("Gather", ["s", 0], "n")

    def count_up(self):
        """Adds the value r, the positions of the samples in the batch: 0, 1, …"""
        return self.count_batch().add("Range", [0, "n", 1], "r")

    def write(self, *others):
        """Returns the ONNX file. Its outputs are y, the linear layer's result, and
        `others`."""
        head = node("MatMul", ["h", "w"], ["y"], "head")
        weight = tensor("w", [FEATURES, OUTPUTS], WEIGHTS)
        return model(graph([*self.nodes, head], [value("x", ["batch", *self.axes])],
                           [value("y"), *map(value, others)],
                           [weight, *self.tensors]), opset=self.opset)


def reverse(net, x, y):
    return net.add("Slice", [x, [-1], [LEAST], [0], [-1]], y)


# Graphs in which the node named "mix" is the first one that mixes samples.
MIXED = {
    "mean": Net().mix("ReduceMean", ["x"], "m", axes=[0])
                 .add("Sub", ["x", "m"], "h"),
    "maximum": Net().mix("ReduceMax", ["x"], "m", axes=[0])
                    .add("Sub", ["x", "m"], "h"),
    "softmax": Net().mix("Softmax", ["x"], "h", axis=0),
    "cumulative sum": Net().mix("CumSum", ["x", 0], "h"),
    "sort": Net().mix("TopK", ["x", [4]], "h i", axis=0),
    "top 2": Net().mix("TopK", ["x", [2]], "v i", axis=0)
                  .add("ReduceSum", ["v", [0]], "m").add("Add", ["x", "m"], "h"),
    "flip": Net().mix("Slice", ["x", [-1], [LEAST], [0], [-1]], "h"),
    "flip, added": Net().mix("Slice", ["x", [-1], [LEAST], [0], [-1]], "f")
                        .add("Add", ["x", "f"], "h"),
    "roll": Net().mix("Slice", ["x", [1], [MOST], [0]], "a")
                 .add("Slice", ["x", [0], [1], [0]], "b")
                 .add("Concat", ["a", "b"], "h", axis=0),
    "shift": Net().mix("Slice", ["x", [0], [-1], [0]], "a")
                  .add("Pad", ["a", [1, 0, 0, 0]], "h"),
    "products of all pairs": Net().add("Transpose", ["x"], "t", perm=[1, 0])
                                  .mix("MatMul", ["x", "t"], "g")
                                  .add("MatMul", ["g", "x"], "h"),
    "one row of all": Net().add("Reshape", ["x", [1, -1]], "f")
                           .mix("MatMul", ["f", (16, 4)], "q")
                           .add("Add", ["x", "q"], "h"),
    "attention over samples": Net().add("Unsqueeze", ["x", [0]], "q")
                                   .add("Transpose", ["q"], "k", perm=[0, 2, 1])
                                   .mix("MatMul", ["q", "k"], "s")
                                   .add("Softmax", ["s"], "p", axis=-1)
                                   .add("MatMul", ["p", "q"], "o")
                                   .add("Squeeze", ["o", [0]], "h"),
    "the first sample": Net().mix("Gather", ["x", 0], "f", axis=0)
                             .add("Add", ["x", "f"], "h"),
    "groups of samples": Net().add("Reshape", ["x", [2, -1, 4]], "g")
                              .mix("ReduceMean", ["g"], "m", axes=[0])
                              .add("Sub", ["g", "m"], "d")
                              .add("Reshape", ["d", [-1, 4]], "h"),
    "the batch size": Net().count_batch().add("Cast", ["n"], "f", to=1)
                           .mix("Mul", ["x", "f"], "h"),
    "elements of the batch": Net().add("Size", ["x"], "n").add("Cast", ["n"], "f", to=1)
                                  .add("Exp", ["f"], "e").mix("Div", ["x", "e"], "h"),
    "the position": Net().count_up().add("Cast", ["r"], "f", to=1)
                         .add("Unsqueeze", ["f", [1]], "u").mix("Add", ["x", "u"], "h"),
    "a table of positions": Net().count_up().add("Gather", [(9, 4), "r"], "t")
                                 .mix("Add", ["x", "t"], "h"),
    "batch norm of the batch": Net().mix(
        "BatchNormalization", ["x", (4,), (4,), (4,), (4,)], "h a b", training_mode=1),
}

# Graphs in which the samples are independent of each other.
FINE = {
    "one linear layer": Net().add("Identity", ["x"], "h"),
    "flipped twice": reverse(reverse(Net(), "x", "f"), "f", "h"),
    "two branches along the batch":
        Net(opset=11).add("Neg", ["x"], "a").add("Concat", ["x", "a"], "c", axis=0)
                     .add("Tanh", ["c"], "t").add("Split", ["t"], "u v", axis=0)
                     .add("Sub", ["u", "v"], "h"),
    "sample by sample": Net().add("Split", ["x", [1, 1, 1, 1]], "a b c d", axis=0)
                             .add("Tanh", ["b"], "e")
                             .add("Concat", ["a", "e", "c", "d"], "h", axis=0),
    "batch norm": Net().add("BatchNormalization", ["x", (4,), (4,), (4,), (4,)], "h"),
    "features of a sample":
        Net().add("Size", ["x"], "a").count_batch().add("Div", ["a", "n"], "d")
             .add("Cast", ["d"], "f", to=1).add("Sqrt", ["f"], "q")
             .add("Div", ["x", "q"], "h"),
    "own elements": Net().add("TopK", ["x", [2]], "v i", axis=1)
                         .add("GatherElements", ["x", "i"], "g", axis=1)
                         .add("ReduceMean", ["g"], "m", axes=[1])
                         .add("Add", ["x", "m"], "h"),
    "a token for all samples":
        Net(5, 4).count_batch().add("Unsqueeze", ["n", [0]], "b")
                 .add("Concat", ["b", [1, 4]], "e", axis=0)
                 .add("Expand", [(1, 1, 4), "e"], "t")
                 .add("Concat", ["t", "x"], "c", axis=1)
                 .add("ReduceMean", ["c"], "h", axes=[1], keepdims=0),
    "attention over positions, as many as samples":
        Net(4, 4).add("Transpose", ["x"], "k", perm=[0, 2, 1])
                 .add("MatMul", ["x", "k"], "s").add("Softmax", ["s"], "p", axis=-1)
                 .add("MatMul", ["p", "x"], "o")
                 .add("ReduceMean", ["o"], "h", axes=[1], keepdims=0),
    "steps of a recurrence":
        Net(4, 4).add("Transpose", ["x"], "t", perm=[1, 0, 2])
                 .add("Gather", ["t", 0], "a", axis=0)
                 .add("Gather", ["t", 1], "b", axis=0).add("Add", ["a", "b"], "h"),
    "a chosen position":
        Net(5, 4).count_up().add("ReduceSum", ["x", [2]], "q", keepdims=0)
                 .add("ArgMax", ["q"], "a", axis=1, keepdims=0)
                 .add("Unsqueeze", ["r", [-1]], "i").add("Unsqueeze", ["a", [-1]], "j")
                 .add("Concat", ["i", "j"], "k", axis=1)
                 .add("GatherND", ["x", "k"], "h"),
    "nearest neighbours":
        Net(5, 4).add("Transpose", ["x"], "t", perm=[0, 2, 1])
                 .add("MatMul", ["x", "t"], "d").add("TopK", ["d", [2]], "v i", axis=-1)
                 .count_up().add("Reshape", ["r", [-1, 1, 1]], "q")
                 .add("Mul", ["q", 5], "o").add("Add", ["i", "o"], "k")
                 .add("Reshape", ["k", [-1]], "l").add("Reshape", ["x", [-1, 4]], "f")
                 .add("Gather", ["f", "l"], "g", axis=0)
                 .add("Reshape", ["g", [-1, 5, 2, 4]], "u")
                 .add("ReduceMax", ["u"], "h", axes=[1, 2], keepdims=0),
    "instance norm": Net(4, 5).add("InstanceNormalization", ["x", (4,), (4,)], "m")
                              .add("ReduceMean", ["m"], "h", axes=[2], keepdims=0),
    "instance norm by batch norm":
        Net(4, 5).add("Reshape", ["x", [1, -1, 5]], "r")
                 .add("BatchNormalization", ["r", (16,), (16,), (16,), (16,)], "m a b",
                      training_mode=1)
                 .add("Reshape", ["m", [-1, 4, 5]], "u")
                 .add("ReduceMean", ["u"], "h", axes=[2], keepdims=0),
    "a group of channels a sample":
        Net(4, 5).add("Reshape", ["x", [1, -1, 5]], "r")
                 .add("Conv", ["r", (16, 4, 3)], "c", group=4)
                 .add("Reshape", ["c", [4, 4, -1]], "u")
                 .add("ReduceMean", ["u"], "h", axes=[2], keepdims=0),
}


def check_kinds(work):
    for name, net in (MIXED | FINE).items():
        path = work.folder / "kind.onnx"
        path.write_bytes(net.write())
        text = run(work.hftac, path, f"--batch={BATCH}", "--emit=fused", "-o",
                   work.folder / "kind.mlir")
        named = "note: node 'mix' mixes the samples of a batch" in text
        if named != (name in MIXED) or text.count("mixes") != int(named):
            fail(f"{name}: {text}")


#===----------------------------------------------------------------------------------===#
# The numbers of trainings

JOB = """
model net = onnx("mean.onnx")
data made {
  train x = npy("x8.npy"), t = npy("t8.npy")
  test x = npy("xTEST.npy"), t = npy("tTEST.npy")
}
train sweep {
  model     net(x)
  data      made, batch = 4, shuffle = false
  loss      mse(net, t)
  optimizer sgd(lr = 0.1)
  precision f64
  steps     1
MORE
}
"""


def make_job(test, more=""):
    return JOB.replace("TEST", str(test)).replace("MORE", more)


def center(rows):
    """Returns the rows minus the mean of all rows."""
    means = [sum(column) / len(rows) for column in zip(*rows)]
    return [[x - mean for x, mean in zip(row, means)] for row in rows]


def apply(weights, rows):
    return [[sum(x * weights[i * OUTPUTS + k] for i, x in enumerate(row))
             for k in range(OUTPUTS)] for row in center(rows)]


def find_loss(weights, rows, targets):
    errors = [(y - t)**2 for ys, ts in zip(apply(weights, rows), targets)
              for y, t in zip(ys, ts)]
    return sum(errors) / len(errors)


def train(weights, rows, targets):
    """Returns the weights after one step of gradient descent."""
    found, inputs = apply(weights, rows), center(rows)
    count = len(rows) * OUTPUTS
    return [weight - 0.1 * sum(
        2 / count * inputs[n][i // OUTPUTS] *
        (found[n][i % OUTPUTS] - targets[n][i % OUTPUTS])
        for n in range(len(rows))) for i, weight in enumerate(weights)]


def expect_near(found, expected, what):
    if len(found) != len(expected) or any(
            abs(x - y) > 1e-5 * max(1, abs(y)) for x, y in zip(found, expected)):
        fail(f"{what}: got {found}, expected {expected}")


def refuse(work, *command, code, texts):
    text = run(*command, code=code, cwd=work.folder)
    for part in texts:
        if part not in text:
            fail(f"{command}: no {part!r} in {text}")


def check_numbers(work, rows, targets):
    program = work.compile("whole", make_job(8))
    log = work.folder / "whole.jsonl"
    log.unlink(missing_ok=True)
    folder = work.train(program, "--overwrite", "--log", log, "--log-every", "1")
    weights = train(WEIGHTS, rows[:BATCH], targets[:BATCH])
    expected = [find_loss(weights, rows[at:at + BATCH], targets[at:at + BATCH])
                for at in (0, BATCH)]
    done = [event for event in read_log(log) if event.get("eval_loss")]
    expect_near(done[-1]["eval_loss"], [sum(expected) / 2], "loss of the evaluation")
    outputs = ["--output", work.folder, "--checkpoint", folder]
    run(program, "run", "--input", f"x={work.folder / 'x8.npy'}", *outputs)
    expect_near(read_npy(work.folder / "y.npy", "d"),
                [y for at in (0, BATCH)
                 for row in apply(weights, rows[at:at + BATCH]) for y in row],
                "outputs of two batches")
    parts = ["hold 6 samples", "the batch of 4", "node 'mix' mixes", "leave 2 out"]
    refuse(work, program, "run", "--input", "x=x6.npy", *outputs, code=1,
           texts=["the inputs", *parts])
    # The program may get other data than it was compiled with, so the runtime checks them,
    # too.
    for name in ("x8.npy", "t8.npy"):
        (work.folder / f"other/{name}").parent.mkdir(exist_ok=True)
        (work.folder / f"other/{name}").write_bytes(
            (work.folder / name.replace("8", "6")).read_bytes())
    refuse(work, program, "eval", "--data", "other", "--checkpoint", folder, code=1,
           texts=["the test data", *parts])
    refuse(work, program, "train", "--data", "other", "--no-progress", code=1,
           texts=["the test data", *parts])
    refuse(work, program, "train", "--data", "other", "--steps", "1", code=1,
           texts=["the test data", *parts])


def check_inference(work, rows):
    program = work.folder / "infer"
    text = run(work.hftac, work.folder / "mean.onnx", f"--batch={BATCH}", "-o", program)
    if "what 'run' gets must hold a multiple of 4 samples" not in text:
        fail(text)
    for samples in (4, 8):
        run(program, "run", "--input", f"x={work.folder / f'f{samples}.npy'}", "--output",
            work.folder)
        expected = [y for at in range(0, samples, BATCH)
                    for row in apply(WEIGHTS, rows[at:at + BATCH]) for y in row]
        expect_near(read_npy(work.folder / "y.npy", "f"), expected,
                    f"outputs of {samples} samples")
    for samples in (3, 6):
        refuse(work, program, "run", "--input", f"x=f{samples}.npy", "--output", ".",
               code=1, texts=[f"the inputs hold {samples} samples", "node 'mix'"])


def check_refusals(work):
    """Tests that jobs that divide a batch into micro-batches, even into single samples, are
    refused, and that the planner uses one micro-batch."""
    for more, count in (("  micro_batches 2", 2), ("  micro_batches 4", 4),
                        ("  pipeline replicas = [2]", 2),
                        ("  micro_batches 2, groups = 2", 2)):
        job = work.write_job("cut", make_job(8, more))
        refuse(work, work.hftac, job, "-o", "cut", code=3, texts=[
            "mean.onnx: error: node 'mix' mixes the samples of a batch",
            f"a batch of 4 samples can't be cut into {count} micro-batches"])
    expect_equal((work.folder / "cut").exists(), False, "a program of a refused job")
    planned = work.write_job("planned", make_job(8, """  cluster devices = [2]
  pipeline auto"""))
    text = run(work.hftac, planned, "--plan-pipeline", "-o", work.folder / "plan.json",
               "--data", work.folder)
    if "1 micro-batch" not in text:
        fail(text)


def check_rearranged(work, rows, targets):
    """Tests an output whose rows consist of elements of several samples, although each
    element comes from one sample. A micro-batch would have other rows than the whole
    batch."""
    net = Net().add("Identity", ["x"], "h").mix("Transpose", ["x"], "t", perm=[1, 0])
    net.add("Neg", ["t"], "n").add("Reshape", ["n", [-1, 4]], "r")
    (work.folder / "mean.onnx").write_bytes(net.write("r"))
    program = work.folder / "rearranged"
    text = run(work.hftac, work.folder / "mean.onnx", f"--batch={BATCH}", "-o", program)
    if "note: node 'mix' mixes" not in text:
        fail(text)
    refuse(work, program, "run", "--input", "x=f6.npy", "--output", ".", code=1,
           texts=["the inputs hold 6 samples", "node 'mix'"])
    run(program, "run", "--input", f"x={work.folder / 'f4.npy'}", "--output", work.folder)
    expect_near(read_npy(work.folder / "r.npy", "f"),
                [-row[i] for i in range(FEATURES) for row in rows[:BATCH]],
                "rearranged elements")
    # Only a loss of that output forbids micro-batches.
    for count in (2, 4):
        job = make_job(8, f"  micro_batches {count}").replace("mse(net,", "mse(net.y,")
        run(work.hftac, work.write_job("cut", job), "--emit=import", "-o",
            work.folder / "cut.mlir")
        work.write_job("cut", job.replace("net.y", "net.r").replace('"t', '"x'))
        refuse(work, work.hftac, "cut.hfta", "-o", "cut", code=3, texts=[
            "error: node 'mix' mixes the samples of a batch",
            f"can't be cut into {count} micro-batches"])


def check_planned(work):
    """Tests that the note about mixed samples uses the planned micro-batch, and that the
    printed module has no attributes or functions that served only to find mixed samples."""
    net = Net().add("Identity", ["x"], "h").mix("Softmax", ["x"], "p", axis=0)
    net.count_batch().add("Cast", ["n"], "f", to=1)
    (work.folder / "mean.onnx").write_bytes(net.write("p", "f"))
    plan = work.folder / "plan.json"
    for count, rule in ((2, "a multiple of 2 samples"), (4, "on other samples\n")):
        job = make_job(8, f"""  cluster devices = [2]
  micro_batches {count}
  pipeline replicas = [2]""").replace("mse(net,", "mse(net.y,")
        run(work.hftac, work.write_job("given", job), "--plan-pipeline", "-o", plan)
        planned = work.write_job("planned", job.replace(f"  micro_batches {count}\n", "")
                                 .replace("replicas = [2]", 'plan("plan.json")'))
        for phase in ("fused", "import"):
            text = run(work.hftac, planned, f"--emit={phase}", "-o",
                       work.folder / "planned.mlir")
            if text.count("node 'mix' mixes") != 1 or rule not in text:
                fail(text)
        printed = (work.folder / "planned.mlir").read_text()
        for part in ("hfta.of_batch_size", "forward_of_two"):
            if part in printed:
                fail(f"{part} is printed")


def main():
    work = Work(__doc__)
    check_kinds(work)
    (work.folder / "mean.onnx").write_bytes(MIXED["mean"].write())
    generator = random.Random(5)
    rows = [[generator.uniform(-1, 1) for _ in range(FEATURES)] for _ in range(8)]
    targets = [[generator.uniform(-1, 1) for _ in range(OUTPUTS)] for _ in range(8)]
    for samples in (3, 4, 6, 8):
        flat = [x for row in rows[:samples] for x in row]
        write_npy(work.folder / f"f{samples}.npy", "<f4", flat, (samples, FEATURES))
        write_npy(work.folder / f"x{samples}.npy", "<f8", flat, (samples, FEATURES))
        write_npy(work.folder / f"t{samples}.npy", "<f8",
                  [t for row in targets[:samples] for t in row], (samples, OUTPUTS))
    check_numbers(work, rows, targets)
    check_inference(work, rows)
    check_refusals(work)
    check_rearranged(work, rows, targets)
    check_planned(work)


if __name__ == "__main__":
    main()
