#!/usr/bin/env python3
"""Damages schedules at random, by one or several changes of commands or segments per seed.
Either hftac must refuse the damaged schedule, or the program must train to the same bytes
as the undamaged one. The program is run on devices that execute the commands of their
queues in other orders, and also on three ranks if it has three workers; no run may hang.
Needs Open MPI's mpirun, a C compiler, and only Python's standard library.

The damage concerns the order of commands and the movement of bytes: events, exchanges of
ranks, messages of stages, transfers and fills are left out, moved, swapped, doubled, or get
another event, queue, number of bytes, place, stage or micro-batch; runs of tasks get
another queue; actions of an order are swapped or left out; segments get another number of
instances. Runs of tasks are neither removed nor moved, as the result would be another valid
program. Only the schedules that a training runs are damaged: `initialize`, `step` and
`evaluate`."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from harness import (ADAM, COPIES, DATA, MODELS, REFERENCE, checkpoint, copy_file,
                     make_blocks, run)
from mpirun import Ranks

STEPS = 3
DEVICES = ["cpu", "shuffled:0", "shuffled:1", "shuffled:2", "shuffled:3"]
RANKS = 3
LIMIT = 60  # the longest time in seconds that a run of hftac or of a program may take
NETS = {
    "mlp": MODELS["mlp"].replace("relu(linear(flatten(image), 37))",
                                 "dropout(relu(linear(flatten(image), 37)), 0.2)"),
    "cnn": MODELS["cnn"].replace("relu(conv1)", "relu(batch_norm(conv1))"),
    # A model in which layers of two stages read the same value.
    "skip": """
