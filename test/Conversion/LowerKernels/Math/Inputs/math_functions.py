#!/usr/bin/env python3
"""Prints a kernel for each function that math_functions.c or math_functions_f64.c checks,
or, given the lowered module, how many work items each kernel has.

    math_functions.py kernels f32|f64    MLIR on stdout
    math_functions.py items < lowered    -DITEMS_name=N options on stdout"""

import re
import sys

FUNCTIONS = {"f32": "exp log log1p tanh erf sigmoid rsqrt sqrt sin cos asin acos atan "
                    "remainder pow",
             "f64": "exp log log1p tanh erf sin cos asin acos atan remainder pow"}
BINARY = ("pow", "remainder")

if sys.argv[1] == "kernels":
    tensor = f"tensor<65536x{sys.argv[2]}>"
    for name in FUNCTIONS[sys.argv[2]].split():
        operands = ["%x", "%y"] if name in BINARY else ["%x"]
        arguments = ", ".join(f"{operand}: {tensor}" for operand in operands)
        types = ", ".join([tensor] * len(operands))
        print(f"""func.func private @f_{name}({arguments}) -> {tensor}
    attributes {{hfta.kernel, hfta.ties = array<i64: -1>}} {{
  %0 = hfta.{name} {', '.join(operands)} : {types}
  return %0 : {tensor}
}}""")
else:
    pattern = r"@f_(\w+)\(.*hfta\.items = (\d+)"
    print(" ".join(f"-DITEMS_{name}={items}"
                   for name, items in re.findall(pattern, sys.stdin.read())))
