"""What options and releases make of Debezium's rows, against literals: flattened rows, identities,
names, snapshots, refusals.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from debezium_rows import CUSTOMERS, PG, PG_CUSTOMERS, PG_OLD, ROW, payload, written

from generators import model
from generators.errors import Refused
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.formats.debezium_json import FORMAT, write
from generators.formats.debezium_json.envelope import mangled, source_parameters
from generators.model import (
    Change,
    Column,
    Default,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    SchemaChange,
    State,
    Table,
    Value,
)
from generators.sources import boundaries, mysql, postgresql
from generators.sources.boundaries import START
from generators.tables.reading import read_schema


def test_replica_identity_default_sends_the_key_with_nulls_and_fallbacks() -> None:
    """debezium#before-default-identity."""
    old: dict[str, Value] = {"id": 7, "name": "a", "note": "b"}
    (update,) = written(
        PG, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (old, {**old, "note": None}))
    )
    assert (payload(update)["before"], payload(update)["after"]["note"]) == (None, None)
    assert update.changes[0].before is None
    delete, _ = written(PG, boundaries.change(PG_CUSTOMERS, Op.DELETE, (old, None)))
    assert payload(delete)["before"] == {"id": 7, "name": "", "note": None}
    change = delete.changes[0]
    assert change.full_before is not None
    assert {name: c.state for name, c in change.full_before.items()} == {
        "id": "VALUE",
        "name": "ANY",
        "note": "ABSENT",
    }


# Rows without their envelope


def test_a_flattened_delete_is_the_text_null() -> None:
    """debezium#flattened."""
    plain = FORMAT.build("3.5.0.Final", "mariadb", "flat", "schemaless")
    row = {**ROW}
    records = written(
        plain,
        boundaries.change(CUSTOMERS, Op.DELETE, (row, None)),
        model.RowChange(START, CUSTOMERS, Op.TRUNCATE, ()),
    )
    (record,) = records
    assert (record.message.value, record.message.key) == (b"null", b'{"id":1004}')
    assert (record.changes[0].kind, record.changes[0].accept) == (
        Kind.TOMBSTONE,
        ((Kind.ROW, Op.DELETE),),
    )
    (update,) = written(plain, boundaries.change(CUSTOMERS, Op.UPDATE, (row, {**row, "name": "B"})))
    assert (update.changes[0].op, update.changes[0].before) == (Op.UPDATE, None)
    for release in ("3.5.0.Final", "2.5.4.Final", "1.9.7.Final"):
        (whole,) = written(
            FORMAT.build(release, "flat"), boundaries.change(CUSTOMERS, Op.DELETE, (row, None))
        )
        value = json.loads(whole.message.value or b"")
        fields = [field["field"] for field in value["schema"]["fields"]]
        assert (value["payload"], fields, value["schema"]["optional"]) == (
            None,
            ["id", "name", "n"],
            True,
        )
        assert whole.changes[0].kind is Kind.TOMBSTONE


