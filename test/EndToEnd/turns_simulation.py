"""A simulation of a generator and a discriminator that take turns, in plain Python with
gradients by reverse-mode differentiation, and the ONNX files of both. Needs only Python's
standard library."""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Hostile"))

from onnx_writer import graph, model, node, tensor, value  # noqa: E402  (from test/Hostile)

BATCH, STEPS, RATES = 4, 4, [0.02, 0.05]


def grid(a, b, modulus, middle, divisor, rows, columns):
    """Returns a matrix of numbers that f32 holds exactly."""
    return [[((a * (row * columns + column) + b) % modulus - middle) / divisor
             for column in range(columns)] for row in range(rows)]


IMAGES = grid(7, 0, 17, 8, 8, 2 * BATCH * STEPS, 3)
NOISE = grid(11, 2, 23, 11, 8, 2 * BATCH * STEPS, 2)
WEIGHTS = {
    "g": {"first": grid(17, 3, 29, 14, 16, 4, 2), "scale": grid(3, 4, 5, -6, 8, 1, 4),
          "shift": grid(3, 1, 5, 2, 32, 1, 4), "last": grid(17, 8, 29, 14, 16, 3, 4)},
    "d": {"first": grid(17, 13, 29, 14, 16, 5, 3), "scale": grid(3, 1, 5, -6, 8, 1, 5),
          "shift": grid(3, 2, 5, 2, 32, 1, 5), "last": grid(17, 18, 29, 14, 16, 1, 5)},
}


def write_networks(folder):
    for name, inputs, end in (("g", 2, "Tanh"), ("d", 3, "Identity")):
        def of(what, dims):
            return tensor(what, dims, sum(WEIGHTS[name][what], []))

        hidden = len(WEIGHTS[name]["first"])
        nodes = [
            node("Gemm", ["x", "first"], ["a"], transB=1),
            node("BatchNormalization", ["a", "scale", "shift", "mean", "var"],
                 ["n", "new_mean", "new_var"], epsilon=1e-5, momentum=0.9, training_mode=1),
            node("LeakyRelu", ["n"], ["h"], alpha=0.25),
            node("Gemm", ["h", "last"], ["z"], transB=1), node(end, ["z"], ["y"])]
        (folder / f"{name}.onnx").write_bytes(model(graph(
            nodes, [value("x", ["batch", inputs])], ["y"],
            [of("first", [hidden, inputs]), of("scale", [hidden]), of("shift", [hidden]),
             of("last", [len(WEIGHTS[name]["last"]), hidden]),
             tensor("mean", [hidden], [0.0] * hidden),
             tensor("var", [hidden], [1.0] * hidden)])))


def copy_rows(rows):
    return [list(row) for row in rows]


def zeros(rows):
    return [[0.0] * len(row) for row in rows]


class Value:
    """A matrix, the operation that has computed it, and its gradient."""

    def __init__(self, rows, inputs=(), back=None):
        self.rows, self.inputs, self.back = rows, inputs, back
        self.grad = zeros(rows)

    def add(self, slopes):
        self.grad = [[x + y for x, y in zip(*pair)] for pair in zip(self.grad, slopes)]


def backward(end, slopes):
    """Adds to the gradients of all values from which `end` was computed."""
    order, seen = [], set()

    def visit(one):
        if id(one) not in seen:
            seen.add(id(one))
            for other in one.inputs:
                visit(other)
            order.append(one)

    visit(end)
    end.add(slopes)
    for one in reversed(order):
        if one.back:
            one.back(one.grad)


def linear(x, weight):
    inputs = range(len(x.rows[0]))

    def back(grad):
        x.add([[sum(g * own[i] for g, own in zip(row, weight.rows)) for i in inputs]
               for row in grad])
        weight.add([[sum(g[o] * a[i] for g, a in zip(grad, x.rows)) for i in inputs]
                    for o in range(len(weight.rows))])

    return Value([[sum(a * b for a, b in zip(row, own)) for own in weight.rows]
                  for row in x.rows], (x, weight), back)


def tanh(x):
    out = Value([[math.tanh(a) for a in row] for row in x.rows], (x,))
    out.back = lambda grad: x.add([[g * (1 - y * y) for g, y in zip(*rows)]
                                   for rows in zip(grad, out.rows)])
    return out


def leaky(x):
    def back(grad):
        x.add([[g if a > 0 else 0.25 * g for g, a in zip(*rows)]
               for rows in zip(grad, x.rows)])

    return Value([[a if a > 0 else 0.25 * a for a in row] for row in x.rows], (x,), back)


def normalize(x, scale, shift, running):
    """Batch normalization in training. Updates the running statistics as PyTorch does."""
    count, columns = len(x.rows), list(zip(*x.rows))
    means = [sum(column) / count for column in columns]
    variances = [sum((a - m) ** 2 for a in column) / count
                 for column, m in zip(columns, means)]
    for name, batch in (("mean", means), ("var", [v * count / (count - 1)
                                                  for v in variances])):
        running[name] = [0.9 * old + 0.1 * new for old, new in zip(running[name], batch)]
    inverses = [1 / math.sqrt(v + 1e-5) for v in variances]
    hats = [[(a - m) * i for a, m, i in zip(row, means, inverses)] for row in x.rows]

    def back(grad):
        sums = [sum(column) for column in zip(*grad)]
        products = [sum(g * h for g, h in zip(*pair))
                    for pair in zip(zip(*grad), zip(*hats))]
        shift.add([sums])
        scale.add([products])
        x.add([[s * i * (g - a / count - h * b / count) for s, i, g, h, a, b in zip(
            scale.rows[0], inverses, *rows, sums, products)] for rows in zip(grad, hats)])

    return Value([[h * s + b for h, s, b in zip(hat, scale.rows[0], shift.rows[0])]
                  for hat in hats], (x, scale, shift), back)


