#!/usr/bin/env python3
"""Times steps of the networks of bench/gpu/jobs in PyTorch and JAX, on a machine with a
GPU.

    bench/gpu/peers.py [--networks mlp,resnet] [--copies 1,8,25] [--precisions f32,tf32,bf16]
                       [--ways eager,compile,...] [--steps 20] [--batch N] [--device cuda]

Prints for each network and number of copies the milliseconds per step of all copies, the
best of three runs of that many steps. The ways are:

    eager          one model after another
    compile        one model after another, by torch.compile
    graph          one model after another, by one CUDA graph
    vmap           all at once by torch.func.vmap
    hfta           all at once as HFTA fuses them: grouped convolutions, baddbmm
    compile-graph  the code of torch.compile, by one CUDA graph
    hfta-graph     HFTA's way, by one CUDA graph
    jax            one model after another by jax.jit
    jax-vmap       all at once by jax.vmap and jax.jit

For a way that fails, the first line of its error is printed. The GPU's own copy bandwidth
and product rates come first. Needs PyTorch, and JAX for its two ways."""

import argparse
import gc
import json
import os
import sys
import time

import torch

import peer_layers
from arguments import list_of, positive
from peer_layers import FusedLayers, TorchLayers
from peer_networks import NETWORKS

ROUNDS, WARM_UP = 3, 5
ROUND_SECONDS = 0.5  # at most; rounds that would take longer have fewer steps
PRECISIONS = ("f32", "tf32", "bf16")


class Task:
    """Copies of a network, a batch, and the precision and device for training them."""

    def __init__(self, name, copies, precision, device="cuda", batch=None):
        self.network, self.copies = NETWORKS[name], copies
        self.precision, self.device = precision, device
        generator = torch.Generator().manual_seed(1)
        self.parameters = peer_layers.parameters_of(self.network)
        self.models = [[parameter.draw(generator).to(device)
                        for parameter in self.parameters] for _ in range(copies)]
        inputs, label = peer_layers.make_fields(
            self.network, batch or self.network.batch, generator)
        self.inputs = [field.to(device) for field in inputs]
        self.label = label.to(device)
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.allow_tf32 = precision == "tf32"

    def loss(self, values, layers=TorchLayers, copies=1, inputs=None):
        """Returns one model's loss, or the sum of the losses of several fused ones."""
        with torch.autocast(self.device, torch.bfloat16,
                            enabled=self.precision == "bf16"):
            o = layers(values, copies)
            output = self.network.apply(o, *(self.inputs if inputs is None else inputs))
        return o.loss(self.network.loss, output, self.label)

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()


def as_leaves(values):
    return [value.detach().requires_grad_() for value in values]


def make_step(task, losses):
    """Returns a function that runs one step of SGD and returns its losses, and one that waits
    for the device. `losses` are pairs of a loss function and the parameters that it takes,
    which the step trains."""
    optimizers = [torch.optim.SGD(leaves, lr=1e-4, momentum=0.9, fused=True)
                  for _, leaves in losses]

    def step():
        found = []
        for (loss, leaves), optimizer in zip(losses, optimizers):
            found.append(loss(leaves))
            found[-1].backward()
            optimizer.step()
            optimizer.zero_grad()
        return [one.detach() for one in found]
    return step, task.synchronize


def by_eager(task):
    return make_step(task, [(task.loss, as_leaves(values)) for values in task.models])


def by_compile(task):
    torch._dynamo.reset()  # pylint: disable=protected-access
    loss = torch.compile(task.loss, dynamic=False)
    return make_step(task, [(loss, as_leaves(values)) for values in task.models])


def stack_models(task):
    return as_leaves([torch.stack(values) for values in zip(*task.models)])


def by_vmap(task):
    every = torch.func.vmap(task.loss, randomness="different")
    return make_step(task, [(lambda leaves: every(leaves).sum(), stack_models(task))])


def fuse_models(task):
    return as_leaves([FusedLayers.fuse(parameter.kind, values) for parameter, values
                      in zip(task.parameters, zip(*task.models))])


def fused_inputs(task):
    layers = FusedLayers([], task.copies)
    return [layers.input(field, filling) for field, (filling, _)
            in zip(task.inputs, task.network.inputs)]


def by_hfta(task):
    inputs = fused_inputs(task)
    return make_step(task, [(lambda leaves: task.loss(leaves, FusedLayers, task.copies,
                                                      inputs), fuse_models(task))])


def captured(way):
    """Returns a way that replays the step of `way` as one CUDA graph."""
    def by_graph(task):
        step, synchronize = way(task)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay, synchronize
    return by_graph


def by_jax(task):
    import peer_jax
    return peer_jax.by_jax(task)


def by_jax_vmap(task):
    import peer_jax
    return peer_jax.by_jax_vmap(task)


