"""Publishing on a schedule: message i is meant to go out at start + i/rate, whatever the broker
does.

A broker that stalls shows as latency, measured from the intended time, not as a lower rate (no
coordinated omission).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.publishing._ledger import Arrived, Callback, Delivered, Histogram, Ledger
from generators.publishing.cluster import Target, as_cluster, client, settings
from generators.publishing.topics import (
    LARGEST_MESSAGE,
    describe_denial,
    unreachable,
    with_size_limit,
)

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer
    from confluent_kafka._types import HeadersType

__all__ = [
    "Delivered",
    "Histogram",
    "Paced",
    "PublishInterrupted",
    "PublishStopped",
    "Published",
    "publish_paced",
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

_PROGRESS_S: Final = 0.5
"""Seconds between two calls of `progress`."""
_BURST_S: Final = 0.001
"""How long a burst is collected: the schedule is kept to this."""

_POLLED_S: Final = 0.001
"""The shortest wait of the Kafka client."""

_LARGEST_BURST: Final = 1_024
"""The largest number of messages that are given to the client at once."""
_SMALLEST_BURST: Final = 32
"""The size below which bursts do not shrink."""
_TIMED_WHOLE: Final = 2_048
"""At full speed the latency of this many first messages is measured."""
_TIMED_SAMPLE: Final = 32
"""At full speed, of later messages, those of every n-th chunk of _LARGEST_BURST are measured."""
_LAST_WAIT_S: Final = 5.0
"""How long an interrupted publishing waits for its messages in flight."""
_DROPPED_S: Final = 5.0
"""Limit for the reports of dropped messages, in seconds."""


class PublishError(HarnessError):
    """Publishing stopped before its end. `acknowledged` is the number of messages confirmed until
    then.
    """

    def __init__(self, message: str, acknowledged: int) -> None:
        super().__init__(message)
        self.acknowledged = acknowledged


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publishing.

    `sent` counts the messages handed to the client. Each of them is counted as acknowledged or as
    failed; one that was given up while waiting (an interruption, a broker that died) has failed.
    `seconds` is from the first message to the last acknowledgement, `per_second` the acknowledged
    messages in it. Latencies are in milliseconds, from the time at which a message was due to its
    acknowledgement; without a rate, from the time at which the client got it, of a sample of
    messages. The quantiles are right within 1 %, `max_ms` is exact; all are None when nothing was
    acknowledged. `errors` holds the first different error texts; `latencies` has the measured
    times, so that several publishings can be added up.
    """

    sent: int
    acknowledged: int
    failed: int
    seconds: float
    per_second: float
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    errors: tuple[str, ...] = ()
    latencies: Histogram = field(default_factory=Histogram, repr=False, compare=False)


