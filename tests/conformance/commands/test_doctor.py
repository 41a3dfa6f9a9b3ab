"""The doctor: every check answers, names a remedy when something is missing, and never raises."""

import hashlib
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.brokers import broker as brokers
from conformance.brokers import container as containers
from conformance.brokers import jars
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


def test_every_check_answers_in_order_with_a_remedy_for_what_is_missing():
    answers = checks()
    assert [check.name for check in answers] == [name for name, *_ in CHECKS]
    for check in answers:
        assert check.state and check.needed_for and check.command in check.remedy
        assert (check.remedy == "") == check.ok
    required = {check.name for check in answers if check.required}
    assert required == {
        "Python",
        "our packages",
        "Java",
        "pyspark",
        "confluent-kafka",
        "disk",
        "configuration",
        "ports",
    }
    of = {check.name: check for check in answers}
    assert of["Python"].ok and sys.executable in of["Python"].state
    assert of["pyspark"].state.startswith("4.") and "librdkafka" in of["confluent-kafka"].state
    assert of["our packages"].ok and str(ROOT) in of["our packages"].state
    docker = of["Docker engine"]
    assert (docker.ok, docker.state, docker.required) == (False, "no Docker engine answers", False)
    assert docker.command == (
        "open -a Docker" if sys.platform == "darwin" else "systemctl start docker"
    )


REPORT = "report this with the output of `cdc-conformance doctor --format json`"


@pytest.mark.parametrize(
    ("error", "problem", "remedy", "command"),
    [
        (
            HarnessError("no such thing.\nGet one, by `get thing`."),
            "no such thing",
            "Get one, by `get thing`.",
            "get thing",
        ),
        (ZeroDivisionError(), "ZeroDivisionError", REPORT, "cdc-conformance doctor --format json"),
    ],
)
def test_a_check_that_breaks_says_what_is_wrong_and_then_what_to_do(
    monkeypatch, error, problem, remedy, command
):
    def broken():
        raise error

    monkeypatch.setattr(doctor, "CHECKS", (("x", broken, "y", False),))
    assert checks() == [Check("x", False, problem, remedy, "y", False)]
    assert checks()[0].command == command


def no_port(_count):
    raise HarnessError("no free TCP port on 127.0.0.1 between 1 and 2")


def no_jars(patch, folder):
    patch.setenv("CDC_CONFORMANCE_CACHE", str(folder / "none"))
    patch.delenv("CDC_CONFORMANCE_KAFKA_JARS", raising=False)


def no_folder(_patch, folder):
    (folder / ".cdc-conformance").write_text("a file", "utf-8")


def attribute(*given):
    return lambda patch, _folder: patch.setattr(*given)


def release(version):
    return attribute(doctor, "_version", lambda _name: version)


PIP = f"{sys.executable} -m pip install"


@pytest.mark.parametrize(
    ("name", "spoil", "state", "remedy", "command"),
    [
        (
            "Java",
            lambda patch, folder: patch.setenv("JAVA_HOME", str(folder)),
            "{folder}",
            "Java 17 or 21",
            "openjdk",
        ),
        ("pyspark", release(None), "not installed", "", f"{PIP} 'pyspark>=4.0,<5'"),
        ("pyspark", release("3.5.4"), "3.5.4", "", f"{PIP} 'pyspark>=4.0,<5'"),
        ("Docker engine", release(None), "", "", f"{PIP} 'cdc-conformance[container]'"),
        ("Kafka broker jars", no_jars, "{folder}", "CDC_CONFORMANCE_KAFKA_JARS", ""),
        ("disk", attribute(doctor, "DISK_MB", 1 << 40), "", "TMPDIR", ""),
        ("free memory", attribute(doctor, "MEMORY_MB", 1 << 40), "", "", ""),
        (
            "failures' folder",
            no_folder,
            "{folder}/.cdc-conformance is not writable",
            "--report DIR",
            "chmod u+rwx ",
        ),
        (
            "ports",
            attribute("conformance.brokers.embedded.free_ports", no_port),
            "no free",
            "",
            "ss -l",
        ),
    ],
)
def test_what_is_missing_is_told_with_what_to_do(
    monkeypatch, tmp_path, name, spoil, state, remedy, command
):
    monkeypatch.chdir(tmp_path)
    spoil(monkeypatch, tmp_path)
    check = by_name()[name]
    assert check.ok is (name == "free memory" and sys.platform != "linux")
    assert (
        state.format(folder=tmp_path) in check.state
        and remedy in check.remedy
        and command in check.command
    )


