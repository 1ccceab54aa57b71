#!/usr/bin/env python3
"""Makes the golden files of the training tests with PyTorch, and test models.

    make_golden.py [--only CASE] [--output DIR]    needs torch, numpy and onnx

Models: the example's cnn.onnx, read here, and three written here with weights
from make_data.uniform(seed, i), i counting row-major within a tensor:

    test/models/mlp.onnx          64 -> 48 -> 10, exported in training mode (batch
                                  norm with training_mode = 1, dropout of rate 0)
    test/models/mlp-tiny-K.onnx   64 -> 8 -> 10, K = 0, 1, 2: one graph, other
                                  weights; exported in inference mode

Data: make_data.py, which needs no PyTorch. Step s (from 0) takes samples 16 s to
16 s + 15 in the order of the file; there are 20 steps, each of one micro-batch.

Golden files: golden/CASE.f64.json and golden/CASE.f32.json, where everything is
computed in that type from the ONNX file's weights; of some cases CASE.bf16.json and
CASE.f16.json, 10 steps where parameters are stored in that type, rounded to it at
first and after each step, and everything is computed in f32.

    precision the job's clause of this name
    model     one file a copy, or one for all
    copies    one object of hyper-parameters a copy
    schedule  kind and its numbers
    lr        one row a step, one number a copy: the rate of that step
    loss      one row a step, one number a copy: before the step's update
    final     not in f32: mean and root mean square of every trained parameter at
              the end, one number a copy (in f32 a bias before a batch norm, whose
              true gradient is 0, moves by rounding errors alone)

Meanings where libraries differ:

    sgd       d = g + weight_decay * w;  m = momentum * m + d, first m = d;
              nesterov: w -= lr * (d + momentum * m), else w -= lr * m
    adam      weight decay joins the gradient; adamw: w *= 1 - lr * weight_decay
              first; both: w -= lr * mh / (sqrt(vh) + eps), bias-corrected
    clip_norm gradients *= min(1, clip_norm / (norm + 1e-6)), norm over all of a
              copy's gradients
    label_smoothing  target (1 - e) * one-hot + e / classes
    warmup    step s < warmup: lr * (s + 1) / warmup; then t = s - warmup and
              step: lr * gamma ^ floor(t / step_size)
              cosine, T steps in all: from lr at t = 0 to lr * minimum at the last
              step, lr * (minimum + (1 - minimum) / 2 * (1 + cos(pi t / (T - 1 -
              warmup))))
"""

import argparse
import json
import math
import pathlib
import sys
import warnings

import onnx
import torch
from torch import nn

import make_data

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS = HERE.parent / "models"
sys.path.insert(0, str(ROOT / "examples" / "fashion"))

import export_model  # noqa: E402  (found by the path above)

STEPS = 20
STORED_STEPS = 10
BATCH = 16
TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16,
         "f16": torch.float16}
STORED = ("bf16", "f16")
STORED_CASES = ("mlp-sgd", "cnn-adam")
EPSILON = torch.tensor(1e-5).item()  # an ONNX attribute is an f32


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.flatten = nn.Flatten()
        self.hidden = nn.Linear(64, width)
        self.norm = nn.BatchNorm1d(width, eps=EPSILON)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.0)
        self.output = nn.Linear(width, 10)

    def forward(self, image):
        x = self.relu(self.norm(self.hidden(self.flatten(image))))
        return self.output(self.dropout(x))


def each_copy(**lists):
    """Returns a list with one dictionary of hyper-parameters for each copy."""
    return [dict(zip(lists, row)) for row in zip(*lists.values())]


