"""Publishing, against a real broker."""

import random
import time

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from consumed import consumed

from conformance.brokers.embedded import free_ports
from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.publishing._ledger import Delivered
from generators.publishing.cluster import Cluster
from generators.publishing.kafka import (
    Placed,
    PublishError,
    check_reachable,
    places,
    publish,
    run_topic,
)
from generators.publishing.pacing import PRODUCER_CONFIG
from generators.publishing.topics import (
    LARGEST_MESSAGE,
    TOPIC_CONFIG,
    create_topic,
    delete_topics,
    ensure_topic,
    run_topic_name,
)

pytestmark = pytest.mark.kafka

YEAR_2100_MS = 4_102_444_800_000


def by_place(bootstrap, topic):
    """A topic's records by (partition, offset)."""
    return {(record.partition(), record.offset()): record for record in consumed(bootstrap, topic)}


def topics(bootstrap):
    return (
        AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=60).topics
    )


def gone(bootstrap, name):
    """Whether the topic vanishes: a broker may show a topic for a moment after it has deleted
    it.
    """
    deadline = time.monotonic() + 10
    while name in topics(bootstrap) and time.monotonic() < deadline:
        time.sleep(0.05)
    return name not in topics(bootstrap)


def test_round_trip(kafka, topic):
    messages = [
        Message("cdc", 0, None, None, timestamp_ms=1),
        Message("cdc", 1, b"", b"", timestamp_ms=YEAR_2100_MS),
        Message("cdc", 2, None, b"", headers=(("", b""),), timestamp_ms=1_700_000_000_000),
        Message(
            "cdc",
            1,
            b"\x00\xff",
            None,
            headers=(("b", b"2"), ("a", b"1"), ("b", b"1"), ("ü", b"\xff")),
            timestamp_ms=86_400_000,
        ),
        Message("other", 0, b"k", b"v" * 100_000, timestamp_ms=999),
    ]
    result = publish(kafka.bootstrap, topic, messages)
    assert (result.acknowledged, result.failed, result.errors) == (5, 0, ())
    assert result.placed == [
        *(
            Placed(topic, 0, 0),
            Placed(topic, 1, 0),
            Placed(topic, 2, 0),
            Placed(topic, 1, 1),
            Placed(topic, 0, 1),
        )
    ]
    records = by_place(kafka.bootstrap, topic)
    assert len(records) == 5
    for message, placed in zip(messages, result.placed, strict=True):
        record = records[placed.partition, placed.offset]
        assert placed.partition == message.partition
        assert (record.key(), record.value()) == (message.key, message.value)
        assert tuple(record.headers() or ()) == message.headers
        # 1 is CreateTime.
        assert record.timestamp() == (1, message.timestamp_ms)


