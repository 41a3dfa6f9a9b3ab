"""Draws tables, rows, changes and histories with as few Hypothesis draws as possible.

The functions take Hypothesis's `draw`; `generators.drawing.strategies` makes strategies of them and
checks arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from generators.drawing import value_strategies as _values
from generators.model import (
    Bootstrap,
    Column,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceType,
    Table,
    Value,
    Watermark,
)
from generators.sources import databases
from generators.sources.boundaries import AWKWARD_NAMES, START
from generators.wire_format import Format

T = TypeVar("T")

PLAIN_NAMES: Final = ("a", "b", "id", "name", "value", "created_at", "x1", "key")
"""Names of columns and tables in plain ASCII."""
ODD_NAMES: Final = (
    *AWKWARD_NAMES,
    " lead",
    "0",
    "a-b",
    "$x",
    "%s",
    "null",
    "a'b",
    "tab\there",
    "{k}",
    "é\u2028",
    "n" * 64,
)
"""Names that MySQL accepts when quoted: up to 64 characters below U+10000, no trailing space; for
PostgreSQL cut to 63 bytes.
"""

MAX_COLUMNS: Final = 1017
"""InnoDB's limit of columns in a table (MySQL 8.0 Reference Manual 15.22)."""

_COLUMN_NAMES: Final = ("",) * 24 + PLAIN_NAMES + ODD_NAMES
"""The names from which a nullable column's is drawn; "" stands for `c` and the column's number."""
_TABLE_NAMES: Final = ("t",) * 12 + ("orders", *ODD_NAMES[:-1])
"""The names from which a table's is drawn; `t` comes often, since it stands there twelve times."""
_KEY_KINDS: Final[Mapping[bool | None, tuple[str, ...]]] = {
    None: ("single", "composite", "unique", "none"),
    True: ("single", "composite"),
    False: ("none",),
}
"""The kinds of key that a drawn table may have, by the argument `keyed` of `draw_table`."""


class Clock(NamedTuple):
    """The commit times of a drawn history: the milliseconds of the first event, and what each
    further event adds to the milliseconds and to the counter within one (`Instant`).
    """

    first_ms: int
    step_ms: int
    step_seq: int


CLOCKS: Final = tuple(
    Clock(START.ms + offset, *step)
    for step in ((1, 0), (0, 1), (1000, 0), (86_400_000, 3))
    for offset in (0, 1, 500, 999)
)
"""The clocks of drawn histories: events a millisecond, a counter's step, a second or a day apart.
"""
CHANCE: Final = st.integers(0, 0xFFFF)
"""A strategy of one draw for a number that decides details of a history: it is the history's seed,
and chooses one of CLOCKS.
"""


def ddl_text(
    action: str, database: str, table: str, old_name: str = "", source: str = "mysql"
) -> str:
    """The SQL of a DDL statement on a table, in the dialect of `source`. `action` is one of the
    source's `ddl_actions`, such as `add column`; `old_name` is the table's old name in a RENAME, ""
    in any other statement.
    """
    origin = databases.source(source)
    quoted = {
        "db": origin.quote(database),
        "table": origin.quote(table),
        "other": origin.quote(old_name),
    }
    return origin.ddl_actions[action].sql.format(**quoted)


def _kinds(fmt: Format[Any]) -> frozenset[str]:
    """The kinds of changes (`generators.model.Kind`) for which the format has messages."""
    return frozenset(str(kind_row.kind) for kind_row in fmt.kinds)


