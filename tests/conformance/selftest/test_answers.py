"""The tables of docs/design.md on operators: made of the self test's lines, and true to the reasons."""

import json
from pathlib import Path

import pytest

from conformance.selftest.answers import (
    PAGE,
    Pair,
    pairs_of_page,
    rate_table,
    read_answers,
    reason_table,
    write_tables,
)
from conformance.selftest.measuring import rate_text
from conformance.selftest.operators.catalogue import OPERATORS
from generators.wire_format import FORMATS

DOCS = Path(__file__).parents[3] / "docs"
LINES = [
    {
        "kind": "rate",
        "format": "ogg-json",
        "detail": "466 pairs of operator and level, 466 convicted (100.0%): 448 by a rule that names the fault, 0 by"
        " one that misleads, 18 only with --strict, 1 by drawn cases alone; 0 without a reason for that; 0 not at all."
        " Beside them 0 on which no source decides, 1 that are right here, 92 that the format makes impossible, 210"
        " that no case has",
    },
    {
        "kind": "operator",
        "format": "ogg-json",
        "detail": "bytes-as-text at level 2: convicted only with --strict in 7 cases; value/binary (7): no page says",
    },
    {
        "kind": "operator",
        "format": "ogg-json",
        "detail": "op-null at level 1: convicted in 2 cases; rows/op (2)",
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


def test_the_text_of_no_operators_is_read():
    (read,) = read_answers(
        [json.dumps({"kind": "rate", "format": "x", "detail": rate_text([])})]
    ).rates.values()
    assert set(read.values()) == {"0"}


def test_the_page_has_the_tables_between_its_marks(answers):
    page = (DOCS / PAGE).read_text("utf-8")
    changed = write_tables(page, answers)
    assert pairs_of_page(changed) == [(WHY, Pair("ogg-json", "bytes-as-text", 2))]
    assert write_tables(changed, answers) == changed


def test_every_pair_of_the_page_has_the_reason_that_the_self_test_gives():
    listed = pairs_of_page((DOCS / PAGE).read_text("utf-8"))
    assert listed
    assert [(pair, reason) for reason, pair in listed if pair.reason != reason] == []
    assert {pair.operator for _, pair in listed} <= set(OPERATORS)
    assert {pair.fmt for _, pair in listed} <= set(FORMATS)
