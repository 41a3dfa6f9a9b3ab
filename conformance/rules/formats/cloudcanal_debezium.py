"""What a decoder of CloudCanal's Debezium Envelope owes, special before general.

Document 001 shows two messages; what it contradicts or leaves open has an id in reference/cloud_vendors.md 4.4, cited as such.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, SHOULD, UNSPECIFIED, WHOLE, Book, changes, value
from conformance.rules.order import FILE_POSITION, Order

_BOOK: Final = Book("cloudcanal-debezium", DOCUMENTED)
_DOCUMENT: Final = "document 001, Debezium Envelope"
_NOTES: Final = "reference/cloud_vendors.md"
_DEBEZIUM: Final = "reference/debezium.md"

_CHANGES: Final = (
    _BOOK.rule(
        "ddl/document",
        "The document's ALTER is one DDL change; its times lie 951 s apart, and source.ts_ms is the one that counts.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("document",)),
        (_DOCUMENT, "DDL example"),
        (_NOTES, "4.4 CC-6, CC-10, CC-13"),
    ),
    _BOOK.rule(
        "ddl/unlisted",
        "A CREATE, DROP, RENAME or TRUNCATE is DDL like the ALTER that the document shows.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(
            kinds=("DDL",), tags=("ddl:create table", "ddl:drop table", "ddl:rename table", "ddl:truncate table", "ddl:* index")
        ),
        (_DOCUMENT, "field table, op"),
        (_NOTES, "4.4 CC-2"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/op",
        "A payload with ddl is DDL, with the op a of the field table or without op as in the example.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",)),
        (_DOCUMENT, "field table, op; DDL example"),
        (_NOTES, "4.4 CC-2, CC-6"),
    ),
    _BOOK.rule(
        "ddl/sql",
        "A DDL's text is ddl.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        (_DOCUMENT, "field table, ddl"),
    ),
    _BOOK.rule(
        "ddl/names",
        "A DDL names the table that source names; tableChanges is one object with positions from 0.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table", "keys"), kinds=("DDL",)),
        (_DOCUMENT, "DDL example"),
        (_NOTES, "4.4 CC-5"),
    ),
    _BOOK.rule(
        "rows/snapshot",
        "op r is not listed, so a row of a full load has op c: it is an INSERT, and READ is as good.",
        Effect.LOST_CHANGE,
        changes(tags=("snapshot",)),
        (_DOCUMENT, "field table, op"),
        (_DEBEZIUM, "5.1"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/column-names",
        "Columns that are called op and ddl are columns.",
        Effect.LOST_CHANGE,
        changes(tags=("names",)),
        (_DOCUMENT, "DML example"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/connector",
        "source.connector is MySQL, not mysql: it is no reason to refuse a row.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",)),
        (_DOCUMENT, "DML example"),
        (_NOTES, "4.4 CC-4"),
    ),
    _BOOK.rule(
        "rows/op",
        "op c is INSERT, u UPDATE, d DELETE.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        (_DOCUMENT, "field table, op"),
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys",
        "The message does not name the key.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        (_DOCUMENT, "DML example"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/position",
        "source.file and source.pos order the changes.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        (_DOCUMENT, "DML example"),
        (_DEBEZIUM, "1.7"),
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "source.ts_ms is the database's time; ts_ms is described as the time of sending, and equals it in the DML example.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        (_DOCUMENT, "field table, ts_ms"),
        (_NOTES, "4.4 CC-13, CC-16"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "source.db and source.table are the names, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        (_DOCUMENT, "field table, source"),
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/orientation",
        "after is the row after the change, as the examples have it; the field table swaps the two descriptions.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, tags=("orientation",)),
        (_DOCUMENT, "field table and DML example"),
        (_NOTES, "4.4 CC-1"),
    ),
    _BOOK.rule(
        "image/null-row",
        "A row whose one column is NULL is a row: it is not the {} of a missing image.",
        Effect.LOST_CHANGE,
        Selector(aspects=(*WHOLE, Aspect.IMAGE), tags=("image:null-row",)),
        (_DOCUMENT, "DML example: before"),
        (_NOTES, "4.4 CC-3"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/empty",
        "before of an INSERT is {}, or null as in Debezium: either way there is no before image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), ops=("INSERT",)),
        (_DOCUMENT, "DML example: before"),
        (_NOTES, "4.4 CC-3"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "image/deleted-row",
        "A deleted row stands in before, and after is {} or null; the document shows none.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (_DEBEZIUM, "1.3, 5.1"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/update",
        "An UPDATE has both images.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,)),
        (_DEBEZIUM, "1.3"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/columns",
        "An image has every column of the table.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        (_DOCUMENT, "DML example"),
    ),
    _BOOK.rule(
        "value/text-null",
        "The text null is text, and an empty text is empty.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null", "empty")),
        (_DOCUMENT, "DML example"),
    ),
    _BOOK.rule(
        "value/null",
        "JSON null is NULL, and nothing else is.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        (_DEBEZIUM, "3"),
        provenance=ASSUMED,
    ),
)

_OPEN: Final = "2, 5.1: the document shows values of text columns alone"


def _assumed(name: str, statement: str, effect: Effect, selector: Selector, section: str) -> Rule:
    """A rule on values that the document leaves to Debezium's."""
    citations = ((_DEBEZIUM, section), (_DEBEZIUM, _OPEN))
    return _BOOK.rule(f"value/{name}", statement, effect, selector, *citations, provenance=ASSUMED)


