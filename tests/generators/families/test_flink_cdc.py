"""The Kafka sink of Flink CDC's pipelines: the writers write what its own serializers write.

`flink-cdc-sinks.txt` has the keys and values that the serializers of Flink CDC 3.2.1 and 3.5.0 made
of the rows of the named histories (`python -m recorders.flink_cdc_sinks`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
from literals import literal

from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import Column, History, Layout, Op, Row, Table, Written
from generators.sources import mysql
from generators.sources.boundaries import change
from generators.wire_format import get

FORMATS = ("flinkcdc-canal-json", "flinkcdc-debezium-json")
TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
BEFORE: Row = {"id": 1, "a": "x"}
AFTER: Row = {"id": 1, "a": None}
OTHER_KEY: Row = {"id": 2, "a": "x"}


def recorded(name: str) -> dict[tuple[str, str], list[str]]:
    """The serializers' keys and values of each history in a format, by profile and scenario."""
    texts: dict[tuple[str, str], list[str]] = {}
    format_name = profile = ""
    for line in literal("flink-cdc-sinks.txt").split("\n"):
        first, *rest = line.split("\t")
        if first in FORMATS:
            format_name, profile = first, rest[0]
        elif format_name == name:
            texts[profile, first] = rest
    return texts


def keys_and_values(written: Sequence[Written]) -> list[str]:
    """The key and the value of each message, in turn."""
    parts = ((record.message.key, record.message.value) for record in written)
    return [(part or b"").decode() for part in itertools.chain.from_iterable(parts)]


@pytest.mark.parametrize("name", FORMATS)
def test_the_writer_writes_the_bytes_of_flink_cdc_s_own_serializers(name: str) -> None:
    fmt, texts = get(name), recorded(name)
    compared: Counter[str] = Counter()
    for profile in fmt.profiles:
        for scenario in boundary_scenarios(fmt, profile):
            if (profile.name, scenario.name) in texts:
                written = as_case(fmt, profile, scenario).written
                assert keys_and_values(written) == texts[profile.name, scenario.name], scenario.name
                compared[profile.name] += len(written)
    assert compared.keys() == {profile.name for profile in fmt.profiles}
    assert all(count > 400 for count in compared.values()), compared


NAMES = '"database":"db","table":"t","pkNames":["id"]'
SOURCE = '"source":{"db":"db","table":"t"}'


@pytest.mark.parametrize(
    ("name", "profile", "rows", "messages"),
    [
        (
            "flinkcdc-canal-json",
            "3.5.0",
            (BEFORE, AFTER),
            [
                f'{{"old":[{{"id":1,"a":"x"}}],"data":[{{"id":1,"a":null}}],"type":"UPDATE",{NAMES}}}'
            ],
        ),
        (
            "flinkcdc-canal-json",
            "3.5.0",
            (BEFORE, None),
            [f'{{"old":null,"data":[{{"id":1,"a":"x"}}],"type":"DELETE",{NAMES}}}'],
        ),
        (
            "flinkcdc-canal-json",
            "3.2.1",
            (BEFORE, None),
            [f'{{"old":[{{"id":1,"a":"x"}}],"data":null,"type":"DELETE",{NAMES}}}'],
        ),
        (
            "flinkcdc-debezium-json",
            "3.5.0+non-null",
            (None, AFTER),
            [f'{{"after":{{"id":1}},"op":"c",{SOURCE}}}'],
        ),
        (
            "flinkcdc-debezium-json",
            "3.5.0",
            (BEFORE, OTHER_KEY),
            [
                f'{{"before":{{"id":1,"a":"x"}},"after":null,"op":"d",{SOURCE}}}',
                f'{{"before":null,"after":{{"id":2,"a":"x"}},"op":"c",{SOURCE}}}',
            ],
        ),
    ],
)
def test_a_message_is_a_row_change_and_names_its_table(
    name: str, profile: str, rows: tuple[Row | None, Row | None], messages: list[str]
) -> None:
    fmt = get(name)
    op = Op.INSERT if rows[0] is None else Op.DELETE if rows[1] is None else Op.UPDATE
    written = fmt.write(History((change(TABLE, op, rows),)), fmt.profile(profile), Layout())
    assert keys_and_values(written)[1::2] == messages
    assert {change.table for record in written for change in record.changes} == {"t"}


def test_a_record_s_key_is_spelled_by_the_options_of_its_own_format() -> None:
    when = Column("when", mysql.temporal("datetime", 0))
    table = Table("db", "t", (when,), ("when",))
    rows: tuple[None, Row] = (None, {"when": mysql.wall("2024-02-29 01:02:03")})
    fmt = get("flinkcdc-canal-json")
    written = fmt.write(
        History((change(table, Op.INSERT, rows),)), fmt.profile("3.5.0+iso-8601"), Layout()
    )
    key, value = keys_and_values(written)
    assert key == '{"TableId":"db.t","when":"2024-02-29 01:02:03"}'
    assert '"when":"2024-02-29T01:02:03"' in value
