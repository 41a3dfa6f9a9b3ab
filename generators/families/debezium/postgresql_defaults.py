"""Which defaults of PostgreSQL's columns Debezium knows: the table `postgresql_defaults.toml`, read
off the connector's own mappers, and what they make of an expression.

`python -m recorders.debezium_types` writes the table.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final

from generators.model import Json, Logical, SourceType, Value
from generators.sources import mysql

FILE: Final = "generators/families/debezium/postgresql_defaults.toml"
NONE: Final = "none"
"""What the table says of a default that the connector does not know."""

_FUNCTION: Final = re.compile(r"\(?[A-Za-z0-9_.]+\(")
_QUOTED: Final = re.compile(r"'(.*?)'")
_DOUBLING: Final = re.compile(r"'([^']*(?:''[^']*)*)'")
"""A text in quotes in which a quote is doubled."""
_CURRENT: Final = re.compile(r"(?:CURRENT_|LOCAL)(?:DATE|TIMESTAMP|TIME)\b", re.IGNORECASE)
_CATALOGUE_NAMES: Final = {
    "smallint": "int2",
    "integer": "int4",
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "boolean": "bool",
    "char": "bpchar",
}
"""The name in PostgreSQL's catalogue of each type that has another one there."""
_CAST_NUMBER: Final = re.compile(r"\(?\s*[+-]?\d+(\.\d+)?\s*\)?\s*::\s*(.*)")
_INTEGER_NAMES: Final = ("int", "int4", "integer")
_NUMERIC_NAMES: Final = ("numeric", "decimal")
_TEXTS: Final = ("text", "varchar", "bpchar", "xml")
_TIMES: Final = ("date", "time", "timestamp", "timestamptz")
_NIL: Final = "00000000-0000-0000-0000-000000000000"
"""The UUID of zeros."""


@cache
def read_defaults() -> Mapping[str, Any]:
    """The parsed table of defaults. `types` are the types for which the connector has code that
    reads defaults (a mapper); `defaults` has what the mapper makes of each default, by type and
    text.
    """
    file = resources.files("generators.families.debezium").joinpath("postgresql_defaults.toml")
    return tomllib.loads(file.read_text("utf-8"))


def catalogue_name(type_name: str) -> str:
    """A type's name in PostgreSQL's catalogue."""
    return _CATALOGUE_NAMES.get(type_name, type_name)


def has_mapper(type_name: str) -> bool:
    """Whether the connector has code that reads the defaults of a type (a mapper)."""
    return catalogue_name(type_name) in read_defaults()["types"]


def is_cast_number(default_text: str) -> bool:
    """Whether a default is a number that is cast to another type than its own, which the catalogue
    prints as `(4)::bigint`: the connector reads no such text. A number with a fraction is a numeric
    by itself, any other an integer.
    """
    cast = _CAST_NUMBER.fullmatch(default_text)
    if cast is None:
        return False
    return cast[2].strip().lower() not in (_NUMERIC_NAMES if cast[1] else _INTEGER_NAMES)


def read_bits(default_text: str) -> str | None:
    """The text that the connector reads as the digits of a bit string's default: what stands
    between the first quotes, or the whole text if it has no quotes, such as `(300)::bit(16)`. None
    for the call of a function.
    """
    if _FUNCTION.match(default_text):
        return None
    quoted = _QUOTED.search(default_text)
    return default_text if quoted is None else quoted[1]


def bits_value(digits: str) -> int:
    """The number whose bits the connector makes of the text `digits` of a bit string's default:
    each 1 in it is a bit, counted from the last character, anything else is 0.
    """
    return int("".join("1" if digit == "1" else "0" for digit in digits) or "0", 2)


def expression_value(type: SourceType, expression: str, doubled_quotes: bool = False) -> Value:
    """The value for which the connector takes a default that is an expression. Of the call of a
    function, and of CURRENT_DATE and the like in types of times, it is the type's empty value; else
    the first literal in quotes. Without quotes it is false in a boolean, and in types of text the
    expression itself. None if the connector makes nothing of it. With `doubled_quotes` (since 3.7)
    a literal may hold a quote, which is doubled.
    """
    name = catalogue_name(type.name)
    is_function = _FUNCTION.match(expression) is not None
    pattern = _DOUBLING if doubled_quotes else _QUOTED
    quoted = None if is_function else pattern.search(expression)
    if is_function or (name in _TIMES and _CURRENT.match(expression)):
        return _nothing(type, name)
    if quoted is not None:
        try:
            return _quoted_value(type, quoted[1].replace("''", "'"))
        except (ValueError, ArithmeticError):
            return None
    if name == "bool":
        return 0
    if "'" not in expression and (name in _TEXTS or name == "uuid"):
        return expression
    return None


_LIMITS: Final[Mapping[tuple[Logical, Value], str]] = {
    (Logical.DATE, "infinity"): "+999999999-12-31",
    (Logical.DATE, "-infinity"): "-999999999-01-01",
    (Logical.DATETIME, "infinity"): "+999999999-12-31T23:59:59.999999999",
    (Logical.DATETIME, "-infinity"): "-999999999-01-01T00:00:00",
    (Logical.TIME, mysql.DAY): "23:59:59.999999999",
}
"""The largest and smallest values of java.time's LocalDate, LocalDateTime and LocalTime."""


def limit_text(type: SourceType, value: Value) -> str | None:
    """The ISO text of the value of java.time for which the connector takes a default of infinity,
    -infinity or 24:00:00; None for any other default (debezium#defaults).
    """
    return _LIMITS.get((type.logical, value)) if isinstance(value, (str, int)) else None


def _nothing(type: SourceType, name: str) -> Value:
    """The empty value of a type, which the connector takes for what a function returns; `name` is
    the type's name in PostgreSQL's catalogue.
    """
    match type.logical:
        case Logical.JSON:
            return Json({})
        case Logical.DECIMAL:
            return Decimal(0)
        case Logical.FLOAT | Logical.DOUBLE:
            return 0.0
        case Logical.DATE:
            return date(1970, 1, 1)
        case Logical.TEXT:
            return {"uuid": _NIL, "interval": "00:00:00"}.get(name, "")
    return 0


def _quoted_value(type: SourceType, literal: str) -> Value:
    """The value that a quoted literal of the type stands for. Raises ValueError or ArithmeticError
    for a text that is no value of the type. The model has true as 1, a moment as microseconds since
    1970, a time as microseconds of the day.
    """
    match type.logical:
        case Logical.INT:
            return int(literal)
        case Logical.DECIMAL:
            return Decimal(literal)
        case Logical.FLOAT | Logical.DOUBLE:
            return float(literal)
        case Logical.BIT:
            return int(literal.lower() == "true")
        case Logical.DATE:
            return date.fromisoformat(literal)
        case Logical.DATETIME | Logical.TIMESTAMP:
            return mysql.wall(literal.removesuffix("+00"))
        case Logical.TIME:
            return mysql.wall(f"1970-01-01 {literal}")
        case Logical.JSON:
            return Json(json.loads(literal), literal)
    return literal
