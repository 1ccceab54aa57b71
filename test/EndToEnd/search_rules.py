#!/usr/bin/env python3
"""Tests what searches decide. 81 trials of a small network are halved, with scores of which
some aren't finite and some are equal: the decisions, the states of trials and their order
must be those of a model of the rules in this folder's searches.py. Then searches that keep
the best weights, wait no longer than their patience, divide the data into folds, or follow
other rules: what becomes of each trial must be what a training of it alone becomes, and
scores must be those of the evaluations that count. Needs only Python's standard library."""

import math

from harness import Work, expect_equal, fail, run
from searches import (Halving, expect_replays, expect_same_search, make_job, read_trials,
                      search, to_number)

SMALL = """
model net(image: f32[batch, 1, 8, 8], rate = 0.25) {
  return output = linear(gelu(linear(flatten(image), 8)), 10)
}
"""


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")
        self.folder = self.work.folder

    def search(self, name, **clauses):
        binary = self.work.compile(name, make_job(**clauses))
        found = search(binary, self.folder / f"{name}-found", data=self.folder)
        return binary, found, read_trials(binary, found.folder)

    def check_halving(self, name, by_metric, loss, rates, clauses=""):
        """Compares all decisions about 81 trials with those of the model."""
        trials, epochs = 81, 9
        measure = "metric accuracy(net, label)\n  objective validation.accuracy"

        def clauses_of(slots):
            return dict(search=f"random(trials = {trials}, seed = 3), halving(eta = 3)",
                        slots=slots, epochs=epochs, model=SMALL, loss=loss,
                        optimizer=f"sgd(lr = log_uniform({rates}))",
                        clauses=f"  {measure if by_metric else ''}\n{clauses}")

        binary, found, told = self.search(name, **clauses_of(8))
        whole = self.work.compile(f"{name}-81", make_job(**clauses_of(81)))
        expect_same_search(search(whole, self.folder / f"{name}-81-found",
                                  data=self.folder), found, f"{name}, 81 slots")
        key = "validation_metric" if by_metric else "validation_loss"
        scores = {(number, one["epoch"]): to_number(one[key])
                  for number, trial in told["trials"].items()
                  for one in trial["evaluations"]}

        def score(trial, level):
            # A trial whose score isn't finite any more isn't trained up to the level.
            return next(scores[trial, epoch] for epoch in range(level, 0, -1)
                        if (trial, epoch) in scores)

        model = Halving(score, trials, epochs, maximizes=by_metric)
        mine = [(event["trial"], event["epoch"], event["verdict"], event["rank"],
                 event["compared"], event["kept"]) for event in found.list("decided")]
        expect_equal(mine, model.decided, f"{name}: decisions")
        expect_equal(told["order"], model.order, f"{name}: order of trials")
        states = {number: trial["state"] for number, trial in told["trials"].items()}
        expect_equal(states, model.state, f"{name}: states")
        first = [score for (_, level), score in scores.items() if level == 1]
        failed = sum(not math.isfinite(score) for score in first)
        equal = len(first) - failed - len({x for x in first if math.isfinite(x)})
        print(f"{name}: {len(mine)} decisions, {failed} scores aren't finite, "
              f"{equal} are equal to others")
        expect_replays(binary, found, data=self.folder,
                       trials=[told["order"][0], told["order"][40], told["order"][80]])
        return failed, equal

    def check_best(self):
        """Tests that `keep best` ranks trials by their best evaluations, and has the weights
        of these. With `halving` a trial's score is the best so far, too."""
        binary, found, told = self.search(
            "best", search="random(trials = 5, seed = 5), none", epochs=5,
            optimizer="adamw(lr = log_uniform(1e-2, 1))", clauses="  keep best, least = 1e-3")
        earlier = 0
        for number, trial in told["trials"].items():
            best = None
            for one in trial["evaluations"]:
                if best is None or one["validation_loss"] < best["validation_loss"] - 1e-3:
                    best = one
            expect_equal(trial["score"], best["validation_loss"], f"score of {number}")
            earlier += best["epoch"] < 5
            text = run(binary, "eval", "--validation", "--trial", number, "--data",
                       self.folder, "--checkpoint", found.folder)
            expect_equal(text, f"trial {number}: validation loss {trial['score']:.5g}\n",
                         "best weights")
        if not earlier:
            fail("the last evaluation of each trial is its best one")
        expect_equal(len(found.files), 10, "files of last and best states")
        expect_replays(binary, found, data=self.folder)

    def check_patience(self):
        """Tests that a trial ends after two evaluations in a row without an improvement,
        and keeps its last score."""
        binary, found, told = self.search(
            "patience", search="random(trials = 6, seed = 5), none", epochs=8,
            optimizer="adamw(lr = log_uniform(1e-2, 1))", clauses="  keep last, patience = 2")
        ended = 0
        for number, trial in told["trials"].items():
            losses = [one["validation_loss"] for one in trial["evaluations"]]
            best, waited = math.inf, 0
            for done, loss in enumerate(losses, 1):
                best, waited = (loss, 0) if loss < best else (best, waited + 1)
                if waited == 2:
                    expect_equal(done, len(losses), f"patience of trial {number}")
                    ended += done < 8
            expect_equal(len(losses) == 8 or waited == 2, True, f"the end of {number}")
            expect_equal(trial["score"], losses[-1], f"score of {number}")
        if not ended:
            fail("no trial has ended early")
        expect_replays(binary, found, data=self.folder)

    def check_folds(self):
        """Tests that a trial's score is the mean over its folds, each of which is a training
        alone."""
        binary, found, told = self.search(
            "folds", search="random(trials = 4, seed = 5), halving(eta = 2)", epochs=2,
            validation="validation folds = 3")
        for number, trial in told["trials"].items():
            last = {one["fold"]: one["validation_loss"] for one in trial["evaluations"]}
            expect_equal(sorted(last), [0, 1, 2], f"folds of {number}")
            expect_equal(trial["score"], (last[0] + last[1] + last[2]) / 3,
                         f"score of {number}")
            for fold, loss in last.items():
                command = ("eval", "--trial", number, "--fold", fold, "--data", self.folder,
                           "--checkpoint", found.folder)
                run(binary, *command)
                expect_equal(run(binary, *command, "--validation"),
                             f"trial {number}: validation loss {loss:.5g}\n",
                             "validation data of a fold")
        expect_replays(binary, found, data=self.folder, folds=3)
        text = run(binary, "export", "--best", "-o", "fold.onnx", "--checkpoint",
                   found.folder, code=2, cwd=self.folder)
        if "give --fold J" not in text:
            fail(f"export without a fold: {text}")

    def check_rules(self):
        """Tests each other rule and sampler with trainings alone."""
        for name, text, epochs in (
                ("hyperband", "sobol(seed = 2), hyperband(eta = 2)", 4),
                ("asha", "tpe(trials = 8, startup = 3, batch = 2), asha(workers = 3, eta = 2)",
                 4),
                ("median", "halton(trials = 6), median", 3),
                ("pbt", "random(trials = 6, seed = 3), pbt(every = 1, quantile = 0.4)", 4)):
            binary, found, told = self.search(
                name, search=text, epochs=epochs,
                clauses="" if name == "pbt" else "  keep best")
            expect_equal(told["over"], True, f"whether {name} is over")
            expect_replays(binary, found, data=self.folder)
        if not found.list("cloned"):
            fail("pbt has replaced no trial")


def main():
    check = Check()
    failed, _ = check.check_halving("diverging", False, "cross_entropy(net, label)",
                                    "1e-3, 1e12")
    if not 9 < failed < 81:
        fail(f"{failed} trials diverge, so that too little is tested")
    _, equal = check.check_halving("equal", True, "cross_entropy(net, label)", "1e-4, 1e-1")
    if equal < 10:
        fail(f"{equal} scores are equal, so that too little is tested")
    check.check_best()
    check.check_patience()
    check.check_folds()
    check.check_rules()


if __name__ == "__main__":
    main()
