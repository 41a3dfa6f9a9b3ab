"""The main job: draw, publish, decode, judge.

Drawing and decoding overlap: the child process decodes one format while this process judges another
or draws the next.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Any, Final

from conformance.brokers import registry
from conformance.brokers.jars import java_words
from conformance.cases import catalogue, tables
from conformance.cases.catalogue import Call, matches, profiles
from conformance.cases.covering import covering
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    Loaded,
    Lost,
    PlanFailed,
    RecordSource,
    lay_out,
)
from conformance.engines.specs import decoder_of
from conformance.judging.blame import blamed
from conformance.judging.clusters import merged, raised_alike, smallest_failures, worth_reducing
from conformance.judging.judge import (
    STOPS,
    UNDECODED,
    Capabilities,
    CaseResult,
    Finding,
    Judge,
    Verdict,
)
from conformance.judging.known import EntryTracker
from conformance.judging.output import Outputs, Place, read
from conformance.judging.results import (
    CallResult,
    Failure,
    FormatResult,
    Header,
    OwnTables,
    RuleResult,
    RunResult,
    circumstances,
)
from conformance.judging.selection import check_claims, claimed
from conformance.judging.wording import error
from conformance.reducing.reduce import Decoding, shrink_all
from conformance.rules.rules import Aspect, Rule, rules
from conformance.running import alone, early, events, laws
from conformance.running.events import Listener, ignore, working
from conformance.running.isolating import EveryCall, foreign_case, isolate, strays, verdict_of
from conformance.running.mixing import ACQUITTING, Mixed, groups, together
from conformance.running.prepared import Note, Prepared, Settings, request
from conformance.running.readings import Readings
from generators.errors import HarnessError, NothingSelected, UnknownName
from generators.model import Case, Kind, Message, Origin, Scenario
from generators.recorded.episodes import RECORDED
from generators.sources.registry import SOURCES
from generators.wire_format import FORMATS, Format, get

AHEAD: Final = 3
"""Formats whose calls wait while another is judged: the first verdict comes soon, and the child is
never idle.
"""


def run(settings: Settings, engine: Engine, listen: Listener = ignore) -> RunResult:
    """Runs every format of the settings on an engine and passes events to `listen`
    (conformance.running.events).

    Raises UsageError, NothingSelected and HarnessError.
    """
    began = time.monotonic()
    for name in settings.formats:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    settings.selection.check(settings.formats)
    header = Header(
        settings.seed,
        settings.budget.name,
        settings.decoder or "reference",
        settings.broker,
        settings.topic,
        circumstances(java_words()),
        settings.arguments,
        _own_tables(settings),
    )
    listen(events.Started(header, settings.formats, settings.strict))
    # The child answers in order: every decoder is loaded before the first long call is queued.
    # Decoding starts sooner if the format with the fewest cases comes first.
    order = sorted(settings.formats, key=lambda name: len(get(name).profiles))
    loading = {name: load(settings, engine, get(name)) for name in order}
    formats: list[Prepared] = []
    record = EntryTracker(settings.expect)
    smallest: list[tuple[Prepared, FormatResult, list[Failure]]] = []
    new, early = 0, False

    def made() -> Iterator[Prepared]:
        for name in order:
            if (
                prepared := prepare(settings, engine, get(name), listen, loading[name])
            ) is not None:
                formats.append(prepared)
                yield prepared

    for prepared in _ahead(made()):
        result = finish(engine, prepared, listen)
        compared = {r.rule.id: r.compared for r in result.rules}
        result = replace(
            result, cases=tuple(record.mark(result.cases, rules(prepared.fmt.name), compared))
        )
        broken = smallest_failures(result, record, settings.causes)
        if (
            settings.reduce
            and (alike := alone.move(engine, prepared, result, broken)) is not result
        ):
            result = alike
            broken = smallest_failures(result, record, settings.causes)
        listen(events.Judged(result))
        smallest.append((prepared, result, broken))
        new += sum(not failure.known for failure in broken)
        if settings.max_fail and new >= settings.max_fail:
            early = prepared is not formats[-1]
            break
    if not formats:
        raise NothingSelected(
            f"no case matches --select {' '.join(settings.select) or '*'} in"
            f" {', '.join(settings.formats)}"
        )
    failures = _reduced(settings, engine, smallest, record, listen)
    for prepared in formats:
        engine.release(prepared.handle)
    results = sorted(
        (result for _, result, _ in smallest), key=lambda fmt: settings.formats.index(fmt.format)
    )
    judged = [fmt.format for fmt in results]
    ids = [rule.id for name in judged for rule in rules(name)]
    entries = record.results(judged, ids, bool(settings.selection) or settings.level != "both")
    seconds = time.monotonic() - began
    whole = RunResult(
        header, tuple(results), tuple(failures), seconds, settings.strict, early, entries
    )
    listen(events.Finished(whole))
    return whole


def _ahead(made: Iterable[Prepared]) -> Iterator[Prepared]:
    """What is made, each once AHEAD more are."""
    waiting: deque[Prepared] = deque()
    for prepared in made:
        waiting.append(prepared)
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


def _own_tables(settings: Settings) -> OwnTables | None:
    """The user's tables, with notes on what the model does not take as it stands."""
    if settings.tables is None:
        return None
    schema = settings.tables.schema
    return OwnTables.of(
        schema,
        tuple(note for name in settings.formats for note in tables.usable(get(name), schema).notes),
    )


