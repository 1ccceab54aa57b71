"""Records what PyTorch computes in a few training steps of a module, next to the ONNX file
that was exported of it, so that `hftac --check-gradients` can compare its own steps.

Used by hfta.export; docs/exporting.md describes the file. Needs torch, onnx and, for
checks, the program hftac.
"""

import contextlib
import copy
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

import numpy
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional

from .parameters import NotExportable, find_parameters, to_numpy

STEPS, RATE = 2, 0.125
# The losses of the job language, by name. PyTorch's expect the classes along axis 1.
LOSSES = {"mse": functional.mse_loss, "l1": functional.l1_loss,
          "huber": functional.huber_loss,
          "binary_cross_entropy": functional.binary_cross_entropy_with_logits,
          "cross_entropy": functional.cross_entropy, "nll": functional.nll_loss}
OF_CLASSES = ("cross_entropy", "nll")
KINDS = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32",
         "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}


def record(model, args, path, to=None, *, loss="mse", target=None, kwargs=None):
    """Trains a copy of a module for two steps of gradient descent in f64, and writes
    inputs, losses, gradients, and the running statistics after each step to the file
    `to`, by default NAME.record.safetensors next to the file NAME.onnx that `path`
    names. Returns the file's path.

    `args`, and `kwargs` by name, are tensors with the samples along axis 0. `loss`, one
    of LOSSES, compares the first output with `target`, by default random values.
    Dropout layers drop nothing. Raises ValueError for wrong arguments and for values
    that aren't finite, and NotExportable if the file has other inputs.
    """
    if loss not in LOSSES:
        raise ValueError(f"unknown loss '{loss}', expected {', '.join(LOSSES)}")
    args, kwargs = args if isinstance(args, tuple) else (args,), kwargs or {}
    every = [*args, *kwargs.values()]
    if not all(isinstance(arg, torch.Tensor) and arg.dim() and
               len(arg) == len(every[0]) for arg in every):
        raise ValueError("a record needs inputs that are tensors with the samples "
                         "along axis 0")
    args = [_convert(arg) for arg in args]
    kwargs = {name: _convert(arg) for name, arg in kwargs.items()}
    content = onnx.load(path, load_external_data=False)
    tensors = {f"input/{name}": arg.numpy()
               for name, arg in _name_inputs(content, args, kwargs).items()}
    names = _NamesInFile(model, content, os.path.dirname(path))
    twin = copy.deepcopy(model).cpu().double()
    _disable_dropout(twin)
    if not model.training:
        twin.train()
    tensors.update(_train(twin, args, kwargs, loss, target, names))
    to = to or os.path.splitext(path)[0] + ".record.safetensors"
    _write(to, tensors, {
        "format": "hfta-record", "version": "1", "model": _digest_file(path),
        "output": content.graph.output[0].name, "loss": loss,
        **({"axis": "1"} if loss in OF_CLASSES else {}),
        "learning_rate": repr(RATE)})
    return to


def compare_training(model, args, path, *, hftac="hftac", kwargs=None):
    """Records a module's training steps, and has `hftac` compare its own steps of
    the file with them. Raises NotExportable if losses, gradients or statistics
    differ."""
    with tempfile.TemporaryDirectory() as folder:
        to = record(model, args, path, os.path.join(folder, "record.safetensors"),
                    kwargs=kwargs)
        check_record(path, to, hftac=hftac)


def check_record(path, to, *, hftac="hftac"):
    """Runs `hftac --check-gradients` on an ONNX file and its record `to`; raises
    NotExportable with its output if it fails."""
    if not shutil.which(hftac):
        raise FileNotFoundError(f"no program '{hftac}', which check=True needs")
    command = [str(hftac), "--check-gradients", str(path), f"--record={to}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NotExportable(f"'{' '.join(command)}' ends with exit code "
                            f"{done.returncode}:\n{done.stderr.strip()}\n"
                            f"{done.stdout.strip()}".strip())


# PyTorch's steps
# ---------------


def _convert(tensor):
    tensor = tensor.detach().cpu()
    return tensor.double() if tensor.is_floating_point() else tensor


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


def _make_target(output, loss):
    generator = torch.Generator().manual_seed(1)
    if loss in OF_CLASSES:
        shape = output.shape[:1] + output.shape[2:]
        return torch.randint(output.shape[1], shape, generator=generator)
    make = torch.rand if loss == "binary_cross_entropy" else torch.randn
    return make(output.shape, generator=generator, dtype=torch.float64)


