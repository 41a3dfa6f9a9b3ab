"""Alibaba Canal's Protobuf: what the Kafka producer of Canal 1.1.4 to 1.1.8 writes with
`canal.mq.flatMessage=false`.

Source: alibaba/canal `CanalProtocol.proto`, `EntryProtocol.proto`, `CanalMessageSerializerUtil`,
`LogEventConvert`, `MQMessageUtils.messagePartition` @ e20e4424 and tags canal-1.1.4 to canal-1.1.8
(pages canal-protobuf and canal of the sources). A record's value is a Packet of type MESSAGES; its
body has the bytes of entries, and the storeValue of an entry those of a RowChange, a
TransactionBegin or a TransactionEnd. Cells have the texts of the flat message (alibaba-canal-json);
an UPDATE has its whole before image, and `updated` marks the columns that changed.

EntryProtocol.proto says proto3, but the class in every release is proto2's: a field that was set is
written, whatever its value is.

Here a batch holds one event of the binlog, as of a source with few changes, with the begin and the
end of its transaction. Where rows are spread over partitions, each row is an entry of its own, and
begin and end are left out.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN, with 1.1.8+filtered;
Protobuf by the names of its fields, each message inside bytes decoded as well:

    {"type":"MESSAGES","body":{"batch_id":810392,"messages":[{"header":{"version":1,
    "logfileName":"mysql-bin.999999","logfileOffset":13,"serverId":1,"serverenCode":"UTF-8",
    "executeTime":1700000000000,"sourceType":"MYSQL","schemaName":"shop","tableName":"notes",
    "eventLength":80,"eventType":"INSERT","props":[{"key":"rowsCount","value":"1"}],
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"},"entryType":"ROWDATA",
    "storeValue":{"tableId":324,"eventType":"INSERT","isDdl":false,
    "rowDatas":[{"afterColumns":[{"index":0,"sqlType":4,"name":"id","isKey":true,"updated":true,
    "isNull":false,"value":"1","mysqlType":"int(11)"},{"index":1,"sqlType":2005,"name":"note",
    "isKey":false,"updated":true,"isNull":false,"value":"old","mysqlType":"text"}]}]}}]}}

    {"type":"MESSAGES","body":{"batch_id":810392,"messages":[{"header":{"version":1,
    "logfileName":"mysql-bin.999999","logfileOffset":13,"serverId":1,"serverenCode":"UTF-8",
    "executeTime":1700000000000,"sourceType":"MYSQL","schemaName":"shop","tableName":"notes",
    "eventLength":80,"eventType":"UPDATE","props":[{"key":"rowsCount","value":"1"}],
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"},"entryType":"ROWDATA",
    "storeValue":{"tableId":324,"eventType":"UPDATE","isDdl":false,
    "rowDatas":[{"beforeColumns":[{"index":0,"sqlType":4,"name":"id","isKey":true,"updated":false,
    "isNull":false,"value":"1","mysqlType":"int(11)"},{"index":1,"sqlType":2005,"name":"note",
    "isKey":false,"updated":false,"isNull":false,"value":"old","mysqlType":"text"}],
    "afterColumns":[{"index":0,"sqlType":4,"name":"id","isKey":true,"updated":false,"isNull":false,
    "value":"1","mysqlType":"int(11)"},{"index":1,"sqlType":2005,"name":"note","isKey":false,
    "updated":true,"isNull":false,"value":"new","mysqlType":"text"}]}]}}]}}

    {"type":"MESSAGES","body":{"batch_id":810392,"messages":[{"header":{"version":1,
    "logfileName":"mysql-bin.999999","logfileOffset":13,"serverId":1,"serverenCode":"UTF-8",
    "executeTime":1700000000000,"sourceType":"MYSQL","schemaName":"shop","tableName":"notes",
    "eventLength":80,"eventType":"DELETE","props":[{"key":"rowsCount","value":"1"}],
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"},"entryType":"ROWDATA",
    "storeValue":{"tableId":324,"eventType":"DELETE","isDdl":false,
    "rowDatas":[{"beforeColumns":[{"index":0,"sqlType":4,"name":"id","isKey":true,"updated":false,
    "isNull":false,"value":"1","mysqlType":"int(11)"},{"index":1,"sqlType":2005,"name":"note",
    "isKey":false,"updated":false,"isNull":false,"value":"new","mysqlType":"text"}]}]}}]}}

    {"type":"MESSAGES","body":{"batch_id":810392,"messages":[{"header":{"version":1,
    "logfileName":"mysql-bin.999999","logfileOffset":12,"serverId":1,"serverenCode":"UTF-8",
    "executeTime":1700000000000,"sourceType":"MYSQL","schemaName":"shop","tableName":"t3142384771",
    "eventLength":80,"eventType":"ALTER","gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"},
    "entryType":"ROWDATA","storeValue":{"eventType":"ALTER","isDdl":true,
    "sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1","ddlSchemaName":"shop"}}]}}
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from generators.families.wire_messages import WireMessage, print_message
from generators.formats.alibaba_canal_json import (
    TS_LAG_MS,
    FlatMessage,
    RowImage,
    accept_corrupt,
    ddl_message,
    has_unfit_value,
    is_unread,
    log_rows,
    losses,
    number_batches,
    place_rows,
    rename_columns,
    restore_names,
    show_event,
    statement_message,
    supports,
)
from generators.formats.alibaba_canal_json.asked_tables import AskedTables
from generators.formats.alibaba_canal_json.cells import column_type, key_columns
from generators.formats.alibaba_canal_json.profiles import CanalProfile, ddl_type
from generators.formats.alibaba_canal_json.scenarios import scenarios
from generators.formats.alibaba_canal_protobuf.faults import CELL_FAULTS, FAULTS, unfit
from generators.formats.alibaba_canal_protobuf.messages import (
    packet_bytes,
    read_packet,
    remains_of_value,
)
from generators.model import (
    Change,
    Event,
    History,
    Kind,
    Layout,
    Op,
    RowChange,
    SchemaChange,
    SourceStatement,
    Table,
    Written,
)
from generators.profile_tables import read_choices
from generators.sources.boundaries import START
from generators.wire_format import Codec, Format, about

__all__ = ["FORMAT", "CanalProtobufProfile", "write"]

NAME: Final = "alibaba-canal-protobuf"


@dataclass(frozen=True, slots=True)
class CanalProtobufProfile(CanalProfile):
    """A Canal release with the options of its producer, as the facts that change bytes."""

    raw: bool = True
    """Batches keep the bytes of entries (`canal.instance.memory.rawEntry`): the packet has the
    batch's number, and no version (canal-protobuf#raw)."""
    marks: bool = True
    """The marks of transactions are there (`canal.instance.filter.transaction.entry`)."""

    @property
    def spreads(self) -> bool:
        """Whether rows are spread over partitions, each in an entry of its own."""
        return self.pk_hash or bool(self.hash_columns)

    @property
    def routes(self) -> bool:
        """Whether Canal's producer reads entries to find their topic or partition: a partition is
        chosen by rows (`spreads`) or by table, or the topic is. It then sends neither the bytes as
        the server kept them (`raw`) nor the marks of transactions (canal-protobuf#marks).
        """
        return self.spreads or self.table_hash or self.dynamic_topic


