#!/usr/bin/env python3
"""Lowers products and convolutions of many shapes and checks that each one's
innermost loops multiply and add vectors. Needs only Python's standard library."""

import argparse
import itertools
import re
import subprocess
import sys

MAPS = {"n": "{0}, {1}", "t": "{1}, {0}"}
PIPELINE = ("builtin.module(hfta-set-target{{options=cpu={cpu}}},func.func(convert-hfta-to-linalg,canonicalize,cse,"
            "hfta-fuse-elementwise,canonicalize,cse,hfta-distribute-kernels,"
            "canonicalize,cse),hfta-bufferize-kernels,func.func(canonicalize,cse,"
            "hfta-kernels-to-loops,canonicalize,cse))")


def tensor(*shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def kernel(name, left, right, result, op):
    return (f"func.func private @{name}(%a: {tensor(*left)}, %b: "
            f"{tensor(*right)}) -> {tensor(*result)} attributes {{hfta.kernel, "
            f"hfta.ties = array<i64: -1>}} {{\n  %r = {op} : {tensor(*left)}, "
            f"{tensor(*right)}\n  return %r : {tensor(*result)}\n}}\n")


def products():
    sizes = [(37, 100, 53), (64, 128, 784), (1, 64, 32), (64, 1, 32), (8, 8, 8),
             (128, 128, 128), (33, 17, 5), (2, 1000, 64), (100, 3, 20),
             (16, 48, 16), (256, 10, 84), (7, 7, 7), (32, 64, 1), (5, 31, 63),
             (512, 512, 512), (1024, 1000, 512), (20, 2, 300)]
    for (m, n, k), left, right in itertools.product(sizes, "nt", "nt"):
        maps = ", ".join(f"affine_map<(m, n, k) -> ({text})>" for text in (
            MAPS[left].format("m", "k"), MAPS[right].format("k", "n"), "m, n"))
        yield kernel(f"product_{left}{right}_{m}_{n}_{k}",
                     (m, k) if left == "n" else (k, m),
                     (k, n) if right == "n" else (n, k), (m, n),
                     f"hfta.contract %a, %b maps [{maps}]")


def convolutions():
    shapes = [(c, o, size, taps, stride, groups)
              for c, o, groups in [(1, 16, 1), (3, 8, 1), (16, 16, 1), (64, 64, 1),
                                   (5, 7, 1), (8, 8, 8), (32, 32, 4)]
              for size in (7, 14, 32) for taps, stride in [(1, 1), (3, 1), (3, 2),
                                                           (5, 1)]]
    for c, o, size, taps, stride, groups in shapes:
        padding = taps // 2
        out = (size + 2 * padding - taps) // stride + 1
        window = (f"strides = array<i64: {stride}, {stride}>, dilations = "
                  f"array<i64: 1, 1>, padding = array<i64: "
                  f"{', '.join([str(padding)] * 4)}>, groups = {groups} : i64")
        x, w = (2, c, size, size), (o, c // groups, taps, taps)
        y = (2, o, out, out)
        name = f"{c}_{o}_{size}_{taps}_{stride}_{groups}"

        def shape(key, sizes):
            return f"{key} = array<i64: {', '.join(map(str, sizes))}>"

        yield kernel(f"forward_{name}", x, w, y, f"hfta.conv %a, %b {{{window}}}")
        yield kernel(f"input_{name}", y, w, x,
                     f"hfta.conv_input_gradient %a, %b {{{window}, "
                     f"{shape('input_shape', x)}}}")
        yield kernel(f"weight_{name}", x, y, w,
                     f"hfta.conv_weight_gradient %a, %b {{{window}, "
                     f"{shape('weight_shape', w)}}}")


def get_innermost(lines):
    """Returns the bodies of loops that contain no loop, each as a list of lines."""
    stack, innermost = [], []
    for line in lines:
        if re.search(r"\bscf\.for\b", line):
            for loop in stack:
                loop["inner"] = False
            stack.append({"inner": True, "lines": [],
                          "indent": len(line) - len(line.lstrip())})
        elif stack and line.strip().startswith("}") and \
                len(line) - len(line.lstrip()) == stack[-1]["indent"]:
            loop = stack.pop()
            if loop["inner"]:
                innermost.append(loop["lines"])
        elif stack:
            stack[-1]["lines"].append(line)
    return innermost


def check(name, lines):
    """Returns a message if a kernel lacks a vector multiply-add in its innermost loops,
    else None."""
    loops = [loop for loop in get_innermost(lines)
             if any("math.fma" in line for line in loop)]
    everywhere = [line for line in lines if "math.fma" in line]
    if not everywhere:
        return f"{name}: no multiply-add"
    bodies = loops or [everywhere]
    if not any("vector<" in line for body in bodies for line in body
               if "math.fma" in line):
        return f"{name}: innermost loops have no vector multiply-add"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hfta-opt", required=True)
    options = parser.parse_args()
    kernels = [*products(), *convolutions()]
    for width, cpu in ((64, "x86-64-v4"), (32, "x86-64-v3")):
        result = subprocess.run(
            [options.hfta_opt, "--pass-pipeline=" + PIPELINE.format(cpu=cpu)],
            input="".join(kernels), text=True, capture_output=True)
        if result.returncode:
            sys.exit(result.stderr[:4000])
        functions = re.split(r"func\.func private @", result.stdout)[1:]
        wrong = []
        for text in functions:
            wrong.append(check(text[:text.index("(")], text.split("\n")))
        wrong = [message for message in wrong if message]
        print(f"{len(functions)} kernels, {width} bytes wide: {len(wrong)} without")
        print("\n".join(wrong))
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main()
