"""The messages of a load for any publisher, and the accounts of one of several producers."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from generators.bulk import orders
from generators.bulk import traffic as load
from generators.model import Layout, Message, Table, Written
from generators.publishing.layouts import topic_of
from generators.publishing.pacing import Delivered, Published
from generators.tables.load import TableLoad
from generators.wire_format import Format, Profile

PROBED: Final = 256
"""Units that are tried, to see whether each is one message; they have every kind of change."""


def place_hash(partition: int, offset: int) -> int:
    """A number for a (partition, offset), as the decoding side computes it."""
    return (offset * 2654435761 + partition * 40503) % 4294967291


@dataclass(frozen=True, slots=True)
class Routes:
    """The topics of messages: `names` by what `pattern` makes of a message; "" without a pattern."""

    names: Mapping[str, str]
    pattern: str
    partitions: int
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def sent(self, message: Message, table: Table) -> Message:
        """The message with its topic."""
        own = message.topic, table.name
        if own not in self._known:
            self._known[own] = self.names[topic_of(self.pattern, message.topic, table) if self.pattern else ""]
        return replace(message, topic=self._known[own])

    @property
    def lanes(self) -> Mapping[tuple[str, int], int]:
        """The lane of each partition of the topics."""
        places = ((name, number) for name in self.names.values() for number in range(self.partitions))
        return {place: lane for lane, place in enumerate(places)}


Unit = tuple[int, int]
"""A message: its unit of load, and its ordinal in the unit."""


class ProducerSource:
    """The messages of one seed in order, each with its unit, and whether a decoder owes a row for it at the level; of `own`
    tables, if given. Producers side by side divide them as (number of the producer, of how many).

    If every unit is one message and the profile has templates, messages are made while publishing, from unit `start` on. Else the
    writer, which is slower than the rate, makes a pool of units beforehand, which is repeated; each makes its part.
    """

    def __init__(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        layout: Layout,
        level: int,
        pool: int,
        own: TableLoad | None = None,
        routes: Routes | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self._pool: list[tuple[Message, Unit, bool]] = []
        self.drawn = self._start = 0
        first = own.table if own else orders.load_table(profile.source)
        table = first.name

        def written(units: range) -> Iterator[tuple[int, tuple[Written, ...]]]:
            for unit in units:
                scenario = own.scenario(seed, unit) if own else orders.load_scenario(fmt, profile, seed, unit)
                yield unit, tuple(fmt.write(scenario.history, profile, layout))

        self.plain = (
            own is None
            and load.is_learned(fmt, profile, layout)
            and all(len(found) == 1 and _owed(found[0], level, table) for _, found in written(range(PROBED)))
        )
        self._made = partial(load.messages, fmt, profile, seed, layout=layout)
        if self.plain:
            made = self._made()
            self._messages: Iterator[Message] = (routes.sent(one, first) for one in made) if routes else made
            return
        number, parts = part
        for unit, found in written(range(pool * number // parts, pool * (number + 1) // parts)):
            of = own.users[unit % len(own.users)].table if own else first
            for place, one in enumerate(found):
                message = routes.sent(one.message, of) if routes else one.message
                self._pool.append((message, (unit, place), _owed(one, level, table)))
        self._messages = itertools.cycle([message for message, _, _ in self._pool])

    def begin(self, unit: int) -> None:
        """Continues at a unit if messages are made while publishing; a pool continues where it is."""
        if self.plain:
            self._messages, self._start, self.drawn = self._made(start=unit), unit, 0

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        message = next(self._messages)
        self.drawn += 1
        return message

    def about(self, number: int) -> tuple[Unit, bool]:
        """The unit of message `number`, and whether the decoder owes a row for it."""
        if self.plain:
            return (self._start + number, 0), True
        _, unit, owed = self._pool[number % len(self._pool)]
        return unit, owed


def _owed(one: Written, level: int, table: str) -> bool:
    return any(level == 1 or change.is_row_of(table) for change in one.changes)


LAGS: Final = 10_000
"""Messages of a step, at most, whose times of sending all producers together report."""
SAMPLES: Final = 2_000
"""Messages of a step, at most, whose rows are judged, of all producers together."""
TICK_S: Final = 0.1
"""Interval of the reported acknowledgement counts, in seconds."""
TICKS: Final = 600
"""Intervals at most for which acknowledgements are counted, each at least TICK_S long."""

Entry = tuple[str, int, int, int, float, str]
"""A figure: its name, two numbers that tell it from others of the name, a count to add up, a time, a text."""


class Tally:
    """The accounts of one of several producers, as entries that can be added up: their number grows with time alone.

    `sent`, `acknowledged`, `failed`, `owed`, `places` and `cpu` (microseconds) are sums; `began`, `first` (acknowledgement) and
    `ended` are times; `tick` counts acknowledgements by interval after `base`; `latency` and `largest` are those of a Histogram;
    `lag` has the partition, offset and intended time of each message in `thin`; `sample` the unit and the ordinal there of judged
    ones.
    """

    def __init__(self, source: ProducerSource, producers: int, command: Mapping[str, Any], every: int) -> None:
        self._source, self._first, self._every = source, source.drawn, every
        self._thin, self._base, self._width = command["thin"], command["base"], command["width"]
        self._most = -(-SAMPLES // producers)
        self._owed = self._places = 0
        self._acknowledged_s, self._began_cpu = 0.0, time.process_time()
        self._ticks: Counter[int] = Counter()
        self._lags: list[Entry] = []
        self._samples: list[Entry] = []

    def __call__(self, delivered: Delivered) -> None:
        """Counts an acknowledged message."""
        partition, offset, number = delivered.partition, delivered.offset, delivered.number
        (unit, place), owed = self._source.about(self._first + number)
        if owed:
            self._owed += 1
            self._places += place_hash(partition, offset)
        if offset % self._every == 0 and len(self._samples) < self._most:
            self._samples.append(("sample", partition, offset, unit, float(place), ""))
        if number % self._thin == 0:
            self._lags.append(("lag", partition, offset, self._thin, delivered.intended_s, ""))
        self._acknowledged_s = self._acknowledged_s or delivered.acked_s
        self._ticks[int((delivered.acked_s - self._base) // self._width)] += 1

    def entries(self, done: Published, stopped: str = "") -> list[Entry]:
        """The figures at the end; `stopped` is why it did not finish."""
        now = time.time()
        cpu = int((time.process_time() - self._began_cpu) * 1e6)
        counts = {"sent": done.sent, "acknowledged": done.acknowledged, "failed": done.failed, "cpu": cpu}
        times = {"began": now - done.seconds, "first": self._acknowledged_s, "ended": now}
        return [
            *((name, 0, 0, count, 0.0, "") for name, count in {**counts, "owed": self._owed, "places": self._places}.items()),
            *((name, 0, 0, 0, at, "") for name, at in times.items() if done.acknowledged),
            *(("tick", place, 0, count, 0.0, "") for place, count in self._ticks.items()),
            *(("latency", place, 0, count, 0.0, "") for place, count in done.latencies.counts.items()),
            ("largest", 0, 0, 0, done.latencies.largest, ""),
            *self._lags,
            *self._samples,
            *(("error", 0, 0, 0, 0.0, text) for text in done.errors),
            *(("stopped", 0, 0, 0, 0.0, text) for text in filter(None, [stopped])),
        ]