def add_up(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Adds the counts, quantiles and errors of several publishings. Each is a dict of the fields of
    Published, perhaps read from JSON.
    """
    latencies = Histogram()
    errors: list[str] = []
    for part in parts:
        data = part["latencies"]
        # JSON has turned the numbers of the buckets into texts.
        counts = {int(bucket): count for bucket, count in data["counts"].items()}
        latencies.merge(Histogram(counts, data["count"], data["largest"]))
        errors += part["errors"]
    return {
        "sent": sum(part["sent"] for part in parts),
        "acknowledged": sum(part["acknowledged"] for part in parts),
        "failed": sum(part["failed"] for part in parts),
        "p50_ms": latencies.quantile_ms(0.5),
        "p99_ms": latencies.quantile_ms(0.99),
        "max_ms": latencies.max_ms,
        "errors": list(dict.fromkeys(errors)),
    }


class PublishStopped(PublishError):
    """The broker cannot be reached, or stopped answering. `published` is the result until then."""

    def __init__(self, message: str, published: Published) -> None:
        super().__init__(message, published.acknowledged)
        self.published = published


class PublishInterrupted(KeyboardInterrupt):
    """Ctrl-C while publishing. `published` is the result until then."""

    def __init__(self, published: Published) -> None:
        super().__init__("interrupted")
        self.published = published


class Paced:
    """A Kafka producer that keeps a schedule, counts delivery reports, and notices when no
    acknowledgement comes for too long.

    `topic` replaces the messages' own topics, None keeps them. `rate` is messages a second, None as
    fast as possible. `stamp` sets each record's timestamp to the time at which it was due.
    `delivered` gets each acknowledged message, `progress` from time to time their number.
    `timeout_s` is the longest time without an acknowledgement. `commit_s` is the age at which a
    transaction is committed; None publishes without transactions.
    """

    def __init__(
        self,
        to: Target,
        topic: str | None,
        *,
        rate: float | None = None,
        stamp: bool = False,
        delivered: Callable[[Delivered], None] | None = None,
        progress: Callable[[int], None] | None = None,
        timeout_s: float,
        commit_s: float | None = None,
    ) -> None:
        self.to = to
        self.topic = topic
        self.rate = rate
        self.stamp = stamp
        self.progress = progress
        self.timeout_s = timeout_s
        wall = time.time() - time.monotonic()
        # Seconds since the epoch, never set back.
        self.clock: Callable[[], float] = lambda: wall + time.monotonic()
        self.ledger = Ledger(self.clock, delivered)
        self.began, self.number = self.clock(), 0
        self.commit_s, self._begun_s = commit_s, 0.0
        self.fatal: str | None = None
        self.heard: list[str] = []
        limit = max(1, int(timeout_s * 1000))
        self.producer: Producer = client().Producer(
            {
                **PRODUCER_CONFIG,
                "request.timeout.ms": min(30_000, limit),
                "reconnect.backoff.max.ms": 1_000,
                **settings(to),
                "message.timeout.ms": limit,
                "error_cb": self._error,
                "log_level": 0,
                **(
                    {"transactional.id": f"{as_cluster(to).prefix}-{secrets.token_hex(4)}"}
                    if commit_s is not None
                    else {}
                ),
            }
        )
        self.refusal: type[Exception] = client().KafkaException
        self._last_acknowledged = -1
        self._moved = self._last_progress_s = time.monotonic()
        self._partition_reports: dict[tuple[str, int], Arrived] = {}
        if commit_s is not None:
            self.transact(lambda: self.producer.init_transactions(timeout_s))

    def _error(self, error: KafkaError) -> None:
        """Keeps an error that the Kafka client reports beside delivery reports; a fatal one ends
        publishing.
        """
        self.heard = [*self.heard[-3:], error.str()]
        if error.fatal():
            self.fatal = error.str()

    def transact(self, step: Callable[[], object]) -> None:
        """Calls `step`, the client's method for one step of a transaction (begin, commit, abort).
        Raises PublishError if it fails.
        """
        try:
            step()
        except self.refusal as error:
            raise self.error(f"a transaction failed: {error.args[0].str()}") from error

    def poll(self, seconds: float) -> None:
        """Handles the client's delivery reports for up to `seconds`, and passes the number of
        confirmed messages to `progress`. Raises PublishError if the broker has stopped answering,
        or if the topic may not be written, so that all later messages would fail, too.
        """
        self.producer.poll(seconds)
        now = time.monotonic()
        done = self.ledger.acknowledged
        # Nothing outstanding means nothing to wait for: a slow source is no fault of the broker.
        if done != self._last_acknowledged or not len(self.producer):
            self._last_acknowledged, self._moved = done, now
        if self.progress is not None and now - self._last_progress_s >= _PROGRESS_S:
            self._last_progress_s = now
            self.progress(done)
        if self.fatal is not None:
            raise self.error(f"the client gave up: {self.fatal}")
        if self.ledger.timed_out or now - self._moved > self.timeout_s:
            raise self.error(f"no acknowledgement for {self.timeout_s:g} s")
        if self.ledger.denied:
            raise PublishError(
                describe_denial(self.to, self.topic or "of a message", "WRITE and DESCRIBE"), done
            )

    def connect(self, topic: str) -> None:
        """Makes the client look up the broker and the topic; an idempotent client would otherwise
        wait half a second before its first message.
        """
        kafka = client()
        limit = min(self.timeout_s, 30.0)
        try:
            topic_metadata = self.producer.list_topics(topic, timeout=limit).topics.get(topic)
        except kafka.KafkaException as error:
            self.producer.poll(0)
            raise PublishError(unreachable(self.to, limit, self.heard), 0) from error
        if (
            topic_metadata is not None
            and topic_metadata.error is not None
            and topic_metadata.error.code() == kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED
        ):
            raise PublishError(describe_denial(self.to, topic, "WRITE and DESCRIBE"), 0)
        self._moved = time.monotonic()

    def drain(self) -> None:
        """Waits until no message is queued any more. Raises PublishError if the topic may not be
        written, or a message was not acknowledged in time.
        """
        while len(self.producer):
            self.poll(0.1)
        # Raises for a message that had failed before, also where the queue was empty from the start.
        self.poll(0)

    def error(self, what: str) -> PublishError:
        """Drops all queued messages, and returns the PublishError to raise: `what` went wrong, how
        many messages were confirmed, and what the user can do.
        """
        self.abandon()
        done = self.ledger.acknowledged
        because = f" ({self.heard[-1]})" if self.heard else ""
        return PublishError(
            f"publishing to {self.to} stopped: {what}{because}. {done:,} messages were acknowledged"
            f" and lie in the topic, {self.ledger.failed:,} failed or were given up. Check that the"
            " broker is alive and its disk not full, then publish to a fresh topic; a slow broker"
            " needs a longer time limit.",
            done,
        )

    def abandon(self) -> None:
        """Drops all queued messages, so that nothing waits for them."""
        self.producer.purge()
        # The client tells of what it dropped when its threads come to it.
        deadline = time.monotonic() + _DROPPED_S
        while len(self.producer) and time.monotonic() < deadline:
            self.producer.poll(0.05)

    def finish(self, seconds: float) -> None:
        """Waits at most `seconds` for messages in flight, then drops the rest. Never raises
        PublishError.
        """
        with contextlib.suppress(PublishError):
            deadline = time.monotonic() + seconds
            while len(self.producer) and time.monotonic() < deadline:
                self.poll(0.1)
        self.abandon()

    def intended(self) -> float:
        """The time at which the next message is due, in seconds since the epoch; now if there is no
        rate.
        """
        return self.clock() if self.rate is None else self.began + self.number / self.rate

    def burst(self, messages: Iterable[Message]) -> int:
        """Gives the client all of these messages at once, each with the time at which it was due.
        Returns their number.
        """
        # Without a schedule, and if nobody wants to know each message's offset, none needs a report
        # or a timestamp of its own.
        if self.rate is None and self.ledger.delivered is None and not self.stamp:
            return self._publish_at_once(messages)
        first = self.number
        for message in messages:
            intended = self.intended()
            place = self.topic or message.topic, message.partition
            partition_report = self._partition_reports.get(place)
            if partition_report is None:
                partition_report = self._partition_reports[place] = self.ledger.report_to(*place)
            report = partial(partition_report, self.number, intended)
            self._hand_over(
                message, report, int(intended * 1000) if self.stamp else message.timestamp_ms
            )
            self.number += 1
        return self.number - first

    def _publish_at_once(self, messages: Iterable[Message]) -> int:
        """Gives the client all messages as fast as possible, with the writer's timestamps. All have
        the same function for delivery reports, which counts them or also notes latencies, so that
        nothing is kept of a single message. Returns their number.
        """
        chunk = self.number // _LARGEST_BURST
        report = (
            self.ledger.time_report
            if self.number < _TIMED_WHOLE or not chunk % _TIMED_SAMPLE
            else self.ledger.count_report
        )
        produce, topic, first, number = self.producer.produce, self.topic, self.number, self.number
        for message in messages:
            number += 1
            try:
                # By position, which is measurably faster than by name.
                produce(
                    topic or message.topic,
                    message.value,
                    message.key,
                    message.partition,
                    report,
                    None,
                    message.timestamp_ms,
                    list(message.headers) if message.headers else None,
                )
            except (BufferError, self.refusal):
                self.number = number
                self._hand_over(message, report, message.timestamp_ms)
        self.number = number
        return number - first

    def _hand_over(self, message: Message, report: Callback, timestamp_ms: int) -> None:
        """Gives the client one message with this timestamp, and waits while its queue is full. The
        client calls `report` when the message was acknowledged or has failed. A message that the
        client refuses counts as failed at once, and `report` is never called for it.
        """
        headers: HeadersType | None = list(message.headers) if message.headers else None
        while True:
            try:
                self.producer.produce(
                    self.topic or message.topic,
                    message.value,
                    message.key,
                    message.partition,
                    report,
                    None,  # on_delivery, the client's second name for the argument `report`
                    timestamp_ms,
                    headers,
                )
                return
            except BufferError:
                self.poll(0.1)
            except self.refusal as error:
                self.ledger.count_failure(error.args[0])
                return

    def begin(self) -> None:
        """Begins a transaction, if messages are published in transactions (`commit_s` is not None).
        Raises PublishError if that fails.
        """
        if self.commit_s is not None:
            self.transact(self.producer.begin_transaction)
            self._begun_s = self.clock()

    def due(self) -> bool:
        """Whether the open transaction is at least `commit_s` seconds old, so that it should be
        committed; False without transactions.
        """
        return self.commit_s is not None and self.clock() - self._begun_s >= self.commit_s

    def commit(self) -> None:
        """Waits until no message is in flight, and then, if messages are published in transactions,
        commits the open one. Raises PublishError if either fails.
        """
        self.drain()
        if self.commit_s is not None:
            self.transact(lambda: self.producer.commit_transaction(self.timeout_s))

    def wait(self, until: float, stop: Callable[[], bool]) -> None:
        """Handles the client's delivery reports until the time `until`, or until `stop()` is
        true.
        """
        while (remaining_s := until - self.clock()) > 0 and not stop():
            # The client waits for whole milliseconds: with less it would not wait at all, and this
            # loop would take a core.
            if remaining_s < _POLLED_S:
                time.sleep(remaining_s)
                self.poll(0)
            else:
                self.poll(min(remaining_s, 0.1))

    def summary(self) -> Published:
        """The counts, the speed and the latencies of what was published so far."""
        ledger, seconds = self.ledger, self.clock() - self.began
        return Published(
            sent=self.number,
            acknowledged=ledger.acknowledged,
            failed=ledger.failed,
            seconds=seconds,
            per_second=ledger.acknowledged / seconds if seconds > 0 else 0.0,
            p50_ms=ledger.latencies.quantile_ms(0.5),
            p99_ms=ledger.latencies.quantile_ms(0.99),
            max_ms=ledger.latencies.max_ms,
            errors=tuple(
                with_size_limit(self.to, self.topic, error_text) for error_text in ledger.errors
            ),
            latencies=ledger.latencies,
        )


def publish_paced(
    bootstrap: Target,
    topic: str | None,
    messages: Iterable[Message],
    *,
    rate: float | None,
    count: int | None = None,
    duration_s: float | None = None,
    stamp: bool = False,
    delivered: Callable[[Delivered], None] | None = None,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    ready: Callable[[], None] | None = None,
    timeout_s: float = 30,
    commit_s: float | None = None,
) -> Published:
    """Publishes messages to their partitions of a topic, None each to its own, on an absolute
    schedule: idempotent, acknowledged by all.

    `rate` is messages a second, None as fast as possible. It ends with the input, after `count`
    messages, after `duration_s` seconds or when `stop()` is true, whichever comes first, and then
    waits for messages in flight; after `stop()` only for a few seconds. `stamp` sets each record's
    timestamp to its intended time in place of the writer's. `delivered` gets every acknowledged
    message, in the order of its partition; `progress` the acknowledged count about twice a second;
    `ready` is called when the broker is reached, and the schedule starts when it returns. What is
    in flight is bounded by the client's queue: when it is full, messages wait, and their latency
    grows. With `commit_s` the messages are in transactions, each committed after so many seconds.

    Raises UsageError for a rate, count or duration that makes no sense; PublishStopped when the
    broker is not reached or acknowledges nothing for `timeout_s` seconds; PublishInterrupted on
    Ctrl-C. Both of the latter carry what was published.
    """
    if rate is not None and not 0 < rate < math.inf:
        raise UsageError(f"rate {rate!r}: messages a second, more than 0")
    if count is not None and count < 0:
        raise UsageError(f"count {count}: it must not be negative")
    if duration_s is not None and not duration_s > 0:
        raise UsageError(f"duration {duration_s!r}: seconds, more than 0")

    def over() -> bool:
        return stop is not None and stop()

    source = iter(messages) if count is None else itertools.islice(messages, count)
    # The source's first message is made before the clock starts: learning a writer's templates
    # takes seconds.
    head = list(itertools.islice(source, 1))
    run = Paced(
        *(bootstrap, topic),
        rate=rate,
        stamp=stamp,
        delivered=delivered,
        progress=progress,
        timeout_s=timeout_s,
        commit_s=commit_s,
    )
    try:
        if head:
            run.connect(topic or head[0].topic)
            if ready is not None:
                ready()
            run.begin()
            run.began = run.clock()
            _produce(
                run,
                itertools.chain(head, source),
                None if duration_s is None else run.began + duration_s,
                over,
            )
            if over():
                run.finish(_LAST_WAIT_S)
            run.commit()
        run.drain()
    except KeyboardInterrupt:
        run.finish(_LAST_WAIT_S)
        raise PublishInterrupted(run.summary()) from None
    except PublishError as error:
        run.abandon()
        raise PublishStopped(str(error), run.summary()) from error
    except BaseException:
        run.abandon()
        raise
    if progress is not None:
        progress(run.ledger.acknowledged)
    return run.summary()


def _produce(
    run: Paced, source: Iterator[Message], end: float | None, over: Callable[[], bool]
) -> None:
    """Gives the client the messages of `source` when they are due, until they end, the time `end`
    comes, or `over()` is true. They are given in bursts, which grow while the source is fast and
    shrink while it, or the client, is slow.
    """
    clock, rate, burst = run.clock, run.rate, 64
    while not over():
        if run.due():
            run.commit()
            run.begin()
        now = clock()
        if end is not None and now >= end:
            return
        burst_size = burst
        if rate is not None:
            wake = max(run.intended(), now + _BURST_S)
            run.wait(wake if end is None else min(wake, end), over)
            burst_size = min(burst, int((clock() - run.began) * rate) + 1 - run.number)
            if end is not None:
                burst_size = min(burst_size, math.ceil((end - run.began) * rate) - run.number)
        run.poll(0)
        if burst_size > 0 and not over():
            before = clock()
            if run.burst(itertools.islice(source, burst_size)) < burst_size:
                return
            # A slow source gets small bursts, else nothing would be polled or reported for long.
            # Not the smallest: a full queue makes bursts slow too.
            burst = (
                min(_LARGEST_BURST, burst * 2)
                if clock() - before < 0.1
                else max(_SMALLEST_BURST, burst // 2)
            )
