"""Mutates protobuf messages so that they can still be parsed: changes, removes, repeats,
exchanges or moves fields, and adjusts the lengths of the messages around them."""

from onnx_writer import varint

NUMBERS = [0, 1, 2, 3, 7, 16, 31, 127, 128, 255, 1 << 15, 1 << 31, (1 << 31) - 1,
           1 << 32, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def read_varint(data, at):
    value = 0
    for shift in range(0, 64, 7):
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise IndexError("a varint of more than ten bytes")


def parse(data, depth=0):
    """Returns a message as a list of [field number, wire type, value]. A value of wire type
    2 (bytes) is itself such a list if its bytes can be read as a message. Raises IndexError
    if `data` isn't a message."""
    fields, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire in (1, 2, 5):
            size, at = read_varint(data, at) if wire == 2 else (4 if wire == 5 else 8, at)
            value, at = data[at:at + size], at + size
        if wire not in (0, 1, 2, 5) or at > len(data) or not 0 < number < 64:
            raise IndexError("no message")
        if wire == 2 and value and depth < 12:
            try:
                value = parse(value, depth + 1)
            except IndexError:
                pass
        fields.append([number, wire, value])
    return fields


def serialize(fields):
    out = bytearray()
    for number, wire, value in fields:
        out += varint(number << 3 | wire)
        if wire == 0:
            out += varint(value)
            continue
        data = serialize(value) if isinstance(value, list) else value
        out += (varint(len(data)) if wire == 2 else b"") + data
    return bytes(out)


def all_messages(fields):
    yield fields
    for _, _, value in fields:
        if isinstance(value, list):
            yield from all_messages(value)


def mutate_value(field, random, mutate_bytes):
    number, wire, value = field
    if wire == 0:
        field[2] = random.choice(NUMBERS + [value + 1, max(value, 1) - 1, value * 2])
        field[2] %= 1 << 64
    elif wire == 2:
        data = serialize(value) if isinstance(value, list) else value
        field[2] = mutate_bytes(data, random)
    else:
        field[2] = random.randbytes(len(value))


def mutate(data, random, mutate_bytes):
    """Returns the message after one random mutation, or None if `data` isn't a message.
    `mutate_bytes` mutates fields of bytes."""
    try:
        root = parse(data)
    except IndexError:
        return None
    messages = [message for message in all_messages(root) if message]
    if not messages:
        return None
    message = random.choice(messages)
    index = random.randrange(len(message))
    kind = random.randrange(8)
    if kind < 3:
        mutate_value(message[index], random, mutate_bytes)
    elif kind == 3:
        del message[index]
    elif kind == 4:
        message.insert(random.randrange(len(message)), list(message[index]))
    elif kind == 5:
        other = random.randrange(len(message))
        message[index], message[other] = message[other], message[index]
    elif kind == 6:
        # Replaces the field's value by that of any field in the file.
        message[index][1:] = random.choice(random.choice(messages))[1:]
    else:
        message[index][0] = random.randrange(1, 32)
    try:
        return serialize(root)
    except RecursionError:  # a message was put into itself
        return None
