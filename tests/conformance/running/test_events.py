"""What a run tells while it goes on, and what is left of one that does not finish."""

import json
from dataclasses import replace

import pytest
from shown import shown

from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import (
    INTERRUPTED,
    CallResult,
    Failure,
    FormatResult,
    Header,
    RuleResult,
    RunResult,
)
from conformance.reports import badge, console, facts, junit, markdown, page, records
from conformance.rules.rules import Aspect, rules
from conformance.running import events
from conformance.running.events import Broken, Collected, Decoded, Finished, Judged, Started
from generators.model import Case, Deployment, Message, Written

NAMES = ("ticdc-canal-json", "huawei-cdl-json")
HEAD = Header(7, "smoke", "mine.py:decode", "none", "")
RULE = next(rule for rule in rules(NAMES[0]) if not rule.law)


def judged(name, *findings):
    case = Case(
        f"{name}/v/c", name, "v", Deployment(), 1, (), (Written(Message("t", 0, None, b"{}"), ()),)
    )
    verdict = Verdict.FAIL if findings else Verdict.PASS
    counted = RuleResult(RULE, 1, len(findings))
    return FormatResult(
        name, "mine", (1, 2), (CaseResult(case, verdict, findings),), (counted,), (), {}, 0, {}
    )


FINDING = Finding(f"{NAMES[0]}/v/c", RULE.id, 0, 0, Aspect.VALUE, "kind", "x", "y")
BAD = judged(NAMES[0], FINDING)
FAILURE = Failure(RULE, FINDING, BAD.cases[0], 1)
BROKEN = Broken(NAMES[0], RULE, FINDING, BAD.cases[0])
CALL = CallResult("level 1", 1, 3, 4, 0.5)


def collected(*seen):
    """What is left of a run of which these events were seen."""
    left = Collected()
    for event in seen:
        left(event)
    return left


def test_nothing_is_left_of_a_run_that_judged_nothing():
    assert collected().unfinished_result(INTERRUPTED) is None
    assert (
        collected(Started(HEAD, NAMES), events.Working("drawing")).unfinished_result(INTERRUPTED)
        is None
    )


def test_what_is_known_of_an_unfinished_run_is_its_result():
    seen = collected(Started(HEAD, NAMES, strict=True), BROKEN, Judged(BAD))
    left = seen.unfinished_result(INTERRUPTED)
    assert left is not None
    assert (left.header, left.formats, left.unjudged, left.strict) == (
        HEAD,
        (BAD,),
        (NAMES[1],),
        True,
    )
    assert ([(f.rule, f.finding) for f in left.failures], left.exit_code, left.verdict) == (
        [(RULE, FINDING)],
        130,
        1,
    )
    assert seen.unfinished_result("the disk is full").exit_code == 3


def test_a_rule_that_is_broken_before_its_format_is_judged_is_known():
    left = collected(Started(HEAD, NAMES), BROKEN).unfinished_result(INTERRUPTED)
    assert left is not None
    assert (left.formats, left.unjudged, left.failures[0].finding) == ((), NAMES, FINDING)


def test_a_reduced_failure_takes_the_place_of_the_first_case():
    small = replace(FAILURE, cases=9, reduced="from 9 rows")
    seen = collected(Started(HEAD, NAMES), BROKEN, Judged(BAD), events.Reduced(small))
    assert seen.unfinished_result(INTERRUPTED).failures == (small,)


@pytest.mark.parametrize(
    ("why", "words"),
    [(INTERRUPTED, "UNFINISHED, interrupted"), ("disk full", "the harness failed")],
)
def test_every_report_of_an_unfinished_run_says_so(why, words):
    left = collected(Started(HEAD, NAMES), Judged(judged(NAMES[1]))).unfinished_result(why)
    line = facts.headline(left)
    assert words in line
    assert f"1 of 2 formats judged whole, so far: conforms; not judged: {NAMES[0]}" in line
    assert words in shown(console.render(left))
    assert badge.badge(left)["message"] == "unfinished"
    for text in (markdown.render(left), page.page_of_run(left), junit.render(left)):
        assert "UNFINISHED" in text
    footer = list(records.records(left))[-1]
    assert (footer["ended"], footer["unjudged"], footer["exit_code"]) == (
        why,
        [NAMES[0]],
        left.exit_code,
    )


def test_lines_are_streamed_as_formats_are_judged_and_equal_the_whole_report():
    lines = []
    stream, result = (
        records.Stream(lines.append),
        RunResult(HEAD, (BAD, judged(NAMES[1])), (FAILURE,), 1.0),
    )
    stream(Started(HEAD, NAMES))
    assert lines == []
    stream(Judged(BAD))
    assert [line["type"] for line in lines] == ["header", "case", "rule"]
    stream(Judged(result.formats[1]))
    stream(Finished(result))
    stream.close(result)
    assert json.dumps(lines) == json.dumps(list(records.records(result)))


def test_a_stream_that_saw_nothing_gives_the_whole_report():
    lines, result = [], RunResult(HEAD, (BAD,), (), 1.0)
    records.Stream(lines.append).close(result)
    assert lines == list(records.records(result))


def test_events_as_words():
    words = []
    listen = events.together(events.noting(words.append), events.ignore)
    events.working(listen)("starting")
    calls = (Decoded("f", CALL), Decoded("f", replace(CALL, note="raised")))
    for event in (events.Drawn("f", 1234, 5, 2000, 3, 0.1), *calls, Judged(BAD)):
        listen(event)
    listen(Finished(RunResult(HEAD, (), (), 0.0)))
    assert words == [
        *(
            "starting",
            "f: 2,000 messages of 1,234 cases; 3 decode calls",
            "f: level 1 judged",
            "f: level 1 judged: raised",
        ),
        f"{NAMES[0]}: 1 cases judged",
    ]
