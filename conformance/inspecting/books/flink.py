"""Facts of what the sinks of Flink and SeaTunnel write of members of Canal, Debezium, Maxwell and
GoldenGate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.inspecting.books.connect import member_object
from conformance.inspecting.opening import OpenedRecord


def _images(opened: OpenedRecord) -> Iterator[Mapping[str, Any]]:
    """The row images in the members `data`, `old`, `before` and `after` of a message; of a member
    that is a list, each of its rows. {} stands for what is missing or no object.
    """
    for side in ("data", "old", "before", "after"):
        value = opened.members.get(side)
        for image in value if isinstance(value, list) else [value]:
            yield member_object(image)


def values(opened: OpenedRecord) -> list[Any]:
    """All values of the row images of a message."""
    cells: list[Any] = []
    for image in _images(opened):
        cells += image.values()
    return cells


def texts(opened: OpenedRecord) -> str:
    """All values that are texts in the row images of a message, one a line."""
    return "\n".join(value for value in values(opened) if isinstance(value, str))


def data_is_object(opened: OpenedRecord) -> bool:
    """Whether the member `data` is one row, and not a list of rows."""
    return isinstance(opened.members.get("data"), dict)


def key_is_message(opened: OpenedRecord) -> bool:
    """Whether the record's key is itself a JSON message of a row (members `data` and `type`), as
    SeaTunnel writes it.
    """
    key = opened.key_document
    return isinstance(key, dict) and key.keys() == {"data", "type"}
