"""Small modules that train differently if their export is naive, as ONNX can't express what
they do or exporters change it: detached values, straight-through estimators, teachers,
padding rows, frozen norms, tied weights. Used by scripts/check-exports."""

import copy
import dataclasses
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

CASES = []


@dataclasses.dataclass
class Case:
    name: str
    make: Callable  # returns a module and its inputs
    refused: tuple  # exporters that must refuse it: "newer", "TorchScript"

    def is_refused(self, dynamo):
        return ("newer" if dynamo else "TorchScript") in self.refused


BOTH = ("newer", "TorchScript")


def rows(*shape):
    return (torch.randn(4, *shape),)


def tokens(*shape):
    values = torch.randint(1, 7, (4, *shape))
    values[0, 0] = values[2, 1] = 0
    return (values,)


class Steps(nn.Module):
    """A module with the given parts, whose forward calls `forward(module, inputs...)`."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.steps = forward

    def forward(self, *args):
        return self.steps(self, *args)


def add(name, forward, inputs, refused=(), prepare=None, **parts):
    """Adds a case with the module Steps. `parts` are functions that make its parts,
    `prepare` changes the module before its export."""
    def make():
        module = Steps(forward, **{key: part() for key, part in parts.items()})
        module.train()
        if prepare:
            prepare(module)
        return module, inputs()
    CASES.append(Case(name, make, refused))


def linear(*sizes, **options):
    return lambda: nn.Linear(*sizes, **options)


def no_grad(function, *args):
    with torch.no_grad():
        return function(*args)


MLP = {"a": linear(4, 5), "b": linear(5, 3)}


# Detached values
# ---------------

def add_detached(name, middle, **more):
    add(name, lambda m, x: m.b(middle(m, m.a(x), x)), lambda: rows(4), **MLP, **more)


add_detached("detach in a product", lambda m, h, x: h * h.detach())
add_detached("detach of one use", lambda m, h, x: h + torch.tanh(h).detach())
add_detached("detach of all uses", lambda m, h, x: torch.tanh(h.detach()))
add_detached("torch.detach", lambda m, h, x: h * torch.detach(torch.sigmoid(h)))
add_detached("data", lambda m, h, x: h * torch.sigmoid(h).data)
add_detached("no_grad block", lambda m, h, x: h * no_grad(torch.sigmoid, h))
add_detached("no_grad layer", lambda m, h, x: h + no_grad(m.a, 2 * x))
add_detached("no_grad of several steps",
             lambda m, h, x: h * no_grad(lambda v: torch.exp(-v * v).mean(1, True), h))
add_detached("no_grad indices",
             lambda m, h, x: h.gather(1, no_grad(lambda v: v.argsort(1), h)))
add_detached("no_grad chunks", lambda m, h, x: h * torch.cat(
    no_grad(lambda v: v.chunk(2, 1), h), 1))
add_detached("no_grad maximum", lambda m, h, x: torch.exp(
    h - no_grad(lambda v: v.max(1, keepdim=True), h).values))
add_detached("no_grad largest", lambda m, h, x: h * no_grad(
    lambda v: v.topk(1, 1), h).values)
add_detached("no_grad mask", lambda m, h, x: h * no_grad(
    lambda v: torch.zeros_like(v).masked_fill_(v > 0, 0.5).add_(1), h))
add_detached("set_grad_enabled", lambda m, h, x: set_grad(h))
add_detached("detached maximum (stable softmax)", lambda m, h, x: torch.exp(
    h - h.detach().max(1, keepdim=True).values))
add_detached("detached mean and deviation", lambda m, h, x: (
    h - h.mean(1, keepdim=True).detach()) / (
        h.std(1, keepdim=True).detach() + 0.25))
add_detached("detached gate", lambda m, h, x: torch.where(h.detach() > 0, h, 0.25 * h))
add_detached("detached weight", lambda m, h, x: h + F.linear(x, m.a.weight.detach()))
add_detached("detached bias", lambda m, h, x: h * 2 + m.a.bias.detach())
add_detached("detach twice", lambda m, h, x: h + h.detach().detach() * h)
add_detached("reversed gradient", lambda m, h, x: 2 * h.detach() - h)
add_detached("scaled gradient", lambda m, h, x: 0.25 * h + 0.75 * h.detach())


def set_grad(h):
    torch.set_grad_enabled(False)
    gate = torch.sigmoid(h)
    torch.set_grad_enabled(True)
    return h * gate


# Straight-through estimators
# ---------------------------

add_detached("straight-through rounding", lambda m, h, x: h + (h.round() - h).detach())
add_detached("straight-through sign", lambda m, h, x: h + (h.sign() - h).detach())
add_detached("straight-through quantization",
             lambda m, h, x: h + ((h * 8).round().clamp(-8, 7) / 8 - h).detach())
add_detached("straight-through one-hot", lambda m, h, x: one_hot(h))
add_detached("straight-through through tanh",
             lambda m, h, x: torch.tanh(h) + (h.sign() - torch.tanh(h)).detach())
add_detached("binary weights",
             lambda m, h, x: F.linear(x, m.a.weight + (
                 m.a.weight.sign() * m.a.weight.abs().mean() - m.a.weight).detach()))
add_detached("floor with a gradient", lambda m, h, x: h - (h - h.floor()).detach())


def one_hot(h):
    soft = h.softmax(1)
    hard = F.one_hot(soft.argmax(1), 5).to(soft.dtype)
    return hard - soft.detach() + soft


add("vector quantization", lambda m, x: quantize(m, m.a(x)), lambda: rows(4),
    a=linear(4, 5), book=lambda: nn.Embedding(6, 5), b=linear(5, 3))


def quantize(m, h):
    distances = (h.unsqueeze(1) - m.book.weight.unsqueeze(0)).pow(2).sum(2)
    near = m.book(distances.argmin(1))
    return m.b(h + (near - h).detach())


# Teachers
# --------

def freeze(module):
    module.requires_grad_(False)


add("teacher without gradients", lambda m, x: m.b(m.a(x)) - no_grad(m.teacher, x),
    lambda: rows(4), **MLP, teacher=linear(4, 3))
add("teacher detached", lambda m, x: m.b(m.a(x)) * m.teacher(x).detach(),
    lambda: rows(4), **MLP, teacher=linear(4, 3))
add("teacher of frozen weights", lambda m, x: m.b(m.a(x)) - m.teacher(x),
    lambda: rows(4), prepare=lambda m: freeze(m.teacher), **MLP, teacher=linear(4, 3))
add("teacher in evaluation mode", lambda m, x: m.b(m.a(x)) - no_grad(m.teacher, x),
    lambda: rows(4), prepare=lambda m: m.teacher.eval(), **MLP,
    teacher=lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5),
                                  nn.Linear(6, 3)))
add("student that is its own teacher", lambda m, x: m.b(m.a(x)) * m.b(m.a(x)).detach(),
    lambda: rows(4), **MLP)
add("two branches, one stopped", lambda m, x: m.b(m.a(x)) + m.c(m.a(x).detach()),
    lambda: rows(4), **MLP, c=linear(5, 3))


# Padding rows and ties
# ---------------------

def add_tokens(name, forward, refused=(), prepare=None, inputs=lambda: tokens(5),
               **parts):
    add(name, forward, inputs, refused, prepare, **parts)


def table(*sizes, **options):
    return lambda: nn.Embedding(*sizes, **options)


def pool(m, x):
    return m.out(m.table(x).mean(1))


add_tokens("embedding", pool, table=table(7, 4), out=linear(4, 3))
add_tokens("padding row 0", pool, table=table(7, 4, padding_idx=0), out=linear(4, 3))
add_tokens("padding row 3", pool, table=table(7, 4, padding_idx=3), out=linear(4, 3))
add_tokens("padding row -1", pool, table=table(7, 4, padding_idx=-1), out=linear(4, 3))
add_tokens("padding row in F.embedding",
           lambda m, x: m.out(F.embedding(x, m.table.weight, padding_idx=0).mean(1)),
           table=table(7, 4), out=linear(4, 3))
add_tokens("padding row with values",
           pool, prepare=lambda m: nn.init.ones_(m.table.weight),
           table=table(7, 4, padding_idx=0), out=linear(4, 3))
add_tokens("padding row, int32 tokens", pool, inputs=lambda: (tokens(5)[0].int(),),
           table=table(7, 4, padding_idx=0), out=linear(4, 3))
add_tokens("padding rows of two uses",
           lambda m, x: m.out((m.table(x) + F.embedding(x, m.table.weight)).mean(1)),
           table=table(7, 4, padding_idx=0), out=linear(4, 3))
add_tokens("tied output", lambda m, x: F.linear(m.table(x).mean(1), m.table.weight),
           table=table(7, 4))
add_tokens("tied output and a padding row",
           lambda m, x: F.linear(m.table(x).mean(1), m.table.weight),
           table=table(7, 4, padding_idx=0))
add_tokens("tied modules", lambda m, x: m.out(m.table(x).mean(1)),
           prepare=lambda m: setattr(m.out, "weight", m.table.weight),
           table=table(7, 4), out=linear(4, 7))
add("tied layers", lambda m, x: m.b(torch.tanh(m.a(x))), lambda: rows(4),
    prepare=lambda m: setattr(m.b, "weight", m.a.weight), a=linear(4, 4), b=linear(4, 4))
add("tied to the transposed weight",
    lambda m, x: F.linear(torch.tanh(m.a(x)), m.a.weight.t()), lambda: rows(4),
    a=linear(4, 6))
add("one layer twice", lambda m, x: m.b(m.a(torch.tanh(m.a(x)))), lambda: rows(4),
    a=linear(4, 4), b=linear(4, 3))


# Norms
# -----

def keep(*names):
    return lambda m: [getattr(m, name).eval() for name in names]


def norm_parts(**options):
    return {"a": linear(4, 5), "n": lambda: warm(nn.BatchNorm1d(5, **options)),
            "b": linear(5, 3)}


def warm(norm):
    if norm.running_mean is not None:
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    return norm


def through_norm(m, x):
    return m.b(torch.tanh(m.n(m.a(x))))


add("batch norm", through_norm, lambda: rows(4), **norm_parts())
add("batch norm, frozen", through_norm, lambda: rows(4), prepare=keep("n"),
    **norm_parts())
add("batch norm, frozen, without scale", through_norm, lambda: rows(4),
    prepare=keep("n"), **norm_parts(affine=False))
add("batch norm of the batch alone", through_norm, lambda: rows(4),
    **norm_parts(track_running_stats=False))
add("batch norms, one frozen",
    lambda m, x: m.b(m.n(m.a(x)) + m.n2(m.a(x))), lambda: rows(4), prepare=keep("n"),
    **norm_parts(), n2=lambda: warm(nn.BatchNorm1d(5)))
add("F.batch_norm without training",
    lambda m, x: m.b(F.batch_norm(m.a(x), m.n.running_mean, m.n.running_var,
                                  m.n.weight, m.n.bias, training=False)),
    lambda: rows(4), **norm_parts())
add("convolution and a frozen norm",
    lambda m, x: m.b(m.n(m.conv(x)).relu().mean((2, 3))), lambda: rows(2, 6, 6),
    prepare=keep("n"), conv=lambda: nn.Conv2d(2, 5, 3),
    n=lambda: warm(nn.BatchNorm2d(5)), b=linear(5, 3))
add("frozen norm with frozen scale", through_norm, lambda: rows(4),
    prepare=lambda m: (m.n.eval(), freeze(m.n)), **norm_parts())
add("dropout in evaluation mode", lambda m, x: m.b(m.drop(m.a(x))), lambda: rows(4),
    prepare=keep("drop"), **MLP, drop=lambda: nn.Dropout(0.5))
add("dropout", lambda m, x: m.b(m.drop(m.a(x))), lambda: rows(4), **MLP,
    drop=lambda: nn.Dropout(0.5))
add("instance norm", lambda m, x: m.b(m.n(m.conv(x)).mean((2, 3)) +
                                      m.conv(x).mean((2, 3))),
    lambda: rows(2, 6, 6), conv=lambda: nn.Conv2d(2, 5, 3),
    n=lambda: nn.InstanceNorm2d(5, affine=True), b=linear(5, 3))
add("layer norm", through_norm, lambda: rows(4), a=linear(4, 5),
    n=lambda: nn.LayerNorm(5), b=linear(5, 3))


# Modules that must be refused
# ----------------------------

class Straight(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.round()

    @staticmethod
    def backward(context, gradient):
        return gradient


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(5))

    def forward(self, x):
        self.seen.mul_(0.5).add_(x.detach().mean(0))
        return x - self.seen


class Unknown(nn.Module):
    """A module with a buffer of NaN that never changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("loss", torch.full((2,), torch.nan))

    def forward(self, x):
        return torch.tanh(x)


