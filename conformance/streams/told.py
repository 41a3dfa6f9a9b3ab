"""Streams as a decoder reads them, each with its history, nemesis, topics and partitions; and the result of each."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.drawing.streams import Streamed
from generators.garbage.nemesis import Nemesis, Stages
from generators.model import Deployment, Message
from generators.wire_format import Format, Profile

PARTITIONS: Final = 3
"""Partitions of each stream."""
SHOWN: Final = 5
"""Limit of the recorded differences of a stream."""
RESTART: Final = "restart"


@dataclass(slots=True)
class StreamResult:
    """The result of one stream. `nemesis` is its name, with `+restart` or `+broker-restart` where processes were killed.

    `rows` counts the source's rows at the end, `messages` all of the topic, `repeats` those seen before,
    `corrupt` the garbage. `lost` says why a profile is not judged. `table` is the user's table, "" for the harness's own. `wrong`
    has the first differences as (rule id, text); `broken` counts all by rule.
    """

    format: str
    profile: str
    nemesis: str
    rows: int = 0
    messages: int = 0
    repeats: int = 0
    corrupt: int = 0
    cells: int = 0
    lost: str = ""
    table: str = ""
    wrong: list[tuple[str, str]] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)

    @property
    def converged(self) -> bool:
        """Whether the tables equal the source's."""
        return not self.broken and not self.lost

    def differ(self, rule: str, what: str) -> None:
        """Notes a difference under the rule of that name."""
        name = f"{self.format}/stream/{rule}"
        self.broken[name] += 1
        if len(self.wrong) < SHOWN:
            self.wrong.append((name, what))

    def as_json(self) -> dict[str, Any]:
        """For `--format json`."""
        found: dict[str, Any] = {"format": self.format, "profile": self.profile, "nemesis": self.nemesis}
        found |= {"table": self.table} if self.table else {}
        if self.lost:
            return {**found, "result": "not judged", "because": self.lost}
        found |= {"result": "converged" if self.converged else "differs", "rows": self.rows, "cells": self.cells}
        found |= {"messages": self.messages, "repeats": self.repeats, "corrupt": self.corrupt}
        if self.broken:
            found["broken"] = dict(self.broken)
            found["differences"] = [{"rule": rule, "what": what} for rule, what in self.wrong]
        return found


ONE_TOPIC: Final = (("", PARTITIONS),)


@dataclass(frozen=True, slots=True)
class Told:
    """One stream: a history under a nemesis. The profiles `also` write the same messages. `table` is the user's table, if any.

    The partitions of its messages are its lanes: those of its `topics` (end of the name, partitions) one after the other. Among
    all streams' lanes its own are those from `first` on; in each topic it has the partitions from `bases` on.
    """

    profile: Profile
    nemesis: Nemesis
    story: Streamed
    stages: Stages
    first: int = 0
    also: tuple[Profile, ...] = ()
    table: str = ""
    topics: tuple[tuple[str, int], ...] = ONE_TOPIC
    bases: tuple[int, ...] = (0,)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The topic and partition of each lane."""
        return tuple(
            (topic, base + number)
            for (topic, count), base in zip(self.topics, self.bases, strict=True)
            for number in range(count)
        )

    def placed(self, stage: int) -> Iterator[Message]:
        """The messages of a stage in their topics and partitions."""
        places = self.places
        for one in self.stages[stage]:
            topic, partition = places[one.message.partition]
            yield replace(one.message, topic=topic, partition=partition)


@dataclass(frozen=True, slots=True)
class Group:
    """Streams of one format that share topics and a query; each deployment's records are decoded by themselves. `lost` are the
    results of tables that are not judged."""

    fmt: Format[Any]
    streams: tuple[Told, ...]
    lost: tuple[StreamResult, ...] = ()

    @classmethod
    def of(cls, fmt: Format[Any], streams: Iterable[Told]) -> Group:
        """The group, in which the streams of a deployment stand together."""
        by: dict[Deployment, list[Told]] = {}
        for stream in streams:
            by.setdefault(stream.profile.deployment, []).append(stream)
        placed, used, first = [], Counter[str](), 0
        for one in itertools.chain.from_iterable(by.values()):
            placed.append(replace(one, first=first, bases=tuple(used[topic] for topic, _ in one.topics)))
            used.update(dict(one.topics))
            first += len(placed[-1].places)
        return cls(fmt, tuple(placed))

    @property
    def partitions(self) -> int:
        """The partitions of all topics."""
        return sum(self.topics.values())

    @property
    def topics(self) -> Mapping[str, int]:
        """The partitions of each topic, by the end of its name."""
        found = Counter[str]()
        for stream in self.streams:
            found.update(dict(stream.topics))
        return found

    @property
    def append_time(self) -> frozenset[str]:
        """The topics whose broker sets the timestamps."""
        return frozenset(topic for stream in self.streams if stream.nemesis.append_time for topic, _ in stream.topics)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The topic and partition of each lane of all streams."""
        return tuple(place for stream in self.streams for place in stream.places)

    @property
    def compacted(self) -> bool:
        """Whether offsets are missing in a stream."""
        return any(stream.nemesis.compacted for stream in self.streams)

    @property
    def apart(self) -> list[Group]:
        """A group for each deployment."""
        parts = itertools.groupby(self.streams, key=lambda one: one.profile.deployment)
        return [Group.of(self.fmt, some) for _, some in parts]

    @property
    def parts(self) -> list[tuple[Deployment, int, int]]:
        """Each deployment with its first lane and the first that follows."""
        ends = itertools.accumulate((part.partitions for part in self.apart), initial=0)
        return [
            (part.streams[0].profile.deployment, *span) for part, span in zip(self.apart, itertools.pairwise(ends), strict=True)
        ]

    def messages(self, stage: int) -> list[Message]:
        """The messages of a stage."""
        return [message for stream in self.streams for message in stream.placed(stage)]