def _reduced(
    settings: Settings,
    engine: Engine,
    smallest: Sequence[tuple[Prepared, FormatResult, Sequence[Failure]]],
    record: EntryTracker,
    listen: Listener,
) -> list[Failure]:
    """All failures: first the new ones, reduced, merged by cause and limited by `max_fail`, then
    the known ones.
    """
    failures: list[Failure] = []
    for prepared, result, broken in smallest:
        unknown = raised_alike([failure for failure in broken if not failure.known], result)
        if settings.max_fail:
            unknown = unknown[: max(0, settings.max_fail - len(failures))]

        def scenario_of(case: Case, fmt: Format[Any] = prepared.fmt) -> Scenario | None:
            if settings.tables is not None:
                return tables.find_scenario(
                    fmt, settings.tables, case, settings.budget.drawn, settings.seed
                )
            selected = profiles(fmt, settings.writer_profile)
            return catalogue.find_scenario(
                fmt, selected, case, settings.budget.drawn, settings.seed
            )

        judge = Judge(prepared.rules, prepared.loaded.capabilities)
        decoding = Decoding(engine, prepared.decoder, settings.mapping, judge)
        tried, left = worth_reducing(unknown) if settings.reduce else ([], unknown)
        small = shrink_all(prepared.fmt, tried, decoding, scenario_of, working(listen))
        whole = [*tried, *left]
        several = (
            alone.shown(engine, prepared, [*small, *left], whole) if settings.reduce else whole
        )
        for failure in merged(several, result, record):
            listen(events.Reduced(failure))
            failures.append(failure)
    return failures + [failure for _, _, broken in smallest for failure in broken if failure.known]


def load(settings: Settings, engine: Engine, fmt: Format[Any]) -> Future[Loaded]:
    """Starts loading the decoder."""
    level = {"changes": "changes", "rows": "rows"}.get(settings.level, "auto")
    return engine.load(decoder_of(fmt.name, settings.decoder), level)


