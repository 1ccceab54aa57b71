#!/usr/bin/env python3
"""Tests that a training's and a search's numbers reach TensorBoard, Optuna, tables and
hfta.loggers as the log has them: while they train, after a resume, and from their logs. With
--tools, TensorBoard, Optuna and MLflow themselves read what was written; else Python's
standard library does."""

import csv
import json
import math
import pathlib
import struct
import sys

from data_forms import write_npy
from harness import Work, checkpoint, expect_equal, expect_same_checkpoint, fail, read_log, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

from hfta import loggers  # noqa: E402

MODEL = """model net(x: f32[batch, 4]) {
  return linear(relu(linear(x, 8)), 3)
}
data made {
  train x = npy("x.npy"), label = npy("label.npy")
}
"""
PLAIN = MODEL + """
train plain {
  model      net(x)
  data       made, batch = 8
  validation 0.25
  loss       cross_entropy(net, label) + 0.1 * l1(net, 0)
  metric     accuracy(net, label), confusion(net, label)
  optimizer  sgd(lr = [0.1, 0.01, 1e30])
  schedule   cosine
  epochs     4
}
"""
TUNE = MODEL + """
train tune {
  model      net(x)
  data       made, batch = 8
  validation folds = 2
  loss       cross_entropy(net, label)
  metric     accuracy(net, label)
  optimizer  sgd(lr = log_uniform(1e-4, 1), momentum = choice(0, 0.9))
  search     random(trials = 5, seed = 3), halving(eta = 2)
  objective  validation.accuracy
  epochs     4
}
"""


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def read_message(data):
    """Returns a dictionary from a field's number to the list of its values."""
    at, fields = 0, {}
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = struct.unpack("<d" if size == 8 else "<f", data[at:at + size])[0], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def read_events(path):
    """Yields the events of a file, whose checksums must be right."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        size, = struct.unpack("<Q", data[at:at + 8])
        for begin, length in (at, 8), (at + 12, size):
            value = crc32c(data[begin:begin + length])
            masked = (value >> 15 | value << 17) + 0xA282EAD8 & 0xFFFFFFFF
            expect_equal(struct.unpack("<I", data[begin + length:begin + length + 4])[0], masked,
                         f"checksum in {path}")
        yield read_message(data[at + 12:at + 12 + size])
        at += size + 16


def read_board(folder):
    """Returns the points of each folder's tags, and the texts of the plugin's records. Files
    of a folder are read in the order of their names; those of a later run replace steps."""
    series, plugins = {}, {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        own = series.setdefault(path.parent.relative_to(folder).as_posix(), {})
        for number, event in enumerate(read_events(path)):
            if number < 2:
                expect_equal(sorted(event), [1, 3] if number == 0 else [1, 2, 7], str(path))
            if number == 1:
                for points in own.values():
                    points[:] = [point for point in points if point[0] < event[2][0]]
            for value in event.get(5, []):
                value = read_message(read_message(value)[1][0])
                tag = value[1][0].decode()
                if 2 in value:
                    own.setdefault(tag, []).append((event[2][0], value[2][0]))
                else:
                    plugins.setdefault(tag, []).append(value[9][0])
    return series, plugins


def expect_points(mine, theirs, what):
    """Compares (step, value) pairs; values as f32."""
    def rounded(points):
        return [(step, struct.pack("<f", value) if math.isfinite(value) else str(value))
                for step, value in points]
    expect_equal(rounded(mine), rounded(theirs), what)


def compare_board(folder, runs, what):
    """Compares files for TensorBoard with the runs of a log."""
    series, plugins = read_board(folder)
    for one in runs:
        for name, points in one.numbers.items():
            name, _, fold = name.partition("/fold-")
            place = f"{one.kind}-{one.number:04d}" + (f"/fold-{fold}" if fold else "")
            expect_points(series[place].pop(name), points, f"{what}: {place} {name}")
    left = {place: sorted(tags) for place, tags in series.items() if tags}
    expect_equal(left, {}, f"{what}: tags that no log has")
    for tag in "experiment", "session_start_info", "session_end_info":
        if f"_hparams_/{tag}" not in plugins:
            fail(f"{what}: no {tag}")
    text = plugins["_hparams_/experiment"][0]
    for name in runs[0].settings:
        if name.encode() not in text:
            fail(f"{what}: no hyper-parameter {name}")


def compare_table(text, runs):
    """Compares a table with the runs of a log."""
    rows = list(csv.DictReader(text.splitlines()))
    fixed = ["job", "event", "step", "epoch", "run", "fold", *runs[0].settings]
    for one in runs:
        own = [row for row in rows if int(row["run"]) == one.number and row["job"] == one.job]
        for name, value in one.settings.items():
            expect_equal({float(row[name]) for row in own}, {float(value)}, name)
        points = {}
        for row in own:
            for column in set(row) - set(fixed):
                if row[column]:
                    name = loggers._name(column, row["event"])
                    fold = f"/fold-{row['fold']}" if row["fold"] != "0" else ""
                    points.setdefault(name + fold, []).append(
                        (int(row["step"]), float(row[column])))
        expect_equal(sorted(points), sorted(one.numbers), f"series of {one.name}")
        for name, expected in one.numbers.items():
            expect_points(points[name], expected, f"table: {one.name} {name}")


def compare_journal(path, runs, direction):
    """Compares Optuna's journal with the runs of a log."""
    first, *trials = map(json.loads, path.read_text().splitlines())
    expect_equal((first["op_code"], first["directions"]), (0, [direction]), "study")
    expect_equal(len(trials), len(runs), "trials")
    for trial, one in zip(trials, runs):
        for name, value in one.settings.items():
            distribution = json.loads(trial["distributions"][name])
            got = trial["params"][name]
            if distribution["name"] == "CategoricalDistribution":
                got = distribution["attributes"]["choices"][got]
            expect_equal(float(got), float(value), name)
        state = {"complete": 1, "dropped": 2}.get(
            one.verdict, 3 if loggers._diverged(one) else 1)
        expect_equal(trial["state"], state, f"state of {one.name}")


