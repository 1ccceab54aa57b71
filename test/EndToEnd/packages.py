#!/usr/bin/env python3
"""Tests the wheel of scripts/package: what it holds, that its lists are true, and that hftac
compiles a job, and the program trains it, where only the wheel's files are and no program is
on the path. With a Python that has venv and pip, also installs the wheel.

    packages.py --hftac HFTAC --work DIR"""

import base64
import csv
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from data_forms import write_npy
from harness import Work, expect_equal, fail, run

ROOT = Path(__file__).resolve().parents[2]
# A wheel may be 35 MB; the first release is well below.
MOST_BYTES = 35_000_000


def check_lists(path):
    """Checks the wheel's RECORD against its files. Returns their names."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
        listed = {}
        for name, digest, size in csv.reader(wheel.read(record).decode().splitlines()):
            listed[name] = (digest, size)
        expect_equal(sorted(listed), sorted(names), "the files that RECORD lists")
        for name, (digest, size) in listed.items():
            if name == record:
                continue
            content = wheel.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            expect_equal((digest, size), ("sha256=" + found.decode(), str(len(content))), name)
    return names


def unpack(path, folder):
    """Unpacks a wheel as pip does, and returns where its programs are."""
    with zipfile.ZipFile(path) as wheel:
        for entry in wheel.infolist():
            target = Path(wheel.extract(entry, folder))
            target.chmod(entry.external_attr >> 16 & 0o777)
    [scripts] = folder.glob("*.data/scripts")
    return scripts


def check_use(hftac, folder):
    """Compiles a job with only this program, trains it and exports a copy."""
    folder.mkdir()
    shutil.copy(ROOT / "test/Driver/Inputs/tiny.hfta", folder)
    write_npy(folder / "image.npy", "<f4", (32, 4), [i * 37 % 101 / 50 for i in range(128)])
    write_npy(folder / "label.npy", "<i8", (32,), [i % 3 for i in range(32)])
    alone = {"PATH": "/none", "HOME": str(folder)}
    run(hftac, "tiny.hfta", "-o", "tiny", cwd=folder, env=alone)
    run(folder / "tiny", "train", "--no-progress", "--checkpoint=c", cwd=folder, env=alone)
    run(folder / "tiny", "export", "--copy=0", "-o", "tiny.onnx", "--checkpoint=c",
        cwd=folder, env=alone)
    if not (folder / "tiny.onnx").stat().st_size:
        fail("no exported model")


def check_installed(wheel, folder):
    """Installs the wheel in an environment of its own, without network."""
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True)
    if made.returncode != 0:
        print("skipped: installing, as this Python lacks venv")
        return
    programs = folder / "bin"
    run(programs / "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check",
        wheel)
    told = run(programs / "hftac", "--version")
    if not told.startswith("hftac "):
        fail(f"hftac --version tells '{told}'")
    # hfta-opt is hftac under this name, also where only a link to it is on the path.
    (folder / "link").symlink_to(programs / "hfta-opt")
    if "Hfta's optimizer" not in run(folder / "link", "--help"):
        fail("hfta-opt --help isn't that of hfta-opt")
    run(programs / "python", "-c", "import hfta.client")
    for file in ("lib/libhfta_runtime.a", "lib/cmake/Hfta/HftaConfig.cmake",
                 "include/hfta/embed.h"):
        if not (folder / file).exists():
            fail(f"pip doesn't install {file}")
    run(programs / "pip", "uninstall", "--quiet", "--yes", "hfta")
    if (programs / "hftac").exists():
        fail("pip leaves hftac behind")


def main():
    work = Work(__doc__)
    folder = work.folder.absolute()
    build = Path(work.hftac).resolve().parents[1]
    run(sys.executable, ROOT / "scripts/package", "--build", build, "--output", folder,
        "wheel")
    [wheel] = folder.glob("*.whl")
    names = check_lists(wheel)
    if not any(name.endswith("licenses/THIRD-PARTY") for name in names):
        fail("the wheel has no licences of what hftac contains")
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        fail(f"the wheel has {size} bytes, expected at most {MOST_BYTES}")
    check_use(unpack(wheel, folder / "unpacked") / "hftac", folder / "job")
    check_installed(wheel, folder / "environment")
    print(f"a wheel of {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
