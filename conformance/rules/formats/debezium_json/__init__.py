"""What a decoder of upstream Debezium's JSON owes, special before general.

Citations name the products' sources (debezium/debezium and apache/kafka connect/json) and the sections of reference/debezium.md,
whose section 0 is the output of the releases 1.4.0.Final to 3.5.0.Final.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Provenance, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, changes
from conformance.rules.formats.debezium_json.values import BOOK, REFERENCE, VALUES
from conformance.rules.order import FILE_POSITION_ROW, NUMBER, Order

_rule = BOOK.rule

_EMITTER: Final = "debezium/debezium debezium-core RelationalChangeRecordEmitter.java"
_DISPATCHER: Final = "debezium/debezium debezium-core EventDispatcher.java"
_CONVERTER: Final = "apache/kafka connect/json JsonConverter.java @ 1eb7644349"
_ENVELOPE: Final = "debezium/debezium debezium-core Envelope.java, tags v1.4.0.Final to v3.5.0.Final"
_POSTGRES: Final = "debezium/debezium debezium-connector-postgres PostgresChangeRecordEmitter.java"

_DEFAULT: Final = ("3.5.0.Final+postgresql", "1.4.0.Final+postgresql")
_MANGLING: Final = ("1.4.0.Final+postgresql",)
_SCHEMALESS: Final = ("*+schemaless*",)

_CONTROL: Final = (
    _rule(
        "control/heartbeat",
        "A heartbeat (ts_ms alone, no op) is HEARTBEAT, not a row and not an error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        ("debezium/debezium debezium-core HeartbeatImpl.java", "heartbeat"),
        (REFERENCE, "1.10"),
    ),
    _rule(
        "control/transaction",
        "BEGIN and END (status, no op) are TRANSACTION; their ids differ from the rows' in PostgreSQL.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        ("debezium/debezium debezium-core TransactionMonitor.java", "beginTransaction, endTransaction"),
        (REFERENCE, "0.6, 1.8"),
    ),
    _rule(
        "control/logical-message",
        "op m is a logical decoding message: no images, whatever its content looks like.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        ("debezium/debezium debezium-connector-postgres LogicalDecodingMessageMonitor.java", "logicalDecodingMessageEvent"),
        (REFERENCE, "0.7, 1.9"),
    ),
    _rule(
        "control/fields",
        "A heartbeat and a transaction boundary have no source block: no names, position or time; a logical message has one.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,), kinds=("HEARTBEAT", "TRANSACTION", "CONTROL")),
        (REFERENCE, "1.8, 1.9, 1.10"),
        obligation=SHOULD,
    ),
    _rule(
        "tombstone/legacy-null",
        'Before Kafka 2.2 a null is the text {"schema":null,"payload":null}, in values and in keys: a tombstone.',
        Effect.PHANTOM_ROW,
        Selector(fields=("change",), aspects=WHOLE, kinds=("TOMBSTONE",), profiles=("*+legacy-tombstone*",)),
        ("apache/kafka KAFKA-3832", "commit 964e2c57c2a"),
        (REFERENCE, "1.1"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "tombstone/kind",
        "A null value is a tombstone: neither a row nor an error, and no second delete.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TOMBSTONE",)),
        (_DISPATCHER, "StreamingChangeRecordReceiver.changeRecord"),
        (REFERENCE, "1.5"),
        ("apache/hudi issues", "2149, 8519"),
    ),
    _rule(
        "tombstone/keys",
        "A tombstone's record key names the key columns.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("TOMBSTONE",)),
        (REFERENCE, "1.5, 1.12"),
        obligation=SHOULD,
        provenance=DOCUMENTED,
    ),
    _rule(
        "tombstone/fields",
        "A tombstone has no source block; a table known from its topic or its key's schema is nothing that the value tells.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,), kinds=("TOMBSTONE",)),
        (REFERENCE, "1.5"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _rule(
        "ddl/bare",
        "A schema change of 1.4 has source, databaseName and ddl alone: no op, no ts_ms, no tableChanges.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, kinds=("DDL",), profiles=("1.4*",)),
        ("debezium/debezium debezium-connector-mysql RecordMakers.java, tag v1.4.0.Final", "schemaChanges"),
        (REFERENCE, "0.13, 1.11"),
    ),
    _rule(
        "ddl/kind",
        "A schema change has no op: payload.ddl makes it one DDL change, with tableChanges empty or not.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        ("debezium/debezium debezium-core ConnectTableChangeSerializer.java", "serialize"),
        (REFERENCE, "1.11"),
    ),
    _rule(
        "ddl/names",
        "A schema change names databaseName and the source block's table, none for a statement about a database.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        (REFERENCE, "1.11"),
        obligation=SHOULD,
        provenance=DOCUMENTED,
    ),
    _rule(
        "ddl/sql",
        "ddl is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        (REFERENCE, "1.11"),
    ),
)

_ROWS: Final = (
    _rule(
        "op/read",
        "r is a row that was read, by a snapshot: READ with an after image, not an insert to be left out.",
        Effect.LOST_CHANGE,
        changes(ops=("READ",)),
        (_ENVELOPE, "Operation.READ"),
        (REFERENCE, "1.3"),
    ),
    _rule(
        "op/truncate",
        "t empties the table: TRUNCATE without images and without a key.",
        Effect.LOST_DELETE,
        changes(ops=("TRUNCATE",)),
        (_EMITTER, "emitTruncateRecord"),
        (REFERENCE, "1.3"),
    ),
    _rule(
        "key/update",
        "An UPDATE of the key is a delete of the old key, a tombstone and an insert of the new one: three records, two changes.",
        Effect.LOST_DELETE,
        changes(kinds=("ROW",), tags=("key-update",)),
        (_EMITTER, "emitUpdateAsPrimaryKeyChangeRecord"),
        (REFERENCE, "1.4"),
    ),
    _rule(
        "rows/schemaless",
        "With schemas.enable=false the value is the payload: it is read, and neither schema nor payload is missed.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=_SCHEMALESS),
        (_CONVERTER, "fromConnectData"),
        (REFERENCE, "1.1"),
    ),
    _rule(
        "rows/every-row",
        "Each message of a row is one change, whatever its schema block says and whatever its columns are called.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        (_CONVERTER, "fromConnectData"),
        (REFERENCE, "1.1, 1.7: values outside allowed"),
    ),
    _rule(
        "rows/op",
        "op is the operation: c, u, d in lower case.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        (_ENVELOPE, "Operation"),
        (REFERENCE, "1.3"),
    ),
    BOOK.one_each(),
)

_FIELDS: Final = (
    _rule(
        "key/look-alike",
        "A schemaless key whose columns are called schema and payload is no envelope.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("key-look-alike",)),
        (REFERENCE, "1.1, 1.12"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "key/schemaless",
        "Key and value have converters of their own: a schemaless key is the object itself, beside a value with a schema too.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), profiles=(*_SCHEMALESS, "*+plain-key*")),
        (_CONVERTER, "fromConnectData"),
        (REFERENCE, "1.1, 1.12"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "key/mangled-names",
        "PostgreSQL connectors 1.4 to 2.5 mangle names that are not ASCII, in keys too: what is written counts.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys", "table", "schema"), profiles=_MANGLING),
        (REFERENCE, "0.15"),
    ),
    _rule(
        "key/columns",
        "The record key's members are the key's columns in its declared order; no record key is no key.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        ("debezium/debezium debezium-core TableSchemaBuilder.java", "create"),
        (REFERENCE, "1.12"),
    ),
    _rule(
        "envelope/position-postgresql",
        "The position is source.lsn, an integer, as decimal text.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",), profiles=("*+postgresql*",)),
        (REFERENCE, "1.7"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "envelope/position",
        "The position is source.file, source.pos and source.row: rows of one event differ in row alone.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        (REFERENCE, "1.7"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "envelope/commit-time",
        "source.ts_ms is when the database changed; the envelope's ts_ms is when the connector saw it, earlier or later.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        ("debezium/debezium debezium-connector-mysql SourceInfo.java", "timestamp"),
        (REFERENCE, "1.2, 1.7"),
    ),
    _rule(
        "envelope/schema",
        "source.schema is the schema of a PostgreSQL table; MySQL has none.",
        Effect.WRONG_TABLE,
        Selector(fields=("schema",)),
        (REFERENCE, "1.7"),
    ),
    _rule(
        "envelope/names",
        "database and table are source.db and source.table, compared exactly; topic and schema names are altered.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        (REFERENCE, "1.2, 1.7"),
    ),
)

_IMAGES: Final = (
    _rule(
        "before/update-without",
        "Under REPLICA IDENTITY DEFAULT an UPDATE has before null: the after image is the change, and nothing is an error.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,), ops=("UPDATE",), profiles=_DEFAULT),
        (_POSTGRES, "getOldColumnValues"),
        (REFERENCE, "1.6"),
    ),
    _rule(
        "before/update-full",
        "Under REPLICA IDENTITY FULL an UPDATE has its whole old row, even one that changes nothing.",
        Effect.NULL_FOR_VALUE,
        Selector(aspects=(Aspect.IMAGE,), ops=("UPDATE",), profiles=("*+full*",)),
        (_POSTGRES, "getOldColumnValues"),
        (REFERENCE, "0.17, 1.6"),
    ),
    _rule(
        "after/delete-null",
        "d has its row in before, and after is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (_ENVELOPE, "delete"),
        (REFERENCE, "1.3, 1.6"),
    ),
    _rule(
        "image/truncate",
        "t has neither image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), ops=("TRUNCATE",)),
        (_ENVELOPE, "truncate"),
        (REFERENCE, "1.3"),
    ),
    _rule(
        "image/sides",
        "c and r have an after image alone, u of MySQL both: before null is no empty image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        (_ENVELOPE, "create, read, update"),
        (REFERENCE, "1.3"),
    ),
    _rule(
        "before/fallback",
        "A NOT NULL column of an old row that was not sent has a fallback of its type: it is in the image, and true of nothing.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), classes=("fallback",)),
        ("debezium/debezium debezium-connector-postgres RecordsStreamProducerIT.java", "shouldProcessNotNullColumnsFallbacks"),
        (REFERENCE, "1.6"),
    ),
    _rule(
        "before/not-sent",
        "A nullable column of an old row that was not sent is null in the image: every column is there.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), classes=("not-sent",)),
        (_POSTGRES, "getOldColumnValues"),
        (REFERENCE, "1.6"),
    ),
    _rule(
        "toast/placeholder",
        "The placeholder of an unchanged TOASTed value stands in the image as any value does; it may be genuine data.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), classes=("unavailable",)),
        ("debezium/debezium debezium-connector-postgres ToastedReplicationMessageColumn.java", "UNCHANGED_TOAST_VALUE"),
        (REFERENCE, "0.15, 2.8"),
    ),
    _rule(
        "image/mangled-names",
        "PostgreSQL connectors 1.4 to 2.5 mangle column names that are not ASCII: the image has the names that are written.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), profiles=_MANGLING),
        (REFERENCE, "0.15"),
    ),
    _rule(
        "image/columns",
        "An image has exactly the members of before or after, nulls included.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        (_CONVERTER, "convertToJson of STRUCT"),
        (REFERENCE, "1.2"),
    ),
)

RULES: Final = (*BOOK.faults(), *_CONTROL, *_ROWS, *_FIELDS, *_IMAGES, *VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

UNAVAILABLE: Final = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""What stands for a value that PostgreSQL did not send, as text and in base64 (reference/debezium.md 2.8)."""

ORDER: Final = Order(
    (FILE_POSITION_ROW, NUMBER),
    (Citation("reference/debezium.md", "1.4, 1.7"),),
    Provenance.OBSERVED,
    placeholders=UNAVAILABLE,
    tried="3.5.0.Final",
)
"""How its changes are ordered (`conformance.rules.order`)."""
