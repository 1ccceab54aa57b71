#!/usr/bin/env python3
"""Measures searches over the CNN of examples/fashion: trials that all go all the way,
successive halving, and its asynchronous form.

    bench/search.py [--hftac build/bin/hftac] [--data DIR] [--samples N] [--trials 81]
                    [--epochs 9] [--slots 8] [--threads N] [--modes full,halving,asha]
                    [--small] [--torch PYTHON] [--peers replay,ray] [--json]
    bench/search.py --overhead [--trials 1000] [--threads N] [--json]

Learning rate, weight decay and label smoothing vary; some rates are so high that trials
diverge. All modes have the same settings, a tenth of the N training images (default: all)
for validation, batches of 64, and eta 3. For each mode, prints the wall clock, the epochs
of all trials together, the seconds of one of these, the share of time outside of training
(start, evaluations, states), and the best trial's accuracy. The time of training is what
as many steps take in the program's command bench. --small stands for 2000 images and 27
trials.

With --torch or HFTA_TORCH_PYTHON, which name a Python with PyTorch, the peers of
search_peer.py train the same list of settings: `replay` in two plain processes and by our
decisions, `ray` by Ray Tune's ASHA, for which Ray must be there, too.

--overhead trains trials of a small MLP for one epoch of 4 steps each, with and without
--checkpoint, and prints how much longer that takes for each trial than as many epochs of
8 copies without a search.

Needs Python's standard library. If something is missing, says what, measures the rest,
and ends with exit code 3."""

import argparse
import collections
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

from copies import find_torch
from needs import MISSING, need_file, stop
from timed_runs import bench

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "gpu"))

from arguments import list_of, positive  # noqa: E402  (found by the path above)

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
PEER = ROOT / "bench" / "search_peer.py"
FILES = {"train-images-idx3": 16, "train-labels-idx1": 8, "t10k-images-idx3": 16,
         "t10k-labels-idx1": 8}  # to the bytes before the first sample
MODES = {"full": "none", "halving": "halving(eta = 3)",
         "asha": "asha(workers = 8, eta = 3)"}
PEERS = ("replay", "ray")
SMALL = {"samples": 2000, "trials": 27}
OVERHEAD_TRIALS, OVERHEAD_STEPS, OVERHEAD_BATCH = 1000, 4, 16
BENCH_STEPS = 30
PEER_LIMIT = 4 * 3600  # seconds

JOB = """
model cnn = onnx("{model}")
data fashion {{
  image: u8[28, 28], label: u8
  train image = idx("train-images-idx3-ubyte.gz") / 255, label = idx("train-labels-idx1-ubyte.gz")
  test  image = idx("t10k-images-idx3-ubyte.gz") / 255,  label = idx("t10k-labels-idx1-ubyte.gz")
}}
train tune {{
  model      cnn(image)
  data       fashion, batch = 64, order_seed = 1
  validation 0.1
  loss       cross_entropy(cnn, label, label_smoothing = uniform(0, 0.2))
  metric     accuracy(cnn, label)
  optimizer  adam(lr = log_uniform(1e-4, 1e-1), weight_decay = choice(0, 1e-5, 1e-4))
  search     random(trials = {trials}, seed = 1), {rule}, slots = {slots}
  objective  validation.accuracy
  epochs     {epochs}
}}
"""

MLP = """
model net(image: f32[batch, 1, 28, 28]) {{
  return linear(relu(linear(flatten(image), 16)), 10)
}}
data fashion {{
  image: u8[28, 28], label: u8
  train image = idx("train-images-idx3-ubyte.gz") / 255, label = idx("train-labels-idx1-ubyte.gz")
}}
train tune {{
  model      net(image)
  data       fashion, batch = {batch}
  validation 0.2
  loss       cross_entropy(net, label)
  optimizer  adam(lr = {rates})
{clauses}
}}
"""


