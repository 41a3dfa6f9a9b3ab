"""Alibaba Canal's Protobuf: packets read in Arrow batches, then native Spark expressions.

A record's value is a Packet of type MESSAGES; each of its entries stores a message of its own (page
canal-protobuf of the sources). Spark's `from_protobuf` is not used: it needs spark-protobuf, which
is no part of pyspark, and a .proto file that says proto3 where Canal's class is proto2's. So this
module parses the bytes by the rules of the encoding, and reads the fields of Canal's messages by
their numbers. What a packet tells becomes a JSON text in the record's place, which Spark types.

Each row of a packet is a change, whatever entry it stands in; the begin and the end of a
transaction are numbered behind the rows. A column is NULL if its `isNull` is true; an empty text
has no bytes at all. `position` is the place of the entry in the binlog. A packet, an entry or an
event of an unknown type is CORRUPT.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators import model
from generators.model import Deployment, Table
from spark_checks.decoders import baselines
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import let, let_column


class _PacketField(enum.IntEnum):
    """Numbers of the fields of a Packet."""

    TYPE = 3
    COMPRESSION = 4
    BODY = 5


class _MessagesField(enum.IntEnum):
    """Numbers of the fields of a Messages, a packet's body."""

    MESSAGES = 2


class _EntryField(enum.IntEnum):
    """Numbers of the fields of an Entry."""

    HEADER = 1
    ENTRY_TYPE = 2
    STORE_VALUE = 3


class _HeaderField(enum.IntEnum):
    """Numbers of the fields of a Header."""

    LOGFILE_NAME = 2
    LOGFILE_OFFSET = 3
    EXECUTE_TIME = 6
    SCHEMA_NAME = 8
    TABLE_NAME = 9


class _RowChangeField(enum.IntEnum):
    """Numbers of the fields of a RowChange."""

    EVENT_TYPE = 2
    IS_DDL = 10
    SQL = 11
    ROW_DATAS = 12


class _RowDataField(enum.IntEnum):
    """Numbers of the fields of a RowData."""

    BEFORE_COLUMNS = 1
    AFTER_COLUMNS = 2


class _ColumnField(enum.IntEnum):
    """Numbers of the fields of a Column."""

    NAME = 3
    IS_KEY = 4
    IS_NULL = 6
    VALUE = 8
    MYSQL_TYPE = 10


class _TransactionField(enum.IntEnum):
    """Numbers of the fields that TransactionBegin and TransactionEnd share."""

    TRANSACTION_ID = 2


class _EntryType(enum.IntEnum):
    """What an entry stores."""

    TRANSACTION_BEGIN = 1
    ROW_DATA = 2
    TRANSACTION_END = 3
    HEARTBEAT = 4
    GTID_LOG = 5


_PACKET_OF_MESSAGES: Final = 7
"""The type of a packet that has entries."""
_UNCOMPRESSED: Final = (0, 1)
"""The field `compression` of a packet: not written, or NONE."""
_EVENT_TYPES: Final = {
    1: "INSERT",
    2: "UPDATE",
    3: "DELETE",
    4: "CREATE",
    5: "ALTER",
    6: "ERASE",
    7: "QUERY",
    8: "TRUNCATE",
    9: "RENAME",
    10: "CINDEX",
    11: "DINDEX",
    12: "GTID",
    13: "XACOMMIT",
    14: "XAROLLBACK",
    15: "MHEARTBEAT",
}
_DDL: Final = frozenset(["CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX"])
_ROWS: Final = frozenset(["INSERT", "UPDATE", "DELETE"])

_VARINT, _EIGHT_BYTES, _WITH_LENGTH, _FOUR_BYTES = 0, 1, 2, 5
"""Wire types of Protocol Buffers."""
_FIXED_SIZES: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
"""The bytes of a field with a fixed size, by its wire type."""
_FIELD_NUMBERS_END: Final = 1 << 29
"""The first number that is too large for a field."""
_VARINT_BITS: Final = 70
"""Bits in the ten bytes of the longest varint."""


class _UnreadableError(ValueError):
    """Bytes that are no message of Canal's."""


class _Varint(NamedTuple):
    """An unsigned number of 64 bits, and where it ends."""

    number: int
    end: int


def _read_varint(data: bytes, start: int) -> _Varint:
    """The varint at a place of the bytes. Raises _UnreadableError."""
    number, place = 0, start
    for shift in range(0, _VARINT_BITS, 7):
        if place >= len(data):
            raise _UnreadableError("a number that does not end")
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return _Varint(number & 0xFFFF_FFFF_FFFF_FFFF, place)
    raise _UnreadableError("a number of more than ten bytes")


