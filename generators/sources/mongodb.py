"""MongoDB's types of a field: domains and named boundary values.

Sources: MongoDB's manual, "BSON Types" and "MongoDB Extended JSON (v2)"; the rows of
`mongodb_types.toml`.

A collection is a table whose columns are fields of its documents, each of one type or null. What is
canonical beside the values of other sources:

- `bool` is 0 or 1, `date` microseconds since the epoch in whole milliseconds.
- `objectId` is its 24 hexadecimal digits, `uuid` the text of the UUID.
- `decimal` is a decimal128 of a field that has at most ten digits behind the point, so that one
  Spark type holds all its values; the exponent with which it is spelled is kept.
- `object` and `array` are `Json` of plain values: a whole number of up to 64 bits is an int or a
  long, a larger one a decimal, a float a double. `Json` of another type of BSON is an object of one
  member, as canonical Extended JSON has it: `{"$oid": "..."}`.

Left out: NaN and infinities, which no JSON has; a decimal's negative zero and its other exponents;
dates outside of the years 1 to 9999; fields whose documents have several types.
"""

from __future__ import annotations

import math
import re
import tomllib
import uuid
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final

from generators.model import Json, Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, MICROS, wall
from generators.sources.type_numbers import check_column, parse_logical

FILE: Final = "generators/sources/mongodb_types.toml"
NAME: Final = "mongodb"

SIZE_LIMIT: Final = 16_000_000
"""Bytes of a text or of binary data, somewhat less than a document may have."""
DATABASE_LIMIT: Final = 63
"""Bytes of a database's name."""
DIGITS: Final = 34
"""Digits of a decimal128."""
FRACTION_DIGITS: Final = 10
"""Digits behind the point of the decimals that fields have here."""

MILLIS: Final = 1000
"""Microseconds of a millisecond, the unit of a date."""
DATE_MIN: Final = wall("0001-01-01") + DAY
DATE_MAX: Final = wall("9999-12-31 23:59:59") - DAY
"""A day less at both ends, so that the year has four digits in every time zone."""

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1

ID: Final = "_id"
"""The field that every document has: its key, which never changes."""


@cache
def logical_types() -> Mapping[str, Logical]:
    """The logical type of each type that fields have here, by MongoDB's alias. Raises UsageError
    for a wrong row of the table.
    """
    toml_text = (
        resources.files("generators.sources").joinpath("mongodb_types.toml").read_text("utf-8")
    )
    table: Mapping[str, Mapping[str, Any]] = tomllib.loads(toml_text)
    logicals: dict[str, Logical] = {}
    for name, type_row in table["types"].items():
        place = f"{FILE}: the type {name!r}"
        for column in type_row:
            check_column(place, column, table["columns"])
        logicals[name] = parse_logical(place, type_row)
    return logicals


def field_type(name: str, **parameters: Any) -> SourceType:
    """The type of a field by MongoDB's alias. Raises KeyError for an alias that no field has."""
    return SourceType(name, logical_types()[name], source=NAME, **parameters)


TYPES: Final[Mapping[str, SourceType]] = {
    "int": field_type("int", low=INT_MIN, high=INT_MAX),
    "long": field_type("long", low=LONG_MIN, high=LONG_MAX),
    "double": field_type("double"),
    "decimal": field_type("decimal", precision=DIGITS, scale=FRACTION_DIGITS),
    "string": field_type("string", length=SIZE_LIMIT),
    "bool": field_type("bool", length=1, low=0, high=1),
    "date": field_type("date", fsp=3),
    "objectId": field_type("objectId"),
    "uuid": field_type("uuid"),
    "binData": field_type("binData", length=SIZE_LIMIT),
    "object": field_type("object"),
    "array": field_type("array"),
}
"""Every type of a field that cases are made of, by the name that case ids use."""

_OBJECT_ID: Final = re.compile("[0-9a-f]{24}")
_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def fits(source_type: SourceType, value: Value) -> bool:
    """Whether a field of the type can hold the value, so that MongoDB gives it back unchanged."""
    if value is None:
        return True
    match source_type.name:
        case "double":
            return isinstance(value, float) and math.isfinite(value)
        case "decimal":
            return isinstance(value, Decimal) and _fits_decimal(value)
        case "string":
            return (
                isinstance(value, str)
                and not _SURROGATE.search(value)
                and len(value.encode()) <= SIZE_LIMIT
            )
        case "date":
            return type(value) is int and DATE_MIN <= value <= DATE_MAX and value % MILLIS == 0
        case "objectId":
            return isinstance(value, str) and bool(_OBJECT_ID.fullmatch(value))
        case "uuid":
            return isinstance(value, str) and bool(_UUID.fullmatch(value))
        case "object":
            return (
                isinstance(value, Json)
                and isinstance(value.value, dict)
                and _fits_part(value.value)
            )
        case "array":
            return (
                isinstance(value, Json)
                and isinstance(value.value, list)
                and _fits_part(value.value)
            )
        case _:
            return mysql.fits(source_type, value)


