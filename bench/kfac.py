#!/usr/bin/env python3
"""Counts steps and seconds until a training on Fashion-MNIST has reached a loss, with
K-FAC, and with Adam and optimizers of matrices at the best of eight learning rates.

    bench/kfac.py [--hftac build/bin/hftac] [--data /usr/share/datasets/fashion-mnist]
                  [--networks mlp,cnn] [--methods adam,kfac,kfac_momentum] [--seeds 3]
                  [--rounds 9] [--threads N] [--goals]

The MLP has 784, 256, 128 and 10 features, batches of 512 and the target .35; the CNN of
examples/fashion has batches of 256 and the target .45. A training has reached the target
when the mean loss of ten successive steps is at most that. Each seed draws other weights,
and for each, a method's best rate is chosen. K-FAC isn't given a list of rates: it has lr .1
and its defaults, without momentum or with .9. muon, soap and shampoo update matrices but for
the last layer's, which adamw updates with 3e-3 or, for the method adamw, the best rate. Seconds are those of the steps only, for one
copy with the first seed. Runs take turns, and the lower quartile counts, as other processes
on the machine disturb some of them. Ratios are relative to the first method. With --goals, which
needs the default methods, exits with 1 if K-FAC without momentum
needs more than half of Adam's steps, or on the MLP more than .9 of its time. Needs Debian's
dataset-fashion-mnist and Python's standard library."""

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

RATES = [5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 3e-2]
WINDOW = 10  # the number of successive steps whose mean loss is compared with the target

MLP = """
model net(image: f32[batch, 1, 28, 28]) {
  first = relu(linear(flatten(image), 256))
  second = relu(linear(first, 128))
  return output = linear(second, 10)
}
"""


