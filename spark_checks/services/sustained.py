"""A decoder under sustained load: a structured-streaming query from Kafka, the figures of each
batch, and a sample of rows.

The decoder's whole output goes into the noop sink, so that every column is computed; the counts are
observed in the same pass. If Spark rejects the decoder on a stream, it is called for each batch
instead.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import StatusTracker
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from generators.storage import codec
from spark_checks.services.engine import Decoder, DecoderError
from spark_checks.services.errors import summary
from spark_checks.services.feed import ChangeFeed
from spark_checks.services.topics import Lanes, source

METRICS: Final = "load"
"""The name of the figures that Spark observes of each batch."""
KINDS: Final = (
    "ROW",
    "DDL",
    "WATERMARK",
    "BOOTSTRAP",
    "HEARTBEAT",
    "TRANSACTION",
    "CONTROL",
    "TOMBSTONE",
    "CORRUPT",
)
NEEDED: Final = ("topic", "partition", "offset", "row", "kind", "op", "before", "after")
"""The columns that the decoder's output must have."""

PLACE_HASH: Final = "(offset * 2654435761L + partition * 40503L) % 4294967291L"
"""A number for a (partition, offset). Its sum over the messages' first rows equals the producer's
sum over acknowledged messages if every offset was returned once.
"""

TASKS_S: Final = 10.0
"""Limit of the wait for the tasks of a stopped query, in seconds."""
TRACKED_S: Final = 0.2
"""Seconds after which Spark's status tracker knows of the end of a job."""
LAST_JOBS: Final = 4
"""Jobs of a query that may have active tasks when it is stopped."""

LARGEST_SAMPLE: Final = 2_000
"""Limit of sampled rows; later batches add none."""
ROWS_SAMPLED: Final = 4
"""Limit of sampled rows per message."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `sustain`, whose `do` is one of four.

    `start`: reads a `feed` by the source `cdc`, with these options; or `topic`, or several with
    commas between them, with the options `kafka` from the offsets `starting` on (by topic), and
    tells their partitions by their `lanes` (TOPIC/NUMBER; empty: the partitions of the topic). It
    decodes with `decoder` at `level` (`table`, `deployment`) every `trigger_ms` milliseconds,
    sampling offsets that are multiples of `every`. `status`: `batches` ended since the last status,
    `failure` if the query has failed, and what Spark says it is `doing`. `sample`: writes the
    sampled rows to `out` as Arrow; `until` is the offset by lane before which the sample is
    complete. `stop`: stops the query, if one runs.
    """
    match request["do"]:
        case "start":
            _stop()
            _running["query"] = query = _Query(spark, request, load(request["decoder"]))
            return {"mode": query.mode}
        case "status":
            return _query().status()
        case "sample":
            return _query().write_sample(request["out"])
        case "stop":
            _stop()
            return {}
        case unknown:
            raise RuntimeError(f"unknown request {unknown!r}")


_running: Final[dict[str, _Query]] = {}


def _query() -> _Query:
    """The running query. Raises RuntimeError if none runs."""
    if "query" not in _running:
        raise RuntimeError("no query runs")
    return _running["query"]


def _stop() -> None:
    """Stops the running query, if there is one."""
    if "query" in _running:
        _running.pop("query").stop()


def metrics(frame: DataFrame, every: int) -> tuple[Column, ...]:
    """The figures that Spark counts of a decoder's output while it runs: rows, messages (rows
    numbered 0), the sum of PLACE_HASH over messages (which tells whether each came once), rows of
    each kind, and a sample: the first ROWS_SAMPLED rows of every message whose offset is a multiple
    of `every`.
    """
    first = F.col("row") == 0
    sampled = F.expr(f"offset % {every} = 0 AND row < {ROWS_SAMPLED}")
    return (
        F.count(F.lit(1)).alias("rows"),
        F.count_if(first).alias("messages"),
        F.sum(F.when(first, F.expr(PLACE_HASH))).alias("places"),
        *(F.count_if(F.col("kind") == kind).alias(kind) for kind in KINDS),
        F.collect_list(
            F.when(sampled, F.struct(*(f"`{name.replace('`', '``')}`" for name in frame.columns)))
        ).alias("sample"),
    )


