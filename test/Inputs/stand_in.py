"""The common parts of scripts that stand in for hftac in tests: they run hftac for its code
and link programs themselves. Needs only Python's standard library."""

import pathlib
import subprocess
import sys

INPUTS = pathlib.Path(__file__).resolve().parent
INCLUDE = INPUTS.parents[1] / "runtime" / "include"
MAIN = INPUTS / "program_main.c"


def run(*command):
    code = subprocess.run([str(part) for part in command], check=False).returncode
    if code:
        sys.exit(code)


def take_program(hftac, arguments):
    """Returns the path of the program that `-o` names, and removes both from hftac's
    arguments. If the arguments ask for no program, runs hftac with them and ends this
    process."""
    if "-o" not in arguments or any(part.startswith("--emit") for part in arguments):
        run(hftac, *arguments)
        sys.exit()
    at = arguments.index("-o")
    program = pathlib.Path(arguments[at + 1])
    del arguments[at:at + 2]
    return program
