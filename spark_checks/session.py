"""The Spark session that every check runs in."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

import pyspark
from pyspark.sql import SparkSession

PACKAGES: Final = ("spark-sql-kafka-0-10_2.13", "spark-avro_2.13")


def session(
    app: str = "cdc-conformance", *, packages: bool = False, cores: int = 2, conf: Mapping[str, str] = {}
) -> SparkSession:
    """A quiet local session on `cores` threads, UTC, without a UI; `conf` is set last.

    `packages` adds Spark's Kafka source and Avro functions from Maven, in the version of the installed pyspark; the first
    resolution takes about ten seconds (reference/environment.md). Options that belong to the JVM have no effect on a session
    that is already running.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(app).master(f"local[{cores}]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if packages:
        release = pyspark.__version__
        settings["spark.jars.packages"] = ",".join(f"org.apache.spark:{name}:{release}" for name in PACKAGES)
    for key, value in {**settings, **conf}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
