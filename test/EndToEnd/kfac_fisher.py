#!/usr/bin/env python3
"""Compares K-FAC's factors with the exact Fisher matrix, which is computed here in f64 from
the derivatives of a network of two layers with tanh between them. The cases:

    exact    With a batch of one sample, and each class in turn as its label, the mean of
             kron(A, G), weighted by the classes' probabilities, is the layer's block of
             the Fisher matrix within 1e-10. This is tested for a dense layer, and for a
             convolution whose output has one position.
    sampled  The mean of G over 4096 steps with sampled targets is the Fisher matrix of
             the loss within 5 %.
    kept     Input factors and layers that aren't preconditioned are the same to the bit
             whether or not targets are sampled.

Needs only Python's standard library."""

import array
import math

from harness import (Work, checkpoint, copy_file, expect_equal, fail, make_blocks,
                     read_log, read_safetensors)
import make_data  # from test/reference

EXACT = 1e-10
DRAWS = 4096
SAMPLED = 0.05
SAMPLES = 6
CLASSES = 3
IGNORED = -100

MODELS = {
    "dense": ((5,), """
model net(x: f32[batch, 5]) {
  hidden = linear(x, 4)
  return output = linear(tanh(hidden), 3)
}
"""),
    "convolution": ((2, 3, 2), """
model net(x: f32[batch, 2, 3, 2]) {
  hidden = conv(x, 4, [3, 2])
  return output = linear(tanh(flatten(hidden)), 3)
}
"""),
}
SMOOTHING = 0.2
WEIGHTS = [2, 0.5, 1]
POSITIVE = 3
LOSSES = (f"cross_entropy(net, label, label_smoothing = {SMOOTHING})", "mse(net, label)", "l1(net, label)",
          f"binary_cross_entropy(net, label, pos_weight = {POSITIVE})")
WEIGHTED = (f"cross_entropy(net, label, label_smoothing = {SMOOTHING}, "
            f"class_weights = {WEIGHTS})")


#===------------------------------------------------------------------------===#
# Matrices as lists of rows
#===------------------------------------------------------------------------===#

def multiply(a, b):
    columns = transpose(b)
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in columns]
            for row in a]


def transpose(a):
    return [list(row) for row in zip(*a)]


def outer(a, b):
    return [[x * y for y in b] for x in a]


def add(a, b, scale=1.0):
    return [[x + scale * y for x, y in zip(*rows)] for rows in zip(a, b)]


def make_zeros(rows, columns):
    return [[0.0] * columns for _ in range(rows)]


def get_norm(a):
    return math.sqrt(math.fsum(x * x for row in a for x in row))


def get_difference(a, b):
    return get_norm(add(a, b, -1.0)) / get_norm(b)


def unpack(packed):
    size = int((8 * len(packed) + 1) ** 0.5) // 2
    return [[packed[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)]
             for j in range(size)] for i in range(size)]


def kron(a, b):
    return [[x * y for x in first for y in second] for first in a for second in b]


#===------------------------------------------------------------------------===#
# A network with known derivatives
#===------------------------------------------------------------------------===#

class Network:
    """The parameters of the network's two layers, read from a checkpoint's tensors. Each
    row of a layer has an output's weights, followed by its bias."""

    def __init__(self, tensors):
        def read(name):
            _, (rows, *_), numbers = tensors[f"{name}.weight"]
            columns = len(numbers) // rows
            weight = [list(numbers[row * columns:(row + 1) * columns])
                      for row in range(rows)]
            return [row + [bias] for row, bias in
                    zip(weight, tensors[f"{name}.bias"][2])]

        self.hidden, self.output = read("hidden"), read("output")

    def run(self, x):
        """Returns the inputs of both layers, with a 1 appended for the bias, and the
        outputs."""
        first = [*x, 1.0]
        hidden = [math.tanh(row[0]) for row in
                  multiply(self.hidden, [[value] for value in first])]
        second = [*hidden, 1.0]
        outputs = multiply(self.output, [[value] for value in second])
        return {"hidden": first, "output": second}, [row[0] for row in outputs]

    def get_jacobians(self, inputs):
        """Returns, for each layer, the Jacobian of the network's outputs with respect to
        the layer's outputs, a matrix [network outputs, layer outputs]."""
        slopes = [1 - value * value for value in inputs["output"][:-1]]
        weight = [row[:-1] for row in self.output]
        return {"hidden": [[value * slope for value, slope in zip(row, slopes)]
                           for row in weight],
                "output": [[float(i == j) for j in range(len(weight))]
                           for i in range(len(weight))]}


