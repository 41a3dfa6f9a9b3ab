"""The Simple protocol's messages as data, before any encoding: what JSON and Avro print alike.

Times named `build_ts` are milliseconds, `commit_ts` and versions
TSOs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from generators.model import Op, SourceType, Table, Value

SchemaKey: TypeAlias = tuple[str, str, int]
"""(database, table, version): the key of a schema in a decoder's cache of schemas."""

RowImage: TypeAlias = Mapping[str, tuple[SourceType, Value]]
"""A row image in a message: each column's type and its value as TiDB stores it, by name."""


@dataclass(frozen=True, slots=True)
class DataType:
    """A column's type; `length`, `decimal`, `elements`, `unsigned` and `zerofill` are left out of
    JSON when zero or empty.
    """

    mysql_type: str
    charset: str
    collate: str
    length: int = 0
    decimal: int = 0
    elements: tuple[str, ...] = ()
    unsigned: bool = False
    zerofill: bool = False


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column in a table's schema. `default` is the text of its default as TiDB stores it, bytes
    for a BIT column, None for no default.
    """

    name: str
    data_type: DataType
    nullable: bool = True
    default: str | bytes | None = None


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """An index in a table's schema; `nullable` says that one of its columns is."""

    name: str
    unique: bool
    primary: bool
    nullable: bool
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table's schema at one version; `table_id` is the id of the whole table, not of a
    partition.
    """

    database: str
    table: str
    table_id: int
    version: int
    columns: tuple[ColumnSchema, ...]
    indexes: tuple[IndexSchema, ...] = ()

    @property
    def key(self) -> SchemaKey:
        """The database, name and version by which rows find this schema."""
        return self.database, self.table, self.version

    @property
    def types(self) -> Mapping[str, str]:
        """The MySQL type of each column as the message spells it, by the column's name."""
        return {column.name: column.data_type.mysql_type for column in self.columns}

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary index, () without one."""
        return next((index.columns for index in self.indexes if index.primary), ())


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksums of a row after the change (`current`) and before it (`previous`); 0 says that
    there is none.
    """

    version: int
    current: int
    previous: int


@dataclass(frozen=True, slots=True)
class DmlRecord:
    """The message of a row change. `source` is the table with all its columns, also those that the
    images lack. `table_id` is the id of the table, or of the partition that holds the row. `data`
    and `old` are the row after and before the change; one that is None or empty is not sent.

    `handle_key_only` says that the images were cut to the columns that identify the row, because
    the message was too large; `claim_check_location` is where the whole message is stored, "" for
    nowhere.
    """

    source: Table
    table_id: int
    op: Op
    commit_ts: int
    build_ts: int
    schema_version: int
    data: RowImage | None
    old: RowImage | None
    checksum: Checksum | None = None
    claim_check_location: str = ""
    handle_key_only: bool = False

    @property
    def schema_key(self) -> SchemaKey:
        """The database, name and version of the schema that describes the row."""
        return self.source.database, self.source.name, self.schema_version


@dataclass(frozen=True, slots=True)
class DdlRecord:
    """The message of a DDL statement, with the table's schema after and before it; None where the
    message has none.
    """

    type: str
    sql: str
    commit_ts: int
    build_ts: int
    table_schema: TableSchema | None
    pre_table_schema: TableSchema | None


@dataclass(frozen=True, slots=True)
class BootstrapRecord:
    """The message of a table's schema, which no statement caused; its commitTs is 0."""

    build_ts: int
    table_schema: TableSchema


@dataclass(frozen=True, slots=True)
class WatermarkRecord:
    """The message of a watermark: everything that was committed before `commit_ts` has been
    sent.
    """

    commit_ts: int
    build_ts: int


Record: TypeAlias = DmlRecord | DdlRecord | BootstrapRecord | WatermarkRecord
