"""A format's findings as few mistakes: each says what its failing messages share and no other has."""

import itertools
import json
from dataclasses import replace
from functools import cache

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.judge import Finding, Judge
from conformance.judging.mistakes import _alternatives, _noun, mistakes
from conformance.judging.output import OutputRow
from conformance.judging.results import FormatResult, RuleResult
from conformance.rules.rules import Aspect, Obligation, rules
from conformance.selftest import perfect
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Seen
from generators.model import Kind
from generators.wire_format import get

NAME = "alibaba-canal-json"


PACKED = "ticdc-canal-json"
POSITIONED = "maxwell-json"


@cache
def cases(level, name=NAME):
    """The named cases of two profiles."""
    wanted = {
        NAME: ("1.1.8", "1.1.8+minimal"),
        PACKED: ("v8.5.7+extension", "v8.5.7+extension+snappy"),
        POSITIONED: ("1.45.0", "1.45.0+position+primary-keys+xoffset+ids+ddl"),
    }[name]
    return [case for case in named_cases(get(name), [get(name).profile(one) for one in wanted]) if case.level == level]


def judged(spoil, level=1, name=NAME, law=""):
    """The mistakes of a decoder that `spoil` makes wrong: told the right rows of a message, and the message, it gives its own. It
    breaks the law, too."""
    judge, results = Judge(rules(name)), []
    for case in cases(level, name):
        rows = [spoil([perfect.row(change, level) for change in perfect.owed(case, w)], w.message) for w in case.written]
        results.append(judge.judge(case, rows, case.tables[0].name if level == 2 else None))
    every = tuple(RuleResult(rule, 1, 0) for rule in judge.rules)
    for broken in (rule.id for rule in judge.rules if law and rule.law == law):
        first = results[0]
        finding = Finding(first.case.id, broken, 0, 0, Aspect.VALUE, "message", "the same rows", "other rows")
        results[0] = replace(first, findings=(*first.findings, finding))
    return mistakes(FormatResult(name, "mine", (1, 2), tuple(results), every, (), {}, 0, {}))


def each(change):
    """A decoder whose rows are changed one by one."""
    return lambda rows, _message: [change(row) for row in rows]


def images(row, change):
    return replace(row, before=row.before and change(row.before), after=row.after and change(row.after))


def without_null_old(rows, message):
    try:
        document = json.loads(message.value or b"")
    except ValueError:
        return rows
    return [] if isinstance(document, dict) and document.get("old", 0) is None else rows


def first_row(rows, _message):
    return rows[:1]


def later(value):
    """The value 8 h later if it is a TIMESTAMP's."""
    return replace(value, value=value.value + 8 * 3600 * 10**6) if getattr(value, "family", "") == "timestamp" else value


def bare_as_none(image):
    return image if any(value is not None for value in image.values()) else None


def epoch(value):
    """The beginning of 1970 for a zero date of any type."""
    return value.replace("0000-00-00", "1970-01-01") if isinstance(value, str) else value


def insert_with_before(row):
    return replace(row, before=row.after) if row.op == "INSERT" else row


def rows_with_null_old(rows, message):
    """Without the rows of a document whose `old` is null; its statements stay."""
    return [row for row in rows if row.kind == Kind.DDL or without_null_old(rows, message)]


def minimal_inserts(rows, message):
    """Without the inserted rows of one profile."""
    return [row for row in rows if row.op != "INSERT" or "+minimal/" not in message.case]


def cut_where_quoted(image):
    """Cuts the texts with a quote or an opening bracket."""
    return {name: text[:-1] if isinstance(text, str) and {"<", '"'} & set(text) else text for name, text in image.items()}


def deleted_as_update(row):
    return replace(row, op="UPDATE") if row.op == "DELETE" else row


def refused(row):
    return replace(row, kind=Kind.CORRUPT, op=None, before=None, after=None, error="no") if row.kind == Kind.ROW else row


def statement_or_row(row):
    if row.kind == Kind.DDL:
        return replace(row, op="ALTER")
    return replace(row, kind=Kind.ROW, error=None) if row.kind == Kind.CORRUPT else row


def in_alphabetical_order(image):
    return dict(zip(image, (image[name] for name in sorted(image)), strict=True))


