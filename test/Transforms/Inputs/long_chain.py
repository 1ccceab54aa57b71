"""Prints a task with a chain of COUNT ops, each of which reads the result of the op
before it:

    long_chain.py OP COUNT    OP is unary, or `add`, which adds the first value"""

import sys

TYPE = "tensor<8xf32>"
op, count = sys.argv[1], int(sys.argv[2])
is_binary = op == "add"

print(f"""module {{
  hfta.variable @x {{role = #hfta.role<input>}} : {TYPE}
  hfta.variable @y {{role = #hfta.role<output>}} : {TYPE}
  func.func @"task/infer"() attributes {{hfta.task = #hfta.task<infer, -1>}} {{
    %v0 = hfta.read @x : {TYPE}""")
for number in range(count):
    operands = f"%v{number}, %v0" if is_binary else f"%v{number}"
    types = f"{TYPE}, {TYPE}" if is_binary else TYPE
    print(f"    %v{number + 1} = hfta.{op} {operands} : {types}")
print(f"    hfta.write %v{count}, @y : {TYPE}")
print("    return\n  }\n}")
