"""What a decoder of Tencent DTS JSON owes, special before general.

Citations name document 003 and reference/cloud_vendors.md 2, whose 2.6 numbers the contradictions (TX-n) of document 003 with
itself, its older edition and its sister pages.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.mysql_values import MANUAL, Grade, Values
from conformance.rules.order import OFFSET_AT_FILE, Order

_BOOK: Final = Book("tencent-dts-json", DOCUMENTED)
_DOCUMENT: Final = "document 003"
_REFERENCE: Final = "reference/cloud_vendors.md"
_FIELDS: Final = (_DOCUMENT, "field table")
_COLUMNS: Final = (_DOCUMENT, "MySQL column attributes")
_VALUES: Final = (_DOCUMENT, "conversion of MySQL types")

_ODD_NIBBLE: Final = (
    _BOOK.rule(
        "fault/odd-nibble",
        "A binary with an odd number of hexadecimal digits, as the document's 0xfff, is no row of bytes: the message is CORRUPT.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-binary-odd-nibble",)),
        _VALUES,
        (_REFERENCE, "2.6 TX-2"),
        obligation=UNSPECIFIED,
    ),
)

_CONTROL: Final = (
    _BOOK.rule(
        "control/heartbeat",
        "HEARTBEAT says that the source is alive: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("HEARTBEAT",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "control/checkpoint",
        "CHECKPOINT says how far DTS has read: CONTROL, WATERMARK or HEARTBEAT, as nothing says what may be relied on.",
        Effect.PHANTOM_ROW,
        changes(kinds=("CONTROL",)),
        _FIELDS,
        (_REFERENCE, "2.3"),
    ),
    _BOOK.rule(
        "control/empty-transaction",
        "BEGIN and COMMIT with no row between them are a transaction of rows that were not selected.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",), tags=("control:empty-transaction",)),
        (_REFERENCE, "2.5: empty transactions"),
    ),
    _BOOK.rule(
        "control/transaction",
        "BEGIN and COMMIT bound a transaction and carry no row; only COMMIT has a transactionId.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "control/time",
        "A HEARTBEAT has heartbeatTimestamp (seconds) and no commit time; a CHECKPOINT has neither.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",), kinds=("HEARTBEAT", "CONTROL")),
        _FIELDS,
        (_REFERENCE, "2.6 TX-6"),
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
        _FIELDS,
    ),
    _BOOK.rule(
        "ddl/sql",
        "sql is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "ddl/names",
        "A DDL record names its schema; that it names no table is not said.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table"), kinds=("DDL",)),
        (_REFERENCE, "2.3"),
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
        _FIELDS,
        (_REFERENCE, "2.6 TX-7"),
    ),
    _BOOK.rule(
        "rows/source-type",
        "A sourceType other than MySQL is no reason to refuse a record.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("source-type",)),
        (_REFERENCE, "2.6 TX-9"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/delivered-twice",
        "Delivery is at least once, whatever id promises: two equal records are two changes, and each offset is answered.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("delivery:twice",)),
        _FIELDS,
        (_REFERENCE, "2.6 TX-8"),
    ),
    _BOOK.rule(
        "rows/absent-fields",
        "A field that does not apply may be absent instead of null: the record is read all the same.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, kinds=("ROW",), profiles=("*sparse*",)),
        _FIELDS,
        (_REFERENCE, "2.2, 2.6 TX-10"),
    ),
    _BOOK.rule(
        "rows/readable",
        "INSERT, UPDATE and DELETE are one row each, the fields that do not apply being null.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        _FIELDS,
        (_REFERENCE, "2.5: one record per message"),
    ),
    _BOOK.rule(
        "rows/op",
        "messageType is the operation.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        _FIELDS,
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/no-keys",
        "Records of a table without a primary key have no pkNames.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("keys:none",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "envelope/keys",
        "pkNames are the primary key's columns.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "envelope/position-file",
        "position has the file's number without the padding of its name; a number above 999999 is as good.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",), tags=("position:file",)),
        (_REFERENCE, "2.6 TX-12"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "envelope/position",
        "position is a text, end offset and file number (2196@4); rows of one event share it. id is not a position.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        _FIELDS,
        (_REFERENCE, "2.6 TX-8"),
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "timestamp, in seconds, is the commit time; readerTimestamp, in milliseconds, is when DTS handled the record.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        _FIELDS,
        (_REFERENCE, "2.6 TX-6"),
    ),
    _BOOK.rule(
        "envelope/types",
        "types are originalType as it stands; dataTypeNumber, whose numbering is open, is not a type's name.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        _COLUMNS,
        (_REFERENCE, "2.2, 2.6 TX-14"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "schemaName and tableName are the names, dots in them included; objectName joins them and is not to be split.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        _FIELDS,
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-old",
        "DELETE has its row in oldColumns, and newColumns is null.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        _FIELDS,
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has newColumns alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        _FIELDS,
    ),
    _BOOK.rule(
        "lists/short",
        "A column beyond the end of a value list is NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL), classes=("trimmed",)),
        (_REFERENCE, "2.2: a too-short list reads as null; 6.2"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "lists/own-columns",
        "Values belong to the columns of their own record, by position: another record's order does not hold.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE), tags=("lists:swapped",)),
        _COLUMNS,
        (_REFERENCE, "2.2: positional alignment"),
    ),
    _BOOK.rule(
        "lists/columns",
        "An image has exactly the columns of its record, each with the value at its place.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        _COLUMNS,
        (_REFERENCE, "2.2: positional alignment"),
    ),
)

_SPECIAL_VALUES: Final = (
    _BOOK.rule(
        "value/timestamp-epoch",
        "The older edition's TIMESTAMP is the number of milliseconds since 1970 in UTC.",
        Effect.TIME_SHIFT,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("timestamp",), profiles=("*older-edition*",)),
        (_REFERENCE, "2.4, 2.6 TX-3"),
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
        ),
        (_REFERENCE, "2.6 TX-4"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/time-padded",
        "TIME may have more fraction digits than its column: the time counts, not its text.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("time",), classes=("plain",), profiles=("*padded-time*",)),
        _VALUES,
        (_REFERENCE, "2.6 TX-13"),
    ),
    _BOOK.rule(
        "value/text-like-hex",
        "Text that begins with 0x is text.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("text",), tags=("text:hex",)),
        _VALUES,
    ),
)

_STRINGS: Final = (_VALUES, (_REFERENCE, "2.4: every MySQL type is a string"))
_UNCOVERED: Final = (_REFERENCE, "2.4: not covered")
_GUESSED: Final = Grade((_UNCOVERED,), obligation=UNSPECIFIED)
_GRADES: Final = Values(
    Grade(_STRINGS, provenance=DOCUMENTED),
    {
        "null": Grade(
            (_VALUES, (_REFERENCE, "2.6 TX-11")),
            "SQL NULL is JSON null, though all types are said to be strings; a string is not NULL.",
        ),
        "text-null": Grade(((_REFERENCE, "2.6 TX-11"), ("RFC 8259", "3"))),
        "json-null-literal": Grade((_UNCOVERED, ("RFC 8259", "3"))),
        "decimal": Grade(_STRINGS, 'DECIMAL is a text equal to the value, as "3.0".', provenance=DOCUMENTED),
        "float-exponent": Grade((_VALUES, _UNCOVERED), "FLOAT and DOUBLE may have Java's exponent form."),
        "bit-ambiguous": _GUESSED,
        "bits-64": Grade((_UNCOVERED, (_REFERENCE, "2.4: BIT is an Integer in the Avro page")), obligation=SHOULD),
        "bits": Grade((_UNCOVERED, (_REFERENCE, "2.4: BIT is an Integer in the Avro page")), obligation=SHOULD),
        "label-ambiguous": _GUESSED,
        "enum": Grade(
            ((_REFERENCE, "2.4: text in the Avro page"), (_REFERENCE, "2.6 TX-14")),
            "ENUM is its label, whether dataTypeNumber is 254 or 247.",
            SHOULD,
        ),
        "set-64": Grade((_UNCOVERED,), "A SET of 64 members has them all.", SHOULD),
        "set": Grade(
            ((_REFERENCE, "2.4: text in the Avro page"), (_REFERENCE, "2.6 TX-14")),
            "SET is its labels, joined by commas, whether dataTypeNumber is 254 or 248.",
            SHOULD,
        ),
        "binary-empty": Grade((_UNCOVERED,), "An empty binary is 0x: no bytes, not NULL.", SHOULD),
        "binary-stripped": Grade((_UNCOVERED, ("osheroff/mysql-binlog-connector-java issues", "#139")), obligation=UNSPECIFIED),
        "binary": Grade(
            (_VALUES, (_REFERENCE, "2.4")),
            "Binaries are 0x and hexadecimal digits, in either letter case; the prefix is no part of the bytes.",
            provenance=DOCUMENTED,
        ),
        "zero-date": Grade((_UNCOVERED, (_REFERENCE, "2.4: FLINK-T"), (MANUAL, "13.2"))),
        "timestamp-ambiguous": Grade((_UNCOVERED,), obligation=SHOULD),
        "timestamp-truncated": Grade(
            (_VALUES, (_REFERENCE, "2.4")),
            "TIMESTAMP has three fraction digits: what is finer is cut off, not rounded.",
            provenance=DOCUMENTED,
        ),
        "timestamp": Grade((_VALUES, _UNCOVERED), obligation=SHOULD),
        "datetime-fraction": Grade((_VALUES,), provenance=DOCUMENTED),
        "date": Grade(
            (_VALUES, (_REFERENCE, "2.6 TX-1")),
            "DATE and DATETIME are wall clock without a zone: the example that loses a day is not followed.",
            provenance=DOCUMENTED,
        ),
        "time-negative": Grade((_UNCOVERED, (MANUAL, "13.2.3"))),
        "time-over-24h": Grade((_UNCOVERED, (MANUAL, "13.2.3"))),
        "time": Grade((_VALUES, (_REFERENCE, "2.6 TX-13")), provenance=DOCUMENTED),
        "year-zero": Grade((_UNCOVERED,), obligation=SHOULD),
        "year": Grade((_UNCOVERED,)),
        "json": Grade((_UNCOVERED,)),
        "text": Grade((*_STRINGS, (_REFERENCE, "2.6 TX-15: the page's own text is damaged")), provenance=DOCUMENTED),
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

ORDER: Final = Order((OFFSET_AT_FILE,), (Citation("document 003"), Citation("reference/cloud_vendors.md", "2.1, 2.5")))
"""How its changes are ordered (`conformance.rules.order`)."""
