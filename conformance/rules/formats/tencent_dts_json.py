"""What a decoder of Tencent DTS JSON owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.mysql_values import Grade, Values
from conformance.rules.order import OFFSET_AT_FILE, Order

_BOOK: Final = Book("tencent-dts-json", DOCUMENTED)

_ODD_NIBBLE: Final = (
    _BOOK.rule(
        "fault/odd-nibble",
        "A binary with an odd number of hexadecimal digits, as the document's 0xfff, is no row of bytes: the message is CORRUPT.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-binary-odd-nibble",)),
        "tencent#binary",
        obligation=UNSPECIFIED,
    ),
)

_CONTROL: Final = (
    _BOOK.rule(
        "rows/absent-fields",
        "A field that does not apply may be absent instead of null: a record, of a row or not, is read all the same.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), profiles=("*sparse*",)),
        "tencent#absent-fields",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "control/heartbeat",
        "HEARTBEAT says that the source is alive: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        "tencent#message-types",
        "tencent#heartbeat",
    ),
    _BOOK.rule(
        "control/checkpoint",
        "CHECKPOINT says how far DTS has read: CONTROL, WATERMARK or HEARTBEAT, as nothing says what may be relied on.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        "tencent#message-types",
        "tencent#checkpoint",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "control/empty-transaction",
        "BEGIN and COMMIT with no row between them are a transaction of rows that were not selected.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",), tags=("control:empty-transaction",)),
        "tencent#empty-transaction",
        "tencent#transaction",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "control/transaction",
        "BEGIN and COMMIT bound a transaction and carry no row; only COMMIT has a transactionId.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        "tencent#message-types",
        "tencent#transaction",
    ),
    _BOOK.rule(
        "control/time",
        "A HEARTBEAT alone has heartbeatTimestamp (seconds), and no commit time; a CHECKPOINT has neither.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",), kinds=("HEARTBEAT", "CONTROL")),
        "tencent#heartbeat",
        "tencent#timestamp",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
)

_STATEMENTS: Final = (
    _BOOK.rule(
        "ddl/kind",
        "DDL is one DDL change for any statement.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        "tencent#message-types",
    ),
    _BOOK.rule(
        "ddl/sql",
        "sql is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "tencent#sql",
    ),
    _BOOK.rule(
        "ddl/names",
        "A DDL record names its schema; that it names no table is not said.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        "tencent#ddl-names",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
)

_ROWS: Final = (
    _BOOK.rule(
        "rows/fragment-fields",
        "total and index mean nothing in version 1, whether index is 0 or the total: the record is a whole row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("fragment",)),
        "tencent#fragments",
    ),
    _BOOK.rule(
        "rows/source-type",
        "A sourceType other than MySQL is no reason to refuse a record.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("source-type",)),
        "tencent#source-type",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/delivered-twice",
        "Delivery is at least once: a record that comes again is answered again, and who keeps a table drops it there.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("delivery:twice",)),
        "tencent#at-least-once",
        "harness#every-offset",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/own-digits",
        "A row with a TIMESTAMP of none to three fraction digits is readable.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",), profiles=("*own-digits*",)),
        "tencent#fraction-digits",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "rows/readable",
        "INSERT, UPDATE and DELETE are one row each, others null or left out as the page says.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        "tencent#message-types",
        "tencent#images",
    ),
    _BOOK.rule(
        "rows/op",
        "messageType is the operation.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "tencent#message-types",
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/no-keys",
        "Records of a table without a primary key have no pkNames.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("keys:none",)),
        "tencent#keys",
    ),
    _BOOK.rule(
        "envelope/keys",
        "pkNames are the primary key's columns.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "tencent#keys",
    ),
    _BOOK.rule(
        "envelope/position-file",
        "position has the file's number without the padding of its name; a number above 999999 is as good.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",), tags=("position:file",)),
        "tencent#position-number",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "envelope/position",
        "position is a text, end offset and file number (2196@4). Neither id nor safePosition is it.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "tencent#position",
        "tencent#safe-position",
        "tencent#id",
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "timestamp, in seconds, is the time in the binlog: the commit's. readerTimestamp is when DTS handled the record.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "tencent#timestamp",
        "tencent#reader-timestamp",
    ),
    _BOOK.rule(
        "envelope/types",
        "types are originalType as it stands; dataTypeNumber, whose numbering is open, is not a type's name.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        "tencent#columns",
        "tencent#type-numbers",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "schemaName and tableName are the names, dots in them included; objectName joins them and is not to be split.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "tencent#names",
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-old",
        "DELETE has its row in oldColumns, and newColumns is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "tencent#images",
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has newColumns alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        "tencent#images",
    ),
    _BOOK.rule(
        "lists/short",
        "A column beyond the end of a value list is NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL), classes=("trimmed",)),
        "tencent#pairing",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "lists/own-columns",
        "Values belong to the columns of their own record, by position: another record's order does not hold.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE), tags=("lists:swapped",)),
        "tencent#columns",
        "tencent#pairing",
        "tencent#json-shapes",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "lists/columns",
        "An image has exactly the columns of its record, each with the value at its place.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "tencent#columns",
        "tencent#pairing",
        "tencent#json-shapes",
        provenance=ASSUMED,
    ),
)

_SPECIAL_VALUES: Final = (
    _BOOK.rule(
        "value/timestamp-digits",
        "A TIMESTAMP may have none to six fraction digits, whatever the page says of milliseconds.",
        Effect.TIME_SHIFT,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("timestamp",), profiles=("*own-digits*",), levels=(2,)),
        "tencent#fraction-digits",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "value/timestamp-epoch",
        "The older edition's TIMESTAMP is the number of milliseconds since 1970 in UTC.",
        Effect.TIME_SHIFT,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("timestamp",), profiles=("*older-edition*",), levels=(2,)),
        "tencent#timestamp-epoch",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "value/datetime-day-first",
        "The older edition's pattern puts the day before the month; the month comes first, as in every example.",
        Effect.TIME_SHIFT,
        Selector(
            fields=("cell",),
            aspects=(Aspect.VALUE,),
            logicals=("datetime",),
            tags=("datetime:day-first",),
            profiles=("*older-edition*",),
            levels=(2,),
        ),
        "tencent#day-first",
        "tencent#datetime-example",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/time-padded",
        "TIME may have more fraction digits than its column: the time counts, not its text.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("time",), classes=("plain",), profiles=("*padded-time*",)),
        "tencent#time",
        "tencent#fraction-digits",
    ),
    _BOOK.rule(
        "value/text-like-hex",
        "Text that begins with 0x is text.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("text",), tags=("text:hex",)),
        "tencent#text",
        "tencent#binary",
        provenance=ASSUMED,
    ),
)

_NOT_COVERED: Final = ("tencent#not-covered",)
_NUMBERS: Final = ("tencent#strings", "tencent#numbers")
_GUESSED: Final = Grade(_NOT_COVERED, obligation=UNSPECIFIED)
_BITS: Final = Grade((*_NOT_COVERED, "tencent#avro-types"), obligation=SHOULD)
_GRADES: Final = Values(
    Grade(_NUMBERS, provenance=DOCUMENTED),
    {
        "null": Grade(("tencent#null",), "SQL NULL is JSON null, though all types are said to be strings; a string is not NULL."),
        "text-null": Grade(("tencent#null", "standards#json-null")),
        "json-null-literal": Grade((*_NOT_COVERED, "standards#json-null", "standards#mysql-json-null")),
        "decimal": Grade(_NUMBERS, 'DECIMAL is a text equal to the value, as "3.0".', provenance=DOCUMENTED),
        "float-exponent": Grade((*_NOT_COVERED, "tencent#numbers"), "FLOAT and DOUBLE may have Java's exponent form."),
        "bit-ambiguous": _GUESSED,
        "bits-64": _BITS,
        "bits": _BITS,
        "label-ambiguous": _GUESSED,
        "enum": Grade(
            ("tencent#avro-types", "tencent#type-numbers"), "ENUM is its label, whether dataTypeNumber is 254 or 247.", SHOULD
        ),
        "set-64": Grade(_NOT_COVERED, "A SET of 64 members has them all.", SHOULD),
        "set": Grade(
            ("tencent#avro-types", "tencent#type-numbers"),
            "SET is its labels, joined by commas, whether dataTypeNumber is 254 or 248.",
            SHOULD,
        ),
        "binary-empty": Grade(_NOT_COVERED, "An empty binary is 0x: no bytes, not NULL.", SHOULD),
        "binary-stripped": Grade((*_NOT_COVERED, "tencent#binary-trailing-zeros"), obligation=UNSPECIFIED),
        "binary": Grade(
            ("tencent#binary",),
            "Binaries are 0x and hexadecimal digits, in either letter case; the prefix is no part of the bytes.",
            provenance=DOCUMENTED,
        ),
        "zero-date": Grade((*_NOT_COVERED, "tencent#zero-dates", "standards#mysql-zero-dates")),
        "timestamp-ambiguous": Grade(_NOT_COVERED, obligation=SHOULD),
        "timestamp-truncated": Grade(
            ("tencent#timestamp-milliseconds",),
            "TIMESTAMP has three fraction digits: what is finer is cut off, not rounded.",
            provenance=DOCUMENTED,
        ),
        "timestamp": Grade(("tencent#timestamp-milliseconds", *_NOT_COVERED), obligation=SHOULD),
        "datetime-fraction": Grade(("tencent#datetime",), provenance=DOCUMENTED),
        "date": Grade(
            ("tencent#datetime", "tencent#datetime-example"),
            "DATE and DATETIME are wall clock without a zone: the example that loses a day is not followed.",
        ),
        "time-negative": Grade((*_NOT_COVERED, "standards#mysql-time-range")),
        "time-over-24h": Grade((*_NOT_COVERED, "standards#mysql-time-range")),
        "time": Grade(("tencent#time",), provenance=DOCUMENTED),
        "year-zero": Grade(_NOT_COVERED, obligation=SHOULD),
        "year": Grade((*_NOT_COVERED, "tencent#numbers")),
        "json": Grade((*_NOT_COVERED, "standards#json-numbers")),
        "text-controls": Grade(("tencent#text", "standards#json-escapes")),
        "text": Grade(("tencent#strings", "tencent#text"), provenance=DOCUMENTED),
    },
)

RULES: Final = (
    *_ODD_NIBBLE,
    *_BOOK.faults(),
    *_CONTROL,
    *_STATEMENTS,
    *_ROWS,
    *_ENVELOPE,
    *_IMAGES,
    *_SPECIAL_VALUES,
    *_mysql_values.rules(_BOOK, _GRADES),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((OFFSET_AT_FILE,), (Citation("tencent#position"), Citation("tencent#order")))
"""How its changes are ordered (`conformance.rules.order`)."""
