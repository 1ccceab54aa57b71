#!/usr/bin/env python3
"""Tests hftac new: the jobs that it writes for models and data of many forms say what was
expected, compile and train unchanged. With --models=examples, the models are those that
the programs of the examples export, with --models=exports those that PyTorch exports, else
small ones. Only the exports need more than Python's standard library."""

import gzip
import pathlib
import random
import statistics
import struct
import sys

from data_forms import write_npy
from folders import write_bytes_npy, write_png
from harness import Work, expect_equal, fail, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Hostile"))

from onnx_writer import INT64, graph, model, node, tensor, value  # noqa: E402

SAMPLES = 80
IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
FASHION = [IMAGES, LABELS, "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"]
numbers = random.Random(7)


def linear(inputs, outputs, last=None, name="x", batch="batch"):
    """Returns a model of one linear layer, and an operator after it if `last` is given."""
    nodes = [node("Gemm", [name, "w", "b"], ["y" if last is None else "logits"])]
    if last:
        nodes.append(node(last, ["logits"], ["y"]))
    weights = [numbers.uniform(-0.5, 0.5) for _ in range(inputs * outputs)]
    return model(graph(nodes, [value(name, [batch, inputs])], [value("y", [batch, outputs])],
                       [tensor("w", [inputs, outputs], weights),
                        tensor("b", [outputs], [0.0] * outputs)]))


def lookup():
    """Returns a model with two inputs: numbers, and the index of a row of a table."""
    weights = [numbers.uniform(-0.5, 0.5) for _ in range(30)]
    return model(graph(
        [node("Gemm", ["x", "w"], ["left"]), node("Gather", ["table", "kind"], ["right"]),
         node("Add", ["left", "right"], ["y"])],
        [value("x", ["batch", 5]), value("kind", ["batch"], INT64)],
        [value("y", ["batch", 3])],
        [tensor("w", [5, 3], weights[:15]), tensor("table", [5, 3], weights[15:])]))


def pictures():
    """Returns a model of images of 3 x 8 x 8 elements, for two classes."""
    weights = [numbers.uniform(-0.5, 0.5) for _ in range(2 * 3 * 9)]
    return model(graph(
        [node("Conv", ["image", "w"], ["maps"], kernel_shape=[3, 3]),
         node("GlobalAveragePool", ["maps"], ["means"]), node("Flatten", ["means"], ["y"])],
        [value("image", ["batch", 3, 8, 8])], [value("y", ["batch", 2])],
        [tensor("w", [2, 3, 3, 3], weights)]))


def write_idx(path, dims, values):
    path.write_bytes(gzip.compress(bytes([0, 0, 8, len(dims)]) +
                                   struct.pack(f">{len(dims)}I", *dims) + bytes(values)))


def write_fashion(folder):
    """Writes files of images and labels as those of the examples, with few samples."""
    for part in ("train", "t10k"):
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", [SAMPLES, 28, 28],
                  numbers.randbytes(SAMPLES * 784))
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", [SAMPLES],
                  [i % 10 for i in range(SAMPLES)])


