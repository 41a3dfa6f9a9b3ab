"""Scenarios of a user's tables: every boundary of every column, every operation, statements on the
tables, drawn histories.

Names are `tables/<table>/<operation>`, `tables/<table>/<column>/<value>`, `tables/histories/...`;
those of level two end in `/typed`. A scenario of one table presumes that the rows that it refers to
were there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

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
from generators.sources import databases
from generators.sources.boundaries import START, change
from generators.tables.histories import histories, schema_change
from generators.tables.schema import Schema, UserTable, referred_columns, table_name
from generators.tables.user_values import Identity, Values, identity

TABLES_TAG = "tables"
"""The tag of scenarios of a user's tables, and the beginning of their names."""
TYPED = "/typed"
"""The end of the names of scenarios of level two, whose rows are typed for a table."""
ROWS = 3
"""Rows of a statement of several rows."""
_GAP_MS = 60_000
"""Between the clocks of scenarios that alter a table: versions of its schema never share an
instant.
"""
_DRAWN_MS = 100 * 86_400_000
"""How much later than the named scenarios the drawn ones begin, so that they share no instant with
those.
"""


def escape_name(name: str) -> str:
    """A name as a part of a case id: of a character other than letters, digits, `_` and `-` each
    byte of its UTF-8 is written as `%` and two hex digits, so that no two names are alike.
    """
    return "".join(c if c.isalnum() or c in "_-" else _escape_character(c) for c in name)


def _escape_character(character: str) -> str:
    """The bytes of a character's UTF-8, each as `%` and two hex digits."""
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def table_labels(schema: Schema) -> dict[int, str]:
    """The name that each table has in case ids, by the table's number: bare where no other table
    has that name, else with its schema or database, or with both where that is not enough.
    """
    names_by_number = []
    for user in schema.tables:
        table = user.table
        full_name = ".".join(filter(None, table_name(table)))
        short_and_full = (table.name, f"{table.schema or table.database}.{table.name}", full_name)
        names_by_number.append(dict.fromkeys(short_and_full))
    counts = Counter(chain.from_iterable(names_by_number))
    labels_by_number = {}
    for number, names_of_table in enumerate(names_by_number):
        *_, full_name = names_of_table
        unique_names = [name for name in names_of_table if counts[name] == 1]
        labels_by_number[number] = escape_name(next(iter(unique_names), full_name))
    return labels_by_number


def named_scenarios(values: Values, users: Sequence[UserTable], *, ddl: bool) -> Iterator[Scenario]:
    """The named scenarios of the tables, with the values of generated columns: those of operations
    and of columns at level one (values as texts) and level two (typed rows), with `ddl` also those
    of statements that alter a table, and with several tables one of parents first, at level one.
    """
    return map(values.complete_scenario, _scenarios_without_computed(values, users, ddl=ddl))


def _scenarios_without_computed(
    values: Values, users: Sequence[UserTable], *, ddl: bool
) -> Iterator[Scenario]:
    """The named scenarios of the user's tables, before computed columns get their values."""
    labels_by_number = table_labels(values.schema)
    for number, user in enumerate(values.schema.tables):
        if user not in users:
            continue
        name = f"{TABLES_TAG}/{labels_by_number[number]}"
        for level_one in (
            *_operation_scenarios(values, user, name),
            *_column_scenarios(values, user, name),
        ):
            yield level_one
            yield replace(level_one, name=level_one.name + TYPED, level=2)
        if ddl:
            yield from _statement_scenarios(values, user, name, number)
    if len(users) > 1:
        yield _parents_first_scenario(values, users)


def boundary_scenario(name: str, *events: Event, tags: Iterable[str] = ()) -> Scenario:
    """A level-one scenario of a user's tables with that name and those events, with the tag
    `boundary` and those in `tags`.
    """
    return Scenario(
        name,
        History(tuple(events), seed=sum(name.encode())),
        1,
        frozenset({TABLES_TAG, "boundary", *tags}),
    )


def distinct_rows(values: Values, user: UserTable, count: int) -> list[dict[str, Value]]:
    """Up to `count` rows of the table, no two of which have the same value of a unique key."""
    distinct: list[dict[str, Value]] = []
    used_keys: list[tuple[tuple[str, ...], Identity]] = []
    for number in range(4 * count):
        candidate = values.base_row(user, number)
        identities = ((key, identity(user, key, candidate)) for key in user.unique_keys)
        # None is a key that equals no other.
        candidate_keys = [(key, cells) for key, cells in identities if cells is not None]
        if not any(key in used_keys for key in candidate_keys):
            used_keys += candidate_keys
            distinct.append(candidate)
        if len(distinct) == count:
            break
    return distinct


