"""A few cases of a format, laid out for decoders of an engine, and how liars are tried on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from conformance.cases.catalogue import BUDGETS, Call, group_calls
from conformance.engines.engine import Engine, Loaded, Request, assign_places, ranges_of
from conformance.judging.judge import Capabilities, CaseResult, Finding, Judge
from conformance.judging.output import OutputRow, Place, read
from conformance.rules.rules import Aspect
from conformance.running import laws
from conformance.running.isolating import find_stray_rows, isolate_failing_cases
from conformance.running.prepared import Prepared, Settings, decode_request, seeded_sample
from conformance.selftest.bench import Answered, Bench
from generators.model import Case, Kind

LAW_SAMPLE: Final = 4
"""Messages for a liar that breaks a law."""
CASES: Final = 12
"""Cases of a liar that is tried in an engine, among those in which its rule owns something."""
CALLS: Final = 4
"""Limit of decode calls for a liar, the next if those before do not convict it."""
READABLE: Final = 24
_NOWHERE: Final[Place] = ("", -1, -1)
_LAWS: Final = (
    "/law/returns",
    "/law/places",
    "/law/batch-independence",
    "/law/environment-independence",
)


def special(convicts: str) -> bool:
    """Whether the rule is a law whose breach is not seen in a single call."""
    return convicts.endswith(_LAWS)


def samples(bench: Bench) -> list[Case]:
    """Cases of one deployment for liars that break laws: readable rows, and an unreadable
    message.
    """
    level_one = (answered.case for answered in bench.cases.values() if answered.case.level == 1)
    of_level = [case for case in level_one if case.scenario.startswith(("shape/", "fault/"))]
    first = min(
        of_level,
        key=lambda case: (
            case.deployment.compression != "none",
            case.deployment.time_zone == "UTC",
        ),
    )
    alike = [
        case
        for case in of_level
        if case.deployment == first.deployment and case.profile == first.profile
    ]
    # Of a case of many messages nearly all of a sample would be: they have one table.
    few = (c for c in alike if len(c.written) < READABLE and _size(c) < 100_000)
    readable = (
        c for c in few if all(change.kind is Kind.ROW for w in c.written for change in w.changes)
    )
    return [*islice(readable, READABLE), *islice(filter(rejected, alike), 1)]


def _size(case: Case) -> int:
    return sum(written.message.size for written in case.written)


def rejected(case: Case) -> bool:
    """Whether the case is one unreadable message."""
    changes = [change for written in case.written for change in written.changes]
    return len(changes) == 1 and changes[0].kind is Kind.CORRUPT and not changes[0].anything


def staged(
    bench: Bench, cases: Iterable[Case], seed: int, decoder: str, unsent: Collection[int] = ()
) -> Prepared:
    """The cases in calls, and where their messages lie, but for those that are not sent, by
    identity.
    """
    grouped = group_calls(bench.fmt, cases, (1, 2), seed)
    written = (w.message for call in grouped for case in call.cases for w in case.written)
    messages = [message for message in written if id(message) not in unsent]
    places = dict(zip(map(id, messages), assign_places(messages), strict=True))
    kept, loaded = frozenset(rule.id for rule in bench.judge.rules), Loaded((1, 2), Capabilities())
    settings = Settings((bench.fmt.name,), BUDGETS["smoke"], seed)
    return Prepared(
        settings,
        bench.fmt,
        decoder,
        loaded,
        grouped,
        places,
        bench.fmt.name,
        [],
        0,
        counted_rules=kept,
    )


def truth(bench: Bench, prepared: Prepared) -> dict[Place, tuple[OutputRow, ...]]:
    """The right rows of the cases of level one, by place."""
    cases = (
        bench.cases[case.id] for call in prepared.calls if call.level == 1 for case in call.cases
    )
    return {
        prepared.place(written.message): tuple(rows)
        for answered in cases
        for written, rows in zip(answered.case.written, answered.rows, strict=True)
    }


def results(
    engine: Engine,
    prepared: Prepared,
    convicts: str,
    level: int,
    seed: int,
    judge: Judge,
    mine: Sequence[str],
) -> list[CaseResult]:
    """The results of a liar, the decoder of `one`; `mine` are the ids of its cases, for a rule that
    is no law.

    Raises what a decode call raises.
    """
    if convicts.endswith("/law/returns"):
        return _raising(engine, prepared, convicts, seed)
    if convicts.endswith("/law/places"):
        return _straying(engine, prepared, seed, judge)
    if special(convicts):
        return _changing(engine, prepared, level, seed, judge)
    wanted = frozenset(mine)
    asked = [
        (call, [c for c in call.cases if c.id in wanted])
        for call in prepared.calls
        if call.level == level
    ]
    # A server in UTC hides time zone errors, so such a deployment comes last.
    asked = sorted(
        filter(lambda a: a[1], asked),
        key=lambda a: (a[0].deployment.time_zone == "UTC", -len(a[1])),
    )[:CALLS]
    out: list[CaseResult] = []
    for call, cases in asked:
        out += judged(engine, prepared, call, cases, judge)
        if any(finding.rule == convicts for result in out for finding in result.findings):
            break
    return out


def judged(
    engine: Engine, prepared: Prepared, call: Call, cases: Sequence[Case], judge: Judge
) -> list[CaseResult]:
    """The results of some cases of a call; of a message that was not sent there are no rows."""
    places = prepared.places
    ranges = ranges_of(
        place for case in cases for w in case.written if (place := places.get(id(w.message)))
    )
    asked = Request(
        prepared.handle, ranges, prepared.decoder, call.level, call.deployment, call.table
    )
    outputs = read(engine.decode(asked).result(), call.level)
    return [
        judge.judge(
            case, [outputs.get(places.get(id(w.message), _NOWHERE), ()) for w in case.written]
        )
        for case in cases
    ]


def _largest(prepared: Prepared, level: int) -> Call:
    """The call with the most columns and cases."""
    matching = [call for call in prepared.calls if call.level == level]
    return max(
        matching, key=lambda call: (len(call.table.columns) if call.table else 0, len(call.cases))
    )


def _raising(engine: Engine, prepared: Prepared, rule: str, seed: int) -> list[CaseResult]:
    """Only the raising cases are isolated: an unreadable message among three readable cases."""
    call = _largest(prepared, 1)
    unreadable = [case for case in call.cases if rejected(case)][:1]
    readable = [case for case in call.cases if not rejected(case)][:3]
    some = replace(call, cases=(*readable, *unreadable), foreign=())
    outputs, blamed = isolate_failing_cases(engine, prepared, some)
    places = {prepared.place(w.message) for case in readable for w in case.written}
    if [result.case.id for result in blamed] != [
        case.id for case in unreadable
    ] or not places <= set(outputs):
        return []
    finding = Finding("", rule, 0, 0, Aspect.MISSING, "decoding", "an end", "")
    return [
        CaseResult(b.case, b.verdict, (replace(finding, case=b.case.id, actual=b.why),), b.why)
        for b in blamed
    ]


def _straying(engine: Engine, prepared: Prepared, seed: int, judge: Judge) -> list[CaseResult]:
    """Rows of no message are noticed in a call, and in its smallest part that has some."""
    call = _largest(prepared, 1)
    some = (
        *call.cases[:LAW_SAMPLE],
        *[case for case in call.cases[LAW_SAMPLE:] if rejected(case)][:1],
    )
    call = replace(call, cases=some, foreign=())
    outputs = read(engine.decode(decode_request(prepared, call, call.cases)).result(), call.level)
    findings = list(find_stray_rows(engine, prepared, call, outputs, judge))
    by_id = {case.id: case for case in call.cases}
    return [CaseResult(by_id[f.case], judge.verdict(by_id[f.case], (f,)), (f,)) for f in findings]


def _changing(
    engine: Engine, prepared: Prepared, level: int, seed: int, judge: Judge
) -> list[CaseResult]:
    call = _largest(prepared, level)
    messages = [
        (case, n, w)
        for case in call.cases
        for n, w in enumerate(case.written)
        if w.message.size < 100_000
    ]
    picked = seeded_sample(seed, f"liar/{prepared.decoder}", messages, LAW_SAMPLE)
    owners = {prepared.place(w.message): (case, n) for case, n, w in picked}
    asked = Request(
        prepared.handle, ranges_of(owners), prepared.decoder, level, call.deployment, call.table
    )
    cases = {case.id: case for case, _, _ in picked}
    findings = laws.try_each_circumstance(engine, asked, owners, judge)
    return [CaseResult(cases[f.case], judge.verdict(cases[f.case], (f,)), (f,)) for f in findings]


def convicting(bench: Bench, rule: str, level: int, scenario: str) -> Iterator[Answered]:
    """The cases on which a liar of an engine is tried."""
    return islice(bench.owning(rule, level, scenario), CASES)
