"""Exports PyTorch modules as ONNX files that Hfta trains as PyTorch would.

    import hfta_export
    hfta_export.export(model, (sample,), "model.onnx")

ONNX doesn't distinguish parameters from buffers, and PyTorch's exporters
optimize for inference: they fold, merge and rename tensors that a training
needs unchanged. `export` keeps the module as it is and records in the file, in
the metadata entry `hfta.parameters`, which tensors are trained. `mark` writes
that entry into a file that was exported in another way. See docs/exporting.md.

Needs torch and onnx; PyTorch's newer exporter needs onnxscript, too.
"""

import contextlib
import os
import warnings

import numpy
import onnx
import torch
from onnx import numpy_helper

PARAMETERS_KEY = "hfta.parameters"

# One of the operator sets that both exporters write; LayerNormalization needs
# 17.
OPSET = 18

# A protobuf file can't hold more; larger tensors go into a file next to it.
MOST_BYTES_IN_FILE = 2**31 - 2**24


def export(model, args, path, *, dynamo=True, **options):
    """Exports a module for training and returns the names of the trained
    tensors.

    `args` and `options` are those of `torch.onnx.export`; `dynamo` chooses the
    newer exporter or the one of TorchScript. Parameters that require gradients
    are trained. The module is exported in training mode, whatever mode it is
    in, and is left as it was.
    """
    chosen = {"training", "do_constant_folding", "optimize", "export_params",
              "keep_initializers_as_inputs", "f"} & set(options)
    if chosen:
        raise TypeError(f"hfta_export chooses {', '.join(sorted(chosen))}")
    options = {"opset_version": OPSET, "verbose": False, **options}
    with _training_mode(model) as state:
        if dynamo:
            _export_program(model, args, path, options)
        else:
            _export_script(model, args, path, options, state)
    return mark(model, path)


def mark(model, path):
    """Writes the names of the trained tensors into an exported file.

    This is for files that `export` didn't make. Tensors that the exporter
    renamed are found by their values, transposed or reshaped; a warning names
    parameters that the file lacks, and those that it holds several times.
    Returns the names.
    """
    content = onnx.load(path, load_external_data=False)
    names = find_trained(model, content, os.path.dirname(path))
    entries = [entry for entry in content.metadata_props
               if entry.key != PARAMETERS_KEY]
    del content.metadata_props[:]
    content.metadata_props.extend(entries)
    content.metadata_props.add(key=PARAMETERS_KEY, value="\n".join(names))
    _save(content, path)
    return names


def find_trained(model, content, folder=""):
    """Returns the initializers of an onnx.ModelProto that hold trained
    parameters."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    others = dict(model.named_buffers(remove_duplicate=False))
    initializers = {tensor.name: tensor
                    for tensor in content.graph.initializer}
    # The initializers of each parameter, which may have several names.
    found = {id(parameter): [] for parameter in parameters.values()}
    for name, parameter in parameters.items():
        if name in initializers:
            found[id(parameter)].append(name)
    for name, tensor in initializers.items():
        if (name in parameters or name in others or not tensor.dims or
                tensor.data_type not in _FLOATS):
            continue
        values = numpy_helper.to_array(tensor, folder)
        key = _find_by_values(parameters.values(), found, values)
        if key is not None:
            found[key].append(name)
    _warn(parameters, found)
    trained = {id(parameter) for parameter in parameters.values()
               if parameter.requires_grad}
    chosen = {name for key in trained for name in found[key]}
    return [name for name in initializers if name in chosen]


_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE,
           onnx.TensorProto.FLOAT16)


def _find_by_values(parameters, found, values):
    """Returns the parameter that an initializer of an unknown name holds, or
    None.

    A parameter that wasn't found yet is preferred. One that was found is
    returned again only if it can't be mistaken for another: all tensors of
    zeros or of ones look alike.
    """
    for is_missing in (True, False):
        for parameter in parameters:
            if bool(found[id(parameter)]) == is_missing:
                continue
            if not is_missing and values.min(initial=0) == values.max(initial=0):
                continue
            if _holds(parameter, values):
                return id(parameter)
    return None


def _holds(parameter, values):
    """Whether the values are the parameter's, transposed or reshaped."""
    if parameter.numel() != values.size or parameter.dtype.is_floating_point and (
            parameter.element_size() != values.itemsize):
        return False
    own = parameter.detach().cpu().numpy()
    return (numpy.array_equal(own.ravel(), values.ravel()) or
            own.ndim == 2 and numpy.array_equal(own.T.ravel(), values.ravel()))


def _warn(parameters, found):
    names = {}
    for name, parameter in parameters.items():
        if parameter.requires_grad:
            names.setdefault(id(parameter), name)
    missing = [name for key, name in names.items() if not found[key]]
    if missing:
        warnings.warn(
            "not in the exported file, and so not trained: "
            f"{', '.join(missing)}; the module doesn't use it, or the exporter "
            "merged it with an equal tensor or computed with it", stacklevel=4)
    for key, name in names.items():
        if len(found[key]) > 1:
            warnings.warn(
                f"{name} stands in the exported file {len(found[key])} times "
                f"({', '.join(found[key])}): its uses are trained apart",
                stacklevel=4)


@contextlib.contextmanager
def _training_mode(model):
    """Sets training mode for the duration of an export, which may run the
    module; any state that this changes is restored. Yields the module's
    tensors as they were."""
    modes = {module: module.training for module in model.modules()}
    state = {name: tensor.detach().clone()
             for name, tensor in model.named_buffers(remove_duplicate=False)}
    model.train()
    try:
        with torch.random.fork_rng():
            yield state
    finally:
        for module, mode in modes.items():
            module.training = mode
        with torch.no_grad():
            for name, tensor in model.named_buffers(remove_duplicate=False):
                tensor.copy_(state[name])


def _export_program(model, args, path, options):
    """Runs PyTorch's newer exporter. Its optimizer folds constants, but also
    merges equal initializers and computes with them. While it runs, parameters
    and buffers are made inputs, which it leaves unchanged."""
    options.setdefault("external_data", _count_bytes(model) > MOST_BYTES_IN_FILE)
    external_data = options.pop("external_data")
    program = torch.onnx.export(model, args, dynamo=True, optimize=False,
                                **options)
    graph = program.model.graph
    names = dict(model.named_parameters(remove_duplicate=False))
    names.update(model.named_buffers(remove_duplicate=False))
    held = []
    for name in [name for name in graph.initializers if name in names]:
        value = graph.initializers.pop(name)
        held.append((value, value.const_value))
        value.const_value = None
        graph.inputs.append(value)
    program.optimize()
    for value, tensor in held:
        graph.inputs.remove(value)
        value.const_value = tensor
        if value.uses() or value.is_graph_output():
            graph.initializers.add(value)
    program.save(path, external_data=external_data)


def _export_script(model, args, path, options, state):
    """Runs the exporter of TorchScript. It runs the module before it reads its
    running means and variances, so the file gets them as they were before."""
    torch.onnx.export(model, args, path, dynamo=False, export_params=True,
                      training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False,
                      keep_initializers_as_inputs=False, **options)
    content = onnx.load(path, load_external_data=False)
    for tensor in content.graph.initializer:
        if tensor.name in state:
            tensor.CopyFrom(numpy_helper.from_array(
                state[tensor.name].cpu().numpy(), tensor.name))
    _save(content, path)


def _count_bytes(model):
    tensors = [*model.parameters(), *model.buffers()]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _save(content, path):
    """Replaces the file; tensors in files next to it stay where they are."""
    onnx.save_model(content, f"{path}.part")
    os.replace(f"{path}.part", path)
