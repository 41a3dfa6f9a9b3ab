"""Pipelines that are wrong on purpose, over right changes and without Spark: each has one habit of
the recipes for MERGE that people print.

A fold keeps typed rows of what the messages owe; `conformance.pipelines` judges them after each
micro-batch, as it judges a user's table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Final

from conformance.judging.compare import Typed
from conformance.judging.perfect import row
from conformance.pipelines.judging import judge
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.rows import Claims
from conformance.pipelines.snapshots import Snapshot
from conformance.rules.order import order_of
from conformance.rules.tables import TableFile, checked, named_place, ours
from conformance.selftest.keeping import (
    Keeper,
    KeptRow,
    Record,
    RowKey,
    TableName,
    Version,
    batches,
)
from conformance.streams.recipes import Group, ReadStream
from generators.model import Cell, Change
from generators.wire_format import get

Typings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of wrong pipelines. `convicts` is the last part of the id of the rule that must catch
    it under one of the nemeses that match `nemesis`; `needs` is what the stream must have: statements, or positions that order
    changes of one moment.
    """

    name: str
    convicts: str
    nemesis: str
    why: str
    needs: str = ""


def read_habits(table: str) -> Iterator[Habit]:
    """The habits of a table of folds.toml."""
    file = TableFile(*ours(__package__, "folds"), {"habits": dict, "histories": dict})
    for place, name, given in file.entries(table):
        with named_place(f"{place}: {name}"):
            fields = dict.fromkeys(("convicts", "nemesis", "needs", "why"), str)
            texts = checked(given, fields, ("convicts", "nemesis", "why"))
            yield Habit(name, **{name: text.strip() for name, text in texts.items()})


HABITS: Final = {habit.name: habit for habit in read_habits("habits")}


def shows(habit: Habit, stream: ReadStream) -> bool:
    """Whether a stream shows a habit."""
    if not fnmatchcase(stream.nemesis.name, habit.nemesis) or stream.recipe is None:
        return False
    match habit.needs:
        case "statements":
            return "truncate table" in stream.story.statements
        case "positions":
            return bool(order_of(stream.recipe.format).positions)
    return True


