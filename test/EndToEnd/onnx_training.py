#!/usr/bin/env python3
"""Tests what Hfta adds to ONNX files for training: values through which no gradient flows,
running statistics that aren't updated, and weights in Constant nodes. Trainings are
compared with the same computation in plain Python. Needs only Python's standard library."""

import json
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal,
                     expect_same_checkpoint, fail, make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import (field, function, graph, model, node,  # noqa: E402
                         tensor, value)

BATCH, STEPS, RATE = 4, 3, 0.25


def numbers(seed, count):
    """Returns random multiples of 1/64 from -1 to 1, which are exact in f32."""
    return [round(64 * (2 * uniform(seed, i) - 1)) / 64 for i in range(count)]


# A definition of operator StopGradient as an ONNX function. Exporters add it to a file for
# runtimes that don't know the operator.
DEFINITION = function("StopGradient", ["input"], ["output"],
                      [node("Identity", ["input"], ["output"])], domain="hfta")


def make_file(nodes, tensors, entries=(), width=2, definitions=b""):
    metadata = b"".join(field(14, field(1, key) + field(2, text))
                        for key, text in entries)
    return model(graph(nodes, [value("x", ["n", width])], [value("y", ["n", 1])],
                       tensors), domains=["hfta"] if definitions else [],
                 more=metadata + definitions)


def stop(name, result):
    return node("StopGradient", [name], [result], result, domain="hfta")


def compile_job(work, name, contents, clauses="", flags=(), code=0):
    (work.folder / f"{name}.onnx").write_bytes(contents)
    job = work.write_job(name, f'model net = onnx("{name}.onnx")' + make_blocks(
        'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)",
        f"sgd(lr = [{RATE}, {RATE / 2}])", STEPS, batch=BATCH, model="net(x)",
        clauses="  precision f64\n" + clauses).replace(
            f"batch = {BATCH}", f"batch = {BATCH}, shuffle = false"))
    binary = work.folder / name
    return binary, run(work.hftac, job, "-o", binary, *flags, code=code)


def train(work, binary):
    """Trains, and returns the folder of the last checkpoint and copy 0's losses."""
    log = work.folder / f"{binary.name}.jsonl"
    folder = work.train(binary, "--log", log, "--log-every=1")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    return checkpoint(folder, STEPS), [event["loss"][0] for event in events
                                       if event["event"] == "step"]


def expect_near(mine, theirs, what):
    worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    if not worst < 1e-13:
        fail(f"{what}: {mine} instead of {theirs}")
    print(f"{what}: within {worst:.1e}")


def expect_same_tensors(mine, theirs, what):
    """Compares the tensors of checkpoints of two models, whose files may differ in
    metadata."""
    for copy in (0, 1):
        expect_equal(read_safetensors(copy_file(mine, copy)),
                     read_safetensors(copy_file(theirs, copy)), f"{what}, copy {copy}")
    print(f"equal: {what}")


def expect_state(folder, losses, state, expected, what):
    expect_near(losses, expected, f"{what}: losses")
    after = read_safetensors(copy_file(folder, 0))
    for name, values in state.items():
        expect_near(list(after[name][2]), values, f"{what}: '{name}'")


# Straight-through rounding
# -------------------------

def make_rounding(definitions=b""):
    """Makes the model y = W2 z, where a = W1 x, q = a + stop(round(a) - a) and z = q + a
    stop(a) + stop(T x), with a teacher's weight T. The derivative of z with respect to a is
    1 + a, although its value is round(a) + a^2 + T x. No gradient reaches T."""
    nodes = [node("Gemm", ["x", "first"], ["a"], "layer"),
             node("Round", ["a"], ["rounded"]),
             node("Sub", ["rounded", "a"], ["difference"]), stop("difference", "kept"),
             node("Add", ["a", "kept"], ["q"], "straight"),
             stop("a", "factor"), node("Mul", ["a", "factor"], ["product"]),
             node("Add", ["q", "product"], ["z0"], "sum"),
             node("MatMul", ["x", "teacher"], ["t"], "guide"), stop("t", "guide_kept"),
             node("Add", ["z0", "guide_kept"], ["z"], "both"),
             node("MatMul", ["z", "second"], ["y"], "output")]
    return make_file(nodes, [tensor("first", [2, 2], numbers(1, 4)),
                             tensor("second", [2, 1], numbers(2, 2)),
                             tensor("teacher", [2, 2], numbers(3, 4))],
                     definitions=definitions)


def train_rounding(xs, targets, first=numbers(1, 4), second=numbers(2, 2)):
    teacher = numbers(3, 4)
    losses = []
    for step in range(STEPS):
        loss, of_first, of_second = 0.0, [0.0] * 4, [0.0] * 2
        for sample in range(step * BATCH, (step + 1) * BATCH):
            x = xs[2 * sample:2 * sample + 2]
            a = [x[0] * first[j] + x[1] * first[2 + j] for j in (0, 1)]
            z = [round(a[j]) + a[j] * a[j] + x[0] * teacher[j] + x[1] * teacher[2 + j]
                 for j in (0, 1)]
            error = z[0] * second[0] + z[1] * second[1] - targets[sample]
            loss += error * error / BATCH
            slope = 2 * error / BATCH
            for j in (0, 1):
                of_second[j] += slope * z[j]
                for i in (0, 1):
                    of_first[2 * i + j] += slope * second[j] * (1 + a[j]) * x[i]
        losses.append(loss)
        first = [w - RATE * g for w, g in zip(first, of_first)]
        second = [w - RATE * g for w, g in zip(second, of_second)]
    return losses, {"first": first, "second": second, "teacher": teacher}


