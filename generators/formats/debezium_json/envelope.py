"""Debezium's structs other than rows: envelope, source and transaction blocks, keys, control
messages, names by release.

Source: the page debezium of the sources. Schemas are those of `connect`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from generators.families.connect import Schema, fields
from generators.families.debezium.mysql import reads_zerofill_signed
from generators.families.debezium.values import binary_schema
from generators.families.java_text import hash_order
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import Column, Default, Logical, SchemaChange, SourceType, Table
from generators.sources import mysql, postgresql, postgresql_values
from generators.sources.multi_table import (
    RenameClause,
    parse_dropped_tables,
    parse_renames,
)
from generators.sources.postgresql_types import postgresql_types
from generators.sources.sqlserver_types import sqlserver_types


def mangled(name: str) -> str:
    """An identifier as PostgreSQL's connectors 1.4 to 2.5 misread it from the replication stream:
    each byte of its UTF-8 above 0x7f becomes a character of its own, its number plus 0xFF00
    (debezium#mangled-names).
    """
    return (
        name
        if name.isascii()
        else "".join(
            chr(b if b < 0x80 else 0xFF00 | b) for b in name.encode("utf-8", "surrogatepass")
        )
    )


def column_name(name: str, profile: DebeziumProfile, snapshot: bool) -> str:
    """The name of a column as the connector reads it. It may not be its name at the source: some
    releases mangle names that are not ASCII, though not in a snapshot, which has the names of the
    catalogue (debezium#mangled-names); some leave each back-tick doubled (debezium#back-ticks).
    """
    if profile.mangles_names and not snapshot:
        return mangled(name)
    return name.replace("`", "``") if profile.doubles_ticks else name


def field_name(name: str, profile: DebeziumProfile, snapshot: bool) -> str:
    """The name of a column in the structs of keys and rows; it may have `_` for what Avro's names
    cannot have, unlike in what a statement's message says of its table (confluent#names).
    """
    name = column_name(name, profile, snapshot)
    return (
        underscored("[^A-Za-z0-9_]", f"_{name}" if name[:1].isdecimal() else name)
        if profile.avro_names
        else name
    )


def underscored(invalid: str, name: str) -> str:
    """The name with `_` for each char of Java that the pattern matches: two for a character beyond
    U+FFFF (PostgreSQL has it).
    """
    return re.sub(invalid, lambda match: "_" if match[0] <= "\uffff" else "__", name)


def adjusted(name: str, profile: DebeziumProfile) -> str:
    """The name of a Connect schema as the release writes it: unchanged from 2.0 on, before that
    with `_` for what Avro's names cannot have (debezium#schema-names).
    """
    if profile.keeps_schema_names and not profile.avro_names:
        return name
    return underscored(r"[^A-Za-z0-9_.]|^[0-9.]", name)


def topic_name(*parts: str) -> str:
    """The name of a topic: the parts joined by dots, with `_` for what Kafka does not allow."""
    return underscored(r"[^A-Za-z0-9._-]", ".".join(parts))


@lru_cache(maxsize=64)
def source_schema(profile: DebeziumProfile) -> Schema:
    """The Connect schema of the block `source` of a message."""
    snapshot = Schema(
        "string",
        True,
        "io.debezium.data.Enum",
        1,
        parameters=(("allowed", profile.snapshot_markers),),
        default='"false"',
    )
    declared = "version:string connector:string name:string ts_ms:int64 snapshot db:string"
    if profile.sequence:
        declared += " sequence:string?"
    if profile.fine_stamps:
        declared += " ts_us:int64? ts_ns:int64?"
    if profile.is_mysql:
        declared += (
            " table:string? server_id:int64 gtid:string? file:string pos:int64 row:int32"
            " thread:int64? query:string?"
        )
    elif profile.is_sqlserver:
        declared += (
            " schema:string table:string change_lsn:string? commit_lsn:string?"
            " event_serial_no:int64?"
        )
    elif profile.is_oracle:
        declared += (
            " schema:string table:string txId:string? scn:string? commit_scn:string?"
            " lcr_position:string? rs_id:string? ssn:int64? redo_thread:int32? user_name:string?"
        )
        if profile.oracle_starts:
            declared += (
                " redo_sql:string? row_id:string? commit_ts_ms:int64? start_scn:string?"
                " start_ts_ms:int64? txSeq:int64?"
            )
    else:
        declared += " schema:string table:string txId:int64? lsn:int64? xmin:int64?"
        declared += " origin:string? origin_lsn:int64?" * profile.origins
    name = f"io.debezium.connector.{profile.connector}.Source"
    return Schema(
        "struct",
        False,
        name,
        profile.source_version or None,
        fields=fields(declared, snapshot=snapshot),
    )


@lru_cache(maxsize=64)
def transaction_schema(profile: DebeziumProfile) -> Schema:
    """The Connect schema of the block `transaction` of a message. Releases that give it no version
    (`struct_version` 0) give it no name, either.
    """
    number = profile.struct_version or None
    members = fields("id:string total_order:int64 data_collection_order:int64")
    return Schema("struct", True, "event.block" if number else "", number, fields=members)


@lru_cache(maxsize=1024)
def envelope_schema(profile: DebeziumProfile, full_name: str, row: Schema) -> Schema:
    """The Connect schema of a row's message, with members in the order of the release; `row` is the
    schema of its images.
    """
    rest = "op:string ts_ms:int64?" + " ts_us:int64? ts_ns:int64?" * profile.fine_stamps
    last = f"transaction {rest}" if profile.transaction_first else f"{rest} transaction"
    blocks = {"source": source_schema(profile), "transaction": transaction_schema(profile)}
    members = fields(f"before after source {last}", before=row, after=row, **blocks)
    name = adjusted(f"{full_name}.Envelope", profile)
    return Schema("struct", False, name, profile.envelope_version or None, fields=members)


def flat_schema(profile: DebeziumProfile, row: Schema) -> Schema:
    """The Connect schema of a row's message without envelope: the row's columns and the members
    that the transform adds (debezium#flattened).
    """
    added = (
        f"__op:string? __table:string?{' __lsn:int64?' * (not profile.is_mysql)}"
        " __source_ts_ms:int64?"
    )
    if profile.flat == "flat-rewrite":
        added = (
            f"__deleted:string? {added}" if profile.deleted_first else f"{added} __deleted:string?"
        )
    return replace(row, optional=False, fields=(*row.fields, *fields(added)))


def stamps(profile: DebeziumProfile, ms: int) -> dict[str, int]:
    """The members that give one moment: `ts_ms`, and in releases with `fine_stamps` `ts_us` and
    `ts_ns`.
    """
    if not profile.fine_stamps:
        return {"ts_ms": ms}
    return {"ts_ms": ms, "ts_us": ms * 1000, "ts_ns": ms * 1_000_000}


@lru_cache(maxsize=64)
def heartbeat_schemas(profile: DebeziumProfile) -> tuple[Schema, Schema]:
    """The Connect schemas of the key and the value of a heartbeat."""
    common, number = "io.debezium.connector.common", profile.struct_version or None
    key = Schema(
        "struct", False, f"{common}.ServerNameKey", number, fields=fields("serverName:string")
    )
    return key, Schema("struct", False, f"{common}.Heartbeat", number, fields=fields("ts_ms:int64"))


@lru_cache(maxsize=64)
def boundary_schemas(profile: DebeziumProfile) -> tuple[Schema, Schema]:
    """The Connect schemas of the key and the value of a transaction's BEGIN or END."""
    common, number = "io.debezium.connector.common", profile.struct_version or None
    key = Schema(
        "struct", False, f"{common}.TransactionMetadataKey", number, fields=fields("id:string")
    )
    counted = fields("data_collection:string event_count:int64")
    collection = Schema(
        "struct", True, "event.collection" if number else "", number, fields=counted
    )
    declared = "status:string id:string event_count:int64? data_collections" + (
        " ts_ms:int64" if number else ""
    )
    members = fields(declared, data_collections=Schema("array", True, items=collection))
    return key, Schema(
        "struct", False, f"{common}.TransactionMetadataValue", number, fields=members
    )


@lru_cache(maxsize=64)
def message_schemas(profile: DebeziumProfile) -> tuple[Schema, Schema]:
    """The Connect schemas of the key and the value of PostgreSQL's logical decoding message."""
    common = "io.debezium.connector.postgresql"
    number = profile.struct_version or None
    key = Schema("struct", False, f"{common}.MessageKey", number, fields=fields("prefix:string?"))
    content = fields("prefix:string? content", content=binary_schema(profile.modes, True))
    block = Schema("struct", False, f"{common}.Message", number, fields=content)
    transaction = " transaction" if profile.transaction_first else ""
    declared = f"op:string ts_ms:int64? source{transaction} message"
    blocks = {
        "source": source_schema(profile),
        "transaction": transaction_schema(profile),
        "message": block,
    }
    return key, Schema(
        "struct", False, f"{common}.MessageValue", number, fields=fields(declared, **blocks)
    )


@lru_cache(maxsize=64)
def schema_change_schemas(profile: DebeziumProfile) -> tuple[Schema, Schema]:
    """The Connect schemas of the key and the value of a schema change, which differ between
    releases (debezium#schema-change).
    """
    common, number = f"io.debezium.connector.{profile.connector}", profile.struct_version or None
    key = Schema(
        "struct", False, f"{common}.SchemaChangeKey", number, fields=fields("databaseName:string")
    )
    declared = (
        f"source{' ts_ms:int64' if number else ''} databaseName:string? schemaName:string?"
        " ddl:string? tableChanges"
    )
    if profile.short_schema_changes:
        declared = "source databaseName:string ddl:string"
    changes = Schema("array", items=_change_schema(profile))
    members = fields(declared, source=source_schema(profile), tableChanges=changes)
    return key, Schema("struct", False, f"{common}.SchemaChangeValue", number, fields=members)


def _change_schema(profile: DebeziumProfile) -> Schema:
    """Connect's schema of an element of `tableChanges`, the description of a table and its columns,
    as the profile's release has it. Releases that give these schemas no version (`struct_version`
    0) describe neither defaults nor labels, and `table` is not optional there.
    """
    common, number = "io.debezium.connector.schema", profile.struct_version or None
    strings = Schema("array", True, items=Schema("string"))
    comment = " comment:string?" if profile.describes_comments else ""
    default = " defaultValueExpression:string? enumValues" if number else ""
    column = (
        "name:string jdbcType:int32 nativeType:int32? typeName:string typeExpression:string?"
        " charsetName:string? length:int32? scale:int32? position:int32 optional:boolean?"
        f" autoIncremented:boolean? generated:boolean?{comment}{default}"
    )
    described = Schema(
        "struct", False, f"{common}.Column", number, fields=fields(column, enumValues=strings)
    )
    declared = f"defaultCharsetName:string? primaryKeyColumnNames columns{comment}"
    members = fields(
        declared, primaryKeyColumnNames=strings, columns=Schema("array", items=described)
    )
    table = Schema("struct", number is not None, f"{common}.Table", number, fields=members)
    return Schema(
        "struct",
        False,
        f"{common}.Change",
        number,
        fields=fields("type:string id:string table", table=table),
    )


_JDBC: Final = {
    **dict.fromkeys(("TINYINT", "INT1", "SMALLINT", "INT2"), 5),
    **dict.fromkeys(("MEDIUMINT", "INT3", "MIDDLEINT", "INT", "INTEGER", "INT4", "YEAR"), 4),
    **dict.fromkeys(("BIGINT", "INT8", "SERIAL"), -5),
    **dict.fromkeys(("BOOLEAN", "BOOL"), 16),
    **dict.fromkeys(("DECIMAL", "DEC", "FIXED"), 3),
    "NUMERIC": 2,
    **dict.fromkeys(("FLOAT", "FLOAT4"), 6),
    "REAL": 7,
    **dict.fromkeys(("DOUBLE", "DOUBLE PRECISION", "FLOAT8"), 8),
    "BIT": -7,
    **dict.fromkeys(("CHAR", "CHARACTER", "ENUM", "SET"), 1),
    **dict.fromkeys(("NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"), -15),
    **dict.fromkeys(("NVARCHAR", "NCHAR VARYING", "NCHAR VARCHAR", "NATIONAL VARCHAR"), -9),
    **dict.fromkeys(("NATIONAL CHAR VARYING", "NATIONAL CHARACTER VARYING"), -9),
    **dict.fromkeys(("VARCHAR", "CHAR VARYING", "CHARACTER VARYING", "LONG", "LONG VARCHAR"), 12),
    **dict.fromkeys(("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"), 12),
    "BINARY": -2,
    "VARBINARY": -3,
    "DATE": 91,
    "TIME": 92,
    "DATETIME": 93,
    "TIMESTAMP": 2014,
    **dict.fromkeys(("JSON", "VECTOR", *(name.upper() for name in mysql.SPATIAL)), 1111),
}
"""Types of java.sql.Types by the words of a statement (debezium#jdbc-types)."""
_BLOB: Final = 2004
"""The type of java.sql.Types for every word that is not in _JDBC."""
_TINYINT: Final = -6
"""The type of TINYINT since 3.7, which was SMALLINT's (debezium#release-3-7)."""
_TEXTS: Final = (1, 12)
"""The types of CHAR and VARCHAR, which have a character set of their own."""
_NATIONAL: Final = (-15, -9)
"""The types of NCHAR and NVARCHAR, whose character set is always utf8."""
_LENGTHS: Final = {
    "BIT": 1,
    "VECTOR": 2048,
    **dict.fromkeys(("NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"), 1),
}
"""The length of types that are declared without one."""
_TIMES: Final = ("DATETIME", "TIMESTAMP", "TIME")
"""The types whose number is that of their fraction digits."""
_DECIMALS: Final = (2, 3)
"""The types of NUMERIC and DECIMAL."""
_DECLARED: Final = re.compile(
    r"((?:NATIONAL )?(?:N?CHAR|CHARACTER)(?: VARYING| VARCHAR)|NATIONAL \w+|DOUBLE PRECISION|LONG"
    r" VAR\w+|\w+)"
    r"\s*(?:\((\d+)(?:,\s*(\d+))?\)|\(.*?'\))?(.*)",
    re.DOTALL | re.IGNORECASE,
)
"""A column's type as a statement spells it: its words, the numbers in parentheses, and the rest of
the definition.
"""
_OWN_CHARSET: Final = re.compile(r"CHARACTER SET (\w+)", re.IGNORECASE)
"""The character set in a column's definition."""
_OF_INDEX: Final = re.compile(
    r"\s*(?:CREATE\s+(?:FULLTEXT\s+|SPATIAL\s+)?|DROP\s+)INDEX\b", re.IGNORECASE
)
"""The beginning of a CREATE INDEX or DROP INDEX."""
_UNIQUE_INDEX: Final = re.compile(r"\s*CREATE\s+UNIQUE\s+INDEX\b", re.IGNORECASE)
"""The beginning of a CREATE UNIQUE INDEX."""


WITHOUT_ROWS: Final = ("create view", "drop view", "create sequence")
"""Actions of `mysql.DDL_ACTIONS` on what has no rows; no named case has them."""


_DROP: Final = re.compile(
    r"(\s*DROP\s+TABLES?\s+(?:IF\s+EXISTS\s+)?).*?(?:\s+(RESTRICT|CASCADE))?\s*$",
    re.IGNORECASE | re.DOTALL,
)
"""A DROP TABLE: what stands before the names of tables, and the word behind them."""


def tables_of_statement(event: SchemaChange, profile: DebeziumProfile) -> list[str]:
    """The tables that `source` names for a DROP TABLE or RENAME TABLE of several tables, in the
    order of a Java HashSet of their ids: the dropped ones of the event's database, or the new
    names, in 1.4 with the old names (debezium#schema-change-names). [] for any other statement.
    """
    if event.action == "drop view":
        # A DROP VIEW names none, however many it drops (debezium#views).
        return []
    names = [
        dropped.name
        for dropped in parse_dropped_tables(event)
        if dropped.database == event.database
    ]
    renames = parse_renames(event.sql)
    if profile.short_schema_changes and event.old_name:
        for clause in renames or (RenameClause(event.old_name, event.table, event.sql),):
            names += [clause.new_name, clause.old_name]
    elif len(renames) > 1:
        names = [clause.new_name for clause in renames]
    if len(names) < 2:
        return []
    start = len(event.database) + 1
    qualified_names = [f"{event.database}.{name}" for name in dict.fromkeys(names)]
    return [qualified[start:] for qualified in hash_order(qualified_names)]


def statement_text(event: SchemaChange) -> str:
    """The text of a statement on one table in its message: that of the log, but a DROP TABLE names
    the table with its database, between back-ticks (debezium#table-changes-of-drop), and a RENAME
    TABLE of several tables has only this table's clause.
    """
    for clause in parse_renames(event.sql):
        if (clause.old_name, clause.new_name) == (event.old_name, event.table):
            return clause.sql
    match = _DROP.match(event.sql) if event.action == "drop table" else None
    if match is None:
        return event.sql
    name = f"{mysql.quote(event.database)}.{mysql.quote(event.table)}"
    return f"{match[1]}{name}{f' {match[2]}' if match[2] else ''}"


def table_changes(
    event: SchemaChange, charset: str | None, profile: DebeziumProfile
) -> list[dict[str, Any]]:
    """The member `tableChanges` of a statement's message; empty for a statement on an index. For a
    table that was dropped it is empty up to release 1.9, and later has no description. `charset` is
    the database's (debezium#table-changes).
    """
    if not event.table or event.action == "truncate table" or _OF_INDEX.match(event.sql):
        return []
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in (event.database, event.table))
    if event.action == "drop table":
        return [{"type": "DROP", "id": quoted, "table": None}] if profile.describes_drops else []
    table = event.after or event.before
    if table is None:
        return []
    type_ = "CREATE" if event.action == "create table" else "ALTER"
    return [{"type": type_, "id": quoted, "table": _describe_table(table, charset, profile)}]


def makes_no_key(
    event: SchemaChange, before: Table | None, after: Table | None, profile: DebeziumProfile
) -> bool:
    """Whether the statement is a CREATE UNIQUE INDEX that the connector passes over, as it does
    unless the index becomes the table's record key (debezium#table-changes). `before` and `after`
    are the table as the connector knows it.
    """
    if before is None or after is None or not _UNIQUE_INDEX.match(event.sql):
        return False
    return bool(keyed(before, profile).primary_key) or not keyed(after, profile).primary_key


NO_STATEMENT: Final = "N/A"
"""The statement of a schema change of SQL Server's connector, which reads none."""


def sqlserver_change(event: SchemaChange, table: Table) -> dict[str, Any]:
    """The element of `tableChanges` of a table of SQL Server that is captured anew
    (debezium#sqlserver-schema-change).
    """
    quoted = (f'"{part}"' for part in (table.database, table.schema or "", table.name))
    return {
        "type": "CREATE" if event.action == "create table" else "ALTER",
        "id": ".".join(quoted),
        "table": {
            "primaryKeyColumnNames": list(table.primary_key),
            "columns": [
                {**_sqlserver_column(column), "position": position}
                for position, column in enumerate(table.columns, 1)
            ],
        },
    }


def _sqlserver_column(column: Column) -> dict[str, Any]:
    """The description of a column of SQL Server in `tableChanges`, as the connector gets it from
    the database's driver.
    """
    type_row = sqlserver_types()[column.type.name]
    length, scale = sqlserver_size(column.type)
    name = type_row.reported or type_row.name
    return {
        "name": column.name,
        "jdbcType": type_row.jdbc,
        "typeName": name,
        "typeExpression": name,
        "length": length,
        "scale": scale,
        "optional": column.nullable,
        "autoIncremented": False,
        "generated": False,
        "defaultValueExpression": column.default.text if column.default else None,
    }


_TIME_LENGTHS: Final = {"time": 8, "datetime2": 19, "datetimeoffset": 26}
"""The characters of SQL Server's types of time without a fraction."""


def sqlserver_size(type: SourceType) -> tuple[int | None, int | None]:
    """The length and the scale of a type of SQL Server as the driver gives them."""
    type_row = sqlserver_types()[type.name]
    if type.name in _TIME_LENGTHS:
        digits = type.scale or 0
        return _TIME_LENGTHS[type.name] + (digits + 1 if digits else 0), digits
    if type_row.length is not None:
        return type_row.length, type_row.scale
    return type.precision or type.length, type.scale


def described_keys(changes: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """The key columns of each table that the elements of `tableChanges` describe; elements without
    a description are left out.
    """
    described = (change["table"] for change in changes)
    return tuple(tuple(table["primaryKeyColumnNames"]) for table in described if table)


def keyed(table: Table, profile: DebeziumProfile, snapshot: bool = False) -> Table:
    """MySQL's table with the record key that the connector takes: the primary key, else the first
    unique key that it accepts (debezium#unique-keys).

    It accepts a unique key over NOT NULL columns; up to 1.9 also one over nullable columns, which
    it then takes for NOT NULL; and in every release one that a column's own definition gives
    (UNIQUE), whose column stays nullable. A snapshot reads SHOW CREATE TABLE, which has no UNIQUE
    in definitions.
    """
    inline_keys = {(c.name,) for c in table.columns if c.inline_unique and not snapshot}
    nullable = {c.name for c in table.columns if c.nullable}
    accepted_keys = (
        key
        for key in table.unique
        if key in inline_keys or profile.nullable_keys or nullable.isdisjoint(key)
    )
    key = table.primary_key or next(accepted_keys, ())
    now_not_null = () if table.primary_key or key in inline_keys else key
    columns = tuple(
        replace(c, nullable=False) if c.name in now_not_null else c for c in table.columns
    )
    return replace(table, primary_key=key, columns=columns)


def _describe_table(table: Table, charset: str | None, profile: DebeziumProfile) -> dict[str, Any]:
    """The member `table` of an element of `tableChanges`: the table's character set, key, columns
    in order and comment, with the names that the profile writes. `charset` is None if the connector
    knows none; the key is the record key that the connector takes (`keyed`), not always the primary
    key.
    """
    table = keyed(table, profile)
    names = {column.name: column_name(column.name, profile, False) for column in table.columns}
    columns = [
        {**_column(column, charset, profile), "name": names[column.name], "position": position}
        for position, column in enumerate(table.columns, 1)
    ]
    return {
        "defaultCharsetName": charset,
        "primaryKeyColumnNames": [names[name] for name in table.primary_key],
        "columns": columns,
        "comment": comment_of(table, profile),
    }


def _column(column: Column, charset: str | None, profile: DebeziumProfile) -> dict[str, Any]:
    """The description of a column in `tableChanges`: type, length, character set and default as the
    statement spells them. `charset` is the table's character set, which a text column without one
    of its own has.
    """
    match = _DECLARED.match(column.declared or _spell_type(column.type))
    assert match is not None
    base, rest = match[1].upper(), f" {match[4].strip().upper()}"
    is_tinyint = base in ("TINYINT", "INT1") and profile.modes.signed_tinyint == "int8"
    jdbc = _TINYINT if is_tinyint else _JDBC.get(base, _BLOB)
    serial = base == "SERIAL"
    implied = "ZEROFILL" in rest and not reads_zerofill_signed(profile.modes)
    flags = ["SIGNED"] if re.match(r" SIGNED\b", rest) else []
    flags += ["UNSIGNED"] if "UNSIGNED" in rest or implied else []
    flags += [
        word
        for word in ("ZEROFILL", "BINARY")
        if re.match(rf"(?: SIGNED| UNSIGNED)*\s+{word}\b", rest)
    ]
    name = "BIGINT UNSIGNED" if serial else " ".join((base, *flags))
    labels = [literal(label) for label in column.type.members]
    length, scale = (int(part) if part else None for part in (match[2], match[3]))
    if length is None:
        length = _LENGTHS.get(base, 10 if jdbc in _DECIMALS else None)
    elif not length and base not in _TIMES:
        length = profile.zero_length
    if jdbc in _DECIMALS:
        scale = scale or 0
    if labels:
        length = 1 if base == "ENUM" else len(labels) * 2 - 1
    own = _OWN_CHARSET.search(match[4])
    counted = is_counted(column, profile)
    column_charset: str | None = None
    if jdbc in _NATIONAL:
        column_charset = "utf8"
    elif jdbc in _TEXTS:
        column_charset = own[1] if own else column.charset or charset
    return {
        "name": column.name,
        "jdbcType": jdbc,
        "typeName": name,
        "typeExpression": name,
        "charsetName": column_charset,
        "length": length,
        "scale": scale,
        "optional": column.nullable,
        "autoIncremented": counted,
        "generated": counted,
        "comment": comment_of(column, profile),
        "defaultValueExpression": _default_expression(column.default),
        "enumValues": [f"'{label}'" for label in labels] or None,
    }


@dataclass(frozen=True, slots=True)
class DeclaredSize:
    """The numbers in parentheses behind a column's type, None without any."""

    length: int | None
    scale: int | None


def declared_size(column: Column) -> DeclaredSize:
    """The numbers in parentheses behind the type of a column, as its statement spells it; None for
    a column of which no spelling is known.
    """
    match = _DECLARED.match(column.declared)
    if match is None:
        return DeclaredSize(None, None)
    length, scale = (int(part) if part else None for part in (match[2], match[3]))
    return DeclaredSize(length, scale)


_COUNTED: Final = re.compile(r"\bAUTO_INCREMENT\b|^\s*SERIAL\b|\bON UPDATE\b", re.IGNORECASE)
"""Words of a definition by which the connector takes a column for one that counts by itself."""
_UPDATED_DEFAULT: Final = re.compile(
    r"\bDEFAULT (?:CURRENT_TIMESTAMP|NOW|LOCALTIME|LOCALTIMESTAMP)\s*(?:\(\s*\d*\s*\))?"
    r" ON UPDATE\b",
    re.IGNORECASE,
)
"""The default CURRENT_TIMESTAMP with the ON UPDATE behind it."""


def is_counted(column: Column, profile: DebeziumProfile) -> bool:
    """Whether the connector's parser takes a column for one that counts by itself: AUTO_INCREMENT,
    SERIAL, and, by mistake, ON UPDATE (MariaDBParser.g4: autoIncrementColumnConstraint,
    defaultValue). One that follows the default CURRENT_TIMESTAMP counts only in releases with
    `counts_updates` (debezium#counters).
    """
    definition = column.declared
    if not profile.counts_updates:
        definition = _UPDATED_DEFAULT.sub("", definition)
    is_updated = profile.counts_updates and column.has_on_update
    return column.is_counter or is_updated or bool(_COUNTED.search(definition))


def literal(text: str) -> str:
    """A text as SQL writes it between quotes: quotes and back-slashes are doubled."""
    return text.replace("'", "''").replace("\\", "\\\\")


def comment_of(named: Table | Column, profile: DebeziumProfile) -> str | None:
    """The comment of a table or column, which the connector knows as the statement spells it; None
    for none, and if the connector runs without include.schema.comments (debezium#comments).
    """
    return named.comment if profile.comments else None


def source_parameters(
    column: Column, profile: DebeziumProfile, snapshot: bool
) -> tuple[tuple[str, str], ...]:
    """The parameters that column.propagate.source.type adds to a column's schema: type, length,
    scale, comment and name (debezium#source-type). `snapshot` says that rows are read, not
    streamed.
    """
    if not profile.is_mysql:
        length, scale = postgresql_size(column.type)
        facts: dict[str, Any] = {
            "typeName": _postgresql_name(column, snapshot or profile.names_serials),
            "length": length,
            "scale": scale,
            "name": column.name,
        }
    else:
        facts = _column(column, None, profile)
    parameters = {
        "type": facts["typeName"],
        **{name: facts.get(name) for name in ("length", "scale", "comment", "name")},
    }
    return tuple(
        (f"__debezium.source.column.{name}", str(fact))
        for name, fact in parameters.items()
        if fact is not None and fact != ""
    )


_ANY_LENGTH: Final = 2_147_483_647
"""The length that PostgreSQL's driver gives for a type without one."""
_ANY_NUMERIC: Final = 131_089
"""The length that PostgreSQL's driver gives for a NUMERIC without precision."""


def catalogue_name(name: str) -> str:
    """The name that a PostgreSQL type has in the catalogue pg_type."""
    return postgresql_types()[name].catalogue or name


_SERIALS: Final = {"smallint": "SMALLSERIAL", "integer": "SERIAL", "bigint": "BIGSERIAL"}
"""The serial type of each integer type of PostgreSQL."""


def _postgresql_name(column: Column, names_serials: bool) -> str:
    """The type of a column as PostgreSQL's catalogue calls it. An enum has the name of its CREATE
    TYPE, or a fixed one where the type does not tell it. With `names_serials` an integer whose
    default has a sequence's next number in it has the name of a serial type, as the driver calls
    it; one of a domain has not.
    """
    serial = _SERIALS.get(column.type.name) if names_serials and not column.declared else None
    if serial and column.default and "nextval(" in column.default.text.lower():
        return serial
    base = column.type.name.removesuffix("[]")
    name = column.declared or "mood" if base == "enum" else catalogue_name(base)
    return "_" * column.type.name.endswith("[]") + name.strip('"').upper()


def postgresql_size(type: SourceType) -> tuple[int, int]:
    """The length and the scale of a type, or of an array's elements, as PostgreSQL's driver gives
    them (debezium#source-type).
    """
    type = postgresql.element(type) if type.name.endswith("[]") else type
    row = postgresql_types()[type.name]
    if type.name == "numeric":
        free = postgresql_values.unconstrained(type)
        return (_ANY_NUMERIC, 0) if free else (type.precision or 0, (type.scale or 0) & 0x7FF)
    if row.driver_time is not None:
        # Of one fraction digit the driver counts two.
        digits = 0 if type.name == "date" else type.fsp
        return row.driver_time + (digits + 1 + (digits == 1) if digits else 0), digits
    if type.name == "interval":
        return 49, 6
    sized = type.logical is Logical.BIT or type.name in ("char", "varchar")
    return row.driver_size or ((sized and type.length) or _ANY_LENGTH, 0)


def _spell_type(type: SourceType) -> str:
    """A MySQL type as statements spell it; integers have no width."""
    sized = type.name in ("char", "varchar", "binary", "varbinary", "bit") or (
        type.name,
        type.length,
    ) == ("tinyint", 1)
    first = type.precision or (type.length if sized else type.fsp)
    parameters = f"({first})" if first else ""
    if type.scale is not None:
        parameters = f"({first},{type.scale})"
    return (
        type.name
        + parameters
        + (" unsigned" if type.unsigned else "")
        + (" zerofill" if type.zerofill else "")
    )


_CLOCK: Final = re.compile(
    r"(?:CURRENT_TIMESTAMP|NOW|LOCALTIME|LOCALTIMESTAMP|CURDATE|CURTIME)\b", re.IGNORECASE
)
"""Functions of the time that the connector's parser does not take for expressions."""
_FUNCTION: Final = re.compile(r"[^\W\d]\w*\s*(?:\(.*)?", re.DOTALL)
"""The call of a function, or its bare name."""


def is_expression(default: Default) -> bool:
    """Whether the connector's parser takes a default of MySQL for an expression, of which it knows
    no value: one in parentheses, or a function of MariaDB's as CURRENT_DATE or UUID(). The
    functions of the time in _CLOCK are no expressions to it. (In our model the value of each of
    them is None, as of whatever is no literal.)
    """
    if default.text.startswith("("):
        return True
    is_function = default.value is None and _FUNCTION.fullmatch(default.text) is not None
    return is_function and _CLOCK.match(default.text) is None


def _default_expression(default: Default | None) -> str | None:
    """The text of a column's default as the connector's DDL parser keeps it: a literal without
    quotes, the epoch for the current time; None without a default, and for an expression.
    """
    if default is None or is_expression(default):
        return None
    if default.text.lower().startswith(("current_timestamp", "now")):
        return "1970-01-01 00:00:00"
    default_text = default.text.removeprefix("b")
    return default_text[1:-1] if default_text[:1] in ("'", '"') else default_text


def qualified(profile: DebeziumProfile, table: Table, snapshot: bool) -> tuple[str, str]:
    """The database (MySQL) or schema (PostgreSQL), and the table, as the connector names them: a
    release that misreads names beyond ASCII in the replication stream is right in a snapshot.
    """
    outer = table.database if profile.is_mysql else table.schema or "public"
    return (
        (mangled(outer), mangled(table.name))
        if profile.mangles_names and not snapshot
        else (outer, table.name)
    )
