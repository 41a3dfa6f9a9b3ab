"""The figures of a decoder under load, from the producer's and the query's reports; and the
criterion of keeping up.

The decoder **keeps up** at a rate when, while messages come at that rate,

1. the backlog (acknowledged and not yet decoded) does not grow: its fitted slope over the second
   half of the sending is at most
   `SLOPE` of the rate, or the backlog at the end is no more than what arrives in a trigger interval
   and two of the shortest
   batches (micro-batches that keep up hold as much);
2. 99 % of the messages sent in the second half are decoded within `LAG_S` seconds and two trigger
   intervals after their
   intended time;
3. the rest is decoded within `DRAIN_S` seconds after the sending ends.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

SLOPE: Final = 0.05
"""The most by which the backlog may grow, as a share of the rate."""
LAG_S: Final = 5.0
"""Seconds from the due time of a message to its decoding, beside two trigger intervals, that 99 %
of the messages must keep.
"""
DRAIN_S: Final = 20.0
"""Seconds after the end of the sending in which the rest must be decoded."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch of the query under load. `began` and `ended` are seconds since the epoch;
    `offsets` has the offsets from (inclusive) and to (exclusive), by lane (a partition's number
    among those of all topics). `row_count` is the number of rows that the decoder returned,
    `messages` the number of their messages (rows numbered 0), `places` the sum of these messages'
    hashes (`conformance.load.source.place_hash`), `kinds` the rows by kind. `read` is the number of
    messages that were read, -1 if it is that of the offsets.
    """

    number: int
    began: float
    ended: float
    offsets: Mapping[int, tuple[int, int]]
    row_count: int
    messages: int
    places: int
    kinds: Mapping[str, int]
    planning_ms: int = 0
    read: int = -1

    @property
    def seconds(self) -> float:
        """Its duration in seconds."""
        return self.ended - self.began

    @property
    def messages_read(self) -> int:
        """The number of messages read: the offsets that were covered, or, where offsets have gaps
        or each stands for a unit of several messages (in Spark's source `cdc`), the messages that
        were counted.
        """
        return self.offset_count if self.read < 0 else self.read

    @property
    def offset_count(self) -> int:
        """The number of offsets that it covers."""
        return sum(end - start for start, end in self.offsets.values())


@dataclass(slots=True)
class SentSample:
    """When sampled messages were due. `times` has, by lane (a partition's number among those of all
    topics), triples of a message's offset, its time in seconds since the epoch, and the number of
    messages that it stands for, in the order of offsets.
    """

    times: dict[int, list[tuple[int, float, int]]] = field(default_factory=dict)

    def add(self, lane: int, offset: int, at: float, weight: int) -> None:
        """Adds a sampled message, due at the time `at`, which stands for `weight` messages."""
        insort(self.times.setdefault(lane, []), (offset, at, weight))

    def times_within(self, offsets: Mapping[int, tuple[int, int]]) -> list[tuple[float, float]]:
        """Pairs (due time, weight) of the sampled messages in ranges of offsets, by lane: from the
        first offset (inclusive) to the second (exclusive).
        """
        weighted: list[tuple[float, float]] = []
        for lane, (low, high) in offsets.items():
            samples = self.times.get(lane, [])
            samples_in_range = samples[bisect_left(samples, (low,)) : bisect_left(samples, (high,))]
            weighted += [(at, float(weight)) for _, at, weight in samples_in_range]
        return weighted


def quantile(weighted: Sequence[tuple[float, float]], share: float) -> float | None:
    """The weighted quantile of pairs (value, weight): the smallest value such that values up to it
    have at least `share` of the whole weight; None without values.
    """
    ordered, total = sorted(weighted), sum(weight for _, weight in weighted)
    weight_below = 0.0
    for value, weight in ordered:
        weight_below += weight
        if weight_below >= share * total * (1 - 1e-12):
            return value
    return None


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line that is fitted to points (x, y) by least squares; 0 if they have fewer
    than two different x.
    """
    if not points:
        return 0.0
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    square = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / square if square else 0.0


class Judgement(NamedTuple):
    """Whether a decoder keeps up at a rate, and why not, "" if it does."""

    keeps_up: bool
    why_not: str


@dataclass(slots=True)
class Step:
    """The measurements at one rate. `ticks` are pairs (seconds since the epoch, messages
    acknowledged until then); `table` has the due times of sampled messages; `published` are the
    producer's final figures, {} until it has ended; `drained_s` is the time in which the rest was
    decoded after the sending, None if it was not; `problem` says why the step has no result, "" if
    it has.
    """

    rate: float
    trigger_ms: int
    ticks: list[tuple[float, int]] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    table: SentSample = field(default_factory=SentSample)
    published: Mapping[str, Any] = field(default_factory=dict)
    drained_s: float | None = None
    problem: str = ""

    @property
    def began(self) -> float:
        """When its first message was acknowledged."""
        return self.ticks[0][0] if self.ticks else 0.0

    @property
    def last_acknowledged(self) -> float:
        """When its last message was acknowledged, by the last report."""
        return self.ticks[-1][0] if self.ticks else 0.0

    def backlog(self) -> list[tuple[float, int]]:
        """How many messages were acknowledged and not yet decoded, at each time at which either
        number was reported.
        """
        events = [(at, acked, 0) for at, acked in self.ticks] + [
            (b.ended, 0, b.messages_read) for b in self.batches
        ]
        points, acked, decoded_total = [], 0, 0
        for at, acked_now, decoded in sorted(events):
            acked, decoded_total = max(acked, acked_now), decoded_total + decoded
            points.append((at, max(0, acked - decoded_total)))
        return points

    def lags(self, since: float = 0.0) -> list[tuple[float, float]]:
        """The lag of each sampled message that was due at `since` or later: seconds from when it
        was due to the end of the batch that decoded it, with the weight (the number of messages
        that it stands for).
        """
        lags: list[tuple[float, float]] = []
        for batch in self.batches:
            times = self.table.times_within(batch.offsets)
            lags += [(batch.ended - at, weight) for at, weight in times if at >= since]
        return lags

    @property
    def send_rate(self) -> float:
        """The rate that the producer has achieved, in acknowledged messages per second."""
        if "per_second" in self.published:
            return float(self.published["per_second"])
        acked = self.ticks[-1][1] if self.ticks else 0
        return (
            acked / (self.last_acknowledged - self.began)
            if self.last_acknowledged > self.began
            else 0.0
        )

    @property
    def speed(self) -> float | None:
        """The messages that the decoder decodes per second while a batch runs; None if no batch
        took any time.
        """
        busy = sum(batch.seconds for batch in self.batches)
        return sum(batch.messages_read for batch in self.batches) / busy if busy else None

    @property
    def is_producer_slow(self) -> bool:
        """Whether the producer sent less than 90 % of the rate."""
        return bool(self.published) and self.send_rate < 0.9 * self.rate

    @property
    def growth(self) -> float:
        """How fast the backlog grew over the second half of the sending, in messages per second
        (the slope of a line through it).
        """
        half = (self.began + self.last_acknowledged) / 2
        return slope(
            [(at, size) for at, size in self.backlog() if half <= at <= self.last_acknowledged]
        )

    def judgement(self) -> Judgement:
        """Whether the decoder keeps up at the step's rate: the backlog does not grow, 99 % of
        messages are decoded soon after they were due, and the rest soon after the sending (SLOPE,
        LAG_S, DRAIN_S; the module's docstring has the criterion).
        """
        # A producer may be slower than asked for. A send rate of 0 was not measured.
        rate = min(self.rate, self.send_rate) or self.rate
        during = [size for at, size in self.backlog() if at <= self.last_acknowledged]
        at_end, growth = (during[-1] if during else 0), self.growth
        if self.problem:
            return Judgement(False, self.problem)
        if self.drained_s is None:
            return Judgement(
                False,
                f"{at_end:,} messages were waiting when the sending ended, and not all were"
                f" decoded in {DRAIN_S:g} s",
            )
        shortest = min((batch.seconds for batch in self.batches), default=0.0)
        if growth > SLOPE * rate and at_end > rate * (self.trigger_ms / 1000 + 2 * shortest):
            return Judgement(False, f"backlog grows by {growth:,.0f}/s")
        late = quantile(self.lags((self.began + self.last_acknowledged) / 2), 0.99)
        limit = LAG_S + 2 * self.trigger_ms / 1000
        if late is not None and late > limit:
            return Judgement(
                False,
                f"99 % of messages are decoded within {late:.1f} s, more than the {limit:g} s"
                " allowed",
            )
        return Judgement(True, "")
