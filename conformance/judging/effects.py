"""What a mistake does to its units, as the one relation that they all have: every DECIMAL is cut to
two places, every unreadable message comes as CONTROL, every column under its name in capitals.

One finding says little: that 0.001 comes as 0 may be a cut to two places or a lost fraction. All of
a mistake's units together tell which. An effect is looked for once a mistake is found: it makes its
sentence say more, and moves neither a verdict nor a mistake.
"""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import (
    ROUND_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Decimal,
    InvalidOperation,
    localcontext,
)
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from conformance.judging.compare import Typed
from conformance.judging.compared_units import cell_of, cells, change_of
from conformance.judging.contents import MINUTE
from conformance.judging.deviations import Deviation, DeviationKind, spell_op
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import NEARLY, Failing, Unit
from conformance.judging.relations import CHARACTER_SORTS, Relation, RelationKind
from conformance.judging.relations_of_cells import is_value_of, micros_that_came, owed_micros
from conformance.judging.relations_of_documents import describe_changed_parts
from conformance.judging.relations_of_numbers import find_reversal, read_number
from conformance.judging.wording import clip, of_type, value
from conformance.rules.rules import Aspect
from generators.model import Cell, Json, Kind, Logical, State

_SEVERAL: Final = 2
"""Different values that must be owed before it is no chance that one and the same comes."""
_SHOWN: Final = 40
"""Characters of a value that an effect names."""
_DIGITS_OF_DOUBLES: Final = 17
"""Digits that a double has at most: a number with more was rounded elsewhere."""
_DIGITS_OF_CONTEXT: Final = 400
"""Digits with which numbers are rounded here: more than any column has."""
_SECOND: Final = 1_000_000
_DAY: Final = 24 * 3_600 * _SECOND
_EPOCH: Final = date(1970, 1, 1)
_DIGITS_OF_FRACTIONS: Final = range(6)
"""Digits that are left of a fraction of a second when it is cut or rounded."""
_ROUNDED_BY: Final = (ROUND_HALF_UP, ROUND_HALF_EVEN)
_CHANGES_OF_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "in capital letters": str.upper,
    "in small letters": str.lower,
    "cut after 30 characters": lambda name: name[:30],
    "without blanks at its ends": str.strip,
    "with its percent escapes decoded": unquote,
    "without back ticks": lambda name: name.replace("`", ""),
    "without double quotes": lambda name: name.replace('"', ""),
}
"""How decoders change the names of columns."""
_SIGN_NAMES: Final[Mapping[str, str]] = {
    "": "nothing",
    " ": "a blank",
    "\n": "a line feed",
    "\t": "a tab",
    "?": "a question mark",
    "\ufffd": "U+FFFD",
}
"""The names of what stands in the place of lost characters."""
_ENVELOPE_COLUMNS: Final = ("database", "schema", "table", "position", "sql")
"""Columns of the envelope of which one may be taken for another."""


class _Numbers(NamedTuple):
    """An owed number and the finite one that came for it."""

    expected: Decimal
    came: Decimal


class _Pair(NamedTuple):
    """An owed cell and what came for it."""

    cell: Cell
    came: Any

    @property
    def owed_number(self) -> Decimal | None:
        """The owed number, as its text in the message has it or by its value."""
        return read_number(self.cell.text if isinstance(self.came, str) else self.cell.value)

    @property
    def number_that_came(self) -> Decimal | None:
        """The number that came; None for what is no number."""
        return read_number(self.came.value if isinstance(self.came, Typed) else self.came)

    @property
    def text_that_came(self) -> str | None:
        """The text that came; None for what is no text."""
        came = self.came.value if isinstance(self.came, Typed) else self.came
        return came if isinstance(came, str) else None

    @property
    def expected_text(self) -> str | None:
        """The owed text, or the text of an owed document; None for another value."""
        if isinstance(self.cell.value, Json) and not isinstance(self.came, str):
            document = self.cell.value
            return document.text or json.dumps(document.value, default=str, ensure_ascii=False)
        if isinstance(self.came, str):
            return self.cell.text
        return self.cell.value if isinstance(self.cell.value, str) else None


