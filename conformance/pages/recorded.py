"""docs/recorded.md: what was recorded, and how far our writers agree with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from generators.recorded.agreement import Agreed, agreement
from generators.wire_format import formats

_TEXT: Final = """
This package contains messages that real products published, and beside them the truth: the rows that SQL statements made at the
source (`fixtures/recorded` in a checkout). They have two uses:

- **As cases.** `run` judges decoders on them: `FORMAT/recorded/RECORDING/EPISODE`, at level two with `/typed` behind it. The
  expectation comes from the truth, never from the message. `--select '*/recorded/*'` runs these cases alone; budget `smoke`
  takes a sample, `ci` and `nightly` all of them. The truth has no batch ids, positions and commit times, so they are not
  judged.
- **As an audit of our writers.** `cdc-conformance corpus audit` gives the same history to the writer of the recording's profile
  and compares the bytes, except ids, positions and clock times. *Identical* messages have the same bytes. *Explained* messages
  differ because of a limit of the model, which is listed below. *Unexplained* messages differ without such a reason. Messages
  *apart* belong to no episode, for the reasons listed at the end; they are not compared.

`cdc-conformance corpus list` prints how each recording was made; `corpus verify` without a folder checks their files.
""".strip()


def recorded_page(note: str) -> str:
    """The page."""
    found = [one for fmt in formats() for one in agreement(fmt)]
    lines = [
        "# Recorded messages",
        "",
        note,
        "",
        _TEXT,
        "",
        "## Agreement",
        "",
        *_table(found),
        "",
        "## Limits",
        "",
        *_reasons(found, lambda one: one.reasons, "limit"),
        "",
        "## Messages apart",
        "",
        *_reasons(found, lambda one: one.apart_reasons, "reason"),
    ]
    return "\n".join(lines) + "\n"


def _table(found: list[Agreed]) -> Iterator[str]:
    yield "| format | recording | server | profile | recorded | identical | explained | unexplained | apart |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in found:
        recording = one.recording
        counts = (recording.count, one.identical, one.explained, one.unexplained, one.apart)
        words = (recording.format, recording.name, recording.server, recording.profile)
        yield f"| {' | '.join((*words, *map(str, counts)))} |"


def _reasons(found: list[Agreed], kind: Callable[[Agreed], Iterable[tuple[str, int]]], heading: str) -> Iterator[str]:
    counts: Counter[tuple[str, str]] = Counter()
    for one in found:
        for reason, count in kind(one):
            counts[one.recording.format, reason] += count
    yield f"| format | {heading} | messages |"
    yield "|---|---|---|"
    for (name, reason), count in counts.items():
        escaped = reason.replace("|", "\\|")
        yield f"| {name} | {escaped} | {count} |"
