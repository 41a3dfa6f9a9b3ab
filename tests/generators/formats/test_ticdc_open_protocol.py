"""Literal records of TiCDC's Open Protocol: those of PingCAP's document, of the encoder's own
tests, and its framing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Final

import pytest

from generators import model
from generators.errors import Refused
from generators.formats.ticdc_open_protocol import FORMAT
from generators.formats.ticdc_open_protocol.cells import BASE64, flags, go_quoted, split_events
from generators.garbage.wellformed import State
from generators.model import (
    Column,
    Event,
    History,
    Index,
    Instant,
    Json,
    Kind,
    Layout,
    Op,
    SourceType,
    Table,
    Value,
    Watermark,
    Written,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert

TS: Final = 415508856908021766
AT: Final = Instant(TS >> 18, TS & 0x3FFFF)
T1: Final = Table(
    "test",
    "t1",
    (Column("id", mysql.integer("int"), False), Column("val", mysql.text("varchar", 16))),
    ("id",),
)
CREATE: Final = "CREATE TABLE test.t1(id int primary key, val varchar(16))"
RESTORED: Final = "CREATE TABLE `test`.`t1` (`id` INT PRIMARY KEY,`val` VARCHAR(16))"


def written(name: str, *events: Event) -> list[Written]:
    return FORMAT.write(History(events), FORMAT.profile(name), Layout(partitions=1))


def first_event(name: str, *events: Event) -> tuple[bytes, bytes]:
    """Key and value of the first event of the first record."""
    message = written(name, *events)[0].message
    (key, *_), (value, *_) = (
        split_events((message.key or b"")[8:]) or (),
        split_events(message.value or b"") or (),
    )
    return key, value


def test_the_document_s_statement_and_resolved_event() -> None:
    statement = model.SchemaChange(AT, "create table", CREATE, "test", "t1")
    key, value = first_event("v8.5.7", statement)
    assert key == b'{"ts":415508856908021766,"scm":"test","tbl":"t1","t":2}'
    assert value == f'{{"q":"{RESTORED}","t":3}}'.encode()
    (resolved,) = written("v8.5.7", Watermark(AT))
    document = b'{"ts":415508856908021766,"t":3}'
    assert resolved.message.key == b"\0\0\0\0\0\0\0\x01" + b"\0\0\0\0\0\0\0\x1f" + document
    assert resolved.message.value == bytes(8)
    assert [(mark.kind, mark.position, mark.database) for mark in resolved.changes] == [
        (Kind.WATERMARK, str(TS), None)
    ]


def test_a_row_of_the_document_s_table() -> None:
    key, value = first_event("new-8.5.6", insert(T1, {"id": 1, "val": "aa"}, AT))
    assert key == b'{"ts":415508856908021766,"scm":"test","tbl":"t1","t":1}'
    assert value == b'{"u":{"id":{"t":3,"h":true,"f":11,"v":1},"val":{"t":15,"f":64,"v":"aa"}}}'
    key, value = first_event("v8.5.7", change(T1, Op.DELETE, ({"id": 2, "val": None}, None), at=AT))
    assert key == b'{"ts":415508856908021766,"scm":"test","tbl":"t1","rid":2,"t":1}'
    assert value == b'{"d":{"id":{"t":3,"h":true,"f":11,"v":2},"val":{"t":15,"f":64,"v":null}}}'


EXAMPLES: Final[tuple[tuple[SourceType, Value, str], ...]] = (
    *(
        (mysql.integer("tinyint"), 1, '{"t":1,"v":1}'),
        (mysql.integer("smallint"), 1, '{"t":2,"v":1}'),
    ),
    *(
        (mysql.integer("int"), 123, '{"t":3,"v":123}'),
        (mysql.real("float"), mysql.to_float32(153.123), '{"t":4,"v":153.123}'),
    ),
    *(
        (mysql.real("double"), 153.123, '{"t":5,"v":153.123}'),
        (mysql.integer("bigint"), 123, '{"t":8,"v":123}'),
    ),
    (
        mysql.temporal("timestamp"),
        mysql.wall("1973-12-30 07:30:00"),
        '{"t":7,"v":"1973-12-30 15:30:00"}',
    ),
    *(
        (mysql.integer("mediumint"), 123, '{"t":9,"v":123}'),
        (mysql.TYPES["year"], 1970, '{"t":13,"v":1970}'),
    ),
    (mysql.TYPES["date"], date(2000, 1, 1), '{"t":10,"v":"2000-01-01"}'),
    (mysql.temporal("time"), (23 * 3600 + 59 * 60 + 59) * mysql.MICROS, '{"t":11,"v":"23:59:59"}'),
    (
        mysql.temporal("datetime"),
        mysql.wall("2015-12-20 23:58:58"),
        '{"t":12,"v":"2015-12-20 23:58:58"}',
    ),
    (mysql.text("varchar", 16), "test", '{"t":15,"v":"test"}'),
    (
        mysql.binary("varbinary", 16),
        b"\x89PNG\r\n\x1a\n",
        '{"t":15,"v":"\\\\x89PNG\\\\r\\\\n\\\\x1a\\\\n"}',
    ),
    (mysql.TYPES["bit-8"], 81, '{"t":16,"v":81}'),
    (mysql.json(), Json({"key1": "value1"}), '{"t":245,"v":"{\\"key1\\": \\"value1\\"}"}'),
    (mysql.TYPES["enum"], 1, '{"t":247,"v":1}'),
    (mysql.text("tinytext"), "测试text", '{"t":249,"v":"5rWL6K+VdGV4dA=="}'),
    (mysql.text("mediumtext"), "测试text", '{"t":250,"v":"5rWL6K+VdGV4dA=="}'),
    (mysql.text("longtext"), "测试text", '{"t":251,"v":"5rWL6K+VdGV4dA=="}'),
    (mysql.text("text"), "测试text", '{"t":252,"v":"5rWL6K+VdGV4dA=="}'),
    (mysql.text("char", 16), "test", '{"t":254,"v":"test"}'),
    (
        mysql.binary("binary", 8),
        b"\x89PNG\r\n\x1a\n",
        '{"t":254,"v":"\\\\x89PNG\\\\r\\\\n\\\\x1a\\\\n"}',
    ),
    (mysql.decimal(20, 7), mysql.Decimal("129012.1230000"), '{"t":246,"v":"129012.1230000"}'),
)
"""The column "Output Example" of the document's table of types, whose binaries have the backslashes
of a Markdown cell twice.
"""


@pytest.mark.parametrize(("type", "value", "shown"), EXAMPLES, ids=lambda v: getattr(v, "name", ""))
def test_the_document_s_examples_of_types(type: SourceType, value: Value, shown: str) -> None:
    table = Table("test", "t", (Column("c", type),))
    _, document = first_event("v8.5.7", insert(table, {"c": value}, AT))
    text = document.decode().removeprefix('{"u":{"c":').removesuffix("}}")
    assert text.replace(f'"f":{flags(table, table.columns[0])},', "") == shown


def test_a_bit_and_a_year_have_the_flag_unsigned() -> None:
    """A row as TiCDC v8.5.7 wrote it of an in-memory TiDB."""
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("y", mysql.TYPES["year"], False),
        Column("b", mysql.bit(3)),
        Column("e", mysql.enum_of("back\\slash", "it's", "汉字")),
    )
    _, value = first_event(
        "v8.5.7",
        insert(Table("audit", "1-a.b", columns, ("id",)), {"id": 1, "y": 2001, "b": 5, "e": 1}, AT),
    )
    assert value == (
        b'{"u":{"b":{"t":16,"f":193,"v":5},"e":{"t":247,"f":64,"v":1},"id":{"t":3,"h":true,"f":11,"v":1},'
        b'"y":{"t":13,"f":129,"v":2001}}}'
    )


def test_the_columns_of_indexes_that_are_not_unique_have_the_flag_of_several_columns() -> None:
    """The columns `status`, `signup_at`, `k` and `p` of rows that TiCDC v8.5.7 wrote of an
    in-memory TiDB: `k_status (status, signup_at DESC)` and `k_one (k)`.
    """
    columns = (
        Column("status", mysql.enum_of("active", "blocked"), False),
        Column("signup_at", mysql.temporal("timestamp"), False),
        Column("k", mysql.integer("int")),
        Column("p", mysql.integer("int")),
    )
    indexes = (
        Index("k_status", ("status", "signup_at")),
        Index("k_one", ("k",)),
    )
    table = Table("shop", "customers", columns, indexes=indexes)
    assert [flags(table, column) for column in columns] == [32, 33, 97, 65]


def test_a_record_ends_before_it_is_larger_than_a_message_may_be() -> None:
    row = Table(
        "test",
        "t",
        (Column("id", mysql.integer("int"), False), Column("v", mysql.text("varchar", 4000))),
        ("id",),
    )
    rows = [(None, {"id": i, "v": "x" * 3500}) for i in range(5)]
    statement = change(row, Op.INSERT, *rows)
    records = written("v8.5.7+handle-key-only", statement)
    # The profile's limit is 9,000 bytes, and each event has some 3,600.
    assert [len(split_events(record.message.value or b"") or ()) for record in records] == [2, 2, 1]
    assert all(
        len((record.message.key or b"") + (record.message.value or b"")) <= 9_000
        for record in records
    )
    assert [len(record.changes) for record in written("v8.5.7", statement)] == [5]


def test_a_statement_without_a_code_is_refused_by_its_name() -> None:
    statement = model.SchemaChange(AT, "repair table", CREATE, "test", "t1")
    with pytest.raises(Refused, match=r"'repair table' has no code of TiDB's here; .*'?add column"):
        written("v8.5.7", statement)


def test_flags_are_the_document_s_bits() -> None:
    columns = (
        Column("a", mysql.integer("int", unsigned=True), False),
        Column("b", mysql.text("varchar", 8), False),
        Column("c", mysql.text("text"), generated="stored"),
        Column("d", mysql.binary("blob")),
    )
    table = Table("test", "t", columns, ("a", "b"), (("d",),))
    key, several, nullable = 0x02 | 0x08, 0x20, 0x40
    wanted = [0x01 | key | several | 0x80, key | several, 0x04 | nullable, 0x01 | 0x10 | nullable]
    assert [flags(table, column) for column in columns] == wanted


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        *(
            (b"\x00\x07\x0b\x7f", "\\x00\\a\\v\\x7f"),
            (b'a"\\', 'a\\"\\\\'),
            ("é汉😀".encode(), "é汉😀"),
        ),
        *(
            ("\u00a0\u2028\U000e0001".encode(), "\\u00a0\\u2028\\U000e0001"),
            (b"\xc3(\xed\xa0\x80", "\\xc3(\\xed\\xa0\\x80"),
        ),
        ("\ufffd".encode(), "\ufffd"),
    ],
)
def test_quoted_bytes_are_those_of_strconv_quote(raw: bytes, shown: str) -> None:
    assert go_quoted(raw) == shown


def test_sixteen_rows_share_a_record_and_every_event_is_behind_its_length() -> None:
    bag = Table("test", "bag", (Column("a", mysql.integer("int")),))
    records = written(
        "v8.5.7", change(bag, Op.INSERT, *((None, {"a": i}) for i in range(35)), at=AT)
    )
    assert [len(record.changes) for record in records] == [16, 16, 3]
    assert [[c.row for c in record.changes] for record in records] == [
        [*range(16)],
        [*range(16)],
        [0, 1, 2],
    ]
    for record in records:
        key, value = record.message.key or b"", record.message.value or b""
        assert key[:8] == b"\0\0\0\0\0\0\0\x01"
        assert (
            len(split_events(key[8:]) or ())
            == len(split_events(value) or ())
            == len(record.changes)
        )
    assert (
        len(
            written(
                "v8.5.7+one-row",
                change(bag, Op.INSERT, *((None, {"a": i}) for i in range(3)), at=AT),
            )
        )
        == 3
    )


def test_an_update_without_p_is_an_insert_or_an_update() -> None:
    row = {"id": 1, "val": "x"}
    for name, event in (
        ("v8.5.7+without-before", change(T1, Op.UPDATE, (row, {**row, "val": "y"}), at=AT)),
        ("v8.5.7+only-updated", change(T1, Op.UPDATE, (row, row), at=AT)),
    ):
        (record,) = written(name, event)
        assert b'"p"' not in (record.message.value or b"")
        assert (record.changes[0].op, record.changes[0].accept) == (
            Op.INSERT,
            ((Kind.ROW, Op.UPDATE),),
        )
    _, value = first_event("new-8.5.6+only-updated", change(T1, Op.UPDATE, (row, row), at=AT))
    assert value.endswith(b',"p":{}}')


def test_json_is_escaped_as_each_architecture_does() -> None:
    event = insert(T1, {"id": 1, "val": "<&>\x08\u2028"}, AT)
    shown = {
        name: first_event(name, event)[1].split(b'"v":"')[1].split(b'"')[0]
        for name in ("v7.1.6", "v8.5.7", "new-8.5.6")
    }
    assert shown == {
        "v7.1.6": b"\\u003c\\u0026\\u003e\\u0008\\u2028",
        "v8.5.7": b"\\u003c\\u0026\\u003e\\b\\u2028",
        "new-8.5.6": "<&>\\u0008\u2028".encode(),
    }


def test_the_oracle_reads_what_is_framed() -> None:
    assert FORMAT.oracle is not None
    (record,) = written("v8.5.7", insert(T1, {"id": 1, "val": "x"}, AT))
    value = record.message.value or b""
    states = [
        FORMAT.oracle(data).state
        for data in (value, value + value, bytes(8), value[:-1], value[8:], b"", value + b"\0")
    ]
    assert states == [State.READABLE] * 3 + [State.UNREADABLE] * 4
    assert {"text", "blob"} <= BASE64


PARTITIONED: Final = model.SchemaChange(
    AT,
    "create table",
    "create table t1 (id int primary key, val varchar(16)) partition by hash (id) partitions 4",
    "test",
    "t1",
    after=T1,
)


def keys_of(name: str, *events: Event) -> list[bytes]:
    """The key of every event of one row each, in the order of the records."""
    return [
        part
        for record in written(name, *events)
        if record.changes[0].kind is Kind.ROW
        for part in split_events((record.message.key or b"")[8:]) or []
    ]


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("v8.5.7", '"tbl":"t1","rid":{id},"ptn":{ptn},', '"t":1}'),
        ("new-8.5.6", '"tbl":"t1","t":1,', '"ptn":{ptn}}'),
    ],
)
def test_a_row_of_a_partitioned_table_has_the_id_of_its_partition(
    name: str, start: str, end: str
) -> None:
    """ticdc-open#keys; recorded: `"tbl":"events_log","rid":1,"ptn":125,"t":1`."""
    rows = [insert(T1, {"id": i, "val": "a"}, AT) for i in (1, 5, 2)]
    first, same, other = keys_of(name, PARTITIONED, *rows)
    one = int(first.split(b'"ptn":')[1].rstrip(b"}").split(b",")[0])
    head = '{"ts":415508856908021766,"scm":"test",'

    def key(number: int, partition_id: int) -> bytes:
        values = {"{id}": str(number), "{ptn}": str(partition_id)}
        shown = start + end
        for placeholder, digits in values.items():
            shown = shown.replace(placeholder, digits)
        return (head + shown).encode()

    assert [first, same, other] == [key(1, one), key(5, one), key(2, one + 1)]


