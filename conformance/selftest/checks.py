"""Checks the harness: liars, altered outputs and lying writers must be noticed, reference decoders must pass.

The same judge judges all, on the named cases of every profile and a few drawn cases; the stream check judges keepers of tables,
on one profile of three formats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final

import pyarrow as pa
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from conformance.cases.catalogue import BUDGETS, Call, calls
from conformance.engines.base import ChildDied, DecodeRaised, DecodeTimeout, Request, lay_out, to_ranges
from conformance.engines.child import ChildEngine
from conformance.engines.specs import LIAR, decoder_of
from conformance.judging.judge import BAD, CaseResult, Finding, Judge, Verdict
from conformance.judging.output import Place, read
from conformance.judging.results import FormatResult
from conformance.rules.base import Aspect, Obligation, Rule, rules
from conformance.rules.order import order_of
from conformance.running import laws
from conformance.running.events import noting
from conformance.running.isolating import isolate, strays
from conformance.running.prepared import Prepared, Settings, request, sample
from conformance.running.run import Evidence, finish, prepare
from conformance.selftest.alter import alter
from conformance.selftest.ideas import measuring
from conformance.selftest.lies.base import Lie, lies
from conformance.streams import reading as streams
from conformance.streams.kept import judge
from conformance.streams.told import RESTART
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios, of_asked
from generators.garbage.nemesis import NEMESES
from generators.model import Case, Kind, Written
from generators.wire_format import FORMATS, Format, get

LAW_SAMPLE: Final = 6
"""Messages for a liar that breaks a law."""
_NOWHERE: Final[Place] = ("", -1, -1)
LIAR_CALLS: Final = 4
"""Limit of decode calls for a liar: those in which its rule owns most, the next if those before do not convict it."""
LIE_CASES: Final = 60
"""Scenarios judged per lie, among those whose bytes it changes."""

STREAMED: Final = {name: order_of(name).tried for name in FORMATS if order_of(name).tried}
"""Formats whose stream liars are tried, by profile: together they exercise all stream rules."""
NEW: Final = "new fault"
RATE: Final = "conviction rate"
STREAM_NEMESES: Final = (
    "none",
    "duplicate",
    "replay",
    "schema-lags",
    "late-watermarks",
    "corrupt",
    "copied",
    "append-time",
    "compacted",
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check, passed or not. `kind` is liar, non-strict (a liar that only `--strict` convicts), stream, altered, writer or
    reference; of new faults it is `NEW` or `RATE`."""

    kind: str
    format: str
    name: str
    ok: bool
    detail: str

    def as_json(self) -> dict[str, Any]:
        """The check as JSON."""
        return {"kind": self.kind, "format": self.format, "name": self.name, "ok": self.ok, "detail": self.detail}


def selftest(engine: ChildEngine, formats: Sequence[str], seed: int, note: Callable[[str], None]) -> list[Check]:
    """Runs all checks, by format."""
    checks: list[Check] = []
    for name in formats:
        fmt = get(name)
        settings = Settings((name,), BUDGETS["smoke"], seed)
        listen = noting(note)
        prepared = prepare(settings, engine, fmt, listen)
        assert prepared is not None
        evidence = Evidence(Judge(rules(name), remembers=True))
        result = finish(settings, engine, prepared, listen, evidence)
        checks += reference(result)
        note(f"{name}: altering outputs")
        checks += altered(prepared, evidence, result)
        checks += liars(engine, prepared, evidence, settings, note)
        note(f"{name}: lying writers")
        checks += writers(engine, fmt, prepared.decoder)
        engine.release(prepared.handle)
        if name in STREAMED:
            note(f"{name}: stream liars")
            checks += stream_liars(engine, fmt, seed)
    return checks


def new_faults(formats: Sequence[str], seed: int, note: Callable[[str], None]) -> list[Check]:
    """How many faults are convicted that were thought of without a look at rules and liars, and each that is not."""
    checks: list[Check] = []
    for name in formats:
        note(f"{name}: new faults")
        measured = list(measuring.measure(get(name), seed))
        checks.append(Check(RATE, name, "rate", True, measuring.rate(measured)))
        for one in measured:
            checks.append(Check(NEW, name, f"{one.idea.name}/{one.level}", one.answer is not measuring.Answer.MISSED, str(one)))
    return checks


