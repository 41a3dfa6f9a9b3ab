"""Turns a history into SQL statements for MariaDB, MySQL or PostgreSQL, and into the events that
these statements cause.

A drawn history may change rows that were never inserted, and may change several rows to different
values in one event. `plan_statements` adds the CREATE TABLE and the INSERTs that are missing, and
splits an UPDATE or DELETE into one event for each row: the writer under audit gets the same events
as the database.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from generators.errors import Refused
from generators.model import (
    Column,
    Event,
    History,
    Json,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceStatement,
    SourceType,
    Table,
    Value,
)
from generators.sources import databases, mysql, postgresql, postgresql_text

LONGEST: Final = 1024
"""Characters of a VARCHAR and bytes of a VARBINARY: a row of MariaDB has 65,535 bytes in all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """SQL statements, and the history of the events that they cause at the source."""

    history: History
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """How a database writes SQL. `quote` quotes a name; `declared` spells a type for CREATE TABLE,
    for which PostgreSQL's enum types have the name that is given; `literal` spells a value exactly;
    `same` is the condition that a column has a value. `limit` ends a statement that may change only
    one row, `ending` ends a CREATE TABLE.

    `logs_unchanged`: the server also logs an UPDATE that changes nothing. `identity` is
    PostgreSQL's REPLICA IDENTITY of tables (full, index, "" for the default). `queries`: the server
    logs the text of each statement before its rows.
    """

    quote: Callable[[str], str]
    declared: Callable[[SourceType, str], str]
    literal: Callable[[SourceType, Value], str]
    same: Callable[[str, SourceType, Value], str]
    limit: str
    logs_unchanged: bool
    ending: str = ""
    identity: str = ""
    queries: bool = False


def storable(type: SourceType, *, real_mysql: bool = False) -> bool:
    """Whether the database that the recorder starts can store values of the type. MariaDB's JSON
    type is a LONGTEXT, so JSON needs a real MySQL.
    """
    if type.source == "mysql":
        if type.logical is Logical.JSON:
            return real_mysql
        return type.name not in ("varchar", "varbinary") or (type.length or 0) <= LONGEST
    return True


# MariaDB and MySQL


def _mysql_declared(type: SourceType, _name: str) -> str:
    """A type as CREATE TABLE of MySQL or MariaDB spells it, backslashes doubled."""
    return mysql.declared(type).replace("\\", "\\\\")


def _mysql_literal(type: SourceType, value: Value) -> str:
    """The SQL literal of a value that MySQL or MariaDB takes without a conversion: a text is the
    bytes of its utf8mb4, ENUM and SET values are numbers. Raises Refused for a value that has no
    such literal.
    """
    match type.logical, value:
        case _, None:
            return "NULL"
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"
        case Logical.DECIMAL, Decimal():
            return f"{value:f}"
        case Logical.BIT, int():
            return f"b'{value:b}'"
        case Logical.TEXT, str():
            return f"_utf8mb4 x'{value.encode().hex()}'"
        case Logical.BINARY, bytes():
            return f"x'{value.hex()}'"
        case Logical.DATE, _:
            return f"'{mysql.date_text(value)}'"  # type: ignore[arg-type]
        case ((Logical.DATETIME | Logical.TIMESTAMP), _):
            return f"'{mysql.datetime_text(value, type.fsp)}'"  # type: ignore[arg-type]
        case Logical.TIME, int():
            return f"'{mysql.time_text(value, type.fsp)}'"
        case Logical.JSON, Json():
            return (
                "_utf8mb4"
                f" x'{postgresql_text.json_text(postgresql.json(), value.value).encode().hex()}'"
            )
        case _, int():
            return str(value)
    raise Refused(f"no literal of {type.key} for {value!r}")


