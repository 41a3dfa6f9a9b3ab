"""Asks an engine for the rows of smaller cases, and judges them."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import pyarrow as pa

from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Engine,
    Request,
    ranges_of,
    tables_of_cases,
    write_table,
)
from conformance.judging.findings import CaseResult
from conformance.judging.judge import Judge
from conformance.judging.ledger import HarnessFault
from conformance.judging.output import Outputs, Place, read
from conformance.judging.perfect import perfect_rows
from conformance.reducing.batches import LIMITS, Batch, Limits, batch_messages, split_batch
from conformance.reducing.tracks import Candidate
from generators.errors import HarnessError
from generators.model import Case

CONFIRMING: Final = Limits(calls=60, seconds=20)
"""Limits of the calls in which the reference decoder decodes the smallest cases."""


class OutOfTime(Exception):
    """The decode calls or the seconds of a reduction are used up."""


@dataclass(slots=True, eq=False)
class Decoding:
    """Decodes smaller cases with an engine and judges them: one file of records per round, one
    decode call per batch of candidates, all submitted at once.

    `mapping` are the user's expressions for the decoder's columns, by column. `calls` counts the
    decode calls made, `began` is the time of the engine's first answer (`time.monotonic`; infinite
    before), `places` are topic, partition and offset of each message of the round, by the message's
    `id()`. `reference` is the specification of the format's reference decoder, "" if the engine
    runs none. Raises OutOfTime when calls or seconds are used up.
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
        none, or if the reference decoder is the one that fails. It has limits of its own
        (CONFIRMING), and no `mapping`, which is for the user's decoder. Both number their files of
        records together, since they share the engine.
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
        """Decodes and judges the candidates of all batches, and yields each with its result. A
        batch whose call raises is decoded again in two halves, once; a candidate without an answer
        is left out.
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
                retried += split_batch(batch)
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
        """Limits for a further stage of the reduction: `more` calls and seconds on top of those
        used until now. Other limits stay.
        """
        spent_seconds = self.limits.seconds - self.seconds_left()
        return replace(
            self.limits, calls=self.calls + more.calls, seconds=spent_seconds + more.seconds
        )

    def seconds_left(self) -> float:
        """The seconds that the reduction has left; all of its limit before the first answer."""
        return self.limits.seconds - max(0.0, time.monotonic() - self.began)

    def open_batches(self, batches: Sequence[Batch]) -> str:
        """Writes the messages of all batches into one file of records, each at an offset of its
        own, and opens the file in the engine. Returns the name by which decode calls refer to it.
        Raises OutOfTime if no call or no time is left.
        """
        self.calls_left()
        handle = f"shrink-{next(self._handles)}"
        messages = list(chain.from_iterable(map(batch_messages, batches)))
        places, path = write_table(self.engine.directory, handle, messages)
        self.places = dict(zip(map(id, messages), places, strict=True))
        self.engine.keep_records(handle, path).result()
        # Time runs from the first answer: before it the engine may be busy with other formats.
        self.began = min(self.began, time.monotonic())
        return handle

    def submit(self, handle: str, batch: Batch) -> Future[pa.Table]:
        """Submits one decode call on the messages of a batch of candidates, which were opened in
        the engine under the name `handle`. The future has the decoder's rows.
        """
        self.calls += 1
        ranges = ranges_of(self.places[id(message)] for message in batch_messages(batch))
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
        """Judges the candidates (smaller cases) of a batch by the rows of its decode call. A
        candidate that the rules cannot judge, or on which even the owed rows break a rule, is left
        out.
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
        """Whether a decoder that returns exactly the owed rows of a case would break no rule. If it
        would, the rules or the reduction are at fault, and the case shows no mistake of the
        decoder.
        """
        answer = [perfect_rows(case, message) for message in case.written]
        return not self.judge.judge(case, answer).findings
