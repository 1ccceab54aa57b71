"""Generates models and jobs that are hard to compile quickly. Needs only Python's
standard library.

Each case is a function that writes its files to a folder and returns hftac's
arguments. Weights are drawn with a seed: only the structure matters."""

import pathlib
import random
import sys

TEST = pathlib.Path(__file__).resolve().parent.parent / "test"
sys.path[:0] = [str(TEST / "Hostile"), str(TEST / "reference")]

import networks  # noqa: E402
from make_data import write_npy  # noqa: E402
from onnx_writer import graph, model, node, tensor, value  # noqa: E402

RESNET = "resnet18"


#===----------------------------------------------------------------------===#
# ConvNeXt
#===----------------------------------------------------------------------===#


class ConvNeXt:
    """ConvNeXt (Liu et al., "A ConvNet for the 2020s", 2022) with one block per
    stage, for images of 3x32x32."""

    WIDTHS = (16, 32, 64)
    CLASSES = 10

    def __init__(self):
        self.random = random.Random(1)
        self.nodes, self.tensors, self.last = [], [], "image"

    def add(self, op, *operands, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(node(op, [self.last, *operands], [name], name=name,
                               **attributes))
        self.last = name

    def weight(self, name, *dims):
        count = 1
        for size in dims:
            count *= size
        self.tensors.append(tensor(name, dims, [
            self.random.uniform(-0.1, 0.1) for _ in range(count)]))
        return name

    def conv(self, name, outputs, inputs, window, stride=1, padding=0, groups=1):
        self.add("Conv",
                 self.weight(f"{name}.weight", outputs, inputs // groups, window,
                             window),
                 self.weight(f"{name}.bias", outputs), strides=[stride] * 2,
                 pads=[padding] * 4, group=groups)

    def norm(self, name, width):
        self.add("LayerNormalization", self.weight(f"{name}.weight", width),
                 self.weight(f"{name}.bias", width), axis=-1, epsilon=1e-6)

    def linear(self, name, inputs, outputs):
        self.add("MatMul", self.weight(f"{name}.weight", inputs, outputs))
        self.add("Add", self.weight(f"{name}.bias", outputs))

    def channels_last(self):
        self.add("Transpose", perm=[0, 2, 3, 1])

    def channels_first(self):
        self.add("Transpose", perm=[0, 3, 1, 2])

    def block(self, name, width):
        before = self.last
        self.conv(f"{name}.depthwise", width, width, 7, padding=3, groups=width)
        self.channels_last()
        self.norm(f"{name}.norm", width)
        self.linear(f"{name}.widen", width, 4 * width)
        self.add("Gelu")
        self.linear(f"{name}.narrow", 4 * width, width)
        self.add("Mul", self.weight(f"{name}.scale", width))
        self.channels_first()
        self.add("Add", before)

    def build(self):
        first, last = self.WIDTHS[0], self.WIDTHS[-1]
        self.conv("stem", first, 3, 4, stride=4)
        self.block("stage0", first)
        for stage, (inputs, outputs) in enumerate(
                zip(self.WIDTHS, self.WIDTHS[1:]), start=1):
            self.channels_last()
            self.norm(f"down{stage}.norm", inputs)
            self.channels_first()
            self.conv(f"down{stage}.conv", outputs, inputs, 2, stride=2)
            self.block(f"stage{stage}", outputs)
        self.add("GlobalAveragePool")
        self.add("Flatten")
        self.norm("norm", last)
        self.linear("head", last, self.CLASSES)
        return model(graph(self.nodes,
                           [value("image", ["batch", 3, 32, 32])],
                           [value(self.last, ["batch", self.CLASSES])],
                           self.tensors), opset=20)


def write_convnext(folder):
    (folder / "convnext.onnx").write_bytes(ConvNeXt().build())
    write_npy(folder / "image.npy", "<f4", [0.5] * (8 * 3 * 32 * 32),
              (8, 3, 32, 32))
    write_npy(folder / "label.npy", "<i8", list(range(8)), (8,))
    job = folder / "convnext.hfta"
    job.write_text("""model net = onnx("convnext.onnx")
data made { train image = npy("image.npy"), label = npy("label.npy") }
train network {
  model     net(image)
  data      made, batch = 8
  loss      cross_entropy(net, label)
  optimizer adam(lr = [1e-4, 3e-4, 1e-3, 3e-3])
  steps     20
}
""")
    return [job]


#===----------------------------------------------------------------------===#
# Many operations, many operands, many copies
#===----------------------------------------------------------------------===#


def write_chain(folder):
    """Writes a graph of 3000 unary operations of many kinds, one after another."""
    kinds = ["Sigmoid", "Tanh", "Erf", "Exp", "Neg", "Softplus", "Relu", "Sqrt",
             "Abs", "Log"]
    draw = random.Random(3)
    nodes = [node(draw.choice(kinds), [f"v{i}"], [f"v{i + 1}"], name=f"n{i}")
             for i in range(3000)]
    path = folder / "chain.onnx"
    path.write_bytes(model(graph(nodes, [value("v0", [4, 8])],
                                 [value("v3000", [4, 8])])))
    return [path]


def write_sum(folder, operands):
    """Writes a graph with one `Sum` of `operands` operands, each the result of a
    unary operation."""
    names = [f"v{i}" for i in range(operands)]
    nodes = [node("Neg" if i % 2 else "Tanh", ["x"], [name], name=f"n{i}")
             for i, name in enumerate(names)]
    path = folder / f"sum{operands}.onnx"
    path.write_bytes(model(graph([*nodes, node("Sum", names, ["y"])],
                                 [value("x", [4, 8])], [value("y", [4, 8])])))
    return [path]


def write_resnet(folder):
    """Writes a job with eight copies of ResNet-18, which the tests train too."""
    index = TEST / "models" / "networks" / f"{RESNET}.json"
    (folder / f"{RESNET}.onnx").write_bytes(index.with_suffix(".onnx").read_bytes())
    networks.write_weights(folder, index)
    networks.write_data(folder, RESNET, samples=networks.BATCH)
    rates = [0.001 * (copy + 1) for copy in range(8)]
    job = folder / f"{RESNET}.hfta"
    job.write_text(networks.make_job(RESNET, f"{RESNET}.onnx", "f32",
                                     rates=rates))
    return [job]


CASES = {
    "convnext": write_convnext,
    "chain3000": write_chain,
    "sum2000": lambda folder: write_sum(folder, 2000),
    "sum15000": lambda folder: write_sum(folder, 15000),
    "resnet18x8": write_resnet,
}
