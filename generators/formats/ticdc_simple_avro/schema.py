"""The Avro schema of TiCDC's Simple protocol, and its messages as values of that schema.

Facts: ticdc#avro-framing, #avro-records, #avro-branches. There is one released version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from generators.families.avro import Encoder, Schema
from generators.families.ticdc_simple.records import (
    BootstrapRecord,
    Checksum,
    ColumnSchema,
    DataType,
    DdlRecord,
    TableSchema,
    WatermarkRecord,
)

NAMESPACE: Final = "com.pingcap.simple.avro"
VERSION: Final = 1

Field = tuple[str, Schema] | tuple[str, Schema, None]
"""A field's name and schema; a third member is its default, null."""


def _record(name: str, docs: str, *fields: Field) -> Mapping[str, Any]:
    listed = [
        {"name": one[0], "type": one[1], "default": None} if len(one) == 3 else {"name": one[0], "type": one[1]} for one in fields
    ]
    return {"namespace": NAMESPACE, "name": name, "type": "record", "docs": docs, "fields": listed}


def _named(name: str) -> str:
    return f"{NAMESPACE}.{name}"


def _array(items: Schema) -> Mapping[str, Any]:
    return {"type": "array", "items": items}


def _enum(name: str, *symbols: str) -> Mapping[str, Any]:
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def _optional(name: str, kind: Schema) -> Field:
    return (name, ["null", kind], None)


VALUE: Final[Sequence[str]] = (
    "null",
    "long",
    "float",
    "double",
    "string",
    "bytes",
    _named("Timestamp"),
    _named("UnsignedBigint"),
)
"""The branches of a column's value."""


def _images() -> tuple[Field, ...]:
    return tuple(_optional(name, {"type": "map", "values": list(VALUE), "default": None}) for name in ("data", "old"))


DML_HEAD: Final[tuple[Field, ...]] = (
    ("version", "int"),
    ("database", "string"),
    ("table", "string"),
    ("tableID", "long"),
    ("type", _enum("DMLType", "INSERT", "UPDATE", "DELETE")),
    ("commitTs", "long"),
    ("buildTs", "long"),
    ("schemaVersion", "long"),
    _optional("claimCheckLocation", "string"),
    _optional("handleKeyOnly", "boolean"),
    _optional("checksum", _named("Checksum")),
)
"""The fields of a DML before its images."""

MESSAGE_TYPES: Final = ("WATERMARK", "BOOTSTRAP", "DDL", "DML")
PAYLOADS: Final = ("Watermark", "Bootstrap", "DDL", "DML")


def schema(default: str = "string") -> list[Mapping[str, Any]]:
    """The published schema, a union of twelve records; `default` is the type of a column's default."""
    return [
        _record(
            "DataType",
            "each column's mysql type information",
            ("mysqlType", "string"),
            ("charset", "string"),
            ("collate", "string"),
            ("length", "long"),
            _optional("decimal", "int"),
            _optional("elements", _array("string")),
            _optional("unsigned", "boolean"),
            _optional("zerofill", "boolean"),
        ),
        _record(
            "ColumnSchema",
            "each column's schema information",
            ("name", "string"),
            ("dataType", _named("DataType")),
            ("nullable", "boolean"),
            ("default", ["null", default]),
        ),
        _record(
            "IndexSchema",
            "each index's schema information",
            ("name", "string"),
            ("unique", "boolean"),
            ("primary", "boolean"),
            ("nullable", "boolean"),
            ("columns", _array("string")),
        ),
        _record(
            "TableSchema",
            "table schema information",
            ("database", "string"),
            ("table", "string"),
            ("tableID", "long"),
            ("version", "long"),
            ("columns", _array(_named("ColumnSchema"))),
            ("indexes", _array(_named("IndexSchema"))),
        ),
        _record(
            "Checksum",
            "event's e2e checksum information",
            ("version", "int"),
            ("corrupted", "boolean"),
            ("current", "long"),
            ("previous", "long"),
        ),
        _record(
            "Watermark",
            "the message format of the watermark event",
            ("version", "int"),
            ("commitTs", "long"),
            ("buildTs", "long"),
        ),
        _record(
            "Bootstrap",
            "the message format of the bootstrap event",
            ("version", "int"),
            ("buildTs", "long"),
            ("tableSchema", _named("TableSchema")),
        ),
        _record(
            "DDL",
            "the message format of the DDL event",
            ("version", "int"),
            ("type", _enum("DDLType", "CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")),
            ("sql", "string"),
            ("commitTs", "long"),
            ("buildTs", "long"),
            _optional("tableSchema", _named("TableSchema")),
            _optional("preTableSchema", _named("TableSchema")),
        ),
        _record("Timestamp", "the timestamp value format", ("location", "string"), ("value", "string")),
        _record("UnsignedBigint", "unsigned bigint value format", ("value", "long")),
        _record("DML", "the message format of the DML event", *DML_HEAD, *_images()),
        _record(
            "Message",
            "the wrapper for all kind of messages",
            ("type", _enum("MessageType", *MESSAGE_TYPES)),
            ("payload", [_named(name) for name in PAYLOADS]),
        ),
    ]


