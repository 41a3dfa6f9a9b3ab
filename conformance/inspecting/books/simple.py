"""Facts of TiCDC's Simple protocol in JSON and in Avro."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.inspecting.books.ticdc import unquoted
from conformance.inspecting.evidence import TableDescription, json_objects, names
from conformance.inspecting.opening import OpenedRecord

_NAMESPACE: Final = "com.pingcap.simple.avro."
"""The package in the names of the Simple protocol's Avro records."""


def _plain(value: Any) -> Any:
    """A value that fastavro has read, without the names of the Avro records that it puts beside the
    values of unions, as pairs of a name and a value. A pair is such a one if its name is of the
    protocol's package or its value is a record.
    """
    match value:
        case (str() as name, inner) if name.startswith(_NAMESPACE) or isinstance(inner, dict):
            return _plain(inner)
        case dict():
            return {name: _plain(member) for name, member in value.items()}
        case list():
            return [_plain(item) for item in value]
    return value


@lru_cache(maxsize=1)
def content(opened: OpenedRecord) -> Mapping[str, Any]:
    """The members of a TiCDC Simple message, whether it is in JSON or in Avro; of Avro the members
    of the record in `payload` that are not null.
    """
    if opened.container == "json":
        return opened.members
    datum = _plain(opened.document)
    payload = datum.get("payload") if isinstance(datum, dict) else None
    return (
        {name: value for name, value in payload.items() if value is not None}
        if isinstance(payload, dict)
        else {}
    )


def statement(opened: OpenedRecord) -> str:
    """The SQL text of a DDL message, with every quoted text in it emptied."""
    return unquoted(content(opened).get("sql"))


def _schemas(opened: OpenedRecord) -> Iterator[Mapping[str, Any]]:
    """The table schemas in a TiCDC Simple message: the one after the change and, in a DDL, the one
    before the statement.
    """
    for name in ("tableSchema", "preTableSchema"):
        schema = content(opened).get(name)
        if isinstance(schema, dict):
            yield schema


def locations(opened: OpenedRecord) -> set[Any]:
    """The time zones that the TIMESTAMP values of a row name in their member `location`."""
    images = [content(opened).get(side) for side in ("data", "old")]
    cells: list[Any] = []
    for image in images:
        cells += image.values() if isinstance(image, dict) else ()
    return {cell["location"] for cell in cells if isinstance(cell, dict) and "location" in cell}


_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(u0008|u000c|b|f)")
"""An escape of a backspace or a form feed whose backslash is not escaped itself."""


def escapes(opened: OpenedRecord) -> list[str]:
    """How the message's text escapes backspaces and form feeds: `b` and `f`, or `u0008` and
    `u000c`.
    """
    return _ESCAPE.findall(opened.text) if "\\" in opened.text else []


def stamps(opened: OpenedRecord) -> set[bool]:
    """Whether the TIMESTAMP columns in a message's table schemas have a number of fraction digits
    (`decimal`): {True}, {False}, or both if some have it; empty without such columns.
    """
    columns: list[Mapping[str, Any]] = []
    for schema in _schemas(opened):
        columns += json_objects(schema.get("columns"))
    kinds = [column["dataType"] for column in columns if isinstance(column.get("dataType"), dict)]
    return {
        kind.get("decimal") is not None for kind in kinds if kind.get("mysqlType") == "timestamp"
    }


def described(opened: OpenedRecord) -> TableDescription | None:
    """The table that a message is of: by its table schema (with columns, types and primary key),
    or, for a row without one, by name alone. None for other messages.
    """
    schema = content(opened).get("tableSchema")
    if not isinstance(schema, dict):
        members = content(opened)
        is_row = members.get("type") in ("INSERT", "UPDATE", "DELETE")
        return (
            TableDescription(str(members.get("database")), str(members.get("table")), {})
            if is_row
            else None
        )
    types = {
        str(column.get("name")): _type(column.get("dataType"))
        for column in json_objects(schema.get("columns"))
    }
    primary = next(
        (
            names(index.get("columns"))
            for index in json_objects(schema.get("indexes"))
            if index.get("primary")
        ),
        (),
    )
    return TableDescription(
        str(schema.get("schema", schema.get("database"))), str(schema.get("table")), types, primary
    )


def _type(kind: Any) -> str:
    """The SQL spelling of a `dataType` object of a TiCDC Simple schema, such as `decimal(8,2)
    unsigned`; "?" if it is no object.
    """
    if not isinstance(kind, dict):
        return "?"
    sizes = [str(kind[name]) for name in ("length", "decimal") if kind.get(name)]
    suffix = "".join(f" {name}" for name in ("unsigned", "zerofill") if kind.get(name))
    return f"{kind.get('mysqlType')}{'(' + ','.join(sizes) + ')' if sizes else ''}{suffix}"
