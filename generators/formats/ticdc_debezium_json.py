r"""TiCDC Debezium JSON: what PingCAP TiCDC writes to Kafka with `protocol=debezium`.

Releases: v8.1.2 and v8.5.7 of the classic architecture (pingcap/tiflow), new-8.5.6, new-8.5.7 and
new-26.3.4 of the new one (pingcap/ticdc). Source of truth: PingCAP's TiCDC Debezium Protocol,
corrected by TiCDC's source (the facts ticdc-debezium#...).

The envelope is that of Debezium's MySQL connector 2.4, and it is not: the payload stands before its
schema, and alone in an object where the schema is left out; `source` has `commit_ts` and
`cluster_id`, and file, pos and row are always empty; no tombstone follows a DELETE; rows of a table
go to one partition, chosen as for ticdc-canal-json, whatever their key; DECIMAL is always a double
and BIGINT UNSIGNED a signed number. Classic TiCDC writes rows alone; the new architecture also
writes DDL (to every partition) and, with the extension, watermarks of op `m`. A statement of a kind
that the encoder does not know is left out.

Not written: large-message-handle-compression, which packs the key too; a server zone other than
UTC, where a TIMESTAMP's default for NULL moves, and one with hours that occur twice, where the
classic architecture may move a TIMESTAMP by an hour; hidden columns of indexes over expressions
whose type is not known here, and their place before columns that were added later; most of a
column in `tableChanges`, and `start_ts` of later releases.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a watermark:

    {"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"default",
    "ts_ms":1700000000000,"snapshot":"false","db":"shop","table":"notes","server_id":0,"gtid":null,
    "file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":445644800000000001,
    "cluster_id":"default"},"ts_ms":1700000001734,"transaction":null,"op":"c","before":null,
    "after":{"id":1,"note":"old"}}}

    {"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"default",
    "ts_ms":1700000000000,"snapshot":"false","db":"shop","table":"notes","server_id":0,"gtid":null,
    "file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":445644800000000001,
    "cluster_id":"default"},"ts_ms":1700000001734,"transaction":null,"op":"u","before":{"id":1,
    "note":"old"},"after":{"id":1,"note":"new"}}}

    {"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"default",
    "ts_ms":1700000000000,"snapshot":"false","db":"shop","table":"notes","server_id":0,"gtid":null,
    "file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":445644800000000001,
    "cluster_id":"default"},"ts_ms":1700000001734,"transaction":null,"op":"d","after":null,
    "before":{"id":1,"note":"new"}}}

    {"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"default",
    "ts_ms":1700000000000,"snapshot":"false","db":"shop","table":"t3142384771","server_id":0,
    "gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":445644800000000001,
    "cluster_id":"default"},"ts_ms":1700000001734,"databaseName":"shop","schemaName":null,
    "ddl":"ALTER TABLE `t3142384771` ADD COLUMN `added` INT DEFAULT 1",
    "tableChanges":[{"type":"ALTER","id":"\"shop\".\"t3142384771\"",
    "table":{"defaultCharsetName":"utf8mb4","primaryKeyColumnNames":[],"columns":[],
    "comment":null}}]}}

    {"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"default",
    "ts_ms":1700000000000,"snapshot":"false","db":"","table":"","server_id":0,"gtid":null,"file":"",
    "pos":0,"row":0,"thread":0,"query":null,"commit_ts":445644800000000001,"cluster_id":"default"},
    "ts_ms":1700000001734,"transaction":null,"op":"m"}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final

from generators.families.connect import Schema
from generators.families.debezium.unfit import cell_faults
from generators.families.debezium.values import CellWriter, DebeziumCell, wire_values
from generators.families.ticdc import sink, text
from generators.families.ticdc.defaults import is_current_timestamp, stored_expression
from generators.families.ticdc.hidden_columns import HiddenColumns
from generators.families.ticdc.scenarios import (
    declared_types,
    key_updates,
    selected_columns,
    statements,
    watermark,
)
from generators.families.ticdc_debezium.cells import (
    cell,
    is_partly_zero,
    json_value,
    schema,
    tidb_type,
)
from generators.families.ticdc_debezium.envelope import (
    ACTIONS,
    CLUSTER,
    OPS,
    DebeziumSinkProfile,
    keys_of_changes,
    source_block,
    table_changes,
)
from generators.families.ticdc_debezium.scenarios import loss_of_dates, scenarios_of_values
from generators.families.wire_messages import ABSENT, Part, Raw, WireMessage, print_json
from generators.formats import debezium_json as debezium
from generators.formats.debezium_json.envelope import envelope_schema, schema_change_schemas
from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR
from generators.model import (
    Column,
    Default,
    Deployment,
    Event,
    History,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    Watermark,
    Written,
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.wire_format import Format, Loss, about

NAME: Final = "ticdc-debezium-json"


@dataclass(frozen=True, slots=True)
class TicdcDebeziumProfile(DebeziumSinkProfile):
    """A TiCDC release and its options as facts about the bytes."""

    deployment: Deployment = Deployment(
        decimal="double",
        temporal="adaptive_time_microseconds",
        binary="base64",
        bigint_unsigned="long",
        schemas="message",
    )
    keyed: bool = True
    """Records have the row's key."""
    fills_nulls: bool = True
    """A column's default stands for NULL, and the epoch for a zero TIMESTAMP."""
    years: bool = True
    """Years 1 to 99 are moved to 1970 to 2069."""
    statements: bool = False
    """DDL is written, and watermarks where `extension` says so."""
    describes_commit: bool = False
    """With the extension the schema of the block source has its members commit_ts and cluster_id,
    too (ticdc-debezium#source-schema).
    """
    schemaless: bool = False
    """Key and value are the payload alone, without its schema."""


