#!/usr/bin/env python3
"""Tests augmented trainings against formulas in plain Python: a training that augments has
the bytes of one whose files hold the augmented samples, in the order of its steps, or
nearly so where numbers are rounded. Neither threads, fusion, micro-batches, ranks nor a
resumption may change what is drawn. Needs only Python's standard library."""

import argparse
import os
import pathlib
import random
import struct

from data_forms import write_npy
from harness import (checkpoint, copy_file, expect_equal, expect_same_file, fail,
                     read_safetensors, run)
from mpirun import run_ranks

import augmentation_formulas as formulas  # from the folder test/reference
from augmentation_formulas import Sample

SAMPLES, CHANNELS, HEIGHT, WIDTH, CLASSES = 11, 3, 6, 5, 3
BATCH, EPOCHS, COPIES = 4, 3, 2
STEPS = SAMPLES // BATCH * EPOCHS
SEED, ORDER_SEED = 5 + (3 << 33), 2
SIZE = [4, 5]

MODEL = f"""model net(image: f32[batch, 3, {SIZE[0]}, {SIZE[1]}],
          other: f32[batch, 3, {SIZE[0]}, {SIZE[1]}]) {{
  return linear(relu(linear(flatten(image) - 0.5 * flatten(other), 9)), 3)
}}
"""
LABEL = 'label = npy("label.npy")'
FILE = 'npy("image.npy")'
CROP = f"crop({FILE}, size = {SIZE}, padding = 1"

# The kinds: the fields of an augmented job, whether its bytes are compared, and whether its
# labels are probabilities. `images` and `others` are the two inputs of the model.
EXACT = f"""image = cutout(erase(flip({CROP}), p = 0.6), p = 0.7, value = 7), [2, 3], p = 0.5) / 255,
        other = flip({CROP}, view = 1), axis = 1) / 255, {LABEL}"""
ALIKE = f"image = {CROP}) / 255, other = {CROP}) / 255, {LABEL}"
NEAR = f"""image = noise(resized_crop({FILE}, {SIZE}) / 255, 0.1),
        other = noise(resized_crop({FILE}, {SIZE}) / 255, 0.1), {LABEL}"""


def get_mixed(mixture):
    return f"""image = {mixture}(flip({CROP})) / 255, alpha = 0.4),
        other = mixed_like({CROP}) / 255, image),
        label = mixed_like(one_hot(npy("label.npy"), {CLASSES}), image)"""


FIELDS = {"exact": EXACT, "alike": ALIKE, "drawn": EXACT, "near": NEAR, "mixup": get_mixed("mixup"),
          "cutmix": get_mixed("cutmix")}
MIXED = ("mixup", "cutmix")
DATA = "".join(f"""data {name} {{
  image: u8[3, 6, 5], other: u8[3, 6, 5]
  train {fields}
}}
""" for name, fields in FIELDS.items()) + "".join(f"""data {name}_files {{
  train image = npy("{name}-image.npy"){divide}, other = npy("{name}-other.npy"){divide},
        label = npy("{name}-label.npy")
}}
""" for name, divide in [("exact", " / 255"), ("alike", " / 255"), ("drawn", " / 255"),
                         ("near", ""), ("mixup", ""), ("cutmix", "")])


def make_train(name, data, settings, clauses=""):
    return f"""train {name} {{
  model     net(image, other)
  data      {data}, batch = {BATCH}, {settings}
  loss      cross_entropy(net, label)
  optimizer sgd(lr = [0.1, 0.5])
  steps     {STEPS}
{clauses}
}}
"""


def make_pair(name, data, clauses=""):
    """Returns a job that augments, and one that reads augmented samples."""
    draw = ", draw = balanced" if name == "drawn" else ""
    seeds = f"order_seed = {ORDER_SEED}, augment_seed = {SEED}"
    return (make_train(name, data, seeds + draw, clauses) +
            make_train(f"{name}_files", f"{data}_files", "shuffle = false", clauses))


