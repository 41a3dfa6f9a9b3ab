"""What a value or a statement contains that decoders are known to lose, in words: special
characters, long texts, fractions, large numbers, early or late dates.
"""

from __future__ import annotations

import base64
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from conformance.judging.relations import CHARACTER_SORTS
from conformance.judging.relations_of_numbers import round_to_float
from conformance.judging.trait_sorts import Trait
from conformance.judging.wording import instant
from generators.model import Cell, Logical, State, Value, ZeroDate

CALENDARS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
"""Types of values that have a date."""
INSTANTS: Final = (Logical.DATETIME, Logical.TIMESTAMP)
"""Types of dates with a time of day."""
SECOND: Final = 1_000_000
"""Microseconds of a second."""
_MILLISECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
_HOUR: Final = 60 * MINUTE
DAY: Final = 24 * _HOUR
_EPOCH: Final = date(1970, 1, 1)
TIME_OF_DAY: Final = "with a time of day"
AT_MIDNIGHT: Final = "at midnight"
IN_FIRST_SECOND: Final = "in the first second of a day"
WITH_SECONDS: Final = "with seconds"
SEVERAL_MEMBERS: Final = "of several members"
NOT_EMPTY: Final = "that is not empty"
OTHER_BACKWARDS: Final = "whose bits in reverse order are another number"
BYTES_OTHER_BACKWARDS: Final = "whose bytes in reverse order are another number"
DAY_MAY_BE_MONTH: Final = "whose day may be a month"
LETTERS_IN_TEXT: Final = "whose text has {}"
"""Which letters the text of bytes has, as their base64 or hexadecimal digits."""
BASE64_LIKE_A_WORD: Final = "whose base64 is nothing but digits or small letters"
FORMS: Final = ("NFC", "NFKC")
"""Normal forms of Unicode that decoders bring texts into."""
NO_FLOAT: Final = "that no float holds"
NO_DOUBLE: Final = "that no double holds"
_SUMMER: Final = "from April to October"
_WINTER: Final = "from November to March"
SEASONS: Final = frozenset({_SUMMER, _WINTER})
"""Words of the traits on when a zone may have summer time."""
_FIRST_GREGORIAN_DAY: Final = (date(1582, 10, 15) - _EPOCH).days * DAY
"""Microseconds from 1970 to the first day of the Gregorian calendar."""
_LAST_YEAR: Final = (date(9999, 1, 1) - _EPOCH).days * DAY
"""Microseconds from 1970 to the last year of four digits."""
LENGTHS: Final = (16, 200, 255, 32_767, 65_535, 1_000_000)
"""Characters, or bytes, at which decoders cut."""
_WIDTHS: Final = (7, 8, 15, 16, 31, 32, 53, 63)
"""Bits of the integers that decoders hold."""
_DIGITS: Final = (15, 18, 28, 38)
"""Digits of the decimals that decoders hold."""
_SIGNIFICANT: Final = (6, *_DIGITS)
"""Digits, without zeros at the end, to which decoders round."""
_PLACES: Final = (2, 6, 10, 18)
"""Digits behind the point that decoders keep."""
_LARGE: Final = (9, 18, 36)
"""Powers of ten above which decoders lose numbers, or spell them otherwise."""
_SMALL: Final = (6, 36)
"""Powers of ten, with a minus, below which decoders lose numbers, or spell them otherwise."""
SIZES: Final[Mapping[str, int]] = {
    f"of over {limit:,} {unit}": limit
    for limits, units in (
        (LENGTHS, ("characters", "bytes")),
        (_WIDTHS, ("bits",)),
        (_DIGITS, ("digits",)),
        (_SIGNIFICANT, ("significant digits",)),
        (_PLACES, ("places",)),
    )
    for limit in limits
    for unit in units
} | {f"of over 10^{power}": power for power in _LARGE}
"""The limit in the words of each trait (of the sort `held`) on how large a value is, by these
words.
"""


def rank_size(trait: Trait) -> float:
    """The rank of a trait by the limit that it names; the lowest comes first: large limits before
    small ones, and contents that are within wider ones before these. That an integer is over 1
    comes before all limits: it says least, where no smaller integer shows how large one must be.
    """
    words = trait[-1]
    return -math.inf if words == _OVER_ONE else -SIZES.get(words, _count_wider(words))


def _count_wider(words: str) -> int:
    """How many contents are wider than this one: `with a fraction` is wider than `with a fraction
    finer than a millisecond`.
    """
    number = 0
    while words in _WIDER:
        words = _WIDER[words]
        number += 1
    return number


