"""Literal messages: the documentation's samples with TSOs that fit es, published issues, every
release.
"""

import json
import re

import pytest
from literals import literal

from generators.formats.ticdc_canal_json import FORMAT, write
from generators.model import (
    Column,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    SchemaChange,
    State,
    Table,
    Watermark,
)
from generators.sources import mysql
from generators.sources.boundaries import START, change, insert

LAYOUT = Layout("topic", 3)
AT = Instant(1639633141221, 7)  # the documentation's es; TSO 429819990172237831


def named(name, nullable=True, **more):
    return Column(name, mysql.integer(name.removeprefix("c_"), **more), nullable)


TP_INT = Table(
    "test",
    "tp_int",
    (
        Column("id", mysql.integer("int"), nullable=False),
        *(named(f"c_{kind}") for kind in ("tinyint", "smallint", "mediumint", "int", "bigint")),
    ),
    ("id",),
)
ROW = {
    "id": 2,
    "c_tinyint": 127,
    "c_smallint": 32767,
    "c_mediumint": 8388607,
    "c_int": 2147483647,
    "c_bigint": 9223372036854775807,
}
CHANGED = {**ROW, "c_tinyint": 0, "c_int": 0}
INSERTED, UPDATED, DELETED, DELETED_5_3, INSERTED_5_3, UPDATED_LATER, DELETED_LATER = literal(
    "ticdc-canal-rows.txt"
).splitlines()
"""Document 000's three, those of v5.3, and those of later releases without the key order of
mysqlType and without ts.
"""


def values(name, *events, seed=270):
    return [
        written.message.value
        for written in write(History(events, seed), FORMAT.profile(name), LAYOUT)
    ]


def masked(value):
    """The message without the key order of mysqlType, which is Go's map order, and without ts."""
    return re.sub(
        rb'"ts":\d+', b'"ts":0', re.sub(rb'"mysqlType":\{[^}]*\}', b'"mysqlType":*', value)
    )


def record(name, event, seed=0):
    (written,) = write(History((event,), seed), FORMAT.profile(name), LAYOUT)
    (row,) = written.changes
    return written.message, row


def column(kind, value, name="v7.1.6", **more):
    table = Table("d", "t", (Column("id", mysql.integer("int"), False), Column("c", kind)), ("id",))
    message, row = record(name, insert(table, {"id": 1, "c": value}), **more)
    return message.value, row.after["c"]


@pytest.mark.parametrize(
    ("name", "event", "sample"),
    [
        ("v5.4.3+extension", insert(TP_INT, ROW, AT), INSERTED),
        ("v5.4.3", change(TP_INT, Op.UPDATE, (ROW, CHANGED), at=AT), UPDATED),
        ("v5.4.3", change(TP_INT, Op.DELETE, (CHANGED, None), at=AT), DELETED),
        ("v5.3.4", change(TP_INT, Op.DELETE, (CHANGED, None), at=AT), DELETED_5_3),
        ("v5.3.4", insert(TP_INT, ROW, AT), INSERTED_5_3),
    ],
)
def test_samples_of_document_000_and_of_v5_3_which_has_no_ts_null_arrays_and_old_in_delete(
    name, event, sample
):
    assert values(name, event) == [sample.encode()]


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("v6.5.1", "\r\n"),
        ("v6.5.11", "\r\n"),
        ("v7.1.6", ""),
        ("v8.5.7", ""),
        ("new-8.5.4", ""),
        ("new-8.5.6", ""),
    ],
)
def test_later_releases_put_old_first_and_keep_the_tables_order(name, end):
    updated, deleted = (
        change(TP_INT, Op.UPDATE, (ROW, CHANGED), at=AT),
        change(TP_INT, Op.DELETE, (ROW, None), at=AT),
    )
    assert [masked(v) for v in values(name, updated)] == [f"{UPDATED_LATER}{end}".encode()]
    assert [masked(v) for v in values(f"{name}+extension", deleted)] == [
        f"{DELETED_LATER}{end}".encode()
    ]


