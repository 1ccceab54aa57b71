"""Reads and changes the plan, in a module's text, of how replicas share K-FAC's work. Needs
only Python's standard library."""

import re

from harness import expect_equal, fail, run

PLAN = re.compile(r"hfta\.kfac_plan = (\[\{.*?\}\]|\{[^}]*\})")


def find_plan(text):
    """Returns the text of a module's plan, or of the list of its stages' plans."""
    found = PLAN.search(text)
    if not found:
        fail("the module has no plan of K-FAC")
    return found.group(1)


def get_numbers(plan, name):
    return [int(number) for number in
            re.search(rf"\b{name} = array<i64: ([^>]*)>", plan).group(1).split(",")]


def deal_owners(plan):
    """Returns owners for a plan's factors, such that consecutive factors have different
    owners."""
    rows, columns = get_numbers(plan, "grid")
    return [number % rows * columns + column
            for number, column in enumerate(get_numbers(plan, "columns"))]


def join_buckets(plan):
    """Returns sizes of buckets: one bucket that sums all factors at once."""
    return [len(get_numbers(plan, "sizes"))]


def change_lists(plan, lists):
    """Returns the plan's text with some lists replaced, in each stage's plan. `lists` maps
    the name of a list to a function from a plan's text to the new list."""
    def change(found):
        one = found.group(0)
        for name, make in lists.items():
            numbers = ", ".join(map(str, make(one)))
            one = re.sub(rf"\b{name} = array<i64: [^>]*>",
                         f"{name} = array<i64: {numbers}>", one)
        return one
    return re.sub(r"\{[^}]*\}", change, plan)


def compile_forced(hftac, job, binary, *flags, **lists):
    """Compiles a job with lists of its plan replaced as in change_lists. By default,
    consecutive factors get different owners. Returns `binary`."""
    plan = change_lists(find_plan(run(hftac, job, "--emit=train", "-o", "-", *flags)),
                        lists or {"owners": deal_owners})
    fused = run(hftac, job, "--emit=fused", "-o", "-", *flags)
    begin = re.compile(r"^module .*?attributes \{", re.M)
    expect_equal(len(begin.findall(fused)), 1, "modules with attributes")
    module = binary.with_suffix(".mlir")
    module.write_text(begin.sub(
        lambda found: f"{found.group(0)}hfta.kfac_plan = {plan}, ", fused))
    run(hftac, module, "-o", binary)
    return binary
