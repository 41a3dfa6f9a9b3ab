"""Bulk corpora written by executors: each task makes ranges of the messages, and Spark writes them
as Parquet.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from generators.storage import bulk, records
from generators.wire_format import get
from spark_checks.services import cluster
from spark_checks.services.engine import DecoderError
from spark_checks.services.generate import ranges

DDL: Final = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp,"
    " timestampType int, headers array<struct<key string, value binary>>"
)
"""The columns of Spark's Kafka source with headers."""
_HEADERS: Final = "transform(headers, h -> concat(hex(h.key), '=', coalesce(hex(h.value), '-')))"
"""SQL of the texts of a record's headers."""
CANONICAL: Final = (
    "concat_ws('|', coalesce(hex(key), '-'), coalesce(hex(value), '-'), topic, partition, offset,"
    f" unix_micros(timestamp), timestampType, coalesce(array_join({_HEADERS}, ','), '-'))"
)
"""`generators.storage.bulk.canonical` in SQL."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], _load: Callable[[str], Any]
) -> dict[str, Any]:
    """Answers the request `corpus`.

    Writes the messages of `count` SQL statements of `format`, `profile` and `seed` to the folder
    `out`, in `parts` files, and reads them back: the answer has the number of `messages` and their
    `content` hash. `near` is a folder that a cluster must share with this machine. Raises
    DecoderError if it does not.
    """
    if not cluster.is_local(spark) and not cluster.shares_folder(spark, request["near"]):
        raise DecoderError(
            f"--out: the cluster's machines do not share {request['near']}, where they would write"
            " the corpus"
        )
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    task = {name: request[name] for name in ("format", "profile", "seed")}
    corpus = ranges(spark, request["count"], request["parts"]).mapInArrow(
        partial(_corpus_rows, json.dumps(task)), DDL
    )
    corpus.write.mode("overwrite").parquet(request["out"])
    digest = (
        spark.read.schema(DDL)
        .parquet(request["out"])
        .select(F.sha2(F.expr(CANONICAL).cast("binary"), 256).alias("digest"))
    )
    words = (
        F.conv(F.substring("digest", 1 + bulk.WORD * n, bulk.WORD), 16, 10).cast("decimal(38,0)")
        for n in range(2)
    )
    count, first, second = digest.agg(F.count("*"), *map(F.sum, words)).collect()[0]
    return {"messages": count, "content": bulk.content(int(first or 0), int(second or 0))}


def _corpus_rows(task_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker of Spark: the messages of the ranges of units that its rows name, as batches of
    Kafka records. A unit is one SQL statement of the load. `task_json` has format, profile and
    seed.
    """
    task = json.loads(task_json)
    fmt = get(task["format"])
    profile = fmt.profile(task["profile"])
    for unit_range in itertools.chain.from_iterable(batch.to_pylist() for batch in batches):
        numbered_messages = bulk.numbered_messages(
            fmt, profile, task["seed"], unit_range["start"], unit_range["count"]
        )
        while chunk := list(itertools.islice(numbered_messages, bulk.BATCH)):
            offsets, messages = zip(*chunk, strict=True)
            yield records.batch(messages, offsets)
