#!/usr/bin/env python3
"""Compares steps of SOAP, Shampoo and KL-Shampoo, in f64, with the formulas in plain Python, for
a matrix that three layers store in three ways, and for a vector. All optimizers are copies of one
array, and each copy must have the bytes that it has alone. Needs only Python's standard library."""

import math
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, expect_equal, expect_same_file, fail,
                     make_blocks, read_safetensors)
from matrix_optimizers import combine, find_norm, flatten, multiply, transpose, write

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import write_npy  # noqa: E402
from onnx_writer import INT64, graph, model, node, tensor, value  # noqa: E402

STEPS = 7
ROWS, COLUMNS = 4, 5
SAMPLES = [[((7 * row + 5 * i + row * i * i) % 11 - 5) / 4 for i in range(COLUMNS)]
           for row in range(8)]
MATRIX = [[((5 * (COLUMNS * row + i)) % 13 - 6) / 16 for i in range(COLUMNS)]
          for row in range(ROWS)]
VECTOR = [0.25, -0.5, 0.75, 0.125]
# The second update has the gradient of the first one. So where that has no components in the
# first basis, SOAP divides rounding errors by epsilon, which is larger here than by default. That
# of KL-Shampoo is larger, since both factors grow where the other one is small.
COPIES = [
    ("soap", {"lr": 0.02, "eps": 1e-6, "every": 2}),
    ("soap", {"lr": 0.05, "beta1": 0.5, "beta2": 0.75, "eps": 1e-6, "weight_decay": 0.5,
              "every": 1}),
    ("shampoo", {"lr": 0.02, "beta2": 0.875, "eps": 1e-6, "every": 1, "graft": "adam"}),
    ("shampoo", {"lr": 0.05, "beta1": 0.5, "beta2": 0.75, "eps": 1e-4, "every": 3,
                 "weight_decay": 0.25, "exponent": 0.375, "graft": "adam"}),
    ("shampoo", {"lr": 0.02, "beta2": 0.875, "eps": 1e-6, "every": 2}),
    ("kl_shampoo", {"lr": 0.02, "beta2": 0.875, "eps": 1e-2, "every": 2}),
    ("kl_shampoo", {"lr": 0.02, "beta2": 0.75, "eps": 1e-2, "every": 1, "exponent": 0.25,
                    "graft": "adam", "moments": "sums"}),
]
DEFAULTS = {
    "soap": {"beta1": 0.95, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.01},
    "shampoo": {"beta1": 0.9, "weight_decay": 0.0, "graft": "none", "graft_eps": 1e-8},
}
DEFAULTS["kl_shampoo"] = {**DEFAULTS["shampoo"], "moments": "means"}


