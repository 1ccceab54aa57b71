"""Small PyTorch modules that plain exports change in some way. The exporters store Python's
numbers, such as epsilons, as f32. The modules use only numbers that are exact in f32, so
that trainings in f64 can be compared."""

import math

import torch
from torch import nn
from torch.nn import functional

EPSILON = 2.0 ** -17


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


class LlamaBlock(nn.Module):
    """Attention with rotary position embeddings, followed by a gated layer. The tables of
    cosines and sines and the mask are buffers."""

    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (
            nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        size = width // heads
        frequencies = 1 / 10000 ** (torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(tokens).float(), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("mask", torch.full((tokens, tokens), -1e9).triu(1))

    def rotate(self, x):
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat([-second, first], -1) * self.sin

    def forward(self, x):
        samples, tokens, width = x.shape
        y = self.norm1(x)
        q, k, v = (layer(y).view(samples, tokens, self.heads, -1).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        scores = self.rotate(q) @ self.rotate(k).transpose(-1, -2)
        weights = (scores / math.sqrt(width // self.heads) + self.mask).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(samples, tokens, width))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    inputs, classes = (torch.randint, (17,), (8,)), 17

    def __init__(self, tied=False):
        super().__init__()
        self.embedding = nn.Embedding(17, 16)
        self.blocks = nn.ModuleList(LlamaBlock(16, 4, 8) for _ in range(2))
        self.norm = RmsNorm(16)
        self.head = nn.Linear(16, 17, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).mean(1)


class TiedLlama(Llama):
    def __init__(self):
        super().__init__(tied=True)


class Attention(nn.Module):
    """Multi-head attention. Its scale is a constant, and its biases are initialized to
    zeros."""
    inputs, classes = (torch.randn, (), (5, 32)), 4

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 2, batch_first=True)
        self.output = nn.Linear(32, 4)

    def forward(self, x):
        return self.output(self.attention(x, x, x, need_weights=False)[0].mean(1))


class GroupNorm(nn.Module):
    inputs, classes = (torch.randn, (), (3, 6, 6)), 4

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8, eps=EPSILON)
        self.output = nn.Linear(8, 4)

    def forward(self, x):
        return self.output(functional.relu(self.norm(self.conv(x))).mean((2, 3)))


class BatchNorm(GroupNorm):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(8, eps=EPSILON, momentum=0.25)


class Parametrized(nn.Module):
    """A module with a weight that is normalized by a parametrization, two equal biases, a
    scalar parameter, a frozen layer, and a layer that isn't used."""
    inputs, classes = (torch.randn, (), (6,)), 3

    def __init__(self):
        super().__init__()
        self.hidden = nn.utils.parametrizations.weight_norm(nn.Linear(6, 5))
        self.matrix = nn.Parameter(torch.randn(3, 5))
        self.bias1, self.bias2 = (nn.Parameter(torch.zeros(3)) for _ in range(2))
        self.output = nn.Linear(3, 3, bias=False)
        self.output.weight.requires_grad_(False)
        self.temperature = nn.Parameter(torch.tensor(0.5))
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        y = torch.tanh(self.hidden(x)) @ self.matrix.t() + self.bias1
        return self.output(torch.tanh(y) * self.temperature) + self.bias2


MODULES = [Llama, TiedLlama, Attention, GroupNorm, BatchNorm, Parametrized]
