"""Makes ONNX files, correct and wrong ones. Needs only Python's standard library.

Functions encode protobuf fields without checking them, so that tests can break
every rule of the format. Field numbers are those of onnx.proto."""

import struct

FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """Returns an encoded protobuf field with an integer, a float, a text or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


class Message(bytes):
    """An encoded protobuf message. If it is an attribute's value, `kind` tells a tensor
    from a graph."""

    def __new__(cls, kind, *parts):
        message = super().__new__(cls, b"".join(parts))
        message.kind = kind
        return message


def tensor(name, dims, numbers=None, type=FLOAT, raw=None, external=None,
           more=b""):
    """Returns a TensorProto. `external` has the entries of its external data."""
    parts = [fields(1, dims), field(2, type), field(8, name), more]
    if raw is not None:
        parts.append(field(9, raw))
    elif external is not None:
        parts += [field(13, field(1, key) + field(2, text))
                  for key, text in external.items()] + [field(14, 1)]
    elif type == FLOAT:
        parts.append(field(4, struct.pack(f"<{len(numbers)}f", *numbers)))
    elif type == STRING:
        parts.append(fields(6, numbers))
    else:
        parts.append(fields(7 if type == INT64 else 5, numbers))
    return Message("tensor", *parts)


def integers(name, numbers):
    return tensor(name, [len(numbers)], numbers, type=INT64)


def zeros(name, *dims):
    count = 1
    for size in dims:
        count *= size
    return tensor(name, dims, raw=bytes(4 * count))


def attribute(name, value):
    """Returns an AttributeProto whose type follows from the value's."""
    if isinstance(value, int):
        parts = field(3, value), field(20, 2)
    elif isinstance(value, float):
        parts = field(2, value), field(20, 1)
    elif isinstance(value, str):
        parts = field(4, value), field(20, 3)
    elif isinstance(value, Message):
        parts = ((field(5, value), field(20, 4)) if value.kind == "tensor" else
                 (field(6, value), field(20, 5)))
    elif value and isinstance(value[0], float):
        parts = fields(7, value), field(20, 6)
    else:
        parts = fields(8, value), field(20, 7)
    return field(1, name) + b"".join(parts)


def node(op, inputs, outputs, name=None, domain="", references=(), **attributes):
    """Returns a NodeProto. Its default name is the operator's in lower case."""
    return Message("node", fields(1, inputs), fields(2, outputs),
                   field(3, op.lower() if name is None else name), field(4, op),
                   field(7, domain) if domain else b"",
                   *(field(5, attribute(key, value))
                     for key, value in attributes.items()), fields(5, references))


def value(name, dims=None, type=FLOAT):
    """Returns the ValueInfoProto of a tensor. Each of `dims` is a size or a name."""
    shape = b""
    if dims is not None:
        shape = field(2, b"".join(
            field(1, field(1 if isinstance(size, int) else 2, size))
            for size in dims))
    return Message("value", field(1, name),
                   field(2, field(1, field(1, type) + shape)))


def graph(nodes, inputs=(), outputs=(), tensors=(), more=b""):
    """Returns a GraphProto. Inputs and outputs are ValueInfoProtos or names."""
    def ports(number, given):
        return fields(number, [port if isinstance(port, bytes) else
                               value(port) for port in given])
    return Message("graph", fields(1, nodes), field(2, "test"),
                   fields(5, tensors), ports(11, inputs), ports(12, outputs),
                   more)


def model(content, opset=17, ir_version=8, domains=(), more=b""):
    """Returns a ModelProto with the GraphProto `content`, or without a graph."""
    return (field(1, ir_version) +
            (b"" if content is None else field(7, content)) +
            (b"" if opset is None else field(8, field(1, "") + field(2, opset)))
            + b"".join(field(8, field(1, domain) + field(2, 1))
                       for domain in domains) + more)


def reference(name, meant):
    """Returns an AttributeProto of a node in a function. It refers to the function's
    attribute `meant`, a float, which a call gives."""
    return field(1, name) + field(20, 1) + field(21, meant)


def function(name, inputs, outputs, nodes, opset=17, defaults=(), domain="my"):
    """Returns a FunctionProto as a field of a model. `defaults` are AttributeProtos."""
    return field(25, b"".join((
        field(1, name), fields(4, inputs), fields(5, outputs), fields(7, nodes),
        b"" if opset is None else field(9, field(2, opset)), field(10, domain),
        fields(11, defaults))))


def simple(nodes, tensors=(), inputs=None, outputs=None, **options):
    """Returns a model of nodes whose default input is x: f32[batch, 4], and default
    output y."""
    return model(graph(nodes,
                       [value("x", ["batch", 4])] if inputs is None else inputs,
                       [value("y")] if outputs is None else outputs, tensors),
                 **options)
