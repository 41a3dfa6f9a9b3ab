"""The newest change of each key in a batch by its time, merged whatever the row holds; deleted rows
are removed.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges the newest change of each key in a batch: the largest by time, then by the new row's
    values, then by whether it is a deletion.
    """
    newest = F.max(F.struct("time", F.col("after").alias("new_value"), "deleted")).alias("newest")
    latest = changes.groupBy("key").agg(newest)
    latest = latest.select("key", "newest.deleted", "newest.new_value.*")
    clauses = (
        f"WHEN MATCHED AND s.deleted THEN DELETE WHEN MATCHED THEN {set_all(names)}"
        f" WHEN NOT MATCHED AND NOT s.deleted THEN {insert_all(names)}"
    )
    merge_into(target, latest, clauses)


start = start_with(merge)
