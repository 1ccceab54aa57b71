#!/usr/bin/env python3
"""Makes the files that hftac links programs with, which lib/Link/Embedded.cpp embeds.

    make_link_files.py --compiler CC --nm NM --ar AR --archive libhfta_runtime.a
                       [--symbols glibc.symbols] --start start.S --output DIR

Writes to DIR the runtime's archive, the start object, an archive of those functions of
libgcc that code for processors without conversions of f16 calls, and for each library of
glibc.symbols a stub: a library that has its names and versions but no code. A program that
is linked against stubs needs the versions that the list says, whatever libraries the
machine has on which it was linked.

Fails if the archive calls something that isn't in the list. Without --symbols, no stubs are
made: a runtime that calls functions of a sanitizer can only be linked by a compiler."""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Members of libgcc: conversions of f16, and what they call.
LIBGCC_MEMBERS = ("extendhfsf2.o", "truncdfhf2.o", "truncsfhf2.o", "sfp-exceptions.o")

Symbol = collections.namedtuple("Symbol", "name library version size")


def read_symbols(path):
    symbols = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) not in (3, 4):
            sys.exit(f"{path}:{number}: expected 'NAME LIBRARY VERSION [SIZE]', got '{line}'")
        symbols.append(Symbol(*words[:3], int(words[3]) if len(words) == 4 else 0))
    return symbols


def find_missing(nm, archive, symbols):
    """Returns the names that the archive needs and neither it nor the list has."""
    table = subprocess.run([nm, "--format=posix", archive], check=True,
                           capture_output=True, text=True).stdout
    needed, known = set(), {symbol.name for symbol in symbols}
    for words in map(str.split, table.splitlines()):
        if len(words) >= 2:
            (needed if words[1] == "U" else known).add(words[0])
    return sorted(needed - known)


def make_assembly(symbols):
    lines = []
    for symbol in symbols:
        kind = "object" if symbol.size else "function"
        lines += [".bss" if symbol.size else ".text", f".globl {symbol.name}",
                  f".type {symbol.name}, @{kind}", f"{symbol.name}:"]
        if symbol.size:
            lines += [f".size {symbol.name}, {symbol.size}", f".zero {symbol.size}"]
    return "\n".join(lines + ['.section .note.GNU-stack, "", @progbits', ""])


def make_versions(symbols):
    names = collections.defaultdict(list)
    for symbol in symbols:
        names[symbol.version].append(symbol.name)
    return "".join(f"GLIBC_{version} {{ {' '.join(name + ';' for name in names[version])} }};\n"
                   for version in sorted(names))


def make_stub(compiler, library, symbols, output):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "stub.s"
        versions = pathlib.Path(folder) / "versions"
        source.write_text(make_assembly(symbols))
        versions.write_text(make_versions(symbols))
        subprocess.run([compiler, "-shared", "-nostdlib", "-o", output / library, source,
                        f"-Wl,-soname,{library},--version-script,{versions}",
                        "-Wl,--hash-style=gnu,--build-id=none,-z,max-page-size=4096,"
                        "-z,noseparate-code,--strip-all"], check=True)


def make_libgcc(compiler, ar, output):
    """Writes the archive libgcc.a of LIBGCC_MEMBERS."""
    libgcc = subprocess.run([compiler, "-print-libgcc-file-name"], check=True,
                            capture_output=True, text=True).stdout.strip()
    archive = (output / "libgcc.a").resolve()
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ar, "x", libgcc, *LIBGCC_MEMBERS], check=True, cwd=folder)
        subprocess.run([ar, "rcsD", archive, *LIBGCC_MEMBERS], check=True, cwd=folder)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--ar", required=True)
    parser.add_argument("--archive", type=pathlib.Path, required=True)
    parser.add_argument("--symbols", type=pathlib.Path)
    parser.add_argument("--start", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.symbols:
        symbols = read_symbols(options.symbols)
        missing = find_missing(options.nm, options.archive, symbols)
        if missing:
            sys.exit(f"{options.archive} needs names that {options.symbols} lacks: "
                     + ", ".join(missing))
        libraries = collections.defaultdict(list)
        for symbol in symbols:
            libraries[symbol.library].append(symbol)
        make_libgcc(options.compiler, options.ar, options.output)
        for library, names in libraries.items():
            make_stub(options.compiler, library, names, options.output)
    subprocess.run([options.compiler, "-c", options.start, "-o", options.output / "start.o"],
                   check=True)
    shutil.copyfile(options.archive, options.output / options.archive.name)


if __name__ == "__main__":
    main()
