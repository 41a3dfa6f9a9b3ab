"""Parts of a Kafka Connect message that the evidence looks at: payload, source, schemas of columns,
record key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.inspecting.evidence import json_objects
from conformance.inspecting.opening import OpenedRecord, is_enveloped
from generators.model import SIDES

ADDED: Final = (
    "__deleted",
    "__op",
    "__table",
    "__lsn",
    "__source_ts_ms",
    "__db",
    "__schema",
    "__ts_ms",
)
"""Columns that Debezium's transform ExtractNewRecordState can add to a row as it takes it out of
the envelope.
"""


def member_object(value: Any) -> Mapping[str, Any]:
    """The value if it is a JSON object, else {}."""
    return value if isinstance(value, dict) else {}


def source(opened: OpenedRecord) -> Mapping[str, Any]:
    """The member `source` of Debezium's envelope, which says where the change was made; {} without
    one.
    """
    return member_object(opened.payload.get("source"))


def schema(opened: OpenedRecord) -> Mapping[str, Any]:
    """The Kafka Connect schema of the message's value; {} for a message without schema."""
    return member_object(opened.members.get("schema")) if opened.has_schema else {}


def field(struct: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of one field of a Kafka Connect struct, by the struct's schema and the field's
    name; {} if it has no such field.
    """
    return next(
        (entry for entry in json_objects(struct.get("fields")) if entry.get("field") == name), {}
    )


def is_row(opened: OpenedRecord) -> bool:
    """Whether the message is a row change in Debezium's envelope: it has `op`, `source`, and an
    image.
    """
    return (
        "op" in opened.payload
        and "source" in opened.payload
        and ("before" in opened.payload or "after" in opened.payload)
    )


def key_names(opened: OpenedRecord) -> tuple[str, ...]:
    """The names of the fields of the record's key, in their order: the columns of the table's key.
    The key may have Kafka Connect's schema around it. () if it is no JSON object.
    """
    document = opened.key_document
    inner = (
        document["payload"] if isinstance(document, dict) and is_enveloped(document) else document
    )
    return tuple(inner) if isinstance(inner, dict) else ()


def is_flat(opened: OpenedRecord) -> bool:
    """Whether the message is a row without envelope, as ExtractNewRecordState writes it: it has no
    `source`, and at least two of the columns in `ADDED`.
    """
    return "source" not in opened.payload and sum(name in opened.payload for name in ADDED) >= 2


@lru_cache(maxsize=1)
def columns(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The Kafka Connect schemas of a row's columns, in the envelope or without it; [] if the
    message has no schema.
    """
    envelope_schema = schema(opened)
    if is_flat(opened):
        return [
            column
            for column in json_objects(envelope_schema.get("fields"))
            if column.get("field") not in ADDED
        ]
    return json_objects(field(envelope_schema, "after").get("fields")) or json_objects(
        field(envelope_schema, "before").get("fields")
    )


def images(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The row images of a message that are not null: `before` and `after` of an envelope, or the
    one row of a message without envelope.
    """
    if is_flat(opened):
        return [opened.payload]
    return [member_object(opened.payload.get(side)) for side in SIDES if opened.payload.get(side)]


def connector(opened: OpenedRecord) -> Any:
    """The connector that the member `source` names, such as `mysql`; None if it names none."""
    return source(opened).get("connector")


def column_type(column: Mapping[str, Any]) -> str:
    """The type of a column in words, from its Kafka Connect schema: name of the type, precision,
    scale or length in parentheses, as far as the schema has them, and the type at the source if the
    schema names it.
    """
    parameters = member_object(column.get("parameters"))
    source_type = parameters.get("__debezium.source.column.type")
    sizes = [
        str(parameters[size])
        for size in ("connect.decimal.precision", "scale", "length")
        if size in parameters
    ]
    name = str(column.get("name") or column.get("type")).rpartition(".")[2]
    parameters_text = f"({','.join(sizes)})" if sizes else ""
    origin = f" of {source_type}" if source_type else ""
    return f"{name}{parameters_text}{origin}"


def kind_of(value: Any) -> str:
    """The kind of a JSON value: null, boolean, number, text, array or object. It is shown as a
    column's type where the message has no schema.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "array"
    return "object"