def test_names_that_are_not_ascii_are_mangled_by_old_postgresql_connectors() -> None:
    """debezium#mangled-names."""
    assert mangled("é") == "\uffc3\uffa9"
    table = Table(
        "d", "é", (Column("é", postgresql.integer("integer"), False),), ("é",), schema="public"
    )
    (record,) = written(PG_OLD, boundaries.insert(table, {"é": 1}))
    change: Change = record.changes[0]
    assert payload(record)["after"] == {"\uffc3\uffa9": 1}
    assert (change.table, change.keys, list(change.after or {})) == (
        "\uffc3\uffa9",
        None,
        ["\uffc3\uffa9"],
    )
    assert change.full_after is not None
    assert change.full_after["é"].state is State.ANY
    (new,) = written(PG, boundaries.insert(table, {"é": 1}))
    assert payload(new)["after"] == {"é": 1}
    (read,) = written(PG_OLD, boundaries.change(table, Op.READ, (None, {"é": 1})))
    assert (payload(read)["after"], read.changes[0].table, read.changes[0].keys) == (
        {"é": 1},
        "é",
        ("é",),
    )


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        ("1.4.0.Final", "q``q"),
        ("1.9.7.Final", "q``q"),
        ("2.5.4.Final", "q``q"),
        ("3.5.0.Final", "q`q"),
    ],
)
def test_a_back_tick_in_a_columns_name_is_doubled_up_to_2_5(release: str, shown: str) -> None:
    """debezium#back-ticks."""
    table = Table(
        "d",
        "t`t",
        (Column("q`q", mysql.integer("int"), False), Column("a", mysql.integer("int"))),
        ("q`q",),
    )
    old = FORMAT.build(release)
    created = model.SchemaChange(
        START,
        "create table",
        "CREATE TABLE `t``t` (`q``q` INT PRIMARY KEY, a INT)",
        "d",
        "t`t",
        None,
        table,
    )
    ddl, streamed, read = written(
        old,
        created,
        boundaries.insert(table, {"q`q": 1}),
        boundaries.change(table, Op.READ, (None, {"q`q": 2})),
    )
    for record in (streamed, read):
        assert list(payload(record)["after"]) == [shown, "a"]
        assert (record.changes[0].keys, record.changes[0].table) == ((shown,), "t`t")
        assert (record.changes[0].full_after is None) == (shown == "q`q")
    if release != "1.4.0.Final":
        description = payload(ddl)["tableChanges"][0]["table"]
        assert (description["primaryKeyColumnNames"], description["columns"][0]["name"]) == (
            [shown],
            shown,
        )
    number = postgresql.integer("integer")
    theirs = Table(
        "d", "t`t", (Column("q`q", number, False), Column("a", number)), ("q`q",), schema="public"
    )
    (other,) = written(FORMAT.build(release, "postgresql"), boundaries.insert(theirs, {"q`q": 1}))
    assert list(payload(other)["after"]) == ["q`q", "a"]


def test_a_column_of_an_unknown_type_is_left_out_unless_it_is_asked_for() -> None:
    """debezium#unknown-types."""
    columns = (
        Column("id", postgresql.integer("integer"), False),
        Column("c", postgresql.other("box")),
    )
    table = Table("d", "t", columns, ("id",), schema="public")
    row = boundaries.insert(table, {"id": 1, "c": "(1,1),(0,0)"})
    (plain,) = written(PG, row)
    assert payload(plain)["after"] == {"id": 1}
    assert list(plain.changes[0].after or {}) == ["id"]
    (asked,) = written(FORMAT.build("3.5.0.Final", "postgresql", "include-unknown"), row)
    assert payload(asked)["after"] == {"id": 1, "c": "KDEuMCwxLjApLCgwLjAsMC4wKQ=="}


def test_what_3_6_changes() -> None:
    """debezium#release-3-6: a snapshot's money keeps its digits, its varbit(1) is no null."""
    assert FORMAT.build("3.6.1.Final").connector == "mysql"
    new = FORMAT.build("3.6.1.Final", "postgresql", "string").modes
    old = FORMAT.build("3.5.0.Final", "postgresql", "string").modes
    large, bit = Decimal("92233720368547758.07"), postgresql.bit(1, varying=True)
    amounts = [
        _debezium_postgresql.wire(postgresql.money(), large, modes, snapshot=True).json
        for modes in (old, new)
    ]
    assert amounts == ['"9.223372036854776E16"', '"92233720368547758.07"']
    assert [
        _debezium_postgresql.wire(bit, 1, modes, snapshot=True).json for modes in (old, new)
    ] == ["null", "true"]


