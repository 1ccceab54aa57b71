"""Exports PyTorch modules as ONNX files that Hfta trains as PyTorch would.

    from hfta.export import export
    export(model, (sample,), "model.onnx")

ONNX doesn't distinguish parameters from buffers, and PyTorch's exporters
optimize for inference: they fold, merge and rename tensors that a training
needs unchanged. `export` keeps the module as it is and records in the file, in
the metadata entry `hfta.parameters`, which tensors are trained. `mark` writes
that entry into a file that was exported in another way.

ONNX can't express `detach`, `no_grad`, the padding row of an embedding and a
batch normalization that stays in evaluation mode. `export` writes these with
Hfta's operator `StopGradient` and a metadata entry, and raises `NotExportable`
for all else that ONNX can't express. `record` writes what PyTorch computes in
two training steps to a file next to the ONNX file, for `hftac
--check-gradients`. With `check=True`, `export` itself runs this comparison. See
docs/exporting.md.

Needs torch and onnx; PyTorch's newer exporter needs onnxscript, too.
"""

import contextlib
import os
import tempfile

import onnx
import torch
from onnx import helper, numpy_helper

from . import record as records
# Some of these names are only imported for users of this module.
from .parameters import (FROZEN_STATISTICS_KEY, NotExportable, find_trained, mark,
                             save)
from .record import LOSSES, check_record, compare_training, record
from .watch import Tensors, refuse_changes, refuse_modules, watched

# Hfta's operator set, and its operator, an identity through which no gradient flows.
DOMAIN, STOP_GRADIENT = "hfta", "StopGradient"

# The default operator set. Both exporters can write it, and it has
# LayerNormalization, which was added in 17.
OPSET = 18

# The size of the tensors, in bytes, that a protobuf file surely has room for: its
# limit is 2 GiB. Larger models have their tensors in a file next to it.
MOST_BYTES_IN_FILE = 2**31 - 2**24


def export(model, args, path, *, dynamo=True, record=False, loss="mse", target=None,
           check=False, hftac="hftac", **options):
    """Exports a module for training and returns the names of the trained
    tensors.

    `args` and `options` are those of `torch.onnx.export`; `dynamo` chooses the
    newer exporter or the one of TorchScript. Parameters that require gradients
    are trained. The module is exported in training mode, and is left as it was.
    If the module is in training mode, parts of it that are in evaluation mode
    stay in it: their batch normalizations keep their statistics, and their
    dropouts drop nothing.

    If `record` is True or a path, also records two training steps with `loss`
    and `target` for `hftac --check-gradients`, as hfta.record.record does. If
    `check` is true, runs `hftac` to compare its steps with these. Raises
    NotExportable for what an ONNX file can't express, and for steps that differ.
    """
    chosen = {"training", "do_constant_folding", "optimize", "export_params",
              "keep_initializers_as_inputs", "f"} & set(options)
    if chosen:
        raise TypeError(f"hfta.export sets these options itself: "
                        f"{', '.join(sorted(chosen))}")
    options = {"opset_version": OPSET, "verbose": False, **options}
    args = args if isinstance(args, tuple) else (args,)
    with _training_mode(model) as tensors:
        refuse_modules(model)
        refuse_changes(model, args, options.get("kwargs") or {}, tensors)
        with watched(model) as watch, watch.raise_refusals():
            if dynamo:
                _export_program(model, args, path, options)
            else:
                _export_script(model, args, path, options, tensors.values)
    _finish(path)
    names = mark(model, path)
    if record or check:
        _record(model, args, path, None if record is True else record, check, hftac,
                loss=loss, target=target, kwargs=options.get("kwargs"))
    return names