def need_jax_on(device):
    """Raises RuntimeError if JAX wouldn't use the wanted kind of device: by default it uses
    the best device that it supports."""
    import jax
    if device == "cuda" and jax.default_backend() != "gpu":
        raise RuntimeError(f"this JAX computes on '{jax.default_backend()}' alone")


WAYS = {"eager": by_eager, "compile": by_compile, "graph": captured(by_eager),
        "vmap": by_vmap, "hfta": by_hfta, "compile-graph": captured(by_compile),
        "hfta-graph": captured(by_hfta), "jax": by_jax, "jax-vmap": by_jax_vmap}
JAX_WAYS = ("jax", "jax-vmap")


def measure(step, steps, synchronize):
    """Returns the seconds per step: the best of ROUNDS rounds of at most `steps` steps."""
    for _ in range(WARM_UP):
        step()

    def time_steps(count):
        synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        synchronize()
        return (time.perf_counter() - begin) / count

    steps = max(1, min(steps, int(ROUND_SECONDS / time_steps(1))))
    return min(time_steps(steps) for _ in range(ROUNDS))


def release():
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def time_way(item, device="cuda"):
    """Returns the milliseconds per step of an item with `network`, `copies`, `precision`
    and `way`."""
    try:
        place = device
        if item["way"] in JAX_WAYS:
            need_jax_on(device)
            place = "cpu"  # PyTorch draws the values on the CPU, JAX copies them
        task = Task(item["network"], item["copies"], item["precision"], place,
                    item.get("batch"))
        step, synchronize = WAYS[item["way"]](task)
        return 1e3 * measure(step, item.get("steps", 20), synchronize)
    finally:
        task = step = synchronize = None
        release()


def measure_machine():
    """Returns the GPU's name, PyTorch's version, the GPU's copy bandwidth in bytes per
    second, and its flops per second in matrix products of each precision."""
    found = {"device": torch.cuda.get_device_name(), "PyTorch": torch.__version__}
    data = torch.empty(1 << 28, device="cuda")
    other = torch.empty_like(data)
    seconds = measure(lambda: other.copy_(data), 10, torch.cuda.synchronize)
    found["copy_bytes_per_second"] = 2 * data.numel() * 4 / seconds
    side = 8192
    for name in PRECISIONS:
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        dtype = torch.bfloat16 if name == "bf16" else torch.float
        one, two = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
        seconds = measure(lambda: one @ two, 5, torch.cuda.synchronize)
        found[f"{name}_flops_per_second"] = 2 * side**3 / seconds
    data = other = one = two = None
    release()
    return found


def first_line(error):
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def serve():
    """Reads lines of JSON, each an item or {"way": "machine"}, from standard input, and
    answers each with a line of JSON on standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries' output goes to stderr, not among the answers
    for line in sys.stdin:
        item = json.loads(line)
        try:
            if item["way"] == "machine":
                answer = {"machine": measure_machine()}
            else:
                answer = {"milliseconds": time_way(item, item.get("device", "cuda"))}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {first_line(error)}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def print_machine():
    found = measure_machine()
    print(f"{found['device']}, PyTorch {found['PyTorch']}")
    print(f"copy {found['copy_bytes_per_second'] / 1e9:.0f} GB/s")
    for name in PRECISIONS:
        print(f"product {name} {found[f'{name}_flops_per_second'] / 1e12:.1f} TFLOP/s")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=list(NETWORKS), type=list_of(NETWORKS),
                        help="some of " + ", ".join(NETWORKS))
    parser.add_argument("--copies", default=[1, 8], type=list_of(None, positive),
                        help="default: 1,8")
    parser.add_argument("--steps", type=positive, default=20,
                        help="of a round, at most (default: %(default)s)")
    parser.add_argument("--ways", default=list(WAYS), type=list_of(WAYS),
                        help="some of those above; default: all")
    parser.add_argument("--precisions", default=list(PRECISIONS),
                        type=list_of(PRECISIONS), help="default: f32,tf32,bf16")
    parser.add_argument("--batch", type=positive, help="default: each network's own")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda",
                        help="cpu: to try the ways that need no GPU")
    parser.add_argument("--serve", action="store_true",
                        help="answer items of JSON on standard input, one a line")
    return parser.parse_args()


def main():
    options = parse()
    if options.serve:
        return serve()
    if options.device == "cuda":
        print_machine()
    for name in options.networks:
        for copies in options.copies:
            for precision in options.precisions:
                for way in options.ways:
                    item = {"network": name, "copies": copies, "precision": precision,
                            "way": way, "steps": options.steps, "batch": options.batch}
                    told = f"{name} x {copies} {precision} {way}:"
                    try:
                        print(told, f"{time_way(item, options.device):.3f} ms a step",
                              flush=True)
                    except Exception as error:  # pylint: disable=broad-except
                        print(told, first_line(error), flush=True)


if __name__ == "__main__":
    main()
