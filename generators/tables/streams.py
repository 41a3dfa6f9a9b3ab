"""Histories of streams of a user's table: rows come, change, move to another key and go; unique
keys stay unique.

The rows that a row refers to were there before, and no row refers to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from generators.drawing.streams import STATEMENTS, Key, Story, Streamed, tell
from generators.model import Column, Layout, Row, Table, Value
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.postgresql_values import UNAVAILABLE
from generators.tables.histories import ADDED
from generators.tables.scenarios import distinct_rows, droppable
from generators.tables.schema import UserTable, place, referred
from generators.tables.user_values import Values
from generators.wire_format import Format

ROWS: Final = 48
"""Rows with different keys, as far as the columns have values."""
SHORT: Final = 200
"""Characters of the values that are written, as far as a column has such: a long one may be left
out of a message.
"""
NUMBER: Final = mysql.integer("int")


def unkept(user: UserTable) -> str:
    """Why rows of the table cannot be kept by key, or ""."""
    return (
        ""
        if user.table.primary_key
        else f"table {user.table.name} has no primary key, by which rows are kept"
    )


def statements(values: Values, user: UserTable) -> tuple[str, ...]:
    """The statements of STATEMENTS that the table can have: a table that others refer to is not
    truncated.
    """
    added = all(column.name.casefold() != ADDED for column in user.table.columns)
    can = {
        "add column": added,
        "truncate table": not referred(values.schema.tables, place(user.table)),
        "drop column": bool(droppable(values, user)),
    }
    return tuple(what for what in STATEMENTS if can.get(what))


def streamed(
    values: Values,
    user: UserTable,
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    name: str,
    changes: int = 90,
    partitions: int = 3,
    some: tuple[str, ...] | None = None,
    fine: bool = False,
) -> Streamed:
    """A history of the table under another name, and the messages that the profile writes of it
    (`tell`); `some` are its statements, None for all that the table can have.
    """
    table = replace(user.table, name=name)
    chosen = can = statements(values, user)
    if some is not None:
        again = ("add column again",) if "drop column" in can else ()
        chosen = tuple(what for what in some if what in (*can, *again))
    layout = Layout(partitions=partitions)
    return tell(
        fmt,
        profile,
        lambda left: _TableStory(values, user, table, seed, left),
        changes,
        layout,
        chosen,
        fine,
    )


class _TableStory(Story):
    """Each row has the keys and references of one of the table's distinct rows, which no other row
    has at the same time.
    """

    def __init__(
        self, values: Values, user: UserTable, table: Table, seed: int, left: tuple[str, ...]
    ) -> None:
        self.values, self.user = values, user
        self.known = distinct_rows(values, user, ROWS)
        dropped = next(
            (column for column in table.columns if column.name == droppable(values, user)), None
        )
        super().__init__(
            table, seed, left, Column(ADDED, NUMBER), dropped, min(10, len(self.known) // 2)
        )
        self.fixed = (
            user.identifying | user.referring | {c.name for c in table.columns if c.generated}
        )
        self.reserved: set[Key] = set()

    def transaction(self, count: int, *, soon: bool = False) -> None:
        """See `Story`; keys that the statement takes are reserved until it is done."""
        super().transaction(count, soon=soon)
        self.reserved.clear()

    def free(self) -> Row | None:
        """A distinct row that no row of the table and of the statement has."""
        left = [
            row
            for row in self.known
            if self.key(row) not in self.rows and self.key(row) not in self.reserved
        ]
        if not left:
            return None
        chosen = self.chance.choice(left)
        self.reserved.add(self.key(chosen))
        return chosen

    def fresh(self) -> Row | None:
        """See `Story`."""
        base = self.free()
        if base is None:
            return None
        row = {
            c.name: base[c.name] if c.name in self.fixed else self.value(c)
            for c in self.table.columns
        }
        return self.values.completed(self.user, row)

    def updated(self, key: Key) -> Row:
        """See `Story`."""
        free = [column for column in self.table.columns if column.name not in self.fixed]
        chosen = self.chance.sample(free, min(self.chance.randint(1, 4), len(free)))
        base = self.free() if self.chance.random() < 0.25 else None
        moved = (
            {}
            if base is None
            else {c.name: base[c.name] for c in self.table.columns if c.name in self.fixed}
        )
        row = {**self.rows[key], **{column.name: self.value(column) for column in chosen}, **moved}
        return self.values.completed(self.user, row)

    def value(self, column: Column) -> Value:
        """A value for a column that is free, and never the text that stands for a value that was
        not sent.
        """
        if column.name == ADDED and all(known.name != ADDED for known in self.user.table.columns):
            return self.chance.randint(-(1 << 31), (1 << 31) - 1)
        wide = self.values.wide(self.user, self.user.table.column(column.name))
        short = [
            value for value in wide if len(repr(value)) <= SHORT and UNAVAILABLE not in repr(value)
        ]
        return self.chance.choice(short or wide)
