"""AUTO CDC of Spark 4.2 as a pipeline: each call lands the decoded changes as Parquet files, then
runs one update of a declarative pipeline that has a table and its flow (`auto_cdc_update`).

The harness's decoder reads the messages, so that AUTO CDC alone is judged. An update needs Spark
Connect, which the session's plugin serves; its client is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from spark_checks.decoders.ticdc_canal_json import decode, decode_rows

PLACE = ["partition", "offset", "row"]
PORT = "spark.connect.grpc.binding.port"
"""The setting of the session that names the port of its server."""
Start = Callable[[SparkSession, DataFrame, str, Table, str, Deployment], None]


class UpdateFailedError(Exception):
    """An update of the pipeline ended with an error."""


def start_by(sequence: str) -> Start:
    """What `pipeline` calls once a stage; `sequence` is the SQL of `sequence_by`, over `es` (the
    commit in milliseconds), `commit_ts`, `rank` (a DELETE is before an INSERT of one commit),
    `partition` and `offset`.
    """

    def start(
        spark: SparkSession,
        records: DataFrame,
        target: str,
        table: Table,
        checkpoint: str,
        deployment: Deployment,
    ) -> None:
        landed = Path(checkpoint, "landed")

        def land(batch: DataFrame, _number: int) -> None:
            changes = changes_of(batch, table, deployment).withColumn("sequence", F.expr(sequence))
            changes.write.mode("append").parquet(str(landed))

        landing = records.writeStream.foreachBatch(land)
        query = landing.option("checkpointLocation", f"{checkpoint}/landing").start()
        query.processAllAvailable()
        query.stop()
        catalogue, database, name = target.split(".")
        facts = {
            "server": f"sc://localhost:{spark.sparkContext.getConf().get(PORT)}",
            "catalogue": catalogue,
            "database": database,
            "name": name,
            "keys": list(table.primary_key),
            "landed": str(landed),
            "schema": spark.read.parquet(str(landed)).schema.json(),
            "storage": f"file://{checkpoint}/storage",
        }
        run_update(facts)

    return start


def changes_of(batch: DataFrame, table: Table, deployment: Deployment) -> DataFrame:
    """A row a change: the columns of the row, of a DELETE those before it, `op` and what may order
    changes.
    """
    order = decode(batch, deployment=deployment).where("kind = 'ROW'")
    order = order.selectExpr(
        *PLACE, "unix_millis(commit_time) AS es", "CAST(position AS bigint) AS commit_ts"
    )
    typed = decode_rows(batch, table, deployment=deployment).where("kind = 'ROW'")
    image = "IF(op = 'DELETE', before, after) AS image"
    rank = "IF(op = 'DELETE', 0, 1) AS rank"
    both = typed.join(order, PLACE).selectExpr(
        "op", "es", "commit_ts", rank, "partition", "offset", image
    )
    return both.select("op", "es", "commit_ts", "rank", "partition", "offset", "image.*")


def run_update(facts: Mapping[str, object]) -> None:
    """Runs one update in a process of its own. Raises UpdateFailedError with what it says."""
    client = subprocess.run(
        [sys.executable, "-m", "scoreboard.recipes.auto_cdc_update"],
        input=json.dumps(facts),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if client.returncode:
        raise UpdateFailedError(client.stderr.strip().rpartition("\nERROR ")[2])
