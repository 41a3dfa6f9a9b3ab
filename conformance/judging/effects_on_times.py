"""What happens to all wrong dates and times of one mistake: without their fractions, in the next
month, at the beginning of 1970.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from conformance.judging.contents import DAY, MINUTE, SECOND
from conformance.judging.index import NEARLY
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.wrong_values import OF_CLOCKS, Pair, WrongValues
from generators.model import Logical

_EPOCH: Final = date(1970, 1, 1)
_DIGITS_OF_FRACTIONS: Final = range(6)
"""Digits that are left of a fraction of a second when it is cut or rounded."""
_SEVERAL: Final = 2
"""Dates, or times, of which it is no chance that all are changed alike."""
_OF_FRACTIONS: Final = frozenset({RelationKind.FRACTION, RelationKind.ROUNDED})
"""Relations of times that differ by less than a second."""


class _Moments(NamedTuple):
    """An owed time and the one that came for it, in microseconds, and the digits of fractions that
    the column has.
    """

    expected: int
    came: int
    digits: int

    @property
    def owed_fraction(self) -> int:
        """The microseconds of the owed fraction of a second."""
        return self.expected % SECOND

    @property
    def fraction_that_came(self) -> int:
        """The microseconds that came behind the owed second."""
        return self.came - (self.expected - self.owed_fraction)


def find_effect_on_times(values: WrongValues) -> Relation | None:
    """The one thing that happens to all of these dates, times or years; None if they are none, or
    none is known.
    """
    # The text of a year that cannot be read is no year.
    dates_of_years = sum(map(_is_date_of_year, values.pairs))
    if values.is_unexplained and 0 < NEARLY * len(values.pairs) <= dates_of_years:
        return Relation(RelationKind.COMES_AS, name="a date")
    if not values.logicals <= OF_CLOCKS:
        return None
    # Of dates that no calendar has no relation is known.
    spelling = None
    if values.relation is None or values.kind is RelationKind.SPELLING:
        spelling = _find_spelling(values.pairs)
    if spelling is not None or values.kind is RelationKind.SPELLING:
        return spelling
    if values.is_unexplained and all(map(_has_ones_for_zeros, values.pairs)):
        return Relation(RelationKind.CHANGED_PARTS, name="with 01 for its month or day of zero")
    if values.is_unexplained and all(map(_is_epoch, values.pairs)):
        return Relation(RelationKind.EPOCH)
    moments = _gather_moments(values)
    if values.logicals == {Logical.TIME} and (limit := _find_limit(moments)):
        return Relation(RelationKind.ONE_VALUE, name=limit)
    if moments and all(pair.fraction_that_came == 1_000 * pair.owed_fraction for pair in moments):
        words = "its fraction is a thousand times as large"
        return Relation(RelationKind.CHANGED_PARTS, name=words)
    if moments and values.kind in _OF_FRACTIONS:
        return _find_fraction(moments)
    if moments and values.is_unexplained:
        return _find_larger_unit(values, moments) or _find_months(moments)
    if values.kind is RelationKind.SHIFT and _differ_in_shift(moments):
        return _find_months(moments)
    return None


def _find_spelling(pairs: Sequence[Pair]) -> Relation | None:
    """The relation that says how all of these times came written in another way, or with the same
    text at the end. None if they are no texts, or no single way fits all.
    """
    # Each owed text with the one that came for it.
    texts: list[tuple[str, str]] = []
    for pair in pairs:
        if pair.expected_text is None or pair.text_that_came is None:
            return None
        texts.append((pair.expected_text, pair.text_that_came))
    for words, respell in _SPELLINGS.items():
        if texts and all(respell(expected) == came for expected, came in texts):
            return Relation(RelationKind.CHANGED_PARTS, name=words)
    endings = {came.removeprefix(expected) for expected, came in texts}
    if len(endings) == 1 and all(came.startswith(expected) for expected, came in texts):
        return Relation(RelationKind.CHANGED_PARTS, name=f"with `{endings.pop()}` at the end")
    return None


_SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "with T in place of the blank": lambda moment: moment.replace(" ", "T", 1),
    "with a blank in place of T": lambda moment: moment.replace("T", " ", 1),
    "without the zeros at the end of its fraction": lambda moment: re.sub(
        r"(\.\d*[1-9])0+\Z|\.0+\Z", r"\1", moment
    ),
    "without its hyphens": lambda moment: moment.replace("-", ""),
}
"""How decoders write times otherwise, by the words for it."""


def _gather_moments(values: WrongValues) -> list[_Moments]:
    """The owed times with those that came; [] if any of them is no time."""
    moments: list[_Moments] = []
    for pair in values.pairs:
        expected, came = pair.owed_micros, pair.micros_that_came
        if expected is None or came is None:
            return []
        moments.append(_Moments(expected, came, pair.cell.type.fsp or 0))
    return moments


def _find_limit(moments: list[_Moments]) -> str:
    """The time that came, as text, for all of several longer TIMEs, each with its own sign: a
    decoder's upper limit, such as "±23:59:59". "" if not one and the same time came.
    """
    limits = {abs(pair.came) for pair in moments}
    are_longer = all(
        pair.expected * pair.came > 0 and abs(pair.expected) > abs(pair.came) for pair in moments
    )
    if len(limits) != 1 or not are_longer or len({pair.expected for pair in moments}) < _SEVERAL:
        return ""
    minutes, seconds = divmod(limits.pop() // SECOND, 60)
    sign = "" if all(pair.came > 0 for pair in moments) else "\u00b1"
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _find_fraction(moments: list[_Moments]) -> Relation | None:
    """The relation that says what is left of the fractions of seconds of all these times, or None
    if no single way fits all. Tried in this order: the fraction is cut (lost if no digit is left),
    or rounded half up, to 0 to 5 digits, fewest first; it is a thousandth (milliseconds taken for
    microseconds); its digits are taken for microseconds, as the column has them or without the
    zeros at their end.
    """
    for digits in _DIGITS_OF_FRACTIONS:
        unit = 10 ** (6 - digits)
        if all(pair.came in _cuts(pair.expected, unit) for pair in moments):
            kind = RelationKind.FRACTION_CUT if digits else RelationKind.FRACTION_LOST
            return Relation(kind, digits)
        if all(pair.came == (pair.expected + unit // 2) // unit * unit for pair in moments):
            return Relation(RelationKind.FRACTION_ROUNDED, digits)
    if all(pair.fraction_that_came == pair.owed_fraction // 1_000 for pair in moments):
        return Relation(RelationKind.FRACTION_A_THOUSANDTH)
    for digits_of in (_digits_as_micros, _digits_before_zeros):
        if all(pair.fraction_that_came == digits_of(pair) for pair in moments):
            return Relation(RelationKind.FRACTION_AS_MICROS)
    return None


def _digits_as_micros(pair: _Moments) -> int:
    """What a decoder makes of the owed fraction if it takes the digits that the column has (5 of
    `.5`) for a number of microseconds.
    """
    unit: int = 10 ** max(0, 6 - pair.digits)
    return pair.owed_fraction // unit


def _digits_before_zeros(pair: _Moments) -> int:
    """The digits of the owed fraction before the zeros at its end, as a number of microseconds."""
    return int(str(pair.owed_fraction).rstrip("0") or "0")


def _cuts(micros: int, unit: int) -> frozenset[int]:
    """What a time may be when what is less than a unit is cut off, both in microseconds: the
    multiple of the unit before it, or for a negative time also the multiple nearer to zero.
    """
    before = micros // unit * unit
    return frozenset({before, -(-micros // unit) * unit if micros < 0 else before})


def _find_larger_unit(values: WrongValues, moments: list[_Moments]) -> Relation | None:
    """The relation that all of these times come without their seconds, or that the numbers of all
    these dates (days since 1970) are taken for milliseconds; None if neither.
    """
    if all(pair.came in _cuts(pair.expected, MINUTE) for pair in moments):
        return Relation(RelationKind.CUT_TO_MINUTES)
    # As many milliseconds as there are days are on the first day of 1970, or the last of 1969.
    as_millis = [pair.expected // DAY * 1_000 // DAY * DAY for pair in moments]
    if values.logicals == {Logical.DATE} and [pair.came for pair in moments] == as_millis:
        return Relation(RelationKind.DAYS_AS_MILLIS)
    return None


def _differ_in_shift(moments: list[_Moments]) -> bool:
    """Whether these times are late by different times: months have 28 to 31 days."""
    return len({pair.came - pair.expected for pair in moments}) > 1


def _find_months(moments: list[_Moments]) -> Relation | None:
    """The relation that all of these dates came in a month that is the same number of months off,
    with whatever day. None if they did not, or if they are too few to be sure.
    """
    differences = set[int]()
    for pair in moments:
        expected, came = _month_of(pair.expected), _month_of(pair.came)
        if expected is None or came is None:
            return None
        differences.add(came - expected)
    if len(moments) < _SEVERAL or len(differences) != 1 or differences == {0}:
        return None
    return Relation(RelationKind.MONTHS, differences.pop())


def _month_of(micros: int) -> int | None:
    """The month of a time in microseconds since 1970, as months since the year 0; None beyond the
    years of Python's calendar.
    """
    try:
        day = _EPOCH + timedelta(days=micros // DAY)
    except OverflowError:
        return None
    return day.year * 12 + day.month


def _is_date_of_year(pair: Pair) -> bool:
    """Whether a date in the owed year came for a YEAR column."""
    date_text = pair.text_that_came
    is_year = pair.cell.type.logical is Logical.YEAR
    match = re.fullmatch(r"(\d+)-\d\d-\d\d.*", date_text) if is_year and date_text else None
    return match is not None and Decimal(match[1]) == pair.owed_number


def _has_ones_for_zeros(pair: Pair) -> bool:
    """Whether a date's text came with 01 for each month or day that is 00."""
    expected, came = pair.expected_text, pair.text_that_came
    return expected is not None and re.sub(r"-00(?=-|[ T]|\Z)", "-01", expected) == came


def _is_epoch(pair: Pair) -> bool:
    """Whether the beginning of 1970 came for a date or time."""
    return pair.cell.type.logical is not Logical.TIME and pair.micros_that_came == 0
