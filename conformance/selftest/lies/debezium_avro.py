"""The lies about Debezium in Confluent's framing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.selftest.lies.lie import Alter, Lie
from generators.families.debezium.values import Modes
from generators.model import Message

_NEW: Final = "3.5.0.Final"


def _headed(head: bytes) -> Alter:
    """Puts bytes in the place of the first ones of the framing."""
    return lambda message: replace(message, value=message.value and head + message.value[len(head) :])


def _keyless(message: Message) -> Message:
    return replace(message, key=None)


LIES: Final = (
    Lie("another magic byte", _NEW, "rows/readable", "shape/insert", alter=_headed(b"\x01")),
    Lie("a schema that nobody has", _NEW, "rows/readable", "shape/insert", alter=_headed(b"\x00\x7f\xff\xff\xfe")),
    Lie("no key", _NEW, "key/columns", "shape/insert", alter=_keyless),
    Lie("names as they are", _NEW, "image/columns", "names/back-ticks-changed", "avro_names", False),
    Lie("decimals as text", _NEW, None, "decimal-10-2/max", "modes", Modes(decimal="string", avro=True)),
    Lie("milliseconds alone", _NEW, "value/datetime-micros", "datetime-6/max", "modes", Modes(temporal="connect", avro=True)),
)
