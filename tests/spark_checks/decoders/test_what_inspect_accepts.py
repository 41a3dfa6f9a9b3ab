"""What inspect takes for a format's message, the format's reference decoder reads: messages as they
are written, and in some formats with each member missing or null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import pytest

from conformance.inspecting.inspector import inspect
from conformance.inspecting.opening import ReadRecord
from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import Message
from generators.wire_format import FORMATS, get, module_name

SCENARIOS = ("shape/insert", "shape/update-one-column", "shape/delete")
JSON_FORMATS = [
    name for name in FORMATS if get(name).container == "json" and not name.endswith("protocol")
]
VARIED = (
    *("ticdc-canal-json", "alibaba-canal-json", "cloudcanal-canal-json"),
    *("canal-dialects-json", "ogg-json"),
)
"""Formats whose evidence looks at each member that a reader needs: of these the messages are taken
with a member missing or null, too.
"""
SCHEMA = "value binary, key binary, topic string, partition int, offset bigint"


def variants(value: bytes) -> Iterator[bytes]:
    """The message, and it without each member and with null in its place; of Connect's envelope the
    members of the payload.
    """
    yield value
    document = json.loads(value)
    payload = document.get("payload")
    members = payload if isinstance(payload, dict) else document
    for name in members:
        lacking = {other: member for other, member in members.items() if other != name}
        for changed in (lacking, {**members, name: None}):
            whole = {**document, "payload": changed} if members is payload else changed
            yield json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode()


def is_taken(name: str, message: Message, value: bytes) -> bool:
    """Whether inspect takes a message for one of the format."""
    groups = inspect([ReadRecord(value, message.key, message.topic, message.partition)]).groups()
    return any(tally.book.format == name for group in groups for tally in group.tallies)


@pytest.mark.spark
@pytest.mark.parametrize("name", JSON_FORMATS)
def test_the_reference_decoder_reads_what_inspect_takes(spark, name: str) -> None:
    fmt = get(name)
    profile = fmt.profiles[0]
    messages = [
        written.message
        for scenario in boundary_scenarios(fmt, profile)
        if scenario.name in SCENARIOS
        for written in as_case(fmt, profile, scenario).written
        if written.message.value is not None
    ]
    taken = [
        (value, message)
        for message in messages
        for value in (variants(message.value or b"") if name in VARIED else [message.value])
        if is_taken(name, message, value)
    ]
    assert len(taken) >= len(messages)
    rows = [(value, message.key, "t", 0, place) for place, (value, message) in enumerate(taken)]
    records = spark.createDataFrame(rows, SCHEMA).selectExpr(
        "*", "CAST(array() AS array<struct<key: string, value: binary>>) AS headers"
    )
    decoder = import_module(f"spark_checks.decoders.{module_name(name)}")
    changes = decoder.decode(records, deployment=profile.deployment).select("offset", "kind")
    corrupt = {row.offset for row in changes.collect() if row.kind == "CORRUPT"}
    assert [taken[place][0].decode() for place in sorted(corrupt)] == []
