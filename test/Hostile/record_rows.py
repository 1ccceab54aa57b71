"""Rows of `hftac --check-gradients` with wrong models and records of a training."""

import hashlib
import json
import os

from gradient_record import (change, make_metadata, make_model, make_tensors, pack,
                             without)
from onnx_writer import node, simple, value
from row import Row

NET = make_model()
TENSORS = make_tensors()
METADATA = make_metadata(NET)
UNKNOWN = simple([node("Frobnicate", ["x"], ["y"])], inputs=[value("x", ["batch", 3])])
NAME = "net.record.safetensors"


def row(name, content, *texts, code=1, model=NET, place="hftac: error: ", files=(),
        options=()):
    """Makes a row of a model with the record `content`, or without a record if that is
    None. The error must contain `place` and the texts."""
    record = {} if content is None else {NAME: content}
    return Row(name, {"net.onnx": model, **record, **dict(files)},
               ["hftac", "--check-gradients", "net.onnx", *options], (code,),
               (place, *texts))


def tensors(name, changed, *texts, **options):
    """Makes a row of a record with the tensors `changed`."""
    return row(name, pack(changed, METADATA), NAME, *texts, **options)


def metadata(name, key, value, *texts, **options):
    """Makes a row of a record with another value of `key` in its metadata, or without that
    key if the value is None."""
    changed = {**METADATA, key: value}
    if value is None:
        del changed[key]
    return row(name, pack(TENSORS, changed), NAME, *texts, **options)


