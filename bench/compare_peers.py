#!/usr/bin/env python3
"""Times training steps of a network of bench/gpu/peer_networks.py on the CPU, in PyTorch or
JAX: the worker of bench/compare.

    bench/compare_peers.py        # reads requests from standard input

A request is a line of JSON, and so is its answer, an object with `error` if it fails:

    {"prepare": WAY, "network": NAME, "copies": N, "precision": "f32" or "bf16",
     "batch": B, "threads": T, "weights": [FILE, ...], "fields": [FILE, ...]}
        builds a step and takes it once: {"losses": [...], "seconds": SECONDS}. Each copy
        has its file of weights, an ONNX model; a field has a file of its bytes. With bf16,
        PyTorch's autocast chooses what is computed in it.
    {"round": SECONDS}
        takes steps for that long, at least one: {"seconds": SECONDS_PER_STEP}

The ways are:

    eager          one model after another, with PyTorch's fused SGD
    channels-last  the same, with channels innermost
    compile        the same, forward and backward by torch.compile
    whole          the same, the whole step by torch.compile
    vmap           all models at once: the whole step by torch.compile of torch.func.vmap
    jax            one model after another, the whole step by jax.jit
    jax-vmap       all models at once, by jax.vmap and jax.jit

Needs PyTorch and the package onnx, and JAX for its ways."""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
sys.dont_write_bytecode = True

import torch  # noqa: E402

import peers  # noqa: E402  (found by the path above)
from peer_networks import BYTE, CLASS  # noqa: E402

RATE, MOMENTUM = 1e-4, 0.9


def read_weights(path, parameters):
    """Returns an ONNX model's tensors, in the order of the network's parameters, which is
    that of the file."""
    import onnx
    from onnx import numpy_helper
    tensors = {one.name: one for one in onnx.load(path).graph.initializer}
    order = (pathlib.Path(path).parent / "order.json").read_text(encoding="utf-8")
    found = [torch.tensor(numpy_helper.to_array(tensors[name])) for name in json.loads(order)]
    for tensor, parameter in zip(found, parameters, strict=True):
        if tuple(tensor.shape) != tuple(parameter.shape):
            raise ValueError(f"{path}: a tensor of shape {tuple(tensor.shape)}, expected "
                             f"{tuple(parameter.shape)}")
    return found


def read_field(path, filling, shape, batch):
    whole = filling in (BYTE, CLASS)
    data = torch.frombuffer(bytearray(pathlib.Path(path).read_bytes()),
                            dtype=torch.uint8 if whole else torch.float32)
    return data.reshape(batch, *shape).to(torch.int64 if whole else torch.float32)


class CpuTask(peers.Task):
    """The copies of a request, with its weights and its batch."""

    def __init__(self, item):
        super().__init__(item["network"], item["copies"], item["precision"], "cpu",
                         item["batch"])
        self.models = [read_weights(path, self.parameters) for path in item["weights"]]
        *inputs, self.label = (
            read_field(path, *field, item["batch"]) for path, field in
            zip(item["fields"], (*self.network.inputs, self.network.label), strict=True))
        self.inputs = inputs


def by_eager(task):
    return peers.by_eager(task)[0]


def by_compile(task):
    return peers.by_compile(task)[0]


def by_channels_last(task):
    def convert(tensor):
        return (tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4
                else tensor)

    task.models = [list(map(convert, values)) for values in task.models]
    task.inputs = list(map(convert, task.inputs))
    return by_eager(task)


def step_of_whole(slope, states):
    """Returns a function that trains each of `states`, lists of weights, by one compiled
    function for the whole step, and returns their losses. `slope` returns the gradients of
    such a list, and the loss."""
    def update(values, momenta):
        gradients, found = slope(values)
        for value, momentum, gradient in zip(values, momenta, gradients):
            momentum.mul_(MOMENTUM).add_(gradient)
            value.sub_(RATE * momentum)
        return found

    compiled = torch.compile(update, dynamic=False)
    momenta = [[torch.zeros_like(value) for value in values] for values in states]
    return lambda: [compiled(*state) for state in zip(states, momenta)]


def by_whole(task):
    return step_of_whole(torch.func.grad_and_value(task.loss), task.models)


def by_vmap(task):
    slope = torch.func.vmap(torch.func.grad_and_value(task.loss))
    step = step_of_whole(slope, [[torch.stack(values) for values in zip(*task.models)]])
    return lambda: list(step()[0])


def by_jax(way):
    def make(task):
        step, synchronize = peers.WAYS[way](task)

        def run():
            step()
            synchronize()
            return []
        return run
    return make


WAYS = {"eager": by_eager, "channels-last": by_channels_last, "compile": by_compile,
        "whole": by_whole, "vmap": by_vmap, "jax": by_jax("jax"),
        "jax-vmap": by_jax("jax-vmap")}


class Worker:
    """Answers requests; keeps the step that was prepared."""

    def __init__(self):
        self.step = None

    def answer(self, item):
        if "prepare" in item:
            torch.set_num_threads(item["threads"])
            begin = time.perf_counter()
            task = CpuTask(item)
            self.step = WAYS[item["prepare"]](task)
            losses = self.step()
            return {"losses": [float(loss) for loss in losses],
                    "seconds": time.perf_counter() - begin}
        steps, begin = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - begin < item["round"]:
            self.step()
            steps += 1
        return {"seconds": (time.perf_counter() - begin) / steps}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries' output goes to stderr, not among the answers
    worker = Worker()
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {peers.first_line(error)}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
