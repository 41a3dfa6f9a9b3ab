"""How a wrong JSON document is related to the right one: by the parts in which they differ."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from functools import partial
from typing import Any, Final

from conformance.judging.compare import same_json
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_texts import relate_texts


def relate_documents(expected: str, actual: str) -> Relation | None:
    """The relation of two JSON documents, given as texts: encoded, spelled otherwise, or the one
    relation that all of their different parts have. None if the parts have several.
    """
    expected_documents, actual_documents = _parse_document(expected), _parse_document(actual)
    if expected_documents and not actual_documents:
        return _find_encoded_document(expected_documents[0], actual)
    if not expected_documents or not actual_documents:
        return None
    (expected_document,), (actual_document,) = expected_documents, actual_documents
    if isinstance(actual_document, str) and _is_text_of(actual_document, expected_document):
        return Relation(RelationKind.ENCODED_TWICE)
    relations = set(_walk_differences(expected_document, actual_document))
    if not relations and expected != actual:
        return Relation(RelationKind.SPELLING)
    return relations.pop() if len(relations) == 1 else None


def find_relations_of_documents(expected: str, actual: str) -> frozenset[Relation]:
    """All relations that a JSON document may have to another one, both given as texts: that it is
    encoded twice, and, if all parts that differ have the same relation, that one. Empty if either
    is no JSON.
    """
    expected_documents, actual_documents = _parse_document(expected), _parse_document(actual)
    if not expected_documents or not actual_documents:
        return frozenset()
    (expected_document,), (actual_document,) = expected_documents, actual_documents
    differences = set(_walk_differences(expected_document, actual_document))
    relations = {difference for difference in differences if difference and len(differences) == 1}
    if isinstance(actual_document, str) and _is_text_of(actual_document, expected_document):
        relations.add(Relation(RelationKind.ENCODED_TWICE))
    return frozenset(relations)


def _find_encoded_document(document: Any, actual: str) -> Relation | None:
    """The relation ENCODED if a text is the hexadecimal digits or the base64 of the JSON document,
    however the document is spelled; None if it is neither.
    """
    for name, decode in (
        ("hexadecimal digits", bytes.fromhex),
        ("base64", partial(base64.b64decode, validate=True)),
    ):
        try:
            decoded = decode(actual).decode("utf-8")
        except ValueError:
            continue
        if _is_text_of(decoded, document):
            return Relation(RelationKind.ENCODED, name=name)
    return None


def _parse_document(json_text: str) -> list[Any]:
    """The JSON document that a text spells, alone in a list, since it may be null; [] if the text
    is no JSON.
    """
    try:
        return [json.loads(json_text, parse_float=Decimal)]
    except (ValueError, ArithmeticError, RecursionError):
        return []


def _is_text_of(json_text: str, document: Any) -> bool:
    """Whether a text is the JSON of a document; true is not 1."""
    return any(same_json(document, parsed) for parsed in _parse_document(json_text))


def _is_first_item(expected: Any, actual: Any) -> bool:
    """Whether a document is the first item of an array."""
    return isinstance(expected, list) and bool(expected) and same_json(expected[0], actual)


def _lost_its_nulls(expected: dict[str, Any] | list[Any], actual: Any) -> bool:
    """Whether an object or array came without its members that are null, and is right otherwise."""
    without_nulls = _without_nulls(expected)
    return len(without_nulls) < len(expected) and same_json(without_nulls, actual)


def _walk_differences(expected: Any, actual: Any) -> Iterator[Relation | None]:
    """Yields a relation for each two parts, at the same place of two documents, that differ. A
    WITHIN_DOCUMENT relation says what sort of part differs, such as "numbers".
    """
    if isinstance(expected, dict | list) and _lost_its_nulls(expected, actual):
        yield Relation(RelationKind.WITHIN_DOCUMENT, name="nulls")
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            yield Relation(RelationKind.WITHIN_DOCUMENT, name="names of members")
        for name in expected.keys() & actual.keys():
            yield from _walk_differences(expected[name], actual[name])
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for want, got in zip(expected, actual, strict=True):
            yield from _walk_differences(want, got)
    elif isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        relation = relate_texts(expected, actual)
        yield relation or Relation(RelationKind.WITHIN_DOCUMENT, name="texts")
    elif not same_json(expected, actual):
        yield Relation(RelationKind.WITHIN_DOCUMENT, name=_describe_part(expected))


def describe_changed_parts(expected: str, actual: str) -> frozenset[str] | None:
    """How parts of a JSON document are changed in another one, in words, such as "its numbers come
    as texts"; None if a part is changed in a way that has no words.
    """
    expected_documents, actual_documents = _parse_document(expected), _parse_document(actual)
    if not expected_documents:
        return None
    if not actual_documents:
        if expected_documents == [actual]:
            return frozenset({"its text comes without quotes"})
        unescaped = re.sub(r'\\(["\\/bfnrt])', _resolve_escape, expected)
        return frozenset({"its escapes are resolved once more"}) if unescaped == actual else None
    expected_document, actual_document = expected_documents[0], actual_documents[0]
    if _is_first_item(expected_document, actual_document):
        return frozenset({"its first item alone"})
    try:
        changes = frozenset(_walk_changes(expected_document, actual_document))
    except RecursionError:
        return None
    return None if None in changes else frozenset(filter(None, changes))


def _resolve_escape(match: re.Match[str]) -> str:
    """The character for which an escape of two characters stands in JSON."""
    return _ESCAPES.get(match[1], match[1])


_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""The character for which a letter stands in an escape of JSON, as `n` for a line feed."""


