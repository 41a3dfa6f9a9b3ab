"""What happens to all wrong texts, bytes and documents of one mistake: in small letters, escaped as
HTML, their numbers as texts.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from conformance.judging.compare import Typed
from conformance.judging.relations import CHARACTER_SORTS, Relation, RelationKind
from conformance.judging.relations_of_documents import describe_changed_parts
from conformance.judging.wrong_values import Pair, WrongValues
from generators.model import Logical

_SIGN_NAMES: Final[Mapping[str, str]] = {
    "": "nothing",
    " ": "a blank",
    "\n": "a line feed",
    "\t": "a tab",
    "?": "a question mark",
    "\ufffd": "U+FFFD",
}
"""The names of what stands in the place of lost characters."""


class _Texts(NamedTuple):
    """An owed text and the one that came for it."""

    expected: str
    came: str


def find_effect_on_texts(values: WrongValues) -> Relation | None:
    """The relation that says what happened to each of these values, if they are texts, bytes,
    labels or documents, and the same known thing happened to all of them; else None.
    """
    if values.is_unexplained and all(map(_has_replaced_bytes, values.pairs)):
        return Relation(RelationKind.NO_UTF8)
    if values.is_unexplained and all(map(_lacks_highest_bits, values.pairs)):
        return Relation(RelationKind.CHANGED_PARTS, name="its bytes without the highest bit")
    if values.pairs and all(map(_has_question_marks, values.pairs)):
        return Relation(RelationKind.REPLACED_BY, name="bytes beyond ASCII", before="`?`")
    if values.pairs and all(map(_has_resolved_bytes, values.pairs)):
        return Relation(RelationKind.CHANGED_PARTS, name="its escapes of bytes are resolved")
    if values.logicals == {Logical.ENUM}:
        for words, stands_for in _READINGS_OF_LABELS.items():
            if all(stands_for(pair) for pair in values.pairs):
                return Relation(RelationKind.CHANGED_PARTS, name=words)
    texts = _gather_texts(values)
    if not texts:
        return None
    if values.logicals == {Logical.JSON}:
        return _find_changed_parts(texts)
    if values.kind is RelationKind.LETTER_CASE and values.logicals <= _WITH_LETTERS:
        return _find_letters(texts)
    if values.logicals != {Logical.TEXT}:
        return None
    for words, change in _CHANGES_OF_TEXTS.items():
        if all(change(expected) == came for expected, came in texts):
            return Relation(RelationKind.CHANGED_PARTS, name=words)
    match values.kind:
        case None:
            return _find_letters(texts) or _find_replaced_characters(texts)
        case RelationKind.LOST_BEGINNING if all(map(_lacks_leading_zeros, texts)):
            return Relation(RelationKind.LOST_CHARACTERS, name="leading zeros")
        case RelationKind.REPLACED_CHARACTERS if values.relation is not None:
            return _find_replacement(values.relation, texts)
    return None


_WITH_LETTERS: Final = frozenset({Logical.TEXT, Logical.BINARY, Logical.ENUM, Logical.SET})
"""Types whose values are texts with letters, at least on the wire."""


def _resolve_escapes(escaped_text: str) -> str:
    """The text with its escapes of JSON resolved."""
    without_numbers = re.sub(
        r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), escaped_text
    )
    return re.sub(
        r'\\([bfnrt\\"/])', lambda match: _ESCAPES.get(match[1], match[1]), without_numbers
    )


_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""The character for which a letter stands in an escape of JSON, as `n` for a line feed."""
_CHANGES_OF_TEXTS: Final[Mapping[str, Callable[[str], str]]] = {
    "its escapes of JSON are resolved once more": _resolve_escapes,
    "in the Unicode form NFC": partial(unicodedata.normalize, "NFC"),
    "in the Unicode form NFKC": partial(unicodedata.normalize, "NFKC"),
    "its bytes of GBK read as Latin-1": lambda value: value.encode("gbk", "replace").decode(
        "latin-1"
    ),
}
"""What decoders make of texts, by the words for it."""


