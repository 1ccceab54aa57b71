#!/usr/bin/env python3
"""Checks that includes and calls go only one way between the rooms of the source tree.

usage: scripts/check-rooms.py [--build FOLDER] [ROOT]

In the section "Rooms" of docs/architecture.md, each row of a table is a folder and its
rooms in order. All source files of the folder belong to rooms. A file may include headers
of its own room and of those before it:
- private ones, as "Room/File.h" relative to the folder;
- public ones: include/Hfta/X/R/Y.h belongs to room R of lib/X if lib/X has rooms, else to
  lib/X as a whole, which is a room of lib. runtime/include/hfta/Y.h belongs to the room of
  runtime/src that has the only Y.c, unless a row `hfta/Y.h` names a room.
The compiler includes no private headers of the runtime, and the runtime none of the
compiler's.

Calls between the runtime's rooms are read from the objects of a build (default: build/),
for each file of runtime/src that has an object there: no object may need a symbol of a
later room. Calls through pointers aren't seen. Nor may files call each other in a circle.

No folder of sources may have more than 40 files. Exit status 1 if anything was found.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".cpp", ".h", ".inc", ".td", ".def"}
MOST_FILES = 40
ROOTS = ("emulation", "include", "lib", "runtime", "tools")
TESTS = ("unittests",)  # whose includes aren't checked, as tests include any room
INCLUDE = re.compile(r'\s*#\s*include "([^"]+)"')
RUNTIME = pathlib.PurePath("runtime/src")
PUBLIC = pathlib.PurePath("runtime/include/hfta")
COMPILER_PUBLIC = pathlib.PurePath("include/Hfta")


def list_sources(root, folder):
    """Returns the paths, relative to the root, of a folder's source files, sorted."""
    return sorted(path.relative_to(root) for path in (root / folder).rglob("*")
                  if path.suffix in SOURCES and path.is_file())


class Rooms:
    """The rooms of the page's table. A file's place is a path that begins with its folder
    and its room: for a private file its own path, for a public header that of the room."""

    def __init__(self, root):
        self.root = root
        self.orders = {}  # for each folder of the table, its rooms in order
        self.headers = {}  # for each public header that has a row, its room
        page = (root / "docs/architecture.md").read_text()
        section = re.search(r"^## Rooms\n(.*?)(?=^## |\Z)", page, re.M | re.S)
        for row in re.findall(r"^\| (`.*)\|$", section.group(1) if section else "", re.M):
            names, rooms = (re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[:2])
            if names[0].endswith(".h"):
                self.headers.update(dict.fromkeys(names, rooms[0]))
            else:
                self.orders[pathlib.PurePath(names[0])] = rooms

    def find_public(self, include):
        """Returns the place of a public header, given as it is included; None if the
        header has no room."""
        path = pathlib.PurePath(include)
        if path.parts[0] == "Hfta":
            return pathlib.PurePath("lib", *path.parts[1:])
        owners = list((self.root / RUNTIME).rglob(path.stem + ".c"))
        if include in self.headers:
            return RUNTIME / self.headers[include] / path.name
        return owners[0].relative_to(self.root) if len(owners) == 1 else None

    def find_place(self, path):
        """Returns the place of a source file; None if it is a public header without a
        room."""
        if path.is_relative_to(COMPILER_PUBLIC):
            return self.find_public(str(path.relative_to(COMPILER_PUBLIC.parent)))
        if path.is_relative_to(PUBLIC):
            return self.find_public(str(path.relative_to(PUBLIC.parent)))
        return path

    def find_included(self, place, include):
        """Returns the place of what the file at a place includes; None if that belongs to
        no folder of the table."""
        first = pathlib.PurePath(include).parts[0]
        if first in ("Hfta", "hfta"):
            return self.find_public(include)
        for folder in sorted(self.orders, key=lambda folder: -len(folder.parts)):
            if place.is_relative_to(folder) and first in self.orders[folder]:
                return folder / include
        return None

    def name_room(self, folder, place):
        """Returns the room of a place in a folder of the table; None if it has none. A
        room may be a folder in another room, as `Target/Cpu` is in `Target`. A header
        beside the rooms may have a room's name."""
        name, *rest = place.relative_to(folder).parts
        if rest and f"{name}/{rest[0]}" in self.orders[folder]:
            return f"{name}/{rest[0]}"
        return next((room for room in self.orders[folder] if room in (name, place.stem)
                     and (room == name or name == place.name)), None)

    def find_backward(self, place, other):
        """Returns the rooms of two places, if the first place's room comes before that of
        the other one; else None."""
        for folder, order in self.orders.items():
            if place.is_relative_to(folder) and other.is_relative_to(folder):
                rooms = self.name_room(folder, place), self.name_room(folder, other)
                if None not in rooms and order.index(rooms[0]) < order.index(rooms[1]):
                    return rooms
        return None


