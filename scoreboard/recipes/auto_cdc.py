"""AUTO CDC of Spark 4.2 as a pipeline: each call lands the decoded changes as Parquet files, then
runs one update of a declarative pipeline that has a table and its flow (`auto_cdc_update`).

The harness's decoder reads the messages, so that AUTO CDC alone is judged. An update needs Spark
Connect, which the session's plugin serves; its client is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scoreboard.recipes.contract import Call, Start, decode_changes, start_by
from spark_checks.decoders import ticdc_canal_json

PORT = "spark.connect.grpc.binding.port"
"""The setting of the session that names the port of its server."""
LIMIT_S = 240.0
"""Limit of an update of the pipeline, in seconds."""


class UpdateFailedError(Exception):
    """An update of the pipeline ended with an error."""


def start_in_order(sequence: str) -> Start:
    """The `start` that `pipeline` calls once a stage, for a recipe that orders changes by
    `sequence`: SQL over `es` (the commit in milliseconds), `commit_ts` (its number), `rank` (0 for
    a DELETE, else 1), `partition` and `offset`.
    """

    def update(call: Call) -> None:
        """Lands the decoded changes of a stage as Parquet files, behind those of earlier stages,
        then runs one update of the pipeline on all of them.
        """
        landed = Path(call.checkpoint, "landed")

        def land(batch: DataFrame, _number: int) -> None:
            """Appends the changes of a batch, with the column `sequence`, to the landed files."""
            changes = changes_of(batch, call).withColumn("sequence", F.expr(sequence))
            changes.write.mode("append").parquet(str(landed))

        landing = call.records.writeStream.foreachBatch(land)
        query = landing.option("checkpointLocation", f"{call.checkpoint}/landing").start()
        query.processAllAvailable()
        query.stop()
        catalogue, database, name = call.target.split(".")
        facts = {
            "server": f"sc://localhost:{call.spark.sparkContext.getConf().get(PORT)}",
            "catalogue": catalogue,
            "database": database,
            "name": name,
            "keys": list(call.table.primary_key),
            "landed": str(landed),
            "schema": call.spark.read.parquet(str(landed)).schema.json(),
            "storage": f"file://{call.checkpoint}/storage",
        }
        run_update(facts)

    return start_by(update)


def changes_of(batch: DataFrame, call: Call) -> DataFrame:
    """The decoded changes of a batch, a row for each: the columns that may order changes, `op`, and
    the columns of the table, which for a DELETE have the old row's values.
    """
    orders = ["unix_millis(commit_time) AS es", "CAST(position AS bigint) AS commit_ts"]
    changes = decode_changes(batch, call, ticdc_canal_json, orders).selectExpr(
        *("op", "es", "commit_ts", "IF(op = 'DELETE', 0, 1) AS rank", "partition", "offset"),
        "IF(op = 'DELETE', before, after) AS image",
    )
    return changes.select("op", "es", "commit_ts", "rank", "partition", "offset", "image.*")


def run_update(facts: Mapping[str, object]) -> None:
    """Runs one update of the pipeline in a process of its own, which gets `facts` as JSON. Raises
    UpdateFailedError with the error that the process prints.
    """
    client = subprocess.run(
        [sys.executable, "-m", "scoreboard.recipes.auto_cdc_update"],
        input=json.dumps(facts),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if client.returncode:
        raise UpdateFailedError(client.stderr.strip().rpartition("\nERROR ")[2])
