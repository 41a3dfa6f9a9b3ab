"""A format's findings as few mistakes: each says what its failing messages share and no other
has.
"""

import itertools
import json
from dataclasses import replace
from functools import cache

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging import perfect
from conformance.judging.contents import describe_moment, rank_size
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.explaining import choose_candidates, may_explain
from conformance.judging.findings import Finding
from conformance.judging.index import Failing
from conformance.judging.judge import Judge
from conformance.judging.mistakes import mistakes
from conformance.judging.output import OutputRow
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.results import FormatResult, RuleResult
from conformance.judging.sentences import describe_traits, merge_alternatives
from conformance.judging.trait_sorts import rank_trait
from conformance.judging.traits import of_name
from conformance.rules.rules import Aspect, Obligation, rules
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import alter_of
from conformance.selftest.operators.operator import MessageContext
from generators.model import Cell, Change, Kind, Op, State
from generators.sources import mysql
from generators.wire_format import get

NAME = "alibaba-canal-json"


PACKED = "ticdc-canal-json"
POSITIONED = "maxwell-json"
KEYED = "huawei-cdl-json"


@cache
def cases(level, name=NAME):
    """The named cases of two profiles."""
    wanted = {
        NAME: ("1.1.8", "1.1.8+minimal"),
        PACKED: ("v8.5.7+extension", "v8.5.7+extension+snappy"),
        POSITIONED: ("1.45.0", "1.45.0+position+primary-keys+xoffset+ids+ddl"),
        KEYED: ("1.0", "1.0+default-identity"),
    }[name]
    return [
        case
        for case in named_cases(get(name), [get(name).profile(profile) for profile in wanted])
        if case.level == level
    ]


def wrong(*steps):
    """One fault after the other: operators by name, what words and conditions tell, or
    functions.
    """
    alters = [
        OPERATORS[step].alter
        if isinstance(step, str)
        else alter_of(*step)
        if isinstance(step, tuple)
        else step
        for step in steps
    ]

    def alter(rows, seen):
        for change in alters:
            rows = change(rows, seen)
        return rows

    return alter


def judged(alter, level=1, name=NAME, law=""):
    """The mistakes of a decoder that gives the right rows of a message altered. It breaks the law,
    too.
    """
    judge, results, before = Judge(rules(name)), [], []
    for case in cases(level, name):
        rows = []
        for written in case.written:
            owed = perfect.owed_changes(case, written)
            right = [perfect.row_of_change(change, level) for change in owed]
            rows.append(alter(right, MessageContext(case, owed, before, written.message)))
            before = right or before
        results.append(judge.judge(case, rows))
    every = tuple(RuleResult(rule, 1, 0) for rule in judge.rules)
    for broken in (rule.id for rule in judge.rules if law and rule.law == law):
        first = results[0]
        finding = Finding(
            first.case.id, broken, 0, 0, Aspect.VALUE, "message", "the same rows", "other rows"
        )
        results[0] = replace(first, findings=(*first.findings, finding))
    return mistakes(FormatResult(name, "mine", (1, 2), tuple(results), every, (), {}, 0, {}))


FIRST = "every row after the first row of its message is lost"
OLD = "every row of a document whose `old` is null is lost"
UPDATE = "every row of DELETE comes out as UPDATE"
BEFORE = "every row of INSERT comes out with a before image"
BARE = "every row without a value in the before or after image comes out without that image"
CAPITAL = "every column whose name has capital letters is not there"
STATEMENTS, TYPES, KEYS = (
    "every DDL message is lost",
    "the column types is wrong",
    "the column keys is wrong",
)
ACCEPTED = "unreadable message is accepted: it comes as ROW"
VANISHES = "unreadable message vanishes without a CORRUPT row"
CUT = [
    "every value of the binary types with line ends is wrong: cut",
    "every value of the text types with double quotes, with signs of markup is wrong: cut",
    "most values of the json types are wrong: cut",
]
NULL_OLD = (["lost"], {"message": '"old": ?null', "kind": "ROW|DDL"})
"""Documents whose `old` is null are lost."""


def rows_counted_from_hundred(rows, _seen):
    """The rows of a message counted from 100 on, those of unreadable messages as well."""
    return [replace(row, row=row.row + 100) for row in rows]


def rows_with_null_old(rows, seen):
    """Without the rows, and the refusals, of a document whose `old` is null; its statements
    stay.
    """
    try:
        document = json.loads(seen.message.value or b"")
    except ValueError:
        return rows
    null = isinstance(document, dict) and document.get("old", 0) is None
    return [row for row in rows if row.kind == Kind.DDL] if null else rows


