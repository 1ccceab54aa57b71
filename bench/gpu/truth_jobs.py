"""The jobs whose bytes a pack holds: those of the GPU tests, and thin versions of known
networks. Needs only Python's standard library."""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

import cuda_work  # noqa: E402  (of the tests)
import network_run  # noqa: E402
from harness import REFERENCE, run  # noqa: E402

networks = network_run.networks
SMALL = ("mlp", "cnn", "kfac", "words", "tall", "pixels")
SMALL_PRECISIONS = ("f32", "f64", "tf32", "bf16", "f16")
THIN = tuple(name for name in networks.NETWORKS if not name.startswith("resnet18_"))
THIN_PRECISIONS = ("f32", "bf16")
COPIES = 2
STEPS = 2
# Names of a program's jobs: all copies together, and copy k alone.
TOGETHER, ALONE = "together", "alone_{}"


@dataclasses.dataclass
class Truth:
    """The job in a precision; `make` returns the text of a job that trains copies with
    given rates."""
    name: str
    precision: str
    rates: list
    make: object

    def key(self):
        return f"{self.name}-{self.precision}"

    def text(self, with_each_alone):
        """Returns the job of all copies, and of each one alone in the same file if asked
        for."""
        jobs = {TOGETHER: self.rates}
        if with_each_alone:
            jobs.update({ALONE.format(copy): [rate]
                         for copy, rate in enumerate(self.rates)})
        return "".join(self.block(name, rates, is_first=name == TOGETHER)
                       for name, rates in jobs.items())

    def block(self, name, rates, is_first):
        """Returns a train block, after the model and the data if it is the first one."""
        text = self.make(rates)
        start = text.index("\ntrain ") + 1
        opening = text.index("{", start)
        return (text[:start] if is_first else "") + f"train {name} " + text[opening:]


def make_small(name, precision):
    def make(rates):
        text = cuda_work.make_job(name, rates)
        end = text.rindex("}")
        return f"{text[:end]}  precision {precision}\n{text[end:]}"

    return Truth(name, precision, cuda_work.RATES[:COPIES], make)


def make_thin(name, precision, models):
    def make(rates):
        has_dropout = networks.NETWORKS[name].has_dropout
        return networks.make_job(name, str(models / f"{name}.onnx"), precision,
                                 steps=STEPS, dropout=0.25 if has_dropout else None,
                                 rates=rates)

    rates = networks.RATES[networks.NETWORKS[name].optimizer][:COPIES]
    return Truth(name, precision, rates, make)


def make_truths(names, precisions, models):
    """Returns the jobs of these names and precisions; models are in a folder."""
    # K-FAC takes gradients of the unscaled loss, which products in f16 can't represent.
    truths = [make_small(name, precision) for name in SMALL
              for precision in SMALL_PRECISIONS if (name, precision) != ("kfac", "f16")]
    truths += [make_thin(name, precision, models) for name in THIN
               for precision in THIN_PRECISIONS]
    return [truth for truth in truths
            if truth.name in names and truth.precision in precisions]


def place_models(names, models):
    """Places the files of the thin networks next to their weights."""
    models.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name in THIN:
            model = models / f"{name}.onnx"
            model.write_bytes((network_run.MODELS / model.name).read_bytes())
            networks.write_weights(models, network_run.MODELS / f"{name}.json")


def write_data(names, folder):
    """Writes the data with which the programs of these names train."""
    folder.mkdir(parents=True, exist_ok=True)
    if set(names) & set(SMALL):
        run(sys.executable, REFERENCE / "make_data.py", folder, "cnn", "mlp")
        cuda_work.write_words(folder)
    for name in names:
        if name in THIN:
            networks.write_data(folder, name, STEPS * networks.BATCH)