def draw_table(
    draw: DrawFn,
    database: str,
    low: int,
    high: int,
    keyed: bool | None,
    supports: Callable[[SourceType], bool],
    source: databases.Source = databases.MYSQL,
) -> Table:
    """Draws a table of a database with `low` to `high` columns of types that `supports` accepts.
    `keyed` True asks for a primary key, False for no key, None leaves it open. It takes two draws
    for the table, and for each column one number: the quotient of its division by the number of
    column heads chooses the type, the remainder the name and whether the column is nullable.
    """
    groups = _values.type_groups(supports, False, source.name)
    key_groups = _values.type_groups(supports, True, source.name)
    table_head = draw(_table_heads(_KEY_KINDS[keyed if key_groups else False]))
    count = draw(_values.between(low, high))
    key_width = {"none": 0, "composite": min(2, count)}.get(table_head.key_kind, 1)
    # The columns of the key come first here.
    drawn_columns: list[Column] = []
    used_names: set[str] = set()
    for i in range(count):
        type_groups = key_groups if i < key_width else groups
        type_number, head_number = divmod(
            draw(_values.between(0, _values.STEPS * len(type_groups) * len(_COLUMN_HEADS) - 1)),
            len(_COLUMN_HEADS),
        )
        column_head = _COLUMN_HEADS[head_number]
        name = source.identifier(column_head.name)
        if not name or name.casefold() in used_names:
            name = f"c{i}"
        used_names.add(name.casefold())
        type = _values.type_at(type_groups, type_number)
        drawn_columns.append(Column(name, type, column_head.nullable and i >= key_width))
    key_columns, other_columns = drawn_columns[:key_width], drawn_columns[key_width:]
    # a composite key is declared in another order than its columns
    key = tuple(column.name for column in reversed(key_columns))
    columns = (*other_columns, *key_columns) if table_head.key_last else tuple(drawn_columns)
    primary, unique = ((), (key,)) if table_head.key_kind == "unique" else (key, ())
    return Table(database, table_head.name, columns, primary, unique, source.schema)


class _TableHead(NamedTuple):
    """Three facts of a drawn table: its name, whether the columns of its key come last, and its
    kind of key: `single`, `composite`, `unique` (a unique key in place of a primary key) or `none`.
    """

    name: str
    key_last: bool
    key_kind: str


@lru_cache(maxsize=16)
def _table_heads(key_kinds: tuple[str, ...]) -> SearchStrategy[_TableHead]:
    """A strategy for a table's name, the place of its key and its kind of key, one of `key_kinds`.
    The simplest come first, since Hypothesis shrinks to them.
    """
    # Two in three tables have their key first.
    key_last = (False, False, True)
    facts = itertools.product(_TABLE_NAMES, key_last, key_kinds)
    return st.sampled_from([_TableHead(*head) for head in facts])


class _ColumnHead(NamedTuple):
    """Two facts of a drawn column: its name, "" for `c` and its number, and whether it may be
    nullable.
    """

    name: str
    nullable: bool


_COLUMN_HEADS: Final = (
    *(_ColumnHead(name, True) for name in _COLUMN_NAMES),
    *(_ColumnHead(name, False) for name in ("",) * 4 + PLAIN_NAMES + ODD_NAMES),
)
"""The choices for the name of a column and whether it is nullable, the simplest first."""


@lru_cache(maxsize=256)
def sample(choices: tuple[T, ...]) -> SearchStrategy[T]:
    """A strategy for one of the choices; cached."""
    return st.sampled_from(choices)


def draw_row(draw: DrawFn, table: Table) -> Row:
    """Draws a row of a table: a value for every column, in some rows NULL where the column is
    nullable.
    """
    return {c.name: _values.pick(draw, c.type, c.nullable) for c in table.columns}


@lru_cache(maxsize=256)
def masks(count: int) -> SearchStrategy[int]:
    """A strategy for a bit mask that says which of `count` columns an UPDATE changes: bit i stands
    for column i. It is one column (twice as often), two neighbours, all columns, or none. Masks of
    the last columns come first, since Hypothesis shrinks towards them.
    """
    bits = [1 << i for i in reversed(range(count))]
    neighbours = [a | b for a, b in itertools.pairwise(bits)]
    return st.sampled_from([*bits, *bits, *neighbours, (1 << count) - 1, 0])


def draw_update(draw: DrawFn, table: Table, before: Row) -> Row:
    """Draws the row that an UPDATE makes of the row `before`: the columns of a drawn bit mask
    (`masks`) get newly drawn values.
    """
    mask = draw(masks(len(table.columns)))
    after = dict(before)
    for i, column in enumerate(table.columns):
        if mask >> i & 1:
            after[column.name] = _values.pick(draw, column.type, column.nullable)
    return after


def identity(table: Table, cells: Row) -> tuple[object, ...]:
    """The values of a row's key as a database compares them: without the spaces at the end of a
    text, which a collation with PAD SPACE ignores, and without the zero bytes that pad a BINARY.
    """
    return tuple(map(_strip_padding, (cells[name] for name in table.handle_key)))


