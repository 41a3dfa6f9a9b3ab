"""Publishing on a schedule: message i is meant to go out at start + i/rate, whatever the broker does.

A broker that stalls shows as latency, measured from the intended time, not as a lower rate (no coordinated omission).
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from generators.errors import UsageError
from generators.model import Message
from generators.publishing.cluster import Target, client
from generators.publishing.kafka import PublishError, Publishing
from generators.publishing.topics import denied, sized

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka import Message as Report
    from confluent_kafka._types import HeadersType

__all__ = ["Delivered", "Histogram", "PublishInterrupted", "PublishStopped", "Published", "publish_paced"]

_ERRORS_KEPT: Final = 5
_PROGRESS_S: Final = 0.5
_BURST_S: Final = 0.001
"""How long a burst is collected: the schedule is kept to this."""

_POLLED_S: Final = 0.001
"""The shortest wait of the Kafka client."""

_LARGEST_BURST: Final = 1_024
_SMALLEST_BURST: Final = 32
_TIMED_WHOLE: Final = 2_048
_TIMED_SAMPLE: Final = 32
_LAST_WAIT_S: Final = 5.0
"""How long an interrupted publishing waits for its messages in flight."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """An acknowledged message: `number` is its 0-based place in the input, times are seconds since the epoch.

    `offset` is -1 in the rare case that a retry was acknowledged without one and no earlier one determines it.
    """

    number: int
    partition: int
    offset: int
    intended_s: float
    acked_s: float
    topic: str = ""


@dataclass(slots=True)
class Histogram:
    """Durations in seconds by their logarithm: a few hundred counters however many samples, quantiles within 1 %."""

    counts: dict[int, int] = field(default_factory=dict)
    count: int = 0
    largest: float = 0.0

    def add(self, seconds: float) -> None:
        """Adds a sample; below a microsecond it counts as one."""
        place = round(math.log(max(seconds, 1e-6)) * 100)
        self.counts[place] = self.counts.get(place, 0) + 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def merge(self, other: Histogram) -> None:
        """Adds the other's samples."""
        for place, count in other.counts.items():
            self.counts[place] = self.counts.get(place, 0) + count
        self.count += other.count
        self.largest = max(self.largest, other.largest)

    def quantile_ms(self, share: float) -> float | None:
        """The smallest duration, in milliseconds, that at least `share` of the samples do not exceed; None without samples."""
        wanted, seen = math.ceil(share * self.count), 0
        for place in sorted(self.counts):
            seen += self.counts[place]
            if seen >= wanted:
                return round(min(math.exp(place / 100), self.largest) * 1000, 3)
        return None

    @property
    def max_ms(self) -> float | None:
        """The longest, in milliseconds."""
        return round(self.largest * 1000, 3) if self.count else None


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publishing.

    `sent` counts the messages handed to the client, each of which is acknowledged or failed; what was given up while waiting (an
    interruption, a broker that died) has failed. `seconds` is from the first message to the last acknowledgement, `per_second`
    the acknowledged ones in it. Latencies are milliseconds from the intended time to the acknowledgement, within 1 % but
    `max_ms`, None when nothing was acknowledged; without a rate they are from handing over, of a sample. `errors` holds the first
    different error texts, `latencies` what the quantiles are of, so that several publishings can be added up.
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


class PublishStopped(PublishError):
    """The broker cannot be reached or has stopped answering; `published` is what was done until then."""

    def __init__(self, text: str, published: Published) -> None:
        super().__init__(text, published.acknowledged)
        self.published = published


class PublishInterrupted(KeyboardInterrupt):
    """Ctrl-C while publishing; `published` is what was done until then."""

    def __init__(self, published: Published) -> None:
        super().__init__("interrupted")
        self.published = published


