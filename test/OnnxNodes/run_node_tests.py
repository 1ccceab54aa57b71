#!/usr/bin/env python3
"""Runs ONNX's node tests: compiles each model for inference, applies it to the
test's inputs and compares the outputs with the test's. Needs only Python's
standard library.

Tests of one node, with float or int64 tensors, of the operators in OPS are
taken. Those named in expected-failures.txt must fail, all others must pass."""

import argparse
import ast
import collections
import concurrent.futures
import math
import pathlib
import re
import shutil
import subprocess
import sys

import onnx_wire

OPS = """Conv Gemm MatMul Add Sub Mul Div Relu Sigmoid Tanh LeakyRelu Elu Exp
Log Sqrt Softmax LogSoftmax MaxPool AveragePool GlobalAveragePool Flatten
Reshape Transpose Concat BatchNormalization ReduceMean ReduceSum ReduceMax Clip
Erf Pow Neg Abs Squeeze Unsqueeze""".split()

# Operands that are bound at compile time, by position.
CONSTANT_OPERANDS = {"Reshape": [1], "Squeeze": [1], "Unsqueeze": [1],
                     "ReduceMean": [1], "ReduceSum": [1], "ReduceMax": [1]}

ABSOLUTE, RELATIVE = 1e-5, 1e-4
DESCRIPTIONS = {onnx_wire.FLOAT: "<f4", onnx_wire.INT64: "<i8",
                onnx_wire.DOUBLE: "<f8"}
EXPECTED_FAILURES = pathlib.Path(__file__).parent / "expected-failures.txt"


class Failure(Exception):
    pass


#===----------------------------------------------------------------------===#
# Arrays
#===----------------------------------------------------------------------===#


def write_npy(path, tensor):
    header = repr({"descr": DESCRIPTIONS[tensor.type], "fortran_order": False,
                   "shape": tensor.shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    numbers = tensor.numbers
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    path.write_bytes(b"\x93NUMPY\x01\x00" +
                     len(header).to_bytes(2, "little") + header.encode() +
                     numbers.tobytes())


def read_npy(path):
    if not path.exists():
        raise Failure(f"no output {path.name}")
    data = path.read_bytes()
    start = 10 if data[6] == 1 else 12
    end = start + int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:end].decode())
    types = {text: key for key, text in DESCRIPTIONS.items()}
    if header["descr"] not in types or header["fortran_order"]:
        raise Failure(f"{path.name} has type {header['descr']}")
    element_type = types[header["descr"]]
    numbers = onnx_wire.read_numbers(onnx_wire.TYPE_CODES[element_type],
                                     data[end:])
    return onnx_wire.Tensor(element_type, header["shape"], numbers)


def is_close(got, expected):
    if math.isnan(expected) or math.isinf(expected):
        return got == expected or (math.isnan(got) and math.isnan(expected))
    return abs(got - expected) <= ABSOLUTE + RELATIVE * abs(expected)


def compare(name, got, expected):
    if (got.type, got.shape) != (expected.type, expected.shape):
        raise Failure(f"{name}: expected {DESCRIPTIONS[expected.type]} of "
                      f"shape {expected.shape}, got {DESCRIPTIONS[got.type]} "
                      f"of shape {got.shape}")
    if len(got.numbers) != len(expected.numbers):
        raise Failure(f"{name}: expected {len(expected.numbers)} numbers, got "
                      f"{len(got.numbers)}")
    exact = expected.type == onnx_wire.INT64
    for index, (left, right) in enumerate(zip(got.numbers, expected.numbers)):
        if left != right if exact else not is_close(left, right):
            raise Failure(f"{name}: element {index} is {left!r}, expected "
                          f"{right!r}")


#===----------------------------------------------------------------------===#
# Tests
#===----------------------------------------------------------------------===#


