"""Operators with arguments, and the conditions under which a liar applies its operator: the words of the table of liars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from conformance.judging.compare import Typed
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.selftest.operators.operator import Alter, Image, Rows, Seen, on_images
from generators.model import Cell, Kind

One: TypeAlias = Callable[[OutputRow, Seen], Iterable[OutputRow]]
_IMAGES: Final = ("before", "after")
CONDITIONS: Final = ("message", "null", "tag", "profile", "kind", "op", "column", "lacks", "again", *ENVELOPE)
"""What a condition may be about."""
_NOTHING: Final[Mapping[str, Any]] = {"op": None, "before": None, "after": None}


def when(alter: Alter, conditions: Mapping[str, str]) -> Alter:
    """The operator for the rows that fulfil all conditions; for several rows of a message it is asked about each.

    A condition is a regular expression, by what it is about: `message` (its value, a character for each byte), `null` (any: the
    value is null), `tag`, `profile`, `kind`, `op`, `column` (a name in an image), a field's name, `lacks` (the name of a field or
    an image that is NULL or empty), `again` (the name of a field that a row of the message before has with the same value).
    """
    if not conditions:
        return alter

    def some(rows: Rows, seen: Seen) -> Rows:
        if not rows:
            return alter(rows, seen) if _message(conditions, seen) else rows
        out: list[OutputRow] = []
        for row in rows:
            out += alter([row], seen) if _message(conditions, seen) and _fulfils(row, conditions, seen) else [row]
        return out

    return some


def _message(conditions: Mapping[str, str], seen: Seen) -> bool:
    value = seen.message and seen.message.value
    if "null" in conditions and value is not None:
        return False
    if "tag" in conditions and not any(re.search(conditions["tag"], tag) for tag in seen.case.tags):
        return False
    if "profile" in conditions and not re.search(conditions["profile"], seen.case.profile):
        return False
    return "message" not in conditions or (value is not None and bool(re.search(conditions["message"], seen.text, re.DOTALL)))


def _fulfils(row: OutputRow, conditions: Mapping[str, str], seen: Seen) -> bool:
    def fine(about: str, pattern: str) -> bool:
        match about:
            case "null" | "tag" | "profile" | "message":
                return True
            case "kind" | "op":
                return bool(re.fullmatch(pattern, getattr(row, about) or ""))
            case "column":
                return any(re.search(pattern, name) for side in _IMAGES for name in getattr(row, side) or ())
            case "lacks":
                return not (getattr(row, pattern) if pattern in _IMAGES else row.fields.get(pattern))
            case "again":
                value = row.fields.get(pattern)
                return value is not None and any(one.fields.get(pattern) == value for one in seen.before)
        return bool(re.search(pattern, str(row.fields.get(about) or "")))

    return all(fine(about, pattern) for about, pattern in conditions.items())


def _each(one: One) -> Alter:
    return lambda rows, seen: [other for row in rows for other in one(row, seen)]


def _with(row: OutputRow, name: str, value: Any) -> OutputRow:
    return replace(row, **{name: value}) if hasattr(row, name) else replace(row, fields={**row.fields, name: value})


def _held(row: OutputRow, name: str) -> Any:
    return getattr(row, name) if hasattr(row, name) else row.fields.get(name)


def _as(kind: str) -> Alter:
    """A change of another kind; as a row, an INSERT without columns."""
    more = {"op": "INSERT", "before": None, "after": {}} if kind == Kind.ROW else _NOTHING
    return _each(lambda row, _: [replace(row, kind=kind, error="refused" if kind == Kind.CORRUPT else None, **more)])


def _set(name: str, value: Callable[[OutputRow], Any]) -> Alter:
    """Another value of a field or an image, by the row; the very same one is no change."""
    return _each(lambda row, _: [row if (other := value(row)) is _held(row, name) else _with(row, name, other)])


def _null(*names: str) -> Alter:
    def one(row: OutputRow, _seen: Seen) -> Iterable[OutputRow]:
        for name in names:
            row = _with(row, name, None)
        return [row]

    return _each(one)


def _join(row: OutputRow, name: str, parts: Iterable[str]) -> Any:
    return ".".join(_held(row, part) or "" for part in parts) if row.fields else _held(row, name)


def _moved(held: Any, by: int) -> Any:
    return held if held is None else held + by


def _replaced(held: Any, pattern: str, other: str) -> Any:
    """Another text for what matches in a text, in the elements of a list, or in the values of a map."""
    match held:
        case str():
            return re.sub(pattern, other, held)
        case list():
            return [_replaced(one, pattern, other) for one in held]
        case Mapping():
            return {key: _replaced(one, pattern, other) for key, one in held.items()}
    return held


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


def _spelt(change: Callable[[str], Any], kind: str = "") -> Alter:
    """Other texts in an image, or in its cells of a type."""
    return on_images(
        lambda image, cells, _seen: {
            n: _respelled(h, change) if not kind or _of_type(cells, n, kind) else h for n, h in image.items()
        }
    )


def _cells_as_text(kind: str) -> Alter:
    """Typed cells of a type as texts."""

    def change(image: Image, cells: Mapping[str, Cell], _seen: Seen) -> Image:
        texts = {n: Typed("string", str(h.value)) for n, h in image.items() if isinstance(h, Typed) and _of_type(cells, n, kind)}
        return {**image, **texts}

    return on_images(change)


WORDS: Final[Mapping[str, Callable[..., Alter]]] = {
    "lost": lambda: lambda _rows, _seen: [],
    "refused": lambda: _as(Kind.CORRUPT.value),
    "as": _as,
    "twice": lambda: _each(lambda row, _: [row, replace(row, row=(row.row or 0) + 1)]),
    "put": lambda name, value: _set(name, lambda _row: value),
    "null": _null,
    "fill": lambda name, other: _set(name, lambda row: _held(row, name) or _held(row, other)),
    "copy": lambda name, other: _set(name, lambda row: _held(row, other)),
    "join": lambda name, *parts: _set(name, lambda row: _join(row, name, parts)),
    "shift": lambda name, by: _set(name, lambda row: _moved(_held(row, name), by)),
    "sub": lambda name, pattern, other: _set(name, lambda row: _replaced(_held(row, name), pattern, other)),
    "through-a-double": lambda name: _set(name, lambda row: _double(_held(row, name))),
    "texts": lambda pattern, other: _spelt(lambda text: re.sub(pattern, other, text)),
    "texts-null": lambda pattern: _spelt(lambda text: None if re.fullmatch(pattern, text) else text),
    "cells": lambda kind, pattern, other: _spelt(lambda text: re.sub(pattern, other, text, flags=re.DOTALL), kind),
    "cells-null": lambda kind: on_images(
        lambda image, cells, _: {n: None if _of_type(cells, n, kind) else h for n, h in image.items()}
    ),
    "cells-as-text": _cells_as_text,
    "nulls-as": lambda text: on_images(lambda image, *_: {name: text if held is None else held for name, held in image.items()}),
    "all-null": lambda: on_images(lambda image, *_: dict.fromkeys(image)),
    "columns": lambda pattern, other: on_images(lambda image, *_: {re.sub(pattern, other, n): held for n, held in image.items()}),
    "columns-lost": lambda pattern: on_images(
        lambda image, *_: {n: None if re.search(pattern, n) else h for n, h in image.items()}
    ),
}
"""The operators with arguments, by name: `fill` gives a field that is NULL or empty another's value, `join` the fields' values
with dots between; `sub` replaces what matches in a field, `texts` in an image, `cells` in cells of a logical type or of a type's
name, `columns` in names at level one."""
