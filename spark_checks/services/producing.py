"""The producers of `load` as tasks of Spark, which run beside the query that decodes: they begin together, and each keeps a share
of the rate.

A task returns entries (`conformance.load.source.Tally`), which Spark adds up. Spark may begin a lost task again, which would
publish messages twice: that ends the load.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark import BarrierTaskContext
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from conformance.load.source import Entry, ProducerSource, Tally
from generators.model import Layout
from generators.publishing.cluster import Cluster
from generators.publishing.pacing import PublishStopped, publish_paced
from generators.tables import load as tables
from generators.wire_format import get
from spark_checks.services import cluster
from spark_checks.services.engine import DecoderError

SCHEMA: Final = pa.schema(
    [("what", pa.string()), ("a", pa.int64()), ("b", pa.int64()), ("n", pa.int64()), ("t", pa.float64()), ("text", pa.string())]
)
DDL: Final = "what string, a bigint, b bigint, n bigint, t double, text string"
AGAIN: Final = (
    "a producer was lost, and Spark began all of them again: some messages are published twice, and nothing can be counted"
)
CORES_S: Final = 30.0
"""How long the session's executors may take to appear."""


def handle(spark: SparkSession, request: Mapping[str, Any], _load: Callable[[str], Any]) -> dict[str, Any]:
    """Answers the request `produce`, whose `do` is one of four.

    `open`: checks that the session has room for `producers` tasks and the decoder's; the rest of the request is what
    `conformance.load._producer` gets. `begin`: publishes `count` messages from `first` on, at `rate` if given, for `duration_s`
    at most. `status`: whether it is `done`, and the `entries` if so. `stop`: ends the tasks.
    """
    match request["do"]:
        case "open":
            _check(spark, request["producers"])
            kept = request.get("tables")
            _running["producers"] = _Producers(spark, request, Path(kept).read_bytes() if kept else b"")
            return {}
        case "begin":
            _running["producers"].begin(request)
            return {}
        case "status":
            return _running["producers"].status()
        case "stop":
            if producers := _running.pop("producers", None):
                producers.stop()
            return {}
        case unknown:
            raise RuntimeError(f"unknown request {unknown!r}")


_running: Final[dict[str, _Producers]] = {}
_groups: Final = itertools.count(1)


def slots(spark: SparkSession) -> int:
    """The number of tasks that can run at once now."""
    context: Any = spark.sparkContext._jsc
    return int(context.sc().maxNumConcurrentTasks(context.sc().resourceProfileManager().defaultResourceProfile()))


def _check(spark: SparkSession, producers: int) -> None:
    deadline = time.monotonic() + (0 if cluster.local(spark) else CORES_S)
    while (found := slots(spark)) <= producers and time.monotonic() < deadline:
        time.sleep(0.2)
    if found <= producers:
        raise DecoderError(
            f"--producers {producers}: the session runs {found} tasks at once; the decoder needs one beside the producers"
        )


class _Producers:
    """The tasks, which a thread of this process waits for."""

    def __init__(self, spark: SparkSession, asked: Mapping[str, Any], own: bytes) -> None:
        self._spark, self._asked, self._own = spark, asked, own
        self._thread: threading.Thread | None = None
        self._entries: list[Row] = []
        self._error: Exception | None = None
        self._group = ""

    def begin(self, command: Mapping[str, Any]) -> None:
        """Starts the tasks."""
        self._entries, self._error, self._group = [], None, f"cdc-conformance-producers-{next(_groups)}"
        self._thread = threading.Thread(target=self._run, args=(command,), name="cdc-producers", daemon=True)
        self._thread.start()

    def _run(self, command: Mapping[str, Any]) -> None:
        count = self._asked["producers"]
        self._spark.sparkContext.setJobGroup(self._group, "producers of load", interruptOnCancel=True)
        task = partial(_produce, json.dumps({"asked": self._asked, "command": command}), self._own)
        try:
            entries = self._spark.range(0, count, 1, count).mapInArrow(task, DDL, barrier=True)
            figures = (F.sum(F.col("n").cast("decimal(38,0)")).alias("n"), F.min("t").alias("t"), F.max("t").alias("last"))
            self._entries = entries.groupBy("what", "a", "b", "text").agg(*figures).collect()
        except Exception as error:  # noqa: BLE001 - the next request for the status raises it
            self._error = error

    def status(self) -> dict[str, Any]:
        """See `handle`. Raises what ended the tasks."""
        if self._error is None and self._again():
            self.stop()
            raise RuntimeError(AGAIN)
        if self._thread is None or self._thread.is_alive():
            return {"done": False}
        self._thread = None
        if self._error is not None:
            raise self._error
        return {"done": True, "entries": [[*row[:3], row.text, int(row.n), row.t, row.last] for row in self._entries]}

    def _again(self) -> bool:
        """Whether a stage of the tasks was begun again."""
        tracker = self._spark.sparkContext.statusTracker()
        jobs = (tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(self._group))
        stages = (tracker.getStageInfo(number) for job in jobs if job for number in job.stageIds)
        return any(stage is not None and stage.currentAttemptId > 0 for stage in stages)

    def stop(self) -> None:
        """Ends the tasks."""
        self._spark.sparkContext.cancelJobGroup(self._group)
        if self._thread is not None:
            self._thread.join(5)


@lru_cache(maxsize=1)
def _source(asked: str, number: int, own: bytes) -> ProducerSource:
    """The messages of a task; a worker keeps the last, because a pool takes seconds to make."""
    task = json.loads(asked)
    fmt = get(task["format"])
    profile, layout = fmt.profile(task["profile"]), Layout(partitions=task["partitions"])
    users = tables.restored(own) if own else None
    producers = task["producers"]
    pool = max(task["pool"], producers)
    return ProducerSource(fmt, profile, task["seed"], layout, task["level"], pool, users, None, (number, producers))


def _produce(text: str, own: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    task = json.loads(text)
    for number in (row["id"] for batch in batches for row in batch.to_pylist()):
        columns = zip(*_published(task["asked"], task["command"], own, number), strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _published(asked: Mapping[str, Any], command: Mapping[str, Any], own: bytes, number: int) -> list[Entry]:
    """Publishes the part of a command that a producer does; its figures."""
    producers, rate = asked["producers"], command.get("rate")
    low, high = (command["count"] * place // producers for place in (number, number + 1))
    context = BarrierTaskContext.get()
    if context.attemptNumber():
        raise RuntimeError(AGAIN)
    source = _source(json.dumps(asked), number, own)
    source.begin(command["first"] + low)
    tally, together, stopped = Tally(source, producers, command, asked["every"]), cache(context.barrier), ""
    try:
        done = publish_paced(
            Cluster(asked["bootstrap"], asked["properties"]),
            next(iter(asked["names"].values())),
            source,
            rate=rate and rate / producers,
            count=high - low,
            duration_s=command.get("duration_s"),
            stamp=rate is not None,
            delivered=tally,
            ready=together,
        )
    except PublishStopped as error:
        done, stopped = error.published, str(error)
    # The others wait for one that has no message to publish, or reaches no broker.
    together()
    return tally.entries(done, stopped)
