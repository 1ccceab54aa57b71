"""Rows of trainings that keep the best weights, and whose files of these are damaged,
missing or those of others."""

import copy

import data_rows
from checkpoint_rows import flip, pack, unpack
from row import Row

JOB = data_rows.JOB.replace("  steps     4\n", "  epochs 1\n  validation 0.25\n  keep best\n")
STEP = "checkpoints/step-00000003/"
BEST, COPY = STEP + "best-0001.safetensors", STEP + "copy-0001.safetensors"
COMMANDS = {
    "resume": ("train", "--no-progress", "--resume", "--epochs", "2", "--checkpoint",
               "checkpoints"),
    "evaluate": ("eval", "--checkpoint", "checkpoints"),
    "export": ("export", "--copy", "1", "--checkpoint", "checkpoints", "-o", "x.onnx")}


class Checkpoint:
    """The checkpoint that the program `keeper` has written."""

    def __init__(self, program):
        self.files = {STEP + path.name: path.read_bytes()
                      for path in (program / "best/step-00000003").iterdir()}
        self.header, self.body = unpack(self.files[BEST])

    def row(self, name, changes, *texts, command="resume"):
        """Makes a row with some files replaced, or missing if their contents are None."""
        files = {**data_rows.OLD, **data_rows.DATA, **self.files, **changes}
        files = {path: content for path, content in files.items() if content is not None}
        return Row(f"{name}, to {command}", files, ["keeper", *COMMANDS[command]], (1,),
                   ("keeper: error: ", *texts))

    def change(self, name, *texts, metadata=(), rename=()):
        """Makes a row with other metadata, or names of tensors, in the file. Its checksum
        is wrong then."""
        header = copy.deepcopy(self.header)
        header["__metadata__"].update(metadata)
        for old, new in dict(rename).items():
            header[new] = header.pop(old)
        return self.row(name, {BEST: pack(header, self.body)}, "best-0001", *texts)


def make_rows(program):
    checkpoint = Checkpoint(program)
    row, good = checkpoint.row, checkpoint.files[BEST]
    for command in COMMANDS:
        yield row("best weights are missing", {BEST: None}, "step-00000003", "incomplete",
                  "best-0001.safetensors is missing", command=command)
        yield row("a byte of best weights is another", {
            BEST: good[:-1] + bytes([good[-1] ^ 1])}, "best-0001", "is damaged",
                  command=command)
        yield row("best weights of another copy's step", {
            BEST: flip(good, b'"step":"')}, "best-0001", "is damaged", command=command)
        yield row("best weights that are a copy's state", {BEST: checkpoint.files[COPY]},
                  "best-0001", "doesn't hold best weights", command=command)
    yield row("best weights that are cut off", {BEST: good[:100]}, "best-0001",
              "no whole safetensors file")
    yield row("best weights that are an empty file", {BEST: b""}, "best-0001",
              "no whole safetensors file")
    yield row("a copy's best step is another", {
        COPY: flip(checkpoint.files[COPY], b'"best_step":"')}, "copy-0001", "is damaged")
    yield row("scores are missing", {STEP + "training.safetensors": None},
              "training.safetensors' is missing")
    without = {path: None for path in checkpoint.files if "best-" in path}
    yield row("all best weights are missing", without, "best-0000.safetensors is missing")
    yield checkpoint.change("a checksum that is none", "is damaged",
                            metadata={"checksum": "x"})
    yield checkpoint.change("a format of the future", metadata={"version": "2"})
    yield checkpoint.change("weights of another name",
                            rename={"hidden.weight": "hidden.wait"})
