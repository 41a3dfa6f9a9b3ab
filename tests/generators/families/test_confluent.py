"""Confluent's framing, Connect's schemas as Avro's, and their data, which another reader reads."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Any

import pytest
from avro.io import BinaryDecoder, DatumReader
from avro.schema import parse

from conformance.cases.catalogue import write_named_cases
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios
from generators.errors import HarnessError
from generators.families import confluent
from generators.families.connect import Schema, message_members, schema_text, string
from generators.families.debezium.values import Modes, decimal_schema
from generators.families.wire_messages import json_text
from generators.garbage.wellformed import READABLE, Remains, State
from generators.model import Column, History, RowChange, SchemaChange, Table
from generators.sources import mysql
from generators.sources.boundaries import START, insert
from generators.storage import codec
from generators.wire_format import get

DECIMAL = (
    '{"type":"bytes","scale":2,"precision":10,"connect.version":1,"connect.parameters":{"scale":"2",'
    '"connect.decimal.precision":"10"},"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}'
)
"""As AvroDataTest of confluentinc/schema-registry (createDecimalSchema) puts it together."""


def avro(schema: Schema) -> str:
    return confluent.avro_schema(json.loads(schema_text(schema)))


def datum(schema: Schema, value: Any) -> Any:
    """A value as Apache's reader has it."""
    return read(
        confluent.convert_message(
            json_text(message_members(schema, value), string),
            "t",
            "value",
            confluent.STRATEGIES["record-name"],
        )
    )


def read(data: bytes) -> Any:
    """The datum as Apache's reader has it by the schema whole, with its logical types but those of
    times, which may be 24:00 or more, and of decimals whose scale is below zero, which Avro calls
    invalid; the writer uses another library.
    """
    source = io.BytesIO(data[5:])
    schema = confluent.SCHEMAS[int.from_bytes(data[1:5])][1].replace(
        '"logicalType":"time-', '"number":"time-'
    )
    schema = re.sub(
        r'("scale":-[0-9]+[^{}]*(?:\{[^{}]*\}[^{}]*)?)"logicalType":"decimal"',
        r'\1"number":"decimal"',
        schema,
    )
    value = DatumReader(parse(schema)).read(BinaryDecoder(source))
    assert not source.read()
    return value


def test_a_schema_of_connect_is_written_as_the_converter_writes_it() -> None:
    precise = decimal_schema(10, 2, Modes(), False)
    assert avro(precise) == DECIMAL
    assert avro(replace(precise, optional=True)) == f'["null",{DECIMAL}]'
    assert avro(Schema("int16")) == '{"type":"int","connect.type":"int16"}'
    assert avro(
        Schema(
            "string",
            True,
            "io.debezium.data.Enum",
            1,
            parameters=(("allowed", "a,b"),),
            default='"a"',
        )
    ) == (
        '[{"type":"string","connect.version":1,"connect.parameters":{"allowed":"a,b"},"connect.default":"a",'
        '"connect.name":"io.debezium.data.Enum"},"null"]'
    )
    row = Schema(
        "struct",
        True,
        "dbserver1.mydb.team.Value",
        fields=(("id", Schema("int32")), ("name", Schema("string"))),
    )
    whole = Schema(
        "struct", False, "dbserver1.mydb.team.Envelope", fields=(("before", row), ("after", row))
    )
    # How confluent's cloud connector prints it:
    # github.com/vdesabou/kafka-docker-playground/issues/7139.
    assert avro(whole) == (
        '{"type":"record","name":"Envelope","namespace":"dbserver1.mydb.team","fields":[{"name":"before","type":["null",'
        '{"type":"record","name":"Value","fields":[{"name":"id","type":"int"},{"name":"name","type":"string"}],'
        '"connect.name":"dbserver1.mydb.team.Value"}],"default":null},{"name":"after","type":["null","Value"],"default":null}],'
        '"connect.name":"dbserver1.mydb.team.Envelope"}'
    )


