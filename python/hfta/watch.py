"""Refuses PyTorch modules that do what an ONNX file can't express, and detects where a
module's forward computes without gradients. Used by hfta.export; see docs/exporting.md."""

import contextlib
import functools
import inspect
import os
import traceback
import zlib

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from .parameters import NotExportable

# Settings of modules
# -------------------

_BATCH_NORMS = torch.nn.modules.batchnorm._BatchNorm
_INSTANCE_NORMS = torch.nn.modules.instancenorm._InstanceNorm
_AVERAGE_POOLS = (torch.nn.AvgPool2d, torch.nn.AvgPool3d)


def refuse_modules(model):
    """Raises NotExportable for a module with a setting that an ONNX file can't hold."""
    for name, module in model.named_modules():
        reason = _find_reason(module)
        if reason:
            raise NotExportable(
                f"{type(module).__name__} '{name or 'the module itself'}' {reason}")


def _find_reason(module):
    """Returns why a module can't be exported, or None."""
    tracks = getattr(module, "track_running_stats", False)
    if isinstance(module, _INSTANCE_NORMS):
        if tracks:
            return ("has running statistics, which ONNX's InstanceNormalization "
                    "lacks: set track_running_stats=False")
    elif isinstance(module, _BATCH_NORMS):
        if tracks and module.training and module.momentum is None:
            return ("has momentum=None: running statistics as means of all "
                    "batches aren't supported")
    elif isinstance(module, _AVERAGE_POOLS):
        if module.divisor_override is not None:
            return "has a divisor_override, which the exporters ignore"
    elif isinstance(module, torch.nn.Embedding):
        if module.max_norm is not None:
            return "has a max_norm: its rows change when they are read"
        if module.scale_grad_by_freq:
            return "has scale_grad_by_freq, which isn't supported"
    elif isinstance(module, torch.nn.EmbeddingBag):
        if module.padding_idx is not None:
            return "has a padding_idx, which the exporters ignore"
    if module._backward_hooks or module._backward_pre_hooks:
        return "has a backward hook, which an ONNX file can't express"
    if any(parameter._backward_hooks
           for parameter in module.parameters(recurse=False)):
        return "has a parameter with a gradient hook, which an ONNX file can't express"
    return None


# Changes while a module runs
# ---------------------------


class Tensors:
    """A snapshot of a module: copies of its buffers, and checksums of its parameters."""

    def __init__(self, model):
        self.model = model
        self.buffers = dict(model.named_buffers(remove_duplicate=False))
        self.values = {name: buffer.detach().clone()
                       for name, buffer in self.buffers.items()}
        self.digests = _digest_parameters(model)

    def restore_buffers(self):
        """Gives the module the buffers and values of the snapshot; removes new buffers."""
        for name, _ in list(self.model.named_buffers(remove_duplicate=False)):
            if name not in self.buffers:
                delattr(*_find_owner(self.model, name))
        with torch.no_grad():
            for name, buffer in self.buffers.items():
                owner, own_name = _find_owner(self.model, name)
                owner._buffers[own_name] = buffer
                buffer.copy_(self.values[name])


def _find_owner(model, name):
    path, _, own_name = name.rpartition(".")
    return model.get_submodule(path), own_name


def _digest_parameters(model):
    """Returns a checksum of each parameter, except lazy ones that have no values yet."""
    return {name: zlib.crc32(parameter.detach().cpu().contiguous().reshape(-1)
                             .view(torch.uint8).numpy())
            for name, parameter in model.named_parameters()
            if not torch.nn.parameter.is_lazy(parameter)}