model net(image: f32[batch, 1, 8, 8]) {
  early = relu(linear(flatten(image), 12))
  first = relu(linear(flatten(image), 12))
  second = relu(linear(first, 12) + linear(early, 12))
  third = linear(second, 12) + linear(early, 12)
  return output = linear(relu(third), 10)
}
""",
}
WORKERS = "pipeline replicas = [3], bucket = "
# The jobs: name to network, clauses of the train block, and flags of hftac.
JOBS = {
    "turns": ("mlp", "", ()),
    "sums": ("mlp", f"micro_batches 4, groups = 4\n  {WORKERS}4KiB", ()),
    "ahead": ("cnn", "micro_batches 4, all_forwards_first = true", ("--cuts=pool1",)),
    "statistics": ("cnn", "micro_batches 4, groups = 3\n  clip_norm 0.5\n  "
                          f"{WORKERS}8KiB", ("--cuts=pool2",)),
    "parts": ("mlp", "micro_batches 4, groups = 2\n  clip_norm 0.5", ()),
    "stages": ("cnn", "micro_batches 4\n  clip_norm 0.5\n  pipeline "
                      'cuts = ["conv1", "pool1"]', ()),
    "chunks": ("cnn", "micro_batches 4\n  pipeline "
                      'cuts = ["conv1", "pool1", "pool2"], order = v_shape', ()),
    "replicas": ("cnn", "micro_batches 4, groups = 2\n  pipeline "
                        'cuts = ["pool1"], replicas = [2, 1], order = zero_bubble', ()),
    "again": ("cnn", "micro_batches 4\n  recompute all\n  pipeline "
                     'cuts = ["pool1", "hidden"], order = zero_bubble', ()),
    "late": ("cnn", "micro_batches 4, all_forwards_first = true\n  "
                    f"{WORKERS}4e6, overlap = false", ()),
    "curved": ("skip", "micro_batches 4, groups = 2\n  precondition kfac(inverse_every = "
                       '20)\n  pipeline cuts = ["first", "second"], replicas = [1, 2, 1]',
               ()),
    "bases": ("skip", "micro_batches 4\n  clip_norm 0.5\n  precondition "
                      'kfac(method = eigen)\n  pipeline cuts = ["first", "second"], '
                      "order = zero_bubble", ()),
    "moments": ("mlp", f"micro_batches 4, groups = 4\n  precondition kfac()\n  "
                       f"{WORKERS}4KiB", ()),
}
# In these jobs, some replicas do a part of the preconditioner's work and broadcast the
# results to the others.
JOBS.update({placement.split("(")[0]: (net, "micro_batches 4, groups = 4\n  precondition "
                                       "kfac(factor_every = 1, inverse_every = 2, "
                                       f"placement = {placement})\n  {WORKERS}8KiB", ())
             for net, placement in [("cnn", "balanced"), ("mlp", "local"),
                                    ("mlp", "fraction(0.3333333333333333)")]})
# These jobs share a preconditioner's work among the replicas of a stage, and send values to
# another stage as well.
JOBS.update({f"{word}-of-stages": ("skip", "micro_batches 4, groups = 2\n  precondition "
                                   f"kfac(method = {method}, factor_every = 1, "
                                   f"inverse_every = 2, placement = {placement})\n  "
                                   'pipeline cuts = ["first"], replicas = [2, 1]', ())
             for word, method, placement in [("columns", "eigen", "fraction(0.5)"),
                                             ("owners", "cholesky", "balanced"),
                                             ("samples", "cholesky", "local")]})
# In some of this job's steps, a second backward goes through the stages.
JOBS["drawn"] = ("skip", "micro_batches 4\n  precondition kfac(fisher = sampled, "
                 "inverse_every = 20)\n  pipeline "
                 'cuts = ["first", "second"], order = one_f_one_b', ())
SCHEDULES = re.compile(r"  hfta\.schedule @(initialize|step|evaluate)(\.\d+)? ")


def make_job(net, clauses):
    # The batch sizes don't divide the number of samples, so that the last batch of an
    # evaluation is incomplete.
    fields = DATA["cnn" if net == "cnn" else "mlp"]
    return NETS[net] + make_blocks(
        fields + "\n  test " + fields, "cross_entropy(net, label)", ADAM, STEPS,
        batch=24 if net == "cnn" else 48,
        clauses=f"  metric accuracy(net, label)\n  seed 3\n  {clauses}")


# The damage

KINDS = {"record": "event", "await": "event", "all_reduce": "exchange",
         "all_gather": "exchange", "broadcast_bytes": "exchange",
         "take_group": "exchange", "only": "replicas", "send": "message", "receive": "message",
         "transfer": "transfer", "fill": "transfer", "run": "run", "actions": "order"}
COMMAND = re.compile(r"^ *hfta\.(\w+) ")
OFFSET = re.compile(r"<\w+, \d+, (?P<number>\d+)")
BYTES = re.compile(r"(?:transfer|fill|all_gather|broadcast_bytes|all_reduce @\S+|send|"
                   r"receive) (?P<number>\d+)")
REPLICAS = re.compile(r"(?:only|from|to|, ) ?<?(?P<number>\d+)(?=, \d+, \d+>|, \d+>|>)")
PLACE = re.compile(r"<(?:segment|host|field|port), (?P<number>\d+)")
STAGE = re.compile(r"(?:to|from) stage (?P<number>\d+)")
EVENT = re.compile(r"(?:record|await) (?P<number>\d+)")
INSTANCES = re.compile(r"(?P<number>\d+) instances")


class Text:
    """The lines of a module in text form, and the positions of the commands in it."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.bodies = []  # pairs: a schedule's first line, and the line after its last
        begin = None
        for index, line in enumerate(self.lines):
            found = SCHEDULES.match(line) if begin is None else None
            # A program of several stages runs the schedules with a stage's number, and
            # doesn't use the ones of the whole program.
            if found and bool(found[2]) == ("@step.0 " in text):
                begin = index + 1
            elif begin is not None and line.startswith("  }"):
                self.bodies.append((begin, index))
                begin = None
            elif begin is not None:
                self.lines[index] = re.sub(r" loc\(\S+\)$", "", line)

    def join(self):
        return "\n".join(self.lines) + "\n"

    def kind(self, index):
        command = COMMAND.match(self.lines[index])
        return KINDS.get(command[1]) if command else None

    def commands(self, kind):
        return [index for begin, end in self.bodies for index in range(begin, end)
                if self.kind(index) == kind]

    def body(self, index):
        return next(body for body in self.bodies if body[0] <= index < body[1])


