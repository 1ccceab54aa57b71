#!/usr/bin/env python3
"""Compares a few steps of each optimizer, on a linear regression in f64, with the formulas
computed in Python. All of them are copies of one array. Needs only Python's standard
library."""

import math
import struct

from harness import (Work, checkpoint, copy_file, expect_equal, fail, make_blocks,
                     read_metadata, read_safetensors)

STEPS = 6
SAMPLES = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-2.0, 1.0, 0.5], [0.1, 0.7, -1.2]]
TARGETS = [1.0, -0.5, 0.25, 2.0]

MODEL = """
model net(x: f32[batch, 3]) {
  return y = linear(x, 1)
}
"""


def sgd(p, g, s, t, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
    g += weight_decay * p
    s["velocity"] = momentum * s["velocity"] + g
    return p - lr * (g + momentum * s["velocity"] if nesterov else s["velocity"])


def adam(p, g, s, t, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
         amsgrad=False):
    g += weight_decay * p
    s["first_moment"] = beta1 * s["first_moment"] + (1 - beta1) * g
    s["second_moment"] = beta2 * s["second_moment"] + (1 - beta2) * g * g
    first = s["first_moment"] / (1 - beta1 ** t)
    second = s["second_moment"]
    if amsgrad:
        second = s["largest_second_moment"] = max(s["largest_second_moment"], second)
    return p - lr * first / (math.sqrt(second / (1 - beta2 ** t)) + eps)


def adamax(p, g, s, t, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0):
    g += weight_decay * p
    s["first_moment"] = beta1 * s["first_moment"] + (1 - beta1) * g
    s["largest_gradient"] = max(beta2 * s["largest_gradient"], abs(g) + eps)
    return p - lr / (1 - beta1 ** t) * s["first_moment"] / s["largest_gradient"]


def radam(p, g, s, t, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
          decoupled_weight_decay=False):
    if decoupled_weight_decay:
        p *= 1 - lr * weight_decay
    else:
        g += weight_decay * p
    s["first_moment"] = beta1 * s["first_moment"] + (1 - beta1) * g
    s["second_moment"] = beta2 * s["second_moment"] + (1 - beta2) * g * g
    first, rest = s["first_moment"] / (1 - beta1 ** t), 1 - beta2 ** t
    limit = 2 / (1 - beta2) - 1
    rho = limit - 2 * t * beta2 ** t / rest
    if rho <= 5:
        return p - lr * first
    rectified = (rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)
    return p - lr * first * math.sqrt(rest * rectified) / (math.sqrt(s["second_moment"]) + eps)


def adadelta(p, g, s, t, lr, rho=0.9, eps=1e-6, weight_decay=0.0):
    g += weight_decay * p
    s["square_average"] = rho * s["square_average"] + (1 - rho) * g * g
    change = math.sqrt(s["square_change"] + eps) / math.sqrt(s["square_average"] + eps) * g
    s["square_change"] = rho * s["square_change"] + (1 - rho) * change * change
    return p - lr * change


def adagrad(p, g, s, t, lr, lr_decay=0.0, eps=1e-10, weight_decay=0.0,
            initial_accumulator_value=0.0):
    g += weight_decay * p
    s["square_sum"] += g * g
    root = math.sqrt(s["square_sum"] + initial_accumulator_value) + eps
    return p - lr / (1 + (t - 1) * lr_decay) * g / root


def adan(p, g, s, t, lr, beta1=0.98, beta2=0.92, beta3=0.99, eps=1e-8, weight_decay=0.0,
         no_prox=False):
    change = g - s["previous_gradient"] if t > 1 else 0.0
    s["previous_gradient"] = g
    s["first_moment"] = beta1 * s["first_moment"] + (1 - beta1) * g
    s["difference_moment"] = beta2 * s["difference_moment"] + (1 - beta2) * change
    s["second_moment"] = (beta3 * s["second_moment"] +
                          (1 - beta3) * (g + beta2 * change) ** 2)
    first = s["first_moment"] / (1 - beta1 ** t)
    difference = s["difference_moment"] / (1 - beta2 ** t)
    root = math.sqrt(s["second_moment"] / (1 - beta3 ** t)) + eps
    move = lr * (first + beta2 * difference) / root
    if no_prox:
        return p * (1 - lr * weight_decay) - move
    return (p - move) / (1 + lr * weight_decay)


def adamw(p, g, s, t, lr, weight_decay=0.01, **others):
    return adam(p * (1 - lr * weight_decay), g, s, t, lr, **others)


def rmsprop(p, g, s, t, lr, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=None,
            centered=False):
    g += weight_decay * p
    s["square_average"] = alpha * s["square_average"] + (1 - alpha) * g * g
    variance = s["square_average"]
    if centered:
        s["gradient_average"] = alpha * s["gradient_average"] + (1 - alpha) * g
        variance -= s["gradient_average"] ** 2
    direction = g / (math.sqrt(variance) + eps)
    if momentum is not None:
        direction += momentum * s["momentum_buffer"]
        s["momentum_buffer"] = direction
    return p - lr * direction


def lion(p, g, s, t, lr, beta1=0.9, beta2=0.99, weight_decay=0.0):
    p *= 1 - lr * weight_decay
    mixed = beta1 * s["momentum"] + (1 - beta1) * g
    s["momentum"] = beta2 * s["momentum"] + (1 - beta2) * g
    return p - lr * math.copysign(1.0, mixed) if mixed else p


def nadam(p, g, s, t, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
          momentum_decay=4e-3, decoupled_weight_decay=False):
    if decoupled_weight_decay:
        p *= 1 - lr * weight_decay
    else:
        g += weight_decay * p
    now, after = (beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay)) for step in (t, t + 1))
    s["first_moment"] = beta1 * s["first_moment"] + (1 - beta1) * g
    s["second_moment"] = beta2 * s["second_moment"] + (1 - beta2) * g * g
    product = s["momentum_product"] = (s["momentum_product"] if t > 1 else 1.0) * now
    root = math.sqrt(s["second_moment"] / (1 - beta2 ** t)) + eps
    return p - lr * ((1 - now) / (1 - product) * g +
                     after / (1 - product * after) * s["first_moment"]) / root


