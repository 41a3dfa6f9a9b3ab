"""A user's schema: tables, foreign keys, checks, and a note on every construct that the model does
not take as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from generators.model import Table, Value

Place: TypeAlias = tuple[str, str | None, str]
"""Database, schema and name of a table."""

DIALECTS: Final = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "tidb": "mysql",
    "postgresql": "postgresql",
}
"""Dialects of DDL, and the source (a name of `generators.sources.registry.SOURCES`) whose types
each has.
"""


def place(table: Table) -> Place:
    """A table's place."""
    return table.database, table.schema, table.name


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table that owns it refer to `parent_columns` of `parent`."""

    columns: tuple[str, ...]
    parent: Place
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A CHECK of one column that can be honoured: canonical bounds, both included, or the choices;
    `text` as it was written.
    """

    column: str
    text: str
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
    """A table with its constraints; `computed` has the generated columns that can be computed, with
    their expressions.
    """

    table: Table
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[Check, ...] = ()
    computed: tuple[tuple[str, str], ...] = ()

    @property
    def unique_keys(self) -> tuple[tuple[str, ...], ...]:
        """The primary key and every unique key."""
        named = (index.columns for index in self.table.indexes if index.unique)
        return tuple(
            dict.fromkeys(
                key for key in (self.table.primary_key, *self.table.unique, *named) if key
            )
        )

    @property
    def identifying(self) -> set[str]:
        """The columns of unique keys."""
        return {name for key in self.unique_keys for name in key}

    @property
    def referring(self) -> set[str]:
        """The columns of foreign keys."""
        return {name for key in self.foreign_keys for name in key.columns}


def referred(users: Iterable[UserTable], parent: Place) -> set[str]:
    """The columns of a table to which tables refer."""
    return {
        name
        for user in users
        for key in user.foreign_keys
        if key.parent == parent
        for name in key.parent_columns
    }


@dataclass(frozen=True, slots=True)
class Schema:
    """A user's tables in their order of definition, in one dialect of `DIALECTS`."""

    dialect: str
    tables: tuple[UserTable, ...]
    notes: tuple[Note, ...] = ()

    @property
    def source(self) -> str:
        """The source whose types the tables have: mysql or postgresql."""
        return DIALECTS[self.dialect]

    def parents_first(self) -> Iterator[UserTable]:
        """The tables, each after the tables that its foreign keys refer to, as far as there is no
        circle.
        """
        left = {place(user.table): user for user in self.tables}
        while left:
            free = [
                at
                for at, user in left.items()
                if not any(key.parent in left and key.parent != at for key in user.foreign_keys)
            ]
            for at in free or [next(iter(left))]:
                yield left.pop(at)
