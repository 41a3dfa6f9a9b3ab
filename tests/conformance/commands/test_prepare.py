"""What is fetched and made once: archives that a JVM takes, and does without when they are no
good.
"""

import json
import shutil
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from command_lines import performed

from conformance.brokers import archive as _archive
from conformance.brokers import jars as _jars
from conformance.brokers import spark as _spark
from conformance.brokers.archive import (
    archive_options,
    archive_writing,
    complete_archive,
    discard_archive,
    kafka_classes,
    spark_classes,
    split_archive,
)
from conformance.commands import prepare
from conformance.files import write_seal
from generators.errors import HarnessError

NAME = ("org.apache.ivy.Main", "-version")


def silent(line):
    """Nobody is told."""


def ran(*options):
    """What a small Java program says, on the classes of pyspark's Ivy."""
    argv = [
        _jars.java_path(),
        *options,
        "-cp",
        str(next(_jars.pyspark_jars().glob("ivy-*.jar"))),
        *NAME,
    ]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An archive of that program's classes."""
    path = tmp_path_factory.mktemp("archive") / "classes" / "ivy.jsa"
    with archive_writing(path, silent) as options:
        assert ran(*options).returncode == 0
    return path


@pytest.fixture
def archive(made, tmp_path):
    """A copy of it, which may be spoiled."""
    return shutil.copytree(made.parent, tmp_path / "classes") / made.name


def test_a_jvm_takes_the_archive_that_it_wrote(archive):
    assert [path.name for path in archive.parent.glob("*.jsa")] == [
        f"ivy-{complete_archive(archive).stat().st_size}.jsa"
    ]
    done = ran(*archive_options(archive), "-Xlog:class+load")
    assert (done.returncode, done.stderr) == (0, "")
    assert "org.apache.ivy.Main source: shared objects file (top)" in done.stdout
    without = ran("-Xlog:class+load")
    assert "org.apache.ivy.Main source: file:" in without.stdout


def test_a_jvm_does_without_an_archive_that_is_none_and_says_nothing(archive):
    plain, file = ran(), complete_archive(archive)
    size = file.stat().st_size
    file.unlink()
    file.write_bytes(b"x" * size)
    write_seal(file)
    assert archive_options(archive)
    done = ran(*archive_options(archive))
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


def cut_short(data):
    return data[: len(data) // 2]


def one_byte_flipped(data):
    return data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]


def emptied(_data):
    return b""


@pytest.mark.parametrize("damage", [cut_short, one_byte_flipped, emptied])
def test_an_archive_that_is_damaged_is_named_removed_and_made_again(archive, damage):
    file, lines = complete_archive(archive), []
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(damage(data))
    assert archive_options(archive, lines.append) == ()
    (line,) = lines
    assert line == (
        f"{file} is damaged and was removed: its SHA-256 is another. Until `cdc-conformance"
        " prepare` writes it again, JVMs start slower"
    )
    assert not list(archive.parent.glob(f"{file.name}*"))
    with archive_writing(archive, silent) as options:
        Path(options[0].partition("=")[2]).write_bytes(data)
    assert archive_options(archive, lines.append)
    assert len(lines) == 1


def test_an_archive_without_a_digest_is_not_used_and_replaced(archive):
    file = complete_archive(archive)
    data = file.read_bytes()
    file.with_name(f"{file.name}.sha256").unlink()
    assert archive_options(archive) == ()
    with archive_writing(archive, silent) as options:
        Path(options[0].partition("=")[2]).write_bytes(data + b"more")
    assert [path.name for path in archive.parent.glob("*.jsa")] == [f"ivy-{len(data) + 4}.jsa"]


def test_the_archive_of_a_jvm_that_died_is_removed_and_told(archive):
    file, lines = complete_archive(archive), []
    options = archive_options(archive)
    assert split_archive(["-Xmx1m", *options]) == (file, ("-Xmx1m", *options[1:]))
    assert split_archive(options[1:]) == (None, options[1:])
    discard_archive(file, "the broker died of a signal", lines.append)
    assert archive_options(archive) == ()
    (line,) = lines
    assert line == (
        f"the broker died of a signal with {file}, which was removed; it is started once more"
        " without. Until `cdc-conformance prepare` writes it again, JVMs start slower"
    )


def test_a_jvm_that_writes_none_is_an_error_and_leaves_nothing(tmp_path):
    assert archive_options(None) == archive_options(tmp_path / "none.jsa") == ()
    path = tmp_path / "classes" / "x.jsa"
    with (
        pytest.raises(HarnessError, match=r"ended without writing .*x-\d+\.jsa"),
        archive_writing(path, silent),
    ):
        pass
    with suppress(KeyError), archive_writing(path, silent) as options:
        Path(options[0].partition("=")[2]).write_bytes(b"half")
        raise KeyError
    assert not list(path.parent.glob("*.jsa"))


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "classes").write_text("a file")
    path = tmp_path / "classes" / "x.jsa"
    with (
        pytest.raises(HarnessError, match=r"cannot write .*x\.jsa: .*CDC_CONFORMANCE_CACHE"),
        archive_writing(path, silent),
    ):
        pytest.fail("nothing can be written")