# These optimizers' steps depend on whole tensors: they take lists of numbers, of one row.


def norm(numbers):
    return math.sqrt(sum(number * number for number in numbers))


def lamb(ps, gs, s, t, lr, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.01,
         always_adapt=False, trust_clip=False, decoupled_weight_decay=False):
    moves = []
    for i, (p, g) in enumerate(zip(ps, gs)):
        m = s["first_moment"][i] = beta1 * s["first_moment"][i] + (1 - beta1) * g
        v = s["second_moment"][i] = beta2 * s["second_moment"][i] + (1 - beta2) * g * g
        move = m / (1 - beta1 ** t) / (math.sqrt(v / (1 - beta2 ** t)) + eps)
        moves.append(move + (0 if decoupled_weight_decay else weight_decay * p))
    if decoupled_weight_decay:
        ps = [p * (1 - lr * weight_decay) for p in ps]
    ratio = norm(ps) / norm(moves) if norm(ps) > 0 and norm(moves) > 0 else 1.0
    if trust_clip:
        ratio = min(ratio, 1.0)
    if not weight_decay and not always_adapt:
        ratio = 1.0
    return [p - lr * ratio * move for p, move in zip(ps, moves)]


def adafactor(ps, gs, s, t, lr, beta2_decay=-0.8, eps1=2.0 ** -52, eps2=1e-3, d=1.0,
              weight_decay=0.0):
    weight = t ** beta2_decay
    size = max(eps2, norm(ps) / math.sqrt(len(ps))) * min(lr, 1 / math.sqrt(t))
    ps = [p * (1 - lr * weight_decay) for p in ps]

    def follow(state, values):
        s[state] = [old + weight * (new - old) for old, new in zip(s[state], values)]
        return s[state]
    if "variance" in s:
        variances = follow("variance", [g * g for g in gs])
    else:
        [row] = follow("row_variance", [norm(gs) ** 2 / len(gs)])
        variances = [row * column / max(row, eps1)
                     for column in follow("column_variance", [g * g for g in gs])]
    moves = [g / math.sqrt(max(v, eps1 * eps1)) for g, v in zip(gs, variances)]
    scale = size / max(1.0, norm(moves) / (math.sqrt(len(ps)) * d))
    return [p - scale * move for p, move in zip(ps, moves)]


WHOLE = (lamb, adafactor)


def get_states(update, states, name):
    """Returns the states that a parameter has, each with its number of elements."""
    count = 1 if name == "y.bias" else 3
    if update == adafactor:
        return ({"variance": 1} if name == "y.bias" else
                {"row_variance": 1, "column_variance": 3})
    return {state: 1 if state == "momentum_product" else count for state in states}


