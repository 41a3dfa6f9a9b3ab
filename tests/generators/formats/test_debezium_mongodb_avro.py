"""debezium-mongodb-avro's writer makes the schemas and data that the connector's and the
converter's own classes make, Apache's reader reads them, and the schema knows no field of a
document.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from avro.io import BinaryDecoder, DatumReader
from avro.schema import parse

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.families import confluent
from generators.formats.debezium_mongodb_avro import FORMAT, write
from generators.garbage import faults
from generators.garbage.wellformed import State
from generators.model import Column, History, Kind, Layout, Op, Table, Value, Written
from generators.sources import boundaries
from generators.sources.mongodb import TYPES

RECORDS = Path(__file__).with_name("debezium_mongodb_avro_records.jsonl")
PLAIN = "3.6.1.Final"
UPDATES = "3.6.1.Final+change_streams+record-name"
JSON_TYPE = {"type": "string", "connect.version": 1, "connect.name": "io.debezium.data.Json"}
OLD: dict[str, Value] = {"_id": 1004, "name": "unknown", "n": 5}
NEW: dict[str, Value] = {**OLD, "name": "Anne"}


def customers(*fields: str, name: str = "customers") -> Table:
    """The collection of the tests, with string fields of these names."""
    columns = (
        Column("_id", TYPES["long"], nullable=False),
        *(Column(field, TYPES["int" if field == "n" else "string"]) for field in fields),
    )
    return Table("inventory", name, columns, ("_id",))


CUSTOMERS = customers("name", "n")


def row_message(profile: str, op: Op, table: Table = CUSTOMERS) -> Written:
    """The record of one change of a document."""
    pair = {Op.INSERT: (None, NEW), Op.UPDATE: (OLD, NEW), Op.DELETE: (OLD, None)}[op]
    history = History((boundaries.change(table, op, pair),))
    return write(history, FORMAT.profile(profile), Layout())[0]


def schema_of(data: bytes | None) -> Any:
    """The schema that the framing of a key or value names."""
    assert data is not None
    return json.loads(confluent.SCHEMAS[int.from_bytes(data[1:5])][1])


def datum(data: bytes | None) -> Any:
    """The datum of a key or value, by Apache's reader."""
    assert data is not None
    reader = DatumReader(parse(json.dumps(schema_of(data))))
    return reader.read(BinaryDecoder(io.BytesIO(data[5:])))


def test_documents_are_texts_and_an_update_is_described_in_a_record() -> None:
    value = row_message(UPDATES, Op.UPDATE).message.value
    assert datum(value)["before"] is None
    assert datum(value)["after"] is None
    assert datum(value)["updateDescription"] == {
        "removedFields": None,
        "updatedFields": '{"name": "Anne"}',
        "truncatedArrays": None,
    }
    inserted = datum(row_message(PLAIN, Op.INSERT).message.value)
    assert inserted["after"] == '{"_id": {"$numberLong": "1004"},"name": "Anne","n": 5}'


def test_the_schema_names_connect_s_types_and_no_field_of_a_document() -> None:
    schema = schema_of(row_message(PLAIN, Op.INSERT).message.value)
    assert (schema["namespace"], schema["name"]) == ("cdc.inventory.customers", "Envelope")
    fields = {field["name"]: field["type"] for field in schema["fields"]}
    assert fields["before"] == fields["after"] == ["null", JSON_TYPE]
    description = fields["updateDescription"][1]
    assert description["namespace"] == "io.debezium.connector.mongodb.changestream"
    of_description = {field["name"]: field["type"] for field in description["fields"]}
    assert of_description["removedFields"] == ["null", {"type": "array", "items": "string"}]
    assert of_description["updatedFields"] == ["null", JSON_TYPE]
    truncated = of_description["truncatedArrays"][1]["items"]
    assert [field["name"] for field in truncated["fields"]] == ["field", "size"]
    assert "unknown" not in json.dumps(schema)
    wider = row_message(PLAIN, Op.INSERT, customers("name", "n", "more"))
    assert schema_of(wider.message.value) == schema


def test_a_key_is_a_record_of_the_text_of_the_id() -> None:
    key = row_message(PLAIN, Op.DELETE).message.key
    assert datum(key) == {"id": "1004"}
    assert schema_of(key)["fields"] == [{"name": "id", "type": "string"}]


def test_names_of_schemas_are_adjusted_and_those_in_source_are_not() -> None:
    value = row_message(PLAIN, Op.INSERT, customers("name", "n", name="a-b c")).message.value
    assert schema_of(value)["namespace"] == "cdc.inventory.a_b_c"
    assert datum(value)["source"]["collection"] == "a-b c"


@pytest.mark.parametrize(
    ("options", "subject"),
    [
        ("", "cdc.inventory.customers-value"),
        ("+record-name", "cdc.inventory.customers.Envelope"),
        ("+topic-record-name", "cdc.inventory.customers-cdc.inventory.customers.Envelope"),
    ],
)
def test_subjects(options: str, subject: str) -> None:
    value = row_message(f"3.6.1.Final{options}", Op.INSERT).message.value or b""
    assert subject in confluent.SCHEMAS[int.from_bytes(value[1:5])][0]


OF_MEMBERS = [fault for fault in FORMAT.faults if fault.tag in ("syntax", "no-such-message")]


@pytest.mark.parametrize("fault", OF_MEMBERS, ids=lambda fault: fault.name)
def test_a_spoiled_member_leaves_a_whole_datum(fault: faults.Fault) -> None:
    written = row_message(PLAIN, Op.INSERT)
    spoiled = faults.apply(written, fault)
    assert spoiled.message.value != written.message.value
    assert confluent.remains_of_datum(spoiled.message.value).state is State.READABLE
    assert spoiled.changes[0].kind is Kind.CORRUPT


def test_an_update_without_a_document_has_a_text_to_spoil_too() -> None:
    (fault,) = [fault for fault in FORMAT.faults if fault.name == "document-scalar"]
    spoiled = faults.apply(row_message(UPDATES, Op.UPDATE), fault)
    assert datum(spoiled.message.value)["updateDescription"]["updatedFields"] == "42"


def test_the_records_of_the_connectors_and_the_converters_own_classes() -> None:
    lines = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    recorded = {(profile, name, number): pair for profile, name, number, *pair in lines}
    assert len(recorded) == len(lines) > 20
    written: dict[tuple[str, str, int], list[str]] = {}
    names = {(profile, name) for profile, name, _ in recorded}
    for profile in FORMAT.profiles:
        for scenario in boundary_scenarios(FORMAT, profile):
            if (profile.name, scenario.name) in names:
                records = write(scenario.history, profile, LAYOUT)
                rows = [one for one in records if one.changes[0].kind is Kind.ROW]
                for number, one in enumerate(rows):
                    pair = [readable(part) for part in (one.message.key, one.message.value)]
                    written[profile.name, scenario.name, number] = pair
    assert written == recorded


def readable(part: bytes | None) -> str:
    """A key or value as JSON of its schema and its datum, without its subjects."""
    assert part is not None
    _, schema_json = confluent.SCHEMAS[int.from_bytes(part[1:5])]
    return confluent.readable(part, lambda _number: ((), schema_json)).decode()
