"""Reads and compares the results of trainings: a checkpoint's folder and a log. Needs only
Python's standard library."""

import dataclasses
import filecmp
import math
import pathlib

from harness import checkpoint, fail, read_log


@dataclasses.dataclass(frozen=True)
class Training:
    """The results of a training: the folder of its last checkpoint, and the events of its
    log, without times."""
    folder: pathlib.Path
    events: list


def read_training(folder, log, steps):
    """Returns the results of a training of `steps` steps, whose checkpoints are in
    `folder`."""
    return Training(checkpoint(folder, steps), read_log(log))


def expect_trained(training, steps, copies, what):
    """Fails unless all losses are finite, the copies' losses differ from each other, and
    the first and last losses differ. Otherwise, a comparison of bytes would prove
    nothing."""
    losses = [event["loss"] for event in training.events if event["event"] == "step"]
    if (len(losses) != steps or not all(map(math.isfinite, sum(losses, [])))
            or len(set(losses[-1])) != copies or losses[0] == losses[-1]):
        fail(f"{what}: losses {losses}")


def expect_same_training(mine, theirs, copies, what):
    names = sorted(path.name for path in theirs.folder.iterdir())
    if names != sorted(path.name for path in mine.folder.iterdir()):
        fail(f"{what}: {mine.folder} has other files than {theirs.folder}")
    _, *others = filecmp.cmpfiles(mine.folder, theirs.folder, names, shallow=False)
    if any(others) or len(names) < copies:
        fail(f"{what}: {mine.folder} and {theirs.folder} differ: {others}")
    if mine.events != theirs.events:
        fail(f"{what}: another log than {theirs.folder.parent}'s")
