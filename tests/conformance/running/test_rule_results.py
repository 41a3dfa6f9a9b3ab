"""Which rules a run must exercise: all of them, when nothing was left out and the decoder is the reference."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from conformance.cases.catalogue import Budget
from conformance.engines.engine import Loaded
from conformance.judging.judge import Capabilities, CaseResult, Judge, Verdict
from conformance.judging.results import FormatResult, Header, RunResult
from conformance.rules.rules import rules
from conformance.running.prepared import Settings
from conformance.running.run import _rule_result
from generators.model import Case, Deployment

NAME = "ticdc-canal-json"


@pytest.mark.parametrize(
    ("changed", "levels", "claims", "kept", "code"),
    [
        *(({}, (1, 2), {}, True, 1), ({}, (1, 2), {"columns": ("sql",)}, True, 0), ({}, (1, 2), {"profiles": ("v7*",)}, True, 0)),
        *(({}, (1, 2), {"kinds": ("ROW",)}, True, 0), ({}, (1, 2), {"types": ("int",)}, True, 0), ({}, (1,), {}, True, 0)),
        *(({}, (1, 2), {}, False, 0), ({"select": ("*/ddl/*",)}, (1, 2), {}, True, 0)),
        *(({"exclude": ("*/ddl/*",)}, (1, 2), {}, True, 0), ({"writer_profile": "v7*"}, (1, 2), {}, True, 0)),
        ({"decoder": "mine.py:decode"}, (1, 2), {}, True, 0),
    ],
)
def test_a_rule_that_compared_nothing_fails_a_whole_run_of_a_reference_decoder(changed, levels, claims, kept, code):
    first, second = rules(NAME)[:2]
    judge = Judge(rules(NAME))
    judge.compared[first.id] = 3
    settings = replace(Settings((NAME,), Budget("tiny", 0, 12), 7), **changed)
    one = SimpleNamespace(settings=settings, loaded=Loaded(levels, Capabilities(**claims)))
    found = tuple(_rule_result(one, judge, rule, kept) for rule in (first, second))
    assert [(rule.compared, rule.reachable) for rule in found] == [(3, code == 1), (0, code == 1)]
    case = CaseResult(Case("c", NAME, "v7.1.6", Deployment(), 1, (), ()), Verdict.PASS)
    judged = FormatResult(NAME, "d", levels, (case,), found, (), {}, 0, {})
    assert judged.unexercised == ((second.id,) if code else ())
    assert RunResult(Header(1, "smoke", "d", "none", ""), (judged,), (), 0.0).exit_code == code