_VALUES: Final = (
    _assumed(
        "unsigned",
        "An unsigned integer above the signed maximum is what its bits say: BIGINT UNSIGNED from 2^63 on is negative here.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
        "2.2",
    ),
    _assumed("integer", "Integers are JSON numbers, exact beyond 2^53.", Effect.LOST_PRECISION, value("int"), "2.4"),
    _assumed(
        "decimal-wide",
        "A DECIMAL of more than 38 digits is exact, as text.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("wide",)),
        "2.2",
    ),
    _assumed(
        "decimal",
        "A DECIMAL is base64 of its unscaled value in two's complement, with the scale of the column.",
        Effect.LOST_PRECISION,
        value("decimal"),
        "2.2",
    ),
    _assumed(
        "float", "FLOAT and DOUBLE are JSON numbers in Java's text.", Effect.LOST_PRECISION, value("float", "double"), "2.4"
    ),
    _assumed(
        "bits",
        "BIT(1) is a boolean, a longer BIT base64 of its bytes, the lowest first.",
        Effect.WRONG_VALUE,
        value("bit"),
        "2.5",
    ),
    _assumed(
        "labels",
        "ENUM is its label, SET its labels joined by commas, without escapes.",
        Effect.WRONG_VALUE,
        value("enum", "set"),
        "2.6",
    ),
    _assumed("binary", "Binaries are base64.", Effect.SILENT_CORRUPTION, value("binary"), "2.6"),
    _assumed("date", "A DATE is a number of days.", Effect.TIME_SHIFT, value("date"), "2.3"),
    _assumed(
        "datetime",
        "A DATETIME is milliseconds up to three fraction digits and microseconds beyond.",
        Effect.TIME_SHIFT,
        value("datetime"),
        "2.3",
    ),
    _assumed("timestamp", "A TIMESTAMP is ISO 8601 text in UTC.", Effect.TIME_SHIFT, value("timestamp"), "2.3"),
    _assumed("time", "A TIME is microseconds, from -838:59:59 to 838:59:59.", Effect.WRONG_VALUE, value("time"), "2.3"),
    _assumed("year", "A YEAR is its number, 0 included.", Effect.WRONG_VALUE, value("year"), "2.1"),
    _assumed(
        "json", "A JSON column is text that holds the document, numbers exact.", Effect.LOST_PRECISION, value("json"), "2.6"
    ),
    _BOOK.rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        (_DOCUMENT, "DML example"),
    ),
)

RULES: Final = (*_BOOK.faults(), *_CHANGES, *_ENVELOPE, *_IMAGES, *_VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order(
    (FILE_POSITION,), (Citation("reference/debezium.md", "5.1"), Citation("reference/cloud_vendors.md", "4.3")), keys="table"
)
"""How its changes are ordered (`conformance.rules.order`)."""
