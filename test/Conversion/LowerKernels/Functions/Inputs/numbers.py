#!/usr/bin/env python3
"""Lowers kernels for processors with wide, narrow and no vectors, and runs their
work items in several orders. All results must have equal bytes, and be close to
those of naive loops in Python. Needs only Python's standard library.
"""

import argparse
import array
import ctypes
import itertools
import math
import pathlib
import random
import re
import subprocess
import sys

CODES = {"f32": "f", "f64": "d", "i32": "i"}
CPUS = ("x86-64-v4", "x86-64-v3", "x86-64")
# The size of the last-level cache that kernels are lowered for. Results of at least three
# quarters of it are written with non-temporal stores.
LAST_CACHE_BYTES = 1 << 20


def tensor(shape, kind):
    return "tensor<" + "".join(f"{size}x" for size in shape) + kind + ">"


class Kernel:
    """A kernel: the MLIR text `body` computes %r0, %r1, … from %a0, %a1, …, and `reference`
    returns the expected results for lists of the inputs' elements. `ties` has for each
    result the argument that it overwrites, or -1."""

    def __init__(self, name, kind, arguments, results, body, reference, ties=None):
        self.name, self.kind = name, kind
        self.arguments, self.results = arguments, results
        self.body, self.reference = body, reference
        self.ties = ties or [-1] * len(results)

    def text(self):
        arguments = ", ".join(
            f"%a{i}: {tensor(shape, self.kind)}" for i, shape in enumerate(self.arguments))
        types = ", ".join(tensor(shape, kind) for shape, kind in self.results)
        values = ", ".join(f"%r{i}" for i in range(len(self.results)))
        ties = ", ".join(map(str, self.ties))
        return (f"func.func private @{self.name}({arguments}) -> ({types}) attributes "
                f"{{hfta.kernel, hfta.ties = array<i64: {ties}>}} {{\n"
                f"{self.body}\n  return {values} : {types}\n}}\n")


def cells(shape):
    return itertools.product(*map(range, shape))


def flat(shape, index):
    position = 0
    for size, i in zip(shape, index):
        position = position * size + i
    return position


def contract(name, kind, m, k, n, layout):
    left = (m, k) if layout[0] == "n" else (k, m)
    right = (k, n) if layout[1] == "n" else (n, k)
    maps = [f"affine_map<(m, n, k) -> ({'m, k' if layout[0] == 'n' else 'k, m'})>",
            f"affine_map<(m, n, k) -> ({'k, n' if layout[1] == 'n' else 'n, k'})>",
            "affine_map<(m, n, k) -> (m, n)>"]

    def reference(x, w):
        def at(values, shape, turned, i, j):
            return values[flat(shape, (j, i) if turned else (i, j))]
        return [[sum(at(x, left, layout[0] == "t", i, c) * at(w, right, layout[1] == "t", c, j)
                     for c in range(k)) for i, j in cells((m, n))]]

    body = (f"  %r0 = hfta.contract %a0, %a1 maps [{', '.join(maps)}] : "
            f"{tensor(left, kind)}, {tensor(right, kind)}")
    return Kernel(name, kind, [left, right], [((m, n), kind)], body, reference)


def window_attributes(stride, padding):
    return (f"strides = array<i64: {stride}, {stride}>, dilations = array<i64: 1, 1>, "
            f"padding = array<i64: {', '.join([str(padding)] * 4)}>")


def convolution_taps(x, w, y, stride, padding):
    """Yields for each product of a convolution the positions of its input, weight and
    output element. Products with padding are left out."""
    for n, m, i, j in cells(y):
        for c, k, l in cells(w[1:]):
            row, column = i * stride + k - padding, j * stride + l - padding
            if 0 <= row < x[2] and 0 <= column < x[3]:
                yield (flat(x, (n, c, row, column)), flat(w, (m, c, k, l)),
                       flat(y, (n, m, i, j)))