def change(line, pattern, chance, others):
    """Replaces one of the numbers that `pattern` finds in the line by another one of
    `others(number)`, and returns the line."""
    match = chance.choice(list(pattern.finditer(line)))
    number = int(match["number"])
    other = chance.choice([other for other in others(number)
                           if other != number and other >= 0])
    return f"{line[:match.start('number')]}{other}{line[match.end('number'):]}"


def set_attribute(line, name, chance, most):
    """Gives the attribute `name` of a command another number from 0 to `most`, and returns
    the line. If the command lacks the attribute, its number is 0."""
    found = re.search(rf"\b{name} = (\d+) : i64", line)
    number = chance.choice([other for other in range(most + 1)
                            if other != (int(found[1]) if found else 0)])
    if found:
        return line[:found.start(1)] + str(number) + line[found.end(1):]
    if line.endswith("}"):
        return f"{line[:-1]}, {name} = {number} : i64}}"
    return f"{line} {{{name} = {number} : i64}}"


def near(number):
    return [number // 2, number - 64, number - 4, number + 4, number + 64, 2 * number,
            number - 4096, number + 4096]


def reorder(text, index, chance):
    """Swaps two actions of an order, or removes one."""
    line = text.lines[index]
    begin, end = line.index("[") + 1, line.index("]")
    numbers = line[begin:end].split(", ")
    actions = [numbers[i:i + 2] for i in range(0, len(numbers), 2)]
    one, other = chance.sample(range(len(actions)), 2)
    if chance.random() < 0.2:
        actions.pop(one)
    else:
        actions[one], actions[other] = actions[other], actions[one]
    text.lines[index] = (line[:begin] + ", ".join(sum(actions, [])) + line[end:])


def move(text, index, chance):
    begin, end = text.body(index)
    line = text.lines.pop(index)
    text.lines.insert(chance.choice([place for place in range(begin, end)
                                     if place != index]), line)


def swap(text, index, chance):
    """Swaps a command with the next one, or with any other command that doesn't run a
    task."""
    begin, end = text.body(index)
    others = [other for other in range(begin, end)
              if text.kind(other) not in (None, "run") and other != index]
    if index + 1 < end and text.kind(index + 1):
        others += [index + 1] * len(others)
    if not others:
        return
    other = chance.choice(others)
    text.lines[index], text.lines[other] = text.lines[other], text.lines[index]


def edit(function):
    """Returns a function that damages a module by replacing a line by `function(line,
    chance)`."""
    def damage_line(text, index, chance):
        text.lines[index] = function(text.lines[index], chance)
    return damage_line


