"""Oracle column types: domains, boundary values, and how SQL spells them.

Sources: Oracle Database SQL Language Reference 19c, "Data Types".

Canonical values beside MySQL's:

- A NUMBER(p) of up to 18 digits is an int, every other NUMBER and FLOAT a Decimal.
- DATE has a time of day: it is microseconds of wall clock, as TIMESTAMP. A value with digits beyond
  microseconds is text.
- `timestamptz` is microseconds since the epoch, or, in values that have an offset other than zero,
  text as `2018-07-13 12:23:45.456 +11:00`; `timestampltz` microseconds since the epoch.
- Intervals are Oracle's text: `+0003-06` of INTERVAL YEAR(4) TO MONTH, `+0001 02:03:04.500000` of
  INTERVAL DAY(4) TO SECOND(6). If a writer spells such a value otherwise, that text is the value.
- The empty text and no bytes are NULL to Oracle, but of a LOB.

Left out: XMLTYPE, SDO_GEOMETRY, LONG, BFILE, UROWID, JSON, VECTOR, BOOLEAN, types of users,
numbers whose scale is beyond their precision, NaN and infinities, and years before 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from generators.model import Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, DdlAction, micros_step, to_float32, wall
from generators.sources.oracle_types import oracle_types

SCHEMA: Final = "SHOP"
"""The schema of every table that cases are made of."""
NAME_LIMIT: Final = 128
"""Bytes of an identifier."""
MOST_DIGITS: Final = 38
"""Digits of a NUMBER(p,s)."""
MOST_INTEGER_DIGITS: Final = 18
"""Digits of the widest NUMBER(p) that is an integer of 64 bits to Debezium."""
FREE_DIGITS, FREE_SCALE = 296, 170
"""Digits of a NUMBER without precision, all of them and those behind the point."""
_LARGE: Final = 1 << 30
"""The length of a type of large objects: more than any value here has."""
_MIN: Final = wall("0001-01-01")
_MAX: Final = wall("9999-12-31 23:59:59.999999")
"""The first and the last wall clock of years 1 to 9999."""
_NANOS_MIN: Final = wall("1677-09-21 00:12:44")
_NANOS_MAX: Final = wall("2262-04-11 23:47:16")
"""The first and the last second whose nanoseconds since 1970 fit 64 bits."""


def _type(name: str, **parameters: Any) -> SourceType:
    parameters.setdefault("logical", oracle_types()[name].logical)
    return SourceType(name, source="oracle", **parameters)


def number(precision: int | None = None, scale: int = 0) -> SourceType:
    """The type NUMBER, of up to 40 digits anywhere, or NUMBER(p,s) of up to 38 digits; a negative
    scale is that many zeros before the point. Raises ValueError outside.
    """
    if precision is None:
        return _type("number", precision=FREE_DIGITS, scale=FREE_SCALE)
    if not (1 <= precision <= MOST_DIGITS and -84 <= scale <= precision):
        raise ValueError(f"NUMBER({precision},{scale}): precision is 1 to 38, scale -84 to it")
    if scale == 0 and precision <= MOST_INTEGER_DIGITS:
        last = 10**precision - 1
        return _type("number", logical=Logical.INT, precision=precision, low=-last, high=last)
    return _type("number", precision=precision, scale=scale)


def floating() -> SourceType:
    """The type FLOAT, a NUMBER of 126 binary digits."""
    return _type("float", precision=FREE_DIGITS, scale=FREE_SCALE)


def is_free(type: SourceType) -> bool:
    """Whether each value of the type has a scale of its own: NUMBER without precision, FLOAT."""
    return type.source == "oracle" and type.precision == FREE_DIGITS


def real(name: str = "binary_double") -> SourceType:
    """The type BINARY_DOUBLE, of 64 bits, or BINARY_FLOAT, of 32."""
    return _type(name)


def string(name: str = "varchar2", length: int | None = None) -> SourceType:
    """A type of texts: CHAR and VARCHAR2 of n characters, NCHAR and NVARCHAR2 of n units of UTF-16,
    and the types of large texts. Without `length`, n is 255; a large text has a length that no
    value here reaches.
    """
    is_lob = oracle_types()[name].lob
    return _type(name, length=length or (_LARGE if is_lob else 255))


def binary(name: str = "raw", length: int | None = None) -> SourceType:
    """The type RAW(n) or BLOB."""
    return _type(name, length=length or (_LARGE if name == "blob" else 255))


def rowid() -> SourceType:
    """The type ROWID: 18 characters of base64's alphabet."""
    return _type("rowid", length=18)