def cut_data(source, folder, samples):
    """Writes the first samples of the data files."""
    folder.mkdir()
    for name, head in FILES.items():
        path = source / f"{name}-ubyte.gz"
        if not path.is_file():
            stop(f"{path}: no such file; Debian's package dataset-fashion-mnist has it")
        count = samples if name.startswith("train") else max(samples // 6, 1)
        with gzip.open(path) as file:
            begin = file.read(head)
            size = 784 if head == 16 else 1
            count = min(count, struct.unpack(">I", begin[4:8])[0])
            content = begin[:4] + struct.pack(">I", count) + begin[8:]
            (folder / path.name).write_bytes(
                gzip.compress(content + file.read(count * size), 1))


class Measurement:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.data = folder / "data"
        self.threads = f"--threads={options.threads}"
        self.rows, self.missing = [], []
        cut_data(options.data, self.data, options.samples)

    def compile(self, name, text):
        job, binary = self.folder / f"{name}.hfta", self.folder / name
        job.write_text(text)
        self.run(self.options.hftac, job, "-o", binary)
        return binary

    def run(self, *command):
        """Runs a command to its end. Returns its output and the seconds that it took."""
        begin = time.perf_counter()
        result = subprocess.run(list(map(str, command)), check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if result.returncode:
            sys.exit(f"error: {' '.join(map(str, command))}\n{result.stderr:.2000}")
        return result.stdout, time.perf_counter() - begin

    def train(self, binary, *flags):
        return self.run(binary, "train", "--data", self.data, "--no-progress",
                        self.threads, *flags)

    def measure_mode(self, mode):
        options = self.options
        binary = self.compile(mode, JOB.format(
            model=ROOT / "examples/fashion/cnn.onnx", rule=MODES[mode],
            trials=options.trials, slots=options.slots, epochs=options.epochs))
        found = self.folder / f"{mode}-found"
        text, seconds = self.train(binary, "--checkpoint", found)
        events = list(map(json.loads, (found / "search.jsonl").read_text().splitlines()))
        live = collections.Counter(len(event["trials"]) for event in events
                                   if event["event"] == "evaluated")
        steps = int(events[0]["steps per epoch"])
        training = sum(lines * steps * self.time_step(binary, count)
                       for count, lines in live.items())
        told = json.loads(self.run(binary, "trials", "--json", "--checkpoint", found)[0])
        self.add(mode, seconds, sum(count * lines for count, lines in live.items()),
                 1 - training / seconds, told["trials"][0]["score"],
                 cohort_epochs=sum(live.values()), best_line=text.splitlines()[-1])
        return events, told

    def time_step(self, binary, count):
        """Returns the seconds of a step of `count` trials."""
        measured = bench([binary], BENCH_STEPS, self.threads,
                         f"--only={','.join(map(str, range(count)))}")
        return measured["seconds"] / measured["steps"]

    def measure_peer(self, peer, events, told):
        options = self.options
        spec = {"data": str(self.data), "epochs": options.epochs, "threads": 1,
                "workers": options.threads, "batch": 64,
                "settings": [event["settings"] for event in events
                             if event["event"] == "trial"],
                "trial_epochs": {trial["trial"]: trial["epochs"]
                                 for trial in told["trials"]}}
        path = self.folder / "peer.json"
        path.write_text(json.dumps(spec))
        reason = None
        try:
            result = subprocess.run([options.torch, PEER, peer, path], check=False,
                                    text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, timeout=PEER_LIMIT)
        except subprocess.TimeoutExpired:
            reason = f"it hasn't ended after {PEER_LIMIT} s"
        if not reason and result.returncode:
            reason = (result.stderr.splitlines() or ["it fails"])[-1]
        if reason:
            self.missing.append(f"peer {peer}: {reason}")
            print(f"error: peer {peer} is left out: {reason}", file=sys.stderr)
            return
        got = json.loads(result.stdout.splitlines()[-1])
        self.add(peer, got["seconds"], got["trial_epochs"],
                 1 - got["training_seconds"] / got["seconds"], got["best"])

    def add(self, mode, seconds, epochs, outside, best, **more):
        self.rows.append({"mode": mode, "seconds": seconds, "trial_epochs": epochs,
                          "outside": outside, "best": best, **more})
        full = next((row["seconds"] for row in self.rows if row["mode"] == "full"), None)
        share = f"{seconds / full:8.3f}" if full else f"{'':8}"
        print(f"{mode:8} {seconds:9.1f} s {share} {epochs:8} {seconds / epochs:12.4f} s "
              f"{100 * outside:8.1f} % {100 * best:8.2f} %", flush=True)

    def measure(self):
        options = self.options
        print(f"{'mode':8} {'time':>11} {'of full':>8} {'epochs':>8} {'an epoch':>14} "
              f"{'outside':>10} {'best':>10}", flush=True)
        decided = None
        for mode in options.modes:
            found = self.measure_mode(mode)
            decided = found if mode == "halving" or not decided else decided
        if options.peers and decided:
            version, reason = find_torch(options.torch)
            if version:
                for peer in options.peers:
                    self.measure_peer(peer, *decided)
            else:
                self.missing.append(f"peers: {reason}")
                print(f"error: peers are left out: {reason}", file=sys.stderr)

    def measure_overhead(self):
        """Compares one epoch of each trial with as many epochs of 8 copies."""
        options = self.options
        slots, trials = options.slots, options.trials
        common = {"batch": OVERHEAD_BATCH}
        binary = self.compile("search", MLP.format(
            **common, rates="log_uniform(1e-4, 1e-2)",
            clauses=f"  search random(trials = {trials}), slots = {slots}\n  epochs 1"))
        rates = ", ".join(f"{1 + i}e-3" for i in range(slots))
        epochs = -(-trials // slots)
        plain = self.compile("plain", MLP.format(
            **common, rates=f"[{rates}]", clauses=f"  epochs {epochs}"))
        seconds = {"plain": [], "memory": [], "folder": []}
        for number in range(options.rounds):
            seconds["plain"].append(self.train(plain)[1])
            seconds["memory"].append(self.train(binary)[1])
            seconds["folder"].append(self.train(
                binary, "--checkpoint", self.folder / f"found-{number}")[1])
        least = {name: min(values) for name, values in seconds.items()}
        for name, what in (("memory", "without --checkpoint"),
                           ("folder", "with --checkpoint")):
            overhead = (least[name] - least["plain"]) / trials
            self.rows.append({"row": name, "seconds": least[name],
                              "plain": least["plain"], "overhead": overhead})
            print(f"{trials} trials {what:20} {least[name]:8.2f} s, {epochs} epochs of "
                  f"{slots} copies {least['plain']:6.2f} s: {1e3 * overhead:6.2f} ms a "
                  f"trial", flush=True)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--samples", type=positive)
    parser.add_argument("--trials", type=positive)
    parser.add_argument("--epochs", type=positive, default=9)
    parser.add_argument("--slots", type=positive, default=8)
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--modes", type=list_of(MODES), default=list(MODES))
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--torch", metavar="PYTHON",
                        default=os.environ.get("HFTA_TORCH_PYTHON"))
    parser.add_argument("--peers", type=list_of(PEERS), default=[])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    defaults = (
        {"samples": OVERHEAD_STEPS * OVERHEAD_BATCH * 5 // 4, "trials": OVERHEAD_TRIALS}
        if options.overhead else SMALL if options.small
        else {"samples": 60000, "trials": 81})
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def main():
    options = parse()
    need_file(options.hftac)
    with tempfile.TemporaryDirectory() as name:
        measurement = Measurement(options, pathlib.Path(name))
        if options.overhead:
            measurement.measure_overhead()
        else:
            measurement.measure()
    if options.json:
        print(json.dumps({"threads": options.threads, "samples": options.samples,
                          "trials": options.trials, "epochs": options.epochs,
                          "slots": options.slots, "rows": measurement.rows,
                          "missing": measurement.missing}))
    sys.exit(MISSING if measurement.missing else 0)


if __name__ == "__main__":
    main()
