"""Facts of the formats of one JSON object for each row: Maxwell's and Oracle GoldenGate's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.inspecting.books.connect import kind_of, member_object
from conformance.inspecting.evidence import Described, names
from conformance.inspecting.opening import Seen


def values(seen: Seen) -> list[Any]:
    """The values of both images of Maxwell's."""
    return [
        cell for side in ("data", "old") for cell in member_object(seen.members.get(side)).values()
    ]


def described_by_maxwell(seen: Seen) -> Described | None:
    """The table of a row."""
    types = {
        name: kind_of(value) for name, value in member_object(seen.members.get("data")).items()
    }
    keys = names(seen.members.get("primary_key_columns"))
    return (
        Described(str(seen.members.get("database")), str(seen.members.get("table")), types, keys)
        if types
        else None
    )


def _cells(seen: Seen) -> Iterator[tuple[str, Any]]:
    for side in ("before", "after"):
        yield from member_object(seen.members.get(side)).items()


def kinds(seen: Seen) -> set[str]:
    """The kinds of the values of both images of GoldenGate's."""
    return {kind_of(value) for _, value in _cells(seen)}


def described_by_goldengate(seen: Seen) -> Described | None:
    """The table of a row."""
    database, _, table = str(seen.members.get("table")).partition(".")
    types = {name: kind_of(value) for name, value in _cells(seen)}
    return (
        Described(database, table, types, names(seen.members.get("primary_keys")))
        if types
        else None
    )