def _train(model, args, kwargs, loss, target, names):
    """Trains the module, and returns the record's tensors except for the inputs."""
    parameters = [parameter for parameter in model.parameters()
                  if parameter.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=RATE)
    losses, results = [], {}
    if target is not None:
        target = _convert(target)
        if target.is_floating_point() == (loss in OF_CLASSES):
            raise ValueError(f"the target of {loss} holds {target.dtype}, expected "
                             + ("class numbers" if loss in OF_CLASSES else "floats"))
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        output = _get_first(model(*args, **kwargs))
        if target is None:
            target = _make_target(output, loss)
        value = LOSSES[loss](output, target)
        value.backward()
        losses.append(value.item())
        for name, gradient in names.find_gradients(model):
            results[f"gradient/{step}/{name}"] = gradient
        optimizer.step()
        for name, statistic in names.find_statistics(model):
            results[f"statistic/{step}/{name}"] = statistic
    wrong = [name for name, values in [("loss", losses), *results.items()]
             if not numpy.isfinite(values).all()]
    if wrong:
        raise ValueError(f"'{wrong[0]}' of the module isn't finite")
    return {"target": target.numpy(), "loss": numpy.array(losses), **results}


# The tensors of the file
# -----------------------


def _name_inputs(content, args, kwargs):
    """Returns a map from the names of the file's inputs, in the file's order, to the
    arguments. A keyword argument belongs to the input of its name, if there is one.
    All others belong to the remaining inputs, in order."""
    held = {tensor.name for tensor in content.graph.initializer}
    inputs = [value.name for value in content.graph.input if value.name not in held]
    count = len(args) + len(kwargs)
    if len(inputs) != count:
        raise NotExportable(f"the file has {len(inputs)} inputs ({', '.join(inputs)}), "
                            f"the module got {count}")
    named = {name: arg for name, arg in kwargs.items() if name in inputs}
    others = iter([*args, *(arg for name, arg in kwargs.items() if name not in named)])
    return {name: named[name] if name in named else next(others) for name in inputs}


class _NamesInFile:
    """The names, shapes and layouts that a module's tensors have in an ONNX file."""

    def __init__(self, model, content, folder):
        initializers = {tensor.name: tensor
                        for tensor in content.graph.initializer}
        parameters, found = find_parameters(model, content, folder)
        # Tuples: the parameter's name in the module, its tensor's name and shape
        # in the file, and whether it is transposed in the file.
        self.gradients = []
        known = set()
        for name, parameter in parameters.items():
            if id(parameter) in known:
                continue
            known.add(id(parameter))
            # A parameter that the file lacks is recorded with its name in the module,
            # so that the comparison reports that it isn't trained.
            for other in found[id(parameter)] or [name]:
                tensor = initializers.get(other)
                shape = tuple(tensor.dims if tensor else parameter.shape)
                self.gradients.append((name, other, shape, tensor is not None and
                                       _is_transposed(parameter, tensor, folder)))
        order = {name: index for index, name in enumerate(dict.fromkeys(
            name for node in content.graph.node for name in node.input))}
        self.order = lambda name: order.get(name, len(order))
        self.gradients.sort(key=lambda entry: self.order(entry[1]))
        self.initializers = set(initializers)

    def find_gradients(self, model):
        """Yields pairs of a tensor's name in the file and its gradient, with the
        file's shape, in the order in which the file's nodes use the tensors."""
        parameters = dict(model.named_parameters(remove_duplicate=False))
        for name, other, shape, is_transposed in self.gradients:
            if parameters[name].grad is not None:
                gradient = parameters[name].grad.numpy()
                yield other, numpy.array((gradient.T if is_transposed else
                                          gradient).reshape(shape))

    def find_statistics(self, model):
        """Yields names and values of the running means and variances that the file has,
        in the order in which its nodes use them."""
        statistics = {
            f"{name}.{buffer}".lstrip("."): getattr(module, buffer)
            for name, module in model.named_modules()
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
            for buffer in ("running_mean", "running_var")}
        for name in sorted(self.initializers & statistics.keys(), key=self.order):
            if statistics[name] is not None:
                yield name, statistics[name].detach().clone().numpy()


def _is_transposed(parameter, tensor, folder):
    own = to_numpy(parameter)
    if own.ndim != 2:
        return False
    values = numpy_helper.to_array(tensor, folder).ravel()
    return (not numpy.array_equal(own.ravel(), values) and
            numpy.array_equal(own.T.ravel(), values))


# The record's file
# -----------------


def _digest_file(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _write(path, tensors, metadata):
    """Writes a safetensors file atomically: to a temporary file, which it renames."""
    header, digest, begin = {}, hashlib.sha256(), 0
    for name, values in tensors.items():
        digest.update(values.tobytes())
        header[name] = {"dtype": KINDS[values.dtype.name],
                        "shape": list(values.shape),
                        "data_offsets": [begin, begin + values.nbytes]}
        begin += values.nbytes
    header["__metadata__"] = {**metadata, "tensors": digest.hexdigest()}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    try:
        with open(f"{path}.part", "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.writelines(values.tobytes() for values in tensors.values())
        os.replace(f"{path}.part", path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(f"{path}.part")
        raise
