"""The named cases that only CloudCanal's formats have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from generators.families.canal import DDL_TYPES
from generators.families.cloudcanal.messages import CloudCanalProfile
from generators.families.mysql_texts import supports
from generators.model import (
    Column,
    Instant,
    Op,
    Row,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    TransactionMark,
    Value,
)
from generators.sources import mysql
from generators.sources.boundaries import COMPOSITE, ID, KEYLESS, START, change, every_type, insert, named, neutral, one_column
from generators.sources.ddl import ddl_event, ddl_name, of_statement

_STRING: Final = mysql.text("varchar", 22)
_ABC: Final = (ID, Column("a", _STRING), Column("b", _STRING))
_ONE: Final[Row] = {"id": 1, "a": "x", "b": "k"}
_TWO: Final[Row] = {"id": 2, "a": "q", "b": None}
_THREE: Final[Row] = {"id": 3, "a": None, "b": "m"}


def json_scenarios(profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    """Every case of cloudcanal-json that the profile can write, with level-one tables in `database`."""
    yield from _common(profile, database)
    yield from _transactions(database)
    name = "envelope/other-schema"
    yield named(name, insert(replace(_table(database, name), schema="s2"), _ONE))


def canal_scenarios(profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    """Every case of cloudcanal-canal-json that the profile can write, with level-one tables in `database`."""
    yield from _common(profile, database)


def _common(profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    yield from _ddl(database)
    yield from _batches(database)
    yield from _envelope(profile, database)
    yield from _values(database)
    yield from _rows()


def _table(database: str, name: str, *columns: Column, key: tuple[str, ...] = ("id",)) -> Table:
    return Table(database, neutral(name), columns or _ABC, key)


_AFTER: Final[Mapping[str, tuple[Column, ...]]] = {
    "add column": (*_ABC, Column("added", mysql.integer("int"))),
    "drop column": _ABC[:-1],
    "modify column": (*_ABC[:-1], Column("b", mysql.integer("bigint"))),
}


def _ddl(database: str) -> Iterator[Scenario]:
    for action, kind in DDL_TYPES.items():
        if kind == "QUERY" or action == "exchange partition":
            continue
        event, key = ddl_event(action, database), () if action == "drop primary key" else ("id",)
        table = _table(database, ddl_name(action), *_AFTER.get(action, _ABC), key=key)
        before = replace(table, columns=_ABC, name=event.old_name or table.name)
        event = replace(event, before=before, after=None if action == "drop table" else table)
        yield of_statement(event, *(() if kind == "ALTER" else ("ddl:unlisted",)))
    name = "ddl/document"
    columns = tuple(Column(c, _STRING, nullable=c != "col_pk") for c in ("col1", "col2", "col_pk"))
    table = _table(database, name, *columns, key=("col_pk",))
    sql = f"alter table {table.name} add col2 varchar(22) null"
    before = replace(table, columns=(columns[0], columns[2]))
    event = SchemaChange(START, "add column", sql, database, table.name, before, table)
    yield named(name, event, tags={"ddl:add column", "ddl:document"})
    name = "ddl/comment-and-lines"
    table = _table(database, name)
    sql = f"/* from a tool */ ALTER TABLE `{table.name}`\r\n\tCOMMENT = '\"x\"'"
    yield named(name, SchemaChange(START, "table comment", sql, database, table.name, table, table), tags={"ddl:table comment"})
    name = "ddl/without-table-changes"
    sql = "ALTER TABLE t1 ADD added int"
    yield named(name, SchemaChange(START, "add column", sql, database, "t1"), tags={"ddl:add column"})
    name = "ddl/between-rows"
    table = _table(database, name)
    wider = replace(table, columns=_AFTER["add column"])
    statement = SchemaChange(
        Instant(START.ms, 2), "add column", f"ALTER TABLE {table.name} ADD added int", database, table.name, table, wider
    )
    later = insert(wider, {**_TWO, "added": 5}, Instant(START.ms, 3))
    yield named(name, insert(table, _ONE), statement, later, tags={"ddl:add column"})


def _transactions(database: str) -> Iterator[Scenario]:
    commit = TransactionMark(Instant(START.ms, 3), "COMMIT", "9", 2)
    yield named("control/transaction-end", commit, tags={"control:transaction-end"})
    name = "control/whole-transaction"
    table = _table(database, name)
    begin = TransactionMark(START, "BEGIN", "9")
    yield named(name, begin, insert(table, _ONE), insert(table, _TWO), commit, tags={"control:transaction-end"})


def _batches(database: str) -> Iterator[Scenario]:
    changed = (_ONE, {**_ONE, "a": "y"}), (_TWO, {**_TWO, "b": "z"}), (_THREE, {**_THREE, "id": 4})
    for name, op, rows, key in (
        ("batch/insert", Op.INSERT, ((None, _ONE), (None, _TWO), (None, _THREE)), ("id",)),
        ("batch/delete", Op.DELETE, ((_ONE, None), (_TWO, None), (_THREE, None)), ("id",)),
        ("batch/update", Op.UPDATE, changed, ("id",)),
        ("batch/update-one-unchanged", Op.UPDATE, ((_ONE, _ONE), changed[1]), ("id",)),
        ("batch/update-swapped", Op.UPDATE, ((_ONE, {**_TWO, "id": 1}), (_TWO, {**_ONE, "id": 2})), ("id",)),
        ("batch/update-equal-rows", Op.UPDATE, ((_ONE, _TWO), (_ONE, _TWO)), ()),
    ):
        found: tuple[tuple[Row | None, Row | None], ...] = rows
        yield named(name, change(_table(database, name, key=key), op, *found), tags={"batch"})


def _envelope(profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    name = "envelope/commit-time-seconds"
    yield named(name, insert(_table(database, name), _ONE, Instant(START.ms + 987, 1)))
    name = "envelope/composite-key"
    keyed = _table(database, name, key=("b", "id"))
    row: Row = {**_TWO, "b": "k"}
    yield named(
        name, insert(keyed, row), change(keyed, Op.UPDATE, (row, {**row, "b": "l"})), change(keyed, Op.DELETE, (row, None))
    )
    name = "envelope/no-key"
    yield named(name, insert(_table(database, name, key=()), _ONE))
    name = "envelope/three-messages"
    table = _table(database, name)
    yield named(name, *(insert(table, {**_ONE, "id": i}, Instant(START.ms + i, i)) for i in (1, 2, 3)))


_BINARY: Final = mysql.binary("varbinary", 16)
_OWN_VALUES: Final[tuple[tuple[str, SourceType, Value], ...]] = (
    ("binary-digits-only", _BINARY, b"\x124Vx"),
    ("binary-as-hex-letters", _BINARY, b"cafe"),
    ("binary-one-byte", _BINARY, b"\xff"),
    ("bit-two-ones", mysql.bit(8), 11),
    ("bit-hundred-and-one", mysql.bit(8), 101),
    ("enum-numeric-label", mysql.enum_of("2", "1", "x"), 1),
    ("set-numeric-label", mysql.set_of("4", "x", "1"), 4),
    ("time-minus-hundred-hours", mysql.temporal("time", 6), -(100 * 3600 + 62) * mysql.MICROS - 1),
    ("timestamp-shanghai-overlap", mysql.temporal("timestamp"), mysql.wall("1991-09-14 16:30:00")),
    ("timestamp-shanghai-after", mysql.temporal("timestamp"), mysql.wall("1991-09-14 18:30:00")),
    ("text-like-an-envelope", _STRING, '{"action":"INSERT"}'),
)


def _values(database: str) -> Iterator[Scenario]:
    for label, type, value in _OWN_VALUES:
        name = f"values/{label}"
        yield named(name, insert(one_column(database, name, type), {"id": 1, "c": value}))


def _rows() -> Iterator[Scenario]:
    """Level two: the pool's tables, no DDL."""
    names = [column.name for column in COMPOSITE.columns]
    row: Row = {**{name: f"v{i}" for i, name in enumerate(names)}, names[0]: 5}
    other: Row = {**row, names[0]: 6, names[3]: None}
    pairs = (row, {**row, names[1]: None}), (other, {**other, names[3]: "w"})
    yield named("rows/cloudcanal/batch-update", change(COMPOSITE, Op.UPDATE, *pairs), level=2, tags={"batch"})
    bare: Row = {"a": 1, "b": "x", "c": None}
    deletes = change(KEYLESS, Op.DELETE, *(({**bare, "a": i}, None) for i in range(5)))
    yield named("rows/cloudcanal/batch-delete", deletes, level=2, tags={"batch"})
    yield named("rows/cloudcanal/bit-two-ones", insert(every_type(supports), {"id": 1, "c_bit_8": 11}), level=2)
