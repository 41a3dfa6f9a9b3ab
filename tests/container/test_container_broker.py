"""A broker in a container, against a real engine: CDC_CONFORMANCE_KAFKA_IMAGE names the image (`tox
run -e container`).
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import docker
import pytest
from confluent_kafka import Consumer, TopicPartition

from conformance.brokers import container as _container
from conformance.brokers.broker import broker
from conformance.brokers.embedded import free_ports
from generators.errors import HarnessError
from generators.model import Message
from generators.publishing.kafka import Placed, check_reachable, publish, run_topic

pytestmark = pytest.mark.container

ROOT = Path(_container.__file__).parents[2]


@pytest.fixture(scope="module")
def engine():
    client = docker.from_env()
    yield client
    client.close()


def ours(engine, pid=None):
    """The containers of a process, this one by default: another run may have its own on the same
    machine.
    """
    prefix = _container.container_prefix(pid or os.getpid())
    return [box.name for box in engine.containers.list(all=True) if box.name.startswith(prefix)]


def gone(engine, pid, timeout_s=20):
    deadline = time.monotonic() + timeout_s
    while ours(engine, pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    return not ours(engine, pid)


def test_publish_consume_and_gone(engine):
    messages = [
        Message("cdc", 0, None, b"null key", timestamp_ms=1),
        Message(
            "cdc",
            1,
            b"",
            b"empty key",
            headers=(("b", b"2"), ("a", b""), ("b", b"1")),
            timestamp_ms=4_102_444_800_000,
        ),
        Message("cdc", 1, b"key", None, timestamp_ms=1_700_000_000_000),
    ]
    notes = []
    with broker("container", note=notes.append) as started:
        assert started.kind == "container"
        assert _container.image_name() in started.detail
        assert len(ours(engine)) == 1
        with run_topic(started.bootstrap, 2) as topic:
            result = publish(started.bootstrap, topic, messages)
            assert result.placed == [Placed(topic, 0, 0), Placed(topic, 1, 0), Placed(topic, 1, 1)]
            consumer = Consumer(
                {"bootstrap.servers": started.bootstrap, "group.id": "test", "log_level": 0}
            )
            consumer.assign([TopicPartition(topic, partition, 0) for partition in (0, 1)])
            records = {}
            deadline = time.monotonic() + 30
            while len(records) < 3 and time.monotonic() < deadline:
                for record in consumer.consume(10, timeout=0.5):
                    records[record.partition(), record.offset()] = record
            consumer.close()
        for message, placed in zip(messages, result.placed, strict=True):
            record = records[placed.partition, placed.offset]
            assert (record.key(), record.value()) == (message.key, message.value)
            assert tuple(record.headers() or ()) == message.headers
            assert record.timestamp() == (1, message.timestamp_ms)
    assert ours(engine) == []
    assert notes[-1].startswith("Kafka at ")
    with pytest.raises(HarnessError):
        check_reachable(started.bootstrap, timeout_s=1)


def test_auto_takes_the_container_and_removes_it_after_an_exception(engine):
    notes = []
    kinds = []

    def fail(started):
        kinds.append(started.kind)
        raise LookupError

    with pytest.raises(LookupError), broker("auto", note=notes.append) as started:
        fail(started)
    assert kinds == ["container"]
    assert "uses the container" in notes[0]
    assert ours(engine) == []


def test_a_container_that_ends_at_once_shows_its_log(engine, monkeypatch):
    monkeypatch.setitem(_container.SETTINGS, "KAFKA_PROCESS_ROLES", "nonsense")
    with (
        pytest.raises(HarnessError, match=r"is exited instead of running[\s\S]*nonsense"),
        broker("container"),
    ):
        pytest.fail("it must not start")
    assert ours(engine) == []


def test_a_taken_port_is_avoided(engine, monkeypatch):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        choices = iter([[taken.getsockname()[1]]])
        monkeypatch.setattr(
            _container, "free_ports", lambda count: next(choices, None) or free_ports(count)
        )
        with broker("container") as started:
            check_reachable(started.bootstrap)
    assert ours(engine) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_no_container_is_left_when_we_are_killed(engine, number):
    body = """
    import json, time
    from conformance.brokers.broker import broker
    with broker("container") as started:
        print(json.dumps(started.bootstrap), flush=True)
        time.sleep(600)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(body)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=dict(os.environ),
        start_new_session=True,
    )
    assert json.loads(process.stdout.readline())
    assert len(ours(engine, process.pid)) == 1
    process.send_signal(number)
    process.wait(30)
    process.stdout.close()
    assert gone(engine, process.pid)


def test_an_image_that_cannot_be_had_is_told(engine, monkeypatch):
    name = "cdc-conformance/no-such-image:0"
    monkeypatch.setenv("CDC_CONFORMANCE_KAFKA_IMAGE", name)
    with (
        pytest.raises(
            HarnessError, match=rf"no image {name} and cannot pull it.*CDC_CONFORMANCE_KAFKA_IMAGE"
        ),
        broker("container"),
    ):
        pytest.fail("it must not start")
