"""Compiles every example of docs/language.md.

    check_docs.py LANGUAGE.MD FOLDER HFTAC MODELS

A code block of the page that is only a part of a job is completed: clauses get a
train block, a data or model block gets the other blocks. The files that examples
name are created in FOLDER.
"""

import gzip
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys

DATA = """data fashion {
  train image = idx("images.gz") / 255, label = idx("labels.gz")
}
"""
MODEL = """model net(image: f32[batch, 28, 28]) {
  return linear(flatten(image), 10)
}
"""
LAYERS = """model net(image: f32[batch, 28, 28]) {
  stem = linear(flatten(image), 8)
  blocks = linear(relu(linear(stem, 8)), 8)
  return head = linear(blocks, 10)
}
"""
REST = """  data fashion, batch = 4
  loss cross_entropy(%s, label)
"""


def make_files(folder, models):
    def write(name, *shape):
        head = struct.pack(">BBBB", 0, 0, 8, len(shape))
        head += b"".join(struct.pack(">I", size) for size in shape)
        size = 1
        for extent in shape:
            size *= extent
        (folder / name).write_bytes(gzip.compress(head + bytes(size)))

    for name in ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz",
                 "images.gz"):
        write(name, 8, 28, 28)
    for name in ("train-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
                 "labels.gz", "labels-idx1-ubyte.gz"):
        write(name, 8)
    shutil.copy(models / "mlp.onnx", folder / "cnn.onnx")


def complete(block):
    """Returns a complete job that contains the example `block`."""
    sgd = "  optimizer sgd\n"
    if "head.*" in block:
        return (LAYERS + DATA + "train t {\n  model net(image)\n" + REST % "net" + block +
                "}\n")
    if block.startswith(("optimizer", "precondition")):
        return (MODEL + DATA + "train t {\n  model net(image)\n" +
                REST % "net" + block + "}\n")
    if block.startswith("turn"):
        return (MODEL + DATA + "train t {\n  data fashion, batch = 4\n" +
                block.replace("(view)", "(image)") + "}\n")
    if block.startswith("train"):
        return MODEL + DATA + block
    if block.startswith("data ") and "price" in block:
        size = re.search(r"features: f32\[(\d+)\]", block)[1]
        name = block.split()[1]
        return (block + f"model net(x: f32[batch, {size}]) {{ return linear(x, 1) }}\n"
                f"train t {{\n  model net(features)\n  data {name}, batch = 4\n"
                "  loss mse(net, price)\n" + sgd + "}\n")
    if block.startswith("data pets"):
        return (block + MODEL.replace("28, 28", "3, 64, 64") +
                "train t {\n  model net(image)\n  data pets, batch = 4\n"
                "  loss cross_entropy(net, label)\n" + sgd + "}\n")
    if block.startswith("data d"):
        return (block + MODEL + "train t {\n  model net(image)\n"
                "  data d, batch = 4\n  loss cross_entropy(net, label)\n" + sgd +
                "}\n")
    if block.startswith("model cnn"):
        data = DATA.replace('idx("images.gz")', 'raw("x")').replace(
            "image =", "image: u8[8, 8] =")
        return (block + data + "train t {\n  model cnn(image)\n" +
                REST % "cnn" + sgd + "}\n")
    if block.startswith("model net(") and block.endswith("  ...\n"):
        job = block.replace("f32[batch, 784]", "f32[batch, 28, 28]").replace(
            "linear(image,", "linear(flatten(image),")
        return job[:-len("  ...\n")] + REST % "net" + sgd + "}\n" + DATA
    return block


def run(command, folder, block):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{block}\nexit code {result.returncode}:\n{result.stderr}")


def main():
    text, folder, hftac, models = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    make_files(folder, models)
    count = 0
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text.read_text(),
                                      re.MULTILINE | re.DOTALL):
        if language or block.startswith("file "):
            continue  # commands and their output, or the grammar
        count += 1
        if block.startswith("hftac"):
            words = shlex.split(block.replace("\\\n", " "))[1:]
            # In FOLDER, cnn.onnx is a model for images of 8 x 8 pixels.
            words = [w.replace('idx("images.gz")', 'idx("small.gz")')
                     .replace("image=", "image: u8[8, 8]=") for w in words]
        else:
            job = folder / f"example-{count}.hfta"
            job.write_text(complete(block))
            words = [job.name]
        # These may have several jobs, or arrays, which --emit=import refuses.
        several = re.search("^train ", block, re.MULTILINE)
        output = ["--plan"] if several else ["--emit=import", "-o", "out.mlir"]
        run([hftac, *words, *output], folder, block)
    print(f"{count} examples")


main()