def find_strays(rooms):
    """Yields messages about rooms that don't exist and files that are in no room."""
    for folder, order in rooms.orders.items():
        for room in order:
            if not (rooms.root / folder / room).is_dir():
                yield f"{folder}: no room {room}"
        for path in list_sources(rooms.root, folder):
            if not rooms.name_room(folder, path):
                yield f"{path}: in no room of {folder}; it has {', '.join(order)}"
    for path in list_sources(rooms.root, "include") + list_sources(rooms.root, PUBLIC):
        place = rooms.find_place(path)
        library = pathlib.PurePath("lib")
        if not place and RUNTIME in rooms.orders:
            yield f"{path}: in no room; no row names it, and no single source has its name"
        elif place and place.is_relative_to(library) and library in rooms.orders:
            if not rooms.name_room(library, place):
                yield f"{path}: in no room of lib"


def find_wrong_includes(rooms):
    for path in sum((list_sources(rooms.root, root) for root in ROOTS), []):
        place = rooms.find_place(path)
        for number, line in enumerate((rooms.root / path).read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            at, name = f"{path}:{number}", include[1]
            other = place and rooms.find_included(place, name)
            backward = other and rooms.find_backward(place, other)
            if backward:
                yield f"{at}: {backward[0]} comes before {backward[1]} and can't include from it"
            if path.parts[0] == "runtime":
                if name.startswith("Hfta/") or "lib/" in name:
                    yield f"{at}: the runtime can't include from the compiler"
            elif path.parts[0] in ("include", "lib", "tools") and not other and (
                    "runtime/src/" in name or (rooms.root / RUNTIME / name).is_file()):
                yield f"{at}: the compiler can include only public headers of the runtime"


def find_full_folders(root):
    for folder in sorted({path.parent for top in (*ROOTS, *TESTS)
                          for path in list_sources(root, top)}):
        count = sum(path.is_file() for path in (root / folder).iterdir())
        if count > MOST_FILES:
            yield f"{folder}: {count} files; a folder of sources has at most {MOST_FILES}"


def read_symbols(root, build):
    """Returns, for each source of the runtime that has an object, the set of symbols that
    the object needs; and for each symbol, the source that defines it."""
    objects = {}
    for path in sorted((build / "runtime").rglob("*.c.o")):
        # Objects of sources that were moved or deleted may still be in the build folder.
        parts = path.with_suffix("").parts
        last = max((i for i, part in enumerate(parts) if part == "src"), default=None)
        source = last and RUNTIME.joinpath(*parts[last + 1:])
        if source and (root / source).is_file():
            objects[str(path)] = source
    needs, owners = {source: set() for source in objects.values()}, {}
    listing = subprocess.run(["nm", "-gPA", *objects], check=True, capture_output=True,
                             text=True).stdout if objects else ""
    for line in listing.splitlines():
        path, _, symbol = line.partition(": ")
        name, kind = symbol.split()[:2]
        if kind in "Uvw":
            needs[objects[path]].add(name)
        else:
            owners[name] = objects[path]
    return needs, owners


def find_circles(calls):
    """Yields the sets of files that call each other in circles."""
    reached = {source: set(others) for source, others in calls.items()}
    for middle in calls:
        for source in calls:
            if middle in reached[source]:
                reached[source] |= reached[middle]
    circles = {frozenset(other for other in calls if other in reached[source]
                         and source in reached[other]) for source in calls}
    return sorted(sorted(map(str, circle)) for circle in circles if len(circle) > 1)


def find_wrong_calls(rooms, needs, owners):
    calls = {source: set() for source in needs}
    for source, names in needs.items():
        for name in sorted(names & owners.keys()):
            calls[source].add(owners[name])
            backward = rooms.find_backward(source, owners[name])
            if backward:
                yield (f"{source}: {backward[0]} comes before {backward[1]} and can't call "
                       f"its {name}")
    for circle in find_circles(calls):
        yield "in a circle, by calls: " + ", ".join(circle)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    root = arguments.root
    rooms = Rooms(root)
    if not rooms.orders:
        sys.exit("docs/architecture.md: no table under the heading 'Rooms'")
    errors = [*find_strays(rooms), *find_wrong_includes(rooms), *find_full_folders(root)]
    needs, owners = read_symbols(root, arguments.build or root / "build")
    errors += find_wrong_calls(rooms, needs, owners)
    for error in errors:
        print(error)
    sources = [path for path in list_sources(root, RUNTIME) if path.suffix == ".c"]
    unknown = sum(path not in needs for path in sources)
    if unknown:
        print(f"calls weren't checked in {unknown} of the runtime's {len(sources)} sources: "
              "no build has their objects")
    print(f"{len(rooms.orders)} folders with rooms, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
