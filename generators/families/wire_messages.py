"""A message between event and bytes: its members in order, what is owed for it and where it goes;
and the one place that prints it.

A writer says of each event its `WireMessage`s. `print_message` makes Kafka's records of one, with
the printer of the writer's product: `print_json` with the product's way to quote a text, or what
encodes another container.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from generators.model import Change, Layout, Message, Written

ABSENT: Final = object()
"""The value of a member that a message leaves out."""


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON text that goes out as it stands."""

    text: str


Part: TypeAlias = Mapping[str, Any] | bytes | None
"""A record's key or value: members by name in their order, bytes that go out as they stand, or None
for a null.
"""
Quote: TypeAlias = Callable[[str], str]
"""How a product writes a text as a JSON string: its quotes and its escapes."""
Printer: TypeAlias = Callable[[Mapping[str, Any]], bytes]
"""Makes bytes of the members of a key or a value."""


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message before it is bytes. `value` and `key` are its two parts, `changes` what a perfect
    decoder must return for it. It is sent to each of `partitions` of the topic `topic`, "" for the
    layout's, with `headers`.
    """

    value: Part
    changes: tuple[Change, ...]
    key: Part = None
    partitions: Sequence[int] = (0,)
    topic: str = ""
    headers: tuple[tuple[str, bytes], ...] = ()


def print_message(
    message: WireMessage, printer: Printer | None, layout: Layout, *, event: int, timestamp_ms: int
) -> Iterator[Written]:
    """The records of a message, one for each partition that it is sent to. `printer` makes bytes of
    parts that are members, None for a format whose parts are all bytes. `event` is the number of
    the message's event in the history, `timestamp_ms` the time of the records.
    """
    key, value = (print_part(part, printer) for part in (message.key, message.value))
    for partition in message.partitions:
        record = Message(
            message.topic or layout.topic,
            partition,
            key,
            value,
            message.headers,
            timestamp_ms=timestamp_ms,
            event=event,
        )
        yield Written(record, message.changes)


def print_part(part: Part, printer: Printer | None) -> bytes | None:
    """The bytes of a key or a value, None for a null. A part that is bytes already stays as it is;
    `printer` makes the bytes of one that is members, and may be None if there is no such part.
    """
    if not isinstance(part, Mapping):
        return part
    assert printer is not None
    return printer(part)


def print_json(members: Mapping[str, Any], quote: Quote) -> bytes:
    """The bytes of a JSON object with these members, in UTF-8; `quote` writes its texts."""
    return json_text(members, quote).encode()


def json_text(value: object, quote: Quote) -> str:
    """The JSON of a value without blanks; `quote` writes its texts. The members of an object stand
    in their order, without those that are ABSENT; `Raw` goes out as it stands.
    """
    match value:
        case str():
            return quote(value)
        case Raw():
            return value.text
        case dict():
            members = [
                f"{quote(name)}:{json_text(item, quote)}"
                for name, item in value.items()
                if item is not ABSENT
            ]
            return f"{{{','.join(members)}}}"
        case list() | tuple():
            return f"[{','.join([json_text(item, quote) for item in value])}]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    return json.dumps(value)
