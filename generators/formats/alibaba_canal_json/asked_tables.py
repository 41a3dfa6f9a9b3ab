"""The tables that Canal lost sight of, so that it asks the server for them when their first row
comes (canal#late-rename).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple, Self

from generators.model import Column, Event, RowChange, SchemaChange, Table


class TableName(NamedTuple):
    """A table's database and its own name."""

    database: str
    table: str

    @classmethod
    def of(cls, table: Table) -> Self:
        """The name of that table."""
        return cls(table.database, table.name)


_RENAME: Final = "rename table"
"""The action of the statements whose first clause renames a table: Canal follows those."""


def show_column(column: Column) -> Column:
    """The column as the server shows it: without the spelling of a statement, and without a key
    that only a statement knows.
    """
    return replace(column, declared="", inline_primary=None)


class AskedTables:
    """The tables of a history that Canal asked the server for, as they were then; None for one that
    it has not asked for yet.
    """

    def __init__(self) -> None:
        self._asked: dict[TableName, Table | None] = {}

    def show(self, event: Event) -> Event:
        """The event, where it has rows of such a table with its columns as the server showed them.
        A column that a statement changed since then is as that statement spelled it.
        """
        match event:
            case SchemaChange():
                self._follow(event)
            case RowChange(table=table) if TableName.of(table) in self._asked:
                asked_table = self._asked[TableName.of(table)] or table
                self._asked[TableName.of(table)] = asked_table
                asked_columns = {(c.name, c.type, c.declared) for c in asked_table.columns}
                columns = tuple(
                    show_column(c) if (c.name, c.type, c.declared) in asked_columns else c
                    for c in table.columns
                )
                return replace(event, table=replace(table, columns=columns))
        return event

    def _follow(self, event: SchemaChange) -> None:
        """Notes what a statement does to the tables that Canal knows. It does not apply a rename
        that follows another clause.
        """
        before, after = event.before, event.after
        if event.action in ("create table", "drop table"):
            self._asked.pop(TableName(event.database, event.table), None)
        elif before and after and TableName.of(before) != TableName.of(after):
            was_asked = TableName.of(before) in self._asked
            asked_table = self._asked.pop(TableName.of(before), None)
            if was_asked or event.action != _RENAME:
                self._asked[TableName.of(after)] = asked_table if event.action == _RENAME else None