class _Ledger:
    """What the client reported: counts and latencies, by lane (a partition, whose reports come in the order of its messages)."""

    def __init__(self, clock: Callable[[], float], told: Callable[[Delivered], None] | None) -> None:
        self.clock, self.told = clock, told
        self.failed = self._acknowledged = 0
        self.timed_out = self.denied = False
        self.errors: list[str] = []
        self.latencies = Histogram()
        self._codes = client().KafkaError
        count = 0

        def counted(error: KafkaError | None, _report: Report) -> None:
            nonlocal count
            if error is None:
                count += 1
            else:
                self.fail(error)

        self.counted = counted
        """A report that is only counted. A variable of a closure costs less than an attribute."""

        def total() -> int:
            return count

        self._counted = total

    @property
    def acknowledged(self) -> int:
        """How many messages the broker confirmed."""
        return self._acknowledged + self._counted()

    def fail(self, error: KafkaError) -> None:
        """Counts an undelivered message."""
        self.failed += 1
        self.timed_out |= error.code() == self._codes._MSG_TIMED_OUT
        self.denied |= error.code() == self._codes.TOPIC_AUTHORIZATION_FAILED
        text = error.str()
        if len(self.errors) < _ERRORS_KEPT and text not in self.errors:
            self.errors.append(text)

    def timed(self, error: KafkaError | None, report: Report) -> None:
        """A report whose time since handing over is kept too."""
        self.counted(error, report)
        taken = report.latency()
        if error is None and taken is not None:
            self.latencies.add(taken)

    def lane(self, topic: str, partition: int) -> tuple[deque[tuple[int, float]], Callable[[KafkaError | None, Report], None]]:
        """The messages under way of a topic's partition as (number, intended), and what its reports go to."""
        waiting: deque[tuple[int, float]] = deque()
        last = -1

        def report(error: KafkaError | None, message: Report) -> None:
            nonlocal last
            number, intended = waiting.popleft()
            if error is not None:
                self.fail(error)
                return
            self._acknowledged += 1
            now = self.clock()
            self.latencies.add(now - intended)
            if self.told is not None:
                offset = message.offset()
                # A retry that the broker recognises too late has none; an idempotent producer's messages lie in their order.
                known = offset if offset is not None and offset >= 0 else -1 if last < 0 else last + 1
                last = known
                self.told(Delivered(number, partition, known, intended, now, topic))

        return waiting, report


