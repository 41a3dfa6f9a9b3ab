"""MySQL column types: domains, value classes, boundary values and the text forms that MySQL itself
uses.

Sources: MySQL 8.0 Reference Manual, chapter 13 "Data Types" (integer ranges 13.1.2, DECIMAL 13.1.3,
BIT 13.1.5, date and time 13.2, strings 13.3, JSON 13.5).
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from generators.model import Json, Logical, SourceType, Value, ZeroDate
from generators.sources.type_numbers import mysql_types

MICROS: Final = 1_000_000
"""Microseconds of a second."""
DAY: Final = 86_400 * MICROS
"""Microseconds of a day."""
EPOCH: Final = datetime(1970, 1, 1)
TIME_LIMIT: Final = (838 * 3600 + 59 * 60 + 59) * MICROS
"""Microseconds of the longest TIME, 838:59:59."""
TIMESTAMP_MIN: Final = MICROS
TIMESTAMP_MAX: Final = 2_147_483_647 * MICROS + 999_999
"""The least and the greatest TIMESTAMP, in microseconds since 1970."""
NAME_LIMIT: Final = 64
"""Characters of a table's or column's name."""

CODECS: Final[Mapping[str, str]] = {
    "utf8mb4": "utf-8",
    "utf8mb3": "utf-8",
    "utf8": "utf-8",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
    "ucs2": "utf-16-be",
    "latin1": "cp1252",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin7": "iso8859-13",
    "ascii": "ascii",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "greek": "iso8859-7",
    "hebrew": "iso8859-8",
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
    "tis620": "tis-620",
    "big5": "big5",
    "euckr": "euc_kr",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "gb18030": "gb18030",
    "sjis": "shift_jis",
    "cp932": "cp932",
    "ujis": "euc_jp",
    "eucjpms": "euc_jp",
}
"""By MySQL character set: Python's codec of its bytes, which has the same characters."""

_BITS: Final = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
"""Bits of each integer type."""
_WIDTH: Final = {"tinyint": 4, "smallint": 6, "mediumint": 9, "int": 11, "bigint": 20}
"""The display width of each signed integer type."""
_WIDTH_UNSIGNED: Final = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}
"""The display width of each unsigned integer type."""
_TEXT_LIMIT: Final = {
    "tinytext": 255,
    "text": 65_535,
    "mediumtext": 16_777_215,
    "longtext": 4_294_967_295,
}
"""Bytes of the longest value of each type of the TEXT family, and of the BLOB of the same prefix.
"""


def integer(name: str, *, unsigned: bool = False, zerofill: bool = False) -> SourceType:
    """The type tinyint, smallint, mediumint, int or bigint; ZEROFILL implies unsigned. Its `length`
    is the display width.
    """
    bits = _BITS[name]
    unsigned = unsigned or zerofill
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    width = (_WIDTH_UNSIGNED if unsigned else _WIDTH)[name]
    return SourceType(
        name, Logical.INT, unsigned=unsigned, zerofill=zerofill, length=width, low=low, high=high
    )


def boolean() -> SourceType:
    """The type of a BOOL column, which MySQL stores as TINYINT(1)."""
    return SourceType("tinyint", Logical.INT, length=1, low=-128, high=127)


def decimal(precision: int = 10, scale: int = 0, *, unsigned: bool = False) -> SourceType:
    """The type DECIMAL(p,s), p up to 65, s up to 30 and not above p. Raises ValueError for other
    numbers.
    """
    if not (1 <= precision <= 65 and 0 <= scale <= min(30, precision)):
        raise ValueError(
            f"decimal({precision},{scale}): precision is 1 to 65, scale 0 to 30 and at most the"
            " precision"
        )
    return SourceType(
        "decimal", Logical.DECIMAL, unsigned=unsigned, precision=precision, scale=scale
    )


