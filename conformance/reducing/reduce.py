"""Reduces failing cases: the same broken rule with fewer events, rows and columns, simpler values
and shorter names.

All failures of a format are reduced together, in rounds. In a round each failure has dozens of
smaller candidates. The decoder takes those of one deployment in one call, at level two in one call
per table. The next round starts from the smallest candidate that still breaks the failure's rule.
Reduction ends when no smaller candidate breaks it, or at a limit.

A smaller case counts only if it still tells right from wrong: the rows that it owes pass, and so do
those of the reference decoder.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from itertools import chain
from string import ascii_lowercase
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Engine,
    ProcessLost,
    Request,
    ranges_of,
    tables_of_cases,
    write_table,
)
from conformance.judging.causes import may_have_cause
from conformance.judging.findings import BAD, CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.ledger import HarnessFault
from conformance.judging.output import Outputs, Place, read
from conformance.judging.perfect import perfect_rows
from conformance.judging.results import Failure
from conformance.judging.trait_sorts import Trait
from conformance.reducing.candidates import (
    Measure,
    Recipe,
    RecordedRecipe,
    ScenarioRecipe,
    fault_recipe,
    find_hint,
    make_recipe,
    measure_scenario,
    separate_databases,
)
from generators.drawing.cases import tables_of
from generators.errors import HarnessError, Refused
from generators.model import Case, Deployment, Message, Origin, Scenario, Table
from generators.wire_format import Format

RETURNS: Final = "returns"
"""The law that decoding never raises; a case that breaks it is reduced without judging."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per format: rounds, decode calls, and seconds from the first answer on.

    In a round each failure has at most `candidates`, at level two of at most `tables` tables (twice
    as many if no failing column is known), and all together have `round_calls` calls.
    """

    rounds: int = 12
    calls: int = 100
    seconds: float = 30
    candidates: int = 48
    tables: int = 2
    round_calls: int = 24


LIMITS: Final = Limits()
CONFIRMING: Final = Limits(calls=60, seconds=20)
"""Limits of the calls in which the reference decoder decodes the smallest cases."""


@dataclass(frozen=True, slots=True)
class Step:
    """A failing case on the way to the smallest one."""

    scenario: Scenario
    case: Case
    finding: Finding
    result: CaseResult
    size: Measure


@dataclass(slots=True, eq=False)
class Track:
    """A failure under reduction: its smallest failing case so far, candidates tried, and whether
    more are left.

    `broken_subjects` are the subjects of all causes for which the run broke the failure's rule;
    `earlier_steps` are the larger failing cases, the first of which is the failure's own. `fault`
    is the harness's error on a candidate, which ends the reduction of this failure.
    """

    failure: Failure
    recipe: Recipe | RecordedRecipe
    scenario: Scenario
    case: Case
    finding: Finding
    result: CaseResult
    size: Measure
    origin: Measure
    broken_subjects: frozenset[Trait] = frozenset()
    earlier_steps: list[Step] = field(default_factory=list)
    tried_hashes: set[int] = field(default_factory=set)
    deferred: bool = False
    rounds: int = 0
    calls: int = 0
    ended: float = 0.0
    fault: str = ""

    @property
    def raising(self) -> bool:
        """Whether the failure is a decoder that raises."""
        return self.failure.rule.law == RETURNS

    def accepts_finding(self, finding: Finding, case: Case) -> bool:
        """Whether a finding of a smaller case breaks the failure's rule for the same cause."""
        cause, finding_before = self.failure.cause, self.failure.finding
        same_rule = finding.rule in (self.failure.rule.id, finding_before.instead)
        return same_rule and (
            cause is None or may_have_cause(cause, finding, case, self.broken_subjects)
        )

    def accept(self, smaller: Step) -> None:
        """Takes a smaller failing case as the one to reduce further, and keeps the one before it to
        go back to.
        """
        self.earlier_steps.append(
            Step(self.scenario, self.case, self.finding, self.result, self.size)
        )
        self._set_step(smaller)
        self.ended = time.monotonic()

    def start_again(self) -> None:
        """Goes back to the failure's own case, and forgets which candidates were tried."""
        self._set_step(self.earlier_steps[0])
        self.earlier_steps.clear()
        self.tried_hashes.clear()

    def _set_step(self, step: Step) -> None:
        self.scenario, self.case, self.size = step.scenario, step.case, step.size
        self.finding, self.result = step.finding, step.result


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A smaller case of a failure."""

    track: Track
    scenario: Scenario
    case: Case
    size: Measure


@dataclass(slots=True, eq=False)
class Batch:
    """The candidates of one decode call."""

    deployment: Deployment
    level: int
    table: Table | None
    candidates: list[Candidate] = field(default_factory=list)


DecodeBatches: TypeAlias = Callable[[Sequence[Batch]], Iterable[tuple[Candidate, CaseResult]]]
"""Decodes and judges the candidates of each batch, in one call a batch: the decoded ones with their
results, in order of the answers; others are missing.
"""


ScenarioOf: TypeAlias = Callable[[Case], Scenario | None]


class OutOfTime(Exception):
    """A limit is reached."""


def reduce_failures(
    fmt: Format[Any],
    failures: Sequence[Failure],
    decoding: Decoding,
    scenario_of: ScenarioOf,
    note: Callable[[str], None],
) -> list[Failure]:
    """The failures in order, each with its smallest case; `reduced` describes the reduction and its
    cost.

    `scenario_of` gives the scenario of a case, or None: such a failure stays unchanged, unless its
    case is a fault case, which is looked up in the catalogue, or a recorded one, of which messages
    are left out. Also unchanged: failures of a law (but `returns`), of foreign messages, of a
    decoder that does not end, and those on whose candidates a writer crashes.
    """
    tracks = {
        id(failure): track
        for failure in failures
        if (track := _start_track(fmt, failure, scenario_of, failures)) is not None
    }
    if not tracks:
        return list(failures)
    note(f"{fmt.name}: reducing {len(tracks)} of {len(failures)} failures")
    raising = [track for track in tracks.values() if track.raising]
    convicting = [track for track in tracks.values() if not track.raising]
    limits = decoding.limits
    try:
        decoding.limits = (
            replace(limits, calls=limits.calls // 2, seconds=limits.seconds / 2)
            if convicting
            else limits
        )
        with _report_end(f"{fmt.name}: decoders that raise", note):
            for track in raising:
                _reduce_raising(track, decoding)
        decoding.limits = limits
        with _report_end(fmt.name, note):
            reduce_tracks(convicting, decoding, limits, note)
    except (HarnessError, CancelledError) as error:
        note(f"{fmt.name}: reduction stopped: {error}")
    keep_confirmed(list(tracks.values()), decoding, note)
    for track in tracks.values():
        if track.fault:
            note(f"{track.failure.rule.id}: not reduced: {track.fault}")
    return [
        _describe_reduction(tracks[id(failure)], decoding.began)
        if id(failure) in tracks
        else failure
        for failure in failures
    ]


@contextlib.contextmanager
def _report_end(what: str, note: Callable[[str], None]) -> Iterator[None]:
    """A context in which OutOfTime ends the reduction of `what`, with a note and no error."""
    try:
        yield
    except OutOfTime as end:
        note(f"{what}: reduction stopped: {end}")


def keep_confirmed(
    tracks: Sequence[Track], decoding: Decoding, note: Callable[[str], None]
) -> None:
    """Keeps the smallest cases that the reference decoder passes.

    A failure whose smallest case it does not pass is reduced again, by steps that it passes. What
    cannot be confirmed within the limits goes back to the failure's own case. A decoding without a
    reference decoder changes nothing.
    """
    reduced_tracks = [track for track in tracks if track.earlier_steps and not track.fault]
    confirming = decoding.by_reference()
    if confirming is None or not reduced_tracks:
        return
    try:
        confirming.engine.load(confirming.decoder, "auto").result()
    except (HarnessError, ProcessLost, DecodeRaised, CancelledError) as error:
        note(f"the reference decoder cannot run here, and confirms no reduced case: {error}")
        return
    confirmed: set[int] = set()
    with contextlib.suppress(OutOfTime, HarnessError, ProcessLost, CancelledError):
        latest = [Candidate(t, t.scenario, t.case, t.size) for t in reduced_tracks]
        confirmed = {id(candidate.track) for candidate in _select_confirmed(confirming, latest)}
    unconfirmed = [track for track in reduced_tracks if id(track) not in confirmed]
    for track in unconfirmed:
        note(f"{track.failure.rule.id}: the reference decoder does not pass the reduced case")
        track.start_again()

    def decode_and_confirm(batches: Sequence[Batch]) -> Iterator[tuple[Candidate, CaseResult]]:
        """Decodes candidates and gives those, with their results, that still fail alike and that
        the reference decoder passes.
        """
        results = {id(candidate): (candidate, result) for candidate, result in decoding(batches)}
        failing: list[Candidate] = []
        for candidate, result in results.values():
            accepts = candidate.track.accepts_finding
            if any(accepts(finding, candidate.case) for finding in result.findings):
                failing.append(candidate)
        for candidate in _select_confirmed(confirming, failing):
            yield results[id(candidate)]

    with contextlib.suppress(OutOfTime, HarnessError, ProcessLost, CancelledError):
        decoding.limits = decoding.limits_left_after(CONFIRMING)
        again = [track for track in unconfirmed if not track.raising]
        reduce_tracks(again, decode_and_confirm, decoding.limits, note)


def _select_confirmed(confirming: Decoding, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the reference decoder passes, in order of their answers."""
    if not candidates:
        return []
    return [
        candidate
        for candidate, result in confirming(_group_candidates(candidates))
        if _passes(candidate.track.failure, result)
    ]


