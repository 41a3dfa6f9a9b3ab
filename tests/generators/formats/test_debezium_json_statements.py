"""Debezium's messages beside rows, against literals: statements, truncations, transactions,
heartbeats.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from debezium_rows import (
    BARE,
    CUSTOMERS,
    MIDDLE,
    NEW,
    OLD,
    PG,
    PG_OLD,
    PLAIN,
    ROW,
    inserted,
    payload,
    written,
)

from generators import model
from generators.errors import Refused
from generators.formats.debezium_json import FORMAT, DebeziumProfile, envelope, write
from generators.formats.debezium_json.column_definitions import listed_columns, read_nullability
from generators.formats.debezium_json.known_columns import KnownColumns
from generators.formats.debezium_json.known_spellings import KnownSpellings
from generators.model import (
    Column,
    Default,
    Heartbeat,
    History,
    Kind,
    Layout,
    Op,
    SchemaChange,
    Table,
    TransactionMark,
)
from generators.sources import boundaries, mysql, postgresql
from generators.sources.boundaries import START
from generators.sources.ddl import ddl_event
from generators.sources.multi_table import parse_renames

# Control messages


def test_a_heartbeat() -> None:
    (record,) = written(BARE, Heartbeat(START))
    assert record.message.topic == "__debezium-heartbeat.dbserver1"
    assert (record.message.key, list(payload(record))) == (b'{"serverName":"dbserver1"}', ["ts_ms"])
    (record,) = written(NEW, Heartbeat(START))
    wired = json.loads(record.message.value or b"")
    assert wired["schema"]["name"] == "io.debezium.connector.common.Heartbeat"
    assert (
        json.loads(record.message.key or b"")["schema"]["name"]
        == "io.debezium.connector.common.ServerNameKey"
    )


def test_transaction_metadata() -> None:
    insert = boundaries.insert(CUSTOMERS, ROW)
    records = written(
        MIDDLE,
        TransactionMark(START, "BEGIN", "1"),
        insert,
        insert,
        TransactionMark(START, "COMMIT", "1", 2),
    )
    begin, first, second, end = map(payload, records)
    assert records[0].message.topic == "dbserver1.transaction"
    assert list(begin) == ["status", "id", "event_count", "data_collections", "ts_ms"]
    assert (begin["status"], begin["event_count"], begin["data_collections"]) == (
        "BEGIN",
        None,
        None,
    )
    assert (end["status"], end["event_count"]) == ("END", 2)
    assert end["data_collections"] == [{"data_collection": "inventory.customers", "event_count": 2}]
    assert [body["transaction"]["total_order"] for body in (first, second)] == [1, 2]
    assert {begin["id"], end["id"], first["transaction"]["id"]} == {begin["id"]}
    assert json.loads(records[0].message.key or b"") == {"id": begin["id"]}
    assert [record.changes[0].kind for record in records] == [
        Kind.TRANSACTION,
        Kind.ROW,
        Kind.ROW,
        Kind.TRANSACTION,
    ]


@pytest.mark.parametrize("options", [(), ("postgresql",), ("mariadb",)])
def test_no_transaction_holds_or_counts_the_rows_of_a_snapshot(options: tuple[str, ...]) -> None:
    """debezium#snapshot-source."""
    p = FORMAT.build("3.5.0.Final", "schemaless", "transaction", *options)
    streamed = inserted(p)
    snapshot = replace(streamed, op=Op.READ)
    records = written(
        p,
        snapshot,
        TransactionMark(START, "BEGIN", "1"),
        streamed,
        snapshot,
        TransactionMark(START, "COMMIT", "1", 1),
    )
    first, _begin, row, second, end = (json.loads(r.message.value or b"") for r in records)
    assert [first["op"], row["op"], second["op"]] == ["r", "c", "r"]
    assert (first["transaction"], second["transaction"]) == (None, None)
    assert row["transaction"]["total_order"] == end["event_count"] == 1


@pytest.mark.parametrize("release", ["1.4.0.Final", "1.9.7.Final", "2.5.4.Final", "3.5.0.Final"])
def test_no_statement_and_no_truncation_has_a_thread(release: str) -> None:
    """debezium#snapshot-source: BEGIN has the thread, which stands before rows alone."""
    p = FORMAT.build(release)
    statement = SchemaChange(
        START,
        "truncate table",
        "TRUNCATE TABLE customers",
        "inventory",
        "customers",
        CUSTOMERS,
        CUSTOMERS,
    )
    row, *others = map(payload, written(p, boundaries.insert(CUSTOMERS, ROW), statement))
    assert row["source"]["thread"] == 7
    assert others
    assert [other["source"]["thread"] for other in others] == [None] * len(others)


@pytest.mark.parametrize(
    ("release", "table"),
    [("1.4.0.Final", None), ("1.9.7.Final", ""), ("2.5.4.Final", ""), ("3.5.0.Final", "")],
)
def test_the_parser_makes_nothing_of_an_alter_database(release: str, table: str | None) -> None:
    """debezium#schema-change-names: what each release wrote."""
    altered, dropped = (
        payload(written(FORMAT.build(release), ddl_event(action, "inventory"))[0])
        for action in ("alter database", "drop database")
    )
    assert (altered["source"]["table"], dropped["source"]["table"]) == (table, None)


@pytest.mark.parametrize("release", ["1.9.7.Final", "3.5.0.Final"])
def test_a_unique_key_that_becomes_nullable_stays_the_key(release: str) -> None:
    """debezium#unique-keys: what 3.5.0 and 1.9.7 streamed from MariaDB 10.11."""
    number = mysql.integer("int")

    def version(nullable: str) -> Table:
        columns = tuple(Column(name, number, name in nullable) for name in ("a", "b"))
        return Table("d", "uk", columns, unique=(("a",), ("b",)))

    made, first, both = version(""), version("a"), version("ab")
    records = written(
        FORMAT.build(release),
        SchemaChange(START, "create table", "CREATE TABLE uk (...)", "d", "uk", None, made),
        SchemaChange(
            START, "modify column", "ALTER TABLE uk MODIFY a INT NULL", "d", "uk", made, first
        ),
        boundaries.insert(first, {"a": 1, "b": 2}),
        SchemaChange(
            START, "modify column", "ALTER TABLE uk MODIFY b INT NULL", "d", "uk", first, both
        ),
        boundaries.insert(both, {"a": 3, "b": 4}),
    )
    keys = [json.loads(r.message.key or b"") for r in records if r.changes[0].kind is Kind.ROW]
    assert [key["payload"] for key in keys] == [{"a": 1}, {"a": 3}]
    assert [key["schema"]["fields"][0]["optional"] for key in keys] == [True, True]


