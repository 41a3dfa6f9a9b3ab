"""TiCDC Canal-JSON: what PingCAP TiCDC writes to Kafka with `protocol=canal-json`.

Releases: v5.3.4 to v8.5.7 of the classic architecture (pingcap/tiflow) and v8.5.4 to v8.5.7 of the
new one (pingcap/ticdc). Source of truth: PingCAP's TiCDC Canal-JSON Protocol, corrected by TiCDC's
source and output (the facts ticdc#...).

One row change is one Kafka record without headers; a DML key is zero-length, a DDL or watermark key
is null. The default dispatcher sends a table's rows to one partition, chosen by CRC-32 of its two
names (ticdc#partitions). DDL goes to partition 0 (to every partition in v5.3 and older), watermarks
to every partition. With a topic for each table, classic TiCDC sends a RENAME to the topic of the
table's old name; the one default topic of this writer hides that. Tables without a key are written
as with `force-replicate=true`, and whole where TiCDC refuses that beside an option
(delete-only-output-handle-key-columns).

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a watermark:

    {"id":0,"database":"shop","table":"notes","pkNames":["id"],"isDdl":false,"type":"INSERT",
    "es":1700000000000,"ts":1700000001734,"sql":"","sqlType":{"id":4,"note":2005},
    "mysqlType":{"id":"int","note":"text"},"old":null,"data":[{"id":"1","note":"old"}],
    "_tidb":{"commitTs":445644800000000001}}

    {"id":0,"database":"shop","table":"notes","pkNames":["id"],"isDdl":false,"type":"UPDATE",
    "es":1700000000000,"ts":1700000001734,"sql":"","sqlType":{"id":4,"note":2005},
    "mysqlType":{"id":"int","note":"text"},"old":[{"id":"1","note":"old"}],"data":[{"id":"1",
    "note":"new"}],"_tidb":{"commitTs":445644800000000001}}

    {"id":0,"database":"shop","table":"notes","pkNames":["id"],"isDdl":false,"type":"DELETE",
    "es":1700000000000,"ts":1700000001734,"sql":"","sqlType":{"id":4,"note":2005},
    "mysqlType":{"id":"int","note":"text"},"old":null,"data":[{"id":"1","note":"new"}],
    "_tidb":{"commitTs":445644800000000001}}

    {"id":0,"database":"shop","table":"t3142384771","pkNames":null,"isDdl":true,"type":"ALTER",
    "es":1700000000000,"ts":1700000001734,"sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` INT DE
    FAULT 1","sqlType":null,"mysqlType":null,"data":null,"old":null,
    "_tidb":{"commitTs":445644800000000001}}

    {"id":0,"database":"","table":"","pkNames":null,"isDdl":false,"type":"TIDB_WATERMARK",
    "es":1700000000000,"ts":1700000001734,"sql":"","sqlType":null,"mysqlType":null,"data":null,
    "old":null,"_tidb":{"watermarkTs":445644800000000001}}
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from generators.errors import Refused
from generators.families.ticdc import sink, text
from generators.families.ticdc.ddl import parse
from generators.families.ticdc.placing import Place, place_nowhere, place_of_rows, unplaced
from generators.families.ticdc.row_keys import row_key
from generators.families.ticdc.sink import partition_of
from generators.families.wire_messages import ABSENT, Raw, WireMessage, print_json
from generators.formats.ticdc_canal_json.profiles import CHOICES, TicdcProfile
from generators.formats.ticdc_canal_json.scenarios import scenarios
from generators.garbage.cell_faults import CellFault, unfit_cells
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import (
    Cell,
    Change,
    Column,
    Event,
    History,
    Image,
    Instant,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    SchemaChange,
    SourceType,
    State,
    Table,
    Value,
    Watermark,
    Written,
)
from generators.wire_format import Format, Loss, about

CLAIM_CHECK_STORAGE: Final = "s3://claim-check/canal-json"
"""The folder of the files that claim checks name, which have whole messages."""


def write(history: History, profile: TicdcProfile, layout: Layout) -> list[Written]:
    """Every message of the history with its expectation, in the order of publication.

    When a row of a statement is split, the statement's deletes come before its updates before its
    inserts (ticdc#order). TiDB itself merges what one transaction does to one key; this writer does
    not. Statements, bootstraps, heartbeats and transaction marks have no message here.
    """
    chance = random.Random(history.seed)
    places: dict[tuple[str, str], Place] = {}

    def messages(event: Event, ms: int) -> Iterator[WireMessage]:
        """Yields the messages of an event; `ms` is the time of sending. A statement also changes
        where the later rows of its table lie.
        """
        stamp = _Stamp(event.at, ms if profile.ts_filled else 0)
        match event:
            case RowChange():
                source = sink.source_of(event.table, profile)
                zone = profile.deployment.time_zone
                for op, before, after in _split(
                    event,
                    profile,
                    places.get((event.table.database, event.table.name), place_nowhere),
                ):
                    source_row = after or before or {}
                    place = partition_of(
                        profile.dispatcher,
                        source,
                        source_row,
                        stamp.at.tso,
                        layout.partitions,
                        zone,
                        new_architecture=profile.new_architecture,
                    )
                    message = _row_message(profile, event.table, op, before, after, stamp, chance)
                    yield replace(message, partitions=(place,))
            case SchemaChange():
                message = _ddl_message(profile, event, stamp)
                name = (event.database, event.table)
                created = event.after if event.action == "create table" else None
                places[name] = (
                    place_of_rows(created, parse(event.sql))
                    if created
                    else unplaced(event, places.get(name, place_nowhere))
                )
                partitions = range(layout.partitions if profile.ddl_broadcast else 1)
                yield replace(message, partitions=partitions)
            case Watermark() if profile.extension:
                message = _watermark_message(profile, stamp)
                yield replace(message, partitions=range(layout.partitions))

    return sink.publish_events(
        history, profile, layout, chance, messages, printer=partial(_print, profile)
    )


def _split(event: RowChange, profile: TicdcProfile, place: Place) -> list[sink.SplitRow]:
    """The rows of a statement as they are sent; an UPDATE that the release or TiDB splits is a
    DELETE and an INSERT. `place` gives the partition of TiDB's table in which a row lies. With
    `profile.raw_change` only TiDB splits.
    """

    def moves(before: Row, after: Row) -> bool:
        """Whether TiDB itself deletes the row and inserts it again: its clustered key changes, or
        the partition in which it lies.
        """
        return sink.moved(event.table, before, after) or place(before) != place(after)

    return sink.split_rows(
        event,
        split_keys=profile.split_keys,
        new_architecture=profile.new_architecture,
        raw=profile.raw_change,
        by_tidb=moves,
    )


@dataclass(frozen=True, slots=True)
class _Stamp:
    """The times of a message: `at`, the commit time, and `ts`, the member of that name: the time of
    sending in milliseconds, 0 in releases that do not fill it.
    """

    at: Instant
    ts: int


def _print(profile: TicdcProfile, members: Mapping[str, Any], terminator: bytes = b"") -> bytes:
    """The bytes of a message: its JSON as Go prints it and what ends it, compressed as the profile
    says.
    """
    return sink.pack(profile.deployment.compression, print_json(members, text.escape) + terminator)


def _row_message(
    profile: TicdcProfile,
    table: Table,
    op: Op,
    before: Row | None,
    after: Row | None,
    stamp: _Stamp,
    chance: random.Random,
) -> WireMessage:
    """The message of one row. If it is longer than the profile's limit and the profile reduces
    messages, the message and its expected change have the columns of the handle key alone (the key
    by which TiDB finds a row). `before` and `after` are None where the operation has no such row;
    `chance` draws the order of mysqlType.
    """
    rowkey = row_key(table, after or before or {}) if profile.row_key else ABSENT
    cut = (
        sink.handle_key(table)
        if op is Op.DELETE and profile.delete_handle_key and sink.handle_key(table)
        else None
    )
    images = _Images.of_change(profile, table, op, before, after, keep=cut)
    types = [c.name for c in images.columns]
    if profile.mysql_type_order == "random":
        chance.shuffle(types)
    members = images.members(types, stamp, {"rowkey": rowkey})
    value = _print(profile, members, profile.terminator)
    if profile.reduce and len(value) + sink.RECORD_OVERHEAD > profile.max_message_bytes:
        flag: dict[str, Any] = {"onlyHandleKey": True}
        if profile.reduce == "claim-check":
            location = sink.claim_check_location(CLAIM_CHECK_STORAGE, chance)
            flag = {"claimCheckLocation": location}
        images = _Images.of_change(profile, table, op, before, after, keep=sink.handle_key(table))
        members = images.members(
            [name for name in types if name in sink.handle_key(table)],
            stamp,
            {**flag, "rowkey": rowkey},
        )
        value = _print(profile, members, profile.terminator)
    return WireMessage(value, (images.change(stamp),), key=b"")


class _WireCell(NamedTuple):
    """A column's value as the message has it, None for null, and the cell expected of it."""

    text: str | None
    expected: Cell


@dataclass(frozen=True, slots=True)
class _Images:
    """The images of one row as its message has them, `data` and `old`, by column. `data_row` is the
    row from which `data` is made: the row before a DELETE, else the row after the change.

    `old` is None when the message has no image of the row before an UPDATE; `columns` are those
    that the message describes, `types` their mysqlType.
    """

    profile: TicdcProfile
    table: Table
    op: Op
    columns: tuple[Column, ...]
    types: Mapping[str, str]
    data_row: Row
    data: Mapping[str, _WireCell]
    old: Mapping[str, _WireCell] | None

    @classmethod
    def of_change(
        cls,
        profile: TicdcProfile,
        table: Table,
        op: Op,
        before: Row | None,
        after: Row | None,
        keep: tuple[str, ...] | None = None,
    ) -> _Images:
        """Makes the images of a row change, of the columns in `keep` alone if that is given. Raises
        Refused for an UPDATE at which TiCDC stops, since it cannot compare two VECTORs.
        """
        columns = sink.columns_of_rows(table, profile)
        if keep is not None:
            columns = tuple(c for c in columns if c.name in keep)
        if profile.column_order == "sorted":
            columns = tuple(sorted(columns, key=lambda c: c.name.encode()))
        data_row = before if op is Op.DELETE else after
        assert data_row is not None
        data = {c.name: _cell(profile, c.type, data_row[c.name]) for c in columns}
        old = None
        if op is Op.UPDATE:
            assert before is not None
            old = {c.name: _cell(profile, c.type, before[c.name]) for c in columns}
            if profile.old_updated_only and not profile.new_architecture:
                for column in columns:
                    if (
                        column.type.name == "vector"
                        and before[column.name] is not None
                        and data_row[column.name] is not None
                    ):
                        raise Refused(
                            f"TiCDC stops at an UPDATE of {table.name}: it compares VECTOR"
                            f" {column.name} for what changed (ticdc#canal-old-partial)"
                        )
            if profile.old_updated_only:
                old = {name: cell for name, cell in old.items() if cell.text != data[name].text}
        types = {
            c.name: text.mysql_type(
                c.type,
                unsigned=profile.unsigned_suffix,
                zerofill=profile.zerofill_suffix,
                parameters=profile.params_in_mysql_type,
            )
            for c in columns
        }
        return cls(profile, table, op, columns, types, data_row, data, old)

    def members(
        self, type_order: list[str], stamp: _Stamp, more_extension: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The members of the row's message; `mysqlType` has its columns in `type_order`, and
        `more_extension` stands behind `commitTs`.
        """
        profile, names = self.profile, set(self.table.primary_key)
        codes = {
            c.name: text.sql_type(c.type, self.data_row[c.name], legacy=profile.legacy_sql_types)
            for c in self.columns
        }
        data = [{name: cell_text for name, (cell_text, _) in self.data.items()}]
        old: Any
        match self.op:
            case Op.INSERT:
                old = Raw(profile.insert_old)
            case Op.DELETE:
                old = data if profile.delete_old == "data" else None
            case _:
                assert self.old is not None
                old = [{name: cell_text for name, (cell_text, _) in self.old.items()}]
        last = {"data": data, "old": old}
        mysql_types = {name: self.types[name] for name in type_order}
        members = {
            "database": self.table.database,
            "table": self.table.name,
            "pkNames": [c.name for c in self.table.columns if c.name in names],
            "type": self.op.value,
            "sqlType": codes or None,
            "mysqlType": None if profile.new_architecture and not self.types else mysql_types,
        }
        extension = {"commitTs": stamp.at.tso, **more_extension}
        images = {key: last[key] for key in profile.dml_key_order}
        return _envelope(profile, stamp, extension, members, images)

    def change(self, stamp: _Stamp) -> Change:
        """The change that a right decoder returns for the row's message. If the text of a binary
        has a character beyond ISO-8859-1, one CORRUPT row is right, too.
        """
        full_image = self.table.image({name: cell for name, (_, cell) in self.data.items()})
        before: Image | None = None
        full: Image | None = None
        if self.old is not None:
            old = {name: cell for name, (_, cell) in self.old.items()}
            before = self.table.image(old)
            full = (
                {name: old.get(name, cell) for name, cell in full_image.items()}
                if len(old) < len(full_image)
                else None
            )
        lossy = any(
            _beyond_latin1(cell) for image in (full_image, before or {}) for cell in image.values()
        )
        keys = frozenset(self.table.primary_key)
        change = sink.committed(
            Kind.ROW,
            stamp.at,
            self.table.database,
            self.table.name,
            op=self.op,
            keys=tuple(c.name for c in self.table.columns if c.name in keys),
            key_sets=(keys,),
            before=full_image if self.op is Op.DELETE else before,
            after=None if self.op is Op.DELETE else full_image,
            full_before=full,
            types=self.types if self.types or not self.profile.new_architecture else None,
            accept=((Kind.CORRUPT, None),) if lossy else (),
        )
        return change if self.profile.extension else replace(change, position=None)


def _beyond_latin1(cell: Cell) -> bool:
    """Whether a cell is a binary of which any value is right, since TiCDC v5.3 and older print it
    as UTF-8 with loss, and its text has a character beyond U+00FF: a decoder that reads binaries as
    ISO-8859-1 may refuse the message.
    """
    return (
        cell.state is State.ANY
        and cell.type.logical is Logical.BINARY
        and any(ord(c) > 0xFF for c in cell.text or "")
    )


def _cell(profile: TicdcProfile, type: SourceType, stored: Value) -> _WireCell:
    """The text of a column's value, None for null, and the cell expected of it: any value is right
    for a binary that the release prints with loss, NULL where it prints the text null as null.
    """
    if stored is None:
        return _WireCell(None, Cell(State.NULL, type))
    value = text.canonical(type, stored)
    cls = text.value_class(type, value)
    if type.logical is Logical.TIMESTAMP and isinstance(value, int):
        cell = text.zoned(
            Cell(State.VALUE, type, value, cls=cls), value, profile.deployment.time_zone
        )
        return _WireCell(cell.text or "", cell)
    if (
        profile.binary_lossy
        and type.name in ("binary", "varbinary")
        and isinstance(value, bytes)
        and not value.isascii()
    ):
        raw = text.go_utf8(value)
        cell_text = "".join("\ufffd" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in raw)
        why = (
            "v5.3 and older print BINARY and VARBINARY as UTF-8; what is not UTF-8 is lost"
            " (pingcap/tiflow#7058)"
        )
        return _WireCell(raw, Cell(State.ANY, type, None, cell_text, cls, reason=why))
    cell_text = text.value_text(
        type, value, float_via_double=profile.float_via_double, json_doubles=profile.json_doubles
    )
    if profile.null_text_bug and cell_text == "null":
        why = (
            "v8.5.4 of the new architecture prints the text null as a JSON null"
            " (pingcap/ticdc#3958)"
        )
        return _WireCell(None, Cell(State.NULL, type, cls=cls, reason=why))
    return _WireCell(cell_text, Cell(State.VALUE, type, value, cell_text, cls))


_NO_ROWS: Final = {"data": None, "old": None}
"""The last two members of a message that has no rows."""


def _envelope(
    profile: TicdcProfile,
    stamp: _Stamp,
    extension: Mapping[str, Any],
    more_members: Mapping[str, Any],
    last: Mapping[str, Any] = _NO_ROWS,
) -> dict[str, Any]:
    """The members of a message: those in `more_members`, a default for each other one that all
    messages have, then `last`, and `extension` as `_tidb` if the profile has it.
    """
    names = {
        "id": 0,
        "database": "",
        "table": "",
        "pkNames": None,
        "isDdl": False,
        "type": "",
    }
    common_members = {
        "es": stamp.at.ms,
        "ts": stamp.ts,
        "sql": "",
        "sqlType": None,
        "mysqlType": None,
    }
    tidb = extension if profile.extension else ABSENT
    return {**names, **common_members, **more_members, **last, "_tidb": tidb}


def _ddl_message(profile: TicdcProfile, event: SchemaChange, stamp: _Stamp) -> WireMessage:
    """A DDL statement's message, with the SQL as TiCDC restores it: with placement rules and with
    TTL turned off, if the profile says so. Its position is the commitTs, which stands in TiDB's
    extension alone: without that, it has none.
    """
    sql = sink.statement(event, profile, placement=profile.placement_rules, ttl_off=profile.ttl_off)
    statement_members = {
        "database": event.database,
        "table": event.table,
        "isDdl": True,
        "type": text.ddl_type(event.action, new_architecture=profile.new_architecture),
        "sql": sql,
    }
    members = _envelope(profile, stamp, {"commitTs": stamp.at.tso}, statement_members)
    change = sink.committed(Kind.DDL, stamp.at, event.database, event.table, sql=sql)
    return WireMessage(members, (change if profile.extension else replace(change, position=None),))


def _watermark_message(profile: TicdcProfile, stamp: _Stamp) -> WireMessage:
    """The message of a watermark (all changes up to its commit time have been sent)."""
    members = _envelope(profile, stamp, {"watermarkTs": stamp.at.tso}, {"type": "TIDB_WATERMARK"})
    return WireMessage(members, (sink.committed(Kind.WATERMARK, stamp.at, "", ""),))


__all__ = ["FORMAT", "TicdcProfile", "partition_of", "write"]


def losses(profile: TicdcProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose of a row, for every decoder."""
    known_losses = []
    if profile.binary_lossy:
        reason = "a byte that is no UTF-8 is written as U+FFFD"
        known_losses.append(
            Loss((Logical.BINARY,), reason, "ticdc#canal-binary-lossy", _replace_invalid_bytes)
        )
    if profile.null_text_bug:
        reason = "the text null is written as JSON null"
        known_losses.append(
            Loss((Logical.TEXT, Logical.BINARY), reason, "ticdc#null-text-bug", _nulled)
        )
    return tuple(known_losses)


def _replace_invalid_bytes(_kind: SourceType, value: Value) -> Value:
    """A binary with U+FFFD in UTF-8 for each byte that is no UTF-8, which is what its message holds
    of it; any other value as it is.
    """
    if not isinstance(value, bytes):
        return value
    return "".join(
        "\ufffd" if 0xDC80 <= ord(c) <= 0xDCFF else c
        for c in value.decode("utf-8", "surrogateescape")
    ).encode()


def _nulled(_kind: SourceType, value: Value) -> Value:
    """NULL for the text or bytes `null`, which the release writes as a JSON null; any other value
    as it is.
    """
    return None if value in ("null", b"null") else value


def unfit(profile: TicdcProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """The cell faults of the format: cells that hold no value of their column's type, for each kind
    of types and each way. None for a profile with options, whose cells are the same as without.
    Releases whose binaries lose bytes (before v5.4) take any text for a binary.
    """
    if profile.options:
        return
    known_fits = {**fits, "binary/letters": "any text"} if profile.binary_lossy else fits
    yield from unfit_cells(profile.source, known_fits)


FORMAT: Final[Format[TicdcProfile]] = Format(
    **about("ticdc-canal-json", CHOICES),
    supports=text.supports,
    write=write,
    faults=(*FAULTS, NESTED_CELL),
    scenarios=scenarios,
    unfit=unfit,
    losses=losses,
)
