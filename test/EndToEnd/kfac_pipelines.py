#!/usr/bin/env python3
"""Tests preconditioned networks in pipeline stages. They must train to the same bytes,
factors, inverses and logs as the program without stages: in each order, with recomputed
activations, on one rank and on several, with replicas, which may share the work, and when
resumed by another pipeline. By default, only some of the cases are run; --long runs all of
them. Several ranks need Open MPI's mpirun, and are left out without it; everything else
needs only Python's standard library.

    kfac_pipelines.py --hftac HFTAC --work DIR [--long] [--name NETWORK]
                      [--part stages|placements|local|sampled]
"""

import argparse
import dataclasses
import pathlib
import random
import re
import shutil
import sys

from harness import DATA, REFERENCE, expect_equal, make_blocks, run
from kfac_plans import compile_forced
from mpirun import COMMAND, run_ranks
from pipeline_models import (FIELDS, graph, integers, make_numbers, model, node,
                             tensor, value, write_tied)
from pipeline_orders import CHUNKS_OF_ORDERS, make_random_order, write_rows
from trainings import expect_same_training, expect_trained, read_training

COPIES, STEPS, BATCH = 3, 6, 48
# The settings of each copy. The periods differ, so that in some steps only some copies
# update factors or inverses.
LISTS = {
    "lr": [3e-2, 1e-2, 1e-1], "damping": [1e-2, 3e-3, 3e-2], "decay": [0.95, 0.5, 0],
    "factor_every": [1, 2, 3], "inverse_every": [2, 5, 3], "kl_clip": [1e-2, 0, 1e-3],
}


def write_reused(folder):
    """Writes a model whose stages share values: a weight and a bias that are used twice, a
    bias that is added after a cut, and the data and a hidden value that layers of two
    stages read."""
    def multiply(source, weight, result):
        return node("MatMul", [source, weight], [result], name=result)

    def add(first, second, result):
        return node("Add", [first, second], [result], name=result)

    def rectify(source, result):
        return node("Relu", [source], [result], name=result)

    nodes = [
        node("Reshape", ["image", "flat"], ["x"], name="x"),
        multiply("x", "w.first", "sum1"), multiply("x", "w.early", "early"),
        add("sum1", "b.first", "biased"), add("biased", "early", "all1"),
        rectify("all1", "h1"),
        multiply("x", "w.hidden", "hidden"), rectify("hidden", "h0"),
        multiply("h1", "w.both", "sum2"), add("sum2", "b.both", "biased2"),
        multiply("h0", "w.same", "more"), add("biased2", "more", "all2"),
        rectify("all2", "h2"),
        multiply("h2", "w.both", "sum3"), add("sum3", "b.both", "biased3"),
        multiply("x", "w.late", "late"), add("biased3", "late", "all3"),
        rectify("all3", "h3"),
        multiply("h3", "w.last", "sum4"), multiply("h0", "w.other", "skipped"),
        add("sum4", "skipped", "scores")]
    tensors = [integers("flat", [-1, 64]), make_numbers("w.other", 12, 10),
               *(make_numbers(name, 64, 12) for name in ("w.late", "w.first", "w.early",
                                                        "w.hidden")),
               *(make_numbers(name, 12, 12) for name in ("w.both", "w.same")),
               make_numbers("w.last", 12, 10), make_numbers("b.both", 12),
               tensor("b.first", [12], [0.1] * 12)]
    (folder / "reused.onnx").write_bytes(model(graph(
        nodes, [value("image", ["batch", 1, 8, 8])], [value("scores", ["batch", 10])],
        tensors)))


@dataclasses.dataclass(frozen=True)
class Network:
    """A model, the cuts that divide it into four parts, and the settings of its job.
    `first_damping` is the damping of copy 0."""
    source: str
    cuts: tuple
    method: str
    options: str = ""
    first_damping: float = 1e-2
    clauses: str = ""
    flags: tuple = ()
    inputs: str = "image"
    label: str = "label"
    fields: str = DATA["mlp"]