def _passes(failure: Failure, result: CaseResult) -> bool:
    """Whether a result (the reference decoder's) breaks neither the failure's rule nor another one
    that counts.
    """
    owners = (failure.rule.id, failure.finding.instead)
    return result.verdict not in BAD and all(f.rule not in owners for f in result.findings)


def _group_candidates(candidates: Iterable[Candidate]) -> list[Batch]:
    """Candidates in as few batches as can be, at level one without two of one table."""
    batches: list[tuple[Batch, set[tuple[str, str | None, str]]]] = []
    for candidate in candidates:
        case = candidate.case
        table = case.tables[0] if case.level == 2 else None
        names = {(t.database, t.schema, t.name) for t in case.tables}
        for batch, taken_names in batches:
            key = (batch.deployment, batch.level, batch.table)
            if key == (case.deployment, case.level, table) and (table or not names & taken_names):
                break
        else:
            batch, taken_names = Batch(case.deployment, case.level, table), set()
            batches.append((batch, taken_names))
        batch.candidates.append(candidate)
        taken_names |= names
    return [batch for batch, _ in batches]


def _start_track(
    fmt: Format[Any],
    failure: Failure,
    scenario_of: ScenarioOf,
    failures: Iterable[Failure] = (),
) -> Track | None:
    """A failure prepared for reduction: its scenario and the recipe by which smaller ones are
    written. None if it cannot be reduced. `failures` are all of the run.
    """
    case, law = failure.result.case, failure.rule.law
    if (
        case.origin is Origin.FOREIGN
        or law not in ("", RETURNS)
        or failure.result.verdict is Verdict.TIMEOUT
    ):
        return None
    profile = fmt.profile(case.profile)
    scenario = scenario_of(case)
    start: ScenarioRecipe | None
    if case.origin is Origin.RECORDED:
        recorded = RecordedRecipe(fmt, profile, case)
        start = ScenarioRecipe(recorded.scenario, recorded)
    elif scenario is not None:
        start = ScenarioRecipe(scenario, make_recipe(fmt, profile, case))
    else:
        start = fault_recipe(fmt, profile, case)
    if start is None:
        return None
    size = measure_scenario(start.scenario, _message_bytes(case))
    broken_subjects = frozenset(
        chain.from_iterable(
            known_failure.cause.subjects
            for known_failure in failures
            if known_failure.rule.id == failure.rule.id
            and failure.cause is not None
            and known_failure.cause is not None
            and known_failure.cause.symptom is failure.cause.symptom
        )
    )
    return Track(
        failure,
        start.recipe,
        start.scenario,
        case,
        failure.finding,
        failure.result,
        size,
        size,
        broken_subjects,
    )


