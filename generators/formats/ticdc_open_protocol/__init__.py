r"""TiCDC Open Protocol: what PingCAP TiCDC writes to Kafka with `protocol=open-protocol`, its
default.

Releases: v7.1.6 and v8.5.7 of the classic architecture (pingcap/tiflow), new-8.5.6 and new-8.5.7 of
the new one (pingcap/ticdc). Source of truth: PingCAP's TiCDC Open Protocol, corrected by TiCDC's
source (the facts ticdc-open#...).

A record is a batch of events. Its key is the version, 1, and behind it the key of each event; its
value is the value of each event. Each of them is a JSON object behind its length, in 64 bits,
big-endian. Neither half can be read without the other: the key tells what an event is, of which
table and when, the value has the row. The rows of a statement that go to one partition share a
record, 16 (max-batch-size) at most; TiCDC also joins rows of other statements. DDL and Resolved
Events, which are watermarks with nothing in the value but a length of 0, go to every partition,
each in a record of its own.

A row is `u` (and `p`, the row before, of an UPDATE) or `d`, objects of columns with their type's
code `t`, `h` where the column is of the handle key, flags `f` and value `v`. An UPDATE without `p`
cannot be told from an INSERT, which TiCDC's own decoder takes it for. `keys` are the columns with
`h`.

Not written: large-message-handle-compression, which packs each value behind its length.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a
watermark, with v8.5.7:

    b'\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00B{"ts":445644800000000001,
    "scm":"shop","tbl":"notes","rid":1,"t":1}' b'\x00\x00\x00\x00\x00\x00\x00M{"u":{"id":{"t":3,
    "h":true,"f":11,"v":1},"note":{"t":252,"f":64,"v":"b2xk"}}}'

    b'\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00B{"ts":445644800000000001,
    "scm":"shop","tbl":"notes","rid":1,"t":1}' b'\x00\x00\x00\x00\x00\x00\x00\x99{"u":{"id":{"t":3,
    "h":true,"f":11,"v":1},"note":{"t":252,"f":64,"v":"bmV3"}},"p":{"id":{"t":3,"h":true,"f":11,
    "v":1},"note":{"t":252,"f":64,"v":"b2xk"}}}'

    b'\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00B{"ts":445644800000000001,
    "scm":"shop","tbl":"notes","rid":1,"t":1}' b'\x00\x00\x00\x00\x00\x00\x00M{"d":{"id":{"t":3,
    "h":true,"f":11,"v":1},"note":{"t":252,"f":64,"v":"bmV3"}}}'

    b'\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00@{"ts":445644800000000001,
    "scm":"shop","tbl":"t3142384771","t":2}' b'\x00\x00\x00\x00\x00\x00\x00H{"q":"ALTER TABLE `t3142
    384771` ADD COLUMN `added` INT DEFAULT 1","t":5}'

    b'\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x1f{"ts":445644800000000001,
    "t":3}' b'\x00\x00\x00\x00\x00\x00\x00\x00'
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from generators.errors import Refused
from generators.families.cases import OWN, Cases, inserted
from generators.families.ticdc import scenarios as shared
from generators.families.ticdc import sink, text
from generators.families.ticdc.partitions import Partitions
from generators.families.wire_messages import ABSENT, WireMessage, json_text
from generators.formats.ticdc_open_protocol.cells import (
    WireCell,
    cell,
    column_members,
    escaped,
    join_events,
    key_of,
)
from generators.formats.ticdc_open_protocol.faults import CELL_FAULTS, FAULTS, remains_of_value
from generators.model import (
    Change,
    Column,
    Event,
    History,
    Instant,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    Table,
    Watermark,
    Written,
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.sources.boundaries import ID, KEYLESS, change, every_type, insert, named, neutral
from generators.wire_format import Format, about

__all__ = ["FORMAT", "OpenProfile", "write"]

NAME: Final = "ticdc-open-protocol"
BATCH: Final = 16
"""`max-batch-size`."""
_FRAME: Final = 24
"""Bytes of framing that TiCDC adds to an event before it compares with `max-message-bytes`."""
_LENGTH: Final = 8
"""Bytes of the length before each part of a record."""
_STORAGE: Final = "s3://claim-check/open-protocol"
"""The folder of the files that claim checks name, which have whole events."""


@dataclass(frozen=True, slots=True)
class OpenProfile(sink.SinkProfile):
    """A TiCDC release and its options as facts about the bytes."""

    new_architecture: bool = False
    """The new architecture, whose JSON is in the table's order and without HTML escapes, with empty
    names instead of none."""
    short_escapes: bool = True
    """JSON has escapes of two characters for \\b and \\f (Go since 1.22)."""
    before: bool = True
    """An UPDATE has `p`."""
    only_updated: bool = False
    """`p` has no column but those that changed."""
    batch: int = BATCH
    """The number of events in a record, at most."""
    reduce: Literal["", "handle-key-only", "claim-check"] = ""
    """What becomes of an event larger than `max_message_bytes`."""
    max_message_bytes: int = 10 * 1024 * 1024
    """The limit of an event's size."""
    delete_handle_key: bool = False
    """A DELETE has the columns of the handle key alone."""


