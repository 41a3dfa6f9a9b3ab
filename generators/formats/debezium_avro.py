"""Upstream Debezium through Confluent's AvroConverter: MySQL and PostgreSQL connectors 1.4 to 3.6, in Confluent's framing.

Source: debezium-json for the connectors, confluentinc/schema-registry for the converter (the pages debezium, confluent of the
sources). Key and value are each a zero byte, the id of a schema in the registry, and one Avro record. The schema has all that
Connect's has: the semantic type of a column is `connect.name`, and DECIMAL is Avro's logical type. The connectors run with
`schema.name.adjustment.mode` and `field.name.adjustment.mode` (before 2.0 `sanitize.field.names`), without which the converter
refuses names: a column's name has an underscore for each character that Avro's names do not have.

At level one a decimal is its digits, a float the shortest, and bytes are base64, as in JSON. Not written: tables of which two
columns have one name then, which Connect refuses; `avro_unicode` adjustment; schema references; `use.latest.version`.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Context, Decimal
from typing import Any, Final, TypeAlias

from generators.families import confluent
from generators.families.connect import partition_of, schema_text
from generators.families.debezium.values import java_decimal
from generators.formats import debezium_json as connectors
from generators.formats.debezium_json.losses import wire_of
from generators.formats.debezium_json.profiles import CHOICES as OF_CONNECTORS
from generators.formats.debezium_json.profiles import DebeziumProfile, supports
from generators.formats.debezium_json.rows import NamesClash
from generators.garbage.faults import LABELS, CellFault, Way, matrix
from generators.model import (
    Cell,
    Change,
    History,
    Image,
    Json,
    Layout,
    Scenario,
    State,
    Value,
    Written,
)
from generators.sources import mysql
from generators.sources.boundaries import every_type, slug
from generators.sources.registry import source
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
    """The records of a history as the connector's JSON has them, converted; keys have other bytes, hence other partitions.

    Nothing if two names of columns become one: the connector stops there.
    """
    try:
        return [_converted(one, profile, layout.partitions) for one in connectors.write(history, profile, layout)]
    except NamesClash:
        return []


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


Texts: TypeAlias = Mapping[str, Callable[[Cell], str]]
"""What makes Avro's text of a cell that has JSON's, by the column's name on the wire."""


def _columns(schema: Mapping[str, Any]) -> Texts:
    rows = [field for field in schema["fields"] if field["field"] in ("before", "after") and field["type"] == "struct"]
    row = rows[0]["fields"] if rows else schema["fields"]
    return {field["field"]: text for field in row if (text := _text(field))}


def _text(field: Mapping[str, Any]) -> Callable[[Cell], str] | None:
    if field["type"] == "float":
        return _shortest
    item = field["items"] if field["type"] == "array" else field
    if item.get("name", "").endswith("data.Decimal"):
        scale = int(item["parameters"]["scale"])
        return lambda cell: _digits(cell, scale)
    return None


def _digits(cell: Cell, scale: int) -> str:
    """A DECIMAL's digits, of the source's value; of the connector's own bytes where none was sent, and in an array."""
    if isinstance(cell.value, (Decimal, int)) and cell.state is not State.ANY:
        return java_decimal(int(Decimal(cell.value).scaleb(scale, _EXACT)), scale, plain=True)
    found = json.loads(cell.text or "") if isinstance(cell.value, Json) else [cell.text]
    texts = [one and java_decimal(int.from_bytes(base64.b64decode(one), signed=True), scale, plain=True) for one in found]
    return json.dumps(texts, separators=(",", ":")) if isinstance(cell.value, Json) else str(texts[0])


_EXACT: Final = Context(prec=2000)


def _shortest(cell: Cell) -> str:
    """The shortest digits of a binary32; JSON has Java's."""
    text = cell.text or ""
    if not math.isfinite(float(text)):
        return text
    value = mysql.to_float32(float(text))
    texts = (f"{value:.{digits}e}" for digits in range(9))
    return next(found for found in texts if mysql.to_float32(float(found)) == value)


def _owed(change: Change, texts: Texts) -> Change:
    """The change with the texts of Avro's values."""
    sides = ("before", "after", "full_before", "full_after")
    images: dict[str, Any] = {side: _image(getattr(change, side), texts) for side in sides}
    return replace(change, **images)


def _image(image: Image | None, texts: Texts) -> Image | None:
    if image is None:
        return None
    found = dict(image)
    for name, text in texts.items():
        if name in found and found[name].text is not None and found[name].state is not State.NULL:
            told = text(found[name])
            # A DOUBLE that the connector takes for a float: by its digits, or widened.
            more = (float(told), mysql.to_float32(float(told))) if found[name].state is State.ONE_OF and text is _shortest else ()
            found[name] = replace(found[name], text=told, options=(*found[name].options, *more))
    return found


