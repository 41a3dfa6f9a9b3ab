"""The accounts of a `publish`: which messages the broker confirmed, where they are, how long it took.

Nothing here talks to Kafka.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka import Message as Delivered

_ERRORS_KEPT = 5
_FAILED = -1
"""In place of an offset: not delivered. (Below it: acknowledged without an offset.)"""


@dataclass(frozen=True, slots=True)
class Placed:
    """A message's place in Kafka."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of one `publish`.

    `acknowledged` and `failed` count messages, `errors` holds the first different error texts. `seconds` is from the first
    message to the last acknowledgement. `p50_ms` and `p99_ms` are milliseconds from handing a message to the client until its
    acknowledgement (of the first 10,000 messages, then of a sixteenth), None when nothing was acknowledged.
    """

    acknowledged: int
    failed: int
    errors: tuple[str, ...]
    seconds: float
    p50_ms: float | None
    p99_ms: float | None
    _lanes: tuple[Lane, ...] = field(default=(), repr=False)
    _order: array[int] = field(default_factory=lambda: array("i"), repr=False)

    @property
    def placed(self) -> list[Placed | None]:
        """The place of each message, in the order of the input; None for those not delivered. Empty with `keep_offsets=False`.

        Built on each call from 12 bytes kept for each message.
        """
        offsets = [iter(_known(lane.offsets)) for lane in self._lanes]
        places: list[Placed | None] = []
        for number in self._order:
            offset = next(offsets[number]) if number >= 0 else _FAILED
            lane = self._lanes[number]
            places.append(None if offset < 0 else Placed(lane.topic, lane.partition, offset))
        return places


def _known(offsets: array[int]) -> array[int]:
    """The offsets with gaps filled: a retry that the broker recognises too late is acknowledged without an offset.

    An idempotent producer's messages lie in their order, so such a message follows its predecessor, or precedes its successor.
    """
    if not offsets or min(offsets) >= _FAILED:
        return offsets
    filled = array("q", offsets)
    for i in range(1, len(filled)):
        if filled[i] < _FAILED <= filled[i - 1] and filled[i - 1] != _FAILED:
            filled[i] = filled[i - 1] + 1
    for i in range(len(filled) - 2, -1, -1):
        if filled[i] < _FAILED and filled[i + 1] > 0:
            filled[i] = filled[i + 1] - 1
    return filled


class Lane:
    """One partition's deliveries in order: the client reports those of a partition in the order of sending.

    (An idempotent producer keeps that order through retries; time-outs, which do not, end the publishing.) So one callback serves
    all messages of a partition, which costs a third of one made for each.
    """

    def __init__(self, topic: str, partition: int, number: int, deliveries: Deliveries) -> None:
        self.topic, self.partition, self.number = topic, partition, number
        self.offsets = array("q")
        keep, fail, latency = self.offsets.append, deliveries.fail, deliveries.latencies.append
        if not deliveries.keep:
            keep = deliveries.count

        def plain(error: KafkaError | None, message: Delivered) -> None:
            if error is None:
                keep(message.offset())  # type: ignore[arg-type]
            else:
                keep(_FAILED)
                fail(error)

        def timed(error: KafkaError | None, message: Delivered) -> None:
            plain(error, message)
            taken = message.latency()
            if error is None and taken is not None:
                latency(taken)

        self.callbacks = (plain, timed)


class Deliveries:
    """Counts the client's reports, and keeps each message's place."""

    def __init__(self, keep: bool, time_out_code: int) -> None:
        self.keep = keep
        self.failed = self.counted = self.refused = 0
        self.timed_out = False
        self.errors: list[str] = []
        self.latencies = array("d")
        self.lanes: list[Lane] = []
        self.order = array("i")
        self._by_place: dict[str, dict[int, Lane]] = {}
        self._timeout = time_out_code

    def of(self, topic: str) -> dict[int, Lane]:
        """The lanes of a topic by partition."""
        return self._by_place.setdefault(topic, {})

    def lane(self, topic: str, partition: int) -> Lane:
        """A new lane."""
        lane = Lane(topic, partition, len(self.lanes), self)
        self.lanes.append(lane)
        self.of(topic)[partition] = lane
        return lane

    def count(self, offset: int) -> None:
        """Counts an offset instead of keeping it."""
        self.counted += 1

    @property
    def acknowledged(self) -> int:
        """How many messages the broker confirmed."""
        reported = sum(len(lane.offsets) for lane in self.lanes) if self.keep else self.counted
        return reported - self.failed + self.refused

    def fail(self, error: KafkaError) -> None:
        """Counts an undelivered message."""
        self.failed += 1
        self.timed_out |= error.code() == self._timeout
        text = error.str()
        if len(self.errors) < _ERRORS_KEPT and text not in self.errors:
            self.errors.append(text)

    def refuse(self, error: KafkaError) -> None:
        """Counts a message that the client refused; no report follows."""
        self.refused += 1
        if self.keep:
            self.order[-1] = _FAILED
        self.fail(error)

    def result(self, seconds: float) -> PublishResult:
        """The counts so far."""
        ordered = sorted(self.latencies)
        at = {p: round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 3) for p in (50, 99)} if ordered else {}
        return PublishResult(
            acknowledged=self.acknowledged,
            failed=self.failed,
            errors=tuple(self.errors),
            seconds=seconds,
            p50_ms=at.get(50),
            p99_ms=at.get(99),
            _lanes=tuple(self.lanes),
            _order=self.order,
        )
