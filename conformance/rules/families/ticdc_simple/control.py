"""The rules of Simple's messages that carry no row, as JSON tells them: DDL, WATERMARK and BOOTSTRAP."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families.ticdc_simple.retold import DOCUMENT, REF, envelope

_DDL: Final = (DOCUMENT, "DDL")
_WATERMARK: Final = (DOCUMENT, "WATERMARK")
_BOOTSTRAP: Final = (DOCUMENT, "BOOTSTRAP")
_SCHEMA: Final = (DOCUMENT, "TableSchema definition")
_TYPES: Final = (DOCUMENT, "Message types")
_ENVELOPE_3_1: Final = (REF, "3.1")
_DATABASE_DDL: Final = ("ddl:create database", "ddl:drop database", "ddl:alter database")


def ddl(book: Book) -> tuple[Rule, ...]:
    """What is owed for DDL messages."""
    return (
        book.rule(
            "ddl/bit-default",
            "A BIT column's default is a JSON number where the document says String; the message stays readable.",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=("default:bit",)),
            (REF, "3.4"),
            (DOCUMENT, "Column definition: default is a String"),
        ),
        book.rule(
            "ddl/without-table-schema",
            "A statement on a database has neither tableSchema nor preTableSchema and is a DDL change all the same.",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=_DATABASE_DDL),
            _ENVELOPE_3_1,
            (DOCUMENT, "DDL: all events except CREATE have preTableSchema"),
        ),
        book.rule(
            "ddl/without-pre-table-schema",
            "preTableSchema is optional: CREATE VIEW, RECOVER TABLE and, in the new architecture, nearly every DDL have none.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, kinds=("DDL",), profiles=("new-*",)),
            (REF, "00-6, 3.1"),
            (DOCUMENT, "DDL: all events except CREATE have preTableSchema"),
        ),
        book.rule(
            "ddl/query",
            "QUERY is every DDL without a type of its own (views, RECOVER TABLE, a batch of CREATE TABLE in classic ...).",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=("ddl:create view", "ddl:drop view", "ddl:recover table", "ddl:create tables")),
            _TYPES,
            (REF, "1.6"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/not-dropped",
            "A DDL message, which every partition has, is a change of its own in each: neither unreadable nor nothing.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("DDL",)),
            _DDL,
            (DOCUMENT, "Message generation and sending rules"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/kind",
            "type CREATE, RENAME, CINDEX, DINDEX, ERASE, TRUNCATE, ALTER or QUERY tells a DDL; no type says DDL.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.KIND, Aspect.OP), kinds=("DDL",)),
            _TYPES,
            _ENVELOPE_3_1,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/one-change",
            "A DDL message is one change.",
            Effect.PHANTOM_ROW,
            Selector(fields=("change",), aspects=(Aspect.EXTRA,), kinds=("DDL",)),
            _DDL,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/database-level",
            "A statement on a database names it in sql only; whether a decoder parses it is open.",
            Effect.WRONG_TABLE,
            envelope("database", "table", tags=_DATABASE_DDL),
            _ENVELOPE_3_1,
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "ddl/rename-new-name",
            "A RENAME is of the table's new name, tableSchema's; preTableSchema has the old one.",
            Effect.WRONG_TABLE,
            envelope("database", "table", kinds=("DDL",), tags=("ddl:rename table", "schema:rename")),
            _ENVELOPE_3_1,
            ("pingcap/tiflow#10687", ""),
        ),
        book.rule(
            "ddl/exchange-partition",
            "EXCHANGE PARTITION is of tableSchema's table; its preTableSchema is the statement's other table.",
            Effect.WRONG_TABLE,
            envelope("database", "table", "keys", "types", "schema_version", tags=("ddl:exchange partition",)),
            _ENVELOPE_3_1,
        ),
        book.rule(
            "ddl/names",
            "A DDL has no database and table of its own: they are tableSchema.schema and tableSchema.table.",
            Effect.WRONG_TABLE,
            envelope("database", "schema", "table", kinds=("DDL",)),
            _DDL,
            _ENVELOPE_3_1,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/sql",
            "sql is the statement as TiDB restored it, with its JSON escapes undone.",
            Effect.LOST_SCHEMA_CHANGE,
            envelope("sql", kinds=("DDL",)),
            _DDL,
            (REF, "00-1, 1.6"),
        ),
        book.rule(
            "ddl/keys",
            "keys of a DDL is the primary index of tableSchema, in the index's order.",
            Effect.WRONG_ROW_KEY,
            envelope("keys", kinds=("DDL",)),
            (DOCUMENT, "Index definition"),
            (REF, "3.4"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/types",
            "types of a DDL is mysqlType by column of tableSchema, not of preTableSchema.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("DDL",)),
            (DOCUMENT, "DDL; Column definition"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/schema-version",
            "schema_version of a DDL is tableSchema.version, all digits kept; version at the top is the protocol's.",
            Effect.LOST_PRECISION,
            envelope("schema_version", kinds=("DDL",)),
            _SCHEMA,
            (REF, "3.1"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/position",
            "position of a DDL is its commitTs, and the time is commitTs >> 18 milliseconds, not buildTs.",
            Effect.WRONG_ORDER,
            envelope("position", "commit_time", kinds=("DDL",)),
            _DDL,
            (REF, "1.3"),
            provenance=DOCUMENTED,
        ),
    )


def watermark(book: Book) -> tuple[Rule, ...]:
    """What is owed for WATERMARK messages."""
    return (
        book.rule(
            "watermark/not-dropped",
            "A WATERMARK has four fields and is still exactly one readable change in each partition.",
            Effect.WRONG_ORDER,
            Selector(fields=("change",), aspects=EXISTENCE, kinds=("WATERMARK",)),
            _WATERMARK,
            (DOCUMENT, "Message generation and sending rules"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/kind",
            "type WATERMARK is a watermark, neither a row nor a DDL.",
            Effect.PHANTOM_ROW,
            changes(kinds=("WATERMARK",)),
            _TYPES,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/position",
            "A watermark's position is its commitTs, all digits kept, and its time commitTs >> 18 milliseconds.",
            Effect.LOST_PRECISION,
            envelope("position", "commit_time", kinds=("WATERMARK",)),
            _WATERMARK,
            (REF, "1.3"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/no-table",
            "A watermark belongs to no table: it has no names, keys, types or statement.",
            Effect.WRONG_TABLE,
            envelope(kinds=("WATERMARK",)),
            _WATERMARK,
            provenance=DOCUMENTED,
        ),
    )


def bootstrap(book: Book) -> tuple[Rule, ...]:
    """What is owed for BOOTSTRAP messages."""
    return (
        book.rule(
            "bootstrap/not-dropped",
            "A BOOTSTRAP, with commitTs 0, is exactly one readable change, in every partition that has it.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=EXISTENCE, kinds=("BOOTSTRAP",)),
            _BOOTSTRAP,
            (REF, "3.1, 3.5"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/kind",
            "type BOOTSTRAP is a schema, neither a DDL nor a row, although TiCDC's own consumer treats it as a DDL without sql.",
            Effect.PHANTOM_ROW,
            changes(kinds=("BOOTSTRAP",)),
            _TYPES,
            (REF, "5"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/position",
            "A BOOTSTRAP's position is its commitTs, 0, which the document calls meaningless: whether it is given is open.",
            Effect.WRONG_ORDER,
            envelope("position", kinds=("BOOTSTRAP",)),
            _BOOTSTRAP,
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "bootstrap/commit-time",
            "A BOOTSTRAP has no commit time: its commitTs 0 is no instant of 1970.",
            Effect.TIME_SHIFT,
            envelope("commit_time", kinds=("BOOTSTRAP",)),
            _BOOTSTRAP,
            (REF, "3.1"),
            obligation=SHOULD,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/names",
            "A BOOTSTRAP's database and table are those of its tableSchema; it has no statement.",
            Effect.WRONG_TABLE,
            envelope("database", "schema", "table", "sql", kinds=("BOOTSTRAP",)),
            _BOOTSTRAP,
            _SCHEMA,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/keys",
            "keys of a BOOTSTRAP is the index with primary true, in its order: not a unique index, and not an index by its name.",
            Effect.WRONG_ROW_KEY,
            envelope("keys", kinds=("BOOTSTRAP",)),
            (DOCUMENT, "Index definition"),
            (REF, "3.4"),
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/types",
            "types of a BOOTSTRAP is mysqlType by column as it stands: unsigned is a flag of its own, against the "
            "document's table.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("BOOTSTRAP",)),
            (DOCUMENT, "Column definition; mysqlType reference table"),
            (REF, "3.4"),
        ),
        book.rule(
            "bootstrap/schema-version",
            "schema_version of a BOOTSTRAP is tableSchema.version, all digits kept; version at the top is the protocol's.",
            Effect.LOST_PRECISION,
            envelope("schema_version", kinds=("BOOTSTRAP",)),
            _SCHEMA,
            (REF, "3.1"),
            provenance=DOCUMENTED,
        ),
    )