def with_effect(deviation: Deviation, failings: Sequence[Failing]) -> Deviation:
    """The deviation of a mistake with what all of its units show together."""
    kind = deviation.kind
    if kind is DeviationKind.ROW_SURPLUS and not any(map(_comes_from_nothing, failings)):
        kind = DeviationKind.ROW_REPEATED
    if kind is DeviationKind.IMAGE_MISSING and all(map(_has_surplus_image, failings)):
        kind = DeviationKind.IMAGE_ON_OTHER_SIDE
    return replace(deviation, kind=kind, relation=_find_effect(deviation, failings))


def _comes_from_nothing(failing: Failing) -> bool:
    """Whether a surplus row has the number of no owed row, so that it may be no row again."""
    came = failing.finding.came
    return bool(came) and Kind.CORRUPT not in came


def _has_surplus_image(failing: Failing) -> bool:
    """Whether the row that lacks an image has its other image, which it does not owe."""
    finding = failing.finding
    return any(
        other_finding.aspect is Aspect.IMAGE
        and other_finding.side not in ("", finding.side)
        and other_finding.owed is None
        and other_finding.came is not None
        for other_finding in failing.result.findings
        if (other_finding.message, other_finding.row) == (finding.message, finding.row)
    )


def _has_further_rows(failing: Failing) -> bool:
    """Whether rows that nobody owes come for the message of a unit."""
    return any(
        other_finding.aspect is Aspect.EXTRA and other_finding.message == failing.finding.message
        for other_finding in failing.result.findings
    )


def _find_effect(deviation: Deviation, failings: Sequence[Failing]) -> Relation | None:
    """The relation to what is owed that all units of a mistake have, if it says more than that of
    the deviation; else the deviation's own.
    """
    match deviation.kind:
        case DeviationKind.OTHER_OP if all(map(_has_further_rows, failings)):
            return Relation(RelationKind.FURTHER_ROW)
        case DeviationKind.VALUE_WRONG:
            return _effect_on_values(deviation.relation, failings)
        case DeviationKind.VALUE_FOR_NULL if deviation.relation is None:
            return _find_one_value(failings, owed_values=_SEVERAL)
        case DeviationKind.FIELD_WRONG if deviation.name == "keys" and all(
            map(_has_every_column, failings)
        ):
            return Relation(RelationKind.EVERY_COLUMN)
        case DeviationKind.FIELD_WRONG if deviation.relation is None:
            return _find_other_column_of_envelope(deviation.name, failings)
        case DeviationKind.OP_IN_OTHER_LETTERS:
            return _find_letters(failings)
        case DeviationKind.MESSAGE_ACCEPTED:
            return _find_one_kind(failings)
        case DeviationKind.COLUMN_MISSING:
            return _find_renaming(failings)
        case DeviationKind.ROWS_SHUFFLED if all(map(_has_value_of_last_row, failings)):
            return Relation(RelationKind.LAST_ROW)
        case DeviationKind.COLUMNS_SWAPPED:
            return _find_order_of_columns(failings)
    return deviation.relation


