"""Compares an expected cell exactly with the decoder's cell, per logical type.

Level one compares wire text (or a JSON value) with the map's string. Level two compares a canonical
value with a typed column, whose Spark type must be on a closed list. No comparison has a tolerance:
a JSON number is compared with all its digits, unless what the writer printed is a double.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from math import copysign, isfinite
from typing import Any, Final

from generators.model import Cell, Json, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql

_QUARTER: Final = 900 * mysql.MICROS
"""Microseconds of a quarter of an hour."""
_QUARTERS_SINCE: Final = (10 * 365 + 4) * 86_400 * mysql.MICROS
"""Microseconds from 1970 to the first days of 1980, since when all time zones differ by quarters of
an hour.
"""
_ZONES_APART: Final = 32 * 3600 * mysql.MICROS
"""The most microseconds by which the clocks of two time zones may differ."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A decoded value with the family of its Spark type (a member of a set in ACCEPTED, or the
    type's name).
    """

    family: str
    value: Any


def exact_json(document: str) -> Any:
    """The JSON document of a text, with exact numbers: integers as int, fractions as Decimal.
    Raises ValueError if the text is no JSON, or if it is nested too deeply or has an exponent too
    large.
    """
    try:
        return json.loads(document, parse_float=Decimal)
    except RecursionError:
        raise ValueError("the document is nested too deeply") from None
    except InvalidOperation:
        raise ValueError("a number has an exponent that no Decimal has") from None


def same_json(expected: Any, actual: Any) -> bool:
    """Whether two documents are equal, key order ignored. A number that is a double's shortest text
    is compared as that double, and any other exactly.
    """
    if isinstance(expected, bool) or isinstance(actual, bool) or expected is None or actual is None:
        return expected is actual
    if isinstance(expected, int | float | Decimal) and isinstance(actual, int | float | Decimal):
        return _same_number(expected, actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same_json(v, actual[k]) for k, v in expected.items()
        )
    if isinstance(expected, list | tuple) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same_json, expected, actual))
    return type(expected) is type(actual) and bool(expected == actual)


def _same_number(expected: int | float | Decimal, actual: int | float | Decimal) -> bool:
    """Whether two numbers of JSON are equal. If the expected one may be the text of a double, it is
    enough that both become the same double.
    """
    if expected == actual:
        return True
    return _is_double(expected) and _same_double(expected, actual)


def _is_double(number: int | float | Decimal) -> bool:
    """Whether a number with a fraction or an exponent is what the nearest double prints as; false
    for a whole number without an exponent.
    """
    if isinstance(number, int):
        return False
    return isinstance(number, float) or Decimal(repr(float(number))) == number


def _same_double(expected: int | float | Decimal, actual: int | float | Decimal) -> bool:
    """Whether two numbers become the same double; false for one beyond its range."""
    try:
        expected_double, actual_double = float(expected), float(actual)
    except OverflowError:  # of an int; a Decimal becomes infinite
        return False
    return isfinite(expected_double) and expected_double == actual_double


def same_text(cell: Cell, actual: str) -> bool:
    """Whether the text that a decoder returns at level one (cells as text) is the text in the
    message. For a JSON value the value counts, not the spelling. True if the case knows no text.
    """
    if cell.text is None:
        return True
    if not cell.json:
        return cell.text == actual
    try:
        return _same_cell(cell, exact_json(cell.text), exact_json(actual))
    except ValueError:
        return False


def _same_cell(cell: Cell, expected: Any, actual: Any) -> bool:
    """Whether a cell's JSON value equals the one in the message. A FLOAT or DOUBLE is compared as a
    double. A DECIMAL is compared exactly, but as a double where the message itself has only a
    double's digits.
    """
    are_numbers = type(expected) in (int, Decimal) and type(actual) in (int, Decimal)
    if are_numbers and cell.type.logical in (Logical.FLOAT, Logical.DOUBLE):
        return _same_double(expected, actual)
    if are_numbers and cell.type.logical is Logical.DECIMAL:
        has_all_digits = cell.state is State.VALUE and cell.value == expected
        return bool(expected == actual if has_all_digits else _same_double(expected, actual))
    return same_json(expected, actual)


def same_value(cell: Cell, actual: Typed) -> bool:
    """Whether a typed value (level two), not NULL, equals the cell's expected value, or one of
    several right ones, by the comparison for its type and for the family of the Spark type that
    came.
    """
    compare = _COMPARE[cell.type.logical].get(actual.family, _never)
    return any(compare(cell.type, expected, actual) for expected in _options(cell))


def same_digits(cell: Cell, actual: Typed) -> bool:
    """Whether a typed date with time has the clock reading of an expected one, in whatever time
    zone. True, too, if no moment is expected, as for a zero date.
    """
    moments = [option for option in _options(cell) if isinstance(option, int)]
    fits = actual.family in ("timestamp", "timestamp_ntz")
    return not moments or (
        fits and any(only_zones_apart(moment, actual.value) for moment in moments)
    )


def only_zones_apart(expected: int, actual: int) -> bool:
    """Whether two moments in microseconds may be the same clock reading in two time zones, whose
    difference is a multiple of a quarter of an hour (`standards#zone-offsets`).
    """
    distance = abs(expected - actual)
    return (
        distance <= _ZONES_APART
        and distance % (_QUARTER if min(expected, actual) > _QUARTERS_SINCE else mysql.MICROS) == 0
    )


def is_accepted(cell: Cell, family: str) -> bool:
    """Whether a typed value (level two) of this family of Spark types may be right for the cell:
    ACCEPTED lists the family for the column's type, and the narrower conditions on some types hold.
    """
    logical, type = cell.type.logical, cell.type
    if family not in ACCEPTED[logical]:
        return False
    if logical is Logical.DECIMAL and family != "decimal":
        return type.scale == 0 if family == "int" else _is_wider_than_spark(type)
    if logical is Logical.BIT and family == "boolean":
        return type.length == 1
    return logical is not Logical.TIMESTAMP or family == "timestamp" or null_is_fine(cell)


def is_impossible(cell: Cell, actual: Typed) -> bool:
    """For a cell whose right value is unknown: whether a typed value must be wrong, since the
    column cannot have its Spark type, or the value is one of the cell's `options`, which here are
    wrong ones.
    """
    return actual.family not in ACCEPTED[cell.type.logical] or any(
        _equals_json(cell.type, option, actual)
        if isinstance(option, Json)
        else actual.value == option
        for option in cell.options
    )


def null_is_fine(cell: Cell) -> bool:
    """Whether NULL may replace the value: zero dates, which no Spark type holds."""
    return any(isinstance(value, ZeroDate) for value in _options(cell))


def _options(cell: Cell) -> tuple[Value, ...]:
    """The right values of a cell: one, or several of which a decoder may give any."""
    return cell.options if cell.state is State.ONE_OF else (cell.value,)


def _never(type: SourceType, expected: Value, actual: Typed) -> bool:
    """The comparison for a Spark type that no value of the column may come in: never equal."""
    return False


def _equals(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a value is the expected one, for Spark types that hold the value as it is."""
    return bool(actual.value == expected)


