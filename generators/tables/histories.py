"""Drawn histories of a user's tables: unique keys stay unique, a parent is there before its
children and until they are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from generators.drawing import histories as drawing
from generators.drawing import value_strategies
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
from generators.sources import databases
from generators.tables.schema import ForeignKey, UserTable, table_name
from generators.tables.user_values import Values, identity

ADDED = "added"
"""The column that a drawn statement adds."""


class ParentKey(NamedTuple):
    """A foreign key, and the number of the table that it refers to."""

    key: ForeignKey
    parent: int


class LiveTables:
    """The rows of some of a schema's tables while a history goes on. Parents outside of them were
    there before.
    """

    def __init__(self, values: Values, users: Sequence[UserTable]) -> None:
        self.values, self.users = values, tuple(users)
        self.tables: list[Table] = [user.table for user in users]
        self.live_rows: list[list[dict[str, Value]]] = [[] for _ in users]
        number_by_name = {table_name(user.table): number for number, user in enumerate(users)}
        self.parent_keys: list[list[ParentKey]] = []
        for user in users:
            keys = [key for key in user.foreign_keys if key.parent in number_by_name]
            self.parent_keys.append([ParentKey(key, number_by_name[key.parent]) for key in keys])

    def has_free_keys(self, table_number: int, cells: Row, ignored_row: Row | None = None) -> bool:
        """Whether no live row of the table, other than `ignored_row`, has a unique key that these
        cells have.
        """
        compared_rows = [
            compared_row
            for compared_row in self.live_rows[table_number]
            if compared_row is not ignored_row
        ]
        for key in self.users[table_number].unique_keys:
            user = self.users[table_number]
            row_identity = identity(user, key, cells)
            if row_identity is not None and any(
                identity(user, key, compared_row) == row_identity for compared_row in compared_rows
            ):
                return False
        return True

    def referred_columns(
        self, table_number: int, cells: Row, ignored_row: Row | None = None
    ) -> set[str]:
        """The columns of the row with these cells, in table number `table_number`, to which foreign
        keys of live rows other than `ignored_row` refer, so that they must stay as they are.
        """
        names: set[str] = set()
        for child, keys in enumerate(self.parent_keys):
            for key, parent in keys:
                if parent != table_number:
                    continue
                referred_cells = tuple(cells[name] for name in key.parent_columns)
                for child_row in self.live_rows[child]:
                    child_cells = tuple(child_row[name] for name in key.columns)
                    if child_row is not ignored_row and child_cells == referred_cells:
                        names |= set(key.parent_columns)
        return names

    def insertable_table(
        self, table_number: int, visited: frozenset[int] = frozenset()
    ) -> int | None:
        """The number of the table that must get a row first, so that later a row can be inserted
        into `table_number`: a table that needs no parent, or whose parents have rows. None if the
        tables refer to each other in a circle.
        """
        for key, parent in self.parent_keys[table_number]:
            optional = all(
                self.values.can_hold(
                    self.users[table_number], self.users[table_number].table.column(name), None
                )
                for name in key.columns
            )
            if parent != table_number and not self.live_rows[parent] and not optional:
                return (
                    None
                    if parent in visited
                    else self.insertable_table(parent, visited | {table_number})
                )
        return table_number

    def draw_row(self, draw: DrawFn, table_number: int) -> dict[str, Value] | None:
        """Draws a new row whose unique keys no live row has and whose parents are there; None where
        no such row was found in 65 tries, or a foreign key can refer to nothing.
        """
        user = self.users[table_number]
        cells = {
            column.name: self._draw_value(draw, user, column)
            for column in self.tables[table_number].columns
        }
        if not self._set_references(draw, table_number, cells):
            return None
        # The drawn values, then each of the 64 values at most (realistic.SIZE) of a column's pool.
        for attempt in range(65):
            if self.has_free_keys(table_number, cells):
                return cells
            for name in user.unique_columns - self._referring_columns(table_number):
                pool = self.values.pool(user, user.table.column(name))
                cells[name] = pool[attempt % len(pool)]
        return None

    def _referring_columns(self, table_number: int) -> set[str]:
        """The columns by which a table refers to the tables of this history."""
        return set(chain.from_iterable(key.columns for key, _ in self.parent_keys[table_number]))

    def _draw_value(self, draw: DrawFn, user: UserTable, column: Column) -> Value:
        """Draws a column's value for a new or updated row from the column's pool of values; a
        column that a statement of the history added has the value 1.
        """
        if column.name == ADDED and all(
            column.name != defined_column.name for defined_column in user.table.columns
        ):
            return 1
        possible_values = self.values.drawing_pool(user, column)
        return possible_values[draw(value_strategies.between(0, len(possible_values) - 1))]

    def _set_references(
        self,
        draw: DrawFn,
        table_number: int,
        cells: dict[str, Value],
        ignored_row: Row | None = None,
    ) -> bool:
        """Sets the columns of each foreign key in `cells` to those of a row of the parent other
        than `ignored_row`, or to NULL. Returns whether every key could be set to something legal.
        """
        user = self.users[table_number]
        for key, parent in self.parent_keys[table_number]:
            columns = [user.table.column(name) for name in key.columns]
            if any(cells[name] is None for name in key.columns):
                continue
            legal_cells: list[tuple[Value, ...]] = []
            for parent_row in self.live_rows[parent]:
                offered_cells = tuple(parent_row[name] for name in key.parent_columns)
                if parent_row is not ignored_row and self._can_hold(user, columns, offered_cells):
                    legal_cells.append(offered_cells)
            if legal_cells:
                parent_cells = legal_cells[draw(value_strategies.between(0, len(legal_cells) - 1))]
                cells |= dict(zip(key.columns, parent_cells, strict=True))
            elif parent == table_number and self._can_hold(
                user, columns, own_cells := tuple(cells[name] for name in key.parent_columns)
            ):
                cells |= dict(zip(key.columns, own_cells, strict=True))
            else:
                free = [
                    column.name for column in columns if self.values.can_hold(user, column, None)
                ]
                if not free:
                    return False
                cells |= dict.fromkeys(free, None)
        return True

    def _can_hold(self, user: UserTable, columns: Sequence[Column], cells: Sequence[Value]) -> bool:
        """Whether each of these columns of a table can hold its cell of `cells`, which are those of
        the row that a foreign key is to refer to.
        """
        return all(
            self.values.can_hold(user, column, value)
            for column, value in zip(columns, cells, strict=True)
        )

    def draw_change(
        self, draw: DrawFn, at: Instant, only_table: int | None = None
    ) -> RowChange | None:
        """Draws a row change of a random table, or of table number `only_table`: an UPDATE or
        DELETE of a live row, if the table has one, or else an INSERT of one to three rows. If the
        table needs a row of a parent that has none, the INSERT goes to the parent. None where no
        row can be inserted.
        """
        table_number = (
            draw(value_strategies.between(0, len(self.users) - 1))
            if only_table is None and len(self.users) > 1
            else only_table or 0
        )
        op, count = draw(drawing.statements(3))
        if op is not Op.INSERT and self.live_rows[table_number]:
            return self._draw_update_or_delete(draw, table_number, op, at)
        target = self.insertable_table(table_number)
        if target is None:
            return None
        new_rows: list[dict[str, Value]] = []
        for _ in range(count):
            new_row = self.draw_row(draw, target)
            if new_row is not None:
                self.live_rows[target].append(new_row)
                new_rows.append(new_row)
        images = tuple(RowImages(None, dict(new_row)) for new_row in new_rows)
        return RowChange(at, self.tables[target], Op.INSERT, images) if new_rows else None

    def _draw_update_or_delete(
        self, draw: DrawFn, table_number: int, op: Op, at: Instant
    ) -> RowChange:
        """Draws an UPDATE or DELETE of a live row that breaks no foreign key and no unique key."""
        live_rows = self.live_rows[table_number]
        cells = live_rows[draw(value_strategies.between(0, len(live_rows) - 1))]
        referred_columns = self.referred_columns(table_number, cells)
        if op is Op.DELETE and not self.referred_columns(table_number, cells, ignored_row=cells):
            live_rows[:] = [live_row for live_row in live_rows if live_row is not cells]
            return RowChange(
                at, self.tables[table_number], Op.DELETE, (RowImages(dict(cells), None),)
            )
        after, user = dict(cells), self.users[table_number]
        mask = draw(drawing.masks(len(self.tables[table_number].columns)))
        for bit, column in enumerate(self.tables[table_number].columns):
            if mask >> bit & 1 and column.name not in referred_columns and not column.generated:
                after[column.name] = self._draw_value(draw, user, column)
        referring_columns = self._referring_columns(table_number)
        changed = any(after[name] != cells[name] for name in referring_columns)
        if (
            changed and not self._set_references(draw, table_number, after, cells)
        ) or not self.has_free_keys(table_number, after, cells):
            # No legal keys were drawn: the row keeps its keys and references.
            after |= {name: cells[name] for name in user.unique_columns | referring_columns}
        after |= {name: cells[name] for name in referred_columns}
        before = dict(cells)
        cells.clear()
        cells |= after
        return RowChange(at, self.tables[table_number], Op.UPDATE, (RowImages(before, after),))

    def draw_statement(self, draw: DrawFn, at: Instant) -> SchemaChange | None:
        """Draws a statement on one of the tables, applies it to the table and its rows here, and
        returns its event; None where the database would refuse it and has no other to draw.
        """
        table_number = (
            draw(value_strategies.between(0, len(self.users) - 1)) if len(self.users) > 1 else 0
        )
        before = self.tables[table_number]
        source = databases.of_table(before)
        action = draw(drawing.sample(source.drawn_ddl))
        has_added_column = any(column.name.casefold() == ADDED for column in before.columns)
        has_children = False
        for child_rows, keys in zip(self.live_rows, self.parent_keys, strict=True):
            if child_rows and any(parent == table_number for _, parent in keys):
                has_children = True
        if (action == "add column" and has_added_column) or (
            action == "truncate table" and has_children
        ):
            # The database would refuse the statement; a comment is always legal.
            action = "table comment"
            if action not in source.ddl_actions:
                return None
        event = schema_change(action, before, at)
        assert event.after is not None
        if action == "add column":
            for live_row in self.live_rows[table_number]:
                live_row[ADDED] = 1
        elif action == "truncate table":
            self.live_rows[table_number].clear()
        self.tables[table_number] = event.after
        return event


def schema_change(action: str, before: Table, at: Instant, column: str = "") -> SchemaChange:
    """The event of a statement on a table: `action` is one of the source's `ddl_actions`, `column`
    the column that "drop column" drops.
    """
    source = databases.of_table(before)
    after, old_name = before, None
    match action:
        case "add column":
            after = replace(before, columns=(*before.columns, drawing.added_column(ADDED, source)))
        case "drop column":
            after = replace(before, columns=tuple(c for c in before.columns if c.name != column))
        case "table comment":
            after = replace(before, comment=databases.COMMENT)
        case "rename table":
            after = replace(before, name=source.identifier(before.name[:60] + "_r"))
            old_name = before.name
    sql = drawing.ddl_text(action, before.database, after.name, old_name or "", source.name)
    if action == "drop column":
        # The text of the source's `ddl_actions` drops a column named `c`.
        sql = sql.replace(source.quote("c"), source.quote(column))
    if before.schema and before.schema != source.schema:
        sql = sql.replace(source.quote(source.schema or ""), source.quote(before.schema), 1)
    return SchemaChange(at, action, sql, before.database, after.name, before, after, old_name)


def histories(
    values: Values, users: Sequence[UserTable], start: Instant, *, ddl: bool, events: int = 8
) -> SearchStrategy[History]:
    """Histories of the tables, which are empty at first; parents outside of `users` have every row
    that is referred to.
    """

    @st.composite
    def draw_history(draw: DrawFn) -> History:
        """Draws one history of at most `events` events, a millisecond apart: row changes and, with
        `ddl`, statements (one event in ten, but never the first). A change that no table can take
        is left out. The last draw is the history's seed.
        """
        live = LiveTables(values, users)
        drawn_events: list[Event] = []
        for number in range(draw(value_strategies.between(1, events))):
            at = Instant(start.ms + number, start.seq)
            is_statement = ddl and number and draw(value_strategies.between(0, 9)) == 9
            event = live.draw_statement(draw, at) if is_statement else live.draw_change(draw, at)
            if event is not None:
                drawn_events.append(event)
        return History(tuple(drawn_events), draw(drawing.CHANCE))

    return draw_history()
