#!/usr/bin/env python3
"""Tests hfta.export with both of PyTorch's exporters: exported modules train as
in PyTorch, in f64; plain exports differ as docs/exporting.md says; hftac finds PyTorch's
gradients with each loss, and detects a module that has changed since its file was written;
and the snippets of docs/exporting.md run. Needs PyTorch, onnx and onnxscript."""

import collections
import json
import pathlib
import re
import sys
import warnings

import numpy
import onnx
import torch
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import nn

from exporting_models import (Attention, BatchNorm, GroupNorm, Llama, MODULES,
                              Parametrized, TiedLlama)
from harness import (Work, checkpoint, copy_file, expect_equal, fail, read_safetensors,
                     run)

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.append(str(SOURCE / "python"))

from hfta import export  # noqa: E402

STEPS, BATCH, RATE = 8, 4, 0.125
TOLERANCE = 1e-13
JOB = """
model net = onnx("{name}.onnx")
data made {{
  train x = npy("{name}-x.npy"), label = npy("{name}-label.npy")
}}
train job {{
  model     net(x)
  data      made, batch = {batch}, shuffle = false
  loss      cross_entropy(net, label)
  optimizer sgd(lr = {rate}, momentum = 0.5)
  precision f64
  steps     {steps}
}}
"""


def make_samples(kind):
    make, bounds, shape = kind.inputs
    x = make(*bounds, (STEPS * BATCH, *shape))
    return x, torch.randint(kind.classes, (STEPS * BATCH,))


def export_plainly(module, dynamo, path):
    """Exports a module as for inference, without hfta.export, and returns the ONNX
    model."""
    module.eval()
    x = make_samples(type(module))[0][:BATCH]
    options = {"external_data": False} if dynamo else {}
    torch.onnx.export(module, (x,), path, dynamo=dynamo, verbose=False, **options)
    return onnx.load(path)


def train(module, samples):
    """Trains a module with PyTorch, and returns the losses."""
    module.train()
    optimizer = torch.optim.SGD([p for p in module.parameters() if p.requires_grad],
                                lr=RATE, momentum=0.5)
    losses = []
    for x, label in zip(*(values.split(BATCH) for values in samples)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(x), label)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def read_losses(path):
    events = map(json.loads, path.read_text().splitlines())
    return [event["loss"][0] for event in events if event["event"] == "step"]


def compare(what, mine, theirs):
    difference = numpy.abs(numpy.asarray(mine) - numpy.asarray(theirs)).max()
    scale = max(1, numpy.abs(theirs).max())
    if not difference <= TOLERANCE * scale:
        fail(f"{what}: differs by {difference}")
    return difference / scale


def check_training(work, kind, dynamo):
    name = f"{kind.__name__}-{'new' if dynamo else 'old'}"
    torch.manual_seed(7)
    module = kind().double()
    samples = make_samples(kind)
    if samples[0].is_floating_point():
        samples = samples[0].double(), samples[1]
    numpy.save(work.folder / f"{name}-x.npy", samples[0].numpy())
    numpy.save(work.folder / f"{name}-label.npy", samples[1].numpy())
    module.eval()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    names = export.export(module, (samples[0][:BATCH],),
                               str(work.folder / f"{name}.onnx"), dynamo=dynamo)
    for key, value in module.state_dict().items():
        if not torch.equal(value, before[key]):
            fail(f"{name}: the export changes '{key}'")
    expect_equal(module.training, False, f"{name}: mode after the export")
    binary = work.compile(name, JOB.format(name=name, batch=BATCH, rate=RATE,
                                           steps=STEPS))
    log = work.folder / f"{name}.jsonl"
    folder = work.train(binary, "--log", log, "--log-every=1")
    losses = train(module, samples)
    worst = compare(f"{name}: losses", read_losses(log), losses)
    after = read_safetensors(copy_file(checkpoint(folder, STEPS), 0))
    state = module.state_dict()
    compared = 0
    for key in state.keys() & after.keys():
        shape, numbers = after[key][1:]
        worst = max(worst, compare(f"{name}: '{key}'",
                                   numpy.reshape(numbers, shape), state[key].numpy()))
        compared += 1
    if not set(names) <= after.keys() or compared < len(names):
        fail(f"{name}: compared {compared} tensors, of those trained {names}")
    print(f"{name}: {len(names)} trained tensors and {STEPS} losses within {worst:.1e}")


