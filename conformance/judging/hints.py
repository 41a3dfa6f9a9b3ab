"""Hints beside a wrong value: how the actual value relates to the expected one, or where else in
the message it stands.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Final

from conformance.judging import wording
from conformance.judging.judge import Finding
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Logical, State

_FAMILY: Final = re.compile(
    r"(.*) \((?P<kind>[a-z][a-z_0-9<>, ()]*)\)(?P<off>, .* time zone is .*)?", re.DOTALL
)
"""A typed value: its text, the family of its type, and the difference of an instant, if stated."""
_MOMENT: Final = re.compile(
    r"(?:(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d))?[T ]?"
    r"(?:(?P<sign>-?)(?P<h>\d{1,3}):(?P<i>\d\d):(?P<s>\d\d)(?:[.](?P<f>\d{1,6}))?)?Z?"
)
_ZEROS: Final = re.compile(r"[ T]00:00:00(\.0+)?Z?$|\.0+Z?$|(?<=\.\d)0+Z?$|Z$|(?<=\d)[ T](?=\d)")
"""Midnight, zeros that end a fraction, and what stands between a date and a clock and behind both.
"""
_CLIPPED: Final = re.compile(r"(.*)\.\.\. \((\d+) characters\)", re.DOTALL)
DIFFERS: Final = "differs by"
SIGN: Final = "equal but for the sign"
WITHOUT: Final = "equal but for lost"
WITH: Final = "equal but for added"
OTHER: Final = "equal but for what stands for"
CHARACTERS: Final = (
    ("blanks", r"[ \t]+"),
    ("line ends", r"[\r\n]+"),
    ("control characters", r"[\x00-\x1f\x7f-\x9f]+"),
    ("backslashes", r"\\+"),
    ("quotes", r"[\"'`]+"),
    ("signs of markup", r"[<>&]+"),
    ("replacement characters", "\ufffd+"),
    ("characters beyond the basic plane", r"[\U00010000-\U0010ffff]+"),
    ("characters beyond ASCII", r"[^\x00-\x7f]+"),
)
"""The sorts of characters that decoders lose, narrow ones first."""
CASE: Final = "equal but for upper and lower case"
ENDS: Final = "equal but for blanks at the ends"
FORM: Final = "equal but for how it is written"
WIDER: Final = {
    **{
        f"{said} {sort}": f"{said} characters beyond ASCII"
        for said in (WITHOUT, OTHER)
        for sort in ("replacement characters", "characters beyond the basic plane")
    },
    ENDS: f"{WITHOUT} blanks",
}
"""Hints, and what they are part of where both are said."""
OF_TEXTS: Final = (WITHOUT, WITH, OTHER, CASE, ENDS, FORM)
"""Beginnings of hints on the characters of a text."""
TYPE: Final = "equal but for the Spark type"
COLUMN: Final = "the actual value is column "
FRACTION: Final = "equal but for the fraction"
_SECOND: Final = 1_000_000
_UNITS: Final = (
    ("day", 86_400 * _SECOND),
    ("h", 3_600 * _SECOND),
    ("min", 60 * _SECOND),
    ("s", _SECOND),
)
_CLOCKS: Final = frozenset({Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME})
_OF_CHARACTERS: Final = frozenset({Logical.BINARY, Logical.JSON, Logical.ENUM, Logical.SET})
"""Types of values that are no texts, but are texts on the wire."""
_WRAPS: Final = {1 << bits: bits for bits in (8, 16, 24, 32, 64)}


def hint(
    finding: Finding,
    case: Case,
    change: Change | None,
    cell: Cell | None,
    *,
    elsewhere: bool = True,
) -> str:
    """The relation of a wrong cell's actual value to the message; "" if it shows none. Where it is
    by chance that another image or row holds the value, `elsewhere` is false.
    """
    if (
        change is None
        or cell is None
        or finding.aspect not in (Aspect.VALUE, Aspect.NULL)
        or finding.actual == "NULL"
    ):
        return ""
    actual = held_text(finding.actual, case.level)
    relation = (
        _elsewhere(finding, case, change, actual)
        if elsewhere and _text(cell, case.level) != actual
        else ""
    )
    relation = (
        relation or _difference(cell, case.level, actual) or _column(finding, case, change, actual)
    )
    off = (match := _FAMILY.fullmatch(finding.actual)) and match["off"] if case.level == 2 else ""
    return "" if off and relation.startswith(DIFFERS) else relation


def held_text(shown: str, level: int) -> str:
    """An actual value without what is told of its type."""
    match = _FAMILY.fullmatch(shown) if level == 2 else None
    return match[1] if match else shown


def owed_text(cell: Cell | None, level: int) -> str:
    """An expected value as a finding shows it, without its type."""
    return (_text(cell, level) if cell else None) or "NULL"


def kind_of(shown: str) -> str:
    """The Spark type of a typed value; "" for NULL."""
    match = _FAMILY.fullmatch(shown)
    return match["kind"] if match else ""


def _text(cell: Cell, level: int) -> str | None:
    """A cell's expected value as a finding shows it."""
    if cell.state is not State.VALUE or (level == 1 and cell.text is None):
        return None
    return wording.cell(cell, level).removesuffix(f" ({cell.type.key})" if level == 2 else "")


def _elsewhere(finding: Finding, case: Case, change: Change, actual: str) -> str:
    """The other image, or another row of the message, that holds the actual value in this
    column.
    """
    side, column, level = finding.side, finding.column or "", case.level
    other = "before" if side == "after" else "after"

    def held(row: Change, image: str) -> bool:
        cell = (row.image(image, level) or {}).get(column)
        return cell is not None and _text(cell, level) == actual

    if held(change, other):
        return f"the actual value is the {other} image's"
    for row in case.written[finding.message].changes:
        if row.row != change.row and held(row, side):
            return f"the actual value is row {row.row}'s"
    return ""