def test_message_of_issue_3958_byte_for_byte():
    table = Table(
        "test",
        "t",
        (
            Column("idx", mysql.integer("bigint", unsigned=True), False),
            Column("a", mysql.text("varchar", 64), False),
        ),
        ("idx",),
    )
    at = Instant(1767859044550)
    (inserted,) = values("new-8.5.6", insert(table, {"idx": 1, "a": "test"}, at), seed=938)
    assert inserted == (
        b'{"id":0,"database":"test","table":"t","pkNames":["idx"],"isDdl":false,"type":"INSERT","es":1767859044550,'
        b'"ts":1767859045474,"sql":"","sqlType":{"idx":-5,"a":12},"mysqlType":{"idx":"bigint unsigned","a":"varchar"},'
        b'"old":null,"data":[{"idx":"1","a":"test"}]}'
    )
    assert values("new-8.5.6", insert(table, {"idx": 2, "a": "null"}, at), seed=5722)[0].endswith(
        b'"mysqlType":{"a":"varchar","idx":"bigint unsigned"},"old":null,"data":[{"idx":"2","a":"null"}]}'
    )
    message, row = record("new-8.5.4", insert(table, {"idx": 2, "a": "null"}, at))
    assert message.value.endswith(b'"old":null,"data":[{"idx":"2","a":null}]}')
    assert (row.after["a"].state, row.after["a"].cls) == (State.NULL, "literal-null")
    assert "3958" in row.after["a"].reason
    assert (
        record("new-8.5.6", insert(table, {"idx": 2, "a": "null"}, at))[1].after["a"].value
        == "null"
    )


def test_watermark_sample_of_document_000():
    event = Watermark(Instant(1640007049196, 2))
    written = write(History((event,), 34), FORMAT.profile("v5.4.3+extension"), LAYOUT)
    assert [(w.message.partition, w.message.key) for w in written] == [
        (0, None),
        (1, None),
        (2, None),
    ]
    (value,) = {w.message.value for w in written}
    assert value == (
        b'{"id":0,"database":"","table":"","pkNames":null,"isDdl":false,"type":"TIDB_WATERMARK","es":1640007049196,'
        b'"ts":1640007050284,"sql":"","sqlType":null,"mysqlType":null,"data":null,"old":null,'
        b'"_tidb":{"watermarkTs":429918007904436226}}'
    )
    assert (written[0].changes[0].kind, written[0].changes[0].position) == (
        Kind.WATERMARK,
        "429918007904436226",
    )
    assert write(History((event,), 34), FORMAT.profile("v5.4.3"), LAYOUT) == []


def test_ddl_sample_of_document_000_with_the_restored_statement():
    event = SchemaChange(
        Instant(1639633094670, 9), "drop database", "drop database if exists `test`", "test"
    )
    written = write(History((event,), 88), FORMAT.profile("v8.5.7+extension"), LAYOUT)
    assert [(w.message.partition, w.message.key) for w in written] == [(0, None)]
    assert written[0].message.value == (
        b'{"id":0,"database":"test","table":"","pkNames":null,"isDdl":true,"type":"QUERY","es":1639633094670,'
        b'"ts":1639633095489,"sql":"DROP DATABASE IF EXISTS `test`","sqlType":null,"mysqlType":null,"data":null,"old":null,'
        b'"_tidb":{"commitTs":429819977969172489}}'
    )
    (ddl,) = written[0].changes
    assert (ddl.kind, ddl.op) == (Kind.DDL, None)
    assert (ddl.database, ddl.table, ddl.sql) == ("test", "", "DROP DATABASE IF EXISTS `test`")


def test_v5_3_broadcasts_ddl_and_v6_5_ends_only_rows_with_crlf():
    event = SchemaChange(AT, "truncate table", "TRUNCATE TABLE `t`", "d", "t")
    written = write(History((event,)), FORMAT.profile("v5.3.4"), LAYOUT)
    assert [w.message.partition for w in written] == [0, 1, 2]
    assert b'"ts":0,' in written[0].message.value
    assert values("v6.5.11", event)[0].endswith(b'"data":null,"old":null}')


@pytest.mark.parametrize(
    ("release", "statements"),
    [
        ("v8.5.7+extension", ["DROP TABLE `d`.`t`", "DROP TABLE `e`.`u`"]),
        ("new-8.5.7+extension", ["DROP TABLE `d`.`t`", "DROP TABLE `e`.`u`"]),
        ("v5.4.3+extension", ["DROP TABLE IF EXISTS `t`, `e`.`u`"] * 2),
    ],
)
def test_a_drop_of_two_tables_is_two_statements_with_commits_of_their_own(
    release: str, statements: list[str]
) -> None:
    """DDLEvent.FromJobWithArgs, in v5.4.3 DDLEvent.FromJob."""
    event = SchemaChange(AT, "drop table", "drop table if exists t, e.u", "d", "t")
    messages = [json.loads(value) for value in values(release, event)]
    assert [message["sql"] for message in messages] == statements
    assert [(message["database"], message["table"]) for message in messages] == [
        ("d", "t"),
        ("e", "u"),
    ]
    commits = [message["_tidb"]["commitTs"] for message in messages]
    assert commits == [AT.tso, AT.tso + 1]