DAMAGES = {
    "remove": lambda text, index, chance: text.lines.pop(index),
    "move": move,
    "swap": swap,
    "twice": lambda text, index, chance: text.lines.insert(index, text.lines[index]),
    "queue": edit(lambda line, chance: set_attribute(line, "queue", chance, 6)),
    "order": reorder,
    "stage": edit(lambda line, chance: change(line, STAGE, chance,
                                              lambda number: range(4))),
    "turns": edit(lambda line, chance: set_attribute(line, "instances", chance, 3)),
    "ahead": edit(lambda line, chance: set_attribute(line, "ahead", chance, 3)),
    "number": edit(lambda line, chance: change(line, EVENT, chance,
                                               lambda number: range(11))),
    "bytes": edit(lambda line, chance: change(line, BYTES, chance, near)),
    "offset": edit(lambda line, chance: change(line, OFFSET, chance, near)),
    "place": edit(lambda line, chance: change(
        line, PLACE, chance, lambda number: [*range(8), number - 1, number + 1])),
    "members": edit(lambda line, chance: change(
        line, REPLICAS, chance, lambda number: range(4))),
    "instances": edit(lambda line, chance: change(
        line, INSTANCES, chance,
        lambda number: [0, 1, number - 1, number + 1, number + 2, 2 * number])),
}
ORDER = ["remove", "move", "swap", "twice", "queue"]
CLASSES = {"event": ORDER + ["number", "turns", "ahead"],
           "exchange": ORDER + ["bytes", "offset", "place"],
           "message": ORDER + ["bytes", "offset", "place", "ahead", "stage"],
           "order": ["order"],
           "transfer": ORDER + ["bytes", "offset", "place", "ahead"],
           "replicas": ["members"], "run": ["queue"], "segment": ["instances"]}


def damage(original, chance):
    """Damages a module once, at a random place. Returns the kind of damage, the damaged
    line, and the module's text after it."""
    while True:
        text = Text(original)
        kind = chance.choice(["event", "event", "exchange", "exchange", "message",
                              "message", "order", "transfer", "run", "segment",
                              "replicas", "replicas"])
        name = chance.choice(CLASSES[kind])
        places = text.commands(kind)
        if kind == "segment":
            places = [index for index, line in enumerate(text.lines)
                      if "hfta.segments = " in line]
        if not places:
            continue
        index = chance.choice(places)
        before = text.lines[index].strip()
        if "broadcast_bytes" in before and chance.random() < 0.3:
            name = "members"
        if name == "ahead" and not re.search(r"transfer|receive|record|await", before):
            continue
        DAMAGES[name](text, index, chance)
        if text.lines != Text(original).lines:
            what = before if kind != "segment" else "a segment"
            return f"{kind} {name}", what, text.join()


# The results

