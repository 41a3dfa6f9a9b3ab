"""Messages of Debezium's SQL Server connector, beside the changes that caused them."""

from __future__ import annotations

import json

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.formats.debezium_json import FORMAT
from generators.formats.debezium_json.sqlserver_log import SqlServerLog, lsn_text
from generators.model import Kind

OLD = "2.5.4.Final+sqlserver+schemaless+transaction+string+connect+base64"
NEW = "3.6.1.Final+sqlserver"
SOURCE_FIELDS = (
    '"source":{"version":"2.5.4.Final","connector":"sqlserver","name":"cdc",'
    '"ts_ms":1700000000000,"snapshot":'
)


def written(profile_name: str, scenario_name: str) -> list:
    """What the writer makes of a named scenario in a profile of SQL Server."""
    profile = next(profile for profile in FORMAT.profiles if profile.name == profile_name)
    scenario = next(
        scenario
        for scenario in boundary_scenarios(FORMAT, profile)
        if scenario.name == scenario_name
    )
    return FORMAT.write(scenario.history, profile, LAYOUT)


def payloads(profile_name: str, scenario_name: str) -> list:
    """The payloads of the messages of a scenario; None of a tombstone."""
    documents = [
        item.message.value and json.loads(item.message.value)
        for item in written(profile_name, scenario_name)
    ]
    return [
        document["payload"] if document and "payload" in document else document
        for document in documents
    ]


def test_an_update_byte_by_byte():
    (item,) = written(OLD, "shape/update-one-column")
    assert item.message.topic == "cdc.d3558304333.dbo.t1801545662"
    assert item.message.key == b'{"id":1}'
    assert item.message.value.decode() == (
        '{"before":{"id":1,"a":"x","b":"k"},"after":{"id":1,"a":"y","b":"k"},'
        f'{SOURCE_FIELDS}"false","db":"d3558304333","sequence":null,"schema":"dbo",'
        '"table":"t1801545662","change_lsn":"00000025:03b9abc5:000a",'
        '"commit_lsn":"00000025:03b9bbc5:000a","event_serial_no":2},"op":"u",'
        '"ts_ms":1700000000321,"transaction":{"id":"00000025:03b9bbc5:000a","total_order":1,'
        '"data_collection_order":1}}'
    )
    assert item.changes[0].position == "00000025:03b9bbc5:000a:00000025:03b9abc5:000a:2"


def test_a_row_that_a_snapshot_read_has_the_commit_alone():
    (first, *_) = written(OLD, "op/read")
    assert first.message.value.decode() == (
        '{"before":null,"after":{"id":1,"a":"x","b":5},'
        f'{SOURCE_FIELDS}"first","db":"d3558304333","sequence":null,"schema":"dbo",'
        '"table":"t0288540701","change_lsn":null,"commit_lsn":"00000025:03b9bc1c:000c",'
        '"event_serial_no":null},"op":"r","ts_ms":1700000000347,"transaction":null}'
    )
    assert first.changes[0].position == "00000025:03b9bc1c:000c"


def test_the_envelope_of_3_6():
    (item,) = written(NEW, "shape/update-one-column")
    document = json.loads(item.message.value)
    assert document["schema"]["name"] == "cdc.d4007429115.dbo.t1801545662.Envelope"
    assert document["payload"]["source"] == {
        "version": "3.6.1.Final",
        "connector": "sqlserver",
        "name": "cdc",
        "ts_ms": 1700000000000,
        "snapshot": "false",
        "db": "d4007429115",
        "sequence": None,
        "ts_us": 1700000000000000,
        "ts_ns": 1700000000000000000,
        "schema": "dbo",
        "table": "t1801545662",
        "change_lsn": "00000025:03b9ab78:0008",
        "commit_lsn": "00000025:03b9bb78:0008",
        "event_serial_no": 2,
    }


def test_a_change_of_the_key_is_a_delete_and_an_insert_at_one_place():
    delete, tombstone, insert = written(NEW, "key/update-one-place")
    old, _, new = payloads(NEW, "key/update-one-place")
    assert (old["op"], new["op"], tombstone.message.value) == ("d", "c", None)
    places = [(p["source"]["commit_lsn"], p["source"]["change_lsn"]) for p in (old, new)]
    assert places[0] == places[1]
    assert [p["source"]["event_serial_no"] for p in (old, new)] == [1, 2]
    names = {name for item in (delete, insert) for name, _ in item.message.headers}
    assert not names & {"__debezium.newkey", "__debezium.oldkey"}


def test_large_values_of_old_rows():
    unchanged = "large/nvarchar-max-unchanged"
    (new,), (old,) = payloads(NEW, unchanged), payloads(OLD, unchanged)
    assert new["before"] == old["before"] == {"id": 1, "c": None, "b": 5}
    assert new["after"] == old["after"] == {"id": 1, "c": "大きい", "b": 6}
    (null,) = payloads(NEW, "large/xml-unchanged-null")
    assert null["before"]["c"] == null["after"]["c"] == "__debezium_unavailable_value"
    assert payloads(OLD, "large/xml-unchanged-null")[0]["after"]["c"] is None
    (text,) = payloads(NEW, "large/ntext-unchanged")
    assert text["before"]["c"] == "__debezium_unavailable_value"
    assert payloads(NEW, "large/ntext-changed")[0]["before"]["c"] is None
    deleted = payloads(NEW, "large/ntext-deleted")[0]
    assert deleted["before"] == {"id": 1, "c": None, "b": 5}
    assert payloads(NEW, "large/nvarchar-max-deleted")[0]["before"]["c"] == "大きい"
    assert payloads(OLD, "large/not-null-unchanged")[0]["before"]["c"] == ""


def test_a_captured_column_comes_without_a_statement():
    _, item, _ = written(NEW, "ddl/captured-add-column")
    payload = json.loads(item.message.value)["payload"]
    assert payload["ddl"] == "N/A"
    assert payload["schemaName"] == "dbo"
    (table_change,) = payload["tableChanges"]
    assert table_change["type"] == "ALTER"
    assert table_change["table"]["columns"][-1] == {
        "name": "n",
        "jdbcType": 3,
        "nativeType": None,
        "typeName": "money",
        "typeExpression": "money",
        "charsetName": None,
        "length": 19,
        "scale": 4,
        "position": 4,
        "optional": True,
        "autoIncremented": False,
        "generated": False,
        "comment": None,
        "defaultValueExpression": None,
        "enumValues": None,
    }
    (change,) = item.changes
    assert (change.kind, change.sql, change.schema) == (Kind.DDL, "N/A", "dbo")


def test_places_are_in_the_order_of_the_log():
    log = SqlServerLog()
    positions = []
    for place in (0x100, 0x10F, 0x110, 0x1000):
        log.begin(place)
        log.see_row(place)
        positions.append(log.position)
    assert positions == sorted(positions)
    assert lsn_text(0x25F) == "00000025:00000025:0010"


def test_no_truncation_is_written():
    names = {
        scenario.name
        for profile in FORMAT.profiles
        if profile.is_sqlserver
        for scenario in boundary_scenarios(FORMAT, profile)
    }
    assert not {name for name in names if "truncate" in name}
    assert "key/update-one-place" in names
