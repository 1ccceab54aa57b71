"""Plans of how replicas share K-FAC's work, as modules have them. Needs only Python's
standard library."""

import re

from harness import expect_equal, fail, run

PLAN = re.compile(r"hfta\.kfac_plan = (\[\{.*?\}\]|\{[^}]*\})")


def find_plan(text):
    """The plan that a module has, or its stages', as text."""
    found = PLAN.search(text)
    if not found:
        fail("the module has no plan of K-FAC")
    return found.group(1)


def get_numbers(plan, name):
    return [int(number) for number in
            re.search(rf"\b{name} = array<i64: ([^>]*)>", plan).group(1).split(",")]


def force_owners(plan):
    """The same, but each factor has another owner than the one before it."""
    def force(found):
        one = found.group(0)
        rows, columns = get_numbers(one, "grid")
        owners = [number % rows * columns + column
                  for number, column in enumerate(get_numbers(one, "columns"))]
        return re.sub(r"\bowners = array<i64: [^>]*>",
                      f"owners = array<i64: {', '.join(map(str, owners))}>", one)
    return re.sub(r"\{[^}]*\}", force, plan)


def compile_forced(hftac, job, binary, *flags):
    """A job's program, each of whose factors has an owner of its own."""
    plan = force_owners(find_plan(run(hftac, job, "--emit=train", "-o", "-", *flags)))
    fused = run(hftac, job, "--emit=fused", "-o", "-", *flags)
    begin = re.compile(r"^module .*?attributes \{", re.M)
    expect_equal(len(begin.findall(fused)), 1, "modules with attributes")
    module = binary.with_suffix(".mlir")
    module.write_text(begin.sub(
        lambda found: f"{found.group(0)}hfta.kfac_plan = {plan}, ", fused))
    run(hftac, module, "-o", binary)
    return binary
