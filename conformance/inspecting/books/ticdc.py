"""Facts of TiCDC's protocols beside Canal-JSON and Simple."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import (
    column_type,
    columns,
    field,
    images,
    is_row,
    key_names,
    kind_of,
    member_object,
    schema,
    source,
)
from conformance.inspecting.evidence import TableDescription
from conformance.inspecting.opening import OpenedRecord

_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")


def unquoted(sql: object) -> str:
    """A statement with empty literals."""
    return _QUOTED.sub("''", sql) if isinstance(sql, str) else ""


def statement(opened: OpenedRecord) -> str:
    """The statement of a DDL without what it quotes."""
    payload = opened.payload
    return unquoted(payload.get("ddl") or member_object(payload.get("value")).get("q"))


def described_by_debezium(opened: OpenedRecord) -> TableDescription | None:
    """The table of a row."""
    if not is_row(opened):
        return None
    types = {
        str(column["field"]): column_type(column) for column in columns(opened) if "field" in column
    }
    if not types:
        for image in images(opened):
            types |= {name: kind_of(value) for name, value in image.items()}
    return TableDescription(
        str(source(opened).get("db")), str(source(opened).get("table")), types, key_names(opened)
    )


def key_is_empty(opened: OpenedRecord) -> bool:
    """Whether the record has a key without bytes."""
    return opened.record.key == b""


def describes_commit(opened: OpenedRecord) -> bool:
    """Whether the schema of the block source has a field commit_ts."""
    return bool(field(field(schema(opened), "source"), "commit_ts"))


def typed(opened: OpenedRecord) -> set[bool]:
    """Whether columns name their type."""
    return {"tidb_type" in column for column in columns(opened)}


# The Open Protocol

_CODES: Final = {
    1: "tinyint",
    2: "smallint",
    3: "int",
    4: "float",
    5: "double",
    7: "timestamp",
    8: "bigint",
    9: "mediumint",
    10: "date",
    11: "time",
    12: "datetime",
    13: "year",
    15: "varchar",
    16: "bit",
    225: "vector",
    245: "json",
    246: "decimal",
    247: "enum",
    248: "set",
    249: "tinyblob",
    250: "mediumblob",
    251: "longblob",
    252: "blob",
    254: "char",
}


def _head(opened: OpenedRecord) -> Mapping[str, Any]:
    return member_object(opened.members.get("key"))


def event(opened: OpenedRecord) -> Mapping[str, Any]:
    """The members of the first event's key, then those of its value."""
    value = member_object(opened.members.get("value"))
    return {**_head(opened), **{name: member for name, member in value.items() if name != "t"}}


def is_framed(opened: OpenedRecord) -> bool:
    """Whether the record is one of the Open Protocol."""
    return opened.members.keys() == {"key", "value", "events"}


def several_events(opened: OpenedRecord) -> bool:
    """Whether the record has more than one event."""
    return bool(opened.members["events"] > 1)


def _cells(opened: OpenedRecord, *names: str) -> Mapping[str, Any]:
    """The columns of the first image of those that the value has."""
    value = member_object(opened.members.get("value"))
    return next((member_object(value[name]) for name in names if name in value), {})


def partial(opened: OpenedRecord) -> bool:
    """Whether the old values lack a column."""
    value = member_object(opened.members.get("value"))
    return "p" in value and _cells(opened, "p").keys() < _cells(opened, "u").keys()


def same(opened: OpenedRecord) -> bool:
    """Whether the old values repeat a new one."""
    new = _cells(opened, "u")
    return any(new.get(name) == value for name, value in _cells(opened, "p").items())


def unsorted(opened: OpenedRecord) -> bool:
    """Whether the columns are not in the order of their names' bytes."""
    names = [name.encode() for name in _cells(opened, "d", "u")]
    return names != sorted(names)


def handles(opened: OpenedRecord) -> set[bool]:
    """Whether columns of a deleted row are of its key."""
    return {bool(cell.get("h")) for cell in _cells(opened, "d").values()}


def described_by_open_protocol(opened: OpenedRecord) -> TableDescription | None:
    """The table of a row."""
    cells = _cells(opened, "u", "d")
    if not cells:
        return None
    keys = tuple(name for name, cell in cells.items() if cell.get("h"))
    types = {name: _CODES.get(cell.get("t"), str(cell.get("t"))) for name, cell in cells.items()}
    return TableDescription(
        str(_head(opened).get("scm")), str(_head(opened).get("tbl")), types, keys
    )


# Avro of a schema registry


def fields(opened: OpenedRecord) -> Mapping[str, Mapping[str, Any]]:
    """The type of each field of the value that has a TiDB type."""
    types = {}
    for avro_field in member_object(opened.members.get("schema")).get("fields", ()):
        kinds = avro_field["type"] if isinstance(avro_field["type"], list) else [avro_field["type"]]
        kind = next((branch for branch in kinds if isinstance(branch, dict)), {})
        if "tidb_type" in member_object(kind.get("connect.parameters")):
            types[avro_field["name"]] = kind
    return types


def _written_as(opened: OpenedRecord, tidb_type: str) -> set[str]:
    """The types of Avro that the columns of a TiDB type have."""
    return {
        kind["type"]
        for kind in fields(opened).values()
        if kind["connect.parameters"]["tidb_type"] == tidb_type
    }


def decimals(opened: OpenedRecord) -> set[str]:
    """The types of DECIMAL columns."""
    return _written_as(opened, "DECIMAL")


def unsigned_bigints(opened: OpenedRecord) -> set[str]:
    """The types of BIGINT UNSIGNED columns."""
    return _written_as(opened, "BIGINT UNSIGNED")


def has_no_key(opened: OpenedRecord) -> bool:
    """Whether the record has no key."""
    return opened.record.key is None


def is_padded(opened: OpenedRecord) -> bool:
    """Whether a BIT has more bytes than its number needs."""
    names = (
        name
        for name, kind in fields(opened).items()
        if kind["connect.parameters"]["tidb_type"] == "BIT"
    )
    return any(
        len(opened.payload[name] or b"") > 1 and not opened.payload[name][0] for name in names
    )


def described_by_avro(opened: OpenedRecord) -> TableDescription:
    """The table of a row."""
    *_, database, table = str(opened.members["schema"]["name"]).split(".")
    types = {
        name: kind["connect.parameters"]["tidb_type"].lower()
        for name, kind in fields(opened).items()
    }
    return TableDescription(database, table, types)
