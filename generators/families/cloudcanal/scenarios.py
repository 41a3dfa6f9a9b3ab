"""The named cases that only CloudCanal's formats have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from generators.families.canal import DDL_TYPES
from generators.families.cases import OWN, Cases, deleted, inserted, updated
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
    TransactionMark,
    Value,
)
from generators.sources import mysql
from generators.sources.boundaries import (
    COMPOSITE,
    ID,
    KEYLESS,
    START,
    change,
    every_type,
    insert,
    named,
)
from generators.sources.ddl import ddl_event, ddl_name, of_statement, rename_between_rows

_STRING: Final = mysql.text("varchar", 22)
_ABC: Final = (ID, Column("a", _STRING), Column("b", _STRING))
_ONE: Final[Row] = {"id": 1, "a": "x", "b": "k"}
_TWO: Final[Row] = {"id": 2, "a": "q", "b": None}
_THREE: Final[Row] = {"id": 3, "a": None, "b": "m"}


def json_scenarios(profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    """Every named case for cloudcanal-json that the profile can write: those of
    cloudcanal-canal-json, and some more. Level-one tables are in `database`.
    """
    yield from canal_scenarios(profile, database)
    yield from _transactions(Cases(database, _ABC))
    yield Cases(database, _ABC, schema="s2").case("envelope/other-schema", inserted(_ONE))


def canal_scenarios(_profile: CloudCanalProfile, database: str) -> Iterator[Scenario]:
    """Every named case for cloudcanal-canal-json that the profile can write; level-one tables are
    in `database`.
    """
    cases = Cases(database, _ABC)
    yield from _ddl(cases)
    yield from _batches(cases)
    yield from _envelope(cases)
    for label, type, value in _OWN_VALUES:
        yield cases.value(f"values/{label}", type, value)
    yield from _typed_rows()


_AFTER: Final[Mapping[str, tuple[Column, ...]]] = {
    "add column": (*_ABC, Column("added", mysql.integer("int"))),
    "drop column": _ABC[:-1],
    "modify column": (*_ABC[:-1], Column("b", mysql.integer("bigint"))),
}
"""The columns that a table of the columns _ABC has after a DDL action; after any other action it
has the same ones.
"""


def _ddl(cases: Cases) -> Iterator[Scenario]:
    """Yields the DDL cases: a rename between rows, one statement for each action with Canal's word
    for it, with the table before and after it, and statements with and without `tableChanges`.
    """
    yield rename_between_rows(cases.database)
    for action, kind in DDL_TYPES.items():
        if kind == "QUERY" or action == "exchange partition":
            continue
        event = ddl_event(action, cases.database)
        key = () if action == "drop primary key" else ("id",)
        table = cases.of(*_AFTER.get(action, _ABC), key=key).table(ddl_name(action))
        before = replace(table, columns=_ABC, name=event.old_name or table.name)
        event = replace(event, before=before, after=None if action == "drop table" else table)
        yield of_statement(event, *(() if kind == "ALTER" else ("ddl:unlisted",)))
    name = "ddl/document"
    columns = tuple(Column(c, _STRING, nullable=c != "col_pk") for c in ("col1", "col2", "col_pk"))
    table = cases.of(*columns, key=("col_pk",)).table(name)
    sql = f"alter table {table.name} add col2 varchar(22) null"
    before = replace(table, columns=(columns[0], columns[2]))
    event = SchemaChange(START, "add column", sql, cases.database, table.name, before, table)
    yield named(name, event, tags={"ddl:add column", "ddl:document"})
    name = "ddl/comment-and-lines"
    table = cases.table(name)
    sql = f"/* from a tool */ ALTER TABLE `{table.name}`\r\n\tCOMMENT = '\"x\"'"
    yield named(
        name,
        SchemaChange(START, "table comment", sql, cases.database, table.name, table, table),
        tags={"ddl:table comment"},
    )
    sql = "ALTER TABLE t1 ADD added int"
    yield named(
        "ddl/without-table-changes",
        SchemaChange(START, "add column", sql, cases.database, "t1"),
        tags={"ddl:add column"},
    )
    name = "ddl/between-rows"
    table = cases.table(name)
    wider = replace(table, columns=_AFTER["add column"])
    statement = SchemaChange(
        Instant(START.ms, 2),
        "add column",
        f"ALTER TABLE {table.name} ADD added int",
        cases.database,
        table.name,
        table,
        wider,
    )
    later = insert(wider, {**_TWO, "added": 5}, Instant(START.ms, 3))
    yield named(name, insert(table, _ONE), statement, later, tags={"ddl:add column"})


def _transactions(cases: Cases) -> Iterator[Scenario]:
    """Yields two cases on a transaction with two row changes: the message that marks its end alone,
    and all its messages, from the one that marks its beginning.
    """
    commit = TransactionMark(Instant(START.ms, 3), "COMMIT", "9", changes=2)
    yield named("control/transaction-end", commit, tags={"control:transaction-end"})
    begin = TransactionMark(START, "BEGIN", "9")
    yield cases.case(
        "control/whole-transaction",
        begin,
        inserted(_ONE),
        inserted(_TWO),
        commit,
        tags={"control:transaction-end"},
    )


def _batches(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `batch/...`: messages with several rows of one operation, among them UPDATEs
    of rows that stay as they are, exchange their values, or are equal in a table without a key.
    """
    changed = (_ONE, {**_ONE, "a": "y"}), (_TWO, {**_TWO, "b": "z"}), (_THREE, {**_THREE, "id": 4})
    swapped = (_ONE, {**_TWO, "id": 1}), (_TWO, {**_ONE, "id": 2})
    for name, event in (
        ("batch/insert", inserted(_ONE, _TWO, _THREE)),
        ("batch/delete", deleted(_ONE, _TWO, _THREE)),
        ("batch/update", change(OWN, Op.UPDATE, *changed)),
        ("batch/update-one-unchanged", change(OWN, Op.UPDATE, (_ONE, _ONE), changed[1])),
        ("batch/update-swapped", change(OWN, Op.UPDATE, *swapped)),
    ):
        yield cases.case(name, event, tags={"batch"})
    equal = change(OWN, Op.UPDATE, (_ONE, _TWO), (_ONE, _TWO))
    yield cases.of(key=()).case("batch/update-equal-rows", equal, tags={"batch"})


