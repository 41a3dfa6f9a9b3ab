"""The topics that streams are read from: new, or used, with transactions in them and without their
first offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.brokers import registry
from conformance.brokers.spark_options import spark_options
from conformance.lanes import Lanes
from conformance.streams.kept import Kept
from conformance.streams.recipes import Group
from generators.errors import HarnessError
from generators.garbage.nemesis import is_removed
from generators.model import Message
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.publishing.transactions import ABORTED, Interleaved, delete_before


@dataclass(slots=True)
class Written:
    """The topics of a group's streams, by the end of the name.

    In `used` topics, and where offsets are missing, removed messages are in aborted transactions
    and all others in committed ones; of `used` ones the first offsets are deleted, too, and
    unreadable messages are aborted before each stage. Else offsets begin at 0, and no message is in
    a transaction.
    """

    bootstrap: Target
    group: Group
    names: Mapping[str, str]
    used: bool = False
    _writer: Interleaved | None = field(init=False)
    _lanes: Lanes = field(init=False)
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._writer = Interleaved(self.bootstrap) if self.used or self.group.compacted else None
        self._lanes = self.group.lanes(self.names)
        if self.used and self._writer:
            self._writer.publish((message, True) for message in self._unread())
            delete_before(self.bootstrap, dict.fromkeys(self._lanes, 1))

    def _unread(self) -> list[Message]:
        return (
            [Message(topic, number, None, ABORTED) for topic, number in self._lanes]
            if self.used
            else []
        )

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's source."""
        committed = {"kafka.isolation.level": "read_committed"} if self._writer else {}
        return {**spark_options(self.bootstrap), **committed}

    def publish(self, messages: Sequence[Message]) -> None:
        """Raises HarnessError unless every message was acknowledged."""
        registry.register_schemas(messages)
        sent = [replace(message, topic=self.names[message.topic]) for message in messages]
        if self._writer is None:
            done = kafka.publish(self.bootstrap, None, sent, keep_offsets=False)
            if done.acknowledged != len(sent):
                raise HarnessError(
                    f"{len(sent) - done.acknowledged} of {len(sent)} messages were not acknowledged"
                )
            return
        unread = [(message, True) for message in self._unread()]
        for place in self._writer.publish(
            (*unread, *((message, is_removed(message)) for message in sent))
        )[len(unread) :]:
            lane = self._lanes[place.topic, place.partition]
            self._numbers[lane, place.offset] = self._counts.get(lane, 0)
            self._counts[lane] = self._numbers[lane, place.offset] + 1

    def numbered(self, kept: Kept) -> Kept:
        """A state whose offsets count the published messages of a lane; that of another message is
        below 0.
        """
        if self._writer is None:
            return kept

        def number(lane: int, offset: int) -> int:
            return self._numbers.get((lane, offset), -1 - offset)

        return replace(
            kept,
            corrupt=frozenset((lane, number(lane, offset)) for lane, offset in kept.corrupt),
            seen={lane: (count, number(lane, last)) for lane, (count, last) in kept.seen.items()},
        )
