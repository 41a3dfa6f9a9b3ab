"""Tables of history (SCD type 2), kept rightly, and wrongly on purpose, from right changes and
without Spark.

A fold keeps each version of a row with the interval in which it was current;
`conformance.pipelines` judges these as it judges a user's history. The table itself has the
versions that are still open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, TypeAlias

from conformance.pipelines.histories import KeptVersion
from conformance.pipelines.snapshots import Snapshot
from conformance.selftest.folds import Fold, TypedValues, read_habits
from conformance.selftest.keeping import KeptRow, KeyEvent, Record, RowKey, TableName, Version
from generators.model import SchemaChange

Place: TypeAlias = tuple[Any, ...]
"""What orders the changes of one row: the version (position or commit time), and what decides
between changes of one version.
"""


def _place(state: KeptRow) -> Place:
    """What orders a change among those of its row."""
    return (state.version, state.tie)


@dataclass(frozen=True, slots=True)
class Span:
    """A version of a row, with the interval in which it was current, from `start` to `end`; `end`
    is None for the current version.
    """

    state: KeptRow
    start: Place
    end: Place | None


@dataclass(slots=True)
class HistoryFold(Fold):
    """A right pipeline that keeps a table of history: of each row every version, which is current
    from its change to the next one in the order of the source. Subclasses are wrong pipelines, each
    with one mistake.

    `states_of_keys` has the changes of each key by what orders them; `clears` the versions of
    statements that emptied a table (TRUNCATE, DROP TABLE).
    """

    states_of_keys: dict[RowKey, dict[Place, KeptRow]] = field(default_factory=dict)
    clears: dict[TableName, set[Version]] = field(default_factory=dict)

    def _note_statement(self, record: Record, table: TableName, version: Version) -> None:
        """Notes the statement, and for the history the version of one that clears its table."""
        Fold._note_statement(self, record, table, version)
        event = record.stream.story.history.events[record.written.message.event]
        if isinstance(event, SchemaChange) and event.action in ("truncate table", "drop table"):
            database, table_name = table
            self.clears.setdefault((database, table_name or event.table), set()).add(version)

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Keeps every change of the batch for the history, and folds the batch into the table."""
        for key, state in events:
            self.states_of_keys.setdefault(key, {})[_place(state)] = state
        Fold._fold_events(self, events)

    def spans(self, key: RowKey) -> list[Span]:
        """The versions in the history of the row with this key."""
        return self._spans_of_changes(key, self._changes(key))

    def _spans_of_changes(self, key: RowKey, changes: list[KeptRow]) -> list[Span]:
        """The versions in a row's history, from its changes in order. Where an UPDATE did not send
        a value, the version has that of the version before.
        """
        completed: list[KeptRow] = []
        for state in self._with_clears(key, changes):
            completed.append(self._overlay(completed[-1] if completed else None, state))
        return spans_between(completed)

    def _changes(self, key: RowKey) -> list[KeptRow]:
        """The changes of a row, oldest first."""
        return sorted(self.states_of_keys[key].values(), key=_place)

    def _with_clears(self, key: RowKey, changes: list[KeptRow]) -> list[KeptRow]:
        """The changes of a row, in order, with a delete inserted for each TRUNCATE or DROP TABLE
        that came after one of them.
        """
        table, _ = key
        for cleared in sorted(self.clears.get(table, ())):
            older = [number for number, state in enumerate(changes) if state.version < cleared]
            if older:
                delete = KeptRow(cleared, tie=(-1,), image=None, whole=True, lane=0)
                changes.insert(older[-1] + 1, delete)
        return changes

    def _image(self, key: RowKey, state: KeptRow) -> TypedValues:
        """The row that a version shows; columns that a later DROP COLUMN removed are NULL."""
        table, _ = key
        return {
            name.lower(): None if state.version < self.dropped.get((table, name), ()) else value
            for name, value in (state.image or {}).items()
        }

    def snapshot(self) -> Snapshot:
        """The history in the form in which the judge reads a user's: every version of every row
        with the interval in which it was current. The rows of the table are the versions that have
        no end. Nothing is said of unreadable messages (None).
        """
        history: list[KeptVersion] = []
        for key in self.states_of_keys:
            for span in self.spans(key):
                image = self._image(key, span.state)
                history.append(KeptVersion(image, span.start, span.end))
        table = self.group.streams[0].story.table
        columns = frozenset(column.name.lower() for column in table.columns)
        current_rows = tuple(version.row for version in history if version.end is None)
        return Snapshot(columns, current_rows, None, tuple(history))


