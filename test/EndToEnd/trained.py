#!/usr/bin/env python3
"""Tests which tensors of ONNX files are trained: those that the file's metadata lists, or
else those that weren't made by an exporter; and the clauses freeze and trainable. hftac's
output, info, and the tensors after some steps must agree. Needs only Python's standard
library."""

import json
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, fail,
                     make_blocks, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import field, node, simple, tensor  # noqa: E402

WEIGHT, SCALE, TABLE, EXTRA = "onnx::MatMul_7", "val_3", "rotary.cos", "extra.weight"
SIZES = {WEIGHT: 16, SCALE: 1, TABLE: 4, EXTRA: 16}
STEPS = 3


def numbers(seed, count):
    return [uniform(seed, i) - 0.5 for i in range(count)]


def make_model(listed=None, extra=False):
    """Returns a model with a weight that PyTorch's older exporter has renamed while
    transposing it, a scale that the newer exporter has made from a constant, and a buffer.
    `listed` is the metadata's list of parameters; `extra` adds a second weight."""
    nodes = [node("MatMul", ["x", WEIGHT], ["product"]),
             node("Mul", ["product", SCALE], ["scaled"]),
             node("Add", ["scaled", TABLE], ["sum" if extra else "y"])]
    tensors = [tensor(WEIGHT, [4, 4], numbers(1, 16)), tensor(SCALE, [1], [0.5]),
               tensor(TABLE, [4], numbers(2, 4))]
    if extra:
        nodes.append(node("MatMul", ["sum", EXTRA], ["y"], "extra"))
        tensors.append(tensor(EXTRA, [4, 4], numbers(3, 16)))
    entry = b""
    if listed is not None:
        entry = field(14, field(1, "hfta.parameters") + field(2, "\n".join(listed)))
    return simple(nodes, tensors, more=entry)


def write_model(work, name, **options):
    (work.folder / f"{name}.onnx").write_bytes(make_model(**options))
    return f'"{name}.onnx"'


def compile_job(work, name, files, clauses="", flags=()):
    """Returns the program, and the output of hftac."""
    job = work.write_job(name, f"model net = onnx({', '.join(files)})" + make_blocks(
        'x = npy("x.npy"), target = npy("target.npy")', "mse(net, target)",
        "sgd(lr = 0.1)", STEPS, batch=4, model="net(x)", clauses=clauses))
    binary = work.folder / name
    return binary, run(work.hftac, job, "-o", binary, *flags)


def read_tensors(binary):
    info = json.loads(run(binary, "info", "--json"))
    return info, {tensor["name"]: tensor for tensor in info["parameters"]["tensors"]}


def check(work, name, line, rules, listed=None, **options):
    """Checks a model's tensors: `line` is the line that hftac must print, and `rules` maps
    each tensor to the rule that decides whether it is trained."""
    binary, printed = compile_job(work, name, [write_model(work, name, listed=listed)],
                                  **options)
    expect_equal(printed, f"hftac: {line}\n", f"{name}: what hftac prints")
    info, tensors = read_tensors(binary)
    expect_equal({name: tensor["rule"] for name, tensor in tensors.items()}, rules,
                 f"{name}: rules")
    trained = {name for name, tensor in tensors.items() if tensor["trained"]}
    expect_equal(info["copies"][0]["trained_parameters"],
                 sum(SIZES[name] for name in trained), f"{name}: trained")
    folder = work.train(binary)
    start = {WEIGHT: numbers(1, 16), SCALE: [0.5], TABLE: numbers(2, 4)}
    after = read_safetensors(copy_file(checkpoint(folder, STEPS), 0))
    for key, values in start.items():
        same = max(abs(a - b) for a, b in zip(values, after[key][2])) < 1e-7
        if same == (key in trained):
            fail(f"{name}: '{key}' {'stays' if same else 'moves'}")
    print(f"{name}: {', '.join(sorted(trained))} trained, and nothing else")