def test_a_logical_message() -> None:
    """debezium#logical-message."""
    event = model.LogicalMessage(START, "outbox", b"hello", "shop")
    (record,) = written(PG, event)
    wired = payload(record)
    assert list(wired) == ["op", "ts_ms", "source", "transaction", "message"]
    assert wired["message"] == {"prefix": "outbox", "content": "aGVsbG8="}
    assert (record.message.topic, record.changes[0].kind) == ("dbserver1.message", Kind.CONTROL)
    assert json.loads(record.message.key or b"")["payload"] == {"prefix": "outbox"}
    assert written(PG_OLD, event) == []


def test_the_connector_edits_the_column_that_it_knows() -> None:
    """debezium#kept-comments: what 3.5.0 and 3.6.1 wrote for these statements."""
    number, text = mysql.integer("int"), mysql.text("varchar", 9)
    counted = Column("id", number, False, declared="int primary key auto_increment")
    label = Column("e", mysql.enum_of("a", "b"), declared="enum('a','b')")
    made = Table("d", "k", (counted, label, Column("a", text)), ("id",))
    edited = Table(
        "d", "k", (Column("id", number, False), Column("e2", number), Column("a", text)), ("id",)
    )
    events = (
        SchemaChange(START, "create table", "create table d.k (...)", "d", "k", None, made),
        SchemaChange(
            START,
            "modify column",
            "alter table d.k change e e2 int, change id id int",
            "d",
            "k",
            made,
            edited,
        ),
        boundaries.insert(edited, {"id": 1, "e2": 2, "a": "x"}),
        SchemaChange(
            START,
            "add primary key",
            "alter table d.k add primary key (id)",
            "d",
            "k",
            edited,
            edited,
        ),
    )
    for name in (("3.5.0.Final", "mariadb"), ("3.6.1.Final",)):
        records = written(FORMAT.build(*name), *events)
        columns = [
            payload(record)["tableChanges"][0]["table"]["columns"]
            for record in records
            if "ddl" in payload(record)
        ]
        shown = [
            [(c["optional"], c["autoIncremented"], c["generated"], c["enumValues"]) for c in each]
            for each in columns
        ]
        rest = [(True, False, False, ["'a'", "'b'"]), (True, False, False, None)]
        assert shown == [
            [(False, True, True, None), *rest],
            [(True, True, True, None), *rest],
            [(False, True, True, None), *rest],
        ]
        assert json.loads(records[2].message.key or b"")["schema"]["fields"][0]["optional"] is True


@pytest.mark.parametrize(
    ("listed", "nullable"),
    [
        ("(r INT NOT NULL, s VARCHAR(3))", {"r": False, "s": False}),
        ("(d INT, e INT NOT NULL)", {"d": True, "e": True}),
        ("(d INT, e INT NOT NULL, f INT)", {"d": True, "e": False, "f": False}),
        ("(d INT, e INT NOT NULL DEFAULT 5)", {"d": True, "e": False}),
        ("(d INT NOT NULL, e INT DEFAULT 3 NOT NULL)", {"d": False, "e": False}),
        ("(d INT NULL DEFAULT NULL, e INT NOT NULL)", {"d": True, "e": True}),
        ("(b SERIAL, c INT)", {"b": False, "c": False}),
        ("(a INT PRIMARY KEY, b VARCHAR(5), c INT)", {"a": False, "b": False, "c": True}),
        (
            (
                "(d INT, e INT, f INT NOT NULL COMMENT 'a, NULL)', g INT NOT NULL, h INT, i INT NULL,"
                " j INT NOT NULL)"
            ),
            {"d": True, "e": True, "f": False, "g": False, "h": False, "i": True, "j": True},
        ),
    ],
)
def test_not_null_goes_on_to_the_next_column_of_a_list(
    listed: str, nullable: dict[str, bool]
) -> None:
    """debezium#listed-columns: what 2.5.4 and 3.5.0 made of these statements."""
    (columns,) = listed_columns(f"ALTER TABLE t ADD COLUMN {listed}, ADD g2 INT NOT NULL")
    assert read_nullability(columns) == nullable


def test_a_list_with_a_key_is_read_by_another_rule() -> None:
    sql = "ALTER TABLE t ADD COLUMN (a INT NOT NULL, b INT, INDEX (b)), ADD INDEX (a)"
    assert not list(listed_columns(sql))


def test_null_in_a_column_that_the_connector_takes_for_not_null_is_zero() -> None:
    """What 3.5.0 wrote: {"id": 4, "b": 1, "c": 0}."""
    number = mysql.integer("int")
    made = Table("d", "t", (Column("id", number, False),), ("id",))
    columns = (*made.columns, Column("b", number, False), Column("c", number))
    added = replace(made, columns=columns)
    sql = "ALTER TABLE t ADD COLUMN (b INT NOT NULL, c INT)"
    events = (
        SchemaChange(START, "create table", "CREATE TABLE t (id INT)", "d", "t", None, made),
        SchemaChange(START, "add column", sql, "d", "t", made, added),
        boundaries.insert(added, {"id": 4, "b": 1, "c": None}),
    )
    *_, record = written(FORMAT.build("3.5.0.Final", "mariadb"), *events)
    body = json.loads(record.message.value or b"")
    fields = {field["field"]: field["optional"] for field in body["schema"]["fields"][1]["fields"]}
    assert fields == {"id": False, "b": False, "c": False}
    assert body["payload"]["after"] == {"id": 4, "b": 1, "c": 0}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [("t_s0", "t_r_s0", "t_s0,t_r_s0"), ("t_s857", "t_r_s857", "t_r_s857,t_s857")],
)
def test_a_rename_names_both_tables_in_1_4(old: str, new: str, named: str) -> None:
    """debezium#schema-change-names: what 1.4.0 and 1.9.7 wrote. A reader may take the new name
    alone.
    """
    before, after = (
        Table("audit", name, (Column("x", mysql.integer("int"), False),), ("x",))
        for name in (old, new)
    )
    event = SchemaChange(
        START, "rename table", f"RENAME TABLE {old} TO {new}", "audit", new, before, after, old
    )
    for p, table in ((OLD, named), (PLAIN["1.9.7.Final+minimal"], new)):
        (record,) = written(p, event)
        change = record.changes[0]
        assert (
            payload(record)["source"]["table"],
            change.table,
            {change.table, *change.tables},
        ) == (table, table, {table, new})


