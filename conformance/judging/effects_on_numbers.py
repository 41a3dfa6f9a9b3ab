"""What happens to all wrong numbers of one mistake: cut to two places, the sign of their bits, the
first member of a SET alone.
"""

from __future__ import annotations

import re
from decimal import (
    ROUND_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Decimal,
    InvalidOperation,
    localcontext,
)
from typing import Final, NamedTuple

from conformance.judging.index import NEARLY
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_numbers import (
    find_reversal,
    find_widths,
    round_to_float,
)
from conformance.judging.wrong_values import Pair, WrongValues
from generators.model import Logical

_DIGITS_OF_DOUBLES: Final = 17
"""Digits that a double has at most: a number with more was rounded elsewhere."""
_SEVERAL: Final = 3
"""Numbers of which it is no chance that all are rounded to as many digits."""
_DIGITS_OF_CONTEXT: Final = 400
"""Digits with which numbers are rounded here: more than any column has."""
_ROUNDED_BY: Final = (ROUND_HALF_UP, ROUND_HALF_EVEN)
"""The ways in which decoders round a half."""
_NEAR_THE_LARGEST_DOUBLE: Final = Decimal("1.79e308")
"""The number above which rounding may give more than any double holds."""
_ABOUT: Final = Decimal("0.02")
"""Share of a mantissa by which one with fewer digits differs at most."""
_OF_DECIMALS: Final = frozenset({Logical.DECIMAL, Logical.DOUBLE, Logical.FLOAT})
"""The types of numbers that may have a fraction."""
_OF_DIGITS: Final = frozenset(
    {
        None,
        RelationKind.FRACTION,
        RelationKind.DOUBLE,
        RelationKind.LAST_DIGITS,
        RelationKind.DECIMAL_POINT,
    }
)
"""Relations of numbers that lost digits, and none at all."""
_WORDS_OF_BOOLEANS: Final = {0: "false", 1: "true"}
"""The words that may come for the numbers 0 and 1."""


class _Numbers(NamedTuple):
    """An owed number and the finite one that came for it."""

    expected: Decimal
    came: Decimal


class _Integers(NamedTuple):
    """An owed integer and the one that came for it."""

    expected: int
    came: int


def find_effect_on_numbers(values: WrongValues) -> Relation | None:
    """The relation that says what happens to all of these wrong numbers, such as that each keeps
    its lowest 32 bits. None if they are not all numbers, or no single thing is known.
    """
    if values.logicals <= _OF_DECIMALS:
        return _find_effect_on_decimals(values)
    if values.kind is RelationKind.WRAP:
        return _find_sign_bit(values) or _find_lost_bits(values)
    if values.logicals == {Logical.BIT} and _are_reversed(values):
        return Relation(RelationKind.BITS_REVERSED)
    has_bits = any(pair.number_that_came for pair in values.pairs)
    if (
        values.logicals == {Logical.BIT}
        and has_bits
        and all(map(_has_digits_as_bits, values.pairs))
    ):
        return Relation(RelationKind.CHANGED_PARTS, name=_DIGITS_AS_BITS)
    if values.logicals == {Logical.YEAR} and all(map(_is_counted_from_1900, values.pairs)):
        return Relation(RelationKind.CHANGED_PARTS, name="counted from 1900")
    if not values.is_unexplained:
        return None
    return _find_boolean(values) or _find_members(values) or _find_lost_bits(values)


def _find_effect_on_decimals(values: WrongValues) -> Relation | None:
    """The relation that says what happens to all of these numbers, which may have a fraction. None
    if no one way is known. All may come as 0, whatever relation they have. Those that came through
    a float (FLOAT) may be rounded to some digits, or have the digits of a double. Those whose
    relation is of `_OF_DIGITS` may be rounded to digits, cut or rounded to places behind the point,
    or have lost their exponent.
    """
    if all(pair.number_that_came == 0 for pair in values.pairs):
        return Relation(RelationKind.ONE_VALUE, name="0")
    numbers = _gather_numbers(values)
    if values.kind is RelationKind.FLOAT:
        return _find_digits(numbers) or _find_digits_of_doubles(values, numbers)
    if values.kind not in _OF_DIGITS or not numbers:
        return None
    return _find_digits(numbers) or _find_places(numbers) or _find_mantissa(numbers)