def temporal(name: str, scale: int = 6) -> SourceType:
    """The type DATE, or a TIMESTAMP of `scale` fraction digits, 0 to 9, without zone, with one or
    with the session's. Raises ValueError for others.
    """
    scale = 0 if name == "date" else scale
    if not 0 <= scale <= 9:
        raise ValueError(f"{name}({scale}): fraction digits are 0 to 9")
    return _type(name, fsp=min(scale, 6), scale=scale)


def interval(name: str) -> SourceType:
    """The type INTERVAL YEAR(4) TO MONTH or INTERVAL DAY(4) TO SECOND(6)."""
    return _type(name)


TYPES: Final[Mapping[str, SourceType]] = {
    **{f"number-{digits}": number(digits) for digits in (1, 2, 4, 5, 9, 10, 18, 19, 38)},
    "number-10-2": number(10, 2),
    "number-38-10": number(38, 10),
    "number-10-minus-2": number(10, -2),
    "number-20-minus-2": number(20, -2),
    "number": number(),
    "float": floating(),
    "binary-float": real("binary_float"),
    "binary-double": real(),
    "char": string("char", 16),
    "varchar2": string("varchar2", 255),
    "nchar": string("nchar", 16),
    "nvarchar2": string("nvarchar2", 255),
    "clob": string("clob"),
    "nclob": string("nclob"),
    "blob": binary("blob"),
    "raw": binary("raw", 255),
    "rowid": rowid(),
    "date": temporal("date"),
    **{f"timestamp-{scale}": temporal("timestamp", scale) for scale in (0, 3, 6, 9)},
    **{f"timestamptz-{scale}": temporal("timestamptz", scale) for scale in (0, 3, 6, 9)},
    "timestampltz-6": temporal("timestampltz", 6),
    "interval-year": interval("interval-year"),
    "interval-day": interval("interval-day"),
}
"""Every column type that cases are made of, by the name that case ids use."""


def text_size(type: SourceType, value: str) -> int:
    """The size of a text in the unit of its type's length: units of UTF-16 for NCHAR, NVARCHAR2 and
    NCLOB, else characters.
    """
    if type.name.startswith("n"):
        return len(value.encode("utf-16-le", "surrogatepass")) // 2
    return len(value)


def stored_text(type: SourceType, value: str) -> str:
    """The text as a column of the type returns it: without NUL characters, one blank for no text,
    which would be NULL; CHAR and NCHAR are padded with blanks to their length.
    """
    value = value.replace("\0", "")
    if type.name not in ("char", "nchar"):
        return value if value or oracle_types()[type.name].lob else " "
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
    while not fits(type, value) and len(value) > 1:
        value = stored_text(type, value[:-1])
    return value


_SAMPLED: Final = frozenset({"rowid", "interval-year", "interval-day"})
"""Types whose texts have a grammar of their own."""


def is_sampled(type: SourceType) -> bool:
    """Whether values of the type have a grammar or a unit of their own, so that only its boundary
    values are drawn.
    """
    if type.source != "oracle":
        return False
    has_unit = type.logical is Logical.DECIMAL and not 0 <= (type.scale or 0) <= (
        type.precision or 0
    )
    return type.name in _SAMPLED or has_unit or is_free(type)


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_ROWID: Final = re.compile("[A-Za-z0-9+/]{18}")
_GRAMMARS: Final = {
    "rowid": _ROWID,
    "interval-year": re.compile(r"[+-]\d{4}-(0\d|1[01])"),
    "interval-day": re.compile(r"[+-]\d{4} ([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}"),
}


def fits(source_type: SourceType, value: Value) -> bool:
    """Whether Oracle can store the value in the type and returns it unchanged."""
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
            least = 0 if source_type.name == "blob" else 1
            return isinstance(value, bytes) and least <= len(value) <= (source_type.length or 0)
        case Logical.DATETIME | Logical.TIMESTAMP:
            low, high = moment_range(source_type)
            return (
                type(value) is int
                and low <= value <= high
                and value % micros_step(source_type.fsp) == 0
            )
        case _:
            return mysql.fits(source_type, value)