def reference(result: FormatResult) -> Iterator[Check]:
    """The reference decoder breaks no rule and exercises every rule."""
    for rule in result.rules:
        if not rule.compared:
            yield Check("reference", result.format, rule.rule.id, False, "the rule owned no comparison")
        elif rule.broken and rule.rule.obligation in (Obligation.MUST, Obligation.SHOULD):
            yield Check("reference", result.format, rule.rule.id, False, f"broken {rule.broken} times by the reference decoder")
    bad = [c for c in result.cases if c.verdict in BAD]
    compared = sum(r.compared for r in result.rules)
    text = f"{len(result.cases)} cases, {len(result.rules)} rules, {compared} comparisons, {len(bad)} accusations"
    yield Check("reference", result.format, "no false alarm", not bad, text)


def altered(prepared: Prepared, evidence: Evidence, result: FormatResult) -> Iterator[Check]:
    """If a field of a correct output is altered, the rule that owns it breaks, and no other."""
    cases = {c.case.id: c.case for c in result.cases}
    tables: dict[str, str | None] = {}
    where: dict[str, str] = {}
    for call in prepared.calls:
        for case in call.cases:
            tables[case.id] = call.table.name if call.table else None
            where[case.id] = call.name
    for rule in evidence.judge.rules:
        if rule.law:
            continue
        sites = [s for s in evidence.judge.sites.get(rule.id, ()) if s.case in where]
        if not sites:
            yield Check("altered", prepared.fmt.name, rule.id, False, "nothing to alter: the rule owned no comparison")
            continue
        # Of a change with several right answers, an altered one may be right.
        sites.sort(key=lambda s: any(change.accept for change in cases[s.case].written[s.message].changes))
        site = sites[0]
        case = cases[site.case]
        outputs = evidence.outputs[where[case.id]]
        rows = [list(outputs.get(prepared.place(w.message), ())) for w in case.written]
        rows[site.message] = alter(rows[site.message], site, case.level)
        judge = Judge(tuple(known for known in evidence.judge.rules if not known.law))
        judged = judge.judge(case, rows, tables[case.id])
        convicted = Counter(f.rule for f in judged.findings)
        ok = set(convicted) == {rule.id} and judged.verdict is _answer(rule.obligation, judged)
        detail = f"{site.aspect} of {site.name} in {case.id}: {judged.verdict} by {', '.join(convicted) or 'nobody'}"
        yield Check("altered", prepared.fmt.name, rule.id, ok, detail)


def _answer(obligation: Obligation, judged: CaseResult) -> Verdict:
    if obligation is Obligation.MUST:
        return judged.verdict if judged.verdict in (Verdict.FAIL, Verdict.ACCEPTED) else Verdict.FAIL
    return Verdict.NON_STRICT if obligation is Obligation.SHOULD else Verdict.INFORMATIONAL


def liars(
    engine: ChildEngine, prepared: Prepared, evidence: Evidence, settings: Settings, note: Callable[[str], None]
) -> Iterator[Check]:
    """Each liar is convicted by the rule that it names, on cases in which that rule owns something.

    The first calls of all liars of values are under way before one is judged: the child decodes while this process judges.
    """
    told = engine.liars(prepared.fmt.name).result()
    tries = {liar["name"]: _tries(prepared, liar, evidence) for liar in told if not _special(liar["convicts"])}
    first = {
        liar["name"]: _ask(engine, prepared, _spec(prepared, liar), some[0]) for liar in told if (some := tries.get(liar["name"]))
    }
    for liar in told:
        name, convicts, spec = liar["name"], liar["convicts"], _spec(prepared, liar)
        note(f"{prepared.fmt.name}: liar {name}")
        judge = Judge(evidence.judge.rules)
        results: list[CaseResult] = []
        problem = ""
        try:
            if convicts.endswith("/law/returns"):
                results = _raising_liar(settings, engine, prepared, spec, convicts)
            elif convicts.endswith("/law/places"):
                results = _straying_liar(settings, engine, prepared, spec, judge)
            elif _special(convicts):
                results = _law_liar(engine, prepared, spec, liar["level"], settings, judge)
            elif name in first:
                later = (_ask(engine, prepared, spec, asked) for asked in tries[name][1:])
                answers = zip(tries[name], chain([first.pop(name)], later), strict=True)
                results = _value_liar(prepared, convicts, answers, judge)
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            problem = str(error).splitlines()[0]
        yield _conviction(prepared.fmt.name, name, convicts, judge.rules, results, problem)


def _spec(prepared: Prepared, liar: Mapping[str, Any]) -> str:
    return f"{LIAR}{prepared.fmt.name}/{liar['name']}"


