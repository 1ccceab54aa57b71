"""Runs a fuzz target on its seeds and on the inputs that fuzzing has found, without
fuzzing.

    replay.py --binary build/bin/replay-onnx --name onnx --work FOLDER
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import zipfile

import make_seeds

CORPORA = pathlib.Path(__file__).resolve().parent / "corpora"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--name", choices=make_seeds.TARGETS, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    seeds, found = arguments.work / "seeds", arguments.work / "found"
    make_seeds.write_seeds(seeds, arguments.name)
    found.mkdir()
    with zipfile.ZipFile(CORPORA / f"{arguments.name}.zip") as corpus:
        corpus.extractall(found)
    sys.exit(subprocess.run([arguments.binary.resolve(), seeds.resolve(), found.resolve()],
                            check=False).returncode)


if __name__ == "__main__":
    main()
