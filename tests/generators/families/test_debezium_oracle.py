"""What the writer makes of Oracle's values, against what the connector's own classes made of them
(`tests/shared/literals/debezium-oracle.txt`, written by `recorders.debezium_oracle`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generators.families.connect import schema_text
from generators.families.debezium.oracle import placeholder, wire
from generators.families.debezium.values import Modes
from generators.formats.debezium_json import FORMAT, envelope
from generators.formats.debezium_json.oracle_log import OracleLog
from generators.model import State
from generators.sources import oracle
from recorders.debezium_oracle import FILE, RELEASES, requests

ROOT = Path(__file__).parents[3]


def recorded() -> dict[tuple[str, str], dict[str, object]]:
    """The results of the connector's classes by release and request."""
    by_name = {}
    for line in (ROOT / FILE).read_text("utf-8").splitlines():
        release, name, result = line.split(" ", 2)
        by_name[release, name] = json.loads(result)
    return by_name


COUNTS = {"2.5.4.Final": 1262, "3.6.1.Final": 1550}


@pytest.mark.parametrize("release", RELEASES)
def test_values_are_those_of_the_connectors_own_classes(release):
    results = recorded()
    compared = 0
    different = []
    for request in requests(release):
        cell = wire(request.type, request.value, request.modes, snapshot=not request.streamed)
        written = {"schema": json.loads(schema_text(cell.schema)), "value": json.loads(cell.json)}
        compared += 1
        if written != results[release, request.name]:
            different.append((request.name, written, results[release, request.name]))
    assert different == []
    assert compared == COUNTS[release]


@pytest.mark.parametrize("release", RELEASES)
def test_placeholders_are_those_of_the_connectors_own_classes(release):
    results = recorded()
    names = [name for of, name in results if of == release and name.endswith("/unavailable")]
    for name in names:
        cell = placeholder(oracle.TYPES[name.partition("/")[0]], Modes(temporal="adaptive"), True)
        written = {"schema": json.loads(schema_text(cell.schema)), "value": json.loads(cell.json)}
        assert written == results[release, name]
    assert len(names) == 3


@pytest.mark.parametrize("release", RELEASES)
def test_the_block_source_is_that_of_the_connectors_own_classes(release):
    profile = next(p for p in FORMAT.profiles if p.is_oracle and p.release == release)
    schema = envelope.source_schema(profile)
    results = recorded()
    log = OracleLog()
    log.begin(2868546, 0)
    log.see_row(2868546, 1_700_000_000_000)
    for name, is_snapshot in (("streamed", False), ("snapshot", True)):
        result = results[release, f"source/{name}"]
        assert json.loads(schema_text(schema)) == result["schema"]
        value = result["value"]
        assert isinstance(value, dict)
        known = {name for name, member in value.items() if member is not None} - ENVELOPE
        assert known == set(log.members(is_snapshot)) & set(value)


ENVELOPE = {
    *("version", "connector", "name", "ts_ms", "ts_us", "ts_ns", "snapshot", "db", "schema"),
    "table",
}
"""Members of `source` that the log does not tell."""


def test_an_empty_large_value_is_null_and_in_a_snapshot_itself():
    clob, modes = oracle.string("clob"), Modes(temporal="adaptive")
    assert wire(clob, "", modes).json == "null"
    assert wire(clob, "", modes, nullable=False).json == '""'
    assert wire(clob, "", modes, nullable=False).cell.state is State.ANY
    assert wire(clob, "", modes, snapshot=True).json == '""'
    assert wire(oracle.string(), "EMPTY_CLOB()", modes).json == "null"


def test_digits_that_microseconds_do_not_hold_are_lost_with_a_reason():
    type = oracle.temporal("timestamp", 9)
    cell = wire(type, "2021-07-19 11:12:13.123456789", Modes(temporal="microseconds")).cell
    assert (cell.value, cell.reason) == (
        1_626_693_133_123_456,
        "the connector writes microseconds: finer digits are cut off",
    )


def test_a_moment_without_an_offset_is_none_with_an_offset():
    type = oracle.temporal("timestamp", 9)
    cell = wire(type, "2021-07-19 11:12:13.123456789", Modes(temporal="isostring")).cell
    assert cell.cls == "micros"


def test_pinned_values():
    """Some of the recorded lines, so that nobody needs the file to see them."""
    results = recorded()
    number = results["3.6.1.Final", "number/money/streamed/precise/adaptive/bytes/numeric"]
    assert number["value"] == {"scale": 2, "value": "+y4="}
    name = "number-9/max/streamed/string/adaptive/bytes/numeric"
    assert results["2.5.4.Final", name]["value"] == 999999999
    assert results["3.6.1.Final", name]["value"] == "999999999"
    assert results["3.6.1.Final", "date/noon/streamed/precise/adaptive/bytes/numeric"] == {
        "schema": {
            "type": "int64",
            "optional": True,
            "name": "io.debezium.time.Timestamp",
            "version": 1,
        },
        "value": 1704196800000,
    }
