"""What a decoder of upstream Debezium's JSON owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Provenance, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, changes
from conformance.rules.formats.debezium_json.values import BOOK, VALUES
from conformance.rules.order import FILE_POSITION_ROW, NUMBER, Order

_POSTGRESQL: Final = ("*+postgresql*",)
_MANGLING: Final = ("[12].*+postgresql*",)
_SCHEMALESS: Final = ("*+schemaless*",)

_CONTROL: Final = (
    BOOK.rule(
        "control/heartbeat",
        "A heartbeat (ts_ms alone, no op) is HEARTBEAT, not a row and not an error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        "debezium#heartbeat",
    ),
    BOOK.rule(
        "control/transaction",
        "BEGIN and END (status, no op) are TRANSACTION; their ids differ from the rows' in PostgreSQL.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        "debezium#transaction-boundary",
        "debezium#transaction-id-postgresql",
    ),
    BOOK.rule(
        "control/logical-message",
        "op m is a logical decoding message: no images, whatever its content looks like.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        "debezium#logical-message",
    ),
    BOOK.rule(
        "control/fields",
        "A heartbeat and a transaction boundary have no source block: no names, position or time; a logical message has one.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,), kinds=("HEARTBEAT", "TRANSACTION", "CONTROL")),
        "debezium#heartbeat",
        "debezium#transaction-boundary",
        "debezium#logical-message",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "tombstone/legacy-null",
        'Before Kafka 2.2 a null is the text {"schema":null,"payload":null}, in values and in keys: a tombstone.',
        Effect.PHANTOM_ROW,
        Selector(fields=("change",), aspects=WHOLE, kinds=("TOMBSTONE",), profiles=("*+legacy-tombstone*",)),
        "connect#null-record",
    ),
    BOOK.rule(
        "tombstone/kind",
        "A null value is a tombstone: neither a row nor an error, and no second delete.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TOMBSTONE",)),
        "debezium#tombstone",
        "connect#null-record",
    ),
    BOOK.rule(
        "tombstone/keys",
        "A tombstone's record key names the key columns.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("TOMBSTONE",)),
        "debezium#tombstone",
        "debezium#record-key",
        obligation=SHOULD,
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "tombstone/fields",
        "A tombstone has no source block; a table known from its topic or its key's schema is nothing that the value tells.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,), kinds=("TOMBSTONE",)),
        "debezium#tombstone",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "ddl/bare",
        "A schema change of 1.4 has source, databaseName and ddl alone: no op, no ts_ms, no tableChanges.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, kinds=("DDL",), profiles=("1.4*",)),
        "debezium#schema-change-bare",
    ),
    BOOK.rule(
        "ddl/kind",
        "A schema change has no op: payload.ddl makes it one DDL change, with tableChanges empty or not.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        "debezium#schema-change",
    ),
    BOOK.rule(
        "ddl/names",
        "A schema change names databaseName and the source block's table, none for a statement about a database or an index.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        "debezium#schema-change-names",
        "debezium#table-changes",
        obligation=SHOULD,
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "ddl/sql",
        "ddl is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "debezium#schema-change",
    ),
)

_ROWS: Final = (
    BOOK.rule(
        "envelope/query",
        "source.query is the statement, and decides nothing: an INSERT ... ON DUPLICATE KEY UPDATE may be u, a REPLACE d.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=WHOLE, kinds=("ROW",), tags=("query",)),
        "debezium#query",
    ),
    BOOK.rule(
        "op/read-one-position",
        "The rows of a snapshot share one position: each is a change, none a duplicate of another.",
        Effect.LOST_CHANGE,
        changes(ops=("READ",), tags=("one-position",)),
        "debezium#snapshot-position",
        "debezium#snapshot-markers",
    ),
    BOOK.rule(
        "op/read",
        "r is a row that was read, by a snapshot: READ with an after image, not an insert to be left out.",
        Effect.LOST_CHANGE,
        changes(ops=("READ",)),
        "debezium#operations",
    ),
    BOOK.rule(
        "op/truncate",
        "t empties the table: TRUNCATE without images and without a key.",
        Effect.LOST_DELETE,
        changes(ops=("TRUNCATE",)),
        "debezium#truncate",
    ),
    BOOK.rule(
        "key/update",
        "An UPDATE of the key is a delete of the old key, a tombstone and an insert of the new one: three records, two changes.",
        Effect.LOST_DELETE,
        changes(kinds=("ROW",), tags=("key-update",)),
        "debezium#key-update",
    ),
    BOOK.rule(
        "rows/schemaless",
        "With schemas.enable=false the value is the payload: it is read, and neither schema nor payload is missed.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=_SCHEMALESS),
        "connect#schemas-enable",
        "debezium#schema-optional",
    ),
    BOOK.rule(
        "value/boolean-declared",
        "A column declared BOOLEAN is true or false where its CREATE TABLE was streamed; with the table known it is 1 or 0.",
        Effect.LOST_CHANGE,
        Selector(fields=("change", "cell"), tags=("boolean-declared",)),
        "debezium#boolean-tinyint",
    ),
    BOOK.rule(
        "rows/without-before",
        "Under REPLICA IDENTITY DEFAULT an UPDATE without before and a DELETE with the key alone are changes, and no error.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), tags=("identity",), profiles=_POSTGRESQL),
        "debezium#before-default-identity",
    ),
    BOOK.rule(
        "rows/every-row",
        "Each message of a row is one change, whatever its schema block says and whatever its columns are called; so is a "
        "flattened one.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA), kinds=("ROW",)),
        "connect#schemas-enable",
        "debezium#snapshot-member",
        "debezium#flattened",
    ),
    BOOK.readable(),
    BOOK.rule(
        "rows/op",
        "op is the operation: c, u, d in lower case; of a flattened row __op is.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "debezium#operations",
        "debezium#flattened",
    ),
    BOOK.one_each(),
)

_FIELDS: Final = (
    BOOK.rule(
        "key/look-alike",
        "A schemaless key whose columns are called schema and payload is no envelope.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("key-look-alike",)),
        "connect#schemas-enable",
    ),
    BOOK.rule(
        "key/schemaless",
        "Key and value have converters of their own: a schemaless key is the object itself, beside a value with a schema too.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), profiles=(*_SCHEMALESS, "*+plain-key*")),
        "connect#schemas-enable",
        "debezium#schema-optional",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "key/back-tick",
        "Up to 2.5 MySQL's connector keeps a back-tick in a column's name doubled, as statements do: what is written counts.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("back-tick",)),
        "debezium#back-ticks",
    ),
    BOOK.rule(
        "key/mangled-names",
        "PostgreSQL connectors 1.4 to 2.5 mangle names that are not ASCII in streams: what is written counts; a table so named "
        "has no key, and a column so named is not in it.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys", "table", "schema"), profiles=_MANGLING, tags=("not-ascii-name",)),
        "debezium#mangled-names",
    ),
    BOOK.rule(
        "key/columns",
        "The record key's members are the key's columns in its declared order, in streams of PostgreSQL's 1.4 in the table's.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "debezium#record-key",
    ),
    BOOK.rule(
        "envelope/position-postgresql",
        "The position is source.lsn, an integer, as decimal text.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",), profiles=_POSTGRESQL),
        "debezium#source-postgresql",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "envelope/position",
        "The position is source.file, source.pos and source.row: rows of one event differ in row alone.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "debezium#source-mysql",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "envelope/commit-time",
        "source.ts_ms is when the database changed; the envelope's ts_ms is when the connector saw it, earlier or later.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "debezium#commit-time",
    ),
    BOOK.rule(
        "envelope/schema",
        "source.schema is the schema of a PostgreSQL table; MySQL has none.",
        Effect.WRONG_TABLE,
        Selector(fields=("schema",)),
        "debezium#source-postgresql",
        "debezium#source-mysql",
    ),
    BOOK.rule(
        "envelope/names",
        "database and table are source.db and source.table, compared exactly; topic and schema names are altered.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "debezium#source-postgresql",
        "debezium#source-mysql",
    ),
)

_IMAGES: Final = (
    BOOK.rule(
        "before/update-full",
        "Under REPLICA IDENTITY FULL an UPDATE has its whole old row, even one that changes nothing.",
        Effect.NULL_FOR_VALUE,
        Selector(aspects=(Aspect.IMAGE,), ops=("UPDATE",), profiles=("*+full*",)),
        "debezium#before-full-identity",
    ),
    BOOK.rule(
        "before/update-without",
        "Under REPLICA IDENTITY DEFAULT an UPDATE has before null: the after image is the change, and nothing is an error.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,), ops=("UPDATE",), profiles=_POSTGRESQL),
        "debezium#before-default-identity",
    ),
    BOOK.rule(
        "after/delete-null",
        "d has its row in before, and after is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "debezium#images",
    ),
    BOOK.rule(
        "image/truncate",
        "t has neither image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), ops=("TRUNCATE",)),
        "debezium#truncate",
    ),
    BOOK.rule(
        "image/sides",
        "c and r have an after image alone, u of MySQL both: before null is no empty image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        "debezium#images",
    ),
    BOOK.rule(
        "before/fallback",
        "A NOT NULL column of an old row that was not sent has a fallback of its type: it is in the image, and true of nothing.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), classes=("fallback",)),
        "debezium#before-fallback",
    ),
    BOOK.rule(
        "before/not-sent",
        "A nullable column of an old row that was not sent is null in the image: every column is there.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), classes=("not-sent",)),
        "debezium#before-fallback",
    ),
    BOOK.rule(
        "toast/no-value-of-the-type",
        "At level two the placeholder of an unchanged TOASTed value is no document and no number: NULL, or a CORRUPT message.",
        Effect.SILENT_CORRUPTION,
        Selector(
            fields=("cell",), aspects=(Aspect.VALUE,), classes=("unavailable",), types=("json", "jsonb", "numeric"), levels=(2,)
        ),
        "debezium#unavailable-value",
        "harness#cell-fits-type",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "toast/not-a-value",
        "At level two the placeholder of an unchanged TOASTed value should be NULL: the column's value is another one.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), classes=("unavailable",), states=("ANY",), levels=(2,)),
        "debezium#unavailable-value",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "toast/placeholder",
        "The placeholder of an unchanged TOASTed value stands in the image as any value does; it may be genuine data.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), classes=("unavailable",)),
        "debezium#unavailable-value",
    ),
    BOOK.rule(
        "value/unknown-type",
        "With include.unknown.datatypes a column of a type that the connector does not know is bytes, in the form of "
        "binary.handling.mode; else the image is without it.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), classes=("unknown-type",)),
        "debezium#unknown-types",
    ),
    BOOK.rule(
        "image/back-tick",
        "A back-tick in a column's name is two up to 2.5, one from 3.3 on: the image has the names that are written.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), tags=("back-tick",)),
        "debezium#back-ticks",
    ),
    BOOK.rule(
        "image/mangled-names",
        "PostgreSQL connectors 1.4 to 2.5 mangle column names that are not ASCII in streams, not in snapshots: the image has the "
        "names that are written.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), profiles=_MANGLING, tags=("not-ascii-name",)),
        "debezium#mangled-names",
    ),
    BOOK.rule(
        "image/columns",
        "An image has exactly the members of before or after, nulls included; a flattened row without the members that were "
        "added.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "connect#struct-fields",
        "debezium#flattened",
    ),
)

RULES: Final = (
    BOOK.after_the_document(),
    *BOOK.faults(kept="connect#decimal-unbounded"),
    *_CONTROL,
    *_ROWS,
    *_FIELDS,
    *_IMAGES,
    *VALUES,
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

UNAVAILABLE: Final = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""What stands for a value that PostgreSQL did not send, as text and in base64 (reference/debezium.md 2.8)."""

ORDER: Final = Order(
    (FILE_POSITION_ROW, NUMBER),
    (Citation("debezium#source-mysql"), Citation("debezium#source-postgresql")),
    Provenance.OBSERVED,
    compacted=True,
    placeholders=UNAVAILABLE,
    tried="3.5.0.Final",
)
"""How its changes are ordered (`conformance.rules.order`)."""
