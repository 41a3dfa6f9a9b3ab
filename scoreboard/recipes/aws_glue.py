"""The changes of the newest time of each key, all of them if several have it; what is not matched
is inserted, a deletion as well, with the row as it was: so AWS DMS writes one.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges the changes of a batch whose time is the newest of their key; the row of a deletion
    that matches nothing is inserted.
    """
    newest = changes.withColumn("newest", F.max("time").over(Window.partitionBy("key")))
    rows = newest.where("time = newest").selectExpr(
        "key", "deleted", "IF(deleted, before, after) AS image"
    )
    clauses = (
        f"WHEN MATCHED AND s.deleted THEN DELETE WHEN MATCHED THEN {set_all(names)}"
        f" WHEN NOT MATCHED THEN {insert_all(names)}"
    )
    merge_into(target, rows.select("key", "deleted", "image.*"), clauses)


start = start_with(merge, table_format="iceberg")
