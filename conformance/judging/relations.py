"""How the value that came is related to the value that was owed: a closed list of relations.

A relation is what a reader needs to find the line that is wrong: the sign was lost, the text was
cut after 255 characters, the value is the before image's. The modules `relations_of_...` decide it
on values; its words are made in `conformance.judging.sentences`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


class RelationKind(enum.StrEnum):
    """The ways in which a wrong value may be related to the right one."""

    SPARK_TYPE = "spark-type"
    SPELLING = "spelling"
    SIGN = "sign"
    FRACTION = "fraction"
    ROUNDED = "rounded"
    WHOLE_DAYS = "whole-days"
    HUNDREDS_OF_HOURS = "hundreds-of-hours"
    TIME_OF_DAY = "time-of-day"
    MONTH_AND_DAY = "month-and-day"
    SHIFT = "shift"
    WRAP = "wrap"
    LOW_BITS = "low-bits"
    TWO_DIGITS = "two-digits"
    DOUBLE = "double"
    FLOAT = "float"
    LAST_DIGITS = "last-digits"
    FACTOR = "factor"
    DECIMAL_POINT = "decimal-point"
    BITS_REVERSED = "bits-reversed"
    BYTES_REVERSED = "bytes-reversed"
    LETTER_CASE = "letter-case"
    BLANKS_AT_ENDS = "blanks-at-ends"
    CUT = "cut"
    LOST_CHARACTERS = "lost-characters"
    ADDED_CHARACTERS = "added-characters"
    REPLACED_CHARACTERS = "replaced-characters"
    BYTES_AS_LATIN = "bytes-as-latin"
    LATIN_AS_UTF8 = "latin-as-utf8"
    ENCODED = "encoded"
    UNICODE_FORM = "unicode-form"
    EPOCH = "epoch"
    OTHER_ORDER = "other-order"
    WITHIN_DOCUMENT = "within-document"
    ENCODED_TWICE = "encoded-twice"
    OTHER_IMAGE = "other-image"
    OTHER_ROW = "other-row"
    OTHER_COLUMN = "other-column"
    COMES_AS = "comes-as"
    WHERE_NONE = "where-none"
    LOST_MEMBERS = "lost-members"
    ADDED_MEMBERS = "added-members"
    EARLIER_ROW = "earlier-row"
    LOST_BEGINNING = "lost-beginning"
    ONE_VALUE = "one-value"
    CUT_TO_PLACES = "cut-to-places"
    ROUNDED_TO_PLACES = "rounded-to-places"
    ROUNDED_TO_DIGITS = "rounded-to-digits"
    FRACTION_LOST = "fraction-lost"
    FRACTION_CUT = "fraction-cut"
    FRACTION_ROUNDED = "fraction-rounded"
    FRACTION_A_THOUSANDTH = "fraction-a-thousandth"
    FRACTION_AS_MICROS = "fraction-as-micros"
    MONTHS = "months"
    AS_BOOLEAN = "as-boolean"
    FIRST_MEMBER = "first-member"
    NUMBER_OF_MEMBERS = "number-of-members"
    CHANGED_PARTS = "changed-parts"
    REPLACED_BY = "replaced-by"
    ESCAPED = "escaped"
    LETTERS = "letters"
    FURTHER_ROW = "further-row"
    LAST_ROW = "last-row"
    LAST_ROW_ALONE = "last-row-alone"
    UNSIGNED = "unsigned"
    SIGNED = "signed"
    MANTISSA = "mantissa"
    NO_UTF8 = "no-utf8"
    CUT_TO_MINUTES = "cut-to-minutes"
    DAYS_AS_MILLIS = "days-as-millis"
    EVERY_COLUMN = "every-column"
    RENAMED = "renamed"
    VALUES_OF_COLUMNS = "values-of-columns"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with its arguments.

    `number` is the shift in microseconds (positive if what came is later; 0 for shifts that
    differ), the bits of a wrap or those that are left, the power of ten of a factor, the length
    after a cut, the digits or places that are left, the months of a shift, or the other row;
    `total` is the length before a cut. `name` is the sort of characters, the other image or column,
    the part of a document, the encoding, or the Spark type (of an envelope column NULL). `before`
    is the sort of characters before which a text was cut ("" if a cut there may be chance), or what
    stands in the place of characters.
    """

    kind: RelationKind
    number: int = 0
    total: int = 0
    name: str = ""
    before: str = ""

    @property
    def is_elsewhere(self) -> bool:
        """Whether what came is the right value of another cell."""
        return self.kind in _ELSEWHERE

    @property
    def explains_alone(self) -> bool:
        """Whether the relation alone says what a decoder does wrong, whatever the value holds."""
        return self.kind in _EXPLAINS_ALONE


