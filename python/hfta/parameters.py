"""Finds the tensors of an ONNX file that hold a PyTorch module's parameters, and lists in
the file which of them are trained. Used by hfta.export; see docs/exporting.md."""

import os
import warnings

import numpy
import onnx
import torch
from onnx import helper, numpy_helper

PARAMETERS_KEY = "hfta.parameters"
FROZEN_STATISTICS_KEY = "hfta.frozen_statistics"


class NotExportable(ValueError):
    """Raised for a module that does what an ONNX file can't express, so that Hfta
    would train the file differently than PyTorch the module."""


def mark(model, path):
    """Writes the names of the trained tensors into an exported file and, if the module is in
    training mode, those of the running statistics of batch normalizations that are in
    evaluation mode.

    `export` calls this; call it for files from other exporters. Tensors that an
    exporter has renamed, transposed or reshaped are found by their values. If
    the file has several tensors for one parameter, one of them stays and the
    others are computed from it, so that all uses train it. A warning names
    parameters that the file lacks. Returns the names.
    """
    content = onnx.load(path, load_external_data=False)
    parameters, found = find_parameters(model, content, os.path.dirname(path))
    for parameter in {id(parameter): parameter for parameter in
                      parameters.values()}.values():
        tensors = found[id(parameter)]
        if len(tensors) > 1 and parameter.requires_grad:
            found[id(parameter)] = [_tie(content.graph, parameters, parameter,
                                         tensors, os.path.dirname(path))]
    names = _list_trained(content, parameters, found)
    if model.training:
        _set_entry(content, FROZEN_STATISTICS_KEY, _find_frozen_statistics(model, content))
    _set_entry(content, PARAMETERS_KEY, names)
    save(content, path)
    return names


def _get_entry(content, key):
    """Returns the names that an entry of the metadata lists, one a line."""
    return [name for entry in content.metadata_props if entry.key == key
            for name in entry.value.split("\n") if name]


def _set_entry(content, key, names):
    """Replaces an entry of the metadata. Without names, there is an empty one only of
    parameters, where it means that none is trained."""
    entries = [entry for entry in content.metadata_props if entry.key != key]
    del content.metadata_props[:]
    content.metadata_props.extend(entries)
    if names or key == PARAMETERS_KEY:
        content.metadata_props.add(key=key, value="\n".join(names))


def _find_frozen_statistics(model, content):
    """Returns the names of the initializers that are running statistics of batch
    normalizations in evaluation mode. A file may already list statistics that belong to no
    module; these stay."""
    modes = {f"{prefix}.{buffer}".lstrip("."): module.training
             for prefix, module in model.named_modules()
             if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
             for buffer in ("running_mean", "running_var")}
    listed = set(_get_entry(content, FROZEN_STATISTICS_KEY))
    return [tensor.name for tensor in content.graph.initializer
            if not modes.get(tensor.name, tensor.name not in listed)]


def find_trained(model, content, folder=""):
    """Returns the names of the initializers of an onnx.ModelProto that hold
    trained parameters. Warns of parameters that have none or several."""
    return _list_trained(content, *find_parameters(model, content, folder))


def find_parameters(model, content, folder):
    """Returns two maps: from names to the module's parameters, where one parameter
    may have several names, and from a parameter's id() to the list of names of
    initializers that hold it."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    others = dict(model.named_buffers(remove_duplicate=False))
    initializers = {tensor.name: tensor
                    for tensor in content.graph.initializer}
    # A parameter with several names has only one entry.
    found = {id(parameter): [] for parameter in parameters.values()}
    for name, parameter in parameters.items():
        if name in initializers:
            found[id(parameter)].append(name)
    for name, tensor in initializers.items():
        if (name in parameters or name in others or not tensor.dims or
                tensor.data_type not in _FLOATS):
            continue
        values = numpy_helper.to_array(tensor, folder)
        key = _find_by_values(name, parameters.values(), found, values)
        if key is not None:
            found[key].append(name)
    return parameters, found


def _list_trained(content, parameters, found):
    _warn(parameters, found)
    trained = {id(parameter) for parameter in parameters.values()
               if parameter.requires_grad}
    chosen = {name for key in trained for name in found[key]}
    return [tensor.name for tensor in content.graph.initializer
            if tensor.name in chosen]


def _tie(graph, parameters, parameter, names, folder):
    """Keeps one of the initializers `names`, which hold the same parameter, and
    replaces the others by nodes that compute them from it. Prefers one with the
    parameter's shape. Returns its name."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    shape = tuple(parameter.shape)
    names = sorted(names, key=lambda name: tuple(tensors[name].dims) != shape)
    own = parameter.detach().cpu().numpy()
    values = numpy_helper.to_array(tensors[names[0]], folder)
    nodes = []
    for name in names[1:]:
        other = numpy_helper.to_array(tensors[name], folder)
        if name not in parameters and _is_symmetric(own):
            raise NotExportable(
                f"'{name}' in the file may be transposed or not, as the parameter that "
                f"'{names[0]}' holds is symmetric: tie them in the module's forward")
        nodes += _compute(graph, names[0], values, name, other, own.shape)
        graph.initializer.remove(tensors[name])
    for index, node in enumerate(nodes):
        graph.node.insert(index, node)
    return names[0]