def _rename_events(sql: str, **tables: Table) -> list[SchemaChange]:
    """The events of a RENAME TABLE, one for each clause; `tables` are those before it, by name."""
    events = []
    for clause in parse_renames(sql):
        before = tables.pop(clause.old_name)
        after = tables[clause.new_name] = replace(before, name=clause.new_name)
        events.append(
            SchemaChange(
                START,
                "rename table",
                sql,
                "audit",
                clause.new_name,
                before,
                after,
                clause.old_name,
            )
        )
    return events


_NUMBER = mysql.integer("int")
_R1 = Table("audit", "r1", (Column("id", _NUMBER, False), Column("a", _NUMBER)), ("id",))
_R2 = Table("audit", "r2", (Column("id", _NUMBER, False), Column("b", _NUMBER)), ("id",))


@pytest.mark.parametrize("release", ["1.9.7.Final", "2.5.4.Final", "3.5.0.Final", "3.6.1.Final"])
@pytest.mark.parametrize(
    ("clauses", "described"),
    [
        ("r1 TO x, r2 TO r1, x TO r2", [None, "b", "a"]),
        ("r1 TO x, r2 TO r1", ["a", "b"]),
        ("r1 TO x, r2 TO r1, r1 TO y, x TO r1", [None, "a", "b", "a"]),
    ],
    ids=["swap", "two", "taken-again"],
)
def test_a_rename_of_several_describes_the_tables_after_it(
    release: str, clauses: str, described: list[str | None]
) -> None:
    """debezium#several-renames: what four releases wrote. Each clause is a message, at one place of
    the log.
    """
    events = _rename_events(f"RENAME TABLE {clauses}", r1=_R1, r2=_R2)
    r1_after = next(event.after for event in reversed(events) if event.table == "r1")
    assert r1_after is not None
    last = r1_after.columns[-1].name
    insert = boundaries.insert(r1_after, {"id": 1, last: 5})
    *records, row = written(FORMAT.build(release), *events, insert)
    bodies = [payload(record) for record in records]
    assert [body["ddl"] for body in bodies] == [
        f"RENAME TABLE {clause}" for clause in clauses.split(", ")
    ]
    tables = [body["tableChanges"][0]["table"] if body["tableChanges"] else None for body in bodies]
    assert [table and table["columns"][-1]["name"] for table in tables] == described
    assert len({(body["source"]["pos"], body["source"]["gtid"]) for body in bodies}) == 1
    assert [record.message.event for record in records] == list(range(len(events)))
    assert payload(row)["after"] == {"id": 1, last: 5}


def test_a_rename_of_several_is_one_message_in_1_4_and_one_transaction_on_mariadb() -> None:
    """debezium#several-renames, debezium#statement-boundary."""
    sql = "RENAME TABLE r1 TO r_tmp, r2 TO r1, r_tmp TO r2"
    (record,) = written(OLD, *_rename_events(sql, r1=_R1, r2=_R2))
    assert (payload(record)["ddl"], payload(record)["source"]["table"]) == (sql, "r_tmp,r1,r2")
    mariadb = FORMAT.build("3.5.0.Final", "mariadb", "transaction")
    begin, *clauses = written(mariadb, *_rename_events(sql, r1=_R1, r2=_R2))
    assert payload(begin)["status"] == "BEGIN"
    assert ["ddl" in payload(clause) for clause in clauses] == [True] * 3


DDL = SchemaChange(
    START, "add column", "ALTER TABLE products ADD c int", "inventory", "products", after=CUSTOMERS
)


@pytest.mark.parametrize(
    ("p", "members"),
    [
        (NEW, "source ts_ms databaseName schemaName ddl tableChanges"),
        (PLAIN["1.9.7.Final+minimal"], "source databaseName schemaName ddl tableChanges"),
        (OLD, "source databaseName ddl"),
    ],
    ids=lambda v: v.name if isinstance(v, DebeziumProfile) else "",
)
def test_a_schema_change_by_release(p: DebeziumProfile, members: str) -> None:
    """debezium#schema-change-bare, debezium#schema-change."""
    (record,) = written(p, DDL)
    wired = payload(record)
    assert (record.message.topic, list(wired)) == ("dbserver1", members.split())
    assert json.loads(record.message.key or b"")["payload"] == {"databaseName": "inventory"}
    assert (
        json.loads(record.message.key or b"")["schema"]["name"]
        == "io.debezium.connector.mysql.SchemaChangeKey"
    )
    change = record.changes[0]
    assert (change.kind, change.database, change.table, change.sql) == (
        Kind.DDL,
        "inventory",
        "products",
        DDL.sql,
    )
    if "tableChanges" in wired:
        (entry,) = wired["tableChanges"]
        assert (entry["type"], entry["id"]) == ("ALTER", '"inventory"."products"')
        column = (
            "name jdbcType nativeType typeName typeExpression charsetName length scale position optional autoIncremented "
            "generated"
        )
        more = ["comment", "defaultValueExpression", "enumValues"] if p is NEW else ["comment"]
        assert list(entry["table"]["columns"][0]) == column.split() + more
        assert [c["position"] for c in entry["table"]["columns"]] == [1, 2, 3]


def test_postgresql_writes_no_schema_change() -> None:
    assert written(PG, DDL) == []


@pytest.mark.parametrize(
    "p",
    [FORMAT.build("3.5.0.Final", "postgresql"), FORMAT.build("2.5.4.Final")],
    ids=lambda p: p.name,
)
def test_a_truncation_has_the_schema_of_the_rows_about_it(p: DebeziumProfile) -> None:
    """What 3.5.0 and 2.5.4 wrote after ALTER TABLE ... ADD COLUMN c integer DEFAULT 1."""
    number = mysql.integer("int") if p.is_mysql else postgresql.integer("integer")
    columns, quoted = (
        (Column("id", number, False), Column("c", number)),
        "`c`" if p.is_mysql else '"c"',
    )
    before, after = (
        Table("d", "t", columns[:n], ("id",), (), None if p.is_mysql else "public") for n in (1, 2)
    )
    records = written(
        p,
        SchemaChange(
            START,
            "add column",
            f"ALTER TABLE t ADD COLUMN {quoted} integer DEFAULT 1",
            "d",
            "t",
            before,
            after,
        ),
        boundaries.insert(after, {"id": 1, "c": 2}),
        model.RowChange(START, after, Op.TRUNCATE, ()),
    )
    inserted, truncated = (
        json.loads(w.message.value or b"")["schema"]["fields"] for w in records[-2:]
    )
    images = [field for field in truncated if field["field"] in ("before", "after")]
    assert images == [field for field in inserted if field["field"] in ("before", "after")]
    assert [image["fields"][1]["default"] for image in images] == [1, 1]