@pytest.mark.parametrize(
    ("release", "types", "allowed", "label"),
    [
        ("3.6.1.Final", ["int16", "int16"], r"a\,b,c\\d", r"a\,b"),
        ("3.7.0.Alpha2", ["int8", "int16"], r"a\,b,c\\\\d", "a,b"),
    ],
)
def test_what_3_7_changes(release: str, types: list[str], allowed: str, label: str) -> None:
    """debezium#release-3-7: TINYINT is int8, labels' commas are escaped in lists alone."""
    columns = (
        Column("t", mysql.integer("tinyint"), declared="tinyint(1)"),
        Column("u", mysql.integer("tinyint", unsigned=True), declared="TINYINT UNSIGNED"),
        Column("e", mysql.enum_of("a,b", "c\\d")),
    )
    table = Table("d", "t", columns)
    row = boundaries.insert(table, {"t": -1, "u": 255, "e": 1})
    (record,) = written(FORMAT.build(release), row)
    message = json.loads(record.message.value or b"")
    after = next(field for field in message["schema"]["fields"] if field["field"] == "after")
    assert [field["type"] for field in after["fields"][:2]] == types
    assert after["fields"][2]["parameters"]["allowed"] == allowed
    assert message["payload"]["after"] == {"t": -1, "u": 255, "e": label}


def test_3_7_names_tinyint_in_a_statement_s_columns() -> None:
    """debezium#release-3-7."""
    table = Table("d", "t", (Column("t", mysql.integer("tinyint")),), ("t",))
    event = SchemaChange(START, "add column", "ALTER TABLE t ADD t TINYINT", "d", "t", table, table)
    shown = {}
    for release in ("3.6.1.Final", "3.7.0.Alpha2"):
        (record,) = written(FORMAT.build(release, "schemaless"), event)
        (change,) = json.loads(record.message.value or b"")["tableChanges"]
        shown[release] = change["table"]["columns"][0]["jdbcType"]
    assert shown == {"3.6.1.Final": 5, "3.7.0.Alpha2": -6}


@pytest.mark.parametrize(
    ("release", "key"),
    [("1.9.7.Final", b'{"n":1}'), ("2.5.4.Final", b'{"u":2}'), ("3.5.0.Final", b'{"u":2}')],
)
def test_mysql_takes_the_first_unique_key_that_may_be_one(release: str, key: bytes) -> None:
    """debezium#unique-keys."""
    whole = mysql.integer("int")
    table = Table("d", "t", (Column("n", whole), Column("u", whole, False)), (), (("n",), ("u",)))
    (record,) = written(
        FORMAT.build(release, "schemaless"), boundaries.insert(table, {"n": 1, "u": 2})
    )
    assert record.message.key == key


@pytest.mark.parametrize("release", ["1.4.0.Final", "1.9.7.Final", "2.5.4.Final", "3.6.1.Final"])
def test_a_column_that_is_unique_in_its_own_definition_is_the_key_though_it_may_be_null(
    release: str, tmp_path: Path
) -> None:
    """debezium#unique-keys; the last statement has the same key among the table's."""
    (tmp_path / "tables.sql").write_text(
        "CREATE TABLE d.a (u INT UNIQUE);"
        "CREATE TABLE d.b (v INT, w INT UNIQUE KEY, u INT NOT NULL UNIQUE);"
        "CREATE TABLE d.c (v INT NOT NULL, u INT UNIQUE, KEY (v));"
        "ALTER TABLE d.c MODIFY u BIGINT;"
        "CREATE TABLE d.d (u INT, UNIQUE KEY (u));",
        encoding="utf-8",
    )
    schema = read_schema([str(tmp_path / "tables.sql")], "mysql")
    profile = FORMAT.build(release)
    streamed: dict[str, tuple[object, object]] = {}
    for user in schema.tables:
        values = {column.name: 1 for column in user.table.columns}
        (record,) = written(profile, boundaries.insert(user.table, values))
        key = json.loads(record.message.key or b"null")
        fields = key and [(f["field"], f["optional"]) for f in key["schema"]["fields"]]
        streamed[user.table.name] = (key and key["payload"], fields)
    nullable_key = ({"u": 1}, [("u", False)]) if release < "2" else (None, None)
    assert streamed == {
        "a": ({"u": 1}, [("u", True)]),
        "b": ({"w": 1}, [("w", True)]),
        "c": ({"u": 1}, [("u", True)]),
        "d": nullable_key,
    }


def test_a_snapshot_reads_no_column_that_is_unique_in_its_own_definition() -> None:
    """debezium#unique-keys: SHOW CREATE TABLE lists the key, which may be NULL."""
    column = Column("u", mysql.integer("int"), inline_unique=True)
    table = Table("d", "t", (column,), (), (("u",),))
    row = boundaries.change(table, Op.READ, (None, {"u": 1}))
    (record,) = written(FORMAT.build("3.5.0.Final", "schemaless"), row)
    assert record.message.key is None


