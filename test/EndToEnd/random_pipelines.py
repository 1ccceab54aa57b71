#!/usr/bin/env python3
"""Trains random networks, half of them preconditioned, in random pipelines, in one process
and on ranks. Checkpoints and logs must be those of the program without stages. Needs Open
MPI's mpirun, and only Python's standard library.

    random_pipelines.py --hftac HFTAC --work DIR [--count N] [--seed K]
"""

import argparse
import pathlib
import random
import subprocess
import sys

from harness import (DATA, REFERENCE, checkpoint, copy_file, fail, make_blocks, read_log,
                     run)
from mpirun import run_ranks
from pipeline_orders import make_random_order, write_rows

# In the last step, K-FAC with factor_every = 5 updates nothing.
COPIES, STEPS, WIDTH = 4, 4, 8
ORDERS = ("one_f_one_b", "all_forwards_first", "zero_bubble", "interleaved", "v_shape",
          "file", "file")
PLACEMENTS = ("auto", "balanced", "fraction(0.3)", "local")
LAYERS = ("relu(linear({}, 8))", "tanh(linear({}, 8))", "layer_norm(linear({}, 8))",
          "dropout(gelu(linear({}, 8)), 0.2)", "sigmoid({0}) * {0}")


class RandomJob:
    """A random network, whose layers may read any earlier layers, and a random pipeline for
    it."""

    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.name = f"random-{seed}"
        self.layers = self.random.randint(3, 9)
        self.model = self.make_model()
        self.micro_batches = self.random.choice((4, 6, 8))
        self.flags = ["--no-fuse"] if self.draw(0.2) else []
        self.groups = 4 if self.draw(0.4) else None
        self.clause = (f"micro_batches {self.micro_batches}"
                       f"{', groups = 4' if self.groups else ''}\n  precision "
                       f"{self.random.choice(('f32', 'f32', 'f64'))}"
                       f"{self.clip()}")
        self.pipeline = self.make_pipeline(folder)
        self.clause += self.precondition()

    def draw(self, share):
        return self.random.random() < share

    def clip(self):
        return "\n  clip_norm 0.5" if self.draw(0.3) else ""

    def precondition(self):
        if self.draw(0.5):
            return ""
        return ("\n  precondition kfac("
                f"method = {self.random.choice(('cholesky', 'eigen'))}, "
                f"sharing = {self.random.choice(('expand', 'reduce'))}, "
                f"factor_every = {self.random.choice((1, 5))}, "
                f"fisher = {self.random.choice(('empirical', 'sampled'))}, "
                f"placement = {self.random.choice(PLACEMENTS)})")

    def make_model(self):
        lines = ["  x0 = relu(linear(flatten(image), 8))"]
        unused = {"x0"}

        def read(name):
            unused.discard(name)
            return name

        for layer in range(1, self.layers):
            source = layer - 1
            if self.draw(0.4):
                source = self.random.randrange(max(0, layer - 3), layer)
            value = self.random.choice(LAYERS).format(read(f"x{source}"))
            if self.draw(0.5):
                value += self.random.choice((" + ", " * "))
                value += read(f"x{self.random.randrange(layer)}")
            lines.append(f"  x{layer} = {value}")
            unused.add(f"x{layer}")
        rest = " + ".join(sorted(unused))
        return ("model net(image: f32[batch, 1, 8, 8]) {\n" + "\n".join(lines) +
                f"\n  return output = linear({rest}, 10)\n}}\n")

    def make_pipeline(self, folder):
        order = self.random.choice(ORDERS)
        chunks = 1
        if order in ("interleaved", "v_shape") or (order == "file" and self.draw(0.5)):
            chunks = 2
        if order == "interleaved" and self.layers >= 5 and self.draw(0.3):
            chunks = 3
        most = (min(self.layers, 7) + 1) // chunks
        self.workers = self.random.randint(1 if chunks > 1 else 2, max(most, 2))
        parts = min(self.workers * chunks, self.layers + 1)
        self.workers = parts // chunks
        parts = self.workers * chunks
        cuts = sorted(self.random.sample(range(self.layers), parts - 1))
        replicas = [1] * self.workers
        if self.groups and self.draw(0.5):
            # An order file has one row per stage, which all of its replicas share.
            replicas = [2 if order in ("file", "v_shape")
                        else self.random.randint(1, 3) for _ in replicas]
        self.workers = sum(replicas)
        clauses = ["cuts = [{}]".format(", ".join(f'"x{cut}"' for cut in cuts)),
                   f"replicas = {replicas}"]
        if order == "file" and len(replicas) > 1:
            rows = make_random_order(self.random, parts,
                                     self.micro_batches // replicas[0], chunks,
                                     self.draw(0.5))
            (folder / f"{self.name}.csv").write_text(write_rows(rows))
            order = f'file("{self.name}.csv")'
        elif order == "file":
            order = "auto"
        clauses.append(f"order = {order}")
        if chunks > 1 and order != "v_shape":
            clauses.append(f"chunks = {chunks}")
        again = "\n  recompute all" if self.draw(0.2) else ""
        return f"pipeline {', '.join(clauses)}{again}"

    def get_text(self, *clauses):
        data = DATA["mlp"]
        lines = ["metric accuracy(net, label)", "seed 3", self.clause, *clauses]
        return self.model + make_blocks(
            f"{data}\n  test {data}", "cross_entropy(net, label)",
            "adam(lr = [1e-3, 3e-3, 1e-2, 3e-2])", STEPS, batch=48,
            clauses="".join(f"  {line}\n" for line in lines))


