"""SQL Server's types as a table, `sqlserver_types.toml`: the logical type of each, and what
Microsoft's JDBC driver and Debezium's connector make of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from generators.errors import UsageError
from generators.model import Logical
from generators.sources.type_numbers import check_column, parse_logical

FILE: Final = "generators/sources/sqlserver_types.toml"
_COLUMNS: Final = ("logical", "jdbc", "length", "scale", "connect", "unsent", "reported")


@dataclass(frozen=True, slots=True)
class SqlServerType:
    """A row of the table; `[columns]` in the file says what each column is. A length or scale that
    each column of the type has for itself is None.
    """

    name: str
    logical: Logical
    jdbc: int
    length: int | None = None
    scale: int | None = None
    connect: str = ""
    unsent: Literal["", "old", "unchanged"] = ""
    reported: str = ""


def parse_types(toml_text: str) -> Mapping[str, SqlServerType]:
    """The rows of the table by the names of their types. Raises UsageError for a row with an
    unknown column, or without a JDBC type.
    """
    types_by_name: dict[str, SqlServerType] = {}
    entries: Mapping[str, Mapping[str, Any]] = tomllib.loads(toml_text)["types"]
    for name, entry in entries.items():
        place = f"{FILE}: the type {name!r}"
        logical = parse_logical(place, entry)
        for column in entry:
            check_column(place, column, _COLUMNS)
        if "jdbc" not in entry:
            raise UsageError(f"{place} has no 'jdbc'. Add the number of java.sql.Types.")
        facts = {column: fact for column, fact in entry.items() if column != "logical"}
        types_by_name[name] = SqlServerType(name, logical, **facts)
    return types_by_name


@cache
def sqlserver_types() -> Mapping[str, SqlServerType]:
    """The table of SQL Server's types, read once from its TOML file. Raises UsageError."""
    file = resources.files("generators.sources").joinpath("sqlserver_types.toml")
    return parse_types(file.read_text("utf-8"))
