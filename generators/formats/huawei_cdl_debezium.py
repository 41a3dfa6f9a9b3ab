"""Huawei MRS CDL's variant of Debezium JSON, message_version 2.0: schema and payload as JsonConverter writes them.

Source: the page huawei of the sources. The envelope is that of Debezium 1.4's PostgreSQL connector less `transaction` and
`source.xmin`, with fields of CDL's own behind it, and with struct names that Debezium's readers do not know (huawei#after-struct,
huawei#envelope-name). One message is one row change; there are no tombstones, DDL or heartbeat messages.

Not written: the source drs-opengauss-json, openGauss read by DRS and handed to CDL through a Kafka (huawei#drs-source). The
vendor says that it has both versions, but not its DATA_STORE or connector, its lsn, txId and values, nor what its heartbeats are.
"""

from __future__ import annotations

from typing import Final

from generators.families.cdl import messages as _cdl
from generators.families.cdl.messages import CdlProfile, Event
from generators.families.cdl.scenarios import cell_faults, scenarios
from generators.families.connect import Schema, envelope
from generators.model import History, Layout, Written
from generators.wire_format import Format, KindRow

__all__ = ["FORMAT", "PROFILES", "write"]

_NAME: Final = "huawei-cdl-debezium"
_OPS: Final = {"INSERT": "c", "READ": "c", "UPDATE": "u", "DELETE": "d"}

BASE: Final = CdlProfile("2.0", source="postgresql", assumed=_cdl.ASSUMED, heartbeat=False)
CHOICES: Final = _cdl.choices(BASE, _NAME, "heartbeat-identifier")
PROFILES: Final = _cdl.options_of(
    ((), ("default-identity",), ("other-package", "heartbeat-identifier"), ("opengauss",)), BASE, CHOICES
)

_SNAPSHOT: Final = Schema(
    "string", True, "io.debezium.data.Enum", 1, parameters=(("allowed", "true,last,false"),), default='"false"'
)
_SOURCE: Final = Schema(
    "struct",
    name="io.debezium.connector.postgresql.Source",
    fields=(
        ("version", Schema("string")),
        ("connector", Schema("string")),
        ("name", Schema("string")),
        ("ts_ms", Schema("int64")),
        ("snapshot", _SNAPSHOT),
        ("db", Schema("string")),
        ("schema", Schema("string")),
        ("table", Schema("string")),
        ("txId", Schema("int64", True)),
        ("lsn", Schema("int64", True)),
    ),
)
_HEARTBEAT: Final = (("HEARTBEAT_IDENTIFIER", Schema("string", True)),)


def write(history: History, profile: CdlProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one a row, in order."""
    return _cdl.write(history, profile, layout, _value)


def _value(event: Event) -> str:
    table, fields, text = event.table, event.fields(), Schema("string")
    schema = Schema(
        "struct",
        name=f"{table.schema}.{table.name}",
        fields=(
            ("before", Schema("struct", True, "before", fields=event.before_fields())),
            ("after", Schema("struct", True, "data", fields=fields)),
            ("source", _SOURCE),
            ("op", text),
            ("ts_ms", Schema("int64")),
            ("message_version", text),
            ("message_type", text),
            ("LOB_COLUMNS", Schema("string", True)),
            ("unique", Schema("struct", True, "unique", fields=event.key_fields())),
            *(_HEARTBEAT if event.facts.heartbeat else ()),
        ),
    )
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
    payload = {
        "before": event.before,
        "after": event.after,
        "source": source,
        "op": _OPS[event.op],
        "ts_ms": event.sent_ms,
        "message_version": event.facts.release,
        "message_type": "0",
        "LOB_COLUMNS": event.large,
        "unique": event.key,
        "HEARTBEAT_IDENTIFIER": event.heartbeat,
    }
    return envelope(schema, payload)


KINDS: Final = (
    KindRow("op c", "ROW", "INSERT", "snapshot rows too (source.snapshot true or last): op r is not listed"),
    KindRow("op u", "ROW", "UPDATE", "before null under REPLICA IDENTITY DEFAULT"),
    KindRow("op d", "ROW", "DELETE", "the row stands in before"),
)

FORMAT: Final = Format(
    name=_NAME,
    title="Huawei MRS CDL Debezium JSON, message_version 2.0",
    source="postgresql",
    profiles=PROFILES,
    choices=CHOICES,
    build=lambda _release, *options: _cdl.profile(BASE, CHOICES, *options),
    write=write,
    kinds=KINDS,
    position="`source.lsn`, as decimal text",
    scenarios=scenarios,
    supports=_cdl.supports,
    losses=_cdl.losses,
    cell_faults=cell_faults,
)
