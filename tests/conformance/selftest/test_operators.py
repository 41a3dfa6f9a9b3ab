"""Operators: each changes what it names, under its conditions, and what becomes of it is
counted.
"""

import fnmatch
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest import measuring
from conformance.selftest.bench import Bench, bench_of_cases
from conformance.selftest.measuring import Answer
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import WORDS, when
from conformance.selftest.operators.operator import MessageContext, Operator
from generators.model import Case, Cell, Change, Deployment, Kind, Message, Op, State
from generators.sources import mysql
from generators.wire_format import FORMATS, get


def altered(name: str, slug: str, held: object, level: int = 1) -> object:
    """What an operator makes of a value of that type."""
    cell = Cell(State.VALUE, mysql.TYPES[slug])
    change, case = (
        Change(0, Kind.ROW, Op.INSERT, after={"c": cell}),
        Case("f/p/s", "f", "p", Deployment(), level, (), ()),
    )
    (row,) = OPERATORS[name].alter(
        [OutputRow(0, "ROW", "INSERT", after={"c": held})], MessageContext(case, (change,))
    )
    assert row.after is not None
    return row.after["c"]


@pytest.mark.parametrize(
    ("name", "slug", "held", "level", "becomes"),
    [
        *(
            ("text-unescaped-twice", "varchar", r"a\nA", 1, "a\nA"),
            ("text-composed", "varchar", "e\u0301", 2, "é"),
        ),
        ("integer-unsigned-as-signed", "unsigned-bigint", "18446744073709551615", 1, "-1"),
        (
            "integer-unsigned-as-signed",
            "unsigned-int",
            Typed("int", 1 << 31),
            2,
            Typed("int", -(1 << 31)),
        ),
        ("decimal-cut-to-38-digits", "decimal-10-0", "9007199254740993", 1, "9007199254740993"),
        ("integer-through-a-double", "bigint", "9007199254740993", 1, "9007199254740992"),
        ("real-negative-zero-as-zero", "double", "-0.0", 1, "0.0"),
        *(
            ("real-widened", "float", "1.1", 1, "1.100000023841858"),
            ("real-widened", "float", "1E39", 1, "1E39"),
        ),
        *(
            ("real-widened", "float", "5E-1", 1, "5E-1"),
            ("real-widened", "float", "Infinity", 1, "Infinity"),
        ),
        (
            "datetime-eight-hours-late",
            "datetime-3",
            "2024-01-02 20:00:00.500",
            1,
            "2024-01-03 04:00:00.500",
        ),
        (
            "timestamp-milliseconds",
            "timestamp-6",
            Typed("timestamp", 1_234_567),
            2,
            Typed("timestamp", 1_234_000),
        ),
        (
            "decimal-point-dropped",
            "decimal-65-30",
            "12345678901234567890123456789012345.123456789012345678901234567891",
            1,
            "12345678901234567890123456789012345123456789012345678901234567891",
        ),
        ("time-within-a-day", "time-0", "-00:00:01", 1, "23:59:59"),
        *(
            ("date-a-day-early", "date", "2024-03-01", 1, "2024-02-29"),
            ("enum-label-for-index", "enum", "2", 1, "b"),
        ),
        ("set-31-bits", "set-64", Typed("decimal", 1 << 40), 2, Typed("decimal", 0)),
        ("binary-trailing-zeros-cut", "binary", Typed("binary", b"a\0"), 2, Typed("binary", b"a")),
        ("json-keys-lower-case", "json", '{"Key":1}', 1, '{"key": 1}'),
        (
            "wall-clocks-as-instants",
            "datetime-0",
            Typed("timestamp_ntz", 5),
            2,
            Typed("timestamp", 5),
        ),
    ],
)
def test_what_a_fault_makes_of_a_value(
    name: str, slug: str, held: object, level: int, becomes: object
) -> None:
    assert altered(name, slug, held, level) == becomes


@pytest.mark.parametrize("number", [5, Decimal("1E+3"), Decimal("7654321.350")])
def test_a_decimal_that_loses_no_digit_stays_what_it_is(number: int | Decimal) -> None:
    held = Typed("decimal", number)
    assert repr(altered("decimal-cut-to-38-digits", "decimal-10-2", held, 2)) == repr(held)


def test_a_value_of_another_type_stays() -> None:
    assert altered("text-upper-case", "enum", "a") == "a"


MESSAGE = Message("t", 0, b"k", b'{"op":"u","old":null}')
CASE = Case("f/p/s", "f", "p", Deployment(), 1, (), (), tags=frozenset({"reduced"}))
ROW = OutputRow(
    3,
    "ROW",
    "UPDATE",
    {"database": "d", "table": "t", "position": "7:1", "keys": ["a"]},
    {"a": None},
    {"a": "x"},
)


def general(*does: object, **conditions: str) -> list[OutputRow]:
    """What a general operator makes of a row."""
    alter = when(WORDS[str(does[0])](*does[1:]), conditions)
    return list(alter([ROW], MessageContext(CASE, (), (replace(ROW, op="READ"),), MESSAGE)))


