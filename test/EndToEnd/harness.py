"""Functions that the scripts of this folder share: they make jobs, run hftac and the
programs that it makes, and read checkpoints, logs and arrays. Needs only Python's standard
library."""

import argparse
import array
import filecmp
import json
import pathlib
import re
import subprocess
import sys

REFERENCE = pathlib.Path(__file__).parent.parent / "reference"
sys.path.insert(0, str(REFERENCE))

from compare_checkpoint import read_floats  # noqa: E402  (from test/reference)

MODELS = {
    "cnn": """
model net(image: f32[batch, 1, 28, 28]) {
  conv1 = conv(image, 4, 3, padding = 1)
  pool1 = max_pool(relu(conv1), 2)
  conv2 = conv(pool1, 6, 3, padding = 1)
  pool2 = max_pool(relu(conv2), 2)
  hidden = relu(linear(flatten(pool2), 16))
  return output = linear(hidden, 10)
}
""",
    "mlp": """
model net(image: f32[batch, 1, 8, 8]) {
  hidden = relu(linear(flatten(image), 37))
  return output = linear(hidden, 10)
}
""",
}

# The fields of the data block, for files that `make_data.py` writes.
DATA = {
    "cnn": 'image = npy("cnn-image.npy") / 255, label = npy("cnn-label.npy")',
    "mlp": 'image = npy("mlp-image.npy"), label = npy("mlp-label.npy")',
}

ADAM = "adam(lr = [1e-3, 3e-3, 1e-2])"
COPIES = 3


def make_blocks(data, loss, optimizer, steps, batch=16, model="net(image)",
                clauses=""):
    """Returns the data block and the train block of a job. `data` is the text of the
    fields, `clauses` the text of additional lines of the train block."""
    return f"""
data made {{
  train {data}
}}
train sweep {{
  model     {model}
  data      made, batch = {batch}
  loss      {loss}
  optimizer {optimizer}
  steps     {steps}
{clauses}
}}
"""


def make_job(kind, steps, clauses="", optimizer=ADAM, seed=3):
    """Returns the text of a job that trains MODELS[kind] on data that `make_data.py`
    writes."""
    return MODELS[kind] + make_blocks(
        DATA[kind], "cross_entropy(net, label)", optimizer, steps,
        clauses=f"  seed {seed}\n{clauses}")


def fail(message):
    sys.exit(f"error: {message}")


def run(*command, code=0, **options):
    """Runs a command and returns its standard output and standard error as one text. Ends
    the script if the exit code isn't `code`."""
    result = subprocess.run([str(part) for part in command], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            **options)
    if result.returncode != code:
        fail(f"{' '.join(map(str, command))}\nexit {result.returncode}, "
             f"expected {code}\n{result.stdout:.4000}")
    return result.stdout


def read_least_budget(refusal):
    """Returns the smallest sufficient memory budget in bytes, which the error that refuses
    a smaller budget states."""
    found = re.search(r"no plan fits into \d+ bytes of memory: expected at least (\d+),",
                      refusal)
    if not found:
        fail(f"no least budget in {refusal!r}")
    return int(found[1])


def expect_equal(mine, theirs, what):
    if mine != theirs:
        fail(f"{what}: got {mine!r:.2000}, expected {theirs!r:.2000}")


def expect_same_file(mine, theirs, what):
    if not filecmp.cmp(mine, theirs, shallow=False):
        fail(f"{what}: {mine} and {theirs} differ")
    print(f"equal: {what}")


def copy_file(folder, copy):
    return folder / f"copy-{copy:04d}.safetensors"


def checkpoint(folder, step):
    return folder / f"step-{step:08d}"


def expect_same_checkpoint(mine, theirs, what, copies=COPIES):
    for copy in range(copies):
        expect_same_file(copy_file(mine, copy), copy_file(theirs, copy),
                         f"{what}, copy {copy}")


def read_log(path):
    """Returns the events of a training's log, without the time that each has in
    `seconds`."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        event.pop("seconds", None)
    return events


def read_header(data):
    """Returns the header of a safetensors file with these bytes, and the header's size."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + size]), size


def read_metadata(path):
    """Returns what a safetensors file says about itself, as a dictionary."""
    return read_header(path.read_bytes())[0].get("__metadata__", {})


def read_safetensors(path):
    """Reads a safetensors file. Returns a dictionary from names to (type, shape, numbers),
    with the numbers in row-major order."""
    data = path.read_bytes()
    header, size = read_header(data)
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = data[8 + size + begin:8 + size + end]
        if entry["dtype"] == "I64":
            numbers = array.array("q", part)
            if sys.byteorder == "big":
                numbers.byteswap()
        else:
            numbers = read_floats(part, entry["dtype"])
        tensors[name] = (entry["dtype"], entry["shape"], numbers)
    return tensors


def read_npy(path, code):
    """Returns the numbers of a little-endian npy file of format version 1. `code` is their
    type code of Python's module `array`."""
    data = path.read_bytes()
    numbers = array.array(code)
    numbers.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


class Work:
    """A test's folder with data for the given kinds of models, and methods that compile and
    train jobs in it. Parses the script's command line; `more` are additional options, such
    as "--only"."""

    def __init__(self, description, *kinds, more=()):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--hftac", required=True)
        parser.add_argument("--work", type=pathlib.Path, required=True)
        parser.add_argument("--hfta-opt")
        for option in more:
            parser.add_argument(option)
        self.options = options = parser.parse_args()
        self.hftac = options.hftac
        self.folder = options.work
        self.hfta_opt = options.hfta_opt
        self.folder.mkdir(parents=True, exist_ok=True)
        run(sys.executable, REFERENCE / "make_data.py", self.folder, *kinds)

    def write_job(self, name, text):
        path = self.folder / f"{name}.hfta"
        path.write_text(text)
        return path

    def compile(self, name, text, *flags):
        """Compiles a job's text with hftac and returns the path of the program."""
        binary = self.folder / name
        run(self.hftac, self.write_job(name, text), "-o", binary, *flags)
        return binary

    def train(self, binary, *flags, code=0):
        """Runs a training and returns the folder with its checkpoints."""
        folder = self.folder / f"{binary.name}-checkpoints"
        run(binary, "train", "--data", self.folder, "--checkpoint", folder,
            "--no-progress", *flags, code=code)
        return folder
