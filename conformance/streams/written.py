"""The topic that a stream is read from: new, or used, with transactions in it and without its first offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.brokers.spark_options import spark_options
from conformance.streams.kept import Kept
from generators.errors import HarnessError
from generators.model import Message
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.publishing.transactions import Transactions, delete_before

ABORTED: Final = b"of an aborted transaction"
"""The value of messages that a reader of committed messages never sees: no decoder can read it."""


@dataclass(frozen=True, slots=True)
class New:
    """A new topic: its offsets begin at 0, and no message is in a transaction."""

    bootstrap: Target
    topic: str

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's source."""
        return spark_options(self.bootstrap)

    def publish(self, messages: Sequence[Message]) -> None:
        """Raises HarnessError unless every message was acknowledged."""
        if messages:
            result = kafka.publish(self.bootstrap, self.topic, messages, keep_offsets=False)
            if result.acknowledged != len(messages):
                raise HarnessError(f"{len(messages) - result.acknowledged} of {len(messages)} messages were not acknowledged")

    def numbered(self, kept: Kept) -> Kept:
        """A state whose offsets count the published messages of a partition."""
        return kept


@dataclass(slots=True)
class Used:
    """A topic whose first offsets are deleted. Each stage is a transaction behind an aborted one, so offsets have gaps."""

    bootstrap: Target
    topic: str
    partitions: int
    _writer: Transactions = field(init=False)
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._writer = Transactions(self.bootstrap, self.topic)
        self._abort()
        delete_before(self.bootstrap, self.topic, [1] * self.partitions)

    def _abort(self) -> None:
        self._writer.abort(Message("", number, None, ABORTED) for number in range(self.partitions))

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's source."""
        return {**spark_options(self.bootstrap), "kafka.isolation.level": "read_committed"}

    def publish(self, messages: Sequence[Message]) -> None:
        """Raises HarnessError unless the transaction was committed."""
        self._abort()
        for partition, offset in self._writer.commit(messages):
            self._numbers[partition, offset] = self._counts.get(partition, 0)
            self._counts[partition] = self._numbers[partition, offset] + 1

    def numbered(self, kept: Kept) -> Kept:
        """A state whose offsets count the published messages of a partition; that of another message is below 0."""

        def number(partition: int, offset: int) -> int:
            return self._numbers.get((partition, offset), -1 - offset)

        return replace(
            kept,
            corrupt=frozenset((partition, number(partition, offset)) for partition, offset in kept.corrupt),
            seen={partition: (count, number(partition, last)) for partition, (count, last) in kept.seen.items()},
        )
