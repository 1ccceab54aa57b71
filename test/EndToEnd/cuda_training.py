#!/usr/bin/env python3
"""Tests programs for a GPU with the emulated driver. They must train to the CPU's weights,
within rounding, and always to the same bytes: with and without fusion, for any number of
copies, on any chip (except for programs that use tensor cores), for any order in which
streams, blocks and threads run, and when resuming from a checkpoint. A missing driver, a
missing GPU and code for another GPU must be reported. If any call of the driver fails,
there must be one message, the exit code, and no partly written files. Needs only Python's
standard library."""

import ctypes
import os

from cuda_work import NEAR, RATES, STEPS, CudaWork, make_job
from harness import COPIES, checkpoint, copy_file, expect_equal, read_safetensors, run

# The host program for the library: it loads a checkpoint, checks that the host can't
# address a tensor on the GPU, and saves a checkpoint.
EMBEDDED = """
#include "net.h"
#include <stdio.h>
int main(int count, char **folders) {
  hfta_error error;
  hfta_options options = {.error = &error};
  hfta_tensor_info info;
  net *instance;
  if (net_create(&options, &instance) != HFTA_OK)
    return puts(error.message), 1;
  if (net_load(instance, folders[1]) != HFTA_OK ||
      net_tensor(instance, 0, "hidden.weight", &info) != HFTA_OK ||
      net_save(instance, folders[2]) != HFTA_OK)
    return puts(net_message(instance)), 1;
  net_destroy(instance);
  return info.data != NULL || count != 3;
}
"""
CALLS = ["cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
         "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
         "cuMemAlloc", "cuMemsetD8Async", "cuMemcpyAsync", "cuModuleLoadData",
         "cuModuleGetFunction", "cuLaunchKernel", "cuStreamCreate",
         "cuStreamSynchronize", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"]


class Check(CudaWork):
    def __init__(self):
        super().__init__(__doc__, more=["--cc"])

    def check_factors(self):
        """Tests programs that use tensor cores: their numbers must be near the CPU's, and
        their bytes must not depend on the order of execution, on fusion, or on the other
        copies."""
        for job, precision in (("cnn", "tf32"), ("mlp", "bf16"), ("cnn", "f16"),
                               ("cnn", "bf16")):
            gpu, expected = self.check_numbers(job, precision)
        what = f"{job}, {precision}"
        self.expect_bytes(self.train(gpu, "factors-2", seed=2), expected,
                          f"{what}, seed 2")
        apart = self.compile("factors-apart", job, f"--precision={precision}",
                             "--no-fuse")
        self.expect_bytes(self.train(apart, "factors-apart", seed=3), expected,
                          f"{what} without fusion")
        alone = self.compile("factors-alone", job, f"--precision={precision}",
                             rates=RATES[1:2])
        own = checkpoint(self.train(alone, "factors-alone"), STEPS)
        expect_equal(read_safetensors(copy_file(own, 0)),
                     read_safetensors(copy_file(checkpoint(expected, STEPS), 1)),
                     f"{what}, copy 1 alone")
        # Another chip's tensor cores add up in another order, so only the numbers are near.
        hopper = self.train(gpu, "factors-sm_90", device="sm_90")
        self.expect_near(hopper, expected, f"{what} on sm_90", NEAR[precision])

    def check_bytes(self, job, gpu, expected):
        """Checks that the bytes depend neither on the order of execution nor on the other
        copies. Job "mlp" is tested with ten orders and with each copy alone, other
        jobs with fewer."""
        is_first = job == "mlp"
        for seed in range(2, 11 if is_first else 4):
            self.expect_bytes(self.train(gpu, f"{job}-{seed}", seed=seed), expected,
                              f"{job}, seed {seed}")
        apart = self.compile(f"{job}-apart", job, "--no-fuse")
        self.expect_bytes(self.train(apart, f"{job}-apart", seed=9), expected,
                          f"{job} without fusion")
        resumed = f"{job}-resumed"
        self.train(gpu, resumed, "--steps", 2)
        self.expect_bytes(self.train(gpu, resumed, "--resume", seed=5), expected,
                          f"{job}, resumed")
        for copy in range(COPIES) if is_first else (1,):
            alone = self.compile(f"{job}-{copy}", job, rates=[RATES[copy]])
            own = checkpoint(self.train(alone, f"{job}-alone-{copy}"), STEPS)
            theirs = read_safetensors(copy_file(checkpoint(expected, STEPS), copy))
            expect_equal(read_safetensors(copy_file(own, 0)), theirs,
                         f"{job}, copy {copy} alone")
        more = self.compile(f"{job}-8", job, rates=RATES + ["2e-3"] * 5)
        self.expect_bytes(self.train(more, f"{job}-of-8", seed=6), expected,
                          f"{job}, of 8 copies")

    def check_chips(self, expected):
        gpu = self.compile("chips", "mlp", chips="sm_80,sm_90,sm_90a")
        for chip in ("sm_86", "sm_90"):
            self.expect_bytes(self.train(gpu, f"chip-{chip}", device=chip), expected,
                              f"mlp on {chip}")
        return gpu

    def check_commands(self, gpu, folder):
        """Tests that commands that need no GPU run without a driver, and that the other
        commands run on the emulated GPU."""
        bare = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        expect_equal("copies 3" in run(gpu, "info", env=bare), True, "info")
        run(gpu, "info", "--json", env=bare)
        run(gpu, "export", "--copy", 1, "-o", self.folder / "one.onnx", "--checkpoint",
            folder, env=bare)
        text = run(gpu, "bench", "--steps", 2, "--phases", env=self.environment())
        expect_equal("forward" in text, True, text)
        expect_equal("cuda:K" in run(gpu, "train", "--help", env=bare), True, "--help")
        # A training that began on the CPU may be resumed on a GPU.
        cpu, moved = self.folder / "mlp-f32-cpu", self.folder / "moved"
        run(cpu, "train", "--data", self.folder, "--checkpoint", moved, "--no-progress",
            "--steps", 2)
        self.train(gpu, "moved", "--resume")
        self.expect_near(moved, folder, "mlp-f32, begun on the CPU", NEAR["f32"])
        trace = self.folder / "trace.json"
        self.train(gpu, "traced", "--trace", trace)
        expect_equal('"forward' in trace.read_text(), True, "a trace has tasks")

    def expect_refused(self, gpu, code, *parts, flags=(), **more):
        text = self.train(gpu, "refused", *flags, code=code, **more)
        for part in parts:
            expect_equal(part in text, True, f"{part!r} in {text!r}")
        expect_equal(len(text.splitlines()), 1, f"lines of {text!r}")

    def check_library(self, folder):
        job = self.work.write_job("net", make_job("mlp", RATES))
        run(self.work.hftac, job, "--target=cuda", "--gpu-code=emulated", "--emit=lib",
            "-o", self.folder / "libnet.a")
        (self.folder / "main.c").write_text(EMBEDDED)
        program = self.folder / "embedded"
        run(*self.work.options.cc.split(), self.folder / "main.c",
            self.folder / "libnet.a", "-lm", "-lpthread", "-ldl", "-o", program)
        run(program, folder, self.folder / "saved", env=self.environment())
        # The tensors are compared, not the files: a file's metadata also names the program
        # that saved it.
        for copy in range(COPIES):
            saved, loaded = (read_safetensors(copy_file(checkpoint(of, STEPS), copy))
                             for of in (self.folder / "saved", folder))
            expect_equal(saved, loaded, f"what a library loads and saves, copy {copy}")

    def check_several(self):
        """Tests a program of two jobs, each with its own code for the GPU."""
        first = make_job("mlp", RATES)
        jobs = first + first[first.index("train sweep {"):].replace("sweep", "other")
        both = self.work.compile("two-gpu", jobs, "--target=cuda", "--gpu-code=emulated",
                                 "--chip=sm_80")
        folder = self.train(both, "two")
        alone = self.folder / "mlp-f32-1"
        for job in ("sweep", "other"):
            self.expect_bytes(folder / job, alone, f"job {job} of two")
        self.expect_refused(both, 3, "seats aren't supported on a GPU in this version",
                            flags=["--seats", "2"])

    def check_messages(self, gpu, cpu):
        name = gpu.name
        text = self.work.compile("text-gpu", make_job("mlp", RATES), "--target=cuda",
                                 "--gpu-code=ptx")
        self.expect_refused(text, 3, "the program has code for GPUs, but this driver is the "
                            "emulated one: compile it with hftac --gpu-code=emulated")
        self.expect_refused(gpu, 3, f"{name}: error: the program has no code for this GPU "
                            "('emulated sm_75', sm_75), only for sm_80, sm_90, sm_90a: "
                            "compile it with hftac --chip=sm_75", device="sm_75")
        self.expect_refused(gpu, 3, "more bytes of memory, but", "are free",
                            device="sm_80:50000")
        self.expect_refused(gpu, 3, "this machine has a driver, but no NVIDIA GPU",
                            device="sm_80:0")
        self.expect_refused(gpu, 2, "device 'cuda:7': expected a number below 1",
                            flags=["--device", "cuda:7"])
        self.expect_refused(gpu, 3, "device 'cpu' is not available: this program was "
                            "compiled for cuda", flags=["--device", "cpu"])
        self.expect_refused(cpu, 3, "device 'cuda:0' is not available: this program was "
                            "compiled for cpu", flags=["--device", "cuda:0"])
        try:
            ctypes.CDLL("libcuda.so.1")
            print("left out: this machine has a driver")
        except OSError:
            bare = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
            text = run(gpu, "train", "--data", self.folder, code=3, env=bare)
            expect_equal("this machine has no driver for NVIDIA GPUs: libcuda.so.1" in text,
                         True, text)


def main():
    check = Check()
    programs = {}
    for job in ("mlp", "cnn", "kfac", "words"):
        # In f64, differences aren't hidden by rounding.
        for precision in ("f64", "f32") if job in ("mlp", "kfac") else ("f32",):
            programs[job] = check.check_numbers(job, precision)
        check.check_bytes(job, *programs[job])
    for job in ("patches", "groups"):
        check.check_numbers(job, "f64")
    check.check_factors()
    gpu, expected = programs["mlp"]
    chips = check.check_chips(expected)
    check.check_commands(gpu, expected)
    check.check_library(expected)
    check.check_several()
    check.check_messages(chips, check.folder / "mlp-f32-cpu")
    check.expect_failures(gpu, CALLS)


main()
