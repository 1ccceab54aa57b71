"""Runs an ONNX graph with PyTorch's own functions. PyTorch's automatic
differentiation of it is the reference for the compiler's gradients of the same
file. Needs torch, numpy and onnx.

All floats are computed in one type, which the caller chooses. Dropout returns its
input. BatchNormalization normalizes with the batch's statistics, as in training.
"""

import pathlib

import numpy
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional


def value_of(attribute):
    """Returns an attribute's value. A float is the shortest decimal number that rounds
    to its f32: 1e-5, not 9.99999975e-6."""
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.FLOAT:
        return float(str(numpy.float32(value)))
    return value


def attributes_of(node):
    return {a.name: value_of(a) for a in node.attribute}


def integers(tensor):
    return [int(v) for v in tensor.reshape(-1)]


def pads_of(at, rank):
    """Returns ONNX's pads in torch's form: one number for each axis. Raises
    NotImplementedError if an axis has different pads at its two ends."""
    pads = at.get("pads", [0] * (2 * rank))
    if list(pads[:rank]) != list(pads[rank:]):
        raise NotImplementedError(f"pads {pads} differ at both ends")
    return list(pads[:rank])


def convolution(at, x, w, b=None):
    rank = w.dim() - 2
    call = [None, functional.conv1d, functional.conv2d][rank]
    return call(x, w, b, at.get("strides", 1), pads_of(at, rank),
                at.get("dilations", 1), at.get("group", 1))


def transposed_convolution(at, x, w, b=None):
    rank = w.dim() - 2
    call = [None, functional.conv_transpose1d,
            functional.conv_transpose2d][rank]
    return call(x, w, b, at.get("strides", 1), pads_of(at, rank),
                at.get("output_padding", 0), at.get("group", 1),
                at.get("dilations", 1))


def max_pool(at, x):
    rank = x.dim() - 2
    return functional.max_pool2d(x, at["kernel_shape"], at.get("strides", 1),
                                 pads_of(at, rank), at.get("dilations", 1),
                                 bool(at.get("ceil_mode", 0)))


def average_pool(at, x):
    return functional.avg_pool2d(x, at["kernel_shape"], at.get("strides", 1),
                                 pads_of(at, x.dim() - 2),
                                 bool(at.get("ceil_mode", 0)),
                                 bool(at.get("count_include_pad", 0)))


def batch_norm(at, x, scale, bias, *_):
    return functional.batch_norm(x, None, None, scale, bias, training=True,
                                 eps=at.get("epsilon", 1e-5))


def layer_norm(at, x, scale, bias=None):
    axis = at.get("axis", -1) % x.dim()
    return functional.layer_norm(x, x.shape[axis:], scale, bias,
                                 at.get("epsilon", 1e-5))


def gemm(at, a, b, c=None):
    a = a.t() if at.get("transA", 0) else a
    b = b.t() if at.get("transB", 0) else b
    out = at.get("alpha", 1.0) * (a @ b)
    return out if c is None else out + at.get("beta", 1.0) * c


def reshape(at, x, shape):
    sizes = [x.shape[i] if v == 0 and not at.get("allowzero", 0) else v
             for i, v in enumerate(integers(shape))]
    return x.reshape(sizes)


def slice_(_, x, starts, ends, axes=None, steps=None):
    starts, ends = integers(starts), integers(ends)
    axes = range(len(starts)) if axes is None else integers(axes)
    steps = [1] * len(starts) if steps is None else integers(steps)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index = torch.arange(x.shape[axis])[slice(start, end, step)] \
            if step > 0 else torch.tensor(range(x.shape[axis])[start:end:step])
        x = x.index_select(axis, index)
    return x


def gather(at, x, index):
    axis = at.get("axis", 0) % max(x.dim(), 1)
    index = index % x.shape[axis]
    flat = x.index_select(axis, index.reshape(-1))
    return flat.reshape(x.shape[:axis] + index.shape + x.shape[axis + 1:])


def unsqueeze(_, x, axes):
    rank = x.dim() + axes.numel()
    for axis in sorted(a % rank for a in integers(axes)):
        x = x.unsqueeze(axis)
    return x


def squeeze(_, x, axes=None):
    axes = integers(axes) if axes is not None else \
        [i for i, size in enumerate(x.shape) if size == 1]
    return x.squeeze(tuple(axes))


def reduction(function):
    def call(at, x, axes=None):
        axes = at.get("axes") if axes is None else integers(axes)
        axes = list(range(x.dim())) if not axes else axes
        return function(x, tuple(axes), bool(at.get("keepdims", 1)))
    return call


def split(at, x, sizes=None):
    axis = at.get("axis", 0)
    count = x.shape[axis] // at["num_outputs"] if sizes is None else None
    return torch.split(x, count or integers(sizes), axis)


def softmax(at, x):
    return functional.softmax(x, at.get("axis", -1))


def cast(at, x, float_type):
    kind = at["to"]
    if kind in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        return x.to(float_type)
    return x.to({onnx.TensorProto.BOOL: torch.bool,
                 onnx.TensorProto.INT32: torch.int32}.get(kind, torch.int64))


def trilu(at, x, k=None):
    diagonal = 0 if k is None else int(k)
    return torch.triu(x, diagonal) if at.get("upper", 1) \
        else torch.tril(x, diagonal)


