"""Reads as much of ONNX's protobuf messages as its node tests need, with
Python's standard library alone."""

import array
import dataclasses
import struct
import sys

FLOAT, INT64, DOUBLE = 1, 7, 11
TYPE_CODES = {FLOAT: "f", INT64: "q", DOUBLE: "d"}


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def read_fields(data):
    """Yields (number, wire type, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at:at + size], at + size
        elif wire == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire} of field {number}")
        yield number, wire, value


def to_signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def read_integers(wire, value):
    """The values of one occurrence of a repeated int64 field."""
    if wire == 0:
        return [to_signed(value)]
    integers, at = [], 0
    while at < len(value):
        integer, at = read_varint(value, at)
        integers.append(to_signed(integer))
    return integers


def read_numbers(code, data):
    """Numbers of a struct's format code, little-endian."""
    numbers = array.array(code, bytes(data))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@dataclasses.dataclass
class Tensor:
    type: int
    shape: tuple
    numbers: array.array


def read_tensor(data):
    """A TensorProto. None if its element type isn't in TYPE_CODES."""
    shape, element_type, raw = [], 0, None
    listed = []
    for number, wire, value in read_fields(data):
        if number == 1:
            shape += read_integers(wire, value)
        elif number == 2:
            element_type = value
        elif number == 4:
            listed += struct.unpack(f"<{len(value) // 4}f", value)
        elif number == 7:
            listed += read_integers(wire, value)
        elif number == 9:
            raw = value
        elif number == 10:
            listed += struct.unpack(f"<{len(value) // 8}d", value)
    if element_type not in TYPE_CODES:
        return None
    code = TYPE_CODES[element_type]
    numbers = array.array(code, listed)
    if raw is not None:
        numbers = read_numbers(code, raw)
    return Tensor(element_type, tuple(shape), numbers)


@dataclasses.dataclass
class Node:
    op: str
    inputs: list
    domain: str


@dataclasses.dataclass
class Graph:
    nodes: list
    inputs: list
    outputs: list
    initializers: int


def read_node(data):
    node = Node("", [], "")
    for number, _, value in read_fields(data):
        if number == 1:
            node.inputs.append(value.decode())
        elif number == 4:
            node.op = value.decode()
        elif number == 7:
            node.domain = value.decode()
    return node


def read_name(data):
    for number, _, value in read_fields(data):
        if number == 1:
            return value.decode()
    return ""


def read_graph(model):
    """The graph of a ModelProto."""
    graph = Graph([], [], [], 0)
    for number, _, value in read_fields(model):
        if number != 7:
            continue
        for inner, _, part in read_fields(value):
            if inner == 1:
                graph.nodes.append(read_node(part))
            elif inner == 5:
                graph.initializers += 1
            elif inner == 11:
                graph.inputs.append(read_name(part))
            elif inner == 12:
                graph.outputs.append(read_name(part))
    return graph
