"""The networks whose training is compared with PyTorch's: data, loss and
optimizer of each, and the job that trains copies of it, by default four. Needs
only Python's standard library.

Data: field f (from 0) of the network at place n in NETWORKS has the seed 16 n + f.
With u(i) = make_data.uniform(seed, i), element i in row-major order of all samples
is

    float       2 u(i) - 1
    k classes   floor(k u(i))
    zero_one    0.0 if u(i) < 0.5, else 1.0
"""

import array
import dataclasses
import json

import make_data

STEPS = 20
BATCH = 8
RATES = {"adam": [1e-4, 3e-4, 1e-3, 3e-3], "sgd": [1e-3, 3e-3, 1e-2, 3e-2]}


@dataclasses.dataclass
class Field:
    """A field of the data: a sample's shape, and its values: "float", "zero_one" or a
    number of classes."""
    shape: tuple
    fill: object


@dataclasses.dataclass
class Network:
    inputs: dict   # maps the name of an input to its Field
    label: Field
    output: str    # the model's output that the loss reads
    loss: str      # nll, cross_entropy, binary_cross_entropy or mse
    optimizer: str = "adam"  # or sgd, with momentum 0.9
    frozen: tuple = ()       # patterns of initializers that aren't parameters
    has_dropout: bool = False


def classifier(inputs, classes, output, loss="nll", **more):
    return Network(inputs, Field((), classes), output, loss, **more)


IMAGE = {"image": Field((3, 32, 32), "float")}
NETWORKS = {
    "resnet18": classifier(IMAGE, 10, "log_probs", optimizer="sgd"),
    "mobilenetv3_large": classifier(IMAGE, 10, "logits", "cross_entropy",
                                    has_dropout=True),
    "pointnet_cls": classifier({"points": Field((256, 3), "float")}, 16,
                               "log_probs", has_dropout=True),
    "transformer_lm": Network({"tokens": Field((32,), 1000)},
                              Field((32,), 1000), "log_probs", "nll", "sgd",
                              frozen=("pos*",), has_dropout=True),
    "bert_medium": Network({"tokens": Field((32,), 1000),
                            "segments": Field((32,), 2)},
                           Field((32,), 1000), "log_probs", "nll",
                           has_dropout=True),
    "dcgan_d": Network({"image": Field((3, 64, 64), "float")},
                       Field((), "zero_one"), "logit", "binary_cross_entropy"),
    "dcgan_g": Network({"z": Field((100, 1, 1), "float")},
                       Field((3, 64, 64), "float"), "image", "mse"),
    # ResNet-18 with 100 outputs, and with one more block; for arrays of different models.
    "resnet18_wide": classifier(IMAGE, 10, "log_probs", optimizer="sgd"),
    "resnet18_deep": classifier(IMAGE, 10, "log_probs", optimizer="sgd"),
}


def fields_of(network):
    return {**network.inputs, "label": network.label}


def values_of(field, seed, samples):
    """Returns the values of all samples of a field as a flat array."""
    count = samples
    for size in field.shape:
        count *= size
    numbers = (make_data.uniform(seed, i) for i in range(count))
    if field.fill == "float":
        return array.array("f", (2 * u - 1 for u in numbers))
    if field.fill == "zero_one":
        return array.array("f", (float(u >= 0.5) for u in numbers))
    return array.array("q", (int(field.fill * u) for u in numbers))


def make_fields(name, samples=STEPS * BATCH):
    """Returns a map from field names to (shape of all samples, flat values)."""
    first = 16 * list(NETWORKS).index(name)
    return {field: ((samples, *entry.shape),
                    values_of(entry, first + number, samples))
            for number, (field, entry)
            in enumerate(fields_of(NETWORKS[name]).items())}


def write_data(folder, name, samples=STEPS * BATCH):
    for field, (shape, values) in make_fields(name, samples).items():
        code = {"f": "<f4", "q": "<i8"}[values.typecode]
        make_data.write_npy(folder / f"{name}-{field}.npy", code, values, shape)


def write_weights(folder, index):
    """Writes a model's file of weights to `folder`, by the table in the file `index`:
    element i of tensor t is low + (high - low) uniform(seed + t, i), in f32."""
    table = json.loads(index.read_text())
    data = array.array("f")
    for number, (count, low, high) in enumerate(table["tensors"]):
        seed = table["seed"] + number
        data.extend(low + (high - low) * make_data.uniform(seed, i)
                    for i in range(count))
    (folder / table["file"]).write_bytes(data.tobytes())


def make_job(name, model, precision, steps=STEPS, dropout=0.0, rates=None,
             optimizer=None, clauses=(), batch=BATCH):
    """Returns the text of a job. If `model` is an ONNX file, the job trains a copy of it
    for each learning rate; if it is a list of files, a copy of each."""
    network = NETWORKS[name]
    fields = ", ".join(f'{field} = npy("{name}-{field}.npy")'
                       for field in fields_of(network))
    rate = f", dropout_rate = {dropout!r}" \
        if network.has_dropout and dropout is not None else ""
    rates = rates or RATES[network.optimizer]
    settings = f"lr = [{', '.join(map(repr, rates))}]"
    if network.optimizer == "sgd":
        settings += ", momentum = 0.9"
    optimizer = optimizer or f"{network.optimizer}({settings})"
    clauses = list(clauses)
    if network.frozen:
        clauses.append("freeze " + ", ".join(f'"{n}"' for n in network.frozen))
    lines = [f"model net = onnx({json.dumps(model)})",
             f"data made {{ train {fields} }}",
             "train network {",
             f"  model net({', '.join(network.inputs)}{rate})",
             f"  data made, batch = {batch}, shuffle = false",
             f"  loss {network.loss}(net.{network.output}, label)",
             f"  optimizer {optimizer}", f"  precision {precision}",
             f"  steps {steps}", *(f"  {clause}" for clause in clauses), "}"]
    return "\n".join(lines) + "\n"