def convolution(kind, batch, inputs, outputs, size, kernel, stride, padding):
    out = (size + 2 * padding - kernel) // stride + 1
    x, w = (batch, inputs, size, size), (outputs, inputs, kernel, kernel)
    y = (batch, outputs, out, out)
    attributes = window_attributes(stride, padding) + ", groups = 1 : i64"

    def adding(first, second, target, shape):
        def reference(*values):
            sums = [0.0] * math.prod(shape)
            for taps in convolution_taps(x, w, y, stride, padding):
                sums[taps[target]] += values[0][taps[first]] * values[1][taps[second]]
            return [sums]
        return reference

    def dims(shape):
        return "array<i64: " + ", ".join(map(str, shape)) + ">"

    suffix = f"_{inputs}_{outputs}_{size}_{kernel}_{stride}"
    yield Kernel("conv" + suffix, kind, [x, w], [(y, kind)],
                 f"  %r0 = hfta.conv %a0, %a1 {{{attributes}}} : "
                 f"{tensor(x, kind)}, {tensor(w, kind)}", adding(0, 1, 2, y))
    yield Kernel("conv_input_gradient" + suffix, kind, [y, w], [(x, kind)],
                 f"  %r0 = hfta.conv_input_gradient %a0, %a1 {{{attributes}, input_shape = "
                 f"{dims(x)}}} : {tensor(y, kind)}, {tensor(w, kind)}", adding(2, 1, 0, x))
    yield Kernel("conv_weight_gradient" + suffix, kind, [x, y], [(w, kind)],
                 f"  %r0 = hfta.conv_weight_gradient %a0, %a1 {{{attributes}, weight_shape = "
                 f"{dims(w)}}} : {tensor(x, kind)}, {tensor(y, kind)}", adding(0, 2, 1, w))


