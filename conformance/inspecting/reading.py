"""Reads messages of unknown origin: from a topic, JSON lines, or Parquet in the shape of Spark's
Kafka source.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import gzip
import itertools
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from conformance.inspecting.opening import LIMIT, ReadRecord
from generators.errors import HarnessError, UnknownName, UsageError
from generators.publishing.cluster import Target, settings
from generators.publishing.cluster import client as kafka_client
from generators.publishing.topics import check_reachable, describe_denial, visible

BATCH: Final = 1000
"""Records that are read at once."""
NO_VALUE: Final = b"null"
"""How the console consumer prints a record's missing key or value."""
WAIT_S: Final = 15.0
"""Reading ends after so many seconds without a record, though a partition should have more."""


def read_path(path: Path) -> Iterator[ReadRecord]:
    """The messages of a file, or of every suitable file of a folder. Raises UsageError for one that
    cannot be read.
    """
    if path.is_dir():
        candidates = (
            p
            for p in path.rglob("*")
            if p.suffix == ".parquet" or p.name.startswith("messages.jsonl")
        )
        files = sorted(p for p in candidates if p.is_file())
        if not files:
            raise UsageError(f"{path}: no file messages.jsonl and no file *.parquet in it")
        for file_path in files:
            yield from read_path(file_path)
        return
    try:
        with path.open("rb") as file:
            head = file.read(6)
        if head.startswith(b"PAR1"):
            yield from _parquet(path)
        elif head.startswith(b"\xfd7zXZ"):
            with lzma.open(path) as packed:
                yield from _lines(packed, path)
        elif head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                yield from _lines(packed, path)
        elif head and head.lstrip()[:1] not in (b"{", b"[", b"") and not head.isascii():
            yield ReadRecord(path.read_bytes()[:LIMIT], place=path.name)
        else:
            with path.open("rb") as plain:
                yield from _lines(plain, path)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise UsageError(f"{path}: {error}") from error


class _Lines(Protocol):
    """A file that is read line by line."""

    def readline(self, size: int, /) -> bytes: ...


def _lines(file: _Lines, path: Path) -> Iterator[ReadRecord]:
    """The records of a file of lines: lines that describe a record with its key (as corpora and
    console consumers write them), or bare lines, each a value.
    """
    for number, line in enumerate(iter(lambda: file.readline(LIMIT), b""), 1):
        stripped = line.strip()
        if stripped:
            place = f"{path.name}:{number}"
            yield (
                _parse_line(stripped, place)
                or _parse_console_line(line.rstrip(b"\r\n"), place)
                or ReadRecord(stripped, place=place, exact=False)
            )


def _parse_line(line_bytes: bytes, place: str) -> ReadRecord | None:
    """The record that a line describes, as in corpora, recordings and the output of `kcat -J`; None
    if the line is a message.
    """
    try:
        line = orjson.loads(line_bytes)
    except ValueError:
        return None
    if not isinstance(line, dict) or not {"topic", "partition"} <= line.keys():
        return None
    name = next((member for member in ("value", "value_b64", "payload") if member in line), None)
    if name is None or (name == "payload" and not isinstance(line[name], str | None)):
        return None
    try:
        value, key = _bytes(line, name), _bytes(line, "key_b64" if "key_b64" in line else "key")
    except (binascii.Error, ValueError):
        return None
    topic, partition, offset = line.get("topic"), line.get("partition"), line.get("offset", -1)
    return ReadRecord(
        value,
        key,
        topic if isinstance(topic, str) else "",
        partition if isinstance(partition, int) else 0,
        offset if isinstance(offset, int) else -1,
        place,
    )


def _parse_console_line(line_bytes: bytes, place: str) -> ReadRecord | None:
    """The record of a line `KEY<TAB>VALUE`, as kafka-console-consumer prints it with `print.key`;
    None if the line is no such text: no JSON has a tab outside of a text.
    """
    key, tab, value = line_bytes.partition(b"\t")
    if not tab or value[:1] not in (b"{", b"[", b"n") or not _is_json(value):
        return None
    if key[:1] in (b"{", b"[") and not _is_json(key):
        return None
    return ReadRecord(
        None if value == NO_VALUE else value,
        None if key == NO_VALUE else key,
        place=place,
        exact=False,
    )