RATES = [1e-4, 3e-4, 1e-3, 3e-3]
CONSTANT = {"kind": "constant"}
CASES = {
    "cnn-adam": ("adam", each_copy(lr=RATES), CONSTANT),
    "mlp-adam": (
        "adam",
        each_copy(lr=[1e-3, 1e-3, 1e-2, 1e-2],
                  weight_decay=[0.0, 1e-2, 0.0, 1e-2]),
        CONSTANT),
    "mlp-sgd": (
        "sgd",
        each_copy(lr=[0.02, 0.02, 0.1, 0.1], momentum=[0.5, 0.9, 0.5, 0.9],
                  nesterov=[True] * 4, weight_decay=[1e-3] * 4),
        CONSTANT),
    "mlp-adamw": (
        "adamw",
        each_copy(lr=[1e-3, 1e-3, 1e-2, 1e-2], weight_decay=[0.05] * 4,
                  clip_norm=[0.25, 1.0, 0.25, 1.0], label_smoothing=[0.1] * 4),
        CONSTANT),
    "mlp-cosine": (
        "sgd",
        each_copy(lr=[0.02, 0.05, 0.1, 0.2], momentum=[0.9] * 4),
        {"kind": "cosine", "warmup": 5, "minimum": 0.1}),
    "mlp-step": (
        "sgd",
        each_copy(lr=[0.05, 0.05, 0.2, 0.2], clip_norm=[0.3, 1.0, 0.3, 1.0]),
        {"kind": "step", "warmup": 3, "step_size": 6, "gamma": 0.5}),
    "tiny-adam": ("adam", each_copy(lr=[0.01] * 3), CONSTANT),
}


def model_files(case):
    """Returns the model files of a case, relative to the root of the repository."""
    if case.startswith("cnn"):
        return ["examples/fashion/cnn.onnx"]
    if case.startswith("mlp"):
        return ["test/models/mlp.onnx"]
    return [f"test/models/mlp-tiny-{k}.onnx" for k in range(3)]


def fill(tensor, seed, low, high):
    flat = [low + (high - low) * make_data.uniform(seed, i)
            for i in range(tensor.numel())]
    with torch.no_grad():
        tensor.copy_(torch.tensor(flat, dtype=torch.float64).view(tensor.shape))


def fill_mlp(model, seed):
    fill(model.hidden.weight, seed, -0.125, 0.125)
    fill(model.hidden.bias, seed + 1, -0.125, 0.125)
    fill(model.norm.weight, seed + 2, 0.75, 1.25)
    fill(model.norm.bias, seed + 3, -0.25, 0.25)
    fill(model.output.weight, seed + 4, -0.125, 0.125)
    fill(model.output.bias, seed + 5, -0.125, 0.125)


def export_models():
    MODELS.mkdir(exist_ok=True)
    example = torch.zeros(BATCH, 1, 8, 8)
    mlp = Mlp(48)
    fill_mlp(mlp, 100)
    training = torch.onnx.TrainingMode.TRAINING
    export_model.export(mlp, example, MODELS / "mlp.onnx", training=training,
                        do_constant_folding=False)
    for k in range(3):
        tiny = Mlp(8)
        fill_mlp(tiny, 200 + 10 * k)
        export_model.export(tiny.eval(), example,
                            MODELS / f"mlp-tiny-{k}.onnx")


def load(path, dtype):
    """Returns the PyTorch module with an ONNX file's weights, in training mode."""
    weights = {
        tensor.name: torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
        for tensor in onnx.load(ROOT / path).graph.initializer
    }
    if "conv1.weight" in weights:
        model = export_model.Cnn()
    else:
        model = Mlp(weights["hidden.weight"].shape[0])
    missing, unexpected = model.load_state_dict(weights, strict=False)
    missing = [name for name in missing if "num_batches" not in name]
    if missing or unexpected:
        sys.exit(f"{path}: missing {missing}, unexpected {unexpected}")
    return model.to(dtype).train()


def load_data(path, dtype):
    cnn = path.endswith("cnn.onnx")
    image, label = make_data.cnn_data() if cnn else make_data.mlp_data()
    side = 28 if cnn else 8
    image = torch.tensor(image, dtype=dtype).view(-1, 1, side, side)
    return image / 255 if cnn else image, torch.tensor(label)


