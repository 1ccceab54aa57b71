"""Functions for tests of searches: they make jobs with a search, train them, and read what
the folder of a search has. Needs only Python's standard library."""

import json
import math

from harness import expect_equal, expect_same_file, fail, make_blocks, run

MODEL = """
model net(image: f32[batch, 1, 8, 8], rate = 0.25) {
  first = relu(batch_norm(conv(image, 3, 3, stride = 2, padding = 1, bias = false)))
  hidden = dropout(gelu(linear(flatten(first), 17)), rate)
  return output = linear(layer_norm(hidden), 10)
}
"""
LOSS = "cross_entropy(net, label, label_smoothing = uniform(0, 0.2))"
OPTIMIZER = "adamw(lr = log_uniform(1e-3, 1e-1), weight_decay = choice(0, 1e-2))"
MADE = 'image = npy("mlp-image.npy"), label = npy("mlp-label.npy")'
HALVING = "random(trials = 9, seed = 2), halving(eta = 3)"
# Samples of the training data, and a batch with which an epoch has 7 steps and a rest.
BATCH = 32


def make_job(search=HALVING, slots=3, epochs=4, clauses="  schedule cosine(warmup = 2)",
             validation="validation 0.25", loss=LOSS, optimizer=OPTIMIZER, model=MODEL,
             net="net(image)", seed="integers(1, 100)"):
    """Returns the text of a job with a search on the data `mlp`, which are also its test
    data."""
    lines = [f"  {validation}", f"  search {search}, slots = {slots}", f"  seed {seed}",
             clauses]
    text = model + make_blocks(MADE, loss, optimizer, 1, batch=BATCH, model=net,
                               clauses="\n".join(lines))
    text = text.replace("train sweep {", "train tune {").replace(
        "  steps     1\n", f"  epochs {epochs}\n")
    return text.replace(f"  train {MADE}", f"  train {MADE}\n  test {MADE}")


class Found:
    """What the folder of a search has."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = (folder / "search.jsonl").read_text().splitlines()
        self.events = [json.loads(line) for line in self.lines]
        self.decisions = [line for line, event in zip(self.lines, self.events)
                          if event["event"] != "evaluated"]
        self.files = sorted(path.name for path in folder.glob("trial-*"))

    def list(self, kind):
        """Returns the events of one kind."""
        return [event for event in self.events if event["event"] == kind]

    def get_scores(self):
        """Returns what each trial's evaluations have found, by trial, fold and epoch."""
        scores = {}
        for event in self.list("evaluated"):
            for row in zip(event["trials"], event["train_loss"], event["validation_loss"],
                           event["validation_metric"]):
                key = row[0], event["fold"], event["epoch"]
                expect_equal(key in scores, False, f"whether {key} was evaluated before")
                scores[key] = row[1:]
        return scores


def search(binary, folder, *flags, data, launch=run, **options):
    """Runs a search and returns what its folder has. `launch` starts the command."""
    launch(binary, "train", "--data", data, "--checkpoint", folder, "--no-progress",
           *flags, **options)
    return Found(folder)


def expect_same_search(mine, theirs, what, to_the_byte=False):
    """Checks that two folders have the same decisions, scores and files of trials;
    `to_the_byte`: that their journals are equal, too."""
    expect_equal(mine.decisions, theirs.decisions, f"{what}: decisions")
    expect_equal(mine.get_scores(), theirs.get_scores(), f"{what}: scores")
    expect_equal(sorted(set(mine.files) ^ set(theirs.files)), [],
                 f"{what}: files that only one search has")
    if to_the_byte:
        expect_equal(mine.lines, theirs.lines, f"{what}: journal")
    for name in mine.files:
        if (mine.folder / name).read_bytes() != (theirs.folder / name).read_bytes():
            expect_same_file(mine.folder / name, theirs.folder / name, what)
    print(f"equal: {what}, {len(mine.files)} files")


def read_trials(binary, folder, **options):
    """Returns what `trials --json` prints, with the trials by number."""
    told = json.loads(run(binary, "trials", "--json", "--checkpoint", folder, **options))
    told["order"] = [trial["trial"] for trial in told["trials"]]
    told["trials"] = {trial["trial"]: trial for trial in told["trials"]}
    return told


def to_number(text):
    return float(text)  # "nan", "inf" and "-inf" are strings


def expect_replays(binary, found, *flags, data, folds=0, trials=None, **options):
    """Trains trials alone, and checks that they become what the search made of them."""
    numbers = trials or [event["trial"] for event in found.list("trial")]
    for trial in numbers:
        for fold in range(folds or 1):
            more = ("--fold", fold) if folds else ()
            text = run(binary, "train", "--data", data, "--checkpoint", found.folder,
                       "--replay", trial, *more, *flags, **options)
            expected = "scores equal those of the search; state equal, byte for byte\n"
            if not text.endswith(expected):
                fail(f"replay of trial {trial}, fold {fold}: {text}")
    print(f"equal: {len(numbers)} trials alone")


class Halving:
    """Successive halving, by the rules that docs/search.md states: which trials go on at each
    level, given a score for each trial and level. Smaller scores are better unless
    `maximizes`."""

    def __init__(self, score, trials, epochs, eta=3, grace=1, maximizes=False):
        self.decided = []  # (trial, level, verdict, place from 0, compared, most kept)
        self.reached = dict.fromkeys(range(trials), 0)
        levels, level = [], grace
        while level < epochs:
            levels.append(level)
            level *= eta
        levels.append(epochs)
        going = list(range(trials))
        sign = -1 if maximizes else 1

        def key(trial, level):
            value = score(trial, level)
            finite = math.isfinite(value)
            return not finite, sign * value if finite else 0, trial

        for level in levels:
            for trial in going:
                self.reached[trial] = level
            order = sorted(going, key=lambda trial: key(trial, level))
            finite = [trial for trial in order if math.isfinite(score(trial, level))]
            is_last = level == epochs
            most = len(order) if is_last else max(1, len(order) // eta)
            kept = finite[:most]
            for place, trial in enumerate(order):
                verdict = ("failed" if trial not in finite else
                           "complete" if is_last else
                           "goes on" if trial in kept else "dropped")
                self.decided.append((trial, level, verdict, place, len(order), most))
            going = sorted(kept)
            if not going:
                break
        self.order = sorted(range(trials), key=lambda trial: (
            -self.reached[trial], *key(trial, self.reached[trial])))
        self.state = {trial: verdict for trial, _, verdict, *_ in self.decided}
