"""The databases that writers read: the facts of MySQL, PostgreSQL, SQL Server, Oracle and MongoDB
that generic code needs.

`Profile.source` and `SourceType.source` hold a name of `SOURCES`. Boundaries, strategies, bulk and
faults ask here instead of naming a database's module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from generators.errors import UnknownName
from generators.model import SourceType, Table, Value
from generators.sources import families as _families
from generators.sources import mongodb, mysql, oracle, postgresql, postgresql_values, sqlserver
from generators.sources.mysql import DdlAction


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A database.

    `types`, `boundary_values`, `candidates` (the named boundary values of any type) and `fits` are
    its module's. `families` are all types that are drawn, in groups of like types, and `keyable`
    those of them that make keys; `bulk_keys` are names of `types`. `as_stored` is a text as a
    column of the type returns it (CHAR's padding, characters that it cannot hold left out),
    `identifier` a name within the database's limit, `declared` a type as SQL spells it.
    `ddl_actions` are statements with quoted names in their places, `drawn_ddl` the ones that drawn
    histories take.

    `schema` is that of every table, None where the database has none; `pool_database` holds the
    pool of level two, another one for each source, so that a table's database tells the sources
    apart. `key`, `number`, `string`, `moment` and `long_text` are the types of scenarios about
    something else: bigint, int, varchar(64), a wall clock with microseconds, a long text.
    `key_name` is the name that the key `id` of a scenario\'s table has in messages.
    `equal_nulls`: whether NULLs in a unique key are the same: never, so that rows may have a key
    with a NULL several times; beside values, so that they may have a key of NULLs alone; always.
    """

    name: str
    types: Mapping[str, SourceType]
    boundary_values: Callable[[str], Mapping[str, Value]]
    candidates: Callable[[SourceType], Mapping[str, Value]]
    fits: Callable[[SourceType, Value], bool]
    families: tuple[tuple[SourceType, ...], ...]
    keyable: Callable[[SourceType], bool]
    bulk_keys: tuple[str, ...]
    as_stored: Callable[[SourceType, str], str]
    identifier: Callable[[str], str]
    quote: Callable[[str], str]
    declared: Callable[[SourceType], str]
    ddl_actions: Mapping[str, DdlAction]
    drawn_ddl: tuple[str, ...]
    schema: str | None
    pool_database: str
    key: SourceType
    number: SourceType
    string: SourceType
    moment: SourceType
    long_text: SourceType
    key_name: str = "id"
    equal_nulls: Literal["never", "beside values", "always"] = "never"


def _mysql_text(type: SourceType, value_text: str) -> str:
    """The text as MySQL gives it back: of a CHAR without the blanks at its end."""
    return value_text.rstrip(" ") if type.name == "char" else value_text


def _postgresql_text(type: SourceType, value_text: str) -> str:
    """The text as PostgreSQL stores it in the type: without NUL characters; a char is padded with
    blanks to its length.
    """
    value_text = value_text.replace("\0", "")
    return value_text.rstrip(" ").ljust(type.length or 0) if type.name == "char" else value_text


def _sqlserver_name(name: str) -> str:
    """The beginning of a name that is within SQL Server's limit of 128 characters."""
    return name[: sqlserver.NAME_LIMIT]


def _oracle_name(name: str) -> str:
    """The beginning of a name that is within Oracle's limit of 128 bytes, with apostrophes for
    quotes, which a name cannot have.
    """
    return name.encode()[: oracle.NAME_LIMIT].decode("utf-8", "ignore").replace('"', "'")


def _mysql_name(name: str) -> str:
    """The beginning of a name that is within MySQL's limit of 64 characters."""
    return name[: mysql.NAME_LIMIT]


def _postgresql_name(name: str) -> str:
    """The beginning of a name that is within PostgreSQL's limit of 63 bytes."""
    return name.encode()[: postgresql.NAME_LIMIT].decode(errors="ignore")


COMMENT: Final = 'it\'s "new"'
"""The comment that the statement `table comment` of every source sets."""

MYSQL: Final = Source(
    name="mysql",
    types=mysql.TYPES,
    boundary_values=mysql.boundary_values,
    candidates=mysql.candidates,
    fits=mysql.fits,
    families=_families.MYSQL,
    keyable=_families.mysql_keyable,
    bulk_keys=("bigint", "int", "unsigned-bigint", "varchar", "smallint"),
    as_stored=_mysql_text,
    identifier=_mysql_name,
    quote=mysql.quote,
    declared=mysql.declared,
    ddl_actions=mysql.DDL_ACTIONS,
    drawn_ddl=("truncate table", "add column", "rename table", "table comment", "table charset"),
    schema=None,
    pool_database="pool",
    key=mysql.integer("bigint"),
    number=mysql.integer("int"),
    string=mysql.text("varchar", 64),
    moment=mysql.temporal("datetime", 6),
    long_text=mysql.text("longtext"),
)

