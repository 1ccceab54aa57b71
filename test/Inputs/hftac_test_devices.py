#!/usr/bin/env python3
"""Stands in for hftac and links programs that also have the devices of TestDevices.c.

    HFTAC=... CC=... hftac_test_devices.py [hftac's options] <input>... -o PROGRAM
"""

import os
import pathlib
import sys

from stand_in import INCLUDE, INPUTS, MAIN, run, take_program


def main():
    arguments = sys.argv[1:]
    hftac = pathlib.Path(os.environ["HFTAC"])
    program = take_program(hftac, arguments)
    kernels = program.with_name(program.name + ".o")
    run(hftac, *arguments, "--emit=obj", "-o", kernels)
    run(*os.environ["CC"].split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
        "-I", INCLUDE, MAIN, INPUTS / "TestDevices.c", kernels,
        hftac.parents[1] / "lib" / "libhfta_runtime.a",
        "-lm", "-lpthread", "-ldl", "-o", program)


if __name__ == "__main__":
    main()