def _record(model, args, path, to, check, hftac, **options):
    """Records a module's training, and compares it if `check` is true. `to` is the
    record's path, None for a file next to the ONNX file, or False for a
    temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        if to is False:
            to = os.path.join(folder, "record.safetensors")
        to = records.record(model, args, path, to, **options)
        if check:
            records.check_record(path, to, hftac=hftac)


@contextlib.contextmanager
def _training_mode(model):
    """Sets training mode during an export, unless the module is in training mode:
    then its parts keep their modes. Yields the module's tensors from before the
    export. Afterwards restores modes, buffers and random state, as exporters
    may run the module."""
    modes = {module: module.training for module in model.modules()}
    tensors = Tensors(model)
    if not model.training:
        model.train()
    try:
        with torch.random.fork_rng():
            yield tensors
    finally:
        for module, mode in modes.items():
            module.training = mode
        tensors.restore_buffers()


# The exporters
# -------------


def _export_program(model, args, path, options):
    """Runs PyTorch's newer exporter and its optimizer, which folds constants, but
    would also merge equal initializers and compute with them. So parameters and
    buffers are inputs of the graph while it runs: inputs stay unchanged."""
    options.setdefault("external_data", _count_bytes(model) > MOST_BYTES_IN_FILE)
    external_data = options.pop("external_data")
    options["custom_translation_table"] = {
        **_make_translations(), **(options.get("custom_translation_table") or {})}
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


def _make_translations():
    """Returns functions by which the newer exporter translates some of PyTorch's
    operators, so that they are trained as in PyTorch."""
    from onnxscript import opset18, values
    if not onnx.defs.has(STOP_GRADIENT, DOMAIN):
        onnx.defs.register_schema(onnx.defs.OpSchema(
            STOP_GRADIENT, DOMAIN, 1, "The input, through which no gradient flows.",
            inputs=[onnx.defs.OpSchema.FormalParameter("input", "T")],
            outputs=[onnx.defs.OpSchema.FormalParameter("output", "T")],
            type_constraints=[("T", [f"tensor({kind})" for kind in (
                "float", "double", "float16", "bfloat16", "int64", "int32", "bool")],
                "")]))
    own = values.Opset(DOMAIN, 1)

    def detach(x):
        return own.StopGradient(x)

    def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False,
                  sparse=False):
        rows = opset18.Gather(weight, indices, axis=0)
        if padding_idx < 0:
            return rows
        is_padding = opset18.Equal(indices, opset18.CastLike(
            opset18.Constant(value_int=padding_idx), indices))
        is_padding = opset18.Unsqueeze(is_padding, opset18.Constant(value_ints=[-1]))
        return opset18.Where(is_padding, own.StopGradient(rows), rows)

    def batch_norm(input, weight, bias, running_mean, running_var, training, momentum,
                   eps):
        # By default, onnxscript translates this operator, which only modules in training
        # mode have, as for an evaluation: with the running statistics.
        result, mean, variance = opset18.BatchNormalization(
            input, weight, bias, running_mean, running_var, epsilon=eps,
            momentum=1.0 - momentum, training_mode=1 if training else 0)
        # PyTorch's operator has five results; nothing reads the second and the third.
        return (result, opset18.Identity(mean), opset18.Identity(variance), mean,
                variance)

    return {torch.ops.aten.detach.default: detach,
            torch.ops.aten.embedding.default: embedding,
            torch.ops.aten._native_batch_norm_legit_functional.default: batch_norm}


def _stop_symbolic(graph, value):
    return graph.op(f"{DOMAIN}::{STOP_GRADIENT}", value).setType(value.type())


def _embedding_symbolic(graph, weight, indices, padding_idx, scale_grad_by_freq,
                        sparse):
    rows = graph.op("Gather", weight, indices)
    padding = padding_idx.node().t("value").item()
    if padding < 0:
        return rows
    row = graph.op("CastLike", graph.op("Constant", value_t=torch.tensor(padding)),
                   indices)
    axes = graph.op("Constant", value_t=torch.tensor([-1]))
    is_padding = graph.op("Unsqueeze", graph.op("Equal", indices, row), axes)
    stopped = graph.op(f"{DOMAIN}::{STOP_GRADIENT}", rows)
    return graph.op("Where", is_padding, stopped, rows)


@contextlib.contextmanager
def _symbolics(opset):
    """Registers functions by which TorchScript's exporter translates some of
    PyTorch's operators, during an export."""
    symbolics = {"aten::detach": _stop_symbolic, "aten::embedding": _embedding_symbolic}
    for name, symbolic in symbolics.items():
        torch.onnx.register_custom_op_symbolic(name, symbolic, opset)
    try:
        yield
    finally:
        for name in symbolics:
            torch.onnx.unregister_custom_op_symbolic(name, opset)


