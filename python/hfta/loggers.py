#!/usr/bin/env python3
"""Reads logs of Hfta's programs, and hands their runs to MLflow and to Weights & Biases:

    python3 -m hfta.loggers log.jsonl --mlflow sqlite:///mlflow.db
    python3 -m hfta.loggers checkpoints --wandb PROJECT

A log is the file of `train --log`, or the checkpoint folder of a search. A run is a copy of a
job or a trial of a search. Needs only Python's standard library, until one of the two is
asked for. For tables, TensorBoard and Optuna the program's own command `log` suffices.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
from collections.abc import Iterator
from typing import Any, Optional, Union


@dataclasses.dataclass
class Run:
    """A copy or a trial. `numbers` maps the name of a series, such as "loss/train" or
    "accuracy/validation", to its (step, value) pairs."""
    job: str
    kind: str  # "copy" or "trial"
    number: int
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    numbers: dict[str, list[tuple[int, float]]] = dataclasses.field(default_factory=dict)
    verdict: Optional[str] = None  # the last one of a search, such as "dropped"

    @property
    def name(self) -> str:
        return f"{self.job}/{self.kind}-{self.number:04d}"


PREFIXES = {"average_validation_": "average_validation", "average_eval_": "average_test",
            "validation_": "validation", "eval_": "test", "train_": "train_epoch"}


def _name(series: str, event: str) -> str:
    """Returns the name of a series, as TensorBoard's files of a program have it."""
    if series == "lr":
        return "learning_rate"
    if event == "step":
        return f"{series}/train" if series.startswith("loss") else series
    for prefix, data in PREFIXES.items():
        if series.startswith(prefix):
            return f"{series[len(prefix):]}/{data}"
    return series


def _read_lines(path: str) -> Iterator[dict]:
    """Yields the events of a log. A last line without a line break is being written."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            try:
                event = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if not isinstance(event, dict) or not isinstance(event.get("event"), str):
                raise ValueError(f"{path}, line {number}: expected a line of a log, which has "
                                 "an 'event'")
            yield event


def _put(run: Run, name: str, step: int, value: Any) -> None:
    """Adds a number, unless it is none: the copy didn't run, or it is a matrix."""
    if isinstance(value, (int, float)) or value in ("nan", "inf", "-inf"):
        points = run.numbers.setdefault(name, [])
        # A resumed run does some steps again.
        while points and points[-1][0] >= step:
            points.pop()
        points.append((step, float(value)))


class _Reader:
    """Turns the events of a file into runs."""

    def __init__(self) -> None:
        self.runs: dict[tuple[str, int], Run] = {}
        self.starts: dict[str, dict] = {}
        self.search: Optional[dict] = None

    def take(self, event: dict) -> None:
        kind = event["event"]
        if kind == "search":
            self.search = event
        elif self.search is not None:
            self._take_journal(kind, event)
        elif kind == "start":
            self._take_start(event)
        elif kind in ("step", "epoch", "curvature"):
            self._take_numbers(kind, event)

    def _run(self, job: str, kind: str, number: int) -> Run:
        return self.runs.setdefault((job, number), Run(job, kind, number))

    def _take_start(self, event: dict) -> None:
        job = event.get("job") or event["name"]
        self.starts[event.get("job") or ""] = {**event, "job": job}
        lists = dict(event.get("hyper_parameters", {}))
        if "optimizers" in event:
            lists = {"optimizer": event["optimizers"], **lists}
        for copy in range(event["copies"]):
            run = self._run(job, "copy", copy)
            run.settings.update((name, values[copy]) for name, values in lists.items())

    def _take_numbers(self, kind: str, event: dict) -> None:
        start = self.starts.get(event.get("job") or "")
        if start is None:
            raise ValueError("no start event comes before a step or epoch")
        step = event.get("step") or min(event["epoch"] * start["steps_per_epoch"],
                                        start["total_steps"])
        series = {**event, **{f"scheduled_{name}": values
                              for name, values in event.get("scheduled", {}).items()}}
        for name, values in series.items():
            if isinstance(values, list) and len(values) == start["copies"]:
                for copy, value in enumerate(values):
                    _put(self._run(start["job"], "copy", copy), _name(name, kind), step, value)

    def _take_journal(self, kind: str, event: dict) -> None:
        job = self.search.get("job", "search")
        if kind in ("trial", "cloned", "decided"):
            run = self._run(job, "trial", event["trial"])
            run.settings.update(event.get("settings", {}))
            run.verdict = event.get("verdict", run.verdict)
        if kind != "evaluated":
            return
        step = event["epoch"] * int(self.search.get("steps per epoch", 1))
        # Folds above 0 are series of their own.
        fold = f"/fold-{event['fold']}" if event.get("fold") else ""
        metric = self.search.get("metric", "loss")
        for name, values in event.items():
            if not isinstance(values, list) or name == "trials":
                continue
            if name == "validation_metric":
                name = f"validation_{metric}"
            for trial, value in zip(event["trials"], values):
                _put(self._run(job, "trial", trial), _name(name, "epoch") + fold, step, value)