def prepare(
    settings: Settings,
    engine: Engine,
    fmt: Format[Any],
    listen: Listener = ignore,
    loading: Future[Loaded] | None = None,
) -> Prepared | None:
    """Draws and publishes one format and submits its decode calls; None when the selection leaves
    nothing.
    """
    decoder = decoder_of(fmt.name, settings.decoder)
    loading = loading or load(settings, engine, fmt)
    began, note = time.monotonic(), working(listen)
    first = early.draw(settings, engine, fmt, listen)
    cases = _cases(settings, fmt, note)
    for_rules = settings.selection.rule_patterns(rules(fmt.name), cases)
    cases = settings.selection.cases(for_rules, cases)
    if not cases:
        return None
    kept = settings.selection.rules(for_rules, rules(fmt.name))
    note(
        f"{fmt.name}: {len(cases)} cases in {time.monotonic() - began:.1f} s; waiting for the"
        " decoder"
    )
    loaded = loading.result()
    if first:
        first.ask(loaded)
    check_claims(fmt, loaded.capabilities, cases)
    if loaded.capabilities.types and settings.tables is None:
        as_recorded = [c for c in cases if c.level == 1 or c.origin is Origin.RECORDED]
        cases = as_recorded + _claimed_rows(settings, fmt, loaded.capabilities, for_rules)
    mine, unsupported = claimed(cases, loaded.capabilities, loaded.levels)
    count = sum(
        case.origin is Origin.DRAWN for case in (*mine, *(result.case for result in unsupported))
    )
    grouped = [
        catalogue.repeating(call, settings.seed)
        for call in catalogue.calls(fmt, mine, loaded.levels, settings.seed)
    ]
    note(f"{fmt.name}: publishing {len(mine)} cases")
    copies = [message for call in grouped if call.level == 1 for message in call.foreign]
    messages = [
        *(w.message for call in grouped for case in call.cases for w in case.written),
        *copies,
    ]
    handle = fmt.name
    places, source = publish(settings, engine, handle, messages)
    engine.open(handle, source)  # if it fails, so do the decode calls
    prepared = Prepared(
        settings, fmt, decoder, loaded, grouped, places, handle, unsupported, count, kept=kept
    )
    prepared.owners = {
        id(w.message): case for call in grouped for case in call.cases for w in case.written
    }
    sent = (
        {w.message: case for call in grouped for case in call.cases for w in case.written}
        if copies
        else {}
    )
    prepared.owners |= {id(copy): sent[copy] for copy in copies}
    listen(
        events.Drawn(
            fmt.name, len(mine), count, len(messages), len(grouped), time.monotonic() - began
        )
    )
    sampled = [call.name for call in laws.chosen(grouped, settings.seed)]
    mixing = not (first and first.breaks()) and settings.budget.mixed
    if first:
        prepared.shown, prepared.always = first.findings, first.always
    if prepared.always is not None:
        prepared.futures = [Future() for _ in grouped]
        return prepared
    prepared.mixed = _mixed(
        engine, prepared, groups(grouped, sampled, settings.seed) if mixing else []
    )
    for number, call in enumerate(grouped):
        prepared.futures.append(
            Future()
            if number in prepared.mixed
            else engine.decode(request(prepared, call, call.cases))
        )
    if not settings.select or any(
        rule.law and matches(rule.id, s) for rule in rules(fmt.name) for s in settings.select
    ):
        prepared.laws = laws.submit(engine, prepared)
    return prepared


def _cases(settings: Settings, fmt: Format[Any], note: Note) -> list[Case]:
    """The named, drawn and recorded cases of the format, or those of the user's tables."""
    selected, count, seed = (
        profiles(fmt, settings.writer_profile),
        settings.budget.drawn,
        settings.seed,
    )
    if settings.tables is not None:
        selected = tables.reading(fmt, selected, settings.tables.schema)
        cases = list(tables.named_cases(fmt, selected, settings.tables))
        note(
            f"{fmt.name}: {len(cases)} cases of the tables, {len(selected)} profiles; drawing"
            f" {count}"
        )
        return [*cases, *tables.drawn_cases(fmt, selected, settings.tables, count, seed)]
    asked = settings.selection.of_cases(rules(fmt.name))
    count = count if catalogue.may_match(asked, f"{fmt.name}/*/drawn") else 0
    cases = list(catalogue.named_cases(fmt, selected, asked))
    covers = settings.budget.covering and not asked
    share, cases = f"of {len(cases)} " if covers else "", covering(cases, seed) if covers else cases
    note(
        f"{fmt.name}: {len(cases)} {share}named cases of {len(selected)} profiles; drawing {count}"
    )
    cases += catalogue.drawn_cases(fmt, selected, count, seed)
    if not catalogue.may_match(asked, f"{fmt.name}/{RECORDED}"):
        return cases
    return cases + list(
        catalogue.recorded_cases(
            fmt, settings.writer_profile, settings.budget.recorded, settings.select
        )
    )


