"""Rows of ONNX models with one wrong node: operands, attributes and sizes that its
operator can't have."""

from onnx_rows import HUGE, PETA, row
from onnx_writer import (BOOL, INT64, STRING, graph, integers, model, node,
                         simple, tensor, value, zeros)

IMAGE = [value("x", ["batch", 3, 8, 8])]


def make_node(op, *tensors, inputs=None, operands=None, **attributes):
    """Returns a model with one node. Its operands are x and `tensors`, functions that
    make an initializer from a name."""
    names = [f"t{index}" for index, _ in enumerate(tensors)]
    given = [make(name) for make, name in zip(tensors, names)]
    return simple([node(op, ["x", *names] if operands is None else operands,
                        ["y"], **attributes)], given, inputs)


def weights(*dims):
    return lambda name: zeros(name, *dims)


def numbers(*given):
    return lambda name: integers(name, given)


def lonely(number, type=INT64):
    return lambda name: tensor(name, [], [number], type)


def make_operand_rows():
    yield row("a node without operands", make_node("Relu", operands=[]), 1,
              "node 'relu' (Relu)", "operand 0 is missing")
    yield row("a node with one operand of two",
              make_node("Add", operands=["x"]), 1, "node 'add' (Add)",
              "operand 1 is missing")
    yield row("a node with an empty operand",
              make_node("Mul", operands=["x", ""]), 1, "node 'mul' (Mul)",
              "operand 1 is missing")
    yield row("a node with too many operands",
              make_node("Relu", operands=["x", "x"]), 1, "node 'relu' (Relu)",
              "has 2 operands, expected at most 1")
    yield row("a convolution with too many operands",
              make_node("Conv", weights(3, 3, 1, 1), weights(3), weights(3),
                        inputs=IMAGE), 1, "node 'conv' (Conv)",
              "has 4 operands, expected at most 3")
    yield row("a node without results",
              simple([node("Relu", ["x"], []), node("Exp", ["x"], ["y"])]), 0)
    yield row("a node with too many results",
              simple([node("Relu", ["x"], ["y", "z"]),
                      node("Exp", ["z"], ["w"])],
                     outputs=[value("y"), value("w")]), 3, "node 'relu' (Relu)",
              "'z'")
    yield row("operands of two types",
              model(graph([node("Add", ["x", "z"], ["y"])],
                          [value("x", ["batch", 4]),
                           value("z", ["batch", 4], INT64)], ["y"])), 1,
              "node 'add' (Add)")
    yield row("an operand of a wrong type",
              make_node("Exp", inputs=[value("x", ["batch", 4], INT64)]), 3,
              "node 'exp' (Exp)", "i64")
    yield row("arithmetic on booleans",
              make_node("Add", operands=["x", "x"],
                        inputs=[value("x", ["batch", 4], BOOL)]), 3,
              "node 'add' (Add)", "i1")
    yield row("shapes that don't broadcast", make_node("Add", weights(5)), 1,
              "node 'add' (Add)", "[2, 4] and [5]")
    yield row("a condition that is no boolean",
              make_node("Where", weights(4), operands=["x", "x", "t0"]), 1,
              "node 'where' (Where)")
    yield row("a cast to texts", make_node("Cast", to=STRING), 3,
              "node 'cast' (Cast)", "string")
    yield row("a cast to no known type", make_node("Cast", to=99), 3,
              "node 'cast' (Cast)", "number 99")
    yield row("a cast to the least number", make_node("Cast", to=-1 << 63), 3,
              "node 'cast' (Cast)", f"number {-1 << 63}")
    yield row("a cast without a type", make_node("Cast"), 1,
              "node 'cast' (Cast)", "'to' is missing")


