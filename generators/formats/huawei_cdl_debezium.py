"""Huawei MRS CDL's variant of Debezium JSON, message_version 2.0: schema and payload as
JsonConverter writes them.

Source: the page huawei of the sources. The envelope is that of Debezium 1.4's PostgreSQL connector
less `transaction` and `source.xmin`, with fields of CDL's own behind it, and with struct names that
Debezium's readers do not know (huawei#after-struct, huawei#envelope-name). One message is one row
change; there are no tombstones, DDL or heartbeat messages.

Not written: the source drs-opengauss-json, openGauss read by DRS and handed to CDL through a Kafka
(huawei#drs-source). The vendor says that it has both versions, but not its DATA_STORE or connector,
its lsn, txId and values, nor what its heartbeats are.

The payload of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    "payload":{"before":null,"after":{"id":1,"note":"old"},"source":{"version":"1.4.0.Final",
    "connector":"opengauss","name":"cdl","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "schema":null,"table":"notes","txId":999988107,"lsn":99999990000000007},"op":"c",
    "ts_ms":1700000043910,"message_version":"2.0","message_type":"0","LOB_COLUMNS":null,
    "unique":{"id":1}}

    "payload":{"before":{"id":1,"note":"old"},"after":{"id":1,"note":"new"},
    "source":{"version":"1.4.0.Final","connector":"opengauss","name":"cdl","ts_ms":1700000000000,
    "snapshot":"false","db":"shop","schema":null,"table":"notes","txId":999988107,
    "lsn":99999990000000007},"op":"u","ts_ms":1700000043910,"message_version":"2.0",
    "message_type":"0","LOB_COLUMNS":null,"unique":{"id":1}}

    "payload":{"before":{"id":1,"note":"new"},"after":null,"source":{"version":"1.4.0.Final",
    "connector":"opengauss","name":"cdl","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "schema":null,"table":"notes","txId":999988107,"lsn":99999990000000007},"op":"d",
    "ts_ms":1700000043910,"message_version":"2.0","message_type":"0","LOB_COLUMNS":null,
    "unique":{"id":1}}
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from generators.families.cdl import messages as _cdl
from generators.families.cdl.messages import CdlProfile, Event, Member
from generators.families.cdl.scenarios import format_of
from generators.families.connect import Schema, fields
from generators.model import History, Layout, Written

__all__ = ["FORMAT", "write"]

_NAME: Final = "huawei-cdl-debezium"
_OPS: Final = {"INSERT": "c", "READ": "c", "UPDATE": "u", "DELETE": "d"}
"""The member `op` by the event's operation; a row of a snapshot (READ) is a create, `c`."""


_SNAPSHOT: Final = Schema(
    "string",
    True,
    "io.debezium.data.Enum",
    1,
    parameters=(("allowed", "true,last,false"),),
    default='"false"',
)
_SOURCE: Final = Schema(
    "struct",
    name="io.debezium.connector.postgresql.Source",
    fields=fields(
        "version:string connector:string name:string ts_ms:int64 snapshot db:string schema:string"
        " table:string txId:int64? lsn:int64?",
        snapshot=_SNAPSHOT,
    ),
)


def write(history: History, profile: CdlProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes in order, one for each row, each with its
    expectation.
    """
    return _cdl.write(history, profile, layout, _value)


def _value(event: Event) -> Mapping[str, Any]:
    """The JSON value of a row change: the schema and payload of Debezium's envelope, with CDL's
    fields behind it.
    """
    table, struct = event.table, partial(Schema, "struct", True)
    source = {
        "version": "1.4.0.Final",
        "connector": event.facts.store,
        "name": "cdl",
        "ts_ms": event.at.ms,
        "snapshot": event.snapshot,
        "db": table.database,
        "schema": table.schema,
        "table": table.name,
        "txId": event.transaction,
        "lsn": event.lsn,
    }
    members: list[Member] = [
        ("before", struct("before", fields=event.before_fields()), event.before),
        ("after", struct("data", fields=event.fields()), event.after),
        ("source", _SOURCE, source),
        ("op", Schema("string"), _OPS[event.op]),
        ("ts_ms", Schema("int64"), event.sent_ms),
        ("message_version", Schema("string"), event.facts.release),
        ("message_type", Schema("string"), "0"),
        ("LOB_COLUMNS", Schema("string", True), event.large),
        ("unique", struct("unique", fields=event.key_fields()), event.key),
    ]
    if event.facts.heartbeat:
        members.append(("HEARTBEAT_IDENTIFIER", Schema("string", True), event.heartbeat))
    return _cdl.document(event, members)


FORMAT: Final = format_of(_NAME, write)
