#!/usr/bin/env python3
"""Writes cnn.onnx: the small CNN of this example, with seeded weights.

Needs torch and onnx. cnn.onnx is in the repository, so nobody has to run this
to use the example. The same versions of torch and onnx write the same bytes.
"""

import argparse
import pathlib
import warnings

import torch
from torch import nn


class Cnn(nn.Module):
    """Two convolutions and two linear layers for 28x28 images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1)
        self.hidden = nn.Linear(32 * 7 * 7, 128)
        self.output = nn.Linear(128, 10)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()

    def forward(self, image):
        x = self.pool(self.relu(self.conv1(image)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.hidden(self.flatten(x)))
        return self.output(x)


def export(model, example, path, **options):
    """Writes `model` to an ONNX file whose input and output have a symbolic batch size.
    `options` are further arguments of torch.onnx.export."""
    with warnings.catch_warnings():
        # Uses the deprecated TorchScript exporter on purpose: its file has plain
        # layers with the module's names, and contains the weights.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            model,
            (example,),
            str(path),
            dynamo=False,
            opset_version=17,
            input_names=["image"],
            output_names=["logits"],
            dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
            **options,
        )


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=here / "cnn.onnx", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    model = Cnn()
    export(model, torch.zeros(2, 1, 28, 28), options.output)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{options.output}: {count} parameters, "
          f"{options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
