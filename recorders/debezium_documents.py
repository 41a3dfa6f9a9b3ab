"""Holds the writers of debezium-mongodb-json and debezium-mongodb-avro against the MongoDB
connector's own classes, which make records of change events without a database, and those of
Confluent's AvroConverter as Apicurio ships them.

    python -m recorders.debezium_documents           writes the pinned records again
    python -m recorders.debezium_documents --check   exit 1, with the first that differ, if a record
                                                     of a named case is another one

Needs a JDK, and the Maven registry for the connector's jars the first time. Of each profile the
named cases are made: of every event the change event that a change stream would give, in canonical
Extended JSON. A record in Avro is compared as JSON of its schema and its datum.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers import apicurio
from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.families import confluent
from generators.formats import debezium_mongodb_json
from generators.formats.debezium_mongodb_json import MongodbProfile
from generators.formats.debezium_mongodb_json.documents import describe_update, is_replacement
from generators.model import (
    History,
    Json,
    Kind,
    Op,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
    Written,
)
from generators.sources.collections import as_collections
from generators.sources.mongodb import ID, INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, MILLIS
from generators.wire_format import Format, get
from recorders.debezium_types import run_program
from recorders.products import debezium_bundle

_FOLDER: Final = Path("tests/generators/formats")
FILES: Final[Mapping[str, Path]] = {
    "debezium-mongodb-json": _FOLDER / "debezium_mongodb_records.jsonl",
    "debezium-mongodb-avro": _FOLDER / "debezium_mongodb_avro_records.jsonl",
}
"""The pinned records of each format, below the folder of the checkout."""
AVRO_CONVERTER: Final = Bundle(
    f"apicurio-converter-{apicurio.VERSION}",
    "Apicurio's Avro converter",
    (("io.apicurio", "apicurio-registry-utils-converter", apicurio.VERSION), LOGGING),
    main="apicurio-registry-utils-converter",
    download="32 jars",
)
"""The classes of Confluent's AvroConverter, which the Maven registry has in Apicurio's package."""
PINNED: Final = (
    "update/",
    "keys/",
    "fields/",
    "values/",
    "snapshot/",
    "rows/every-type/",
    "classes/",
    "shape/awkward",
    "shape/keyless",
)
"""Beginnings of the names of scenarios whose records are pinned."""
PINNED_WITH_SCHEMA: Final = ("snapshot/", "update/path", "keys/string")
"""The same for profiles whose records have a schema of more than a thousand bytes."""

LONGEST: Final = 6000
"""Characters of a record that is pinned."""

_WIRE_OPS: Final = {Op.INSERT: "insert", Op.DELETE: "delete", Op.READ: "read"}


@dataclass(frozen=True, slots=True)
class ComparedRecord:
    """Record number `number` of a named case (`scenario`), as the writer wrote it and as the
    connector's classes make it; each is a pair of key and value.
    """

    profile: str
    scenario: str
    number: int
    by_writer: tuple[str, str]
    by_connector: tuple[str, str]

    @property
    def is_equal(self) -> bool:
        """Whether key and value are the same to the last byte."""
        return self.by_writer == self.by_connector


def canonical_value(source_type: SourceType, value: Value) -> Any:
    """A field's value in canonical Extended JSON."""
    if value is None:
        return None
    match source_type.name:
        case "int":
            return {"$numberInt": str(value)}
        case "long":
            return {"$numberLong": str(value)}
        case "double":
            assert isinstance(value, float)
            return {"$numberDouble": _double_text(value)}
        case "decimal":
            return {"$numberDecimal": str(value)}
        case "bool":
            return bool(value)
        case "date":
            assert isinstance(value, int)
            return {"$date": {"$numberLong": str(value // MILLIS)}}
        case "objectId":
            return {"$oid": value}
        case "uuid":
            return _canonical_binary(uuid.UUID(str(value)).bytes, "04")
        case "binData":
            assert isinstance(value, bytes)
            return _canonical_binary(value, "00")
        case "object" | "array":
            assert isinstance(value, Json)
            return canonical_part(value.value)
    return value


def _double_text(value: float) -> str:
    """The text of a double in canonical Extended JSON."""
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))


def _canonical_binary(content: bytes, subtype: str) -> Any:
    return {"$binary": {"base64": base64.b64encode(content).decode(), "subType": subtype}}


def canonical_part(value: Any) -> Any:
    """A value within a document in canonical Extended JSON; an object of one member whose name
    begins with $ has that form already.
    """
    match value:
        case dict():
            is_typed = (
                len(value) == 1 and next(iter(value)).startswith("$") and len(next(iter(value))) > 1
            )
            return (
                value if is_typed else {name: canonical_part(item) for name, item in value.items()}
            )
        case list():
            return [canonical_part(item) for item in value]
        case bool() | None | str():
            return value
        case float():
            return {"$numberDouble": _double_text(value)}
        case int() if INT_MIN <= value <= INT_MAX:
            return {"$numberInt": str(value)}
        case int() if LONG_MIN <= value <= LONG_MAX:
            return {"$numberLong": str(value)}
    return {"$numberDecimal": str(value)}


def canonical_document(table: Table, document: Mapping[str, Value]) -> Any:
    """A document in canonical Extended JSON."""
    return {
        name: canonical_value(table.column(name).type, value) for name, value in document.items()
    }


def change_event(
    event: RowChange, images: RowImages, written: Written, profile: MongodbProfile
) -> Any:
    """The change event of MongoDB from which the connector would make a written message: what a
    change stream gives for the change of the document from `images.before` to `images.after`, in
    canonical Extended JSON. Its clocks are those of the message.
    """
    table, before, after = event.table, images.before, images.after
    members = json.loads(written.message.value or b"")
    payload = members.get("payload", members)
    document = after if before is None else before
    assert document is not None
    change: dict[str, Any] = {
        "_id": {"_data": "8200"},
        "operationType": _WIRE_OPS.get(event.op, "update"),
        "ns": {"db": table.database, "coll": table.name},
        "now": {"$numberLong": str(payload["ts_ms"])},
    }
    if event.op is not Op.READ:
        change["clusterTime"] = {
            "$timestamp": {"t": event.at.ms // 1000, "i": payload["source"]["ord"]}
        }
        change["wallTime"] = {"$date": {"$numberLong": str(event.at.ms)}}
        change["documentKey"] = {ID: canonical_value(table.column(ID).type, document[ID])}
    if event.op in (Op.INSERT, Op.READ):
        change["fullDocument"] = canonical_document(table, document)
        return change
    if profile.pre_image:
        assert before is not None
        change["fullDocumentBeforeChange"] = canonical_document(table, before)
    if event.op is Op.UPDATE:
        assert before is not None and after is not None
        if is_replacement(before, after):
            change["operationType"] = "replace"
        else:
            change["updateDescription"] = _description(table, before, after)
        if profile.full_update or is_replacement(before, after):
            change["fullDocument"] = canonical_document(table, after)
    return change


def _description(table: Table, before: Mapping[str, Value], after: Mapping[str, Value]) -> Any:
    """The description of an update in a change stream, in canonical Extended JSON: updated fields,
    removed fields, truncated arrays.
    """
    update = describe_update(table, before, after)
    return {
        "updatedFields": {
            **canonical_document(table, update.fields),
            **{path: canonical_part(part) for path, part in update.values_by_path.items()},
        },
        "removedFields": list(update.removed),
        "truncatedArrays": [
            {"field": name, "newSize": {"$numberInt": str(size)}}
            for name, size in update.truncated.items()
        ],
    }


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """A row message of a named case, and the change event from which the connector makes it."""

    scenario: str
    number: int
    written: Written
    event: Any


def case_records(fmt: Format[MongodbProfile], profile: MongodbProfile) -> Iterator[CaseRecord]:
    """The row messages of a profile's named cases, each with its change event. Long ones are left
    out.
    """
    for scenario in boundary_scenarios(fmt, profile):
        if scenario.name not in ("shape/megabyte", "shape/many-commits"):
            yield from _records_of(fmt, profile, scenario)


def _document_changes(history: History) -> Iterator[tuple[RowChange, RowImages]]:
    """The changes of documents in a history, without updates that change nothing."""
    for event in history.events:
        if not isinstance(event, RowChange):
            continue
        for images in event.rows:
            before, after = dict(images.before or {}), dict(images.after or {})
            if event.op is not Op.UPDATE or repr(before) != repr(after):
                yield event, images


def _is_change(written: Written) -> bool:
    """Whether a written message is a row change."""
    return written.changes[0].kind is Kind.ROW


def _records_of(
    fmt: Format[MongodbProfile], profile: MongodbProfile, scenario: Scenario
) -> Iterator[CaseRecord]:
    """The messages that our writer makes of a scenario's changes, each with MongoDB's change event.
    The connector's own classes make a record of that event, which is compared with our message.
    """
    history = as_collections(scenario.history)
    changes = _document_changes(history)
    messages, in_json = (
        filter(_is_change, write(history, profile, LAYOUT))
        for write in (fmt.write, debezium_mongodb_json.write)
    )
    for number, ((event, images), written, json_record) in enumerate(
        zip(changes, messages, in_json, strict=True)
    ):
        yield CaseRecord(
            scenario.name, number, written, change_event(event, images, json_record, profile)
        )


def compare_profile(
    fmt: Format[MongodbProfile], profile: MongodbProfile, note: Note
) -> list[ComparedRecord]:
    """Our records of a profile's named cases, with those that the connector's classes make of the
    same change events. Raises HarnessError.
    """
    records = list(case_records(fmt, profile))
    jars = jars_of(debezium_bundle("mongodb", profile.release), note)
    lines = "".join(f"{json.dumps(record.event)}\n" for record in records)
    field_name_adjustment = "avro" if profile.avro_names else "none"
    results = run_program(
        "DebeziumDocuments",
        jars,
        lines,
        LAYOUT.topic,
        str(profile.schemas).lower(),
        field_name_adjustment,
    )
    made_records = [_made_record(json.loads(result)) for result in results]
    if fmt.container == "confluent":
        made_records = _converted_records(made_records, jars_of(AVRO_CONVERTER, note))
    return [
        _compared(profile, record, by_connector)
        for record, by_connector in zip(records, made_records, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class MadeRecord:
    """A record that the connector's classes made: its topic, and its key and value as text."""

    topic: str
    key: str
    value: str


def _made_record(result: Mapping[str, str]) -> MadeRecord:
    """The record of a line of the Java program that ran the connector's classes."""
    parts = (base64.b64decode(result[part]).decode() for part in ("topic", "key", "value"))
    return MadeRecord(*parts)


def _converted_records(made_records: list[MadeRecord], jars: list[Path]) -> list[MadeRecord]:
    """The records, whose keys and values are JSON with schemas, after the converter's classes made
    Avro of each: a key and value are now the text of a JSON object of the Avro schema and the data.
    `jars` has the converter.
    """
    parts = chain.from_iterable((record.key, record.value) for record in made_records)
    lines = "".join(f"{base64.b64encode(part.encode()).decode()}\n" for part in parts)
    results = [base64.b64decode(line) for line in run_program("ConnectAvro", jars, lines)]
    texts = iter(
        _readable(schema.decode(), datum)
        for schema, datum in zip(results[::2], results[1::2], strict=True)
    )
    return [MadeRecord(record.topic, next(texts), next(texts)) for record in made_records]


def _readable(schema_json: str, datum: bytes) -> str:
    """A message's Avro data as the text of a JSON object of its schema and its members; `datum` is
    the data alone, `schema_json` the schema.
    """
    framed = confluent.MAGIC + bytes(confluent.HEAD - 1) + datum
    return confluent.readable(framed, lambda _number: ((), schema_json)).decode()


def _readable_part(part: bytes | None) -> str:
    """A key or value of our writer as text: JSON as it is, Avro as JSON of its schema and its
    datum.
    """
    if part is None or part[:1] != confluent.MAGIC:
        return (part or b"").decode()
    _, schema_json = confluent.SCHEMAS[int.from_bytes(part[1 : confluent.HEAD])]
    return _readable(schema_json, part[confluent.HEAD :])


def _compared(
    profile: MongodbProfile, record: CaseRecord, by_connector: MadeRecord
) -> ComparedRecord:
    """A message of our writer beside the one that the connector's classes made of the same change
    event. Of a row that a snapshot read, the clock of our message is put into theirs.
    """
    message = record.written.message
    assert by_connector.topic == message.topic, record.scenario
    written = (_readable_part(message.key), _readable_part(message.value))
    made_value = by_connector.value
    if record.event["operationType"] == "read":
        made_value = _with_clock_of(written[1], made_value)
    return ComparedRecord(
        profile.name, record.scenario, record.number, written, (by_connector.key, made_value)
    )


_CLOCK: Final = re.compile(r'"ts_ms":\d+(?=,"snapshot")|"ts_us":\d+,"ts_ns":\d+')
"""The stamps of the block `source`."""


def _with_clock_of(writer_record: str, connector_record: str) -> str:
    """The connector's record of a snapshot's document, in which the times are those of the writer's
    record: the connector takes them from this machine's clock.
    """
    stamps = iter(_CLOCK.findall(writer_record))
    return _CLOCK.sub(lambda _match: next(stamps), connector_record)


def is_pinned(profile: MongodbProfile, scenario: str) -> bool:
    """Whether the records of a scenario are pinned."""
    return scenario.startswith(PINNED_WITH_SCHEMA if profile.schemas else PINNED)


def _compare_format(name: str, *, check: bool) -> int:
    """Compares the records of a format's profiles, shows the first that differ, and pins those of
    the connector's classes unless `check`. Returns how many differ.
    """
    fmt: Format[MongodbProfile] = get(name)
    lines: list[str] = []
    differing = 0
    for profile in fmt.profiles:
        compared = compare_profile(fmt, profile, partial(click.echo, err=True))
        unequal = [record for record in compared if not record.is_equal]
        differing += len(unequal)
        click.echo(
            f"{name} {profile.name}: {len(compared) - len(unequal)} identical, {len(unequal)} other"
        )
        for record in unequal[:5]:
            click.echo(f"  {record.scenario} {record.number}")
            click.echo(f"    {record.by_writer}\n    {record.by_connector}")
        lines += [
            json.dumps([record.profile, record.scenario, record.number, *record.by_connector])
            for record in compared
            if is_pinned(profile, record.scenario) and len(record.by_connector[1]) <= LONGEST
        ]
    if not check:
        file = Path(__file__).parents[1] / FILES[name]
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        click.echo(f"{FILES[name]}: {len(lines)} records")
    return differing


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a record is another one.")
def main(check: bool) -> None:
    """Compares the writers' records with those of the connector's classes, and pins these."""
    differing = sum(_compare_format(name, check=check) for name in FILES)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
