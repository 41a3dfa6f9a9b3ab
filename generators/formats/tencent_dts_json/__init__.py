"""Tencent Cloud DTS JSON: data subscription records (FlatRecord) of a MySQL source, message version
1.

Source: the vendor's page "JSON Demo 说明" and an older edition of it (`tencent` of the catalogue of
sources). There is no public source and no captured message: field names and rules on values are
documented, JSON types and shapes are not. One record is one row, or one control or DDL message;
`oldColumns` and `newColumns` hold texts in the order of `columns`. Geometry, on which the pages
disagree (tencent#geometry), is no type of `generators.sources.mysql`.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, a watermark, and a
heartbeat:

    {"id":904603,"version":1,"messageType":"INSERT","fileName":"mysql-bin.000004",
    "position":"2196@4","safePosition":"2001@4","timestamp":1700000000,
    "gtid":"c7c98333-6006-11ed-bfc9-b8cef6e1a231:83649","transactionId":null,"serverId":109741,
    "threadId":12,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":"shop",
    "tableName":"notes","objectName":"shop.notes","columns":[{"name":"id","dataTypeNumber":3,
    "isKey":true,"originalType":"int(11)"},{"name":"note","dataTypeNumber":252,"isKey":false,
    "originalType":"text"}],"oldColumns":null,"newColumns":["1","old"],"sql":null,
    "executionTime":null,"syncedGtid":null,"fakeGtid":false,"pkNames":["id"],
    "readerTimestamp":1700000000789,"tags":{"lowerCaseTableNames":"0"},"total":1,"index":1}

    {"id":904603,"version":1,"messageType":"UPDATE","fileName":"mysql-bin.000004",
    "position":"2196@4","safePosition":"2001@4","timestamp":1700000000,
    "gtid":"c7c98333-6006-11ed-bfc9-b8cef6e1a231:83649","transactionId":null,"serverId":109741,
    "threadId":12,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":"shop",
    "tableName":"notes","objectName":"shop.notes","columns":[{"name":"id","dataTypeNumber":3,
    "isKey":true,"originalType":"int(11)"},{"name":"note","dataTypeNumber":252,"isKey":false,
    "originalType":"text"}],"oldColumns":["1","old"],"newColumns":["1","new"],"sql":null,
    "executionTime":null,"syncedGtid":null,"fakeGtid":false,"pkNames":["id"],
    "readerTimestamp":1700000000789,"tags":{"lowerCaseTableNames":"0"},"total":1,"index":1}

    {"id":904603,"version":1,"messageType":"DELETE","fileName":"mysql-bin.000004",
    "position":"2196@4","safePosition":"2001@4","timestamp":1700000000,
    "gtid":"c7c98333-6006-11ed-bfc9-b8cef6e1a231:83649","transactionId":null,"serverId":109741,
    "threadId":12,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":"shop",
    "tableName":"notes","objectName":"shop.notes","columns":[{"name":"id","dataTypeNumber":3,
    "isKey":true,"originalType":"int(11)"},{"name":"note","dataTypeNumber":252,"isKey":false,
    "originalType":"text"}],"oldColumns":["1","new"],"newColumns":null,"sql":null,
    "executionTime":null,"syncedGtid":null,"fakeGtid":false,"pkNames":["id"],
    "readerTimestamp":1700000000789,"tags":{"lowerCaseTableNames":"0"},"total":1,"index":1}

    {"id":904603,"version":1,"messageType":"DDL","fileName":"mysql-bin.000004","position":"2196@4",
    "safePosition":"2001@4","timestamp":1700000000,
    "gtid":"c7c98333-6006-11ed-bfc9-b8cef6e1a231:83649","transactionId":null,"serverId":109741,
    "threadId":12,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":"shop",
    "tableName":null,"objectName":null,"columns":null,"oldColumns":null,"newColumns":null,
    "sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1","executionTime":0,
    "syncedGtid":null,"fakeGtid":false,"readerTimestamp":1700000000789,
    "tags":{"lowerCaseTableNames":"0"},"total":1,"index":1}

    {"id":904603,"version":1,"messageType":"CHECKPOINT","fileName":"mysql-bin.000004",
    "position":"2196@4","safePosition":"2001@4","timestamp":null,"gtid":null,"transactionId":null,
    "serverId":null,"threadId":null,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":null,
    "tableName":null,"objectName":null,"columns":null,"oldColumns":null,"newColumns":null,
    "sql":null,"executionTime":null,"syncedGtid":"c7c98333-6006-11ed-bfc9-b8cef6e1a231:1-83649",
    "fakeGtid":false,"readerTimestamp":1700000000789,"tags":{"lowerCaseTableNames":"0"},"total":1,
    "index":1}

    {"id":904603,"version":1,"messageType":"HEARTBEAT","fileName":null,"position":null,
    "safePosition":null,"timestamp":null,"gtid":null,"transactionId":null,"serverId":null,
    "threadId":null,"sourceType":"MySQL","sourceVersion":"8.0.22","schemaName":null,
    "tableName":null,"objectName":null,"columns":null,"oldColumns":null,"newColumns":null,
    "sql":null,"executionTime":null,"heartbeatTimestamp":1700000000,"syncedGtid":null,
    "fakeGtid":false,"readerTimestamp":1700000000789,"tags":{"lowerCaseTableNames":"0"},"total":1,
    "index":1}
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from generators.families.java_text import Escapes, hash_code, json_string, remainder_of_abs
from generators.families.mysql_texts import supports
from generators.families.wire_messages import Raw, WireMessage, print_json, print_message
from generators.formats.tencent_dts_json.profiles import (
    CHOICES,
    NAME,
    TencentProfile,
)
from generators.formats.tencent_dts_json.rows import (
    Texts,
    columns_of,
    images_of,
    keys_of,
    types_of,
)
from generators.formats.tencent_dts_json.scenarios import cell_faults, scenarios
from generators.garbage.cell_faults import LABELS
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import (
    Change,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    Logical,
    Op,
    RowChange,
    SchemaChange,
    SourceType,
    Table,
    TransactionMark,
    Value,
    Watermark,
    Written,
)
from generators.wire_format import Format, Loss, about

__all__ = ["FORMAT", "TencentProfile", "write"]

GTID: Final = "c7c98333-6006-11ed-bfc9-b8cef6e1a231"
"""The server's part of a gtid, before the transaction's number."""
COMMITS_PER_FILE: Final = 1000
"""The virtual binlog: the counter of `Instant.seq` over this is the file's number less
`FIRST_FILE`.
"""
EVENTS_PER_FILE: Final = 25
"""Events of a history after which the file of the virtual binlog ends."""
FIRST_FILE: Final = 4
"""The number of the first file of the virtual binlog."""
READER_LAG_MS: Final = 789
"""Milliseconds from a commit to the time at which the record was read."""

FIELDS: Final = (
    *(
        "id",
        "version",
        "messageType",
        "fileName",
        "position",
        "safePosition",
        "timestamp",
        "gtid",
        "transactionId",
        "serverId",
    ),
    *(
        "threadId",
        "sourceType",
        "sourceVersion",
        "schemaName",
        "tableName",
        "objectName",
        "columns",
        "oldColumns",
        "newColumns",
    ),
    *(
        "sql",
        "executionTime",
        "heartbeatTimestamp",
        "syncedGtid",
        "fakeGtid",
        "pkNames",
        "readerTimestamp",
        "tags",
        "total",
    ),
    "index",
)
"""Every field of the page, in its order."""

CARRIED: Final = ("heartbeatTimestamp", "pkNames")
"""Fields that are left out of a record to which they do not apply (tencent#heartbeat,
tencent#keys).
"""


@dataclass(frozen=True, slots=True)
class _Record:
    """What one record says for itself: `type` (the member messageType), its other members by name,
    and the change expected of it. A row's record also has, to choose its partition, the full name
    of its table (`object`) and the texts of its key.
    """

    type: str
    members: Mapping[str, Any]
    change: Change
    object: str = ""
    key: Texts = ()


@dataclass(frozen=True, slots=True)
class _Transaction:
    """What the records of one transaction share: `gtid`, and `start`, the place in the binlog where
    it begins.
    """

    gtid: str
    start: str


def write(history: History, profile: TencentProfile, layout: Layout) -> list[Written]:
    """The records of a history in order: one a row, DDL statement, transaction mark, heartbeat and
    watermark (as CHECKPOINT).

    The first gtid and id are drawn from the history's seed. What lies between BEGIN and COMMIT has
    the gtid and the start of one transaction; an event that comes twice in a row was delivered
    twice, so its records are the same bytes again.
    """
    chance = random.Random(f"{history.seed}/{profile.name}")
    first_id, first_gtid = chance.randrange(1, 1_000_000), chance.randrange(1, 100_000)
    written: list[Written] = []
    last: list[Written] = []
    previous: Event | None = None
    open_transaction: _Transaction | None = None
    for ordinal, event in enumerate(history.events):
        if event == previous:
            written += [
                replace(written_record, message=replace(written_record.message, event=ordinal))
                for written_record in last
            ]
            continue
        previous, last = event, []
        event_transaction = _Transaction(
            f"{GTID}:{first_gtid + ordinal}", position_of(event.at, ordinal).safe_position
        )
        mark = event.mark if isinstance(event, TransactionMark) else ""
        open_transaction = event_transaction if mark == "BEGIN" else open_transaction
        for record in _records(event, ordinal, open_transaction or event_transaction, profile):
            stamp = event.at.ms + READER_LAG_MS
            members = {
                "id": first_id + len(written),
                "version": 1,
                "messageType": record.type,
                "sourceType": profile.source_type,
                "sourceVersion": "8.0.22",
                "fakeGtid": False,
                "readerTimestamp": stamp,
                "tags": Raw(profile.tags),
                **_fragment(profile),
                **record.members,
            }
            place = _partition(record, profile, layout.partitions)
            message = WireMessage(
                _order_members(members, profile), (record.change,), partitions=(place,)
            )
            last += print_message(message, _print, layout, event=ordinal, timestamp_ms=stamp)
            written.append(last[-1])
        open_transaction = None if mark == "COMMIT" else open_transaction
    return written


def _fragment(profile: TencentProfile) -> dict[str, int]:
    """The members `total` and `index`, which are reserved and mean nothing; by the older edition's
    words `index` is the total (tencent#fragments).
    """
    return {"total": 1, "index": 1 if profile.index_is_total else 0}


def _order_members(members: Mapping[str, Any], profile: TencentProfile) -> dict[str, Any]:
    """The members of a record in the document's order of fields. A field that does not apply to the
    record is null; it is left out if the profile leaves such fields out, or if it is in CARRIED.
    """
    left_out = FIELDS if profile.absent else CARRIED
    return {name: members.get(name) for name in FIELDS if name in members or name not in left_out}


_print: Final = partial(print_json, quote=partial(json_string, library=Escapes.FASTJSON2))
"""Prints JSON as fastjson2 2.0.31 does."""


class BinlogPosition(NamedTuple):
    """Where an event stands in the virtual binlog. The position's file number has lost the zero
    padding of the file's name. The safe position is the start of a transaction that the event makes
    alone.
    """

    file_name: str
    position: str
    safe_position: str


def position_of(at: Instant, ordinal: int) -> BinlogPosition:
    """The place of an event in the virtual binlog (one that only this writer makes up): the file's
    name, and as `offset@file number` where the event ends (`position`) and where it begins
    (`safe_position`). `ordinal` is the event's number in its history.
    """
    number = FIRST_FILE + at.seq // COMMITS_PER_FILE + ordinal // EVENTS_PER_FILE
    # The first event begins at 2001 and ends at 2196, as in the examples at the top of the module.
    end = 2196 + 500 * (ordinal % EVENTS_PER_FILE)
    return BinlogPosition(f"mysql-bin.{number:06d}", f"{end}@{number}", f"{end - 195}@{number}")


def _log_fields(event: Event, ordinal: int, transaction: _Transaction) -> dict[str, Any]:
    """The fields of a record that say where event `ordinal` of a history stands in the binlog, and
    in which transaction.
    """
    name, position, _ = position_of(event.at, ordinal)
    return {
        "fileName": name,
        "position": position,
        "safePosition": transaction.start,
        "timestamp": event.at.ms // 1000,
        "gtid": transaction.gtid,
        "serverId": 109741,
        "threadId": 12,
    }


def _records(
    event: Event, ordinal: int, transaction: _Transaction, profile: TencentProfile
) -> Iterator[_Record]:
    """Yields the records of an event, each with the change expected of it: one for each row, or one
    for a DDL statement, transaction mark, heartbeat or checkpoint; nothing for other events.
    """
    log = _log_fields(event, ordinal, transaction)
    position = position_of(event.at, ordinal).position
    committed = event.at.ms // 1000 * 1_000_000
    match event:
        case RowChange(op=Op.INSERT | Op.UPDATE | Op.DELETE):
            yield from _row_records(
                event,
                log,
                Change(0, Kind.ROW, event.op, position=position, commit_time_us=committed),
                profile,
            )
        case SchemaChange():
            members = {
                **log,
                "schemaName": event.database,
                "sql": event.sql,
                "executionTime": 0,
            }
            ddl = Change(
                0,
                Kind.DDL,
                database=event.database,
                sql=event.sql,
                position=position,
                commit_time_us=committed,
            )
            yield _Record("DDL", members, ddl)
        case TransactionMark():
            mark = Change(0, Kind.TRANSACTION, position=position, commit_time_us=committed)
            commit_members = {"transactionId": event.id} if event.mark == "COMMIT" else {}
            yield _Record(event.mark, {**log, **commit_members}, mark)
        case Heartbeat():
            seconds = {"heartbeatTimestamp": event.at.ms // 1000}
            yield _Record("HEARTBEAT", seconds, Change(0, Kind.HEARTBEAT))
        case Watermark():
            done = {name: log[name] for name in ("fileName", "position", "safePosition")}
            done["syncedGtid"] = f"{GTID}:1-{transaction.gtid.rpartition(':')[2]}"
            accept = ((Kind.WATERMARK, None), (Kind.HEARTBEAT, None))
            yield _Record(
                "CHECKPOINT", done, Change(0, Kind.CONTROL, position=position, accept=accept)
            )
        case _:
            return


def _row_records(
    event: RowChange, log: Mapping[str, Any], bare: Change, profile: TencentProfile
) -> Iterator[_Record]:
    """Yields a record for each row of a row change. `log` has the members that all records of the
    event share, `bare` is the expected change without table and images.
    """
    table = event.table
    object_name = f"{table.database}.{table.name}"
    shared = {
        **log,
        "schemaName": table.database,
        "tableName": table.name,
        "objectName": object_name,
        "columns": columns_of(table, profile.binlog_codes),
    }
    keys = table.primary_key
    if keys:
        shared["pkNames"] = keys
    for images in event.rows:
        change, old, new = images_of(table, images, bare, profile)
        # "null on INSERT" and "null on DELETE" are documented, so these two are never left out of a
        # row.
        members = {**shared, "oldColumns": old, "newColumns": new}
        shown_image = new if new is not None else old
        assert shown_image is not None
        yield _Record(
            event.op.value,
            members,
            _with_table_name(change, table),
            object_name,
            keys_of(table, shown_image),
        )


def _with_table_name(change: Change, table: Table) -> Change:
    """A row's expected change with the table's names, types and key columns; to name the key in the
    order of the table's columns is right too.
    """
    key = table.primary_key
    in_table_order = tuple(c.name for c in table.columns if c.name in key)
    return replace(
        change,
        database=table.database,
        table=table.name,
        keys=key or None,
        other_keys=(in_table_order,) if in_table_order != key else (),
        types=types_of(table),
    )


def _partition(record: _Record, profile: TencentProfile, partitions: int) -> int:
    """The partition of a row's message, by the hash of its table's full name (`object`, "" for any
    other message) or, with `pk_hash`, of that and the key's texts (source fact tencent#order; that
    the hash is Java's is assumed), and that of any other message, which is assumed to be 0.
    """
    if not record.object:
        return 0
    code = hash_code(record.object)
    if profile.pk_hash:
        for key_text in record.key:
            code ^= hash_code(key_text or "")
    return remainder_of_abs(code, partitions)


def _milliseconds(_kind: SourceType, value: Value) -> Value:
    """A number of microseconds cut off after whole milliseconds; any other value as it is."""
    return value // 1000 * 1000 if isinstance(value, int) else value


def losses(_profile: TencentProfile) -> tuple[Loss, ...]:
    """What the records lose of a row, for every decoder: a TIMESTAMP's part below the
    millisecond.
    """
    return (
        Loss(
            (Logical.TIMESTAMP,),
            "TIMESTAMP is cut off after milliseconds",
            "tencent#timestamp-milliseconds",
            _milliseconds,
        ),
    )


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    faults=(*FAULTS, NESTED_CELL),
    scenarios=scenarios,
    supports=supports,
    cell_faults=cell_faults,
    fits=LABELS,
    losses=losses,
)