class _Message:
    """A Protobuf message: the values of each field number, in the order of the bytes. A field that
    is not repeated has the last of its values.
    """

    def __init__(self, data: bytes) -> None:
        """Parses the message. Raises _UnreadableError."""
        self._values: dict[int, list[int | bytes]] = {}
        place = 0
        while place < len(data):
            tag, place = _read_varint(data, place)
            field, wire_type = tag >> 3, tag & 7
            if not 0 < field < _FIELD_NUMBERS_END:
                raise _UnreadableError("a number that no field has")
            value: int | bytes
            if wire_type == _VARINT:
                value, place = _read_varint(data, place)
            else:
                if wire_type == _WITH_LENGTH:
                    size, place = _read_varint(data, place)
                elif wire_type in _FIXED_SIZES:
                    size = _FIXED_SIZES[wire_type]
                else:
                    raise _UnreadableError("an unknown wire type")
                if size > len(data) - place:
                    raise _UnreadableError("a field that does not end")
                value, place = data[place : place + size], place + size
            self._values.setdefault(field, []).append(value)

    def number(self, field: int) -> int:
        """A signed number; 0 if the message lacks the field. Raises _UnreadableError."""
        value = self._values.get(field, [0])[-1]
        if not isinstance(value, int):
            raise _UnreadableError("bytes in the place of a number")
        return value - (1 << 64) if value >> 63 else value

    def repeated(self, field: int) -> list[bytes]:
        """The bytes of each value of a repeated field. Raises _UnreadableError."""
        values: list[bytes] = []
        for value in self._values.get(field, []):
            if isinstance(value, int):
                raise _UnreadableError("a number in the place of bytes")
            values.append(value)
        return values

    def content(self, field: int) -> bytes:
        """The bytes of a field; none if the message lacks it. Raises _UnreadableError."""
        values = self.repeated(field)
        return values[-1] if values else b""

    def decode_text(self, field: int) -> str:
        """A text; empty if the message lacks the field. Raises ValueError for bytes that are no
        UTF-8.
        """
        return self.content(field).decode()


def _packet_changes(value: bytes) -> list[dict[str, Any]]:
    """What a packet tells, an object for each change: rows and statements in their order, then the
    begin and the end of transactions. These are last, since level two has rows alone, numbered from
    0, and marks before them would move the numbers. Raises ValueError.
    """
    packet = _Message(value)
    if packet.number(_PacketField.TYPE) != _PACKET_OF_MESSAGES:
        raise _UnreadableError("a packet without entries")
    if packet.number(_PacketField.COMPRESSION) not in _UNCOMPRESSED:
        raise _UnreadableError("a compressed packet")
    row_changes: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    body = _Message(packet.content(_PacketField.BODY))
    for data in body.repeated(_MessagesField.MESSAGES):
        entry = _Message(data)
        entry_type = entry.number(_EntryField.ENTRY_TYPE)
        is_mark = entry_type in (_EntryType.TRANSACTION_BEGIN, _EntryType.TRANSACTION_END)
        (marks if is_mark else row_changes).extend(_entry_changes(entry, entry_type))
    if not row_changes and not marks:
        raise _UnreadableError("a packet without entries")
    return row_changes + marks


def _entry_changes(entry: _Message, entry_type: int) -> Iterator[dict[str, Any]]:
    """The changes that an Entry of Canal carries, as members for the level-one rows: those of its
    rows, or the one of a transaction's mark, a heartbeat or a GTID. Raises ValueError.
    """
    header = _Message(entry.content(_EntryField.HEADER))
    file = header.decode_text(_HeaderField.LOGFILE_NAME)
    offset = header.number(_HeaderField.LOGFILE_OFFSET)
    envelope = {
        "database": header.decode_text(_HeaderField.SCHEMA_NAME) or None,
        "table": header.decode_text(_HeaderField.TABLE_NAME) or None,
        "position": f"{file}:{offset}",
        "ms": header.number(_HeaderField.EXECUTE_TIME),
    }
    stored = _Message(entry.content(_EntryField.STORE_VALUE))
    match entry_type:
        case _EntryType.ROW_DATA:
            yield from _row_change_changes(stored, envelope)
        case _EntryType.TRANSACTION_BEGIN | _EntryType.TRANSACTION_END:
            stored.decode_text(_TransactionField.TRANSACTION_ID)  # which must be a text
            yield {**envelope, "kind": "TRANSACTION"}
        case _EntryType.HEARTBEAT:
            yield {**envelope, "kind": "HEARTBEAT"}
        case _EntryType.GTID_LOG:
            yield {**envelope, "kind": "CONTROL"}
        case _:
            raise _UnreadableError("an entry of an unknown type")


