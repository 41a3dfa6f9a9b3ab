"""Publishing on a schedule: what is sent when, what is told, and how it ends."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from consumed import consumed

from conformance.brokers.embedded import free_ports
from generators.errors import UsageError
from generators.model import Message
from generators.publishing import pacing
from generators.publishing.kafka import publish
from generators.publishing.pacing import (
    Delivered,
    Histogram,
    PublishInterrupted,
    PublishStopped,
    publish_paced,
)
from generators.publishing.topics import create_topic, delete_topics, run_topic_name

OLD_MS = 1_700_000_000_000


def numbered(count: int | None = None) -> Iterator[Message]:
    """Messages in three partitions, of a time long ago."""
    for i in itertools.count() if count is None else range(count):
        yield Message("cdc", i % 3, b"k", b"%d" % i, timestamp_ms=OLD_MS)


def test_quantiles_are_within_one_percent_and_the_longest_is_exact() -> None:
    samples = [0.0005 * i for i in range(1, 1001)]
    histogram = Histogram()
    for sample in samples:
        histogram.add(sample)
    assert histogram.quantile_ms(0.5) == pytest.approx(250, rel=0.01)
    assert histogram.quantile_ms(0.99) == pytest.approx(495, rel=0.01)
    assert histogram.quantile_ms(1.0) == pytest.approx(500, rel=0.01)
    assert histogram.max_ms == 500
    assert len(histogram.counts) < 800


def test_a_histogram_of_nothing_has_no_quantiles_and_merging_adds() -> None:
    histogram, other = Histogram(), Histogram()
    assert (histogram.quantile_ms(0.5), histogram.max_ms) == (None, None)
    other.add(-0.5)
    other.add(2)
    histogram.merge(other)
    assert (histogram.count, histogram.max_ms) == (2, 2000)
    assert histogram.quantile_ms(0.5) == pytest.approx(0.001, rel=0.01)


@pytest.mark.parametrize(
    "wrong", [{"rate": 0}, {"rate": -1}, {"rate": math.nan}, {"count": -1}, {"duration_s": 0}]
)
def test_senseless_schedules_are_refused(wrong) -> None:
    with pytest.raises(UsageError):
        publish_paced("127.0.0.1:1", "t", numbered(), **{"rate": 1, **wrong})


def test_each_message_is_told_with_its_intended_time(kafka, topic) -> None:
    reports: list[Delivered] = []
    before = time.time()
    done = publish_paced(
        kafka.bootstrap, topic, numbered(), rate=200, count=300, delivered=reports.append
    )
    assert (done.sent, done.acknowledged, done.failed, done.errors) == (300, 300, 0, ())
    assert 1.4 < done.seconds < 5
    assert 0 < done.p50_ms <= done.p99_ms <= done.max_ms * 1.001
    reports.sort(key=lambda report: report.number)
    assert [report.number for report in reports] == list(range(300))
    assert [report.partition for report in reports] == [i % 3 for i in range(300)]
    # The broker tells no offset of a batch that it has already, when a report is late and the batch
    # is sent again.
    assert all(report.offset in (i // 3, -1) for i, report in enumerate(reports))
    assert reports[0].intended_s >= before
    steps = [b.intended_s - a.intended_s for a, b in itertools.pairwise(reports)]
    assert steps == pytest.approx([1 / 200] * 299, abs=1e-6)
    assert all(report.acked_s > report.intended_s for report in reports)


def test_waiting_for_the_next_message_does_not_poll_without_end(kafka, topic, monkeypatch) -> None:
    polls, poll = [], pacing.Paced.poll
    monkeypatch.setattr(
        pacing.Paced, "poll", lambda run, seconds: polls.append(seconds) or poll(run, seconds)
    )
    done = publish_paced(kafka.bootstrap, topic, numbered(100), rate=400.0, timeout_s=20)
    assert done.acknowledged == 100
    assert len(polls) < 20 * 100


def test_stamps_are_the_intended_times_and_else_the_writers(kafka, topic) -> None:
    reports: list[Delivered] = []
    publish_paced(
        kafka.bootstrap, topic, numbered(20), rate=1000, stamp=True, delivered=reports.append
    )
    records = consumed(kafka.bootstrap, topic)
    assert {int(r.value()): r.timestamp()[1] for r in records} == {
        d.number: int(d.intended_s * 1000) for d in reports
    }
    publish_paced(kafka.bootstrap, topic, numbered(20), rate=None)
    assert [r.timestamp()[1] for r in consumed(kafka.bootstrap, topic)].count(OLD_MS) == 20


def test_without_a_rate_every_message_goes_out_and_latencies_are_sampled(kafka, topic) -> None:
    shown: list[int] = []
    done = publish_paced(kafka.bootstrap, topic, numbered(30_000), rate=None, progress=shown.append)
    assert (done.sent, done.acknowledged, done.failed) == (30_000, 30_000, 0)
    assert 2_048 <= done.latencies.count < 30_000
    assert done.per_second == pytest.approx(30_000 / done.seconds)
    assert shown == sorted(shown)
    assert shown[-1] == 30_000
    assert {int(record.value()) for record in consumed(kafka.bootstrap, topic)} == set(
        range(30_000)
    )


def test_a_duration_and_a_stop_end_it(kafka, topic) -> None:
    done = publish_paced(kafka.bootstrap, topic, numbered(), rate=100, duration_s=0.5)
    assert done.sent == done.acknowledged == 50
    stopped = threading.Event()
    threading.Timer(0.4, stopped.set).start()
    done = publish_paced(kafka.bootstrap, topic, numbered(), rate=100, stop=stopped.is_set)
    assert 1 <= done.sent == done.acknowledged <= 100


def test_ctrl_c_leaves_a_partial_summary(kafka, topic) -> None:
    threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
    before = threading.active_count()
    with pytest.raises(PublishInterrupted) as caught:
        publish_paced(kafka.bootstrap, topic, numbered(), rate=1000)
    done = caught.value.published
    lying = len(consumed(kafka.bootstrap, topic))
    # Ctrl-C may come while a report is being told: that one is sent, lies in the topic and is not
    # counted.
    assert 0 < done.sent - 1 <= done.acknowledged <= lying <= done.sent
    assert threading.active_count() <= before


def test_an_unreachable_broker_is_told_in_bounded_time() -> None:
    bootstrap, began = f"127.0.0.1:{free_ports(1)[0]}", time.monotonic()
    with pytest.raises(
        PublishStopped, match=f"no Kafka broker answers at {bootstrap} within 1 s.*refused"
    ) as caught:
        publish_paced(bootstrap, "t", numbered(), rate=10, timeout_s=1)
    assert time.monotonic() - began < 10
    assert (caught.value.exit_code, caught.value.published.sent) == (3, 0)


def test_a_topic_that_takes_no_large_messages_fails_those_and_tells_what_lies_there(kafka) -> None:
    name, admin = (
        run_topic_name(),
        AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0}),
    )
    admin.create_topics([NewTopic(name, 2, 1, config={"max.message.bytes": "1000"})])[name].result(
        60
    )
    large = random.Random(1).randbytes(20_000)
    # The large ones are all in partition 1, small ones between: a batch is refused whole, and how
    # long one is, is the client's.
    made = (
        Message("cdc", i % 2, None, large if i % 4 == 1 else b"%d" % i, timestamp_ms=OLD_MS)
        for i in range(40)
    )
    try:
        reports: list[Delivered] = []
        done = publish_paced(kafka.bootstrap, name, made, rate=40, delivered=reports.append)
        lying = {
            int(record.value()): (record.partition(), record.offset())
            for record in consumed(kafka.bootstrap, name)
        }
        assert {report.number: (report.partition, report.offset) for report in reports} == lying
        assert {i for i in lying if i % 2 == 0} == set(range(0, 40, 2))
        assert (done.sent, done.acknowledged, done.failed) == (40, len(lying), 40 - len(lying))
        assert f"(max.message.bytes of topic {name!r} is 1000)" in done.errors[0]
    finally:
        delete_topics(kafka.bootstrap, [name])


@pytest.mark.kafka
def test_a_topic_without_rights_is_told_at_once(own) -> None:
    create_topic(own.bootstrap, "secret", 3)
    create_topic(own.bootstrap, "read-only", 3)
    admin = AdminClient({"bootstrap.servers": own.bootstrap, "log_level": 0})

    def rule(topic: str, operation: AclOperation, permission: AclPermissionType) -> AclBinding:
        return AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            "User:ANONYMOUS",
            "*",
            operation,
            permission,
        )

    rules = [
        rule("secret", AclOperation.ALL, AclPermissionType.DENY),
        rule("read-only", AclOperation.DESCRIBE, AclPermissionType.ALLOW),
    ]
    for made in admin.create_acls(rules, request_timeout=60).values():
        made.result(60)
    began = time.monotonic()
    for topic in ("secret", "read-only"):
        with pytest.raises(
            PublishStopped, match=f"refuses access to topic '{topic}'.*authorization failed.*WRITE"
        ) as caught:
            publish_paced(own.bootstrap, topic, numbered(), rate=100, timeout_s=10)
        assert caught.value.published.acknowledged == 0
    assert time.monotonic() - began < 15


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_that_pauses_shows_as_latency_and_one_that_stays_stuck_ends_it(own) -> None:
    create_topic(own.bootstrap, "slow", 3)
    assert own.pid is not None
    threading.Timer(0.5, os.kill, (own.pid, signal.SIGSTOP)).start()
    threading.Timer(2.0, os.kill, (own.pid, signal.SIGCONT)).start()
    done = publish_paced(own.bootstrap, "slow", numbered(), rate=200, duration_s=3)
    assert (done.sent, done.acknowledged, done.failed) == (600, 600, 0)
    assert done.max_ms > 1_000
    assert done.seconds < 10
    pid, stuck = own.pid, []

    def stop_at_the_first(_record: Delivered) -> None:
        if not stuck:
            stuck.append(time.monotonic())
            os.kill(pid, signal.SIGSTOP)

    try:
        with pytest.raises(PublishStopped, match=r"no acknowledgement for 5 s") as caught:
            publish_paced(
                own.bootstrap,
                "slow",
                numbered(),
                rate=200,
                timeout_s=5,
                delivered=stop_at_the_first,
            )
    finally:
        os.kill(pid, signal.SIGCONT)
    assert time.monotonic() - stuck[0] < 15
    done = caught.value.published
    assert 0 < done.acknowledged < done.sent == done.acknowledged + done.failed
    sentence = f"{done.acknowledged:,} messages were acknowledged and lie in the topic, {done.failed:,} failed or were given up."
    assert sentence in str(caught.value)


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_killed_and_restarted_loses_nothing_and_repeats_nothing(own) -> None:
    """Of a schedule, and beside it of `publish`; record times are those of now, so that the broker
    knows what was sent twice.
    """
    for topic in ("paced", "kept"):
        create_topic(own.bootstrap, topic, 3)

    def restart() -> None:
        own.kill()
        own.start()

    def slow() -> Iterator[Message]:
        for i in range(2_000):
            if not i % 20:
                time.sleep(0.02)
            yield Message("cdc", i % 3, None, b"%d" % i, timestamp_ms=int(time.time() * 1000))

    restarter = threading.Timer(0.5, restart)
    restarter.start()
    reports: list[Delivered] = []
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(publish, own.bootstrap, "kept", slow(), timeout_s=60)
        done = publish_paced(
            *(own.bootstrap, "paced", numbered()),
            rate=1000,
            count=2_000,
            stamp=True,
            delivered=reports.append,
            timeout_s=60,
        )
        result = beside.result()
    restarter.join()
    assert (done.sent, done.acknowledged, done.failed) == (2_000, 2_000, 0)
    assert done.max_ms > 500
    assert (result.acknowledged, result.failed) == (2_000, 0)
    for topic, placed in (
        ("paced", {report.number: (report.partition, report.offset) for report in reports}),
        (
            "kept",
            {number: (place.partition, place.offset) for number, place in enumerate(result.placed)},
        ),
    ):
        lying = {
            (record.partition(), record.offset()): int(record.value())
            for record in consumed(own.bootstrap, topic)
        }
        assert sorted(lying.values()) == list(range(2_000)), topic
        assert {place: number for number, place in placed.items()} == lying, topic
