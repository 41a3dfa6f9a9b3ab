"""The rules that Huawei CDL's two JSON formats share, as functions of the format's book.

Document 004 shows one INSERT of each; what it leaves open has an id in reference/cloud_vendors.md 3.4 and is cited by it.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, SHOULD, UNSPECIFIED, WHOLE, Book, value

DOCUMENT: Final = "document 004"
REFERENCE: Final = "reference/cloud_vendors.md"
DEBEZIUM: Final = "reference/debezium.md"
CONVERTER: Final = "apache/kafka connect/json JsonConverter.java @ 1eb7644349"


def rows(book: Book, *, snapshot: str) -> tuple[Rule, ...]:
    """Which changes there are; `snapshot` says how a snapshot's rows look."""
    return (
        book.rule(
            "rows/heartbeat-table",
            "A row of cdc_cdl.cdc_heartbeat is an ordinary row of the topic; HEARTBEAT is as good.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, tags=("heartbeat-row",)),
            (REFERENCE, "3.3"),
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "rows/snapshot",
            f"{snapshot}: it is an INSERT, and READ is as good.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, tags=("snapshot",)),
            (DOCUMENT, "table 1, source.snapshot and op"),
            (REFERENCE, "3.2, 3.4 CDL-11"),
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "rows/message-type",
            "message_type stands in both examples and in no table; its only known value is 0: no reason to refuse a row.",
            Effect.STOPPED_PIPELINE,
            Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",)),
            (DOCUMENT, "examples"),
            (REFERENCE, "3.4 CDL-2, CDL-8, CDL-10"),
        ),
        book.rule(
            "rows/op",
            "The operation is the message's: INSERT, UPDATE, DELETE, or c, u, d.",
            Effect.WRONG_OP,
            Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
            (DOCUMENT, "table 1, OPERATION and op"),
        ),
        book.rule(
            "rows/one-each",
            "One message is one row change.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA), kinds=("ROW",)),
            (DOCUMENT, "examples"),
        ),
    )


def envelope(book: Book, *, time: str, position: str, database: Rule) -> tuple[Rule, ...]:
    """Names, keys, order and time; `time` and `position` say where the message has them."""
    return (
        database,
        book.rule(
            "envelope/no-keys",
            "unique null is a table without primary key.",
            Effect.WRONG_ROW_KEY,
            Selector(fields=("keys",), tags=("keys:none",)),
            (DOCUMENT, "examples: unique is optional"),
        ),
        book.rule(
            "envelope/keys",
            "The members of unique are the primary key's columns.",
            Effect.WRONG_ROW_KEY,
            Selector(fields=("keys",)),
            (DOCUMENT, "table 1, unique"),
        ),
        book.rule(
            "envelope/position",
            f"{position} orders the changes; it is exact beyond 2^53.",
            Effect.WRONG_ORDER,
            Selector(fields=("position",)),
            (DOCUMENT, "table 1"),
            (REFERENCE, "3.4 CDL-3, CDL-13"),
        ),
        book.rule(
            "envelope/commit-time",
            f"{time} is when the database committed, in milliseconds.",
            Effect.TIME_SHIFT,
            Selector(fields=("commit_time",)),
            (DOCUMENT, "table 1"),
        ),
        book.rule(
            "envelope/names",
            "Schema and table are the message's, compared exactly; a row has no DDL text.",
            Effect.WRONG_TABLE,
            Selector(aspects=(Aspect.FIELD,)),
            (DOCUMENT, "table 1"),
        ),
    )