def _fits_decimal(type: SourceType, value: Value) -> bool:
    """Whether a decimal fits precision and scale; of a NUMBER without them, 38 digits, the last of
    them at most 40 places before or behind the point.
    """
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    parts = value.normalize().as_tuple()
    assert isinstance(parts.exponent, int)
    if is_free(type):
        return len(parts.digits) <= MOST_DIGITS and -40 <= parts.exponent <= 40
    precision, scale = type.precision or 0, type.scale or 0
    return not value or (-parts.exponent <= scale and value.adjusted() < precision - scale)


def _fits_text(type: SourceType, value: str) -> bool:
    """Whether a text fits the length of its type, or the grammar of a ROWID or an interval."""
    if _UNSTORABLE.search(value):
        return False
    if grammar := _GRAMMARS.get(type.name):
        return bool(grammar.fullmatch(value))
    size, length = text_size(type, value), type.length or 0
    if type.name in ("char", "nchar"):
        return size == length
    return size <= length and (bool(value) or oracle_types()[type.name].lob)


_DECLARED: Final = re.compile(
    r"(?P<bytes>(?:VAR)?CHAR2?)\((?P<size>\d+) BYTE\)|FLOAT\((?P<digits>\d+)\)"
    r"|INTERVAL YEAR\((?P<years>\d)\) TO MONTH"
    r"|INTERVAL DAY\((?P<days>\d)\) TO SECOND\((?P<fraction>\d)\)"
)
"""The spellings of a column's type that bound its values further than the type does."""
_LEADING_DIGITS: Final = 4
"""Digits of the first field in the text of an interval."""


def fits_declared(spelling: str, value: Value) -> bool:
    """Whether a column of that spelling can hold a value that its type can hold: bytes of
    `VARCHAR2(20 BYTE)`, binary digits of `FLOAT(63)`, digits of `INTERVAL DAY(2) TO SECOND(3)`.
    """
    match = _DECLARED.fullmatch(spelling)
    if match is None:
        return True
    if isinstance(value, Decimal):
        digits = value.normalize().as_tuple().digits
        return len(digits) <= int(int(match["digits"]) * math.log10(2))
    if not isinstance(value, str):
        return True
    if match["bytes"]:
        return len(value.encode("utf-8", "surrogatepass")) <= int(match["size"])
    leading = min(int(match["years"] or match["days"]), _LEADING_DIGITS)
    unused_digits = value[1 : 1 + _LEADING_DIGITS - leading]
    fraction = value.partition(".")[2][int(match["fraction"] or 0) :]
    return not (unused_digits + fraction).strip("0")


def moment_range(type: SourceType) -> tuple[int, int]:
    """The least and the greatest value of a type of times, in microseconds."""
    return (_MIN + DAY, _MAX - DAY) if type.logical is Logical.TIMESTAMP else (_MIN, _MAX)


