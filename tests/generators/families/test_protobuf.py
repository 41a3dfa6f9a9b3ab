"""Protocol Buffers by a table of fields: the examples of the documentation ("Encoding"), and what
is no message.
"""

from __future__ import annotations

from typing import Any

import pytest

from generators.families.protobuf import (
    NotProtobuf,
    ProtoField,
    ProtoReader,
    Scalar,
    encode,
    varint,
)

SCHEMA = {
    "Test1": {1: ProtoField("a")},
    "Test2": {2: ProtoField("b", Scalar.TEXT)},
    "Test3": {3: ProtoField("c", message="Test1")},
    "Test4": {
        4: ProtoField("d", Scalar.TEXT),
        5: ProtoField("e", Scalar.TEXT, repeated=True),
        6: ProtoField("f", presence=True),
        7: ProtoField("g", Scalar.BOOL),
        8: ProtoField("h", names={"NONE": 0, "SOME": 1}),
        9: ProtoField("i", Scalar.BYTES),
    },
}

EXAMPLES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("Test1", {"a": 150}, "08 96 01"),
    ("Test1", {"a": -2}, "08 fe ff ff ff ff ff ff ff ff 01"),
    ("Test2", {"b": "testing"}, "12 07 74 65 73 74 69 6e 67"),
    ("Test3", {"c": {"a": 150}}, "1a 03 08 96 01"),
    ("Test4", {"d": "hello", "e": ["1", ""]}, "22 05 68 65 6c 6c 6f 2a 01 31 2a 00"),
    ("Test4", {"f": 0}, "30 00"),
    ("Test4", {"g": True, "h": "SOME", "i": b"\xff"}, "38 01 40 01 4a 01 ff"),
)


@pytest.mark.parametrize(("message", "document", "encoded"), EXAMPLES)
def test_a_document_is_written_and_read_again(
    message: str, document: dict[str, Any], encoded: str
) -> None:
    data = bytes.fromhex(encoded)
    assert encode(SCHEMA, message, document) == data
    reader = ProtoReader(SCHEMA)
    assert reader.read(message, data) == document
    assert reader.doubtful_tags == []


def test_a_default_is_written_only_with_presence() -> None:
    defaults = {"d": "", "e": [], "f": 0, "g": False, "h": "NONE", "i": b""}
    assert encode(SCHEMA, "Test4", defaults).hex() == "3000"


@pytest.mark.parametrize(
    ("number", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (-1, "ffffffffffffffffff01")],
)
def test_a_varint(number: int, encoded: str) -> None:
    assert varint(number).hex() == encoded


@pytest.mark.parametrize(
    ("encoded", "reason"),
    [
        ("08", "truncated"),
        ("08 96", "truncated"),
        ("12 07 74", "truncated"),
        ("0d 01 02 03", "truncated"),
        ("00", "syntax"),
        ("0b", "syntax"),
        ("08 ff ff ff ff ff ff ff ff ff ff 01", "syntax"),
    ],
)
def test_bytes_that_are_no_message(encoded: str, reason: str) -> None:
    with pytest.raises(NotProtobuf, match=reason):
        ProtoReader(SCHEMA).read("Test1", bytes.fromhex(encoded))


@pytest.mark.parametrize(
    ("message", "encoded", "document", "doubt"),
    [
        ("Test1", "08 01 08 02", {"a": 2}, "duplicate-key"),
        ("Test1", "08 01 10 02", {"a": 1}, "unknown-field"),
        ("Test1", "0a 01 31", {}, "unknown-field"),
        ("Test2", "12 01 ff", {"b": "\ufffd"}, "invalid-utf-8"),
    ],
)
def test_what_a_reader_may_pass_over_is_a_doubt(
    message: str, encoded: str, document: dict[str, Any], doubt: str
) -> None:
    reader = ProtoReader(SCHEMA)
    assert reader.read(message, bytes.fromhex(encoded)) == document
    assert reader.doubtful_tags == [doubt]
