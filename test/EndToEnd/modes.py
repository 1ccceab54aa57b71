#!/usr/bin/env python3
"""Tests batch normalizations and dropouts that a training computes in evaluation mode, as
the job's clauses, a file's metadata or its nodes say. Steps are compared with the same
computation in plain Python. Needs only Python's standard library."""

import json
import math
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import BOOL, field, graph, model, node, tensor, value  # noqa: E402

BATCH, STEPS, RATE, EPSILON, MOMENTUM = 4, 3, 0.25, 2.0 ** -10, 0.75
FROZEN = ("hfta.frozen_statistics", "a.mean\na.variance")


def numbers(seed, count):
    """Returns random multiples of 1/64 from -1 to 1, which are exact in f32."""
    return [round(64 * (2 * uniform(seed, i) - 1)) / 64 for i in range(count)]


def make_tensors():
    tensors = {"first": numbers(1, 4), "second": numbers(2, 4)}
    for seed, name in ((3, "a"), (6, "b")):
        tensors[f"{name}.scale"] = [1.5 + n for n in numbers(seed, 2)]
        tensors[f"{name}.shift"] = numbers(seed + 1, 2)
        tensors[f"{name}.mean"] = numbers(seed + 2, 2)
        tensors[f"{name}.variance"] = [0.75, 2.0]
    return tensors


# The model y = sum of b(tanh(a(x W1)) W2), where a and b are batch normalizations. In a
# dropout of rate 1/2 behind the second product, training_mode is the node's third operand.
def make_file(modes=(0, 0), entries=(), drops=None):
    def norm(name, operand, result, training):
        outputs = [result, *([f"{name}.m", f"{name}.v"] if training else [])]
        return node("BatchNormalization", [operand, *(
            f"{name}.{part}" for part in ("scale", "shift", "mean", "variance"))], outputs,
            f"norm_{name}", epsilon=EPSILON, momentum=MOMENTUM, training_mode=training)

    dropout = [] if drops is None else [
        node("Constant", [], ["drops"], "drops", value=tensor("", [], [drops], type=BOOL)),
        node("Dropout", ["q", "rate", "drops"], ["d"], "drop")]
    nodes = [node("MatMul", ["x", "first"], ["p"], "layer"), norm("a", "p", "n", modes[0]),
             node("Tanh", ["n"], ["h"]), node("MatMul", ["h", "second"], ["q"], "head"),
             *dropout, norm("b", "d" if dropout else "q", "m", modes[1]),
             node("ReduceSum", ["m", "axes"], ["y"], keepdims=1)]
    tensors = [tensor(name, [2, 2] if len(values) == 4 else [2], values)
               for name, values in make_tensors().items()]
    tensors += [tensor("axes", [1], [1], type=7), tensor("rate", [], [0.5])]
    metadata = b"".join(field(14, field(1, key) + field(2, text)) for key, text in entries)
    return model(graph(nodes, [value("x", ["n", 2])], [value("y", ["n", 1])], tensors),
                 more=metadata)


def compile_job(work, name, files, clauses="", flags=(), code=0, rates=(RATE, RATE / 2)):
    names = []
    for index, contents in enumerate(files):
        names.append(f'"{name}-{index}.onnx"')
        (work.folder / f"{name}-{index}.onnx").write_bytes(contents)
    job = work.write_job(name, f'model net = onnx({", ".join(names)})' + make_blocks(
        'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)",
        f"sgd(lr = [{', '.join(map(str, rates))}])", STEPS, batch=BATCH, model="net(x)",
        clauses="  precision f64\n" + clauses).replace(
            f"batch = {BATCH}", f"batch = {BATCH}, shuffle = false"))
    binary = work.folder / name
    return binary, run(work.hftac, job, "-o", binary, *flags, code=code)


def train(work, binary):
    return checkpoint(work.train(binary), STEPS)


# The computation in Python
# -------------------------

