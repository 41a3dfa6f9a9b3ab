"""Literal messages: whole vectors, and every fact of the Avro encoding with an example."""

import hashlib
import io
import json
import re
from dataclasses import replace

import avro.io
import avro.schema
import fastavro
import pytest
from literals import literal

from conformance.rules.rules import rules
from generators.drawing.cases import boundary_scenarios
from generators.formats import ticdc_simple_json
from generators.formats.ticdc_simple_avro import FORMAT, write
from generators.formats.ticdc_simple_avro.faults import OUTDATED
from generators.formats.ticdc_simple_avro.schema import ENCODER, SCHEMA, message_value
from generators.model import (
    Bootstrap,
    Column,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    SchemaChange,
    Table,
    Watermark,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert

LAYOUT = Layout("topic", 3)
NEW = "new-8.5.4"
HANDLE = "new-8.5.6+local-zone+handle-key-only"
PARSED = avro.schema.parse(json.dumps(SCHEMA))


def at(tso):
    return Instant(tso >> 18, tso & 0x3FFFF)


def read(value):
    source = io.BytesIO(value)
    document = avro.io.DatumReader(PARSED).read(avro.io.BinaryDecoder(source))
    assert source.read() == b""
    return document


def message(name, *events, seed=0):
    """The last message's payload, and its expectation."""
    record = write(History(events, seed), FORMAT.profile(name), LAYOUT)[-1]
    (expected,) = record.changes
    return read(record.message.value)["payload"], expected


def table_of(*columns, key=("id",), name="t"):
    return Table("d", name, (Column("id", mysql.integer("bigint"), False), *columns), key)


def cell(kind, value, name="v8.5.7"):
    body, expected = message(name, insert(table_of(Column("c", kind)), {"id": 1, "c": value}))
    return body["data"]["c"], expected.after["c"]


def data_type(kind, name="v8.5.7"):
    body, _ = message(name, Bootstrap(Instant(1), table_of(Column("c", kind))))
    return body["tableSchema"]["columns"][1]["dataType"]


WATERMARK = bytes.fromhex(literal("ticdc-simple-watermark.hex"))
ROW = bytes.fromhex(literal("ticdc-simple-row.hex"))


def test_schema_is_the_published_one():
    text = json.dumps(SCHEMA, sort_keys=True, separators=(",", ":"))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "e12b75bbe552de0f0660df257ea45f2df9d025b9e2a6eb7338810b6a0b96ee5e"
    )
    canonical = fastavro.schema.to_parsing_canonical_form(SCHEMA)
    fingerprint = "241873782370d5b5ac978bab567aa608eab021c389009b5c44a46079d40cf41b"
    assert hashlib.sha256(canonical.encode()).hexdigest() == fingerprint
    assert hashlib.sha256(PARSED.canonical_form.encode()).hexdigest() == fingerprint


def test_watermark_of_document_002_byte_for_byte():
    written = write(History((Watermark(at(447984124732375041)),)), FORMAT.profile("v8.5.7"), LAYOUT)
    assert [(w.message.partition, w.message.key, w.message.headers) for w in written] == [
        (i, None, ()) for i in range(3)
    ]
    value = written[0].message.value
    # the buildTs, the last six bytes, is drawn
    assert (value[:-6], len(value)) == (WATERMARK[:-6], len(WATERMARK))
    payload = {"version": 1, "commitTs": 447984124732375041, "buildTs": 1708923816911}
    assert ENCODER(message_value("Watermark", payload)) == WATERMARK
    (expected,) = written[0].changes
    assert (expected.kind, expected.position, expected.database) == (
        Kind.WATERMARK,
        "447984124732375041",
        None,
    )


