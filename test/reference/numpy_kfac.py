"""K-FAC in NumPy, directly by its formulas, as a reference for the compiler's. Networks are
PyTorch's; everything is computed in f64. Needs torch and numpy.

For each layer and step, let R be the number of rows r = (sample, position) of all
micro-batches, and W the number of terms of the step's mean loss L. a_r is the vector that
the layer multiplies with its weight (for a convolution, a patch), followed by a 1 if the
layer has a bias. g_r is the gradient of L with respect to the layer's output.

    A = 1/R sum a a^T      G = W sum g g^T      Grad = sum g a^T, the bias last
    due(s, p): s mod p = 0, or s < p and s is a power of two; s from 0
    w <- d w + 1;  F <- F + (new - F) / w
    pi = sqrt(mean diag A / mean diag G) over all blocks, 1 if either is 0
    V = (G + sqrt(damping) / pi I)^-1 Grad (A + sqrt(damping) pi I)^-1
    eigen: V = Qg [(Qg^T Grad Qa) / (dg da^T + damping)] Qa^T
    nu = min(1, sqrt(kl_clip / (lr^2 |sum of <V, Grad>|))), 1 if either is 0

With `reduce`, rows are samples: a is the mean over their positions, g the sum. A norm's
scale and bias have a 2x2 factor for each feature: W times the sum over samples of
[u u, u v; u v, v v], where u is the sum over positions of g times the normalized input, and
v that of g. Any other parameter has a diagonal: W times the sum of the squares of samples'
gradients. To both, the whole damping is added. A factor of more than `block` rows is
divided into the least number of equal diagonal blocks with at most so many rows; everything
outside of them is zero.

With `groups`, micro-batch m belongs to group m mod groups, and a layer's factors are
computed from the rows of one group, and scaled as if these were all rows. Layers are
assigned to groups in descending order of the sum of n^3 of their factors, each to the group
with the least sum so far. Layers that read the same input count as one.

With `sampled`, the g of all factors are gradients of the loss with targets that are drawn
from the outputs (drawn_targets.py).
"""

import fnmatch

import numpy
import torch
from torch import nn


class PerHead(nn.Module):
    """Multiplies [n, heads, positions, in] by a weight [heads, in, out]."""

    def __init__(self, heads, given, out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, given, out))

    def forward(self, x):
        return x @ self.weight


class Positions(nn.Module):
    """Adds the same learned values to each sample."""

    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape))

    def forward(self, x):
        return x + self.weight


TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


def is_due(step, period):
    return step % period == 0 or (step < period and step & (step - 1) == 0)


def second_moment(rows):
    """Returns the sum of outer products of rows [blocks, samples, positions, n]."""
    return numpy.einsum("bspi,bspj->bij", rows, rows)


def append_ones(rows):
    return numpy.concatenate([rows, numpy.ones((*rows.shape[:-1], 1))], -1)


def pack(blocks):
    """Returns the lower triangles of square matrices, row by row, as a flat array."""
    rows, columns = numpy.tril_indices(blocks.shape[-1])
    return blocks[:, rows, columns].reshape(-1)


