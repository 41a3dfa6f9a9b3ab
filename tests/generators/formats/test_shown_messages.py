"""Each writer ends its docstring with what it writes: a row inserted, updated and deleted, a
statement, a watermark and a heartbeat, if the product sends them. This test writes them again.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator

import pytest

from generators.model import (
    Column,
    Event,
    Heartbeat,
    History,
    Layout,
    Message,
    Op,
    Row,
    Table,
    Watermark,
)
from generators.sources import mongodb, mysql, postgresql
from generators.sources.boundaries import START, change
from generators.sources.ddl import ddl_event
from generators.wire_format import FORMATS, get, module_name

PROFILES = {
    "ticdc-canal-json": "v8.5.7+extension",
    "debezium-json": "3.5.0.Final+schemaless",
    "cloudcanal-debezium": "2022+schemaless",
    "ticdc-avro": "v8.5.7+extension",
    "ticdc-debezium-avro": "new-26.3.4+extension+watermarks",
    "ticdc-debezium-json": "new-8.5.7+extension+schemaless",
    "ticdc-open-protocol": "v8.5.7",
    "ticdc-simple-json": "v8.5.7",
    "ticdc-simple-avro": "v8.5.7",
    "debezium-avro": "3.5.0.Final",
    "debezium-mongodb-json": "3.6.1.Final+change_streams+schemaless",
    "debezium-mongodb-avro": "3.6.1.Final+change_streams+record-name",
    "maxwell-json": "1.45.0+ddl",
    "aws-dms-json": "2016-01-01",
    **dict.fromkeys(
        ("flink-canal-json", "flink-debezium-json", "flink-maxwell-json", "flink-ogg-json"),
        "1.20.3",
    ),
    **dict.fromkeys(("flinkcdc-canal-json", "flinkcdc-debezium-json"), "3.5.0"),
    "seatunnel-canal-json": "2.3.8",
}
"""Profiles that show a format in few characters; of others the last listed one shows it."""

WITH_SCHEMA = ("huawei-cdl-json", "huawei-cdl-debezium")
"""Formats whose messages begin with a schema of over a thousand characters, which is not shown."""

NOTES = {
    "mysql": (mysql.TYPES["int"], mysql.TYPES["text"]),
    "postgresql": (postgresql.TYPES["integer"], postgresql.TYPES["text"]),
    "mongodb": (mongodb.TYPES["int"], mongodb.TYPES["string"]),
}
"""The types of the columns of `shop.notes` by source."""

BEFORE: Row = {"id": 1, "note": "old"}
AFTER: Row = {"id": 1, "note": "new"}


def events(table: Table) -> Iterator[Event]:
    """What happens to the table `shop.notes`, ADD COLUMN, and the signs of life."""
    yield change(table, Op.INSERT, (None, BEFORE))
    yield change(table, Op.UPDATE, (BEFORE, AFTER))
    yield change(table, Op.DELETE, (AFTER, None))
    yield ddl_event("add column", "shop")
    yield Watermark(START)
    yield Heartbeat(START)


def message_text(name: str, message: Message) -> str:
    """A message of JSON as it is, of a format with a schema its payload; of a format with a codec
    the document that the codec reads; of other formats key and value as Python prints bytes.
    """
    fmt = get(name)
    if fmt.codec is not None:
        document = fmt.codec.read(message.value or b"")
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if fmt.container != "json":
        return f"{message.key!r} {message.value!r}"
    assert message.value is not None
    text = message.value.decode().rstrip("\r\n")
    if name in WITH_SCHEMA:
        schema, payload, end = text.partition('"payload":')
        assert schema.startswith('{"schema":{'), text
        return payload + end.removesuffix("}")
    return text


def written_texts(name: str) -> Iterator[str]:
    """The messages of all events, without the tombstones of JSON, which have no text."""
    fmt = get(name)
    profile = fmt.profile(PROFILES[name]) if name in PROFILES else fmt.profiles[-1]
    number, text = NOTES[profile.source]
    columns = (Column("id", number, nullable=False), Column("note", text))
    for event in events(Table("shop", "notes", columns, ("id",))):
        for written in fmt.write(History((event,)), profile, Layout(partitions=1)):
            if written.message.value is not None or fmt.container != "json":
                yield message_text(name, written.message)


def blocks(text: str) -> list[str]:
    """The indented blocks of a docstring, their lines joined."""
    found = [""]
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1] += line[4:]
        elif found[-1]:
            found.append("")
    return [block for block in found if block]


@pytest.mark.parametrize("name", FORMATS)
def test_a_writer_s_docstring_shows_what_it_writes(name: str) -> None:
    shown = importlib.import_module(f"generators.formats.{module_name(name)}").__doc__ or ""
    written = list(written_texts(name))
    assert len(written) >= 3
    assert blocks(shown)[-len(written) :] == written