def soften(outputs):
    largest = max(outputs)
    powers = [math.exp(value - largest) for value in outputs]
    return [power / sum(powers) for power in powers]


def get_fisher(loss, outputs, label):
    """Returns the expectation of g g^T for one sample, times the weights of its terms. Here
    g is the gradient of the loss with respect to the outputs, for targets drawn from the
    model's distribution."""
    if loss.startswith("cross_entropy"):
        weight = 1.0
        if loss == WEIGHTED:
            weight = ((1 - SMOOTHING) * WEIGHTS[label]
                      + SMOOTHING * sum(WEIGHTS) / len(WEIGHTS))
        shares = soften(outputs)
        return [[weight * p * (float(i == j) - q) for j, q in enumerate(shares)]
                for i, p in enumerate(shares)]
    if loss.startswith("mse"):
        values = [2.0] * len(outputs)
    elif loss.startswith("l1"):
        values = [1.0] * len(outputs)
    else:
        values = [(1 - t + POSITIVE * t) / (2 + math.exp(x) + math.exp(-x))
                  for x, t in zip(outputs, label)]
    return [[value * (i == j) for j in range(len(values))]
            for i, value in enumerate(values)]


#===------------------------------------------------------------------------===#
# Jobs
#===------------------------------------------------------------------------===#

def write_inputs(work, kind, count, repeated=False):
    """Writes `count` random samples, or one random sample `count` times, and returns
    them."""
    shape, _ = MODELS[kind]
    size = math.prod(shape)
    values = [2 * make_data.uniform(91, i) - 1
              for i in range(size * (1 if repeated else count))]
    if repeated:
        values *= count
    values = array.array("f", values)
    make_data.write_npy(work.folder / "x.npy", "<f4", values, (count, *shape))
    return [list(values[i * size:(i + 1) * size]) for i in range(count)]


def write_labels(work, code, values, shape):
    make_data.write_npy(work.folder / "label.npy", {"q": "<i8", "f": "<f4"}[code],
                        array.array(code, values), shape)


def train(work, name, kind, loss, steps, batch, clauses, *flags, every=None):
    """Trains with a learning rate so small that the parameters don't change. Returns the
    folder of the checkpoints."""
    job = MODELS[kind][1] + make_blocks(
        'x = npy("x.npy"), label = npy("label.npy")', loss,
        "sgd(lr = 1e-30)", steps, f"{batch}, shuffle = false", "net(x)", clauses)
    binary = work.compile(name, job, "--precision=f64")
    return work.train(binary, "--overwrite", *flags,
                      *(["--every", every] if every else []))


def check_exact(work, kind):
    x = write_inputs(work, kind, CLASSES, repeated=True)[0]
    write_labels(work, "q", range(CLASSES), (CLASSES,))
    folder = train(work, f"exact-{kind}", kind, "cross_entropy(net, label)", CLASSES,
                   1, "  precondition kfac(decay = 0, factor_every = 1, "
                   "inverse_every = 1)", every=1)
    steps = [read_safetensors(copy_file(checkpoint(folder, step + 1), 0))
             for step in range(CLASSES)]
    network = Network(steps[0])
    inputs, outputs = network.run(x)
    jacobians = network.get_jacobians(inputs)
    shares = soften(outputs)
    for layer, jacobian in jacobians.items():
        size = len(jacobian[0]) * len(inputs[layer])
        product, fisher = make_zeros(size, size), make_zeros(size, size)
        for label, share in enumerate(shares):
            a, g = (unpack(steps[label][f"{side}_factor/{layer}.weight"][2])
                    for side in ("input", "output"))
            product = add(product, kron(g, a), share)
            slope = [[p - float(i == label) for i, p in enumerate(shares)]]
            gradient = outer(multiply(slope, jacobian)[0], inputs[layer])
            flat = [value for row in gradient for value in row]
            fisher = add(fisher, outer(flat, flat), share)
        off = get_difference(product, fisher)
        print(f"exact: {kind}, {layer}: within {off:.1e} of the Fisher matrix")
        if not off <= EXACT:
            fail(f"{kind}: kron(A, G) of '{layer}' isn't the Fisher matrix' block")