@pytest.mark.parametrize(
    "profile", [FORMAT.build("2.5.4.Final"), FORMAT.build("3.5.0.Final", "mariadb")]
)
def test_a_truncation_has_the_row_number_of_the_row_before_it(profile: DebeziumProfile) -> None:
    """As both wrote it after an INSERT of two rows."""
    table = Table("d", "t", (Column("id", mysql.integer("int"), False),), ("id",))
    rows = tuple(model.RowImages(None, {"id": number}) for number in (1, 2))
    *_, truncated = written(
        profile,
        model.RowChange(START, table, Op.INSERT, rows),
        model.RowChange(START, table, Op.TRUNCATE, ()),
    )
    assert payload(truncated)["source"]["row"] == 1


def _table_with_comment(name: str, comment: str, database: str = "d") -> Table:
    number = Column("id", mysql.integer("int"), False)
    return Table(database, name, (number,), ("id",), comment=comment)


def _rename_table(known: KnownColumns, old: str, new: str, comment: str) -> None:
    before, after = (_table_with_comment(name, comment) for name in (old, new))
    sql = f"RENAME TABLE {old} TO {new}"
    known.follow_statement(SchemaChange(START, "rename table", sql, "d", new, before, after, old))


def test_a_table_made_like_another_has_no_comment_under_its_new_name_either() -> None:
    """debezium#kept-comments: RENAME keeps what is known of the table, also that its comment is
    not; a table that takes the free name has its own.
    """
    known = KnownColumns(NEW)
    like = _table_with_comment("b", "of a")
    known.follow_statement(
        SchemaChange(START, "create table", "CREATE TABLE b LIKE a", "d", "b", None, like)
    )
    assert known.table(like).comment is None
    _rename_table(known, "b", "e", "of a")
    assert known.table(_table_with_comment("e", "of a")).comment is None
    _rename_table(known, "x", "b", "of x")
    assert known.table(_table_with_comment("b", "of x")).comment == "of x"


def test_the_comment_of_a_table_made_like_another_is_known_once_a_statement_says_it() -> None:
    """debezium#kept-comments: beside other actions, too."""
    known = KnownColumns(NEW)
    like, commented = _table_with_comment("b", "of a"), _table_with_comment("b", "own")
    for action, sql, before, after in (
        ("create table", "CREATE TABLE b LIKE a", None, like),
        ("add column", "ALTER TABLE b COMMENT = 'own', ADD COLUMN c INT", like, commented),
    ):
        known.follow_statement(SchemaChange(START, action, sql, "d", "b", before, after))
    assert known.table(commented).comment == "own"


def test_a_table_made_like_one_of_another_database_has_its_columns() -> None:
    """debezium#kept-comments: a column of the key whose CHANGE did not say NOT NULL is optional."""
    known = KnownColumns(NEW)
    original, like = (_table_with_comment("a", "", "o"), _table_with_comment("b", ""))
    for action, sql, table, before in (
        ("create table", "CREATE TABLE o.a (id INT PRIMARY KEY)", original, None),
        ("alter table", "ALTER TABLE o.a CHANGE id id INT", original, original),
        ("create table", "CREATE TABLE d.b LIKE o.a", like, None),
    ):
        known.follow_statement(
            SchemaChange(START, action, sql, table.database, table.name, before, table)
        )
    assert [column.nullable for column in known.table(original).columns] == [True]
    assert [column.nullable for column in known.table(like).columns] == [True]


def test_truncate_table_is_a_truncation_and_up_to_2_5_a_statement() -> None:
    """debezium#table-changes, debezium#table-changes-of-drop."""
    event = SchemaChange(
        START,
        "truncate table",
        "TRUNCATE TABLE customers",
        "inventory",
        "customers",
        CUSTOMERS,
        CUSTOMERS,
    )
    assert [record.changes[0].kind for record in written(NEW, event)] == [Kind.ROW]
    assert [record.changes[0].kind for record in written(MIDDLE, event)] == [Kind.ROW, Kind.DDL]
    assert [record.changes[0].kind for record in written(OLD, event)] == [Kind.DDL]
    (old,), (_, middle) = written(FORMAT.build("1.9.7.Final"), event), written(MIDDLE, event)
    assert (old.changes[0].kind, payload(old)["source"]["table"]) == (Kind.DDL, "customers")
    assert (payload(middle)["tableChanges"], payload(middle)["source"]["table"]) == (
        [],
        "customers",
    )


def test_tables_that_are_gone_have_changes_from_2_0_on() -> None:
    """debezium#table-changes-of-drop: literals of what the releases wrote."""
    gone = SchemaChange(
        START, "drop table", "DROP TABLE customers", "inventory", "customers", CUSTOMERS, None
    )
    wired = {
        p.release: payload(written(p, gone)[0]) for p in (NEW, MIDDLE, FORMAT.build("1.9.7.Final"))
    }
    assert {release: body["tableChanges"] for release, body in wired.items()} == {
        "3.5.0.Final": [{"type": "DROP", "id": '"inventory"."customers"', "table": None}],
        "2.5.4.Final": [{"type": "DROP", "id": '"inventory"."customers"', "table": None}],
        "1.9.7.Final": [],
    }
    assert {body["source"]["table"] for body in wired.values()} == {"customers"}


def test_schema_of_a_schema_change_of_1_9() -> None:
    """debezium#table-changes-of-drop."""
    (record,) = written(FORMAT.build("1.9.7.Final"), DDL)
    fields = {
        field["field"]: field
        for field in json.loads(record.message.value or b"")["schema"]["fields"]
    }
    assert fields["databaseName"]["optional"] and fields["ddl"]["optional"]
    described = {
        field["field"]: field["optional"] for field in fields["tableChanges"]["items"]["fields"]
    }
    assert described == {"type": False, "id": False, "table": False}


@pytest.mark.parametrize("name", [("3.5.0.Final", "mariadb"), ("3.6.1.Final",)])
def test_an_empty_comment_of_a_statement_is_an_empty_text(name: tuple[str, ...]) -> None:
    """debezium#comments: what both wrote for these statements."""
    number = mysql.integer("int")
    key = Column("id", number, False, declared="int")
    empty = Column("a", number, declared="int", comment="")
    spoken = Column("b", number, declared="int", comment="x")
    made = Table("d", "t", (key, empty, spoken), ("id",), comment="")
    modified = replace(
        made, columns=(key, replace(empty, comment=None), replace(spoken, comment=""))
    )
    sql = "ALTER TABLE t MODIFY b int COMMENT '', MODIFY a int"
    records = written(
        FORMAT.build(*name),
        SchemaChange(START, "create table", "CREATE TABLE t (...)", "d", "t", None, made),
        SchemaChange(START, "modify column", sql, "d", "t", made, modified),
        boundaries.insert(modified, {"id": 1, "a": 1, "b": 2}),
    )
    tables = [payload(record)["tableChanges"][0]["table"] for record in records[:2]]
    assert [table["comment"] for table in tables] == ["", ""]
    assert [[column["comment"] for column in table["columns"]] for table in tables] == [
        [None, "", "x"],
        [None, None, ""],
    ]
    schema = json.loads(records[2].message.value or b"")["schema"]
    assert [field.get("doc") for field in schema["fields"][1]["fields"]] == [None, None, ""]


