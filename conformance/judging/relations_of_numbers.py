"""How a wrong number is related to the right one: cut to some bits or digits, wrapped around, off
by a power of ten, without its sign or fraction.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any, Final

from conformance.judging.relations import Relation, RelationKind
from generators.model import Logical, SourceType

_CLOSE: Final = Decimal("0.001")
"""Share of a number by which one that lost its last digits differs at most."""
_WRAPS: Final = {1 << bits: bits for bits in (8, 16, 24, 32, 64)}
"""The bits of the integer type that wraps around, by the power of two by which a number then
differs.
"""
_WIDTHS: Final = (64, 63, 53, 32, 31, 24, 16, 15, 8, 7)
"""Bits of the variables that decoders put integers into."""
_OF_DOUBLES: Final = Decimal("1e-12")
"""Share of a number by which it differs at most where a double has lost its last digits: a float
may have done so, but loses more of most numbers.
"""
_FACTORS: Final = range(2, 10)
"""Powers of ten by which units differ: hundredths to nanoseconds. A power of one is chance."""


def relate_numbers(expected: Decimal | None, actual: Decimal | None) -> Relation | None:
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
    widths = find_widths(expected, actual) if actual else frozenset()
    if widths:
        return Relation(RelationKind.LOW_BITS, max(widths))
    if actual == Decimal(repr(float(expected))):
        return Relation(RelationKind.DOUBLE)
    if expected.to_integral_value() != expected and actual in (int(expected), round(expected)):
        return Relation(RelationKind.FRACTION)
    if float(expected) == float(actual):
        return Relation(RelationKind.DOUBLE)
    is_by_a_float = difference > abs(expected) * _OF_DOUBLES
    if actual and is_by_a_float and is_through_float(expected, actual):
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


def is_through_float(expected: Decimal, actual: Decimal) -> bool:
    """Whether a number is what another one becomes in a float of 32 bits: printed with no more
    digits than a float has, or with all digits of the float as a double.
    """
    if not expected.is_finite() or actual.is_nan():
        return False
    nearest = round_to_float(float(expected))
    is_short = len(_significant_digits(actual)) <= _DIGITS_OF_FLOAT if actual.is_finite() else True
    return round_to_float(float(actual)) == nearest and (is_short or float(actual) == nearest)


def round_to_float(number: float) -> float:
    """The nearest number that a float of 32 bits holds: an infinite one beyond its range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def find_widths(expected: Decimal, actual: Decimal) -> frozenset[int]:
    """The widths (numbers of bits) for which the second number is what is left of the first if only
    so many of its lowest bits are kept, signed or not. Empty if the first is no integer, or too
    large.
    """
    limit = 1 << max(_WIDTHS)
    if not expected.is_finite() or not -limit <= expected <= limit:
        return frozenset()
    if expected != expected.to_integral_value():
        return frozenset()
    number = int(expected)
    return frozenset(
        width
        for width in _WIDTHS
        if actual in (number % (1 << width), number % (1 << width) - (1 << width))
    )


def _have_same_digits(expected: str, actual: str) -> bool:
    """Whether two texts of digits are equal, or agree in as many first digits as a double has where
    both are longer.
    """
    is_long = min(len(expected), len(actual)) > _DIGITS_OF_DOUBLE
    return expected == actual or (
        is_long and expected[:_DIGITS_OF_DOUBLE] == actual[:_DIGITS_OF_DOUBLE]
    )


_DIGITS_OF_DOUBLE: Final = 15
"""Digits that a double holds of any decimal number."""
_DIGITS_OF_FLOAT: Final = 9
"""Digits that tell every float of 32 bits from the next one."""


def _significant_digits(number: Decimal) -> str:
    """The digits of a number without zeros at its beginning and end."""
    return "".join(map(str, number.as_tuple().digits)).strip("0")


def has_two_digits(year: Any, actual: Decimal | None) -> bool:
    """Whether what came are the last two digits of a year that has more."""
    return isinstance(year, int | Decimal) and year >= 100 and actual == year % 100


def find_reversal(
    type: SourceType, expected: Decimal | None, actual: Decimal | None
) -> Relation | None:
    """The relation BITS_REVERSED or BYTES_REVERSED if the number that came for a BIT value has its
    bits, or its bytes, in reverse order; None if it has neither.
    """
    length = type.length
    if type.logical is not Logical.BIT or not length or expected is None:
        return None
    if not 0 < expected < 1 << length or expected != expected.to_integral_value():
        return None
    bits = int(expected)
    if actual == int(f"{bits:0{length}b}"[::-1], 2):
        return Relation(RelationKind.BITS_REVERSED)
    size = (length + 7) // 8
    if size > 1 and actual == int.from_bytes(bits.to_bytes(size, "little"), "big"):
        return Relation(RelationKind.BYTES_REVERSED)
    return None


def read_number(value: Any) -> Decimal | None:
    """The number that a value is or spells; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return Decimal(str(value) if isinstance(value, float) else value)
    except (ArithmeticError, ValueError):
        return None
