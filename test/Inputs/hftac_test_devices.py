#!/usr/bin/env python3
"""hftac whose programs have the devices of TestDevices.c, too.

    HFTAC=... CC=... hftac_test_devices.py [hftac's options] <input>... -o PROGRAM
"""

import os
import pathlib
import subprocess
import sys

INPUTS = pathlib.Path(__file__).resolve().parent
INCLUDE = INPUTS.parents[1] / "runtime" / "include"


def run(*command):
    code = subprocess.run([str(part) for part in command], check=False).returncode
    if code:
        sys.exit(code)


def main():
    arguments = sys.argv[1:]
    hftac = pathlib.Path(os.environ["HFTAC"])
    if any(part.startswith("--emit") for part in arguments):
        run(hftac, *arguments)
        return
    at = arguments.index("-o")
    program = pathlib.Path(arguments[at + 1])
    kernels = program.with_name(program.name + ".o")
    arguments[at + 1] = str(kernels)
    run(hftac, *arguments, "--emit=obj")
    run(*os.environ["CC"].split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
        "-I", INCLUDE, INPUTS / "program_main.c", INPUTS / "TestDevices.c", kernels,
        hftac.parents[1] / "lib" / "libhfta_runtime.a",
        "-lm", "-lpthread", "-ldl", "-o", program)


if __name__ == "__main__":
    main()
