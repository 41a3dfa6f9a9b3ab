"""Sample's JSON as native Spark expressions. To write: what one message is, read in the document and not in the writer.

As laid out, it takes every message for CORRUPT: right for none of the format's messages, and safe.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from generators.model import Column as ColumnOf
from generators.model import Deployment, Table
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.decoders.families.framing import name
from spark_checks.decoders.families.mysql import typed

_ENVELOPE: Final = StructType([])
"""To write: the members that are read, with their types; texts for values."""


def _op(m: Column) -> Column:
    """INSERT, UPDATE or DELETE of a message that has what its operation needs; NULL makes it CORRUPT. To write."""
    return F.lit(None).cast("string")


def _told(m: Column) -> dict[str, Column]:
    """The columns of the contract (docs/writing-a-decoder.md) that the message tells, by name. To write."""
    return {}


def _cell(c: ColumnOf, side: str) -> str:
    """SQL of a column's text in the image of that side, `before` or `after`, out of `m`. To write."""
    return "CAST(NULL AS string)"


_COLUMNS: Final = {
    "database": "string",
    "schema": "string",
    "table": "string",
    "keys": "array<string>",
    "position": "string",
    "commit_time": "timestamp",
    "before": "map<string, string>",
    "after": "map<string, string>",
    "types": "map<string, string>",
    "schema_version": "string",
    "sql": "string",
}


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Changes of messages (DESIGN 3.3)."""
    kind, told = F.col("kind"), _told(F.col("m"))
    columns = (F.when(kind == "ROW", told.get(key, F.lit(None))).cast(sql).alias(key) for key, sql in _COLUMNS.items())
    row = F.lit(0).alias("row")
    return _messages(records, deployment).select(*COORDINATES, row, "kind", "op", *columns, _framing.error(kind).alias("error"))


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table` (DESIGN 3.4)."""
    kind, op = F.col("kind"), F.col("op")
    mine = _told(F.col("m")).get("table", F.lit(None)) == table.name
    sides = {"before": "('UPDATE', 'DELETE')", "after": "('INSERT', 'UPDATE')"}
    texts = (
        f"CASE WHEN op IN {ops} THEN struct({', '.join(f'{_cell(c, side)} AS {name(c.name)}' for c in table.columns)}) END"
        for side, ops in sides.items()
    )
    images = _framing.images(table, lambda c, i: f"{i}.{name(c.name)}", lambda c, i: typed(f"{i}.{name(c.name)}", c.type))
    return _framing.rows(
        _messages(records, deployment)
        .select(*COORDINATES, "m", F.when(kind == "CORRUPT", kind).when(mine, op).alias("op"))
        .select(*COORDINATES, "op", F.expr(f"array({', '.join(texts)})").alias("images"))
        .select(*COORDINATES, "op", images.alias("typed"))
    )


def _messages(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    """Coordinates, `m`, `kind` and `op` of every message."""
    op = F.when(F.col("whole"), _op(F.col("m")))
    found = _framing.messages(records, _ENVELOPE, deployment).select(*COORDINATES, "m", op.alias("op"))
    return found.withColumn("kind", F.when(F.col("op").isNotNull(), "ROW").otherwise("CORRUPT"))
