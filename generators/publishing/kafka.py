"""Publishing to Kafka: run topics, delivery that is accounted for message by message, rate control.

The client is confluent-kafka, imported when first used. The topic options are those of Kafka 4.3.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.publishing._deliveries import Deliveries, Lane, Placed, PublishResult

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer
    from confluent_kafka._types import HeadersType
    from confluent_kafka.admin import AdminClient

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
]

LARGEST_MESSAGE = 32 * 1024 * 1024

TOPIC_CONFIG: Mapping[str, str] = {
    "retention.ms": "-1",
    "message.timestamp.after.max.ms": "9223372036854775807",
    "max.message.bytes": str(LARGEST_MESSAGE),
    # Segments roll by record time: records decades apart would open a file each.
    "segment.ms": "9223372036854775807",
}
"""Without these a broker refuses records from the future and deletes those from the past."""

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


def client() -> ModuleType:
    try:
        import confluent_kafka
    except ImportError as error:
        raise HarnessError(
            f"the Kafka client does not load ({error}): {sys.executable} -m pip install confluent-kafka"
        ) from error
    return confluent_kafka


def _admin(bootstrap: str, heard: list[str] | None = None) -> AdminClient:
    """A silent admin client; its log goes to `heard`."""
    client()
    from confluent_kafka.admin import AdminClient

    def note(error: KafkaError) -> None:
        if heard is not None:
            heard.append(error.str())

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "error_cb": note,
        "log_level": 0,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 500,
    }
    return AdminClient(settings)


def _unreachable(bootstrap: str, timeout_s: float, heard: Iterable[str]) -> str:
    said = list(dict.fromkeys(heard))
    # "All brokers are down" only repeats the other texts.
    telling = [text for text in said if "brokers are down" not in text] or said
    because = f" ({telling[-1]})" if telling else ""
    return (
        f"no Kafka broker answers at {bootstrap} within {timeout_s:g} s{because}. Check that it runs and that its advertised "
        "listener can be reached from here, or let the harness start one: --broker embedded."
    )


def check_reachable(bootstrap: str, timeout_s: float = 10) -> None:
    """Asks the broker at `bootstrap` (HOST:PORT) for its metadata. Raises HarnessError if none comes within `timeout_s`."""
    kafka = client()
    heard: list[str] = []
    admin = _admin(bootstrap, heard)
    try:
        admin.list_topics(timeout=timeout_s)
    except kafka.KafkaException as error:
        admin.poll(0)
        raise HarnessError(_unreachable(bootstrap, timeout_s, heard)) from error


def create_topic(bootstrap: str, name: str, partitions: int, timeout_s: float = 30) -> None:
    """Creates a topic fit for records of any time and size, replication 1, and waits until every partition has a leader.

    Raises HarnessError when it exists already, the name is illegal, or the broker does not answer.
    """
    kafka = client()
    from confluent_kafka.cimpl import NewTopic

    deadline = time.monotonic() + timeout_s
    check_reachable(bootstrap, timeout_s)
    admin = _admin(bootstrap)
    topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(TOPIC_CONFIG))
    left = max(1.0, deadline - time.monotonic())
    try:
        admin.create_topics([topic], operation_timeout=left, request_timeout=left)[name].result(left + 1)
        while True:
            known = admin.list_topics(name, timeout=max(0.1, deadline - time.monotonic())).topics[name]
            if known.error is None and sum(p.leader >= 0 for p in known.partitions.values()) == partitions:
                return
            if time.monotonic() > deadline:
                raise HarnessError(f"topic {name!r} at {bootstrap} has no leader for every partition after {timeout_s:g} s")
            time.sleep(0.02)
    except (kafka.KafkaException, ValueError, TimeoutError) as error:
        raise HarnessError(f"cannot create topic {name!r} with {partitions} partitions at {bootstrap}: {_text(error)}") from error


def ensure_topic(bootstrap: str, name: str, partitions: int, timeout_s: float = 30) -> None:
    """Creates the topic unless it exists; one that exists keeps its settings.

    Raises UsageError when it has fewer partitions than asked for, HarnessError when the broker does not answer.
    """
    check_reachable(bootstrap, timeout_s)
    known = _admin(bootstrap).list_topics(timeout=timeout_s).topics.get(name)
    if known is None:
        create_topic(bootstrap, name, partitions, timeout_s)
    elif len(known.partitions) < partitions:
        raise UsageError(
            f"topic {name!r} at {bootstrap} has {len(known.partitions)} partitions; at least {partitions} are needed"
        )


def delete_topic(bootstrap: str, name: str, timeout_s: float = 30) -> None:
    """Deletes a topic; one that does not exist is fine. Raises HarnessError when the broker refuses or does not answer."""
    kafka = client()
    admin = _admin(bootstrap)
    try:
        admin.delete_topics([name], operation_timeout=timeout_s, request_timeout=timeout_s)[name].result(timeout_s + 1)
    except (kafka.KafkaException, TimeoutError) as error:
        first = error.args[0] if error.args else None
        if isinstance(first, kafka.KafkaError) and first.code() == kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
            return
        raise HarnessError(f"cannot delete topic {name!r} at {bootstrap}: {_text(error)}") from error


def records_in(bootstrap: str, topic: str, timeout_s: float = 10) -> int:
    """How many records a topic's partitions hold by their first and next offsets. Raises HarnessError."""
    kafka = client()
    consumer = kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "cdc-conformance-count", "log_level": 0})
    try:
        partitions = consumer.list_topics(topic, timeout=timeout_s).topics[topic].partitions
        ends = [consumer.get_watermark_offsets(kafka.TopicPartition(topic, number), timeout=timeout_s) for number in partitions]
    except kafka.KafkaException as error:
        raise HarnessError(f"cannot count the records of topic {topic!r} at {bootstrap}: {_text(error)}") from error
    finally:
        consumer.close()
    return sum(high - low for low, high in ends)