MISTAKES = [
    (1, (), []),
    (1, (NULL_OLD,), [OLD]),
    (1, (rows_with_null_old,), [OLD]),
    (1, ("first-row-alone",), [FIRST]),
    (2, ("first-row-alone",), [FIRST]),
    (1, ("before-of-insert",), [BEFORE]),
    (1, ("before-lost",), ["every row of UPDATE comes out without its before image"]),
    (1, ("row-number-null",), ["every row comes out with NULL in the column row"]),
    (1, (rows_counted_from_hundred,), ["comes out with another number in the column row"]),
    (1, ("row-beside-the-refusal",), ["comes out with other rows beside its CORRUPT row"]),
    (
        1,
        ("kind-null",),
        ["comes out as NULL", "every unreadable message is accepted: it comes as NULL"],
    ),
    (
        2,
        ("text-trimmed-left",),
        ["every value of the text types with a blank at the beginning is wrong"],
    ),
    (
        1,
        ("datetime-time-of-day-lost",),
        ["every value of the datetime types with a time of day is wrong"],
    ),
    (1, ("date-with-midnight",), ["every value of the date types is wrong"]),
    (2, ("first-column-alone",), ["every column behind the first of its image is not there"]),
    (2, ("json-numbers-as-texts",), ["every value of the json types with a number is wrong"]),
    (1, ("columns-lower-case",), [CAPITAL]),
    (
        2,
        ("timestamp-eight-hours-late",),
        ["every value of the timestamp types is wrong: 8 h later"],
    ),
    (2, ("delete-lost",), ["every row of DELETE is lost"]),
    (2, ("set-members-counted",), ["every value of the set types that is over 1 is wrong"]),
    (1, ("rows-reversed",), ["the rows of a message have each other's values"]),
    (1, ("corrupt-lost",), [VANISHES]),
    (1, ((["texts", r'(?s)\A(?=.*["<])(.*).\Z', r"\1"], {}),), CUT),
    (
        1,
        ((["lost"], {"op": "INSERT", "profile": r"\+minimal"}),),
        ["every row of INSERT under the option minimal is lost"],
    ),
    (1, ((["refused"], {"kind": "ROW"}),), ["every row of any op is refused"]),
    (
        *(
            1,
            (
                (["put", "op", "ALTER"], {"kind": "DDL"}),
                ([["put", "kind", "ROW"], ["null", "error"]], {"kind": "CORRUPT"}),
            ),
        ),
        ["every DDL message comes out as ALTER", ACCEPTED],
    ),
    (1, ("null-row-as-no-image",), [BARE]),
    (2, ("before-as-after",), [" is wrong: the actual value is the after image's"]),
    (2, ("columns-upper-case",), ["every value of a column whose name has small letters is NULL"]),
    (1, ((["columns", "/", ""], {}),), ["every column with / in its name is not there"]),
    (
        1,
        ((["texts", "0000-00-00", "1970-01-01"], {}),),
        ["every value of any type with a date that is zero is wrong"],
    ),
    (1, ("rows-twice",), ["comes out more than once"]),
    # Several at once.
    (1, ("first-row-alone", "columns-lower-case"), [FIRST, CAPITAL]),
    (1, ("before-of-insert", "statement-lost"), [BEFORE, STATEMENTS]),
    (1, ("delete-as-update", "corrupt-as-insert"), [UPDATE, ACCEPTED]),
    (1, ("types-null", "corrupt-lost"), [TYPES, VANISHES]),
    (1, (NULL_OLD, "types-null", "keys-null"), [OLD, TYPES, KEYS]),
    (1, ("first-row-alone", "before-of-insert", "types-null"), [FIRST, BEFORE, TYPES]),
    (
        1,
        ("delete-as-update", "statement-lost", "corrupt-as-insert"),
        [UPDATE, STATEMENTS, ACCEPTED],
    ),
    (1, ("columns-lower-case", "types-null", "corrupt-lost"), [CAPITAL, TYPES, VANISHES]),
    (
        1,
        ("first-row-alone", "before-of-insert", "delete-as-update", "corrupt-as-insert"),
        [FIRST, BEFORE, UPDATE, ACCEPTED],
    ),
    (
        1,
        ("statement-lost", "keys-null", "types-null", "columns-lower-case"),
        [STATEMENTS, KEYS, TYPES, CAPITAL],
    ),
    # A value that is another image's or row's by chance.
    (2, ("bit-as-a-truth",), ["value of the bit types"]),
    (
        1,
        ("integer-through-a-double",),
        ["every value of the int types that no double holds is wrong: equal as a double"],
    ),
    # Values of another Spark type, whatever they were.
    (2, ("every-value-as-text",), ["is wrong: it comes as string"]),
    (2, ("labels-as-bytes",), ["is wrong: it comes as binary"]),
    # Two mistakes in texts: what each of them changes, or what each class of texts becomes.
    (
        *(1, ("text-html-escaped", "text-three-byte-only")),
        [
            "with characters beyond the basic plane is wrong",
            "with signs of markup is wrong: escaped as HTML",
        ],
    ),
    (
        1,
        ("text-empty-as-null", "text-word-null-as-null"),
        ["that is empty is NULL", "that spells null is NULL"],
    ),
    (1, ("date-with-midnight",), ["of the date types is wrong: with ` 00:00:00` at the end"]),
    (1, ("columns-cut-at-30",), ["every column whose name has over 30 characters is not there"]),
    (1, ("sql-cut-at-100",), [": cut"]),
    (1, ("delete-in-both", "statement-lost"), ["with an after image", "DDL message"]),
    # What a value holds tells two mistakes of one family apart.
    (1, ("text-first-line-only",), ["of the text types with line ends is wrong: cut"]),
    (
        2,
        ("text-boolean-words-as-digits", "text-ascii-only"),
        ["true or false is wrong", "with characters beyond ASCII is wrong"],
    ),
    (
        2,
        ("columns-without-quotes", "columns-ascii-only"),
        ['with " in its name is NULL', "beyond ASCII in its name is NULL"],
    ),
    (
        2,
        ("columns-of-envelope-names-lost", "text-empty-as-null"),
        ["name is also one of the envelope", "that is empty is NULL"],
    ),
    # A day, the digits of a fraction, a part of a document.
    (
        2,
        ("datetime-an-hour-late-in-the-spring-gap",),
        ["every value of the datetime types of 2024-03-10 is wrong: 1 h later"],
    ),
    (
        2,
        ("decimal-cut-to-two-places",),
        ["every value of the decimal types of over 2 places is wrong"],
    ),
    (
        2,
        ("json-nested-as-text",),
        ["within another is wrong: its inner objects and arrays come as texts"],
    ),
    (1, ("first-column-alone",), ["column behind the first of its image is not there"]),
    (
        1,
        ("images-swapped", "time-to-the-minute"),
        ["image's", "of the time types with seconds is wrong: cut to the minute"],
    ),
    (
        1,
        ("last-row-alone",),
        ["have each other's values: the last one alone comes out, in the place of the first"],
    ),
    (2, ("values-in-alphabetical-order",), ["the columns of a row have each other's values"]),
    # What a text loses is told by the narrowest sort of characters, and by no other content.
    (
        1,
        ("text-newlines-as-escapes",),
        ["with line feeds is wrong: equal but for line feeds, for which `\\n` stands"],
    ),
    (
        2,
        ("text-crlf-as-newline",),
        ["with a line feed after a carriage return is wrong: equal but for lost carriage returns"],
    ),
    (
        2,
        ("text-controls-dropped",),
        [
            "control characters below 0x20 is wrong: equal but for lost control characters below 0x20"
        ],
    ),
    # An integer in too small a variable; -1 and 0 are the lowest bits of any width.
    (2, ("set-31-bits",), ["set types of over 31 bits is wrong: its lowest 31 bits"]),
    (
        2,
        ("integer-wrapped-to-32-bits",),
        ["int types of over 31 bits is wrong: its lowest 32 bits"],
    ),
    (2, ("year-two-digits",), ["year types that is ordinary is wrong: its last two digits"]),
    # A value for NULL that is the other image's.
    (
        1,
        ("null-before-as-after",),
        ["image of UPDATE comes out as a value: the actual value is the after image's"],
    ),
    # What a statement holds, and a column of the envelope that is NULL or should be.
    (1, ("statement-split",), ["every DDL message whose statement has a semicolon comes out more"]),
    (
        1,
        ("sql-without-back-ticks",),
        ["whose statement has back ticks: equal but for lost back ticks"],
    ),
    (1, ("types-null",), ["the column types is wrong for every row: it comes as NULL"]),
    (1, ("sql-of-rows",), ["every row of any op: it has a value where none is owed"]),
    (
        1,
        ("keys-first-alone",),
        ["with a key of several columns: its first column alone"],
    ),
    (1, ("types-without-length",), ["cut before a bracket"]),
    (
        1,
        ("images-swapped",),
        ["every value that the UPDATE changes is wrong: the actual value is the other image's"],
    ),
    (1, ("integer-through-a-float",), ["int types that no float holds is wrong: equal as a float"]),
    (2, ("double-through-a-float",), ["types that no float holds is wrong: equal as a float"]),
    (1, ("time-a-thousandth",), ["of the time types is wrong: a thousandth"]),
    (1, ("bit-digits-as-bits",), ["every value of the bit types that is over 1 is wrong"]),
    # Midnight as the text has it, whatever fraction follows.
    (
        1,
        ("datetime-midnight-as-null",),
        ["every value of the datetime types in the first second of a day is NULL"],
    ),
    # A spelling of the kind, from which a broken law on columns and accepted faults follow.
    (1, ("kind-lower-case",), ["every row comes out with its kind in other letters"]),
    (1, ("op-lower-case",), ["comes out with its op in other letters: in small letters"]),
    # What is the other image's, by what the UPDATE does with the column.
    (1, ("new-key-in-before",), ["every value of a key that the UPDATE changes is wrong"]),
    (2, ("new-key-in-before",), ["of a key that the UPDATE changes"]),
    (
        1,
        ("changed-columns-alone",),
        ["image of UPDATE that the UPDATE does not change is not there"],
    ),
    # What is the message before's.
    (
        1,
        ("null-from-the-message-before",),
        ["every NULL of a column that has a value in the message before comes out as a value"],
    ),
    (
        1,
        ("columns-of-the-message-before",),
        ["column that the message before, which has as many columns, does not have"],
    ),
    # What a document or a set has in it, and the day on which the calendar changed.
    (
        2,
        ("json-nulls-dropped",),
        ["json types with null in an object or array is wrong: its nulls are not there"],
    ),
    (
        1,
        ("json-keys-upper-case",),
        ["json types that is an object is wrong: the names of its members come in capital"],
    ),
    (
        2,
        ("set-first-member-only",),
        ["set types of several members is wrong: its first member alone"],
    ),
    (2, ("datetime-unit-guessed",), ["of under 12 digits of milliseconds is wrong: a thousand"]),
    (1, ("table-cut-at-a-slash",), ["with / in its name: without its beginning up to a slash"]),
    (2, ("date-julian",), ["every value of the date types before 1582-10-15 is wrong"]),
    # What a fault leaves alone, since it looks the same afterwards, is no evidence against it.
    (
        2,
        ("bit-bits-reversed",),
        ["whose bits in reverse order are another number is wrong: its bits in reverse order"],
    ),
    # Sorts of characters within another, of which the wider one is told if some need it.
    (
        1,
        ("text-latin-only",),
        ["every value of the text types with characters beyond Latin-1 is wrong: equal but for"],
    ),
    (1, ("text-ascii-only",), ["with characters beyond ASCII is wrong: equal but for characters"]),
    (1, ("text-lower-case",), ["text types with capital letters is wrong: in small letters"]),
    # The narrower of two contents that explain as much.
    (1, ("datetime-last-year-as-null",), ["datetime types of the year 9999 is NULL"]),
    # How times are written otherwise, and bytes of which a bit is lost.
    (1, ("datetime-with-a-t",), ["datetime types is wrong: with T in place of the blank"]),
    (1, ("datetime-with-a-z",), ["datetime types is wrong: with `Z` at the end"]),
    (1, ("datetime-no-fraction-as-zeros",), ["is wrong: with `.0` at the end"]),
    (
        1,
        ("datetime-fraction-zeros-dropped",),
        ["wrong: without the zeros at the end of its fraction"],
    ),
    (2, ("binary-seven-bits",), ["beyond ASCII is wrong: its bytes without the highest bit"]),
    (
        1,
        ("time-at-most-a-day",),
        ["time types of over 23:59:59 is wrong: it comes as \u00b123:59:59"],
    ),
    # What has been explained is no evidence for what is left; a narrower trait is not told.
    (1, ("null-left-out",), ["every column that is NULL is not there"]),
    (2, ("binary-cut-at-zero",), ["with a zero byte is wrong: cut before a zero byte"]),
    (1, ("real-fifteen-digits",), ["double types of over 15 digits is wrong: rounded to 15"]),
    (2, ("text-compatible",), ["that the Unicode form NFKC changes is wrong: in the Unicode form"]),
    (1, ("text-unescaped-twice",), ["is wrong: its escapes of JSON are resolved once more"]),
    (2, ("date-month-and-day-swapped",), ["whose day may be a month is wrong: its month and day"]),
    (2, ("json-first-element",), ["with an item in an array is wrong: its first item alone"]),
    (2, ("json-texts-trimmed",), ["white space at an end of a text is wrong: its texts come"]),
    (2, ("text-blanks-collapsed",), ["with several blanks together is wrong: equal but for lost"]),
    (
        1,
        ("time-milliseconds",),
        ["time types with a fraction finer than a millisecond is wrong: its fraction is cut to 3"],
    ),
    (
        1,
        ("text-c1-controls-dropped",),
        ["control characters from 0x7f to 0x9f and others is wrong: equal"],
    ),
    (1, ("real-widened",), ["is wrong: with the digits of the double that has its value"]),
    # What cannot explain: a column's name its Spark type, a zero date why others are shifted.
    (2, ("real-large-as-null",), ["float types of over 10^36"]),
    # Where no trait explains most, what most have that stand there.
    (1, ("delete-with-key-alone",), ["value of DELETE outside the key is NULL"]),
    # The day that the text has, in whatever time zone.
    (
        1,
        ("timestamp-an-hour-late-on-the-autumn-day",),
        ["every value of the timestamp types of 2024-11-03 is wrong: 1 h later"],
    ),
    # The law on the columns of a row names the columns.
    (
        1,
        ("corrupt-with-image",),
        ["the column after of CORRUPT rows breaks the rule: A CORRUPT row"],
    ),
]


