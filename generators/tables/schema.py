"""A user's schema: tables, foreign keys, checks, and a note on every construct that the model does
not take as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from generators.model import Table, Value


class TableName(NamedTuple):
    """A table's full name; `schema` is None in MySQL, MariaDB and TiDB."""

    database: str
    schema: str | None
    name: str


DIALECTS: Final = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "tidb": "mysql",
    "postgresql": "postgresql",
    "sqlserver": "sqlserver",
    "oracle": "oracle",
}
"""Dialects of DDL, and the source (a name of `generators.sources.databases.SOURCES`) whose types
each has.
"""


def table_name(table: Table) -> TableName:
    """A table's full name: database, schema and name, as statements and the overrides file refer to
    it.
    """
    return TableName(table.database, table.schema, table.name)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key: the `columns` of the table that has it refer to `parent_columns` of the table
    `parent`.
    """

    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A CHECK of one column that can be honoured: canonical bounds, both included, or the choices;
    `condition` as it was written.
    """

    column: str
    condition: str
    low: Value = None
    high: Value = None
    choices: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A construct that the model does not take as it stands: where it is (`line` and `column` from
    1, 0 if unknown), its text, and what is done about it.
    """

    file: str
    line: int
    column: int
    construct: str
    action: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.construct}: {self.action}"


@dataclass(frozen=True, slots=True)
class UserTable:
    """A table of the user's schema with its constraints. `computed` are the names of those
    generated columns whose values can be computed, each with its expression.
    """

    table: Table
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[Check, ...] = ()
    computed: tuple[tuple[str, str], ...] = ()

    @property
    def unique_keys(self) -> tuple[tuple[str, ...], ...]:
        """The primary key and every unique key."""
        unique_indexes = (index.columns for index in self.table.indexes if index.is_key)
        return tuple(
            dict.fromkeys(
                key for key in (self.table.primary_key, *self.table.unique, *unique_indexes) if key
            )
        )

    @property
    def unique_columns(self) -> set[str]:
        """The columns of unique keys."""
        return set(chain.from_iterable(self.unique_keys))

    @property
    def foreign_key_columns(self) -> set[str]:
        """The columns of foreign keys."""
        return set(chain.from_iterable(key.columns for key in self.foreign_keys))


def referred_columns(users: Iterable[UserTable], parent: TableName) -> set[str]:
    """The columns of the table `parent` to which foreign keys of `users` refer."""
    columns: set[str] = set()
    for user in users:
        for key in user.foreign_keys:
            if key.parent == parent:
                columns.update(key.parent_columns)
    return columns


@dataclass(frozen=True, slots=True)
class Schema:
    """A user's tables in their order of definition, in one dialect of `DIALECTS`."""

    dialect: str
    tables: tuple[UserTable, ...]
    notes: tuple[Note, ...] = ()

    @property
    def source(self) -> str:
        """The name of the source whose types the tables have: mysql, postgresql, sqlserver or
        oracle.
        """
        return DIALECTS[self.dialect]

    def parents_first(self) -> Iterator[UserTable]:
        """The tables, each after the tables that its foreign keys refer to, as far as there is no
        circle.
        """
        remaining = {table_name(user.table): user for user in self.tables}
        while remaining:
            without_parents = [
                name
                for name, user in remaining.items()
                if not any(
                    key.parent in remaining and key.parent != name for key in user.foreign_keys
                )
            ]
            for name in without_parents or [next(iter(remaining))]:
                yield remaining.pop(name)
