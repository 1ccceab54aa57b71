#!/usr/bin/env python3
"""Tests copies that begin again, with other numbers and at steps of their own. In a library
for three copies, copy 1 gets new hyper-parameters, a new seed and a new horizon after four
steps, and initial weights; then the copies are run in turn at their own steps. Copy 1 must
have the bytes of a program for one copy with these numbers, and the others those of a
training that nobody has disturbed. This is tested with dropout, running statistics, a
cosine schedule, loss scaling and micro-batches; without fusion, with a memory budget, with
replicas, with stages, with K-FAC, and on the emulated GPU. Wrong names and numbers are
refused.
Needs only Python's standard library."""

import os

import harness
from harness import (Work, copy_file, expect_equal, make_blocks, read_least_budget,
                     read_safetensors, run)

MODEL = """
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(batch_norm(conv(image, 3, 3, stride = 2, padding = 1, bias = false)))
  hidden = dropout(gelu(linear(flatten(first), 21)), 0.2)
  return output = linear(layer_norm(hidden), 10)
}
"""
# The numbers of all copies, then those with which copy 1 begins again.
RATES, SEEDS, DECAYS = ["1e-3", "3e-3", "1e-2"], [3, 4, 5], ["0.01", "0", "0.1"]
RATE, SEED, DECAY, HORIZON = "5e-3", 9, "0.02", 8

# Steps that all copies run before copy 1 begins again, and steps that each runs then.
TOGETHER, APART = 4, 6

MAIN = """
#include "alone.h"
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static float image[16 * 64];
static int64_t label[16];
static const void *inputs[] = {image, label};

static void check(hfta_status status, hfta_instance *instance) {
  if (!status)
    return;
  printf("failed: %s\\n", hfta_instance_message(instance));
  exit(1);
}

static void expect(hfta_status status, hfta_instance *instance) {
  printf("%d: %s\\n", (int)status, hfta_instance_message(instance));
}

/* Runs step number `step`, whose batch follows from the number. */
static void run(hfta_instance *instance, unsigned step) {
  unsigned state = 17 * step + 5;
  for (int i = 0; i < 16 * 64; ++i) {
    state = state * 1664525u + 1013904223u;
    image[i] = (float)(state >> 8) / (1 << 23) - 1.0f;
  }
  for (int i = 0; i < 16; ++i)
    label[i] = (state >> (i + 4)) % 10;
  check(hfta_instance_step(instance, inputs, NULL), instance);
}

static void *create(int is_alone, int threads) {
  hfta_error error;
  hfta_options options = {.threads = threads, .spill_directory = ".", .error = &error};
  sweep *array = NULL;
  alone *single = NULL;
  if (is_alone ? alone_create(&options, &single) : sweep_create(&options, &array)) {
    printf("failed: %s\\n", error.message);
    exit(1);
  }
  return is_alone ? (void *)single : (void *)array;
}

static void refuse(hfta_instance *instance) {
  const int32_t twice[] = {1, 1}, one[] = {1};
  expect(hfta_instance_set_hyper_parameter(instance, 7, "lr", 1), instance);
  expect(hfta_instance_set_hyper_parameter(instance, 0, "rate", 1), instance);
  expect(hfta_instance_set_hyper_parameter(instance, 0, "lr", NAN), instance);
  expect(hfta_instance_set_hyper_parameter(instance, 0, "seed", 0.5), instance);
  expect(hfta_instance_set_horizon(instance, 0, -1), instance);
  expect(hfta_instance_restart(instance, twice, 2), instance);
  if (hfta_instance_accumulate(instance, inputs, NULL) == 0) {
    expect(hfta_instance_restart(instance, one, 1), instance);
    check(hfta_instance_update(instance), instance);
  }
}

int main(int argc, char **argv) {
  const int32_t others[] = {0, 2}, restarted[] = {1};
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  sweep *array = create(0, threads);
  hfta_instance *mixed = (hfta_instance *)array;
  for (unsigned step = 0; step < TOGETHER; ++step)
    run(mixed, step);
  check(sweep_set_hyper_parameter(array, 1, "lr", RATE), mixed);
  check(sweep_set_hyper_parameter(array, 1, "weight_decay", DECAY), mixed);
  check(sweep_set_hyper_parameter(array, 1, "seed", SEED), mixed);
  check(sweep_set_horizon(array, 1, HORIZON), mixed);
  hfta_status status = sweep_restart(array, restarted, 1);
  if (status) {
    expect(status, mixed);
    return 1;
  }
  for (unsigned step = 0; step < APART; ++step) {
    check(sweep_set_live(array, others, 2), mixed);
    check(sweep_set_steps(array, TOGETHER + step), mixed);
    run(mixed, TOGETHER + step);
    check(sweep_set_live(array, restarted, 1), mixed);
    check(sweep_set_steps(array, step), mixed);
    run(mixed, step);
  }
  if (sweep_hyper_parameter(array, 1, "lr") != RATE ||
      !isnan(sweep_hyper_parameter(array, 1, "rate")))
    puts("the array has other numbers");
  check(hfta_instance_save(mixed, "mixed"), mixed);
  hfta_instance *whole = create(0, threads);
  for (unsigned step = 0; step < TOGETHER + APART; ++step)
    run(whole, step);
  check(hfta_instance_save(whole, "whole"), whole);
  hfta_instance *alone = create(1, threads);
  for (unsigned step = 0; step < APART; ++step)
    run(alone, step);
  check(hfta_instance_save(alone, "alone"), alone);
  refuse(whole);
  hfta_instance_destroy(mixed);
  hfta_instance_destroy(whole);
  hfta_instance_destroy(alone);
  return 0;
}
"""

