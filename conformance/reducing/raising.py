"""Reduces cases on which a decoder raises."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import replace
from typing import NamedTuple

from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout
from conformance.reducing.batches import Batch, propose_batches, split_batch
from conformance.reducing.decoding import Decoding
from conformance.reducing.tracks import Candidate, Track, accept_candidate
from generators.errors import HarnessError


def reduce_raising(track: Track, decoding: Decoding) -> None:
    """Reduces a failure (`track`) in which decoding raises: a smaller case counts only if the
    decoder raises on it alone.

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
            accept_candidate(
                candidate,
                replace(track.result, case=candidate.case, findings=findings, note=why),
                finding,
            )


class RaisingCandidate(NamedTuple):
    """A candidate on which the decoder raises, and the error's text."""

    candidate: Candidate
    error: str


def _first_raising(decoding: Decoding, handle: str, batch: Batch) -> RaisingCandidate | None:
    """The smallest candidate (smaller case) of a batch on which the decoder still raises when it
    decodes that one alone, with the error; None if none raises. A batch that raises is halved until
    one is left. `handle` is the name of the opened messages in the engine. Raises OutOfTime at a
    limit.
    """
    ordered = sorted(batch.candidates, key=lambda c: c.size)
    batches_to_try = [replace(batch, candidates=ordered)]
    while batches_to_try:
        smaller_batch = batches_to_try.pop()
        decoding.calls_left()
        try:
            decoding.await_answer(decoding.submit(handle, smaller_batch))
        except DecodeRaised as error:
            if len(smaller_batch.candidates) == 1:
                return RaisingCandidate(smaller_batch.candidates[0], str(error))
            batches_to_try += reversed(split_batch(smaller_batch))
    return None
