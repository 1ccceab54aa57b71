#!/usr/bin/env python3
"""Tests networks in pipelines of four stages, in each order and on each number of ranks.
Their checkpoints and logs must be those of the program without stages, for copies that are
fused, partly fused, or not fused, with and without clipped gradients, in f32 and f64. Also
tests two stages of two replicas and one, and four stages on two hosts. Needs Open MPI's
mpirun, and only Python's standard library; the hosts are network namespaces, which root can
make.

    pipeline_networks.py --hftac HFTAC --work DIR [--name NAME] [--part N/M]
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import pathlib
import random
import shutil
import sys

from harness import DATA, REFERENCE, make_blocks, run
from hosts import can_make_hosts, make_hosts, run_told
from mpirun import run_ranks
from network_run import NetworkFolder
from pipeline_models import (FIELDS, TIED_PARTS, graph, integers, make_numbers, model,
                             node, tensor, value, write_tied)
from pipeline_orders import CHUNKS_OF_ORDERS, make_random_order, write_rows
from trainings import expect_same_training, expect_trained, read_training

COPIES, STEPS, MICRO_BATCHES = 4, 5, 8
ORDERS = (*CHUNKS_OF_ORDERS, "file")
RANKS = (1, 2, 4)
# The number of cases that are checked in parallel.
JOBS = 2


def write_mlp(folder, name, kind):
    """Writes a model of eight layers with dropouts after layers 2, 4 and 6. `kind` is the
    activation function of layer 4."""
    nodes = [node("Reshape", ["image", "flat"], ["x"], name="x")]
    tensors = [integers("flat", [-1, 64]), tensor("rate", [], [0.2])]
    source, width = "x", 64
    for layer in range(1, 9):
        size = 10 if layer == 8 else 12 + layer
        tensors.append(make_numbers(f"w{layer}", width, size))
        has_dropout = layer % 2 == 0 and layer < 8
        result = f"a{layer}"
        summed = f"r{layer}" if has_dropout else result
        nodes += [node("MatMul", [source, f"w{layer}"], [f"s{layer}"], name=f"s{layer}"),
                  node(kind if layer == 4 else "Relu", [f"s{layer}"], [summed],
                       name=summed)]
        if has_dropout:
            nodes.append(node("Dropout", [summed, "rate"], [result], name=result))
        source, width = result, size
    nodes.append(node("MatMul", ["a8", "last"], ["scores"], name="scores"))
    tensors.append(make_numbers("last", 10, 10))
    write(folder, name, nodes, tensors, ["batch", 1, 8, 8])


def write_cnn(folder, name, kind):
    """Writes a model with two convolutions and batch norms. `kind` is the activation
    function of the second one."""
    nodes, tensors, source, channels = [], [integers("flat", [-1, 6 * 49])], "image", 1
    for layer, width in ((1, 4), (2, 6)):
        def of(part, layer=layer):
            return f"{part}{layer}"
        tensors += [make_numbers(of("w"), width, channels, 3, 3),
                    tensor(of("scale"), [width], [1.0] * width),
                    make_numbers(of("shift"), width),
                    tensor(of("mean"), [width], [0.0] * width),
                    tensor(of("variance"), [width], [1.0] * width)]
        nodes += [node("Conv", [source, of("w")], [of("conv")], name=of("conv"),
                       pads=[1, 1, 1, 1]),
                  node("BatchNormalization",
                       [of("conv"), *map(of, ("scale", "shift", "mean", "variance"))],
                       [of("norm")], name=of("norm")),
                  node("Relu" if layer == 1 else kind, [of("norm")], [of("act")],
                       name=of("act")),
                  node("MaxPool", [of("act")], [of("pool")], name=of("pool"),
                       kernel_shape=[2, 2], strides=[2, 2])]
        source, channels = of("pool"), width
    tensors += [make_numbers("w.hidden", 6 * 49, 16), make_numbers("w.last", 16, 10)]
    nodes += [node("Reshape", [source, "flat"], ["x"], name="x"),
              node("MatMul", ["x", "w.hidden"], ["sum"], name="sum"),
              node("Relu", ["sum"], ["hidden"], name="hidden"),
              node("MatMul", ["hidden", "w.last"], ["scores"], name="scores")]
    write(folder, name, nodes, tensors, ["batch", 1, 28, 28])


def write(folder, name, nodes, tensors, shape):
    (folder / f"{name}.onnx").write_bytes(model(graph(
        nodes, [value("image", shape)], [value("scores", ["batch", 10])], tensors)))


@dataclasses.dataclass(frozen=True)
class Network:
    """A network's ONNX files (if copies are fused partly, one per copy; otherwise the first
    is used for all), its cuts into eight parts, and the settings of its job."""
    files: tuple
    cuts: tuple
    fields: str
    inputs: str = "image"
    label: str = "label"
    loss: str = "cross_entropy"
    rates: str = "[1e-3, 3e-3, 1e-2, 3e-2]"
    batch: int = 48
    four: tuple = (1, 3, 5)  # indices of the cuts that give four parts
    two: int = 3


RESIDUAL = tuple(f"/blocks.{block}/Relu_1" for block in range(7))
NETWORKS = {
    "mlp": Network(("mlp", "mlp-other") * 2, tuple(f"a{n}" for n in range(1, 8)),
                   DATA["mlp"]),
    "cnn": Network(("cnn", "cnn-other") * 2,
                   ("conv1", "act1", "pool1", "conv2", "act2", "pool2", "hidden"),
                   DATA["cnn"], four=(2, 5, 6), two=2),
    "resnet18": Network(("resnet18", "resnet18_deep", "resnet18_wide", "resnet18"),
                        RESIDUAL,
                        'image = npy("resnet18-image.npy"), '
                        'label = npy("resnet18-label.npy")', loss="nll", batch=16),
    "tied": Network(("tied", "tied-other") * 2,
                    TIED_PARTS,
                    FIELDS["tied"], inputs="tokens", label="next", four=(0, 3, 6)),
}


def write_networks(folder, hftac):
    """Writes all files that the jobs read."""
    run(sys.executable, REFERENCE / "make_data.py", folder, "mlp", "cnn")
    for name, kind in (("", "Relu"), ("-other", "Tanh")):
        write_mlp(folder, f"mlp{name}", kind)
        write_cnn(folder, f"cnn{name}", kind)
        write_tied(folder, f"tied{name}", kind)
    samples = STEPS * NETWORKS["resnet18"].batch
    for name in ("resnet18", "resnet18_deep", "resnet18_wide"):
        NetworkFolder(hftac, name, folder, samples=samples)


@dataclasses.dataclass(frozen=True)
class Case:
    net: str
    fusion: str  # "fused", "partial" (different models), or "alone" (not fused)
    precision: str
    clips: bool

    def __str__(self):
        return (f"{self.net}-{self.fusion}-{self.precision}"
                f"{'-clipped' * self.clips}")


def get_cases(names):
    return [Case(*choice) for choice in itertools.product(
        names, ("fused", "alone", "partial"), ("f32", "f64"), (True, False))]


class Check:
    def __init__(self, hftac, folder):
        self.hftac, self.folder = hftac, folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_networks(self.folder, hftac)
        self.equal = 0

    def compile(self, case, name, *clauses):
        """Compiles a case with these clauses in addition, and returns the program."""
        network = NETWORKS[case.net]
        files = network.files if case.fusion == "partial" else network.files[:1]
        source = "model net = onnx({})\n".format(
            ", ".join(f'"{name}.onnx"' for name in files))
        lines = [f"precision {case.precision}", *clauses, "seed 3"]
        if case.clips:
            lines.append("clip_norm 0.5")
        optimizer = ("sgd(lr = [1e-3, 3e-3, 1e-2, 3e-2], momentum = 0.9)"
                     if case.net == "resnet18" else f"adam(lr = {network.rates})")
        job = self.folder / f"{name}.hfta"
        job.write_text(source + make_blocks(
            f"{network.fields}\n  test {network.fields}",
            f"{network.loss}(net, {network.label})", optimizer, STEPS,
            batch=network.batch, model=f"net({network.inputs})",
            clauses="".join(f"  {line}\n" for line in lines)))
        binary = job.with_suffix("")
        flags = ["--no-fuse"] if case.fusion == "alone" else []
        run(self.hftac, job, "-o", binary, *flags)
        return binary

    def get_flags(self, name):
        return ["train", "--data", self.folder, "--checkpoint", self.folder / name,
                "--log", self.folder / f"{name}.jsonl", "--log-every", 1,
                "--no-progress", "--overwrite"]

    def get_trained(self, name):
        return read_training(self.folder / name, self.folder / f"{name}.jsonl", STEPS)

    def train(self, binary, ranks):
        name = f"{binary.name}-on-{ranks}"
        run_ranks(ranks, binary, *self.get_flags(name))
        return self.get_trained(name)

    def remove(self, binary):
        for path in self.folder.glob(f"{binary.name}-on-*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        binary.unlink()

    def expect_same(self, mine, theirs, what):
        expect_same_training(mine, theirs, COPIES, what)
        self.equal += 1

    def make_order(self, case, name):
        """Returns the pipeline clause for four stages in an order, with one part or two per
        stage. For "file", writes a random order."""
        network = NETWORKS[case.net]
        chunked = CHUNKS_OF_ORDERS.get(name, 1) > 1
        parts = network.cuts if chunked else [network.cuts[n] for n in network.four]
        order = name
        if name == "file":
            # The choice is random, but the same in each run of a case.
            choices = random.Random(str(case))
            chunked = choices.random() < 0.5
            parts = network.cuts if chunked else parts
            rows = make_random_order(choices, len(parts) + 1, MICRO_BATCHES,
                                     1 + chunked, choices.random() < 0.5)
            (self.folder / f"{case}.csv").write_text(write_rows(rows))
            order = f'file("{case}.csv")'
        cuts = ", ".join(f'"{cut}"' for cut in parts)
        chunks = ", chunks = 2" if chunked and name != "v_shape" else ""
        return f"pipeline cuts = [{cuts}], order = {order}{chunks}"

    def check_orders(self, case):
        clause = f"micro_batches {MICRO_BATCHES}"
        uncut = self.compile(case, str(case), clause)
        expected = self.train(uncut, 1)
        expect_trained(expected, STEPS, COPIES, str(case))
        for order in ORDERS:
            binary = self.compile(case, f"{case}-{order}", clause,
                                  self.make_order(case, order))
            for ranks in RANKS:
                self.expect_same(self.train(binary, ranks), expected,
                                 f"{case}, {order} on {ranks} ranks")
            self.remove(binary)
        self.remove(uncut)

    def check_replicas(self, case):
        """Tests two stages, of two replicas and of one. The results must be the same on
        each number of ranks, and, if the number of groups is given, those of the program
        without stages."""
        network = NETWORKS[case.net]
        pipeline = (f'pipeline cuts = ["{network.cuts[network.two]}"], '
                    "replicas = [2, 1]")
        for groups in ("", ", groups = 8"):
            clause = f"micro_batches {MICRO_BATCHES}{groups}"
            expected, programs = None, []
            if groups:
                programs.append(self.compile(case, f"{case}-groups", clause))
                expected = self.train(programs[0], 1)
            programs.append(self.compile(case, f"{case}-2-1", clause, pipeline))
            for ranks in (1, 2, 3):
                trained = self.train(programs[-1], ranks)
                if expected:
                    self.expect_same(trained, expected,
                                     f"{case}, replicas [2, 1]{groups} on {ranks} ranks")
                expected = expected or trained
            for binary in programs:
                self.remove(binary)

    def check(self, case):
        self.check_orders(case)
        # Replicas are tested in a part of the cases only: the others would add up the same
        # groups.
        if case.precision == "f32" and case.clips:
            self.check_replicas(case)
        print(f"equal: {case}", flush=True)

    def check_hosts(self, case, order):
        """Compares four ranks on two hosts with the program without stages."""
        clause = f"micro_batches {MICRO_BATCHES}"
        uncut = self.compile(case, str(case), clause)
        binary = self.compile(case, f"{case}-{order}", clause,
                              self.make_order(case, order))
        name = f"{binary.name}-on-hosts"
        with make_hosts(self.folder, slots=2) as command:
            run_told(command, 4, binary, *self.get_flags(name), place=self.folder)
        what = f"{case}, {order} on two hosts"
        self.expect_same(self.get_trained(name), self.train(uncut, 1), what)
        self.remove(binary)
        self.remove(uncut)
        print(f"equal: {what}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--name", choices=NETWORKS)
    parser.add_argument("--part", default="1/1",
                        help="the N-th of M parts of the cases")
    options = parser.parse_args()
    names = [options.name] if options.name else list(NETWORKS)
    part, parts = map(int, options.part.split("/"))
    check = Check(options.hftac, options.work)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        try:
            list(pool.map(check.check, get_cases(names)[part - 1::parts]))
        finally:
            pool.shutdown(cancel_futures=True)
    if can_make_hosts():
        for name, order in zip(names, itertools.cycle(ORDERS[1:])):
            check.check_hosts(Case(name, "fused", "f32", True), order)
    else:
        print("two hosts skipped: no network namespaces can be made here")
    print(f"{check.equal} comparisons equal")


if __name__ == "__main__":
    main()
