"""Brokers: what a spec may be, how Java and jars are found, and that nothing is ever left
behind.
"""

import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import alive
from text_tables import rows

from conformance.brokers import broker as brokers
from conformance.brokers import container as containers
from conformance.brokers import embedded as _embedded
from conformance.brokers import jars as _jars
from conformance.brokers.broker import broker, check_spec
from conformance.brokers.embedded import EmbeddedKafka, PortTaken, free_ports
from conformance.brokers.guarded import Guarded, kill_strays
from conformance.brokers.jars import (
    cached_jars,
    find_java,
    java_version,
    kafka_jars,
    pyspark_jars,
    require_java,
)
from conformance.files import cache_dir
from generators.errors import HarnessError, UsageError
from generators.publishing.kafka import check_reachable

ROOT = Path(_jars.__file__).parents[2]


def silent(line):
    """Nobody is told."""


# What a spec may be.


@pytest.mark.parametrize(
    "spec",
    [
        "auto",
        "embedded",
        "container",
        "localhost:9092",
        "10.0.0.1:1",
        "[::1]:65535",
        "a.b-c_d:9,e:10",
    ],
)
def test_legal_specs(spec):
    assert check_spec(spec) == spec


@pytest.mark.parametrize(("spec", "said"), rows(__file__, "illegal.txt"))
def test_illegal_specs_name_what_is_legal(spec, said):
    with pytest.raises(UsageError, match=said), broker(spec.strip("'")):
        pytest.fail("nothing may start")


def test_a_port_has_any_number_of_digits():
    with pytest.raises(UsageError, match="port 99999999999999999999 is outside 1 to 65535"):
        check_spec("host:" + "9" * 5000)
    assert check_spec("host:" + "0" * 5000 + "9092").endswith("9092")


# Java and jars.


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime', 17),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version "1.8.0_452"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('openjdk version "21" 2023-09-19', 21),
        ("bash: java: command not found", None),
    ],
)
def test_java_version(text, version):
    assert java_version(text) == version


def fake_java(folder, says, code=0):
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_java_home_wins_over_path(tmp_path):
    home = fake_java(tmp_path / "home", 'openjdk version "21.0.1" 2024')
    other = fake_java(tmp_path / "other", 'openjdk version "17.0.1" 2024')
    path = {"PATH": f"{other.parent}{os.pathsep}{os.environ['PATH']}"}
    java = find_java({"JAVA_HOME": str(tmp_path / "home"), **path})
    assert (java.path, java.version, find_java(path).path) == (str(home), 21, str(other))


def test_java_that_is_missing_broken_or_old_is_told(tmp_path):
    with pytest.raises(HarnessError, match=r"JAVA_HOME is .*but has no bin/java"):
        find_java({"JAVA_HOME": str(tmp_path)})
    with pytest.raises(HarnessError, match=r"no Java found.*Install Java 17 or 21"):
        find_java({"PATH": str(tmp_path)})
    fake_java(tmp_path / "broken", "cannot", 1)
    with pytest.raises(HarnessError, match=r"exit 1\) names no version: 'cannot'"):
        find_java({"JAVA_HOME": str(tmp_path / "broken")})
    fake_java(tmp_path / "old", 'java version "1.8.0_452"')
    with pytest.raises(HarnessError, match=r"is Java 8; Kafka .* need 17 or later") as caught:
        require_java({"JAVA_HOME": str(tmp_path / "old")})
    assert caught.value.exit_code == 3


