"""Debezium's JSON against literals from outside: vectors, orders and shapes of the facts that each test names, Kafka's own hash
vectors (clients UtilsTest.testMurmur2), texts of Kafka Connect."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from generators.errors import UsageError
from generators.families.connect import Schema, murmur2, partition_of
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.postgresql import UNAVAILABLE
from generators.families.debezium.values import Modes, header_text
from generators.formats.debezium_json import PROFILES, DebeziumProfile, profile, write
from generators.formats.debezium_json.envelope import adjusted, mangled, source_parameters, table_changes, topic_name
from generators.model import (
    Change,
    Column,
    Default,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    RowChange,
    RowImages,
    SchemaChange,
    SourceStatement,
    SourceType,
    State,
    Table,
    TransactionMark,
    Value,
    Written,
)
from generators.sources import boundaries, mysql, postgresql
from generators.sources.boundaries import START

PLAIN = {p.name: p for p in PROFILES}
NEW, BARE = PLAIN["3.5.0.Final"], PLAIN["3.5.0.Final+schemaless"]
MIDDLE = PLAIN["2.5.4.Final+plain-key+transaction+nulls-kept"]
OLD = PLAIN["1.4.0.Final+legacy-tombstone+string+connect+base64"]
PG = PLAIN["3.5.0.Final+postgresql"]
PG_FULL = PLAIN["3.5.0.Final+postgresql+full+schemaless+transaction+string+connect+base64+interval-string"]
PG_OLD = PLAIN["1.4.0.Final+postgresql"]
CUSTOMERS = Table(
    "inventory",
    "customers",
    (
        Column("id", mysql.integer("int"), False),
        Column("name", mysql.text("varchar", 255), False),
        Column("n", mysql.real("double")),
    ),
    ("id",),
)
PG_CUSTOMERS = Table(
    "shop",
    "customers",
    (
        Column("id", postgresql.integer("integer"), False),
        Column("name", postgresql.text("varchar", 255), False),
        Column("note", postgresql.text("text")),
    ),
    ("id",),
    schema="inventory",
)
ROW: dict[str, Value] = {"id": 1004, "name": "Anne", "n": 0.5}


def written(p: DebeziumProfile, *events: Event, partitions: int = 3) -> list[Written]:
    return write(History(events), p, Layout("dbserver1", partitions))


def inserted(p: DebeziumProfile) -> RowChange:
    return boundaries.insert(CUSTOMERS, ROW) if p.is_mysql else boundaries.insert(PG_CUSTOMERS, {"id": 1, "name": "a"})


def payload(one: Written) -> dict[str, Any]:
    assert one.message.value is not None
    found = json.loads(one.message.value)
    inner = found["payload"] if list(found) == ["schema", "payload"] else found
    assert isinstance(inner, dict)
    return inner


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


def test_key_columns_stand_in_the_keys_order_and_keyless_tables_have_no_key() -> None:
    (found,) = written(BARE, boundaries.insert(boundaries.COMPOSITE, {"order": 7, "a b": "x"}))
    assert found.message.key == b'{"a b":"x","order":7}'
    assert found.changes[0].keys == ("a b", "order")
    (found,) = written(BARE, boundaries.insert(boundaries.KEYLESS, {"a": 1}))
    assert (found.message.key, found.changes[0].keys) == (None, None)


@pytest.mark.parametrize(("release", "names"), [("1.4.0.Final", ["a", "b"]), ("3.5.0.Final", ["b", "a"])])
def test_postgresql_takes_the_first_unique_index_where_there_is_no_key(release: str, names: list[str]) -> None:
    """debezium#record-key."""
    number = postgresql.integer("integer")
    table = Table("d", "t", (Column("u", number), Column("a", number), Column("b", number)), (), (("u",), ("b", "a")), "public")
    (found,) = written(profile(release, "postgresql"), boundaries.insert(table, {"u": 1, "b": 2, "a": 3}))
    assert list(json.loads(found.message.key or b"")["payload"]) == names
    assert list(found.changes[0].keys or ()) == names


def test_a_decimal_in_a_key_is_base64() -> None:
    table = Table("d", "t", (Column("k", mysql.decimal(10, 2), False),), ("k",))
    (found,) = written(BARE, boundaries.insert(table, {"k": Decimal("123.45")}))
    assert found.message.key == b'{"k":"MDk="}'


# Whole messages. Numbers of the harness's clock and log are cut out by `framed`.

SCHEMA_1_4 = (
    '{"schema":{"type":"struct","fields":['
    '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":false,"field":"name"},'
    '{"type":"double","optional":true,"field":"n"}],"optional":true,"name":"dbserver1.inventory.customers.Value","field":"before"},'
    '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":false,"field":"name"},'
    '{"type":"double","optional":true,"field":"n"}],"optional":true,"name":"dbserver1.inventory.customers.Value","field":"after"},'
    '{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},'
    '{"type":"string","optional":false,"field":"connector"},{"type":"string","optional":false,"field":"name"},'
    '{"type":"int64","optional":false,"field":"ts_ms"},{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,'
    '"parameters":{"allowed":"true,last,false"},"default":"false","field":"snapshot"},'
    '{"type":"string","optional":false,"field":"db"},{"type":"string","optional":true,"field":"table"},'
    '{"type":"int64","optional":false,"field":"server_id"},{"type":"string","optional":true,"field":"gtid"},'
    '{"type":"string","optional":false,"field":"file"},{"type":"int64","optional":false,"field":"pos"},'
    '{"type":"int32","optional":false,"field":"row"},{"type":"int64","optional":true,"field":"thread"},'
    '{"type":"string","optional":true,"field":"query"}],"optional":false,"name":"io.debezium.connector.mysql.Source",'
    '"field":"source"},{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"},'
    '{"type":"struct","fields":[{"type":"string","optional":false,"field":"id"},'
    '{"type":"int64","optional":false,"field":"total_order"},{"type":"int64","optional":false,"field":"data_collection_order"}],'
    '"optional":true,"field":"transaction"}],"optional":false,"name":"dbserver1.inventory.customers.Envelope"},"payload":'
)


def test_a_whole_message_of_1_4_with_its_schema() -> None:
    (found,) = written(OLD, boundaries.insert(CUSTOMERS, ROW))
    text = (found.message.value or b"").decode()
    assert text.startswith(SCHEMA_1_4)
    assert text.endswith("}")
    assert list(payload(found)) == ["before", "after", "source", "op", "ts_ms", "transaction"]
    assert text.partition('"payload":{"before":')[2].startswith(
        'null,"after":{"id":1004,"name":"Anne","n":0.5},"source":{"version":'
    )


def test_a_whole_payload_of_3_5() -> None:
    (found,) = written(BARE, boundaries.insert(CUSTOMERS, ROW))
    source = payload(found)["source"]
    ms = payload(found)["ts_ms"]
    assert (found.message.value or b"").decode() == (
        '{"before":null,"after":{"id":1004,"name":"Anne","n":0.5},"source":{"version":"3.5.0.Final","connector":"mysql",'
        '"name":"dbserver1","ts_ms":1700000000000,"snapshot":"false","db":"inventory","sequence":null,"ts_us":1700000000000000,'
        f'"ts_ns":1700000000000000000,"table":"customers","server_id":{source["server_id"]},"gtid":null,"file":"{source["file"]}",'
        f'"pos":{source["pos"]},"row":0,"thread":7,"query":null}},"transaction":null,"op":"c","ts_ms":{ms},"ts_us":{ms}000,'
        f'"ts_ns":{ms}000000}}'
    )
    change = found.changes[0]
    assert change.position == f"{source['file']}:{source['pos']}:0"
    assert change.commit_time_us == 1_700_000_000_000_000
    assert found.message.timestamp_ms == ms > 1_700_000_000_000