def decompose(a):
    """Returns the eigenvalues of a symmetric matrix, falling, and its eigenvectors as columns:
    by Jacobi's rotations."""
    size = len(a)
    a = [list(row) for row in a]
    basis = [[float(i == j) for j in range(size)] for i in range(size)]
    for _ in range(30):
        for p in range(size):
            for q in range(p + 1, size):
                angle = 0.5 * math.atan2(2 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(angle), math.sin(angle)
                for rows in (a, basis):
                    for row in rows:
                        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = ([c * x - s * y for x, y in zip(a[p], a[q])],
                              [s * x + c * y for x, y in zip(a[p], a[q])])
    order = sorted(range(size), key=lambda i: -a[i][i])
    return [a[i][i] for i in order], [[row[i] for i in order] for row in basis]


def iterate(factor, basis):
    """Returns an orthonormal basis of factor times basis, by Gram and Schmidt's method, twice
    for the sake of precision. Columns stay at their places."""
    columns, moved = transpose(basis), transpose(multiply(factor, basis))
    size = [sum(x * y for x, y in zip(b, f)) for b, f in zip(columns, moved)]
    done = {}
    for place in sorted(range(len(basis)), key=lambda i: -size[i]):
        column = moved[place]
        for _ in range(2):
            for other in done.values():
                part = sum(x * y for x, y in zip(column, other))
                column = [x - part * y for x, y in zip(column, other)]
        length = math.sqrt(sum(x * x for x in column))
        done[place] = [x / length for x in column]
    return transpose([done[place] for place in range(len(basis))])


def add_moment(state, name, rows, beta2, scale=1.0):
    moment = multiply(rows, transpose(rows))
    old = state.get(name, [[0.0] * len(rows)] * len(rows))
    state[name] = combine(lambda f, m: beta2 * f + (1 - beta2) * scale * m, old, moment)


def add_mean(state, name, beta, now):
    old = state.get(name, [[0.0] * len(row) for row in now])
    state[name] = combine(lambda m, x: beta * m + (1 - beta) * x, old, now)
    return state[name]


def soap(w, g, state, t, is_matrix, lr, beta1, beta2, eps, weight_decay, every):
    state.setdefault("exp_avg", [[0.0] * len(row) for row in w])
    if t > 1:
        def turn(x, back=False):
            if not is_matrix:
                return x
            left, right = state["row_basis"], state["column_basis"]
            if back:
                return multiply(multiply(left, x), transpose(right))
            return multiply(multiply(transpose(left), x), right)
        mean = add_mean(state, "exp_avg", beta1, g)
        squares = add_mean(state, "exp_avg_sq", beta2, combine(lambda x: x * x, turn(g)))
        rate = lr * math.sqrt(1 - beta2 ** (t - 1)) / (1 - beta1 ** (t - 1))
        move = turn(combine(lambda m, v: m / (math.sqrt(v) + eps), turn(mean), squares), True)
        w = combine(lambda p, x: (p - rate * x) * (1 - lr * weight_decay), w, move)
    if is_matrix:
        for side, rows in (("row", g), ("column", transpose(g))):
            add_moment(state, f"{side}_factor", rows, beta2)
            factor, basis = state[f"{side}_factor"], f"{side}_basis"
            if t == 1:
                state[basis] = decompose(factor)[1]
            elif (t - 1) % every == 0:
                state[basis] = iterate(factor, state[basis])
    return w


def shampoo(w, g, state, t, is_matrix, lr, beta1, beta2, eps, weight_decay, every, graft,
            graft_eps, exponent=None, moments=None, default=0.25):
    if exponent is None:
        exponent = default if is_matrix else 0.5
    sides = [("row", lambda x: x)] + ([("column", transpose)] if is_matrix else [])
    roots = {side: state.get(f"{side}_root") for side, _ in sides}

    def divide(x, besides=None):
        for side, turn in sides:
            if side != besides and roots[side]:
                x = turn(multiply(roots[side], turn(x)))
        return x
    for side, turn in sides:
        rows = turn(divide(g, side) if moments else g)
        scale = 1 / len(rows[0]) if moments == "means" and is_matrix else 1.0
        add_moment(state, f"{side}_factor", rows, beta2, scale)
    correction = 1 - beta2 ** t
    for side, _ in sides:
        if t % every == 0:
            values, basis = decompose(state[f"{side}_factor"])
            values = state[f"{side}_eigenvalues"] = [max(x / correction, 0) for x in values]
            roots[side] = state[f"{side}_root"] = multiply(
                [[x * (v + eps) ** -exponent for x, v in zip(row, values)] for row in basis],
                transpose(basis))
    mean = combine(lambda m: m / (1 - beta1 ** t), add_mean(state, "exp_avg", beta1, g))
    move = divide(mean)
    if graft == "adam":
        squares = add_mean(state, "exp_avg_sq", beta2, combine(lambda x: x * x, g))
        plain = combine(lambda m, v: m / (math.sqrt(v / correction) + graft_eps), mean, squares)
        ratio = find_norm(plain) / (find_norm(move) + 1e-16)
        move = combine(lambda x: x * ratio, move) if t >= every else plain
    return combine(lambda p, x: p - lr * (x + weight_decay * p), w, move)


def kl_shampoo(*operands, **settings):
    return shampoo(*operands, **settings, default=0.5)


def find_gradients(w, v):
    """Returns the gradients of the mean of the squares of the outputs, which are three times
    the matrix' and the vector."""
    of_matrix = [[0.0] * COLUMNS for _ in range(ROWS)]
    of_vector = [0.0] * ROWS
    for x in SAMPLES:
        for row in range(ROWS):
            y = 3 * sum(a * b for a, b in zip(w[row], x)) + v[row]
            share = 2 * y / (ROWS * len(SAMPLES))
            of_vector[row] += share
            of_matrix[row] = [g + share * b for g, b in zip(of_matrix[row], x)]
    return of_matrix, of_vector


def make_file():
    nodes = [node("MatMul", ["x", "columns"], ["a"], "a"),
             node("Gemm", ["x", "rows", "vector"], ["b"], "b", transB=1),
             node("Reshape", ["x", "one_channel"], ["wide"], "wide"),
             node("Conv", ["wide", "kernel"], ["c"], "c"),
             node("Reshape", ["c", "four"], ["flat"], "flat"),
             node("Sum", ["a", "b", "flat"], ["y"], "y")]
    tensors = [tensor("columns", [COLUMNS, ROWS], flatten(transpose(MATRIX))),
               tensor("rows", [ROWS, COLUMNS], flatten(MATRIX)),
               tensor("kernel", [ROWS, 1, COLUMNS], flatten(MATRIX)),
               tensor("vector", [ROWS], VECTOR)]
    tensors += [tensor(name, [len(numbers)], numbers, type=INT64)
                for name, numbers in (("one_channel", [-1, 1, COLUMNS]), ("four", [-1, ROWS]))]
    return model(graph(nodes, [value("x", ["n", COLUMNS])], [value("y", ["n", ROWS])], tensors))


def pack(matrix):
    return [matrix[i][j] for i in range(len(matrix)) for j in range(i + 1)]


def simulate(optimizer, settings):
    """Returns parameters and those states that don't depend on the order of eigenvectors and
    their signs, by their names in checkpoints."""
    settings = {**DEFAULTS[optimizer], **settings}
    matrix, vector = MATRIX, [[x] for x in VECTOR]
    own, other = {}, {}
    for t in range(1, STEPS + 1):
        of_matrix, of_vector = find_gradients(matrix, flatten(vector))
        update = globals()[optimizer]
        matrix = update(matrix, of_matrix, own, t, True, **settings)
        vector = update(vector, [[x] for x in of_vector], other, t, False, **settings)
    result = {"vector": flatten(vector), "exp_avg/vector": flatten(other["exp_avg"])}
    for name, store in (("columns", transpose), ("rows", list), ("kernel", list)):
        result[name] = flatten(store(matrix))
        result[f"exp_avg/{name}"] = flatten(store(own["exp_avg"]))
        for side in ("row", "column"):
            result[f"{side}_factor/{name}"] = pack(own[f"{side}_factor"])
    return result


def main():
    work = Work(__doc__)
    write_npy(work.folder / "x.npy", "<f4", flatten(SAMPLES), (len(SAMPLES), COLUMNS))
    (work.folder / "model.onnx").write_bytes(make_file())

    def train(name, optimizer):
        text = 'model net = onnx("model.onnx")' + make_blocks(
            'x = npy("x.npy")', "mse(net, 0)", optimizer, STEPS, batch=len(SAMPLES),
            model="net(x)", clauses="  precision f64\n")
        return checkpoint(work.train(work.compile(name, text)), STEPS)
    calls = [f"{name}({write(settings)})" for name, settings in COPIES]
    folder = train("all", f"[{', '.join(calls)}]")
    for copy, (optimizer, settings) in enumerate(COPIES):
        tensors = read_safetensors(copy_file(folder, copy))
        expected = simulate(optimizer, settings)
        worst = max(abs(got - wanted) for name, numbers in expected.items()
                    for got, wanted in zip(tensors[name][2], numbers, strict=True))
        if not worst < 1e-10:
            fail(f"{calls[copy]} differs by {worst}")
        squares = sorted(name for name in tensors if name.startswith("exp_avg_sq/"))
        expect_equal(len(squares), 4 if optimizer == "soap" or "graft" in settings else 0, "means of squares")
        expect_same_file(copy_file(train(f"alone-{copy}", calls[copy]), 0),
                         copy_file(folder, copy), f"copy {copy} alone")
        print(f"{calls[copy]}: within {worst:.1e}")


if __name__ == "__main__":
    main()