def check_export(work):
    """Tests that an exported model trains the same tensors."""
    for name in ("unlisted", "listed", "clauses"):
        exported = f"{name}-exported"
        run(work.folder / name, "export", "--copy", "0", "-o",
            work.folder / f"{exported}.onnx", "--checkpoint",
            work.folder / f"{name}-checkpoints")
        binary, _ = compile_job(work, exported, [f'"{exported}.onnx"'])
        rules = {"clauses": {WEIGHT: "listed", SCALE: "listed", TABLE: "unlisted"},
                 "listed": {WEIGHT: "listed", SCALE: "unlisted", TABLE: "unlisted"},
                 "unlisted": {WEIGHT: "listed", SCALE: "unlisted", TABLE: "listed"}}
        expect_equal({name: tensor["rule"] for name, tensor
                      in read_tensors(binary)[1].items()}, rules[name],
                     f"{exported}: rules")


def check_texts(work):
    """Tests that --remarks and info name each tensor and the reason."""
    binary, printed = compile_job(work, "texts", [write_model(work, "texts")],
                                  flags=["--remarks"])
    info = run(binary, "info")
    for text in (f"'{WEIGHT}' is trained: a layer's operand with an exporter's name",
                 f"'{SCALE}' is frozen: an exporter's name and no layer's operand",
                 f"'{TABLE}' is trained: by default"):
        if text not in printed:
            fail(f"--remarks lacks \"{text}\":\n{printed}")
    for text in (f"trained: 20 a copy\n  {WEIGHT}  f32 4x4: a layer's operand with an "
                 f"exporter's name\n  {TABLE}  f32 4: by default\n",
                 f"frozen: 1 a copy\n  {SCALE}  f32 1, shared by all copies: an "
                 "exporter's name and no layer's operand\n"):
        if text not in info:
            fail(f"info lacks \"{text}\":\n{info}")


def check_counts(work):
    """Tests that, if the copies' models differ, each copy has its own numbers of
    parameters."""
    files = [write_model(work, "less"), write_model(work, "more", extra=True)]
    binary, _ = compile_job(work, "counts", files)
    info, _ = read_tensors(binary)
    expect_equal([copy["trained_parameters"] for copy in info["copies"]], [20, 36],
                 "parameters of two models")
    text = run(binary, "info")
    if "parameters: 21 to 37 a copy, 57 in the array\ntrained: 20 to 36 a copy\n" \
            not in text:
        fail(f"info says nothing of two models:\n{text}")


def main():
    work = Work(__doc__)
    write_npy(work.folder / "x.npy", "<f4", numbers(4, 64), (16, 4))
    write_npy(work.folder / "target.npy", "<f4", numbers(5, 64), (16, 4))
    check(work, "unlisted",
          "trains 2 tensors (1 by default; 1 a layer's operand with an exporter's "
          "name), freezes 1 tensor (1 an exporter's name and no layer's operand)",
          {WEIGHT: "layer", SCALE: "exporter", TABLE: "parameter"})
    check(work, "listed",
          "trains 1 tensor (1 listed in hfta.parameters), freezes 2 tensors (2 not "
          "listed in hfta.parameters)",
          {WEIGHT: "listed", SCALE: "unlisted", TABLE: "unlisted"}, listed=[WEIGHT])
    check(work, "clauses",
          "trains 1 tensor (1 by a trainable clause), freezes 2 tensors (1 by a freeze "
          "clause; 1 not listed in hfta.parameters)",
          {WEIGHT: "freeze", SCALE: "trainable", TABLE: "unlisted"}, listed=[WEIGHT],
          clauses='  freeze "onnx*"\n  trainable "val_?"')
    check(work, "flags",
          "trains 1 tensor (1 by a trainable clause), freezes 2 tensors (2 by a freeze "
          "clause)", {WEIGHT: "freeze", SCALE: "trainable", TABLE: "freeze"},
          flags=['--freeze="*"', '--trainable="val_3"'])
    check_export(work)
    check_texts(work)
    check_counts(work)


if __name__ == "__main__":
    main()