def get_block_size(n, most):
    """Returns the size of the diagonal blocks of n rows: the least number of equal blocks
    of at most `most` rows. The last block may have fewer rows."""
    parts = -(-n // most)
    return -(-n // parts)


def mask_blocks(matrices, size):
    """Returns the matrices with zeros outside of diagonal blocks of `size` rows."""
    block = numpy.arange(matrices.shape[-1]) // size
    return numpy.where(block[:, None] == block, matrices, 0)


def pack_blocks(matrices, size, beyond=0.0):
    """Returns the lower triangles of all diagonal blocks as a flat array. If the last block
    has fewer rows, it is padded with `beyond` on the diagonal."""
    n = matrices.shape[-1]
    parts = []
    for matrix in matrices:
        for first in range(0, n, size):
            part = beyond * numpy.eye(size)
            rows = min(size, n - first)
            part[:rows, :rows] = matrix[first:first + rows, first:first + rows]
            parts.append(part)
    return pack(numpy.stack(parts))


def invert_damped(blocks, damping):
    return numpy.linalg.inv(blocks + damping * numpy.eye(blocks.shape[-1]))


#===------------------------------------------------------------------------===#
# Layers
#===------------------------------------------------------------------------===#

class Running:
    """A weighted running mean. Its weight is counted (w in the formulas), so that the first
    value isn't mixed with zeros."""

    def __init__(self):
        self.weight, self.mean = 0.0, 0.0

    def update(self, new, decay):
        self.weight = decay * self.weight + 1
        self.mean = self.mean + (new - self.mean) / self.weight


class Layer:
    """The base class of all kinds of layers. `names` are the names of the module's
    parameters that the layer preconditions. `uses` has a pair (input, output gradient) of
    the latest micro-batch for each use of the module."""

    def __init__(self, name, module, names, options):
        self.name, self.module, self.names = name, module, names
        self.options = options
        self.uses = []
        self.clear()

    def clear(self):
        self.sums = {}

    def add(self, key, value):
        self.sums[key] = self.sums.get(key, 0) + value

    @property
    def weight(self):
        return self.module.weight

    @property
    def bias(self):
        return self.module.bias if "bias" in self.names else None

    @property
    def parameters(self):
        return [getattr(self.module, name) for name in self.names]

    def sum_positions(self, values):
        """Returns the sums over positions, [samples, channels], of values with the shape of
        the module's output."""
        is_last = isinstance(self.module, (nn.Linear, nn.LayerNorm))
        channel = values.ndim - 1 if is_last else 1
        return values.sum(tuple(axis for axis in range(1, values.ndim)
                                if axis != channel))


class Factored(Layer):
    """A layer with Kronecker factors. Its gradient is viewed as [blocks, out, in], with a
    block for each group of a convolution or each head."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.factors = {"input": Running(), "output": Running()}
        self.inverse, self.basis, self.values, self.measured = {}, {}, {}, {}
        self.beyond = {}    # the diagonal of inverses in the padding of the last block
        self.shared = None  # an earlier layer that reads the same input
        self.group = None   # the group whose rows the factors are computed from; None: all
        self.share = 1      # the share of the micro-batches that belong to the group

    def see_input(self, x):
        """Returns the rows of the input, [blocks, samples, positions, in]."""
        kind = type(self.module)
        if kind is nn.Linear:
            return x.reshape(1, x.shape[0], -1, x.shape[-1])
        if kind is PerHead:
            return x.transpose(1, 0, 2, 3)
        return self.see_channels(x) if kind in TRANSPOSED else \
            self.see_patches(x)

    def see_channels(self, x):
        groups = self.module.groups
        return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1).transpose(
            1, 0, 3, 2)

    def see_patches(self, x):
        conv = self.module
        spatial = range(len(conv.kernel_size))
        x = numpy.pad(x, [(0, 0), (0, 0), *((p, p) for p in conv.padding)])
        sizes = [(x.shape[2 + i] - conv.dilation[i] * (conv.kernel_size[i] - 1) - 1)
                 // conv.stride[i] + 1 for i in spatial]
        taps = []
        for tap in numpy.ndindex(*conv.kernel_size):
            where = tuple(
                slice(tap[i] * conv.dilation[i],
                      tap[i] * conv.dilation[i] +
                      (sizes[i] - 1) * conv.stride[i] + 1, conv.stride[i])
                for i in spatial)
            taps.append(x[(slice(None), slice(None), *where)])
        samples = x.shape[0]
        patches = numpy.stack(taps, 2)  # samples, channels, taps, positions
        patches = patches.reshape(samples, conv.groups, -1, numpy.prod(sizes))
        return patches.transpose(1, 0, 3, 2)

    def see_output(self, g):
        kind = type(self.module)
        if kind is nn.Linear:
            return g.reshape(1, g.shape[0], -1, g.shape[-1])
        if kind is PerHead:
            return g.transpose(1, 0, 2, 3)
        return self.see_patches(g) if kind in TRANSPOSED else \
            self.see_channels(g)

    def measure(self):
        for x, g in self.uses:
            a, g = self.see_input(x), self.see_output(g)
            if self.bias is not None:
                a = append_ones(a)
            if self.options["sharing"] == "reduce":
                a, g = a.mean(2, keepdims=True), g.sum(2, keepdims=True)
            self.add("rows", a.shape[1] * a.shape[2])
            self.add("input", second_moment(a))
            self.add("output", second_moment(g))

    def get_block_size(self, side):
        return get_block_size(self.factors[side].mean.shape[-1],
                              self.options["block"])

    def count_cubes(self):
        """Returns the sum of n^3 of the layer's factors, for the choice of groups. A shared
        input factor counts only for the layer that owns it."""
        x, g = self.uses[0]
        return self.count_input(x) * (self.shared is None) + \
            self.count_matrices(self.see_output(g))

    def count_input(self, x):
        a = self.see_input(x)
        return self.count_matrices(a if self.bias is None else append_ones(a))

    @staticmethod
    def count_matrices(rows):
        return rows.shape[0] * rows.shape[-1] ** 3

    def update(self, terms, decay):
        new = {"input": self.sums["input"] / self.sums["rows"],
               "output": terms * self.sums["output"] / self.share}
        for side, factor in self.factors.items():
            size = get_block_size(new[side].shape[-1], self.options["block"])
            factor.update(mask_blocks(new[side], size), decay)

    def balance(self):
        a, g = (numpy.mean(numpy.diagonal(self.factors[side].mean, axis1=1,
                                          axis2=2))
                for side in ("input", "output"))
        ratio = numpy.sqrt(a / g) if a > 0 and g > 0 else 1.0
        return ratio if self.options["pi"] and numpy.isfinite(ratio) else 1.0

    def invert(self, damping):
        self.pi = self.balance()
        for side, factor in self.factors.items():
            self.measured[side] = factor.mean.copy()
            if self.options["method"] == "eigen":
                values, self.basis[side] = numpy.linalg.eigh(factor.mean)
                self.values[side] = numpy.maximum(values, 0)
            else:
                part = self.pi if side == "input" else 1 / self.pi
                added = numpy.sqrt(damping) * part
                self.inverse[side] = invert_damped(factor.mean, added)
                self.beyond[side] = 1 / added

    def get_gradient(self):
        """Returns the gradient as [blocks, out, in]; the bias is the last column."""
        grad = self.weight.grad.numpy()
        if type(self.module) is PerHead:
            grad = grad.transpose(0, 2, 1)
        elif type(self.module) in TRANSPOSED:
            groups = self.module.groups
            grad = grad.reshape(groups, grad.shape[0] // groups, -1).transpose(
                0, 2, 1)
        else:
            groups = getattr(self.module, "groups", 1)
            grad = grad.reshape(groups, grad.shape[0] // groups, -1)
        if self.bias is None:
            return grad
        bias = self.bias.grad.numpy().reshape(*grad.shape[:2], 1)
        return numpy.concatenate([grad, bias], -1)

    def precondition(self, damping):
        """Returns the preconditioned gradient V as a list with an array for each parameter,
        and its inner product with the gradient."""
        grad = self.get_gradient()
        if self.options["method"] == "eigen":
            qa, qg = self.basis["input"], self.basis["output"]
            turned = qg.transpose(0, 2, 1) @ grad @ qa
            turned = turned / (self.values["output"][:, :, None] *
                               self.values["input"][:, None, :] + damping)
            v = qg @ turned @ qa.transpose(0, 2, 1)
        else:
            v = self.inverse["output"] @ grad @ self.inverse["input"]
        product = float(numpy.sum(v * grad))
        result = []
        if self.bias is not None:
            result = [v[:, :, -1].reshape(-1)]
            v = v[:, :, :-1]
        if type(self.module) in (PerHead, *TRANSPOSED):
            v = v.transpose(0, 2, 1)
        return [v.reshape(self.weight.shape), *result], product

    def get_state(self):
        """Returns the layer's tensors in a checkpoint by name. With `eigen`, these are the
        products of basis, eigenvalues and transposed basis, as bases aren't unique."""
        state = {}
        for side, factor in self.factors.items():
            is_own = side != "input" or not self.shared
            size = self.get_block_size(side)
            if is_own:
                state[f"{side}_factor/{self.name}.weight"] = \
                    pack_blocks(factor.mean, size)
            if self.options["method"] == "eigen" and is_own:
                state[f"{side}_spectrum/{self.name}.weight"] = \
                    pack_blocks(self.measured[side], size)
            elif self.options["method"] != "eigen":
                state[f"{side}_inverse/{self.name}.weight"] = pack_blocks(
                    self.inverse[side], size, self.beyond[side])
        return state


class Embedding(Factored):
    """A layer whose inputs are indices. Its input factor is diagonal: how often each index
    occurs. Its eigenvectors are unit vectors, so its eigenvalues are updated whenever the
    factor is. Each lookup is a row, also with `reduce`."""

    def measure(self):
        for x, g in self.uses:
            counts = numpy.bincount(x.reshape(-1), minlength=self.weight.shape[0])
            self.add("rows", x.size)
            self.add("input", numpy.diag(counts.astype(float))[None])
            self.add("output", second_moment(self.see_output(g)))

    def count_input(self, x):
        """Returns the n^3 of the input factor: a diagonal counts as matrices of one row."""
        return self.weight.shape[0]

    def see_output(self, g):
        return g.reshape(1, g.shape[0], -1, g.shape[-1])

    def invert(self, damping):
        super().invert(damping)
        self.follow()

    def update(self, terms, decay):
        super().update(terms, decay)
        self.follow()

    def follow(self):
        if self.options["method"] == "eigen":
            self.values["input"] = numpy.diagonal(self.factors["input"].mean,
                                                  axis1=1, axis2=2)
            self.basis["input"] = numpy.eye(self.weight.shape[0])[None]

    def get_gradient(self):
        return self.weight.grad.numpy().T[None]

    def precondition(self, damping):
        (v, *_), product = super().precondition(damping)
        rows, width = self.weight.shape
        return [v.reshape(width, rows).T], product

    def get_state(self):
        state = super().get_state()
        state.pop(f"input_spectrum/{self.name}.weight", None)
        for kind, blocks in (("factor", self.factors["input"].mean),
                             ("inverse", self.inverse.get("input"))):
            key = f"input_{kind}/{self.name}.weight"
            if key in state:
                state[key] = numpy.diagonal(blocks[0])
        return state


class FeatureWise(Layer):
    """A layer without Kronecker factors: it has a small factor for each feature."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.factor = Running()

    def update(self, terms, decay):
        self.factor.update(terms * self.sums["factor"], decay)

    def invert(self, damping):
        pass

    def get_state(self):
        return {f"factor/{self.name}.{self.names[0]}":
                self.factor.mean.reshape(-1)}


class Norm(FeatureWise):
    """A norm's scale and bias, which have a 2x2 factor for each feature. If only one of the
    two is preconditioned, the factor is 1x1."""

    def measure(self):
        for x, g in self.uses:
            if isinstance(self.module, nn.LayerNorm):
                axes = (-1,)
            else:
                axes = (0, *range(2, x.ndim))
            mean = x.mean(axes, keepdims=True)
            variance = x.var(axes, keepdims=True)
            normalized = (x - mean) / numpy.sqrt(variance + self.module.eps)
            sums = [self.sum_positions(values) for name, values in
                    (("weight", g * normalized), ("bias", g))
                    if name in self.names]
            self.add("factor", numpy.stack(
                [(sums[row] * sums[column]).sum(0) for row in range(len(sums))
                 for column in range(row + 1)], -1))

    def precondition(self, damping):
        grads = [parameter.grad.numpy() for parameter in self.parameters]
        if len(grads) == 1:
            v = [grads[0] / (self.factor.mean[:, 0] + damping)]
        else:
            scale, bias = grads
            uu, uv, vv = self.factor.mean.T
            uu, vv = uu + damping, vv + damping
            determinant = uu * vv - uv * uv
            v = [(vv * scale - uv * bias) / determinant,
                 (uu * bias - uv * scale) / determinant]
        return v, sum(float(numpy.sum(a * b)) for a, b in zip(v, grads))


class Diagonal(FeatureWise):
    """A parameter with a diagonal factor: one that is added to each sample, or a bias that
    is added to each position."""

    def measure(self):
        for _, g in self.uses:
            if self.names == ["bias"]:
                g = self.sum_positions(g)
            self.add("factor", (g * g).sum(0))

    def precondition(self, damping):
        grad = self.parameters[0].grad.numpy()
        v = grad / (self.factor.mean + damping)
        return [v], float(numpy.sum(v * grad))


#===------------------------------------------------------------------------===#
# The method
#===------------------------------------------------------------------------===#

DEFAULTS = {"damping": 3e-3, "decay": 0.95, "factor_every": 10,
            "inverse_every": 100, "method": "cholesky", "pi": True,
            "sharing": "expand", "others": "unit", "embedding": "plain",
            "exclude": (), "block": 8192, "groups": None, "fisher": "empirical"}


LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, PerHead, *TRANSPOSED)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm)


def choose_kinds(module, names, options):
    """Returns pairs of a class of layers, and the names of the module's parameters that it
    preconditions. The gradients of other parameters aren't changed."""
    if isinstance(module, nn.Embedding):
        return [(Embedding, names)] * (options["embedding"] == "factored")
    others = options["others"] == "unit"
    if isinstance(module, LAYERS):
        # The rows of a transposed convolution are positions of its input, but the bias is
        # added at positions of the output. So it can't be a column of the weight.
        if "weight" in names and type(module) not in TRANSPOSED:
            return [(Factored, names)]
        kinds = [(Factored, ["weight"])] * ("weight" in names)
        return kinds + [(Diagonal, ["bias"])] * (others and "bias" in names)
    if isinstance(module, NORMS):
        return [(Norm, names)] * others
    return [(Diagonal, names)] * (others and isinstance(module, Positions))


class Kfac:
    """Preconditions the gradients of one model. In every step, callers run forward, the
    loss's backward and `measure` for each micro-batch, and then `step`."""

    def __init__(self, model, options):
        self.options = DEFAULTS | options
        self.model = model
        self.layers = []
        self.number, self.part = 0, 0
        self.inputs = {}
        for name, module in model.named_modules():
            names = [own for own, _ in module.named_parameters(recurse=False)
                     if not any(fnmatch.fnmatch(f"{name}.{own}", pattern)
                                for pattern in self.options["exclude"])]
            if not names:
                continue
            for kind, own in choose_kinds(module, names, self.options):
                layer = kind(name, module, own, self.options)
                self.layers.append(layer)
                module.register_forward_hook(
                    lambda module, inputs, output, layer=layer:
                    self.note(layer, inputs[0], output))

    def note(self, layer, value, output):
        output.retain_grad()
        layer.uses.append((value, output))
        if isinstance(layer, Factored):
            # Layers that read the same value share the input factor of the first of them.
            first = self.inputs.setdefault((id(value), layer.bias is None), layer)
            layer.shared = first if first is not layer else None

    def choose_groups(self):
        """Assigns the layers to groups, after the first micro-batch has shown the sizes of
        their factors."""
        together, sums = {}, {}
        for layer in self.layers:
            if not isinstance(layer, Factored):
                continue
            own = layer.shared or layer
            together.setdefault(own, []).append(layer)
            sums[own] = sums.get(own, 0) + layer.count_cubes()
        loads = [0] * self.options["groups"]
        for own in sorted(sums, key=sums.get, reverse=True):
            group = loads.index(min(loads))
            loads[group] += sums[own]
            for layer in together[own]:
                layer.group = group

    def go_back_again(self, loss):
        """Runs the backward of another loss, and keeps only its gradients with respect to
        layers' outputs. The gradients of parameters stay as they were."""
        kept = [(parameter, parameter.grad) for parameter in self.model.parameters()]
        for layer in self.layers:
            for _, output in layer.uses:
                output.grad = None
        for parameter, _ in kept:
            parameter.grad = None
        loss.backward()
        for parameter, grad in kept:
            parameter.grad = grad

    def measure(self):
        """Adds the second moments of a micro-batch to the layers' sums, if factors are
        due."""
        for layer in self.layers:
            layer.uses = [(value.detach().numpy(), output.grad.numpy())
                          for value, output in layer.uses]
        groups = self.options["groups"]
        if groups and self.number + self.part == 0:
            self.choose_groups()
        for layer in self.layers:
            group = getattr(layer, "group", None)
            if is_due(self.number, self.options["factor_every"]) and (
                    group is None or self.part % groups == group):
                layer.measure()
            layer.uses = []
        self.inputs = {}
        self.part += 1

    def step(self, terms, rate, damping):
        """Ends a step: updates the factors and inverses that are due, and replaces the
        gradients of parameters by the preconditioned ones times nu. Returns nu."""
        parts, self.part = self.part, 0
        for layer in self.layers:
            if getattr(layer, "group", None) is not None:
                own = range(layer.group, parts, self.options["groups"])
                layer.share = len(own) / parts
        for layer in self.layers:
            if is_due(self.number, self.options["factor_every"]):
                layer.update(terms, self.options["decay"])
            if is_due(self.number, self.options["inverse_every"]):
                layer.invert(damping)
            layer.clear()
        results = [layer.precondition(damping) for layer in self.layers]
        total = abs(sum(product for _, product in results))
        clip, scale = self.options["kl_clip"], 1.0
        if clip > 0 and total > 0 and rate != 0:
            scale = min(1.0, float(numpy.sqrt(clip / (rate * rate * total))))
        for layer, (values, _) in zip(self.layers, results):
            for parameter, value in zip(layer.parameters, values):
                parameter.grad = torch.from_numpy(
                    numpy.ascontiguousarray(scale * value).reshape(parameter.shape))
        self.number += 1
        return scale

    def get_state(self):
        state = {}
        for layer in self.layers:
            state |= layer.get_state()
        return state
