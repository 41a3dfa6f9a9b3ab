"""SQL Server column types: domains, boundary values, and how T-SQL spells them.

Sources: Microsoft's documentation of Transact-SQL, chapter "Data types".

Canonical values beside MySQL's:

- `bit` is 0 or 1; `money` and `smallmoney` have four fraction digits.
- `char(n)` and `nchar(n)` are padded with spaces, as SQL Server gives them back; `char` and
  `varchar` hold any character, as under a UTF-8 collation.
- `uniqueidentifier` is text in capitals. `hierarchyid` and `rowversion` are their bytes.
- `datetimeoffset` is microseconds since the epoch, or, in values that have an offset other than
  zero, text as `2018-07-13 12:23:45.456 +11:00`.
- `time`, `datetime2` and `datetimeoffset` have up to seven fraction digits, which is their `scale`;
  `fsp` is at most 6, since a value has whole microseconds. A value with a seventh digit is text.

Left out: `sql_variant`, `geometry`, `geography`, `json`, `vector` and types of users.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from generators.model import Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, MICROS, DdlAction, micros_step, to_float32, wall
from generators.sources.sqlserver_types import sqlserver_types

SCHEMA: Final = "dbo"
"""The schema of every table that cases are made of."""
NAME_LIMIT: Final = 128
"""Characters of an identifier."""
MOST_DIGITS: Final = 38
"""Digits of a decimal."""
_LARGE: Final = 1 << 30
"""The length of a type of large texts or bytes: more than any value here has."""
_DATETIME_MIN: Final = wall("1753-01-01")
"""The first datetime."""
_SMALL_MIN: Final = wall("1900-01-01")
_SMALL_MAX: Final = wall("2079-06-06 23:59:00")
"""The first and the last smalldatetime."""
_MIN: Final = wall("0001-01-01")
_MAX: Final = wall("9999-12-31 23:59:59.999999")
"""The first and the last datetime2."""
_NANOS_MIN: Final = wall("1677-09-21 00:12:44")
_NANOS_MAX: Final = wall("2262-04-11 23:47:16")
"""The first and the last second whose nanoseconds since 1970 fit 64 bits."""


def _type(name: str, **parameters: Any) -> SourceType:
    logical = sqlserver_types()[name].logical
    return SourceType(name, logical, source="sqlserver", **parameters)


def integer(name: str = "int") -> SourceType:
    """The type tinyint (0 to 255), smallint, int or bigint. Raises KeyError for another name."""
    if name == "tinyint":
        return _type(name, low=0, high=255)
    bits = {"smallint": 15, "int": 31, "bigint": 63}[name]
    return _type(name, low=-(1 << bits), high=(1 << bits) - 1)


def decimal(precision: int = 18, scale: int = 0, name: str = "decimal") -> SourceType:
    """The type decimal or numeric, p up to 38 digits, s of them behind the point. Raises ValueError
    for other numbers.
    """
    if not (1 <= precision <= MOST_DIGITS and 0 <= scale <= precision):
        raise ValueError(f"{name}({precision},{scale}): precision is 1 to 38, scale 0 to it")
    return _type(name, precision=precision, scale=scale)


def money(name: str = "money") -> SourceType:
    """The type money or smallmoney: an amount in 64 or 32 bits of ten-thousandths, which `low` and
    `high` are in.
    """
    value_bits, digits = (63, 19) if name == "money" else (31, 10)  # bits without the sign
    low, high = -(1 << value_bits), (1 << value_bits) - 1
    return _type(name, precision=digits, scale=4, low=low, high=high)


def real(name: str = "float") -> SourceType:
    """The type float, of 64 bits, or real, of 32."""
    return _type(name)


def bit() -> SourceType:
    """The type bit: 0 or 1."""
    return _type("bit", length=1, low=0, high=1)


def text(name: str = "nvarchar", length: int | None = None) -> SourceType:
    """A type of texts: char(n) and varchar(n) of n bytes of UTF-8, nchar(n) and nvarchar(n) of n
    units of UTF-16, and the types of large texts.
    """
    sized = name in ("char", "varchar", "nchar", "nvarchar")
    return _type(name, length=length or (255 if sized else _LARGE))


def uniqueidentifier() -> SourceType:
    """A uniqueidentifier, a UUID in capitals."""
    return _type("uniqueidentifier", length=36)


def binary(name: str = "varbinary", length: int | None = None) -> SourceType:
    """The type of this name whose values are bytes. `length` is that of a binary or varbinary, by
    default 255; the other types (varbinary(max), image, rowversion, hierarchyid) have their own.
    """
    fixed = {"rowversion": 8, "hierarchyid": 892, "image": _LARGE, "varbinary(max)": _LARGE}
    return _type(name, length=length or fixed.get(name, 255))


def temporal(name: str, scale: int = 7) -> SourceType:
    """The type date, smalldatetime, datetime, or time(n), datetime2(n), datetimeoffset(n) of
    `scale` fraction digits, 0 to 7 and by default 7. Raises ValueError for others.
    """
    scale = {"date": 0, "smalldatetime": 0, "datetime": 3}.get(name, scale)
    if not 0 <= scale <= 7:
        raise ValueError(f"{name}({scale}): fraction digits are 0 to 7")
    # Values are whole microseconds: `fsp` is at most 6, `scale` has the declared digits.
    return _type(name, fsp=min(scale, 6), scale=scale)


TYPES: Final[Mapping[str, SourceType]] = {
    **{name: integer(name) for name in ("tinyint", "smallint", "int", "bigint")},
    "bit": bit(),
    "decimal-10-2": decimal(10, 2),
    "decimal-38-10": decimal(38, 10),
    "numeric-18-0": decimal(name="numeric"),
    "money": money(),
    "smallmoney": money("smallmoney"),
    "float": real(),
    "real": real("real"),
    "char": text("char", 16),
    "varchar": text("varchar", 255),
    "varchar-max": text("varchar(max)"),
    "text": text("text"),
    "nchar": text("nchar", 16),
    "nvarchar": text("nvarchar", 255),
    "nvarchar-max": text("nvarchar(max)"),
    "ntext": text("ntext"),
    "xml": text("xml"),
    "uniqueidentifier": uniqueidentifier(),
    "binary": binary("binary", 16),
    "varbinary": binary("varbinary", 255),
    "varbinary-max": binary("varbinary(max)"),
    "image": binary("image"),
    "rowversion": binary("rowversion"),
    "hierarchyid": binary("hierarchyid"),
    "date": temporal("date"),
    **{f"time-{scale}": temporal("time", scale) for scale in (0, 3, 6, 7)},
    "smalldatetime": temporal("smalldatetime"),
    "datetime": temporal("datetime"),
    **{f"datetime2-{scale}": temporal("datetime2", scale) for scale in (0, 3, 6, 7)},
    **{f"datetimeoffset-{scale}": temporal("datetimeoffset", scale) for scale in (0, 7)},
}
"""Every column type that cases are made of, by the name that case ids use."""


def text_size(type: SourceType, value: str) -> int:
    """The size of a text in the unit of its type's length: units of UTF-16 for nchar, nvarchar and
    ntext, else bytes of UTF-8.
    """
    if type.name.startswith("n"):
        return len(value.encode("utf-16-le", "surrogatepass")) // 2
    return len(value.encode("utf-8", "surrogatepass"))


def stored_text(type: SourceType, value: str) -> str:
    """The text as a column of the type returns it: without NUL characters; char and nchar are
    padded with blanks to their length.
    """
    value = value.replace("\0", "")
    if type.name not in ("char", "nchar"):
        return value
    value = value.rstrip(" ")
    length = type.length or 0
    while text_size(type, value) > length:
        value = value[:-1]
    return value + " " * (length - text_size(type, value))


def shortened_text(type: SourceType, value: str) -> str:
    """The longest beginning of a text that a column of the type can hold, padded as the column
    returns it.
    """
    value = stored_text(type, value)
    while not fits(type, value) and value:
        value = stored_text(type, value[:-1])
    return value


_SAMPLED: Final = frozenset(
    {"datetime", "smalldatetime", "uniqueidentifier", "xml", "binary", "rowversion"}
)
"""Types whose values have a grammar, a length or a unit of their own."""


def is_sampled(type: SourceType) -> bool:
    """Whether values of the type have a grammar, a length or a unit of their own, so that only its
    boundary values are drawn.
    """
    return type.source == "sqlserver" and type.name in _SAMPLED


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_UUID: Final = re.compile("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")
_ELEMENT: Final = re.compile(r"<(\w+)(>[^<>&]*</\1>|/>)")
"""An XML element without attributes, with text alone in it or empty."""


def fits(source_type: SourceType, value: Value) -> bool:
    """Whether SQL Server can store the value in the type and returns it unchanged."""
    if value is None:
        return True
    match source_type.logical:
        case Logical.DECIMAL:
            return _fits_decimal(source_type, value)
        case Logical.FLOAT | Logical.DOUBLE:
            return (
                isinstance(value, float)
                and math.isfinite(value)
                and (source_type.logical is Logical.DOUBLE or to_float32(value) == value)
            )
        case Logical.TEXT:
            return isinstance(value, str) and _fits_text(source_type, value)
        case Logical.BINARY:
            is_padded = source_type.name in ("binary", "rowversion")
            length = source_type.length or 0
            return isinstance(value, bytes) and (
                len(value) == length if is_padded else len(value) <= length
            )
        case Logical.DATE:
            return isinstance(value, date)
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            return type(value) is int and _fits_moment(source_type, value)
        case _:
            return mysql.fits(source_type, value)


def _fits_decimal(type: SourceType, value: Value) -> bool:
    """Whether a decimal fits precision and scale, and the limits of money in ten-thousandths."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    exponent, scale = value.as_tuple().exponent, type.scale or 0
    assert isinstance(exponent, int)
    if -exponent > scale or (value and value.adjusted() >= (type.precision or 0) - scale):
        return False
    if type.low is None or type.high is None:
        return True
    return Decimal(type.low) <= value.scaleb(4) <= Decimal(type.high)


