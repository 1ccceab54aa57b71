#!/usr/bin/env python3
"""Tests that all kernels of the test networks assemble for a chip, in all precisions, and
that their code keeps its promises: no approximate functions, no flushing of denormals, no
contraction and no atomic additions of floats, and enough registers for all values of a
thread. Needs Python's standard library and ptxas."""

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
# PTX instructions that could change bits between runs or chips. The forms without a
# rounding mode, such as `mul.f32`, are among them because ptxas may contract these.
FORBIDDEN = re.compile(r"\.ftz|\.approx|\b(?:add|sub|mul|mad|fma|div|sqrt|rcp)\.f(?:32|64)"
                       r"|\b(?:atom|red)\.\S*f(?:16|32|64)|\bcall\b[^;]*\(__nv")
# The highest accepted number of kernels with register spills. To run two blocks per
# multiprocessor, ptxas spills 4 or 8 bytes per thread of ResNet's first convolution in
# tf32: in training on an A100, and in evaluation on an H100.
MOST_SPILLING = 1


# Instructions that all threads of a warp group execute together. A kernel must contain
# equally many of each; only a kernel with a producer warp has one more wait_group, for the
# last products.
TOGETHER = ("wgmma.fence.", "wgmma.commit_group.", "wgmma.wait_group.")
COPIES = "cp.async.bulk.tensor."


def find_ptxas():
    """Returns the path of the ptxas that hftac would use: the one in CUDA_PATH, else in
    PATH."""
    own = pathlib.Path(os.environ.get("CUDA_PATH", ""), "bin", "ptxas")
    return str(own) if "CUDA_PATH" in os.environ and own.exists() else shutil.which("ptxas")


# The warning of ptxas that it inserts a wait after each product of a warp group.
SERIALIZED = "wgmma.mma_async instructions are serialized"


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
    """Assembles a PTX file and returns the names of the kernels with register spills. Fails
    if ptxas serializes products of warp groups."""
    said = run(ptxas, "-v", f"-arch={chip}", text, "-o", text.with_suffix(".cubin"))
    if SERIALIZED in said:
        fail(f"{text}: {said[said.index(SERIALIZED) - 100:][:300]}")
    reports = re.findall(r"Compiling entry function '([^']+)'.*?(\d+) bytes spill stores",
                         said, re.DOTALL)
    kernels = len(re.findall(r"\.entry ", text.read_text()))
    if len(reports) != kernels:
        fail(f"{text}: ptxas reported {len(reports)} kernels, expected {kernels}")
    return [name for name, stored in reports if int(stored) > 0]


class Chip:
    """A chip to check, and optionally the variant of the same generation with additional
    instructions (`special`, such as sm_90a for sm_90)."""

    def __init__(self, hftac, ptxas, name, special):
        self.hftac, self.ptxas, self.name, self.special = hftac, ptxas, name, special
        self.group_kernels = self.copied_kernels = 0

    def emit(self, folder, precision, chip):
        text = emit(self.hftac, folder, precision, chip)
        found = FORBIDDEN.search(text.read_text())
        if found:
            fail(f"{folder.name} in {precision} for {chip}: {found[0]} in {text}")
        return text

    @staticmethod
    def count_group_kernels(text):
        """Returns the number of kernels with products of warp groups, and how many of these
        have a producer warp."""
        kernels = [kernel for kernel in text.read_text().split(".entry ")
                   if "wgmma.mma_async" in kernel]
        for kernel in kernels:
            counts = [kernel.count(name) for name in TOGETHER]
            counts[-1] -= COPIES in kernel
            if counts != counts[:1] * len(TOGETHER):
                fail(f"{text}: {kernel.split('(')[0]} has {counts} of {TOGETHER}")
        return len(kernels), sum(COPIES in kernel for kernel in kernels)

    def check(self, folder, precision):
        """Compiles a network for the chip and its variant, and returns a description of
        each kernel with register spills."""
        texts = [(self.name, self.emit(folder, precision, self.name))]
        if self.special:
            texts.append((self.special, self.emit(folder, precision, self.special)))
            groups, copied = self.count_group_kernels(texts[-1][1])
            self.group_kernels += groups
            self.copied_kernels += copied
        return {f"{folder.name} {precision} {name} on {chip}" for chip, text in texts
                for name in assemble(self.ptxas, text, chip)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--chip", required=True)
    parser.add_argument("--special", help="a chip whose warp groups multiply, too")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    options = parser.parse_args()
    chip = Chip(options.hftac, find_ptxas(), options.chip, options.special)
    spilling = set()
    for name in options.networks:
        folder = NetworkFolder(options.hftac, name, options.work / name)
        for precision in options.precisions:
            spilling |= chip.check(folder, precision)
    print(f"{options.chip}: spills in {sorted(spilling)}; "
          f"{chip.group_kernels} kernels of warp groups, "
          f"{chip.copied_kernels} with a warp that copies")
    least_groups, least_copied = (10, 4) if options.networks == NETWORKS else (2, 1)
    if chip.special and chip.group_kernels < least_groups:
        fail(f"{chip.group_kernels} kernels have products of warp groups, expected at "
             f"least {least_groups}")
    if chip.special and chip.copied_kernels < least_copied:
        fail(f"{chip.copied_kernels} kernels have a warp that copies, expected at least "
             f"{least_copied}")
    if len(spilling) > MOST_SPILLING:
        fail(f"kernels that ran out of registers: {sorted(spilling)}, expected at most "
             f"{MOST_SPILLING}")


if __name__ == "__main__":
    main()
