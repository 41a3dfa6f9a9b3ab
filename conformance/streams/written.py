"""The topics that streams are read from: new, or used, with transactions in them and without their first offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.brokers import registry
from conformance.brokers.spark_options import spark_options
from conformance.streams.kept import Kept
from conformance.streams.told import Group
from generators.errors import HarnessError
from generators.garbage.nemesis import is_removed
from generators.model import Message
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.publishing.transactions import Interleaved, delete_before

ABORTED: Final = b"of an aborted transaction"
"""The value of messages that a reader of committed messages never sees: no decoder can read it."""


@dataclass(frozen=True, slots=True)
class New:
    """New topics: their offsets begin at 0, and no message is in a transaction. `names` are the topics by the end of the name."""

    bootstrap: Target
    names: Mapping[str, str]

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's source."""
        return spark_options(self.bootstrap)

    def publish(self, messages: Sequence[Message]) -> None:
        """Raises HarnessError unless every message was acknowledged."""
        registry.hold(messages)
        if messages:
            sent = [replace(one, topic=self.names[one.topic]) for one in messages]
            result = kafka.publish(self.bootstrap, None, sent, keep_offsets=False)
            if result.acknowledged != len(messages):
                raise HarnessError(f"{len(messages) - result.acknowledged} of {len(messages)} messages were not acknowledged")

    def numbered(self, kept: Kept) -> Kept:
        """A state whose offsets count the published messages of a lane."""
        return kept


@dataclass(slots=True)
class Gapped:
    """Topics with missing offsets: removed messages are in aborted transactions, all others in committed ones.

    In `used` topics the first offsets are deleted, too, and unreadable messages are aborted before each stage.
    """

    bootstrap: Target
    group: Group
    names: Mapping[str, str]
    used: bool = False
    _writer: Interleaved = field(init=False)
    _lanes: Mapping[tuple[str, int], int] = field(init=False)
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._writer = Interleaved(self.bootstrap)
        self._lanes = {(self.names[topic], number): lane for lane, (topic, number) in enumerate(self.group.places)}
        if self.used:
            self._writer.publish((one, True) for one in self._unread())
            delete_before(self.bootstrap, dict.fromkeys(self._lanes, 1))

    def _unread(self) -> list[Message]:
        return [Message(topic, number, None, ABORTED) for topic, number in self._lanes] if self.used else []

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's source."""
        return {**spark_options(self.bootstrap), "kafka.isolation.level": "read_committed"}

    def publish(self, messages: Sequence[Message]) -> None:
        """Raises HarnessError unless the transaction was committed."""
        registry.hold(messages)
        unread = [(one, True) for one in self._unread()]
        sent = [(replace(one, topic=self.names[one.topic]), is_removed(one)) for one in messages]
        for place in self._writer.publish((*unread, *sent))[len(unread) :]:
            lane = self._lanes[place.topic, place.partition]
            self._numbers[lane, place.offset] = self._counts.get(lane, 0)
            self._counts[lane] = self._numbers[lane, place.offset] + 1

    def numbered(self, kept: Kept) -> Kept:
        """A state whose offsets count the published messages of a lane; that of another message is below 0."""

        def number(lane: int, offset: int) -> int:
            return self._numbers.get((lane, offset), -1 - offset)

        return replace(
            kept,
            corrupt=frozenset((lane, number(lane, offset)) for lane, offset in kept.corrupt),
            seen={lane: (count, number(lane, last)) for lane, (count, last) in kept.seen.items()},
        )


def topics_of(bootstrap: Target, group: Group, names: Mapping[str, str], *, used: bool = False) -> New | Gapped:
    """The topics of a group's streams."""
    return Gapped(bootstrap, group, names, used) if used or group.compacted else New(bootstrap, names)
