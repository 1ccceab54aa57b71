#!/usr/bin/env python3
"""Tests the grammar for editors: its keywords are the clauses that hftac knows, and its
patterns find them in all job files. Needs only Python's standard library."""

import json
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VSCODE = SOURCE / "editors" / "vscode"


def fail(message):
    sys.exit(f"error: {message}")


def read_clauses(hftac):
    tables = subprocess.run([hftac, "--list-settings"], check=True, capture_output=True,
                            text=True).stdout
    clauses = tables.split("## clauses\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)", clauses, re.M))


def main():
    grammar = json.loads((VSCODE / "syntaxes" / "hfta.tmLanguage.json").read_text())
    rules = grammar["repository"]
    for rule in rules.values():
        for key in "match", "begin", "end":
            re.compile(rule.get(key, ""))
    for pattern in grammar["patterns"]:
        if pattern["include"].lstrip("#") not in rules:
            fail(f"no rule {pattern['include']}")
    known = read_clauses(sys.argv[1])
    words = set(re.search(r"\(([\w|]+)\)", rules["clause"]["match"])[1].split("|"))
    if words != known:
        fail(f"the grammar lacks {sorted(known - words)}, and hftac has no "
             f"{sorted(words - known)}")
    clause, declaration = (re.compile(rules[name]["match"]) for name in ("clause", "declaration"))
    found = 0
    for path in sorted(SOURCE.glob("examples/*/*.hfta")):
        is_train = False
        for line in path.read_text().splitlines():
            if match := declaration.match(line):
                is_train = match[1] == "train"
            elif is_train and (word := re.match(r"  (\w+)\s", line)):
                found += 1
                match = clause.match(line)
                if not match or match[1] != word[1]:
                    fail(f"{path}: no keyword in {line!r}")
    if found < 50:
        fail(f"only {found} clauses in the examples")
    package = json.loads((VSCODE / "package.json").read_text())["contributes"]
    for path in (package["languages"][0]["configuration"], package["grammars"][0]["path"]):
        json.loads((VSCODE / path).read_text())
    matcher = re.compile(package["problemMatchers"][0]["pattern"]["regexp"])
    if not matcher.match("a b.hfta:13:3: error: unknown clause 'los'"):
        fail("the problem matcher misses a message")


main()
