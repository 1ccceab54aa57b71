"""The jobs whose checkpoints a pack (bench/gpu/pack) holds for comparison: those of the GPU
tests, and thin versions of known networks. Needs only Python's standard library."""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "EndToEnd"))

import cuda_work  # noqa: E402  (found by the path above)
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
    """A job in one precision. `make` returns the text of a job with a copy for each of the
    given learning rates."""
    name: str
    precision: str
    rates: list
    make: object

    def key(self):
        return f"{self.name}-{self.precision}"

    def text(self, with_each_alone):
        """Returns the text of a file with the job of all copies, and if `with_each_alone`
        with one more job for each copy."""
        jobs = {TOGETHER: self.rates}
        if with_each_alone:
            jobs.update({ALONE.format(copy): [rate]
                         for copy, rate in enumerate(self.rates)})
        return "".join(self.block(name, rates, is_first=name == TOGETHER)
                       for name, rates in jobs.items())

    def block(self, name, rates, is_first):
        """Returns a train block. The first one follows the blocks of the model and the
        data."""
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
    """Returns the jobs with these names and precisions. `models` is the folder of the thin
    networks' ONNX files."""
    # K-FAC doesn't scale the loss, so its gradients are too small for products in f16.
    truths = [make_small(name, precision) for name in SMALL
              for precision in SMALL_PRECISIONS if (name, precision) != ("kfac", "f16")]
    truths += [make_thin(name, precision, models) for name in THIN
               for precision in THIN_PRECISIONS]
    return [truth for truth in truths
            if truth.name in names and truth.precision in precisions]


def place_models(names, models):
    """Copies the ONNX files of thin networks to the folder `models`, and writes their
    weights beside them."""
    models.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name in THIN:
            model = models / f"{name}.onnx"
            model.write_bytes((network_run.MODELS / model.name).read_bytes())
            networks.write_weights(models, network_run.MODELS / f"{name}.json")


def write_data(names, folder):
    """Writes the training data of the jobs with these names."""
    folder.mkdir(parents=True, exist_ok=True)
    if set(names) & set(SMALL):
        run(sys.executable, REFERENCE / "make_data.py", folder, "cnn", "mlp")
        cuda_work.write_words(folder)
    for name in names:
        if name in THIN:
            networks.write_data(folder, name, STEPS * networks.BATCH)