def make_attribute_rows():
    yield row("an axis that is a number with a point",
              make_node("Softmax", axis=1.0), 1, "node 'softmax' (Softmax)",
              "attribute 'axis' must be an integer")
    yield row("an axis that is a text", make_node("Flatten", axis="1"), 1,
              "node 'flatten' (Flatten)", "attribute 'axis' must be an integer")
    yield row("a slope that is a list", make_node("LeakyRelu", alpha=[1, 2]), 1,
              "node 'leakyrelu' (LeakyRelu)",
              "attribute 'alpha' must be a number")
    yield row("an equation that is an integer",
              make_node("Einsum", equation=7), 1, "node 'einsum' (Einsum)",
              "attribute 'equation' must be a string")
    yield row("an axis out of range", make_node("Softmax", axis=2), 1,
              "node 'softmax' (Softmax)", "axis 2", "rank 2")
    yield row("an axis of -2^63", make_node("Softmax", axis=-(1 << 63)), 1,
              "node 'softmax' (Softmax)", "axis -9223372036854775808", "rank 2")
    yield row("a concatenation along an axis out of range",
              make_node("Concat", operands=["x", "x"], axis=-3), 1,
              "node 'concat' (Concat)", "axis -3", "rank 2")
    yield row("a concatenation without an axis",
              make_node("Concat", operands=["x", "x"]), 1,
              "node 'concat' (Concat)", "'axis' is missing")
    yield row("a permutation that isn't one",
              make_node("Transpose", perm=[0, 0]), 1,
              "node 'transpose' (Transpose)", "[0, 0]")
    yield row("a permutation of another rank",
              make_node("Transpose", perm=[0, 1, 2]), 1,
              "node 'transpose' (Transpose)", "[0, 1, 2]")
    yield row("a normalization with an epsilon of NaN",
              make_node("LayerNormalization", weights(4),
                        epsilon=float("nan")), 1,
              "node 'layernormalization'", "'epsilon'", "nan")
    yield row("a normalization with an infinite epsilon",
              make_node("BatchNormalization", *[weights(3)] * 4, inputs=IMAGE,
                        epsilon=float("inf")), 1,
              "node 'batchnormalization'", "'epsilon'", "inf")
    yield row("a normalization with a negative epsilon",
              make_node("InstanceNormalization", *[weights(3)] * 2,
                        inputs=IMAGE, epsilon=-1.0), 1,
              "node 'instancenormalization'", "'epsilon'", "-1")
    def in_groups(scale, **attributes):
        return simple([node("GroupNormalization", ["x", "s", "s"], ["y"], **attributes)],
                      [zeros("s", scale)], [value("x", ["batch", 6, 4])], opset=21)

    for groups in (0, -2, 4):
        yield row(f"{groups} groups of 6 channels", in_groups(6, num_groups=groups), 1,
                  "node 'groupnormalization'", f"'num_groups' = {groups}", "[2, 6, 4]")
    yield row("groups without their number", in_groups(6), 1, "'num_groups' = 0")
    yield row("a scale of groups in place of channels", in_groups(3, num_groups=3), 1,
              "node 'groupnormalization'", "[3] for 6 channels")
    yield row("a root mean square along an axis out of range",
              simple([node("RMSNormalization", ["x", "s"], ["y"], axis=3)],
                     [zeros("s", 4)], opset=23), 1, "node 'rmsnormalization'", "axis 3")
    yield row("a root mean square with a scale of another shape",
              simple([node("RMSNormalization", ["x", "s"], ["y"])], [zeros("s", 3)],
                     opset=23), 1, "node 'rmsnormalization'", "3", "size 4")
    yield row("a dropout rate of NaN",
              make_node("Dropout", lambda name: tensor(
                  name, [], [float("nan")])), 1, "node 'dropout' (Dropout)",
              "nan")
    yield row("a dropout rate of 1.5",
              make_node("Dropout", lambda name: tensor(name, [], [1.5])), 1,
              "node 'dropout' (Dropout)", "1.5")
    yield row("a dropout rate that is a list",
              make_node("Dropout", weights(4)), 1, "node 'dropout' (Dropout)",
              "must be one number")
    yield row("an equation with a letter that nothing has",
              make_node("Einsum", equation="ij->ik"), 1,
              "node 'einsum' (Einsum)", "label 'k'")
    yield row("an equation with too many terms",
              make_node("Einsum", equation="ij,jk->ik"), 1,
              "node 'einsum' (Einsum)")
    yield row("an equation of a million letters",
              make_node("Einsum", equation="i" * 1000000 + "->i"), 1,
              "node 'einsum' (Einsum)")
    yield row("a mode that doesn't exist",
              make_node("Pad", numbers(0, 0, 0, 0), mode="elsewhere"), 1,
              "node 'pad' (Pad)", "'elsewhere'")


