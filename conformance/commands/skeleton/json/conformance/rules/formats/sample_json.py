"""What a decoder of Sample's JSON owes, special before general.

The first rule that matches a comparison owns it. A rule that owns nothing in a run fails it: write a case for it, or take it out.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import DOCUMENTED, Book
from conformance.rules.order import Order

_BOOK: Final = Book("sample-json", DOCUMENTED)

_ROWS: Final = (
    # To write: which messages are which changes.
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    # To write: a rule for each member of the envelope; the last one owns what is left.
    _BOOK.rule(
        "envelope/names",
        "Names are the message's.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "sample#first",
    ),
)

_IMAGES: Final = (
    # To write: where the row of a DELETE stands, which columns an image has.
    _BOOK.rule(
        "image/sides",
        "Images stand where they are due.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.IMAGE,)),
        "sample#first",
    ),
    _BOOK.rule(
        "image/columns",
        "An image has its columns.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "sample#first",
    ),
)

_VALUES: Final = (
    # To write: a rule for each family of types and for each value that is easily misread.
    _BOOK.rule(
        "value/null",
        "NULL is null.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        "sample#first",
    ),
    _BOOK.rule(
        "value/text",
        "Text comes back character for character.",
        Effect.MOJIBAKE,
        Selector(),
        "sample#first",
    ),
)

RULES: Final = (*_BOOK.faults(), *_ROWS, *_ENVELOPE, *_IMAGES, *_VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("sample#first"),), keys="table")
"""To write: what says which of two changes of a row is the newer one (`conformance.rules.order`)."""