def _operation_scenarios(values: Values, user: UserTable, name: str) -> Iterator[Scenario]:
    """The scenarios of each operation on one user table: of one row, of several rows, of the key,
    and of a row of NULLs. Those for which the table has too few distinct rows are left out.
    """
    table = user.table
    base_rows = distinct_rows(values, user, 2 * ROWS)
    base, first_rows, second_rows = base_rows[0], base_rows[:ROWS], base_rows[ROWS:]
    yield boundary_scenario(f"{name}/insert", change(table, Op.INSERT, (None, base)))
    yield boundary_scenario(f"{name}/update-nothing", change(table, Op.UPDATE, (base, base)))
    yield boundary_scenario(f"{name}/delete", change(table, Op.DELETE, (base, None)))
    fixed = {c.name for c in table.columns if c.generated} | user.unique_columns
    if len(base_rows) > 1:
        after = {**base_rows[1], **{column: base[column] for column in fixed}}
        yield boundary_scenario(f"{name}/update-all", change(table, Op.UPDATE, (base, after)))
        key = {column: base_rows[1][column] for column in table.handle_key}
        if key and any(base[column] != value for column, value in key.items()):
            yield boundary_scenario(
                f"{name}/update-key", change(table, Op.UPDATE, (base, {**base, **key}))
            )
        yield boundary_scenario(
            f"{name}/insert-rows",
            change(table, Op.INSERT, *((None, before_row) for before_row in first_rows)),
        )
        yield boundary_scenario(
            f"{name}/delete-rows",
            change(table, Op.DELETE, *((before_row, None) for before_row in first_rows)),
        )
    if len(second_rows) == ROWS:
        pairs: list[tuple[Row, Row]] = []
        for before_row, after_row in zip(first_rows, second_rows, strict=True):
            fixed_cells = {column: before_row[column] for column in fixed}
            pairs.append((before_row, {**after_row, **fixed_cells}))
        yield boundary_scenario(f"{name}/update-rows", change(table, Op.UPDATE, *pairs))
    null_cells = {
        c.name: None for c in table.columns if values.can_hold(user, c, None) and not c.generated
    }
    if null_cells:
        yield boundary_scenario(
            f"{name}/all-null", change(table, Op.INSERT, (None, {**base, **null_cells}))
        )


def _column_scenarios(values: Values, user: UserTable, name: str) -> Iterator[Scenario]:
    """For each column of a table: an INSERT with each boundary value, and UPDATEs to another value,
    to NULL and from NULL.
    """
    table, base = user.table, values.base_row(user, 0)
    for column in table.columns:
        prefix = f"{name}/{escape_name(column.name)}"
        boundaries = values.boundaries(user, column)
        for label, value in boundaries.items():
            yield boundary_scenario(
                f"{prefix}/{label}", change(table, Op.INSERT, (None, {**base, column.name: value}))
            )
        if column.generated:
            continue
        different_value = _different_value(values, user, column, base)
        if different_value is not None:
            after = {**base, column.name: different_value}
            yield boundary_scenario(f"{prefix}/update", change(table, Op.UPDATE, (base, after)))
        if "null" in boundaries:
            null_row: Row = {**base, column.name: None}
            full_row = {
                **base,
                column.name: different_value if base[column.name] is None else base[column.name],
            }
            yield boundary_scenario(
                f"{prefix}/update-to-null", change(table, Op.UPDATE, (full_row, null_row))
            )
            yield boundary_scenario(
                f"{prefix}/update-from-null", change(table, Op.UPDATE, (null_row, full_row))
            )


def _different_value(values: Values, user: UserTable, column: Column, base: Row) -> Value:
    """A value of the column other than the one in the row `base`; None if there is none."""
    column_values = [*values.pool(user, column), *values.boundaries(user, column).values()]
    return next(
        (value for value in column_values if value is not None and value != base[column.name]), None
    )


def _statement_scenarios(
    values: Values, user: UserTable, name: str, number: int
) -> Iterator[Scenario]:
    """A scenario for each kind of statement that the table can have, such as "add column": one row
    is inserted before it, one behind it. `number` is the table's, by which the scenarios get clocks
    of their own.
    """
    table, inserted_rows = user.table, distinct_rows(values, user, 2)
    actions = [
        "truncate table",
        "rename table",
        "add column",
        "drop column",
        "table comment",
        "table charset",
    ]
    for turn, action in enumerate(actions):
        if action not in databases.of_table(table).ddl_actions:
            continue
        dropped = droppable_column(values, user)
        if (action == "drop column" and not dropped) or (
            action == "add column" and any(c.name == "added" for c in table.columns)
        ):
            continue
        ms = START.ms + _GAP_MS * (1 + number * len(actions) + turn)
        event = schema_change(action, table, Instant(ms + 1, 1), dropped)
        assert event.after is not None
        last_row: dict[str, Value] = {
            c.name: inserted_rows[-1].get(c.name, 1) for c in event.after.columns
        }
        first = change(table, Op.INSERT, (None, inserted_rows[0]), at=Instant(ms, 1))
        last = change(event.after, Op.INSERT, (None, last_row), at=Instant(ms + 2, 1))
        yield boundary_scenario(
            f"{name}/{action.replace(' ', '-')}", first, event, last, tags=[f"ddl:{action}"]
        )


