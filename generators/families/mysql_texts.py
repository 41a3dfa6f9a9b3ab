"""MySQL values as JSON writers of several vendors spell them: everything a text or null, after
MySQL's and Java's own text forms.

The vendors document little of it (cloudcanal#values-open), so a writer states its choices as
`TextForms`, and a text that a careful reader could take for another value too gives a cell that
allows both.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from generators.families.canal import scaled_text, wire
from generators.model import Cell, Image, Logical, Row, SourceType, State, Table, Value, ZeroDate
from generators.sources import mysql

LATIN1: Final = ""
HEX: Final = "hex"
BASE64: Final = "base64"
PREFIXED_HEX: Final = "0x"
"""How binaries are spelled (`Deployment.binary` where a reader has to be told): ISO-8859-1 as Canal
does it, hexadecimal digits, base64, or `0x` and hexadecimal digits.
"""

TYPE_NUMBERS: Final = {
    "tinyint": 1,
    "smallint": 2,
    "int": 3,
    "float": 4,
    "double": 5,
    "timestamp": 7,
    "bigint": 8,
    "mediumint": 9,
    "date": 10,
    "time": 11,
    "datetime": 12,
    "year": 13,
    "bit": 16,
    "json": 245,
    "decimal": 246,
    "enum": 247,
    "set": 248,
    **dict.fromkeys(("tinytext", "tinyblob"), 249),
    **dict.fromkeys(("mediumtext", "mediumblob"), 250),
    **dict.fromkeys(("longtext", "longblob"), 251),
    **dict.fromkeys(("text", "blob"), 252),
    **dict.fromkeys(("varchar", "varbinary"), 253),
    **dict.fromkeys(("char", "binary"), 254),
    **dict.fromkeys(mysql.SPATIAL, 255),
}
"""The numbers of MySQL's types in its protocol."""

BIT_DOUBT: Final = "the text is a decimal number and a row of binary digits"
LABEL_DOUBT: Final = (
    "the text is a label and also an index or a mask, or the empty label and the empty value"
)
EPOCH_DOUBT: Final = "zero milliseconds are the zero value or 1970-01-01 00:00:00"
TRUNCATED: Final = "the writer keeps milliseconds"


@dataclass(frozen=True, slots=True)
class TextForms:
    """A writer's choices. `time_zone` renders TIMESTAMP; `labels` writes ENUM and SET as labels,
    else as index and mask.

    `timestamp` is "" (fraction digits of the column), "millis" (always three), "cut" (the column's,
    at most three) or "epoch" (milliseconds since 1970). `time_digits` is the number of fraction
    digits of TIME, None for the column's. The other fields are those of `canal.ValueFacts`.
    """

    time_zone: str
    binary: str = LATIN1
    upper_hex: bool = False
    labels: bool = False
    timestamp: str = ""
    time_digits: int | None = None
    lob_null_codes: bool = True
    boolean_code: int = -6
    time_sign_lost: bool = False
    hundred_hours_lost: bool = False
    old_time: bool = False


def cell(type: SourceType, value: Value, forms: TextForms) -> Cell:
    """A column's value as it stands on the wire (`text`, None for JSON null) and what it is worth.
    Raises TypeError for a value that the type does not have.
    """
    if value is None:
        return Cell(State.NULL, type)
    match type.logical, value:
        case Logical.TIMESTAMP, int() | ZeroDate() if forms.timestamp:
            return _millis(type, value, forms)
        case Logical.TIME, int() if forms.time_digits is not None:
            base = wire(type, value, forms).cell
            return replace(base, text=mysql.time_text(value, max(type.fsp, forms.time_digits)))
        case Logical.DECIMAL, Decimal():
            return replace(wire(type, value, forms).cell, text=scaled_text(value, type.scale or 0))
        case Logical.BINARY, bytes():
            base = wire(type, value, forms).cell
            assert isinstance(base.value, bytes)
            return replace(base, text=binary_text(base.value, forms.binary, forms.upper_hex))
        case ((Logical.ENUM | Logical.SET), int()) if forms.labels:
            return _labels(type, value)
        case Logical.BIT, int():
            return _bits(wire(type, value, forms).cell)
    return wire(type, value, forms).cell


def image(table: Table, row: Row | None, forms: TextForms) -> Image | None:
    """A row as it stands on the wire: every column of the table, NULL where the row has none; None
    without a row.
    """
    return (
        None
        if row is None
        else {
            column.name: cell(column.type, row.get(column.name), forms) for column in table.columns
        }
    )


def supports(type: SourceType) -> bool:
    """Whether it is a MySQL type: each has a text."""
    return type.source == "mysql"


def binary_text(value: bytes, form: str, upper: bool = False) -> str:
    """Bytes in one of the spellings above."""
    match form:
        case "hex" | "0x":
            digits = value.hex().upper() if upper else value.hex()
            return f"0x{digits}" if form == PREFIXED_HEX else digits
        case "base64":
            return base64.b64encode(value).decode()
        case _:
            return value.decode("latin-1")


_BINARY_DIGITS: Final = re.compile(r"[01]{2,}")


def _bits(base: Cell) -> Cell:
    text = base.text or ""
    if not _BINARY_DIGITS.fullmatch(text) or len(text) > (base.type.length or 1):
        return base
    return _either(base, (base.value, int(text, 2)), BIT_DOUBT)


def _labels(type: SourceType, value: int) -> Cell:
    members = type.members
    if type.logical is Logical.ENUM:
        text = members[value - 1] if value else ""
        options = {i for i, member in enumerate(members, 1) if member == text} | (
            {0} if not text else set()
        )
    else:
        text = ",".join(member for i, member in enumerate(members) if value >> i & 1)
        options = {value}
    if text.isascii() and text.isdigit() and int(text) <= (type.high or 0):
        options.add(int(text))
    base = Cell(State.VALUE, type, value, text, mysql.value_class(type, value))
    return _either(base, tuple(sorted(options)), LABEL_DOUBT)


def _millis(type: SourceType, value: int | ZeroDate, forms: TextForms) -> Cell:
    cls = mysql.value_class(type, value)
    if isinstance(value, ZeroDate):
        if forms.timestamp == "epoch":
            return _either(Cell(State.VALUE, type, value, "0", cls), (value, 0), EPOCH_DOUBT)
        return Cell(State.VALUE, type, value, mysql.datetime_text(value, _digits(type, forms)), cls)
    kept = value // 1000 * 1000
    reason = "" if kept == value else TRUNCATED
    if forms.timestamp == "epoch":
        return Cell(State.VALUE, type, kept, str(kept // 1000), cls, reason=reason)
    base = wire(mysql.temporal("timestamp", _digits(type, forms)), kept, forms).cell
    return replace(base, type=type, cls=cls, reason=base.reason or reason)


def _digits(type: SourceType, forms: TextForms) -> int:
    return min(type.fsp, 3) if forms.timestamp == "cut" else 3


def _either(base: Cell, options: tuple[Value, ...], reason: str) -> Cell:
    if len(set(options)) < 2:
        return base
    return replace(base, state=State.ONE_OF, options=options, reason=reason)
