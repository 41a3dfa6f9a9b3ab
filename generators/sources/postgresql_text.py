"""PostgreSQL's texts of values, and the parts of such texts."""

from __future__ import annotations

import ipaddress
import json as jsonlib
import math
import re
from collections.abc import Mapping
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from generators.model import Logical, SourceType
from generators.sources import mysql
from generators.sources.mysql import EPOCH, MICROS, to_float32


def _trimmed(number_text: str) -> str:
    """The text of a number or a time without zeros at the end of its fraction."""
    return number_text.rstrip("0").rstrip(".") if "." in number_text else number_text


def time_text(micros: int) -> str:
    """A time of day, in microseconds since midnight, as PostgreSQL prints it: `HH:MM:SS` with as
    many fraction digits as needed. A whole day is 24:00:00.
    """
    return _trimmed(mysql.time_text(micros, 6))


def timestamp_text(micros: int) -> str:
    """A timestamp without time zone, in microseconds since 1970, as PostgreSQL prints it:
    `YYYY-MM-DD HH:MM:SS` with as many fraction digits as needed.
    """
    return _trimmed(mysql.datetime_text(micros, 6))


def _offset_text(seconds: int) -> str:
    """An offset from Greenwich as PostgreSQL prints it: `+HH`, and minutes and seconds where they
    are not zero.
    """
    parts = [abs(seconds) // 3600, abs(seconds) // 60 % 60, abs(seconds) % 60]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return ("-" if seconds < 0 else "+") + ":".join(f"{part:02d}" for part in parts)


def timestamptz_text(micros: int, zone: str = "UTC") -> str:
    """An instant, in microseconds since 1970 in UTC, as PostgreSQL prints it in a session of that
    time zone: `YYYY-MM-DD HH:MM:SS[.f]+HH[:MM[:SS]]`.
    """
    moment = EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=micros)
    offset = moment.astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    seconds = int(offset.total_seconds())
    return timestamp_text(micros + seconds * MICROS) + _offset_text(seconds)


def timetz_text(micros: int, offset: int) -> str:
    """A time with time zone as PostgreSQL prints it: `HH:MM:SS[.f]+HH[:MM[:SS]]`. `micros` are
    microseconds since the local midnight, `offset` is seconds east of Greenwich.
    """
    return time_text(micros) + _offset_text(offset)


_TIMETZ: Final = re.compile(
    r"(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?([+-])(\d{2})(?::(\d{2}))?(?::(\d{2}))?"
)


def timetz_parts(clock_text: str) -> tuple[int, int]:
    """The microseconds since the local midnight and the seconds east of Greenwich, in this order,
    of a time with time zone as PostgreSQL prints it. Raises ValueError for another text.
    """
    match = _TIMETZ.fullmatch(clock_text)
    if not match:
        raise ValueError(f"{clock_text!r} is no time with time zone")
    hours, minutes, seconds, fraction, sign, *zone = match.groups()
    offset = sum(int(part or 0) * unit for part, unit in zip(zone, (3600, 60, 1), strict=True))
    return _clock(hours, minutes, seconds, fraction), -offset if sign == "-" else offset


def _clock(hours: str, minutes: str, seconds: str, fraction: str | None) -> int:
    """The microseconds of a time whose parts were matched as texts; a missing fraction is 0."""
    return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * MICROS + int(
        (fraction or "").ljust(6, "0")
    )


_TYPED_TIMETZ: Final = re.compile(
    r"\s*(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?\s*([+-])(\d{1,2})(?::?(\d\d))?\s*"
)


def timetz_read(typed: str) -> str:
    """A time with time zone that people type (`12:00+2`), as PostgreSQL prints it. Raises
    ValueError for other spellings, such as names of zones.
    """
    match = _TYPED_TIMETZ.fullmatch(typed)
    if not match:
        raise ValueError(f"{typed!r} is no time with an offset")
    hours, minutes, seconds, fraction, sign, *zone = match.groups()
    offset = int(zone[0]) * 3600 + int(zone[1] or 0) * 60
    clock = _clock(hours, minutes, seconds or "0", fraction)
    return timetz_text(clock, -offset if sign == "-" else offset)