def _mysql_same(column: str, type: SourceType, value: Value) -> str:
    """The SQL condition that a column of MySQL or MariaDB has exactly this value: texts are
    compared as bytes, enums, sets and bits as numbers.
    """
    if value is None:
        return f"{column} IS NULL"
    match type.logical:
        case Logical.TEXT:
            assert isinstance(value, str)
            return f"CAST({column} AS BINARY) = x'{value.encode().hex()}'"
        case Logical.BINARY:
            assert isinstance(value, bytes)
            stored = value.ljust(type.length or 0, b"\0") if type.name == "binary" else value
            return f"{column} = x'{stored.hex()}'"
        case Logical.FLOAT:
            return f"{column} = CAST({_mysql_literal(type, value)} AS FLOAT)"
        case Logical.ENUM | Logical.SET | Logical.BIT:
            return f"({column} | 0) = {value!s}"  # a sum is signed
    return f"{column} = {_mysql_literal(type, value)}"


_CHARSET: Final = " DEFAULT CHARSET=utf8mb4"
"""The character set that the writer's databases have; a connector that did not see the database's
asks the statement.
"""

MYSQL: Final = SqlDialect(
    mysql.quote,
    _mysql_declared,
    _mysql_literal,
    _mysql_same,
    " LIMIT 1",
    logs_unchanged=False,
    ending=_CHARSET,
)


# PostgreSQL


def _text_literal(string: str) -> str:
    """The SQL literal of any text for PostgreSQL, in ASCII and on one line."""

    def spelt(c: str) -> str:
        """One character of the literal: printable ASCII as it is, a backslash or quote escaped, any
        other by its number.
        """
        if c in "\\'":
            return f"\\{c}"
        return c if " " <= c <= "~" else f"\\U{ord(c):08x}"

    return f"E'{''.join(map(spelt, string))}'"


def _postgresql_declared(type: SourceType, name: str) -> str:
    """A type as CREATE TABLE of PostgreSQL spells it; `name` is that of the column's enum type."""
    return postgresql.quote(name) if type.name == "enum" else postgresql.declared(type)


def _postgresql_literal(type: SourceType, value: Value) -> str:
    """The SQL literal of a value for PostgreSQL, without a cast to its type."""
    value_text = _postgresql_text(type, value)
    return "NULL" if value_text is None else _text_literal(value_text)


def _postgresql_text(type: SourceType, value: Value) -> str | None:
    """A value as text that PostgreSQL casts to the type; None for NULL. Raises Refused for a value
    without such a text.
    """
    match type.logical, value:
        case _, None:
            return None
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return (
                "-0"
                if value == 0 and math.copysign(1, value) < 0
                else postgresql_text.real_text(type, value)
            )
        case Logical.DECIMAL, Decimal():
            return postgresql_text.numeric_text(value)
        case Logical.BIT, int():
            return postgresql_text.bit_text(type, value)
        case Logical.TEXT, str():
            return value
        case Logical.BINARY, bytes():
            return postgresql_text.bytea_text(value)
        case Logical.DATE, _:
            return mysql.date_text(value)  # type: ignore[arg-type]
        case Logical.DATETIME, int():
            return postgresql_text.timestamp_text(value)
        case Logical.TIMESTAMP, int():
            return postgresql_text.timestamptz_text(value)
        case Logical.TIME, int():
            return postgresql_text.time_text(value)
        case Logical.JSON, Json():
            match type.name:
                case "hstore":
                    return postgresql_text.hstore_text(value.value)
                case "json" | "jsonb":
                    return postgresql_text.json_text(type, value.value)
                case _:
                    return postgresql_text.array_text(value.value)
        case _, int():
            return str(value)
    raise Refused(f"no literal of {type.key} for {value!r}")


_WITHOUT_EQUALITY: Final = ("json", "hstore")
"""PostgreSQL's types that have no operator `=`."""


def _postgresql_same(column: str, type: SourceType, value: Value) -> str:
    """The SQL condition that a column of PostgreSQL has exactly this value; values of types without
    equality are compared as texts.
    """
    if value is None:
        return f"{column} IS NULL"
    if type.name in _WITHOUT_EQUALITY:
        return f"{column}::text = ({_postgresql_literal(type, value)}::{type.name})::text"
    return f"{column} = {_postgresql_literal(type, value)}"


