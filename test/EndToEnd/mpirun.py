"""Runs programs of several ranks on this machine."""

import os
import signal
import subprocess
import sys
import tempfile

COMMAND = ["mpirun", "--bind-to", "none"]

# The seconds after which a run has failed, many times the usual duration.
LIMIT = 120


def get_environment(folder):
    """Returns an environment in which mpirun starts any number of ranks without options.
    Its files go to a folder of its own, as several mpirun of Open MPI fail if they make a
    common one at the same time."""
    return {**os.environ, "TMPDIR": str(folder),
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks:
    """A run of a command in `ranks` processes, with one stream for all of their output.
    `options` are mpirun's, `place` is the folder where they start."""

    def __init__(self, ranks, *command, options=(), place=None):
        self.command = [*COMMAND, *options, "-n", str(ranks), *map(str, command)]
        self.left = []
        self.folder = tempfile.TemporaryDirectory(prefix="ranks-")
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=place, env=get_environment(self.folder.name))

    def finish(self, *codes, limit=LIMIT):
        """Returns their output; fails if mpirun's exit code isn't one of `codes`, by
        default 0. `left` then has the names of files that MPI has left."""
        codes = codes or (0,)
        text = " ".join(self.command)
        with self.folder:
            try:
                output, _ = self.process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                # The signal ends the ranks, too.
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
    """Returns the output of `ranks` processes; fails if mpirun's exit code isn't
    `code`."""
    return Ranks(ranks, *command, options=options, place=place).finish(code)


def run_apart(ranks, folder, *command, code=0):
    """Runs as run_ranks does, in `folder`; but all ranks except the first are in folders
    of their own in it, apart-1, apart-2 …"""
    lines = ["t=${OMPI_COMM_WORLD_RANK:-0}",
             f"[ $t = 0 ] || {{ mkdir -p {folder}/apart-$t; cd {folder}/apart-$t; }}",
             'exec "$@"']
    return run_ranks(ranks, "sh", "-c", "\n".join(lines), "sh", *command, code=code,
                     place=folder)


def find_rank(binary, rank):
    """Returns the process of a rank that runs `binary`; None if there is none."""
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
