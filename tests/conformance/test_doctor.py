"""The doctor: every check answers, names a remedy when something is missing, and never raises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import _container, doctor
from conformance.doctor import CHECKS, Check, checks

ROOT = Path(doctor.__file__).parent.parent


@pytest.fixture(autouse=True)
def no_engine(monkeypatch):
    """The container engine is not asked here."""

    def refuse():
        raise _container.EngineMissing("no Docker engine answers. Start it.")

    monkeypatch.setattr(_container, "engine", refuse)


def by_name():
    return {check.name: check for check in checks()}


def test_every_check_answers_in_order():
    found = checks()
    assert [check.name for check in found] == [name for name, *_ in CHECKS]
    for check in found:
        assert check.found
        assert check.needed_for
        assert (check.remedy == "") or not check.ok
    required = {check.name for check in found if check.required}
    assert required == {"Python", "our packages", "Java", "pyspark", "confluent-kafka", "disk"}


def test_what_this_environment_has():
    found = by_name()
    assert found["Python"].ok
    assert sys.executable in found["Python"].found
    assert found["pyspark"].found.startswith("4.")
    assert "librdkafka" in found["confluent-kafka"].found
    assert found["our packages"].ok
    assert str(ROOT) in found["our packages"].found


def test_errors_become_findings_with_their_remedy():
    assert by_name()["Docker engine"] == Check(
        "Docker engine", False, "no Docker engine answers", "Start it.", "--broker container", False
    )


def test_a_check_that_breaks_is_not_well(monkeypatch):
    def broken():
        raise ZeroDivisionError

    monkeypatch.setattr(doctor, "CHECKS", (("x", broken, "y", True),))
    assert checks() == [Check("x", False, "ZeroDivisionError", "", "y", True)]


def test_java_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = by_name()["Java"]
    assert not java.ok
    assert str(tmp_path) in java.found
    assert "Java 17 or 21" in java.remedy


@pytest.mark.parametrize(("version", "ok", "untested"), [("11.0.2", False, True), ("17.0.1", True, False), ("25", True, True)])
def test_java_versions(monkeypatch, tmp_path, version, ok, untested):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check = by_name()["Java"]
    assert check.ok is ok
    assert ("tested on 17 and 21" in check.found) is untested


def test_pyspark_absent_or_too_old(monkeypatch):
    for version, found in ((None, "not installed"), ("3.5.4", "3.5.4")):
        monkeypatch.setattr(doctor, "_version", lambda name, version=version: version)
        check = by_name()["pyspark"]
        assert (check.ok, check.found) == (False, found)
        assert "pip install 'pyspark>=4.0,<5'" in check.remedy


def test_connector_jars(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(doctor, "_version", lambda name: "4.0.0")
    assert "not cached yet: org.apache.spark_spark-sql-kafka-0-10_2.13-4.0.0.jar" in by_name()["Spark connector jars"].found
    jars = tmp_path / ".ivy2.5.2" / "jars"
    jars.mkdir(parents=True)
    (jars / "org.apache.spark_spark-sql-kafka-0-10_2.13-4.0.0.jar").touch()
    check = by_name()["Spark connector jars"]
    assert (check.ok, check.found) == (False, "not cached yet: org.apache.spark_spark-avro_2.13-4.0.0.jar")
    (jars / "org.apache.spark_spark-avro_2.13-4.0.0.jar").touch()
    assert by_name()["Spark connector jars"].ok


def test_kafka_jars(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("CDC_CONFORMANCE_KAFKA_JARS", raising=False)
    check = by_name()["Kafka broker jars"]
    assert not check.ok
    assert str(tmp_path) in check.found
    assert "CDC_CONFORMANCE_KAFKA_JARS" in check.remedy
    (tmp_path / "kafka_2.13-4.3.1.jar").touch()
    monkeypatch.setenv("CDC_CONFORMANCE_KAFKA_JARS", str(tmp_path))
    assert by_name()["Kafka broker jars"].found == f"1 in {tmp_path}"


def test_too_little_room(monkeypatch):
    monkeypatch.setattr(doctor, "DISK_MB", 1 << 40)
    monkeypatch.setattr(doctor, "MEMORY_MB", 1 << 40)
    found = by_name()
    assert not found["disk"].ok
    assert "TMPDIR" in found["disk"].remedy
    if sys.platform == "linux":
        assert not found["free memory"].ok


def test_a_folder_that_hides_a_package_is_named(tmp_path):
    hiding = tmp_path / "spark_checks"
    hiding.mkdir()
    (hiding / "__init__.py").touch()
    code = "from conformance.doctor import packages; print(packages())"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("(False,")
    assert f"{hiding} hides spark_checks" in ran.stdout
