"""A clause for each operation, over the changes of a batch as they are."""

from __future__ import annotations

from pyspark.sql import DataFrame

from scoreboard.recipes.changes import insert_all, merge_into, set_all, start_with


def merge(changes: DataFrame, target: str, names: list[str]) -> None:
    """Merges every change of a batch, by a clause for each operation."""
    clauses = (
        f"WHEN MATCHED AND s.op = 'UPDATE' THEN {set_all(names)}"
        " WHEN MATCHED AND s.op = 'DELETE' THEN DELETE"
        f" WHEN NOT MATCHED AND s.op = 'INSERT' THEN {insert_all(names)}"
    )
    merge_into(target, changes.select("key", "op", "after.*"), clauses)


start = start_with(merge)
