#!/usr/bin/env python3
"""Finds comments that can't be understood alone, and words that aren't English.

    scripts/check-words.py [FILE...]      default: all sources, tests and documents

A comment begins with a noun or a verb, never with "Of", "The same" or "What": such
fragments mean something only beside the line before them. So does a message, a text
of --help and a text of TableGen, wherever its string literals are broken into lines.
Documents have lines of at most 100 characters. Exit status 1 if anything was found.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
C_LIKE = {".c", ".cpp", ".h", ".td", ".def", ".mlir", ".hfta"}
HASH_LIKE = {".py", ".sh", ".cmake", ".txt", ".test", ".cfg", ""}
MARKER = {**dict.fromkeys(C_LIKE, r"//+<?|/\*+<?"), **dict.fromkeys(HASH_LIKE, r"#+")}
FRAGMENT = re.compile(r"\s*(of|the same|what)\b", re.IGNORECASE)
# Matches a comment, a character literal, a string literal together with the literals that
# continue it (group 1), or the first line of a text in TableGen (group 2).
STRING = re.compile(r"//.*|/\*[\s\S]*?\*/|'(?:[^'\\\n]|\\.)+'|"
                    r'("(?:[^"\\\n]|\\.)*"(?:[\s\\]*"(?:[^"\\\n]|\\.)*")*)|\[\{\s*(\S.*)')
MESSAGES = ("include/", "lib/", "runtime/", "tools/", "emulation/")
BANNED = re.compile(r"so many'th|how manyth|others than|a GPU hasn't", re.IGNORECASE)
# Characters of a line in a document. Tables, code and links may be longer.
LONGEST = 100
FOLDERS = ("bench", "cmake", "docs", "emulation", "examples", "fuzz", "include", "lib",
           "python", "runtime", "scripts", "test", "tools", "unittests")
# Files from other projects, and data.
SKIPPED = ("test/models/", "test/reference/golden/", "fuzz/corpora/", "LICENSE")


def find_fragments(path, lines):
    """Yields (line number, message) for each comment that begins with a fragment."""
    comment = re.compile(r"(?P<code>.*?)(?<![:\w\"'])(?:" + MARKER[path.suffix] + r")(?P<text>.*)")
    continues = False
    for number, line in enumerate(lines, 1):
        match = comment.match(line)
        alone = bool(match) and not match["code"].strip()
        quoted = bool(match) and match["code"].count('"') % 2
        starts = match and not quoted and not (alone and continues)
        if starts and FRAGMENT.match(match["text"]):
            yield number, f"a comment begins with '{match['text'].split()[0]}'"
        continues = bool(match) and bool(match["text"].strip())


def find_fragments_of_texts(text):
    """Yields (line number, message) for string literals and texts of TableGen that begin
    with a fragment. Literals with one or two words, or with a space at the beginning, are
    allowed, as they continue other texts."""
    for match in STRING.finditer(text):
        literal = re.sub(r'"[\s\\]*"', "", match[1] or "").strip('"') or match[2] or ""
        number = text.count("\n", 0, match.start()) + 1
        if FRAGMENT.match(literal) and len(literal.split()) > 2 and literal[0] != " ":
            yield number, f"a text begins with '{literal.split()[0]}'"
        if BANNED.search(literal) and not BANNED.search(match[0]):
            yield number, f"'{BANNED.search(literal)[0]}'"


def find_long_lines(lines):
    in_code = False
    for number, line in enumerate(lines, 1):
        in_code ^= line.lstrip().startswith("```")
        if len(line) > LONGEST and not in_code and not re.match(r"\s*(\||<|\[|#|!)", line):
            yield number, f"a line of {len(line)} characters, expected at most {LONGEST}"


def check(path):
    try:
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    except (UnicodeDecodeError, FileNotFoundError):
        return
    for number, line in enumerate(lines, 1):
        if BANNED.search(line) and path.name != "check-words.py":
            yield number, f"'{BANNED.search(line)[0]}'"
    if path.suffix in C_LIKE and str(path).startswith(MESSAGES):
        yield from find_fragments_of_texts("\n".join(lines))
    if path.suffix in MARKER:
        yield from find_fragments(path, lines)
    elif path.suffix == ".md":
        yield from find_long_lines(lines)


def main(names):
    if not names:
        names = [str(path.relative_to(ROOT)) for folder in FOLDERS
                 for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
        names += [path.name for path in sorted(ROOT.iterdir()) if path.is_file()]
    found = 0
    for name in names:
        if name.startswith(SKIPPED):
            continue
        for number, problem in check(pathlib.Path(name)):
            print(f"{name}:{number}: {problem}")
            found += 1
    print(f"{len(names)} files, {found} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