def make_window_rows():
    def conv(*dims, **attributes):
        return make_node("Conv", weights(*dims), inputs=IMAGE, **attributes)

    def pool(op="MaxPool", **attributes):
        return make_node(op, inputs=IMAGE, **attributes)

    name = "node 'conv' (Conv)"
    yield row("a kernel bigger than its input", conv(4, 3, 9, 9), 1, name, "9",
              "8")
    yield row("a kernel of other channels", conv(4, 5, 3, 3), 1, name, "5", "3")
    yield row("a kernel of another rank", conv(4, 3, 3), 1, name)
    yield row("a kernel of size 0", conv(4, 3, 0, 0), 1, name, "0")
    yield row("a kernel that its attribute contradicts",
              conv(4, 3, 3, 3, kernel_shape=[5, 5]), 1, name, "[5, 5]",
              "[3, 3]")
    yield row("a stride of 0", conv(4, 3, 3, 3, strides=[0, 1]), 1, name,
              "strides", "[0, 1]")
    yield row("a negative stride", conv(4, 3, 3, 3, strides=[-1, -1]), 1, name,
              "strides", "[-1, -1]")
    yield row("a stride for each of three axes",
              conv(4, 3, 3, 3, strides=[1, 1, 1]), 1, name, "strides",
              "[1, 1, 1] does not fit 2 entries")
    yield row("a dilation of 0", conv(4, 3, 3, 3, dilations=[0, 0]), 1, name,
              "dilations", "[0, 0]")
    yield row("a dilation of 2^62", conv(4, 3, 3, 3, dilations=[HUGE, HUGE]), 1,
              name)
    yield row("a padding of 2^62",
              conv(4, 3, 3, 3, pads=[HUGE, HUGE, HUGE, HUGE]), 1, name)
    yield row("a padding of -2^63",
              conv(4, 3, 3, 3, pads=[-(1 << 63)] * 4), 1, name)
    yield row("groups that don't divide the channels",
              conv(4, 1, 3, 3, group=2), 1, name, "3 channels", "2 groups")
    yield row("0 groups", conv(4, 3, 3, 3, group=0), 1, name, "0")
    yield row("-1 groups", conv(4, 3, 3, 3, group=-1), 1, name, "-1")
    yield row("an automatic padding that doesn't exist",
              conv(4, 3, 3, 3, auto_pad="SOMEHOW"), 1, name, "'SOMEHOW'")
    yield row("a bias of another size",
              make_node("Conv", weights(4, 3, 3, 3), weights(5), inputs=IMAGE),
              1, name, "5", "4")
    yield row("a pool without a kernel", pool(), 1, "node 'maxpool' (MaxPool)",
              "'kernel_shape' is missing")
    yield row("a pool bigger than its input", pool(kernel_shape=[9, 9]), 1,
              "node 'maxpool' (MaxPool)", "9", "8")
    yield row("a pool of a petabyte",
              pool(kernel_shape=[3, 3], pads=[PETA] * 4), 1,
              "node 'maxpool' (MaxPool)")
    yield row("a pool of size 0", pool("AveragePool", kernel_shape=[0, 0]), 1,
              "node 'averagepool' (AveragePool)", "[0, 0]")
    yield row("a norm that is none", pool("LpPool", kernel_shape=[2, 2], p=-1),
              1, "node 'lppool' (LpPool)", "'p' must be a number of at least 1, got -1")
    yield row("a pool of 2^62",
              pool("AveragePool", kernel_shape=[HUGE, HUGE],
                   pads=[HUGE - 1] * 4), 1, "node 'averagepool' (AveragePool)")


