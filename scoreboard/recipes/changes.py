"""What the recipes of a MERGE share: the changes of a batch, the target table, clauses in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from scoreboard.recipes.contract import Call, Start, decode_changes, start_by
from spark_checks.decoders import debezium_json

Merge = Callable[[DataFrame, str, list[str]], None]


def start_with(merge: Merge, table_format: Literal["delta", "iceberg"] = "delta") -> Start:
    """What `pipeline` calls of a recipe: it keeps a table of one key column, `id`, by a MERGE of
    each batch's changes.
    """

    def keep_table(call: Call) -> StreamingQuery:
        """Makes the target table unless it is there, and starts the query that merges the changes
        of each batch into it.
        """
        names = [column.name for column in call.table.columns]
        columns = ", ".join(f"`{c.name}` {c.type.spark}" for c in call.table.columns)
        call.spark.sql(f"CREATE TABLE IF NOT EXISTS {call.target} ({columns}) USING {table_format}")

        def upsert(batch: DataFrame, _number: int) -> None:
            merge(changes_of(batch, call), call.target, names)

        sink = call.records.writeStream.foreachBatch(upsert)
        return sink.option("checkpointLocation", call.checkpoint).start()

    return start_by(keep_table)


def changes_of(batch: DataFrame, call: Call) -> DataFrame:
    """A line a change: op, deleted, time (the source's milliseconds, `source.ts_ms`), offset, key,
    and the row `before` and `after`, one of which is NULL for an INSERT and a DELETE.
    """
    orders = ["unix_millis(commit_time) AS time"]
    return decode_changes(batch, call, debezium_json, orders).selectExpr(
        *("op", "op = 'DELETE' AS deleted", "time", "offset"),
        *("coalesce(after.id, before.id) AS key", "before", "after"),
    )


def merge_into(target: str, changes: DataFrame, clauses: str) -> None:
    """MERGE by the key."""
    changes.createOrReplaceTempView("changes_to_merge")
    changes.sparkSession.sql(
        f"MERGE INTO {target} t USING changes_to_merge s ON s.key = t.id {clauses}"
    )


def set_all(names: list[str]) -> str:
    """UPDATE SET of all columns."""
    return "UPDATE SET " + ", ".join(f"t.`{name}` = s.`{name}`" for name in names)


def insert_all(names: list[str]) -> str:
    """INSERT of all columns."""
    listed = ", ".join(f"`{name}`" for name in names)
    # Names of our own table: SQL has no parameter for a name.
    return f"INSERT ({listed}) VALUES ({', '.join(f's.`{name}`' for name in names)})"  # noqa: S608
