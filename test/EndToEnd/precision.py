#!/usr/bin/env python3
"""Computes in f32 on parameters that are stored in f64, and with state and
gradients of other types: each mixture trains near to f64, and its checkpoint has
the stored types."""

from harness import (COPIES, Work, checkpoint, copy_file, expect_equal, fail,
                     make_job, read_safetensors)

STEPS = 20

# Clause, type of the parameters, type of the optimizer's state.
MIXTURES = {
    "stored64": ("f64, compute = f32", "F64", "F64"),
    "parameters64": ("f32, parameters = f64", "F64", "F32"),
    "state64": ("f32, state = f64", "F32", "F64"),
    "gradients64": ("f32, gradients = f64, accumulate = f64", "F32", "F32"),
}


def main():
    work = Work(__doc__, "mlp")

    def train(name, clause):
        binary = work.compile(name, make_job("mlp", STEPS,
                                             f"  precision {clause}"))
        return checkpoint(work.train(binary), STEPS)

    exact = train("exact", "f64")
    for name, (clause, parameters, state) in MIXTURES.items():
        folder = train(name, clause)
        for copy in range(COPIES):
            mine = read_safetensors(copy_file(folder, copy))
            theirs = read_safetensors(copy_file(exact, copy))
            expect_equal(set(mine), set(theirs), f"{name}: tensors")
            for tensor, (kind, _, numbers) in mine.items():
                wanted = state if "/" in tensor else parameters
                expect_equal(kind, wanted, f"{name}: type of {tensor}")
                gap = max(abs(a - b)
                          for a, b in zip(numbers, theirs[tensor][2]))
                if not 0 < gap < 1e-3:
                    fail(f"{name}: copy {copy}: {tensor} is {gap} from f64")
        print(f"{name}: parameters {parameters}, state {state}")


if __name__ == "__main__":
    main()