class Classifier(nn.Module):
    """A classifier whose output has several axes, with classes along axis 1, and with a
    dropout."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
                                  nn.Dropout(0.5))
        self.head = nn.Conv2d(4, 3, 1)

    def forward(self, x):
        return torch.log_softmax(self.head(self.body(x)), 1)


def check_records(work, dynamo):
    """Records a training step with each loss and lets hftac check it, then checks that a
    module that differs from its file is detected."""
    torch.manual_seed(5)
    module, x = Classifier(), torch.randn(4, 1, 6, 6)
    path = str(work.folder / f"recorded-{dynamo}.onnx")
    export.export(module, (x,), path, dynamo=dynamo, check=True, hftac=work.hftac)
    expect_equal(list(work.folder.glob(f"recorded-{dynamo}*.safetensors")), [],
                 "records that a check leaves")
    for loss in export.LOSSES:
        export.record(module, x, path, loss=loss)
        said = run(work.hftac, "--check-gradients", path)
        if "6 gradients, 2 running statistics and the loss equal" not in said:
            fail(f"{loss}: {said}")
    with torch.no_grad():
        module.body[1].bias[2] += 0.5
    try:
        export.compare_training(module, (x,), path, hftac=work.hftac)
    except export.NotExportable as error:
        if "step 1 differs in the loss and" not in str(error):
            fail(f"a changed module: {error}")
    else:
        fail("a changed module isn't found")


class Optional(nn.Module):
    """A module that is called without its second input, although its third one is given."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x, bias=None, scale=None):
        x = self.linear(x)
        if bias is not None:
            x = x + bias
        return x if scale is None else x * scale


def check_keywords(work, dynamo):
    """Tests that keyword arguments are passed by name, in any order."""
    torch.manual_seed(6)
    module, x = Optional(), torch.randn(4, 3)
    scale, bias = torch.randn(4, 2), torch.randn(4, 2)
    path = str(work.folder / f"keywords-{dynamo}.onnx")
    for kwargs in ({"scale": scale}, {"scale": scale, "bias": bias}):
        export.export(module, (x,), path, dynamo=dynamo, check=True,
                           hftac=work.hftac, kwargs=kwargs)


def count(content):
    """Returns the number of nodes per operator, and the initializers' names, of an ONNX
    model."""
    operators = collections.Counter(node.op_type for node in content.graph.node)
    return operators, [tensor.name for tensor in content.graph.initializer]


def check_plain_exports(work, dynamo):
    """Checks the statements of docs/exporting.md about plain exports."""
    path = str(work.folder / "plain.onnx")
    renamed = "val_" if dynamo else "onnx::"

    def require(holds, claim):
        if not holds:
            fail(f"{'newer' if dynamo else 'TorchScript'} exporter: not so: {claim}")

    operators, names = count(export_plainly(BatchNorm(), dynamo, path))
    require("BatchNormalization" not in operators and "norm.weight" not in names,
            "batch normalizations are folded")
    module = TiedLlama()
    content = export_plainly(module, dynamo, path)
    names = count(content)[1]
    require("blocks.0.q.weight" not in names and
            any(name.startswith(renamed) for name in names),
            "transposed weights are renamed")
    require("blocks.0.cos" in names, "buffers are initializers")
    require("blocks.0.norm2.weight" not in names, "equal tensors become one")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = export.find_trained(module, content)
        marked = export.mark(module, path)
    require(any("is 2 tensors" in str(entry.message) for entry in caught),
            "tied embeddings become two tensors")
    require(any("blocks.1.norm2.weight" in str(entry.message) for entry in caught),
            "what is merged is missing")
    require("blocks.0.cos" not in marked and len(found) == 17,
            "renamed weights are found")
    kept = count(onnx.load(path))[1]
    require(len(marked) == 16 and set(marked) < set(found) and
            len(set(found) & set(kept)) == 16, "tied embeddings become one again")
    operators, names = count(export_plainly(GroupNorm(), dynamo, path))
    require("norm.weight" not in names, "a group normalization's scale is renamed")
    names = count(export_plainly(Parametrized(), dynamo, path))[1]
    computed = "hidden.parametrizations.weight.original0" not in names
    require(computed == dynamo, "the newer exporter computes parametrized weights")
    content = export_plainly(Attention(), dynamo, path)
    require(("attention.out_proj.bias" in count(content)[1]) != dynamo,
            "the newer exporter removes biases of zeros")
    scales = [tensor for tensor in content.graph.initializer
              if list(tensor.dims) == [1] and tensor.data_type == 1]
    require(bool(scales) == dynamo, "the newer exporter's scales are initializers")


class Weight(nn.Module):
    """A module with one parameter and, if `frozen`, a frozen parameter with equal
    numbers."""

    def __init__(self, values, frozen=False):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(values))
        if frozen:
            self.teacher = nn.Parameter(torch.tensor(values), requires_grad=False)


def write_tensors(path, tensors):
    """Writes an ONNX file with the given initializers, each of which is also an output."""
    outputs = [helper.make_tensor_value_info(f"{name}_out", onnx.TensorProto.FLOAT,
                                             values.shape)
               for name, values in tensors.items()]
    nodes = [helper.make_node("Identity", [name], [f"{name}_out"]) for name in tensors]
    graph = helper.make_graph(
        nodes, "tensors", [], outputs,
        [numpy_helper.from_array(values, name) for name, values in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                ir_version=8), path)


