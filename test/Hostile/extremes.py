"""Generates pairs (name, bytes) of extreme inputs: models in which one setting of a node is
as large, as small or as odd as its type allows, models that are very deep, long or wide,
and such job files. Whether they are valid doesn't matter; hftac must end soon, with or
without an error.

fuzz/make_seeds.py makes seeds of the fuzz targets from them."""

import struct

from onnx_writer import (BOOL, FLOAT, INT64, graph, integers, model, node, tensor,
                         value)

NUMBERS = [1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 40, 1 << 31, 1 << 20, 65537, 0, -1]
MATRIX = [value("x", [2, 3])]
IMAGE = [value("x", [1, 4, 8, 8])]
BLOCKS = [value("x", [1, 9, 36])]
INDICES = [value("x", [3], INT64)]
KERNEL = {"kernel_shape": [3, 3], "ceil_mode": 1}


NEWEST_OPSET, NEWEST_IR = 28, 14  # the newest that hftac reads
BFLOAT16 = 16


def make(nodes, tensors=(), inputs=MATRIX, outputs=("y",), opset=17):
    return model(graph(nodes, inputs, outputs, tensors), opset,
                 ir_version=NEWEST_IR if opset > 21 else 8)


def scalar(name, number, type=INT64):
    return tensor(name, [], [number], type)


def floats(name, *numbers):
    return tensor(name, [len(numbers)], numbers)


def by_operand(number):
    """Yields (name, model) pairs in which `number` is in a constant operand of a node."""
    def one(op, *tensors, inputs=MATRIX, outputs=("y",), opset=17, operands=None,
            **attributes):
        names = operands or ["x", *(f"t{i}" for i in range(len(tensors)))]
        given = [make_one(f"t{i}") for i, make_one in enumerate(tensors)]
        return op, make([node(op, names, outputs, **attributes)], given, inputs,
                        outputs, opset)

    def listed(*numbers):
        return lambda name: integers(name, numbers)

    def alone(number):
        return lambda name: scalar(name, number)

    def real(*numbers):
        return lambda name: floats(name, *numbers)

    yield one("ConstantOfShape", listed(number), operands=["t0"])
    yield one("Range", alone(0), alone(number), alone(1), operands=["t0", "t1", "t2"])
    yield one("Range", alone(-number), alone(number), alone(number),
              operands=["t0", "t1", "t2"])
    yield one("Range", *(lambda name, n=n: scalar(name, n, FLOAT)
                         for n in (0.0, float(number), 1e-30)),
              operands=["t0", "t1", "t2"])
    yield one("Range", *(lambda name, n=n: tensor(name, [], type=BFLOAT16, raw=n)
                         for n in (b"\0\0", struct.pack("<f", number)[2:], b"\x80?")),
              operands=["t0", "t1", "t2"], opset=NEWEST_OPSET)
    yield one("Tile", listed(number, 1))
    yield one("Expand", listed(number, 2, 3))
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield one("Pad", listed(number, 0, number, 0), mode=mode, opset=19)
    yield one("Slice", listed(number), listed(-number), listed(0), listed(number or 1))
    yield one("Split", listed(number, 2 - number), outputs=("y", "z"))
    yield one("OneHot", alone(number), real(0.0, 1.0), inputs=INDICES)
    yield one("Gather", listed(number))
    yield one("GatherND", lambda name: tensor(name, [1, 2], [number] * 2, INT64))
    yield one("TopK", listed(number), outputs=("y", "z"))
    yield one("Trilu", alone(number))
    yield one("CumSum", alone(number))
    yield one("Unsqueeze", listed(number, 0))
    yield one("Reshape", listed(number, -1))
    yield one("Pow", alone(number))
    yield one("Resize", listed(1, 1, number, number), inputs=IMAGE,
              operands=["x", "", "", "t0"])
    yield one("Resize", real(1.0, 1.0, float(number), 1e30), inputs=IMAGE,
              operands=["x", "", "t0"])
    yield one("Resize", real(1.0, 1.0, 1 / float(number or 2), 0.5), inputs=IMAGE,
              operands=["x", "", "t0"], mode="cubic", antialias=1, opset=18)
    yield one("MaxUnpool", listed(1, 4, number, 9),
              inputs=[*IMAGE, value("i", [1, 4, 8, 8], INT64)],
              operands=["x", "i", "t0"], kernel_shape=[2, 2])
    for image, block in ((number, 3), (8, number)):
        yield one("Col2Im", listed(image, 8), listed(block, 3), inputs=BLOCKS, opset=18)
    for key in ("strides", "dilations"):
        yield one("Col2Im", listed(8, 8), listed(3, 3), inputs=BLOCKS, opset=18,
                  **{key: [number] * 2})
    yield one("Col2Im", listed(8, 8), listed(3, 3), inputs=BLOCKS, opset=18,
              pads=[number] * 4)
    yield one("Upsample", real(1.0, 1.0, float(number), 1e30), inputs=IMAGE, opset=9)


