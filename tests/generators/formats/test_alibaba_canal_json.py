"""Alibaba Canal's flat message against literals from outside: output of Canal's own classes and
JSON libraries (facts of the page canal).
"""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from typing import Any

import pytest
from literals import literal
from tables import keyed
from writing import Writing

from generators import model
from generators.families.canal import wire
from generators.families.mysql_texts import json_text
from generators.formats.alibaba_canal_json import (
    FORMAT,
    FlatMessage,
    partition_of,
    place_rows,
    write,
)
from generators.formats.alibaba_canal_json.cells import column_type
from generators.model import (
    CanalRestart,
    Column,
    History,
    Instant,
    Json,
    Kind,
    Layout,
    Op,
    Row,
    SchemaChange,
    SourceStatement,
    State,
    StatementFamily,
    Table,
)
from generators.recorded import store
from generators.sources import boundaries, mysql
from generators.sources.boundaries import ID, START, change, insert

TOPICS = Table("Db1", "T_Case", (ID,), ("id",))
PLAIN = {p.name: p for p in FORMAT.profiles}
NEW = PLAIN["1.1.8"]
ABC = keyed(
    "mytest.user",
    "id",
    id=mysql.integer("bigint"),
    a=mysql.text("varchar", 64),
    b=mysql.text("varchar", 64),
)


written = Writing(write)
message = written.message


def update(table: Table, *rows: tuple[Row, Row]) -> model.RowChange:
    return boundaries.change(table, Op.UPDATE, *rows)


def states(image: Any) -> dict[str, str]:
    return {name: cell.state.value for name, cell in image.items()}


# Whole messages, one per release family. `id` and `ts` are the harness's clock, cut out by
# `framed`.

INSERTED: Row = {
    "id": 1,
    "u": 255,
    "t": None,
    "s": "\x0b\x7f\u2028/<é😀",
    "d": b"\x00\x80",
    "z": Decimal("123.00"),
}
MIXED = keyed(
    "mytest.mixed",
    "id",
    id=mysql.integer("int"),
    u=mysql.integer("tinyint", unsigned=True),
    t=mysql.text("text"),
    s=mysql.text("varchar", 32),
    d=mysql.binary("varbinary", 8),
    z=mysql.decimal(10, 2),
)
MESSAGES = json.loads(literal("alibaba-rows.json"))


def framed(record: model.Written) -> str:
    """The text with the numbers of `id` and `ts` cut out."""
    assert record.message.value is not None
    text = record.message.value.decode()
    for name in ("id", "ts"):
        before, _, rest = text.partition(f',"{name}":')
        text = f'{before},"{name}":#{rest.lstrip("0123456789")}'
    return text


@pytest.mark.parametrize("release", sorted(MESSAGES))
def test_a_whole_message_of_each_release(release: str) -> None:
    (record,) = written(PLAIN[release], boundaries.insert(MIXED, INSERTED))
    assert framed(record) == MESSAGES[release]
    assert (
        record.message.key,
        record.message.headers,
        record.message.topic,
        record.message.partition,
    ) == (None, (), "topic", 0)


# canal#partition


@pytest.mark.parametrize(
    ("database", "values", "partitions", "expected"),
    [
        *(
            ("mytest", ["1"], 3, 0),
            ("mytest", ["2"], 3, 0),
            ("mytest", [None], 3, 1),
            (None, ["1"], 3, 1),
        ),
        *(
            (None, ["polygenelubricants"], 3, 2),
            ("mytest", ["1", "1"], 7, 3),
            ("mytest", ["2", "2"], 7, 3),
        ),
    ],
)
def test_partition_of_the_executed_vectors(
    database: str | None, values: list[str | None], partitions: int, expected: int
) -> None:
    assert partition_of(database, values, partitions) == expected


def test_the_hash_spreads_rows_that_share_the_batch() -> None:
    rows: list[tuple[Row | None, Row | None]] = [
        (None, {"id": i, "a": "x", "b": None}) for i in range(1, 9)
    ]
    records = written(PLAIN["1.1.8+pk-hash"], boundaries.change(ABC, Op.INSERT, *rows))
    assert len(records) > 1
    seen: list[str] = []
    for part in records:
        assert part.message.value is not None
        wired = json.loads(part.message.value)
        ids = [row["id"] for row in wired["data"]]
        assert {partition_of("mytest", [i], 3) for i in ids} == {part.message.partition}
        assert [c.row for c in part.changes] == list(range(len(ids)))
        assert [c.after["id"].text for c in part.changes if c.after] == ids
        seen += ids
    assert sorted(seen) == [str(i) for i in range(1, 9)]
    assert len({c.position for part in records for c in part.changes}) == 1


