"""Disturbances of a stream between its writer and reader: repeats, replays, lagging partitions,
garbage, other borders.

A nemesis splits the messages of one history, in the order of publication, into stages: what the
topic holds at the reader's first look, what arrives until the second, and so on. Every nemesis
keeps what Kafka and the writers promise: each message arrives at least once, and the first arrivals
of one partition come in their order. All chance is seeded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, TypeAlias

from generators.errors import NothingSelected
from generators.garbage import faults
from generators.garbage.faults import FAULTS, MUST, Fault
from generators.model import Change, Kind, Message, Op, Written

Stages: TypeAlias = tuple[tuple[Written, ...], ...]
"""The messages that arrive before each look of the reader, which is one micro-batch of a query."""

STAGES: Final = 4
"""How many stages every nemesis makes: the same number, so that streams under different nemeses can
be read in one run.
"""


REMOVED: Final = b"removed by compaction"
"""The value that stands for a record that was removed: its offset is missing."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The messages of one history, in the order of publication. `faults` are the ways in which one
    of them may be made unreadable, `compression` is the one in which their values are written as a
    whole ("none" without).
    """

    written: tuple[Written, ...]
    faults: tuple[Fault, ...] = FAULTS
    compression: str = "none"


@dataclass(frozen=True, slots=True)
class Nemesis:
    """A way to disturb a stream. `rule` is the last part of the id of the stream rule that owns
    wrong rows under it (conformance.rules.streams). `twin` is the name of a nemesis that is the
    same but for the trait that the rule is about: rows that are wrong under both do not break this
    rule.

    `quiet` needs a history without DDL statements, since one that clears the table would make up
    for rows lost before it; `statements` needs one with these statements alone, `unsent` one whose
    UPDATEs leave long values as they are, so that its source does not send them. `append_time`
    needs a topic whose broker sets the records' timestamps, `compacted` records with the key of
    their row. `ordered` says that changes come again behind newer ones, and that only what the
    messages tell of their order undoes it. Without `fine` commits have different times, so that
    timestamps of records order them, too.
    """

    name: str
    statement: str
    rule: str
    apply: Callable[[Stream, random.Random], Stages]
    quiet: bool = False
    twin: str = ""
    append_time: bool = False
    compacted: bool = False
    ordered: bool = False
    fine: bool = True
    statements: tuple[str, ...] = ()
    unsent: bool = False

    def __call__(self, stream: Stream, seed: int) -> Stages:
        """The stages into which this nemesis cuts the disturbed stream; the seed decides where."""
        stages = self.apply(stream, random.Random(f"{seed}/{self.name}"))
        assert len(stages) == STAGES
        return stages


def select_nemeses(glob: str) -> tuple[Nemesis, ...]:
    """The nemeses (ways to disturb a stream's delivery) whose names match a glob. Raises
    NothingSelected if there is none.
    """
    matching = tuple(nemesis for nemesis in NEMESES if fnmatchcase(nemesis.name, glob))
    if not matching:
        raise NothingSelected(
            f"no nemesis matches {glob!r}; there are"
            f" {', '.join(nemesis.name for nemesis in NEMESES)}"
        )
    return matching


def _cut(messages: Sequence[Written], borders: Iterable[int]) -> Stages:
    """The messages as stages, cut before each of the STAGES - 1 places of `borders`."""
    places = (0, *sorted(borders), len(messages))
    return tuple(tuple(messages[low:high]) for low, high in itertools.pairwise(places))


def _cut_evenly(messages: Sequence[Written]) -> Stages:
    """The messages as stages of about the same size."""
    return _cut(messages, (len(messages) * n // STAGES for n in range(1, STAGES)))


def _repeat_message(written: Written, later_ms: int) -> Written:
    """The message as a restarted writer sends it again: the same bytes, with the record timestamp
    `later_ms` later.
    """
    return replace(
        written,
        message=replace(written.message, timestamp_ms=written.message.timestamp_ms + later_ms),
    )


def _none(stream: Stream, chance: random.Random) -> Stages:
    """The messages as they are, in stages of about the same size."""
    return _cut_evenly(stream.written)


def _duplicate(stream: Stream, chance: random.Random, restarted_ms: int = 600_000) -> Stages:
    """Repeats a third of the messages, at once or any number of messages later. Of two commits with
    the same time, the first one is repeated behind the second. `restarted_ms` is how much later a
    repeated record's timestamp is.
    """
    # Each message with its place: its number, or, for a repeat, a number between two others.
    by_place = [(float(n), written) for n, written in enumerate(stream.written)]
    size = len(by_place)
    for number, written in tuple(by_place):
        if chance.random() < 0.35:
            distance = 0.5 if chance.random() < 0.3 else chance.uniform(0.5, size)
            by_place.append((number + distance, _repeat_message(written, restarted_ms)))
    row_messages = [
        (number, written) for number, written in enumerate(stream.written) if _is_row(written)
    ]
    by_place += [
        (late + 0.7, _repeat_message(old, restarted_ms))
        for (_, old), (late, new) in itertools.pairwise(row_messages)
        if _have_one_commit_time(old, new)
    ]
    by_place.sort(key=lambda item: item[0])
    return _cut_evenly([written for _, written in by_place])


def _have_one_commit_time(old: Written, new: Written) -> bool:
    """Whether two messages of rows belong to two commits that have the same commit time."""
    return (
        old.message.event != new.message.event
        and old.changes[0].commit_time_us == new.changes[0].commit_time_us is not None
    )


def _duplicate_with_timestamps(stream: Stream, chance: random.Random) -> Stages:
    """Repeats a third of the messages, at once or any number of messages later, with the timestamps
    of the first time, as a tool does that copies records.
    """
    return _duplicate(stream, chance, 0)


def _replay(stream: Stream, chance: random.Random) -> Stages:
    """Three times the reader gets older messages again. The second and the third stage begin with
    messages of stages before, as if the writer went on from an older place; the fourth has all
    messages once more.
    """
    size = len(stream.written)
    borders = sorted(chance.sample(range(1, size), 2)) if size > 2 else [0, 0]
    first, second, third = _cut(stream.written, borders)[:3]
    after_one = tuple(_repeat_message(written, 600_000) for written in first[len(first) // 3 :])
    after_two = tuple(
        _repeat_message(written, 1_200_000) for written in (first + second)[len(first) // 2 :]
    )
    return (
        first,
        after_one + second,
        after_two + third,
        tuple(_repeat_message(written, 1_800_000) for written in stream.written),
    )


def _compact_topics(stream: Stream, chance: random.Random) -> Stages:
    """The reader's first two looks find what log compaction left: in the topics of rows the last
    record of each key, and for some keys whose last record is a tombstone, nothing.
    """
    end, size = _compacted_end(stream.written), len(stream.written)
    first, second, *later_stages = _cut(stream.written, (end // 2, end, (end + size) // 2))
    topics = {written.message.topic for written in stream.written if _is_row(written)}
    last_number: dict[tuple[str, int, bytes | None], int] = {}
    for number, written in enumerate(first + second):
        last_number[written.message.topic, written.message.partition, written.message.key] = number
    removed_keys = {
        key
        for key, number in last_number.items()
        if (first + second)[number].message.value is None and chance.random() < 0.5
    }

    def after_compaction(number: int, written: Written) -> Written:
        """The message of that number as log compaction leaves it. If a later record has its key, or
        the key's tombstone is gone, too, its value is REMOVED and no rows are expected of it.
        """
        key = written.message.topic, written.message.partition, written.message.key
        if written.message.topic not in topics or (
            last_number[key] == number and key not in removed_keys
        ):
            return written
        return Written(replace(written.message, value=REMOVED), ())

    return (
        tuple(itertools.starmap(after_compaction, enumerate(first))),
        tuple(itertools.starmap(after_compaction, enumerate(second, len(first)))),
        *later_stages,
    )


def _compacted_end(messages: Sequence[Written]) -> int:
    """How many messages, from the first on, compaction works on: half of them, or more, so that of
    at least one record key it removes the INSERT and leaves an UPDATE, behind which only UPDATEs of
    that key follow.
    """
    first_of_last_updates: dict[tuple[str, int, bytes | None], int | None] = {}
    for number, written in enumerate(messages):
        key = written.message.topic, written.message.partition, written.message.key
        if not (_is_row(written) and written.changes[0].op is Op.UPDATE):
            first_of_last_updates[key] = None
        elif first_of_last_updates.get(key) is None:
            first_of_last_updates[key] = number
    updates = [number for number in first_of_last_updates.values() if number is not None]
    return max(len(messages) // 2, min(updates, default=0) + 1)


def is_removed(message: Message) -> bool:
    """Whether a message only marks the place of a record that compaction has removed."""
    return message.value == REMOVED


def _partitions(messages: Iterable[Written]) -> dict[int, list[Written]]:
    """The messages by their partition, each partition's in their order."""
    partitions: dict[int, list[Written]] = {}
    for written in messages:
        partitions.setdefault(written.message.partition, []).append(written)
    return partitions


def _reorder(stream: Stream, chance: random.Random) -> Stages:
    """Cuts each partition's messages into the stages at random places of its own, so that
    partitions arrive at different paces.
    """
    stages: list[list[Written]] = [[] for _ in range(STAGES)]
    for messages in _partitions(stream.written).values():
        for stage, part in zip(stages, _cut(messages, _places(len(messages), chance)), strict=True):
            stage.extend(part)
    return tuple(map(tuple, stages))


def _places(size: int, chance: random.Random) -> list[int]:
    """STAGES - 1 random places at which a list of `size` messages is cut into stages, not in order;
    some may be the same.
    """
    return [chance.randint(0, size) for _ in range(STAGES - 1)]


def _control_lags(stream: Stream, chance: random.Random) -> Stages:
    """The stages in which one partition is read behind all others: the one that carries statements
    and schemas, or a random one in a stream without these.
    """
    partitions = _partitions(stream.written)
    if not partitions:
        return _cut_evenly(())
    control = [written.message.partition for written in stream.written if _is_control(written)]
    late_partition = min(control) if control else chance.choice(sorted(partitions))
    other_messages = [
        written for written in stream.written if written.message.partition != late_partition
    ]
    eighth = len(partitions[late_partition]) // 8
    late_messages = partitions[late_partition]
    first, second, third, fourth = _cut_evenly(other_messages)
    # Half of the time the whole partition comes at the end of the last stage; else all others come
    # in the first two stages, and the partition's first eighth in a stage of its own.
    if chance.random() < 0.5:
        return first, second, third, fourth + tuple(late_messages)
    return (
        first + second,
        third + fourth,
        tuple(late_messages[:eighth]),
        tuple(late_messages[eighth:]),
    )


def _is_control(written: Written) -> bool:
    """Whether the message tells a statement or a table's schema."""
    return any(change.kind in (Kind.DDL, Kind.BOOTSTRAP) for change in written.changes)


def _rebatch(stream: Stream, chance: random.Random) -> Stages:
    """Cuts the stream into its stages at random places. One stage has a single message, unless
    another cut falls into it or it is behind the last message.
    """
    size = len(stream.written)
    place = chance.randint(0, size)
    return _cut(stream.written, (place, min(size, place + 1), chance.randint(0, size)))


def _split(stream: Stream, chance: random.Random) -> Stages:
    """Cuts the stream into stages in the middle of events that have several messages; evenly if no
    event has several.
    """
    messages = stream.written
    inside = [
        n
        for n in range(1, len(messages))
        if messages[n].message.event == messages[n - 1].message.event
    ]
    if not inside:
        return _cut_evenly(messages)
    borders = chance.sample(inside, min(len(inside), STAGES - 1))
    return _cut(messages, (*borders, *[len(messages)] * (STAGES - 1 - len(borders))))


def _repeat_late(stream: Stream, chance: random.Random) -> Stages:
    """Watermarks come again behind higher ones. In the reader's later looks rows come again, behind
    watermarks that have passed their commit time.
    """
    first, second, third, fourth = _cut_evenly(stream.written)

    def repeat_marks(messages: Sequence[Written]) -> tuple[Written, ...]:
        """The watermarks among the messages once more, 15 minutes later."""
        return tuple(_repeat_message(w, 900_000) for w in messages if _is_watermark(w))

    def repeat_rows(messages: Sequence[Written], later_ms: int) -> Iterator[Written]:
        """Most of the messages of rows once more, `later_ms` later, without deletes: if a deleted
        row comes back, the reader has believed the late messages.
        """
        for written in messages:
            if (
                _is_row(written)
                and any(c.op is not Op.DELETE for c in written.changes)
                and chance.random() < 0.9
            ):
                yield _repeat_message(written, later_ms)

    late_rows = tuple(repeat_rows(first + second, 900_000))
    early_rows = tuple(repeat_rows(first, 300_000))
    marks = repeat_marks(stream.written)
    late_marks = repeat_marks(first + second)[: len(marks) // 4]
    return (
        first,
        second + late_marks,
        third + early_rows,
        fourth + marks[: len(marks) // 2] + late_rows,
    )


def _repeat_stale(stream: Stream, chance: random.Random) -> Stages:
    """The first three stages (what the reader finds at each look) bring all messages. The fourth
    brings one change of each row again, with a timestamp an hour later: the change before its last
    one, unless that was a DELETE.
    """
    size = len(stream.written)
    first, second, third, _ = _cut(stream.written, (size // 3, 2 * size // 3, size))
    older = {
        id(changes[-2].written): changes[-2].written
        for changes in _changes_by_row(stream.written).values()
        if len(changes) > 1 and changes[-2].change.op is not Op.DELETE
    }
    return (
        first,
        second,
        third,
        tuple(_repeat_message(written, 3_600_000) for written in older.values()),
    )


def _behind_deletes(stream: Stream, chance: random.Random) -> Stages:
    """A stage ends, as far as there are such rows, with the DELETE of a row; the next one begins
    with the older changes of that row again, ten minutes later by timestamp. A reader that forgets
    deleted rows brings the row back. Without such a DELETE the stream is only cut.
    """
    places = {id(written): number for number, written in enumerate(stream.written)}
    deletes: list[tuple[int, tuple[Written, ...]]] = []
    for changes in _changes_by_row(stream.written).values():
        for number, (written, change) in enumerate(changes):
            before = {id(older.written): older.written for older in changes[:number]}
            if change.op is Op.DELETE and before and id(written) not in before:
                deletes.append((places[id(written)] + 1, tuple(before.values())))
    if not deletes:
        return _cut_evenly(stream.written)
    # Late ones: their keys are less likely to be used again.
    latest_deletes = sorted(deletes, key=lambda item: item[0])[-(STAGES - 1) :]
    ends = [
        *(border for border, _ in latest_deletes),
        *[len(stream.written)] * (STAGES - 1 - len(latest_deletes)),
    ]
    first, *later_stages = _cut(stream.written, ends)
    repeats: list[tuple[Written, ...]] = []
    for _, earlier in latest_deletes:
        repeats.append(tuple(_repeat_message(written, 600_000) for written in earlier))
    repeats += [()] * (len(later_stages) - len(repeats))
    return (first, *(again + stage for again, stage in zip(repeats, later_stages, strict=True)))


class _ChangeOfRow(NamedTuple):
    """A change of a row, and the message that tells it."""

    written: Written
    change: Change


def _changes_by_row(messages: Iterable[Written]) -> dict[object, list[_ChangeOfRow]]:
    """The changes of each row in the order of the messages, by table and key. Where a message does
    not say which columns are the key, the first column is taken.
    """
    changes_by_row: dict[object, list[_ChangeOfRow]] = {}
    for written in messages:
        for change in written.changes:
            image = change.before if change.op is Op.DELETE else change.after
            if change.kind is not Kind.ROW or not image:
                continue
            names = change.keys or tuple(image)[:1]
            key = tuple(repr(image[name].value) if name in image else "" for name in names)
            changes_by_row.setdefault((change.table, key), []).append(_ChangeOfRow(written, change))
    return changes_by_row


def _is_watermark(written: Written) -> bool:
    """Whether the message is a watermark: all changes up to its time have been sent."""
    return any(c.kind is Kind.WATERMARK for c in written.changes)


def _is_row(written: Written) -> bool:
    """Whether the message tells a change of a row."""
    return any(c.kind is Kind.ROW for c in written.changes)


def _corrupt(stream: Stream, chance: random.Random) -> Stages:
    """The stream with unreadable messages between the others in every stage; a decoder must return
    exactly one CORRUPT row for each of them (`certain_faults`).
    """
    certain_faults = [
        f
        for f in faults.applicable(stream.faults, stream.compression)
        if f.obligation == MUST and not f.accept
    ]
    messages: list[Written] = []
    for number, written in enumerate(stream.written):
        if number % 6 == 0 or chance.random() < 0.1:
            spoiled = _spoil_message(written, chance.sample(certain_faults, len(certain_faults)))
            messages.extend(() if spoiled is None else (spoiled,))
        messages.append(written)
    return _cut_evenly(messages)


def _spoil_message(written: Written, applicable_faults: Iterable[Fault]) -> Written | None:
    """The message of a row, spoiled by the first fault that can be applied to it; None for any
    other message, for which not every format has faults.
    """
    for fault in applicable_faults if _is_row(written) else ():
        if written.message.value is not None and fault.apply(written.message.value) is not None:
            return faults.apply(written, fault)
    return None


def _all_at_once(stream: Stream, chance: random.Random) -> Stages:
    """Several disturbances together: unreadable messages, repeats and partitions that lag behind
    each other; at the end the second half of the messages comes again.
    """
    with_garbage = tuple(itertools.chain.from_iterable(_corrupt(stream, chance)))
    stages = _duplicate(replace(stream, written=with_garbage), chance)
    with_repeats = tuple(itertools.chain.from_iterable(stages))
    first, second, third, fourth = _reorder(replace(stream, written=with_repeats), chance)
    return (
        first,
        second,
        third,
        fourth
        + tuple(
            _repeat_message(written, 2_000_000)
            for written in stream.written[len(stream.written) // 2 :]
        ),
    )


NEMESES: Final[tuple[Nemesis, ...]] = (
    Nemesis("none", "The messages as they were written.", "convergence", _none),
    Nemesis(
        "duplicate",
        "Whole messages come again, at once or later.",
        "order",
        _duplicate,
        ordered=True,
    ),
    Nemesis(
        "replay",
        "The stream goes on from an older offset, twice in the middle and at the end.",
        "order",
        _replay,
    ),
    Nemesis("reorder", "Each partition is read at its own pace.", "convergence", _reorder),
    Nemesis(
        "control-lags",
        "The partition of statements and schemas is read last.",
        "convergence",
        _control_lags,
    ),
    Nemesis(
        "schema-lags",
        "The same, for a table that no statement changes.",
        "convergence",
        _control_lags,
        quiet=True,
    ),
    Nemesis("rebatch", "Micro-batches end at random places.", "convergence", _rebatch),
    Nemesis("split", "Micro-batches end within transactions.", "convergence", _split),
    Nemesis(
        "late-watermarks",
        "Watermarks come again behind higher ones, and rows behind their watermark.",
        "order",
        _repeat_late,
        quiet=True,
        ordered=True,
    ),
    Nemesis("corrupt", "Unreadable messages stand between the others.", "convergence", _corrupt),
    Nemesis(
        "copied",
        "Records come again, at once or later, under the timestamps that they had.",
        "order",
        _duplicate_with_timestamps,
        ordered=True,
        fine=False,
    ),
    Nemesis(
        "append-time",
        "The same, in a topic whose broker sets the timestamps (LogAppendTime).",
        "record-time",
        _duplicate_with_timestamps,
        twin="copied",
        append_time=True,
        ordered=True,
        fine=False,
    ),
    Nemesis(
        "compacted",
        "Compaction has removed all records of the first half but the last of each key; a tombstone"
        " stays.",
        "compaction",
        _compact_topics,
        quiet=True,
        twin="none",
        compacted=True,
        fine=False,
    ),
    Nemesis(
        "stale",
        "An older change of a row comes again, alone and late.",
        "order",
        _repeat_stale,
        ordered=True,
    ),
    Nemesis(
        "behind-deletes",
        "A batch ends with a DELETE; the next begins with what was before it, again.",
        "order",
        _behind_deletes,
        ordered=True,
    ),
    Nemesis(
        "changed-columns",
        "A column is dropped and comes back empty, another is added, and nothing clears the table.",
        "convergence",
        _none,
        statements=("drop column", "add column again", "add column"),
    ),
    Nemesis(
        "unsent",
        "UPDATEs leave long values as they are, which the source does not send.",
        "convergence",
        _none,
        unsent=True,
    ),
    Nemesis(
        "all",
        "Garbage, repeats, lagging partitions and a replay together.",
        "order",
        _all_at_once,
        ordered=True,
    ),
)
"""Every nemesis of the data. Killed processes are a separate check, on all of these streams at
once.
"""