def check_sampled(work, kind, loss):
    """Compares the mean of G over many steps with the exact Fisher matrix, in two copies
    with different seeds."""
    name = loss.partition("(")[0]
    samples = write_inputs(work, kind, SAMPLES)
    counts = [True] * SAMPLES
    if name == "cross_entropy":
        labels = [IGNORED if i == 2 else i % CLASSES for i in range(SAMPLES)]
        counts = [label != IGNORED for label in labels]
        write_labels(work, "q", labels, (SAMPLES,))
        terms = sum(WEIGHTS[label] if loss == WEIGHTED else 1
                    for label in labels if label != IGNORED)
    else:
        values = array.array("f", [make_data.uniform(92, i)
                                   for i in range(SAMPLES * CLASSES)])
        write_labels(work, "f", values, (SAMPLES, CLASSES))
        labels = [values[CLASSES * i:CLASSES * (i + 1)] for i in range(SAMPLES)]
        terms = SAMPLES * CLASSES
    folder = train(work, f"sampled-{kind}-{name}", kind, loss, DRAWS, SAMPLES,
                   "  seed [5, 6]\n  micro_batches 2\n"
                   "  precondition kfac(fisher = sampled, decay = 0.999999999, "
                   "factor_every = 1, inverse_every = 4096)")
    for copy in range(2):
        tensors = read_safetensors(copy_file(checkpoint(folder, DRAWS), copy))
        network = Network(tensors)
        exact = {}
        for x, label, isCounted in zip(samples, labels, counts):
            if not isCounted:
                continue
            inputs, outputs = network.run(x)
            of_outputs = get_fisher(loss, outputs, label)
            for layer, jacobian in network.get_jacobians(inputs).items():
                own = multiply(multiply(transpose(jacobian), of_outputs), jacobian)
                known = exact.get(layer) or make_zeros(len(own), len(own))
                exact[layer] = add(known, own, 1 / terms)
        for layer, wanted in exact.items():
            mean = unpack(tensors[f"output_factor/{layer}.weight"][2])
            off = get_difference(mean, wanted)
            print(f"sampled: {kind}, {name}, {layer}, copy {copy}: within "
                  f"{100 * off:.2f} %")
            if not off <= SAMPLED:
                fail(f"{kind}, {name}: the mean of G of '{layer}' isn't its "
                     f"expectation: {mean}, expected {wanted}")


def check_kept(work):
    """Checks after one step that sampled targets change only the preconditioned layers,
    their output factors and their inverses. The other layers moved by their plain
    gradients, which must be equal."""
    write_inputs(work, "dense", SAMPLES)
    write_labels(work, "q", [i % CLASSES for i in range(SAMPLES)], (SAMPLES,))
    found = {}
    for fisher in ("empirical", "sampled"):
        job = MODELS["dense"][1] + make_blocks(
            'x = npy("x.npy"), label = npy("label.npy")', "cross_entropy(net, label)",
            "sgd(lr = 0.1)", 1, SAMPLES, "net(x)",
            f'  precondition kfac(fisher = {fisher}, exclude = "output.*")')
        folder = work.train(work.compile(f"kept-{fisher}", job), "--overwrite")
        found[fisher] = read_safetensors(copy_file(checkpoint(folder, 1), 0))
    for name, (_, _, numbers) in found["empirical"].items():
        mine = [value.hex() for value in found["sampled"][name][2]]
        is_same = mine == [value.hex() for value in numbers]
        depends = name.startswith(("output_factor/", "output_inverse/",
                                   "input_inverse/", "hidden.", "velocity/hidden."))
        expect_equal(is_same, not depends,
                     f"whether '{name}' is the same where targets are drawn")


def main():
    work = Work(__doc__, "mlp")
    for kind in MODELS:
        check_exact(work, kind)
    for loss in LOSSES:
        check_sampled(work, "dense", loss)
    check_sampled(work, "convolution", WEIGHTED)
    check_kept(work)


if __name__ == "__main__":
    main()
