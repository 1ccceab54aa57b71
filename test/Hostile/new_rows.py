"""Rows of `hftac new` with wrong models and data."""

import struct

from onnx_writer import node, simple, tensor, value
from row import Row

MODEL = simple([node("MatMul", ["x", "w"], ["y"])],
               [tensor("w", [4, 3], [0.1] * 12)], outputs=[value("y", ["batch", 3])])
TABLE = "a,b,c,d,label\n" + "".join(f"{i},2,3,{i * 0.5},{i % 3}\n" for i in range(30))


def npy(dims, descr="<f4", data=None):
    count = 1
    for size in dims:
        count *= size
    header = (f"{{'descr': '{descr}', 'fortran_order': False, "
              f"'shape': {tuple(dims)}, }}").ljust(117).encode() + b"\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header +
            (data if data is not None else bytes(count * int(descr[-1]))))


def new(name, code, *texts, files, words=None, model=MODEL):
    """Makes a row of `hftac new`; its data are all `files` if `words` aren't given."""
    return Row(f"a new job: {name}", {"m.onnx": model, **files},
               ["hftac", "new", "m.onnx", *(files if words is None else words)], (code,),
               ("error: ", *texts))


def make_rows(_program):
    table = {"t.csv": TABLE}
    yield new("no data", 2, "needs data", files={})
    yield Row("a new job: no model", table, ["hftac", "new", "t.csv"], (2,),
              ("error: ", "needs a model"))
    yield new("an option that doesn't exist", 2, "'--fast'", files={},
              words=["--fast", "t.csv"])
    yield new("two models", 2, "takes one model", files=table, words=["n.onnx", "t.csv"])
    yield new("an output of another kind", 2, "'.hfta'", files=table,
              words=["t.csv", "-o", "job.txt"])
    yield new("an output that exists", 4, "'m.hfta' exists", files={**table, "m.hfta": "old"},
              words=["t.csv"])
    yield new("an output in no folder", 4, "cannot write", files=table,
              words=["t.csv", "-o", "no/m.hfta"])
    yield new("a file that isn't there", 1, "no such file: 'u.csv'", files={},
              words=["u.csv"])
    yield new("a model that is none", 1, "m.onnx", "cannot be parsed", files=table,
              model="no model")
    yield new("a file of no known kind", 1, "'t.txt'", "type", files={"t.txt": TABLE})
    yield new("an empty table", 1, "'t.csv' is empty", files={"t.csv": ""})
    yield new("a table of other lengths", 1, "line 3: expected 5 columns",
              files={"t.csv": "a,b,c,d,label\n1,2,3,4,0\n1,2,3,4\n"})
    yield new("a table without an end of quotes", 1, "line 2",
              files={"t.csv": 'a,b,c,d,label\n1,2,3,4,"0\n'})
    yield new("a table of text", 1, "column 'd' (line 2)", "4",
              files={"t.csv": TABLE.replace("\n0,2,3,0.0,", "\n0,2,3,red,")})
    yield new("a missing value", 1, "line 2, column 'd'", "missing",
              files={"t.csv": TABLE.replace("\n0,2,3,0.0,", "\n0,2,3,,")})
    yield new("too many columns", 1, "6 columns of numbers", "input 'x' takes 4",
              files={"t.csv": TABLE.replace(",label", ",e,f,label").replace(",2,3,",
                                                                        ",2,3,4,5,")})
    yield new("more classes than outputs", 1, "0 to 7", "3 classes",
              files={"t.csv": "a,b,c,d,label\n" + "1,2,3,4,0\n1,2,3,4,7\n" * 9})
    yield new("a table in UTF-16", 1, "UTF-16", files={"t.csv": TABLE.encode("utf-16")})
    yield new("a test file alone", 1, "training", files={"test.csv": TABLE})
    yield new("two tables", 1, "both for training", files={"t.csv": TABLE, "u.csv": TABLE})
    yield new("no label", 1, "no file is left for the label", files={"x.npy": npy([30, 4])})
    yield new("no input", 1, "no file fits input 'x'", files={"y.npy": npy([30], "<i8")})
    yield new("several inputs", 1, "several files fit", "'a'", files={
        "a.npy": npy([30, 4]), "b.npy": npy([30, 4]), "label.npy": npy([30], "<i8")})
    yield new("several labels", 1, "isn't clear", files={
        "x.npy": npy([30, 4]), "p.npy": npy([30], "<i8"), "q.npy": npy([30], "<i8")})
    yield new("a label of another shape", 1, "no loss compares", files={
        "x.npy": npy([30, 4]), "y.npy": npy([30, 7])})
    yield new("a part without a label", 1, "field 'y' has no file for part 'test'", files={
        "x_train.npy": npy([30, 4]), "y_train.npy": npy([30], "<i8"),
        "x_test.npy": npy([30, 4])})
    yield new("a field twice", 1, "both field 'x'", files={
        "x.npy": npy([30, 4]), "train_x.npy": npy([30, 4]), "y.npy": npy([30], "<i8")})
    yield new("a damaged array", 1, "x.npy", files={
        "x.npy": npy([30, 4])[:90], "y.npy": npy([30], "<i8")})
    yield new("a damaged archive", 1, "x.npz", files={"x.npz": "PK no archive"})
    yield new("an empty folder", 1, "'pets' has no folders", files={"pets": None})
    yield new("a folder without images", 1, "cats", files={"pets/cats/a.txt": "a"},
              words=["pets"])
    yield new("softmax", 1, "result of a Softmax", files=table, model=simple(
        [node("MatMul", ["x", "w"], ["z"]), node("Softmax", ["z"], ["y"])],
        [tensor("w", [4, 3], [0.1] * 12)], outputs=[value("y", ["batch", 3])]))
    yield new("an operator that isn't there", 3, "Frobnicate", files=table, model=simple(
        [node("MatMul", ["x", "w"], ["z"]), node("Frobnicate", ["z"], ["y"])],
        [tensor("w", [4, 3], [0.1] * 12)], outputs=[value("y", ["batch", 3])]))
    yield new("an input without a batch", 1, "scalar", files=table, model=simple(
        [node("MatMul", ["x", "w"], ["y"])], [tensor("w", [4, 3], [0.1] * 12)],
        inputs=[value("x", [])], outputs=[value("y", ["batch", 3])]))