def test_cache_dir(tmp_path):
    home = Path.home()
    assert cache_dir({}) == home / ".cache" / "cdc-conformance"
    assert cache_dir({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "cdc-conformance"
    assert cache_dir({"XDG_CACHE_HOME": "/x", "CDC_CONFORMANCE_CACHE": str(tmp_path)}) == tmp_path
    assert cache_dir({"CDC_CONFORMANCE_CACHE": "~/c"}) == home / "c"


def test_jars_of_the_user(tmp_path):
    environ = {"CDC_CONFORMANCE_KAFKA_JARS": str(tmp_path)}
    with pytest.raises(UsageError, match=r"holds no kafka_2\.13-\*\.jar"):
        cached_jars(environ)
    for name in ("kafka_2.13-3.9.0.jar", "a.jar", "note.txt"):
        (tmp_path / name).touch()
    assert [jar.name for jar in kafka_jars(silent, environ=environ)] == [
        "a.jar",
        "kafka_2.13-3.9.0.jar",
    ]


def test_a_cache_that_is_cut_short_does_not_count(tmp_path):
    folder = tmp_path / "jars" / f"kafka_{_jars.SCALA_VERSION}-{_jars.KAFKA_VERSION}"
    folder.mkdir(parents=True)
    environ, jar = {"CDC_CONFORMANCE_CACHE": str(tmp_path)}, folder / "a b.jar"
    assert cached_jars(environ) is None
    for listed, data, expected in (
        ("a b.jar 5", b"12345", [jar]),
        ("a b.jar 5", b"1234", None),
        ("a b.jar 5", b"1234S", None),
        ("a b.jar 5", b"", None),
        ("nonsense", b"12345", None),
    ):
        (folder / "jars.txt").write_text(f"{listed}\n")
        (folder / "jars.sha256").write_text(f"{hashlib.sha256(b'12345').hexdigest()}  a b.jar\n")
        jar.write_bytes(data)
        assert cached_jars(environ) == expected
    jar.unlink()
    assert cached_jars(environ) is None


def test_jars_without_a_list_of_digests_do_not_count(tmp_path):
    folder = tmp_path / "jars" / f"kafka_{_jars.SCALA_VERSION}-{_jars.KAFKA_VERSION}"
    folder.mkdir(parents=True)
    (folder / "a.jar").write_bytes(b"12345")
    (folder / "jars.txt").write_text("a.jar 5\n")
    assert cached_jars({"CDC_CONFORMANCE_CACHE": str(tmp_path)}) is None


def test_a_jar_that_changed_is_named_and_a_pin_counts_more_than_the_list(
    tmp_path, monkeypatch, caplog
):
    folder = tmp_path / "jars" / _jars.KAFKA.name
    folder.mkdir(parents=True)
    environ = {"CDC_CONFORMANCE_CACHE": str(tmp_path)}
    digest = hashlib.sha256(b"12345").hexdigest()
    for name in ("a.jar", "b.jar"):
        (folder / name).write_bytes(b"12345")
    (folder / "jars.txt").write_text("a.jar 5\nb.jar 5\n")
    (folder / "jars.sha256").write_text(f"{digest}  a.jar\n{digest}  b.jar\n")
    assert [jar.name for jar in cached_jars(environ)] == ["a.jar", "b.jar"]
    (folder / "b.jar").write_bytes(b"1234S")
    assert (_jars.altered_jars(_jars.KAFKA, environ), cached_jars(environ)) == (["b.jar"], None)
    (message,) = caplog.messages
    assert message == (
        f"b.jar in {folder} changed since the download, by SHA-256: the Kafka jars are downloaded"
        " again when they are needed"
    )
    monkeypatch.setattr(_jars, "read_pins", lambda _bundle: {"a.jar": _jars.Pin("0" * 64)})
    assert _jars.altered_jars(_jars.KAFKA, environ) == ["a.jar", "b.jar"]


FAKE_IVY = """#!/bin/sh
case "$1" in -version) echo 'openjdk version "17.0.1" 2024' >&2; exit 0;; esac
while [ $# -gt 0 ]; do case "$1" in -retrieve) folder=$(dirname "$2");; esac; shift; done
echo x >> {count}
sleep 0.5
mkdir -p "$folder"; echo jar > "$folder/kafka_2.13-{version}.jar"; echo jar > "$folder/other-1.jar"
"""


def test_the_broker_s_jars_are_pinned_by_their_digests(tmp_path, monkeypatch):
    pinned = _jars.read_pins(_jars.KAFKA)
    assert f"kafka_2.13-{_jars.KAFKA_VERSION}.jar" in pinned
    assert all(re.fullmatch("[0-9a-f]{64}", pin.digest) for pin in pinned.values())
    # Each is fetched by itself, without what it depends on: the list is all.
    assert [
        name
        for name, pin in pinned.items()
        if name != pin.module.split(":", 1)[1].replace(":", "-") + ".jar"
    ] == []
    (tmp_path / "a.jar").write_bytes(b"a")
    (tmp_path / "b.jar").write_bytes(b"b")
    digests = {
        name: _jars.Pin(hashlib.sha256(name[:1].encode()).hexdigest())
        for name in ("a.jar", "b.jar")
    }
    monkeypatch.setattr(_jars, "read_pins", lambda _bundle: digests)
    both = sorted(tmp_path.glob("*.jar"))
    assert _jars.unpinned_jars(_jars.KAFKA, both) == ""
    assert _jars.unpinned_jars(_jars.KAFKA, both[:1]) == "b.jar"
    (tmp_path / "a.jar").write_bytes(b"other")
    (tmp_path / "c.jar").write_bytes(b"c")
    assert _jars.unpinned_jars(_jars.KAFKA, sorted(tmp_path.glob("*.jar"))) == "c.jar, a.jar"


def test_jars_of_other_content_are_refused_and_not_kept(fake_ivy, monkeypatch):
    names = (f"kafka_2.13-{_jars.KAFKA_VERSION}.jar", "other-1.jar")
    monkeypatch.setattr(
        _jars, "read_pins", lambda _bundle: dict.fromkeys(names, _jars.Pin("0" * 64))
    )
    with pytest.raises(
        HarnessError,
        match=r"not those that this release was tested with: kafka_2\.13-.*, other-1\.jar",
    ):
        kafka_jars(silent, environ=fake_ivy[0])
    assert cached_jars(fake_ivy[0]) is None


@pytest.fixture
def fake_ivy(tmp_path, monkeypatch):
    """An environment in which Java pretends to be Ivy; `count` has a line per run."""
    monkeypatch.setattr(_jars, "read_pins", lambda _bundle: {})
    java = fake_java(tmp_path / "java", "")
    count = tmp_path / "count"
    java.write_text(FAKE_IVY.format(count=count, version=_jars.KAFKA_VERSION))
    return {
        "JAVA_HOME": str(tmp_path / "java"),
        "CDC_CONFORMANCE_CACHE": str(tmp_path / "cache"),
    }, count


def test_jars_are_resolved_once_even_by_concurrent_runs(fake_ivy):
    environ, count = fake_ivy
    notes = []
    with ThreadPoolExecutor(3) as pool:
        results = list(
            pool.map(lambda _: kafka_jars(notes.append, environ=environ, timeout_s=20), range(3))
        )
    assert [[jar.name for jar in jars] for jars in results] == [
        [f"kafka_2.13-{_jars.KAFKA_VERSION}.jar", "other-1.jar"]
    ] * 3
    assert count.read_text().count("x") == 1
    assert any("waiting" in note for note in notes)
    # Only the jars and the lock stay.
    assert len(list(results[0][0].parent.parent.iterdir())) == 2


def test_a_damaged_cache_is_replaced(fake_ivy):
    environ, count = fake_ivy
    jars = kafka_jars(silent, environ=environ)
    jars[0].write_bytes(b"")
    assert kafka_jars(silent, environ=environ) == jars
    assert jars[0].read_bytes() == b"jar\n"
    assert count.read_text().count("x") == 2


def test_offline_says_what_to_do(tmp_path):
    """A registry that refuses connections, through the real Ivy."""
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="r"/><resolvers>'
        f'<ibiblio name="r" m2compatible="true" root="http://127.0.0.1:{free_ports(1)[0]}/"/></resolvers></ivysettings>'
    )
    cache = tmp_path / "cache"
    environ = {
        **os.environ,
        "CDC_CONFORMANCE_CACHE": str(cache),
        "CDC_CONFORMANCE_IVY_SETTINGS": str(settings),
    }
    environ.pop("CDC_CONFORMANCE_KAFKA_JARS", None)
    with pytest.raises(HarnessError) as caught:
        kafka_jars(silent, environ=environ, timeout_s=60)
    text = str(caught.value)
    assert caught.value.exit_code == 3
    assert text.startswith("cannot download the Kafka jars: Ivy ended with exit code")
    for part in (
        f"kafka_2.13;{_jars.KAFKA_VERSION}",
        "CDC_CONFORMANCE_KAFKA_JARS",
        "--broker HOST:PORT",
        str(cache),
    ):
        assert part in text
    assert cached_jars(environ) is None
    assert [path.suffix for path in (cache / "jars").iterdir()] == [".lock"]


def test_resolution_has_a_time_limit(fake_ivy):
    environ, _ = fake_ivy
    java = Path(environ["JAVA_HOME"]) / "bin" / "java"
    java.write_text(java.read_text().replace("sleep 0.5", "exec sleep 60"))
    began = time.monotonic()
    with pytest.raises(HarnessError, match=r"Ivy took more than 1 s.*Its log is empty"):
        kafka_jars(silent, environ=environ, timeout_s=1)
    assert time.monotonic() - began < 25


def test_unwritable_cache_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match=r"cannot write the Kafka jars.*CDC_CONFORMANCE_CACHE"):
        kafka_jars(silent, environ={"CDC_CONFORMANCE_CACHE": str(tmp_path / "file")})
    monkeypatch.setattr(_jars, "pyspark_jars", lambda: None)
    with pytest.raises(HarnessError, match="pyspark, whose Ivy does it, is not installed"):
        kafka_jars(
            silent,
            environ={
                **os.environ,
                "CDC_CONFORMANCE_CACHE": str(tmp_path),
                "CDC_CONFORMANCE_KAFKA_JARS": "",
            },
        )


