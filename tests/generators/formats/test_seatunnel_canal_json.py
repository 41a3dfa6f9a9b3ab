"""SeaTunnel's canal_json: the writer writes what the Kafka sink's own serializer writes.

`seatunnel-sink.txt` has the keys and values that the connector of 2.3.3 and 2.3.8 of the Maven
registry made of the rows of the named histories (`python -m recorders.seatunnel_sink`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from literals import literal

from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.seatunnel_canal_json import spell
from generators.model import Column, History, Layout, Op, Row, State, Table, Written, ZeroDate
from generators.sources import mysql
from generators.sources.boundaries import change
from generators.wire_format import get

FORMAT = get("seatunnel-canal-json")
TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
BEFORE: Row = {"id": 1, "a": "x"}
AFTER: Row = {"id": 1, "a": None}
CLOCK = mysql.wall("2024-02-29 01:02:03")


def recorded() -> dict[tuple[str, str], list[str]]:
    """The serializer's keys and values of each history, by profile and scenario."""
    texts: dict[tuple[str, str], list[str]] = {}
    profile = ""
    for line in literal("seatunnel-sink.txt").split("\n"):
        first, *rest = line.split("\t")
        if first == FORMAT.name:
            (profile,) = rest
        else:
            texts[profile, first] = rest
    return texts


def keys_and_values(written: Sequence[Written]) -> list[str]:
    """The key and the value of each message, in turn."""
    parts = ((record.message.key, record.message.value) for record in written)
    return [(part or b"").decode() for part in itertools.chain.from_iterable(parts)]


def test_the_writer_writes_the_bytes_of_seatunnel_s_own_serializer() -> None:
    texts = recorded()
    compared: Counter[str] = Counter()
    for profile in FORMAT.profiles:
        for scenario in boundary_scenarios(FORMAT, profile):
            if (profile.name, scenario.name) in texts:
                written = as_case(FORMAT, profile, scenario).written
                assert keys_and_values(written) == texts[profile.name, scenario.name], scenario.name
                compared[profile.name] += len(written)
    assert compared.keys() == {profile.name for profile in FORMAT.profiles}
    assert all(count > 600 for count in compared.values()), compared


@pytest.mark.parametrize(
    ("profile", "rows", "messages"),
    [
        ("2.3.8", (None, BEFORE), ["", '{"data":{"id":1,"a":"x"},"type":"INSERT"}']),
        ("2.3.8", (BEFORE, None), ["", '{"data":{"id":1,"a":"x"},"type":"DELETE"}']),
        (
            "2.3.8",
            (BEFORE, AFTER),
            [
                *("", '{"data":{"id":1,"a":"x"},"type":"DELETE"}'),
                *("", '{"data":{"id":1,"a":null},"type":"INSERT"}'),
            ],
        ),
        (
            "2.3.8+keyed",
            (BEFORE, None),
            ['{"data":{"id":1},"type":"INSERT"}', '{"data":{"id":1,"a":"x"},"type":"DELETE"}'],
        ),
    ],
)
def test_a_message_is_a_row_that_is_inserted_or_deleted(
    profile: str, rows: tuple[Row | None, Row | None], messages: list[str]
) -> None:
    op = Op.INSERT if rows[0] is None else Op.DELETE if rows[1] is None else Op.UPDATE
    history = History((change(TABLE, op, rows),))
    written = FORMAT.write(history, FORMAT.profile(profile), Layout())
    assert keys_and_values(written) == messages


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ("2.3.3", '{"data":{"id":1,"a":"\\uD83D\\uDE00"},"type":"INSERT"}'),
        ("2.3.8", '{"data":{"id":1,"a":"😀"},"type":"INSERT"}'),
    ],
)
def test_a_character_beyond_the_basic_plane_is_escaped_in_2_3_3_alone(
    profile: str, message: str
) -> None:
    history = History((change(TABLE, Op.INSERT, (None, {"id": 1, "a": "😀"})),))
    (written,) = FORMAT.write(history, FORMAT.profile(profile), Layout())
    assert written.message.value == message.encode()


@pytest.mark.parametrize(
    ("type", "value", "profile", "text"),
    [
        (mysql.temporal("datetime", 6), CLOCK + 120_000, "2.3.8", "2024-02-29T01:02:03.12"),
        (mysql.temporal("datetime", 0), CLOCK, "2.3.8+shanghai", "2024-02-29T01:02:03"),
        (mysql.temporal("timestamp", 0), CLOCK, "2.3.8", "2024-02-29T01:02:03"),
        (mysql.temporal("timestamp", 3), CLOCK, "2.3.8+shanghai", "2024-02-29T09:02:03"),
        (mysql.bit(1), 1, "2.3.8", "true"),
        (mysql.binary("binary", 3), b"a\0\0", "2.3.8", "YQAA"),
    ],
)
def test_a_value_is_spelled_as_seatunnel_spells_it(
    type: Any, value: Any, profile: str, text: str
) -> None:
    assert spell(type, value, FORMAT.profile(profile)).text == text


def test_a_zero_timestamp_is_null() -> None:
    zero = ZeroDate("0000-00-00 00:00:00")
    assert spell(mysql.temporal("timestamp"), zero, FORMAT.profiles[0]).state is State.NULL
