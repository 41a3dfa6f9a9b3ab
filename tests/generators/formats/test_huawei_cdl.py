"""Huawei CDL's two JSON formats: the vendor's messages literally, and what it leaves open as the
writer decides it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literals import literal
from tables import keyed

from generators.families.cdl import messages as _cdl
from generators.formats import huawei_cdl_debezium, huawei_cdl_json
from generators.model import (
    Column,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    RowChange,
    RowImages,
    State,
    Written,
)
from generators.sources import mysql, postgresql
from generators.sources.boundaries import change
from generators.wire_format import Format

CDL = huawei_cdl_json.FORMAT
DEBEZIUM = huawei_cdl_debezium.FORMAT
BOTH: tuple[Format[Any], ...] = (CDL, DEBEZIUM)

CT_PG2HUDI = keyed(
    "cdl.ct_pg2hudi",
    "id",
    schema="public",
    count1=postgresql.TYPES["bigint"],
    id=postgresql.TYPES["integer"],
    time1=postgresql.TYPES["timestamp-6"],
    decimalNum=postgresql.TYPES["numeric"],
)

DOCUMENT_1_0 = literal("huawei-cdl-1.0.json")

DOCUMENT_2_0 = literal("huawei-cdl-2.0.json")


def written(fmt: Format[Any], event: RowChange, profile: str = "") -> list[Written]:
    chosen = fmt.profile(profile) if profile else fmt.profiles[0]
    return fmt.write(History((event,), 5), chosen, Layout())


def payload(fmt: Format[Any], event: RowChange, profile: str = "") -> dict[str, Any]:
    (record,) = written(fmt, event, profile)
    assert record.message.value is not None
    body: dict[str, Any] = json.loads(record.message.value)["payload"]
    return body


def sample(ms: int, number: int) -> RowChange:
    row = {"count1": number - 21, "id": number, "time1": None, "decimalNum": None}
    return RowChange(Instant(ms, 1), CT_PG2HUDI, Op.INSERT, (RowImages(None, row),))


def test_document_004_cdl_json() -> None:
    (record,) = written(CDL, sample(1707047996013, 34))
    text = (record.message.value or b"").decode()
    body = json.loads(text)["payload"]
    ours = {entry["name"]: str(entry["value"]) for entry in body["transaction"]["properties"]}
    expected = DOCUMENT_1_0.replace("163955221008", ours["lsn"]).replace("57227595", ours["txId"])
    assert text == expected.replace(
        "279fb050-0143-45c1-b184-50bc48c2461c", body["HEARTBEAT_IDENTIFIER"]
    )
    assert [(change.database, change.keys) for change in record.changes] == [(None, ("id",))]


def test_document_004_debezium_json() -> None:
    (record,) = written(DEBEZIUM, sample(1707048891235, 35))
    text = (record.message.value or b"").decode()
    body = json.loads(text)["payload"]
    expected = DOCUMENT_2_0.replace("163955586912", str(body["source"]["lsn"])).replace(
        "57227663", str(body["source"]["txId"])
    )
    assert text == expected.replace("1707048984208", str(body["ts_ms"]))


ROW = {"id": 7, "count1": 1, "time1": mysql.wall("2024-02-04 11:59:56.013789"), "decimalNum": None}


@pytest.mark.parametrize("fmt", BOTH, ids=lambda f: f.name)
def test_default_identity_logs_the_key_alone(fmt: Format[Any]) -> None:
    name = f"{fmt.profiles[0].release}+default-identity"
    assert (
        payload(fmt, change(CT_PG2HUDI, Op.UPDATE, (ROW, {**ROW, "count1": 2})), name)["before"]
        is None
    )
    (record,) = written(fmt, change(CT_PG2HUDI, Op.DELETE, (ROW, None)), name)
    assert json.loads(record.message.value or b"")["payload"]["before"] == {
        "count1": None,
        "id": 7,
        "time1": None,
        "decimalNum": None,
    }
    (expectation,) = record.changes
    assert expectation.before is not None and expectation.full_before is not None
    assert [c.state for c in expectation.before.values()] == [
        State.NULL,
        State.VALUE,
        State.NULL,
        State.NULL,
    ]
    assert [c.state for c in expectation.full_before.values()] == [
        State.ANY,
        State.VALUE,
        State.ANY,
        State.ANY,
    ]
    moved = payload(fmt, change(CT_PG2HUDI, Op.UPDATE, (ROW, {**ROW, "id": 8})), name)
    assert (moved["before"]["id"], moved["unique"]) == (7, {"id": 8})
    keyless = replace(CT_PG2HUDI, primary_key=())
    assert written(fmt, change(keyless, Op.DELETE, (ROW, None)), name) == []


def test_timestamps_are_milliseconds_or_text() -> None:
    event = change(CT_PG2HUDI, Op.INSERT, (None, ROW))
    assert payload(CDL, event)["data"]["time1"] == 1707047996013
    assert payload(DEBEZIUM, event)["after"]["time1"] == "2024-02-04 11:59:56.013789"
    (record,) = written(CDL, event)
    cell = (record.changes[0].after or {})["time1"]
    assert (cell.text, cell.json, cell.value) == (
        "1707047996013",
        True,
        mysql.wall("2024-02-04 11:59:56.013"),
    )
    assert cell.reason


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        *(
            (0, "1970-01-01T00:00:00Z"),
            (100_000, "1970-01-01T00:00:00.1Z"),
            (123_456, "1970-01-01T00:00:00.123456Z"),
        ),
        (-1, "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_zoned_timestamps_have_the_digits_they_need(micros: int, text: str) -> None:
    assert _cdl.zoned_text(micros) == text


def test_heartbeat_identifier_is_in_1_0_and_in_2_0_only_with_its_option() -> None:
    event = sample(1707048891235, 35)
    assert "HEARTBEAT_IDENTIFIER" in payload(CDL, event)
    assert "HEARTBEAT_IDENTIFIER" not in payload(DEBEZIUM, event)
    assert payload(DEBEZIUM, event, "2.0+other-package+heartbeat-identifier")[
        "HEARTBEAT_IDENTIFIER"
    ]


def test_snapshots_have_no_operation_of_their_own() -> None:
    event = replace(sample(1707048891235, 35), op=Op.READ)
    assert payload(CDL, event)["OPERATION"] == "INSERT"
    body = payload(DEBEZIUM, event)
    assert (body["op"], body["source"]["snapshot"]) == ("c", "last")
    (record,) = written(DEBEZIUM, event)
    assert (record.changes[0].op, record.changes[0].accept) == (Op.INSERT, ((Kind.ROW, Op.READ),))


def test_the_last_row_of_a_snapshot_says_so() -> None:
    """huawei#snapshot: the example's schema allows true, last and false."""
    event = replace(sample(1707048891235, 35), op=Op.READ)
    twice = replace(event, rows=(*event.rows, *event.rows))
    history = History((event, twice, sample(1707048891236, 36)))
    bodies = [
        json.loads(w.message.value or b"")["payload"]
        for w in DEBEZIUM.write(history, DEBEZIUM.profiles[0], Layout())
    ]
    assert [payload["source"]["snapshot"] for payload in bodies] == [
        "true",
        "true",
        "last",
        "false",
    ]


def test_properties_may_come_in_another_order() -> None:
    body = payload(CDL, sample(1707048891235, 35), "1.0+other-package+txid-first")
    assert [entry["name"] for entry in body["transaction"]["properties"]] == ["txId", "lsn"]


@pytest.mark.parametrize("fmt", BOTH, ids=lambda f: f.name)
def test_lsn_is_beyond_double_precision(fmt: Format[Any]) -> None:
    (record,) = written(fmt, sample(1707048891235, 35))
    lsn = int(record.changes[0].position or "")
    assert lsn > 1 << 53 and int(float(lsn)) != lsn


@settings(deadline=None, max_examples=60)
@given(st.integers(-(10**17), 10**17))
def test_milliseconds_are_the_floor_of_microseconds(micros: int) -> None:
    column = Column("c", postgresql.TYPES["timestamp-6"])
    wire = _cdl.encode_cell(column, micros, huawei_cdl_json.FORMAT.profiles[0])
    assert 0 <= micros - wire.value * 1000 < 1000
    assert wire.cell.value == wire.value * 1000
