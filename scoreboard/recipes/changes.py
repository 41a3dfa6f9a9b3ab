"""What a recipe starts with: a row a change, and a table. The harness's decoder reads the messages,
so that a recipe is judged by its MERGE alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from generators.model import Deployment, Table
from spark_checks.decoders.debezium_json import decode, decode_rows

PLACE = ["partition", "offset", "row"]
Merge = Callable[[DataFrame, str, list[str]], None]
Start = Callable[[SparkSession, DataFrame, str, Table, str, Deployment], StreamingQuery]


def start_with(merge: Merge, table_format: Literal["delta", "iceberg"] = "delta") -> Start:
    """What `pipeline` calls of a recipe: it keeps a table of one key column, `id`, by a MERGE of
    each batch's changes.
    """

    def start(
        spark: SparkSession,
        records: DataFrame,
        target: str,
        table: Table,
        checkpoint: str,
        deployment: Deployment,
    ) -> StreamingQuery:
        names = [column.name for column in table.columns]
        columns = ", ".join(f"`{column.name}` {column.type.spark}" for column in table.columns)
        spark.sql(f"CREATE TABLE IF NOT EXISTS {target} ({columns}) USING {table_format}")

        def upsert(batch: DataFrame, _number: int) -> None:
            merge(changes_of(batch, table, deployment), target, names)

        sink = records.writeStream.foreachBatch(upsert)
        return sink.option("checkpointLocation", checkpoint).start()

    return start


def changes_of(batch: DataFrame, table: Table, deployment: Deployment) -> DataFrame:
    """A row a change: op, time (the source's milliseconds), deleted, and the row's columns; of a
    DELETE those of the row before.
    """
    row_changes = decode(batch, deployment=deployment).where("kind = 'ROW' AND op <> 'TRUNCATE'")
    times = row_changes.select(*PLACE, F.expr("unix_millis(commit_time) AS time"))
    typed = decode_rows(batch, table, deployment=deployment).where("kind = 'ROW'")
    image = "IF(op = 'DELETE', before, after) AS image"
    both = typed.join(times, PLACE).selectExpr("op", "time", "op = 'DELETE' AS deleted", image)
    return both.select("op", "time", "deleted", "image.*")


def merge_into(target: str, changes: DataFrame, clauses: str) -> None:
    """MERGE by the key."""
    changes.createOrReplaceTempView("changes_to_merge")
    changes.sparkSession.sql(
        f"MERGE INTO {target} t USING changes_to_merge s ON s.id = t.id {clauses}"
    )


def set_all(names: list[str]) -> str:
    """UPDATE SET of all columns."""
    return "UPDATE SET " + ", ".join(f"t.`{name}` = s.`{name}`" for name in names)


def insert_all(names: list[str]) -> str:
    """INSERT of all columns."""
    listed = ", ".join(f"`{name}`" for name in names)
    # Names of our own table: SQL has no parameter for a name.
    return f"INSERT ({listed}) VALUES ({', '.join(f's.`{name}`' for name in names)})"  # noqa: S608
