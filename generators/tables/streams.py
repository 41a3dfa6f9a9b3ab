"""Histories of streams of a user's table: rows come, change, move to another key and go; unique
keys stay unique.

The rows that a row refers to were there before, and no row refers to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from generators.drawing.streams import STATEMENTS, Key, Story, Streamed, write_story
from generators.model import Column, Layout, Row, Table, Value
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.postgresql_values import UNAVAILABLE
from generators.tables.histories import ADDED
from generators.tables.scenarios import distinct_rows, droppable_column
from generators.tables.schema import UserTable, referred_columns, table_name
from generators.tables.user_values import Values
from generators.wire_format import Format

ROWS: Final = 48
"""Rows with different keys, as far as the columns have values."""
SHORT: Final = 200
"""Characters of the values that are written, as far as a column has such: a long one may be left
out of a message.
"""
NUMBER: Final = mysql.integer("int")
"""The type of the column that a statement adds."""


def why_not_keyed(user: UserTable) -> str:
    """Why a stream of the table's rows cannot be kept by key; "" if it can."""
    return (
        ""
        if user.table.primary_key
        else f"table {user.table.name} has no primary key, by which rows are kept"
    )


def possible_statements(values: Values, user: UserTable) -> tuple[str, ...]:
    """The kinds of DDL statements (of STATEMENTS, in that order) that a stream of the table can
    have. A table that others refer to is not truncated; a column is added only if the table has
    none named ADDED, and dropped only if nothing needs it.
    """
    is_possible = {
        "add column": all(column.name.casefold() != ADDED for column in user.table.columns),
        "truncate table": not referred_columns(values.schema.tables, table_name(user.table)),
        "drop column": bool(droppable_column(values, user)),
    }
    return tuple(kind for kind in STATEMENTS if is_possible.get(kind))


def stream_table(
    values: Values,
    user: UserTable,
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    name: str,
    changes: int = 90,
    partitions: int = 3,
    asked_statements: tuple[str, ...] | None = None,
    fine_clock: bool = False,
) -> Streamed:
    """A history of the table under the name `name`, of about `changes` row changes, with everything
    that a stream may have, and the messages that the profile writes of it. `asked_statements` are
    the kinds of its DDL statements, None for all that the table can have. With `fine_clock` some
    rows change twice within a millisecond.
    """
    table = replace(user.table, name=name)
    statement_kinds = possible = possible_statements(values, user)
    if asked_statements is not None:
        again = ("add column again",) if "drop column" in possible else ()
        statement_kinds = tuple(what for what in asked_statements if what in (*possible, *again))
    layout = Layout(partitions=partitions)
    return write_story(
        fmt,
        profile,
        lambda pending_statements: _TableStory(values, user, table, seed, pending_statements),
        changes,
        layout,
        statement_kinds,
        fine_clock,
    )


class _TableStory(Story):
    """The history of a stream of a user's table while it is made. Each row has the keys and
    references of one of the table's distinct rows (`base_rows`); no other row has them at the same
    time.
    """

    def __init__(
        self,
        values: Values,
        user: UserTable,
        table: Table,
        seed: int,
        pending_statements: tuple[str, ...],
    ) -> None:
        self.values, self.user = values, user
        self.base_rows = distinct_rows(values, user, ROWS)
        dropped = next(
            (column for column in table.columns if column.name == droppable_column(values, user)),
            None,
        )
        super().__init__(
            table,
            seed,
            pending_statements,
            Column(ADDED, NUMBER),
            dropped,
            min(10, len(self.base_rows) // 2),
        )
        self.key_like_columns = (
            user.unique_columns
            | user.foreign_key_columns
            | {c.name for c in table.columns if c.generated}
        )
        self.reserved: set[Key] = set()

    def transaction(self, count: int, *, soon: bool = False) -> None:
        """Commits one INSERT, UPDATE or DELETE of up to `count` rows. The keys that it uses are
        reserved until it is done, so that no two of its rows get the same.
        """
        super().transaction(count, soon=soon)
        self.reserved.clear()

    def take_base_row(self) -> Row | None:
        """Takes one of the table's distinct rows whose key no row has, and reserves its key for the
        current statement; None if there is none left.
        """
        free_rows = [
            base_row
            for base_row in self.base_rows
            if self.key(base_row) not in self.rows and self.key(base_row) not in self.reserved
        ]
        if not free_rows:
            return None
        base_row = self.chance.choice(free_rows)
        self.reserved.add(self.key(base_row))
        return base_row

    def new_row(self) -> Row | None:
        """Makes a row for an INSERT, whose key no other row has; None if there is no such row
        left.
        """
        base = self.take_base_row()
        if base is None:
            return None
        new_cells = {
            c.name: base[c.name] if c.name in self.key_like_columns else self.value(c)
            for c in self.table.columns
        }
        return self.values.with_computed_columns(self.user, new_cells)

    def updated_row(self, key: Key) -> Row:
        """The row that an UPDATE leaves of the existing row with this key: one to four columns that
        are in no unique or foreign key and are not generated are drawn again. One UPDATE in four
        also takes the keys and references of a distinct row (`base_rows`) whose key no row has.
        """
        changeable = [
            column for column in self.table.columns if column.name not in self.key_like_columns
        ]
        changed_columns = self.chance.sample(
            changeable, min(self.chance.randint(1, 4), len(changeable))
        )
        base = self.take_base_row() if self.chance.random() < 0.25 else None
        key_like_cells = (
            {}
            if base is None
            else {
                c.name: base[c.name] for c in self.table.columns if c.name in self.key_like_columns
            }
        )
        new_cells = {
            **self.rows[key],
            **{column.name: self.value(column) for column in changed_columns},
            **key_like_cells,
        }
        return self.values.with_computed_columns(self.user, new_cells)

    def value(self, column: Column) -> Value:
        """A random value for a column that is in no key; never the text that stands for a value
        that was not sent.
        """
        if column.name == ADDED and all(
            user_column.name != ADDED for user_column in self.user.table.columns
        ):
            return self.chance.randint(-(1 << 31), (1 << 31) - 1)
        all_values = self.values.drawing_pool(self.user, self.user.table.column(column.name))
        short_values = [
            value
            for value in all_values
            if len(repr(value)) <= SHORT and UNAVAILABLE not in repr(value)
        ]
        return self.chance.choice(short_values or all_values)
