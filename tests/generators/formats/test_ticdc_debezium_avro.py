"""TiCDC's Debezium protocol in Avro: the literals of TiCDC's own tests, and records of its own
converter.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from conformance.cases.catalogue import write_named_cases
from generators.drawing.cases import boundary_scenarios
from generators.errors import Refused
from generators.families import confluent
from generators.formats.ticdc_debezium_avro import FORMAT, write
from generators.model import (
    Column,
    Default,
    Event,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    Row,
    SchemaChange,
    State,
    Table,
    Watermark,
    Written,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert

FOO = Table(
    "test",
    "foo",
    (
        Column("id", mysql.integer("int"), False),
        Column("name", mysql.text("varchar", 16)),
        Column("bin", mysql.binary("varbinary", 16)),
        Column("price", mysql.decimal(10, 4)),
        Column("ubig", mysql.integer("bigint", unsigned=True)),
        Column("v", mysql.integer("bigint")),
    ),
    ("id",),
)
ALICE: Row = {
    "id": 1,
    "name": "alice",
    "bin": b"\x01\x02\x03",
    "price": Decimal("12.3400"),
    "ubig": (1 << 64) - 1,
    "v": None,
}
"""Table and row of TestDebeziumConfluentAvroEncodeRowEvent."""
STRINGS = "new-26.3.4+bigint-string"
OWN = "new-26.3.4+extension+watermarks"
RECORDS = Path(__file__).with_name("ticdc_debezium_avro_records.jsonl")
"""Of named cases: schema and datum of key and value, by toAvroSchema and toNative of pingcap/ticdc
v26.3.4 and by linkedin/goavro v2.14.0, from the Connect schema and the payload of the writer.
"""


def messages(name: str, *events: Event, partitions: int = 1) -> list[Written]:
    return write(History(events), FORMAT.profile(name), Layout(partitions=partitions))


def schema_text(part: bytes | None) -> str:
    assert part is not None
    return confluent.SCHEMAS[int.from_bytes(part[1:5])][1]


def datum(part: bytes | None) -> Any:
    assert part is not None
    assert part[:1] == b"\0"
    return fastavro.schemaless_reader(
        io.BytesIO(part[5:]), fastavro.parse_schema(json.loads(schema_text(part))), None
    )


def subjects(part: bytes | None) -> tuple[str, ...]:
    assert part is not None
    return confluent.SCHEMAS[int.from_bytes(part[1:5])][0]


def test_encode_row_event() -> None:
    """TestDebeziumConfluentAvroEncodeRowEvent."""
    (one,) = messages(STRINGS, insert(FOO, ALICE))
    assert datum(one.message.key)["id"] == 1
    value = datum(one.message.value)
    assert (value["op"], value["before"]) == ("c", None)
    assert "transaction" not in value
    after = value["after"]
    assert (after["id"], after["name"], after["bin"]) == (1, "alice", b"\x01\x02\x03")
    assert (after["ubig"], after["v"]) == ("18446744073709551615", None)
    assert after["price"] == Decimal("12.34")
    source = value["source"]
    assert (source["db"], source["table"]) == ("test", "foo")
    assert (source["snapshot"], source["thread"]) == (None, None)
    text = schema_text(one.message.value)
    for part in ('"name":"fooEnvelope"', '"name":"foo"', '"name":"Source"'):
        assert part in text
    assert '"logicalType":"decimal"' in text
    assert '"field":"transaction"' not in text


def test_names_of_schemas_are_sanitized() -> None:
    """TestDebeziumConfluentAvroSanitizesFullNameAndUnionBranch."""
    table = replace(FOO, database="test-db", name="foo-bar")
    (one,) = messages(STRINGS, insert(table, ALICE))
    text = schema_text(one.message.value)
    assert '"name":"foo_barEnvelope"' in text
    assert '"namespace":"default.test_db"' in text
    assert '"name":"foo_bar"' in text
    assert '"connect.name":"default.test_db.foo_bar"' in text
    assert (one.changes[0].database, one.changes[0].table) == ("test-db", "foo-bar")


def test_account_events() -> None:
    """TestDebeziumConfluentAvroDecodeAccountDMLEvents: the rows that TiCDC's decoder gives back."""
    number = mysql.integer("int")
    table = Table(
        "test",
        "tp_account",
        (Column("id", number, False), Column("account_id", number, False)),
        ("id",),
    )
    written = messages(
        "new-26.3.4+extension",
        insert(table, {"id": 12, "account_id": 34}),
        change(table, Op.UPDATE, ({"id": 13, "account_id": 34}, {"id": 13, "account_id": 35})),
        change(table, Op.DELETE, ({"id": 14, "account_id": 34}, None)),
    )
    values = [datum(one.message.value) for one in written]
    assert [(v["op"], v["before"], v["after"]) for v in values] == [
        ("c", None, {"id": 12, "account_id": 34}),
        ("u", {"id": 13, "account_id": 34}, {"id": 13, "account_id": 35}),
        ("d", {"id": 14, "account_id": 34}, None),
    ]
    assert [datum(one.message.key) for one in written] == [{"id": 12}, {"id": 13}, {"id": 14}]


