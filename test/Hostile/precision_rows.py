"""Rows of job files with wrong clauses `precision` and `loss_scale`."""

import language_rows


def make_clause_row(name, clauses, *texts):
    """Makes a row of the job GOOD with clauses after its steps, from line 17 on."""
    return language_rows.change(name, "steps     3", f"steps 3\n  {clauses}", 1, *texts,
                                place="job.hfta:17:")


def make_type_rows():
    for name, types, text in (
            ("a precision that doesn't exist", "f31", "f31"),
            ("a stored type that doesn't exist", "f32, parameters = bf32", "bf32"),
            ("a type that nothing is computed in", "f32, compute = bf16", "bf16"),
            ("a type that nothing is added up in", "f32, accumulate = f16", "f16"),
            ("sums in a narrower type than what is computed in", "f64, accumulate = f32",
             "'accumulate' must be at least as wide as 'compute', f64, got f32"),
            ("factors of a type that is wider than sums", "f32, multiply = f64",
             "'multiply' must be the type of 'compute', f32, or one of tf32, bf16, f16, got f64"),
            ("narrow factors of what is computed in f64", "tf32, compute = f64",
             "values rounded to tf32 are multiplied and added up in f32"),
            ("factors of a type that doesn't exist", "f32, multiply = f8", "f8")):
        yield make_clause_row(name, f"precision {types}", text)


def make_scale_rows():
    kfac = "\n  precondition kfac(damping = 1e-2)"
    workers = "\n  micro_batches 2\n  pipeline replicas = [2]"
    for name, clauses, *texts in (
            ("that isn't a power of two", "loss_scale [1024, 1000]",
             "'loss_scale' is 1000 in copy 1", "expected a power of two"),
            ("of 0", "loss_scale 0", "'loss_scale' is out of range, got 0"),
            ("below 0", "loss_scale -2", "out of range, got -2"),
            ("in words", "loss_scale dynamic", "loss_scale"),
            ("that is too large", "loss_scale 1e300", "'loss_scale' is 1e+300 in copy 0"),
            ("that never grows", "loss_scale 2, growth_interval = 0", "growth_interval"),
            ("that grows after half a step", "loss_scale 2, growth_interval = 0.5",
             "growth_interval"),
            ("with an argument that doesn't exist", "loss_scale 2, growth = 3", "growth"),
            ("of kfac's gradients", "loss_scale 2" + kfac,
             "'loss_scale' and 'precondition' exclude each other"),
            ("of several workers", "loss_scale 2" + workers,
             "'loss_scale' and a pipeline of several workers exclude each other"),
            ("of workers that are planned",
             "loss_scale 2\n  pipeline auto\n  cluster devices = [1]",
             "'loss_scale' and a pipeline that is planned exclude each other"),
            ("of kfac with products of f16", "precision f16" + kfac,
             "'f16', whose losses are scaled, and 'precondition' exclude each other"),
            ("of several workers' products of f16", "precision f16" + workers,
             "'f16', whose losses are scaled, and a pipeline of several workers")):
        yield make_clause_row(f"a loss scale {name}", clauses, *texts)


def make_rows(_):
    yield from make_type_rows()
    yield from make_scale_rows()