def normalize(rows, state, name, frozen, updates):
    """Returns the normalized rows, and a function that maps gradients of the result to
    gradients of rows, scale and shift. Appends new statistics to `updates`."""
    count, scale, shift = len(rows), state[f"{name}.scale"], state[f"{name}.shift"]
    columns = list(zip(*rows))
    if frozen:
        mean, variance = state[f"{name}.mean"], state[f"{name}.variance"]
    else:
        mean = [sum(column) / count for column in columns]
        variance = [sum((x - m) ** 2 for x in column) / count
                    for column, m in zip(columns, mean)]
        updates.append((f"{name}.mean", mean))
        updates.append((f"{name}.variance", [v * count / (count - 1) for v in variance]))
    inverse = [1 / math.sqrt(v + EPSILON) for v in variance]
    hats = [[(row[j] - mean[j]) * inverse[j] for j in (0, 1)] for row in rows]

    def backward(slopes):
        total = [sum(slope[j] for slope in slopes) for j in (0, 1)]
        product = [sum(slope[j] * hat[j] for slope, hat in zip(slopes, hats))
                   for j in (0, 1)]
        of_rows = [[scale[j] * inverse[j] * (slope[j] - (0 if frozen else
                    (total[j] + hat[j] * product[j]) / count)) for j in (0, 1)]
                   for slope, hat in zip(slopes, hats)]
        return of_rows, product, total

    return [[scale[j] * hat[j] + shift[j] for j in (0, 1)] for hat in hats], backward


def multiply(rows, matrix):
    return [[row[0] * matrix[j] + row[1] * matrix[2 + j] for j in (0, 1)] for row in rows]


def compute(xs, targets, frozen, micro_batches=1):
    """Returns the tensors after all steps. `frozen` says for each normalization whether it
    is in evaluation mode."""
    state = make_tensors()
    size = BATCH // micro_batches
    for step in range(STEPS):
        gradients = {name: [0.0] * len(values) for name, values in state.items()}
        updates = []
        for begin in range(step * BATCH, (step + 1) * BATCH, size):
            rows = [xs[2 * i:2 * i + 2] for i in range(begin, begin + size)]
            n, back_a = normalize(multiply(rows, state["first"]), state, "a", frozen[0],
                                  updates)
            h = [[math.tanh(value) for value in row] for row in n]
            m, back_b = normalize(multiply(h, state["second"]), state, "b", frozen[1],
                                  updates)
            slopes = [[2 * (sum(row) - targets[begin + i]) / BATCH] * 2
                      for i, row in enumerate(m)]

            def add(name, values):
                gradients[name] = [a + b for a, b in zip(gradients[name], values)]

            slopes, of_scale, of_shift = back_b(slopes)
            add("b.scale", of_scale)
            add("b.shift", of_shift)
            add("second", [sum(row[i] * slope[j] for row, slope in zip(h, slopes))
                           for i in (0, 1) for j in (0, 1)])
            slopes = [[sum(slope[j] * state["second"][2 * i + j] for j in (0, 1)) *
                       (1 - row[i] ** 2) for i in (0, 1)] for row, slope in zip(h, slopes)]
            slopes, of_scale, of_shift = back_a(slopes)
            add("a.scale", of_scale)
            add("a.shift", of_shift)
            add("first", [sum(row[i] * slope[j] for row, slope in zip(rows, slopes))
                          for i in (0, 1) for j in (0, 1)])
        for name, values in gradients.items():
            state[name] = [p - RATE * g for p, g in zip(state[name], values)]
        for name, values in updates:
            state[name] = [MOMENTUM * old + (1 - MOMENTUM) * new
                           for old, new in zip(state[name], values)]
    return state


def expect_state(folder, expected, what):
    after = read_safetensors(copy_file(folder, 0))
    worst = 0.0
    for name, values in expected.items():
        worst = max([worst, *(abs(a - b) for a, b in zip(after[name][2], values,
                                                         strict=True))])
    if not worst < 1e-12:
        fail(f"{what}: differs by {worst}")
    print(f"{what}: within {worst:.1e}")


def expect_modes(binary, printed, line, modes, what):
    if line not in printed:
        fail(f"{what}: hftac prints {printed!r}, expected {line!r}")
    found = json.loads(run(binary, "info", "--json"))["modes"]
    expect_equal([(entry["name"], entry["mode"], entry["rule"]) for entry in found], modes,
                 f"{what}: info")


