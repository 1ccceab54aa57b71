#!/usr/bin/env python3
"""Tests models that need eight times as much memory as there is. Without spilling, hftac
must refuse them, and so must a program that was compiled without a budget, if the process'
memory is limited. With a budget they must train under that limit, and under that of a
control group if one can be made, to the same bytes as with enough memory: with SGD and
Adam, clipping, micro-batches, dropout, running statistics, tied and frozen weights, K-FAC,
on one to three threads. The process' anonymous memory must stay below the peak plus 32 MiB.
Needs only Python's standard library."""

import json
import os
import pathlib
import resource
import subprocess
import threading

from harness import (DATA, Work, checkpoint, expect_same_checkpoint, fail,
                     make_blocks, run)
from pipeline_models import (graph, integers, model, node, tensor, uniform, value)

COPIES, STEPS = 2, 3
TIMES = 8  # a model's memory divided by the memory that it may have
ALLOWANCE = 32 << 20
WIDTH, LAYERS = 512, 20


def make_chain(layer, width=WIDTH, layers=LAYERS):
    """Returns the text of a model with a chain of layers. `layer` is a function that
    returns the text of one layer, for the name of its input, its number and its width."""
    lines = [f"  a1 = relu(linear(flatten(image), {width}))"]
    lines += [f"  a{number} = {layer(f'a{number - 1}', number, width)}"
              for number in range(2, layers)]
    return ("\nmodel net(image: f32[batch, 1, 8, 8]) {\n" + "\n".join(lines) +
            f"\n  return output = linear(a{layers - 1}, 10)\n}}\n")


def dropped(source, number, width):
    return f"dropout(relu(linear({source}, {width})), 0.1)"


def normalized(source, number, width):
    return f"relu(batch_norm(linear({source}, {width})))"


def plain(source, number, width):
    return f"tanh(linear({source}, {width}))"


def write_tied(folder, width=256, layers=28):
    """Writes a chain of layers in which the first of the square weights is also that of the
    last square layer. Returns the model's declaration for a job."""
    base = [(uniform(7, index) - 0.5) * 0.1 for index in range(width * width)]

    def numbers(name, rows, columns, shift):
        shifted = base[shift:] + base[:shift]
        return tensor(name, [rows, columns], shifted[:rows * columns])
    tensors = [integers("flat", [-1, 64]), numbers("first", 64, width, 1),
               numbers("last", width, 10, 2)]
    tensors += [numbers(f"w{number}", width, width, 3 + number)
                for number in range(layers - 1)]
    nodes = [node("Reshape", ["image", "flat"], ["x"], name="x"),
             node("MatMul", ["x", "first"], ["a0"], name="a0")]
    for layer in range(layers):
        nodes += [node("MatMul", [f"a{layer}", f"w{layer % (layers - 1)}"],
                       [f"s{layer}"], name=f"s{layer}"),
                  node("Tanh", [f"s{layer}"], [f"a{layer + 1}"], name=f"a{layer + 1}")]
    nodes.append(node("MatMul", [f"a{layers}", "last"], ["output"], name="output"))
    (folder / "tied.onnx").write_bytes(model(graph(
        nodes, [value("image", ["batch", 1, 8, 8])], [value("output", ["batch", 10])],
        tensors)))
    return 'model net = onnx("tied.onnx")\n'


ADAM = "adam(lr = [1e-4, 3e-4])"
SGD = "sgd(lr = [1e-3, 3e-3], momentum = 0.9)"
KFAC = "precondition kfac(factor_every = 2, inverse_every = 2)"

# The jobs: name to a function that makes the model, optimizer, and clauses of the train
# block.
JOBS = {
    "clipped": (lambda folder: make_chain(dropped), ADAM,
                "clip_norm 0.5\n  micro_batches 4"),
    "normalized": (lambda folder: make_chain(normalized), SGD,
                   'freeze "a3.*"\n  micro_batches 2'),
    "tied": (write_tied, ADAM, ""),
    "kfac": (lambda folder: make_chain(plain, 256, 28), SGD, KFAC),
}


class Watch:
    """A thread that measures the largest RssAnon of a process, in bytes."""

    def __init__(self, process):
        self.status = pathlib.Path(f"/proc/{process.pid}/status")
        self.most = 0
        self.process = process
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while self.process.poll() is None:
            try:
                for line in self.status.read_text().splitlines():
                    if line.startswith("RssAnon:"):
                        self.most = max(self.most, int(line.split()[1]) << 10)
            except (OSError, ProcessLookupError):
                return
            try:
                self.process.wait(0.002)
            except subprocess.TimeoutExpired:
                pass


