#!/usr/bin/env python3
"""Tests three unequal jobs in one program. Each must train to the same bytes as in its own
program, and write its own folder and log lines: after kills, beside a job that fails, and
if only one job is run. Commands that read checkpoints must find each job's. Needs only
Python's standard library."""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time

from harness import (DATA, MODELS, Work, checkpoint, expect_equal, expect_same_checkpoint,
                     expect_same_file, fail, run)

KILLS = 8
NAMES = ["narrow", "conv", "wide"]  # No name begins like that of a checkpoint ("step-").
STEPS = {"narrow": 40, "conv": 12, "wide": 50}
COPIES = {"narrow": 2, "conv": 3, "wide": 1}

DECLARATIONS = (MODELS["mlp"] + MODELS["cnn"].replace("model net", "model cnn") + """
model wide(image: f32[batch, 1, 8, 8], rate = 0.5) {
  hidden = dropout(relu(linear(flatten(image), 61)), rate)
  return output = linear(hidden, 10)
}
data digits {
  train %s
  test  %s
}
data pictures {
  train %s
}
""" % (DATA["mlp"], DATA["mlp"], DATA["cnn"]))

TRAINS = {
    "narrow": """
train narrow {
  model     net(image)
  data      digits, batch = 16
  loss      cross_entropy(net, label)
  metric    accuracy(net, label)
  optimizer adam(lr = [1e-3, 1e-2])
  steps     40
}
""",
    "conv": """
train conv {
  model     cnn(image)
  data      pictures, batch = 8, order_seed = 3
  loss      cross_entropy(cnn, label)
  optimizer sgd(lr = [0.1, 0.05, 0.01], momentum = 0.9)
  seed      2
  steps     12
}
""",
    "wide": """
train wide {
  model     wide(image)
  data      digits, batch = 20
  loss      cross_entropy(wide, label)
  optimizer sgd(lr = 0.05)
  precondition kfac(factor_every = 2, inverse_every = 5)
  clip_norm 1
  steps     50
}
""",
}


def read_events(path):
    """Returns the events of each job in a log, without the job's name and the times."""
    events = {name: [] for name in NAMES}
    for line in path.read_text().splitlines():
        event = json.loads(line)
        event.pop("seconds", None)
        events[event.pop("job")].append(event)
    return events


def without_starts(events):
    return [event for event in events if event["event"] != "start"]


class Jobs:
    """The program with all jobs, and the results of each job's own program."""

    def __init__(self):
        self.work = work = Work(__doc__, "mlp", "cnn")
        self.binary = work.compile("jobs", DECLARATIONS + "".join(TRAINS.values()))
        self.alone, self.events = {}, {}
        for name in NAMES:
            binary = work.compile(name, DECLARATIONS + TRAINS[name])
            log = work.folder / f"{name}.jsonl"
            self.alone[name] = checkpoint(
                work.train(binary, "--log", log, "--log-every", "1"), STEPS[name])
            self.events[name] = [json.loads(line) for line in log.read_text().splitlines()]
            for event in self.events[name]:
                event.pop("seconds", None)

    def command(self, folder, *flags):
        return [str(part) for part in (
            self.binary, "train", "--data", self.work.folder, "--checkpoint", folder,
            "--no-progress", "--log-every", "1", *flags)]

    def expect_trained(self, folder, what, names=NAMES):
        for name in names:
            expect_same_checkpoint(checkpoint(folder / name, STEPS[name]),
                                   self.alone[name], f"{what}, job {name}", COPIES[name])

    def expect_logged(self, log, what, names=NAMES):
        events = read_events(log)
        for name in names:
            expect_equal(without_starts(events[name]), without_starts(self.events[name]),
                         f"{what}, log of {name}")


def test_all(jobs):
    folder, log = jobs.work.folder / "all", jobs.work.folder / "all.jsonl"
    log.write_text("an older one\n")
    text = run(*jobs.command(folder, "--log", log))
    expect_equal([line for line in text.splitlines() if line in NAMES], NAMES, "blocks")
    jobs.expect_trained(folder, "all")
    expect_equal(read_events(log), jobs.events, "log of all")
    # When complete jobs are resumed, each prints its results again, and nothing else
    # happens.
    again = run(*jobs.command(folder, "--log", log, "--resume"))
    expect_equal(again, text, "results of what was complete")
    jobs.expect_trained(folder, "all again")
    jobs.expect_logged(log, "all again")
    # A new training fails for each job whose checkpoint folder isn't empty, and only for
    # these.
    shutil.rmtree(folder / "conv")
    text = run(*jobs.command(folder), code=1)
    for name in ("narrow", "wide"):
        if f"jobs: error: job '{name}': '{folder}/{name}' holds checkpoints" not in text:
            fail(f"nothing about {name}: {text}")
    jobs.expect_trained(folder, "beside full folders", ["conv"])
    run(*jobs.command(folder, "--overwrite", "--keep", "1", "--every", "5"))
    jobs.expect_trained(folder, "in place of others")
    return folder


