"""Reads checkpoints and reports how two of them differ. Needs only Python's
standard library."""

import array
import json
import sys

# Maps a type to the bytes of an element, and to the masks of its exponent and its
# fraction. A NaN has all bits of the exponent and some of the fraction.
FLOATS = {"F64": (8, 0x7FF << 52, (1 << 52) - 1),
          "F32": (4, 0xFF << 23, (1 << 23) - 1),
          "F16": (2, 0x1F << 10, (1 << 10) - 1),
          "BF16": (2, 0xFF << 7, (1 << 7) - 1)}
# Maps a type to its type code in Python's module `array`.
ARRAYS = {"F64": "d", "F32": "f"}


class Checkpoint:
    """The checkpoint file of one copy. `tensors` maps a name to (type, shape,
    bytes), `metadata` a key to its text."""

    def __init__(self, path):
        data = path.read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
        self.metadata = header.pop("__metadata__", {})
        self.tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            self.tensors[name] = (entry["dtype"], tuple(entry["shape"]),
                                  data[start + begin:start + end])


def elements_that_differ(dtype, mine, theirs):
    """Returns the indices of elements that differ. Two NaNs count as equal, and so
    do equal bytes."""
    size, exponent, fraction = FLOATS.get(dtype, (1, None, None))

    def is_nan(number):
        return exponent is not None and number & exponent == exponent \
            and number & fraction != 0

    found = []
    for i in range(0, len(mine), size):
        if mine[i:i + size] == theirs[i:i + size]:
            continue
        numbers = (int.from_bytes(side[i:i + size], "little")
                   for side in (mine, theirs))
        if not all(is_nan(number) for number in numbers):
            found.append(i // size)
    return found


def compare_tensor(before, after):
    """Returns a text about how two tensors differ, or None if they don't."""
    if before == after:
        return None
    for what, mine, theirs in zip(("type", "shape"), before, after):
        if mine != theirs:
            return f"{what} was {mine}, is {theirs}"
    dtype, _, mine = before
    if len(mine) != len(after[2]):
        return f"had {len(mine)} bytes, has {len(after[2])}"
    elements = elements_that_differ(dtype, mine, after[2])
    if not elements:
        return None
    count = len(mine) // FLOATS.get(dtype, (1,))[0]
    return f"{len(elements)} of {count} elements differ, first {elements[0]}"


def differences(before, after, compare):
    """Yields a line for each key that only one dictionary has, or for whose values
    `compare` returns a text."""
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield f"{name}: gone"
        elif name not in before:
            yield f"{name}: new"
        else:
            difference = compare(before[name], after[name])
            if difference:
                yield f"{name}: {difference}"


def numbers_of(dtype, data):
    numbers = array.array(ARRAYS[dtype], data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def relative_difference(before, after):
    """Returns the largest absolute difference of two tensors' elements, divided by the
    largest absolute value of the first tensor unless that is 0; or None unless both
    have the same shape and are of f32 or f64."""
    (dtype, _, mine), (_, _, theirs) = before, after
    if before[:2] != after[:2] or dtype not in ARRAYS or len(mine) != len(theirs):
        return None
    mine, theirs = numbers_of(dtype, mine), numbers_of(dtype, theirs)
    size = max(map(abs, mine), default=0)
    worst = max((abs(a - b) for a, b in zip(mine, theirs)), default=0)
    return worst / size if size else worst
