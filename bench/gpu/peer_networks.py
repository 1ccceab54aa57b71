"""The networks of bench/gpu/jobs, each written once for all the ways in which peers.py
computes it: one model in PyTorch or JAX, or models fused as HFTA does it. A network is a
function of `o`, an object with the layers as methods, and of its inputs. Layers take their
parameters in the order of the calls, which is the order of the job's statements."""

import dataclasses

# Ways to fill a field. IMAGE: random reals, whose channels are repeated for each model when
# models are fused. REAL: other random reals. BYTE: random integers from 0 to 255. CLASS:
# class numbers, all of them 0.
IMAGE, REAL, BYTE, CLASS = "image", "real", "byte", "class"


@dataclasses.dataclass
class Network:
    apply: object  # a function of the layers and the inputs
    batch: int
    inputs: list   # pairs of (filling, a sample's shape)
    label: tuple
    loss: str = "cross_entropy"  # or binary_cross_entropy


def mlp(o, image):
    x = o.gelu(o.linear(o.flatten(image), 1024))
    for _ in range(4):
        x = o.layer_norm(o.gelu(o.linear(x, 1024)))
    return o.linear(x, 10)


def cnn(o, image):
    x = image
    for channels in (16, 32):
        x = o.max_pool(o.relu(o.conv(x, channels, 3, padding=1, bias=True)), (2, 2))
    return o.linear(o.relu(o.linear(o.flatten(x), 128)), 10)


def pointnet(o, image):
    x = image
    for channels in (64, 64, 64, 128, 1024):
        x = o.relu(o.batch_norm(o.conv(x, channels, 1, bias=True)))
    x = o.flatten(o.max_pool(x, (2500, 1)))
    for features in (512, 256):
        x = o.relu(o.row_batch_norm(o.linear(x, features)))
    return o.linear(x, 16)


def resnet(o, image):
    x, given = o.relu(o.batch_norm(o.conv(image, 64, 3, padding=1))), 64
    for channels in (64, 128, 256, 512):
        for stride in (1 if channels == 64 else 2, 1):
            y = o.relu(o.batch_norm(o.conv(x, channels, 3, stride, 1)))
            y = o.batch_norm(o.conv(y, channels, 3, padding=1))
            if stride > 1 or channels != given:
                x = o.batch_norm(o.conv(x, channels, 1, stride))
            x, given = o.relu(y + x), channels
    return o.linear(o.flatten(o.max_pool(x, (4, 4))), 10)


def dcgan(o, image):
    """The discriminator of DCGAN."""
    x = o.leaky_relu(o.conv(image, 64, 4, 2, 1))
    for channels in (128, 256, 512):
        x = o.leaky_relu(o.batch_norm(o.conv(x, channels, 4, 2, 1)))
    return o.flatten(o.conv(x, 1, 4))[..., 0]


# Blocks of MobileNetV3-Large (Howard et al., 2019): kernel size, expanded channels, output
# channels, whether it has squeeze-and-excitation and h-swish, and the stride.
MOBILE_BLOCKS = [
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1), (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1)]


def mobilenet(o, image):
    x, given = o.hardswish(o.batch_norm(o.conv(image, 16, 3, 2, 1))), 16
    for kernel, wide, out, squeezes, swish, stride in MOBILE_BLOCKS:
        activate = o.hardswish if swish else o.relu
        y = x if wide == given else activate(o.batch_norm(o.conv(x, wide, 1)))
        y = o.conv(y, wide, kernel, stride, kernel // 2, groups=wide)
        y = activate(o.batch_norm(y))
        if squeezes:
            scale = o.relu(o.linear(o.mean_positions(y), wide // 4))
            y = o.scale_channels(y, o.hardsigmoid(o.linear(scale, wide)))
        y = o.batch_norm(o.conv(y, out, 1))
        x, given = y + x if stride == 1 and given == out else y, out
    x = o.hardswish(o.batch_norm(o.conv(x, 960, 1)))
    return o.linear(o.hardswish(o.linear(o.mean_positions(x), 1280)), 10)


def encode(o, x, mask, layers, heads, wide, activate):
    """Applies encoder layers of a Transformer, with norms after the residual sums."""
    width = x.shape[-1]
    for _ in range(layers):
        query, key, value = (o.linear(x, width) for _ in range(3))
        y = o.linear(o.attention(query, key, value, heads, mask), width)
        x = o.layer_norm(x + y)
        y = o.linear(activate(o.linear(x, wide)), width)
        x = o.layer_norm(x + y)
    return x


def transformer(o, tokens, places, mask):
    x = o.embedding(tokens, 33278, 128) * 11.3137085 + o.embedding(places, 256, 128)
    return o.linear(encode(o, x, mask, 2, 2, 128, o.relu), 33278)


def bert(o, tokens, places, mask):
    x = o.layer_norm(o.embedding(tokens, 30522, 512) + o.embedding(places, 256, 512))
    x = encode(o, x, mask, 8, 8, 2048, o.gelu)
    return o.linear(o.tanh(o.linear(o.mean_rows(x), 512)), 2)


def classify_images(apply, batch, shape):
    return Network(apply, batch, [(IMAGE, shape)], (CLASS, ()))


def read_words(apply, batch, length, mask, label):
    words = (BYTE, (length,))
    return Network(apply, batch, [words, words, (REAL, mask)], label)


NETWORKS = {
    "mlp": classify_images(mlp, 128, (1, 32, 32)),
    "cnn": classify_images(cnn, 64, (1, 28, 28)),
    "pointnet": classify_images(pointnet, 32, (3, 2500, 1)),
    "resnet": classify_images(resnet, 32, (3, 32, 32)),
    "dcgan": Network(dcgan, 128, [(IMAGE, (3, 64, 64))], (REAL, ()),
                     "binary_cross_entropy"),
    "mobilenet": classify_images(mobilenet, 1024, (3, 32, 32)),
    "transformer": read_words(transformer, 32, 32, (1, 32, 32), (BYTE, (32,))),
    "bert": read_words(bert, 32, 128, (1, 1, 128), (CLASS, ())),
}
