"""Hints beside a wrong value: the other image's, another row's, a shift of time, a lost fraction, sign or bit width."""

import datetime as dt
from decimal import Decimal

import pytest

from conformance.judging import wording
from conformance.judging.causes import cause, cell_of, change_of
from conformance.judging.compare import Typed
from conformance.judging.judge import Finding
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Deployment, Kind, Message, Op, State, Written
from generators.sources import mysql

TYPES = mysql.TYPES
SHANGHAI = 8 * 3600 * mysql.MICROS


def cell(kind, value, text):
    return Cell(State.VALUE, TYPES[kind], value, text, cls="plain")


def hinted(expected, actual, level=1, before=None, others=()):
    """The hint for an UPDATE's after image with a wrong column `c`; `others` are that column in further rows."""
    rows = (expected, *others)
    changes = tuple(
        Change(n, Kind.ROW, Op.UPDATE, before={"c": before or Cell(State.ABSENT, one.type)}, after={"c": one})
        for n, one in enumerate(rows)
    )
    case = Case("x/v1/c", "x", "v1", Deployment(), level, (), (Written(Message("cdc", 0, None, b"{}"), changes),))
    finding = Finding(case.id, "x/r", 0, 0, Aspect.VALUE, "after['c']", "", actual, "after", "c")
    assert cell_of(finding, case) is expected
    assert change_of(finding, case) is changes[0]
    return cause(finding, case).hint


LOST = "equal but for lost characters"


@pytest.mark.parametrize(
    ("kind", "value", "text", "actual", "hint"),
    [
        ("datetime-6", 0, "2024-01-02 03:04:05", "2024-01-01 19:04:05", "differs by 8 h (earlier)"),
        ("datetime-6", 0, "2024-01-02 03:04:05", "2024-01-02T03:34:05", "differs by 30 min (later)"),
        ("datetime-6", 0, "2024-01-02 03:04:05.678901", "2024-01-02 03:04:05.678", "equal but for the fraction"),
        ("date", 0, "2024-01-02", "2024-01-01", "differs by 1 day (earlier)"),
        *(("date", 0, "2024-01-02", "2024-01-05", "differs by 3 days (later)"), ("date", 0, "2024-01-02", "1999-13-45", "")),
        ("time-0", 0, "-01:00:00", "01:00:00", "equal but for the sign"),
        ("time-3", 0, "01:00:00.500", "01:00:00", "equal but for the fraction"),
        ("time-3", 0, "-01:00:00.500", "-01:00:00", "equal but for the fraction"),
        *(("time-3", 0, "01:00:00.500", "01:00:01", ""), ("int", 5, "5", "-5", "equal but for the sign")),
        ("unsigned-bigint", 0, "18446744073709551615", "-1", "differs by 2^64"),
        *(("bigint", 0, "9007199254740993", "9007199254740992", "equal as a double"), ("int", 5, "5", "6", "")),
        *(("int", 5, "5", "five", ""), ("varchar", "Ab", "Ab", "AB", "equal but for upper and lower case")),
        ("varchar", "a ", "a ", "a", "equal but for blanks at the ends"),
        *(("varchar", "abcd", "abcd", "ab", "cut after 2 of 4 characters"), ("varchar", "abcd", "abcd", "", "")),
        ("varchar", "x" * 900, "x" * 900, "x" * 255, "cut after 255 of 900 characters"),
        *(("varchar", "a b", "a b", "ab", "equal but for lost blanks"), ("varchar", "éa", "éa", "a", f"{LOST} beyond ASCII")),
        *(("varchar", "\x01a", "\x01a", "a", "equal but for lost control characters"), ("varchar", "ab", "ab", "ca", "")),
        ("varchar", "\\n", "\\n", "n", "equal but for lost backslashes"),
        ("varchar", "a\nb", "a\nb", "a\\nb", "equal but for what stands for line ends"),
        ("varchar", "a<b>c", "a<b>c", "a&lt;b&gt;c", "equal but for what stands for signs of markup"),
        *(("varchar", "\n", "\n", "x", ""), ("varchar", "a\nb\nc", "a\nb\nc", "axc", "")),
        ("datetime-3", 0, "0000-00-00 00:00:00.000", "0000-00-00 00:00:00", "equal but for how it is written"),
        ("date", 0, "0000-00-00", "0000-00-00 00:00:00", "equal but for how it is written"),
        ("timestamp-0", 0, "0000-00-00 00:00:00", "0000-00-00 00:00:00Z", "equal but for how it is written"),
        ("datetime-3", 0, "2024-00-00 01:02:03.500", "2024-00-00T01:02:03.500", "equal but for how it is written"),
        ("datetime-3", 0, "2024-00-00 01:02:03.500", "2024-00-00T01:02:04.500", ""),
        ("decimal-10-2", Decimal(0), "-0.00", "0.00", "equal but for the sign"),
        # The difference of such numbers is no Decimal.
        ("decimal-10-2", Decimal(1), "1E+999999", "-9E+999999", ""),
        *(("varchar", "it's", "it's", "it''s", "equal but for added quotes"), ("varchar", "a b\\", "a b\\", "ab", "")),
    ],
)
def test_the_relation_of_texts(kind, value, text, actual, hint):
    assert hinted(cell(kind, value, text), actual) == hint


