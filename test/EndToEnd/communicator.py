"""Runs Ranks.c, which exchanges messages by the runtime's communicators, under
mpirun.

    communicator.py --hftac HFTAC|--runtime LIBRARY --cc CC --work DIR [--only NAME]
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TEST = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = TEST.parent / "runtime/include"
SOURCES = [TEST / "Inputs" / name for name in ("Ranks.c", "RanksFaults.c")]

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
if os.getuid() == 0:
    MPIRUN.append("--allow-run-as-root")

# Seconds after which a run has failed: many times what it takes.
LIMIT = 120
# Ranks that are lost are found this much after the timeout, and ended.
GRACE = 5 + 5


def build(cc, runtime, work):
    program = work / "ranks"
    subprocess.run([*cc.split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
                    "-D_GNU_SOURCE", "-I", INCLUDE, *SOURCES, runtime,
                    "-lm", "-lpthread", "-ldl", "-o", program], check=True)
    return program


def fail(what, output):
    sys.exit(f"error: {what}\n{output:.4000}")


def run(program, ranks, *arguments, code=0):
    """The output of `ranks` processes; mpirun must end with `code`."""
    command = [*MPIRUN, "-n", str(ranks), program, *map(str, arguments)]
    text = " ".join(map(str, command))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        # The ranks too: they are of mpirun's session, if not of its group.
        process.send_signal(signal.SIGTERM)
        fail(f"{text}: still runs after {LIMIT} s", process.communicate()[0])
    if process.returncode != code:
        fail(f"{text}: exit {process.returncode}, expected {code}", output)
    return output


def expect_errors(output, expected, most=1):
    """Lines of ranks that tell an error, all alike."""
    errors = re.findall(r"^ranks: .*$", output, re.M)
    if not 0 < len(errors) <= most or not all(re.search(expected, error) for error in errors):
        fail(f"expected 1 to {most} of '{expected}'", output)


def check_posts(program):
    for ranks in (2, 3, 4):
        run(program, ranks, "posts", ranks)


def check_collectives(program):
    for ranks in (2, 4):
        run(program, ranks, "collectives")


def check_large(program):
    run(program, 2, "large")


def check_kill(program):
    begin = time.monotonic()
    run(program, 3, "kill", 1, code=128 + signal.SIGKILL)
    if time.monotonic() - begin > 10:
        fail("a killed rank's mpirun took more than 10 s", "")


def check_stop(program):
    """A stopped rank, and one that stands still, are named by those that wait for
    them, not those that wait for these."""
    timeout = 2
    for stops, reason in ((1, "has not answered"), (0, "has made no progress")):
        begin = time.monotonic()
        output = run(program, 4, "stop", 1, timeout, stops, code=5)
        if time.monotonic() - begin > timeout + GRACE:
            fail(f"a lost rank was found after more than {timeout + GRACE} s", output)
        expect_errors(output, f"rank 0: error: rank 1 {reason} for 2 s, in a round "
                              "of micro-batch 7$")


def check_slow(program):
    run(program, 3, "slow", 1.5)


def check_end(program):
    run(program, 2, "end", 1.5)


def check_start(program):
    """Not all ranks open a communicator, or another launcher's are expected."""
    expect_errors(run(program, 2, "absent", 1, code=5), "error: MPI has not started")
    output = run("env", 2, "OMPI_COMM_WORLD_SIZE=3", program, "launched", code=3)
    expect_errors(output, "has started 3 ranks, but the MPI library sees 2", 2)


def check_fail(program):
    expect_errors(run(program, 4, "fail", 4, code=4), "rank [0-3]: error: it fails$")


def check_lengths(program):
    for sent, received, came in ((10, 20, "10 came"), (20, 10, "more came")):
        output = run(program, 2, "lengths", sent, received, code=70)
        expect_errors(output, f"rank 1: error: lengths of micro-batch 7: {received} "
                              f"bytes expected from rank 0, {came}$")


def check_embedded(program):
    run(program, 3, "embedded", 3)
    output = run(program, 1, "embedded", 0)
    output = run(program, 2, "embedded", 1, code=3)
    if "MPI_THREAD_MULTIPLE is needed" not in output:
        fail("a program whose own MPI allows one thread alone", output)


def check_launched(program):
    if run(program, 1, "launched") != "rank 0 of 1, 1 here, self, no libmpi\n":
        fail("one rank of a launcher", "")
    lines = run(program, 2, "launched").splitlines()
    expected = [f"rank {rank} of 2, 2 here, mpi, with libmpi" for rank in (0, 1)]
    if sorted(lines) != expected:
        fail("two ranks of a launcher", "\n".join(lines))


def main():
    checks = {name.removeprefix("check_"): function for name, function
              in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser()
    parser.add_argument("--hftac", type=pathlib.Path)
    parser.add_argument("--runtime", type=pathlib.Path)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=checks)
    options = parser.parse_args()
    runtime = options.runtime or options.hftac.parents[1] / "lib/libhfta_runtime.a"
    program = build(options.cc, runtime, options.work)
    for name, check in checks.items():
        if name == options.only or not options.only and name != "large":
            begin = time.monotonic()
            check(program)
            print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
