"""The networks whose training is compared with PyTorch's: data, loss and
optimizer of each, and the job that trains four copies of it. Needs only Python's
standard library.

Data: field f (from 0) of a network has the number 16 n + f as its seed, n the
network's place in NETWORKS; with u(i) = make_data.uniform(seed, i), element i in
row-major order of all samples is

    float       2 u(i) - 1
    index(n)    the integer below n u(i)
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
    """A sample's shape, and its values: "float", "zero_one" or a number of
    classes."""
    shape: tuple
    fill: object


@dataclasses.dataclass
class Network:
    inputs: dict   # name of the model's input to Field
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
    # ResNet-18 with 100 classes, and with one more block.
    "resnet18_wide": classifier(IMAGE, 10, "log_probs", optimizer="sgd"),
    "resnet18_deep": classifier(IMAGE, 10, "log_probs", optimizer="sgd"),
}


def fields_of(network):
    return {**network.inputs, "label": network.label}


def values_of(field, seed, samples):
    """All samples of a field, flat."""
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
    """Field names to (shape of all samples, flat values)."""
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
    """Writes the weights of a model, into files beside it, from their table:
    tensor t has the values low + (high - low) uniform(seed + t, i)."""
    table = json.loads(index.read_text())
    data = array.array("f")
    for number, (count, low, high) in enumerate(table["tensors"]):
        seed = table["seed"] + number
        data.extend(low + (high - low) * make_data.uniform(seed, i)
                    for i in range(count))
    (folder / table["file"]).write_bytes(data.tobytes())


def make_job(name, model, precision, steps=STEPS, dropout=0.0, rates=None,
             optimizer=None, clauses=(), batch=BATCH):
    """Returns the text of a job that trains copies of the model's file, one for
    each rate; or a copy of each of several files."""
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