class NodeTest:
    """A folder of the node tests; `op` is None if it isn't taken."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        self.op = None
        graph = onnx_wire.read_graph((folder / "model.onnx").read_bytes())
        if len(graph.nodes) != 1 or graph.initializers:
            return
        node = graph.nodes[0]
        if node.op not in OPS or node.domain not in ("", "ai.onnx"):
            return
        sets = sorted(folder.glob("test_data_set_*"))
        self.sets = [(self.read(data, "input", graph.inputs),
                      self.read(data, "output", graph.outputs))
                     for data in sets]
        if not self.sets or any(tensor is None for pair in self.sets
                                for part in pair for tensor in part.values()):
            return
        self.op = node.op
        places = CONSTANT_OPERANDS.get(node.op, [])
        self.constants = [node.inputs[place] for place in places
                          if place < len(node.inputs) and node.inputs[place]]

    @staticmethod
    def read(folder, kind, names):
        """Tensors by name; None in place of one of another element type."""
        return {name: onnx_wire.read_tensor(
                    (folder / f"{kind}_{index}.pb").read_bytes())
                for index, name in enumerate(names)}

    def run(self, hftac, work):
        """Raises a Failure."""
        for inputs, outputs in self.sets:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            compile_flags, run_flags = [], []
            for index, (name, tensor) in enumerate(inputs.items()):
                path = work / f"input-{index}.npy"
                write_npy(path, tensor)
                bound = name in self.constants
                (compile_flags if bound else run_flags).extend(
                    ["--constant" if bound else "--input", f"{name}={path}"])
            program = work / "program"
            execute([hftac, self.folder / "model.onnx", "-o", program,
                     *compile_flags])
            execute([program, "run", *run_flags, "--output", work / "out"])
            for name, expected in outputs.items():
                file = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII) + ".npy"
                compare(name, read_npy(work / "out" / file), expected)
        shutil.rmtree(work)


def execute(command):
    result = subprocess.run([str(part) for part in command],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=300, check=False)
    if result.returncode != 0:
        raise Failure(f"{pathlib.Path(command[0]).name} exits with "
                      f"{result.returncode}: {result.stdout.strip()}")


def run_test(test, hftac, work):
    """Nothing, or why the test fails."""
    try:
        test.run(hftac, work / test.name)
    except Failure as failure:
        return str(failure)
    except subprocess.TimeoutExpired:
        return "takes over 300 seconds"
    return None


#===----------------------------------------------------------------------===#
# All of them
#===----------------------------------------------------------------------===#


def read_expected_failures():
    """Reasons by test, from lines `test: reason`."""
    reasons = {}
    for line in EXPECTED_FAILURES.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(":")
            if not reason.strip():
                sys.exit(f"{EXPECTED_FAILURES.name}: '{name}' has no reason")
            reasons[name.strip()] = reason.strip()
    return reasons


def report(tests, failures, expected):
    """Prints the table, then what is wrong. Whether nothing is."""
    kinds = ("passed", "failed", "expected to fail")
    counts = collections.defaultdict(collections.Counter)
    wrong = []
    for test in tests:
        reason = failures[test.name]
        kind = kinds[0] if reason is None else kinds[1]
        if test.name in expected:
            kind = kinds[2] if reason is not None else kinds[1]
            if reason is None:
                reason = "passes, but is listed as an expected failure"
        counts[test.op][kind] += 1
        if kind == kinds[1]:
            wrong.append(f"{test.name}: {reason}")
    print(f"{'operator':<20}{kinds[0]:>8}{kinds[1]:>8}{kinds[2]:>18}")
    for op in [*sorted(counts), "all"]:
        row = sum(counts.values(), collections.Counter()) if op == "all" \
            else counts[op]
        print(f"{op:<20}{row[kinds[0]]:>8}{row[kinds[1]]:>8}{row[kinds[2]]:>18}")
    for line in wrong:
        print(line)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path,
                        help="folder of the node tests")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="",
                        help="run only tests whose name matches")
    arguments = parser.parse_args()
    tests = [NodeTest(path.parent)
             for path in sorted(arguments.data.glob("*/model.onnx"))
             if re.search(arguments.filter, path.parent.name)]
    tests = [test for test in tests if test.op]
    expected = read_expected_failures()
    if not arguments.filter:
        missing = set(OPS) - {test.op for test in tests}
        missing |= set(expected) - {test.name for test in tests}
        if missing:
            sys.exit(f"no test of {', '.join(sorted(missing))}")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        reasons = pool.map(
            lambda test: run_test(test, arguments.hftac, arguments.work), tests)
        failures = {test.name: reason for test, reason in zip(tests, reasons)}
    sys.exit(not report(tests, failures, expected))


if __name__ == "__main__":
    main()