CHOICES: Final = read_choices(NAME, CanalProtobufProfile)


class _Entries(NamedTuple):
    """What an event gives to one partition: the documents of its entries, the changes expected of
    them, and the flat message of the same rows or statement, which has the names of its database
    and table.
    """

    partition: int
    entries: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...]
    names: FlatMessage


class _Mark(NamedTuple):
    """The begin or the end of a transaction: the document of its entry, and the change expected of
    it.
    """

    entry: dict[str, Any]
    change: Change


class _Place(NamedTuple):
    """A place in the binlog: a file and an offset in it."""

    file: str
    offset: int

    @property
    def position(self) -> str:
        """The place as a decoder gives it."""
        return f"{self.file}:{self.offset}"

    def after(self, steps: int) -> _Place:
        """The place of an event that stands behind this one."""
        return _Place(self.file, self.offset + steps)


_FILE_MS: Final = 1 << 16
"""Milliseconds of a file of the virtual binlog: at 2^14 bytes each it ends at a gigabyte, MySQL's
limit.
"""


def write(history: History, profile: CanalProtobufProfile, layout: Layout) -> list[Written]:
    """The packets of a history in the order of publication. Watermarks, bootstraps and heartbeats
    have none.
    """
    chance = random.Random(f"{history.seed}/{profile.name}")
    written: list[Written] = []
    asked_tables = AskedTables()
    for number, logged, batch in number_batches(history, chance.randrange(1, 1_000_000)):
        shown_event = asked_tables.show(logged)
        is_as_stated = profile.live and not is_unread(shown_event)
        event = shown_event if is_as_stated else show_event(shown_event)
        for partition, entries, changes, names in _entries_of_event(event, profile, layout):
            has_declared_type = isinstance(event, RowChange) and any(
                column.declared for column in event.table.columns
            )
            is_doubtful = has_declared_type and any(map(has_unfit_value, changes))
            is_routed = profile.dynamic_topic and names.database and names.table
            message = WireMessage(
                _packet(entries, profile, batch),
                tuple(accept_corrupt(change) if is_doubtful else change for change in changes),
                partitions=(partition,),
                topic=f"{names.database}_{names.table}".lower() if is_routed else "",
            )
            stamp = event.at.ms + TS_LAG_MS + chance.randrange(40)
            written += print_message(
                message, packet_bytes, layout, event=number, timestamp_ms=stamp
            )
    return written


