"""Reduces folders of inputs to a few small ones with the same code coverage, and writes
these to a zip file in fuzz/corpora.

    minimize.py --binary build-fuzz/bin/fuzz-onnx --name onnx FOUND... SEEDS
"""

import argparse
import pathlib
import subprocess
import tempfile
import zipfile

from make_seeds import TARGETS
from replay import CORPORA

MOST_BYTES = 2048  # size limit of an input
NO_DATE = (1980, 1, 1, 0, 0, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--name", choices=TARGETS, required=True)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        subprocess.run([arguments.binary.resolve(), "-set_cover_merge=1",
                        f"-max_len={MOST_BYTES}", kept, *arguments.folders], check=True)
        files = sorted(pathlib.Path(kept).iterdir())
        with zipfile.ZipFile(CORPORA / f"{arguments.name}.zip", "w",
                             zipfile.ZIP_DEFLATED, compresslevel=9) as corpus:
            for file in files:
                corpus.writestr(zipfile.ZipInfo(file.name, NO_DATE), file.read_bytes(),
                                zipfile.ZIP_DEFLATED)
    print(f"{len(files)} files")


if __name__ == "__main__":
    main()
