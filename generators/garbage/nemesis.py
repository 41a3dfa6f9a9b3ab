"""What may happen to a stream between its writer and its reader: repeats, replays, lagging partitions, garbage, other borders.

A nemesis takes the messages of one history in the order of publication and gives stages: what has reached the topic when the
reader looks for the first time, what came until it looks again, and so on. Every nemesis keeps what Kafka and the writers
promise: each message arrives at least once, and the first arrivals of one partition come in their order. All chance is seeded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from generators.errors import NothingSelected
from generators.garbage import faults
from generators.garbage.faults import FAULTS, MUST, Fault
from generators.model import Kind, Written

Stages: TypeAlias = tuple[tuple[Written, ...], ...]
"""What the reader finds each time that it looks."""

STAGES: Final = 4
"""How many stages a nemesis makes, so that streams under different ones can share a run."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The messages of one history, in the order of publication.

    `faults` are ways to make garbage of one of them, `compression` that of whole values.
    """

    written: tuple[Written, ...]
    faults: tuple[Fault, ...] = FAULTS
    compression: str = "none"


@dataclass(frozen=True, slots=True)
class Nemesis:
    """A perturbation. `rule` is the last part of the stream rule that owns wrong rows under it (conformance.rules.streams).
    `quiet` wants a history without statements, in which nothing makes up for rows that were lost early."""

    name: str
    statement: str
    rule: str
    apply: Callable[[Stream, random.Random], Stages]
    quiet: bool = False

    def __call__(self, stream: Stream, seed: int) -> Stages:
        """The stages of the stream under this nemesis and seed."""
        found = self.apply(stream, random.Random(f"{seed}/{self.name}"))
        assert len(found) == STAGES
        return found


def named(glob: str) -> tuple[Nemesis, ...]:
    """The nemeses that match. Raises NothingSelected."""
    found = tuple(one for one in NEMESES if fnmatchcase(one.name, glob))
    if not found:
        raise NothingSelected(f"no nemesis matches {glob!r}; there are {', '.join(one.name for one in NEMESES)}")
    return found


def _cut(messages: Sequence[Written], borders: Iterable[int]) -> Stages:
    """The messages cut before each of STAGES - 1 places."""
    places = (0, *sorted(borders), len(messages))
    return tuple(tuple(messages[low:high]) for low, high in itertools.pairwise(places))


def _evenly(messages: Sequence[Written]) -> Stages:
    return _cut(messages, (len(messages) * n // STAGES for n in range(1, STAGES)))


def _again(one: Written, later_ms: int) -> Written:
    """The message once more: the same bytes under a later record timestamp, as from a writer that started again."""
    return replace(one, message=replace(one.message, timestamp_ms=one.message.timestamp_ms + later_ms))


def _none(stream: Stream, chance: random.Random) -> Stages:
    return _evenly(stream.written)


def _duplicate(stream: Stream, chance: random.Random) -> Stages:
    """A third of the messages again: at once, or any number of messages later."""
    keyed = [(float(n), one) for n, one in enumerate(stream.written)]
    size = len(keyed)
    for number, one in tuple(keyed):
        if chance.random() < 0.35:
            distance = 0.5 if chance.random() < 0.3 else chance.uniform(0.5, size)
            keyed.append((number + distance, _again(one, 600_000)))
    keyed.sort(key=lambda found: found[0])
    return _evenly([one for _, one in keyed])


def _replay(stream: Stream, chance: random.Random) -> Stages:
    """Twice in the middle the stream goes on from an older place; and at the end, a last time, everything comes again."""
    size = len(stream.written)
    borders = sorted(chance.sample(range(1, size), 2)) if size > 2 else [0, 0]
    first, second, third = _cut(stream.written, borders)[:3]
    after_one = tuple(_again(one, 600_000) for one in first[len(first) // 3 :])
    after_two = tuple(_again(one, 1_200_000) for one in (first + second)[len(first) // 2 :])
    return (first, after_one + second, after_two + third, tuple(_again(one, 1_800_000) for one in stream.written))


def _partitions(messages: Iterable[Written]) -> dict[int, list[Written]]:
    found: dict[int, list[Written]] = {}
    for one in messages:
        found.setdefault(one.message.partition, []).append(one)
    return found


def _reorder(stream: Stream, chance: random.Random) -> Stages:
    """Each partition comes at its own pace: how far it is at each stage has nothing to do with the others."""
    stages: list[list[Written]] = [[] for _ in range(STAGES)]
    for messages in _partitions(stream.written).values():
        for stage, part in zip(stages, _cut(messages, _places(len(messages), chance)), strict=True):
            stage.extend(part)
    return tuple(map(tuple, stages))


def _places(size: int, chance: random.Random) -> list[int]:
    return [chance.randint(0, size) for _ in range(STAGES - 1)]


def _control_lags(stream: Stream, chance: random.Random) -> Stages:
    """The partition that carries statements and schemas is read last; without any of these, one of all."""
    partitions = _partitions(stream.written)
    if not partitions:
        return _evenly(())
    control = [one.message.partition for one in stream.written if any(_is_control(c.kind) for c in one.changes)]
    last = min(control) if control else chance.choice(sorted(partitions))
    others = [one for one in stream.written if one.message.partition != last]
    quarter = len(partitions[last]) // 8
    late = partitions[last]
    first, second, third, fourth = _evenly(others)
    return (
        (first, second, third, fourth + tuple(late))
        if chance.random() < 0.5
        else (
            first + second,
            third + fourth,
            tuple(late[:quarter]),
            tuple(late[quarter:]),
        )
    )


def _is_control(kind: Kind) -> bool:
    return kind in (Kind.DDL, Kind.BOOTSTRAP)


def _rebatch(stream: Stream, chance: random.Random) -> Stages:
    """Borders at random places, some next to each other."""
    size = len(stream.written)
    place = chance.randint(0, size)
    return _cut(stream.written, (place, min(size, place + 1), chance.randint(0, size)))


def _split(stream: Stream, chance: random.Random) -> Stages:
    """Every border is between two messages of one event."""
    messages = stream.written
    inside = [n for n in range(1, len(messages)) if messages[n].message.event == messages[n - 1].message.event]
    if not inside:
        return _evenly(messages)
    chosen = chance.sample(inside, min(len(inside), STAGES - 1))
    return _cut(messages, (*chosen, *[len(messages)] * (STAGES - 1 - len(chosen))))


def _late(stream: Stream, chance: random.Random) -> Stages:
    """Watermarks come again behind higher ones, and rows behind watermarks that have passed them, in a later look."""
    first, second, third, fourth = _evenly(stream.written)
    marks = tuple(_again(one, 900_000) for one in stream.written if any(c.kind is Kind.WATERMARK for c in one.changes))
    rows = tuple(_again(one, 900_000) for one in first + second if _is_row(one) and chance.random() < 0.6)
    early = tuple(_again(one, 300_000) for one in first if _is_row(one) and chance.random() < 0.6)
    return (first, second + marks[: len(marks) // 4], third + early, fourth + marks[: len(marks) // 2] + rows)


def _is_row(one: Written) -> bool:
    return any(c.kind is Kind.ROW for c in one.changes)


def _corrupt(stream: Stream, chance: random.Random) -> Stages:
    """Messages that nobody can read stand between the others, in every stage."""
    must = [f for f in faults.applicable(stream.faults, stream.compression) if f.obligation == MUST]
    found: list[Written] = []
    for number, one in enumerate(stream.written):
        if number % 6 == 0 or chance.random() < 0.1:
            spoiled = _spoiled(one, chance.sample(must, len(must)))
            found.extend(() if spoiled is None else (spoiled,))
        found.append(one)
    return _evenly(found)


def _spoiled(one: Written, tried: Iterable[Fault]) -> Written | None:
    """The message of a row spoiled by the first fault that can; None for others, for which not every format has faults."""
    for fault in tried if _is_row(one) else ():
        if one.message.value is not None and fault.apply(one.message.value) is not None:
            return faults.apply(one, fault)
    return None


def _all(stream: Stream, chance: random.Random) -> Stages:
    """Garbage and repeats on partitions that lag behind each other, and all of it again."""
    flat = [one for stage in _corrupt(stream, chance) for one in stage]
    twice = [one for stage in _duplicate(replace(stream, written=tuple(flat)), chance) for one in stage]
    first, second, third, fourth = _reorder(replace(stream, written=tuple(twice)), chance)
    return (first, second, third, fourth + tuple(_again(one, 2_000_000) for one in stream.written[len(stream.written) // 2 :]))


NEMESES: Final[tuple[Nemesis, ...]] = (
    Nemesis("none", "The messages as they were written.", "convergence", _none),
    Nemesis("duplicate", "Whole messages come again, at once or later.", "order", _duplicate),
    Nemesis("replay", "The stream goes on from an older offset, twice in the middle and at the end.", "order", _replay),
    Nemesis("reorder", "Each partition is read at its own pace.", "convergence", _reorder),
    Nemesis("control-lags", "The partition of statements and schemas is read last.", "convergence", _control_lags),
    Nemesis("schema-lags", "The same of a table that no statement changes.", "convergence", _control_lags, quiet=True),
    Nemesis("rebatch", "Micro-batches end at random places.", "convergence", _rebatch),
    Nemesis("split", "Micro-batches end within transactions.", "convergence", _split),
    Nemesis(
        "late-watermarks",
        "Watermarks come again behind higher ones, and rows behind their watermark.",
        "order",
        _late,
        quiet=True,
    ),
    Nemesis("corrupt", "Unreadable messages stand between the others.", "convergence", _corrupt),
    Nemesis("all", "Garbage, repeats, lagging partitions and a replay together.", "order", _all),
)
"""Every nemesis of the data. Processes that die are another matter: they meet all of these streams at once."""