_BEYOND_32_BITS: Final = "beyond 32 bits of seconds"
_WIDER: Final[Mapping[str, str]] = {
    "of the year 9999": _BEYOND_32_BITS,
    "before 1582-10-15": "before 1970",
    "between -00:00:01 and 0": "between -01:00:00 and 0",
    "of over 100 hours": "of over a day",
    "of over a day": "of over 23:59:59",
    "of under 12 digits of milliseconds": "of under 13 digits of milliseconds",
    "with a fraction finer than a millisecond": "with a fraction",
    "with a blank at the beginning": "with a blank at an end",
    "with a blank at the end": "with a blank at an end",
    "with a blank at an end": "with white space at an end",
    "with white space at the beginning": "with white space at an end",
    "with white space at the end": "with white space at an end",
    "with a line feed after a carriage return": "with line ends",
    "with null in an object or array": "with null",
    SEVERAL_MEMBERS: NOT_EMPTY,
}
"""What a value also has if it has the content that is the key; the wider content says less of
values that were not seen.
"""


ESCAPE_OF_SIGNS: Final = "an escape of a quote or a line feed"
_ESCAPE_OF_SIGNS: Final = r"\\[\"n]"
_OVER_ONE: Final = "that is over 1"
_IN_JSON: Final = (
    *(
        ("true or false", r"\b(true|false)\b"),
        ("null", r"\bnull\b"),
        ("null in an object or array", r"[\[:,]\s*null\b"),
        ("a fraction", r"\d[.]\d*[1-9]|\d[eE]-\d"),
        ("a number", r"(\A|[\[:,]\s*)-?\d"),
    ),
    *(
        ("an object", r"\{"),
        ("an array", r"\["),
        ("an empty object or array", r"\{\}|\[\]"),
        ("over 15 digits", r"\d{16}"),
        ("an exponent", r"\d[eE][+-]?\d"),
        (ESCAPE_OF_SIGNS, _ESCAPE_OF_SIGNS),
        ("members", r'"\s*:'),
    ),
)
"""What the text of a JSON document may have: the words, and a regular expression."""
_IN_TEXTS: Final = (
    *(
        *CHARACTER_SORTS,
        ("a blank at an end", r"\A | \Z"),
        ("a blank at the beginning", r"\A "),
        ("a blank at the end", r" \Z"),
        ("white space at an end", r"\A\s|\s\Z"),
        ("white space at the beginning", r"\A\s"),
        ("white space at the end", r"\s\Z"),
        ("control characters beside white space", r"[\x00-\x08\x0e-\x1f\x7f]"),
        ("a line feed after a carriage return", r"\r\n"),
        ("several blanks together", r"[ \t]{2,}"),
        ("a colon", r":"),
        ("a comma", r","),
        ("an escape of JSON", r"\\(u[0-9a-fA-F]{4}|[bfnrt\\\"/])"),
    ),
    *(
        ("nothing but true or false", r"\A(true|false)\Z"),
        ("nothing but digits", r"\A\d+\Z"),
        ("leading zeros", r"\A0\d+\Z"),
    ),
)
"""What a text may have: the words, and a regular expression."""
_IN_STATEMENTS: Final = (
    *CHARACTER_SORTS,
    ("a semicolon", r";"),
    ("a comment", r"/\*|--"),
    ("a blank at an end", r"\A | \Z"),
    ("white space at an end", r"\A\s|\s\Z"),
    ("several blanks together", r"[ \t]{2,}"),
    ("over 100 characters", r"(?s).{101}"),
)
"""What a statement of SQL may have: the words, and a regular expression."""
_IN_BYTES: Final = (
    ("a zero byte", r"\x00"),
    ("leading zero bytes", r"\A\x00"),
    ("zero bytes at the end", r"\x00\Z"),
    ("bytes beyond ASCII", r"[\x80-\xff]"),
    ("line ends", r"[\r\n]"),
    ("control characters", r"[\x00-\x1f\x7f]"),
    ("quotes", r"[\"'`]"),
    ("backslashes", r"\\"),
    ("an escape of a byte", r"\\x[0-9a-fA-F]{2}"),
)
"""What bytes, read as Latin-1, may have: the words, and a regular expression."""
_MERGED_FAMILIES: Final = {"double": "float"}
"""Families that decoders read alike."""


def merge_family(family: str) -> str:
    """The family of types by which traits name this one: `float` for `double`, since decoders that
    read one wrongly read both so; any other family stands for itself.
    """
    return _MERGED_FAMILIES.get(family, family)


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d(?=[ T]|\Z)")
"""A day at the beginning of a text."""
_DATE_OF_ZEROS: Final = re.compile(r"0000|\d{4}-00|\d{4}-\d\d-00")
"""The beginning of a date whose year, month or day is zero, which no calendar has."""
_CLOCK: Final = re.compile(r"\b\d\d:\d\d:\d\d\b")
"""The time of day in a text."""