def _strip_padding(cell: Value) -> Value:
    """A cell of a key without the trailing spaces or zero bytes that a database ignores in
    comparisons.
    """
    match cell:
        case str():
            return cell.rstrip(" ")
        case bytes():
            return cell.rstrip(b"\0")
        case _:
            return cell


def keep_key(table: Table, before: Row, after: Row) -> Row:
    """The row `after` with the key of the row `before`."""
    return {**after, **{name: before[name] for name in table.handle_key}}


def draw_images(draw: DrawFn, table: Table, op: Op, count: int) -> tuple[RowImages, ...]:
    """Draws the images of up to `count` rows that one statement (`op`) changes, each the row before
    and after the change, None for an image that the operation has not. A drawn row whose key
    another row of the statement has is left out; an UPDATE to such a key keeps the row's old key.
    """
    used_keys: set[tuple[object, ...]] = set()
    images: list[RowImages] = []
    keyed = bool(table.handle_key)
    for _ in range(count):
        cells = draw_row(draw, table)
        if keyed and identity(table, cells) in used_keys:
            continue
        used_keys.add(identity(table, cells))
        if op is Op.UPDATE:
            after = draw_update(draw, table, cells)
            if keyed and identity(table, after) in used_keys:
                after = keep_key(table, cells, after)
            used_keys.add(identity(table, after))
            images.append(RowImages(cells, after))
        else:
            images.append(RowImages(None, cells) if op is Op.INSERT else RowImages(cells, None))
    return tuple(images)


OPS: Final = (Op.INSERT, Op.UPDATE, Op.DELETE, Op.UPDATE)
"""The operations from which that of a row change is drawn: UPDATE is twice as likely as each of the
others.
"""


class DrawnStatement(NamedTuple):
    """The operation of a drawn row change, and how many rows it changes."""

    op: Op
    row_count: int


@lru_cache(maxsize=64)
def statements(max_rows: int) -> SearchStrategy[DrawnStatement]:
    """A strategy for the operation of a row change and its number of rows: three times out of four
    one row, else up to `max_rows`.
    """
    counts = [*([1] * (3 * (max_rows - 1) or 1)), *range(2, max_rows + 1)]
    choices: list[DrawnStatement] = []
    for count in counts:
        choices += [DrawnStatement(op, count) for op in OPS]
    return st.sampled_from(choices)


def draw_change(draw: DrawFn, table: Table, max_rows: int, at: Instant) -> RowChange:
    """Draws an INSERT, UPDATE or DELETE of up to `max_rows` rows of a table at the commit time
    `at`. It knows no rows of the table: an UPDATE or DELETE is of rows that are drawn with it.
    """
    op, count = draw(statements(max_rows))
    return RowChange(at, table, op, draw_images(draw, table, op, count))