def make_shape_rows():
    yield row("a reshape that doesn't fit", make_node("Reshape", numbers(2, 5)),
              1, "node 'reshape' (Reshape)", "[2, 4] to [2, 5]")
    yield row("a reshape with two open sizes",
              make_node("Reshape", numbers(-1, -1)), 1,
              "node 'reshape' (Reshape)", "[-1, -1]")
    yield row("a reshape whose product overflows",
              make_node("Reshape", numbers(1 << 32, 1 << 32, -1)), 1,
              "node 'reshape' (Reshape)", "too large")
    yield row("a reshape to a shape that is a matrix",
              make_node("Reshape", lambda name: tensor(name, [1, 2], [2, 4],
                                                       INT64)), 1,
              "node 'reshape' (Reshape)", "must be a list of integers")
    yield row("a reshape to 4000 axes",
              make_node("Reshape", numbers(2, 4, *[1] * 3998)), 1,
              "node 'reshape' (Reshape)", "4000 in all")
    yield row("a reshape to a shape that isn't known",
              model(graph([node("Reshape", ["x", "s"], ["y"])],
                          [value("x", ["batch", 4]),
                           value("s", ["batch"], INT64)], ["y"])), 3,
              "node 'reshape' (Reshape)", "'s'", "--constant")
    yield row("a product of shapes that don't fit",
              make_node("MatMul", weights(5, 3)), 1, "node 'matmul' (MatMul)",
              "4", "5")
    yield row("a product with a number", make_node("MatMul", lonely(1.0, 1)), 1,
              "node 'matmul' (MatMul)")
    yield row("a Gemm of shapes that don't fit",
              make_node("Gemm", weights(5, 3), weights(3)), 1,
              "node 'gemm' (Gemm)", "4", "5")
    yield row("a Gemm of a vector", make_node("Gemm", weights(4)), 1,
              "node 'gemm' (Gemm)")
    yield row("a Gemm with a bias that doesn't fit",
              make_node("Gemm", weights(4, 3), weights(5)), 1,
              "node 'gemm' (Gemm)", "5", "3")
    yield row("a concatenation of shapes that don't fit",
              make_node("Concat", weights(5, 5), axis=1), 1,
              "node 'concat' (Concat)", "5", "2")
    yield row("a concatenation of two ranks",
              make_node("Concat", weights(2), axis=1), 1,
              "node 'concat' (Concat)")
    yield row("a split whose sizes have another sum",
              make_node("Split", numbers(1, 2), axis=1), 1,
              "node 'split' (Split)", "[1, 2]", "4")
    yield row("a split whose last part is empty",
              simple([node("Split", ["x", "s"], ["a", "b"], axis=1),
                      node("Concat", ["b", "a", "b"], ["y"], axis=1)],
                     [integers("s", [4, 0])]), 0)
    yield row("a block order that doesn't exist",
              make_node("SpaceToDepth", inputs=IMAGE, blocksize=2, mode="RCD"), 1,
              "node 'spacetodepth' (SpaceToDepth)", "'mode' = 'RCD' is unknown")
    yield row("a split into negative sizes",
              simple([node("Split", ["x", "s"], ["y", "z"], axis=1)],
                     [integers("s", [-1, 5])]), 1, "node 'split' (Split)",
              "[-1, 5]")
    yield row("a split of 2^63 - 1 and 5, whose sum overflows to 4",
              simple([node("Split", ["x", "s"], ["y", "z", "w"], axis=1)],
                     [integers("s", [(1 << 63) - 1, (1 << 63) - 1, 6])]), 1,
              "node 'split' (Split)")
    yield row("an index out of range",
              make_node("Gather", numbers(4), axis=1), 1,
              "node 'gather' (Gather)", "4")
    yield row("a negative index out of range",
              make_node("Gather", numbers(-5), axis=1), 1,
              "node 'gather' (Gather)", "-5", "4")
    yield row("an index that is no integer", make_node("Gather", weights(1)),
              1, "node 'gather' (Gather)")
    yield row("a slice with a step of 0",
              make_node("Slice", numbers(0), numbers(4), numbers(1),
                        numbers(0)), 1, "node 'slice' (Slice)", "steps [0] must not be 0")
    yield row("a slice with bounds of 2^62",
              make_node("Slice", numbers(HUGE), numbers(-HUGE), numbers(1),
                        numbers(-HUGE)), 0)
    yield row("a slice with lists of two lengths",
              make_node("Slice", numbers(0), numbers(1, 2), numbers(1)), 1,
              "node 'slice' (Slice)")
    yield row("a squeeze of an axis of size 4",
              make_node("Squeeze", numbers(1)), 1, "node 'squeeze' (Squeeze)",
              "axis 1", "size 4")
    yield row("an unsqueeze of an axis twice",
              make_node("Unsqueeze", numbers(0, 0)), 1,
              "node 'unsqueeze' (Unsqueeze)", "twice")
    yield row("a reduction of an axis twice",
              make_node("ReduceSum", numbers(1, -1)), 1,
              "node 'reducesum' (ReduceSum)", "twice")


