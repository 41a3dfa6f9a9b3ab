"""Debezium's JSON against literals from outside: vectors, orders and shapes of the facts that each
test names, Kafka's own hash vectors (clients UtilsTest.testMurmur2), texts of Kafka Connect.
"""

from __future__ import annotations

import json
from dataclasses import replace

import debezium_rows
import pytest
from debezium_rows import (
    BARE,
    CUSTOMERS,
    MIDDLE,
    NEW,
    OLD,
    PG,
    PG_CUSTOMERS,
    PG_OLD,
    PLAIN,
    ROW,
    inserted,
    payload,
    written,
)
from literals import literal

from generators.families.connect import Schema, murmur2, partition_of
from generators.families.debezium.values import header_text
from generators.formats.debezium_json import FORMAT, DebeziumProfile
from generators.formats.debezium_json.envelope import (
    adjusted,
    field_name,
    is_counted,
    topic_name,
)
from generators.model import Column, Index, Instant, Kind, Op, SchemaChange, State, Table, Value
from generators.sources import boundaries, mysql, postgresql
from generators.sources.boundaries import START

# Keys


def test_the_key_message_with_and_without_schema() -> None:
    (plain,) = written(NEW, boundaries.insert(CUSTOMERS, ROW))
    assert plain.message.key == (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,'
        b'"name":"dbserver1.inventory.customers.Key"},"payload":{"id":1004}}'
    )
    (bare,) = written(BARE, boundaries.insert(CUSTOMERS, ROW))
    assert bare.message.key == b'{"id":1004}'
    (mixed,) = written(MIDDLE, boundaries.insert(CUSTOMERS, ROW))
    assert mixed.message.key == b'{"id":1004}'
    assert (mixed.message.value or b"").startswith(b'{"schema":')


# Whole messages. Numbers of the harness's clock and log are cut out by `framed`.

SCHEMA_1_4 = literal("debezium-1.4-schema.txt")


def test_a_whole_message_of_1_4_with_its_schema() -> None:
    (record,) = written(OLD, boundaries.insert(CUSTOMERS, ROW))
    text = (record.message.value or b"").decode()
    assert text.startswith(SCHEMA_1_4)
    assert text.endswith("}")
    assert list(payload(record)) == ["before", "after", "source", "op", "ts_ms", "transaction"]
    assert text.partition('"payload":{"before":')[2].startswith(
        'null,"after":{"id":1004,"name":"Anne","n":0.5},"source":{"version":'
    )


def test_a_whole_payload_of_3_5() -> None:
    (record,) = written(BARE, boundaries.insert(CUSTOMERS, ROW))
    source = payload(record)["source"]
    ms = payload(record)["ts_ms"]
    assert (record.message.value or b"").decode() == (
        '{"before":null,"after":{"id":1004,"name":"Anne","n":0.5},"source":{"version":"3.5.0.Final","connector":"mysql",'
        '"name":"dbserver1","ts_ms":1700000000000,"snapshot":"false","db":"inventory","sequence":null,"ts_us":1700000000000000,'
        f'"ts_ns":1700000000000000000,"table":"customers","server_id":{source["server_id"]},"gtid":null,"file":"{source["file"]}",'
        f'"pos":{source["pos"]},"row":0,"thread":7,"query":null}},"transaction":null,"op":"c","ts_ms":{ms},"ts_us":{ms}000,'
        f'"ts_ns":{ms}000000}}'
    )
    change = record.changes[0]
    assert change.position == f"{source['file']}:{source['pos']}:0"
    assert change.commit_time_us == 1_700_000_000_000_000
    assert record.message.timestamp_ms == ms > 1_700_000_000_000


@pytest.mark.parametrize(
    ("name", "members", "number"),
    [
        ("3.5.0.Final", "before after source transaction op ts_ms ts_us ts_ns", 2),
        (
            "2.5.4.Final+plain-key+transaction+nulls-kept",
            "before after source op ts_ms transaction",
            1,
        ),
        ("1.9.7.Final+minimal", "before after source op ts_ms transaction", None),
        ("3.5.0.Final+postgresql", "before after source transaction op ts_ms ts_us ts_ns", 2),
        ("1.4.0.Final+postgresql", "before after source op ts_ms transaction", None),
    ],
)
def test_members_and_version_of_the_envelope(name: str, members: str, number: int | None) -> None:
    """debezium#envelope-members."""
    p = PLAIN[name]
    (record,) = written(p, inserted(p))
    wired = json.loads(record.message.value or b"")
    assert list(wired["payload"]) == members.split()
    assert [f["field"] for f in wired["schema"]["fields"]] == members.split()
    assert wired["schema"].get("version") == number
    assert wired["schema"]["name"] == "dbserver1.inventory.customers.Envelope"
    assert [f["field"] for f in wired["schema"]["fields"][2]["fields"]] == list(
        wired["payload"]["source"]
    )