def real(
    name: str = "float",
    *,
    unsigned: bool = False,
    precision: int | None = None,
    scale: int | None = None,
) -> SourceType:
    """The type FLOAT or DOUBLE, as `name` says; with `precision` and `scale` FLOAT(p,s) or
    DOUBLE(p,s).
    """
    logical = Logical.FLOAT if name == "float" else Logical.DOUBLE
    return SourceType(name, logical, unsigned=unsigned, precision=precision, scale=scale)


def bit(length: int = 1) -> SourceType:
    """The type of BIT columns of `length` bits, 1 to 64. Raises ValueError for another length."""
    if not 1 <= length <= 64:
        raise ValueError(f"bit({length}): length is 1 to 64")
    return SourceType("bit", Logical.BIT, length=length, low=0, high=(1 << length) - 1)


def text(name: str = "varchar", length: int | None = None) -> SourceType:
    """The type CHAR(n) or VARCHAR(n), with n in characters, or one of the TEXT family, with n in
    bytes. `length` is n; without it n is 255, or the limit of the TEXT type.
    """
    limit = _TEXT_LIMIT.get(name, 255)
    return SourceType(name, Logical.TEXT, length=limit if length is None else length)


def binary(name: str = "varbinary", length: int | None = None) -> SourceType:
    """The type BINARY(n) or VARBINARY(n), or one of the BLOB family, with n in bytes. `length` is
    n; without it n is 255, or the limit of the BLOB type.
    """
    limit = _TEXT_LIMIT.get(name.replace("blob", "text"), 255)
    return SourceType(name, Logical.BINARY, length=limit if length is None else length)


def temporal(name: str, fsp: int = 0) -> SourceType:
    """The type `name`: date, datetime, timestamp or time, with `fsp` fraction digits of the second.
    Raises ValueError for a number of digits other than 0 to 6.
    """
    if not 0 <= fsp <= 6:
        raise ValueError(f"{name}({fsp}): fractional digits are 0 to 6")
    return SourceType(name, Logical(name), fsp=fsp)


def year() -> SourceType:
    """The type YEAR: 0, or 1901 to 2155."""
    return SourceType("year", Logical.YEAR, length=4, low=0, high=2155)


def enum_of(*members: str) -> SourceType:
    """The type ENUM with these labels; values are 1-based indexes, 0 is the empty value of invalid
    input.
    """
    return SourceType("enum", Logical.ENUM, members=members, low=0, high=len(members))


def set_of(*members: str) -> SourceType:
    """The type SET with up to 64 labels; values are bit masks."""
    return SourceType("set", Logical.SET, members=members, low=0, high=(1 << len(members)) - 1)


def json() -> SourceType:
    """The type JSON."""
    return SourceType("json", Logical.JSON)


SPATIAL: Final = (
    *("point", "geometry", "linestring", "polygon"),
    *("multipoint", "multilinestring", "multipolygon", "geometrycollection"),
)
"""Spatial types, which named cases of some formats and recorded tables have."""


def spatial(name: str = "point") -> SourceType:
    """A spatial type. Its values are `Json` of the `srid`, 0 for none, and of `wkb`, the well-known
    binary that MySQL stores, in hex digits.

    Raises ValueError for a name that is none of `SPATIAL`.
    """
    if name not in SPATIAL:
        raise ValueError(f"{name}: not among {', '.join(SPATIAL)}")
    return SourceType(name, Logical.JSON)


def vector(length: int | None = None) -> SourceType:
    """TiDB's VECTOR type with `length` dimensions, or any number with None; its values are
    texts.
    """
    return SourceType("vector", Logical.TEXT, length=length)


