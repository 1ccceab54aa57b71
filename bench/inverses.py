#!/usr/bin/env python3
"""Compares hfta.spd_inverse with a loop of LAPACK's potrf and potri.

    bench/inverses.py [--rounds 7] [--threads 2] [--cpu native] [--copies 1]

Inverts 256 matrices of 16 to 256 rows and eight of 512 to 2304, in f32. Prints flops per
second (counted as n³ for a matrix of n rows), and the speed relative to OpenBLAS on as
many threads: the better of threads that each invert other matrices, and of OpenBLAS' own
threads on one matrix after another. `--copies` divides the matrices among copies. Needs the
Debian package libopenblas-dev. Exits with 1 if a number is wrong, or if the goals of
--goals aren't met: a geometric mean of 3 over 16 to 256 rows, each of these at least 1.5,
and 1.0 for larger ones; with 3 if something is missing."""

import argparse
import pathlib
import sys

from needs import CXX, need_file, need_headers, run

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "bench" / "inverses"
sys.path.insert(0, str(ROOT / "bench" / "kernels"))

import cases  # noqa: E402  (found by the path above)

SMALL = [16, 32, 64, 128, 256]
LARGE = [512, 1024, 2304]


def write_module(sizes, copies):
    """Returns a module with one task for each pair (rows, matrices) in `sizes`: forward.0,
    forward.1, ... Their variables are named ROWS/factor, ROWS/damping, ..."""
    text = cases.make_job(copies) + 'module attributes {hfta.job = #job, hfta.phase = "train"} {\n'
    tasks = ""
    for index, (rows, count) in enumerate(sizes):
        batch = count // copies
        encoding = f", #hfta.copies<{copies}>" if copies > 1 else ""
        packed = f"tensor<{batch}x{rows * (rows + 1) // 2}xf32{encoding}>"
        vector = f"tensor<{batch}xf32{encoding}>"
        tries = f"tensor<{batch}xi32{encoding}>"
        for name, type, role in [("factor", packed, "parameter"),
                                 ("damping", vector, "parameter"),
                                 ("old", packed, "parameter"),
                                 ("inverse", packed, "output"),
                                 ("tries", tries, "output")]:
            text += f'hfta.variable @"{rows}/{name}" {{role = #hfta.role<{role}>}} : {type}\n'
        tasks += f"""
func.func @"task/forward.{index}"() attributes {{hfta.task = #hfta.task<forward, {index}>}} {{
  %f = hfta.read @"{rows}/factor" : {packed}
  %d = hfta.read @"{rows}/damping" : {vector}
  %o = hfta.read @"{rows}/old" : {packed}
  %inverse, %tries = hfta.spd_inverse %f, %d, %o : {packed}, {vector}, {packed}
  hfta.write %inverse, @"{rows}/inverse" : {packed}
  hfta.write %tries, @"{rows}/tries" : {tries}
  return
}}
"""
    return text + tasks + "}\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--cpu", default="native")
    parser.add_argument("--only", type=int, nargs="*", help="matrices of these rows")
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    sizes = [(rows, 256) for rows in SMALL] + [(rows, 8) for rows in LARGE]
    if options.only:
        sizes = [(rows, 256 if rows <= 256 else 8) for rows in options.only]
    need_file(options.build / "bin/hftac")
    need_file(options.build / "lib/libhfta_runtime.a")
    need_headers("cblas.h")
    folder = options.build / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    module = folder / "inverses.mlir"
    module.write_text(write_module(sizes, options.copies))
    table = "".join(f"{{{rows}, {count}}},\n" for rows, count in sizes)
    (folder / "sizes.inc").write_text(table)
    run(options.build / "bin/hftac", module, "--emit=obj", "-o", folder / "inverses.o",
        f"--cpu={options.cpu}")
    run(CXX, "-O2", "-std=c++17", "-I", folder, "-I", ROOT / "runtime/include",
        "-I", ROOT / "bench/kernels", *sorted(SOURCE.glob("*.cpp")),
        folder / "inverses.o", options.build / "lib/libhfta_runtime.a",
        "-lopenblas", "-lpthread", "-ldl", "-lm", "-o", folder / "inverses")
    run(folder / "inverses", options.rounds, options.threads, int(options.goals))


if __name__ == "__main__":
    main()