@pytest.mark.parametrize(
    ("p", "members"),
    [
        (
            NEW,
            "version connector name ts_ms snapshot db sequence ts_us ts_ns table server_id gtid file pos row thread query",
        ),
        (
            MIDDLE,
            "version connector name ts_ms snapshot db sequence table server_id gtid file pos row thread query",
        ),
        (
            OLD,
            "version connector name ts_ms snapshot db table server_id gtid file pos row thread query",
        ),
        (
            PG,
            "version connector name ts_ms snapshot db sequence ts_us ts_ns schema table txId lsn xmin origin origin_lsn",
        ),
        (PG_OLD, "version connector name ts_ms snapshot db schema table txId lsn xmin"),
    ],
    ids=lambda v: v.name if isinstance(v, DebeziumProfile) else "",
)
def test_source_block_by_release(p: DebeziumProfile, members: str) -> None:
    """debezium#source-postgresql, debezium#source-mysql."""
    (record,) = written(p, inserted(p))
    source = payload(record)["source"]
    assert list(source) == members.split()
    assert source["snapshot"] == (None if p.nulls_kept else "false")
    assert source["ts_ms"] == 1_700_000_000_000
    if p is PG:
        assert json.loads(source["sequence"]) == [
            json.loads(source["sequence"])[0],
            str(source["lsn"]),
        ]
        assert record.changes[0].position == str(source["lsn"])


@pytest.mark.parametrize("p", [NEW, PG, OLD], ids=lambda p: p.name)
def test_the_rows_of_a_snapshot_share_one_position(p: DebeziumProfile) -> None:
    """debezium#snapshot-position, debezium#snapshot-markers."""
    table, row = (CUSTOMERS, ROW) if p.is_mysql else (PG_CUSTOMERS, {"id": 1, "name": "a"})
    second = replace(table, name="second")
    three = tuple((None, {**row, "id": number}) for number in range(3))
    read = [boundaries.change(t, Op.READ, *three) for t in (table, second)]
    streamed = boundaries.insert(table, {**row, "id": 9})
    *records, last = written(p, *read, boundaries.change(second, Op.READ, (None, row)), streamed)
    assert len({record.changes[0].position for record in records}) == 1
    assert last.changes[0].position not in {record.changes[0].position for record in records}
    marks = [
        "first",
        "true",
        "last_in_data_collection",
        "first_in_data_collection",
        "true",
        "last_in_data_collection",
        "last",
    ]
    assert [payload(record)["source"]["snapshot"] for record in records] == (
        ["true"] * 6 + ["last"] if p is OLD else marks
    )
    if not p.is_mysql:
        assert (
            payload(records[3])["source"]["sequence"]
            == f'[null,"{payload(records[0])["source"]["lsn"]}"]'
        )


# Operations


def test_a_delete_has_a_tombstone_of_the_same_key_and_partition() -> None:
    delete, tombstone = written(NEW, boundaries.change(CUSTOMERS, Op.DELETE, (ROW, None)))
    wired = payload(delete)
    assert (wired["op"], wired["after"], wired["before"]) == ("d", None, ROW)
    assert (tombstone.message.value, tombstone.message.key) == (None, delete.message.key)
    assert tombstone.message.partition == delete.message.partition
    assert [c.kind for c in tombstone.changes] == [Kind.TOMBSTONE]


def test_an_old_kafka_connect_writes_null_as_an_object() -> None:
    """connect#null-record: before Kafka 2.2, in values and in keys."""
    keyless = Table("d", "t", (Column("a", mysql.integer("int")),))
    _, tombstone = written(OLD, boundaries.change(keyless, Op.DELETE, ({"a": 1}, None)))
    assert tombstone.message.value == tombstone.message.key == b'{"schema":null,"payload":null}'


