"""How the value that came is related to the value that was owed: a closed list of relations,
decided on values.

A relation is what a reader needs to find the line that is wrong: the sign was lost, the text was
cut after 255 characters, the value is the before image's. Its words are made in
`conformance.judging.sentences`.
"""

from __future__ import annotations

import base64
import enum
import json
import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from conformance.judging.compare import Typed, is_accepted, same_value
from conformance.judging.wording import of_type
from generators.model import Case, Cell, Change, Json, Logical, State


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


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with its arguments.

    `number` is the shift in microseconds (positive if what came is later; 0 for shifts that
    differ), the bits of a wrap or those that are left, the power of ten of a factor, the length
    after a cut, or the other row; `total` is the length before a cut. `name` is the sort of
    characters, the other image or column, the part of a document, the encoding, or the Spark type
    (of an envelope column NULL). `before` is the sort of
    characters before which a text was cut; "" if a cut there may be chance.
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
        """Whether nothing is left to explain, whatever the value holds."""
        return self.kind in _EXPLAINS_ALONE


CHARACTER_SORTS: Final = (
    ("tabs", r"\t+"),
    ("blanks", r"[ \t]+"),
    ("line feeds", r"\n+"),
    ("carriage returns", r"\r+"),
    ("line ends", r"[\r\n]+"),
    ("control characters below 0x20", r"[\x00-\x1f]+"),
    ("control characters beyond ASCII", r"[\x80-\x9f]+"),
    ("control characters", r"[\x00-\x1f\x7f-\x9f]+"),
    ("backslashes", r"\\+"),
    ("double quotes", r'"+'),
    ("single quotes", r"'+"),
    ("back ticks", r"`+"),
    ("quotes", r"[\"'`]+"),
    ("signs of markup", r"[<>&]+"),
    ("byte order marks", "\ufeff+"),
    ("separators of lines", "[\u2028\u2029]+"),
    ("replacement characters", "\ufffd+"),
    ("characters beyond the basic plane", r"[\U00010000-\U0010ffff]+"),
    ("characters beyond ASCII", r"[^\x00-\x7f]+"),
)
"""The sorts of characters that decoders lose, narrow ones first."""
BLANKS_AT_BOTH_ENDS: Final = "blanks at the ends"
_BEYOND_ASCII: Final = "characters beyond ASCII"
_WIDER_SORTS: Final[Mapping[str, str]] = {
    "tabs": "blanks",
    "line feeds": "line ends",
    "carriage returns": "line ends",
    "line ends": "control characters below 0x20",
    "control characters below 0x20": "control characters",
    "control characters beyond ASCII": "control characters",
    "double quotes": "quotes",
    "single quotes": "quotes",
    "back ticks": "quotes",
    **dict.fromkeys(
        (
            "byte order marks",
            "separators of lines",
            "replacement characters",
            "characters beyond the basic plane",
        ),
        _BEYOND_ASCII,
    ),
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
"""Characters at which readers end a text by mistake."""
_SECOND: Final = 1_000_000
_UNITS_OF_FRACTIONS: Final = tuple(10**power for power in range(6, -1, -1))
"""Microseconds of the last digit of a fraction: of none first, of six last."""
_HOUR: Final = 3_600 * _SECOND
_DAY: Final = 24 * _HOUR
_CLOSE: Final = Decimal("0.001")
"""Share of a number by which one that lost its last digits differs at most."""
_EPOCH: Final = date(1970, 1, 1)
_CLOCKS: Final = frozenset({Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME})
_NUMBERS: Final = frozenset(
    {
        Logical.INT,
        Logical.YEAR,
        Logical.DECIMAL,
        Logical.FLOAT,
        Logical.DOUBLE,
        Logical.BIT,
        Logical.ENUM,
        Logical.SET,
    }
)
_SPELLED_AS_TEXT: Final = frozenset({Logical.BINARY, Logical.JSON, Logical.ENUM, Logical.SET})
"""Types of values that are no texts, but are texts on the wire."""
_CLOCK_FAMILIES: Final = frozenset({"date", "timestamp", "timestamp_ntz", "interval"})
_WRAPS: Final = {1 << bits: bits for bits in (8, 16, 24, 32, 64)}
_WIDTHS: Final = (64, 63, 53, 32, 31, 24, 16, 15, 8, 7)
"""Bits of the variables that decoders put integers into."""
_FACTORS: Final = range(2, 10)
"""Powers of ten by which units differ: hundredths to nanoseconds. A power of one is chance."""
_MOMENT: Final = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d))?[T ]?"
    r"(?:(?P<sign>-?)(?P<hours>\d{1,3}):(?P<minutes>\d\d):(?P<seconds>\d\d)"
    r"(?:[.](?P<fraction>\d{1,6}))?)?Z?"
)
_ZEROS: Final = re.compile(r"[ T]00:00:00(\.0+)?Z?$|\.0+Z?$|(?<=\.\d)0+Z?$|Z$|(?<=\d)[ T](?=\d)")
"""Midnight, zeros that end a fraction, and what stands between a date and a clock and behind both.
"""