def make_file_rows():
    good = pack(TENSORS, METADATA)
    yield row("a record that isn't there", None, f"no record '{NAME}'", "'net.onnx'")
    yield row("a named record that isn't there", good, "no record 'other'",
              options=["--record=other"])
    yield Row("a recorded model that isn't there", {NAME: good},
              ["hftac", "--check-gradients", "net.onnx"], (1,),
              ("hftac: error: ", "cannot read 'net.onnx'"))
    yield row("a record that is a folder", None, "net.record", files={NAME: None})
    yield row("a record that is a device", None, "/dev/zero",
              options=["--record=/dev/zero"])
    yield row("a record of nothing", b"", NAME, "fewer than 8 bytes")
    yield row("a record of zeros", bytes(4096), NAME)
    yield row("a record that is a model", NET, NAME, "safetensors")
    for share in (1, 20, 60, 99):
        yield row(f"a record cut off after {share} %", good[:len(good) * share // 100],
                  NAME, "no whole safetensors file")
    damaged = bytearray(good)
    damaged[-40] ^= 4
    yield row("a record with a flipped bit", bytes(damaged), NAME, "is damaged")
    checkpoint = json.dumps({"w": {"dtype": "F64", "shape": [1],
                                   "data_offsets": [0, 8]}}).encode()
    yield row("a record that is another safetensors file",
              len(checkpoint).to_bytes(8, "little") + checkpoint + bytes(8), NAME,
              "no record of gradients", "hfta-record")
    other = simple([node("Relu", ["x"], ["y"])])
    yield row("a record of another model", good, NAME, "another file than 'net.onnx'",
              model=other)
    broken = b"no model" * 9
    yield row("a record of what is no model",
              pack(TENSORS, {**METADATA, "model": hashlib.sha256(broken).hexdigest()}),
              "not an ONNX model", model=broken, place="net.onnx: error: ")
    yield row("a recorded model with an unknown operator",
              pack(TENSORS, make_metadata(UNKNOWN)), "(Frobnicate)", model=UNKNOWN,
              code=3, place="net.onnx: error: ")
    yield row("a record that nobody may read", None, NAME, files={
        NAME: lambda path: os.symlink(NAME, path)})


def make_metadata_rows():
    for key in ("format", "version", "output", "model", "loss", "learning_rate",
                "tensors"):
        yield metadata(f"a record without '{key}'", key, None if key != "tensors" else
                       "", "damaged" if key == "tensors" else key)
    yield metadata("a record of a later version", "version", "2", "version 1", "'2'")
    yield metadata("a record with an unknown loss", "loss", "hinge", "'hinge'",
                   place=f"job of {NAME}:")
    yield metadata("a record with a loss that is a job's text", "loss",
                   "mse(a, b) } train x {", "expected a loss's name")
    yield metadata("a record with an axis that isn't one", "axis", "one", "'one'",
                   "whole number")
    yield metadata("a record with an axis that the output lacks", "axis", "7", "axis",
                   place=f"job of {NAME}:")
    yield metadata("a record of an output that the model lacks", "output", 'z"\\',
                   "output", place=f"job of {NAME}:")
    for rate in ("0", "-1", "nan", "inf", "fast"):
        yield metadata(f"a record with the learning rate {rate}", "learning_rate", rate,
                       f"'{rate}'", "a number above 0")


def make_tensor_rows():
    yield tensors("a record without losses", without(TENSORS, "loss"), "'loss'", "f64")
    yield tensors("a record of no step", {**TENSORS, "loss": ("F64", [0], [])}, "1 to 16")
    yield tensors("a record of many steps", {**TENSORS, "loss": ("F64", [17], [1.0] * 17)},
                  "1 to 16")
    yield tensors("a record of a step that has no gradients",
                  {**TENSORS, "loss": ("F64", [3], [1.0] * 3)}, "gradients of step 3")
    yield tensors("a record with a loss that isn't finite",
                  change(TENSORS, "loss", float("nan")), "finite")
    yield tensors("a record with a gradient that isn't finite",
                  change(TENSORS, "gradient/2/norm.bias", float("inf")),
                  "gradient/2/norm.bias", "finite")
    yield tensors("a record with a gradient of integers",
                  {**TENSORS, "gradient/1/norm.bias": ("I64", [4], [0] * 4)},
                  "holds i64, expected f64")
    yield tensors("a record with a gradient of another shape",
                  change(TENSORS, "gradient/1/dense.weight", shape=[4, 3]),
                  "gradient/1/dense.weight", "4x3", "3x4")
    yield tensors("a record with a statistic of another shape",
                  change(TENSORS, "statistic/2/norm.mean", shape=[1, 4]),
                  "statistic/2/norm.mean", "1x4")
    for name in ("gradient/0/w", "gradient/3/w", "gradient/w", "gradient/1/",
                 "statistic/-1/w", "gradient/1e0/w"):
        yield tensors(f"a record with a tensor '{name}'",
                      {**TENSORS, name: ("F64", [1], [0.0])}, name, "no step from 1 to 2")
    for name in ("output/y", "input/", "targets"):
        yield tensors(f"a record with a tensor '{name}'",
                      {**TENSORS, name: ("F64", [1], [0.0])}, f"unknown tensor '{name}'")
    yield tensors("a record without inputs", without(TENSORS, "input/x"), "input/NAME")
    yield tensors("a record without a target", without(TENSORS, "target"), "'target'")
    yield tensors("a record whose input is a number",
                  {**TENSORS, "input/x": ("F64", [], [1.0])}, "samples along axis 0")
    yield tensors("a record without samples", {**TENSORS, "input/x": ("F64", [0, 3], [])},
                  "samples along axis 0")
    yield tensors("a record with fewer targets than samples",
                  {**TENSORS, "target": ("I64", [5], [0] * 5)}, "holds 5 samples", "6")
    yield tensors("a record with a class that isn't one", change(TENSORS, "target", 2),
                  "sample 0 holds 2", "0 to 1")
    yield tensors("a record whose input has another name",
                  {**without(TENSORS, "input/x"), "input/z": TENSORS["input/x"]}, "'z'",
                  "the model's is 'x'")
    job = {"place": f"job of {NAME}:"}
    yield tensors("a record whose input has another shape",
                  {**TENSORS, "input/x": ("F64", [6, 2], [0.0] * 12)}, "'x'", **job)
    yield tensors("a record with two inputs of a model with one",
                  {"input/w": TENSORS["input/x"], **TENSORS}, "input", **job)
    yield tensors("a record whose target has another shape",
                  {**TENSORS, "target": ("I64", [6, 2], [0] * 12)}, "the label", **job)


def make_rows(_program):
    yield from make_file_rows()
    yield from make_metadata_rows()
    yield from make_tensor_rows()
