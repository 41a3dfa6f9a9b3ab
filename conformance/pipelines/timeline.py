"""What each row of a source's table was, change by change: the versions that a table kept from the
messages may show, and the message that told each of them.

Versions come from the history and from what the writer's messages owe, never from decoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from generators.drawing.streams import Key, Streamed
from generators.garbage.nemesis import Stages, is_removed
from generators.model import (
    SIDES,
    Cell,
    Change,
    Image,
    Kind,
    Op,
    Row,
    RowChange,
    SchemaChange,
    State,
    Table,
    Written,
)

PLACEHOLDER = "__debezium_unavailable_value"
"""Debezium's text in place of a value that did not change and was not sent."""


@dataclass(frozen=True, slots=True)
class Version:
    """A row of the source as one event left it: its cells in `image`, None if the row was not there
    any more. `cause` says what the event was, such as UPDATE; `event` is its number in the history.
    """

    event: int
    cause: str
    image: Image | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message where a reader finds it: its stage, its number among all messages of its stream,
    its partition and offset. `repeated`: an equal message was there before.
    """

    stage: int
    number: int
    partition: int
    offset: int
    written: Written
    repeated: bool

    @property
    def name(self) -> str:
        """The message in words for a difference: its number in the stream, and its partition and
        offset.
        """
        again = ", a repeat" if self.repeated else ""
        return f"message {self.number}{again}: partition {self.partition}, offset {self.offset}"


def arrivals_of(stages: Stages) -> list[Arrival]:
    """All messages of a stream as a reader finds them, in order of arrival, each with stage,
    number, partition and offset. Removed messages only take up an offset.
    """
    arrivals: list[Arrival] = []
    ends: dict[int, int] = {}
    known: set[object] = set()
    number = 0
    for stage, messages in enumerate(stages):
        for written in messages:
            message = written.message
            offset = ends.get(message.partition, 0)
            ends[message.partition] = offset + 1
            if is_removed(message):
                continue
            number += 1
            content = (message.partition, message.key, message.value, message.event)
            arrivals.append(
                Arrival(stage, number, message.partition, offset, written, content in known)
            )
            known.add(content)
    return arrivals


def timelines_of(story: Streamed, *, compacted: bool = False) -> dict[Key, list[Version]]:
    """The versions of each row that the source's table ever had, by the row's key, the oldest
    first: what a pipeline's table is compared with. `story` is the stream that was published.

    A row change without a message leaves the version before it. A placeholder in a message stands
    for a value that was not sent: the row keeps the value that it had, which may be lost if the
    topic was `compacted`.
    """
    names = story.table.primary_key
    # What the messages carry: the images after each event, by the event's number and the row's key.
    owed = _owed_images(story.written, names)
    versions: dict[Key, list[Version]] = {}
    for number, event in enumerate(story.history.events):
        match event:
            case RowChange():
                for images in event.rows:
                    _change_row(
                        versions,
                        number,
                        event.op,
                        _key_of(images.before, names),
                        _key_of(images.after, names),
                        owed.get(number, {}),
                        compacted,
                    )
            case SchemaChange():
                _state_change(versions, number, event)
    return versions


def _owed_images(written: Iterable[Written], names: tuple[str, ...]) -> dict[int, dict[Key, Image]]:
    """For each event (by its number in the history) the typed row images after the change that its
    messages carry, by primary key.
    """
    owed: dict[int, dict[Key, Image]] = {}
    for message in written:
        for change in message.changes:
            image = typed_image(change)
            if change.kind is Kind.ROW and image is not None and image.keys() >= set(names):
                key = tuple(image[name].value for name in names)
                owed.setdefault(message.message.event, {})[key] = image
    return owed


def typed_image(change: Change) -> Image | None:
    """The image after a change that a decoder owes at level two (typed rows); None if the change
    has none.
    """
    return change.image("after", 2)


def _key_of(row: Row | None, names: tuple[str, ...]) -> Key | None:
    """The primary key of a row of the source; None if there is no row."""
    return None if row is None else tuple(row[name] for name in names)


def _change_row(
    versions: dict[Key, list[Version]],
    number: int,
    op: Op,
    before: Key | None,
    after: Key | None,
    owed: Mapping[Key, Image],
    compacted: bool,
) -> None:
    """Appends to `versions` what one row of the event `number` became: a removal at its key
    `before` if it was deleted or got another key; and at its key `after` the image that the
    messages carry (`owed`, by key), or the old image if no message has one.
    """
    old = _last_image(versions, before)
    if before is not None and before != after:
        cause = "DELETE" if after is None else f"an UPDATE of its key to {key_text(after)}"
        versions.setdefault(before, []).append(Version(number, cause, None))
    if after is None:
        return
    sent = owed.get(after)
    image: Image = old or {}
    if sent is not None:
        image = {name: _fill_placeholder(name, cell, old, compacted) for name, cell in sent.items()}
    versions.setdefault(after, []).append(Version(number, op.value, image))


def _fill_placeholder(name: str, cell: Cell, old: Image | None, compacted: bool) -> Cell:
    """The cell that a table must show: the one in the message, or the row's cell before it where
    the message has only a placeholder for a value that was not sent. If the topic was compacted,
    any value is right there.
    """
    unsent = cell.state is not State.NULL and PLACEHOLDER in (cell.text or "")
    if not unsent or old is None or name not in old:
        return cell
    if compacted:
        return Cell(State.ANY, cell.type, reason="compaction may have removed the value")
    return old[name]


def _state_change(versions: dict[Key, list[Version]], number: int, event: SchemaChange) -> None:
    """Appends to `versions` what a statement makes of each row that is there: a removal for
    TRUNCATE or DROP TABLE, else the row with the changed columns.
    """
    present = [key for key in versions if _last_image(versions, key) is not None]
    cause = event.sql.partition("(")[0].strip()[:80]
    if event.action in ("truncate table", "drop table"):
        for key in present:
            versions[key].append(Version(number, cause, None))
    elif event.before is not None and event.after is not None:
        for key in present:
            image = _alter_image(versions[key][-1].image or {}, event.before, event.after)
            versions[key].append(Version(number, cause, image))


def _alter_image(image: Image, before: Table, after: Table) -> Image:
    """The image of a row after a statement changed its table: without the columns that were
    dropped, and with NULL in those that were added.
    """
    names = {column.name for column in before.columns}
    remaining = {column.name for column in after.columns}
    old_cells = {name: cell for name, cell in image.items() if name in remaining}
    added = {c.name: Cell(State.NULL, c.type) for c in after.columns if c.name not in names}
    return {**old_cells, **added}


def _last_image(versions: Mapping[Key, list[Version]], key: Key | None) -> Image | None:
    """The image of the row at a key after the last version so far; None if the row is not there."""
    known = versions.get(key) if key is not None else None
    return known[-1].image if known else None


def key_text(key: Key) -> str:
    """A primary key in words for a difference: its one value, or (a, b) for several."""
    return str(key[0]) if len(key) == 1 else f"({', '.join(map(str, key))})"


class RowPlace(NamedTuple):
    """Which of the rows of a message a row is, from 1 on, and how many rows the message has."""

    number: int
    rows: int


@dataclass(frozen=True, slots=True)
class Reader:
    """The messages of a stream as a reader finds them (`arrivals`), and what they tell of the
    source's rows.
    """

    story: Streamed
    arrivals: tuple[Arrival, ...]

    def first_of(self, event: int, key: Key | None = None) -> Arrival | None:
        """The first readable message of an event, with `key` the first that has an image of that
        row; None if there is none.
        """
        return next(self.messages_of(event, key), None)

    def messages_of(self, event: int, key: Key | None = None) -> Iterator[Arrival]:
        """The readable messages of one event (by its number), in order of arrival; with a `key`,
        only those that have an image of that row.
        """
        for arrival in self.arrivals:
            written = arrival.written
            if written.message.event != event or is_spoiled(written):
                continue
            if key is None or has_image_of(written, key, self.story.table.primary_key):
                yield arrival

    def first_stage(self, event: int, key: Key) -> int | None:
        """The stage in which the first message of an event about the row came, or else any message
        of the event; None if it has no message.
        """
        first = self.first_of(event, key) or self.first_of(event)
        return None if first is None else first.stage

    def came_late(self, event: int, key: Key) -> bool:
        """Whether the first message of an event about a row came in a later stage than the change
        of a newer event.
        """
        first = self.first_of(event, key) or self.first_of(event)
        if first is None:
            return False
        return any(
            arrival.stage < first.stage and arrival.written.message.event > event
            for arrival in self.arrivals
            if isinstance(self._event_of(arrival), RowChange)
        )

    def place_in_message(self, event: int, key: Key) -> RowPlace | None:
        """Where a row is in the first message of an event about it; None if none has an image of
        it.
        """
        first = self.first_of(event, key)
        if first is None:
            return None
        row_changes = [change for change in first.written.changes if change.kind is Kind.ROW]
        names = self.story.table.primary_key
        number = next(
            n for n, change in enumerate(row_changes, 1) if _is_of_key(change, key, names)
        )
        return RowPlace(number, len(row_changes))

    def _event_of(self, arrival: Arrival) -> object:
        """The event of the source's history that a message is of."""
        return self.story.history.events[arrival.written.message.event]

    def name(self, version: Version, key: Key) -> str:
        """A version of the row with this key in words for a difference: its cause, its position in
        the order of changes, and its first message.
        """
        first = self.first_of(version.event, key) or self.first_of(version.event)
        if first is None:
            return version.cause
        change = next((c for c in first.written.changes if c.position), None)
        at = f" at {change.position}" if change is not None else ""
        return f"{version.cause}{at} ({first.name})"


