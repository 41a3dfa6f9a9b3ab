"""Keepers of tables that are wrong on purpose, over right changes. Each falls into one trap that
streams set.

No decoder runs. A keeper merges the changes that the messages owe, in micro-batches, as
`spark_checks.keepers` does in Spark; two of these mistakes are tried there, too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.judging.perfect import row_of_change
from conformance.rules.order import Order, base_of, order_of
from conformance.rules.tables import TableFile, check_fields, naming_place, read_package_toml
from conformance.streams.kept import KeptTables
from conformance.streams.recipes import Group, ReadStream
from generators.drawing.streams import START_MS
from generators.garbage.nemesis import STAGES, is_removed
from generators.model import Change, Kind, Op, SchemaChange, Written

Version: TypeAlias = tuple[int, ...]
"""What orders the changes of a key: the numbers of the position, or the commit time."""
Texts: TypeAlias = Mapping[str, str | None]
"""The values of a row as texts, by column."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """A mistake of a keeper of tables. `convicts` is the last part of the id of the stream rule
    that must catch it. `also` is that of a second such rule, in formats whose records have
    timestamps in the order of commits. `needs` is what a format must have for the mistake to show
    (`conformance.rules.order.Order.has`).
    """

    name: str
    convicts: str
    why: str
    needs: str = ""
    also: str = ""

    def rules(self, fmt: str) -> tuple[str, ...]:
        """The names of the stream rules that must catch this mistake of a keeper (code that keeps
        tables from a stream of changes) in a format: `convicts`, and `also` if there is such a rule
        and the timestamps of the format's records are in the order of the commits.
        """
        if self.also and order_of(fmt).stamps_in_order:
            return (self.convicts, self.also)
        return (self.convicts,)


def _read_mistakes() -> Iterator[Keeping]:
    """The mistakes of keepers (code that keeps tables from a stream of changes) from the table
    `mistakes` of keeping.toml, in its order.
    """
    file = TableFile(*read_package_toml(__package__, "keeping"), {"mistakes": dict})
    for place, name, table in file.entries("mistakes"):
        with naming_place(f"{place}: {name}"):
            texts = check_fields(
                table, dict.fromkeys(("convicts", "also", "needs", "why"), str), ("convicts", "why")
            )
            values = {field_name: words.strip() for field_name, words in texts.items()}
            yield Keeping(name, **values)


KEEPING: Final = {mistake.name: mistake for mistake in _read_mistakes()}
"""The mistakes of keepers (code that keeps tables from a stream of changes), by name; those below
are the ones that the code of a keeper asks for.
"""
BATCH_LOST: Final = KEEPING["batch-lost-on-restart"]
APPLIED_TWICE: Final = KEEPING["applied-twice"]
ORDERED_BY_TIMESTAMP: Final = KEEPING["ordered-by-ts"]
ORDERED_BY_COMMIT: Final = KEEPING["ordered-by-commit"]
POSITION_AS_TEXT: Final = KEEPING["position-as-text"]
POSITION_ROUNDED: Final = KEEPING["position-rounded"]
LAST_ARRIVAL_WINS: Final = KEEPING["last-arrival-wins"]
LATE_ROWS_APPLIED: Final = KEEPING["late-rows-applied"]
WATERMARK_LOWERED: Final = KEEPING["late-watermark-believed"]
ROWS_BEFORE_SCHEMA_DROPPED: Final = KEEPING["rows-before-schema-dropped"]
CORRUPT_SWALLOWED: Final = KEEPING["corrupt-swallowed"]
UNKNOWN_ROWS_DROPPED: Final = KEEPING["unknown-rows-not-updated"]
OLD_KEY_LEFT: Final = KEEPING["old-key-left"]


def mistakes_of(fmt: str) -> tuple[Keeping, ...]:
    """The mistakes of keepers (code that keeps tables from a stream of changes) that can show in a
    format, because it has what they need.
    """
    order = order_of(fmt)
    return tuple(mistake for mistake in KEEPING.values() if order.has(mistake.needs))


@dataclass(frozen=True, slots=True)
class Record:
    """A message as a keeper (code that keeps tables from streams of changes) reads it: with its
    stream, the lane (a number of the partition among those of all streams), the offset, and the
    record's timestamp in milliseconds (`stamp`).
    """

    lane: int
    offset: int
    stamp: int
    written: Written
    stream: ReadStream


def batches(group: Group) -> list[list[Record]]:
    """The messages of all streams of a group as records, one list for each stage of the streams,
    which a keeper reads as a micro-batch. A removed message (of a compacted topic) has no record,
    but takes up an offset.
    """
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
    """The newest state of one key in a kept table. Of several changes the newest has the highest
    `version`, and of those with equal versions the highest `tie`. `image` is the row, None for a
    deleted one, whose state stays as a tombstone. `whole` says that the change was no UPDATE, so
    that the image has a value for every column. `lane` numbers the stream's partition that the
    change came from.
    """

    version: Version
    tie: Version
    image: Texts | None
    whole: bool
    lane: int


TableName: TypeAlias = tuple[str | None, str | None]
"""Database and table."""
Key: TypeAlias = tuple[str | None, ...]
"""The values of a row's key columns."""
RowKey: TypeAlias = tuple[TableName, Key]
"""A row of all tables: its table, and the values of its key columns."""
WaitingRow: TypeAlias = tuple[Record, Change]
"""A row change whose schema has not come yet, with its message."""