def relate_cell(
    case: Case, message: int, change: Change, side: str, column: str, came: Any, elsewhere: bool
) -> Relation | None:
    """The relation of what came in a column of an image; None if it shows none.

    `elsewhere` allows the answer that another image or row holds the value. Where few cells do so
    by chance, it is false.
    """
    cell = (change.image(side, case.level) or {}).get(column)
    if cell is None or came is None:
        return None
    if elsewhere and not _is_spelled_alike(cell, came):
        relation_to_image = _find_in_other_images(case, message, change, side, column, came)
        if relation_to_image is not None:
            return relation_to_image
    if elsewhere and cell.state is State.NULL:
        earlier_row = _find_in_earlier_rows(case, message, change, column, came)
        if earlier_row is not None:
            return earlier_row
    return relate(cell, came) or _find_in_other_columns(case, change, side, column, came)


def relate(cell: Cell, came: Any) -> Relation | None:
    """How the value that came is related to the expected cell: a text of the wire at level one, a
    `Typed` value at level two; None if no relation is known.
    """
    if cell.state is not State.VALUE:
        return None
    if isinstance(came, Typed):
        return _relate_typed(cell, came)
    if cell.text is None or not isinstance(came, str):
        return None
    return _relate_wire_texts(cell, cell.text, came)


def relate_texts(expected: str, actual: str, unit: str = "characters") -> Relation | None:
    """How a wrong text is related to the right one (cut, lost characters, other case ...); None if
    no relation is known. `unit` names what a cut counts.
    """
    if expected.casefold() == actual.casefold():
        return Relation(RelationKind.LETTER_CASE)
    if unicodedata.normalize("NFKC", expected) == unicodedata.normalize("NFKC", actual):
        return Relation(RelationKind.UNICODE_FORM)
    encoding = _find_encoding(expected.encode("utf-8", "surrogatepass"), actual)
    if encoding is not None:
        return encoding
    is_part = actual in expected or expected in actual
    if is_part and expected.strip() == actual.strip():
        return Relation(RelationKind.BLANKS_AT_ENDS, name=_find_end(expected, actual))
    if actual and len(actual) < len(expected) and expected.startswith(actual):
        before = _describe_character(expected[len(actual)])
        return Relation(RelationKind.CUT, len(actual), len(expected), unit, before)
    if _read_as_latin(expected) == actual:
        return Relation(RelationKind.BYTES_AS_LATIN)
    for kind, changed_characters in (
        (RelationKind.LOST_CHARACTERS, _characters_left_out(expected, actual)),
        (RelationKind.ADDED_CHARACTERS, _characters_left_out(actual, expected)),
    ):
        for sort, pattern in CHARACTER_SORTS:
            if changed_characters and re.fullmatch(pattern, changed_characters):
                return Relation(kind, name=sort)
    if actual and expected.endswith(actual):
        before = _describe_character(expected[-len(actual) - 1])
        return Relation(RelationKind.LOST_BEGINNING, before=before)
    # Of a text that is nothing but such characters a sign for each comes.
    if len(actual) == len(expected) and re.fullmatch(r"[?\ufffd]+", actual):
        for sort, pattern in CHARACTER_SORTS:
            if re.fullmatch(pattern, expected) and _is_beyond_ascii(sort):
                return Relation(RelationKind.REPLACED_CHARACTERS, name=sort)
    for sort, pattern in CHARACTER_SORTS:
        if _differs_only_at(expected, actual, pattern):
            return Relation(RelationKind.REPLACED_CHARACTERS, name=sort)
    return None


def _is_beyond_ascii(sort: str) -> bool:
    """Whether a sort of characters has none of ASCII."""
    return _BEYOND_ASCII in (sort, _WIDER_SORTS.get(sort))


def _find_end(expected: str, actual: str) -> str:
    """At which end one of two texts that are equal otherwise has more blanks than the other."""
    shorter, longer = sorted((expected, actual), key=len)
    if longer.startswith(shorter) is longer.endswith(shorter):
        return BLANKS_AT_BOTH_ENDS
    return "blanks at the end" if longer.startswith(shorter) else "blanks at the beginning"


