"""The sinks of Flink's changelog formats write what Flink's own serializers write.

`flink-sinks.txt` has the bytes of flink-json 1.20.3 and 2.3.0 of the Maven registry for the rows of the
named histories (`python -m recorders.flink_sinks`).
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from literals import literal

from generators.drawing.cases import as_case, boundary_scenarios
from generators.families.flink import FlinkProfile, spell_cell, supports
from generators.model import Column, History, Json, Layout, Op, Row, State, Table, ZeroDate
from generators.sources import mysql
from generators.sources.boundaries import change
from generators.wire_format import get

FORMATS = ("flink-canal-json", "flink-debezium-json", "flink-maxwell-json", "flink-ogg-json")
OLD_PLAIN = FlinkProfile("1.20.3", plain_decimals=True)
NEW = FlinkProfile("2.3.0", keeps_scale=True)
NEW_PLAIN = FlinkProfile("2.3.0", plain_decimals=True, keeps_scale=True)
ISO = FlinkProfile("2.3.0", iso_timestamps=True)
CLOCK = mysql.wall("2024-02-29 01:02:03")
DECIMAL_10_2 = mysql.decimal(10, 2)


def recorded(name: str) -> dict[tuple[str, str], list[str]]:
    """Flink's messages of each history in a format, by profile and scenario."""
    messages: dict[tuple[str, str], list[str]] = {}
    format_name = profile = ""
    for line in literal("flink-sinks.txt").split("\n"):
        first, *rest = line.split("\t")
        if first in FORMATS:
            format_name, profile = first, rest[0]
        elif format_name == name:
            messages[profile, first] = rest
    return messages


@pytest.mark.parametrize("name", FORMATS)
def test_the_writer_writes_the_bytes_of_flink_s_own_serializer(name: str) -> None:
    fmt, messages = get(name), recorded(name)
    compared: Counter[str] = Counter()
    for profile in fmt.profiles:
        for scenario in boundary_scenarios(fmt, profile):
            if (profile.name, scenario.name) in messages:
                written = as_case(fmt, profile, scenario).written
                texts = [(record.message.value or b"").decode() for record in written]
                assert texts == messages[profile.name, scenario.name], scenario.name
                compared[profile.name] += len(texts)
    assert compared.keys() == {profile.name for profile in fmt.profiles}
    assert all(count > 600 for count in compared.values()), compared


@pytest.mark.parametrize(
    ("type", "value", "profile", "text", "is_json"),
    [
        (DECIMAL_10_2, Decimal("100.00"), NEW, "1E+2", True),
        (DECIMAL_10_2, Decimal("100.00"), OLD_PLAIN, "100", True),
        (DECIMAL_10_2, Decimal("100.00"), NEW_PLAIN, "100.00", True),
        (DECIMAL_10_2, Decimal("0.00"), NEW, "0", True),
        (DECIMAL_10_2, Decimal("-1.50"), NEW, "-1.5", True),
        (mysql.decimal(20, 10), Decimal("0.0000000270"), NEW, "2.7E-8", True),
        (mysql.integer("bigint", unsigned=True), 10**19, NEW, "1E+19", True),
        (mysql.integer("bigint"), 10**18, NEW, "1000000000000000000", True),
        (mysql.bit(1), 1, NEW, "true", True),
        (mysql.year(), 2024, NEW, "2024", True),
        (mysql.temporal("datetime", 6), CLOCK + 120_000, NEW, "2024-02-29 01:02:03.12", False),
        (mysql.temporal("datetime", 6), CLOCK, ISO, "2024-02-29T01:02:03", False),
        (mysql.temporal("timestamp", 0), CLOCK, NEW, "2024-02-29 01:02:03Z", False),
        (mysql.temporal("timestamp", 0), CLOCK, ISO, "2024-02-29T01:02:03Z", False),
        (mysql.binary("binary", 3), b"a\0\0", NEW, "YQAA", False),
    ],
)
def test_a_value_is_spelled_as_flink_spells_it(
    type: Any, value: Any, profile: FlinkProfile, text: str, is_json: bool
) -> None:
    cell = spell_cell(type, value, profile)
    assert (cell.text, cell.json, cell.value) == (text, is_json, value)


def test_a_zero_date_is_null() -> None:
    assert spell_cell(mysql.temporal("date"), ZeroDate("0000-00-00"), NEW).state is State.NULL


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (mysql.decimal(38, 10), True),
        (mysql.decimal(39, 10), False),
        (mysql.bit(1), True),
        (mysql.bit(8), False),
        (mysql.temporal("time"), False),
        (mysql.text(), True),
    ],
)
def test_types_of_which_a_flink_table_has_every_value(type: Any, expected: bool) -> None:
    assert supports(type) is expected


TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
BEFORE: Row = {"id": 1, "a": "x"}
AFTER: Row = {"id": 1, "a": None}


@pytest.mark.parametrize(
    ("name", "profile", "messages"),
    [
        (
            "flink-canal-json",
            "1.20.3",
            [
                (None, '{"data":[{"id":1,"a":"x"}],"type":"DELETE"}'),
                (None, '{"data":[{"id":1,"a":null}],"type":"INSERT"}'),
            ],
        ),
        (
            "flink-debezium-json",
            "2.3.0+non-null+keyed",
            [
                ('{"id":1}', '{"before":{"id":1,"a":"x"},"op":"d"}'),
                ('{"id":1}', '{"after":{"id":1},"op":"c"}'),
            ],
        ),
        (
            "flink-maxwell-json",
            "1.17.2",
            [
                (None, '{"data":{"id":1,"a":"x"},"type":"delete"}'),
                (None, '{"data":{"id":1,"a":null},"type":"insert"}'),
            ],
        ),
        (
            "flink-ogg-json",
            "2.3.0",
            [
                (None, '{"before":{"id":1,"a":"x"},"after":null,"op_type":"D"}'),
                (None, '{"before":null,"after":{"id":1,"a":null},"op_type":"I"}'),
            ],
        ),
    ],
)
def test_an_update_is_a_delete_and_an_insert(
    name: str, profile: str, messages: list[tuple[str | None, str]]
) -> None:
    fmt = get(name)
    history = History((change(TABLE, Op.UPDATE, (BEFORE, AFTER)),))
    written = fmt.write(history, fmt.profile(profile), Layout())
    assert [
        (
            None if record.message.key is None else record.message.key.decode(),
            (record.message.value or b"").decode(),
        )
        for record in written
    ] == messages
    assert [change.op for record in written for change in record.changes] == [Op.DELETE, Op.INSERT]


def test_a_document_is_a_text() -> None:
    cell = spell_cell(mysql.TYPES["json"], Json({"a": 1}), NEW)
    assert (cell.json, cell.text) == (False, '{"a": 1}')