def _find_label(pair: Pair) -> str | None:
    """The label of the ENUM member whose number is owed; None if the type has no such member."""
    number, members = pair.cell.value, pair.cell.type.members
    return members[number - 1] if isinstance(number, int) and 0 < number <= len(members) else None


def _is_number_of_label(pair: Pair) -> bool:
    """Whether the label of an ENUM's member is owed, and its number came."""
    label = _find_label(pair)
    is_label = label is not None and pair.expected_text == label
    return is_label and pair.text_that_came == str(pair.cell.value)


def _is_label_of_number(pair: Pair) -> bool:
    """Whether the number of an ENUM's member is owed, and its label came."""
    label = _find_label(pair)
    is_label = label is not None and pair.text_that_came == label
    return is_label and pair.expected_text == str(pair.cell.value)


def _is_label_with_backslashes(pair: Pair) -> bool:
    """Whether the label of an ENUM's member came with a backslash before each comma in it."""
    label = _find_label(pair)
    return label is not None and "," in label and pair.text_that_came == label.replace(",", "\\,")


_READINGS_OF_LABELS: Final[Mapping[str, Callable[[Pair], bool]]] = {
    "the number of its label": _is_number_of_label,
    "the label of its number": _is_label_of_number,
    "its label has a backslash before each comma": _is_label_with_backslashes,
}
"""What comes in the place of an ENUM's label or number, by the words for it."""


def _gather_texts(values: WrongValues) -> list[_Texts]:
    """The owed texts with those that came for them; [] if any of the values is no text."""
    texts: list[_Texts] = []
    for pair in values.pairs:
        expected, came = pair.expected_text, pair.text_that_came
        if expected is None or came is None:
            return []
        texts.append(_Texts(expected, came))
    return texts


def _has_replaced_bytes(pair: Pair) -> bool:
    """Whether bytes came as if they were decoded as UTF-8, with U+FFFD for what is none, and
    encoded again.
    """
    expected = pair.cell.value
    came = pair.came.value if isinstance(pair.came, Typed) else None
    return isinstance(expected, bytes) and came == expected.decode("utf-8", "replace").encode()


def _has_question_marks(pair: Pair) -> bool:
    """Whether bytes came with a question mark in place of each byte outside of ASCII."""
    expected = pair.cell.value
    came = pair.came.value if isinstance(pair.came, Typed) else None
    return isinstance(expected, bytes) and came == bytes(
        byte if byte < 128 else ord("?") for byte in expected
    )


def _has_resolved_bytes(pair: Pair) -> bool:
    """Whether bytes came in which each `\\x` with two hexadecimal digits is replaced by the byte
    that it spells.
    """
    expected = pair.cell.value
    came = pair.came.value if isinstance(pair.came, Typed) else None
    return isinstance(expected, bytes) and came == re.sub(
        rb"\\x([0-9a-fA-F]{2})", lambda match: bytes.fromhex(match[1].decode()), expected
    )


def _lacks_highest_bits(pair: Pair) -> bool:
    """Whether bytes came in which the highest bit of each byte is 0 and the other seven are
    right.
    """
    expected = pair.cell.value
    came = pair.came.value if isinstance(pair.came, Typed) else None
    return isinstance(expected, bytes) and came == bytes(byte & 127 for byte in expected)


def _find_changed_parts(documents: list[_Texts]) -> Relation | None:
    """The relation that says how one sort of parts is changed in all of these JSON documents; None
    if several are, or in other ways.
    """
    changes = set[str]()
    for expected, came in documents:
        changed_parts = describe_changed_parts(expected, came)
        if changed_parts is None:
            return None
        changes |= changed_parts
    return Relation(RelationKind.CHANGED_PARTS, name=changes.pop()) if len(changes) == 1 else None


def _find_letters(texts: list[_Texts]) -> Relation | None:
    """The relation that all of these texts come in small letters, or all in capital ones; None if
    neither.
    """
    if all(came == expected.lower() for expected, came in texts):
        return Relation(RelationKind.LETTERS, name="small")
    if all(came == expected.upper() for expected, came in texts):
        return Relation(RelationKind.LETTERS, name="capital")
    return None


