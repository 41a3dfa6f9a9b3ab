"""The Avro schema of TiCDC's Simple protocol, and its messages as values of that schema.

Facts: ticdc#avro-framing, #avro-records, #avro-branches. There is one released version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from generators.errors import UnknownName
from generators.families.avro import Encoder, Schema
from generators.families.ticdc_simple import records

NAMESPACE: Final = "com.pingcap.simple.avro"
VERSION: Final = 1

Fields = tuple[Mapping[str, Any], ...]
"""The fields of an Avro record as its schema lists them."""

_KINDS: Final = ("int", "long", "string", "boolean", "DataType", "Checksum", "TableSchema")
"""The types that a field's declaration may name."""


def _fields(declared: str, **types: Schema) -> Fields:
    """The fields of an Avro record from a text such as `name:type other? more:long`, in order. `?`
    says that the field may be null; a type with a capital is a record of TiCDC's. `types` has the
    types of those fields that stand in the text without one, by the field's name.
    """
    fields = []
    for word in declared.split():
        optional = word.endswith("?")
        name, _, kind = word.removesuffix("?").partition(":")
        if kind and kind not in _KINDS:
            raise UnknownName("type", kind, _KINDS, name)
        type: Schema
        if not kind:
            type = types[name]
        elif kind[0].isupper():
            type = _full_name(kind)
        else:
            type = kind
        fields.append(
            {"name": name, "type": ["null", type], "default": None}
            if optional
            else {"name": name, "type": type}
        )
    return tuple(fields)


def _record(name: str, docs: str, fields: Fields) -> Mapping[str, Any]:
    """The Avro schema of a record with that name, documentation and fields, in TiCDC's
    namespace.
    """
    return {
        "namespace": NAMESPACE,
        "name": name,
        "type": "record",
        "docs": docs,
        "fields": list(fields),
    }


def _full_name(name: str) -> str:
    """The name of a record with TiCDC's namespace before it."""
    return f"{NAMESPACE}.{name}"


def _array(items: Schema) -> Mapping[str, Any]:
    """The Avro schema of an array of such items."""
    return {"type": "array", "items": items}


def _enum(name: str, *symbols: str) -> Mapping[str, Any]:
    """The Avro schema of an enumeration with these symbols, in their order."""
    return {"type": "enum", "name": name, "symbols": list(symbols)}


VALUE: Final[Sequence[str]] = (
    "null",
    "long",
    "float",
    "double",
    "string",
    "bytes",
    _full_name("Timestamp"),
    _full_name("UnsignedBigint"),
)
"""The branches of a column's value."""


DML_HEAD: Final = _fields(
    "version:int database:string table:string tableID:long type commitTs:long buildTs:long"
    " schemaVersion:long claimCheckLocation:string? handleKeyOnly:boolean? checksum:Checksum?",
    type=_enum("DMLType", "INSERT", "UPDATE", "DELETE"),
)
"""The fields of a DML before its images."""

MESSAGE_TYPES: Final = ("WATERMARK", "BOOTSTRAP", "DDL", "DML")
PAYLOADS: Final = ("Watermark", "Bootstrap", "DDL", "DML")
"""The record of each message type, in the order of MESSAGE_TYPES."""


def schema(default: str = "string") -> list[Mapping[str, Any]]:
    """The published schema, a union of twelve records; `default` is the type of a column's
    default.
    """
    data_type = (
        "mysqlType:string charset:string collate:string length:long decimal:int? elements?"
        " unsigned:boolean? zerofill:boolean?"
    )
    index = _fields(
        "name:string unique:boolean primary:boolean nullable:boolean columns",
        columns=_array("string"),
    )
    lists = {
        "columns": _array(_full_name("ColumnSchema")),
        "indexes": _array(_full_name("IndexSchema")),
    }
    table = _fields(
        "database:string table:string tableID:long version:long columns indexes", **lists
    )
    statements = _enum(
        "DDLType", "CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY"
    )
    ddl = (
        "version:int type sql:string commitTs:long buildTs:long tableSchema:TableSchema?"
        " preTableSchema:TableSchema?"
    )
    image = {"type": "map", "values": list(VALUE), "default": None}
    kinds: dict[str, Schema] = {
        "type": _enum("MessageType", *MESSAGE_TYPES),
        "payload": [_full_name(name) for name in PAYLOADS],
    }
    column = _fields(
        "name:string dataType:DataType nullable:boolean default", default=["null", default]
    )
    checksum = _fields("version:int corrupted:boolean current:long previous:long")
    watermark = _fields("version:int commitTs:long buildTs:long")
    bootstrap = _fields("version:int buildTs:long tableSchema:TableSchema")
    return [
        _record(
            "DataType",
            "each column's mysql type information",
            _fields(data_type, elements=_array("string")),
        ),
        _record("ColumnSchema", "each column's schema information", column),
        _record("IndexSchema", "each index's schema information", index),
        _record("TableSchema", "table schema information", table),
        _record("Checksum", "event's e2e checksum information", checksum),
        _record("Watermark", "the message format of the watermark event", watermark),
        _record("Bootstrap", "the message format of the bootstrap event", bootstrap),
        _record("DDL", "the message format of the DDL event", _fields(ddl, type=statements)),
        _record("Timestamp", "the timestamp value format", _fields("location:string value:string")),
        _record("UnsignedBigint", "unsigned bigint value format", _fields("value:long")),
        _record(
            "DML",
            "the message format of the DML event",
            DML_HEAD + _fields("data? old?", data=image, old=image),
        ),
        _record(
            "Message", "the wrapper for all kind of messages", _fields("type payload", **kinds)
        ),
    ]


