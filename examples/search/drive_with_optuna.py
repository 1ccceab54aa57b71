#!/usr/bin/env python3
"""Lets a sampler of Optuna choose the trials of a search of Hfta, which trains them.

    python3 examples/search/drive_with_optuna.py ./tune --data DIR --checkpoint driven

The words after the program are options of `train`. The search's own trials come first, as
one batch; then Optuna asks for batches of as many trials as the program has slots. Needs
optuna (pip install optuna).
"""

import pathlib
import sys

import optuna

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from hfta.client import Search  # noqa: E402

TRIALS = 24
# Ranges, as in the job.
SPACE = {"label_smoothing": optuna.distributions.FloatDistribution(0, 0.2),
         "lr": optuna.distributions.FloatDistribution(1e-4, 1e-1, log=True),
         "weight_decay": optuna.distributions.CategoricalDistribution([0, 1e-5, 1e-4])}
ENDS = ("complete", "dropped", "failed")


def main():
    study = optuna.create_study(direction="maximize",
                                sampler=optuna.samplers.TPESampler(seed=1))
    program, *options = sys.argv[1:]
    with Search([program, "train", "--no-progress", *options]) as search:
        search.hold()
        slots = search.status()["slots"]
        while len(study.trials) < TRIALS:
            asked = [study.ask(SPACE) for _ in range(min(slots, TRIALS - len(study.trials)))]
            running = dict(zip(search.add([trial.params for trial in asked]), asked))
            for event in search.events():
                if event["event"] != "decided" or event["verdict"] not in ENDS:
                    continue
                trial = running.pop(event["trial"], None)
                if trial and event["verdict"] == "failed":
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                elif trial:
                    study.tell(trial, float(event["score"]))
                if not running:
                    break
        search.end()
        for _ in search.events():
            pass
    print(f"best of Optuna's trials: {study.best_value:g} with {study.best_params}")
    return search.process.returncode


if __name__ == "__main__":
    sys.exit(main())
