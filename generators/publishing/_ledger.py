"""The accounts of a publishing: which messages the broker confirmed, where they are, how long it
took.

Nothing here talks to Kafka.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from generators.publishing.cluster import client

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka import Message as Report

_ERRORS_KEPT: Final = 5


@dataclass(frozen=True, slots=True)
class Delivered:
    """An acknowledged message: `number` is its 0-based place in the input, times are seconds since
    the epoch.

    `offset` is -1 in the rare case that a retry was acknowledged without one and no earlier one
    determines it.
    """

    number: int
    partition: int
    offset: int
    intended_s: float
    acked_s: float
    topic: str = ""


@dataclass(slots=True)
class Histogram:
    """Durations in seconds by their logarithm: a few hundred counters however many samples,
    quantiles within 1 %.
    """

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
        """The smallest duration, in milliseconds, that at least `share` of the samples do not
        exceed; None without samples.
        """
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


Callback: TypeAlias = Callable[["KafkaError | None", "Report"], None]
"""What the client calls for a message."""
Arrived: TypeAlias = Callable[[int, float, "KafkaError | None", "Report"], None]


class Ledger:
    """What the client reported: counts and latencies, by lane (a partition)."""

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

    def lane(self, topic: str, partition: int) -> Arrived:
        """What the reports of a topic's partition go to, with the number and the intended time of
        each message: that the broker refuses one may be told before an earlier one is acknowledged,
        which is sent again.
        """
        last = -1

        def report(number: int, intended: float, error: KafkaError | None, message: Report) -> None:
            nonlocal last
            if error is not None:
                self.fail(error)
                return
            self._acknowledged += 1
            now = self.clock()
            self.latencies.add(now - intended)
            if self.delivered is not None:
                offset = message.offset()
                # A retry that the broker recognises too late has none; an idempotent producer's
                # messages lie in their order.
                known = (
                    offset if offset is not None and offset >= 0 else -1 if last < 0 else last + 1
                )
                last = known
                self.delivered(Delivered(number, partition, known, intended, now, topic))

        return report
