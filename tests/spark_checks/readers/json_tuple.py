"""All members at once by json_tuple, which gives texts."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

CAPABILITIES = {"kinds": ["ROW"]}
MEMBERS = ("type", "database", "table", "ts", "position", "primary_key_columns", "data", "old")


def decode(records: DataFrame) -> DataFrame:
    messages = records.select(
        *("topic", "partition", "offset"),
        F.json_tuple(F.col("value").cast("string"), *MEMBERS).alias(*MEMBERS),
    )
    images = "map<string,string>"
    return messages.withColumns(
        {
            "row": F.lit(0),
            "kind": F.lit("ROW"),
            "op": F.when(F.col("type") == "bootstrap-insert", "READ").otherwise(F.upper("type")),
            "keys": F.from_json("primary_key_columns", "array<string>"),
            "commit_time": F.timestamp_seconds(F.col("ts").cast("long")),
            "before": F.when(F.col("type") == "update", F.from_json("old", images)).when(
                F.col("type") == "delete", F.from_json("data", images)
            ),
            "after": F.when(F.col("type") != "delete", F.from_json("data", images)),
            "sql": F.lit(None).cast("string"),
            "error": F.lit(None).cast("string"),
        }
    ).drop("type", "ts", "primary_key_columns", "data", "old")
