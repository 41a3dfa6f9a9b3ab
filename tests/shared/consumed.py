"""What lies in a topic."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, Message, TopicPartition


def consumed(bootstrap: str, topic: str, timeout_s: float = 30) -> list[Message]:
    """Every record of a topic; nothing follows them when they are counted."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "test",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    try:
        partitions = [
            TopicPartition(topic, n, 0)
            for n in consumer.list_topics(topic, timeout=60).topics[topic].partitions
        ]
        wanted = sum(
            consumer.get_watermark_offsets(partition, timeout=60)[1] for partition in partitions
        )
        consumer.assign(partitions)
        records: list[Message] = []
        deadline = time.monotonic() + timeout_s
        while len(records) < wanted and time.monotonic() < deadline:
            records += consumer.consume(1000, timeout=0.5)
        assert all(record.error() is None for record in records)
        return records
    finally:
        consumer.close()
