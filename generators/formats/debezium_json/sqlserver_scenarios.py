"""The named cases that only Debezium's profiles of SQL Server have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from generators.families.cases import Cases, deleted, inserted, read, updated
from generators.formats.debezium_json.commit_scenarios import one_commit
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import (
    Column,
    Default,
    Event,
    Instant,
    Op,
    Row,
    Scenario,
    SchemaChange,
    SourceType,
    Value,
)
from generators.sources import sqlserver
from generators.sources.boundaries import START, change, insert, named

SQLSERVER_DEFAULTS: Final[tuple[tuple[str, SourceType, Default, Value], ...]] = (
    ("int", sqlserver.integer(), Default("((5))", 5), 7),
    ("decimal", sqlserver.decimal(10, 4), Default("((1.5))", Decimal("1.5000")), Decimal("-7.25")),
    ("money", sqlserver.money(), Default("((2.5))", Decimal("2.5000")), Decimal("-7.2500")),
    ("text", sqlserver.text("nvarchar", 10), Default("('dflt')", "dflt"), "x"),
    ("bytes", sqlserver.binary("varbinary", 3), Default("(0x6162)", b"ab"), b"xyz"),
    (
        "expression",
        sqlserver.temporal("datetime2", 3),
        Default("(getdate())"),
        1_577_934_245_678_000,
    ),
)
"""Defaults as the catalogue has them; the connector knows that of no expression."""

_LARGE: Final = (
    ("varchar-max", "a long value"),
    ("nvarchar-max", "大きい"),
    ("ntext", "an old value"),
    ("text", "an old value"),
    ("xml", "<a>b</a>"),
    ("varbinary-max", b"long \xff"),
    ("image", b"an old value"),
)
"""A value of each type of large values."""
_SEVENTH: Final = (
    ("datetime2-7", "2024-01-02 03:04:05.1234567"),
    ("datetime2-7", "1969-12-31 23:59:59.9999999"),
    ("time-7", "03:04:05.1234567"),
    ("time-7", "23:59:59.9999999"),
    ("datetimeoffset-7", "2024-01-02 03:04:05.1234567 +00:00"),
)
"""Moments with a seventh fraction digit, by their type."""
_OFFSETS: Final = (
    ("plus", "2018-07-13 12:23:45.456 +11:00"),
    ("half-hour", "2018-07-13 12:23:45 -03:30"),
    ("next-day", "2023-12-31 23:30:00 -14:00"),
    ("before-1970", "1969-07-20 20:17:40.000 +01:00"),
    ("before-1970-fraction", "1969-07-20 20:17:40.500 +01:00"),
)
"""Moments with an offset from UTC, by what is special in them."""


def bracketed_names(cases: Cases) -> Iterator[Scenario]:
    """Yields the case of names with brackets, which the connector writes as they are."""
    first_row: Row = {"k]": 1, "a[b": "x"}
    key = Column("k]", sqlserver.integer("bigint"), False)
    named_columns = cases.of(key, Column("a[b", sqlserver.text("nvarchar", 64)), key=("k]",))
    yield named_columns.case("names/brackets", read(first_row), inserted({**first_row, "k]": 2}))


def sqlserver_cases(profile: DebeziumProfile, cases: Cases) -> Iterator[Scenario]:
    """Yields SQL Server's cases: large values, changes of keys, digits beyond microseconds,
    offsets, captured tables.
    """
    yield from _large_values(cases)
    yield from _moments(cases)
    yield from _captures(cases)
    first_row: Row = {"id": 1, "a": "x", "b": 5}
    moved = cases.case(
        "key/update-one-place", updated(first_row, {"id": 2, "a": "y"}), tags={"key-update"}
    )
    yield moved
    yield one_commit(cases)


def _large_values(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases of large values in old rows: unchanged, changed, NULL and deleted."""
    key, number = Column("id", sqlserver.integer("bigint"), False), sqlserver.integer()
    for label, value in _LARGE:
        type = sqlserver.TYPES[label]
        large = cases.of(key, Column("c", type), Column("b", number))
        first_row: Row = {"id": 1, "c": value, "b": 5}
        new: Value = "<c/>" if label == "xml" else value[:3]
        for name, event in (
            ("unchanged", updated(first_row, {"b": 6})),
            ("changed", updated(first_row, {"c": new})),
            ("unchanged-null", updated({**first_row, "c": None}, {"b": 6})),
            ("deleted", deleted(first_row)),
        ):
            yield large.case(f"large/{label}-{name}", event, tags={"toast"})
    solid = cases.of(key, Column("c", sqlserver.text("nvarchar(max)"), False), Column("b", number))
    yield solid.case(
        "large/not-null-unchanged", updated({"id": 1, "c": "x", "b": 5}, {"b": 6}), tags={"toast"}
    )


def _moments(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases of a seventh fraction digit, of offsets, and of times that a snapshot
    read.
    """
    for number, (label, moment) in enumerate(_SEVENTH):
        yield cases.value(f"values/seventh-digit-{label}-{number}", sqlserver.TYPES[label], moment)
    for label, moment in _OFFSETS:
        yield cases.value(f"values/offset-{label}", sqlserver.TYPES["datetimeoffset-7"], moment)
    key = Column("id", sqlserver.integer("bigint"), False)
    for label in ("time-3", "time-7", "datetime2-7"):
        column = Column("c", sqlserver.TYPES[label])
        value = 37_425_678_901 if label != "time-3" else 37_425_678_000
        yield cases.of(key, column).case(
            f"snapshot/{label}", read({"id": 1, "c": value}), tags={"snapshot"}
        )


def _captures(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases of a table whose new columns are captured."""
    for action, sql in (
        ("create table", "CREATE TABLE [t] ([id] bigint NOT NULL PRIMARY KEY, [a] nvarchar(64))"),
        ("add column", "ALTER TABLE [t] ADD [n] money"),
        ("modify column", "ALTER TABLE [t] ALTER COLUMN [b] bigint"),
    ):
        name = f"ddl/captured-{action.replace(' ', '-')}"
        table = cases.table(name)
        after = table
        if action == "add column":
            after = replace(table, columns=(*table.columns, Column("n", sqlserver.money())))
        if action == "modify column":
            wider = Column("b", sqlserver.integer("bigint"))
            after = replace(table, columns=(*table.columns[:-1], wider))
        before = None if action == "create table" else table
        event = SchemaChange(
            START, action, sql, table.database, table.name, before=before, after=after
        )
        later = Instant(START.ms + 1000)
        new_row: Row = {column.name: None for column in after.columns} | {"id": 2}
        events: list[Event] = [event, change(after, Op.INSERT, (None, new_row), at=later)]
        if before is not None:
            old_row: Row = {column.name: None for column in before.columns} | {"id": 1}
            events.insert(0, insert(before, old_row))
        yield named(name, *events, tags={f"ddl:{action}"})