def _find_encoding(expected: bytes, actual: str) -> Relation | None:
    """The encoding of bytes that a text is; None if it is none, or one of no byte."""
    if expected and actual.lower() == expected.hex():
        return Relation(RelationKind.ENCODED, name="hexadecimal digits")
    if actual.lower() == f"0x{expected.hex()}":
        return Relation(RelationKind.ENCODED, name="hexadecimal digits after 0x")
    if expected and actual == base64.b64encode(expected).decode("ascii"):
        return Relation(RelationKind.ENCODED, name="base64")
    return None


def _describe_character(character: str) -> str:
    """The sort of a character at which readers end a text; "" for another."""
    return next((name for name, signs in _CUT_BEFORE if character in signs), "")


def signs_before_a_cut(relation: Relation) -> str:
    """The characters before which a text was cut; "" if a cut there may be chance."""
    return next((signs for name, signs in _CUT_BEFORE if name == relation.before), "")


def _read_as_latin(expected: str) -> str:
    return expected.encode("utf-8", "surrogatepass").decode("latin-1")


def is_value_of(cell: Cell, came: Any) -> bool:
    """Whether what came is the value of the cell, in whatever Spark type it came."""
    if cell.state is not State.VALUE:
        return False
    if not isinstance(came, Typed):
        return cell.text is not None and cell.text == came
    if same_value(cell, came):
        return True
    if isinstance(came.value, str):
        return came.value == of_type(cell.type, cell.value)
    # A number of microseconds is no number of an INT column.
    if (came.family in _CLOCK_FAMILIES) != (cell.type.logical in _CLOCKS):
        return False
    return not isinstance(came.value, bool) and bool(came.value == cell.value)


def widen_relation(relation: Relation) -> Relation:
    """The relation without numbers, and the wider of two sorts where both occur in one mistake."""
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
    """The relation that others of its kind have in common with it: a cut anywhere, any shift, a
    number that is only about right.
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
    """What a text may have that makes it lose characters, or have others in their place, in this
    relation; None for another relation, which may have any reason. Characters of a narrower sort
    are no reason: the relation would name that sort.
    """
    if relation.kind is RelationKind.BLANKS_AT_ENDS:
        return _OF_WHITE_SPACE | {"blanks", *_LINE_ENDS}
    if relation.kind not in (RelationKind.LOST_CHARACTERS, RelationKind.REPLACED_CHARACTERS):
        return None
    name = relation.name
    wider_sorts = _wider_sorts(name)
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


def _is_spelled_alike(cell: Cell, came: Any) -> bool:
    """Whether what came is the cell's own value in a wrong type or spelling, so that no other cell
    can be where it comes from.
    """
    relation = relate(cell, came)
    return relation is not None and relation.kind is RelationKind.SPARK_TYPE


def _find_in_other_images(
    case: Case, message: int, change: Change, side: str, column: str, came: Any
) -> Relation | None:
    """The row's other image, or another row of the message, that holds what came."""
    other_side = "before" if side == "after" else "after"
    other_cell = (change.image(other_side, case.level) or {}).get(column)
    if other_cell is not None and is_value_of(other_cell, came):
        return Relation(RelationKind.OTHER_IMAGE, name=other_side)
    for other_change in case.written[message].changes:
        if other_change.row == change.row:
            continue
        cell = (other_change.image(side, case.level) or {}).get(column)
        if cell is not None and is_value_of(cell, came):
            return Relation(RelationKind.OTHER_ROW, other_change.row)
    return None


def _find_in_earlier_rows(
    case: Case, message: int, change: Change, column: str, came: Any
) -> Relation | None:
    """Whether an earlier message of the case has a row of the same table that holds what came."""
    for written in case.written[:message]:
        for earlier in written.changes:
            for side in ("after", "before"):
                cell = (earlier.image(side, case.level) or {}).get(column)
                if earlier.table == change.table and cell is not None and is_value_of(cell, came):
                    return Relation(RelationKind.EARLIER_ROW)
    return None


def _find_in_other_columns(
    case: Case, change: Change, side: str, column: str, came: Any
) -> Relation | None:
    """The image's other column that holds what came."""
    for name, cell in (change.image(side, case.level) or {}).items():
        if name != column and is_value_of(cell, came):
            return Relation(RelationKind.OTHER_COLUMN, name=name)
    return None


