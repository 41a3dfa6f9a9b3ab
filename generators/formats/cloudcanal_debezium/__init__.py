"""CloudCanal's Debezium Envelope: schema and payload like Debezium's, with deviations of its own.

Source: the page cloudcanal-envelope of the sources. The vendor elides the schema and refers to Debezium's documentation for it,
and shows an INSERT of text columns and one DDL message; neither is JSON as printed. Values of other types are assumed to be
Debezium's under its default options. One message is one row; DDL goes in the same stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.cloudcanal.messages import RELEASE
from generators.families.connect import Raw, envelope, payload_text
from generators.families.debezium.mysql import wire
from generators.families.debezium.values import DebeziumCell, Modes
from generators.formats.cloudcanal_debezium import shape
from generators.formats.cloudcanal_json import DDL_ACTIONS
from generators.model import (
    Change,
    Event,
    History,
    Image,
    Instant,
    Kind,
    Layout,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceType,
    Table,
    Written,
)
from generators.wire_format import Choices, Format, KindRow, Profile

__all__ = ["FORMAT", "PROFILES", "EnvelopeProfile", "profile", "write"]

NAME: Final = "cloudcanal-debezium"
FILE: Final = "mysql-bin.000003"

ASSUMED: Final = (
    "the schema block; values that are no text; UPDATE and DELETE; key, headers and partition of the record; DDL other than ALTER"
    " (the vendor shows an INSERT of text columns and one ALTER)"
)

MODES: Final = Modes(escapes_labels=False, year_zero=0, adjusts_years=False)
"""Debezium's default options, without the faults of its connectors."""


@dataclass(frozen=True, slots=True)
class EnvelopeProfile(Profile):
    """What the vendor's page leaves open, as facts about the bytes.

    `schemas` writes the schema block. `empty_images` writes the missing image of an INSERT or DELETE as `{}`, as the example
    does, instead of Debezium's null. `ddl_op` gives a DDL message the op `a` of the table, which its example lacks.
    """

    schemas: bool = True
    empty_images: bool = True
    ddl_op: bool = False


OPTIONS: Final[Mapping[str, str]] = {
    "schemaless": "The message is the payload alone, without the schema.",
    "null-images": "The image that an INSERT or DELETE has not is null, not an empty object.",
    "op-a": "A DDL message has the op `a` of the field table, which the example lacks.",
}
"""What each option means, in the order of a profile's name."""

CHOICES: Final = Choices(NAME, (RELEASE,), OPTIONS)


def profile(*options: str) -> EnvelopeProfile:
    """The profile with options, in any order. Raises UnknownName, or UsageError for a repeated one."""
    chosen = CHOICES.checked(RELEASE, options)
    return EnvelopeProfile(
        RELEASE,
        chosen,
        MODES.deployment,
        ASSUMED,
        schemas="schemaless" not in options,
        empty_images="null-images" not in options,
        ddl_op="op-a" in options,
    )


PROFILES: Final = (profile(), profile("schemaless"), profile("null-images", "op-a"))

_OPS: Final = {Op.INSERT: "c", Op.READ: "c", Op.UPDATE: "u", Op.DELETE: "d"}


def write(history: History, profile: EnvelopeProfile, layout: Layout) -> list[Written]:
    """The messages of a history: one for each row, one for each DDL statement on a table."""
    written: list[Written] = []
    for number, event in enumerate(history.events):
        for value, change in _messages(event, profile):
            message = Message(layout.topic, 0, None, value.encode(), timestamp_ms=event.at.ms, event=number)
            written.append(Written(message, (replace(change, position=_position(event.at)),)))
    return written


def _messages(event: Event, profile: EnvelopeProfile) -> Iterator[tuple[str, Change]]:
    match event:
        case RowChange() if event.op in _OPS:
            for images in event.rows:
                yield _row(event, images, profile)
        case SchemaChange() if event.action in DDL_ACTIONS:
            yield _ddl(event, profile)
        case _:
            return


