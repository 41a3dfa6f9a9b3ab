"""What Huawei CDL's two JSON formats share: releases, how PostgreSQL's values are written, and the
messages of a history.

Source: huawei#examples. Huawei's documentation shows one INSERT of each format, with an int8, an
int4, a timestamp and a numeric column; everything else here is the nearest that Kafka Connect and
Debezium 1.4 do, and marked assumed.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from generators.families.connect import Schema, message_members, payload_text, print_as_jackson
from generators.families.wire_messages import WireMessage, print_message
from generators.model import (
    Cell,
    Change,
    Column,
    Deployment,
    History,
    Image,
    Instant,
    Json,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    SourceType,
    State,
    Table,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import START
from generators.sources.postgresql_types import postgresql_types
from generators.wire_format import Loss

ASSUMED: Final = (
    "every value form but int4, int8, timestamp and numeric; UPDATE and DELETE; key, headers and"
    " partition of the record; the content of LOB_COLUMNS; that a key-only before image is null in"
    " its other columns, which are optional there; what openGauss is called, and that it writes as"
    " PostgreSQL does (the vendor shows one INSERT of PostgreSQL)"
)

CONNECT: Final = "org.apache.kafka.connect.data"
DEBEZIUM: Final = "io.debezium.time"


@dataclass(frozen=True, slots=True)
class CdlProfile(Profile):
    """A message version of CDL and the table's replica identity."""

    deployment: Deployment = Deployment(schemas="message")
    assumed: str = ASSUMED
    source: str = "postgresql"
    identity: Literal["full", "default"] = "full"
    """`full`: the whole row stands before an UPDATE and a DELETE; `default`: nothing before an
    UPDATE, the key before a DELETE."""
    package: str = "com.xxx"
    """The package of the vendor's logical types, which the document blacks out."""
    heartbeat: bool = True
    """Rows have the member HEARTBEAT_IDENTIFIER."""
    properties: tuple[str, ...] = ("lsn", "txId")
    """The order of `transaction.properties`."""
    store: str = "postgresql"
    """The name of the source."""
    text_timestamps: bool = False
    """Timestamps are texts; else they are milliseconds."""


def supports(type: SourceType) -> bool:
    """Whether the writer has the type: one that Huawei's documents name, or date, time, bytea or
    boolean, which nearly every table has.
    """
    return (
        type.source == "postgresql"
        and type.name in postgresql_types()
        and postgresql_types()[type.name].huawei is not None
    )


@dataclass(frozen=True, slots=True)
class CdlCell:
    """A column of a row: its value in the message's payload, and the cell that a decoder must
    return for it.
    """

    value: Any
    cell: Cell


@lru_cache(maxsize=4096)
def schema_of(type: SourceType, nullable: bool, profile: CdlProfile) -> Schema:
    """The Connect schema of a column of that type. A profile with `text_timestamps` has dates and
    times as Debezium writes them (a DATETIME is a text under a name of CDL's own), any other as
    Connect's own logical types. A decimal is a text under a name of CDL's own. The types of all
    other columns come from the table of PostgreSQL's types.
    """
    package = f"{profile.package}.cdc.data"
    match type.logical:
        case Logical.DECIMAL:
            return Schema("string", nullable, f"{package}.Decimal")
        case Logical.DATE:
            return Schema(
                "int32", nullable, f"{DEBEZIUM if profile.text_timestamps else CONNECT}.Date", 1
            )
        case Logical.TIME if profile.text_timestamps:
            return Schema("int64", nullable, f"{DEBEZIUM}.MicroTime", 1)
        case Logical.TIME:
            return Schema("int32", nullable, f"{CONNECT}.Time", 1)
        case Logical.TIMESTAMP if profile.text_timestamps:
            return Schema("string", nullable, f"{DEBEZIUM}.ZonedTimestamp", 1)
        case Logical.DATETIME if profile.text_timestamps:
            return Schema("string", nullable, f"{package}.timestamp")
        case Logical.DATETIME | Logical.TIMESTAMP:
            return Schema("int64", nullable, f"{CONNECT}.Timestamp", 1)
        case _:
            return Schema(postgresql_types()[type.name].huawei or "string", nullable)


