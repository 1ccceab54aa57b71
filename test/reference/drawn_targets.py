"""Draws the targets of a job with `fisher = sampled`, as a reference for the compiler. The
random numbers are Philox4x32-10's for a copy's seed, the step, the position of a sample in
the batch and that of an element in the sample. Needs numpy.

With u and v uniform in [0, 1), different for each element:

    cross_entropy, nll    the class with the largest score - log(-log u)
    mse                   output + sqrt(-log(1 - u)) cos(2 pi v)
    binary_cross_entropy  1 where u < sigmoid(output), else 0
"""

import numpy

STREAM = "hfta.drawn_target"
WORD = numpy.uint64(0xFFFFFFFF)
BITS = numpy.uint64(32)


def hash_name(name):
    """Returns the upper 63 bits of a name's FNV-1a hash of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % (1 << 64)
    return value >> 1


def philox(counter, key):
    """Returns the four words of Philox4x32-10 for each counter. A counter is given by four
    arrays of 32-bit words, the key by two words."""
    words = [numpy.asarray(word, dtype=numpy.uint64) for word in counter]
    for _ in range(10):
        first = words[0] * numpy.uint64(0xD2511F53)
        second = words[2] * numpy.uint64(0xCD9E8D57)
        words = [(second >> BITS) ^ words[1] ^ numpy.uint64(key[0]), second & WORD,
                 (first >> BITS) ^ words[3] ^ numpy.uint64(key[1]), first & WORD]
        key = [(key[0] + 0x9E3779B9) % (1 << 32), (key[1] + 0xBB67AE85) % (1 << 32)]
    return words


def draw_uniform(shape, seed, step, first_sample=0, suffix=""):
    """Returns numbers in [0, 1) with 53 random bits. Row i along axis 0 belongs to sample
    `first_sample` + i of the batch."""
    stream = hash_name(STREAM + suffix)
    count = int(numpy.prod(shape[1:]))
    sample, element = numpy.meshgrid(numpy.arange(shape[0]) + first_sample,
                                     numpy.arange(count), indexing="ij")
    words = philox((element, sample, step % (1 << 32), stream % (1 << 32)),
                   (seed % (1 << 32), (seed >> 32) ^ (stream >> 32)))
    bits = words[0] << BITS | words[1]
    return ((bits >> numpy.uint64(11)) * 2.0 ** -53).reshape(shape)


def draw_targets(kind, output, seed, step, first_sample=0):
    """Returns targets for a micro-batch's outputs, which are [samples, ..., classes] for
    class numbers, else [samples, ...]."""
    def draw(suffix=""):
        return draw_uniform(output.shape, seed, step, first_sample, suffix)

    with numpy.errstate(divide="ignore"):
        if kind == "mse":
            return output + numpy.sqrt(-numpy.log(1 - draw())) * numpy.cos(
                2 * numpy.pi * draw("/angle"))
        if kind == "binary_cross_entropy":
            return (draw() < 1 / (1 + numpy.exp(-output))).astype(float)
        return numpy.argmax(output - numpy.log(-numpy.log(draw())), -1)
