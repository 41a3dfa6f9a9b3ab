"""TiCDC's Debezium in Confluent's framing (sources: the pages ticdc-debezium-avro and
ticdc-debezium).

The registry's schemas tell a column's semantic type in `connect.name`, as those of Confluent's
converter do; a DECIMAL is Avro's logical type, a binary is bytes. A payload with `op` c, u or d is
a row, one of op m a watermark, one with ddl and no op a statement. `position` is `source.commit_ts`.
No tombstone follows a DELETE. Level one has columns under the names of the schema, level two under
those of `connect.field`, which are the table's. The address of the registry is in the environment
(`families.confluent`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.families.confluent import Behind
from spark_checks.decoders.families.connect.rows import ConnectDialect
from spark_checks.decoders.families.framing import struct

_SOURCE: Final = struct("ts_ms:long db:string table:string commit_ts:long")


def _kind(p: Column) -> Column:
    """The kind of a payload with a commit timestamp, by its `op`, or, without one, by its
    statement; NULL for any other, which is CORRUPT.
    """
    of_op = F.when(p["op"] == "m", "WATERMARK").when(DIALECT.has_row(p), "ROW")
    of_statement = F.when(p["op"].isNull() & p["ddl"].isNotNull(), "DDL")
    return F.when(p["source"]["commit_ts"].isNotNull(), F.coalesce(of_op, of_statement))


DIALECT: Final = ConnectDialect(
    kind=_kind,
    members=tuple(struct("source ddl:string", source=_SOURCE)),
    ops={"c": "INSERT", "u": "UPDATE", "d": "DELETE"},
    database=lambda p: p["source"]["db"],
    table=lambda p: p["source"]["table"],
    position=lambda p: p["source"]["commit_ts"].cast("string"),
    commit_ms=lambda p: p["source"]["ts_ms"],
    sql=lambda p: p["ddl"],
)
_DECODER: Final = Behind(DIALECT, source_names=True)
decode, decode_rows = _DECODER.decode, _DECODER.decode_rows
BASELINE: Final = Behind(replace(ENVELOPE, schema=""), source_names=True)
