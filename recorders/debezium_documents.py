"""Holds the writer of debezium-mongodb-json against the MongoDB connector's own classes, which make
records of change events without a database.

    python -m recorders.debezium_documents           writes the pinned records again
    python -m recorders.debezium_documents --check   exit 1, with the first that differ, if a record
                                                     of a named case is another one

Needs a JDK, and the Maven registry for the connector's jars the first time. Of each profile the
named cases are made: of every event the change event that a change stream would give, in canonical
Extended JSON.
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
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import Note, jars_of
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.formats.debezium_mongodb_json import FORMAT, MongodbProfile, write
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
from recorders.debezium_types import run_program
from recorders.products import debezium_bundle

FILE: Final = Path("tests/generators/formats/debezium_mongodb_records.jsonl")
"""The pinned records, below the folder of the checkout."""
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
    """A record of a named case as the writer wrote it and as the connector's classes make it."""

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
    """The change event behind a written message, as a change stream gives it to the connector. Its
    clocks are those of the message.
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
    """The update description of a change stream in canonical Extended JSON."""
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


def case_records(profile: MongodbProfile) -> Iterator[CaseRecord]:
    """The row messages of a profile's named cases, each with its change event. Long ones are left
    out.
    """
    for scenario in boundary_scenarios(FORMAT, profile):
        if scenario.name not in ("shape/megabyte", "shape/many-commits"):
            yield from _records_of(scenario, profile)


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
    return written.changes[0].kind is Kind.ROW


def _records_of(scenario: Scenario, profile: MongodbProfile) -> Iterator[CaseRecord]:
    """The messages that our writer makes of a scenario's changes, each with MongoDB's change event,
    of which the connector's own classes make theirs for the comparison.
    """
    history = as_collections(scenario.history)
    changes = _document_changes(history)
    messages = filter(_is_change, write(history, profile, LAYOUT))
    for number, ((event, images), written) in enumerate(zip(changes, messages, strict=True)):
        yield CaseRecord(
            scenario.name, number, written, change_event(event, images, written, profile)
        )


def compare_profile(profile: MongodbProfile, note: Note) -> list[ComparedRecord]:
    """The records of a profile's named cases, with those that the connector's classes make of the
    same change events. Raises HarnessError.
    """
    records = list(case_records(profile))
    jars = jars_of(debezium_bundle("mongodb", profile.release), note)
    lines = "".join(f"{json.dumps(record.event)}\n" for record in records)
    results = run_program(
        "DebeziumDocuments", jars, lines, LAYOUT.topic, str(profile.schemas).lower()
    )
    return [
        _compared(profile, record, json.loads(result))
        for record, result in zip(records, results, strict=True)
    ]


def _compared(
    profile: MongodbProfile, record: CaseRecord, result: Mapping[str, str]
) -> ComparedRecord:
    """A message of our writer beside the one that the connector's classes made of the same change
    event: `result` is a line of the Java program that ran them. Of a row that a snapshot read, the
    clock of our message is put into theirs.
    """
    message = record.written.message
    made_key, made_value = (base64.b64decode(result[part]).decode() for part in ("key", "value"))
    assert base64.b64decode(result["topic"]).decode() == message.topic, record.scenario
    written = ((message.key or b"").decode(), (message.value or b"").decode())
    if record.event["operationType"] == "read":
        made_value = _with_clock_of(written[1], made_value)
    return ComparedRecord(
        profile.name, record.scenario, record.number, written, (made_key, made_value)
    )


_CLOCK: Final = re.compile(r'"ts_ms":\d+(?=,"snapshot")|"ts_us":\d+,"ts_ns":\d+')
"""The stamps of the block `source`."""


def _with_clock_of(writer_record: str, connector_record: str) -> str:
    """The connector's record of a snapshot's document, with the stamps that the writer gave it: the
    connector takes the clock of this machine.
    """
    stamps = iter(_CLOCK.findall(writer_record))
    return _CLOCK.sub(lambda _match: next(stamps), connector_record)


def is_pinned(profile: MongodbProfile, scenario: str) -> bool:
    """Whether the records of a scenario are pinned."""
    return scenario.startswith(PINNED_WITH_SCHEMA if profile.schemas else PINNED)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a record is another one.")
def main(check: bool) -> None:
    """Compares the writer's records with those of the connector's classes, and pins these."""
    note = partial(click.echo, err=True)
    lines: list[str] = []
    differing = 0
    for profile in FORMAT.profiles:
        compared = compare_profile(profile, note)
        unequal = [record for record in compared if not record.is_equal]
        differing += len(unequal)
        click.echo(
            f"{profile.name}: {len(compared) - len(unequal)} identical, {len(unequal)} other"
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
        file = Path(__file__).parents[1] / FILE
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        click.echo(f"{FILE}: {len(lines)} records")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
