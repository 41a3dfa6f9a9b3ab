"""Drawn histories of a user's tables: unique keys stay unique, a parent is there before its
children and until they are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from generators.drawing import histories as drawing
from generators.drawing import value_strategies as _values
from generators.model import (
    Column,
    Event,
    History,
    Instant,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    Table,
    Value,
)
from generators.sources import registry as sources
from generators.tables.schema import ForeignKey, UserTable, place
from generators.tables.user_values import Values, identity

ADDED = "added"
"""The column that a drawn statement adds."""


class Live:
    """The rows of some of a schema's tables while a history goes on. Parents outside of them were
    there before.
    """

    def __init__(self, values: Values, users: Sequence[UserTable]) -> None:
        self.values, self.users = values, tuple(users)
        self.tables: list[Table] = [user.table for user in users]
        self.rows: list[list[dict[str, Value]]] = [[] for _ in users]
        at = {place(user.table): number for number, user in enumerate(users)}
        self.keys: list[list[tuple[ForeignKey, int]]] = [
            [(key, at[key.parent]) for key in user.foreign_keys if key.parent in at]
            for user in users
        ]

    def free(self, which: int, row: Row, but: Row | None = None) -> bool:
        """Whether no other row has a unique key of the row."""
        others = [other for other in self.rows[which] if other is not but]
        for key in self.users[which].unique_keys:
            own = identity(key, row)
            if own is not None and any(identity(key, other) == own for other in others):
                return False
        return True

    def referred(self, which: int, row: Row, but: Row | None = None) -> set[str]:
        """The columns of the row by which rows other than `but` refer to it."""
        names: set[str] = set()
        for child, keys in enumerate(self.keys):
            for key, parent in keys:
                if parent != which:
                    continue
                own = tuple(row[name] for name in key.parent_columns)
                rows = (other for other in self.rows[child] if other is not but)
                if any(tuple(other[name] for name in key.columns) == own for other in rows):
                    names |= set(key.parent_columns)
        return names

    def first(self, which: int, seen: frozenset[int] = frozenset()) -> int | None:
        """The table to insert into so that a row of `which` can follow: one without parents that
        lack rows; None in a circle.
        """
        for key, parent in self.keys[which]:
            optional = all(
                self.values.holds(self.users[which], self.users[which].table.column(name), None)
                for name in key.columns
            )
            if parent != which and not self.rows[parent] and not optional:
                return None if parent in seen else self.first(parent, seen | {which})
        return which

    def drawn_row(self, draw: DrawFn, which: int) -> dict[str, Value] | None:
        """A new row whose keys are free and whose parents are there; None where no try gives such a
        row.
        """
        user = self.users[which]
        row = {
            column.name: self._drawn(draw, user, column) for column in self.tables[which].columns
        }
        if not self._refer(draw, which, row):
            return None
        for number in range(65):
            if self.free(which, row):
                return row
            fixed = {name for key, _ in self.keys[which] for name in key.columns}
            for name in user.identifying - fixed:
                pool = self.values.pool(user, user.table.column(name))
                row[name] = pool[number % len(pool)]
        return None

    def _drawn(self, draw: DrawFn, user: UserTable, column: Column) -> Value:
        if column.name == ADDED and all(column.name != known.name for known in user.table.columns):
            return 1
        choices = self.values.wide(user, column)
        return choices[draw(_values.between(0, len(choices) - 1))]

    def _refer(
        self, draw: DrawFn, which: int, row: dict[str, Value], but: Row | None = None
    ) -> bool:
        """Sets the columns of each foreign key to those of a row of the parent other than `but`, or
        to NULL.
        """
        user = self.users[which]
        for key, parent in self.keys[which]:
            columns = [user.table.column(name) for name in key.columns]
            if any(row[name] is None for name in key.columns):
                continue
            offered = (
                tuple(other[name] for name in key.parent_columns)
                for other in self.rows[parent]
                if other is not but
            )
            legal = [cells for cells in offered if self._held(user, columns, cells)]
            if legal:
                chosen = legal[draw(_values.between(0, len(legal) - 1))]
                row |= dict(zip(key.columns, chosen, strict=True))
            elif parent == which and self._held(
                user, columns, own := tuple(row[name] for name in key.parent_columns)
            ):
                row |= dict(zip(key.columns, own, strict=True))
            else:
                free = [column.name for column in columns if self.values.holds(user, column, None)]
                if not free:
                    return False
                row |= dict.fromkeys(free, None)
        return True

    def _held(self, user: UserTable, columns: Sequence[Column], cells: Sequence[Value]) -> bool:
        return all(
            self.values.holds(user, column, value)
            for column, value in zip(columns, cells, strict=True)
        )

    def change(self, draw: DrawFn, at: Instant, wanted: int | None = None) -> RowChange | None:
        """An INSERT, UPDATE or DELETE of one or more rows of a table; None where no row can be
        inserted.
        """
        which = (
            draw(_values.between(0, len(self.users) - 1))
            if wanted is None and len(self.users) > 1
            else wanted or 0
        )
        op, count = draw(drawing.statements(3))
        if op is not Op.INSERT and self.rows[which]:
            return self._touched(draw, which, op, at)
        target = self.first(which)
        if target is None:
            return None
        fresh: list[dict[str, Value]] = []
        for _ in range(count):
            row = self.drawn_row(draw, target)
            if row is not None:
                self.rows[target].append(row)
                fresh.append(row)
        images = tuple(RowImages(None, dict(row)) for row in fresh)
        return RowChange(at, self.tables[target], Op.INSERT, images) if fresh else None

    def _touched(self, draw: DrawFn, which: int, op: Op, at: Instant) -> RowChange:
        live = self.rows[which]
        row = live[draw(_values.between(0, len(live) - 1))]
        kept = self.referred(which, row)
        if op is Op.DELETE and not self.referred(which, row, but=row):
            live[:] = [other for other in live if other is not row]
            return RowChange(at, self.tables[which], Op.DELETE, (RowImages(dict(row), None),))
        after, user = dict(row), self.users[which]
        mask = draw(drawing.masks(len(self.tables[which].columns)))
        for number, column in enumerate(self.tables[which].columns):
            if mask >> number & 1 and column.name not in kept and not column.generated:
                after[column.name] = self._drawn(draw, user, column)
        changed = any(
            after[name] != row[name] for key, _ in self.keys[which] for name in key.columns
        )
        if (changed and not self._refer(draw, which, after, row)) or not self.free(
            which, after, row
        ):
            after |= {name: row[name] for name in user.identifying}
            after |= {name: row[name] for key, _ in self.keys[which] for name in key.columns}
        after |= {name: row[name] for name in kept}
        before = dict(row)
        row.clear()
        row |= after
        return RowChange(at, self.tables[which], Op.UPDATE, (RowImages(before, after),))

    def statement(self, draw: DrawFn, at: Instant) -> SchemaChange:
        """A statement on one of the tables."""
        which = draw(_values.between(0, len(self.users) - 1)) if len(self.users) > 1 else 0
        before = self.tables[which]
        source = sources.of_table(before)
        action = draw(drawing.sample(source.drawn_ddl))
        named = any(column.name.casefold() == ADDED for column in before.columns)
        bound = any(
            parent == which and self.rows[child]
            for child, keys in enumerate(self.keys)
            for _, parent in keys
        )
        if (action == "add column" and named) or (action == "truncate table" and bound):
            action = "table comment"
        event = statement(action, before, at)
        assert event.after is not None
        if action == "add column":
            for row in self.rows[which]:
                row[ADDED] = 1
        elif action == "truncate table":
            self.rows[which].clear()
        self.tables[which] = event.after
        return event


def statement(action: str, before: Table, at: Instant, column: str = "") -> SchemaChange:
    """A statement of the source's `ddl_actions` on a table; `column` is the column that it
    drops.
    """
    source = sources.of_table(before)
    after, old = before, None
    match action:
        case "add column":
            after = replace(before, columns=(*before.columns, drawing.added_column(ADDED, source)))
        case "drop column":
            after = replace(before, columns=tuple(c for c in before.columns if c.name != column))
        case "table comment":
            after = replace(before, comment=sources.COMMENT)
        case "rename table":
            after, old = (
                replace(before, name=source.identifier(before.name[:60] + "_r")),
                before.name,
            )
    sql = drawing.ddl_text(action, before.database, after.name, old or "", source.name)
    if action == "drop column":
        sql = sql.replace(source.quote("c"), source.quote(column))
    if before.schema and before.schema != source.schema:
        sql = sql.replace(source.quote(source.schema or ""), source.quote(before.schema), 1)
    return SchemaChange(at, action, sql, before.database, after.name, before, after, old)


def histories(
    values: Values, users: Sequence[UserTable], start: Instant, *, ddl: bool, events: int = 8
) -> SearchStrategy[History]:
    """Histories of the tables, which are empty at first; parents outside of `users` have every row
    that is referred to.
    """

    @st.composite
    def drawn(draw: DrawFn) -> History:
        live = Live(values, users)
        made: list[Event] = []
        for number in range(draw(_values.between(1, events))):
            at = Instant(start.ms + number, start.seq)
            if ddl and number and draw(_values.between(0, 9)) == 9:
                made.append(live.statement(draw, at))
            elif (change := live.change(draw, at)) is not None:
                made.append(change)
        return History(tuple(made), draw(drawing.CHANCE))

    return drawn()
