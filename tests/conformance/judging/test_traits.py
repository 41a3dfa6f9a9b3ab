"""What a unit of a run has, among which what its failing units share is looked for."""

from dataclasses import replace
from decimal import Decimal

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.contents import describe_content, text_day
from conformance.judging.suspects import row_suspects
from conformance.judging.trait_sorts import KEYS, RANKS, SORTS, Trait, key_of_trait
from conformance.judging.traits import RunTraits
from conformance.judging.wording import words_of
from generators.model import (
    Case,
    Cell,
    Change,
    Deployment,
    Kind,
    Logical,
    Message,
    Op,
    State,
    Written,
)
from generators.sources import mysql, postgresql
from generators.wire_format import FORMATS, get

NUMERIC = postgresql.numeric(20, 4)
TEXT = mysql.text()


def case_of(*messages):
    """A case of level one with these messages, each a value and the changes that it owes."""
    written = tuple(
        Written(Message("t", 0, None, value), tuple(changes)) for value, changes in messages
    )
    return Case("f/1/c", "f", "1", Deployment(), 1, (), written)


def row_of(**cells):
    return Change(0, Kind.ROW, Op.INSERT, after=cells)


@pytest.mark.parametrize(
    ("number", "precision"),
    [
        ("0.5", set()),
        ("0.1", {"that no float holds"}),
        ("0.12345678901234567890", {"that no float holds", "that no double holds"}),
        ("NaN", set()),
        ("Infinity", set()),
    ],
)
def test_a_number_that_a_type_of_spark_does_not_hold(number, precision):
    cell = Cell(State.VALUE, NUMERIC, Decimal(number), number)
    change = row_of(n=cell)
    case = case_of((b"{}", [change]))
    traits = RunTraits.gather([case]).of_cell(case, change, "after", "n", cell)
    words = {trait[-1] for trait in traits if trait[0] == "held"}
    assert {word for word in words if word.startswith("that no ")} == precision


def test_the_message_before_is_the_last_one_with_rows():
    first, last = row_of(a=Cell(State.VALUE, TEXT, "x", "x")), row_of(a=Cell(State.NULL, TEXT))
    statement = Change(0, Kind.DDL, sql="CREATE TABLE t (a text)")
    case = case_of((b"1", [first]), (b"2", [statement]), (b"3", []), (b"4", [last]))
    traits = RunTraits.gather([case])
    assert traits.of_earlier_columns(case, 3, last, "after", "a") == {("value-before",)}
    assert traits.of_earlier_columns(case, 0, first, "after", "a") == set()


def test_a_row_may_equal_one_of_the_message_before_and_stand_behind_a_limit():
    x, y = (row_of(a=Cell(State.VALUE, TEXT, letter, letter)) for letter in "xy")
    many = [replace(y, row=number) for number in range(101)]
    case = case_of((b"1", [x]), (b"2", [*many[:100], replace(x, row=100)]), (b"3", [x]))
    traits = RunTraits.gather([case])
    first, last = (traits.traits_of_row(case, 1, case.written[1].changes[n]) for n in (0, 100))
    assert ("same-row-as-before",) in last - first
    assert ("same-row-as-before",) in traits.traits_of_row(case, 2, x)
    assert ("behind-rows", "100") in last - first
    assert ("behind-rows", "1,000") not in last


def test_the_two_instants_of_an_ambiguous_hour_are_of_one_day():
    hour = 3_600_000_000
    instants = tuple(1_730_610_000_000_000 + hours * hour for hours in (0, 1))
    cell = Cell(State.ONE_OF, mysql.TYPES["timestamp-0"], options=instants)
    assert text_day(cell, 2) == "2024-11-03"
    days_apart = replace(cell, options=(instants[0], instants[0] - 24 * hour))
    assert text_day(days_apart, 2) == ""


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0.1, set()),
        (1.100000023841858, {"of over 15 digits", "of over 15 significant digits"}),
    ],
)
def test_a_float_has_the_digits_that_tell_it_from_others(number, words):
    """Of 32 bits the number nearest to 1.1 has two digits; as a double it has sixteen."""
    for kind, expected in (("float", set()), ("double", words)):
        cell = Cell(State.VALUE, mysql.TYPES[kind], number, None)
        change = row_of(n=cell)
        case = case_of((b"{}", [change]))
        traits = RunTraits.gather([case]).of_cell(case, change, "after", "n", cell)
        assert {trait[-1] for trait in traits if trait[-1].startswith("of over 15")} == expected


@pytest.mark.parametrize(
    ("value", "members"),
    [
        (
            b'{"a":null,"payload":{"b":[]},"c":1}',
            {("null", "a"), ("empty", "payload.b")},
        ),
        (b"no JSON", set()),
        (b"[" * 5000 + b"]" * 5000, set()),
    ],
)
def test_an_unreadable_message_has_the_members_that_are_empty(value, members):
    """A document that is too deep to be read has none; it ended the run."""
    case = case_of((value, [Change(0, Kind.CORRUPT)]))
    traits = RunTraits.gather([case]).of_fault(case, 0)
    assert {trait for trait in traits if trait[0] in ("null", "empty")} == members


def test_every_sort_of_traits_of_a_mistake_has_a_rank_and_a_sentence():
    assert set(RANKS) == set(SORTS)


@pytest.mark.parametrize("name", FORMATS)
def test_each_trait_of_a_row_that_a_cause_may_name_has_a_key_and_each_class_has_words(name):
    """A cause names a trait by its key: a sort without one would end the run that finds it."""
    fmt = get(name)
    suspects = set[Trait]()
    for case in named_cases(fmt, fmt.profiles[-1:]):
        for written in case.written:
            for change in written.changes:
                if change.kind is Kind.ROW:
                    suspects |= row_suspects(case, written.changes, change)
    assert suspects
    assert {sort for sort, *_ in suspects} <= set(KEYS)
    assert all(key_of_trait(suspect) for suspect in suspects)
    classes = {words[2] for sort, *words in suspects if sort == "cell" and len(words) == 3}
    assert classes <= set(words_of("classes"))


def test_what_a_number_contains_does_not_depend_on_an_equal_one_before():
    assert describe_content(100, Logical.DECIMAL) == ("that is over 1",)
    assert describe_content(Decimal("1E2"), Logical.DECIMAL) == ()
    assert "of over 15 digits" in describe_content(Decimal("1." + 15 * "0"), Logical.DECIMAL)
    assert describe_content(Decimal(1), Logical.DECIMAL) == ()


def test_zero_has_no_places_however_it_is_written():
    assert describe_content(Decimal("0E-10"), Logical.DECIMAL) == ("that is 0",)


@pytest.mark.parametrize(
    ("number", "has_more"), [(-32_768, False), (-32_769, True), (32_767, False), (32_768, True)]
)
def test_the_lowest_number_of_a_variable_has_no_bit_more_than_others(number, has_more):
    assert ("of over 15 bits" in describe_content(number, Logical.INT)) is has_more


def test_a_cell_of_cases_of_both_levels_has_the_traits_of_each_level():
    cell = Cell(State.VALUE, NUMERIC, Decimal("0.5"), "0.5")
    change = row_of(n=cell)
    of_wire = case_of((b"{}", [change]))
    of_types = replace(of_wire, id="f/1/d", level=2)
    run_traits = RunTraits.gather([of_wire, of_types])
    no_text = [
        ("no-text",) in run_traits.of_cell(case, change, "after", "n", cell)
        for case in (of_wire, of_types)
    ]
    assert no_text == [False, True]