def name_letters(values_that_came: Iterable[object]) -> str:
    """The word small if no text in these values has a capital letter, else capital if none has a
    small one; "" if they have both, or if there is no text in them. Texts without letters are both.
    """
    words = list(itertools.chain.from_iterable(map(_texts_within, values_that_came)))
    if not words:
        return ""
    if all(word == word.lower() for word in words):
        return "small"
    return "capital" if all(word == word.upper() for word in words) else ""


def _texts_within(came: object) -> Iterator[str]:
    """The texts in what came: itself, what a typed value has, the items of a list, the values of a
    mapping.
    """
    if isinstance(came, str):
        yield came
    elif isinstance(came, Typed):
        yield from _texts_within(came.value)
    elif isinstance(came, Mapping):
        yield from itertools.chain.from_iterable(map(_texts_within, came.values()))
    elif isinstance(came, list | tuple):
        yield from itertools.chain.from_iterable(map(_texts_within, came))


def _lacks_leading_zeros(texts: _Texts) -> bool:
    """Whether a text came without the zeros at its beginning."""
    return texts.expected != texts.came and texts.expected.lstrip("0") == texts.came


def _find_replaced_characters(texts: list[_Texts]) -> Relation | None:
    """The relation that all characters of one sort have the same other character in their place in
    these texts; None if they do not.
    """
    replaced, stand_ins = "", set[str]()
    for expected, came in texts:
        if len(expected) != len(came):
            return None
        for character, stand_in in zip(expected, came, strict=True):
            if character != stand_in:
                replaced += character
                stand_ins.add(stand_in)
    if len(stand_ins) != 1:
        return None
    for sort, pattern in CHARACTER_SORTS:
        if re.fullmatch(pattern, replaced):
            return Relation(
                RelationKind.REPLACED_BY, name=sort, before=_name_stand_in(stand_ins.pop())
            )
    return None


def _find_replacement(relation: Relation, texts: list[_Texts]) -> Relation | None:
    """The relation that says what stands in the place of replaced characters, if it is the
    same in all of these texts; None if it is not, or if it cannot be printed. The characters are
    those of the sort that `relation` names, a key of CHARACTER_SORTS. Texts that are all escaped
    for HTML have a relation of their own.
    """
    if all(
        came in (html.escape(expected), html.escape(expected, quote=False))
        for expected, came in texts
    ):
        return Relation(RelationKind.ESCAPED, name="HTML")
    pattern = dict(CHARACTER_SORTS).get(relation.name)
    stand_ins = set[str]()
    for expected, came in texts:
        stand_ins_of_text = None if pattern is None else _find_stand_ins(expected, came, pattern)
        if stand_ins_of_text is None:
            return None
        stand_ins.update(stand_ins_of_text)
    # Of several characters each may have the same one in its place.
    shortened = {stand_in[:1] if len(set(stand_in)) == 1 else stand_in for stand_in in stand_ins}
    name = _name_stand_in(shortened.pop()) if len(shortened) == 1 else ""
    return Relation(RelationKind.REPLACED_BY, name=relation.name, before=name) if name else None


def _find_stand_ins(expected: str, came: str, pattern: str) -> list[str] | None:
    """For each run of characters of the expected text that matches a pattern, what came in its
    place. None if the text has no such run, or if the other characters did not all come, in the
    same order.
    """
    first, *further_parts = re.split(pattern, expected)
    if not further_parts or not came.startswith(first):
        return None
    stand_ins: list[str] = []
    position = len(first)
    for part in further_parts[:-1]:
        start = came.find(part, position)
        if start < 0:
            return None
        stand_ins.append(came[position:start])
        position = start + len(part)
    end = len(came) - len(further_parts[-1])
    if end < position or not came.endswith(further_parts[-1]):
        return None
    return [*stand_ins, came[position:end]]


def _name_stand_in(stand_in: str) -> str:
    """The name of what stands in the place of characters; "" for what cannot be printed."""
    return _SIGN_NAMES.get(stand_in) or (f"`{stand_in}`" if stand_in.isprintable() else "")
