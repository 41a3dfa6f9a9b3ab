"""The throughput baseline: what one writes first, `from_json` into structs of strings and `try_cast`, without a check or a quirk.

It is the yardstick of every Canal-JSON decoder (DESIGN 9), so it does nothing that costs: every message is taken for a row
change of the table, nothing malformed is noticed, an absent column is NULL, times are in the session's zone.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table

_COORDINATES = ("topic", "partition", "offset")


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed before and after structs of every row of every message."""
    row = ", ".join(f"{_name(c.name)}: string" for c in table.columns)
    schema = f"type string, database string, table string, data array<struct<{row}>>, old array<struct<{row}>>"
    parsed = records.select(*_COORDINATES, F.from_json(F.col("value").cast("string"), schema).alias("m"))
    rows = parsed.select(*_COORDINATES, "m", F.posexplode_outer("m.data").alias("row", "now"))

    def typed(image: Column) -> Column:
        return F.struct(*(image[c.name].try_cast(c.type.spark).alias(c.name) for c in table.columns))

    return rows.select(
        *_COORDINATES,
        "row",
        F.lit("ROW").alias("kind"),
        F.col("m.type").alias("op"),
        typed(F.get(F.col("m.old"), F.col("row"))).alias("before"),
        typed(F.col("now")).alias("after"),
        F.lit(None).cast("string").alias("error"),
    )


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Images as maps, and the envelope, of every row of every message."""
    schema = (
        "type string, database string, table string, es bigint, pkNames array<string>, sql string, "
        "mysqlType map<string, string>, data array<map<string, string>>, old array<map<string, string>>"
    )
    parsed = records.select(*_COORDINATES, F.from_json(F.col("value").cast("string"), schema).alias("m"))
    rows = parsed.select(*_COORDINATES, "m", F.posexplode_outer("m.data").alias("row", "now"))
    none = F.lit(None).cast("string")
    return rows.select(
        *_COORDINATES,
        "row",
        F.lit("ROW").alias("kind"),
        F.col("m.type").alias("op"),
        F.col("m.database").alias("database"),
        none.alias("schema"),
        F.col("m.table").alias("table"),
        F.col("m.pkNames").alias("keys"),
        none.alias("position"),
        F.timestamp_millis("m.es").alias("commit_time"),
        F.get(F.col("m.old"), F.col("row")).alias("before"),
        F.col("now").alias("after"),
        F.col("m.mysqlType").alias("types"),
        none.alias("schema_version"),
        F.col("m.sql").alias("sql"),
        none.alias("error"),
    )