def _fits_decimal(value: Decimal) -> bool:
    """Whether a decimal has no more digits than a decimal128, and none beyond the ten behind the
    point and 24 before it that fields have here.
    """
    if not value.is_finite() or (not value and value.is_signed()):
        return False
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    whole_digits = DIGITS - FRACTION_DIGITS
    return (
        len(digits) <= DIGITS
        and exponent >= -FRACTION_DIGITS
        and exponent <= whole_digits
        and (not value or value.adjusted() < whole_digits)
    )


def _fits_part(value: Any) -> bool:
    """Whether a value within a document can be BSON: it has no NaN, no infinity, no surrogate in a
    text, no NUL in a name, and no decimal of more than 34 digits.
    """
    match value:
        case str():
            return not _SURROGATE.search(value)
        case dict():
            return all(
                isinstance(name, str) and "\0" not in name and _fits_part(name) and _fits_part(item)
                for name, item in value.items()
            )
        case list():
            return all(map(_fits_part, value))
        case float():
            return math.isfinite(value)
        case Decimal():
            return value.is_finite() and len(value.as_tuple().digits) <= DIGITS
        case _:
            return value is None or isinstance(value, int)


def spelled(source_type: SourceType) -> bool:
    """Whether the values of the type are texts with a grammar of their own."""
    return source_type.source == NAME and source_type.name in ("objectId", "uuid")


def text_at(source_type: SourceType, number: int) -> str:
    """The text that a number below 2^128 stands for, in a type whose texts have a grammar
    (`spelled`): a uuid, or an ObjectId, which has the lowest 96 bits of the number.
    """
    if source_type.name == "uuid":
        return str(uuid.UUID(int=number))
    return f"{number % (1 << 96):024x}"


_DATES: Final[Mapping[str, Value]] = {
    "epoch": 0,
    "min": DATE_MIN,
    "max": DATE_MAX + MICROS - MILLIS,
    "before-epoch": -MILLIS,
    "leap-day": wall("2024-02-29 23:59:59") + 999 * MILLIS,
    "one-unit": wall("2024-01-01 00:00:00") + MILLIS,
    "tenth": wall("2024-01-01 00:00:00") + 100 * MILLIS,
    "pre-1970-fraction": wall("1936-10-25 22:10:12") + 608 * MILLIS,
    "spring-gap": wall("2024-03-10 02:30:00"),
    "autumn-first": wall("2024-11-03 05:30:00"),
    "autumn-second": wall("2024-11-03 06:30:00"),
    "over-32-bits": wall("2038-01-19 03:14:08"),
}
_DOUBLES: Final[Mapping[str, Value]] = {
    "zero": 0.0,
    "negative-zero": -0.0,
    "one": 1.0,
    "negative": -2.5,
    "fraction": 3.14,
    "third": 1 / 3,
    "ten-million": 1e7,
    "small": 1e-4,
    "two-e23": 2e23,
    "max": 1.7976931348623157e308,
    "min-subnormal": 5e-324,
    "seventeen-digits": 0.1 + 0.2,
    "beyond-long": 1e19,
}
_DECIMALS: Final[Mapping[str, Value]] = {
    "zero": Decimal(0),
    "zero-with-scale": Decimal("0.00"),
    "zero-with-exponent": Decimal("0E+3"),
    "integral": Decimal(10),
    "trailing-zeros": Decimal("10.00"),
    "negative": Decimal("-123.45"),
    "exponent": Decimal("1E+3"),
    "small": Decimal("1E-7"),
    "unit": Decimal("1E-10"),
    "beyond-double": Decimal((1 << 53) + 1),
    "many-digits": Decimal("123456789012345678901234.0987654321"),
}
_PARTS: Final[Mapping[str, Any]] = {
    "int": 5,
    "long": 1 << 31,
    "double": 1.0,
    "decimal": {"$numberDecimal": "1.50"},
    "date": {"$date": {"$numberLong": "1700000000123"}},
    "old-date": {"$date": {"$numberLong": "-1"}},
    "id": {"$oid": "5f43a1b2c3d4e5f601234567"},
    "binary": {"$binary": {"base64": "AQID", "subType": "00"}},
    "uuid": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}},
    "regex": {"$regularExpression": {"pattern": "a/b", "options": "i"}},
    "code": {"$code": "f()"},
    "symbol": {"$symbol": "s"},
    "timestamp": {"$timestamp": {"t": 1, "i": 2}},
    "min-key": {"$minKey": 1},
    "max-key": {"$maxKey": 1},
    "undefined": {"$undefined": True},
}
"""A value of each type that BSON has, as it stands within a document."""

