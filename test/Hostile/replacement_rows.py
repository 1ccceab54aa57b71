"""Rows in which an output would replace an input, under the same path or another one."""

import os

import checkpoint_rows
import data_rows
import language_rows
from onnx_writer import node, simple, tensor
from row import Row

MODEL = simple([node("Add", ["x", "w"], ["y"])],
               [tensor("w", [4], external={"location": "w.bin"})])
JOB = language_rows.GOOD.replace(
    language_rows.GOOD[:language_rows.GOOD.index("data made")],
    'model net = onnx("models/net.onnx")\n\n').replace("f32[8]", "f32[4]")
WEIGHTS = {"w.bin": bytes(16), "models/w.bin": bytes(16)}


def link(target):
    return lambda path: path.symlink_to(target)


def hard_link(target):
    return lambda path: os.link(path.parent / target, path)


def hftac(name, output, replaced, *options, job=JOB, command=("job.hfta",),
          files=()):
    """Makes a row of hftac whose output would replace the input `replaced`."""
    return Row(f"replacing {name}", {
        "job.hfta": job, "models/net.onnx": MODEL, "net.onnx": MODEL, **WEIGHTS,
        "image.npy": data_rows.npy(shape="(64, 4)", body=bytes(1024)),
        "label.npy": data_rows.npy(shape="(64,)", descr="|u1", body=bytes(64)),
        **dict(files)}, ["hftac", *command, "-o", output, *options], (2,),
               ("error: ", "would replace", f"'{replaced}'"))


def make_hftac_rows():
    yield hftac("the job", "./job.hfta", "job.hfta")
    yield hftac("the job's model", "models/net.onnx", "models/net.onnx")
    yield hftac("the job's model through a link", "link", "models/net.onnx",
                files={"link": link("models/net.onnx")}.items())
    yield hftac("the job's model under a second name", "second",
                "models/net.onnx",
                files={"second": hard_link("models/net.onnx")}.items())
    yield hftac("the weights beside the job's model", "models/w.bin",
                "models/w.bin")
    yield hftac("the weights beside a model", "w.bin", "w.bin", "--batch=2",
                command=("net.onnx",))
    yield hftac("data", "image.npy", "image.npy")
    yield hftac("data through a folder", "models/../label.npy", "label.npy")
    yield hftac("data that are elsewhere", "data/image.npy", "data/image.npy",
                "--data=data", files={
                    f"data/{name}": data_rows.npy(**options)
                    for name, options in {
                        "image.npy": {"shape": "(64, 4)", "body": bytes(1024)},
                        "label.npy": {"shape": "(64,)", "descr": "|u1",
                                      "body": bytes(64)}}.items()}.items())
    yield hftac("the pipeline's order", "orders/o.csv", "orders/o.csv",
                job=JOB.replace("steps ", 'micro_batches 2\n  pipeline cuts = ["y"], '
                                'order = file("orders/o.csv")\n  steps '),
                files={"orders/o.csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"}.items())
    yield hftac("data by text", "image.npy", "image.npy", "--emit=import")
    yield hftac("a constant", "w.npy", "w.npy", "--constant=x=w.npy",
                "--batch=2", command=("net.onnx",), files={
                    "w.npy": data_rows.npy(shape="(2, 4)",
                                           body=bytes(32))}.items())
    yield hftac("data by a library's header", "libimage.a", "image.h",
                "--emit=lib", job=JOB.replace(
                    'npy("image.npy")', 'npy("image.h")'), files={
                        "image.h": data_rows.npy(shape="(64, 4)",
                                                 body=bytes(1024))}.items())


def make_program_rows(program):
    checkpoint = checkpoint_rows.Checkpoint(program)
    weights = checkpoint_rows.COPY
    a = {"a.npy": data_rows.npy(shape="(64, 4)", body=bytes(1024))}
    inputs = ["--input", "a=a.npy", "--input", "b=b.npy", "--input", "c=b.npy"]

    def sweep(name, replaced, *options, files=()):
        return Row(f"replacing {name}", {
            **data_rows.OLD, **data_rows.DATA, **checkpoint.files, **a,
            **dict(files)}, ["sweep", *options], (2,),
                   ("sweep: error: ", "would replace", replaced))

    itself = {"link": link(program / "sweep")}.items()
    yield sweep("the program by an export", "the running program", "export",
                "--copy", "0", "-o", "link", files=itself)
    yield sweep("a checkpoint by an export", weights, "export", "--copy", "0",
                "-o", f"./{weights}", "--checkpoint", "checkpoints")
    yield sweep("one checkpoint by an export", "copy-0001", "export", "--copy", "0",
                "-o", "second", "--checkpoint", checkpoint_rows.STEP,
                files={"second": hard_link(weights)}.items())
    train = ("train", "--no-progress", "--steps", "8", "--checkpoint",
             "checkpoints", "--resume", "--log")
    yield sweep("the program by a log", "the running program", *train, "link",
                files=itself)
    yield sweep("data by a log", "'b.npy'", *train, "b.npy")
    yield sweep("data through a link by a log", "'label.raw'", *train, "link",
                files={"link": link("label.raw")}.items())
    yield sweep("a checkpoint by a log", weights, *train, weights)
    trace = (*train[:-1], "--trace")
    yield sweep("the program by a trace", "the running program", *trace, "link",
                files=itself)
    yield sweep("data by a trace", "'b.npy'", *trace, "b.npy")
    yield sweep("a checkpoint by a trace", weights, *trace, weights)
    yield sweep("the log by a trace", "the log 'log.jsonl'", *train, "log.jsonl",
                "--trace", "./log.jsonl")
    yield sweep("the program by a measurement's trace", "the running program",
                "bench", "--trace", "link", files=itself)
    yield sweep("an array by an output", "'output.npy'", "run", *inputs[:-2],
                "--input", "c=output.npy", "--output", ".", files={
                    "output.npy": data_rows.npy()}.items())
    yield sweep("an array through a folder by an output", "'b.npy'", "run",
                *inputs, "--output", "out", files={
                    "out/output.npy": link("../b.npy")}.items())
    yield sweep("a checkpoint by an output", weights, "run", *inputs,
                "--checkpoint", "checkpoints", "--output", "out", files={
                    "out/output.npy": link(f"../{weights}")}.items())
    yield sweep("the program by an output", "the running program", "run",
                *inputs, "--output", "out", files={
                    "out/output.npy": link(program / "sweep")}.items())


def make_rows(program):
    yield from make_hftac_rows()
    yield from make_program_rows(program)
