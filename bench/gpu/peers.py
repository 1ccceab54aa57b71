#!/usr/bin/env python3
"""Steps of the networks of bench/gpu/jobs by PyTorch, on a machine with a GPU.

    bench/gpu/peers.py [--networks mlp,pointnet,resnet] [--copies 1,8] [--steps 20]
                       [--ways eager,vmap,graph,compile] [--precisions f32,tf32,bf16]

For each network and number of copies, in milliseconds a step of all copies, the best of
three times as many steps: one model after the other in eager mode, all at once by
torch.func.vmap, one after the other by one CUDA graph, and by torch.compile. What can't
be done is told with its first line. The GPU's own copy bandwidth and product rates come
first. Needs PyTorch."""

import argparse
import copy
import time

import torch
from torch import nn
from torch.nn import functional

ROUNDS, WARM_UP = 3, 5


def norm(channels):
    return nn.BatchNorm2d(channels, track_running_stats=False)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([norm(outputs), norm(outputs)])
        self.short = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), norm(outputs))

    def forward(self, x):
        y = functional.relu(self.norms[0](self.first(x)))
        return functional.relu(self.norms[1](self.second(y)) + self.short(x))


def make_resnet():
    layers, inputs = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), norm(64), nn.ReLU()], 64
    for stage, outputs in enumerate([64, 128, 256, 512]):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            layers.append(Block(inputs, outputs, stride))
            inputs = outputs
    return nn.Sequential(*layers, nn.MaxPool2d(4), nn.Flatten(), nn.Linear(512, 10))


def make_pointnet():
    layers, inputs = [], 3
    for outputs in [64, 64, 64, 128, 1024]:
        layers += [nn.Conv2d(inputs, outputs, 1), norm(outputs), nn.ReLU()]
        inputs = outputs
    layers += [nn.MaxPool2d((2500, 1)), nn.Flatten()]
    for outputs in [512, 256]:
        layers += [nn.Linear(inputs, outputs),
                   nn.BatchNorm1d(outputs, track_running_stats=False), nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.Linear(inputs, 16))


def make_mlp():
    layers = [nn.Flatten(), nn.Linear(1024, 1024), nn.GELU()]
    for _ in range(4):
        layers += [nn.Linear(1024, 1024), nn.GELU(), nn.LayerNorm(1024)]
    return nn.Sequential(*layers, nn.Linear(1024, 10))


# Model, batch, shape of an input.
NETWORKS = {"mlp": (make_mlp, 128, (1, 32, 32)),
            "pointnet": (make_pointnet, 32, (3, 2500, 1)),
            "resnet": (make_resnet, 32, (3, 32, 32))}


class Task:
    """Copies of a network with a batch, and how they are to compute."""

    def __init__(self, name, copies, precision):
        make, batch, shape = NETWORKS[name]
        self.models = [make().cuda() for _ in range(copies)]
        self.inputs = torch.randn(batch, *shape, device="cuda")
        self.labels = torch.randint(0, 10, (batch,), device="cuda")
        self.precision = precision
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.allow_tf32 = precision == "tf32"

    def loss(self, apply):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.precision == "bf16"):
            return functional.cross_entropy(apply(self.inputs).float(), self.labels)


def make_optimizer(parameters, **options):
    return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, **options)


def step_serially(task, models, capturable=False):
    optimizers = [make_optimizer(model.parameters(), fused=True) for model in models]

    def step():
        for model, optimizer in zip(models, optimizers):
            optimizer.zero_grad(set_to_none=not capturable)
            task.loss(model).backward()
            optimizer.step()
    return step


def by_eager(task):
    return step_serially(task, task.models)


def by_compile(task):
    return step_serially(task, [torch.compile(model) for model in task.models])


def by_graph(task):
    step = step_serially(task, task.models, capturable=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def by_vmap(task):
    parameters, _ = torch.func.stack_module_state(task.models)
    base = copy.deepcopy(task.models[0]).to("meta")
    leaves = [value.detach().requires_grad_() for value in parameters.values()]
    parameters = dict(zip(parameters, leaves))
    optimizer = make_optimizer(leaves, fused=True)

    def one(own):
        return task.loss(lambda x: torch.func.functional_call(base, own, (x,)))

    def step():
        optimizer.zero_grad()
        torch.func.vmap(one, randomness="different")(parameters).sum().backward()
        optimizer.step()
    return step


WAYS = {"eager": by_eager, "vmap": by_vmap, "graph": by_graph, "compile": by_compile}


def measure(step, steps):
    """Seconds a step."""
    for _ in range(WARM_UP):
        step()
    best = float("inf")
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / steps)
    return best


def measure_machine():
    data = torch.empty(1 << 28, device="cuda")
    other = torch.empty_like(data)
    seconds = measure(lambda: other.copy_(data), 10)
    print(f"copy {2 * data.numel() * 4 / seconds / 1e9:.0f} GB/s")
    for name, dtype, tf32 in [("f32", torch.float, False), ("tf32", torch.float, True),
                              ("bf16", torch.bfloat16, False)]:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        side = 8192
        one, two = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
        print(f"product {name} {2 * side**3 / measure(lambda: one @ two, 5) / 1e12:.1f} "
              "TFLOP/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--copies", default="1,8")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--precisions", default="f32,tf32,bf16")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    measure_machine()
    for name in options.networks.split(","):
        for copies in map(int, options.copies.split(",")):
            for precision in options.precisions.split(","):
                for way in options.ways.split(","):
                    told = f"{name} x {copies} {precision} {way}:"
                    try:
                        step = WAYS[way](Task(name, copies, precision))
                        print(told, f"{1e3 * measure(step, options.steps):.3f} ms a step",
                              flush=True)
                    except Exception as error:  # pylint: disable=broad-except
                        print(told, str(error).split("\n")[0], flush=True)


if __name__ == "__main__":
    main()
