"""The records that a task of Debezium's connector publishes: their topics' partitions, headers,
and what Kafka Connect makes of null.

Source: debezium#context-headers, connect#null.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from generators.families.connect import Schema, message_members, partition_of, string
from generators.families.wire_messages import (
    Part,
    WireMessage,
    json_text,
    print_message,
    print_part,
)
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import Change, Instant, Layout, Written
from generators.sources.boundaries import START

LEGACY_NULL: Final = b'{"schema":null,"payload":null}'
"""What Kafka Connect before 2.2 wrote for a null without schema, in keys and values."""

Headers: TypeAlias = tuple[tuple[str, bytes], ...]
"""The headers of a record: the name and the value of each."""

_UUID_BITS: Final = 0xF << 76 | 0x3 << 62
"""The bits of a UUID that hold its version and its variant."""
_UUID_7: Final = 0x7 << 76 | 0x2 << 62
"""Version 7 of a UUID, which begins with its time (debezium#context-headers)."""


def _print(members: Mapping[str, Any]) -> bytes:
    """JSON as Kafka Connect prints it; what is no character of UTF-8 is a question mark."""
    return json_text(members, string).encode("utf-8", "replace")


class Records:
    """The records that one task of a connector has published: `written`, in their order.

    `event_number` is the number of the event in the history that is being written; `lag` are the
    milliseconds from a change in the database to its record; `context` are the headers that
    releases with `context_headers` add to each record of a row or statement.
    """

    def __init__(self, profile: DebeziumProfile, layout: Layout, chance: random.Random) -> None:
        self.profile, self.layout, self.chance = profile, layout, chance
        self.written: list[Written] = []
        self.event_number = 0
        self.lag = chance.randrange(40, 400)
        run = uuid.UUID(int=(START.ms << 80 | chance.getrandbits(80)) & ~_UUID_BITS | _UUID_7)
        self.context: Headers = ()
        if profile.context_headers:
            context = {
                "connectorLogicalName": layout.topic,
                "taskId": "0",
                "connectorName": profile.connector,
                "runId": str(run),
            }
            self.context = tuple(
                (f"__debezium.context.{name}", header_text.encode())
                for name, header_text in context.items()
            )

    def emit(
        self,
        topic: str,
        key: Part,
        value: Part,
        change: Change,
        at: Instant,
        headers: Headers = (),
    ) -> None:
        """Writes one record of this key and value about a change; in old releases of Kafka Connect
        null is an object (`LEGACY_NULL`).
        """
        if self.profile.legacy_tombstones:
            key = LEGACY_NULL if key is None else key
            value = LEGACY_NULL if value is None else value
        key_bytes = print_part(key, _print)
        partitions = self.layout.partitions
        partition = (
            self.chance.randrange(partitions)
            if key_bytes is None
            else partition_of(key_bytes, partitions)
        )
        message = WireMessage(value, (change,), key_bytes, (partition,), topic, headers)
        self.written += print_message(
            message, _print, self.layout, event=self.event_number, timestamp_ms=at.ms + self.lag
        )

    def key_part(self, schema: Schema, payload: Mapping[str, Any]) -> Part:
        """The members of a record key that is not a row's, with its schema if the profile has one
        in keys.
        """
        return message_members(schema, payload, has_schema=self.profile.key_schemas)

    def value_part(self, schema: Schema, payload: Mapping[str, Any]) -> Part:
        """The JSON members of the value of a record that is not a row's: schema and payload if the
        profile has schemas in values, else the members of the payload alone.
        """
        return message_members(schema, payload, has_schema=self.profile.schemas)

    def added_headers(self, members: Mapping[str, str]) -> Headers:
        """The record headers that the transform ExtractNewRecordState of release 2.5 adds to a
        message that is not a row's, made of `members` (debezium#flattened); none in other profiles.
        """
        adds_headers = self.profile.flat and self.profile.flat_headers_everywhere
        return (
            tuple((name, header_text.encode()) for name, header_text in members.items())
            if adds_headers
            else ()
        )
