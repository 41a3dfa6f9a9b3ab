"""Huawei MRS CDL's own JSON, message_version 1.0: schema and payload as Kafka Connect's JsonConverter writes them.

Source: the page huawei of the sources. One message is one row change of a PostgreSQL table; there are no DDL,
transaction or tombstone messages, and heartbeats are ordinary rows of a table of CDL's own. The bytes name the schema and the
table but not the database.

Not written: the source drs-opengauss-json, openGauss read by DRS and handed to CDL through a Kafka (huawei#drs-source). The
vendor says that it has both versions, but not its DATA_STORE or connector, its lsn, txId and values, nor what its heartbeats are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from generators.families.cdl import messages as _cdl
from generators.families.cdl.messages import CONNECT, CdlProfile, Event
from generators.families.cdl.scenarios import cell_faults, scenarios
from generators.families.connect import Schema, envelope
from generators.model import History, Layout, Written
from generators.wire_format import Format, KindRow

__all__ = ["FORMAT", "PROFILES", "write"]

_NAME: Final = "huawei-cdl-json"
_OPS: Final = {"INSERT": "INSERT", "READ": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE"}

BASE: Final = CdlProfile("1.0", source="postgresql", assumed=_cdl.ASSUMED)
CHOICES: Final = _cdl.choices(BASE, _NAME, "txid-first")
PROFILES: Final = _cdl.options_of(((), ("default-identity",), ("other-package", "txid-first"), ("opengauss",)), BASE, CHOICES)

_PROPERTY: Final = Schema("struct", fields=(("name", Schema("string")), ("value", Schema("int64"))))
_TRANSACTION: Final = Schema("struct", name="transaction", fields=(("properties", Schema("array", items=_PROPERTY)),))


def write(history: History, profile: CdlProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one a row, in order."""
    found = _cdl.write(history, profile, layout, _value)
    return [replace(one, changes=tuple(replace(c, database=None) for c in one.changes)) for one in found]


def _value(event: Event) -> str:
    table, fields = event.table, event.fields()
    text, schema_name = Schema("string"), f"{table.schema}.{table.name}"
    schema = Schema(
        "struct",
        name=schema_name,
        fields=(
            ("DATA_STORE", text),
            ("SEG_OWNER", text),
            ("TABLE_NAME", text),
            ("TIMESTAMP", Schema("int64", name=f"{CONNECT}.Timestamp", version=1)),
            ("OPERATION", text),
            ("LOB_COLUMNS", Schema("string", True)),
            ("transaction", _TRANSACTION),
            ("unique", Schema("struct", True, "unique", fields=event.key_fields())),
            ("data", Schema("struct", True, "data", fields=fields)),
            ("before", Schema("struct", True, "before", fields=event.before_fields())),
            ("message_version", text),
            ("message_type", text),
            ("HEARTBEAT_IDENTIFIER", Schema("string", True)),
        ),
    )
    numbers = {"lsn": event.lsn, "txId": event.transaction}
    properties = [{"name": name, "value": numbers[name]} for name in event.facts.properties]
    payload = {
        "DATA_STORE": event.facts.store.upper(),
        "SEG_OWNER": table.schema,
        "TABLE_NAME": table.name,
        "TIMESTAMP": event.at.ms,
        "OPERATION": _OPS[event.op],
        "LOB_COLUMNS": event.large,
        "transaction": {"properties": properties},
        "unique": event.key,
        "data": event.after,
        "before": event.before,
        "message_version": event.facts.release,
        "message_type": "0",
        "HEARTBEAT_IDENTIFIER": event.heartbeat,
    }
    return envelope(schema, payload)


KINDS: Final = (
    KindRow("OPERATION INSERT", "ROW", "INSERT", "snapshot rows too, and rows of CDL's heartbeat table"),
    KindRow("OPERATION UPDATE", "ROW", "UPDATE", "before null under REPLICA IDENTITY DEFAULT"),
    KindRow("OPERATION DELETE", "ROW", "DELETE", "the row stands in before, data is null (assumed)"),
)

FORMAT: Final = Format(
    name=_NAME,
    title="Huawei MRS CDL JSON, message_version 1.0",
    source="postgresql",
    profiles=PROFILES,
    choices=CHOICES,
    build=lambda _release, *options: _cdl.profile(BASE, CHOICES, *options),
    write=write,
    kinds=KINDS,
    position="`transaction.properties` entry named lsn, as decimal text",
    scenarios=scenarios,
    supports=_cdl.supports,
    losses=_cdl.losses,
    cell_faults=cell_faults,
)
