"""The parts that stand-ins for hftac share, which link its code themselves. Needs only
Python's standard library."""

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
    """Returns the program that `-o` names, and removes it from hftac's arguments. If they
    ask for no program, hftac is run unchanged, and this process ends with it."""
    if "-o" not in arguments or any(part.startswith("--emit") for part in arguments):
        run(hftac, *arguments)
        sys.exit()
    at = arguments.index("-o")
    program = pathlib.Path(arguments[at + 1])
    del arguments[at:at + 2]
    return program