POSTGRESQL: Final = SqlDialect(
    postgresql.quote,
    _postgresql_declared,
    _postgresql_literal,
    _postgresql_same,
    "",
    logs_unchanged=True,
)
DIALECTS: Final[Mapping[str, SqlDialect]] = {"mysql": MYSQL, "postgresql": POSTGRESQL}


# Statements


def _qualified_name(table: Table, dialect: SqlDialect) -> str:
    """The table's name in SQL, after that of its schema or, in MySQL, its database."""
    return f"{dialect.quote(table.schema or table.database)}.{dialect.quote(table.name)}"


def _enum_name(table: Table, column: Column) -> str:
    """The name of the PostgreSQL enum type of one column. It has the column's number and the end of
    the table's name, which is unique.
    """
    return f"enum_{table.columns.index(column)}_{table.name[-24:]}"


def create_statements(table: Table, dialect: SqlDialect) -> Iterator[str]:
    """The statements that create a table: a CREATE TYPE for each PostgreSQL enum, and the CREATE
    TABLE.
    """
    parts = []
    for column in table.columns:
        name = _enum_name(table, column)
        if column.type.source == "postgresql" and column.type.name == "enum":
            labels = ", ".join(map(_text_literal, column.type.members))
            yield f"CREATE TYPE {dialect.quote(name)} AS ENUM ({labels})"
        if column.generated:
            raise Refused(f"column {column.name} is generated: the model does not say how")
        kind = column.declared or dialect.declared(column.type, name)
        charset = f" CHARACTER SET {column.charset}" if column.charset else ""
        null = "NULL" if column.nullable else "NOT NULL"
        default = f" DEFAULT {column.default.text}" if column.default else ""
        parts.append(f"{dialect.quote(column.name)} {kind}{charset} {null}{default}")
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({', '.join(map(dialect.quote, table.primary_key))})")
    parts += [f"UNIQUE ({', '.join(map(dialect.quote, names))})" for names in table.unique]
    yield f"CREATE TABLE {_qualified_name(table, dialect)} ({', '.join(parts)}){dialect.ending}"


def _with_key_not_null(table: Table) -> Table:
    """The table as the database makes it of our CREATE TABLE: the columns of its primary key are
    NOT NULL.
    """
    columns = tuple(
        replace(c, nullable=c.nullable and c.name not in table.primary_key) for c in table.columns
    )
    return replace(table, columns=columns)


def _replica_identity(table: Table, dialect: SqlDialect) -> str:
    """What follows REPLICA IDENTITY in an ALTER TABLE of this table; "" if the table keeps
    PostgreSQL's default. With the dialect's identity `index` it is the index of the first unique
    key that has no nullable column, under the name that PostgreSQL gives it; PostgreSQL takes no
    other index.
    """
    if dialect.identity == "full":
        return "FULL"
    if dialect.identity != "index":
        return ""
    for key in table.unique:
        if not any(table.column(name).nullable for name in key):
            index = postgresql.index_name(table.name, key, "key")
            return f"USING INDEX {dialect.quote(index)}"
    return ""


def insert_statement(table: Table, inserted_rows: Iterable[Row], dialect: SqlDialect) -> str:
    """The INSERT statement that puts all these rows into the table, with a value for each
    column.
    """
    names = ", ".join(dialect.quote(c.name) for c in table.columns)
    values = (
        ", ".join(dialect.literal(c.type, row_values[c.name]) for c in table.columns)
        for row_values in inserted_rows
    )
    return (
        f"INSERT INTO {_qualified_name(table, dialect)} ({names}) VALUES"
        f" {', '.join(f'({row_values})' for row_values in values)}"
    )