class Reference:
    """Computes augmented samples."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def crop(self, sample, **key):
        return formulas.crop(self.images[sample.data], sample, SIZE, 1, **key)

    def exact(self, sample, _):
        image = formulas.flip(self.crop(sample), sample, .6)
        image = formulas.erase(image, sample, .7, value=7)
        image = formulas.cutout(image, sample, [2, 3], .5)
        other = formulas.flip(self.crop(sample, view=1), sample, .5, axis=1)
        return image, other, self.labels[sample.data]

    def alike(self, sample, _):
        return self.crop(sample), self.crop(sample), self.labels[sample.data]

    def near(self, sample, _):
        def make(field):
            image = formulas.resized_crop(self.images[sample.data], sample, SIZE)
            image = formulas.change(image, lambda c, y, x: image[c][y][x] / 255)
            return formulas.noise(image, sample, .1, field)
        return make("image"), make("other"), self.labels[sample.data]

    drawn = exact

    def plain(self, sample):
        def divide(image):
            return formulas.change(image, lambda c, y, x: image[c][y][x] / 255)
        label = [float(self.labels[sample.data] == c) for c in range(CLASSES)]
        other = self.crop(sample)
        return divide(formulas.flip(other, sample)), divide(other), label

    def mixup(self, sample, partner):
        share = formulas.mixup_share(sample, .4)
        return tuple(formulas.mix(a, b, share)
                     for a, b in zip(self.plain(sample), self.plain(partner)))

    def cutmix(self, sample, partner):
        own, other = self.plain(sample), self.plain(partner)
        box, share = formulas.cut_box(sample, *SIZE, .4)
        return (formulas.cutmix(own[0], other[0], box), formulas.mix(own[1], other[1], share),
                formulas.mix(own[2], other[2], share))


def flatten(value):
    return ([x for part in value for x in flatten(part)] if isinstance(value, list)
            else [value])


def write_bytes_npy(path, shape, numbers):
    header = (f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
              ).ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header +
                     bytes(numbers))


def list_batches(kind, labels):
    """Lists each step's samples and their partners. A library's samples are numbered by
    their positions in the batch, and its epochs by steps; samples that are drawn by their
    classes by their positions in the epoch."""
    whole = SAMPLES // BATCH * BATCH
    for step in range(STEPS):
        epoch, first = divmod(step * BATCH, whole)
        if kind == "library":
            batch = [Sample(i, step, SEED) for i in range(BATCH)]
        elif kind == "drawn":
            drawn = list(formulas.draw_classes(labels, whole, epoch, ORDER_SEED))
            batch = [Sample(i, epoch, SEED, drawn[i]) for i in range(first, first + BATCH)]
        else:
            order = formulas.make_order(SAMPLES, epoch, ORDER_SEED)
            batch = [Sample(i, epoch, SEED) for i in order[first:first + BATCH]]
        yield from zip(batch, batch[-1:] + batch[:-1])


def write_files(folder):
    numbers = random.Random(7)
    images = [[[[numbers.randrange(256) for _ in range(WIDTH)] for _ in range(HEIGHT)]
               for _ in range(CHANNELS)] for _ in range(SAMPLES)]
    labels = [i % CLASSES for i in range(SAMPLES)]
    write_bytes_npy(folder / "image.npy", (SAMPLES, CHANNELS, HEIGHT, WIDTH),
                    flatten(images))
    write_bytes_npy(folder / "label.npy", (SAMPLES,), labels)
    reference = Reference(images, labels)
    for name in FIELDS:
        write_augmented(folder, name, reference, name)
    return images, labels


def write_augmented(folder, name, reference, kind):
    count = BATCH * STEPS
    fields = list(zip(*(getattr(reference, name)(*both)
                        for both in list_batches(kind, reference.labels))))
    shapes = [(count, CHANNELS, *SIZE)] * 2 + [
        (count, CLASSES) if name in MIXED else (count,)]
    for field, values, shape in zip(("image", "other", "label"), fields, shapes):
        numbers = flatten(list(values))
        path = folder / f"{name}-{field}.npy"
        if all(isinstance(number, int) for number in numbers):
            write_bytes_npy(path, shape, numbers)
        else:
            write_npy(path, "<f4", shape, numbers)


# A program that trains a library with one batch, all samples of a file.
HOST = """
#include "net.h"
#include <stdio.h>
static unsigned char images[%d], labels[%d];
int main(int count, char **paths) {
  hfta_error error;
  hfta_options options = {.error = &error};
  const void *inputs[] = {images, images, labels};
  net *instance;
  FILE *file = fopen(paths[1], "rb");
  if (!file || fread(images, sizeof(images), 1, file) != 1 ||
      fread(labels, sizeof(labels), 1, file) != 1)
    return puts("no data"), 1;
  if (net_create(&options, &instance) != HFTA_OK)
    return puts(error.message), 1;
  for (int step = 0; step < %d; ++step) {
    net_offer(instance, inputs);
    if (net_step(instance, inputs, NULL) != HFTA_OK)
      return puts(net_message(instance)), 1;
  }
  if (net_save(instance, paths[2]) != HFTA_OK)
    return puts(net_message(instance)), 1;
  net_destroy(instance);
  return count != 3;
}
""" % (BATCH * CHANNELS * HEIGHT * WIDTH, BATCH, STEPS)


class Check:
    def __init__(self):
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--hftac", required=True)
        parser.add_argument("--work", type=pathlib.Path, required=True)
        parser.add_argument("--only", default="kinds")
        parser.add_argument("--cc")
        parser.add_argument("--emulation")
        self.options = parser.parse_args()
        self.folder = self.options.work
        self.folder.mkdir(parents=True, exist_ok=True)
        self.images, self.labels = write_files(self.folder)

    def compile(self, name, jobs, *flags):
        path = self.folder / f"{name}.hfta"
        path.write_text(MODEL + DATA + jobs)
        run(self.options.hftac, path, "-o", self.folder / name, *flags)
        return self.folder / name

    def train(self, binary, job, name, *flags, ranks=1, **more):
        """Trains a job of a program, or the program's only one if `job` is None."""
        folder = self.folder / name
        command = [binary, "train", "--data", self.folder, "--checkpoint", folder,
                   "--no-progress", *flags, *(["--job", job] if job else [])]
        if ranks > 1:
            run_ranks(ranks, *command)
        else:
            run(*command, **more)
        return folder / job if job else folder

    def expect_near(self, mine, theirs, what, limit):
        for copy in range(COPIES):
            own, other = (read_safetensors(copy_file(checkpoint(folder, STEPS), copy))
                          for folder in (mine, theirs))
            worst = max(abs(a - b) for name in own
                        for a, b in zip(own[name][2], other[name][2]))
            if not worst <= limit:
                fail(f"{what}, copy {copy}: {worst} off")
            print(f"near: {what}, copy {copy}: {worst:.2g}")

    def expect_same(self, mine, theirs, what):
        for copy in range(COPIES):
            own, other = (copy_file(checkpoint(folder, STEPS), copy)
                          for folder in (mine, theirs))
            # Metadata may differ, such as the number of steps of an epoch.
            expect_equal(read_safetensors(own), read_safetensors(other),
                         f"{what}, copy {copy}")
        print(f"equal: {what}")

    def check_kinds(self):
        binary = self.compile("kinds", "".join(make_pair(name, name) for name in FIELDS))
        for name in FIELDS:
            mine = self.train(binary, name, "mine", "--threads", 2)
            theirs = self.train(binary, f"{name}_files", "theirs")
            if name in ("exact", "alike", "drawn"):
                self.expect_same(mine, theirs, name)
            else:
                self.expect_near(mine, theirs, name, 2e-5)
        self.check_resumed(binary)
        self.check_told(binary)

    def check_told(self, binary):
        """Tests what programs say about augmentations, and about wrong classes."""
        said = run(binary, "info", "--job", "exact")
        for line in ("augments image by crop(size = [4, 5], padding = 1), flip(p = 0.6, ",
                     "augments other by crop(size = [4, 5], padding = 1, view = 1), "):
            if line not in said:
                fail(f"no {line!r} in {said!r:.600}")
        write_bytes_npy(self.folder / "label.npy", (SAMPLES,), [CLASSES] * SAMPLES)
        said = run(binary, "train", "--data", self.folder, "--job", "mixup", code=1)
        if "sample 0 holds 3, expected 0 to 2 for 'label'" not in said:
            fail(f"a wrong class is refused by {said!r}")

    def check_resumed(self, binary):
        for name in ("exact", "mixup"):
            whole = self.train(binary, name, "whole", "--threads", 1)
            self.train(binary, name, "resumed", "--steps", 3)
            resumed = self.train(binary, name, "resumed", "--resume", "--threads", 2)
            for copy in range(COPIES):
                expect_same_file(copy_file(checkpoint(resumed, STEPS), copy),
                                 copy_file(checkpoint(whole, STEPS), copy),
                                 f"a resumed training, {name}")

    def check_splits(self, *ranks):
        """Compares jobs that divide batches with such jobs that read augmented files."""
        replicas = "  micro_batches 4\n  pipeline replicas = [2]"
        kinds = ("exact", "cutmix", "mixup")
        for clauses, flags in (["  micro_batches 2", ["--no-fuse"]], [replicas, []]):
            binary = self.compile("splits", "".join(
                make_pair(name, name, clauses) for name in kinds), *flags)
            for name in kinds:
                theirs = self.train(binary, f"{name}_files", "split-theirs",
                                    "--overwrite")
                first = None
                for count in ranks if "replicas" in clauses else [1]:
                    mine = self.train(binary, name, f"split-mine-{count}", "--overwrite",
                                      ranks=count)
                    what = f"{name}, {' '.join(clauses.split())}, {count} ranks"
                    if name == "exact":
                        self.expect_same(mine, theirs, what)
                    else:
                        self.expect_near(mine, theirs, what, 2e-5)
                    first = first or mine
                    self.expect_same(mine, first, f"{what}, and one rank")

    def check_ranks(self):
        self.check_splits(1, 2)

    def check_library(self):
        """Compares a library, whose caller gives batches, with augmented files."""
        reference = Reference(self.images, self.labels)
        (self.folder / "main.c").write_text(HOST)
        (self.folder / "batch").write_bytes(bytes(flatten(self.images[:BATCH]) +
                                                  self.labels[:BATCH]))
        for name in ("exact", "mixup"):
            write_augmented(self.folder, name, reference, "library")
            augmented, files = make_pair(name, name).split("}\n", 1)
            job = self.folder / "net.hfta"
            job.write_text(MODEL + DATA + augmented + "}\n")
            run(self.options.hftac, job, "--emit=lib", "-o", self.folder / "libnet.a")
            program = self.folder / "embedded"
            run(*self.options.cc.split(), self.folder / "main.c", self.folder / "libnet.a",
                "-lm", "-lpthread", "-ldl", "-o", program)
            saved = self.folder / f"{name}-saved"
            run(program, self.folder / "batch", saved)
            theirs = self.train(self.compile("files", files), None, f"{name}-files")
            self.expect_near(saved, theirs, f"a library, {name}", 2e-5)

    def check_gpu(self):
        jobs = "".join(make_pair(name, name) for name in ("exact", "cutmix", "near"))
        cpu = self.compile("of-cpu", jobs)
        gpu = self.compile("of-gpu", jobs, "--target=cuda", "--gpu-code=emulated")
        more = {"env": {**os.environ, "LD_LIBRARY_PATH": self.options.emulation}}
        for name in ("exact", "cutmix", "near"):
            mine = self.train(gpu, name, "gpu", **more)
            self.expect_near(mine, self.train(cpu, name, "cpu"), f"{name} on a GPU", 2e-5)


def main():
    check = Check()
    getattr(check, f"check_{check.options.only}")()


if __name__ == "__main__":
    main()
