"""The newest change of each key in a batch by its time; matched and an UPDATE, not matched and an
INSERT.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """A clause for each operation."""
    newest = Window.partitionBy("id").orderBy(F.desc("time"))
    numbered = changes.withColumn("place", F.row_number().over(newest))
    clauses = (
        f"WHEN MATCHED AND s.op = 'UPDATE' THEN {set_all(names)}"
        " WHEN MATCHED AND s.op = 'DELETE' THEN DELETE"
        f" WHEN NOT MATCHED AND s.op = 'INSERT' THEN {insert_all(names)}"
    )
    merge_into(target, numbered.where("place = 1").drop("place"), clauses)


start = start_with(merge)