def _effect_on_values(relation: Relation | None, failings: Sequence[Failing]) -> Relation | None:
    """The one relation that all wrong values of a mistake have."""
    pairs = list(_walk_pairs(failings))
    kind = relation.kind if relation else None
    if 2 * len(pairs) < len(failings) or kind in _SAYS_ALL:
        return relation
    logicals = {pair.cell.type.logical for pair in pairs}
    if logicals <= _OF_DECIMALS and all(pair.number_that_came == 0 for pair in pairs):
        return Relation(RelationKind.ONE_VALUE, name="0")
    if logicals <= _OF_DECIMALS and kind in _OF_DIGITS:
        return _find_cut_of_numbers(pairs) or _find_mantissa(pairs) or relation
    if logicals == {Logical.BIT} and all(map(_has_reversed_bits, pairs)):
        return Relation(RelationKind.BITS_REVERSED)
    if logicals == {Logical.TEXT} and kind in (None, RelationKind.LETTER_CASE):
        letters = _find_letters_of_texts(pairs)
        if letters is not None:
            return letters
    if kind is RelationKind.WRAP:
        return _find_sign_bit(pairs) or relation
    if kind is RelationKind.LOST_BEGINNING and all(map(_lacks_leading_zeros, pairs)):
        return Relation(RelationKind.LOST_CHARACTERS, name="leading zeros")
    if logicals == {Logical.TEXT} and relation is None:
        replacement = _find_replaced_characters(pairs)
        if replacement is not None:
            return replacement
    if logicals <= _OF_CLOCKS and kind in _OF_FRACTIONS:
        return _find_cut_of_fractions(pairs) or relation
    if logicals <= _OF_CLOCKS and kind in (None, RelationKind.SHIFT) and not _is_shift(relation):
        shifted = _find_cut_of_moments(pairs) or _find_months(pairs)
        return shifted or _found_without_relation(relation, failings, pairs)
    if logicals == {Logical.JSON}:
        return _find_changed_parts(pairs) or relation
    if kind is RelationKind.REPLACED_CHARACTERS and relation is not None:
        return _find_replacement(relation, pairs)
    return _found_without_relation(relation, failings, pairs)


_SAYS_ALL: Final = frozenset(
    {
        RelationKind.SPARK_TYPE,
        RelationKind.OTHER_IMAGE,
        RelationKind.OTHER_ROW,
        RelationKind.OTHER_COLUMN,
        RelationKind.EARLIER_ROW,
        RelationKind.COMES_AS,
        RelationKind.CUT,
    }
)
"""Relations that an effect of the values themselves would say less than."""
_OF_DECIMALS: Final = frozenset({Logical.DECIMAL, Logical.DOUBLE, Logical.FLOAT})
_OF_CLOCKS: Final = frozenset({Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME})
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
_OF_FRACTIONS: Final = frozenset({RelationKind.FRACTION, RelationKind.ROUNDED})
"""Relations of times that differ by less than a second."""


def _is_shift(relation: Relation | None) -> bool:
    """Whether all values are shifted by one duration, which is told already."""
    return relation is not None and relation.kind is RelationKind.SHIFT and relation.number != 0


def _found_without_relation(
    relation: Relation | None, failings: Sequence[Failing], pairs: Sequence[_Pair]
) -> Relation | None:
    """The relation, or where there is none: what is left of the bits of a SET or BIT, or the one
    value that comes for all.
    """
    if relation is not None and relation.kind is not RelationKind.SHIFT:
        return relation
    if all(_is_epoch(pair) for pair in pairs):
        return Relation(RelationKind.EPOCH)
    if all(map(_is_date_of_year, pairs)):
        return Relation(RelationKind.COMES_AS, name="a date")
    if all(map(_has_replaced_bytes, pairs)):
        return Relation(RelationKind.NO_UTF8)
    relation_found = _find_boolean(pairs) or _find_members(pairs)
    return relation_found or _find_one_value(failings, owed_values=_SEVERAL) or relation


def _walk_pairs(failings: Iterable[Failing]) -> Iterator[_Pair]:
    """Each owed value with what came for it; nothing for a unit without both."""
    for failing in failings:
        cell = cell_of(failing.finding, failing.result.case)
        came = failing.finding.came
        if cell is not None and cell.state is State.VALUE and came not in (None, NOT_THERE):
            yield _Pair(cell, came)


def _find_one_value(failings: Sequence[Failing], owed_values: int) -> Relation | None:
    """The value that comes for all of these, if several are owed."""
    spelled = {value(failing.finding.came) for failing in failings}
    expected = {_spell_cell(failing) for failing in failings}
    is_of_null = expected == {value(None)} and len(failings) >= owed_values
    if len(spelled) != 1 or not (is_of_null or len(expected) >= owed_values):
        return None
    (spelled_value,) = spelled
    is_empty = all(failing.finding.came in ("", b"") or _is_empty(failing) for failing in failings)
    name = "an empty text" if is_empty else clip(spelled_value, _SHOWN)
    return Relation(RelationKind.ONE_VALUE, name=name)