@pytest.mark.parametrize(
    ("level", "steps", "sentences"),
    MISTAKES,
    ids=lambda steps: (
        "+".join(getattr(step, "__name__", str(step)) for step in steps)
        if isinstance(steps, tuple)
        else ""
    ),
)
def test_each_mistake_is_named_once_and_nothing_else_is(level, steps, sentences):
    named = sorted(
        mistake.sentence for mistake in judged(wrong(*steps), level) if len(mistake.cases) > 1
    )
    assert len(named) == len(sentences), named
    assert all(sum(words in sentence for sentence in named) == 1 for words in sentences), named


DECIMALS = "every value of the decimal types"
JSON_BOOLEANS = "every value of the json types with true or false"


@pytest.mark.parametrize(
    ("operator", "sentence"),
    [
        (
            "set-upper-case",
            "every value of the set types that is not empty is wrong: in capital letters",
        ),
        (
            "decimal-cut-to-18-digits",
            f"{DECIMALS} of over 18 digits is wrong: rounded to 18 digits",
        ),
        (
            "integer-one-as-true",
            "every value of the int types that is 1 is wrong: it comes as true or false",
        ),
        (
            "real-six-digits",
            "every value of the float types of over 6 significant digits is wrong: rounded to 6 digits",
        ),
        (
            "enum-index-for-label",
            "every value of the enum types is wrong: the number of its label",
        ),
        (
            "timestamp-eight-hours-late",
            "nearly every value of the timestamp types is wrong: 8 h later",
        ),
        (
            "json-booleans-as-texts",
            f"{JSON_BOOLEANS} is wrong: its true and false come as texts",
        ),
    ],
)
def test_what_texts_of_the_wire_have_tells_a_fault_in_them(operator, sentence):
    first, *_ = judged(wrong(operator), name=POSITIONED)
    assert first.sentence == sentence