def reduce_tracks(
    tracks: Sequence[Track],
    decode_batches: DecodeBatches,
    limits: Limits = LIMITS,
    note: Callable[[str], None] = lambda _text: None,
) -> None:
    """Reduces failures together until no candidate is left. Raises OutOfTime when
    `decode_batches` does.
    """
    active = list(tracks)
    for number in range(1, limits.rounds + 1):
        batches = propose_batches(active, limits)
        candidates = list(chain.from_iterable(batch.candidates for batch in batches))
        counts = Counter(candidate.track.failure.rule.id for candidate in candidates)
        if not batches:
            return
        note(
            f"reduction round {number}: {counts.total()} candidates of {len(counts)} failures in"
            f" {len(batches)} calls"
        )
        for batch in batches:
            for track in {id(c.track): c.track for c in batch.candidates}.values():
                track.calls += 1
                track.rounds = number
        for candidate, result in decode_batches(batches):
            track = candidate.track
            finding = next(
                (f for f in result.findings if track.accepts_finding(f, candidate.case)), None
            )
            if finding is not None and candidate.size < track.size:
                _accept(candidate, result, replace(finding, rule=track.failure.rule.id))
        proposed = {id(candidate.track) for candidate in candidates}
        active = [track for track in active if track.deferred or id(track) in proposed]


