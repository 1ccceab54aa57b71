#!/usr/bin/env python3
"""Two ranks on each of two hosts train to the bytes of one. The hosts are network
namespaces, which root can make where iproute2 is installed."""

import ranks
from harness import checkpoint, expect_same_checkpoint, fail, read_log, run
from hosts import can_make_hosts, make_hosts


def main():
    check = ranks.Check()
    if not can_make_hosts():
        print("skipped: no network namespaces can be made here")
        return
    for name in ("mlp-4", "cnn-4"):
        net, clauses, flags = ranks.JOBS[name]
        binary = check.work.compile(name, ranks.make_job(net, clauses), *flags).resolve()
        alone = check.train(binary, 1, f"{name}-1")
        other = f"{name}-hosts"
        with make_hosts(check.folder, slots=2) as command:
            # A rank tells its host.
            output = run(*command, "-n", 4, "sh", "-c", 'hostname; exec "$@"', "sh",
                         binary, *check.flags(other), cwd=check.folder)
        hosts = [line for line in output.splitlines() if line.startswith("hfta")]
        if len(hosts) != 4 or len(set(hosts)) != 2:
            fail(f"expected two hosts of two ranks each\n{output:.2000}")
        expect_same_checkpoint(checkpoint(check.folder / other, ranks.STEPS), alone,
                               other, ranks.COPIES)
        if read_log(check.folder / f"{other}.jsonl") != read_log(
                check.folder / f"{name}-1.jsonl"):
            fail(f"{other}: another log than one rank's")


if __name__ == "__main__":
    main()
