#!/usr/bin/env python3
"""Writes the data sets of the golden runs as .npy files; needs only Python.

Every number comes from one integer hash, in 32-bit unsigned arithmetic:

    mix(x):  x ^= x >> 16;  x *= 0x7feb352d
             x ^= x >> 15;  x *= 0x846ca68b
             x ^= x >> 16
    hash(seed, i) = mix(i * 2654435761 + mix(seed))
    uniform(seed, i) = (hash(seed, i) >> 8) / 2^24        in [0, 1), exact in f32

A data set has 320 samples: 20 steps of 16, in the order of the file. With s the
sample, p its pixel in row-major order, and q the first pixel of the block of
pixels (4x4 for cnn, 1x1 for mlp) that p lies in:

    label[s] = hash(label_seed, s) mod 10
    noise = hash(noise_seed, s * pixels + p) >> 24
    template = hash(template_seed, label[s] * pixels + q) >> 24
    value[s, p] = (2 * template + noise) / 3, rounded down

    cnn   cnn-image.npy  u8  [320, 1, 28, 28]  value (the job divides by 255)
          cnn-label.npy  u8  [320]             seeds: label 1, template 2, noise 3
    mlp   mlp-image.npy  f32 [320, 1, 8, 8]    value / 128 - 1
          mlp-label.npy  i64 [320]             seeds: label 4, template 5, noise 6
"""

import argparse
import array
import pathlib
import sys

SAMPLES = 320
CLASSES = 10
MASK = 0xFFFFFFFF


def mix(x):
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    return x ^ (x >> 16)


def hash32(seed, i):
    return mix((i * 2654435761 + mix(seed)) & MASK)


def uniform(seed, i):
    return (hash32(seed, i) >> 8) / 16777216.0


def labels(seed):
    return [hash32(seed, s) % CLASSES for s in range(SAMPLES)]


def values(label, template_seed, noise_seed, side, block):
    pixels = side * side
    corner = [(p // side // block * side + p % side // block) * block
              for p in range(pixels)]
    template = [hash32(template_seed, i) >> 24
                for i in range(CLASSES * pixels)]
    result = []
    for s, c in enumerate(label):
        for p in range(pixels):
            noise = hash32(noise_seed, s * pixels + p) >> 24
            result.append((2 * template[c * pixels + corner[p]] + noise) // 3)
    return result


def cnn_data():
    """Returns images (integers from 0 to 255) and labels as flat lists."""
    label = labels(1)
    return values(label, 2, 3, 28, 4), label


def mlp_data():
    """Returns images (multiples of 1/128 in [-1, 1)) and labels as flat lists."""
    label = labels(4)
    return [v / 128.0 - 1.0 for v in values(label, 5, 6, 8, 1)], label


def write_npy(path, code, numbers, shape):
    """Writes a version 1.0 .npy file; `code` is NumPy's code of the element type."""
    item = {"|u1": "B", "<f4": "f", "<f8": "d", "<i8": "q"}[code]
    data = array.array(item, numbers)
    if sys.byteorder == "big":
        data.byteswap()
    text = ", ".join(str(extent) for extent in shape)
    text += "," if len(shape) == 1 else ""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        code, text)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00")
        file.write(len(header).to_bytes(2, "little"))
        file.write(header.encode("latin-1"))
        file.write(data.tobytes())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path, help="where to write")
    parser.add_argument("sets", nargs="*", metavar="set",
                        help="cnn, mlp (default: both)")
    options = parser.parse_args()
    sets = options.sets or ["cnn", "mlp"]
    for name in sets:
        if name not in ("cnn", "mlp"):
            parser.error(f"unknown data set '{name}': expected cnn or mlp")

    options.directory.mkdir(parents=True, exist_ok=True)
    for name in sets:
        image, label = cnn_data() if name == "cnn" else mlp_data()
        code, side = ("|u1", 28) if name == "cnn" else ("<f4", 8)
        write_npy(options.directory / f"{name}-image.npy", code, image,
                  [SAMPLES, 1, side, side])
        write_npy(options.directory / f"{name}-label.npy",
                  "|u1" if name == "cnn" else "<i8", label, [SAMPLES])


if __name__ == "__main__":
    main()