# The runs: optimizer, arguments (a list has one value per copy), and the names of the
# states that it must have. The first copy's learning rate is 0, so its parameters keep
# their initial values.
RUNS = [
    (sgd, {"lr": [0, 0.1, 0.02], "momentum": 0.9, "weight_decay": 0.1,
           "nesterov": True}, {"velocity"}),
    (sgd, {"lr": [0, 0.1]}, {"velocity"}),
    (adam, {"lr": [0, 0.1, 0.02], "beta1": 0.8, "weight_decay": 0.1},
     {"first_moment", "second_moment"}),
    (adamw, {"lr": [0, 0.1], "beta2": 0.9, "eps": 1e-3, "weight_decay": 0.2},
     {"first_moment", "second_moment"}),
    (adamw, {"lr": [0, 0.1]}, {"first_moment", "second_moment"}),
    (rmsprop, {"lr": [0, 0.1, 0.02]}, {"square_average"}),
    (rmsprop, {"lr": [0, 0.1], "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1,
               "momentum": 0.8, "centered": True},
     {"square_average", "gradient_average", "momentum_buffer"}),
    (rmsprop, {"lr": [0, 0.1], "momentum": 0.5},
     {"square_average", "momentum_buffer"}),
    (lion, {"lr": [0, 0.1, 0.02]}, {"momentum"}),
    (lion, {"lr": [0, 0.1], "beta1": 0.5, "beta2": 0.8, "weight_decay": 0.2},
     {"momentum"}),
    (adam, {"lr": [0, 0.1], "beta2": 0.5, "amsgrad": True},
     {"first_moment", "second_moment", "largest_second_moment"}),
    (adamw, {"lr": [0, 0.1], "beta2": 0.5, "weight_decay": 0.2, "amsgrad": True},
     {"first_moment", "second_moment", "largest_second_moment"}),
    (adamax, {"lr": [0, 0.1, 0.02]}, {"first_moment", "largest_gradient"}),
    (adamax, {"lr": [0, 0.1], "beta1": 0.5, "beta2": 0.6, "eps": 1e-2, "weight_decay": 0.1},
     {"first_moment", "largest_gradient"}),
    (radam, {"lr": [0, 0.1, 0.02]}, {"first_moment", "second_moment"}),
    # 2 / (1 - beta2) - 1 is 9, so that the steps from 6 on are rectified; then exactly 4.
    (radam, {"lr": [0, 0.1], "beta2": 0.8, "eps": 1e-2, "weight_decay": 0.1},
     {"first_moment", "second_moment"}),
    (radam, {"lr": [0, 0.1], "beta2": 0.6, "weight_decay": 0.1,
             "decoupled_weight_decay": True}, {"first_moment", "second_moment"}),
    (adadelta, {"lr": [0, 1, 0.5]}, {"square_average", "square_change"}),
    (adadelta, {"lr": [0, 1], "rho": 0.6, "eps": 1e-2, "weight_decay": 0.1},
     {"square_average", "square_change"}),
    (adagrad, {"lr": [0, 0.1, 0.02]}, {"square_sum"}),
    (adagrad, {"lr": [0, 0.1], "lr_decay": 0.5, "eps": 1e-2, "weight_decay": 0.1,
               "initial_accumulator_value": 0.2}, {"square_sum"}),
    (adan, {"lr": [0, 0.1, 0.02]},
     {"first_moment", "difference_moment", "second_moment", "previous_gradient"}),
    (adan, {"lr": [0, 0.1], "beta1": 0.5, "beta2": 0.6, "beta3": 0.7, "weight_decay": 0.1},
     {"first_moment", "difference_moment", "second_moment", "previous_gradient"}),
    (adan, {"lr": [0, 0.1], "weight_decay": 0.1, "no_prox": True},
     {"first_moment", "difference_moment", "second_moment", "previous_gradient"}),
    (nadam, {"lr": [0, 0.1, 0.02]}, {"first_moment", "second_moment", "momentum_product"}),
    (nadam, {"lr": [0, 0.1], "weight_decay": 0.1, "momentum_decay": 0.5},
     {"first_moment", "second_moment", "momentum_product"}),
    (nadam, {"lr": [0, 0.1], "weight_decay": 0.1, "decoupled_weight_decay": True},
     {"first_moment", "second_moment", "momentum_product"}),
    (lamb, {"lr": [0, 0.1, 0.02]}, {"first_moment", "second_moment"}),
    (lamb, {"lr": [0, 0.1], "weight_decay": 0}, {"first_moment", "second_moment"}),
    (lamb, {"lr": [0, 0.1], "weight_decay": 0, "always_adapt": True, "eps": 1e-2},
     {"first_moment", "second_moment"}),
    (lamb, {"lr": [0, 0.1], "weight_decay": 0.1, "trust_clip": True},
     {"first_moment", "second_moment"}),
    (lamb, {"lr": [0, 0.1], "weight_decay": 0.1, "decoupled_weight_decay": True},
     {"first_moment", "second_moment"}),
    (adafactor, {"lr": [0, 0.1, 0.02]}, {"row_variance", "column_variance", "variance"}),
    (adafactor, {"lr": [0, 0.9], "weight_decay": 0.1, "d": 0.5, "beta2_decay": -0.5,
                 "eps1": 1e-3, "eps2": 0.2}, {"row_variance", "column_variance", "variance"}),
]


