"""What a decoder of Aliyun DTS Avro owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Provenance, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, changes
from conformance.rules.formats.aliyun_dts_avro.values import BOOK, VALUES
from conformance.rules.order import NUMBER, OFFSET_AT_FILE, Order

_NO_NAMES: Final = ("TRANSACTION", "HEARTBEAT", "CONTROL")

_LOGICAL: Final = ("*+drds*", "*+logical-names*")

_ASKED: Final = (
    BOOK.rule(
        "fault/logical-table",
        "A message with an unfit cell is the logical table's where tags name one: one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",), profiles=_LOGICAL),
        "aliyun#logical-names",
        "harness#cell-fits-type",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "rows/logical-table",
        "A row is the logical table's where tags name one, and not that of the shard in objectName.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING,), kinds=("ROW",), profiles=_LOGICAL, levels=(2,)),
        "aliyun#logical-names",
        obligation=SHOULD,
    ),
)

_CONTROL: Final = (
    BOOK.rule(
        "control/short",
        "A record of 48 bytes or less may be a BEGIN, COMMIT or HEARTBEAT with short positions: length makes no filler.",
        Effect.LOST_CHANGE,
        changes(tags=("control:short",)),
        "aliyun#filler",
        "aliyun#short-records",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "control/filler",
        "NOOP, of which nothing says what it means, moves the offset on, be it the smallest record: CONTROL or HEARTBEAT.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",), tags=("control:filler",)),
        "aliyun#filler",
        "aliyun#short-records",
        "aliyun#known-operations",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "control/other",
        "FILL, FINISH, CONTROL and RDB, unknown to the SDK, are CONTROL: neither a row nor an error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",), tags=("control:other",)),
        "aliyun#operations",
        "aliyun#known-operations",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "control/checkpoint",
        "CHECKPOINT says how far DTS has read: CONTROL or HEARTBEAT.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        "aliyun#operations",
        "aliyun#rowless",
    ),
    BOOK.rule(
        "control/heartbeat",
        "HEARTBEAT says that the source is alive: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        "aliyun#operations",
        "aliyun#rowless",
    ),
    BOOK.rule(
        "control/undone",
        "ROLLBACK and ABORT, unknown to the SDK, end a transaction without effect: TRANSACTION.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",), tags=("control:undone",)),
        "aliyun#operations",
        "aliyun#known-operations",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "control/transaction",
        "BEGIN and COMMIT bound a transaction and carry no row.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        "aliyun#rowless",
    ),
    BOOK.rule(
        "control/names",
        "A record of no object has objectName null: no database, schema or table.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table", "keys", "types", "sql"), kinds=_NO_NAMES),
        "aliyun#rowless",
    ),
)

_STATEMENTS: Final = (
    BOOK.rule(
        "ddl/command",
        "COMMAND is a statement of MongoDB: clients take it for DDL, for a command or for nothing known.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change", "sql", "database"), tags=("control:command",)),
        "aliyun#command",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "ddl/empty-fields",
        "fields may be the string branch: readers skip it.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, tags=("ddl:fields-text",)),
        "aliyun#fields-text",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "ddl/table-named",
        "objectName of DDL may name the table too.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",), tags=("ddl:table-named",)),
        "aliyun#ddl-object",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "ddl/kind",
        "DDL is one DDL change for any statement, without fields and without a before image.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        "aliyun#ddl",
    ),
    BOOK.rule(
        "ddl/sql",
        "The statement is the string branch of afterImages, whole, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "aliyun#ddl",
    ),
    BOOK.rule(
        "ddl/names",
        "objectName of DDL is the bare database, even of CREATE TABLE: no table is made of it.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        "aliyun#ddl",
    ),
)

_ROWS: Final = (
    BOOK.rule(
        "fault/charset-unknown",
        "A Character in a charset that is empty or that nobody knows is kept in any form or refused, never lost.",
        Effect.MOJIBAKE,
        Selector(fields=("change",), aspects=WHOLE, tags=("charset:unknown",)),
        "aliyun#charset-unknown",
        obligation=UNSPECIFIED,
    ),
    BOOK.rule(
        "rows/init",
        "INIT is a row of the full load, unknown to the SDK: READ with an after image.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, ops=("READ",)),
        "aliyun#init",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "rows/edition-changes",
        "Nothing says which edition wrote a record: bornTimestamp is there or is not, record by record.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("edition:mixed",)),
        "aliyun#editions",
    ),
    BOOK.rule(
        "rows/edition-2019",
        "A record of the edition of 2019 ends before bornTimestamp, and is whole.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=("2019*",)),
        "aliyun#editions",
    ),
    BOOK.rule(
        "rows/blocks",
        "Arrays and maps come in any number of blocks, their sizes told or not: places count through the whole array.",
        Effect.WRONG_VALUE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), profiles=("*blocks*",)),
        "standards#avro-blocks",
        "aliyun#blocks",
    ),
    BOOK.rule(
        "rows/empty-object",
        "A record with EmptyObject NULL or NONE is a row, whatever a reader makes of NULL: no exception.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("images:empty-object",)),
        "aliyun#empty-object",
        "aliyun#not-captured",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "rows/delivered-twice",
        "id is not unique, whatever the schema says: two records with the same id are two changes.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("delivery:twice",)),
        "aliyun#id",
        "aliyun#at-least-once",
    ),
    BOOK.rule(
        "rows/source-type",
        "Every sourceType of the published schema is read, OTHER as number 12 among them.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("source-type",)),
        "aliyun#source-types",
    ),
    BOOK.rule(
        "rows/readable",
        "INSERT, UPDATE and DELETE are one row each: a bare record without magic, schema id or union index.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        "aliyun#bare-record",
    ),
    BOOK.rule(
        "rows/op",
        "operation is the operation.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "aliyun#operations",
        "aliyun#images",
    ),
    BOOK.one_each(),
)

_ENVELOPE: Final = (
    BOOK.rule(
        "envelope/no-keys",
        "Without the tag pk_uk_info, or PRIMARY in it, a record has no keys; unique keys are none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("keys:none",)),
        "aliyun#no-keys",
    ),
    BOOK.rule(
        "envelope/keys-filtered",
        "PRIMARY may name a column that is not in fields: the record is read all the same.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("keys",), tags=("keys:filtered",)),
        "aliyun#keys-filtered",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "envelope/keys",
        "The keys are PRIMARY of the tag pk_uk_info, JSON whose members come in any order.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "aliyun#keys",
    ),
    BOOK.rule(
        "envelope/position",
        "The position is sourcePosition as it stands: neither safeSourcePosition nor id.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "aliyun#source-position",
        "aliyun#id",
    ),
    BOOK.rule(
        "envelope/commit-time",
        "sourceTimestamp is in seconds; bornTimestamp and the tags' milliseconds are later.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "aliyun#source-timestamp",
        "aliyun#born-timestamp",
        "aliyun#ddl-tags",
    ),
    BOOK.rule(
        "envelope/types",
        "types are dataTypeNumber as decimal text: MySQL's protocol numbers or PostgreSQL's OIDs.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        "aliyun#type-numbers",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "names/logical",
        "The tags l_db_name and l_tb_name name the logical table, for sourceType MySQL too; objectName is the physical one.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), profiles=_LOGICAL),
        "aliyun#logical-names",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "names/dots",
        "A dot inside a name is the six characters \\u002E: objectName is split first, and its parts are unescaped.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), tags=("names:dotted",)),
        "aliyun#dots",
    ),
    BOOK.rule(
        "names/three-parts",
        "objectName of PostgreSQL is database, schema and table.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), profiles=("*+postgresql*",)),
        "aliyun#object-name",
    ),
    BOOK.rule(
        "names/two-parts",
        "objectName of MySQL is database and table; there is no schema.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table")),
        "aliyun#object-name",
    ),
    BOOK.rule(
        "envelope/fields",
        "What a record has not is none of its fields.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.FIELD,)),
        "aliyun#rowless",
        "aliyun#ddl",
    ),
)

_IMAGES: Final = (
    BOOK.rule(
        "image/empty-array",
        "An empty array of images is no image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), tags=("images:empty",)),
        "aliyun#empty-images",
    ),
    BOOK.rule(
        "image/delete",
        "DELETE has its row in beforeImages, and afterImages is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "aliyun#images",
    ),
    BOOK.rule(
        "image/sides",
        "INSERT and INIT have afterImages alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        "aliyun#images",
        "aliyun#init",
    ),
    BOOK.rule(
        "image/not-captured",
        "EmptyObject NONE stands for a column that was not captured: it is absent, and not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), states=("ABSENT",)),
        "aliyun#not-captured",
    ),
    BOOK.rule(
        "image/own-fields",
        "Values belong to the fields of their own record, by position: another record's order does not hold.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE), tags=("columns:change",)),
        "aliyun#pairing",
        "aliyun#column-order",
    ),
    BOOK.rule(
        "image/blocks",
        "Places count through an array of several blocks: the first value of a block has not the first column.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), profiles=("*blocks*",)),
        "standards#avro-blocks",
        "aliyun#blocks",
    ),
    BOOK.rule(
        "image/columns",
        "An image has exactly the columns of fields, each with the value at its place.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "aliyun#pairing",
    ),
)

RULES: Final = (*_ASKED, *BOOK.faults("avro"), *_CONTROL, *_STATEMENTS, *_ROWS, *_ENVELOPE, *_IMAGES, *VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order(
    (OFFSET_AT_FILE, NUMBER), (Citation("aliyun#source-position"), Citation("aliyun#one-partition")), Provenance.OBSERVED
)
"""How its changes are ordered (`conformance.rules.order`)."""