@pytest.mark.parametrize(
    ("name", "level", "operator", "sentence"),
    [
        (
            KEYED,
            1,
            "update-as-two",
            "every row of an UPDATE with a before image comes out as DELETE: a further row comes beside it",
        ),
        (
            POSITIONED,
            1,
            "sql-upper-case",
            "the column sql is wrong for every DDL message whose statement has small letters: in capital letters",
        ),
        (
            POSITIONED,
            2,
            "old-key-in-after",
            "every value of a key that the UPDATE changes is wrong: the actual value is the before image's",
        ),
        (
            POSITIONED,
            1,
            "old-key-in-after",
            "every value of a key that the UPDATE changes is wrong: the actual value is the before image's",
        ),
        (
            POSITIONED,
            1,
            "bit-bits-reversed",
            "every value of the bit types whose bits in reverse order are another number is wrong: its bits in reverse order",
        ),
        (
            NAME,
            2,
            "bit-bytes-reversed",
            "every value of the bit types whose bytes in reverse order are another number is wrong: its bytes in reverse order",
        ),
        (
            POSITIONED,
            1,
            "binary-text-lower-case",
            "every value of the binary types whose text has capital letters is wrong: in small letters",
        ),
        (
            NAME,
            1,
            "types-without-unsigned",
            "the column types is wrong for every row with a column declared unsigned: without the word `unsigned`",
        ),
        (
            POSITIONED,
            2,
            "missing-image-as-empty",
            "every row of INSERT, DELETE comes out with an image of no columns where it has none",
        ),
        (
            POSITIONED,
            1,
            "date-compact",
            "every value of the date types is wrong: without its hyphens",
        ),
        (NAME, 2, "null-left-out", "every column that is NULL is not there"),
        (
            NAME,
            2,
            "values-in-alphabetical-order",
            "the columns of a row have each other's values: their values stand under the names in alphabetical order",
        ),
        (POSITIONED, 2, "delete-with-key-alone", "most values of DELETE outside the key are NULL"),
        (
            NAME,
            2,
            "time-within-a-day",
            "every value of the time types of over a day, every negative value of the time types is wrong: equal but for whole days",
        ),
        (
            NAME,
            2,
            "every-value-as-text",
            "nearly every value of any type but texts is wrong: it comes as string",
        ),
        (
            KEYED,
            1,
            "null-as-zero",
            "every NULL of the decimal, int, bit types comes out as a value: it comes as 0",
        ),
        (
            NAME,
            2,
            "date-a-month-late",
            "nearly every value of the date types that is ordinary is wrong: in the next month",
        ),
        (
            NAME,
            1,
            "text-stripped-of-white-space",
            "every value of the text types with white space at an end is wrong: equal but for blanks at the ends",
        ),
    ],
)
def test_a_single_fault_is_one_mistake_that_names_its_cause(name, level, operator, sentence):
    assert [mistake.sentence for mistake in judged(wrong(operator), level, name)] == [sentence]


