"""Oracle's types as a table, `oracle_types.toml`: the logical type of each, and what Debezium's
connector makes of a column of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from generators.errors import UsageError
from generators.model import Logical
from generators.sources.type_numbers import check_column, parse_logical

FILE: Final = "generators/sources/oracle_types.toml"
_COLUMNS: Final = ("logical", "jdbc", "declared", "lob")


@dataclass(frozen=True, slots=True)
class OracleType:
    """A row of the table; `[columns]` in the file says what each column is."""

    name: str
    logical: Logical
    jdbc: int
    declared: str = ""
    lob: bool = False


def parse_types(toml_text: str) -> Mapping[str, OracleType]:
    """The rows of the table by the names of their types. Raises UsageError for a row with an
    unknown column, or without a JDBC type.
    """
    types_by_name: dict[str, OracleType] = {}
    entries: Mapping[str, Mapping[str, Any]] = tomllib.loads(toml_text)["types"]
    for name, entry in entries.items():
        place = f"{FILE}: the type {name!r}"
        logical = parse_logical(place, entry)
        for column in entry:
            check_column(place, column, _COLUMNS)
        if "jdbc" not in entry:
            raise UsageError(f"{place} has no 'jdbc'. Add the number of oracle.jdbc.OracleTypes.")
        facts = {column: fact for column, fact in entry.items() if column != "logical"}
        types_by_name[name] = OracleType(name, logical, **facts)
    return types_by_name


@cache
def oracle_types() -> Mapping[str, OracleType]:
    """The table of Oracle's types, read once from its TOML file. Raises UsageError."""
    file = resources.files("generators.sources").joinpath("oracle_types.toml")
    return parse_types(file.read_text("utf-8"))