class SourceModel:
    """The tables of a drawn history, and the rows that exist in each (`live`, in the order of
    `tables`).
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        self.tables = list(tables)
        self.live: list[list[Row]] = [[] for _ in self.tables]

    def change(self, draw: DrawFn, at: Instant) -> RowChange:
        """Draws a row change of one of the tables, and applies it to the table's rows: an INSERT of
        up to three new rows, or an UPDATE or DELETE of one row that exists. In a table without rows
        it is an INSERT; where the keys of all new rows are taken, a DELETE.
        """
        which = draw(_values.between(0, len(self.tables) - 1)) if len(self.tables) > 1 else 0
        table, live = self.tables[which], self.live[which]
        op, count = draw(statements(3))
        images = self._draw_insert(draw, table, live, count) if op is Op.INSERT or not live else ()
        if images:
            return RowChange(at, table, Op.INSERT, images)
        op = Op.DELETE if op is Op.INSERT else op  # every drawn key was taken
        return RowChange(at, table, op, (self._draw_touched(draw, table, live, op),))

    def _draw_insert(
        self, draw: DrawFn, table: Table, live: list[Row], count: int
    ) -> tuple[RowImages, ...]:
        """Draws up to `count` new rows, and adds those whose keys no live row has to the live rows
        of the table. Returns their images, none if every drawn key was taken.
        """
        used_keys = {identity(table, cells) for cells in live} if table.handle_key else set()
        fresh = []
        for image in draw_images(draw, table, Op.INSERT, count):
            assert image.after is not None
            if identity(table, image.after) not in used_keys or not table.handle_key:
                fresh.append(image)
                live.append(image.after)
        return tuple(fresh)

    def _draw_touched(self, draw: DrawFn, table: Table, live: list[Row], op: Op) -> RowImages:
        """Draws one of the table's live rows, lets an UPDATE change it or a DELETE remove it, and
        returns its images. An UPDATE to a key that another live row has keeps the old key.
        """
        before = live.pop(draw(_values.between(0, len(live) - 1)))
        if op is Op.DELETE:
            return RowImages(before, None)
        after = draw_update(draw, table, before)
        if table.handle_key and identity(table, after) in {
            identity(table, cells) for cells in live
        }:
            after = keep_key(table, before, after)
        live.append(after)
        return RowImages(before, after)

    def ddl(self, draw: DrawFn, at: Instant) -> SchemaChange | RowChange:
        """Draws a DDL statement on one of the tables, and applies it to the table and its rows.
        Where the table has the column `added` already, a comment on the table takes the place of
        ADD COLUMN, or a row change if the source's comments have no statement.
        """
        source = databases.of_table(self.tables[0])
        action = draw(sample(source.drawn_ddl))
        which = draw(_values.between(0, len(self.tables) - 1))
        before = after = self.tables[which]
        if action == "add column" and any(c.name.casefold() == "added" for c in before.columns):
            action = "table comment"
            if action not in source.ddl_actions:
                return self.change(draw, at)
        if action == "add column":
            after = replace(before, columns=(*before.columns, added_column("added", source)))
            self.live[which] = [{**cells, "added": 1} for cells in self.live[which]]
        elif action == "rename table":
            after = replace(before, name=before.name + "_r")
        elif action == "table comment":
            after = replace(before, comment=databases.COMMENT)
        elif action == "truncate table":
            self.live[which] = []
        self.tables[which] = after
        old = before.name if action == "rename table" else None
        sql = ddl_text(action, before.database, after.name, old or "", source.name)
        return SchemaChange(at, action, sql, before.database, after.name, before, after, old)


def added_column(name: str, source: databases.Source) -> Column:
    """The column that a drawn ADD COLUMN adds under this name, of the source's number type. For
    MySQL its declared type is written as in the statement, without a display width.
    """
    return Column(
        name, source.number, declared=source.number.name if source.name == "mysql" else ""
    )


def draw_history(
    draw: DrawFn,
    fmt: Format[Any],
    database: str,
    max_events: int,
    origin: databases.Source = databases.MYSQL,
) -> History:
    """Draws a history of 1 to `max_events` events on one or two tables of a source. Each event is a
    row change, or, less often, DDL, a watermark, a heartbeat or a bootstrap where the format has
    messages for them. The first is always a row change: Hypothesis shrinks towards fewer draws, and
    would else shrink to a watermark.
    """
    first = draw_table(draw, database, 1, 5, None, fmt.supports, origin)
    tables = [first]
    if draw(sample((False, False, False, True))):
        second = draw_table(draw, database, 1, 5, None, fmt.supports, origin)
        clash = second.name.casefold() == first.name.casefold()
        tables.append(replace(second, name=second.name[:60] + "2") if clash else second)
    kinds = _kinds(fmt)
    source = SourceModel(tables)
    chance = draw(CHANCE)
    clock = CLOCKS[chance % len(CLOCKS)]
    choices = sample(
        (
            *(Kind.ROW,) * 8,
            *(k for k in (Kind.DDL, Kind.WATERMARK, Kind.HEARTBEAT, Kind.BOOTSTRAP) if k in kinds),
        )
    )
    events: list[Event] = []
    for i in range(draw(_values.between(1, max_events))):
        at = Instant(clock.first_ms + i * clock.step_ms, 1 + i * clock.step_seq)
        match draw(choices) if i else Kind.ROW:
            case Kind.DDL:
                events.append(source.ddl(draw, at))
            case Kind.WATERMARK:
                events.append(Watermark(at))
            case Kind.HEARTBEAT:
                events.append(Heartbeat(at))
            case Kind.BOOTSTRAP:
                events.append(Bootstrap(at, source.tables[0]))
            case _:
                events.append(source.change(draw, at))
    return History(tuple(events), chance)
