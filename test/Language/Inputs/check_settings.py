"""Compares the tables of docs/language.md with the output of `hftac --list-settings`.

usage: check_settings.py PAGE HFTAC [--update]

In the page, the table NAME is between the lines `<!-- settings: NAME -->` and
`<!-- end -->`. Every table that hftac prints must be in the page once. `--update` replaces
the tables of the page.
"""

import re
import subprocess
import sys


def main():
    path, hftac = sys.argv[1:3]
    printed = subprocess.run([hftac, "--list-settings"], check=True, text=True,
                             capture_output=True).stdout
    sections = re.split(r"^## (.*)\n\n", printed, flags=re.M)[1:]
    tables = {name: table.strip() for name, table in zip(sections[::2], sections[1::2])}
    with open(path) as file:
        page = file.read()
    pattern = re.compile(r"(<!-- settings: (\w+) -->\n\n)(.*?)(\n\n<!-- end -->)", re.S)
    found = [match.group(2) for match in pattern.finditer(page)]
    if sorted(found) != sorted(tables):
        sys.exit(f"{path} has the tables {found}, hftac prints {list(tables)}")
    written = pattern.sub(lambda match: match[1] + tables[match[2]] + match[4], page)
    if written != page and "--update" not in sys.argv:
        wrong = [match[2] for match in pattern.finditer(page) if match[3] != tables[match[2]]]
        sys.exit(f"{path}: other than what hftac prints: {', '.join(wrong)}; "
                 f"run this script with --update")
    if written != page:
        with open(path, "w") as file:
            file.write(written)
    print(f"{len(tables)} tables")


main()