CHOICES: Final = read_choices(NAME, OpenProfile)

_CODES: Final[Mapping[str, int]] = {
    "create database": 1,
    "drop database": 2,
    "create table": 3,
    "drop table": 4,
    "add column": 5,
    "drop column": 6,
    "create index": 7,
    "drop index": 8,
    "add foreign key": 9,
    "drop foreign key": 10,
    "truncate table": 11,
    "modify column": 12,
    "change column": 12,
    "rebase auto id": 13,
    "rename table": 14,
    "set default": 15,
    "table comment": 17,
    "rename index": 18,
    "add partition": 19,
    "drop partition": 20,
    "create view": 21,
    "table charset": 22,
    "truncate partition": 23,
    "drop view": 24,
    "recover table": 25,
    "alter database": 26,
    "add primary key": 32,
    "drop primary key": 33,
    "create sequence": 34,
    "index visibility": 41,
    "exchange partition": 42,
    "create tables": 60,
    "multi schema change": 61,
    "reorganize partition": 64,
    "alter table ttl": 65,
    "alter table no_ttl": 67,
    "alter partitioning": 71,
    "remove partitioning": 72,
}
"""TiDB's code of a DDL action (ticdc-open#ddl)."""


class _Event(NamedTuple):
    """A row's event: its part of a record's key and of the value, and the change that it tells."""

    key: str
    value: str
    change: Change

    @property
    def size(self) -> int:
        """The number of bytes that the event adds to a record."""
        return len(self.key.encode()) + len(self.value.encode())


def _batches(events: Sequence[_Event], profile: OpenProfile) -> Iterator[list[_Event]]:
    """The events of one partition divided into records: each has as many as `max-batch-size` allows
    and fit into `max-message-bytes` (ticdc-open#framing).
    """
    batch: list[_Event] = []
    record_size = 0
    for event in events:
        event_size = event.size + sink.RECORD_OVERHEAD + _FRAME
        is_full = len(batch) >= profile.batch
        if batch and (is_full or record_size + event_size > profile.max_message_bytes):
            yield batch
            batch = []
        if not batch:
            # The record's own overhead, and the version in its key.
            record_size = sink.RECORD_OVERHEAD + len(key_of(()))
        batch.append(event)
        record_size += event.size + 2 * _LENGTH
    if batch:
        yield batch


