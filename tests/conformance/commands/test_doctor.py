"""The doctor: every check answers, names a remedy when something is missing, and never raises."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.brokers import broker as brokers
from conformance.brokers import container as containers
from conformance.commands import doctor
from conformance.commands.cli import cli
from conformance.commands.doctor import CHECKS, Check, checks
from generators.errors import HarnessError
from generators.publishing import kafka

ROOT = Path(doctor.__file__).parents[2]


@pytest.fixture(autouse=True)
def no_engine(monkeypatch):
    """The container engine is not asked here."""

    def refuse():
        raise containers.EngineMissing("no Docker engine answers. Start it.")

    monkeypatch.setattr(containers, "engine", refuse)


@pytest.fixture(autouse=True)
def command_line():
    with click.Context(cli).scope():
        yield


def by_name():
    return {check.name: check for check in checks()}


def test_every_check_answers_in_order():
    found = checks()
    assert [check.name for check in found] == [name for name, *_ in CHECKS]
    for check in found:
        assert check.found
        assert check.needed_for
        assert (check.remedy == "") == check.ok
        assert check.command in check.remedy
    required = {check.name for check in found if check.required}
    assert required == {"Python", "our packages", "Java", "pyspark", "confluent-kafka", "disk", "configuration", "ports"}


def test_what_this_environment_has():
    found = by_name()
    assert found["Python"].ok
    assert sys.executable in found["Python"].found
    assert found["pyspark"].found.startswith("4.")
    assert "librdkafka" in found["confluent-kafka"].found
    assert found["our packages"].ok
    assert str(ROOT) in found["our packages"].found


def test_errors_become_findings_with_their_remedy():
    docker = by_name()["Docker engine"]
    assert (docker.ok, docker.found, docker.required) == (False, "no Docker engine answers", False)
    assert docker.command == ("open -a Docker" if sys.platform == "darwin" else "systemctl start docker")


def test_an_error_says_what_is_wrong_and_then_what_to_do(monkeypatch):
    def broken():
        raise HarnessError("no such thing.\nGet one, by `get thing`.")

    monkeypatch.setattr(doctor, "CHECKS", (("x", broken, "y", False),))
    assert checks() == [Check("x", False, "no such thing", "Get one, by `get thing`.", "y", False)]
    assert checks()[0].command == "get thing"


def test_a_check_that_breaks_is_not_well(monkeypatch):
    def broken():
        raise ZeroDivisionError

    monkeypatch.setattr(doctor, "CHECKS", (("x", broken, "y", True),))
    remedy = "report this with the output of `cdc-conformance doctor --format json`"
    assert checks() == [Check("x", False, "ZeroDivisionError", remedy, "y", True)]


def test_java_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = by_name()["Java"]
    assert not java.ok
    assert str(tmp_path) in java.found
    assert "Java 17 or 21" in java.remedy
    assert "openjdk" in java.command


@pytest.mark.parametrize(
    ("version", "ok", "untested"), [("11.0.2", False, False), ("17.0.1", True, False), ("19", True, True), ("26", False, False)]
)
def test_java_versions(monkeypatch, tmp_path, version, ok, untested):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check = by_name()["Java"]
    assert check.ok is ok
    assert ("is made for Java 17" in check.found) is untested


def test_pyspark_absent_or_too_old(monkeypatch):
    for version, found in ((None, "not installed"), ("3.5.4", "3.5.4")):
        monkeypatch.setattr(doctor, "_version", lambda name, version=version: version)
        check = by_name()["pyspark"]
        assert (check.ok, check.found) == (False, found)
        assert check.command == f"{sys.executable} -m pip install 'pyspark>=4.0,<5'"


def test_connector_jars(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CDC_CONFORMANCE_SPARK_JARS", raising=False)
    check = by_name()["Spark connector jars"]
    assert not check.ok
    assert check.found == "not cached yet: spark-sql-kafka-0-10_2.13; not cached yet: spark-avro_2.13"
    (tmp_path / "spark-avro_2.13-4.1.1.jar").touch()
    monkeypatch.setenv("CDC_CONFORMANCE_SPARK_JARS", str(tmp_path))
    found = by_name()["Spark connector jars"].found
    assert found == "spark-avro_2.13 of CDC_CONFORMANCE_SPARK_JARS; not cached yet: spark-sql-kafka-0-10_2.13"
    monkeypatch.setenv("CDC_CONFORMANCE_SPARK_JARS", str(tmp_path / "none"))
    assert "none is neither a jar nor a folder with jars" in by_name()["Spark connector jars"].found


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
    code = "from conformance.commands.doctor import packages; print(packages())"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("(False,")
    assert f"{hiding} hides spark_checks" in ran.stdout


def test_the_library_for_containers_is_installed_first(monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda _name: None)
    assert by_name()["Docker engine"].command == f"{sys.executable} -m pip install 'cdc-conformance[container]'"


def test_the_configuration(monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert by_name()["configuration"].found == "none (none is needed)"
    (tmp_path / "cdc-conformance.toml").write_text("seed = 2\n", "utf-8")
    assert by_name()["configuration"].found == str(tmp_path / "cdc-conformance.toml")
    (tmp_path / "cdc-conformance.toml").write_text("sed = 2\nbugdet = 'ci'\n", "utf-8")
    check = by_name()["configuration"]
    assert not check.ok
    assert check.found.startswith("cdc-conformance.toml, sed = 2: unknown key 'sed'. Did you mean 'seed'?")
    assert check.found.endswith("(and 1 more)")
    assert check.command == "cdc-conformance config schema"


def test_a_folder_that_failures_cannot_go_to(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert by_name()["failures' folder"].ok
    (tmp_path / ".cdc-conformance").write_text("a file", "utf-8")
    (tmp_path / ".cdc-conformance").chmod(0o755)
    check = by_name()["failures' folder"]
    assert not check.ok
    assert f"{tmp_path / '.cdc-conformance'} is not writable" in check.found
    assert check.command.startswith("chmod u+rwx ")
    assert "--report DIR" in check.remedy


def test_no_port_is_free(monkeypatch):
    def refuse(_count):
        raise HarnessError("no free TCP port on 127.0.0.1 between 1 and 2")

    monkeypatch.setattr("conformance.brokers.embedded.free_ports", refuse)
    check = by_name()["ports"]
    assert (check.ok, check.found) == (False, "no free TCP port on 127.0.0.1 between 1 and 2")
    assert check.command == "ss -ltnp"


def test_a_broker_that_is_named_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(kafka, "check_reachable", lambda spec, timeout_s: asked.append(spec))
    assert checks("kafka:9092,other:9092")[-1].found.startswith("answers after 0.")
    assert asked == ["kafka:9092,other:9092"]
    assert [check.name for check in checks("embedded")] == [name for name, *_ in CHECKS]


def test_a_broker_that_does_not_answer():
    check = doctor._check("broker", lambda: doctor.reachable("127.0.0.1:1"), "--broker 127.0.0.1:1", True)
    assert not check.ok
    assert "127.0.0.1:1" in check.found
    assert check.command == "nc -vz 127.0.0.1 1"


FINE = Check("fine", True, "all there", "", "everything", True)
LACKING = Check("lacking", False, "not | there", "get it: `get it`, or do without", "something", False)
STOPPING = Check("stopping", False, "gone", "wait", "everything", True)


@pytest.fixture
def told(monkeypatch):
    """A function that prints checks as the command does, and gives its exit code and output."""

    def run(found, *arguments):
        monkeypatch.setattr(doctor, "checks", lambda _broker: list(found))
        monkeypatch.setattr(doctor, "starts", lambda _broker, _note: iter([STOPPING]))
        done = CliRunner().invoke(doctor.doctor, [*arguments])
        return done.exit_code, done.stdout

    return run


def test_each_problem_ends_with_its_remedy(told):
    code, out = told([FINE, LACKING, STOPPING], "--format", "pretty")
    assert code == 3
    assert out == (
        "ok       fine      all there\n"
        "missing  lacking   not | there\n"
        "missing  stopping  gone\n"
        "\n"
        "lacking\n"
        "    needed for  something\n"
        "    remedy      get it: `get it`, or do without\n"
        "    $ get it\n"
        "\n"
        "stopping\n"
        "    needed for  everything\n"
        "    remedy      wait\n"
        "\n"
        "1 of 3 are ok; every run needs 1 of the others\n"
    )
    assert told([FINE], "--format", "pretty") == (0, "ok       fine  all there\n\nall 1 are ok\n")


def test_checks_as_json_and_as_markdown(told):
    code, out = told([FINE, LACKING])
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [FINE.as_json(), LACKING.as_json()]
    assert LACKING.as_json() == {
        "name": "lacking",
        "ok": False,
        "found": "not | there",
        "remedy": "get it: `get it`, or do without",
        "command": "get it",
        "needed_for": "something",
        "required": False,
    }
    code, out = told([FINE, LACKING], "--format", "markdown")
    assert out.splitlines()[2:] == [
        "| ok | fine | all there |  |",
        "| missing | lacking | not \\| there | get it: `get it`, or do without |",
    ]


def test_what_does_not_start_is_exit_3(told):
    assert told([FINE], "--start")[0] == 3
    assert told([FINE])[0] == 0


def test_starting_without_java_says_so_and_tries_no_more(monkeypatch, tmp_path):
    class Failing:
        def __enter__(self):
            raise HarnessError("no Java found. Install one.")

        def __exit__(self, *_):
            pass

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(brokers, "EmbeddedKafka", lambda _note: Failing())
    found = list(doctor.starts(None, lambda _text: None))
    assert [(check.name, check.ok) for check in found] == [("Spark starts", False), ("Kafka starts", False)]
    assert "but has no bin/java" in found[0].found
    assert "no Java found" in found[1].found
    assert all(check.required and check.command == "cdc-conformance doctor" for check in found)


@pytest.mark.spark
@pytest.mark.kafka
def test_records_go_through_kafka_into_spark(kafka):
    found = list(doctor.starts(kafka.bootstrap, lambda _text: None))
    assert [check.name for check in found] == ["Spark starts", "Kafka starts", "Kafka into Spark"]
    assert all(check.ok and " after " in check.found for check in found), found
    assert found[2].found.startswith("1,000 records went through Kafka into Spark")
