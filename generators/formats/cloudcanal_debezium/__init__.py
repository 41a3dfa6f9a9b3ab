"""CloudCanal's Debezium Envelope: schema and payload like Debezium's, with deviations of its own.

Source: the page cloudcanal-envelope of the sources. The vendor's page elides the schema and refers
to Debezium's documentation for it; an article prints a message whose schema is CloudCanal's own and
whose int(11) is a text. So values are texts as in CloudCanal Json, and Debezium's typed values with
Connect's schema are the option `typed`. One message is one row; DDL goes in the same stream.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"op":"c","ts_ms":1700000000000,"after":{"id":"1","note":"old"},"before":{},
    "source":{"ts_ms":1700000000000,"db":"shop","table":"notes","connector":"MySQL","gtid":null,
    "file":"mysql-bin.000003","pos":155,"server_id":223344}}

    {"op":"u","ts_ms":1700000000000,"after":{"id":"1","note":"new"},"before":{"id":"1",
    "note":"old"},"source":{"ts_ms":1700000000000,"db":"shop","table":"notes","connector":"MySQL",
    "gtid":null,"file":"mysql-bin.000003","pos":155,"server_id":223344}}

    {"op":"d","ts_ms":1700000000000,"after":{},"before":{"id":"1","note":"new"},
    "source":{"ts_ms":1700000000000,"db":"shop","table":"notes","connector":"MySQL","gtid":null,
    "file":"mysql-bin.000003","pos":155,"server_id":223344}}

    {"databaseName":"shop","ddl":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1",
    "ts_ms":1700000951314,"source":{"ts_ms":1700000000000,"db":"shop","table":"t3142384771",
    "connector":"MySQL","gtid":null,"file":"mysql-bin.000003","pos":155,"server_id":223344},
    "tableChanges":null}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from generators.families.cloudcanal.messages import SEND_LAG_MS, ddl_topic, text_faults
from generators.families.connect import message_members, string
from generators.families.debezium.mysql import wire
from generators.families.debezium.values import Modes
from generators.families.mysql_texts import TextForms, supports, wire_image
from generators.families.wire_messages import Raw, WireMessage, print_json, print_message
from generators.formats.cloudcanal_debezium import shape
from generators.formats.cloudcanal_json import DDL_ACTIONS
from generators.garbage.cell_faults import LABELS, CellFault
from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR
from generators.model import (
    Change,
    Event,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    RowChange,
    RowImages,
    SchemaChange,
    Written,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources.boundaries import START
from generators.wire_format import Format, about

__all__ = ["FORMAT", "EnvelopeProfile", "write"]

NAME: Final = "cloudcanal-debezium"
COMMITS_PER_FILE: Final = 1000
"""The virtual binlog: the counter of `Instant.seq` over this is the file's number less 3."""
FILE_MS: Final = 1 << 16
"""Milliseconds of a file of the virtual binlog: at 2^14 bytes each it ends at a gigabyte."""

ASSUMED: Final = (
    "the rest of the schema block; the text of every type but int and varchar; typed values; UPDATE"
    " and DELETE; key, headers and partition of the record; DDL other than ALTER (the vendor shows"
    " two INSERTs and one ALTER)"
)

MODES: Final = Modes(escapes_labels=False, year_zero=0, adjusts_years=False)
"""Debezium's default options, without the faults of its connectors: the values of the option
`typed`.
"""


@dataclass(frozen=True, slots=True)
class EnvelopeProfile(Profile):
    """What the vendor's page and article leave open, as facts about the bytes."""

    assumed: str = ASSUMED
    sample: bool = False
    """Members are in the order of the article's message."""
    typed: bool = False
    """Values are Debezium's, in Connect's schema; else texts, in CloudCanal's own schema."""
    schemas: bool = True
    """The message has its schema block."""
    empty_images: bool = True
    """The image that an INSERT or DELETE lacks is `{}`, as in the page's example; else null."""
    ddl_op: bool = False
    """A DDL message has the op `a` of the page's table, which its example lacks."""
    ddl_topic: bool = False
    """DDL goes to a topic of its own."""


CHOICES: Final = read_choices(NAME, EnvelopeProfile)

_OPS: Final = {Op.INSERT: "c", Op.READ: "c", Op.UPDATE: "u", Op.DELETE: "d"}
"""The letter of each operation in the member `op`."""


def write(history: History, profile: EnvelopeProfile, layout: Layout) -> list[Written]:
    """The messages of a history: one for each row, one for each DDL statement on a table. Texts are
    quoted as Kafka Connect does if the profile is `typed`, else as is assumed of CloudCanal.
    """
    written: list[Written] = []
    printer = partial(print_json, quote=string if profile.typed else _quote)
    for number, event in enumerate(history.events):
        for message in _messages(event, profile, layout):
            written += print_message(
                message, printer, layout, event=number, timestamp_ms=event.at.ms + SEND_LAG_MS
            )
    return written


_quote: Final = partial(json.dumps, ensure_ascii=False)
"""Quotes a text as it is assumed of CloudCanal's own schema: only what JSON has to escape."""


def _messages(event: Event, profile: EnvelopeProfile, layout: Layout) -> Iterator[WireMessage]:
    """Yields the message of each row of a row change, or of a DDL statement; nothing for events
    that CloudCanal does not send.
    """
    match event:
        case RowChange() if event.op in _OPS:
            for images in event.rows:
                yield _row_message(event, images, profile)
        case SchemaChange() if event.action in DDL_ACTIONS:
            topic = ddl_topic(layout.topic) if profile.ddl_topic else layout.topic
            yield replace(_ddl_message(event, profile), topic=topic)
        case _:
            return


