"""Runs the C program Ranks.c under mpirun. It exchanges messages through the runtime's
communicators.

    communicator.py --hftac HFTAC|--runtime LIBRARY --cc CC --work DIR [--only NAME]
"""

import argparse
import concurrent.futures
import pathlib
import re
import signal
import subprocess
import sys
import time

from mpirun import run_ranks

TEST = pathlib.Path(__file__).resolve().parent.parent
INCLUDES = [TEST.parent / "runtime" / name for name in ("include", "src")]
SOURCES = [TEST / "Inputs" / name
           for name in ("Ranks.c", "RanksFaults.c", "RanksWorkers.c")]

# The checks that keep all processors busy run one after another; the others mostly wait, so
# they run four at a time.
BUSY = ("posts", "collectives", "large", "workers")
# The seconds after the timeout within which a lost rank must be found (5) and its run ended
# (5).
GRACE = 5 + 5


def build(cc, runtime, work):
    program = work / "ranks"
    subprocess.run([*cc.split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
                    "-D_GNU_SOURCE", *(f"-I{folder}" for folder in INCLUDES), *SOURCES, runtime,
                    "-lm", "-lpthread", "-ldl", "-o", program], check=True)
    return program


def fail(what, output):
    sys.exit(f"error: {what}\n{output:.4000}")


def expect_errors(output, expected, most=1):
    """Fails unless `output` has 1 to `most` error lines of ranks, each of which matches the
    regular expression `expected`."""
    errors = re.findall(r"^ranks: .*$", output, re.M)
    if not 0 < len(errors) <= most or not all(re.search(expected, error) for error in errors):
        fail(f"expected 1 to {most} of '{expected}'", output)


def check_posts(program):
    for ranks in (2, 3, 4):
        run_ranks(ranks, program, "posts", ranks)


def check_collectives(program):
    for ranks in (2, 4):
        run_ranks(ranks, program, "collectives")


def check_large(program):
    """Tests a message that is sent in pieces, the last of which has only 5 bytes."""
    run_ranks(2, program, "large", 2 * 2**26 + 5)


def check_workers(program):
    """Runs several workers per rank, of a pipeline whose stages have one, two, three …
    workers."""
    for ranks, workers in ((1, 3), (2, 3), (2, 6), (3, 3), (3, 7)):
        run_ranks(ranks, program, "workers", workers)


def check_gives_up(program):
    """Tests that a worker's failure ends the other workers of its process long before the
    timeout of 100 s."""
    begin = time.monotonic()
    output = run_ranks(2, program, "gives-up", 100, code=4)
    if time.monotonic() - begin > GRACE:
        fail(f"a worker's failure ended its rank after more than {GRACE} s", output)
    expect_errors(output, "rank 0: error: worker 1 fails$")


def check_lost(program):
    """Tests that the error about a stopped rank names that rank both to the worker that
    waits for it and to the workers that wait for this worker."""
    timeout = 2
    output = run_ranks(2, program, "lost", timeout, code=5)
    expect_errors(output, "rank 0: error: rank 1 has not answered for 2 s, in a letter "
                          "of micro-batch 7, say 3 workers$")


def check_kill(program):
    begin = time.monotonic()
    run_ranks(3, program, "kill", 1, code=128 + signal.SIGKILL)
    if time.monotonic() - begin > 10:
        fail("a killed rank's mpirun took more than 10 s", "")


def check_stop(program):
    """Tests that a rank that is stopped, or that makes no progress, is named by the ranks
    that wait for it, and that ranks that wait for those don't blame them instead."""
    timeout = 2
    for stops, reason in ((1, "has not answered"), (0, "has made no progress")):
        begin = time.monotonic()
        output = run_ranks(4, program, "stop", 1, timeout, stops, code=5)
        if time.monotonic() - begin > timeout + GRACE:
            fail(f"a lost rank was found after more than {timeout + GRACE} s", output)
        expect_errors(output, f"rank 0: error: rank 1 {reason} for 2 s, in a round "
                              "of micro-batch 7$")


def check_slow(program):
    run_ranks(3, program, "slow", 2)
    run_ranks(3, program, "slow-circle", 2)


def check_end(program):
    run_ranks(2, program, "end", 2, 0)
    expect_errors(run_ranks(3, program, "end", 1, 1, code=5), "rank [01]: error: rank 2 "
                  "has not answered for 1 s; this rank has ended")


def check_waits(program):
    """Tests that ranks give up waiting for a rank that has ended, or for each other in a
    cycle."""
    expect_errors(run_ranks(2, program, "ended", 1, code=5),
                  "rank 1: error: rank 0 has ended and sent nothing for 1 s, in a letter")
    # The timeout of 4 s leaves time for heartbeats on a busy machine: a missed heartbeat
    # would be reported by another error.
    expect_errors(run_ranks(3, program, "deadlock", 4, code=5),
                  "rank [0-2]: error: rank [0-2] has made no progress for 4 s, in a letter")


def check_start(program):
    """Tests that a start fails if one rank never opens a communicator, or if the launcher's
    environment variables contradict the MPI library."""
    expect_errors(run_ranks(2, program, "absent", 1, code=5), "error: MPI has not started")
    output = run_ranks(2, "env", "OMPI_COMM_WORLD_SIZE=3", program, "launched", code=3)
    expect_errors(output, "has started 3 ranks, but the MPI library sees 2", 2)


def check_fail(program):
    expect_errors(run_ranks(4, program, "fail", 4, code=4), "rank [0-3]: error: it fails$")


def check_lengths(program):
    for sent, received, came in ((10, 20, "10 came"), (20, 10, "more came")):
        output = run_ranks(2, program, "lengths", sent, received, code=70)
        expect_errors(output, f"rank 1: error: lengths of micro-batch 7: {received} "
                              f"bytes expected from rank 0, {came}$")


def check_own(program):
    expect_errors(run_ranks(2, program, "own", 1, code=5),
                  "rank 0 has waited for 1 s for a message of its own: a letter of")


def check_embedded(program):
    run_ranks(3, program, "embedded", 3)
    run_ranks(1, program, "embedded", 0)
    output = run_ranks(2, program, "embedded", 1, code=3)
    if "MPI_THREAD_MULTIPLE is needed" not in output:
        fail("a program whose own MPI allows one thread alone", output)


def check_launched(program):
    if run_ranks(1, program, "launched") != "rank 0 of 1, 1 here, self, no libmpi\n":
        fail("one rank of a launcher", "")
    lines = run_ranks(2, program, "launched").splitlines()
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
    names = [options.only] if options.only else list(checks)
    busy = [name for name in names if name in BUSY]
    waiting = [name for name in names if name not in BUSY]

    def check(name):
        begin = time.monotonic()
        checks[name](program)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)

    for name in busy:
        check(name)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(check, waiting))


if __name__ == "__main__":
    main()
