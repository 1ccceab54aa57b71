#!/usr/bin/env python3
"""Makes test/models/kfac/NAME.onnx and golden/kfac/NAME.json: trainings that are
preconditioned by numpy_kfac.py, in f64.

    make_kfac_golden.py [--only NAME] [--out DIR]    needs torch, numpy and onnx

With --out, only golden files are written, to DIR. For each case they have

    loss     one row a step, one number a copy: before the step's update
    kl_scale one row a step, one number a copy: the factor of the preconditioned
             gradients
    state    checkpoints' tensors by step and name, for each copy what
             kfac_cases.summarize() makes of them; `..._spectrum/NAME` stands for
             the product of basis, eigenvalues and transposed basis, and there
             may be sgd's `velocity/NAME`
"""

import argparse
import json
import math
import pathlib
import warnings

import onnx
import torch
from torch import nn
from torch.nn import functional

import drawn_targets
import numpy_kfac
import kfac_cases
import make_data
from make_golden import make_optimizer, rate

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models" / "kfac"
EPSILON = 1e-5


#===------------------------------------------------------------------------===#
# Networks
#===------------------------------------------------------------------------===#

class Mlp(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.input = nn.Linear(8, 7)
        self.hidden = nn.Linear(7, width)
        self.output = nn.Linear(width, 4, bias=False)

    def forward(self, x):
        x = torch.tanh(self.input(x))
        return self.output(functional.relu(self.hidden(x)))


class Recurrent(nn.Module):
    """A network that applies one layer twice."""

    def __init__(self):
        super().__init__()
        self.input = nn.Linear(8, 6)
        self.cell = nn.Linear(6, 6)
        self.output = nn.Linear(6, 4)

    def forward(self, x):
        x = torch.tanh(self.input(x))
        x = torch.tanh(self.cell(torch.tanh(self.cell(x))))
        return self.output(x)


class Cnn(nn.Module):
    """A network of convolutions with groups, dilation and stride, with and without
    bias."""

    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(4, 6, 3, padding=1, groups=2, bias=False)
        self.norm = nn.BatchNorm2d(6, eps=EPSILON)
        self.dilated = nn.Conv2d(6, 6, 3, padding=2, dilation=2, groups=3)
        self.strided = nn.Conv2d(6, 4, 3, stride=2, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(4, eps=EPSILON)
        self.output = nn.Linear(36, 3)

    def forward(self, image):
        x = torch.tanh(self.norm(self.grouped(image)))
        x = torch.tanh(self.dilated(x))
        x = functional.relu(self.second_norm(self.strided(x)))
        return self.output(torch.flatten(x, 1))


class Conv1(nn.Module):
    def __init__(self):
        super().__init__()
        self.strided = nn.Conv1d(3, 4, 3, stride=2, padding=1)
        self.depthwise = nn.Conv1d(4, 4, 3, padding=2, dilation=2, groups=4,
                                   bias=False)
        self.norm = nn.BatchNorm1d(4, eps=EPSILON)
        self.output = nn.Linear(20, 3)

    def forward(self, x):
        x = torch.tanh(self.strided(x))
        x = functional.relu(self.norm(self.depthwise(x)))
        return self.output(torch.flatten(x, 1))


class Conv3(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv3d(2, 3, (2, 3, 2), stride=(1, 2, 1),
                               padding=(0, 1, 1))
        self.depthwise = nn.Conv3d(3, 3, 2, groups=3, bias=False)
        self.output = nn.Linear(48, 3)

    def forward(self, x):
        x = torch.tanh(self.depthwise(torch.tanh(self.first(x))))
        return self.output(torch.flatten(x, 1))


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.grouped = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2)
        self.dilated = nn.ConvTranspose2d(6, 2, 2, dilation=2, bias=False)
        self.shrink = nn.Conv2d(2, 2, 3, stride=3)
        self.output = nn.Linear(8, 3)

    def forward(self, x):
        x = torch.tanh(self.grouped(x))
        x = torch.tanh(self.shrink(torch.tanh(self.dilated(x))))
        return self.output(torch.flatten(x, 1))


class Transformer(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(kfac_cases.WORDS, width)
        self.positions = numpy_kfac.Positions(kfac_cases.LENGTH, width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.mix = numpy_kfac.PerHead(heads, width // heads, width // heads)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.wide = nn.Linear(width, 8)
        self.narrow = nn.Linear(8, width)
        self.last_norm = nn.LayerNorm(width, eps=EPSILON)
        self.head = nn.Linear(width, kfac_cases.WORDS)

    def split(self, x):
        batch, length, width = x.shape
        x = x.view(batch, length, self.heads, width // self.heads)
        return x.permute(0, 2, 1, 3)

    def forward(self, tokens):
        x = self.positions(self.embedding(tokens))
        query, key, value = (self.split(layer(x)) for layer in
                             (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        mixed = self.mix(scores.softmax(-1) @ value)
        mixed = mixed.permute(0, 2, 1, 3).reshape(x.shape)
        x = self.norm(x + self.out(mixed))
        x = self.last_norm(x + self.narrow(torch.tanh(self.wide(x))))
        return self.head(x)


MAKERS = {"mlp": Mlp, "cnn": Cnn, "transformer": Transformer,
          "recurrent": Recurrent, "conv1": Conv1, "conv3": Conv3,
          "transposed": Transposed, "regression": Mlp, "binary": Mlp,
          "wide": lambda: Mlp(9)}


def make_model(name):
    """Returns a model with the weights of its ONNX file."""
    model = MAKERS[name]()
    for number, (key, parameter) in enumerate(model.named_parameters()):
        flat = [2 * make_data.uniform(8192 + 64 * list(MAKERS).index(name) + number,
                                      i) - 1 for i in range(parameter.numel())]
        values = torch.tensor(flat, dtype=torch.float64).view(parameter.shape)
        if parameter.dim() > 1:
            values *= math.sqrt(3 / math.prod(parameter.shape[1:]))
        elif "norm" in key and key.endswith("weight"):
            values = 1 + values / 4
        else:
            values /= 4
        with torch.no_grad():
            parameter.copy_(values)
    return model


def export(name):
    network = kfac_cases.NETWORKS[name]
    examples = tuple(
        torch.zeros((network.batch, *shape), dtype=torch.float32
                    if fill == "float" else torch.int64)
        for field, (shape, fill) in network.fields.items() if field != "label")
    path = MODELS / f"{name}.onnx"
    batch = {field: {0: "batch"} for field in (*network.inputs, "output")}
    torch.onnx.export(
        make_model(name), examples, str(path), dynamo=False, opset_version=17,
        input_names=network.inputs, output_names=["output"], dynamic_axes=batch,
        training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    model = onnx.load(path)
    names = sorted(tensor.name for tensor in model.graph.initializer)
    print(f"{path}: {path.stat().st_size} bytes, {', '.join(names)}")


#===------------------------------------------------------------------------===#
# Training
#===------------------------------------------------------------------------===#

def choose_options(case, copy):
    options = kfac_cases.pick(case.kfac, copy)
    if "kl_clip" not in options:
        momentum = kfac_cases.pick(case.settings, copy).get("momentum", 0.0)
        options["kl_clip"] = 1e-2 * (1 - momentum) ** 2
    return numpy_kfac.DEFAULTS | options | {"groups": case.groups}


def load_fields(case):
    fields = kfac_cases.make_fields(case.network, case.masked)
    return {name: torch.tensor(values, dtype=torch.float64 if values.typecode == "f"
                               else torch.int64).view(shape)
            for name, (shape, values) in fields.items()}


def compute_loss(kind, output, label, terms, smoothing=0.0):
    """Returns a micro-batch's contribution to the mean loss of a step, whose labels
    that count are `terms`."""
    if kind == "mse":
        return functional.mse_loss(output, label, reduction="sum") / terms
    if kind == "binary_cross_entropy":
        return functional.binary_cross_entropy_with_logits(
            output, label, reduction="sum") / terms
    return functional.cross_entropy(output.reshape(-1, output.shape[-1]),
                                    label.reshape(-1), reduction="sum",
                                    label_smoothing=smoothing) / terms


def compute_drawn_loss(kind, output, label, terms, seed, step, first_sample):
    """Returns the loss with drawn targets. Labels that are ignored stay so."""
    drawn = torch.from_numpy(drawn_targets.draw_targets(
        kind, output.detach().numpy(), seed, step, first_sample))
    if label.dtype == torch.int64:
        drawn = torch.where(label == kfac_cases.IGNORED, label, drawn)
    return compute_loss(kind, output, drawn, terms)


def get_velocities(model, optimizer):
    """Returns sgd's velocities, except those that consist of rounding errors only."""
    velocities = {f"velocity/{name}":
                  optimizer.state[parameter]["momentum_buffer"].numpy()
                  for name, parameter in model.named_parameters()}
    return {name: values for name, values in velocities.items()
            if abs(values).max() > 1e-12}


def train(case, copy):
    """Trains one copy of a case. Returns the losses and the scales of K-FAC's clipping
    of all steps, and the states of checkpoints by step."""
    model = make_model(case.get_model(copy)).double().train()
    options = choose_options(case, copy)
    settings = kfac_cases.pick(case.settings, copy)
    optimizer = make_optimizer(case.optimizer, list(model.parameters()), settings)
    preconditioner = numpy_kfac.Kfac(model, options)
    data = load_fields(case)
    label = data.pop("label")
    network = kfac_cases.NETWORKS[case.network]
    batch = case.get_batch()
    part = batch // case.micro_batches
    losses, scales, states = [], [], {}
    for step in range(case.steps):
        lr = rate(case.schedule or {"kind": "constant"}, settings["lr"], step)
        damping = rate(case.damping_schedule or {"kind": "constant"},
                       options["damping"], step)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        rows = range(step * batch, (step + 1) * batch, part)
        terms = int((label[step * batch:(step + 1) * batch] !=
                     kfac_cases.IGNORED).sum())
        losses.append(0.0)
        for row in rows:
            output = model(*(field[row:row + part] for field in data.values()))
            own = label[row:row + part]
            loss = compute_loss(network.loss, output, own, terms, case.smoothing)
            draws = options["fisher"] == "sampled"
            loss.backward(retain_graph=draws)
            if draws:
                preconditioner.go_back_again(compute_drawn_loss(
                    network.loss, output, own, terms, case.get_seed(copy), step,
                    row - step * batch))
            preconditioner.measure()
            losses[-1] += loss.item()
        scales.append(preconditioner.step(terms, lr, damping))
        if case.clip_norm:
            nn.utils.clip_grad_norm_(model.parameters(), case.clip_norm[copy],
                                     foreach=False)
        optimizer.step()
        done = step + 1
        if done % kfac_cases.EVERY == 0 or done == case.steps:
            state = preconditioner.get_state()
            if case.velocity:
                state |= get_velocities(model, optimizer)
            states[str(done)] = {
                name: kfac_cases.summarize(value.reshape(-1).tolist())
                for name, value in state.items()}
    return losses, scales, states


def make_golden(case):
    runs = [train(case, copy) for copy in range(case.copies)]
    losses, scales, states = zip(*runs)
    return {"loss": list(zip(*losses)), "kl_scale": list(zip(*scales)),
            "state": {step: {name: [state[step][name] for state in states]
                             for name in states[0][step]}
                      for step in states[0]}}


def write_json(path, goldens):
    """Writes JSON with a line for each row of a table, or for each tensor."""
    def write_rows(rows):
        return "[\n   " + ",\n   ".join(map(json.dumps, rows)) + "]"

    def write_tensors(tensors):
        return "{\n    " + ",\n    ".join(
            f"{json.dumps(name)}: {json.dumps(values)}"
            for name, values in tensors.items()) + "}"

    def write_golden(golden):
        states = ",\n   ".join(f"{json.dumps(step)}: {write_tensors(tensors)}"
                               for step, tensors in golden["state"].items())
        return (f'{{\n  "loss": {write_rows(golden["loss"])},\n'
                f'  "kl_scale": {write_rows(golden["kl_scale"])},\n'
                f'  "state": {{\n   {states}}}}}')

    path.write_text("{\n " + ",\n ".join(
        f"{json.dumps(name)}: {write_golden(golden)}"
        for name, golden in goldens.items()) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", metavar="NAME", choices=MAKERS)
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    warnings.simplefilter("ignore")
    if not options.out:
        MODELS.mkdir(parents=True, exist_ok=True)
        for name in MAKERS:
            export(name)
    folder = options.out or HERE / "golden" / "kfac"
    folder.mkdir(parents=True, exist_ok=True)
    for name in [options.only] if options.only else MAKERS:
        goldens = {case: make_golden(settings)
                   for case, settings in kfac_cases.CASES.items()
                   if settings.network == name}
        if goldens:
            write_json(folder / f"{name}.json", goldens)
        for case, golden in goldens.items():
            print(case, "losses", *(f"{loss:.4f}" for row in
                                    (golden["loss"][0], golden["loss"][-1])
                                    for loss in row),
                  "scales", *(f"{min(column):.3f}" for column in
                              zip(*golden["kl_scale"])), flush=True)


if __name__ == "__main__":
    main()