@pytest.mark.parametrize(
    ("name", "members", "number"),
    [
        ("3.5.0.Final", "before after source transaction op ts_ms ts_us ts_ns", 2),
        ("2.5.4.Final+plain-key+transaction+nulls-kept", "before after source op ts_ms transaction", 1),
        ("1.9.7.Final+minimal", "before after source op ts_ms transaction", None),
        ("3.5.0.Final+postgresql", "before after source transaction op ts_ms ts_us ts_ns", 2),
        ("1.4.0.Final+postgresql", "before after source op ts_ms transaction", None),
    ],
)
def test_members_and_version_of_the_envelope(name: str, members: str, number: int | None) -> None:
    """debezium#envelope-members."""
    p = PLAIN[name]
    (found,) = written(p, inserted(p))
    wired = json.loads(found.message.value or b"")
    assert list(wired["payload"]) == members.split()
    assert [f["field"] for f in wired["schema"]["fields"]] == members.split()
    assert wired["schema"].get("version") == number
    assert wired["schema"]["name"] == "dbserver1.inventory.customers.Envelope"
    assert [f["field"] for f in wired["schema"]["fields"][2]["fields"]] == list(wired["payload"]["source"])


@pytest.mark.parametrize(
    ("p", "members"),
    [
        (NEW, "version connector name ts_ms snapshot db sequence ts_us ts_ns table server_id gtid file pos row thread query"),
        (MIDDLE, "version connector name ts_ms snapshot db sequence table server_id gtid file pos row thread query"),
        (OLD, "version connector name ts_ms snapshot db table server_id gtid file pos row thread query"),
        (PG, "version connector name ts_ms snapshot db sequence ts_us ts_ns schema table txId lsn xmin origin origin_lsn"),
        (PG_OLD, "version connector name ts_ms snapshot db schema table txId lsn xmin"),
    ],
    ids=lambda v: v.name if isinstance(v, DebeziumProfile) else "",
)
def test_source_block_by_release(p: DebeziumProfile, members: str) -> None:
    """debezium#source-postgresql, debezium#source-mysql."""
    (found,) = written(p, inserted(p))
    source = payload(found)["source"]
    assert list(source) == members.split()
    assert source["snapshot"] == (None if p.nulls_kept else "false")
    assert source["ts_ms"] == 1_700_000_000_000
    if p is PG:
        assert json.loads(source["sequence"]) == [json.loads(source["sequence"])[0], str(source["lsn"])]
        assert found.changes[0].position == str(source["lsn"])


def test_snapshot_values() -> None:
    """debezium#snapshot-member: written values may exceed `allowed`."""
    rows = tuple((None, {**ROW, "id": i}) for i in range(3))
    for p, marks in ((NEW, ["first", "true", "last"]), (OLD, ["true", "true", "last"])):
        found = written(p, boundaries.change(CUSTOMERS, Op.READ, *rows))
        assert [payload(one)["source"]["snapshot"] for one in found] == marks
        assert [payload(one)["op"] for one in found] == ["r"] * 3
        assert {one.changes[0].op for one in found} == {Op.READ}


@pytest.mark.parametrize("p", [NEW, PG, OLD], ids=lambda p: p.name)
def test_the_rows_of_a_snapshot_share_one_position(p: DebeziumProfile) -> None:
    """debezium#snapshot-position, debezium#snapshot-markers."""
    table, row = (CUSTOMERS, ROW) if p.is_mysql else (PG_CUSTOMERS, {"id": 1, "name": "a"})
    second = replace(table, name="second")
    three = tuple((None, {**row, "id": number}) for number in range(3))
    read = [boundaries.change(one, Op.READ, *three) for one in (table, second)]
    streamed = boundaries.insert(table, {**row, "id": 9})
    *found, last = written(p, *read, boundaries.change(second, Op.READ, (None, row)), streamed)
    assert len({one.changes[0].position for one in found}) == 1
    assert last.changes[0].position not in {one.changes[0].position for one in found}
    marks = ["first", "true", "last_in_data_collection", "first_in_data_collection", "true", "last_in_data_collection", "last"]
    assert [payload(one)["source"]["snapshot"] for one in found] == (["true"] * 6 + ["last"] if p is OLD else marks)
    if not p.is_mysql:
        assert payload(found[3])["source"]["sequence"] == f'[null,"{payload(found[0])["source"]["lsn"]}"]'


def test_a_streamed_boolean_is_true_or_false() -> None:
    """debezium#boolean-tinyint."""
    table = Table(
        "d", "t", (Column("id", mysql.integer("int"), False), Column("c", mysql.boolean(), declared="Boolean")), ("id",)
    )
    for op, schema, shown in ((Op.INSERT, "boolean", [False, True, True, None]), (Op.READ, "int16", [0, 1, 7, None])):
        rows = [(None, {"id": 1, "c": value}) for value in (0, 1, 7, None)]
        found = written(NEW, boundaries.change(table, op, *rows))
        assert [payload(one)["after"]["c"] for one in found] == shown
        assert json.loads(found[0].message.value or b"")["schema"]["fields"][1]["fields"][1]["type"] == schema
        assert [one.changes[0].after["c"].value for one in found if one.changes[0].after] == [
            None if v is None else int(v) for v in shown
        ]


def test_postgresql_times_are_adaptive_by_default() -> None:
    """debezium#time-adaptive."""
    columns = (Column("id", postgresql.integer(), False), *(Column(f"t{n}", postgresql.temporal("time", n)) for n in (0, 3, 4)))
    table = Table("d", "t", columns, ("id",), schema="public")
    row: dict[str, Value] = {"id": 1, "t0": 1_000_000, "t3": 1_000_000, "t4": 1_000_000}
    (found,) = written(PG, boundaries.insert(table, row))
    assert payload(found)["after"] == {"id": 1, "t0": 1000, "t3": 1000, "t4": 1_000_000}
    (micros,) = written(profile("3.5.0.Final", "postgresql", "adaptive_time_microseconds"), boundaries.insert(table, row))
    assert payload(micros)["after"] == row


def test_schema_names_are_adjusted_before_2_0() -> None:
    assert adjusted("p.a-b.汉.Value", OLD) == "p.a_b._.Value"
    assert adjusted("p.a-b.汉.Value", NEW) == "p.a-b.汉.Value"
    assert topic_name("p", "a b", "汉") == "p.a_b._"


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


def test_an_update_of_the_key_is_three_records_with_headers() -> None:
    """debezium#key-update; header texts are those of Kafka Connect's Values.convertToString."""
    update = boundaries.change(CUSTOMERS, Op.UPDATE, (ROW, {**ROW, "id": 1005}))
    found = written(MIDDLE, update)
    assert [one.changes[0].kind for one in found] == [Kind.ROW, Kind.TOMBSTONE, Kind.ROW]
    assert [one.changes[0].op for one in found] == [Op.DELETE, None, Op.INSERT]
    assert [one.changes[0].row for one in found] == [0, 0, 0]
    assert [one.message.headers for one in found] == [
        (("__debezium.newkey", b'{"id":1005}'),),
        (("__debezium.newkey", b'{"id":1005}'),),
        (("__debezium.oldkey", b'{"id":1004}'),),
    ]
    assert [one.message.key for one in found] == [b'{"id":1004}', b'{"id":1004}', b'{"id":1005}']
    assert (payload(found[0])["before"], payload(found[2])["before"]) == (ROW, None)