def _walk_changes(expected: Any, actual: Any) -> Iterator[str | None]:
    """Yields for each part of a JSON document that came otherwise, in words, how it is changed;
    None for a change that has no words.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for words, respell in _LETTERS_OF_NAMES.items():
            if expected.keys() != actual.keys() == set(map(respell, expected)):
                yield words
                expected = {respell(name): member for name, member in expected.items()}
        lost_names = expected.keys() - actual.keys()
        if actual.keys() - expected.keys() or any(
            expected[name] is not None for name in lost_names
        ):
            yield None
        elif lost_names:
            yield _NULLS_LOST
        for name in expected.keys() & actual.keys():
            yield from _walk_changes(expected[name], actual[name])
    elif isinstance(expected, list) and isinstance(actual, list):
        without_nulls = [member for member in expected if member is not None]
        if len(expected) != len(actual):
            yield _NULLS_LOST if len(without_nulls) == len(actual) else None
            expected = without_nulls if len(without_nulls) == len(actual) else []
        for want, got in zip(expected, actual, strict=False):
            yield from _walk_changes(want, got)
    elif not same_json(expected, actual):
        yield _describe_change(expected, actual)


_NULLS_LOST: Final = "its nulls are not there"
_LETTERS_OF_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "the names of its members come in capital letters": str.upper,
    "the names of its members come in small letters": str.lower,
}
"""How decoders change the names of members."""


def _describe_change(expected: Any, actual: Any) -> str | None:
    """How one part of a JSON document is changed, in words; called for a part that is no object and
    no array, or that came as another sort of value. None if there are no words for the change.
    """
    is_number = isinstance(expected, int | Decimal) and not isinstance(expected, bool)
    if expected in ([], {}) and isinstance(expected, list | dict) and actual is None:
        return "its empty objects and arrays come as null"
    if isinstance(expected, list | dict) and isinstance(actual, str):
        is_its_text = _is_text_of(actual, expected)
        return "its inner objects and arrays come as texts" if is_its_text else None
    if isinstance(expected, str) and actual == expected.strip():
        return "its texts come without white space at their ends"
    if isinstance(expected, str) and actual in (
        html.escape(expected),
        html.escape(expected, False),
    ):
        return "its texts come escaped as HTML"
    if isinstance(expected, bool):
        if isinstance(actual, int | Decimal) and not isinstance(actual, bool):
            return "its true and false come as 1 and 0" if actual == int(expected) else None
        is_text = isinstance(actual, str) and actual.lower() == str(expected).lower()
        return "its true and false come as texts" if is_text else None
    if is_number and isinstance(actual, str):
        return "its numbers come as texts"
    if is_number and isinstance(actual, int | Decimal) and not isinstance(actual, bool):
        if actual == int(expected):
            return "its numbers come without their fraction"
        is_rounded = _is_rounded(Decimal(expected), Decimal(actual))
        return "its numbers are rounded to fewer digits" if is_rounded else None
    return None


def _is_rounded(expected: Decimal, actual: Decimal) -> bool:
    """Whether the number that came is the expected one, rounded to fewer significant digits."""
    digits = len(expected.normalize().as_tuple().digits)
    return any(Context(prec=precision).plus(expected) == actual for precision in range(1, digits))


def _without_nulls(part: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
    """An object or array without its members that are null."""
    if isinstance(part, list):
        return [member for member in part if member is not None]
    return {name: member for name, member in part.items() if member is not None}


def _describe_part(part: Any) -> str:
    """The sort of value that a part of a JSON document is, such as "numbers" or "nulls"."""
    if isinstance(part, bool):
        return "true and false"
    if part is None:
        return "nulls"
    if isinstance(part, int | Decimal):
        return "numbers"
    return "texts" if isinstance(part, str) else "objects and arrays"
