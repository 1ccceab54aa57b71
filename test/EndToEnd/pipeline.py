#!/usr/bin/env python3
"""Tests that pipeline stages train to the same bytes and log as the program without stages:
in each order, on each number of ranks, with evaluations, and with copies that are fused,
partially fused, or not fused. A pipeline must resume from the checkpoints of any other, and
ranks must get their workers in the order of a plan's devices. Needs Open MPI's mpirun, and
only Python's standard library."""

import json
import random
import re

from harness import (Work, checkpoint, expect_equal, expect_same_checkpoint, fail,
                     read_log, run)
from mpirun import run_ranks
from pipeline_models import (COPIES, STEPS, TIED_PARTS, compile_on_devices, make_job,
                             make_pipeline, write_partial, write_tied)
from pipeline_orders import make_random_order, write_rows

# The orders of stages with one part each, then the orders of stages with two parts each.
ORDERS = ("all_forwards_first", "one_f_one_b", "zero_bubble")
CHUNKED = ("interleaved", "v_shape")
RECOMPUTED = ("one_f_one_b", "zero_bubble", "v_shape")
# The jobs: network to clauses of the train block, flags of hftac, and numbers of ranks.
JOBS = {
    "mlp": ("micro_batches 8\n  clip_norm 0.5", (), (1, 2, 4)),
    "deep": ("micro_batches 8", (), (1, 3)),
    "cnn": ("micro_batches 4\n  precision f64", (), (2,)),
    "skip": ("micro_batches 8", ("--no-fuse",), (3,)),
    "tied": ("micro_batches 8\n  clip_norm 0.5", (), (4,)),
    "partial": ("micro_batches 6", (), (4,)),
}


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", "cnn", more=["--checks"])
        self.folder = self.work.folder
        write_tied(self.folder)
        write_partial(self.folder)
        self.trained = {}

    def train(self, binary, ranks, name, *more):
        """Trains on `ranks` ranks. Returns the last checkpoint, and the log's events except
        start events."""
        log = self.folder / f"{name}.jsonl"
        run_ranks(ranks, binary, "train", "--data", self.folder, "--checkpoint",
                  self.folder / name, "--log", log, "--log-every", 1, "--no-progress",
                  *more)
        return (checkpoint(self.folder / name, STEPS),
                [event for event in read_log(log) if event["event"] != "start"])

    def train_uncut(self, net, clauses, *flags):
        key = (net, clauses, flags)
        if key not in self.trained:
            name = f"{net}-uncut-{len(self.trained)}"
            binary = self.work.compile(name, make_job(net, clauses), *flags)
            self.trained[key] = self.train(binary, 1, f"{name}-trained")
        return self.trained[key]

    def compare(self, name, job, flags, ranks, expected):
        binary = self.work.compile(name, job, *flags)
        for count in ranks:
            what = f"{name} on {count} rank{'s' * (count > 1)}"
            trained, log = self.train(binary, count, f"{name}-{count}")
            if expected is None:
                expected = trained, log
            expect_same_checkpoint(trained, expected[0], what, COPIES)
            if log != expected[1]:
                fail(f"{what}: another log than {expected[1]!r:.500}: {log!r:.500}")


def check_orders(check):
    """Compares pipelines of four stages, or of two stages with two parts each, in each
    order, with the program without stages."""
    for net, (clauses, flags, counts) in JOBS.items():
        expected = check.train_uncut(net, clauses, *flags)
        for order in CHUNKED if net == "deep" else ORDERS + CHUNKED:
            job = make_job(net, f"{clauses}\n  {make_pipeline(net, order=order)}")
            stages = 2 if order in CHUNKED and net != "deep" else 4
            check.compare(f"{net}-{order}", job, flags,
                          {min(ranks, stages) for ranks in counts}, expected)


def check_far_readers(check):
    """Tests a pipeline of eight parts, the last of which sends values to the part before
    it, which reads them at once, and the gradient of a tied weight to the first part, which
    reads it much later."""
    clauses, flags, _ = JOBS["tied"]
    for order in CHUNKED:
        pipeline = make_pipeline("tied", order=order, cuts=TIED_PARTS)
        check.compare(f"tied-{order}-far", make_job("tied", f"{clauses}\n  {pipeline}"),
                      flags, (4,), check.train_uncut("tied", clauses, *flags))


def check_in_flight(check):
    """Tests jobs that set the number of micro-batches in flight, to fewer or more than the
    order would have."""
    clauses, flags, _ = JOBS["mlp"]
    expected = check.train_uncut("mlp", clauses, *flags)
    for order, numbers in (("all_forwards_first", "[2, 3, 2, 2]"),
                           ("one_f_one_b", "[5, 1, 3, 2]"),
                           ("zero_bubble", "[7, 7, 7, 7]"), ("v_shape", "[3, 2]")):
        pipeline = make_pipeline("mlp", order=order)
        job = make_job("mlp", f"{clauses}\n  {pipeline}, in_flight = {numbers}")
        check.compare(f"mlp-{order}-in-flight", job, flags, (2,), expected)


