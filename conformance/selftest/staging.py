"""A few cases of a format, laid out for decoders of an engine, and how liars are tried on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from conformance.cases.catalogue import BUDGETS, Call, group_calls
from conformance.engines.engine import Engine, Loaded, Request, assign_places, ranges_of
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import CaseResult, Finding
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow, Place, read
from conformance.rules.rules import Aspect
from conformance.running import laws
from conformance.running.isolating import find_stray_rows, isolate_failing_cases
from conformance.running.prepared import Prepared, Settings, decode_request, seeded_sample
from conformance.selftest.bench import AnsweredCase, Bench
from generators.model import Case, Change, Kind, Message

LAW_SAMPLE: Final = 4
"""Messages on which a liar (a decoder that is wrong on purpose) is tried that breaks a law, a rule
on decode calls.
"""
CASES: Final = 12
"""Cases on which a liar (a decoder that is wrong on purpose) is tried in an engine, among those in
which its rule decides something.
"""
CALLS: Final = 4
"""Limit of decode calls for a liar (a decoder that is wrong on purpose); one is made only if those
before did not convict it.
"""
READABLE: Final = 24
"""Limit of readable cases for liars that break laws, and of the messages of each."""
_SMALL: Final = 100_000
"""Bytes up to which a message, or a case, is small enough for liars that break laws."""
_LAWS: Final = (
    "/law/returns",
    "/law/places",
    "/law/batch-independence",
    "/law/environment-independence",
)
"""The ends of the ids of laws on decode calls: rules whose breach is not seen in the rows of one
call.
"""


def breaks_law_of_calls(convicts: str) -> bool:
    """Whether the rule of this id is a law on decode calls, whose breach is not seen in the rows of
    one call.
    """
    return convicts.endswith(_LAWS)


def choose_law_cases(bench: Bench) -> list[Case]:
    """The cases of level one (cells as text) on which liars (decoders that are wrong on purpose)
    are tried that break laws, all of one deployment and profile. They are at most READABLE small
    cases in which all changes are rows, and one of an unreadable message. If no small case has rows
    alone, those that also have marks of transactions (BEGIN, COMMIT) are taken.
    """
    level_one = (answered.case for answered in bench.cases.values() if answered.case.level == 1)
    law_cases = [case for case in level_one if case.scenario.startswith(("shape/", "fault/"))]
    first = min(law_cases, key=_deployment_key)
    same_deployment = [
        case
        for case in law_cases
        if case.deployment == first.deployment and case.profile == first.profile
    ]
    small_cases = [case for case in same_deployment if _is_small_case(case)]
    with_marks = [case for case in small_cases if _has_kinds(case, Kind.ROW, Kind.TRANSACTION)]
    readable = [case for case in with_marks if _has_kinds(case, Kind.ROW)] or with_marks
    unreadable = filter(is_unreadable, same_deployment)
    return [*islice(readable, READABLE), *islice(unreadable, 1)]


def _deployment_key(case: Case) -> tuple[bool, bool]:
    """A sort key: first no compression, then a time zone other than UTC, which hides errors."""
    return case.deployment.compression != "none", case.deployment.time_zone == "UTC"


def _is_small_case(case: Case) -> bool:
    """Whether a case has few and small messages: a case of many messages, all of one table, would
    make up nearly all of a sample.
    """
    size = sum(written.message.size for written in case.written)
    return len(case.written) < READABLE and size < _SMALL


def _has_kinds(case: Case, *kinds: Kind) -> bool:
    """Whether all changes of a case are of these kinds."""
    return {change.kind for change in _changes_of_case(case)} <= set(kinds)


def _changes_of_case(case: Case) -> list[Change]:
    """The changes of all messages of a case, in order."""
    return list(chain.from_iterable(written.changes for written in case.written))


def is_unreadable(case: Case) -> bool:
    """Whether the case consists of one malformed message for which a CORRUPT row is owed, and no
    other rows are right too.
    """
    changes = _changes_of_case(case)
    return len(changes) == 1 and changes[0].kind is Kind.CORRUPT and not changes[0].anything


def messages_of_calls(calls: Iterable[Call]) -> Iterator[Message]:
    """All messages of the cases of some decode calls."""
    for call in calls:
        for case in call.cases:
            for written in case.written:
                yield written.message


def stage_cases(
    bench: Bench, cases: Iterable[Case], seed: int, decoder: str, unsent: Collection[int] = ()
) -> Prepared:
    """The cases grouped into decode calls of the decoder that `decoder` names, with a place (topic,
    partition and offset) for each message. Messages whose identity (`id`) is in `unsent` have none.
    """
    calls = group_calls(bench.fmt, cases, (1, 2), seed)
    messages = [message for message in messages_of_calls(calls) if id(message) not in unsent]
    places = dict(zip(map(id, messages), assign_places(messages), strict=True))
    return Prepared(
        Settings((bench.fmt.name,), BUDGETS["smoke"], seed),
        bench.fmt,
        decoder,
        Loaded((1, 2), Capabilities()),
        calls,
        places,
        bench.fmt.name,
        [],
        0,
        counted_rules=frozenset(rule.id for rule in bench.judge.rules),
    )


def right_rows_by_place(bench: Bench, prepared: Prepared) -> dict[Place, tuple[OutputRow, ...]]:
    """The rows that a right decoder returns for the cases of level one, by the places of their
    messages.
    """
    rows_by_place: dict[Place, tuple[OutputRow, ...]] = {}
    for call in prepared.calls:
        for case in call.cases if call.level == 1 else ():
            rows_of_messages = bench.cases[case.id].rows
            for written, output_rows in zip(case.written, rows_of_messages, strict=True):
                rows_by_place[prepared.place(written.message)] = tuple(output_rows)
    return rows_by_place


def results_of_liar(
    engine: Engine,
    prepared: Prepared,
    convicts: str,
    level: int,
    seed: int,
    judge: Judge,
    case_ids: Collection[str],
) -> list[CaseResult]:
    """The results of a liar (a decoder that is wrong on purpose), whose decoder is that of
    `prepared`. `convicts` is the id of the rule that must catch it. If that is a law on decode
    calls, the liar is tried as the law says; else on the cases of `case_ids`, at most CALLS calls
    one after the other, until the rule is broken.

    Raises what a decode call raises.
    """
    if convicts.endswith("/law/returns"):
        return _results_of_raising(engine, prepared, convicts)
    if convicts.endswith("/law/places"):
        return _results_of_straying(engine, prepared, judge)
    if breaks_law_of_calls(convicts):
        return _results_of_changing(engine, prepared, level, seed, judge)
    results: list[CaseResult] = []
    for call in _calls_of_cases(prepared, level, case_ids)[:CALLS]:
        results += judge_cases(engine, prepared, call, call.cases, judge)
        if any(_is_convicted(result, convicts) for result in results):
            break
    return results


def _calls_of_cases(prepared: Prepared, level: int, case_ids: Collection[str]) -> list[Call]:
    """The decode calls of a level, each with only those of its cases whose ids are given. Calls
    with the most cases come first, but calls for a server in UTC, where errors of time zones do not
    show, come last.
    """
    calls: list[Call] = []
    for call in prepared.calls:
        cases = tuple(case for case in call.cases if case.id in case_ids)
        if call.level == level and cases:
            calls.append(replace(call, cases=cases))
    return sorted(calls, key=lambda call: (call.deployment.time_zone == "UTC", -len(call.cases)))


def _is_convicted(result: CaseResult, rule_id: str) -> bool:
    """Whether the result of a case has a finding of this rule."""
    return any(finding.rule == rule_id for finding in result.findings)


def judge_cases(
    engine: Engine, prepared: Prepared, call: Call, cases: Sequence[Case], judge: Judge
) -> list[CaseResult]:
    """Decodes some cases of a call with the engine and returns the judge's results; a message that
    was not sent has no rows.
    """
    places_of_cases = {
        case.id: [prepared.places.get(id(written.message)) for written in case.written]
        for case in cases
    }
    places = [place for place in chain.from_iterable(places_of_cases.values()) if place is not None]
    request = Request(
        prepared.handle,
        ranges_of(places),
        prepared.decoder,
        call.level,
        call.deployment,
        call.table,
    )
    outputs = read(engine.decode(request).result(), call.level)
    results: list[CaseResult] = []
    for case in cases:
        rows_of_messages = [
            () if place is None else outputs.get(place, ()) for place in places_of_cases[case.id]
        ]
        results.append(judge.judge(case, rows_of_messages))
    return results


def _largest_call(prepared: Prepared, level: int) -> Call:
    """The decode call of a level whose table has the most columns; of several such calls the one
    with the most cases.
    """
    calls = [call for call in prepared.calls if call.level == level]
    return max(
        calls, key=lambda call: (len(call.table.columns) if call.table else 0, len(call.cases))
    )


def _results_of_raising(engine: Engine, prepared: Prepared, rule: str) -> list[CaseResult]:
    """The results for a liar (a decoder with one deliberate mistake) that raises on an unreadable
    message, where it owes a row. It decodes three readable cases and an unreadable one in one call.

    The results break `rule` if the harness finds that exactly the unreadable case makes the call
    fail, and the readable ones have their rows; else there are none, and the liar is not convicted.
    """
    call = _largest_call(prepared, 1)
    unreadable = [case for case in call.cases if is_unreadable(case)][:1]
    readable = [case for case in call.cases if not is_unreadable(case)][:3]
    shortened_call = replace(call, cases=(*readable, *unreadable), foreign=())
    outputs, isolated = isolate_failing_cases(engine, prepared, shortened_call)
    isolated_ids = [result.case.id for result in isolated]
    is_alone = isolated_ids == [case.id for case in unreadable]
    readable_call = replace(call, cases=tuple(readable))
    readable_places = set(map(prepared.place, messages_of_calls([readable_call])))
    if not is_alone or not readable_places <= set(outputs):
        return []
    results: list[CaseResult] = []
    for result in isolated:
        finding = Finding(
            result.case.id, rule, 0, 0, Aspect.MISSING, "decoding", "an end", result.why
        )
        results.append(CaseResult(result.case, result.verdict, (finding,), result.why))
    return results


def _results_of_straying(engine: Engine, prepared: Prepared, judge: Judge) -> list[CaseResult]:
    """The results of a liar (a decoder that is wrong on purpose) that returns rows for records
    which no call has: the findings of the cases in the smallest part of a call that shows such
    rows.
    """
    call = _largest_call(prepared, 1)
    first_cases, later_cases = call.cases[:LAW_SAMPLE], call.cases[LAW_SAMPLE:]
    unreadable = [case for case in later_cases if is_unreadable(case)][:1]
    call = replace(call, cases=(*first_cases, *unreadable), foreign=())
    outputs = read(engine.decode(decode_request(prepared, call, call.cases)).result(), call.level)
    findings = find_stray_rows(engine, prepared, call, outputs, judge)
    return _results_of_findings(findings, call.cases, judge)


def _results_of_changing(
    engine: Engine, prepared: Prepared, level: int, seed: int, judge: Judge
) -> list[CaseResult]:
    """The results of a liar (a decoder that is wrong on purpose) whose rows of a message depend on
    the circumstances, such as the batch or the session: a sample of messages is decoded in each
    circumstance, and the rows are compared.
    """
    call = _largest_call(prepared, level)
    numbered_messages = chain.from_iterable(
        ((case, number, written.message) for number, written in enumerate(case.written))
        for case in call.cases
    )
    small_messages = [
        (case, number, message)
        for case, number, message in numbered_messages
        if message.size < _SMALL
    ]
    sampled = seeded_sample(seed, f"liar/{prepared.decoder}", small_messages, LAW_SAMPLE)
    owners = {prepared.place(message): (case, number) for case, number, message in sampled}
    request = Request(
        prepared.handle, ranges_of(owners), prepared.decoder, level, call.deployment, call.table
    )
    findings = laws.try_each_circumstance(engine, request, owners, judge)
    return _results_of_findings(findings, call.cases, judge)


def _results_of_findings(
    findings: Iterable[Finding], cases: Iterable[Case], judge: Judge
) -> list[CaseResult]:
    """The results of the cases that have these findings: one for each finding, with the verdict
    that it alone would give.
    """
    case_by_id = {case.id: case for case in cases}
    results: list[CaseResult] = []
    for finding in findings:
        case = case_by_id[finding.case]
        results.append(CaseResult(case, judge.verdict(case, (finding,)), (finding,)))
    return results


def cases_for_liar(bench: Bench, rule: str, level: int, scenario: str) -> Iterator[AnsweredCase]:
    """At most CASES cases of a level on which a liar (a decoder that is wrong on purpose) is tried
    in an engine: first those in which its rule decides a comparison; only those whose scenario
    matches the glob `scenario`, unless it is "".
    """
    return islice(bench.likely_cases(rule, level, scenario), CASES)
