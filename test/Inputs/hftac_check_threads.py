#!/usr/bin/env python3
"""hftac whose programs report data races, in the runtime and in generated code.

    hftac_check_threads.py [hftac's options] <input>... -o PROGRAM

For scripts/check-threads, which names the tools in the environment: HFTAC, OPT, CLANG
and RUNTIME, an archive built with -fsanitize=thread.
"""

import os
import pathlib
import subprocess
import sys

# The sanitizer instruments scalars alone.
PASSES = ("forceattrs,function(scalarize-masked-mem-intrin,scalarizer<load-store>,tsan),"
          "tsan-module")
INPUTS = pathlib.Path(__file__).resolve().parent
INCLUDE = INPUTS.parents[1] / "runtime" / "include"


def run(*command):
    code = subprocess.run([str(part) for part in command], check=False).returncode
    if code:
        sys.exit(code)


def main():
    arguments = sys.argv[1:]
    hftac, opt, clang, runtime = (
        os.environ[name] for name in ("HFTAC", "OPT", "CLANG", "RUNTIME"))
    if "-o" not in arguments or any(part.startswith("--emit") for part in arguments):
        run(hftac, *arguments)
        return
    at = arguments.index("-o")
    program = pathlib.Path(arguments[at + 1])
    del arguments[at:at + 2]
    code, checked, kernels = (program.with_name(program.name + ending)
                              for ending in (".ll", ".checked.bc", ".o"))
    run(hftac, *arguments, "--emit=llvm-ir", "-o", code)
    run(opt, "-force-attribute=sanitize_thread", f"-passes={PASSES}", code, "-o", checked)
    run(clang, "-O0", "-march=native", "-c", checked, "-o", kernels,
        "-Wno-override-module")
    run(clang, "-fsanitize=thread", "-fuse-ld=lld", INPUTS / "program_main.c", "-I", INCLUDE, kernels,
        runtime, "-lm", "-lpthread", "-ldl", "-o", program)


if __name__ == "__main__":
    main()
