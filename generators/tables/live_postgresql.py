"""What PostgreSQL's catalogue says of tables, as the statements that pg_dump would write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from generators.sources import postgresql

Query: TypeAlias = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a statement and returns its rows."""

_USERS: Final = """n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"""
"""The condition that a schema is a user's, not the database's own."""
_NAMED: Final = "quote_ident(n.nspname) || '.' || quote_ident({0})"
"""The expression of an object's name with its schema, both quoted where that is needed."""
_TABLE: Final = f"""FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_USERS} AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"""
"""The end of a query of all tables of users, but for those of extensions."""
_ENUMS: Final = f"""SELECT {_NAMED.format("t.typname")}, string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.ctid)
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_enum e ON e.enumtypid = t.oid
    WHERE {_USERS} GROUP BY 1 ORDER BY 1"""
_DOMAINS: Final = f"""SELECT {_NAMED.format("t.typname")}, format_type(t.typbasetype, t.typtypmod)
    || CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END || coalesce(' DEFAULT ' || t.typdefault, '')
    || coalesce((SELECT string_agg(' ' || pg_get_constraintdef(k.oid), '') FROM pg_constraint k
        WHERE k.contypid = t.oid AND k.contype = 'c'), '')
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE {_USERS} AND t.typtype = 'd' ORDER BY t.oid"""
_TABLES: Final = f"""SELECT c.oid, {_NAMED.format("c.relname")}, c.relpersistence::text, c.relreplident::text,
    pg_get_partkeydef(c.oid), obj_description(c.oid, 'pg_class') {_TABLE} ORDER BY 2"""
_COLUMNS: Final = """SELECT quote_ident(a.attname), format_type(a.atttypid, a.atttypmod), a.attnotnull,
    pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text,
    CASE WHEN a.attcollation <> t.typcollation THEN quote_ident(l.collname) END,
    col_description(a.attrelid, a.attnum)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = {0} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_KEYS: Final = f"""SELECT {_NAMED.format("c.relname")}, quote_ident(k.conname), pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN (SELECT c.oid, c.relname, c.relnamespace {_TABLE}) c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype IN ('p', 'u', 'c', 'f', 'x')
    ORDER BY array_position('{{p,u,c,x,f}}'::text[], k.contype::text), 1, k.conname"""
_INDEXES: Final = f"""SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN (SELECT c.oid {_TABLE}) c ON c.oid = i.indrelid
    WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
    ORDER BY i.indexrelid::regclass::text"""
_PARTITIONS: Final = f"""SELECT i.inhparent::regclass::text, {_NAMED.format("c.relname")}, pg_get_expr(c.relpartbound, c.oid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relispartition AND c.relkind IN ('r', 'p') AND {_USERS} ORDER BY 2"""
_VIEWS: Final = f"""SELECT CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW ' WHEN 'f' THEN 'FOREIGN TABLE ' ELSE 'VIEW ' END
    || {_NAMED.format("c.relname")} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE {_USERS} AND c.relkind IN ('v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY 1"""


def dump_statements(query: Query, database: str) -> Iterator[str]:
    """The statements that make the types and tables of a running database, as DDL text from its
    catalogue.
    """
    query("SET search_path = pg_catalog")
    yield f"-- PostgreSQL database dump\nCREATE DATABASE {postgresql.quote(database)}"
    for name, labels in query(_ENUMS):
        yield f"CREATE TYPE {name} AS ENUM ({labels})"
    for name, domain_definition in query(_DOMAINS):
        yield f"CREATE DOMAIN {name} AS {domain_definition}"
    for oid, name, persistence, replica_identity, partitions, comment in query(_TABLES):
        columns = query(_COLUMNS.format(int(oid)))
        unlogged = "UNLOGGED " if persistence == "u" else ""
        partitioned = f" PARTITION BY {partitions}" if partitions else ""
        column_lines = ",\n".join(_column(*column[:6]) for column in columns)
        yield f"CREATE {unlogged}TABLE {name} (\n{column_lines}\n){partitioned}"
        yield from (
            f"COMMENT ON COLUMN {name}.{column[0]} IS {_literal(column[6])}"
            for column in columns
            if column[6]
        )
        if comment:
            yield f"COMMENT ON TABLE {name} IS {_literal(comment)}"
        if replica_identity in ("f", "n", "i"):
            yield (
                f"ALTER TABLE {name} REPLICA IDENTITY"
                f" {({'f': 'FULL', 'n': 'NOTHING', 'i': 'USING INDEX'})[replica_identity]}"
            )
    for table, name, definition in query(_KEYS):
        yield f"ALTER TABLE ONLY {table} ADD CONSTRAINT {name} {definition}"
    for (definition,) in query(_INDEXES):
        yield definition
    for parent, child, bounds in query(_PARTITIONS):
        yield f"ALTER TABLE ONLY {parent} ATTACH PARTITION {child} {bounds}"
    for (object_name,) in query(_VIEWS):
        yield f"CREATE {object_name}"


def _column(
    name: str,
    type_name: str,
    not_null: bool,
    expression: str | None,
    generated: str,
    collation: str | None,
) -> str:
    """The line of a column in CREATE TABLE, from what the catalogue says of the column.
    `expression` is that of its default, or of a generated column; None for neither. `generated` is
    pg_attribute.attgenerated: "s" for stored, "v" for virtual, "" for a column that is not
    generated.
    """
    if not expression:
        value_clause = ""
    elif generated:
        storage = "VIRTUAL" if generated == "v" else "STORED"
        value_clause = f" GENERATED ALWAYS AS ({expression}) {storage}"
    else:
        value_clause = f" DEFAULT {expression}"
    collate_clause = f" COLLATE {collation}" if collation else ""
    null_clause = " NOT NULL" if not_null else ""
    return f"    {name} {type_name}{value_clause}{collate_clause}{null_clause}"


def _literal(value: str) -> str:
    """The text as a string literal of SQL."""
    return "'" + value.replace("'", "''") + "'"
