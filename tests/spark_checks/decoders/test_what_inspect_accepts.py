"""What inspect takes for a format's message, the format's reference decoder reads: messages as they
are written, and with each member missing or null.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import fastavro
import pytest

from conformance.inspecting.books import BOOKS
from conformance.inspecting.inspector import inspect
from conformance.inspecting.opening import ReadRecord, open_record
from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.ticdc_open_protocol.cells import join_events, key_of, split_events
from generators.model import Kind, Message
from generators.profiles import Profile
from generators.wire_format import FORMATS, Codec, Format, get, module_name

GROUPS = frozenset(
    {
        *("bootstrap", "control", "ddl", "document", "envelope"),
        *("keys", "op", "shape", "snapshot", "transaction"),
    }
)
"""First words of the names of scenarios that have every kind of message, and few values."""
IN_A_REGISTRY = frozenset(
    {"debezium-avro", "debezium-mongodb-avro", "ticdc-avro", "ticdc-debezium-avro"}
)
"""Formats whose messages have a schema in a registry, without which neither inspect nor a decoder
reads them.
"""
CONTAINERS = ("json", "avro", "protobuf")
"""What inspect says of a value that it read without a registry."""
SCHEMA = "value binary, key binary, topic string, partition int, offset bigint"
Document = Mapping[str, Any]


def messages_of_every_kind(fmt: Format[Any], profile: Profile) -> Iterator[Message]:
    """A message of each kind, operation and set of members."""
    shapes = set()
    for scenario in boundary_scenarios(fmt, profile):
        if scenario.level == 1 and scenario.name.split("/")[0] in GROUPS:
            for written in as_case(fmt, profile, scenario).written:
                readable = all(change.kind is not Kind.CORRUPT for change in written.changes)
                opened = open_record(ReadRecord(written.message.value, written.message.key))
                what = {(change.kind, change.op) for change in written.changes}
                shape = (frozenset(what), frozenset(opened.payload))
                if readable and opened.container in CONTAINERS and shape not in shapes:
                    shapes.add(shape)
                    yield written.message


def changed_objects(document: Document, inner: frozenset[str]) -> Iterator[Document]:
    """The object without each member and with null in its place, also of the objects in it that
    `inner` names.
    """
    for name, value in document.items():
        yield {other: member for other, member in document.items() if other != name}
        yield document | {name: None}
        if name in inner and isinstance(value, dict):
            yield from (
                document | {name: changed} for changed in changed_objects(value, frozenset())
            )


def json_text(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def json_variants(message: Message, inner: frozenset[str]) -> Iterator[Message]:
    """The JSON message with a member missing or null; of Connect's envelope those of the payload."""
    document = json.loads(message.value or b"")
    if isinstance(payload := document.get("payload"), dict):
        for changed in changed_objects(payload, inner):
            yield replace(message, value=json_text(document | {"payload": changed}))
    else:
        for changed in changed_objects(document, inner):
            yield replace(message, value=json_text(changed))


def framed_variants(message: Message, inner: frozenset[str]) -> Iterator[Message]:
    """The record of TiCDC's Open Protocol with a member of its first event missing or null, in the
    key or in the value.
    """
    keys, values = (
        split_events((message.key or b"")[8:]) or [],
        split_events(message.value or b"") or [],
    )
    for changed in changed_objects(json.loads(keys[0]), inner):
        yield replace(
            message, key=key_of([json_text(changed).decode(), *map(bytes.decode, keys[1:])])
        )
    if values[0]:
        for changed in changed_objects(json.loads(values[0]), inner):
            yield replace(message, value=join_events([json_text(changed), *values[1:]]))


def with_nulls(datum: Any, levels: int) -> Iterator[Any]:
    """The datum with null in place of each field of its record, and of the records in it."""
    if isinstance(datum, tuple):
        yield from ((datum[0], changed) for changed in with_nulls(datum[1], levels))
    elif isinstance(datum, dict) and levels:
        for name, value in datum.items():
            yield datum | {name: None}
            yield from (datum | {name: changed} for changed in with_nulls(value, levels - 1))


def avro_variants(message: Message, schemas: tuple[Any, ...]) -> Iterator[Message]:
    """The datum of a published schema with null in each field that may be null."""
    opened = open_record(ReadRecord(message.value))
    schema = fastavro.parse_schema(schemas[opened.edition])
    for changed in with_nulls(opened.document, 2):
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, schema, changed)
        except (TypeError, ValueError):  # the schema has no null there
            continue
        yield replace(message, value=out.getvalue())


def without_fields(document: Any) -> Iterator[Any]:
    """The document without each of its fields, and without each field of the messages in it."""
    if isinstance(document, list):
        for place, part in enumerate(document):
            for changed in without_fields(part):
                yield [*document[:place], changed, *document[place + 1 :]]
    elif isinstance(document, dict):
        for name, value in document.items():
            yield {other: field for other, field in document.items() if other != name}
            yield from (document | {name: changed} for changed in without_fields(value))


def protobuf_variants(message: Message, codec: Codec) -> Iterator[Message]:
    """The message without each field: Protobuf has no null."""
    for changed in without_fields(codec.read(message.value or b"")):
        yield replace(message, value=codec.write(changed))


def variants(fmt: Format[Any], profile: Profile, message: Message) -> Iterator[Message]:
    """The message, and it with each member missing or null."""
    yield message
    inner = frozenset(next(book.inner for book in BOOKS if book.format == fmt.name))
    match fmt.container:
        case "frames":
            yield from framed_variants(message, inner)
        case "avro":
            yield from avro_variants(message, fmt.schemas(profile))
        case "protobuf":
            assert fmt.codec is not None
            yield from protobuf_variants(message, fmt.codec)
        case _:
            yield from json_variants(message, inner)


def is_taken(name: str, message: Message) -> bool:
    """Whether inspect takes a message for one of the format."""
    record = ReadRecord(message.value, message.key, message.topic, message.partition)
    groups = inspect([record]).groups()
    return any(tally.book.format == name for group in groups for tally in group.tallies)


def shown(message: Message) -> str:
    return f"{(message.key or b'').decode(errors='replace')} {(message.value or b'').decode(errors='replace')}"


@pytest.mark.spark
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in IN_A_REGISTRY])
def test_the_reference_decoder_reads_what_inspect_takes(spark, name: str) -> None:
    fmt = get(name)
    profile = fmt.profiles[0]
    messages = list(messages_of_every_kind(fmt, profile))
    taken = [
        variant
        for message in messages
        for variant in variants(fmt, profile, message)
        if is_taken(name, variant)
    ]
    # An INSERT and a DELETE are all that Flink SQL and SeaTunnel write.
    kinds = 2 if name.startswith(("flink-", "seatunnel-")) else 3
    assert len(taken) >= len(messages) >= kinds
    rows = [(each.value, each.key, "t", 0, place) for place, each in enumerate(taken)]
    records = spark.createDataFrame(rows, SCHEMA).selectExpr(
        "*", "CAST(array() AS array<struct<key: string, value: binary>>) AS headers"
    )
    decoder = import_module(f"spark_checks.decoders.{module_name(name)}")
    changes = decoder.decode(records, deployment=profile.deployment).select("offset", "kind")
    corrupt = {row.offset for row in changes.collect() if row.kind == "CORRUPT"}
    assert [shown(taken[place]) for place in sorted(corrupt)] == []
