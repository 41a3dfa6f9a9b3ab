"""What a decoder of CloudCanal's Debezium Envelope owes, special before general.

The vendor's page shows one INSERT and one ALTER of text columns, an article an INSERT of an int as text; how values are
written is a guess, so those rules are SHOULD: texts as in CloudCanal Json, or Debezium's values under the option `typed`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, SHOULD, UNSPECIFIED, WHOLE, Book, changes, value
from conformance.rules.families.mysql_values import wire
from conformance.rules.order import FILE_POSITION, Order

_BOOK: Final = Book("cloudcanal-debezium", DOCUMENTED)

_CHANGES: Final = (
    _BOOK.rule(
        "rows/typed",
        "A row of Debezium's values under Connect's schema, and a statement beside such rows, is readable too.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW", "DDL"), profiles=("*typed*",)),
        "cloudcanal-envelope#schema-by-reference",
        "cloudcanal-envelope#values-as-text",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/document",
        "The document's ALTER is one DDL change; its times lie 951 s apart, and source.ts_ms is the one that counts.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("document",)),
        "cloudcanal-envelope#ddl-example",
        "cloudcanal-envelope#send-time",
    ),
    _BOOK.rule(
        "ddl/unlisted",
        "A CREATE, DROP, RENAME or TRUNCATE is DDL like the ALTER that the document shows.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(
            kinds=("DDL",), tags=("ddl:create table", "ddl:drop table", "ddl:rename table", "ddl:truncate table", "ddl:* index")
        ),
        "cloudcanal-envelope#operations",
        "cloudcanal-envelope#ddl-example",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/op",
        "A payload with ddl is DDL, with the op a of the field table or without op as in the example.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",)),
        "cloudcanal-envelope#operations",
        "cloudcanal-envelope#ddl-example",
    ),
    _BOOK.rule(
        "ddl/sql",
        "A DDL's text is ddl.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "cloudcanal-envelope#ddl-text",
    ),
    _BOOK.rule(
        "ddl/keys",
        "tableChanges of a DDL names the key, which the envelope does not: its columns are as good as none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("DDL",)),
        "cloudcanal-envelope#table-changes",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/names",
        "A DDL names the table that source names; tableChanges is one object with positions from 0.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), kinds=("DDL",)),
        "cloudcanal-envelope#source-names",
        "cloudcanal-envelope#ddl-example",
    ),
    _BOOK.rule(
        "rows/snapshot",
        "op r is not listed, so a row of a full load has op c: it is an INSERT, and READ is as good.",
        Effect.LOST_CHANGE,
        changes(tags=("snapshot",)),
        "cloudcanal-envelope#operations",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/schemaless",
        "A row without a schema is readable: by default the product writes none.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",), profiles=("*schemaless*",)),
        "cloudcanal-envelope#schema-optional",
    ),
    _BOOK.rule(
        "rows/column-names",
        "Columns that are called op and ddl are columns.",
        Effect.LOST_CHANGE,
        changes(tags=("names",)),
        "cloudcanal-envelope#insert-example",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/readable",
        "A row with the schema of the vendor's article, which is not Connect's, is readable.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",)),
        "cloudcanal-envelope#values-as-text",
        "cloudcanal-envelope#connector-name",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "rows/op",
        "op c is INSERT, u UPDATE, d DELETE.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "cloudcanal-envelope#operations",
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys",
        "The envelope does not name the key, the article's schema marks it with isPK: its columns are as good as none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "cloudcanal-envelope#insert-example",
        "cloudcanal-envelope#values-as-text",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "envelope/position",
        "source.file and source.pos are the place in the binlog.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "cloudcanal-envelope#source-position",
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "source.ts_ms is the database's time; ts_ms is described as the time of sending, and equals it in the DML example.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "cloudcanal-envelope#send-time",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "source.db and source.table are the names, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "cloudcanal-envelope#source-names",
        "cloudcanal-envelope#ddl-text",
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/orientation",
        "after is the row after the change, as the examples have it; the field table swaps the two descriptions.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, tags=("orientation",)),
        "cloudcanal-envelope#images-described",
        "cloudcanal-envelope#insert-example",
    ),
    _BOOK.rule(
        "image/null-row",
        "A row whose one column is NULL is a row: it is not the {} of a missing image.",
        Effect.LOST_CHANGE,
        Selector(aspects=(*WHOLE, Aspect.IMAGE), tags=("image:null-row",)),
        "cloudcanal-envelope#insert-example",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/empty",
        "before of an INSERT is {}, or null as in Debezium: either way there is no before image.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,), ops=("INSERT",)),
        "cloudcanal-envelope#insert-example",
        "cloudcanal-envelope#before-null",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "image/deleted-row",
        "A deleted row stands in before, and after is {} or null; the document shows none.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "cloudcanal-envelope#images-described",
        "debezium#images",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/update",
        "An UPDATE has both images.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,)),
        "cloudcanal-envelope#images-described",
        "debezium#images",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/columns",
        "An image has every column of the table.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "cloudcanal-envelope#insert-example",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/text-null",
        "The text null is text, and an empty text is empty.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null", "empty")),
        "cloudcanal-envelope#insert-example",
        "standards#json-null",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/null",
        "JSON null is NULL, and nothing else is.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        "standards#json-null",
        provenance=ASSUMED,
    ),
)


def _assumed(name: str, statement: str, effect: Effect, selector: Selector, *cited: str) -> Rule:
    """A rule on what values mean: no page shows more than texts of int and varchar."""
    return _BOOK.rule(
        f"value/{name}",
        statement,
        effect,
        replace(selector, levels=(2,)),
        "cloudcanal-envelope#values-as-text",
        "cloudcanal#values-open",
        *cited,
        obligation=SHOULD,
        provenance=ASSUMED,
    )


_VALUES: Final = (
    _assumed(
        "unsigned",
        "An unsigned integer above the signed maximum is what its text says; typed, BIGINT UNSIGNED from 2^63 on is negative.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
        "debezium#unsigned-long",
    ),
    _assumed("integer", "An integer, text or JSON number, is exact beyond 2^53.", Effect.LOST_PRECISION, value("int")),
    _assumed(
        "decimal-wide",
        "A DECIMAL of more than 38 digits is exact, as text.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("wide",)),
        "debezium#decimal-precise",
    ),
    _assumed(
        "decimal",
        "A DECIMAL is its text; typed, base64 of its unscaled value in two's complement, with the scale of the column.",
        Effect.LOST_PRECISION,
        value("decimal"),
        "debezium#decimal-precise",
    ),
    _assumed(
        "float",
        "FLOAT and DOUBLE are Java's text; typed, as JSON numbers.",
        Effect.LOST_PRECISION,
        value("float", "double"),
        "connect#floats",
    ),
    _assumed(
        "bits",
        "BIT is an unsigned decimal number; typed, BIT(1) is a boolean, a longer BIT base64 of its bytes, the lowest first.",
        Effect.WRONG_VALUE,
        value("bit"),
        "debezium#bits",
    ),
    _assumed(
        "labels",
        "ENUM is its label, SET its labels joined by commas, without escapes.",
        Effect.WRONG_VALUE,
        value("enum", "set"),
        "debezium#enum-label",
        "debezium#set-labels",
    ),
    _assumed(
        "binary",
        "Binaries are text in the form that the deployment tells; typed, base64.",
        Effect.SILENT_CORRUPTION,
        value("binary"),
        "harness#deployment",
        "debezium#binary-modes",
    ),
    _assumed("date", "A DATE is its text; typed, a number of days.", Effect.TIME_SHIFT, value("date"), "debezium#date-days"),
    _assumed(
        "datetime",
        "A DATETIME is its text; typed, milliseconds up to three fraction digits and microseconds beyond.",
        Effect.TIME_SHIFT,
        value("datetime"),
        "debezium#datetime-units",
    ),
    _assumed(
        "timestamp",
        "A TIMESTAMP is wall clock in the deployment's time zone; typed, ISO 8601 text in UTC.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        "harness#deployment",
        "debezium#timestamp-zoned",
    ),
    _assumed(
        "time",
        "A TIME is its text; typed, microseconds; from -838:59:59 to 838:59:59.",
        Effect.WRONG_VALUE,
        value("time"),
        "debezium#time-micros",
        "standards#mysql-time-range",
    ),
    _assumed("year", "A YEAR is its number, 0 included.", Effect.WRONG_VALUE, value("year"), "debezium#year"),
    _assumed(
        "json",
        "A JSON column is text that holds the document, numbers exact.",
        Effect.LOST_PRECISION,
        value("json"),
        "debezium#json-text",
    ),
    wire(_BOOK),
    _BOOK.rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        "cloudcanal-envelope#insert-example",
        "standards#json-escapes",
    ),
)

RULES: Final = (
    _BOOK.after_the_document("cloudcanal-envelope#schema-by-reference"),
    *_BOOK.faults(kept="connect#decimal-unbounded"),
    *_CHANGES,
    *_ENVELOPE,
    *_IMAGES,
    *_VALUES,
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((FILE_POSITION,), (Citation("cloudcanal-envelope#source-position"),), ASSUMED, keys="table")
"""How its changes are ordered (`conformance.rules.order`)."""
