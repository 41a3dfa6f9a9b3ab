"""The rules of what is no message, and of messages that carry no row, as JSON tells them: DDL, WATERMARK and BOOTSTRAP."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Rule, Selector
from conformance.rules.book import DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families.ticdc_simple.retold import envelope

_DATABASE_DDL: Final = ("ddl:create database", "ddl:drop database", "ddl:alter database")


def faults(book: Book, container: str = "json") -> tuple[Rule, ...]:
    """What is owed for messages that are none of Simple. TiCDC's own decoder fails some of it, and those rules cite that."""
    lenient = ("fault/cell-type", *(("fault/must-reject",) if container == "avro" else ()))
    cited = Citation("ticdc#own-decoder-lenient")
    return tuple(
        replace(rule, citations=(*rule.citations, cited)) if rule.id.endswith(lenient) else rule
        for rule in book.faults(container)
    )


def ddl(book: Book) -> tuple[Rule, ...]:
    """What is owed for DDL messages."""
    return (
        book.rule(
            "ddl/bit-default",
            "A BIT column's default is a JSON number where the document says String; the message stays readable.",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=("default:bit",)),
            "ticdc#simple-bit-default",
        ),
        book.rule(
            "ddl/without-table-schema",
            "A statement on a database has neither tableSchema nor preTableSchema and is a DDL change all the same.",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=_DATABASE_DDL),
            "ticdc#simple-ddl-database",
        ),
        book.rule(
            "ddl/without-pre-table-schema",
            "preTableSchema is optional: CREATE VIEW, RECOVER TABLE and, in the new architecture, nearly every DDL have none.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, kinds=("DDL",), profiles=("new-*",)),
            "ticdc#simple-pre-table-schema",
        ),
        book.rule(
            "ddl/query",
            "QUERY is every DDL without a type of its own (views, RECOVER TABLE, a batch of CREATE TABLE in classic ...).",
            Effect.LOST_SCHEMA_CHANGE,
            changes(kinds=("DDL",), tags=("ddl:create view", "ddl:drop view", "ddl:recover table", "ddl:create tables")),
            "ticdc#ddl-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/not-dropped",
            "A DDL message, which every partition has, is a change of its own in each: neither unreadable nor nothing, though "
            "another one has the same commitTs.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("DDL",)),
            "ticdc#simple-ddl",
            "ticdc#ddl-partitions",
            "ticdc#ddl-one-statement",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/kind",
            "type CREATE, RENAME, CINDEX, DINDEX, ERASE, TRUNCATE, ALTER or QUERY tells a DDL; no type says DDL.",
            Effect.LOST_SCHEMA_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.KIND, Aspect.OP), kinds=("DDL",)),
            "ticdc#simple-types",
            "ticdc#ddl-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/one-change",
            "A DDL message is one change.",
            Effect.PHANTOM_ROW,
            Selector(fields=("change",), aspects=(Aspect.EXTRA,), kinds=("DDL",)),
            "ticdc#simple-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/database-level",
            "A statement on a database names it in sql only; whether a decoder parses it is open.",
            Effect.WRONG_TABLE,
            envelope("database", "table", tags=_DATABASE_DDL),
            "ticdc#simple-ddl-database",
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "ddl/rename-new-name",
            "A RENAME is of the table's new name, tableSchema's; preTableSchema has the old one.",
            Effect.WRONG_TABLE,
            envelope("database", "table", kinds=("DDL",), tags=("ddl:rename table", "schema:rename")),
            "ticdc#simple-rename",
            "ticdc#simple-ddl",
        ),
        book.rule(
            "ddl/exchange-partition",
            "EXCHANGE PARTITION is of tableSchema's table; its preTableSchema is the statement's other table.",
            Effect.WRONG_TABLE,
            envelope("database", "table", "keys", "types", "schema_version", tags=("ddl:exchange partition",)),
            "ticdc#simple-exchange-partition",
        ),
        book.rule(
            "ddl/names",
            "A DDL has no database and table of its own: they are tableSchema.schema and tableSchema.table.",
            Effect.WRONG_TABLE,
            envelope("database", "schema", "table", kinds=("DDL",)),
            "ticdc#simple-ddl",
            "ticdc#simple-table-schema",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/sql",
            "sql is the statement as TiDB restored it, with its JSON escapes undone.",
            Effect.LOST_SCHEMA_CHANGE,
            envelope("sql", kinds=("DDL",)),
            "ticdc#ddl-restored",
            "ticdc#simple-ddl",
        ),
        book.rule(
            "ddl/keys",
            "keys of a DDL is the primary index of tableSchema, in the index's order.",
            Effect.WRONG_ROW_KEY,
            envelope("keys", kinds=("DDL",)),
            "ticdc#simple-indexes",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/types",
            "types of a DDL is mysqlType by column of tableSchema, not of preTableSchema.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("DDL",)),
            "ticdc#simple-ddl",
            "ticdc#simple-columns",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/schema-version",
            "schema_version of a DDL is tableSchema.version, all digits kept; version at the top is the protocol's.",
            Effect.LOST_PRECISION,
            envelope("schema_version", kinds=("DDL",)),
            "ticdc#simple-table-schema",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "ddl/position",
            "position of a DDL is its commitTs, and the time is commitTs >> 18 milliseconds, not buildTs.",
            Effect.WRONG_ORDER,
            envelope("position", "commit_time", kinds=("DDL",)),
            "ticdc#simple-ddl",
            "ticdc#tso",
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
            "ticdc#simple-watermark",
            "ticdc#ddl-partitions",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/kind",
            "type WATERMARK is a watermark, neither a row nor a DDL.",
            Effect.PHANTOM_ROW,
            changes(kinds=("WATERMARK",)),
            "ticdc#simple-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/position",
            "A watermark's position is its commitTs, all digits kept, and its time commitTs >> 18 milliseconds.",
            Effect.LOST_PRECISION,
            envelope("position", "commit_time", kinds=("WATERMARK",)),
            "ticdc#simple-watermark",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "watermark/no-table",
            "A watermark belongs to no table: it has no names, keys, types or statement.",
            Effect.WRONG_TABLE,
            envelope(kinds=("WATERMARK",)),
            "ticdc#simple-watermark",
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
            "ticdc#simple-bootstrap",
            "ticdc#simple-bootstrap-sending",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/kind",
            "type BOOTSTRAP is a schema, neither a DDL nor a row, although TiCDC's own consumer treats it as a DDL without sql.",
            Effect.PHANTOM_ROW,
            changes(kinds=("BOOTSTRAP",)),
            "ticdc#simple-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/position",
            "A BOOTSTRAP's position is its commitTs, 0, which the document calls meaningless: whether it is given is open.",
            Effect.WRONG_ORDER,
            envelope("position", kinds=("BOOTSTRAP",)),
            "ticdc#simple-bootstrap",
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "bootstrap/commit-time",
            "A BOOTSTRAP has no commit time: its commitTs 0 is no instant of 1970.",
            Effect.TIME_SHIFT,
            envelope("commit_time", kinds=("BOOTSTRAP",)),
            "ticdc#simple-bootstrap",
            obligation=SHOULD,
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/names",
            "A BOOTSTRAP's database and table are those of its tableSchema; it has no statement.",
            Effect.WRONG_TABLE,
            envelope("database", "schema", "table", "sql", kinds=("BOOTSTRAP",)),
            "ticdc#simple-bootstrap",
            "ticdc#simple-table-schema",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/keys",
            "keys of a BOOTSTRAP is the index with primary true, in its order: not a unique index, and not an index by its name.",
            Effect.WRONG_ROW_KEY,
            envelope("keys", kinds=("BOOTSTRAP",)),
            "ticdc#simple-indexes",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "bootstrap/types",
            "types of a BOOTSTRAP is mysqlType by column as it stands: unsigned is a flag of its own, against the "
            "document's table.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("BOOTSTRAP",)),
            "ticdc#simple-columns",
        ),
        book.rule(
            "bootstrap/schema-version",
            "schema_version of a BOOTSTRAP is tableSchema.version, all digits kept; version at the top is the protocol's.",
            Effect.LOST_PRECISION,
            envelope("schema_version", kinds=("BOOTSTRAP",)),
            "ticdc#simple-table-schema",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
    )
