#!/usr/bin/env python3
"""Tests scripts/compare-bytes on small folders of the form that it records. The pairs have
differences that it must report or must accept. Needs only Python's standard library."""

import argparse
import json
import pathlib
import struct
import sys

from harness import fail, run

TOOL = pathlib.Path(__file__).parents[2] / "scripts" / "compare-bytes"
NAN, OTHER_NAN = 0x7FC00000, 0xFFC00001
ONE, NEXT = 0x3F800000, 0x3F800001


def entry(dtype, shape, words):
    return dtype, shape, struct.pack(f"<{len(words)}I", *words)


def write_record(folder, tensors, loss=1.5, identity="a"):
    """Writes a record of one copy of one job after one step: a checkpoint and a log.
    `tensors` maps names to (dtype, shape, bytes). Returns `folder`."""
    header, data = {"__metadata__": {"identity": identity}}, b""
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    step = folder / "resnet18" / "checkpoints" / "step-00000001"
    step.mkdir(parents=True)
    (step / "copy-0000.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + data)
    event = {"event": "step", "step": 1, "loss": [loss], "lr": [0.1]}
    (folder / "resnet18" / "log.jsonl").write_text(
        json.dumps({"event": "start"}) + "\n" + json.dumps(event) + "\n")
    return folder


class Check:
    def __init__(self, work):
        self.work = work
        self.tensors = {"weight": entry("F32", [2], [ONE, NAN]),
                        "count": entry("U32", [1], [NAN])}
        self.before = write_record(work / "before", self.tensors)

    def expect(self, what, text, code=1, tensors=None, **more):
        after = write_record(self.work / what, {**self.tensors,
                                                **(tensors or {})}, **more)
        self.compare(self.before, after, what, text, code)

    def compare(self, before, after, what, text, code):
        output = run(sys.executable, TOOL, "compare", before, after, code=code)
        if text not in output:
            fail(f"{what}: expected {text!r}, got\n{output}")
        print(f"as expected: {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    check = Check(parser.parse_args().work)
    check.expect("equal", "all is equal", code=0)
    check.expect("identity", "metadata differ: identity", code=0, identity="b")
    check.expect("nan", "all is equal", code=0, tensors={
        "weight": entry("F32", [2], [ONE, OTHER_NAN])})
    check.expect("element", "weight: 1 of 2 elements differ, first 0", tensors={
        "weight": entry("F32", [2], [NEXT, NAN])})
    check.expect("number for nan", "1 of 2 elements differ, first 1", tensors={
        "weight": entry("F32", [2], [ONE, ONE])})
    check.expect("whole number", "count: 4 of 4 elements differ", tensors={
        "count": entry("U32", [1], [0x01020304])})
    check.expect("shape", "weight: shape was (2,), is (1, 2)", tensors={
        "weight": entry("F32", [1, 2], [ONE, NAN])})
    check.expect("type", "weight: type was F32, is I32", tensors={
        "weight": entry("I32", [2], [ONE, NAN])})
    check.expect("new tensor", "bias: new", tensors={
        "bias": entry("F32", [1], [ONE])})
    check.expect("loss", "resnet18/log.jsonl: step 1: was", loss=1.25)
    check.compare(check.work / "element", check.before, "and in other order",
                  "1 differences", 1)
    empty = check.work / "empty"
    empty.mkdir()
    check.compare(empty, check.before, "one side empty", "not recorded in", 1)
    check.compare(empty, empty, "both empty", "nothing is recorded here", 1)


if __name__ == "__main__":
    main()
