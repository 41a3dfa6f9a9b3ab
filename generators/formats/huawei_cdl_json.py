"""Huawei MRS CDL's own JSON, message_version 1.0: schema and payload as Kafka Connect's
JsonConverter writes them.

Source: the page huawei of the sources. One message is one row change of a PostgreSQL table; there
are no DDL, transaction or tombstone messages, and heartbeats are ordinary rows of a table of CDL's
own. The bytes name the schema and the table but not the database.

Not written: the source drs-opengauss-json, openGauss read by DRS and handed to CDL through a Kafka
(huawei#drs-source). The vendor says that it has both versions, but not its DATA_STORE or connector,
its lsn, txId and values, nor what its heartbeats are.

The payload of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    "payload":{"DATA_STORE":"OPENGAUSS","SEG_OWNER":null,"TABLE_NAME":"notes",
    "TIMESTAMP":1700000000000,"OPERATION":"INSERT","LOB_COLUMNS":null,
    "transaction":{"properties":[{"name":"lsn","value":99999990000000007},{"name":"txId",
    "value":999988107}]},"unique":{"id":1},"data":{"id":1,"note":"old"},"before":null,
    "message_version":"1.0","message_type":"0",
    "HEARTBEAT_IDENTIFIER":"b86ffbed-5c7d-4444-b911-6b6627672c37"}

    "payload":{"DATA_STORE":"OPENGAUSS","SEG_OWNER":null,"TABLE_NAME":"notes",
    "TIMESTAMP":1700000000000,"OPERATION":"UPDATE","LOB_COLUMNS":null,
    "transaction":{"properties":[{"name":"lsn","value":99999990000000007},{"name":"txId",
    "value":999988107}]},"unique":{"id":1},"data":{"id":1,"note":"new"},"before":{"id":1,
    "note":"old"},"message_version":"1.0","message_type":"0",
    "HEARTBEAT_IDENTIFIER":"b86ffbed-5c7d-4444-b911-6b6627672c37"}

    "payload":{"DATA_STORE":"OPENGAUSS","SEG_OWNER":null,"TABLE_NAME":"notes",
    "TIMESTAMP":1700000000000,"OPERATION":"DELETE","LOB_COLUMNS":null,
    "transaction":{"properties":[{"name":"lsn","value":99999990000000007},{"name":"txId",
    "value":999988107}]},"unique":{"id":1},"data":null,"before":{"id":1,"note":"new"},
    "message_version":"1.0","message_type":"0",
    "HEARTBEAT_IDENTIFIER":"b86ffbed-5c7d-4444-b911-6b6627672c37"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from generators.families.cdl import messages as _cdl
from generators.families.cdl.messages import CONNECT, CdlProfile, Event, Member
from generators.families.cdl.scenarios import format_of
from generators.families.connect import Schema, fields
from generators.model import History, Layout, Written

__all__ = ["FORMAT", "write"]

_NAME: Final = "huawei-cdl-json"
_OPS: Final = {"INSERT": "INSERT", "READ": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE"}
"""The member OPERATION by the event's operation; a row of a snapshot (READ) is an INSERT."""


_PROPERTY: Final = Schema("struct", fields=fields("name:string value:int64"))
"""The schema of a property of the transaction: its name and its number."""
_TRANSACTION: Final = Schema(
    "struct", name="transaction", fields=(("properties", Schema("array", items=_PROPERTY)),)
)


def write(history: History, profile: CdlProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes in order, one for each row, each with the change that
    a decoder must return for it. That change has no database, as the bytes do not name it.
    """
    written = _cdl.write(history, profile, layout, _value)
    return [
        replace(written_row, changes=tuple(replace(c, database=None) for c in written_row.changes))
        for written_row in written
    ]


def _value(event: Event) -> Mapping[str, Any]:
    """The JSON value of a row change: schema and payload of CDL's own members, in which DATA_STORE,
    SEG_OWNER and TABLE_NAME say where the row is from. `unique` is the row's key, LOB_COLUMNS the
    names of large columns. The transaction's properties are those that the profile names, `lsn` and
    `txId`.
    """
    table, string_schema, struct = event.table, Schema("string"), partial(Schema, "struct", True)
    numbers = {"lsn": event.lsn, "txId": event.transaction}
    properties = [{"name": name, "value": numbers[name]} for name in event.facts.properties]
    members: list[Member] = [
        ("DATA_STORE", string_schema, event.facts.store.upper()),
        ("SEG_OWNER", string_schema, table.schema),
        ("TABLE_NAME", string_schema, table.name),
        ("TIMESTAMP", Schema("int64", name=f"{CONNECT}.Timestamp", version=1), event.at.ms),
        ("OPERATION", string_schema, _OPS[event.op]),
        ("LOB_COLUMNS", Schema("string", True), event.large),
        ("transaction", _TRANSACTION, {"properties": properties}),
        ("unique", struct("unique", fields=event.key_fields()), event.key),
        ("data", struct("data", fields=event.fields()), event.after),
        ("before", struct("before", fields=event.before_fields()), event.before),
        ("message_version", string_schema, event.facts.release),
        ("message_type", string_schema, "0"),
        ("HEARTBEAT_IDENTIFIER", Schema("string", True), event.heartbeat),
    ]
    return _cdl.document(event, members)


FORMAT: Final = format_of(_NAME, write)
