"""What a decoder of Aliyun DTS Avro owes, special before general.

Citations name reference/cloud_vendors.md 1, whose 1.10 numbers the contradictions (DTS-n), and the clients that it was read from.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Provenance, Selector
from conformance.rules.book import ASSUMED, AVRO, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, changes
from conformance.rules.formats.aliyun_dts_avro.values import BOOK, DEMO, FAST, FLINK, REFERENCE, SDK, VALUES
from conformance.rules.order import NUMBER, OFFSET_AT_FILE, Order

_rule = BOOK.rule

_NO_NAMES: Final = ("TRANSACTION", "HEARTBEAT", "CONTROL")

_CONTROL: Final = (
    _rule(
        "control/short",
        "A record of 48 bytes or less may be a BEGIN, COMMIT or HEARTBEAT with short positions: length makes no filler.",
        Effect.LOST_CHANGE,
        changes(tags=("control:short",)),
        (REFERENCE, "1.3: Filler records; 1.10 DTS-8"),
        obligation=SHOULD,
    ),
    _rule(
        "control/filler",
        "NOOP moves the offset on, be it the smallest record of 15 or 16 bytes: CONTROL or HEARTBEAT, and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",), tags=("control:filler",)),
        (REFERENCE, "1.3: Filler records; 1.8"),
    ),
    _rule(
        "control/other",
        "FILL, FINISH, CONTROL and RDB, unknown to the SDK, are CONTROL: neither a row nor an error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",), tags=("control:other",)),
        (REFERENCE, "1.2"),
    ),
    _rule(
        "control/checkpoint",
        "CHECKPOINT says how far DTS has read: CONTROL or HEARTBEAT.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        (REFERENCE, "1.2"),
    ),
    _rule(
        "control/heartbeat",
        "HEARTBEAT says that the source is alive: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        (REFERENCE, "1.2"),
    ),
    _rule(
        "control/undone",
        "ROLLBACK and ABORT, unknown to the SDK, end a transaction without effect: TRANSACTION.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",), tags=("control:undone",)),
        (REFERENCE, "1.2"),
    ),
    _rule(
        "control/transaction",
        "BEGIN and COMMIT bound a transaction and carry no row.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        (REFERENCE, "1.2, 1.4"),
    ),
    _rule(
        "control/names",
        "A record of no object has objectName null: no database, schema or table.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table", "keys", "types", "sql"), kinds=_NO_NAMES),
        (REFERENCE, "1.1: field 9"),
    ),
)

_STATEMENTS: Final = (
    _rule(
        "ddl/command",
        "COMMAND is a statement of MongoDB: clients take it for DDL, for a command or for nothing known.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change", "sql", "database"), tags=("control:command",)),
        (REFERENCE, "1.2; 1.10 DTS-7"),
        (FAST, "COMMAND"),
        obligation=SHOULD,
    ),
    _rule(
        "ddl/empty-fields",
        "fields may be the string branch: readers skip it.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, tags=("ddl:fields-text",)),
        (REFERENCE, "1.10 DTS-11"),
        obligation=SHOULD,
    ),
    _rule(
        "ddl/table-named",
        "objectName of DDL may name the table too.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",), tags=("ddl:table-named",)),
        (REFERENCE, "1.10 DTS-9"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "ddl/kind",
        "DDL is one DDL change for any statement, without fields and without a before image.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        (REFERENCE, "1.4: DDL"),
    ),
    _rule(
        "ddl/sql",
        "The statement is the string branch of afterImages, whole, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        (REFERENCE, "1.4: DDL"),
        (DEMO, "DDL"),
    ),
    _rule(
        "ddl/names",
        "objectName of DDL is the bare database, even of CREATE TABLE: no table is made of it.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        (REFERENCE, "1.4: DDL; 1.10 DTS-9"),
    ),
)

_ROWS: Final = (
    _rule(
        "fault/charset-unknown",
        "A Character in a charset that is empty or that nobody knows is kept in any form or refused, never lost.",
        Effect.MOJIBAKE,
        Selector(fields=("change",), aspects=WHOLE, tags=("charset:unknown",)),
        (REFERENCE, "1.7: Character"),
        (SDK, "JDKCharsetMapper"),
        obligation=UNSPECIFIED,
    ),
    _rule(
        "rows/init",
        "INIT is a row of the full load, unknown to the SDK: READ with an after image.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, ops=("READ",)),
        (REFERENCE, "1.2; 1.10 DTS-7"),
        (DEMO, "README: INIT"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "rows/edition-changes",
        "Nothing says which edition wrote a record: bornTimestamp is there or is not, record by record.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("edition:mixed",)),
        (REFERENCE, "1.1: Schema variants; 1.10 DTS-2"),
        (FLINK, "bornTimestamp"),
    ),
    _rule(
        "rows/edition-2019",
        "A record of the edition of 2019 ends before bornTimestamp, and is whole.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=("2019*",)),
        (REFERENCE, "1.1: Schema variants; 1.10 DTS-2"),
        (SDK, "Record.java"),
    ),
    _rule(
        "rows/blocks",
        "Arrays and maps come in any number of blocks, their sizes told or not: places count through the whole array.",
        Effect.WRONG_VALUE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=("*blocks*",)),
        (AVRO, "Binary encoding: arrays, maps"),
        (REFERENCE, "1.9"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "rows/empty-object",
        "A record with EmptyObject NULL or NONE is a row, whatever a reader makes of NULL: no exception.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("images:empty-object",)),
        (REFERENCE, "1.4: Partial images; 1.10 DTS-6"),
        obligation=SHOULD,
    ),
    _rule(
        "rows/delivered-twice",
        "id is not unique, whatever the schema says: two records with the same id are two changes.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("delivery:twice",)),
        (REFERENCE, "1.1: field 2; 1.10 DTS-4"),
    ),
    _rule(
        "rows/source-type",
        "Every sourceType of the published schema is read, OTHER as number 12 among them.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("source-type",)),
        (REFERENCE, "1.1: Schema variants; 1.10 DTS-5"),
    ),
    _rule(
        "rows/readable",
        "INSERT, UPDATE and DELETE are one row each: a bare record without magic, schema id or union index.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        (REFERENCE, "1.3; 1.10 DTS-1"),
    ),
    _rule(
        "rows/op",
        "operation is the operation.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        (REFERENCE, "1.2"),
    ),
    BOOK.one_each(),
)

_ENVELOPE: Final = (
    _rule(
        "envelope/no-keys",
        "Without the tag pk_uk_info, or PRIMARY in it, a record has no keys; unique keys are none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("keys:none",)),
        (REFERENCE, "1.6: pk_uk_info"),
    ),
    _rule(
        "envelope/keys-filtered",
        "PRIMARY may name a column that is not in fields: the record is read all the same.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("keys",), tags=("keys:filtered",)),
        (REFERENCE, "1.6: pk_uk_info names a column"),
        obligation=SHOULD,
    ),
    _rule(
        "envelope/keys",
        "The keys are PRIMARY of the tag pk_uk_info, JSON whose members come in any order.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        (REFERENCE, "1.6: pk_uk_info"),
    ),
    _rule(
        "envelope/position",
        "The position is sourcePosition as it stands: neither safeSourcePosition nor id.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        (REFERENCE, "1.1: fields 2, 4, 5"),
    ),
    _rule(
        "envelope/commit-time",
        "sourceTimestamp is in seconds; bornTimestamp and the tags' milliseconds are later.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        (REFERENCE, "1.1: fields 3, 15; 1.10 DTS-2"),
    ),
    _rule(
        "envelope/types",
        "types are dataTypeNumber as decimal text: MySQL's protocol numbers or PostgreSQL's OIDs.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        (REFERENCE, "1.7"),
        obligation=SHOULD,
    ),
    _rule(
        "names/logical",
        "The tags l_db_name and l_tb_name name the logical table of DRDS; objectName is the physical one.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), profiles=("*+drds*",)),
        (REFERENCE, "1.5; 1.10 DTS-9"),
        (FLINK, "l_db_name"),
        obligation=SHOULD,
    ),
    _rule(
        "names/dots",
        "A dot inside a name is the six characters \\u002E: objectName is split first, and its parts are unescaped.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), tags=("names:dotted",)),
        (REFERENCE, "1.5"),
    ),
    _rule(
        "names/three-parts",
        "objectName of PostgreSQL is database, schema and table.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), profiles=("*+postgresql*",)),
        (REFERENCE, "1.5"),
    ),
    _rule(
        "names/two-parts",
        "objectName of MySQL is database and table; there is no schema.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table")),
        (REFERENCE, "1.5"),
    ),
    _rule(
        "envelope/fields",
        "What a record has not is none of its fields.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.FIELD,)),
        (REFERENCE, "1.1"),
    ),
)

_IMAGES: Final = (
    _rule(
        "image/empty-array",
        "An empty array of images is no image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), tags=("images:empty",)),
        (REFERENCE, "1.4: An empty images array"),
        (FLINK, "images"),
    ),
    _rule(
        "image/delete",
        "DELETE has its row in beforeImages, and afterImages is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (REFERENCE, "1.4"),
    ),
    _rule(
        "image/sides",
        "INSERT and INIT have afterImages alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        (REFERENCE, "1.4"),
    ),
    _rule(
        "image/not-captured",
        "EmptyObject NONE stands for a column that was not captured: it is absent, and not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), states=("ABSENT",)),
        (REFERENCE, "1.4: Partial images"),
        (SDK, "NoneValue"),
    ),
    _rule(
        "image/own-fields",
        "Values belong to the fields of their own record, by position: another record's order does not hold.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE), tags=("columns:change",)),
        (REFERENCE, "1.4: fields[i] pairs; 1.6: metaVersion"),
        (FAST, "fields cached per objectName"),
    ),
    _rule(
        "image/blocks",
        "Places count through an array of several blocks: the first value of a block has not the first column.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), profiles=("*blocks*",)),
        (AVRO, "Binary encoding: arrays, maps"),
        (FAST, "counter"),
        (REFERENCE, "1.9"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "image/columns",
        "An image has exactly the columns of fields, each with the value at its place.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        (REFERENCE, "1.4: fields[i] pairs"),
    ),
)

RULES: Final = (*BOOK.faults("avro"), *_CONTROL, *_STATEMENTS, *_ROWS, *_ENVELOPE, *_IMAGES, *VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((OFFSET_AT_FILE, NUMBER), (Citation("reference/cloud_vendors.md", "1.3, 1.6"),), Provenance.OBSERVED)
"""How its changes are ordered (`conformance.rules.order`)."""