def test_jars_of_the_user_are_counted(monkeypatch, tmp_path):
    (tmp_path / "kafka_2.13-4.3.1.jar").touch()
    monkeypatch.setenv("CDC_CONFORMANCE_KAFKA_JARS", str(tmp_path))
    assert by_name()["Kafka broker jars"].state == f"1 in {tmp_path}"


def test_a_jar_of_the_broker_that_changed_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    folder = tmp_path / "jars" / jars.KAFKA.name
    folder.mkdir(parents=True)
    (folder / "kafka-storage-1.jar").write_bytes(b"1234S")
    (folder / "jars.txt").write_text("kafka-storage-1.jar 5\n")
    digest = hashlib.sha256(b"12345").hexdigest()
    (folder / "jars.sha256").write_text(f"{digest}  kafka-storage-1.jar\n")
    check = by_name()["Kafka broker jars"]
    assert (check.ok, check.state) == (
        False,
        f"changed since the download: kafka-storage-1.jar in {tmp_path}",
    )


def test_connector_jars(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CDC_CONFORMANCE_SPARK_JARS", raising=False)
    check = by_name()["Spark connector jars"]
    assert not check.ok
    assert (
        check.state == "not cached yet: spark-sql-kafka-0-10_2.13; not cached yet: spark-avro_2.13"
    )
    (tmp_path / "spark-avro_2.13-4.1.1.jar").touch()
    monkeypatch.setenv("CDC_CONFORMANCE_SPARK_JARS", str(tmp_path))
    state = by_name()["Spark connector jars"].state
    assert (
        state
        == "spark-avro_2.13 of CDC_CONFORMANCE_SPARK_JARS; not cached yet: spark-sql-kafka-0-10_2.13"
    )
    monkeypatch.setenv("CDC_CONFORMANCE_SPARK_JARS", str(tmp_path / "none"))
    assert "none is neither a jar nor a folder with jars" in by_name()["Spark connector jars"].state


def test_the_room_of_kept_cases_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    assert "named cases" not in by_name()["disk"].state
    file = tmp_path / "cases" / "digest" / "format" / "v1.cases"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(3 << 20))
    assert by_name()["disk"].state.endswith(f"; 3 MB of named cases in {tmp_path / 'cases'}")


def test_a_folder_that_hides_a_package_is_named(tmp_path):
    (tmp_path / "spark_checks").mkdir()
    (tmp_path / "spark_checks" / "__init__.py").touch()
    code = "from conformance.commands.doctor import check_packages; print(check_packages())"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        ran.stdout.startswith("Outcome(is_right=False,")
        and f"{tmp_path / 'spark_checks'} hides spark_checks" in ran.stdout
    )


