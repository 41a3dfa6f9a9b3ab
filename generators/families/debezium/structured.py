"""Dates, times and intervals of PostgreSQL as structs of numbers, which Debezium's connector writes
since 3.7 with time.precision.mode=structured (debezium#structured-times).

A struct has a member for each part of the value. That of a date, a timestamp or a timestamp with
zone has `specialValue`, too: a text for an infinite value, whose parts are null. Each but a date's
has `precision`, the fraction digits of the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from generators.families.connect import Schema, fields
from generators.families.debezium.values import DAY, MICROS, Modes, civil
from generators.model import Logical, SourceType, Value
from generators.sources import postgresql_text

StructKind: TypeAlias = Literal[
    "Date", "Time", "Timestamp", "ZonedTimestamp", "ZonedTime", "Duration"
]
"""What follows `io.debezium.time.Structured` in the name of a struct's schema."""
_DATE: Final = "year:int32? month:int8? day:int8?"
_CLOCK: Final = "hour:int8? minute:int8? second:int8? nanos:int32?"
_SPECIAL: Final = "specialValue:string?"
_PRECISION: Final = "precision:int32?"
_FIELDS: Final[Mapping[StructKind, str]] = {
    "Date": f"{_DATE} {_SPECIAL}",
    "Time": f"{_CLOCK} {_PRECISION}",
    "Timestamp": f"{_DATE} {_CLOCK} {_SPECIAL} {_PRECISION}",
    "ZonedTimestamp": (
        f"{_DATE} {_CLOCK} offsetSeconds:int32? zoneId:string? {_SPECIAL} {_PRECISION}"
    ),
    "ZonedTime": f"{_CLOCK} offsetSeconds:int32? {_PRECISION}",
    "Duration": (
        "years:int32? months:int32? days:int32? hours:int32? minutes:int32? seconds:int64?"
        f" nanos:int32? {_PRECISION}"
    ),
}
"""The fields of each struct."""
_KINDS: Final[Mapping[Logical, StructKind]] = {
    Logical.DATE: "Date",
    Logical.TIME: "Time",
    Logical.DATETIME: "Timestamp",
    Logical.TIMESTAMP: "ZonedTimestamp",
}
"""The struct of a type, by its logical type."""
_TEXT_KINDS: Final[Mapping[str, StructKind]] = {"timetz": "ZonedTime", "interval": "Duration"}
"""The struct of a type that the model keeps as text, by the type's name."""
_INFINITIES: Final = {"infinity": "POSITIVE_INFINITY", "-infinity": "NEGATIVE_INFINITY"}
_DAYS_TO_1970: Final = date(1970, 1, 1).toordinal()


def struct_kind(type: SourceType, modes: Modes) -> StructKind | None:
    """The struct in which values of a type are written; None for a type that is no date, time or
    interval, and where the mode of times is another one.
    """
    if modes.temporal != "structured":
        return None
    return _KINDS.get(type.logical) or _TEXT_KINDS.get(type.name)


def struct_schema(kind: StructKind, optional: bool) -> Schema:
    """The Connect schema of a struct."""
    name = f"io.debezium.time.Structured{kind}"
    return Schema("struct", optional, name, 1, fields=fields(_FIELDS[kind]))


def struct_parts(type: SourceType, value: Value) -> dict[str, Any] | None:
    """The struct that the connector writes for a date, time or interval that is not NULL, by the
    names of its members, of which those that are null are left out; None for the time 24:00:00, for
    which it writes null. Raises TypeError for a value that is none of the type's.
    """
    precision = {"precision": type.fsp}
    match type.logical, value:
        case Logical.DATE, date():
            return _date_parts(value.toordinal() - _DAYS_TO_1970)
        case Logical.DATE, int():
            return _date_parts(value)
        case Logical.DATE, str():
            return {"specialValue": _INFINITIES[value]}
        case ((Logical.DATETIME | Logical.TIMESTAMP), str()):
            return {"specialValue": _INFINITIES[value], **precision}
        case Logical.DATETIME, int():
            return {**_moment_parts(value), **precision}
        case Logical.TIMESTAMP, int():
            return {**_moment_parts(value), "offsetSeconds": 0, "zoneId": "Z", **precision}
        case Logical.TIME, int():
            return None if value == DAY else {**_clock_parts(value), **precision}
        case Logical.TEXT, str() if type.name == "timetz":
            micros, offset = postgresql_text.timetz_parts(value)
            return {**_clock_parts(micros), "offsetSeconds": offset, **precision}
        case Logical.TEXT, str() if type.name == "interval":
            return {**_interval_parts(value), **precision}
    raise TypeError(f"{value!r} is no value of {type.key}")


def struct_fallback(type: SourceType) -> dict[str, Any]:
    """The struct that stands in a NOT NULL column for a value that the connector does not have: the
    beginning of 1970 without a zone's name, midnight, or an interval of nothing.
    """
    match type.logical:
        case Logical.DATE:
            return _date_parts(0)
        case Logical.TEXT:
            nothing = "00:00:00+00" if type.name == "timetz" else "00:00:00"
            return struct_parts(type, nothing) or {}
    parts = struct_parts(type, 0) or {}
    return {name: part for name, part in parts.items() if name != "zoneId"}


def _date_parts(days: int) -> dict[str, Any]:
    """The year, month and day of days since 1970-01-01; the year 0 is 1 BC."""
    year, month, day = civil(days)
    return {"year": year, "month": month, "day": day}


def _clock_parts(micros: int) -> dict[str, Any]:
    """The hour, minute, second and nanoseconds of microseconds since midnight."""
    seconds, fraction = divmod(micros, MICROS)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return {"hour": hour, "minute": minute, "second": second, "nanos": fraction * 1000}


def _moment_parts(micros: int) -> dict[str, Any]:
    """The date and the time of microseconds since 1970-01-01."""
    days, micros_of_day = divmod(micros, DAY)
    return {**_date_parts(days), **_clock_parts(micros_of_day)}


def _interval_parts(value: str) -> dict[str, Any]:
    """The parts of an interval as PostgreSQL prints it. Each has its own sign: years and months
    that of all months, hours, minutes, seconds and nanoseconds that of the time.
    """
    months, days, micros = postgresql_text.interval_parts(value)
    sign, clock_sign = (-1 if months < 0 else 1), (-1 if micros < 0 else 1)
    years, months_of_year = divmod(abs(months), 12)
    clock = _clock_parts(abs(micros))
    return {
        "years": sign * years,
        "months": sign * months_of_year,
        "days": days,
        "hours": clock_sign * clock["hour"],
        "minutes": clock_sign * clock["minute"],
        "seconds": clock_sign * clock["second"],
        "nanos": clock_sign * clock["nanos"],
    }
