"""The Spark session that every check runs in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import SparkSession

from conformance.brokers.archive import (
    WRITES,
    archive_options,
    discard_archive,
    spark_classes,
    split_archive,
    warn,
)
from conformance.brokers.jars import Note
from conformance.engines.spark_conf import ADDRESS, MASTER, REMOTE, cluster_url, is_secret

AVRO_LIMITS: Final = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength={limit}"
    for what, limit in (("string", 64 << 20), ("bytes", 64 << 20), ("collectionItems", 1_000_000))
)
"""Avro's limits of lengths. Without them one flipped bit allocates gigabytes and ends the JVM."""

_ASKED: Final = ("org.apache.spark.sql.functions", "functions", "PythonUtils", "PythonSQLUtils")
"""Names that PySpark looks up in the JVM at each use: a class without a package is searched for in
every package that PySpark imports, in all of Spark's jars.
"""

_DAEMON: Final = "_cdc_conformance_daemon"
"""The module of the process from which Spark forks Python workers."""
_DRIVER: Final = "spark.driver.extraJavaOptions"
_EXECUTOR: Final = "spark.executor.extraJavaOptions"
"""Spark's settings with options of the driver's JVM, and of an executor's."""


class UnsettableError(Exception):
    """A setting that a server of Spark Connect does not take from a session."""


def session(
    app: str = "cdc-conformance",
    *,
    jars: Iterable[Path | str] = (),
    cores: int = 2,
    conf: Mapping[str, str] = {},
    home: str = "",
    note: Note = warn,
) -> SparkSession:
    """A quiet session, UTC, without a UI; `conf` is set last. It is local, on `cores` threads,
    unless `conf` names a master or a server of Spark Connect, which keeps the settings that it was
    started with.

    `jars` are added to Spark's own (conformance.brokers.spark). Options that belong to the JVM have
    no effect on a session that is already running; AVRO_LIMITS, and the archive of classes if there
    is one, stand before those of `conf`. A JVM that does not start from the archive is started once
    more without it, and `note` hears of it. What Spark writes beside its work (artifacts,
    warehouse, temporary files) is in `home`, if given, else in the working directory.
    """
    if conf.get(REMOTE):
        return _connect_session(conf)
    is_local = not cluster_url(conf)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(app).master(f"local[{cores}]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        **(
            {**dict.fromkeys(ADDRESS, "127.0.0.1"), "spark.python.daemon.module": _DAEMON}
            if is_local
            else {}
        ),
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if added := ",".join(map(str, jars)):
        settings["spark.jars"] = added
    # A JVM that writes an archive of classes uses none.
    options = () if WRITES in conf.get(_DRIVER, "") else archive_options(spark_classes(), note)
    if home:
        settings |= {"spark.sql.warehouse.dir": f"{home}/spark-warehouse", "spark.local.dir": home}
        options += (
            f"-Djava.io.tmpdir={home}",
            f"-Duser.dir={home}",
            f"-XX:ErrorFile={home}/hs_err_pid%p.log",
        )
    started = _start(builder, {**settings, **conf}, options, note)
    for name in _ASKED:
        setattr(started._jvm, name, getattr(started._jvm, name))
    if home:
        _resolve_paths_here(started)
    return started


def _start(
    builder: Any, settings: Mapping[str, str], options: tuple[str, ...], note: Note
) -> SparkSession:
    """The session of a JVM that starts with `options`, on the driver beside AVRO_LIMITS. If the JVM
    does not start from an archive of classes, it is started once more without, the archive is
    discarded, and `note` hears of it.
    """
    ours = {
        _DRIVER: " ".join((AVRO_LIMITS, *(f'"{option}"' for option in options))),
        _EXECUTOR: AVRO_LIMITS,
    }
    java = {key: f"{flags} {settings.get(key, '')}".strip() for key, flags in ours.items()}
    for key, value in {**settings, **java}.items():
        builder = builder.config(key, value)
    archive, options_without = split_archive(options)
    try:
        _launch(settings, java)
        started: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if archive is None or error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        started = _start(builder, settings, options_without, note)
        # It starts without: the archive is to blame.
        discard_archive(archive, "Spark's JVM ended at its start", note)
    return started


def _launch(settings: Mapping[str, str], java: Mapping[str, str]) -> None:
    """Starts the JVM, if a setting may be secret by its name, with all settings but such ones.
    PySpark itself would give the JVM all of them as arguments, which every user of the machine can
    read; Spark's context gets the secret ones later, over its socket. Without such a setting
    nothing is done here.
    """
    if any(map(is_secret, settings)):
        launched = SparkConf(loadDefaults=False)
        for name, value in {**settings, **java}.items():
            if not is_secret(name):
                launched.set(name, value)
        SparkContext._ensure_initialized(conf=launched)


def _connect_session(conf: Mapping[str, str]) -> SparkSession:
    """A session on a Spark Connect server. Raises UnsettableError for a setting that can only be
    set when the server starts.
    """
    # Settings of the harness that only fit a JVM which it starts itself.
    unset = (REMOTE, MASTER, _DRIVER, _EXECUTOR, "spark.python.sql.dataFrameDebugging.enabled")
    started = SparkSession.builder.remote(conf[REMOTE]).getOrCreate()
    settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2", **conf}
    for key, value in settings.items():
        if key in unset:
            continue
        try:
            started.conf.set(key, value)
        except AnalysisException as error:
            raise UnsettableError(
                f"--spark-conf {key}: the server at {conf[REMOTE]} takes it only at its start"
            ) from error
    return started


def _resolve_paths_here(spark: SparkSession) -> None:
    """Lets relative paths that a decoder reads start at the working directory, while Spark's own
    folders stay in its home.
    """
    context = spark.sparkContext
    jvm: Any = context._jvm
    # Spark makes its folder for artifacts here at the first query.
    spark.range(1).count()
    jvm.java.lang.System.setProperty("user.dir", os.getcwd())
    hadoop = context._jsc.hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWorkingDirectory(
        jvm.org.apache.hadoop.fs.Path(os.getcwd())
    )
