"""Debezium's envelope in Kafka Connect JSON, 1.4 to 3.7, as native Spark expressions (sources: the
pages debezium and connect).

One message is one row change (`op` c, u, d, r, t), a logical decoding message (m), or has no `op`:
a heartbeat, the mark of a transaction, a schema change. A tombstone, which follows a DELETE, has no
value. `d` has its row in `before`, with key columns and fallbacks only where the replica identity
is DEFAULT. `position` is `file:pos:row` of MySQL's binlog, PostgreSQL's LSN, SQL Server's
`commit_lsn:change_lsn:event_serial_no`, or Oracle's `commit_scn:scn:ssn`. Debezium's own readers
take `op` in either case.

A flattened message (debezium#flattened) is the row with `__op` and `__table` behind it; the old row
where it was deleted. The text null is no value: of such messages it is a delete, which a header
alone tells.
"""

from __future__ import annotations

import base64
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.connect import rows as _connect

_BLOCKS: Final = {
    "source": _framing.struct(
        "ts_ms:long db:string schema:string table:string file:string pos:long row:long lsn:long"
        " commit_lsn:string change_lsn:string event_serial_no:long commit_scn:string scn:string"
        " ssn:long"
    ),
    "message": _framing.struct("prefix:string"),
    "tableChanges": ArrayType(_framing.struct("id:string")),
}
"""What is read of the payload's members that are objects or lists."""
MEMBERS: Final = tuple(
    _framing.struct(
        "source ts_ms:long message status:string id:string databaseName:string schemaName:string"
        " ddl:string tableChanges __op:string __deleted:string __db:string __table:string"
        " __lsn:long __source_ts_ms:long",
        **_BLOCKS,
    )
)
"""The members of every kind of payload (the page debezium of the sources), beside the images and
`op`.
"""


def _kind(p: Column) -> Column:
    """The kind of a message with payload `p`: by `op`, or, since some messages have none, by which
    members the payload has; NULL for an unknown one, which is CORRUPT.
    """
    sourced = p["source"].isNotNull() | p["__table"].isNotNull()
    quiet = p["source"].isNull() & p["status"].isNull() & p["before"].isNull() & p["after"].isNull()
    return (
        F.when(p["op"].isNotNull() & sourced & DIALECT.has_row(p), "ROW")
        .when((p["op"] == "m") & sourced & p["message"].isNotNull(), "CONTROL")
        .when(p["op"].isNotNull(), None)
        .when(p["status"].isin("BEGIN", "END") & p["id"].isNotNull(), "TRANSACTION")
        .when(sourced & (p["ddl"].isNotNull() | p["tableChanges"].isNotNull()), "DDL")
        .when(quiet & p["ts_ms"].isNotNull(), "HEARTBEAT")
    )


def _database(p: Column) -> Column:
    """The name of the source's database, wherever the payload has it."""
    return F.coalesce(p["source"]["db"], p["databaseName"], p["__db"])


def _schema(p: Column) -> Column:
    """The name of the source's schema, wherever the payload has it."""
    return F.coalesce(p["source"]["schema"], p["schemaName"])


def _table(p: Column) -> Column:
    """The name of the table that a message is of: from its source block, else from the member
    `__table` that a flattened message may have, else, in a schema change, from the quoted name in
    its first table change.
    """
    changed = F.get(p["tableChanges"], F.lit(0))["id"]
    last = F.replace(F.regexp_extract(changed, r'"((?:[^"]|"")*)"\z', 1), F.lit('""'), F.lit('"'))
    return F.coalesce(F.nullif(p["source"]["table"], F.lit("")), p["__table"], last)


def _flattened(p: Column) -> Column:
    """The operation code of a flattened message (a row with added members, without an envelope);
    NULL for a message with an envelope.
    """
    return F.when(p["source"].isNull() & p["__table"].isNotNull(), p["__op"])


def _position(p: Column) -> Column:
    """The position of a row change in the source's log: binlog file, offset and row of MySQL, the
    LSN of PostgreSQL, of SQL Server the places of commit and change and the number of the change,
    of Oracle the numbers of commit and change and the place in the statement.
    """
    source = p["source"]
    binlog = F.concat_ws(":", source["file"], source["pos"], source["row"])
    capture = F.concat_ws(
        ":", source["commit_lsn"], source["change_lsn"], source["event_serial_no"]
    )
    has_commit = source["commit_lsn"].isNotNull()
    redo = F.concat_ws(":", source["commit_scn"], source["scn"], source["ssn"])
    return (
        F.when(source["file"].isNotNull(), binlog)
        .when(has_commit, capture)
        .when(source["commit_scn"].isNotNull(), redo)
        .when(source["scn"].isNotNull(), source["scn"])
        .otherwise(F.coalesce(source["lsn"], p["__lsn"]).cast("string"))
    )


_PLACEHOLDER: Final = "__debezium_unavailable_value"
_UNSENT: Final = (
    _PLACEHOLDER,
    base64.b64encode(_PLACEHOLDER.encode()).decode(),
    f'["{_PLACEHOLDER}"]',
    f'["{base64.b64encode(_PLACEHOLDER.encode()).decode()}"]',
    '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]',
    f'{{"{_PLACEHOLDER}":"{_PLACEHOLDER}"}}',
    f"[{','.join(map(str, _PLACEHOLDER.encode()))}]",
)
"""What stands for a TOASTed value that did not change, in texts, bytes, arrays and hstore
(debezium#unavailable-value).
"""

DIALECT: Final = _connect.ConnectDialect(
    kind=_kind,
    members=MEMBERS,
    ops={"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ", "t": "TRUNCATE"},
    database=_database,
    schema=_schema,
    table=_table,
    position=_position,
    commit_ms=lambda p: F.coalesce(p["source"]["ts_ms"], p["__source_ts_ms"]),
    sql=lambda p: p["ddl"],
    bare=_flattened,
    added=(
        *("__op", "__deleted", "__db", "__schema", "__table", "__lsn"),
        *("__source_ts_ms", "__ts_ms"),
    ),
    header="__db",
    unsent=_UNSENT,
)
BASELINE: Final = ENVELOPE
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