def _special(convicts: str) -> bool:
    return convicts.endswith(("/law/returns", "/law/places", "/law/batch-independence", "/law/environment-independence"))


def _conviction(fmt: str, name: str, convicts: str, known: Sequence[Rule], results: Sequence[CaseResult], problem: str) -> Check:
    """Whether the cases that break the liar's rule have the verdict that the rule's obligation gives them in a run."""
    obligation = next((rule.obligation for rule in known if rule.id == convicts), None)
    kind = "non-strict" if obligation is Obligation.SHOULD else "liar"
    verdicts = Counter(result.verdict for result in results if any(f.rule == convicts for f in result.findings))
    wanted = {Verdict.NON_STRICT, *BAD} if kind == "non-strict" else BAD
    broken = Counter(f.rule for result in results for f in result.findings)
    others = [rule for rule in broken if rule != convicts]
    if not problem and any(verdicts[verdict] for verdict in wanted):
        detail = f"convicted by {convicts} ({broken[convicts]} times): {', '.join(verdicts)}"
        return Check(kind, fmt, name, True, detail + (f", and {len(others)} other rules" if others else ""))
    verdict = f", whose cases are {', '.join(verdicts)}" if verdicts else "" if obligation else " (no such rule)"
    return Check(kind, fmt, name, False, problem or f"NOT convicted by {convicts}{verdict}; by {others or 'nobody'}")


def stream_liars(engine: ChildEngine, fmt: Format[Any], seed: int) -> Iterator[Check]:
    """Each wrong keeper of tables is convicted by the stream rule that it names, and the reference by none.

    All keep the tables of the same streams in one query, which is stopped after a batch and resumed from its checkpoint.
    """
    told = engine.ask("stream", {"list": True, "format": fmt.name}, 60).result()["liars"]
    nemeses = [one for one in NEMESES if one.name in STREAM_NEMESES]
    group = streams.group_of(fmt, (fmt.profile(STREAMED[fmt.name]),), nemeses, seed)
    home = engine.directory / f"stream-liars-{fmt.name}"
    streams.write_stages(group, home / "records")
    makers = tuple(dict.fromkeys((streams.REFERENCE, *(liar["name"] for liar in told))))
    source = {"files": str(home / "records")}
    reader = streams.Reader(engine, group, decoder_of(fmt.name, None), source, home / "tables", makers)
    stopped = reader.read(hold={"batch": 1, "at": "after", "how": "fail"}).exception()
    try:
        if not isinstance(stopped, DecodeRaised):
            raise stopped or ChildDied("the query was not stopped")
        reader.read().result()
    except (DecodeRaised, ChildDied) as error:
        yield Check("stream", fmt.name, "the query", False, str(error).splitlines()[0])
        return
    for outcome in judge(group, reader.kept(), RESTART):
        words = f"{outcome.rows} rows, {outcome.messages} messages"
        words = "; ".join(f"{rule}: {what}" for rule, what in outcome.wrong) or words
        yield Check("stream", fmt.name, f"reference under {outcome.nemesis}", outcome.converged, words)
    for liar in told:
        rule = f"{fmt.name}/stream/{liar['convicts']}"
        outcomes = judge(group, reader.kept(liar["name"]), RESTART if liar["convicts"] == RESTART else "")
        broken = sum((outcome.broken for outcome in outcomes), Counter[str]())
        others = sorted(set(broken) - {rule})
        words = f"convicted by {rule} ({broken[rule]} times)" + (f", and {len(others)} other rules" if others else "")
        if not broken[rule]:
            words = f"NOT convicted by {rule}; by {others or 'nobody'}"
        yield Check("stream", fmt.name, liar["name"], broken[rule] > 0, words)


_Asked = tuple[Call, Sequence[Case]]
"""A call of a liar, and the cases in it that it is judged by."""


def _tries(prepared: Prepared, liar: Mapping[str, Any], evidence: Evidence) -> list[_Asked]:
    wanted = set(evidence.judge.seen.get((liar["convicts"], liar["level"]), ()))
    glob = liar.get("scenario", "")

    def tries(case: Case) -> bool:
        return fnmatchcase(case.scenario, glob) if glob else case.id in wanted

    asked = ((call, list(filter(tries, call.cases))) for call in prepared.calls if call.level == liar["level"])
    owning: list[_Asked] = [(call, cases) for call, cases in asked if cases]
    # A server in UTC hides time zone errors, so such a deployment comes last.
    owning.sort(key=lambda pair: (pair[0].deployment.time_zone == "UTC", -len(pair[1])))
    return owning[:LIAR_CALLS]