# Normalizations
# --------------

def check_norms(work, xs, targets):
    one = compute(xs, targets, (True, False))
    half = "; 1 of 2 batch normalizations in evaluation mode (1 "
    in_training = [("norm_b", "training", "default")]
    for name, contents, clauses, line, modes, expected in (
            ("training", make_file(), "", "; 2 batch normalizations in training mode",
             [("norm_a", "training", "default"), *in_training],
             compute(xs, targets, (False, False))),
            ("clause", make_file(), '  evaluation_mode "norm_a"\n',
             half + "by an evaluation_mode clause)",
             [("norm_a", "evaluation", "evaluation_mode"), *in_training], one),
            ("parameter", make_file(), '  evaluation_mode "a.*"\n',
             half + "by an evaluation_mode clause)",
             [("norm_a", "evaluation", "evaluation_mode"), *in_training], one),
            ("metadata", make_file(entries=[FROZEN]), "",
             half + "listed in hfta.frozen_statistics)",
             [("norm_a", "evaluation", "listed"), *in_training], one),
            ("file", make_file((0, 1)), "",
             half + "by the file, which has other nodes in training mode)",
             [("norm_a", "evaluation", "file"), *in_training], one),
            ("exported-for-training", make_file((1, 1)), "",
             "; 2 batch normalizations in training mode",
             [("norm_a", "training", "default"), *in_training],
             compute(xs, targets, (False, False))),
            ("metadata-first", make_file((0, 1), [("hfta.frozen_statistics", "")]), "",
             "; 2 batch normalizations in training mode",
             [("norm_a", "training", "default"), *in_training],
             compute(xs, targets, (False, False))),
            ("override", make_file((0, 1), [FROZEN]),
             '  evaluation_mode "*"\n  training_mode "a.scale"\n', half +
             "by an evaluation_mode clause)",
             [("norm_a", "training", "training_mode"),
              ("norm_b", "evaluation", "evaluation_mode")],
             compute(xs, targets, (False, True))),
            ("all", make_file(), '  evaluation_mode "*"\n',
             "; 2 batch normalizations in evaluation mode (2 by an evaluation_mode clause)",
             [("norm_a", "evaluation", "evaluation_mode"),
              ("norm_b", "evaluation", "evaluation_mode")],
             compute(xs, targets, (True, True)))):
        binary, printed = compile_job(work, name, [contents], clauses)
        expect_modes(binary, printed, line, modes, name)
        expect_state(train(work, binary), expected, name)


def check_programs(work, xs, targets):
    """Checks programs of other kinds, and that the exported file trains alike."""
    clauses = '  evaluation_mode "a.*"\n  micro_batches 2\n'
    binary, _ = compile_job(work, "halves", [make_file()], clauses)
    folder = train(work, binary)
    expect_state(folder, compute(xs, targets, (True, False), 2), "two micro-batches")
    for name, more, flags in (("unfused", "", ["--no-fuse"]),
                              ("replicas", "  pipeline replicas = [2]\n", []),
                              ("stages", '  pipeline cuts = ["head"]\n', [])):
        other, _ = compile_job(work, name, [make_file()], clauses + more, flags)
        if name == "replicas":
            expect_state(train(work, other), compute(xs, targets, (True, False), 2), name)
        else:
            expect_same_checkpoint(train(work, other), folder, name, copies=2)
    kfac, _ = compile_job(work, "kfac", [make_file(entries=[FROZEN])],
                          "  precondition kfac(damping = 0.1)\n")
    other, _ = compile_job(work, "kfac-clause", [make_file()],
                           '  precondition kfac(damping = 0.1)\n  evaluation_mode "a.*"\n')
    theirs, mine = (read_safetensors(copy_file(train(work, program), 0))
                    for program in (kfac, other))
    expect_equal(mine, theirs, "kfac")
    run(binary, "export", "--copy", "0", "-o", work.folder / "out.onnx", "--checkpoint",
        folder)
    again, printed = compile_job(work, "again", [(work.folder / "out.onnx").read_bytes()])
    if "1 of 2 batch normalizations in evaluation mode" not in printed:
        fail(f"of the exported file hftac prints {printed!r}")


