"""Compiles and trains copies of one of test/reference's networks. Needs only Python's
standard library."""

import argparse
import json
import pathlib
import sys

from harness import REFERENCE, run

sys.path.insert(0, str(REFERENCE))

import networks  # noqa: E402  (from test/reference)

MODELS = REFERENCE.parent / "models" / "networks"


class NetworkFolder:
    """A work folder with a network's model, weights and data, and methods that compile and
    train the network in it."""

    def __init__(self, hftac, name, work, models=MODELS, flags=(),
                 samples=networks.STEPS * networks.BATCH):
        self.hftac, self.name, self.work = hftac, name, work
        self.flags = flags
        work.mkdir(parents=True, exist_ok=True)
        self.place_model(models)
        networks.write_data(work, name, samples)

    def place_model(self, folder):
        """Sets `model` to the path of the model beside its weights. If `folder` has only
        a table of the weights (NAME.json), writes the weights to the work folder and
        links the model there."""
        self.model = (folder / f"{self.name}.onnx").resolve()
        index = folder / f"{self.name}.json"
        if not index.exists():
            return
        model = self.work / self.model.name
        model.unlink(missing_ok=True)
        model.symlink_to(self.model)
        self.model = model
        networks.write_weights(self.work, index)

    def run_hftac(self, name, precision, *flags, model=None, code=0, **settings):
        """Compiles a job with hftac, and returns the path of the program and hftac's
        output. `settings` are arguments of networks.make_job."""
        job = self.work / f"{name}.hfta"
        job.write_text(networks.make_job(self.name,
                                         model or str(self.model.absolute()),
                                         precision, **settings))
        binary = job.with_suffix("")
        return binary, run(self.hftac, job, "-o", binary, "--data", self.work,
                           *flags, *self.flags, code=code)

    def compile(self, name, precision, *flags, **settings):
        return self.run_hftac(name, precision, *flags, **settings)[0]

    def train(self, binary, *flags):
        """Trains, and returns the losses: for each step a list with the loss of each
        copy."""
        log = self.work / f"{binary.name}.jsonl"
        log.unlink(missing_ok=True)
        run(binary, "train", "--data", self.work, "--log", log, "--log-every",
            1, "--no-progress", *flags)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        return [event["loss"] for event in events if event["event"] == "step"]


class NetworkRun(NetworkFolder):
    """A network's work folder, described by the options of the script's command line."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(
            description=description.split("\n\n")[0])
        parser.add_argument("--hftac", required=True)
        parser.add_argument("--name", required=True, choices=networks.NETWORKS)
        parser.add_argument("--work", type=pathlib.Path, required=True)
        parser.add_argument("--models", type=pathlib.Path, default=MODELS,
                            help="a folder of NAME.onnx and NAME.weights")
        parser.add_argument("--golden", type=pathlib.Path,
                            default=REFERENCE / "golden" / "networks")
        parser.add_argument("--flags", default="", help="more options of hftac")
        self.options = parser.parse_args()
        super().__init__(self.options.hftac, self.options.name,
                         self.options.work, self.options.models,
                         self.options.flags.split())