THREE_KEYS = Table(
    "d",
    "t",
    tuple(Column(n, mysql.integer("int"), nullable=False) for n in ("c", "v", "a", "b")),
    ("b", "a", "c"),
)


IN_TABLE_ORDER = '"sqlType":{"c":4,"v":4,"a":4,"b":4},"mysqlType":*,"old":null,"data":[{"c":"1","v":"2","a":"3","b":"4"}]}'


@pytest.mark.parametrize(
    ("name", "images"),
    [
        (
            "v5.4.3",
            '"sqlType":{"a":4,"b":4,"c":4,"v":4},"mysqlType":*,"data":[{"a":"3","b":"4","c":"1","v":"2"}],"old":null}',
        ),
        ("v8.5.7", IN_TABLE_ORDER),
        ("new-8.5.6", IN_TABLE_ORDER),
    ],
)
def test_keys_are_named_in_the_order_of_the_columns_not_of_the_key(name, images):
    message, row = record(name, insert(THREE_KEYS, {"c": 1, "v": 2, "a": 3, "b": 4}, AT))
    body = '{"id":0,"database":"d","table":"t","pkNames":["c","a","b"],"isDdl":false,"type":"INSERT","es":1639633141221,"ts":0,'
    assert masked(message.value).decode() == f'{body}"sql":"",{images}'
    assert row.keys == ("c", "a", "b")


def test_v5_3_loses_binaries_that_are_no_utf_8_but_not_blobs():
    value, cell = column(mysql.binary("varbinary", 8), b"a\xff\xfe", "v5.3.4")
    assert rb'"c":"a\ufffd\ufffd"' in value
    assert (cell.state, cell.text) == (State.ANY, "a\ufffd\ufffd")
    assert "7058" in cell.reason
    value, cell = column(mysql.binary("blob"), b"a\xff\xfe", "v5.3.4")
    assert '"c":"aÿþ"'.encode() in value
    assert (cell.state, cell.value) == (State.VALUE, b"a\xff\xfe")
    assert column(mysql.binary("varbinary", 8), b"abc", "v5.3.4")[1].state is State.VALUE
    _, row = record(
        "v5.3.4", insert(Table("d", "t", (Column("c", mysql.binary()),)), {"c": b"\xff"})
    )
    assert row.accept == ((Kind.CORRUPT, None),)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("v5.4.3", "123.98999786376953"), ("v6.5.1", "123.98999786376953"), ("v6.5.11", "123.99")],
)
def test_float_noise_until_v6_5_1(name, expected):
    value, cell = column(mysql.real("float"), mysql.to_float32(123.99), name)
    assert f'"c":"{expected}"'.encode() in value
    assert (cell.text, cell.value) == (expected, mysql.to_float32(123.99))


def test_types_by_release_and_option():
    kind = mysql.integer("int", zerofill=True)
    table = Table("d", "t", (Column("id", mysql.integer("int"), False), Column("c", kind)), ("id",))
    expected = {
        "v5.3.4": "int",
        "v5.4.3": "int unsigned",
        "v6.5.1": "int unsigned",
        "v6.5.11": "int unsigned zerofill",
        "v6.5.11+content-compatible": "int(10) unsigned zerofill",
        "new-8.5.6": "int unsigned zerofill",
    }
    for name, shown in expected.items():
        message, row = record(name, insert(table, {"id": 1, "c": 7}))
        assert json.loads(message.value)["mysqlType"]["c"] == shown
        assert row.types["c"] == shown


def test_labels_of_a_full_type_keep_their_backslashes() -> None:
    """As TiCDC v8.5.7 wrote it of an in-memory TiDB."""
    table = Table("d", "t", (Column("e", mysql.enum_of("back\\slash", "it's", "汉字", "a\nb")),))
    message, _ = record("v8.5.7+extension+content-compatible", insert(table, {"e": 1}))
    assert (
        b"""{"e":"enum('back\\\\slash','it''s','\xe6\xb1\x89\xe5\xad\x97','a\\\\nb')"}"""
        in message.value
    )


AB = Table(
    "d",
    "t",
    (
        Column("id", mysql.integer("int"), False),
        *(Column(n, mysql.text("varchar", 9)) for n in ("a", "b")),
    ),
    ("id",),
)