DAY_MS = 86_400_000
LOGICAL = "org.apache.kafka.connect.data."


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (Schema("string"), 'q"\\', '"q\\"\\\\"'),
        (Schema("bytes", name=f"{LOGICAL}Decimal", parameters=(("scale", "2"),)), b"\x00\x96", "1.50"),
        (Schema("bytes", name=f"{LOGICAL}Decimal", parameters=(("scale", "8"),)), b"\x01", "1E-8"),
        (Schema("bytes"), b"\x00\x96", '"AJY="'),
        (Schema("int32", name=f"{LOGICAL}Date"), 19723, "2024-01-01"),
        (Schema("int32", name=f"{LOGICAL}Date"), -1, "00:00:00.000Z"),
        (Schema("int32", name=f"{LOGICAL}Time"), DAY_MS - 1, "23:59:59.999Z"),
        (Schema("int64", name=f"{LOGICAL}Timestamp"), 19723 * DAY_MS, "2024-01-01"),
        (Schema("int64", name=f"{LOGICAL}Timestamp"), 19723 * DAY_MS + 1, "2024-01-01T00:00:00.001Z"),
        (Schema("int32", name="io.debezium.time.Date"), 19723, "19723"),
        (Schema("float"), float("nan"), "NaN"),
        (Schema("boolean"), True, "true"),
    ],
)
def test_a_header_has_a_value_as_connect_prints_it(schema: Schema, value: object, text: str) -> None:
    """apache/kafka connect/api Values.append and dateFormatFor; 1.50 and 2024-01-01 are recorded."""
    assert header_text(schema, value) == text


def test_headers_of_3_5() -> None:
    """3.5.0 adds headers of its context to nearly every record."""
    (found,) = written(NEW, boundaries.insert(CUSTOMERS, ROW))
    names = [name.removeprefix("__debezium.context.") for name, _ in found.message.headers]
    assert names == ["connectorLogicalName", "taskId", "connectorName", "runId"]
    uuid.UUID(found.message.headers[3][1].decode())


def test_truncate_has_neither_images_nor_key_and_is_unknown_to_1_4() -> None:
    event = RowChange(START, CUSTOMERS, Op.TRUNCATE, ())
    (found,) = written(NEW, event)
    assert (payload(found)["op"], payload(found)["before"], payload(found)["after"], found.message.key) == ("t", None, None, None)
    assert written(OLD, event) == []


def test_an_unchanged_row_is_not_written_by_mysql_and_is_by_postgresql() -> None:
    """As in the output of 3.5.0."""
    assert written(NEW, boundaries.change(CUSTOMERS, Op.UPDATE, (ROW, ROW))) == []
    row: dict[str, Value] = {"id": 1, "name": "a", "note": None}
    (found,) = written(PG_FULL, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (row, row)))
    assert payload(found)["before"] == payload(found)["after"] == row


def test_a_minimal_row_image_leaves_inserts_alone() -> None:
    """debezium#minimal-image."""
    p = PLAIN["1.9.7.Final+minimal"]
    assert len(written(p, boundaries.insert(CUSTOMERS, ROW))) == 1
    assert written(p, boundaries.change(CUSTOMERS, Op.UPDATE, (ROW, {**ROW, "name": "b"}))) == []
    assert written(p, boundaries.change(CUSTOMERS, Op.DELETE, (ROW, None))) == []


def test_replica_identity_default_sends_the_key_with_nulls_and_fallbacks() -> None:
    """debezium#before-default-identity."""
    old: dict[str, Value] = {"id": 7, "name": "a", "note": "b"}
    (update,) = written(PG, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (old, {**old, "note": None})))
    assert (payload(update)["before"], payload(update)["after"]["note"]) == (None, None)
    assert update.changes[0].before is None
    delete, _ = written(PG, boundaries.change(PG_CUSTOMERS, Op.DELETE, (old, None)))
    assert payload(delete)["before"] == {"id": 7, "name": "", "note": None}
    change = delete.changes[0]
    assert change.full_before is not None
    assert {name: c.state for name, c in change.full_before.items()} == {"id": "VALUE", "name": "ANY", "note": "ABSENT"}


FALLBACKS: dict[str, Any] = dict(
    [
        *(("smallint", 0), ("integer", 0), ("bigint", 0), ("real", 0.0), ("double-precision", 0.0), ("boolean", False)),
        *(("numeric-10-2", "AA=="), ("varchar", ""), ("json", ""), ("uuid", ""), ("inet", ""), ("interval", 0), ("date", 0)),
        *(("timestamp-6", 0), ("timestamptz-6", "1970-01-01T00:00:00Z"), ("bytea", "")),
    ]
)


@pytest.mark.parametrize("name", FALLBACKS)
def test_fallbacks_of_not_null_columns(name: str) -> None:
    """debezium#before-fallback (`shouldProcessNotNullColumnsFallbacksReplicaIdentity`)."""
    assert json.loads(_debezium_postgresql.not_sent(postgresql.TYPES[name], Modes(), False).json) == FALLBACKS[name]


# Control messages


def test_a_heartbeat() -> None:
    (found,) = written(BARE, Heartbeat(START))
    assert found.message.topic == "__debezium-heartbeat.dbserver1"
    assert (found.message.key, list(payload(found))) == (b'{"serverName":"dbserver1"}', ["ts_ms"])
    (found,) = written(NEW, Heartbeat(START))
    wired = json.loads(found.message.value or b"")
    assert wired["schema"]["name"] == "io.debezium.connector.common.Heartbeat"
    assert json.loads(found.message.key or b"")["schema"]["name"] == "io.debezium.connector.common.ServerNameKey"


def test_transaction_metadata() -> None:
    insert = boundaries.insert(CUSTOMERS, ROW)
    found = written(MIDDLE, TransactionMark(START, "BEGIN", "1"), insert, insert, TransactionMark(START, "COMMIT", "1", 2))
    begin, first, second, end = map(payload, found)
    assert found[0].message.topic == "dbserver1.transaction"
    assert list(begin) == ["status", "id", "event_count", "data_collections", "ts_ms"]
    assert (begin["status"], begin["event_count"], begin["data_collections"]) == ("BEGIN", None, None)
    assert (end["status"], end["event_count"]) == ("END", 2)
    assert end["data_collections"] == [{"data_collection": "inventory.customers", "event_count": 2}]
    assert [one["transaction"]["total_order"] for one in (first, second)] == [1, 2]
    assert {begin["id"], end["id"], first["transaction"]["id"]} == {begin["id"]}
    assert json.loads(found[0].message.key or b"") == {"id": begin["id"]}
    assert [one.changes[0].kind for one in found] == [Kind.TRANSACTION, Kind.ROW, Kind.ROW, Kind.TRANSACTION]


def test_postgresql_transaction_ids_hold_the_position_of_each_event() -> None:
    """debezium#transaction-id-postgresql."""
    insert = boundaries.insert(PG_CUSTOMERS, {"id": 1, "name": "a"})
    found = [payload(one) for one in written(PG_FULL, TransactionMark(START, "BEGIN", "1"), insert, insert)]
    ids = [found[0]["id"], found[1]["transaction"]["id"], found[2]["transaction"]["id"]]
    assert len(set(ids)) == 3
    assert len({one.partition(":")[0] for one in ids}) == 1
    assert ids[1].partition(":")[2] == str(found[1]["source"]["lsn"])


