#!/usr/bin/env python3
"""Makes the golden files of the networks with PyTorch, in f64.

    make_network_golden.py [--models DIR] [--out DIR] [--gradients] [NAME ...]

needs torch, numpy and onnx. Reads DIR/NAME.onnx (test/models/networks) with its
weights, which networks.py writes if DIR/NAME.json describes them, and writes
OUT/NAME.json (test/reference/golden/networks):

    loss        one row a step, one number a copy: before the step's update
    perturbed   the losses after a random half of the initial weights were moved to
                the next f64 up or down: they show how much rounding may matter
    gradient    of each trained parameter at the first step: its `largest`
                magnitude, `entries`: a map from some positions to values, and
                `f32`: the largest error of PyTorch's gradient in f32, divided by
                `largest`

With --gradients, OUT/NAME.gradients holds these gradients completely, in f64, one
parameter after another in the order of `gradient`.
"""

import argparse
import fnmatch
import json
import pathlib

import numpy
import torch
from torch.nn import functional

import make_data
import networks
import onnx_torch

HERE = pathlib.Path(__file__).resolve().parent
ENTRIES = 24
EPSILON = 1e-8
BETA1, BETA2 = 0.9, 0.999
MOMENTUM = 0.9


def loss_of(kind, output, label):
    if kind == "mse":
        return functional.mse_loss(output, label)
    if kind == "binary_cross_entropy":
        return functional.binary_cross_entropy_with_logits(output, label)
    call = functional.nll_loss if kind == "nll" else functional.cross_entropy
    return call(output.reshape(-1, output.shape[-1]), label.reshape(-1))


def trained_names(model, network):
    """Returns the names of the initializers that are trained: floats, except running
    statistics and those that the network freezes."""
    statistics = {name for node in model.graph.node
                  if node.op_type == "BatchNormalization"
                  for name in node.input[3:]}
    return [name for name, value in model.initializers.items()
            if value.is_floating_point() and name not in statistics
            and not any(fnmatch.fnmatch(name, p) for p in network.frozen)]


class Optimizer:
    """An optimizer by the formulas of make_golden.py. Its state begins with zeros."""

    def __init__(self, kind, rate):
        self.kind, self.rate, self.step = kind, rate, 0
        self.first, self.second = {}, {}

    def update(self, name, weight, gradient):
        m = self.first.get(name, torch.zeros_like(weight))
        if self.kind == "sgd":
            m = MOMENTUM * m + gradient
            self.first[name] = m
            return weight - self.rate * m
        v = self.second.get(name, torch.zeros_like(weight))
        m = BETA1 * m + (1 - BETA1) * gradient
        v = BETA2 * v + (1 - BETA2) * gradient * gradient
        self.first[name], self.second[name] = m, v
        m_hat = m / (1 - BETA1 ** self.step)
        v_hat = v / (1 - BETA2 ** self.step)
        return weight - self.rate * m_hat / (torch.sqrt(v_hat) + EPSILON)


class Reference:
    def __init__(self, name, path, float_type=torch.float64):
        self.network = networks.NETWORKS[name]
        self.model = onnx_torch.Model(path, float_type)
        self.trained = trained_names(self.model, self.network)
        self.start = dict(self.model.initializers)
        self.data = {}
        for field, (shape, values) in networks.make_fields(name).items():
            value = torch.tensor(numpy.array(values)).reshape(shape)
            self.data[field] = value.to(float_type) \
                if value.is_floating_point() else value

    def batch(self, step):
        first = step * networks.BATCH
        rows = {field: value[first:first + networks.BATCH]
                for field, value in self.data.items()}
        return [rows[name] for name in self.network.inputs], rows["label"]

    def gradients(self, step, weights=None):
        """Returns the loss of a step's batch with these weights, by default the initial
        ones, and the gradient of each trained parameter."""
        leaves = {name: (weights or self.start)[name].detach().requires_grad_()
                  for name in self.trained}
        self.model.initializers = {**self.start, **leaves}
        inputs, label = self.batch(step)
        outputs = dict(zip(self.model.outputs, self.model(*inputs)))
        loss = loss_of(self.network.loss, outputs[self.network.output], label)
        found = torch.autograd.grad(loss, list(leaves.values()),
                                    allow_unused=True)
        return loss.item(), {
            name: torch.zeros_like(leaf) if gradient is None else gradient
            for (name, leaf), gradient in zip(leaves.items(), found)}

    def losses(self, weights, rate):
        optimizer = Optimizer(self.network.optimizer, rate)
        result = []
        for step in range(networks.STEPS):
            loss, gradients = self.gradients(step, weights)
            result.append(loss)
            optimizer.step = step + 1
            weights = {name: optimizer.update(name, weights[name], gradient)
                       for name, gradient in gradients.items()}
        return result

    def perturbed(self):
        """Returns the initial weights, a random half of which are moved to the next
        number up or down."""
        generator = numpy.random.default_rng(1)
        result = {}
        for name in self.trained:
            value = self.start[name].numpy()
            way = generator.choice([-numpy.inf, numpy.inf], value.shape)
            moved = numpy.nextafter(value, way)
            keep = generator.random(value.shape) < 0.5
            result[name] = torch.from_numpy(numpy.where(keep, value, moved))
        return result


def summary(gradient, narrow):
    flat = gradient.reshape(-1)
    largest = flat.abs().max().item()
    off = (narrow.double() - gradient).abs().max().item()
    if flat.numel() <= ENTRIES:
        positions = range(flat.numel())
    else:
        positions = sorted({make_data.hash32(flat.numel(), i) % flat.numel()
                            for i in range(ENTRIES)})
    return {"largest": largest, "f32": off / largest if largest else 0.0,
            "entries": {str(i): flat[i].item() for i in positions}}


def make_golden(name, options):
    index = options.models / f"{name}.json"
    if index.exists():
        networks.write_weights(options.models, index)
    path = options.models / f"{name}.onnx"
    reference = Reference(name, path)
    start = {key: reference.start[key] for key in reference.trained}
    other = reference.perturbed()
    runs = {}
    for key, weights in (("loss", start), ("perturbed", other)):
        columns = [reference.losses(weights, rate) for rate
                   in networks.RATES[reference.network.optimizer]]
        runs[key] = [list(row) for row in zip(*columns)]
        print(f"{name} {key}: {runs[key][0][0]:.6f} to {runs[key][-1]}")
    _, gradients = reference.gradients(0)
    _, narrow = Reference(name, path, torch.float32).gradients(0)
    golden = {"network": name, **runs, "gradient": {
        key: summary(value, narrow[key]) for key, value in gradients.items()}}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.json").write_text(
        json.dumps(golden, indent=0) + "\n")
    if options.gradients:
        flat = [value.numpy().reshape(-1) for value in gradients.values()]
        (options.out / f"{name}.gradients").write_bytes(
            numpy.concatenate(flat).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=[
        name for name in networks.NETWORKS if not name.startswith("resnet18_")])
    parser.add_argument("--models", type=pathlib.Path,
                        default=HERE.parent / "models" / "networks")
    parser.add_argument("--out", type=pathlib.Path,
                        default=HERE / "golden" / "networks")
    parser.add_argument("--gradients", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        make_golden(name, options)


if __name__ == "__main__":
    main()
