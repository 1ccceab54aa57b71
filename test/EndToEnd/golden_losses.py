#!/usr/bin/env python3
"""Trains a golden run of test/reference, and compares losses and learning rates with
PyTorch's; in f64 also the trained weights. Needs only Python's standard library."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

from harness import checkpoint

SOURCE = pathlib.Path(__file__).parent.parent.parent
REFERENCE = SOURCE / "test/reference"


def numbers(copies, key):
    return "[" + ", ".join(repr(float(copy[key])) for copy in copies) + "]"


def setting(key, copies, name=None):
    if key not in copies[0]:
        return []
    return [f"{name or key} = {numbers(copies, key)}"]


def make_job(golden, steps):
    """Returns the text of the job file for a golden run."""
    copies = golden["copies"]
    kind = "cnn" if "cnn" in golden["case"] else "mlp"
    models = ", ".join(f'"{SOURCE / path}"' for path in golden["model"])
    if len(golden["model"]) > 1:
        models = f"[{models}]"
    scale = " / 255" if kind == "cnn" else ""
    settings = []
    for key in ("lr", "momentum", "beta1", "beta2", "eps", "weight_decay"):
        settings += setting(key, copies)
    zipped = [key for key in ("lr", "momentum", "beta1", "beta2", "eps",
                              "weight_decay") if key in copies[0]]
    if golden.get("nesterov") or copies[0].get("nesterov"):
        settings.append("nesterov = true")
    loss = "cross_entropy(net, label)"
    if "label_smoothing" in copies[0]:
        loss = ("cross_entropy(net, label, label_smoothing = "
                f"{numbers(copies, 'label_smoothing')})")
        zipped.append("label_smoothing")
    lines = [
        f"model net = onnx({models})", "data made {",
        f'  train image = npy("{kind}-image.npy"){scale}, '
        f'label = npy("{kind}-label.npy")', "}", "train golden {",
        "  model net(image)",
        f"  data made, batch = {golden['batch']}, shuffle = false",
        f"  loss {loss}", f"  optimizer {golden['optimizer']}"
        f"({', '.join(settings)})"]
    if "clip_norm" in copies[0]:
        lines.append(f"  clip_norm {numbers(copies, 'clip_norm')}")
        zipped.append("clip_norm")
    schedule = golden.get("schedule", {"kind": "constant"})
    options = ", ".join(f"{key} = {value}" for key, value in schedule.items()
                        if key != "kind")
    if schedule["kind"] != "constant":
        lines.append(f"  schedule {schedule['kind']}({options})")
    if len(golden["model"]) > 1:
        zipped.append("model")
    if len(zipped) > 1:
        lines.append(f"  zip({', '.join(zipped)})")
    lines += [f"  precision {golden['precision']}", f"  steps {steps}", "}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--case", required=True, help="name of a golden file")
    parser.add_argument("--golden", type=pathlib.Path,
                        default=REFERENCE / "golden", help="their folder")
    parser.add_argument("--flags", default="", help="more options of hftac")
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    path = options.golden / f"{options.case}.json"
    golden = json.loads(path.read_text())
    steps = len(golden["loss"])
    job = work / "golden.hfta"
    job.write_text(make_job(golden, steps))

    def run(*command):
        result = subprocess.run([str(part) for part in command], text=True,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        print(result.stdout, end="")
        if result.returncode:
            sys.exit(f"{' '.join(map(str, command))}: exit {result.returncode}")

    kind = "cnn" if "cnn" in golden["case"] else "mlp"
    run(sys.executable, REFERENCE / "make_data.py", work, kind)
    run(options.hftac, job, "-o", work / "golden", "--data", work,
        *options.flags.split())
    log = work / "log.jsonl"
    log.unlink(missing_ok=True)
    checkpoints = work / "checkpoints"
    shutil.rmtree(checkpoints, ignore_errors=True)
    run(work / "golden", "train", "--data", work, "--log", log, "--log-every",
        1, "--no-progress", "--checkpoint", checkpoints)
    compare = [sys.executable, REFERENCE / "compare_log.py", log, path]
    if golden["precision"] == "f64":
        run(*compare, "--rtol", "1e-8", "--atol", "1e-12")
        run(sys.executable, REFERENCE / "compare_checkpoint.py",
            checkpoint(checkpoints, steps), path)
    elif "parameters" in golden["precision"]:
        # A weight that lies between two numbers of its type may be rounded to either,
        # depending on rounding errors, so the tolerance is larger.
        run(*compare, "--rtol", "1e-3")
        run(sys.executable, REFERENCE / "compare_checkpoint.py",
            checkpoint(checkpoints, steps), path, "--rtol", "1e-3", "--atol",
            "1e-4")
    else:
        run(*compare, "--rtol", "1e-4", "--steps", "1")
        run(*compare, "--rtol", "1e-3", "--steps", "3")


if __name__ == "__main__":
    main()
