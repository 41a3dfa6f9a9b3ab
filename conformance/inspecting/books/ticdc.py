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
"""A text in single quotes in an SQL statement."""
_DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
"""The name of a decimal's schema in Connect."""


def unquoted(sql: object) -> str:
    """An SQL statement with all of its quoted texts emptied, since these could hold the words that
    a sign looks for; "" for anything but a text.
    """
    return _QUOTED.sub("''", sql) if isinstance(sql, str) else ""


def statement(opened: OpenedRecord) -> str:
    """The SQL text of a DDL message of TiCDC's Debezium or Open Protocol, with every quoted text in
    it emptied.
    """
    payload = opened.payload
    return unquoted(payload.get("ddl") or member_object(payload.get("value")).get("q"))


def describe_by_debezium(opened: OpenedRecord) -> TableDescription | None:
    """The table that a row change of TiCDC's Debezium protocol is of (database, name, columns with
    types, key columns); None for other messages.
    """
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
    """Whether the record has a key, and the key has no bytes."""
    return opened.record.key == b""


def describes_commit(opened: OpenedRecord) -> bool:
    """Whether the message's Kafka Connect schema declares a field `commit_ts` in the member
    `source`.
    """
    return bool(field(field(schema(opened), "source"), "commit_ts"))


def typed(opened: OpenedRecord) -> set[bool]:
    """Whether columns of the Connect schema name their TiDB type (`tidb_type`): {True}, {False}, or
    both if some do; empty without columns.
    """
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
"""MySQL's types by their numbers in the Open Protocol."""


def _head(opened: OpenedRecord) -> Mapping[str, Any]:
    """The key of the first event in an Open Protocol record, which says table, type and commit
    time; {} if it is no object.
    """
    return member_object(opened.members.get("key"))


def event(opened: OpenedRecord) -> Mapping[str, Any]:
    """The members of the first event in an Open Protocol record: those of its key, then those of
    its value, but for the value's `t`, which would hide the key's.
    """
    value = member_object(opened.members.get("value"))
    return {**_head(opened), **{name: member for name, member in value.items() if name != "t"}}


def is_framed(opened: OpenedRecord) -> bool:
    """Whether the record is one of TiCDC's Open Protocol: its events were read from their
    frames.
    """
    return opened.members.keys() == {"key", "value", "events"}


def several_events(opened: OpenedRecord) -> bool:
    """Whether a record of the Open Protocol has more than one event."""
    return bool(opened.members["events"] > 1)


def _cells(opened: OpenedRecord, *names: str) -> Mapping[str, Any]:
    """The columns of an image in the first event of an Open Protocol record: of the first of
    `names` (`u` new row, `p` old row, `d` deleted row) that the event's value has; else {}.
    """
    value = member_object(opened.members.get("value"))
    return next((member_object(value[name]) for name in names if name in value), {})


def partial(opened: OpenedRecord) -> bool:
    """Whether the old row (`p`) of an Open Protocol UPDATE lacks columns that the new one (`u`)
    has; False without an old row.
    """
    value = member_object(opened.members.get("value"))
    return "p" in value and _cells(opened, "p").keys() < _cells(opened, "u").keys()


def same(opened: OpenedRecord) -> bool:
    """Whether the old row (`p`) of an Open Protocol UPDATE has any column with the same value as
    the new row (`u`), so that it is not limited to changed columns.
    """
    new = _cells(opened, "u")
    return any(new.get(name) == value for name, value in _cells(opened, "p").items())


def unsorted(opened: OpenedRecord) -> bool:
    """Whether the columns of an Open Protocol row are not sorted by the bytes of their names."""
    names = [name.encode() for name in _cells(opened, "d", "u")]
    return names != sorted(names)


def are_key_columns(opened: OpenedRecord) -> set[bool]:
    """Whether the columns of a deleted row in the Open Protocol are of the key, by their member `h`
    (handle): True if one is, False if one is not; both may be in the set.
    """
    return {bool(cell.get("h")) for cell in _cells(opened, "d").values()}


def describe_by_open_protocol(opened: OpenedRecord) -> TableDescription | None:
    """The table that the first event of an Open Protocol record is of, with types by their codes
    and the key's columns; None for an event without a row. Of a column `t` is the type's code, `h`
    says that it is of the key.
    """
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
    """The Avro types of a message's columns, by the columns' names. Columns whose schema names no
    TiDB type are left out.
    """
    types = {}
    for avro_field in member_object(opened.members.get("schema")).get("fields", ()):
        kinds = avro_field["type"] if isinstance(avro_field["type"], list) else [avro_field["type"]]
        kind = next((branch for branch in kinds if isinstance(branch, dict)), {})
        if "tidb_type" in member_object(kind.get("connect.parameters")):
            types[avro_field["name"]] = kind
    return types


