#!/usr/bin/env python3
"""Tests schedule-free optimizers: the parameter y and the average x equal the formulas in
plain Python after each update; evaluations, best weights, exports and the scores of a search
are those of x, and those of plain weights in copies and parameters with other optimizers. With
--ranks, stages are on that many ranks instead, for which Open MPI's mpirun is needed. Needs
only Python's standard library."""

import array
import sys

from averages import find_loss, find_targets, read_tensors
from clips import MATRIX, VECTOR, make_file
from harness import (REFERENCE, Work, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     make_blocks, read_log, read_safetensors, run)
from mpirun import run_ranks
from searches import expect_replays, read_trials, search, to_number

sys.path[:0] = [str(REFERENCE)]

from make_data import write_npy  # noqa: E402

STEPS = 6
NAMES = ("block.0.matrix", "head.vector")
DATA = 'x = npy("x.npy")\n  validation x = npy("x.npy")\n  test x = npy("x.npy")'


class Sgd:
    """Keeps the base z, the average x, and the point y where gradients are taken."""

    def __init__(self, weight_decay=0.0, r=0.0, rate_power=2.0):
        self.decay, self.r, self.power = weight_decay, r, rate_power
        self.z = self.x = self.y = MATRIX + VECTOR
        self.sum = self.largest = 0.0

    def find_steps(self, gradients, _):
        return [g + self.decay * y for g, y in zip(gradients, self.y)]

    def update(self, step, rate, beta, skipped=0):
        """Updates for the step-th time, with the gradient of the step after `skipped` more."""
        gradients = [2 * (y - t) for y, t in zip(self.y, find_targets(skipped + step))]
        moves = self.find_steps(gradients, step)
        self.z = [z - rate * move for z, move in zip(self.z, moves)]
        self.largest = max(self.largest, rate)
        weight = step ** self.r * self.largest ** self.power
        self.sum += weight
        share = weight / self.sum if self.sum else 0.0
        self.x = [(1 - share) * x + share * z for x, z in zip(self.x, self.z)]
        self.y = [(1 - beta) * z + beta * x for x, z in zip(self.x, self.z)]


class AdamW(Sgd):
    def __init__(self, beta2=0.999, eps=1e-8, **others):
        super().__init__(**others)
        self.beta2, self.eps, self.squares = beta2, eps, [0.0] * 16

    def find_steps(self, gradients, step):
        self.squares = [self.beta2 * v + (1 - self.beta2) * g * g
                        for v, g in zip(self.squares, gradients)]
        rest = 1 - self.beta2 ** step
        return [g / ((v / rest) ** 0.5 + self.eps) + self.decay * y
                for g, v, y in zip(gradients, self.squares, self.y)]


class Plain(Sgd):
    """Stochastic gradient descent, of which the weights themselves are evaluated."""

    def update(self, step, rate, beta):
        self.y = [y - rate * 2 * (y - t) for y, t in zip(self.y, find_targets(step))]
        self.x = self.y


def compute(rule, rates, betas, steps):
    """Returns y and x after each step."""
    history = []
    for step in range(1, steps + 1):
        rule.update(step, rates(step), betas(step))
        history.append((rule.y, rule.x))
    return history


def constant(number):
    return lambda step: number


def warmed(number, steps=3):
    return lambda step: number * min(1, step / steps)


