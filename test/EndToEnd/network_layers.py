#!/usr/bin/env python3
"""Checks the layers that the compiler finds in a network: each trained parameter must be
listed, and the sum of output gradient times input must be its gradient, as measured by
finite differences in f64. This script compiles the network's job up to phase `train`; the
program HftaLayerCheck makes the comparison. Needs only Python's standard library."""

import argparse
import pathlib

from harness import run
from network_run import NetworkFolder, networks

RATES = [1e-4, 1e-3]  # the learning rates of the two copies


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", required=True)
    parser.add_argument("--check", required=True, help="HftaLayerCheck")
    parser.add_argument("--name", required=True, choices=networks.NETWORKS)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--flags", default="", help="more options of hftac")
    parser.add_argument("--second", choices=networks.NETWORKS,
                        help="the network of the second copy, if another one")
    options = parser.parse_args()
    names = [options.name] + ([options.second] if options.second else [])
    models = [str(NetworkFolder(options.hftac, name, options.work,
                                samples=networks.BATCH).model.absolute())
              for name in names]
    if len(models) == 1:
        model, clauses = models[0], ()
    else:
        model, clauses = models, ["zip(lr, model)"]
    job = options.work / "layers.hfta"
    job.write_text(networks.make_job(options.name, model, "f64", rates=RATES,
                                     clauses=clauses))
    module = options.work / "layers.mlir"
    run(options.hftac, job, "--emit=train", "-o", module, "--data",
        options.work, *options.flags.split())
    fills = networks.fields_of(networks.NETWORKS[options.name])
    print(run(options.check, module,
              *(f"{name}={field.fill}" for name, field in fills.items())))


if __name__ == "__main__":
    main()
