"""Pipelines that are wrong on purpose, over right changes and without Spark: each has one habit of
the recipes for MERGE that people print.

A fold keeps typed rows of what the messages owe; `conformance.pipelines` judges them after each
micro-batch, as it judges a user's table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, ClassVar, Final

from conformance.judging.compare import Typed
from conformance.judging.perfect import row_of_change
from conformance.pipelines.judging import judge
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.rows import OwnTypes
from conformance.pipelines.snapshots import Snapshot
from conformance.rules.order import order_of
from conformance.rules.tables import Legal, TableFile, check_fields, naming_place, read_package_toml
from conformance.selftest.keeping import (
    Keeper,
    KeptRow,
    KeyEvent,
    Record,
    RowKey,
    TableName,
    Version,
    batches,
)
from conformance.streams.recipes import Group, ReadStream
from generators.model import Cell, Change, Kind, Op
from generators.wire_format import get

TypedValues = Mapping[str, Any]
"""The typed values of a kept row by the names of its columns."""


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of wrong pipelines (a mistake in their MERGE).

    `convicts` is the last part of the id of the rule that must catch it, under at least one of the
    nemeses whose names match the glob `nemesis`. `needs` is what a stream must have for the habit
    to show: "statements", "positions" (they order changes of one moment), "late" changes (behind
    newer ones of an earlier batch), "several-rows" in a message, or "" for nothing.

    `title` names the habit, `recipe` is the address of a public recipe that has it; `rank` is its
    place among the commonest habits, 0 for none.
    """

    name: str
    convicts: str
    nemesis: str
    why: str
    needs: str = ""
    title: str = ""
    recipe: str = ""
    rank: int = 0


def read_habits(table: str) -> Iterator[Habit]:
    """Reads the habits (kinds of wrong pipelines, each with the rule that convicts it) of one table
    of folds.toml, `habits` or `histories`. Raises UsageError with file and line for an error.
    """
    file = TableFile(*read_package_toml(__package__, "folds"), {"habits": dict, "histories": dict})
    for place, name, entry in file.entries(table):
        with naming_place(f"{place}: {name}"):
            fields: dict[str, Legal] = {
                **dict.fromkeys(("convicts", "nemesis", "needs", "why", "title", "recipe"), str),
                "rank": int,
            }
            values = dict(check_fields(entry, fields, ("convicts", "nemesis", "why")))
            rank = values.pop("rank", 0)
            yield Habit(
                name, **{field: words.strip() for field, words in values.items()}, rank=int(rank)
            )


HABITS: Final = {habit.name: habit for habit in read_habits("habits")}
"""The habits of wrong pipelines over tables of current rows, by name; those over histories are in
`histories`.
"""
COMMONEST: Final = tuple(
    sorted((habit for habit in HABITS.values() if habit.rank), key=lambda habit: habit.rank)
)
"""The habits that public recipes have most often."""


def shows(habit: Habit, stream: ReadStream) -> bool:
    """Whether a pipeline with this habit must come out wrong on the stream: the stream's
    nemesis matches the habit's, and the stream has what the habit needs to show.
    """
    if not fnmatchcase(stream.nemesis.name, habit.nemesis) or stream.recipe is None:
        return False
    match habit.needs:
        case "statements":
            return "truncate table" in stream.story.statements
        case "positions":
            return bool(order_of(stream.recipe.format).positions)
        case "late":
            return any(came_late(stream))
        case "several-rows":
            return any(_has_several_rows(w.changes) for stage in stream.stages for w in stage)
    return True


def came_late(stream: ReadStream) -> Iterator[bool]:
    """For each message of a stream that has row changes, in the order of arrival: whether it came
    late, after a newer one had come in an earlier stage of the stream (a stage is read as a
    micro-batch).
    """
    newest = -1
    for messages in stream.stages:
        events = [w.message.event for w in messages if _row_changes(w.changes)]
        yield from (event < newest for event in events)
        newest = max((newest, *events))


def _has_several_rows(changes: Iterable[Change]) -> bool:
    """Whether a message with these changes has more than one row change."""
    return len(_row_changes(changes)) > 1


def _row_changes(changes: Iterable[Change]) -> list[Change]:
    """Those of a message's changes that are changes of rows."""
    return [change for change in changes if change.kind is Kind.ROW]


