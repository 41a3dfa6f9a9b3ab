"""Rules on MySQL values that JSON formats write as texts: one table of statements, which a format cites and grades as its vendor
documents them.

`rules` makes a format's rules of the table. What a vendor documents is cited per rule; the rest cites what the format names as
the place that leaves it open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.rules.base import Aspect, Effect, Obligation, Provenance, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, MUST, Book, value

MANUAL: Final = "MySQL 8.0 Reference Manual"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the rule's name below `value/`, its words, and the cells that it owns."""

    name: str
    statement: str
    effect: Effect
    selector: Selector


@dataclass(frozen=True, slots=True)
class Grade:
    """What a format says about one line: other words (`statement`, "" keeps the table's), facts, obligation, provenance."""

    citations: tuple[str, ...]
    statement: str = ""
    obligation: Obligation = MUST
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """How a format grades the table. `default` holds for lines that `grades` does not name; `without` are lines that no case of
    the format has."""

    default: Grade
    grades: Mapping[str, Grade] = field(default_factory=dict)
    without: frozenset[str] = frozenset()


_NULLS: Final = (
    Row(
        "text-null",
        "The text null is text.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null",)),
    ),
    Row(
        "json-null-literal",
        'A JSON column that holds the literal null has the text "null"; it is not NULL.',
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("json",), classes=("null-literal",)),
    ),
    Row("null", "JSON null is NULL and a string is not.", Effect.VALUE_FOR_NULL, Selector(aspects=(Aspect.NULL,))),
)

_NOT_TEXT: Final = (
    *("int", "decimal", "float", "double", "bit", "binary", "date", "datetime", "timestamp"),
    *("time", "year", "enum", "set", "json"),
)

_WIRE: Final = Row(
    "wire",
    "What stands on the wire is certain: at level one a cell is its text, whatever it means.",
    Effect.SILENT_CORRUPTION,
    Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=_NOT_TEXT, levels=(1,)),
)

_MEANINGS: Final = (
    *_NULLS,
    Row(
        "unsigned",
        "An unsigned integer above the signed maximum is what its text says.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
    ),
    Row("integer-64", "A 64-bit integer is exact beyond 2^53.", Effect.LOST_PRECISION, value("int", classes=("beyond-double",))),
    Row("integer", "Integers are decimal text; tinyint(1) is an integer.", Effect.WRONG_VALUE, value("int")),
    Row(
        "decimal-long",
        "A DECIMAL of more than 15 digits is exact.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("long", "wide")),
    ),
    Row("decimal", "DECIMAL is plain text with all fraction digits of its column.", Effect.LOST_PRECISION, value("decimal")),
    Row(
        "float-exponent",
        "FLOAT and DOUBLE may have an exponent.",
        Effect.WRONG_VALUE,
        value("float", "double", classes=("exponent",)),
    ),
    Row(
        "float",
        "FLOAT is the nearest binary32, DOUBLE the nearest binary64.",
        Effect.LOST_PRECISION,
        value("float", "double"),
    ),
    Row(
        "bit-ambiguous",
        "A BIT text of digits 0 and 1 alone is a decimal number or a row of bits: either is accepted.",
        Effect.WRONG_VALUE,
        value("bit", states=("ONE_OF",)),
    ),
    Row("bits-64", "BIT(64) is an unsigned 64-bit number.", Effect.WRONG_SIGN, value("bit", classes=("over-signed",))),
    Row("bits", "BIT is an unsigned decimal number.", Effect.WRONG_VALUE, value("bit")),
    Row(
        "label-ambiguous",
        "An ENUM or SET text that is a label and also an index or mask may be read as either; so may the empty text.",
        Effect.WRONG_VALUE,
        value("enum", "set", states=("ONE_OF",)),
    ),
    Row("enum", "ENUM is its label.", Effect.WRONG_VALUE, value("enum")),
    Row(
        "set-64",
        "A SET of 64 members is an unsigned 64-bit mask.",
        Effect.WRONG_SIGN,
        value("set", classes=("over-signed",)),
    ),
    Row("set", "SET is its labels, joined by commas.", Effect.WRONG_VALUE, value("set")),
    Row("binary-empty", "An empty binary is no bytes, not NULL.", Effect.NULL_FOR_VALUE, value("binary", classes=("empty",))),
    Row(
        "binary-stripped",
        "BINARY(n) has lost its trailing zero bytes; the decoder gives the bytes that are there.",
        Effect.WRONG_VALUE,
        value("binary", classes=("trailing-zero",)),
    ),
    Row("binary", "Binaries are read in the form that the deployment tells.", Effect.MOJIBAKE, value("binary")),
    Row(
        "zero-date",
        "Zero and partly zero dates are NULL or kept as text, and never another date.",
        Effect.SILENT_CORRUPTION,
        value("date", "datetime", "timestamp", classes=("zero", "partial-zero")),
    ),
    Row(
        "timestamp-ambiguous",
        "A TIMESTAMP in an hour that occurs twice is one of the two instants.",
        Effect.TIME_SHIFT,
        value("timestamp", states=("ONE_OF",)),
    ),
    Row(
        "timestamp-truncated",
        "A TIMESTAMP has milliseconds: what is finer is lost, and not rounded.",
        Effect.LOST_PRECISION,
        value("timestamp", classes=("micros",)),
    ),
    Row(
        "timestamp",
        "TIMESTAMP is wall clock of the deployment's time zone, neither UTC nor the reader's.",
        Effect.TIME_SHIFT,
        value("timestamp"),
    ),
    Row(
        "datetime-fraction",
        "DATETIME keeps its fraction to the microsecond.",
        Effect.LOST_PRECISION,
        value("datetime", classes=("micros", "millis")),
    ),
    Row(
        "date",
        "DATE and DATETIME are wall clock without a zone, over MySQL's whole range.",
        Effect.TIME_SHIFT,
        value("date", "datetime"),
    ),
    Row(
        "time-negative",
        "TIME may be negative, below one second too.",
        Effect.WRONG_SIGN,
        value("time", classes=("negative",)),
    ),
    Row("time-over-24h", "TIME goes to 838:59:59.", Effect.WRONG_VALUE, value("time", classes=("over-24h",))),
    Row("time", "TIME keeps its fraction to the microsecond.", Effect.LOST_PRECISION, value("time")),
    Row("year-zero", "YEAR 0 is written 0000 and is 0.", Effect.WRONG_VALUE, value("year", classes=("zero",))),
    Row("year", "YEAR is a number of four digits.", Effect.WRONG_VALUE, value("year")),
    Row("json", "A JSON column is its document as text, numbers exact.", Effect.LOST_PRECISION, value("json")),
)