class ControlGroup:
    """A control group, whose processes together may have `bytes_` bytes of memory,
    including page cache. `make` returns None if the system doesn't permit one."""

    def __init__(self, folder, file, bytes_):
        self.folder, self.file, self.bytes = folder, file, bytes_

    @staticmethod
    def make(name, bytes_):
        for parent, file in ((pathlib.Path("/sys/fs/cgroup/memory"),
                              "memory.limit_in_bytes"),
                             (pathlib.Path("/sys/fs/cgroup"), "memory.max")):
            folder = parent / name
            try:
                folder.mkdir()
            except OSError:
                continue
            try:
                (folder / file).write_text(str(bytes_))
                return ControlGroup(folder, file, bytes_)
            except OSError:
                folder.rmdir()
        return None

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        self.folder.rmdir()


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp")

    def train(self, binary, name, *flags, limit=None, group=None, code=0):
        """Trains from the start. Returns the output and the largest RssAnon of the process
        in bytes."""
        folder = self.work.folder

        def restrict():
            if limit:
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
            if group:
                group.enter()

        process = subprocess.Popen(
            [binary, "train", "--data", folder, "--checkpoint", folder / name,
             "--no-progress", *map(str, flags)], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, preexec_fn=restrict)
        watch = Watch(process)
        text = process.communicate()[0]
        watch.thread.join()
        if process.returncode != code:
            fail(f"{name}: exit {process.returncode}, expected {code}\n{text:.2000}")
        return text, watch.most

    def get_memory(self, binary):
        return json.loads(run(binary, "info", "--json"))["memory"]["array"]

    def check_refusals(self, name, text, free, device):
        """Checks that, without spilling, neither hftac nor the program accepts the
        model."""
        refused = run(self.work.hftac, self.work.write_job(f"{name}-none", text), "-o",
                      self.work.folder / f"{name}-none",
                      f"--memory=device = {device}, threads = 3, spill = none", code=3)
        if "no plan fits into" not in refused:
            fail(f"{name}: unspilled, hftac says {refused!r}")
        text, _ = self.train(free, f"{name}-refused", limit=device + ALLOWANCE, code=3)
        if "bytes of memory and may have" not in text:
            fail(f"{name}: under a limit the program says {text!r}")

    def check(self, name):
        make, optimizer, clauses = JOBS[name]
        text = make(self.work.folder) + make_blocks(
            DATA["mlp"], "cross_entropy(net, label)", optimizer, STEPS,
            clauses=f"  seed 3\n  {clauses}")
        free = self.work.compile(f"{name}-free", text)
        needed = self.get_memory(free)["peak_bytes"]
        device = needed // TIMES
        self.check_refusals(name, text, free, device)
        self.train(free, f"{name}-trained")
        expected = checkpoint(self.work.folder / f"{name}-trained", STEPS)
        spilled = self.work.compile(f"{name}-spilled", text,
                                    f"--memory=device = {device}, threads = 3")
        peak = self.get_memory(spilled)["peak_bytes"]
        if peak > device:
            fail(f"{name}: {peak} bytes within {device}")
        # Several numbers of threads are tested with one job only, as their effect doesn't
        # depend on the job.
        for threads in (1, 2, 3) if name == "clipped" else (2,):
            what = f"{name}-{threads}"
            _, most = self.train(spilled, what, "--threads", threads,
                                 limit=device + ALLOWANCE)
            print(f"{what}: {needed} bytes needed, budget {device}, peak {peak}, "
                  f"RssAnon {most}")
            if most > peak + ALLOWANCE:
                fail(f"{what}: {most} bytes of its own, planned were {peak}")
            expect_same_checkpoint(checkpoint(self.work.folder / what, STEPS),
                                   expected, what, COPIES)
        self.check_group(name, spilled, device, expected)

    def check_group(self, name, spilled, device, expected):
        group = ControlGroup.make(f"hfta-{os.getpid()}", device + ALLOWANCE)
        if not group:
            print("skipped: no control group can be made here")
            return
        try:
            self.train(spilled, f"{name}-group", group=group)
        finally:
            group.remove()
        expect_same_checkpoint(checkpoint(self.work.folder / f"{name}-group", STEPS),
                               expected, f"{name} in a control group", COPIES)


def main():
    check = Check()
    for name in JOBS:
        check.check(name)


if __name__ == "__main__":
    main()
