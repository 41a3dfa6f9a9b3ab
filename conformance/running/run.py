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
from conformance.cases.catalogue import Call, matches_pattern, select_profiles
from conformance.cases.covering import select_covering
from conformance.cases.telling import plainest_profile, select_telling
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    Loaded,
    PlanFailed,
    ProcessLost,
    RecordSource,
    write_table,
)
from conformance.engines.specs import decoder_spec, is_command
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
from conformance.reducing.reduce import Decoding, reduce_failures
from conformance.rules.rules import Aspect, Rule, rules
from conformance.running import alone, early, events, laws
from conformance.running.events import Listener, ignore, working
from conformance.running.isolating import (
    EveryCall,
    find_stray_rows,
    foreign_case,
    isolate_failing_cases,
    verdict_of,
)
from conformance.running.mixing import ACQUITTING, Mixed, group_compatible, merge_calls
from conformance.running.prepared import Note, Part, Prepared, Settings, decode_request
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

    for prepared in _prepare_ahead(made()):
        result = finish(engine, prepared, listen)
        compared = {r.rule.id: r.compared for r in result.rules}
        result = replace(
            result, cases=tuple(record.mark(result.cases, rules(prepared.fmt.name), compared))
        )
        broken = smallest_failures(result, record, settings.causes)
        if settings.reduce:
            with prepared.measure(Part.ALONE):
                moved = alone.move_to_batch_law(engine, prepared, result, broken)
            if moved is not result:
                result = moved
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
    failures = _reduce_failing(settings, engine, smallest, record, listen)
    for prepared in formats:
        engine.release(prepared.handle)
    results = sorted(
        (result for _, result, _ in smallest), key=lambda fmt: settings.formats.index(fmt.format)
    )
    judged = [fmt.format for fmt in results]
    ids = [rule.id for name in judged for rule in rules(name)]
    entries = record.results(judged, ids, bool(settings.selection) or settings.level != "both")
    seconds = time.monotonic() - began
    spent = {
        part.value: sum(prepared.spent.get(part, 0.0) for prepared in formats) for part in Part
    }
    run_result = RunResult(
        header,
        tuple(results),
        tuple(failures),
        seconds,
        settings.strict,
        early,
        entries,
        spent=spent,
    )
    listen(events.Finished(run_result))
    return run_result


def _prepare_ahead(formats: Iterable[Prepared]) -> Iterator[Prepared]:
    """Yields the prepared formats, keeping AHEAD of them queued: the engine is busy with the calls
    of the next format while one is judged.
    """
    queue: deque[Prepared] = deque()
    for prepared in formats:
        queue.append(prepared)
        if len(queue) > AHEAD:
            yield queue.popleft()
    yield from queue


def _own_tables(settings: Settings) -> OwnTables | None:
    """The user's tables, with notes on what the model does not take as it stands."""
    if settings.tables is None:
        return None
    schema = settings.tables.schema
    return OwnTables.of(
        schema,
        tuple(
            note
            for name in settings.formats
            for note in tables.usable_tables(get(name), schema).notes
        ),
    )