class Cached(nn.Module):
    def forward(self, x):
        self.register_buffer("last", x.detach())
        return torch.tanh(x)


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("past", torch.zeros(1, 5))

    def forward(self, x):
        self.past = torch.cat([self.past, x.detach()])
        return torch.tanh(x)


class Clipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((5,), 2.0))

    def forward(self, x):
        self.scale.data.clamp_(-1, 1)
        return x * self.scale


def write(writer, h):
    """Returns h plus a tensor to which `writer` writes where gradients are disabled."""
    y = torch.zeros(4, 5)
    no_grad(writer, y, h)
    return h + y


def write_column(h):
    column = h[:, 0]
    return write(lambda y, v: y.__setitem__((slice(None), 0), column), h)


def hook(h):
    h.register_hook(lambda gradient: 2 * gradient)
    return h


def refuse(name, middle, refused=BOTH, **more):
    add(name, lambda m, x: m.b(middle(m, m.a(x), x)), lambda: rows(4), refused, **MLP,
        **more)


refuse("autograd.Function", lambda m, h, x: Straight.apply(h))
refuse("gradient hook", lambda m, h, x: hook(h))
refuse("in-place detach", lambda m, h, x: h.clone().detach_())
refuse("in-place step without gradients", lambda m, h, x: no_grad(h.mul_, 2))
refuse("in-place step through a view", lambda m, h, x: (
    no_grad(lambda v: v[:, 0].mul_(2), h), h)[1])