@dataclass(slots=True)
class Fold(Keeper):
    """A right pipeline, which folds the changes of streams into a table, without Spark: of each key
    it keeps the newest change by the format's order; it keeps tombstones of deleted rows for ever,
    and applies statements (TRUNCATE, DROP). Like public recipes it ignores watermarks. Subclasses
    are wrong pipelines, each with one mistake.
    """

    def add(self, records: Iterable[Record]) -> None:
        """Folds the records of a batch into the table. It first forgets the watermarks of earlier
        batches, which a pipeline does not read: no row of the batch is dropped as late.
        """
        self.marks.clear()
        Keeper.add(self, records)

    def _after_statements(self, table: TableName, state: KeptRow) -> KeptRow | None:
        """The state of a row after the newer statements on its table. It first forgets the
        watermarks, which a pipeline does not read, so that no tombstone is dropped.
        """
        self.marks.clear()
        return Keeper._after_statements(self, table, state)

    def _images(self, change: Change) -> tuple[TypedValues | None, TypedValues | None]:
        """The images before and after a change as a decoder of level two (typed columns) gives
        them, each None if the change has none. In the after image, the placeholder that the message
        has for a value that the source did not send stands as if it were the value.
        """
        output_row = row_of_change(change, 2)
        cells = change.image("after", 2)
        return output_row.before, _with_placeholders(output_row.after, cells)

    def _overlay(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        """The row of a key after the change `new` to its row `old`: a value that an UPDATE did not
        send keeps the old one. A change that is no UPDATE, or a row without an image before or
        after, leaves `new` as it is.
        """
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        image = {
            name: old.image.get(name, value) if self._is_placeholder(value) else value
            for name, value in new.image.items()
        }
        return replace(new, image=image)

    def _is_placeholder(self, value: Any) -> bool:
        """Whether a value is what the format writes in place of a value that was not sent."""
        return isinstance(value, Typed) and value.value in self.order.placeholders

    def snapshot(self) -> Snapshot:
        """The table that the pipeline keeps, in the form in which the judge reads a user's
        table.
        """
        images = [
            {name.lower(): value for name, value in image.items()} for image in self._live_images()
        ]
        columns_of_images = chain.from_iterable(images)
        table = self.group.streams[0].story.table
        columns_of_table = (column.name.lower() for column in table.columns)
        return Snapshot(frozenset((*columns_of_images, *columns_of_table)), tuple(images))

    def _live_images(self) -> Iterator[TypedValues]:
        """The images of the rows that are not deleted."""
        for state in chain.from_iterable(self.rows.values()):
            if state.image is not None:
                yield state.image


def _with_placeholders(
    image: TypedValues | None, cells: Mapping[str, Cell] | None
) -> TypedValues | None:
    """The typed image in which a value that was not sent is the placeholder that the message has
    for it; None for no image.
    """
    if image is None or cells is None:
        return image
    unsent = {
        name: Typed("string", cell.text)
        for name, cell in cells.items()
        if cell.cls == "unavailable" and cell.text is not None
    }
    return {**image, **unsent}


class HardDelete(Fold):
    """A wrong pipeline: a DELETE removes the row and leaves no tombstone (WHEN MATCHED AND delete
    THEN DELETE), so that a late older change brings the row back.
    """

    def _apply_statements(self) -> None:
        """Applies the statements, then removes each key whose row is deleted, so that a late older
        change brings the row back.
        """
        Fold._apply_statements(self)
        self.rows = {
            key: states
            for key, states in self.rows.items()
            if any(state.image is not None for state in states)
        }


class NoGuard(HardDelete):
    """A wrong pipeline: it merges the newest change of each batch into the table, even if the
    table's row is newer.
    """

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Writes the batch's newest change of each key over the table's row, even a newer row."""
        for key, state in self._newest(events).items():
            states = self.rows.get(key)
            self.rows[key] = [self._overlay(states[0] if states else None, state)]

    def _newest(self, events: list[KeyEvent]) -> dict[RowKey, KeptRow]:
        """The newest change of each key in a batch."""
        ordered = sorted(events, key=lambda event: self._newness(event.state))
        return {event.key: event.state for event in ordered}


class NoTruncate(Fold):
    """A wrong pipeline: it ignores TRUNCATE and DROP TABLE."""

    def _note_statement(self, record: Record, table: TableName, version: Version) -> None:
        """Notes the statement as a right fold (code that keeps a table in memory) does, but forgets
        every TRUNCATE and DROP TABLE; a DROP COLUMN stays noted.
        """
        Fold._note_statement(self, record, table, version)
        self.cleared.clear()


class NoDropColumn(Fold):
    """A wrong pipeline: it ignores DROP COLUMN, so that the old values are back if a column of that
    name is added again.
    """

    def _note_statement(self, record: Record, table: TableName, version: Version) -> None:
        """Notes the statement as a right fold does, but forgets every DROP COLUMN."""
        Fold._note_statement(self, record, table, version)
        self.dropped.clear()


class NoStatements(Fold):
    """A wrong pipeline, AUTO CDC of Spark 4.2: it orders changes and keeps tombstones, but applies
    no statement (TRUNCATE, DROP TABLE, DROP COLUMN).
    """

    def _note_statement(self, record: Record, table: TableName, version: Version) -> None:
        """Forgets every statement."""
        return


class PlaceholderKept(Fold):
    """A wrong pipeline: it writes the placeholder of a value that was not sent into the table."""

    def _overlay(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        """The new row as it is, with its placeholders."""
        return new


class NullIgnored(Fold):
    """A wrong pipeline: a NULL of an UPDATE does not overwrite the row's value (coalesce(s.c,
    t.c)).
    """

    def _overlay(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        """As a right fold, but each NULL in the image of an UPDATE is replaced by the row's old
        value.
        """
        new = Fold._overlay(self, old, new)
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        image = {
            name: old.image.get(name) if value is None else value
            for name, value in new.image.items()
        }
        return replace(new, image=image)


class ByOp(NoGuard):
    """A wrong pipeline: it updates only rows that are there, and inserts only those that are not
    (MATCHED AND op = 'U', NOT MATCHED AND op = 'I'), so that an UPDATE whose row is missing is
    lost. Other than NoGuard it keeps tombstones, and newer rows.
    """

    def _apply_statements(self) -> None:
        """Applies the statements as a right pipeline does, and keeps the tombstones of deleted
        rows.
        """
        Fold._apply_statements(self)

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Merges the batch's newest change of each key, unless the table's state of that key is as
        new or newer: an UPDATE (a change that is not `whole`) only into a row that is there, any
        other upsert only where no row is, a DELETE (without an image) always.
        """
        for key, state in self._newest(events).items():
            states = self.rows.get(key, [])
            has_row = bool(states) and states[0].image is not None
            if states and not self._newness(states[0]) < self._newness(state):
                continue
            if state.image is None or has_row is not state.whole:
                self.rows[key] = [self._overlay(states[0] if states else None, state)]


