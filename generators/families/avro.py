"""What the Avro formats' writers share: encoding through fastavro, blocks of one's own choice, ways
to spoil a value.

Source: the Avro 1.12 specification, "Binary encoding". fastavro writes every array and map as one
block; other writers need not, so `blocks` puts encoded items together in any way that the
specification allows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import fastavro

from generators.garbage.faults import NULL, Fault

Schema: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""An Avro schema as the specification writes it in JSON. A value of a union is (branch's full name,
value), or None.
"""


@dataclass(frozen=True)
class Encoder:
    """Encodes values of one schema as raw Avro binary: no magic, no schema id, no container."""

    schema: Schema

    @cached_property
    def _parsed(self) -> Any:
        return fastavro.parse_schema(self.schema)  # type: ignore[arg-type]

    def __call__(self, value: Any) -> bytes:
        """The bytes of a value. Raises what fastavro raises on one that the schema does not
        hold.
        """
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self._parsed, value)
        return out.getvalue()

    def read(self, data: bytes) -> tuple[Any, int]:
        """The value at the start of the bytes, and how many bytes it takes. Faults learn from that
        number where the next field begins.
        """
        source = io.BytesIO(data)
        datum = fastavro.schemaless_reader(source, self._parsed, None, return_record_name=True)
        return datum, source.tell()


LONG: Final = Encoder("long")
"""Encodes a whole number, also where it is an int, a length, a block's count, or the index of a
union's branch or of an enumeration's symbol.
"""


def blocks(items: Sequence[bytes], sizes: Sequence[int] = (), *, sized: bool = False) -> bytes:
    """The encoding of an array or a map, from its encoded items: in blocks of these sizes, behind
    which a last block has all other items.

    With `sized` a block's count is negative, and the number of its bytes stands behind it, so that
    readers can skip it.
    """
    data, start = b"", 0
    for size in (*sizes, len(items)):
        block = items[start : start + size]
        start += size
        if block:
            body = b"".join(block)
            head = LONG(-len(block)) + LONG(len(body)) if sized else LONG(len(block))
            data += head + body
    return data + LONG(0)


def _cut(keep: Callable[[int], int]) -> Callable[[bytes], bytes | None]:
    """The function that cuts a value to its first bytes, as many as `keep` says of its length; it
    gives None for a value of less than two bytes.
    """
    return lambda value: value[: keep(len(value))] if len(value) > 1 else None


def before(head: bytes) -> Callable[[bytes], bytes]:
    """The function that puts the bytes `head` before a value."""
    return lambda value: head + value


def append_bytes(tail: bytes) -> Callable[[bytes], bytes]:
    """The function that puts the bytes `tail` behind a value."""
    return lambda value: value + tail


FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "truncated",
        "truncated",
        "The value is cut in the middle.",
        _cut(lambda size: size // 2),
        packed=True,
    ),
    Fault("truncated-last", "truncated", "The last byte is missing.", _cut(lambda size: size - 1)),
    Fault(
        "trailing-content",
        "trailing-content",
        "The byte FF, no whole number, follows the record.",
        append_bytes(b"\xff"),
    ),
    Fault(
        "trailing-text",
        "trailing-content",
        "A text follows the record.",
        append_bytes(b"\nand more"),
    ),
    Fault(
        "second-document",
        "second-document",
        "The record stands in the value twice.",
        lambda value: value + value,
    ),
    Fault("empty", "empty", "The value has no bytes.", lambda _value: b"", packed=True),
    NULL,
    Fault(
        "registry-header",
        "foreign-framing",
        "A schema registry's header, a zero and four bytes of a schema id, precedes the record.",
        before(b"\x00\x00\x00\x00\x07"),
    ),
    Fault(
        "single-object-header",
        "foreign-framing",
        "The header of Avro's single-object encoding, C3 01 and a fingerprint, precedes the"
        " record.",
        before(b"\xc3\x01\x8f\x5c\x39\x3f\x1a\xd5\x75\x72"),
    ),
    Fault(
        "file-header",
        "foreign-framing",
        "The magic of an Avro object container file precedes the record.",
        before(b"Obj\x01"),
    ),
    Fault(
        "json-text",
        "wrong-container",
        "A JSON object stands in the record's place.",
        lambda _value: b'{"version":1}',
    ),
)
"""Envelope faults of any raw Avro record; where it has unions, lengths and enumerations only its
format knows, and adds those.
"""
