"""How a wrong text, or wrong bytes, are related to the right ones: cut, with lost or other
characters, in another encoding.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator

from conformance.judging.relations import (
    BLANKS_AT_BOTH_ENDS,
    CHARACTER_SORTS,
    Relation,
    RelationKind,
    describe_end_character,
    is_beyond_ascii,
)


def relate_texts(expected: str, actual: str, unit: str = "characters") -> Relation | None:
    """How a wrong text is related to the right one (cut, lost characters, other case ...); None if
    no relation is known. `unit` names what a cut counts.
    """
    if expected.casefold() == actual.casefold():
        return Relation(RelationKind.LETTER_CASE)
    if unicodedata.normalize("NFKC", expected) == unicodedata.normalize("NFKC", actual):
        return Relation(RelationKind.UNICODE_FORM)
    encoding = find_encoding(expected.encode("utf-8", "surrogatepass"), actual)
    if encoding is not None:
        return encoding
    is_part = actual in expected or expected in actual
    if is_part and expected.strip() == actual.strip():
        return Relation(RelationKind.BLANKS_AT_ENDS, name=_find_end(expected, actual))
    if actual and len(actual) < len(expected) and expected.startswith(actual):
        before = describe_end_character(expected[len(actual)])
        return Relation(RelationKind.CUT, len(actual), len(expected), unit, before)
    if _read_as_latin(expected) == actual:
        return Relation(RelationKind.BYTES_AS_LATIN)
    for kind, changed_characters in (
        (RelationKind.LOST_CHARACTERS, _characters_left_out(expected, actual)),
        (RelationKind.ADDED_CHARACTERS, _characters_left_out(actual, expected)),
    ):
        for sort, pattern in CHARACTER_SORTS:
            if changed_characters and re.fullmatch(pattern, changed_characters):
                return Relation(kind, name=sort)
    if actual and expected.endswith(actual):
        before = describe_end_character(expected[-len(actual) - 1])
        return Relation(RelationKind.LOST_BEGINNING, before=before)
    # Of a text that is nothing but such characters a sign for each comes.
    if len(actual) == len(expected) and re.fullmatch(r"[?\ufffd]+", actual):
        for sort, pattern in CHARACTER_SORTS:
            if re.fullmatch(pattern, expected) and is_beyond_ascii(sort):
                return Relation(RelationKind.REPLACED_CHARACTERS, name=sort)
    for sort, pattern in CHARACTER_SORTS:
        if _differs_only_at(expected, actual, pattern):
            return Relation(RelationKind.REPLACED_CHARACTERS, name=sort)
    return None


def _find_end(expected: str, actual: str) -> str:
    """At which end one of two texts, equal but for blanks, has more blanks than the other, in
    words.
    """
    shorter, longer = sorted((expected, actual), key=len)
    if longer.startswith(shorter) is longer.endswith(shorter):
        return BLANKS_AT_BOTH_ENDS
    return "blanks at the end" if longer.startswith(shorter) else "blanks at the beginning"


def find_encoding(expected: bytes, actual: str) -> Relation | None:
    """The relation ENCODED of bytes to a text that encodes them, such as base64; None if the text
    does not. No bytes at all are encoded only by the text `0x`: an empty text is no encoding.
    """
    if expected and actual.lower() == expected.hex():
        return Relation(RelationKind.ENCODED, name="hexadecimal digits")
    if actual.lower() == f"0x{expected.hex()}":
        return Relation(RelationKind.ENCODED, name="hexadecimal digits after 0x")
    if expected and actual == base64.b64encode(expected).decode("ascii"):
        return Relation(RelationKind.ENCODED, name="base64")
    return None


def _read_as_latin(expected: str) -> str:
    """The text that comes out when the UTF-8 bytes of a text are read as Latin-1."""
    return expected.encode("utf-8", "surrogatepass").decode("latin-1")


def relate_bytes(expected: bytes, actual: bytes) -> Relation | None:
    """How wrong bytes are related to the right ones (encoded as text, reversed, cut ...); None if
    they are equal, or no relation is known. That no bytes at all came is a cut only if what is
    missing begins with a sort of character before which a decoder may cut.
    """
    if expected == actual:
        return None
    if expected and actual.isascii():
        encoding = find_encoding(expected, actual.decode("ascii"))
        if encoding is not None:
            return encoding
    if len(expected) > 1 and actual == expected[::-1]:
        return Relation(RelationKind.BYTES_REVERSED)
    if actual == expected.decode("latin-1").encode():
        return Relation(RelationKind.LATIN_AS_UTF8)
    for name, without in (
        ("leading zero bytes", expected.lstrip(b"\0")),
        ("zero bytes at the end", expected.rstrip(b"\0")),
    ):
        if actual == without:
            return Relation(RelationKind.LOST_CHARACTERS, name=name)
    cut = find_cut_of_bytes(expected, actual)
    return cut if actual or (cut and cut.before) else None


def find_cut_of_bytes(expected: bytes, actual: bytes) -> Relation | None:
    """The relation CUT if what came is only the beginning of the expected bytes: how many of how
    many bytes, and before which sort of character. None if it is not.
    """
    if not expected.startswith(actual) or expected == actual:
        return None
    before = describe_end_character(chr(expected[len(actual)]))
    return Relation(RelationKind.CUT, len(actual), len(expected), "bytes", before)


def _differs_only_at(expected: str, actual: str, pattern: str) -> bool:
    """Whether two texts differ only where the first has characters that match `pattern`: all others
    came, in the same order.
    """
    first, *further_parts = re.split(pattern, expected)
    position = len(first)
    if not further_parts or not any((first, *further_parts)):
        return False
    if not actual.startswith(first) or not actual.endswith(further_parts[-1]):
        return False
    for part in further_parts[:-1]:
        start = actual.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    return position <= len(actual) - len(further_parts[-1])


def _characters_left_out(complete: str, remainder: str) -> str:
    """The characters that are in the text but not in the remainder; "" if the remainder is not
    what is left of the text without some of its characters.
    """
    return (
        "".join(_walk_left_out(complete, remainder)) if _is_remainder(complete, remainder) else ""
    )


def _is_remainder(complete: str, remainder: str) -> bool:
    """Whether the remainder is the text without some of its characters, in the same order."""
    characters = iter(complete)
    return all(character in characters for character in remainder)


def _walk_left_out(complete: str, remainder: str) -> Iterator[str]:
    """The characters of the complete text that the remainder lacks; the remainder must be what is
    left of the text without some characters.
    """
    position = 0
    for character in complete:
        if position < len(remainder) and remainder[position] == character:
            position += 1
        else:
            yield character
