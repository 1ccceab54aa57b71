#!/usr/bin/env python3
"""Writes the files and runs the commands that docs/kfac.md shows, on small made-up data and
with few steps. A code block after `<!-- file: NAME -->` is a file, one after `<!-- run -->`
is run. Needs only Python's standard library."""

import argparse
import gzip
import os
import pathlib
import random
import re
import shutil
import struct
import sys

from harness import fail, run

DATA = "/usr/share/datasets/fashion-mnist"
STEPS = 12


def write_idx(path, shape, numbers):
    header = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    path.write_bytes(gzip.compress(header + numbers, 1))


def write_data(folder):
    folder.mkdir()
    generator = random.Random(1)
    for name, count in (("train", 1024), ("t10k", 512)):
        write_idx(folder / f"{name}-images-idx3-ubyte.gz", [count, 28, 28],
                  generator.randbytes(count * 28 * 28))
        write_idx(folder / f"{name}-labels-idx1-ubyte.gz", [count],
                  bytes(generator.randrange(10) for _ in range(count)))


def shorten(text, data):
    text = text.replace(DATA, str(data))
    text = text.replace("steps     200", f"steps     {STEPS}")
    return text.replace("step-00000200", f"step-{STEPS:08d}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_data(work / "data")
    # The page's python3 must be the interpreter that runs this script.
    (work / "bin").mkdir()
    (work / "bin" / "python3").symlink_to(sys.executable)
    (work / "bin" / "hftac").symlink_to(options.hftac.resolve())
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"}
    blocks = re.findall(r"<!-- (file|run)(?:: (\S+))? -->\n```\w*\n(.*?)```\n",
                        options.page.read_text(), re.S)
    if not blocks:
        fail(f"{options.page} has no commands")
    for kind, name, text in blocks:
        if kind == "file":
            (work / name).write_text(shorten(text, work / "data"))
        else:
            print(run("sh", "-ec", shorten(text, work / "data"), cwd=work,
                      env=environment), flush=True)


if __name__ == "__main__":
    main()