def _are_equal(a, b):
    """Returns whether two tensors have equal shapes, types and values; NaN equals NaN."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(
        ((a == b) | ((a != a) & (b != b))).all())


def refuse_changes(model, args, kwargs, tensors):
    """Runs forward, and raises NotExportable if it changes buffers or parameters.
    Running statistics of batch normalizations may change: Hfta updates them
    itself. `tensors` is a snapshot from before; it is restored at the end."""
    known = {f"{name}.{buffer}".lstrip(".")
             for name, module in model.named_modules()
             if isinstance(module, _BATCH_NORMS)
             for buffer in ("running_mean", "running_var", "num_batches_tracked")}
    try:
        with torch.no_grad():
            model(*args, **kwargs)
    except Exception:
        return  # The exporter will report why forward fails on these inputs.
    buffers = dict(model.named_buffers(remove_duplicate=False))
    for name in {**tensors.values, **buffers}:
        if name not in tensors.values:
            raise NotExportable(f"the buffer '{name}' is made by forward, which a "
                                "ONNX file can't express: register it in __init__")
        if name not in known and not (name in buffers and _are_equal(
                buffers[name], tensors.values[name])):
            raise NotExportable(
                f"the buffer '{name}' changes in each step, which an ONNX file can't express")
    for name, digest in _digest_parameters(model).items():
        if digest != tensors.digests.get(name, digest):
            raise NotExportable(f"the parameter '{name}' is changed by forward, which "
                                "an ONNX file can't express")
    tensors.restore_buffers()


# Calls in forward
# ----------------

# Functions that write to their first argument, in addition to those whose name
# ends with "_".
_WRITERS = {"__setitem__", *(f"__i{name}__" for name in (
    "add", "and", "div", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow",
    "rshift", "sub", "truediv", "xor"))}
# Functions whose name ends with "_" but that change no values.
_NO_WRITERS = {"requires_grad_", "share_memory_"}


class Watch(TorchFunctionMode):
    """Intercepts all PyTorch functions that a module calls during its export.
    Detaches results that are computed where gradients are disabled, so that the
    exported graph has no gradient there either, and refuses calls that an ONNX
    file can't express."""

    def __init__(self):
        super().__init__()
        self.refusals = []
        # Tensors that need no gradient, but share memory with one that needs one.
        self.aliases = WeakIdKeyDictionary()

    def refuse(self, reason):
        frames = [frame for frame in traceback.extract_stack()
                  if os.path.dirname(torch.__file__) not in frame.filename and
                  os.path.dirname(frame.filename) != os.path.dirname(__file__)]
        place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
        self.refusals.append(place + reason)
        raise NotExportable(self.refusals[-1])

    @contextlib.contextmanager
    def raise_refusals(self):
        """Raises the first refusal instead of the exception with which an exporter
        reports it."""
        try:
            yield
        except Exception:
            if self.refusals:
                raise NotExportable(self.refusals[0]) from None
            raise

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        self.check(func, name, args, kwargs)
        targets = _find_targets(func, name, args, kwargs)
        self.check_writes(name, targets, [args, {**kwargs, "out": None}])
        if func == torch.Tensor.data.__get__:
            func = torch.Tensor.detach
        result = func(*args, **kwargs)
        if targets or name == "_set_grad_enabled":
            return result
        sources = [tensor for tensor in _find_tensors([args, kwargs])
                   if tensor.requires_grad or tensor in self.aliases]
        if not torch.is_grad_enabled() and (
                any(tensor.requires_grad for tensor in sources) or
                any(map(callable, args))):
            result = _detach_all(result)
        for tensor in _find_tensors(result):
            if not tensor.requires_grad and any(
                    torch._C._is_alias_of(tensor, source) for source in sources):
                self.aliases[tensor] = True
        return result

    def check(self, func, name, args, kwargs):
        pools = (functional.avg_pool2d, functional.avg_pool3d)
        if func in pools and (kwargs.get("divisor_override") or
                              len(args) > 6 and args[6]):
            self.refuse(f"{name} with a divisor_override, which the exporters ignore")
        if func is functional.instance_norm and (
                len(args) > 1 and args[1] is not None or
                kwargs.get("running_mean") is not None):
            self.refuse("instance_norm with running statistics isn't supported")
        if func in (functional.embedding, functional.embedding_bag):
            for option in ("max_norm", "scale_grad_by_freq"):
                if _find_argument(func, args, kwargs, option):
                    self.refuse(f"{name} with {option} isn't supported")
        if func is functional.embedding_bag and _find_argument(
                func, args, kwargs, "padding_idx") is not None:
            self.refuse(f"{name} with a padding_idx, which the exporters ignore")
        if name in ("register_hook", "register_post_accumulate_grad_hook"):
            self.refuse("a hook of a gradient can't be exported")
        if func in (torch.autograd.grad, torch.Tensor.backward):
            self.refuse("gradients within a module can't be exported")
        if name == "detach_":
            self.refuse("detach_ can't be exported: use detach")
        if func == torch.Tensor.data.__set__:
            self.refuse("a tensor's data are replaced, which an ONNX file can't express")

    def check_writes(self, name, targets, operands):
        """Refuses a function that changes the values of tensors in a way that
        PyTorch doesn't differentiate, but Hfta would."""
        if any(target in self.aliases for target in targets):
            self.refuse(f"{name} changes a value by way of a detached one")
        if torch.is_grad_enabled():
            return
        if any(target.requires_grad for target in targets):
            self.refuse(f"{name} changes a value where gradients are disabled")
        if any(target.is_floating_point() for target in targets) and any(
                tensor.requires_grad for tensor in _find_tensors(operands)):
            self.refuse(f"{name} writes a value that has a gradient where gradients "
                        "are disabled: detach it")