def lower_quartile(values):
    return sorted(values)[(len(values) - 1) // 4]


@dataclasses.dataclass
class Network:
    model: str
    clauses: str
    batch: int
    target: float
    kinds: str                  # the kinds of its matrices but for the last layer's
    steps: int                  # enough for Adam's best rate to reach the target
    goal_of_time: float | None  # at most this multiple of Adam's time, or None


NETWORKS = {
    "mlp": Network(MLP, "", 512, 0.35, "hidden", 260, 0.9),
    "cnn": Network(f'\nmodel net = onnx("{ROOT}/examples/fashion/cnn.onnx")\n',
                   "  init fresh\n", 256, 0.45, "hidden, convolutions", 130, None),
}


@dataclasses.dataclass
class Method:
    clauses: str        # with RATES for the rates
    rates: list | None  # the best one is chosen; None: the clauses have their own


def kfac(momentum):
    return Method(f"  optimizer sgd(lr = 0.1, momentum = {momentum})\n"
                  "  precondition kfac()\n", None)


def of_matrices(optimizer, scale):
    """An optimizer for the matrices that are hidden or convolutions' weights. Its rates are
    multiples of Adam's."""
    return Method("  optimizer adamw(lr = 3e-3)\n"
                  f"  group KINDS, optimizer = {optimizer}\n",
                  [scale * rate for rate in RATES])


METHODS = {
    "adam": Method("  optimizer adam(lr = RATES)\n", RATES),
    "adamw": Method("  optimizer adamw(lr = RATES)\n", RATES),
    "kfac": kfac(0),
    "kfac_momentum": kfac(0.9),
    "muon": of_matrices("muon(lr = RATES)", 4),
    "normuon": of_matrices("normuon(lr = RATES)", 4),
    "soap": of_matrices("soap(lr = RATES)", 1),
    "shampoo": of_matrices("shampoo(lr = RATES, eps = 1e-8)", 1),
    "kl_shampoo": of_matrices("kl_shampoo(lr = RATES, eps = 1e-8)", 1),
}


class Bench:
    def __init__(self, network, folder, options):
        self.network, self.folder, self.options = network, folder, options

    def compile(self, name, optimizer, seeds):
        network = self.network
        job = self.folder / f"{name}.hfta"
        job.write_text(f"""{network.model}
data fashion {{
  train image = idx("train-images-idx3-ubyte.gz") / 255, label = idx("train-labels-idx1-ubyte.gz")
}}
train sweep {{
  model net(image)
{network.clauses}  data fashion, batch = {network.batch}
  loss cross_entropy(net, label)
{optimizer}  seed {seeds}
  steps {network.steps}
}}
""")
        binary = job.with_suffix("")
        subprocess.run([self.options.hftac, job, "--data", self.options.data, "-o",
                        binary], check=True, stderr=subprocess.DEVNULL)
        return binary

    def train(self, binary, *arguments):
        """Trains and returns the events of the log."""
        log = binary.with_suffix(".jsonl")
        subprocess.run([binary, "train", "--data", self.options.data, "--log", log,
                        "--no-progress", *self.options.train_options,
                        *map(str, arguments)],
                       check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in log.read_text().splitlines()]

    def count_steps(self, binary):
        """Trains and returns for each copy the steps until the target, or None without
        reaching it."""
        losses = [event["loss"] for event in self.train(binary, "--log-every", 1)
                  if event["event"] == "step"]

        def count(copy):
            # A loss that isn't finite is a string in the log.
            values = [float(step[copy]) for step in losses]
            return next((end for end in range(WINDOW, len(values) + 1)
                         if statistics.fmean(values[end - WINDOW:end])
                         <= self.network.target), None)

        return [count(copy) for copy in range(len(losses[0]))]

    def find_steps(self, name, method):
        """Returns the steps until the target for each seed, and the clauses of the
        optimizer. Each seed uses its best rate, and the clauses are those of the first
        seed."""
        seeds = list(range(1, self.options.seeds + 1))
        clauses = method.clauses.replace("KINDS", self.network.kinds)
        if not method.rates:
            return self.count_steps(self.compile(name, clauses, seeds)), clauses
        # With two lists, rates before seeds, the copies have all combinations, and the last
        # list varies fastest: copy r * seeds + s has rate r and seed s.
        counts = self.count_steps(self.compile(
            name, clauses.replace("RATES", str(method.rates)), seeds))
        reached = [[(count, rate) for count, rate
                    in zip(counts[seed::len(seeds)], method.rates) if count]
                   for seed in range(len(seeds))]
        best = [min(of_seed, default=(None, None)) for of_seed in reached]
        return ([count for count, _ in best],
                clauses.replace("RATES", str(best[0][1])))

    def time(self, binary, steps):
        events = self.train(binary, "--steps", steps)
        return sum(event["seconds"] for event in events if event["event"] == "epoch")

    def run(self):
        """Returns for each method its clause, the steps for each seed, and the seconds that
        the first seed's steps take."""
        results = {}
        for name in self.options.methods:
            steps, optimizer = self.find_steps(f"all-{name}", METHODS[name])
            if None in steps:
                sys.exit(f"{name} hasn't reached {self.network.target} in "
                         f"{self.network.steps} steps: {steps}")
            binary = self.compile(f"one-{name}", optimizer, 1)
            results[name] = (optimizer, steps, binary, [])
        for _ in range(self.options.rounds):
            for _, steps, binary, seconds in results.values():
                seconds.append(self.time(binary, steps[0]))
        return {name: (optimizer, steps, lower_quartile(seconds))
                for name, (optimizer, steps, _, seconds) in results.items()}


def report(name, network, results):
    """Prints a table; returns whether the goals are met, if the methods have any."""
    print(f"{name}, batch {network.batch}, until {network.target}")
    _, first_steps, first_seconds = next(iter(results.values()))
    for method, (optimizer, steps, seconds) in results.items():
        share = sum(steps) / sum(first_steps)
        print(f"  {method:20} steps {' '.join(f'{count:4}' for count in steps)}  "
              f"{share:.2f}x   {1e3 * seconds:7.1f} ms  {seconds / first_seconds:.2f}x"
              f"   {', '.join(line.strip() for line in optimizer.splitlines())}", flush=True)
    if "kfac" not in results:
        return True
    _, steps, seconds = results["kfac"]
    return (2 * sum(steps) <= sum(first_steps)
            and (not network.goal_of_time
                 or seconds <= network.goal_of_time * first_seconds))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--data", type=pathlib.Path,
                        default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--methods", default="adam,kfac,kfac_momentum",
                        help=f"any of {', '.join(METHODS)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", help="of programs (default: one a processor)")
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    options.train_options = ["--threads", options.threads] if options.threads else []
    is_met = True
    options.methods = options.methods.split(",")
    for name in options.methods:
        if name not in METHODS:
            parser.error(f"there is no method '{name}'")
    for name in options.networks.split(","):
        if name not in NETWORKS:
            parser.error(f"there is no network '{name}'")
        with tempfile.TemporaryDirectory() as folder:
            results = Bench(NETWORKS[name], pathlib.Path(folder), options).run()
        is_met = report(name, NETWORKS[name], results) and is_met
    sys.exit(options.goals and not is_met)


if __name__ == "__main__":
    main()
