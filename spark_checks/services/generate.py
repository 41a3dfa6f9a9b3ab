"""Load made and published by Spark's executors: a range of units each, so that a cluster works in parallel.

Only counts and latencies come back. Units are addressed by position, so that what is published is what one process would publish.
The Kafka client runs inside `mapInArrow`, since Spark's own sink cannot set timestamps.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from generators.bulk import orders
from generators.bulk import traffic as load
from generators.model import Layout
from generators.publishing.cluster import Cluster
from generators.publishing.pacing import Histogram, Published, PublishStopped, publish_paced
from generators.wire_format import get

SCHEMA: Final = pa.schema(
    [
        ("start", pa.int64()),
        ("count", pa.int64()),
        ("sent", pa.int64()),
        ("acknowledged", pa.int64()),
        ("failed", pa.int64()),
        ("seconds", pa.float64()),
        ("cpu", pa.float64()),
        ("errors", pa.list_(pa.string())),
        ("places", pa.list_(pa.int32())),
        ("counts", pa.list_(pa.int64())),
        ("largest", pa.float64()),
        ("stopped", pa.string()),
    ]
)
"""The result of a range; `stopped` is why it did not finish, else null."""

DDL: Final = (
    "start bigint, count bigint, sent bigint, acknowledged bigint, failed bigint, seconds double, cpu double, "
    "errors array<string>, places array<int>, counts array<bigint>, largest double, stopped string"
)


def ranges(spark: SparkSession, count: int, parts: int) -> DataFrame:
    """Units 0 to `count - 1` in `parts` ranges of nearly the same size, one a partition: columns `start` and `count`."""
    start = (F.col("id") * count / parts).cast("bigint")
    end = ((F.col("id") + 1) * count / parts).cast("bigint")
    return spark.range(0, parts, 1, parts).select(start.alias("start"), (end - start).alias("count"))


def publish(frame: DataFrame, task: Mapping[str, Any]) -> DataFrame:
    """Publishes the ranges of a frame; a row of SCHEMA for each. `task` is what `handle` gets."""
    return frame.mapInArrow(partial(_publish, json.dumps(dict(task))), DDL)


def _publish(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    task = json.loads(text)
    fmt = get(task["format"])
    profile = fmt.profile(task["profile"])
    options, layout = orders.options_of(task["options"]), Layout(partitions=task["partitions"])
    rate = task["rate"] and task["rate"] / task["executors"]
    for batch in batches:
        for units in batch.to_pylist():
            began = time.process_time()
            made = load.messages(fmt, profile, task["seed"], units["start"], units["count"], layout=layout, options=options)
            stopped = None
            try:
                done = publish_paced(
                    *(Cluster(task["bootstrap"], task["properties"]), task["topic"], made),
                    rate=rate,
                    stamp=task["stamp"],
                    timeout_s=task["timeout_s"],
                )
            except PublishStopped as error:
                # Raised here, Spark would run the range again and publish its messages twice.
                done, stopped = error.published, str(error)
            yield pa.RecordBatch.from_pylist([_row(units, done, time.process_time() - began, stopped)], SCHEMA)


def _row(units: Mapping[str, int], done: Published, cpu: float, stopped: str | None) -> dict[str, Any]:
    return {
        **units,
        "sent": done.sent,
        "acknowledged": done.acknowledged,
        "failed": done.failed,
        "seconds": done.seconds,
        "cpu": cpu,
        "errors": list(done.errors),
        "places": list(done.latencies.counts),
        "counts": list(done.latencies.counts.values()),
        "largest": done.latencies.largest,
        "stopped": stopped,
    }


def handle(spark: SparkSession, request: Mapping[str, Any], _load: Callable[[str], Any]) -> dict[str, Any]:
    """Answers the request `generate`.

    It has `format`, `profile`, `seed`, `options` (`orders.options_text`), `partitions`, `bootstrap`, `properties` (of the Kafka
    client), `topic`, `count` (units), `executors` (ranges, published at once where there are as many cores), `rate` (of all of
    them together, or null), `stamp` and `timeout_s`. The answer adds the ranges up: `sent`, `acknowledged`, `failed`, `seconds`
    (of the slowest), `cpu_seconds` (of all their processes), `p50_ms`, `p99_ms`,
    `max_ms`, `errors`, `stopped` (reasons), and `ranges`, the acknowledged count and seconds of each.
    """
    rows = publish(ranges(spark, request["count"], request["executors"]), request).collect()
    latencies = Histogram()
    for row in rows:
        histogram = Histogram(dict(zip(row["places"], row["counts"], strict=True)), sum(row["counts"]), row["largest"])
        latencies.merge(histogram)
    return {
        "sent": sum(row["sent"] for row in rows),
        "acknowledged": sum(row["acknowledged"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
        "seconds": max((row["seconds"] for row in rows), default=0.0),
        "cpu_seconds": round(sum(row["cpu"] for row in rows), 3),
        "p50_ms": latencies.quantile_ms(0.5),
        "p99_ms": latencies.quantile_ms(0.99),
        "max_ms": latencies.max_ms,
        "errors": list(dict.fromkeys(error for row in rows for error in row["errors"])),
        "stopped": [row["stopped"] for row in rows if row["stopped"]],
        "ranges": [{"start": row["start"], "count": row["count"], "seconds": row["seconds"]} for row in rows],
    }