# By name: clauses, and for each copy its optimizer, the formula, its rates and betas.
KINDS = {
    "constant": ("", [
        ("schedule_free_sgd(lr = 0.125)", Sgd, constant(0.125), constant(0.9)),
        ("schedule_free_sgd(lr = 0)", Sgd, constant(0), constant(0.9)),
        ("schedule_free_sgd()", Sgd, constant(1), constant(0.9)),
        ("sgd(lr = 0.125)", Plain, constant(0.125), constant(0)),
        ("schedule_free_adamw(lr = 0.1)", AdamW, constant(0.1), constant(0.9)),
        ("schedule_free_adamw(lr = 0.1, beta2 = 0.9, eps = 0.1, rate_power = 0)",
         lambda: AdamW(beta2=0.9, eps=0.1, rate_power=0), constant(0.1), constant(0.9)),
        ("schedule_free_adamw()", AdamW, constant(2.5e-3), constant(0.9))]),
    "warm-up": ("  schedule constant(warmup = 3)\n", [
        ("schedule_free_sgd(lr = 0.125, momentum = 0.8, weight_decay = 0.1, r = 1)",
         lambda: Sgd(weight_decay=0.1, r=1), warmed(0.125), constant(0.8)),
        ("schedule_free_adamw(lr = 0.1, betas = [0.95, 0.99], weight_decay = 0.1)",
         lambda: AdamW(beta2=0.99, weight_decay=0.1), warmed(0.1), constant(0.95))]),
    # The weights of steps go by the largest rate so far, not by the falling one.
    "falling": ("  schedule step(step_size = 2, gamma = 0.5)\n"
                "  schedule_of momentum = exponential(0.8)\n", [
                    ("schedule_free_sgd(lr = 0.25, momentum = 0.99, rate_power = 1)",
                     lambda: Sgd(rate_power=1), lambda step: 0.25 * 0.5 ** ((step - 1) // 2),
                     lambda step: 0.99 * 0.8 ** (step - 1))]),
}


def make_text(optimizer, clauses="", steps=STEPS, precision="f64", data=DATA):
    return 'model net = onnx("model.onnx")' + make_blocks(
        data, "mse(net, 0)", optimizer, steps, batch=1, model="net(x)",
        clauses=f"  precision {precision}\n{clauses}").replace(
            "batch = 1", "batch = 1, shuffle = false")


def read_weights(folder, copy=0):
    """Returns y and x of a checkpoint's copy."""
    tensors = read_tensors(folder, copy)
    y = sum((tensors[name] for name in NAMES), [])
    offsets = sum((tensors.get(f"average_offset/{name}", [0.0] * len(tensors[name]))
                   for name in NAMES), [])
    return y, [a + b for a, b in zip(y, offsets)]


def find_distance(mine, theirs):
    return max(abs(a - b) for a, b in zip(mine, theirs, strict=True))


def expect_number(mine, expected, what, tolerance=1e-12):
    if not abs(mine - expected) <= tolerance * max(1, abs(expected)):
        fail(f"{what} is {mine!r}, expected {expected!r}")


def check_formulas(work):
    """Compares y and x after each step, and the losses that the training shows."""
    for name, (clauses, copies) in KINDS.items():
        binary = work.compile(name, make_text(f"[{', '.join(copy[0] for copy in copies)}]",
                                              clauses))
        log = work.folder / f"{name}.jsonl"
        folder = work.train(binary, "--every", "1", "--keep", "9", "--log", log)
        [epoch] = [event for event in read_log(log) if event["event"] == "epoch"]
        worst = 0.0
        for copy, (_, rule, rates, betas) in enumerate(copies):
            history = compute(rule(), rates, betas, STEPS)
            for step, (y, x) in enumerate(history, 1):
                mine = read_weights(checkpoint(folder, step), copy)
                worst = max(worst, find_distance(mine[0], y), find_distance(mine[1], x))
            y, x = history[-1]
            for key in ("validation_loss", "eval_loss"):
                expect_number(epoch[key][copy], find_loss(x), f"{name}: {key} of copy {copy}")
            before = [MATRIX + VECTOR] + [y for y, _ in history[:-1]]
            losses = [sum((4 * (w - t)) ** 2 for w, t in zip(y, find_targets(step))) / 16
                      for step, y in enumerate(before, 1)]
            expect_number(epoch["train_loss"][copy], sum(losses) / STEPS,
                          f"{name}: training loss of copy {copy}")
        if not worst < 1e-12:
            fail(f"{name}: differs by {worst}")
        print(f"{name}: {len(copies)} copies within {worst:.1e}")


def check_groups(work):
    """A group's parameters with another optimizer are evaluated as they are."""
    binary = work.compile("groups", make_text(
        "schedule_free_sgd(lr = 0.125)", '  group "head.*", optimizer = sgd(lr = 0.25)\n'
        '  group "block.*", lr_scale = 2\n'))
    log = work.folder / "groups.jsonl"
    work.train(binary, "--log", log)
    _, x = compute(Sgd(), constant(0.25), constant(0.9), STEPS)[-1]
    _, plain = compute(Plain(), constant(0.25), constant(0), STEPS)[-1]
    [epoch] = [event for event in read_log(log) if event["event"] == "epoch"]
    expect_number(epoch["eval_loss"][0], find_loss(x[:12] + plain[12:]), "groups: loss")
    print("groups: same")


PROGRAMS = ("[schedule_free_sgd(lr = [0.125, 0.5]), adamw(lr = 0.1), "
            "schedule_free_adamw(lr = 0.1)]")
ALONE = ("schedule_free_sgd(lr = 0.125)", "schedule_free_sgd(lr = 0.5)", "adamw(lr = 0.1)",
         "schedule_free_adamw(lr = 0.1)")


def read_results(log):
    return [{key: value for key, value in event.items()
             if key.startswith(("validation_", "eval_", "best_"))}
            for event in read_log(log) if event["event"] == "epoch"]


def check_programs(work):
    """Programs of other kinds, each copy alone and a resumed training have the same bytes and
    results, though evaluations put averages in the weights' places meanwhile."""
    steps = 4 * STEPS
    clauses = "  keep best\n  schedule exponential(0.9, warmup = 4)\n"
    text = make_text(PROGRAMS, clauses, steps, "f32")
    binary = work.compile("programs", text)
    log = work.folder / "programs.jsonl"
    folder = checkpoint(work.train(binary, "--log", log), steps)
    results = read_results(log)
    for name, more, flags in (("unfused", "", ["--no-fuse"]),
                              ("stages", '  pipeline cuts = ["first"]\n', []),
                              ("budget", "  memory device = 64MiB\n", [])):
        other = work.compile(name, make_text(PROGRAMS, clauses + more, steps, "f32"), *flags)
        log = work.folder / f"{name}.jsonl"
        mine = checkpoint(work.train(other, "--log", log), steps)
        expect_same_checkpoint(mine, folder, name, copies=4)
        expect_equal(read_results(log), results, f"{name}: evaluations")
    half = work.compile("half", text)
    work.train(half, "--steps", "8")
    log = work.folder / "resumed.jsonl"
    again = work.train(half, "--steps", str(steps), "--resume", "--log", log)
    expect_same_checkpoint(checkpoint(again, steps), folder, "resumed", copies=4)
    expect_equal(read_results(log)[-1], results[-1], "resumed: evaluations")
    for copy, optimizer in enumerate(ALONE):
        alone = work.compile(f"alone-{copy}", make_text(optimizer, clauses, steps, "f32"))
        log = work.folder / f"alone-{copy}.jsonl"
        mine = checkpoint(work.train(alone, "--log", log), steps)
        for kind in ("copy", "best"):
            expect_equal((mine / f"{kind}-0000.safetensors").read_bytes(),
                         (folder / f"{kind}-{copy:04d}.safetensors").read_bytes(),
                         f"{kind} {copy} alone")
        expect_equal(read_results(log), [{key: [value[copy]] for key, value in result.items()}
                                         for result in results], f"copy {copy} alone")
    print("programs: same")


def check_ranks(work, ranks):
    """Several ranks evaluate the same averages, keep the same ones as best weights, and load
    them."""
    steps = 4 * STEPS
    text = make_text(PROGRAMS, "  keep best\n", steps, "f32")
    binary = work.compile("one", text)
    log = work.folder / "one.jsonl"
    expected = checkpoint(work.train(binary, "--log", log), steps)
    results = read_results(log)
    stages = work.compile("stages", text, '--pipeline=cuts = ["first"], replicas = [1, 1]')
    folder, log = work.folder / "ranks-checkpoints", work.folder / "ranks.jsonl"
    run_ranks(ranks, stages, "train", "--data", work.folder, "--checkpoint", folder,
              "--no-progress", "--log", log)
    expect_equal(read_results(log), results, "ranks: evaluations")
    for path in sorted(expected.glob("*-000?.safetensors")):
        expect_equal((checkpoint(folder, steps) / path.name).read_bytes(), path.read_bytes(),
                     f"ranks: {path.name}")
    command = ["eval", "--data", work.folder, "--checkpoint", folder]
    expect_equal(run_ranks(ranks, stages, *command), run(binary, *command), "ranks: eval")
    print("ranks: same")


def check_best(work):
    """Best weights are averages: the training goes by their loss, and keeps them."""
    steps = 8 * STEPS
    binary = work.compile("best", make_text(
        "[schedule_free_sgd(lr = [0.25, 0.9]), sgd(lr = 0.25)]",
        "  keep best\n  schedule linear(start = 0.1, end = 1)\n", steps))
    log = work.folder / "best.jsonl"
    folder = work.train(binary, "--every", str(STEPS), "--keep", "9", "--log", log)
    epochs = [event for event in read_log(log) if event["event"] == "epoch"]
    text = run(binary, "eval", "--data", work.folder, "--checkpoint", folder)
    for copy in range(3):
        losses = []
        for epoch in range(1, 9):
            _, x = read_weights(checkpoint(folder, STEPS * epoch), copy)
            losses.append(find_loss(x))
            expect_number(epochs[epoch - 1]["validation_loss"][copy], losses[-1],
                          f"best: loss of copy {copy} in epoch {epoch}")
        best = losses.index(min(losses)) + 1
        expect_equal(epochs[-1]["best_step"][copy], STEPS * best, f"best step of copy {copy}")
        expect_number(epochs[-1]["eval_loss"][copy], losses[best - 1], f"test of copy {copy}")
        if f"{losses[best - 1]:.5g}" not in text:
            fail(f"eval prints {text}, expected {losses[best - 1]}")
        _, x = read_weights(checkpoint(folder, STEPS * best), copy)
        _, _, rows = zip(*(read_safetensors(
            checkpoint(folder, steps) / f"best-{copy:04d}.safetensors")[name]
            for name in NAMES))
        expect_equal(sum(map(list, rows), []), x, f"best weights of copy {copy}")
    print("best weights: same")


def read_npy(path):
    data = path.read_bytes()
    numbers = array.array("d" if b"f8" in data[:128] else "f")
    numbers.frombytes(data[128:])
    return numbers


def check_uses(work):
    """Evaluations, runs and exports take x, without an option."""
    binary = work.compile("uses", make_text("[sgd(lr = 0.1), schedule_free_sgd(lr = 0.125)]"))
    folder = work.train(binary)
    _, x = compute(Sgd(), constant(0.125), constant(0.9), STEPS)[-1]
    text = run(binary, "eval", "--data", work.folder, "--checkpoint", folder)
    if f"{find_loss(x):.5g}" not in text:
        fail(f"eval prints {text}, expected {find_loss(x)}")
    run(binary, "export", "--copy", "1", "-o", work.folder / "out.onnx", "--checkpoint",
        folder)
    again = work.folder / "again"
    run(work.hftac, work.folder / "out.onnx", "--batch=1", "-o", again)
    one = f"x={work.folder / 'one.npy'}"
    run(again, "run", "--input", one, "--output", work.folder / "exported")
    run(binary, "run", "--copy", "1", "--input", one, "--output", work.folder / "run",
        "--checkpoint", folder)
    expected = [4 * (w - t) for w, t in zip(x, find_targets(1))]
    for place in ("run", "exported"):
        worst = find_distance(read_npy(work.folder / place / "y.npy"), expected)
        if not worst < 1e-5:
            fail(f"{place}: outputs differ by {worst}")
    if "evaluates the averages of weights" not in run(binary, "info"):
        fail("info doesn't tell of averages")
    # There are no averages beside these.
    if "--average" not in run(binary, "eval", "--average", code=2):
        fail("eval takes --average")
    # Without a checkpoint, the average is the initial weight.
    text = run(binary, "eval", "--data", work.folder)
    if f"{find_loss(MATRIX + VECTOR):.5g}" not in text:
        fail(f"eval without a checkpoint prints {text}")
    print("uses: same")


def check_types(work):
    """A training and `eval` compute the same average of narrow types."""
    for name, precision in (("bf16", "bf16"), ("parameters", "f32, parameters = bf16"),
                            ("state", "f32, state = f16"), ("f16", "f32, parameters = f16")):
        binary = work.compile(name, make_text("schedule_free_adamw(lr = [0.1, 0.3])",
                                              precision=precision))
        log = work.folder / f"{name}.jsonl"
        folder = work.train(binary, "--log", log)
        told = [event for event in read_log(log) if event["event"] == "epoch"][-1]
        text = run(binary, "eval", "--data", work.folder, "--checkpoint", folder)
        history = compute(AdamW(), constant(0.1), constant(0.9), STEPS)
        expect_number(told["eval_loss"][0], find_loss(history[-1][1]), name, 0.05)
        for loss in told["eval_loss"]:
            if f"{loss:.5g}" not in text:
                fail(f"{name}: eval prints {text}, expected {loss}")
    # Steps that are skipped, because gradients overflow, count neither for x nor for weights.
    binary = work.compile("scaled", make_text(
        "schedule_free_sgd(lr = 0.125, r = 1)", "  loss_scale 65536\n",
        precision="f32, gradients = f16"))
    log = work.folder / "scaled.jsonl"
    folder = work.train(binary, "--every", "1", "--keep", "9", "--log", log)
    tensors = read_tensors(checkpoint(folder, STEPS))
    skipped = int(tensors["loss_scale/skipped_steps"][0])
    if not 0 < skipped < STEPS - 1:
        fail(f"{skipped} of {STEPS} steps are skipped")
    expect_equal(read_weights(checkpoint(folder, 1)), (MATRIX + VECTOR,) * 2, "a skipped step")
    rule = Sgd(r=1)
    for step in range(1, STEPS - skipped + 1):
        rule.update(step, 0.125, 0.9, skipped)
    y, x = read_weights(checkpoint(folder, STEPS))
    if not max(find_distance(y, rule.y), find_distance(x, rule.x)) < 2e-3:
        fail(f"skipped steps: {x}, expected {rule.x}")
    [epoch] = [event for event in read_log(log) if event["event"] == "epoch"]
    expect_number(epoch["eval_loss"][0], find_loss(x), "loss after skipped steps", 1e-5)
    print("types: same")


def check_search(work):
    """Scores of trials are those of x, and so are the test loss and `eval --best`."""
    text = make_text("schedule_free_sgd(lr = uniform(0.01, 1), momentum = uniform(0.5, 0.95))",
                     "  search random(trials = 6, seed = 1), halving(eta = 2), slots = 3\n",
                     data=DATA).replace(f"  steps     {STEPS}\n", "  epochs 4\n")
    binary = work.compile("search", text)
    found = search(binary, work.folder / "search-found", data=work.folder)
    told = read_trials(binary, found.folder)
    best = told["order"][0]
    losses = [to_number(one["validation_loss"])
              for one in told["trials"][best]["evaluations"]]
    [path] = found.folder.glob(f"trial-{best:04d}.step-*")
    tensors = {name: list(row) for name, (_, _, row) in read_safetensors(path).items()}
    x = [a + b for name in NAMES
         for a, b in zip(tensors[name], tensors[f"average_offset/{name}"])]
    expect_number(losses[-1], find_loss(x), "score of the best trial")
    printed = run(binary, "eval", "--best", "--data", work.folder, "--checkpoint",
                  found.folder)
    if f"test loss {find_loss(x):.5g}" not in printed:
        fail(f"eval --best prints {printed}, expected {find_loss(x)}")
    expect_replays(binary, found, data=work.folder, trials=told["order"][:2])
    print("search: same")


def main():
    work = Work(__doc__, more=["--ranks"])
    (work.folder / "model.onnx").write_bytes(make_file())
    rows = [-t for step in range(1, STEPS + 1) for t in find_targets(step)]
    write_npy(work.folder / "x.npy", "<f4", rows, (STEPS, 16))
    write_npy(work.folder / "one.npy", "<f4", rows[:16], (1, 16))
    if work.options.ranks:
        check_ranks(work, int(work.options.ranks))
        return
    for check in (check_formulas, check_groups, check_programs, check_best, check_uses,
                  check_types, check_search):
        check(work)


if __name__ == "__main__":
    main()
