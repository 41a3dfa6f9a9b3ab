"""A Canal flat message in plain Python: what the batches of `canal` leave over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spark_checks.decoders.families.canal import ROW_TYPES

__all__ = ["ROW_TYPES", "Dialect", "Row", "Unreadable", "keys_of_old", "rows"]

_LONG: Final = 1 << 63
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Image = Mapping[str, str | None]


class Unreadable(Exception):
    """Not one well-formed message of the format."""


class _Number(str):
    """The text of a JSON number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a format differs. `other` is whether a message that is no row change is one that the format has; `extra` are members
    beside the common ones by their kinds, `long` or an object of such; `states_ddl`: a row change has `isDdl` false, absence is
    a fault; `binary_codes`: sqlType tells how a binary is written."""

    other: Callable[[Mapping[str, Any]], bool]
    extra: Mapping[str, Any] = field(default_factory=dict)
    states_ddl: bool = False
    binary_codes: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row change: texts by column, None for NULL; `before` of an UPDATE is `old` over `data`, None where `old` says nothing of
    the row. `codes` are the sqlTypes."""

    op: str
    before: Image | None
    after: Image | None
    codes: Mapping[str, int]


def rows(value: bytes | None, dialect: Dialect, database: str, table: str) -> list[Row]:
    """The row changes of a table in a message: none if it is another table's or no row change. Raises Unreadable."""
    m = _message(value)
    for name, kind in {**_COMMON, **dialect.extra}.items():
        if not _is(m.get(name), kind):
            raise Unreadable
    if not _has_rows(m, dialect):
        if dialect.other(m):
            return []
        raise Unreadable
    data, old = _images(m["data"]), _images(m.get("old"))
    if (m.get("database"), m.get("table")) != (database, table):
        return []
    codes = {name: int(code) for name, code in (m.get("sqlType") or {}).items() if isinstance(code, _Number) and code.isdigit()}
    paired = m["type"] == "UPDATE" and len(old) == len(data)
    return [_row(m["type"], image, old[i] if paired else None, codes) for i, image in enumerate(data) if image is not None]


def keys_of_old(value: bytes) -> list[frozenset[str]]:
    """The columns that each element of a well-formed message's `old` names."""
    return [frozenset(image or ()) for image in json.loads(value)["old"]]


def _row(op: str, image: Image, old: Image | None, codes: Mapping[str, int]) -> Row:
    if op == "DELETE":
        return Row(op, image, None, codes)
    return Row(op, None if old is None else {**image, **old}, image, codes)


def _message(value: bytes | None) -> dict[str, Any]:
    if value is None:
        raise Unreadable
    text = value.decode("utf-8", "replace")
    try:
        # Canal 1.1.6 writes raw control characters.
        m = json.loads(text, strict=False, parse_int=_Number, parse_float=_Number, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(m, dict):
        raise Unreadable
    return m


def _constant(_name: str) -> None:
    raise ValueError


def _has_rows(m: Mapping[str, Any], dialect: Dialect) -> bool:
    ddl = m.get("isDdl")
    stated = ddl is False or (ddl is None and not dialect.states_ddl)
    return stated and m.get("type") in ROW_TYPES and bool(m.get("data")) and None not in m["data"]


def _images(images: list[dict[str, Any] | None] | None) -> list[Image | None]:
    return [None if image is None else {name: _text(value) for name, value in image.items()} for image in images or ()]


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        raise Unreadable
    return value if value is None else _SURROGATE.sub("\ufffd", value)


def _long(value: Any) -> bool:
    return isinstance(value, _Number) and re.fullmatch(r"-?\d+", value, re.ASCII) is not None and -_LONG <= int(value) < _LONG


def _string(value: Any) -> bool:
    return isinstance(value, str)


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "long": _long,
    "string": _string,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "strings": lambda value: isinstance(value, list) and all(v is None or isinstance(v, str) for v in value),
    "images": lambda value: isinstance(value, list) and all(v is None or isinstance(v, dict) for v in value),
}
_COMMON: Final[Mapping[str, Any]] = {
    "id": "long",
    "database": "string",
    "table": "string",
    "pkNames": "strings",
    "isDdl": "boolean",
    "type": "string",
    "es": "long",
    "ts": "long",
    "sql": "string",
    "sqlType": "object",
    "mysqlType": "object",
    "data": "images",
    "old": "images",
}


def _is(value: Any, kind: Any) -> bool:
    """Whether a member is null or of its kind of JSON value."""
    if value is None:
        return True
    if isinstance(kind, Mapping):
        return isinstance(value, dict) and all(_is(value.get(name), inner) for name, inner in kind.items())
    return _KINDS[kind](value)
