"""Hints beside a wrong value: the other image's, another row's, a shift of time, a lost fraction,
sign or bit width.
"""

import datetime as dt
import json
from decimal import Decimal

import pytest
from text_tables import rows

from conformance.judging.causes import cause, relation_of
from conformance.judging.compare import Typed
from conformance.judging.compared_units import cell_of, change_of
from conformance.judging.findings import Finding
from conformance.judging.relations_of_fields import relate_fields
from conformance.judging.relations_of_numbers import find_widths
from conformance.judging.sentences import describe_relation
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Deployment, Json, Kind, Message, Op, State, Written
from generators.sources import mysql

TYPES = mysql.TYPES
SHANGHAI = 8 * 3600 * mysql.MICROS


def cell(kind, value, text):
    return Cell(State.VALUE, TYPES[kind], value, text, cls="plain")


def hinted(expected, actual, level=1, before=None, others=()):
    """The hint for an UPDATE's after image with a wrong column `c`; `others` are that column in
    further rows.
    """

    def update(n, owed):
        return Change(
            n,
            Kind.ROW,
            Op.UPDATE,
            before={"c": before or Cell(State.ABSENT, owed.type)},
            after={"c": owed},
        )

    changes = tuple(update(n, owed) for n, owed in enumerate((expected, *others)))
    case = Case(
        "x/v1/c",
        "x",
        "v1",
        Deployment(),
        level,
        (),
        (Written(Message("cdc", 0, None, b"{}"), changes),),
    )
    finding = Finding(
        case.id, "x/r", 0, 0, Aspect.VALUE, "after['c']", "", "", "after", "c", came=actual
    )
    assert cell_of(finding, case) is expected
    assert change_of(finding, case) is changes[0]
    relation = cause(finding, case).relation
    return describe_relation(relation) if relation else ""


@pytest.mark.parametrize(
    ("kind", "text", "actual", "hint"),
    [
        *(json.loads(line) for (line,) in rows(__file__, "relations.txt")),
        ("varchar", "x" * 900, "x" * 255, "cut after 255 of 900 characters"),
    ],
)
def test_the_relation_of_texts(kind, text, actual, hint):
    value = text
    if TYPES[kind].logical in ("int", "decimal"):
        value = Decimal(text)
    elif TYPES[kind].logical == "bit":
        value = int(text)
    elif TYPES[kind].logical == "double":
        value = float(text)
    elif TYPES[kind].logical == "json":
        value = Json(json.loads(text), text)
    assert hinted(cell(kind, value, text), actual) == hint


@pytest.mark.parametrize(
    ("kind", "value", "actual", "hint"),
    [
        ("timestamp-0", 0, Typed("timestamp", -SHANGHAI), ""),
        ("datetime-6", 1_500_000, Typed("timestamp_ntz", 1_000_000), "equal but for the fraction"),
        (
            "date",
            dt.date(2024, 1, 2),
            Typed("date", dt.date(2024, 1, 1)),
            "1 day earlier",
        ),
        ("time-6", 3_600_000_000, Typed("interval", 0), "1 h earlier"),
        ("time-0", 3_600_000_000, Typed("string", "02:00:00"), "1 h later"),
        ("int", 1, Typed("string", "1"), "equal but for the Spark type"),
        ("decimal-10-2", Decimal("1.50"), Typed("decimal", 1), "equal but for the fraction"),
        ("unsigned-bigint", 1 << 63, Typed("int", -(1 << 63)), "differs by 2^64"),
        ("varchar", "a ", Typed("string", "a"), "equal but for blanks at the end"),
        ("year", 1901, Typed("int", 1), "its last two digits"),
        ("year", 1999, Typed("int", 9), ""),
        ("blob", b"\xd7m\xf8", Typed("binary", b"1234"), "its bytes come as base64"),
        ("blob", b"\xd7", Typed("binary", b"d7"), "its bytes come as hexadecimal digits"),
        (
            "blob",
            b"\xd7",
            Typed("binary", b"0xd7"),
            "its bytes come as hexadecimal digits after 0x",
        ),
    ],
)
def test_the_relation_of_typed_values(kind, value, actual, hint):
    expected = cell(kind, value, "?")
    assert hinted(expected, actual, level=2) == hint


