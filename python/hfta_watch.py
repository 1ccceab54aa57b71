"""Refuses PyTorch modules that do what an ONNX file can't say, and sees where a module's
forward computes without gradients. Used by hfta_export; see docs/exporting.md."""

import contextlib
import functools
import os
import traceback

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from hfta_compare import NotExportable

# Modules that can't be exported
# ------------------------------

_BATCH_NORMS = torch.nn.modules.batchnorm._BatchNorm
_INSTANCE_NORMS = torch.nn.modules.instancenorm._InstanceNorm
_AVERAGE_POOLS = (torch.nn.AvgPool2d, torch.nn.AvgPool3d)


def refuse_modules(model):
    """Refuses modules with a setting that no file can hold."""
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
        return "has a backward hook: gradients can't be changed"
    if any(parameter._backward_hooks
           for parameter in module.parameters(recurse=False)):
        return "has a parameter with a gradient's hook"
    return None


def restore_buffers(model, state):
    with torch.no_grad():
        for name, tensor in model.named_buffers(remove_duplicate=False):
            tensor.copy_(state[name])


def refuse_changing_buffers(model, args, kwargs, state):
    """Refuses modules whose forward changes buffers, except the statistics of
    batch normalizations, which Hfta keeps up itself."""
    known = {f"{name}.{buffer}".lstrip(".")
             for name, module in model.named_modules()
             if isinstance(module, _BATCH_NORMS)
             for buffer in ("running_mean", "running_var", "num_batches_tracked")}
    try:
        with torch.no_grad():
            model(*args, **kwargs)
    except Exception:
        return  # The exporter says what is wrong with the inputs.
    for name, tensor in model.named_buffers(remove_duplicate=False):
        if name not in known and not torch.equal(tensor, state[name]):
            raise NotExportable(
                f"the buffer '{name}' changes in each step, which a file can't say")
    restore_buffers(model, state)


class Watch(TorchFunctionMode):
    """Sees each of PyTorch's functions that the module calls while it is
    exported. Results that are computed without gradients become constants for
    derivatives."""

    def __init__(self):
        super().__init__()
        self.refusals = []

    def refuse(self, reason):
        frames = [frame for frame in traceback.extract_stack()
                  if os.path.dirname(torch.__file__) not in frame.filename and
                  os.path.dirname(frame.filename) != os.path.dirname(__file__)]
        place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
        self.refusals.append(place + reason)
        raise NotExportable(self.refusals[-1])

    @contextlib.contextmanager
    def raise_refusals(self):
        """Raises the first refusal in place of what an exporter makes of it."""
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
        if func == torch.Tensor.data.__get__:
            return args[0].detach()
        result = func(*args, **kwargs)
        if torch.is_grad_enabled() or name == "_set_grad_enabled":
            return result
        return _detach_all(result)

    def check(self, func, name, args, kwargs):
        pools = (functional.avg_pool2d, functional.avg_pool3d)
        if func in pools and (kwargs.get("divisor_override") or
                              len(args) > 6 and args[6]):
            self.refuse(f"{name} with a divisor_override, which the exporters ignore")
        if func is functional.instance_norm and (
                len(args) > 1 and args[1] is not None or
                kwargs.get("running_mean") is not None):
            self.refuse("instance_norm with running statistics isn't supported")
        if name in ("register_hook", "register_post_accumulate_grad_hook"):
            self.refuse("a hook of a gradient can't be exported")
        if func in (torch.autograd.grad, torch.Tensor.backward):
            self.refuse("gradients within a module can't be exported")
        if name == "detach_":
            self.refuse("detach_ can't be exported: use detach")
        if func == torch.Tensor.data.__set__:
            self.refuse("a tensor's data are replaced, which a file can't say")
        if not torch.is_grad_enabled() and name.endswith("_") and not (
                name.endswith("__")) and args and isinstance(
                    args[0], torch.Tensor) and args[0].requires_grad:
            self.refuse(f"{name} changes a value where gradients are disabled")


def _detach_all(result):
    """Detaches the float tensors of a function's result."""
    if isinstance(result, torch.Tensor):
        return result.detach() if result.is_floating_point() else result
    if type(result) in (tuple, list):
        return type(result)(map(_detach_all, result))
    return result


@contextlib.contextmanager
def watched(model):
    """Lets a Watch see what the module's forward does."""
    watch = Watch()
    forward, own = model.forward, "forward" in vars(model)
    apply = torch.autograd.Function.__dict__["apply"]
    apply_function = torch.autograd.Function.apply.__func__

    @functools.wraps(forward)
    def run(*args, **kwargs):
        with torch.enable_grad(), watch:
            return forward(*args, **kwargs)

    def refuse(cls, *args, **kwargs):
        # PyTorch makes such functions of its own operators.
        if cls.__module__.startswith("torch._") or cls.__name__.startswith(
                "GeneratedBackwardFor_"):
            return apply_function(cls, *args, **kwargs)
        watch.refuse(f"the autograd.Function {cls.__name__} has a derivative of its "
                     "own, which a file can't say")

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