def test_a_logical_message() -> None:
    """debezium#logical-message."""
    event = SourceStatement(START, "logical-message", "hello", "shop", "outbox")
    (found,) = written(PG, event)
    wired = payload(found)
    assert list(wired) == ["op", "ts_ms", "source", "transaction", "message"]
    assert wired["message"] == {"prefix": "outbox", "content": "aGVsbG8="}
    assert (found.message.topic, found.changes[0].kind) == ("dbserver1.message", Kind.CONTROL)
    assert json.loads(found.message.key or b"")["payload"] == {"prefix": "outbox"}
    assert written(PG_OLD, event) == []


DDL = SchemaChange(START, "add column", "ALTER TABLE products ADD c int", "inventory", "products", after=CUSTOMERS)


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
    (found,) = written(p, DDL)
    wired = payload(found)
    assert (found.message.topic, list(wired)) == ("dbserver1", members.split())
    assert json.loads(found.message.key or b"")["payload"] == {"databaseName": "inventory"}
    assert json.loads(found.message.key or b"")["schema"]["name"] == "io.debezium.connector.mysql.SchemaChangeKey"
    change = found.changes[0]
    assert (change.kind, change.database, change.table, change.sql) == (Kind.DDL, "inventory", "products", DDL.sql)
    if "tableChanges" in wired:
        (one,) = wired["tableChanges"]
        assert (one["type"], one["id"]) == ("ALTER", '"inventory"."products"')
        column = (
            "name jdbcType nativeType typeName typeExpression charsetName length scale position optional autoIncremented "
            "generated"
        )
        more = ["comment", "defaultValueExpression", "enumValues"] if p is NEW else ["comment"]
        assert list(one["table"]["columns"][0]) == column.split() + more
        assert [c["position"] for c in one["table"]["columns"]] == [1, 2, 3]


def test_postgresql_writes_no_schema_change() -> None:
    assert written(PG, DDL) == []


def test_truncate_table_is_a_truncation_and_up_to_2_5_a_statement() -> None:
    """debezium#table-changes."""
    event = SchemaChange(START, "truncate table", "TRUNCATE TABLE customers", "inventory", "customers", CUSTOMERS, CUSTOMERS)
    assert [one.changes[0].kind for one in written(NEW, event)] == [Kind.ROW]
    assert [one.changes[0].kind for one in written(MIDDLE, event)] == [Kind.ROW, Kind.DDL]
    assert [one.changes[0].kind for one in written(OLD, event)] == [Kind.DDL]


def test_tables_that_are_gone_have_changes_from_2_0_on() -> None:
    """debezium#table-changes-of-drop: literals of what the releases wrote."""
    gone = SchemaChange(START, "drop table", "DROP TABLE customers", "inventory", "customers", CUSTOMERS, None)
    wired = {p.release: payload(written(p, gone)[0]) for p in (NEW, MIDDLE, profile("1.9.7.Final"))}
    assert {release: one["tableChanges"] for release, one in wired.items()} == {
        "3.5.0.Final": [{"type": "DROP", "id": '"inventory"."customers"', "table": None}],
        "2.5.4.Final": [{"type": "DROP", "id": '"inventory"."customers"', "table": None}],
        "1.9.7.Final": [],
    }
    assert {one["source"]["table"] for one in wired.values()} == {"customers"}


def test_schema_of_a_schema_change_of_1_9() -> None:
    """debezium#table-changes-of-drop."""
    (found,) = written(profile("1.9.7.Final"), DDL)
    fields = {field["field"]: field for field in json.loads(found.message.value or b"")["schema"]["fields"]}
    assert fields["databaseName"]["optional"] and fields["ddl"]["optional"]
    described = {field["field"]: field["optional"] for field in fields["tableChanges"]["items"]["fields"]}
    assert described == {"type": False, "id": False, "table": False}


def test_comments_are_written_as_they_are_spelt_and_from_2_6_on() -> None:
    """debezium#comments."""
    table = Table("inv", 'q"q', (Column("id", mysql.integer("int"), False, comment="c'c \\"),), ("id",), comment="it's")
    made = SchemaChange(START, "create table", "CREATE TABLE t", "inv", 'q"q', None, table)
    (new,), (old,) = (payload(written(p, made)[0])["tableChanges"] for p in (NEW, MIDDLE))
    assert new["id"] == '"inv"."q""q"'
    assert (new["table"]["comment"], new["table"]["columns"][0]["comment"]) == ("it''s", "c''c \\\\")
    assert (old["table"]["comment"], old["table"]["columns"][0]["comment"]) == (None, None)


def test_truncations_by_release_and_database() -> None:
    """debezium#table-changes, debezium#table-changes-of-drop."""
    event = SchemaChange(START, "truncate table", "TRUNCATE TABLE customers", "inventory", "customers", CUSTOMERS, CUSTOMERS)
    (old,) = written(profile("1.9.7.Final"), event)
    assert (old.changes[0].kind, payload(old)["source"]["table"]) == (Kind.DDL, "customers")
    _, middle = written(MIDDLE, event)
    assert (payload(middle)["tableChanges"], payload(middle)["source"]["table"]) == ([], "customers")


def test_a_back_slash_hides_a_table_from_the_catalogue() -> None:
    """debezium#name-patterns: the key is known, NOT NULL is not."""
    columns = (Column("id", postgresql.integer(), nullable=False), Column("a", postgresql.integer(), nullable=False))
    table = Table("inv", "a\\b", columns, ("id",), schema="public")
    for release, optional in (("1.4.0.Final", True), ("2.5.4.Final", True), ("3.5.0.Final", False)):
        (found,) = written(
            profile(release, "postgresql"), RowChange(START, table, Op.INSERT, (RowImages(None, {"id": 1, "a": 2}),))
        )
        key = json.loads(found.message.key or b"")
        assert (key["schema"]["fields"][0]["optional"], key["payload"]) == (optional, {"id": 1})


def test_columns_of_a_schema_change() -> None:
    """debezium#table-changes: literals of recorded messages."""
    columns = (
        Column("id", mysql.integer("int"), False, declared="INT AUTO_INCREMENT"),
        Column("z", mysql.integer("int", unsigned=True, zerofill=True), declared="INT(6) ZEROFILL"),
        Column("d", mysql.decimal(), declared="DECIMAL", default=Default("7.50"), comment="a comment"),
        Column("e", mysql.enum_of("b,c", "it's", "back\\slash"), declared="ENUM('b,c','it''s','back\\\\slash')"),
        Column("u", mysql.text("varchar", 100), declared="VARCHAR(100) CHARACTER SET utf16"),
        Column("b", mysql.bit(4), default=Default("b'1010'")),
    )
    table = Table("inv", "t", columns, ("id",), comment="table comment")
    made = SchemaChange(START, "create database", "CREATE DATABASE inv", "inv")
    _, found = written(NEW, made, SchemaChange(START, "create table", "CREATE TABLE t", "inv", "t", None, table))
    (change,) = payload(found)["tableChanges"]
    told = change["table"]
    assert (told["defaultCharsetName"], told["comment"]) == (None, "table comment")
    shown = [(c["jdbcType"], c["typeName"], c["charsetName"], c["length"], c["scale"]) for c in told["columns"]]
    assert shown == [
        *((4, "INT", None, None, None), (4, "INT UNSIGNED ZEROFILL", None, 6, None), (3, "DECIMAL", None, 10, 0)),
        *((1, "ENUM", None, 1, None), (12, "VARCHAR", "utf16", 100, None), (-7, "BIT", None, 4, None)),
    ]
    assert [c["defaultValueExpression"] for c in told["columns"]] == [None, None, "7.50", None, None, "1010"]
    assert told["columns"][3]["enumValues"] == ["'b,c'", "'it''s'", "'back\\\\slash'"]
    assert [(c["autoIncremented"], c["generated"]) for c in told["columns"][:2]] == [(True, True), (False, False)]
    assert (told["columns"][2]["comment"], told["columns"][1]["comment"]) == ("a comment", None)


