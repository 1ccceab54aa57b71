"""Runs programs of several ranks on this machine."""

import os
import signal
import subprocess
import sys
import tempfile

COMMAND = ["mpirun", "--bind-to", "none"]

# The time limit of a run in seconds, many times the usual duration.
LIMIT = 120


def get_environment(folder):
    """Returns environment variables with which mpirun starts any number of ranks without
    further options. Each mpirun has its own folder for temporary files, as several mpirun
    of Open MPI fail if they create the common folder at the same time."""
    return {**os.environ, "TMPDIR": str(folder),
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks:
    """A run of a command in `ranks` processes, whose outputs are joined into one stream.
    `options` are options of mpirun; `place` is the folder in which the ranks start."""

    def __init__(self, ranks, *command, options=(), place=None):
        self.command = [*COMMAND, *options, "-n", str(ranks), *map(str, command)]
        self.left = []
        self.folder = tempfile.TemporaryDirectory(prefix="ranks-")
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=place, env=get_environment(self.folder.name))

    def finish(self, *codes, limit=LIMIT):
        """Waits for the end of the run and returns its output. Ends the script if mpirun's
        exit code isn't one of `codes` (by default 0), or after `limit` seconds. Sets `left`
        to the names of the files that MPI has left."""
        codes = codes or (0,)
        text = " ".join(self.command)
        with self.folder:
            try:
                output, _ = self.process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                # On SIGTERM, mpirun also ends the ranks.
                self.process.send_signal(signal.SIGTERM)
                output, _ = self.process.communicate()
                sys.exit(f"error: {text}: still runs after {limit} s\n"
                         f"{output:.4000}")
            self.left = os.listdir(self.folder.name)
        if self.process.returncode not in codes:
            sys.exit(f"error: {text}: exit {self.process.returncode}, "
                     f"expected {codes}\n{output:.4000}")
        return output


def run_ranks(ranks, *command, code=0, options=(), place=None):
    """Runs a command in `ranks` processes and returns its output. Ends the script if
    mpirun's exit code isn't `code`."""
    return Ranks(ranks, *command, options=options, place=place).finish(code)


def run_apart(ranks, folder, *command, code=0):
    """Runs a command like run_ranks in `folder`, but lets each rank except the first run in
    a folder of its own, `folder`/apart-1, `folder`/apart-2, …"""
    lines = ["t=${OMPI_COMM_WORLD_RANK:-0}",
             f"[ $t = 0 ] || {{ mkdir -p {folder}/apart-$t; cd {folder}/apart-$t; }}",
             'exec "$@"']
    return run_ranks(ranks, "sh", "-c", "\n".join(lines), "sh", *command, code=code,
                     place=folder)


def find_rank(binary, rank):
    """Returns the process ID of the given rank of a run of `binary`, or None if there is
    none."""
    for folder in os.listdir("/proc"):
        try:
            with open(f"/proc/{folder}/environ", "rb") as file:
                environment = file.read().split(b"\0")
            program = os.readlink(f"/proc/{folder}/exe")
        except OSError:
            continue
        if (program == str(binary.resolve())
                and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment):
            return int(folder)
    return None