def test_a_field_tells_its_own_name_and_its_type() -> None:
    column = Column("1汉-<", mysql.integer("int", unsigned=True), False)
    table = Table("d", "t", (FOO.columns[0], column), ("id",))
    (one,) = messages(OWN, insert(table, {"id": 1, "1汉-<": 2}))
    before = json.loads(schema_text(one.message.value))["fields"][0]["type"][1]
    assert before["fields"][1] == {
        "connect.field": "1汉-<",
        "default": None,
        "name": "_1___",
        "tidb_type": "int unsigned",
        "type": ["null", "long"],
    }
    assert r"\u003c" in schema_text(one.message.value)
    (owed,) = one.changes
    assert sorted(owed.after or {}) == ["_1___", "id"]
    assert sorted(owed.full_after or {}) == ["1汉-<", "id"]
    assert owed.other_keys == ()


def test_a_key_is_called_as_in_the_schema_or_as_the_table_calls_it() -> None:
    table = Table("d", "t", (Column("n-", mysql.integer("int"), False),), ("n-",))
    (one,) = messages(OWN, insert(table, {"n-": 1}))
    assert datum(one.message.key) == {"n_": 1}
    assert (one.changes[0].keys, one.changes[0].other_keys) == (("n_",), (("n-",),))


def test_ddl_and_watermarks_are_written_with_avro_enable_watermark_alone() -> None:
    """TestDebeziumConfluentAvroEncodeDDLEvent, ...EncodeCheckpointEvent and
    ...DoesNotEncodeCheckpointEventByDefault.
    """
    sql = "CREATE TABLE `test`.`source_table` (`id` INT PRIMARY KEY, `name` VARCHAR(32))"
    table = replace(FOO, name="source_table", columns=FOO.columns[:2])
    events: tuple[Event, ...] = (
        SchemaChange(Instant(0, 0), "create table", sql, "test", "source_table", after=table),
        Watermark(Instant(1, 0)),
    )
    for silent in ("new-26.3.4", "new-26.3.4+extension"):
        assert messages(silent, *events) == []
    written = messages(OWN, *events, partitions=2)
    assert [(one.changes[0].kind, one.message.partition) for one in written] == [
        (Kind.DDL, 0),
        (Kind.DDL, 1),
        (Kind.WATERMARK, 0),
        (Kind.WATERMARK, 1),
    ]
    statement, watermark = written[0].message, written[2].message
    value = datum(statement.value)
    assert (value["databaseName"], value["source"]["table"]) == ("test", "source_table")
    assert value["source"]["snapshot"] == "false"
    (changed,) = value["tableChanges"]
    assert (changed["type"], changed["id"]) == ("CREATE", '"test"."source_table"')
    assert datum(statement.key) == {"databaseName": "test"}
    assert subjects(statement.value) == ("io.debezium.connector.mysql.SchemaChangeValue",)
    value = datum(watermark.value)
    assert (value["op"], value["transaction"], value["source"]["db"]) == ("m", None, "")
    assert datum(watermark.key) == {}
    assert subjects(watermark.key) == ("default.watermark.Key",)


