"""The main job: draw, publish, decode, judge.

Drawing and decoding overlap: the child process decodes one format while this process judges another
or draws the next.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance.brokers.jars import java_words
from conformance.cases import catalogue, tables
from conformance.cases.catalogue import select_profiles
from conformance.engines.engine import (
    Engine,
)
from conformance.engines.specs import decoder_spec, is_command
from conformance.judging.clusters import merged, raised_alike, smallest_failures, worth_reducing
from conformance.judging.judge import Judge
from conformance.judging.known import EntryTracker
from conformance.judging.results import (
    Failure,
    FormatResult,
    Header,
    OwnTables,
    RunResult,
    circumstances,
)
from conformance.reducing.decoding import Decoding
from conformance.reducing.reduce import reduce_failures
from conformance.rules.rules import rules
from conformance.running import alone, events
from conformance.running.events import Listener, ignore, working
from conformance.running.finishing import finish_format
from conformance.running.prepared import Part, Prepared, Settings
from conformance.running.preparing import prepare_format, start_loading
from generators.errors import NothingSelected, UnknownName
from generators.model import Case, Scenario
from generators.wire_format import FORMATS, Format, get

AHEAD: Final = 3
"""How many formats have submitted calls while another one is judged: the first verdict comes soon,
and the decoding process is never idle.
"""


class FormatFailures(NamedTuple):
    """A format that has been judged, and the smallest failure of each cause, not yet reduced."""

    prepared: Prepared
    result: FormatResult
    failures: Sequence[Failure]


def run_formats(settings: Settings, engine: Engine, listen: Listener = ignore) -> RunResult:
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
    loading = {name: start_loading(settings, engine, get(name)) for name in order}
    formats: list[Prepared] = []
    record = EntryTracker(settings.expect)
    smallest: list[FormatFailures] = []
    new, early = 0, False

    def prepare_each() -> Iterator[Prepared]:
        """Prepares the formats of the run, those with the fewest profiles first, and adds each to
        `formats`. A format of which the selection leaves no case is skipped.
        """
        for name in order:
            if (
                prepared := prepare_format(settings, engine, get(name), listen, loading[name])
            ) is not None:
                formats.append(prepared)
                yield prepared

    for prepared in _prepare_ahead(prepare_each()):
        result = finish_format(engine, prepared, listen)
        compared = {r.rule.id: r.compared for r in result.rules}
        result = replace(
            result, cases=tuple(record.mark(result.cases, rules(prepared.fmt.name), compared))
        )
        broken = smallest_failures(result, record, settings.causes)
        if settings.reduce:
            with prepared.measure(Part.ALONE):
                result_with_law = alone.move_to_batch_law(engine, prepared, result, broken)
            if result_with_law is not result:
                result = result_with_law
                broken = smallest_failures(result, record, settings.causes)
        listen(events.Judged(result))
        smallest.append(FormatFailures(prepared, result, broken))
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
        (format_failures.result for format_failures in smallest),
        key=lambda fmt: settings.formats.index(fmt.format),
    )
    judged = [fmt.format for fmt in results]
    ids = [rule.id for rule in itertools.chain.from_iterable(map(rules, judged))]
    entries = record.results(judged, ids, bool(settings.selection) or settings.level != "both")
    seconds = time.monotonic() - began
    spent: dict[str, float] = {}
    for part in Part:
        spent[part.value] = sum(prepared.spent.get(part, 0.0) for prepared in formats)
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
    """Yields the prepared formats in order, each only when AHEAD further ones are prepared or none
    is left: so the engine decodes the next formats while one is judged.
    """
    queue: deque[Prepared] = deque()
    for prepared in formats:
        queue.append(prepared)
        if len(queue) > AHEAD:
            yield queue.popleft()
    yield from queue


def _own_tables(settings: Settings) -> OwnTables | None:
    """The user's own tables, which the run is to judge, with notes on columns that the harness
    cannot model as they are; None if the user gave none.
    """
    if settings.tables is None:
        return None
    schema = settings.tables.schema
    notes: list[str] = []
    for name in settings.formats:
        notes += tables.usable_tables(get(name), schema).notes
    return OwnTables.of(schema, tuple(notes))


def _reduce_failing(
    settings: Settings,
    engine: Engine,
    smallest: Sequence[FormatFailures],
    record: EntryTracker,
    listen: Listener,
) -> list[Failure]:
    """All failures of the judged formats: first the new ones, reduced, merged by cause and at most
    `max_fail`, then the known ones.
    """
    failures: list[Failure] = []
    for prepared, result, broken in smallest:
        unknown = raised_alike([failure for failure in broken if not failure.known], result)
        if settings.max_fail:
            unknown = unknown[: max(0, settings.max_fail - len(failures))]

        def scenario_of(case: Case, fmt: Format[Any] = prepared.fmt) -> Scenario | None:
            """The scenario from which a failing case was written, for the reducer to change; one of
            the user's own tables if the run has some. None for a malformed message, which has no
            scenario.
            """
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
    for format_failures in smallest:
        failures += (failure for failure in format_failures.failures if failure.known)
    return failures
