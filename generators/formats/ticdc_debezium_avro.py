r"""TiCDC Debezium Avro: what PingCAP TiCDC's new architecture writes to Kafka with
`protocol=debezium-avro` and a Confluent schema registry.

Release: new-26.3.4 (pingcap/ticdc); the protocol is there since v26.3.3 (ticdc#5475). Source of
truth: TiCDC's source, in whose encoder TiCDC's Debezium messages become Avro (the facts
ticdc-debezium-avro#..., and ticdc-debezium#... for what is as in JSON); no document of PingCAP
describes it.

Key and value are each Confluent's framing of one record: the envelope of ticdc-debezium-json
without `transaction`. Schemas are TiCDC's own, not those of Confluent's converter: each column is
nullable and has no default, a field tells in `connect.field` the name that it had before Avro's
names were made of it, records are called TABLEKey, TABLEEnvelope and TABLE. A DECIMAL is Avro's
decimal and a binary is bytes. DDL and watermarks are written only with `enable-tidb-extension` and
`avro-enable-watermark`, which TiCDC has for its own tests. A BIGINT UNSIGNED from 2^63 on stops the
changefeed, unless it is written as text; so do tables with virtual columns that the selectors leave
in, or with two columns of one name in Avro, since no codec takes a record that has a field twice.

Level one has bytes as base64, a decimal as its digits, and columns under the names of the schema.
Not written: tables without a handle key, which TiCDC leaves out, and one called Source, whose
record would have the name of the block's; AWS Glue's framing; a server zone other than UTC, where a
TIMESTAMP's default for NULL moves; most of a column in `tableChanges`; a topic for each table, as
TiCDC asks for.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a
watermark, with new-26.3.4+extension+watermarks:

    b'\x00=\xf7\xe5k\x02\x02' b'\x00\r+w\xb0\x00\x02\x02\x02\x02\x06old\x162.4.0.Final\nTiCDC\x0edef
    ault\x80\xa0\xab\xfe\xf9b\x00\x08shop\nnotes\x00\x00\x00\x00\x00\x00\x00\x82\x80\x80\x80\xb4\xe5
    \x9f\xaf\x0c\x0edefault\x02c\x8c\xbb\xab\xfe\xf9b'

    b'\x00=\xf7\xe5k\x02\x02' b'\x00\r+w\xb0\x02\x02\x02\x02\x06old\x02\x02\x02\x02\x06new\x162.4.0.
    Final\nTiCDC\x0edefault\x80\xa0\xab\xfe\xf9b\x00\x08shop\nnotes\x00\x00\x00\x00\x00\x00\x00\x82\
    x80\x80\x80\xb4\xe5\x9f\xaf\x0c\x0edefault\x02u\x8c\xbb\xab\xfe\xf9b'

    b'\x00=\xf7\xe5k\x02\x02' b'\x00\r+w\xb0\x02\x02\x02\x02\x06new\x00\x162.4.0.Final\nTiCDC\x0edef
    ault\x80\xa0\xab\xfe\xf9b\x00\x08shop\nnotes\x00\x00\x00\x00\x00\x00\x00\x82\x80\x80\x80\xb4\xe5
    \x9f\xaf\x0c\x0edefault\x02d\x8c\xbb\xab\xfe\xf9b'

    b'\x00<\x84\xca\xc6\x08shop' b'\x00$\xebi\xac\x162.4.0.Final\nTiCDC\x0edefault\x80\xa0\xab\xfe\x
    f9b\x02\nfalse\x08shop\x16t3142384771\x00\x00\x00\x00\x00\x02\x00\x00\x82\x80\x80\x80\xb4\xe5\x9
    f\xaf\x0c\x0edefault\x8c\xbb\xab\xfe\xf9b\x02\x08shop\x00\x02tALTER TABLE `t3142384771` ADD COLU
    MN `added` INT DEFAULT 1\x02\nALTER("shop"."t3142384771"\x02\x02\x0eutf8mb4\x02\x00\x00\x00\x00'

    b'\x00U\r!Y' b'\x00a\x92\xaa\xbc\x162.4.0.Final\nTiCDC\x0edefault\x80\xa0\xab\xfe\xf9b\x02\nfals
    e\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x82\x80\x80\x80\xb4\xe5\x9f\xaf\x0c\x0edefault\x02m\x0
    2\x8c\xbb\xab\xfe\xf9b\x00'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final

from generators.errors import Refused
from generators.families import confluent
from generators.families.cases import Cases, deleted, inserted, updated
from generators.families.connect import Schema, fields
from generators.families.debezium.mysql import wire
from generators.families.debezium.unfit import cell_faults
from generators.families.debezium.values import (
    CellWriter,
    DebeziumCell,
    Meaning,
    Modes,
    wired,
)
from generators.families.java_text import two_complement
from generators.families.ticdc import sink, text
from generators.families.ticdc.avro_names import adjusted
from generators.families.ticdc.defaults import stored_default
from generators.families.ticdc.hidden_columns import HiddenColumns
from generators.families.ticdc.instants import declared_columns
from generators.families.ticdc.scenarios import (
    key_updates,
    selected_columns,
    statements,
    watermark,
)
from generators.families.ticdc_debezium import cells
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
from generators.families.wire_messages import WireMessage
from generators.formats.debezium_avro import FITS, faults_in_avro, unfit_in_avro
from generators.garbage.cell_faults import CellFault
from generators.garbage.faults import Fault
from generators.model import (
    Cell,
    Column,
    Default,
    Deployment,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    State,
    Table,
    Value,
    Watermark,
    Written,
)
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.sources.boundaries import ID
from generators.wire_format import Format, Loss, about

NAME: Final = "ticdc-debezium-avro"


@dataclass(frozen=True, slots=True)
class TicdcDebeziumAvroProfile(DebeziumSinkProfile):
    """A TiCDC release and its options as facts about the bytes."""

    deployment: Deployment = Deployment(
        decimal="precise",
        temporal="adaptive_time_microseconds",
        binary="bytes",
        bigint_unsigned="long",
        schemas="registry",
    )
    watermarks: bool = False
    """DDL and watermarks are written."""
    decimal_string: bool = False
    """A DECIMAL is its text, not Avro's logical type."""
    bigint_string: bool = False
    """A BIGINT UNSIGNED is its text, not a long."""


