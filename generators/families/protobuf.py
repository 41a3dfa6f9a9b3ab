"""Protocol Buffers by a table of fields: bytes of a document, the document of bytes.

Source: the Protocol Buffers documentation, "Encoding". A document is an object with the names of
the .proto file. Written by hand, since the bytes are the point: which fields a writer sets, though
they have their default, and in which order, is the product's choice (`presence`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

VARINT: Final = 0
"""The wire type of a number."""
LENGTH_DELIMITED: Final = 2
"""The wire type of what stands behind its length: a text, bytes or a message."""
_FIXED: Final = {1: 8, 5: 4}
"""How many bytes a value has, by the wire types whose values all have the same length."""
_LONGEST: Final = 10
"""Bytes of the longest varint."""


class Scalar(enum.StrEnum):
    """The type of a field that is no message."""

    INT = "int"
    BOOL = "bool"
    TEXT = "text"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class ProtoField:
    """A field of a message, as the .proto file declares it. `scalar` is its type, unless `message`
    names the message that it holds. `names` are the numbers of an enumeration by their words.
    `presence` says that the field is written even if it has its default value, as a field of a
    oneof is.
    """

    name: str
    scalar: Scalar = Scalar.INT
    message: str = ""
    repeated: bool = False
    presence: bool = False
    names: Mapping[str, int] = field(default_factory=dict)


Schema = Mapping[str, Mapping[int, ProtoField]]
"""The fields of each message by their numbers."""


class WireField(NamedTuple):
    """A field as it stands in a message's bytes: its number, its wire type, and its content, which
    is a number, or the bytes of a text, of bytes or of a message.
    """

    number: int
    wire_type: int
    content: int | bytes


class NotProtobuf(ValueError):
    """Raised for bytes that are no message; `reason` is the tag of the fault, such as
    `truncated`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def varint(number: int) -> bytes:
    """Protobuf's varint of a number of 64 bits, seven to a byte; a negative one is its two's
    complement.
    """
    remaining, data = number % (1 << 64), bytearray()
    while remaining > 0x7F:
        data.append(remaining & 0x7F | 0x80)
        remaining >>= 7
    return bytes((*data, remaining))


def length_delimited(number: int, data: bytes) -> bytes:
    """The bytes of field `number` with the value `data`, which stands behind its length: a text,
    bytes or a message.
    """
    return varint(number << 3 | LENGTH_DELIMITED) + varint(len(data)) + data


def encode(schema: Schema, message: str, document: Mapping[str, Any]) -> bytes:
    """The bytes of a message of the type `message`, whose field values `document` has by name; the
    fields stand in the order of their numbers, as generated code writes them.
    """
    data = b""
    for number, proto_field in sorted(schema[message].items()):
        value = document.get(proto_field.name)
        items = (value or ()) if proto_field.repeated else (value,)
        for item in items:
            if item is not None:
                data += _encode_field(schema, number, proto_field, item)
    return data


def _encode_field(schema: Schema, number: int, proto_field: ProtoField, item: Any) -> bytes:
    """The bytes of one value of a field: b"" for a default value, unless such a field is written
    all the same (`presence`, or repeated).
    """
    if proto_field.message:
        return length_delimited(number, encode(schema, proto_field.message, item))
    keeps_default = proto_field.presence or proto_field.repeated
    if isinstance(item, str) and proto_field.names:
        item = proto_field.names[item]
    if not item and not keeps_default:
        return b""
    if isinstance(item, str):
        return length_delimited(number, item.encode())
    if isinstance(item, bytes):
        return length_delimited(number, item)
    return varint(number << 3 | VARINT) + varint(int(item))


def read_fields(data: bytes) -> Iterator[WireField]:
    """The fields of a message's bytes in their order, whatever the schema is. Raises NotProtobuf
    for bytes that are no message.
    """
    place = 0
    while place < len(data):
        key, place = _read_varint(data, place)
        number, wire_type = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise NotProtobuf("syntax")
        if wire_type == VARINT:
            content, place = _read_varint(data, place)
            yield WireField(number, wire_type, content)
            continue
        if wire_type == LENGTH_DELIMITED:
            size, place = _read_varint(data, place)
        elif wire_type in _FIXED:
            size = _FIXED[wire_type]
        else:
            raise NotProtobuf("syntax")
        if size > len(data) - place:
            raise NotProtobuf("truncated")
        yield WireField(number, wire_type, data[place : place + size])
        place += size


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    """The number of the varint that begins at `place`, and the place behind it. Raises NotProtobuf
    if the bytes end within it, or if it is too long.
    """
    number = 0
    for i in range(_LONGEST):
        if place + i >= len(data):
            raise NotProtobuf("truncated")
        byte = data[place + i]
        number |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return number % (1 << 64), place + i + 1
    raise NotProtobuf("syntax")


@dataclass(slots=True)
class ProtoReader:
    """Reads messages' bytes by a schema. `doubtful_tags` collects the tags of what the
    specification lets a reader pass over: a field that comes twice, an unknown field, a text that
    is no UTF-8.
    """

    schema: Schema
    doubtful_tags: list[str] = field(default_factory=list)

    def read(self, message: str, data: bytes) -> dict[str, Any]:
        """The document, values by field name, that the bytes of a message of the type `message`
        spell. What a reader may pass over is noted in `doubtful_tags`. Raises NotProtobuf for bytes
        that are no message.
        """
        document: dict[str, Any] = {}
        for number, wire_type, content in read_fields(data):
            proto_field = self.schema[message].get(number)
            is_number = (
                proto_field is not None
                and not proto_field.message
                and proto_field.scalar in (Scalar.INT, Scalar.BOOL)
            )
            if proto_field is None or wire_type != (VARINT if is_number else LENGTH_DELIMITED):
                self.doubtful_tags.append("unknown-field")
                continue
            value = self._value(proto_field, content)
            if proto_field.repeated:
                document.setdefault(proto_field.name, []).append(value)
                continue
            if proto_field.name in document:
                self.doubtful_tags.append("duplicate-key")
            document[proto_field.name] = value
        return document

    def _value(self, proto_field: ProtoField, content: int | bytes) -> Any:
        """The value in a document for a field's content: a text, bytes, a document of its own, True
        or False, a number, or an enumeration's word (its number if it has no word for that). Raises
        NotProtobuf for bytes that are no message. Numbers are signed, of 64 bits. A text that is no
        UTF-8 is noted in `doubtful_tags`, since readers differ on it.
        """
        if isinstance(content, bytes):
            if proto_field.message:
                return self.read(proto_field.message, content)
            if proto_field.scalar is Scalar.BYTES:
                return content
            try:
                return content.decode()
            except UnicodeDecodeError:
                self.doubtful_tags.append("invalid-utf-8")
                return content.decode("utf-8", "replace")
        if proto_field.scalar is Scalar.BOOL:
            return content != 0
        number = content - (1 << 64) if content >> 63 else content
        words = {value: word for word, value in proto_field.names.items()}
        return words.get(number, number)
