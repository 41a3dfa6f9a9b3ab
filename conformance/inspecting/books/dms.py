"""Facts of AWS DMS's JSON."""

from __future__ import annotations

from typing import Any

from conformance.inspecting.books.connect import kind_of, member_object
from conformance.inspecting.evidence import TableDescription
from conformance.inspecting.opening import OpenedRecord


def values(opened: OpenedRecord) -> list[Any]:
    """All values of the row in `data` and of the one in `before-image`."""
    cells: list[Any] = []
    for side in ("data", "before-image"):
        cells += member_object(opened.members.get(side)).values()
    return cells


def describe_by_dms(opened: OpenedRecord) -> TableDescription | None:
    """The table that an AWS DMS message is of: database, name, and columns with the kinds of their
    JSON values (text, number ...) as types; DMS names no key. None for a message without a row.
    """
    metadata = member_object(opened.members.get("metadata"))
    data = member_object(opened.members.get("data"))
    types = {name: kind_of(value) for name, value in data.items()}
    database, table = str(metadata.get("schema-name")), str(metadata.get("table-name"))
    return TableDescription(database, table, types) if types else None