CHOICES: Final = read_choices(NAME, TicdcDebeziumAvroProfile)


# Schemas (ticdc-debezium-avro#schemas)

_TYPES: Final = {"int8": "int", "int16": "int", "int32": "int", "int64": "long"}
"""The type in Avro of Connect's integers."""
_DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
"""The name of a decimal's schema in Connect."""


@lru_cache(maxsize=8192)
def avro_schema(schema: Schema) -> str:
    """The text of the Avro schema that TiCDC makes of a Connect schema: members in the order of
    their names, texts with Go's escapes for HTML. A column's `doc` is its TiDB type.
    """
    schema_json = json.dumps(
        _avro(schema, "", set()), ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    return schema_json.translate(_GO_ESCAPES)


_GO_ESCAPES: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""What Go's encoding/json escapes in a text beyond what JSON asks for."""


def _avro(schema: Schema, fallback: str, defined: set[str]) -> Any:
    """The Avro schema of a Connect schema, without the union with null that an optional one gets.
    `fallback` is the name of a struct that has none, `defined` the full names of the records that
    stand before this schema; those of this one are added to it.
    """
    described = _metadata(schema)
    match schema.type:
        case "struct":
            full_name = ".".join(adjusted(part) for part in (schema.name or fallback).split("."))
            if full_name in defined:
                return full_name
            defined.add(full_name)
            space, _, last = full_name.rpartition(".")
            members = [_field(name, inner, defined) for name, inner in schema.fields]
            if len({member["name"] for member in members}) < len(members):
                raise sink.Stopped
            namespace = {"namespace": space} if space else {}
            return {"type": "record", "name": last, **namespace, "fields": members, **described}
        case "array":
            assert schema.items is not None
            return {
                "type": "array",
                "items": _avro(schema.items, f"{fallback}Item", defined),
                **described,
            }
        case "bytes" if schema.name == _DECIMAL:
            digits = {name: int(digits) for name, digits in schema.parameters}
            return {"type": "bytes", "logicalType": "decimal", **digits, **described}
    type = _TYPES.get(schema.type, schema.type)
    narrow = {"connect.type": schema.type} if schema.type in ("int8", "int16") else {}
    return {"type": type, **narrow, **described} if narrow or described else type


def _metadata(schema: Schema) -> dict[str, Any]:
    """What Avro's schema tells of Connect's: name, version and parameters."""
    members = {
        "connect.name": schema.name,
        "connect.version": schema.version,
        "connect.parameters": dict(schema.parameters),
    }
    return {name: value for name, value in members.items() if value}


def _field(name: str, schema: Schema, defined: set[str]) -> dict[str, Any]:
    """A field of a Connect struct as a field of Avro's record. A nullable one has the default null;
    defaults of columns are left out. `defined` is that of `_avro`.
    """
    type = _avro(schema, adjusted(name), defined)
    member: dict[str, Any] = {"name": adjusted(name), "connect.field": name}
    if schema.doc:
        member["tidb_type"] = schema.doc
    if schema.optional:
        return {**member, "type": ["null", type], "default": None}
    return {**member, "type": type}


def _native(schema: Schema, value: Any) -> Any:
    """The value that the encoder of a schema's Avro takes for a Connect value: a struct has Avro's
    names, and a missing member is null. A lone surrogate in a text becomes `?`, since Avro's texts
    are UTF-8.
    """
    match schema.type:
        case _ if value is None:
            return None
        case "struct":
            return {
                adjusted(name): _native(inner, value.get(name)) for name, inner in schema.fields
            }
        case "array":
            assert schema.items is not None
            return [_native(schema.items, item) for item in value]
        case "string":
            return value.encode("utf-8", "replace").decode()
    return value


def _record(schema: Schema, payload: Mapping[str, Any], subject: str, id_schema: Schema) -> bytes:
    """A key or value: the datum of a payload by its schema, behind the id of the schema
    `id_schema`, which is registered under `subject`.
    """
    datum = confluent.encoder_of_schema(avro_schema(schema))(_native(schema, payload))
    return confluent.frame_schema(subject, avro_schema(id_schema)) + datum


def _space(database: str) -> str:
    """The namespace of the records of a database's tables."""
    return f"{CLUSTER}.{adjusted(database)}"


@lru_cache(maxsize=1024)
def _source_schema(database: str) -> Schema:
    """The schema of the block `source` of a message about a database."""
    declared = (
        "version:string connector:string name:string ts_ms:int64 snapshot:string? db:string"
        " table:string server_id:int64 gtid:string? file:string pos:int64 row:int32 thread:int64?"
        " query:string? commit_ts:int64 cluster_id:string"
    )
    return Schema("struct", name=f"{_space(database)}.Source", fields=fields(declared))


@lru_cache(maxsize=4096)
def column_schema(column: Column, profile: TicdcDebeziumAvroProfile) -> Schema:
    """The Connect schema of a column, which is always nullable (ticdc-debezium-avro#nullable); its
    `doc` is the TiDB type with the extension.
    """
    type = column.type
    schema = cells.schema(type, True)
    is_decimal = type.logical is Logical.DECIMAL
    is_text = profile.decimal_string if is_decimal else profile.bigint_string
    if is_text and (is_decimal or type.key == "bigint unsigned"):
        schema = Schema("string", True)
    elif is_decimal:
        digits = (("precision", str(type.precision)), ("scale", str(type.scale or 0)))
        schema = Schema("bytes", True, _DECIMAL, parameters=digits)
    elif type.logical is Logical.BINARY:
        schema = replace(schema, type="bytes")
    return replace(schema, doc=cells.tidb_type(type) if profile.extension else None)


# Cells


_MODES: Final = Modes(escapes_labels=False, year_zero=0, avro=True)
"""The way in which Debezium 2.4 writes values of which TiCDC makes Avro."""


def cell(column: Column, stored: Value, profile: TicdcDebeziumAvroProfile) -> DebeziumCell:
    """A column's value as TiCDC writes it, with its schema and what a decoder owes for it. A NULL
    of a column with a default is that default. Raises Stopped for what the encoder refuses
    (ticdc-debezium-avro#unsigned).
    """
    type, schema, meaning = column.type, column_schema(column, profile), None
    if stored is None and column.default is not None:
        return cells.mark_default(_default_for_null(column, column.default, profile))
    value = None if stored is None else text.canonical(type, stored)
    match type.logical, value:
        case Logical.INT, int() if schema.type == "string":
            meaning = Meaning(str(value), value)
        case Logical.INT, int() if value >> 63 > 0:
            raise sink.Stopped
        case ((Logical.FLOAT | Logical.DOUBLE | Logical.INT), (float() | int())):
            meaning = Meaning(value, value)
        case Logical.DECIMAL, Decimal():
            digits = text.decimal_text(value, type.scale or 0)
            decimal_value: Any = (
                digits if schema.type == "string" else two_complement(int(digits.replace(".", "")))
            )
            meaning = Meaning(decimal_value, value)
        case Logical.BINARY, bytes():
            return replace(wire(type, value, _MODES), schema=schema)
    if meaning is not None:
        return wired(schema, type, text.value_class(type, value), meaning, _MODES)
    json_cell = cells.cell(
        replace(column, default=None), stored, fills_nulls=True, years=True, classic=False
    )
    return replace(json_cell, schema=schema)


def _default_for_null(
    column: Column, default: Default, profile: TicdcDebeziumAvroProfile
) -> DebeziumCell:
    """The cell of a column's default, which stands in place of NULL. The text of a DECIMAL has the
    digits of the stored default, not those of the column's scale.
    """
    type, schema = column.type, column_schema(column, profile)
    value = cells.default_for_null(column, default, classic=False)
    words = cells.text_for_null(column, default, classic=False)
    if words is not None:
        null_cell = cell(replace(column, default=None), None, profile)
        return cells.any_cell(null_cell, cells.json_value(words), words)
    if value is None or type.logical is not Logical.DECIMAL or schema.type != "string":
        return cell(replace(column, default=None), value, profile)
    digits = f"{Decimal(str(stored_default(type, default.text))):f}"
    meaning = Meaning(digits, text.canonical(type, value))
    return wired(schema, type, text.value_class(type, value), meaning, _MODES)


# Messages


@dataclass(slots=True)
class _Run:
    """What one TiCDC keeps between the messages of a history: the columns that TiDB hides, and the
    schema of the first statement, under which every later one is sent
    (ticdc-debezium-avro#statement-schema).
    """

    hidden_columns: HiddenColumns = field(default_factory=HiddenColumns)
    statement_schema: Schema | None = None


def _messages(
    event: Event,
    profile: TicdcDebeziumAvroProfile,
    layout: Layout,
    ms: int,
    _chance: object,
    run: _Run,
) -> Iterator[WireMessage]:
    """The messages of an event that is sent at `ms`: a row's to one partition, those of DDL and of
    a watermark to all.
    """
    if isinstance(event, SchemaChange):
        run.hidden_columns.follow(event)
    match event:
        case RowChange() if sink.handle_key(event.table):
            for partition, op, before, after in sink.place_rows_of_table(
                event, profile, layout.partitions, new_architecture=True
            ):
                hidden = run.hidden_columns.columns(event.table)
                images = {"before": before, "after": after}
                message = _row_message(event, op, images, profile, ms, layout.topic, hidden)
                yield replace(message, partitions=(partition,))
        case SchemaChange() if profile.watermarks and event.action in ACTIONS:
            yield replace(_statement(event, profile, ms, run), partitions=range(layout.partitions))
        case Watermark() if profile.watermarks:
            yield replace(_watermark(event, ms), partitions=range(layout.partitions))


def write(history: History, profile: TicdcDebeziumAvroProfile, layout: Layout) -> list[Written]:
    """The messages of a history, each with its expectation. One _Run follows the whole history."""
    return sink.writer_of_events(partial(_messages, run=_Run()))(history, profile, layout)


_OF_ROWS: Final = {"snapshot": None, "thread": None}
"""The members of `source` that are null in messages of rows."""


def _row_message(
    event: RowChange,
    op: Op,
    images: Mapping[str, Row | None],
    profile: TicdcDebeziumAvroProfile,
    ms: int,
    topic: str,
    hidden_columns: tuple[Column, ...],
) -> WireMessage:
    """The message of one row of a table that has these hidden columns of indexes; `images` are the
    row before and after the change. The `before` of an UPDATE is null if the profile sends none.
    Virtual columns that the selectors leave out are null. Raises Stopped for a table with other
    ones, which stand in its schema twice (ticdc-debezium-avro#fields-twice).
    """
    table = event.table
    if adjusted(table.name) == "Source":
        raise Refused(f"the record of {table.name} would have the name of the block source")
    virtual = tuple(c for c in table.columns if c.generated == "virtual")
    if hidden_columns or not all(sink.is_left_out(c, profile) for c in virtual):
        raise sink.Stopped
    if op is Op.UPDATE and not profile.before:
        images = {**images, "before": None}
    columns = (*sink.columns_of_rows(table, profile), *virtual)
    sides = {
        side: None
        if source_row is None
        else {
            c.name: cell(c, None if c in virtual else source_row[c.name], profile) for c in columns
        }
        for side, source_row in images.items()
    }
    name = f"{_space(table.database)}.{adjusted(table.name)}"
    row_schema = Schema(
        "struct", True, name, fields=tuple((c.name, column_schema(c, profile)) for c in columns)
    )
    envelope = Schema(
        "struct",
        name=f"{name}Envelope",
        version=1,
        fields=fields(
            "before after source op:string ts_ms:int64",
            before=row_schema,
            after=row_schema,
            source=_source_schema(table.database),
        ),
    )
    payload = {
        side: wires and {column: wire_cell.value for column, wire_cell in wires.items()}
        for side, wires in sides.items()
    }
    source = {**source_block(event, table.database, table.name), **_OF_ROWS}
    value = {**payload, "source": source, "op": OPS[op], "ts_ms": ms}
    keys = tuple(c for c in table.columns if c.name in sink.handle_key(table))
    key_schema = Schema(
        "struct", name=f"{name}Key", fields=tuple((c.name, column_schema(c, profile)) for c in keys)
    )
    key_row = images["before" if op is Op.DELETE else "after"] or {}
    key = {c.name: cell(c, key_row[c.name], profile).value for c in keys}
    wire_images = {side: _image(table, wires, adjusted) for side, wires in sides.items()}
    key_names = tuple(c.name for c in keys)
    adjusted_key = tuple(map(adjusted, key_names))
    altered = any(adjusted(c.name) != c.name for c in table.columns)
    full = {side: _image(table, wires, str) if altered else None for side, wires in sides.items()}
    change = sink.committed(
        Kind.ROW,
        event.at,
        table.database,
        table.name,
        op=op,
        keys=adjusted_key,
        other_keys=(key_names,) if key_names != adjusted_key else (),
        full_before=full["before"],
        full_after=full["after"],
        **wire_images,
    )
    return WireMessage(
        _record(envelope, value, f"{topic}-value", envelope),
        (change,),
        _record(key_schema, key, f"{topic}-key", key_schema),
    )


def _image(
    table: Table, wires: Mapping[str, DebeziumCell] | None, spelled: Callable[[str], str]
) -> Image | None:
    """The image of a row in the table's columns, under the names that `spelled` makes of theirs; a
    column without a cell is absent. None for no row.
    """
    if wires is None:
        return None
    return {
        spelled(c.name): wires[c.name].cell if c.name in wires else Cell(State.ABSENT, c.type)
        for c in table.columns
    }


def _own_record(
    schema: Schema, payload: Mapping[str, Any], id_schema: Schema | None = None
) -> bytes:
    """A key or value of a message that is no row's, whose schema's subject is its own name.
    `id_schema` is the schema whose id it has, if that is another one.
    """
    return _record(schema, payload, schema.name, id_schema or schema)


_KEY_OF_STATEMENT: Final = Schema(
    "struct",
    name="io.debezium.connector.mysql.SchemaChangeKey",
    version=1,
    fields=fields("databaseName:string"),
)
_COLUMN: Final = Schema(
    "struct",
    name="io.debezium.connector.schema.Column",
    version=1,
    fields=fields(
        "name:string jdbcType:int32 nativeType:int32? typeName:string typeExpression:string?"
        " charsetName:string? length:int32? scale:int32? position:int32 optional:boolean?"
        " autoIncremented:boolean? generated:boolean? comment:string?"
        " defaultValueExpression:string? enumValues",
        enumValues=Schema("array", True, items=Schema("string")),
    ),
)
_TABLE: Final = Schema(
    "struct",
    True,
    "io.debezium.connector.schema.Table",
    1,
    fields=fields(
        "defaultCharsetName:string? primaryKeyColumnNames columns comment:string?",
        primaryKeyColumnNames=Schema("array", True, items=Schema("string")),
        columns=Schema("array", items=_COLUMN),
    ),
)
_CHANGE: Final = Schema(
    "struct",
    name="io.debezium.connector.schema.Change",
    version=1,
    fields=fields("type:string id:string table", table=_TABLE),
)
"""The schemas of a statement's key and of what it tells of a table."""


def _statement(
    event: SchemaChange, profile: TicdcDebeziumAvroProfile, ms: int, run: _Run
) -> WireMessage:
    """The message of a DDL statement. It names the schema of the first statement of the run, which
    the encoder keeps for all of them.
    """
    sql = sink.statement(event, profile)
    changed = table_changes(event)
    schema = Schema(
        "struct",
        name="io.debezium.connector.mysql.SchemaChangeValue",
        version=1,
        fields=fields(
            "source ts_ms:int64 databaseName:string? schemaName:string? ddl:string? tableChanges",
            source=_source_schema(event.database),
            tableChanges=Schema("array", items=_CHANGE),
        ),
    )
    run.statement_schema = run.statement_schema or schema
    payload = {
        "source": source_block(event, event.database, event.table),
        "ts_ms": ms,
        "databaseName": event.database,
        "ddl": sql,
        "tableChanges": changed,
    }
    change = sink.committed(
        Kind.DDL,
        event.at,
        event.database,
        event.table,
        sql=sql,
        other_keys=keys_of_changes(changed),
    )
    return WireMessage(
        _own_record(schema, payload, run.statement_schema),
        (change,),
        _own_record(_KEY_OF_STATEMENT, {"databaseName": event.database}),
    )


_WATERMARK_KEY: Final = Schema("struct", name=f"{CLUSTER}.watermark.Key")
_TRANSACTION: Final = Schema(
    "struct",
    True,
    "event.block",
    1,
    fields=fields("id:string total_order:int64 data_collection_order:int64"),
)
_WATERMARK: Final = Schema(
    "struct",
    name=f"{CLUSTER}.watermark.Envelope",
    version=1,
    fields=fields(
        "source op:string ts_ms:int64? transaction",
        source=_source_schema("watermark"),
        transaction=_TRANSACTION,
    ),
)
"""The schemas of a watermark, whose transaction is null."""


def _watermark(event: Watermark, ms: int) -> WireMessage:
    """The message of a watermark, which names no table and has no row."""
    payload = {"source": source_block(event, "", ""), "op": "m", "ts_ms": ms}
    change = sink.committed(Kind.WATERMARK, event.at, "", "")
    return WireMessage(_own_record(_WATERMARK, payload), (change,), _own_record(_WATERMARK_KEY, {}))


# Cases


def scenarios(profile: TicdcDebeziumAvroProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: statements, watermarks, keys, defaults, declared columns, names that
    Avro does not have, a table that changes between its rows.
    """
    if profile.watermarks:
        yield from statements(database, profile, ACTIONS)
        yield watermark(429918007904436226)
    yield from key_updates(database)
    yield from selected_columns(database, profile)
    yield confluent.evolving_scenario(profile.source, database)
    yield from scenarios_of_values(database)
    declared = declared_columns(vectors=profile.vectors)
    declared_row: Row = {"id": 1, **{name: value for name, (_, value) in declared.items()}}
    yield Cases(database, (ID, *(column for column, _ in declared.values()))).case(
        "values/declared", inserted(declared_row)
    )
    cases, number = Cases(database), mysql.integer("int")
    first_row: Row = {"id": 1, "a-b": 2, "A.B": 3, "1汉": None}
    yield cases.of(ID, *(Column(name, number) for name in list(first_row)[1:])).case(
        "names/one-but-for-case",
        inserted(first_row),
        updated(first_row, {"A.B": None}),
        deleted(first_row),
    )
    # A default stands for NULL, so that both updates have the same row: two changes, no duplicate.
    null_row: Row = {"id": 1, "n": None}
    five_row: Row = {"id": 1, "n": 5}
    with_default = cases.of(ID, Column("n", number, default=Default("5", 5))).case(
        "rows/null-to-default-and-back",
        inserted(null_row),
        updated(null_row, five_row),
        updated(five_row, null_row),
        tags=("default-for-null",),
    )
    yield replace(with_default, level=2)


def losses(profile: TicdcDebeziumAvroProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose of a row, for every decoder."""
    return (loss_of_dates(_cell_writer(profile)),)


def _cell_writer(profile: TicdcDebeziumAvroProfile) -> CellWriter:
    """The function that gives, for a type and a value, the cell of a nullable column with that
    value as the profile writes it.
    """
    return lambda type, value: cell(Column("c", type), value, profile)


def _unfit(profile: TicdcDebeziumAvroProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """The faults of unfit texts in columns that Avro has as strings or bytes."""
    return unfit_in_avro(_cell_writer(profile), profile.source, text.supports, fits)


def _cell_faults(profile: TicdcDebeziumAvroProfile) -> Iterable[CellFault]:
    """The faults of cells of Debezium's JSON, as Avro."""
    writer = _cell_writer(profile)
    return faults_in_avro(cell_faults(writer, profile.source), writer, profile.source)


def _unheard_op(members: dict[str, Any]) -> bool:
    """Puts an operation that no message has into the members of a message. Returns whether it has
    one.
    """
    if members.get("op") is None:
        return False
    members["op"] = "UNHEARD"
    return True


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    losses=losses,
    container="confluent",
    faults=(
        *confluent.FAULTS,
        Fault(
            "type-unknown",
            "no-such-message",
            "The operation is one that no product writes.",
            confluent.change_record(_unheard_op),
            accept=(Kind.CONTROL,),
        ),
    ),
    cell_faults=_cell_faults,
    fits=FITS,
    unfit=_unfit,
    oracle=confluent.remains_of_datum,
)