def make_size_rows():
    """Makes rows of small files whose values would need petabytes of memory."""
    ends = [node("Relu", ["big"], ["y"])]
    for name, op, tensors, attributes in (
            ("a constant", "ConstantOfShape", [numbers(PETA, 4)], {}),
            ("a broadcast", "Expand", [numbers(PETA, 2, 4)], {}),
            ("a broadcast that overflows", "Expand",
             [numbers(HUGE, HUGE, 2, 4)], {}),
            ("a tile", "Tile", [numbers(PETA, PETA)], {}),
            ("a tile that overflows", "Tile", [numbers(HUGE, HUGE)], {}),
            ("a padding", "Pad", [numbers(0, PETA, 0, PETA)], {}),
            ("a padding that overflows", "Pad",
             [numbers(0, (1 << 63) - 1, 0, (1 << 63) - 1)], {}),
            ("a padding by less than nothing", "Pad",
             [numbers(0, -HUGE, 0, -HUGE)], {}),
            ("a gather", "Gather", [numbers(*[0] * 9)], {"axis": 7})):
        operands = ["t0"] if op == "ConstantOfShape" else None
        yield row(f"{name}, much too large",
                  make_node(op, *tensors, operands=operands, **attributes), 1,
                  f"node '{op.lower()}' ({op})")
    yield row("a constant of a negative size",
              make_node("ConstantOfShape", numbers(2, -4), operands=["t0"]), 1,
              "node 'constantofshape'", "[2, -4]")
    yield row("a constant of 4 TiB",
              simple([node("ConstantOfShape", ["s"], ["big"]),
                      node("ReduceSum", ["big"], ["sum"], keepdims=0),
                      node("Add", ["x", "sum"], ["y"])],
                     [integers("s", [1 << 40])]), 1,
              "node 'constantofshape' (ConstantOfShape)",
              "cannot have shape [1099511627776]")
    yield row("a constant of 256 GiB, which needs no memory",
              simple([node("ConstantOfShape", ["s"], ["big"]),
                      node("ReduceSum", ["big"], ["sum"], keepdims=0),
                      node("Add", ["x", "sum"], ["y"])],
                     [integers("s", [1 << 36])]), 0)
    yield row("an input of 256 GiB, which the compiler needn't have",
              make_node("Relu", inputs=[value("x", [2, 1 << 35])]), 0)
    yield row("a range of 2^60 numbers",
              make_node("Range", lonely(0), lonely(1 << 60), lonely(1),
                        operands=["t0", "t1", "t2"]), 1, "node 'range' (Range)",
              "too many elements")
    yield row("a range with a step of 0",
              make_node("Range", lonely(0), lonely(5), lonely(0),
                        operands=["t0", "t1", "t2"]), 1, "node 'range' (Range)")
    yield row("a range to infinity",
              make_node("Range", *(lambda name, number=number: tensor(
                  name, [], [number]) for number in (0.0, float("inf"), 1.0)),
                        operands=["t0", "t1", "t2"]), 1, "node 'range' (Range)")
    yield row("a one-hot of a petabyte",
              make_node("OneHot", lonely(PETA), lambda name: tensor(
                  name, [2], [0.0, 1.0]),
                        inputs=[value("x", ["batch", 4], INT64)]), 1,
              "node 'onehot' (OneHot)")
    yield row("more constants for sampling than a model may have",
              simple([*(node("Resize", ["x", "", "", "wide"], [name], name, mode="cubic")
                        for name in ("first", "second")),
                      node("Add", ["first", "second"], ["y"])],
                     [integers("wide", [2, 1 << 22])]), 3,
              "node 'second' (Resize)", "takes more constants than a model may have")
    yield row("rows of nothing, but too many to join",
              simple([node("Hardmax", ["x"], ["y"], axis=3)],
                     inputs=[value("x", ["batch", 1 << 31, 255, 0])], opset=11), 1,
              "node 'hardmax' (Hardmax)", "too large")
    for name in ("ReduceMax", "ReduceMean"):
        yield row(f"{name} of nothing along axes beyond integers",
                  simple([node(name, ["x"], ["y"])],
                         inputs=[value("x", ["batch", 1 << 31, 1 << 31, 255, 0])],
                         opset=13), 0)
    yield row("a normalization of nothing along axes beyond integers",
              simple([node("InstanceNormalization", ["x", "w", "w"], ["y"])],
                     [tensor("w", [0], [])],
                     inputs=[value("x", ["batch", 0, 1 << 31, 1 << 31, 255])]), 0)
    yield row("a product of nothing along axes beyond integers",
              simple([node("MatMul", ["x", "z"], ["y"])],
                     inputs=[value("x", ["batch", 1 << 31, 1 << 31, 0, 255]),
                             value("z", ["batch", 1 << 31, 1 << 31, 255, 0])]), 0)
    yield row("more first elements than there are", make_node("TopK", numbers(5)),
              1, "node 'topk' (TopK)", "K is 5 for axis 1 of [2, 4]")
    yield row("a negative number of first elements",
              make_node("TopK", numbers(-1)), 1, "node 'topk' (TopK)", "K is -1")
    yield row("a list of numbers of first elements",
              make_node("TopK", numbers(1, 2)), 1, "node 'topk' (TopK)",
              "K must be one number")
    yield row("sums along no axis", make_node("CumSum", lonely(2)), 1,
              "node 'cumsum' (CumSum)", "axis 2")
    yield row("sums along an axis beyond integers",
              make_node("CumSum", lonely(HUGE)), 1, "node 'cumsum' (CumSum)")
    yield row("windows of no channel", make_node("LRN", inputs=IMAGE, size=0), 1,
              "node 'lrn' (LRN)", "windows of 0 channels")
    yield row("windows of more channels than integers count",
              make_node("LRN", inputs=IMAGE, size=HUGE), 1, "node 'lrn' (LRN)")
    yield row("the diagonal of an image",
              make_node("EyeLike", inputs=IMAGE), 1, "node 'eyelike' (EyeLike)",
              "is no matrix")
    yield row("a diagonal beyond integers",
              make_node("EyeLike", k=-HUGE), 0)
    yield row("a diagonal of unsigned integers", make_node("EyeLike", dtype=2), 3,
              "node 'eyelike' (EyeLike)", "casts to unsigned integers")
    yield row("a product of a petabyte",
              simple([node("Reshape", ["x", "column"], ["c"]),
                      node("Expand", ["c", "long"], ["l"]),
                      node("Reshape", ["l", "back"], ["r"]),
                      node("MatMul", ["l", "r"], ["y"])],
                     [integers("column", [-1, 1]),
                      integers("long", [1 << 33, 1, 1]),
                      integers("back", [1 << 33, 1, 8])]), 1,
              "node 'matmul' (MatMul)", "too large", "[8589934592, 8, 8]")


def make_rows(_):
    yield from make_operand_rows()
    yield from make_attribute_rows()
    yield from make_window_rows()
    yield from make_shape_rows()
    yield from make_size_rows()