def test_postgresqls_key_is_the_unique_index_whose_name_is_the_first(tmp_path: Path) -> None:
    """debezium#record-key: by the index's name, not by its columns."""
    (tmp_path / "tables.sql").write_text(
        "CREATE TABLE a (u int UNIQUE, v int, CONSTRAINT a_b UNIQUE (v));", encoding="utf-8"
    )
    (user,) = read_schema([str(tmp_path / "tables.sql")], "postgresql").tables
    profile = FORMAT.build("3.5.0.Final", "schemaless", "postgresql")
    (record,) = written(profile, boundaries.insert(user.table, {"u": 1, "v": 2}))
    assert record.message.key == b'{"v":2}'


@pytest.mark.parametrize(
    ("column", "options"),
    [("__op", ("flat",)), ("__deleted", ("flat-rewrite",)), ("__lsn", ("flat", "postgresql"))],
)
def test_a_column_called_as_an_added_member_stops_the_flattened_connector(
    column: str, options: tuple[str, ...]
) -> None:
    """debezium#flattened-names; without PostgreSQL there is no __lsn."""
    p = FORMAT.build("3.5.0.Final", "schemaless", *options)
    number = postgresql.integer("integer") if "postgresql" in options else mysql.integer("int")
    for name, count in ((column, 0), ("x", 1)):
        table = Table(
            "d", "t", (Column(name, number),), schema="public" if "postgresql" in options else None
        )
        assert (
            len(write(History((boundaries.insert(table, {name: 1}),)), p, Layout("cdc"))) == count
        )


def test_a_statement_amid_an_incremental_snapshot_has_the_time_and_the_place_of_the_log() -> None:
    """debezium#incremental: the connector's clock is the time of the rows that it reads alone."""
    later = Instant(START.ms + 1234)
    read = replace(
        boundaries.change(CUSTOMERS, Op.READ, (None, {"id": 1, "name": "x", "n": 0.5})), at=later
    )
    statement = SchemaChange(
        later, "table comment", "ALTER TABLE t COMMENT 'x'", "d", "t", CUSTOMERS, CUSTOMERS
    )
    events = (model.IncrementalSnapshot(START), read, statement, read)
    profile = FORMAT.build("3.5.0.Final", "schemaless", "mariadb")
    records = write(History(events), profile, Layout("cdc"))
    sources = [json.loads(record.message.value or b"")["source"] for record in records]
    assert [source["ts_ms"] for source in sources] == [later.ms, START.ms + 1000, later.ms]
    assert [source["snapshot"] for source in sources] == ["incremental", "false", "incremental"]


def test_rows_of_an_incremental_snapshot_have_no_place_in_postgresqls_log() -> None:
    """debezium#incremental."""
    table = replace(
        CUSTOMERS, schema="public", columns=(Column("id", postgresql.integer("integer"), False),)
    )
    begin = model.IncrementalSnapshot(START)
    for options, members in (
        (("postgresql",), {"snapshot": "incremental", "txId": None, "lsn": None}),
        (("mariadb",), {"snapshot": "incremental", "row": 0, "thread": None}),
    ):
        p = FORMAT.build("3.5.0.Final", "schemaless", *options)
        subject = table if "postgresql" in options else CUSTOMERS
        row: dict[str, Value] = {"id": 1, "name": "x", "n": 0.5}
        row = {c.name: row[c.name] for c in subject.columns}
        later = replace(
            boundaries.change(subject, Op.READ, (None, row)), at=Instant(START.ms + 1234)
        )
        first, read, last = write(
            History(
                (boundaries.insert(subject, row), begin, later, boundaries.insert(subject, row))
            ),
            p,
            Layout("cdc"),
        )
        source = json.loads(read.message.value or b"")["source"]
        assert {name: source[name] for name in members} == members
        assert (source["ts_ms"], read.changes[0].commit_time_us) == (
            START.ms + 1234,
            (START.ms + 1234) * 1000,
        )
        assert (read.changes[0].position is None) is ("postgresql" in options)
        assert (
            source["server_id"]
            if "mariadb" in options
            else source["sequence"]
            == f'["{first.changes[0].position}"' + f',"{first.changes[0].position}"]'
        )
        assert json.loads(last.message.value or b"")["source"]["snapshot"] == "false"