def _equals_real(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a floating-point number is exactly the expected one; in a FLOAT column the one that
    came is rounded to binary32 first. The sign of zero counts, and NaN equals NaN.
    """
    actual_number = (
        mysql.to_float32(actual.value) if type.logical is Logical.FLOAT else actual.value
    )
    assert isinstance(expected, float)
    return bool(
        (actual_number == expected and copysign(1, actual_number) == copysign(1, expected))
        or (actual_number != actual_number and expected != expected)
    )


def _is_whole_number(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether an integer is the expected DECIMAL; false for a column with a scale."""
    return type.scale == 0 and bool(actual.value == expected)


def _is_wider_than_spark(type: SourceType) -> bool:
    """Whether a DECIMAL has more digits than Spark's decimals hold, so that its text is right."""
    return (type.precision or 0) > 38


_NUMBER: Final = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
"""The text of a decimal number, with or without an exponent."""


def _equals_decimal(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a text is the expected number, of a DECIMAL that is too wide for Spark's; false for a
    narrower one, whose text is no right answer.
    """
    if not _is_wider_than_spark(type) or not _NUMBER.fullmatch(actual.value):
        # Python reads 1_5 as 15, too, and a number between blanks or in digits of other scripts.
        return False
    try:
        return bool(Decimal(actual.value) == expected)
    except InvalidOperation:  # an exponent that no Decimal has
        return False


def _equals_bit(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a boolean is the expected BIT; false for a column of several bits."""
    return type.length == 1 and bool(actual.value == expected)


def _equals_date(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a decoder's text is the expected DATE (or zero date) as MySQL prints it."""
    return isinstance(expected, date | ZeroDate) and bool(actual.value == mysql.date_text(expected))


def _equals_datetime(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a decoder's text is the expected DATETIME as MySQL prints it, with the column's
    number of fraction digits.
    """
    return isinstance(expected, int | ZeroDate) and bool(
        actual.value == mysql.datetime_text(expected, type.fsp)
    )


def _equals_zero_date(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a text is the expected zero date of a TIMESTAMP column; false if no zero date is
    expected, since a TIMESTAMP is never right as text otherwise.
    """
    return isinstance(expected, ZeroDate) and _equals_datetime(type, expected, actual)


_TIME_TEXT = re.compile(r"(-?)(\d{2,3}):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?", re.ASCII)
"""The text of a TIME: sign, hours, minutes, seconds and up to six digits of a fraction."""


def _equals_time(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a decoder's text (HH:MM:SS with up to six fraction digits, and a sign) is the
    expected TIME in microseconds; false for a text in another form.
    """
    match = _TIME_TEXT.fullmatch(actual.value)
    if not match:
        return False
    sign, hours, minutes, seconds, fraction = match.groups()
    micros = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * mysql.MICROS + int(
        (fraction or "").ljust(6, "0")
    )
    return bool((-micros if sign else micros) == expected)


def _is_label(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a decoder's text is the label of the expected ENUM number; "" for number 0."""
    assert isinstance(expected, int)
    return bool(actual.value == (type.members[expected - 1] if expected else ""))


def _are_labels(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether what came for a SET is the labels of the members whose bits are set in the expected
    number: a text with commas, or a list.
    """
    assert isinstance(expected, int)
    labels = [label for i, label in enumerate(type.members) if expected >> i & 1]
    return bool(actual.value == (",".join(labels) if actual.family == "string" else labels))


def _equals_json(type: SourceType, expected: Value, actual: Typed) -> bool:
    """Whether a decoder's text is JSON with the expected document, however it is spelled; false for
    a text that is no JSON.
    """
    assert isinstance(expected, Json)
    try:
        return same_json(expected.value, exact_json(actual.value))
    except ValueError:
        return False


_COMPARE: Final[Mapping[Logical, Mapping[str, Callable[[SourceType, Value, Typed], bool]]]] = {
    Logical.INT: {"int": _equals, "decimal": _equals},
    Logical.YEAR: {"int": _equals},
    Logical.DECIMAL: {"decimal": _equals, "int": _is_whole_number, "string": _equals_decimal},
    Logical.FLOAT: {"float": _equals_real, "double": _equals_real},
    Logical.DOUBLE: {"double": _equals_real},
    Logical.BIT: {"boolean": _equals_bit, "int": _equals, "decimal": _equals},
    Logical.TEXT: {"string": _equals},
    Logical.BINARY: {"binary": _equals},
    Logical.DATE: {"date": _equals, "string": _equals_date},
    Logical.DATETIME: {"timestamp_ntz": _equals, "string": _equals_datetime},
    Logical.TIMESTAMP: {"timestamp": _equals, "string": _equals_zero_date},
    Logical.TIME: {"interval": _equals, "string": _equals_time},
    Logical.ENUM: {"int": _equals, "string": _is_label},
    Logical.SET: {"int": _equals, "decimal": _equals, "string": _are_labels, "array": _are_labels},
    Logical.JSON: {"string": _equals_json},
}
"""How a value is compared, by logical type and family. Further limits: DECIMAL as string only above
38 digits of precision and as an integer only at scale 0; TIMESTAMP as string only for a zero value;
a string for ENUM or SET holds labels.
"""
ACCEPTED: Final[Mapping[Logical, frozenset[str]]] = {
    logical: frozenset(families) for logical, families in _COMPARE.items()
}
"""Accepted families of Spark types, by logical type."""
