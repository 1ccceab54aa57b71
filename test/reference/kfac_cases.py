"""The cases of training with K-FAC that are compared with a reference: networks, data, and
the job of each case. Needs only Python's standard library.

Data: field f (from 0) of network n (its place in NETWORKS) has the seed
4096 + 16 n + f. With u(i) = make_data.uniform(seed, i), element i in row-major order of
all samples is 2 u(i) - 1 for the fill "float", u(i) for "share", and floor(k u(i)) for a
number k of classes. In cases with `masked`, label i is -100, which is ignored, if
make_data.hash32(7, i) is below 2^30: about every fourth label.
"""

import array
import dataclasses
import math

import make_data

STEPS = 20
EVERY = 7       # steps between checkpoints: there are some after 7, 14 and 20 steps
IGNORED = -100
WORDS, LENGTH = 9, 5


@dataclasses.dataclass
class Network:
    fields: dict   # maps a name to (shape of a sample, fill: see above)
    batch: int = 12
    loss: str = "cross_entropy"

    @property
    def inputs(self):
        return [name for name in self.fields if name != "label"]


NETWORKS = {
    "mlp": Network({"x": ((8,), "float"), "label": ((), 4)}),
    "cnn": Network({"image": ((4, 6, 6), "float"), "label": ((), 3)}),
    "transformer": Network({"tokens": ((LENGTH,), WORDS),
                            "label": ((LENGTH,), WORDS)}, batch=8),
    "recurrent": Network({"x": ((8,), "float"), "label": ((), 4)}),
    "conv1": Network({"x": ((3, 10), "float"), "label": ((), 3)}),
    "conv3": Network({"x": ((2, 4, 5, 4), "float"), "label": ((), 3)}),
    "transposed": Network({"x": ((4, 3, 3), "float"), "label": ((), 3)}),
    "regression": Network({"x": ((8,), "float"), "label": ((4,), "float")},
                          loss="mse"),
    "binary": Network({"x": ((8,), "float"), "label": ((4,), "share")},
                      loss="binary_cross_entropy"),
    "wide": Network({"x": ((8,), "float"), "label": ((), 4)}),
}


def pick(numbers, copy):
    """Returns the settings of one copy: lists have a value for each copy."""
    return {name: value[copy] if isinstance(value, list) else value
            for name, value in numbers.items()}


@dataclasses.dataclass
class Case:
    """A case of one or two copies. A setting that is a list has a value for each copy."""
    network: str
    optimizer: str
    settings: dict                # arguments of the optimizer
    kfac: dict                    # arguments of the preconditioner
    damping_schedule: dict = None  # kind, and arguments by name
    schedule: dict = None
    batch: int = None      # None: the network's
    micro_batches: int = 1
    groups: int = None     # None: no placement; else placement = local
    clip_norm: list = None
    masked: bool = False
    steps: int = STEPS
    models: tuple = ()      # the copies' models; empty: the network's
    seeds: tuple = ()       # the copies' seeds; empty: 0
    smoothing: float = 0.0  # label smoothing
    velocity: bool = False  # whether sgd's velocities are compared, too
    copies: int = 2

    def get_batch(self):
        return self.batch or NETWORKS[self.network].batch

    def get_model(self, copy):
        return self.models[copy] if self.models else self.network

    def get_seed(self, copy):
        return self.seeds[copy] if self.seeds else 0

    def take(self, copy):
        """Returns the case of one copy alone."""
        return dataclasses.replace(
            self, settings=pick(self.settings, copy), kfac=pick(self.kfac, copy),
            clip_norm=self.clip_norm and [self.clip_norm[copy]],
            models=(self.get_model(copy),), seeds=(self.get_seed(copy),), copies=1)


