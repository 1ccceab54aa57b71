"""Runs programs of several ranks on this machine."""

import os
import signal
import subprocess
import sys
import tempfile

COMMAND = ["mpirun", "--oversubscribe", "--bind-to", "none"]
if os.getuid() == 0:
    COMMAND.append("--allow-run-as-root")

# Seconds after which a run has failed: many times what it takes.
LIMIT = 120


def run_ranks(ranks, *command, code=0, options=()):
    """The output of `ranks` processes, both streams together; stops if mpirun's exit
    code is another. `options` are mpirun's."""
    command = [*COMMAND, *options, "-n", str(ranks), *map(str, command)]
    # A folder of its own: several of Open MPI's mpirun that make a common one at the
    # same time fail.
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, "TMPDIR": folder})
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            # It ends the ranks.
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate()
            sys.exit(f"error: {' '.join(command)}: still runs after {LIMIT} s\n"
                     f"{output:.4000}")
    if process.returncode != code:
        sys.exit(f"error: {' '.join(command)}: exit {process.returncode}, "
                 f"expected {code}\n{output:.4000}")
    return output
