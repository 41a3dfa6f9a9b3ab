"""Runs a load from Spark's source `cdc`, which makes the messages itself, in place of a topic and
its producer. It has the same commands and events as `_producers`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.load._producers import Publisher
from conformance.load.feed import Feed
from conformance.load.figures import Batch
from conformance.load.source import LAGS, PROBED, place_hash
from generators.model import Change


class Fed(Publisher):
    """Each command is a query of its own, from the first unit on, which `begin` starts with options
    of the source. Its only lane has units in place of offsets, and its schedule begins where the
    first batch says.
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
        self._counts: list[int] = []
        self._rate: float | None = None
        self._busy = self._scheduled = False
        self._first = 0

    def begin_command(self, command: Mapping[str, Any]) -> None:
        """Starts a streaming query for a command: `count` messages, at a `rate` or as fast as it
        can.
        """
        self._rate, self._first = command.get("rate"), len(self._batches)
        self._busy, self._scheduled = True, False
        self._counts.append(command["count"])
        rate = {} if self._rate is None else {"rate": self._rate}
        self._begin({"count": command["count"], "batch": command["count"], **rate})

    def take(self) -> list[dict[str, Any]]:
        """The events until now, worked out from the clock: Spark's source makes messages by a
        schedule, so nobody reports them. See `Producer.take`.
        """
        if not self._counts:
            return [{"ready": True}]
        count, batches = self._counts[-1], self._batches[self._first :]
        if not self._busy or (self._rate is not None and not batches):
            return []
        events: list[dict[str, Any]] = []
        now = count
        if self._rate is not None:
            began = batches[0].began - batches[0].offsets[0][1] / self._rate
            now = min(count, int((time.time() - began) * self._rate))
            events.append({"tick": [began + now / self._rate, now]})
            if not self._scheduled:
                thin, self._scheduled = -(-count // LAGS), True
                events.append(
                    {
                        "sent": [
                            (0, unit, began + unit / self._rate, thin)
                            for unit in range(0, count, thin)
                        ]
                    }
                )
        if now == count:
            self._busy = False
            self.acked += count
            events.append(
                {
                    "done": {
                        "sent": count,
                        "acked": count,
                        "failed": 0,
                        "per_second": self._rate or 0.0,
                    }
                }
            )
        return events

    def close(self) -> None:
        """Nothing is left: the load stops its query."""

    def settle(self) -> None:
        """Adds up, for all queries, for how many messages the decoder owes a row, and notes which
        messages are sampled for judging.
        """
        feed, owing_feed = self._feed, self._feed.owing
        probes = [self._owes_row(fed.changes) for fed in owing_feed.messages(0, PROBED)]
        all_owe = self._level == 1 or (len(probes) == PROBED and all(probes))
        messages_with_offsets = (feed if all_owe else owing_feed).messages(0, max(self._counts))
        width, last = feed.width, self._counts[-1]
        for unit, messages in itertools.groupby(
            messages_with_offsets, key=lambda record: record[0] // width
        ):
            times = sum(unit < count for count in self._counts)
            for offset, message, changes in messages:
                if all_owe or self._owes_row(changes):
                    self.owed += times
                    self.places += times * place_hash(message.partition, offset)
                if unit < last and offset % self._every == 0:
                    self.samples[message.partition, offset] = unit, offset - unit * width

    def _owes_row(self, changes: Sequence[Change]) -> bool:
        """Whether a decoder must return a row for a message with these changes: always at level
        one, at level two for a row of the judged table.
        """
        return any(self._level == 1 or change.is_row_of(self._table) for change in changes)
