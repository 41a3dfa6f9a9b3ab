"""The messages of EntryProtocol.proto and CanalProtocol.proto that a topic has
(canal-protobuf#packet, canal-protobuf#entry), and a record's value as a document and back.

The document has the messages inside bytes as objects: `body` of a packet, `messages` of the body,
and `storeValue` of an entry, which its `entryType` tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from generators.families.protobuf import (
    NotProtobuf,
    ProtoField,
    ProtoReader,
    Scalar,
    encode,
)
from generators.garbage.wellformed import NULL, READABLE, Remains, State

PACKET_TYPES: Final = {"HANDSHAKE": 1, "ACK": 3, "MESSAGES": 7, "HEARTBEAT": 11}
"""The numbers of a packet's types, by name."""
COMPRESSIONS: Final = {"NONE": 1, "ZLIB": 2, "GZIP": 3, "LZF": 4}
"""The numbers of a packet's compressions, by name."""
ENTRY_TYPES: Final = {
    "TRANSACTIONBEGIN": 1,
    "ROWDATA": 2,
    "TRANSACTIONEND": 3,
    "HEARTBEAT": 4,
    "GTIDLOG": 5,
}
"""The numbers of an entry's types, by name."""
EVENT_TYPES: Final = {
    "INSERT": 1,
    "UPDATE": 2,
    "DELETE": 3,
    "CREATE": 4,
    "ALTER": 5,
    "ERASE": 6,
    "QUERY": 7,
    "TRUNCATE": 8,
    "RENAME": 9,
    "CINDEX": 10,
    "DINDEX": 11,
    "GTID": 12,
    "XACOMMIT": 13,
    "XAROLLBACK": 14,
    "MHEARTBEAT": 15,
}
"""The numbers of the types of a change or a statement, by name."""
SOURCE_TYPES: Final = {"ORACLE": 1, "MYSQL": 2, "PGSQL": 3}
"""The numbers of the kinds of sources, by name."""

_TEXT: Final = Scalar.TEXT
_PROPS: Final = ProtoField("props", message="Pair", repeated=True)
_EVENT_TYPE: Final = ProtoField("eventType", names=EVENT_TYPES)

_PACKET: Final = {
    "Packet": {
        1: ProtoField("magic_number", presence=True),
        2: ProtoField("version", presence=True),
        3: ProtoField("type", names=PACKET_TYPES),
        4: ProtoField("compression", presence=True, names=COMPRESSIONS),
        5: ProtoField("body", Scalar.BYTES),
    },
    "Messages": {
        1: ProtoField("batch_id"),
        2: ProtoField("messages", Scalar.BYTES, repeated=True),
    },
}
"""The messages of CanalProtocol.proto, whose class is proto3's."""

_ENTRY: Final = {
    "Entry": {
        1: ProtoField("header", message="Header"),
        2: ProtoField("entryType", names=ENTRY_TYPES),
        3: ProtoField("storeValue", Scalar.BYTES),
    },
    "Header": {
        1: ProtoField("version"),
        2: ProtoField("logfileName", _TEXT),
        3: ProtoField("logfileOffset"),
        4: ProtoField("serverId"),
        5: ProtoField("serverenCode", _TEXT),
        6: ProtoField("executeTime"),
        7: ProtoField("sourceType", names=SOURCE_TYPES),
        8: ProtoField("schemaName", _TEXT),
        9: ProtoField("tableName", _TEXT),
        10: ProtoField("eventLength"),
        11: _EVENT_TYPE,
        12: _PROPS,
        13: ProtoField("gtid", _TEXT),
    },
    "Column": {
        1: ProtoField("index"),
        2: ProtoField("sqlType"),
        3: ProtoField("name", _TEXT),
        4: ProtoField("isKey", Scalar.BOOL),
        5: ProtoField("updated", Scalar.BOOL),
        6: ProtoField("isNull", Scalar.BOOL),
        7: _PROPS,
        8: ProtoField("value", _TEXT),
        9: ProtoField("length"),
        10: ProtoField("mysqlType", _TEXT),
    },
    "RowData": {
        1: ProtoField("beforeColumns", message="Column", repeated=True),
        2: ProtoField("afterColumns", message="Column", repeated=True),
        3: _PROPS,
    },
    "RowChange": {
        1: ProtoField("tableId"),
        2: _EVENT_TYPE,
        10: ProtoField("isDdl", Scalar.BOOL),
        11: ProtoField("sql", _TEXT),
        12: ProtoField("rowDatas", message="RowData", repeated=True),
        13: _PROPS,
        14: ProtoField("ddlSchemaName", _TEXT),
    },
    "TransactionBegin": {
        1: ProtoField("executeTime"),
        2: ProtoField("transactionId", _TEXT),
        3: _PROPS,
        4: ProtoField("threadId"),
    },
    "TransactionEnd": {
        1: ProtoField("executeTime"),
        2: ProtoField("transactionId", _TEXT),
        3: _PROPS,
    },
    "Pair": {1: ProtoField("key", _TEXT), 2: ProtoField("value", _TEXT)},
}
"""The messages of EntryProtocol.proto."""