def test_an_empty_image_on_the_other_side_is_not_the_one_that_is_lost():
    of_empty, lost = judged(wrong("missing-image-as-empty", "insert-without-image"))
    assert "an image of no columns" in of_empty.sentence
    assert lost.sentence == "every row of INSERT comes out without its after image"


def test_a_renamed_column_is_told_by_its_name_not_by_its_type():
    [mistake] = judged(wrong("columns-cut-at-30"))
    assert mistake.sentence == (
        "every column whose name has over 30 characters is not there: "
        "it comes under its name cut after 30 characters"
    )


def test_rows_that_no_narrow_traits_explain_are_told_by_their_op():
    sentences = [
        mistake.sentence
        for mistake in judged(wrong("first-column-alone", "update-of-nothing-lost"), 2)
    ]
    assert sentences == [
        "every column behind the first of its image is not there",
        "most rows of UPDATE are lost",
    ]


def test_values_under_other_columns_are_told_first():
    first, *_ = judged(wrong("values-in-alphabetical-order"))
    assert first.sentence == (
        "the columns of a row have each other's values: "
        "their values stand under the names in alphabetical order"
    )


def found(level, alter, name=NAME):
    """The sentences on a decoder that gives right rows altered."""
    return [mistake.sentence for mistake in judged(alter, level, name)]


