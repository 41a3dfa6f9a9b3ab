"""Counts what the broker confirmed: which messages, at which offsets, after which time. Nothing
here talks to Kafka.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from generators.publishing.cluster import client

if TYPE_CHECKING:
    import confluent_kafka
    from confluent_kafka import KafkaError

_ERRORS_KEPT: Final = 5
"""How many different error texts are kept."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """An acknowledged message. `number` is its place in the input, counted from 0; times are
    seconds since the epoch. `offset` is -1 in the rare case that a retry was acknowledged without
    an offset, and no earlier message of the partition determines it.
    """

    number: int
    partition: int
    offset: int
    intended_s: float
    acked_s: float
    topic: str = ""


@dataclass(slots=True)
class Histogram:
    """Counts durations (seconds) in buckets of equal ratio: a few hundred counters for any number
    of samples, with quantiles that are right within 1 %. `counts` is by the bucket's number, 100
    times the logarithm of its duration.
    """

    counts: dict[int, int] = field(default_factory=dict)
    count: int = 0
    largest: float = 0.0

    def add(self, seconds: float) -> None:
        """Adds a duration; one below a microsecond is counted as a microsecond."""
        # The borders of a bucket are about one percent apart.
        bucket = round(math.log(max(seconds, 1e-6)) * 100)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def merge(self, added: Histogram) -> None:
        """Adds the samples of another histogram to this one."""
        for bucket, count in added.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count
        self.count += added.count
        self.largest = max(self.largest, added.largest)

    def quantile_ms(self, share: float) -> float | None:
        """The smallest duration, in milliseconds, that at least `share` of the samples do not
        exceed; None without samples.
        """
        target_count = math.ceil(share * self.count)
        counted_so_far = 0
        for bucket in sorted(self.counts):
            counted_so_far += self.counts[bucket]
            if counted_so_far >= target_count:
                return round(min(math.exp(bucket / 100), self.largest) * 1000, 3)
        return None

    @property
    def max_ms(self) -> float | None:
        """The longest duration, in milliseconds; None if none was measured."""
        return round(self.largest * 1000, 3) if self.count else None


Callback: TypeAlias = Callable[["KafkaError | None", "confluent_kafka.Message"], None]
"""What the Kafka client calls for a message: with an error or None, and the delivery report."""
Arrived: TypeAlias = Callable[[int, float, "KafkaError | None", "confluent_kafka.Message"], None]
"""What `Ledger.report_to` returns: a function of a message's number, the time at which it was due,
and the two arguments of a Callback.
"""


class Ledger:
    """Counts and latencies from the client's delivery reports, by lane (a partition of a topic)."""

    def __init__(
        self, clock: Callable[[], float], delivered: Callable[[Delivered], None] | None
    ) -> None:
        self.clock, self.delivered = clock, delivered
        self.failed = self._acknowledged = 0
        self.timed_out = self.denied = False
        self.errors: list[str] = []
        self.latencies = Histogram()
        self._codes = client().KafkaError
        count = 0

        def count_report(error: KafkaError | None, _report: confluent_kafka.Message) -> None:
            """Counts a delivery report as a confirmed or a failed message."""
            nonlocal count
            if error is None:
                count += 1
            else:
                self.count_failure(error)

        self.count_report = count_report
        """A report that is only counted. A variable of a closure costs less than an attribute."""

        def confirmed_count() -> int:
            """How many delivery reports `count_report` has counted as confirmed."""
            return count

        self._confirmed_count = confirmed_count

    @property
    def acknowledged(self) -> int:
        """How many messages the broker confirmed."""
        return self._acknowledged + self._confirmed_count()

    def count_failure(self, error: KafkaError) -> None:
        """Counts a message that the client could not deliver, and keeps the error's text if it is
        one of the first different ones.
        """
        self.failed += 1
        self.timed_out |= error.code() == self._codes._MSG_TIMED_OUT
        self.denied |= error.code() == self._codes.TOPIC_AUTHORIZATION_FAILED
        error_text = error.str()
        if len(self.errors) < _ERRORS_KEPT and error_text not in self.errors:
            self.errors.append(error_text)

    def time_report(self, error: KafkaError | None, report: confluent_kafka.Message) -> None:
        """Counts a delivery report, and adds the time since the client got the message to the
        latencies.
        """
        self.count_report(error, report)
        latency = report.latency()
        if error is None and latency is not None:
            self.latencies.add(latency)

    def report_to(self, topic: str, partition: int) -> Arrived:
        """The function that takes the delivery reports of one partition of a topic, with each
        message's number and intended time. Numbers may come out of order: the client reports a
        refused message before an earlier one that it is still retrying.
        """
        last = -1

        def report(
            number: int, intended: float, error: KafkaError | None, message: confluent_kafka.Message
        ) -> None:
            """Notes the broker's answer to message `number`, which was due at the time `intended`:
            a failure, or the offset and the latency.
            """
            nonlocal last
            if error is not None:
                self.count_failure(error)
                return
            self._acknowledged += 1
            now = self.clock()
            self.latencies.add(now - intended)
            if self.delivered is not None:
                offset = message.offset()
                # A retry that the broker recognises too late has none; an idempotent producer's
                # messages lie in their order.
                if offset is not None and offset >= 0:
                    determined_offset = offset
                else:
                    determined_offset = -1 if last < 0 else last + 1
                last = determined_offset
                self.delivered(
                    Delivered(number, partition, determined_offset, intended, now, topic)
                )

        return report