_TEXTS: Final = (
    Row(
        "text-controls",
        "Control characters, U+007F to U+009F and line separators come back as they were, whether escaped or raw.",
        Effect.MOJIBAKE,
        value("text", classes=("control", "separator")),
    ),
    Row(
        "text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
    ),
)

TABLE: Final = (*_MEANINGS, _WIRE, *_TEXTS)
"""Special before general; the last owns every comparison that is left, so the table ends a format's rules."""


def wire(book: Book) -> Rule:
    """The rule that binds the text on the wire, whatever it means."""
    return book.rule(
        f"value/{_WIRE.name}", _WIRE.statement, _WIRE.effect, _WIRE.selector, "harness#wire-text", provenance=ASSUMED
    )


def meaning(rule: Rule) -> Rule:
    """What a rule below MUST says of a value is what it means: it holds at level two; the text on the wire belongs to `wire`."""
    if rule.obligation is MUST or Aspect.VALUE not in rule.selector.aspects:
        return rule
    return replace(rule, selector=replace(rule.selector, levels=(2,)))


def rules(book: Book, values: Values) -> tuple[Rule, ...]:
    """The table's rules for one format. What a rule below MUST says is the meaning of a value, so it holds at level two: the text
    on the wire is certain, and belongs to `wire`. Raises KeyError when a grade or an exclusion names no line."""
    names = {row.name for row in TABLE}
    for name in (*values.grades, *values.without):
        if name not in names:
            raise KeyError(f"{name} is no rule on MySQL values")
    found = []
    for row in TABLE:
        if row.name in values.without:
            continue
        if row is _WIRE:
            found.append(wire(book))
            continue
        grade = values.grades.get(row.name, values.default)
        rule = book.rule(
            f"value/{row.name}",
            grade.statement or row.statement,
            row.effect,
            row.selector if grade.obligation is MUST else replace(row.selector, levels=(2,)),
            *grade.citations,
            obligation=grade.obligation,
            provenance=grade.provenance or ASSUMED,
        )
        found.append(rule)
    return tuple(found)