def test_each_table_has_the_replica_identity_that_it_was_given() -> None:
    p = FORMAT.build("3.5.0.Final", "postgresql", "schemaless")
    number = postgresql.integer("integer")
    tables = [
        Table("d", name, (Column("id", number, False), Column("a", number)), ("id",), (), "public")
        for name in ("x", "y")
    ]
    given = model.ReplicaIdentity(START, "d", "public", "y", "full")
    updates = (
        boundaries.change(t, Op.UPDATE, ({"id": 1, "a": 1}, {"id": 1, "a": 2})) for t in tables
    )
    records = write(History((given, *updates)), p, Layout("cdc"))
    assert [json.loads(w.message.value or b"")["before"] for w in records] == [
        None,
        {"id": 1, "a": 1},
    ]


@pytest.mark.parametrize(
    ("identity", "columns", "new_name", "before"),
    [
        ("full", (), "a", {"id": 1, "a": 1}),
        ("index", ("a",), "b", {"id": 0, "b": 1}),
    ],
)
def test_a_replica_identity_goes_with_the_names_of_its_table_and_columns(
    identity: Literal["full", "index"],
    columns: tuple[str, ...],
    new_name: str,
    before: dict[str, int],
) -> None:
    number = postgresql.integer("integer")

    def table(name: str, column: str) -> Table:
        columns = Column("id", number, False), Column(column, number)
        return Table("d", name, columns, ("id",), (), "public")

    old, new = table("t", "a"), table("u", new_name)
    renamed = SchemaChange(
        START, "rename table", "ALTER TABLE t RENAME TO u", "d", "u", old, new, old_name="t"
    )
    delete = boundaries.change(new, Op.DELETE, ({"id": 1, new_name: 1}, None))
    given = model.ReplicaIdentity(START, "d", "public", "t", identity, columns)
    p = FORMAT.build("3.5.0.Final", "postgresql", "schemaless")
    record, *_ = write(History((given, renamed, delete)), p, Layout("cdc"))
    assert json.loads(record.message.value or b"")["before"] == before


def test_columns_that_differ_by_case_alone_stop_postgresqls_connector() -> None:
    """debezium#case-twins."""
    columns = tuple(Column(name, postgresql.integer("integer")) for name in ("A", "a"))
    insert = boundaries.change(
        Table("d", "t", columns, (), (), "public"), Op.INSERT, (None, {"A": 1, "a": 2})
    )
    for release in ("1.9.7.Final", "2.5.4.Final", "3.5.0.Final", "3.6.1.Final"):
        with pytest.raises(Refused, match="differ by letter case alone"):
            write(History((insert,)), FORMAT.build(release, "postgresql"), Layout("cdc"))


def test_tables_of_two_schemas_have_each_its_own_replica_identity() -> None:
    p = FORMAT.build("3.5.0.Final", "postgresql", "schemaless")
    number = postgresql.integer("integer")
    columns = tuple(Column(name, number, False) for name in ("id", "a", "b"))
    tables = [
        Table("d", "t", columns, ("id",), (("b",), ("a",)), schema)
        for schema in ("public", "archive", "old")
    ]
    full = model.ReplicaIdentity(START, "d", "archive", "t", "full")
    by_index = model.ReplicaIdentity(START, "d", "old", "t", "index", ("a",))
    row: model.Row = {"id": 1, "a": 1, "b": 1}
    updates = (boundaries.change(t, Op.UPDATE, (row, {**row, "b": 2})) for t in tables)
    records = write(History((full, by_index, *updates)), p, Layout("cdc"))
    assert [json.loads(w.message.value or b"")["before"] for w in records] == [
        None,
        {"id": 1, "a": 1, "b": 1},
        None,
    ]