def _accept(candidate: Candidate, result: CaseResult, finding: Finding) -> None:
    """Takes a candidate, whose case still fails with this finding, as the failure's new smallest
    case.
    """
    candidate.track.accept(
        Step(candidate.scenario, candidate.case, finding, result, candidate.size)
    )


def propose_batches(tracks: Sequence[Track], limits: Limits = LIMITS) -> list[Batch]:
    """The next candidates, grouped into decode calls; the failures take turns, so that a limit cuts
    all alike.

    Each level-one candidate has its own database: candidates of a call never share (database,
    table), which may key a decoder's state. Those of level two share the requested table, as the
    cases of a run do.
    """
    batches: dict[tuple[Any, ...], Batch] = {}
    # Suffixes of database names are of one length, so that sizes compare.
    suffixes = map("".join, itertools.product(ascii_lowercase, repeat=3))
    quotas: deque[_Quota] = deque()
    for track in tracks:
        track.deferred = False
        if track.fault:
            continue
        failure_hint = find_hint(track.finding, track.case)
        tables = limits.tables if failure_hint.column is not None else 2 * limits.tables
        quotas.append(
            _Quota(
                track,
                track.recipe.smaller_scenarios(track.scenario, failure_hint),
                limits.candidates,
                tables,
            )
        )
    while quotas:
        quota = quotas.popleft()
        track = quota.track
        for scenario in quota.source:
            requested = _requested_table(track, scenario)
            if (scenario.level == 2 and requested is None) or (
                digest := hash(repr(scenario.history))
            ) in track.tried_hashes:
                continue
            key = (track.case.deployment, scenario.level, track.recipe.profile.source, requested)
            if key not in batches and (
                len(batches) >= limits.round_calls
                or (requested and len(quota.requested_tables) >= quota.tables)
            ):
                track.deferred = True
                quota.deferred += 1
                if quota.deferred > limits.candidates:
                    break
                continue
            track.tried_hashes.add(digest)
            try:
                candidate = _write_candidate(track, scenario, suffixes)
            except HarnessFault as fault:
                track.fault = str(fault)
                break
            if candidate is None:
                continue
            if key not in batches:
                batches[key] = Batch(track.case.deployment, scenario.level, requested)
            batches[key].candidates.append(candidate)
            quota.requested_tables.add(requested)
            quota.candidates_left -= 1
            if quota.candidates_left:
                quotas.append(quota)
            break
    return list(batches.values())