class NoDelete(Fold):
    """A wrong pipeline: it merges only upserts, and ignores deletes."""

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Folds the batch without its deletes."""
        Fold._fold_events(self, [event for event in events if event.state.image is not None])


@dataclass(slots=True)
class FixedColumns(Fold):
    """A wrong pipeline: its table has only the columns of the first batch, so that columns which
    are added later are lost. `first_columns` are those columns, empty until a batch has left rows.
    """

    first_columns: set[str] = field(default_factory=set)

    def _apply_statements(self) -> None:
        """Applies the statements, then sets to NULL every column that no row of the table had after
        the first batch that left it rows.
        """
        Fold._apply_statements(self)
        if not self.first_columns:
            self.first_columns = set(chain.from_iterable(self._live_images()))
        for states in self.rows.values():
            states[:] = [
                replace(state, image=self._only_first_columns(state.image)) for state in states
            ]

    def _only_first_columns(self, image: TypedValues | None) -> TypedValues | None:
        """A row's image with NULL in each column that is not of `first_columns` (those that rows
        had after the first batch which left any); None for no image, as of a deleted row.
        """
        if image is None:
            return None
        return {
            name: value if name in self.first_columns else None for name, value in image.items()
        }


class FirstOfBatch(Fold):
    """A wrong pipeline: of each key it keeps the first change of a batch (dropDuplicates(key))."""

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Merges a batch in which only the first change of each key is left."""
        first: dict[RowKey, KeyEvent] = {}
        for event in events:
            first.setdefault(event.key, event)
        Fold._fold_events(self, list(first.values()))