def droppable_column(values: Values, user: UserTable) -> str:
    """The last column that no key, index, CHECK or generated column needs; "" if there is none."""
    table = user.table
    needed = (
        user.unique_columns
        | user.foreign_key_columns
        | referred_columns(values.schema.tables, table_name(table))
    )
    needed.update(*(index.columns for index in table.indexes))
    needed.update(check.column for check in user.checks)
    # A generated column may need any column.
    if len(table.columns) == 1 or any(column.generated for column in table.columns):
        return ""
    return next((c.name for c in reversed(table.columns) if c.name not in needed), "")


def _parents_first_scenario(values: Values, users: Sequence[UserTable]) -> Scenario:
    """The scenario of all tables together: a row of each is inserted, parents first, then each is
    changed, then all are deleted, children first.
    """
    ordered = [user for user in values.schema.parents_first() if user in users]
    inserted_rows = [values.base_row(user, 0) for user in ordered]
    events: list[RowChange] = []

    def add(table: Table, op: Op, before: Row | None, after: Row | None) -> None:
        events.append(change(table, op, (before, after), at=Instant(START.ms + len(events), 1)))

    for user, inserted_row in zip(ordered, inserted_rows, strict=True):
        add(user.table, Op.INSERT, None, inserted_row)
    for number, (user, inserted_row) in enumerate(zip(ordered, inserted_rows, strict=True)):
        table = user.table
        fixed = (
            user.unique_columns
            | user.foreign_key_columns
            | referred_columns(values.schema.tables, table_name(table))
        )
        free = [c for c in table.columns if c.name not in fixed and not c.generated]
        if (
            free
            and (new_value := _different_value(values, user, free[-1], inserted_row)) is not None
        ):
            inserted_rows[number] = {**inserted_row, free[-1].name: new_value}
            add(table, Op.UPDATE, inserted_row, inserted_rows[number])
    for user, inserted_row in zip(reversed(ordered), reversed(inserted_rows), strict=True):
        add(user.table, Op.DELETE, inserted_row, None)
    return boundary_scenario(f"{TABLES_TAG}/histories/parents-first", *events)


def drawn_scenarios(
    values: Values, users: Sequence[UserTable], count: int, seed: int, *, ddl: bool
) -> list[Scenario]:
    """`count` drawn scenarios: two thirds are histories of all tables at level one (values as
    texts), a third changes of one table at level two (typed rows). Histories without an event are
    left out.
    """
    labels_by_number, tags = table_labels(values.schema), frozenset({TABLES_TAG, "drawn"})
    history_count, scenarios = count - count // 3, []
    start = Instant(0, 1)
    for number, history in enumerate(
        strategies.draw(histories(values, users, start, ddl=ddl), history_count, seed)
    ):
        moved = _shift_clock(history, START.ms + _DRAWN_MS + number * _GAP_MS)
        scenarios.append(Scenario(f"{TABLES_TAG}/histories/drawn/{seed}/{number}", moved, 1, tags))
    numbers = [number for number, user in enumerate(values.schema.tables) if user in users]
    for turn, table_number in enumerate(numbers):
        share = (count // 3 + len(numbers) - 1 - turn) // len(numbers)
        one_table_histories = histories(
            values, [values.schema.tables[table_number]], START, ddl=False, events=3
        )
        for number, history in enumerate(
            strategies.draw(one_table_histories, share, seed + 1 + table_number)
        ):
            scenarios.append(
                Scenario(
                    f"{TABLES_TAG}/{labels_by_number[table_number]}/drawn/{seed}/{number}{TYPED}",
                    history,
                    2,
                    tags,
                )
            )
    return [
        values.complete_scenario(drawn_scenario)
        for drawn_scenario in scenarios
        if drawn_scenario.history.events
    ]


def _shift_clock(history: History, ms: int) -> History:
    """The history with the commit time of every event moved later by `ms` milliseconds."""
    return replace(
        history,
        events=tuple(
            replace(event, at=Instant(ms + event.at.ms, event.at.seq)) for event in history.events
        ),
    )
