#!/usr/bin/env python3
"""Tests packs of bench/gpu/pack on the emulated GPU. A run must record the results of its
programs, and find a byte that differs from the recorded one; an item that can't run must be
reported, must not stop the others, and must be left for the next run. A stand-in
replaces the peers (PyTorch and JAX). Needs only Python's standard library."""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tarfile

from harness import copy_file, expect_equal, fail, run

PACK = pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu" / "pack"
SANITIZER = """#!/bin/sh
tool=$1; shift 2
[ $tool != --tool=racecheck ] || { echo "========= RACECHECK SUMMARY: 1 hazard"; exit 86; }
[ $tool != --tool=synccheck ] || sleep 600
exec "$@"
"""
# A stand-in for bench/gpu/peers.py. The process ends at way "compile", is slow at way
# "graph", and reports an error for way "vmap".
PEERS = """
import json, os, sys, time
for line in sys.stdin:
    item = json.loads(line)
    if item["way"] == "compile":
        os._exit(7)
    if item["way"] == "graph":
        time.sleep(600)
    answer = {"milliseconds": 1e6 if item["way"] == "eager" else 2e6}
    if item["way"] == "machine":
        answer = {"machine": {"device": "D", "PyTorch": "0", "copy_bytes_per_second": 1e9,
                  **{p + "_flops_per_second": 1e12 for p in ("f32", "tf32", "bf16")}}}
    print(json.dumps({"error": "no"} if item["way"] == "vmap" else answer), flush=True)
"""
JOB = """model net(image: f32[batch, 4]) { return output = linear(image, 2) }
data made { image: f32[4], label: u8
            train image = raw("image"), label = raw("label") }
train small { model net(image)
  data made, batch = 2
  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
  steps 20 }
"""


