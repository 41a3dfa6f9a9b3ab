"""Calls of a format that differ in their deployment alone are decoded together first, under the
deployment of the largest.

A decode call costs about the same whatever it decodes, and most deployments are read alike. A mixed
call can only acquit: a call whose cases all come out with `ACQUITTING` verdicts needs no other.
Anything else, rows at places of no message too, is decoded alone, under its own deployment, and
only that convicts. A decoder that errs under one deployment only, and is right under that of the
group, is not seen; so the calls that the laws sample and one group by the seed stay apart, and all
calls do so in the budget `nightly` (docs/limits.md).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from conformance.cases.catalogue import Call
from conformance.engines.engine import DecodeRaised, Lost
from conformance.judging.judge import Verdict
from conformance.judging.output import Outputs, read
from generators.errors import HarnessError

ACQUITTING: Final = frozenset({Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL})
"""Verdicts of a mixed call that need no call alone."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A call with the cases of several, the numbers of those, and its pending answer."""

    call: Call
    numbers: tuple[int, ...]
    future: Future[pa.Table]

    def outputs(self) -> Outputs | None:
        """The rows by place, or None if the decoder failed on the group."""
        try:
            return read(self.future.result(), self.call.level)
        except (CancelledError, DecodeRaised, Lost, HarnessError):
            return None


def groups(calls: Sequence[Call], apart: Sequence[str], seed: int) -> list[list[int]]:
    """The numbers of calls to decode together, each at least two; calls named in `apart` and one
    group by the seed are left out.

    Compression and schemas stay apart: they decide how bytes are read at all.
    """
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, call in enumerate(calls):
        if call.name not in apart:
            key = (
                call.level,
                call.deployment.compression,
                call.deployment.schemas,
                call.source,
                call.table,
            )
            alike.setdefault(key, []).append(number)
    several = [numbers for numbers in alike.values() if len(numbers) > 1]
    if several:
        several.pop(random.Random(f"{seed}/apart").randrange(len(several)))
    return several


def together(calls: Sequence[Call]) -> Call:
    """One call with the cases and foreign messages of all, under the deployment of the largest."""
    largest = max(calls, key=lambda call: len(call.cases))
    foreign = {id(message): message for call in calls for message in call.foreign}
    return replace(
        largest,
        cases=tuple(case for call in calls for case in call.cases),
        foreign=tuple(foreign.values()),
    )