def _records(
    event: Event,
    profile: OpenProfile,
    layout: Layout,
    _ms: int,
    chance: random.Random,
    partitions: Partitions,
) -> Iterator[WireMessage]:
    """Yields the records of an event: partitions, key, value and the changes expected. Rows go in
    batches, each to one partition; a statement or a watermark goes to all.
    """
    everywhere = range(layout.partitions)
    match event:
        case RowChange():
            events_by_partition: dict[int, list[_Event]] = {}
            for place, op, before, after in sink.place_rows_of_table(
                event, profile, layout.partitions
            ):
                partition_id = partitions.id_of(event.table, after or before or {})
                source_row = _Row(profile, event.table, op, before, after, event.at, partition_id)
                events_by_partition.setdefault(place, []).append(source_row.event(chance))
            for place, events in events_by_partition.items():
                for batch in _batches(events, profile):
                    changes = tuple(
                        replace(encoded_row.change, row=i) for i, encoded_row in enumerate(batch)
                    )
                    yield WireMessage(
                        join_events(encoded_row.value for encoded_row in batch),
                        changes,
                        key_of(encoded_row.key for encoded_row in batch),
                        (place,),
                    )
        case SchemaChange():
            partitions.follow(event)
            sql = sink.statement(event, profile)
            key = _key(profile, event.at, event.database, event.table, kind=2)
            value = _json(profile, {"q": sql, "t": _action_code(event.action)})
            table = event.table or (event.table if profile.new_architecture else None)
            statement = sink.committed(Kind.DDL, event.at, event.database, table, sql=sql)
            yield WireMessage(join_events([value]), (statement,), key_of([key]), everywhere)
        case Watermark():
            key = _json(profile, {"ts": event.at.tso, "t": 3})
            watermark = sink.committed(Kind.WATERMARK, event.at)
            yield WireMessage(join_events([""]), (watermark,), key_of([key]), everywhere)


def write(history: History, profile: OpenProfile, layout: Layout) -> list[Written]:
    """The messages of a history, each with its expectation. One Partitions follows which tables
    have partitions in TiDB, whose ids stand in the rows' messages.
    """
    return sink.writer_of_events(partial(_records, partitions=Partitions()))(
        history, profile, layout
    )


def _action_code(action: str) -> int:
    """TiDB's code of a DDL action. Raises Refused for an action that has none here."""
    code = _CODES.get(action)
    if code is None:
        raise Refused(
            f"a statement of the action {action!r} has no code of TiDB's here; those that have one:"
            f" {', '.join(sorted(_CODES))}"
        )
    return code


def _json(profile: OpenProfile, members: Mapping[str, Any]) -> str:
    """The JSON of an event's key or value, with the escapes of the profile's library."""
    return json_text(
        members, partial(escaped, html=not profile.new_architecture, short=profile.short_escapes)
    )