CHARACTER_SORTS: Final = (
    ("tabs", r"\t+"),
    ("blanks", r"[ \t]+"),
    ("line feeds", r"\n+"),
    ("carriage returns", r"\r+"),
    ("line ends", r"[\r\n]+"),
    ("control characters below 0x20", r"[\x00-\x1f]+"),
    ("control characters beyond ASCII", r"[\x80-\x9f]+"),
    ("control characters from 0x7f to 0x9f", r"[\x7f-\x9f]+"),
    ("control characters", r"[\x00-\x1f\x7f-\x9f]+"),
    ("backslashes", r"\\+"),
    ("double quotes", r'"+'),
    ("single quotes", r"'+"),
    ("back ticks", r"`+"),
    ("quotes", r"[\"'`]+"),
    ("signs of markup", r"[<>&]+"),
    ("byte order marks", "\ufeff+"),
    ("Unicode's line separators", "[\u2028\u2029]+"),
    ("replacement characters", "\ufffd+"),
    ("characters beyond the basic plane", r"[\U00010000-\U0010ffff]+"),
    ("characters beyond Latin-1", r"[^\x00-\xff]+"),
    ("characters beyond ASCII", r"[^\x00-\x7f]+"),
)
"""The sorts of characters that decoders lose, narrow ones first."""
BLANKS_AT_BOTH_ENDS: Final = "blanks at the ends"
"""The words for blanks at either end of a text."""
_BEYOND_ASCII: Final = "characters beyond ASCII"
_BEYOND_LATIN: Final = "characters beyond Latin-1"
_WIDER_SORTS: Final[Mapping[str, str]] = {
    "tabs": "blanks",
    "line feeds": "line ends",
    "carriage returns": "line ends",
    "line ends": "control characters below 0x20",
    "control characters below 0x20": "control characters",
    "control characters beyond ASCII": "control characters from 0x7f to 0x9f",
    "control characters from 0x7f to 0x9f": "control characters",
    "double quotes": "quotes",
    "single quotes": "quotes",
    "back ticks": "quotes",
    **dict.fromkeys(
        (
            "byte order marks",
            "Unicode's line separators",
            "replacement characters",
            "characters beyond the basic plane",
        ),
        _BEYOND_LATIN,
    ),
    _BEYOND_LATIN: _BEYOND_ASCII,
}
"""The next wider sort of characters that has all of a sort's."""
_OF_WHITE_SPACE: Final = frozenset(
    {
        "a blank at an end",
        "a blank at the beginning",
        "a blank at the end",
        "white space at an end",
        "white space at the beginning",
        "white space at the end",
        "several blanks together",
    }
)
"""What texts have that lose blanks or line ends."""
_LINE_ENDS: Final = frozenset({"line feeds", "carriage returns", "line ends"})
"""Sorts of characters that end a line."""
_OF_CHARACTERS: Final = frozenset(
    {
        RelationKind.LOST_CHARACTERS,
        RelationKind.ADDED_CHARACTERS,
        RelationKind.REPLACED_CHARACTERS,
    }
)
"""Relations whose name is a sort of characters."""
_ELSEWHERE: Final = frozenset(
    {RelationKind.OTHER_IMAGE, RelationKind.OTHER_ROW, RelationKind.OTHER_COLUMN}
)
"""Relations of values that are the right ones of another cell."""
OF_TEXTS: Final = frozenset(
    {
        RelationKind.LOST_CHARACTERS,
        RelationKind.ADDED_CHARACTERS,
        RelationKind.REPLACED_CHARACTERS,
        RelationKind.LETTER_CASE,
        RelationKind.BLANKS_AT_ENDS,
        RelationKind.SPELLING,
        RelationKind.BYTES_AS_LATIN,
        RelationKind.ENCODED,
        RelationKind.UNICODE_FORM,
    }
)
"""Relations on the characters of a text."""
_EXPLAINS_ALONE: Final = OF_TEXTS | {
    RelationKind.OTHER_IMAGE,
    RelationKind.SIGN,
    RelationKind.CUT,
    RelationKind.COMES_AS,
    RelationKind.WITHIN_DOCUMENT,
}
"""Relations that leave nothing to explain, whatever the value holds."""
_CUT_BEFORE: Final = (
    ("a line end", "\r\n\v\f\x85\u2028\u2029"),
    ("a zero byte", "\0"),
    ("a colon", ":"),
    ("a comma", ","),
    ("a semicolon", ";"),
    ("a dot", "."),
    ("an equals sign", "="),
    ("a bracket", "([{"),
    ("a slash", "/"),
    ("a quote", "\"'`"),
)
"""Sorts of characters at which readers end a text by mistake, with the characters."""


