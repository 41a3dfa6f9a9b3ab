"""Rows as Debezium writes them: what all messages of a table share, and JSON, keys, headers and images of one row.

Source: debezium#envelope-members, debezium#key-update, debezium#record-key and the page connect of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from generators.families.connect import Schema, header_text, payload_text, schema_text, string
from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.values import DebeziumCell
from generators.formats.debezium_json import envelope
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import Cell, Column, Image, RowChange, State, Table, Value

Wires: TypeAlias = Mapping[str, DebeziumCell]


@dataclass(frozen=True, slots=True)
class Place:
    """A row of an event, by number."""

    event: RowChange
    shape: Shape
    row: int


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a table's messages is the same for every row.

    `names` are columns' names on the wire, `members` the same as JSON with a colon; `outer` is the database or schema; `key` are
    the key's columns by their own names; the texts of schemas are "" where the converter leaves them out.
    """

    names: Mapping[str, str]
    members: Mapping[str, str]
    outer: str
    table: str
    topic: str
    key: tuple[str, ...]
    value_schema: str
    key_schema: str


@lru_cache(maxsize=2048)
def shape_of(
    table: Table, profile: DebeziumProfile, prefix: str, defaults: tuple[tuple[str, Value], ...], snapshot: bool
) -> Shape:
    """The shape of a table's messages. `defaults` are column defaults by name, `snapshot` says that rows are read, not streamed.

    The key is the primary key; MySQL's connector takes a unique key of solid columns where there is none (debezium/debezium
    MySqlAntlrDdlParser.java, parseUniqueIndexColumnNames).
    """
    names = {c.name: envelope.mangled(c.name) if profile.mangles_names else c.name for c in table.columns}
    outer, name = envelope.qualified(profile, table)
    full_name = f"{prefix}.{outer}.{name}"
    key = table.handle_key if profile.is_mysql else table.primary_key
    replaced = dict(defaults)
    fields = tuple((names[c.name], _column_schema(c, profile, replaced.get(c.name), snapshot)) for c in table.columns)
    by_name = dict(fields)
    row = Schema("struct", True, envelope.adjusted(f"{full_name}.Value", profile), fields=fields)
    key_fields = tuple((names[k], by_name[names[k]]) for k in key)
    key_row = Schema("struct", False, envelope.adjusted(f"{full_name}.Key", profile), fields=key_fields)
    return Shape(
        names,
        {column: f"{string(shown)}:" for column, shown in names.items()},
        outer,
        name,
        envelope.topic_name(prefix, outer, name),
        key,
        schema_text(envelope.envelope_schema(profile, full_name, row)) if profile.schemas else "",
        schema_text(key_row) if profile.key_schemas else "",
    )


def _column_schema(column: Column, profile: DebeziumProfile, default: Value, snapshot: bool) -> Schema:
    if profile.is_mysql:
        found = _debezium_mysql.schema(column.type, profile.modes, column.nullable)
    else:
        found = _debezium_postgresql.schema(column.type, profile.modes, column.nullable, snapshot)
    return found if default is None else replace(found, default=payload_text(found, default))


def row_json(shape: Shape, row: Wires | None) -> str:
    """A row struct, or null."""
    if row is None:
        return "null"
    members = shape.members
    return f"{{{','.join([members[name] + wire.json for name, wire in row.items()])}}}"


def key_json(shape: Shape, row: Wires) -> str | None:
    """The key struct of a row, None without key or row."""
    if not shape.key or not row:
        return None
    return f"{{{','.join([shape.members[name] + row[name].json for name in shape.key])}}}"


def key_header(shape: Shape, row: Wires) -> bytes:
    """A key as `SimpleHeaderConverter` writes its struct."""

    def shown(wire: DebeziumCell) -> str:
        return header_text(wire.value) if isinstance(wire.value, str) else wire.json

    members = ",".join(f"{header_text(shape.names[name])}:{shown(row[name])}" for name in shape.key)
    return f"{{{members}}}".encode("utf-8", "replace")


def image(shape: Shape, row: Wires | None) -> Image | None:
    """The image at level one, by names on the wire."""
    return None if row is None else {shape.names[name]: wire.cell for name, wire in row.items()}


_MANGLED: Final = "the connector mangles names that are not ASCII: the column stands under another name"


def full_image(shape: Shape, row: Wires | None) -> Image | None:
    """Level two's image where it is not the wire's: columns that were not sent or stand under another name are unknown."""
    if row is None:
        return None
    hidden = {name: wire.cell.reason for name, wire in row.items() if wire.cell.cls in ("not-sent", "fallback")}
    hidden |= {name: _MANGLED for name, shown in shape.names.items() if shown != name}
    if not hidden:
        return None
    return {
        name: Cell(State.ANY, wire.cell.type, reason=hidden[name]) if name in hidden else wire.cell for name, wire in row.items()
    }