def _column(finding: Finding, case: Case, change: Change, actual: str) -> str:
    """The other column of the image that holds the actual value."""
    image = (change.image(finding.side, case.level) or {}).items()
    held = (
        name for name, cell in image if name != finding.column and _text(cell, case.level) == actual
    )
    return next((f"{COLUMN}{name}'s" for name in held), "")


def texts(expected: str, actual: str) -> str:
    """How two texts are related; "" if they show no relation."""
    return "" if "NULL" in (expected, actual) else _texts(_unquoted(expected), _unquoted(actual))


def _difference(cell: Cell, level: int, actual: str) -> str:
    expected = _text(cell, level)
    if expected is None:
        return ""
    if expected == actual:
        return TYPE
    if cell.type.logical in _CLOCKS:
        words, same = (
            _clock(_micros(expected), _micros(actual)),
            _micros(expected) == _micros(actual) is not None,
        )
        same = same or _ZEROS.sub("", expected) == _ZEROS.sub("", actual)
    elif isinstance(cell.value, str):
        return texts(expected, actual)
    else:
        words, same = _numbers(expected, actual)
        words = words or TYPE * (same and level == 2)
        return (
            texts(expected, actual)
            if level == 1 and cell.type.logical in _OF_CHARACTERS and not (words or same)
            else words
        )
    return words or (TYPE if level == 2 else FORM) * same


def _clock(expected: int | None, actual: int | None) -> str:
    if expected is None or actual is None or expected == actual:
        return ""
    if expected // _SECOND == actual // _SECOND or (
        expected < 0 and actual == -(-expected // _SECOND) * _SECOND
    ):
        return FRACTION
    if expected == -actual:
        return SIGN
    difference = abs(actual - expected)
    for name, size in _UNITS:
        whole, rest = divmod(difference, size)
        if whole and not rest:
            plural = "s" if name == "day" and whole > 1 else ""
            return (
                f"{DIFFERS} {whole:,} {name}{plural}"
                f" ({'later' if actual > expected else 'earlier'})"
            )
    return ""


def _micros(text: str) -> int | None:
    """Microseconds of a number, a date, a time of day, or both."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    match = _MOMENT.fullmatch(text)
    if match is None or not (match["y"] or match["h"]):
        return None
    days = _days(int(match["y"]), int(match["m"]), int(match["d"])) if match["y"] else 0
    if days is None or not match["h"]:
        return days
    clock = (int(match["h"]) * 3600 + int(match["i"]) * 60 + int(match["s"])) * _SECOND + int(
        (match["f"] or "").ljust(6, "0")
    )
    return days + (-clock if match["sign"] else clock)


def _days(year: int, month: int, day: int) -> int | None:
    try:
        return (dt.date(year, month, day) - dt.date(1970, 1, 1)).days * 86_400 * _SECOND
    except ValueError:
        return None


def _unquoted(text: str) -> str:
    return (
        text[1:-1]
        if len(text) > 1 and text[0] == text[-1] == "'" and wording.quoted(text[1:-1]) == text
        else text
    )


def _texts(expected: str, actual: str) -> str:
    if expected.casefold() == actual.casefold():
        return CASE
    if expected.strip() == actual.strip():
        return ENDS
    longer, shorter = _CLIPPED.fullmatch(expected), _CLIPPED.fullmatch(actual)
    size, of = (
        int(some[2]) if some else len(text)
        for some, text in ((shorter, actual), (longer, expected))
    )
    if 0 < size < of and (longer[1] if longer else expected).startswith(
        shorter[1] if shorter else actual
    ):
        return f"cut after {size:,} of {of:,} characters"
    for said, some in ((WITHOUT, _lost(expected, actual)), (WITH, _lost(actual, expected))):
        for sort, pattern in CHARACTERS if some else ():
            if re.fullmatch(pattern, some):
                return f"{said} {sort}"
    return next(
        (
            f"{OTHER} {sort}"
            for sort, pattern in CHARACTERS
            if _is_without(expected, actual, pattern)
        ),
        "",
    )


def _is_without(expected: str, actual: str, pattern: str) -> bool:
    """Whether all that stands beside characters of a sort is there."""
    first, *rest = re.split(pattern, expected)
    at = len(first)
    if (
        not rest
        or not any((first, *rest))
        or not actual.startswith(first)
        or not actual.endswith(rest[-1])
    ):
        return False
    for part in rest[:-1]:
        start = actual.find(part, at)
        if start < 0:
            return False
        at = start + len(part)
    return at <= len(actual) - len(rest[-1])


def _lost(text: str, rest: str) -> str:
    """The characters that were left out of the text, if nothing else was done to it."""
    lost, at = [], 0
    for character in text:
        if at < len(rest) and rest[at] == character:
            at += 1
        else:
            lost.append(character)
    return "".join(lost) if at == len(rest) else ""


def _numbers(expected: str, actual: str) -> tuple[str, bool]:
    """How two numbers are related, and whether they are equal."""
    try:
        want, got = Decimal(expected), Decimal(actual)
        if want == got == 0 and want.is_signed() != got.is_signed():
            return SIGN, False
        if not (want.is_finite() and got.is_finite()) or want == got:
            return "", want == got
        return _of_numbers(want, got), False
    except (ArithmeticError, ValueError):
        return "", False


def _of_numbers(want: Decimal, got: Decimal) -> str:
    if abs(want - got) in _WRAPS:
        return f"{DIFFERS} 2^{_WRAPS[int(abs(want - got))]}"
    if want == -got:
        return SIGN
    if want.to_integral_value() != want and got in (int(want), round(want)):
        return FRACTION
    return "equal as a double" if float(want) == float(got) else ""