def _find_tensors(value):
    """Yields the tensors in nested tuples, lists and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _find_tensors(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _find_tensors(part)


def _find_targets(func, name, args, kwargs):
    """Returns the tensors that a function writes to."""
    targets = list(_find_tensors(kwargs.get("out")))
    if name in _WRITERS or name.endswith("_") and not (
            name.endswith("__") or name in _NO_WRITERS) or _find_argument(
                func, args, kwargs, "inplace"):
        targets += _find_tensors(args[:1] or list(kwargs.values())[:1])
    return targets


def _find_argument(func, args, kwargs, name):
    """Returns the argument `name` of a call, or None if it isn't given. Finds
    positional arguments only of functions that are written in Python."""
    if name in kwargs:
        return kwargs[name]
    try:
        names = list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return None
    return dict(zip(names, args)).get(name)


def _detach_all(result):
    """Returns a function's result, in which tensors of floats are detached."""
    if isinstance(result, torch.Tensor):
        return result.detach() if result.is_floating_point() else result
    if isinstance(result, (tuple, list)):
        make = getattr(type(result), "_make", type(result))
        return make([_detach_all(part) for part in result])
    return result


@contextlib.contextmanager
def watched(model):
    """Makes the module's forward run within a Watch, which is yielded. Also refuses
    calls of user-defined autograd.Functions."""
    watch = Watch()
    forward, own = model.forward, "forward" in vars(model)
    apply = torch.autograd.Function.__dict__["apply"]

    @functools.wraps(forward)
    def run(*args, **kwargs):
        with torch.enable_grad(), watch:
            return forward(*args, **kwargs)

    def refuse(cls, *args, **kwargs):
        # PyTorch derives such classes for its own operators; they are allowed.
        if cls.__module__.startswith("torch._") or cls.__name__.startswith(
                "GeneratedBackwardFor_"):
            return apply.__get__(None, cls)(*args, **kwargs)
        watch.refuse(f"the autograd.Function {cls.__name__} has a derivative of its "
                     "own, which an ONNX file can't express")

    model.forward = run
    torch.autograd.Function.apply = classmethod(refuse)
    try:
        yield watch
    finally:
        torch.autograd.Function.apply = apply
        if own:
            model.forward = forward
        else:
            del model.forward