def _is_empty(failing: Failing) -> bool:
    """Whether an empty text came as a typed value."""
    came = failing.finding.came
    return isinstance(came, Typed) and came.value in ("", b"")


def _spell_cell(failing: Failing) -> str:
    """The owed cell in words; equal values have equal words."""
    cell = cell_of(failing.finding, failing.result.case)
    return value(None) if cell is None else _spell_owed(cell, failing.result.case.level)


def _find_cut_of_numbers(pairs: Sequence[_Pair]) -> Relation | None:
    """The places behind the point, or the digits, to which all of these numbers are cut or
    rounded.
    """
    numbers: list[_Numbers] = []
    for pair in pairs:
        expected, came = pair.owed_number, pair.number_that_came
        if expected is None or came is None or not (expected.is_finite() and came.is_finite()):
            return None
        numbers.append(_Numbers(expected, came))
    return _find_digits(numbers) or _find_places(numbers)


def _find_places(numbers: Sequence[_Numbers]) -> Relation | None:
    """The places behind the point to which all of these numbers are cut or rounded."""
    with localcontext() as context:
        context.prec = _DIGITS_OF_CONTEXT
        # A number with more digits than the context has no places here: it becomes NaN.
        context.traps[InvalidOperation] = False
        places = max(max(0, -_exponent(came)) for _, came in numbers)
        unit = Decimal(1).scaleb(-places)
        if all(expected.quantize(unit, ROUND_DOWN) == came for expected, came in numbers):
            return Relation(RelationKind.CUT_TO_PLACES, places)
        for rounding in _ROUNDED_BY:
            if all(expected.quantize(unit, rounding) == came for expected, came in numbers):
                return Relation(RelationKind.ROUNDED_TO_PLACES, places)
    return None


def _find_digits(numbers: Sequence[_Numbers]) -> Relation | None:
    """The digits, more than a double has, to which all of these numbers are rounded."""
    digits = max(_count_digits(came) for _, came in numbers)
    if digits <= _DIGITS_OF_DOUBLES or any(
        _count_digits(expected) <= digits for expected, _ in numbers
    ):
        return None
    with localcontext() as context:
        context.prec = digits
        for rounding in _ROUNDED_BY:
            context.rounding = rounding
            if all(+expected == came for expected, came in numbers):
                return Relation(RelationKind.ROUNDED_TO_DIGITS, digits)
    return None


def _count_digits(number: Decimal) -> int:
    """The digits of a finite number without the zeros at its end."""
    with localcontext() as context:
        context.prec = _DIGITS_OF_CONTEXT
        return len(number.normalize().as_tuple().digits)


def _exponent(number: Decimal) -> int:
    """The power of ten of a finite number's last digit that is not 0."""
    return int(number.normalize().as_tuple().exponent) if number else 0


