"""Keepers of tables that are wrong on purpose, over right changes: each falls into one trap that
streams set. No decoder runs.

A keeper folds the changes that the messages owe, in micro-batches, as `spark_checks.keepers` folds
them in Spark; there two of these mistakes are tried as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from conformance.judging.perfect import row
from conformance.rules.order import Order, order_of
from conformance.rules.tables import TableFile, checked, named_place, ours
from conformance.streams.kept import Kept
from conformance.streams.recipes import Group, ReadStream
from generators.drawing.streams import START_MS
from generators.garbage.nemesis import STAGES, is_removed
from generators.model import Change, Kind, Op, SchemaChange, Written

Version: TypeAlias = tuple[int, ...]
Texts: TypeAlias = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Keeping:
    """A mistake of a keeper. `convicts` is the last part of the id of the stream rule that must
    catch it, and `also` of another, where the records' timestamps are in the order of the commits.
    `needs` is what the format must have for the mistake to show
    (`conformance.rules.order.Order.has`).
    """

    name: str
    convicts: str
    why: str
    needs: str = ""
    also: str = ""

    def rules(self, fmt: str) -> tuple[str, ...]:
        """The rules that must catch it in a format."""
        return (
            (self.convicts, self.also)
            if self.also and order_of(fmt).stamps_in_order
            else (self.convicts,)
        )


def _keeping() -> Iterator[Keeping]:
    file = TableFile(*ours(__package__, "keeping"), {"mistakes": dict})
    for place, name, given in file.entries("mistakes"):
        with named_place(f"{place}: {name}"):
            texts = checked(
                given, dict.fromkeys(("convicts", "also", "needs", "why"), str), ("convicts", "why")
            )
            yield Keeping(name, **{field: text.strip() for field, text in texts.items()})


KEEPING: Final = {mistake.name: mistake for mistake in _keeping()}
LOST: Final = KEEPING["batch-lost-on-restart"]
TWICE: Final = KEEPING["applied-twice"]
STAMPED: Final = KEEPING["ordered-by-ts"]
COMMITTED: Final = KEEPING["ordered-by-commit"]
ROUNDED: Final = KEEPING["position-rounded"]
ARRIVED: Final = KEEPING["last-arrival-wins"]
UNPUNCTUAL: Final = KEEPING["late-rows-applied"]
LOWERED: Final = KEEPING["late-watermark-believed"]
IMPATIENT: Final = KEEPING["rows-before-schema-dropped"]
SILENT: Final = KEEPING["corrupt-swallowed"]
KNOWING: Final = KEEPING["unknown-rows-not-updated"]
STAYING: Final = KEEPING["old-key-left"]


def mistakes_of(fmt: str) -> tuple[Keeping, ...]:
    """Those that can show in a format."""
    order = order_of(fmt)
    return tuple(mistake for mistake in KEEPING.values() if order.has(mistake.needs))


@dataclass(frozen=True, slots=True)
class Record:
    """A message where it arrives: its lane and offset, its timestamp there, and the stream that it
    is of.
    """

    lane: int
    offset: int
    stamp: int
    written: Written
    stream: ReadStream


def batches(group: Group) -> list[list[Record]]:
    """The messages of each stage of all streams."""
    ends = Counter[int]()
    stages: list[list[Record]] = []
    for stage in range(STAGES):
        stages.append([])
        for stream in group.streams:
            for written in stream.stages[stage]:
                lane = stream.first + written.message.partition
                if not is_removed(written.message):
                    stamp = (
                        START_MS + stage
                        if stream.nemesis.append_time
                        else written.message.timestamp_ms
                    )
                    stages[-1].append(Record(lane, ends[lane], stamp, written, stream))
                ends[lane] += 1
    return stages


@dataclass(frozen=True, slots=True)
class KeptRow:
    """What is known of a key: its newest image, None if it is deleted. `whole` is no UPDATE."""

    version: Version
    tie: Version
    image: Texts | None
    whole: bool
    lane: int


TableName: TypeAlias = tuple[str | None, str | None]
RowKey: TypeAlias = tuple[TableName, tuple[str | None, ...]]
_Waiting: TypeAlias = tuple[Record, Change]


@dataclass(slots=True)
class Keeper:
    """Keeps the tables of a group's streams, right but for one mistake."""

    group: Group
    mistake: Keeping | None = None
    rows: dict[RowKey, list[KeptRow]] = field(default_factory=dict)
    waiting: list[_Waiting] = field(default_factory=list)
    schemas: dict[tuple[TableName, str | None], tuple[str, ...]] = field(default_factory=dict)
    cleared: dict[TableName, Version] = field(default_factory=dict)
    dropped: dict[tuple[TableName, str], Version] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)
    unreadable: set[tuple[int, int]] = field(default_factory=set)
    seen: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def order(self) -> Order:
        """How the format orders changes."""
        return order_of(self.group.fmt.name)

    def add(self, records: Iterable[Record]) -> None:
        """The state after a micro-batch."""
        before, rows = dict(self.marks), self.waiting
        self.waiting = []
        for record in records:
            self.seen[record.lane] = self.seen.get(record.lane, (0, 0))[0] + 1, record.offset
            for change in record.written.changes:
                if change.kind is Kind.ROW and change.op is not Op.TRUNCATE:
                    late = self._version(record, change) < (before.get(record.lane, -1),)
                    rows += [] if late and self.mistake is not UNPUNCTUAL else [(record, change)]
                else:
                    self._noted(record, change)
        self._folded([event for record, change in rows for event in self._events(record, change)])
        self._cleared()

    def _version(self, record: Record, change: Change) -> Version:
        if self.mistake is STAMPED:
            return (record.stamp,)
        if self.order.arrival:
            return (0,)
        for pattern, groups in self.order.positions if self.mistake is not COMMITTED else ():
            if match := re.search(pattern, change.position or ""):
                numbers = (int(match[number]) for number in groups)
                return tuple(
                    int(float(number)) if self.mistake is ROUNDED else number for number in numbers
                )
        return (-1 if change.commit_time_us is None else change.commit_time_us,)

    def _noted(self, record: Record, change: Change) -> None:
        name, version = (change.database, change.table), self._version(record, change)
        match change.kind:
            case Kind.CORRUPT if self.mistake is not SILENT:
                self.unreadable.add((record.lane, record.offset))
            case Kind.WATERMARK if self.order.watermarks and change.position is not None:
                lower = -1 if self.mistake is LOWERED else self.marks.get(record.lane, -1)
                self.marks[record.lane] = max(lower, int(change.position))
            case Kind.BOOTSTRAP | Kind.DDL | Kind.ROW:
                if self.order.keys == "schema" and change.keys:
                    self.schemas.setdefault((name, change.schema_version), change.keys)
                self._stated(record, name, version)

    def _stated(self, record: Record, name: TableName, version: Version) -> None:
        event = record.stream.story.history.events[record.written.message.event]
        if not isinstance(event, SchemaChange) or event.before is None:
            return
        name = (name[0], name[1] or event.table)
        if event.action in ("truncate table", "drop table"):
            self.cleared[name] = max(version, self.cleared.get(name, ()))
        if event.action == "drop column" and event.after is not None:
            for gone in {c.name for c in event.before.columns} - {
                c.name for c in event.after.columns
            }:
                self.dropped[name, gone] = max(version, self.dropped.get((name, gone), ()))

    def _events(self, record: Record, change: Change) -> Iterator[tuple[RowKey, KeptRow]]:
        """What becomes of keys: an upsert or a delete; of an UPDATE of the key both."""
        name = (change.database, change.table)
        keys: Sequence[str] | None = change.keys
        if self.order.keys == "schema":
            keys = self.schemas.get((name, change.schema_version))
            if keys is None and self.mistake is not IMPATIENT:
                self.waiting.append((record, change))
        elif self.order.keys == "table" and not keys:
            keys = record.stream.story.table.handle_key
        if not keys:
            return
        before, image = self._images(change)
        old = (
            None
            if before is None
            else tuple((before if k in before else image or {}).get(k) for k in keys)
        )
        new = None if image is None else tuple(image.get(k) for k in keys)
        version = self._version(record, change)

        def event(
            key: tuple[str | None, ...] | None, half: int, image: Texts | None
        ) -> Iterator[tuple[RowKey, KeptRow]]:
            first = int(change.op is not Op.DELETE) if self.order.deletes_first else 0
            whole = half == 0 or change.op is not Op.UPDATE
            if key is not None:
                yield (
                    (name, key),
                    KeptRow(
                        version, (first, record.offset, change.row, half), image, whole, record.lane
                    ),
                )

        moved = change.op is Op.UPDATE and old is not None and old != new
        if change.op is Op.DELETE or (moved and self.mistake is not STAYING):
            yield from event(old, 0, None)
        if change.op is not Op.DELETE:
            yield from event(new, 1, image)

    def _images(self, change: Change) -> tuple[Texts | None, Texts | None]:
        """The old and the new row of a change."""
        owed = row(change, 1)
        return owed.before, owed.after

    def _newer(self, state: KeptRow) -> tuple[Any, ...]:
        return state.tie[1:3] if self.mistake is ARRIVED else (state.version, state.tie)

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        if self.mistake is STAYING:
            # Halves of an UPDATE of the key that come as two changes.
            inserts = {
                (name, state.version) for (name, _), state in events if state.image is not None
            }
            events = [
                (key, state)
                for key, state in events
                if state.image is not None or (key[0], state.version) not in inserts
            ]
        known = {
            *self.rows,
            *(key for key, state in events if state.whole and state.image is not None),
        }
        if self.mistake is KNOWING:
            events = [(key, state) for key, state in events if key in known]
        for key, state in sorted(events, key=lambda event: self._newer(event[1])):
            held = self.rows.get(key, [])
            if self.mistake is TWICE:
                self.rows[key] = (
                    [state]
                    if state.image is None
                    else [*(old for old in held if old.image is not None), state]
                )
            elif not held or self._newer(held[0]) < self._newer(state):
                self.rows[key] = [self._overlaid(held[0] if held else None, state)]

    def _overlaid(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        """The row with older cells in place of the stand-ins for values that were not sent."""
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        stands = self.order.placeholders
        image = {
            name: old.image.get(name, text) if text in stands else text
            for name, text in new.image.items()
        }
        return KeptRow(new.version, new.tie, image, new.whole, new.lane)

    def _cleared(self) -> None:
        """The effects of newer statements; below the watermark what is deleted is forgotten."""
        for key, held in list(self.rows.items()):
            self.rows[key] = kept = [
                cleared for state in held if (cleared := self._after_statements(key[0], state))
            ]
            if not kept:
                del self.rows[key]

    def _after_statements(self, name: TableName, state: KeptRow) -> KeptRow | None:
        image: Texts | None = None
        if state.image is not None and not state.version < self.cleared.get(name, ()):
            image = {
                n: t
                for n, t in state.image.items()
                if not state.version < self.dropped.get((name, n), ())
            }
        if image is None and state.version < (self.marks.get(state.lane, -1),):
            return None
        return KeptRow(state.version, state.tie, image, state.whole, state.lane)

    def kept(self) -> Kept:
        """The tables as the check of streams reads them."""
        rows: dict[str, list[tuple[tuple[str, ...], Texts]]] = {}
        for (name, key), held in self.rows.items():
            images = [state.image for state in held if state.image is not None]
            rows.setdefault(name[1] or "", []).extend(
                (tuple(map(str, key)), image) for image in images
            )
        return Kept(rows, frozenset(self.unreadable), self.seen, self.marks)


def kept(group: Group, mistake: Keeping | None = None) -> Kept:
    """The tables of a group after all stages, kept with a mistake or without one. A crash comes
    after the second batch.
    """
    keeper = Keeper(group, mistake)
    for number, records in enumerate(batches(group)):
        if mistake is not LOST or number != 1:
            keeper.add(records)
    return keeper.kept()
