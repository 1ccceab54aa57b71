"""Writes models with their records, and records that each have one wrong entry, for
check-gradients.test."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Hostile"))

from gradient_record import (change, make_metadata, make_model,  # noqa: E402
                             make_tensors, pack, without)

NET, DROP = make_model(), make_model(dropout=True)
TENSORS = make_tensors()
METADATA = make_metadata(NET)


def add(name, by):
    """Returns the tensors with `by` added to the element 1 of tensor `name`."""
    return change(TENSORS, name, TENSORS[name][2][1] + by, index=1)


FILES = {
    "net.onnx": NET, "net.record.safetensors": pack(TENSORS, METADATA),
    "drop.onnx": DROP, "drop.record.safetensors": pack(TENSORS, make_metadata(DROP)),
    "gradient": pack(add("gradient/2/norm.weight", 1e-3), METADATA),
    "close": pack(add("gradient/2/norm.weight", 1e-9), METADATA),
    "statistic": pack(add("statistic/1/norm.variance", -0.25), METADATA),
    "loss": pack(add("loss", 1e-4), METADATA),
    "frozen": pack(without(TENSORS, "gradient/1/head.weight"), METADATA),
    "trained": pack({**TENSORS, "gradient/1/tail.weight": ("F64", [1], [0.5])}, METADATA),
}

for name, content in FILES.items():
    pathlib.Path(sys.argv[1], name).write_bytes(content)