SCHEMA: Final = schema()
"""The schema as published; its attribute `docs` and the default within the map type mean nothing to Avro."""

ENCODER: Final = Encoder(schema(default="bytes"))
"""A BIT column's default is a raw byte string, which may be no UTF-8: the same bytes as a string's, but fastavro encodes
a string from text only."""

FLAGGED: Final = frozenset(
    ("tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "decimal", "bit", "year"),
)
"""The types whose `unsigned` and `zerofill` are told, true or false; DECIMAL since June 2024."""


def wrapped(name: str, payload: Mapping[str, Any]) -> Any:
    """A payload of that record in its Message, in the union's branch."""
    kind = MESSAGE_TYPES[PAYLOADS.index(name)]
    return _named("Message"), {"type": kind, "payload": (_named(name), payload)}


def control(record: DdlRecord | BootstrapRecord | WatermarkRecord, *, timestamp_decimal: bool) -> Any:
    """A message that carries no row. `timestamp_decimal` tells that TIMESTAMP columns have their fraction digits."""

    def table(found: TableSchema) -> Mapping[str, Any]:
        return table_schema(found, timestamp_decimal=timestamp_decimal)

    match record:
        case WatermarkRecord():
            return wrapped("Watermark", {"version": VERSION, "commitTs": record.commit_ts, "buildTs": record.build_ts})
        case BootstrapRecord():
            return wrapped(
                "Bootstrap", {"version": VERSION, "buildTs": record.build_ts, "tableSchema": table(record.table_schema)}
            )
        case DdlRecord():
            schemas = (("tableSchema", record.table_schema), ("preTableSchema", record.pre_table_schema))
            payload = {
                "version": VERSION,
                "type": record.type,
                "sql": record.sql,
                "commitTs": record.commit_ts,
                "buildTs": record.build_ts,
                **{name: (_named("TableSchema"), table(found)) if found else None for name, found in schemas},
            }
            return wrapped("DDL", payload)


def table_schema(found: TableSchema, *, timestamp_decimal: bool) -> Mapping[str, Any]:
    """A tableSchema; its database is `database`, not JSON's `schema`."""
    return {
        "database": found.database,
        "table": found.table,
        "tableID": found.table_id,
        "version": found.version,
        "columns": [_column(column, timestamp_decimal) for column in found.columns],
        "indexes": [
            {
                "name": index.name,
                "unique": index.unique,
                "primary": index.primary,
                "nullable": index.nullable,
                "columns": list(index.columns),
            }
            for index in found.indexes
        ],
    }


def _column(column: ColumnSchema, timestamp_decimal: bool) -> Mapping[str, Any]:
    default = column.default
    if isinstance(default, int):
        default_bytes = default.to_bytes((column.data_type.length + 7) // 8, "big")
    else:
        default_bytes = (default or "").encode()
    return {
        "name": column.name,
        "dataType": _data_type(column.data_type, timestamp_decimal),
        "nullable": column.nullable,
        "default": None if default is None else ("bytes", default_bytes),
    }


def _data_type(kind: DataType, timestamp_decimal: bool) -> Mapping[str, Any]:
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


def checksum(found: Checksum | None) -> Any:
    """A checksum record, or null."""
    if found is None:
        return None
    block = {"version": found.version, "corrupted": False, "current": found.current, "previous": found.previous}
    return _named("Checksum"), block