@pytest.mark.parametrize(
    ("type", "shown"),
    [
        (postgresql.integer("integer"), "INT4 10 0"),
        (postgresql.numeric(5, -2), "NUMERIC 5 2046"),
        (postgresql.numeric(), "NUMERIC 131089 0"),
        (postgresql.text("char", 3), "BPCHAR 3 0"),
        (postgresql.text("text"), "TEXT 2147483647 0"),
        (postgresql.real(), "FLOAT4 8 8"),
        (postgresql.temporal("timestamp", 3), "TIMESTAMP 26 3"),
        (postgresql.temporal("timestamp", 1), "TIMESTAMP 25 1"),
        (postgresql.temporal("timestamptz", 0), "TIMESTAMPTZ 28 0"),
        (postgresql.temporal("time", 1), "TIME 11 1"),
        (postgresql.array_of(postgresql.numeric(7, 3)), "_NUMERIC 7 3"),
        (postgresql.bit(None, varying=True), "VARBIT 2147483647 0"),
        (postgresql.other('"char"'), "CHAR 1 0"),
    ],
)
def test_postgresqls_types_are_told_as_its_driver_tells_them(
    type: model.SourceType, shown: str
) -> None:
    """debezium#source-type."""
    p = FORMAT.build("3.5.0.Final", "postgresql", "source-type")
    parameters = source_parameters(Column("c", type), p, snapshot=False)
    assert [text for _, text in parameters] == [*shown.split(), "c"]


def test_flattened_2_5_adds_headers_to_other_messages_and_stops_at_one_without_source() -> None:
    """debezium#flattened, debezium#flattened-without-source."""
    message = model.LogicalMessage(START, "p1", b"hello", "audit")
    events = (message, model.Heartbeat(START), message)
    for release, headers in (
        ("2.5.4.Final", [(("__op", b"m"), ("__db", b"audit"))]),
        ("1.9.7.Final", [(), (), ()]),
    ):
        records = write(History(events), FORMAT.build(release, "postgresql", "flat"), Layout("cdc"))
        assert [record.message.headers for record in records] == headers


def test_a_rewritten_delete_is_marked_behind_the_other_members_in_1_9() -> None:
    """debezium#flattened."""
    for release, first in (("2.5.4.Final", "__deleted"), ("1.9.7.Final", "__op")):
        (record,) = written(
            FORMAT.build(release, "flat-rewrite"),
            boundaries.change(CUSTOMERS, Op.DELETE, ({**ROW}, None)),
        )
        value = json.loads(record.message.value or b"")
        assert list(value["payload"])[3] == first and [
            f["field"] for f in value["schema"]["fields"]
        ] == list(value["payload"])


@pytest.mark.parametrize("release", ["1.4.0.Final", "1.9.7.Final", "2.5.4.Final"])
def test_the_catalogue_knows_nothing_of_a_mangled_name(release: str) -> None:
    """debezium#mangled-names: no key, no NOT NULL, no default of such a table; a column so named is
    not in the key.
    """
    number = postgresql.integer("integer")
    old = FORMAT.build(release, "postgresql")
    columns = (
        Column("id", number, False),
        Column("n", number, False, default=Default("5", 5)),
        Column("é", number, False),
    )
    odd = Table("d", "t-Odd é", columns, ("id",), schema="odd schema")
    row: dict[str, Value] = {"id": 1, "n": 2, "é": 3}
    insert, delete, tombstone = written(
        old, boundaries.insert(odd, row), boundaries.change(odd, Op.DELETE, (row, None))
    )
    assert insert.message.topic == "dbserver1.odd_schema.t-Odd___"
    assert [record.message.key for record in (insert, delete, tombstone)] == [None, None, None]
    fields = json.loads(insert.message.value or b"")["schema"]["fields"][1]["fields"]
    assert [(f["optional"], f.get("default")) for f in fields] == [(True, None)] * 3
    assert payload(delete)["before"] == {"id": 1, "n": None, "\uffc3\uffa9": None}
    plain = replace(odd, name="t", schema="public", primary_key=("é", "id"))
    moved = boundaries.change(plain, Op.UPDATE, (row, {**row, "é": 4}))
    insert, update = written(old, boundaries.insert(plain, row), moved)
    assert json.loads(insert.message.key or b"")["payload"] == {"id": 1}
    fields = json.loads(insert.message.value or b"")["schema"]["fields"][1]["fields"]
    assert [f["optional"] for f in fields] == [False, False, True]
    assert payload(update)["op"] == "u"
    assert payload(update)["before"] == {
        "id": 1,
        "n": 5 if release > "1.4.0.Final" else 0,
        "\uffc3\uffa9": 3,
    }


