"""Cells by the type of their column: right, lossy, refused, wrong, with the worst first."""

from dataclasses import replace

import pytest

from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import FormatResult
from conformance.reports import console, markdown, page
from conformance.reports.type_matrix import count_types, summarize_types, type_matrix
from conformance.rules.rules import Aspect
from generators.model import (
    Case,
    Cell,
    Change,
    Deployment,
    Kind,
    Message,
    Op,
    State,
    Table,
    Written,
)
from generators.sources import mysql

INT, BIT, FLOAT, TEXT = mysql.integer("int"), mysql.bit(), mysql.real("float"), mysql.text()
TABLE = Table("db", "t", ())
IMAGE = {
    "i": Cell(State.VALUE, INT, 1, "1"),
    "b": Cell(State.VALUE, BIT, 1, "1"),
    "f": Cell(State.ANY, FLOAT),
    "t": Cell(State.ABSENT, TEXT),
}


def judged(name, verdict, *findings, **image):
    change = Change(0, Kind.ROW, Op.INSERT, after={**IMAGE, **image})
    written = (Written(Message("cdc", 0, None, b"{}", case=name), (change,)),)
    case = Case(f"x-json/v1/{name}", "x-json", "v1", Deployment(), 1, (TABLE,), written)
    return CaseResult(case, verdict, findings)


def cell_finding(column):
    place = (f"after[{column!r}]", "1", "2", "after", column)
    return Finding("c", "r", 0, 0, Aspect.VALUE, *place)


def of_format(*cases):
    return FormatResult("x-json", "mine.py:decode", (1,), cases, (), (), {}, 0, {})


NO_ROW = Finding("c", "r", 0, 0, Aspect.CORRUPT, "kind", "ROW", "CORRUPT")


@pytest.mark.parametrize(
    ("cases", "figures"),
    [
        (
            [judged("good", Verdict.PASS)],
            {"int": "✓ 1", "bit": "✓ 1", "float": "~ 1 of 1"},
        ),
        (
            [judged("good", Verdict.PASS), judged("bad", Verdict.FAIL, cell_finding("b"))],
            {"int": "✓ 2", "bit": "✗ 1 of 2", "float": "~ 2 of 2"},
        ),
        (
            [judged("good", Verdict.PASS), judged("none", Verdict.FAIL, NO_ROW)],
            {"int": "- 1 of 2", "bit": "- 1 of 2", "float": "- 1 of 2"},
        ),
        (
            [judged("late", Verdict.TIMEOUT)],
            {"int": "- 1 of 1", "bit": "- 1 of 1", "float": "- 1 of 1"},
        ),
        ([judged("not", Verdict.UNSUPPORTED)], {}),
        (
            [judged("text", Verdict.PASS, t=Cell(State.NULL, TEXT))],
            {"int": "✓ 1", "bit": "✓ 1", "float": "~ 1 of 1", "varchar": "✓ 1"},
        ),
    ],
)
def test_cells_are_counted_by_type(cases, figures):
    counts = count_types(of_format(*cases))
    assert {key: count.figures for key, count in counts.items()} == figures


def test_the_worst_type_comes_first_and_every_format_has_its_column():
    one = of_format(judged("bad", Verdict.FAIL, cell_finding("b")))
    other = of_format(judged("text", Verdict.PASS, t=Cell(State.NULL, TEXT)))
    rows = type_matrix((one, other))
    assert [(row.key, [count and count.figures for count in row.counts]) for row in rows] == [
        ("bit", ["✗ 1 of 1", "✓ 1"]),
        ("float", ["~ 1 of 1", "~ 1 of 1"]),
        ("int", ["✓ 1", "✓ 1"]),
        ("varchar", [None, "✓ 1"]),
    ]
    assert summarize_types(rows) == "✗ wrong: bit; ~ lossy: float; ✓ right: 2 types"
    assert summarize_types(type_matrix((of_format(),))) == ""


def test_every_report_has_the_types(full):
    fmt = replace(full.formats[0], cases=(*full.formats[0].cases, judged("good", Verdict.PASS)))
    result = replace(full, formats=(fmt,))
    assert (
        '<th scope="row"><code>float</code></th><td class="warn">~ 1 of 1</td>'
        in page.page_of_run(result)
    )
    folded = page.page_of_run(result).partition("<summary>2 types are right</summary>")[2]
    assert '<code>float</code></th><td class="warn">' not in folded
    assert folded.count('<td class="good">✓') == 2
    assert "| <code>float</code> | ~ 1 of 1 |" in markdown.render(result)
    lines = [str(part) for part in console.render(result).renderables]
    assert "types: ~ lossy: float; ✓ right: 2 types" in lines
    assert "Types of columns" not in page.page_of_run(full)