def test_an_empty_comment_is_no_parameter_of_a_column() -> None:
    """debezium#comments: as 3.5.0 wrote it."""
    column = Column("a", mysql.integer("int"), declared="int", comment="")
    profile = FORMAT.build("3.5.0.Final", "mariadb", "source-type")
    assert dict(envelope.source_parameters(column, profile, False)) == {
        "__debezium.source.column.type": "INT",
        "__debezium.source.column.name": "a",
    }


def test_comments_are_written_as_they_are_spelt_and_from_2_6_on() -> None:
    """debezium#comments."""
    table = Table(
        "inv",
        'q"q',
        (Column("id", mysql.integer("int"), False, comment="c'c \\"),),
        ("id",),
        comment="it's",
    )
    made = SchemaChange(START, "create table", "CREATE TABLE t", "inv", 'q"q', None, table)
    (new,), (old,) = (payload(written(p, made)[0])["tableChanges"] for p in (NEW, MIDDLE))
    assert new["id"] == '"inv"."q""q"'
    assert (new["table"]["comment"], new["table"]["columns"][0]["comment"]) == (
        "it''s",
        "c''c \\\\",
    )
    assert (old["table"]["comment"], old["table"]["columns"][0]["comment"]) == (None, None)


def test_a_back_slash_hides_a_table_from_the_catalogue() -> None:
    """debezium#name-patterns: the key is known, NOT NULL is not."""
    columns = (
        Column("id", postgresql.integer(), nullable=False),
        Column("a", postgresql.integer(), nullable=False),
    )
    table = Table("inv", "a\\b", columns, ("id",), schema="public")
    for release, optional in (("1.4.0.Final", True), ("2.5.4.Final", True), ("3.5.0.Final", False)):
        (record,) = written(
            FORMAT.build(release, "postgresql"),
            model.RowChange(START, table, Op.INSERT, (model.RowImages(None, {"id": 1, "a": 2}),)),
        )
        key = json.loads(record.message.key or b"")
        assert (key["schema"]["fields"][0]["optional"], key["payload"]) == (optional, {"id": 1})


def test_columns_of_a_schema_change() -> None:
    """debezium#table-changes: literals of recorded messages."""
    columns = (
        Column("id", mysql.integer("int"), False, declared="INT AUTO_INCREMENT"),
        Column("z", mysql.integer("int", unsigned=True, zerofill=True), declared="INT(6) ZEROFILL"),
        Column(
            "d", mysql.decimal(), declared="DECIMAL", default=Default("7.50"), comment="a comment"
        ),
        Column(
            "e",
            mysql.enum_of("b,c", "it's", "back\\slash"),
            declared="ENUM('b,c','it''s','back\\\\slash')",
        ),
        Column("u", mysql.text("varchar", 100), declared="VARCHAR(100) CHARACTER SET utf16"),
        Column("b", mysql.bit(4), default=Default("b'1010'")),
    )
    table = Table("inv", "t", columns, ("id",), comment="table comment")
    made = SchemaChange(START, "create database", "CREATE DATABASE inv", "inv")
    _, record = written(
        NEW, made, SchemaChange(START, "create table", "CREATE TABLE t", "inv", "t", None, table)
    )
    (change,) = payload(record)["tableChanges"]
    description = change["table"]
    assert (description["defaultCharsetName"], description["comment"]) == (None, "table comment")
    shown = [
        (c["jdbcType"], c["typeName"], c["charsetName"], c["length"], c["scale"])
        for c in description["columns"]
    ]
    assert shown == [
        *(
            (4, "INT", None, None, None),
            (4, "INT UNSIGNED ZEROFILL", None, 6, None),
            (3, "DECIMAL", None, 10, 0),
        ),
        *(
            (1, "ENUM", None, 1, None),
            (12, "VARCHAR", "utf16", 100, None),
            (-7, "BIT", None, 4, None),
        ),
    ]
    assert [c["defaultValueExpression"] for c in description["columns"]] == [
        None,
        None,
        "7.50",
        None,
        None,
        "1010",
    ]
    assert description["columns"][3]["enumValues"] == ["'b,c'", "'it''s'", "'back\\\\slash'"]
    assert [(c["autoIncremented"], c["generated"]) for c in description["columns"][:2]] == [
        (True, True),
        (False, False),
    ]
    assert (description["columns"][2]["comment"], description["columns"][1]["comment"]) == (
        "a comment",
        None,
    )


@pytest.mark.parametrize(
    ("release", "declared", "name"),
    [
        ("3.5.0.Final", "INT UNSIGNED ZEROFILL", "INT UNSIGNED ZEROFILL"),
        ("3.5.0.Final", "SMALLINT ZEROFILL", "SMALLINT UNSIGNED ZEROFILL"),
        ("1.9.7.Final", "SMALLINT(3) ZEROFILL", "SMALLINT ZEROFILL"),
        ("1.9.7.Final", "INT UNSIGNED ZEROFILL", "INT UNSIGNED ZEROFILL"),
        ("3.5.0.Final", "TINYINT(3) SIGNED DEFAULT 1", "TINYINT SIGNED"),
    ],
)
def test_the_name_of_an_integer_type(release: str, declared: str, name: str) -> None:
    column = Column("c", mysql.integer("int", zerofill=True), declared=declared)
    assert envelope._column(column, None, FORMAT.profile(release))["typeName"] == name


_TIMES_OF_ZERO = ("DATETIME(0)", "TIMESTAMP(0)", "TIME(0)")
_OTHERS_OF_ZERO = ("INT(0)", "VARCHAR(0)", "BIT(0)", "NCHAR(0)", "DECIMAL(0)", "DECIMAL(0,0)")


@pytest.mark.parametrize(
    ("release", "length"),
    [("1.9.7.Final", 0), ("2.5.4.Final", 0), ("3.5.0.Final", 0), ("3.6.1.Final", 10)],
)
def test_a_length_of_zero(release: str, length: int) -> None:
    """debezium#zero-lengths."""
    profile = FORMAT.profile(release)
    lengths = {
        declared: envelope._column(
            Column("c", mysql.integer("int"), declared=declared), None, profile
        )["length"]
        for declared in (*_TIMES_OF_ZERO, *_OTHERS_OF_ZERO, "DECIMAL", "BIT", "DATETIME")
    }
    assert lengths == {
        **dict.fromkeys(_TIMES_OF_ZERO, 0),
        **dict.fromkeys(_OTHERS_OF_ZERO, length),
        "DECIMAL": 10,
        "BIT": 1,
        "DATETIME": None,
    }