REFUSED = """2: copy 7: there are copies 0 to 2
2: 'sweep' has no hyper-parameter 'rate', expected one of: NAMES
2: 'lr' must be finite, got nan
2: 'seed' must be a whole number, got 0.5
2: a schedule can't end after -1 steps
2: copy 1 after copy 1: expected ascending numbers
"""
BETWEEN = "2: copies can't begin again between an accumulation and its update\n"


def make_job(name, rates, decays, seeds, steps, clauses):
    """Returns the text of a job for as many copies as there are rates."""
    optimizer = f"adamw(lr = [{', '.join(rates)}], weight_decay = [{', '.join(decays)}])"
    text = MODEL + make_blocks(
        harness.DATA["mlp"], "cross_entropy(net, label)", optimizer, steps,
        clauses=f"  seed [{', '.join(map(str, seeds))}]\n  schedule cosine(warmup = 2)\n"
                "  zip(lr, weight_decay, seed)\n"
                f"{clauses}")
    return text.replace("train sweep {", f"train {name} {{")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--cc", "--emulation"])
        self.environment = {**os.environ, "HFTA_EMULATION_DEVICE": "sm_80",
                            "LD_LIBRARY_PATH": self.work.options.emulation}

    def build(self, name, clauses, flags):
        """Returns a folder with the program that trains in both libraries."""
        folder = self.work.folder / name
        folder.mkdir()
        for library, job in (
                ("sweep", make_job("sweep", RATES, DECAYS, SEEDS, 12, clauses)),
                ("alone", make_job("alone", [RATE], [DECAY], [SEED], HORIZON, clauses))):
            run(self.work.hftac, self.work.write_job(f"{name}-{library}", job),
                "--emit=lib", "-o", folder / f"lib{library}.a", *flags)
        (folder / "main.c").write_text(MAIN)
        numbers = dict(TOGETHER=TOGETHER, APART=APART, RATE=RATE, DECAY=DECAY, SEED=SEED,
                       HORIZON=HORIZON)
        run(*self.work.options.cc.split(), "-std=c11", "-Wall", "-Werror", "main.c",
            *(f"-D{key}={value}" for key, value in numbers.items()), "libsweep.a",
            "libalone.a", "-lm", "-lpthread", "-ldl", "-o", "main", cwd=folder)
        return folder

    def check(self, name, clauses="", flags=(), threads=1, accumulates=True):
        folder = self.build(name, clauses, flags)
        text = run("./main", threads, cwd=folder, env=self.environment)
        lines = [line for line in text.splitlines(keepends=True)
                 if not line.startswith("2: 'sweep' has no")]
        expected = [line for line in REFUSED.splitlines(keepends=True) if "NAMES" not in line]
        expect_equal("".join(lines), "".join(expected) + (BETWEEN if accumulates else ""),
                     f"what {name} refuses")

        def read(training, copy):
            [step] = (folder / training).glob("step-*")
            return read_safetensors(copy_file(step, copy))

        for copy in (0, 2):
            expect_equal(read("mixed", copy) == read("whole", copy), True,
                         f"{name}: bytes of copy {copy}")
        expect_equal(read("mixed", 1) == read("alone", 0), True,
                     f"{name}: bytes of the copy that began again")
        expect_equal(read("mixed", 1) == read("whole", 1), False,
                     f"{name}: whether the numbers count")

    def find_budget(self):
        job = self.work.write_job(
            "least", make_job("sweep", RATES, DECAYS, SEEDS, 12, ""))
        least = read_least_budget(run(
            self.work.hftac, job, "--memory=device = 1KiB", "-o",
            self.work.folder / "least", code=3))
        return f"--memory=device = {least + least // 8}"


def main():
    check = Check()
    check.check("plain")
    check.check("parts", "  micro_batches 2\n  clip_norm 0.5\n  precision f16", threads=2)
    check.check("unfused", flags=["--no-fuse"], threads=3)
    check.check("budget", flags=[check.find_budget()], accumulates=False)
    check.check("replicas", flags=["--micro-batches=4", "--pipeline=replicas = [2]"])
    check.check("stages", flags=["--micro-batches=4",
                                 '--pipeline=cuts = ["hidden"], replicas = [1, 1]'])
    check.check("kfac", "  precondition kfac(damping = 1e-2, factor_every = 2)")
    check.check("gpu", flags=["--target=cuda", "--gpu-code=emulated", "--chip=sm_80"])


if __name__ == "__main__":
    main()
