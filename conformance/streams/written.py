"""Writes streams to topics: new ones, or topics that look used, with transactions and without their
first offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.brokers import registry
from conformance.brokers.spark_options import spark_options
from conformance.lanes import Lanes
from conformance.streams.kept import KeptTables
from conformance.streams.recipes import Group
from generators.errors import HarnessError
from generators.garbage.nemesis import is_removed
from generators.model import Message
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.publishing.transactions import ABORTED, Interleaved, Sending, delete_before


@dataclass(slots=True)
class WrittenTopics:
    """The topics of a group of streams. `names` has each topic's name by the end of the name.

    In `used` topics, and in those that lack offsets as after compaction, all messages are in
    transactions: the removed ones in aborted transactions, the others in committed ones. In `used`
    topics the first offsets are deleted, and unreadable messages are published before each stage in
    transactions that are aborted. In other topics offsets begin at 0, and there are no
    transactions.
    """

    bootstrap: Target
    group: Group
    names: Mapping[str, str]
    used: bool = False
    _writer: Interleaved | None = field(init=False)
    _lanes: Lanes = field(init=False)
    _number_by_offset: dict[tuple[int, int], int] = field(default_factory=dict)
    _count_by_lane: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._writer = Interleaved(self.bootstrap) if self.used or self.group.compacted else None
        self._lanes = self.group.lanes(self.names)
        if self.used and self._writer:
            self._writer.publish(
                Sending(message, is_aborted=True) for message in self._aborted_messages()
            )
            delete_before(self.bootstrap, dict.fromkeys(self._lanes, 1))

    def _aborted_messages(self) -> list[Message]:
        """A message for each lane (partition of a topic), to be published in an aborted
        transaction, which a reader of committed messages must not see; [] unless the topics are
        `used`.
        """
        return (
            [Message(topic, number, None, ABORTED) for topic, number in self._lanes]
            if self.used
            else []
        )

    @property
    def options(self) -> Mapping[str, str]:
        """The options with which Spark's Kafka source reads the topics: the broker's, and for
        topics with transactions that only committed messages are read.
        """
        committed = {"kafka.isolation.level": "read_committed"} if self._writer else {}
        return {**spark_options(self.bootstrap), **committed}

    def publish(self, messages: Sequence[Message]) -> None:
        """Publishes messages. Raises HarnessError unless every message was acknowledged.

        With a writer each message goes in a transaction: removed ones, and one for each lane before
        them, in aborted transactions.
        """
        registry.register_schemas(messages)
        messages_to_publish = [
            replace(message, topic=self.names[message.topic]) for message in messages
        ]
        if self._writer is None:
            done = kafka.publish(self.bootstrap, None, messages_to_publish, keep_offsets=False)
            if done.acknowledged != len(messages_to_publish):
                raise HarnessError(
                    f"{len(messages_to_publish) - done.acknowledged} of"
                    f" {len(messages_to_publish)} messages were not acknowledged"
                )
            return
        aborted = [Sending(message, is_aborted=True) for message in self._aborted_messages()]
        sendings = [Sending(message, is_removed(message)) for message in messages_to_publish]
        for place in self._writer.publish((*aborted, *sendings))[len(aborted) :]:
            lane = self._lanes[place.topic, place.partition]
            self._number_by_offset[lane, place.offset] = self._count_by_lane.get(lane, 0)
            self._count_by_lane[lane] = self._number_by_offset[lane, place.offset] + 1

    def with_message_numbers(self, kept_tables: KeptTables) -> KeptTables:
        """The kept state with every offset replaced by the number of the message in its lane (a
        partition of any of the topics), counted from 0; an offset at which no message of ours was
        published becomes negative.
        """
        if self._writer is None:
            return kept_tables

        def number(lane: int, offset: int) -> int:
            """The number of the message at an offset of a lane."""
            return self._number_by_offset.get((lane, offset), -1 - offset)

        return replace(
            kept_tables,
            corrupt=frozenset((lane, number(lane, offset)) for lane, offset in kept_tables.corrupt),
            seen={
                lane: (count, number(lane, last))
                for lane, (count, last) in kept_tables.seen.items()
            },
        )
