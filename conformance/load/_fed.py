"""Runs a load from Spark's source `cdc`, which makes the messages itself, in place of a topic and
its producer. It has the same commands and events as `_producers`.
"""

from __future__ import annotations

import itertools
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.load._producers import Publisher
from conformance.load.feed import Feed
from conformance.load.figures import Batch
from conformance.load.source import LAGS, PROBED, Lag, MessageId, place_hash
from generators.errors import HarnessError
from generators.model import Change


class MessageCounts:
    """How many messages the units of a feed (its short scenarios, numbered from 0) have together.
    Units are counted only as far as a question needs, by making their messages.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._before = [0]

    def count_before(self, unit: int) -> int:
        """The number of messages of all units (short scenarios) before this one. It is computed if
        each unit has as many messages as offsets (`is_even`); else messages are made until the
        unit's entry in `_before`, a list of these numbers, is known.
        """
        if self._feed.is_even:
            return unit * self._feed.width
        while len(self._before) <= unit:
            self._count_more()
        return self._before[unit]

    def units_of(self, count: int) -> int:
        """The least number of units (short scenarios), from the first on, that have `count`
        messages or more. It is computed if each unit has `width` messages (`is_even`); else units
        are counted until there are enough. Raises HarnessError if PROBED units in a row have none.
        """
        if self._feed.is_even:
            return -(-count // self._feed.width)
        while self._before[-1] < count:
            known = self._before[-1]
            self._count_more()
            if self._before[-1] == known:
                raise HarnessError(f"{PROBED} units of the load give no message")
        return bisect_left(self._before, count)

    def _count_more(self) -> None:
        """Counts the messages of PROBED more units (short scenarios), by making them. Each unit has
        `width` offsets, used or not, so that a message's offset tells its unit.
        """
        first, width = len(self._before) - 1, self._feed.width
        messages = self._feed.messages(first, first + PROBED)
        counts = Counter(fed.offset // width for fed in messages)
        for unit in range(first, first + PROBED):
            self._before.append(self._before[-1] + counts[unit])


class Fed(Publisher):
    """The producer of a load without a broker: Spark's source `cdc` makes the messages of `feed`
    inside the query. Each command starts a query of its own, from the first unit (a SQL statement,
    of one message or several) on, by a call of `begin` with options of the source.

    Its only lane counts units in place of offsets, and its schedule begins where the first of the
    `batches` says. All other counts and rates are in messages, as of topics. `level` and `table`
    say for which messages a decoder owes a row; offsets that are multiples of `every` are sampled.
    """

    def __init__(
        self,
        feed: Feed,
        level: int,
        table: str,
        every: int,
        batches: Sequence[Batch],
        begin: Callable[[dict[str, Any]], None],
    ) -> None:
        super().__init__()
        self._feed, self._level, self._table, self._every = feed, level, table, every
        self._batches, self._begin = batches, begin
        self.counts = MessageCounts(feed)
        self._unit_counts: list[int] = []
        self._unit_rate: float | None = None
        self._busy = self._is_schedule_reported = False
        self._first = 0

    def begin_command(self, command: Mapping[str, Any]) -> None:
        """Starts a query of Spark's source `cdc` for a command: whole units (short scenarios), from
        the first on, with `count` messages or a few more, at `rate` messages a second or as fast as
        it can.
        """
        self._first = len(self._batches)
        self._busy, self._is_schedule_reported = True, False
        units = self.counts.units_of(command["count"])
        self._unit_counts.append(units)
        rate = command.get("rate")
        self._unit_rate = None if rate is None else rate * units / self.counts.count_before(units)
        options = {"count": units, "batch": units}
        self._begin(options if rate is None else {**options, "rate": self._unit_rate})

    def take(self) -> list[dict[str, Any]]:
        """The events until now, worked out from the clock, since Spark's source makes messages by a
        schedule: `ready` before the first command; then `tick` (a time, and the messages that were
        due until then), once `sent` (when sampled units were due), and at the end `done`. A command
        without a rate is done at once; one with a rate has no event before its first batch.
        """
        if not self._unit_counts:
            return [{"ready": True}]
        units, batches = self._unit_counts[-1], self._batches[self._first :]
        if not self._busy or (self._unit_rate is not None and not batches):
            return []
        count = self.counts.count_before(units)
        events: list[dict[str, Any]] = []
        due_units = units
        rate = 0.0
        if self._unit_rate is not None:
            rate = self._unit_rate * count / units
            # Reckoned back from the first batch, taken to begin when its last unit was due.
            began = batches[0].began - batches[0].offsets[0][1] / self._unit_rate
            due_units = min(units, int((time.time() - began) * self._unit_rate))
            due_at = began + due_units / self._unit_rate
            events.append({"tick": [due_at, self.counts.count_before(due_units)]})
            if not self._is_schedule_reported:
                self._is_schedule_reported = True
                events.append({"sent": self._schedule(units, began, self._unit_rate)})
        if due_units == units:
            self._busy = False
            self.acked += count
            events.append(
                {"done": {"sent": count, "acked": count, "failed": 0, "per_second": rate}}
            )
        return events

    def _schedule(self, units: int, began: float, unit_rate: float) -> list[Lag]:
        """When units (short scenarios) were due, for at most LAGS of `units` units at equal
        distances: the lane 0, the unit in place of the offset, its time (`began` + unit /
        `unit_rate`), and as weight the number of messages from it up to the next one in the list.
        """
        step = -(-units // LAGS)
        lags: list[Lag] = []
        for unit in range(0, units, step):
            end = min(units, unit + step)
            weight = self.counts.count_before(end) - self.counts.count_before(unit)
            lags.append(Lag(lane=0, offset=unit, due_s=began + unit / unit_rate, weight=weight))
        return lags

    def close(self) -> None:
        """Does nothing: the load stops the query itself."""

    def settle(self) -> None:
        """Computes, at the end of a load, for how many messages of all its queries the decoder owes
        a row (`owed`, and `places`, the sum of their hashes), and which messages of the last query
        are sampled for the judge (`samples`). Each query read the units from 0 up to its entry in
        `_unit_counts`, so that a message counts once for each query that read its unit. If the
        first PROBED units' messages all owe a row, all are taken to: then their expected changes
        are not made.
        """
        feed, owing_feed = self._feed, self._feed.owing
        probes = [self._owes_row(fed.changes) for fed in owing_feed.messages(0, PROBED)]
        all_owe = self._level == 1 or (len(probes) == PROBED and all(probes))
        messages_with_offsets = (feed if all_owe else owing_feed).messages(
            0, max(self._unit_counts)
        )
        width, last = feed.width, self._unit_counts[-1]
        for unit, messages in itertools.groupby(
            messages_with_offsets, key=lambda fed: fed.offset // width
        ):
            queries = sum(unit < count for count in self._unit_counts)
            for offset, message, changes in messages:
                if all_owe or self._owes_row(changes):
                    self.owed += queries
                    self.places += queries * place_hash(message.partition, offset)
                if unit < last and offset % self._every == 0:
                    self.samples[message.partition, offset] = MessageId(unit, offset - unit * width)

    def _owes_row(self, changes: Sequence[Change]) -> bool:
        """Whether a decoder must return a row for a message with these changes: at level one
        (changes as texts) for any change, at level two (typed rows) for a row of the judged table.
        """
        return any(self._level == 1 or change.is_row_of(self._table) for change in changes)
