"""Debezium's Oracle connector in Confluent's framing: schemas, data and literal bytes, as Apache's
reader has them.
"""

from __future__ import annotations

import io
import json
from functools import cache

import pytest
from avro.io import BinaryDecoder, DatumReader
from avro.schema import parse

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.families import confluent
from generators.formats.debezium_avro import FORMAT
from generators.model import Scenario
from generators.sources.databases import source

OLD = "2.5.4.Final+oracle+transaction+string+connect+base64"
NEW = "3.6.1.Final+oracle"
PLACEHOLDER = "__debezium_unavailable_value"


@cache
def scenarios(profile_name: str) -> dict[str, Scenario]:
    """The named scenarios of a profile."""
    named = boundary_scenarios(FORMAT, FORMAT.profile(profile_name))
    return {scenario.name: scenario for scenario in named}


def written(profile_name: str, scenario_name: str) -> list:
    """What the writer makes of a named scenario in a profile of Oracle."""
    history = scenarios(profile_name)[scenario_name].history
    return FORMAT.write(history, FORMAT.profile(profile_name), LAYOUT)


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


VARIABLE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
    "connect.doc": "Variable scaled decimal",
    "connect.version": 1,
    "connect.name": "io.debezium.data.VariableScaleDecimal",
}


def decimal(precision: int, scale: int) -> dict[str, object]:
    """The Avro type of a NUMBER that is a Decimal."""
    return {
        "type": "bytes",
        "scale": scale,
        "precision": precision,
        "connect.version": 1,
        "connect.parameters": {"scale": str(scale), "connect.decimal.precision": str(precision)},
        "connect.name": "org.apache.kafka.connect.data.Decimal",
        "logicalType": "decimal",
    }


def semantic(type: str, name: str) -> dict[str, object]:
    """The Avro type of a column with a semantic type of Debezium."""
    return {"type": type, "connect.version": 1, "connect.name": f"io.debezium.time.{name}"}


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("number-2/max", {"type": "int", "connect.type": "int8"}),
        ("number-4/max", {"type": "int", "connect.type": "int16"}),
        ("number-9/max", "int"),
        ("number-18/max", "long"),
        ("number-10-minus-2/max", "long"),
        ("number-10-2/max", decimal(10, 2)),
        ("number-38/max", decimal(38, 0)),
        ("number-20-minus-2/max", decimal(20, -2)),
        ("number/money", VARIABLE),
        ("float/money", VARIABLE),
        ("binary-float/fraction", "float"),
        ("binary-double/fraction", "double"),
        ("date/noon", semantic("long", "Timestamp")),
        ("timestamp-6/epoch", semantic("long", "MicroTimestamp")),
        ("timestamp-9/epoch", semantic("long", "NanoTimestamp")),
        ("timestamptz-9/epoch", semantic("string", "ZonedTimestamp")),
        ("interval-day/plain", semantic("long", "MicroDuration")),
        ("clob/plain", "string"),
        ("raw/ascii", "bytes"),
        ("rowid/slashes", "string"),
    ],
)
def test_the_types_of_columns(name, type):
    assert column_type(NEW, name) == type


@pytest.mark.parametrize(
    ("profile", "name", "value"),
    [
        (NEW, "number-9/max", 999_999_999),
        (NEW, "number-10-minus-2/max", 999_999_999_900),
        (NEW, "number-20-minus-2/max", (10**20 - 1).to_bytes(9)),
        (NEW, "number-20-minus-2/zero", b"\x00"),
        (NEW, "values/free-number-same-scale", {"scale": 1, "value": b"\x0f"}),
        (NEW, "date/noon", 1_704_196_800_000),
        (NEW, "timestamp-9/max", None),
        (NEW, "values/fine-timestamp-9-1", -1),
        (NEW, "values/offset-plus", "2018-07-13T12:23:45.456+11:00"),
        (NEW, "clob/empty", None),
        (OLD, "number-9/max", 999_999_999),
        (OLD, "number-20-minus-2/max", "9999999999999999999900"),
        (OLD, "values/free-number-same-scale", "1.5"),
        (OLD, "raw/ascii", "YWItIQ=="),
    ],
)
def test_the_data_of_columns(profile, name, value):
    (item,) = written(profile, name)
    (column,) = [n for n in datum(item.message.value)["after"] if n.startswith("c")]
    assert datum(item.message.value)["after"][column] == value


def test_a_scale_of_each_row_is_a_record_that_the_schema_defines_once():
    items = [item for item in written(NEW, "values/free-numbers") if item.message.value]
    images = [datum(item.message.value)["after"] for item in items]
    assert [(image["c"]["scale"], image["c"]["value"].hex()) for image in images[:2]] == [
        (1, "0f"),
        (0, "fa24"),
    ]
    assert json.dumps(schema_of(items[0].message.value)).count('"VariableScaleDecimal"') == 1


def test_a_large_value_that_the_log_does_not_have_is_the_placeholder_in_bytes_too():
    for name, placeholder in (
        ("large/clob-unchanged-null", PLACEHOLDER),
        ("large/blob-unchanged-null", PLACEHOLDER.encode()),
    ):
        (value,) = [datum(item.message.value) for item in written(NEW, name)]
        assert value["op"] == "u"
        assert [value[image]["c"] for image in ("before", "after")] == [placeholder] * 2


def test_the_names_of_columns_are_those_of_avro():
    (item,) = written(NEW, "names/dollar-and-hash")
    assert [field["name"] for field in schema_of(item.message.key)["fields"]] == ["ID_"]
    assert list(datum(item.message.value)["after"]) == ["ID_", "A_B", "C_1"]
    (change,) = item.changes
    assert change.keys == ("ID_",)


def test_a_snapshots_row_has_no_place_of_a_commit():
    first, *_ = written(OLD, "op/read")
    message = datum(first.message.value)
    assert message["source"]["commit_scn"] is None
    assert first.changes[0].position == message["source"]["scn"]


def test_no_unfit_cell_is_one_that_avro_cannot_hold():
    for profile in (NEW, OLD):
        faults = FORMAT.cell_faults(FORMAT.profile(profile))
        names = {fault.name for fault in faults}
        assert {"cell-datetime-far", "cell-timestamp", "cell-decimal-digits"} <= names
        assert "cell-int-over" in names
        assert not names & {"cell-date-far", "cell-time-far", "cell-year-far"}
        columns = {f"c_{name.replace('-', '_')}" for name in source("oracle").types}
        assert {fault.column for fault in faults} <= columns
