"""Publishes messages in Kafka transactions, committed or aborted, for sources that read only
committed messages.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from generators.errors import HarnessError
from generators.model import Message
from generators.publishing._ledger import Delivered
from generators.publishing.cluster import Target, client
from generators.publishing.kafka import Placed, places
from generators.publishing.pacing import Paced
from generators.publishing.topics import admin_of

LIMIT_S: Final = 60.0
"""Seconds that the broker has for each answer."""
ABORTED: Final = b"of an aborted transaction"
"""The value of messages that a reader of committed messages never sees: no decoder can read it."""


class Transactions:
    """A producer whose messages are in transactions. Its methods raise HarnessError if the broker
    refuses or does not answer.
    """

    def __init__(self, to: Target) -> None:
        self._delivered: list[Delivered] = []
        self._run = Paced(
            to, None, delivered=self._delivered.append, timeout_s=LIMIT_S, commit_s=LIMIT_S
        )
        self._begun = False

    def send(self, messages: Iterable[Message]) -> list[Placed]:
        """Publishes messages in the open transaction, or in a new one if none is open. Returns the
        topic, partition and offset of each, in order.
        """
        if not self._begun:
            self._run.begin()
            self._begun = True
        first_number = self._run.number
        self._delivered.clear()
        # Resets the clock by which `poll` tells that the broker has stopped answering: nothing was
        # outstanding since the last messages.
        self._run.poll(0)
        message_count = self._run.burst(messages)
        self._run.drain()
        record_places = [
            place
            for place in places(self._delivered, first_number, message_count)
            if place is not None
        ]
        if len(record_places) < message_count:
            reason = "; ".join(self._run.ledger.errors[:1]) or "no acknowledgement"
            raise HarnessError(f"publishing a transaction to {self._run.to} failed: {reason}")
        return record_places

    def end(self, *, commit: bool) -> None:
        """Commits the open transaction, or aborts it if not `commit`; does nothing without one."""
        if self._begun:
            producer = self._run.producer
            ending = producer.commit_transaction if commit else producer.abort_transaction
            self._run.transact(lambda: ending(LIMIT_S))
            self._begun = False


def await_transaction_ends(to: Target, partitions: Iterable[tuple[str, int]]) -> None:
    """Waits until the broker has written the ends of all transactions into these partitions, each
    given as (topic, number); it writes them after its answer to the producer. Raises HarnessError
    if that takes longer than LIMIT_S.
    """
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin._listoffsets import OffsetSpec

    kafka, admin, deadline = client(), admin_of(to), time.monotonic() + LIMIT_S
    spec: Any = OffsetSpec
    requested = {kafka.TopicPartition(topic, number): spec.latest() for topic, number in partitions}

    def last_offsets(level: Any) -> list[int]:
        """The last offset of each partition, for a reader at the isolation level `level`: of
        committed messages alone, or of all.
        """
        return [
            done.result(LIMIT_S).offset
            for done in admin.list_offsets(requested, isolation_level=level).values()
        ]

    # While a transaction is open, a reader of committed messages sees an earlier end.
    while requested and last_offsets(IsolationLevel.READ_COMMITTED) != last_offsets(
        IsolationLevel.READ_UNCOMMITTED
    ):
        if time.monotonic() > deadline:
            raise HarnessError(f"a transaction on {to} has no end after {LIMIT_S:g} s")
        time.sleep(0.02)


class Sending(NamedTuple):
    """A message to publish, and whether its transaction is to be aborted."""

    message: Message
    is_aborted: bool


class Interleaved:
    """Two producers that publish side by side: the first one's messages are committed; the second
    one's are aborted, so that offsets have gaps for readers of committed messages.
    """

    def __init__(self, to: Target) -> None:
        self._to, self._writers = to, (Transactions(to), Transactions(to))

    def publish(self, messages: Iterable[Sending]) -> list[Placed]:
        """Publishes messages, in order within each partition, in committed transactions or in
        aborted ones. Neighbours in a partition that are all committed, or all aborted, are sent
        together. Returns the topic, partition and offset of each message, in order.
        """
        runs: dict[tuple[str, int], list[list[int]]] = {}
        sendings = list(messages)
        for number, (message, is_aborted) in enumerate(sendings):
            runs_of_partition = runs.setdefault((message.topic, message.partition), [])
            if (
                not runs_of_partition
                or sendings[runs_of_partition[-1][-1]].is_aborted != is_aborted
            ):
                runs_of_partition.append([])
            runs_of_partition[-1].append(number)
        places: dict[int, Placed] = {}
        # A run of one partition may only be sent when the run before it is in the topic.
        for turn in itertools.zip_longest(*runs.values(), fillvalue=()):
            for is_aborted, writer in zip((False, True), self._writers, strict=True):
                numbers = [
                    number
                    for number in itertools.chain.from_iterable(turn)
                    if sendings[number].is_aborted == is_aborted
                ]
                if numbers:
                    messages_of_turn = (sendings[number].message for number in numbers)
                    places |= zip(numbers, writer.send(messages_of_turn), strict=True)
        for is_aborted, writer in zip((False, True), self._writers, strict=True):
            writer.end(commit=not is_aborted)
        await_transaction_ends(self._to, runs)
        return [places[number] for number in range(len(sendings))]


def delete_before(to: Target, firsts: Mapping[tuple[str, int], int], timeout_s: float = 30) -> None:
    """Deletes the first records of partitions. `firsts` has, by topic and number of the partition,
    the offset of the first record that stays. Raises HarnessError.
    """
    kafka, admin = client(), admin_of(to)
    places = [
        kafka.TopicPartition(topic, number, first) for (topic, number), first in firsts.items()
    ]
    try:
        for done in admin.delete_records(
            places, request_timeout=timeout_s, operation_timeout=timeout_s
        ).values():
            done.result(timeout_s + 1)
    except (kafka.KafkaException, TimeoutError) as error:
        raise HarnessError(f"cannot delete the first records of topics at {to}: {error}") from error