refuse("in-place step through detach", lambda m, h, x: (h.detach().mul_(2), h)[1])
refuse("in-place activation without gradients",
       lambda m, h, x: no_grad(F.relu, h, True))
refuse("copy without gradients",
       lambda m, h, x: write(lambda y, v: y.copy_(v), h))
refuse("in-place sum without gradients",
       lambda m, h, x: write(lambda y, v: y.__iadd__(v), h))
refuse("written column without gradients", lambda m, h, x: write_column(h))
refuse("out= without gradients",
       lambda m, h, x: write(lambda y, v: torch.add(v, v, out=y), h))
refuse("batch norm with momentum None", lambda m, h, x: m.n(h),
       n=lambda: nn.BatchNorm1d(5, momentum=None))
refuse("buffer that changes", lambda m, h, x: m.count(h), count=Counted)
refuse("buffer that forward makes", lambda m, h, x: m.cache(h), cache=Cached)
refuse("buffer that grows", lambda m, h, x: m.past(h), past=Growing)
refuse("parameter that forward clips", lambda m, h, x: m.clip(h), clip=Clipped)
add_detached("buffer of NaN that stays", lambda m, h, x: m.unknown(h), unknown=Unknown)
add("instance norm with running statistics",
    lambda m, x: m.b(m.n(m.conv(x)).abs().mean((2, 3))), lambda: rows(2, 6, 6), BOTH,
    conv=lambda: nn.Conv2d(2, 5, 3),
    n=lambda: nn.InstanceNorm2d(5, track_running_stats=True), b=linear(5, 3))