def _export_script(model, args, path, options, state):
    """Runs the exporter of TorchScript. It runs the module and then writes its
    running means and variances, which this has changed. So they are replaced
    in the file by `state`, their values from before."""
    # PRESERVE keeps the modes that _training_mode has set.
    with _symbolics(options["opset_version"]):
        torch.onnx.export(model, args, path, dynamo=False, export_params=True,
                          training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False,
                          keep_initializers_as_inputs=False, **options)
    content = onnx.load(path, load_external_data=False)
    for tensor in content.graph.initializer:
        if tensor.name in state:
            tensor.CopyFrom(numpy_helper.from_array(
                state[tensor.name].cpu().numpy(), tensor.name))
    save(content, path)


# Properties that ONNX can't express
# ----------------------------------


def _finish(path):
    """Adds to an exported file the list of running statistics that training leaves
    unchanged, and a function that defines Hfta's operator for other ONNX
    runtimes. Raises NotExportable for a damaged graph."""
    content = onnx.load(path, load_external_data=False)
    _refuse_undefined(content.graph)
    frozen = _find_frozen_statistics(content.graph)
    if frozen:
        content.metadata_props.add(key=FROZEN_STATISTICS_KEY, value="\n".join(frozen))
    opsets = [entry for entry in content.opset_import if entry.domain != DOMAIN]
    del content.opset_import[:]
    content.opset_import.extend(opsets)
    nodes = [*_walk(content.graph), *(node for function in content.functions
                                      for node in _walk(function))]
    if any(node.domain == DOMAIN for node in nodes):
        content.ir_version = max(content.ir_version, 8)
        content.opset_import.append(helper.make_opsetid(DOMAIN, 1))
        standard = [entry for entry in opsets if entry.domain in ("", "ai.onnx")]
        others = [function for function in content.functions if function.domain != DOMAIN]
        del content.functions[:]
        content.functions.extend(others)
        content.functions.append(helper.make_function(
            DOMAIN, STOP_GRADIENT, ["input"], ["output"],
            [helper.make_node("Identity", ["input"], ["output"])], standard))
    save(content, path)


def _get_branches(node):
    """Returns the graphs that are attributes of a node, such as an If's."""
    return [graph for attribute in node.attribute
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g")
                                               else []))]


def _walk(graph):
    """Yields the nodes of a graph or function and of the graphs within them."""
    for node in graph.node:
        yield node
        for branch in _get_branches(node):
            yield from _walk(branch)


def _refuse_undefined(graph, outer=()):
    """Raises NotExportable if a node reads a value that isn't defined, in the graph
    or in `outer`, around it: the newer exporter's optimizer may remove values that are
    still read."""
    defined = {*outer, *(tensor.name for tensor in graph.initializer)}
    defined.update(value.name for value in graph.input)
    for node in graph.node:
        defined.update(node.output)
    for node in graph.node:
        for name in node.input:
            if name and name not in defined:
                raise NotExportable(
                    f"the exporter's optimizer has left node '{node.name}' without "
                    f"its operand '{name}': use dynamo=False")
        for branch in _get_branches(node):
            _refuse_undefined(branch, defined)


def _find_frozen_statistics(graph):
    """Returns the running means and variances of the batch normalizations that
    are in evaluation mode though the module is in training mode."""
    frozen, updated = set(), set()
    # For a normalization without running statistics, the newer exporter writes
    # nodes that compute the batch's; these results are no buffers.
    means = {output for node in graph.node if node.op_type == "ReduceMean"
             for output in node.output}
    for node in graph.node:
        if node.op_type != "BatchNormalization" or node.domain not in ("", "ai.onnx"):
            continue
        training = any(attribute.name == "training_mode" and attribute.i
                       for attribute in node.attribute)
        if not means.issuperset(node.input[3:5]):
            (updated if training else frozen).update(node.input[3:5])
    both = sorted(frozen & updated)
    if both:
        raise NotExportable(
            f"'{both[0]}' is updated by one batch normalization and kept by another")
    order = [tensor.name for tensor in graph.initializer]
    lost = sorted(frozen - set(order))
    if lost:
        raise NotExportable(
            f"a batch normalization in evaluation mode reads '{lost[0]}', which is "
            "computed and not a buffer of the module")
    return [name for name in order if name in frozen]


def _count_bytes(model):
    tensors = [*model.parameters(), *model.buffers()]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
