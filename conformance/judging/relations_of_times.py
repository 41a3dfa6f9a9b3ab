"""How a wrong date or time is related to the right one, both in microseconds: shifted, a
thousandth, without its time of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

from conformance.judging.relations import Relation, RelationKind
from generators.model import Cell, Logical

_SECOND: Final = 1_000_000
_UNITS_OF_FRACTIONS: Final = tuple(10**power for power in range(6, -1, -1))
"""Microseconds of the last digit of a fraction: of none first, of six last."""
_HOUR: Final = 3_600 * _SECOND
_QUARTER_OF_HOUR: Final = _HOUR // 4
_DAY: Final = 24 * _HOUR
_EPOCH: Final = date(1970, 1, 1)
_MOMENT: Final = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d))?[T ]?"
    r"(?:(?P<sign>-?)(?P<hours>\d{1,3}):(?P<minutes>\d\d):(?P<seconds>\d\d)"
    r"(?:[.](?P<fraction>\d{1,6}))?)?Z?"
)
"""The text of a date, a time of day or TIME, or both together, with up to six digits of a fraction.
"""


def relate_times(
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
    toward_zero = -(-expected // _SECOND) * _SECOND
    if expected // _SECOND == actual // _SECOND or (expected < 0 and actual == toward_zero):
        return Relation(RelationKind.FRACTION)
    # No zone is off by other times than quarters of an hour.
    is_no_shift = abs(expected) >= _DAY or expected % _QUARTER_OF_HOUR != 0
    if actual == 0 and is_no_shift and logical is not Logical.TIME:
        return Relation(RelationKind.EPOCH)
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
    """A time in microseconds with its month and its day of the month exchanged; None if there is no
    such day.
    """
    days, clock = divmod(micros, _DAY)
    try:
        day = _EPOCH + timedelta(days=days)
        swapped = day.replace(month=day.day, day=day.month)
    except (ValueError, OverflowError):
        return None
    return (swapped - _EPOCH).days * _DAY + clock


def _relate_long_times(expected: int, actual: int) -> Relation | None:
    """The relation of two times, in microseconds, that differ by whole days, or by hundreds of
    hours (the first of three digits of the hours is wrong); None if they do not.
    """
    if (actual - expected) % _DAY == 0:
        return Relation(RelationKind.WHOLE_DAYS)
    if (actual - expected) % (100 * _HOUR) == 0:
        return Relation(RelationKind.HUNDREDS_OF_HOURS)
    return None


def find_parts(expected: int, actual: int) -> Iterator[Relation]:
    """Yields the relations FACTOR that say that `actual` may be the thousandth (-3) or the
    millionth (-6) of `expected`, both in microseconds: if it is off by less than its own last
    digit (so that it may be cut or rounded there), or by one microsecond.
    """
    # The value of the last digit that is not 0; a second if there is no fraction.
    digit = next(unit for unit in _UNITS_OF_FRACTIONS if actual % unit == 0)
    for power in (3, 6):
        difference = abs(actual - expected // 10**power)
        if expected != actual and (difference < digit or difference == 1):
            yield Relation(RelationKind.FACTOR, -power)


def micros_of(value: Any) -> int | None:
    """The microseconds that a date, or the text of a date or time, stands for; an integer is
    microseconds already. None for anything else.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, date):
        return (value - _EPOCH).days * _DAY
    return _parse_moment(value) if isinstance(value, str) else None


def micros_of_wire_text(cell: Cell, wire_text: str) -> int | None:
    """The microseconds that a text stands for, where the text is the message's or a decoder's for
    this cell's column. A number counts in the unit in which the message's own number gives the owed
    value. None if that cannot be told.
    """
    if not re.fullmatch(r"-?\d{1,30}", wire_text):
        return _parse_moment(wire_text)
    expected_micros = micros_of(cell.value)
    if expected_micros is None or cell.text is None or not re.fullmatch(r"-?\d{1,30}", cell.text):
        return None
    units = int(cell.text)
    if units == 0 or expected_micros % units:
        return None
    return int(wire_text) * (expected_micros // units)


def _parse_moment(moment_text: str) -> int | None:
    """The microseconds of a text with a date, a time of day, or both: since 1970, or since midnight
    without a date. None for any other text.
    """
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
