#!/usr/bin/env python3
"""Tests the page of `report`: every number in it is the log's, in the data, in the table that
needs no scripts and, with --browser, in what Chromium shows. Needs only Python's standard
library."""

import base64
import html.parser
import json
import math
import pathlib
import struct
import subprocess
import sys
import urllib.parse

from data_forms import write_npy
from harness import Work, expect_equal, fail, run
from interchange import PLAIN, TUNE

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

from hfta import loggers  # noqa: E402

MISSING = struct.pack("<I", 0x7FC6F568)
NAME = "</script><b>\u2028 & \"x\""


class Tables(html.parser.HTMLParser):
    """Reads a page: the cells of its tables, and the texts of scripts that have an id."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.scripts, self.titles, self._at, self._id = [], {}, [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._at = "cell"
        elif tag == "h2":
            self.titles.append("")
            self._at = "title"
        elif tag == "script":
            self._id = attributes.get("id")

    def handle_endtag(self, tag):
        if tag in ("td", "th", "h2"):
            self._at = None
        elif tag == "script":
            self._id = None

    def handle_data(self, data):
        if self._id:
            self.scripts[self._id] = self.scripts.get(self._id, "") + data
        elif self._at == "cell":
            self.tables[-1][-1][-1] += data
        elif self._at == "title":
            self.titles[-1] += data


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0] if math.isfinite(value) else value


def expect_close(mine, theirs, what, digits):
    """Compares the text of a number, which is rounded to so many digits, with a number. A
    hyper-parameter may also be text."""
    if isinstance(theirs, str) and not theirs.lstrip("-").startswith(("nan", "inf")):
        expect_equal(mine, theirs, what)
        return
    mine, theirs = float(mine), float(theirs)
    if str(mine) != str(theirs) and not math.isclose(mine, theirs, rel_tol=0.51 * 10**(1 - digits)):
        fail(f"{what}: got {mine}, expected {theirs}")


def compare_data(job, runs):
    """Compares the data of a job on the page with the runs of its log."""
    expect_equal(job["runs"], len(runs), "runs")
    for one in runs:
        for setting in job["settings"]:
            expect_equal(setting["values"][one.number], one.settings[setting["name"]],
                         setting["name"])
        points = {}
        for kind in "steps", "epochs":
            rows = job[kind]
            expect_equal(rows["stride"], 1, "a page with all rows")
            for series in rows["series"]:
                data = base64.b64decode(series["data"])
                size = 4 * len(rows["step"])
                own = data[one.number * size:(one.number + 1) * size]
                name = loggers._name(series["name"], kind[:-1])
                for row, step in enumerate(rows["step"]):
                    bits = own[4 * row:4 * row + 4]
                    if bits != MISSING:
                        fold = f"/fold-{rows['fold'][row]}" if rows["fold"][row] else ""
                        points.setdefault(name + fold, []).append(
                            (step, struct.unpack("<f", bits)[0]))
        expected = {name: [(step, as_f32(value)) for step, value in numbers]
                    for name, numbers in one.numbers.items()}
        expect_equal(str(points), str({name: expected[name] for name in points}), one.name)
        expect_equal(sorted(points), sorted(expected), f"series of {one.name}")


def last_value(one, column):
    """Returns a run's last number of an epoch's series, of folds the mean."""
    name = loggers._name(column, "epoch")
    folds = [points for key, points in one.numbers.items()
             if key == name or key.startswith(name + "/fold-")]
    last = max(points[-1][0] for points in folds)
    values = [points[-1][1] for points in folds if points[-1][0] == last]
    return sum(values) / len(values)


def compare_table(table, runs, digits, marks=""):
    """Compares a table with a row a run, whose first cell is its number."""
    heads = table[0]
    expect_equal(len(table), 1 + len(runs), "rows")
    for row in table[1:]:
        one = runs[int(row[0].strip(marks + " "))]
        for column, text in list(zip(heads, row))[1:]:
            if column in one.settings:
                expect_close(text, one.settings[column], f"{one.name} {column}", digits)
            elif column not in ("state", "epochs"):
                expect_close(text, last_value(one, column), f"{one.name} {column}", digits)


def look(page, view, **state):
    """Lets Chromium show a view of a page, and returns what it has made of it."""
    address = urllib.parse.quote(json.dumps({"view": view, **state}))
    result = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom",
         f"file://{page}#{address}"], capture_output=True, text=True, timeout=300)
    errors = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    if errors or 'data-ready="1"' not in result.stdout:
        fail(f"{view}: {errors}\n{result.stdout[:2000]}")
    return result.stdout


def make_search(path, trials):
    """Writes the journal of a search that never was, with many trials."""
    with open(path, "w", encoding="utf-8") as file:
        def put(**event):
            file.write(json.dumps(event) + "\n")
        put(event="search", job=NAME, metric="accuracy", **{"steps per epoch": "10"},
            epochs="27", sampler="random", rule="halving")
        for trial in range(trials):
            put(event="trial", trial=trial, settings={
                "lr": 10 ** -(trial % 97 / 24), "width": trial % 5, NAME: f"<i>{trial % 3}"})
        for epoch in range(1, 28):
            going = [trial for trial in range(trials) if epoch <= 3 or trial % 9 == 0]
            put(event="evaluated", epoch=epoch, fold=0, trials=going,
                train_loss=[3 / (epoch + trial % 7) for trial in going],
                validation_loss=["nan" if trial == 5 else 3.5 / (epoch + trial % 11)
                                 for trial in going],
                validation_metric=[(epoch + trial % 13) / 50 for trial in going])
        for trial in range(trials):
            put(event="decided", trial=trial, epoch=27 if trial % 9 == 0 else 3,
                verdict="complete" if trial % 9 == 0 else "dropped", rank=trial,
                compared=trials, kept=trials // 9)


def main():
    work = Work(__doc__, more=["--browser"])
    write_npy(work.folder / "x.npy", "<f4", (64, 4), [i * 7 % 11 / 11 for i in range(256)])
    write_npy(work.folder / "label.npy", "<i8", (64,), [i % 3 for i in range(64)])
    plain, tune = work.compile("plain", PLAIN), work.compile("tune", TUNE)
    log, trace, info = (work.folder / name for name in
                        ("plain.jsonl", "trace.json", "info.json"))
    work.train(plain, "--log", log, "--log-every", 2, "--trace", trace)
    info.write_text(run(plain, "info", "--json"))
    folder = work.train(tune)
    made = work.folder / "made.jsonl"
    make_search(made, 1000)
    sources = {"plain": [log], "tune": [folder], "both": [log, folder], "made": [made]}
    for name, logs in sources.items():
        page = work.folder / f"{name}.html"
        more = ["--info", info, "--trace", trace] if name == "plain" else []
        run(plain, "report", *logs, "-o", page, *more)
        size = page.stat().st_size
        if size > 2 << 20:
            fail(f"{page} has {size} bytes")
        read = Tables(page.read_text(encoding="utf-8"))
        jobs = json.loads(read.scripts["data"])["jobs"]
        expect_equal([job["name"] for job in jobs], read.titles, "jobs")
        for index, source in enumerate(logs):
            runs = loggers.read_runs(source)
            compare_data(jobs[index], runs)
            compare_table(read.tables[index], runs, 9)
            if work.options.browser:
                shown = Tables(look(page, "Runs", job=index))
                compare_table(shown.tables[-1], runs, 5, "★✕")
    if work.options.browser:
        for name, view, text in (("plain", "Curves", "<canvas"), ("plain", "Memory", "gradients"),
                                 ("plain", "Step", "forward.0"), ("tune", "Search", "<rect"),
                                 ("made", "Hyper-parameters", "Importance"),
                                 ("made", "Curves", "1000 runs"), ("made", "Search", "<rect")):
            if text not in look(work.folder / f"{name}.html", view):
                fail(f"{name}: {view} lacks {text!r}")


if __name__ == "__main__":
    main()