def test_partial_old_holds_changed_columns_and_level_two_the_whole_row():
    x = {"id": 1, "a": "x", "b": None}
    message, row = record("v7.1.6+only-updated", change(AB, Op.UPDATE, (x, {**x, "b": "y"})))
    assert b'"old":[{"b":null}],"data":[{"id":"1","a":"x","b":"y"}]}' in message.value
    assert {n: c.state for n, c in row.before.items()} == {
        "id": State.ABSENT,
        "a": State.ABSENT,
        "b": State.NULL,
    }
    assert [(c.state, c.value) for c in row.image("before", 2).values()] == [
        (State.VALUE, 1),
        (State.VALUE, "x"),
        (State.NULL, None),
    ]


def test_update_of_nothing_has_an_empty_old():
    x = {"id": 1, "a": "x", "b": None}
    message, row = record("v6.5.11+content-compatible", change(AB, Op.UPDATE, (x, x)))
    assert b'"old":[{}],' in message.value
    assert {c.state for c in row.before.values()} == {State.ABSENT}
    assert row.image("before", 2)["a"].value == "x"


def ops(name, table, *pairs):
    written = write(History((change(table, Op.UPDATE, *pairs),)), FORMAT.profile(name), LAYOUT)
    return [json.loads(w.message.value)["type"] for w in written]


def test_key_updates_are_split_where_the_release_does():
    integer = Table("d", "t", (Column("k", mysql.integer("int"), False),), ("k",))
    string = Table("d", "t", (Column("k", mysql.text("varchar", 9), False),), ("k",))
    unique = Table("d", "t", (Column("k", mysql.text("varchar", 9), False),), (), (("k",),))
    nullable = Table("d", "t", (Column("k", mysql.text("varchar", 9)),), (), (("k",),))
    split, whole = ["DELETE", "INSERT"], ["UPDATE"]
    for name in ("v5.3.4", "v5.4.3", "v6.5.1"):
        assert ops(name, integer, ({"k": 1}, {"k": 2})) == split
        assert ops(name, string, ({"k": "a"}, {"k": "b"})) == whole
    for name in ("v6.5.11", "v7.1.6", "v8.5.7", "new-8.5.4", "new-8.5.6"):
        assert ops(name, integer, ({"k": 1}, {"k": 2})) == split
        assert ops(name, string, ({"k": "a"}, {"k": "b"})) == split
        assert ops(name, unique, ({"k": "a"}, {"k": "b"})) == split
        assert ops(name, nullable, ({"k": "a"}, {"k": "b"})) == split
    assert ops("v7.1.6", integer, ({"k": 1}, {"k": 2}), ({"k": 2}, {"k": 3})) == [
        "DELETE",
        "DELETE",
        "INSERT",
        "INSERT",
    ]


BIG = Table(
    "d",
    "t",
    (Column("id", mysql.integer("int"), False), Column("big", mysql.text("longtext"))),
    ("id",),
)


def test_size_limit_counts_36_bytes_of_record_overhead():
    name = "v7.1.6+extension+handle-key-only"
    limit = FORMAT.profile(name).max_message_bytes
    small, _ = record(name, insert(BIG, {"id": 7, "big": ""}))
    fits = limit - 36 - len(small.value)
    assert len(record(name, insert(BIG, {"id": 7, "big": "x" * fits}))[0].value) == limit - 36
    assert (
        b'"onlyHandleKey":true'
        in record(name, insert(BIG, {"id": 7, "big": "x" * (fits + 1)}))[0].value
    )


def test_statements_keep_placement_rules_and_ttl_where_the_release_does():
    sql = "create table t (a int, c date) placement policy=p ttl = c + interval 1 day ttl_enable = 'ON'"
    event = SchemaChange(START, "create table", sql, "d", "t")
    for name, placed, enabled in (
        ("v5.4.3", True, "ON"),
        ("v6.5.11", False, "ON"),
        ("v8.5.7", False, "OFF"),
    ):
        (written,) = write(History((event,)), FORMAT.profile(name), LAYOUT)[:1]
        text = json.loads(written.message.value)["sql"]
        assert ("PLACEMENT POLICY = `p`" in text, f"TTL_ENABLE = '{enabled}'" in text) == (
            placed,
            True,
        )


def test_raw_changes_are_split_where_tidb_does_alone():
    key = Table("d", "t", (Column("k", mysql.text("varchar", 9), False),), ("k",))
    unique = Table("d", "t", (Column("k", mysql.text("varchar", 9), False),), (), (("k",),))
    for name in ("v6.5.11+raw-change", "v8.5.7+raw-change", "new-8.5.6+raw-change"):
        assert ops(name, key, ({"k": "a"}, {"k": "b"})) == ["DELETE", "INSERT"]
        assert ops(name, unique, ({"k": "a"}, {"k": "b"})) == ["UPDATE"]
