"""Operators with arguments, and the conditions under which a liar applies its operator: the words
of the table of liars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from conformance.judging.compare import Typed
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.rules.tables import Legal, called, checked, pattern
from conformance.selftest.operators.operator import Alter, Image, Rows, Seen, on_images
from generators.model import Cell, Kind, Logical
from generators.sources.registry import SOURCES

RowAlter: TypeAlias = Callable[[OutputRow, Seen], Iterable[OutputRow]]
_IMAGES: Final = ("before", "after")
_ANYWHERE: Final = ("message", "null", "tag", "profile")
"""Conditions on a message, whatever its rows."""
CONDITIONS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys((*_ANYWHERE, "kind", "op", "column", *ENVELOPE), str),
    "lacks": (*_IMAGES, *ENVELOPE),
    "again": ENVELOPE,
}
"""What a condition may be about, and what it may say."""
Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
_NOTHING: Final[Mapping[str, Any]] = {"op": None, "before": None, "after": None}


def when(alter: Alter, conditions: Mapping[str, str]) -> Alter:
    """The operator for the rows that fulfil all conditions; for several rows of a message it is
    asked about each.

    A condition is a regular expression, by what it is about: `message` (its value, a character for
    each byte), `null` (any: the value is null), `tag`, `profile`, `kind`, `op`, `column` (a name in
    an image), a field's name, `lacks` (the name of a field or an image that is NULL or empty),
    `again` (the name of a field that a row of the message before has with the same value).
    """
    if not conditions:
        return alter
    patterns = {
        about: pattern(text, flags=re.DOTALL if about == "message" else 0)
        for about, text in conditions.items()
    }
    of_row = {about: regex for about, regex in patterns.items() if about not in _ANYWHERE}

    def some(rows: Rows, seen: Seen) -> Rows:
        if not rows:
            return alter(rows, seen) if _message(patterns, seen) else rows
        out: list[OutputRow] = []
        for row in rows:
            out += (
                alter([row], seen)
                if _message(patterns, seen) and _fulfils(row, of_row, seen)
                else [row]
            )
        return out

    return some


def _message(conditions: Patterns, seen: Seen) -> bool:
    value = seen.message and seen.message.value
    if "null" in conditions and value is not None:
        return False
    if "tag" in conditions and not any(map(conditions["tag"].search, seen.case.tags)):
        return False
    if "profile" in conditions and not conditions["profile"].search(seen.case.profile):
        return False
    return "message" not in conditions or (
        value is not None and bool(conditions["message"].search(seen.text))
    )


def _fulfils(row: OutputRow, conditions: Patterns, seen: Seen) -> bool:
    def fine(about: str, wanted: re.Pattern[str]) -> bool:
        name = wanted.pattern
        match about:
            case "kind" | "op":
                return bool(wanted.fullmatch(getattr(row, about) or ""))
            case "column":
                return any(
                    wanted.search(column) for side in _IMAGES for column in getattr(row, side) or ()
                )
            case "lacks":
                return not (getattr(row, name) if name in _IMAGES else row.fields.get(name))
            case "again":
                value = row.fields.get(name)
                return value is not None and any(
                    other.fields.get(name) == value for other in seen.before
                )
        return bool(wanted.search(str(row.fields.get(about) or "")))

    return all(fine(about, wanted) for about, wanted in conditions.items())


def _each(change: RowAlter) -> Alter:
    return lambda rows, seen: [other for row in rows for other in change(row, seen)]


def _with(row: OutputRow, name: str, value: Any) -> OutputRow:
    return (
        replace(row, **{name: value})
        if hasattr(row, name)
        else replace(row, fields={**row.fields, name: value})
    )


def _held(row: OutputRow, name: str) -> Any:
    return getattr(row, name) if hasattr(row, name) else row.fields.get(name)


def _as(kind: str) -> Alter:
    """A change of another kind; as a row, an INSERT without columns."""
    more = {"op": "INSERT", "before": None, "after": {}} if kind == Kind.ROW else _NOTHING
    return _each(
        lambda row, _: [
            replace(row, kind=kind, error="refused" if kind == Kind.CORRUPT else None, **more)
        ]
    )


def _set(name: str, value: Callable[[OutputRow], Any]) -> Alter:
    """Another value of a field or an image, by the row; the very same one is no change."""
    return _each(
        lambda row, _: [
            row if (other := value(row)) is _held(row, name) else _with(row, name, other)
        ]
    )


def _null(*names: str) -> Alter:
    def nulled(row: OutputRow, _seen: Seen) -> Iterable[OutputRow]:
        for name in names:
            row = _with(row, name, None)
        return [row]

    return _each(nulled)


def _join(row: OutputRow, name: str, parts: Iterable[str]) -> Any:
    return ".".join(_held(row, part) or "" for part in parts) if row.fields else _held(row, name)


def _replacing(text: str, other: str, flags: int = 0) -> Callable[[str], str]:
    regex = pattern(text, other, flags)
    return lambda held: regex.sub(other, held)


def _matching(text: str, change: Callable[[str], Any]) -> Callable[[str], Any]:
    """A change of the texts that match as a whole."""
    regex = pattern(text)
    return lambda held: change(held) if regex.fullmatch(held) else held


def _within(held: Any, change: Callable[[str], str]) -> Any:
    """Another text, also in the elements of a list, or in the values of a map."""
    match held:
        case str():
            return change(held)
        case list():
            return [_within(item, change) for item in held]
        case Mapping():
            return {key: _within(member, change) for key, member in held.items()}
    return held


def _in_field(name: str, change: Callable[[str], str]) -> Alter:
    return _set(name, lambda row: _within(_held(row, name), change))


def _in_number(name: str, change: Callable[[int], int]) -> Alter:
    return _set(name, lambda row: None if (held := _held(row, name)) is None else change(held))


def _double(held: Any) -> Any:
    return str(int(float(held))) if isinstance(held, str) and held.isdigit() else held


def _respelled(held: Any, change: Callable[[str], Any]) -> Any:
    if isinstance(held, Typed):
        other = _respelled(held.value, change)
        return other if other is None else Typed(held.family, other)
    return change(held) if isinstance(held, str) else held


def _of_type(cells: Mapping[str, Cell], name: str, kind: str) -> bool:
    cell = cells.get(name)
    return cell is not None and kind in (cell.type.logical, cell.type.name)


def _cellwise(change: Callable[[str, Any, Mapping[str, Cell]], Any]) -> Alter:
    """Changes each cell of an image, by its name, what it holds, and the cells that are owed."""
    return on_images(
        lambda image, cells, _seen: {
            name: change(name, held, cells) for name, held in image.items()
        }
    )


def _spelt(change: Callable[[str], Any], of: str = "") -> Alter:
    """Other texts in an image, or in its cells of a type."""
    return _cellwise(
        lambda name, held, cells: (
            _respelled(held, change) if not of or _of_type(cells, name, of) else held
        )
    )


def _as_text(held: Any) -> Any:
    return Typed("string", str(held.value)) if isinstance(held, Typed) else held


def _columns_lost(text: str) -> Alter:
    lost = pattern(text)
    return _cellwise(lambda name, held, _cells: None if lost.search(name) else held)


def _renamed(change: Callable[[str], str]) -> Alter:
    """Other column names in the images of level one; at level two a lost column is NULL."""

    def image(held: Image, _cells: Mapping[str, Cell], seen: Seen) -> Image:
        if seen.case.level == 1:
            return {change(name): value for name, value in held.items()}
        return {name: value if change(name) == name else None for name, value in held.items()}

    return on_images(image)


def _nulls_as(text: str) -> Alter:
    def image(held: Image, _cells: Mapping[str, Cell], seen: Seen) -> Image:
        other = text if seen.case.level == 1 else Typed("string", text)
        return {name: other if value is None else value for name, value in held.items()}

    return on_images(image)


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trimmed": str.strip,
    "ascii": lambda text: text.encode("ascii", "replace").decode(),
    "latin": lambda text: text.encode("latin-1", "replace").decode("latin-1"),
    "url-decoded": unquote,
}
"""Other spellings of a text."""


WORDS: Final[Mapping[str, Callable[..., Alter]]] = {
    "lost": lambda: lambda _rows, _seen: [],
    "refused": lambda: _as(Kind.CORRUPT.value),
    "as": _as,
    "twice": lambda: _each(lambda row, _: [row, replace(row, row=(row.row or 0) + 1)]),
    "put": lambda name, value: _set(name, lambda _row: value),
    "null": _null,
    "fill": lambda name, source: _set(name, lambda row: _held(row, name) or _held(row, source)),
    "copy": lambda name, source: _set(name, lambda row: _held(row, source)),
    "join": lambda name, *parts: _set(name, lambda row: _join(row, name, parts)),
    "shift": lambda name, by: _in_number(name, lambda held: held + by),
    "times": lambda name, by: _in_number(name, lambda held: held * by),
    "over": lambda name, by: _in_number(name, lambda held: held // by),
    "sub": lambda name, text, other: _in_field(name, _replacing(text, other)),
    "spelt": lambda name, spelling: _in_field(name, SPELLINGS[spelling]),
    "through-a-double": lambda name: _set(name, lambda row: _double(_held(row, name))),
    "texts": lambda text, other: _spelt(_replacing(text, other)),
    "texts-null": lambda text: _spelt(_matching(text, lambda _held: None)),
    "cells": lambda of, text, other: _spelt(_replacing(text, other, re.DOTALL), of),
    "cells-null": lambda of: _cellwise(
        lambda name, held, cells: None if _of_type(cells, name, of) else held
    ),
    "cells-as-text": lambda of: _cellwise(
        lambda name, held, cells: _as_text(held) if _of_type(cells, name, of) else held
    ),
    "nulls-as": _nulls_as,
    "all-null": lambda: _cellwise(lambda *_: None),
    "columns": lambda text, other: _renamed(_replacing(text, other)),
    "columns-spelt": lambda spelling: _renamed(SPELLINGS[spelling]),
    "columns-lost": _columns_lost,
}
"""The operators with arguments, by name: `fill` gives a field that is NULL or empty another's
value, `join` the fields' values with dots between; `sub` replaces what matches in a field, `texts`
in an image, `cells` in cells of a logical type or of a type's name, `columns` in names.
"""
_PARTS: Final = ("row", "kind", "op", "error", *_IMAGES, *ENVELOPE)
_TYPES: Final = {
    type.name
    for s in SOURCES.values()
    for type in (*s.types.values(), *chain.from_iterable(s.families))
}
ARGUMENTS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("name", "names", "parts", "source"), _PARTS),
    **dict.fromkeys(("text", "other"), str),
    "value": object,
    "by": int,
    "kind": tuple(Kind),
    "spelling": tuple(SPELLINGS),
    "of": (*Logical, *sorted(_TYPES)),
}
"""What the operators may be given."""


def alter_of(does: list[Any], conditions: Mapping[str, Any]) -> Alter:
    """What a table tells: a word with what it is given, or several of these, one after the other,
    for the rows that fulfil the conditions. Raises UsageError.
    """
    checked(conditions, CONDITIONS, what="condition")
    steps = [
        called(step, "operator", WORDS, ARGUMENTS)
        for step in (does if isinstance(does[0], list) else [does])
    ]

    def alter(rows: Rows, seen: Seen) -> Rows:
        for step in steps:
            rows = step(rows, seen)
        return rows

    return when(alter if len(steps) > 1 else steps[0], conditions)
