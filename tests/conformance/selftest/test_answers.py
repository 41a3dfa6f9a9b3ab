"""The tables of docs/design.md on operators: made of the self test's lines, and true to the reasons."""

import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.selftest.answers import (
    COLUMNS,
    PAGE,
    Pair,
    rate_table,
    read_answers,
    reason_table,
    write_tables,
)
from conformance.selftest.checks import Check
from conformance.selftest.measuring import Measured, count_answers
from conformance.selftest.operators.catalogue import OPERATORS
from generators.wire_format import FORMATS

DOCS = Path(__file__).parents[3] / "docs"
RATE = {
    "pairs": 466,
    "convicted": 466,
    "named": 448,
    "misled": 0,
    "strict": 18,
    "drawn": 1,
    "undecided": 0,
    "missed": 0,
    "open": 0,
    "right": 1,
    "impossible": 92,
    "untried": 210,
}
LINES = [
    {"kind": "rate", "format": "ogg-json", "detail": "466 pairs", "rate": RATE},
    {
        "kind": "operator",
        "format": "ogg-json",
        "detail": "bytes-as-text at level 2",
        "measured": {"operator": "bytes-as-text", "level": 2, "answer": "loose"},
    },
    {
        "kind": "operator",
        "format": "ogg-json",
        "detail": "op-null at level 1",
        "measured": {"operator": "op-null", "level": 1, "answer": "convicted"},
    },
    {"kind": "liar", "format": "ogg-json", "detail": "convicted"},
]
WHY = "no page says how a binary is written: base64 is a reading (ogg#binary)"


@pytest.fixture
def answers():
    return read_answers(json.dumps(line) for line in LINES)


def test_the_self_tests_lines_are_read(answers):
    assert answers.pairs == (Pair("ogg-json", "bytes-as-text", 2),)
    assert answers.pairs[0].reason == WHY
    assert list(rate_table(answers))[2:] == [
        "| ogg-json | 466 | 448 | 0 | 18 | 1 | 0 | 0 | 1 | 92 | 210 |",
        "| all | 466 | 448 | 0 | 18 | 1 | 0 | 0 | 1 | 92 | 210 |",
    ]
    assert list(reason_table(answers))[2:] == [f"| {WHY} | ogg-json | 1 | bytes-as-text/2 |"]


def test_what_the_self_test_prints_is_what_the_tables_read():
    measured = Measured(
        "ogg-json",
        2,
        OPERATORS["bytes-as-text"],
        7,
        must_in_named_cases=Counter(),
        must_in_drawn_cases=Counter(),
        should_rules=Counter({"value/binary": 7}),
        may_rules=Counter(),
        example="",
    )
    checks = [
        Check("operator", "ogg-json", "bytes-as-text/2", True, "so", measured=measured),
        Check("rate", "ogg-json", "rate", True, "so", rate=count_answers([measured])),
    ]
    read = read_answers(json.dumps(check.as_json()) for check in checks)
    assert read.pairs == (Pair("ogg-json", "bytes-as-text", 2),)
    assert list(rate_table(read))[2] == "| ogg-json | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |"


def pairs_of_page(page):
    """The pairs that the page lists, each with the reason that stands beside it."""
    listed_pairs = []
    _, _, tables = page.partition("<!-- Of the self test")
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1] in FORMATS:
            for name in cells[3].split(", "):
                operator, _, level = name.rpartition("/")
                listed_pairs.append((cells[0], Pair(cells[1], operator, int(level))))
    return listed_pairs


def test_the_page_has_the_tables_between_its_marks(answers):
    page = (DOCS / PAGE).read_text("utf-8")
    changed = write_tables(page, answers)
    assert pairs_of_page(changed) == [(WHY, Pair("ogg-json", "bytes-as-text", 2))]
    assert write_tables(changed, answers) == changed


def test_the_page_has_every_format_and_none_has_a_pair_that_drawn_cases_alone_convict():
    _, _, tables = (DOCS / PAGE).read_text("utf-8").partition("<!-- Of the self test")
    heads = ["format", *COLUMNS.values()]
    shown = {}
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(heads) and cells[0] in FORMATS:
            rates = dict(zip(heads, cells, strict=True))
            shown[rates["format"]] = rates[COLUMNS["drawn"]], rates[COLUMNS["missed"]]
    assert shown == dict.fromkeys(FORMATS, ("0", "0"))


def test_every_pair_of_the_page_has_the_reason_that_the_self_test_gives():
    listed = pairs_of_page((DOCS / PAGE).read_text("utf-8"))
    assert listed
    assert [(pair, reason) for reason, pair in listed if pair.reason != reason] == []
    assert {pair.operator for _, pair in listed} <= set(OPERATORS)
    assert {pair.fmt for _, pair in listed} <= set(FORMATS)
