#!/usr/bin/env python3
"""Tests that K-FAC's factors are summed in the job's type of accumulation. With f64
accumulation, no factor computed in f32 may be farther from the f64 result than with f32
accumulation, and on average they must be nearer. Needs only Python's standard library."""

from harness import (Work, checkpoint, copy_file, fail, make_job, read_safetensors)

PARTS = "parameters = f64, gradients = f64, state = f64"
PRECISIONS = {"f64": "f64", "f32": f"f32, {PARTS}",
              "wide": f"f32, {PARTS}, accumulate = f64"}


def train(work, kind, name):
    """Returns the factors after one step, as a dictionary from names to numbers."""
    job = make_job(kind, 1, f"  precision {PRECISIONS[name]}\n  precondition kfac()\n",
                   "sgd(lr = 0.1)")
    folder = work.train(work.compile(f"{kind}-{name}", job))
    return {key: numbers for key, (_, _, numbers)
            in read_safetensors(copy_file(checkpoint(folder, 1), 0)).items()
            if key.split("/")[0].endswith("factor")}


def main():
    work = Work(__doc__, "cnn", "mlp")
    for kind in ("cnn", "mlp"):
        factors = {name: train(work, kind, name) for name in PRECISIONS}
        sums = {"f32": 0, "wide": 0}
        for key, exact in factors["f64"].items():
            errors = {name: max(abs(a - b) for a, b in zip(factors[name][key], exact))
                      for name in sums}
            largest = max(map(abs, exact))
            # The factors' terms are rounded to f32 in both cases, hence the tolerance.
            if errors["wide"] > errors["f32"] + 1e-7 * largest:
                fail(f"{kind}, {key}: in f64 off by {errors['wide']}, in f32 by "
                     f"{errors['f32']}")
            for name in sums:
                sums[name] += errors[name] / largest if largest else 0
        if not 0 < sums["wide"] < 0.8 * sums["f32"]:
            fail(f"{kind}: errors in f64 and f32 are {sums}")
        print(f"{kind}: errors {sums}")


if __name__ == "__main__":
    main()