def spans_between(changes: list[KeptRow]) -> list[Span]:
    """The versions that a row's changes, in order, make: each lasts until the next change, the last
    one has no end; a deletion makes none.
    """
    spans = [Span(old, _place(old), _place(new)) for old, new in pairwise(changes)]
    spans += [Span(state, _place(state), None) for state in changes[-1:]]
    return [span for span in spans if span.state.image is not None]


class ArrivalHistory(HistoryFold):
    """A wrong history: it orders changes by arrival, so that a change which comes late counts as
    the newest.
    """

    def _changes(self, key: RowKey) -> list[KeptRow]:
        """The changes of a row in the order of arrival."""
        return list(self.states_of_keys[key].values())


class LateOpenHistory(HistoryFold):
    """A wrong history: it inserts a change that comes late as a version without an end, as WHEN NOT
    MATCHED THEN INSERT does.
    """

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Keeps the changes of a batch as a right history does, but in the order of the source:
        only a change that is older than one of an earlier batch is late.
        """
        HistoryFold._fold_events(self, sorted(events, key=lambda event: _place(event.state)))

    def spans(self, key: RowKey) -> list[Span]:
        """The versions of the row's changes that arrived in order, with a version without end for
        each change that arrived late.
        """
        in_order: list[KeptRow] = []
        late: list[KeptRow] = []
        for state in self.states_of_keys[key].values():
            is_late = bool(in_order) and _place(state) < _place(in_order[-1])
            (late if is_late else in_order).append(state)
        return [
            *self._spans_of_changes(key, in_order),
            *(Span(state, _place(state), None) for state in late if state.image is not None),
        ]


class DeletesIgnoredHistory(HistoryFold):
    """A wrong history: a DELETE ends no version."""

    def _changes(self, key: RowKey) -> list[KeptRow]:
        """The changes of a row without its deletes, oldest first."""
        changes = HistoryFold._changes(self, key)
        return [state for state in changes if state.image is not None]


class NewestOfBatchHistory(HistoryFold):
    """A wrong history: of each key it keeps only the newest change of a batch, so that the versions
    in between are lost.
    """

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Keeps of each key only the newest change of the batch, in the history too."""
        ordered = sorted(events, key=lambda event: _place(event.state))
        newest = {event.key: event for event in ordered}
        HistoryFold._fold_events(self, list(newest.values()))


class ClosedBeforeHistory(HistoryFold):
    """A wrong history: each version ends a moment before the next one begins, as a query with
    BETWEEN needs it.
    """

    def spans(self, key: RowKey) -> list[Span]:
        """The right versions of the row, but each ends a moment before the next begins."""
        return [
            Span(span.state, span.start, None if span.end is None else _before(span.end))
            for span in HistoryFold.spans(self, key)
        ]


class NotClosedHistory(HistoryFold):
    """A wrong history: an UPDATE opens a new version and does not close the one before, so that all
    versions of a row end when the row does.
    """

    def spans(self, key: RowKey) -> list[Span]:
        """The right versions of the row, but all of them end where the last one ends."""
        spans = HistoryFold.spans(self, key)
        return [Span(span.state, span.start, spans[-1].end) for span in spans]


def _before(place: Place) -> Place:
    """A place in the order of changes just before the given one."""
    version, tie = place
    return (version, (*tie[:-1], tie[-1] - 0.5))


HISTORIES: Final[Mapping[str, type[HistoryFold]]] = {
    "arrival": ArrivalHistory,
    "late-open": LateOpenHistory,
    "deletes-ignored": DeletesIgnoredHistory,
    "newest-of-batch": NewestOfBatchHistory,
    "closed-before": ClosedBeforeHistory,
    "not-closed": NotClosedHistory,
}
"""The wrong histories by the names of their habits."""


HISTORY_HABITS: Final = {habit.name: habit for habit in read_habits("histories")}
"""The habits of wrong histories, each with the rule that must catch it, by name."""