def is_beyond_ascii(sort: str) -> bool:
    """Whether a sort of characters has none of ASCII."""
    return _BEYOND_ASCII in (sort, *_wider_sorts(sort))


def describe_end_character(character: str) -> str:
    """The sort of a character at which readers end a text by mistake, such as `a comma`; "" for
    another character.
    """
    return next((name for name, signs in _CUT_BEFORE if character in signs), "")


def signs_before_a_cut(relation: Relation) -> str:
    """The characters before which a text was cut; "" if a cut there may be chance."""
    return next((signs for name, signs in _CUT_BEFORE if name == relation.before), "")


def widen_relation(relation: Relation) -> Relation:
    """A more general relation, for values of one mistake whose relations differ in detail: a cut at
    any length, the next wider sort of characters. A relation that has none stays as it is.
    """
    if relation.kind is RelationKind.CUT:
        return Relation(RelationKind.CUT, name=relation.name, before=relation.before)
    if relation.kind is RelationKind.ROUNDED:
        return Relation(RelationKind.FRACTION)
    if relation.kind is RelationKind.BLANKS_AT_ENDS:
        return Relation(RelationKind.LOST_CHARACTERS, name="blanks")
    if relation.kind in _OF_CHARACTERS and relation.name in _WIDER_SORTS:
        return Relation(relation.kind, name=_WIDER_SORTS[relation.name])
    if relation.kind is RelationKind.WRAP and relation.number:
        return Relation(RelationKind.LOW_BITS, relation.number)
    return relation


def generalize_relation(relation: Relation) -> Relation:
    """A more general relation, for values that are wrong in the same way but not by the same
    amount: a cut anywhere, any shift, a number that is only about right.
    """
    match relation.kind:
        case RelationKind.CUT:
            return Relation(RelationKind.CUT, name=relation.name)
        case RelationKind.BLANKS_AT_ENDS:
            return Relation(RelationKind.BLANKS_AT_ENDS, name=BLANKS_AT_BOTH_ENDS)
        case RelationKind.DOUBLE | RelationKind.FLOAT:
            return Relation(RelationKind.LAST_DIGITS)
        case RelationKind.SHIFT:
            return Relation(RelationKind.SHIFT)
        case RelationKind.WRAP:
            return Relation(RelationKind.WRAP)
        case RelationKind.FACTOR:
            return Relation(RelationKind.DECIMAL_POINT)
    return widen_relation(relation)


def contents_of_lost_characters(relation: Relation) -> frozenset[str] | None:
    """What a text may hold that makes it lose characters, or have others in their place, in this
    relation: the sorts of these characters and wider sorts. None for another relation, whose reason
    may be anything. Narrower sorts are left out, since the relation would then name them.
    """
    if relation.kind is RelationKind.BLANKS_AT_ENDS:
        return _OF_WHITE_SPACE | {"blanks", *_LINE_ENDS}
    if relation.kind not in (RelationKind.LOST_CHARACTERS, RelationKind.REPLACED_CHARACTERS):
        return None
    name = relation.name
    wider_sorts = _wider_sorts(name)
    if name == "backslashes":
        return frozenset({name, "an escape of JSON"})
    if name in ("blanks", "tabs"):
        return _OF_WHITE_SPACE | {name, *wider_sorts}
    if name in _LINE_ENDS:
        return _OF_WHITE_SPACE | {name, *wider_sorts, "a line feed after a carriage return"}
    return frozenset({name, *wider_sorts})


def _wider_sorts(name: str) -> Iterator[str]:
    """The sorts of characters that have all of a sort's, narrow ones first."""
    while name in _WIDER_SORTS:
        name = _WIDER_SORTS[name]
        yield name