def rate(schedule, lr, step):
    warmup = schedule.get("warmup", 0)
    if step < warmup:
        return lr * (step + 1) / warmup
    t = step - warmup
    if schedule["kind"] == "step":
        return lr * schedule["gamma"] ** (t // schedule["step_size"])
    if schedule["kind"] == "cosine":
        low = schedule["minimum"]
        phase = math.pi * t / (STEPS - 1 - warmup)
        return lr * (low + (1 - low) / 2 * (1 + math.cos(phase)))
    return lr


def make_optimizer(kind, parameters, copy):
    decay = copy.get("weight_decay", 0.0)
    if kind == "sgd":
        return torch.optim.SGD(
            parameters, lr=copy["lr"], momentum=copy.get("momentum", 0.0),
            nesterov=copy.get("nesterov", False), weight_decay=decay,
            foreach=False)
    make = torch.optim.AdamW if kind == "adamw" else torch.optim.Adam
    return make(parameters, lr=copy["lr"], betas=(0.9, 0.999), eps=1e-8,
                weight_decay=decay, foreach=False)


def store(parameters, dtype):
    """Rounds parameters in place to values that `dtype` can represent."""
    with torch.no_grad():
        for parameter in parameters:
            parameter.copy_(parameter.to(dtype).to(parameter.dtype))


def train(model, data, kind, copy, schedule, stored, steps):
    """Trains `model` in place. Returns the losses and the learning rates of all steps."""
    images, labels = data
    parameters = list(model.parameters())
    store(parameters, stored)
    optimizer = make_optimizer(kind, parameters, copy)
    losses, rates = [], []
    for step in range(steps):
        rates.append(rate(schedule, copy["lr"], step))
        optimizer.param_groups[0]["lr"] = rates[-1]
        batch = slice(step * BATCH, (step + 1) * BATCH)
        loss = nn.functional.cross_entropy(
            model(images[batch]), labels[batch],
            label_smoothing=copy.get("label_smoothing", 0.0))
        optimizer.zero_grad()
        loss.backward()
        if "clip_norm" in copy:
            nn.utils.clip_grad_norm_(parameters, copy["clip_norm"],
                                     foreach=False)
        optimizer.step()
        store(parameters, stored)
        losses.append(loss.item())
    return losses, rates


def run_case(case, precision):
    kind, copies, schedule = CASES[case]
    stored = TYPES[precision]
    is_stored = precision in STORED
    dtype = torch.float32 if is_stored else stored
    steps = STORED_STEPS if is_stored else STEPS
    files = model_files(case)
    data = load_data(files[0], dtype)
    losses, rates, final = [], [], {}
    for k, copy in enumerate(copies):
        model = load(files[k % len(files)], dtype)
        loss, lr = train(model, data, kind, copy, schedule, stored, steps)
        losses.append(loss)
        rates.append(lr)
        for name, parameter in model.named_parameters():
            value = parameter.detach()
            entry = final.setdefault(name, {"mean": [], "rms": []})
            entry["mean"].append(value.mean().item())
            entry["rms"].append(value.square().mean().sqrt().item())
    golden = {
        "case": case,
        "precision": f"f32, parameters = {precision}" if is_stored else precision,
        "batch": BATCH, "model": files,
        "optimizer": kind, "copies": copies, "schedule": schedule,
        "lr": [list(row) for row in zip(*rates)],
        "loss": [list(row) for row in zip(*losses)],
    }
    return golden if precision == "f32" else golden | {"final": final}


def write_json(path, golden):
    """Writes JSON with a line for each key, or for each row of a table."""
    lines = []
    for key, value in golden.items():
        if key in ("lr", "loss", "copies"):
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        elif key == "final":
            rows = (f"{json.dumps(name)}: {json.dumps(entry)}"
                    for name, entry in value.items())
            text = "{\n  " + ",\n  ".join(rows) + "\n }"
        else:
            text = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", metavar="CASE", choices=sorted(CASES),
                        help="one of " + ", ".join(sorted(CASES)))
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path,
                        help="where to write golden files alone, no models "
                        "(default: golden)")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    warnings.simplefilter("ignore", UserWarning)
    if not options.output:
        export_models()
    folder = options.output or HERE / "golden"
    folder.mkdir(parents=True, exist_ok=True)
    for case in [options.only] if options.only else CASES:
        for precision in ("f64", "f32") + STORED * (case in STORED_CASES):
            golden = run_case(case, precision)
            write_json(folder / f"{case}.{precision}.json", golden)
            last = " ".join(f"{loss:.4f}" for loss in golden["loss"][-1])
            print(f"{case}.{precision}: losses of the last step {last}")


if __name__ == "__main__":
    main()