def write(settings):
    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return ", ".join(f"{name} = {text(value)}" for name, value in settings.items())


def write_data(folder):
    """Writes samples and targets as raw files of f64."""
    for name, rows in (("x", SAMPLES), ("t", [[target] for target in TARGETS])):
        numbers = [number for row in rows for number in row]
        (folder / f"{name}.raw").write_bytes(struct.pack(f"<{len(numbers)}d", *numbers))


def gradients(weight, bias):
    """Returns the gradients of the mean of squared differences."""
    gradient, shift = [0.0] * 3, 0.0
    for sample, target in zip(SAMPLES, TARGETS):
        error = sum(w * x for w, x in zip(weight, sample)) + bias[0] - target
        shift += 2 * error / len(SAMPLES)
        for i, x in enumerate(sample):
            gradient[i] += 2 * error * x / len(SAMPLES)
    return {"y.weight": gradient, "y.bias": [shift]}


def simulate(update, settings, parameters, states, more=None):
    """Returns parameters and states after all steps, as a dictionary from names to
    numbers. `more` holds other settings of single parameters."""
    more = more or {}
    kept = {name: ({state: [0.0] * count
                    for state, count in get_states(update, states, name).items()}
                   if update in WHOLE else [dict.fromkeys(states, 0.0) for _ in numbers])
            for name, numbers in parameters.items()}
    for step in range(1, STEPS + 1):
        slopes = gradients(parameters["y.weight"], parameters["y.bias"])
        for name, numbers in parameters.items():
            own = {**settings, **more.get(name, {})}
            if update in WHOLE:
                numbers = update(numbers, slopes[name], kept[name], step, **own)
            else:
                numbers = [update(p, g, s, step, **own)
                           for p, g, s in zip(numbers, slopes[name], kept[name])]
            parameters = {**parameters, name: numbers}
    result = dict(parameters)
    for name, rows in kept.items():
        for state, count in get_states(update, states, name).items():
            result[f"{state}/{name}"] = (rows[state] if update in WHOLE else
                                         [row[state] for row in rows[:count]])
    return result


def read(folder, copy):
    """Returns a copy's tensors, and the identity of its model and states."""
    path = copy_file(checkpoint(folder, STEPS), copy)
    tensors = {name: list(numbers) for name, (_, _, numbers) in read_safetensors(path).items()}
    return tensors, read_metadata(path)["identity"]


def expect_close(mine, theirs, what):
    expect_equal(sorted(mine), sorted(theirs), f"{what}: tensors")
    for name, numbers in theirs.items():
        for got, expected in zip(mine[name], numbers, strict=True):
            if abs(got - expected) > 1e-12 * max(1.0, abs(expected)):
                fail(f"{what}: {name} is {got!r}, expected {expected!r}")


def compile_and_train(work, name, optimizer, clauses=""):
    binary = work.compile(name, MODEL + make_blocks(
        'x: f64[3] = raw("x.raw"), t: f64[1] = raw("t.raw")', "mse(net, t)", optimizer, STEPS,
        batch=4, model="net(x)", clauses=f"  precision f64\n  seed 3\n{clauses}"))
    return work.train(binary)


def check_groups(work, initial):
    """Two optimizers, and groups of parameters with other numbers: of two that give one, the
    last one counts, and a copy whose optimizer lacks a number doesn't use it."""
    folder = compile_and_train(
        work, "groups", "[adamw(lr = 0.1, weight_decay = 0.2), sgd(lr = 0.05, momentum = 0.5)]",
        """  group "*", weight_decay = 0.3, beta1 = 0.5
  group vectors, weight_decay = 0
  group outputs, lr_scale = [1, 3], momentum = 0.8""")
    copy = 0
    for update, settings in ((adamw, {"lr": 0.1, "beta1": 0.5}),
                             (sgd, {"lr": 0.05, "momentum": 0.5})):
        states = {"velocity"} if update == sgd else {"first_moment", "second_moment"}
        for scale in (1, 3):
            weight = {"lr": settings["lr"] * scale, "weight_decay": 0.3}
            if update == sgd:
                weight["momentum"] = 0.8
            expected = simulate(update, settings, initial, states,
                                {"y.weight": weight, "y.bias": {"weight_decay": 0.0}})
            expect_close(read(folder, copy)[0], expected, f"groups, copy {copy}")
            copy += 1
    print(f"groups: {copy} copies")