def test_rows_of_records_without_a_key_are_told_as_such():
    def keyed_alone(rows, seen):
        return rows if seen.message.key is not None else []

    (sentence,) = found(1, keyed_alone, PACKED)
    assert sentence == "every row of a record without a key is lost"


def test_the_last_row_of_a_key_alone_is_told_by_the_later_rows():
    """What MERGE needs, and what loses the history: of each key the last change of a batch."""

    def last_of_a_key(rows, seen):
        def key_of(change):
            image = change.after or change.before or {}
            return change.table, *(image[name].value for name in change.keys or ())

        owed = [(written, each) for written in seen.case.written for each in written.changes]
        messages = [written.message for written, _ in owed]
        position = messages.index(seen.message)
        later = [each for _, each in owed[position + 1 :] if each.kind is Kind.ROW and each.keys]
        here = owed[position][1]
        if here.kind is Kind.ROW and here.keys and key_of(here) in map(key_of, later):
            return []
        return rows

    first, *_ = found(1, last_of_a_key)
    assert "is lost" in first and "whose key a later row changes" in first, first


def both_levels(alter):
    """The sentences on a decoder whose rows of both levels are altered."""
    judge, results = Judge(rules(NAME)), []
    for level in (1, 2):
        for case in cases(level):
            decoded = []
            for written in case.written:
                owed = perfect.owed_changes(case, written)
                right = [perfect.row_of_change(change, level) for change in owed]
                decoded.append(alter(right, MessageContext(case, owed, (), written.message)))
            results.append(judge.judge(case, decoded))
    every = tuple(RuleResult(rule, 1, 0) for rule in judge.rules)
    result = FormatResult(NAME, "mine", (1, 2), tuple(results), every, (), {}, 0, {})
    return [mistake.sentence for mistake in mistakes(result)]


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ((1, 2), "every row of DELETE comes out without its before image"),
        ((2,), "every row of DELETE at level two comes out without its before image"),
    ],
)
def test_a_mistake_of_one_level_names_the_level(levels, sentence):
    def without_before_image(rows, seen):
        if seen.case.level not in levels:
            return rows
        return [replace(row, before=None) if row.op == "DELETE" else row for row in rows]

    assert both_levels(without_before_image) == [sentence]


def test_laws_of_calls_are_told_before_what_follows_from_them():
    lost = itertools.count()

    def first_five_hundred(rows, seen):
        return rows if next(lost) < 500 else []

    first, second, *rest = judged(first_five_hundred, law="batch")
    assert first.sentence.startswith("not kept: ")
    assert second.sentence == "some row is lost only among certain other messages"
    assert not [each.sentence for each in rest if each.sentence.endswith("is lost")]


def test_what_says_on_which_messages_rows_depend_is_told_before_the_law():
    alter = wrong("equal-message-lost")
    first, second, *_ = judged(alter, name=POSITIONED, law="batch")
    assert first.sentence == (
        "every row of a message whose rows the message before has, too is lost"
    )
    assert second.sentence.startswith("not kept: ")


