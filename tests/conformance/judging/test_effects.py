"""What all units of a mistake show together: owed values and what came beside the words."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from conformance.judging.compare import Typed
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.effects import with_effect
from conformance.judging.effects_on_texts import name_letters
from conformance.judging.findings import NOT_THERE, CaseResult, Finding, Verdict
from conformance.judging.index import Failing
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.sentences import describe_relation
from conformance.judging.unified_families import unify_families
from conformance.rules.rules import Aspect
from generators.model import (
    Case,
    Cell,
    Change,
    Deployment,
    Json,
    Kind,
    Message,
    Op,
    State,
    Written,
    ZeroDate,
)
from generators.sources import mysql

WRONG = DeviationKind.VALUE_WRONG
SECOND = 1_000_000
DATETIME = mysql.TYPES["datetime-6"]
DATE = mysql.TYPES["date"]
DOUBLE = mysql.TYPES["double"]
SET = mysql.set_of("a", "b", "c")
JSON = mysql.json()
TEXT = mysql.text()


def failing_cells(*images, side="after", level=2):
    """A failing cell for each (owed cells, column, what came): each in a row of its own message."""
    changes = [
        Change(0, Kind.ROW, Op.INSERT, database="d", schema="s", table="t", **{side: owed})
        for owed, _, _ in images
    ]
    written = tuple(Written(Message("t", 0, None, b"{}"), (change,)) for change in changes)
    case = Case("f/1/c", "f", "1", Deployment(), level, (), written)
    result = CaseResult(case, Verdict.FAIL)
    failings = []
    for number, (owed, column, came) in enumerate(images):
        finding = Finding(
            case.id,
            "f/cell",
            number,
            0,
            Aspect.VALUE,
            f"{side}['{column}']",
            "",
            "",
            side,
            column,
            owed=owed.get(column),
            came=came,
        )
        unit = case.id, number, 0, side, column
        failings.append(Failing(unit, frozenset(), finding, result))
    return failings


def words_of_values(type, pairs, relation=None):
    """The words of the relation that all wrong values have."""
    images = [({"c": Cell(State.VALUE, type, owed, None)}, "c", came) for owed, came in pairs]
    deviation = with_effect(Deviation(WRONG, relation=relation), failing_cells(*images))
    return describe_relation(deviation.relation) if deviation.relation else ""


def numbers(*pairs, family="decimal"):
    return [(Decimal(owed), Typed(family, Decimal(came))) for owed, came in pairs]


def times(*pairs):
    return [(owed, Typed("timestamp_ntz", came)) for owed, came in pairs]


def texts(*pairs):
    return [(owed, Typed("string", came)) for owed, came in pairs]


def documents(*pairs):
    return [(Json(None, owed), Typed("string", came)) for owed, came in pairs]


@pytest.mark.parametrize(
    ("type", "pairs", "words"),
    [
        # Numbers: one value alone may show another relation than all.
        (
            mysql.decimal(20, 6),
            numbers(("1.239", "1.23"), ("0.001", "0.00"), ("-5.559", "-5.55")),
            "cut to 2 places behind the point",
        ),
        (
            mysql.decimal(20, 6),
            numbers(("1.239", "1.24"), ("0.001", "0.00")),
            "rounded to 2 places behind the point",
        ),
        (mysql.decimal(20, 6), numbers(("1.9", "1"), ("-1.9", "-1")), "without its fraction"),
        (mysql.decimal(20, 6), numbers(("1.9", "2"), ("1.2", "1")), "rounded to a whole number"),
        (
            mysql.decimal(65, 30),
            numbers(
                (
                    "1234567890123456789012345678901234567890.5",
                    "12345678901234567890123456789012345679E2",
                )
            ),
            "rounded to 38 digits",
        ),
        (
            DOUBLE,
            [(1.5e300, Typed("double", 1.5)), (2.5e-9, Typed("double", 2.5))],
            "its mantissa without the exponent",
        ),
        (mysql.decimal(20, 6), numbers(("1.5", "7.25"), ("2.5", "-3.5")), ""),
        (DOUBLE, [(5e-324, Typed("double", 0.0)), (1e-310, Typed("double", 0.0))], "it comes as 0"),
        # More digits between the two than any rounding keeps.
        (DOUBLE, [(1.7e308, Typed("double", 5e-324)), (2.5, Typed("double", 3e-300))], ""),
        # Times.
        (
            DATETIME,
            times((1_250_000, SECOND), (-250_000, -SECOND)),
            "without its fraction",
        ),
        (DATETIME, times((1_234_567, 1_234_000), (5, 0)), "its fraction is cut to 3 digits"),
        (
            DATETIME,
            times((1_999_000, 1_000 * SECOND), (2_000_005, 2_005_000)),
            "its fraction is a thousand times as large",
        ),
        (
            DATETIME,
            times((1_234_567, 1_235_000), (1_000_100, SECOND)),
            "its fraction is rounded to 3 digits",
        ),
        (DATETIME, times((1_600_000, 2 * SECOND), (1_400_000, SECOND)), "rounded to whole seconds"),
        (
            DATETIME,
            times((1_120_000, 1_000_120), (2_003_000, 2_000_003)),
            "its fraction is a thousandth",
        ),
        (
            DATETIME,
            times((1_120_000, 1_000_012), (2_003_000, 2_000_003)),
            "the digits of its fraction are taken for microseconds",
        ),
        (
            DATETIME,
            times((1_250_000, 1_250_001), (2_000_001, 2_000_009)),
            "equal but for the fraction",
        ),
        (
            mysql.TYPES["time-3"],
            [
                (83_599_000_000, Typed("interval", 83_580_000_000)),
                (-61 * SECOND, Typed("interval", -60 * SECOND)),
            ],
            "cut to the minute",
        ),
        (
            DATE,
            [
                (date(2024, 1, 2), Typed("date", date(1970, 1, 1))),
                (date(1000, 1, 1), Typed("date", date(1969, 12, 31))),
            ],
            "its days are taken for milliseconds",
        ),
        # Bits.
        (SET, [(5, Typed("double", float("nan"))), (6, Typed("double", float("inf")))], ""),
        (
            mysql.bit(4),
            [(1, Typed("int", 8)), (3, Typed("int", 12))],
            "its bits in reverse order",
        ),
        (
            mysql.bit(8),
            numbers(("101", "5"), ("127", "1"), ("20", "0")),
            "the digits 0 and 1 at its beginning are read as bits",
        ),
        (mysql.bit(64), numbers(("9223372036854775808", "0")), "without its highest bits"),
        (
            mysql.enum_of("a,b", "c"),
            [(1, Typed("string", "a\\,b"))],
            "its label has a backslash before each comma",
        ),
        (SET, numbers(("5", "1"), ("6", "2")), "its first member alone"),
        (SET, numbers(("5", "2"), ("7", "3")), "the number of its members"),
        # Documents.
        (JSON, documents(("[1.5, 2]", "[1, 2]")), "its numbers come without their fraction"),
        (JSON, documents(("[1]", '["1"]'), ("true", "true")), "its numbers come as texts"),
        (JSON, documents(("[true]", "[1]")), "its true and false come as 1 and 0"),
        (
            JSON,
            documents(('{"a": []}', '{"a": null}'), ("{}", "null")),
            "its empty objects and arrays come as null",
        ),
        (
            JSON,
            documents(('{"a": null, "b": 1}', '{"b": 1}'), ("[1, null]", "[1]")),
            "its nulls are not there",
        ),
        (JSON, documents(('"a \\" \\n"', '"a " \n"')), "its escapes are resolved once more"),
        (JSON, documents(('"x"', "x"), ('"a b"', "a b")), "its text comes without quotes"),
        (
            JSON,
            documents(('"he said \\"hi\\" <&>"', '"he said \\"hi\\" &lt;&amp;&gt;"')),
            "its texts come escaped as HTML",
        ),
        (JSON, documents(("[1.5]", "[1]"), ("[true]", "[1]")), ""),
        (
            JSON,
            documents(('{"a": {"b": 1}}', '{"A": {"B": 1}}'), ('[{"c": 1}]', '[{"C": 1}]')),
            "the names of its members come in capital letters",
        ),
        (
            JSON,
            documents(('{"aB": 1}', '{"ab": 1}')),
            "the names of its members come in small letters",
        ),
        (JSON, documents(("[1, [2]]", "1"), ('["x"]', '"x"')), "its first item alone"),
        (
            JSON,
            documents(('{"a": {}, "b": [1]}', '{"a": "{}", "b": "[1]"}')),
            "its inner objects and arrays come as texts",
        ),
        (
            JSON,
            documents(('{"a": " x\\n"}', '{"a": "x"}'), ('"b "', '"b"')),
            "its texts come without white space at their ends",
        ),
        (
            JSON,
            documents(("[1234567.125, 0.30000000000000004]", "[1234570.0, 0.3]")),
            "its numbers are rounded to fewer digits",
        ),
        # Years and bytes.
        (mysql.TYPES["year"], [(1901, Typed("string", "1901-01-01"))], "it comes as a date"),
        (mysql.TYPES["year"], numbers(("2024", "124"), ("1901", "1")), "counted from 1900"),
        (
            mysql.TYPES["binary"],
            [(b"a\xff\x80", Typed("binary", b"a??")), (b"\xd7", Typed("binary", b"?"))],
            "equal but for bytes beyond ASCII, for which `?` stands",
        ),
        (
            mysql.TYPES["binary"],
            [(b"\xffa", Typed("binary", b"\xef\xbf\xbda"))],
            "what is no UTF-8 in it comes as U+FFFD",
        ),
        # Texts.
        (
            TEXT,
            texts(("a\\nb", "a\nb"), ("\\u0041\\\\", "A\\")),
            "its escapes of JSON are resolved once more",
        ),
        (TEXT, texts(("e\u0301", "\u00e9")), "in the Unicode form NFC"),
        (TEXT, texts(("e\u0301\u00a0", "\u00e9 ")), "in the Unicode form NFKC"),
        (
            TEXT,
            texts(("\u4e2d", "\u00d6\u00d0"), ("a\U0001f600", "a?")),
            "its bytes of GBK read as Latin-1",
        ),
        (
            TEXT,
            texts(("a\u2028b\u2029", "a\nb\n")),
            "equal but for Unicode's line separators, for which a line feed stands",
        ),
        (TEXT, texts(("ab", "cd")), ""),
        (TEXT, texts(("Ab", "ab"), ("CD", "cd")), "in small letters"),
        (TEXT, texts(("Ab", "AB"), ("cd", "CD")), "in capital letters"),
        # One value for all.
        (TEXT, texts(("ab", "x"), ("cd", "x")), "it comes as x"),
        (TEXT, texts(("ab", ""), ("cd", "")), "it comes as an empty text"),
        (TEXT, texts(("ab", "x"), ("ab", "x")), ""),
        (
            DATE,
            [(ZeroDate(), Typed("date", date(1970, 1, 1)))],
            "it comes as the beginning of 1970",
        ),
        (
            DATE,
            [
                (date(2024, 1, 31), Typed("date", date(2024, 2, 28))),
                (date(2023, 12, 5), Typed("date", date(2024, 1, 5))),
            ],
            "in the next month",
        ),
    ],
)
def test_what_all_values_of_a_mistake_show(type, pairs, words):
    relations = {
        DATETIME: Relation(RelationKind.FRACTION),
        DOUBLE: Relation(RelationKind.DECIMAL_POINT),
    }
    relation = relations.get(type)
    assert words_of_values(type, pairs, relation) == (
        words if words or relation is None else describe_relation(relation)
    )


@pytest.mark.parametrize(
    ("relation", "pairs", "words"),
    [
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="signs of markup"),
            texts(("a<b", "a&lt;b"), ("c>d", "c&gt;d")),
            "escaped as HTML",
        ),
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="tabs"),
            texts(("a\tb", "a b"), ("c\td\te", "c d e")),
            "equal but for tabs, for which a blank stands",
        ),
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="tabs"),
            texts(("a\tb", "a b"), ("c\td", "c_d")),
            "equal but for what stands for tabs",
        ),
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="characters beyond ASCII"),
            texts(("a\u6c49\u5b57", "a??"), ("\u6c49b", "?b")),
            "equal but for characters beyond ASCII, for which a question mark stands",
        ),
        (
            Relation(RelationKind.LOST_BEGINNING),
            texts(("007", "7"), ("01", "1")),
            "equal but for lost leading zeros",
        ),
        (Relation(RelationKind.LOST_BEGINNING), texts(("ab7", "7")), "without its beginning"),
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="tabs"),
            texts(("a\tb", "a b"), ("c\td", "other")),
            "equal but for what stands for tabs",
        ),
        (
            Relation(RelationKind.REPLACED_CHARACTERS, name="tabs"),
            texts(("a\t" * 20_000, "a " * 20_000 + "!")),
            "equal but for what stands for tabs",
        ),
        (
            Relation(RelationKind.WRAP),
            [("-1", Typed("double", float("nan")))],
            "differs by a power of 2",
        ),
        (
            Relation(RelationKind.WRAP),
            numbers(("-1", "255"), ("-2", "65534")),
            "its bits are read as an unsigned number",
        ),
        (
            Relation(RelationKind.WRAP, 64),
            numbers(("18446744073709551615", "-1")),
            "its bits are read as a signed number",
        ),
        (
            Relation(RelationKind.CUT, 2, 4, "characters"),
            texts(("abcd", "ab"), ("abce", "ab")),
            "cut after 2 of 4 characters",
        ),
    ],
)
def test_a_relation_is_told_with_what_all_values_have(relation, pairs, words):
    assert words_of_values(TEXT, pairs, relation) == words


def test_a_bit_may_come_as_a_boolean_s_word():
    images = [
        ({"c": Cell(State.VALUE, mysql.bit(1), owed, str(owed))}, "c", came)
        for owed, came in ((0, "false"), (1, "true"))
    ]
    deviation = with_effect(Deviation(WRONG), failing_cells(*images, level=1))
    assert describe_relation(deviation.relation) == "it comes as true or false"


def test_a_value_that_comes_for_every_null():
    images = [({"c": Cell(State.NULL, TEXT)}, "c", Typed("string", "n/a")) for _ in range(2)]
    deviation = with_effect(Deviation(DeviationKind.VALUE_FOR_NULL), failing_cells(*images))
    assert describe_relation(deviation.relation) == "it comes as n/a"


@pytest.mark.parametrize(
    ("came", "words"),
    [
        (("Aa", "Bb"), None),
        (("INSERT".lower(), "UPDATE".lower()), "in small letters"),
        (("INSERT", "UPDATE"), "in capital letters"),
    ],
)
def test_letters_of_an_op(came, words):
    failings = failing_cells(*(({}, "", text) for text in came))
    deviation = with_effect(Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "op"), failings)
    assert (describe_relation(deviation.relation) if deviation.relation else None) == words


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ((("CONTROL",), ("CONTROL",)), "it comes as CONTROL"),
        (((None,),), "it comes as NULL"),
        ((("CONTROL",), ("ROW",)), None),
    ],
)
def test_the_kind_that_comes_for_unreadable_messages(came, words):
    failings = failing_cells(*(({}, "", kinds) for kinds in came))
    deviation = with_effect(Deviation(DeviationKind.MESSAGE_ACCEPTED), failings)
    assert (describe_relation(deviation.relation) if deviation.relation else None) == words


def cells_of(**values):
    return {name: Cell(State.VALUE, TEXT, text) for name, text in values.items()}


@pytest.mark.parametrize(
    ("name", "renamed", "words"),
    [
        ("ab", "AB", "it comes under its name in capital letters"),
        ("%41", "A", "it comes under its name with its percent escapes decoded"),
        ("a`b", "ab", "it comes under its name without back ticks"),
        ("ab", "XY", None),
    ],
)
def test_a_column_under_a_changed_name(name, renamed, words):
    owed = cells_of(**{name: "1"})
    lost, surplus = failing_cells((owed, name, NOT_THERE), (owed, renamed, Typed("string", "1")))
    surplus = replace(surplus, unit=(*lost.unit[:4], renamed))
    deviation = with_effect(Deviation(DeviationKind.COLUMN_MISSING), [lost, surplus])
    assert (describe_relation(deviation.relation) if deviation.relation else None) == words


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("bca", "each has the next one's value"),
        ("cab", "each has the value of the one before"),
        ("cba", "their values stand in reverse order"),
        ("bac", None),
    ],
)
def test_the_order_in_which_columns_have_each_other_s_values(order, words):
    failings = []
    for image in ({"a": "1", "b": "2", "c": "3"}, {"a": "x", "b": "y", "c": "z"}):
        owed = cells_of(**image)
        wrong_cells = [
            (owed, name, Typed("string", image[source]))
            for name, source in zip("abc", order, strict=True)
            if name != source
        ]
        failings += [
            replace(failing, unit=(image["a"], 0, 0, "after", failing.unit[4]))
            for failing in failing_cells(*wrong_cells)
        ]
    deviation = with_effect(Deviation(DeviationKind.COLUMNS_SWAPPED), failings)
    assert (describe_relation(deviation.relation) if deviation.relation else None) == words


@pytest.mark.parametrize(
    ("came", "words"),
    [
        (("a", "b"), "it has every column of the row"),
        (("a",), "it has the first column of the row"),
        (("b",), None),
        (("b", "b"), "it has columns twice"),
    ],
)
def test_a_key_of_other_columns(came, words):
    left_out = Cell(State.ABSENT, TEXT)
    failing_row, *_ = failing_cells(({**cells_of(a="1", b="2"), "c": left_out}, "", came))
    owed = replace(failing_row.finding, owed=("b",))
    failings = [replace(failing_row, finding=owed)]
    deviation = with_effect(Deviation(DeviationKind.FIELD_WRONG, "keys"), failings)
    assert (describe_relation(deviation.relation) if deviation.relation else None) == words


@pytest.mark.parametrize("relation", [None, Relation(RelationKind.WHERE_NONE)])
def test_a_field_may_be_another_one_s(relation):
    failings = failing_cells(({}, "", "s"), ({}, "", "s"))
    deviation = Deviation(DeviationKind.FIELD_WRONG, "database", relation)
    deviation = with_effect(deviation, failings)
    assert describe_relation(deviation.relation) == "the actual value is column schema's"


@pytest.mark.parametrize(
    ("came", "kind"),
    [
        (None, DeviationKind.ROW_REPEATED),
        (("CORRUPT", "CORRUPT"), DeviationKind.ROW_REPEATED),
        ((7,), DeviationKind.ROW_SURPLUS),
    ],
)
def test_a_row_that_comes_again_is_told_from_one_that_nobody_owes(came, kind):
    failings = failing_cells(({}, "", came))
    assert with_effect(Deviation(DeviationKind.ROW_SURPLUS), failings).kind is kind


@pytest.mark.parametrize(
    ("values_that_came", "letters"),
    [
        (["abc", ("x",)], "small"),
        ([{"a": "INT"}], "capital"),
        (["abc", "ABC"], ""),
        ([None, 5], ""),
        ([], ""),
    ],
)
def test_letters_are_named_only_of_texts(values_that_came, letters):
    assert name_letters(values_that_came) == letters


@pytest.mark.parametrize(
    ("numbers_owed", "words"),
    [((1 << 63,), "without its highest bits"), ((1 << 63, 1 << 32), "its lowest 32 bits")],
)
def test_a_large_integer_that_comes_as_zero_has_lost_its_highest_bits(numbers_owed, words):
    assert words_of_values(SET, [(owed, Typed("decimal", 0)) for owed in numbers_owed]) == words


def test_the_sign_of_a_zero_is_lost_with_the_fractions_of_other_numbers():
    def failing_doubles(case, *pairs):
        """The failing units, each with the trait of its family of types."""
        images = [({"c": Cell(State.VALUE, DOUBLE, owed, None)}, "c", came) for owed, came in pairs]
        return {
            (case, *failing.unit): replace(failing, traits=frozenset({("family", "double")}))
            for failing in failing_cells(*images)
        }

    of_fractions, of_signs = (
        Deviation(WRONG, relation=Relation(kind))
        for kind in (RelationKind.FRACTION, RelationKind.SIGN)
    )
    by_deviation = {
        of_fractions: failing_doubles(
            "a", *((owed + 0.5, Typed("float", float(owed))) for owed in range(1, 10))
        ),
        of_signs: failing_doubles("b", (-0.0, Typed("float", 0.0))),
    }
    assert [*unify_families(by_deviation)] == [of_fractions]
