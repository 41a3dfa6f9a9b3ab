"""One schema for the whole message, and its fields by their names."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

CAPABILITIES = {"kinds": ["ROW"]}
MESSAGE = """
    database string, `table` string, type string, ts bigint, position string,
    primary_key_columns array<string>, data map<string,string>, old map<string,string>
"""
OPS = {"insert": "INSERT", "update": "UPDATE", "delete": "DELETE", "bootstrap-insert": "READ"}


def decode(records: DataFrame) -> DataFrame:
    options = {"mode": "PERMISSIVE"}
    parsed = records.select(
        *("topic", "partition", "offset"),
        F.from_json(F.decode("value", "UTF-8"), MESSAGE, options).alias("m"),
    )
    ops = F.create_map(*(F.lit(word) for pair in OPS.items() for word in pair))
    return parsed.selectExpr("topic", "partition", "offset", "m.*").select(
        *("topic", "partition", "offset", "database", "table", "position"),
        F.lit(0).alias("row"),
        F.lit("ROW").alias("kind"),
        ops[F.col("type")].alias("op"),
        F.col("primary_key_columns").alias("keys"),
        F.col("ts").cast("timestamp").alias("commit_time"),
        F.expr("CASE type WHEN 'update' THEN old WHEN 'delete' THEN data END").alias("before"),
        F.expr("CASE WHEN type <> 'delete' THEN data END").alias("after"),
        F.expr("CAST(NULL AS string)").alias("sql"),
        F.expr("CAST(NULL AS string)").alias("error"),
    )