def _with_presence(fields: Mapping[int, ProtoField]) -> dict[int, ProtoField]:
    """The fields as a class of proto2 writes them: each that was set, its default value, too."""
    return {number: replace(proto_field, presence=True) for number, proto_field in fields.items()}


SCHEMA: Final = {
    **_PACKET,
    **{name: _with_presence(fields) for name, fields in _ENTRY.items()},
}
"""Every message: EntryProtocol.proto says proto3, but Canal's class of it is proto2's
(canal-protobuf#presence).
"""

_STORED: Final = {
    "TRANSACTIONBEGIN": "TransactionBegin",
    "ROWDATA": "RowChange",
    "TRANSACTIONEND": "TransactionEnd",
    "GTIDLOG": "Pair",
}
"""The message in an entry's storeValue, by the entry's type."""


def packet_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a Packet, which is a record's value, from its document of names and values."""
    body = document.get("body")
    if isinstance(body, Mapping):
        body = _body_bytes(body)
    return encode(SCHEMA, "Packet", {**document, "body": body})


def _body_bytes(body: Mapping[str, Any]) -> bytes:
    """The bytes of the message Messages (a packet's body) from its document of names and values,
    whose entries may be bytes already.
    """
    entries = [
        entry if isinstance(entry, bytes) else entry_bytes(entry)
        for entry in body.get("messages", ())
    ]
    return encode(SCHEMA, "Messages", {**body, "messages": entries})


def entry_bytes(entry: Mapping[str, Any]) -> bytes:
    """The bytes of an entry from its document of names and values."""
    return encode(SCHEMA, "Entry", {**entry, "storeValue": stored_bytes(entry)})


def stored_bytes(entry: Mapping[str, Any]) -> bytes | None:
    """The bytes of the message in an entry's storeValue, None if the document has none there. Of an
    entry without a type they are those of a RowChange, since ROWDATA is the default of Canal's
    class.
    """
    stored = entry.get("storeValue")
    if isinstance(stored, Mapping):
        return encode(SCHEMA, _STORED[entry.get("entryType", "ROWDATA")], stored)
    return stored


def read_packet(value: bytes, reader: ProtoReader | None = None) -> dict[str, Any]:
    """The document of a record's value. Raises NotProtobuf for what is no packet of entries; the
    content of an entry of an unknown type, or of none, stays bytes.
    """
    reader = reader or ProtoReader(SCHEMA)
    document = reader.read("Packet", value)
    if document.get("type") != "MESSAGES" or document.get("compression", "NONE") not in ("NONE", 0):
        raise NotProtobuf("no-such-message")
    body = reader.read("Messages", document.get("body", b""))
    body["messages"] = [_read_entry(entry, reader) for entry in body.get("messages", ())]
    return {**document, "body": body}


def _read_entry(data: bytes, reader: ProtoReader) -> dict[str, Any]:
    """Canal's message Entry as names and values, with the message that it stores parsed by the
    entry's type. Raises NotProtobuf.
    """
    entry = reader.read("Entry", data)
    stored = _STORED.get(entry.get("entryType", ""))
    if stored:
        entry["storeValue"] = reader.read(stored, entry.get("storeValue", b""))
    return entry


def remains_of_value(value: bytes | None) -> Remains:
    """What a reader that knows all of Canal's messages can read of a record's value: all, nothing,
    or what is in doubt.
    """
    if value is None:
        return NULL
    if not value:
        return Remains(State.UNREADABLE, "empty")
    reader = ProtoReader(SCHEMA)
    try:
        document = read_packet(value, reader)
    except NotProtobuf as error:
        doubtful = error.reason == "no-such-message"
        return Remains(State.DOUBTFUL if doubtful else State.UNREADABLE, error.reason)
    entries = document["body"]["messages"]
    if not entries or not all(map(_is_sent, entries)):
        return Remains(State.DOUBTFUL, "no-such-message")
    return Remains(State.DOUBTFUL, reader.doubtful_tags[0]) if reader.doubtful_tags else READABLE


def _is_sent(entry: Mapping[str, Any]) -> bool:
    """Whether Canal sends an entry like this one: it is of a known type, and one of type ROWDATA
    has rows, of an INSERT, UPDATE or DELETE, or the text of a statement.
    """
    if entry.get("entryType") != "ROWDATA":
        return entry.get("entryType") in _STORED
    stored = entry["storeValue"]
    kind, is_ddl = stored.get("eventType"), bool(stored.get("isDdl"))
    if kind in ("INSERT", "UPDATE", "DELETE"):
        return not is_ddl and bool(stored.get("rowDatas") or stored.get("sql"))
    return kind in EVENT_TYPES and bool(stored.get("sql"))