def test_a_statement_about_an_index_names_no_table() -> None:
    """debezium#table-changes."""
    event = SchemaChange(START, "create index", "CREATE INDEX ix ON t (a)", "inv", "t", CUSTOMERS, CUSTOMERS)
    (new,), (old,) = written(NEW, event), written(OLD, event)
    assert (payload(new)["source"]["table"], payload(new)["tableChanges"]) == ("", [])
    assert (payload(old)["source"]["table"], new.changes[0].table) == (None, None)


def test_types_of_the_source_are_parameters_of_the_value_schema() -> None:
    """debezium#source-type."""
    table = Table("inv", "t", (Column("du", mysql.decimal(12, 2, unsigned=True), declared="NUMERIC(12,2) UNSIGNED"),))
    (found,) = written(profile("3.5.0.Final", "mariadb", "source-type"), boundaries.insert(table, {"du": Decimal("0.01")}))
    schema = json.loads(found.message.value or b"")["schema"]["fields"][1]["fields"][0]
    assert schema["parameters"] == {
        "scale": "2",
        "connect.decimal.precision": "12",
        "__debezium.source.column.type": "NUMERIC UNSIGNED",
        "__debezium.source.column.length": "12",
        "__debezium.source.column.scale": "2",
        "__debezium.source.column.name": "du",
    }


def test_an_identity_of_an_index_makes_up_the_key_of_a_delete() -> None:
    """debezium#identity-index."""
    columns = (Column("id", postgresql.integer(), False), Column("u", postgresql.text("text"), False))
    table = Table("inv", "t", columns, ("id",), (("u",),), schema="public")
    index = profile("3.5.0.Final", "postgresql", "schemaless", "index")
    row: dict[str, Value] = {"id": 2, "u": "t2"}

    def sent(op: Op, before: dict[str, Value], after: dict[str, Value] | None) -> list[tuple[str | None, Any]]:
        found = written(index, boundaries.change(table, op, (before, after)))
        return [((one.message.key or b"").decode(), one.message.value and payload(one)["before"]) for one in found]

    assert sent(Op.DELETE, row, None) == [('{"id":0}', {"id": 0, "u": "t2"}), ('{"id":0}', None)]
    moved = [('{"id":0}', {"id": 0, "u": "t2"}), ('{"id":0}', None), ('{"id":2}', None)]
    assert sent(Op.UPDATE, row, {**row, "u": "changed"}) == moved
    assert sent(Op.UPDATE, row, {**row, "id": 1001}) == [('{"id":1001}', None)]


# Rows without their envelope


def test_a_flattened_row_has_what_was_added_behind_its_columns() -> None:
    """debezium#flattened."""
    rewrite = profile("3.5.0.Final", "postgresql", "flat-rewrite", "schemaless")
    table = Table("inv", "t", (Column("id", postgresql.integer(), False), Column("v", postgresql.text("text"))), ("id",))
    table = replace(table, schema="public")
    gone = boundaries.change(table, Op.DELETE, ({"id": 1, "v": "x"}, None))
    new, old = written(rewrite, boundaries.insert(table, {"id": 1, "v": "x"}), gone)
    shown = json.loads(new.message.value or b"")
    assert list(shown) == ["id", "v", "__deleted", "__op", "__table", "__lsn", "__source_ts_ms"]
    assert (shown["__deleted"], shown["__op"], shown["__table"]) == ("false", "c", "t")
    assert list(json.loads(old.message.value or b"").items())[:4] == [
        *(("id", 1), ("v", None), ("__deleted", "true"), ("__op", "d")),
    ]
    assert new.message.headers[-2:] == (("__op", b"c"), ("__db", b"inv"))
    change = old.changes[0]
    assert (change.kind, change.op, change.table, change.database, change.databases) == (Kind.ROW, Op.DELETE, "t", None, ("inv",))
    assert (change.after, set(change.before or ())) == (None, {"id", "v"})


def test_a_flattened_delete_is_the_text_null() -> None:
    """debezium#flattened."""
    plain = profile("3.5.0.Final", "mariadb", "flat", "schemaless")
    row = {**ROW}
    found = written(plain, boundaries.change(CUSTOMERS, Op.DELETE, (row, None)), RowChange(START, CUSTOMERS, Op.TRUNCATE, ()))
    (one,) = found
    assert (one.message.value, one.message.key) == (b"null", b'{"id":1004}')
    assert (one.changes[0].kind, one.changes[0].accept) == (Kind.TOMBSTONE, ((Kind.ROW, Op.DELETE),))
    (update,) = written(plain, boundaries.change(CUSTOMERS, Op.UPDATE, (row, {**row, "name": "B"})))
    assert (update.changes[0].op, update.changes[0].before) == (Op.UPDATE, None)
    for release in ("3.5.0.Final", "2.5.4.Final", "1.9.7.Final"):
        (whole,) = written(profile(release, "flat"), boundaries.change(CUSTOMERS, Op.DELETE, (row, None)))
        value = json.loads(whole.message.value or b"")
        fields = [field["field"] for field in value["schema"]["fields"]]
        assert (value["payload"], fields, value["schema"]["optional"]) == (None, ["id", "name", "n"], True)
        assert whole.changes[0].kind is Kind.TOMBSTONE


def test_a_rewritten_delete_is_marked_behind_the_other_members_in_1_9() -> None:
    """debezium#flattened."""
    for release, first in (("2.5.4.Final", "__deleted"), ("1.9.7.Final", "__op")):
        (found,) = written(profile(release, "flat-rewrite"), boundaries.change(CUSTOMERS, Op.DELETE, ({**ROW}, None)))
        value = json.loads(found.message.value or b"")
        assert list(value["payload"])[3] == first and [f["field"] for f in value["schema"]["fields"]] == list(value["payload"])


# The placeholder in a row


def test_only_unchanged_values_out_of_line_are_unavailable() -> None:
    long = "x" * 3000
    old: dict[str, Value] = {"id": 1, "name": "a", "note": long}
    (same,) = written(PG, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (old, {**old, "name": "b"})))
    assert payload(same)["after"]["note"] == UNAVAILABLE
    (changed,) = written(PG, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (old, {**old, "note": long + "y"})))
    assert payload(changed)["after"]["note"] == long + "y"
    (full,) = written(PG_FULL, boundaries.change(PG_CUSTOMERS, Op.UPDATE, (old, {**old, "name": "b"})))
    assert payload(full)["after"]["note"] == payload(full)["before"]["note"] == long


# 3: JsonConverter


