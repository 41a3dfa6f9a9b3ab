"""The producers of `load` as tasks of Spark, which run beside the query that decodes: they begin
together, and each keeps a share of the rate.

A task returns its figures (`conformance.load.source.Tally`). Spark may begin a lost task again,
which would publish messages twice: that ends the load.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Final

import pyarrow as pa
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

from conformance.load.source import Part, ProducerSource, Tally, Task, publish
from spark_checks.services import cluster
from spark_checks.services.engine import DecoderError

AGAIN: Final = (
    "a producer was lost, and Spark began all of them again: some messages are published twice, and"
    " nothing can be counted"
)
CORES_S: Final = 30.0
"""How long the session's executors may take to appear."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], _load: Callable[[str], Any]
) -> dict[str, Any]:
    """Answers the request `produce`, whose `do` is one of four.

    `open`: checks that the session has room for the producers of `task` and the decoder's tasks.
    `begin`: publishes `count` messages from `first` on, at `rate` if given, for `duration_s` at
    most. `status`: whether it is `done`, and the `figures` of each producer if so. `stop`: ends the
    tasks.
    """
    match request["do"]:
        case "open":
            _check_cores(spark, request["task"]["producers"])
            _running["producers"] = _Producers(spark, request["task"])
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
"""The producers of the load that is open, under the key `producers`."""
_groups: Final = itertools.count(1)


def slots(spark: SparkSession) -> int:
    """How many tasks the session can run at once at this moment."""
    context: Any = spark.sparkContext._jsc
    return int(
        context.sc().maxNumConcurrentTasks(
            context.sc().resourceProfileManager().defaultResourceProfile()
        )
    )


def _check_cores(spark: SparkSession, producers: int) -> None:
    """Raises DecoderError if the session cannot run the producers and one task of the decoder at
    once; a cluster gets time to add cores.
    """
    deadline = time.monotonic() + (0 if cluster.is_local(spark) else CORES_S)
    while (tasks := slots(spark)) <= producers and time.monotonic() < deadline:
        time.sleep(0.2)
    if tasks <= producers:
        raise DecoderError(
            f"--producers {producers}: the session runs {tasks} tasks at once; the decoder needs"
            " one beside the producers"
        )


class _Producers:
    """The producers of a load, tasks of one Spark job, for which a thread of this process waits."""

    def __init__(self, spark: SparkSession, task: Mapping[str, Any]) -> None:
        self._spark, self._task = spark, task
        self._thread: threading.Thread | None = None
        self._figures: list[dict[str, Any]] = []
        self._error: Exception | None = None
        self._group = ""

    def begin(self, command: Mapping[str, Any]) -> None:
        """Starts the tasks that publish the command's load, and returns while they run."""
        self._figures = []
        self._error = None
        self._group = f"cdc-conformance-producers-{next(_groups)}"
        self._thread = threading.Thread(
            target=self._run, args=(command,), name="cdc-producers", daemon=True
        )
        self._thread.start()

    def _run(self, command: Mapping[str, Any]) -> None:
        """Runs the producers as one Spark job until they end, in a thread of its own, and keeps
        their figures or the error.
        """
        count = self._task["producers"]
        self._spark.sparkContext.setJobGroup(
            self._group, "producers of load", interruptOnCancel=True
        )
        task = partial(_produce, json.dumps(self._task), command)
        try:
            results = (
                self._spark.range(0, count, 1, count)
                .mapInArrow(task, "figures string", barrier=True)
                .collect()
            )
            self._figures = [json.loads(result.figures) for result in results]
        except Exception as error:  # noqa: BLE001 - the next request for the status raises it
            self._error = error

    def status(self) -> dict[str, Any]:
        """Whether the producers have finished and, if so, the figures of each. Raises the error
        that ended them, and RuntimeError if Spark began them again.
        """
        if self._error is None and self._has_restarted():
            self.stop()
            raise RuntimeError(AGAIN)
        if self._thread is None or self._thread.is_alive():
            return {"done": False}
        self._thread = None
        if self._error is not None:
            raise self._error
        return {"done": True, "figures": self._figures}

    def _has_restarted(self) -> bool:
        """Whether Spark has started the producers' tasks a second time, which would publish
        messages twice.
        """
        tracker = self._spark.sparkContext.statusTracker()
        jobs = (tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(self._group))
        numbers = chain.from_iterable(job.stageIds for job in jobs if job)
        stages = map(tracker.getStageInfo, numbers)
        return any(stage is not None and stage.currentAttemptId > 0 for stage in stages)

    def stop(self) -> None:
        """Cancels the producers' Spark job, and waits a few seconds for its thread."""
        self._spark.sparkContext.cancelJobGroup(self._group)
        if self._thread is not None:
            self._thread.join(5)


@lru_cache(maxsize=1)
def _source(task: str, number: int) -> ProducerSource:
    """The messages of producer number `number` of a task, which is given as JSON. A worker process
    keeps the last, because its pool of messages takes seconds to make.
    """
    return Task(**json.loads(task)).source(number)


def _produce(
    task_json: str, command: Mapping[str, Any], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The work of one producer's task: publishes its share of the load that the `command` names
    (`count` messages from number `first` on, of all producers together), begins together with the
    other producers, and returns its figures as JSON. `batches` has the producer's number as `id`.
    Raises RuntimeError if Spark begins the task again: its messages would be published twice.
    """
    task, context = Task(**json.loads(task_json)), BarrierTaskContext.get()
    wait_for_all = cache(context.barrier)
    id_rows = chain.from_iterable(batch.to_pylist() for batch in batches)
    for number in (id_row["id"] for id_row in id_rows):
        if context.attemptNumber():
            raise RuntimeError(AGAIN)
        source, began = _source(task_json, number), time.process_time()
        part = Part(number, task.producers)
        source.begin(command["first"] + part.of_count(command["count"]).start)
        tally = Tally(source, part.producers, command, task.every)
        figures = publish(task, source, command, part=part, ready=wait_for_all, tally=tally)
        # The others wait for one that has no message to publish, or reaches no broker.
        wait_for_all()
        yield pa.RecordBatch.from_pydict(
            {"figures": [json.dumps({**figures, "cpu_s": time.process_time() - began})]}
        )