def _find_mantissa(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether all of these numbers come without their power of ten."""
    for pair in pairs:
        expected, came = pair.owed_number, pair.number_that_came
        if not expected or came is None or not (expected.is_finite() and came.is_finite()):
            return None
        mantissa = expected.scaleb(-expected.adjusted())
        if expected == came or abs(came - mantissa) > _ABOUT * abs(mantissa):
            return None
    return Relation(RelationKind.MANTISSA)


_ABOUT: Final = Decimal("0.02")
"""Share of a mantissa by which one with fewer digits differs at most."""


def _has_reversed_bits(pair: _Pair) -> bool:
    """Whether the bits of a BIT came in reverse order."""
    reversal = find_reversal(pair.cell, pair.number_that_came)
    return reversal is not None and reversal.kind is RelationKind.BITS_REVERSED


def _find_letters_of_texts(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether all of these texts come in small letters, or all in capital ones."""
    texts = [(pair.expected_text or "", pair.text_that_came) for pair in pairs]
    if all(came == expected.lower() for expected, came in texts):
        return Relation(RelationKind.LETTERS, name="small")
    if all(came == expected.upper() for expected, came in texts):
        return Relation(RelationKind.LETTERS, name="capital")
    return None


def _find_sign_bit(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether the highest bits of all these integers are taken for a sign, or signs for bits."""
    numbers = _whole_numbers(pairs)
    if numbers and all(expected < 0 < came for expected, came in numbers):
        return Relation(RelationKind.UNSIGNED)
    if numbers and all(came < 0 < expected for expected, came in numbers):
        return Relation(RelationKind.SIGNED)
    return None


def _whole_numbers(pairs: Sequence[_Pair]) -> list[tuple[int, int]]:
    """The owed integers with those that came; [] if any of them is none."""
    numbers: list[tuple[int, int]] = []
    for pair in pairs:
        expected, came = pair.owed_number, pair.number_that_came
        if expected is None or came is None or not (expected.is_finite() and came.is_finite()):
            return []
        if expected != expected.to_integral_value() or came != came.to_integral_value():
            return []
        numbers.append((int(expected), int(came)))
    return numbers


def _lacks_leading_zeros(pair: _Pair) -> bool:
    """Whether a text came without the zeros at its beginning."""
    expected, came = pair.expected_text, pair.text_that_came
    return (
        expected is not None
        and came is not None
        and expected != came
        and expected.lstrip("0") == came
    )


def _find_replaced_characters(pairs: Sequence[_Pair]) -> Relation | None:
    """The sort of characters of these texts of which each has the same other character in its
    place.
    """
    replaced, replacements = "", set[str]()
    for pair in pairs:
        expected, came = pair.expected_text, pair.text_that_came
        if expected is None or came is None or len(expected) != len(came):
            return None
        for owed_character, character in zip(expected, came, strict=True):
            if owed_character != character:
                replaced += owed_character
                replacements.add(character)
    for sort, pattern in CHARACTER_SORTS:
        if len(replacements) == 1 and re.fullmatch(pattern, replaced):
            (character,) = replacements
            name = _SIGN_NAMES.get(character, f"`{character}`")
            return Relation(RelationKind.REPLACED_BY, name=sort, before=name)
    return None


def _find_cut_of_fractions(pairs: Sequence[_Pair]) -> Relation | None:
    """What is left of the fractions of seconds of all these times."""
    times: list[tuple[int, int]] = []
    digits_of_types = list[int]()
    for pair in pairs:
        expected = owed_micros(pair.cell, as_text=isinstance(pair.came, str))
        came = micros_that_came(pair.cell, pair.came)
        if expected is None or came is None:
            return None
        times.append((expected, came))
        digits_of_types.append(pair.cell.type.fsp or 0)
    for digits in _DIGITS_OF_FRACTIONS:
        unit = 10 ** (6 - digits)
        if all(came in _cut(expected, unit) for expected, came in times):
            return Relation(
                RelationKind.FRACTION_CUT if digits else RelationKind.FRACTION_LOST, digits
            )
        if all(came == (expected + unit // 2) // unit * unit for expected, came in times):
            return Relation(RelationKind.FRACTION_ROUNDED, digits)
    if all(
        came - expected // _SECOND * _SECOND == expected % _SECOND // 1_000
        for expected, came in times
    ):
        return Relation(RelationKind.FRACTION_A_THOUSANDTH)
    as_numbers = zip(times, digits_of_types, strict=True)
    if all(
        came - expected // _SECOND * _SECOND == expected % _SECOND // 10 ** (6 - digits)
        for (expected, came), digits in as_numbers
    ):
        return Relation(RelationKind.FRACTION_AS_MICROS)
    return None


def _cut(micros: int, unit: int) -> tuple[int, int]:
    """The time without what is less than a unit: the time before, and the one nearer to zero."""
    return micros // unit * unit, -(-micros // unit) * unit if micros < 0 else micros // unit * unit


def _find_cut_of_moments(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether all of these times come without their seconds, or the days of all these dates are
    taken for milliseconds.
    """
    moments: list[tuple[int, int]] = []
    for pair in pairs:
        expected = owed_micros(pair.cell, as_text=isinstance(pair.came, str))
        came = micros_that_came(pair.cell, pair.came)
        if expected is None or came is None:
            return None
        moments.append((expected, came))
    if all(came in _cut(expected, MINUTE) for expected, came in moments):
        return Relation(RelationKind.CUT_TO_MINUTES)
    are_dates = all(pair.cell.type.logical is Logical.DATE for pair in pairs)
    # A day is one of its thousandth seconds: the first ones of 1970, or the last of 1969.
    if are_dates and all(
        came == expected // _DAY * 1_000 // _DAY * _DAY for expected, came in moments
    ):
        return Relation(RelationKind.DAYS_AS_MILLIS)
    return None


def _find_months(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether all of these dates come in the next month, or all in the month before."""
    differences = set[int]()
    for pair in pairs:
        expected = _month_of(owed_micros(pair.cell, as_text=isinstance(pair.came, str)))
        came = _month_of(micros_that_came(pair.cell, pair.came))
        if expected is None or came is None:
            return None
        differences.add(came - expected)
    if len(pairs) < _SEVERAL or len(differences) != 1 or differences == {0}:
        return None
    return Relation(RelationKind.MONTHS, differences.pop())


def _month_of(micros: int | None) -> int | None:
    """The number of a time's month since the year 0; None beyond the calendar."""
    if micros is None:
        return None
    try:
        day = _EPOCH + timedelta(days=micros // _DAY)
    except OverflowError:
        return None
    return day.year * 12 + day.month


def _is_date_of_year(pair: _Pair) -> bool:
    """Whether a date came for a YEAR, in this year."""
    date_text = pair.text_that_came
    is_year = pair.cell.type.logical is Logical.YEAR
    match = re.fullmatch(r"(\d+)-\d\d-\d\d.*", date_text) if is_year and date_text else None
    return match is not None and Decimal(match[1]) == pair.owed_number


def _has_replaced_bytes(pair: _Pair) -> bool:
    """Whether bytes came in which what is no UTF-8 is replaced."""
    expected = pair.cell.value
    came = pair.came.value if isinstance(pair.came, Typed) else None
    return isinstance(expected, bytes) and came == expected.decode("utf-8", "replace").encode()


def _is_epoch(pair: _Pair) -> bool:
    """Whether the beginning of 1970 came for a date or time."""
    logical = pair.cell.type.logical
    is_date = logical in _OF_CLOCKS and logical is not Logical.TIME
    return is_date and micros_that_came(pair.cell, pair.came) == 0


def _find_boolean(pairs: Sequence[_Pair]) -> Relation | None:
    """Whether all of these numbers 0 and 1 come as false and true."""
    texts = {0: "false", 1: "true"}
    for pair in pairs:
        number, came = pair.owed_number, pair.came
        word = came.lower() if isinstance(came, str) else None
        if number not in (0, 1) or word != texts[int(number)]:
            return None
    return Relation(RelationKind.AS_BOOLEAN)


def _find_members(pairs: Sequence[_Pair]) -> Relation | None:
    """What of the members of these SETs, each a bit, comes for all of them."""
    are_sets = all(pair.cell.type.logical is Logical.SET for pair in pairs)
    numbers = _whole_numbers(pairs) if are_sets else []
    if not numbers:
        return None
    if all(expected and came == expected & -expected for expected, came in numbers):
        return Relation(RelationKind.FIRST_MEMBER)
    if all(came == expected.bit_count() for expected, came in numbers):
        return Relation(RelationKind.NUMBER_OF_MEMBERS)
    return None


def _find_changed_parts(pairs: Sequence[_Pair]) -> Relation | None:
    """How the same sort of parts is changed in all of these JSON documents."""
    changes = set[str]()
    for pair in pairs:
        expected, came = pair.expected_text, pair.text_that_came
        if expected is None or came is None:
            return None
        changed_parts = describe_changed_parts(expected, came)
        if changed_parts is None:
            return None
        changes |= changed_parts
    return Relation(RelationKind.CHANGED_PARTS, name=changes.pop()) if len(changes) == 1 else None


def _find_replacement(relation: Relation, pairs: Sequence[_Pair]) -> Relation:
    """The relation of characters that have others in their place, with what stands there if it is
    the same for all.
    """
    pattern = dict(CHARACTER_SORTS).get(relation.name)
    if pattern is None:
        return relation
    replacements = set[str]()
    is_html = True
    for pair in pairs:
        expected, came = pair.expected_text, pair.text_that_came
        if expected is None or came is None:
            return relation
        is_html = is_html and came in (html.escape(expected), html.escape(expected, quote=False))
        stand_ins = _find_stand_ins(expected, came, pattern)
        if stand_ins is None and not is_html:
            return relation
        replacements.update(stand_ins or ())
    if is_html:
        return Relation(RelationKind.ESCAPED, name="HTML")
    # Of several characters each may have the same one in its place.
    replacements = {
        stand_in[:1] if set(stand_in) == set(stand_in[:1]) else stand_in
        for stand_in in replacements
    }
    if len(replacements) != 1:
        return relation
    (replacement,) = replacements
    name = _SIGN_NAMES.get(replacement) or (f"`{replacement}`" if replacement.isprintable() else "")
    return Relation(RelationKind.REPLACED_BY, name=relation.name, before=name) if name else relation


def _find_stand_ins(expected: str, actual: str, pattern: str) -> list[str] | None:
    """What stands in a text in the place of each run of characters that match a pattern; None if
    the other characters did not all come, in the same order.
    """
    first, *further_parts = re.split(pattern, expected)
    if not further_parts or not actual.startswith(first):
        return None
    stand_ins: list[str] = []
    position = len(first)
    for part in further_parts[:-1]:
        start = actual.find(part, position)
        if start < 0:
            return None
        stand_ins.append(actual[position:start])
        position = start + len(part)
    end = len(actual) - len(further_parts[-1])
    if end < position or not actual.endswith(further_parts[-1]):
        return None
    return [*stand_ins, actual[position:end]]


def _find_other_column_of_envelope(name: str, failings: Sequence[Failing]) -> Relation | None:
    """The other column of the envelope whose value comes in all of these rows."""
    for other_name in _ENVELOPE_COLUMNS:
        changes = [change_of(failing.finding, failing.result.case) for failing in failings]
        if other_name != name and all(
            change is not None and getattr(change, other_name) == failing.finding.came
            for change, failing in zip(changes, failings, strict=True)
        ):
            return Relation(RelationKind.OTHER_COLUMN, name=other_name)
    return None


def _has_every_column(failing: Failing) -> bool:
    """Whether the key that came has all columns of the row."""
    change = change_of(failing.finding, failing.result.case)
    came = failing.finding.came
    image = (change.after or change.before or {}) if change else {}
    return bool(image) and isinstance(came, list | tuple) and set(came) == set(image)


def _find_letters(failings: Iterable[Failing]) -> Relation | None:
    """Whether all kinds or ops that came are in small letters, or all in capital ones."""
    words = set[str]()
    for failing in failings:
        came = failing.finding.came
        (word,) = came if isinstance(came, tuple) and len(came) == 1 else (came,)
        words.add(str(word))
    if all(word == word.lower() for word in words):
        return Relation(RelationKind.LETTERS, name="small")
    if all(word == word.upper() for word in words):
        return Relation(RelationKind.LETTERS, name="capital")
    return None


def _find_one_kind(failings: Iterable[Failing]) -> Relation | None:
    """The kinds of rows that come for all of these messages that cannot be read."""
    kinds = {failing.finding.came for failing in failings}
    (came, *further_kinds) = kinds
    if further_kinds or not isinstance(came, tuple):
        return None
    return Relation(RelationKind.COMES_AS, name=", ".join(map(spell_op, came)))


def _find_renaming(failings: Iterable[Failing]) -> Relation | None:
    """How the names are changed under which all of these columns come."""
    lost: dict[Unit, set[str]] = defaultdict(set)
    surplus: dict[Unit, set[str]] = defaultdict(set)
    for failing in failings:
        column = failing.finding.column or ""
        columns = lost if failing.finding.came is NOT_THERE else surplus
        columns[failing.unit[:4]].add(column)
    for words, change_name in _CHANGES_OF_NAMES.items():
        # Of an image's surplus columns a finding names the first alone.
        fitting = [
            bool(surplus[unit]) and surplus[unit] <= set(map(change_name, names))
            for unit, names in lost.items()
        ]
        if sum(fitting) >= NEARLY * len(fitting):
            return Relation(RelationKind.RENAMED, name=words)
    return None


def _has_value_of_last_row(failing: Failing) -> bool:
    """Whether what came is the value of the message's last row."""
    finding, case = failing.finding, failing.result.case
    last = case.written[finding.message].changes[-1]
    cell = (last.image(finding.side, case.level) or {}).get(finding.column or "")
    return cell is not None and is_value_of(cell, finding.came)


def _find_order_of_columns(failings: Iterable[Failing]) -> Relation | None:
    """The order in which the columns of nearly all of these images have each other's values."""
    wrong_by_image: dict[Unit, dict[str, Failing]] = defaultdict(dict)
    for failing in failings:
        wrong_by_image[failing.unit[:4]][failing.finding.column or ""] = failing
    fitting, images = dict.fromkeys(_ORDERS_OF_COLUMNS, 0), 0
    for failing_by_column in wrong_by_image.values():
        first_failing = next(iter(failing_by_column.values()))
        change = change_of(first_failing.finding, first_failing.result.case)
        if change is None:
            continue
        case = first_failing.result.case
        expected: dict[str, str] = {}
        came: dict[str, str] = {}
        for side, name, cell in cells(change, case.level):
            if side == first_failing.finding.side:
                expected[name] = _spell_owed(cell, case.level)
                failing_cell = failing_by_column.get(name)
                came[name] = _spell_came(failing_cell) if failing_cell else expected[name]
        names = list(expected)
        if len(names) < _COLUMNS_THAT_SHOW_AN_ORDER:
            continue
        images += 1
        for words, sources_of in _ORDERS_OF_COLUMNS.items():
            sources = sources_of(names)
            fitting[words] += all(
                came[name] == expected[source] for name, source in zip(names, sources, strict=True)
            )
    words, number = max(fitting.items(), key=lambda item: item[1])
    is_most = images >= _SEVERAL and number >= NEARLY * images
    return Relation(RelationKind.VALUES_OF_COLUMNS, name=words) if is_most else None


_COLUMNS_THAT_SHOW_AN_ORDER: Final = 3
"""Columns of an image of which the order of the values can be told: of two any order is one."""


def _sources_if_sorted(names: list[str]) -> list[str]:
    """For each column the one whose value it has, where values in their order are put under the
    names in alphabetical order.
    """
    source_by_name = dict(zip(sorted(names), names, strict=True))
    return [source_by_name[name] for name in names]


_ORDERS_OF_COLUMNS: Final[Mapping[str, Callable[[list[str]], list[str]]]] = {
    "each has the next one's value": lambda names: [*names[1:], *names[:1]],
    "each has the value of the one before": lambda names: [*names[-1:], *names[:-1]],
    "their values stand under the names in alphabetical order": _sources_if_sorted,
    "their values stand in reverse order": lambda names: names[::-1],
}
"""For each column of an image, the column whose value it has, by the words for the order."""


def _spell_owed(cell: Cell, level: int) -> str:
    """An owed cell, spelled as a decoder's value would be."""
    if cell.state is not State.VALUE:
        return value(None)
    return value(cell.text) if level == 1 else of_type(cell.type, cell.value)


def _spell_came(failing: Failing) -> str:
    """What came in a wrong cell, a missing one as NULL."""
    came = failing.finding.came
    return value(None if came is NOT_THERE else came)
