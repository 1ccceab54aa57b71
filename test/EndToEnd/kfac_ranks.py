#!/usr/bin/env python3
"""A preconditioned sweep on 1 and on 2 ranks gets the bytes, factors and inverses
too, of one rank that forms as many groups. Needs only Python's standard library and
an MPI launcher."""

from harness import Work, checkpoint, expect_same_checkpoint
from kfac import COPIES, STEPS, make
from mpirun import run_ranks


def main():
    work = Work(__doc__, "cnn", "mlp")
    parts = "  micro_batches 4"
    for kind, method in (("mlp", "eigen"), ("cnn", "cholesky")):
        groups = work.compile(f"{kind}-groups",
                              make(kind, COPIES, f"{parts}, groups = 2", method))
        expected = checkpoint(work.train(groups), STEPS)
        shared = work.compile(
            f"{kind}-ranks",
            make(kind, COPIES, f"{parts}\n  pipeline replicas = [2]", method))
        for ranks in (1, 2):
            folder = work.folder / f"{kind}-on-{ranks}"
            run_ranks(ranks, shared, "train", "--data", work.folder, "--checkpoint",
                      folder, "--no-progress")
            expect_same_checkpoint(checkpoint(folder, STEPS), expected,
                                   f"{kind}, {method}, {ranks} ranks")


if __name__ == "__main__":
    main()
