"""Publishes to Kafka, with the place of each message; also offers the run topics of `topics`.

The client is confluent-kafka, imported when first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from generators.model import Message
from generators.publishing._ledger import Delivered
from generators.publishing.cluster import Target
from generators.publishing.pacing import PRODUCER_CONFIG, PublishError, publish_paced
from generators.publishing.topics import (
    check_reachable,
    ensure_topic,
    records_in,
    run_topic,
    run_topics,
)

__all__ = [
    "PRODUCER_CONFIG",
    "Placed",
    "PublishError",
    "PublishResult",
    "check_reachable",
    "ensure_topic",
    "publish",
    "records_in",
    "run_topic",
    "run_topics",
]


@dataclass(frozen=True, slots=True)
class Placed:
    """The topic, partition and offset of a message in Kafka."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of `publish`: how many messages were acknowledged and how many failed; the first
    different error texts; and in `placed` the place of each message in the order of the input, None
    for a message that failed. `placed` is empty if `publish` was called without `keep_offsets`.
    """

    acknowledged: int
    failed: int
    errors: tuple[str, ...]
    placed: list[Placed | None] = field(repr=False)


def places(deliveries: Sequence[Delivered], first: int, count: int) -> list[Placed | None]:
    """The topic, partition and offset of `count` messages from number `first` on, from the delivery
    reports.

    A retry that the broker recognises too late is acknowledged without an offset. The messages of
    an idempotent producer keep their order in a partition, so that the offset follows from the
    message before it, or else from the one after it.
    """
    record_places: list[Placed | None] = [None] * count
    following: dict[tuple[str, int], int] = {}
    for delivery in reversed(deliveries):
        place = delivery.topic, delivery.partition
        following[place] = offset = (
            following.get(place, 0) - 1 if delivery.offset < 0 else delivery.offset
        )
        record_places[delivery.number - first] = None if offset < 0 else Placed(*place, offset)
    return record_places


def publish(
    bootstrap: Target,
    topic: str | None,
    messages: Iterable[Message],
    *,
    timeout_s: float = 60,
    keep_offsets: bool = True,
) -> PublishResult:
    """Publishes messages as fast as possible: idempotent, acknowledged by all, lz4, each to its own
    partition with its key, headers and timestamp.

    `topic` replaces every message's logical topic. The input may be a generator of any length: only
    the messages in flight are in memory, and with `keep_offsets` the place of every message, which
    the result needs. A timestamp of 0 becomes the time of publishing, for the client knows no other
    meaning.

    A broker that restarts meanwhile loses nothing. Nor does it store anything twice, unless record
    timestamps are more than a day old: brokers forget producers by record time
    (`producer.id.expiration.ms`, Kafka 4.3), so what was in flight may then lie in the topic once
    more, at an offset that no message is placed at.

    A message that the client or broker refuses (too large, no such partition) counts as failed and
    the rest goes on. Raises PublishError when `timeout_s` seconds pass without any acknowledgement
    while some are awaited (the broker is dead or stuck), so that it cannot hang; HarnessError when
    the client is not installed.
    """
    deliveries: list[Delivered] = []
    done = publish_paced(
        bootstrap,
        topic,
        messages,
        rate=None,
        delivered=deliveries.append if keep_offsets else None,
        timeout_s=timeout_s,
    )
    return PublishResult(
        done.acknowledged,
        done.failed,
        done.errors,
        places(deliveries, 0, done.sent if keep_offsets else 0),
    )