class Check:
    def __init__(self, options):
        self.hftac = options.hftac
        self.folder = options.work
        self.keep = options.keep
        self.damages = options.damages
        self.folder.mkdir(parents=True, exist_ok=True)
        run(sys.executable, REFERENCE / "make_data.py", self.folder, "mlp", "cnn")
        self.texts, self.expected = {}, {}
        self.jobs = sorted(options.jobs)
        for name in self.jobs:
            net, clauses, flags = JOBS[name]
            job, path = self.folder / f"{name}.hfta", self.folder / f"{name}.mlir"
            job.write_text(make_job(net, clauses))
            run(self.hftac, job, "--emit=scheduled", "-o", path, *flags)
            self.texts[name] = path.read_text()
            path.write_text(Text(self.texts[name]).join())
            binary = path.with_suffix("")
            run(self.hftac, path, "-o", binary)
            self.expected[name] = self.train(binary, "cpu")
            if other := self.find_other(binary, name):
                sys.exit(f"error: {name}, undamaged: {other}")

    def flags(self, folder):
        return ["train", "--data", self.folder, "--checkpoint", folder, "--log",
                folder.with_suffix(".jsonl"), "--log-every", "1", "--no-progress"]

    def train(self, binary, device):
        """Returns the files and log events that a training leaves, or, if it fails, a
        message."""
        folder = binary.with_name(f"{binary.name}-{device.replace(':', '-')}")
        try:
            result = subprocess.run([binary, *self.flags(folder), "--device", device],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return f"still runs after {LIMIT} s"
        if result.returncode:
            return f"exit {result.returncode}: {result.stdout:.500}"
        return self.read(folder)

    def train_together(self, binary, count):
        folder = binary.with_name(f"{binary.name}-ranks")
        ranks = Ranks(count, binary, *self.flags(folder), "--rank-timeout", "20")
        try:
            ranks.finish(limit=LIMIT)
        except SystemExit as error:
            return str(error)
        return self.read(folder)

    def read(self, folder):
        log = folder.with_suffix(".jsonl")
        events = [json.loads(line) for line in log.read_text().splitlines()]
        for event in events:
            event.pop("seconds", None)
        bytes_of = [copy_file(checkpoint(folder, STEPS), copy).read_bytes()
                    for copy in range(COPIES)]
        log.unlink()
        shutil.rmtree(folder)
        return bytes_of + [events]

    def find_other(self, binary, name):
        """Returns a description of the first device, or run on several ranks, that gives a
        result other than that of the undamaged program; None if all are equal."""
        expected = self.expected[name]
        has_stages = "cuts" in JOBS[name][1]
        # A job with stages runs on the CPU device only. Its messages block a thread until
        # another worker answers, and shuffled devices execute all queues on one thread.
        for device in DEVICES[:1] if has_stages else DEVICES:
            got = self.train(binary, device)
            if got != expected:
                return f"{device}: {got if isinstance(got, str) else 'other bytes'}"
        got = expected
        if WORKERS in JOBS[name][1] or has_stages:
            got = self.train_together(binary, 2 if name == "chunks" else RANKS)
        if got != expected:
            return f"{RANKS} ranks: {got if isinstance(got, str) else 'other bytes'}"
        return None

    def try_seed(self, seed):
        """Damages a schedule and tries it. Returns the kind of damage, the result
        ("refused", "equal" or "other"), and a line that describes both."""
        chance = random.Random(seed)
        name = chance.choice(self.jobs)
        kind, what, text = damage(self.texts[name], chance)
        for _ in range(self.damages - 1):
            other, of, text = damage(text, chance)
            what = f"{what}; {other}: {of}"
        path = self.folder / f"damaged-{seed}.mlir"
        path.write_text(text)
        binary = path.with_suffix("")
        label = f"seed {seed}: {name}, {kind}: {what}"
        try:
            result = subprocess.run([self.hftac, path, "-o", binary], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return kind, "other", f"{label}: hftac still runs after {LIMIT} s"
        if result.returncode == 1 and "error: " in result.stderr:
            if not self.keep:
                path.unlink()
            return kind, "refused", label
        if result.returncode:
            return (kind, "other", f"{label}: hftac: exit {result.returncode}\n"
                                   f"{result.stderr:.1000}")
        other = self.find_other(binary, name)
        if other:
            return kind, "other", f"{label}: {other}"
        if not self.keep:
            for left in (path, binary, binary.with_suffix(".o")):
                left.unlink(missing_ok=True)
        return kind, "equal", label


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=60, help="seeds from 0 on")
    parser.add_argument("--first", type=int, default=0, help="instead of from 0")
    parser.add_argument("--jobs", nargs="+", choices=sorted(JOBS),
                        default=sorted(JOBS), help="which are damaged")
    parser.add_argument("--damages", type=int, default=1, help="of each schedule")
    parser.add_argument("--keep", action="store_true", help="what was damaged")
    options = parser.parse_args()
    check = Check(options)
    counts = collections.defaultdict(collections.Counter)
    failures = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = range(options.first, options.first + options.seeds)
        for kind, result, text in pool.map(check.try_seed, seeds):
            counts[kind][result] += 1
            if result == "other":
                failures.append(text)
                print(text, flush=True)
            elif options.keep:
                print(f"{result}: {text}", flush=True)
    total = collections.Counter()
    for kind in sorted(counts):
        total += counts[kind]
        print(f"{kind:20} {counts[kind]['refused']:5} refused "
              f"{counts[kind]['equal']:5} equal {counts[kind]['other']:5} other")
    print(f"{'all':20} {total['refused']:5} refused {total['equal']:5} equal "
          f"{total['other']:5} other")
    if failures:
        sys.exit(f"error: {len(failures)} damaged schedules of {options.seeds}")


if __name__ == "__main__":
    main()
