"""Messages in transactions of Kafka, committed or aborted, as a source that reads committed messages alone meets them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from generators.errors import HarnessError
from generators.model import Message
from generators.publishing.cluster import Target, client, of, settings
from generators.publishing.kafka import PRODUCER_CONFIG
from generators.publishing.topics import admin_of

if TYPE_CHECKING:
    from confluent_kafka import Producer
    from confluent_kafka._types import HeadersType

LIMIT_S: Final = 60.0


class Transactions:
    """A producer of transactions on one topic. Raises HarnessError where the broker refuses or does not answer."""

    def __init__(self, to: Target, topic: str) -> None:
        self._to, self._topic = to, topic
        name = f"{of(to).prefix}-{secrets.token_hex(4)}"
        conf = {**PRODUCER_CONFIG, **settings(to), "transactional.id": name, "log_level": 0}
        self._producer: Producer = client().Producer(conf)
        self._said: list[str] = []
        self._do(lambda: self._producer.init_transactions(LIMIT_S))

    def commit(self, messages: Iterable[Message]) -> list[tuple[int, int]]:
        """Publishes messages in one transaction; returns the partition and offset of each, in order. A reader of committed
        messages can read them then."""
        sent = self._sent(messages)
        self._do(lambda: self._producer.commit_transaction(LIMIT_S))
        self._settled({partition for partition, _ in sent})
        return sent

    def _settled(self, partitions: Iterable[int]) -> None:
        """Waits for the end of the transaction in each partition: the broker writes it after its answer."""
        from confluent_kafka import IsolationLevel
        from confluent_kafka.admin._listoffsets import OffsetSpec

        kafka, admin, deadline = client(), admin_of(self._to), time.monotonic() + LIMIT_S
        spec: Any = OffsetSpec
        asked = {kafka.TopicPartition(self._topic, number): spec.latest() for number in partitions}

        def last(level: Any) -> list[int]:
            return [done.result(LIMIT_S).offset for done in admin.list_offsets(asked, isolation_level=level).values()]

        while asked and last(IsolationLevel.READ_COMMITTED) != last(IsolationLevel.READ_UNCOMMITTED):
            if time.monotonic() > deadline:
                raise HarnessError(f"a transaction on {self._to} has no end in topic {self._topic!r} after {LIMIT_S:g} s")
            time.sleep(0.02)

    def abort(self, messages: Iterable[Message]) -> list[tuple[int, int]]:
        """Publishes messages in one transaction that is aborted; returns the partition and offset of each, in order."""
        sent = self._sent(messages)
        self._do(lambda: self._producer.abort_transaction(LIMIT_S))
        return sent

    def _sent(self, messages: Iterable[Message]) -> list[tuple[int, int]]:
        self._do(self._producer.begin_transaction)
        found: list[tuple[int, int] | None] = []

        def report(error: Any, message: Any, number: int) -> None:
            if error is not None:
                self._said.append(error.str())
            else:
                found[number] = (message.partition(), message.offset())

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
                self._producer.produce(self._topic, one.value, one.key, one.partition, report, None, one.timestamp_ms, headers)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _do(self, what: Callable[[], object]) -> None:
        try:
            what()
        except client().KafkaException as error:
            raise HarnessError(f"a transaction on {self._to} failed: {error.args[0].str()}") from error


def delete_before(to: Target, topic: str, firsts: Sequence[int], timeout_s: float = 30) -> None:
    """Deletes the records of each partition before an offset, which becomes its first. Raises HarnessError."""
    kafka, admin = client(), admin_of(to)
    places = [kafka.TopicPartition(topic, number, first) for number, first in enumerate(firsts)]
    try:
        for done in admin.delete_records(places, request_timeout=timeout_s, operation_timeout=timeout_s).values():
            done.result(timeout_s + 1)
    except (kafka.KafkaException, TimeoutError) as error:
        raise HarnessError(f"cannot delete the first records of topic {topic!r} at {to}: {error}") from error
