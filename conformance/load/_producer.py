"""The producer process of `load`: reads commands, publishes seeded load, and reports the results, all as JSON lines.

The first line on standard input is an object: `format`, `profile`, `seed`, `partitions`, `level`, `bootstrap`, `properties` (of
the Kafka client), `prefix` (of transactional ids), `names` (of the topics, by what `pattern` makes of a message; "" without a
pattern), `used` (messages are in transactions, beside unreadable ones in aborted transactions), `every` (offsets that are
multiples of it are sampled), `pool` (units made beforehand where the writer makes the format's messages), `tables` (the file of a
user's tables, if given). A partition is told as its lane: the partitions of all topics in the order of `names`.

Then each line is a command: `{"count": N}` publishes N messages at once, `{"rate": R, "count": N, "duration_s": S}` on a
schedule, for S seconds at most. When standard input ends, publishing stops and the process exits.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from conformance.load._topics import ABORTED
from conformance.load.source import TICK_S, ProducerSource, Routes, place_hash
from generators.errors import HarnessError
from generators.model import Layout, Message
from generators.publishing.cluster import Cluster
from generators.publishing.pacing import Delivered, publish_paced
from generators.publishing.transactions import Transactions
from generators.tables import load as tables
from generators.wire_format import get

MARK_S: Final = 0.01
"""Interval of the reported intended times of a partition, in seconds."""

COMMITTED_S: Final = 0.2
"""Interval of commits, and of aborted transactions, in seconds."""


class Reports:
    """The events of a running publication: ticks, marks of intended times, samples; and the expected rows."""

    def __init__(
        self,
        source: ProducerSource,
        first: int,
        every: int,
        tell: Callable[[dict[str, Any]], None],
        lanes: Mapping[tuple[str, int], int] = MappingProxyType({}),
    ) -> None:
        self._source, self._first, self._every, self._tell, self._lanes = source, first, every, tell, lanes
        self._acked = self._owed = self._places = 0
        self._told_s = 0.0
        self._last: dict[int, tuple[int, float]] = {}
        self._marked: dict[int, float] = {}
        self._marks: list[tuple[int, int, float]] = []
        self._samples: list[tuple[int, int, int, int]] = []

    def __call__(self, delivered: Delivered) -> None:
        """Counts an acknowledged message."""
        partition, offset, intended = delivered.partition, delivered.offset, delivered.intended_s
        partition = self._lanes.get((delivered.topic, partition), partition)
        self._acked += 1
        (unit, place), owed = self._source.about(self._first + delivered.number)
        if owed:
            self._owed += 1
            self._places += place_hash(partition, offset)
        if offset % self._every == 0:
            self._samples.append((partition, offset, unit, place))
        self._last[partition] = offset, intended
        if intended - self._marked.get(partition, 0.0) >= MARK_S:
            self._marked[partition] = intended
            self._marks.append((partition, offset, intended))
        if delivered.acked_s - self._told_s >= TICK_S:
            self._told_s = delivered.acked_s
            self.flush(delivered.acked_s)

    def flush(self, at_s: float | None) -> None:
        """Sends the collected events."""
        tick = None if at_s is None else [at_s, self._acked]
        self._tell({"tick": tick, "marks": self._marks, "samples": self._samples})
        self._marks, self._samples = [], []

    def end(self) -> dict[str, Any]:
        """Sends the rest; returns the counts that the decoder owes."""
        self._marks += [(partition, offset, intended) for partition, (offset, intended) in self._last.items()]
        self.flush(None)
        return {"acked": self._acked, "owed": self._owed, "places": self._places}


def main() -> None:
    """Serves until standard input ends."""
    asked = json.loads(sys.stdin.readline())
    commands: queue.Queue[dict[str, Any] | None] = queue.Queue()
    stopping = threading.Event()

    def tell(event: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def listen() -> None:
        for line in sys.stdin:
            commands.put(json.loads(line))
        stopping.set()
        commands.put(None)

    threading.Thread(target=listen, daemon=True).start()
    fmt = get(asked["format"])
    profile, layout = fmt.profile(asked["profile"]), Layout(partitions=asked["partitions"])
    own = tables.load(Path(asked["tables"])) if asked.get("tables") else None
    routes = Routes(asked["names"], asked["pattern"], asked["partitions"])
    single = next(iter(routes.names.values())) if len(routes.names) == 1 else None
    source = ProducerSource(fmt, profile, asked["seed"], layout, asked["level"], asked["pool"], own, None if single else routes)
    cluster = Cluster(asked["bootstrap"], asked["properties"], asked["prefix"])
    if asked["used"]:
        threading.Thread(target=_aborting, args=(cluster, routes, stopping), daemon=True).start()
    tell({"ready": True})
    while (command := commands.get()) is not None:
        reports = Reports(source, source.drawn, asked["every"], tell, routes.lanes)
        try:
            published = publish_paced(
                cluster,
                single,
                source,
                rate=command.get("rate"),
                count=command.get("count"),
                duration_s=command.get("duration_s"),
                stamp="rate" in command,
                delivered=reports,
                stop=stopping.is_set,
                commit_s=COMMITTED_S if asked["used"] else None,
            )
        except HarnessError as error:
            reports.end()
            tell({"failed": str(error)})
            return
        tell({"done": asdict(published) | reports.end()})


def _aborting(cluster: Cluster, routes: Routes, stopping: threading.Event) -> None:
    """Publishes unreadable messages to every partition in transactions that are aborted, until the end."""
    with contextlib.suppress(HarnessError):
        # A broker that is gone ends the publishing, which tells of it.
        writer = Transactions(cluster)
        while not stopping.wait(COMMITTED_S):
            writer.send(Message(topic, number, None, ABORTED) for topic, number in routes.lanes)
            writer.end(commit=False)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The parent is gone: exit without flushing.
        os._exit(1)
