"""Outputs that would replace what is read, under its name or another."""

import os

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
    """hftac's answer to a place for its output."""
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


def make_rows(_):
    yield from make_hftac_rows()
