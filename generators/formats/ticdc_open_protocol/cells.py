"""Columns, framing and JSON of TiCDC's Open Protocol: pure functions from the model's values to
wire bytes.

Facts: ticdc-open#framing, #columns, #flags, #binaries, #texts, #numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from generators.families.ticdc import text
from generators.families.ticdc.sink import handle_key
from generators.families.wire_messages import ABSENT, Raw
from generators.model import Cell, Column, Logical, SourceType, State, Table, Value
from generators.sources.type_numbers import type_numbers

VERSION: Final = (1).to_bytes(8, "big")
"""The version of the protocol, with which each key begins."""
BASE64: Final = frozenset(
    f"{size}{kind}" for size in ("tiny", "", "medium", "long") for kind in ("text", "blob")
)
"""Types whose values are base64, the texts among them too."""
_TYPE_NUMBERS: Final = type_numbers("ticdc_open")
_ESCAPED: Final = dict(
    zip('\a\b\f\n\r\t\v\\"', (f"\\{letter}" for letter in 'abfnrtv\\"'), strict=True)
)
"""The characters that Go's strconv.Quote escapes with a letter of their own."""


def join_events(parts: Iterable[bytes | str]) -> bytes:
    """These parts of a record's key or value, one after the other, each behind its length in eight
    bytes.
    """
    raw = (part.encode() if isinstance(part, str) else part for part in parts)
    return b"".join(len(part).to_bytes(8, "big") + part for part in raw)


def key_of(parts: Iterable[str]) -> bytes:
    """The bytes of a record's key: the version, then each event's key behind its length."""
    return VERSION + join_events(parts)


def split_events(value: bytes) -> list[bytes] | None:
    """The parts of a record's value, without their lengths; None if the bytes are not such a
    value.
    """
    parts, place = [], 0
    while place < len(value):
        size = int.from_bytes(value[place : place + 8], "big")
        if place + 8 + size > len(value):
            return None
        parts.append(value[place + 8 : place + 8 + size])
        place += 8 + size
    return parts


def go_quoted(value: bytes) -> str:
    """The text of these bytes as Go's `strconv.Quote` prints it, without the quotes: with escapes
    for what is not printable and for each byte that is no UTF-8.
    """
    return "".join(map(_quoted, value.decode("utf-8", "surrogateescape")))


def _quoted(char: str) -> str:
    """A character as Go's strconv.Quote escapes it. A lone surrogate from U+DC80 to U+DCFF stands
    for a byte that is no UTF-8, which is escaped as that byte.
    """
    code = ord(char)
    if char in _ESCAPED:
        return _ESCAPED[char]
    if 0xDC80 <= code <= 0xDCFF or code < 0x20 or code == 0x7F:
        return f"\\x{code & 0xFF:02x}"
    if char.isprintable():
        return char
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def flags(table: Table, column: Column) -> int:
    """The bit flags of a column: binary, handle key, generated, primary key, unique key, several
    columns, nullable, unsigned. The first column of an index that is not unique counts as one of
    several columns, too (ticdc-open#columns).
    """
    kind, name = column.type, column.name
    plain_indexes = [index.columns for index in table.indexes if not index.unique]
    starts_index = any(columns[0] == name for columns in plain_indexes)
    keys = (table.primary_key, *table.unique, *plain_indexes)
    bits = (
        kind.logical not in (Logical.TEXT, Logical.ENUM, Logical.SET) or kind.name == "vector",
        name in handle_key(table),
        bool(column.generated),
        name in table.primary_key,
        any(name in key for key in table.unique),
        starts_index or any(name in key and len(key) > 1 for key in keys),
        column.nullable and name not in table.primary_key,
        kind.unsigned or kind.logical in (Logical.BIT, Logical.YEAR),
    )
    return sum(1 << bit for bit, is_set in enumerate(bits) if is_set)


class WireCell(NamedTuple):
    """A column's value as JSON, and the cell that a decoder owes for it."""

    json: str
    expected: Cell


def cell(type: SourceType, stored: Value, time_zone: str, *, html: bool, short: bool) -> WireCell:
    """A column's value as JSON, and the cell that a decoder owes for it. `stored` is the value as
    TiDB stores it. Integers, floats, YEAR, BIT, ENUM and SET are JSON numbers (cells with `json`,
    compared as values). All else but NULL is a JSON string, quoted as `escaped` does: with `html`
    as Go's encoding/json, else as json-iterator; `short`: encoding/json escapes backspace and form
    feed with two characters.
    """
    if stored is None:
        return WireCell("null", Cell(State.NULL, type))
    value = text.canonical(type, stored)
    cls = text.value_class(type, value)
    match type.logical, value:
        case Logical.TIMESTAMP, int():
            zoned = text.zoned(Cell(State.VALUE, type, value, cls=cls), value, time_zone)
            return WireCell(f'"{zoned.text}"', zoned)
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            print_number = text.json_number if html else text.iterator_number
            wire_text = print_number(value, single=type.logical is Logical.FLOAT)
            return WireCell(wire_text, Cell(State.VALUE, type, value, wire_text, cls, json=True))
        case ((Logical.INT | Logical.YEAR | Logical.BIT | Logical.ENUM | Logical.SET), int()):
            return WireCell(str(value), Cell(State.VALUE, type, value, str(value), cls, json=True))
        case ((Logical.TEXT | Logical.BINARY), str() | bytes()) if type.name in BASE64:
            raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
            wire_text = base64.b64encode(raw).decode()
        case Logical.BINARY, bytes():
            wire_text = go_quoted(value)
        case _:
            wire_text = text.value_text(type, value)
    expected = Cell(State.VALUE, type, value, wire_text, cls)
    return WireCell(escaped(wire_text, html=html, short=short), expected)


def escaped(value: str, *, html: bool, short: bool) -> str:
    """A text as a JSON string: as Go's encoding/json prints it with `html`, as json-iterator does
    without. `short` says that encoding/json has escapes of two characters for backspace and form
    feed.
    """
    return text.escape(value, short=short) if html else text.iterator_string(value)


def column_members(table: Table, column: Column, value_json: str) -> dict[str, Any]:
    """The members of a column in a row: its type, whether it is in the handle key, its flags and
    its value.
    """
    return {
        "t": _TYPE_NUMBERS[column.type.name],
        "h": True if column.name in handle_key(table) else ABSENT,
        "f": flags(table, column),
        "v": Raw(value_json),
    }
