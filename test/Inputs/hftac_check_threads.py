#!/usr/bin/env python3
"""Stands in for hftac and links programs that report data races, in the runtime and in
generated code.

    hftac_check_threads.py [hftac's options] <input>... -o PROGRAM

For scripts/check-threads, which names the tools in the environment: HFTAC, OPT, CLANG
and RUNTIME, an archive built with -fsanitize=thread.
"""

import os
import sys

from stand_in import INCLUDE, MAIN, run, take_program

# ThreadSanitizer instruments only scalar loads and stores, so vector ones are split first.
PASSES = ("forceattrs,function(scalarize-masked-mem-intrin,scalarizer<load-store>,tsan),"
          "tsan-module")


def main():
    arguments = sys.argv[1:]
    hftac, opt, clang, runtime = (
        os.environ[name] for name in ("HFTAC", "OPT", "CLANG", "RUNTIME"))
    program = take_program(hftac, arguments)
    code, checked, kernels = (program.with_name(program.name + ending)
                              for ending in (".ll", ".checked.bc", ".o"))
    run(hftac, *arguments, "--emit=llvm-ir", "-o", code)
    run(opt, "-force-attribute=sanitize_thread", f"-passes={PASSES}", code, "-o", checked)
    run(clang, "-O0", "-march=native", "-c", checked, "-o", kernels,
        "-Wno-override-module")
    run(clang, "-fsanitize=thread", "-fuse-ld=lld", MAIN, "-I", INCLUDE, kernels,
        runtime, "-lm", "-lpthread", "-ldl", "-o", program)


if __name__ == "__main__":
    main()