def _gather_numbers(values: WrongValues) -> list[_Numbers]:
    """The owed numbers with those that came; [] if any of them is no finite number."""
    numbers: list[_Numbers] = []
    for pair in values.pairs:
        expected, came = pair.owed_number, pair.number_that_came
        if expected is None or came is None or not expected.is_finite():
            return []
        if came.is_infinite() and abs(expected) > _NEAR_THE_LARGEST_DOUBLE:
            # Rounded to fewer digits it is beyond what a double holds.
            continue
        if not came.is_finite():
            return []
        numbers.append(_Numbers(expected, came))
    return numbers


def _gather_integers(values: WrongValues) -> list[_Integers]:
    """The owed integers with those that came; [] if any of them is no integer."""
    numbers = _gather_numbers(values)
    for number in (*(pair.expected for pair in numbers), *(pair.came for pair in numbers)):
        if number != number.to_integral_value():
            return []
    return [_Integers(int(pair.expected), int(pair.came)) for pair in numbers]


def _find_places(numbers: list[_Numbers]) -> Relation | None:
    """The relation that all of these numbers are cut, or rounded, to the same number of places
    behind the point; None if they are not.
    """
    with localcontext() as context:
        context.prec = _DIGITS_OF_CONTEXT
        # A number with more digits than the context has no places here: it becomes NaN.
        context.traps[InvalidOperation] = False
        places = max(max(0, -_exponent(pair.came)) for pair in numbers)
        unit = Decimal(1).scaleb(-places)
        if all(pair.expected.quantize(unit, ROUND_DOWN) == pair.came for pair in numbers):
            return Relation(RelationKind.CUT_TO_PLACES, places)
        for rounding in _ROUNDED_BY:
            if all(pair.expected.quantize(unit, rounding) == pair.came for pair in numbers):
                return Relation(RelationKind.ROUNDED_TO_PLACES, places)
    return None


def _find_digits(numbers: list[_Numbers]) -> Relation | None:
    """The relation that all of these numbers are rounded to the same number of digits; None if they
    are not, or if it may be chance: of few numbers it is, if a double has as many digits.
    """
    digits = max((_count_digits(pair.came) for pair in numbers), default=0)
    is_fewer = all(_count_digits(pair.expected) > digits for pair in numbers)
    is_sure = digits > _DIGITS_OF_DOUBLES or len(set(numbers)) >= _SEVERAL
    if not numbers or not is_fewer or not is_sure:
        return None
    with localcontext() as context:
        context.prec = digits
        for rounding in _ROUNDED_BY:
            context.rounding = rounding
            if all(+pair.expected == pair.came for pair in numbers):
                return Relation(RelationKind.ROUNDED_TO_DIGITS, digits)
    return None


def _find_digits_of_doubles(values: WrongValues, numbers: list[_Numbers]) -> Relation | None:
    """The relation that all of these FLOATs come with the digits of the double that has their
    value; None if they do not.
    """
    has_more = all(
        _count_digits(came) > _count_digits(expected) and round_to_float(float(came)) == float(came)
        for expected, came in numbers
    )
    if values.logicals != {Logical.FLOAT} or not numbers or not has_more:
        return None
    words = "with the digits of the double that has its value"
    return Relation(RelationKind.CHANGED_PARTS, name=words)


def _count_digits(number: Decimal) -> int:
    """The digits of a finite number without the zeros at its end."""
    with localcontext() as context:
        context.prec = _DIGITS_OF_CONTEXT
        return len(number.normalize().as_tuple().digits)


def _exponent(number: Decimal) -> int:
    """The power of ten of a finite number's last digit that is not 0; 0 for 0."""
    return int(number.normalize().as_tuple().exponent) if number else 0


