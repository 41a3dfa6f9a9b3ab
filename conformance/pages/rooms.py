"""docs/rooms.md and docs/rooms.svg: the rooms of the three packages and their arrows, read from the
code's own imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from typing import Final

from conformance.pages._markdown import table

PACKAGES: Final = ("generators", "conformance", "spark_checks")
"""The packages whose rooms are shown."""
COLOURS: Final = {"generators": "#dbeafe", "conformance": "#dcfce7", "spark_checks": "#fee2e2"}
"""The colour of a package's boxes in the picture."""
BOX: Final = (150, 34)
"""Width and height of a room's box in the picture."""
GAP: Final = (14, 46)
"""The space between two boxes in the picture, beside and below each other."""


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of a package, or a module beside its folders: its name, the first paragraph of its
    docstring, and the names of the rooms it imports.
    """

    name: str
    about: str
    imports: frozenset[str]


def rooms(root: Path) -> dict[str, Room]:
    """Every room (folder or module directly in a package) below `root`, by name such as
    `conformance.pages`; a package's own `__init__` and `__main__` belong to none.
    """
    owners: dict[Path, str] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            short = path.relative_to(root)
            if "skeleton" not in short.parts:
                owners[path] = _room_of_file(short)
    names = set(filter(None, owners.values()))
    by_name: dict[str, Room] = {}
    for name in sorted(names):
        room_files = [path for path, owner in owners.items() if owner == name]
        texts = {path: path.read_text("utf-8") for path in room_files}
        head = root.joinpath(*name.split("."), "__init__.py")
        about = ast.get_docstring(ast.parse(texts.get(head) or texts[room_files[0]])) or ""
        targets = chain.from_iterable(map(_find_imports, texts.values()))
        imports = {_room_of_import(target, names) for target in targets} - {name, ""}
        by_name[name] = Room(name, about.split("\n\n")[0].replace("\n", " "), frozenset(imports))
    return by_name


def _room_of_file(path: Path) -> str:
    """The room of a file, as `package.room`; "" for the `__init__` or `__main__` of a package
    itself.
    """
    parts = path.with_suffix("").parts
    return "" if len(parts) == 2 and parts[1].startswith("__") else ".".join(parts[:2])


def _find_imports(source: str) -> Iterator[str]:
    """The modules and names that a Python source imports, as dotted names; relative imports without
    a module are left out.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)


def _room_of_import(target: str, names: set[str]) -> str:
    """The room (`package.part`) that an imported dotted name belongs to; "" if it is none of
    `names`.
    """
    room = ".".join(target.split(".")[:2])
    return room if room in names else ""


def levels(by_name: Mapping[str, Room]) -> dict[str, int]:
    """The level of each room (part of a package) in the picture of docs/rooms.md: the length of the
    longest chain of imports from it to a room without imports.
    """
    heights: dict[str, int] = {}

    def level(name: str) -> int:
        """The level of a room: one above the highest level of the rooms that it imports; 0 if it
        imports none.
        """
        if name not in heights:
            heights[name] = 1 + max(map(level, by_name[name].imports), default=-1)
        return heights[name]

    for name in by_name:
        level(name)
    return heights


def direct(by_name: Mapping[str, Room]) -> set[tuple[str, str]]:
    """The imports to draw between rooms (parts of packages), as pairs: those that do not also
    follow from a longer chain of imports.
    """

    def below(name: str) -> set[str]:
        """The rooms that a room imports, directly or through others."""
        return set(by_name[name].imports).union(*map(below, by_name[name].imports))

    arrows: set[tuple[str, str]] = set()
    for name, room in by_name.items():
        for imported in room.imports:
            through_others = set[str]().union(*map(below, room.imports - {imported}))
            if imported not in through_others:
                arrows.add((name, imported))
    return arrows


def picture(by_name: Mapping[str, Room]) -> str:
    """The picture of the rooms as SVG: rows by level, each room above all rooms that it imports.
    Imports that follow from longer chains are not drawn.
    """
    level_of_room = levels(by_name)
    room_rows = [
        [name for name in by_name if level_of_room[name] == level]
        for level in range(max(level_of_room.values()), -1, -1)
    ]
    width = max(map(len, room_rows)) * (BOX[0] + GAP[0]) + GAP[0]
    places: dict[str, tuple[int, int]] = {}
    for number, room_names in enumerate(room_rows):
        left_edge = (width - len(room_names) * (BOX[0] + GAP[0]) + GAP[0]) // 2
        for i, name in enumerate(
            sorted(room_names, key=lambda n: (PACKAGES.index(n.partition(".")[0]), n))
        ):
            places[name] = (left_edge + i * (BOX[0] + GAP[0]), GAP[0] + number * (BOX[1] + GAP[1]))
    height = GAP[0] * 2 + len(room_rows) * (BOX[1] + GAP[1]) - GAP[1]
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
                ' font-family="sans-serif" font-size="12">'
            ),
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *(
                _import_line(places[name], places[imported])
                for name, imported in sorted(direct(by_name))
            ),
            *(_box(name, by_name[name], *places[name]) for name in sorted(places)),
            "</svg>\n",
        ]
    )


def _import_line(start: tuple[int, int], end: tuple[int, int]) -> str:
    """A line as SVG from the box of a room (a part of a package) down to the box of a room that it
    imports; both places are a box's upper left corner.
    """
    x, y = start[0] + BOX[0] // 2, start[1] + BOX[1]
    return f'<line x1="{x}" y1="{y}" x2="{end[0] + BOX[0] // 2}" y2="{end[1]}" stroke="#9ca3af"/>'


def _box(name: str, room: Room, x: int, y: int) -> str:
    """The box of a room (a part of a package) in the picture (SVG), with the room's and the
    package's name.
    """
    package, _, short = name.partition(".")
    return (
        f'<g><title>{escape(room.about)}</title><rect x="{x}" y="{y}" width="{BOX[0]}"'
        f' height="{BOX[1]}" rx="4" fill="{COLOURS[package]}" stroke="#6b7280"/><text'
        f' x="{x + BOX[0] // 2}" y="{y + 14}" text-anchor="middle">{escape(short)}</text><text'
        f' x="{x + BOX[0] // 2}" y="{y + 28}" text-anchor="middle" font-size="9"'
        f' fill="#4b5563">{escape(package)}</text></g>'
    )


def rooms_page(by_name: Mapping[str, Room], note: str) -> str:
    """The text of docs/rooms.md: the picture of the rooms (parts of packages) and their imports,
    and a table of what each holds.
    """
    lines = [
        "# Rooms",
        "",
        note,
        "",
        "![Rooms by level; each imports only rooms below it](rooms.svg)",
        "",
    ]
    lines += ["Arrows that a longer way implies are left out of the picture.", ""]
    lines += table(("room", "holds"), ((f"`{room.name}`", room.about) for room in by_name.values()))
    arrows = sum(len(room.imports) for room in by_name.values())
    return "\n".join([*lines, "", f"{len(by_name)} rooms, {arrows} arrows, no circle."]) + "\n"
