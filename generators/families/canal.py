"""A MySQL value as a Canal flat message carries it: wire text, `java.sql.Types` code, type text,
and what a decoder recovers.

Sources: canal#integers to canal#texts (`RowsLogBuffer` and `LogEventConvert.parseOneRow`, run on
binlog bytes).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from generators.families.java_text import (
    document_text,
    double_text,
    float_text,
    java_decimal,
    unscaled,
)
from generators.model import Cell, Json, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql

DDL_TYPES: Final[Mapping[str, str]] = {
    "create database": "QUERY",
    "drop database": "QUERY",
    "create table": "CREATE",
    "drop table": "ERASE",
    "truncate table": "TRUNCATE",
    "rename table": "RENAME",
    **dict.fromkeys(
        ("add column", "drop column", "modify column", "set default", "rename index"), "ALTER"
    ),
    **dict.fromkeys(("table comment", "add partition", "table charset"), "ALTER"),
    "create index": "CINDEX",
    "drop index": "DINDEX",
    "add primary key": "CINDEX",
    "drop primary key": "ALTER",
    "exchange partition": "ALTER",
}
"""The `type` of each DDL action. Of the others (ALTER DATABASE, views, sequences, foreign keys)
Canal sends nothing.
"""


class ValueFacts(Protocol):
    """What of a release decides how values are written; the fields are those of
    `alibaba_canal_json.CanalProfile`.
    """

    @property
    def lob_null_codes(self) -> bool:
        """See CanalProfile."""

    @property
    def boolean_code(self) -> int:
        """See CanalProfile."""

    @property
    def time_sign_lost(self) -> bool:
        """See CanalProfile."""

    @property
    def hundred_hours_lost(self) -> bool:
        """See CanalProfile."""

    @property
    def old_time(self) -> bool:
        """See CanalProfile."""

    @property
    def time_zone(self) -> str:
        """See CanalProfile."""


SQL_TYPES: Final = {
    "tinyint": -6,
    "smallint": 5,
    **dict.fromkeys(("mediumint", "int", "enum"), 4),
    "bigint": -5,
    "decimal": 3,
    "float": 7,
    "double": 8,
    **dict.fromkeys(("bit", "set"), -7),
    "char": 1,
    **dict.fromkeys(("varchar", "year", "json"), 12),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), 2004),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), 2005),
    "date": 91,
    **dict.fromkeys(("datetime", "timestamp"), 93),
    "time": 92,
}
"""Codes of `java.sql.Types` by type (canal#sql-type)."""
NULL_TYPES: Final = SQL_TYPES | {"set": 2004, "json": 1111}
"""The codes of NULL from 1.1.7 on."""
OLD_NULL_TYPES: Final = {
    **NULL_TYPES,
    **dict.fromkeys(("binary", "set"), -2),
    **dict.fromkeys(("varbinary", "tinyblob", "tinytext"), -3),
    **dict.fromkeys(("blob", "mediumblob", "longblob", "text", "mediumtext", "longtext"), -4),
}
"""The codes of NULL up to 1.1.6."""
OVER_SIGNED: Final = {"tinyint": 5, "smallint": 4, "mediumint": 4, "int": -5, "bigint": 3}
"""The codes of unsigned integers above the signed maximum."""

_BLOBS: Final = frozenset(n for n in SQL_TYPES if n.endswith(("blob", "text"))) | {"json"}
_AMBIGUOUS: Final = "the hour occurs twice in the server's time zone"


@dataclass(frozen=True, slots=True)
class CanalCell:
    """A column of an image on the wire: its text (None is null), its code, and what it is worth."""

    text: str | None
    code: int
    cell: Cell


def is_blob(type: SourceType) -> bool:
    """Whether NOBLOB row images treat the column as a blob: the BLOB and TEXT families and JSON."""
    return type.name in _BLOBS


def sql_type(type: SourceType, value: Value, facts: ValueFacts) -> int:
    """The `sqlType` code, which depends on the value: unsigned ones above the signed range take the
    next wider type's.
    """
    over = (
        type.logical is Logical.INT
        and type.unsigned
        and isinstance(value, int)
        and value > (type.high or 0) >> 1
    )
    if type.name == "tinyint" and type.length == 1 and not over:
        return -6 if value is None else facts.boolean_code
    if value is None:
        return (NULL_TYPES if facts.lob_null_codes else OLD_NULL_TYPES)[type.name]
    return (OVER_SIGNED if over else SQL_TYPES)[type.name]


def wire(type: SourceType, value: Value, facts: ValueFacts) -> CanalCell:
    """A column's value on the wire. Raises KeyError for a type that no MySQL has."""
    code = sql_type(type, value, facts)
    if value is None:
        return CanalCell(None, code, Cell(State.NULL, type))
    text, meant, reason = _encode(type, value, facts)
    cls = mysql.value_class(type, value)
    if type.logical is Logical.TIMESTAMP and isinstance(value, int):
        instants = _instants(text, facts.time_zone)
        if len(instants) > 1:
            cell = Cell(State.ONE_OF, type, value, text, cls, options=instants, reason=_AMBIGUOUS)
            return CanalCell(text, code, cell)
    return CanalCell(text, code, Cell(State.VALUE, type, meant, text, cls, reason=reason))


def _encode(type: SourceType, value: Value, facts: ValueFacts) -> tuple[str, Value, str]:
    """Wire text, the value that a reader of that text has, and why it is not the source's."""
    match type.logical, value:
        case Logical.DECIMAL, Decimal():
            return decimal_text(value, type.scale or 0), value, ""
        case Logical.FLOAT, float():
            return float_text(value), value, ""
        case Logical.DOUBLE, float():
            return double_text(value), value, ""
        case Logical.TEXT, str():
            return _text(type, value)
        case Logical.BINARY, bytes():
            kept = value.rstrip(b"\0") if type.name == "binary" else value
            reason = (
                ""
                if kept == value
                else "MySQL's row format strips trailing zero bytes and Canal does not pad"
            )
            return kept.decode("latin-1"), kept, reason
        case Logical.DATE, dt.date() | ZeroDate():
            return mysql.date_text(value), value, ""
        case Logical.DATETIME, int() | ZeroDate():
            return mysql.datetime_text(value, type.fsp), value, ""
        case Logical.TIMESTAMP, int() | ZeroDate():
            return timestamp_text(value, type.fsp, facts.time_zone), value, ""
        case Logical.TIME, int():
            return _time(value, type.fsp, facts)
        case Logical.YEAR, int():
            return f"{value:04d}", value, ""
        case Logical.JSON, Json():
            return json_text(value.value), value, ""
        case ((Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET), int()):
            return str(value), value, ""
    raise TypeError(f"{value!r} is no value of {type.key}")


def decimal_text(value: Decimal, scale: int) -> str:
    """DECIMAL as Canal prints it: the digits after the last full group of nine are dropped when
    they are all zero (canal#decimals).
    """
    text, rest = scaled_text(value, scale), scale % 9
    if rest and not text[-rest:].strip("0"):
        text = text[:-rest]
    return f"{text}0" if text.endswith(".") else text


def scaled_text(value: Decimal, scale: int) -> str:
    """DECIMAL with every digit of its scale."""
    return java_decimal(unscaled(value, scale), scale, plain=True)


def _text(type: SourceType, value: str) -> tuple[str, Value, str]:
    kept, reason = value, ""
    if type.name == "char" and value.endswith(" "):
        kept, reason = value.rstrip(" "), "MySQL strips the trailing spaces of CHAR"
    if any("\ud800" <= c <= "\udfff" for c in kept):
        kept, reason = (
            "".join("?" if "\ud800" <= c <= "\udfff" else c for c in kept),
            "a lone surrogate is written as ?",
        )
    return kept, kept, reason


def timestamp_text(value: int | ZeroDate, fsp: int, zone: str) -> str:
    """TIMESTAMP as wall clock of Canal's JVM; microseconds since the epoch, or the zero value as it
    is.
    """
    if isinstance(value, ZeroDate):
        return mysql.datetime_text(value, fsp)
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=value)
    local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
    return mysql.datetime_text((local - mysql.EPOCH) // dt.timedelta(microseconds=1), fsp)


def _instants(text: str, zone: str) -> tuple[Value, ...]:
    """Every instant, in microseconds, that the wall-clock text names in that zone."""
    local = dt.datetime.fromisoformat(text)
    moments = (
        local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(dt.UTC).replace(tzinfo=None)
        for fold in (0, 1)
    )
    return tuple(
        sorted({(moment - mysql.EPOCH) // dt.timedelta(microseconds=1) for moment in moments})
    )


_HOUR: Final = 3600 * mysql.MICROS


def _time(value: int, fsp: int, facts: ValueFacts) -> tuple[str, Value, str]:
    """TIME, and the two bugs that lose information: a reader has no more than the text says."""
    hours = abs(value) // _HOUR
    if (facts.hundred_hours_lost or (facts.old_time and not fsp)) and hours == 100:
        rest = abs(value) - 100 * _HOUR
        text = f"{'-' if value < 0 else ''}{mysql.time_text(rest, fsp)}"
        return text, -rest if value < 0 else rest, "hour 100 is written as 00"
    if facts.time_sign_lost and 1 <= fsp <= 4 and -mysql.MICROS < value < 0:
        return (
            mysql.time_text(-value, fsp),
            -value,
            "this release loses the sign of a TIME below one second",
        )
    return mysql.time_text(value, fsp), value, ""


def json_text(value: Any) -> str:
    """A JSON document as Canal prints it: a space after `:` and `,`, doubles in Java's form, keys
    by length, then bytes (canal#json-columns).
    """
    return document_text(
        value, double_text, lambda text: f'"{"".join(map(_json_character, text))}"'
    )


_JSON_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _json_character(c: str) -> str:
    if c in _JSON_SHORT:
        return _JSON_SHORT[c]
    if c < " " or "\x7f" <= c <= "\xa0":
        return f"\\u{ord(c):04x}"
    return "?" if "\ud800" <= c <= "\udfff" else c