EVERY = 7
WORDS = ("is lost", "not kept: ")
BEFORE = "every row of INSERT comes out with a before image"
FIRST = "every row after the first row of its message is lost"
UPDATE = "every row of DELETE comes out as UPDATE"
SHIFT = "every value of the timestamp types is wrong: 8 h later"
BARE = "every row with nothing but NULLs in the after image comes out without its after image"
AFTER = " is wrong: the actual value is the after image's"
SMALL = "every value whose name has small letters is NULL"
SWAPPED = "the columns of a row have each other's values"
SLASH = "every column with / in its name is not there"
ZERO = "every value of any type with a date, in the class zero is wrong"
BYTES = "every value of the binary types with line ends is wrong: cut"
HTML = "every value of the text types in the class html, of the text types with double quotes is wrong: cut"
ARRAY = "every value of the json types with an array, of the json types in the class object and others is wrong: cut"
CAPITAL = "every column whose name has capital letters is not there"


@pytest.mark.parametrize(
    ("spoil", "level", "sentences"),
    [
        *((lambda rows, _message: rows, 1, []), (without_null_old, 1, ["every row of a document whose `old` is null is lost"])),
        *((first_row, 1, [FIRST]), (first_row, 2, [FIRST]), (each(insert_with_before), 1, [BEFORE])),
        (each(lambda row: images(row, lambda image: {name.lower(): text for name, text in image.items()})), 1, [CAPITAL]),
        (each(lambda row: images(row, lambda image: {n: later(v) for n, v in image.items()})), 2, [SHIFT]),
        (lambda rows, _message: [row for row in rows if row.op != "DELETE"], 2, ["every row of DELETE is lost"]),
        (
            lambda rows, _message: [replace(a, before=b.before, after=b.after) for a, b in zip(rows, rows[::-1], strict=True)],
            *(1, ["the rows of a message have each other's values"]),
        ),
        (lambda rows, _message: [row for row in rows if row.kind != Kind.CORRUPT], 1, ["vanishes without a CORRUPT row"]),
        (rows_with_null_old, 1, ["every row of a document whose `old` is null is lost"]),
        (each(lambda row: images(row, cut_where_quoted)), 1, [BYTES, HTML, ARRAY]),
        (minimal_inserts, 1, ["every row of INSERT under the option minimal is lost"]),
        (each(refused), 1, ["every row of any op is refused"]),
        (each(statement_or_row), 1, ["every DDL message comes out as ALTER", "which cannot be read, is accepted"]),
        (lambda rows, _message: [insert_with_before(deleted_as_update(row)) for row in rows[:1]], 1, [BEFORE, UPDATE, FIRST]),
        (each(lambda row: images(row, bare_as_none)), 1, [BARE]),
        (each(lambda row: replace(row, before=row.after) if row.op == "UPDATE" else row), 2, [AFTER]),
        (each(lambda row: images(row, lambda image: {n: v if n == n.upper() else None for n, v in image.items()})), 2, [SMALL]),
        (each(lambda row: images(row, lambda image: {n.replace("/", ""): v for n, v in image.items()})), 1, [SLASH]),
        (each(lambda row: images(row, lambda image: {n: epoch(v) for n, v in image.items()})), 1, [ZERO]),
        (lambda rows, _message: [*rows, *(replace(row, row=row.row + 500) for row in rows)], 1, ["comes out more than once"]),
    ],
)
def test_each_mistake_is_one_sentence(spoil, level, sentences):
    named = [one.sentence for one in judged(spoil, level) if len(one.cases) > 1]
    assert len(named) == len(sentences), named
    assert all(words in sentence for sentence, words in zip(named, sentences, strict=True)), named


def test_values_under_other_columns_are_told_first():
    first, *_ = judged(each(lambda row: images(row, in_alphabetical_order)))
    assert first.sentence == SWAPPED


def packed_refused(rows, message):
    """No value that is compressed can be read."""
    try:
        json.loads(message.value or b"")
    except ValueError:
        return [OutputRow(0, Kind.CORRUPT.value, None, error="no JSON")]
    return rows