def images(book: Book, *, before: str, after: str) -> tuple[Rule, ...]:
    """Images and their columns; `before` and `after` name the members that hold them."""
    return (
        book.rule(
            "image/no-before",
            f"Under REPLICA IDENTITY DEFAULT {before} of an UPDATE is null: there is no image, not one of NULLs.",
            Effect.VALUE_FOR_NULL,
            Selector(aspects=(Aspect.IMAGE,), ops=("UPDATE",), sides=("before",), profiles=("*+default-identity*",)),
            (DEBEZIUM, "1.6"),
            (REFERENCE, "3.4 CDL-9"),
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "image/deleted-row",
            f"A deleted row stands in {before}, and {after} is null; neither is shown in the document.",
            Effect.LOST_DELETE,
            Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
            (DOCUMENT, "table 1, before"),
            (REFERENCE, "3.4 CDL-9"),
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "image/after",
            f"{after} is the after image, whatever its struct is called.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.IMAGE,), sides=("after",)),
            (DOCUMENT, "examples"),
            (REFERENCE, "3.4 CDL-6, CDL-7"),
        ),
        book.rule(
            "image/before",
            f"{before} is the before image of an UPDATE; an INSERT has none.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.IMAGE,)),
            (DOCUMENT, "table 1, before"),
        ),
        book.rule(
            "image/key-only",
            "A before image that logs the key alone has the other columns as null.",
            Effect.VALUE_FOR_NULL,
            Selector(aspects=(Aspect.NULL,), sides=("before",), states=("NULL",), profiles=("*+default-identity*",)),
            (DEBEZIUM, "1.6"),
            (REFERENCE, "3.4 CDL-9"),
            provenance=ASSUMED,
        ),
        book.rule(
            "image/columns",
            "An image has every column of the table.",
            Effect.NULL_FOR_ABSENT,
            Selector(aspects=(Aspect.PRESENCE,)),
            (DOCUMENT, "examples"),
            (CONVERTER, "convertToJson: every field of a struct"),
        ),
        book.rule(
            "value/text-null",
            "The text null is text, and an empty text is empty.",
            Effect.NULL_FOR_VALUE,
            Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null", "empty")),
            (CONVERTER, "convertToJson"),
        ),
        book.rule(
            "value/null",
            "JSON null is NULL, and nothing else is.",
            Effect.VALUE_FOR_NULL,
            Selector(aspects=(Aspect.NULL,)),
            (DOCUMENT, "examples: time1 and decimalNum"),
        ),
    )


def plain_values(book: Book) -> tuple[Rule, ...]:
    """The values whose form both versions share, and the catch-all."""
    return (
        book.rule(
            "value/integer-64",
            "An int8 is a JSON number, exact beyond 2^53.",
            Effect.LOST_PRECISION,
            value("int", classes=("beyond-double",)),
            (DOCUMENT, "examples: count1"),
            (REFERENCE, "3.4 CDL-13"),
        ),
        book.rule(
            "value/integer",
            "Integers are JSON numbers.",
            Effect.WRONG_VALUE,
            value("int"),
            (DOCUMENT, "examples: id"),
        ),
        book.rule(
            "value/decimal-long",
            "A numeric is text, exact however many digits it has.",
            Effect.LOST_PRECISION,
            value("decimal", classes=("long", "wide")),
            (DOCUMENT, "examples: com.xxx.cdc.data.Decimal"),
            (REFERENCE, "3.1"),
        ),
        book.rule(
            "value/decimal",
            "A numeric is text under a logical type whose package the document blacks out: its last part tells it.",
            Effect.LOST_PRECISION,
            value("decimal"),
            (DOCUMENT, "examples: com.xxx.cdc.data.Decimal"),
            (REFERENCE, "3.1, 3.2"),
        ),
        book.rule(
            "value/float",
            "Floats and doubles are JSON numbers in Java's text.",
            Effect.LOST_PRECISION,
            value("float", "double"),
            (CONVERTER, "convertToJson"),
            (DEBEZIUM, "2.4"),
            provenance=ASSUMED,
        ),
        book.rule(
            "value/boolean",
            "A boolean is true or false.",
            Effect.WRONG_VALUE,
            value("bit"),
            (CONVERTER, "convertToJson"),
            provenance=ASSUMED,
        ),
        book.rule(
            "value/bytes",
            "A bytea is base64, even if its text looks like a number.",
            Effect.SILENT_CORRUPTION,
            value("binary"),
            (CONVERTER, "convertToJson"),
            (DEBEZIUM, "2.6, 3.7"),
            provenance=ASSUMED,
        ),
        book.rule(
            "value/date",
            "A date is a number of days since 1970-01-01, not of milliseconds.",
            Effect.TIME_SHIFT,
            value("date"),
            (DEBEZIUM, "2.1"),
            provenance=ASSUMED,
        ),
        book.rule(
            "value/json",
            "json and jsonb are text that holds the document, numbers exact.",
            Effect.LOST_PRECISION,
            value("json"),
            (DEBEZIUM, "2.6"),
            provenance=ASSUMED,
        ),
    )


def text(book: Book) -> Rule:
    """The catch-all."""
    return book.rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        (CONVERTER, "convertToJson"),
        provenance=DOCUMENTED,
    )