def test_a_table_whose_partitions_were_removed_has_no_ptn() -> None:
    removed = model.SchemaChange(
        AT,
        "remove partitioning",
        "alter table t1 remove partitioning",
        "test",
        "t1",
        T1,
        T1,
    )
    row = insert(T1, {"id": 1, "val": "a"}, AT)
    assert keys_of("v8.5.7", PARTITIONED, removed, row) == [
        b'{"ts":415508856908021766,"scm":"test","tbl":"t1","rid":1,"t":1}'
    ]


def test_a_row_without_a_clustered_integer_key_has_a_number_of_tidb_s_own() -> None:
    """ticdc-open#keys; recorded of `primary key (payment_id) nonclustered`: `"rid":1`."""
    text_key = replace(T1, columns=(Column("id", mysql.text("varchar", 8), nullable=False),))
    nonclustered = replace(text_key, indexes=(Index("PRIMARY", ("id",), unique=True),))
    (clustered_key,) = keys_of("v8.5.7", insert(text_key, {"id": "a"}, AT))
    (key,) = keys_of("v8.5.7", insert(nonclustered, {"id": "a"}, AT))
    assert clustered_key == b'{"ts":415508856908021766,"scm":"test","tbl":"t1","t":1}'
    assert re.fullmatch(
        rb'\{"ts":415508856908021766,"scm":"test","tbl":"t1","rid":[1-9]\d*,"t":1\}', key
    )


@pytest.mark.parametrize(
    ("name", "shown"), [("v8.5.7", b'"v":1.5e-7}'), ("new-8.5.7", b'"v":1.5e-07}')]
)
def test_an_exponent_has_two_digits_in_the_new_architecture(name: str, shown: bytes) -> None:
    """Its library of JSON is json-iterator (ticdc-open#numbers)."""
    table = Table("d", "t", (T1.columns[0], Column("c", mysql.real("double"))), ("id",))
    _, value = first_event(name, insert(table, {"id": 1, "c": 1.5e-7}))
    assert shown in value