def write_table(path, header, rows, separator=","):
    lines = [separator.join(header)] if header else []
    lines += [separator.join(f"{entry:g}" if isinstance(entry, float) else str(entry)
                             for entry in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def draw(count, deviation=1.0, mean=0.0):
    return [numbers.gauss(mean, deviation) for _ in range(count)]


def make_rows():
    """Returns a table: a number of the row, four numbers and a class from 1 to 3."""
    source = random.Random(3)
    return [(i + 1, *(round(source.gauss(5, 3), 3) for _ in range(4)), i % 3 + 1)
            for i in range(SAMPLES)]


def print_moments():
    """Returns the means and deviations of that table's numbers, as a job has them."""
    columns = list(zip(*make_rows()))[1:5]
    means, deviations = ([f"{moment(column):.4g}" for column in columns]
                         for moment in (statistics.fmean, statistics.pstdev))
    return f"[{', '.join(means)}], [{', '.join(deviations)}])"


def write_data(folder):
    rows = make_rows()
    write_table(folder / "iris.csv", ["id", "a", "b", "c", "d", "species"], rows)
    write_table(folder / "mixed.csv", ["a", "label", "b", "c", "d"],
                [(row[1], row[5] - 1, *row[2:5]) for row in rows], ";")
    write_table(folder / "bare.csv", None, [(*row[1:5], i % 2) for i, row in enumerate(rows)],
                " ")
    for part in ("train", "test"):
        write_table(folder / f"houses_{part}.csv", ["ocean", "rooms", "age", "price"],
                    [("NEAR", *draw(2, 100), 1.5 * i) for i in range(SAMPLES)])
    write_npy(folder / "x_train.npy", "<f4", (SAMPLES, 5), draw(SAMPLES * 5))
    for name, count in ("kind_train", 5), ("y_train", 3):
        write_npy(folder / f"{name}.npy", "<i8", (SAMPLES,),
                  [i % count for i in range(SAMPLES)])
    write_bytes_npy(folder / "one_hot.npy", (SAMPLES, 3),
                    bytes(int(i % 3 == c) for i in range(SAMPLES) for c in range(3)))
    for part in ("train", "test"):
        for name in ("cats", "dogs"):
            (folder / "pets" / part / name).mkdir(parents=True, exist_ok=True)
            for i in range(30):
                height, width = numbers.randint(6, 12), numbers.randint(6, 12)
                write_png(folder / "pets" / part / name / f"{i}.png",
                          [numbers.randbytes(width * 3) for _ in range(height)])
    write_fashion(folder)


def try_job(work, name, files, *texts, samples=SAMPLES):
    """Makes a job, expects texts in it, and trains it in its folder."""
    run(work.hftac, "new", *files, "-o", f"{name}.hfta", cwd=work.folder)
    job = (work.folder / f"{name}.hfta").read_text()
    for text in (f"// {samples} samples for training.\n", *texts):
        if text not in job:
            fail(f"{name}.hfta lacks {text!r}:\n{job}")
    run(work.hftac, "fmt", "--check", f"{name}.hfta", cwd=work.folder)
    run(work.hftac, f"{name}.hfta", "-o", name, cwd=work.folder)
    run(f"./{name}", "train", "--steps", 3, "--no-progress", cwd=work.folder)


def try_small_models(work):
    models = {"classes": linear(4, 3), "logs": linear(4, 3, "LogSoftmax"),
              "one": linear(4, 1, batch=16), "houses": linear(2, 1), "two": lookup(),
              "pets": pictures(), "hot": linear(5, 3), "soft": linear(4, 3, "Softmax")}
    for name, data in models.items():
        (work.folder / f"{name}.onnx").write_bytes(data)
    write_data(work.folder)
    try_job(work, "iris", ["classes.onnx", "iris.csv"],
            f'normalize(csv("iris.csv", column = 1, header = true), {print_moments()}',
            'species = csv("iris.csv", column = "species") - 1\n',
            "cross_entropy(classes, species)\n", "accuracy\n", "validation 0.1\n",
            "// column 'id' is left out, as it numbers the samples.\n",
            "// column 'species' is the label, as the last of the table.\n")
    try_job(work, "mixed", ["logs.onnx", "mixed.csv"], "nll(logs, label)\n",
            'column = ["a", "b", "c", "d"], separator = semicolon')
    try_job(work, "bare", ["one.onnx", "bare.csv"], "binary_cross_entropy(one, label)\n",
            "batch = 16\n", "column = 4, header = false, separator = space)")
    try_job(work, "prices", ["houses.onnx", "houses_train.csv", "houses_test.csv"],
            "mse(houses, price)\n", "metric    mae, r2\n", "  test  x = normalize(")
    try_job(work, "arrays", ["two.onnx", "x_train.npy", "y_train.npy", "kind_train.npy"],
            "two(x, kind)\n", "cross_entropy(two, y)\n", 'kind = npy("kind_train.npy")')
    try_job(work, "hot", ["hot.onnx", "x_train.npy", "one_hot.npy"],
            'one_hot = npy("one_hot.npy") * 1.0\n', "cross_entropy(hot, one_hot)\n")
    try_job(work, "folder", ["pets.onnx", "pets/"], "image: u8[3, 8, 8]\n",
            'image = images("pets/train", resize = crop) / 255, label = classes("pets/train")',
            samples=60)
    refusal = run(work.hftac, "new", "soft.onnx", "iris.csv", cwd=work.folder, code=1)
    expect_equal("is the result of a Softmax" in refusal, True, refusal)
    expect_equal((work.folder / "soft.hfta").exists(), False, "a file after a refusal")
    before = (work.folder / "iris.hfta").read_bytes()
    run(work.hftac, "new", "classes.onnx", "mixed.csv", "-o", "iris.hfta", cwd=work.folder,
        code=4)
    expect_equal((work.folder / "iris.hfta").read_bytes(), before, "a file that existed")


def try_examples(work):
    """Makes jobs for the models of the examples, as their programs export them."""
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
    write_fashion(work.folder)
    write_bytes_npy(work.folder / "ring.npy", (SAMPLES,),
                    bytes(i % 3 for i in range(SAMPLES)))
    write_bytes_npy(work.folder / "point.npy", (SAMPLES, 2), numbers.randbytes(SAMPLES * 2))
    for name in "x", "y":
        write_npy(work.folder / f"{name}.npy", "<f4", (SAMPLES, 1), draw(SAMPLES))
    jobs = [("fashion/sweep", None, FASHION), ("search/tune", None, FASHION),
            ("spill/sweep", None, FASHION), ("pipeline/sweep", None, FASHION),
            ("ranks/sweep", None, FASHION), ("ranks/curve", None, ["x.npy", "y.npy"]),
            ("embed/sine", None, ["x.npy", "y.npy"]),
            ("embed/rings", None, ["point.npy", "ring.npy"]),
            *(("fleet/jobs", job, FASHION) for job in ("rates", "deep", "small"))]
    for index, (path, job, files) in enumerate(jobs):
        program = work.folder / f"example{index}"
        run(work.hftac, examples / f"{path}.hfta", "-o", program,
            *([f"--job={job}"] if job else []))
        run(program, "export", "--copy", 0, "-o", work.folder / f"model{index}.onnx")
        try_job(work, f"job{index}", [f"model{index}.onnx", *files],
                "mse(" if "y.npy" in files else "cross_entropy(")


def try_exports(work):
    """Makes jobs for models that PyTorch exports: of a table, of arrays and of images."""
    import torch
    from torch import nn

    write_data(work.folder)
    table = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    arrays = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3))
    images = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    for name, module, shape, data, text in (
            ("table", table, (4, 4), ["iris.csv"], "normalize("),
            ("arrays", arrays, (4, 5), ["x_train.npy", "y_train.npy"], "cross_entropy("),
            ("images", images, (4, 3, 8, 8), ["pets"], "resize = crop")):
        for dynamo in True, False:
            path = f"{name}{int(dynamo)}.onnx"
            torch.onnx.export(module, (torch.zeros(shape),), work.folder / path,
                              dynamo=dynamo, external_data=False, verbose=False)
            try_job(work, f"{name}{int(dynamo)}", [path, *data], text, "batch = 4\n",
                    samples=60 if name == "images" else SAMPLES)


def main():
    work = Work(__doc__, more=["--models"])
    {"examples": try_examples, "exports": try_exports,
     None: try_small_models}[work.options.models](work)


main()
