"""Rows of hftac with wrong jobs whose networks take turns."""

from language_rows import GOOD, row

GAN = GOOD[:GOOD.index("train sweep")] + """model gen(z: f32[batch, 3]) {
  return fake = linear(z, 8)
}

train gan {
  data  made, batch = 16
  draw  z = normal(3)
  steps 3
  turn net {
    loss      cross_entropy(net(image), label)
    optimizer adam(lr = 1e-3)
  }
  turn gen {
    loss      mse(gen(z), image)
    optimizer sgd(lr = 0.1)
  }
}
"""


def change(name, old, new, *texts, **options):
    """Makes a row of the job GAN with one text replaced. The error must name its line,
    unless `place` says otherwise."""
    if old not in GAN:
        raise ValueError(f"'{old}' isn't in the job")
    line = GAN[:GAN.index(old)].count("\n") + 1
    options.setdefault("place", f"job.hfta:{line}:")
    return row(f"turns: {name}", GAN.replace(old, new, 1), 1, *texts, **options)


def add(name, clause, *texts):
    """Makes a row of the job GAN with one more clause."""
    return change(name, "steps 3", f"steps 3\n  {clause}", *texts, place="job.hfta:")


def make_clause_rows():
    for clause in (
            "model net(image)", "metric accuracy(net, label)", "precondition kfac()",
            "memory device = 1MiB", 'pipeline cuts = ["hidden"]', "recompute all",
            "loss_scale 1024", "init fresh", "dim tokens = 3"):
        keyword = clause.split()[0]
        yield add(f"with the clause {keyword}", clause,
                  f"a job with turns can't have a clause '{keyword}'")
    yield add("and an outer loss", "loss mse(net, label)", "'loss' belongs into the turns")
    yield add("and an outer optimizer", "optimizer sgd()", "'optimizer' belongs into the turns")
    for clause in ("freeze", "trainable", "evaluation_mode", "training_mode"):
        yield add(f"with {clause} of any network", f'{clause} "*.bias"',
                  "pattern '*.bias' begins with no network's name")
    yield add("that freeze nothing", 'freeze "gen.other"', "freeze pattern 'other'")
    yield add("and groups of micro-batches", "micro_batches 4, groups = 2", "several groups")
    yield add("in f16", "precision f16", "losses are scaled")
    yield add("with a wrong order of updates", "updates never", "'never'")
    yield add("that serve no network", "serves gn", "'gn'")
    yield change("without data", "  data  made, batch = 16\n", "", "has no clause 'data'",
                 place="job.hfta:")
    for keyword, clause in (("draw", "draw z = normal(3)"), ("serves", "serves net"),
                            ("updates", "updates together")):
        yield row(f"{keyword} without turns", GOOD.replace("steps     3", f"steps 3\n  {clause}"),
                  1, f"'{keyword}' is for jobs with turns")
    for clause in ("draw normal(3)", "draw z = 3", "draw z = gamma(3)"):
        yield change(f"with {clause}", "draw  z = normal(3)", clause,
                     "'draw' takes name = normal(size, ...)")
    yield change("with a draw of no size", "normal(3)", "normal(0)", "'size'")
    yield change("with a draw of too many axes", "normal(3)", "normal(1,1,1,1,1,1,1,1)",
                 "a sample has at most 7 axes, got 8")
    yield change("that draw one name twice", "normal(3)", "normal(3), z = uniform(2)",
                 "'z' is drawn twice")
    yield change("with a draw called as a field", "z = normal(3)", "image = normal(3)",
                 "the data block has a field 'image'")