def _packet(
    entries: Sequence[Mapping[str, Any]], profile: CanalProtobufProfile, batch: int
) -> dict[str, Any]:
    """A packet of entries. Entries that Canal passes on as the bytes that its server kept (`raw`)
    have the batch's number beside them, entries that its producer has read a version
    (canal-protobuf#raw).
    """
    if profile.raw and not profile.routes:
        return {"type": "MESSAGES", "body": {"batch_id": batch, "messages": entries}}
    return {"version": 1, "type": "MESSAGES", "body": {"messages": entries}}


def _entries_of_event(
    event: Event, profile: CanalProtobufProfile, layout: Layout
) -> Iterator[_Entries]:
    """Yields the entries of an event for each partition that gets some; nothing for an event that
    Canal does not send. A statement that Canal's parser does not read (`is_unread`) is a QUERY that
    names neither database nor table (canal#unread-types). A statement of a `kind` None is not sent.
    """
    match event:
        case RowChange():
            yield from _row_entries(event, profile, layout)
        case SchemaChange():
            kind = ddl_type(event.action, profile)
            if is_unread(event):
                unnamed = replace(event, database="", table="")
                flat, changes = ddl_message(unnamed, "QUERY", profile)
                yield _statement_entries(unnamed, flat, changes, profile)
            elif kind is not None:
                flat, changes = ddl_message(event, kind, profile)
                yield _statement_entries(event, flat, changes, profile)
        case SourceStatement():
            flat, changes = statement_message(event)
            yield _statement_entries(event, flat, changes, profile)
        case _:
            return