def test_row_of_the_reference_byte_for_byte():
    columns = (
        *(
            Column("id", mysql.integer("int"), nullable=False),
            Column("name", mysql.text("varchar", 255)),
        ),
        *(
            Column("u", mysql.integer("bigint", unsigned=True)),
            Column("ts", mysql.temporal("timestamp")),
        ),
        *(Column("n", mysql.integer("int")), Column("b", mysql.binary("varbinary", 4))),
    )
    user = Table("simple", "user", columns, ("id",))
    created = SchemaChange(
        at(447984074911121430),
        "create table",
        "CREATE TABLE `user` (`id` int)",
        "simple",
        "user",
        after=user,
    )
    row = {
        "id": 1,
        "name": "John Doe",
        "u": (1 << 64) - 1,
        "ts": mysql.wall("2023-12-31 16:00:00"),
        "n": None,
        "b": b"\x00\xff",
    }
    inserted = insert(user, row, at(447984084414103554))
    expected = ROW.index(b"\x02\x0c\x04id")
    wanted = sorted(entries(ROW[expected + 2 : -2]))
    written = write(History((created, inserted)), FORMAT.profile("v8.5.7"), LAYOUT)[-1]
    value = written.message.value
    body = read(value)["payload"]
    # the table id and the buildTs are the writer's own, the map's order is drawn
    payload = {**body, "tableID": 148, "buildTs": 1708923662983, "data": None}
    head = ENCODER(message_value("DML", payload))
    assert head[:-2] == ROW[:expected]
    start = value.index(b"\x02\x0c", len(head) - 12)
    assert sorted(entries(value[start + 2 : -2])) == wanted
    assert value[-2:] == ROW[-2:] == b"\0\0"
    assert (written.changes[0].schema_version, written.changes[0].position) == (
        "447984074911121426",
        "447984084414103554",
    )
    assert {n: c.value for n, c in written.changes[0].after.items()} == row


def entries(items):
    """The entries of the vector's map."""
    parts = re.split(
        rb"(?=\x04id\x02|\x08name\x08|\x02u\x0e|\x04ts\x0c|\x02n\x00|\x02b\x0a)", items
    )
    assert len(parts) == 7
    return parts[1:]


@pytest.mark.parametrize(
    ("event", "head"),
    [
        (Watermark(at(447984124732375041)), "160000"),
        (Bootstrap(Instant(1), table_of()), "160202"),
        (SchemaChange(Instant(5, 9), "create database", "CREATE DATABASE `x`", "x"), "160404"),
        (insert(table_of(), {"id": 1}), "160606"),
    ],
    ids=["WATERMARK", "BOOTSTRAP", "DDL", "DML"],
)
def test_first_three_bytes_tell_the_kind(event, head):
    for profile in FORMAT.profiles:
        if profile.deployment.compression == "none":
            assert write(History((event,)), profile, LAYOUT)[-1].message.value[:3].hex() == head


def test_bits_are_decimal_strings_in_the_new_architecture():
    for name in (NEW, HANDLE):
        assert cell(mysql.bit(8), 173, name)[0] == "173"
        wire, expected = cell(mysql.bit(64), (1 << 64) - 1, name)
        assert (wire, expected.text, expected.json) == (
            "18446744073709551615",
            "18446744073709551615",
            False,
        )


@pytest.mark.parametrize(
    ("kind", "length", "decimal", "unsigned", "zerofill"),
    [
        *(
            (mysql.integer("tinyint"), 4, None, False, False),
            (mysql.integer("bigint", unsigned=True), 20, None, True, False),
        ),
        *(
            (mysql.integer("int", zerofill=True), 10, None, True, True),
            (mysql.real("float"), 12, None, False, False),
        ),
        *(
            (mysql.decimal(10, 0), 10, 0, False, False),
            (mysql.decimal(5, 2, unsigned=True), 5, 2, True, False),
        ),
        *((mysql.bit(8), 8, None, True, False), (mysql.year(), 4, None, True, True)),
        *(
            (mysql.temporal("datetime", 6), 26, None, None, None),
            (mysql.temporal("timestamp", 3), 23, None, None, None),
        ),
        *(
            (mysql.binary("tinyblob"), 255, None, None, None),
            (mysql.json(), 4294967295, None, None, None),
        ),
    ],
)
def test_data_types(kind, length, decimal, unsigned, zerofill):
    assert data_type(kind) == dict(
        [
            *(
                ("mysqlType", kind.name),
                ("charset", "binary"),
                ("collate", "binary"),
                ("length", length),
                ("decimal", decimal),
            ),
            *(("elements", None), ("unsigned", unsigned), ("zerofill", zerofill)),
        ]
    )


