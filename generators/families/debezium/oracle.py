"""Oracle's columns as Debezium's Oracle connector writes them: `wire(type, value, modes)` gives
schema, value and Cell.

Source: the page debezium of the sources, and the connector's own converters, which
`recorders.debezium_oracle` runs. `modes` are those of `values`. A cell that holds the placeholder
of unavailable values has the class `unavailable`; a struct of scale and value `variable-scale`; a
date and time in nanoseconds `nanos`; a moment with an offset `offset`; in Avro a decimal whose
scale is below zero `negative-scale`.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from generators.families.connect import Schema
from generators.families.debezium import values
from generators.families.debezium.postgresql import interval_text, micro_duration
from generators.families.debezium.sqlserver import iso_datetime, read_nanos
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, semantic, wired
from generators.families.java_text import two_complement, unscaled
from generators.model import Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, MICROS
from generators.sources.oracle import is_free
from generators.sources.oracle_types import oracle_types

UNAVAILABLE: Final = "__debezium_unavailable_value"
NANOS_PER_MICRO: Final = 1000
"""Nanoseconds of a microsecond."""

_HIDDEN: Final = (
    "the placeholder of a large value that the log does not have, or of NULL, or the same as"
    " genuine data: the bytes do not tell"
)
"""Why a cell with the placeholder may hold anything."""
_EMPTY: Final = "LogMiner's function for an empty large value is read as NULL"
_OFFSET: Final = "Spark's timestamp has the moment, not the offset"
_CUT: Final = "Spark's types have microseconds: finer digits are cut off or rounded"
_TOO_FAR: Final = "a moment beyond 64 bits of nanoseconds is null"
_OVERFLOW: Final = "nanoseconds overflow 64 bits silently"
_NO_MICROS: Final = "milliseconds are all that Connect's logical types hold"
_NO_NANOS: Final = "the connector writes microseconds: finer digits are cut off"
_MICROS_OF_INTERVAL: Final = "an interval is written as microseconds, a month as 30.4375 days"
_ISO_OF_INTERVAL: Final = "an interval is written as an ISO duration"


class ColumnSize(NamedTuple):
    """The length and the scale of a column as the connector reads them from its definition; None
    for one that it has not.
    """

    length: int | None
    scale: int | None


def column_size(type: SourceType) -> ColumnSize:
    """The length and the scale that the connector reads for a type (debezium#oracle-types):
    precision and scale of a number, the digits of a timestamp's fraction as its length, 126 as the
    length of FLOAT.
    """
    if type.name == "float":
        return ColumnSize(126, None)
    if is_free(type):
        return ColumnSize(38, None)
    if type.name == "number":
        return ColumnSize(type.precision, type.scale or 0)
    if type.name.startswith("timestamp"):
        return ColumnSize(type.scale, None)
    has_length = type.name in ("char", "varchar2", "nchar", "nvarchar2", "raw")
    return ColumnSize(type.length if has_length else None, None)


_WIDTHS: Final = ((3, "int8"), (5, "int16"), (10, "int32"), (19, "int64"))
"""Connect's integer types, each with the first number of digits that does not fit it."""


def integer_schema(type: SourceType, modes: Modes) -> str:
    """The Connect type of a NUMBER without digits behind the point and with up to 18 before it,
    which the connector writes as an integer; "" for any other type, and for a release that writes
    such numbers as other decimals (debezium#oracle-numbers).
    """
    scale = type.scale or 0
    is_number = type.name == "number" and not is_free(type)
    if not is_number or scale > 0 or (scale == 0 and _follows_decimal(modes)):
        return ""
    digits = (type.precision or 0) - scale
    return next((name for width, name in _WIDTHS if digits < width), "")


def _follows_decimal(modes: Modes) -> bool:
    """Whether the connector writes a NUMBER without digits behind the point as it writes other
    numbers, not as an integer.
    """
    return modes.integers_follow_decimal and not modes.precise


@lru_cache(maxsize=4096)
def schema(type: SourceType, modes: Modes, nullable: bool = True) -> Schema:
    """The Kafka Connect schema that the connector gives a column of that type under these options
    (`modes`). With `nullable` the schema is optional.
    """
    match type.logical:
        case Logical.INT | Logical.DECIMAL:
            if integer := integer_schema(type, modes):
                return Schema(integer, nullable)
            if is_free(type) and modes.precise:
                fields = (("scale", Schema("int32")), ("value", Schema("bytes")))
                name = "io.debezium.data.VariableScaleDecimal"
                return Schema("struct", nullable, name, 1, "Variable scaled decimal", fields=fields)
            return values.decimal_schema(type.precision, type.scale or 0, modes, nullable)
        case Logical.FLOAT:
            return Schema("float", nullable)
        case Logical.DATETIME if _is_nanos(type, modes):
            return semantic("int64", "io.debezium.time.NanoTimestamp", nullable)
        case Logical.TEXT if type.name.startswith("interval"):
            if modes.interval == "numeric":
                return semantic("int64", "io.debezium.time.MicroDuration", nullable)
            return semantic("string", "io.debezium.time.Interval", nullable)
        case Logical.TEXT:
            return Schema("string", nullable)
    # Oracle's types have their fraction digits in `scale`, the common ones in `fsp`.
    common = values.common_schema(replace(type, fsp=type.scale or 0), modes, nullable)
    assert common is not None
    return common


def _is_nanos(type: SourceType, modes: Modes) -> bool:
    """Whether the connector writes a date and time in nanoseconds: one with more than six fraction
    digits in the adaptive modes, any one in the mode nanoseconds.
    """
    is_adaptive = modes.temporal in ("adaptive", "adaptive_time_microseconds")
    return modes.temporal == "nanoseconds" or (is_adaptive and (type.scale or 0) > 6)


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
    `snapshot` says that a snapshot reads the value, not the log. `declared`, the spelling of the
    type in a statement, changes nothing: all connectors' functions have it. The value UNAVAILABLE
    stands for a large value that the log does not have. A value that becomes null is the empty
    value of the schema in a NOT NULL column. Raises TypeError for a value that is none of the
    type's.
    """
    schema_ = schema(type, modes, nullable)
    if value is None:
        return wired(schema_, type, "", Meaning(None), modes)
    if value in (UNAVAILABLE, UNAVAILABLE.encode()):
        return placeholder(type, modes, nullable)
    meaning = _meaning(type, value, modes, snapshot)
    if meaning.value is None and not nullable:
        empty = b"" if schema_.type == "bytes" else "" if schema_.type == "string" else 0
        meaning = replace(meaning, value=empty, lost=True)
    return wired(schema_, type, _class(type, value, schema_, meaning, modes), meaning, modes)


def _class(type: SourceType, value: Value, schema_: Schema, meaning: Meaning, modes: Modes) -> str:
    """The class of a value, by which rules select cells. It is the common one
    (`mysql.value_class`), but for forms of the connector: `nanos`, `variable-scale`,
    `negative-scale` (a decimal in Avro), `empty-large` (an empty large value, read as NULL) and
    `offset` (a moment with its offset, which is a text in the model). A moment without offset is a
    text, too, if it has more than six fraction digits: its class is `micros`.
    """
    match schema_.name.rpartition(".")[2]:
        case "NanoTimestamp":
            return "nanos"
        case "VariableScaleDecimal":
            return "variable-scale"
        case "Decimal" if modes.avro and (type.scale or 0) < 0:
            return "negative-scale"
    if meaning.reason == _EMPTY:
        return "empty-large"
    if isinstance(value, str) and type.logical is not Logical.TEXT:
        return "offset" if type.logical is Logical.TIMESTAMP else "micros"
    return mysql.value_class(type, value)


def placeholder(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a large value that the log does not have: it holds the placeholder of unavailable
    values (debezium#oracle-large-values). A reader may return anything for it (_HIDDEN), but not
    the placeholder itself as if it were data (`genuine`).
    """
    is_binary = type.logical is Logical.BINARY
    written = values.binary_value(UNAVAILABLE.encode(), modes) if is_binary else UNAVAILABLE
    genuine: Value = UNAVAILABLE.encode() if is_binary else UNAVAILABLE
    meaning = Meaning(written, None, _HIDDEN, (genuine,), lost=True)
    return wired(schema(type, modes, nullable), type, "unavailable", meaning, modes)


def _meaning(type: SourceType, value: Value, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a value that is not NULL, and what a reader gets of it.
    `snapshot` says that a snapshot reads the value, not the log. Raises TypeError for a value that
    is none of the type's.
    """
    match type.logical, value:
        case Logical.INT, int():
            return _number(type, Decimal(value), modes, value)
        case Logical.DECIMAL, Decimal():
            return _number(type, value, modes, value)
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return Meaning(value, value)
        case Logical.TEXT, str() if type.name.startswith("interval"):
            return _interval(type, value, modes)
        case Logical.TEXT, str():
            is_empty = value == "EMPTY_CLOB()" or (not value and oracle_types()[type.name].lob)
            return (
                Meaning(None, None, _EMPTY) if is_empty and not snapshot else Meaning(value, value)
            )
        case Logical.BINARY, bytes():
            if not value and not snapshot:
                return Meaning(None, None, _EMPTY)
            return Meaning(values.binary_value(value, modes), value)
        case Logical.DATETIME, int():
            return _datetime(type, value * NANOS_PER_MICRO, modes)
        case Logical.DATETIME, str():
            return _datetime(type, read_nanos(value), modes)
        case Logical.TIMESTAMP, int():
            return _zoned(type, value * NANOS_PER_MICRO, 0)
        case Logical.TIMESTAMP, str():
            moment, _, offset = value.rpartition(" ")
            minutes = _minutes(offset)
            return _zoned(
                type, read_nanos(moment) - minutes * 60 * MICROS * NANOS_PER_MICRO, minutes
            )
    raise TypeError(f"{value!r} is no value of {type.key}")


def _minutes(offset: str) -> int:
    """The minutes of an offset from UTC such as `+05:30`, negative for `-`."""
    sign = -1 if offset.startswith("-") else 1
    return sign * (int(offset[1:3]) * 60 + int(offset[4:6]))


def _number(type: SourceType, value: Decimal, modes: Modes, canonical: Value) -> Meaning:
    """What the connector writes for a number, and what a reader gets of it
    (debezium#oracle-numbers). `canonical` is the value as the model has it, an int for an integer
    type.
    """
    if integer_schema(type, modes):
        return Meaning(int(value), canonical)
    precision, scale = type.precision or 0, type.scale or 0
    if is_free(type):
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int)
        scale = max(-exponent, 0)
        number = unscaled(value, scale)
        while scale and number % 10 == 0:
            number, scale = number // 10, scale - 1
        if modes.precise:
            return Meaning({"scale": scale, "value": two_complement(number)}, canonical)
    meaning = values.decimal_value(value, precision, scale, modes)
    return replace(meaning, canonical=canonical) if isinstance(canonical, int) else meaning


def _interval(type: SourceType, value: str, modes: Modes) -> Meaning:
    """What the connector writes for an interval, and what a reader gets of it: microseconds, or an
    ISO duration (debezium#oracle-intervals).
    """
    sign = -1 if value.startswith("-") else 1
    if type.name == "interval-year":
        years, months = value[1:].split("-")
        total_months, days, micros = sign * (int(years) * 12 + int(months)), 0, 0
    else:
        total_months = 0
        days = sign * int(value[1:5])
        hours, minutes, seconds = value[6:].split(":")
        clock_seconds = int(hours) * 3600 + int(minutes) * 60
        micros = sign * (clock_seconds * MICROS + int(seconds.replace(".", "")))
    if modes.interval == "string":
        iso = interval_text(total_months, days, micros)
        return Meaning(iso, iso, _ISO_OF_INTERVAL)
    duration = micro_duration(total_months, days, micros)
    return Meaning(duration, str(duration), _MICROS_OF_INTERVAL)


def _meaning_of_nanos(written: int | str, nanos: int, reason: str = "") -> Meaning:
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
    `nanos` are the nanoseconds of its wall clock since 1970. `modes.temporal` decides the unit,
    with the column's fraction digits (`type.scale`). Nanoseconds beyond 64 bits overflow, and are
    lost, or with `checks_nanos` the value is null.
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
            reason = _NO_MICROS if nanos % (1000 * NANOS_PER_MICRO) else ""
            return Meaning(micros // 1000, micros // 1000 * 1000, reason)
    if (type.scale or 0) <= 3 and modes.temporal != "microseconds":
        return Meaning(micros // 1000, micros)
    return Meaning(micros, micros, _NO_NANOS if nanos % NANOS_PER_MICRO else "")


def _zoned(type: SourceType, nanos: int, minutes: int) -> Meaning:
    """What the connector writes for a moment, and what a reader gets of it; `nanos` are its
    nanoseconds since 1970 in UTC, `minutes` its offset (debezium#oracle-zoned). The text is the
    local time with as many fraction digits as the column declares, or as needed if it declares
    none, and the offset. A reader gets the moment without the offset.
    """
    reason = _OFFSET if minutes else ""
    local = iso_datetime(nanos + minutes * 60 * MICROS * NANOS_PER_MICRO)
    if digits := type.scale or 0:
        second_text, _, fraction = local.partition(".")
        local = f"{second_text}.{fraction.ljust(digits, '0')[:digits]}"
    sign, absolute = ("-" if minutes < 0 else "+"), abs(minutes)
    zone = f"{sign}{absolute // 60:02d}:{absolute % 60:02d}" if minutes else "Z"
    return _meaning_of_nanos(f"{local}{zone}", nanos, reason)


def default_cell(type: SourceType, value: Value, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a column's default; the connector converts a default as it converts a value that
    a snapshot reads.
    """
    cell = wire(type, value, modes, nullable=nullable, snapshot=True)
    return replace(cell, cell=replace(cell.cell, type=type))
