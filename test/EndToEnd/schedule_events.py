#!/usr/bin/env python3
"""Tests that no event of a schedule is superfluous. Removes one event at a time: either
hftac must refuse the result, or the program must train to other bytes on a device that
executes its queues in another order. The jobs have no case in which an event really is
superfluous: if one queue adds up the sums of several groups, it would be enough to await
the last one. Needs only Python's standard library and a C compiler."""

import re
import subprocess

from harness import Work, checkpoint, copy_file, fail, make_job

STEPS = 3
DEVICES = ["cpu", "shuffled:0", "shuffled:1", "shuffled:2", "shuffled:3"]
EVENT = re.compile(r"^ *hfta\.(record|await) ")
JOBS = {"turns": "", "parts": "  micro_batches 4",
        "ahead": "  micro_batches 4, all_forwards_first = true"}


def read_copies(work, binary, device):
    folder = work.folder / f"{binary.name}-{device.replace(':', '-')}"
    subprocess.run([binary, "train", "--data", work.folder, "--device", device,
                    "--checkpoint", folder, "--no-progress"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [copy_file(checkpoint(folder, STEPS), copy).read_bytes()
            for copy in range(3)]


def main():
    work = Work(__doc__, "mlp")
    for name, clause in JOBS.items():
        job = make_job("mlp", STEPS, clause)
        text = work.compile(f"{name}.mlir", job, "--emit=scheduled").read_text()
        lines = text.splitlines()
        events = [index for index, line in enumerate(lines) if EVENT.match(line)]
        expected = read_copies(work, work.compile(name, job), "cpu")
        refused = 0
        for event in events:
            path = work.folder / f"{name}-{event}.mlir"
            path.write_text("\n".join(lines[:event] + lines[event + 1:]))
            binary = path.with_suffix("")
            result = subprocess.run([work.hftac, path, "-o", binary], text=True,
                                    stderr=subprocess.PIPE, check=False)
            if result.returncode == 1 and "may still be" in result.stderr:
                refused += 1
            elif result.returncode != 0:
                fail(f"{name}: exit {result.returncode}\n{result.stderr:.2000}")
            elif all(read_copies(work, binary, device) == expected
                     for device in DEVICES):
                fail(f"{name}: nobody misses\n{lines[event]}")
        if not events:
            fail(f"{name}: a schedule without events")
        print(f"{name}: {len(events)} events, {refused} missed by the compiler, "
              f"{len(events) - refused} by the device")


if __name__ == "__main__":
    main()
