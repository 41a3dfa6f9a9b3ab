"""Simpler values of a type, for reduction: first the type's plain value, then shorter texts, fewer
digits, rounder moments.

`weight` measures how far a value is from plain. Every value of `simpler_values` weighs less than
its origin, so that repeated reduction ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final

from generators.model import Json, Logical, SourceType, Value, ZeroDate
from generators.sources import databases
from generators.sources.mysql import DAY, EPOCH, MICROS, to_float32

_DIGIT: Final = 200
"""The weight of each digit of a number, beside the digit's own value."""
_ODD: Final = 100_000
"""The weight of a value that is no number and no calendar date: above ordinary values of few
digits.
"""
_PARTS: Final = 12
"""Number of parts into which a long text is divided; each part is left out once."""
_LONG: Final = 4_096
"""The length above which the characters of a text are not weighed one by one."""
_PRECISIONS: Final = (1, 2, 3, 6, 9)
"""Significant digits to which floats are rounded."""
_LETTER: Final = "a"
"""The character that stands in for those of a text."""
_PLAIN: Final = "a0"
"""The plainest characters of a text."""


def weight(type: SourceType, value: Value) -> int:
    """How far a value is from the plainest value of its type, as a number: 0 for NULL, else at
    least 1. The reducer prefers a case whose values weigh less.
    """
    match value:
        case None:
            return 0
        case Json():
            return _json_weight(value.value)
        case ZeroDate():
            return _ODD + sum(
                map(_digits_weight, (value.year, value.month, value.day, value.micros))
            )
        case date():
            return 1 + _date_weight(value)
        case str() | bytes():
            return 1 + _text_weight(value)
        case float():
            return _float_weight(value)
        case Decimal():
            return _number_weight(format(value, "f"))
    if type.logical in (Logical.BIT, Logical.SET):
        return 1 + 64 * value.bit_count() + value.bit_length()
    if type.logical in (Logical.DATETIME, Logical.TIMESTAMP):
        days, micros = divmod(value, DAY)
        return 1 + _days_weight(days) + _clock_weight(micros)
    if type.logical is Logical.TIME:
        return 1 + (value < 0) + _clock_weight(abs(value))
    return _number_weight(str(value))


def simpler_values(type: SourceType, value: Value) -> list[Value]:
    """Values that the type's source can store and that weigh less; NULL is not among them.

    The plainest comes first, then the heaviest, then those between, so that the first few are
    spread over the range: this bisects towards a limit that a value must reach to fail.
    """
    if value is None:
        return []
    limit, fits = weight(type, value), databases.source_of(type).fits
    weighed: dict[str, tuple[int, Value]] = {}
    for variant in (*_value_variants(type, value), *_boundaries(type).values()):
        # 1, 1.0, Decimal(1) and True are equal: their repr differs.
        spelling = repr(variant)
        if (
            spelling not in weighed
            and variant is not None
            and fits(type, variant)
            and (variant_weight := weight(type, variant)) < limit
        ):
            weighed[spelling] = (variant_weight, variant)
    ordered = [variant for _, variant in sorted(weighed.values(), key=lambda pair: pair[0])]
    return [ordered[i] for i in _bisecting_order(len(ordered))]