def interval_text(months: int, days: int, micros: int) -> str:
    """An interval as PostgreSQL prints it in the default style `postgres`: `1 year 2 mons 3 days
    04:05:06.78`. Each negative part has its own `-`, and a positive part right after a negative one
    has `+`.
    """
    years = abs(months) // 12 * (1 if months > 0 else -1)
    months = abs(months) % 12 * (1 if months > 0 else -1)
    parts: list[str] = []
    negative = False
    for value, unit in ((years, "year"), (months, "mon"), (days, "day")):
        if value:
            parts.append(
                f"{'+' if negative and value > 0 else ''}{value} {unit}{'' if value == 1 else 's'}"
            )
            negative = value < 0
    if micros or not parts:
        parts.append(("-" if micros < 0 else "+" if negative else "") + time_text(abs(micros)))
    return " ".join(parts)


_INTERVAL: Final = re.compile(
    r"(?:([+-]?\d+) years?(?: |$))?(?:([+-]?\d+) mons?(?: |$))?(?:([+-]?\d+) days?(?: |$))?"
    r"(?:([+-]?)(\d{2,}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?)?"
)


def interval_parts(value_text: str) -> tuple[int, int, int]:
    """The months, days and microseconds of an interval that PostgreSQL printed in the style
    `postgres`. Raises ValueError for another text.
    """
    match = _INTERVAL.fullmatch(value_text)
    if not value_text or not match:
        raise ValueError(f"{value_text!r} is no interval")
    years, months, days, sign, hours, minutes, seconds, fraction = match.groups()
    micros = _clock(hours, minutes, seconds, fraction) if hours else 0
    return (
        int(years or 0) * 12 + int(months or 0),
        int(days or 0),
        -micros if sign == "-" else micros,
    )


_UNITS: Final = (
    (r"years?|yrs?|y", 12, 0, 0),
    (r"months?|mons?", 1, 0, 0),
    (r"weeks?|w", 0, 7, 0),
    (r"days?|d", 0, 1, 0),
    (r"hours?|hrs?|h", 0, 0, 3600),
    (r"minutes?|mins?|m", 0, 0, 60),
    (r"seconds?|secs?|s", 0, 0, 1),
)
"""Names of an interval's fields, and the months, days and seconds of one."""
_TYPED_FIELD: Final = re.compile(
    r"\s*(?:([+-]?)(\d+):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?|([+-]?\d+)\s*([a-z]+))(?=[\s+-]|$)",
    re.IGNORECASE,
)


def interval_read(typed: str) -> str:
    """An interval that people type (`1 day 02:00`, `90 minutes`), as PostgreSQL prints it. Raises
    ValueError for other spellings, such as ISO durations.
    """
    months = days = micros = at = 0
    while match := _TYPED_FIELD.match(typed, at):
        at = match.end()
        sign, hours, minutes, seconds, fraction, number, unit = match.groups()
        if unit:
            fields = [field for field in _UNITS if re.fullmatch(field[0], unit, re.IGNORECASE)]
            if not fields:
                raise ValueError(f"{typed!r} is no interval: {unit!r}")
            _, of_months, of_days, of_seconds = fields[0]
            months += int(number) * of_months
            days += int(number) * of_days
            micros += int(number) * of_seconds * MICROS
        else:
            clock = _clock(hours, minutes, seconds or "0", fraction)
            micros += -clock if sign == "-" else clock
    if not at or typed[at:].strip():
        raise ValueError(f"{typed!r} is no interval")
    return interval_text(months, days, micros)


