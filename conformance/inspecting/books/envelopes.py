"""Facts of the formats that follow Debezium's: CloudCanal's Debezium Envelope, Huawei CDL's two."""

from __future__ import annotations

from collections.abc import Mapping
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
from conformance.inspecting.evidence import Described, names, rows
from conformance.inspecting.opening import Seen

# CloudCanal's Debezium Envelope


def is_sorted(seen: Seen) -> bool:
    """Whether the members are in alphabetical order."""
    return list(seen.payload) == sorted(seen.payload)


def own_schema(seen: Seen) -> bool | None:
    """Whether the schema is CloudCanal's own and not Connect's; None without one."""
    return "optional" not in schema(seen) if seen.has_schema else None


def has_typed_cell(seen: Seen) -> bool:
    """Whether a value is no text."""
    return any(
        cell is not None and not isinstance(cell, str)
        for image in images(seen)
        for cell in image.values()
    )


def described_by_cloudcanal(seen: Seen) -> Described | None:
    """The table of a row."""
    if not is_row(seen):
        return None
    image = member_object(seen.payload.get("after") or seen.payload.get("before"))
    types = {str(column.get("field")): str(column.get("type")) for column in columns(seen)}
    keys = tuple(str(column.get("field")) for column in columns(seen) if column.get("isPK"))
    types = types or {name: kind_of(value) for name, value in image.items()}
    return Described(str(source(seen).get("db")), str(source(seen).get("table")), types, keys)


# Huawei CDL

_VENDOR: Final = ("Decimal", "timestamp")


def packages(seen: Seen) -> set[str]:
    """The packages of the vendor's own logical types."""
    names = [str(column.get("name", "")) for column in _cdl_columns(seen)]
    return {
        name.removesuffix(f".cdc.data.{kind}")
        for name in names
        for kind in _VENDOR
        if name.endswith(f".cdc.data.{kind}")
    }


def _cdl_columns(seen: Seen) -> list[Mapping[str, Any]]:
    lists = (field(schema(seen), side).get("fields") for side in ("data", "after", "before"))
    return next((rows(fields) for fields in lists if fields), [])


def store(seen: Seen) -> str:
    """The database that the message names."""
    return str(seen.payload.get("DATA_STORE", connector(seen))).lower()


def beyond_key(seen: Seen) -> bool:
    """Whether the before image has a value beside the key."""
    key = member_object(seen.payload.get("unique"))
    return any(
        value is not None and name not in key
        for name, value in member_object(seen.payload.get("before")).items()
    )


def properties(seen: Seen) -> list[Any]:
    """The names of the properties of the transaction, in their order."""
    return [
        entry.get("name")
        for entry in rows(member_object(seen.payload.get("transaction")).get("properties"))
    ]


def described_by_cdl(seen: Seen) -> Described | None:
    """The table of a row."""
    types = {str(column.get("field")): column_type(column) for column in _cdl_columns(seen)}
    origin, payload = source(seen), seen.payload
    database = ".".join(
        str(name)
        for name in (origin.get("db"), origin.get("schema", payload.get("SEG_OWNER")))
        if name
    )
    keys = names(
        [column.get("field") for column in rows(field(schema(seen), "unique").get("fields"))]
    )
    return Described(database, str(origin.get("table", payload.get("TABLE_NAME"))), types, keys)
