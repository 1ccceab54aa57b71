"""Layers of PyTorch for the networks of peer_networks.py: for one model, and for several
models fused as HFTA does it (Wang et al., 2021), by grouped convolutions and batched
matrix products. Needs PyTorch."""

import dataclasses
import math

import torch
from torch.nn import functional

from peer_networks import BYTE, CLASS, IMAGE


class TorchLayers:
    """The layers of one model. Each layer takes the next parameters from `values`."""

    def __init__(self, values, copies=1):
        self.values, self.copies = iter(values), copies

    def take(self, kind, shape, bound=None):  # pylint: disable=unused-argument
        """Returns the next parameter. Recorder notes the arguments: the kind and shape, and
        the bound of the initial values (see Parameter)."""
        return next(self.values)

    relu = staticmethod(functional.relu)
    gelu = staticmethod(functional.gelu)
    tanh = staticmethod(torch.tanh)
    hardswish = staticmethod(functional.hardswish)
    hardsigmoid = staticmethod(functional.hardsigmoid)
    max_pool = staticmethod(functional.max_pool2d)

    @staticmethod
    def leaky_relu(x):
        return functional.leaky_relu(x, 0.2)

    @staticmethod
    def input(x, filling):  # pylint: disable=unused-argument
        """Converts an input to the layout that the layers expect. Called once, before all
        steps."""
        return x

    def flatten(self, x):
        return x.flatten(1)

    def mean_positions(self, x):
        return self.flatten(x.mean((2, 3), keepdim=True))

    def mean_rows(self, x):
        return x.mean(-2)

    def scale_channels(self, x, scale):
        return x * scale[..., None, None]

    def take_linear(self, x, outputs):
        bound = x.shape[-1] ** -0.5
        return (self.take("matrix", (outputs, x.shape[-1]), bound),
                self.take("row", (outputs,), bound))

    def linear(self, x, outputs):
        return functional.linear(x, *self.take_linear(x, outputs))

    def conv(self, x, outputs, kernel, stride=1, padding=0, groups=1, bias=False):
        terms = x.shape[1] // groups * kernel * kernel
        bound = terms ** -0.5
        weight = self.take("channels", (outputs, x.shape[1] // groups, kernel, kernel),
                           bound)
        shift = self.take("channels", (outputs,), bound) if bias else None
        return functional.conv2d(x, weight, shift, stride, padding,
                                 groups=groups * self.copies)

    def batch_norm(self, x):
        scale = self.take("channels", (x.shape[1],))
        shift = self.take("channels", (x.shape[1],), 0)
        return functional.batch_norm(x, None, None, scale, shift, training=True)

    def row_batch_norm(self, x):
        return self.batch_norm(x)

    def layer_norm(self, x):
        scale = self.take("row", (x.shape[-1],))
        shift = self.take("row", (x.shape[-1],), 0)
        return functional.layer_norm(x, (x.shape[-1],), scale, shift)

    def embedding(self, words, count, width):
        return functional.embedding(words, self.take("table", (count, width), 1))

    def attention(self, query, key, value, heads, mask):
        def split(x):
            return x.reshape(-1, x.shape[-2], heads, x.shape[-1] // heads).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            split(query), split(key), split(value), mask.to(query.dtype))
        return mixed.transpose(1, 2).reshape(query.shape)

    def loss(self, kind, output, label):
        """Returns the mean loss of one model."""
        output = output.float() if output.dtype == torch.bfloat16 else output
        if kind == "binary_cross_entropy":
            return functional.binary_cross_entropy_with_logits(output, label)
        return functional.cross_entropy(output.flatten(0, -2), label.flatten())


class FusedLayers(TorchLayers):
    """The layers of several fused models. Images are [batch, copies * channels, height,
    width], all other values [copies, batch, ...]."""

    @staticmethod
    def fuse(kind, values):
        """Returns the fused parameter, given the values of one parameter in all models."""
        if kind in ("channels", "table"):
            return torch.cat(values)
        return torch.stack([value.T.contiguous() if kind == "matrix" else value
                            for value in values])

    def input(self, x, filling):
        return x.repeat(1, self.copies, 1, 1) if filling == IMAGE else x

    def flatten(self, x):
        return x.reshape(x.shape[0], self.copies, -1).transpose(0, 1)

    def unflatten(self, x):
        return x.transpose(0, 1).reshape(x.shape[1], -1)

    def scale_channels(self, x, scale):
        return x * self.unflatten(scale)[..., None, None]

    def linear(self, x, outputs):
        weight, shift = self.take_linear(x, outputs)
        y = torch.baddbmm(shift[:, None], x.reshape(self.copies, -1, x.shape[-1]), weight)
        return y.reshape(*x.shape[:-1], outputs)

    def row_batch_norm(self, x):
        return self.flatten(self.batch_norm(self.unflatten(x)))

    def layer_norm(self, x):
        scale, shift = (self.take("row", None).view(self.copies, *[1] * (x.dim() - 2), -1)
                        for _ in range(2))
        return functional.layer_norm(x, (x.shape[-1],)) * scale + shift

    def embedding(self, words, count, width):
        first = torch.arange(self.copies, device=words.device) * count
        words = words + first.view(-1, *[1] * words.dim())
        return functional.embedding(words, self.take("table", None))

    def attention(self, query, key, value, heads, mask):
        mask = mask.repeat(self.copies, 1, 1, 1)
        return super().attention(query, key, value, heads, mask)

    def loss(self, kind, output, label):
        """Returns the sum of the models' mean losses."""
        label = label.expand(self.copies, *label.shape)
        return self.copies * super().loss(kind, output, label)


@dataclasses.dataclass
class Parameter:
    kind: str      # matrix, row, channels or table; see FusedLayers.fuse
    shape: tuple
    bound: float   # initial values are uniform in [-bound, bound]; None: 1

    def draw(self, generator):
        if self.bound is None:
            return torch.ones(self.shape)
        values = torch.rand(self.shape, generator=generator)
        return (2 * values - 1) * self.bound


class Recorder(TorchLayers):
    """Records the parameters that a network takes."""

    def __init__(self):
        super().__init__([])
        self.parameters = []

    def take(self, kind, shape, bound=None):
        self.parameters.append(Parameter(kind, shape, bound))
        return torch.empty(shape, device="meta")


def parameters_of(network):
    """Returns the parameters in the order in which the network takes them."""
    recorder = Recorder()
    network.apply(recorder, *(field.to("meta") for field in
                              make_fields(network, 2, torch.Generator())[0]))
    return recorder.parameters


def make_field(filling, shape, batch, generator):
    shape = (batch, *shape)
    if filling == CLASS:
        return torch.zeros(shape, dtype=torch.long)
    if filling == BYTE:
        return torch.randint(0, 256, shape, generator=generator)
    return torch.rand(shape, generator=generator)


def make_fields(network, batch, generator):
    """Returns a batch: a list of its inputs, and its label."""
    fields = [make_field(*field, batch, generator)
              for field in (*network.inputs, network.label)]
    return fields[:-1], fields[-1]


def count_elements(parameters):
    return sum(math.prod(parameter.shape) for parameter in parameters)