def _claimed_rows(
    settings: Settings, fmt: Format[Any], claims: Capabilities, for_rules: frozenset[str]
) -> list[Case]:
    """The cases of level two whose tables have the claimed types alone: a cell that is not asked
    for can refuse no row.
    """
    narrow = replace(
        fmt, supports=lambda type: fmt.supports(type) and claims.claims("types", type.key)
    )
    # A source without such a type has no row to ask for.
    has = {
        name for name, source in SOURCES.items() if any(map(narrow.supports, source.types.values()))
    }
    selected = [
        profile for profile in profiles(narrow, settings.writer_profile) if profile.source in has
    ]
    named = list(catalogue.named_cases(narrow, selected))
    if settings.budget.covering and not settings.selection.of_cases(rules(fmt.name)):
        named = covering(named, settings.seed)
    cases = [*named, *catalogue.drawn_cases(narrow, selected, settings.budget.drawn, settings.seed)]
    return settings.selection.cases(for_rules, [case for case in cases if case.level == 2])


def publish(
    settings: Settings, engine: Engine, handle: str, messages: Sequence[Message]
) -> tuple[dict[int, Place], RecordSource]:
    """Publishes to Kafka, or writes a table without a broker; returns each message's place by its
    identity.
    """
    if settings.bootstrap is None:
        laid, source = lay_out(engine.directory, handle, messages)
        return {id(message): place for message, place in zip(messages, laid, strict=True)}, source
    from generators.publishing import kafka
    from generators.publishing.cluster import as_cluster

    registry.hold(messages)
    sent: Iterable[Message] = messages
    if as_cluster(settings.bootstrap).topic:
        # A topic of the user's deletes records of the past by their time, and may refuse those of
        # the future.
        sent = (replace(message, timestamp_ms=0) for message in messages)
    result = kafka.publish(settings.bootstrap, settings.topic, sent)
    if result.failed:
        raise HarnessError(
            f"{result.failed} of {len(messages)} messages were not delivered to {settings.topic}:"
            f" {result.errors[0]}"
        )
    places = {}
    for message, placed in zip(messages, result.placed, strict=True):
        assert placed is not None
        places[id(message)] = (placed.topic, placed.partition, placed.offset)
    by_partition: dict[int, list[int]] = defaultdict(list)
    for _, partition, offset in places.values():
        by_partition[partition].append(offset)
    whole = tuple(
        (settings.topic, p, min(offsets), max(offsets))
        for p, offsets in sorted(by_partition.items())
    )
    return places, RecordSource(whole, bootstrap=settings.bootstrap, topic=settings.topic)