def _row_change_changes(stored: _Message, envelope: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a RowChange tells: its statement, or each of its rows. Raises ValueError."""
    event = _EVENT_TYPES.get(stored.number(_RowChangeField.EVENT_TYPE), "")
    is_ddl = stored.number(_RowChangeField.IS_DDL) != 0
    sql = stored.decode_text(_RowChangeField.SQL) or None
    row_datas = stored.repeated(_RowChangeField.ROW_DATAS)
    is_statement_of_rows = event in _ROWS and sql is not None and not row_datas and not is_ddl
    if event in _DDL or (event == "QUERY" and (is_ddl or envelope["database"])):
        yield {**envelope, "kind": "DDL", "sql": sql}
    elif event == "QUERY" or is_statement_of_rows:
        yield {**envelope, "kind": "CONTROL", "sql": sql}
    elif event in ("XACOMMIT", "XAROLLBACK"):
        yield {**envelope, "kind": "TRANSACTION", "sql": sql}
    elif event in _ROWS and row_datas and not is_ddl:
        for data in row_datas:
            yield {**envelope, "kind": "ROW", "op": event, **_row_columns(_Message(data), event)}
    else:
        raise _UnreadableError("an event of an unknown type, or of no row")


class _ColumnOfRow(NamedTuple):
    """A column of an image; `cell_text` is None for NULL."""

    name: str
    cell_text: str | None
    mysql_type: str
    is_key: bool


def _read_column(data: bytes) -> _ColumnOfRow:
    """A column of a row from the bytes of Canal's message Column. Raises ValueError."""
    column = _Message(data)
    cell_text = column.decode_text(_ColumnField.VALUE)
    is_null = column.number(_ColumnField.IS_NULL) != 0
    return _ColumnOfRow(
        name=column.decode_text(_ColumnField.NAME),
        cell_text=None if is_null else cell_text,
        mysql_type=column.decode_text(_ColumnField.MYSQL_TYPE),
        is_key=column.number(_ColumnField.IS_KEY) != 0,
    )


def _row_columns(row_data: _Message, event: str) -> dict[str, Any]:
    """The images of a row, the columns of its key, and the types of all columns. Raises
    ValueError.
    """
    before = [_read_column(data) for data in row_data.repeated(_RowDataField.BEFORE_COLUMNS)]
    after = [_read_column(data) for data in row_data.repeated(_RowDataField.AFTER_COLUMNS)]
    keyed_columns = after if event == "INSERT" else before
    return {
        "before": None if event == "INSERT" else {c.name: c.cell_text for c in before},
        "after": None if event == "DELETE" else {c.name: c.cell_text for c in after},
        "keys": [c.name for c in keyed_columns if c.is_key] or None,
        "types": {c.name: c.mysql_type for c in (*before, *after)},
    }


def packet_json(value: bytes | None) -> bytes | None:
    """The changes in a Canal packet as JSON, an object with the list `changes`; None for bytes that
    are no packet of entries.
    """
    if value is None:
        return None
    try:
        changes = _packet_changes(value)
    except ValueError:
        return None
    return json.dumps({"changes": changes}).encode()


def packets_as_json(records: DataFrame) -> DataFrame:
    """The records with the packet in each value turned into the JSON that `packet_json` makes; NULL
    for an unreadable packet.
    """

    def convert_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The Arrow batches with the packets in the column `value` as JSON text."""
        for batch in batches:
            place = batch.schema.get_field_index("value")
            field = batch.schema.field(place).with_nullable(True)
            texts = [packet_json(value.as_py()) for value in batch.column(place)]
            yield batch.set_column(place, field, pa.array(texts, field.type))

    return records.mapInArrow(convert_batches, records.schema)


def _json_schema(image: DataType) -> StructType:
    """The Spark type of a packet as JSON: an object with the list `changes`. `image` is the type as
    which the images `before` and `after` of a change are parsed.
    """
    texts = ("kind", "op", "database", "table", "position", "sql")
    change = StructType(
        [
            *(StructField(member, StringType()) for member in texts),
            StructField("ms", LongType()),
            StructField("keys", ArrayType(StringType())),
            StructField("types", MapType(StringType(), StringType())),
            StructField("before", image),
            StructField("after", image),
        ]
    )
    return StructType([StructField("changes", ArrayType(change))])


def _read_changes(image: DataType) -> Column:
    """The changes of a record that `packets_as_json` made; NULL for an unreadable one."""
    document = F.from_json(F.col("value").cast("string"), _json_schema(image), framing.OPTIONS)
    return document["changes"]


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: a row for each change in the records' packets; CORRUPT for an unreadable
    packet.
    """

    def change_struct(change: Column, ordinal: Column) -> Column:
        """The columns of level one of a change at a place of its packet."""
        names = ("op", "database", "table", "keys", "position", "before", "after", "types", "sql")
        columns = {name: change[name] for name in names}
        commit_time = framing.instant(change["ms"])
        return F.struct(
            *framing.change(change["kind"], row=ordinal, commit_time=commit_time, **columns)
        )

    changes = _read_changes(MapType(StringType(), StringType()))
    corrupt = F.array(F.struct(*framing.change(F.lit("CORRUPT"))))
    array = F.coalesce(F.transform(changes, change_struct), corrupt)
    return framing.changes(packets_as_json(records), array, deployment)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table`, and CORRUPT rows."""
    zone = deployment.time_zone if deployment else "UTC"
    image = StructType([StructField(column.name, StringType()) for column in table.columns])

    def value(column: model.Column, image_sql: str) -> str:
        """SQL of a column's typed value in an image."""
        return mysql_typed(framing.cell(column, image_sql), column.type, zone)

    def row_struct(change: Column, ordinal: Column) -> Column:
        """The operation and the images of a row of the table at a place of its packet; NULL for
        another change.
        """
        is_of_table = (
            (change["kind"] == "ROW")
            & (change["database"] == table.database)
            & (change["table"] == table.name)
        )
        return F.when(
            is_of_table,
            F.struct(
                change["op"].alias("op"),
                ordinal.alias("row"),
                change["before"].alias("before"),
                change["after"].alias("after"),
            ),
        )

    def part_of_changes(changes: Column) -> Column:
        """The struct `part`: whether a record is unreadable, and the rows of the table in it."""
        row_structs = F.filter(F.transform(changes, row_struct), F.isnotnull)
        return F.struct(changes.isNull().alias("corrupt"), row_structs.alias("rows"))

    part = let_column(_read_changes(image), part_of_changes)
    texts = "flatten(transform(part.rows, r -> array(r.before, r.after)))"
    images = framing.images(table, framing.cell, value, texts)
    return framing.typed_rows(
        packets_as_json(records), part, let(images, "typed", _RESULT), deployment
    )


_TABLE_ROW: Final = framing.row_struct("r.row", "ROW", "r.op", ("2 * i", "2 * i + 1"))
"""SQL of the row of level two (typed rows) for `r`, row number `i` of `part.rows`."""
_RESULT: Final = (
    f"CASE WHEN part.corrupt THEN {framing.corrupt(framing.UNREADABLE)} WHEN exists(typed, image ->"
    f" image.unfit) THEN {framing.corrupt(framing.MISFIT)} ELSE transform(part.rows, (r, i) ->"
    f" {_TABLE_ROW}) END"
)
"""SQL of the array of a record's rows of level two (typed rows), over `part` and `typed`, the typed
images of its rows.
"""


class ProtobufBaseline:
    """The baseline: packets parsed as the decoder does it, every change taken for a row of the
    table, cells by `try_cast`.
    """

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline's level one: the envelope of every change, and its images as maps of
        texts.
        """
        change = F.col("change")
        return baselines.level_one(
            _each_change(records, MapType(StringType(), StringType())),
            change["kind"],
            row=F.col("row"),
            op=change["op"],
            database=change["database"],
            table=change["table"],
            keys=change["keys"],
            position=change["position"],
            commit_time=F.timestamp_millis(change["ms"]),
            before=change["before"],
            after=change["after"],
            types=change["types"],
            sql=change["sql"],
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline's level two: typed before and after structs of every row change, of
        whichever table, as if of the requested one; of an unreadable record a row of NULLs.
        """
        image = StructType([StructField(column.name, StringType()) for column in table.columns])
        change = F.col("change")
        before = baselines.cast_columns(table, lambda column: change["before"][column])
        after = baselines.cast_columns(table, lambda column: change["after"][column])
        changes = _each_change(records, image).where("change.kind = 'ROW' OR change IS NULL")
        return baselines.level_two(
            changes, change["kind"], change["op"], before, after, F.col("row")
        )


def _each_change(records: DataFrame, image: DataType) -> DataFrame:
    """A row for each change, with its number in `row`; one with NULL for an unreadable record."""
    changes = packets_as_json(records).select(
        *framing.COORDINATES, _read_changes(image).alias("changes")
    )
    return changes.select(
        *framing.COORDINATES, F.posexplode_outer("changes").alias("row", "change")
    )


BASELINE: Final = ProtobufBaseline()