def _relate_wire_texts(cell: Cell, expected: str, actual: str) -> Relation | None:
    """How a wrong text of level one is related to the right one, by what texts of the column's type
    mean; None if no relation is known.
    """
    if expected == actual:
        return Relation(RelationKind.SPARK_TYPE)
    if cell.type.logical in _CLOCKS:
        want, got = _wire_micros(cell, expected), _wire_micros(cell, actual)
        relation = _relate_clocks(want, got, cell.type.logical)
        if relation is not None:
            return relation
        if want is not None and want == got:
            return Relation(RelationKind.SPELLING)
        if _ZEROS.sub("", expected) == _ZEROS.sub("", actual):
            return Relation(RelationKind.SPELLING)
        return _relate_numbers(_as_number(expected), _as_number(actual))
    if isinstance(cell.value, str):
        return relate_texts(expected, actual)
    want_number, got_number = _as_number(expected), _as_number(actual)
    if want_number is not None and got_number is not None:
        if cell.type.logical is Logical.YEAR and _has_two_digits(want_number, got_number):
            return Relation(RelationKind.TWO_DIGITS)
        if want_number != got_number and (reversal := _find_reversal(cell, got_number)):
            return reversal
        relation = _relate_numbers(want_number, got_number)
        are_equal = want_number == got_number
        return relation or (Relation(RelationKind.SPELLING) if are_equal else None)
    if cell.type.logical not in _SPELLED_AS_TEXT:
        return None
    relation = None
    if cell.type.logical is Logical.SET and sorted(expected.split(",")) == sorted(
        actual.split(",")
    ):
        return Relation(RelationKind.OTHER_ORDER)
    if cell.type.logical is Logical.JSON:
        relation = _relate_documents(expected, actual)
    return relation or relate_texts(expected, actual)


def _relate_typed(cell: Cell, came: Typed) -> Relation | None:
    """How a wrong typed value (level two) is related to the right one; None if no relation is
    known.
    """
    wrong_type = not is_accepted(cell, came.family)
    relation = _relate_typed_values(cell, came)
    if relation is None and _are_equal(cell, came):
        kind = RelationKind.SPARK_TYPE if wrong_type else RelationKind.SPELLING
        return Relation(kind)
    return relation


def _relate_typed_values(cell: Cell, came: Typed) -> Relation | None:
    """The relation of two values that are different; None of two that are equal."""
    expected, actual = cell.value, came.value
    if isinstance(expected, bytes):
        if isinstance(actual, str):
            return _find_encoding(expected, actual)
        return _relate_bytes(expected, actual) if isinstance(actual, bytes) else None
    if isinstance(expected, str):
        return (
            relate_texts(expected, actual)
            if isinstance(actual, str) and actual != expected
            else None
        )
    if isinstance(expected, Json) and isinstance(actual, str):
        document_text = expected.text or json.dumps(expected.value, default=str, ensure_ascii=False)
        return _relate_documents(document_text, actual)
    if cell.type.logical in _CLOCKS:
        return _relate_clocks(_micros_of(expected), _micros_of(actual), cell.type.logical)
    if cell.type.logical in _NUMBERS:
        if cell.type.logical is Logical.YEAR and _has_two_digits(expected, _as_number(actual)):
            return Relation(RelationKind.TWO_DIGITS)
        if actual != expected and (reversal := _find_reversal(cell, _as_number(actual))):
            return reversal
        return _relate_numbers(_as_number(expected), _as_number(actual))
    return None


def _are_equal(cell: Cell, came: Typed) -> bool:
    """Whether what came means the owed value."""
    if is_value_of(cell, came):
        return True
    if cell.type.logical in _CLOCKS:
        expected_micros = _micros_of(cell.value)
        return expected_micros is not None and expected_micros == _micros_of(came.value)
    if cell.type.logical in _NUMBERS:
        number = _as_number(cell.value)
        return number is not None and number == _as_number(came.value)
    return False