def make_turn_rows():
    loss = "    loss      mse(gen(z), image)\n"
    yield change("without braces", "turn gen {", "turn gen", "expected '{' after 'turn'",
                 place="job.hfta:")
    yield row("turns: without an end", GAN[:GAN.rindex("}\n}")], 1,
              "expected '}' after clause 'turn'")
    for name, header, message in (
            ("of no network", "turn 3 {", "a turn takes names of networks"),
            ("of an unknown network", "turn gem {", "unknown network 'gem'"),
            ("of a network named twice", "turn gen, gen {", "the turn names 'gen' twice"),
            ("with two numbers of times", "turn gen, times = 2, times = 3 {",
             "'times' is given twice"),
            ("of one network twice", "turn net {", "two turns train the network 'net'"),
            ("that come never", "turn gen, times = 0 {", "'times'"),
            ("with an unknown argument", "turn gen, often = 2 {", "and 'times'")):
        yield change(name, "turn gen {", header, message)
    for name, old, new, message in (
            ("without loss", loss, "", "the turn has no clause 'loss'"),
            ("without optimizer", "    optimizer sgd(lr = 0.1)\n", "",
             "the turn has no clause 'optimizer'"),
            ("with two losses", loss, loss + loss, "second clause 'loss' of the turn"),
            ("with other clauses", loss, loss + "    seed 3\n", "a turn has no clause 'seed'"),
            ("with a turn in a turn", loss, loss + "    turn net { steps 3 }\n",
             "a turn has no clause 'turn'"),
            ("with several optimizers", "sgd(lr = 0.1)", "[sgd(), adam()]",
             "a turn has one optimizer"),
            ("with an unknown optimizer", "sgd(lr = 0.1)", "sdg()", "unknown optimizer 'sdg'"),
            ("with a loss without operands", "mse(gen(z), image)", "l1 + mse(gen(z), image)",
             "the loss of a turn names what it compares"),
            ("with an unknown loss", "mse(gen", "msee(gen", "unknown loss 'msee'"),
            ("several times and in micro-batches", "turn gen {",
             "micro_batches 2\n  turn gen, times = 2 {", "exclude each other"),
            ("several times and evaluated", "turn gen {",
             "validation 0.25\n  turn gen, times = 2 {", "can't be evaluated")):
        yield change(name, old, new, message, place="job.hfta:")


def make_call_rows():
    for name, loss, message in (
            ("an unknown network", "mse(gen(gan(z)), image)", "network or function 'gan'"),
            ("an unknown operand", "mse(gen(y), image)", "'y' isn't a tensor"),
            ("an operand too much", "mse(gen(z, z), image)", "has 1 input, got 2"),
            ("no operand", "mse(gen(), image)", "has 1 input, got 0"),
            ("no operand after a right one", "mse(gen(z), image) + mse(gen(), image)",
             "has 1 input, got 0"),
            ("a named operand", "mse(gen(z = z), image)", "inputs are given by position"),
            ("a number", "mse(gen(3), image)", "must be a tensor, got 3"),
            ("another shape", "mse(gen(image), image)", "has samples of shape [8]"),
            ("an unknown output", "mse(gen(z).real, image)", "has no output 'real'"),
            ("a layer in a loss", "mse(linear(gen(z), 3), image)", "'linear' is a layer"),
            ("shapes that differ", "mse(gen(z), label)", "shape"),
            ("a whole network", "mse(gen(gen), image)", "'gen' isn't a tensor"),
            ("a string", 'mse(gen("z"), image)', "a string isn't a value"),
            ("a sum over the batch", "mse(sum(gen(z), 0), image)", "axis"),
            ("an axis that isn't there", "mse(sum(gen(z), 4), image)", "axis"),
            ("two shapes", "mse(gen(z), image) + mse(gen(image), image)",
             "other shapes than before"),
            ("an average and no clause", "mse(gen(z), average(gen(z)))",
             "'average(...)' needs a clause 'average'"),
            ("an average of nothing", "mse(gen(z), average())",
             "'average' takes a call of a network"),
            ("an average of a name", "mse(gen(z), average(image))",
             "'average' takes a call of a network"),
            ("an average of a function", "mse(gen(z), average(relu(gen(z))))",
             "'average' takes a call of a network"),
            ("averages of averages", "mse(gen(z), average(average(gen(z))))",
             "'average' takes a call of a network"),
            ("a named average", "mse(gen(z), average(call = gen(z)))",
             "'average' takes a call of a network"),
            ("an output of an average", "mse(gen(z), average(gen(z)).fake)",
             "'average(...)' is one tensor")):
        yield change(f"a call with {name}", "mse(gen(z), image)", loss, message)
    yield row("turns: an average of a network at rest",
              GAN.replace("mse(gen(z), image)", "mse(gen(z), average(rest(z)))")
              .replace("train gan", "model rest(z: f32[batch, 3]) { return linear(z, 8) }\n"
                       "train gan"),
              1, "no turn trains the network 'rest'")
    yield change("a network without parameters", "linear(z, 8)", "concat(z, z, z)",
                 "'gen' has no trained parameters", place="job.hfta:")
    yield row("a call's output outside of turns",
              GOOD.replace("cross_entropy(net, label)", "cross_entropy(net(image).output, label)"),
              1, "expected the model or one of its outputs")


def make_rows(_):
    yield from make_clause_rows()
    yield from make_turn_rows()
    yield from make_call_rows()