def _ask(engine: ChildEngine, prepared: Prepared, spec: str, asked: _Asked) -> Future[pa.Table]:
    call, cases = asked
    ranges = to_ranges(prepared.place(w.message) for case in cases for w in case.written)
    return engine.decode(Request(prepared.handle, ranges, spec, call.level, call.deployment, call.table))


def _value_liar(
    prepared: Prepared, convicts: str, answers: Iterable[tuple[_Asked, Future[pa.Table]]], judge: Judge
) -> list[CaseResult]:
    """The results of the calls up to that in which the rule convicts; the calls after it are not made."""
    results: list[CaseResult] = []
    for (call, cases), future in answers:
        outputs, table = read(future.result(), call.level), call.table.name if call.table else None
        for case in cases:
            rows = [outputs.get(prepared.place(w.message), ()) for w in case.written]
            results.append(judge.judge(case, rows, table))
        if any(finding.rule == convicts for result in results for finding in result.findings):
            break
    return results


def _raising_liar(settings: Settings, engine: ChildEngine, prepared: Prepared, spec: str, rule: str) -> list[CaseResult]:
    """Only the raising cases are isolated: an unreadable message among three readable cases."""
    call = max((call for call in prepared.calls if call.level == 1), key=lambda candidate: len(candidate.cases))
    unreadable = [case for case in call.cases if _rejected(case)][:1]
    readable = [case for case in call.cases if all(c.kind is Kind.ROW for w in case.written for c in w.changes)][:3]
    cases = (*readable, *unreadable)
    outputs, blamed = isolate(settings, engine, replace(prepared, decoder=spec), replace(call, cases=cases, foreign=()))
    places = {prepared.place(w.message) for case in readable for w in case.written}
    if [one.case.id for one in blamed] != [case.id for case in unreadable] or not places <= set(outputs):
        return []
    finding = Finding("", rule, 0, 0, Aspect.MISSING, "decoding", "an end", "")
    return [CaseResult(b.case, b.verdict, (replace(finding, case=b.case.id, actual=b.why),), b.why) for b in blamed]


def _straying_liar(settings: Settings, engine: ChildEngine, prepared: Prepared, spec: str, judge: Judge) -> list[CaseResult]:
    """Rows of no message are noticed in a call, and in its smallest part that has some."""
    call = max((call for call in prepared.calls if call.level == 1), key=lambda candidate: len(candidate.cases))
    some = (*call.cases[:LAW_SAMPLE], *[case for case in call.cases[LAW_SAMPLE:] if _rejected(case)][:1])
    call, lying = replace(call, cases=some, foreign=()), replace(prepared, decoder=spec)
    outputs = read(engine.decode(request(settings, lying, call, call.cases)).result(), call.level)
    findings = list(strays(settings, engine, lying, call, outputs, judge))
    by_id = {case.id: case for case in call.cases}
    return [CaseResult(by_id[f.case], judge.verdict(by_id[f.case], (f,)), (f,)) for f in findings]


def _rejected(case: Case) -> bool:
    changes = [change for written in case.written for change in written.changes]
    return len(changes) == 1 and changes[0].kind is Kind.CORRUPT and not changes[0].anything


def _law_liar(
    engine: ChildEngine, prepared: Prepared, spec: str, level: int, settings: Settings, judge: Judge
) -> list[CaseResult]:
    matching = [call for call in prepared.calls if call.level == level]
    call = max(matching, key=lambda c: (len(c.table.columns) if c.table else 0, len(c.cases)))
    messages = [(case, n, w) for case in call.cases for n, w in enumerate(case.written) if w.message.size < 100_000]
    picked = sample(settings.seed, f"liar/{spec}", messages, LAW_SAMPLE)
    owners = {prepared.place(w.message): (case, n) for case, n, w in picked}
    asked = Request(prepared.handle, to_ranges(owners), spec, level, call.deployment, call.table)
    cases = {case.id: case for case, _, _ in picked}
    findings = laws.again(engine, asked, owners, judge)
    return [CaseResult(cases[f.case], judge.verdict(cases[f.case], (f,)), (f,)) for f in findings]


