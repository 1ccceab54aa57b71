#!/usr/bin/env python3
"""Measures six unequal jobs at seats: two arrays, three jobs that spill, and a small one.
They are compared with running one job at a time (model parallelism), and with the times
that 'hftac --simulate' predicts from the measured times of their steps.

    bench/fleet.py [--hftac build/bin/hftac] [--seats 2] [--threads 2] [--rounds 3]
                   [--schedulers lrtf,exact] [--scale 1] [--folder DIR]
    bench/fleet.py --groups [--seats 2] [--threads 2] [--rounds 3] [--folder DIR]

Each round runs every scheduler and model parallelism in turn. For each scheduler, prints
the median of the ratios of neighbouring runs; the makespan relative to the simulated one
and to the least possible one by the measured times; and whether all checkpoints have the
same bytes as when each job is trained alone. --scale makes all jobs that many times as
long. --groups measures eight copies of a deep network in the memory of one: the job is
divided into parts that train at all seats, and compared with the same job with all threads
at one seat. Jobs spill into the folder, which should be on a disk. Needs only Python's
standard library."""

import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = 2048


def make_layers(count, width):
    lines = [f"  a1 = relu(linear(flatten(image), {width}))"]
    lines += [f"  a{layer} = relu(linear(a{layer - 1}, {width}))"
              for layer in range(2, count)]
    return "\n".join([*lines, f"  return output = linear(a{count - 1}, 10)"])


CNN = """  conv1 = conv(image, 16, 3, padding = 1)
  pool1 = max_pool(relu(conv1), 2)
  conv2 = conv(pool1, 24, 3, padding = 1)
  pool2 = max_pool(relu(conv2), 2)
  hidden = relu(linear(flatten(pool2), 64))
  return output = linear(hidden, 10)"""

# The jobs by name: layers, batch size, optimizer, memory budget ('' for none), and steps.
JOBS = {
    "array": (CNN, 32, "adam(lr = [1e-3, 1e-2, 3e-3, 1e-4])", "", 300),
    "wide": (make_layers(5, 768), 2048, "adam(lr = 1e-3)", "70MiB", 12),
    "deep": (make_layers(9, 512), 2048, "sgd(lr = 1e-2, momentum = 0.9)", "52MiB", 18),
    "broad": (make_layers(4, 640), 2048, "adam(lr = 1e-3)", "58MiB", 16),
    "small": (make_layers(2, 256), 16, "sgd(lr = 0.1)", "", 6000),
    "pair": (CNN, 16, "sgd(lr = [1e-2, 1e-3])", "", 300),
}

GROUPS = {"groups": (make_layers(9, 512), 256, "adam(lr = [1e-3, 2e-3, 3e-3, 4e-3, 5e-3, "
                     "6e-3, 7e-3, 8e-3])", "40MiB", 40)}


def write_jobs(folder, jobs, scale):
    text = f"""data made {{
  image: u8[1, 28, 28], label: u8
  train image = raw("image"), label = raw("label")
}}
"""
    for name, (layers, batch, optimizer, budget, steps) in jobs.items():
        memory = f"  memory    device = {budget}\n" if budget else ""
        text += f"""model {name}(image: f32[batch, 1, 28, 28]) {{
{layers}
}}
train {name} {{
  model     {name}(image)
  data      made, batch = {batch}
  loss      cross_entropy({name}, label)
  optimizer {optimizer}
{memory}  steps     {int(steps * scale)}
}}
"""
    (folder / "jobs.hfta").write_text(text)
    numbers = random.Random(1)
    (folder / "image").write_bytes(numbers.randbytes(SAMPLES * 28 * 28))
    (folder / "label").write_bytes(bytes(numbers.randrange(10) for _ in range(SAMPLES)))