@pytest.mark.parametrize(
    ("does", "becomes"),
    [
        *(
            (("lost",), []),
            (
                ("refused",),
                [replace(ROW, kind="CORRUPT", op=None, before=None, after=None, error="refused")],
            ),
        ),
        (("as", "ROW"), [replace(ROW, op="INSERT", before=None, after={})]),
        (("as", "DDL"), [replace(ROW, kind="DDL", op=None, before=None, after=None)]),
        *(
            (("twice",), [ROW, replace(ROW, row=4)]),
            (("put", "op", "INSERT"), [replace(ROW, op="INSERT")]),
        ),
        (("put", "table", "u"), [replace(ROW, fields={**ROW.fields, "table": "u"})]),
        (
            ("null", "before", "keys"),
            [replace(ROW, before=None, fields={**ROW.fields, "keys": None})],
        ),
        (("fill", "schema", "database"), [replace(ROW, fields={**ROW.fields, "schema": "d"})]),
        (("copy", "table", "database"), [replace(ROW, fields={**ROW.fields, "table": "d"})]),
        (
            ("join", "table", "database", "table"),
            [replace(ROW, fields={**ROW.fields, "table": "d.t"})],
        ),
        (("sub", "position", ":.*", ""), [replace(ROW, fields={**ROW.fields, "position": "7"})]),
        (("sub", "keys", "a", "b"), [replace(ROW, fields={**ROW.fields, "keys": ["b"]})]),
        *(
            (("texts", "x", "y"), [replace(ROW, after={"a": "y"})]),
            (("texts-null", "x"), [replace(ROW, after={"a": None})]),
        ),
        *(
            (("nulls-as", "5"), [replace(ROW, before={"a": "5"})]),
            (("all-null",), [replace(ROW, after={"a": None})]),
        ),
        (("columns", "a", "b"), [replace(ROW, before={"b": None}, after={"b": "x"})]),
        (("columns-lost", "a"), [replace(ROW, after={"a": None})]),
    ],
)
def test_what_a_general_operator_makes_of_a_row(
    does: tuple[object, ...], becomes: list[OutputRow]
) -> None:
    assert general(*does) == becomes


@pytest.mark.parametrize(
    ("conditions", "held"),
    [
        *(
            ({"kind": "ROW", "op": "INSERT|UPDATE"}, True),
            ({"op": "INSERT"}, False),
            ({"message": '"old": ?null'}, True),
        ),
        *(
            ({"message": "^(?!.*old)"}, False),
            ({"null": "value"}, False),
            ({"tag": "^reduced"}, True),
        ),
        *(
            ({"profile": "^q"}, False),
            ({"column": "^a$"}, True),
            ({"table": "^t"}, True),
            ({"lacks": "schema"}, True),
        ),
        *(({"lacks": "after"}, False), ({"again": "position"}, True), ({"again": "schema"}, False)),
    ],
)
def test_a_condition_chooses_the_rows_that_are_altered(
    conditions: dict[str, str], held: bool
) -> None:
    assert (general("lost", **conditions) == []) is held


def test_what_becomes_of_an_operator() -> None:
    """Convicted by a rule that names it or another, not convicted, or without effect: each is
    counted.
    """
    fmt = get("huawei-cdl-json")
    tried, upper = (
        bench_of_cases(fmt, named_cases(fmt, fmt.profiles[:1])),
        OPERATORS["text-upper-case"],
    )
    corrupt = OutputRow(0, "CORRUPT", None, error="x")
    unseen = Operator(
        "unseen", ("*",), lambda rows, _: [row if row.error is None else corrupt for row in rows]
    )
    idle = [
        Operator(name, ("*",), lambda rows, _seen: list(rows))
        for name in ("nothing", "year-nothing")
    ]
    chosen = (upper, replace(upper, name="wrong", apt=("law/*",)), unseen, *idle)
    measured = {(m.operator.name, m.level): m for m in measuring.measure(tried, chosen)}
    answers = [measured[operator.name, 1].answer for operator in chosen]
    assert answers == [
        Answer.CONVICTED,
        Answer.MISLED,
        Answer.MISSED,
        Answer.UNTRIED,
        Answer.IMPOSSIBLE,
    ]
    rate = measuring.count_answers(list(measured.values()))
    assert (rate.impossible, rate.untried, rate.misled) == (2, 2, 2)


def test_what_the_cover_does_not_convict_is_tried_on_every_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fmt, upper = get("huawei-cdl-json"), OPERATORS["text-upper-case"]
    tried = bench_of_cases(fmt, named_cases(fmt, fmt.profiles[:1]))

    def alter(rows, seen):
        return upper.alter([replace(row, error=row.error and "x") for row in rows], seen)

    both = replace(upper, logicals=(), alter=alter)
    changed = [
        answered
        for answered in tried.cases.values()
        if answered.case.level == 1 and answered.apply_operator(both)
    ]
    reasons = [answered for answered in changed if answered.apply_operator(upper) is None]
    monkeypatch.setattr(Bench, "cover", lambda _self, _level: reasons)
    assert 3 < len(reasons) < len(changed)
    assert next(measuring.measure(tried, [both])).answer is Answer.CONVICTED


def test_a_pair_that_no_must_rule_convicts_has_a_reason_or_fails_the_self_test() -> None:
    def answer(name: str, operator: str, level: int) -> Answer:
        none = Counter[str]()
        return measuring.Measured(
            name, level, OPERATORS[operator], 1, none, none, Counter({"value/some": 1}), none, ""
        ).answer

    assert answer("huawei-cdl-debezium", "datetime-eight-hours-late", 2) is Answer.LOOSE
    assert answer("huawei-cdl-debezium", "datetime-milliseconds", 2) is Answer.UNDECIDED
    assert answer("huawei-cdl-debezium", "integer-sign-lost", 2) is Answer.UNDECIDED
    assert Answer.UNDECIDED in measuring.HOLES


def test_every_reason_is_about_operators_that_are_there() -> None:
    places = [
        f"{name}/{operator}/{level}"
        for name in FORMATS
        for operator in OPERATORS
        for level in (1, 2)
    ]
    for table in ("right", "impossible", "loose"):
        for _, globs in measuring.reasons(table):
            assert [glob for glob in globs if not fnmatch.filter(places, glob)] == []
