"""How formats say the named cases that only they have: each with a table of its own, which its name
names.

`read`, `inserted`, `updated` and `deleted` are changes of the case's own table, for which OWN
stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from generators.model import (
    Bootstrap,
    Column,
    Event,
    Op,
    Row,
    RowChange,
    Scenario,
    SourceType,
    Table,
    Value,
)
from generators.sources.boundaries import ID, change, insert, named, neutral, one_column

OWN: Final = Table("", "", ())
"""Stands in the events of a case for the case's own table."""

Names = tuple[str, ...]


class Cases:
    """Makes named cases. Their tables are in one database, and have these columns, this primary key
    and these unique keys.
    """

    def __init__(
        self,
        database: str,
        columns: tuple[Column, ...] = (ID,),
        key: Names = ("id",),
        unique: tuple[Names, ...] = (),
        schema: str | None = None,
    ) -> None:
        self.database = database
        self.columns = columns
        self.key = key
        self.unique = unique
        self.schema = schema

    def of(
        self, *columns: Column, key: Names | None = None, unique: tuple[Names, ...] | None = None
    ) -> Cases:
        """The same maker of cases, but with other columns or other keys for its tables. No columns,
        or None, leave what there is; an empty tuple is no key.
        """
        key, unique = self.key if key is None else key, self.unique if unique is None else unique
        return Cases(self.database, columns or self.columns, key, unique, self.schema)

    def table(self, name: str) -> Table:
        """The table that belongs to the case of that name: the case's name decides the table's."""
        return Table(self.database, neutral(name), self.columns, self.key, self.unique, self.schema)

    def case(self, name: str, *events: Event, tags: Iterable[str] = ()) -> Scenario:
        """The case of this name with these events. Events of the placeholder OWN get the table of
        the case, whose name follows from the case's.
        """
        own_table = self.table(name)
        own_events = (
            replace(e, table=own_table)
            if isinstance(e, RowChange | Bootstrap) and e.table is OWN
            else e
            for e in events
        )
        return named(name, *own_events, tags=tags)

    def value(
        self, name: str, type: SourceType, value: Value, tags: Iterable[str] = ()
    ) -> Scenario:
        """The named case of an INSERT of this value into a column `c` of this type."""
        return named(
            name, insert(one_column(self.database, name, type), {"id": 1, "c": value}), tags=tags
        )


def read(*inserted_rows: Row) -> RowChange:
    """The event of a snapshot that reads these rows of the case's own table."""
    return change(OWN, Op.READ, *((None, inserted_row) for inserted_row in inserted_rows))


def inserted(*new_rows: Row) -> RowChange:
    """The event of one INSERT of these rows into the case's own table."""
    return change(OWN, Op.INSERT, *((None, new_row) for new_row in new_rows))


def updated(old_row: Row, changes: Row) -> RowChange:
    """The event of an UPDATE of `old_row` in the case's own table; `changes` are the columns with
    new values.
    """
    return change(OWN, Op.UPDATE, (old_row, {**old_row, **changes}))


def deleted(*old_rows: Row) -> RowChange:
    """The event of one DELETE of these rows of the case's own table."""
    return change(OWN, Op.DELETE, *((old_row, None) for old_row in old_rows))
