"""Facts of the formats of one JSON object for each row: Maxwell's and Oracle GoldenGate's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.inspecting.books.connect import kind_of, member_object
from conformance.inspecting.evidence import TableDescription, names
from conformance.inspecting.opening import OpenedRecord
from generators.model import SIDES


def values(opened: OpenedRecord) -> list[Any]:
    """All values of the rows in `data` and `old` of a Maxwell message."""
    cells: list[Any] = []
    for side in ("data", "old"):
        cells += member_object(opened.members.get(side)).values()
    return cells


def describe_by_maxwell(opened: OpenedRecord) -> TableDescription | None:
    """The table that a Maxwell message is of, with the kinds of JSON values in place of types; None
    for a message without a row.
    """
    types = {
        name: kind_of(value) for name, value in member_object(opened.members.get("data")).items()
    }
    keys = names(opened.members.get("primary_key_columns"))
    return (
        TableDescription(
            str(opened.members.get("database")), str(opened.members.get("table")), types, keys
        )
        if types
        else None
    )


def _cells(opened: OpenedRecord) -> Iterator[tuple[str, Any]]:
    """The name and value of each column in the before and the after image of a GoldenGate
    message.
    """
    for side in SIDES:
        yield from member_object(opened.members.get(side)).items()


def kinds(opened: OpenedRecord) -> set[str]:
    """The kinds of JSON values (text, number ...) that the rows of a GoldenGate message have."""
    return {kind_of(value) for _, value in _cells(opened)}


def describe_by_goldengate(opened: OpenedRecord) -> TableDescription | None:
    """The table that a GoldenGate message is of, with the kinds of JSON values in place of types;
    None for a message without a row.
    """
    database, _, table = str(opened.members.get("table")).partition(".")
    types = {name: kind_of(value) for name, value in _cells(opened)}
    return (
        TableDescription(database, table, types, names(opened.members.get("primary_keys")))
        if types
        else None
    )