def _relate_clocks(
    expected: int | None, actual: int | None, logical: Logical = Logical.TIMESTAMP
) -> Relation | None:
    """How a wrong date or time is related to the right one of this type, both in microseconds
    (shifted, without time of day ...); None if no relation is known.
    """
    if expected is None or actual is None or expected == actual:
        return None
    for power in (3, 6):
        factor = 10**power
        if expected and actual == expected * factor:
            return Relation(RelationKind.FACTOR, power)
        # A type without a fraction has cut or rounded it.
        part = expected // factor
        is_about_part = abs(part) >= _SECOND and abs(actual - part) < _SECOND
        if is_about_part and actual and (actual == part or actual % _SECOND == 0):
            return Relation(RelationKind.FACTOR, -power)
    if actual == 0 and abs(expected) >= _DAY and logical is not Logical.TIME:
        return Relation(RelationKind.EPOCH)
    toward_zero = -(-expected // _SECOND) * _SECOND
    if expected // _SECOND == actual // _SECOND or (expected < 0 and actual == toward_zero):
        return Relation(RelationKind.FRACTION)
    if expected == -actual:
        return Relation(RelationKind.SIGN)
    if abs(expected - actual) < _SECOND:
        return Relation(RelationKind.ROUNDED)
    if logical is Logical.TIME:
        relation = _relate_long_times(expected, actual)
        if relation is not None:
            return relation
    elif actual == expected // _DAY * _DAY and logical is not Logical.DATE:
        return Relation(RelationKind.TIME_OF_DAY)
    elif _swap_month_and_day(expected) == actual:
        return Relation(RelationKind.MONTH_AND_DAY)
    if (actual - expected) % _SECOND == 0:
        return Relation(RelationKind.SHIFT, actual - expected)
    return None


def _swap_month_and_day(micros: int) -> int | None:
    """The same time of the day whose month is the day and whose day is the month; None if there is
    no such day.
    """
    days, clock = divmod(micros, _DAY)
    try:
        day = _EPOCH + timedelta(days=days)
        swapped = day.replace(month=day.day, day=day.month)
    except (ValueError, OverflowError):
        return None
    return (swapped - _EPOCH).days * _DAY + clock


def _relate_long_times(expected: int, actual: int) -> Relation | None:
    """The relation of two times that differ by whole days, or by the first digit of the hours."""
    if (actual - expected) % _DAY == 0:
        return Relation(RelationKind.WHOLE_DAYS)
    if (actual - expected) % (100 * _HOUR) == 0:
        return Relation(RelationKind.HUNDREDS_OF_HOURS)
    return None


def _relate_numbers(expected: Decimal | None, actual: Decimal | None) -> Relation | None:
    """How a wrong number is related to the right one; None if they are equal but for the sign of
    zero, or no relation is known.
    """
    if expected is None or actual is None:
        return None
    if expected == actual == 0 and expected.is_signed() != actual.is_signed():
        return Relation(RelationKind.SIGN)
    if not (expected.is_finite() and actual.is_finite()) or expected == actual:
        return None
    try:
        return _relate_finite_numbers(expected, actual)
    except (ArithmeticError, ValueError):
        return None


def _relate_finite_numbers(expected: Decimal, actual: Decimal) -> Relation | None:
    """How a wrong number is related to the expected one: wrapped around, its sign or fraction lost,
    read as a double, off by a power of ten; None if in no such way.
    """
    difference = abs(expected - actual)
    if difference in _WRAPS:
        return Relation(RelationKind.WRAP, _WRAPS[int(difference)])
    if expected == -actual:
        return Relation(RelationKind.SIGN)
    widths = _widths_between(expected, actual) if actual else frozenset()
    if widths:
        return Relation(RelationKind.LOW_BITS, max(widths))
    if actual == Decimal(repr(float(expected))):
        return Relation(RelationKind.DOUBLE)
    if expected.to_integral_value() != expected and actual in (int(expected), round(expected)):
        return Relation(RelationKind.FRACTION)
    if float(expected) == float(actual):
        return Relation(RelationKind.DOUBLE)
    if actual and is_through_float(expected, actual):
        return Relation(RelationKind.FLOAT)
    for power in _FACTORS:
        factor = Decimal(10) ** power
        if actual == expected * factor:
            return Relation(RelationKind.FACTOR, power)
        if actual * factor == expected:
            return Relation(RelationKind.FACTOR, -power)
    if actual and difference <= abs(expected) * _CLOSE:
        return Relation(RelationKind.LAST_DIGITS)
    if actual and _have_same_digits(_significant_digits(expected), _significant_digits(actual)):
        return Relation(RelationKind.DECIMAL_POINT)
    return None


def possible_relations(cell: Cell, came: Any) -> frozenset[Relation]:
    """All relations with a number (the lowest bits, a thousandth ...), or of a type with fewer
    digits, that a wrong number or time may have to the right one. `relate` gives the likeliest: that
    a second comes as 0 says little, but with others it may be that all come as a thousandth.
    """
    if cell.state is not State.VALUE:
        return frozenset()
    if cell.type.logical in _CLOCKS:
        expected_micros, actual_micros = _micros_of_cell(cell, came)
        if expected_micros is None or actual_micros is None:
            return frozenset()
        return frozenset(_parts_between(expected_micros, actual_micros))
    if cell.type.logical not in _NUMBERS:
        return frozenset()
    expected = _as_number(cell.text if isinstance(came, str) else cell.value)
    actual = _as_number(came.value if isinstance(came, Typed) else came)
    if expected is None or actual is None or expected == actual:
        return frozenset()
    possible = {
        Relation(RelationKind.LOW_BITS, width) for width in _widths_between(expected, actual)
    }
    if is_through_float(expected, actual):
        possible.add(Relation(RelationKind.FLOAT))
    return frozenset(possible)


def _micros_of_cell(cell: Cell, came: Any) -> tuple[int | None, int | None]:
    """The microseconds that an owed date or time and the one that came stand for; None for what is
    no time.
    """
    if isinstance(came, Typed):
        return _micros_of(cell.value), _micros_of(came.value)
    if cell.text is None or not isinstance(came, str):
        return None, None
    return _wire_micros(cell, cell.text), _wire_micros(cell, came)


def _parts_between(expected: int, actual: int) -> Iterator[Relation]:
    """The thousandth and the millionth, if a time may be this part of another, cut or rounded to
    the digits of a fraction that it has.
    """
    digit = next(unit for unit in _UNITS_OF_FRACTIONS if actual % unit == 0)
    for power in (3, 6):
        difference = abs(actual - expected // 10**power)
        if expected != actual and (difference < digit or difference == 1):
            yield Relation(RelationKind.FACTOR, -power)


def is_through_float(expected: Decimal, actual: Decimal) -> bool:
    """Whether a number is what a variable of 32 bits, as C's float, keeps of another one: with all
    its digits as a double, or with no more digits than a float has.
    """
    if not expected.is_finite() or actual.is_nan():
        return False
    kept = round_to_float(float(expected))
    is_short = len(_significant_digits(actual)) <= _DIGITS_OF_FLOAT if actual.is_finite() else True
    return round_to_float(float(actual)) == kept and (is_short or float(actual) == kept)


def round_to_float(number: float) -> float:
    """The nearest number that a float of 32 bits holds: an infinite one beyond its range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _widths_between(expected: Decimal, actual: Decimal) -> frozenset[int]:
    """The widths of which the second number is the lowest bits of the first; none if it is no
    integer, or too large a one.
    """
    limit = 1 << max(_WIDTHS)
    if not -limit < expected < limit or expected != expected.to_integral_value():
        return frozenset()
    number = int(expected)
    return frozenset(
        width
        for width in _WIDTHS
        if actual in (number % (1 << width), number % (1 << width) - (1 << width))
    )


def _have_same_digits(expected: str, actual: str) -> bool:
    """Whether two numbers have the same digits, or the same first ones of many."""
    is_long = min(len(expected), len(actual)) > _DIGITS_OF_DOUBLE
    return expected == actual or (
        is_long and expected[:_DIGITS_OF_DOUBLE] == actual[:_DIGITS_OF_DOUBLE]
    )


_DIGITS_OF_DOUBLE: Final = 15
"""Digits that a double holds of any decimal number."""
_DIGITS_OF_FLOAT: Final = 9
"""Digits that tell every float of 32 bits from the next one."""


def _significant_digits(number: Decimal) -> str:
    return "".join(map(str, number.as_tuple().digits)).strip("0")


def _has_two_digits(year: Any, actual: Decimal | None) -> bool:
    """Whether what came are the last two digits of a year that has more."""
    return isinstance(year, int | Decimal) and year >= 100 and actual == year % 100


def _find_reversal(cell: Cell, actual: Decimal | None) -> Relation | None:
    """Whether what came are the bits of a BIT, or its bytes, in reverse order; None if neither."""
    length, bits = cell.type.length, cell.value
    if cell.type.logical is not Logical.BIT or not length or not isinstance(bits, int):
        return None
    if not 0 < bits < 1 << length:
        return None
    if actual == int(f"{bits:0{length}b}"[::-1], 2):
        return Relation(RelationKind.BITS_REVERSED)
    size = (length + 7) // 8
    if size > 1 and actual == int.from_bytes(bits.to_bytes(size, "little"), "big"):
        return Relation(RelationKind.BYTES_REVERSED)
    return None


def _relate_documents(expected: str, actual: str) -> Relation | None:
    """The relation of two JSON documents: that of all their different texts, or the one sort of
    parts in which they differ; None if there are several.
    """
    expected_documents, actual_documents = _parse_document(expected), _parse_document(actual)
    if expected_documents and not actual_documents:
        return _find_encoded_document(expected_documents[0], actual)
    if not expected_documents or not actual_documents:
        return None
    (expected_document,), (actual_document,) = expected_documents, actual_documents
    if isinstance(actual_document, str) and _parse_document(actual_document) == [expected_document]:
        return Relation(RelationKind.ENCODED_TWICE)
    relations = set(_walk_differences(expected_document, actual_document))
    if not relations and expected != actual:
        return Relation(RelationKind.SPELLING)
    return relations.pop() if len(relations) == 1 else None


def _find_encoded_document(document: Any, actual: str) -> Relation | None:
    """The encoding of a document, however it is spelled, that a text is; None if it is none."""
    for name, decode in (
        ("hexadecimal digits", bytes.fromhex),
        ("base64", partial(base64.b64decode, validate=True)),
    ):
        try:
            decoded = decode(actual).decode("utf-8")
        except ValueError:
            continue
        if _parse_document(decoded) == [document]:
            return Relation(RelationKind.ENCODED, name=name)
    return None


def _parse_document(json_text: str) -> list[Any]:
    """The document that the text is, alone in a list; [] if it is none."""
    try:
        return [json.loads(json_text, parse_float=Decimal)]
    except (ValueError, ArithmeticError, RecursionError):
        return []


def _walk_differences(expected: Any, actual: Any) -> Iterator[Relation | None]:
    """The relation of each two values of two documents that differ."""
    if isinstance(expected, dict | list) and _without_nulls(expected) == actual != expected:
        yield Relation(RelationKind.WITHIN_DOCUMENT, name="nulls")
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            yield Relation(RelationKind.WITHIN_DOCUMENT, name="names of members")
        for name in expected.keys() & actual.keys():
            yield from _walk_differences(expected[name], actual[name])
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for want, got in zip(expected, actual, strict=True):
            yield from _walk_differences(want, got)
    elif isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        relation = relate_texts(expected, actual)
        yield relation or Relation(RelationKind.WITHIN_DOCUMENT, name="texts")
    elif type(expected) is not type(actual) or expected != actual:
        yield Relation(RelationKind.WITHIN_DOCUMENT, name=_describe_part(expected))


def _without_nulls(part: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
    """An object or array without its members that are null."""
    if isinstance(part, list):
        return [member for member in part if member is not None]
    return {name: member for name, member in part.items() if member is not None}


def _describe_part(part: Any) -> str:
    """The sort of value that a part of a JSON document is, such as "numbers" or "nulls"."""
    if isinstance(part, bool):
        return "true and false"
    if part is None:
        return "nulls"
    if isinstance(part, int | Decimal):
        return "numbers"
    return "texts" if isinstance(part, str) else "objects and arrays"


def _relate_bytes(expected: bytes, actual: bytes) -> Relation | None:
    """How wrong bytes are related to the right ones; None if they are equal, or no relation is
    known.
    """
    if expected == actual:
        return None
    if expected and actual.isascii():
        encoding = _find_encoding(expected, actual.decode("ascii"))
        if encoding is not None:
            return encoding
    if len(expected) > 1 and actual == expected[::-1]:
        return Relation(RelationKind.BYTES_REVERSED)
    if actual == expected.decode("latin-1").encode():
        return Relation(RelationKind.LATIN_AS_UTF8)
    for name, without in (
        ("leading zero bytes", expected.lstrip(b"\0")),
        ("zero bytes at the end", expected.rstrip(b"\0")),
    ):
        if actual == without:
            return Relation(RelationKind.LOST_CHARACTERS, name=name)
    if actual and expected.startswith(actual):
        before = _describe_character(chr(expected[len(actual)]))
        return Relation(RelationKind.CUT, len(actual), len(expected), "bytes", before)
    return None


def _as_number(value: Any) -> Decimal | None:
    """The number that a value is or spells; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return Decimal(str(value) if isinstance(value, float) else value)
    except (ArithmeticError, ValueError):
        return None


def _micros_of(value: Any) -> int | None:
    """The microseconds that a date, or the text of a date or time, stands for; a number stands for
    itself.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, date):
        return (value - _EPOCH).days * _DAY
    return _parse_moment(value) if isinstance(value, str) else None


def _wire_micros(cell: Cell, wire_text: str) -> int | None:
    """The microseconds for which an expected or a decoded text of this cell's column stands: a date
    or time, or a number, whose unit follows from the cell's value and its text in the message. None
    if that cannot be told.
    """
    if not re.fullmatch(r"-?\d{1,30}", wire_text):
        return _parse_moment(wire_text)
    expected_micros = _micros_of(cell.value)
    if expected_micros is None or cell.text is None or not re.fullmatch(r"-?\d{1,30}", cell.text):
        return None
    units = int(cell.text)
    if units == 0 or expected_micros % units:
        return None
    return int(wire_text) * (expected_micros // units)


def _parse_moment(moment_text: str) -> int | None:
    """Microseconds of a date, a time of day, or both; None for another text."""
    match = _MOMENT.fullmatch(moment_text)
    if match is None or not (match["year"] or match["hours"]):
        return None
    days = 0
    if match["year"]:
        try:
            day = date(int(match["year"]), int(match["month"]), int(match["day"]))
        except ValueError:
            return None
        days = (day - _EPOCH).days * _DAY
    if not match["hours"]:
        return days
    seconds = int(match["hours"]) * 3600 + int(match["minutes"]) * 60 + int(match["seconds"])
    clock = seconds * _SECOND + int((match["fraction"] or "").ljust(6, "0"))
    return days + (-clock if match["sign"] else clock)


def _differs_only_at(expected: str, actual: str, pattern: str) -> bool:
    """Whether two texts differ only where the first has characters that match `pattern`: all others
    came, in the same order.
    """
    first, *further_parts = re.split(pattern, expected)
    position = len(first)
    if not further_parts or not any((first, *further_parts)):
        return False
    if not actual.startswith(first) or not actual.endswith(further_parts[-1]):
        return False
    for part in further_parts[:-1]:
        start = actual.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    return position <= len(actual) - len(further_parts[-1])


def _characters_left_out(complete: str, remainder: str) -> str:
    """The characters that are in the text but not in the remainder; "" if the remainder is not
    what is left of the text without some of its characters.
    """
    return (
        "".join(_walk_left_out(complete, remainder)) if _is_remainder(complete, remainder) else ""
    )


def _is_remainder(complete: str, remainder: str) -> bool:
    """Whether the remainder is the text without some of its characters, in the same order."""
    characters = iter(complete)
    return all(character in characters for character in remainder)


def _walk_left_out(complete: str, remainder: str) -> Iterator[str]:
    """The characters of the complete text that the remainder lacks; the remainder must be what is
    left of the text without some characters.
    """
    position = 0
    for character in complete:
        if position < len(remainder) and remainder[position] == character:
            position += 1
        else:
            yield character


def relate_fields(name: str, expected: Any, actual: Any) -> Relation | None:
    """How a wrong envelope column is related to the right one; None if it shows nothing.

    NULL, or a value where none is owed, is a relation, too. Lists and mappings have the relation that all of their different members have.
    """
    if expected in (None, (), [], {}) and actual:
        return Relation(RelationKind.WHERE_NONE)
    if actual is None and expected is not None:
        return Relation(RelationKind.COMES_AS, name="NULL")
    if isinstance(expected, str) and isinstance(actual, str):
        numbers = _relate_numbers(_as_number(expected), _as_number(actual))
        return numbers or relate_texts(expected, actual)
    if isinstance(expected, int) and isinstance(actual, int):
        clock = _relate_clocks(expected, actual) if name == "commit_time" else None
        return clock or _relate_numbers(Decimal(expected), Decimal(actual))
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        if expected != actual and sorted(map(repr, expected)) == sorted(map(repr, actual)):
            return Relation(RelationKind.OTHER_ORDER)
        relation = _relate_members(name, list(expected), list(actual))
        return relation or _relate_sets(Counter(expected), Counter(actual))
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.keys() != actual.keys():
            return _relate_sets(Counter(expected.items()), Counter(actual.items()))
        return _relate_members(name, list(expected.values()), [actual[key] for key in expected])
    return None


def _without_lengths(relation: Relation | None) -> Relation | None:
    """The relation without the length of a cut, so that cuts after different numbers of characters
    are the same.
    """
    is_cut = relation is not None and relation.kind is RelationKind.CUT
    return widen_relation(relation) if relation and is_cut else relation


def _relate_sets(expected: Counter[Any], actual: Counter[Any]) -> Relation | None:
    """The relation of two lists or mappings of which one has all members of the other, and more."""
    if expected != actual and expected <= actual:
        return Relation(RelationKind.ADDED_MEMBERS)
    return Relation(RelationKind.LOST_MEMBERS) if actual and expected >= actual else None


def _relate_members(name: str, expected: list[Any], actual: list[Any]) -> Relation | None:
    """The one relation that all wrong members of a list have to the right ones at their places;
    None if there are several relations or the lists differ in length.
    """
    if len(expected) != len(actual):
        return None
    relations = {
        _without_lengths(relate_fields(name, want, got))
        for want, got in zip(expected, actual, strict=True)
        if want != got
    }
    return relations.pop() if len(relations) == 1 else None
