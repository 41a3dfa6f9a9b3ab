"""Spark's Kafka source as every service reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from conformance.brokers.spark_options import TOKENS

Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)

_ALLOWED: Final = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""The property of the JVM that Java's client demands since 3.9.1 before it asks a server for a
token.
"""


def source(spark: SparkSession, reader: Reader, options: Mapping[str, str]) -> Reader:
    """A reader of Kafka records with their headers. `options` are options of Spark's Kafka source
    (`kafka.NAME`: value, as `conformance.brokers.spark_options` makes them); they replace the usual
    ones.
    """
    usual = {
        "kafka.fetch.max.wait.ms": "10",
        "kafka.max.partition.fetch.bytes": str(64 << 20),
        "includeHeaders": "true",
    }
    if url := options.get(f"kafka.{TOKENS}"):
        jvm: Any = spark.sparkContext._jvm
        jvm.java.lang.System.setProperty(_ALLOWED, url)
    return reader.format("kafka").options(**{**usual, **options})


@dataclass(frozen=True, slots=True)
class Lanes:
    """The numbers (lanes) that the partitions of several topics have, counted across all topics.
    `by_partition` has them by TOPIC/NUMBER; if it is empty, a lane is the number of its partition.
    """

    by_partition: Mapping[str, int]

    @property
    def lane(self) -> str:
        """SQL of the lane (the partition's number across all topics) of a record or change; NULL if
        its partition belongs to no stream.
        """
        if not self.by_partition:
            return "partition"
        # JSON, since a literal map would give the plan one expression for each lane.
        return (
            f"try_element_at(from_json('{json.dumps(self.by_partition)}', 'map<string,int>'),"
            " concat(topic, '/', partition))"
        )

    def number_partitions(self, frame: DataFrame) -> DataFrame:
        """The records, or changes, with their lane (the partition's number across all topics) in
        place of the partition, since keepers of tables (which hold the rows that the changes give)
        and the judge know messages by lane and offset.
        """
        return frame.withColumn("partition", F.expr(self.lane)) if self.by_partition else frame