POSTGRESQL: Final = Source(
    name="postgresql",
    types=postgresql.TYPES,
    boundary_values=postgresql.boundary_values,
    candidates=postgresql_values.candidates,
    fits=postgresql.fits,
    families=_families.POSTGRESQL,
    keyable=_families.postgresql_keyable,
    bulk_keys=("bigint", "integer", "varchar", "smallint"),
    as_stored=_postgresql_text,
    identifier=_postgresql_name,
    quote=postgresql.quote,
    declared=postgresql.declared,
    ddl_actions=postgresql.DDL_ACTIONS,
    drawn_ddl=("truncate table", "add column", "rename table", "table comment"),
    schema=postgresql.SCHEMA,
    pool_database="pool_pg",
    key=postgresql.integer("bigint"),
    number=postgresql.integer("integer"),
    string=postgresql.text("varchar", 64),
    moment=postgresql.temporal("timestamp", 6),
    long_text=postgresql.text("text"),
)

SQLSERVER: Final = Source(
    name="sqlserver",
    types=sqlserver.TYPES,
    boundary_values=sqlserver.boundary_values,
    candidates=sqlserver.candidates,
    fits=sqlserver.fits,
    families=_families.SQLSERVER,
    keyable=_families.sqlserver_keyable,
    bulk_keys=("bigint", "int", "nvarchar", "smallint"),
    as_stored=sqlserver.stored_text,
    identifier=_sqlserver_name,
    quote=sqlserver.quote,
    declared=sqlserver.declared,
    ddl_actions=sqlserver.DDL_ACTIONS,
    drawn_ddl=("add column",),
    schema=sqlserver.SCHEMA,
    pool_database="pool_ms",
    key=sqlserver.integer("bigint"),
    number=sqlserver.integer("int"),
    string=sqlserver.text("nvarchar", 64),
    moment=sqlserver.temporal("datetime2", 6),
    long_text=sqlserver.text("nvarchar(max)"),
    equal_nulls="always",
)

ORACLE: Final = Source(
    name="oracle",
    types=oracle.TYPES,
    boundary_values=oracle.boundary_values,
    candidates=oracle.candidates,
    fits=oracle.fits,
    families=_families.ORACLE,
    keyable=_families.oracle_keyable,
    bulk_keys=("number-18", "number-9", "varchar2", "number-4"),
    as_stored=oracle.stored_text,
    identifier=_oracle_name,
    quote=oracle.quote,
    declared=oracle.declared,
    ddl_actions=oracle.DDL_ACTIONS,
    drawn_ddl=("add column",),
    schema=oracle.SCHEMA,
    pool_database="pool_ora",
    key=oracle.number(18),
    number=oracle.number(9),
    string=oracle.string("varchar2", 64),
    moment=oracle.temporal("timestamp", 6),
    long_text=oracle.string("varchar2", 4000),
    equal_nulls="beside values",
)

MONGODB: Final = Source(
    name=mongodb.NAME,
    types=mongodb.TYPES,
    boundary_values=mongodb.boundary_values,
    candidates=mongodb.candidates,
    fits=mongodb.fits,
    families=mongodb.FAMILIES,
    keyable=mongodb.keyable,
    bulk_keys=("long", "int", "string", "objectId"),
    as_stored=mongodb.as_stored,
    identifier=mongodb.collection_name,
    quote=mongodb.quote,
    declared=mongodb.declared,
    ddl_actions={},
    drawn_ddl=(),
    schema=None,
    pool_database="pool_mongo",
    key=mongodb.TYPES["long"],
    number=mongodb.TYPES["int"],
    string=mongodb.TYPES["string"],
    moment=mongodb.TYPES["date"],
    long_text=mongodb.TYPES["string"],
    key_name=mongodb.ID,
)

SOURCES: Final[Mapping[str, Source]] = {
    item.name: item for item in (MYSQL, POSTGRESQL, SQLSERVER, ORACLE, MONGODB)
}
"""Every source by its name."""


def source(name: str) -> Source:
    """The database (MySQL, PostgreSQL, SQL Server, Oracle, MongoDB) that SOURCES has under that
    name. Raises UnknownName for any other name.
    """
    if name not in SOURCES:
        raise UnknownName("source", name, SOURCES)
    return SOURCES[name]


def source_of(type: SourceType) -> Source:
    """The database whose type it is. Raises UnknownName for a type of an unknown one."""
    return source(type.source)


def of_table(table: Table) -> Source:
    """The source (the kind of database) whose types the table's columns have; MySQL for a table
    without columns. Raises UnknownName for a type of an unknown source.
    """
    return source_of(table.columns[0].type) if table.columns else MYSQL


def spelled(type: SourceType) -> bool:
    """Whether the values of the type are texts with a grammar of their own (PostgreSQL's uuid,
    MongoDB's ObjectId ...).
    """
    return postgresql_values.spelled(type) or mongodb.spelled(type)


def text_at(type: SourceType, number: int) -> str:
    """The text that a number below 2^128 stands for, in a type whose texts have a grammar
    (`spelled`). Every value of everyday size has a number, the plainest has 0.
    """
    if type.source == mongodb.NAME:
        return mongodb.text_at(type, number)
    return postgresql_values.text_at(type, number)


def fits(type: SourceType, value: Value) -> bool:
    """Whether the database whose type it is can store the value in the type."""
    return source_of(type).fits(type, value)
