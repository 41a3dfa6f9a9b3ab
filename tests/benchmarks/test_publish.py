"""Publishing against what the bare client reaches on the same broker, with the same settings and delivery reports."""

import pytest

from conformance.bench import SEED, plain_profile
from generators import bulk, kafka
from generators.formats.base import get
from generators.model import Layout

FORMAT = "ticdc-canal-json"
POLLED_EVERY = 1024


def bare(bootstrap, topic, messages):
    """The least that publishes these messages and counts their acknowledgements."""
    from confluent_kafka import Producer

    acknowledged = 0

    def report(error, _message):
        nonlocal acknowledged
        if error is None:
            acknowledged += 1

    producer = Producer({**kafka.PRODUCER_CONFIG, "bootstrap.servers": bootstrap})
    # An idempotent producer that does not know its topic yet waits half a second before the first message.
    producer.list_topics(topic, timeout=30)
    produce = producer.produce
    for number, m in enumerate(messages):
        headers = list(m.headers) if m.headers else None
        while True:
            try:
                produce(topic, m.value, m.key, m.partition, report, None, m.timestamp_ms, headers)
                break
            except BufferError:
                producer.poll(0.1)
        if number % POLLED_EVERY == 0:
            producer.poll(0)
    producer.flush()
    return acknowledged


@pytest.fixture
def topic(kafka):
    from generators.kafka import run_topic

    with run_topic(kafka.bootstrap, Layout().partitions, prefix="cdc-bench") as name:
        yield name


@pytest.mark.kafka
def test_publish(topic, count, against, benchmark, request):
    bootstrap = request.getfixturevalue("kafka").bootstrap
    count *= 5
    fmt = get(FORMAT)
    messages = list(bulk.messages(fmt, plain_profile(fmt), SEED, count=count))

    def ours():
        result = kafka.publish(bootstrap, topic, messages, keep_offsets=False)
        assert (result.acknowledged, result.failed) == (count, 0)

    def theirs():
        assert bare(bootstrap, topic, messages) == count

    benchmark.group = "publish"
    ratios = against(lambda: ours, lambda: theirs, count, 1)
    assert all(ratio > 0 for ratio in ratios)