class Check:
    def __init__(self, hftac, folder):
        self.hftac, self.folder = hftac, folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        run(sys.executable, REFERENCE / "make_data.py", self.folder, "mlp")
        self.trained = self.refused = 0

    def train(self, binary, ranks):
        name = f"{binary.name}-on-{ranks}"
        log = self.folder / f"{name}.jsonl"
        run_ranks(ranks, binary, "train", "--data", self.folder, "--checkpoint",
                  self.folder / name, "--no-progress", "--overwrite", "--log", log,
                  "--log-every", 1)
        return ([copy_file(checkpoint(self.folder / name, STEPS), copy).read_bytes()
                 for copy in range(COPIES)],
                [event for event in read_log(log) if event["event"] != "start"])

    def compile(self, name, text, flags):
        """Compiles a job. Returns the program, or None if hftac refuses the job, and
        hftac's output."""
        path = self.folder / f"{name}.hfta"
        path.write_text(text)
        binary = self.folder / name
        result = subprocess.run([self.hftac, path, "-o", binary, *flags], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False)
        if result.returncode not in (0, 1):
            fail(f"{path}: hftac exits with {result.returncode}\n{result.stdout:.4000}")
        return (None if result.returncode else binary), result.stdout

    def check(self, seed):
        job = RandomJob(seed, self.folder)
        binary, said = self.compile(job.name, job.get_text(job.pipeline), job.flags)
        if not binary:
            self.refused += 1
            print(f"refused: {job.name}: {said.split('error: ')[-1].splitlines()[0]}")
            return
        uncut, said = self.compile(f"{job.name}-uncut", job.get_text(), job.flags)
        if not uncut:
            fail(said)
        expected = self.train(uncut, 1)
        for ranks in sorted({1, job.random.randint(1, min(job.workers, 4))}):
            if self.train(binary, ranks) != expected:
                fail(f"{job.name} on {ranks} ranks differs from what isn't cut: "
                     f"{self.folder / job.name}.hfta, {' '.join(job.flags)}")
        binary.unlink()
        uncut.unlink()
        self.trained += 1
        print(f"equal: {job.name}: {' '.join(job.pipeline.split())}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    check = Check(options.hftac, options.work)
    for seed in range(options.seed, options.seed + options.count):
        check.check(seed)
    if check.trained * 2 < options.count:
        fail(f"{check.refused} of {options.count} were refused")
    print(f"{check.trained} pipelines equal, {check.refused} refused")


if __name__ == "__main__":
    main()
