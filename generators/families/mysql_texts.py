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
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from generators.families.java_text import (
    document_text,
    double_text,
    float_text,
    java_decimal,
    unscaled,
)
from generators.model import (
    Cell,
    Image,
    Json,
    Logical,
    Row,
    SourceType,
    State,
    Table,
    Value,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.type_numbers import type_numbers

LATIN1: Final = ""
HEX: Final = "hex"
BASE64: Final = "base64"
PREFIXED_HEX: Final = "0x"
"""How binaries are spelled (`Deployment.binary` where a reader has to be told): ISO-8859-1 as Canal
does it, hexadecimal digits, base64, or `0x` and hexadecimal digits.
"""

_OWN_TYPES: Final = type_numbers("java")
"""The numbers of `java.sql.Types` of MySQL's types, by type; spatial ones have none."""
TYPE_NUMBERS: Final = type_numbers("protocol")
"""The numbers of MySQL's types in its protocol."""

BIT_DOUBT: Final = "the text is a decimal number and a row of binary digits"
LABEL_DOUBT: Final = (
    "the text is a label and also an index or a mask, or the empty label and the empty value"
)
EPOCH_DOUBT: Final = "zero milliseconds are the zero value or 1970-01-01 00:00:00"
TRUNCATED: Final = "the writer keeps milliseconds"
_AMBIGUOUS: Final = "the hour occurs twice in the server's time zone"
"""Why a TIMESTAMP's text has two readings."""


class TextFacts(Protocol):
    """What of a writer's release decides how MySQL's values are spelled; the fields are those of
    `alibaba_canal_json.CanalProfile`.
    """

    @property
    def time_sign_lost(self) -> bool:
        """Whether a negative TIME loses its sign below one second."""

    @property
    def hundred_hours_lost(self) -> bool:
        """Whether a TIME of 100 hours and more is read as 0."""

    @property
    def old_time(self) -> bool:
        """Whether the writer renders TIME as the old release of Canal does."""

    @property
    def time_zone(self) -> str:
        """The zone in which TIMESTAMP is written."""


@dataclass(frozen=True, slots=True)
class TextForms:
    """How a writer spells MySQL's values, where products differ. `time_zone` is that in which
    TIMESTAMP is written. `binary` is one of LATIN1, HEX, BASE64 and PREFIXED_HEX. `labels` writes
    ENUM and SET as labels, else as index and mask.

    `timestamp` is "" (fraction digits of the column), "millis" (always three), "cut" (the column's,
    at most three) or "epoch" (milliseconds since 1970). `time_digits` is the number of fraction
    digits of TIME, None for the column's. The other fields are those of `TextFacts`.
    """

    time_zone: str
    binary: str = LATIN1
    upper_hex: bool = False
    labels: bool = False
    timestamp: str = ""
    time_digits: int | None = None
    time_sign_lost: bool = False
    hundred_hours_lost: bool = False
    old_time: bool = False


def cell(type: SourceType, value: Value, forms: TextForms) -> Cell:
    """A column's value as a message spells it (`text`, None for JSON null), with what a decoder
    must return for it. Raises TypeError for a value that the type does not have.
    """
    if value is None:
        return Cell(State.NULL, type)
    match type.logical, value:
        case Logical.TIMESTAMP, int() | ZeroDate() if forms.timestamp:
            return _millisecond_cell(type, value, forms)
        case Logical.TIME, int() if forms.time_digits is not None:
            base = value_cell(type, value, forms)
            return replace(base, text=mysql.time_text(value, max(type.fsp, forms.time_digits)))
        case Logical.DECIMAL, Decimal():
            return replace(value_cell(type, value, forms), text=scaled_text(value, type.scale or 0))
        case Logical.BINARY, bytes():
            base = value_cell(type, value, forms)
            assert isinstance(base.value, bytes)
            return replace(base, text=binary_text(base.value, forms.binary, forms.upper_hex))
        case ((Logical.ENUM | Logical.SET), int()) if forms.labels:
            return _label_cell(type, value)
        case Logical.BIT, int():
            return _bit_cell(value_cell(type, value, forms))
    return value_cell(type, value, forms)


def wire_image(table: Table, source_row: Row | None, forms: TextForms) -> Image | None:
    """The image that a decoder must return for a row, with the texts in the message: a cell for
    every column of the table, NULL where the row has no value; None without a row.
    """
    return (
        None
        if source_row is None
        else {
            column.name: cell(column.type, source_row.get(column.name), forms)
            for column in table.columns
        }
    )


def supports(type: SourceType) -> bool:
    """Whether this module has texts for the values of the type: it has them for every type of MySQL
    but the spatial ones.
    """
    return type.source == "mysql" and type.name in _OWN_TYPES


def binary_text(value: bytes, spelling: str, upper: bool = False) -> str:
    """The text of bytes: hex digits for the spelling `hex`, 0x and hex digits for `0x`, base64 for
    `base64`, else one character of Latin-1 for each byte. `upper` writes hex digits in upper case.
    """
    match spelling:
        case "hex" | "0x":
            digits = value.hex().upper() if upper else value.hex()
            return f"0x{digits}" if spelling == PREFIXED_HEX else digits
        case "base64":
            return base64.b64encode(value).decode()
        case _:
            return value.decode("latin-1")


_BINARY_DIGITS: Final = re.compile(r"[01]{2,}")


def _bit_cell(base: Cell) -> Cell:
    """The cell `base` of a BIT, which is written as a decimal number. If its digits could also be
    read as binary digits, both values are allowed.
    """
    digits = base.text or ""
    if not _BINARY_DIGITS.fullmatch(digits) or len(digits) > (base.type.length or 1):
        return base
    return _allow_values(base, (base.value, int(digits, 2)), BIT_DOUBT)


def _label_cell(type: SourceType, value: int) -> Cell:
    """The cell of an ENUM or SET that is written by its labels, for the index or mask `value`. If
    the text is also a number, or the empty label and the empty value have the same text, all
    readings are allowed.
    """
    members = type.members
    if type.logical is Logical.ENUM:
        label_text = members[value - 1] if value else ""
        options = {i for i, member in enumerate(members, 1) if member == label_text} | (
            {0} if not label_text else set()
        )
    else:
        label_text = ",".join(member for i, member in enumerate(members) if value >> i & 1)
        options = {value}
    if label_text.isascii() and label_text.isdigit() and int(label_text) <= (type.high or 0):
        options.add(int(label_text))
    base = Cell(State.VALUE, type, value, label_text, mysql.value_class(type, value))
    return _allow_values(base, tuple(sorted(options)), LABEL_DOUBT)


def _millisecond_cell(type: SourceType, value: int | ZeroDate, forms: TextForms) -> Cell:
    """The cell of a TIMESTAMP that is written to the millisecond, as a text or as milliseconds
    since 1970. Finer digits are lost.
    """
    cls = mysql.value_class(type, value)
    if isinstance(value, ZeroDate):
        if forms.timestamp == "epoch":
            return _allow_values(Cell(State.VALUE, type, value, "0", cls), (value, 0), EPOCH_DOUBT)
        return Cell(State.VALUE, type, value, mysql.datetime_text(value, _digits(type, forms)), cls)
    kept_micros = value // 1000 * 1000
    reason = "" if kept_micros == value else TRUNCATED
    if forms.timestamp == "epoch":
        return Cell(State.VALUE, type, kept_micros, str(kept_micros // 1000), cls, reason=reason)
    base = value_cell(mysql.temporal("timestamp", _digits(type, forms)), kept_micros, forms)
    return replace(base, type=type, cls=cls, reason=base.reason or reason)


def _digits(type: SourceType, forms: TextForms) -> int:
    """How many fraction digits the text of a TIMESTAMP has that is written to the millisecond."""
    return min(type.fsp, 3) if forms.timestamp == "cut" else 3


def _allow_values(base: Cell, options: tuple[Value, ...], reason: str) -> Cell:
    """The cell `base` as one for which a decoder may return any of the values `options`, since its
    text may stand for each of them; `base` itself if they are all the same.
    """
    if len(set(options)) < 2:
        return base
    return replace(base, state=State.ONE_OF, options=options, reason=reason)


def value_cell(type: SourceType, value: Value, facts: TextFacts) -> Cell:
    """The cell of a value as MySQL and Java spell it: its text in the message, and the value that a
    decoder must return for that text. `facts` says how the writer's release spells some types.
    Raises TypeError for a value that the type does not have.
    """
    if value is None:
        return Cell(State.NULL, type)
    wire_text, meant_value, reason = _encode(type, value, facts)
    cls = mysql.value_class(type, value)
    if type.logical is Logical.TIMESTAMP and isinstance(value, int):
        instants = _instants(wire_text, facts.time_zone)
        if len(instants) > 1:
            return Cell(
                State.ONE_OF, type, value, wire_text, cls, options=instants, reason=_AMBIGUOUS
            )
    return Cell(State.VALUE, type, meant_value, wire_text, cls, reason=reason)


class SpelledValue(NamedTuple):
    """A value as a message spells it: its text, the value that a reader gets from the text, and why
    that is not the source's value ("" if it is).
    """

    text: str
    value: Value
    reason: str = ""


def _encode(type: SourceType, value: Value, facts: TextFacts) -> SpelledValue:
    """How a value of MySQL is written. Raises TypeError for a value that the type does not have."""
    match type.logical, value:
        case Logical.DECIMAL, Decimal():
            return SpelledValue(decimal_text(value, type.scale or 0), value)
        case Logical.FLOAT, float():
            return SpelledValue(float_text(value), value)
        case Logical.DOUBLE, float():
            return SpelledValue(double_text(value), value)
        case Logical.TEXT, str():
            return _stored_text(type, value)
        case Logical.BINARY, bytes():
            kept_bytes = value.rstrip(b"\0") if type.name == "binary" else value
            reason = (
                ""
                if kept_bytes == value
                else "MySQL's row format strips trailing zero bytes and Canal does not pad"
            )
            return SpelledValue(kept_bytes.decode("latin-1"), kept_bytes, reason)
        case Logical.DATE, date() | ZeroDate():
            return SpelledValue(mysql.date_text(value), value)
        case Logical.DATETIME, int() | ZeroDate():
            return SpelledValue(mysql.datetime_text(value, type.fsp), value)
        case Logical.TIMESTAMP, int() | ZeroDate():
            return SpelledValue(timestamp_text(value, type.fsp, facts.time_zone), value)
        case Logical.TIME, int():
            return _spell_time(value, type.fsp, facts)
        case Logical.YEAR, int():
            return SpelledValue(f"{value:04d}", value)
        case Logical.JSON, Json():
            return SpelledValue(json_text(value.value), value)
        case ((Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET), int()):
            return SpelledValue(str(value), value)
    raise TypeError(f"{value!r} is no value of {type.key}")


def decimal_text(value: Decimal, scale: int) -> str:
    """DECIMAL as Canal prints it: the digits after the last full group of nine are dropped when
    they are all zero (canal#decimals).
    """
    digits, last_group = scaled_text(value, scale), scale % 9
    if last_group and not digits[-last_group:].strip("0"):
        digits = digits[:-last_group]
    return f"{digits}0" if digits.endswith(".") else digits


def scaled_text(value: Decimal, scale: int) -> str:
    """DECIMAL with every digit of its scale."""
    return java_decimal(unscaled(value, scale), scale, plain=True)


def _stored_text(type: SourceType, value: str) -> SpelledValue:
    """How a value of a text type is written. The text is what MySQL stores, so a reader gets the
    same: CHAR loses trailing spaces, a surrogate alone becomes `?`.
    """
    stored = value
    reasons: list[str] = []
    if type.name == "char" and value.endswith(" "):
        stored = value.rstrip(" ")
        reasons.append("MySQL strips the trailing spaces of CHAR")
    if any("\ud800" <= c <= "\udfff" for c in stored):
        stored = "".join("?" if "\ud800" <= c <= "\udfff" else c for c in stored)
        reasons.append("a lone surrogate is written as ?")
    return SpelledValue(stored, stored, "; ".join(reasons))


def timestamp_text(value: int | ZeroDate, fsp: int, zone: str) -> str:
    """A TIMESTAMP, in microseconds since 1970, as the wall clock of Canal's JVM prints it; a zero
    date as it is.
    """
    if isinstance(value, ZeroDate):
        return mysql.datetime_text(value, fsp)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
    local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
    return mysql.datetime_text((local - mysql.EPOCH) // timedelta(microseconds=1), fsp)


def _instants(wall_clock: str, zone: str) -> tuple[Value, ...]:
    """Each moment, in microseconds since 1970, at which the clock in that time zone shows the time
    of the text: two in an hour that occurs twice.
    """
    local = datetime.fromisoformat(wall_clock)
    moments = (
        local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC).replace(tzinfo=None)
        for fold in (0, 1)
    )
    return tuple(
        sorted({(moment - mysql.EPOCH) // timedelta(microseconds=1) for moment in moments})
    )


_HOUR: Final = 3600 * mysql.MICROS
"""The microseconds of an hour."""


def _spell_time(value: int, fsp: int, facts: TextFacts) -> SpelledValue:
    """How a TIME in microseconds is written; `fsp` is the column's number of fraction digits. Some
    releases lose one of two things (`TextFacts`), and a reader gets the value without it: the 100
    hours of a TIME from 100 to below 101 hours (with `old_time` only in columns without fraction
    digits), or the sign of a TIME below one second in columns of one to four fraction digits.
    """
    hours = abs(value) // _HOUR
    if (facts.hundred_hours_lost or (facts.old_time and not fsp)) and hours == 100:
        shown_micros = abs(value) - 100 * _HOUR
        time_text = f"{'-' if value < 0 else ''}{mysql.time_text(shown_micros, fsp)}"
        return SpelledValue(
            time_text,
            -shown_micros if value < 0 else shown_micros,
            "hour 100 is written as 00",
        )
    if facts.time_sign_lost and 1 <= fsp <= 4 and -mysql.MICROS < value < 0:
        return SpelledValue(
            mysql.time_text(-value, fsp),
            -value,
            "this release loses the sign of a TIME below one second",
        )
    return SpelledValue(mysql.time_text(value, fsp), value)


def json_text(value: Any) -> str:
    """A JSON document as Canal prints it: a space after `:` and `,`, doubles in Java's form, keys
    by length, then bytes (canal#json-columns).
    """
    return document_text(
        value, double_text, lambda string_value: f'"{"".join(map(_json_character, string_value))}"'
    )


_JSON_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""The characters with an escape of two characters, and that escape."""


def _json_character(c: str) -> str:
    """A character as it stands in a JSON string of Canal: escaped if it is a quote, a back-slash, a
    control character or U+00A0; `?` for a lone surrogate.
    """
    if c in _JSON_SHORT:
        return _JSON_SHORT[c]
    if c < " " or "\x7f" <= c <= "\xa0":
        return f"\\u{ord(c):04x}"
    return "?" if "\ud800" <= c <= "\udfff" else c