def test_a_compression_that_is_not_read_is_told_as_such():
    (one,) = judged(packed_refused, name=PACKED)
    assert one.sentence == "every row of a message compressed with snappy is refused"


def test_content_behind_the_document_is_told_as_such():
    def read(rows, message):
        try:
            document = json.loads((message.value or b"")[:-1])
        except ValueError:
            return rows
        return [replace(rows[0], kind=Kind.ROW, op="INSERT", after={}, error=None)] if isinstance(document, dict) else rows

    (one,) = judged(read)
    assert one.sentence == "a message with trailing-content, trailing-brace, which cannot be read, is accepted"


def test_many_faults_of_a_sort_are_told_by_the_sort():
    def read(rows, message):
        try:
            json.JSONDecoder().raw_decode((message.value or b"").decode())
        except ValueError:
            return rows
        return [
            replace(row, kind=Kind.ROW, op="INSERT", after={}, error=None) for row in rows if row.kind == Kind.CORRUPT
        ] or rows

    first = next(one.sentence for one in judged(read) if "second-document" in one.sentence)
    assert first.startswith("a message with ") and "trailing-content" in first and "trailing-brace" not in first, first


def test_rows_that_a_limit_loses_are_lost_among_others():
    left = itertools.count()

    def first_ones(rows, _message):
        return rows if next(left) % EVERY else []

    (chance, *_), *rest = ([one.sentence for one in judged(first_ones, law="batch") if words in one.sentence] for words in WORDS)
    assert chance == "some row is lost only among certain other messages"
    assert all(rest), rest


def test_a_mistake_names_all_its_rules_and_the_smallest_of_its_cases():
    (one,) = judged(lambda rows, _message: [row for row in rows if row.op != "DELETE"])
    assert one.obligation is Obligation.MUST
    assert f"{NAME}/rows/every-row" in one.rules
    assert one.finding.case == one.result.case.id
    size = sum(written.message.size for written in one.result.case.written)
    assert size == min(sum(w.message.size for w in case.written) for case in cases(1) if case.id in one.cases)


def lower(row):
    return images(row, lambda image: {name.lower(): text for name, text in image.items()})


def no_types(row):
    return replace(row, fields={**row.fields, "types": {}}) if row.fields.get("types") else row


def without_statements(rows, _message):
    return [row for row in rows if row.kind != Kind.DDL]


def garbage_accepted(row):
    return replace(row, kind=Kind.ROW, op="INSERT", after={}, error=None) if row.kind == Kind.CORRUPT else row


def garbage_lost(rows, _message):
    return [row for row in rows if row.kind != Kind.CORRUPT]


def keys_dropped(row):
    return replace(row, fields={**row.fields, "keys": None}) if row.fields.get("keys") else row


STACKED = [
    # A value that is another image's or row's by chance.
    (2, ("bit-as-a-truth",), ["value of the bit types"]),
    (1, ("integer-through-a-double",), ["value of the int types in the class beyond-double is wrong: equal as a double"]),
    # Values of another Spark type, whatever they were.
    (2, ("every-value-as-text",), ["is wrong: it comes as string"]),
    (2, ("labels-as-bytes",), ["is wrong: it comes as binary"]),
    # Two mistakes in texts: what each of them changes, or what each class of texts becomes.
    (
        *(1, ("text-html-escaped", "text-three-byte-only")),
        ["in the class astral is wrong", "in the class html is wrong: equal but for what stands for signs of markup"],
    ),
    (1, ("text-empty-as-null", "text-word-null-as-null"), ["in the class empty is NULL", "in the class literal-null is NULL"]),
    (1, ("date-with-midnight",), ["of the date types is wrong: equal but for how it is written"]),
    (1, ("columns-cut-at-30",), ["every column whose name has over 30 characters is not there"]),
    (1, ("sql-cut-at-100",), [": cut"]),
    (1, ("delete-in-both", "statement-lost"), ["with an after image", "DDL message"]),
    # What a value holds tells two mistakes of one family apart.
    (1, ("text-first-line-only",), ["of the text types with line ends is wrong: cut"]),
    (2, ("text-boolean-words-as-digits", "text-ascii-only"), ["true or false is wrong", "with characters beyond ASCII is wrong"]),
    (2, ("columns-without-quotes", "columns-ascii-only"), ['with " in its name is NULL', "beyond ASCII in its name is NULL"]),
    (1, ("images-swapped", "time-to-the-minute"), ["image's", "of the time types is wrong"]),
    (1, ("last-row-alone",), ["the rows of a message have each other's values"]),
    (2, ("values-in-alphabetical-order",), ["the columns of a row have each other's values"]),
]