def _is_json(document: bytes) -> bool:
    """Whether the key or the value of a console line is one JSON document; control characters in
    strings are allowed.
    """
    try:
        json.loads(document, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _bytes(line: Mapping[str, Any], name: str) -> bytes | None:
    """The key or value in member `name` of a line, as bytes: from base64 if the name ends with
    `_b64`, from a string, or from an object with `text` or `base64`; any other JSON is printed
    again. None for null; raises ValueError for bad base64.
    """
    value = line.get(name)
    match value:
        case None:
            return None
        case str() if name.endswith("_b64"):
            return base64.b64decode(value, validate=True)
        case str():
            return value.encode(errors="surrogatepass")
        case {"text": str() as text} if len(value) == 1:
            return text.encode(errors="surrogatepass")
        case {"base64": str() as text} if len(value) == 1:
            return base64.b64decode(text, validate=True)
    return orjson.dumps(value)


def _parquet(path: Path) -> Iterator[ReadRecord]:
    """The records in a Parquet file that has the columns of Spark's Kafka source; only its column
    `value` is required. Raises UsageError without it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as table:
            names = set(table.schema_arrow.names)
            if "value" not in names:
                listed = ", ".join(sorted(names))
                raise UsageError(
                    f"{path}: no column `value`, as Spark's Kafka source has it; its columns:"
                    f" {listed}"
                )
            column_names = [
                name for name in ("value", "key", "topic", "partition", "offset") if name in names
            ]
            record_dicts = itertools.chain.from_iterable(
                b.to_pylist() for b in table.iter_batches(BATCH, columns=column_names)
            )
            for number, record in enumerate(record_dicts):
                yield ReadRecord(
                    _raw(record["value"]),
                    _raw(record.get("key")),
                    record.get("topic") or "",
                    record.get("partition") or 0,
                    -1 if record.get("offset") is None else record["offset"],
                    f"{path.name}, row {number}",
                )
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path}: {error}") from error


def _raw(value: Any) -> bytes | None:
    """A value of a Parquet table as bytes; its texts in UTF-8."""
    return value.encode() if isinstance(value, str) else value


def matching_topics(bootstrap: Target, name: str) -> list[str]:
    """The topics that `inspect` reads for a name: those that match it if it is a glob (Kafka's own,
    which begin with `__`, never do), else that topic, which is not looked up here. Raises
    UnknownName if no topic matches, HarnessError if the broker does not answer.
    """
    if not set(name) & set("*?["):
        return [name]
    topic_names = visible(bootstrap)
    if matching := sorted(
        topic for topic in fnmatch.filter(topic_names, name) if not topic.startswith("__")
    ):
        return matching
    raise UnknownName("topic", name, topic_names)


def read_topic(bootstrap: Target, topic: str, timeout_s: float = 10) -> Iterator[ReadRecord]:
    """All records that a topic holds now. Joins no group and commits nothing.

    Raises HarnessError if the broker does not answer, UsageError if it has no such topic.
    """
    client = kafka_client()
    check_reachable(bootstrap, timeout_s)
    consumer_settings = {
        "group.id": "cdc-conformance-inspect",  # the client demands a name; assign() joins no group
        "isolation.level": "read_uncommitted",
        **settings(bootstrap),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "allow.auto.create.topics": False,
        "enable.partition.eof": True,
        "log_level": 0,
    }
    consumer = client.Consumer(consumer_settings)
    try:
        topic_metadata = consumer.list_topics(topic, timeout=timeout_s).topics[topic]
        if (
            topic_metadata.error is not None
            and topic_metadata.error.code() == client.KafkaError.TOPIC_AUTHORIZATION_FAILED
        ):
            raise HarnessError(
                describe_denial(bootstrap, topic, "READ and DESCRIBE", "read another topic")
            )
        if topic_metadata.error is not None or not topic_metadata.partitions:
            raise UsageError(
                f"topic {topic!r}: {topic_metadata.error or 'it has no partition'} ({bootstrap})"
            )
        ends = {
            n: consumer.get_watermark_offsets(client.TopicPartition(topic, n), timeout=timeout_s)
            for n in topic_metadata.partitions
        }
        ends_ahead = {number: high for number, (low, high) in ends.items() if high > low}
        consumer.assign(
            [client.TopicPartition(topic, number, ends[number][0]) for number in ends_ahead]
        )
        while ends_ahead:
            # One is waited for and the rest taken as it is there: a batch that does not fill would
            # take the whole of its time.
            messages = consumer.consume(1, timeout=WAIT_S) + consumer.consume(BATCH, timeout=0)
            if not messages:
                raise HarnessError(
                    f"topic {topic!r}: no record within {WAIT_S:g} s, though partitions"
                    f" {sorted(ends_ahead)} have more"
                )
            yield from _read_messages(messages, ends_ahead, client)
    except client.KafkaException as error:
        raise HarnessError(f"topic {topic!r} at {bootstrap}: {error}") from error
    finally:
        consumer.close()


def _read_messages(
    messages: Iterable[Any], ends_ahead: dict[int, int], client: Any
) -> Iterator[ReadRecord]:
    """The records among the polled messages, up to the end that each partition had. `ends_ahead`
    has the end offset of each partition that is still to be read: one that reaches it is removed.
    """
    for message in messages:
        number = message.partition()
        error = message.error()
        if error is not None:
            if error.code() != client.KafkaError._PARTITION_EOF:
                raise client.KafkaException(error)
            # A broker under load may tell an end that it has moved on from since.
            if message.offset() >= ends_ahead.get(number, 0):
                ends_ahead.pop(number, None)
        elif number in ends_ahead:
            place = f"{message.topic()}-{number}@{message.offset()}"
            yield ReadRecord(
                message.value(), message.key(), message.topic(), number, message.offset(), place
            )
            if message.offset() + 1 >= ends_ahead[number]:
                del ends_ahead[number]