_CUT: Final = "Connect's Time and Timestamp hold milliseconds"
"""Why a time or timestamp in a message is not the source's: microseconds are cut off."""


def encode_cell(column: Column, value: Value, profile: CdlProfile) -> CdlCell:
    """A column's value as the message's payload has it, and the cell that a decoder must return for
    it. Raises TypeError for a value that the type does not have. The cell's text is the JSON of the
    value, of a JSON string without its quotes (`plain`).
    """
    type = column.type
    if value is None:
        return CdlCell(None, Cell(State.NULL, type))
    wire_value, meant_value = _encode(type, value, profile)
    schema = schema_of(type, column.nullable, profile)
    wire_text = wire_value if isinstance(wire_value, str) else payload_text(schema, wire_value)
    plain = isinstance(wire_value, str) or schema.type == "bytes" or wire_text.startswith('"')
    if plain and not isinstance(wire_value, str):
        wire_text = wire_text[1:-1]  # the quotes of the JSON string
    cls = mysql.value_class(type, value)
    reason = "" if meant_value == value else _CUT
    return CdlCell(
        wire_value,
        Cell(State.VALUE, type, meant_value, wire_text, cls, json=not plain, reason=reason),
    )


def _encode(type: SourceType, value: Value, profile: CdlProfile) -> tuple[Any, Value]:
    """Two values for a value of a column: the one in the message's payload, and the source's value
    that a reader gets from it, which may have fewer digits. Raises TypeError for a value that the
    type does not have.
    """
    match type.logical, value:
        case (
            (Logical.INT, int())
            | ((Logical.FLOAT | Logical.DOUBLE), float())
            | (Logical.TEXT, str())
            | (Logical.BINARY, bytes())
        ):
            return value, value
        case Logical.BIT, int():
            return bool(value), value
        case Logical.DECIMAL, Decimal():
            return format(value, "f"), value
        case Logical.DATE, date():
            return (value - date(1970, 1, 1)).days, value
        case Logical.TIME, int():
            return (
                (value, value) if profile.text_timestamps else (value // 1000, value // 1000 * 1000)
            )
        case Logical.DATETIME, int() if profile.text_timestamps:
            return mysql.datetime_text(value, 6 if value % mysql.MICROS else 0), value
        case Logical.TIMESTAMP, int() if profile.text_timestamps:
            return zoned_text(value), value
        case ((Logical.DATETIME | Logical.TIMESTAMP), int()):
            return value // 1000, value // 1000 * 1000
        case Logical.JSON, Json():
            return json.dumps(value.value, ensure_ascii=False), value  # jsonb's spacing
    raise TypeError(f"{value!r} is no value of {type.key}")


def zoned_text(micros: int) -> str:
    """A moment as Debezium 1.4's ZonedTimestamp prints it: in UTC, with as many fraction digits as
    are needed (debezium#timestamp-zoned).
    """
    iso_text = mysql.datetime_text(micros, 6).replace(" ", "T")
    seconds_text, fraction = iso_text[:-7], iso_text[-6:].rstrip("0")
    return f"{seconds_text}.{fraction}Z" if fraction else f"{seconds_text}Z"


Payload: TypeAlias = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Event:
    """One row of an event, as a message will hold it. `before`, `after` and `key` are values by
    column as the payload has them, None for null. `heartbeat` is the message's
    HEARTBEAT_IDENTIFIER, `sent_ms` the time of sending, `facts` the profile. `snapshot` is the
    member of that name, None for a row of no snapshot.
    """

    table: Table
    op: Op
    at: Instant
    before: Payload
    after: Payload
    key: Payload
    heartbeat: str
    sent_ms: int
    facts: CdlProfile
    snapshot: str | None = None

    @property
    def lsn(self) -> int:
        """The log sequence number of the event's commit, beyond 2^53. It grows with the event's
        time, and has 18 digits in place of 17 from 38 seconds after START on.
        """
        return 10**17 - 10**10 + 7 + self.at.tso - START.tso

    @property
    def transaction(self) -> int:
        """The transaction's id."""
        return self.at.ms % 1_000_000_007

    def fields(self) -> tuple[tuple[str, Schema], ...]:
        """The names and Connect schemas of the table's columns."""
        return tuple(
            (c.name, schema_of(c.type, _optional(self.table, c), self.facts))
            for c in self.table.columns
        )

    def before_fields(self) -> tuple[tuple[str, Schema], ...]:
        """The names and Connect schemas of the columns in the member `before`. Under REPLICA
        IDENTITY DEFAULT (the log has only the old key) all columns but the key's may be null there.
        """
        if self.facts.identity == "full":
            return self.fields()
        key = self.table.primary_key
        return tuple(
            (c.name, schema_of(c.type, c.name not in key, self.facts)) for c in self.table.columns
        )

    def key_fields(self) -> tuple[tuple[str, Schema], ...]:
        """The names and Connect schemas of the key's columns."""
        return tuple(
            (name, schema) for name, schema in self.fields() if name in self.table.primary_key
        )

    @property
    def large(self) -> str | None:
        """The member LOB_COLUMNS: the names of large-object columns, comma-separated (assumed),
        None without any.
        """
        return (
            ",".join(c.name for c in self.table.columns if c.type.logical is Logical.BINARY) or None
        )


Member: TypeAlias = tuple[str, Schema, Any]
"""A member of a message: name, schema and value."""


def document(event: Event, members: Sequence[Member]) -> Mapping[str, Any]:
    """The JSON of a message with `schema` and `payload`. `members` are those of the payload: name,
    Connect schema and value of each. The schema has the name of the event's table.
    """
    fields = tuple((name, schema) for name, schema, _ in members)
    schema = Schema("struct", name=f"{event.table.schema}.{event.table.name}", fields=fields)
    return message_members(schema, {name: value for name, _, value in members})


def _optional(table: Table, column: Column) -> bool:
    """Whether a column's Connect schema is optional: it is nullable and not in the primary key."""
    return column.nullable and column.name not in table.primary_key


def write(
    history: History,
    profile: CdlProfile,
    layout: Layout,
    value_of: Callable[[Event], Mapping[str, Any]],
) -> list[Written]:
    """The messages of a history's row changes in order, one for each row, each with its
    expectation; `value_of` gives the JSON of one. Other events have no message, since CDL documents
    none.
    """
    chance = random.Random(f"{history.seed}/{profile.name}")
    written: list[Written] = []
    last_read = max((n for n, event in enumerate(history.events) if _reads(event)), default=-1)
    for number, event in enumerate(history.events):
        if isinstance(event, RowChange) and event.op is not Op.TRUNCATE:
            if (
                event.op is Op.DELETE
                and profile.identity == "default"
                and not event.table.primary_key
            ):
                continue  # PostgreSQL logs nothing that would say which row it was
            for i, images in enumerate(event.rows):
                ends = number == last_read and i == len(event.rows) - 1
                snapshot = "last" if ends else "true" if event.op is Op.READ else None
                lag = 90 + chance.randrange(60_000)
                heartbeat_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
                draft, change = _row_message(
                    event, images.before, images.after, heartbeat_id, event.at.ms + lag, profile
                )
                message = WireMessage(value_of(replace(draft, snapshot=snapshot)), (change,))
                written += print_message(
                    message, print_as_jackson, layout, event=number, timestamp_ms=draft.sent_ms
                )
    return written


def _reads(event: object) -> bool:
    """Whether the event is of rows that a snapshot reads."""
    return isinstance(event, RowChange) and event.op is Op.READ


def _row_message(
    event: RowChange,
    before: Row | None,
    after: Row | None,
    heartbeat_id: str,
    send_ms: int,
    profile: CdlProfile,
) -> tuple[Event, Change]:
    """What a CDL message says of one row, and the change expected of a decoder. A snapshot's row
    may be returned as INSERT or as READ. Under REPLICA IDENTITY DEFAULT (the log has only the old
    key) `before` has the key of a deleted row or of one whose key changes, else it is null.
    """
    table, op = event.table, event.op
    was = _encode_cells(table, before, profile) if before is not None else {}
    now = _encode_cells(table, after, profile) if after is not None else {}
    sent_before: Mapping[str, CdlCell] | None = was or None
    full: Image | None = None
    if profile.identity == "default" and before is not None:
        moved = (
            any(was[name].value != now[name].value for name in table.primary_key)
            if op is Op.UPDATE
            else True
        )
        sent_before, full = (
            _identity_image(table, was) if moved and table.primary_key else (None, None)
        )
    key = {name: (now or was)[name].value for name in table.primary_key}
    draft = Event(
        table,
        op,
        event.at,
        _payload_of_cells(sent_before),
        _payload_of_cells(now or None),
        key or None,
        heartbeat_id,
        send_ms,
        profile,
    )
    change = Change(
        0,
        Kind.ROW,
        Op.INSERT if op is Op.READ else op,
        database=table.database,
        schema=table.schema,
        table=table.name,
        keys=tuple(c.name for c in table.columns if c.name in table.primary_key) or None,
        position=str(draft.lsn),
        commit_time_us=event.at.ms * 1000,
        before=_image_of_cells(sent_before),
        after=_image_of_cells(now or None),
        full_before=full,
        accept=((Kind.ROW, Op.READ),) if op is Op.READ else (),
    )
    return draft, change


def _identity_image(
    table: Table, was: Mapping[str, CdlCell]
) -> tuple[Mapping[str, CdlCell], Image]:
    """Two before images of a deleted row, or of a row whose key changes, under REPLICA IDENTITY
    DEFAULT (the log has only the old key): the payload's, in which all columns but the key are
    null, and the image expected at level two (typed rows), where these columns may have held
    anything.
    """
    key_image = {
        c.name: (
            was[c.name] if c.name in table.primary_key else CdlCell(None, Cell(State.NULL, c.type))
        )
        for c in table.columns
    }
    unknown = "REPLICA IDENTITY DEFAULT logs the key alone"
    full = {
        c.name: (
            was[c.name].cell
            if c.name in table.primary_key
            else Cell(State.ANY, c.type, reason=unknown)
        )
        for c in table.columns
    }
    return key_image, full


def _encode_cells(table: Table, source_row: Row, profile: CdlProfile) -> dict[str, CdlCell]:
    """The columns of a row as the payload has them, by name; NULL where the row has no value."""
    return {c.name: encode_cell(c, source_row.get(c.name), profile) for c in table.columns}


def _payload_of_cells(wire_cells: Mapping[str, CdlCell] | None) -> Payload:
    """The values of a row's columns for the payload; None, which is null, for no row."""
    return None if wire_cells is None else {name: cell.value for name, cell in wire_cells.items()}


def _image_of_cells(wire_cells: Mapping[str, CdlCell] | None) -> Image | None:
    """The image of a row that a decoder must return; None for no row."""
    return None if wire_cells is None else {name: cell.cell for name, cell in wire_cells.items()}


def losses(profile: CdlProfile) -> tuple[Loss, ...]:
    """What the profile's messages do not hold of values that the source has, whatever the decoder
    does: microseconds, where timestamps are numbers.
    """
    if profile.text_timestamps:
        return ()
    return (
        Loss(
            (Logical.DATETIME, Logical.TIMESTAMP), _CUT, "huawei#timestamp-millis", _in_milliseconds
        ),
    )


def _in_milliseconds(_kind: SourceType, value: Value) -> Value:
    """What is left of a value in microseconds that a message has in milliseconds."""
    return value // 1000 * 1000 if isinstance(value, int) else value
