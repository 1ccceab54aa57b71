#!/usr/bin/env python3
"""Checks that includes go only one way between the rooms of docs/architecture.md.

usage: scripts/check-rooms.py [ROOT]

In the table under the heading "Rooms", each row is a folder and its rooms in order. A
file in a room may include private headers of its own room and of those before it (and of
no room that the row doesn't name). All files of a folder belong to rooms.
"""

import pathlib
import re
import sys

SOURCES = {".c", ".cpp", ".h", ".inc"}


def read_rooms(page):
    """Yields pairs of a folder and the ordered list of its rooms, from the page's table."""
    section = re.search(r"^## Rooms\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    for row in re.findall(r"^\| (`.*)\|$", section.group(1) if section else "", re.M):
        folder, rooms = row.split("|")[:2]
        yield folder.strip().strip("`"), re.findall(r"`([^`]+)`", rooms)


def find_errors(folder, rooms):
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SOURCES:
            continue
        room = path.relative_to(folder).parts[0]
        if room not in rooms:
            yield f"{path}: in no room of {folder}; it has {', '.join(rooms)}"
            continue
        later = rooms[rooms.index(room) + 1:]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include "([^"]+)"', line)
            if include and include.group(1).split("/")[0] in later:
                yield (f"{path}:{number}: {room} comes before "
                       f"{include.group(1).split('/')[0]} and can't include from it")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    table = list(read_rooms((root / "docs/architecture.md").read_text()))
    if not table:
        sys.exit("docs/architecture.md: no table under the heading 'Rooms'")
    errors = []
    for folder, rooms in table:
        missing = [room for room in rooms if not (root / folder / room).is_dir()]
        errors += [f"{folder}: no room {room}" for room in missing]
        errors += find_errors(root / folder, rooms)
    for error in errors:
        print(error)
    print(f"{len(table)} folders with rooms, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