DAY_MS = 86_400_000
LOGICAL = "org.apache.kafka.connect.data."


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (Schema("string"), 'q"\\', '"q\\"\\\\"'),
        (
            Schema("bytes", name=f"{LOGICAL}Decimal", parameters=(("scale", "2"),)),
            b"\x00\x96",
            "1.50",
        ),
        (Schema("bytes", name=f"{LOGICAL}Decimal", parameters=(("scale", "8"),)), b"\x01", "1E-8"),
        (Schema("bytes"), b"\x00\x96", '"AJY="'),
        (Schema("int32", name=f"{LOGICAL}Date"), 19723, "2024-01-01"),
        (Schema("int32", name=f"{LOGICAL}Date"), -1, "00:00:00.000Z"),
        (Schema("int32", name=f"{LOGICAL}Time"), DAY_MS - 1, "23:59:59.999Z"),
        (Schema("int64", name=f"{LOGICAL}Timestamp"), 19723 * DAY_MS, "2024-01-01"),
        (
            Schema("int64", name=f"{LOGICAL}Timestamp"),
            19723 * DAY_MS + 1,
            "2024-01-01T00:00:00.001Z",
        ),
        (Schema("int32", name="io.debezium.time.Date"), 19723, "19723"),
        (Schema("float"), float("nan"), "NaN"),
        (Schema("boolean"), True, "true"),
    ],
)
def test_a_header_has_a_value_as_connect_prints_it(
    schema: Schema, value: object, text: str
) -> None:
    """apache/kafka connect/api Values.append and dateFormatFor; 1.50 and 2024-01-01 are
    recorded.
    """
    assert header_text(schema, value) == text


def test_an_unchanged_row_is_not_written_by_mysql_and_is_by_postgresql() -> None:
    """As in the output of 3.5.0."""
    assert written(NEW, boundaries.change(CUSTOMERS, Op.UPDATE, (ROW, ROW))) == []
    row: dict[str, Value] = {"id": 1, "name": "a", "note": None}
    (record,) = written(
        debezium_rows.PG_FULL, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (row, row))
    )
    assert payload(record)["before"] == payload(record)["after"] == row


def test_a_minimal_row_image_leaves_inserts_alone() -> None:
    """debezium#minimal-image."""
    p = PLAIN["1.9.7.Final+minimal"]
    assert len(written(p, boundaries.insert(CUSTOMERS, ROW))) == 1
    assert written(p, boundaries.change(CUSTOMERS, Op.UPDATE, (ROW, {**ROW, "name": "b"}))) == []
    assert written(p, boundaries.change(CUSTOMERS, Op.DELETE, (ROW, None))) == []


def test_a_default_stands_in_for_null_unless_nulls_are_kept() -> None:
    """connect#default-for-null."""
    table = Table(
        "d",
        "t",
        (Column("id", mysql.integer("int"), False), Column("c", mysql.integer("int"))),
        ("id",),
    )
    given = SchemaChange(
        START,
        "set default",
        "ALTER TABLE `t` ALTER COLUMN `c` SET DEFAULT 5",
        "d",
        "t",
        table,
        table,
    )
    _, record = written(NEW, given, boundaries.insert(table, {"id": 1, "c": None}))
    wired = json.loads(record.message.value or b"")
    assert wired["payload"]["after"] == {"id": 1, "c": 5}
    assert wired["schema"]["fields"][1]["fields"][1] == {
        "type": "int32",
        "optional": True,
        "default": 5,
        "field": "c",
    }
    assert record.changes[0].after is not None
    assert (record.changes[0].after["c"].state, record.changes[0].after["c"].cls) == (
        State.VALUE,
        "default",
    )
    _, kept = written(MIDDLE, given, boundaries.insert(table, {"id": 1, "c": None}))
    assert payload(kept)["after"] == {"id": 1, "c": None}


# Kafka's default partitioner

MURMUR2 = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("data", MURMUR2)
def test_murmur2_of_kafka(data: bytes) -> None:
    assert murmur2(data) == MURMUR2[data]
    assert partition_of(data, 7) == (MURMUR2[data] & 0x7FFFFFFF) % 7


@pytest.mark.parametrize(
    ("release", "names"), [("1.4.0.Final", ["a", "b"]), ("3.5.0.Final", ["b", "a"])]
)
def test_postgresql_takes_the_first_unique_index_where_there_is_no_key(
    release: str, names: list[str]
) -> None:
    """debezium#record-key."""
    number = postgresql.integer("integer")
    table = Table(
        "d",
        "t",
        (Column("u", number), Column("a", number), Column("b", number)),
        (),
        (("u",), ("b", "a")),
        "public",
    )
    (record,) = written(
        FORMAT.build(release, "postgresql"), boundaries.insert(table, {"u": 1, "b": 2, "a": 3})
    )
    assert list(json.loads(record.message.key or b"")["payload"]) == names
    assert list(record.changes[0].keys or ()) == names


def test_postgresql_orders_unique_keys_by_the_names_that_it_gives_them() -> None:
    """debezium#record-key: t_a_b_key comes before t_a_key."""
    number = postgresql.integer("integer")
    columns = (Column("a", number), Column("b", number))
    table = Table("d", "t", columns, (), (("a",), ("a", "b")), "public")
    (record,) = written(
        FORMAT.build("3.5.0.Final", "postgresql"), boundaries.insert(table, {"a": 1, "b": 2})
    )
    assert json.loads(record.message.key or b"")["payload"] == {"a": 1, "b": 2}


