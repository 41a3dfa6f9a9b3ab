"""Keeps the reduced cases that the reference decoder passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError

from conformance.engines.engine import DecodeRaised, ProcessLost
from conformance.judging.findings import BAD, CaseResult
from conformance.judging.results import Failure
from conformance.reducing.batches import Batch, group_candidates
from conformance.reducing.decoding import CONFIRMING, Decoding, OutOfTime
from conformance.reducing.rounds import reduce_tracks
from conformance.reducing.tracks import Candidate, Track
from generators.errors import HarnessError


def keep_confirmed(
    tracks: Sequence[Track], decoding: Decoding, note: Callable[[str], None]
) -> None:
    """Keeps the smallest cases that the reference decoder passes.

    A failure whose smallest case the reference decoder does not pass goes back to its own case.
    Unless it is a decoder that raises, it is reduced again, by smaller cases that the reference
    decoder passes, as far as the limits allow. A decoding without a reference decoder changes
    nothing.
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
        """Decodes candidates, and yields with its result each that still fails in the same way and
        that the reference decoder passes.
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
    """The candidates (smaller failing cases) whose messages the reference decoder decodes rightly,
    in the order of its answers: on these the decoder under test is at fault.
    """
    if not candidates:
        return []
    return [
        candidate
        for candidate, result in confirming(group_candidates(candidates))
        if _passes(candidate.track.failure, result)
    ]


def _passes(failure: Failure, result: CaseResult) -> bool:
    """Whether the reference decoder passes a case: its result breaks neither the failure's rule nor
    any other rule that fails a run.
    """
    owners = (failure.rule.id, failure.finding.instead)
    return result.verdict not in BAD and all(f.rule not in owners for f in result.findings)