def test_a_kept_watermark_has_its_schemas_under_their_own_names() -> None:
    """EncodeCheckpointEvent registers them without a topic (debeziumAvroSubject)."""
    (case,) = write_named_cases(FORMAT, FORMAT.profile(OWN), ("*/control/watermark",))
    schemas = confluent.schemas_of_cases([case]).values()
    assert sorted(subjects for subjects, _ in schemas) == [
        ("default.watermark.Envelope",),
        ("default.watermark.Key",),
    ]
    (case,) = write_named_cases(FORMAT, FORMAT.profile(OWN), ("*/shape/delete",))
    schemas = confluent.schemas_of_cases([case]).values()
    assert sorted(subjects for subjects, _ in schemas) == [("cdc-key",), ("cdc-value",)]


def test_every_statement_names_the_schema_of_the_first() -> None:
    written = messages(
        OWN,
        *(
            SchemaChange(Instant(i, 0), "create database", f"CREATE DATABASE `{name}`", name, "")
            for i, name in enumerate("ab")
        ),
    )
    texts = [schema_text(one.message.value) for one in written]
    assert texts[0] == texts[1]
    assert '"connect.name":"default.a.Source"' in texts[0]
    assert [datum(one.message.value)["source"]["db"] for one in written] == ["a", "b"]


def test_a_bigint_of_over_63_bits_stops_the_changefeed_unless_it_is_text() -> None:
    events = (insert(FOO, {**ALICE, "ubig": (1 << 63) - 1}), insert(FOO, {**ALICE, "id": 2}))
    assert [len(messages(name, *events)) for name in ("new-26.3.4", STRINGS)] == [1, 2]


@pytest.mark.parametrize(
    "more",
    [Column("w", mysql.integer("int"), generated="virtual"), Column("n-", mysql.integer("int"))],
    ids=["virtual", "of one name"],
)
def test_a_field_twice_stops_the_changefeed(more: Column) -> None:
    columns = (FOO.columns[0], Column("n_", mysql.integer("int")), more)
    table = Table("d", "t", columns, ("id",))
    assert messages("new-26.3.4", insert(table, {"id": 1, "n_": 2, more.name: 3})) == []


def test_a_virtual_column_that_the_selectors_leave_out_is_null() -> None:
    virtual = Column("hidden_v", mysql.integer("int"), generated="virtual")
    hidden = Column("hidden_a", mysql.integer("int"))
    table = Table("d", "t", (virtual, FOO.columns[0], hidden), ("id",))
    row: Row = {"id": 1, "hidden_v": 2, "hidden_a": 3}
    (one,) = messages("new-26.3.4+selected", insert(table, row))
    assert datum(one.message.value)["after"] == {"id": 1, "hidden_v": None}
    after = one.changes[0].after or {}
    assert [(name, after[name].state) for name in sorted(after)] == [
        ("hidden_a", State.ABSENT),
        ("hidden_v", State.NULL),
        ("id", State.VALUE),
    ]


def test_tables_without_a_key_and_one_called_source() -> None:
    row: Row = {"id": 1}
    keyless = Table("d", "t", FOO.columns[:1])
    assert messages("new-26.3.4", insert(keyless, row)) == []
    with pytest.raises(Refused, match="block source"):
        messages("new-26.3.4", insert(Table("d", "Source", FOO.columns[:1], ("id",)), row))


def test_a_default_stands_for_null_and_in_no_schema() -> None:
    column = Column("p", mysql.decimal(10, 2), default=Default("1.50", Decimal("1.50")))
    table = Table("d", "t", (FOO.columns[0], column), ("id",))
    (one,) = messages("new-26.3.4+decimal-string", insert(table, {"id": 1, "p": None}))
    assert datum(one.message.value)["after"] == {"id": 1, "p": "1.50"}
    assert "1.50" not in schema_text(one.message.value)


