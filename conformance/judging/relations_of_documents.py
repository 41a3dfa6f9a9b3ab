"""How a wrong JSON document is related to the right one: by the parts in which they differ."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_texts import relate_texts


def relate_documents(expected: str, actual: str) -> Relation | None:
    """The relation of two JSON documents: that of all their different texts, or the one sort of
    parts in which they differ; None if there are several.
    """
    expected_documents, actual_documents = _parse_document(expected), _parse_document(actual)
    if expected_documents and not actual_documents:
        return _find_encoded_document(expected_documents[0], actual)
    if not expected_documents or not actual_documents:
        return None
    (expected_document,), (actual_document,) = expected_documents, actual_documents
    if isinstance(actual_document, str) and _parse_document(actual_document) == [expected_document]:
        return Relation(RelationKind.ENCODED_TWICE)
    relations = set(_walk_differences(expected_document, actual_document))
    if not relations and expected != actual:
        return Relation(RelationKind.SPELLING)
    return relations.pop() if len(relations) == 1 else None


def _find_encoded_document(document: Any, actual: str) -> Relation | None:
    """The encoding of a document, however it is spelled, that a text is; None if it is none."""
    for name, decode in (
        ("hexadecimal digits", bytes.fromhex),
        ("base64", partial(base64.b64decode, validate=True)),
    ):
        try:
            decoded = decode(actual).decode("utf-8")
        except ValueError:
            continue
        if _parse_document(decoded) == [document]:
            return Relation(RelationKind.ENCODED, name=name)
    return None


def _parse_document(json_text: str) -> list[Any]:
    """The document that the text is, alone in a list; [] if it is none."""
    try:
        return [json.loads(json_text, parse_float=Decimal)]
    except (ValueError, ArithmeticError, RecursionError):
        return []


def _walk_differences(expected: Any, actual: Any) -> Iterator[Relation | None]:
    """The relation of each two values of two documents that differ."""
    if isinstance(expected, dict | list) and _without_nulls(expected) == actual != expected:
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
    elif type(expected) is not type(actual) or expected != actual:
        yield Relation(RelationKind.WITHIN_DOCUMENT, name=_describe_part(expected))


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