TYPES: Final[Mapping[str, SourceType]] = {
    **{n: integer(n) for n in _BITS},
    **{f"unsigned-{n}": integer(n, unsigned=True) for n in _BITS},
    "int-zerofill": integer("int", zerofill=True),
    "bool": boolean(),
    **{
        f"decimal-{p}-{s}": decimal(p, s)
        for p, s in ((10, 0), (10, 2), (10, 4), (4, 4), (20, 10), (38, 10), (65, 30))
    },
    "unsigned-decimal-5-2": decimal(5, 2, unsigned=True),
    "float": real("float"),
    "double": real("double"),
    "unsigned-double": real("double", unsigned=True),
    **{f"bit-{length}": bit(length) for length in (1, 8, 63, 64)},
    "char": text("char", 16),
    "varchar": text("varchar", 255),
    **{n: text(n) for n in _TEXT_LIMIT},
    "binary": binary("binary", 4),
    "varbinary": binary("varbinary", 64),
    **{n: binary(n) for n in ("tinyblob", "blob", "mediumblob", "longblob")},
    "date": temporal("date"),
    **{
        f"{n}-{fsp}": temporal(n, fsp)
        for n in ("datetime", "timestamp", "time")
        for fsp in (0, 3, 6)
    },
    "year": year(),
    "enum": enum_of("a", "b", "c"),
    "enum-quoted": enum_of("it's", "a,b", 'say "hi"', "", "汉字", "MixedCase"),
    "set": set_of("a", "b", "c"),
    "set-64": set_of(*(f"m{i}" for i in range(64))),
    "json": json(),
}
"""Every column type that cases are made of, by the name that case ids use."""
mysql_types().check_types(TYPES)


def wall(clock_text: str) -> int:
    """An ISO date and time as the model keeps wall clocks: microseconds since 1970-01-01."""
    return (datetime.fromisoformat(clock_text) - EPOCH) // timedelta(microseconds=1)


def fits(source_type: SourceType, value: Value) -> bool:
    """Whether MySQL can store the value in the type (its domain; lengths, ranges, fraction
    digits).
    """
    if value is None:
        return True
    match source_type.logical:
        case Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET:
            return type(value) is int and (source_type.low or 0) <= value <= (source_type.high or 0)
        case Logical.YEAR:
            return type(value) is int and (value == 0 or 1901 <= value <= 2155)
        case Logical.DECIMAL:
            if not isinstance(value, Decimal) or not value.is_finite():
                return False
            scale, precision = source_type.scale or 0, source_type.precision or 0
            exponent = value.as_tuple().exponent
            assert isinstance(exponent, int)
            # abs() would round to the context.
            is_whole: bool = value.copy_abs() < Decimal(10) ** (precision - scale)
            return is_whole and -exponent <= scale and not (source_type.unsigned and value < 0)
        case Logical.FLOAT:
            if not isinstance(value, float) or abs(value) > 3.4028234663852886e38:
                return False
            return value == to_float32(value) and not (source_type.unsigned and value < 0)
        case Logical.DOUBLE:
            return (
                isinstance(value, float)
                and abs(value) <= 1.7976931348623157e308
                and not (source_type.unsigned and value < 0)
            )
        case Logical.TEXT:
            if not isinstance(value, str):
                return False
            size = (
                len(value)
                if source_type.name in ("char", "varchar")
                else len(value.encode("utf-8", "surrogatepass"))
            )
            return size <= (source_type.length or 0)
        case Logical.BINARY:
            return isinstance(value, bytes) and len(value) <= (source_type.length or 0)
        case Logical.DATE:
            return isinstance(value, date | ZeroDate)
        case Logical.DATETIME if isinstance(value, ZeroDate):
            return value.micros % micros_step(source_type.fsp) == 0
        case Logical.TIMESTAMP if isinstance(value, ZeroDate):
            return value == ZeroDate()
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            low, high = _RANGES[source_type.logical]
            return (
                type(value) is int
                and low <= value <= high
                and value % micros_step(source_type.fsp) == 0
            )
        case Logical.JSON:
            return isinstance(value, Json)


