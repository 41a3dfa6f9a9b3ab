"""What the recipes of a MERGE share: the changes of a batch, the target table, clauses in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from scoreboard.recipes.contract import Call, Start, decode_changes, start_by
from spark_checks.decoders import debezium_json

Merge = Callable[[DataFrame, str, list[str]], None]
"""A recipe's merge: the changes of a batch, the name of the target table, and the names of its
columns.
"""


def start_with(merge: Merge, table_format: Literal["delta", "iceberg"] = "delta") -> Start:
    """The `start` that `pipeline` calls of a recipe that keeps a table with one key column, `id`,
    by merging the changes of each batch.
    """

    def keep_table(call: Call) -> StreamingQuery:
        """Makes the target table unless it is there, and starts the query that merges the changes
        of each batch into it.
        """
        names = [column.name for column in call.table.columns]
        columns = ", ".join(f"`{c.name}` {c.type.spark}" for c in call.table.columns)
        call.spark.sql(f"CREATE TABLE IF NOT EXISTS {call.target} ({columns}) USING {table_format}")

        def upsert(batch: DataFrame, _number: int) -> None:
            """Merges the changes of one batch."""
            merge(changes_of(batch, call), call.target, names)

        sink = call.records.writeStream.foreachBatch(upsert)
        return sink.option("checkpointLocation", call.checkpoint).start()

    return start_by(keep_table)


def changes_of(batch: DataFrame, call: Call) -> DataFrame:
    """The decoded changes of a batch, a row for each: op, deleted, time (the source's milliseconds,
    `source.ts_ms`), offset, key, and the rows `before` and `after`, of which an INSERT lacks the
    first and a DELETE the second.
    """
    orders = ["unix_millis(commit_time) AS time"]
    return decode_changes(batch, call, debezium_json, orders).selectExpr(
        *("op", "op = 'DELETE' AS deleted", "time", "offset"),
        *("coalesce(after.id, before.id) AS key", "before", "after"),
    )


def merge_into(target: str, changes: DataFrame, clauses: str) -> None:
    """Runs a MERGE of changes into the target table by the key, with these WHEN clauses; they call
    the table t and the changes s.
    """
    changes.createOrReplaceTempView("changes_to_merge")
    changes.sparkSession.sql(
        f"MERGE INTO {target} t USING changes_to_merge s ON s.key = t.id {clauses}"
    )


def set_all(names: list[str]) -> str:
    """The UPDATE SET of a MERGE's clause that sets all columns."""
    return "UPDATE SET " + ", ".join(f"t.`{name}` = s.`{name}`" for name in names)


def insert_all(names: list[str]) -> str:
    """The INSERT of a MERGE's clause with all columns."""
    listed = ", ".join(f"`{name}`" for name in names)
    # Names of our own table: SQL has no parameter for a name.
    return f"INSERT ({listed}) VALUES ({', '.join(f's.`{name}`' for name in names)})"  # noqa: S608
