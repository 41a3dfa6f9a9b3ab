"""Publishes to Kafka, with an account of each message's delivery and rate control; also offers the run topics of `topics`.

The client is confluent-kafka, imported when first used.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from generators.errors import HarnessError
from generators.model import Message
from generators.publishing._deliveries import Deliveries, Lane, Placed, PublishResult
from generators.publishing.cluster import Target, client, of, settings
from generators.publishing.topics import (
    LARGEST_MESSAGE,
    TOPIC_CONFIG,
    check_reachable,
    create_topic,
    delete_topic,
    denied,
    ensure_topic,
    records_in,
    run_topic,
    run_topic_name,
    run_topics,
    sized,
    unreachable,
)

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer
    from confluent_kafka._types import HeadersType

__all__ = [
    "LARGEST_MESSAGE",
    "PRODUCER_CONFIG",
    "TOPIC_CONFIG",
    "Placed",
    "PublishError",
    "PublishResult",
    "check_reachable",
    "create_topic",
    "delete_topic",
    "ensure_topic",
    "publish",
    "records_in",
    "run_topic",
    "run_topic_name",
    "run_topics",
]

PRODUCER_CONFIG: Mapping[str, str | int | bool] = {
    "enable.idempotence": True,
    "acks": "all",
    "compression.type": "lz4",
    "linger.ms": 5,
    "message.max.bytes": LARGEST_MESSAGE,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 512 * 1024,
    # How long a topic or partition that the broker does not know may take to appear.
    "topic.metadata.propagation.max.ms": 5_000,
}
"""The producer's settings; address and time limit are added."""

_LATENCIES_KEPT_WHOLE = 10_000
_LATENCY_SAMPLE = 16
_LARGEST_CHUNK = 1_024
_PROGRESS_S = 0.5


class PublishError(HarnessError):
    """Publishing stopped before its end. `acknowledged` counts what the broker had confirmed until then."""

    def __init__(self, text: str, acknowledged: int) -> None:
        super().__init__(text)
        self.acknowledged = acknowledged


_DROPPED_S: Final = 5.0
"""Limit for the reports of dropped messages, in seconds."""


class Account(Protocol):
    """A publishing's counts of its messages."""

    @property
    def acknowledged(self) -> int:
        """How many messages the broker confirmed."""
        ...

    @property
    def failed(self) -> int:
        """How many messages were refused or given up."""
        ...

    @property
    def timed_out(self) -> bool:
        """Whether a message was given up."""
        ...


class Publishing:
    """A producer, and the watch over time without any acknowledgement."""

    def __init__(
        self,
        bootstrap: Target,
        account: Account,
        progress: Callable[[int], None] | None,
        timeout_s: float,
        *,
        transactions: bool = False,
    ) -> None:
        self.bootstrap, self.account, self.progress, self.timeout_s = bootstrap, account, progress, timeout_s
        self.fatal: str | None = None
        self.heard: list[str] = []
        limit = max(1, int(timeout_s * 1000))
        self.producer: Producer = client().Producer(
            {
                **PRODUCER_CONFIG,
                "request.timeout.ms": min(30_000, limit),
                "reconnect.backoff.max.ms": 1_000,
                **settings(bootstrap),
                "message.timeout.ms": limit,
                "error_cb": self._error,
                "log_level": 0,
                **({"transactional.id": f"{of(bootstrap).prefix}-{secrets.token_hex(4)}"} if transactions else {}),
            }
        )
        self.refusal: type[Exception] = client().KafkaException
        self._connected = False
        self._seen = -1
        self._moved = self._told = time.monotonic()
        if transactions:
            self._transact(lambda: self.producer.init_transactions(timeout_s))

    def _transact(self, what: Callable[[], object]) -> None:
        """A step of a transaction. Raises PublishError."""
        try:
            what()
        except self.refusal as error:
            raise self.error(f"a transaction failed: {error.args[0].str()}") from error

    def _error(self, error: KafkaError) -> None:
        self.heard = [*self.heard[-3:], error.str()]
        if error.fatal():
            self.fatal = error.str()

    def poll(self, seconds: float) -> None:
        """Serves callbacks for up to that long, reports progress, and raises PublishError if the broker stops answering."""
        self.producer.poll(seconds)
        now = time.monotonic()
        done = self.account.acknowledged
        # Nothing outstanding means nothing to wait for: a slow source is no fault of the broker.
        if done != self._seen or not len(self.producer):
            self._seen, self._moved = done, now
        if self.progress is not None and now - self._told >= _PROGRESS_S:
            self._told = now
            self.progress(done)
        if self.fatal is not None:
            raise self.error(f"the client gave up: {self.fatal}")
        if self.account.timed_out or now - self._moved > self.timeout_s:
            raise self.error(f"no acknowledgement for {self.timeout_s:g} s")

    def connect(self, topic: str) -> None:
        """Has the client find broker and topic; an idempotent one would otherwise wait half a second before its first message."""
        kafka = client()
        limit = min(self.timeout_s, 30.0)
        try:
            known = self.producer.list_topics(topic, timeout=limit).topics.get(topic)
        except kafka.KafkaException as error:
            self.producer.poll(0)
            raise PublishError(unreachable(self.bootstrap, limit, self.heard), 0) from error
        if known is not None and known.error is not None and known.error.code() == kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise PublishError(denied(self.bootstrap, topic, "WRITE and DESCRIBE"), 0)
        self._connected = True
        self._moved = time.monotonic()

    def drain(self) -> None:
        """Waits until every message is delivered or has failed."""
        while len(self.producer):
            self.poll(0.1)
        self.poll(0)

    def error(self, what: str) -> PublishError:
        """Drops what is still queued; the error, with the progress and what to do."""
        self.abandon()
        done = self.account.acknowledged
        because = f" ({self.heard[-1]})" if self.heard else ""
        return PublishError(
            f"publishing to {self.bootstrap} stopped: {what}{because}. {done:,} messages were acknowledged and lie in the topic, "
            f"{self.account.failed:,} failed or were given up. Check that the broker is alive and its disk not full, then "
            "publish to a fresh topic; a slow broker needs a longer time limit.",
            done,
        )

    def abandon(self) -> None:
        """Drops what is still queued, so that nothing waits for it."""
        self.producer.purge()
        # The client tells of what it dropped when its threads come to it.
        deadline = time.monotonic() + _DROPPED_S
        while len(self.producer) and time.monotonic() < deadline:
            self.producer.poll(0.05)

    def finish(self, seconds: float) -> None:
        """Waits at most that long for messages in flight, and drops the rest."""
        with contextlib.suppress(PublishError):
            deadline = time.monotonic() + seconds
            while len(self.producer) and time.monotonic() < deadline:
                self.poll(0.1)
        self.abandon()


