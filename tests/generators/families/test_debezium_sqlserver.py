"""What the writer makes of SQL Server's values, against what the connector's own classes made of
them (`tests/shared/literals/debezium-sqlserver.txt`, written by `recorders.debezium_sqlserver`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generators.families.connect import schema_text
from generators.families.debezium.sqlserver import not_logged, placeholder, wire
from generators.families.debezium.values import Modes
from generators.model import State
from generators.sources import sqlserver
from recorders.debezium_sqlserver import FILE, RELEASES, requests

ROOT = Path(__file__).parents[3]


def recorded() -> dict[tuple[str, str], dict[str, object]]:
    """The results of the connector's classes by release and request."""
    lines = (ROOT / FILE).read_text("utf-8").splitlines()
    by_name = {}
    for line in lines:
        release, name, result = line.split(" ", 2)
        by_name[release, name] = json.loads(result)
    return by_name


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
    assert compared == {"2.5.4.Final": COUNTS[0], "3.6.1.Final": COUNTS[1]}[release]


COUNTS = (718, 904)


def test_placeholders_are_those_of_the_connectors_own_classes():
    modes = Modes(temporal="adaptive", unavailable_large_values=True)
    results = recorded()
    names = [name for release, name in results if name.endswith("/unavailable")]
    for name in names:
        cell = placeholder(sqlserver.TYPES[name.partition("/")[0]], modes, True)
        written = {"schema": json.loads(schema_text(cell.schema)), "value": json.loads(cell.json)}
        assert written == results["3.6.1.Final", name]
    assert len(names) == 4


def test_old_values_that_are_not_logged():
    text, image = sqlserver.text("nvarchar(max)"), sqlserver.binary("image")
    modes = Modes(temporal="adaptive")
    assert not_logged(text, modes, True).json == "null"
    assert not_logged(text, modes, True).cell.cls == "not-sent"
    assert not_logged(text, modes, False).json == '""'
    assert not_logged(image, modes, False).json == '""'
    assert not_logged(image, modes, False).cell.state is State.ANY


def test_a_digit_that_microseconds_do_not_hold_is_lost_with_a_reason():
    type = sqlserver.temporal("datetime2", 7)
    cell = wire(type, "2021-07-19 11:12:13.1234567", Modes(temporal="microseconds")).cell
    assert (cell.value, cell.reason) == (
        1_626_693_133_123_456,
        "the connector writes microseconds: the seventh digit is cut off",
    )


def test_pinned_values():
    """Some of the recorded lines, so that nobody needs the file to see them."""
    results = recorded()
    assert results["3.6.1.Final", "money/min/streamed/precise/adaptive/bytes"]["value"] == (
        "gAAAAAAAAAA="
    )
    assert results["3.6.1.Final", "datetime2-7/max/streamed/precise/adaptive/bytes"] == {
        "schema": {
            "type": "int64",
            "optional": True,
            "name": "io.debezium.time.NanoTimestamp",
            "version": 1,
        },
        "value": None,
    }
    assert results["3.6.1.Final", "tinyint/max/streamed/precise/adaptive/bytes"] == {
        "schema": {"type": "int16", "optional": True},
        "value": 255,
    }


@pytest.mark.parametrize(
    ("type", "value", "cls"),
    [
        (sqlserver.temporal("datetime2", 7), "2024-01-02 03:04:05.1234567", "micros"),
        (sqlserver.temporal("datetimeoffset", 7), "2024-01-02 03:04:05.1234567 +05:30", "offset"),
    ],
)
def test_only_a_value_with_an_offset_has_its_class(type, value, cls):
    for mode in ("connect", "isostring", "microseconds"):
        assert wire(type, value, Modes(temporal=mode)).cell.cls == cls