@pytest.mark.parametrize(
    ("kind", "declared", "default"),
    [
        *(
            (mysql.integer("int"), "int DEFAULT 100", b"100"),
            (mysql.text("varchar", 9), "varchar(9) DEFAULT 'null'", b"null"),
        ),
        *(
            (mysql.text("varchar", 9), "varchar(9) DEFAULT ''", b""),
            (mysql.bit(8), "bit(8) DEFAULT b'101'", b"\x05"),
        ),
        *(
            (mysql.bit(8), "bit(8) DEFAULT b'11111111'", b"\xff"),
            (mysql.bit(16), "bit(16) DEFAULT b'11'", b"\x03"),
            (mysql.bit(16), "bit(16) DEFAULT 0x0003", b"\x00\x03"),
            (mysql.bit(16), "bit(16) DEFAULT 259", b"\x01\x03"),
        ),
        (mysql.integer("int"), "int DEFAULT NULL", None),
    ],
)
def test_defaults_are_strings_and_those_of_bit_raw_bytes(kind, declared, default):
    """Of a BIT they are those of the literal, not as many as the column has (getDefaultValue).

    https://github.com/pingcap/tidb/blob/ac41d7e3c8fc/pkg/ddl/add_column.go#L834-L873
    """
    table = table_of(Column("c", kind))
    sql = f"CREATE TABLE `t` (`id` bigint NOT NULL, `c` {declared}, PRIMARY KEY (`id`))"
    event = SchemaChange(Instant(5, 9), "create table", sql, "d", "t", after=table)
    value = write(History((event,)), FORMAT.profile("v8.5.7"), LAYOUT)[0].message.value
    assert fastavro.schemaless_reader(io.BytesIO(value), ENCODER._parsed, None)["payload"][
        "tableSchema"
    ]["columns"][1]["default"] == (default)


def test_a_ddl_carries_both_schemas_in_classic_and_the_new_one_only_in_the_new_architecture():
    table = table_of(Column("c", mysql.integer("int")))
    sql = "ALTER TABLE `t` ADD COLUMN `c` int"
    event = SchemaChange(at(447987408682614795), "add column", sql, "d", "t", table_of(), table)
    for name, before in (("v8.5.7", ["id"]), (NEW, None)):
        body, expected = message(name, event)
        assert (body["type"], body["sql"]) == ("ALTER", "ALTER TABLE `t` ADD COLUMN `c` INT")
        assert [c["name"] for c in body["tableSchema"]["columns"]] == ["id", "c"]
        schema = body["preTableSchema"]
        assert (schema and [c["name"] for c in schema["columns"]]) == before
        assert (expected.position, expected.commit_time_us) == (
            "447987408682614795",
            1708936342936000,
        )


def test_messages_are_those_of_json_in_another_encoding():
    table = table_of(Column("c", mysql.text("varchar", 9)))
    events = (
        SchemaChange(
            Instant(5, 9), "create table", "CREATE TABLE `t` (`id` int)", "d", "t", after=table
        ),
        insert(table, {"id": 1, "c": "x"}, Instant(10)),
        change(table, Op.UPDATE, ({"id": 1, "c": "x"}, {"id": 2, "c": "x"}), at=Instant(20)),
        Watermark(Instant(30)),
        Heartbeat(Instant(40)),
    )
    for profile in FORMAT.profiles:
        twin = ticdc_simple_json.FORMAT.profile(profile.name)
        ours, theirs = (
            w(History(events), p, LAYOUT)
            for w, p in ((write, profile), (ticdc_simple_json.write, twin))
        )
        assert [
            (w.message.partition, w.message.key, w.message.timestamp_ms, w.changes[0].kind)
            for w in ours
        ] == [
            (w.message.partition, w.message.key, w.message.timestamp_ms, w.changes[0].kind)
            for w in theirs
        ]
        assert [(w.changes[0].types, w.changes[0].schema_version) for w in ours] == [
            (w.changes[0].types, w.changes[0].schema_version) for w in theirs
        ]


def test_outdated_schema_is_the_tenth_of_ten_records():
    assert OUTDATED[:3] == bytes.fromhex("120606")


def test_a_columns_place_in_the_map_changes_with_the_seed_and_nothing_else_does():
    (scenario,) = (
        s for s in boundary_scenarios(FORMAT, FORMAT.profiles[0]) if s.name == "map/order"
    )
    records = [
        write(replace(scenario.history, seed=seed), FORMAT.profiles[0], LAYOUT)[0]
        for seed in range(5)
    ]
    rows = [read(record.message.value)["payload"]["data"] for record in records]
    assert rows == [{"id": 1, **{f"n{i}": 10 + i for i in range(8)}}] * 5
    assert len(set(map(tuple, rows))) > 1


def test_both_encodings_have_the_rules_of_the_protocol_in_common():
    def ids(fmt):
        return {rule.id.split("/", 1)[1] for rule in rules(fmt) if "/value/" not in rule.id}

    own = ids("ticdc-simple-avro") - ids("ticdc-simple-json")
    assert own == {"fault/contradiction", "framing/union-index", "ddl/bit-default-not-utf-8"}
    assert ids("ticdc-simple-json") - ids("ticdc-simple-avro") == {
        "fault/no-such-message",
        "fault/cell-text",
    }
