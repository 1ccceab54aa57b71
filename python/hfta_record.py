"""Trains a PyTorch module and a file that was exported of it, and compares them.

Used by hfta_export.export(..., check=True); see docs/exporting.md. Needs torch,
onnx and the program hftac.
"""

import copy
import json
import os
import shutil
import subprocess
import tempfile

import numpy
import onnx
import torch
from torch.nn import functional

STEPS, RATE = 2, 0.125
# The exporters keep Python's numbers, such as epsilons, as f32.
TOLERANCE = 1e-5


class NotExportable(ValueError):
    """A module does something that its ONNX file can't express, so that a
    training of the file would differ from one of the module."""


def compare_training(model, args, path, *, hftac="hftac", kwargs=None):
    """Trains a module and its file for two steps in f64, on the samples `args`
    with made-up targets, and raises NotExportable where losses, gradients or
    statistics differ. `args` are tensors with the samples along axis 0, and
    nothing is dropped by dropout layers. The module isn't changed."""
    if not shutil.which(hftac):
        raise FileNotFoundError(f"no program '{hftac}', which check=True needs")
    args = [*args, *(kwargs or {}).values()]
    if not all(isinstance(arg, torch.Tensor) and arg.dim() and
               len(arg) == len(args[0]) for arg in args):
        raise ValueError("check=True needs inputs that are tensors with the same "
                         "number of samples along axis 0")
    twin = copy.deepcopy(model).double()
    _disable_dropout(twin)
    if not model.training:
        twin.train()
    args = [arg.detach().cpu() for arg in args]
    args = [arg.double() if arg.is_floating_point() else arg for arg in args]
    mine, target = _train_module(twin, args)
    with tempfile.TemporaryDirectory() as folder:
        theirs = _train_file(path, args, target, folder, hftac)
    _compare_steps(mine, theirs)


def _disable_dropout(model):
    for module in model.modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            module.p = 0.0
        elif isinstance(module, torch.nn.MultiheadAttention):
            module.dropout = 0.0


def _get_first(outputs):
    while not isinstance(outputs, torch.Tensor):
        outputs = next(iter(outputs.values() if isinstance(outputs, dict)
                            else outputs))
    return outputs


def _train_module(model, args):
    """Returns, for each step, the loss and the tensors after it; and the target
    of the first output."""
    trained = [parameter for parameter in model.parameters()
               if parameter.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=RATE)
    steps, target = [], None
    for _ in range(STEPS):
        optimizer.zero_grad()
        output = _get_first(model(*args))
        if target is None:
            generator = torch.Generator().manual_seed(1)
            target = torch.randn(output.shape, generator=generator,
                                 dtype=torch.float64)
        loss = functional.mse_loss(output, target)
        loss.backward()
        optimizer.step()
        state = {name: tensor.detach().clone().numpy()
                 for name, tensor in model.state_dict(keep_vars=True).items()}
        steps.append((loss.item(), state))
    return steps, target


def _train_file(path, args, target, folder, hftac):
    """Returns what _train_module does, for the file."""
    content = onnx.load(path, load_external_data=False)
    held = {tensor.name for tensor in content.graph.initializer}
    inputs = [value.name for value in content.graph.input if value.name not in held]
    fields = [f"x{index}" for index in range(len(args))]
    for name, values in zip([*fields, "target"], [*args, target]):
        numpy.save(os.path.join(folder, f"{name}.npy"), values.numpy())
    if len(inputs) != len(args):
        raise NotExportable(f"the file has {len(inputs)} inputs ({', '.join(inputs)}), "
                            f"the module got {len(args)}")
    output = content.graph.output[0].name
    drops = any(node.op_type == "Dropout" for node in content.graph.node)
    sources = ", ".join(f'{name} = npy("{name}.npy")' for name in [*fields, "target"])
    with open(os.path.join(folder, "check.hfta"), "w") as job:
        job.write(f"""model net = onnx({json.dumps(os.path.abspath(path))})
data made {{
  train {sources}
}}
train check {{
  model net({', '.join(fields)}{', dropout_rate = 0.0' if drops else ''})
  data made, batch = {len(args[0])}, shuffle = false
  loss mse(net.{json.dumps(output)}, target)
  optimizer sgd(lr = {RATE})
  precision f64
  steps {STEPS}
}}
""")
    program = os.path.join(folder, "check")
    _run(hftac, os.path.join(folder, "check.hfta"), "-o", program)
    states = os.path.join(folder, "states")
    log = os.path.join(folder, "log.jsonl")
    _run(program, "train", "--data", folder, "--checkpoint", states, "--no-progress",
         "--every=1", "--log", log, "--log-every=1")
    with open(log) as lines:
        events = [json.loads(line) for line in lines]
    losses = [event["loss"][0] for event in events if event["event"] == "step"]
    return [(loss, _read_tensors(os.path.join(states, f"step-{index:08d}",
                                              "copy-0000.safetensors")))
            for index, loss in enumerate(losses, 1)]


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NotExportable(f"'{' '.join(command)}' ends with exit code "
                            f"{done.returncode}:\n{done.stderr.strip()}")


def _read_tensors(path):
    """Returns the float tensors of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    kinds = {"F64": "<f8", "F32": "<f4"}
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])],
                                   kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if entry["dtype"] in kinds}


def _compare_steps(mine, theirs):
    for step, ((loss, state), (other_loss, other_state)) in enumerate(
            zip(mine, theirs), 1):
        _compare(f"the loss of step {step}", loss, other_loss, 1)
        for name in state.keys() & other_state.keys():
            before = mine[step - 2][1][name] if step > 1 else None
            scale = 1 if before is None else numpy.abs(state[name] - before).max()
            _compare(f"'{name}' after step {step}", state[name], other_state[name],
                     max(1, scale))


def _compare(what, mine, theirs, scale):
    if numpy.shape(mine) != numpy.shape(theirs):
        return
    difference = numpy.abs(numpy.asarray(mine) - theirs).max(initial=0)
    if not difference <= TOLERANCE * scale:
        raise NotExportable(f"after training, the file and the module differ: {what} by "
                            f"{difference:.2g}")
