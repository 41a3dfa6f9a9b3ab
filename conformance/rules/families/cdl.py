"""The rules that Huawei CDL's two JSON formats share, as functions of the format's book.

The vendor shows one INSERT of each format; what that leaves open is ASSUMED.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, SHOULD, UNSPECIFIED, WHOLE, Book, value


def rows(book: Book, *, snapshot: str) -> tuple[Rule, ...]:
    """Which changes there are; `snapshot` says how a snapshot's rows look."""
    return (
        book.rule(
            "rows/heartbeat-table",
            "A row of cdc_cdl.cdc_heartbeat is an ordinary row of the topic; HEARTBEAT is as good.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, tags=("heartbeat-row",)),
            "huawei#heartbeat-table",
            obligation=UNSPECIFIED,
            provenance=ASSUMED,
        ),
        book.rule(
            "rows/snapshot",
            f"{snapshot}: it is an INSERT, and READ is as good.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=WHOLE, tags=("snapshot",)),
            "huawei#operations",
            "huawei#snapshot",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "rows/other-source",
            "A row of openGauss, from which both versions may come, is readable, whatever names the source.",
            Effect.STOPPED_PIPELINE,
            Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",), profiles=("*+opengauss*",)),
            "huawei#sources",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "rows/readable",
            "A row of a form that the document shows or names is readable, with message_type, which no table explains, too.",
            Effect.STOPPED_PIPELINE,
            Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",)),
            "huawei#examples",
            "huawei#message-type",
        ),
        book.rule(
            "rows/op",
            "The operation is the message's: INSERT, UPDATE, DELETE, or c, u, d.",
            Effect.WRONG_OP,
            Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
            "huawei#operations",
        ),
        book.rule(
            "rows/one-each",
            "One message is one row change, as both examples are.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA), kinds=("ROW",)),
            "huawei#examples",
            provenance=ASSUMED,
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
            "huawei#key",
            provenance=ASSUMED,
        ),
        book.rule(
            "envelope/keys",
            "The members of unique are the primary key's columns.",
            Effect.WRONG_ROW_KEY,
            Selector(fields=("keys",)),
            "huawei#key",
        ),
        book.rule(
            "envelope/position",
            f"{position} is the log's sequence number, exact beyond 2^53.",
            Effect.WRONG_ORDER,
            Selector(fields=("position",)),
            "huawei#log-position",
            "standards#json-numbers",
        ),
        book.rule(
            "envelope/commit-time",
            f"{time} is when the database changed, in milliseconds.",
            Effect.TIME_SHIFT,
            Selector(fields=("commit_time",)),
            "huawei#commit-time",
        ),
        book.rule(
            "envelope/names",
            "Schema and table are the message's, compared exactly.",
            Effect.WRONG_TABLE,
            Selector(aspects=(Aspect.FIELD,)),
            "huawei#names",
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
            "huawei#examples",
            "debezium#before-default-identity",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "image/deleted-row",
            f"A deleted row stands in {before}, the state before the change: a DELETE without it is lost.",
            Effect.LOST_DELETE,
            Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",), sides=("before",)),
            "huawei#images",
            "huawei#examples",
            provenance=ASSUMED,
        ),
        book.rule(
            "image/after-delete",
            f"{after} of a DELETE is null: there is no state after it.",
            Effect.PHANTOM_ROW,
            Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
            "huawei#images",
            "huawei#examples",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "image/after",
            f"{after} is the after image, whatever its struct is called.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.IMAGE,), sides=("after",)),
            "huawei#images",
            "huawei#after-struct",
        ),
        book.rule(
            "image/before",
            f"{before} is the before image of an UPDATE; an INSERT has none.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.IMAGE,)),
            "huawei#images",
        ),
        book.rule(
            "image/key-only",
            "A before image that logs the key alone has the other columns as null.",
            Effect.VALUE_FOR_NULL,
            Selector(aspects=(Aspect.NULL,), sides=("before",), states=("NULL",), profiles=("*+default-identity*",)),
            "huawei#examples",
            "debezium#before-fallback",
            provenance=ASSUMED,
        ),
        book.rule(
            "image/columns",
            "An image has every column of the table.",
            Effect.NULL_FOR_ABSENT,
            Selector(aspects=(Aspect.PRESENCE,)),
            "huawei#examples",
            "connect#struct-fields",
        ),
        book.rule(
            "value/text-null",
            "The text null is text, and an empty text is empty.",
            Effect.NULL_FOR_VALUE,
            Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null", "empty")),
            "huawei#kafka-connect",
            "connect#text",
            "standards#json-null",
            provenance=ASSUMED,
        ),
        book.rule(
            "value/null",
            "JSON null is NULL, and nothing else is.",
            Effect.VALUE_FOR_NULL,
            Selector(aspects=(Aspect.NULL,)),
            "huawei#examples",
            "connect#null",
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
            "huawei#integers",
            "standards#json-numbers",
        ),
        book.rule(
            "value/integer",
            "Integers are JSON numbers.",
            Effect.WRONG_VALUE,
            value("int"),
            "huawei#integers",
        ),
        book.rule(
            "value/decimal-long",
            "A numeric is text, exact however many digits it has.",
            Effect.LOST_PRECISION,
            replace(value("decimal", classes=("long", "wide")), levels=(2,)),
            "huawei#decimal-type",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "value/decimal",
            "A numeric is text under a logical type whose package the document blacks out: its last part tells it.",
            Effect.LOST_PRECISION,
            replace(value("decimal"), levels=(2,)),
            "huawei#decimal-type",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
        book.rule(
            "value/float",
            "Floats and doubles are JSON numbers in Java's text.",
            Effect.LOST_PRECISION,
            value("float", "double"),
            "huawei#kafka-connect",
            "connect#floats",
            provenance=ASSUMED,
        ),
        book.rule(
            "value/boolean",
            "A boolean is true or false.",
            Effect.WRONG_VALUE,
            value("bit"),
            "huawei#kafka-connect",
            "connect#boolean",
            provenance=ASSUMED,
        ),
        book.rule(
            "value/bytes",
            "A bytea is base64, even if its text looks like a number.",
            Effect.SILENT_CORRUPTION,
            value("binary"),
            "huawei#kafka-connect",
            "connect#bytes",
            provenance=ASSUMED,
        ),
        book.rule(
            "value/date",
            "A date is a number of days since 1970-01-01, not of milliseconds.",
            Effect.TIME_SHIFT,
            value("date"),
            "huawei#kafka-connect",
            "connect#date",
            "debezium#date-days",
            provenance=ASSUMED,
        ),
        book.rule(
            "value/json",
            "json and jsonb are text that holds the document, numbers exact.",
            Effect.LOST_PRECISION,
            value("json"),
            "huawei#kafka-connect",
            "debezium#json-text",
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
        "huawei#kafka-connect",
        "connect#text",
        provenance=ASSUMED,
    )
