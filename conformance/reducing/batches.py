"""Which smaller cases a round of the reduction tries, and in which decode calls."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any, Final

from conformance.judging.ledger import HarnessFault
from conformance.reducing.hints import find_hint
from conformance.reducing.measure import measure_scenario
from conformance.reducing.scenario_parts import separate_databases
from conformance.reducing.tracks import Candidate, Track, count_message_bytes
from generators.drawing.cases import tables_of
from generators.errors import Refused
from generators.model import Deployment, Message, Origin, Scenario, Table


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
"""The limits of a run's reduction."""


@dataclass(slots=True, eq=False)
class Batch:
    """The candidates of one decode call; `table` is the table that it asks for at level two (typed
    rows), None at level one.
    """

    deployment: Deployment
    level: int
    table: Table | None
    candidates: list[Candidate] = field(default_factory=list)


def group_candidates(candidates: Iterable[Candidate]) -> list[Batch]:
    """Groups candidates (smaller cases to try) into batches, each of which is one decode call. A
    batch has one deployment and level; at level two also one requested table, and at level one no
    two of its candidates share a table.
    """
    # Each batch with the names of its candidates' tables.
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
            requested = _table_to_request(track, scenario)
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
    """What a failure may still try in a reduction round: the scenarios in `source`, so many
    candidates, and at level two so many tables, of which `requested_tables` are taken; `deferred`
    counts candidates that must wait for another round.
    """

    track: Track
    source: Iterator[Scenario]
    candidates_left: int
    tables: int
    requested_tables: set[Table | None] = field(default_factory=set)
    deferred: int = 0


def _table_to_request(track: Track, scenario: Scenario) -> Table | None:
    """The table that a level-two decode call (typed rows of one table) on the scenario asks for: a
    recorded case's own table, else the first that the history changes. None at level one, if no
    table is changed, and if the history has two versions of one table, since a call cannot ask for
    both.
    """
    if scenario.level == 1:
        return None
    if track.case.origin is Origin.RECORDED:
        return track.case.tables[0]
    tables = tables_of(scenario.history)
    names = {(table.database, table.schema, table.name) for table in tables}
    has_two_versions = len(names) < len(tables)
    return tables[0] if tables and not has_two_versions else None


def _write_candidate(track: Track, scenario: Scenario, suffixes: Iterator[str]) -> Candidate | None:
    """A smaller scenario written as a case, as a candidate for the track's failure (a track is the
    reduction of one failure). None if the writer refuses it, it gives no message, or the case is no
    smaller than the track's own. At level one its databases get a suffix, so that candidates share
    no table. Raises HarnessFault if the writer crashes.
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
    size = measure_scenario(scenario, count_message_bytes(case))
    if not case.written or size >= track.size:
        return None
    return Candidate(track, scenario, replace(case, id=original.id, tags=original.tags), size)


def batch_messages(batch: Batch) -> Iterator[Message]:
    """The messages of all candidates of a batch, one candidate after the other."""
    for candidate in batch.candidates:
        yield from (written.message for written in candidate.case.written)


def split_batch(batch: Batch) -> list[Batch]:
    """The two halves of a batch, the first candidates and the last: run alone, they show which
    candidate makes the batch's decode call raise. [] for a batch of one.
    """
    half = len(batch.candidates) // 2
    return [
        replace(batch, candidates=part)
        for part in (batch.candidates[:half], batch.candidates[half:])
        if part and half
    ]
