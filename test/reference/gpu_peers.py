#!/usr/bin/env python3
"""Checks that the networks that bench/gpu/peers.py times compute the same as those of
bench/gpu/jobs: each has parameters of the same shapes, and the job's loss for its initial
weights and data. Also checks that all ways have the same losses and gradients: several
models fused as HFTA does it, by vmap, and in JAX if it is installed. Needs PyTorch."""

import argparse
import array
import importlib.util
import json
import pathlib
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "gpu"), str(ROOT / "scripts")]

import checkpoints  # noqa: E402
import peers  # noqa: E402
from peer_layers import FusedLayers  # noqa: E402
from peer_networks import BYTE, CLASS, NETWORKS  # noqa: E402

BATCH, COPIES = 4, 2
# Allowed errors, relative to the largest number of a tensor, or if that is more, to LEAST
# (of gradients: to LEAST times the largest gradient of all tensors). Some gradients consist
# of rounding errors only, such as that of a bias before a norm. JAX's attention computes
# its weights in f32 at any precision.
NEAR_LOSS, NEAR_GRADIENT, LEAST = 1e-6, 1e-5, 1e-2


def fail(message):
    sys.exit(f"error: {message}")


def run(*command):
    result = subprocess.run([str(part) for part in command], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        fail(f"{' '.join(map(str, command))}\n{result.stdout:.4000}")
    return result.stdout


def expect_near(what, mine, theirs, limit):
    worst = (mine - theirs).abs().max().item()
    size = max(LEAST, theirs.abs().max().item())
    if not worst <= limit * size:
        fail(f"{what}: {worst / size} off, expected at most {limit}")


def make_task(name):
    """Returns the task of peers.py for a network, in f64."""
    task = peers.Task(name, COPIES, "f32", "cpu", BATCH)
    task.models = [[value.double() for value in values] for values in task.models]
    task.inputs = [as_double(field) for field in task.inputs]
    task.label = as_double(task.label)
    return task


def as_double(field):
    return field.double() if field.is_floating_point() else field


def write_fields(task, folder, name, job):
    """Writes the task's inputs and label to raw files, with the names of the fields that
    the job declares in this order."""
    names = [part.split("=")[0].strip() for part in
             job.split("  train ")[1].split("\n")[0].split(", ")]
    fields = [*task.network.inputs, task.network.label]
    for field, (filling, _), values in zip(names, fields, [*task.inputs, task.label]):
        code = "B" if filling in (BYTE, CLASS) else "f"
        numbers = array.array(code, values.flatten().tolist())
        (folder / f"{name}-{field}").write_bytes(numbers.tobytes())


def read_tensor(dtype, shape, data):
    return torch.tensor(checkpoints.numbers_of(dtype, data)).double().reshape(shape)


def check_job(hftac, work, name, task):
    """Compares shapes of parameters and the loss with those of the job, compiled for the
    CPU. The program trains one step with a learning rate of 0, and so saves its initial
    weights."""
    folder = work / name
    folder.mkdir(parents=True)
    job = ROOT / "bench" / "gpu" / "jobs" / f"{name}.hfta"
    write_fields(task, folder, name, job.read_text())
    run(hftac, job, "-o", folder / "program", "--data", folder, f"--batch={BATCH}",
        "--precision=f64", "--optimizer=sgd(lr = 0)", "--shuffle=false")
    log = folder / "log.jsonl"
    run(folder / "program", "train", "--data", folder, "--steps", 1, "--checkpoint",
        folder / "checkpoints", "--log", log, "--log-every", 1, "--no-progress")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    losses = [event["loss"][0] for event in events if event["event"] == "step"]
    tensors = checkpoints.Checkpoint(
        folder / "checkpoints" / "step-00000001" / "copy-0000.safetensors").tensors
    known = json.loads(run(folder / "program", "info", "--json"))["parameters"]["tensors"]
    values = [read_tensor(*tensors[tensor["name"]]) for tensor in known
              if tensor["trained"]]
    shapes = [tuple(value.shape) for value in values]
    expected = [parameter.shape for parameter in task.parameters]
    if shapes != expected:
        fail(f"{name}: got parameters of shapes {shapes}, expected {expected}")
    expect_near(f"{name}: loss beside the job's", task.loss(values),
                torch.tensor(losses[0], dtype=torch.float64), NEAR_LOSS)


def gradients_of(loss, leaves):
    """Returns the loss and its gradients with respect to the parameters `leaves`."""
    leaves = peers.as_leaves(leaves)
    loss = loss(leaves)
    return loss.detach(), torch.autograd.grad(loss, leaves)


def eager_gradients(task):
    found = [gradients_of(task.loss, values) for values in task.models]
    return sum(loss for loss, _ in found), [gradients for _, gradients in found]


def check_ways(name, task):
    loss, own = eager_gradients(task)
    inputs = peers.fused_inputs(task)
    fused = gradients_of(lambda leaves: task.loss(leaves, FusedLayers, COPIES, inputs),
                         peers.fuse_models(task))
    every = torch.func.vmap(task.loss, randomness="different")
    stacked = gradients_of(lambda leaves: every(leaves).sum(), peers.stack_models(task))
    expected = {"hfta": [FusedLayers.fuse(parameter.kind, values) for parameter, values
                         in zip(task.parameters, zip(*own))],
                "vmap": [torch.stack(values) for values in zip(*own)]}
    for way, (found, gradients) in {"hfta": fused, "vmap": stacked}.items():
        expect_near(f"{name}: loss by {way}", found, loss, NEAR_LOSS)
        expect_all_near(f"{name}: gradient by {way}", gradients, expected[way])
    if importlib.util.find_spec("jax"):
        check_jax(name, task, own[0])


def expect_all_near(what, mine, theirs):
    size = max(tensor.abs().max().item() for tensor in theirs)
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        expect_near(f"{what}, parameter {number}", one / size, other / size,
                    NEAR_GRADIENT)


def check_jax(name, task, expected):
    import jax
    jax.config.update("jax_enable_x64", True)
    import peer_jax
    loss = jax.value_and_grad(peer_jax.make_loss(task))
    *inputs, label = peer_jax.to_jax([*task.inputs, task.label])
    found, gradients = loss(peer_jax.to_jax(task.models[0]), inputs, label)
    expect_near(f"{name}: loss by jax", torch.tensor(float(found), dtype=torch.float64),
                task.loss(task.models[0]), NEAR_LOSS)
    expect_all_near(f"{name}: gradient by jax",
                    [torch.tensor(jax.device_get(gradient)) for gradient in gradients],
                    expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    options = parser.parse_args()
    for name in options.networks.split(","):
        task = make_task(name)
        check_job(options.hftac, options.work, name, task)
        check_ways(name, task)
        print(f"equal: {name}", flush=True)


if __name__ == "__main__":
    main()