def run_topic_name(prefix: str = "cdc-conformance") -> str:
    """A topic name that no other run has: prefix, UTC time, random digits."""
    return f"{prefix}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


@contextlib.contextmanager
def run_topic(
    bootstrap: str, partitions: int, *, prefix: str = "cdc-conformance", note: Callable[[str], None] | None = None
) -> Iterator[str]:
    """Creates a run's own topic, yields its name, and deletes it afterwards, whatever happened in between.

    If it cannot be deleted, `note` gets a text that names it; without `note` HarnessError is raised, unless another exception
    is already raised.
    """
    name = run_topic_name(prefix)
    try:
        create_topic(bootstrap, name, partitions)
        yield name
    finally:
        passing = sys.exc_info()[1] is not None
        try:
            # A broker that is gone took its topics along: no long wait.
            delete_topic(bootstrap, name, timeout_s=5 if passing else 30)
        except HarnessError as error:
            if note is not None:
                note(str(error))
            elif not passing:
                raise


def _text(error: BaseException) -> str:
    first = error.args[0] if error.args else None
    described = getattr(first, "str", None)
    return str(described()) if callable(described) else str(error) or type(error).__name__


class Account(Protocol):
    """A publishing's counts of its messages."""

    @property
    def acknowledged(self) -> int:
        """How many messages the broker confirmed."""
        ...

    @property
    def timed_out(self) -> bool:
        """Whether a message was given up."""
        ...


class Publishing:
    """A producer, and the watch over time without any acknowledgement."""

    def __init__(self, bootstrap: str, account: Account, progress: Callable[[int], None] | None, timeout_s: float) -> None:
        self.bootstrap, self.account, self.progress, self.timeout_s = bootstrap, account, progress, timeout_s
        self.fatal: str | None = None
        self.heard: list[str] = []
        limit = max(1, int(timeout_s * 1000))
        self.producer: Producer = client().Producer(
            {
                **PRODUCER_CONFIG,
                "bootstrap.servers": bootstrap,
                "message.timeout.ms": limit,
                "request.timeout.ms": min(30_000, limit),
                "error_cb": self._error,
                "log_level": 0,
                "reconnect.backoff.max.ms": 1_000,
            }
        )
        self.refusal: type[Exception] = client().KafkaException
        self._connected = False
        self._seen = -1
        self._moved = self._told = time.monotonic()

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
            raise PublishError(_unreachable(self.bootstrap, limit, self.heard), 0) from error
        if known is not None and known.error is not None and known.error.code() == kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise PublishError(self.denied(topic), 0)
        self._connected = True
        self._moved = time.monotonic()

    def denied(self, topic: str) -> str:
        """Words for a topic that this client may not write."""
        return (
            f"the broker at {self.bootstrap} refuses access to topic {topic!r} (Topic authorization failed). Grant this client "
            "WRITE and DESCRIBE on it, or publish to another topic."
        )

    def drain(self) -> None:
        """Waits until every message is delivered or has failed."""
        while len(self.producer):
            self.poll(0.1)
        self.poll(0)

    def error(self, what: str) -> PublishError:
        """The error, with the progress and what to do."""
        done = self.account.acknowledged
        because = f" ({self.heard[-1]})" if self.heard else ""
        return PublishError(
            f"publishing to {self.bootstrap} stopped: {what}{because}. {done:,} messages were acknowledged and lie in the topic, "
            f"{len(self.producer):,} were waiting. Check that the broker is alive and that its disk is not full, then publish to "
            "a fresh topic; a slow broker needs a longer time limit.",
            done,
        )

    def abandon(self) -> None:
        """Drops what is still queued, so that nothing waits for it."""
        self.producer.purge()
        self.producer.poll(0)

    def finish(self, seconds: float) -> None:
        """Waits at most that long for messages in flight, and drops the rest."""
        with contextlib.suppress(PublishError):
            deadline = time.monotonic() + seconds
            while len(self.producer) and time.monotonic() < deadline:
                self.poll(0.1)
        self.abandon()


class _Kept(Publishing):
    """One `publish`, which keeps each message's place."""

    def __init__(self, bootstrap: str, deliveries: Deliveries, progress: Callable[[int], None] | None, timeout_s: float) -> None:
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
    bootstrap: str,
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
    return deliveries.result(time.monotonic() - began)