CHOICES: Final = read_choices(NAME, TicdcDebeziumProfile)


# Messages


def _messages(
    event: Event,
    profile: TicdcDebeziumProfile,
    layout: Layout,
    ms: int,
    _chance: object,
    hidden_columns: HiddenColumns,
) -> Iterator[WireMessage]:
    """The messages of an event that is sent at `ms`: a row's to one partition, those of DDL and,
    with TiDB's extension, of a watermark to all. Nothing is left to chance in this protocol.
    """
    if isinstance(event, SchemaChange):
        hidden_columns.follow(event)
    match event:
        case RowChange():
            for partition, op, before, after in sink.place_rows_of_table(
                event, profile, layout.partitions
            ):
                message = _row_message(
                    event, op, before, after, profile, ms, hidden_columns.columns(event.table)
                )
                yield replace(message, partitions=(partition,))
        case SchemaChange() if profile.statements and event.action in ACTIONS:
            yield replace(_statement(event, profile, ms), partitions=range(layout.partitions))
        case Watermark() if profile.statements and profile.extension:
            yield replace(_watermark(event, profile, ms), partitions=range(layout.partitions))


def write(history: History, profile: TicdcDebeziumProfile, layout: Layout) -> list[Written]:
    """The messages of a history, each with its expectation. One HiddenColumns follows the
    statements of the whole history (which columns TiDB adds for indexes on expressions). Texts are
    quoted as Go's library json-iterator does (`iterator_string`).
    """
    writer = sink.writer_of_events(
        partial(_messages, hidden_columns=HiddenColumns()),
        printer=partial(print_json, quote=text.iterator_string),
    )
    return writer(history, profile, layout)


_OWN: Final = debezium.FORMAT.build("2.5.4.Final")
"""The release whose structs are those of 2.4, which TiCDC writes."""


def _part(
    profile: TicdcDebeziumProfile, payload: Mapping[str, Any], schema: Schema
) -> Mapping[str, Any]:
    """The two members of a record's key or value: the payload, then its schema unless the profile
    is schemaless. Where the profile describes TiDB's extension, the schema's block `source` has the
    extension's fields, too.
    """
    if profile.describes_commit and profile.extension:
        schema = _with_commit(schema)
    schema_json = ABSENT if profile.schemaless else Raw(_schema_json(schema))
    return {"payload": payload, "schema": schema_json}


