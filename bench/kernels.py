#!/usr/bin/env python3
"""Compares generated kernels with oneDNN, libxsmm and OpenBLAS.

    bench/kernels.py [--rounds 20] [--threads 1] [--cpu native] [--only TEXT]

Compiles all cases of bench/kernels/cases.py with hftac and checks their numbers. Prints
for each case its fraction of the multiply-add peak that was measured in the same run (for
a memory-bound case: of the bandwidth of a hand-written loop with as many reads and
writes), and the speed relative to the peers ("1.10x": we are 1.1 times as fast) or to
another one of our kernels. Needs the Debian packages libdnnl-dev, libxsmm-dev and
libopenblas-dev. Exits with 1 if a number is wrong."""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "bench" / "kernels"
sys.path.insert(0, str(SOURCE))

import cases  # noqa: E402  (beside the driver)


def run(*command):
    if subprocess.run([str(part) for part in command]).returncode:
        sys.exit(1)


def build(options, folder, chosen):
    folder.mkdir(parents=True, exist_ok=True)
    module = folder / "kernels.mlir"
    module.write_text(cases.make_module(chosen))
    (folder / "cases.inc").write_text(cases.make_table(chosen))
    run(options.hftac, module, "--emit=obj", "-o", folder / "kernels.o",
        f"--cpu={options.cpu}")
    run("clang++-22", "-O2", "-std=c++17", "-mavx512f", "-mavx2", "-mfma",
        "-I", folder, "-I", ROOT / "runtime/include", "-I", SOURCE,
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
    chosen = [case for case in known if case in chosen or case.name in beside]
    folder = options.build / "bench"
    build(options, folder, chosen)
    has_wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    wide = has_wide and options.cpu != "x86-64-v3"
    run(folder / "kernels", options.rounds, options.threads, int(wide))


if __name__ == "__main__":
    main()