def check_ties(work):
    """Tests that a parameter that a file holds in several forms, such as transposed or
    reshaped, becomes one tensor from which the others are computed."""
    path = str(work.folder / "ties.onnx")
    values = numpy.arange(24, dtype="float32").reshape(4, 6)
    forms = {"as it is": lambda w: w, "turned": lambda w: w.T,
             "turned cube": lambda w: w.T.reshape(1, 6, 4),
             "turned row": lambda w: w.T.reshape(24),
             "cube": lambda w: w.reshape(2, 2, 6)}
    for first in forms:
        order = [first, *(name for name in forms if name != first)]
        for last in range(2, len(order) + 1):
            write_tensors(path, {name: forms[name](values) for name in order[:last]})
            kept, = export.mark(Weight(values), path)
            content = onnx.load(path)
            onnx.checker.check_model(content, full_check=True)
            for other in (values, values[::-1] * values):
                for tensor in content.graph.initializer:
                    if tensor.name == kept:
                        tensor.CopyFrom(numpy_helper.from_array(
                            numpy.ascontiguousarray(forms[kept](other)), kept))
                found = ReferenceEvaluator(content).run(None, {})
                for name, got in zip(order, found):
                    if not numpy.array_equal(got, forms[name](other)):
                        fail(f"'{name}', computed from '{kept}', is wrong")
    square = numpy.eye(3, dtype="float32")
    for module, tensors, expected in (
            (Weight(square), {"weight": square, "val_1": square},
             "'val_1' in the file may be transposed or not"),
            (Weight(values, frozen=True), {"val_1": values, "val_2": values},
             "'val_1' in the file holds the numbers of several parameters")):
        write_tensors(path, tensors)
        try:
            export.mark(module, path)
        except export.NotExportable as error:
            if not str(error).startswith(expected):
                fail(f"expected '{expected}', got '{error}'")
        else:
            fail(f"expected '{expected}'")


def check_kept(dynamo):
    """Tests that a module whose forward changes a buffer is refused, and that the export
    leaves the module as it was."""
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("past", torch.full((1, 3), torch.nan))

        def forward(self, x):
            self.register_buffer("last", x)
            self.past = torch.cat([self.past, x])
            return x

    module = Cached()
    past = module.past
    try:
        export.export(module, (torch.ones(2, 3),), "unwritten.onnx", dynamo=dynamo)
    except export.NotExportable as error:
        expect_equal(str(error).split(" changes")[0], "the buffer 'past'", "refusal")
    else:
        fail("changing buffers aren't refused")
    expect_equal([name for name, _ in module.named_buffers()], ["past"], "buffers")
    if module.past is not past or past.shape != (1, 3) or not past.isnan().all():
        fail("a buffer isn't restored")


def check_snippets(work):
    """Runs the Python snippets and the command of docs/exporting.md in order."""
    page = (SOURCE / "docs/exporting.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
    folder = work.folder / "docs"
    folder.mkdir()
    (folder / "python").symlink_to(SOURCE / "python")
    numpy.save(folder / "image.npy", numpy.zeros((32, 1, 8, 8), "float32"))
    numpy.save(folder / "label.npy", numpy.zeros(32, "int64"))
    scripts = [text for kind, text in blocks if kind == "python"]
    command = next(text for _, text in blocks if text.startswith("hftac cnn.onnx"))
    said = next(text for _, text in blocks if text.startswith("hftac: "))
    printed = run(sys.executable, "-W", "ignore", "-c", scripts[0], cwd=folder)
    expect_equal(printed.split()[-1], "6", "tensors that the snippet exports")
    arguments = command.replace("hftac", str(pathlib.Path(work.hftac).resolve()), 1)
    expect_equal(run("sh", "-c", arguments, cwd=folder), said, "what hftac prints")
    said = next(text for _, text in blocks if text.startswith("cnn.onnx: 6"))
    run(sys.executable, "-W", "ignore", "-c", scripts[0] + scripts[2], cwd=folder)
    printed = run(arguments.split()[0], "--check-gradients", "cnn.onnx", cwd=folder)
    expect_equal(printed.splitlines()[-1].split(", within")[0], said.split(", within")[0],
                 "what hftac prints of the record")
    run(sys.executable, "-c", scripts[1], cwd=folder)
    printed = run("sh", "-c", arguments.replace("cnn.onnx", "frozen.onnx"), cwd=folder)
    expect_equal(printed, "hftac: trains 4 tensors (4 listed in hfta.parameters), "
                 "freezes 2 tensors (2 not listed in hfta.parameters); 1 batch "
                 "normalization in training mode\n",
                 "what hftac prints of the changed entry")


def main():
    warnings.simplefilter("ignore")
    work = Work(__doc__)
    check_ties(work)
    for dynamo in (True, False):
        check_kept(dynamo)
        check_plain_exports(work, dynamo)
        check_records(work, dynamo)
        check_keywords(work, dynamo)
        for kind in MODULES:
            check_training(work, kind, dynamo)
    check_snippets(work)


if __name__ == "__main__":
    main()