_COMMIT_FIELDS: Final = (("commit_ts", Schema("int64")), ("cluster_id", Schema("string")))
"""The fields of TiDB's extension in the schema of the block `source`."""


def _with_commit(schema: Schema) -> Schema:
    """A message's schema in which the block `source` also has the fields of TiDB's extension."""
    fields = tuple(
        (
            name,
            replace(inner, fields=(*inner.fields, *_COMMIT_FIELDS)) if name == "source" else inner,
        )
        for name, inner in schema.fields
    )
    return replace(schema, fields=fields)


@lru_cache(maxsize=4096)
def _schema_json(schema: Schema, field: str = "") -> str:
    """The JSON of a schema, with members in TiCDC's order. `field` is the name of the field that
    has the schema, "" for the schema of a whole key or value. A column's `doc` is its TiDB type.

    Some schemas have other members first: those of the envelope's fields in _FIRST, and that of a
    whole key, whose name ends in Key. Members without content are left out, but for false and
    `fields`.
    """
    members: dict[str, Any] = {
        "tidb_type": schema.doc,
        "type": schema.type,
        "optional": schema.optional,
        "name": schema.name,
    }
    members |= {"version": schema.version, "parameters": dict(schema.parameters)}
    members |= {"field": field, "default": Raw(schema.default) if schema.default else ""}
    fields = [Raw(_schema_json(inner, name)) for name, inner in schema.fields]
    members |= {"fields": fields} if schema.type == "struct" else {}
    first: tuple[str, ...] = ()
    if field:
        first = _FIRST.get(field, ())
    elif schema.name.endswith("Key"):
        first = ("type", "name")
    ordered = {name: members[name] for name in (*first, *members) if name in members}
    return json_value(
        {
            name: value
            for name, value in ordered.items()
            if value or value is False or name == "fields"
        }
    )


_FIRST: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("source", "transaction"), ("type", "fields")),
    "snapshot": ("type", "optional", "name", "version", "parameters", "default"),
}
"""The members that stand first in the schema of a field of the envelope, where they are not those
of most schemas.
"""


def _column(column: Column, profile: TicdcDebeziumProfile) -> tuple[str, Schema]:
    """A column's name and its schema in a struct, with its default if the profile fills NULLs with
    it and, with TiDB's extension, its type as `doc`.
    """
    kind, shape = column.type, schema(column.type, column.nullable)
    if profile.fills_nulls:
        shape = replace(shape, default=_default(column))
    return column.name, replace(shape, doc=tidb_type(kind)) if profile.extension else shape


def _default(column: Column) -> str:
    """The default in a column's schema as JSON, "" if the schema has none, as for most zero dates
    of a nullable column (ticdc-debezium#schema-defaults). An integer is written as a double holds
    it, a YEAR below 100 as a year of 1970 to 2069, a BINARY as text; other values as in a row of
    v8.5 (`fills_nulls`, `years`).
    """
    type, default = column.type, sink.default_of(column)
    if default is None:
        return ""
    if default.value is None:
        return _default_expression(column, default)
    zero_if_not_null = "" if column.nullable else "0"
    match type.logical, text.canonical(type, default.value):
        case Logical.TIMESTAMP, ZeroDate():
            return zero_if_not_null and '"1970-01-01T00:00:00Z"'
        case Logical.DATETIME, ZeroDate() as value:
            return "0" if is_partly_zero(value) else zero_if_not_null
        case Logical.DATE, ZeroDate():
            return zero_if_not_null
        case Logical.BINARY, bytes() as value:
            return json_value(value.decode(errors="replace"))
        case Logical.INT, int() as value:
            return str(value) if abs(value) < 1 << 53 else text.iterator_number(float(value))
        case Logical.YEAR, int() as value:
            return str(value if value >= 100 else value + (2000 if value < 70 else 1900))
    return cell(replace(column, default=None), default.value, fills_nulls=True, years=True).json