# old


def test_old_is_cumulative() -> None:
    """canal#old-cumulative and canal#flink-old-by-name."""
    first: Row = {"id": 1, "a": "x", "b": "k"}
    second: Row = {"id": 2, "a": "q", "b": None}
    wired, record = message(
        NEW, update(ABC, (first, {**first, "a": "y"}), (second, {**second, "b": "z"}))
    )
    assert wired["data"] == [{"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}]
    assert wired["old"] == [{"a": "x"}, {"a": "q", "b": None}]
    head, tail = record.changes
    assert head.before is not None and states(head.before) == {
        "id": "ABSENT",
        "a": "VALUE",
        "b": "ABSENT",
    }
    assert tail.before is not None and states(tail.before) == {
        "id": "ABSENT",
        "a": "VALUE",
        "b": "NULL",
    }
    assert head.full_before is not None and {n: c.text for n, c in head.full_before.items()} == {
        "id": "1",
        "a": "x",
        "b": "k",
    }
    assert tail.full_before is not None and {n: c.text for n, c in tail.full_before.items()} == {
        "id": "2",
        "a": "q",
        "b": None,
    }


@pytest.mark.parametrize(
    ("release", "all_unchanged", "some_changed"),
    [
        *(("1.1.4", None, [{"b": None}, {"b": "m"}]), ("1.1.6", None, [{"b": None}, {"b": "m"}])),
        *(
            ("1.1.7", [{}, {}], [{}, {"b": None}, {"b": "m"}]),
            ("1.1.8", [{}, {}], [{}, {"b": None}, {"b": "m"}]),
        ),
    ],
)
def test_old_of_rows_without_a_change(release: str, all_unchanged: Any, some_changed: Any) -> None:
    """canal#old-left-out and canal#old-empty."""
    row: Row = {"id": 1, "a": "x", "b": "k"}
    two: Row = {"id": 2, "a": "q", "b": None}
    three: Row = {"id": 3, "a": "r", "b": "m"}
    wired, record = message(PLAIN[release], update(ABC, (row, row), (two, two)))
    assert wired["old"] == all_unchanged
    expected = {"ANY"} if all_unchanged is None else {"ABSENT"}
    assert all(
        change.before is not None and set(states(change.before).values()) == expected
        for change in record.changes
    )
    wired, record = message(
        PLAIN[release],
        update(ABC, (row, row), (two, {**two, "b": "z"}), (three, {**three, "b": "n"})),
    )
    assert (len(wired["data"]), wired["old"]) == (3, some_changed)
    assert len(record.changes) == 3


BLOBS = keyed(
    "mytest.blobs",
    "id",
    id=mysql.integer("bigint"),
    n=mysql.integer("int"),
    t=mysql.text("text"),
    j=mysql.json(),
)
STORED: Row = {"id": 1, "n": 5, "t": "long", "j": Json({})}


@pytest.mark.parametrize(
    ("name", "op", "before", "after", "data", "old", "keys"),
    [
        (
            "1.1.8+noblob",
            Op.INSERT,
            None,
            {"id": 1},
            {"id": "1", "n": None, "j": None},
            None,
            ["id"],
        ),
        (
            "1.1.8+noblob",
            Op.UPDATE,
            STORED,
            {**STORED, "n": 6},
            {"id": "1", "n": "6", "j": "{}"},
            {"n": "5"},
            ["id"],
        ),
        (
            "1.1.8+noblob",
            Op.UPDATE,
            STORED,
            {**STORED, "t": "new"},
            {"id": "1", "n": "5", "t": "new", "j": "{}"},
            {},
            ["id"],
        ),
        (
            "1.1.8+noblob",
            Op.DELETE,
            STORED,
            None,
            {"id": "1", "n": "5", "j": "{}"},
            None,
            ["id"],
        ),
        ("1.1.8+minimal", Op.INSERT, None, {"id": 1, "n": 5}, {"id": "1", "n": "5"}, None, ["id"]),
        ("1.1.8+minimal", Op.UPDATE, STORED, {**STORED, "n": 6}, {"n": "6"}, {}, None),
        ("1.1.8+minimal", Op.UPDATE, STORED, {**STORED, "id": 2}, {"id": "2"}, {"id": "1"}, ["id"]),
        ("1.1.8+minimal", Op.DELETE, STORED, None, {"id": "1"}, None, ["id"]),
        ("1.1.6+minimal", Op.UPDATE, STORED, {**STORED, "n": 6}, {"n": "6"}, None, None),
    ],
)
def test_row_images(
    name: str, op: Op, before: Row | None, after: Row | None, data: Any, old: Any, keys: Any
) -> None:
    """canal#row-image; a key change under MINIMAL follows from canal#old-changed and
    canal#old-cumulative.
    """
    wired, record = message(PLAIN[name], boundaries.change(BLOBS, op, (before, after)))
    assert wired["data"] == [data]
    assert wired["old"] == (None if old is None else [old])
    assert wired["pkNames"] == keys
    assert list(wired["mysqlType"]) == list(wired["sqlType"]) == list(data)
    (change,) = record.changes
    shown = change.before if op is Op.DELETE else change.after
    assert shown is not None
    assert {n: c.text for n, c in shown.items() if c.state is not State.ABSENT} == data


def test_the_old_value_of_a_changed_blob_is_unknown_and_what_no_image_holds_is_absent() -> None:
    _, record = message(PLAIN["1.1.8+noblob"], update(BLOBS, (STORED, {**STORED, "t": "new"})))
    before, after = (record.changes[0].image(side, 2) for side in ("before", "after"))
    assert before is not None
    assert after is not None
    assert states(before) == {"id": "VALUE", "n": "VALUE", "t": "ANY", "j": "VALUE"}
    assert states(after) == {"id": "VALUE", "n": "VALUE", "t": "VALUE", "j": "VALUE"}
    assert before["t"].reason


# values


def test_an_hour_that_occurs_twice_allows_both_instants() -> None:
    early, late = mysql.wall("2024-11-03 05:30:00"), mysql.wall("2024-11-03 06:30:00")
    for value in (early, late):
        cell = wire(mysql.temporal("timestamp"), value, PLAIN["1.1.5"]).cell
        assert (cell.state, cell.text, cell.options) == (
            State.ONE_OF,
            "2024-11-03 01:30:00",
            (early, late),
        )
        assert cell.reason
    assert (
        wire(mysql.temporal("timestamp"), late + 3600_000_000, PLAIN["1.1.5"]).cell.state
        is State.VALUE
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(({"b": None, "a": 1}, '{"a": 1, "b": null}'), ({"bb": 1, "a": 2}, '{"a": 2, "bb": 1}')),
        *(
            ([1, "x", True], '[1, "x", true]'),
            (1.0, "1.0"),
            (1e20, "1.0E20"),
            (18446744073709551615, "18446744073709551615"),
        ),
        ('"\\\n\r\t\x01\x7f\xa0/😀', '"\\"\\\\\\n\\r\\t\\u0001\\u007f\\u00a0/😀"'),
    ],
)
def test_texts_of_json(value: Any, text: str) -> None:
    """canal#json-columns."""
    assert json_text(value) == text


def test_raw_control_characters_may_be_refused_but_not_lost() -> None:
    table = Table("d", "t", (Column("s", mysql.text("varchar", 8)),))
    (record,) = written(PLAIN["1.1.6"], boundaries.insert(table, {"s": "a\x01"}))
    assert record.message.value is not None
    assert b'"s":"a\x01"' in record.message.value
    assert [c.accept for c in record.changes] == [((Kind.CORRUPT, None),)]
    assert [c.kind for c in record.changes] == [Kind.ROW]
    (record,) = written(PLAIN["1.1.6"], boundaries.insert(table, {"s": "a\t\n"}))
    assert [c.accept for c in record.changes] == [()]


# DDL and other statements


DDL = [
    *(
        ("create table", "CREATE"),
        ("drop table", "ERASE"),
        ("truncate table", "TRUNCATE"),
        ("rename table", "RENAME"),
    ),
    *(
        ("add column", "ALTER"),
        ("drop column", "ALTER"),
        ("modify column", "ALTER"),
        ("set default", "ALTER"),
    ),
    *(
        ("rename index", "ALTER"),
        ("add partition", "ALTER"),
        ("exchange partition", "ALTER"),
        ("drop primary key", "ALTER"),
    ),
    *(("add primary key", "CINDEX"), ("create index", "CINDEX"), ("drop index", "DINDEX")),
]
SILENT = ["alter database", "create view", "drop view", "create sequence", "add foreign key"]


@pytest.mark.parametrize("release", ["1.1.4", "1.1.5", "1.1.6", "1.1.7", "1.1.8"])
def test_ddl(release: str) -> None:
    p = PLAIN[release]
    for action, expected in DDL:
        wired, record = message(
            p, SchemaChange(START, action, "SOME sql", "d", "new", old_name="old")
        )
        assert [wired[name] for name in ("type", "isDdl", "database", "table", "sql")] == [
            expected,
            True,
            "d",
            "new",
            "SOME sql",
        ]
        assert {wired[name] for name in ("data", "old", "pkNames", "sqlType", "mysqlType")} == {
            None
        }
        (change,) = record.changes
        assert (change.kind, change.op, change.sql, change.accept, change.keys) == (
            Kind.DDL,
            None,
            "SOME sql",
            (),
            None,
        )
    for action in SILENT:
        assert written(p, SchemaChange(START, action, "x", "d", "t")) == []
    for action in ("table comment", "table charset"):
        records = written(p, SchemaChange(START, action, "x", "d", "t"))
        assert len(records) == (0 if release in ("1.1.4", "1.1.5") else 1)


@pytest.mark.parametrize(
    ("release", "is_ddl"), [("1.1.4", False), ("1.1.5", True), ("1.1.8", True)]
)
def test_create_database(release: str, is_ddl: bool) -> None:
    sql = "CREATE DATABASE IF NOT EXISTS `shop`"
    wired, record = message(PLAIN[release], SchemaChange(START, "create database", sql, "shop"))
    assert (wired["type"], wired["isDdl"], wired["database"], wired["table"]) == (
        "QUERY",
        is_ddl,
        "`shop`",
        "",
    )
    (change,) = record.changes
    assert (change.kind, change.accept) == (Kind.DDL, () if is_ddl else ((Kind.CONTROL, None),))


@pytest.mark.parametrize(
    ("family", "kind", "database", "table", "change"),
    [
        ("rows-query", "QUERY", "", "t", (Kind.CONTROL, ((Kind.DDL, None),))),
        ("statement-insert", "INSERT", "d", "t", (Kind.CONTROL, ((Kind.DDL, None),))),
        ("statement-update", "UPDATE", "d", "t", (Kind.CONTROL, ((Kind.DDL, None),))),
        ("statement-delete", "DELETE", "d", "t", (Kind.CONTROL, ((Kind.DDL, None),))),
        ("xa-commit", "XACOMMIT", "", "", (Kind.TRANSACTION, ((Kind.CONTROL, None),))),
        ("xa-rollback", "XAROLLBACK", "", "", (Kind.TRANSACTION, ((Kind.CONTROL, None),))),
    ],
)
def test_statements_that_are_no_rows(
    family: StatementFamily, kind: str, database: str, table: str, change: Any
) -> None:
    wired, record = message(NEW, SourceStatement(START, family, "the sql", "d", "t"))
    assert (wired["type"], wired["isDdl"], wired["data"], wired["sql"]) == (
        kind,
        False,
        None,
        "the sql",
    )
    assert (wired["database"], wired["table"]) == (database, table)
    assert [(c.kind, c.accept) for c in record.changes] == [change]


def test_a_live_serial_is_signed_and_tinyint_1_unsigned_has_the_codes_of_its_like() -> None:
    """canal#live-serial."""
    tiny = dataclasses.replace(mysql.integer("tinyint", unsigned=True), length=1)
    serial = Column("s", mysql.integer("bigint", unsigned=True), declared="serial")
    table = Table("mytest", "s1", (serial, Column("t", tiny, declared="tinyint(1) unsigned")))
    for value, small, texts, codes in (
        ((1 << 64) - 1, 255, ["-1", "255"], [-5, 5]),
        (1 << 63, 127, ["-9223372036854775808", "127"], [-5, -6]),
        (7, None, ["7", None], [-5, -6]),
    ):
        wired, record = message(PLAIN["1.1.7"], boundaries.insert(table, {"s": value, "t": small}))
        assert (list(wired["data"][0].values()), list(wired["sqlType"].values())) == (texts, codes)
        old, _ = message(PLAIN["1.1.4"], boundaries.insert(table, {"s": value, "t": small}))
        assert old["sqlType"]["t"] == (-7 if small == 127 else codes[1])
        assert (record.changes[0].after or {})["s"].state is (
            State.VALUE if value == 7 else State.ANY
        )
        assert bool(record.changes[0].accept) is (value != 7)


TICKED = Table(
    "mytest",
    "t",
    (Column("k`", mysql.integer("int"), nullable=False), Column("a``b", mysql.text("varchar", 20))),
    ("k`",),
)


@pytest.mark.parametrize(
    ("release", "key", "name"),
    [("1.1.4", "k``", "a````b"), ("1.1.7", "k``", "a````b"), ("1.1.8", "k`", "a``b")],
)
def test_a_back_tick_of_a_column_stays_doubled_up_to_1_1_7(
    release: str, key: str, name: str
) -> None:
    """Level two has the table's own names, of which such a message says nothing."""
    row: Row = {"k`": 2, "a``b": "1"}
    wired, record = message(PLAIN[release], update(TICKED, (row, {**row, "a``b": "3"})))
    assert (wired["data"], wired["old"], wired["pkNames"]) == (
        [{key: "2", name: "3"}],
        [{name: "1"}],
        [key],
    )
    assert list(wired["mysqlType"]) == list(wired["sqlType"]) == [key, name]
    (change,) = record.changes
    assert (change.keys, list(change.after or ())) == ((key,), [key, name])
    whole = change.image("after", 2) or {}
    known = State.ANY if release != "1.1.8" else State.VALUE
    assert {name: cell.state for name, cell in whole.items()} == {"k`": known, "a``b": known}


# The envelope


def test_a_batch_shares_its_id_and_es_is_in_seconds() -> None:
    row: Row = {"id": 1, "a": None, "b": None}
    times = (Instant(1_700_000_000_950), Instant(1_700_000_000_990), Instant(1_700_000_009_001))
    records = written(NEW, *(boundaries.insert(ABC, row, at) for at in times))
    wires = [json.loads(w.message.value or b"") for w in records]
    assert [w["es"] for w in wires] == [1700000000000, 1700000000000, 1700000009000]
    assert wires[0]["id"] == wires[1]["id"] == wires[2]["id"] - 1
    assert [c.position for w in records for c in w.changes] == [str(w["id"]) for w in wires]
    assert [c.commit_time_us for w in records for c in w.changes] == [w["es"] * 1000 for w in wires]
    assert all(w["ts"] > w["es"] for w in wires)
    assert written(NEW, model.Watermark(START)) == []


@pytest.mark.parametrize("recorded", ["m102-1.1.4", "main-1.1.8"])
@pytest.mark.parametrize(
    ("configuration", "partitions", "facts"),
    [
        *(("pk3", 3, {"pk_hash": True}), ("pk7", 7, {"pk_hash": True})),
        *(
            ("a^b7", 7, {"hash_columns": ("a", "b")}),
            ("pk7-nodb", 7, {"pk_hash": True, "database_hash": False}),
        ),
        *(
            ("pk3-nodb", 3, {"pk_hash": True, "database_hash": False}),
            ("id3", 3, {"hash_columns": ("id",)}),
        ),
        *(
            ("ID3-wrong-case", 3, {"hash_columns": ("ID",)}),
            ("table3", 3, {"table_hash": True}),
            ("table7", 7, {"table_hash": True}),
        ),
    ],
)
def test_rows_go_to_the_partitions_that_were_recorded(
    recorded: str, configuration: str, partitions: int, facts: dict[str, Any]
) -> None:
    if recorded == "m102-1.1.4":
        facts = {**facts, "database_hash": True}  # this release has no such switch
    variant = dataclasses.replace(FORMAT.build("1.1.8"), **facts)
    (recording,) = (entry for entry in store.recordings("canal") if entry.name == recorded)
    bodies = {m.event: json.loads(m.value or b"") for m in store.messages(recording)}
    placed = [
        line
        for line in store.truth("canal", f"partition-{recorded}")
        if line["config"] == configuration
    ]
    assert len(placed) > 120
    for line in placed:
        body = bodies[line["n"]]
        flat = FlatMessage(
            body["type"], body["database"], body["table"], keys=tuple(body["pkNames"] or ())
        )
        expected = {part["partition"]: part["rows"] for part in line["parts"]}
        if configuration == "a^b7" and body["table"] != "t_comp":
            assert list(expected) == [0]  # the rule is one of another table
        elif body["data"]:
            assert place_rows(body["data"], flat, variant, partitions) == expected, line


def test_without_tsdb_a_table_is_as_the_server_shows_it() -> None:
    columns = (
        Column("id", mysql.integer("bigint", unsigned=True), False, declared="SERIAL primary key"),
        Column("c", mysql.text("text"), declared="TEXT(100)"),
    )
    event = insert(Table("d", "t", columns, ("id",)), {"id": (1 << 64) - 5, "c": "é"})
    live, asked = (
        message(FORMAT.build("1.1.7", *options), event)[0] for options in ((), ("tsdb-off",))
    )
    assert (live["mysqlType"], live["data"]) == (
        {"id": "SERIAL", "c": "TEXT(100)"},
        [{"id": "-5", "c": "Ã©"}],
    )
    assert (asked["mysqlType"], asked["data"]) == (
        {"id": "bigint(20) unsigned", "c": "text"},
        [{"id": "18446744073709551611", "c": "é"}],
    )


def test_a_type_of_two_words_is_written_with_both() -> None:
    """As Canal 1.1.7 prints them (canal#live-spelling)."""
    spelled = ("CHARACTER VARYING(9)", "NATIONAL CHAR(4)", "DOUBLE PRECISION", "VARCHAR(5)")
    columns = tuple(
        Column(f"c{number}", mysql.real("double"), declared=spelling)
        if spelling == "DOUBLE PRECISION"
        else Column(f"c{number}", mysql.text("varchar", 9), declared=spelling)
        for number, spelling in enumerate(spelled)
    )
    event = insert(Table("d", "t", columns), {column.name: None for column in columns})
    body, _ = message(FORMAT.build("1.1.7"), event)
    assert tuple(body["mysqlType"].values()) == spelled


@pytest.mark.parametrize(
    "spelling",
    [
        "NATIONAL CHARACTER(3)",
        "CHAR VARYING(3)",
        "NCHAR VARCHAR(3)",
        "LONG VARCHAR",
        "CHAR(3) BYTE",
    ],
)
def test_a_table_whose_statement_canal_does_not_read_is_as_the_server_shows_it(
    spelling: str,
) -> None:
    """As Canal 1.1.7 wrote both (canal#unread-types)."""
    columns = (
        Column("id", mysql.integer("int"), False, declared="INT PRIMARY KEY"),
        Column("c", mysql.text("varchar", 3), declared=spelling),
    )
    table = Table("d", "t", columns, ("id",))
    sql = f"CREATE TABLE t (id INT PRIMARY KEY, c {spelling})"
    created, _ = message(
        FORMAT.build("1.1.7"), SchemaChange(START, "create table", sql, "d", "t", None, table)
    )
    named = ("type", "database", "table", "isDdl", "sql")
    assert [created[name] for name in named] == ["QUERY", "", "", True, sql]
    body, _ = message(FORMAT.build("1.1.7"), insert(table, {"id": 1, "c": "a"}))
    assert body["mysqlType"] == {"id": "int(11)", "c": "varchar(3)"}


def test_without_tsdb_the_server_answers_in_three_bytes_and_desc_has_a_key_of_its_own() -> None:
    columns = (Column("a😀", mysql.enum_of("😀", "é"), False), Column("b", mysql.integer("int")))
    shown = []
    for name in ("plain", "dot.ted"):
        event = insert(Table("d", name, columns, (), (("b",), ("a😀",))), {"a😀": 1, "b": 2})
        body, _ = message(FORMAT.build("1.1.5", "tsdb-off"), event)
        assert (body["mysqlType"]["a?"], body["data"]) == ("enum('?','é')", [{"a?": "1", "b": "2"}])
        shown.append(body["pkNames"])
    assert shown == [None, ["a?"]]


@pytest.mark.parametrize(
    ("states", "keys"),
    [((None, None), ["id"]), ((False, None), None), ((None, True), ["id", "a"])],
)
def test_a_key_that_a_columns_definition_no_longer_says_is_lost(
    states: tuple[bool | None, ...], keys: list[str] | None
) -> None:
    """As Canal 1.1.7 wrote them (canal#dropped-key)."""
    columns = tuple(
        Column(name, mysql.integer("int"), inline_primary=state)
        for name, state in zip(("id", "a"), states, strict=True)
    )
    body, _ = message(
        FORMAT.build("1.1.7"), insert(Table("d", "t", columns, ("id",)), {"id": 1, "a": 2})
    )
    assert body["pkNames"] == keys


def test_a_table_that_is_renamed_behind_another_clause_is_as_the_server_shows_it() -> None:
    """As Canal 1.1.7 wrote it (canal#late-rename)."""

    def table(name: str, spelling: str = "bigint") -> Table:
        number = mysql.integer("bigint")
        return Table("d", name, (Column("a", number, declared=spelling),))

    def types(*events: model.Event) -> list[Any]:
        records = written(FORMAT.build("1.1.7"), *events)
        bodies = (json.loads(record.message.value or b"") for record in records)
        return [body["mysqlType"] and body["mysqlType"]["a"] for body in bodies]

    late = "ALTER TABLE t DROP INDEX i, RENAME TO u"
    rename = SchemaChange(START, "drop index", late, "d", "t", table("t"), table("u"))
    row: Row = {"a": 1}
    assert types(insert(table("t"), row), rename, insert(table("u"), row)) == [
        "bigint",
        None,
        "bigint(20)",
    ]
    changed = insert(table("u", "BIGINT"), row)
    assert types(rename, insert(table("u"), row), changed) == [None, "bigint(20)", "BIGINT"]
    elsewhere = dataclasses.replace(table("t"), database="e")
    moved = dataclasses.replace(rename, database="e", after=elsewhere)
    assert types(moved, insert(elsewhere, row)) == [None, "bigint(20)"]
    first = dataclasses.replace(rename, action="rename table", table="u", old_name="t")
    assert types(first, insert(table("u"), row)) == [None, "bigint"]


def test_latin2_comes_as_the_bytes_that_it_is() -> None:
    column = Column("c", mysql.text("varchar", 9), charset="latin2")
    body, _ = message(FORMAT.build("1.1.7"), insert(Table("d", "t", (column,)), {"c": "ż"}))
    assert body["data"] == [{"c": "\ufffd"}]


def test_half_a_surrogate_among_bytes_is_one_question_mark() -> None:
    """As Canal 1.1.7 wrote the name of a supplier, in GBK ED BC among others."""
    column = Column("c", mysql.text("varchar", 9), charset="gbk")
    body, _ = message(FORMAT.build("1.1.7"), insert(Table("d", "t", (column,)), {"c": "中科软件"}))
    assert body["data"] == [{"c": "\ufffdп" + "\ufffd" * 4}]


def test_a_dynamic_topic_is_of_the_table() -> None:
    (record,) = written(FORMAT.build("1.1.7", "dynamic-topic"), insert(TOPICS, {"id": 1}))
    assert record.message.topic == "db1_t_case"
    (record,) = written(
        FORMAT.build("1.1.7", "dynamic-topic"), SourceStatement(START, "rows-query", "x", "Db1")
    )
    assert record.message.topic == "topic"


def test_hashing_stops_an_old_writer_at_an_update_with_an_unchanged_row() -> None:
    rows = (({"id": 1, "a": "x"}, {"id": 1, "a": "x"}), ({"id": 2, "a": "x"}, {"id": 2, "a": "y"}))
    table = dataclasses.replace(TOPICS, columns=(ID, Column("a", mysql.text())))
    events = (
        insert(table, {"id": 1, "a": "x"}),
        change(table, Op.UPDATE, *rows),
        insert(table, {"id": 9}),
    )
    assert len(write(History(events), FORMAT.build("1.1.6", "pk-hash"), Layout(partitions=1))) == 1
    assert len(write(History(events), FORMAT.build("1.1.7", "pk-hash"), Layout(partitions=1))) == 3
    assert len(write(History(events), FORMAT.build("1.1.6"), Layout(partitions=1))) == 3


def test_binary_is_right_padded_or_not() -> None:
    table = dataclasses.replace(TOPICS, columns=(ID, Column("c", mysql.binary("binary", 4))))
    (record,) = written(FORMAT.build("1.1.8"), insert(table, {"id": 1, "c": b"a"}))
    cell = (record.changes[0].after or {})["c"]
    assert (cell.state, cell.text, cell.options) == (State.ONE_OF, "a", (b"a", b"a\0\0\0"))


def test_mysql_8_has_no_display_widths() -> None:
    eight = FORMAT.build("1.1.8", "mysql8")
    kinds = (
        mysql.integer("int", unsigned=True),
        mysql.boolean(),
        mysql.year(),
        mysql.integer("int", zerofill=True),
    )
    assert [column_type(Column("c", kind), eight) for kind in kinds] == [
        "int unsigned",
        "tinyint(1)",
        "year",
        mysql.declared(mysql.integer("int", zerofill=True)),
    ]


@pytest.mark.parametrize(
    ("declared", "spelled"),
    [
        (r"set('it''s','back\\slash')", r"set('it''s','back\slash')"),
        (r"enum('a\nb', 'it\'s')", "enum('a\nb','it''s')"),
    ],
)
def test_a_label_of_a_live_column_is_what_its_back_slashes_stand_for(
    declared: str, spelled: str
) -> None:
    """canal#live-spelling."""
    type = mysql.set_of("it's", r"back\slash")
    column = Column("c", type, declared=declared)
    assert column_type(column, FORMAT.build("1.1.5")) == spelled


def test_a_live_character_column_in_binary_loses_bytes_and_may_be_refused() -> None:
    """canal#live-character-binary."""
    table = dataclasses.replace(
        TOPICS, columns=(ID, Column("c", mysql.binary("binary", 8), declared="CHAR(8)"))
    )
    (body, lossy), (_, plain) = (
        message(NEW, insert(table, {"id": 1, "c": value})) for value in (b"a\xff", b"a")
    )
    cell = (lossy.changes[0].after or {})["c"]
    assert (body["data"][0]["c"], body["sqlType"]["c"], body["mysqlType"]["c"]) == (
        "a\ufffd",
        1,
        "CHAR(8)",
    )
    assert (cell.state, lossy.changes[0].accept) == (State.ANY, ((Kind.CORRUPT, None),))
    assert plain.changes[0].accept == ()


def test_a_batch_ends_with_the_event_that_fills_it() -> None:
    """canal#batch-size."""
    table = dataclasses.replace(TOPICS, columns=(ID, Column("c", mysql.text("text"))))
    row: Row = {"id": 1, "c": "x" * 20_000}
    ids = [body["id"] for body in written.bodies(NEW, *[insert(table, row)] * 5)]
    assert [number - ids[0] for number in ids] == [0, 0, 0, 1, 1]
    assert (
        len(
            {body["id"] for body in written.bodies(NEW, *[insert(table, {"id": 1, "c": ""})] * 200)}
        )
        == 1
    )


def test_batches_begin_at_one_when_canal_starts_and_the_first_has_what_waited() -> None:
    """canal#batch-id, canal#batch-size."""
    times = [Instant(START.ms + ms) for ms in (0, 5_000, 9_000, 20_000)]
    events = [insert(TOPICS, {"id": i}, at) for i, at in enumerate(times)]
    again = CanalRestart(times[2])
    records = written(NEW, events[0], again, *events[1:])
    first, *others = [json.loads(record.message.value or b"")["id"] for record in records]
    assert (first > 1, others) == (True, [1, 1, 2])
    assert [record.message.event for record in records] == [0, 2, 3, 4]


def test_a_batch_after_a_pause_has_seconds_of_changes() -> None:
    """canal#batch-size."""
    spans = set()
    for seed in range(40):
        events = (insert(TOPICS, {"id": i}, Instant(START.ms + 900 * i)) for i in range(10))
        ids = [body["id"] for body in written.bodies(NEW, *events, seed=seed)]
        assert ids == sorted(ids)
        spans |= {ids.count(number) for number in ids}
    assert (min(spans), max(spans)) == (1, 6)


def test_a_replace_under_minimal_sets_its_key() -> None:
    """canal#key-names."""
    wired, _ = message(PLAIN["1.1.8+minimal"], update(BLOBS, (STORED, {"id": 1, "n": 6})))
    assert (wired["data"], wired["pkNames"]) == ([{"id": "1", "n": "6"}], ["id"])


def test_a_live_text_is_sent_as_a_blob_that_a_decoder_may_restore() -> None:
    table = dataclasses.replace(
        TOPICS, columns=(ID, Column("c", mysql.text("text"), declared="TEXT(100)"))
    )
    body, record = message(FORMAT.build("1.1.8"), insert(table, {"id": 1, "c": "é"}))
    cell = (record.changes[0].after or {})["c"]
    assert (body["data"][0]["c"], body["sqlType"]["c"], body["mysqlType"]["c"]) == (
        "\u00c3\u00a9",
        2004,
        "TEXT(100)",
    )
    assert (cell.state, cell.options) == (State.ONE_OF, ("é", "\u00c3\u00a9"))
