"""Rows of the commands `log` and `report`, and of trainings that write files for TensorBoard."""

import json

import data_rows
from row import Row

START = {"event": "start", "name": "sweep", "copies": 2, "steps_per_epoch": 4,
         "total_steps": 8, "steps_done": 0, "hyper_parameters": {"lr": [0.1, 0.2]}}
STEP = {"event": "step", "step": 1, "epoch": 1, "loss": [1.5, 2.5], "lr": [0.1, 0.2]}
SEARCH = {"event": "search", "job": "tune", "metric": "loss", "steps per epoch": "2"}
EVALUATED = {"event": "evaluated", "epoch": 1, "fold": 0, "trials": [0], "train_loss": [1]}


def lines(*events):
    return "".join((event if isinstance(event, str) else json.dumps(event)) + "\n"
                   for event in events)


def log(name, code, *texts, content=None, files=(), words=("log.jsonl", "--csv")):
    """Makes a row of `log` with the log `content`."""
    given = {} if content is None else {"log.jsonl": content}
    return Row(f"a log: {name}", {**given, **dict(files)}, ["sweep", "log", *words], (code,),
               ("sweep: error: ", *texts))


def make_content_rows():
    good = lines(START, STEP)
    yield log("one that isn't there", 1, "'log.jsonl'", "No such file")
    yield log("an empty one", 1, "'log.jsonl' is no log", content="")
    yield log("zeros", 1, "line 1", content=bytes(4096) + b"\n")
    yield log("random bytes", 1, "line 1", content=bytes(range(255, 10, -1)) + b"\n")
    yield log("no JSON", 1, "line 3", content=good + "loss 0.5\n")
    yield log("a list", 1, "line 1", "'event'", content="[1, 2]\n")
    yield log("very deep JSON", 1, "line 1", content="[" * 100000 + "\n")
    yield log("no start", 1, "line 1", "no start event", content=lines(STEP))
    yield log("no copies", 1, "line 1", "'copies'", content=lines({**START, "copies": 0}))
    yield log("a million million copies", 1, "line 1", "'copies'",
              content=lines({**START, "copies": 10**12}))
    yield log("too few numbers", 1, "line 2", "'loss' has 1 numbers", "2 copies",
              content=lines(START, {**STEP, "loss": [1]}))
    yield log("too few hyper-parameters", 1, "line 1", "for each copy",
              content=lines({**START, "hyper_parameters": {"lr": [1]}}))
    yield log("step 0", 1, "line 2", "at least 1", content=lines(START, {**STEP, "step": 0}))
    yield log("a step that is text", 1, "line 2", content=lines(START, {**STEP, "step": "1"}))
    yield log("other copies after a resume", 1, "line 2", "another number of copies",
              content=lines(START, {**START, "copies": 1, "hyper_parameters": {}}))
    yield log("a trial without a number", 1, "line 2", "the trial is missing",
              content=lines(SEARCH, {"event": "trial", "settings": {}}))
    yield log("a trial of a million million", 1, "line 2",
              content=lines(SEARCH, {"event": "trial", "trial": 10**12}))
    yield log("trials that are text", 1, "line 2", "trial's number",
              content=lines(SEARCH, {**EVALUATED, "trials": ["0"]}))
    yield log("lists of different lengths", 1, "line 2", "different lengths",
              content=lines(SEARCH, {**EVALUATED, "train_loss": [1, 2]}))
    yield log("a folder without a journal", 1, "search.jsonl", files={"folder": None}.items(),
              words=["folder", "--csv"])
    yield log("a last line that is torn", 0, content=good + '{"event":"st')


def make_option_rows():
    good = lines(START, STEP)
    yield log("none", 2, "needs LOG", words=["--csv"])
    yield log("no form", 2, "--csv", content=good, words=["log.jsonl"])
    yield log("two forms", 2, "needs one of", content=good,
              words=["log.jsonl", "--csv", "--optuna", "o"])
    yield log("a file for no table", 2, "'-o' needs --csv", content=good,
              words=["log.jsonl", "--optuna", "o", "-o", "t.csv"])
    yield log("an empty name", 2, "LOG", words=["", "--csv"])
    yield log("65 logs", 2, "more than 64", content=good,
              words=["log.jsonl"] * 65 + ["--csv"])
    yield log("a table in no folder", 4, "no/t.csv", content=good,
              words=["log.jsonl", "--csv", "-o", "no/t.csv"])
    yield log("a table over a folder", 4, "'folder'", content=good,
              files={"folder": None}.items(), words=["log.jsonl", "--csv", "-o", "folder"])
    yield log("event files in a file", 4, "log.jsonl", content=good,
              words=["log.jsonl", "--tensorboard", "log.jsonl"])
    yield log("event files in /proc", 4, "/proc", content=good,
              words=["log.jsonl", "--tensorboard", "/proc/board"])
    for name, place in ("a file", "b.npy"), ("/proc", "/proc/board"):
        yield Row(f"a program: event files in {name}", {**data_rows.OLD, **data_rows.DATA},
                  ["sweep", "train", "--no-progress", "--tensorboard", place], (4,),
                  ("sweep: error: ", place))


def make_report_rows():
    good = {"log.jsonl": lines(START, STEP)}

    def report(name, code, *texts, words, files=()):
        return Row(f"a report: {name}", {**good, **dict(files)},
                   ["sweep", "report", *words], (code,), ("sweep: error: ", *texts))

    yield report("no log", 2, "needs LOG", words=[])
    yield report("a log that isn't there", 1, "'none.jsonl'", words=["none.jsonl"])
    yield report("a page in no folder", 4, "no/r.html", words=["log.jsonl", "-o", "no/r.html"])
    yield report("a page on a full device", 4, "No space left",
                 words=["log.jsonl", "-o", "/dev/full"])
    yield report("an info that isn't there", 1, "'i.json'",
                 words=["log.jsonl", "--info", "i.json"])
    yield report("an info that is no JSON", 1, "'log.jsonl' isn't JSON",
                 words=["log.jsonl", "--info", "log.jsonl"])
    yield report("a trace that ends early", 1, "'t.json' isn't JSON",
                 words=["log.jsonl", "--trace", "t.json"], files={"t.json": '{"a":['}.items())


def make_rows(_program):
    yield from make_content_rows()
    yield from make_option_rows()
    yield from make_report_rows()