def check_files(work):
    """Checks that copies from files whose modes differ get the bytes that they have
    alone."""
    files = [make_file(), make_file((0, 1)), make_file(entries=[FROZEN])]
    both, printed = compile_job(work, "both", files, rates=(RATE,))
    expect_modes(both, printed, "; 2 of 4 batch normalizations in evaluation mode (",
                 [("norm_a", "training", "default"), ("norm_b", "training", "default"),
                  ("norm_a", "evaluation", "file"), ("norm_a", "evaluation", "listed")],
                 "three files")
    folder = train(work, both)
    for copy, contents in enumerate(files):
        alone, _ = compile_job(work, f"alone-{copy}", [contents], rates=(RATE,))
        expect_equal(read_safetensors(copy_file(folder, copy)),
                     read_safetensors(copy_file(train(work, alone), 0)), f"file {copy}")


# Dropouts
# --------

def check_dropouts(work):
    def compile_dropout(name, drops, clauses="", modes=(0, 0), line=None):
        binary, printed = compile_job(work, name, [make_file(modes, drops=drops)], clauses)
        if line and line not in printed:
            fail(f"{name}: hftac prints {printed!r}")
        return read_safetensors(copy_file(train(work, binary), 0))

    without = compile_dropout("without", None)
    dropped = compile_dropout("dropped", 1, modes=(1, 1),
                              line="; 1 dropout in training mode")
    if dropped == without:
        fail("a dropout in training mode drops nothing")
    expect_equal(compile_dropout("named", 1, '  evaluation_mode "drop"\n', (1, 1),
                                 "; 1 dropout in evaluation mode (1 by an "), without,
                 "a dropout that a clause names")
    # A file for inference has no node in training mode.
    expect_equal(compile_dropout("inference", 0), dropped, "a dropout of an inference")
    expect_equal(compile_dropout("mixed", 0, modes=(1, 1), line="; 1 dropout in evaluation "
                                 "mode (1 by the file"), without, "a dropout of a training")
    text = """
model net(x: f32[batch, 2]) {
  hidden = dropout(batch_norm(linear(x, 3)), 0.5)
  return y = linear(%s, 1)
}
""" % "hidden" + make_blocks('x = npy("x.npy"), target = npy("target.npy")',
                             "mse(net, target)", "sgd(lr = [0.1, 0.2])", STEPS, batch=BATCH,
                             model="net(x)", clauses="%s")
    states = {}
    for name, clauses in (("none", ""), ("dropout", '  evaluation_mode "*.dropout"'),
                          ("all", '  evaluation_mode "hidden*"'),
                          ("norm", '  evaluation_mode "hidden.1.weight"')):
        binary = work.compile(f"language-{name}", text % clauses)
        folder = train(work, binary)
        states[name] = read_safetensors(copy_file(folder, 0))
        if name == "all":
            found = json.loads(run(binary, "info", "--json"))["modes"]
            expect_equal([entry["mode"] for entry in found], ["evaluation"] * 2, "info")
    plain = text.replace("dropout(batch_norm(linear(x, 3)), 0.5)",
                         "batch_norm(linear(x, 3))")
    binary = work.compile("language-plain", plain % "")
    expect_equal(states["dropout"], read_safetensors(copy_file(train(work, binary), 0)),
                 "a dropout of the language")
    statistics = [name for name in states["none"] if "running" in name]
    for name, kept in (("dropout", False), ("all", True), ("norm", True)):
        values = [states[name][statistic][2][0] for statistic in sorted(statistics)]
        expect_equal(values == [0.0, 1.0], kept, f"{name}: statistics {values}")


def main():
    work = Work(__doc__)
    xs, targets = numbers(9, 2 * STEPS * BATCH), numbers(10, STEPS * BATCH)
    write_npy(work.folder / "x.npy", "<f4", xs, (STEPS * BATCH, 2))
    write_npy(work.folder / "target.npy", "<f4", targets, (STEPS * BATCH, 1))
    check_norms(work, xs, targets)
    check_programs(work, xs, targets)
    check_files(work)
    check_dropouts(work)


if __name__ == "__main__":
    main()
