"""The rules of both CloudCanal JSON formats on partial rows, and how they grade the rules on MySQL values: the examples show
strings, and no page says more."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, SHOULD, UNSPECIFIED, Book
from conformance.rules.families.mysql_values import Grade, Values

_STRINGS: Final = "cloudcanal#strings"
_OPEN: Final = "cloudcanal#values-open"


def partial(book: Book, member: str) -> tuple[Rule, Rule]:
    """The rules on an UPDATE whose `member`, the list of old rows, has the changed columns alone."""
    return (
        book.rule(
            "image/partial-old",
            f"What {member} leaves out of a row is absent, and not NULL.",
            Effect.NULL_FOR_ABSENT,
            Selector(aspects=(Aspect.PRESENCE,), sides=("before",), ops=("UPDATE",), profiles=("*partial-old*",)),
            "cloudcanal#before-whole-open",
            "harness#wire-text",
            provenance=ASSUMED,
        ),
        book.rule(
            "image/filled-old",
            f"A column that {member} leaves out did not change: its old value is that of data.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), aspects=CONTENT, classes=("left-out",)),
            "cloudcanal#before-whole-open",
            "canal#old-changed",
            obligation=SHOULD,
            provenance=ASSUMED,
        ),
    )


def values(*, enum: str, sets: str, cite: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Values:
    """The grades of a format. `enum` and `sets` are its words on ENUM and SET, `cite` the facts behind its guesses, `without` the
    lines that it has no case of."""
    guessed = Grade((_OPEN, *cite), obligation=UNSPECIFIED)
    deployed = Grade((_OPEN, "harness#deployment"), obligation=SHOULD)
    null = "standards#json-null"
    return Values(
        Grade((_STRINGS, _OPEN)),
        {
            "text-null": Grade((_STRINGS, null)),
            "json-null-literal": Grade((_OPEN, "standards#mysql-json-null", null)),
            "null": Grade((_OPEN, null)),
            "text": Grade((_STRINGS, "standards#json-escapes"), provenance=DOCUMENTED),
            "bit-ambiguous": guessed,
            "bits-64": guessed,
            "bits": guessed,
            "label-ambiguous": guessed,
            "enum": Grade(guessed.citations, enum, UNSPECIFIED),
            "set-64": Grade(guessed.citations, "A SET of 64 members has them all.", UNSPECIFIED),
            "set": Grade(guessed.citations, sets, UNSPECIFIED),
            "float-exponent": Grade((_OPEN, "canal#floats"), "FLOAT and DOUBLE may have Java's exponent form."),
            "binary-empty": deployed,
            "binary-stripped": Grade((_OPEN, "canal#binary-stripped"), obligation=UNSPECIFIED),
            "binary": Grade((*deployed.citations, "cloudcanal#binary-hex"), obligation=SHOULD),
            "timestamp-ambiguous": deployed,
            "timestamp": deployed,
            "zero-date": Grade((_STRINGS, "standards#mysql-zero-dates")),
            "date": Grade((_STRINGS, _OPEN, "standards#mysql-timestamp-zone")),
            "time-negative": Grade((_STRINGS, "standards#mysql-time-range")),
            "time-over-24h": Grade((_STRINGS, "standards#mysql-time-range")),
        },
        frozenset({"timestamp-truncated", *without}),
    )
