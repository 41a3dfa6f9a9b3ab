"""The changes of the newest time of each key; the upserts of a batch first, then its deletes."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges the changes of a batch whose time is the newest of their key: first all inserts and
    updates, then all deletes.
    """
    newest = Window.partitionBy("key").orderBy(F.desc("time"))
    latest = changes.withColumn("rank", F.rank().over(newest)).where("rank = 1")
    upserts = f"WHEN MATCHED THEN {set_all(names)} WHEN NOT MATCHED THEN {insert_all(names)}"
    merge_into(target, latest.where("NOT deleted").select("key", "after.*"), upserts)
    merge_into(target, latest.where("deleted").select("key"), "WHEN MATCHED THEN DELETE")


start = start_with(merge)
