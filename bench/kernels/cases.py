"""The kernels that bench/kernels measures: one task each, in one module.

A case has its op as text of the hfta dialect, its useful flops, and the numbers that the
driver needs for its peers and its check."""

import dataclasses


@dataclasses.dataclass
class Case:
    name: str
    kind: str           # an enumerator of the driver's `Kind`
    numbers: list       # the sizes that the driver's peers and checks read
    operands: list      # the shapes of a, b, ...
    result: list        # the shape of r, or None if operands are updated in place
    op: str             # the text of %r = op(%a, %b, ...); or several lines
    flops: float        # useful flops; bytes for memory-bound kinds
    goal: int = 0       # the wanted percentage of the peak; 0: none
    updated: str = ""   # the operands that new_a, new_b, ... overwrite
    activations: str = ""  # names of values whose layout the compiler may choose
    copies: int = 1     # the number of copies, each with its own operands
    beside: str = ""    # the name of an earlier case to compare it with

    def flops_are_bytes(self):
        return self.kind not in ("gemm", "forward", "input", "weight", "square",
                                 "moment", "patches")

    def tensor(self, shape):
        copies = f", #hfta.copies<{self.copies}>" if self.copies > 1 else ""
        return "tensor<" + "".join(f"{size}x" for size in shape) + f"f32{copies}>"


def gemm(m, n, k, transposed="nn", batch=1, goal=0):
    """Returns the case C = A B with C[m, n] and sums over k. `transposed` has a letter for
    A and one for B: t if it is stored transposed, else n."""
    left = [m, k] if transposed[0] == "n" else [k, m]
    right = [k, n] if transposed[1] == "n" else [n, k]
    letters = {m: "m", n: "n", k: "k"}
    maps = [("m", "k") if transposed[0] == "n" else ("k", "m"),
            ("k", "n") if transposed[1] == "n" else ("n", "k"), ("m", "n")]
    shapes = [left, right, [m, n]]
    dims = "m, n, k"
    if batch > 1:
        maps = [("b",) + letters for letters in maps]
        shapes = [[batch] + shape for shape in shapes]
        dims = "b, " + dims
    text = ", ".join(f"affine_map<({dims}) -> ({', '.join(letters)})>"
                     for letters in maps)
    case = Case(f"gemm {transposed} {batch}x({m}x{n}x{k})", "gemm",
                [batch, m, n, k, int(transposed[0] == "t"),
                 int(transposed[1] == "t")],
                shapes[:2], shapes[2], "", 2.0 * batch * m * n * k, goal)
    case.op = (f"hfta.contract %a, %b maps [{text}] : "
               f"{case.tensor(shapes[0])}, {case.tensor(shapes[1])}")
    return case


def count_taps(size, out, kernel, stride, padding):
    """Returns the number of taps of all windows along one axis, without those on
    padding."""
    return sum(0 <= position * stride + tap - padding < size
               for position in range(out) for tap in range(kernel))


