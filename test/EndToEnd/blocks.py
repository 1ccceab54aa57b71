#!/usr/bin/env python3
"""A CNN that is cut into blocks trains to the bytes of one that is not."""

import json

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint,
                     make_job, run)

STEPS = 30


def main():
    work = Work(__doc__, "cnn")
    job = make_job("cnn", STEPS, "  clip_norm 1.0")
    whole = work.compile("whole", job)
    expected = checkpoint(work.train(whole), STEPS)
    for name, cuts, blocks, flags in [
            ("three", "pool1,pool2", 3, []),
            ("six", "conv1,pool1,conv2,pool2,hidden", 6, []),
            ("alone", "pool1,pool2", 3, ["--no-fuse"])]:
        binary = work.compile(name, job, f"--cuts={cuts}", *flags)
        info = json.loads(run(binary, "info", "--json", "--threads", 1))
        expect_equal(info["blocks"], blocks, f"blocks after --cuts={cuts}")
        # Cuts don't keep copies from going through a step in turn.
        if not flags:
            expect_equal(info["memory"]["copies_at_once"], 1,
                         f"copies at once after --cuts={cuts}")
        expect_same_checkpoint(checkpoint(work.train(binary), STEPS), expected,
                               f"{name}: {blocks} blocks")


if __name__ == "__main__":
    main()