def test_a_statement_stands_in_the_source_of_streamed_rows_alone() -> None:
    """debezium#query."""
    asked = FORMAT.build("3.5.0.Final", "schemaless", "transaction", "include-query")
    row = boundaries.insert(CUSTOMERS, ROW)
    renamed = SchemaChange(
        START,
        "table comment",
        "ALTER TABLE `customers` COMMENT 'x'",
        "inventory",
        "customers",
        CUSTOMERS,
        CUSTOMERS,
    )
    events: tuple[model.Event, ...] = (
        TransactionMark(START, "BEGIN", "1"),
        model.SourceStatement(START, "rows-query", 'INSERT /* "op" */ INTO a', "inventory"),
        row,
        row,
        TransactionMark(START, "COMMIT", "1", 2),
        row,
        boundaries.change(CUSTOMERS, Op.READ, (None, ROW)),
        renamed,
    )
    begin, first, second, end, third, read, ddl = map(payload, written(asked, *events))
    assert [body["source"]["query"] for body in (first, second)] == ['INSERT /* "op" */ INTO a'] * 2
    assert third["source"]["query"] == "INSERT INTO `customers` SELECT * FROM `customers_new`"
    assert [body["source"]["query"] for body in (read, ddl)] == [None, None]
    assert (begin["status"], end["status"]) == ("BEGIN", "END")
    bare = written(FORMAT.build("3.5.0.Final", "schemaless", "transaction"), *events)
    assert [
        payload(record)["source"]["query"] for record in bare if "source" in payload(record)
    ] == [None] * 5


def test_a_default_is_what_the_connector_makes_of_the_statement() -> None:
    """debezium#defaults: quotes, an enum up to 1.9, MySQL's FLOAT and negative TIME up to 1.9; each
    was recorded.
    """
    mood = Default("'ok'::mood", "ok")

    def shown(release: str, type: model.SourceType, default: Default) -> str:
        options = ("postgresql",) if type.source == "postgresql" else ()
        schema = "public" if options else None
        table = Table("d", "t", (Column("c", type, default=default),), schema=schema)
        (record,) = written(FORMAT.build(release, *options), boundaries.insert(table, {"c": None}))
        return json.dumps(payload(record)["after"]["c"])

    quoted = Default("'d''q'", "d'q")
    assert shown("3.5.0.Final", postgresql.text("varchar", 9), quoted) == '"d"'
    assert shown("3.5.0.Final", mysql.text("varchar", 9), quoted) == "\"d''q\""
    enum = postgresql.enum_of("sad", "ok")
    assert [shown(f"{release}.Final", enum, mood) for release in ("1.9.7", "2.5.4")] == [
        "null",
        '"ok"',
    ]
    quoted_type = Default("'ok'::\"Mood\"", "ok")
    releases = ("2.5.4", "3.5.0", "3.6.1")
    assert [shown(f"{release}.Final", enum, quoted_type) for release in releases] == [
        "null",
        "null",
        '"ok"',
    ]
    float_default = Default("1.1", mysql.to_float32(1.1))
    assert [
        shown(f"{release}.Final", mysql.real("float"), float_default)
        for release in ("1.9.7", "2.5.4")
    ] == ["1.1", "1.1"]
    hour = Default("'-01:00:00'", -3_600_000_000)
    assert shown("1.9.7.Final", mysql.temporal("time"), hour) == "-3600000000"


def test_mariadb_begins_a_statement_and_does_not_end_it() -> None:
    """debezium#statement-boundary."""
    p = FORMAT.build("3.5.0.Final", "mariadb", "transaction", "schemaless")
    sql = SchemaChange(
        START,
        "truncate table",
        "TRUNCATE TABLE customers",
        "inventory",
        "customers",
        CUSTOMERS,
        CUSTOMERS,
    )
    view = SchemaChange(START, "create view", "CREATE VIEW v AS SELECT 1", "inventory", "v")
    begin, truncated, again = (
        json.loads(w.message.value or b"") for w in write(History((sql, view)), p, Layout("cdc"))
    )
    assert (begin["status"], begin["event_count"], begin["data_collections"]) == (
        "BEGIN",
        None,
        None,
    )
    assert truncated["transaction"] == {
        "id": begin["id"],
        "total_order": 1,
        "data_collection_order": 1,
    }
    assert again["status"] == "BEGIN" and again["id"] != begin["id"]
    assert not write(History((view,)), FORMAT.build("3.5.0.Final", "transaction"), Layout("cdc"))


def test_a_default_that_a_statement_gave_stands_in_the_tables_changes() -> None:
    """As 2.5.4 writes ALTER TABLE `t` ADD COLUMN `added` int DEFAULT 1:
    "defaultValueExpression":"1".
    """
    table = Table(
        "d", "t", (Column("id", mysql.integer("int")), Column("added", mysql.integer("int")))
    )
    add = SchemaChange(
        START,
        "add column",
        "ALTER TABLE `t` ADD COLUMN `added` int DEFAULT 1",
        "d",
        "t",
        None,
        table,
    )
    (record,) = write(History((add,)), FORMAT.build("2.5.4.Final", "schemaless"), Layout("cdc"))
    columns = json.loads(record.message.value or b"")["tableChanges"][0]["table"]["columns"]
    assert [column["defaultValueExpression"] for column in columns] == [None, "1"]


@pytest.mark.parametrize(
    ("sql", "written_sql"),
    [
        ("DROP TABLE tickets", "DROP TABLE `audit`.`tickets`"),
        ("DROP TABLE IF EXISTS tickets", "DROP TABLE IF EXISTS `audit`.`tickets`"),
        ("DROP TABLE `audit`.`tickets`", "DROP TABLE `audit`.`tickets`"),
    ],
)
def test_a_dropped_table_is_named_with_its_database(sql: str, written_sql: str) -> None:
    """debezium#table-changes-of-drop, as 3.5.0 writes it."""
    table = Table("audit", "tickets", (Column("id", mysql.integer("int")),))
    drop = SchemaChange(START, "drop table", sql, "audit", "tickets", table, None)
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    (record,) = write(History((drop,)), profile, Layout("cdc"))
    assert json.loads(record.message.value or b"")["ddl"] == written_sql
    assert record.changes[0].sql == written_sql