def _reduce_failing(
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
            selected = select_profiles(fmt, settings.writer_profile)
            return catalogue.find_scenario(
                fmt, selected, case, settings.budget.drawn, settings.seed
            )

        judge = Judge(prepared.rules, prepared.loaded.capabilities)
        reference = "" if is_command(prepared.decoder) else decoder_spec(prepared.fmt.name, None)
        decoding = Decoding(engine, prepared.decoder, settings.mapping, judge, reference=reference)
        reducible, unreduced = worth_reducing(unknown) if settings.reduce else ([], unknown)
        with prepared.measure(Part.REDUCTION):
            smaller = reduce_failures(
                prepared.fmt, reducible, decoding, scenario_of, working(listen)
            )
        displayed = originals = [*reducible, *unreduced]
        if settings.reduce:
            with prepared.measure(Part.ALONE):
                displayed = alone.choose_displayed(
                    engine, prepared, [*smaller, *unreduced], originals
                )
        for failure in merged(displayed, result, record):
            listen(events.Reduced(failure))
            failures.append(failure)
    return failures + [failure for _, _, broken in smallest for failure in broken if failure.known]


def load(settings: Settings, engine: Engine, fmt: Format[Any]) -> Future[Loaded]:
    """Starts loading the decoder."""
    level = {"changes": "changes", "rows": "rows"}.get(settings.level, "auto")
    return engine.load(decoder_spec(fmt.name, settings.decoder), level)


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
    decoder = decoder_spec(fmt.name, settings.decoder)
    loading = loading or load(settings, engine, fmt)
    began, note = time.monotonic(), working(listen)
    early_cases = early.start_early(settings, engine, fmt, listen)
    cases = _draw_cases(settings, fmt, loading, note)
    for_rules = settings.selection.rule_patterns(rules(fmt.name), cases)
    cases = settings.selection.cases(for_rules, cases)
    if not cases:
        return None
    counted_rules = settings.selection.rules(for_rules, rules(fmt.name))
    note(
        f"{fmt.name}: {len(cases)} cases in {time.monotonic() - began:.1f} s; waiting for the"
        " decoder"
    )
    loaded = loading.result()
    if early_cases:
        early_cases.start_decoding(loaded)
    check_claims(fmt, loaded.capabilities, cases)
    if loaded.capabilities.types and settings.tables is None:
        as_recorded = [c for c in cases if c.level == 1 or c.origin is Origin.RECORDED]
        cases = as_recorded + _cases_of_claimed_types(settings, fmt, loaded.capabilities, for_rules)
    supported, unsupported = claimed(cases, loaded.capabilities, loaded.levels)
    count = sum(
        case.origin is Origin.DRAWN
        for case in (*supported, *(result.case for result in unsupported))
    )
    grouped = [
        catalogue.repeat_messages(call, settings.seed)
        for call in catalogue.group_calls(fmt, supported, loaded.levels, settings.seed)
    ]
    note(f"{fmt.name}: publishing {len(supported)} cases")
    copies = [message for call in grouped if call.level == 1 for message in call.foreign]
    messages = [
        *(w.message for call in grouped for case in call.cases for w in case.written),
        *copies,
    ]
    handle = fmt.name
    places, source = publish(settings, engine, handle, messages)
    engine.open_records(handle, source)  # if it fails, so do the decode calls
    prepared = Prepared(
        settings,
        fmt,
        decoder,
        loaded,
        grouped,
        places,
        handle,
        unsupported,
        count,
        counted_rules=counted_rules,
    )
    prepared.spent[Part.START] = time.monotonic() - began
    prepared.owners = {
        id(w.message): case for call in grouped for case in call.cases for w in case.written
    }
    owner_of_copy = (
        {w.message: case for call in grouped for case in call.cases for w in case.written}
        if copies
        else {}
    )
    prepared.owners |= {id(copy): owner_of_copy[copy] for copy in copies}
    listen(
        events.Drawn(
            fmt.name, len(supported), count, len(messages), len(grouped), time.monotonic() - began
        )
    )
    sampled = [call.name for call in laws.choose_calls(grouped, settings.seed)]
    mixing = not (early_cases and early_cases.breaks()) and settings.budget.mixed
    if early_cases:
        prepared.early_findings, prepared.always = early_cases.findings, early_cases.always
    if prepared.always is not None:
        prepared.futures = [Future() for _ in grouped]
        return prepared
    prepared.mixed = _submit_groups(
        engine, prepared, group_compatible(grouped, sampled, settings.seed) if mixing else []
    )
    for number, call in enumerate(grouped):
        prepared.futures.append(
            Future()
            if number in prepared.mixed
            else engine.decode(decode_request(prepared, call, call.cases))
        )
    if settings.budget.telling:
        return prepared
    if not settings.select or any(
        rule.law and matches_pattern(rule.id, s)
        for rule in rules(fmt.name)
        for s in settings.select
    ):
        prepared.laws = laws.submit_trials(engine, prepared)
    return prepared


def _draw_telling_cases(
    settings: Settings,
    fmt: Format[Any],
    patterns: Sequence[str],
    loading: Future[Loaded],
    note: Note,
) -> list[Case]:
    """The most telling named cases of one profile that the decoder claims, or of what is selected,
    at its levels. They are made while the decoder is loaded.
    """
    selected = select_profiles(fmt, settings.writer_profile)
    profiles = selected if patterns else (plainest_profile(selected),)
    cases = list(catalogue.named_cases(fmt, profiles, tuple(patterns)))
    loaded = loading.result()
    claimed_profiles = [p for p in selected if loaded.capabilities.claims("profiles", p.name)]
    if not patterns and claimed_profiles and profiles[0] not in claimed_profiles:
        profiles = (plainest_profile(claimed_profiles),)
        cases = list(catalogue.named_cases(fmt, profiles))
    cases = [case for case in cases if case.level in loaded.levels]
    telling_cases = select_telling(cases, settings.budget.telling)
    names = ", ".join(profile.name for profile in profiles)
    note(f"{fmt.name}: {len(telling_cases)} of {len(cases)} named cases of {names}")
    return telling_cases


def _draw_cases(
    settings: Settings, fmt: Format[Any], loading: Future[Loaded], note: Note
) -> list[Case]:
    """The named, drawn and recorded cases of the format, or those of the user's tables."""
    selected, count, seed = (
        select_profiles(fmt, settings.writer_profile),
        settings.budget.drawn,
        settings.seed,
    )
    if settings.tables is not None:
        selected = tables.profiles_of_source(fmt, selected, settings.tables.schema)
        cases = list(tables.named_cases(fmt, selected, settings.tables))
        note(
            f"{fmt.name}: {len(cases)} cases of the tables, {len(selected)} profiles; drawing"
            f" {count}"
        )
        return [*cases, *tables.drawn_cases(fmt, selected, settings.tables, count, seed)]
    patterns = settings.selection.of_cases(rules(fmt.name))
    if settings.budget.telling:
        return _draw_telling_cases(settings, fmt, patterns, loading, note)
    count = count if catalogue.may_match(patterns, f"{fmt.name}/*/drawn") else 0
    cases = list(catalogue.named_cases(fmt, selected, patterns))
    covers = settings.budget.covering and not patterns
    share, cases = (
        f"of {len(cases)} " if covers else "",
        select_covering(cases, seed) if covers else cases,
    )
    note(
        f"{fmt.name}: {len(cases)} {share}named cases of {len(selected)} profiles; drawing {count}"
    )
    cases += catalogue.drawn_cases(fmt, selected, count, seed)
    if not catalogue.may_match(patterns, f"{fmt.name}/{RECORDED}"):
        return cases
    return cases + list(
        catalogue.recorded_cases(
            fmt, settings.writer_profile, settings.budget.recorded, settings.select
        )
    )


def _cases_of_claimed_types(
    settings: Settings, fmt: Format[Any], claims: Capabilities, for_rules: frozenset[str]
) -> list[Case]:
    """The cases of level two whose tables have the claimed types alone: a cell that is not asked
    for can refuse no row.
    """
    narrow = replace(
        fmt, supports=lambda type: fmt.supports(type) and claims.claims("types", type.key)
    )
    # A source without such a type has no row to ask for.
    sources_with_type = {
        name for name, source in SOURCES.items() if any(map(narrow.supports, source.types.values()))
    }
    selected = [
        profile
        for profile in select_profiles(narrow, settings.writer_profile)
        if profile.source in sources_with_type
    ]
    cases_of_claimed = list(catalogue.named_cases(narrow, selected))
    if settings.budget.covering and not settings.selection.of_cases(rules(fmt.name)):
        cases_of_claimed = select_covering(cases_of_claimed, settings.seed)
    cases = [
        *cases_of_claimed,
        *catalogue.drawn_cases(narrow, selected, settings.budget.drawn, settings.seed),
    ]
    return settings.selection.cases(for_rules, [case for case in cases if case.level == 2])


def publish(
    settings: Settings, engine: Engine, handle: str, messages: Sequence[Message]
) -> tuple[dict[int, Place], RecordSource]:
    """Publishes to Kafka, or writes a table without a broker; returns each message's place by its
    identity.
    """
    if settings.bootstrap is None:
        laid, source = write_table(engine.directory, handle, messages)
        return {id(message): place for message, place in zip(messages, laid, strict=True)}, source
    from generators.publishing import kafka
    from generators.publishing.cluster import as_cluster

    registry.register_schemas(messages)
    published: Iterable[Message] = messages
    if as_cluster(settings.bootstrap).topic:
        # A topic of the user's deletes records of the past by their time, and may refuse those of
        # the future.
        published = (replace(message, timestamp_ms=0) for message in messages)
    result = kafka.publish(settings.bootstrap, settings.topic, published)
    if result.failed:
        raise HarnessError(
            f"{result.failed} of {len(messages)} messages were not delivered to {settings.topic}:"
            f" {result.errors[0]}"
        )
    places = {}
    for message, record in zip(messages, result.placed, strict=True):
        assert record is not None
        places[id(message)] = (record.topic, record.partition, record.offset)
    by_partition: dict[int, list[int]] = defaultdict(list)
    for _, partition, offset in places.values():
        by_partition[partition].append(offset)
    ranges = tuple(
        (settings.topic, p, min(offsets), max(offsets))
        for p, offsets in sorted(by_partition.items())
    )
    return places, RecordSource(ranges, bootstrap=settings.bootstrap, topic=settings.topic)


def finish(
    engine: Engine,
    prepared: Prepared,
    listen: Listener = ignore,
    outputs_by_call: dict[str, Outputs] | None = None,
) -> FormatResult:
    """Waits for a format's calls and judges them; keeps the rows of each call in `outputs_by_call`,
    if given.
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

    def tell(finding: Finding, result: CaseResult) -> None:
        if finding.rule not in broken and finding.rule in counted_rules:
            broken.add(finding.rule)
            listen(events.Broken(prepared.fmt.name, by_id[finding.rule], finding, result))

    for finding, result in prepared.early_findings:
        tell(finding, result)
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
    results = blamed(judge, _with_findings(judge, results, findings))
    if len(counted_rules) < len(all_rules):
        results = [
            judge.with_findings(r, tuple(f for f in r.findings if f.rule in counted_rules))
            for r in results
        ]
    order = {profile.name: number for number, profile in enumerate(prepared.fmt.profiles)}
    results.sort(key=lambda result: order.get(result.case.profile, len(order)))
    places = {
        case.id: tuple(prepared.place(w.message) for w in case.written)
        for call in prepared.calls
        for case in call.cases
    }
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


def _submit_groups(
    engine: Engine, prepared: Prepared, groups_of_calls: Iterable[Sequence[int]]
) -> dict[int, Mixed]:
    """Asks for each group of calls in one; by the number of each of its calls."""
    by_number: dict[int, Mixed] = {}
    for numbers in groups_of_calls:
        call = merge_calls([prepared.calls[number] for number in numbers])
        mixed = Mixed(
            call, tuple(numbers), engine.decode(decode_request(prepared, call, call.cases))
        )
        by_number |= dict.fromkeys(numbers, mixed)
    return by_number


def _judge_group(engine: Engine, prepared: Prepared, mixed: Mixed, judge: Judge) -> None:
    """Judges each call of a group on the group's rows, once; asks alone for each that they do not
    acquit.
    """
    requested = set(
        map(
            prepared.place,
            (*(w.message for case in mixed.call.cases for w in case.written), *mixed.call.foreign),
        )
    )
    outputs = mixed.outputs()
    usable = outputs is not None and outputs.keys() <= requested
    for number in mixed.numbers:
        call, part = prepared.calls[number], judge.empty()
        del prepared.mixed[number]
        if usable and outputs is not None:
            places = [prepared.place(w.message) for case in call.cases for w in case.written]
            call_outputs = {
                place: outputs[place]
                for place in (*places, *map(prepared.place, call.foreign))
                if place in outputs
            }
            judged = _judge_cases(prepared, call, call.cases, call_outputs, part)
            if all(result.verdict in ACQUITTING for result in judged):
                judge.add(part)
                judge.compared[laws.rule_of(judge, "places")] += len(call.cases)
                prepared.acquitted[number] = judged, call_outputs
                continue
        prepared.futures[number] = engine.decode(decode_request(prepared, call, call.cases))


def _judge_call(
    engine: Engine, prepared: Prepared, number: int, judge: Judge, listen: Listener
) -> tuple[list[CaseResult], Outputs, str]:
    call = prepared.calls[number]
    try:
        outputs: Outputs = read(prepared.futures[number].result(), call.level)
    except CancelledError:
        return (
            [
                _failed_result(judge, c, Verdict.ERRORED, "cancelled", alone=False)
                for c in call.cases
            ],
            {},
            "cancelled",
        )
    except PlanFailed as failed:
        return (
            [
                _failed_result(judge, case, Verdict.ERRORED, str(failed), plan_failed=True)
                for case in call.cases
            ],
            {},
            str(failed),
        )
    except (DecodeRaised, ProcessLost) as failed:
        timed_out = (
            failed.verdict if isinstance(failed, EveryCall) else verdict_of(failed)
        ) is Verdict.TIMEOUT
        what = (
            "did not end"
            if timed_out
            else "raised"
            if isinstance(failed, DecodeRaised)
            else "ended"
        )
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
                    culprit.alone or certain,
                    culprit.alone,
                )
            )
            for culprit in guilty
        ]
        failing_ids = {culprit.case.id for culprit in guilty}
        problem = (
            f"the decoder {what} on {len(failing_results)} cases: {str(failed).splitlines()[0]}"
        )
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
    return _with_findings(judge, judged, stray), outputs, problem


def _is_unreadable(case: Case) -> bool:
    return {change.kind for written in case.written for change in written.changes} == {Kind.CORRUPT}


def _failed_result(
    judge: Judge,
    case: Case,
    verdict: Verdict,
    why: str,
    to_blame: bool = True,
    alone: bool = True,
    *,
    plan_failed: bool = False,
) -> CaseResult:
    """A case whose decoding failed: it breaks the law that decoding ends, if it is to blame;
    `alone` if it fails by itself, `plan_failed` if the decoder fails before it reads a message.
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
    """The results of cases of a call, and of those of its foreign messages that fail: one of
    another table, which requires no row, or one that comes again. The decoder may refuse it where
    it may refuse the row of its own table, judged there.
    """
    results = [
        judge.judge(case, [outputs.get(prepared.place(w.message), ()) for w in case.written])
        for case in cases
    ]
    for message in call.foreign:
        case, message_rows = (
            foreign_case(prepared, call, message),
            outputs.get(prepared.place(message), ()),
        )
        owner = prepared.owners[id(message)]
        owed_changes = next(w.changes for w in owner.written if w.message == message)
        if case.id not in failed and not (
            call.level == 2 and judge.may_refuse(owner, owed_changes, message_rows)
        ):
            result = judge.judge(case, [message_rows])
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


def _rule_result(prepared: Prepared, judge: Judge, rule: Rule, is_counted: bool) -> RuleResult:
    settings, loaded = prepared.settings, prepared.loaded
    is_complete = len(loaded.levels) == 2 and loaded.capabilities == Capabilities()
    reachable = is_counted and not settings.filtered and is_complete and settings.decoder is None
    return RuleResult(
        rule, judge.compared[rule.id], judge.broken[rule.id], reachable, judge.refused[rule.id]
    )
