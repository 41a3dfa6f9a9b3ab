"""How many of our writers' messages equal the recorded ones, for each recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from generators.recorded import apart, registry, store
from generators.recorded.episodes import Agreement, Comparison, Recording, audit
from generators.wire_format import Format


@dataclass(frozen=True, slots=True)
class RecordingAgreement:
    """The messages of one recording, counted by how they agree with those that our writer makes.
    `identical` ones are equal. The others differ: `explained` by a limit of the recording's
    environment, which `reasons` counts, or `unexplained`, for what our writer cannot do yet, which
    `owed_reasons` counts. `without_episode` messages are not compared, because no known history
    gives them; `without_episode_reasons` counts why. `kinds` counts messages by kind and agreement,
    `differing` are the comparisons that are not identical, `profiles` those of the writer that were
    used.
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
    without_episode_reasons: tuple[tuple[str, int], ...]

    @property
    def without_episode(self) -> int:
        """The number of the recording's messages that belong to no episode."""
        return self.recording.count - self.identical - self.explained - self.unexplained


def recording_agreements(fmt: Format[Any]) -> Iterator[RecordingAgreement]:
    """For each recording of a format that has episodes (histories with their recorded messages), in
    their order: how its messages agree with those that our writer makes of the same histories.
    """
    audits: dict[str, tuple[Recording, list[Comparison]]] = {}
    for episode in registry.episodes(fmt.name):
        audits.setdefault(episode.recording.name, (episode.recording, []))[1].extend(
            audit(fmt, episode)
        )
    for recording, comparisons in audits.values():
        counts = Counter(comparison.agreement for comparison in comparisons)
        reasons: dict[Agreement, Counter[str]] = {agreement: Counter() for agreement in Agreement}
        for comparison in comparisons:
            reasons[comparison.agreement]["; ".join(comparison.reasons)] += 1
        yield RecordingAgreement(
            recording,
            tuple(
                dict.fromkeys(comparison.episode.recording.profile for comparison in comparisons)
            ),
            counts[Agreement.IDENTICAL],
            counts[Agreement.EXPLAINED],
            counts[Agreement.UNEXPLAINED],
            tuple(reasons[Agreement.EXPLAINED].items()),
            tuple(reasons[Agreement.UNEXPLAINED].items()),
            Counter((comparison.kind, comparison.agreement) for comparison in comparisons),
            tuple(
                comparison
                for comparison in comparisons
                if comparison.agreement is not Agreement.IDENTICAL
            ),
            _reasons_without_episode(
                recording, {comparison.recorded.event for comparison in comparisons}
            ),
        )


def _reasons_without_episode(recording: Recording, events: Set[int]) -> tuple[tuple[str, int], ...]:
    """The messages of a recording whose events belong to no episode (are not in `events`), counted
    by the reason.
    """
    unmatched = (message for message in store.messages(recording) if message.event not in events)
    return tuple(
        Counter(apart.reason_without_episode(recording, message) for message in unmatched).items()
    )


def difference(comparison: Comparison, around: int = 60) -> str:
    """Shows the first bytes in which a recorded message and ours differ, in the key or the value:
    the recorded bytes, and ours below. `around` is the number of bytes before and after.
    """
    if comparison.ours is None:
        return "our writer gives another number of messages for this episode"
    blank_volatile = comparison.episode.recording.volatile
    for part in ("key", "value"):
        recorded_bytes, written_bytes = (
            getattr(message, part) for message in (comparison.recorded, comparison.ours)
        )
        if (recorded_bytes is None) != (written_bytes is None):
            return f"{part}: recorded {recorded_bytes!r:.200}, ours {written_bytes!r:.200}"
        if recorded_bytes is None or (recorded_bytes := blank_volatile(recorded_bytes)) == (
            written_bytes := blank_volatile(written_bytes)
        ):
            continue
        first_difference = next(
            (
                i
                for i, (a, b) in enumerate(zip(recorded_bytes, written_bytes, strict=False))
                if a != b
            ),
            min(len(recorded_bytes), len(written_bytes)),
        )
        start = max(0, first_difference - around)
        return (
            f"{part}, byte {first_difference}\n  recorded {recorded_bytes[start : first_difference + around]!r}\n  ours    "
            f" {written_bytes[start : first_difference + around]!r}"
        )
    return "no difference"
