"""Load published by Spark's executors: what one process would publish, and nothing gathered but
counts.
"""

import re
from collections import Counter
from typing import Any

import pytest
from consumed import consumed

from conformance.brokers.embedded import free_ports
from generators.bulk import orders
from generators.bulk import traffic as load
from generators.bulk.orders import LoadOptions
from generators.model import Op
from generators.publishing.kafka import run_topic
from generators.wire_format import get
from spark_checks.services import generate

pytestmark = pytest.mark.kafka

FMT = get("debezium-json")
OPTIONS = LoadOptions(((Op.INSERT, 1), (Op.DELETE, 1)), "hot", 1, 3, 0.1, 20)


def request(bootstrap: str, topic: str, **more: Any) -> dict[str, Any]:
    return {
        "format": FMT.name,
        "profile": FMT.profiles[0].name,
        "seed": 5,
        "options": orders.options_text(OPTIONS),
        "partitions": 3,
        "bootstrap": bootstrap,
        "properties": {},
        "topic": topic,
        "count": 1_001,
        "executors": 2,
        "rate": None,
        "stamp": False,
        "timeout_s": 20,
        **more,
    }


def refused(_spec: str) -> Any:
    raise AssertionError("no decoder is needed")


def test_ranges_cover_every_unit_once(spark):
    for count, parts in ((1_001, 2), (7, 3), (2, 4), (10**12 + 7, 5)):
        spans = sorted(
            (row["start"], row["count"]) for row in generate.ranges(spark, count, parts).collect()
        )
        assert len(spans) == parts
        assert [start for start, _ in spans] == [
            sum(size for _, size in spans[:i]) for i in range(parts)
        ]
        assert sum(size for _, size in spans) == count


def test_executors_publish_what_one_process_would(spark, kafka):
    with run_topic(kafka.bootstrap, 3) as topic:
        answer = generate.handle(spark, request(kafka.bootstrap, topic), refused)
        expected = list(load.messages(FMT, FMT.profiles[0], 5, 0, 1_001, options=OPTIONS))
        # A DELETE is two messages here.
        assert len(expected) > 1_001
        assert (answer["sent"], answer["acknowledged"], answer["failed"]) == (
            len(expected),
            len(expected),
            0,
        )
        assert 0 < answer["p50_ms"] <= answer["p99_ms"] <= answer["max_ms"] * 1.01
        lying = consumed(kafka.bootstrap, topic)
        sent = Counter((m.partition(), m.key(), m.value(), m.timestamp()[1]) for m in lying)
        assert sent == Counter((m.partition, m.key, m.value, m.timestamp_ms) for m in expected)


def test_a_broker_that_is_not_there_is_told_by_every_range(spark):
    bootstrap = f"127.0.0.1:{free_ports(1)[0]}"
    answer = generate.handle(spark, request(bootstrap, "t", timeout_s=1), refused)
    assert (answer["sent"], answer["acknowledged"], len(answer["stopped"])) == (0, 0, 2)
    assert all(
        re.search(f"no Kafka broker answers at {bootstrap}", text) for text in answer["stopped"]
    )