SGD = {"lr": [0.05, 0.2], "momentum": [0.0, 0.9]}
ADAM = {"lr": [3e-3, 1e-2]}
ADAMW = {"lr": [3e-3, 1e-2], "weight_decay": 0.05}
PERIODS = {"factor_every": [1, 3], "inverse_every": [2, 6]}
DAMPING = {"damping": [3e-3, 0.1]}
SAMPLED = {"fisher": "sampled"}
OFTEN = {"factor_every": 1, "inverse_every": 1}

CASES = {
    f"{network}-{optimizer}": Case(network, optimizer, settings,
                                   DAMPING | PERIODS)
    for network in ("mlp", "cnn", "transformer")
    for optimizer, settings in (("sgd", SGD), ("adam", ADAM),
                                ("adamw", ADAMW))
} | {
    "mlp-eigen": Case("mlp", "sgd", SGD,
                      DAMPING | PERIODS | {"method": "eigen"}),
    "mlp-clips": Case("mlp", "sgd", {"lr": [0.05, 0.2], "momentum": [0.5, 0.9],
                                     "nesterov": True},
                      DAMPING | OFTEN | {"pi": False, "decay": [0.0, 0.5],
                                         "kl_clip": [0.0, 1e-3]},
                      clip_norm=[0.5, 0.05],
                      schedule={"kind": "step", "step_size": 8, "gamma": 0.5,
                                "warmup": 3}),
    "mlp-damping": Case("mlp", "adam", ADAM,
                        {"damping": [0.1, 1.0]} | PERIODS | {"exclude": ("hidden.*",)},
                        damping_schedule={"kind": "step", "step_size": 5,
                                          "gamma": 0.5}),
    "cnn-reduce": Case("cnn", "sgd", SGD, DAMPING | PERIODS |
                       {"sharing": "reduce"}),
    "cnn-parts": Case("cnn", "sgd", SGD, DAMPING | PERIODS, micro_batches=4),
    "cnn-eigen": Case("cnn", "adam", ADAM, DAMPING | PERIODS |
                      {"method": "eigen", "others": "plain"}),
    "transformer-masked": Case("transformer", "sgd", SGD, DAMPING | PERIODS,
                               micro_batches=4, masked=True),
    "transformer-embedding": Case("transformer", "adam", ADAM,
                                  DAMPING | PERIODS |
                                  {"embedding": "factored"}),
    "transformer-eigen": Case("transformer", "sgd", SGD, DAMPING | PERIODS |
                              {"embedding": "factored", "method": "eigen"}),
    "transformer-mixed": Case("transformer", "adam", ADAM, DAMPING | PERIODS |
                              {"embedding": "factored", "sharing": "reduce",
                               "exclude": ("key.*",)}, micro_batches=2),
    # The output gradients of keys sum to zero over a sample's positions. With `reduce`,
    # their factor would consist of rounding errors, so they are excluded.
    "transformer-reduce": Case("transformer", "adamw", ADAMW,
                               DAMPING | PERIODS |
                               {"sharing": "reduce", "others": "plain",
                                "exclude": ("key.*",)}),
    "transformer-excluded": Case("transformer", "sgd", SGD, DAMPING | PERIODS |
                                 {"exclude": ("wide.weight", "narrow.bias",
                                              "norm.weight", "last_norm.bias")}),
    "mlp-local": Case("mlp", "sgd", SGD, DAMPING | PERIODS, micro_batches=4,
                      groups=2),
    "cnn-local": Case("cnn", "sgd", SGD, DAMPING | PERIODS |
                      {"method": "eigen"}, micro_batches=4, groups=4),
    # The three groups of four micro-batches are unequal.
    "transformer-local": Case("transformer", "sgd", SGD, DAMPING | PERIODS |
                              {"embedding": "factored"}, micro_batches=4, groups=3),
    "recurrent-sgd": Case("recurrent", "sgd", SGD, DAMPING | PERIODS),
    "regression-sgd": Case("regression", "sgd", SGD, DAMPING | PERIODS),
    "regression-parts": Case("regression", "sgd", SGD, DAMPING | PERIODS,
                             micro_batches=4),
    "binary-sgd": Case("binary", "sgd", SGD, DAMPING | PERIODS),
    "mlp-sampled": Case("mlp", "sgd", SGD, DAMPING | PERIODS | SAMPLED,
                        seeds=(3, 4), smoothing=0.1),
    "cnn-sampled": Case("cnn", "adam", ADAM, DAMPING | PERIODS | SAMPLED |
                        {"sharing": "reduce"}, micro_batches=2),
    "transformer-sampled": Case("transformer", "sgd", SGD, DAMPING | PERIODS |
                                SAMPLED | {"embedding": "factored"},
                                micro_batches=4, masked=True,
                                seeds=(1, 1 << 33 | 1)),
    "recurrent-sampled": Case("recurrent", "sgd", SGD,
                              DAMPING | PERIODS | SAMPLED),
    "regression-sampled": Case("regression", "sgd", SGD,
                               DAMPING | PERIODS | SAMPLED, micro_batches=2,
                               seeds=(3, 4)),
    "binary-sampled": Case("binary", "sgd", SGD, DAMPING | PERIODS | SAMPLED),
    "mlp-partly": Case("mlp", "sgd", SGD, DAMPING | PERIODS,
                       models=("mlp", "wide")),
    # Cases with so few rows that the compiler preconditions layers directly from the rows:
    # all layers except the last one, or all layers.
    "mlp-few": Case("mlp", "sgd", SGD, DAMPING | PERIODS, batch=3,
                    clip_norm=[0.5, 0.05]),
    "mlp-few-adam": Case("mlp", "adam", ADAM, DAMPING | OFTEN | {"pi": False},
                         batch=2),
    "mlp-few-sampled": Case("mlp", "sgd", SGD, DAMPING | PERIODS | SAMPLED,
                            batch=2, seeds=(3, 4)),
    "mlp-few-partly": Case("mlp", "sgd", SGD, DAMPING | PERIODS, batch=3,
                           models=("mlp", "wide")),
    "cnn-few": Case("cnn", "sgd", SGD, DAMPING | PERIODS, batch=2),
    "recurrent-few": Case("recurrent", "sgd", SGD, DAMPING | PERIODS, batch=3),
}