def check_rounding(work, xs, targets):
    binary, printed = compile_job(work, "rounding", make_rounding())
    expect_equal(printed, "hftac: trains 2 tensors (2 by default), freezes 1 tensor (1 no "
                 "gradient reaches it)\n", "what hftac prints")
    folder, losses = train(work, binary)
    expected, state = train_rounding(xs, targets)
    expect_state(folder, losses, state, expected, "rounding")
    # The exported model must train in the same way.
    run(binary, "export", "--copy", "0", "-o", work.folder / "out.onnx", "--checkpoint",
        folder)
    again, _ = compile_job(work, "again", (work.folder / "out.onnx").read_bytes())
    again_folder, losses = train(work, again)
    expected, state = train_rounding(xs, targets, state["first"], state["second"])
    expect_state(again_folder, losses, state, expected, "the exported model")
    # Exporters write a definition of the operator into the file, which must make no
    # difference.
    defined, text = compile_job(work, "defined", make_rounding(DEFINITION))
    expect_equal(text, printed, "what hftac prints of a defined operator")
    expect_same_tensors(train(work, defined)[0], folder, "a defined operator")
    # A copy must get the same bytes without fusion.
    alone, _ = compile_job(work, "unfused", make_rounding(), flags=["--no-fuse"])
    expect_same_checkpoint(train(work, alone)[0], folder, "unfused", copies=2)


def check_pipelines(work):
    """Tests pipelines whose cuts are behind a value without a gradient, in front of one,
    and beside one."""
    clauses = "  micro_batches 2\n"
    whole, _ = compile_job(work, "whole", make_rounding(), clauses)
    expected = train(work, whole)[0]
    for name, cuts in (("stopped", '["guide_kept", "sum"]'), ("straight", '"straight"'),
                       ("both", '"both"')):
        binary, _ = compile_job(
            work, f"stages-{name}", make_rounding(),
            clauses + f"  pipeline cuts = [{cuts}], replicas = [1, 1]\n")
        expect_same_checkpoint(train(work, binary)[0], expected, f"cut at {name}",
                               copies=2)


def check_kfac(work):
    """Checks that a stop where no gradient would flow anyway changes no byte of K-FAC, and
    that K-FAC accepts the model of straight-through rounding."""
    clauses = "  precondition kfac(damping = 0.1)\n"
    nodes = [node("MatMul", ["x", "first"], ["a"], "layer"), node("Tanh", ["a"], ["h"]),
             node("MatMul", ["h", "second"], ["y"], "output")]
    tensors = [tensor("first", [2, 2], numbers(1, 4)),
               tensor("second", [2, 1], numbers(2, 2))]
    plain, _ = compile_job(work, "kfac", make_file(nodes, tensors), clauses)
    expected = train(work, plain)[0]
    nodes[0] = node("MatMul", ["kept", "first"], ["a"], "layer")
    binary, _ = compile_job(work, "kfac-stop", make_file([stop("x", "kept"), *nodes],
                                                         tensors), clauses)
    expect_same_tensors(train(work, binary)[0], expected, "K-FAC behind a stop")
    binary, printed = compile_job(work, "kfac-rounding", make_rounding(), clauses)
    train(work, binary)


# Frozen statistics
# -----------------

NORM = [tensor("scale", [2], [1.5, 0.5]), tensor("shift", [2], [0.25, -0.5]),
        tensor("mean", [2], [0.125, -0.25]), tensor("variance", [2], [0.75, 2.0])]
EPSILON = 2.0 ** -10


def train_frozen(xs, targets, scale=(1.5, 0.5), shift=(0.25, -0.5)):
    """Computes the trainings of y = s0 n0 + b0 + s1 n1 + b1, where n is x normalized with
    frozen statistics. Returns the losses and the tensors after all steps."""
    losses = []
    mean, variance = [0.125, -0.25], [0.75, 2.0]
    for step in range(STEPS):
        loss, of_scale, of_shift = 0.0, [0.0] * 2, [0.0] * 2
        for sample in range(step * BATCH, (step + 1) * BATCH):
            n = [(xs[2 * sample + j] - mean[j]) / (variance[j] + EPSILON) ** 0.5
                 for j in (0, 1)]
            error = sum(scale[j] * n[j] + shift[j] for j in (0, 1)) - targets[sample]
            loss += error * error / BATCH
            for j in (0, 1):
                of_scale[j] += 2 * error * n[j] / BATCH
                of_shift[j] += 2 * error / BATCH
        losses.append(loss)
        scale = [w - RATE * g for w, g in zip(scale, of_scale)]
        shift = [w - RATE * g for w, g in zip(shift, of_shift)]
    return losses, {"scale": scale, "shift": shift, "mean": mean, "variance": variance}