def muon(ps, gs, s, t, lr, momentum=0.95, weight_decay=0.1, eps=1e-7, nesterov=True, scale=1.0,
         steps=((3.4445, -4.7750, 2.0315),) * 5):
    """Updates a matrix of one row, of which the iteration changes the length alone."""
    m = s["momentum_buffer"] = [old + (1 - momentum) * (g - old)
                                for old, g in zip(s["momentum_buffer"], gs)]
    direction = [g + momentum * (old - g) for old, g in zip(m, gs)] if nesterov else m
    length = max(norm(direction), eps)
    direction = [number / length for number in direction]
    for a, b, c in steps:
        square = norm(direction) ** 2
        direction = [(a + b * square + c * square * square) * number for number in direction]
    return [p * (1 - lr * weight_decay) - lr * scale * number
            for p, number in zip(ps, direction)]


def check_muon(work, initial):
    """An optimizer of a group, whose rate follows the schedule of the job. The test of
    optimizers of matrices knows larger ones."""
    quintic = ((4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377),
               (3.7418, -5.5913, 2.3037), (2.8769, -3.1427, 1.2046),
               (2.8366, -3.0525, 1.2012))
    for name, clause, settings in (
            ("muon", "", {}),
            ("scaled", ", scale = match_rms_adamw, nesterov = false",
             {"scale": 0.2 * math.sqrt(3), "nesterov": False}),
            ("ratio", ", scale = rms_to_rms, coefficients = quintic",
             {"scale": math.sqrt(1 / 3), "steps": quintic})):
        folder = compile_and_train(
            work, name, "sgd(lr = 0.05)", f"""  schedule step(step_size = 3, gamma = 0.5)
  group outputs, optimizer = muon(lr = [0.1, 0.02]{clause})""")
        for copy, rate in enumerate((0.1, 0.02)):
            parameters = initial
            kept = {"momentum_buffer": [0.0] * 3}
            velocity = [{"velocity": 0.0}]
            for step in range(1, STEPS + 1):
                slopes = gradients(parameters["y.weight"], parameters["y.bias"])
                factor = 0.5 ** ((step - 1) // 3)
                parameters = {
                    "y.weight": muon(parameters["y.weight"], slopes["y.weight"], kept, step,
                                     rate * factor, **settings),
                    "y.bias": [sgd(parameters["y.bias"][0], slopes["y.bias"][0], velocity[0],
                                   step, 0.05 * factor)]}
            expect_close(read(folder, copy)[0], {
                **parameters, "momentum_buffer/y.weight": kept["momentum_buffer"],
                "velocity/y.bias": [velocity[0]["velocity"]]}, f"{name}, copy {copy}")
    print("muon: 6 copies")


def main():
    work = Work(__doc__)
    write_data(work.folder)
    optimizers = ", ".join(f"{update.__name__}({write(settings)})"
                           for update, settings, _ in RUNS)
    folder = compile_and_train(work, "all", f"[{optimizers}]")
    identities = {}
    copy = 0
    for number, (update, settings, states) in enumerate(RUNS):
        name = f"{update.__name__}-{number}"
        first, _ = read(folder, copy)
        initial = {key: numbers for key, numbers in first.items() if key.startswith("y.")}
        for rate in settings["lr"]:
            tensors, identity = read(folder, copy)
            kept = (update.__name__, frozenset(states))
            expect_equal(identities.setdefault(kept, identity), identity, f"{name}: identity")
            expected = simulate(update, {**settings, "lr": rate}, initial, states)
            expect_close(tensors, expected, f"{name}, copy {copy}")
            copy += 1
        print(f"{name}: {len(settings['lr'])} copies")
    # Copies have the same identity if and only if optimizer and states are the same, since
    # only these may resume from each other's checkpoints.
    expect_equal(len(set(identities.values())), len(identities), "identities")
    initial = {key: numbers for key, numbers in read(folder, 0)[0].items()
               if key.startswith("y.")}
    check_groups(work, initial)
    check_muon(work, initial)


main()