def inet_text(address: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> str:
    """A network address as PostgreSQL prints an inet: with the length of its prefix behind a slash,
    unless that is a single host's.
    """
    full_length = address.network.prefixlen == address.max_prefixlen
    spelled = _address_text(address.ip)
    return spelled if full_length else f"{spelled}/{address.network.prefixlen}"


def _address_text(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """An address as PostgreSQL prints it: in IPv6 addresses of the forms `::ffff:1.2.3.4` and
    `::1.2.3.4`, the last 32 bits are written as an IPv4 address. One of 16 bits at most, such as
    `::1`, is not of the second form.
    """
    number = int(ip)
    is_mapped = number >> 32 == 0xFFFF
    is_compatible = number >> 32 == 0 and number >> 16 > 0
    if ip.version == 6 and (is_mapped or is_compatible):
        prefix = "::ffff:" if is_mapped else "::"
        return f"{prefix}{ipaddress.IPv4Address(number & 0xFFFF_FFFF)}"
    return str(ip)


def numeric_text(value: Decimal) -> str:
    """A decimal as PostgreSQL prints it: plain digits; zeros at the end stay."""
    return f"{value:f}"


def real_text(type: SourceType, value: float) -> str:
    """A float as PostgreSQL prints it, with the shortest digits that read back as the value:
    `0.0001`, `1e-05`, `1e+15` (real: from `1e+06`), `NaN`, `-Infinity`.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    is_real = type.logical is Logical.FLOAT
    texts = (f"{value:.{digits}e}" for digits in range(17))
    shortest = next(t for t in texts if (to_float32(float(t)) if is_real else float(t)) == value)
    digits, _, exponent = shortest.partition("e")
    if -4 <= int(exponent) < (6 if is_real else 15):
        return f"{Decimal(shortest):f}"
    return f"{digits}e{int(exponent):+03d}"


def bytea_text(value: bytes) -> str:
    r"""Bytes as PostgreSQL prints them: a backslash, x, and two lower-case hex digits for each."""
    return "\\x" + value.hex()


def bit_text(type: SourceType, value: int) -> str:
    """A boolean or bit string as PostgreSQL prints it: `t` or `f` of a boolean; else binary digits,
    for bit(n) all n of them.
    """
    if type.name == "boolean":
        return "t" if value else "f"
    return format(value, f"0{type.length}b") if type.name == "bit" else format(value, "b")


def json_text(type: SourceType, value: Any) -> str:
    """A document as PostgreSQL prints the column. A json column keeps what was typed, here with a
    space before each comma and around each colon. A jsonb column has `, ` and `: `, its keys by
    length, then bytes, and its numbers in plain digits.
    """
    return (
        _document(value, " ,", " : ", binary=False)
        if type.name == "json"
        else _document(value, ", ", ": ", binary=True)
    )


def _document(value: Any, comma: str, colon: str, *, binary: bool) -> str:
    """A JSON value as PostgreSQL prints json or, with `binary`, jsonb."""
    match value:
        case dict():
            keys = sorted(value, key=mysql.key_order) if binary else list(value)
            members = (f"{jsonlib.dumps(key, ensure_ascii=False)}{colon}" for key in keys)
            items = (_document(value[key], comma, colon, binary=binary) for key in keys)
            return "{" + comma.join(map("".join, zip(members, items, strict=True))) + "}"
        case list():
            return (
                "["
                + comma.join(_document(item, comma, colon, binary=binary) for item in value)
                + "]"
            )
        case float() | Decimal():
            return (
                f"{Decimal(repr(value) if isinstance(value, float) else value):f}"
                if binary
                else str(value)
            )
        case _:
            return jsonlib.dumps(value, ensure_ascii=False)


def hstore_text(value: Mapping[str, str | None]) -> str:
    """An hstore as PostgreSQL prints it: `"a"=>"1", "b"=>NULL`, keys by length, then bytes."""
    keys = sorted(value, key=mysql.key_order)
    items = ("NULL" if (item := value[key]) is None else _escaped(item) for key in keys)
    return ", ".join(f"{_escaped(key)}=>{item}" for key, item in zip(keys, items, strict=True))


def array_text(value: list[int | str | None]) -> str:
    """An array as PostgreSQL prints it, `{1,NULL,"a b"}`: an item is quoted when it is empty,
    `NULL` in any case, or has a brace, comma, quote, backslash or space.
    """
    return "{" + ",".join("NULL" if item is None else _item(str(item)) for item in value) + "}"


def _item(item_text: str) -> str:
    """An array's item as PostgreSQL prints it, in quotes if it is empty, NULL, or has a character
    that means something in arrays.
    """
    plain = item_text and item_text.upper() != "NULL" and not re.search(r'[{},"\\\s]', item_text)
    return item_text if plain else _escaped(item_text)


def _escaped(raw_text: str) -> str:
    """The text in double quotes, with a backslash before each quote and backslash in it."""
    return '"' + raw_text.replace("\\", "\\\\").replace('"', '\\"') + '"'
