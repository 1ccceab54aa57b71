#!/usr/bin/env python3
"""Trains a list of settings of the CNN of examples/fashion with PyTorch, for
bench/search.py.

    bench/search_peer.py WAY SPEC.json

SPEC.json has `data` (the folder of Fashion-MNIST's files), `settings` (objects with lr,
weight_decay and label_smoothing), `trial_epochs` (by trial, how long each is trained),
`epochs` (the longest), `batch`, `workers` (how many trials at a time) and `threads` (of
each). The ways are:

    replay    plain processes, each of which takes the next trial and trains it for its
              epochs: the speed of PyTorch alone
    ray       Ray Tune with ASHAScheduler (eta 3), which decides itself; workers are reused,
              and the data are in memory once

Each epoch ends with an evaluation on a tenth of the data. Prints JSON: `seconds`,
`training_seconds` (those of the steps, divided by the number of workers),
`trial_epochs` and `best` (the best accuracy). Needs PyTorch and, for ray, Ray Tune."""

import argparse
import gzip
import json
import multiprocessing
import pathlib
import time

import torch
from torch.nn.functional import cross_entropy

from kfac_peers import make_peer

IMAGES_HEAD, LABELS_HEAD = 16, 8
SHARE = 0.1


def read_data(folder):
    """Returns the images and labels for training, and those for validation."""
    def read(name, head):
        data = gzip.decompress((pathlib.Path(folder) / name).read_bytes())[head:]
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    images = read("train-images-idx3-ubyte.gz", IMAGES_HEAD).view(-1, 1, 28, 28)
    labels = read("train-labels-idx1-ubyte.gz", LABELS_HEAD).long()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    count = round(len(labels) * SHARE)
    images, labels = images[order].float() / 255, labels[order]
    return images[count:], labels[count:], images[:count], labels[:count]


class Trial:
    """A training of one model."""

    def __init__(self, values, data, batch):
        self.data, self.batch, self.seconds = data, batch, 0.0
        torch.manual_seed(1)
        self.model = make_peer("cnn")
        self.smoothing = values["label_smoothing"]
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=values["lr"],
            weight_decay=values["weight_decay"], fused=True)

    def train_epoch(self):
        """Trains for an epoch, and returns the accuracy on the validation data."""
        images, labels, *held_out = self.data
        begin = time.perf_counter()
        order = torch.randperm(len(labels))
        for first in range(0, len(labels) - self.batch + 1, self.batch):
            chosen = order[first:first + self.batch]
            self.optimizer.zero_grad()
            cross_entropy(self.model(images[chosen]), labels[chosen],
                          label_smoothing=self.smoothing).backward()
            self.optimizer.step()
        self.seconds += time.perf_counter() - begin
        with torch.no_grad():
            right = [(self.model(x).argmax(1) == y).sum().item()
                     for x, y in zip(*(part.split(500) for part in held_out))]
        return sum(right) / len(held_out[1])


def work(spec, data, queue, results):
    """Trains trials from the queue until it is empty."""
    torch.set_num_threads(spec["threads"])
    while (number := queue.get()) is not None:
        trial = Trial(spec["settings"][number], data, spec["batch"])
        scores = [trial.train_epoch()
                  for _ in range(spec["trial_epochs"][str(number)])]
        results.put((trial.seconds, len(scores), scores[-1] if scores else 0.0))


def replay(spec):
    context = multiprocessing.get_context("fork")
    queue, results = context.Queue(), context.Queue()
    data = read_data(spec["data"])
    # Long trials first, so that the workers end at about the same time.
    order = sorted(range(len(spec["settings"])),
                   key=lambda number: -spec["trial_epochs"][str(number)])
    for number in [*order, *[None] * spec["workers"]]:
        queue.put(number)
    workers = [context.Process(target=work, args=(spec, data, queue, results))
               for _ in range(spec["workers"])]
    for worker in workers:
        worker.start()
    rows = [results.get() for _ in order]
    for worker in workers:
        worker.join()
    return rows


def search_by_ray(spec):
    import ray
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    class Peer(tune.Trainable):
        def setup(self, config, data=None):
            torch.set_num_threads(spec["threads"])
            self.shared = data
            self.begin(config)

        def begin(self, config):
            self.trial = Trial(spec["settings"][config["number"]], self.shared,
                               spec["batch"])

        def step(self):
            return {"accuracy": self.trial.train_epoch(), "spent": self.trial.seconds}

        def reset_config(self, config):
            self.begin(config)
            return True

        # Workers can only be reused if trials can be saved.
        def save_checkpoint(self, folder):
            state = {"model": self.trial.model.state_dict(),
                     "optimizer": self.trial.optimizer.state_dict()}
            torch.save(state, pathlib.Path(folder) / "trial.pt")

        def load_checkpoint(self, folder):
            state = torch.load(pathlib.Path(folder) / "trial.pt")
            self.trial.model.load_state_dict(state["model"])
            self.trial.optimizer.load_state_dict(state["optimizer"])

    ray.init(num_cpus=spec["workers"], include_dashboard=False, log_to_driver=False)
    tuner = tune.Tuner(
        tune.with_parameters(Peer, data=read_data(spec["data"])),
        param_space={"number": tune.grid_search(list(range(len(spec["settings"]))))},
        tune_config=tune.TuneConfig(
            metric="accuracy", mode="max", reuse_actors=True,
            scheduler=ASHAScheduler(max_t=spec["epochs"], grace_period=1,
                                    reduction_factor=3)),
        run_config=tune.RunConfig(stop={"training_iteration": spec["epochs"]}, verbose=0,
                                  storage_path=str(pathlib.Path(spec["data"]).parent)))
    rows = [(result.metrics["spent"], result.metrics["training_iteration"],
             result.metrics["accuracy"]) for result in tuner.fit()]
    ray.shutdown()
    return rows


WAYS = {"replay": replay, "ray": search_by_ray}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("spec", type=pathlib.Path)
    options = parser.parse_args()
    spec = json.loads(options.spec.read_text())
    begin = time.perf_counter()
    rows = WAYS[options.way](spec)
    seconds = time.perf_counter() - begin
    print(json.dumps({
        "seconds": seconds,
        "training_seconds": sum(spent for spent, _, _ in rows) / spec["workers"],
        "trial_epochs": sum(epochs for _, epochs, _ in rows),
        "best": max(score for _, _, score in rows)}))


if __name__ == "__main__":
    main()