def test_data_are_those_that_another_reader_reads() -> None:
    fields = (
        ("n", Schema("int64")),
        ("d", decimal_schema(10, 2, Modes(), True)),
        ("f", Schema("float", True, default="1.5")),
        ("a", Schema("array", items=Schema("string", True))),
        ("m", Schema("map", items=Schema("boolean"))),
        ("s", Schema("struct", True, fields=(("x", Schema("double")),))),
    )
    shape = Schema("struct", False, "a.B", fields=fields)
    given = {
        "n": -(1 << 63),
        "d": (-12345).to_bytes(2, signed=True),
        "f": 0.1,
        "a": ["é", None],
        "m": {"k": True},
        "s": {"x": 2.5},
    }
    value = datum(shape, given)
    assert (value["n"], value["d"], value["a"], value["m"], value["s"]) == (
        -(1 << 63),
        Decimal("-123.45"),
        ["é", None],
        {"k": True},
        {"x": 2.5},
    )
    assert round(value["f"], 6) == 0.1
    assert datum(shape, {**given, "d": None, "a": [], "m": {}, "s": None, "f": float("inf")})[
        "f"
    ] == float("inf")


def test_every_message_of_the_writer_is_read_by_another_reader() -> None:
    fmt = get("debezium-avro")
    for profile in fmt.profiles:
        for scenario in islice(boundary_scenarios(fmt, profile), 0, None, 9):
            for record in as_case(fmt, profile, scenario).written:
                for part in filter(None, (record.message.key, record.message.value)):
                    assert confluent.remains_of_datum(part) == READABLE, (
                        profile.name,
                        scenario.name,
                    )
                    assert isinstance(read(part), dict)


@pytest.mark.parametrize(
    ("logical", "datum", "left"),
    [
        ("time-millis", b"\x80\xb8\x99\x29", READABLE),
        ("time-millis", b"\x80\xf0\xb2\x52", READABLE),
        ("time-millis", b"", Remains(State.UNREADABLE, "truncated")),
        ("date", b"\xfe\xff\xff\xff\x0f", READABLE),
    ],
)
def test_a_time_outside_the_day_is_a_well_formed_datum(
    logical: str, datum: bytes, left: Remains
) -> None:
    """12:00, 24:00, nothing at all, and the last day: libraries make no time of day of the second,
    and no date of the last.
    """
    schema = f'{{"type":"record","name":"r","fields":[{{"name":"t","type":{{"type":"int","logicalType":"{logical}"}}}}]}}'
    assert confluent.remains_of_datum(confluent.frame_schema("t-value", schema) + datum) == left


def test_the_framing_is_a_zero_and_the_id() -> None:
    head = confluent.frame_schema("t-value", '"string"')
    number = int.from_bytes(head[1:])
    assert (len(head), head[:1]) == (5, b"\x00")
    # sha256 of the text, its first 31 bits
    assert number == 0x69E5C1C9
    assert confluent.SCHEMAS[number] == (("t-value",), '"string"')
    with pytest.raises(HarnessError, match="two schemas have the id"):
        confluent.recall({number: (("t-value",), '"int"')})


@pytest.mark.parametrize(
    ("option", "subjects"),
    [
        ("", {"cdc.d.t-key", "cdc.d.t-value"}),
        ("record-name", {"cdc.d.t.Key", "cdc.d.t.Envelope"}),
        ("topic-record-name", {"cdc.d.t-cdc.d.t.Key", "cdc.d.t-cdc.d.t.Envelope"}),
    ],
)
def test_the_subject_follows_the_strategy(option: str, subjects: set[str]) -> None:
    name = confluent.STRATEGIES[option]
    assert {
        name("cdc.d.t", "cdc.d.t.Key", "key"),
        name("cdc.d.t", "cdc.d.t.Envelope", "value"),
    } == subjects


def test_a_saved_case_brings_its_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    fmt = get("debezium-avro")
    scenario = next(
        s for s in boundary_scenarios(fmt, fmt.profiles[0]) if s.name == "schema/evolved"
    )
    case = as_case(fmt, fmt.profiles[0], scenario)
    named = confluent.schemas_of_cases([case])
    values = [t for (s,), t in named.values() if s.endswith("-value") and '"ddl"' not in t]
    assert len(values) == 3  # one for each version of the table
    plain = json.loads(json.dumps(codec.dump_case(case)))
    monkeypatch.setattr(confluent, "SCHEMAS", {})
    assert codec.load_case(plain) == case
    assert named == confluent.SCHEMAS