SCHEMA: Final = schema()
"""The schema as published; its attribute `docs` and the default within the map type mean nothing to
Avro.
"""

ENCODER: Final = Encoder(schema(default="bytes"))
"""A BIT column's default is a raw byte string, which may be no UTF-8: the same bytes as a string's,
but fastavro encodes a string from text only.
"""

FLAGGED: Final = frozenset(
    (
        "tinyint",
        "smallint",
        "mediumint",
        "int",
        "bigint",
        "float",
        "double",
        "decimal",
        "bit",
        "year",
    ),
)
"""The types whose `unsigned` and `zerofill` are told, true or false; DECIMAL since June 2024."""


def message_value(name: str, payload: Mapping[str, Any]) -> Any:
    """A payload of the named record as a Message of the schema, in its branch of the union."""
    kind = MESSAGE_TYPES[PAYLOADS.index(name)]
    return _full_name("Message"), {"type": kind, "payload": (_full_name(name), payload)}


def control(
    record: records.DdlRecord | records.BootstrapRecord | records.WatermarkRecord,
    *,
    timestamp_decimal: bool,
) -> Any:
    """A message without a row (DDL, BOOTSTRAP, WATERMARK) as a value of the Avro schema.
    `timestamp_decimal` says that TIMESTAMP columns have their fraction digits.
    """

    def table(shape: records.TableSchema) -> Mapping[str, Any]:
        """A table's schema as a value of the Avro schema."""
        return table_schema(shape, timestamp_decimal=timestamp_decimal)

    match record:
        case records.WatermarkRecord():
            return message_value(
                "Watermark",
                {"version": VERSION, "commitTs": record.commit_ts, "buildTs": record.build_ts},
            )
        case records.BootstrapRecord():
            return message_value(
                "Bootstrap",
                {
                    "version": VERSION,
                    "buildTs": record.build_ts,
                    "tableSchema": table(record.table_schema),
                },
            )
        case records.DdlRecord():
            schemas = (
                ("tableSchema", record.table_schema),
                ("preTableSchema", record.pre_table_schema),
            )
            payload = {
                "version": VERSION,
                "type": record.type,
                "sql": record.sql,
                "commitTs": record.commit_ts,
                "buildTs": record.build_ts,
                **{
                    name: (_full_name("TableSchema"), table(shape)) if shape else None
                    for name, shape in schemas
                },
            }
            return message_value("DDL", payload)


def table_schema(shape: records.TableSchema, *, timestamp_decimal: bool) -> Mapping[str, Any]:
    """A table's schema as a value of the Avro record TableSchema; the member that JSON calls
    `schema` is `database` here.
    """
    return {
        "database": shape.database,
        "table": shape.table,
        "tableID": shape.table_id,
        "version": shape.version,
        "columns": [_column(column, timestamp_decimal) for column in shape.columns],
        "indexes": [{**asdict(index), "columns": list(index.columns)} for index in shape.indexes],
    }


def _column(column: records.ColumnSchema, timestamp_decimal: bool) -> Mapping[str, Any]:
    """A column of a table's schema as a value of the Avro schema; a default is bytes, those of BIT
    as TiDB stores them.
    """
    default = column.default
    default_bytes = default.encode() if isinstance(default, str) else default
    return {
        "name": column.name,
        "dataType": _data_type(column.data_type, timestamp_decimal),
        "nullable": column.nullable,
        "default": None if default is None else ("bytes", default_bytes),
    }


def _data_type(kind: records.DataType, timestamp_decimal: bool) -> Mapping[str, Any]:
    """A column's type as a value of the Avro schema, with null for the attributes that TiCDC does
    not send for it; with `timestamp_decimal` TIMESTAMP has its fraction digits.
    """
    flagged = kind.mysql_type in FLAGGED
    decimal = kind.mysql_type == "decimal" or (timestamp_decimal and kind.mysql_type == "timestamp")
    return {
        "mysqlType": kind.mysql_type,
        "charset": kind.charset,
        "collate": kind.collate,
        "length": kind.length,
        "decimal": kind.decimal if decimal else None,
        "elements": list(kind.elements) if kind.mysql_type in ("enum", "set") else None,
        "unsigned": kind.unsigned if flagged else None,
        "zerofill": kind.zerofill if flagged else None,
    }


def checksum(record: records.Checksum | None) -> Any:
    """A row's checksum as a value of the Avro schema; None without one."""
    if record is None:
        return None
    block = {
        "version": record.version,
        "corrupted": False,
        "current": record.current,
        "previous": record.previous,
    }
    return _full_name("Checksum"), block