def scenarios(profile: AvroProfile, database: str) -> Iterator[Scenario]:
    """The connectors' cases, and a table that changes between its rows: each message names the schema of its time."""
    yield from connectors.FORMAT.scenarios(profile, database)
    yield confluent.evolved(profile.source, database)


_FAR: Final[tuple[tuple[str, str, str, Value, str], ...]] = (
    ("cell-json", "json", "json", Json({"k": "nearly all"}), '"{\\"k\\":!nearly all"'),
    ("cell-date-far", "date", "date", dt.date(2021, 7, 17), "99999999"),
    ("cell-datetime-far", "datetime-0", "timestamp-0", mysql.wall("2021-07-17 10:11:14"), str((1 << 62) + 1)),
    ("cell-time-far", "time-6", "time-6", 40_333_000_001, "3600000000001"),
    ("cell-year-far", "year", "", 2019, "99999"),
)
"""Numbers and texts that Avro's type of the column holds and the column's does not: name, column of MySQL and of PostgreSQL,
value, and JSON's of what stands in its place."""


_FITTING: Final = ("cell-bigint-over", "cell-unsigned-bigint-over", "cell-boolean", "cell-bit-base64")
"""JSON's unfit cells that Avro's type cannot hold at all, or that are another cell's there."""


def cell_faults(profile: AvroProfile) -> tuple[CellFault, ...]:
    """JSON's unfit cells as far as Avro's types hold them, and `_FAR`."""
    columns = {f"c_{slug(name)}": type for name, type in source(profile.source).types.items()}
    of_json = [(f.name, f.column, f.value, str(f.bad).partition(":")[2], f.kept) for f in connectors.FORMAT.cell_faults(profile)]
    far = ((name, f"c_{slug(b if profile.source != 'mysql' else a)}", value, bad, None) for name, a, b, value, bad in _FAR)
    found = []
    for name, column, value, bad, kept in (*of_json, *far):
        cell = wire_of(profile, columns[column], value) if column in columns else None
        if cell is None or name in _FITTING or (name == "cell-binary" and cell.schema.type == "bytes"):
            continue
        encode = confluent.encoder(json.loads(schema_text(cell.schema)))
        with contextlib.suppress(TypeError, ValueError, AttributeError, KeyError, OverflowError):
            found.append(CellFault(name, column, value, encode(json.loads(cell.json)), encode(json.loads(bad)), kept))
    return tuple(found)


_NUMBERS: Final = "Avro's type of the column holds numbers alone"
_OF_NUMBERS: Final = ("int", "decimal", "float", "double", "bit", "date", "datetime", "time", "year")
FITS: Final = {
    **LABELS,
    **{f"{logical}/{way}": _NUMBERS for logical in _OF_NUMBERS for way in (Way.LETTERS, Way.SHAPE)},
    **{f"{logical}/empty": _NUMBERS for logical in _OF_NUMBERS if logical != "decimal"},
    **{f"{logical}/outside": f"cell-{logical}-far" for logical in ("date", "datetime", "time", "year")},
    **{f"{logical}/outside": "Avro's type has every number of the column's, and no other" for logical in ("float", "double")},
    "int/outside": "cell-int-over",
    "decimal/outside": "cell-decimal-digits",
    "bit/outside": "cell-bit",
    "timestamp/outside": "cell-timestamp",
    "timestamp/shape": "a string holds texts alone",
    "binary/letters": "any bytes fit",
    "binary/shape": "bytes hold no shape",
}
_BAD: Final = {Way.LETTERS: "?€", Way.EMPTY: ""}


def unfit(profile: AvroProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """The matrix of unfit cells, as far as Avro's types hold them: texts in strings."""
    for logical, way, column, value in matrix(profile.source, fits):
        type = every_type(supports, profile.source).column(column).type
        cell = wire_of(profile, type, value)
        encode = confluent.encoder(json.loads(schema_text(cell.schema)))
        if cell.schema.type in ("string", "bytes"):
            yield CellFault(f"cell-{logical}-{way}", column, value, encode(json.loads(cell.json)), encode(_BAD[way]))


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
    scenarios=scenarios,
    supports=supports,
    container="confluent",
    faults=confluent.FAULTS,
    cell_faults=cell_faults,
    fits=FITS,
    unfit=unfit,
    losses=connectors.FORMAT.losses,
    oracle=confluent.left,
)
