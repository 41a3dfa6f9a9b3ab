"""The envelope of TiCDC's Debezium messages: the block `source`, operations, and what a statement's
message tells of its table.

Facts: ticdc-debezium#ddl-kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from generators.families.ticdc import text
from generators.families.ticdc.sink import SinkProfile
from generators.model import Event, Op, SchemaChange, Table

CLUSTER: Final = "default"
"""The name of TiCDC's cluster, with which the names of schemas begin."""


@dataclass(frozen=True, slots=True)
class DebeziumSinkProfile(SinkProfile):
    """A TiCDC release and the options of its Debezium protocol that both encodings have."""

    extension: bool = False
    """The schema of a column has its TiDB type; in JSON, watermarks of op `m` are written, too."""
    before: bool = True
    """An UPDATE has its before image."""


OPS: Final = {Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d"}
"""The member `op` by the operation."""
ACTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("create database", "create table", "create tables", "create view"), "CREATE"),
    **dict.fromkeys(
        ("drop database", "drop table", "drop index", "drop view", "truncate table"), "DROP"
    ),
    **dict.fromkeys(
        ("add column", "drop column", "modify column", "change column", "multi schema change"),
        "ALTER",
    ),
    **dict.fromkeys(
        ("add partition", "drop partition", "truncate partition", "reorganize partition"), "ALTER"
    ),
    **dict.fromkeys(
        ("alter partitioning", "remove partitioning", "exchange partition", "rebase auto id"),
        "ALTER",
    ),
    **dict.fromkeys(
        ("set default", "table comment", "table charset", "alter database", "create index"), "ALTER"
    ),
    **dict.fromkeys(
        ("index visibility", "rename index", "rename table", "add primary key", "drop primary key"),
        "ALTER",
    ),
}
"""The type of a table's change by the action of the statement (ticdc-debezium#ddl-kinds)."""


def source_block(event: Event, database: str, table: str) -> Mapping[str, Any]:
    """The block `source` of a message: the database, the table and the commit time; what a binlog
    would tell is empty or 0.
    """
    block: dict[str, Any] = {
        "version": "2.4.0.Final",
        "connector": "TiCDC",
        "name": CLUSTER,
        "ts_ms": event.at.ms,
    }
    block |= {
        "snapshot": "false",
        "db": database,
        "table": table,
        "server_id": 0,
        "gtid": None,
        "file": "",
        "pos": 0,
        "row": 0,
    }
    return block | {"thread": 0, "query": None, "commit_ts": event.at.tso, "cluster_id": CLUSTER}


def table_changes(event: SchemaChange) -> list[dict[str, Any]]:
    """The list `tableChanges` of a statement: the kind, the name and the description of the table
    that it changed; empty for one on a database, and for TRUNCATE (ticdc-debezium#ddl-kinds).
    """
    changed: list[dict[str, Any]] = []
    if event.table and event.action != "truncate table":
        name = ".".join(f'"{part}"' for part in (event.database, event.table))
        renamed = f'"{event.database}"."{event.old_name}",{name}' if event.old_name else name
        shape = None if event.action == "drop table" else describe_table(event.after)
        changed.append({"type": ACTIONS[event.action], "id": renamed, "table": shape})
    return changed


def keys_of_changes(changed: list[dict[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """The columns of the keys that a list `tableChanges` names, a tuple for each table described
    there.
    """
    return tuple(tuple(change["table"][_KEY_COLUMNS]) for change in changed if change["table"])


_KEY_COLUMNS: Final = "primaryKeyColumnNames"
"""The member of a table's description in `tableChanges` that names the key's columns."""


def describe_table(table: Table | None) -> dict[str, Any]:
    """The description of a table in `tableChanges`: its columns and its key, both empty for
    None.
    """
    columns = [
        {"name": c.name, "jdbcType": text.sql_type(c.type, None), "typeName": c.type.name.upper()}
        | {"position": i, "optional": c.nullable}
        for i, c in enumerate(table.columns if table else (), 1)
    ]
    keys = list(table.primary_key) if table else []
    return {
        "defaultCharsetName": "utf8mb4",
        _KEY_COLUMNS: keys,
        "columns": columns,
        "comment": None,
    }