def _where_clause(table: Table, values: Row, dialect: SqlDialect) -> str:
    """The WHERE clause that finds exactly one row: by its key, else by all columns. Of rows with
    equal values it finds only one: by the dialect's LIMIT, or, in PostgreSQL, whose UPDATE and
    DELETE have no LIMIT, by the place of the row (ctid).
    """
    names = table.handle_key
    columns = [table.column(name) for name in names] if names else list(table.columns)
    same = " AND ".join(
        dialect.same(dialect.quote(c.name), c.type, values[c.name]) for c in columns
    )
    if dialect.limit or names:
        return f"WHERE {same}{dialect.limit}"
    return f"WHERE ctid = (SELECT ctid FROM {_qualified_name(table, dialect)} WHERE {same} LIMIT 1)"


def update_statement(table: Table, images: RowImages, dialect: SqlDialect) -> str:
    """The UPDATE statement of one row, from its two images. It sets every column whose value
    changes, as 0.0 changes to -0.0; if none does, it sets the first column to the value that it
    has.
    """
    before, after = images.before, images.after
    assert before is not None and after is not None
    # Python's 0.0 and -0.0 are equal, and to a database are two values.
    changed = [c for c in table.columns if repr(before[c.name]) != repr(after[c.name])]
    changed = changed or [table.columns[0]]
    sets = ", ".join(
        f"{dialect.quote(c.name)} = {dialect.literal(c.type, after[c.name])}" for c in changed
    )
    return f"UPDATE {_qualified_name(table, dialect)} SET {sets} {_where_clause(table, before, dialect)}"


def delete_statement(table: Table, values: Row, dialect: SqlDialect) -> str:
    """The DELETE statement of one row, which is found by `values`, the values of its columns."""
    return f"DELETE FROM {_qualified_name(table, dialect)} {_where_clause(table, values, dialect)}"