def divide(_, a, b):
    if a.is_floating_point():
        return a / b
    return torch.div(a, b, rounding_mode="trunc")


OPS = {
    "Add": lambda _, a, b: a + b, "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b, "Div": divide,
    "Pow": lambda _, a, b: a ** b, "Sqrt": lambda _, x: torch.sqrt(x),
    "Neg": lambda _, x: -x, "Exp": lambda _, x: torch.exp(x),
    "Log": lambda _, x: torch.log(x), "Erf": lambda _, x: torch.erf(x),
    "Tanh": lambda _, x: torch.tanh(x),
    "Sigmoid": lambda _, x: torch.sigmoid(x),
    "Relu": lambda _, x: torch.relu(x),
    "LeakyRelu": lambda at, x: functional.leaky_relu(x, at.get("alpha", 0.01)),
    "HardSwish": lambda _, x: x * torch.clamp(x / 6 + 0.5, 0, 1),
    "HardSigmoid": lambda at, x: torch.clamp(
        x * at.get("alpha", 0.2) + at.get("beta", 0.5), 0, 1),
    "Clip": lambda _, x, low=None, high=None: torch.clamp(x, low, high),
    "Identity": lambda _, x: x, "Dropout": lambda _, x, *rest: x,
    "Conv": convolution, "ConvTranspose": transposed_convolution,
    "MaxPool": max_pool, "AveragePool": average_pool,
    "GlobalAveragePool": lambda _, x: x.mean(tuple(range(2, x.dim())), True),
    "BatchNormalization": batch_norm, "LayerNormalization": layer_norm,
    "Gemm": gemm, "MatMul": lambda _, a, b: a @ b,
    "Softmax": softmax,
    "LogSoftmax": lambda at, x: functional.log_softmax(x, at.get("axis", -1)),
    "Flatten": lambda at, x: x.reshape(
        int(numpy.prod(x.shape[:at.get("axis", 1)])), -1),
    "Reshape": reshape, "Slice": slice_, "Gather": gather,
    "Unsqueeze": unsqueeze, "Squeeze": squeeze, "Split": split,
    "Transpose": lambda at, x: x.permute(
        at.get("perm", list(range(x.dim()))[::-1])),
    "Concat": lambda at, *xs: torch.cat(xs, at["axis"]),
    "Expand": lambda _, x, shape: x * torch.ones(integers(shape),
                                                 dtype=x.dtype),
    "Tile": lambda _, x, repeats: x.repeat(integers(repeats)),
    "Where": lambda _, c, a, b: torch.where(c, a, b),
    "Trilu": trilu, "Equal": lambda _, a, b: a == b,
    "Mod": lambda at, a, b: (torch.fmod if at.get("fmod", 0)
                             else torch.remainder)(a, b),
    "LessOrEqual": lambda _, a, b: a <= b, "Less": lambda _, a, b: a < b,
    "Greater": lambda _, a, b: a > b, "Not": lambda _, x: ~x,
    "Shape": lambda _, x: torch.tensor(x.shape, dtype=torch.int64),
    "Range": lambda _, a, b, c: torch.arange(int(a), int(b), int(c)),
    "ReduceMax": reduction(torch.amax), "ReduceMean": reduction(torch.mean),
    "ReduceSum": reduction(torch.sum),
}


class Model:
    """A graph of an ONNX file, which can be called. Floats are of `float_type`."""

    def __init__(self, path, float_type):
        path = pathlib.Path(path)
        graph = onnx.load(path).graph
        self.graph, self.float_type = graph, float_type
        self.initializers = {i.name: self.tensor(i) for i in graph.initializer}
        self.inputs = [i.name for i in graph.input
                       if i.name not in self.initializers]
        self.outputs = [o.name for o in graph.output]

    def tensor(self, proto):
        array = numpy_helper.to_array(proto)
        value = torch.from_numpy(array.copy())
        return value.to(self.float_type) if value.is_floating_point() else value

    def __call__(self, *inputs):
        """Returns the list of outputs for one batch of inputs."""
        values = dict(self.initializers)
        values.update(zip(self.inputs, inputs))
        self.run(self.graph, values)
        return [values[name] for name in self.outputs]

    def run(self, graph, values):
        for node in graph.node:
            results = self.compute(node, values)
            values.update(zip(node.output, results))

    def compute(self, node, values):
        at = attributes_of(node)
        args = [values[name] if name else None for name in node.input]
        if node.op_type == "Constant":
            return [self.tensor(at["value"]) if "value" in at
                    else torch.tensor(next(iter(at.values())))]
        if node.op_type == "ConstantOfShape":
            fill = self.tensor(at["value"]) if "value" in at \
                else torch.zeros(1, dtype=self.float_type)
            return [fill.expand(integers(args[0])).clone()]
        if node.op_type == "If":
            branch = at["then_branch" if bool(args[0]) else "else_branch"]
            inner = dict(values)
            self.run(branch, inner)
            return [inner[o.name] for o in branch.output]
        if node.op_type == "Cast":
            return [cast(at, args[0], self.float_type)]
        while args and args[-1] is None:
            args.pop()
        result = OPS[node.op_type](at, *args)
        return result if isinstance(result, (list, tuple)) else [result]