def ask_tools(work, runs):
    """Lets the tools themselves read what the programs have written."""
    import mlflow
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for one in runs:
        events = EventAccumulator(str(work.folder / f"board/{one.kind}-{one.number:04d}"))
        events.Reload()
        for name, points in one.numbers.items():
            if "/fold-" not in name:
                expect_points([(point.step, point.value) for point in events.Scalars(name)],
                              points, f"TensorBoard: {one.name} {name}")
    for name in "plain", "tune":
        storage = JournalStorage(JournalFileBackend(str(work.folder / f"{name}.optuna")))
        study = optuna.load_study(study_name=name, storage=storage)
        expect_equal(len(study.trials), 3 if name == "plain" else 5, "Optuna's trials")
        if name == "plain":
            expect_equal([trial.params["lr"] for trial in study.trials], [0.1, 0.01, 1e30], name)
    uri = f"sqlite:///{work.folder}/mlflow.db"
    loggers.to_mlflow(work.folder / "plain.jsonl", uri)
    client = mlflow.tracking.MlflowClient(uri)
    experiment = client.get_experiment_by_name("plain")
    for one, made in zip(runs, reversed(client.search_runs([experiment.experiment_id]))):
        expect_equal(float(made.data.params["lr"]), one.settings["lr"], "MLflow")
        history = client.get_metric_history(made.info.run_id, "loss/train")
        expect_points([(point.step, point.value) for point in history],
                      one.numbers["loss/train"], f"MLflow: {one.name}")


def main():
    work = Work(__doc__, more=["--tools"])
    write_npy(work.folder / "x.npy", "<f4", (64, 4), [i * 7 % 11 / 11 for i in range(256)])
    write_npy(work.folder / "label.npy", "<i8", (64,), [i % 3 for i in range(64)])
    plain, tune = work.compile("plain", PLAIN), work.compile("tune", TUNE)
    board = work.folder / "board"
    log = work.folder / "plain.jsonl"
    # In two runs, the second of which goes on.
    # In two runs, the second of which goes on, as without the files.
    alone = work.compile("alone", PLAIN)
    for more in ["--steps", 12], ["--epochs", 4, "--resume"]:
        saved = work.train(plain, "--log", log, "--log-every", 2, "--tensorboard", board, *more)
        expected = work.train(alone, *more)
    runs = loggers.read_runs(log)
    expect_equal(len(runs), 3, "runs")
    steps = [event["loss"][0] for event in read_log(log) if event["event"] == "step"]
    expect_equal([value for _, value in runs[0].numbers["loss/train"]], steps, "losses")
    compare_board(board, runs, "live")
    expect_same_checkpoint(checkpoint(saved, 24), checkpoint(expected, 24),
                           "weights with and without --tensorboard", copies=3)
    # From the log.
    run(plain, "log", log, "--tensorboard", work.folder / "again")
    compare_board(work.folder / "again", runs, "from the log")
    compare_table(run(plain, "log", log, "--csv"), loggers.read_runs(log))
    run(plain, "log", log, "--csv", "-o", work.folder / "plain.csv")
    expect_equal((work.folder / "plain.csv").read_text(), run(plain, "log", "--csv", log), "-o")
    run(plain, "log", log, "--optuna", work.folder / "plain.optuna")
    compare_journal(work.folder / "plain.optuna", runs, 1)
    # A search, with two folds.
    folder = work.train(tune, "--tensorboard", work.folder / "trials")
    trials = loggers.read_runs(folder)
    expect_equal([len(trials), {one.kind for one in trials}], [5, {"trial"}], "trials")
    compare_board(work.folder / "trials", trials, "search")
    run(plain, "log", folder, "--tensorboard", work.folder / "trials-again")
    compare_board(work.folder / "trials-again", trials, "from the journal")
    compare_table(run(tune, "log", folder, "--csv"), loggers.read_runs(folder))
    run(tune, "log", folder, "--optuna", work.folder / "tune.optuna")
    compare_journal(work.folder / "tune.optuna", trials, 2)
    if work.options.tools:
        ask_tools(work, runs)


if __name__ == "__main__":
    main()
