#!/usr/bin/env python3
"""Stands in for hftac and links programs that also have the devices of TestDevices.c.

    HFTAC=... CC=... hftac_test_devices.py [hftac's options] <input>... -o PROGRAM
"""

import os
import pathlib
import sys

from stand_in import INCLUDE, INPUTS, MAIN, run, take_program


def allow_object(argument, program):
    """If the argument is a module for an executable, returns a copy that may become an object:
    the program that is linked here calls backward once in a step, as an executable does."""
    if not argument.endswith(".mlir"):
        return argument
    copy = program.with_name(program.name + ".object.mlir")
    text = pathlib.Path(argument).read_text()
    copy.write_text(text.replace(", hfta.stores_gradients", ""))
    return copy


def main():
    arguments = sys.argv[1:]
    hftac = pathlib.Path(os.environ["HFTAC"])
    program = take_program(hftac, arguments)
    kernels = program.with_name(program.name + ".o")
    arguments = [allow_object(argument, program) for argument in arguments]
    run(hftac, *arguments, "--emit=obj", "-o", kernels)
    run(*os.environ["CC"].split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
        "-I", INCLUDE, MAIN, INPUTS / "TestDevices.c", kernels,
        hftac.parents[1] / "lib" / "libhfta_runtime.a",
        "-lm", "-lpthread", "-ldl", "-o", program)


if __name__ == "__main__":
    main()
