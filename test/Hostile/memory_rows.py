"""Rows with memory budgets that are wrong or too small, and of programs whose store can't
be used."""

import data_rows
import language_rows
from row import Row

# The budget of the program `spilling`, whose job needs 10 MiB without a budget.
BUDGET = "3MiB"
JOB = data_rows.GOOD["job.hfta"].replace("""concat(a, b, c), 8))
""", """concat(a, b, c), 300))
  second = relu(linear(hidden, 300))
  third = relu(linear(second, 300))
""").replace("linear(hidden, 3)", "linear(third, 3)")


def make_clause_rows():
    """Makes rows of clauses `memory`."""
    for name, clause, code, *words in (
            ("too small", "device = 1", 3, "no plan fits into 1 bytes of memory",
             "expected at least"),
            ("of nothing", "device = 0", 1, "'device' is out of range"),
            ("in other units", "device = 64MB", 1, "'64MB' is neither a number nor a name"),
            ("a copy", "device = [1MiB, 2MiB]", 1, "'device' is the same for all copies"),
            ("of any size", "spill = disk", 1, "'memory' needs 'device'"),
            ("beyond numbers", "device = 9223372036854775808", 1,
             "whole number out of range"),
            ("for no thread", "device = 1MiB, threads = 0", 1, "'threads' is out of range"),
            ("on a tape", "device = 1MiB, spill = tape", 1, "unknown spill 'tape'"),
            ("in a folder without a name", 'device = 1MiB, spill = disk("")', 1,
             "'folder' is empty"),
            ("in the host's memory", "device = 1MiB, spill = host", 3,
             "'spill = host' needs a device with memory of its own"),
            ("too small for stages", 'device = 1\n  pipeline cuts = ["hidden"]', 3,
             "no plan fits into 1 bytes of memory", "expected at least"),
            ("for stages in another order", "device = 1MiB\n  micro_batches 4\n"
             '  pipeline cuts = ["hidden"], order = zero_bubble', 3,
             "can't be planned with an order of several stages"),
            ("for stages of chunks", "device = 1MiB\n  micro_batches 4\n  pipeline "
             'cuts = ["hidden", "output", "loss"], chunks = 2, order = interleaved', 3,
             "can't be planned with an order of several stages, chunks"),
            ("for few micro-batches in flight", "device = 1MiB\n  micro_batches 4\n"
             '  pipeline cuts = ["hidden"], in_flight = [1, 1]', 3,
             "can't be planned with an order of several stages, chunks or 'in_flight'"),
            ("for K-FAC of several stages",
             'device = 1MiB\n  pipeline cuts = ["hidden"]\n  precondition kfac()', 3,
             "can't be planned with a preconditioner of several stages"),
            ("for K-FAC of several groups",
             "device = 1MiB\n  micro_batches 2, groups = 2\n  precondition kfac()", 3,
             "can't be planned with a preconditioner of several groups")):
        yield language_rows.change(f"a budget of memory {name}", "steps     3",
                     f"steps 3\n  memory {clause}", code, *words, place="job.hfta:")


def spilling(name, code, *texts, options, files=(), command="train"):
    """Makes a row of the compiled program `spilling`."""
    flags = ["--no-progress"] if command == "train" else []
    return Row(f"a program that spills: {name}",
               {**data_rows.OLD, **data_rows.DATA, **dict(files)},
               ["spilling", command, *flags, *options], (code,),
               ("spilling: error: ", *texts))


def make_program_rows():
    for value in ("0", "17", "-1", "two", ""):
        yield spilling(f"'{value}' threads that read and write", 2, "'--io-threads'",
                       f"'{value}' is not a whole number from 1 to 16",
                       options=["--io-threads", value])
    yield spilling("more threads than memory is planned for", 2, "'--threads'",
                   "at most 2, got 3", options=["--threads", "3"])
    for command in ("train", "bench"):
        yield spilling(f"to a folder that isn't there: {command}", 4, "'nowhere'",
                       "No such file", options=["--spill-dir", "nowhere"],
                       command=command)
    yield spilling("to a file", 4, "'b.npy'", "Not a directory",
                   options=["--spill-dir", "b.npy"])
    yield spilling("to a folder without a name", 2, "'--spill-dir'",
                   options=["--spill-dir", ""])
    yield spilling("to a folder of too long a name", 4, "too long",
                   options=["--spill-dir", "d" * 5000])
    yield spilling("to memory", 3, "'/dev/shm'", "memory itself",
                   options=["--spill-dir", "/dev/shm"])
    yield spilling("to /proc", 4, "'/proc'", options=["--spill-dir", "/proc"])
    for flag in ("--spill-dir", "--io-threads"):
        yield Row(f"a program that doesn't spill: {flag}",
                  {**data_rows.OLD, **data_rows.DATA},
                  ["sweep", "train", "--no-progress", flag, "1"], (2,),
                  ("sweep: error: ", f"unknown option '{flag}'"))


def make_rows(_):
    yield from make_clause_rows()
    yield from make_program_rows()
