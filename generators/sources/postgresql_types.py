"""PostgreSQL's types as a table, `postgresql_types.toml`: the logical type of each, its names, its
numbers and sizes, and what Debezium, Huawei CDL and Aliyun DTS make of it.

The table is checked when it is loaded. A type without a row, or a row with a column that nobody
reads, is an error that names the file, the line and what to add.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from generators.errors import UsageError, did_you_mean, nearest
from generators.model import Logical, SourceType
from generators.sources.type_numbers import check_column, parse_logical

FILE: Final = "generators/sources/postgresql_types.toml"


@dataclass(frozen=True, slots=True)
class PostgresqlType:
    """A row of the table; `[columns]` in the file says what each column is. A size, number or type
    that a row does not have is None.
    """

    name: str
    logical: Logical
    recorded: bool = False
    examples: tuple[str, ...] = ()
    bytes: int | None = None
    declared: str = ""
    spellings: tuple[str, ...] = ()
    catalogue: str = ""
    driver_size: tuple[int, int] | None = None
    driver_time: int | None = None
    oid: int | None = None
    huawei: str | None = None
    debezium_connect: str | None = None
    debezium_semantic: str | None = None
    debezium_unknown: bool = False
    debezium_array: Literal["written", "never", "bytea-arrays", "single"] = "written"

    @property
    def integer_schema(self) -> str:
        """The type in Kafka Connect's schema that Debezium gives this integer type. Every integer
        type's row has one.
        """
        assert self.debezium_connect is not None
        return self.debezium_connect


_KINDS: Final[Mapping[str, type]] = {
    "recorded": bool,
    "examples": list,
    "bytes": int,
    "declared": str,
    "spellings": list,
    "catalogue": str,
    "driver_size": list,
    "driver_time": int,
    "oid": int,
    "huawei": str,
    "debezium_connect": str,
    "debezium_semantic": str,
    "debezium_unknown": bool,
    "debezium_array": str,
}
"""What a column's value is in the file, beside `logical`."""
_ARRAYS: Final = ("never", "bytea-arrays", "single")


class PostgresqlTypes(Mapping[str, PostgresqlType]):
    """The rows of a table by the names of their types. `toml_text` is the file's text. Raises
    UsageError, also for the name of a type that has no row.
    """

    def __init__(self, toml_text: str) -> None:
        self._lines = toml_text.splitlines()
        self._rows = {
            name: self._parse_row(name, entry)
            for name, entry in tomllib.loads(toml_text)["types"].items()
        }

    def __getitem__(self, name: str) -> PostgresqlType:
        """The table's row for the type of that name. Raises MissingType, which says what to add,
        for a type without a row.
        """
        if name not in self._rows:
            raise MissingType(
                f"{FILE}: the type {name!r} has no row.{did_you_mean(nearest(name, self._rows))}"
                f" Add `{_quoted(name)} = {{ logical = ... }}` under [types]; see"
                " docs/adding-a-type.md."
            )
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def check_type(self, source_type: SourceType) -> None:
        """Raises UsageError for a type that has no row, or whose row has another logical type."""
        type_row = self[source_type.name]
        if type_row.logical is not source_type.logical:
            raise UsageError(
                f"{FILE}:{self._line(type_row.name)}: the type {type_row.name!r} has the logical"
                f" type {type_row.logical.value!r} here, {source_type.logical.value!r} in"
                " generators/sources/postgresql.py. Write the same in both."
            )

    def _parse_row(self, name: str, entry: Mapping[str, Any]) -> PostgresqlType:
        """A row of the table of types. Raises UsageError, which names the line, for a wrong row."""
        place = f"{FILE}:{self._line(name)}: the type {name!r}"
        logical = parse_logical(place, entry)
        cells: dict[str, Any] = {}
        for column, value in entry.items():
            if column == "logical":
                continue
            check_column(place, column, ("logical", *_KINDS))
            if type(value) is not _KINDS[column]:
                raise UsageError(
                    f"{place} says {value!r} for {column!r}: write a"
                    f" {_KINDS[column].__name__.replace('str', 'text')}."
                )
            cells[column] = tuple(value) if isinstance(value, list) else value
        if cells.get("debezium_array", "never") not in _ARRAYS:
            raise UsageError(
                f"{place} says {cells['debezium_array']!r} for 'debezium_array': write one of"
                f" {', '.join(_ARRAYS)}, or leave it out."
            )
        if logical is Logical.INT and "debezium_connect" not in cells:
            raise UsageError(
                f"{place} is an integer and has no 'debezium_connect'. Add the type of Kafka"
                ' Connect, as in `debezium_connect = "int64"`.'
            )
        return PostgresqlType(name, logical, **cells)

    def _line(self, name: str) -> int:
        """The line of the file in which a type's row stands, for error messages; 1 if none is
        found.
        """
        pattern = re.compile(rf"{re.escape(_quoted(name))}\s*=")
        for number, line in enumerate(self._lines, 1):
            if pattern.match(line):
                return number
        return 1


class MissingType(UsageError, KeyError):
    """A type that the table does not have. It is a KeyError for `Mapping.get` and `in` alone."""

    __str__ = Exception.__str__


def _quoted(name: str) -> str:
    """A type's name as a key of the TOML file, in quotes if it is not one plain word."""
    if re.fullmatch(r"\w+", name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


@cache
def postgresql_types() -> PostgresqlTypes:
    """The table of PostgreSQL's types, read once from its TOML file. Raises UsageError that names
    the line for a wrong row.
    """
    file = resources.files("generators.sources").joinpath("postgresql_types.toml")
    return PostgresqlTypes(file.read_text("utf-8"))