def test_a_release_leaves_columns_of_some_types_out() -> None:
    """debezium#left-out."""
    names = ("tsvector", "bytea[]", "interval[]", "box")
    types = [postgresql.other("tsvector"), postgresql.array_of(postgresql.bytea())]
    types += [postgresql.array_of(postgresql.temporal("interval")), postgresql.other("box")]
    table = Table("db", "t", tuple(map(Column, names, types)), schema="public")
    row: dict[str, Value] = dict.fromkeys(names)
    left = {
        release: tuple(
            payload(
                written(
                    FORMAT.build(release, "postgresql", *options), boundaries.insert(table, row)
                )[0]
            )["after"]
        )
        for release, *options in (
            ("1.9.7.Final",),
            ("2.5.4.Final",),
            ("3.5.0.Final",),
            ("3.6.1.Final", "include-unknown"),
        )
    }
    assert left == {
        "1.9.7.Final": (),
        "2.5.4.Final": ("bytea[]",),
        "3.5.0.Final": ("tsvector", "bytea[]"),
        "3.6.1.Final": ("tsvector", "bytea[]", "box"),
    }


@pytest.mark.parametrize(("op", "has_passed"), [(Op.INSERT, False), (Op.READ, True)])
def test_a_stream_of_postgresql_has_no_generated_column(op: Op, has_passed: bool) -> None:
    """debezium#generated-columns: the row that 3.5.0 streams of `grades`."""
    columns = (
        Column("student", postgresql.integer("integer"), nullable=False),
        Column("points", postgresql.numeric(5, 2)),
        Column("passed", postgresql.boolean(), generated="stored"),
    )
    grades = Table("audit", "grades", columns, (), (), "public")
    row: dict[str, Value] = {"student": 1, "points": Decimal("88.25"), "passed": 1}
    profile = FORMAT.build("3.5.0.Final", "postgresql")
    (record,) = written(profile, boundaries.change(grades, op, (None, row)))
    value = json.loads(record.message.value or b"")
    after = value["schema"]["fields"][1]
    streamed = {"student": 1, "points": "Ink="}
    assert value["payload"]["after"] == streamed | ({"passed": True} if has_passed else {})
    assert [field["field"] for field in after["fields"]] == list(value["payload"]["after"])


def test_numeric_decimals_of_postgresql_are_numbers_but_for_a_scale_of_their_own() -> None:
    """connect#decimal-numeric, debezium#variable-scale."""
    modes = FORMAT.build("3.5.0.Final", "postgresql", "numeric").modes
    fixed, free = postgresql.numeric(10, 2), postgresql.numeric()
    wires = [
        _debezium_postgresql.wire(type, Decimal("1.50"), modes)
        for type in (fixed, postgresql.money(), free)
    ]
    assert [wire.json for wire in wires] == ["1.50", "1.50", '{"scale":1,"value":"Dw=="}']
    assert _debezium_postgresql.not_sent(fixed, modes, False).json == "0.00"


@pytest.mark.parametrize(("options", "ms"), [((), 0), (("transaction",), 123)])
def test_a_gtid_has_the_milliseconds_of_its_commit(options: tuple[str, ...], ms: int) -> None:
    """debezium#gtid-times."""
    table = Table("d", "t", (Column("a", mysql.integer("int")),))
    event = boundaries.insert(table, {"a": 1}, Instant(START.ms + 123))
    (record,) = written(FORMAT.build("2.5.4.Final", "schemaless", *options), event)
    assert json.loads(record.message.value or b"")["source"]["ts_ms"] == START.ms + ms
