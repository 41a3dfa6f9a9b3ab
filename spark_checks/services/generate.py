"""Load made and published by Spark's executors: a range of units each, so that a cluster works in
parallel.

Only counts and latencies come back. Units are addressed by position, so that what is published is
what one process would publish. The Kafka client runs inside `mapInArrow`, since Spark's own sink
cannot set timestamps.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from generators.bulk import orders, traffic
from generators.model import Layout
from generators.publishing.cluster import Cluster
from generators.publishing.pacing import PublishStopped, add_up, publish_paced
from generators.wire_format import get


def ranges(spark: SparkSession, count: int, parts: int) -> DataFrame:
    """The units (short scenarios) of a load, 0 to `count - 1`, in `parts` ranges of nearly the same
    size, one in each of Spark's partitions: columns `start` and `count`.
    """
    start = (F.col("id") * count / parts).cast("bigint")
    end = ((F.col("id") + 1) * count / parts).cast("bigint")
    return spark.range(0, parts, 1, parts).select(
        start.alias("start"), (end - start).alias("count")
    )


def _publish(task_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The work of one Spark task: makes and publishes the messages of each range of units that it
    gets (a unit is one SQL statement of the load), and returns the figures of each range as JSON,
    with the reason if the broker stopped answering.
    """
    task = json.loads(task_json)
    fmt = get(task["format"])
    profile = fmt.profile(task["profile"])
    options, layout = orders.parse_options(task["options"]), Layout(partitions=task["partitions"])
    rate = task["rate"] and task["rate"] / task["executors"]
    for batch in batches:
        for unit_range in batch.to_pylist():
            began = time.process_time()
            new_messages = traffic.messages(
                fmt,
                profile,
                task["seed"],
                unit_range["start"],
                unit_range["count"],
                layout=layout,
                options=options,
            )
            stopped = None
            try:
                done = publish_paced(
                    *(Cluster(task["bootstrap"], task["properties"]), task["topic"], new_messages),
                    rate=rate,
                    stamp=task["stamp"],
                    timeout_s=task["timeout_s"],
                )
            except PublishStopped as error:
                # Raised here, Spark would run the range again and publish its messages twice.
                done, stopped = error.published, str(error)
            figures = {
                **unit_range,
                **asdict(done),
                "cpu": time.process_time() - began,
                "stopped": stopped,
            }
            yield pa.RecordBatch.from_pydict({"figures": [json.dumps(figures)]})


def handle(
    spark: SparkSession, request: Mapping[str, Any], _load: Callable[[str], Any]
) -> dict[str, Any]:
    """Answers the request `generate`.

    It has `format`, `profile`, `seed`, `options` (`orders.options_text`), `partitions`,
    `bootstrap`, `properties` (of the Kafka client), `topic`, `count` (units), `executors` (ranges,
    published at once where there are as many cores), `rate` (of all of them together, or null),
    `stamp` and `timeout_s`. The answer adds the ranges up: `sent`, `acknowledged`, `failed`,
    `seconds` (of the slowest), `cpu_seconds` (of all their processes), `p50_ms`, `p99_ms`,
    `max_ms`, `errors` and `stopped` (reasons).
    """
    frame = ranges(spark, request["count"], request["executors"]).mapInArrow(
        partial(_publish, json.dumps(request)), "figures string"
    )
    figures = [json.loads(result.figures) for result in frame.collect()]
    return {
        **add_up(figures),
        "seconds": max((part["seconds"] for part in figures), default=0.0),
        "cpu_seconds": round(sum(part["cpu"] for part in figures), 3),
        "stopped": [part["stopped"] for part in figures if part["stopped"]],
    }
