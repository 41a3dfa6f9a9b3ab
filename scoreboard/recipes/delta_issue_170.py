"""Sorted by time, one change of each key by dropDuplicates, which keeps any; what is not matched is
inserted, a deletion as well, whose new row is NULL.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges one change of each key in a batch, which dropDuplicates chooses."""
    latest = changes.sort(F.desc("time")).dropDuplicates(["key"])
    clauses = (
        f"WHEN MATCHED AND s.deleted THEN DELETE WHEN MATCHED THEN {set_all(names)}"
        f" WHEN NOT MATCHED THEN {insert_all(names)}"
    )
    merge_into(target, latest.select("key", "deleted", "after.*"), clauses)


start = start_with(merge)