class BySecond(Fold):
    """A wrong pipeline: it orders changes by the second of their commit, so that of changes in one
    second the last arrival wins. `unit` is the precision in microseconds.
    """

    unit: ClassVar[int] = 1_000_000

    def _version(self, record: Record, change: Change) -> Version:
        """The order of a change: the whole units of its commit time; a change without one is the
        oldest.
        """
        micros = change.commit_time_us
        return (-1 if micros is None else micros // self.unit,)


class ByMillisecond(BySecond):
    """A wrong pipeline: it orders changes by the millisecond of their commit (es, source.ts_ms), so
    that of changes in one millisecond the last arrival wins.
    """

    unit = 1_000


class OldKeyLeft(Fold):
    """A wrong pipeline: after an UPDATE of the key the row is also left under its old key."""

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Folds the batch without the deletion that is one half of an UPDATE of the key (it has the
        version of an upsert in the batch), so that the row stays under its old key.
        """
        upserted_versions = {state.version for _, state in events if state.image is not None}
        events = [
            event
            for event in events
            if event.state.image is not None or event.state.version not in upserted_versions
        ]
        Fold._fold_events(self, events)


class MergeRefusedError(Exception):
    """Several changes of a batch match one row, which the MERGE of Delta Lake and Iceberg
    refuses.
    """


class AsItIs(Fold):
    """A wrong pipeline: it merges a batch without choosing one change of each key, so that two
    changes of a key end the query.
    """

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Folds the batch as it is. Raises MergeRefusedError if it has several changes of one key,
        as the MERGE of Delta Lake and Iceberg does.
        """
        changed: set[RowKey] = set()
        for event in events:
            if event.key in changed:
                key = ", ".join(map(str, event.key[1]))
                raise MergeRefusedError(f"the batch has several changes of row {key}")
            changed.add(event.key)
        Fold._fold_events(self, events)


@dataclass(slots=True)
class DeletedInserted(NoGuard):
    """A wrong pipeline: a DELETE whose row is not there inserts it (WHEN NOT MATCHED THEN INSERT
    without a condition).

    `before_images` are the rows of DELETEs, by key and by what orders changes of one version.
    """

    before_images: dict[tuple[RowKey, Version], TypedValues] = field(default_factory=dict)

    def _events(self, record: Record, change: Change) -> Iterator[KeyEvent]:
        """What a row change does to the rows of keys. The before image of a DELETE is kept for
        `_fold_events`, which inserts it where no row is; it is found again by its key and by `tie`,
        which tells changes of one version apart.
        """
        for event in Fold._events(self, record, change):
            before, _ = self._images(change)
            if change.op is Op.DELETE and before is not None:
                self.before_images[event.key, event.state.tie] = before
            yield event

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Merges the newest change of each key, if it is newer than the row; where no row is, a
        DELETE inserts its own.
        """
        for key, state in self._newest(events).items():
            states = self.rows.get(key)
            if states is None:
                image = state.image or self.before_images.get((key, state.tie))
                self.rows[key] = [replace(state, image=image)]
            elif self._newness(states[0]) < self._newness(state):
                self.rows[key] = [self._overlay(states[0], state)]


class HighWater(Fold):
    """A wrong pipeline: it drops each change that is not newer than the newest row of the whole
    table.
    """

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Merges only those changes of a batch that are newer than every row which the table had
        before the batch, deleted ones included. Every version is above that of an empty table, ().
        """
        versions = [state.version for state in chain.from_iterable(self.rows.values())]
        mark = max(versions, default=())
        Fold._fold_events(self, [event for event in events if event.state.version > mark])


class FirstRow(Fold):
    """A wrong pipeline: of a message with several rows it reads only the first (`data[0]`)."""

    def _events(self, record: Record, change: Change) -> Iterator[KeyEvent]:
        """The key events of a row change if it is the first of its message; none for a later
        one.
        """
        if change is _row_changes(record.written.changes)[0]:
            yield from Fold._events(self, record, change)


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
    "as-it-is": AsItIs,
    "deleted-inserted": DeletedInserted,
    "high-water": HighWater,
    "first-row": FirstRow,
}
"""The wrong pipelines (`Fold`) by the names of their habits."""


def fold(stream: ReadStream, kind: type[Fold] = Fold) -> PipelineResult:
    """Folds the messages of a stream into a table with this kind of pipeline, and returns the
    judge's result on that table.
    """
    name = stream.recipe.format if stream.recipe else ""
    group = Group.of_streams(get(name), (stream,))
    keeper = kind(group)
    snapshots = []
    for number, records in enumerate(batches(group)):
        try:
            keeper.add(records)
        except MergeRefusedError as error:
            ended = PipelineResult(name, stream.profile.name, stream.nemesis.name)
            ended.differ("one-per-batch", f"the query ended in batch {number}: {error}")
            return ended
        snapshots.append(keeper.snapshot())
    return judge(name, stream, snapshots, OwnTypes())
