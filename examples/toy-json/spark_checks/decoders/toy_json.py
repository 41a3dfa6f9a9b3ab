"""Toy CDC's JSON as native Spark expressions (Toy CDC, Message format).

One message is one row change. `row` is the row after it, of a delete the deleted one; `old` has the columns of an update that
changed, and level two completes it from `row`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, MapType, StringType, StructField, StructType

from generators.model import Column as ColumnOf
from generators.model import Deployment, Table
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.decoders.families.framing import literal, name
from spark_checks.decoders.families.mysql import typed

_TEXTS: Final = MapType(StringType(), StringType())
_ENVELOPE: Final = StructType(
    [
        StructField("op", StringType()),
        StructField("ts", LongType()),
        StructField("table", StringType()),
        StructField("row", _TEXTS),
        StructField("old", _TEXTS),
    ]
)


def _op(m: Column) -> Column:
    """INSERT, UPDATE or DELETE of a message that has what its operation needs; NULL makes it CORRUPT."""
    told = m["ts"].isNotNull() & m["table"].isNotNull() & m["row"].isNotNull()
    legal = m["op"].isin("insert", "delete") | ((m["op"] == "update") & m["old"].isNotNull())
    return F.when(told & legal, F.upper(m["op"]))


def _told(m: Column) -> dict[str, Column]:
    """The columns of the contract that the message tells, by name."""
    return {
        "table": m["table"],
        "commit_time": F.timestamp_millis(m["ts"]),
        "before": F.when(m["op"] == "update", m["old"]).when(m["op"] == "delete", m["row"]),
        "after": F.when(m["op"] != "delete", m["row"]),
    }


def _cell(c: ColumnOf, side: str) -> str:
    """SQL of a column's text in the image of that side; what `old` has not did not change."""
    key = literal(c.name)
    row = f"try_element_at(m.row, {key})"
    if side == "after":
        return row
    return f"CASE WHEN op = 'UPDATE' AND map_contains_key(m.old, {key}) THEN try_element_at(m.old, {key}) ELSE {row} END"


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
