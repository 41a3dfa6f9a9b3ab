"""The rounds of a reduction: each starts from the smallest cases that failed in the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from conformance.judging.findings import CaseResult
from conformance.reducing.batches import LIMITS, Batch, Limits, propose_batches
from conformance.reducing.tracks import Candidate, Track, accept_candidate

DecodeBatches: TypeAlias = Callable[[Sequence[Batch]], Iterable[tuple[Candidate, CaseResult]]]
"""A function that decodes and judges the candidates of batches, in one call a batch. It yields each
candidate with its result, in order of the answers; candidates that could not be decoded are
missing.
"""


def reduce_tracks(
    tracks: Sequence[Track],
    decode_batches: DecodeBatches,
    limits: Limits = LIMITS,
    note: Callable[[str], None] = lambda _text: None,
) -> None:
    """Reduces failures together, round by round, until no smaller case is left to try or the limit
    of rounds is reached. Each `Track` is one failure with its smallest case so far, which is
    replaced in place; `note` takes a line on each round. Raises OutOfTime when `decode_batches`
    does.
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
                accept_candidate(candidate, result, replace(finding, rule=track.failure.rule.id))
        proposed = {id(candidate.track) for candidate in candidates}
        active = [track for track in active if track.deferred or id(track) in proposed]