def run(*command, folder):
    result = subprocess.run(command, check=False, cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        sys.exit(result.stderr)
    return result


class Fleet:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def train(self, name, *flags):
        return run("./jobs", "train", "--checkpoint", name, "--overwrite", *flags,
                   folder=self.folder)

    def train_alone(self):
        self.train("alone", "--no-progress", "--threads", "1")

    def train_at_seats(self, scheduler):
        """Trains all jobs together and returns the seconds that this took."""
        options = self.options
        messages = self.train(
            "together", "--seats", str(options.seats), "--threads", str(options.threads),
            "--scheduler", scheduler, "--workload", "workload.json").stderr
        return float(re.search(r": ([0-9.]+) s, seats taken", messages)[1])

    def simulate(self, scheduler):
        """Simulates the last run with the step times that it measured. Returns the
        makespan and a lower bound of all schedules' makespans, in seconds. hftac simulates
        the scheduler `exact` only for small workloads; else lrtf's makespan is returned."""
        result = json.loads(run(self.options.hftac, "--simulate=workload.json", "--json",
                                folder=self.folder).stdout)
        known = result["schedulers"].get(scheduler) or result["schedulers"]["lrtf"]
        return known["makespan"], result["lower_bound"]

    def count_differences(self):
        """Counts the files of checkpoints whose bytes differ from those of jobs trained
        alone."""
        count = 0
        for file in sorted((self.folder / "alone").rglob("*.safetensors")):
            other = self.folder / "together" / file.relative_to(self.folder / "alone")
            count += not other.is_file() or other.read_bytes() != file.read_bytes()
        return count


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--schedulers", default="lrtf,exact")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--groups", action="store_true")
    options = parser.parse_args()
    options.hftac = options.hftac.resolve()
    return options


def measure(fleet, options):
    """Returns for each scheduler a list with a tuple per round: its speed relative to model
    parallelism, its time relative to the simulated makespan and to the lower bound, and the
    number of checkpoint files that differ."""
    rows = {name: [] for name in options.schedulers.split(",")}
    for _ in range(options.rounds):
        for name, own in rows.items():
            seconds = fleet.train_at_seats(name)
            simulated, least = fleet.simulate(name)
            differences = fleet.count_differences()
            one = fleet.train_at_seats("model_parallel")
            differences += fleet.count_differences()
            own.append((one / seconds, seconds / simulated, seconds / least, differences))
            print(f"  {name}: {seconds:.2f} s, model parallel {one:.2f} s, simulated "
                  f"{simulated:.2f} s", file=sys.stderr)
    return rows


def measure_groups(fleet, options):
    """Prints the speed of parts of the job at all seats relative to the whole job at
    one."""
    threads = ["--threads", str(options.threads)]
    ratios = []
    for _ in range(options.rounds):
        seconds = []
        for seats in ([], ["--seats", str(options.seats)]):
            begin = time.monotonic()
            fleet.train("together", "--no-progress", *threads, *seats)
            seconds.append(time.monotonic() - begin)
        ratios.append(seconds[0] / seconds[1])
        print(f"  one seat {seconds[0]:.2f} s, all {seconds[1]:.2f} s", file=sys.stderr)
    equal = "DIFFERENT" if fleet.count_differences() else "equal"
    print(f"groups at {options.seats} seats: {statistics.median(ratios):.3f} times as fast, "
          f"checkpoints {equal}")


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        write_jobs(folder, GROUPS if options.groups else JOBS, options.scale)
        run(options.hftac, "jobs.hfta", "-o", "jobs", folder=folder)
        fleet = Fleet(options, folder)
        fleet.train_alone()
        if options.groups:
            measure_groups(fleet, options)
            return
        rows = measure(fleet, options)
    print(f"{'':10}{'x model parallel':>18}{'of simulated':>14}{'of least':>10}"
          f"{'checkpoints':>14}")
    for name, own in rows.items():
        gain, simulated, least = (statistics.median(run[i] for run in own)
                                  for i in range(3))
        equal = "equal" if not any(run[3] for run in own) else "DIFFERENT"
        print(f"{name:10}{gain:18.3f}{simulated:14.3f}{least:10.3f}{equal:>14}")


if __name__ == "__main__":
    main()
