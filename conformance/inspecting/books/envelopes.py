"""Facts of the formats that follow Debezium's: CloudCanal's Debezium Envelope, Huawei CDL's two."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from conformance.inspecting.books.connect import (
    column_type,
    columns,
    connector,
    field,
    images,
    is_row,
    kind_of,
    member_object,
    schema,
    source,
)
from conformance.inspecting.evidence import TableDescription, json_objects, names
from conformance.inspecting.opening import OpenedRecord

# CloudCanal's Debezium Envelope


def is_sorted(opened: OpenedRecord) -> bool:
    """Whether the members are in alphabetical order."""
    return list(opened.payload) == sorted(opened.payload)


def own_schema(opened: OpenedRecord) -> bool | None:
    """Whether the schema is CloudCanal's own and not Kafka Connect's, as it lacks the member
    `optional`; None for a message without schema.
    """
    return "optional" not in schema(opened) if opened.has_schema else None


def has_typed_cell(opened: OpenedRecord) -> bool:
    """Whether any value of a row is a JSON number, boolean, list or object, in place of a text or
    null.
    """
    cells = chain.from_iterable(image.values() for image in images(opened))
    return any(cell is not None and not isinstance(cell, str) for cell in cells)


def describe_by_cloudcanal(opened: OpenedRecord) -> TableDescription | None:
    """The table that a row change of CloudCanal's envelope is of; columns and keys come from the
    schema (`isPK`), types without one are kinds of JSON values. None for other messages.
    """
    if not is_row(opened):
        return None
    image = member_object(opened.payload.get("after") or opened.payload.get("before"))
    types = {str(column.get("field")): str(column.get("type")) for column in columns(opened)}
    keys = tuple(str(column.get("field")) for column in columns(opened) if column.get("isPK"))
    types = types or {name: kind_of(value) for name, value in image.items()}
    return TableDescription(
        str(source(opened).get("db")), str(source(opened).get("table")), types, keys
    )


# Huawei CDL

_VENDOR: Final = ("Decimal", "timestamp")
"""The last parts of the names of Huawei's own logical types."""


def packages(opened: OpenedRecord) -> set[str]:
    """The Java packages in the names of Huawei's own logical types for decimals and timestamps,
    which tell the product apart.
    """
    names = [str(column.get("name", "")) for column in _cdl_columns(opened)]
    found_packages: set[str] = set()
    for name in names:
        for kind in _VENDOR:
            suffix = f".cdc.data.{kind}"
            if name.endswith(suffix):
                found_packages.add(name.removesuffix(suffix))
    return found_packages


def _cdl_columns(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The columns that the Connect schema of a Huawei CDL message declares in `data`, `after` or
    `before`, the first of them that has any; else [].
    """
    lists = (field(schema(opened), side).get("fields") for side in ("data", "after", "before"))
    return next((json_objects(fields) for fields in lists if fields), [])


def store(opened: OpenedRecord) -> str:
    """The kind of database, in lower case, that a Huawei CDL message comes from, such as mysql."""
    return str(opened.payload.get("DATA_STORE", connector(opened))).lower()


def beyond_key(opened: OpenedRecord) -> bool:
    """Whether the before image of a Huawei CDL message has a value in a column that is not of the
    key (`unique`).
    """
    key = member_object(opened.payload.get("unique"))
    return any(
        value is not None and name not in key
        for name, value in member_object(opened.payload.get("before")).items()
    )


def properties(opened: OpenedRecord) -> list[Any]:
    """The names in `transaction.properties` of a Huawei CDL message, in their order: conditions of
    envelopes.toml tell by them which profile wrote it.
    """
    return [
        entry.get("name")
        for entry in json_objects(
            member_object(opened.payload.get("transaction")).get("properties")
        )
    ]


def describe_by_cdl(opened: OpenedRecord) -> TableDescription | None:
    """The table that a Huawei CDL message is of (database, name, columns with types, key columns),
    by its schema.
    """
    types = {str(column.get("field")): column_type(column) for column in _cdl_columns(opened)}
    origin, payload = source(opened), opened.payload
    database = ".".join(
        str(name)
        for name in (origin.get("db"), origin.get("schema", payload.get("SEG_OWNER")))
        if name
    )
    keys = names(
        [
            column.get("field")
            for column in json_objects(field(schema(opened), "unique").get("fields"))
        ]
    )
    return TableDescription(
        database, str(origin.get("table", payload.get("TABLE_NAME"))), types, keys
    )