def convolution(kind, n, c, o, size, kernel=3, stride=1, groups=1, copies=1,
                goal=0):
    """Returns the case of one pass of a convolution with padding of half the kernel: kind
    `forward`, or the gradient of the `input` or `weight`. Inputs have n samples, c channels
    and size x size pixels; o is the number of output channels."""
    padding = kernel // 2
    out = (size + 2 * padding - kernel) // stride + 1
    x, w = [n, c, size, size], [o, c // groups, kernel, kernel]
    y = [n, o, out, out]
    window = (f"strides = array<i64: {stride}, {stride}>, dilations = array<i64: "
              f"1, 1>, padding = array<i64: {', '.join([str(padding)] * 4)}>, "
              f"groups = {groups} : i64")
    array = f"{copies} copies of " if copies > 1 else ""
    case = Case(f"{kind} {array}{n}x{c}->{o} {size}x{size} k{kernel} s{stride} "
                f"g{groups}", kind,
                [n, c, o, size, kernel, stride, padding, groups], [], [], "",
                2.0 * copies * n * o * (c // groups) *
                count_taps(size, out, kernel, stride, padding) ** 2, goal,
                copies=copies)

    def shaped(name, shape):
        return f"{name} = array<i64: {', '.join(map(str, shape))}>"

    if kind == "forward":
        case.operands, case.result, case.activations = [x, w], y, "ar"
        case.op = f"hfta.conv %a, %b {{{window}}}"
    elif kind == "input":
        case.operands, case.result, case.activations = [y, w], x, "ar"
        case.op = (f"hfta.conv_input_gradient %a, %b {{{window}, "
                   f"{shaped('input_shape', x)}}}")
    else:
        case.operands, case.result, case.activations = [x, y], w, "ab"
        case.op = (f"hfta.conv_weight_gradient %a, %b {{{window}, "
                   f"{shaped('weight_shape', w)}}}")
    case.op += (f" : {case.tensor(case.operands[0])}, "
                f"{case.tensor(case.operands[1])}")
    return case


def passes(*shape, goals=(0, 0, 0), **options):
    return [convolution(kind, *shape, goal=goal, **options)
            for kind, goal in zip(("forward", "input", "weight"), goals)]


def moments(n, rows):
    """Returns two cases for x'x: a contraction, and a second moment, which computes only
    the packed triangle."""
    x = [rows, n]
    square = Case(f"contract x'x {rows}x{n}", "square", [rows, n], [x], [n, n], "",
                  2.0 * rows * n * n)
    square.op = ("hfta.contract %a, %a maps [affine_map<(m, n, k) -> (k, m)>, "
                 "affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]"
                 f" : {square.tensor(x)}, {square.tensor(x)}")
    moment = Case(f"second_moment {rows}x{n}", "moment", [rows, n], [x],
                  [1, n * (n + 1) // 2], "", 1.0 * rows * n * (n + 1),
                  beside=square.name)
    moment.op = ("hfta.second_moment %a blocks [] columns [1] scale 1.0 : "
                 f"{moment.tensor(x)}")
    return [square, moment]


def patches(n, c, size, kernel=3, stride=1, groups=1):
    """Returns two cases: a convolution with c input and c output channels, and the second
    moment of its patches."""
    forward = convolution("forward", n, c, c, size, kernel, stride, groups)
    side, padding = c // groups * kernel * kernel, kernel // 2
    out = (size + 2 * padding - kernel) // stride + 1
    # For each position of the window along one axis, the number of taps that aren't on
    # padding.
    inside = [sum(0 <= position * stride + tap - padding < size
                  for tap in range(kernel)) for position in range(out)]
    pairs, taps = sum(count * count for count in inside) ** 2, sum(inside) ** 2
    case = Case(f"patch_moment {n}x{c} {size}x{size} k{kernel} s{stride} g{groups}",
                "patches", [n, c, size, kernel, stride, padding, groups],
                forward.operands[:1], [groups, side * (side + 1) // 2], "",
                1.0 * n * groups * ((c // groups) ** 2 * pairs + c // groups * taps),
                activations="a", beside=forward.name)
    window = forward.op[forward.op.index("{") + 1:forward.op.index("}")]
    case.op = (f"hfta.patch_moment %a scale 1.0 {{kernel = array<i64: {kernel}, "
               f"{kernel}>, {window}}} : {case.tensor(case.operands[0])}")
    return [forward, case]


def moment_cases():
    for n, rows in ((256, 256), (256, 1024), (256, 4096), (512, 256), (512, 1024),
                    (512, 4096), (785, 512), (1024, 1024), (1024, 4096),
                    (2304, 1024)):
        yield from moments(n, rows)
    yield from patches(64, 16, 28)
    yield from patches(64, 32, 28)
    yield from patches(32, 64, 14)
    yield from patches(32, 32, 28, kernel=5)
    yield from patches(32, 32, 28, stride=2)
    yield from patches(64, 3, 32)


def memory(kind, operands, result, op, reads, writes, updated="", activations="",
           channels_last=False):
    """Returns a memory-bound case. `reads` and `writes` count f32 elements."""
    case = Case(kind + " channels last" * channels_last, kind,
                [reads, writes, int(channels_last)], operands, result, op,
                4.0 * (reads + writes), 80, updated, activations)
    for name, shape in zip("abcd", operands):
        case.op = case.op.replace(f"@{name}", case.tensor(shape))
    return case


def memory_cases():
    long, image, rows = [1 << 23], [64, 64, 56, 56], [8192, 1000]
    count, pixels, cells = 1 << 23, 64 * 64 * 56 * 56, 8192 * 1000
    yield memory("chain", [long] * 3, long, """%0 = hfta.mul %a, %b : @a, @b
    %1 = hfta.add %0, %c : @a, @c
    %r = hfta.relu %1 : @a""", 3 * count, count)
    yield memory("momentum", [long] * 3, None,
                 """%rate = hfta.constant dense<0.9> : @a
    %0 = hfta.mul %c, %rate : @c, @a
    %new_c = hfta.add %0, %b : @c, @b
    %1 = hfta.mul %new_c, %rate : @c, @a
    %new_a = hfta.sub %a, %1 : @a, @c""", 3 * count, 2 * count, "ac")
    yield memory("adam", [long] * 4, None,
                 """%beta1 = hfta.constant dense<0.9> : @a
    %beta2 = hfta.constant dense<0.99> : @a
    %one1 = hfta.constant dense<0.1> : @a
    %one2 = hfta.constant dense<0.01> : @a
    %rate = hfta.constant dense<0.125> : @a
    %epsilon = hfta.constant dense<1.0e-8> : @a
    %0 = hfta.mul %c, %beta1 : @c, @a
    %1 = hfta.mul %b, %one1 : @b, @a
    %new_c = hfta.add %0, %1 : @a, @a
    %2 = hfta.mul %d, %beta2 : @d, @a
    %3 = hfta.mul %b, %b : @b, @b
    %4 = hfta.mul %3, %one2 : @a, @a
    %new_d = hfta.add %2, %4 : @a, @a
    %5 = hfta.sqrt %new_d : @a
    %6 = hfta.add %5, %epsilon : @a, @a
    %7 = hfta.mul %new_c, %rate : @a, @a
    %8 = hfta.div %7, %6 : @a, @a
    %new_a = hfta.sub %a, %8 : @a, @a""", 4 * count, 3 * count, "acd")
    for last in (False, True):
        if last:
            image = [64, 56, 56, 64]
        spread = f"to {image} along [{3 if last else 1}] : tensor<64xf32>"
        yield memory("normalize", [image] + [[64]] * 3, image,
                     f"""%mean = hfta.broadcast %b {spread}
    %scale = hfta.broadcast %c {spread}
    %bias = hfta.broadcast %d {spread}
    %0 = hfta.sub %a, %mean : @a, @a
    %1 = hfta.mul %0, %scale : @a, @a
    %r = hfta.add %1, %bias : @a, @a""", pixels, pixels, channels_last=last)
        yield memory("statistics", [image], [64],
                     f"%r = hfta.reduce sum %a over {[0, 1, 2] if last else [0, 2, 3]}"
                     " : @a", pixels, 0, channels_last=last)
    image = [64, 64, 56, 56]
    yield memory("softmax", [rows], rows, "%r = hfta.softmax %a along 1 : @a",
                 cells, cells)
    spread = "to [8192, 1000] along [0] : tensor<8192xf32>"
    row = "tensor<8192xf32>"
    yield memory("layerNorm", [rows], rows,
                 f"""%s = hfta.reduce sum %a over [1] : @a
    %count = hfta.constant dense<0.001> : {row}
    %mean = hfta.mul %s, %count : {row}, {row}
    %0 = hfta.broadcast %mean {spread}
    %1 = hfta.sub %a, %0 : @a, @a
    %2 = hfta.mul %1, %1 : @a, @a
    %3 = hfta.reduce sum %2 over [1] : @a
    %variance = hfta.mul %3, %count : {row}, {row}
    %inverse = hfta.rsqrt %variance : {row}
    %4 = hfta.broadcast %inverse {spread}
    %r = hfta.mul %1, %4 : @a, @a""", cells, cells)
    window = ("kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = "
              "array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>")
    yield memory("pool", [image], [64, 64, 28, 28],
                 f"%r, %index = hfta.max_pool %a {{{window}}} : @a", pixels, pixels // 4,
                 activations="ar")
    triangle = 1024 * 1025 // 2
    yield memory("unpack", [[8, triangle]], [8, 1024, 1024],
                 "%r = hfta.unpack_symmetric %a : @a", 8 * triangle,
                 8 * 1024 * 1024)


def make_cases():
    cases = [
        gemm(512, 512, 512, goal=80), gemm(1024, 1024, 1024, goal=78),
        gemm(128, 128, 128, goal=80),
        gemm(32, 64, 64, batch=64, goal=65),
        gemm(32, 64, 64, "tn", batch=64, goal=60),
        gemm(32, 64, 64, "nt", batch=64, goal=45),
        gemm(32, 100, 64, batch=64, goal=45),
        gemm(32, 10, 64, batch=64, goal=35),
        gemm(37, 100, 53, goal=40),
        # A layer of 1024 units with a batch of 128: forward, gradient of the input and of
        # the weight.
        gemm(128, 1024, 1024, "nt"), gemm(128, 1024, 1024), gemm(1024, 1024, 128, "tn"),
        # The linear layers of examples/fashion: the first one's forward, gradient of the
        # input and gradient of the weight, then the second one's forward.
        gemm(64, 128, 1568, "nt"), gemm(64, 1568, 128), gemm(128, 1568, 64, "tn"),
        gemm(64, 10, 128, "nt"),
        # The products of BERT-Medium, for 8 x 128 tokens.
        gemm(1024, 512, 512, "nt"), gemm(1024, 2048, 512, "nt"),
        gemm(512, 512, 1024, "tn"), gemm(128, 128, 64, "nt", batch=64),
        # BERT-Medium for 4 x 128 tokens: gradients of weights, gradients of inputs, forward.
        gemm(512, 512, 512, "tn"), gemm(2048, 512, 512, "tn"), gemm(512, 2048, 512, "tn"),
        gemm(512, 512, 2048), gemm(512, 2048, 512), gemm(512, 512, 2048, "nt"),
        # The last layer of a language model with 33,278 words: gradient of the weight,
        # forward, gradient of the input.
        gemm(33278, 128, 1024, "tn"), gemm(1024, 33278, 128, "nt"),
        gemm(1024, 128, 33278),
    ]
    # ResNet-18 with a batch of 8.
    cases += passes(8, 64, 64, 56, goals=(80, 65, 65))
    cases += passes(8, 128, 128, 28, goals=(80, 65, 65))
    cases += passes(8, 256, 256, 14, goals=(80, 65, 65))
    cases += passes(8, 512, 512, 7, goals=(70, 60, 60))
    cases += passes(8, 64, 128, 56, stride=2)
    cases += passes(8, 64, 128, 56, kernel=1, stride=2)
    cases += passes(8, 3, 64, 112, kernel=7, stride=2)
    # Eight copies of small convolutions, then one copy of examples/fashion.
    cases += passes(8, 16, 16, 28, copies=8)
    cases += passes(8, 8, 8, 56, copies=8)
    cases += passes(8, 3, 8, 32, copies=8)
    cases += passes(64, 1, 16, 28)
    cases += passes(64, 16, 32, 14)
    # A depthwise and a pointwise convolution of MobileNetV3.
    cases += passes(8, 72, 72, 28, kernel=5, groups=72)
    cases += passes(8, 40, 240, 14, kernel=1)
    cases += moment_cases()
    return cases + list(memory_cases())


def make_job(copies):
    """Returns the attribute alias #job: the settings of a job with this many copies, whose
    program only contains kernels."""
    return f"""#job = {{name = "kernels", copies = {copies} : i64, batch = 1 : i64, epochs = 0 : i64,
  training = false, optimizers = [], hyper_parameters = [], seed = array<i64>, data = []}}
"""


def make_module(cases):
    """Returns the module: for each case I, variables `I/a`, `I/b`, ..., `I/r` and the
    task forward.I."""
    text = [make_job(8), "module attributes {hfta.job = #job, hfta.phase = \"train\"} {"]
    for index, case in enumerate(cases):
        shapes = dict(zip("abcd", case.operands))
        if case.result:
            shapes["r"] = case.result
        for name, shape in shapes.items():
            role = "exchange" if name in case.activations else "parameter"
            text.append(f'  hfta.variable @"{index}/{name}" {{role = '
                        f"#hfta.role<{role}>}} : {case.tensor(shape)}")
    for index, case in enumerate(cases):
        text.append(f'  func.func @"task/forward.{index}"() attributes '
                    f"{{hfta.task = #hfta.task<forward, {index}>}} {{")
        for name, shape in zip("abcd", case.operands):
            text.append(f'    %{name} = hfta.read @"{index}/{name}" : '
                        f"{case.tensor(shape)}")
        is_whole = case.flops_are_bytes() or not case.result
        text.append("    " + (case.op if is_whole else f"%r = {case.op}"))
        written = [("%r", "r", case.result)] if case.result else [
            (f"%new_{name}", name, case.operands["abcd".index(name)])
            for name in case.updated]
        for value, name, shape in written:
            text.append(f'    hfta.write {value}, @"{index}/{name}" : '
                        f"{case.tensor(shape)}")
        text += ["    return", "  }"]
    return "\n".join(text + ["}", ""])


def make_table(cases):
    """Returns the driver's table of cases as C++ initializers."""
    rows = []
    places = {case.name: index for index, case in enumerate(cases)}
    for case in cases:
        numbers = ", ".join(map(str, case.numbers))
        rows.append(f'  {{"{case.name}", Kind::{case.kind}, {{{numbers}}}, '
                    f"{case.flops!r}, {case.goal}, {case.copies}, "
                    f"{places.get(case.beside, -1)}}},")
    return "\n".join(rows) + "\n"