class _Paced(Publishing):
    """One `publish_paced`."""

    def __init__(
        self,
        bootstrap: Target,
        topic: str | None,
        ledger: _Ledger,
        began: float,
        rate: float | None,
        stamp: bool,
        progress: Callable[[int], None] | None,
        timeout_s: float,
        commit_s: float | None,
    ) -> None:
        super().__init__(bootstrap, ledger, progress, timeout_s, transactions=commit_s is not None)
        self.commit_s, self._begun_s = commit_s, 0.0
        self.topic, self.ledger, self.began, self.rate, self.stamp = topic, ledger, began, rate, stamp
        self.number = 0
        self._lanes: dict[tuple[str, int], tuple[deque[tuple[int, float]], Callable[[KafkaError | None, Report], None]]] = {}

    def poll(self, seconds: float) -> None:
        """As `Publishing`, and raises PublishError for a topic that may not be written: later messages would fail too."""
        super().poll(seconds)
        if self.ledger.denied:
            raise PublishError(
                denied(self.bootstrap, self.topic or "of a message", "WRITE and DESCRIBE"), self.ledger.acknowledged
            )

    def intended(self, number: int) -> float:
        """When that message is meant to go out, in seconds since the epoch."""
        return self.ledger.clock() if self.rate is None else self.began + number / self.rate

    def burst(self, messages: Iterable[Message]) -> int:
        """Hands messages to the client, each with its intended time; returns how many there were."""
        if self.rate is None and self.ledger.told is None and not self.stamp:
            return self._plain(messages)
        first = self.number
        for message in messages:
            intended = self.intended(self.number)
            place = self.topic or message.topic, message.partition
            lane = self._lanes.get(place)
            if lane is None:
                lane = self._lanes[place] = self.ledger.lane(*place)
            waiting, report = lane
            waiting.append((self.number, intended))
            if not self._hand(message, report, int(intended * 1000) if self.stamp else message.timestamp_ms):
                waiting.pop()
            self.number += 1
        return self.number - first

    def _plain(self, messages: Iterable[Message]) -> int:
        """As `burst` where neither schedule nor stamps nor single reports are needed: nothing is kept for a message."""
        chunk = self.number // _LARGEST_BURST
        report = self.ledger.timed if self.number < _TIMED_WHOLE or not chunk % _TIMED_SAMPLE else self.ledger.counted
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
                self._hand(message, report, message.timestamp_ms)
        self.number = number
        return number - first

    def _hand(self, message: Message, report: Callable[[KafkaError | None, Report], None], timestamp_ms: int) -> bool:
        """Hands over one message, waiting for room; False when the client refuses it, and no report will come."""
        headers: HeadersType | None = list(message.headers) if message.headers else None
        while True:
            try:
                to = self.topic or message.topic
                self.producer.produce(to, message.value, message.key, message.partition, report, None, timestamp_ms, headers)
                return True
            except BufferError:
                self.poll(0.1)
            except self.refusal as error:
                self.ledger.fail(error.args[0])
                return False

    def begin(self) -> None:
        """Begins a transaction if the messages are in transactions."""
        if self.commit_s is not None:
            self._transact(self.producer.begin_transaction)
            self._begun_s = self.ledger.clock()

    def due(self) -> bool:
        """Whether the transaction is old enough to be committed."""
        return self.commit_s is not None and self.ledger.clock() - self._begun_s >= self.commit_s

    def commit(self) -> None:
        """Waits for messages in flight, and commits the transaction if one is open."""
        self.drain()
        if self.commit_s is not None:
            self._transact(lambda: self.producer.commit_transaction(self.timeout_s))

    def wait(self, until: float, stop: Callable[[], bool]) -> None:
        """Serves reports until that time."""
        while (early := until - self.ledger.clock()) > 0 and not stop():
            # The client waits for whole milliseconds: with less it would not wait at all, and this loop would take a core.
            if early < _POLLED_S:
                time.sleep(early)
            self.poll(0 if early < _POLLED_S else min(early, 0.1))

    def summary(self) -> Published:
        """The counts so far."""
        ledger, seconds = self.ledger, self.ledger.clock() - self.began
        return Published(
            sent=self.number,
            acknowledged=ledger.acknowledged,
            failed=ledger.failed,
            seconds=seconds,
            per_second=ledger.acknowledged / seconds if seconds > 0 else 0.0,
            p50_ms=ledger.latencies.quantile_ms(0.5),
            p99_ms=ledger.latencies.quantile_ms(0.99),
            max_ms=ledger.latencies.max_ms,
            errors=tuple(sized(self.bootstrap, self.topic, text) for text in ledger.errors),
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
    """Publishes messages to their partitions of a topic, None each to its own, on an absolute schedule: idempotent, acknowledged
    by all.

    `rate` is messages a second, None as fast as possible. It ends with the input, after `count` messages, after `duration_s`
    seconds or when `stop()` is true, whichever comes first, and then waits for messages in flight. `stamp` sets each record's
    timestamp to its intended time in place of the writer's. `delivered` gets every acknowledged message, in the order of its
    partition; `progress` the acknowledged count about twice a second; `ready` is called when the broker is reached, and the
    schedule starts when it returns. What is in flight is bounded by the client's queue: when it is full, messages wait, and their
    latency grows. With `commit_s` the messages are in transactions, each committed after so many seconds.

    Raises UsageError for a rate, count or duration that makes no sense; PublishStopped when the broker is not reached or
    acknowledges nothing for `timeout_s` seconds; PublishInterrupted on Ctrl-C. Both of the latter carry what was published.
    """
    if rate is not None and not 0 < rate < math.inf:
        raise UsageError(f"rate {rate!r}: messages a second, more than 0")
    if count is not None and count < 0:
        raise UsageError(f"count {count}: it must not be negative")
    if duration_s is not None and not duration_s > 0:
        raise UsageError(f"duration {duration_s!r}: seconds, more than 0")
    wall = time.time() - time.monotonic()

    def clock() -> float:
        """Seconds since the epoch, never set back."""
        return wall + time.monotonic()

    def over() -> bool:
        return stop is not None and stop()

    ledger = _Ledger(clock, delivered)
    source = iter(messages) if count is None else itertools.islice(messages, count)
    # The source's first message is made before the clock starts: learning a writer's templates takes seconds.
    head = list(itertools.islice(source, 1))
    run = _Paced(bootstrap, topic, ledger, clock(), rate, stamp, progress, timeout_s, commit_s)
    try:
        if head:
            run.connect(topic or head[0].topic)
            if ready is not None:
                ready()
            run.begin()
            run.began = clock()
            _produce(run, itertools.chain(head, source), None if duration_s is None else run.began + duration_s, over)
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
        progress(ledger.acknowledged)
    return run.summary()


def _produce(run: _Paced, source: Iterator[Message], end: float | None, over: Callable[[], bool]) -> None:
    """Hands messages over as they fall due."""
    clock, rate, burst = run.ledger.clock, run.rate, 64
    while not over():
        if run.due():
            run.commit()
            run.begin()
        now = clock()
        if end is not None and now >= end:
            return
        wanted = burst
        if rate is not None:
            wake = max(run.intended(run.number), now + _BURST_S)
            run.wait(wake if end is None else min(wake, end), over)
            wanted = min(burst, int((clock() - run.began) * rate) + 1 - run.number)
            if end is not None:
                wanted = min(wanted, math.ceil((end - run.began) * rate) - run.number)
        run.poll(0)
        if wanted > 0 and not over():
            before = clock()
            if run.burst(itertools.islice(source, wanted)) < wanted:
                return
            # A slow source gets small bursts, else nothing would be polled or reported for long. Not the smallest: a
            # full queue makes bursts slow too.
            burst = min(_LARGEST_BURST, burst * 2) if clock() - before < 0.1 else max(_SMALLEST_BURST, burst // 2)
