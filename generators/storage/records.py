"""Messages as rows in the shape of Spark's Kafka source with headers, which Parquet files hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from generators.model import Message

if TYPE_CHECKING:
    import pyarrow as pa


def schema() -> pa.Schema:
    """The Arrow schema of a corpus's Parquet file: the columns of Spark's Kafka source."""
    import pyarrow as pa

    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    return pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("timestampType", pa.int32()),
            ("headers", pa.list_(header)),
        ]
    )


def columns(messages: Sequence[Message], offsets: Sequence[int]) -> dict[str, list[Any]]:
    """The columns of `schema` by name, each as a list of values, for these messages and their Kafka
    offsets. The timestamps are the writer's (Kafka's CreateTime, type 0), in microseconds.
    """

    def header_structs(message: Message) -> list[dict[str, Any]] | None:
        """A message's headers as Spark's Kafka source gives them: a list of structs of `key` and
        `value`, in their order. None (NULL in the file), not an empty list, for a message without
        headers.
        """
        return [{"key": name, "value": value} for name, value in message.headers] or None

    return {
        "key": [m.key for m in messages],
        "value": [m.value for m in messages],
        "topic": [m.topic for m in messages],
        "partition": [m.partition for m in messages],
        "offset": list(offsets),
        "timestamp": [m.timestamp_ms * 1000 for m in messages],
        "timestampType": [0] * len(messages),
        "headers": [header_structs(message) for message in messages],
    }


def batch(
    messages: Sequence[Message], offsets: Sequence[int], append_ms: int | None = None
) -> pa.RecordBatch:
    """The Arrow batch of messages at these Kafka offsets. `append_ms` is the timestamp that the
    broker sets on all of them (Kafka's LogAppendTime, type 1); None keeps the writer's timestamps.
    """
    import pyarrow as pa

    data = columns(messages, offsets)
    if append_ms is not None:
        data |= {
            "timestamp": [append_ms * 1000] * len(messages),
            "timestampType": [1] * len(messages),
        }
    return pa.RecordBatch.from_pydict(data, schema())


def kafka_row(message: Message, offset: int) -> dict[str, Any]:
    """A message as the row of Spark's Kafka source, by column."""
    return {name: values[0] for name, values in columns([message], [offset]).items()}