@dataclass(slots=True, eq=False)
class _Quota:
    """A failure's remaining quota in a reduction round: candidates, and tables beside
    `requested_tables`; `deferred` counts candidates that must wait for another round.
    """

    track: Track
    source: Iterator[Scenario]
    candidates_left: int
    tables: int
    requested_tables: set[Table | None] = field(default_factory=set)
    deferred: int = 0


def _requested_table(track: Track, scenario: Scenario) -> Table | None:
    """The table that a level-two call requests for the scenario; None at level one, and where the
    scenario has two versions of one table.
    """
    if track.case.origin is Origin.RECORDED:
        return track.case.tables[0] if scenario.level == 2 else None
    used = tables_of(scenario.history) if scenario.level == 2 else ()
    return used[0] if len({(t.database, t.schema, t.name) for t in used}) == len(used) > 0 else None


def _write_candidate(track: Track, scenario: Scenario, suffixes: Iterator[str]) -> Candidate | None:
    """The scenario as a case; None if the writer does not accept it, or if it is no smaller. Raises
    HarnessFault if the writer crashes.
    """
    try:
        case = track.recipe.case(
            separate_databases(scenario, next(suffixes, "")) if scenario.level == 1 else scenario
        )
    except Refused:
        return None
    except Exception as error:
        raise HarnessFault(
            f"a fault of the harness: writing a smaller case raised {type(error).__name__}: {error}"
        ) from error
    original = track.failure.result.case
    size = measure_scenario(scenario, _message_bytes(case))
    if not case.written or size >= track.size:
        return None
    return Candidate(track, scenario, replace(case, id=original.id, tags=original.tags), size)


def _message_bytes(case: Case) -> int:
    return sum(w.message.size for w in case.written)