@pytest.mark.parametrize("name", ["fault/magic-one/insert", "schema/evolved"])
def test_a_case_keeps_its_schemas_under_its_profiles_subjects_whatever_else_was_written(
    name: str,
) -> None:
    """A message that is spoiled in its first byte needs its schema as any other."""
    fmt = get("debezium-avro")
    profiles = [
        fmt.profile("3.5.0.Final"),
        fmt.profile("3.5.0.Final+record-name"),
        fmt.profile("3.5.0.Final+topic-record-name"),
    ]
    names = []
    for profile in profiles:
        (case,) = write_named_cases(fmt, profile, (f"*/{name}",))
        names.append(
            {
                subject
                for subjects, _ in confluent.schemas_of_cases([case]).values()
                for subject in subjects
            }
        )
    assert all(subject.endswith(("-key", "-value")) for subject in names[0])
    assert names[1] and all(
        "-" not in subject and subject.endswith(("Key", "Envelope", "Value"))
        for subject in names[1]
    )
    assert names[2] and all("-cdc." in subject or "-io." in subject for subject in names[2])


def test_a_connector_stops_at_a_table_of_which_two_columns_have_one_name() -> None:
    fmt = get("debezium-avro")
    scenario = next(
        s for s in boundary_scenarios(fmt, fmt.profiles[0]) if s.name == "shape/punctuated-names"
    )
    event = scenario.history.events[0]
    assert isinstance(event, RowChange)
    names = {"p:q": "a:b", "c/d": "a/b"}
    columns = tuple(
        replace(column, name=names.get(column.name, column.name)) for column in event.table.columns
    )
    rows = tuple(
        replace(images, after={names.get(n, n): v for n, v in (images.after or {}).items()})
        for images in event.rows
    )
    clash = replace(event, table=replace(event.table, columns=columns), rows=rows)
    assert fmt.write(History((event,)), fmt.profiles[0], LAYOUT)
    assert fmt.write(History((clash,)), fmt.profiles[0], LAYOUT) == []


def test_a_statement_tells_columns_by_their_own_names_and_rows_by_avro_s() -> None:
    """Recorded from Debezium 3.5.0.Final with schema.name.adjustment.mode and
    field.name.adjustment.mode avro.
    """
    fmt, key = get("debezium-avro"), Column("a b", mysql.integer("int"), False)
    table = Table("d", "t", (key, Column("a<b>&c", mysql.text("varchar", 64))), ("a b",))
    made = SchemaChange(START, "create table", "CREATE TABLE ...", "d", "t", None, table)
    statement, row = fmt.write(
        History((made, insert(table, {"a b": 1, "a<b>&c": "x"}))),
        fmt.profile("3.5.0.Final+mariadb"),
        LAYOUT,
    )
    description = json.loads(confluent.readable(statement.message.value or b""))["payload"][
        "tableChanges"
    ][0]["table"]
    assert [column["name"] for column in description["columns"]] == ["a b", "a<b>&c"]
    assert description["primaryKeyColumnNames"] == ["a b"]
    assert json.loads(confluent.readable(row.message.key or b""))["payload"] == {"a_b": 1}
    assert json.loads(confluent.readable(row.message.value or b""))["payload"]["after"] == {
        "a_b": 1,
        "a_b__c": "x",
    }


def test_a_datum_that_avro_would_encode_otherwise_is_told_apart() -> None:
    head = confluent.frame_schema("t-value", '{"type":"array","items":"int"}')
    one_block, two_blocks = (head + bytes.fromhex(datum) for datum in ("04020400", "0202020400"))
    shown = [json.loads(confluent.readable(value)) for value in (one_block, two_blocks)]
    assert [document["payload"] for document in shown] == [[1, 2]] * 2
    assert [document.get("datum") for document in shown] == [None, "AgICBAA="]


@pytest.mark.parametrize(
    ("name", "expected"), [("C", "x.y.C"), ("a.b.C", "a.b.C")], ids=["own", "full"]
)
def test_a_name_with_dots_is_a_full_name(name: str, expected: str) -> None:
    """Avro's specification, "Names": the namespace beside such a name is ignored."""
    schema = {"type": "record", "namespace": "x.y", "name": name, "fields": []}
    assert confluent._record_name(json.dumps(schema)) == expected
    props = parse(json.dumps(schema)).props
    assert f"{props['namespace']}.{props['name']}" == expected