def by_attribute(number):
    """Yields (name, model) pairs in which `number` is in an attribute of a node."""
    def one(op, inputs=MATRIX, operands=("x",), outputs=("y",), opset=17, **attributes):
        return f"{op}-{'-'.join(attributes)}", make([node(op, operands, outputs,
                                                          **attributes)],
                                                    (), inputs, outputs, opset)

    for op in ("Flatten", "Softmax", "Hardmax", "ArgMax", "LayerNormalization"):
        yield one(op, axis=number)
    yield one("Concat", operands=["x", "x"], axis=number)
    yield one("Split", outputs=("y", "z"), opset=18, num_outputs=number)
    yield one("EyeLike", k=number)
    yield one("Transpose", perm=[number, 0])
    yield one("Cast", to=number)
    yield one("ReduceMean", axes=[number])
    yield one("Shape", start=number, end=-number)
    yield one("RandomNormal", operands=(), inputs=(), shape=[number, number])
    for op in ("DepthToSpace", "SpaceToDepth"):
        yield one(op, IMAGE, blocksize=number)
        yield one(op, IMAGE, blocksize=number, mode="CRD", opset=NEWEST_OPSET)
    for op, weights in (("Conv", [4, 4, 3, 3]), ("ConvTranspose", [4, 4, 3, 3])):
        operands = [*IMAGE, value("w", weights)]
        for key in ("strides", "dilations", "kernel_shape"):
            yield one(op, operands, ("x", "w"), **{key: [number] * 2})
        yield one(op, operands, ("x", "w"), pads=[number] * 4)
        yield one(op, operands, ("x", "w"), group=number)
        yield one(op, operands, ("x", "w"), dilations=[number % (1 << 31)] * 2,
                  auto_pad="SAME_UPPER")
        for key in ("output_shape", "output_padding"):
            yield one(op, operands, ("x", "w"), **{key: [number] * 2})
    for op in ("MaxPool", "AveragePool", "LpPool"):
        for key in ("strides", "dilations", "kernel_shape"):
            yield one(op, IMAGE, **{**KERNEL, key: [number] * 2})
        yield one(op, IMAGE, **KERNEL, pads=[number] * 4)
        yield one(op, IMAGE, **KERNEL, strides=[number] * 2, opset=NEWEST_OPSET)
    yield one("LpPool", IMAGE, kernel_shape=[2, 2], p=number)
    for key in ("strides", "kernel_shape"):
        yield one("MaxUnpool", [*IMAGE, value("i", [1, 4, 8, 8], INT64)], ("x", "i"),
                  **{"kernel_shape": [2, 2], key: [number] * 2})
    yield one("MaxUnpool", [*IMAGE, value("i", [1, 4, 8, 8], INT64)], ("x", "i"),
              kernel_shape=[2, 2], pads=[number] * 4)
    yield one("LRN", IMAGE, size=number)
    yield one("GroupNormalization", [*IMAGE, value("w", [4])], ("x", "w", "w"),
              opset=21, num_groups=number)
    yield one("SoftmaxCrossEntropyLoss", [*MATRIX, value("l", [2], INT64)], ("x", "l"),
              ignore_index=number)
    yield one("LSTM", [value("x", [2, 3, 4]), value("w", [1, 16, 4]),
                       value("r", [1, 16, 4])], ("x", "w", "r"), hidden_size=number)


def by_shape(number):
    """Yields (name, model) pairs in which axes of the inputs have size `number`."""
    def one(name, op, shapes, type=FLOAT, **attributes):
        names = [f"x{i}" for i in range(len(shapes))]
        inputs = [value(name, shape, FLOAT if i else type)
                  for i, (name, shape) in enumerate(zip(names, shapes))]
        return name, make([node(op, names[::-1] if op == "Gather" else names, ["y"],
                                **attributes)], (), inputs)

    yield one("empty", "Relu", [[number, number, 0]])
    yield "declared", make([node("Relu", ["x"], ["y"])], (), [value("x", [number, 4])],
                           [value("y", [number, 4])])
    yield one("flat", "Flatten", [[number, number]])
    yield one("flat-empty", "Flatten", [[number, number, number, 0]], axis=3)
    yield one("joined", "Concat", [[number]] * 4, axis=0)
    yield one("product", "MatMul", [[number, 3], [3, number]])
    yield one("embedding", "Gather", [[number], [number, number]], INT64)


def chain(count, step, last="Relu"):
    """Returns a chain of `count` nodes and a last one. `step` makes a node from the names
    of its operand and its output."""
    nodes, name = [], "x"
    for index in range(count):
        nodes.append(step(name, f"t{index}"))
        name = f"t{index}"
    return [*nodes, node(last, [name], ["y"], "last")]


def branches(depth):
    """Returns a model with Ifs nested `depth` + 2 deep. In the innermost nine levels, both
    branches contain the next level, so the number of nodes doubles with each level."""
    leaf = graph([node("Identity", ["x"], ["e"], "leaf")], (), ["e"])
    inner = leaf
    for level in range(depth, -1, -1):
        other = inner if level > depth - 9 else leaf
        inner = graph([node("If", ["c"], [f"o{level}"], then_branch=inner,
                            else_branch=other)], (), [f"o{level}"])
    return model(graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=leaf)],
                       [*MATRIX, value("c", [], BOOL)], ["y"]))