class Check:
    def __init__(self, options):
        self.options, self.work = options, options.work
        self.work.mkdir(parents=True)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(options.emulation)}

    def pack(self, output, *flags, code=0):
        return run(sys.executable, PACK, "-o", self.work / output, "--hftac",
                   self.options.hftac, "--emulation", self.options.emulation,
                   "--gpu-code=emulated", *flags, code=code)

    def run(self, results, *flags, code=0, **environment):
        return run(sys.executable, self.folder / "run", "--results", self.work / results,
                   *flags, code=code, env={**self.environment, **environment})

    def expect(self, text, *wanted):
        for part in wanted:
            if part not in text:
                fail(f"expected {part!r}, got\n{text}")
        print(f"as expected: {wanted[0]}")

    def check_packing(self):
        text = self.pack("small.tar.xz", "--truth=mlp", "--networks=", "--most=1",
                         "--precisions=f32,bf16")
        self.expect(text, "MiB")
        with tarfile.open(self.work / "small.tar.xz") as tar:
            tar.extractall(self.work)
        self.folder = self.work / "pack"
        text = self.pack("large", "--truth=mlp", "--networks=", "--most=1",
                         "--precisions=f32", code=1)
        self.expect(text, "MiB, expected at most 1 (--most)")
        expect_equal((self.work / "large").exists(), False, "a pack that is too large")
        self.expect(self.pack("x", "--truth=none", code=2), "'none': expected some of mlp")
        self.expect(self.pack("x", "--copies=0", code=2), "expected a number from 1 on")
        self.expect(self.pack("pack", code=2), "pack exists")
        self.expect(self.pack("x", "--truth=mlp", "--networks=", "--chip=sm_1", code=1),
                    "sm_1")

    def check_truth(self):
        text = self.run("truth.jsonl", "--sections=truth")
        self.expect(text, "truth: 2 passed, 0 failed, 0 skipped",
                    "alone: bytes equal; recorded: bytes equal")
        self.expect(self.run("truth.jsonl", code=2), "exists: --resume goes on with it")
        lines = (self.work / "truth.jsonl").read_text()
        self.run("truth.jsonl", "--sections=truth", "--resume")
        expect_equal((self.work / "truth.jsonl").read_text(), lines, "a resumed file")
        for key in ("mlp-f32", "mlp-bf16"):
            self.damage(copy_file(self.folder / "expected" / key, 1))
        text = self.run("damaged.jsonl", "--sections=truth", code=1)
        self.expect(text, "truth: 0 passed, 2 failed, 0 skipped", "copy 1 beside the "
                    "recorded one: 1 of", "largest relative difference")
        self.change_manifest(chip="sm_80")
        text = self.run("other.jsonl", "--sections=truth", code=1,
                        HFTA_EMULATION_DEVICE="sm_90")
        self.change_manifest(chip="sm_90")
        # With a chip other than the recorded one, only programs that use tensor cores may
        # give other bytes.
        self.expect(text, "truth mlp-bf16: passed: alone: bytes equal; recorded: copy 1",
                    "(recorded for sm_80, this is sm_90)", "truth mlp-f32: failed")

    def change_manifest(self, **changes):
        manifest = self.folder / "manifest.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **changes}))

    def damage(self, path):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)

    def check_skipped(self):
        text = self.run("none.jsonl", HFTA_EMULATION_DEVICE="sm_90:0")
        self.expect(text, "skipped: truth all: the driver finds no GPU that may be used")
        text = self.run("left.jsonl", "--sections=sanitizer", "--sanitizer=/none")
        self.expect(text, "skipped: sanitizer all: there is no /none")

    def check_sanitizer(self):
        sanitizer = self.work / "sanitizer"
        sanitizer.write_text(SANITIZER)
        sanitizer.chmod(0o755)
        text = self.run("found.jsonl", "--sections=sanitizer", "--precisions=f32",
                        f"--sanitizer={sanitizer}", "--limit=3", code=1)
        self.expect(text, "sanitizer mlp-f32-memcheck: passed",
                    "mlp-f32-racecheck: failed: exit 86: ========= RACECHECK SUMMARY",
                    "mlp-f32-initcheck: passed",
                    "mlp-f32-synccheck: failed: took longer than 3 s")

    def check_times(self):
        """Tests the section of times with a small program in place of a network's."""
        job = self.work / "small.hfta"
        job.write_text(JOB)
        run(self.options.hftac, job, "--target=cuda", "--gpu-code=emulated",
            "--chip=sm_90", "-o", self.folder / "programs" / "small")
        self.change_manifest(times=[{"network": "small", "copies": 1, "precision": "f32",
                                     "program": "programs/small"}])
        (self.folder / "peers.py").write_text(PEERS)
        packages = self.work / "packages"
        packages.mkdir()
        (packages / "torch.py").touch()
        options = ["--sections=times", "--limit=5", "--ways=ours,eager,compile,graph,"
                   "vmap,hfta,jax"]
        text = self.run("times.jsonl", *options, PYTHONPATH=str(packages))
        self.expect(text, "small-1-f32-ours: measured", "eager: measured: 1000000.000 ms",
                    "compile: failed: its process ended with 7",
                    "graph: failed: took longer than 5 s", "vmap: failed: no",
                    "hfta: measured", "(eager)", "geometric mean of all 1:",
                    "copies 1 GB/s, products in f32 1.0 TFLOP/s",
                    "skipped: times all by jax")
        text = self.run("total.jsonl", *options[:1], "--ways=graph", "--total=3", code=3,
                        PYTHONPATH=str(packages))
        self.expect(text, "time is up: go on with --resume")
        text = self.run("times.jsonl", "--report")
        self.expect(text, "hfta", "skipped: times all by jax")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for option in ("--hftac", "--emulation"):
        parser.add_argument(option, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    check = Check(parser.parse_args())
    check.check_packing()
    check.check_truth()
    check.check_skipped()
    check.check_sanitizer()
    check.check_times()
    shutil.rmtree(check.folder)


if __name__ == "__main__":
    main()
