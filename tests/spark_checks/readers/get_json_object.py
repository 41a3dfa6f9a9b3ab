"""Every member by its JSON path; images as a map."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

CAPABILITIES = {"kinds": ["ROW"]}


def decode(records: DataFrame) -> DataFrame:
    text = records.withColumn("json", F.col("value").cast("string"))

    def member(name: str) -> Column:
        return F.get_json_object("json", f"$.{name}")

    def names_and_values(name: str) -> Column:
        return F.from_json(member(name), "map<string,string>")

    kind = member("type")
    return text.select(
        *("topic", "partition", "offset"),
        F.lit(0).alias("row"),
        F.lit("ROW").alias("kind"),
        F.when(kind == "bootstrap-insert", "READ").otherwise(F.upper(kind)).alias("op"),
        member("database").alias("database"),
        member("table").alias("table"),
        F.from_json(member("primary_key_columns"), "array<string>").alias("keys"),
        member("position").alias("position"),
        F.timestamp_seconds(member("ts").cast("bigint")).alias("commit_time"),
        F.when(kind == "update", names_and_values("old"))
        .when(kind == "delete", names_and_values("data"))
        .alias("before"),
        F.when(kind != "delete", names_and_values("data")).alias("after"),
        F.lit(None).cast("string").alias("sql"),
        F.lit(None).cast("string").alias("error"),
    )
