"""Checks for the files, headers and compiler that benchmarks need. A script that lacks
something says so and ends with exit code 3. Needs only Python's standard library."""

import pathlib
import shutil
import signal
import subprocess
import sys

MISSING = 3  # exit code, like hftac's for what isn't supported
CXX = "clang++-22"
# Maps a header to the Debian package that contains it.
PACKAGES = {"dnnl.hpp": "libdnnl-dev", "libxsmm.h": "libxsmm-dev",
            "cblas.h": "libopenblas-dev"}


def stop(message, code=MISSING):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def need_file(path):
    """Ends the script if a file that a build of Hfta makes is missing."""
    if not path.is_file():
        stop(f"{path}: no such file; 'scripts/build' makes build/bin and build/lib")


def need_headers(*names):
    """Ends the script if the C++ compiler or one of these headers is missing."""
    if not shutil.which(CXX):
        stop(f"no {CXX} in PATH; Debian's package clang-22 has it")
    tests = "".join(f"#if !__has_include(<{name}>)\n{PACKAGES[name]}\n#endif\n"
                    for name in names)
    missing = subprocess.run([CXX, "-E", "-P", "-x", "c++", "-"], input=tests, text=True,
                             check=True, stdout=subprocess.PIPE).stdout.split()
    if missing:
        stop(f"install what Debian's packages {', '.join(missing)} hold")


def run(*command):
    """Runs a command to its end; if it fails, the script ends with its exit code."""
    code = subprocess.run([str(part) for part in command], check=False).returncode
    if code < 0:
        stop(f"{pathlib.Path(command[0]).name} was ended by {signal.Signals(-code).name}",
             1)
    if code:
        sys.exit(code)