class _Query:
    """A running streaming query that decodes, and the figures of its batches. `mode` is `stream` if
    the decoder was called once, `batches` if it is called for each batch.
    """

    def __init__(self, spark: SparkSession, request: Mapping[str, Any], decoder: Decoder) -> None:
        self._spark, self._request, self._decoder = spark, request, decoder
        self._table = codec.load_table(request["table"])
        self._deployment = codec.load_deployment(request["deployment"])
        self._lanes = Lanes(request.get("lanes") or {})
        # Of the first batch, which may hold data already, Spark's progress tells no start.
        self._reached = _offsets(
            json.dumps(request.get("starting") or {}), self._lanes.by_partition
        )
        self._seen: dict[int, dict[str, Any]] = {}
        self._last = -1
        self._until: dict[str, int] = {}
        self._full = False
        self._lock = threading.Lock()
        jvm = spark._jvm
        assert jvm is not None
        self._rows: Any = jvm.java.util.ArrayList()
        self._schema: Any = None
        self._checkpoint = tempfile.mkdtemp(prefix="cdc-conformance-checkpoint-")
        # All progress between two requests must be retained; the parent may be slow.
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        spark.conf.set("spark.sql.streaming.stopTimeout", "15s")
        if feed := request.get("feed"):
            spark.dataSource.register(ChangeFeed)
            records = spark.readStream.format(ChangeFeed.name()).options(**feed).load()
        else:
            reader = source(spark, spark.readStream, request["kafka"]).option(
                "subscribe", request["topic"]
            )
            records = reader.option("startingOffsets", json.dumps(request["starting"])).load()
        try:
            self._query, self.mode = self._start_query(records)
        except BaseException:
            shutil.rmtree(self._checkpoint, ignore_errors=True)
            raise

    def _start_query(self, records: DataFrame) -> tuple[StreamingQuery, str]:
        """Starts the query on the records, and says how the decoder is called: `stream` for once,
        `batches` for each batch if Spark rejects it on a stream.
        """
        try:
            return self._start_with_one_call(records), "stream"
        except AnalysisException as error:
            if "streaming" not in str(error).lower():
                raise
        return self._by_batch(records), "batches"

    def _decode_with_lanes(self, records: DataFrame) -> DataFrame:
        """The decoder's rows, in which the partition is replaced by its lane (its number across all
        topics). Raises DecoderError for a missing column; keeps the rows' schema for the sample.
        """
        frame = self._decoder(self._request["level"], records, self._table, self._deployment)
        if missing := [name for name in NEEDED if name not in frame.columns]:
            raise DecoderError(f"decoder {self._decoder.name} does not return {', '.join(missing)}")
        if self._schema is None:
            struct = frame.select(
                F.struct(*(f"`{name.replace('`', '``')}`" for name in frame.columns)).alias("s")
            ).schema["s"]
            self._schema = self._spark._jsparkSession.parseDataType(struct.dataType.json())
        return self._lanes.number_partitions(frame)

    def _start(self, records: DataFrame, into: Callable[[Any], Any]) -> StreamingQuery:
        """Starts the streaming query, with the request's trigger and its own checkpoint; `into`
        gives the writer its sink.
        """
        writer = into(records.writeStream).option(
            "checkpointLocation", Path(self._checkpoint).as_uri()
        )
        query: StreamingQuery = writer.trigger(
            processingTime=f"{self._request['trigger_ms']} milliseconds"
        ).start()
        return query

    def _start_with_one_call(self, records: DataFrame) -> StreamingQuery:
        """Starts the query with the decoder called once, on the stream; Spark plans its output for
        every batch, and counts its `metrics`, with a sample of the offsets that are multiples of
        the request's `every`.
        """
        frame = self._decode_with_lanes(records)
        observed = frame.observe(METRICS, *metrics(frame, self._request["every"]))
        return self._start(observed, lambda writer: writer.format("noop"))

    def _by_batch(self, records: DataFrame) -> StreamingQuery:
        """Starts the query with the decoder called for every batch."""

        def decode(batch: DataFrame, number: int) -> None:
            """Decodes a batch into the noop sink, and keeps its counts and its sample of rows by
            the batch's number.
            """
            frame, observation = self._decode_with_lanes(batch), Observation()
            frame.observe(observation, *metrics(frame, self._request["every"])).write.format(
                "noop"
            ).mode("append").save()
            observed = observation.get
            sample = observed.pop("sample")
            counts = {name: 0 if value is None else value for name, value in observed.items()}
            counts["sample"] = [sample.apply(i) for i in range(sample.size())]
            with self._lock:
                self._seen[number] = counts

        return self._start(records, lambda writer: writer.foreachBatch(decode))

    def status(self) -> dict[str, Any]:
        """What an answer says of the query: whether it runs, its failure or None, what Spark says
        that it is doing, and the batches that have ended since the last call.
        """
        failed = self._query.exception()
        batches = [self._batch(progress) for progress in self._new_progress()]
        failure, doing = summary(failed) if failed else None, self._query.status["message"]
        return {
            "active": self._query.isActive,
            "failure": failure,
            "doing": doing,
            "batches": batches,
        }

    def _new_progress(self) -> list[Any]:
        """Spark's progress reports of the batches with records that ended since the last call, in
        order.
        """
        recent, news = self._query._jsq.recentProgress(), []
        for place in range(len(recent) - 1, -1, -1):
            progress = recent[place]
            if progress.batchId() <= self._last:
                break
            if progress.numInputRows() > 0:
                news.append(progress)
        # Spark repeats the last batch's progress while no data arrive.
        unique = {progress.batchId(): progress for progress in news}
        if unique:
            self._last = max(unique)
        return [unique[number] for number in sorted(unique)]

    def _batch(self, progress: Any) -> dict[str, Any]:
        """The figures of a batch from Spark's progress report: its times, the offsets that it read,
        and the counts of the decoder's rows; the sample of rows is kept.
        """
        number = int(progress.batchId())
        source = next(iter(progress.sources()))
        start = _offsets(source.startOffset(), self._lanes.by_partition)
        end = _offsets(source.endOffset(), self._lanes.by_partition)
        took = {str(k): int(v) for k, v in dict(progress.durationMs()).items()}
        began = datetime.fromisoformat(progress.timestamp()).timestamp()
        # A lane that Spark's report leaves out starts where an earlier batch has ended.
        start = self._reached | start
        self._reached |= end
        observed = self._observe_batch(progress, number)
        self._keep(observed.pop("sample"), end)
        return {
            "number": number,
            "began": began,
            "ended": began + took.get("triggerExecution", 0) / 1000,
            "planning_ms": took.get("queryPlanning", 0),
            "offsets": {p: [start.get(p, 0), last] for p, last in end.items()},
            "read": int(progress.numInputRows()),
            "kinds": {kind: observed.pop(kind) for kind in KINDS},
            **observed,
        }

    def _keep(self, sampled: Any, end: Mapping[str, int]) -> None:
        """Adds the sampled rows of a batch to the sample; `end` is the batch's end by lane (a
        partition, numbered across all topics). The first batch that exceeds the limit ends the
        sample, which is then complete up to the offsets before it.
        """
        if not self._full and self._rows.size() + len(sampled) <= LARGEST_SAMPLE:
            for sample_row in sampled:
                self._rows.add(sample_row)
            self._until |= end
        else:
            self._full = True

    def _observe_batch(self, progress: Any, number: int) -> dict[str, Any]:
        """The counts and the sample of a batch: from Spark's progress report, or, where the decoder
        is called for every batch, from what that call kept.
        """
        names = ("rows", "messages", "places", *KINDS, "sample")
        if self.mode == "batches":
            with self._lock:
                return self._seen.pop(number)
        metrics_row = progress.observedMetrics().get(METRICS)
        return {
            name: metrics_row.getList(i) if name == "sample" else metrics_row.get(i) or 0
            for i, name in enumerate(names)
        }

    def write_sample(self, out: str) -> dict[str, Any]:
        """Writes the kept sample of rows to an Arrow file, and returns their number and the offset
        up to which they were taken, by lane (a partition, numbered across all topics).
        """
        session = self._spark._jsparkSession
        frame = DataFrame(session.createDataFrame(self._rows, self._schema), self._spark)
        sample = frame.toArrow()
        with pa.OSFile(out, "wb") as file, pa.ipc.new_file(file, sample.schema) as writer:
            writer.write_table(sample)
        return {"rows": sample.num_rows, "until": self._until}

    def stop(self) -> None:
        """Stops the query, waits for its tasks, and removes its checkpoint."""
        # A query in an uninterruptible task is ended by the parent, with this process.
        with contextlib.suppress(PySparkException, Py4JError):
            self._query.stop()
            self._await_tasks()
        shutil.rmtree(self._checkpoint, ignore_errors=True)

    def _await_tasks(self) -> None:
        """Waits for the tasks of the stopped query: one that reads Kafka cannot be interrupted. If
        its topic were deleted meanwhile, it would keep its core for up to two minutes, and the next
        query would wait.
        """
        tracker, until = self._spark.sparkContext.statusTracker(), time.monotonic() + TASKS_S
        while time.monotonic() < until:
            # What Spark says is a moment old.
            time.sleep(TRACKED_S)
            if not _running_tasks(tracker, str(self._query.runId)):
                return


