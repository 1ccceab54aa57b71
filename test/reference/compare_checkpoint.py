#!/usr/bin/env python3
"""Compares a checkpoint's trained weights with a golden file's "final".

    compare_checkpoint.py CHECKPOINT GOLDEN [--rtol R] [--atol A]

CHECKPOINT is a folder step-…, with a file copy-0000.safetensors etc. for each copy; GOLDEN
is one of make_golden.py's f64 files. Each parameter's mean and root mean square
must lie within A + R * |golden|. Exit status: 0 within the bounds, 1 beyond them
or when a tensor is missing, 2 when a file can't be read.
"""

import argparse
import array
import json
import math
import pathlib
import struct
import sys


CODES = {"F64": "d", "F32": "f", "F16": "e", "BF16": "f"}


def read_floats(data, dtype):
    """Returns an array of the little-endian floats in `data`. f16 and bf16, which is the
    upper half of an f32, are converted to f32."""
    if dtype == "BF16":
        data = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
    code = CODES[dtype]
    values = struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)
    return array.array("f" if code == "e" else code, values)


def read_safetensors(path):
    """Returns a map from names to flat arrays of a file's floating-point tensors."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__" or entry["dtype"] not in CODES:
            continue
        begin, end = entry["data_offsets"]
        values = read_floats(data[start + begin:start + end], entry["dtype"])
        tensors[name] = values
    return tensors


def summary(values):
    mean = math.fsum(values) / len(values)
    square = math.fsum(value * value for value in values) / len(values)
    return {"mean": mean, "rms": math.sqrt(square)}


def compare_copy(copy, tensors, final, options):
    """Prints the means and root mean squares that differ; returns their number."""
    wrong = 0
    for name, entry in final.items():
        if name not in tensors:
            print(f"copy {copy}: no tensor '{name}'")
            wrong += 1
            continue
        for key, got in summary(tensors[name]).items():
            want = entry[key][copy]
            if not abs(got - want) <= options.atol + options.rtol * abs(want):
                print(f"copy {copy}: {name}: {key}: got {got!r}, "
                      f"expected {want!r}")
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--rtol", type=float, default=1e-7,
                        help="default: %(default)s")
    parser.add_argument("--atol", type=float, default=1e-8,
                        help="default: %(default)s")
    options = parser.parse_args()

    wrong = 0
    try:
        golden = json.loads(options.golden.read_text(encoding="utf-8"))
        final = golden["final"]
        for copy in range(len(golden["copies"])):
            path = options.checkpoint / f"copy-{copy:04}.safetensors"
            wrong += compare_copy(copy, read_safetensors(path), final, options)
    except (OSError, KeyError, ValueError) as error:
        print(f"can't compare: {error!r}", file=sys.stderr)
        return 2
    print(f"{len(final)} parameters, {len(golden['copies'])} copies: "
          f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