def _key(
    profile: OpenProfile,
    instant: Instant,
    database: str,
    table: str,
    *,
    kind: int,
    row_number: int = 0,
    partition_id: int | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """The JSON of an event's key, a part of the record's key. `kind` is the number of the kind of
    event (`t`), `more` are members behind it. The classic architecture leaves out members that are
    empty. The new one always has `scm` and `tbl`, never `rid`, and `ptn` at the end
    (ticdc-open#keys).
    """
    partition = {} if partition_id is None else {"ptn": partition_id}
    members = {
        "ts": instant.tso,
        "scm": database if database or profile.new_architecture else ABSENT,
        "tbl": table if table or profile.new_architecture else ABSENT,
        "rid": row_number if row_number and not profile.new_architecture else ABSENT,
        **({} if profile.new_architecture else partition),
        "t": kind,
        **more,
        **(partition if profile.new_architecture else {}),
    }
    return _json(profile, members)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a statement, to be written as one event. `partition_id` is TiDB's id of the
    partition in which the row lies, None if its table has none.
    """

    profile: OpenProfile
    table: Table
    op: Op
    before: Row | None
    after: Row | None
    at: Instant
    partition_id: int | None

    def event(self, chance: random.Random) -> _Event:
        """The row's event. If it is too large, only the columns of the handle key are written."""
        handle = sink.handle_key(self.table)
        cut = self.op is Op.DELETE and self.profile.delete_handle_key and bool(handle)
        whole_event = self._written(handle if cut else None, {})
        key_size, value_size = len(whole_event.key.encode()), len(whole_event.value.encode())
        size = key_size + value_size + sink.RECORD_OVERHEAD + _FRAME
        if not (self.profile.reduce and handle and size > self.profile.max_message_bytes):
            return whole_event
        more: dict[str, Any] = {"ohk": True}
        if self.profile.reduce == "claim-check":
            more = {"ccl": sink.claim_check_location(_STORAGE, chance)}
            if self.profile.new_architecture:
                more = {"ohk": False, **more}
        return self._written(handle, more)

    def _written(self, keep: tuple[str, ...] | None, more: Mapping[str, Any]) -> _Event:
        """The row's event, with the columns in `keep` alone unless `keep` is None; `more` are
        members at the end of the key's JSON. An UPDATE without old values looks like an INSERT.
        """
        old, new = (self._cells(source_row, keep) for source_row in (self.before, self.after))
        old_cells = {
            name: wire_cell
            for name, wire_cell in old.items()
            if not self.profile.only_updated or wire_cell.json != new.get(name, wire_cell).json
        }
        if self.op is not Op.UPDATE:
            members = {"d": old} if self.op is Op.DELETE else {"u": new}
        elif not self.profile.before or not (old_cells or self.profile.new_architecture):
            members = {"u": new}
        else:
            members = {"u": new, "p": old_cells}
        key = _key(
            self.profile,
            self.at,
            self.table.database,
            self.table.name,
            kind=1,
            row_number=self._row_handle(),
            partition_id=self.partition_id,
            more=more,
        )
        value = _json(self.profile, {name: self._columns(cells) for name, cells in members.items()})
        op = self.op if self.op is not Op.UPDATE or "p" in members else Op.INSERT
        images = {"before": old} if op is Op.DELETE else {"after": new}
        if "p" in members:
            images |= {"before": old_cells} | (
                {"full_before": {**new, **old_cells}} if len(old_cells) < len(old) else {}
            )
        handle = sink.handle_key(self.table)
        expected = sink.committed(
            Kind.ROW,
            self.at,
            self.table.database,
            self.table.name,
            op=op,
            keys=tuple(name for name in self._ordered(new or old) if name in handle),
            key_sets=(frozenset(handle),),
            accept=((Kind.ROW, Op.UPDATE),) if op is not self.op else (),
            **{
                side: self.table.image({n: wire_cell.expected for n, wire_cell in cells.items()})
                for side, cells in images.items()
            },
        )
        return _Event(key, value, expected)

    def _row_handle(self) -> int:
        """The number by which TiDB finds the row (its handle): the value of a clustered integer
        key, 0 for another clustered key, else a stand-in for `_tidb_rowid`: a CRC-32 of the row.
        """
        source_row = self.after or self.before or {}
        nonclustered = any(
            index.name == "PRIMARY" and not index.clustered for index in self.table.indexes
        )
        key = () if nonclustered else self.table.primary_key
        if len(key) == 1 and self.table.column(key[0]).type.logical is Logical.INT:
            handle = source_row[key[0]]
            assert isinstance(handle, int)
            # A BIGINT UNSIGNED is sent as the signed number of the same 64 bits.
            return handle - (1 << 64 if handle >= 1 << 63 else 0)
        return 0 if key else zlib.crc32(repr(sorted(source_row.items())).encode())

    def _cells(self, source_row: Row | None, keep: tuple[str, ...] | None) -> dict[str, WireCell]:
        """JSON text and expected cell of a row's values by column; {} without a row. With `keep`
        only the columns of these names.
        """
        if not source_row:
            return {}
        zone = self.profile.deployment.time_zone
        html = not self.profile.new_architecture
        short = self.profile.short_escapes
        columns = (
            c
            for c in sink.columns_of_rows(self.table, self.profile)
            if keep is None or c.name in keep
        )
        return {
            c.name: cell(c.type, source_row[c.name], zone, html=html, short=short) for c in columns
        }

    def _ordered(self, names: Mapping[str, object]) -> list[str]:
        """Names of columns in the order of the wire: as they come in the new architecture, sorted
        by their bytes in the classic one.
        """
        return (
            list(names)
            if self.profile.new_architecture
            else sorted(names, key=lambda name: name.encode(errors="surrogatepass"))
        )

    def _columns(self, cells: Mapping[str, WireCell]) -> dict[str, Any]:
        """The members of an image: each column's type, flags and value by its name, in the order of
        the wire.
        """
        return {
            name: column_members(self.table, self.table.column(name), cells[name].json)
            for name in self._ordered(cells)
        }


def scenarios(profile: OpenProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: batches, statements, watermarks, keys, what looks like an escape or
    base64, large rows.
    """
    yield from shared.statements(database, profile)
    yield shared.watermark(415508856908021766)
    yield from shared.key_updates(database)
    yield from shared.selected_columns(database, profile)
    yield from shared.ambiguous_hours(profile.deployment.time_zone)
    yield shared.minus_zero(database)
    bare: Row = {"a": 1, "b": "x", "c": None}
    for label, count in (("full", BATCH), ("beyond", 2 * BATCH + 3)):
        inserts = [(None, {**bare, "a": i}) for i in range(count)]
        bag = replace(KEYLESS, database=database, name=neutral(f"batch/{label}"))
        yield named(f"batch/{label}", change(bag, Op.INSERT, *inserts), tags=("batch",))
        yield named(
            f"batch/rows/{label}", change(KEYLESS, Op.INSERT, *inserts), tags=("batch",), level=2
        )
    cases = Cases(database, (ID, Column("a", mysql.text("varchar", 64))))
    pairs: list[tuple[Row, Row]] = [
        ({"id": i, "a": f"v{i}"}, {"id": i + (i % 2) * 10, "a": "w"}) for i in range(1, 5)
    ]
    yield cases.case("batch/split", change(OWN, Op.UPDATE, *pairs), tags=("batch", "key-update"))
    awkward: list[Row] = [
        {"id": i, "a": value}
        for i, value in enumerate(("}{", '{"t":3}', "\0\0\0\0\0\0\0\x01", "],["))
    ]
    yield cases.case("batch/awkward", inserted(*awkward), tags=("batch",))
    raws = {
        "document": b"\x89PNG\r\n\x1a\n",
        "backslash": b'\\x89 \\n "q" \\',
        "controls": bytes(range(32)) + b"\x7f",
        "unprintable": "\u00a0\u200b\u2028\U000e0001é汉😀".encode(),
        "broken": b"\xc3\xe6\xb1 \xf0\x9f\x98 ok \xed\xa0\x80",
    }
    for label, raw in raws.items():
        yield cases.value(f"quoted/{label}", mysql.binary("varbinary", 64), raw, tags=("quoted",))
    yield shared.declared_types("values/declared", database, profile, "virtual")
    everything = every_type(lambda _type: True)
    nothing: Row = dict.fromkeys(column.name for column in everything.columns)
    quoted: list[Row] = [
        {**nothing, "id": i, "c_varbinary": raw} for i, raw in enumerate(raws.values())
    ]
    yield named(
        "quoted/rows",
        change(everything, Op.INSERT, *((None, quoted_row) for quoted_row in quoted)),
        tags=("quoted",),
        level=2,
    )
    zero: Row = {**nothing, "id": 1, "c_date": ZeroDate(), "c_datetime_6": ZeroDate(2024, 0, 0)}
    yield named("zero-date/rows", insert(everything, zero), tags=("zero-date",), level=2)
    if profile.reduce:
        yield from shared.oversized_rows(profile.max_message_bytes, database)
        yield from shared.oversized_typed_rows(profile.max_message_bytes)


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    container="frames",
    faults=FAULTS,
    cell_faults=lambda _profile: CELL_FAULTS,
    oracle=remains_of_value,
)