def make_layer_case(network, sharing, method, micro_batches):
    """Returns a case of three steps, without clipping, for one kind of layers."""
    options = DAMPING | OFTEN | {"sharing": sharing, "method": method,
                                 "kl_clip": 0.0}
    if network == "transformer" and sharing == "reduce":
        options["exclude"] = ("key.*",)
    return Case(network, "sgd", {"lr": [0.05, 0.02], "momentum": 0.5}, options,
                micro_batches=micro_batches, steps=3, velocity=True)


LAYERS = ("conv1", "cnn", "conv3", "transposed", "transformer")
CASES |= {
    f"{network}-{sharing}-{method}-{parts}":
    make_layer_case(network, sharing, method, parts)
    for network in LAYERS for sharing in ("expand", "reduce")
    for method in ("cholesky", "eigen") for parts in (1, 4)
}


def make_cut_case(case, block):
    """Returns the case with factors that are divided into blocks of at most `block`
    rows."""
    return dataclasses.replace(case, kfac=case.kfac | {"block": block})


# Cases with blocks that end within a channel's taps or at their end, that have as many rows
# as the factor or one row less, or that have one row.
CASES |= {
    f"{name}-cut-{block}": make_cut_case(CASES[name], block)
    for name, block in (
        ("mlp-sgd", 5), ("mlp-eigen", 3), ("mlp-clips", 1), ("mlp-partly", 4),
        ("recurrent-sgd", 4), ("regression-parts", 3), ("cnn-parts", 9),
        *((f"{network}-{sharing}-{method}-{parts}", block)
          for network in LAYERS
          for sharing, method, parts, block in (
              ("expand", "cholesky", 1, 5), ("expand", "eigen", 1, 7),
              ("reduce", "cholesky", 1, 5), ("reduce", "eigen", 1, 7),
              ("expand", "cholesky", 4, 2))),
        ("transformer-embedding", 3), ("transformer-eigen", 4))
}


