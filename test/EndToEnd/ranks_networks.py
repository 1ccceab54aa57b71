#!/usr/bin/env python3
"""Tests that networks train to the same bytes on each number of ranks, checkpoints and
logs. With as many groups as replicas, the numbers of ranks are compared; with 8 groups, all
numbers of replicas too, one replica included. Copies are fused, partly fused, or not fused;
gradients are clipped or not; in f32 or f64.

    ranks_networks.py --hftac HFTAC --work DIR [--name NAME] [--all]
"""

import argparse
import dataclasses
import pathlib
import sys

from harness import REFERENCE, copy_file, expect_same_file, fail
from mpirun import run_ranks
from network_run import MODELS, NetworkFolder, networks
from trainings import expect_same_training, expect_trained, read_training

sys.path.insert(0, str(REFERENCE.parent / "Hostile"))

from protobuf_mutation import parse, serialize  # noqa: E402  (from test/Hostile)

STEPS, BATCH, MICRO_BATCHES = 5, 24, 8
# The models of the copies that are partly fused, and the copies' learning rates.
PARTS = ["resnet18", "resnet18_wide", "resnet18_deep"]
PART_RATES = [1e-2, 2e-2, 3e-2]
NAMES = ("resnet18", "partial", "tied", "bert_medium")


@dataclasses.dataclass(frozen=True)
class Setting:
    """The settings of a training. For each number in `replicas`, a program is trained on
    all numbers of ranks. If `groups` is given, all programs have that number of groups, and
    are compared with each other and with a program without replicas; otherwise each has as
    many groups as replicas."""
    precision: str
    fuses: bool
    clips: bool
    replicas: tuple
    groups: int = None


# The settings that are tested by default. Together they test each choice with each network.
CHOSEN = {
    "resnet18": [Setting("f32", True, True, (4, 3)),
                 Setting("f64", False, False, (8,), 8)],
    "partial": [Setting("f32", True, False, (3, 4), 8),
                Setting("f64", True, True, (4,))],
    "tied": [Setting("f64", True, True, (3, 8), 8),
             Setting("f32", False, False, (4,))],
    "bert_medium": [Setting("f32", True, True, (4,), 8),
                    Setting("f64", False, False, (3,))],
}


def all_settings(name):
    return [Setting(precision, fuses, clips, *more) for precision in ("f32", "f64")
            for fuses in (True, False) for clips in (True, False)
            for more in (((3, 4),), ((3, 4, 8), 8)) if fuses or name != "partial"]


def tie_weights(source, target, kept, dropped):
    """Writes a copy of an ONNX file in which nodes read weight `kept` in place of weight
    `dropped`."""
    root = parse(source.read_bytes())
    graph = next(value for number, _, value in root if number == 7)

    def named(message, number, name):
        return any(field == number and (serialize(value) if isinstance(value, list)
                                        else value) == name.encode()
                   for field, _, value in message)

    tied = 0
    for number, _, node in graph:
        if number == 1 and named(node, 1, dropped):
            for entry in node:
                if entry[0] == 1 and named([entry], 1, dropped):
                    entry[2], tied = kept.encode(), tied + 1
    graph[:] = [entry for entry in graph
                if entry[0] != 5 or not named(entry[2], 8, dropped)]
    if tied == 0:
        fail(f"{source} has no {dropped}")
    target.write_bytes(serialize(root))


class Check:
    def __init__(self, name, hftac, work):
        self.name = name
        network = {"partial": PARTS[0], "tied": "transformer_lm"}.get(name, name)
        self.folder = NetworkFolder(hftac, network, work, samples=STEPS * BATCH)
        self.work = work
        self.settings = {"steps": STEPS, "batch": BATCH}
        self.copies = 4
        if networks.NETWORKS[network].has_dropout:
            self.settings["dropout"] = 0.25
        if name == "tied":
            tied = work / "tied.onnx"
            tie_weights(self.folder.model, tied, "embedding.weight", "head.weight")
            self.folder.model = tied
        if name == "partial":
            self.copies = len(PARTS)
            for part in PARTS[1:]:
                (work / f"{part}.onnx").symlink_to((MODELS / f"{part}.onnx").resolve())
                networks.write_weights(work, MODELS / f"{part}.json")

    def compile(self, name, setting, clauses, part=None):
        """Compiles a program with these clauses in addition and returns its path. For
        partly fused copies, `part` selects one of the models."""
        clauses = list(clauses)
        flags = () if setting.fuses else ("--no-fuse",)
        settings = self.settings
        model = str(self.folder.model.absolute())
        if setting.clips:
            clauses.append("clip_norm 0.3")
        if self.name == "partial":
            model, rates = [f"{name}.onnx" for name in PARTS], PART_RATES
            if part is not None:
                model, rates = model[part], rates[part:part + 1]
            settings = {**settings, "optimizer": f"sgd(lr = {rates}, momentum = 0.9)"}
            if part is None:
                clauses.append("zip(lr, model)")
        return self.folder.compile(name, setting.precision, *flags, model=model,
                                   clauses=clauses, **settings)

    def train(self, binary, ranks):
        folder = self.work / f"{binary.name}-{ranks}"
        log = folder.with_suffix(".jsonl")
        run_ranks(ranks, binary, "train", "--data", self.work, "--checkpoint", folder,
                  "--log", log, "--log-every", 1, "--no-progress")
        return read_training(folder, log, STEPS)

    def check(self, number, setting):
        expected = None
        counts = (1, *setting.replicas) if setting.groups else setting.replicas
        for replicas in counts:
            clauses = [f"micro_batches {MICRO_BATCHES}"]
            if setting.groups:
                clauses[0] += f", groups = {setting.groups}"
            else:
                expected = None
            if replicas > 1:
                # This bucket size is smaller than most gradients, and larger than some.
                clauses.append(f"pipeline replicas = [{replicas}], bucket = 8KiB")
            binary = self.compile(f"{self.name}-{number}-{replicas}", setting, clauses)
            for ranks in range(1, replicas + 1):
                # With eight workers, only some numbers of ranks are tested, to save time.
                if replicas == 8 and ranks not in (1, 2, 5, 8):
                    continue
                what = f"{self.name}, {setting}: {ranks} ranks of {replicas} workers"
                trained = self.train(binary, ranks)
                if expected is None:
                    expected = trained
                    expect_trained(trained, STEPS, self.copies, what)
                    continue
                expect_same_training(trained, expected, self.copies, what)
                print(f"equal: {what}", flush=True)
        if self.name == "partial":
            self.check_part(number, setting, clauses, expected.folder)

    def check_part(self, number, setting, clauses, together):
        """Compares copy 1 with its model alone. Its gradients are partly in segments of all
        copies, and partly in segments of its own."""
        binary = self.compile(f"{self.name}-{number}-alone", setting, clauses, part=1)
        alone = self.train(binary, 2).folder
        expect_same_file(copy_file(together, 1), copy_file(alone, 0),
                         f"{PARTS[1]} in an array and alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--name", choices=NAMES)
    parser.add_argument("--all", action="store_true",
                        help="each choice with each other one")
    options = parser.parse_args()
    for name in [options.name] if options.name else NAMES:
        check = Check(name, options.hftac, options.work / name)
        settings = all_settings(name) if options.all else CHOSEN[name]
        for number, setting in enumerate(settings):
            check.check(number, setting)


if __name__ == "__main__":
    main()
