#!/usr/bin/env python3
"""Whether all kernels of the test networks assemble for a chip, in all precisions, as
code that keeps its promises: no approximations, flushed denormals, contraction or atomic
additions of floats, and registers for all that a thread computes with. Needs Python's
standard library and ptxas."""

import argparse
import os
import pathlib
import re
import shutil

from harness import fail, run
from network_run import NetworkFolder, networks

NETWORKS = ("resnet18", "mobilenetv3_large", "pointnet_cls", "transformer_lm",
            "bert_medium", "dcgan_d", "dcgan_g")
PRECISIONS = ("f32", "f64", "tf32", "bf16")
# `mul.f32` and the like, whose rounding isn't said, ptxas may contract.
FORBIDDEN = re.compile(r"\.ftz|\.approx|\b(?:add|sub|mul|mad|fma|div|sqrt|rcp)\.f(?:32|64)"
                       r"|\b(?:atom|red)\.\S*f(?:16|32|64)|\bcall\b[^;]*\(__nv")
# For ResNet's first convolution in tf32, in training on an A100 and in evaluation on an
# H100, ptxas keeps 4 or 8 bytes of a thread in memory, so that two blocks run at once.
MOST_SPILLING = 1


def find_ptxas():
    """As hftac looks for it."""
    own = pathlib.Path(os.environ.get("CUDA_PATH", ""), "bin", "ptxas")
    return str(own) if "CUDA_PATH" in os.environ and own.exists() else shutil.which("ptxas")


def emit(hftac, folder, precision, chip):
    name = folder.name
    job = folder.work / f"{name}.hfta"
    stored = "f64" if precision == "f64" else "f32"
    job.write_text(networks.make_job(name, str(folder.model.absolute()), stored))
    flags = [] if precision == stored else [f"--precision={precision}"]
    text = folder.work / f"{precision}.{chip}.ptx"
    run(hftac, job, "--data", folder.work, "--target=cuda", f"--chip={chip}", "--emit=ptx",
        "-o", text, *flags)
    return text


def assemble(ptxas, text, chip):
    """The kernels that ran out of registers."""
    said = run(ptxas, "-v", f"-arch={chip}", text, "-o", text.with_suffix(".cubin"))
    reports = re.findall(r"Compiling entry function '([^']+)'.*?(\d+) bytes spill stores",
                         said, re.DOTALL)
    kernels = len(re.findall(r"\.entry ", text.read_text()))
    if len(reports) != kernels:
        fail(f"{text}: ptxas reported {len(reports)} kernels, expected {kernels}")
    return [name for name, stored in reports if int(stored) > 0]


def split_head(text):
    """The lines that name the chip and its version of PTX, and the others."""
    lines = text.read_text().splitlines(keepends=True)
    head = [line for line in lines if line.startswith((".version", ".target"))]
    return head, [line for line in lines if line not in head]


class Chip:
    """A chip, and perhaps another one that gets the same instructions."""

    def __init__(self, hftac, ptxas, name, special):
        self.hftac, self.ptxas, self.name, self.special = hftac, ptxas, name, special
        self.special_head = None

    def learn_special(self, folder):
        one, other = (emit(self.hftac, folder, "bf16", chip)
                      for chip in (self.name, self.special))
        self.special_head, instructions = split_head(other)
        if instructions != split_head(one)[1]:
            fail(f"{one} and {other} differ behind their heads")

    def check(self, folder, precision):
        """The kernels that ran out of registers."""
        text = emit(self.hftac, folder, precision, self.name)
        found = FORBIDDEN.search(text.read_text())
        if found:
            fail(f"{folder.name} in {precision} for {self.name}: {found[0]} in {text}")
        spilling = assemble(self.ptxas, text, self.name)
        if self.special:
            if not self.special_head:
                self.learn_special(folder)
            other = folder.work / f"{precision}.{self.special}.ptx"
            other.write_text("".join(self.special_head + split_head(text)[1]))
            spilling += assemble(self.ptxas, other, self.special)
        return {f"{folder.name} {precision} {name}" for name in spilling}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--chip", required=True)
    parser.add_argument("--special", help="a chip that gets the same instructions")
    options = parser.parse_args()
    chip = Chip(options.hftac, find_ptxas(), options.chip, options.special)
    spilling = set()
    for name in NETWORKS:
        folder = NetworkFolder(options.hftac, name, options.work / name)
        for precision in PRECISIONS:
            spilling |= chip.check(folder, precision)
    print(f"{options.chip}: spills in {sorted(spilling)}")
    if len(spilling) > MOST_SPILLING:
        fail(f"kernels that ran out of registers: {sorted(spilling)}, expected at most "
             f"{MOST_SPILLING}")


if __name__ == "__main__":
    main()
