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

import itertools
import random
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import pyarrow as pa

from conformance.cases.catalogue import Call
from conformance.engines.engine import DecodeRaised, ProcessLost
from conformance.judging.findings import Verdict
from conformance.judging.output import Outputs, read
from generators.errors import HarnessError

ACQUITTING: Final = frozenset({Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL})
"""Verdicts of a mixed call that need no call alone."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """One decode call in place of several that differ in their deployment alone. `numbers` are the
    indices of these calls among the format's calls; `future` is the decoder's answer to the one
    call.
    """

    call: Call
    numbers: tuple[int, ...]
    future: Future[pa.Table]

    def outputs(self) -> Outputs | None:
        """Waits for the common call and returns the decoder's rows by the coordinates of their
        messages (topic, partition, offset); None if the call failed.
        """
        try:
            return read(self.future.result(), self.call.level)
        except (CancelledError, DecodeRaised, ProcessLost, HarnessError):
            return None


def group_compatible(calls: Sequence[Call], separate: Sequence[str], seed: int) -> list[list[int]]:
    """Groups of calls that can be decoded together, each as the indices of at least two calls.
    Calls named in `separate`, and one group that the seed chooses, are left out: they are decoded
    under their own deployments only.

    Calls of different compression or schemas are never in one group: these decide how bytes are
    read at all.
    """
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for number, call in enumerate(calls):
        if call.name not in separate:
            key = (
                call.level,
                call.deployment.compression,
                call.deployment.schemas,
                call.source,
                call.table,
            )
            by_key.setdefault(key, []).append(number)
    larger_groups = [numbers for numbers in by_key.values() if len(numbers) > 1]
    if larger_groups:
        larger_groups.pop(random.Random(f"{seed}/apart").randrange(len(larger_groups)))
    return larger_groups


def merge_calls(calls: Sequence[Call]) -> Call:
    """One call with the cases of all these calls, and with each of their foreign messages once. Its
    deployment, level and tables are those of the call that has most cases. There is at least one.
    """
    largest = max(calls, key=lambda call: len(call.cases))
    foreign_messages = itertools.chain.from_iterable(call.foreign for call in calls)
    foreign = {id(message): message for message in foreign_messages}
    return replace(
        largest,
        cases=tuple(chain.from_iterable(call.cases for call in calls)),
        foreign=tuple(foreign.values()),
    )