def test_the_text_of_a_decimals_default_has_the_digits_of_the_stored_default() -> None:
    """TiCDC (getValueFromDefault) parses the stored text, whatever the column's scale."""
    column = Column("p", mysql.decimal(10, 2), default=Default("1.5", Decimal("1.50")))
    table = Table("d", "t", (FOO.columns[0], column), ("id",))
    (one,) = messages("new-26.3.4+decimal-string", insert(table, {"id": 1, "p": None}))
    assert datum(one.message.value)["after"] == {"id": 1, "p": "1.5"}
    (one,) = messages("new-26.3.4", insert(table, {"id": 1, "p": None}))
    assert datum(one.message.value)["after"] == {"id": 1, "p": Decimal("1.50")}


def test_null_of_a_default_that_is_no_literal_of_its_column() -> None:
    """The default is a text: of a YEAR its number as it is spelled, of an expression the text, and 0
    where the column's values are integers; for a DATE, and an expression of a DECIMAL, it panics.

    https://github.com/pingcap/ticdc/blob/v26.3.4/pkg/sink/codec/debezium/avro.go#L474-L668
    """
    for type, default, shown in (
        (mysql.TYPES["year"], Default("99", 1999), 99),
        (mysql.text("varchar", 36), Default("(UUID())"), "uuid()"),
        (mysql.json(), Default("(JSON_ARRAY(1, 2))"), "json_array(1, 2)"),
        (mysql.enum_of("a", "b"), Default("(UUID())"), ""),
        (mysql.integer("int"), Default("(RAND())"), 0),
    ):
        table = Table("d", "t", (FOO.columns[0], Column("c", type, default=default)), ("id",))
        event = insert(table, {"id": 1, "c": None})
        (one,) = messages("new-26.3.4+decimal-string", event)
        assert datum(one.message.value)["after"] == {"id": 1, "c": shown}
    for type, default in (
        (mysql.TYPES["date"], Default("'2020-01-05'", date(2020, 1, 5))),
        (mysql.decimal(10, 2), Default("(RAND())")),
    ):
        table = Table("d", "t", (FOO.columns[0], Column("c", type, default=default)), ("id",))
        assert messages("new-26.3.4", insert(table, {"id": 1, "c": None})) == []


def test_a_default_that_is_partly_a_zero_date_stops_the_changefeed() -> None:
    """TiCDC (debeziumAvroFieldValue) parses the default's text with StrToDateTime, which refuses it."""
    for zero_date, sent in ((ZeroDate(2020), 0), (ZeroDate(), 1)):
        column = Column("c", mysql.temporal("datetime"), default=Default("x", zero_date))
        table = Table("d", "t", (FOO.columns[0], column), ("id",))
        assert len(messages("new-26.3.4", insert(table, {"id": 1, "c": None}))) == sent


def test_output_old_value_false_leaves_before_null() -> None:
    row: Row = {**ALICE, "name": "bob"}
    name = f"{STRINGS}+without-before"
    updated, deleted = messages(
        name, change(FOO, Op.UPDATE, (ALICE, row)), change(FOO, Op.DELETE, (row, None))
    )
    assert datum(updated.message.value)["before"] is None
    assert updated.changes[0].before is None
    assert datum(deleted.message.value)["before"]["name"] == "bob"


def test_a_row_before_that_is_not_sent_stops_nothing() -> None:
    """TiCDC (buildDebeziumAvroValueMessage) reads it only if output-old-value is true."""
    event = change(FOO, Op.UPDATE, (ALICE, {**ALICE, "ubig": 1}))
    names = ("new-26.3.4", "new-26.3.4+without-before")
    assert [len(messages(name, event)) for name in names] == [0, 1]


def test_the_records_of_ticdcs_own_converter() -> None:
    lines = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    recorded = {(profile, name, number): parts for profile, name, number, *parts in lines}
    assert len(recorded) == len(lines) > 20
    written: dict[tuple[str, str, int], list[str]] = {}
    names = {(profile, name) for profile, name, _ in recorded}
    for profile in FORMAT.profiles:
        for scenario in boundary_scenarios(FORMAT, profile):
            if (profile.name, scenario.name) in names:
                for number, one in enumerate(
                    write(scenario.history, profile, Layout(partitions=1))
                ):
                    key, value = one.message.key or b"", one.message.value or b""
                    parts = [schema_text(key), key[5:].hex(), schema_text(value), value[5:].hex()]
                    written[profile.name, scenario.name, number] = parts
    assert written == recorded