def finish(
    engine: Engine,
    prepared: Prepared,
    listen: Listener = ignore,
    rows: dict[str, Outputs] | None = None,
) -> FormatResult:
    """Waits for a format's calls and judges them; keeps the rows of each call in `rows`, if
    given.
    """
    all_rules, kept = rules(prepared.fmt.name), prepared.kept
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
    by_call: dict[str, Outputs] = {} if rows is None else rows

    def tell(finding: Finding, result: CaseResult) -> None:
        if finding.rule not in broken and finding.rule in kept:
            broken.add(finding.rule)
            listen(events.Broken(prepared.fmt.name, by_id[finding.rule], finding, result))

    for finding, result in prepared.shown:
        tell(finding, result)
    chosen_readings = Readings(judge)
    for number, call in enumerate(prepared.calls):
        began = time.monotonic()
        if prepared.always is not None:
            prepared.mixed.pop(number, None)
            prepared.futures[number] = Future()
            prepared.futures[number].set_exception(prepared.always)
        if number in prepared.mixed:
            _settle(engine, prepared, prepared.mixed[number], judge)
        if number in prepared.acquitted:
            judged, outputs = prepared.acquitted.pop(number)
            problem = ""
        else:
            judged, outputs, problem = _judge_call(engine, prepared, number, judge, listen)
        results += judged
        undecoded = {result.case.id for result in judged if result.verdict in UNDECODED}
        for case in call.cases:
            if case.id not in undecoded:
                chosen_readings.take(
                    case, [outputs.get(prepared.place(w.message), ()) for w in case.written]
                )
        count = sum(len(case.written) for case in call.cases)
        performed.append(
            CallResult(
                call.name, call.level, len(call.cases), count, time.monotonic() - began, problem
            )
        )
        listen(events.Decoded(prepared.fmt.name, performed[-1]))
        for result in judged:
            for finding in result.findings:
                tell(finding, result)
        if problem:
            notes.append(f"{call.name}: {problem}")
        if rows is not None or any(sample.call == call.name for sample in prepared.laws):
            by_call[call.name] = outputs
    judge.compared[laws.rule_of(judge, "returns")] += sum(
        r.verdict is not Verdict.UNSUPPORTED for r in results
    )
    failed = {call.name for call in performed if call.note}
    findings = laws.collect(
        engine, prepared.laws, by_call, failed, judge, prepared.settings.timeout_s
    )
    findings += chosen_readings.findings()
    results = blamed(judge, _with_findings(judge, results, findings))
    if len(kept) < len(all_rules):
        results = [
            judge.with_findings(r, tuple(f for f in r.findings if f.rule in kept)) for r in results
        ]
    order = {profile.name: number for number, profile in enumerate(prepared.fmt.profiles)}
    results.sort(key=lambda result: order.get(result.case.profile, len(order)))
    places = {
        case.id: tuple(prepared.place(w.message) for w in case.written)
        for call in prepared.calls
        for case in call.cases
    }
    outcome = tuple(_rule_result(prepared, judge, rule, rule.id in kept) for rule in all_rules)
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


def _mixed(engine: Engine, prepared: Prepared, alike: Iterable[Sequence[int]]) -> dict[int, Mixed]:
    """Asks for each group of calls in one; by the number of each of its calls."""
    by_number: dict[int, Mixed] = {}
    for numbers in alike:
        call = together([prepared.calls[number] for number in numbers])
        mixed = Mixed(call, tuple(numbers), engine.decode(request(prepared, call, call.cases)))
        by_number |= dict.fromkeys(numbers, mixed)
    return by_number


def _settle(engine: Engine, prepared: Prepared, mixed: Mixed, judge: Judge) -> None:
    """Judges each call of a group on the group's rows, once; asks alone for each that they do not
    acquit.
    """
    asked = set(
        map(
            prepared.place,
            (*(w.message for case in mixed.call.cases for w in case.written), *mixed.call.foreign),
        )
    )
    outputs = mixed.outputs()
    usable = outputs is not None and outputs.keys() <= asked
    for number in mixed.numbers:
        call, part = prepared.calls[number], judge.empty()
        del prepared.mixed[number]
        if usable and outputs is not None:
            places = [prepared.place(w.message) for case in call.cases for w in case.written]
            own = {
                place: outputs[place]
                for place in (*places, *map(prepared.place, call.foreign))
                if place in outputs
            }
            judged = _judge_cases(prepared, call, call.cases, own, part)
            if all(result.verdict in ACQUITTING for result in judged):
                judge.add(part)
                judge.compared[laws.rule_of(judge, "places")] += len(call.cases)
                prepared.acquitted[number] = judged, own
                continue
        prepared.futures[number] = engine.decode(request(prepared, call, call.cases))