@dataclass(slots=True, eq=False)
class Decoding:
    """Asks an engine: one file of records per round, one decode call per batch, all submitted at
    once.

    `reference` is the specification of the format's reference decoder, "" if the engine runs none.
    Raises OutOfTime when calls or seconds are used up.
    """

    engine: Engine
    decoder: str
    mapping: Mapping[str, str]
    judge: Judge
    limits: Limits = LIMITS
    calls: int = 0
    began: float = math.inf
    places: dict[int, Place] = field(default_factory=dict)
    reference: str = ""
    _handles: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def by_reference(self) -> Decoding | None:
        """The same decoding with the reference decoder, to confirm smaller cases; None if there is
        none, or if the reference decoder is the one that fails.
        """
        if self.reference in ("", self.decoder):
            return None
        return Decoding(
            self.engine,
            self.reference,
            {},
            self.judge,
            CONFIRMING,
            _handles=self._handles,
        )

    def __call__(self, batches: Sequence[Batch]) -> Iterator[tuple[Candidate, CaseResult]]:
        """Judges the candidates of all batches; those of a call that raises are tried in halves,
        once.
        """
        handle = self.open_batches(batches)
        try:
            retried: list[Batch] = []
            yield from self._decode_batches(handle, batches, retried)
            if retried:
                yield from self._decode_batches(handle, retried, [])
        finally:
            self.engine.release(handle)

    def _decode_batches(
        self, handle: str, batches: Sequence[Batch], retried: list[Batch]
    ) -> Iterator[tuple[Candidate, CaseResult]]:
        """Decodes and judges the batches and yields the results. A batch whose call raises gives no
        result; its halves are put into `retried`.
        """
        submitted = [(batch, self.submit(handle, batch)) for batch in batches[: self.calls_left()]]
        for batch, future in submitted:
            try:
                outputs = read(self.await_answer(future), batch.level)
            except DecodeRaised:
                retried += _split_batch(batch)
            except (ChildDied, DecodeTimeout, HarnessError, CancelledError):
                continue
            else:
                yield from self._judge_batch(batch, outputs)

    def calls_left(self) -> int:
        """The number of decode calls that the reduction may still make. Raises OutOfTime if no call
        or no time is left.
        """
        remaining = self.limits.calls - self.calls
        if remaining <= 0:
            raise OutOfTime(f"{self.calls} decode calls made")
        if self.seconds_left() < 0:
            raise OutOfTime(f"{self.limits.seconds:g} s are over")
        return remaining

    def limits_left_after(self, more: Limits) -> Limits:
        """Limits for a further stage of the reduction: `more` calls and seconds, counted from what
        was used until now.
        """
        spent_seconds = self.limits.seconds - self.seconds_left()
        return replace(
            self.limits, calls=self.calls + more.calls, seconds=spent_seconds + more.seconds
        )

    def seconds_left(self) -> float:
        """Seconds until the limit; all before the first answer."""
        return self.limits.seconds - max(0.0, time.monotonic() - self.began)

    def open_batches(self, batches: Sequence[Batch]) -> str:
        """Writes the messages of all batches at separate offsets and opens them in the engine."""
        self.calls_left()
        handle = f"shrink-{next(self._handles)}"
        messages = list(chain.from_iterable(map(_batch_messages, batches)))
        laid, source = write_table(self.engine.directory, handle, messages)
        self.places = dict(zip(map(id, messages), laid, strict=True))
        self.engine.keep_records(handle, source).result()
        # Before its first answer the engine may be busy with other formats.
        self.began = min(self.began, time.monotonic())
        return handle

    def submit(self, handle: str, batch: Batch) -> Future[pa.Table]:
        """Submits one decode call on the messages of a batch of candidates, which were opened in
        the engine under the name `handle`. The future has the decoder's rows.
        """
        self.calls += 1
        ranges = ranges_of(self.places[id(message)] for message in _batch_messages(batch))
        request = Request(
            handle,
            ranges,
            self.decoder,
            batch.level,
            batch.deployment,
            batch.table,
            mapping=self.mapping,
        )
        return self.engine.decode(
            replace(request, tables=tables_of_cases(c.case for c in batch.candidates))
        )

    def await_answer(self, future: Future[pa.Table]) -> pa.Table:
        """Waits for the rows of a decode call. Raises OutOfTime if they do not come before the
        reduction's time is over.
        """
        try:
            return future.result(max(1.0, self.seconds_left()))
        except TimeoutError as error:
            raise OutOfTime(f"{self.limits.seconds:g} s are over") from error

    def _judge_batch(
        self, batch: Batch, outputs: Outputs
    ) -> Iterator[tuple[Candidate, CaseResult]]:
        """Judges the candidates of a batch by the rows of its call. A candidate that the rules
        cannot judge, or whose owed rows break a rule, is left out.
        """
        for candidate in batch.candidates:
            output_rows = [
                outputs.get(self.places[id(w.message)], ()) for w in candidate.case.written
            ]
            # A comparison without an owner is a fault of the rules; the known failure must survive
            # it.
            with contextlib.suppress(HarnessFault):
                if self._passes_perfect_answer(candidate.case):
                    yield candidate, self.judge.judge(candidate.case, output_rows)

    def _passes_perfect_answer(self, case: Case) -> bool:
        """Whether the rows that a case owes for its messages break no rule. If they do, the rules
        or the reduction are at fault, and the case shows no mistake of the decoder.
        """
        answer = [perfect_rows(case, message) for message in case.written]
        return not self.judge.judge(case, answer).findings


def _batch_messages(batch: Batch) -> Iterator[Message]:
    for candidate in batch.candidates:
        yield from (written.message for written in candidate.case.written)


