#!/usr/bin/env python3
"""Times steps of several copies of the CNN of examples/fashion in PyTorch, on the CPU.

    bench/copies_peer.py WAY bench --json --steps=N --threads=N --batch=N
                         --copies=JSON

The copies have the hyper-parameters of the list JSON: objects with Adam's lr, beta1,
beta2, eps and weight_decay. All of them see the same batch. After some steps of warm-up,
N steps are timed, and their seconds are printed as a compiled program's command bench
does, with each copy's loss in the last step. The ways are:

    eager     one model after another, with PyTorch's fused Adam
    vmap      all at once by torch.func.vmap of grad, with Adam on stacked tensors

Needs PyTorch."""

import argparse
import copy
import json
import time

import torch
from torch.nn.functional import cross_entropy

from kfac_peers import make_peer

WARM_UP = 5


def by_eager(models, copies):
    """Returns a function that trains all models for one step and returns their losses."""
    optimizers = [
        torch.optim.Adam(model.parameters(), lr=values["lr"],
                         betas=(values["beta1"], values["beta2"]), eps=values["eps"],
                         weight_decay=values["weight_decay"], fused=True)
        for model, values in zip(models, copies)]

    def step(image, label):
        losses = []
        for model, optimizer in zip(models, optimizers):
            optimizer.zero_grad()
            losses.append(cross_entropy(model(image), label))
            losses[-1].backward()
            optimizer.step()
        return torch.stack(losses)
    return step


class StackedAdam:
    """Adam for all copies at once. The first axis of each parameter, gradient and moment is
    the copy."""

    def __init__(self, parameters, copies):
        self.parameters, self.steps = parameters, 0
        self.copies = {name: torch.tensor([values[name] for values in copies])
                       for name in copies[0]}
        self.first = {name: torch.zeros_like(p) for name, p in parameters.items()}
        self.second = {name: torch.zeros_like(p) for name, p in parameters.items()}

    def step(self, gradients):
        self.steps += 1
        for name, parameter in self.parameters.items():
            shape = (-1, *[1] * (parameter.dim() - 1))
            c = {key: value.view(shape) for key, value in self.copies.items()}
            gradient = gradients[name].addcmul_(parameter, c["weight_decay"])
            first = self.first[name].lerp_(gradient, 1 - c["beta1"])
            second = self.second[name].mul_(c["beta2"])
            second.addcmul_(gradient * (1 - c["beta2"]), gradient)
            root = (second / (1 - c["beta2"] ** self.steps)).sqrt_().add_(c["eps"])
            rate = c["lr"] / (1 - c["beta1"] ** self.steps)
            parameter.sub_((first * rate).div_(root))


def by_vmap(models, copies):
    """Returns a function that trains all models for one step and returns their losses."""
    stacked, _ = torch.func.stack_module_state(models)
    parameters = {name: value.detach() for name, value in stacked.items()}
    optimizer = StackedAdam(parameters, copies)

    def get_loss(values, image, label):
        output = torch.func.functional_call(models[0], values, (image,))
        return cross_entropy(output, label)

    differentiate = torch.func.vmap(torch.func.grad_and_value(get_loss),
                                    in_dims=(0, None, None))

    def step(image, label):
        gradients, losses = differentiate(parameters, image, label)
        optimizer.step(gradients)
        return losses
    return step


WAYS = {"eager": by_eager, "vmap": by_vmap}


def measure(options):
    """Returns the seconds of the timed steps, and the losses in the last one."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = make_peer("cnn")
    models = [copy.deepcopy(model) for _ in options.copies]
    image = torch.rand(options.batch, 1, 28, 28)
    label = torch.randint(0, 10, (options.batch,))
    step = WAYS[options.way](models, options.copies)
    for _ in range(WARM_UP):
        step(image, label)
    begin = time.perf_counter()
    for _ in range(options.steps):
        losses = step(image, label)
    return time.perf_counter() - begin, losses.tolist()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("command", choices=["bench"])
    parser.add_argument("--json", action="store_true", required=True)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--copies", type=json.loads, required=True)
    options = parser.parse_args()
    seconds, losses = measure(options)
    print(json.dumps({"steps": options.steps, "seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