class _StatementPlanner:
    """Collects the statements of a history and the events that they cause, and keeps track of the
    tables and rows that the database has then. `rows` has the rows of each table by its name,
    `spelled` the types as CREATE TABLE spelled them, by column name and type.
    """

    def __init__(self, dialect: SqlDialect) -> None:
        self.dialect = dialect
        self.rows: dict[str, list[Row]] = {}
        self.events: list[Event] = []
        self.statements: list[str] = []
        self.spelled: dict[tuple[str, SourceType], str] = {}

    def event(self, event: Event) -> None:
        """Adds the statements for an event of a drawn history. Raises Refused for a change of rows
        that no statement causes (a snapshot's READ).
        """
        match event:
            case RowChange(op=Op.INSERT | Op.UPDATE | Op.DELETE):
                event = replace(event, table=_with_key_not_null(event.table))
                self.ensure_table(event.table, event)
                self.change(replace(event, table=self.as_declared(event.table)))
            case SchemaChange():
                if event.before is not None:
                    self.ensure_table(_with_key_not_null(event.before), event)
                before, after = (
                    self.as_declared(_with_key_not_null(table)) if table else None
                    for table in (event.before, event.after)
                )
                event = replace(event, before=before, after=after)
                self.statements.append(event.sql)
                self.events.append(event)
                self.follow(event)
            case RowChange():
                raise Refused(f"a {event.op} is no statement")

    def ensure_table(self, table: Table, event: RowChange | SchemaChange) -> None:
        """Makes sure that the table is there: unless an earlier event did so, adds the statements
        that create it, and the event that they cause, at the time of `event`.
        """
        if table.name in self.rows:
            return
        self.rows[table.name] = []
        *before, sql = create_statements(table, self.dialect)
        if table.schema is None:
            self.spelled |= {
                (c.name, c.type): c.declared or self.dialect.declared(c.type, "")
                for c in table.columns
            }
        self.events.append(
            SchemaChange(
                event.at,
                "create table",
                sql,
                table.database,
                table.name,
                None,
                self.as_declared(table),
            )
        )
        self.statements += [*before, sql]
        identity = _replica_identity(table, self.dialect)
        if identity:
            self.statements.append(
                f"ALTER TABLE {_qualified_name(table, self.dialect)} REPLICA IDENTITY {identity}"
            )

    def as_declared(self, table: Table) -> Table:
        """The table with its columns' types as the statements that created it spell them: for MySQL
        with display widths; for PostgreSQL's enums by the names of their CREATE TYPE.
        """

        def declared(column: Column) -> str:
            """How the CREATE TABLE spells the column's type; for a PostgreSQL enum the name that
            its CREATE TYPE gave it.
            """
            is_postgresql_enum = table.schema is not None and column.type.name == "enum"
            return (
                _enum_name(table, column)
                if is_postgresql_enum
                else self.spelled.get((column.name, column.type), column.declared)
            )

        return replace(
            table, columns=tuple(replace(c, declared=declared(c)) for c in table.columns)
        )

    def follow(self, event: SchemaChange) -> None:
        """Updates the rows that are known of a table for a DDL statement: TRUNCATE empties it, a
        new column (its name is always `added`) has the value 1, a renamed table keeps its rows.
        """
        live = self.rows.pop(event.old_name or event.table, [])
        if event.action == "truncate table":
            live = []
        elif event.action == "add column":
            live = [{**values, "added": 1} for values in live]
        self.rows[event.table] = live

    def change(self, event: RowChange) -> None:
        """Adds a statement for each row that an UPDATE or DELETE changes, or one INSERT for all
        rows. Rows that the database does not have yet are inserted first.
        """
        table, live = event.table, self.rows[event.table.name]
        # A list has the rows of a table without key as often as the table.
        missing: list[Row] = []
        live_rows = list(live)
        for images in event.rows:
            if images.before is not None:
                if images.before in live_rows:
                    live_rows.remove(images.before)
                else:
                    missing.append(images.before)
        if missing:
            self.insert(
                replace(
                    event, op=Op.INSERT, rows=tuple(RowImages(None, values) for values in missing)
                )
            )
        if event.op is Op.INSERT:
            self.insert(event)
            return
        for images in event.rows:
            assert images.before is not None
            live.remove(images.before)
            if images.after is None:
                sql = delete_statement(table, images.before, self.dialect)
            else:
                sql = update_statement(table, images, self.dialect)
                live.append(images.after)
            self.statements.append(sql)
            if images.before != images.after or self.dialect.logs_unchanged:
                self.add_row_change(sql, replace(event, rows=(images,)))

    def insert(self, event: RowChange) -> None:
        """Adds one INSERT statement for all rows of the event, and the event."""
        new_rows = [images.after for images in event.rows if images.after is not None]
        self.rows[event.table.name] += new_rows
        sql = insert_statement(event.table, new_rows, self.dialect)
        self.statements.append(sql)
        self.add_row_change(sql, event)

    def add_row_change(self, sql: str, event: RowChange) -> None:
        """Adds the event of a row change to the plan, which a recorder executes. If the server logs
        statements, an event with the SQL that caused the change (`sql`) comes before it.
        """
        if self.dialect.queries:
            self.events.append(
                SourceStatement(event.at, "rows-query", sql, event.table.database, event.table.name)
            )
        self.events.append(event)


def plan_statements(history: History, *, identity: str = "", queries: bool = False) -> Plan:
    """Makes the SQL statements of a history, and the history of the events that they cause in a new
    database. `identity` is PostgreSQL's REPLICA IDENTITY (full, index, "" for the default). With
    `queries` the server logs each statement beside its rows.

    Watermarks, bootstraps, heartbeats and transaction marks are not caused by statements and are
    left out. Raises Refused for a change of rows that no statement causes (a snapshot).
    """
    tables = [event.table for event in history.events if isinstance(event, RowChange)]
    source = databases.of_table(tables[0]).name if tables else "mysql"
    work = _StatementPlanner(
        replace(
            DIALECTS[source], identity=identity if source == "postgresql" else "", queries=queries
        )
    )
    for event in history.events:
        work.event(event)
    return Plan(replace(history, events=tuple(work.events)), tuple(work.statements))
