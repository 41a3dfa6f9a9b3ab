"""Publishes messages in Kafka transactions, committed or aborted, for sources that read only committed messages."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from generators.errors import HarnessError
from generators.model import Message
from generators.publishing.cluster import Target, client, of, settings
from generators.publishing.kafka import PRODUCER_CONFIG, Placed
from generators.publishing.topics import admin_of

if TYPE_CHECKING:
    from confluent_kafka import Producer
    from confluent_kafka._types import HeadersType

LIMIT_S: Final = 60.0


class Transactions:
    """A producer of transactions. Raises HarnessError where the broker refuses or does not answer."""

    def __init__(self, to: Target) -> None:
        self._to = to
        name = f"{of(to).prefix}-{secrets.token_hex(4)}"
        conf = {**PRODUCER_CONFIG, **settings(to), "transactional.id": name, "log_level": 0}
        self._producer: Producer = client().Producer(conf)
        self._said: list[str] = []
        self._begun = False
        self._do(lambda: self._producer.init_transactions(LIMIT_S))

    def send(self, messages: Iterable[Message]) -> list[Placed]:
        """Publishes messages to their topics in the open transaction, else in a new one; returns their places, in order."""
        if not self._begun:
            self._do(self._producer.begin_transaction)
            self._begun = True
        return self._sent(messages)

    def end(self, *, commit: bool) -> None:
        """Commits or aborts the open transaction, if one is."""
        if self._begun:
            ending = self._producer.commit_transaction if commit else self._producer.abort_transaction
            self._do(lambda: ending(LIMIT_S))
            self._begun = False

    def _sent(self, messages: Iterable[Message]) -> list[Placed]:
        found: list[Placed | None] = []

        def report(error: Any, message: Any, number: int) -> None:
            if error is not None:
                self._said.append(error.str())
            else:
                found[number] = Placed(message.topic(), message.partition(), message.offset())

        for number, one in enumerate(messages):
            found.append(None)
            self._do(partial(self._hand, one, partial(report, number=number)))
        self._do(lambda: self._producer.flush(LIMIT_S))
        if self._said or None in found:
            raise HarnessError(
                f"publishing a transaction to {self._to} failed: {'; '.join(self._said[:1]) or 'no acknowledgement'}"
            )
        return [place for place in found if place is not None]

    def _hand(self, one: Message, report: Callable[..., None]) -> None:
        while True:
            try:
                headers: HeadersType | None = list(one.headers) if one.headers else None
                self._producer.produce(one.topic, one.value, one.key, one.partition, report, None, one.timestamp_ms, headers)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _do(self, what: Callable[[], object]) -> None:
        try:
            what()
        except client().KafkaException as error:
            raise HarnessError(f"a transaction on {self._to} failed: {error.args[0].str()}") from error


def settled(to: Target, places: Iterable[tuple[str, int]]) -> None:
    """Waits until the transactions in partitions of topics have ended: the broker writes the end after its answer."""
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin._listoffsets import OffsetSpec

    kafka, admin, deadline = client(), admin_of(to), time.monotonic() + LIMIT_S
    spec: Any = OffsetSpec
    asked = {kafka.TopicPartition(topic, number): spec.latest() for topic, number in places}

    def last(level: Any) -> list[int]:
        return [done.result(LIMIT_S).offset for done in admin.list_offsets(asked, isolation_level=level).values()]

    while asked and last(IsolationLevel.READ_COMMITTED) != last(IsolationLevel.READ_UNCOMMITTED):
        if time.monotonic() > deadline:
            raise HarnessError(f"a transaction on {to} has no end after {LIMIT_S:g} s")
        time.sleep(0.02)


class Interleaved:
    """Two producers: what the first sends is committed, what the second sends is aborted and leaves gaps between the offsets."""

    def __init__(self, to: Target) -> None:
        self._to, self._writers = to, (Transactions(to), Transactions(to))

    def publish(self, messages: Iterable[tuple[Message, bool]]) -> list[Placed]:
        """Publishes messages, each partition in order; those with True are aborted. Returns the places of all, in order."""
        runs: dict[tuple[str, int], list[list[int]]] = {}
        told = list(messages)
        for number, (one, lost) in enumerate(told):
            of_partition = runs.setdefault((one.topic, one.partition), [])
            if not of_partition or told[of_partition[-1][-1]][1] != lost:
                of_partition.append([])
            of_partition[-1].append(number)
        places: dict[int, Placed] = {}
        # A run of one partition may only be sent when the run before it is in the topic.
        for turn in itertools.zip_longest(*runs.values(), fillvalue=()):
            for lost, writer in zip((False, True), self._writers, strict=True):
                numbers = [number for run in turn for number in run if told[number][1] == lost]
                if numbers:
                    places |= zip(numbers, writer.send(told[number][0] for number in numbers), strict=True)
        for lost, writer in zip((False, True), self._writers, strict=True):
            writer.end(commit=not lost)
        settled(self._to, runs)
        return [places[number] for number in range(len(told))]


def delete_before(to: Target, firsts: Mapping[tuple[str, int], int], timeout_s: float = 30) -> None:
    """Deletes the records of partitions of topics before an offset, which becomes the first. Raises HarnessError."""
    kafka, admin = client(), admin_of(to)
    places = [kafka.TopicPartition(topic, number, first) for (topic, number), first in firsts.items()]
    try:
        for done in admin.delete_records(places, request_timeout=timeout_s, operation_timeout=timeout_s).values():
            done.result(timeout_s + 1)
    except (kafka.KafkaException, TimeoutError) as error:
        raise HarnessError(f"cannot delete the first records of topics at {to}: {error}") from error