def _default_expression(column: Column, default: Default) -> str:
    """The default in a column's schema as JSON where the default is an expression; "" where the
    schema has none (ticdc-debezium#schema-defaults).

    Columns of texts, ENUM, SET, JSON and BIT have the expression's text, numbers have none. A
    TIMESTAMP has the epoch for CURRENT_TIMESTAMP if it is NOT NULL, else none, and 0 for another
    expression. A DATETIME has 0 for CURRENT_TIMESTAMP, and for another expression if it is NOT
    NULL.
    """
    is_now = is_current_timestamp(default.text)
    match column.type.logical:
        case Logical.TIMESTAMP if is_now:
            return "" if column.nullable else '"1970-01-01T00:00:00Z"'
        case Logical.TIMESTAMP:
            return "0"
        case Logical.DATETIME:
            return "0" if is_now or not column.nullable else ""
        case (
            Logical.TEXT | Logical.BINARY | Logical.ENUM | Logical.SET | Logical.JSON | Logical.BIT
        ):
            return json_value(stored_expression(default.text))
    return ""


def _schema_name(profile: TicdcDebeziumProfile, *parts: str) -> str:
    """The name of a schema: the cluster's name and these parts, of which the last is a table. What
    Avro's names cannot have becomes `_`, unless records have no key (ticdc-debezium#schema-names).
    """
    if not profile.keyed:
        return ".".join((CLUSTER, *parts))
    *database, table = (re.sub(r"[^A-Za-z0-9_.]", "_", part) for part in parts)
    return ".".join(
        (CLUSTER, *(re.sub(r"^(?=\d)", "_", part.replace(".", "_")) for part in database), table)
    )


def _row_message(
    event: RowChange,
    op: Op,
    before: Row | None,
    after: Row | None,
    profile: TicdcDebeziumProfile,
    ms: int,
    hidden_columns: tuple[Column, ...],
) -> WireMessage:
    """The message of one row of a table that has these hidden columns of indexes. An UPDATE has no
    `before` if the profile sends none; CORRUPT is right too if a value does not fit its column.
    """
    table = event.table
    columns = sink.columns_of_rows(table, profile)

    def wires(source_row: Row) -> Mapping[str, DebeziumCell]:
        """The cells of a row by column, as the profile writes them."""
        how = {
            "fills_nulls": profile.fills_nulls,
            "years": profile.years,
            "classic": not profile.statements,
        }
        return {c.name: cell(c, source_row[c.name], **how) for c in columns}

    sides = {
        side: source_row and wires(source_row)
        for side, source_row in (("before", before), ("after", after))
    }
    if op is Op.DELETE:
        sides = {"after": None, "before": sides["before"]}
    elif op is Op.UPDATE and not profile.before:
        del sides["before"]
    images = {
        side: source_row and {name: Raw(wire.json) for name, wire in source_row.items()}
        for side, source_row in sides.items()
    }
    source = source_block(event, table.database, table.name)
    # A virtual column stands in the schema though no row has it (ticdc-debezium#virtual-columns);
    # a hidden one is virtual.
    virtual = [c for c in table.columns if c.generated == "virtual"]
    listed = [
        *(c for c in table.columns if c in columns or (profile.statements and c in virtual)),
        *(hidden_columns if profile.statements else ()),
        *virtual,
        *hidden_columns,
    ]
    name = _schema_name(profile, table.database, table.name)
    shape = Schema(
        "struct", True, f"{name}.Value", fields=tuple(_column(c, profile) for c in listed)
    )
    payload = {"source": source, "ts_ms": ms, "transaction": None, "op": OPS[op], **images}
    value = _part(profile, payload, envelope_schema(_OWN, name, shape))
    keys = [c for c in table.columns if c.name in sink.handle_key(table)]
    image = images["before" if op is Op.DELETE else "after"] or {}
    shape = Schema("struct", name=f"{name}.Key", fields=tuple(_column(c, profile) for c in keys))
    key: Part = b""
    if profile.keyed:
        key = _part(profile, {c.name: image[c.name] for c in keys}, shape)
    lossy = any(
        wire.corrupt for source_row in sides.values() for wire in (source_row or {}).values()
    )
    cells = {
        side: source_row and table.image({name: wire.cell for name, wire in source_row.items()})
        for side, source_row in sides.items()
    }
    names = tuple(c.name for c in keys) if profile.keyed else None
    accept = ((Kind.CORRUPT, None),) if lossy else ()
    change = sink.committed(
        Kind.ROW,
        event.at,
        table.database,
        table.name,
        op=op,
        keys=names,
        accept=accept,
        **cells,
    )
    return WireMessage(value, (change,), key)


