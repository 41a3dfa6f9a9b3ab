"""The service that runs a user's pipeline (`spark_checks.services.pipelines`), a stage of its
stream at a time, and writes the rows of its table.

The query stays between requests. If it ended by itself (availableNow), or was killed with its
process, the next request starts it again. All that `start` began beside it is awaited and stopped
with it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from generators.storage import codec
from spark_checks.services.checkpoints import KillMoment, folder_of
from spark_checks.services.engine import Decoder, DecoderError
from spark_checks.services.pipelines import Pipeline, load_pipeline
from spark_checks.services.streaming import records_of


class Started(NamedTuple):
    """A user's pipeline whose `start` was called; `query` is what that returned (None for a batch
    job), `side_queries` are those that it began beside it. The pipeline is kept with its queries,
    as `start` may leave in its module what the function `table` reads.
    """

    pipeline: Pipeline
    query: StreamingQuery | None
    side_queries: tuple[StreamingQuery, ...] = ()

    @property
    def queries(self) -> tuple[StreamingQuery, ...]:
        """All queries of the pipeline, the returned one first."""
        return self.side_queries if self.query is None else (self.query, *self.side_queries)

    @property
    def is_running(self) -> bool:
        """Whether the pipeline has a query, and none of its queries has ended."""
        return self.query is not None and all(query.isActive for query in self.queries)


class Beginning(NamedTuple):
    """A call of `start` that has not returned: `earlier` are the run ids of the session's queries
    that were active before it.
    """

    spark: SparkSession
    earlier: frozenset[str]

    @property
    def queries(self) -> tuple[StreamingQuery, ...]:
        """The queries that the call has begun, and that have not ended."""
        return tuple(q for q in self.spark.streams.active if q.runId not in self.earlier)


_BEGINNINGS: Final[dict[str, Beginning]] = {}
"""The calls of `start` that have not returned, by target."""
_STARTED: Final[dict[str, Started]] = {}
"""The pipelines whose queries are running, by target."""
_CHECKPOINTS: Final[dict[str, list[Path]]] = {}
"""The folders of the last checkpoints of each target's queries."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `pipeline`: reads a source to its present end into a table.

    It has `pipeline` (what `load_pipeline` takes), `source` (`streaming.records_of`), `target`,
    `lake` (the folder of the target's database, "" for the session's own place), `table` and
    `deployment`, `checkpoint`, `hold` (`KillMoment`), `directory` for marks, `under_way` (a file
    that is there until `start` returns), `out`, `history` and `errors` (the files to be written),
    `refresh` (whether the checkpoint is lost first), `last`.
    The answer has `key`, `types`, `query` (whether there is one), `seconds`. Raises what the query
    raises.

    With `drop` it names a database, which is dropped with its tables.
    """
    if "drop" in request:
        _drop_database(spark, request["drop"])
        return {}
    target = request["target"]
    began = time.monotonic()
    _create_database(spark, target, request["lake"])
    if request.get("refresh") and not _lose_checkpoint(target):
        return {"refreshed": False}
    started = _STARTED.get(target)
    try:
        if started is None or not started.is_running:
            stop_queries(target)
            started = _start(spark, request)
            _STARTED[target] = started
        if started.query is not None:
            _read_to_end(started, started.query, request)
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
    """Loads the request's pipeline and calls its `start`. Raises DecoderError if `start` began a
    query and returned None, and whatever `start` raises; the queries that it began are then
    stopped.
    """
    pipeline = load_pipeline(request["pipeline"])
    offered = {
        "table": codec.load_table(request["table"]),
        "deployment": codec.load_deployment(request["deployment"]),
        "checkpoint": request["checkpoint"],
    }
    records = records_of(spark, request["source"])
    target, under_way = request["target"], Path(request["under_way"])
    beginning = Beginning(spark, frozenset(query.runId for query in spark.streams.active))
    _BEGINNINGS[target] = beginning
    under_way.touch()
    try:
        query = pipeline.begin(spark, records, target, offered)
        begun = beginning.queries
        if query is None and begun:
            raise DecoderError(
                f"pipeline {pipeline.name}: start began a streaming query and returned None; it"
                " must return the query that it began, or be a batch job, which has ended by then"
            )
    except BaseException:
        _stop(beginning.queries)
        raise
    finally:
        under_way.unlink(missing_ok=True)
        del _BEGINNINGS[target]
    side_queries = [each for each in begun if query is not None and each.runId != query.runId]
    return Started(pipeline, query, tuple(side_queries))


def stop_queries(*targets: str) -> None:
    """Stops the streaming queries that write these tables (`targets`), also of a `start` that has
    not returned; those of all tables, if none is named.
    """
    for target in targets or tuple({**_BEGINNINGS, **_STARTED}):
        if (beginning := _BEGINNINGS.get(target)) is not None:
            _stop(beginning.queries)
        if (started := _STARTED.get(target)) is not None:
            # It leaves _STARTED only when its queries have stopped. So another thread that stops
            # the same target finds it, too, and waits for them.
            _stop(started.queries)
            _STARTED.pop(target, None)


def _stop(queries: Iterable[StreamingQuery]) -> None:
    """Stops these queries."""
    for query in queries:
        query.stop()


def _write_tables(spark: SparkSession, pipeline: Pipeline, request: Mapping[str, Any]) -> None:
    """Writes the rows and the history of the user's table, and the offsets that the pipeline
    reports as unreadable, to the files of the request, as far as the pipeline has functions for
    them.
    """
    target = request["target"]
    _write(pipeline.read_rows(spark, target), request["out"])
    if pipeline.history is not None:
        _write(pipeline.history(spark, target), request["history"])
    if pipeline.errors is not None:
        _write(pipeline.errors(spark, target).select("partition", "offset"), request["errors"])


def _read_to_end(started: Started, query: StreamingQuery, request: Mapping[str, Any]) -> None:
    """Waits until each query has read the source to its present end. The request may name a moment
    of `query`, the returned one, at which a test kills this process. Raises what a query raises.
    """
    folders = [folder for each in started.queries if (folder := folder_of(each)) is not None]
    if folders:
        _CHECKPOINTS[request["target"]] = folders
    with KillMoment(query, request.get("hold") or {}, Path(request["directory"])):
        for each in started.queries:
            each.processAllAvailable()
            if (error := each.exception()) is not None:
                raise error


def _lose_checkpoint(target: str) -> bool:
    """Stops a target's queries and removes their checkpoints, as a user does who reads everything
    again; False if the checkpoints are not known.
    """
    stop_queries(target)
    folders = [folder for folder in _CHECKPOINTS.get(target, []) if folder.is_dir()]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(folders)


def _create_database(spark: SparkSession, target: str, lake: str) -> None:
    """Creates the target's database, in the folder `lake`, which outlives this process, and
    registers again the Delta tables that are already there (the target's and NAME_...), which the
    session's catalogue has forgotten. A catalogue of files (Iceberg's hadoop) gets `lake` as its
    warehouse.
    """
    *catalogue, database, name = target.split(".")
    location = f" LOCATION '{lake}'" if lake and not catalogue else ""
    qualified_database = ".".join((*catalogue, database))
    for catalogue_name in catalogue:
        setting = f"spark.sql.catalog.{catalogue_name}"
        has_files = spark.conf.get(f"{setting}.type", "") == "hadoop"
        if lake and has_files and not spark.conf.get(f"{setting}.warehouse", ""):
            spark.conf.set(f"{setting}.warehouse", lake)
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {qualified_database}{location}")
    for log in Path(lake).glob("*/_delta_log") if location else ():
        table = log.parent.name
        if table == name or table.startswith(f"{name}_"):
            spark.sql(
                f"CREATE TABLE IF NOT EXISTS {qualified_database}.{table} USING delta"
                f" LOCATION '{log.parent}'"
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
    """Writes a DataFrame as an Arrow file that is at `path` only when it is complete."""
    table = frame.toArrow()
    draft = Path(f"{path}.draft")
    with pa.ipc.new_file(draft, table.schema) as file:
        file.write_table(table)
    draft.rename(path)
