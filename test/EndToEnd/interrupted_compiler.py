#!/usr/bin/env python3
"""Tests that hftac, ended by a signal while it waits for an assembler or a compiler,
leaves no file in the folder for temporary files, nor beside its output. Needs only Python's
standard library."""

import os
import pathlib
import signal
import subprocess
import time

from harness import Work, expect_equal, fail

JOB = pathlib.Path(__file__).parent.parent / "Driver" / "Inputs" / "tiny.hfta"
# A stand-in for such a program: it writes a part of its output, creates the file `began`,
# and sleeps.
SLEEPER = """#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && echo part > "$2"
  shift
done
echo began > {began}
exec sleep 60
"""


def wait_for(path, process):
    for _ in range(6000):
        if path.exists():
            return
        if process.poll() is not None:
            fail(f"hftac ended with {process.returncode}: {process.stdout.read()}")
        time.sleep(0.01)
    fail("hftac starts no program")


def interrupt(work, name, program, number, *options):
    """Runs hftac with the stand-in in place of `program`, waits until the stand-in sleeps,
    and sends the signal `number` to both. Checks that no files are left."""
    folder = work.folder.absolute() / name
    for part in ("bin", "tmp", "out"):
        (folder / part).mkdir(parents=True)
    began = folder / "began"
    sleeper = folder / "bin" / program
    sleeper.write_text(SLEEPER.format(began=began))
    sleeper.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"),
                   "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        [work.hftac, *options], cwd=folder / "out",
        env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    wait_for(began, process)
    if not list((folder / "tmp").iterdir()):
        fail(f"{name}: expected files in TMPDIR while {program} runs")
    os.killpg(process.pid, number)
    process.wait()
    expect_equal(process.returncode, -number, f"{name}: the exit code")
    for part in ("tmp", "out"):
        expect_equal(sorted(os.listdir(folder / part)), [], f"{name}: what is left in {part}")
    print(f"nothing is left: {name}")


def main():
    work = Work(__doc__)
    # The process that started this test may have made it ignore signals, which hftac would
    # inherit.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    compiling = [JOB, "-o", "program"]
    cubin = [*compiling, "--target=cuda", "--chip=sm_80", "--gpu-code=cubin"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        interrupt(work, f"ptxas-{number.name}", "ptxas", number, *cubin,
                  f"--ptxas={work.folder.absolute()}/ptxas-{number.name}/bin/ptxas")
    interrupt(work, "link", "clang-22", signal.SIGINT, *compiling, "--linker=cc")


if __name__ == "__main__":
    main()
