#!/usr/bin/env python3
"""Compares Muon's updates of 8 copies of a Transformer in one program with those of the
copies one by one, and with PyTorch on the CPU.

    bench/muon.py [--hftac build/bin/hftac] [--torch PYTHON] [--threads N] [--steps 10]
                  [--rounds 5] [--copies 8] [--iteration direct] [--cpu CPU]

The Transformer is transformer_lm of test/reference. Its hidden matrices have muon, all other
parameters adamw, in f32. An update is everything between a step's last gradient and the next
step's beginning. PyTorch's is torch.optim.Muon, which multiplies in bf16, and its fused AdamW,
for one model after another. One matrix multiplication of PyTorch, in f32, tells how fast this
machine computes. Times are the best of interleaved rounds. A copy's checkpoint after two steps
must equal that of the copy alone. Needs Python's standard library and, for PyTorch's times, a
Python with PyTorch, which --torch or HFTA_TORCH_PYTHON names."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from copies import find_torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

from harness import checkpoint, copy_file, expect_same_file, run  # noqa: E402
from network_run import NetworkFolder  # noqa: E402  (found by the path above)

PEER = ROOT / "bench" / "muon_peer.py"
CHECKED_STEPS = 2


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.network = NetworkFolder(options.hftac, "transformer_lm", folder, samples=40)
        self.rates = [0.01 * 2**-copy for copy in range(options.copies)]
        self.programs = {"together": self.compile("together", self.rates),
                         "alone": self.compile("alone", self.rates[:1])}

    def compile(self, name, rates):
        flags = [f"--cpu={self.options.cpu}"] if self.options.cpu else []
        return self.network.compile(
            name, "f32", *flags, optimizer="adamw(lr = 1e-3)", clauses=[
                f"group hidden, optimizer = muon(lr = [{', '.join(map(repr, rates))}], "
                f"iteration = {self.options.iteration})"])

    def time(self, program):
        """Returns the seconds of a step and of its updates."""
        text = subprocess.run(
            [program, "bench", "--json", "--phases", f"--threads={self.options.threads}",
             f"--steps={self.options.steps}"], check=True, stdout=subprocess.PIPE,
            text=True).stdout
        result = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
        updates = sum(task["seconds"] for task in result["tasks"]
                      if task["name"].startswith("update"))
        return result["seconds"] / result["steps"], updates

    def time_peer(self, sizes):
        return tuple(json.loads(subprocess.run(
            [self.options.torch, PEER, f"--threads={self.options.threads}",
             f"--steps={self.options.steps}", f"--copies={self.options.copies}",
             f"--sizes={json.dumps(sizes)}"], check=True, stdout=subprocess.PIPE,
            text=True).stdout))

    def find_sizes(self):
        """Returns the shapes of the parameters that muon updates, and of all others."""
        info = json.loads(run(self.programs["alone"], "info", "--json"))
        sizes = {"muon": [], "adamw": []}
        for tensor in info["parameters"]["tensors"]:
            if tensor["trained"]:
                sizes["muon" if "groups" in tensor else "adamw"].append(tensor["shape"])
        return sizes

    def check_bytes(self):
        """Compares the first copy's checkpoint with that of the copy alone."""
        folders = {}
        for name, program in self.programs.items():
            folders[name] = self.folder / f"{name}-checkpoints"
            self.network.train(program, "--steps", CHECKED_STEPS, "--checkpoint",
                               folders[name])
        expect_same_file(*(copy_file(checkpoint(folders[name], CHECKED_STEPS), 0)
                           for name in ("together", "alone")), "the first copy")

    def run(self):
        self.check_bytes()
        runs = {name: lambda program=program: self.time(program)
                for name, program in self.programs.items()}
        version, reason = find_torch(self.options.torch)
        if version:
            sizes = self.find_sizes()
            runs["torch"] = lambda: self.time_peer(sizes)
        else:
            print(f"PyTorch is left out: {reason}", file=sys.stderr)
        seconds = {name: [] for name in runs}
        for _ in range(self.options.rounds):
            for name, measure in runs.items():
                seconds[name].append(measure())
        return version, {name: tuple(map(min, zip(*all))) for name, all in seconds.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--torch", default=os.environ.get("HFTA_TORCH_PYTHON"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--iteration", choices=("direct", "gram"), default="direct")
    parser.add_argument("--cpu")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        version, seconds = Bench(options, pathlib.Path(folder)).run()
    step, updates = seconds["together"]
    print(f"a step of {options.copies} copies: {1e3 * step:.1f} ms, "
          f"updates {1e3 * updates:.1f} ms")
    alone = options.copies * seconds["alone"][1]
    print(f"one by one: updates {1e3 * alone:.1f} ms, {alone / updates:.2f}x as long")
    if version:
        peer, product = seconds["torch"]
        print(f"PyTorch {version}: {1e3 * peer:.1f} ms, {peer / updates:.2f}x as long; "
              f"its products of f32 run at {product:.0f} Gflop/s")


if __name__ == "__main__":
    main()