def describe_reversals(cell: Cell, level: int) -> Iterator[str]:
    """Yields in words that a bit string whose bits, or whose bytes, are read in reverse order is
    another number, so that such a mistake can be seen. At level one (cells as text) the number in
    the message's text counts. Nothing for other types.
    """
    if cell.type.logical is not Logical.BIT:
        return
    number = cell.value
    if level == 1 and cell.text is not None:
        number = int(cell.text) if cell.text.isdecimal() else None
    if not isinstance(number, int) or number < 0:
        return
    bits = f"{number:0{cell.type.length or 1}b}"
    if bits != bits[::-1]:
        yield OTHER_BACKWARDS
    octets = number.to_bytes((len(bits) + 7) // 8, "big")
    if octets != octets[::-1]:
        yield BYTES_OTHER_BACKWARDS


def text_day(cell: Cell, level: int) -> str:
    """The day on which an instant is, as YYYY-MM-DD; "" if there is none, or not only one. At level
    one (cells as text) it is the day with which the text in the message begins, if it does.
    """
    if level == 1 and cell.text and (day := _DAY.match(cell.text)):
        return day[0]
    options = cell.options if cell.state is State.ONE_OF else (cell.value,)
    is_instant = cell.type.logical in INSTANTS
    days = {
        instant(option).partition("T")[0]
        for option in options
        if is_instant and isinstance(option, int)
    }
    return days.pop() if len(days) == 1 else ""


def is_in_first_second(cell: Cell, level: int) -> bool:
    """Whether the time of day of an instant is less than a second after midnight. At level one
    (cells as text) it is the one in the message's text, if there is one; else it is that of the
    typed value. False for a value that has none.
    """
    clock = _CLOCK.search(cell.text) if level == 1 and cell.text else None
    if clock is not None:
        return clock[0] == "00:00:00"
    micros = cell.value.micros if isinstance(cell.value, ZeroDate) else cell.value
    return isinstance(micros, int) and micros % DAY < SECOND


def has_escaped_signs(document: str) -> bool:
    """Whether the text of a document has an escape of a quote or a line feed."""
    return re.search(_ESCAPE_OF_SIGNS, document) is not None


def describe_moment(moment: str) -> Iterator[str]:
    """Yields in words what the text of an instant has that decoders write otherwise: a blank before
    the time of day, zeros at the end of the fraction, both.
    """
    has_blank = re.search(r"\d \d\d:", moment) is not None
    has_zeros = re.search(r"[.]\d*0\Z", moment) is not None
    # Decoders that shift times with a blank cannot shift a date that no calendar has: such a value
    # would come out right in spite of the words, and speak against them.
    if has_blank and not _DATE_OF_ZEROS.match(moment):
        yield "with a blank before its time of day"
    if has_zeros:
        yield "with zeros at the end of its fraction"
    if has_blank and has_zeros:
        yield "with a blank before its time of day and with zeros at the end of its fraction"


def is_nested(document: Any) -> bool:
    """Whether a JSON document has an object or array within another object or array."""
    members = document.values() if isinstance(document, dict) else document
    return isinstance(document, dict | list) and any(
        isinstance(member, dict | list) for member in members
    )


def describe_content(value: Value, family: Logical) -> tuple[str, ...]:
    """What a value contains that decoders are known to lose, in words: special characters, long
    texts, fractions, large numbers, early or late dates.
    """
    return _describe_spelled(
        value, family, str(value) if isinstance(value, Decimal | float) else ""
    )


# Equal numbers of two types, 1 and Decimal(1), are described in other words.
@lru_cache(maxsize=1 << 14, typed=True)
def _describe_spelled(value: Value, family: Logical, _spelling: str) -> tuple[str, ...]:
    """What a value contains, in words. `_spelling` is the text of a number, else "". It is not
    read: with it the cache tells a number such as 0E-10 from an equal one with fewer digits, which
    has other words.
    """
    content, unit = (
        (value.decode("latin-1"), "bytes") if isinstance(value, bytes) else (value, "characters")
    )
    words_of_value = _describe_text(value, family)
    if isinstance(content, str):
        patterns: tuple[tuple[str, str], ...] = _IN_BYTES if isinstance(value, bytes) else _IN_TEXTS
        if family is Logical.JSON:
            patterns += _IN_JSON
        matches = {f"with {sort}": re.search(pattern, content) for sort, pattern in patterns}
        letters = () if isinstance(value, bytes) else describe_letters(content)
        return (
            *(words for words, match in matches.items() if match),
            *(f"with {sort}" for sort in letters),
            *words_of_value,
            *_over(len(content), LENGTHS, unit),
        )
    if family in CALENDARS or family is Logical.TIME:
        micros = 0
        if isinstance(value, date):
            micros = (value - _EPOCH).days * DAY
        elif isinstance(value, int):
            micros = value
        of_date = family is not Logical.TIME
        words_of_time = {
            "before 1970": of_date and micros < 0,
            "before 1582-10-15": of_date and micros < _FIRST_GREGORIAN_DAY,
            _BEYOND_32_BITS: of_date and not -(1 << 31) <= micros // SECOND < 1 << 31,
            "of over 23:59:59": not of_date and abs(micros) > DAY - SECOND,
            "of over a day": not of_date and abs(micros) >= DAY,
            "of over 100 hours": not of_date and abs(micros) >= 100 * _HOUR,
            "between -01:00:00 and 0": not of_date and -_HOUR < micros < 0,
            "between -00:00:01 and 0": not of_date and -SECOND < micros < 0,
            "with a fraction": micros % SECOND,
            "with a fraction finer than a millisecond": micros % _MILLISECOND,
            WITH_SECONDS: micros % MINUTE,
            TIME_OF_DAY: of_date and micros % DAY,
            AT_MIDNIGHT: of_date and family is not Logical.DATE and not micros % DAY,
            "that is 0": not of_date and not micros,
            "of under 12 digits of milliseconds": of_date and 0 < abs(micros) < 10**14,
            "of under 13 digits of milliseconds": of_date and 0 < abs(micros) < 10**15,
            "of the year 9999": of_date and micros >= _LAST_YEAR,
            DAY_MAY_BE_MONTH: isinstance(value, date) and value.month != value.day <= 12,
            _SUMMER: family in INSTANTS and 4 <= _month_of(micros) <= 10,
            _WINTER: family in INSTANTS and _month_of(micros) in (1, 2, 3, 11, 12),
        }
        return tuple(words for words, is_so in words_of_time.items() if is_so)
    if isinstance(value, int) and family is Logical.YEAR:
        return ("other than 0" if value else "that is 0",)
    if isinstance(value, int):
        words_of_integer = {
            "that is 0": value == 0,
            "that is 1": family is Logical.INT and value == 1,
            _OVER_ONE: value > 1,
            "that is 0 or 1": family is Logical.BIT and value in (0, 1),
            NOT_EMPTY: family is Logical.SET and value != 0,
            SEVERAL_MEMBERS: family is Logical.SET and value.bit_count() > 1,
        }
        words = (words for words, is_so in words_of_integer.items() if is_so)
        # The lowest number of a variable with a sign, such as -32768, has no bit more than others.
        bits = value.bit_length() if value >= 0 else (~value).bit_length()
        sizes = _over(bits, _WIDTHS, "bits")
        return *sizes, *words, *_describe_precision(Decimal(value))
    if isinstance(value, Decimal | float):
        number = _shortest_number(value, family)
        # What a column of floats holds, a float holds.
        precision = () if family is Logical.FLOAT else _describe_precision(number)
        # A float's places are those of the digits that print it.
        places = _describe_places(number) if isinstance(value, Decimal) else ()
        return *_describe_number(number), *places, *precision
    return ()


def _shortest_number(value: Decimal | float, family: Logical) -> Decimal:
    """The number with the fewest digits that tell it from other numbers of its type. For a FLOAT
    (32 bits) these are at most nine digits.
    """
    if family is Logical.FLOAT and isinstance(value, float) and math.isfinite(value):
        for digits in _DIGITS_OF_FLOATS:
            shortest = f"{value:.{digits}g}"
            if round_to_float(float(shortest)) == value:
                return Decimal(shortest)
    return Decimal(str(value))


_DIGITS_OF_FLOATS: Final = range(1, 10)
"""Digits that may tell a float of 32 bits from all others."""


def _describe_text(value: Value, family: Logical) -> tuple[str, ...]:
    """What a text cell has that normal forms of Unicode change, in words. Of bytes:
    BASE64_LIKE_A_WORD if their base64 looks like a number or a word. () for anything else.
    """
    if isinstance(value, bytes):
        is_word = re.fullmatch(rb"[0-9]+|[a-z]+", base64.b64encode(value))
        return (BASE64_LIKE_A_WORD,) if is_word else ()
    if not isinstance(value, str) or family is not Logical.TEXT:
        return ()
    forms = (name for name in FORMS if unicodedata.normalize(name, value) != value)
    return tuple(f"with characters that the Unicode form {name} changes" for name in forms)


def describe_document(document: Any) -> frozenset[str]:
    """What a JSON document has somewhere in it that decoders are known to change, in words."""
    parts = tuple(_walk_document(document))
    names = list(chain.from_iterable(part for part in parts if isinstance(part, dict)))
    words_of_parts = {
        "with small letters in a member's name": any(name != name.upper() for name in names),
        "with capital letters in a member's name": any(name != name.lower() for name in names),
        "with white space at an end of a text": any(
            isinstance(part, str) and part != part.strip() for part in parts
        ),
        "with a fraction of over 6 digits": any(map(_has_long_fraction, parts)),
        "with an item in an array": isinstance(document, list) and bool(document),
    }
    return frozenset(words for words, is_so in words_of_parts.items() if is_so)


def _walk_document(part: Any) -> Iterator[Any]:
    """A document and all parts of it."""
    yield part
    members = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for member in members:
        yield from _walk_document(member)


def _has_long_fraction(part: Any) -> bool:
    """Whether a part of a JSON document is a number with a fraction and over six significant
    digits.
    """
    if not isinstance(part, Decimal | float) or not Decimal(part).is_finite():
        return False
    number = Decimal(str(part))
    return number != number.to_integral_value() and len(number.normalize().as_tuple().digits) > 6


def describe_letters(content: str) -> Iterator[str]:
    """In words, whether a text has capital letters, and whether it has small ones; letters without
    the other form count as neither.
    """
    if content != content.lower():
        yield "capital letters"
    if content != content.upper():
        yield "small letters"


def _describe_precision(number: Decimal) -> Iterator[str]:
    """In words, which of Spark's two floating-point types do not hold this number; nothing for NaN
    and the infinities, which both hold.
    """
    if not number.is_finite():
        return
    nearest = float(number)
    # A double has the number exactly, or is the nearest one and prints it.
    is_double = number in (Decimal(nearest), Decimal(repr(nearest)))
    if not is_double:
        yield NO_DOUBLE
    if not is_double or round_to_float(nearest) != nearest:
        yield NO_FLOAT


def _month_of(micros: int) -> int:
    """The month in UTC of microseconds since 1970; 0 outside of the years 1 to 9999."""
    try:
        return (_EPOCH + timedelta(microseconds=micros)).month
    except OverflowError:
        return 0


def _describe_number(number: Decimal) -> Iterator[str]:
    """What a number contains that decoders are known to lose, in words: many digits, many digits of
    a fraction.
    """
    digits = "".join(map(str, number.as_tuple().digits))
    yield from _over(len(digits), _DIGITS, "digits")
    yield from _over(len(digits.rstrip("0")), _SIGNIFICANT, "significant digits")
    if number == 0:
        yield "that is 0"
        return
    if number.is_nan():
        return
    yield from (f"of over 10^{power}" for power in _LARGE if abs(number) > Decimal(10) ** power)
    if not number.is_finite():
        return
    if _count_places(number) > 0:
        yield "with a fraction"
    if abs(number) < 1:
        yield "between -1 and 1"
    yield from (f"of under 10^-{power}" for power in _SMALL if abs(number) < Decimal(10) ** -power)


def _describe_places(number: Decimal) -> Iterator[str]:
    """The words for each limit of _PLACES that the number's digits behind the decimal point exceed,
    such as `of over 2 places`; nothing for NaN and infinity, which have no digits.
    """
    if number.is_finite():
        yield from _over(_count_places(number), _PLACES, "places")


def _count_places(number: Decimal) -> int:
    """The number of digits of a finite number behind the point, without zeros at the end: 2 for
    0.250; -2 for 100, whose zeros stand before the point; 0 for 0, however it is written.
    """
    if number == 0:
        return 0
    digits = "".join(map(str, number.as_tuple().digits))
    return -int(number.as_tuple().exponent) - (len(digits) - len(digits.rstrip("0")))


def _over(size: int, limits: Iterable[int], unit: str) -> Iterator[str]:
    """The words for each of the limits that the size exceeds, such as `of over 255 bytes`."""
    return (f"of over {limit:,} {unit}" for limit in limits if size > limit)


@lru_cache(maxsize=1 << 14)
def describe_statement(sql: str | None) -> tuple[str, ...]:
    """What a statement of SQL contains that decoders are known to lose, in words."""
    content = sql or ""
    signs = (words for words, pattern in _IN_STATEMENTS if re.search(pattern, content))
    return *signs, *describe_letters(content)