def _fits_text(type: SourceType, value: str) -> bool:
    """Whether a text fits the length of its type, or the grammar of a uniqueidentifier or xml."""
    if _UNSTORABLE.search(value):
        return False
    if type.name == "uniqueidentifier":
        return bool(_UUID.fullmatch(value))
    if type.name == "xml":
        return bool(_ELEMENT.fullmatch(value))
    size, length = text_size(type, value), type.length or 0
    return size == length if type.name in ("char", "nchar") else size <= length


def _fits_moment(type: SourceType, value: int) -> bool:
    """Whether microseconds are in the type's range and a multiple of its unit: datetime has
    thirds of hundredths of a second, smalldatetime minutes.
    """
    low, high = moment_range(type)
    if not low <= value <= high:
        return False
    if type.name == "smalldatetime":
        return value % (60 * MICROS) == 0
    if type.name == "datetime":
        return value % 1000 == 0 and value // 1000 % 10 in (0, 3, 7)
    return value % micros_step(type.fsp) == 0


def moment_range(type: SourceType) -> tuple[int, int]:
    """The least and the greatest value of a type of times, in microseconds."""
    if type.logical is Logical.TIME:
        return 0, DAY - 1
    if type.logical is Logical.TIMESTAMP:
        return _MIN + DAY, _MAX - DAY
    return {
        "smalldatetime": (_SMALL_MIN, _SMALL_MAX),
        "datetime": (_DATETIME_MIN, wall("9999-12-31 23:59:59.997000")),
    }.get(type.name, (_MIN, _MAX))