def test_columns_that_the_message_before_does_not_have_are_told_as_such():
    first, *_ = judged(wrong("columns-known-before"), 2, POSITIONED, law="batch")
    assert first.sentence == (
        "nearly every column that the message before, of the same table, does not have is not there"
    )


def test_an_image_that_is_lost_is_no_part_of_values_under_other_columns():
    """Neither makes the other: that the columns of the other images are mixed up loses no image."""
    sentences = found(2, wrong("values-of-the-next-column", "before-lost"))
    assert "every row of UPDATE comes out without its before image" in sentences


def test_a_column_that_an_earlier_row_did_not_have_is_told_as_new():
    """A decoder that reads a row by the columns of the row before, as if the schema stayed."""
    columns = {}

    def columns_of_row_before(rows, seen):
        of_case = columns.setdefault(seen.case.id, {})
        cut = []
        for row in rows:
            before = of_case.get(row.fields.get("table")) or row.after or {}
            of_case[row.fields.get("table")] = row.after or before
            after = row.after and {name: row.after[name] for name in row.after if name in before}
            cut.append(replace(row, after=after))
        return cut

    first, *_ = found(1, columns_of_row_before)
    assert first == (
        "every column that an earlier after image of its table did not have is not there"
    )


def test_messages_whose_rows_an_earlier_one_has_are_told_as_such():
    """What dropDuplicates on the rows of a topic loses."""
    earlier = {}

    def without_duplicates(rows, seen):
        known = earlier.setdefault(seen.case.id, [])
        images = [
            (row.kind, row.op, row.fields.get("table"), row.before, row.after) for row in rows
        ]
        if images and images in known:
            return []
        known.append(images)
        return rows

    sentences = found(1, without_duplicates)
    assert "every row of a message whose rows an earlier one has, too is lost" in sentences, (
        sentences
    )


def packed_refused(rows, seen):
    """No value that is compressed can be read."""
    try:
        json.loads(seen.message.value or b"")
    except ValueError:
        return [OutputRow(0, Kind.CORRUPT.value, None, error="no JSON")]
    return rows


def test_a_compression_that_is_not_read_is_told_as_such():
    (mistake,) = judged(packed_refused, name=PACKED)
    assert mistake.sentence == "every row of a message compressed with snappy is refused"


def test_content_behind_the_document_is_told_as_such():
    def read(rows, seen):
        try:
            document = json.loads((seen.message.value or b"")[:-1])
        except ValueError:
            return rows
        return (
            [replace(rows[0], kind=Kind.ROW, op="INSERT", after={}, error=None)]
            if isinstance(document, dict)
            else rows
        )

    (mistake,) = judged(read)
    assert (
        mistake.sentence
        == "an unreadable message with trailing-content, trailing-brace is accepted: it comes as ROW"
    )


def test_many_faults_of_a_sort_are_told_by_the_sort():
    def read(rows, seen):
        try:
            json.JSONDecoder().raw_decode((seen.message.value or b"").decode())
        except ValueError:
            return rows
        return [
            replace(row, kind=Kind.ROW, op="INSERT", after={}, error=None)
            for row in rows
            if row.kind == Kind.CORRUPT
        ] or rows

    first = next(
        mistake.sentence for mistake in judged(read) if "second-document" in mistake.sentence
    )
    assert (
        first.startswith("an unreadable message with ")
        and "trailing-content" in first
        and "trailing-brace" not in first
    ), first


@pytest.mark.parametrize("law", ["batch", ""])
@pytest.mark.parametrize("deletes", [True, False])
@pytest.mark.parametrize("every", [5, 7, 11])
def test_rows_that_a_limit_loses_are_lost_among_others_and_every_case_is_told(every, deletes, law):
    left, lost = itertools.count(), set()

    def first_ones(rows, seen):
        rows = OPERATORS["delete-lost"].alter(rows, seen) if deletes else rows
        if rows and next(left) % every == 0:
            lost.update([seen.case.id] * (rows[0].kind == Kind.ROW))
            return []
        return rows

    diagnosis = judged(first_ones, law=law)
    sentences = [mistake.sentence for mistake in diagnosis if "is lost" in mistake.sentence]
    assert law == "" or sentences[0] == "some row is lost only among certain other messages", (
        sentences
    )
    assert not deletes or "every row of DELETE is lost" in sentences, sentences
    assert law == "" or any("not kept: " in mistake.sentence for mistake in diagnosis)
    assert set() < lost <= set().union(*(mistake.cases for mistake in diagnosis))


def test_a_mistake_names_all_its_rules_and_the_smallest_of_its_cases():
    (mistake,) = judged(wrong("delete-lost"))
    assert mistake.obligation is Obligation.MUST
    assert f"{NAME}/rows/every-row" in mistake.rules
    assert mistake.finding.case == mistake.result.case.id
    size = sum(written.message.size for written in mistake.result.case.written)
    assert size == min(
        sum(w.message.size for w in case.written) for case in cases(1) if case.id in mistake.cases
    )