def make_fields(name, masked=False):
    """Returns a map from field names to (shape of all samples, flat values)."""
    network = NETWORKS[name]
    samples = STEPS * network.batch
    first = 4096 + 16 * list(NETWORKS).index(name)
    fields = {}
    for number, (field, (shape, fill)) in enumerate(network.fields.items()):
        count = samples * math.prod(shape)
        uniform = [make_data.uniform(first + number, i) for i in range(count)]
        if fill == "float":
            values = array.array("f", (2 * u - 1 for u in uniform))
        elif fill == "share":
            values = array.array("f", uniform)
        else:
            values = array.array("q", (int(fill * u) for u in uniform))
        if masked and field == "label":
            for i in range(count):
                if make_data.hash32(7, i) < 1 << 30:
                    values[i] = IGNORED
        fields[field] = ((samples, *shape), values)
    return fields


def write_data(folder, case):
    for field, (shape, values) in make_fields(case.network, case.masked).items():
        code = {"f": "<f4", "q": "<i8"}[values.typecode]
        make_data.write_npy(folder / f"{field}.npy", code, values, shape)


def write_value(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return str(value)


def write_call(kind, numbers):
    return f"{kind}({', '.join(f'{k} = {write_value(v)}' for k, v in numbers.items())})"


def write_schedule(schedule):
    numbers = {key: value for key, value in schedule.items() if key != "kind"}
    return write_call(schedule["kind"], numbers)


def make_job(case, folder):
    """Returns the text of the job of a case, whose ONNX files are in `folder`."""
    network = NETWORKS[case.network]
    kfac = dict(case.kfac)
    if case.groups:
        kfac["placement"] = "local"
    if "exclude" in kfac:
        kfac["exclude"] = [f'"{pattern}"' for pattern in kfac["exclude"]]
    if case.damping_schedule:
        kfac["damping_schedule"] = write_schedule(case.damping_schedule)
    lists = [name for numbers in (case.settings, case.kfac)
             for name, value in numbers.items() if isinstance(value, list)]
    clauses = []
    if case.clip_norm:
        clauses.append(f"clip_norm {write_value(case.clip_norm)}")
        lists.append("clip_norm")
    if case.seeds:
        clauses.append(f"seed {write_value(list(case.seeds))}")
        lists.append("seed")
    if case.schedule:
        clauses.append(f"schedule {write_schedule(case.schedule)}")
    fields = ", ".join(f'{name} = npy("{name}.npy")' for name in network.fields)
    smoothing = f", label_smoothing = {case.smoothing}" if case.smoothing else ""
    models = dict.fromkeys(case.get_model(copy) for copy in range(case.copies))
    files = ", ".join(f'"{folder / model}.onnx"' for model in models)
    lines = [f"model net = onnx({files})", f"data made {{ train {fields} }}",
             "train kfac {", f"  model net({', '.join(network.inputs)})",
             f"  data made, batch = {case.get_batch()}, shuffle = false",
             f"  micro_batches {case.micro_batches}" +
             (f", groups = {case.groups}" if case.groups else ""),
             f"  loss {network.loss}(net, label{smoothing})",
             f"  precondition {write_call('kfac', kfac)}",
             f"  optimizer {write_call(case.optimizer, case.settings)}",
             *(f"  {clause}" for clause in clauses),
             *([f"  zip({', '.join(lists)})"] if case.copies > 1 else []),
             "  precision f64", f"  steps {case.steps}", "}"]
    return "\n".join(lines) + "\n"


def summarize(values):
    """Returns the two numbers of a tensor that are in a golden file: its Frobenius norm,
    and its inner product with fixed numbers, which depends on the order of the elements."""
    norm = math.sqrt(math.fsum(value * value for value in values))
    return [norm, math.fsum(value * (2 * make_data.uniform(77, i) - 1)
                            for i, value in enumerate(values))]