@pytest.mark.parametrize("expected", ["NaN", "Infinity", "-Infinity", "1.5", str(2**70)])
def test_what_is_no_integer_or_too_large_has_no_lowest_bits(expected):
    assert find_widths(Decimal(expected), Decimal(0)) == frozenset()
    assert 32 in find_widths(Decimal(2**32), Decimal(0))


def test_a_value_of_the_other_image_or_of_another_row_is_named():
    right, old, other = (cell("int", n, str(n)) for n in (5, 7, 9))
    assert hinted(right, "7", before=old) == "the actual value is the before image's"
    assert hinted(right, "9", others=(old, other)) == "the actual value is row 2's"
    assert (
        hinted(right, Typed("int", 7), level=2, before=old)
        == "the actual value is the before image's"
    )
    # It is another image's, too, but as it should be.
    assert (
        hinted(right, Typed("string", "5"), level=2, before=right) == "equal but for the Spark type"
    )


def test_an_uncertain_value_has_no_difference():
    one_of = Cell(State.ONE_OF, TYPES["timestamp-0"], text="2024-01-02 03:04:05", options=(1, 2))
    assert hinted(one_of, "2024-01-02 11:04:05") == ""


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (("ROW",), "accepts the fault truncated"),
        ((), "gives nothing for the fault truncated"),
    ],
)
def test_an_unreadable_message_that_vanishes_is_not_accepted(kinds, words):
    written = Written(Message("cdc", 0, None, b"{"), (Change(0, Kind.CORRUPT),))
    case = Case("x/v1/c", "x", "v1", Deployment(), 1, (), (written,), fault="truncated")
    reason = cause(
        Finding(case.id, "x/r", 0, 0, Aspect.ACCEPTED, "kind", "", "", came=kinds),
        case,
    )
    assert (reason.key, reason.words) == ("accepted: fault truncated", words)


@pytest.mark.parametrize(
    ("name", "owed", "came", "words"),
    [
        ("keys", ["a", "b"], ["b", "a"], "the same in another order"),
        ("keys", ["a", "b"], ["a"], "some of its members are not there"),
        ("keys", ["a"], ["a", "a"], "it has members that it does not owe"),
        ("keys", [], ["a"], "it has a value where none is owed"),
        ("keys", ["a"], ["b", "c"], ""),
        ("types", {"a": "int"}, {"a": "int", "b": "int"}, "it has members that it does not owe"),
        ("types", {"a": "int", "b": "int"}, {"a": "int"}, "some of its members are not there"),
        ("types", {"a": "varchar(64)"}, {"a": "varchar"}, "cut before a bracket"),
        ("types", {"a": "int"}, {"b": "text"}, ""),
        ("position", "9007199254740993", "9007199254740992", "equal as a double"),
        ("position", "4294967297000", "4294966296", ""),
        ("position", "17179869185", "1", "its lowest 32 bits"),
        ("table", "t:/,[0]", ",[0]", "without its beginning up to a slash"),
        ("sql", "TRUNCATE t", None, "it comes as NULL"),
        ("sql", None, "INSERT", "it has a value where none is owed"),
    ],
)
def test_the_relation_of_envelope_columns(name, owed, came, words):
    relation = relate_fields(name, owed, came)
    assert (describe_relation(relation) if relation else "") == words


def test_the_members_of_a_set_in_another_order():
    assert hinted(cell("set", 5, "a,c"), "c,a") == "the same in another order"


def test_a_value_for_null_that_an_earlier_row_had_is_named():
    """It is told before a column of the same row that has the value, too."""
    value, null = cell("int", 7, "7"), Cell(State.NULL, TYPES["int"])
    rows_of_messages = ({"c": value, "d": value}, {"c": null, "d": value})
    written = tuple(
        Written(
            Message("cdc", 0, None, b"{}"), (Change(0, Kind.ROW, Op.INSERT, table="t", after=row),)
        )
        for row in rows_of_messages
    )
    case = Case("x/v1/c", "x", "v1", Deployment(), 1, (), written)
    finding = Finding(
        case.id, "x/r", 1, 0, Aspect.NULL, "after['c']", "", "", "after", "c", came="7"
    )
    relation = relation_of(finding, case)
    assert describe_relation(relation) == "the actual value is an earlier row's"
