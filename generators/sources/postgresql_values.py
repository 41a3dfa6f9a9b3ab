"""Limits and named boundary values of PostgreSQL's types."""

from __future__ import annotations

import ipaddress
import math
import uuid
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Final

from generators.model import Json, Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, MICROS, micros_step, to_float32, wall
from generators.sources.postgresql_text import inet_text, interval_text, timetz_text

UNAVAILABLE: Final = "__debezium_unavailable_value"
"""Debezium's text for a TOASTed value that did not change (debezium#unavailable-value), which a
column may hold as well.
"""

NUMERIC_DIGITS: Final = 131_072
NUMERIC_SCALE: Final = 16_383
"""Digits before and after the point of a numeric without declared precision."""

TIMESTAMP_MIN: Final = wall("0001-01-01")
TIMESTAMP_MAX: Final = wall("9999-12-31 23:59:59.999999")
TIMESTAMPTZ_MIN: Final = TIMESTAMP_MIN + DAY
TIMESTAMPTZ_MAX: Final = TIMESTAMP_MAX - DAY
"""The least and the greatest timestamptz: a day less than timestamp has at both ends, so that the
year has four digits in every time zone.
"""


def unconstrained(type: SourceType) -> bool:
    """Whether the type is numeric without declared precision and scale."""
    return type.name == "numeric" and type.precision == NUMERIC_DIGITS + NUMERIC_SCALE