def _split_batch(batch: Batch) -> list[Batch]:
    """The two halves of a batch whose call raised, to find the candidate that does it; [] for a
    batch of one.
    """
    half = len(batch.candidates) // 2
    return [
        replace(batch, candidates=part)
        for part in (batch.candidates[:half], batch.candidates[half:])
        if part and half
    ]


def _reduce_raising(track: Track, decoding: Decoding) -> None:
    """Reduces a case whose decoding raises: a candidate must raise when decoded alone.

    A batch is halved, the smaller candidates first, until a raising candidate is isolated. A
    decoder that ends its process, or does not end, is not reduced: each try would cost a session.
    """
    for number in range(1, decoding.limits.rounds + 1):
        batches = propose_batches([track], decoding.limits)
        if not batches:
            return
        handle, before = decoding.open_batches(batches), decoding.calls
        try:
            track.rounds = number
            raising = []
            for batch in batches:
                same_cause = [
                    candidate
                    for candidate in batch.candidates
                    if track.accepts_finding(track.finding, candidate.case)
                ]
                if not same_cause:
                    continue
                raised = _first_raising(decoding, handle, replace(batch, candidates=same_cause))
                if raised is not None:
                    raising.append(raised)
        except (ChildDied, DecodeTimeout, HarnessError, CancelledError):
            return
        finally:
            track.calls += decoding.calls - before
            decoding.engine.release(handle)
        if raising:
            candidate, why = min(raising, key=lambda raised: raised.candidate.size)
            finding = replace(track.finding, message=0, row=0, actual=why)
            findings = tuple(finding for f in track.result.findings if f.rule == finding.rule)
            _accept(
                candidate,
                replace(track.result, case=candidate.case, findings=findings, note=why),
                finding,
            )


class RaisingCandidate(NamedTuple):
    """A candidate on which the decoder raises, and the error's text."""

    candidate: Candidate
    error: str


def _first_raising(decoding: Decoding, handle: str, batch: Batch) -> RaisingCandidate | None:
    """The smallest candidate of a batch on which the decoder raises when it is decoded alone, with
    the error; None if none raises.
    """
    ordered = sorted(batch.candidates, key=lambda c: c.size)
    waiting = [replace(batch, candidates=ordered)]
    while waiting:
        part = waiting.pop()
        decoding.calls_left()
        try:
            decoding.await_answer(decoding.submit(handle, part))
        except DecodeRaised as error:
            if len(part.candidates) == 1:
                return RaisingCandidate(part.candidates[0], str(error))
            waiting += reversed(_split_batch(part))
    return None


def _describe_reduction(track: Track, began: float) -> Failure:
    """The failure with its smallest case, and in words what the reduction achieved and cost. If the
    harness failed, the failure's own case stays, with the reason.
    """
    if track.fault:
        return replace(track.failure, reduced=f"not reduced: {track.fault}")
    if _message_values(track.case) == _message_values(track.failure.result.case):
        return track.failure
    spent = (
        f"{_count_text(track.rounds, 'round')}, {_count_text(track.calls, 'call')},"
        f" {track.ended - began:.1f} s"
    )
    description = (
        f"reduced from {_measure_text(track.origin)} to {_measure_text(track.size)} in {spent}"
    )
    return replace(track.failure, finding=track.finding, result=track.result, reduced=description)


def _message_values(case: Case) -> list[bytes | None]:
    return [written.message.value for written in case.written]


def _measure_text(size: Measure) -> str:
    """The size of a case in words, such as `2 rows, 3 columns, 40 bytes`; events are counted if
    there are several or no rows.
    """
    events, row_count, columns, length, _ = size
    parts = [_count_text(events, "event")] if events > 1 or not row_count else []
    parts += [_count_text(row_count, "row")] if row_count else []
    parts += [_count_text(columns, "column")] if columns or row_count else []
    return ", ".join([*parts, _count_text(length, "byte")])


def _count_text(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