def _statement(event: SchemaChange, profile: TicdcDebeziumProfile, ms: int) -> WireMessage:
    """The message of a DDL statement. Its `tableChanges` describe the table where the history knows
    it.
    """
    sql = sink.statement(event, profile)
    changed = table_changes(event)
    source = source_block(event, event.database, event.table)
    payload = {
        "source": source,
        "ts_ms": ms,
        "databaseName": event.database,
        "schemaName": None,
        "ddl": sql,
        "tableChanges": changed,
    }
    key_schema, value_schema = schema_change_schemas(_OWN)
    key = _part(profile, {"databaseName": event.database}, key_schema)
    value = _part(profile, payload, replace(value_schema, fields=value_schema.fields[:-1]))
    change = sink.committed(
        Kind.DDL,
        event.at,
        event.database,
        event.table,
        sql=sql,
        other_keys=keys_of_changes(changed),
    )
    return WireMessage(value, (change,), key)


def _watermark(event: Watermark, profile: TicdcDebeziumProfile, ms: int) -> WireMessage:
    """The message of a watermark, which names no table and whose payload has no row."""
    payload = {"source": source_block(event, "", ""), "ts_ms": ms, "transaction": None, "op": "m"}
    full_schema = envelope_schema(_OWN, f"{CLUSTER}.watermark", Schema("struct"))
    shape = replace(full_schema, fields=full_schema.fields[2:])  # without before and after
    key = _part(profile, {}, Schema("struct", name=f"{CLUSTER}.watermark.Key"))
    change = sink.committed(Kind.WATERMARK, event.at, "", "")
    return WireMessage(_part(profile, payload, shape), (change,), key)


def scenarios(profile: TicdcDebeziumProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: statements, watermarks, keys, defaults, virtual columns, two-digit
    years, zero dates.
    """
    if profile.statements:
        yield from statements(database, profile, ACTIONS)
    if profile.extension:
        yield watermark(429918007904436226)
    yield from key_updates(database)
    yield from selected_columns(database, profile)
    yield from scenarios_of_values(database)
    yield declared_types("values/declared", database, profile)


def losses(profile: TicdcDebeziumProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose of a row, for every decoder."""
    writer = _cell_writer(profile)
    return (
        Loss(
            (Logical.DECIMAL,),
            "DECIMAL is a double, which keeps some 17 digits",
            "ticdc-debezium#decimal-double",
            wire_values(writer),
        ),
        loss_of_dates(writer),
    )


def _cell_writer(profile: TicdcDebeziumProfile) -> CellWriter:
    """The function that gives, for a type and a value, the cell of a column with that value as the
    profile writes it.
    """
    return lambda type, value: cell(
        Column("c", type), value, fills_nulls=profile.fills_nulls, years=profile.years
    )


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    losses=losses,
    faults=(*FAULTS, SCHEMA_NO_GRAMMAR),
    cell_faults=lambda profile: cell_faults(_cell_writer(profile), profile.source),
)
