#!/usr/bin/env python3
"""Tests traces of several ranks. Each message that is sent must be received, not before it
was sent, and each micro-batch must be computed by one rank. Needs Open MPI's mpirun."""

import collections
import json

from harness import COPIES, Work, expect_equal, fail, make_job
from mpirun import run_ranks
from tracing import RESOLUTION, end, expect_order, read_trace

MICRO_BATCHES = 8
SECONDS = 0.005  # the time that each run of a task takes on the paced device
WORKERS = 4


def expect_arrows(trace, processes):
    """Checks a trace's arrows, which stand for messages: each leads from its sender's event
    to its receiver's event, and both ranks list equally many bytes."""
    ends = {"s": {}, "f": {}}
    for event in trace["traceEvents"]:
        if event["ph"] in ends:
            if event["id"] in ends[event["ph"]]:
                fail(f"two arrows have the id {event['id']}")
            ends[event["ph"]][event["id"]] = event
    expect_equal(sorted(ends["s"]), sorted(ends["f"]), "messages")
    if not ends["s"]:
        fail("no message was sent")
    for id, send in ends["s"].items():
        receive = ends["f"][id]
        expect_equal([int(rank) for rank in id.split("-")[:2]],
                     [send["pid"], receive["pid"]], f"ranks of {id}")
        expect_equal(send["name"], receive["name"], f"names of {id}")
        # The ranks share the host's clock, so their times can be compared.
        if send["ts"] > receive["ts"] + RESOLUTION:
            fail(f"received before it was sent: {send}, {receive}")
    sent, received = collections.Counter(), collections.Counter()
    for rank, rows in processes.items():
        for event in rows["messages (sums)"]:
            for message in event["args"]["sends"]:
                sent[rank, message["to"]] += message["bytes"]
            for message in event["args"]["receives"]:
                received[message["from"], rank] += message["bytes"]
    expect_equal(sent, received, "bytes between ranks")


def expect_steps(processes, steps):
    """Checks that the ranks go through the same steps at the same time, and that each
    micro-batch is computed exactly once for each copy."""
    for rows in processes.values():
        expect_equal([event["args"]["step"] for event in rows["steps"]], steps,
                     "steps")
    for same in zip(*(rows["steps"] for rows in processes.values())):
        if max(event["ts"] for event in same) >= min(map(end, same)):
            fail(f"a rank begins a step after another one has ended it: {same}")
    done = collections.Counter()
    for rows in processes.values():
        for event in rows["compute"]:
            if event["name"] == "forward.0":
                done[event["args"]["micro_batch"]] += event["args"]["copies"]
    expect_equal(done, {m: COPIES * len(steps) for m in range(MICRO_BATCHES)},
                 "copies that go forward, by micro-batch")


def check_paced(work, binary, trace):
    """Tests what `bench` measures on three ranks, then the duration of steps on the paced
    device, where tasks only take time but messages are real."""
    measured = json.loads(run_ranks(3, binary, "bench", "--phases", "--json",
                                    "--steps", 2))
    expect_equal([link["ranks"] for link in measured["links"]],
                 [[0, 1], [0, 2], [1, 2]], "links")
    for link in measured["links"]:
        if link["latency"] <= 0 or link["bytes_per_second"] <= 0:
            fail(f"a link without time: {link}")
        if link["slowdown"] < 1:
            fail(f"a link that makes tasks faster: {link}")
    expect_equal([times["rank"] for times in measured["rank_times"]], [0, 1, 2],
                 "ranks")
    for times in measured["rank_times"]:
        if times["busy"] <= 0 or times["communicating"] <= 0:
            fail(f"a rank that does nothing: {times}")
    peaks = [times["peak_bytes"] for times in measured["rank_times"]]
    if peaks[0] != measured["peak_bytes"] or min(peaks) <= 0:
        fail(f"planned peaks {peaks}, the first one {measured['peak_bytes']}")
    for task in measured["tasks"]:
        task["seconds"] = SECONDS * task["runs"]
    costs = work.folder / "costs.json"
    costs.write_text(json.dumps(measured))
    _, processes = trace(WORKERS, "bench", "--steps", 2, "--trace-steps", 2,
                         "--device", f"paced:{costs}")
    expect_steps(processes, [1, 2])
    # The longest chain of dependent tasks in a step: the forwards and backwards of a rank's
    # micro-batches, the additions of the other groups, and the update.
    chain = 2 * MICRO_BATCHES // WORKERS + WORKERS - 1 + 1
    for rows in processes.values():
        first, last = rows["steps"]
        if end(last) - first["ts"] < 2e6 * SECONDS * chain:
            fail(f"2 steps of {chain} runs, {SECONDS} s each, take less: {rows}")


def check_options(binary):
    """Tests that a rank that is started with other options than rank 0 is refused."""
    for options in ("--phases", "--json", "--trace /dev/null",
                    "--trace /dev/null --trace-steps 3", "--steps 7"):
        lines = ["o=", f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] || o="{options}"',
                 'exec "$@" $o']
        output = run_ranks(2, "sh", "-c", "\n".join(lines), "sh", binary, "bench",
                           code=2)
        if "rank 1 was started with other options" not in output:
            fail(f"{options}: {output}")


def main():
    work = Work(__doc__, "mlp")
    binary = work.compile("sweep", make_job(
        "mlp", 5, f"  micro_batches {MICRO_BATCHES}\n"
                  f"  pipeline replicas = [{WORKERS}]"))
    path = work.folder / "trace.json"

    def trace(ranks, command, *options):
        run_ranks(ranks, binary, command, "--trace", path, *options)
        whole, processes = read_trace(path)
        expect_equal(list(work.folder.glob("trace.json?*")), [], "other files")
        expect_equal(list(processes), list(range(ranks)), "processes")
        for rows in processes.values():
            expect_order(rows)
        expect_arrows(whole, processes)
        path.unlink()
        return whole, processes

    whole, processes = trace(3, "train", "--data", work.folder, "--trace-steps", 4)
    expect_steps(processes, [1, 2, 3, 4])
    names = [event["args"]["name"] for event in whole["traceEvents"]
             if event["name"] == "process_name"]
    expect_equal(names, ["rank 0 (worker 0)", "rank 1 (worker 1)",
                         "rank 2 (workers 2 to 3)"], "names of processes")
    _, processes = trace(2, "bench", "--steps", 3, "--trace-steps", 2)
    expect_steps(processes, [1, 2])
    check_paced(work, binary, trace)
    check_options(binary)


if __name__ == "__main__":
    main()