def _place(at: Instant) -> int:
    """A position in the binary log that grows with the commits."""
    return 154 + ((at.ms - 1_500_000_000_000) << 4) + at.seq


def _position(at: Instant) -> str:
    return f"{FILE}:{_place(at)}"


def _source(at: Instant, database: str, table: str) -> dict[str, Any]:
    return {
        "ts_ms": at.ms,
        "db": database,
        "table": table,
        "connector": "MySQL",
        "gtid": None,
        "file": FILE,
        "pos": _place(at),
        "server_id": 223344,
    }


def _row(event: RowChange, images: RowImages, profile: EnvelopeProfile) -> tuple[str, Change]:
    table = event.table
    before, after = (_wires(table, row) for row in (images.before, images.after))
    rows = {c.name: (before or after or {})[c.name].schema for c in table.columns}
    schema = shape.row_schema(table, tuple(rows.items()))
    missing = Raw("{}") if profile.empty_images else None
    payload = {
        "op": _OPS[event.op],
        "ts_ms": event.at.ms,
        "after": missing if after is None else {name: one.value for name, one in after.items()},
        "before": missing if before is None else {name: one.value for name, one in before.items()},
        "source": _source(event.at, table.database, table.name),
    }
    accept: list[tuple[Kind, Op | None]] = [(Kind.ROW, Op.READ)] if event.op is Op.READ else []
    if any(one.corrupt for row in (before, after) if row is not None for one in row.values()):
        accept.append((Kind.CORRUPT, None))
    change = Change(
        0,
        Kind.ROW,
        Op.INSERT if event.op is Op.READ else event.op,
        database=table.database,
        table=table.name,
        commit_time_us=event.at.ms * 1000,
        before=_image(before),
        after=_image(after),
        accept=tuple(accept),
    )
    return (envelope(schema, payload) if profile.schemas else payload_text(schema, payload)), change


def _wires(table: Table, row: Row | None) -> dict[str, DebeziumCell] | None:
    """A row on the wire. Columns are written as nullable, since the document does not show otherwise."""
    if row is None:
        return None
    return {c.name: wire(c.type, row.get(c.name), MODES) for c in table.columns}


def _image(row: Mapping[str, DebeziumCell] | None) -> Image | None:
    return None if row is None else {name: one.cell for name, one in row.items()}


def _ddl(event: SchemaChange, profile: EnvelopeProfile) -> tuple[str, Change]:
    table = event.after or event.before
    described = None if table is None else shape.described(table, DDL_ACTIONS[event.action])
    payload = {
        **({"op": "a"} if profile.ddl_op else {}),
        "databaseName": event.database,
        "ddl": event.sql,
        "ts_ms": event.at.ms + 951_314,
        "source": _source(event.at, event.database, event.table),
        "tableChanges": described,
    }
    schema = shape.ddl_schema(profile.ddl_op)
    change = Change(
        0,
        Kind.DDL,
        database=event.database,
        table=event.table,
        commit_time_us=event.at.ms * 1000,
        sql=event.sql,
    )
    return (envelope(schema, payload) if profile.schemas else payload_text(schema, payload)), change


def supports(kind: SourceType) -> bool:
    """Every MySQL type of `generators.sources.mysql`."""
    return kind.source == "mysql"


KINDS: Final = (
    KindRow("op c", "ROW", "INSERT", "snapshot rows too: op r is not listed"),
    KindRow("op u", "ROW", "UPDATE"),
    KindRow("op d", "ROW", "DELETE", "the row stands in before"),
    KindRow("ddl, with op a or without op", "DDL"),
)

FORMAT: Final = Format(
    name=NAME,
    title="CloudCanal Debezium Envelope",
    source="mysql",
    profiles=PROFILES,
    choices=CHOICES,
    build=lambda _release, *options: profile(*options),
    write=write,
    kinds=KINDS,
    position="`source.file` and `source.pos`, as `file:pos`",
    scenarios=shape.scenarios,
    supports=supports,
    cell_faults=shape.cell_faults,
)