@pytest.mark.parametrize(
    ("ending", "charset"),
    [
        ("", "utf8mb4"),
        (" DEFAULT CHARSET=latin1", "latin1"),
        (" ENGINE=InnoDB CHARACTER SET utf8 COMMENT='x'", "utf8"),
    ],
)
def test_a_table_s_own_character_set_and_defaults_stand_in_its_description(
    ending: str, charset: str
) -> None:
    """debezium#table-changes, as 3.5.0 writes them."""
    columns = (
        Column("a", mysql.text("varchar", 9), default=Default('"dq"', "dq")),
        Column("b", mysql.text("varchar", 36), default=Default("(UUID())")),
    )
    table = Table("audit", "t", columns)
    sql = f"""CREATE TABLE t (a VARCHAR(9) DEFAULT "dq", b VARCHAR(36) DEFAULT (UUID())){ending}"""
    create = SchemaChange(START, "create table", sql, "audit", "t", None, table)
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    (record,) = write(History((create,)), profile, Layout("cdc"))
    described = json.loads(record.message.value or b"")["tableChanges"][0]["table"]
    assert described["defaultCharsetName"] == charset
    assert [column["charsetName"] for column in described["columns"]] == [charset, charset]
    assert [column["defaultValueExpression"] for column in described["columns"]] == ["dq", None]


def test_a_unique_key_that_is_dropped_stays_the_record_key() -> None:
    """debezium#dropped-keys: the key that 3.5.0 writes after DROP INDEX."""
    columns = tuple(Column(name, mysql.integer("int"), nullable=False) for name in ("a", "b"))
    keyless = Table("audit", "t", columns)
    keyed = Table("audit", "t", columns, (), (("a",),))
    events = (
        SchemaChange(START, "drop index", "DROP INDEX ux ON t", "audit", "t", keyed, keyless),
        boundaries.insert(keyless, {"a": 1, "b": 2}),
        SchemaChange(START, "create table", "CREATE TABLE t", "audit", "t", None, keyless),
        boundaries.insert(keyless, {"a": 3, "b": 4}),
    )
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    records = write(History(events), profile, Layout("cdc"))
    keys = [record.message.key for record in records if record.changes[0].kind is Kind.ROW]
    assert keys == [b'{"a":1}', None]


def _renames(release: str) -> list[dict[str, Any]]:
    """The payloads of one RENAME TABLE of two tables, whose clauses are an event each."""
    sql = "RENAME TABLE old_a TO new_a, old_b TO new_b"
    events = (
        SchemaChange(
            START,
            "rename table",
            sql,
            "audit",
            f"new_{end}",
            replace(_BOOKINGS, name=f"old_{end}"),
            replace(_BOOKINGS, name=f"new_{end}"),
            f"old_{end}",
        )
        for end in ("a", "b")
    )
    records = write(History(tuple(events)), FORMAT.build(release, "schemaless"), Layout("cdc"))
    return [json.loads(record.message.value or b"") for record in records]


_BOOKINGS = Table(
    "audit",
    "bookings",
    (Column("room", mysql.integer("int")), Column("slot", mysql.text("varchar", 9))),
    unique=(("room",),),
)


def test_each_clause_of_a_rename_is_a_message_that_names_all_new_tables() -> None:
    """As recorded of MariaDB's connector 3.5.0 and MySQL's 1.9.7."""
    payloads = _renames("3.5.0.Final")
    assert [(payload["ddl"], payload["source"]["table"]) for payload in payloads] == [
        ("RENAME TABLE old_a TO new_a", "new_a,new_b"),
        ("RENAME TABLE old_b TO new_b", "new_a,new_b"),
    ]


def test_a_rename_of_two_tables_is_one_message_in_1_4() -> None:
    """MySqlSchema.applyDdl hands on the statement of one database as it is."""
    (payload,) = _renames("1.4.0.Final")
    assert payload["ddl"] == "RENAME TABLE old_a TO new_a, old_b TO new_b"
    assert set(payload["source"]["table"].split(",")) == {"old_a", "old_b", "new_a", "new_b"}


def test_a_unique_key_with_nullable_columns_is_no_record_key_later_either() -> None:
    """As recorded of MariaDB's connector 3.5.0: MODIFY room INT NOT NULL leaves the key null."""
    create = SchemaChange(
        START,
        "create table",
        "CREATE TABLE bookings (room INT, slot VARCHAR(9), UNIQUE KEY (room))",
        "audit",
        "bookings",
        None,
        _BOOKINGS,
    )
    solid = replace(
        _BOOKINGS, columns=(replace(_BOOKINGS.columns[0], nullable=False), _BOOKINGS.columns[1])
    )
    sql = "ALTER TABLE bookings MODIFY room INT NOT NULL"
    modify = SchemaChange(START, "modify column", sql, "audit", "bookings", _BOOKINGS, solid)
    add = replace(
        modify,
        action="create index",
        sql="ALTER TABLE bookings ADD UNIQUE KEY u (room)",
        before=replace(solid, unique=()),
        after=solid,
    )
    row = boundaries.insert(solid, {"room": 1, "slot": "am"})
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    assert written(profile, create, modify, row)[-1].message.key is None
    assert written(profile, create, modify, add, row)[-1].message.key == b'{"room":1}'
    assert written(profile, modify, row)[-1].message.key == b'{"room":1}'


def _key_after_alters(create: str, versions: Sequence[Table], *alters: str) -> bytes | None:
    """The key of a row after a CREATE TABLE and ALTER TABLEs, which make the versions of a table
    without NULLs.
    """
    first = versions[0]
    statements = [
        SchemaChange(START, "create table", create, "audit", first.name, None, first),
        *(
            SchemaChange(START, "modify column", f"ALTER TABLE t {sql}", "audit", "t", old, new)
            for sql, (old, new) in zip(alters, pairwise(versions), strict=True)
        ),
    ]
    last = versions[-1]
    row = boundaries.insert(last, {column.name: 1 for column in last.columns})
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    return written(profile, *statements, row)[-1].message.key


def _ints(nullable: str, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, mysql.integer("int"), name in nullable.split()) for name in names)


@pytest.mark.parametrize("rename", ["RENAME COLUMN u TO u2", "CHANGE u u2 INT"])
@pytest.mark.parametrize(
    ("made", "modified", "key"),
    [("u", "", None), ("", "u", b'{"u2":1}'), ("", "", b'{"u2":1}')],
    ids=["refused", "taken", "solid"],
)
def test_a_key_whose_column_is_renamed_is_no_new_key(
    rename: str, made: str, modified: str, key: bytes | None
) -> None:
    """debezium#unique-keys: TableEditorImpl.renameColumn replaces the name in the list of key
    columns, and looks at no unique key.
    """
    versions = (
        Table("audit", "t", _ints(made, "u"), (), (("u",),)),
        Table("audit", "t", _ints(modified, "u"), (), (("u",),)),
        Table("audit", "t", _ints("u2" if modified else "", "u2"), (), (("u2",),)),
    )
    modify = f"MODIFY u INT {'NULL' if modified else 'NOT NULL'}"
    assert _key_after_alters("CREATE TABLE t (...)", versions, modify, rename) == key


