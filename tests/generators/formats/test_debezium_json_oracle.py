"""Messages of Debezium's Oracle connector, beside the changes that caused them."""

from __future__ import annotations

import json

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.formats.debezium_json import FORMAT
from generators.formats.debezium_json.oracle_log import OracleLog, row_id

OLD = "2.5.4.Final+oracle+schemaless+transaction+string+connect+base64"
NEW = "3.6.1.Final+oracle"
PLACEHOLDER = "__debezium_unavailable_value"


def written(profile_name: str, scenario_name: str) -> list:
    """What the writer makes of a named scenario in a profile of Oracle."""
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


def test_an_update():
    (item,) = written(OLD, "shape/update-one-column")
    payload = json.loads(item.message.value)
    source = payload["source"]
    assert item.message.topic.split(".")[:2] == ["cdc", "SHOP"]
    assert list(source) == [
        *("version", "connector", "name", "ts_ms", "snapshot", "db", "sequence", "schema", "table"),
        *("txId", "scn", "commit_scn", "lcr_position", "rs_id", "ssn", "redo_thread", "user_name"),
    ]
    assert source["ts_ms"] % 1000 == 0
    assert payload["before"] == {"id": 1, "a": "x", "b": "k"}
    assert payload["after"] == {"id": 1, "a": "y", "b": "k"}
    assert payload["transaction"]["id"] == source["txId"]
    assert item.changes[0].position == f"{source['commit_scn']}:{source['scn']}:0"
    assert item.changes[0].schema == source["schema"] == "SHOP"


def test_a_row_that_a_snapshot_read_has_the_number_of_the_snapshot_alone():
    first, *_ = written(OLD, "op/read")
    payload = json.loads(first.message.value)
    assert payload["source"]["commit_scn"] is None
    assert payload["transaction"] is None
    assert first.changes[0].position == payload["source"]["scn"]


def test_a_change_of_the_key_names_the_other_key():
    delete, tombstone, insert = written(NEW, "large/clob-key-update")
    old, _, new = payloads(NEW, "large/clob-key-update")
    assert (old["op"], new["op"], tombstone.message.value) == ("d", "c", None)
    assert "__debezium.newkey" in dict(delete.message.headers)
    assert "__debezium.oldkey" in dict(insert.message.headers)
    assert old["before"]["c"] == PLACEHOLDER
    assert new["after"]["c"] == "a long value"
    assert old["source"]["scn"] == new["source"]["scn"]


def test_large_values():
    (unchanged,) = payloads(NEW, "large/clob-unchanged")
    assert unchanged["before"] == {"id": 1, "c": PLACEHOLDER, "b": 5}
    assert unchanged["after"] == {"id": 1, "c": PLACEHOLDER, "b": 6}
    (changed,) = payloads(NEW, "large/clob-changed")
    assert (changed["before"]["c"], changed["after"]["c"]) == (PLACEHOLDER, "another")
    (cleared,) = payloads(NEW, "large/clob-to-null")
    assert (cleared["before"]["c"], cleared["after"]["c"]) == (PLACEHOLDER, None)
    (nothing,) = payloads(NEW, "large/clob-unchanged-null")
    assert nothing["after"]["c"] == PLACEHOLDER
    assert payloads(NEW, "large/clob-deleted")[0]["before"]["c"] == PLACEHOLDER
    assert payloads(NEW, "large/clob-empty")[0]["after"]["c"] is None
    assert payloads(NEW, "large/clob-snapshot-empty")[0]["after"]["c"] == ""


def test_numbers_of_one_column_have_each_a_scale_of_its_own():
    (first, second, *_) = payloads(NEW, "values/free-numbers")
    assert first["after"]["c"] == {"scale": 1, "value": "Dw=="}
    assert second["after"]["c"] == {"scale": 0, "value": "+iQ="}


def test_a_transaction_counts_its_rows():
    rows = [
        payload["source"]
        for payload in payloads(NEW, "order/one-commit")
        if payload and "source" in payload
    ]
    assert [source["txSeq"] for source in rows] == [1, 2, 3]
    assert len({source["commit_scn"] for source in rows}) == 1
    assert {source["start_scn"] for source in rows} == {rows[0]["scn"]}


def test_places_are_in_the_order_of_the_log():
    log = OracleLog()
    log.begin(100, 0)
    log.see_row(100, 0)
    assert log.position(False) == "65636:100:0"
    assert log.position(True) == "100"
    assert len(row_id(2_868_546)) == 18


def test_no_truncation_is_written():
    names = {
        scenario.name
        for profile in FORMAT.profiles
        if profile.is_oracle
        for scenario in boundary_scenarios(FORMAT, profile)
    }
    assert not {name for name in names if "truncate" in name}
    assert "large/blob-unchanged" in names
