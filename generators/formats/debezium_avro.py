"""Upstream Debezium through Confluent's AvroConverter: MySQL and PostgreSQL connectors 1.4 to 3.6, in Confluent's framing.

Source: debezium-json for the connectors, confluentinc/schema-registry for the converter (the pages debezium, confluent of the
sources). Key and value are each a zero byte, the id of a schema in the registry, and one Avro record. The schema has all that
Connect's has: the semantic type of a column is `connect.name`, and DECIMAL is Avro's logical type. The connectors run with
`schema.name.adjustment.mode` and `field.name.adjustment.mode` (before 2.0 `sanitize.field.names`), without which the converter
refuses names: a column's name has an underscore for each character that Avro's names do not have.

At level one a decimal is its digits, and bytes are base64, as in JSON. Not written: tables of which two columns have one name
then, which Connect refuses; `avro_unicode` adjustment; schema references; `use.latest.version`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from generators.families import confluent
from generators.families.connect import partition_of
from generators.families.debezium.values import java_decimal
from generators.formats import debezium_json as connectors
from generators.formats.debezium_json.profiles import CHOICES as OF_CONNECTORS
from generators.formats.debezium_json.profiles import DebeziumProfile, supports
from generators.garbage.faults import LABELS
from generators.model import Change, History, Image, Layout, State, Written
from generators.wire_format import Choices, Format, KindRow

NAME: Final = "debezium-avro"
_NOT_HERE: Final = ("schemaless", "plain-key", "legacy-tombstone", "numeric", "flat")
"""Options of JsonConverter, and of what it alone can write."""


@dataclass(frozen=True, slots=True)
class AvroProfile(DebeziumProfile):
    """A Debezium release with AvroConverter. `subjects` is the converter's subject.name.strategy."""

    subjects: str = ""


CHOICES: Final = Choices(
    NAME,
    OF_CONNECTORS.releases,
    {
        **{name: told for name, told in OF_CONNECTORS.options.items() if name not in _NOT_HERE},
        "record-name": "RecordNameStrategy: a schema's subject is the record's name, whatever the topic. Else the topic's.",
        "topic-record-name": "TopicRecordNameStrategy: a schema's subject is the topic and the record's name.",
    },
    (*OF_CONNECTORS.exclusive, ("record-name", "topic-record-name")),
    tuple(limit for limit in OF_CONNECTORS.limits if limit.option not in _NOT_HERE),
)


def profile(release: str, *options: str) -> AvroProfile:
    """The profile of a release with options. Raises UnknownName, or UsageError for a pair that cannot be."""
    ordered = CHOICES.checked(release, options)
    subjects = next((option for option in ordered if option in confluent.STRATEGIES), "")
    found = connectors.profile(release, *(option for option in ordered if option != subjects))
    members = {field.name: getattr(found, field.name) for field in fields(DebeziumProfile)}
    deployment = replace(found.deployment, schemas="registry")
    return AvroProfile(**{**members, "options": ordered, "deployment": deployment, "avro_names": True, "subjects": subjects})


PROFILES: Final = (
    profile("3.5.0.Final"),
    profile("3.5.0.Final", "postgresql"),
    profile("2.5.4.Final", "transaction", "nulls-kept", "record-name"),
    profile("1.9.7.Final", "topic-record-name"),
    profile("1.4.0.Final", "string", "connect", "base64"),
)


def write(history: History, profile: AvroProfile, layout: Layout) -> list[Written]:
    """The records of a history as the connector's JSON has them, converted; keys have other bytes, hence other partitions."""
    return [_converted(one, profile, layout.partitions) for one in connectors.write(history, profile, layout)]


def _converted(one: Written, profile: AvroProfile, partitions: int) -> Written:
    message = one.message
    key, _ = _datum(message.key, message.topic, "key", profile)
    value, schema = _datum(message.value, message.topic, "value", profile)
    place = message.partition if key is None else partition_of(key, partitions)
    changes = tuple(_owed(change, _columns(schema)) for change in one.changes) if schema else one.changes
    return Written(replace(message, key=key, value=value, partition=place), changes)


def _datum(text: bytes | None, topic: str, side: str, profile: AvroProfile) -> tuple[bytes | None, Any]:
    if text is None:
        return None, None
    return confluent.converted(text.decode(), lambda name: confluent.STRATEGIES[profile.subjects](topic, name, side))


def _columns(schema: Mapping[str, Any]) -> Mapping[str, int]:
    """The scales of a row's decimals by the columns' names on the wire."""
    rows = [field for field in schema["fields"] if field["field"] in ("before", "after") and field["type"] == "struct"]
    row = rows[0]["fields"] if rows else schema["fields"]
    return {field["field"]: int(field["parameters"]["scale"]) for field in row if field.get("name", "").endswith("data.Decimal")}


def _owed(change: Change, scales: Mapping[str, int]) -> Change:
    """The change with decimals as digits."""
    if not scales:
        return change
    sides = ("before", "after", "full_before", "full_after")
    return replace(change, **{side: _image(getattr(change, side), scales) for side in sides})


def _image(image: Image | None, scales: Mapping[str, int]) -> Image | None:
    if image is None:
        return None
    found = dict(image)
    for name, scale in scales.items():
        if name in found and found[name].text is not None and found[name].state is not State.NULL:
            number = int.from_bytes(base64.b64decode(found[name].text or ""), signed=True)
            found[name] = replace(found[name], text=java_decimal(number, scale, plain=True))
    return found


KINDS: Final = (
    *(replace(row, wire=row.wire.replace("payload.", "")) for row in connectors.KINDS[:6]),
    KindRow("value null", "TOMBSTONE", note="the delete before it said what is gone"),
    *(replace(row, wire=row.wire.replace("payload.", "")) for row in connectors.KINDS[7:9]),
    KindRow("a record of ts_ms alone", "HEARTBEAT"),
    KindRow("__op c, r, u, d among the columns", "ROW", "that operation", "flattened: the new row, of d the old one"),
)

FORMAT: Final = Format(
    name=NAME,
    title="Debezium (Confluent Avro)",
    source="mysql, postgresql",
    profiles=PROFILES,
    choices=CHOICES,
    build=profile,
    write=write,
    kinds=KINDS,
    position=connectors.FORMAT.position,
    scenarios=connectors.FORMAT.scenarios,
    supports=supports,
    container="confluent",
    faults=confluent.FAULTS,
    cell_faults=lambda _profile: (),
    fits=LABELS,
    unfit=lambda _profile, _fits: (),
    losses=connectors.FORMAT.losses,
    oracle=confluent.left,
)