@pytest.mark.parametrize(
    ("level", "names", "sentences"), STACKED, ids=lambda one: "+".join(one) if isinstance(one, tuple) else ""
)
def test_each_operator_is_named_once_and_nothing_else_is(level, names, sentences):
    judge, results = Judge(rules(NAME)), []
    for case in cases(level):
        owed = [perfect.owed(case, written) for written in case.written]
        rows = [[perfect.row(change, level) for change in changes] for changes in owed]
        for name in names:
            rows = [OPERATORS[name].alter(some, Seen(case, changes)) for some, changes in zip(rows, owed, strict=True)]
        results.append(judge.judge(case, rows, case.tables[0].name if level == 2 else None))
    every = tuple(RuleResult(rule, 1, 0) for rule in judge.rules)
    found = mistakes(FormatResult(NAME, "mine", (1, 2), tuple(results), every, (), {}, 0, {}))
    named = sorted(one.sentence for one in found if len(one.cases) > 1)
    assert len(named) == len(sentences), named
    assert all(any(words in sentence for sentence in named) for words in sentences), named


SINGLE = {
    "null-old": (without_null_old, "`old` is null is lost"),
    "first-row": (first_row, FIRST),
    "insert-before": (each(insert_with_before), BEFORE),
    "delete-as-update": (each(deleted_as_update), UPDATE),
    "lower": (each(lower), CAPITAL),
    "types": (each(no_types), "the column types is wrong"),
    "statements": (without_statements, "every DDL message is lost"),
    "garbage": (each(garbage_accepted), "which cannot be read, is accepted"),
    "garbage-lost": (garbage_lost, "vanishes without a CORRUPT row"),
    "keys": (each(keys_dropped), "the column keys is wrong"),
}


@pytest.mark.parametrize(
    "stack",
    [
        ("first-row", "lower"),
        ("insert-before", "statements"),
        ("delete-as-update", "garbage"),
        ("types", "garbage-lost"),
        ("null-old", "types", "keys"),
        ("first-row", "insert-before", "types"),
        ("delete-as-update", "statements", "garbage"),
        ("lower", "types", "garbage-lost"),
        ("first-row", "insert-before", "delete-as-update", "garbage"),
        ("statements", "keys", "types", "lower"),
    ],
    ids="+".join,
)
def test_each_of_several_mistakes_is_named_once_and_nothing_else_is(stack):
    def spoil(rows, message):
        for name in stack:
            rows = SINGLE[name][0](rows, message)
        return rows

    named = [one.sentence for one in judged(spoil) if len(one.cases) > 1]
    assert [sum(SINGLE[name][1] in sentence for sentence in named) for name in stack] == [1] * len(stack), named
    assert len(named) == len(stack), named


def test_options_that_no_profile_has_apart_are_told_together():
    """A position that is not read comes with the first of them; no word would say that it is not the last's."""
    found = judged(each(lambda row: replace(row, fields={**row.fields, "position": None})), name=POSITIONED)
    options = "position, primary-keys, xoffset, ids, ddl"
    assert [one.sentence for one in found] == [
        f"the column position is wrong for nearly every row under the options {options}, which no profile has apart"
    ]


def test_traits_that_differ_in_the_last_word_of_one_are_one():
    html, quote, other = (("kin", "text", "html"),), (("kin", "text", "quote"),), (("kin", "json", "html"),)
    assert _alternatives([html, quote, other, (("key",),)]) == [(("kin", "text", "html, quote"),), other, (("key",),)]
    create, drop = ((("trait", f"ddl:{what}"), ("release", "1.1.4")) for what in ("create", "drop"))
    (both,) = _alternatives([create, drop])
    assert _noun(both, "DDL message") == "DDL message with the trait ddl:create, ddl:drop and of release 1.1.4"
