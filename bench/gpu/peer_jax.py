"""Steps of the networks of peer_networks.py in JAX: by jit, one model after another, and
by vmap. Needs JAX and PyTorch, which draws the parameters."""

import os

# By default, XLA reserves most of the GPU's memory at the start. This makes it allocate
# memory as needed, like PyTorch.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
from jax import lax, numpy  # noqa: E402

RATE, MOMENTUM = 1e-4, 0.9
EPSILON = 1e-5
PRECISIONS = {"f32": "highest", "tf32": "tensorfloat32", "bf16": "default"}


def widen(x):
    """Converts to at least f32, the type in which norms and losses are computed."""
    return x.astype(numpy.promote_types(x.dtype, numpy.float32))


class JaxLayers:
    """The layers of one model, with the interface of peer_layers.TorchLayers."""

    def __init__(self, values):
        self.values = iter(values)

    relu = staticmethod(jax.nn.relu)
    tanh = staticmethod(numpy.tanh)
    hardswish = staticmethod(jax.nn.hard_swish)
    hardsigmoid = staticmethod(jax.nn.hard_sigmoid)

    @staticmethod
    def gelu(x):
        return jax.nn.gelu(x, approximate=False)

    @staticmethod
    def leaky_relu(x):
        return jax.nn.leaky_relu(x, 0.2)

    def flatten(self, x):
        return x.reshape(x.shape[0], -1)

    def mean_positions(self, x):
        return x.mean((2, 3))

    def mean_rows(self, x):
        return x.mean(-2)

    def scale_channels(self, x, scale):
        return x * scale[..., None, None]

    def linear(self, x, outputs):  # pylint: disable=unused-argument
        return x @ next(self.values).T + next(self.values)

    def conv(self, x, outputs, kernel, stride=1, padding=0, groups=1, bias=False):
        del outputs, kernel
        y = lax.conv_general_dilated(x, next(self.values), (stride, stride),
                                     [(padding, padding)] * 2, feature_group_count=groups)
        return y + next(self.values)[:, None, None] if bias else y

    def max_pool(self, x, kernel):
        window = (1, 1, *kernel)
        return lax.reduce_window(x, -numpy.inf, lax.max, window, window, "VALID")

    def normalize(self, x, axes):
        wide = widen(x)
        mean = wide.mean(axes, keepdims=True)
        variance = wide.var(axes, keepdims=True)
        return ((wide - mean) * lax.rsqrt(variance + EPSILON)).astype(x.dtype)

    def batch_norm(self, x):
        shape = (-1, *[1] * (x.ndim - 2))
        y = self.normalize(x, (0, *range(2, x.ndim)))
        return y * next(self.values).reshape(shape) + next(self.values).reshape(shape)

    row_batch_norm = batch_norm

    def layer_norm(self, x):
        return self.normalize(x, -1) * next(self.values) + next(self.values)

    def embedding(self, words, count, width):  # pylint: disable=unused-argument
        return next(self.values)[words]

    def attention(self, query, key, value, heads, mask):
        def split(x):
            return x.reshape(*x.shape[:-1], heads, -1)

        # dot_product_attention expects [batch, rows, heads, features].
        mixed = jax.nn.dot_product_attention(split(query), split(key), split(value),
                                             bias=mask.astype(query.dtype))
        return mixed.reshape(query.shape)

    def loss(self, kind, output, label):
        output = widen(output)
        if kind == "binary_cross_entropy":
            return numpy.mean(jax.nn.softplus(output) - label * output)
        chosen = numpy.take_along_axis(jax.nn.log_softmax(output), label[..., None], -1)
        return -chosen.mean()


def make_loss(task):
    """Returns the function that computes one model's loss from its parameters, the inputs
    and the label."""
    narrow = numpy.bfloat16 if task.precision == "bf16" else numpy.float32

    def cast(values):
        return [value.astype(narrow) if value.dtype == numpy.float32 else value
                for value in values]

    def loss(values, inputs, label):
        layers = JaxLayers(cast(values))
        output = task.network.apply(layers, *cast(inputs))
        return layers.loss(task.network.loss, output, label)
    return loss


def to_jax(tensors):
    return [numpy.asarray(tensor.detach().cpu().numpy()) for tensor in tensors]


class JaxStep:
    """A function object that trains all copies for one step of SGD with momentum: by vmap
    if `at_once`, else one after another."""

    def __init__(self, task, at_once):
        jax.config.update("jax_default_matmul_precision", PRECISIONS[task.precision])
        *self.inputs, self.label = to_jax([*task.inputs, task.label])
        self.models = [to_jax(values) for values in task.models]
        gradient = jax.grad(make_loss(task))
        if at_once:
            self.models = [[numpy.stack(values) for values in zip(*self.models)]]
            gradient = jax.vmap(gradient, in_axes=(0, None, None))
        self.velocities = [[numpy.zeros_like(value) for value in values]
                           for values in self.models]

        def step(values, velocities, inputs, label):
            gradients = gradient(values, inputs, label)
            velocities = [MOMENTUM * v + g for v, g in zip(velocities, gradients)]
            return [w - RATE * v for w, v in zip(values, velocities)], velocities

        self.step = jax.jit(step, donate_argnums=(0, 1))

    def __call__(self):
        for copy, values in enumerate(self.models):
            self.models[copy], self.velocities[copy] = self.step(
                values, self.velocities[copy], self.inputs, self.label)

    def synchronize(self):
        jax.block_until_ready(self.models)


def by_jax(task):
    step = JaxStep(task, at_once=False)
    return step, step.synchronize


def by_jax_vmap(task):
    step = JaxStep(task, at_once=True)
    return step, step.synchronize
