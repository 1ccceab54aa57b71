#!/usr/bin/env python3
"""Writes a kernel for each function that math_functions.c checks, and the numbers of
their work items from the lowered module.

    math_functions.py kernels            MLIR on stdout
    math_functions.py items < lowered    -DITEMS_name=N options on stdout"""

import re
import sys

FUNCTIONS = "exp log log1p tanh erf sigmoid rsqrt sqrt sin cos".split()

if sys.argv[1] == "kernels":
    for name in FUNCTIONS:
        print(f"""func.func private @f_{name}(%x: tensor<65536xf32>) -> tensor<65536xf32>
    attributes {{hfta.kernel, hfta.ties = array<i64: -1>}} {{
  %0 = hfta.{name} %x : tensor<65536xf32>
  return %0 : tensor<65536xf32>
}}""")
else:
    pattern = r"@f_(\w+)\(.*hfta\.items = (\d+)"
    print(" ".join(f"-DITEMS_{name}={items}"
                   for name, items in re.findall(pattern, sys.stdin.read())))