@pytest.mark.parametrize(
    ("nullable", "key"), [("", b'{"b":1}'), ("a", None), ("b", None)], ids=["taken", "a", "b"]
)
def test_a_key_that_loses_a_column_is_no_new_key(nullable: str, key: bytes | None) -> None:
    """debezium#unique-keys: TableEditorImpl.removeColumn."""
    versions = (
        Table("audit", "t", _ints(nullable, "a", "b"), (), (("a", "b"),)),
        Table("audit", "t", _ints(nullable, "b"), (), (("b",),)),
    )
    assert _key_after_alters("CREATE TABLE t (...)", versions, "DROP COLUMN a") == key


@pytest.mark.parametrize(
    ("primary_key", "unique", "alter", "left"),
    [
        (("a",), (("b",),), "DROP PRIMARY KEY", ("a", "b")),
        ((), (("a",), ("b",)), "DROP COLUMN a", ("b",)),
        ((), (("a",), ("b",)), "DROP COLUMN a, ADD COLUMN a INT NOT NULL", ("b", "a")),
    ],
)
def test_no_other_key_takes_the_place_of_one_that_is_dropped(
    primary_key: tuple[str, ...],
    unique: tuple[tuple[str, ...], ...],
    alter: str,
    left: Sequence[str],
) -> None:
    """debezium#unique-keys: the list of key columns is empty then. A key that is made later is
    taken.
    """
    made = Table("audit", "t", _ints("", "a", "b"), primary_key, unique)
    keyless = Table("audit", "t", _ints("", *left), (), (("b",),))
    keyed = replace(keyless, columns=(*keyless.columns, *_ints("", "c")), unique=(("b",), ("c",)))
    create = "CREATE TABLE t (...)"
    assert _key_after_alters(create, (made, keyless), alter) is None
    add = "ADD COLUMN c INT NOT NULL, ADD UNIQUE KEY (c)"
    assert _key_after_alters(create, (made, keyless, keyed), alter, add) == b'{"c":1}'


@pytest.mark.parametrize(
    ("release", "charset"), [("3.5.0.Final", "latin1"), ("2.5.4.Final", "utf8mb4")]
)
def test_a_conversion_gives_the_table_its_character_set_after_2_5(
    release: str, charset: str
) -> None:
    sql = "ALTER TABLE bookings CONVERT TO CHARACTER SET latin1"
    convert = SchemaChange(START, "table charset", sql, "audit", "bookings", _BOOKINGS, _BOOKINGS)
    (record,) = write(History((convert,)), FORMAT.build(release, "schemaless"), Layout("cdc"))
    (change,) = json.loads(record.message.value or b"")["tableChanges"]
    assert change["table"]["defaultCharsetName"] == charset


def test_a_conversion_gives_columns_whose_character_set_is_not_known_that_of_the_table() -> None:
    """debezium#converted-tables, as 3.5.0 wrote a table of a database without a character set."""
    column = Column("code", mysql.text("varchar", 10))
    table = Table("audit", "ward", (Column("id", mysql.integer("int"), False), column), ("id",))
    convert = "ALTER TABLE ward CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
    events = (
        SchemaChange(START, "create database", "CREATE DATABASE audit", "audit", ""),
        SchemaChange(
            START,
            "create table",
            "CREATE TABLE ward (id INT PRIMARY KEY, code VARCHAR(10))",
            "audit",
            "ward",
            None,
            table,
        ),
        SchemaChange(START, "table charset", convert, "audit", "ward", table, table),
    )
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    _, made, converted = write(History(events), profile, Layout("cdc"))
    shown = []
    for record in (made, converted):
        (change,) = json.loads(record.message.value or b"")["tableChanges"]
        shown.append(change["table"]["columns"][1]["charsetName"])
    assert shown == [None, "utf8mb4"]


def test_a_replaced_table_is_refused() -> None:
    sql = "CREATE OR REPLACE TABLE bookings (room INT)"
    create = SchemaChange(START, "create table", sql, "audit", "bookings", None, _BOOKINGS)
    profile = FORMAT.build("3.5.0.Final", "mariadb", "schemaless")
    assert len(write(History((create,)), profile, Layout("cdc"))) == 1
    replaced = replace(create, before=_BOOKINGS)
    with pytest.raises(Refused, match="reads rows of 'bookings' by the table before it"):
        write(History((replaced,)), profile, Layout("cdc"))


@pytest.mark.parametrize("in_transaction", [True, False])
def test_a_logical_message_that_no_transaction_holds_has_no_transaction_s_id(
    in_transaction: bool,
) -> None:
    """debezium#snapshot-source."""
    event = model.LogicalMessage(START, "non-tx", b"plain", "inv", in_transaction)
    (record,) = written(PG, event)
    assert (payload(record)["source"]["txId"] is not None) is in_transaction


def test_texts_are_known_as_spelled_in_copies_and_behind_comments() -> None:
    """debezium#comments."""
    known = KnownSpellings()
    column = Column("id", mysql.integer("int"), comment="it's")
    original, copy = (Table("d", name, (column,), ("id",)) for name in ("a", "b"))
    made = "CREATE TABLE a (id INT COMMENT 'it\\'s' -- the user's id\n)"
    for sql, table in ((made, original), ("CREATE TABLE b LIKE a", copy)):
        known.follow_statement(
            SchemaChange(START, "create table", sql, "d", table.name, None, table)
        )
    assert [known.table(table).columns[0].comment for table in (original, copy)] == ["it\\'s"] * 2


@pytest.mark.parametrize("kind", ["", "FULLTEXT ", "SPATIAL "])
def test_an_index_that_is_no_key_describes_no_table(kind: str) -> None:
    """debezium#table-changes, as 3.5.0 wrote CREATE FULLTEXT INDEX."""
    sql = f"CREATE {kind}INDEX i ON bookings (room)"
    event = SchemaChange(START, "create index", sql, "audit", "bookings", _BOOKINGS, _BOOKINGS)
    (record,) = write(
        History((event,)), FORMAT.build("3.5.0.Final", "mariadb", "schemaless"), Layout("cdc")
    )
    body = json.loads(record.message.value or b"")
    assert (body["source"]["table"], body["tableChanges"]) == ("", [])