_RANGES: Final = {
    Logical.DATETIME: (wall("0001-01-01"), wall("9999-12-31") + DAY - 1),
    Logical.TIMESTAMP: (TIMESTAMP_MIN, TIMESTAMP_MAX),
    Logical.TIME: (-TIME_LIMIT, TIME_LIMIT),
}
"""The least and the greatest value of each type of times, in microseconds."""


def micros_step(fsp: int) -> int:
    """How many microseconds a step of the last digit is in a fraction of `fsp` digits (0 to 6):
    1000 for 3.
    """
    return int(10 ** (6 - fsp))


def to_float32(value: float) -> float:
    """The nearest binary32 as a Python float; infinities for what does not fit."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def value_class(type: SourceType, value: Value) -> str:
    """The class of a value, by which rules select. Classes by logical type:

    int: zero, negative, plain, beyond-double (magnitude above 2^53), over-signed (unsigned above
    the signed maximum); decimal: plain, long (more than 15 digits), wide (precision above 38);
    float, double: zero, negative-zero, integral, fraction, exponent (Java would print an exponent);
    bit, set: zero, plain, over-signed (2^63 and above); enum: empty, plain; year: zero, plain;
    text: empty, plain, literal-null, quote, control, html, separator (U+2028/2029), astral,
    non-ascii; binary: empty, high (a byte above 0x7f), control, base64-like, trailing-zero, ascii;
    date, datetime, timestamp: zero, partial-zero, whole, millis, micros; time: negative, over-24h,
    micros, millis, plain; json: null-literal, number, string, object, array, bool.
    """
    match type.logical, value:
        case Logical.INT, int():
            if value == 0:
                return "zero"
            if type.unsigned and value > (type.high or 0) >> 1:
                return "over-signed"
            if abs(value) > 1 << 53:
                return "beyond-double"
            return "negative" if value < 0 else "plain"
        case Logical.DECIMAL, Decimal():
            if (type.precision or 0) > 38:
                return "wide"
            return "long" if len(value.as_tuple().digits) > 15 else "plain"
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            if value == 0:
                return "negative-zero" if str(value).startswith("-") else "zero"
            if not 1e-3 <= abs(value) < 1e7:
                return "exponent"
            return "integral" if value.is_integer() else "fraction"
        case ((Logical.BIT | Logical.SET), int()):
            return "zero" if value == 0 else "over-signed" if value >> 63 else "plain"
        case Logical.ENUM, _:
            return "empty" if value == 0 else "plain"
        case Logical.YEAR, _:
            return "zero" if value == 0 else "plain"
        case Logical.TEXT, str():
            return _text_class(value)
        case Logical.BINARY, bytes():
            return _binary_class(value)
        case _, ZeroDate():
            return "zero" if (value.year, value.month, value.day) == (0, 0, 0) else "partial-zero"
        case _, date():
            return "whole"
        case ((Logical.DATETIME | Logical.TIMESTAMP), int()):
            return _fraction_class(value)
        case Logical.TIME, int():
            if value < 0:
                return "negative"
            if value >= DAY:
                return "over-24h"
            fraction = _fraction_class(value)
            return "plain" if fraction == "whole" else fraction
        case _, Json():
            return _json_class(value.value)
    raise TypeError(f"{value!r:.80} is no {type.key}")


def _fraction_class(value: int) -> str:
    """The class of a time, by its finest unit: `whole` seconds, `millis` or `micros`."""
    return "micros" if value % 1000 else "millis" if value % MICROS else "whole"


_TEXT_CLASSES: Final = tuple(
    (cls, re.compile(pattern))
    for cls, pattern in (
        ("astral", "[\U00010000-\U0010ffff]"),
        ("separator", "[\u2028\u2029]"),
        ("control", "[\\x00-\\x1f\\x7f-\\x9f]"),
        ("html", "[<>&]"),
        ("quote", "[\"\\\\/']"),
        ("non-ascii", "[^\\x00-\\x7f]"),
    )
)
"""Classes of texts, each with the pattern that it has; the first that is found counts."""


def _text_class(value: str) -> str:
    """The `value_class` of a text: the first of its traits on which decoders fail."""
    if not value:
        return "empty"
    if value == "null":
        return "literal-null"
    for cls, pattern in _TEXT_CLASSES:
        if pattern.search(value):
            return cls
    return "plain"


def _binary_class(value: bytes) -> str:
    """The value class of a binary string: the first of its traits on which decoders fail."""
    if not value:
        return "empty"
    if any(b > 0x7F for b in value):
        return "high"
    if value.endswith(b"\0"):
        return "trailing-zero"
    if any(b < 0x20 or b == 0x7F for b in value):
        return "control"
    try:
        base64.b64decode(value, validate=True)
        return "base64-like"
    except binascii.Error:
        return "ascii"


def _json_class(value: object) -> str:
    """The value class of a JSON value, by the sort of its outermost part: `object`, `number`,
    `null-literal` ...
    """
    match value:
        case None:
            return "null-literal"
        case bool():
            return "bool"
        case int() | float() | Decimal():
            return "number"
        case str():
            return "string"
        case dict():
            return "object"
        case _:
            return "array"


def boundary_values(slug: str) -> Mapping[str, Value]:
    """The boundary values of a type by their names, without NULL. `slug` is the type's name in
    `TYPES`. Raises KeyError if it is none.
    """
    return candidates(TYPES[slug])


def candidates(type: SourceType) -> Mapping[str, Value]:
    """The boundary values of any MySQL type by their names, without NULL."""
    match type.logical:
        case Logical.INT:
            return _integer_boundaries(type)
        case Logical.DECIMAL:
            return _decimal_boundaries(type)
        case Logical.BIT | Logical.SET:
            values: dict[str, Value] = {"zero": 0, "one": 1, "all-ones": type.high}
            if type.high is not None and type.high >> 63:
                values |= {"signed-max": (1 << 63) - 1, "one-over-signed-max": 1 << 63}
            # A SET is a number with a bit for each member: 0b101 is the first and the third one.
            if type.logical is Logical.SET and len(type.members) < 63:
                values["two-members"] = 0b101
            return values
        case Logical.ENUM:
            return {"empty": 0, **{f"member-{i}": i for i in range(1, len(type.members) + 1)}}
        case Logical.YEAR:
            return {"zero": 0, "min": 1901, "max": 2155, "plain": 2024}
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            return _temporal_boundaries(type)
        case _:
            return {n: v for n, v in _PLAIN_BOUNDARIES[type.logical].items() if fits(type, v)}


def _integer_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values of a MySQL integer type by name, among them numbers that a signed reader or a
    double would change.
    """
    low, high = type.low or 0, type.high or 0
    values: dict[str, Value] = {"min": low, "max": high, "one": 1}
    if low:
        values |= {"zero": 0, "minus-one": -1}
    if type.unsigned:
        values |= {"signed-max": high >> 1, "one-over-signed-max": (high >> 1) + 1}
    if high > 1 << 54:
        values |= {"two-to-53-plus-one": (1 << 53) + 1, "eighteen-digits": 447984084414103554}
    return values