_BOUNDARIES: Final[Mapping[str, Mapping[str, Value]]] = {
    "int": {"min": INT_MIN, "max": INT_MAX, "zero": 0, "one": 1, "minus-one": -1},
    "long": {
        "min": LONG_MIN,
        "max": LONG_MAX,
        "zero": 0,
        "minus-one": -1,
        "beyond-int": 1 << 31,
        "two-to-53-plus-one": (1 << 53) + 1,
        "eighteen-digits": 447984084414103554,
    },
    "double": _DOUBLES,
    "decimal": _DECIMALS,
    "string": {
        "empty": "",
        "plain": "hello",
        "spaces": " a  b ",
        **mysql.TEXTS,
        "extended-json": '{"$oid": "5f43a1b2c3d4e5f601234567"}',
        "digits": "5",
    },
    "bool": {"false": 0, "true": 1},
    "date": _DATES,
    "objectId": {
        "nil": "0" * 24,
        "plain": "5f43a1b2c3d4e5f601234567",
        "max": "f" * 24,
        "digits": "123456789012345678901234",
    },
    "uuid": {
        "nil": "00000000-0000-0000-0000-000000000000",
        "plain": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "max": "ffffffff-ffff-ffff-ffff-ffffffffffff",
    },
    "binData": {
        "empty": b"",
        "ascii": b"ab-!",
        "base64-like": b"abcd",
        "digits-in-base64": b"\xd7m\xf8",
        **mysql.BYTES,
        "every-byte": bytes(range(256)),
    },
    "object": {
        "empty": Json({}),
        "plain": Json({"a": 1, "b": "x"}),
        "nested": Json({"a": {"b": {"c": [1, {"d": None}]}}, "e": {}, "f": []}),
        "awkward-names": Json({"a b": 1, 'q"': 2, "汉": 3, "b\\s": 4}),
        "every-type": Json(dict(_PARTS)),
        "look-alike": Json({"id": 1, "date": "$date", "numberLong": "5"}),
    },
    "array": {
        "empty": Json([]),
        "plain": Json([1, 2, 3]),
        "null-item": Json([None, 0]),
        "mixed": Json([1, "1", 1.5, True, None, {"a": 1}, [2]]),
        "longs": Json([1 << 31, (1 << 53) + 1]),
        "every-type": Json(list(_PARTS.values())),
    },
}
"""The named boundary values of each type of a field."""


def candidates(source_type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of a type of a field."""
    return _BOUNDARIES[source_type.name]


def boundary_values(slug: str) -> Mapping[str, Value]:
    """The named boundary values of a type of `TYPES`, without NULL. Raises KeyError."""
    source_type = TYPES[slug]
    return {
        name: value for name, value in candidates(source_type).items() if fits(source_type, value)
    }


def as_stored(source_type: SourceType, value_text: str) -> str:
    """The text as a field of the type gives it back: every text that UTF-8 has."""
    return _SURROGATE.sub("", value_text)


def declared(source_type: SourceType) -> str:
    """The name of a type, as $type has it; a UUID is binary data."""
    return "binData" if source_type.name == "uuid" else source_type.name


def collection_name(name: str) -> str:
    """A name for a collection or a field: MongoDB takes nearly all."""
    return name.replace("\0", "")


def quote(name: str) -> str:
    """A name as it stands: no statement of MongoDB has names in quotes."""
    return name


_FAMILY_NAMES: Final = (
    ("int", "long"),
    ("string",),
    ("int", "long"),
    ("double",),
    ("decimal",),
    ("date",),
    ("bool",),
    ("objectId", "uuid"),
    ("binData",),
    ("object", "array"),
)
FAMILIES: Final = tuple(tuple(map(TYPES.__getitem__, names)) for names in _FAMILY_NAMES)
"""The groups from which the type of a field is drawn; one that stands twice is drawn twice as
often.
"""


def keyable(source_type: SourceType) -> bool:
    """Whether people have values of the type in keys."""
    return source_type.name in ("int", "long", "string", "objectId", "uuid")
