"""Runs programs of several ranks on this machine."""

import os
import signal
import subprocess
import sys
import tempfile

COMMAND = ["mpirun", "--bind-to", "none"]

# Seconds after which a run has failed: many times what it takes.
LIMIT = 120


def get_environment(folder):
    """In which mpirun starts any number of ranks without options of its own. Its files
    go to a folder of its own: several of Open MPI's mpirun that make a common one at
    the same time fail."""
    return {**os.environ, "TMPDIR": str(folder),
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks:
    """`ranks` processes of a command, both streams of all together. `options` are
    mpirun's, `place` is where they start."""

    def __init__(self, ranks, *command, options=(), place=None):
        self.command = [*COMMAND, *options, "-n", str(ranks), *map(str, command)]
        self.left = []
        self.folder = tempfile.TemporaryDirectory(prefix="ranks-")
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=place, env=get_environment(self.folder.name))

    def finish(self, *codes, limit=LIMIT):
        """What they have printed; stops if mpirun's exit code is none of these, 0 by
        default. `left` then holds the names of files that MPI has left."""
        codes = codes or (0,)
        text = " ".join(self.command)
        with self.folder:
            try:
                output, _ = self.process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                # It ends the ranks.
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
    """The output of `ranks` processes; stops if mpirun's exit code is another."""
    return Ranks(ranks, *command, options=options, place=place).finish(code)


def run_apart(ranks, folder, *command, code=0):
    """As run_ranks, in `folder`; but all ranks except the first are in folders of their
    own, apart-1, apart-2 … in it."""
    lines = ["t=${OMPI_COMM_WORLD_RANK:-0}",
             f"[ $t = 0 ] || {{ mkdir -p {folder}/apart-$t; cd {folder}/apart-$t; }}",
             'exec "$@"']
    return run_ranks(ranks, "sh", "-c", "\n".join(lines), "sh", *command, code=code,
                     place=folder)


def find_rank(binary, rank):
    """The process of a rank, by what it was started with; None where there is none."""
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
