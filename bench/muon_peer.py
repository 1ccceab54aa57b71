#!/usr/bin/env python3
"""Times updates by PyTorch's Muon and AdamW on the CPU, for one model after another.

    bench/muon_peer.py --steps=N --threads=N --copies=N --sizes=JSON

JSON is an object: the shapes of the parameters that Muon updates (`muon`) and of all others
(`adamw`). Gradients are random, as their values don't change the time. Prints the least seconds
of an update of all copies in N, and with how many Gflop/s this machine multiplies two matrices
of f32 of 1024 rows and columns. Needs PyTorch."""

import argparse
import json
import time

import torch


def make_optimizers(sizes):
    def make(shapes):
        parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        return parameters
    return [torch.optim.Muon(make(sizes["muon"]), lr=0.01),
            torch.optim.AdamW(make(sizes["adamw"]), lr=1e-3, fused=True)]


def measure(steps, run):
    """Returns the least seconds of `run`, after one run to warm up."""
    run()
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser()
    for name in ("steps", "threads", "copies"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--sizes", type=json.loads, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    optimizers = [optimizer for _ in range(options.copies)
                  for optimizer in make_optimizers(options.sizes)]
    update = measure(options.steps,
                     lambda: [optimizer.step() for optimizer in optimizers])
    side = 1024
    left, right = torch.randn(side, side), torch.randn(side, side)
    product = measure(options.steps, lambda: left @ right)
    print(json.dumps([update, 2e-9 * side**3 / product]))


if __name__ == "__main__":
    main()