def _envelope(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `envelope/...`: commit times in seconds, a composite key, a table without a
    key, and three messages one after the other.
    """
    yield cases.case("envelope/commit-time-seconds", insert(OWN, _ONE, Instant(START.ms + 987, 1)))
    composite_row: Row = {**_TWO, "b": "k"}
    yield cases.of(key=("b", "id")).case(
        "envelope/composite-key",
        inserted(composite_row),
        updated(composite_row, {"b": "l"}),
        deleted(composite_row),
    )
    yield cases.of(key=()).case("envelope/no-key", inserted(_ONE))
    yield cases.case(
        "envelope/three-messages",
        *(insert(OWN, {**_ONE, "id": i}, Instant(START.ms + i, i)) for i in (1, 2, 3)),
    )


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
"""Values whose texts have two readings or a special form here, each with the name of its case and
its type.
"""


def _typed_rows() -> Iterator[Scenario]:
    """Yields the level-two cases: changes of the typed tables that all formats' cases share
    (`boundaries.pool`), without DDL.
    """
    names = [column.name for column in COMPOSITE.columns]
    string_row: Row = {**{name: f"v{i}" for i, name in enumerate(names)}, names[0]: 5}
    changed_row: Row = {**string_row, names[0]: 6, names[3]: None}
    pairs = (
        (string_row, {**string_row, names[1]: None}),
        (changed_row, {**changed_row, names[3]: "w"}),
    )
    yield named(
        "rows/cloudcanal/batch-update",
        change(COMPOSITE, Op.UPDATE, *pairs),
        level=2,
        tags={"batch"},
    )
    bare: Row = {"a": 1, "b": "x", "c": None}
    deletes = change(KEYLESS, Op.DELETE, *(({**bare, "a": i}, None) for i in range(5)))
    yield named("rows/cloudcanal/batch-delete", deletes, level=2, tags={"batch"})
    yield named(
        "rows/cloudcanal/bit-two-ones",
        insert(every_type(supports), {"id": 1, "c_bit_8": 11}),
        level=2,
    )