def _place(at: Instant) -> int:
    """The position of a commit in a file of the binary log; it grows with the commits, and so do
    its digits.
    """
    return 154 + ((at.ms - START.ms) % FILE_MS << 14) + at.seq


def _file(at: Instant) -> str:
    """The name of the log file that holds a commit. A history begins in file 3. The number grows by
    one with every FILE_MS milliseconds, about a minute, and with every COMMITS_PER_FILE commits.
    """
    rolled = max((at.ms - START.ms) // FILE_MS, 0) + at.seq // COMMITS_PER_FILE
    return f"mysql-bin.{3 + rolled:06d}"


def _position(at: Instant) -> str:
    """The position of a commit, by which changes are ordered: file and place in MySQL's binlog."""
    return f"{_file(at)}:{_place(at)}"


def _source(at: Instant, database: str, table: str) -> dict[str, Any]:
    """The block `source` of a message: the time of the change, its database and table, and a place
    in MySQL's binlog.
    """
    return {
        "ts_ms": at.ms,
        "db": database,
        "table": table,
        "connector": "MySQL",
        "gtid": None,
        "file": _file(at),
        "pos": _place(at),
        "server_id": 223344,
    }


def _row_message(event: RowChange, images: RowImages, profile: EnvelopeProfile) -> WireMessage:
    """The message of one row. With the profile's `typed` its values are Debezium's, and every
    column may be NULL, since the document does not show otherwise; else they are CloudCanal's
    texts, as in the vendor's article (cloudcanal-envelope#values-as-text).
    """
    table, typed = event.table, profile.typed
    payload_images: dict[str, Any] = {}
    cells: dict[str, Any] = {}
    schema: Any = shape.own_schema(table)
    corrupt = False
    for side, source_row in (("after", images.after), ("before", images.before)):
        if source_row is None:
            # an empty struct of Connect's would have all fields of its schema
            empty: Any = Raw("{}") if typed else {}
            payload_images[side] = empty if profile.empty_images else None
        elif typed:
            wires = {c.name: wire(c.type, source_row.get(c.name), MODES) for c in table.columns}
            payload_images[side] = {name: cell.value for name, cell in wires.items()}
            cells[side] = {name: cell.cell for name, cell in wires.items()}
            schema = shape.row_schema(
                table, tuple((name, cell.schema) for name, cell in wires.items())
            )
            corrupt = corrupt or any(cell.corrupt for cell in wires.values())
        else:
            forms = TextForms(profile.deployment.time_zone, profile.deployment.binary, labels=True)
            cells[side] = wire_image(table, source_row, forms) or {}
            payload_images[side] = {name: cell.text for name, cell in cells[side].items()}
    payload = {
        "op": _OPS[event.op],
        "ts_ms": event.at.ms,
        **payload_images,
        "source": _source(event.at, table.database, table.name),
    }
    op, accept = event.op, list[tuple[Kind, Op | None]]()
    if op is Op.READ:
        op, accept = Op.INSERT, [(Kind.ROW, Op.READ)]
    if corrupt:
        accept.append((Kind.CORRUPT, None))
    change = Change(
        0,
        Kind.ROW,
        op,
        table.database,
        table=table.name,
        position=_position(event.at),
        commit_time_us=event.at.ms * 1000,
        accept=tuple(accept),
        **cells,
    )
    return WireMessage(_members(schema, payload, profile), (change,))


def _members(
    schema: Any, payload: Mapping[str, Any], profile: EnvelopeProfile
) -> Mapping[str, Any]:
    """The members of a message: its payload, with its schema or alone, as the profile writes it.
    With `typed`, `schema` is Connect's; else it is CloudCanal's own as JSON, and members are in the
    payload's order, or with `sample` sorted at every depth, as in the article's message.
    """
    if profile.typed:
        return message_members(schema, payload, has_schema=profile.schemas)
    document = {"schema": schema, "payload": payload} if profile.schemas else payload
    return _sort_members(document) if profile.sample else document


def _sort_members(value: Any) -> Any:
    """A document whose members are in the order of the alphabet, at any depth."""
    match value:
        case dict():
            return {name: _sort_members(item) for name, item in sorted(value.items())}
        case list():
            return [_sort_members(item) for item in value]
    return value


def _ddl_message(event: SchemaChange, profile: EnvelopeProfile) -> WireMessage:
    """The message of a DDL statement; `tableChanges` describes the table after the statement, else
    the one before it.
    """
    table = event.after or event.before
    table_changes = None if table is None else shape.table_changes(table, DDL_ACTIONS[event.action])
    payload = {
        **({"op": "a"} if profile.ddl_op else {}),
        "databaseName": event.database,
        "ddl": event.sql,
        "ts_ms": event.at.ms + 951_314,
        "source": _source(event.at, event.database, event.table),
        "tableChanges": table_changes,
    }
    change = Change(
        0,
        Kind.DDL,
        database=event.database,
        table=event.table,
        position=_position(event.at),
        commit_time_us=event.at.ms * 1000,
        sql=event.sql,
        other_keys=(table.primary_key,) if table else (),
    )
    schema = shape.ddl_schema(profile.ddl_op) if profile.typed else shape.own_ddl_schema()
    return WireMessage(_members(schema, payload, profile), (change,))


def cell_faults(profile: EnvelopeProfile) -> tuple[CellFault, ...]:
    """The faults of cells (JSON that a column's type cannot hold) in the form in which the profile
    writes values: typed, or as texts.
    """
    return shape.TYPED_FAULTS if profile.typed else text_faults(profile)


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=shape.scenarios,
    supports=supports,
    faults=(*FAULTS, SCHEMA_NO_GRAMMAR),
    cell_faults=cell_faults,
    fits=LABELS,
)