def test_offsets_are_aligned_with_the_input_over_many_batches(kafka, topic):
    count = 20_000
    messages = [
        Message("cdc", (i * 7 + i // 5) % 3, None, str(i).encode(), timestamp_ms=1 + i)
        for i in range(count)
    ]
    result = publish(kafka.bootstrap, topic, iter(messages))
    records = by_place(kafka.bootstrap, topic)
    assert [
        int(records[placed.partition, placed.offset].value()) for placed in result.placed
    ] == list(range(count))


def test_without_override_each_message_goes_to_its_own_topic(kafka):
    with run_topic(kafka.bootstrap, 2) as first, run_topic(kafka.bootstrap, 2) as second:
        result = publish(
            kafka.bootstrap,
            None,
            [Message(name, 1, None, b"x") for name in (first, second, second, first)],
        )
        assert result.placed == [
            Placed(first, 1, 0),
            Placed(second, 1, 0),
            Placed(second, 1, 1),
            Placed(first, 1, 1),
        ]


def test_timestamp_zero_is_the_time_of_publishing(kafka, topic):
    before = int(time.time() * 1000)
    publish(kafka.bootstrap, topic, [Message("cdc", 0, None, b"x", timestamp_ms=0)])
    (record,) = by_place(kafka.bootstrap, topic).values()
    assert before - 1000 <= record.timestamp()[1] <= int(time.time() * 1000) + 1000


def test_what_cannot_be_delivered_is_counted_and_the_rest_goes_on(kafka, topic):
    messages = [
        *(Message("cdc", 0, None, b"a"), Message("cdc", 0, None, b"x" * (LARGEST_MESSAGE + 1))),
        *(Message("cdc", 7, None, b"no such partition"), Message("cdc", 0, None, b"b")),
        Message("cdc", 7, None, b"no such partition"),
    ]
    result = publish(kafka.bootstrap, topic, messages)
    assert (result.acknowledged, result.failed) == (2, 3)
    assert result.placed == [Placed(topic, 0, 0), None, None, Placed(topic, 0, 1), None]
    assert any("(message.max.bytes of this client is 33554432)" in text for text in result.errors)
    assert any("partition" in text.lower() for text in result.errors)


def test_refused_by_the_broker(kafka, monkeypatch):
    """Messages that the client takes and the broker refuses keep the alignment of those around
    them.
    """
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    name = run_topic_name()
    admin.create_topics([NewTopic(name, 1, 1, config={"max.message.bytes": "1000"})])[name].result(
        60
    )
    # A whole batch would be refused for one of its messages.
    monkeypatch.setitem(PRODUCER_CONFIG, "batch.num.messages", 1)
    incompressible = random.Random(1).randbytes(20_000)

    bodies = [b"%d:" % i + (incompressible if i % 3 == 1 else b"") for i in range(12)]
    messages = [Message("cdc", 0, None, body, timestamp_ms=1_700_000_000_000) for body in bodies]
    try:
        result = publish(kafka.bootstrap, name, messages)
        assert [i for i, place in enumerate(result.placed) if place is None] == [1, 4, 7, 10]
        assert (result.acknowledged, result.failed) == (8, 4)
        assert f"(max.message.bytes of topic {name!r} is 1000)" in result.errors[0]
        records = by_place(kafka.bootstrap, name)
        written = [
            int(records[0, place.offset].value().partition(b":")[0])
            for place in result.placed
            if place is not None
        ]
        assert written == [i for i in range(12) if i % 3 != 1]
    finally:
        delete_topics(kafka.bootstrap, [name])


def test_offsets_can_be_left_out(kafka, topic):
    result = publish(
        kafka.bootstrap,
        topic,
        (Message("cdc", i % 3, None, b"x") for i in range(3000)),
        keep_offsets=False,
    )
    assert (result.acknowledged, result.failed, result.placed) == (3000, 0, [])


def test_nothing_to_publish_needs_no_broker():
    result = publish(f"127.0.0.1:{free_ports(1)[0]}", "t", [])
    assert (result.acknowledged, result.failed, result.placed) == (0, 0, [])


def test_a_source_that_raises_is_not_swallowed_and_leaves_nothing_waiting(kafka, topic):
    def source():
        yield Message("cdc", 0, None, b"x")
        raise LookupError("the source broke")

    began = time.monotonic()
    with pytest.raises(LookupError, match="the source broke"):
        publish(kafka.bootstrap, topic, source())
    assert time.monotonic() - began < 10


def test_unreachable_port_fails_in_bounded_time():
    bootstrap = f"127.0.0.1:{free_ports(1)[0]}"
    began = time.monotonic()
    with pytest.raises(
        PublishError, match=rf"no Kafka broker answers at {bootstrap}.*--broker embedded"
    ) as caught:
        publish(bootstrap, "t", [Message("cdc", 0, None, b"x")], timeout_s=2)
    assert caught.value.acknowledged == 0
    assert caught.value.exit_code == 3
    with pytest.raises(HarnessError, match=rf"{bootstrap} within 1 s.*refused"):
        check_reachable(bootstrap, timeout_s=1)
    with pytest.raises(HarnessError, match="no Kafka broker answers"):
        create_topic(bootstrap, "t", 1, timeout_s=1)
    assert time.monotonic() - began < 15


def test_run_topics_are_unique_and_removed(kafka):
    assert run_topic_name() != run_topic_name()
    with run_topic(Cluster(kafka.bootstrap, prefix="mine"), 2) as name:
        assert name.startswith("mine-")
        assert len(topics(kafka.bootstrap)[name].partitions) == 2
        resource = ConfigResource(ConfigResource.Type.TOPIC, name)
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        settings = admin.describe_configs([resource])[resource].result(60)
        assert {key: settings[key].value for key in TOPIC_CONFIG} == dict(TOPIC_CONFIG)
    assert gone(kafka.bootstrap, name)


def test_run_topic_is_removed_after_an_exception(kafka):
    with pytest.raises(LookupError), run_topic(kafka.bootstrap, 1) as name:
        raise LookupError
    assert gone(kafka.bootstrap, name)


def test_topics_created_twice_deleted_twice_ensured_twice(kafka):
    name = run_topic_name()
    create_topic(kafka.bootstrap, name, 2)
    try:
        with pytest.raises(HarnessError, match=f"cannot create topic '{name}'.*exists"):
            create_topic(kafka.bootstrap, name, 2)
        ensure_topic(kafka.bootstrap, name, 2)
        with pytest.raises(UsageError, match="has 2 partitions; at least 3 are needed"):
            ensure_topic(kafka.bootstrap, name, 3)
    finally:
        delete_topics(kafka.bootstrap, [name])
    delete_topics(kafka.bootstrap, [name])
    ensure_topic(kafka.bootstrap, name, 1)
    assert name in topics(kafka.bootstrap)
    delete_topics(kafka.bootstrap, [name])


def test_an_illegal_topic_name_is_an_error_of_ours(kafka):
    with pytest.raises(HarnessError, match="cannot create topic 'no spaces'"):
        create_topic(kafka.bootstrap, "no spaces", 1)


@pytest.mark.parametrize(
    ("delivered", "expected"),
    [
        *(
            ([], [None]),
            ([(0, 4), (1, 5)], [4, 5]),
            ([(0, -1), (1, -1), (3, 9)], [7, 8, None, 9]),
            ([(0, -1)], [None]),
        ),
        ([(0, -1), (1, 0)], [None, 0]),
    ],
)
def test_offsets_that_the_broker_no_longer_knew(delivered, expected):
    placed = places(
        [Delivered(2 + number, 0, offset, 0.0, 0.0, "t") for number, offset in delivered],
        2,
        len(expected),
    )
    assert placed == [None if offset is None else Placed("t", 0, offset) for offset in expected]