def test_one(jobs, trained):
    """Tests all commands with one selected job."""
    work, binary = jobs.work, jobs.binary
    folder, log = work.folder / "one", work.folder / "one.jsonl"
    run(*jobs.command(folder, "--log", log, "--job", "conv"))
    jobs.expect_trained(folder, "by itself", ["conv"])
    expect_equal(sorted(os.listdir(folder)), ["conv"], "folders")
    expect_equal(read_events(log)["conv"], jobs.events["conv"], "its log")
    # Resuming one job keeps the other jobs' lines in the log.
    run(*jobs.command(folder, "--log", log, "--job=narrow", "--resume"))
    jobs.expect_logged(log, "of two", ["conv", "narrow"])
    # Compiled with --job, a job gives the same program as from a file of its own.
    single = work.folder / "single"
    run(work.hftac, work.folder / "jobs.hfta", "--job=wide", "-o", single)
    expect_same_file(single, work.folder / "wide", "program of one job")
    expect_equal("--job" in run(single, "train", "--help"), False, "--job in --help")

    for name in ("narrow", "wide"):
        flags = ["--data", work.folder, "--checkpoint"]
        own = run(work.folder / name, "eval", *flags, jobs.alone[name].parent)
        for place in (trained, checkpoint(trained / name, STEPS[name])):
            expect_equal(run(binary, "eval", "--job", name, *flags, place), own,
                         f"eval of {name}")
        files = [work.folder / f"{name}-{kind}.onnx" for kind in ("own", "job")]
        run(work.folder / name, "export", "--copy", 0, "-o", files[0], "--checkpoint",
            jobs.alone[name].parent)
        run(binary, "export", "--copy", 0, "-o", files[1], "--checkpoint", trained,
            "--job", name)
        expect_same_file(*files, f"export of {name}")
        outs = [work.folder / f"{name}-{kind}" for kind in ("own", "job")]
        inputs = ["--input", f"image={work.folder}/mlp-image.npy", "--output"]
        run(work.folder / name, "run", *inputs, outs[0], "--checkpoint",
            jobs.alone[name].parent)
        run(binary, "run", f"--job={name}", *inputs, outs[1], "--checkpoint", trained)
        expect_same_file(outs[1] / "output.npy", outs[0] / "output.npy", f"run of {name}")
        own = run(work.folder / name, "info", "--json")
        expect_equal(run(binary, "info", "--json", "--job", name), own, f"info of {name}")
        run(binary, "bench", "--steps", 2, "--job", name)


def run_killed(command, longest, most, numbers):
    """Runs a command repeatedly and kills it after a random time of at most `longest`
    seconds, until a run ends by itself; after `most` kills, lets it run to its end.
    `numbers` is the random generator. Returns the number of kills."""
    kills = 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            limit = numbers.uniform(0, longest) if kills < most else None
            _, messages = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            continue
        expect_equal(process.returncode, 0, f"exit after {kills} kills: {messages}")
        return kills


def measure(command):
    start = time.monotonic()
    run(*command)
    return time.monotonic() - start


def test_kills(jobs):
    folder, log = jobs.work.folder / "killed", jobs.work.folder / "killed.jsonl"
    duration = measure(jobs.command(jobs.work.folder / "timed"))
    kills = run_killed(jobs.command(folder, "--log", log, "--resume", "--every", "3"),
                       duration * 0.7, KILLS, random.Random(4))
    jobs.expect_trained(folder, f"after {kills} kills")
    jobs.expect_logged(log, f"after {kills} kills")


def test_interrupt(jobs):
    """Tests that Ctrl-C saves the job that runs, and that the following jobs aren't
    begun."""
    folder, log = jobs.work.folder / "stopped", jobs.work.folder / "stopped.jsonl"
    os.mkfifo(log)
    process = subprocess.Popen(
        jobs.command(folder, "--log", log, "--steps", "100000000"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(log) as lines:
        for line in lines:
            if json.loads(line).get("step") == 2:
                process.send_signal(signal.SIGINT)
                break
        lines.read()
    out, err = process.communicate()
    expect_equal((process.returncode, out), (130, ""), f"exit code, results ({err})")
    expect_equal(os.listdir(folder), ["narrow"], "folders")
    saved = next((folder / "narrow").glob("step-*"))
    for text in (f"stopped after step {int(saved.name[5:])}; saved {saved}",
                 "stopped before job 'conv'"):
        if text not in err:
            fail(f"no '{text}' in {err}")


def test_pipe(jobs):
    """Tests a log that is written to a named pipe: the reader sees all jobs as one log."""
    log = jobs.work.folder / "pipe"
    os.mkfifo(log)
    texts = []
    reader = threading.Thread(target=lambda: texts.append(log.read_text()))
    reader.start()
    run(*jobs.command(jobs.work.folder / "piped", "--log", log))
    reader.join()
    whole = jobs.work.folder / "piped.jsonl"
    whole.write_text(texts[0])
    expect_equal(read_events(whole), jobs.events, "log of a pipe")


def test_missing_data(jobs):
    """Tests that a job without its data fails while the others go on, and that it can be
    resumed when the data are there."""
    folder, log = jobs.work.folder / "partial", jobs.work.folder / "partial.jsonl"
    pictures, away = (jobs.work.folder / name for name in ("cnn-image.npy", "away.npy"))
    pictures.rename(away)
    text = run(*jobs.command(folder, "--log", log), code=1)
    if "jobs: error: job 'conv': " not in text or "cnn-image.npy" not in text:
        fail(f"no word about its data: {text}")
    jobs.expect_trained(folder, "beside a failure", ["narrow", "wide"])
    away.rename(pictures)
    run(*jobs.command(folder, "--log", log, "--resume"))
    jobs.expect_trained(folder, "after a failure")
    jobs.expect_logged(log, "after a failure")
    # The log of one job must not overwrite the data of another one.
    text = run(*jobs.command(folder, "--log", pictures, "--job", "wide", "--overwrite"),
               code=2)
    if "would replace" not in text:
        fail(f"not refused: {text}")


def main():
    jobs = Jobs()
    trained = test_all(jobs)
    test_one(jobs, trained)
    test_kills(jobs)
    test_interrupt(jobs)
    test_pipe(jobs)
    test_missing_data(jobs)
    print("all jobs as alone")


if __name__ == "__main__":
    main()
