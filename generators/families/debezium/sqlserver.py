"""SQL Server's columns as Debezium's SQL Server connector writes them: `wire(type, value, modes)`
gives schema, value and Cell.

Source: the page debezium of the sources, and the connector's own converters, which
`recorders.debezium_sqlserver` runs. `modes` are those of `values`. A cell that holds the
placeholder of unavailable values has the class `unavailable`; a time in nanoseconds `nanos`, one in
milliseconds `unit-millis`; a moment with an offset `offset`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from generators.errors import Refused
from generators.families.connect import Schema
from generators.families.debezium import values
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, semantic, wired
from generators.model import Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, MICROS
from generators.sources.sqlserver_types import sqlserver_types

UNAVAILABLE: Final = "__debezium_unavailable_value"
NANOS_PER_MICRO: Final = 1000
"""Nanoseconds of a microsecond."""

_EPOCH_DATE: Final = date(1970, 1, 1)
_HIDDEN: Final = (
    "the placeholder of an old text or image that an UPDATE did not change, or of NULL, or the same"
    " as genuine data: the bytes do not tell"
)
"""Why a cell with the placeholder may hold anything."""
_NOT_LOGGED: Final = "change data capture has no old value of a large column"
_OFFSET: Final = "Spark's timestamp has the moment, not the offset"
_SECOND_LATE: Final = (
    "a datetimeoffset before 1970 with a fraction of a second is written a second late"
)
_CUT: Final = "Spark's types have microseconds: the seventh digit is cut off or rounded"
_TOO_FAR: Final = "a moment beyond 64 bits of nanoseconds is null"
_OVERFLOW: Final = "nanoseconds overflow 64 bits silently"
_MILLIS: Final = "up to 2.5 a streamed time is read in milliseconds, rounded"
_NO_MICROS: Final = "milliseconds are all that Connect's logical types hold"
_NO_NANOS: Final = "the connector writes microseconds: the seventh digit is cut off"


@lru_cache(maxsize=4096)
def schema(type: SourceType, modes: Modes, nullable: bool = True) -> Schema:
    """The Kafka Connect schema that the connector gives a column of that type under these options
    (`modes`). With `nullable` the schema is optional.
    """
    match type.logical:
        case Logical.INT:
            return Schema(sqlserver_types()[type.name].connect, nullable)
        case Logical.DECIMAL:
            return values.decimal_schema(type.precision, type.scale or 0, modes, nullable)
        case Logical.FLOAT:
            return Schema("float", nullable)
        case Logical.TEXT:
            return Schema("string", nullable)
        case Logical.DATETIME if _is_nanos(type, modes):
            return semantic("int64", "io.debezium.time.NanoTimestamp", nullable)
        case Logical.TIME if _is_nanos(type, modes):
            return semantic("int64", "io.debezium.time.NanoTime", nullable)
    common = values.common_schema(type, modes, nullable)
    assert common is not None
    return common


def _is_nanos(type: SourceType, modes: Modes) -> bool:
    """Whether the connector writes a date and time, or a time, in nanoseconds: one with more than
    six fraction digits in the mode adaptive (a date and time also in adaptive_time_microseconds),
    any one in the mode nanoseconds.
    """
    by_scale = modes.temporal == "adaptive" or (
        modes.temporal == "adaptive_time_microseconds" and type.logical is Logical.DATETIME
    )
    return modes.temporal == "nanoseconds" or (by_scale and (type.scale or 0) > 6)


def wire(
    type: SourceType,
    value: Value,
    modes: Modes,
    *,
    nullable: bool = True,
    snapshot: bool = False,
    declared: str = "",
) -> DebeziumCell:
    """A column's value as the connector writes it, with the cell that a decoder must return.
    `snapshot` says that a snapshot reads the value, not the log; `declared` changes nothing. Raises
    TypeError for a value that is none of the type's, Refused for one at which the connector stops:
    a moment that becomes null in a NOT NULL column.
    """
    schema_ = schema(type, modes, nullable)
    if value is None:
        return wired(schema_, type, "", Meaning(None), modes)
    if value in (UNAVAILABLE, UNAVAILABLE.encode()):
        return placeholder(type, modes, nullable)
    meaning = _meaning(type, value, modes, snapshot)
    if meaning.value is None and not nullable:
        raise Refused(
            f"Debezium stops at {value!r} in a NOT NULL column of {type.name}"
            " (debezium#sqlserver-nanos)"
        )
    return wired(schema_, type, _class(type, value, schema_, meaning), meaning, modes)


def _class(type: SourceType, value: Value, schema_: Schema, meaning: Meaning) -> str:
    """The class of a value, by which rules select cells. It is the common one
    (`mysql.value_class`), but for forms of the connector: `nanos`, `unit-millis` (a time in
    milliseconds) and `offset` (a moment with its offset, which is a text in the model). A date or
    time is a text, too, if it has more than six fraction digits: its class is `micros`.
    """
    match schema_.name.rpartition(".")[2]:
        case "NanoTimestamp" | "NanoTime":
            return "nanos"
        case "Time":
            return "unit-millis"
    if isinstance(value, str) and type.logical is not Logical.TEXT:
        return "offset" if type.logical is Logical.TIMESTAMP else "micros"
    return mysql.value_class(type, value)


def placeholder(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a large value that the connector does not know: in releases with placeholders it
    holds the placeholder (debezium#sqlserver-large-values). A reader may return anything for it
    (_HIDDEN), but not the placeholder itself as if it were data (`genuine`).
    """
    is_binary = type.logical is Logical.BINARY
    written = values.binary_value(UNAVAILABLE.encode(), modes) if is_binary else UNAVAILABLE
    genuine: Value = UNAVAILABLE.encode() if is_binary else UNAVAILABLE
    meaning = Meaning(written, None, _HIDDEN, (genuine,), lost=True)
    return wired(schema(type, modes, nullable), type, "unavailable", meaning, modes)


