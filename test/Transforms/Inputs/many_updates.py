"""Prints a task of COUNT independent updates of variables, each a chain of OPS ops:

    many_updates.py COUNT OPS"""

import sys

TYPE = "tensor<8xf32>"
count, ops = int(sys.argv[1]), int(sys.argv[2])

print("module {")
for number in range(count):
    print(f"  hfta.variable @p{number} {{role = #hfta.role<parameter>}} : {TYPE}")
print('  func.func @"task/update"() attributes {hfta.task = #hfta.task<update, 0>} {')
for number in range(count):
    print(f"    %u{number}_0 = hfta.read @p{number} : {TYPE}")
    for op in range(ops):
        print(f"    %u{number}_{op + 1} = hfta.tanh %u{number}_{op} : {TYPE}")
    print(f"    hfta.write %u{number}_{ops}, @p{number} : {TYPE}")
print("    return\n  }\n}")
