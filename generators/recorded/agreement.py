"""How far our writers' messages agree with the recorded ones, a line for each recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from generators.recorded import apart, registry, store
from generators.recorded.episodes import Agreement, Comparison, Recording, audit
from generators.wire_format import Format


@dataclass(frozen=True, slots=True)
class Agreed:
    """A recording's messages by agreement. `apart` are in no episode: the model lacks a type, or
    the truth a statement.

    `reasons` counts the explained ones by limit, `owed_reasons` the unexplained ones by what the
    writer owes, `apart_reasons` those apart; `kinds` counts messages by what they are and by
    agreement; `differing` are the comparisons that are not identical.
    """

    recording: Recording
    profiles: tuple[str, ...]
    identical: int
    explained: int
    unexplained: int
    reasons: tuple[tuple[str, int], ...]
    owed_reasons: tuple[tuple[str, int], ...]
    kinds: Mapping[tuple[str, Agreement], int]
    differing: tuple[Comparison, ...]
    apart_reasons: tuple[tuple[str, int], ...]

    @property
    def apart(self) -> int:
        """Messages without an episode."""
        return self.recording.count - self.identical - self.explained - self.unexplained


def agreement(fmt: Format[Any]) -> Iterator[Agreed]:
    """Every recording of a format that has episodes, in their order."""
    audits: dict[str, tuple[Recording, list[Comparison]]] = {}
    for episode in registry.episodes(fmt.name):
        audits.setdefault(episode.recording.name, (episode.recording, []))[1].extend(
            audit(fmt, episode)
        )
    for recording, compared in audits.values():
        counts = Counter(comparison.agreement for comparison in compared)
        reasons, owed = (
            Counter(
                "; ".join(comparison.reasons)
                for comparison in compared
                if comparison.agreement is wanted
            )
            for wanted in (Agreement.EXPLAINED, Agreement.UNEXPLAINED)
        )
        yield Agreed(
            recording,
            tuple(dict.fromkeys(comparison.episode.recording.profile for comparison in compared)),
            counts[Agreement.IDENTICAL],
            counts[Agreement.EXPLAINED],
            counts[Agreement.UNEXPLAINED],
            tuple(reasons.items()),
            tuple(owed.items()),
            Counter((comparison.kind, comparison.agreement) for comparison in compared),
            tuple(
                comparison
                for comparison in compared
                if comparison.agreement is not Agreement.IDENTICAL
            ),
            _apart(recording, {comparison.recorded.event for comparison in compared}),
        )


def _apart(recording: Recording, events: Set[int]) -> tuple[tuple[str, int], ...]:
    """Why messages are in no episode."""
    left = (message for message in store.messages(recording) if message.event not in events)
    return tuple(Counter(apart.reason(recording, message) for message in left).items())


def difference(comparison: Comparison, around: int = 60) -> str:
    """The first bytes that differ, of the key or the value, the recorded ones above ours."""
    if comparison.ours is None:
        return "our writer gives another number of messages for this episode"
    blank = comparison.episode.recording.volatile
    for part in ("key", "value"):
        real, own = (getattr(message, part) for message in (comparison.recorded, comparison.ours))
        if (real is None) != (own is None):
            return f"{part}: recorded {real!r:.200}, ours {own!r:.200}"
        if real is None or (real := blank(real)) == (own := blank(own)):
            continue
        at = next(
            (i for i, (a, b) in enumerate(zip(real, own, strict=False)) if a != b),
            min(len(real), len(own)),
        )
        start = max(0, at - around)
        return (
            f"{part}, byte {at}\n  recorded {real[start : at + around]!r}\n  ours    "
            f" {own[start : at + around]!r}"
        )
    return "no difference"