def check_recompute(check):
    """Tests that recomputed values have the same bits as values that are kept."""
    for net, (clauses, flags, counts) in JOBS.items():
        expected = check.train_uncut(net, clauses, *flags)
        orders = ("interleaved", "v_shape") if net == "deep" else RECOMPUTED
        for order in orders:
            job = make_job(net, f"{clauses}\n  {make_pipeline(net, order=order)}\n"
                                "  recompute all")
            stages = 2 if order == "v_shape" and net != "deep" else 4
            check.compare(f"{net}-{order}-again", job, flags,
                          (min(max(counts), stages),), expected)


def check_planned(check):
    """Tests plans of the planner, for machines with much and with little memory, and a plan
    that is read from a file."""
    clauses, flags = "micro_batches 8, groups = 8", ()
    expected = check.train_uncut("mlp", clauses, *flags)
    machines = "cluster devices = [1, 1, 1, 1], network = 1e9"
    planned = make_job("mlp", f"{clauses}\n  {machines}\n  pipeline auto")
    plan = check.work.compile("plan.json", planned, "--plan-pipeline")
    for name, job in (
            ("auto", planned),
            ("small", make_job("mlp", f"{clauses}\n  {machines}, memory = 500000\n"
                                      "  pipeline auto\n  recompute auto")),
            ("file", make_job("mlp", f'{clauses}\n  pipeline plan("{plan.name}")'))):
        check.compare(f"mlp-{name}", job, flags, (1, 2), expected)


def check_planned_chunks(check):
    """Tests stages with two chunks, for which the planner chooses the order, and in some
    cases the cuts; the plans are also read from files. The results must be those of the
    program without stages, and of the same pipelines without a planner."""
    clauses, flags = "micro_batches 8", ()
    expected = check.train_uncut("mlp", clauses, *flags)
    for name, planned in (
            ("loop", make_pipeline("mlp", order="interleaved")),
            ("v", make_pipeline("mlp", order="v_shape")),
            ("any", make_pipeline("mlp") + ", chunks = 2"),
            ("cut-loop", "pipeline auto, chunks = 2, order = interleaved"),
            ("cut-v", "pipeline auto, order = v_shape"),
            ("cut-small", "pipeline auto, chunks = 2")):
        memory = ", memory = 300000" * (name == "cut-small")
        given = make_job("mlp", f"{clauses}\n  cluster devices = [1, 1]{memory}\n  "
                                f"{planned}")
        plan = check.work.compile(f"{name}.json", given, "--plan-pipeline")
        job = make_job("mlp", f'{clauses}\n  pipeline plan("{plan.name}")')
        check.compare(f"mlp-{name}-plan", job, flags, (1, 2), expected)
        stages = json.loads(plan.read_text())["stages"]
        parts = sorted((part["part"], part["last"])
                       for stage in stages for part in stage["chunks"])
        if name.startswith("cut"):
            check.compare(f"mlp-{name}-auto", given, flags, (2,), expected)
            order = "v_shape" if stages[0]["chunks"][1]["part"] == 3 else "interleaved"
            pipeline = make_pipeline("mlp", order=order,
                                     cuts=[last for _, last in parts[:-1]])
            check.compare(f"mlp-{name}-by-hand", make_job("mlp", f"{clauses}\n  {pipeline}"),
                          flags, (2,), expected)


def check_files(check):
    """Tests orders that are read from files: one with backwards in halves at irregular
    times, two with two chunks per stage, and one whose rows are shared by the workers of a
    stage."""
    clauses, flags, _ = JOBS["mlp"]
    positions = [["0F0", "0F1", "0I0", "0F2", "0W0", "0F3", "0B1", "0B2", "0B3"],
                 [f"1{kind}{number}" for number in range(8) for kind in "FIW"]]
    for name, rows, more, ranks in (
            ("uneven", make_random_order(random.Random(1), 4, 8), "", (1, 2, 4)),
            ("v", make_random_order(random.Random(2), 4, 8, 2, True), "chunks = 2",
             (1, 2)),
            ("loop", make_random_order(random.Random(3), 4, 8, 2), "chunks = 2", (2,)),
            ("positions", positions, "replicas = [2, 1]", (1, 3))):
        (check.folder / f"{name}.csv").write_text(write_rows(rows))
        own, cuts = clauses, None
        if name == "positions":
            own, cuts = "micro_batches 8, groups = 8", ["second"]
        pipeline = make_pipeline("mlp", order=f'file("{name}.csv")', cuts=cuts)
        job = make_job("mlp", f"{own}\n  {pipeline}{', ' * bool(more)}{more}")
        check.compare(f"mlp-file-{name}", job, flags, ranks,
                      check.train_uncut("mlp", own, *flags))


