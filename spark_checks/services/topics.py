"""Spark's Kafka source as every service reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pyspark.sql import DataFrameReader, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from conformance.brokers.spark_options import TOKENS

Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)

_ALLOWED: Final = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""The property of the JVM that Java's client demands since 3.9.1 before it asks a server for a token."""


def source(spark: SparkSession, reader: Reader, options: Mapping[str, str]) -> Reader:
    """A reader of records with headers; `options` are `conformance.brokers.spark_options`, which win over the usual ones."""
    usual = {"kafka.fetch.max.wait.ms": "10", "kafka.max.partition.fetch.bytes": str(64 << 20), "includeHeaders": "true"}
    if url := options.get(f"kafka.{TOKENS}"):
        jvm: Any = spark.sparkContext._jvm
        jvm.java.lang.System.setProperty(_ALLOWED, url)
    return reader.format("kafka").options(**{**usual, **options})