def find_entropy(x, label, share):
    """Returns the mean binary cross entropy, times `share`, and its gradient."""
    factor = share / len(x.rows)
    loss = sum(max(a, 0) - a * label + math.log1p(math.exp(-abs(a))) for (a,) in x.rows)
    return factor * loss, [[factor * (1 / (1 + math.exp(-a)) - label)] for (a,) in x.rows]


class Networks:
    """Both networks of one copy. Adam updates the discriminator, with the rate `rate`, and
    SGD with momentum the generator. `weight` is that of the loss of generated images, and
    `most` the largest norm of a turn's gradients."""

    def __init__(self, rate, weight, most=math.inf):
        self.rate, self.weight, self.most, self.updates = rate, weight, most, 0
        self.values = {net: {name: Value(copy_rows(rows)) for name, rows in own.items()}
                       for net, own in WEIGHTS.items()}
        self.running = {net: {"mean": [0.0] * len(own["first"]),
                              "var": [1.0] * len(own["first"])}
                        for net, own in WEIGHTS.items()}
        self.first, self.second = ({net: {name: zeros(rows) for name, rows in own.items()}
                                    for net, own in WEIGHTS.items()} for _ in range(2))

    def get_tensors(self):
        """Returns the numbers of each tensor of a checkpoint."""
        tensors = {f"{net}.{name}": numbers for net, own in self.running.items()
                   for name, numbers in own.items()}
        for net, own in self.values.items():
            tensors.update((f"{net}.{name}", sum(value.rows, []))
                           for name, value in own.items())
        return tensors

    def call(self, net, x):
        own = self.values[net]
        hidden = leaky(normalize(linear(x, own["first"]), own["scale"], own["shift"],
                                 self.running[net]))
        result = linear(hidden, own["last"])
        return tanh(result) if net == "g" else result

    def take_gradients(self, net):
        """Returns the gradients of a network, and clears those of both."""
        taken = {name: value.grad for name, value in self.values[net].items()}
        for own in self.values.values():
            for one in own.values():
                one.grad = zeros(one.rows)
        return taken

    def update(self, net, grads):
        self.updates += net == "d"
        norm = math.sqrt(sum(g * g for rows in grads.values() for row in rows for g in row))
        scale = min(1, self.most / (norm + 1e-6))
        grads = {name: [[scale * g for g in row] for row in rows]
                 for name, rows in grads.items()}
        for name, one in self.values[net].items():
            for p, g, m, v in zip(one.rows, grads[name], self.first[net][name],
                                  self.second[net][name]):
                for i, slope in enumerate(g):
                    if net == "g":
                        m[i] = 0.5 * m[i] + slope
                        p[i] -= 0.05 * m[i]
                        continue
                    m[i] = 0.5 * m[i] + 0.5 * slope
                    v[i] = 0.75 * v[i] + 0.25 * slope * slope
                    root = math.sqrt(v[i] / (1 - 0.75 ** self.updates))
                    p[i] -= self.rate * m[i] / (1 - 0.5 ** self.updates) / (root + 1e-8)

    def turn_of_d(self, images, noise, share):
        """Adds the gradients of one micro-batch. Returns both losses and the generated
        images."""
        on_real, fake = self.call("d", Value(images)), self.call("g", Value(noise))
        on_fake = self.call("d", Value(fake.rows))
        real, slopes = find_entropy(on_real, 0.875, share)
        backward(on_real, slopes)
        false, slopes = find_entropy(on_fake, 0, share)
        if self.weight:
            backward(on_fake, [[self.weight * s for s in row] for row in slopes])
        return [real, false], fake

    def step(self, images, noise, times, parts, together):
        """Takes a step, in which the discriminator has `times` turns, each of which goes
        through `parts` micro-batches. Returns its losses: two of each turn of the
        discriminator, and that of the generator."""
        losses, pending, size = [], [], BATCH // parts

        def finish(net):
            grads = self.take_gradients(net)
            if together:
                pending.append((net, grads))
            else:
                self.update(net, grads)

        for turn in range(times):
            kept, sums = [], [0, 0]
            for at in range(turn * BATCH, (turn + 1) * BATCH, size):
                own, fake = self.turn_of_d(images[at:at + size], noise[at:at + size],
                                           1 / parts)
                kept.append(fake)
                sums = [x + y for x, y in zip(sums, own)]
            losses += sums
            finish("d")
        losses.append(0)
        for fake in kept:
            after = self.call("d", fake)
            loss, slopes = find_entropy(after, 1, 1 / parts)
            losses[-1] += loss
            backward(after, slopes)
        finish("g")
        for net, grads in pending:
            self.update(net, grads)
        return losses