def max_pool(kind, shape):
    out = shape[:2] + (shape[2] // 2, shape[3] // 2)

    def reference(x):
        values, places = [], []
        for n, c, i, j in cells(out):
            taps = [(x[flat(shape, (n, c, 2 * i + k, 2 * j + l))],
                     -((2 * i + k) * shape[3] + 2 * j + l)) for k, l in cells((2, 2))]
            values.append(max(taps)[0])
            places.append(-max(taps)[1])
        return [values, places]

    body = (f"  %r0, %r1 = hfta.max_pool %a0 {{kernel = array<i64: 2, 2>, "
            f"{window_attributes(2, 0)}}} : {tensor(shape, kind)}")
    return Kernel("max_pool", kind, [shape], [(out, kind), (out, "i32")], body, reference)


def momentum(name, kind, shape, ties):
    full = tensor(shape, kind)
    body = f"""  %c = hfta.constant dense<0.5> : {full}
  %old = hfta.mul %a1, %c : {full}, {full}
  %r1 = hfta.add %old, %a2 : {full}, {full}
  %r0 = hfta.sub %a0, %r1 : {full}, {full}"""

    def reference(weight, velocity, gradient):
        moved = [0.5 * v + g for v, g in zip(velocity, gradient)]
        return [[w - v for w, v in zip(weight, moved)], moved]

    return Kernel(name, kind, [shape] * 3, [(shape, kind)] * 2, body, reference, ties)


def exponential_sum(name, kind, shape, axis):
    rest = shape[:axis] + shape[axis + 1:]
    body = (f"  %e = hfta.exp %a0 : {tensor(shape, kind)}\n"
            f"  %r0 = hfta.reduce sum %e over [{axis}] : {tensor(shape, kind)}")

    def reference(x):
        sums = [0.0] * math.prod(rest)
        for index in cells(shape):
            kept = index[:axis] + index[axis + 1:]
            sums[flat(rest, kept)] += math.exp(x[flat(shape, index)])
        return [sums]

    return Kernel(name, kind, [shape], [(rest, kind)], body, reference)


def bias_relu(name, kind, shape, ties):
    full = tensor(shape, kind)
    sizes = ", ".join(map(str, shape))
    body = f"""  %b = hfta.broadcast %a1 to [{sizes}] along [1] : {tensor(shape[1:2], kind)}
  %s = hfta.add %a0, %b : {full}, {full}
  %r0 = hfta.relu %s : {full}"""

    def reference(x, bias):
        return [[max(x[flat(shape, index)] + bias[index[1]], 0.0) for index in cells(shape)]]

    return Kernel(name, kind, [shape, shape[1:2]], [(shape, kind)], body, reference, ties)


def make_kernels():
    yield contract("nn", "f32", 64, 49, 37, "nn")
    yield contract("nt", "f32", 48, 64, 40, "nt")
    yield contract("tn", "f64", 37, 29, 53, "tn")
    yield contract("row", "f64", 1, 17, 3, "nn")
    yield contract("far_rows", "f32", 64, 80, 300, "nn")
    yield contract("long_sums", "f32", 16, 5000, 48, "tn")
    yield from convolution("f32", 4, 3, 16, 9, 3, 1, 1)
    yield from convolution("f64", 2, 5, 3, 8, 3, 2, 1)
    yield from convolution("f32", 3, 1, 7, 10, 5, 1, 2)
    # Windows with most taps on padding, and strides for which some input positions have no
    # tap.
    for size, kernel, stride, padding in (
            (1, 3, 1, 1), (2, 3, 1, 1), (4, 3, 1, 1), (7, 3, 1, 1), (3, 5, 1, 2), (1, 4, 2, 2),
            (4, 3, 2, 1), (2, 1, 2, 0), (6, 2, 3, 0), (4, 1, 3, 0)):
        yield from convolution("f32", 2, 9, 18, size, kernel, stride, padding)
    yield max_pool("f32", (6, 5, 14, 10))
    yield momentum("update", "f32", (37, 53), None)
    yield momentum("update_in_place", "f32", (300, 301), [0, 1])
    yield exponential_sum("rows", "f32", (37, 53), 1)
    yield exponential_sum("long_rows", "f32", (19, 1003), 1)
    # Large enough for non-temporal stores.
    yield bias_relu("stream", "f32", (8, 48, 17, 31), None)
    yield exponential_sum("columns", "f64", (37, 53), 0)
    yield bias_relu("bias_relu", "f32", (8, 6, 7, 7), [0])


def run(*command, stdin=None):
    result = subprocess.run([str(part) for part in command], input=stdin,
                            stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return result.stdout


class Library:
    """A shared library of the kernels, lowered for one processor."""

    def __init__(self, options, source, cpu):
        base = options.work / f"kernels-{cpu}"
        lowered = run(options.hfta_opt, source, "-convert-hfta-to-linalg",
                      f"-hfta-set-target=options=cpu={cpu} "
                      f"last-cache-bytes={LAST_CACHE_BYTES}",
                      "-hfta-lower-kernels")
        ir = run(options.mlir_translate, "--mlir-to-llvmir",
                 "--allow-unregistered-dialect", stdin=lowered)
        run(options.llc, "-O2", "-filetype=obj", "-relocation-model=pic", "-o",
            f"{base}.o", stdin=ir)
        run(*options.cc.split(), "-shared", f"{base}.o", "-lm", "-o", f"{base}.so")
        self.library = ctypes.CDLL(f"{base}.so")
        pattern = (r"llvm\.func internal @(\w+)\(.*hfta\.items = (\d+).*"
                   r"hfta\.scratch_bytes = (\d+)")
        self.kernels = {name: (int(items), int(scratch))
                        for name, items, scratch in re.findall(pattern, lowered)}

    def call(self, kernel, inputs, order):
        items, scratch_bytes = self.kernels[kernel.name]
        inputs = [array.array(values.typecode, values) for values in inputs]
        results, buffers = [], list(inputs)
        for tie, (shape, kind) in zip(kernel.ties, kernel.results):
            if tie >= 0:
                results.append(inputs[tie])
                continue
            results.append(array.array(CODES[kind], [99] * math.prod(shape)))
            buffers.append(results[-1])
        pointers = (ctypes.c_void_p * len(buffers))(
            *(buffer.buffer_info()[0] for buffer in buffers))
        scratch = ctypes.create_string_buffer(b"\xab" * (scratch_bytes + 64))
        aligned = (ctypes.addressof(scratch) + 63) // 64 * 64
        entry = getattr(self.library, kernel.name + "/entry")
        for item in order(range(items)):
            entry(pointers, ctypes.c_int64(item), ctypes.c_void_p(aligned))
        return results


def is_near(kind, value, expected):
    tolerance = {"f32": 1e-4, "f64": 1e-11, "i32": 0}[kind]
    return abs(value - expected) <= tolerance * max(1, abs(expected))


def check(kernel, libraries, generator):
    inputs = [array.array(CODES[kernel.kind],
                          [generator.uniform(-1, 1) for _ in range(math.prod(shape))])
              for shape in kernel.arguments]
    first, *others = (
        library.call(kernel, inputs, order)
        for library in libraries
        for order in (list, lambda items: generator.sample(list(items), len(items))))
    if any(result.tobytes() != one.tobytes()
           for other in others for result, one in zip(other, first, strict=True)):
        sys.exit(f"{kernel.name}: results depend on vectors or on the items' order")
    for (shape, kind), values, expected in zip(kernel.results, first,
                                               kernel.reference(*inputs)):
        for value, wanted in zip(values, expected, strict=True):
            if not is_near(kind, value, wanted):
                sys.exit(f"{kernel.name}: got {value}, expected {wanted}")
    print(kernel.name, "items", libraries[0].kernels[kernel.name][0])


def main():
    parser = argparse.ArgumentParser()
    for tool in ("--hfta-opt", "--mlir-translate", "--llc", "--cc"):
        parser.add_argument(tool, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    kernels = list(make_kernels())
    source = options.work / "kernels.mlir"
    source.write_text("".join(kernel.text() for kernel in kernels))
    libraries = [Library(options, source, cpu) for cpu in CPUS]
    generator = random.Random(1)
    for kernel in kernels:
        check(kernel, libraries, generator)


if __name__ == "__main__":
    main()
