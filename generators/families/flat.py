"""Formats with one JSON object for each row change of a MySQL table, written from a table of its
members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.connect import print_as_jackson
from generators.families.mysql_texts import TextForms, cell
from generators.families.wire_messages import ABSENT, Raw, WireMessage, print_message
from generators.model import (
    Cell,
    Change,
    Column,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SourceType,
    State,
    Table,
    Value,
    Written,
)
from generators.profiles import P
from generators.sources.boundaries import change, insert, named, neutral
from generators.wire_format import Writer

Member = Callable[[RowChange, Change], Any]
"""Computes a member's value from the event and the expected change of one of its rows, whose number
is `change.row`: a value for `json`, `Raw` JSON text, or ABSENT.
"""
Members = Sequence[tuple[str, Member]]
"""The members of a JSON object in order, by name."""

WIDE: Final = "a JSON number of more than 38 digits has no Spark type"
"""Why a decoder may refuse a row: a number in it is too long."""
UNTOLD: Final = "the message does not tell what the row was"
"""Why the before image of an UPDATE may hold anything."""
NULL_UNTOLD: Final = "the column was NULL, and the message leaves NULL out"
"""Why the cell of a before image may hold anything."""


SEND_LAG_MS: Final = 1729
"""Milliseconds from a commit to the record's timestamp: the producer sets it when it sends
(maxwell#record-time), so that no commit time is read from it.
"""


def _no_fields(_event: RowChange) -> Mapping[str, Any]:
    """No further fields of `Change`: the default of `Flat.more_fields`."""
    return {}


def _unchanged_cell(wire_cell: Cell, _value: Value) -> Cell:
    """The cell as it is: the default of `Flat.respell`."""
    return wire_cell


def _no_messages(_event: Event) -> Iterable[WireMessage]:
    """No messages: the default of `Flat.write_other`."""
    return ()


@dataclass(frozen=True, slots=True)
class Flat:
    """How a format writes INSERT, UPDATE and DELETE: a message with one JSON object for each
    row.
    """

    members: Members
    forms: TextForms
    """How values are spelled as texts."""
    keyed: bool | None = None
    """What of the table a message names: None nothing, False the database and the table, True the
    columns of its key, too.
    """
    more_fields: Callable[[RowChange], Mapping[str, Any]] = _no_fields
    """Gives the fields of `Change` that a message has beside op, images, commit time and names."""
    time_unit_ms: int = 1
    """The commit time is cut to a multiple of so many milliseconds."""
    has_commit_time: Callable[[RowChange], bool] = lambda _event: True
    """Whether a row's message has the commit time."""
    numbers: frozenset[Logical] = frozenset()
    """Types whose values are JSON numbers."""
    complete_before: bool = False
    """The before image of an UPDATE has every column, not only those that changed."""
    has_before: Callable[[Image, Image], bool] = lambda _before, _after: True
    """Whether a message has the before image of an UPDATE, from its before and after image."""
    respell: Callable[[Cell, Value], Cell] = _unchanged_cell
    """Gives the cell in place of the one with MySQL's text, for a value that the format writes
    otherwise.
    """
    writes_nulls: bool = True
    """False: columns that are NULL are left out."""
    writes_snapshots: bool = False
    """Rows that a snapshot reads have messages, too."""
    position: Callable[[RowChange, int], str | None] | None = None
    """Gives the position of a row's message, from the event and the row's number in it; None for a
    format without positions.
    """
    key: Callable[[RowChange, Change], Mapping[str, Any]] | None = None
    """Gives the members of the record's key; None for records without a key."""
    members_of_row: Callable[[RowChange, Change], Mapping[str, Any]] | None = None
    """Gives the members of a row's message, if `members` cannot say them."""
    write_other: Callable[[Event], Iterable[WireMessage]] = _no_messages
    """Gives the messages of an event that is no row change."""

    def write(self, history: History, layout: Layout) -> list[Written]:
        """The messages of a history in order: one for each row of a row change, and those that
        `write_other` gives for other events.
        """
        written: list[Written] = []
        for number, event in enumerate(history.events):
            for message in self._messages(event):
                written += print_message(
                    message,
                    print_as_jackson,
                    layout,
                    event=number,
                    timestamp_ms=event.at.ms + SEND_LAG_MS,
                )
        return written

    def _messages(self, event: Event) -> Iterator[WireMessage]:
        """Yields the messages of an event: one for each row of an INSERT, UPDATE or DELETE, and of
        a snapshot if the format writes these; for events that are no row change, what `write_other`
        gives.
        """
        if not isinstance(event, RowChange):
            yield from self.write_other(event)
        elif event.op in (Op.INSERT, Op.UPDATE, Op.DELETE) or (
            event.op is Op.READ and self.writes_snapshots
        ):
            yield from self._row_messages(event)

    def _row_messages(self, event: RowChange) -> Iterator[WireMessage]:
        """The messages of a row change, one for each row. The members of a message's value come
        from `members_of_row` if the format gives it, else from `members`.
        """
        # The functions of the format (`position`, `members`, `key`) get the row's number within
        # the event: `change.row`.
        for row_number, images in enumerate(event.rows):
            before = self.image(event.table, images.before)
            after = self.image(event.table, images.after)
            change = replace(self._change(event, before, after), row=row_number)
            if self.position is not None:
                change = replace(change, position=self.position(event, row_number))
            if self.members_of_row is not None:
                value = self.members_of_row(event, change)
            else:
                value = values_of_members(self.members, event, change)
            key = None if self.key is None else self.key(event, change)
            # Each row has a message of its own, in which it is the first.
            yield WireMessage(value, (replace(change, row=0),), key)

    def _change(self, event: RowChange, before: Image | None, after: Image | None) -> Change:
        """The change that a decoder must return for the message of one row. `before` and `after`
        are the row's complete images, None where the operation has none. In the change, `before`
        and `after` are what the message has of them, `full_before` and `full_after` what a reader
        can complete. `accept` are the other kinds of rows that are right, too: CORRUPT if a cell
        is open or too wide for Spark (`_is_doubtful`).
        """
        sent_before, full_before = before, before
        # A message may leave out columns that did not change only in an UPDATE's before image.
        if before is not None and after is not None:
            sent_before, full_before = self._before_of_update(before, after)
        unit_us = self.time_unit_ms * 1000
        commit_time_us = event.at.ms * 1000 // unit_us * unit_us
        accept: tuple[tuple[Kind, Op | None], ...] = ()
        if _is_doubtful(before) or _is_doubtful(after):
            accept = ((Kind.CORRUPT, None),)
        elif event.op is Op.READ:
            # A decoder may call a row that a snapshot read an INSERT.
            accept = ((Kind.ROW, Op.INSERT),)
        return Change(
            0,
            Kind.ROW,
            event.op,
            commit_time_us=commit_time_us if self.has_commit_time(event) else None,
            before=self._sent_image(sent_before),
            after=self._sent_image(after),
            full_before=full_before,
            full_after=after,
            accept=accept,
            **self.names(event.table),
            **self.more_fields(event),
        )

    def _before_of_update(self, before: Image, after: Image) -> tuple[Image, Image]:
        """Two before images of an UPDATE, from its complete images: the one in the message, and the
        one that a reader can complete from the after image.

        A message without a before image tells nothing of the old row, so any cell is right
        (UNTOLD). A message that has the changed columns alone lacks the others (ABSENT), which a
        reader takes from the after image. If NULLs are left out, too, a changed column that was
        NULL looks like one that has not changed, so any value is right there (NULL_UNTOLD).
        """
        if not self.has_before(before, after):
            unknown = {name: _leave_open(cell, UNTOLD) for name, cell in before.items()}
            return unknown, unknown
        if self.complete_before:
            return before, before
        sent_before = {
            name: cell if cell != after[name] else Cell(State.ABSENT, cell.type)
            for name, cell in before.items()
        }
        if self.writes_nulls:
            return sent_before, before
        full_before = {
            name: _leave_open(cell, NULL_UNTOLD)
            if cell.state is State.NULL and cell != after[name]
            else cell
            for name, cell in before.items()
        }
        return sent_before, full_before

    def names(self, table: Table) -> dict[str, Any]:
        """The fields of `Change` that name the table, as far as the format's messages name it
        (`keyed`).
        """
        if self.keyed is None:
            return {}
        return {
            "database": table.database,
            "table": table.name,
            "keys": (self.keyed and table.primary_key) or None,
        }

    def _sent_image(self, image: Image | None) -> Image | None:
        """The image as the message has it: in formats that leave out NULLs, columns that are NULL
        are absent. None for no image.
        """
        if image is None or self.writes_nulls:
            return image
        return {
            name: Cell(State.ABSENT, cell.type) if cell.state is State.NULL else cell
            for name, cell in image.items()
        }

    def image(self, table: Table, source_row: Row | None) -> Image | None:
        """The cells of a row in this format; None without a row. A column that the row lacks is
        NULL. A cell has MySQL's text (`cell`), unless the format spells the value otherwise
        (`respell`) or writes the type as a JSON number (`numbers`). A JSON number has one value,
        where its text may have several (`State.ONE_OF`). `wire_cell.json` says that the cell is a
        JSON value already.
        """
        if source_row is None:
            return None
        image = {}
        for column in table.columns:
            value = source_row.get(column.name)
            wire_cell = cell(column.type, value, self.forms)
            if value is not None:
                wire_cell = self.respell(wire_cell, value)
            is_number = (
                column.type.logical in self.numbers
                and wire_cell.state in (State.VALUE, State.ONE_OF)
                and not wire_cell.json
            )
            image[column.name] = _number(wire_cell) if is_number else wire_cell
        return image

    def remaining_value(self, type: SourceType, value: Value) -> Value:
        """What a reader of a message gets of a value: another one if the format loses some of
        it.
        """
        table = Table("", "", (Column("c", type),))
        image = self.image(table, {"c": value})
        assert image is not None
        return image["c"].value


def _is_doubtful(image: Image | None) -> bool:
    """Whether a decoder may refuse a row because of one of the image's cells: it may hold anything,
    or a number too long for Spark.
    """
    cells = () if image is None else image.values()
    return any(cell.state is State.ANY or is_wide(cell) for cell in cells)


def writer(flat: Callable[[P], Flat]) -> Writer[P]:
    """The writer of a format: it writes each history as the Flat says that `flat` gives for the
    profile.
    """

    def write(history: History, profile: P, layout: Layout) -> list[Written]:
        return flat(profile).write(history, layout)

    return write


def key_scenarios(
    database: str, columns: tuple[Column, ...], key: tuple[str, ...], key_row: Row
) -> Iterator[Scenario]:
    """Two scenarios: rows of a table whose key has several columns, not in the table's order, and
    rows of a table without a key.
    """
    keyed = Table(database, neutral("keys/two"), columns, key)
    yield named(
        "keys/two",
        insert(keyed, key_row),
        change(keyed, Op.DELETE, (key_row, None)),
        tags={"keys:two"},
    )
    yield named(
        "keys/none",
        insert(Table(database, neutral("keys/none"), columns), key_row),
        tags={"keys:none"},
    )


def is_wide(cell: Cell) -> bool:
    """Whether the cell is written as a JSON number that no Spark type holds."""
    return cell.json and cell.type.logical is Logical.DECIMAL and (cell.type.precision or 0) > 38


def _leave_open(cell: Cell, reason: str) -> Cell:
    """The cell in whose place a decoder may return anything, and why."""
    return Cell(State.ANY, cell.type, reason=reason)


def _number(cell: Cell) -> Cell:
    """The cell with its text written as a JSON number."""
    # MySQL's text of a number may begin with zeros (ZEROFILL), which JSON does not allow.
    number_text = str(cell.value) if isinstance(cell.value, int) else cell.text
    return replace(cell, state=State.VALUE, text=number_text, options=(), reason="", json=True)


def values_of_members(members: Members, event: RowChange, change: Change) -> Mapping[str, Any]:
    """The values of the members of a row's message, by name in their order; ABSENT for a member
    that this row's message leaves out.
    """
    return {name: value_of(event, change) for name, value_of in members}


def cells_of_image(image_of: Callable[[Change], Image | None]) -> Member:
    """The function that gives a message's member with the cells of one of the change's images, by
    column: {"id":1,"a":"x"}. It gives ABSENT if there is no such image, or if the message does not
    tell it.
    """

    def member(_event: RowChange, change: Change) -> Any:
        """The cells of the image by column, without absent ones; ABSENT if there is no image, or if
        the message tells none of its cells (UNTOLD). A cell that is JSON goes out as it is, any
        other as a text.
        """
        image = image_of(change)
        if image is None or all(cell.reason == UNTOLD for cell in image.values()):
            return ABSENT
        return {
            name: Raw(cell.text or "") if cell.json else cell.text
            for name, cell in image.items()
            if cell.state is not State.ABSENT
        }

    return member


ROW: Final = cells_of_image(lambda change: change.before if change.after is None else change.after)
"""The member with the row after the change, in a DELETE the deleted row."""
OLD: Final = cells_of_image(lambda change: change.before if change.op is Op.UPDATE else None)
"""The member with the row before an UPDATE; ABSENT in other messages."""