def _is_symmetric(own):
    """Returns whether a parameter is a matrix that equals its transpose in memory."""
    return (own.ndim == 2 and min(own.shape) > 1 and
            numpy.array_equal(own.ravel(), own.T.ravel()))


def _compute(graph, source, values, name, other, shape):
    """Returns nodes that compute the tensor `name` with the values `other` from the tensor
    `source` with `values`, by Reshape and Transpose. Both hold the same parameter, whose
    shape in the module is `shape`."""
    steps, now = [], values.shape
    if not numpy.array_equal(other.ravel(), values.ravel()):
        matrix = next((
            matrix for matrix in (shape, shape[::-1]) if len(shape) == 2 and
            numpy.array_equal(other.ravel(), values.reshape(matrix).T.ravel())), None)
        if matrix is None:
            raise NotExportable(f"'{source}' and '{name}' are one parameter, but hold "
                                "different numbers in the file")
        steps += [] if now == matrix else [("Reshape", matrix)]
        steps.append(("Transpose", None))
        now = matrix[::-1]
    if now != other.shape:
        steps.append(("Reshape", other.shape))
    nodes = []
    for index, (operator, to) in enumerate(steps or [("Identity", None)], 1):
        result = name if index >= len(steps) else f"{name}_{operator.lower()}_{index}"
        inputs, options = [source], {}
        if operator == "Reshape":
            inputs.append(f"{result}_shape")
            graph.initializer.append(numpy_helper.from_array(
                numpy.array(to, "int64"), inputs[1]))
        elif operator == "Transpose":
            options["perm"] = [1, 0]
        nodes.append(helper.make_node(operator, inputs, [result], **options))
        source = result
    return nodes


_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE,
           onnx.TensorProto.FLOAT16)


def _find_by_values(name, parameters, found, values):
    """Returns the id() of the parameter whose values an initializer holds, or None.

    Prefers parameters for which no initializer was found yet. Others are
    considered only if not all values are equal, as in tensors of zeros or
    ones, which belong to any parameter. Raises NotExportable if both trained
    and frozen parameters have these values.
    """
    for is_missing in (True, False):
        if not is_missing and values.min(initial=0) == values.max(initial=0):
            break
        holders = [parameter for parameter in parameters
                   if bool(found[id(parameter)]) != is_missing and
                   _holds(parameter, values)]
        if len({parameter.requires_grad for parameter in holders}) > 1:
            raise NotExportable(
                f"'{name}' in the file holds the numbers of several parameters, some of "
                "which are trained and others frozen")
        if holders:
            return id(holders[0])
    return None


def to_numpy(tensor):
    """Returns a tensor's values; bfloat16, which NumPy doesn't have, as float32."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _holds(parameter, values):
    """Returns whether the values are the parameter's, maybe transposed or reshaped."""
    if parameter.numel() != values.size or parameter.dtype.is_floating_point and (
            parameter.element_size() != values.itemsize):
        return False
    own = to_numpy(parameter)
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
                f"{name} is {len(found[key])} tensors of the exported file "
                f"({', '.join(found[key])}), which are trained separately",
                stacklevel=4)


def save(content, path):
    """Replaces the file at once, by renaming. Tensors in other files stay there."""
    onnx.save_model(content, f"{path}.part")
    os.replace(f"{path}.part", path)