add("average pool with a divisor", lambda m, x: m.b(m.pool(m.conv(x)).mean((2, 3))),
    lambda: rows(2, 6, 6), BOTH, conv=lambda: nn.Conv2d(2, 5, 3),
    pool=lambda: nn.AvgPool2d(2, divisor_override=3), b=linear(5, 3))
add("F.avg_pool2d with a divisor",
    lambda m, x: m.b(F.avg_pool2d(m.conv(x), 2, divisor_override=3).mean((2, 3))),
    lambda: rows(2, 6, 6), BOTH, conv=lambda: nn.Conv2d(2, 5, 3), b=linear(5, 3))
add_tokens("embedding with a largest norm", pool, BOTH,
           table=table(7, 4, max_norm=1.0), out=linear(4, 3))
add_tokens("embedding with scaled gradients", pool, BOTH,
           table=table(7, 4, scale_grad_by_freq=True), out=linear(4, 3))
add_tokens("F.embedding with a largest norm",
           lambda m, x: m.out(F.embedding(x, m.table.weight, None, 0.01).mean(1)), BOTH,
           table=table(7, 4), out=linear(4, 3))
add("spectral norm", lambda m, x: m.b(m.a(x)), lambda: rows(4), BOTH, b=linear(5, 3),
    a=lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(4, 5)))
refuse("equal clamps", lambda m, h, x: h.clamp(-1, 1) + h.clamp(-1, 1), ("newer",))
add("copy of a module", lambda m, x: m.b(m.a(x)) + m.c(x), lambda: rows(4),
    prepare=lambda m: setattr(m, "c", copy.deepcopy(nn.Sequential(m.a, m.b))), **MLP)
