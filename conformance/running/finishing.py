"""Finishes a prepared format: waits for its decode calls, judges their rows, and collects the
results.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Container, Sequence
from concurrent.futures import CancelledError, Future
from typing import NamedTuple

from conformance.cases.catalogue import Call
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    PlanFailed,
    ProcessLost,
)
from conformance.judging.blame import name_causes
from conformance.judging.capabilities import STOPS, Capabilities
from conformance.judging.findings import UNDECODED, CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow, Outputs, Place, read
from conformance.judging.results import (
    CallResult,
    FormatResult,
    RuleResult,
)
from conformance.judging.wording import error
from conformance.rules.rules import Aspect, Rule, rules
from conformance.running import events, laws
from conformance.running.events import Listener, ignore, working
from conformance.running.isolating import (
    EveryCall,
    find_stray_rows,
    foreign_case,
    isolate_failing_cases,
    verdict_of,
)
from conformance.running.mixing import ACQUITTING, Mixed
from conformance.running.prepared import Part, Prepared, decode_request
from conformance.running.readings import Readings
from generators.errors import first_line
from generators.model import Case, Kind, messages_of


def finish_format(
    engine: Engine,
    prepared: Prepared,
    listen: Listener = ignore,
    outputs_by_call: dict[str, Outputs] | None = None,
) -> FormatResult:
    """Waits for a format's decode calls, judges their rows and the laws, and returns the result of
    the format. If `outputs_by_call` is given, the rows of each call are put into it, by the call's
    name.
    """
    all_rules, counted_rules = rules(prepared.fmt.name), prepared.counted_rules
    judge = Judge(all_rules, prepared.loaded.capabilities)
    results: list[CaseResult] = list(prepared.unsupported)
    performed: list[CallResult] = []
    by_id, broken = {rule.id: rule for rule in all_rules}, set[str]()
    notes = (
        [f"the decoder claims: {prepared.loaded.capabilities}"]
        if str(prepared.loaded.capabilities)
        else []
    )
    notes += [
        f"{result.case.id}: {result.note}"
        for result in prepared.unsupported
        if result.case.unmatched
    ]
    by_call: dict[str, Outputs] = {} if outputs_by_call is None else outputs_by_call

    def report_broken(finding: Finding, result: CaseResult) -> None:
        """Tells the listener of a finding, if it is the first on a counted rule."""
        if finding.rule not in broken and finding.rule in counted_rules:
            broken.add(finding.rule)
            listen(events.Broken(prepared.fmt.name, by_id[finding.rule], finding, result))

    for finding, result in prepared.early_findings:
        report_broken(finding, result)
    chosen_readings = Readings(judge)
    began_decoding = time.monotonic()
    for number, call in enumerate(prepared.calls):
        began = time.monotonic()
        if prepared.always is not None:
            prepared.mixed.pop(number, None)
            prepared.futures[number] = Future()
            prepared.futures[number].set_exception(prepared.always)
        if number in prepared.mixed:
            _judge_group(engine, prepared, prepared.mixed[number], judge)
        if number in prepared.acquitted:
            judged, outputs = prepared.acquitted.pop(number)
            problem = ""
        else:
            judged, outputs, problem = _judge_call(engine, prepared, number, judge, listen)
        results += judged
        undecoded = {result.case.id for result in judged if result.verdict in UNDECODED}
        for case in call.cases:
            if case.id not in undecoded:
                chosen_readings.take(case, _rows_of_case(prepared, case, outputs))
        count = sum(len(case.written) for case in call.cases)
        performed.append(
            CallResult(
                call.name, call.level, len(call.cases), count, time.monotonic() - began, problem
            )
        )
        listen(events.Decoded(prepared.fmt.name, performed[-1]))
        for result in judged:
            for finding in result.findings:
                report_broken(finding, result)
        if problem:
            notes.append(f"{call.name}: {problem}")
        if outputs_by_call is not None or any(sample.call == call.name for sample in prepared.laws):
            by_call[call.name] = outputs
    judge.compared[laws.rule_of(judge, "returns")] += sum(
        r.verdict is not Verdict.UNSUPPORTED for r in results
    )
    failed = {call.name for call in performed if call.note}
    prepared.spent[Part.DECODING] = time.monotonic() - began_decoding
    with prepared.measure(Part.LAWS):
        findings = laws.collect_findings(
            engine, prepared.laws, by_call, failed, judge, prepared.settings.timeout_s
        )
    findings += chosen_readings.findings()
    results = name_causes(judge, _with_findings(judge, results, findings))
    if len(counted_rules) < len(all_rules):
        results = [_with_counted_findings(judge, result, counted_rules) for result in results]
    order = {profile.name: number for number, profile in enumerate(prepared.fmt.profiles)}
    results.sort(key=lambda result: order.get(result.case.profile, len(order)))
    places: dict[str, tuple[Place, ...]] = {}
    for call in prepared.calls:
        for case in call.cases:
            places[case.id] = tuple(prepared.place(written.message) for written in case.written)
    outcome = tuple(
        _rule_result(prepared, judge, rule, rule.id in counted_rules) for rule in all_rules
    )
    return FormatResult(
        prepared.fmt.name,
        prepared.decoder,
        prepared.loaded.levels,
        tuple(results),
        outcome,
        tuple(performed),
        places,
        prepared.drawn,
        dict(judge.cells),
        tuple(notes),
    )


def _judge_group(engine: Engine, prepared: Prepared, mixed: Mixed, judge: Judge) -> None:
    """Waits for one common call in place of several (`mixed`), and judges each of these on its own
    messages. A call whose cases all pass gets its result in `prepared.acquitted`. Any other is
    submitted once more by itself, since the common deployment may be to blame.
    """
    group_messages = (*messages_of(mixed.call.cases), *mixed.call.foreign)
    requested = set(map(prepared.place, group_messages))
    outputs = mixed.outputs()
    usable = outputs is not None and outputs.keys() <= requested
    for number in mixed.numbers:
        call, part = prepared.calls[number], judge.empty()
        del prepared.mixed[number]
        if usable and outputs is not None:
            places = map(prepared.place, (*messages_of(call.cases), *call.foreign))
            call_outputs = {place: outputs[place] for place in places if place in outputs}
            judged = _judge_cases(prepared, call, call.cases, call_outputs, part)
            if all(result.verdict in ACQUITTING for result in judged):
                judge.add(part)
                judge.compared[laws.rule_of(judge, "places")] += len(call.cases)
                prepared.acquitted[number] = judged, call_outputs
                continue
        prepared.futures[number] = engine.decode(decode_request(prepared, call, call.cases))


class JudgedCall(NamedTuple):
    """What came of a decode call: the results of its cases, the rows that were judged, and why the
    call failed ("" if it did not).
    """

    results: list[CaseResult]
    outputs: Outputs
    problem: str


def _judge_call(
    engine: Engine, prepared: Prepared, number: int, judge: Judge, listen: Listener
) -> JudgedCall:
    """Waits for the call with this index and judges its rows. Where the decoder fails, the cases
    that make it fail are found first, and the others are decoded and judged without them.
    """
    call = prepared.calls[number]
    try:
        outputs: Outputs = read(prepared.futures[number].result(), call.level)
    except CancelledError:
        cancelled = [
            _failed_result(judge, case, Verdict.ERRORED, "cancelled", to_blame=False)
            for case in call.cases
        ]
        return JudgedCall(cancelled, {}, "cancelled")
    except PlanFailed as failed:
        unplanned = [
            _failed_result(judge, case, Verdict.ERRORED, str(failed), plan_failed=True)
            for case in call.cases
        ]
        return JudgedCall(unplanned, {}, str(failed))
    except (DecodeRaised, ProcessLost) as failed:
        timed_out = (
            failed.verdict if isinstance(failed, EveryCall) else verdict_of(failed)
        ) is Verdict.TIMEOUT
        if timed_out:
            what = "did not end"
        elif isinstance(failed, DecodeRaised):
            what = "raised"
        else:
            what = "ended"
        if prepared.always is None and isinstance(failed, DecodeRaised):
            working(listen)(
                f"{call.name}: the decoder raised; looking for the messages that make it"
            )
        elif prepared.always is None:
            events.failing(listen, call.name, failed)
        outputs, guilty = isolate_failing_cases(engine, prepared, call, failed)
        # Where hanging messages are known, the cases that the budget left are no examples.
        certain = (
            isinstance(failed, DecodeRaised)
            or prepared.always is not None
            or not any(culprit.alone for culprit in guilty)
        )
        may_stop = STOPS in judge.capabilities.conventions and isinstance(failed, DecodeRaised)
        failing_results = [
            (
                CaseResult(culprit.case, Verdict.REJECTED, note=culprit.why)
                if may_stop and culprit.alone and _is_unreadable(culprit.case)
                else _failed_result(
                    judge,
                    culprit.case,
                    culprit.verdict,
                    culprit.why,
                    to_blame=culprit.alone or certain,
                    alone=culprit.alone,
                )
            )
            for culprit in guilty
        ]
        failing_ids = {culprit.case.id for culprit in guilty}
        problem = f"the decoder {what} on {len(failing_results)} cases: {first_line(failed)}"
    else:
        failing_results, failing_ids, problem = [], set(), ""
    passing_cases = [case for case in call.cases if case.id not in failing_ids]
    judged = failing_results + _judge_cases(
        prepared, call, passing_cases, outputs, judge, failing_ids
    )
    law = laws.rule_of(judge, "places")
    judge.compared[law] += len(passing_cases)
    stray = list(find_stray_rows(engine, prepared, call, outputs, judge))
    judge.broken[law] += len(stray)
    return JudgedCall(_with_findings(judge, judged, stray), outputs, problem)


def _is_unreadable(case: Case) -> bool:
    """Whether a right decoder returns nothing but CORRUPT rows for the case: all its messages are
    malformed.
    """
    kinds: set[Kind] = set()
    for written in case.written:
        kinds.update(change.kind for change in written.changes)
    return kinds == {Kind.CORRUPT}


def _failed_result(
    judge: Judge,
    case: Case,
    verdict: Verdict,
    why: str,
    *,
    to_blame: bool = True,
    alone: bool = True,
    plan_failed: bool = False,
) -> CaseResult:
    """The result of a case whose decoding failed, with a finding on the law that decoding ends;
    without a finding if the case is not `to_blame`, as another case of its call, or the end of the
    engine, may be the reason. `why` is the error's text; `alone`: it failed in a call without other
    cases; `plan_failed`: the decoder failed before it read a message.
    """
    if not to_blame:
        return CaseResult(case, verdict, note=why, alone=False)
    law = laws.rule_of(judge, "returns")
    judge.broken[law] += 1
    finding = Finding(
        case.id,
        law,
        0,
        0,
        Aspect.MISSING,
        "decoding",
        "an end",
        error(why),
        plan_failed=plan_failed,
    )
    return CaseResult(case, verdict, (finding,), why, alone=alone)


def _judge_cases(
    prepared: Prepared,
    call: Call,
    cases: Sequence[Case],
    outputs: Outputs,
    judge: Judge,
    failed: Container[str] = (),
) -> list[CaseResult]:
    """Judges the cases of a call by the decoder's rows, `outputs`. The call's foreign messages are
    judged too, and give a result if they fail. At level two these are messages of another table:
    each owes no row, and the decoder may refuse it where it may in a call of that table. At level
    one they are repeated messages: each owes its rows again. `failed` are the ids of cases that
    have a failing result already; `cases` is without them, and a foreign message of theirs is
    passed over.
    """
    results = [judge.judge(case, _rows_of_case(prepared, case, outputs)) for case in cases]
    for message in call.foreign:
        case = foreign_case(prepared, call, message)
        message_rows = outputs.get(prepared.place(message), ())
        owner = prepared.owners[id(message)]
        owed_changes = next(w.changes for w in owner.written if w.message == message)
        if case.id not in failed and not (
            call.level == 2 and judge.may_refuse_foreign(owner, owed_changes, message_rows)
        ):
            result = judge.judge(case, [message_rows])
            results += [result] if result.findings else []
    return results


def _rows_of_case(prepared: Prepared, case: Case, outputs: Outputs) -> list[Sequence[OutputRow]]:
    """The decoder's rows of each message of the case, found by the message's coordinates; an empty
    sequence for a message without a row.
    """
    places = (prepared.place(written.message) for written in case.written)
    return [outputs.get(place, ()) for place in places]


def _with_counted_findings(
    judge: Judge, result: CaseResult, counted_rules: Container[str]
) -> CaseResult:
    """The case's result without findings on rules outside `counted_rules`, those that this run's
    options select, and with the verdict that remains.
    """
    counted_findings = tuple(
        finding for finding in result.findings if finding.rule in counted_rules
    )
    return judge.with_findings(result, counted_findings)


def _with_findings(
    judge: Judge, results: Sequence[CaseResult], findings: Sequence[Finding]
) -> list[CaseResult]:
    """The results of cases with the findings that laws made about them added, and with verdicts
    that take these into account.
    """
    by_case: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_case[finding.case].append(finding)
    return [
        judge.with_findings(result, (*result.findings, *by_case[result.case.id]))
        for result in results
    ]


def _rule_result(prepared: Prepared, judge: Judge, rule: Rule, is_counted: bool) -> RuleResult:
    """How often a rule of a format was compared and broken in a run. Only a run of the reference
    decoder at both levels, without a filter and with all capabilities (`Capabilities()`), marks a
    counted rule as reachable: one that should own a comparison.
    """
    settings, loaded = prepared.settings, prepared.loaded
    is_complete = len(loaded.levels) == 2 and loaded.capabilities == Capabilities()
    reachable = is_counted and not settings.is_partial and is_complete and settings.decoder is None
    return RuleResult(
        rule, judge.compared[rule.id], judge.broken[rule.id], reachable, judge.refused[rule.id]
    )
