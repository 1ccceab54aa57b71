#!/usr/bin/env python3
"""Compares the samples per second of training with K-FAC with those of kfac-pytorch.

    bench/kfac_peers.py --kfac-pytorch DIR [--hftac build/bin/hftac] [--networks mlp,cnn]
                        [--copies 1,8] [--steps 300] [--rounds 5] [--threads 2] [--goals]

Both train in f32 with plain SGD, with factors every 10 steps and inverses every 100 (no
eigenvectors), on synthetic data in memory, from step 0 on: the MLP of 784, 256, 128 and
10 features in batches of 512, and the CNN of examples/fashion in batches of 256. A
sweep's samples are those of all its copies; kfac-pytorch trains one model at a time. Runs
take turns, and the best of each counts. With --goals, exits with 1 unless Hfta trains
twice as many samples per second, for each network and number of copies.

DIR is where `pip install --no-deps --target=DIR SOURCE` has put a copy of the repository
gpauloski/kfac-pytorch (KAISA; 869cf11 was measured). Needs torch for the peer; Hfta needs
only Python's standard library."""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PERIODS = {"factor_every": 10, "inverse_every": 100}
GOAL = 2


def load(name, path):
    """Loads a Python file as module `name`, which must differ from kfac, the name of the
    peer's package: bench/kfac.py would hide it."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


NETWORKS = load("kfac_bench", ROOT / "bench" / "kfac.py").NETWORKS


def compile_job(options, folder, name, copies):
    network = NETWORKS[name]
    job = folder / f"{name}-{copies}.hfta"
    periods = ", ".join(f"{key} = {value}" for key, value in PERIODS.items())
    job.write_text(f"""{network.model}
data fashion {{
  image: u8[28, 28], label: u8
  train image = idx("images.gz") / 255, label = idx("labels.gz")
}}
train sweep {{
  model net(image)
{network.clauses}  data fashion, batch = {network.batch}
  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
  precondition kfac({periods})
  seed {list(range(1, copies + 1))}
  steps {options.steps}
}}
""")
    binary = job.with_suffix("")
    subprocess.run([options.hftac, job, "-o", binary], check=True,
                   stderr=subprocess.DEVNULL)
    return binary


def run_ours(options, binary):
    output = subprocess.run(
        [binary, "bench", "--json", "--steps", str(options.steps), "--threads",
         str(options.threads)], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)["samples_per_second"]


def make_peer(name):
    from torch import nn
    if name == "cnn":
        return load("export_model", ROOT / "examples/fashion/export_model.py").Cnn()
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(),
                         nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def run_peer(options, name):
    """Trains with kfac-pytorch and prints the samples per second. Runs in its own process,
    as it changes the search path."""
    sys.path[:] = [str(options.kfac_pytorch),
                   *(path for path in sys.path if path != str(ROOT / "bench"))]
    import torch
    from kfac.preconditioner import KFACPreconditioner
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    batch = NETWORKS[name].batch
    network = make_peer(name)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    preconditioner = KFACPreconditioner(
        network, factor_update_steps=PERIODS["factor_every"],
        inv_update_steps=PERIODS["inverse_every"], damping=3e-3, factor_decay=0.95,
        kl_clip=1e-3, lr=0.1, compute_method="inverse",
        compute_eigenvalue_outer_product=False)
    batches = [(torch.rand(batch, 1, 28, 28), torch.randint(0, 10, (batch,)))
               for _ in range(8)]
    begin = time.perf_counter()
    for step in range(options.steps):
        image, label = batches[step % len(batches)]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(image), label).backward()
        preconditioner.step()
        optimizer.step()
    print(batch * options.steps / (time.perf_counter() - begin))


def time_peer(options, name):
    output = subprocess.run(
        [sys.executable, __file__, "--peer", name, "--kfac-pytorch",
         options.kfac_pytorch, "--steps", str(options.steps), "--threads",
         str(options.threads)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True).stdout
    return float(output.splitlines()[-1])


def compare(options, name, folder):
    """Prints a line for each number of copies; returns whether all meet the goal."""
    binaries = {copies: compile_job(options, folder, name, copies)
                for copies in options.copies}
    best = {key: 0 for key in (*binaries, "peer")}
    for _ in range(options.rounds):
        for copies, binary in binaries.items():
            best[copies] = max(best[copies], run_ours(options, binary))
        best["peer"] = max(best["peer"], time_peer(options, name))
    print(f"{name}, batch {NETWORKS[name].batch}: kfac-pytorch "
          f"{best['peer']:.0f} samples/s")
    for copies in binaries:
        print(f"  {copies:3} copies  {best[copies]:9.0f} samples/s  "
              f"{best[copies] / best['peer']:5.2f}x", flush=True)
    return all(best[copies] >= GOAL * best["peer"] for copies in binaries)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kfac-pytorch", required=True, metavar="DIR")
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--networks", default="mlp,cnn",
                        type=lambda text: text.split(","))
    parser.add_argument("--copies", default="1,8",
                        type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--goals", action="store_true")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return run_peer(options, options.peer)
    for name in options.networks:
        if name not in NETWORKS:
            parser.error(f"there is no network '{name}'")
    with tempfile.TemporaryDirectory() as folder:
        is_met = [compare(options, name, pathlib.Path(folder))
                  for name in options.networks]
    sys.exit(options.goals and not all(is_met))


if __name__ == "__main__":
    main()
