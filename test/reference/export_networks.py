#!/usr/bin/env python3
"""Writes test/models/networks/NAME.onnx and NAME.json: thin versions of known
networks, as PyTorch exports them for training, without their weights.

Needs torch and onnx. The weights aren't in the repository: networks.write_weights()
generates them from NAME.json.
"""

import argparse
import json
import math
import pathlib
import sys
import warnings

import onnx
import torch
from torch import nn
from torch.nn import functional

import networks

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "bench" / "gpu"))

from peer_networks import MOBILE_BLOCKS  # noqa: E402  (found by the path above)

SMALLEST_OUTSIDE = 16  # elements; smaller initializers stay in the ONNX file


#===------------------------------------------------------------------------===#
# ResNet-18 (He et al., 2016), an eighth as wide
#===------------------------------------------------------------------------===#

class BasicBlock(nn.Module):
    def __init__(self, given, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(given, width, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.shortcut = None
        if stride != 1 or given != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(given, width, 1, stride, bias=False),
                nn.BatchNorm2d(width))

    def forward(self, x):
        y = functional.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return functional.relu(y + (self.shortcut(x) if self.shortcut else x))


class ResNet18(nn.Module):
    def __init__(self, width=8, classes=10, extra=False):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(width)
        blocks, given = [], width
        for stage in range(4):
            for place in range(2):
                stride = 2 if stage > 0 and place == 0 else 1
                blocks.append(BasicBlock(given, width << stage, stride))
                given = width << stage
        self.blocks = nn.Sequential(*blocks)
        self.extra = BasicBlock(width << 2, width << 2, 1) if extra else None
        self.head = nn.Linear(given, classes)

    def forward(self, image):
        x = functional.relu(self.norm(self.stem(image)))
        x = functional.max_pool2d(x, 3, 2, 1)
        for place, block in enumerate(self.blocks):
            x = block(x)
            if place == 5 and self.extra:
                x = self.extra(x)
        return functional.log_softmax(self.head(torch.flatten(x, 1)), 1)


#===------------------------------------------------------------------------===#
# MobileNetV3-Large (Howard et al., 2019), an eighth as wide
#===------------------------------------------------------------------------===#

class SqueezeExcite(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.reduce = nn.Linear(width, max(width // 4, 2))
        self.expand = nn.Linear(max(width // 4, 2), width)

    def forward(self, x):
        y = functional.adaptive_avg_pool2d(x, 1).flatten(1)
        y = functional.hardsigmoid(self.expand(functional.relu(self.reduce(y))))
        return x * y.view(y.size(0), -1, 1, 1)


class InvertedResidual(nn.Module):
    def __init__(self, given, kernel, expanded, out, squeeze, swish, stride):
        super().__init__()
        self.activation = nn.Hardswish() if swish else nn.ReLU()
        self.expand = nn.Conv2d(given, expanded, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(expanded)
        self.depthwise = nn.Conv2d(expanded, expanded, kernel, stride,
                                   kernel // 2, groups=expanded, bias=False)
        self.norm2 = nn.BatchNorm2d(expanded)
        self.squeeze = SqueezeExcite(expanded) if squeeze else nn.Identity()
        self.project = nn.Conv2d(expanded, out, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(out)
        self.residual = stride == 1 and given == out

    def forward(self, x):
        y = self.activation(self.norm1(self.expand(x)))
        y = self.activation(self.norm2(self.depthwise(y)))
        y = self.norm3(self.project(self.squeeze(y)))
        return x + y if self.residual else y


class MobileNetV3(nn.Module):
    def __init__(self, divisor=8, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 16 // divisor * 2, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(16 // divisor * 2)
        blocks, given = [], 16 // divisor * 2
        for kernel, expanded, out, squeeze, swish, stride in MOBILE_BLOCKS:
            blocks.append(InvertedResidual(given, kernel, expanded // divisor,
                                           out // divisor, squeeze, swish,
                                           stride))
            given = out // divisor
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Conv2d(given, 960 // divisor, 1, bias=False)
        self.last_norm = nn.BatchNorm2d(960 // divisor)
        self.hidden = nn.Linear(960 // divisor, 1280 // divisor)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(1280 // divisor, classes)

    def forward(self, image):
        x = self.blocks(functional.hardswish(self.norm(self.stem(image))))
        x = functional.hardswish(self.last_norm(self.last(x)))
        x = functional.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(self.dropout(functional.hardswish(self.hidden(x))))


#===------------------------------------------------------------------------===#
# PointNet's classifier (Qi et al., 2017), an eighth as wide
#===------------------------------------------------------------------------===#

class PointLayers(nn.Module):
    """Dense layers with batch norm, applied to each point separately."""

    def __init__(self, *widths):
        super().__init__()
        pairs = list(zip(widths, widths[1:]))
        self.dense = nn.ModuleList(nn.Conv1d(a, b, 1) for a, b in pairs)
        self.norms = nn.ModuleList(nn.BatchNorm1d(b) for _, b in pairs)

    def forward(self, x, last_relu=True):
        for i, (dense, norm) in enumerate(zip(self.dense, self.norms)):
            x = norm(dense(x))
            if last_relu or i + 1 < len(self.dense):
                x = functional.relu(x)
        return x


class Alignment(nn.Module):
    """Computes a 3x3 matrix for each point cloud: the identity plus a learned part."""

    def __init__(self):
        super().__init__()
        self.points = PointLayers(3, 8, 16, 128)
        self.hidden = nn.Linear(128, 32)
        self.norm = nn.BatchNorm1d(32)
        self.matrix = nn.Linear(32, 9)

    def forward(self, x):
        x = self.points(x).amax(2)
        x = self.matrix(functional.relu(self.norm(self.hidden(x))))
        return x.view(-1, 3, 3) + torch.eye(3)


class PointNet(nn.Module):
    def __init__(self, classes=16):
        super().__init__()
        self.alignment = Alignment()
        self.points = PointLayers(3, 8, 16, 128)
        self.hidden = nn.Linear(128, 64)
        self.norm1 = nn.BatchNorm1d(64)
        self.narrow = nn.Linear(64, 32)
        self.dropout = nn.Dropout(0.3)
        self.norm2 = nn.BatchNorm1d(32)
        self.head = nn.Linear(32, classes)

    def forward(self, points):
        matrix = self.alignment(points.transpose(1, 2))
        x = torch.bmm(points, matrix).transpose(1, 2)
        x = self.points(x, last_relu=False).amax(2)
        x = functional.relu(self.norm1(self.hidden(x)))
        x = functional.relu(self.norm2(self.dropout(self.narrow(x))))
        return functional.log_softmax(self.head(x), 1)


#===------------------------------------------------------------------------===#
# A language model of Transformer encoders (Vaswani et al., 2017)
#===------------------------------------------------------------------------===#

class TransformerLm(nn.Module):
    def __init__(self, width=32, heads=2, layers=2, words=1000, length=32):
        super().__init__()
        self.width = width
        self.embedding = nn.Embedding(words, width)
        position = torch.arange(length).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))
        table = torch.zeros(1, length, width)
        table[0, :, 0::2] = torch.sin(position * rate)
        table[0, :, 1::2] = torch.cos(position * rate)
        self.register_buffer("positions", table)
        self.dropout = nn.Dropout(0.2)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 2 * width, 0.2,
                                       batch_first=True)
            for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        length = tokens.size(1)
        mask = torch.triu(torch.full((length, length), -1e9), diagonal=1)
        x = self.embedding(tokens) * math.sqrt(self.width)
        x = self.dropout(x + self.positions[:, :length])
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return functional.log_softmax(self.head(x), -1)


#===------------------------------------------------------------------------===#
# BERT (Devlin et al., 2019), small
#===------------------------------------------------------------------------===#

class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        batch, length, width = x.shape
        x = x.view(batch, length, self.heads, width // self.heads)
        return x.permute(0, 2, 1, 3)

    def forward(self, x, mask):
        query, key, value = (self.split(layer(x)) for layer in
                             (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        scores = scores.masked_fill(mask == 0, -1e9)
        mixed = self.dropout(scores.softmax(-1)) @ value
        mixed = mixed.transpose(1, 2).contiguous().view(x.shape)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        y = self.narrow(functional.gelu(self.wide(x)))
        return self.norm2(x + self.dropout(y))


class Bert(nn.Module):
    def __init__(self, width=32, heads=2, layers=2, words=1000, length=32):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer(width, heads)
                                    for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, segments):
        places = torch.arange(tokens.size(1)).expand_as(tokens)
        x = self.words(tokens) + self.places(places) + self.segments(segments)
        x = self.dropout(self.norm(x))
        mask = (tokens > 0).unsqueeze(1).unsqueeze(2)
        for layer in self.layers:
            x = layer(x, mask)
        return functional.log_softmax(self.head(x), -1)


#===------------------------------------------------------------------------===#
# DCGAN (Radford et al., 2016), an eighth as wide
#===------------------------------------------------------------------------===#

class Discriminator(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        layers, given = [], 3
        for scale in (1, 2, 4, 8):
            layers.append(nn.Conv2d(given, width * scale, 4, 2, 1, bias=False))
            if scale > 1:
                layers.append(nn.BatchNorm2d(width * scale))
            layers.append(nn.LeakyReLU(0.2))
            given = width * scale
        layers.append(nn.Conv2d(given, 1, 4, 1, 0, bias=False))
        self.main = nn.Sequential(*layers)

    def forward(self, image):
        return self.main(image).view(-1, 1).squeeze(1)


class Generator(nn.Module):
    def __init__(self, width=8, noise=100):
        super().__init__()
        layers, given = [], noise
        for place, scale in enumerate((8, 4, 2, 1)):
            stride, padding = (1, 0) if place == 0 else (2, 1)
            layers += [nn.ConvTranspose2d(given, width * scale, 4, stride,
                                          padding, bias=False),
                       nn.BatchNorm2d(width * scale), nn.ReLU()]
            given = width * scale
        layers.append(nn.ConvTranspose2d(given, 3, 4, 2, 1, bias=False))
        self.main = nn.Sequential(*layers)

    def forward(self, z):
        return torch.tanh(self.main(z))


#===------------------------------------------------------------------------===#
# Files
#===------------------------------------------------------------------------===#

MODELS = {"resnet18": ResNet18, "mobilenetv3_large": MobileNetV3,
          "pointnet_cls": PointNet, "transformer_lm": TransformerLm,
          "bert_medium": Bert, "dcgan_d": Discriminator, "dcgan_g": Generator,
          "resnet18_wide": lambda: ResNet18(classes=100),
          "resnet18_deep": lambda: ResNet18(extra=True)}


def range_of(name, dims):
    """Returns the bounds of a weight's uniform values, similar to those of a usual
    initialization of its layer."""
    if name.endswith("running_mean"):
        return 0.0, 0.0
    if name.endswith("running_var"):
        return 1.0, 1.0
    if len(dims) == 1 and name.endswith("weight"):
        return 0.75, 1.25
    if len(dims) == 1:
        # Biases of norms have a wide range. With biases near 0 and a ReLU between
        # two norms, the gradient of the first one's scale would be almost 0.
        is_norm = "norm" in name or ".shortcut.1." in name or "main" in name
        return (-0.75, 0.75) if is_norm else (-0.125, 0.125)
    bound = math.sqrt(3 / math.prod(dims[1:]))
    return -bound, bound


def move_weights(model, name, seed):
    """Makes a model's larger initializers of floats external data in NAME.weights.
    Returns the table from which networks.write_weights() generates that file."""
    tensors, offset = [], 0
    for tensor in model.graph.initializer:
        count = math.prod(tensor.dims)
        if tensor.data_type != onnx.TensorProto.FLOAT or \
                count < SMALLEST_OUTSIDE or tensor.name == "positions":
            continue
        tensors.append([count, *range_of(tensor.name, tensor.dims)])
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", f"{name}.weights"),
                           ("offset", offset), ("length", 4 * count)):
            tensor.external_data.add(key=key, value=str(value))
        offset += 4 * count
    return {"file": f"{name}.weights", "seed": seed, "tensors": tensors}


def export(name, folder):
    network = networks.NETWORKS[name]
    torch.manual_seed(1)
    examples = tuple(
        torch.zeros((2, *field.shape), dtype=torch.float32
                    if field.fill == "float" else torch.int64)
        for field in network.inputs.values())
    path = folder / f"{name}.onnx"
    batch = {axis: {0: "batch"} for axis in (*network.inputs, network.output)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            MODELS[name](), examples, str(path), dynamo=False,
            opset_version=17, input_names=list(network.inputs),
            output_names=[network.output], dynamic_axes=batch,
            training=torch.onnx.TrainingMode.TRAINING,
            do_constant_folding=False)
    model = onnx.load(path)
    table = move_weights(model, name,
                         1000 * (1 + list(networks.NETWORKS).index(name)))
    path.write_bytes(model.SerializeToString())
    (folder / f"{name}.json").write_text(json.dumps(table) + "\n")
    count = sum(count for count, _, _ in table["tensors"])
    print(f"{path}: {count} weights outside, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=list(MODELS))
    parser.add_argument("--out", type=pathlib.Path,
                        default=HERE.parent / "models" / "networks")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        export(name, options.out)


if __name__ == "__main__":
    main()