def test_the_configuration(monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert by_name()["configuration"].state == "none (none is needed)"
    (tmp_path / "cdc-conformance.toml").write_text("seed = 2\n", "utf-8")
    assert by_name()["configuration"].state == str(tmp_path / "cdc-conformance.toml")
    (tmp_path / "cdc-conformance.toml").write_text("sed = 2\nbugdet = 'ci'\n", "utf-8")
    check = by_name()["configuration"]
    assert not check.ok
    assert check.state.startswith(
        "cdc-conformance.toml, line 1, sed = 2: unknown key 'sed'. Did you mean 'seed'?"
    )
    assert check.state.endswith("(and 1 more)")
    assert check.command == "cdc-conformance config schema"


def test_a_broker_that_is_named_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(kafka, "check_reachable", lambda spec, timeout_s: asked.append(spec))
    assert checks("kafka:9092,other:9092")[-1].state.startswith("answers after 0.")
    assert asked == ["kafka:9092,other:9092"]
    assert [check.name for check in checks("embedded")] == [name for name, *_ in CHECKS]
    monkeypatch.undo()
    monkeypatch.setattr(kafka.check_reachable, "__defaults__", (1.0,))
    check = doctor._check(
        "broker", lambda: doctor.check_reachable_broker("127.0.0.1:1"), "--broker 127.0.0.1:1", True
    )
    assert (check.ok, "127.0.0.1:1" in check.state, check.command) == (
        False,
        True,
        "nc -vz 127.0.0.1 1",
    )


FINE = Check("fine", True, "all there", "", "everything", True)
LACKING = Check(
    "lacking", False, "not | there", "get it: `get it`, or do without", "something", False
)
STOPPING = Check("stopping", False, "gone", "wait", "everything", True)


@pytest.fixture
def outcome(monkeypatch):
    """A function that prints checks as the command does, and gives its exit code and output."""

    def run(answers, *arguments):
        monkeypatch.setattr(doctor, "checks", lambda _broker: list(answers))
        monkeypatch.setattr(doctor, "starts", lambda _broker, _note: iter([STOPPING]))
        done = CliRunner().invoke(doctor.doctor, [*arguments])
        return done.exit_code, done.stdout

    return run


PRETTY = """\
ok       fine      all there
missing  lacking   not | there
missing  stopping  gone

lacking
    needed for  something
    remedy      get it: `get it`, or do without
    $ get it

stopping
    needed for  everything
    remedy      wait

1 of 3 are ok; every run needs 1 of the others
"""


def test_each_problem_ends_with_its_remedy(outcome):
    assert outcome([FINE, LACKING, STOPPING], "--format", "pretty") == (3, PRETTY)
    assert outcome([FINE], "--format", "pretty") == (
        0,
        "ok       fine  all there\n\nall 1 are ok\n",
    )


def test_checks_as_json_and_as_markdown(outcome):
    code, out = outcome([FINE, LACKING], "--format", "json")
    assert code == 0
    text = (
        '{"name": "lacking", "ok": false, "found": "not | there", "remedy": "get it: `get it`, or do without", '
        '"command": "get it", "needed_for": "something", "required": false}'
    )
    assert [json.loads(line) for line in out.splitlines()] == [FINE.as_json(), json.loads(text)]
    assert outcome([FINE, LACKING], "--format", "markdown")[1].splitlines()[2:] == [
        "| ok | fine | all there |  |",
        "| missing | lacking | not \\| there | get it: `get it`, or do without |",
    ]
    assert (outcome([FINE], "--start")[0], outcome([FINE])[0]) == (3, 0), (
        "what does not start is exit 3"
    )


def test_starting_without_java_says_so_and_tries_no_more(monkeypatch, tmp_path):
    class Failing:
        def __enter__(self):
            raise HarnessError("no Java found. Install one.")

        def __exit__(self, *_):
            pass

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(brokers, "EmbeddedKafka", lambda _note: Failing())
    answers = list(doctor.starts(None, lambda _text: None))
    assert [(check.name, check.ok) for check in answers] == [
        ("Spark starts", False),
        ("Kafka starts", False),
    ]
    assert "but has no bin/java" in answers[0].state
    assert "no Java found" in answers[1].state
    assert all(check.required and check.command == "cdc-conformance doctor" for check in answers)


def test_records_go_through_kafka_into_spark(kafka, engine, monkeypatch):
    monkeypatch.setattr(
        "conformance.engines.child.ChildEngine", lambda **_options: nullcontext(engine)
    )
    answers = list(doctor.starts(kafka.bootstrap, lambda _text: None))
    assert [check.name for check in answers] == ["Spark starts", "Kafka starts", "Kafka into Spark"]
    assert all(check.ok and " after " in check.state for check in answers), answers
    assert answers[2].state.startswith("1,000 records went through Kafka into Spark")