@dataclass(slots=True)
class Fold(Keeper):
    """A right pipeline: the newest change of a key by the format's order, tombstones, statements.
    It knows no watermarks, as recipes do not; its tombstones stay.
    """

    def add(self, records: Iterable[Record]) -> None:
        """See Keeper."""
        self.marks.clear()
        Keeper.add(self, records)

    def _after_statements(self, name: TableName, state: KeptRow) -> KeptRow | None:
        self.marks.clear()
        return Keeper._after_statements(self, name, state)

    def _images(self, change: Change) -> tuple[Typings | None, Typings | None]:
        owed = row(change, 2)
        after = change.image("after", 2)
        return owed.before, _with_placeholders(owed.after, after)

    def _overlaid(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        image = {
            name: old.image.get(name, value) if self._stands_for_nothing(value) else value
            for name, value in new.image.items()
        }
        return replace(new, image=image)

    def _stands_for_nothing(self, value: Any) -> bool:
        return isinstance(value, Typed) and value.value in self.order.placeholders

    def snapshot(self) -> Snapshot:
        """The table as a user's Spark would return it."""
        rows: list[Typings] = [
            {name.lower(): value for name, value in state.image.items()}
            for held in self.rows.values()
            for state in held
            if state.image is not None
        ]
        columns = {name for each in rows for name in each}
        table = self.group.streams[0].story.table
        return Snapshot(
            frozenset(columns | {column.name.lower() for column in table.columns}), tuple(rows)
        )


def _with_placeholders(row: Typings | None, cells: Mapping[str, Cell] | None) -> Typings | None:
    """A typed row in which a placeholder stands as it is on the wire."""
    if row is None or cells is None:
        return row
    unsent = {
        name: Typed("string", cell.text)
        for name, cell in cells.items()
        if cell.cls == "unavailable" and cell.text is not None
    }
    return {**row, **unsent}


class HardDelete(Fold):
    """WHEN MATCHED AND delete THEN DELETE: no tombstone is left."""

    def _cleared(self) -> None:
        Fold._cleared(self)
        self.rows = {
            key: held
            for key, held in self.rows.items()
            if any(state.image is not None for state in held)
        }


class NoGuard(HardDelete):
    """The newest of the batch is merged whatever the row holds."""

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        for key, state in self._newest(events).items():
            held = self.rows.get(key)
            self.rows[key] = [self._overlaid(held[0] if held else None, state)]

    def _newest(self, events: list[tuple[RowKey, KeptRow]]) -> dict[RowKey, KeptRow]:
        """The newest of a batch by key."""
        return dict(sorted(events, key=lambda event: self._newer(event[1])))


class NoTruncate(Fold):
    """TRUNCATE and DROP TABLE are ignored."""

    def _stated(self, record: Record, name: TableName, version: Version) -> None:
        Fold._stated(self, record, name, version)
        self.cleared.clear()


class NoDropColumn(Fold):
    """DROP COLUMN is ignored: old values are there when a column of the name is added again."""

    def _stated(self, record: Record, name: TableName, version: Version) -> None:
        Fold._stated(self, record, name, version)
        self.dropped.clear()


class NoStatements(Fold):
    """AUTO CDC of Spark 4.2: order and tombstones, and no statement is applied."""

    def _stated(self, record: Record, name: TableName, version: Version) -> None:
        return


class PlaceholderKept(Fold):
    """The placeholder of a value that was not sent is written into the table."""

    def _overlaid(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        return new


class NullIgnored(Fold):
    """coalesce(s.c, t.c): a NULL of an UPDATE does not overwrite."""

    def _overlaid(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        new = Fold._overlaid(self, old, new)
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        image = {n: old.image.get(n) if v is None else v for n, v in new.image.items()}
        return replace(new, image=image)


class ByOp(NoGuard):
    """MATCHED AND op = 'U', NOT MATCHED AND op = 'I': an UPDATE without its row is lost."""

    def _cleared(self) -> None:
        Fold._cleared(self)

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        for key, state in self._newest(events).items():
            held = self.rows.get(key, [])
            there = bool(held) and held[0].image is not None
            if held and not self._newer(held[0]) < self._newer(state):
                continue
            if state.image is None or there is not state.whole:
                self.rows[key] = [self._overlaid(held[0] if held else None, state)]


class NoDelete(Fold):
    """Upserts alone."""

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        Fold._folded(self, [event for event in events if event[1].image is not None])


@dataclass(slots=True)
class FixedColumns(Fold):
    """The columns of the first batch alone: what is added later is lost."""

    names: set[str] = field(default_factory=set)

    def _cleared(self) -> None:
        Fold._cleared(self)
        images = [s.image for held in self.rows.values() for s in held if s.image is not None]
        if not self.names:
            self.names = {name for image in images for name in image}
        self.rows = {
            key: [replace(state, image=self._cut(state.image)) for state in held]
            for key, held in self.rows.items()
        }

    def _cut(self, image: Typings | None) -> Typings | None:
        if image is None:
            return None
        return {name: value if name in self.names else None for name, value in image.items()}


class FirstOfBatch(Fold):
    """dropDuplicates(key): any change of a batch."""

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        first: dict[RowKey, KeptRow] = {}
        for key, state in events:
            first.setdefault(key, state)
        Fold._folded(self, list(first.items()))


class BySecond(Fold):
    """Ordered by the commit's whole second."""

    unit: ClassVar[int] = 1_000_000

    def _version(self, record: Record, change: Change) -> Version:
        micros = change.commit_time_us
        return (-1 if micros is None else micros // self.unit,)


class ByMillisecond(BySecond):
    """Ordered by the commit's millisecond (es, source.ts_ms); of one the last arrival wins."""

    unit = 1_000


class OldKeyLeft(Fold):
    """An UPDATE of the key leaves the row under the old key."""

    def _folded(self, events: list[tuple[RowKey, KeptRow]]) -> None:
        there = {state.version for _, state in events if state.image is not None}
        Fold._folded(
            self,
            [
                (key, state)
                for key, state in events
                if state.image is not None or state.version not in there
            ],
        )


FOLDS: Final[Mapping[str, type[Fold]]] = {
    "hard-delete": HardDelete,
    "no-guard": NoGuard,
    "no-truncate": NoTruncate,
    "no-drop-column": NoDropColumn,
    "no-statements": NoStatements,
    "placeholder-kept": PlaceholderKept,
    "null-ignored": NullIgnored,
    "by-op": ByOp,
    "no-delete": NoDelete,
    "fixed-columns": FixedColumns,
    "first-of-batch": FirstOfBatch,
    "by-second": BySecond,
    "by-millisecond": ByMillisecond,
    "old-key-left": OldKeyLeft,
}
"""Each habit's fold."""


def fold(stream: ReadStream, kind: type[Fold] = Fold) -> PipelineResult:
    """The result of a stream that a fold keeps."""
    name = stream.recipe.format if stream.recipe else ""
    group = Group.of(get(name), (stream,))
    keeper = kind(group)
    snapshots = []
    for records in batches(group):
        keeper.add(records)
        snapshots.append(keeper.snapshot())
    return judge(name, stream, snapshots, Claims())