def not_logged(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a large column's old value, which change data capture does not have: null, or in
    a NOT NULL column the empty text or no bytes. A reader may return anything for those (`lost`),
    since they are no value of the row; null it must return as NULL.
    """
    empty: Any = None
    if not nullable:
        empty = b"" if type.logical is Logical.BINARY and modes.binary == "bytes" else ""
    meaning = Meaning(empty, None, _NOT_LOGGED, lost=not nullable)
    cls = "not-sent" if nullable else "fallback"
    return wired(schema(type, modes, nullable), type, cls, meaning, modes)


_LARGE_JDBC: Final = (-1, -4, -16)
"""LONGVARCHAR, LONGVARBINARY and LONGNVARCHAR of java.sql.Types."""


def is_large(type: SourceType) -> bool:
    """Whether the connector takes a NULL of the type for a value that was not sent: where the
    driver gives the type as a long one. It gives varchar(max), nvarchar(max) and varbinary(max) as
    plain ones.
    """
    return sqlserver_types()[type.name].jdbc in _LARGE_JDBC


def _meaning(type: SourceType, value: Value, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a value that is not NULL, and what a reader gets of it.
    `snapshot` says that a snapshot reads the value, not the log. Raises TypeError for a value that
    is none of the type's.
    """
    match type.logical, value:
        case ((Logical.INT | Logical.FLOAT | Logical.DOUBLE), int() | float()):
            return Meaning(value, value)
        case Logical.BIT, int():
            return Meaning(bool(value), value)
        case Logical.DECIMAL, Decimal():
            return values.decimal_value(value, type.precision or 0, type.scale or 0, modes)
        case Logical.TEXT, str():
            return Meaning(value, value)
        case Logical.BINARY, bytes():
            return Meaning(values.binary_value(value, modes), value)
        case Logical.DATE, date():
            return Meaning(values.date_value((value - _EPOCH_DATE).days, modes), value)
        case Logical.DATETIME, int():
            return _datetime(type, value * NANOS_PER_MICRO, modes)
        case Logical.DATETIME, str():
            return _datetime(type, read_nanos(value), modes)
        case Logical.TIME, int():
            return _time(type, value * NANOS_PER_MICRO, modes, snapshot)
        case Logical.TIME, str():
            return _time(type, read_nanos(f"1970-01-01 {value}"), modes, snapshot)
        case Logical.TIMESTAMP, int():
            return _zoned(value * NANOS_PER_MICRO, 0)
        case Logical.TIMESTAMP, str():
            moment, _, offset = value.rpartition(" ")
            minutes = _minutes(offset)
            return _zoned(read_nanos(moment) - minutes * 60 * MICROS * NANOS_PER_MICRO, minutes)
    raise TypeError(f"{value!r} is no value of {type.key}")


_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d{1,9}))?")