def check_frozen(work, xs, targets):
    nodes = [node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], ["n"],
                  "norm", epsilon=EPSILON),
             node("ReduceSum", ["n", "axes"], ["y"], keepdims=1)]
    tensors = [*NORM, tensor("axes", [1], [1], type=7)]
    lists = [("hfta.frozen_statistics", "mean\nvariance")]
    binary, _ = compile_job(work, "frozen", make_file(nodes, tensors, lists))
    folder, losses = train(work, binary)
    expected, state = train_frozen(xs, targets)
    expect_state(folder, losses, state, expected, "frozen")
    run(binary, "export", "--copy", "0", "-o", work.folder / "out.onnx", "--checkpoint",
        folder)
    again, _ = compile_job(work, "frozen-again", (work.folder / "out.onnx").read_bytes())
    folder, losses = train(work, again)
    expected_again, state_again = train_frozen(xs, targets, state["scale"], state["shift"])
    expect_state(folder, losses, state_again, expected_again, "frozen, exported")
    binary, _ = compile_job(work, "stages-frozen", make_file(nodes, tensors, lists),
                            "  micro_batches 2\n  pipeline replicas = [2]\n")
    other, losses = train(work, binary)
    expect_state(other, losses, state, expected, "frozen, in two replicas")


# Weights in Constant nodes
# -------------------------

def make_constants(entries=()):
    def constant(contents, name):
        return node("Constant", [], [name], name, value=contents)

    nodes = [constant(tensor("", [2, 2], numbers(1, 4)), "first"),
             constant(tensor("", [2, 1], numbers(2, 2)), "second"),
             node("MatMul", ["x", "first"], ["a"], "layer"), node("Tanh", ["a"], ["h"]),
             node("MatMul", ["h", "second"], ["y"], "output")]
    return make_file(nodes, [], entries)


def check_constants(work):
    _, printed = compile_job(work, "nothing", make_constants(), code=1)
    expect_equal(printed, "hftac: error: the job trains nothing, freezes none; 2 constants "
                 "of layers are not trained ('first', 'second'): trainable \"...\" names "
                 "them\n", "of constants")
    if (work.folder / "nothing").exists():
        fail("hftac leaves a program that trains nothing")
    tensors = [tensor("first", [2, 2], numbers(1, 4)),
               tensor("second", [2, 1], numbers(2, 2))]
    nodes = [node("MatMul", ["x", "first"], ["a"], "layer"), node("Tanh", ["a"], ["h"]),
             node("MatMul", ["h", "second"], ["y"], "output")]
    plain, _ = compile_job(work, "initializers", make_file(nodes, tensors))
    expected = train(work, plain)[0]
    for name, contents, clause, line in (
            ("all", make_constants(), '  trainable "*"\n',
             "trains 2 tensors (2 by a trainable clause), freezes none"),
            ("list", make_constants([("hfta.parameters", "first\nsecond")]), "",
             "trains 2 tensors (2 listed in hfta.parameters), freezes none")):
        binary, printed = compile_job(work, f"constants-{name}", contents, clause)
        expect_equal(printed, f"hftac: {line}\n", f"{name}: what hftac prints")
        expect_same_tensors(train(work, binary)[0], expected,
                            f"constants, {name}, and initializers")
    _, printed = compile_job(work, "one", make_constants(), '  trainable "first"\n')
    expect_equal(printed, "hftac: trains 1 tensor (1 by a trainable clause), freezes none; "
                 "1 constant of a layer is not trained ('second'): trainable \"...\" names "
                 "it\n", "one constant")
    # The note must be the same if a plan gives another number of micro-batches.
    named = '  trainable "first"\n  cluster devices = [2]\n'
    compile_job(work, "cut", make_constants(), named + '  micro_batches 2\n'
                '  pipeline cuts = ["layer"]\n')
    run(work.hftac, work.folder / "cut.hfta", "--plan-pipeline", "-o",
        work.folder / "plan.json")
    _, again = compile_job(work, "planned", make_constants(),
                           named + '  pipeline plan("plan.json")\n')
    if printed not in again:
        fail(f"planned: {again}")
    _, printed = compile_job(work, "frozen-all", make_file(nodes, tensors),
                             '  freeze "*"\n', code=1)
    expect_equal(printed, "hftac: error: the job trains nothing, freezes 2 tensors (2 by a "
                 "freeze clause)\n", "everything frozen")


def main():
    work = Work(__doc__)
    xs, targets = numbers(4, 2 * STEPS * BATCH), numbers(5, STEPS * BATCH)
    write_npy(work.folder / "x.npy", "<f4", xs, (STEPS * BATCH, 2))
    write_npy(work.folder / "target.npy", "<f4", targets, (STEPS * BATCH, 1))
    check_rounding(work, xs, targets)
    check_pipelines(work)
    check_kfac(work)
    check_frozen(work, xs, targets)
    check_constants(work)


if __name__ == "__main__":
    main()
