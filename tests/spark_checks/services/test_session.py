"""The session: what its JVM is started with."""

from types import SimpleNamespace
from unittest.mock import MagicMock, call

import pytest
from py4j.java_gateway import JVMView
from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import functions as F

from conformance.engines.child import OURS
from spark_checks.services.session import AVRO_LIMITS, UnsettableError, session


def test_its_jvm_gets_limits_and_the_archive_if_there_is_one(spark, class_archive):
    options = spark.sparkContext.getConf().get("spark.driver.extraJavaOptions")
    assert AVRO_LIMITS in options
    assert [option for option in class_archive if f'"{option}"' not in options] == []
    assert spark.sparkContext.getConf().get("spark.executor.extraJavaOptions").endswith(AVRO_LIMITS)


def test_what_each_expression_asks_of_the_jvm_is_asked_once(spark, monkeypatch):
    asked = []
    look_up = JVMView.__getattr__
    monkeypatch.setattr(
        JVMView, "__getattr__", lambda jvm, name: asked.append(name) or look_up(jvm, name)
    )
    assert str(F.struct(F.col("a"), F.lit(1))) == "Column<'struct(a, 1)'>"
    assert [name for name in asked if "." not in name or name.endswith("functions")] == []


@pytest.mark.parametrize("writes", [True, False])
def test_a_jvm_that_writes_an_archive_takes_none(monkeypatch, writes):
    builder, asked = MagicMock(), {}
    builder.appName.return_value.master.return_value = builder
    builder.config.side_effect = lambda key, value: asked.update({key: value}) or builder
    monkeypatch.setattr("spark_checks.services.session.SparkSession.builder", builder)
    monkeypatch.setattr(
        "spark_checks.services.session.archive_options",
        lambda archive, note: ("-XX:SharedArchiveFile=/x y.jsa",),
    )
    own = "-XX:ArchiveClassesAtExit=/z.jsa" if writes else "-Xmn512m"
    session(conf={"spark.driver.extraJavaOptions": own})
    assert asked["spark.driver.extraJavaOptions"].endswith(own)
    assert (
        '"-XX:SharedArchiveFile=/x y.jsa"' in asked["spark.driver.extraJavaOptions"]
    ) is not writes


def gateway_exited():
    return PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})


@pytest.mark.parametrize("starts_without", [True, False])
def test_a_jvm_that_dies_of_its_archive_is_started_once_more_without(
    monkeypatch, tmp_path, starts_without
):
    archive = tmp_path / "spark-1.jsa"
    archive.write_bytes(b"damaged")
    builder, options, lines = MagicMock(), [], []
    builder.appName.return_value.master.return_value = builder
    builder.config.side_effect = lambda key, value: (
        (options.append(value) if key == "spark.driver.extraJavaOptions" else None) or builder
    )
    builder.getOrCreate.side_effect = [
        gateway_exited(),
        MagicMock() if starts_without else gateway_exited(),
    ]
    monkeypatch.setattr("spark_checks.services.session.SparkSession.builder", builder)
    monkeypatch.setattr(
        "spark_checks.services.session.archive_options",
        lambda _archive, note: (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=error"),
    )
    if starts_without:
        session(note=lines.append)
    else:
        with pytest.raises(PySparkRuntimeError):
            session(note=lines.append)
    first, second = options
    assert (f'"-XX:SharedArchiveFile={archive}" ' in first, str(archive) in second) == (True, False)
    assert first.replace(f'"-XX:SharedArchiveFile={archive}" ', "") == second
    # A JVM that does not start without it either has another reason.
    assert (archive.exists(), len(lines)) == ((False, 1) if starts_without else (True, 0))


def test_a_jvm_is_started_without_the_settings_that_may_be_secret(monkeypatch):
    """Its arguments are open to every user of the machine; the context gets them later."""
    builder, settings, launched = MagicMock(), {}, []
    builder.appName.return_value.master.return_value = builder
    builder.config.side_effect = lambda key, value: settings.update({key: value}) or builder
    monkeypatch.setattr("spark_checks.services.session.SparkSession.builder", builder)
    monkeypatch.setattr(
        "spark_checks.services.session.SparkContext._ensure_initialized",
        lambda conf: launched.append(conf.settings),
    )
    monkeypatch.setattr("spark_checks.services.session.SparkConf", plain_conf)
    session(conf={"spark.driver.memory": "1g"})
    assert launched == []
    session(conf={"spark.driver.memory": "1g", "spark.x.secret.key": "hunter2"})
    assert settings["spark.x.secret.key"] == "hunter2"
    assert launched == [{k: v for k, v in settings.items() if k != "spark.x.secret.key"}]
    assert launched[0]["spark.driver.memory"] == "1g"


def plain_conf(**options):
    """Spark's settings without a JVM."""
    assert options == {"loadDefaults": False}
    settings = {}
    return SimpleNamespace(settings=settings, set=settings.__setitem__)


@pytest.fixture
def server(monkeypatch):
    """The settings of a session of Spark Connect."""
    builder = MagicMock()
    monkeypatch.setattr("spark_checks.services.session.SparkSession.builder", builder)
    return builder.remote.return_value.getOrCreate.return_value.conf


def test_a_server_gets_the_settings_of_a_session_alone(server):
    session(
        conf={**OURS, "spark.remote": "sc://h", "spark.sql.ansi.enabled": "false"}, jars=("x.jar",)
    )
    zone, partitions = (
        call("spark.sql.session.timeZone", "UTC"),
        call("spark.sql.shuffle.partitions", "2"),
    )
    rules = call("spark.sql.optimizer.excludedRules", OURS["spark.sql.optimizer.excludedRules"])
    assert server.set.call_args_list == [
        zone,
        partitions,
        rules,
        call("spark.sql.ansi.enabled", "false"),
    ]


def test_what_a_server_does_not_set_is_named(server):
    server.set.side_effect = AnalysisException("[CANNOT_MODIFY_CONFIG]")
    with pytest.raises(
        UnsettableError,
        match=r"^--spark-conf \S+: the server at sc://h takes it only at its start$",
    ):
        session(conf={"spark.remote": "sc://h"})
