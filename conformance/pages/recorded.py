"""docs/recorded.md: what was recorded, and how far our writers agree with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from conformance.pages._markdown import table
from generators.recorded.agreement import RecordingAgreement, recording_agreements
from generators.recorded.episodes import Agreement
from generators.wire_format import formats

_TEXT: Final = """
The package holds messages that real products published, and beside them the truth: the rows that SQL statements made at the
source (`fixtures/recorded` in a checkout).

- **As cases**, `FORMAT/recorded/RECORDING/EPISODE`, with `/typed` at level two. The expectation comes from the truth, never from
  the message; it has no batch ids, positions and commit times, so these are not judged. `--select '*/recorded/*'` runs these
  cases alone. Budget `smoke` takes a sample, `ci` and `nightly` all of them.
- **As an audit of our writers.** `cdc-conformance corpus audit` gives the same history to the writer of the recording's profile
  and compares key, value and headers, except ids, positions and clock times: *identical*; *environment*, a difference that the
  server or the run's own settings made; *different*, which the writer owes; or *apart*, of no episode and not compared.

`cdc-conformance corpus list` prints how each recording was made; `corpus verify` without a folder checks their files.
""".strip()


_OUTCOME_FIELDS: Final = ("identical", "explained", "unexplained", "without_episode")
"""Fields of a RecordingAgreement: how many messages agree with our writer's in each way."""


def recorded_page(note: str) -> str:
    """The page on recorded messages: how many agree with what our writers write, by format and
    server.
    """
    agreements = list(chain.from_iterable(map(recording_agreements, formats())))
    sums: dict[tuple[str, str], Counter[str]] = {}
    for result in agreements:
        sums.setdefault((result.recording.format, result.recording.server), Counter()).update(
            recordings=1,
            count=result.recording.count,
            **{name: getattr(result, name) for name in _OUTCOME_FIELDS},
        )
    outcomes = ("identical", "environment", "different", "apart")
    head = ("format", "server", "recordings", "messages", *outcomes)
    sum_names = ("recordings", "count", *_OUTCOME_FIELDS)
    sum_rows = ((*place, *map(count.__getitem__, sum_names)) for place, count in sums.items())
    lines = [
        "# Recorded messages",
        "",
        note,
        "",
        _TEXT,
        "",
        "## Agreement",
        "",
        *table(head, sum_rows),
    ]
    lines += [
        "",
        "## By recording",
        "",
        *table(("recording", "profile", "messages", *outcomes), map(_recording, agreements)),
    ]
    lines += [
        "",
        "## By kind of message",
        "",
        *table(("format", "kind", *outcomes[:3]), _kinds(agreements)),
    ]
    lines += [
        "",
        "## What the environment did",
        "",
        *_reasons(agreements, lambda result: result.reasons, "what"),
    ]
    lines += [
        "",
        "## What the writers owe",
        "",
        *_reasons(agreements, lambda result: result.owed_reasons, "what"),
    ]
    lines += [
        "",
        "## Messages apart",
        "",
        *_reasons(agreements, lambda result: result.without_episode_reasons, "reason"),
    ]
    return "\n".join(lines) + "\n"


def _recording(result: RecordingAgreement) -> tuple[object, ...]:
    """A row of the table "By recording": name and profile of a recording, how many messages it has,
    and how many of them agree with our writer's in each way.
    """
    counts = (result.recording.count, *(getattr(result, name) for name in _OUTCOME_FIELDS))
    return result.recording.name, result.recording.profile, *counts


def _kinds(agreed: list[RecordingAgreement]) -> Iterator[tuple[object, ...]]:
    """The rows of the table "By kind of message": for each format and kind of message, how many
    recorded messages agree with the writer in each way (Agreement).
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for result in agreed:
        counts.update(
            {
                (result.recording.format, kind, agreement): count
                for (kind, agreement), count in result.kinds.items()
            }
        )
    for fmt, kind in dict.fromkeys((fmt, kind) for fmt, kind, _ in counts):
        yield fmt, kind, *(counts[fmt, kind, agreement] for agreement in Agreement)


def _reasons(
    agreed: list[RecordingAgreement],
    kind: Callable[[RecordingAgreement], Iterable[tuple[str, int]]],
    heading: str,
) -> Iterator[str]:
    """A table of reasons with the number of recorded messages in each format, summed over the
    recordings; `kind` takes the (reason, count) pairs from a recording.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for result in agreed:
        for reason, count in kind(result):
            counts[result.recording.format, reason] += count
    yield from table(
        ("format", heading, "messages"), ((*key, count) for key, count in counts.items())
    )
