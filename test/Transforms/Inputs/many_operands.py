"""Prints a task that adds up 120 variables, element by element."""

COUNT = 120
TYPE = "tensor<8xf32>"

print("module {")
for number in range(COUNT):
    print(f"  hfta.variable @v{number} {{role = #hfta.role<parameter>}} : {TYPE}")
print(f"  hfta.variable @sum {{role = #hfta.role<output>}} : {TYPE}")
print('  func.func @"task/update.0"() attributes '
      "{hfta.task = #hfta.task<update, 0>} {")
for number in range(COUNT):
    print(f"    %v{number} = hfta.read @v{number} : {TYPE}")
last = "%v0"
for number in range(1, COUNT):
    print(f"    %s{number} = hfta.add {last}, %v{number} : {TYPE}, {TYPE}")
    last = f"%s{number}"
print(f"    hfta.write {last}, @sum : {TYPE}")
print("    return\n  }\n}")