def _place(event: Event) -> _Place:
    """The place of an event in the virtual binlog (one that only this writer makes up). A history
    begins in the file 999999, so that the numbers of file and offset get more digits in it. Each
    millisecond takes 2^14 bytes, room for 2^11 events with the marks of their transactions.
    """
    since = event.at.ms - START.ms
    number = max(999_999 + since // _FILE_MS, 1)
    return _Place(
        f"mysql-bin.{number:06d}", 4 + (since % _FILE_MS << 14) + (event.at.seq << 3) % (1 << 14)
    )


def _header(event: Event, place: _Place, profile: CanalProtobufProfile) -> dict[str, Any]:
    """The header of an entry, with empty names and without an eventType, as the marks of
    transactions have it.
    """
    return {
        "version": 1,
        "logfileName": place.file,
        "logfileOffset": place.offset,
        "serverId": 1,
        "serverenCode": "UTF-8",
        "executeTime": event.at.ms // 1000 * 1000,
        "sourceType": "MYSQL",
        "schemaName": "",
        "tableName": "",
        "eventLength": 80,
        "gtid": profile.gtid or None,
    }


def _named_header(
    event: Event, place: _Place, flat: FlatMessage, profile: CanalProtobufProfile
) -> dict[str, Any]:
    """The header of an entry that names a table, with the type of its event."""
    # The parser of statements gives no table where there is none.
    table = None if flat.is_ddl and not flat.table else flat.table
    names = {"schemaName": flat.database, "tableName": table, "eventType": flat.type}
    return {**_header(event, place, profile), **names}


def _with_place(event: Event, place: _Place, change: Change) -> Change:
    """A change with the place and the time of its entry's header."""
    return replace(change, position=place.position, commit_time_us=event.at.ms // 1000 * 1_000_000)


def _statement_entries(
    event: SchemaChange | SourceStatement,
    flat: FlatMessage,
    changes: Sequence[Change],
    profile: CanalProtobufProfile,
) -> _Entries:
    """The entry of a statement, and its changes. The entry of a rows-query (the text of a statement
    before its rows) has no isDdl and no ddlSchemaName; an XA statement has its words in props
    (canal-protobuf#statements).
    """
    place = _place(event)
    stored: dict[str, Any] = {"eventType": flat.type, "sql": flat.sql}
    verb, _, xid = flat.sql.partition("XA ")[2].partition(" ")
    if flat.type.startswith("XA"):
        stored["props"] = [
            {"key": "XA_TYPE", "value": f"XA {verb}"},
            {"key": "XA_XID", "value": f" {xid}"},
        ]
    elif not (isinstance(event, SourceStatement) and event.family == "rows-query"):
        if flat.is_ddl or profile.query_is_ddl:
            stored["isDdl"] = flat.is_ddl
        stored["ddlSchemaName"] = event.database or None
    entry = {
        "header": _named_header(event, place, flat, profile),
        "entryType": "ROWDATA",
        "storeValue": stored,
    }
    changes_with_names = (
        replace(change, database=flat.database or None, table=flat.table or None)
        for change in changes
    )
    return _Entries(
        0, (entry,), tuple(_with_place(event, place, change) for change in changes_with_names), flat
    )


def _row_entries(
    event: RowChange, profile: CanalProtobufProfile, layout: Layout
) -> Iterator[_Entries]:
    """Yields, for each partition that gets rows of an INSERT, UPDATE or DELETE, their entries, with
    those of the transaction's begin and end; nothing for other operations, or if no image is
    logged.
    """
    if event.op not in (Op.INSERT, Op.UPDATE, Op.DELETE):
        return  # Canal takes no snapshots and has no row form of TRUNCATE
    source, event = event.table, rename_columns(event, profile)
    table, logged = event.table, log_rows(event, profile)
    if not logged:
        return
    key = key_columns(table, profile)
    newest = [image.before if event.op is Op.DELETE else image.after for image in logged]
    keys = tuple(name for name in newest[0] if name in key)
    flat = FlatMessage(event.op, table.database, table.name, keys=keys or None)
    texts = list(map(_texts_of_image, newest))
    place = _place(event).after(1)
    row_datas = [_row_data(table, image, event.op, key, profile) for image in logged]
    for partition, indices in place_rows(texts, flat, profile, layout.partitions).items():
        header = _named_header(event, place, flat, profile)
        header["props"] = [{"key": "rowsCount", "value": str(len(logged))}]
        partition_rows = [row_datas[index] for index in indices]
        groups = (
            [[row_data] for row_data in partition_rows] if profile.spreads else [partition_rows]
        )
        entries = [_row_entry(header, event, group) for group in groups]
        changes = [
            _with_place(event, place, _row_change(number, event.op, table, logged[i], key, profile))
            for number, i in enumerate(indices)
        ]
        if table is not source:
            changes = [restore_names(change, source, profile) for change in changes]
        if profile.marks and not profile.routes:
            begin, end = _marks(event, len(indices), profile)
            entries = [begin.entry, *entries, end.entry]
            changes += [begin.change, end.change]
        yield _Entries(partition, tuple(entries), tuple(changes), flat)


def _texts_of_image(image: Mapping[str, Any]) -> dict[str, str | None]:
    """The texts of an image's cells by column."""
    return {name: cell.text for name, cell in image.items()}


def _row_entry(
    header: dict[str, Any], event: RowChange, row_datas: list[dict[str, Any]]
) -> dict[str, Any]:
    """Canal's message Entry of type ROWDATA, as names and values: the header, and these rows of
    an event.
    """
    stored = {
        "tableId": zlib.crc32(event.table.name.encode()) % 1000,
        "eventType": str(event.op),
        "isDdl": False,
        "rowDatas": row_datas,
    }
    return {"header": header, "entryType": "ROWDATA", "storeValue": stored}


def _marks(event: RowChange, row_count: int, profile: CanalProtobufProfile) -> tuple[_Mark, _Mark]:
    """The begin and the end of the event's transaction. In the binlog the begin stands at the
    event's place, the rows one step behind it, the end two. The changes of both are numbered behind
    the rows; a decoder may also call them CONTROL, since no source names their kind.
    """
    first, last = _place(event), _place(event).after(2)
    begin = {
        "header": _header(event, first, profile),
        "entryType": "TRANSACTIONBEGIN",
        "storeValue": {"threadId": 27},
    }
    end = {
        "header": _header(event, last, profile),
        "entryType": "TRANSACTIONEND",
        "storeValue": {"transactionId": str(event.at.seq)},
    }
    first_change = Change(row_count, Kind.TRANSACTION, accept=((Kind.CONTROL, None),))
    last_change = replace(first_change, row=row_count + 1)
    return (
        _Mark(begin, _with_place(event, first, first_change)),
        _Mark(end, _with_place(event, last, last_change)),
    )


def _row_data(
    table: Table, row_image: RowImage, op: Op, key: frozenset[str], profile: CanalProtobufProfile
) -> dict[str, Any]:
    """The columns of a row before and after a change. `updated` marks a column after it whose value
    is new, in an INSERT every column. An INSERT has no columns before, a DELETE none after
    (canal-protobuf#columns).
    """
    before = _columns(table, row_image.before, key, profile) if op is not Op.INSERT else []
    after = _columns(table, row_image.after, key, profile) if op is not Op.DELETE else []
    for column in after:
        old = row_image.before.get(column["name"])
        column["updated"] = old is None or old.text != row_image.after[column["name"]].text
    return {"beforeColumns": before, "afterColumns": after}


def _columns(
    table: Table, image: Mapping[str, Any], key: frozenset[str], profile: CanalProtobufProfile
) -> list[dict[str, Any]]:
    """The documents of the columns that an image holds, in the table's order."""
    return [
        {
            "index": index,
            "sqlType": image[column.name].code,
            "name": column.name,
            "isKey": column.name in key,
            "updated": False,
            "isNull": image[column.name].text is None,
            "value": image[column.name].text,
            "mysqlType": column_type(column, profile),
        }
        for index, column in enumerate(table.columns)
        if column.name in image
    ]


def _row_change(
    number: int,
    op: Op,
    table: Table,
    row_image: RowImage,
    key: frozenset[str],
    profile: CanalProtobufProfile,
) -> Change:
    """The change expected for row `number` of a message: its images as the message has them. `key`
    are the columns of the table's key; the change's `keys` are those of them that the image before
    the change has, for an INSERT the image after it.
    """
    names = row_image.after if op is Op.INSERT else {**row_image.before, **row_image.after}
    keyed = row_image.after if op is Op.INSERT else row_image.before
    types = {c.name: column_type(c, profile) for c in table.columns if c.name in names}
    return Change(
        number,
        Kind.ROW,
        op,
        table.database,
        table=table.name,
        keys=tuple(c.name for c in table.columns if c.name in key and c.name in keyed) or None,
        before=None if op is Op.INSERT else _image(table, row_image.before),
        after=None if op is Op.DELETE else _image(table, row_image.after),
        types=types,
    )


def _image(table: Table, cells: Mapping[str, Any]) -> Any:
    """The expected cell of each column of a table, from an image as Canal writes it."""
    return table.image({name: cell.cell for name, cell in cells.items()})


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    container="protobuf",
    faults=FAULTS,
    cell_faults=lambda _profile: CELL_FAULTS,
    fits={"binary/shape": "a cell is a text, and each of its characters may be a byte"},
    unfit=unfit,
    losses=losses,
    oracle=remains_of_value,
    codec=Codec(read_packet, packet_bytes),
)
