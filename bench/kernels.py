#!/usr/bin/env python3
"""Compares generated kernels with oneDNN, libxsmm and OpenBLAS.

    bench/kernels.py [--rounds 20] [--threads 1] [--cpu native] [--only TEXT]

Compiles all cases of bench/kernels/cases.py with hftac and checks their numbers. Prints
for each case its fraction of the multiply-add peak that was measured in the same run (for
a memory-bound case: of the bandwidth of a hand-written loop with as many reads and
writes), and the speed relative to the peers ("1.10x": we are 1.1 times as fast) or to
another one of our kernels. Needs the Debian packages libdnnl-dev, libxsmm-dev and
libopenblas-dev, and a processor with AVX and FMA, which the loops use that measure the
peak and the bandwidth. Exits with 1 if a number is wrong, and with 3 if something is
missing."""

import argparse
import pathlib
import sys

from needs import CXX, need_file, need_headers, run

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "bench" / "kernels"
sys.path.insert(0, str(SOURCE))

import cases  # noqa: E402  (found by the path above)


def build(options, folder, chosen):
    folder.mkdir(parents=True, exist_ok=True)
    module = folder / "kernels.mlir"
    module.write_text(cases.make_module(chosen))
    (folder / "cases.inc").write_text(cases.make_table(chosen))
    run(options.hftac, module, "--emit=obj", "-o", folder / "kernels.o",
        f"--cpu={options.cpu}")
    # The driver is compiled without -m flags: it checks the processor's features at run
    # time before it uses them.
    run(CXX, "-O2", "-std=c++17", "-I", folder, "-I", ROOT / "runtime/include", "-I", SOURCE,
        *sorted(SOURCE.glob("*.cpp")), folder / "kernels.o",
        options.build / "lib/libhfta_runtime.a", "-ldnnl", "-lxsmm",
        "-lopenblas", "-lgomp", "-lpthread", "-ldl", "-lm", "-o", folder / "kernels")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--hftac", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpu", default="native")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="cases whose name holds TEXT")
    options = parser.parse_args()
    options.hftac = options.hftac or options.build / "bin/hftac"
    known = cases.make_cases()
    chosen = [case for case in known if options.only in case.name]
    beside = {case.beside for case in chosen}
    # Activations must be written before a gradient reads them: those of one copy, and
    # those of several.
    beside |= {next(writer.name for writer in known
                    if "r" in writer.activations and writer.copies == case.copies)
               for case in chosen if case.activations}
    chosen = [case for case in known if case in chosen or case.name in beside]
    need_file(options.hftac)
    need_file(options.build / "lib/libhfta_runtime.a")
    need_headers("dnnl.hpp", "libxsmm.h", "cblas.h")
    folder = options.build / "bench"
    build(options, folder, chosen)
    run(folder / "kernels", options.rounds, options.threads)


if __name__ == "__main__":
    main()