def test_one_of_two_writes_and_the_other_waits(tmp_path):
    path, notes, came = tmp_path / "x.jsa", [], threading.Event()

    def note(line):
        notes.append(line)
        came.set()

    def second():
        with archive_writing(path, note) as options:
            notes.append(options)

    with archive_writing(path, silent) as options:
        other = threading.Thread(target=second)
        other.start()
        assert came.wait(10)
        Path(options[0].partition("=")[2]).write_bytes(b"whole")
    other.join(10)
    assert notes == [f"another process is writing {path}; waiting for it", None]
    assert complete_archive(path).read_bytes() == b"whole"


def test_each_java_and_each_set_of_jars_has_an_archive_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    jars = tmp_path / "jars"
    jars.mkdir()
    (jars / "a.jar").write_bytes(b"a")
    monkeypatch.setattr(_archive, "pyspark_jars", lambda: jars)
    first = spark_classes()
    assert first == spark_classes()
    assert first.parent == tmp_path / "classes"
    (jars / "b.jar").write_bytes(b"b")
    second = spark_classes()
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert len({first, second, spark_classes()}) == 3
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert spark_classes() is None


def test_a_broker_without_jars_has_no_archive(tmp_path, monkeypatch):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.delenv("CDC_CONFORMANCE_KAFKA_JARS", raising=False)
    assert kafka_classes() is None
    monkeypatch.setenv("CDC_CONFORMANCE_KAFKA_JARS", str(tmp_path))
    assert kafka_classes() is None


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A machine where jars and modules are there and archives are not; who started what."""
    started = []

    def write(name):
        def start(options, note):
            started.append(name)
            Path(options[0].partition("=")[2]).write_bytes(bytes(3 << 20))

        return start

    monkeypatch.setattr(_jars, "cached_jars", lambda: [tmp_path / "kafka" / "a.jar"])
    monkeypatch.setattr(_jars, "kafka_jars", lambda note: [tmp_path / "kafka" / "a.jar"])
    monkeypatch.setattr(prepare, "ahead", lambda _spec, _note: None)
    monkeypatch.setattr(_spark, "state", lambda: ({"avro": "spark-avro_2.13 4.0.0"}, []))
    monkeypatch.setattr(_spark, "prepare_jars", lambda modules, note: ())
    monkeypatch.setattr(_archive, "kafka_classes", lambda: tmp_path / "kafka.jsa")
    monkeypatch.setattr(_archive, "spark_classes", lambda: tmp_path / "spark.jsa")
    monkeypatch.setattr(prepare, "_run_broker", write("broker"))
    monkeypatch.setattr(prepare, "_run_session", write("session"))
    return started


def test_what_is_there_is_left_and_the_rest_is_made(places, tmp_path):
    first = performed("prepare", "--format", "json")
    assert first.exit_code == 0
    steps = [json.loads(line) for line in first.stdout.splitlines()]
    made = [
        ("Spark's modules", False),
        ("Spark's classes", True),
        ("Kafka's jars", False),
        ("Kafka's classes", True),
    ]
    assert [(step["name"], step["made"]) for step in steps] == made
    assert steps[3]["found"] == f"{tmp_path / 'kafka-3145728.jsa'}, 3 MB"
    assert places == ["session", "broker"]
    again = performed("prepare", "--format", "pretty")
    assert again.stdout.splitlines()[-4] == "ready  Spark's modules  spark-avro_2.13 4.0.0"
    assert (
        again.stdout.splitlines()[-3]
        == f"ready  Spark's classes  {tmp_path / 'spark-3145728.jsa'}, 3 MB"
    )
    assert places == ["session", "broker"]


def test_the_registry_is_fetched_where_it_is_asked_for(places, tmp_path, monkeypatch):
    there = []
    monkeypatch.setattr(_jars, "cached_bundle", lambda bundle: there or None)
    monkeypatch.setattr(
        _jars,
        "jars_of",
        lambda bundle, note: there.append(tmp_path / bundle.name / "a.jar") or there,
    )
    done = [performed("prepare", "--registry", "--format", "json") for _ in range(2)]
    steps = [json.loads(result.stdout.splitlines()[-1]) for result in done]
    jars = str(tmp_path / "apicurio-registry-app-2.6.13.Final")
    expected = [("Apicurio's jars", made, jars) for made in (True, False)]
    assert [(step["name"], step["made"], step["found"]) for step in steps] == expected


def test_without_java_the_doctor_is_named(places, monkeypatch):
    monkeypatch.setattr(_archive, "kafka_classes", lambda: None)
    with pytest.raises(
        HarnessError, match=r"Kafka's classes cannot be archived.*cdc-conformance doctor"
    ):
        list(prepare.steps(silent))
