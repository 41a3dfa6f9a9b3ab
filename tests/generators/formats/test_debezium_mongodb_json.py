"""debezium-mongodb-json's writer prints what the document prints and what the connector's own
classes make, and its rules cite the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.rules.rules import rules
from conformance.rules.sources import pages
from conformance.selftest.lies.lie import lies
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.formats.debezium_mongodb_json import FORMAT, write
from generators.formats.debezium_mongodb_json.documents import describe_update
from generators.model import (
    Column,
    Heartbeat,
    History,
    Instant,
    Json,
    Kind,
    Layout,
    Op,
    State,
    Table,
    Value,
    Written,
)
from generators.sources import boundaries
from generators.sources.mongodb import TYPES

PAGE = "debezium-mongodb"
RECORDS = Path(__file__).with_name("debezium_mongodb_records.jsonl")
UPDATES = "3.6.1.Final+change_streams+schemaless"
IMAGES = "2.5.4.Final+change_streams_update_full_with_pre_image"

CUSTOMERS = Table(
    "inventory",
    "customers",
    (
        Column("_id", TYPES["long"], nullable=False),
        *(Column(name, TYPES["string"]) for name in ("first_name", "last_name", "email")),
    ),
    ("_id",),
)
OLD = {
    "_id": 1004,
    "first_name": "unknown",
    "last_name": "Kretchmar",
    "email": "annek@noanswer.org",
}
NEW = {**OLD, "first_name": "Anne Marie"}

DOCUMENTED: Mapping[str, Any] = {
    "before": '{"_id": {"$numberLong": "1004"},"first_name": "unknown","last_name": "Kretchmar",'
    '"email": "annek@noanswer.org"}',
    "after": '{"_id": {"$numberLong": "1004"},"first_name": "Anne Marie","last_name": "Kretchmar",'
    '"email": "annek@noanswer.org"}',
    "updateDescription": {
        "removedFields": None,
        "updatedFields": '{"first_name": "Anne Marie"}',
        "truncatedArrays": None,
    },
}
"""Members of the update event that the document prints (section "update events")."""


def payloads(records: list[Written]) -> Iterator[Any]:
    """The payload of each record that has a value."""
    for record in records:
        if record.message.value is not None:
            value = json.loads(record.message.value)
            yield value.get("payload", value)


def updated(profile: str, before: dict[str, Value], after: dict[str, Value]) -> Written:
    """The record of one update of a document of CUSTOMERS."""
    history = History((boundaries.change(CUSTOMERS, Op.UPDATE, (before, after)),))
    (record,) = write(history, FORMAT.profile(profile), Layout())
    return record


def test_an_update_has_the_members_that_the_document_prints() -> None:
    (payload,) = payloads([updated(IMAGES, OLD, NEW)])
    assert {name: payload[name] for name in DOCUMENTED} == DOCUMENTED


@pytest.mark.parametrize(
    ("old", "new", "is_truncated"),
    [
        ([1, 2], [1], True),
        ([1, 2], [1.0], False),
        ([1, 2], [True], False),
        ([0.0, 2], [-0.0], False),
        ([{"a": 1}, 2], [{"a": 1}], True),
        ([{"a": 1}, 2], [{"a": 1.0}], False),
    ],
)
def test_an_array_is_truncated_only_if_its_items_keep_their_types(
    old: list[Any], new: list[Any], is_truncated: bool
) -> None:
    table = Table("d", "c", (Column("_id", TYPES["long"], False),), ("_id",))
    update = describe_update(table, {"_id": 1, "a": Json(old)}, {"_id": 1, "a": Json(new)})
    assert update.truncated == ({"a": 1} if is_truncated else {})
    assert update.fields == ({} if is_truncated else {"a": Json(new)})


def test_a_key_is_what_the_document_prints() -> None:
    record = updated(IMAGES, OLD, NEW)
    key = json.loads(record.message.key or b"")
    assert key["payload"] == {"id": "1004"}
    assert key["schema"]["name"] == "cdc.inventory.customers.Key"
    assert key["schema"]["fields"] == [{"type": "string", "optional": False, "field": "id"}]


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("int", 1234, "1234"),
        ("double", 12.34, "12.34"),
        ("string", "1234", '"1234"'),
        ("objectId", "596e275826f08b2730779e1f", '{"$oid": "596e275826f08b2730779e1f"}'),
        # Against the document, which prints {"$binary": "a2Fma2E=", "$type": "00"}.
        ("binData", b"kafka", '{"$binary": {"base64": "a2Fma2E=","subType": "00"}}'),
        ("date", 1_700_000_000_120_000, '{"$date": "2023-11-14T22:13:20.12Z"}'),
        ("date", -1000, '{"$date": {"$numberLong": "-1"}}'),
        (
            "object",
            Json({"hi": "kafka", "nums": [10.0, 100.0, 1000.0]}),
            '{"hi": "kafka","nums": [10.0,100.0,1000.0]}',
        ),
    ],
)
def test_keys_of_each_type(type: str, value: Value, text: str) -> None:
    table = Table("db", "c", (Column("_id", TYPES[type], nullable=False),), ("_id",))
    history = History((boundaries.insert(table, {"_id": value}),))
    (record,) = write(history, FORMAT.profile(UPDATES), Layout())
    assert json.loads(record.message.key or b"") == {"id": text}


def test_an_update_without_a_document_owes_what_it_says() -> None:
    record = updated(UPDATES, OLD, NEW)
    (payload,) = payloads([record])
    assert (payload["before"], payload["after"]) == (None, None)
    (change,) = record.changes
    assert change.before is None
    assert change.after is not None
    assert {name: (cell.state, cell.text) for name, cell in change.after.items()} == {
        "_id": (State.VALUE, "1004"),
        "first_name": (State.VALUE, "Anne Marie"),
        "last_name": (State.ABSENT, None),
        "email": (State.ABSENT, None),
    }


def test_a_delete_without_pre_image_owes_its_key() -> None:
    history = History((boundaries.change(CUSTOMERS, Op.DELETE, (OLD, None)),))
    row, tombstone = write(history, FORMAT.profile(UPDATES), Layout())
    (payload,) = payloads([row])
    assert (payload["before"], payload["after"], payload["op"]) == (None, None, "d")
    (change,) = row.changes
    assert change.before is not None
    assert [name for name, cell in change.before.items() if cell.state is State.VALUE] == ["_id"]
    assert (tombstone.message.value, tombstone.changes[0].kind) == (None, Kind.TOMBSTONE)
    assert tombstone.message.key == row.message.key


def test_a_heartbeat() -> None:
    history = History((Heartbeat(Instant(1_700_000_000_000)),))
    (record,) = write(history, FORMAT.profile(UPDATES), Layout())
    (payload,) = payloads([record])
    assert list(payload) == ["ts_ms"]
    assert record.changes[0].kind is Kind.HEARTBEAT


def test_the_records_of_the_connectors_own_classes() -> None:
    lines = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    recorded = {(profile, name, number): pair for profile, name, number, *pair in lines}
    assert len(recorded) == len(lines) > 400
    written: dict[tuple[str, str, int], list[str]] = {}
    names = {(profile, name) for profile, name, _ in recorded}
    for profile in FORMAT.profiles:
        for scenario in boundary_scenarios(FORMAT, profile):
            if (profile.name, scenario.name) in names:
                records = write(scenario.history, profile, LAYOUT)
                rows = [one for one in records if one.changes[0].kind is Kind.ROW]
                for number, one in enumerate(rows):
                    message = one.message
                    pair = [(message.key or b"").decode(), (message.value or b"").decode()]
                    written[profile.name, scenario.name, number] = pair
    assert written == recorded


def test_a_lie_is_answered_by_a_rule_and_another_changes_bytes_only() -> None:
    convicts = [lie.convicts for lie in lies(FORMAT.name)]
    assert None in convicts
    assert any(convicts)


def test_every_fact_is_cited() -> None:
    cited = {citation.where for rule in rules(FORMAT.name) for citation in rule.citations}
    assert [fact.id for fact in pages()[PAGE].facts.values() if fact.id not in cited] == []