def test_pyspark_is_found_without_being_imported():
    code = (
        "import sys, conformance.brokers.broker, conformance.commands.doctor; from conformance.brokers.jars import pyspark_jars;"
        "assert list(pyspark_jars().glob('ivy-*.jar')); print('pyspark' in sys.modules, 'confluent_kafka' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False False\n"
    assert pyspark_jars() is not None


# The choice that auto makes.


@pytest.mark.parametrize("missing", [containers.EngineMissing, containers.ImageMissing])
def test_auto_takes_the_embedded_broker_and_says_why(monkeypatch, missing):
    notes, closed = [], []

    def refuse(*_, **__):
        raise missing("for a reason")

    client = SimpleNamespace(close=lambda: closed.append(True))
    fake = SimpleNamespace(bootstrap="127.0.0.1:1", detail="fake")
    monkeypatch.setattr(
        brokers, "engine", refuse if missing is containers.EngineMissing else lambda: client
    )
    monkeypatch.setattr(brokers, "need_image", refuse)
    monkeypatch.setattr(brokers, "EmbeddedKafka", lambda _note: nullcontext(fake))
    with broker("auto", note=notes.append) as chosen:
        assert (chosen.kind, chosen.bootstrap, chosen.detail) == ("embedded", "127.0.0.1:1", "fake")
    assert notes == [
        "broker auto uses the embedded Kafka: for a reason",
        "Kafka at 127.0.0.1:1: fake",
    ]
    assert closed == [True] * (missing is containers.ImageMissing)
    with pytest.raises(missing), broker("container"):
        pytest.fail("container must not fall back")


def test_no_engine_is_told_in_bounded_time(monkeypatch):
    pytest.importorskip("testcontainers")
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{free_ports(1)[0]}")
    began = time.monotonic()
    with (
        pytest.raises(
            HarnessError, match=r"no Docker engine answers at tcp://127.*--broker embedded"
        ),
        broker("container"),
    ):
        pytest.fail("nothing may start")
    assert time.monotonic() - began < 30


# The guardian.


SLEEPER = """
import json, os, time
from pathlib import Path
from conformance.brokers.guarded import Guarded
folder = Path({folder!r})
guarded = Guarded(["sleep", "600"], pid_file=folder / "pid", remove=folder / "data", afterwards=["touch", str(folder / "after")])
while guarded.pid is None:
    time.sleep(0.01)
{extra}
print(json.dumps([guarded.pid, guarded._guardian.pid]), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("number", "extra"),
    [
        (signal.SIGKILL, ""),
        (signal.SIGTERM, ""),
        (signal.SIGINT, ""),
        # A forked child keeps the pipe to the guardian open.
        (signal.SIGKILL, "if os.fork() == 0:\n    os.setsid()\n    time.sleep(8)\n    os._exit(0)"),
    ],
    ids=["kill", "term", "interrupt", "kill-with-fork"],
)
def test_a_child_does_not_outlive_its_parent(eventually, tmp_path, number, extra):
    (tmp_path / "data").mkdir()
    code, quiet = (
        SLEEPER.format(folder=str(tmp_path), extra=extra),
        {"stderr": subprocess.DEVNULL, "start_new_session": True},
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, **quiet
    ) as process:
        try:
            child, guardian = json.loads(process.stdout.readline())
            assert alive(child)
            process.send_signal(number)
            process.wait(10)
        finally:
            process.kill()
    eventually(lambda: not alive(child) and not alive(guardian))
    eventually((tmp_path / "after").exists)
    assert not (tmp_path / "data").exists()


@pytest.fixture
def stray(tmp_path):
    """A function that starts a process and shows it in the folder `proc`, as the kernel shows one
    in its `exec`: without an environment and arguments. It returns the process and the file of its
    environment.
    """
    started = []

    def start():
        started.append(subprocess.Popen(["sleep", "600"]))
        folder = tmp_path / "proc" / str(started[-1].pid)
        folder.mkdir(parents=True)
        (folder / "exe").symlink_to("/bin/sleep")
        (folder / "cmdline").touch()
        (folder / "environ").touch()
        return started[-1], folder / "environ"

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_stray_whose_environment_is_not_there_yet_is_killed(tmp_path, stray):
    process, environment = stray()
    thread = threading.Timer(0.2, lambda: environment.write_text(f"TMPDIR={tmp_path}/home"))
    thread.start()
    assert kill_strays(tmp_path / "home", tmp_path / "proc") == 1
    thread.join()
    assert process.wait(10) == -signal.SIGKILL


def test_a_stray_that_another_forked_while_strays_were_looked_for_is_killed(tmp_path, stray):
    parent, environment = stray()
    environment.unlink()
    os.mkfifo(environment)
    forked = []

    def fork():
        # The one who asks has opened it, and waits for its end.
        with environment.open("w") as asked:
            environment.unlink()
            forked.append(stray())
            forked[0][1].write_text(f"TMPDIR={tmp_path}/home")
            asked.write(f"TMPDIR={tmp_path}/home")

    thread = threading.Thread(target=fork, daemon=True)
    thread.start()
    assert kill_strays(tmp_path / "home", tmp_path / "proc") == 2
    thread.join()
    assert [parent.wait(10), forked[0][0].wait(10)] == [-signal.SIGKILL] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_a_child_does_not_outlive_its_guardian(eventually, tmp_path):
    guarded = Guarded(["sleep", "600"], pid_file=tmp_path / "pid")
    eventually(lambda: guarded.pid is not None)
    os.kill(guarded._guardian.pid, signal.SIGKILL)
    eventually(lambda: not alive(guarded.pid))
    guarded.stop()


def test_stop_kills_the_child_and_leaves_the_rest_to_us(eventually, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "pid").write_text("1")
    after = ["touch", str(tmp_path / "after")]
    guarded = Guarded(
        ["sleep", "600"], pid_file=tmp_path / "pid", remove=tmp_path / "data", afterwards=after
    )
    eventually(lambda: guarded.pid is not None)
    assert guarded.pid != 1, "the id of a former child"
    assert guarded.exit_code() is None
    guarded.stop()
    guarded.stop()
    assert not alive(guarded.pid)
    assert (tmp_path / "data").exists() and not (tmp_path / "after").exists()


def test_the_childs_exit_code_is_passed_on():
    guarded = Guarded(["sh", "-c", "exit 7"])
    assert guarded.wait(10) == 7
    guarded.stop()
    never = Guarded(["sleep", "60"])
    assert never.wait(0.1) is None
    never.stop()


# The embedded broker.


def test_free_ports_are_free_and_outside_the_ephemeral_range():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        assert 20_000 <= port < 32_000
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))


def test_embedded_broker_answers_and_a_running_one_is_used(kafka):
    assert kafka.kind == "embedded"
    assert re.fullmatch(r"embedded Kafka 2\.13-\S+ on Java \d+", kafka.detail)
    notes = []
    with broker(kafka.bootstrap, note=notes.append) as running:
        assert (running.kind, running.bootstrap) == ("running", kafka.bootstrap)
        check_reachable(running.bootstrap)
    assert len(notes) == 1
    # It is not ours to stop.
    check_reachable(kafka.bootstrap)


def test_a_running_broker_must_answer(monkeypatch):
    monkeypatch.setattr(brokers, "check_reachable", lambda spec: check_reachable(spec, timeout_s=1))
    with (
        pytest.raises(HarnessError, match="no Kafka broker answers"),
        broker(f"127.0.0.1:{free_ports(1)[0]}"),
    ):
        pytest.fail("nothing answers there")


@pytest.mark.kafka
def test_a_taken_port_is_avoided_and_nothing_stays(monkeypatch):
    notes, folders = [], []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        choices = iter([[port, free_ports(1)[0]]])
        monkeypatch.setattr(
            _embedded, "free_ports", lambda count: next(choices, None) or free_ports(count)
        )
        with EmbeddedKafka(notes.append) as own:
            folders.append(own.directory)
            pid = own.pid
            assert not own.bootstrap.endswith(f":{port}")
            check_reachable(own.bootstrap)
            assert alive(pid)
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            assert b"-Xmx512m" in command
            assert own.end(30) == 128 + signal.SIGTERM
            assert not alive(pid)
    assert any("took the port" in note for note in notes)
    assert not alive(pid)
    assert not folders[0].exists()


def test_kafka_s_tool_formats_the_first_broker_and_what_it_says_the_others(monkeypatch, tmp_path):
    def ran(self, arguments):
        (name,) = (word.partition("=")[2] for word in arguments if word.startswith("--cluster-id="))
        (self.directory / "data").mkdir()
        (self.directory / "data" / "bootstrap.checkpoint").write_bytes(b"features")
        ids.append(name)
        return SimpleNamespace(wait=lambda _seconds: 0, stop=lambda: None)

    ids = []
    monkeypatch.setattr(_embedded, "kafka_classes", lambda: tmp_path / "classes" / "kafka.jsa")
    monkeypatch.setattr(EmbeddedKafka, "_run", ran)
    several = [EmbeddedKafka(silent) for _ in range(3)]
    for number, own in enumerate(several):
        own._dir, own._ports = tmp_path / str(number), [1, 2]
        own._dir.mkdir()
        own._prepare()
    assert {(own.directory / "data" / "bootstrap.checkpoint").read_bytes() for own in several} == {
        b"features"
    }
    assert sorted(path.name for path in (tmp_path / "classes").iterdir()) == [
        "kafka.checkpoint",
        "kafka.checkpoint.sha256",
    ]
    texts = [(own.directory / "data" / "meta.properties").read_text() for own in several[1:]]
    written = [dict(line.split("=") for line in text.split()) for text in texts]
    assert [(of["version"], of["node.id"]) for of in written] == [("1", "1")] * 2
    assert len({*ids, *(of["cluster.id"] for of in written)}) == 3
    assert len({of["directory.id"] for of in written}) == 2


@pytest.mark.parametrize("damaged", [b"feat", b"featureS", b""])
def test_a_damaged_template_of_the_storage_is_named_and_made_again(monkeypatch, tmp_path, damaged):
    def ran(self, _arguments):
        (self.directory / "data").mkdir()
        (self.directory / "data" / "bootstrap.checkpoint").write_bytes(b"features")
        runs.append(self.directory)
        return SimpleNamespace(wait=lambda _seconds: 0, stop=lambda: None)

    runs, lines, template = [], [], tmp_path / "classes" / "kafka.checkpoint"
    monkeypatch.setattr(_embedded, "kafka_classes", lambda: tmp_path / "classes" / "kafka.jsa")
    monkeypatch.setattr(EmbeddedKafka, "_run", ran)
    for number in range(3):
        if number == 1:
            template.write_bytes(damaged)
        broker = EmbeddedKafka(lines.append)
        broker._dir, broker._ports = tmp_path / str(number), [1, 2]
        broker._dir.mkdir()
        broker._prepare()
        assert (broker._dir / "data" / "bootstrap.checkpoint").read_bytes() == b"features"
    assert [folder.name for folder in runs] == ["0", "1"]
    assert lines == [f"{template} is damaged, and is made again: its SHA-256 is another"]
    assert template.read_bytes() == b"features"


@pytest.mark.parametrize(
    ("code", "starts"),
    [
        (0x100 - signal.SIGABRT, 2),
        (0x100 - signal.SIGSEGV, 2),
        (0x100 - signal.SIGKILL, 1),
        (1, 1),
    ],
)
def test_a_server_that_crashes_with_an_archive_is_started_once_more_without(
    monkeypatch, tmp_path, code, starts
):
    archive = tmp_path / "kafka-1.jsa"
    archive.write_bytes(b"damaged")
    arguments, lines = [], []

    def ran(self, given):
        arguments.append(tuple(given))
        crashes = any("SharedArchiveFile" in text for text in given)
        return SimpleNamespace(
            exit_code=lambda: code if crashes else None, stop=lambda: None, pid=1
        )

    monkeypatch.setattr(EmbeddedKafka, "_run", ran)
    monkeypatch.setattr(EmbeddedKafka, "_is_answering", lambda _self: True)
    broker = EmbeddedKafka(lines.append)
    broker._dir = tmp_path
    broker._arguments = ("-Xmx1m", f"-XX:SharedArchiveFile={archive}", "kafka.Kafka")
    with suppress(HarnessError):
        broker.start()
    assert len(arguments) == starts
    assert arguments[-1] == (("-Xmx1m", "kafka.Kafka") if starts == 2 else arguments[0])
    assert archive.exists() == (starts == 1)
    assert [line.partition(" which")[0] for line in lines] == [
        f"the embedded Kafka died of a signal with {archive},"
    ] * (starts - 1)


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("storage", "name", "value", "log"),
    [
        (True, "process.roles", "nonsense", r"exit code 1[\s\S]*nonsense"),
        (False, "metric.reporters", "lies", r"ended with exit code 1 while starting[\s\S]*lies"),
    ],
    ids=["the storage tool", "the broker"],
)
def test_a_failed_start_shows_the_log_and_leaves_nothing(
    monkeypatch, tmp_path, storage, name, value, log
):
    def prepared(self, prepare=EmbeddedKafka._prepare):
        arguments = prepare(self)
        with (self.directory / "server.properties").open("a") as file:
            file.write(f"{name}={value}\n")
        return arguments

    monkeypatch.setattr(_embedded.tempfile, "tempdir", str(tmp_path))
    if storage:
        monkeypatch.setitem(_embedded.PROPERTIES, name, value)
        monkeypatch.setattr(_embedded, "kafka_classes", lambda: None)
    else:
        monkeypatch.setattr(EmbeddedKafka, "_prepare", prepared)
    with pytest.raises(HarnessError, match=log) as caught, EmbeddedKafka(silent):
        pytest.fail("it must not start")
    assert not isinstance(caught.value, PortTaken)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "cached", "answers", "fetched"),
    [
        ("embedded", None, False, True),
        ("auto", None, False, True),
        ("auto", None, True, False),
        ("embedded", [], False, False),
        ("container", None, False, False),
        ("none", None, False, False),
        ("kafka.test:9092", None, False, False),
    ],
)
def test_the_jars_of_a_broker_are_fetched_ahead_if_one_will_start_from_them(
    monkeypatch, spec, cached, answers, fetched
):
    def engine():
        if not answers:
            raise containers.EngineMissing("none")
        return SimpleNamespace(close=lambda: None)

    seen = []
    monkeypatch.setattr(brokers, "cached_jars", lambda: cached)
    monkeypatch.setattr(brokers, "engine", engine)
    monkeypatch.setattr(brokers, "kafka_jars", seen.append)
    brokers.ahead(spec, print)
    for thread in threading.enumerate():
        if thread.name == "cdc-jars":
            thread.join(10)
    assert seen == [print] * fetched
