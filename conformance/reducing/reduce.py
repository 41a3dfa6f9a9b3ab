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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from conformance.judging.results import Failure
from conformance.reducing.confirming import keep_confirmed
from conformance.reducing.decoding import Decoding, OutOfTime
from conformance.reducing.measure import Measure
from conformance.reducing.raising import reduce_raising
from conformance.reducing.rounds import reduce_tracks
from conformance.reducing.tracks import ScenarioOf, Track, start_track
from generators.errors import HarnessError
from generators.model import Case
from generators.wire_format import Format


def reduce_failures(
    fmt: Format[Any],
    failures: Sequence[Failure],
    decoding: Decoding,
    scenario_of: ScenarioOf,
    note: Callable[[str], None],
) -> list[Failure]:
    """The failures in order, each with the smallest case that still shows it; `reduced` describes
    the reduction and its cost.

    `scenario_of` gives the scenario from which a case was written, or None if it has none: such a
    failure stays unchanged, unless its case is a fault case, whose scenario is looked up in the
    catalogue, or a recorded one, of which messages are left out. Also unchanged: failures of a law
    (but `returns`), of foreign messages (of tables that the decoder is not asked for), of a decoder
    that does not end, and those on whose candidates a writer crashes. `note` takes lines on the
    progress.
    """
    tracks = {
        id(failure): track
        for failure in failures
        if (track := start_track(fmt, failure, scenario_of, failures)) is not None
    }
    if not tracks:
        return list(failures)
    note(f"{fmt.name}: reducing {len(tracks)} of {len(failures)} failures")
    raising = [track for track in tracks.values() if track.raising]
    decodable = [track for track in tracks.values() if not track.raising]
    limits = decoding.limits
    try:
        decoding.limits = (
            replace(limits, calls=limits.calls // 2, seconds=limits.seconds / 2)
            if decodable
            else limits
        )
        with _report_end(f"{fmt.name}: decoders that raise", note):
            for track in raising:
                reduce_raising(track, decoding)
        decoding.limits = limits
        with _report_end(fmt.name, note):
            reduce_tracks(decodable, decoding, limits, note)
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
    """A context in which OutOfTime does not escape: it ends the reduction of `what` and is told to
    `note` as a text.
    """
    try:
        yield
    except OutOfTime as end:
        note(f"{what}: reduction stopped: {end}")


def _describe_reduction(track: Track, began: float) -> Failure:
    """The failure with its smallest case, and in words what the reduction achieved and cost; the
    failure as it is if its case became no smaller. If the harness failed (`track.fault`), the
    failure keeps its own case and gets the reason.
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
    """The values of all messages of a case, by which a reduced case is told from the original."""
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
    """A number with its noun, such as `1 row` or `2 rows`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