def _decimal_boundaries(type: SourceType) -> dict[str, Value]:
    """The named boundary values of a DECIMAL of this precision and scale."""
    precision, scale = type.precision or 0, type.scale or 0
    unit = Decimal(1).scaleb(-scale)
    largest = Decimal((0, (9,) * precision, -scale))
    values = {"zero": Decimal(0).scaleb(-scale), "unit": unit, "max": largest}
    if not type.unsigned:
        values |= {"min": largest.copy_negate(), "minus-unit": unit.copy_negate()}
    if precision - scale >= 3:
        values["integral"] = Decimal(f"123{'.' if scale else ''}{'0' * scale}")
    if scale >= 2 and precision - scale >= 3:
        values["trailing-zeros"] = Decimal("123.45".ljust(4 + scale, "0")[: 4 + scale])
    if precision >= 20:
        digits = tuple((i + 1) % 10 for i in range(precision))
        values["many-digits"] = Decimal((0, digits, -scale))
    if scale == 10:
        values["long-fraction"] = Decimal("1.1234567890")
    return dict(values)


def _temporal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values of a MySQL DATE, TIME, DATETIME or TIMESTAMP type by name, none finer than
    its fractional seconds; zero dates and hours around changes of daylight saving time are among
    them.
    """
    unit = micros_step(type.fsp)
    last = MICROS - unit
    if type.logical is Logical.DATE:
        return {
            "zero": ZeroDate(),
            "partial-zero": ZeroDate(2024, 0, 0),
            "zero-day": ZeroDate(2024, 2, 0),
            "min": date(1000, 1, 1),
            "max": date(9999, 12, 31),
            "leap-day": date(2024, 2, 29),
            "before-gregorian": date(1582, 10, 4),
            "epoch": date(1970, 1, 1),
        }
    if type.logical is Logical.TIME:
        values = {
            "zero": 0,
            "min": -TIME_LIMIT,
            "max": TIME_LIMIT,
            "hundred-hours": (100 * 3600 + 62) * MICROS,
            "last-of-day": DAY - unit,
            "one-day": DAY,
            "minus-one-second": -MICROS,
        }
        if type.fsp:
            values |= {
                "minus-one-unit": -unit,
                "one-unit": unit,
                "fraction": wall("1970-01-01 10:20:30") + 120_000,
            }
        return dict(values)
    if type.logical is Logical.DATETIME:
        return {
            "zero": ZeroDate(),
            "partial-zero": ZeroDate(2024, 0, 0),
            "min": wall("1000-01-01 00:00:00"),
            "before-epoch": -unit,
            "max": wall("9999-12-31 23:59:59") + last,
            "leap-day": wall("2024-02-29 23:59:59") + last,
            "one-unit": wall("2024-01-01 00:00:00") + unit,
            "spring-gap": wall("2024-03-10 02:30:00"),
            "midnight": wall("2024-03-11 00:00:00"),
        }
    return {
        "zero": ZeroDate(),
        "min": TIMESTAMP_MIN,
        "max": TIMESTAMP_MAX - 999_999 + last,
        "one-unit": wall("2024-01-01 00:00:00") + unit,
        "plain": wall("2024-06-15 12:34:56") + last,
        "autumn-first": wall("2024-11-03 05:30:00"),
        "autumn-second": wall("2024-11-03 06:30:00"),
        "spring-after": wall("2024-03-10 07:30:00"),
    }


TEXTS: Final[Mapping[str, Value]] = {
    "literal-null": "null",
    "html": "<a&b>",
    "quotes": 'say "hi"\\/\'',
    "controls": "\t\n\r\b\f\x01\x0b\x1f",
    "delete-and-c1": "\x7f\x80\x9f",
    "latin": "é",
    "han": "汉字",
    "emoji": "😀",
    "separators": "\u2028\u2029",
    "bom": "\ufeffx",
    "digits": "00123",
}
"""Named texts that are boundary values in every source."""
BYTES: Final[Mapping[str, Value]] = {
    "high": b"\x80\xff\x00\x7f",
    "nul": b"\x00\x01\x02\x03",
    "trailing-zeros": b"ab\x00\x00",
    "not-utf-8": b"\xff\xfe\xc3",
    "utf-8-like": "é".encode(),
    "backslash-x": b"\\x41",
}
"""Named bytes that are boundary values in every source."""
DOCUMENTS: Final[Mapping[str, Value]] = {
    "object": Json({"a": 1, "b": None}),
    "array": Json([1, "x", True, None]),
    "empty-object": Json({}),
    "string": Json('he said "hi" <&> \n'),
    "null-literal": Json(None),
    "true": Json(True),
    "integer": Json(9007199254740993),
}
"""Named JSON documents that are boundary values in MySQL and PostgreSQL."""
_PLAIN_BOUNDARIES: Final[Mapping[Logical, Mapping[str, Value]]] = {
    Logical.FLOAT: {
        "zero": 0.0,
        "one": 1.0,
        "fraction": to_float32(3.14),
        "short": to_float32(123.99),
        "negative": -2.5,
        "ten-million": 1e7,
        "below-ten-million": 9_999_999.0,
        "small": to_float32(1e-4),
        "max": to_float32(3.4028234663852886e38),
        "min-subnormal": to_float32(1.401298464324817e-45),
        "ten-digits": 1e10,
    },
    Logical.DOUBLE: {
        "zero": 0.0,
        "one": 1.0,
        "third": 1 / 3,
        "negative": -2.5,
        "ten-million": 1e7,
        "nine-digits": 123456789.0,
        "small": 1e-4,
        "two-e23": 2e23,
        "max": 1.7976931348623157e308,
        "min-subnormal": 5e-324,
        "seventeen-digits": 0.1 + 0.2,
    },
    Logical.TEXT: {
        "empty": "",
        "plain": "hello",
        "spaces-inside": "a  b",
        **TEXTS,
        "boolean-like": "true",
        "replacement": "\ufffd",
    },
    Logical.BINARY: {
        "empty": b"",
        "ascii": b"ab-!"[:4],
        "base64-like": b"abcd",
        **BYTES,
        "document-example": bytes(
            [5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70]
        ),
        "every-byte": bytes(range(256))[:255],
    },
    Logical.JSON: {
        **DOCUMENTS,
        "unsigned": Json(18446744073709551615),
        "double": Json(1.5),
        "integral-double": Json(1.0),
        "large-double": Json(1e20),
        "small-double": Json(1e-16),
        "upper-case-keys": Json({"Key": "Value", "KEY": {"K": 1}}),
        "keys-by-length": Json({"bb": 1, "a": 2, "ccc": {"z": [], "y": "汉"}}),
    },
}
"""The named boundary values of logical types whose values do not depend on a type's parameters;
those that a type cannot hold are left out of its own.
"""


def date_text(value: date | ZeroDate) -> str:
    """The date as MySQL prints it, `YYYY-MM-DD`; parts that are zero stay."""
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def datetime_text(value: int | ZeroDate, fsp: int) -> str:
    """A date and time as MySQL prints it: `YYYY-MM-DD HH:MM:SS` and exactly `fsp` fraction
    digits.
    """
    if isinstance(value, ZeroDate):
        return f"{date_text(value)} {time_text(value.micros, fsp)}"
    days, micros = divmod(value, DAY)
    return f"{date_text((EPOCH + timedelta(days=days)).date())} {time_text(micros, fsp)}"


def time_text(value: int, fsp: int) -> str:
    """A TIME in microseconds as MySQL prints it: `[-]HH:MM:SS` with at least two hour digits and
    exactly `fsp` fraction digits.
    """
    seconds, fraction = divmod(abs(value), MICROS)
    clock_text = f"{'-' if value < 0 else ''}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock_text}.{fraction:06d}"[: len(clock_text) + 1 + fsp] if fsp else clock_text


def declared(type: SourceType) -> str:
    """The spelling of a type as MySQL 5.7's SHOW CREATE TABLE prints it: `int(10) unsigned`,
    `decimal(10,2)`, `varchar(64)`.
    """
    suffix = (" unsigned" if type.unsigned else "") + (" zerofill" if type.zerofill else "")
    match type.logical:
        case Logical.INT | Logical.BIT | Logical.YEAR:
            return f"{type.name}({type.length}){suffix}"
        case Logical.DECIMAL:
            return f"decimal({type.precision},{type.scale}){suffix}"
        case Logical.FLOAT | Logical.DOUBLE if type.scale is not None:
            return f"{type.name}({type.precision},{type.scale}){suffix}"
        case Logical.TEXT | Logical.BINARY if type.name in (
            "char",
            "varchar",
            "binary",
            "varbinary",
        ):
            return f"{type.name}({type.length})"
        case Logical.ENUM | Logical.SET:
            labels = ("'" + member.replace("'", "''") + "'" for member in type.members)
            return f"{type.name}({','.join(labels)})"
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME if type.fsp:
            return f"{type.name}({type.fsp})"
        case _:
            return type.name + suffix


def key_order(key: str) -> tuple[int, bytes]:
    """The sort key by which MySQL's JSON, and PostgreSQL's jsonb, order the names of an object: by
    length, then by bytes.
    """
    encoded = key.encode("utf-8", "surrogatepass")
    return len(encoded), encoded


def quote(name: str) -> str:
    """A name in back quotes, as SQL has it; each back quote in it is doubled."""
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class DdlAction:
    """A kind of DDL statement. `sql` is its text with {db}, {table} and {other} in the places of
    names that are in quotes already. `level` is what it is about, `table` or `database`; `renames`
    says that it gives the table {other} the name {table}.
    """

    sql: str
    level: str = "table"
    renames: bool = False


DDL_ACTIONS: Final[Mapping[str, DdlAction]] = {
    "create database": DdlAction("CREATE DATABASE {db}", "database"),
    "drop database": DdlAction("DROP DATABASE {db}", "database"),
    "alter database": DdlAction("ALTER DATABASE {db} CHARACTER SET utf8mb4", "database"),
    "create table": DdlAction(
        "CREATE TABLE {table} (`id` bigint NOT NULL, `c` int, PRIMARY KEY (`id`))"
    ),
    "drop table": DdlAction("DROP TABLE {db}.{table}"),
    "truncate table": DdlAction("TRUNCATE TABLE {table}"),
    "rename table": DdlAction("RENAME TABLE {db}.{other} TO {db}.{table}", renames=True),
    "add column": DdlAction("ALTER TABLE {table} ADD COLUMN `added` int DEFAULT 1"),
    "drop column": DdlAction("ALTER TABLE {table} DROP COLUMN `c`"),
    "modify column": DdlAction("ALTER TABLE {table} MODIFY COLUMN `c` bigint"),
    "set default": DdlAction("ALTER TABLE {table} ALTER COLUMN `c` SET DEFAULT 5"),
    "rename index": DdlAction("ALTER TABLE {table} RENAME INDEX `i` TO `j`"),
    "table comment": DdlAction("ALTER TABLE {table} COMMENT = 'it''s \"new\"'"),
    "add partition": DdlAction(
        "ALTER TABLE {table} ADD PARTITION (PARTITION p2 VALUES LESS THAN (20))"
    ),
    "table charset": DdlAction("ALTER TABLE {table} CHARACTER SET utf8mb4"),
    "create index": DdlAction("CREATE INDEX `i` ON {table} (`c`)"),
    "drop index": DdlAction("DROP INDEX `i` ON {table}"),
    "add primary key": DdlAction("ALTER TABLE {table} ADD PRIMARY KEY (`id`)"),
    "drop primary key": DdlAction("ALTER TABLE {table} DROP PRIMARY KEY"),
    "add foreign key": DdlAction(
        "ALTER TABLE {table} ADD CONSTRAINT `f` FOREIGN KEY (`c`) REFERENCES {other} (`id`)"
    ),
    "create view": DdlAction("CREATE VIEW {table} AS SELECT 1 AS `a`"),
    "drop view": DdlAction("DROP VIEW {db}.{table}"),
    "create sequence": DdlAction("CREATE SEQUENCE {table}"),
    "exchange partition": DdlAction(
        "ALTER TABLE {db}.{table} EXCHANGE PARTITION p0 WITH TABLE {db}.{other}"
    ),
}
"""DDL statements of a MySQL-like source; each writer maps the actions that it knows to its own
types.
"""