def writers(engine: ChildEngine, fmt: Format[Any], decoder: str) -> Iterator[Check]:
    """Each lie of a writer breaks its rule, or changes only bytes."""
    unsent: set[int] = set()
    lied = [(lie, *_lie(fmt, lie, unsent)) for lie in lies(fmt.name)]
    cases = [case for _, some, _ in lied for case in some]
    grouped = calls(fmt, cases, (1, 2), 0)
    messages = [w.message for call in grouped for case in call.cases for w in case.written if id(w.message) not in unsent]
    laid, source = lay_out(engine.directory, "writers", messages)
    places = dict(zip(map(id, messages), laid, strict=True))
    engine.open("writers", source)
    judge = Judge(rules(fmt.name))
    results: dict[str, CaseResult] = {}
    for call in grouped:
        results |= _judge(engine, call, decoder, places, judge)
    engine.release("writers")
    for lie, some, changed in lied:
        broken = Counter(f.rule for case in some for f in results[case.id].findings)
        if lie.convicts is None:
            ok = changed > 0 and not broken
            detail = f"{len(some)} cases with other bytes; findings: {', '.join(broken) or 'none'}"
        else:
            ok = broken[lie.convicts] > 0
            detail = f"{lie.convicts}: {broken[lie.convicts]} findings in {len(some)} cases"
        yield Check("writer", fmt.name, f"{lie.name} ({lie.profile})", ok, detail)


def _judge(engine: ChildEngine, call: Call, decoder: str, places: dict[int, Place], judge: Judge) -> dict[str, CaseResult]:
    sent = (places.get(id(w.message)) for case in call.cases for w in case.written)
    ranges = to_ranges(place for place in sent if place)
    outputs = read(
        engine.decode(Request("writers", ranges, decoder, call.level, call.deployment, call.table)).result(), call.level
    )
    table = call.table.name if call.table else None
    return {
        case.id: judge.judge(case, [outputs.get(places.get(id(w.message), _NOWHERE), ()) for w in case.written], table)
        for case in call.cases
    }


def _lie(fmt: Format[Any], lie: Lie, unsent: set[int]) -> tuple[list[Case], int]:
    """Cases with the lie's messages and the honest expectations; and how many have other bytes.

    Messages that the lie omits are still expected: they go to `unsent`, by identity.
    """
    honest = fmt.profile(lie.profile)
    cases: list[Case] = []
    changed = 0
    for scenario in boundary_scenarios(fmt, honest):
        if not fnmatchcase(scenario.name, lie.scenario):
            continue
        truth = of_asked(scenario, fmt.write(scenario.history, honest, LAYOUT))
        lying = lie.messages(fmt, scenario.history, truth)
        if not truth or not any(lying) or lying == [w.message for w in truth]:
            continue
        changed += 1
        if changed > LIE_CASES:
            break
        unsent.update(id(w.message) for w, message in zip(truth, lying, strict=False) if message is None)
        owed = (*(w.changes for w in truth), *[()] * len(lying))
        written = tuple(Written(lying[i] or truth[i].message, owed[i]) for i in range(len(lying)))
        case = replace(as_case(fmt, honest, scenario), written=written)
        cases.append(replace(case, id=f"{case.id}@{lie.name}"))
    return cases, changed


def render(checks: Sequence[Check]) -> RenderableType:
    """A table of counts, and each failed check as text."""
    table = RichTable("format", "what", "shown", "of", header_style="bold")
    words = {
        "reference": "reference decoder not accused",
        "altered": "altered outputs answered by exactly their rule",
        "liar": "liars convicted by the rule they name",
        "non-strict": "liars convicted by a SHOULD rule: only with --strict",
        "writer": "lying writers seen",
        "stream": "streams converge, and their liars are convicted",
        NEW: "new faults convicted, or right in that format",
    }
    for name in dict.fromkeys(c.format for c in checks):
        for kind, what in words.items():
            matching = [c for c in checks if c.format == name and c.kind == kind]
            if not matching:
                continue
            good = sum(c.ok for c in matching)
            table.add_row(name, what, Text(str(good), style="green" if good == len(matching) else "red"), str(len(matching)))
    parts: list[RenderableType] = [table]
    for check in checks:
        weak = check.kind == NEW and any(answer in check.detail for answer in (measuring.Answer.MISLED, measuring.Answer.LOOSE))
        if check.ok and (check.kind in ("liar", "non-strict", "stream", RATE) or weak):
            parts.append(Text(f"ok   {check.kind} {check.format} {check.name}: {check.detail}"))
    for check in checks:
        if not check.ok:
            parts.append(Text(f"FAIL {check.kind} {check.format} {check.name}: {check.detail}", style="red"))
    return Group(*parts)
