#!/usr/bin/env python3
"""Tests a plan that puts a stage's replicas on one host, where they add up their gradients,
so that these don't go over the network. The trained bytes must be those of the program
without stages. The hosts are network namespaces, which root can make if iproute2 is
installed. Needs Open MPI's mpirun, and only Python's standard library."""

from harness import (DATA, Work, checkpoint, expect_same_checkpoint, fail, make_blocks,
                     run)
from hosts import can_make_hosts, count_sent_bytes, make_hosts
from pipeline_models import compile_on_devices

COPIES, STEPS, WIDTH = 2, 4, 512
MODEL = f"""
model net(image: f32[batch, 1, 8, 8]) {{
  wide = relu(linear(flatten(image), {WIDTH}))
  hidden = relu(linear(wide, {WIDTH}))
  return output = linear(hidden, 10)
}}
"""
# The bytes of gradients of the stage with two replicas, in all steps. Each replica sends a
# half to the other one, and receives the other half.
GRADIENTS = COPIES * STEPS * 4 * WIDTH * WIDTH
PIPELINE = 'cuts = ["wide", "hidden"], replicas = [1, 2, 1]'
# Devices of each stage's replicas, on two hosts with two devices each: with both replicas
# of the middle stage on one host, and on different hosts.
TOGETHER, APART = ([2], [0, 1], [3]), ([0], [1, 2], [3])


def make_job():
    return MODEL + make_blocks(
        DATA["mlp"], "cross_entropy(net, label)", "adam(lr = [1e-3, 3e-3])", STEPS,
        clauses="  seed 3\n  micro_batches 4, groups = 4\n  cluster devices = [2, 2]")


def main():
    work = Work(__doc__, "mlp")
    work.folder = work.folder.resolve()
    if not can_make_hosts():
        print("skipped: no network namespaces can be made here")
        return
    flags = ["train", "--data", work.folder, "--no-progress", "--checkpoint"]
    run(work.compile("uncut", make_job()), *flags, work.folder / "uncut-trained")
    sent = {}
    for name, devices in (("together", TOGETHER), ("apart", APART)):
        binary = compile_on_devices(work, name, make_job(), PIPELINE, devices)
        folder = work.folder / f"{name}-trained"
        with make_hosts(work.folder, slots=2) as command:
            run(*command, "--map-by", "slot", "-n", 4, binary, *flags, folder,
                cwd=work.folder)
            sent[name] = count_sent_bytes()
        expect_same_checkpoint(checkpoint(folder, STEPS),
                               checkpoint(work.folder / "uncut-trained", STEPS), name,
                               COPIES)
    print(f"bytes over the network: {sent}; gradients of two replicas: {GRADIENTS}")
    if sent["apart"] - sent["together"] < 2 * GRADIENTS * 3 // 4:
        fail("the gradients of replicas on one host went over the network")


if __name__ == "__main__":
    main()
