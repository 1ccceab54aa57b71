#!/usr/bin/env python3
"""Tests that two ranks on each of two hosts train to the same bytes as one rank. The hosts
are network namespaces, which root can make if iproute2 is installed."""

import ranks
from hosts import can_make_hosts, make_hosts, run_told
from trainings import expect_same_training, read_training


def main():
    check = ranks.Check()
    if not can_make_hosts():
        print("skipped: no network namespaces can be made here")
        return
    for name in ("mlp-4", "cnn-4"):
        net, clauses, flags = ranks.JOBS[name]
        binary = check.work.compile(name, ranks.make_job(net, clauses), *flags).resolve()
        check.train(binary, 1, f"{name}-1")
        other = f"{name}-hosts"
        with make_hosts(check.folder, slots=2) as command:
            run_told(command, 4, binary, *check.flags(other), place=check.folder)
        alone, apart = (read_training(check.folder / run, check.folder / f"{run}.jsonl",
                                      ranks.STEPS) for run in (f"{name}-1", other))
        expect_same_training(apart, alone, ranks.COPIES, other)
        print(f"equal: {other}")


if __name__ == "__main__":
    main()