def _bisecting_order(size: int) -> list[int]:
    """The numbers from 0 to `size` - 1 in the order in which to try them: both ends, the middle,
    the quarters, and so on.
    """
    order = dict.fromkeys((0, size - 1)) if size else {}
    parts = 2
    while len(order) < size:
        order |= dict.fromkeys(i * size // parts for i in range(1, parts, 2))
        parts *= 2
    return list(order)


@cache
def _boundaries(type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of all types with this type's name and logical type."""
    source = databases.source_of(type)
    slugs = [
        slug
        for slug, other_type in source.types.items()
        if (other_type.name, other_type.logical) == (type.name, type.logical)
    ]
    boundaries: dict[str, Value] = {}
    for slug in slugs:
        for name, value in source.boundary_values(slug).items():
            boundaries[f"{slug}/{name}"] = value
    return boundaries


def _value_variants(type: SourceType, value: Value) -> Iterator[Value]:
    """Yields values to try in place of a failing cell's, by the sort of value. Some weigh no less
    or do not fit the column: `simpler_values` drops those.
    """
    match value:
        case Json():
            yield from (Json(inner) for inner in _json_variants(value.value))
        case ZeroDate():
            yield from (date(1970, 1, 1), ZeroDate(), 0, MICROS)
        case date():
            yield from _date_variants(value)
        case str():
            yield from (type.members if type.logical is Logical.TEXT else ())
            yield from _text_variants(value)
        case bytes():
            yield from (
                variant.encode("latin-1") for variant in _text_variants(value.decode("latin-1"))
            )
        case float():
            yield from _float_variants(value)
        case Decimal():
            yield from _decimal_variants(value)
        case int() if type.logical in (Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME):
            yield from _moment_variants(value)
        case int() if type.logical in (Logical.BIT, Logical.SET):
            yield from (0, 1, *(1 << i for i in range(value.bit_length()) if value >> i & 1))
            yield from (value & ~(1 << i) for i in range(value.bit_length()))
        case int():
            yield from _integer_variants(value)


def _integer_variants(value: int) -> Iterator[int]:
    """Integers to try in place of one: small ones, those just beyond what a double holds exactly,
    its first or last digits, powers of ten, and those with one digit replaced by 0 or 1.
    """
    yield from (0, 1, -1, abs(value), (1 << 53) + 1, -(1 << 53) - 1)
    digits, sign = str(abs(value)), -1 if value < 0 else 1
    for length in range(1, len(digits)):
        yield sign * 10**length
        yield sign * int(digits[:length])
        yield sign * int(digits[length:])
        yield sign * int(digits[:length] + "0" * (len(digits) - length))
    for shorter in _replace_digits(digits):
        yield sign * int(shorter)


def _replace_digits(digits: str) -> Iterator[str]:
    """The texts of a number without its sign, in each of which one digit other than 0 is replaced
    by 0, or by 1.
    """
    for i, digit in enumerate(digits):
        if digit not in "0.":
            yield f"{digits[:i]}0{digits[i + 1 :]}"
            if digit != "1":
                yield f"{digits[:i]}1{digits[i + 1 :]}"


def _decimal_variants(value: Decimal) -> Iterator[Decimal]:
    """Decimals to try in place of one: small ones, its whole part or its fraction alone, those with
    fewer digits, powers of ten, and those with one digit replaced by 0 or 1.
    """
    digits, sign = format(value.copy_abs(), "f"), "-" if value.is_signed() else ""
    integer_digits, _, fraction = digits.partition(".")
    yield from (Decimal(0), Decimal(1), Decimal(-1), value.copy_abs())
    spellings = [
        integer_digits,
        f"0.{fraction or 0}",
        *(f"{integer_digits}.{fraction[:length]}" for length in range(1, len(fraction))),
    ]
    spellings += [
        f"{integer_digits[length:]}.{fraction or 0}" for length in range(1, len(integer_digits))
    ]
    spellings += ["1" + "0" * length for length in range(1, len(integer_digits))] + [
        "0." + "0" * length + "1" for length in range(len(fraction))
    ]
    for variant in (*spellings, *_replace_digits(digits)):
        yield Decimal(sign + variant)


def _float_variants(value: float) -> Iterator[float]:
    """Floats to try in place of one: small ones, its whole part or its fraction alone, 1e10 and
    1e-10, and the float rounded to fewer digits; each also as a float of 32 bits.
    """
    yield from (0.0, 1.0, -1.0, 0.5)
    if not math.isfinite(value):
        return
    variants = [
        abs(value),
        float(math.trunc(value)),
        value - math.trunc(value),
        math.copysign(1e10, value),
        math.copysign(1e-10, value),
    ]
    variants += [float(f"{value:.{n}g}") for n in _PRECISIONS]
    for variant in variants:
        yield variant
        yield to_float32(variant)


def _date_variants(value: date) -> Iterator[date]:
    """Dates to try in place of one: the first days of 1970 and 2000, of its year and of its month,
    and its day in 1970 (28 February for 29 February).
    """
    yield from (
        date(1970, 1, 1),
        date(2000, 1, 1),
        value.replace(month=1, day=1),
        value.replace(day=1),
    )
    leap_day = (value.month, value.day) == (2, 29)
    yield value.replace(year=1970, day=28 if leap_day else value.day)


def _moment_variants(value: int) -> Iterator[int]:
    """Times in microseconds to try in place of one: the epoch, small ones, the time rounded down to
    days, hours, minutes ..., and its remainders, which lie on the first day.
    """
    yield from (0, MICROS, DAY, -MICROS, 946_684_800 * MICROS, abs(value))
    for unit in (DAY, 3600 * MICROS, 60 * MICROS, MICROS, 1000, 100, 10):
        yield value // unit * unit
        yield value % unit
        yield value % DAY // unit * unit
    yield from (1, 10, 100, 1000)


def _text_variants(value: str) -> Iterator[str]:
    """Texts to try in place of one: empty, one letter, as many equal letters, its halves and parts,
    the text without a part or a character; a short one of plain characters also with a 0 for each
    letter and digit.
    """
    yield from (
        "",
        _LETTER,
        _LETTER * len(value),
        value[: len(value) // 2],
        value[len(value) // 2 :],
    )
    if len(value) <= _LONG:
        for char in dict.fromkeys(value[:64]):
            yield char
            yield value.replace(char, "")
    part = max(1, -(-len(value) // _PARTS))
    for i in range(0, len(value), part):
        yield value[:i] + value[i + part :]
        yield value[i : i + part]
        yield value[:i] + _LETTER * len(value[i : i + part]) + value[i + part :]
    if len(value) <= _LONG and all(c.isalnum() or c in "-.:+/ " for c in value):
        yield "".join("0" if c.isalnum() else c for c in value)


def _json_variants(value: Any) -> Iterator[Any]:
    """JSON documents to try in place of one: an empty one, its members alone, the document without
    a member, and with a simpler value of a member.
    """
    yield from ({}, [], 0, "")
    match value:
        case dict():
            yield from value.values()
            for name in value:
                yield {k: v for k, v in value.items() if k != name}
            for name, inner in value.items():
                yield from ({**value, name: smaller} for smaller in _json_variants(inner))
        case list():
            yield from value
            for i, inner in enumerate(value):
                yield value[:i] + value[i + 1 :]
                yield from (
                    [*value[:i], smaller, *value[i + 1 :]] for smaller in _json_variants(inner)
                )
        case str():
            yield from _text_variants(value)
        case bool() | None:
            return
        case int():
            yield from _integer_variants(value)
        case Decimal():
            yield from _decimal_variants(value)
        case float():
            yield from _float_variants(value)


def _json_weight(value: Any) -> int:
    """How far a JSON document is from an empty one: the weights of its names and values, at any
    depth.
    """
    match value:
        case dict():
            return 1 + sum(
                2 + _text_weight(name) + _json_weight(inner) for name, inner in value.items()
            )
        case list():
            return 1 + sum(1 + _json_weight(inner) for inner in value)
        case str():
            return 1 + _text_weight(value)
        case bool() | None:
            return 1
        case float():
            return _float_weight(value)
        case _:
            return _number_weight(format(value, "f") if isinstance(value, Decimal) else str(value))


def _digits_weight(number: int) -> int:
    """The weight of a number's digits, as part of a value's; 0 for the number 0."""
    return _number_weight(str(number)) if number else 0


def _number_weight(digits: str) -> int:
    """How far a number, given by its digits, is from 0. Each digit weighs much, since a shorter
    number counts as simpler than a rounder one.
    """
    if digits == "0":
        return 1
    return sum(_DIGIT + int(char) if char.isdigit() else 1 for char in digits)


def _float_weight(value: float) -> int:
    """How far a float is from 0, by its digits; NaN and the infinities weigh _ODD."""
    return _number_weight(repr(value)) if math.isfinite(value) else _ODD


def _date_weight(value: date) -> int:
    """How far a date is from 1970-01-01: the weights of the digits by which its year, month and day
    are above those.
    """
    return (
        _digits_weight(value.year - 1970)
        + _digits_weight(value.month - 1)
        + _digits_weight(value.day - 1)
    )


def _days_weight(days: int) -> int:
    """How far the date is from 1970-01-01 that lies so many days behind it; 0 for that day."""
    return _date_weight(EPOCH.date() + timedelta(days=days)) if days else 0


def _clock_weight(micros: int) -> int:
    """The weight of a time in microseconds (of a day, or a TIME of up to 838 hours, without its
    sign): that of its hours, minutes, seconds and fraction digits; 0 for 00:00:00.
    """
    seconds, fraction = divmod(micros, MICROS)
    return sum(map(_digits_weight, (seconds // 3600, seconds // 60 % 60, seconds % 60))) + sum(
        int(c) + 1 for c in f"{fraction:06d}".rstrip("0")
    )


def _text_weight(value: str | bytes) -> int:
    """How far a text is from a plain one: `a` and `0` weigh 1 each, other ASCII letters and digits
    2, other printable ASCII 3, all else 4. In a text above `_LONG` characters each weighs 4.
    """
    if len(value) > _LONG:
        return 4 * len(value)
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return sum(map(_character_weight, value))


def _character_weight(character: str) -> int:
    """How far a character is from a plain one: 1 for `a` and `0`, 2 for other ASCII letters and
    digits, 3 for other printable ASCII, else 4.
    """
    if character in _PLAIN:
        return 1
    if character.isascii() and character.isalnum():
        return 2
    return 3 if " " <= character <= "~" else 4
