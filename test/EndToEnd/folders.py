#!/usr/bin/env python3
"""Tests that folders of images, windows of tokens, and samples that are drawn by their
classes train to the same bytes as npy files that hold the same samples in the same order;
with damaged images, with and without a cache, and after a resume. Needs only Python's
standard library."""

import argparse
import pathlib
import random
import struct
import zlib

from data_forms import write_npy
from harness import (checkpoint, copy_file, expect_equal, expect_same_file, fail,
                     read_safetensors, run)

from augmentation_formulas import philox  # from the folder test/reference

HEIGHT, WIDTH, BATCH, EPOCHS, LENGTH = 3, 4, 4, 3, 5
# The number of images of each class. The order of names isn't that of numbers.
CLASSES = {"10": 9, "2": 2, "Cat": 1}
SEED = 7 + (3 << 33)

JOBS = """model image_net(x: f32[batch, 3, 3, 4]) {
  return linear(flatten(x), 3)
}
model token_net(x: i64[batch, 5]) {
  return linear(embedding(x, 30, 4), 30)
}
data folder {
  image: u8[3, 3, 4]
  train image = images("train") / 255, label = classes("train")
  test  image = images("test") / 255, label = classes("test")
}
data read_again {
  train image = images("train", cache = 100) / 255, label = classes("train")
}
data damaged {
  image: u8[3, 3, 4]
  train label = classes("damaged"), image = images("damaged", skip_damaged = true) / 255
}
data arrays {
  image: u8[3, 3, 4], label: i64
  train image = npy("image.npy") / 255, label = npy("label.npy")
}
data drawn {
  image: u8[3, 3, 4], label: i64
  train image = npy("drawn-image.npy") / 255, label = npy("drawn-label.npy")
}
data text {
  x: u16[5], next: u16[5]
  train x = tokens("text.bin"), next = tokens("text.bin", shift = 1)
}
data windows {
  x: u16[5], next: u16[5]
  train x = raw("x.raw"), next = raw("next.raw")
}
""" + "".join(f"""
train by_{name} {{
  model     {model}
  data      {data}, batch = {BATCH}{more}
  loss      cross_entropy({model.split("(")[0]}, {label})
  optimizer sgd(lr = [0.1, 0.5])
  epochs    {EPOCHS}
}}
""" for name, model, label, data, more in [
    ("folder", "image_net(image)", "label", "folder", ""),
    ("read_again", "image_net(image)", "label", "read_again", ""),
    ("damaged", "image_net(image)", "label", "damaged", ""),
    ("arrays", "image_net(image)", "label", "arrays", ""),
    ("classes", "image_net(image)", "label", "folder",
     f", draw = balanced, order_seed = {SEED}"),
    ("drawn", "image_net(image)", "label", "drawn", ", shuffle = false"),
    ("text", "token_net(x)", "next", "text", ""),
    ("windows", "token_net(x)", "next", "windows", "")])


