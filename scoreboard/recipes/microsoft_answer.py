"""The newest change of each key in a batch by its time, then by its offset; matched and an UPDATE,
not matched and an INSERT.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges the newest change of each key in a batch, by a clause for each operation."""
    newest = Window.partitionBy("key").orderBy(F.desc("time"), F.desc("offset"))
    latest = changes.withColumn("number_of_key", F.row_number().over(newest))
    clauses = (
        f"WHEN MATCHED AND s.op = 'UPDATE' THEN {set_all(names)}"
        " WHEN MATCHED AND s.op = 'DELETE' THEN DELETE"
        f" WHEN NOT MATCHED AND s.op = 'INSERT' THEN {insert_all(names)}"
    )
    merge_into(target, latest.where("number_of_key = 1").select("key", "op", "after.*"), clauses)


start = start_with(merge)
