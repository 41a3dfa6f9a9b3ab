"""The service that runs a user's pipeline (`spark_checks.services.pipelines`), a stage of its
stream at a time, and writes the rows of its table.

The query stays between requests. If it ended by itself (availableNow), or was killed with its
process, the next request starts it again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from generators.storage import codec
from spark_checks.services.checkpoints import KillMoment, folder_of
from spark_checks.services.engine import Decoder
from spark_checks.services.pipelines import Pipeline, load_pipeline
from spark_checks.services.streaming import records_of


class Started(NamedTuple):
    """A pipeline whose `start` was called, and the query that it returned: None for a batch job.
    The pipeline is kept with its query, as `start` may leave in its module what `table` reads.
    """

    pipeline: Pipeline
    query: StreamingQuery | None

    @property
    def is_running(self) -> bool:
        """Whether the query has not ended."""
        return self.query is not None and bool(self.query.isActive)


_STARTED: Final[dict[str, Started]] = {}
"""The pipelines whose queries are running, by target."""
_CHECKPOINTS: Final[dict[str, Path]] = {}
"""The last checkpoint of each target's query."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `pipeline`: reads a source to its present end into a table.

    It has `pipeline` (what `load_pipeline` takes), `source` (`streaming.records_of`), `target`,
    `lake` (the folder of the target's database, "" for the session's own place), `table` and
    `deployment`, `checkpoint`, `hold` (`KillMoment`), `directory` for marks, `out`, `history` and
    `errors` (the files to be written), `refresh` (whether the checkpoint is lost first), `last`.
    The answer has `key`, `types`, `query` (whether there is one), `seconds`. Raises what the query
    raises.

    With `drop` it names a database, which is dropped with its tables.
    """
    if "drop" in request:
        _drop_database(spark, request["drop"])
        return {}
    target = request["target"]
    began = time.monotonic()
    _register(spark, target, request["lake"])
    if request.get("refresh") and not _lose_checkpoint(target):
        return {"refreshed": False}
    started = _STARTED.get(target)
    try:
        if started is None or not started.is_running:
            started = _start(spark, request)
        if started.query is not None:
            _STARTED[target] = started
            _read_to_end(started.query, request)
        _write_tables(spark, started.pipeline, request)
    except BaseException:
        stop_queries(target)
        raise
    if not started.is_running or request.get("last"):
        stop_queries(target)
    return {
        "refreshed": True,
        "key": list(started.pipeline.key),
        "types": dict(started.pipeline.types),
        "query": started.query is not None,
        "seconds": time.monotonic() - began,
    }


def _start(spark: SparkSession, request: Mapping[str, Any]) -> Started:
    """Loads the request's pipeline and calls its `start`."""
    pipeline = load_pipeline(request["pipeline"])
    offered = {
        "table": codec.load_table(request["table"]),
        "deployment": codec.load_deployment(request["deployment"]),
        "checkpoint": request["checkpoint"],
    }
    records = records_of(spark, request["source"])
    return Started(pipeline, pipeline.begin(spark, records, request["target"], offered))


def stop_queries(*targets: str) -> None:
    """Stops the queries of some targets; of all, if none is named."""
    for target in targets or tuple(_STARTED):
        started = _STARTED.get(target)
        if started is not None and started.query is not None:
            # Forgotten behind its end: who stops it, too, from another thread, waits for the end.
            started.query.stop()
            _STARTED.pop(target, None)


def _write_tables(spark: SparkSession, pipeline: Pipeline, request: Mapping[str, Any]) -> None:
    """Writes what the pipeline's functions show of its table."""
    target = request["target"]
    _write(pipeline.rows(spark, target), request["out"])
    if pipeline.history is not None:
        _write(pipeline.history(spark, target), request["history"])
    if pipeline.errors is not None:
        _write(pipeline.errors(spark, target).select("partition", "offset"), request["errors"])


def _read_to_end(query: StreamingQuery, request: Mapping[str, Any]) -> None:
    if (folder := folder_of(query)) is not None:
        _CHECKPOINTS[request["target"]] = folder
    with KillMoment(query, request.get("hold") or {}, Path(request["directory"])):
        query.processAllAvailable()
        if (error := query.exception()) is not None:
            raise error


def _lose_checkpoint(target: str) -> bool:
    """Stops a target's query and removes its checkpoint; False if it is not known."""
    stop_queries(target)
    folder = _CHECKPOINTS.get(target)
    if folder is None or not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _register(spark: SparkSession, target: str, lake: str) -> None:
    """Makes the target's database, in a folder that outlives this process; tables that are there
    already are found again, since the session's catalogue forgets them.
    """
    *catalogue, database, name = target.split(".")
    where = f" LOCATION '{lake}'" if lake and not catalogue else ""
    space = ".".join((*catalogue, database))
    for name_of in catalogue:
        place = f"spark.sql.catalog.{name_of}"
        of_files = spark.conf.get(f"{place}.type", "") == "hadoop"
        if lake and of_files and not spark.conf.get(f"{place}.warehouse", ""):
            spark.conf.set(f"{place}.warehouse", lake)
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {space}{where}")
    for log in Path(lake).glob("*/_delta_log") if where else ():
        table = log.parent.name
        if table == name or table.startswith(f"{name}_"):
            spark.sql(
                f"CREATE TABLE IF NOT EXISTS {space}.{table} USING delta LOCATION '{log.parent}'"
            )


def _drop_database(spark: SparkSession, database: str) -> None:
    """Drops a database and its tables; a catalogue of files drops no database that has tables."""
    if not spark.catalog.databaseExists(database):
        return
    for table in spark.sql(f"SHOW TABLES IN {database}").collect():
        if not table.isTemporary:
            spark.sql(f"DROP TABLE IF EXISTS {database}.`{table.tableName}`")
    spark.sql(f"DROP DATABASE {database}")


def _write(frame: DataFrame, path: str) -> None:
    table = frame.toArrow()
    draft = Path(f"{path}.draft")
    with pa.ipc.new_file(draft, table.schema) as file:
        file.write_table(table)
    draft.rename(path)