def test_options_that_no_profile_has_apart_are_told_together():
    """What comes out otherwise with the first of them does so with the others, too: no word would
    say which of them it is.
    """
    deletes_as_updates = (["put", "op", "UPDATE"], {"op": "DELETE", "profile": r"\+position"})
    (mistake,) = judged(wrong(deletes_as_updates), name=POSITIONED)
    options = "position, primary-keys, xoffset, ids, ddl, which no profile has apart"
    assert (
        mistake.sentence == f"every row of DELETE under the options {options} comes out as UPDATE"
    )


@pytest.mark.parametrize(
    ("operator", "sentence"),
    [
        ("position-null", "the column position is wrong for every row: it comes as NULL"),
        ("sql-null", "the column sql is wrong for every DDL message: it comes as NULL"),
    ],
)
def test_of_a_column_that_comes_as_null_the_rows_that_owe_it_are_told(operator, sentence):
    """No word of a statement is a reason for its loss; rows that owe none show nothing."""
    (mistake,) = judged(wrong(operator), name=POSITIONED)
    assert mistake.sentence == sentence


def test_traits_that_differ_in_the_last_word_of_one_are_one():
    html, quote, other = (
        (("kin", "text", "html"),),
        (("kin", "text", "quote"),),
        (("kin", "json", "html"),),
    )
    assert merge_alternatives([html, quote, other, (("key",),)]) == [
        (("kin", "text", "html, quote"),),
        other,
        (("key",),),
    ]
    create, drop = ((("trait", f"ddl:{what}"), ("release", "1.1.4")) for what in ("create", "drop"))
    (both,) = merge_alternatives([create, drop])
    assert (
        describe_traits(both, "DDL message")
        == "DDL message with the trait ddl:create, ddl:drop and of release 1.1.4"
    )


def test_a_season_explains_a_shift_only_of_units_that_all_have_it():
    summer = ("held", "datetime", "from April to October")
    shifted = Deviation(DeviationKind.VALUE_WRONG, relation=Relation(RelationKind.SHIFT, 1))
    in_june, in_may, in_march = (
        Failing((month,), frozenset(traits), None, None)
        for month, traits in (("june", [summer]), ("may", [summer]), ("march", []))
    )
    assert choose_candidates(shifted, [in_june, in_may])(summer)
    assert not choose_candidates(shifted, [in_june, in_may, in_march])(summer)


def test_that_a_value_is_ordinary_ranks_before_what_it_holds():
    """Of a few dates all that are not zero may be before 1970."""
    traits = [("kin", "date", "zero"), ("held", "date", "before 1970"), ("kin", "date", "whole")]
    assert min(traits, key=rank_trait) == ("kin", "date", "whole")
    assert max(traits, key=rank_trait) == ("kin", "date", "zero")


def test_no_name_of_a_column_is_why_its_values_are_of_another_spark_type():
    as_text = Relation(RelationKind.COMES_AS, name="string")
    wrong_type = Deviation(DeviationKind.VALUE_WRONG, relation=as_text)
    assert not may_explain(wrong_type, ("small",))
    assert may_explain(wrong_type, ("family", "int"))
    assert may_explain(replace(wrong_type, relation=None), ("small",))


def test_a_date_that_no_calendar_has_is_not_among_those_with_a_blank_before_their_time():
    assert "with a blank before its time of day" in set(describe_moment("2024-01-02 03:04:05"))
    assert not set(describe_moment("0000-00-00 00:00:00"))


def test_no_op_of_a_row_is_why_its_texts_lose_characters():
    relation = Relation(RelationKind.LOST_CHARACTERS, name="backslashes")
    lost = Deviation(DeviationKind.VALUE_WRONG, relation=relation)
    assert not may_explain(lost, ("op", "INSERT"))
    assert may_explain(replace(lost, relation=None), ("op", "INSERT"))
    assert may_explain(lost, ("held", "text", "with backslashes"))


def test_what_is_within_another_content_ranks_before_it():
    contents = ["beyond 32 bits of seconds", "of the year 9999"]
    traits = [("held", "datetime", words) for words in contents]
    assert min(traits, key=rank_size) == ("held", "datetime", "of the year 9999")


def test_names_that_spark_takes_for_one_are_told_as_such():
    cell = Cell(State.VALUE, mysql.TYPES["int"], 1, "1")
    row = Change(0, Kind.ROW, Op.INSERT, after={"id": cell, "Id": cell, "c": cell})
    case = cases(1)[0]
    alike = {name for name in row.after if ("alike",) in of_name(case, row, "after", name)}
    assert alike == {"id", "Id"}
    assert (
        describe_traits((("alike",),), "value")
        == "value of a column whose name is another's but for capital letters"
    )
