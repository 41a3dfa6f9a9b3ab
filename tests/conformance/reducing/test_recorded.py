"""Recorded cases are reduced by leaving out messages; no byte changes."""

from __future__ import annotations

from dataclasses import replace

from conformance.judging.judge import CaseResult, Finding, Verdict
from conformance.judging.results import Failure
from conformance.reducing.candidates import Hint, RecordedRecipe
from conformance.reducing.reduce import _track, reduce
from conformance.rules.rules import Aspect, rules
from generators.model import Change, Kind, Written
from generators.recorded import registry
from generators.wire_format import get

FMT = get("alibaba-canal-json")
RULE = next(rule for rule in rules(FMT.name) if rule.id.endswith("/value/unsigned"))


def case(name="alibaba-canal-json/recorded/main-1.1.8/h_live.t_int"):
    return next(one for one in registry.recorded_cases(FMT) if one.id == name)


def failure(found, message):
    finding = Finding(found.id, RULE.id, message, 0, Aspect.VALUE, "after['bu']", "1", "2", "bu", "after")
    return Failure(RULE, finding, CaseResult(found, Verdict.FAIL, (finding,)), 1)


def test_the_failing_message_is_left_with_its_bytes():
    whole = case()
    assert len(whole.written) == 13
    guilty = whole.written[1].message.value

    def ask(batches):
        for batch in batches:
            for candidate in batch.candidates:
                at = next((n for n, w in enumerate(candidate.case.written) if w.message.value == guilty), None)
                finding = replace(failure(whole, 1).finding, message=at or 0)
                yield candidate, CaseResult(candidate.case, Verdict.FAIL, () if at is None else (finding,))

    track = _track(FMT, failure(whole, 1), lambda _case: None)
    reduce([track], ask)
    assert list(track.case.written) == [whole.written[1]]
    assert track.case.id == whole.id and track.finding.message == 0
    assert track.size[0] == 1 and track.size < track.origin


def test_a_failure_that_needs_two_messages_keeps_both():
    whole = case()
    needed = {whole.written[1].message.value, whole.written[7].message.value}

    def ask(batches):
        for batch in batches:
            for candidate in batch.candidates:
                broken = needed <= {w.message.value for w in candidate.case.written}
                finding = replace(failure(whole, 7).finding, message=len(candidate.case.written) - 1)
                yield candidate, CaseResult(candidate.case, Verdict.FAIL, (finding,) if broken else ())

    track = _track(FMT, failure(whole, 7), lambda _case: None)
    reduce([track], ask)
    assert {w.message.value for w in track.case.written} == needed


def test_a_schema_stays_while_a_row_is_left():
    rows = case().written[:4]
    schema = Written(rows[0].message, (Change(0, Kind.BOOTSTRAP),))
    recipe = RecordedRecipe(FMT, FMT.profile("1.1.8"), replace(case(), written=(schema, *rows)))
    smaller = [recipe.case(one).written for one in recipe.smaller(recipe.scenario, Hint(message=2))]
    assert smaller[0] == (schema, rows[1])
    assert all(written[0] is schema for written in smaller)
    assert recipe.case(next(recipe.smaller(recipe.scenario, Hint(message=0)))).written == (schema,)