class KeyEvent(NamedTuple):
    """What a change does to one key: the key gets this state."""

    key: RowKey
    state: KeptRow


@dataclass(slots=True)
class Keeper:
    """Keeps the tables of a group's streams, right but for one mistake.

    `rows` has one state of each key, several only if the mistake applies changes twice; `waiting`
    the rows that came before their schema; `schemas` the key columns by table and schema version;
    `cleared` the newest TRUNCATE or DROP TABLE of each table, `dropped` the newest DROP COLUMN of
    each column; `marks` the watermark of each lane; `unreadable` the lanes and offsets of
    unreadable messages; `progress` the number of messages read of each lane, and the last one's
    offset.
    """

    group: Group
    mistake: Keeping | None = None
    rows: dict[RowKey, list[KeptRow]] = field(default_factory=dict)
    waiting: list[WaitingRow] = field(default_factory=list)
    schemas: dict[tuple[TableName, str | None], tuple[str, ...]] = field(default_factory=dict)
    cleared: dict[TableName, Version] = field(default_factory=dict)
    dropped: dict[tuple[TableName, str], Version] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)
    unreadable: set[tuple[int, int]] = field(default_factory=set)
    progress: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def order(self) -> Order:
        """How the format orders changes."""
        return order_of(self.group.fmt.name)

    def add(self, records: Iterable[Record]) -> None:
        """Reads a micro-batch. While it reads, it notes what is no row (TRUNCATE is none, too), and
        drops late rows: those below the watermark that their lane (a partition of any stream) had
        before the batch; the mistake LATE_ROWS_APPLIED keeps them. Then it merges the other rows,
        together with the `waiting` ones of earlier batches, whose schema may have come by now. Last
        it applies TRUNCATE and DROP.
        """
        marks_before, row_changes = dict(self.marks), self.waiting
        self.waiting = []
        for record in records:
            messages_read, _ = self.progress.get(record.lane, (0, 0))
            self.progress[record.lane] = messages_read + 1, record.offset
            for change in record.written.changes:
                if change.kind is not Kind.ROW or change.op is Op.TRUNCATE:
                    self._take_control(record, change)
                    continue
                # A lane without a watermark counts as at -1, so that no row is late.
                is_late = self._version(record, change) < (marks_before.get(record.lane, -1),)
                if not is_late or self.mistake is LATE_ROWS_APPLIED:
                    row_changes.append((record, change))
        events: list[KeyEvent] = []
        for record, change in row_changes:
            events += self._events(record, change)
        self._fold_events(events)
        self._apply_statements()

    def _version(self, record: Record, change: Change) -> Version:
        """The value by which a change is ordered among the changes of its key: the numbers in its
        position, or its commit time; with some mistakes another one.
        """
        if self.mistake is ORDERED_BY_TIMESTAMP:
            return (record.stamp,)
        if self.order.arrival:
            return (0,)
        if self.mistake is POSITION_AS_TEXT and change.position is not None:
            return tuple(map(ord, change.position))
        positions = () if self.mistake is ORDERED_BY_COMMIT else self.order.positions
        for pattern, groups in positions:
            match = re.search(pattern, change.position or "")
            if match:
                numbers = [int(match[number], base_of(pattern)) for number in groups]
                if self.mistake is POSITION_ROUNDED:
                    numbers = [int(float(number)) for number in numbers]
                return tuple(numbers)
        return (-1 if change.commit_time_us is None else change.commit_time_us,)

    def _take_control(self, record: Record, change: Change) -> None:
        """Notes what a message says that is no row: that it is unreadable, a watermark, a schema,
        or a statement such as TRUNCATE.
        """
        table, version = (change.database, change.table), self._version(record, change)
        match change.kind:
            case Kind.CORRUPT if self.mistake is not CORRUPT_SWALLOWED:
                self.unreadable.add((record.lane, record.offset))
            case Kind.WATERMARK if self.order.watermarks and change.position is not None:
                lower = -1 if self.mistake is WATERMARK_LOWERED else self.marks.get(record.lane, -1)
                self.marks[record.lane] = max(lower, int(change.position))
            case Kind.BOOTSTRAP | Kind.DDL | Kind.ROW:
                if self.order.keys == "schema" and change.keys:
                    self.schemas.setdefault((table, change.schema_version), change.keys)
                self._note_statement(record, table, version)

    def _note_statement(self, record: Record, table: TableName, version: Version) -> None:
        """Notes when a TRUNCATE, DROP TABLE or DROP COLUMN took effect, so that it is applied to
        older rows at the end of the batch. A statement before which the table was not there, or is
        not known, is passed over. A `table` without a name means the table of the record's event.
        """
        event = record.stream.story.history.events[record.written.message.event]
        if not isinstance(event, SchemaChange) or event.before is None:
            return
        database, table_name = table
        table = (database, table_name or event.table)
        if event.action in ("truncate table", "drop table"):
            self.cleared[table] = max(version, self.cleared.get(table, ()))
        if event.action == "drop column" and event.after is not None:
            columns_after = {column.name for column in event.after.columns}
            for column in event.before.columns:
                if column.name not in columns_after:
                    place = (table, column.name)
                    self.dropped[place] = max(version, self.dropped.get(place, ()))

    def _key_columns(self, record: Record, change: Change) -> Sequence[str] | None:
        """The key columns of a row's table, from where `order.keys` says for the format: a schema
        message, the change itself, or the table's definition. None if the row's schema has not come
        yet; the row then goes to `waiting`, or is lost by ROWS_BEFORE_SCHEMA_DROPPED.
        """
        match self.order.keys:
            case "schema":
                table = (change.database, change.table)
                keys = self.schemas.get((table, change.schema_version))
                if keys is None and self.mistake is not ROWS_BEFORE_SCHEMA_DROPPED:
                    self.waiting.append((record, change))
                return keys
            case "table":
                return change.keys or record.stream.story.table.handle_key
        return change.keys

    def _events(self, record: Record, change: Change) -> Iterator[KeyEvent]:
        """What a row change does to keys: an upsert or a delete of one key. An UPDATE that changes
        the key does both: a delete (the half 0) of the old key, which the mistake OLD_KEY_LEFT
        leaves out, and an upsert (the half 1) of the new one. Nothing while the key columns are not
        known.
        """
        columns = self._key_columns(record, change)
        if not columns:
            return
        before, after = self._images(change)
        old_key: Key | None = None
        if before is not None:
            # A before image may have changed columns alone.
            complete_before = {**(after or {}), **before}
            old_key = tuple(complete_before.get(column) for column in columns)
        new_key = None if after is None else tuple(after.get(column) for column in columns)
        moved = change.op is Op.UPDATE and old_key is not None and old_key != new_key
        if old_key is not None and (
            change.op is Op.DELETE or (moved and self.mistake is not OLD_KEY_LEFT)
        ):
            yield self._event(record, change, old_key, 0, None)
        if new_key is not None and change.op is not Op.DELETE:
            yield self._event(record, change, new_key, 1, after)

    def _event(
        self, record: Record, change: Change, key: Key, half: int, image: Texts | None
    ) -> KeyEvent:
        """What a row change does to one key. An UPDATE of the key does two things in order
        (`half`): 0, the delete of the old key, and 1, the upsert of the new one; a DELETE is a 0,
        any other change a 1. `image` is the row, None for a delete.
        """
        table = (change.database, change.table)
        first = int(change.op is not Op.DELETE) if self.order.deletes_first else 0
        tie = (first, record.offset, change.row, half)
        is_complete = half == 0 or change.op is not Op.UPDATE
        state = KeptRow(self._version(record, change), tie, image, is_complete, record.lane)
        return KeyEvent((table, key), state)

    def _images(self, change: Change) -> tuple[Texts | None, Texts | None]:
        """The texts of the row before and after a change, by column, each None if the change has no
        such image.
        """
        output_row = row_of_change(change, 1)
        return output_row.before, output_row.after

    def _newness(self, state: KeptRow) -> tuple[Any, ...]:
        """The sort key by which the newest of several states of one row is found: the newest has
        the highest.
        """
        if self.mistake is LAST_ARRIVAL_WINS:
            _, offset, row_number, _ = state.tie
            return (offset, row_number)
        return (state.version, state.tie)

    def _fold_events(self, events: list[KeyEvent]) -> None:
        """Merges the events of a batch into the tables: of each key the newest state stays, unless
        the keeper's mistake has it otherwise.
        """
        if self.mistake is OLD_KEY_LEFT:
            events = _without_deletes_of_moves(events)
        if self.mistake is UNKNOWN_ROWS_DROPPED:
            known_keys = set(self.rows)
            known_keys.update(
                event.key for event in events if event.state.whole and event.state.image is not None
            )
            events = [event for event in events if event.key in known_keys]
        for key, state in sorted(events, key=lambda event: self._newness(event.state)):
            states = self.rows.get(key, [])
            if self.mistake is APPLIED_TWICE:
                live_rows = [live_state for live_state in states if live_state.image is not None]
                self.rows[key] = [state] if state.image is None else [*live_rows, state]
            elif not states or self._newness(states[0]) < self._newness(state):
                self.rows[key] = [self._overlay(states[0] if states else None, state)]

    def _overlay(self, old: KeptRow | None, new: KeptRow) -> KeptRow:
        """The new state of a key. If its change is an UPDATE, the old state's cells stand in place
        of placeholders for values that were not sent.
        """
        if old is None or old.image is None or new.image is None or new.whole:
            return new
        placeholders = self.order.placeholders
        image = {
            name: old.image.get(name, value) if value in placeholders else value
            for name, value in new.image.items()
        }
        return replace(new, image=image)

    def _apply_statements(self) -> None:
        """Applies each TRUNCATE, DROP TABLE and DROP COLUMN noted so far to the rows that are older
        than it, and forgets deleted rows that are older than the watermark of their lane.
        """
        for key, states in list(self.rows.items()):
            table, _ = key
            states_after = [self._after_statements(table, state) for state in states]
            self.rows[key] = [state for state in states_after if state is not None]
            if not self.rows[key]:
                del self.rows[key]

    def _after_statements(self, table: TableName, state: KeptRow) -> KeptRow | None:
        """The state of a row after the TRUNCATE, DROP TABLE and DROP COLUMN on its table that are
        newer than its version. None if it is then a tombstone below the watermark of its lane (the
        partition that its last change came from): no older change can come there any more, so it is
        forgotten.
        """
        image: Texts | None = None
        if state.image is not None and not state.version < self.cleared.get(table, ()):
            image = {
                column: value
                for column, value in state.image.items()
                if not state.version < self.dropped.get((table, column), ())
            }
        if image is None and state.version < (self.marks.get(state.lane, -1),):
            return None
        return replace(state, image=image)

    def tables(self) -> KeptTables:
        """The kept tables in the form in which the judge of streams reads them."""
        rows_of_tables: dict[str, list[tuple[tuple[str, ...], Texts]]] = defaultdict(list)
        for ((_, table), key), states in self.rows.items():
            key_texts = tuple(map(str, key))
            for state in states:
                if state.image is not None:
                    rows_of_tables[table or ""].append((key_texts, state.image))
        return KeptTables(
            dict(rows_of_tables), frozenset(self.unreadable), self.progress, self.marks
        )


def _without_deletes_of_moves(events: list[KeyEvent]) -> list[KeyEvent]:
    """The events without the deletes that belong to an UPDATE of a key: they have the version of an
    upsert of the same table. Some formats send such an UPDATE as two changes.
    """
    upserts = {_table_and_version(event) for event in events if event.state.image is not None}
    return [
        event
        for event in events
        if event.state.image is not None or _table_and_version(event) not in upserts
    ]


def _table_and_version(event: KeyEvent) -> tuple[TableName, Version]:
    """What a delete must share with an upsert to be one half of an UPDATE of the key: the table,
    and the version that orders the change.
    """
    table, _ = event.key
    return table, event.state.version


def keep_tables(group: Group, mistake: Keeping | None = None) -> KeptTables:
    """The tables of a group after all stages, kept with a mistake, or rightly without one. With the
    mistake BATCH_LOST a crash loses the second batch.
    """
    keeper = Keeper(group, mistake)
    for number, records in enumerate(batches(group)):
        if mistake is not BATCH_LOST or number != 1:
            keeper.add(records)
    return keeper.tables()