def write_png(path, pixels):
    """Writes rows of colored pixels, with the filter that subtracts the row above."""
    def chunk(kind, data):
        part = kind + data
        return struct.pack(">I", len(data)) + part + struct.pack(">I", zlib.crc32(part))

    rows, above = b"", bytes(len(pixels[0]))
    for row in pixels:
        rows += b"\2" + bytes((a - b) % 256 for a, b in zip(row, above))
        above = row
    header = struct.pack(">IIBBBBB", len(pixels[0]) // 3, len(pixels), 8, 2, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def draw(labels):
    """Returns the samples that each epoch draws by their classes."""
    members = [[i for i, label in enumerate(labels) if label == number]
               for number in range(len(CLASSES))]
    for epoch in range(EPOCHS):
        for position in range(len(labels) // BATCH * BATCH):
            words = philox([position, 16, epoch, 0], [SEED % 2 ** 32, SEED >> 32])
            chosen = members[words[0] * len(members) >> 32]
            yield chosen[words[1] * len(chosen) >> 32]


def write_bytes_npy(path, shape, data):
    header = (f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
              ).ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data)


def write_images(folder):
    """Writes folders of images, and the same images as arrays."""
    numbers = random.Random(5)
    samples, labels = [], []
    for label, (name, count) in enumerate(sorted(CLASSES.items())):
        for index in sorted(range(count), key=str):
            rows = [bytes(numbers.randrange(256) for _ in range(3 * WIDTH))
                    for _ in range(HEIGHT)]
            for place in ("train", "test", "damaged"):
                write_png(folder / place / name / f"{index}.png", rows)
            # The arrays have channels first.
            samples.append(b"".join(row[c::3] for c in range(3) for row in rows))
            labels.append(label)
    (folder / "damaged" / "2" / "0a.png").write_bytes(b"no image")
    (folder / "damaged" / "2" / "notes.txt").write_bytes(b"ignored")

    def write(name, order):
        write_bytes_npy(folder / f"{name}image.npy", (len(order), 3, HEIGHT, WIDTH),
                        b"".join(samples[i] for i in order))
        write_npy(folder / f"{name}label.npy", "<i8", (len(order),),
                  [labels[i] for i in order])

    write("", range(len(labels)))
    drawn = list(draw(labels))
    write("drawn-", drawn)
    if set(labels[i] for i in drawn) != set(range(len(CLASSES))):
        fail("a class isn't drawn")


def write_tokens(folder):
    numbers = random.Random(6)
    tokens = [numbers.randrange(30) for _ in range(9 * LENGTH + 3)]
    (folder / "text.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    for name, shift in (("x", 0), ("next", 1)):
        window = tokens[shift:shift + 9 * LENGTH]
        (folder / f"{name}.raw").write_bytes(struct.pack(f"<{len(window)}H", *window))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = options.work
    folder.mkdir(parents=True)
    write_images(folder)
    write_tokens(folder)
    (folder / "jobs.hfta").write_text(JOBS)
    binary = folder / "jobs"
    run(options.hftac, folder / "jobs.hfta", "-o", binary)
    images, said_by = sum(CLASSES.values()), {}

    def train(job, name, *more):
        return run(binary, "train", "--data", folder, "--job", f"by_{job}",
                   "--checkpoint", folder / name, *more)

    def find(name, job, count, copy):
        return copy_file(checkpoint(folder / name / f"by_{job}", count), copy)

    def compare(job, reference, count):
        for each in (job, reference):
            if each not in said_by:
                said_by[each] = train(each, each)
        for copy in range(2):
            expect_same_file(find(job, job, count, copy),
                             find(reference, reference, count, copy),
                             f"{job} and {reference}")
        return said_by[job]

    count = images // BATCH * EPOCHS
    said = compare("folder", "arrays", count)
    note = "has 12 images of 3 classes: 0 '10', 1 '2', 2 'Cat'"
    expect_equal(said.count(note), 2, "notes about classes")
    compare("read_again", "arrays", count)
    said = compare("damaged", "arrays", count)
    if "0a.png' is neither a PNG nor a JPEG image: it is left out" not in said:
        fail(f"no note about a damaged image: {said}")
    # The array has the samples of all epochs, so one of its epochs is the whole. That
    # differs in the checkpoint's metadata, so only tensors are compared.
    train("drawn", "drawn", "--epochs", 1)
    train("classes", "classes")
    for copy in range(2):
        expect_equal(read_safetensors(find("classes", "classes", count, copy)),
                     read_safetensors(find("drawn", "drawn", count, copy)),
                     "samples that are drawn by their classes")
    compare("text", "windows", 9 // BATCH * EPOCHS)
    # A resumed training draws the samples of an uninterrupted one.
    train("classes", "resumed", "--steps", 5)
    train("classes", "resumed", "--resume")
    for copy in range(2):
        expect_same_file(find("resumed", "classes", count, copy),
                         find("classes", "classes", count, copy),
                         "a resumed training that draws by classes")


if __name__ == "__main__":
    main()