def structures():
    """Yields (name, model) pairs of deep, long and wide graphs."""
    numbers = [integers("r", range(5000))]
    last = node("Gather", ["x", "t499"], ["y"])
    yield "many-axes", make([node("Relu", ["x"], ["y"])], (), [value("x", [1] * 9000)])
    yield "many-transposes", make(
        chain(1000, lambda x, y: node("Transpose", [x], [y], y)), (),
        [value("x", [1] * 3000)])
    yield "many-new-axes", make([node("Unsqueeze", ["x", "a"], ["y"])],
                                [integers("a", range(6000))])
    yield "long", make(chain(2000, lambda x, y: node("Relu", [x], [y], y)))
    yield "doubled-size", make(
        chain(100, lambda x, y: node("Concat", [x, x], [y], y, axis=0)))
    yield "doubled-uses", make(chain(1500, lambda x, y: node("Add", [x, x], [y], y)))
    yield "many-parts", make([node("Concat", ["x"] * 15000, ["y"], axis=0)])
    yield "many-terms", make([node("Sum", ["x"] * 15000, ["y"])])
    parts = [f"s{i}" for i in range(6000)]
    yield "many-results", make([node("Split", ["x"], parts, num_outputs=6000)], (),
                               [value("x", [9000])], ["s0"], 18)
    for name, operands, equation in [
            ("indices", 2, "i" * 30000 + "," + "j" * 30000 + "->"),
            ("operands", 20, ",".join(["ab"] * 20) + "->ab"),
            ("letters", 26, ",".join(chr(97 + i) + chr(65 + i) for i in range(26)) + "->")]:
        yield f"einsum-{name}", make([node("Einsum", ["x"] * operands, ["y"],
                                           equation=equation)])
    for op in ("Add", "Concat"):
        axis = {"axis": 0} if op == "Concat" else {}
        nodes = [node(op, ["r" if i == 0 else f"t{i - 1}", "r"], [f"t{i}"], f"t{i}",
                      **axis) for i in range(500)]
        yield f"long-constants-{op}", make([*nodes, last], numbers)
    for depth in (5, 8, 20, 40):
        yield f"branches-{depth}", branches(depth)


def extreme_models():
    for family in (by_operand, by_attribute, by_shape):
        for number in NUMBERS:
            for index, (name, data) in enumerate(family(number)):
                yield f"{name}-{index}-{number}.onnx", data
    for name, data in structures():
        yield f"{name}.onnx", data


def nested(text, depth, opening, closing):
    return opening * depth + text + closing * depth


def extreme_jobs(job):
    """Yields (name, bytes) pairs of the job file `job` with one part changed."""
    linear, rates = "linear(image, 8)", "[0.1, 0.01]"
    wide = ",".join(["0.1"] * 3000)
    layers = "".join(f"  h{i} = relu(linear({f'h{i - 1}' if i else 'hidden'}, 8))\n"
                     for i in range(1500))
    changes = [
        (linear, nested(linear, 30000, "(", ")")), (linear, nested(linear, 150, "relu(", ")")),
        (linear, linear + "+1" * 20000), (linear, "linear(image, 1099511627776)"),
        (linear, "linear(image, 9223372036854775807)"),
        (linear, "conv(image, 1, kernel = 9223372036854775807)"),
        (linear, "reshape(image, [4611686018427387904, 4])"),
        ("  return ", layers + "  return "), ("hidden", "hid\0den"), ("hidden", "h\u00fcdden"),
        (rates, "-" * 60000 + "1"), (rates, nested("1", 30000, "[", "]")),
        (rates, "range(0, 1, 1e-12)"), (rates, "logspace(1e-5, 1, 1000000000)"),
        (rates, f"[{wide}], momentum = [{wide}], weight_decay = [{wide}]"),
        ("seed      1", "copies 1000000000"), ("seed      1", "copies 9223372036854775807"),
        ("seed      1", "micro_batches 3"), ("seed      1", "seed -9223372036854775808"),
        ("seed      1", 'freeze "' + "*a" * 3000 + '"'),
        ("seed      1", 'freeze "' + "{a,b}" * 30 + '"'), ("seed      1", 'freeze "[a"'),
        ("seed      1", 'freeze "*"\n  trainable "' + "?" * 3000 + '"'),
        ("batch = 16", "batch = 9223372036854775807"), ("batch = 16", "batch = 1099511627776"),
        ("steps     10", "steps 9223372036854775807"), ("steps     10", "epochs 1e300"),
        ('"image.npy"', '"' + "x" * 60000 + '"'),
    ]
    for index, (old, new) in enumerate(changes):
        if old not in job:
            raise ValueError(f"the job has no {old}")
        yield f"extreme-{index}.hfta", job.replace(old, new, 1).encode()
    yield "extreme-mark.hfta", b"\xef\xbb\xbf" + job.encode()
    yield "extreme-errors.hfta", b"model x(\n" * 7000