def candidates(type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of a PostgreSQL type; some texts may be too long for it."""
    match type.logical:
        case Logical.INT:
            return _integer_boundaries(type)
        case Logical.DECIMAL:
            return _numeric_boundaries(type)
        case Logical.BIT:
            return _bit_boundaries(type)
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            return _temporal_boundaries(type)
        case _ if type.name == "enum":
            return {f"label-{i}": label for i, label in enumerate(type.members, 1)}
        case _ if type.name == "char":
            return {
                name: str(value).ljust(type.length or 0)
                for name, value in _NAMED_BOUNDARIES["text"].items()
            }
        case _:
            return _NAMED_BOUNDARIES.get(type.name, _NAMED_BOUNDARIES["text"])


def _integer_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values of a PostgreSQL integer type by name; of bigint also numbers that a double
    would change.
    """
    values: dict[str, Value] = {
        "min": type.low,
        "max": type.high,
        "zero": 0,
        "one": 1,
        "minus-one": -1,
    }
    if type.name == "bigint":
        values |= {"two-to-53-plus-one": (1 << 53) + 1, "eighteen-digits": 447984084414103554}
    return values


def _numeric_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of PostgreSQL's money and numeric; a numeric without precision has
    values of other scales.
    """
    if unconstrained(type):
        return {
            "zero": Decimal(0),
            "integral": Decimal(10),
            "trailing-zeros": Decimal("10.00"),
            "negative": Decimal("-123.45"),
            "beyond-double": Decimal((1 << 53) + 1),
            "tiny": Decimal((0, (1,), -28)),
            "many-digits": Decimal("1234567890" * 6 + ".0987654321"),
        }
    if type.name == "money":
        cents = {
            "zero": 0,
            "unit": 1,
            "min": type.low or 0,
            "max": type.high or 0,
            "negative": -12345,
            "integral": 10000,
        }
        return {
            name: Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -2))
            for name, value in cents.items()
        }
    precision, scale = type.precision or 0, type.scale or 0
    unit, largest = Decimal((0, (1,), -scale)), Decimal((0, (9,) * precision, -scale))
    values = {
        "zero": Decimal((0, (0,), -scale)),
        "unit": unit,
        "minus-unit": unit.copy_negate(),
        "max": largest,
        "min": largest.copy_negate(),
        "integral": Decimal((0, (1, 2, 3, *(0,) * scale), -scale)),
    }
    if scale >= 2:
        values["trailing-zeros"] = Decimal((0, (1, 2, 3, 4, 5, *(0,) * (scale - 2)), -scale))
    if precision >= 20:
        values["many-digits"] = Decimal((0, tuple((i + 1) % 10 for i in range(precision)), -scale))
    return dict(values)


def _bit_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a PostgreSQL boolean, bit or varbit type, as unsigned numbers."""
    if type.name == "boolean":
        return {"false": 0, "true": 1}
    values: dict[str, Value] = {"zero": 0, "one": 1}
    length = min(type.length or 1, 64)  # of a varbit without a length, 64 bits
    if length > 1:
        values |= {"all-ones": (1 << length) - 1, "highest": 1 << length - 1}
    if length > 8:
        values["three-bytes"] = 0x030201
    return values


def _temporal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a PostgreSQL date, time, timestamp or timestamptz type, none finer
    than its fractional seconds; hours around changes of daylight saving time are among them.
    """
    unit = micros_step(type.fsp)
    last = MICROS - unit
    match type.logical:
        case Logical.DATE:
            return {
                "min": date(1, 1, 1),
                "max": date(9999, 12, 31),
                "epoch": date(1970, 1, 1),
                "before-epoch": date(1969, 12, 31),
                "leap-day": date(2024, 2, 29),
                "before-gregorian": date(1582, 10, 4),
            }
        case Logical.TIME:
            values: dict[str, Value] = {
                "zero": 0,
                "last-of-day": DAY - unit,
                "end-of-day": DAY,
                "plain": 37_230 * MICROS,
            }
            if type.fsp:
                values |= {"one-unit": unit, "fraction": 37_230_120_000}
            return values
        case Logical.DATETIME:
            low, high = TIMESTAMP_MIN, TIMESTAMP_MAX
        case _:
            low, high = TIMESTAMPTZ_MIN, TIMESTAMPTZ_MAX
    return {
        "epoch": 0,
        "min": low,
        "max": high - 999_999 + last,
        "before-epoch": -unit,
        "leap-day": wall("2024-02-29 23:59:59") + last,
        "one-unit": wall("2024-01-01 00:00:00") + unit,
        "pre-1970-fraction": wall("1936-10-25 22:10:12") + 608_000 // unit * unit,
        "spring-gap": wall("2024-03-10 02:30:00"),
        "autumn-first": wall("2024-11-03 05:30:00"),
        "autumn-second": wall("2024-11-03 06:30:00"),
    }


_REALS: Final[Mapping[str, Value]] = {
    "zero": 0.0,
    "negative-zero": -0.0,
    "one": 1.0,
    "negative": -2.5,
    "fraction": 3.14,
    "third": 1 / 3,
    "ten-million": 1e7,
    "ten-digits": 1e10,
    "small": 1e-4,
}
_NOT_FINITE: Final[Mapping[str, Value]] = {"infinity": math.inf, "negative-infinity": -math.inf}

_DOCUMENTS: Final[Mapping[str, Value]] = {
    **mysql.DOCUMENTS,
    "double": Json(1.5),
    "integral-double": Json(1.0),
    "small-double": Json(1e-7),
    "spaced": Json({"a b": "  c  d ", " ": [" ", ",", ": "]}),
    "upper-case-keys": Json({"Key": "Value", "KEY": {"K": 1}}),
    "keys-by-length": Json({"bb": 1, "a": 2, "ccc": {"z": [], "y": "汉"}}),
    "unavailable-text": Json(UNAVAILABLE),
}

_NAMED_BOUNDARIES: Final[Mapping[str, Mapping[str, Value]]] = {
    "real": {
        **{name: to_float32(value) for name, value in _REALS.items() if isinstance(value, float)},
        "max": 3.4028234663852886e38,
        "min-subnormal": 1.401298464324817e-45,
        **_NOT_FINITE,
    },
    "double precision": {
        **_REALS,
        "two-e23": 2e23,
        "max": 1.7976931348623157e308,
        "min-subnormal": 5e-324,
        "seventeen-digits": 0.1 + 0.2,
        **_NOT_FINITE,
    },
    "text": {
        "empty": "",
        "plain": "hello",
        "spaces": " a  b ",
        **mysql.TEXTS,
        "boolean-like": "t",
        "bytea-like": "\\x41",
        "unavailable-text": UNAVAILABLE,
    },
    "bytea": {
        "empty": b"",
        "ascii": b"ab-!",
        "base64-like": b"abcd",
        "digits-in-base64": b"\xd7m\xf8",
        **mysql.BYTES,
        "every-byte": bytes(range(256)),
        "unavailable-text": UNAVAILABLE.encode(),
    },
    "timetz": {
        "zero": "00:00:00+00",
        "plain": "13:51:30.123789+02",
        "half-hour": "10:20:30.12+05:30",
        "negative-offset": "23:59:59.999999-08",
        "end-of-day": "24:00:00+00",
    },
    "interval": {
        "zero": "00:00:00",
        "every-field": "1 year 2 mons 3 days 04:05:06.78",
        "negative": "-1 years -2 mons +3 days -04:05:06",
        "months": "14 mons",
        "minus-one-day": "-1 days",
        "micros": "00:00:00.000001",
        "hundred-hours": "100:01:02",
    },
    "uuid": {
        "nil": "00000000-0000-0000-0000-000000000000",
        "plain": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "max": "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "digits": "12345678-1234-1234-1234-123456789012",
    },
    "inet": {
        "ipv4": "192.168.0.1",
        "ipv4-network": "10.1.0.0/16",
        "ipv6": "2001:db8::ff00:42:8329",
        "ipv6-network": "::1/64",
        "any": "0.0.0.0/0",
    },
    "json": _DOCUMENTS,
    "jsonb": _DOCUMENTS,
    "hstore": {
        "empty": Json({}),
        "plain": Json({"a": "1"}),
        "null-item": Json({"a": "x", "b": None}),
        "quotes": Json({'q"\\': 'say "hi"=>\\', "": "", "汉": "😀"}),
    },
    "integer[]": {
        "empty": Json([]),
        "plain": Json([1, 2, 3]),
        "null-item": Json([None, 0]),
        "extremes": Json([-(1 << 31), (1 << 31) - 1]),
    },
    "text[]": {
        "empty": Json([]),
        "plain": Json(["a", "b"]),
        "null-item": Json([None, "NULL", "null", ""]),
        "quotes": Json(["a,b", "{c}", 'say "hi"', "back\\slash", "汉字"]),
        "unavailable-text": Json([UNAVAILABLE]),
    },
}
"""The named boundary values of types whose values do not depend on parameters."""


def _uuid_at(type: SourceType, number: int) -> str:
    """The UUID that a drawn number stands for: its lowest 128 bits."""
    return str(uuid.UUID(int=number % (1 << 128)))


def _inet_at(type: SourceType, number: int) -> str:
    """The network address that a drawn number stands for: IPv4, or IPv6 of the prefix for
    documentation. Of large numbers every second one stands for a network, with a prefix length. The
    number's lowest two bits say which of the four.
    """
    quotient, way = divmod(number, 4)
    if way < 2:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(
            quotient % (1 << 32)
        )
    else:
        address = ipaddress.IPv6Address((0x20010DB8 << 96) | quotient % (1 << 96))
    size = (
        (quotient >> 96) % (address.max_prefixlen + 1)
        if way in (1, 3) and quotient >> 96
        else address.max_prefixlen
    )
    return inet_text(ipaddress.ip_interface(f"{address}/{size}"))


def _interval_at(type: SourceType, number: int) -> str:
    """The interval, as PostgreSQL prints it, that a drawn number stands for: the months (below
    2,400), days (below 1,000) and time (below 200 hours) are remainders of the number, and its
    lowest three bits their signs.
    """
    quotient, signs = divmod(number, 8)
    quotient, micros = divmod(quotient, 200 * 3600 * MICROS)
    quotient, days = divmod(quotient, 1000)
    months = quotient % 2400
    micros -= micros % micros_step(type.fsp)
    signed = [-n if signs >> i & 1 else n for i, n in enumerate((months, days, micros))]
    return interval_text(*signed)


def _timetz_at(type: SourceType, number: int) -> str:
    """The time with offset, as PostgreSQL prints it, that a drawn number stands for: its remainders
    give the time and an offset in quarters of an hour.
    """
    quotient, micros = divmod(number, DAY)
    quarters = quotient % 105  # 0 to 56: up to +14:00; the other 48: down to -12:00
    return timetz_text(
        micros - micros % micros_step(type.fsp),
        900 * (quarters if quarters <= 56 else 56 - quarters),
    )


_TEXT_AT: Final[Mapping[str, Callable[[SourceType, int], str]]] = {
    "enum": lambda type, number: type.members[number % len(type.members)],
    "uuid": _uuid_at,
    "inet": _inet_at,
    "interval": _interval_at,
    "timetz": _timetz_at,
}
"""By type whose texts have a grammar: the text that a number stands for."""


def spelled(type: SourceType) -> bool:
    """Whether the values of the type are texts with a grammar of their own (PostgreSQL's uuid,
    inet, interval ...).
    """
    return type.source == "postgresql" and type.name in _TEXT_AT


def text_at(type: SourceType, number: int) -> str:
    """The text that a number below 2^128 stands for, in a type whose texts have a grammar
    (`spelled`). Every value of everyday size has a number, the plainest has 0.
    """
    return _TEXT_AT[type.name](type, number)