def _running_tasks(tracker: StatusTracker, run_id: str) -> int:
    """The number of tasks that run in the LAST_JOBS last jobs of a query, whose run id is the name
    of its job group.
    """
    jobs = map(tracker.getJobInfo, sorted(tracker.getJobIdsForGroup(run_id))[-LAST_JOBS:])
    numbers = chain.from_iterable(job.stageIds for job in jobs if job)
    stages = map(tracker.getStageInfo, numbers)
    return sum(stage.numActiveTasks for stage in stages if stage)


def _offsets(offset_json: str | None, lanes: Mapping[str, int]) -> dict[str, int]:
    """The offset of each lane (a partition, numbered across all topics), from the JSON of a
    streaming query's offset; none for None. A partition that is not in `lanes` (by TOPIC/NUMBER) is
    its own lane. An offset of the source `cdc`, which has no topics, is the number of its next unit
    of messages, and belongs to lane 0.
    """
    offsets = {} if offset_json is None else json.loads(offset_json)
    if "unit" in offsets:
        return {"0": int(offsets["unit"])}
    offset_by_lane: dict[str, int] = {}
    for topic, offset_by_partition in offsets.items():
        for partition, offset in offset_by_partition.items():
            lane = lanes.get(f"{topic}/{partition}", partition)
            offset_by_lane[str(lane)] = int(offset)
    return offset_by_lane
