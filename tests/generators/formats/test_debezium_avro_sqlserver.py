"""Debezium's SQL Server connector in Confluent's framing: schemas, data and literal bytes, as
Apache's reader has them.
"""

from __future__ import annotations

import io
import json

import pytest
from avro.io import BinaryDecoder, DatumReader
from avro.schema import parse

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.families import confluent
from generators.formats.debezium_avro import FORMAT
from generators.model import Kind

OLD = "2.5.4.Final+sqlserver+transaction+string+connect+base64"
NEW = "3.6.1.Final+sqlserver"


def written(profile_name: str, scenario_name: str) -> list:
    """What the writer makes of a named scenario in a profile of SQL Server."""
    profile = FORMAT.profile(profile_name)
    scenario = next(
        scenario
        for scenario in boundary_scenarios(FORMAT, profile)
        if scenario.name == scenario_name
    )
    return FORMAT.write(scenario.history, profile, LAYOUT)


def schema_of(data: bytes) -> dict:
    """The schema that the framing of a key or value names."""
    return json.loads(confluent.SCHEMAS[int.from_bytes(data[1:5])][1])


def datum(data: bytes) -> dict:
    """The datum of a key or value, by Apache's reader and the schema's types alone."""
    plain = json.dumps(schema_of(data)).replace('"logicalType"', '"unread"')
    return DatumReader(parse(plain)).read(BinaryDecoder(io.BytesIO(data[5:])))


def column_type(profile_name: str, scenario_name: str) -> object:
    """The Avro type of the column `c` in an image, without null."""
    (item,) = [w for w in written(profile_name, scenario_name) if w.message.value]
    fields = {field["name"]: field for field in schema_of(item.message.value)["fields"]}
    _, image = fields["before"]["type"]
    (column,) = [f for f in image["fields"] if f["name"].startswith("c")]
    assert (column["default"], column["type"][0]) == (None, "null")
    return column["type"][1]


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("tinyint/over-signed", {"type": "int", "connect.type": "int16"}),
        ("bit/true", "boolean"),
        (
            "money/max",
            {
                "type": "bytes",
                "scale": 4,
                "precision": 19,
                "connect.version": 1,
                "connect.parameters": {"scale": "4", "connect.decimal.precision": "19"},
                "connect.name": "org.apache.kafka.connect.data.Decimal",
                "logicalType": "decimal",
            },
        ),
        (
            "datetime2-7/epoch",
            {
                "type": "long",
                "connect.version": 1,
                "connect.name": "io.debezium.time.NanoTimestamp",
            },
        ),
        (
            "time-7/plain",
            {"type": "long", "connect.version": 1, "connect.name": "io.debezium.time.NanoTime"},
        ),
        (
            "datetimeoffset-7/epoch",
            {
                "type": "string",
                "connect.version": 1,
                "connect.name": "io.debezium.time.ZonedTimestamp",
            },
        ),
        ("uniqueidentifier/plain", "string"),
        ("rowversion/ascii", "bytes"),
    ],
)
def test_the_types_of_columns(name, type):
    assert column_type(NEW, name) == type


@pytest.mark.parametrize(
    ("profile", "name", "value"),
    [
        (NEW, "tinyint/over-signed", 128),
        (NEW, "bit/true", True),
        (NEW, "money/max", bytes.fromhex("7fffffffffffffff")),
        (NEW, "datetime2-7/one-unit", 1_704_067_200_000_001_000),
        (NEW, "datetime2-7/max", None),
        (NEW, "time-7/plain", 37_230_000_000_000),
        (NEW, "datetimeoffset-7/epoch", "1970-01-01T00:00:00Z"),
        (NEW, "uniqueidentifier/plain", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
        (NEW, "varbinary/digits-in-base64", b"\xd7m\xf8"),
        (OLD, "money/max", "922337203685477.5807"),
        (OLD, "datetime2-7/epoch", 0),
        (OLD, "varbinary/digits-in-base64", "1234"),
    ],
)
def test_the_data_of_columns(profile, name, value):
    (item,) = written(profile, name)
    (column,) = [n for n in datum(item.message.value)["after"] if n.startswith("c")]
    assert datum(item.message.value)["after"][column] == value


def test_an_update_byte_by_byte():
    (item,) = written(NEW, "shape/update-one-column")
    assert item.message.topic == "cdc.d4007429115.dbo.t1801545662"
    assert item.message.key == b"\x00-\x1b<$\x02"
    assert item.message.value.hex() == (
        "00578bc4ed020202027802026b020202027902026b16332e362e312e46696e616c1273716c7365727665"
        "720663646380a0abfef962000a66616c736516643430303734323931313500028080f281838985060280"
        "80d0e2c6bfce972f0664626f167431383031353435363632022c30303030303032353a30336239616237"
        "383a30303038022c30303030303032353a30336239626237383a30303038020400027502f6a4abfef962"
        "02f0b9988283898506028093848fc9bfce972f"
    )
    assert item.changes[0].position == "00000025:03b9bb78:0008:00000025:03b9ab78:0008:2"


def test_a_change_of_the_key_is_a_delete_and_an_insert_at_one_place():
    delete, tombstone, insert = written(NEW, "key/update-one-place")
    assert tombstone.message.value is None
    old, new = datum(delete.message.value), datum(insert.message.value)
    assert (old["op"], old["after"], new["op"], new["before"]) == ("d", None, "c", None)
    sources = [old["source"], new["source"]]
    assert len({(s["commit_lsn"], s["change_lsn"]) for s in sources}) == 1
    assert [s["event_serial_no"] for s in sources] == [1, 2]


def test_a_null_of_a_large_column_that_did_not_change_is_the_placeholder_in_bytes_too():
    for name, placeholder in (
        ("large/ntext-unchanged-null", "__debezium_unavailable_value"),
        ("large/image-unchanged-null", b"__debezium_unavailable_value"),
    ):
        values = [datum(item.message.value) for item in written(NEW, name)]
        updates = [value for value in values if value["op"] == "u"]
        images = [image for value in updates for image in (value["before"], value["after"])]
        assert [placeholder in image.values() for image in images] == [True, True], name


def test_a_schema_change_has_no_statement():
    items = [
        item
        for item in written(NEW, "ddl/captured-add-column")
        if any(change.kind is Kind.DDL for change in item.changes)
    ]
    assert [datum(item.message.value)["ddl"] for item in items] == ["N/A"]


def test_names_are_those_of_avro():
    (item, *_) = [item for item in written(NEW, "names/brackets") if item.message.value]
    assert [field["name"] for field in schema_of(item.message.key)["fields"]] == ["k_"]
    assert list(datum(item.message.value)["after"]) == ["k_", "a_b"]


def test_no_unfit_cell_is_one_that_avro_cannot_hold():
    for profile in (NEW, OLD):
        names = {fault.name for fault in FORMAT.cell_faults(FORMAT.profile(profile))}
        assert {"cell-date-far", "cell-datetime-far", "cell-time-far"} <= names
        assert "cell-bit" not in names