NETWORKS = {
    # This network has stages with and without layers of their own, a dropout, and, because
    # of copy 0's tiny damping, inversions that fail in one copy.
    "mlp": Network("""
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(linear(flatten(image), 37))
  second = dropout(first, 0.2)
  third = relu(linear(second, 21))
  return output = linear(third, 10)
}
""", ("first", "second", "third"), "cholesky", first_damping=1e-20, clauses="clip_norm 0.5"),
    "reused": Network('model net = onnx("reused.onnx")\n', ("sum1", "h2", "h3"), "eigen",
                      flags=("--no-fuse",)),
    "cnn": Network("""
model net(image: f32[batch, 1, 28, 28]) {
  conv1 = conv(image, 4, 3, padding = 1)
  pool1 = max_pool(relu(batch_norm(conv1)), 2)
  conv2 = conv(pool1, 6, 3, padding = 1)
  pool2 = max_pool(relu(batch_norm(conv2)), 2)
  hidden = relu(linear(flatten(pool2), 16))
  return output = linear(hidden, 10)
}
""", ("pool1", "conv2", "hidden"), "cholesky", options=", sharing = reduce",
                   clauses="precision f64", fields=DATA["cnn"]),
    "tied": Network('model net = onnx("tied.onnx")\n', ("embedded", "mixed1", "mixed2"),
                    "cholesky", options=", embedding = factored", inputs="tokens",
                    label="next", fields=FIELDS["tied"]),
}


