"""The Spark session that every check runs in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from conformance.brokers.archive import WRITES, spark_classes, using

AVRO_LIMITS: Final = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength={limit}"
    for what, limit in (("string", 64 << 20), ("bytes", 64 << 20), ("collectionItems", 1_000_000))
)
"""Avro's limits of lengths. Without them one flipped bit allocates gigabytes and ends the JVM."""

_DRIVER: Final = "spark.driver.extraJavaOptions"
_EXECUTOR: Final = "spark.executor.extraJavaOptions"


def session(
    app: str = "cdc-conformance",
    *,
    jars: Iterable[Path | str] = (),
    cores: int = 2,
    conf: Mapping[str, str] = {},
    home: str = "",
) -> SparkSession:
    """A quiet local session on `cores` threads, UTC, without a UI; `conf` is set last.

    `jars` are added to Spark's own (conformance.brokers.spark). Options that belong to the JVM have no effect on a session that
    is already running; AVRO_LIMITS, and the archive of classes if there is one, stand before those of `conf`. What Spark writes
    beside its work (artifacts, warehouse, temporary files) is in `home`, if given, else in the working directory.
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
    if added := ",".join(map(str, jars)):
        settings["spark.jars"] = added
    # A JVM that writes an archive of classes uses none.
    classes = "" if WRITES in conf.get(_DRIVER, "") else " ".join(f'"{option}"' for option in using(spark_classes()))
    if home:
        settings |= {"spark.sql.warehouse.dir": f"{home}/spark-warehouse", "spark.local.dir": home}
        classes += f' "-Djava.io.tmpdir={home}" "-Duser.dir={home}"'
    ours = {_DRIVER: f"{AVRO_LIMITS} {classes}", _EXECUTOR: AVRO_LIMITS}
    java = {key: f"{options} {conf.get(key, '')}".strip() for key, options in ours.items()}
    for key, value in {**settings, **conf, **java}.items():
        builder = builder.config(key, value)
    started = builder.getOrCreate()
    if home:
        _read_here(started)
    return started


def _read_here(spark: SparkSession) -> None:
    """Lets relative paths that a decoder reads start at the working directory, while Spark's own folders stay in its home."""
    context = spark.sparkContext
    jvm: Any = context._jvm
    # Spark makes its folder for artifacts here at the first query.
    spark.range(1).count()
    jvm.java.lang.System.setProperty("user.dir", os.getcwd())
    hadoop = context._jsc.hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWorkingDirectory(jvm.org.apache.hadoop.fs.Path(os.getcwd()))