def _find_mantissa(numbers: list[_Numbers]) -> Relation | None:
    """The relation that all of these numbers come without their power of ten; None if not."""
    for expected, came in numbers:
        mantissa = expected.scaleb(-expected.adjusted())
        # The mantissa 9.9999999 may be rounded to 10, which is 1 with another exponent.
        difference = min(abs(came - mantissa), abs(10 * came - mantissa))
        if expected == came or difference > _ABOUT * abs(mantissa):
            return None
    return Relation(RelationKind.MANTISSA)


def _find_sign_bit(values: WrongValues) -> Relation | None:
    """The relation that the highest bits of all these integers are taken for a sign, or their signs
    for bits; None if neither.
    """
    integers = _gather_integers(values)
    if integers and all(expected < 0 < came for expected, came in integers):
        return Relation(RelationKind.UNSIGNED)
    if integers and all(came < 0 < expected for expected, came in integers):
        return Relation(RelationKind.SIGNED)
    return None


def _find_lost_bits(values: WrongValues) -> Relation | None:
    """The relation LOW_BITS if all of these integers come as 0 because only their lowest bits are
    kept: there is a width (8, 16 ... bits) for which this is so of all. The relation has the
    largest such width as its number, or 0, for an unknown one, if there is only one integer. None
    if the integers do not come so.
    """
    integers = _gather_integers(values)
    if not integers or any(came for _, came in integers):
        return None
    widths = [find_widths(Decimal(expected), Decimal(came)) for expected, came in integers]
    common = frozenset.intersection(*widths)
    if not common:
        return None
    is_sure = len(set(integers)) > 1
    return Relation(RelationKind.LOW_BITS, max(common) if is_sure else 0)


def _are_reversed(values: WrongValues) -> bool:
    """Whether the bits of nearly all these BIT values came in reverse order. Not of all: a value
    with more bits than its column cannot show it.
    """
    reversals = [
        find_reversal(pair.cell.type, pair.owed_number, pair.number_that_came)
        for pair in values.pairs
    ]
    reversed_bits = [
        reversal is not None and reversal.kind is RelationKind.BITS_REVERSED
        for reversal in reversals
    ]
    return sum(reversed_bits) >= NEARLY * len(reversed_bits)


_DIGITS_AS_BITS: Final = "the digits 0 and 1 at its beginning are read as bits"


def _has_digits_as_bits(pair: Pair) -> bool:
    """Whether a BIT came as the number of which its leading decimal digits 0 and 1 are the bits."""
    expected, came = pair.owed_number, pair.number_that_came
    if expected is None or expected != expected.to_integral_value():
        return False
    digits = re.match("[01]*", str(int(expected)))
    return digits is not None and came == int(digits[0] or "0", 2)


def _is_counted_from_1900(pair: Pair) -> bool:
    """Whether a YEAR came as the years since 1900."""
    expected, came = pair.owed_number, pair.number_that_came
    return expected is not None and came is not None and expected - came == _FIRST_YEAR


_FIRST_YEAR: Final = 1900
"""The year from which C's `tm_year` counts."""


def _find_boolean(values: WrongValues) -> Relation | None:
    """The relation that all of these numbers 0 and 1 come as the words false and true; None if they
    do not.
    """
    for pair in values.pairs:
        number = pair.owed_number
        word = pair.came.lower() if isinstance(pair.came, str) else None
        if number not in (0, 1) or word != _WORDS_OF_BOOLEANS[int(number)]:
            return None
    return Relation(RelationKind.AS_BOOLEAN)


def _find_members(values: WrongValues) -> Relation | None:
    """The relation that all of these SETs (a bit for each member) come as their first member, or as
    the number of members; None if neither.
    """
    integers = _gather_integers(values) if values.logicals == {Logical.SET} else []
    if not integers:
        return None
    if all(expected and came == expected & -expected for expected, came in integers):
        return Relation(RelationKind.FIRST_MEMBER)
    if all(came == expected.bit_count() for expected, came in integers):
        return Relation(RelationKind.NUMBER_OF_MEMBERS)
    return None
