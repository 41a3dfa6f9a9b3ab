"""New faults: each changes what it names, a right decoder's rows are accused of nothing, and what is convicted is counted."""

from collections import Counter

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.judge import BAD, Judge
from conformance.judging.output import OutputRow
from conformance.rules.base import rules
from conformance.selftest.ideas import measuring, perfect
from conformance.selftest.ideas.base import Idea, Seen
from conformance.selftest.ideas.measuring import IDEAS, Answer
from generators.model import Case, Cell, Change, Deployment, Kind, Logical, Op, State
from generators.sources import mysql
from generators.wire_format import FORMATS, get

BY_NAME = {idea.name: idea for idea in IDEAS}


def told(name: str, slug: str, held: object, level: int = 1) -> object:
    """What an idea makes of a value of that type."""
    cell = Cell(State.VALUE, mysql.TYPES[slug])
    change = Change(0, Kind.ROW, Op.INSERT, after={"c": cell})
    case = Case("f/p/s", "f", "p", Deployment(), level, (), ())
    (row,) = BY_NAME[name].alter([OutputRow(0, "ROW", "INSERT", after={"c": held})], Seen(case, (change,)))
    assert row.after is not None
    return row.after["c"]


def test_there_are_more_than_two_hundred_and_no_name_twice() -> None:
    assert len(BY_NAME) == len(IDEAS) > 300


@pytest.mark.parametrize(
    ("name", "slug", "held", "level", "becomes"),
    [
        ("text-unescaped-twice", "varchar", r"a\nA", 1, "a\nA"),
        ("text-composed", "varchar", "e\u0301", 2, "é"),
        ("integer-unsigned-as-signed", "unsigned-bigint", "18446744073709551615", 1, "-1"),
        ("integer-unsigned-as-signed", "unsigned-int", Typed("int", 1 << 31), 2, Typed("int", -(1 << 31))),
        ("integer-through-a-double", "bigint", "9007199254740993", 1, "9007199254740992"),
        ("real-negative-zero-as-zero", "double", "-0.0", 1, "0.0"),
        ("datetime-eight-hours-late", "datetime-3", "2024-01-02 20:00:00.500", 1, "2024-01-03 04:00:00.500"),
        ("timestamp-milliseconds", "timestamp-6", Typed("timestamp", 1_234_567), 2, Typed("timestamp", 1_234_000)),
        ("time-within-a-day", "time-0", "-00:00:01", 1, "23:59:59"),
        ("date-a-day-early", "date", "2024-03-01", 1, "2024-02-29"),
        ("enum-label-for-index", "enum", "2", 1, "b"),
        ("set-31-bits", "set-64", Typed("decimal", 1 << 40), 2, Typed("decimal", 0)),
        ("binary-trailing-zeros-cut", "binary", Typed("binary", b"a\0"), 2, Typed("binary", b"a")),
        ("json-keys-lower-case", "json", '{"Key":1}', 1, '{"key": 1}'),
        ("wall-clocks-as-instants", "datetime-0", Typed("timestamp_ntz", 5), 2, Typed("timestamp", 5)),
    ],
)
def test_what_a_fault_makes_of_a_value(name: str, slug: str, held: object, level: int, becomes: object) -> None:
    assert told(name, slug, held, level) == becomes


def test_a_value_of_another_type_stays() -> None:
    assert told("text-upper-case", "enum", "a") == "a"


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_case_owes_is_accused_of_nothing(name: str) -> None:
    fmt = get(name)
    judge, verdicts = Judge(rules(name)), Counter[str]()
    for case in list(named_cases(fmt, fmt.profiles[:1]))[::7]:
        rows = [[perfect.row(change, case.level) for change in perfect.owed(case, w)] for w in case.written]
        result = judge.judge(case, rows, case.tables[0].name if case.level == 2 else None)
        assert not result.findings, case.id
        verdicts[result.verdict] += 1
    assert not set(verdicts) & BAD
    assert verdicts["pass"] > 30


def test_a_fault_is_convicted_by_a_rule_that_names_it_or_misled_or_missed() -> None:
    fmt = get("huawei-cdl-json")
    upper = BY_NAME["text-upper-case"]
    nothing = Idea("nothing", ("*",), lambda rows, _seen: list(rows))
    wrong = Idea("wrong", ("law/*",), upper.alter, upper.logicals)
    other = Idea("other-reason", ("*",), BY_NAME["corrupt-twice"].alter)
    unseen = Idea(
        "unseen", ("*",), lambda rows, _: [r if r.error is None else OutputRow(0, "CORRUPT", None, error="x") for r in rows]
    )
    found = {(m.idea.name, m.level): m for m in measuring.measure(fmt, 1, (upper, nothing, wrong, other, unseen))}
    assert ("nothing", 1) not in found
    answers = {name: found[name, 1].answer for name in ("text-upper-case", "wrong", "other-reason", "unseen")}
    assert answers == {
        "text-upper-case": Answer.CONVICTED,
        "wrong": Answer.MISLED,
        "other-reason": Answer.CONVICTED,
        "unseen": Answer.MISSED,
    }
    assert "1 not at all" in measuring.rate([found["unseen", 1]])
    assert found["text-upper-case", 1].named["value/wire"] or found["text-upper-case", 1].named
    assert Logical.TEXT in upper.logicals