def test_a_default_stands_in_for_null_unless_nulls_are_kept() -> None:
    """connect#default-for-null."""
    table = Table("d", "t", (Column("id", mysql.integer("int"), False), Column("c", mysql.integer("int"))), ("id",))
    given = SchemaChange(START, "set default", "ALTER TABLE `t` ALTER COLUMN `c` SET DEFAULT 5", "d", "t", table, table)
    _, found = written(NEW, given, boundaries.insert(table, {"id": 1, "c": None}))
    wired = json.loads(found.message.value or b"")
    assert wired["payload"]["after"] == {"id": 1, "c": 5}
    assert wired["schema"]["fields"][1]["fields"][1] == {"type": "int32", "optional": True, "default": 5, "field": "c"}
    assert found.changes[0].after is not None
    assert (found.changes[0].after["c"].state, found.changes[0].after["c"].cls) == (State.VALUE, "default")
    _, kept = written(MIDDLE, given, boundaries.insert(table, {"id": 1, "c": None}))
    assert payload(kept)["after"] == {"id": 1, "c": None}


def test_names_that_are_not_ascii_are_mangled_by_old_postgresql_connectors() -> None:
    """debezium#mangled-names."""
    assert mangled("é") == "\uffc3\uffa9"
    table = Table("d", "é", (Column("é", postgresql.integer("integer"), False),), ("é",), schema="public")
    (found,) = written(PG_OLD, boundaries.insert(table, {"é": 1}))
    change: Change = found.changes[0]
    assert payload(found)["after"] == {"\uffc3\uffa9": 1}
    assert (change.table, change.keys, list(change.after or {})) == ("\uffc3\uffa9", None, ["\uffc3\uffa9"])
    assert change.full_after is not None
    assert change.full_after["é"].state is State.ANY
    (new,) = written(PG, boundaries.insert(table, {"é": 1}))
    assert payload(new)["after"] == {"é": 1}
    (read,) = written(PG_OLD, boundaries.change(table, Op.READ, (None, {"é": 1})))
    assert (payload(read)["after"], read.changes[0].table, read.changes[0].keys) == ({"é": 1}, "é", ("é",))


@pytest.mark.parametrize("release", ["1.4.0.Final", "1.9.7.Final", "2.5.4.Final"])
def test_the_catalogue_knows_nothing_of_a_mangled_name(release: str) -> None:
    """debezium#mangled-names: no key, no NOT NULL, no default of such a table; a column so named is not in the key."""
    number = postgresql.integer("integer")
    old = profile(release, "postgresql")
    columns = (Column("id", number, False), Column("n", number, False, default=Default("5", 5)), Column("é", number, False))
    odd = Table("d", "t-Odd é", columns, ("id",), schema="odd schema")
    row: dict[str, Value] = {"id": 1, "n": 2, "é": 3}
    insert, delete, tombstone = written(old, boundaries.insert(odd, row), boundaries.change(odd, Op.DELETE, (row, None)))
    assert insert.message.topic == "dbserver1.odd_schema.t-Odd___"
    assert [one.message.key for one in (insert, delete, tombstone)] == [None, None, None]
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
    assert payload(update)["before"] == {"id": 1, "n": 5 if release > "1.4.0.Final" else 0, "\uffc3\uffa9": 3}


@pytest.mark.parametrize(
    ("release", "shown"), [("1.4.0.Final", "q``q"), ("1.9.7.Final", "q``q"), ("2.5.4.Final", "q``q"), ("3.5.0.Final", "q`q")]
)
def test_a_back_tick_in_a_columns_name_is_doubled_up_to_2_5(release: str, shown: str) -> None:
    """debezium#back-ticks."""
    table = Table("d", "t`t", (Column("q`q", mysql.integer("int"), False), Column("a", mysql.integer("int"))), ("q`q",))
    old = profile(release)
    created = SchemaChange(START, "create table", "CREATE TABLE `t``t` (`q``q` INT PRIMARY KEY, a INT)", "d", "t`t", None, table)
    ddl, streamed, read = written(
        old, created, boundaries.insert(table, {"q`q": 1}), boundaries.change(table, Op.READ, (None, {"q`q": 2}))
    )
    for one in (streamed, read):
        assert list(payload(one)["after"]) == [shown, "a"]
        assert (one.changes[0].keys, one.changes[0].table) == ((shown,), "t`t")
        assert (one.changes[0].full_after is None) == (shown == "q`q")
    if release != "1.4.0.Final":
        found = payload(ddl)["tableChanges"][0]["table"]
        assert (found["primaryKeyColumnNames"], found["columns"][0]["name"]) == ([shown], shown)
    number = postgresql.integer("integer")
    theirs = Table("d", "t`t", (Column("q`q", number, False), Column("a", number)), ("q`q",), schema="public")
    (other,) = written(profile(release, "postgresql"), boundaries.insert(theirs, {"q`q": 1}))
    assert list(payload(other)["after"]) == ["q`q", "a"]


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


# Profiles