def is_spoiled(written: Written) -> bool:
    """Whether a message is unreadable for any decoder, which owes a CORRUPT change for it."""
    return any(change.kind is Kind.CORRUPT for change in written.changes)


def has_image_of(written: Written, key: Key, names: tuple[str, ...]) -> bool:
    """Whether a message has a before or after image of the row with this primary key."""
    row_changes = (change for change in written.changes if change.kind is Kind.ROW)
    return any(_is_of_key(change, key, names) for change in row_changes)


def _is_of_key(change: Change, key: Key, names: tuple[str, ...]) -> bool:
    """Whether a row change has an image, of typed values, of the row whose columns `names` have the
    values of this key.
    """
    for side in SIDES:
        image = change.image(side, 2)
        if not image or not image.keys() >= set(names):
            continue
        if tuple(image[name].value for name in names) == key:
            return True
    return False


def doubtful_keys(story: Streamed) -> set[Key]:
    """The primary keys of rows that have a message which a decoder may rightly report as
    unreadable: what the table shows of them is not judged.
    """
    names = story.table.primary_key
    doubtful: set[Key] = set()
    for written in story.written:
        for change in written.changes:
            if (Kind.CORRUPT, None) not in change.accept:
                continue
            for side in SIDES:
                image = change.image(side, 1)
                if image and image.keys() >= set(names):
                    doubtful.add(tuple(image[name].value for name in names))
    return doubtful