def check_replicas(check):
    """Tests stages of several replicas. The results must not depend on the number of ranks,
    and, with a given number of groups, must be those of the program without stages."""
    for net, cut in (("mlp", "second"), ("cnn", "pool1"), ("tied", "mixed1")):
        for more, uncut in (("", None), (", groups = 8", "micro_batches 8, groups = 8")):
            pipeline = make_pipeline(net, "[2, 1]", cuts=[cut])
            job = make_job(net, f"micro_batches 8{more}\n  {pipeline}")
            check.compare(f"{net}-2-1{'-groups' * bool(more)}", job, (), (1, 2, 3),
                          check.train_uncut(net, uncut) if uncut else None)


def check_resumed(check):
    """Tests that one stage, four stages, and two stages of two replicas resume from each
    other's checkpoints as if training had never stopped."""
    clauses = "micro_batches 8, groups = 8"
    expected, _ = check.train_uncut("cnn", clauses)
    binaries = [check.work.compile(f"resumed-{index}",
                                   make_job("cnn", f"{clauses}\n  {pipeline}"))
                for index, pipeline in enumerate((
                    "pipeline replicas = [1]", make_pipeline("cnn"),
                    make_pipeline("cnn", "[2, 2]", cuts=["pool1"])))]
    folder = check.folder / "resumed"
    for step, (which, ranks) in enumerate(((0, 1), (1, 4), (2, 4), (0, 1), (2, 2)), 1):
        run_ranks(ranks, binaries[which], "train", "--data", check.folder,
                  "--checkpoint", folder, "--no-progress", "--resume", "--steps", step)
    expect_same_checkpoint(checkpoint(folder, STEPS), expected,
                           "resumed by other pipelines", COPIES)


def check_places(binary, devices):
    """Checks that ranks have workers in the order of the workers' devices, by the memory
    that each rank's stage needs. `devices` has a list of devices per stage."""
    stages = json.loads(run(binary, "info", "--json", "--threads", 1))["stages"]
    order = sorted((device, stage) for stage, own in enumerate(devices) for device in own)
    output = run_ranks(len(order), binary, "bench", "--steps", 1, "--phases", "--json",
                       "--threads", 1)
    for (device, stage), rank in zip(order, json.loads(output)["rank_times"], strict=True):
        expect_equal(rank["peak_bytes"], stages[stage]["memory"]["peak_bytes"],
                     f"the peak of the rank on device {device}, of stage {stage}")


def check_devices(check):
    """Tests that the devices of a plan, which assign workers to ranks, change no byte on
    any number of ranks, nor when another plan resumes the training."""
    clauses = "micro_batches 8, groups = 8"
    expected, log = check.train_uncut("cnn", clauses)
    devices = ([5], [1, 0], [7])
    job = make_job("cnn", f"{clauses}\n  cluster devices = [4, 4]")
    first = compile_on_devices(
        check.work, "moved-1", job,
        'cuts = ["pool1", "hidden"], replicas = [1, 2, 1]', devices)
    check_places(first, devices)
    for ranks in (1, 2, 3, 4):
        trained = check.train(first, ranks, f"moved-{ranks}-trained")
        expect_same_checkpoint(trained[0], expected, f"moved on {ranks} ranks", COPIES)
        expect_equal(trained[1], log, f"log of moved stages on {ranks} ranks")
    second = compile_on_devices(check.work, "moved-2", job,
                                'cuts = ["pool1"], replicas = [2, 2]',
                                ([3, 0], [1, 2]))
    folder = check.folder / "moved-resumed"
    for step, (binary, ranks) in enumerate(
            ((first, 4), (second, 4), (first, 2), (second, 2), (first, 3)), 1):
        run_ranks(ranks, binary, "train", "--data", check.folder, "--checkpoint", folder,
                  "--no-progress", "--resume", "--steps", step)
    expect_same_checkpoint(checkpoint(folder, STEPS), expected,
                           "resumed by other plans", COPIES)


CHECKS = (check_orders, check_far_readers, check_in_flight, check_recompute, check_planned,
          check_planned_chunks, check_files, check_replicas, check_resumed, check_devices)


def main():
    check = Check()
    wanted = re.compile(f"check_({check.work.options.checks or '.*'})$")
    for function in CHECKS:
        if wanted.match(function.__name__):
            function(check)


if __name__ == "__main__":
    main()