def candidates(type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of a type; some may not fit it."""
    match type.logical:
        case Logical.INT:
            named_numbers: dict[str, Value] = {
                "min": type.low,
                "max": type.high,
                "zero": 0,
                "one": 1,
                "minus-one": -1,
            }
            if type.name == "bigint":
                named_numbers |= {"two-to-53-plus-one": (1 << 53) + 1}
            if type.name == "tinyint":
                named_numbers |= {"over-signed": 128}
            return named_numbers
        case Logical.DECIMAL:
            return _decimal_boundaries(type)
        case Logical.BIT:
            return {"false": 0, "true": 1}
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            return _temporal_boundaries(type)
        case Logical.FLOAT:
            return {**_REALS, "third": to_float32(1 / 3), "max": 3.4028234663852886e38}
        case Logical.DOUBLE:
            return {**_REALS, "seventeen-digits": 0.1 + 0.2, "max": 1.7976931348623157e308}
        case Logical.BINARY:
            return _binary_boundaries(type)
    match type.name:
        case "uniqueidentifier":
            return {
                "nil": "00000000-0000-0000-0000-000000000000",
                "plain": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
                "digits": "12345678-1234-1234-1234-123456789012",
            }
        case "xml":
            return {"empty-element": "<a/>", "plain": "<a>b</a>", "han": "<a>汉字</a>"}
        case "char" | "nchar":
            return {name: stored_text(type, str(value)) for name, value in _TEXTS.items()}
    return _TEXTS


def _decimal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a decimal, numeric, money or smallmoney."""
    precision, scale = type.precision or 0, type.scale or 0
    if type.low is not None and type.high is not None:
        low, high = type.low, type.high
    else:
        low, high = -(10**precision) + 1, 10**precision - 1
    units = {
        "zero": 0,
        "unit": 1,
        "minus-unit": -1,
        "min": low,
        "max": high,
        "integral": 123 * 10**scale,
        "trailing-zeros": 12_345 * 10 ** max(scale - 2, 0),
    }
    return {
        name: Decimal((int(unit < 0), tuple(map(int, str(abs(unit)))), -scale))
        for name, unit in units.items()
    }


def _binary_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a type of bytes; of a fixed length they are padded with zeros."""
    length = type.length or 0
    if type.name in ("binary", "rowversion"):
        return {
            "zeros": b"\0" * length,
            "ascii": b"ab-!".ljust(length, b"\0"),
            "high": b"\x80\xff\x00\x7f".ljust(length, b"\0"),
            "full": bytes((0xF0 + place) % 256 for place in range(length)),
        }
    if type.name == "hierarchyid":
        return {"top": b"", "child": b"\x58", "grandchild": b"\x5a\xc0"}
    return {"empty": b"", "ascii": b"ab-!", "digits-in-base64": b"\xd7m\xf8", **mysql.BYTES}


def _temporal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a type of dates and times, none finer than its unit."""
    if type.logical is Logical.DATE:
        return {
            "min": date(1, 1, 1),
            "max": date(9999, 12, 31),
            "epoch": date(1970, 1, 1),
            "before-epoch": date(1969, 12, 31),
            "leap-day": date(2024, 2, 29),
            "before-gregorian": date(1582, 10, 4),
        }
    unit = {"datetime": 10_000, "smalldatetime": 60 * MICROS}.get(type.name, micros_step(type.fsp))
    if type.logical is Logical.TIME:
        return {
            "zero": 0,
            "last-of-day": DAY - unit,
            "plain": 37_230 * MICROS,
            "one-unit": unit,
            "fraction": 37_230_120_000 // unit * unit,
        }
    low, high = moment_range(type)
    named_moments: dict[str, Value] = {
        "epoch": 0,
        "min": low,
        "max": high // unit * unit if type.name != "datetime" else high,
        "before-epoch": -unit,
        "leap-day": (wall("2024-02-29 23:59:59") + 990_000) // unit * unit,
        "one-unit": wall("2024-01-01 00:00:00") + unit,
        "spring-gap": wall("2024-03-10 02:30:00"),
    }
    if (type.scale or 0) > 6:
        named_moments |= {"last-in-nanoseconds": _NANOS_MAX, "first-in-nanoseconds": _NANOS_MIN}
    return named_moments


_REALS: Final[Mapping[str, Value]] = {
    "zero": 0.0,
    "one": 1.0,
    "negative": -2.5,
    "ten-million": 1e7,
    "ten-digits": 1e10,
    "fraction": 0.125,
}
_TEXTS: Final[Mapping[str, Value]] = {
    "empty": "",
    "plain": "hello",
    "spaces": " a  b",
    **mysql.TEXTS,
    "unavailable-text": "__debezium_unavailable_value",
}


def candidates_that_fit(type: SourceType) -> tuple[Value, ...]:
    """The boundary values of a type that fit it, without their names."""
    return tuple(_fitting_candidates(type).values())


def boundary_values(slug: str) -> Mapping[str, Value]:
    """The boundary values by name of a type of `TYPES`, without NULL. Raises KeyError."""
    return _fitting_candidates(TYPES[slug])


def _fitting_candidates(type: SourceType) -> dict[str, Value]:
    """Those of a type's named candidates that fit it."""
    return {name: value for name, value in candidates(type).items() if fits(type, value)}


def declared(type: SourceType) -> str:
    """The spelling of a type in a CREATE TABLE: `nvarchar(64)`, `datetime2(3)`, `decimal(10,2)`."""
    match type.name:
        case "decimal" | "numeric":
            return f"{type.name}({type.precision},{type.scale})"
        case "time" | "datetime2" | "datetimeoffset":
            return f"{type.name}({type.scale})"
        case "char" | "varchar" | "nchar" | "nvarchar" | "binary" | "varbinary":
            return f"{type.name}({type.length})"
    return type.name


def quote(name: str) -> str:
    """An identifier in brackets."""
    return "[" + name.replace("]", "]]") + "]"


DDL_ACTIONS: Final[Mapping[str, DdlAction]] = {
    "create table": DdlAction(
        "CREATE TABLE [dbo].{table} ([id] bigint NOT NULL PRIMARY KEY, [c] int)"
    ),
    "add column": DdlAction("ALTER TABLE [dbo].{table} ADD [added] int"),
    "drop column": DdlAction("ALTER TABLE [dbo].{table} DROP COLUMN [c]"),
    "modify column": DdlAction("ALTER TABLE [dbo].{table} ALTER COLUMN [c] bigint"),
}
"""DDL statements of a SQL Server source, as `mysql.DDL_ACTIONS`."""
