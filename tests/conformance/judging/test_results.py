"""What a run comes to: its exit code, and what is counted on the way."""

from dataclasses import replace

import pytest

from conformance.judging.clusters import ALIKE, raised_alike, worth_reducing
from conformance.judging.findings import DECODING, CaseResult, Finding, Verdict
from conformance.judging.results import (
    Failure,
    FormatResult,
    Header,
    OwnTables,
    RuleResult,
    RunResult,
    versions,
)
from conformance.rules.rules import Aspect, Obligation, rules
from generators.model import Case, Deployment, Table
from generators.tables.schema import Note, Schema, UserTable

NAME = "ticdc-canal-json"
FIRST, SECOND, *_ = rules(NAME)
MUST, SHOULD = (
    replace(FIRST, obligation=Obligation.MUST),
    replace(SECOND, obligation=Obligation.SHOULD),
)


def case(verdict, *broken, known=()):
    empty = Case("c", NAME, "v7.1.6", Deployment(), 1, (), ())
    findings = tuple(Finding("c", rule.id, 0, 0, Aspect.VALUE, "", "", "") for rule in broken)
    return CaseResult(empty, verdict, findings, known=frozenset(rule.id for rule in known))


def judged(*cases, compared=1):
    compared_rules = tuple(RuleResult(rule, compared, 0) for rule in (MUST, SHOULD))
    return FormatResult(NAME, "d", (1, 2), cases, compared_rules, (), {}, 0, {})


def code(*cases, strict=False, compared=1):
    return RunResult(
        Header(1, "smoke", "d", "none", ""), (judged(*cases, compared=compared),), (), 0.0, strict
    ).exit_code


@pytest.mark.parametrize(
    ("result", "relaxed", "strict"),
    [
        *(
            (case(Verdict.PASS), 0, 0),
            (case(Verdict.REJECTED), 0, 0),
            (case(Verdict.FAIL, MUST), 1, 1),
        ),
        *(
            (case(Verdict.ACCEPTED, MUST), 1, 1),
            (case(Verdict.ERRORED), 1, 1),
            (case(Verdict.TIMEOUT), 1, 1),
        ),
        *(
            (case(Verdict.FAIL, MUST, known=[MUST]), 0, 0),
            (case(Verdict.FAIL, MUST, SHOULD, known=[MUST]), 0, 0),
        ),
        *(
            (case(Verdict.FAIL, MUST, SHOULD, known=[SHOULD]), 1, 1),
            (case(Verdict.NON_STRICT, SHOULD), 0, 1),
        ),
        *(
            (case(Verdict.NON_STRICT, SHOULD, known=[SHOULD]), 0, 0),
            (case(Verdict.INFORMATIONAL, SHOULD), 0, 1),
        ),
        (case(Verdict.UNSUPPORTED), 4, 4),
    ],
)
def test_the_exit_code_of_one_case(result, relaxed, strict):
    assert (code(result), code(result, strict=True)) == (relaxed, strict)


def test_one_judged_case_is_enough_and_none_is_not():
    assert (
        code(case(Verdict.UNSUPPORTED), case(Verdict.PASS)),
        code(),
        code(case(Verdict.PASS), compared=0),
    ) == (0, 4, 1)


@pytest.mark.parametrize(
    ("texts", "others", "left", "reduced"),
    [
        (["KeyError: 'old'"] * 3, [], 1, [ALIKE]),
        (["KeyError: 'old'"] * 3, [case(Verdict.PASS)], 1, [""]),
        (["KeyError: 'old'", "ValueError"], [], 2, ["", ""]),
        ([], [case(Verdict.PASS)], 0, []),
    ],
)
def test_what_ends_alike_is_one_failure_and_not_reduced_if_every_case_ends_so(
    texts, others, left, reduced
):
    ended = [
        Finding("c", MUST.id, 0, 0, Aspect.MISSING, DECODING, "an end", text) for text in texts
    ]
    cases = [replace(case(Verdict.ERRORED), findings=(finding,)) for finding in ended]
    broken = [
        Failure(MUST, result.findings[0], result, 1, keys=(str(number),))
        for number, result in enumerate(cases)
    ]
    failures = raised_alike(broken, judged(*cases, *others, case(Verdict.UNSUPPORTED)))
    assert (len(failures), [failure.reduced for failure in failures]) == (left, reduced)
    assert [key for failure in failures for key in failure.keys] == [
        key for failure in broken for key in failure.keys
    ]
    assert worth_reducing(failures)[0] == [
        failure for failure in failures if failure.reduced != ALIKE
    ]


def test_versions_name_what_a_verdict_may_depend_on():
    assert {"python", "pyspark", "hypothesis", "pyarrow"} <= versions().keys()


def test_of_a_database_s_url_only_its_kind_is_told():
    notes = (
        Note("mysql://me:secret@db.example/shop", 1, 2, "KEY", "left out"),
        Note("a.sql", 3, 4, "KEY", "left out"),
    )
    tables = (
        UserTable(Table("shop", "orders", ())),
        UserTable(Table("shop", "lines", (), schema="public")),
    )
    own = OwnTables.of(Schema("mysql", tables, notes), ("x",))
    assert (own.dialect, own.names, own.left_out) == (
        "mysql",
        ("shop.orders", "shop.public.lines"),
        ("x",),
    )
    assert [str(note) for note in own.notes] == [
        "mysql://...:1:2: KEY: left out",
        "a.sql:3:4: KEY: left out",
    ]
