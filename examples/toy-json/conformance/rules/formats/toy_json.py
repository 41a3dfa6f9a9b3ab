"""What a decoder of Toy CDC's JSON owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import CONTENT, DOCUMENTED, WHOLE, Book, value
from conformance.rules.order import Order

_BOOK: Final = Book("toy-json", DOCUMENTED)

_ROWS: Final = (
    _BOOK.rule(
        "rows/delete",
        "op delete is one DELETE, although the message has row and no old, as an insert has.",
        Effect.LOST_DELETE,
        Selector(fields=("change",), aspects=WHOLE, ops=("DELETE",)),
        "toy#op",
        "toy#row",
    ),
    _BOOK.rule("rows/op", "The operation is op.", Effect.WRONG_OP, Selector(aspects=(Aspect.OP,)), "toy#op"),
    _BOOK.rule(
        "rows/one",
        "A message is one row change.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA), kinds=("ROW",)),
        "toy#one-row",
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/commit-time",
        "ts is the time of the commit, in milliseconds.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "toy#ts",
    ),
    _BOOK.rule("envelope/table", "table is the table's name.", Effect.WRONG_TABLE, Selector(fields=("table",)), "toy#table"),
    _BOOK.rule(
        "envelope/not-told",
        "A message tells no database, schema or key, and a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "toy#table",
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/deleted-row",
        "The row of a DELETE is its before image; there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "toy#row",
    ),
    _BOOK.rule(
        "image/sides",
        "An INSERT has an after image, an UPDATE both.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,)),
        "toy#row",
        "toy#old",
    ),
    _BOOK.rule(
        "image/old-columns",
        "The before image of an UPDATE has the columns of old: without old.columns=all, those that changed.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), ops=("UPDATE",), sides=("before",)),
        "toy#old",
    ),
    _BOOK.rule("image/columns", "row has every column.", Effect.NULL_FOR_ABSENT, Selector(aspects=(Aspect.PRESENCE,)), "toy#row"),
)

_VALUES: Final = (
    _BOOK.rule(
        "value/null-in-old",
        "null in old is the value NULL, not a column that did not change.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,), ops=("UPDATE",), sides=("before",), states=("NULL",)),
        "toy#old",
        "toy#values",
    ),
    _BOOK.rule(
        "value/text-null",
        "The text null is text, and an empty text is empty.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null", "empty")),
        "toy#values",
    ),
    _BOOK.rule("value/null", "null is NULL.", Effect.VALUE_FOR_NULL, Selector(aspects=(Aspect.NULL,)), "toy#values"),
    _BOOK.rule(
        "value/integer-64",
        "An integer is exact beyond 2^53.",
        Effect.LOST_PRECISION,
        value("int", classes=("beyond-double",)),
        "toy#values",
    ),
    _BOOK.rule("value/integer", "An integer is its digits.", Effect.WRONG_VALUE, value("int"), "toy#values"),
    _BOOK.rule("value/decimal", "A decimal is exact.", Effect.LOST_PRECISION, value("decimal"), "toy#values"),
    _BOOK.rule(
        "value/datetime",
        "A date, a time or a DATETIME has no time zone.",
        Effect.TIME_SHIFT,
        value("date", "time", "datetime"),
        "toy#values",
    ),
    _BOOK.rule("value/text", "Text comes back character for character.", Effect.MOJIBAKE, Selector(), "toy#values"),
)

RULES: Final = (*_BOOK.faults(), *_ROWS, *_ENVELOPE, *_IMAGES, *_VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("toy#ts"),), keys="table")
"""No total order: `ts` orders commits, arrival decides among equals."""