@pytest.mark.parametrize(
    ("release", "options", "why"),
    [
        ("1.4.0.Final", ("postgresql", "money-digits-4"), "came with 1.8"),
        ("3.5.0.Final", ("money-digits-4",), "is PostgreSQL's"),
        ("3.5.0.Final", ("postgresql", "string", "money-digits-0"), "acts in decimal.handling.mode precise alone"),
        ("3.5.0.Final", ("postgresql", "schemaless", "money-digits-0"), "changes a scale that schemas alone tell"),
        ("3.5.0.Final", ("postgresql", "include-query"), "is MySQL's"),
    ],
)
def test_options_that_do_not_go_together_say_why(release: str, options: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        profile(release, *options)


def test_a_column_of_an_unknown_type_is_left_out_unless_it_is_asked_for() -> None:
    """debezium#unknown-types."""
    columns = (Column("id", postgresql.integer("integer"), False), Column("c", postgresql.other("box")))
    table = Table("d", "t", columns, ("id",), schema="public")
    row = boundaries.insert(table, {"id": 1, "c": "(1,1),(0,0)"})
    (plain,) = written(PG, row)
    assert payload(plain)["after"] == {"id": 1}
    assert list(plain.changes[0].after or {}) == ["id"]
    (asked,) = written(profile("3.5.0.Final", "postgresql", "include-unknown"), row)
    assert payload(asked)["after"] == {"id": 1, "c": "KDEuMCwxLjApLCgwLjAsMC4wKQ=="}
    with pytest.raises(UsageError, match=r"is known of PostgreSQL's connector of 2\.5 and later alone"):
        profile("1.9.7.Final", "postgresql", "include-unknown")


def test_a_statement_stands_in_the_source_of_streamed_rows_alone() -> None:
    """debezium#query."""
    asked = profile("3.5.0.Final", "schemaless", "transaction", "include-query")
    row = boundaries.insert(CUSTOMERS, ROW)
    renamed = SchemaChange(
        START, "table comment", "ALTER TABLE `customers` COMMENT 'x'", "inventory", "customers", CUSTOMERS, CUSTOMERS
    )
    events: tuple[Event, ...] = (
        TransactionMark(START, "BEGIN", "1"),
        SourceStatement(START, "rows-query", 'INSERT /* "op" */ INTO a', "inventory"),
        row,
        row,
        TransactionMark(START, "COMMIT", "1", 2),
        row,
        boundaries.change(CUSTOMERS, Op.READ, (None, ROW)),
        renamed,
    )
    begin, first, second, end, third, read, ddl = map(payload, written(asked, *events))
    assert [one["source"]["query"] for one in (first, second)] == ['INSERT /* "op" */ INTO a'] * 2
    assert third["source"]["query"] == "INSERT INTO `customers` SELECT * FROM `customers_new`"
    assert [one["source"]["query"] for one in (read, ddl)] == [None, None]
    assert (begin["status"], end["status"]) == ("BEGIN", "END")
    bare = written(profile("3.5.0.Final", "schemaless", "transaction"), *events)
    assert [payload(one)["source"]["query"] for one in bare if "source" in payload(one)] == [None] * 5


@pytest.mark.parametrize(
    ("release", "options"),
    [
        *(("3.5.0.Final", ("minimal",)), ("1.9.7.Final", ("postgresql", "minimal")), ("3.5.0.Final", ("full",))),
        *(("3.5.0.Final", ("adaptive",)), ("2.5.4.Final", ("isostring",)), ("1.9.7.Final", ("base64-url-safe",))),
        *(("1.4.0.Final", ("legacy-tombstone", "schemaless")), ("1.9.7.Final", ("legacy-tombstone",))),
        *(("1.9.7.Final", ("nulls-kept",)), ("3.5.0.Final", ("postgresql", "unsigned-precise"))),
        ("3.5.0.Final", ("interval-string",)),
    ],
)
def test_pairs_that_cannot_be_are_refused(release: str, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        profile(release, *options)


def test_3_6_is_known_of_postgresql_alone() -> None:
    """debezium#release-3-6: a snapshot's money keeps its digits, its varbit(1) is no null."""
    with pytest.raises(UsageError, match="another parser of statements"):
        profile("3.6.1.Final")
    with pytest.raises(UsageError, match="nanoseconds is not known of"):
        profile("3.6.1.Final", "postgresql", "nanoseconds")
    new = profile("3.6.1.Final", "postgresql", "string").modes
    old = profile("3.5.0.Final", "postgresql", "string").modes
    large, bit = Decimal("92233720368547758.07"), postgresql.bit(1, varying=True)
    amounts = [_debezium_postgresql.wire(postgresql.money(), large, modes, snapshot=True).json for modes in (old, new)]
    assert amounts == ['"9.223372036854776E16"', '"92233720368547758.07"']
    assert [_debezium_postgresql.wire(bit, 1, modes, snapshot=True).json for modes in (old, new)] == ["null", "true"]


def test_a_release_leaves_columns_of_some_types_out() -> None:
    """debezium#left-out."""
    names = ("tsvector", "bytea[]", "interval[]", "box")
    types = [postgresql.other("tsvector"), postgresql.array_of(postgresql.bytea())]
    types += [postgresql.array_of(postgresql.temporal("interval")), postgresql.other("box")]
    table = Table("db", "t", tuple(map(Column, names, types)), schema="public")
    row: dict[str, Value] = dict.fromkeys(names)
    left = {
        release: tuple(payload(written(profile(release, "postgresql", *options), boundaries.insert(table, row))[0])["after"])
        for release, *options in (("1.9.7.Final",), ("2.5.4.Final",), ("3.5.0.Final",), ("3.6.1.Final", "include-unknown"))
    }
    assert left == {
        "1.9.7.Final": (),
        "2.5.4.Final": ("bytea[]",),
        "3.5.0.Final": ("tsvector", "bytea[]"),
        "3.6.1.Final": ("tsvector", "bytea[]", "box"),
    }


@pytest.mark.parametrize(
    ("release", "key"), [("1.9.7.Final", b'{"n":1}'), ("2.5.4.Final", b'{"u":2}'), ("3.5.0.Final", b'{"u":2}')]
)
def test_mysql_takes_the_first_unique_key_that_may_be_one(release: str, key: bytes) -> None:
    """debezium#unique-keys."""
    whole = mysql.integer("int")
    table = Table("d", "t", (Column("n", whole), Column("u", whole, False)), (), (("n",), ("u",)))
    (found,) = written(profile(release, "schemaless"), boundaries.insert(table, {"n": 1, "u": 2}))
    assert found.message.key == key


def test_numeric_decimals_of_postgresql_are_numbers_but_for_a_scale_of_their_own() -> None:
    """connect#decimal-numeric, debezium#variable-scale."""
    modes = profile("3.5.0.Final", "postgresql", "numeric").modes
    fixed, free = postgresql.numeric(10, 2), postgresql.numeric()
    found = [_debezium_postgresql.wire(type, Decimal("1.50"), modes) for type in (fixed, postgresql.money(), free)]
    assert [wire.json for wire in found] == ["1.50", "1.50", '{"scale":1,"value":"Dw=="}']
    assert _debezium_postgresql.not_sent(fixed, modes, False).json == "0.00"


@pytest.mark.parametrize(("options", "ms"), [((), 0), (("transaction",), 123)])
def test_a_gtid_has_the_milliseconds_of_its_commit(options: tuple[str, ...], ms: int) -> None:
    """debezium#gtid-times."""
    table = Table("d", "t", (Column("a", mysql.integer("int")),))
    event = boundaries.insert(table, {"a": 1}, Instant(START.ms + 123))
    (found,) = written(profile("2.5.4.Final", "schemaless", *options), event)
    assert json.loads(found.message.value or b"")["source"]["ts_ms"] == START.ms + ms


@pytest.mark.parametrize(
    ("declared", "type", "facts"),
    [
        ("DEC(8,2)", mysql.decimal(8, 2), (3, "DEC", 8, 2, None)),
        ("FIXED", mysql.decimal(10, 0), (3, "FIXED", 10, 0, None)),
        ("MIDDLEINT", mysql.integer("mediumint"), (4, "MIDDLEINT", None, None, None)),
        ("INT1 UNSIGNED", mysql.integer("tinyint", unsigned=True), (5, "INT1 UNSIGNED", None, None, None)),
        ("INT8", mysql.integer("bigint"), (-5, "INT8", None, None, None)),
        ("SERIAL", mysql.integer("bigint", unsigned=True), (-5, "BIGINT UNSIGNED", None, None, None)),
        ("NVARCHAR(9)", mysql.text("varchar", 9), (-9, "NVARCHAR", 9, None, "utf8")),
        ("NATIONAL CHAR", mysql.text("char", 1), (-15, "NATIONAL CHAR", 1, None, "utf8")),
        ("CHARACTER VARYING(5)", mysql.text("varchar", 5), (12, "CHARACTER VARYING", 5, None, "utf8mb4")),
        ("DOUBLE PRECISION", mysql.real("double"), (8, "DOUBLE PRECISION", None, None, None)),
        ("BIT", mysql.bit(1), (-7, "BIT", 1, None, None)),
        ("LONGBLOB", mysql.binary("longblob"), (2004, "LONGBLOB", None, None, None)),
        ("int(10) unsigned zerofill", mysql.integer("int", unsigned=True), (4, "INT UNSIGNED ZEROFILL", 10, None, None)),
    ],
)
def test_a_statement_s_words_for_a_type_stand_in_table_changes(declared: str, type: SourceType, facts: tuple[Any, ...]) -> None:
    """debezium#jdbc-types; DEC, FIXED, MIDDLEINT, INT1, INT8, SERIAL, NVARCHAR and NCHAR were recorded."""
    table = Table("d", "t", (Column("c", type, declared=declared),))
    event = SchemaChange(START, "create table", "CREATE TABLE t ...", "d", "t", None, table)
    (change,) = table_changes(event, "utf8mb4", NEW)
    (column,) = change["table"]["columns"]
    assert tuple(column[name] for name in ("jdbcType", "typeName", "length", "scale", "charsetName")) == facts


def test_a_default_is_what_the_connector_makes_of_the_statement() -> None:
    """debezium#defaults: quotes, an enum up to 1.9, MySQL's FLOAT and negative TIME up to 1.9; each was recorded."""
    mood = Default("'ok'::mood", "ok")

    def shown(release: str, type: SourceType, default: Default) -> str:
        options = ("postgresql",) if type.source == "postgresql" else ()
        schema = "public" if options else None
        table = Table("d", "t", (Column("c", type, default=default),), schema=schema)
        (found,) = written(profile(release, *options), boundaries.insert(table, {"c": None}))
        return json.dumps(payload(found)["after"]["c"])

    quoted = Default("'d''q'", "d'q")
    assert shown("3.5.0.Final", postgresql.text("varchar", 9), quoted) == '"d"'
    assert shown("3.5.0.Final", mysql.text("varchar", 9), quoted) == "\"d''q\""
    enum = postgresql.enum_of("sad", "ok")
    assert [shown(f"{release}.Final", enum, mood) for release in ("1.9.7", "2.5.4")] == ["null", '"ok"']
    float_default = Default("1.1", mysql.to_float32(1.1))
    assert [shown(f"{release}.Final", mysql.real("float"), float_default) for release in ("1.9.7", "2.5.4")] == ["1.1", "1.1"]
    hour = Default("'-01:00:00'", -3_600_000_000)
    assert shown("1.9.7.Final", mysql.temporal("time"), hour) == "-3600000000"


def test_a_default_that_a_statement_gave_stands_in_the_tables_changes() -> None:
    """As 2.5.4 writes ALTER TABLE `t` ADD COLUMN `added` int DEFAULT 1: "defaultValueExpression":"1"."""
    told = Table("d", "t", (Column("id", mysql.integer("int")), Column("added", mysql.integer("int"))))
    add = SchemaChange(START, "add column", "ALTER TABLE `t` ADD COLUMN `added` int DEFAULT 1", "d", "t", None, told)
    (found,) = write(History((add,)), profile("2.5.4.Final", "schemaless"), Layout("cdc"))
    columns = json.loads(found.message.value or b"")["tableChanges"][0]["table"]["columns"]
    assert [column["defaultValueExpression"] for column in columns] == [None, "1"]


@pytest.mark.parametrize(
    ("column", "options"), [("__op", ("flat",)), ("__deleted", ("flat-rewrite",)), ("__lsn", ("flat", "postgresql"))]
)
def test_a_column_called_as_an_added_member_stops_the_flattened_connector(column: str, options: tuple[str, ...]) -> None:
    """debezium#flattened-names; without PostgreSQL there is no __lsn."""
    found = profile("3.5.0.Final", "schemaless", *options)
    number = postgresql.integer("integer") if "postgresql" in options else mysql.integer("int")
    for name, count in ((column, 0), ("x", 1)):
        table = Table("d", "t", (Column(name, number),), schema="public" if "postgresql" in options else None)
        assert len(write(History((boundaries.insert(table, {name: 1}),)), found, Layout("cdc"))) == count


def test_rows_of_an_incremental_snapshot_have_no_place_in_postgresqls_log() -> None:
    """debezium#incremental."""
    table = replace(CUSTOMERS, schema="public", columns=(Column("id", postgresql.integer("integer"), False),))
    begin = SourceStatement(START, "incremental-snapshot", "", table.database)
    for options, members in (
        (("postgresql",), {"snapshot": "incremental", "txId": None, "lsn": None}),
        (("mariadb",), {"snapshot": "incremental", "row": 0, "thread": None}),
    ):
        p = profile("3.5.0.Final", "schemaless", *options)
        told = table if "postgresql" in options else CUSTOMERS
        row: dict[str, Value] = {"id": 1, "name": "x", "n": 0.5}
        row = {c.name: row[c.name] for c in told.columns}
        later = replace(boundaries.change(told, Op.READ, (None, row)), at=Instant(START.ms + 1234))
        first, read, last = write(
            History((boundaries.insert(told, row), begin, later, boundaries.insert(told, row))), p, Layout("cdc")
        )
        source = json.loads(read.message.value or b"")["source"]
        assert {name: source[name] for name in members} == members
        assert (source["ts_ms"], read.changes[0].commit_time_us) == (START.ms + 1234, (START.ms + 1234) * 1000)
        assert (read.changes[0].position is None) is ("postgresql" in options)
        assert (
            source["server_id"]
            if "mariadb" in options
            else source["sequence"] == f'["{first.changes[0].position}"' + f',"{first.changes[0].position}"]'
        )
        assert json.loads(last.message.value or b"")["source"]["snapshot"] == "false"


def test_each_table_has_the_replica_identity_that_it_was_given() -> None:
    p = profile("3.5.0.Final", "postgresql", "schemaless")
    number = postgresql.integer("integer")
    tables = [Table("d", name, (Column("id", number, False), Column("a", number)), ("id",), (), "public") for name in ("x", "y")]
    given = SourceStatement(START, "replica-identity", "full", "d", "y")
    updates = (boundaries.change(t, Op.UPDATE, ({"id": 1, "a": 1}, {"id": 1, "a": 2})) for t in tables)
    found = write(History((given, *updates)), p, Layout("cdc"))
    assert [json.loads(w.message.value or b"")["before"] for w in found] == [None, {"id": 1, "a": 1}]


def test_mariadb_begins_a_statement_and_does_not_end_it() -> None:
    """debezium#statement-boundary."""
    p = profile("3.5.0.Final", "mariadb", "transaction", "schemaless")
    sql = SchemaChange(START, "truncate table", "TRUNCATE TABLE customers", "inventory", "customers", CUSTOMERS, CUSTOMERS)
    view = SchemaChange(START, "create view", "CREATE VIEW v AS SELECT 1", "inventory", "v")
    begin, truncated, again = (json.loads(w.message.value or b"") for w in write(History((sql, view)), p, Layout("cdc")))
    assert (begin["status"], begin["event_count"], begin["data_collections"]) == ("BEGIN", None, None)
    assert truncated["transaction"] == {"id": begin["id"], "total_order": 1, "data_collection_order": 1}
    assert again["status"] == "BEGIN" and again["id"] != begin["id"]
    assert not write(History((view,)), profile("3.5.0.Final", "transaction"), Layout("cdc"))


@pytest.mark.parametrize(
    ("type", "told"),
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
def test_postgresqls_types_are_told_as_its_driver_tells_them(type: SourceType, told: str) -> None:
    """debezium#source-type."""
    p = profile("3.5.0.Final", "postgresql", "source-type")
    found = source_parameters(Column("c", type), p)
    assert [text for _, text in found] == [*told.split(), "c"]


def test_flattened_2_5_adds_headers_to_other_messages_and_stops_at_one_without_source() -> None:
    """debezium#flattened, debezium#flattened-without-source."""
    told = SourceStatement(START, "logical-message", "hello", "audit", "p1")
    events = (told, Heartbeat(START), told)
    for release, headers in (("2.5.4.Final", [(("__op", b"m"), ("__db", b"audit"))]), ("1.9.7.Final", [(), (), ()])):
        found = write(History(events), profile(release, "postgresql", "flat"), Layout("cdc"))
        assert [one.message.headers for one in found] == headers
    with pytest.raises(UsageError, match="without source"):
        profile("2.5.4.Final", "flat", "transaction")