def candidates(type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of a type; some may not fit it."""
    match type.logical:
        case Logical.INT:
            return {"min": type.low, "max": type.high, "zero": 0, "one": 1, "minus-one": -1}
        case Logical.DECIMAL if is_free(type):
            return _FREE
        case Logical.DECIMAL:
            return _decimal_boundaries(type)
        case Logical.DATETIME | Logical.TIMESTAMP:
            return _temporal_boundaries(type)
        case Logical.FLOAT:
            return {**_REALS, "third": to_float32(1 / 3), "max": 3.4028234663852886e38}
        case Logical.DOUBLE:
            return {**_REALS, "seventeen-digits": 0.1 + 0.2, "max": 1.7976931348623157e308}
        case Logical.BINARY:
            return {"empty": b"", "ascii": b"ab-!", "digits-in-base64": b"\xd7m\xf8", **mysql.BYTES}
    match type.name:
        case "rowid":
            return {"plain": "AAASdqAAEAAAAInAAA", "slashes": "AAASdqAAEAAAAI/AA+"}
        case "interval-year":
            return {
                "zero": "+0000-00",
                "plain": "+0003-06",
                "negative": "-0003-06",
                "month": "+0000-01",
                "max": "+9999-11",
            }
        case "interval-day":
            return {
                "zero": "+0000 00:00:00.000000",
                "plain": "+0001 02:03:04.560000",
                "negative": "-0001 02:03:04.560000",
                "micros": "+0000 00:00:00.000001",
                "negative-micros": "-0000 00:00:00.000001",
                "max": "+9999 23:59:59.999999",
            }
        case "char" | "nchar":
            return {name: stored_text(type, str(value)) for name, value in _TEXTS.items()}
    return _TEXTS


def _decimal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a NUMBER(p,s)."""
    precision, scale = type.precision or 0, type.scale or 0
    units = {
        "zero": 0,
        "unit": 1,
        "minus-unit": -1,
        "min": -(10**precision) + 1,
        "max": 10**precision - 1,
        "integral": 123 * 10 ** max(scale, 0),
        "trailing-zeros": 12_345 * 10 ** max(scale - 2, 0),
    }
    return {
        name: Decimal((int(unit < 0), tuple(map(int, str(abs(unit)))), -scale))
        for name, unit in units.items()
    }


def _temporal_boundaries(type: SourceType) -> dict[str, Value]:
    """Boundary values by name of a type of dates and times, none finer than its unit."""
    unit = micros_step(type.fsp)
    low, high = moment_range(type)
    named_moments: dict[str, Value] = {
        "epoch": 0,
        "min": low,
        "max": high // unit * unit,
        "before-epoch": -unit,
        "leap-day": (wall("2024-02-29 23:59:59") + 990_000) // unit * unit,
        "one-unit": wall("2024-01-01 00:00:00") + unit,
        "spring-gap": wall("2024-03-10 02:30:00"),
        "noon": wall("2024-01-02 12:00:00"),
        "before-gregorian": wall("1582-10-04 00:00:00"),
    }
    if (type.scale or 0) > 6:
        named_moments |= {"last-in-nanoseconds": _NANOS_MAX, "first-in-nanoseconds": _NANOS_MIN}
    return named_moments


_FREE: Final[Mapping[str, Value]] = {
    "zero": Decimal(0),
    "one": Decimal(1),
    "minus-one": Decimal(-1),
    "fraction": Decimal("0.5"),
    "money": Decimal("-12.34"),
    "hundred": Decimal(100),
    "thirty-eight-digits": Decimal(12345678901234567890123456789012345678),
    "small": Decimal("0.00000000000000000001"),
    "wide": Decimal("1234567890.0123456789"),
}
"""Boundary values by name of a NUMBER without precision and of FLOAT."""
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
    "empty-clob-text": "EMPTY_CLOB()",
}


def candidates_that_fit(type: SourceType) -> tuple[Value, ...]:
    """The boundary values of a type that fit it."""
    return tuple(value for value in candidates(type).values() if fits(type, value))


def boundary_values(slug: str) -> Mapping[str, Value]:
    """The named boundary values of a type of `TYPES`, without NULL. Raises KeyError."""
    type = TYPES[slug]
    return {name: value for name, value in candidates(type).items() if fits(type, value)}


def declared(type: SourceType) -> str:
    """The spelling of a type in a CREATE TABLE: `NVARCHAR2(64)`, `TIMESTAMP(3)`, `NUMBER(10,2)`."""
    spelling = oracle_types()[type.name].declared or type.name.upper()
    match type.name:
        case "number" if not is_free(type):
            return f"NUMBER({type.precision},{type.scale or 0})"
        case "timestamp":
            return f"TIMESTAMP({type.scale})"
        case "char" | "varchar2":
            return f"{spelling}({type.length} CHAR)"
        case "nchar" | "nvarchar2" | "raw":
            return f"{spelling}({type.length})"
    return spelling.format(scale=type.scale)


def quote(name: str) -> str:
    """An identifier in quotes; Oracle's have no quote within."""
    return f'"{name}"'


DDL_ACTIONS: Final[Mapping[str, DdlAction]] = {
    "create table": DdlAction(
        'CREATE TABLE "SHOP".{table} ("id" NUMBER(18,0) NOT NULL PRIMARY KEY, "c" NUMBER(9,0))'
    ),
    "add column": DdlAction('ALTER TABLE "SHOP".{table} ADD ("added" NUMBER(9,0))'),
    "drop column": DdlAction('ALTER TABLE "SHOP".{table} DROP COLUMN "c"'),
    "modify column": DdlAction('ALTER TABLE "SHOP".{table} MODIFY ("c" NUMBER(18,0))'),
}
"""DDL statements of an Oracle source, as `mysql.DDL_ACTIONS`."""