def _written_as(opened: OpenedRecord, tidb_type: str) -> set[str]:
    """The Avro types in which a message writes the columns of this TiDB type."""
    return {
        kind["type"]
        for kind in fields(opened).values()
        if kind["connect.parameters"]["tidb_type"] == tidb_type
    }


def decimals(opened: OpenedRecord) -> set[str]:
    """The Avro types in which a message writes DECIMAL columns."""
    return _written_as(opened, "DECIMAL")


def unsigned_bigints(opened: OpenedRecord) -> set[str]:
    """The Avro types in which a message writes BIGINT UNSIGNED columns."""
    return _written_as(opened, "BIGINT UNSIGNED")


def has_no_key(opened: OpenedRecord) -> bool:
    """Whether the record has no key."""
    return opened.record.key is None


def is_padded(opened: OpenedRecord) -> bool:
    """Whether the bytes of a BIT value in an Avro row begin with a zero byte that its number does
    not need.
    """
    names = (
        name
        for name, kind in fields(opened).items()
        if kind["connect.parameters"]["tidb_type"] == "BIT"
    )
    return any(
        len(opened.payload[name] or b"") > 1 and not opened.payload[name][0] for name in names
    )


def describe_by_avro(opened: OpenedRecord) -> TableDescription:
    """The table that an Avro row is of: database and table from the name of its schema, columns
    with their TiDB types.
    """
    *_, database, table = str(opened.members["schema"]["name"]).split(".")
    types = {
        name: kind["connect.parameters"]["tidb_type"].lower()
        for name, kind in fields(opened).items()
    }
    return TableDescription(database, table, types)


# The Debezium protocol in Avro


def row_columns(opened: OpenedRecord) -> Mapping[str, Mapping[str, Any]]:
    """The columns of a row of TiCDC's Debezium protocol in Avro, by their own names: what the
    record of `before` in the message's schema says of each, `type` being Avro's type of a value
    that is not NULL. {} for other messages.
    """
    members = member_object(opened.members.get("schema")).get("fields", ())
    branches = next((member["type"] for member in members if member["name"] == "before"), ())
    record = next((branch for branch in branches if isinstance(branch, dict)), {})
    columns: dict[str, Mapping[str, Any]] = {}
    for column in record.get("fields", ()):
        value_type = next(branch for branch in column["type"] if branch != "null")
        columns[str(column.get("connect.field"))] = {**column, "type": value_type}
    return columns


def avro_typed(opened: OpenedRecord) -> set[bool]:
    """Whether columns of an Avro row name their TiDB type (`tidb_type`): {True}, {False}, or both
    if some do; empty without columns.
    """
    return {"tidb_type" in column for column in row_columns(opened).values()}


def _base_types(opened: OpenedRecord, tidb_type: str) -> set[str]:
    """The Avro types, without logical types, in which the message writes the columns of this TiDB
    type; empty for a message that names no TiDB types.
    """
    kinds = (c["type"] for c in row_columns(opened).values() if c.get("tidb_type") == tidb_type)
    return {str(kind["type"]) if isinstance(kind, dict) else str(kind) for kind in kinds}


def avro_decimals(opened: OpenedRecord) -> set[str]:
    """The Avro types of an Avro row's columns that are DECIMAL as far as the schema tells: those
    whose schema is named as Connect's Decimal, and those whose TiDB type is named.
    """
    logical_decimals = {
        "bytes"
        for column in row_columns(opened).values()
        if member_object(column["type"]).get("connect.name") == _DECIMAL
    }
    return logical_decimals | _base_types(opened, "decimal")


def avro_unsigned(opened: OpenedRecord) -> set[str]:
    """The Avro types of an Avro row's columns whose TiDB type is named as BIGINT UNSIGNED."""
    return _base_types(opened, "bigint unsigned")


def describe_by_debezium_avro(opened: OpenedRecord) -> TableDescription | None:
    """The table that a row of TiCDC's Debezium protocol in Avro is of, with the columns' TiDB types
    or, where the schema names none, their types in Connect or Avro; None for other messages.
    """
    if not is_row(opened):
        return None
    types = {}
    for name, column in row_columns(opened).items():
        kind = member_object(column["type"])
        type_name = column.get("tidb_type") or kind.get("connect.name") or kind.get("type")
        types[name] = str(type_name or column["type"])
    return TableDescription(str(source(opened).get("db")), str(source(opened).get("table")), types)
