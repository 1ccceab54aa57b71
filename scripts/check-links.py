#!/usr/bin/env python3
"""Checks that each link of the documentation leads somewhere: to a file of the repository and,
behind '#', to a heading of a Markdown file. Links to the network aren't followed. Needs only
Python's standard library.

usage: check-links.py [FOLDER]"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()\s]*\))?)\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def make_anchor(heading):
    """Returns the anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def read_lines(path):
    """Yields the number and text of each line outside of blocks of code."""
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def read_anchors(path):
    anchors = set()
    for _, line in read_lines(path):
        if found := HEADING.match(line):
            anchor, count = make_anchor(found[1]), 0
            while (name := anchor + (f"-{count}" if count else "")) in anchors:
                count += 1
            anchors.add(name)
    return anchors


def find_target(root, page, target):
    """Returns what is wrong with a link of a page; None if nothing is."""
    name, _, anchor = target.partition("#")
    path = page if not name else (page.parent / name).resolve()
    if not path.exists() or root not in [path, *path.parents]:
        return f"no such file: '{name}'"
    if anchor and path.suffix == ".md" and anchor not in read_anchors(path):
        return f"'{path.relative_to(root)}' has no heading for '#{anchor}'"
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).parents[1]).resolve()
    pages = sorted(root.rglob("*.md"))
    if (root / ".git").exists():
        names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard",
                                "*.md"], check=True, capture_output=True, text=True)
        pages = [root / name for name in names.stdout.split()]
    links = wrong = 0
    for page in pages:
        if not page.exists():
            continue
        # A link's text may be on two lines.
        lines = list(read_lines(page))
        text = "\n".join(line for _, line in lines)
        for found in LINK.finditer(re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), text)):
            target = found[1]
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            if problem := find_target(root, page, target):
                wrong += 1
                number = lines[text.count("\n", 0, found.start())][0]
                print(f"{page.relative_to(root)}:{number}: {problem}")
    print(f"{len(pages)} pages, {links} links, {wrong} dead")
    sys.exit(wrong > 0)


main()