def _judge_call(
    engine: Engine, prepared: Prepared, number: int, judge: Judge, listen: Listener
) -> tuple[list[CaseResult], Outputs, str]:
    call = prepared.calls[number]
    try:
        outputs: Outputs = read(prepared.futures[number].result(), call.level)
    except CancelledError:
        return (
            [_failed(judge, c, Verdict.ERRORED, "cancelled", alone=False) for c in call.cases],
            {},
            "cancelled",
        )
    except PlanFailed as failed:
        return (
            [_failed(judge, c, Verdict.ERRORED, str(failed)) for c in call.cases],
            {},
            str(failed),
        )
    except (DecodeRaised, Lost) as failed:
        late = (
            failed.verdict if isinstance(failed, EveryCall) else verdict_of(failed)
        ) is Verdict.TIMEOUT
        what = "did not end" if late else "raised" if isinstance(failed, DecodeRaised) else "ended"
        if prepared.always is None and isinstance(failed, DecodeRaised):
            working(listen)(
                f"{call.name}: the decoder raised; looking for the messages that make it"
            )
        elif prepared.always is None:
            events.failing(listen, call.name, failed)
        outputs, guilty = isolate(engine, prepared, call, failed)
        # Where hanging messages are known, the cases that the budget left are no examples.
        certain = (
            isinstance(failed, DecodeRaised)
            or prepared.always is not None
            or not any(culprit.alone for culprit in guilty)
        )
        may_stop = STOPS in judge.capabilities.conventions and isinstance(failed, DecodeRaised)
        bad = [
            (
                CaseResult(culprit.case, Verdict.REJECTED, note=culprit.why)
                if may_stop and culprit.alone and _unreadable(culprit.case)
                else _failed(
                    judge,
                    culprit.case,
                    culprit.verdict,
                    culprit.why,
                    culprit.alone or certain,
                    culprit.alone,
                )
            )
            for culprit in guilty
        ]
        named = {culprit.case.id for culprit in guilty}
        problem = f"the decoder {what} on {len(bad)} cases: {str(failed).splitlines()[0]}"
    else:
        bad, named, problem = [], set(), ""
    fine = [case for case in call.cases if case.id not in named]
    judged = bad + _judge_cases(prepared, call, fine, outputs, judge, named)
    law = laws.rule_of(judge, "places")
    judge.compared[law] += len(fine)
    stray = list(strays(engine, prepared, call, outputs, judge))
    judge.broken[law] += len(stray)
    return _with_findings(judge, judged, stray), outputs, problem


def _unreadable(case: Case) -> bool:
    return {change.kind for written in case.written for change in written.changes} == {Kind.CORRUPT}


def _failed(
    judge: Judge, case: Case, verdict: Verdict, why: str, to_blame: bool = True, alone: bool = True
) -> CaseResult:
    """A case whose decoding failed: it breaks the law that decoding ends, if it is to blame;
    `alone` if it fails by itself.
    """
    if not to_blame:
        return CaseResult(case, verdict, note=why, alone=False)
    law = laws.rule_of(judge, "returns")
    judge.broken[law] += 1
    finding = Finding(case.id, law, 0, 0, Aspect.MISSING, "decoding", "an end", error(why))
    return CaseResult(case, verdict, (finding,), why, alone=alone)


def _judge_cases(
    prepared: Prepared,
    call: Call,
    cases: Sequence[Case],
    outputs: Outputs,
    judge: Judge,
    failed: Container[str] = (),
) -> list[CaseResult]:
    """The results of cases of a call, and of those of its foreign messages that fail: one of
    another table, which requires no row, or one that comes again. The decoder may refuse it where
    it may refuse the row of its own table, judged there.
    """
    results = [
        judge.judge(case, [outputs.get(prepared.place(w.message), ()) for w in case.written])
        for case in cases
    ]
    for message in call.foreign:
        case, rows = foreign_case(prepared, call, message), outputs.get(prepared.place(message), ())
        owner = prepared.owners[id(message)]
        owed = next(w.changes for w in owner.written if w.message == message)
        if case.id not in failed and not (call.level == 2 and judge.may_refuse(owner, owed, rows)):
            result = judge.judge(case, [rows])
            results += [result] if result.findings else []
    return results


def _with_findings(
    judge: Judge, results: Sequence[CaseResult], findings: Sequence[Finding]
) -> list[CaseResult]:
    by_case: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_case[finding.case].append(finding)
    return [
        judge.with_findings(result, (*result.findings, *by_case[result.case.id]))
        for result in results
    ]


def _rule_result(prepared: Prepared, judge: Judge, rule: Rule, kept: bool) -> RuleResult:
    settings, loaded = prepared.settings, prepared.loaded
    whole = len(loaded.levels) == 2 and loaded.capabilities == Capabilities()
    reachable = kept and not settings.filtered and whole and settings.decoder is None
    return RuleResult(
        rule, judge.compared[rule.id], judge.broken[rule.id], reachable, judge.refused[rule.id]
    )