@pytest.mark.parametrize(
    ("kind", "value", "actual", "hint"),
    [
        ("timestamp-0", 0, Typed("timestamp", -SHANGHAI), ""),
        ("datetime-6", 1_500_000, Typed("timestamp_ntz", 1_000_000), "equal but for the fraction"),
        ("date", dt.date(2024, 1, 2), Typed("date", dt.date(2024, 1, 1)), "differs by 1 day (earlier)"),
        ("time-6", 3_600_000_000, Typed("interval", 0), "differs by 1 h (earlier)"),
        ("time-0", 3_600_000_000, Typed("string", "02:00:00"), "differs by 1 h (later)"),
        ("int", 1, Typed("string", "1"), "equal but for the Spark type"),
        ("decimal-10-2", Decimal("1.50"), Typed("decimal", 1), "equal but for the fraction"),
        ("unsigned-bigint", 1 << 63, Typed("int", -(1 << 63)), "differs by 2^64"),
        ("varchar", "a ", Typed("string", "a"), "equal but for blanks at the ends"),
    ],
)
def test_the_relation_of_typed_values(kind, value, actual, hint):
    expected = cell(kind, value, "?")
    assert hinted(expected, wording.typed(actual) + wording.shift(expected, actual, "UTC"), level=2) == hint


def test_a_value_of_the_other_image_or_of_another_row_is_named():
    right, old, other = (cell("int", n, str(n)) for n in (5, 7, 9))
    assert hinted(right, "7", before=old) == "the actual value is the before image's"
    assert hinted(right, "9", others=(old, other)) == "the actual value is row 2's"
    assert hinted(right, "7 (int)", level=2, before=old) == "the actual value is the before image's"
    # It is another image's, too, but as it should be.
    assert hinted(right, "5 (string)", level=2, before=right) == "equal but for the Spark type"


def test_an_uncertain_value_has_no_difference():
    one_of = Cell(State.ONE_OF, TYPES["timestamp-0"], text="2024-01-02 03:04:05", options=(1, 2))
    assert hinted(one_of, "2024-01-02 11:04:05") == ""


@pytest.mark.parametrize(
    ("actual", "words"),
    [("ROW INSERT {}", "accepts the fault truncated"), ("no output row", "gives nothing for the fault truncated")],
)
def test_an_unreadable_message_that_vanishes_is_not_accepted(actual, words):
    written = Written(Message("cdc", 0, None, b"{"), (Change(0, Kind.CORRUPT),))
    case = Case("x/v1/c", "x", "v1", Deployment(), 1, (), (written,), fault="truncated")
    told = cause(Finding(case.id, "x/r", 0, 0, Aspect.ACCEPTED, "kind", "exactly one CORRUPT row", actual), case)
    assert (told.key, told.words) == ("accepted: fault truncated", words)