class Check:
    def __init__(self, options):
        self.hftac, self.folder = options.hftac, options.work.resolve()
        self.is_long = options.long
        self.has_ranks = shutil.which(COMMAND[0]) is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        run(sys.executable, REFERENCE / "make_data.py", self.folder, "mlp", "cnn")
        write_tied(self.folder)
        write_reused(self.folder)
        self.equal = 0

    def write_job(self, net, name, *clauses, placement="auto", method=None):
        network = NETWORKS[net]
        lists = {**LISTS, "damping": [network.first_damping, *LISTS["damping"][1:]]}
        lists = ", ".join(f"{key} = {values}" for key, values in lists.items()
                          if key != "lr")
        lines = [f"precondition kfac({lists}, method = {method or network.method}"
                 f"{network.options}, placement = {placement})", f"zip ({', '.join(LISTS)})", network.clauses,
                 *clauses, "seed 3"]
        job = self.folder / f"{name}.hfta"
        job.write_text(network.source + make_blocks(
            f"{network.fields}\n  test {network.fields}",
            f"cross_entropy(net, {network.label})",
            f"sgd(lr = {LISTS['lr']}, momentum = 0.9)", STEPS, batch=BATCH,
            model=f"net({network.inputs})",
            clauses="".join(f"  {line}\n" for line in lines if line)))
        return job

    def compile(self, net, name, *clauses, isForced=False, **options):
        job = self.write_job(net, name, *clauses, **options)
        binary = job.with_suffix("")
        flags = NETWORKS[net].flags
        if isForced:
            return compile_forced(self.hftac, job, binary, *flags)
        run(self.hftac, job, "-o", binary, *flags)
        return binary

    def train(self, binary, ranks=1, *more):
        name = f"{binary.name}-on-{ranks}"
        command = [binary, "train", "--data", self.folder, "--checkpoint",
                   self.folder / name, "--log", self.folder / f"{name}.jsonl",
                   "--log-every", 1, "--no-progress", "--overwrite", *more]
        if ranks == 1:
            run(*command)
        else:
            run_ranks(ranks, *command)
        return read_training(self.folder / name, self.folder / f"{name}.jsonl", STEPS)

    def expect_same(self, binary, expected, ranks):
        """Trains `binary` on each number of ranks in `ranks`, and compares with the
        training without stages. Without mpirun, only one rank is tested."""
        for count in ranks:
            if count > 1 and not self.has_ranks:
                continue
            expect_same_training(self.train(binary, count), expected, COPIES,
                                 f"{binary.name} on {count} ranks")
            self.equal += 1

    def compare(self, net, name, expected, ranks, *clauses):
        self.expect_same(self.compile(net, f"{net}-{name}", *clauses), expected, ranks)

    def make_order(self, net, name):
        """Returns the pipeline clause for four parts in the order `name`. For "file",
        writes a random order."""
        cuts = ", ".join(f'"{cut}"' for cut in NETWORKS[net].cuts)
        order = name
        if name == "file":
            rows = make_random_order(random.Random(net), 4, 8, 1, True)
            (self.folder / f"{net}.csv").write_text(write_rows(rows))
            order = f'file("{net}.csv")'
        chunks = ", chunks = 2" if name == "interleaved" else ""
        return f"pipeline cuts = [{cuts}], order = {order}{chunks}"

    def check_orders(self, net, orders, again):
        """Compares pipelines of four stages, or of two stages with two parts each, in each
        order, with the program without stages. Orders in `again` are tested with recomputed
        activations. Returns the results without stages."""
        clause = "micro_batches 8"
        expected = self.train(self.compile(net, f"{net}-uncut", clause))
        expect_trained(expected, STEPS, COPIES, net)
        has_failed = any(event["event"] == "curvature" for event in expected.events)
        expect_equal(has_failed, net == "mlp", f"{net}: whether inverses have failed")
        for order in orders:
            stages = 2 if CHUNKS_OF_ORDERS.get(order, 1) > 1 else 4
            self.compare(net, order, expected, (1, 2, stages) if self.is_long
                         else (1, stages), clause, self.make_order(net, order))
        for order in again:
            self.compare(net, f"{order}-again", expected, (1,), clause,
                         self.make_order(net, order), "recompute all")
        return expected

    def check_replicas(self, net, clauses=()):
        """Compares two stages of two replicas each, and of two and one, with the program
        without stages. With two ranks, a rank runs replicas of both stages or of one,
        depending on `replicas`."""
        clause = "micro_batches 8, groups = 4"
        expected = self.train(self.compile(net, f"{net}-groups", clause))
        cut = NETWORKS[net].cuts[1]
        for replicas in ("[2, 2]", "[2, 1]") if self.is_long else ("[2, 2]",):
            self.compare(net, f"replicas-{replicas[1]}-{replicas[4]}", expected,
                         (1, 2, 3) if self.is_long else (1, 4 - 2 * (net == "mlp")),
                         clause, f'pipeline cuts = ["{cut}"], replicas = {replicas}',
                         *clauses)

    def compile_placement(self, net, method, placement, replicas, order, *clauses):
        """Compiles a pipeline with one stage per element of `replicas`. With `chunks` in
        `order`, each stage has several parts. The prefix "forced " of `placement` gives
        each factor another owner than the one before it."""
        cuts = NETWORKS[net].cuts
        if replicas.count(",") == 1 and "chunks" not in order:
            cuts = cuts[1:2]
        pipeline = "pipeline cuts = [" + ", ".join(f'"{cut}"' for cut in cuts) + "]"
        name = re.sub(r"\W+", "-", f"{net} {method} {placement} {replicas} {order}")
        return self.compile(net, name, *clauses,
                            f"{pipeline}, replicas = {replicas}, order = {order}",
                            method=method, isForced=placement.startswith("forced "),
                            placement=placement.removeprefix("forced "))

    def check_placements(self, net, method, uncut, cases):
        """Compares pipelines whose replicas share K-FAC's work with the program without
        stages, whose placement is `uncut`. Then stops a training of the first pipeline, and
        resumes it with the last one."""
        clause = "micro_batches 8, groups = 4"
        name = re.sub(r"\W+", "-", f"{net} {method} {uncut}")
        expected = self.train(self.compile(net, name, clause, placement=uncut,
                                           method=method))
        expect_trained(expected, STEPS, COPIES, net)
        binaries = []
        for placement, replicas, order, ranks, *more in cases:
            binary = self.compile_placement(net, method, placement, replicas, order,
                                            clause, *more)
            binaries.append(binary)
            self.expect_same(binary, expected, ranks)
        before, after = cases[0][3][-1], cases[-1][3][-1]
        if not self.has_ranks:
            before = after = 1
        stopped = self.train_until(binaries[0], before, STEPS // 2)
        self.resume(stopped, binaries[-1], after, expected)
        print(f"equal: {net}, {method}, placements", flush=True)

    def train_until(self, binary, ranks, step):
        """Trains until `step` and returns the folder of the checkpoint."""
        folder = self.folder / f"{binary.name}-stopped"
        command = [binary, "train", "--data", self.folder, "--checkpoint", folder,
                   "--no-progress", "--overwrite", "--steps", step]
        if ranks == 1:
            run(*command)
        else:
            run_ranks(ranks, *command)
        return folder / f"step-{step:08d}"

    def resume(self, saved, binary, ranks, expected):
        """Lets `binary` continue from another program's checkpoint, and compares the last
        checkpoint."""
        folder = self.folder / f"{binary.name}-on-{ranks}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".jsonl").unlink(missing_ok=True)
        shutil.copytree(saved, folder / saved.name)
        command = [binary, "train", "--data", self.folder, "--checkpoint", folder,
                   "--no-progress", "--resume"]
        if ranks == 1:
            run(*command)
        else:
            run_ranks(ranks, *command)
        mine = dataclasses.replace(expected, folder=folder / expected.folder.name)
        expect_same_training(mine, expected, COPIES,
                             f"{binary.name}, resumed after {saved.name}")
        self.equal += 1

    def check_resumed(self, net, expected):
        """Stops a training after each step, and resumes it with a pipeline of other
        stages."""
        clause = "micro_batches 8"
        first = self.compile(net, f"{net}-stopped", clause,
                             self.make_order(net, "one_f_one_b"))
        second = self.compile(net, f"{net}-resumed", clause,
                              self.make_order(net, "v_shape"))
        self.train(first, 1, "--every", 1, "--keep", STEPS)
        for step in range(1, STEPS):
            saved = self.folder / f"{first.name}-on-1" / f"step-{step:08d}"
            self.resume(saved, second, 2 if self.has_ranks and step % 2 == 0 else 1,
                        expected)

    def check_stages(self, net):
        orders, again = (*CHUNKS_OF_ORDERS, "file"), ("one_f_one_b", "zero_bubble",
                                                      "v_shape")
        if not self.is_long:
            orders, again = SHORT[net]
        expected = self.check_orders(net, orders, again)
        if self.is_long or net in ("mlp", "reused"):
            self.check_replicas(net)
        if self.is_long or net == "reused":
            self.check_resumed(net, expected)
        print(f"equal: {net}", flush=True)


# For each network, the orders that are checked by default, and the orders that are checked
# with recomputed activations.
SHORT = {
    "mlp": (("one_f_one_b", "zero_bubble"), ()),
    "reused": (("all_forwards_first", "zero_bubble"), ("one_f_one_b",)),
    "cnn": (("one_f_one_b",), ("zero_bubble",)),
    "tied": (("v_shape",), ("one_f_one_b",)),
}


# For each network and method: the placement of the program without stages, and a list of
# pipelines, each with its placement, replicas, order, numbers of ranks, and further
# clauses.
PLACEMENTS = {
    ("mlp", "cholesky"): ("auto", [
        ("forced balanced", "[2, 2]", "one_f_one_b", (1, 2, 4)),
        ("balanced", "[2, 1]", "one_f_one_b", (3,)),
        ("fraction(1)", "[2, 2]", "all_forwards_first", (1, 4)),
        ("fraction(0.5)", "[2, 2]", "zero_bubble", (1, 2, 4))]),
    ("reused", "eigen"): ("auto", [
        ("forced balanced", "[1, 2, 2, 1]", "one_f_one_b", (1, 2, 6)),
        ("balanced", "[2, 2]", "zero_bubble", (1, 4)),
        ("fraction(0.5)", "[2, 2]", "interleaved, chunks = 2", (1, 2, 4))]),
    ("reused", "cholesky"): ("auto", [
        ("forced balanced", "[2, 2]", "zero_bubble", (1, 4)),
        ("fraction(0.5)", "[1, 2, 2, 1]", "one_f_one_b", (2, 6))]),
    ("cnn", "cholesky"): ("auto", [
        ("fraction(0.25)", "[4, 2]", "one_f_one_b", (1, 6))]),
    ("tied", "cholesky"): ("auto", [
        ("forced balanced", "[2, 2]", "zero_bubble", (1, 4)),
        ("fraction(0.5)", "[2, 2]", "one_f_one_b", (4,))]),
}
LOCAL = {
    ("mlp", "cholesky"): ("local", [
        ("local", "[2, 2]", "one_f_one_b", (1, 2, 4)),
        ("local", "[1, 4]", "zero_bubble", (1, 5))]),
    ("reused", "eigen"): ("local", [
        ("local", "[1, 2, 2, 1]", "one_f_one_b", (1, 2, 6)),
        ("local", "[2, 2]", "interleaved, chunks = 2", (1, 4))]),
    ("reused", "cholesky"): ("local", [
        ("local", "[2, 1]", "zero_bubble", (1, 3)),
        ("local", "[2, 2]", "one_f_one_b", (1, 2, 4))]),
    ("tied", "eigen"): ("local", [
        ("local", "[2, 2]", "one_f_one_b", (1, 4))]),
}
# With sampled targets, a second backward goes through the stages.
SAMPLED = {
    ("mlp", "cholesky, fisher = sampled"): ("auto", [
        ("auto", "[1, 1, 1, 1]", "one_f_one_b", (1, 4)),
        ("forced balanced", "[2, 2]", "zero_bubble", (1, 4), "recompute all")]),
    ("reused", "eigen, fisher = sampled"): ("auto", [
        ("auto", "[1, 1, 1, 1]", "all_forwards_first", (1, 4)),
        ("forced balanced", "[1, 2, 2, 1]", "one_f_one_b", (1, 2, 6)),
        ("fraction(0.5)", "[2, 2]", "interleaved, chunks = 2", (1, 4))]),
    ("reused", "cholesky, fisher = sampled"): ("local", [
        ("local", "[2, 2]", "v_shape, chunks = 2", (1, 4), "recompute all")]),
    ("cnn", "cholesky, fisher = sampled"): ("auto", [
        ("auto", "[1, 1, 1, 1]", "one_f_one_b", (4,), "recompute all"),
        ("auto", "[1, 1]", "v_shape, chunks = 2", (1, 2))]),
    ("tied", "cholesky, fisher = sampled"): ("auto", [
        ("auto", "[1, 1, 1, 1]", "zero_bubble", (1, 4))]),
}
PARTS = {"placements": PLACEMENTS, "local": LOCAL, "sampled": SAMPLED}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--long", action="store_true", help="all cases")
    parser.add_argument("--name", choices=NETWORKS)
    parser.add_argument("--part", choices=["stages", *PARTS])
    options = parser.parse_args()
    check = Check(options)
    if not check.has_ranks:
        print(f"several ranks skipped: there is no {COMMAND[0]}")
    nets = [options.name] if options.name else NETWORKS
    parts = [options.part] if options.part else ["stages", *PARTS]
    for net in nets if "stages" in parts else []:
        check.check_stages(net)
    for part in parts:
        for (net, method), (uncut, cases) in PARTS.get(part, {}).items():
            if net in nets:
                check.check_placements(net, method, uncut, cases)
    print(f"{check.equal} comparisons equal")


if __name__ == "__main__":
    main()