def find_logs(path: Union[str, os.PathLike]) -> list[str]:
    """Returns the logs of a path: a file, or the journals of a checkpoint folder."""
    path = os.fspath(path)
    if not os.path.isdir(path):
        return [path]
    folders = [path, *sorted(entry.path for entry in os.scandir(path) if entry.is_dir())]
    logs = [os.path.join(folder, "search.jsonl") for folder in folders]
    found = [log for log in logs if os.path.exists(log)]
    if not found:
        raise ValueError(f"{path} has no journal of a search, search.jsonl")
    return found


def read_runs(path: Union[str, os.PathLike]) -> list[Run]:
    """Returns the runs of a log, or of the searches of a checkpoint folder. Raises ValueError
    for what is no log, and OSError for what can't be read."""
    runs: list[Run] = []
    for log in find_logs(path):
        reader = _Reader()
        for event in _read_lines(log):
            reader.take(event)
        if not reader.runs:
            raise ValueError(f"{log} is no log: it has no start or search event")
        runs += reader.runs.values()
    return runs


def _diverged(run: Run) -> bool:
    losses = [points for name, points in run.numbers.items() if name.startswith("loss/")]
    return any(not math.isfinite(points[-1][1]) for points in losses)


def to_mlflow(path: Union[str, os.PathLike], tracking_uri: Optional[str] = None,
              experiment: Optional[str] = None) -> list[str]:
    """Adds the runs to an MLflow store, each job as an experiment of its name unless
    `experiment` names one. Returns the identifiers of the runs. Needs the package mlflow."""
    import mlflow  # pylint: disable=import-error
    from mlflow.entities import Metric, Param

    client = mlflow.tracking.MlflowClient(tracking_uri)
    identifiers = []
    for run in read_runs(path):
        name = experiment or run.job
        known = client.get_experiment_by_name(name)
        number = known.experiment_id if known else client.create_experiment(name)
        made = client.create_run(number, run_name=run.name,
                                 tags={run.kind: str(run.number), "hfta.job": run.job})
        identifier = made.info.run_id
        client.log_batch(identifier, params=[Param(key, str(value))
                                             for key, value in run.settings.items()])
        points = [Metric(series, value, made.info.start_time, step)
                  for series, numbers in run.numbers.items() for step, value in numbers]
        # A request has at most a thousand metrics.
        for at in range(0, len(points), 1000):
            client.log_batch(identifier, metrics=points[at:at + 1000])
        client.set_terminated(identifier, "FAILED" if _diverged(run) else "FINISHED")
        identifiers.append(identifier)
    return identifiers


def to_wandb(path: Union[str, os.PathLike], project: str, mode: str = "offline",
             **options: Any) -> list[str]:
    """Adds the runs to a project of Weights & Biases; with mode "offline" to local files, which
    `wandb sync` sends. `options` are those of wandb.init. Returns the identifiers of the runs.
    Needs the package wandb."""
    import wandb  # pylint: disable=import-error

    identifiers = []
    for run in read_runs(path):
        made = wandb.init(project=project, name=run.name, group=run.job, mode=mode,
                          config=run.settings, reinit="finish_previous", **options)
        steps: dict[int, dict[str, float]] = {}
        for series, numbers in run.numbers.items():
            for step, value in numbers:
                steps.setdefault(step, {})[series] = value
        for step in sorted(steps):
            made.log(steps[step], step=step)
        identifiers.append(made.id)
        made.finish(exit_code=int(_diverged(run)))
    return identifiers


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m hfta.loggers",
        description="Hands the runs of a log to MLflow or to Weights & Biases.")
    parser.add_argument("log", help="log of 'train --log', or checkpoint folder of a search")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--mlflow", metavar="URI", help="tracking URI of an MLflow store")
    target.add_argument("--wandb", metavar="PROJECT", help="project; runs are written offline")
    arguments = parser.parse_args()
    try:
        made = (to_mlflow(arguments.log, arguments.mlflow) if arguments.mlflow
                else to_wandb(arguments.log, arguments.wandb))
    except (OSError, ValueError) as error:
        sys.exit(f"hfta.loggers: error: {error}")
    except ImportError as error:
        sys.exit(f"hfta.loggers: error: {error}\nhint: pip install {error.name}")
    print(f"{len(made)} runs")


if __name__ == "__main__":
    main()
