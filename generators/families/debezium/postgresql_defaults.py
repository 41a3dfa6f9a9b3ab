"""Which defaults of PostgreSQL's columns Debezium knows: the table `postgresql_defaults.toml`, read
off the connector's own mappers, and what they make of an expression.

`python -m recorders.debezium_types` writes the table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

FILE: Final = "generators/families/debezium/postgresql_defaults.toml"
NONE: Final = "none"
"""What the table says of a default that the connector does not know."""

_FUNCTION: Final = re.compile(r"\(?[A-Za-z0-9_.]+\(")
_QUOTED: Final = re.compile(r"'(.*?)'")
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
_CAST_NUMBER: Final = re.compile(r"\(?\s*[+-]?\d+(\.\d+)?\s*\)?\s*::\s*(.*)")
_INTEGER_NAMES: Final = ("int", "int4", "integer")
_NUMERIC_NAMES: Final = ("numeric", "decimal")
_TEXTS: Final = ("text", "varchar", "bpchar", "xml")
_TIMES: Final = ("date", "time", "timestamp", "timestamptz")
_DOCUMENTS: Final = ("json", "jsonb")
_NIL: Final = "00000000-0000-0000-0000-000000000000"


@cache
def read_defaults() -> Mapping[str, Any]:
    """The parsed table: `types`, the types that have a mapper of defaults, and `defaults`, what the
    mapper makes of each default, by type and text.
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
    prints as `(4)::bigint`: the connector reads no such text.
    """
    cast = _CAST_NUMBER.fullmatch(default_text)
    if cast is None:
        return False
    return cast[2].strip().lower() not in (_NUMERIC_NAMES if cast[1] else _INTEGER_NAMES)


def expression_value(type_name: str, expression: str) -> str | None:
    """The text of the value that the connector takes a default for which is an expression, not a
    literal; None if it knows none.
    """
    name = catalogue_name(type_name)
    is_function = _FUNCTION.match(expression) is not None
    if name in _TEXTS or name in _DOCUMENTS or name == "uuid":
        if is_function:
            return "{}" if name in _DOCUMENTS else _NIL if name == "uuid" else ""
        if "'" in expression:
            quoted = _QUOTED.search(expression)
            return None if quoted is None else quoted[1]
        return expression
    if name in _TIMES:
        return "0" if is_function or _CURRENT.match(expression) else None
    if name == "bool":
        return "0"
    if name == "interval":
        quoted = _QUOTED.search(expression)
        return "00:00:00" if is_function else quoted and quoted[1]
    return "0" if is_function else None
