"""Rows of hftac with wrong searches."""

from language_rows import GOOD, row

REST = "  validation 0.1\n  search random(trials = 4)"
SEARCH = GOOD.replace("lr = [1e-3, 1e-2]", "lr = uniform(1e-3, 1e-2)").replace(
    "steps     3", f"epochs 3\n{REST}, halving")


def change(name, old, new, *texts):
    """Makes a row of the job SEARCH with one text replaced."""
    if old not in SEARCH:
        raise ValueError(f"'{old}' isn't in the job")
    return row(name, SEARCH.replace(old, new, 1), 1, *texts)


def make_rows(_):
    for name, old, new, *texts in (
            ("a search for 10^18 trials", "trials = 4", f"trials = {10**18}", "'trials'"),
            ("a search for 100 001 trials", "trials = 4", "trials = 100001", "'trials'",
             "100001"),
            ("a search without end", "epochs 3", "epochs 2000000000", "'epochs'"),
            ("more scores than memory", f"epochs 3\n{REST}, halving",
             f"epochs 100000000\n{REST}, median", "'levels'"),
            ("65536 choices", "uniform(1e-3, 1e-2)",
             "choice(" + ", ".join(f"{i + 1}e-6" for i in range(65536)) + ")", "65536",
             "4096"),
            ("choices without a value", "uniform(1e-3, 1e-2)", "choice()", "'choice'"),
            ("a range of infinite width", "uniform(1e-3, 1e-2)", "uniform(0, 1e308 * 10)",
             "out of range"),
            ("a range of denormals", "uniform(1e-3, 1e-2)", "log_uniform(5e-324, 1e-320)",
             "'lr'"),
            ("a range with 10^12 steps", "uniform(1e-3, 1e-2)",
             "uniform(0, 1, step = 1e-12)", "'lr'", "2^31"),
            ("integers beyond doubles", "uniform(1e-3, 1e-2)",
             "integers(0, 9007199254740993)", "'lr'"),
            ("a seed beyond doubles", "epochs 3",
             "epochs 3\n  seed integers(0, 9223372036854775807)", "'seed'"),
            ("an eta of 2^62", "halving", f"halving(eta = {2**62})", "'eta'"),
            ("10^9 workers", "halving", "asha(workers = 1000000000)", "'workers'"),
            ("a percentile of NaN", "halving", "percentile(q = 0 / 0)", "out of range"),
            ("a population whose factors are texts", "halving",
             'pbt(factors = ["a", 2])', "'factors'"),
            ("a billion slots", "halving", "halving, slots = 1000000000", "'slots'"),
            ("arrays without end", "batch = 16", "batch = choice(" + ", ".join(
                str(i + 1) for i in range(100000)) + ")", "100000 arrays", "64"),
            ("a batch of every kind", "batch = 16", "batch = choice(2, true)", "'batch'"),
            ("a search by a list", "random(trials = 4)", "[random]", "a sampler"),
            ("a search by searches", "random(trials = 4)", "random(trials = grid(3))",
             "'trials'"),
            ("a share of NaN", "validation 0.1", "validation 0 / 0", "out of range"),
            ("2^40 folds", "validation 0.1", "validation folds = 1099511627776",
             "'folds'"),
            ("an objective without a name", "epochs 3",
             'epochs 3\n  objective validation.""', "score"),
            ("a patience of -1", "epochs 3", "epochs 3\n  keep best, patience = -1",
             "'patience'")):
        yield change(name, old, new, *texts)
