"""Scenarios of a user's tables: every boundary of every column, every operation, statements on the
tables, drawn histories.

Names are `tables/<table>/<operation>`, `tables/<table>/<column>/<value>`, `tables/histories/...`;
those of level two end in `/typed`. A scenario of one table presumes that the rows that it refers to
were there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from generators.drawing import strategies
from generators.model import (
    Column,
    Event,
    History,
    Instant,
    Op,
    Row,
    RowChange,
    Scenario,
    Table,
    Value,
)
from generators.sources import registry as sources
from generators.sources.boundaries import START, change
from generators.tables.histories import histories, statement
from generators.tables.schema import Schema, UserTable, place, referred
from generators.tables.user_values import Values, identity

TAG = "tables"
TYPED = "/typed"
ROWS = 3
"""Rows of a statement of several rows."""
_GAP_MS = 60_000
"""Between the clocks of scenarios that alter a table: versions of its schema never share an
instant.
"""
_DRAWN_MS = 100 * 86_400_000


def part(name: str) -> str:
    """A name as a part of a case id."""
    return "".join(c if c.isalnum() or c in "_-" else f"%{ord(c):02x}" for c in name)


def labels(schema: Schema) -> dict[int, str]:
    """The name of each table (by its number) in case ids: bare where no other table has it."""
    bare = [user.table.name for user in schema.tables]
    by_number = {}
    for number, user in enumerate(schema.tables):
        table = user.table
        within = table.schema or table.database
        by_number[number] = part(
            table.name if bare.count(table.name) == 1 else f"{within}.{table.name}"
        )
    return by_number


def named(values: Values, users: Sequence[UserTable], *, ddl: bool) -> Iterator[Scenario]:
    """Every named scenario of the tables, at both levels."""
    return map(values.completed_scenario, _named(values, users, ddl=ddl))


def _named(values: Values, users: Sequence[UserTable], *, ddl: bool) -> Iterator[Scenario]:
    known = labels(values.schema)
    for number, user in enumerate(values.schema.tables):
        if user not in users:
            continue
        name = f"{TAG}/{known[number]}"
        for plain in (*_operations(values, user, name), *_columns(values, user, name)):
            yield plain
            yield replace(plain, name=plain.name + TYPED, level=2)
        if ddl:
            yield from _statements(values, user, name, number)
    if len(users) > 1:
        yield _family(values, users)


def scenario(name: str, *events: Event, tags: Iterable[str] = ()) -> Scenario:
    """A named scenario of level one."""
    return Scenario(
        name,
        History(tuple(events), seed=sum(name.encode())),
        1,
        frozenset({TAG, "boundary", *tags}),
    )


def distinct_rows(values: Values, user: UserTable, count: int) -> list[dict[str, Value]]:
    """Up to `count` rows whose unique keys differ."""
    rows: list[dict[str, Value]] = []
    for number in range(4 * count):
        row = values.row(user, number)
        keys = [(key, identity(key, row)) for key in user.unique_keys]
        if not any(
            own is not None and own == identity(key, other) for key, own in keys for other in rows
        ):
            rows.append(row)
        if len(rows) == count:
            break
    return rows


def _operations(values: Values, user: UserTable, name: str) -> Iterator[Scenario]:
    table = user.table
    rows = distinct_rows(values, user, 2 * ROWS)
    base, several, others = rows[0], rows[:ROWS], rows[ROWS:]
    yield scenario(f"{name}/insert", change(table, Op.INSERT, (None, base)))
    yield scenario(f"{name}/update-nothing", change(table, Op.UPDATE, (base, base)))
    yield scenario(f"{name}/delete", change(table, Op.DELETE, (base, None)))
    fixed = {c.name for c in table.columns if c.generated} | user.identifying
    if len(rows) > 1:
        after = {**rows[1], **{column: base[column] for column in fixed}}
        yield scenario(f"{name}/update-all", change(table, Op.UPDATE, (base, after)))
        key = {column: rows[1][column] for column in table.handle_key}
        if key and any(base[column] != value for column, value in key.items()):
            yield scenario(f"{name}/update-key", change(table, Op.UPDATE, (base, {**base, **key})))
        yield scenario(
            f"{name}/insert-rows", change(table, Op.INSERT, *((None, row) for row in several))
        )
        yield scenario(
            f"{name}/delete-rows", change(table, Op.DELETE, *((row, None) for row in several))
        )
    if len(others) == ROWS:
        pairs = [
            (row, {**other, **{c: row[c] for c in fixed}})
            for row, other in zip(several, others, strict=True)
        ]
        yield scenario(f"{name}/update-rows", change(table, Op.UPDATE, *pairs))
    empty = {c.name: None for c in table.columns if values.holds(user, c, None) and not c.generated}
    if empty:
        yield scenario(f"{name}/all-null", change(table, Op.INSERT, (None, {**base, **empty})))


def _columns(values: Values, user: UserTable, name: str) -> Iterator[Scenario]:
    table, base = user.table, values.row(user, 0)
    for column in table.columns:
        at = f"{name}/{part(column.name)}"
        boundaries = values.boundaries(user, column)
        for label, value in boundaries.items():
            yield scenario(
                f"{at}/{label}", change(table, Op.INSERT, (None, {**base, column.name: value}))
            )
        if column.generated:
            continue
        other = _other(values, user, column, base)
        if other is not None:
            after = {**base, column.name: other}
            yield scenario(f"{at}/update", change(table, Op.UPDATE, (base, after)))
        if "null" in boundaries:
            bare: Row = {**base, column.name: None}
            filled = {
                **base,
                column.name: other if base[column.name] is None else base[column.name],
            }
            yield scenario(f"{at}/update-to-null", change(table, Op.UPDATE, (filled, bare)))
            yield scenario(f"{at}/update-from-null", change(table, Op.UPDATE, (bare, filled)))


def _other(values: Values, user: UserTable, column: Column, base: Row) -> Value:
    """Another value of the column than the row has; None if there is none."""
    known = [*values.pool(user, column), *values.boundaries(user, column).values()]
    return next(
        (value for value in known if value is not None and value != base[column.name]), None
    )


def _statements(values: Values, user: UserTable, name: str, number: int) -> Iterator[Scenario]:
    """Statements that alter the table, each between two inserted rows."""
    table, rows = user.table, distinct_rows(values, user, 2)
    actions = [
        "truncate table",
        "rename table",
        "add column",
        "drop column",
        "table comment",
        "table charset",
    ]
    for turn, action in enumerate(actions):
        if action not in sources.of_table(table).ddl_actions:
            continue
        dropped = droppable(values, user)
        if (action == "drop column" and not dropped) or (
            action == "add column" and any(c.name == "added" for c in table.columns)
        ):
            continue
        ms = START.ms + _GAP_MS * (1 + number * len(actions) + turn)
        event = statement(action, table, Instant(ms + 1, 1), dropped)
        assert event.after is not None
        row: dict[str, Value] = {c.name: rows[-1].get(c.name, 1) for c in event.after.columns}
        first = change(table, Op.INSERT, (None, rows[0]), at=Instant(ms, 1))
        last = change(event.after, Op.INSERT, (None, row), at=Instant(ms + 2, 1))
        yield scenario(
            f"{name}/{action.replace(' ', '-')}", first, event, last, tags=[f"ddl:{action}"]
        )


def droppable(values: Values, user: UserTable) -> str:
    """The last column that no key, index, CHECK or generated column needs; "" if there is none."""
    table = user.table
    needed = user.identifying | user.referring | referred(values.schema.tables, place(table))
    needed |= {name for index in table.indexes for name in index.columns} | {
        check.column for check in user.checks
    }
    if any(column.generated for column in table.columns):
        return ""
    return (
        next((c.name for c in reversed(table.columns) if c.name not in needed), "")
        if len(table.columns) > 1
        else ""
    )


def _family(values: Values, users: Sequence[UserTable]) -> Scenario:
    """A row of every table, parents first, then a change of each, then all deleted, children
    first.
    """
    ordered = [user for user in values.schema.parents_first() if user in users]
    rows = [values.row(user, 0) for user in ordered]
    events: list[RowChange] = []

    def add(table: Table, op: Op, before: Row | None, after: Row | None) -> None:
        events.append(change(table, op, (before, after), at=Instant(START.ms + len(events), 1)))

    for user, row in zip(ordered, rows, strict=True):
        add(user.table, Op.INSERT, None, row)
    for number, (user, row) in enumerate(zip(ordered, rows, strict=True)):
        table = user.table
        fixed = user.identifying | user.referring | referred(values.schema.tables, place(table))
        free = [c for c in table.columns if c.name not in fixed and not c.generated]
        if free and (other := _other(values, user, free[-1], row)) is not None:
            rows[number] = {**row, free[-1].name: other}
            add(table, Op.UPDATE, row, rows[number])
    for user, row in zip(reversed(ordered), reversed(rows), strict=True):
        add(user.table, Op.DELETE, row, None)
    return scenario(f"{TAG}/histories/parents-first", *events)


def drawn(
    values: Values, users: Sequence[UserTable], count: int, seed: int, *, ddl: bool
) -> list[Scenario]:
    """`count` drawn scenarios: two thirds are histories of all tables, a third changes of one
    table, for level two.
    """
    known, tags = labels(values.schema), frozenset({TAG, "drawn"})
    several, scenarios = count - count // 3, []
    start = Instant(0, 1)
    for number, history in enumerate(
        strategies.draw(histories(values, users, start, ddl=ddl), several, seed)
    ):
        moved = _moved(history, START.ms + _DRAWN_MS + number * _GAP_MS)
        scenarios.append(Scenario(f"{TAG}/histories/drawn/{seed}/{number}", moved, 1, tags))
    numbers = [number for number, user in enumerate(values.schema.tables) if user in users]
    for turn, which in enumerate(numbers):
        share = (count // 3 + len(numbers) - 1 - turn) // len(numbers)
        alone = histories(values, [values.schema.tables[which]], START, ddl=False, events=3)
        for number, history in enumerate(strategies.draw(alone, share, seed + 1 + which)):
            scenarios.append(
                Scenario(f"{TAG}/{known[which]}/drawn/{seed}/{number}{TYPED}", history, 2, tags)
            )
    return [values.completed_scenario(made) for made in scenarios if made.history.events]


def _moved(history: History, ms: int) -> History:
    return replace(
        history,
        events=tuple(
            replace(event, at=Instant(ms + event.at.ms, event.at.seq)) for event in history.events
        ),
    )