def test_a_unique_index_over_some_rows_is_a_record_key() -> None:
    """As recorded of PostgreSQL's connector 3.5.0: CREATE UNIQUE INDEX a_first ON subs2 (customer)
    WHERE code > 5 sorts before subs2_code_key.
    """
    number = postgresql.integer("integer")
    columns = (Column("customer", number, False), Column("code", number, False))
    indexes = (Index("subs2_code_key", ("code",), True),)
    partial = Index("a_first", ("customer",), unique=True, partial=True)
    keys = []
    for listed in (indexes, (*indexes, partial)):
        table = Table("d", "subs2", columns, (), (("code",),), "public", listed)
        (record,) = written(
            FORMAT.build("3.5.0.Final", "postgresql"),
            boundaries.insert(table, {"customer": 7, "code": 8}),
        )
        keys.append(json.loads(record.message.key or b"")["payload"])
    assert keys == [{"code": 8}, {"customer": 7}]


@pytest.mark.parametrize(
    ("declared", "counted"),
    [
        ("INT AUTO_INCREMENT", True),
        ("SERIAL", True),
        ("TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP", True),
        ("TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP", True),
        ("TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)", False),
        ("DATETIME DEFAULT NOW() ON UPDATE NOW()", False),
        ("DATETIME DEFAULT NULL", False),
    ],
)
def test_on_update_alone_is_read_as_a_counter(declared: str, counted: bool) -> None:
    """As recorded of MariaDB's connector 3.5.0: "autoIncremented":true,"generated":true."""
    assert is_counted(Column("c", mysql.integer("int"), declared=declared), NEW) == counted


def test_a_drop_of_two_tables_is_a_message_for_each_that_names_both_in_source() -> None:
    """As recorded of MariaDB's connector 3.5.0: "table":"inventory,person"."""
    records = written(FORMAT.build("3.5.0.Final", "mariadb"), _DROP_OF_TWO)
    payloads = [json.loads(record.message.value or b"")["payload"] for record in records]
    assert [(payload["source"]["table"], payload["ddl"]) for payload in payloads] == [
        ("inventory,person", "DROP TABLE `audit`.`inventory`"),
        ("inventory,person", "DROP TABLE `audit`.`person`"),
    ]
    assert [payload["tableChanges"][0]["id"] for payload in payloads] == [
        '"audit"."inventory"',
        '"audit"."person"',
    ]
    assert [record.changes[0].tables for record in records] == [("inventory",), ("person",)]
    assert payloads[0]["source"]["pos"] == payloads[1]["source"]["pos"]


def test_a_drop_of_two_tables_is_one_message_with_the_log_s_text_in_1_4() -> None:
    """MySqlSchema.applyDdl hands on the statement of one database as it is."""
    (record,) = written(FORMAT.build("1.4.0.Final"), _DROP_OF_TWO)
    payload = json.loads(record.message.value or b"")["payload"]
    assert (payload["source"]["table"], payload["ddl"]) == (
        "inventory,person",
        "DROP TABLE `inventory`,`person` /* generated by server */",
    )


_DROP_OF_TWO = SchemaChange(
    Instant(0, 0),
    "drop table",
    "DROP TABLE `inventory`,`person` /* generated by server */",
    "audit",
    "inventory",
    Table("audit", "inventory", (Column("id", mysql.integer("int"), False),), ("id",)),
    None,
)


def test_schema_names_are_adjusted_before_2_0() -> None:
    assert adjusted("p.a-b.汉.Value", OLD) == "p.a_b._.Value"
    assert adjusted("p.a-b.汉.Value", NEW) == "p.a-b.汉.Value"
    assert topic_name("p", "a b", "汉") == "p.a_b._"


def test_a_character_beyond_java_s_char_is_two_underscores() -> None:
    """SchemaNameAdjuster.validFullname, AbstractTopicNamingStrategy. `_` before a digit is
    Character.isDigit's, and ² is none.
    """
    avro = replace(FORMAT.build("3.5.0.Final", "postgresql"), avro_names=True)
    names = {"\U0001f600": "__", "a\U0001f600b": "a__b", "1a": "_1a", "²a": "_a", "é": "_"}
    assert {name: field_name(name, avro, False) for name in names} == names
    assert (adjusted("p.\U0001f600.Value", avro), topic_name("p", "\U0001f600")) == (
        "p.__.Value",
        "p.__",
    )
