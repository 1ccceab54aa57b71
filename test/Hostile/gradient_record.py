"""Makes a small ONNX model and a record of its training for `hftac --check-gradients`. The
record's gradients are finite differences. Needs only Python's standard library."""

import hashlib
import json
import math
import struct

from onnx_writer import graph, model, node, tensor, value

SAMPLES, INPUTS, HIDDEN, CLASSES = 6, 3, 4, 2
RATE, STEPS, EPSILON, MOMENTUM = 0.125, 2, 0.0009765625, 0.75
SHAPES = {"dense.weight": (INPUTS, HIDDEN), "dense.bias": (HIDDEN,),
          "norm.weight": (HIDDEN,), "norm.bias": (HIDDEN,),
          "head.weight": (HIDDEN, CLASSES)}
STATISTICS = ("norm.mean", "norm.variance")


def make_numbers(count, seed):
    """Returns pseudo-random numbers from -1 to 0.875 that f32 represents exactly."""
    return [(seed + 37 * i * i + 11 * i) % 61 / 32 - 1 for i in range(count)]


def make_state():
    state = {name: make_numbers(math.prod(shape), seed)
             for seed, (name, shape) in enumerate(SHAPES.items(), 5)}
    return {**state, STATISTICS[0]: [0.0] * HIDDEN, STATISTICS[1]: [1.0] * HIDDEN}


X = make_numbers(SAMPLES * INPUTS, 3)
TARGET = [0, 1, 1, 0, 1, 0]


def multiply(a, b, inner, columns):
    return [sum(a[row * inner + k] * b[k * columns + column] for k in range(inner))
            for row in range(len(a) // inner) for column in range(columns)]


def compute(state):
    """Returns the mean loss of the batch X, and the mean and the (biased) variance of each
    channel of the normalization's input."""
    hidden = multiply(X, state["dense.weight"], INPUTS, HIDDEN)
    hidden = [number + state["dense.bias"][i % HIDDEN]
              for i, number in enumerate(hidden)]
    means = [sum(hidden[i::HIDDEN]) / SAMPLES for i in range(HIDDEN)]
    variances = [sum((number - means[i])**2 for number in hidden[i::HIDDEN]) / SAMPLES
                 for i in range(HIDDEN)]
    normal = [(number - means[i % HIDDEN]) /
              math.sqrt(variances[i % HIDDEN] + EPSILON) *
              state["norm.weight"][i % HIDDEN] + state["norm.bias"][i % HIDDEN]
              for i, number in enumerate(hidden)]
    scores = multiply([max(number, 0.0) for number in normal], state["head.weight"],
                      HIDDEN, CLASSES)
    loss = sum(math.log(sum(map(math.exp, scores[CLASSES * i:CLASSES * (i + 1)]))) -
               scores[CLASSES * i + label] for i, label in enumerate(TARGET))
    return loss / SAMPLES, means, variances


def differentiate(state, name, index):
    step = 2.0**-17
    losses = []
    for change in (step, -step):
        numbers = list(state[name])
        numbers[index] += change
        losses.append(compute({**state, name: numbers})[0])
    return (losses[0] - losses[1]) / (2 * step)


def make_model(dropout=False):
    """Returns an ONNX file of the model, with or without dropout before its head."""
    state = make_state()
    tensors = [tensor(name, shape, state[name]) for name, shape in SHAPES.items()]
    tensors += [tensor(name, (HIDDEN,), state[name]) for name in STATISTICS]
    nodes = [node("Gemm", ["x", "dense.weight", "dense.bias"], ["dense"]),
             node("BatchNormalization",
                  ["dense", "norm.weight", "norm.bias", *STATISTICS],
                  ["norm", "next_mean", "next_variance"], training_mode=1,
                  epsilon=EPSILON, momentum=MOMENTUM),
             node("Relu", ["norm"], ["relu"])]
    if dropout:
        tensors += [tensor("rate", [], [0.5]), tensor("mode", [], [1], type=9)]
        nodes.append(node("Dropout", ["relu", "rate", "mode"], ["kept"]))
    nodes.append(node("MatMul", ["kept" if dropout else "relu", "head.weight"], ["y"]))
    return model(graph(nodes, [value("x", ["batch", INPUTS])],
                       [value("y", ["batch", CLASSES])], tensors))


def make_tensors():
    """Returns the record's tensors: a map from names to (type, shape, numbers)."""
    state, losses = make_state(), []
    tensors = {"input/x": ("F64", [SAMPLES, INPUTS], X),
               "target": ("I64", [SAMPLES], TARGET), "loss": ("F64", [STEPS], losses)}
    for step in range(1, STEPS + 1):
        loss, means, variances = compute(state)
        losses.append(loss)
        gradients = {name: [differentiate(state, name, index)
                            for index in range(math.prod(shape))]
                     for name, shape in SHAPES.items()}
        for name, numbers in gradients.items():
            tensors[f"gradient/{step}/{name}"] = ("F64", list(SHAPES[name]), numbers)
            state[name] = [number - RATE * gradient
                           for number, gradient in zip(state[name], numbers)]
        # PyTorch updates the running variance with the unbiased variance.
        batch = (means, [number * SAMPLES / (SAMPLES - 1) for number in variances])
        for name, numbers in zip(STATISTICS, batch):
            state[name] = [MOMENTUM * old + (1 - MOMENTUM) * new
                           for old, new in zip(state[name], numbers)]
            tensors[f"statistic/{step}/{name}"] = ("F64", [HIDDEN], state[name])
    return tensors


def pack(tensors, metadata):
    """Returns a safetensors file of the tensors, with their digest in its metadata."""
    header, body = {}, b""
    for name, (kind, shape, numbers) in tensors.items():
        part = struct.pack(f"<{len(numbers)}{'q' if kind == 'I64' else 'd'}", *numbers)
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(part)]}
        body += part
    header["__metadata__"] = {"tensors": hashlib.sha256(body).hexdigest(), **metadata}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def make_metadata(content):
    """Returns the metadata of a record of an ONNX file with these bytes."""
    return {"format": "hfta-record", "version": "1", "output": "y",
            "model": hashlib.sha256(content).hexdigest(), "loss": "cross_entropy",
            "axis": "1", "learning_rate": str(RATE)}


def change(tensors, name, number=None, shape=None, kind=None, index=0):
    """Returns the tensors with another number, shape or type in one of them."""
    old_kind, old_shape, numbers = tensors[name]
    numbers = list(numbers)
    if number is not None:
        numbers[index] = number
    return {**tensors, name: (kind or old_kind, shape or old_shape, numbers)}


def without(tensors, *names):
    return {name: content for name, content in tensors.items() if name not in names}