def read_nanos(moment: str) -> int:
    """The nanoseconds since 1970 of a text such as `2024-01-02 03:04:05.1234567`. Raises
    ValueError for another text.
    """
    match = _MOMENT.fullmatch(moment)
    if match is None:
        raise ValueError(f"{moment!r} is no date and time")
    return mysql.wall(match[1]) * NANOS_PER_MICRO + int((match[2] or "").ljust(9, "0"))


def _minutes(offset: str) -> int:
    """The minutes of an offset from UTC such as `+05:30`, negative for `-`."""
    sign = -1 if offset.startswith("-") else 1
    return sign * (int(offset[1:3]) * 60 + int(offset[4:6]))


def _meaning_of_nanos(written: Any, nanos: int, reason: str = "") -> Meaning:
    """The meaning of a written value that stands for `nanos` nanoseconds: a reader, whose values
    have microseconds, gets them cut off, or as another right answer rounded. `reason` is why the
    value is not the source's even before that; without it a cut value has the reason `_CUT`.
    """
    cut, nanos_beyond = divmod(nanos, NANOS_PER_MICRO)
    if not nanos_beyond:
        return Meaning(written, cut, reason)
    rounded = (nanos + NANOS_PER_MICRO // 2) // NANOS_PER_MICRO
    options = () if rounded == cut else (cut, rounded)
    return Meaning(written, cut, reason or _CUT, options)


def _datetime(type: SourceType, nanos: int, modes: Modes) -> Meaning:
    """What the connector writes for a date and time without zone, and what a reader gets of it;
    `nanos` are the nanoseconds of its wall clock since 1970. `modes.temporal` decides the unit, in
    the adaptive modes with the column's fraction digits (`type.scale`). Nanoseconds beyond 64 bits
    overflow, and are lost, or with `checks_nanos` the value is null.
    """
    micros = nanos // NANOS_PER_MICRO
    if _is_nanos(type, modes):
        wrapped = values.wrap(nanos)
        # Releases with `checks_nanos` write null for a moment beyond 64 bits of nanoseconds, also
        # if only the midnight before it is beyond them. Older ones write the overflowed number.
        midnight = nanos // (DAY * NANOS_PER_MICRO) * DAY * NANOS_PER_MICRO
        has_midnight = values.wrap(midnight) == midnight or not modes.checks_nanos
        if wrapped == nanos and has_midnight:
            return _meaning_of_nanos(nanos, nanos)
        if modes.checks_nanos:
            return Meaning(None, None, _TOO_FAR)
        return Meaning(wrapped, None, _OVERFLOW, lost=True, corrupt=True)
    match modes.temporal:
        case "isostring":
            return _meaning_of_nanos(f"{iso_datetime(nanos)}Z", nanos)
        case "connect":
            return Meaning(micros // 1000, micros // 1000 * 1000, _lost_digits(nanos))
        case "adaptive" | "adaptive_time_microseconds" if (type.scale or 0) <= 3:
            return Meaning(micros // 1000, micros)
    return Meaning(micros, micros, _lost_nanos(nanos))


def _lost_digits(nanos: int) -> str:
    """Why a value that is written in milliseconds is not the source's; "" if it is."""
    return _NO_MICROS if nanos % (1000 * NANOS_PER_MICRO) else ""


def _lost_nanos(nanos: int) -> str:
    """Why a value that is written in microseconds is not the source's; "" if it is."""
    return _NO_NANOS if nanos % NANOS_PER_MICRO else ""


def _time(type: SourceType, nanos: int, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a time of day, and what a reader gets of it; `nanos` are the
    nanoseconds since midnight. Up to release 2.5 a streamed time goes through java.sql.Time, which
    has milliseconds (debezium#sqlserver-time).
    """
    reason = ""
    if modes.streams_time_in_millis and not snapshot:
        rounded = (
            (nanos + 500 * NANOS_PER_MICRO)
            // (1000 * NANOS_PER_MICRO)
            * 1000
            * NANOS_PER_MICRO
            % (DAY * NANOS_PER_MICRO)
        )
        reason = _MILLIS if rounded != nanos else ""
        nanos = rounded
    micros = nanos // NANOS_PER_MICRO
    if _is_nanos(type, modes):
        return _meaning_of_nanos(nanos, nanos, reason)
    match modes.temporal:
        case "isostring":
            return _meaning_of_nanos(f"{iso_time(nanos)}Z", nanos, reason)
        case "connect":
            return Meaning(micros // 1000, micros // 1000 * 1000, reason or _lost_digits(nanos))
        case "adaptive" if (type.scale or 0) <= 3:
            return Meaning(micros // 1000, micros, reason)
    return Meaning(micros, micros, reason or _lost_nanos(nanos))


def _zoned(nanos: int, minutes: int) -> Meaning:
    """What the connector writes for a datetimeoffset, and what a reader gets of it; `nanos` are its
    nanoseconds since 1970 in UTC, `minutes` its offset (debezium#sqlserver-datetimeoffset).
    """
    fraction = nanos % (MICROS * NANOS_PER_MICRO)
    reason = _OFFSET if minutes else ""
    day, nanos_of_day = divmod(nanos, DAY * NANOS_PER_MICRO)
    if day < _FIRST_GREGORIAN:
        nanos, reason = _julian_day(day) * DAY * NANOS_PER_MICRO + nanos_of_day, _JULIAN
    # Its milliseconds are divided in Java's way: towards zero.
    if nanos < 0 and fraction >= 1000 * NANOS_PER_MICRO:
        nanos, reason = nanos + MICROS * NANOS_PER_MICRO, _SECOND_LATE
    local = nanos + minutes * 60 * MICROS * NANOS_PER_MICRO
    has_year = nanos // (DAY * NANOS_PER_MICRO) >= _YEAR_ONE
    sign, absolute = ("-" if minutes < 0 else "+"), abs(minutes)
    zone = f"{sign}{absolute // 60:02d}:{absolute % 60:02d}" if minutes else "Z"
    written = f"{iso_datetime(local)}{zone}"
    if not has_year:
        return Meaning(written, None, reason, lost=True, corrupt=True)
    return _meaning_of_nanos(written, nanos, reason)


_FIRST_GREGORIAN: Final = -141_427
"""The day of 1582-10-15 since 1970."""
_YEAR_ONE: Final = -719_162
"""The day 0001-01-01 since 1970."""
_EPOCH_JDN: Final = 2_440_588
"""The Julian day number of 1970-01-01."""
_JULIAN: Final = "a datetimeoffset before 1582-10-15 is read by the Julian calendar"


def _julian_day(day: int) -> int:
    """The day, since 1970, that has the same year, month and day by the Julian calendar as `day`
    has by the Gregorian one: the driver's moments before 1582-10-15 are of java.util's calendar.
    """
    year, month, day_of_month = values.civil(day)
    since_march = (month + 9) % 12
    years = year + 4800 - (month < 3)
    number = day_of_month + (153 * since_march + 2) // 5 + 365 * years + years // 4 - 32_083
    return number - _EPOCH_JDN


def iso_datetime(nanos: int) -> str:
    """Nanoseconds since 1970 as `DateTimeFormatter.ISO_LOCAL_DATE_TIME` prints them."""
    days, nanos_of_day = divmod(nanos, DAY * NANOS_PER_MICRO)
    return f"{values.iso_date(days)}T{iso_time(nanos_of_day)}"


def iso_time(nanos: int) -> str:
    """Nanoseconds of a day as `DateTimeFormatter.ISO_LOCAL_TIME` prints them: with as many fraction
    digits as needed.
    """
    seconds, fraction = divmod(nanos, MICROS * NANOS_PER_MICRO)
    time_text = values.iso_time(seconds * MICROS)
    return f"{time_text}.{fraction:09d}".rstrip("0") if fraction else time_text


def default_cell(type: SourceType, value: Value, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a column's default; the connector converts a default as it converts a value that
    a snapshot reads.
    """
    cell = wire(type, value, modes, nullable=nullable, snapshot=True)
    return replace(cell, cell=replace(cell.cell, type=type))