class _Kept(Publishing):
    """One `publish`, which keeps each message's place."""

    def __init__(
        self, bootstrap: Target, deliveries: Deliveries, progress: Callable[[int], None] | None, timeout_s: float
    ) -> None:
        super().__init__(bootstrap, deliveries, progress, timeout_s)
        self.deliveries = deliveries

    def produce(self, messages: Iterable[Message], topic: str | None, timed: bool) -> int:
        """Hands messages to the client; returns how many there were. `timed` has their latencies kept."""
        produce, keep, take = self.producer.produce, self.deliveries.keep, self.deliveries.order.append
        current: str | None = None
        lanes: dict[int, Lane] = {}
        count = 0
        for message in messages:
            count += 1
            to = topic or message.topic
            partition = message.partition
            if to != current:
                if not self._connected:
                    self.connect(to)
                current, lanes = to, self.deliveries.of(to)
            lane = lanes.get(partition) or self.deliveries.lane(to, partition)
            if keep:
                take(lane.number)
            callback = lane.callbacks[timed]
            headers: HeadersType | None = list(message.headers) if message.headers else None
            while True:
                try:
                    # By position, which is measurably faster than by name.
                    produce(to, message.value, message.key, partition, callback, None, message.timestamp_ms, headers)
                    break
                except BufferError:
                    self.poll(0.1)
                except self.refusal as error:
                    self.deliveries.refuse(error.args[0])
                    break
        return count


def publish(
    bootstrap: Target,
    topic: str | None,
    messages: Iterable[Message],
    *,
    rate: float | None = None,
    progress: Callable[[int], None] | None = None,
    timeout_s: float = 60,
    keep_offsets: bool = True,
) -> PublishResult:
    """Publishes messages: idempotent, acknowledged by all, lz4, each to its own partition with its key, headers and timestamp.

    `topic` replaces every message's logical topic. `rate` is messages per second (None: as fast as possible); a schedule that
    fell behind is caught up. `progress` gets the acknowledged count about twice a second. The input may be a generator of any
    length: only what is in flight is held; `keep_offsets=False` keeps no offsets either. A timestamp of 0 becomes the time of
    publishing, for the client knows no other meaning.

    A broker that restarts meanwhile loses nothing. Nor does it store anything twice, unless record timestamps are more than a day
    old: brokers forget producers by record time (`producer.id.expiration.ms`, Kafka 4.3), so what was in flight may then lie in
    the topic once more, at an offset that no message is placed at.

    A message that the client or broker refuses (too large, no such partition) counts as failed and the rest goes on.
    Raises PublishError when `timeout_s` seconds pass without any acknowledgement while some are awaited (the broker is dead or
    stuck), so that it cannot hang; HarnessError when the client is not installed.
    """
    if rate is not None and not rate > 0:
        raise ValueError(f"rate must be positive, not {rate!r}")
    deliveries = Deliveries(keep_offsets, client().KafkaError._MSG_TIMED_OUT)
    run = _Kept(bootstrap, deliveries, progress, timeout_s)
    began = time.monotonic()
    try:
        source = iter(messages)
        largest = _LARGEST_CHUNK if rate is None else max(1, min(_LARGEST_CHUNK, int(rate / 100)))
        chunk, number, chunks = min(64, largest), 0, 0
        while True:
            run.poll(0)
            if rate is not None:
                while (early := began + number / rate - time.monotonic()) > 0:
                    run.poll(min(early, _PROGRESS_S))
            timed = number < _LATENCIES_KEPT_WHOLE or not chunks % _LATENCY_SAMPLE
            before = time.monotonic()
            taken = run.produce(itertools.islice(source, chunk), topic, timed)
            if not taken:
                break
            # A slow source gets small chunks, else nothing would be polled or reported for long.
            chunk = min(largest, chunk * 2) if time.monotonic() - before < 0.1 else max(1, chunk // 2)
            number, chunks = number + taken, chunks + 1
        run.drain()
    except BaseException:
        run.abandon()
        raise
    if progress is not None:
        progress(deliveries.acknowledged)
    result = deliveries.result(time.monotonic() - began)
    return replace(result, errors=tuple(sized(bootstrap, topic, text) for text in result.errors))
