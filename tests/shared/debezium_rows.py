"""Profiles, tables and messages of Debezium that its tests share."""

from __future__ import annotations

import json
from typing import Any

from generators.formats.debezium_json import FORMAT, DebeziumProfile, write
from generators.model import Column, Event, History, Layout, RowChange, Table, Value, Written
from generators.sources import boundaries, mysql, postgresql

PLAIN = {p.name: p for p in FORMAT.profiles}
NEW, BARE = PLAIN["3.5.0.Final"], PLAIN["3.5.0.Final+schemaless"]
MIDDLE = PLAIN["2.5.4.Final+plain-key+transaction+nulls-kept"]
OLD = PLAIN["1.4.0.Final+legacy-tombstone+string+connect+base64"]
PG = PLAIN["3.5.0.Final+postgresql"]
PG_FULL = PLAIN[
    "3.5.0.Final+postgresql+full+schemaless+transaction+string+connect+base64+interval-string"
]
PG_OLD = PLAIN["1.4.0.Final+postgresql"]
CUSTOMERS = Table(
    "inventory",
    "customers",
    (
        Column("id", mysql.integer("int"), False),
        Column("name", mysql.text("varchar", 255), False),
        Column("n", mysql.real("double")),
    ),
    ("id",),
)
PG_CUSTOMERS = Table(
    "shop",
    "customers",
    (
        Column("id", postgresql.integer("integer"), False),
        Column("name", postgresql.text("varchar", 255), False),
        Column("note", postgresql.text("text")),
    ),
    ("id",),
    schema="inventory",
)
ROW: dict[str, Value] = {"id": 1004, "name": "Anne", "n": 0.5}


def written(p: DebeziumProfile, *events: Event, partitions: int = 3) -> list[Written]:
    return write(History(events), p, Layout("dbserver1", partitions))


def inserted(p: DebeziumProfile) -> RowChange:
    return (
        boundaries.insert(CUSTOMERS, ROW)
        if p.is_mysql
        else boundaries.insert(PG_CUSTOMERS, {"id": 1, "name": "a"})
    )


def payload(record: Written) -> dict[str, Any]:
    assert record.message.value is not None
    body = json.loads(record.message.value)
    inner = body["payload"] if list(body) == ["schema", "payload"] else body
    assert isinstance(inner, dict)
    return inner
