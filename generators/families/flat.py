"""Formats with one JSON object for each row change of a MySQL table, written from a table of its
members.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.connect import Raw, string
from generators.families.mysql_texts import TextForms, cell
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
    Message,
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
"""What a member holds, from the event and the row's change, whose `row` numbers the rows of the
event: a value for `json`, `Raw` text, or ABSENT, which leaves it out.
"""
Members = Sequence[tuple[str, Member]]
ABSENT: Final = object()

WIDE: Final = "a JSON number of more than 38 digits has no Spark type"
UNTOLD: Final = "the message does not tell what the row was"
NULL_UNTOLD: Final = "the column was NULL, and the message leaves NULL out"


def _nothing(_event: RowChange) -> Mapping[str, Any]:
    return {}


def _unchanged_cell(wire_cell: Cell, _value: Value) -> Cell:
    return wire_cell


def _none(_event: Event) -> Iterable[tuple[str, Change]]:
    return ()


@dataclass(frozen=True, slots=True)
class Flat:
    """How a format writes INSERT, UPDATE and DELETE.

    `members` stand in the order of the wire; `forms` spell values, those of `numbers` as JSON
    numbers, and `spell` gives the cell of a value that the format has otherwise. `keyed`: a message
    tells database, table and, if true, the key's columns; `tells` are more fields of `Change` that
    it tells, beside op, images and the commit time, which is whole in units of `unit` milliseconds.
    `whole_old`: the before image of an UPDATE has every column, not what changed alone; `tells_old`
    says of the row before and after an UPDATE whether the message tells the one before; `nulls`
    False leaves NULLs out. `reads`: the format writes rows of a snapshot, too. `position` is that
    of a row, by its number in the event; `key` is the record's key; `whole` writes a row's message
    in place of `members`; `others` are the messages of other events, with their changes.
    """

    members: Members
    forms: TextForms
    keyed: bool | None = None
    tells: Callable[[RowChange], Mapping[str, Any]] = _nothing
    unit: int = 1
    numbers: frozenset[Logical] = frozenset()
    whole_old: bool = False
    tells_old: Callable[[Image, Image], bool] = lambda _before, _after: True
    spell: Callable[[Cell, Value], Cell] = _unchanged_cell
    nulls: bool = True
    reads: bool = False
    position: Callable[[RowChange, int], str | None] | None = None
    key: Member | None = None
    whole: Callable[[RowChange, Change], str] | None = None
    others: Callable[[Event], Iterable[tuple[str, Change]]] = _none

    def write(self, history: History, layout: Layout) -> list[Written]:
        """The messages of a history in order: one for each row, and those of other events."""
        written = []
        ops = (Op.INSERT, Op.UPDATE, Op.DELETE, *((Op.READ,) if self.reads else ()))
        for number, event in enumerate(history.events):
            records: Iterable[tuple[str | None, str, Change]]
            if isinstance(event, RowChange):
                records = self._rows(event) if event.op in ops else ()
            else:
                records = (
                    (None, value_json, expected) for value_json, expected in self.others(event)
                )
            for key, value_json, expected in records:
                coded = None if key is None else key.encode()
                message = Message(
                    layout.topic,
                    0,
                    coded,
                    value_json.encode(),
                    timestamp_ms=event.at.ms,
                    event=number,
                )
                written.append(Written(message, (replace(expected, row=0),)))
        return written

    def _rows(self, event: RowChange) -> Iterable[tuple[str | None, str, Change]]:
        for row_number, images in enumerate(event.rows):
            before, after = (
                self.image(event.table, side) for side in (images.before, images.after)
            )
            expected = replace(self._change(event, before, after), row=row_number)
            if self.position is not None:
                expected = replace(expected, position=self.position(event, row_number))
            value_json = (
                self.whole(event, expected)
                if self.whole
                else json_text(held_members(self.members, event, expected))
            )
            yield (
                None if self.key is None else json_text(self.key(event, expected)),
                value_json,
                expected,
            )

    def _change(self, event: RowChange, before: Image | None, after: Image | None) -> Change:
        sent_image, full = before, before
        if before and after and not self.whole_old:
            sent_image = {
                n: cell if cell != after[n] else Cell(State.ABSENT, cell.type)
                for n, cell in before.items()
            }
            if not self.nulls:
                full = {
                    n: _leave_open(c, NULL_UNTOLD) if c.state is State.NULL and c != after[n] else c
                    for n, c in before.items()
                }
        if before and after and not self.tells_old(before, after):
            sent_image = full = {n: _leave_open(c, UNTOLD) for n, c in before.items()}
        micros = event.at.ms // self.unit * self.unit * 1000
        doubtful = any(
            c.state is State.ANY or is_wide(c)
            for side in (before, after)
            for c in (side or {}).values()
        )
        accept = (
            ((Kind.CORRUPT, None),)
            if doubtful
            else ((Kind.ROW, Op.INSERT),)
            if event.op is Op.READ
            else ()
        )
        return Change(
            0,
            Kind.ROW,
            event.op,
            commit_time_us=micros,
            before=self._sent(sent_image),
            after=self._sent(after),
            full_before=full,
            full_after=after,
            accept=accept,
            **self.names(event.table),
            **self.tells(event),
        )

    def names(self, table: Table) -> dict[str, Any]:
        """What a message tells of the table."""
        if self.keyed is None:
            return {}
        return {
            "database": table.database,
            "table": table.name,
            "keys": (self.keyed and table.primary_key) or None,
        }

    def _sent(self, image: Image | None) -> Image | None:
        """What stands on the wire of an image."""
        if image is None or self.nulls:
            return image
        return {
            n: Cell(State.ABSENT, c.type) if c.state is State.NULL else c for n, c in image.items()
        }

    def image(self, table: Table, source_row: Row | None) -> Image | None:
        """A row as it stands on the wire, its numbers as JSON: a number leaves no doubt that its
        text leaves.
        """
        if source_row is None:
            return None
        image = {}
        for column in table.columns:
            value = source_row.get(column.name)
            wire_cell = cell(column.type, value, self.forms)
            wire_cell = wire_cell if value is None else self.spell(wire_cell, value)
            is_number = (
                column.type.logical in self.numbers
                and wire_cell.state in (State.VALUE, State.ONE_OF)
                and not wire_cell.json
            )
            image[column.name] = _number(wire_cell) if is_number else wire_cell
        return image

    def left(self, type: SourceType, value: Value) -> Value:
        """What a message holds of a value."""
        return (self.image(Table("", "", (Column("c", type),)), {"c": value}) or {})["c"].value


def writer(flat: Callable[[P], Flat]) -> Writer[P]:
    """The writer of a format's profiles."""

    def write(history: History, profile: P, layout: Layout) -> list[Written]:
        return flat(profile).write(history, layout)

    return write


def key_scenarios(
    database: str, columns: tuple[Column, ...], key: tuple[str, ...], key_row: Row
) -> Iterator[Scenario]:
    """A table whose key has several columns, not in the table's order, and one without a key."""
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
    """Whether it is a JSON number that no Spark type holds."""
    return cell.json and cell.type.logical is Logical.DECIMAL and (cell.type.precision or 0) > 38


def _leave_open(cell: Cell, reason: str) -> Cell:
    return Cell(State.ANY, cell.type, reason=reason)


def _number(cell: Cell) -> Cell:
    # MySQL's text of a number may begin with zeros, which JSON has not.
    number_text = str(cell.value) if isinstance(cell.value, int) else cell.text
    return replace(cell, state=State.VALUE, text=number_text, options=(), reason="", json=True)


def held_members(members: Members, event: RowChange, change: Change) -> Mapping[str, Any]:
    """What the members hold that are there."""
    return {
        name: value
        for name, value_of in members
        if (value := value_of(event, change)) is not ABSENT
    }


def json_text(value: object, spell: Callable[[str], str] = string) -> str:
    """JSON without blanks, its texts as `spell` has them: as Jackson escapes them in UTF-8."""
    match value:
        case Raw():
            return value.text
        case str():
            return spell(value)
        case dict():
            return (
                "{"
                + ",".join(
                    f"{spell(name)}:{json_text(member, spell)}" for name, member in value.items()
                )
                + "}"
            )
        case list() | tuple():
            return f"[{','.join(json_text(item, spell) for item in value)}]"
    return json.dumps(value)


def cells_of_image(which: Callable[[Change], Image | None]) -> Member:
    """An object of the columns that an image has, without an image ABSENT."""

    def member(_event: RowChange, change: Change) -> Any:
        image = which(change)
        if image is None or all(cell.reason == UNTOLD for cell in image.values()):
            return ABSENT
        present_cells = {
            name: cell for name, cell in image.items() if cell.state is not State.ABSENT
        }
        return {
            name: Raw(cell.text or "") if cell.json else cell.text
            for name, cell in present_cells.items()
        }

    return member


ROW: Final = cells_of_image(lambda change: change.before if change.after is None else change.after)
"""The row after the change, of a DELETE the deleted one."""
OLD: Final = cells_of_image(lambda change: change.before if change.op is Op.UPDATE else None)
"""What an UPDATE's row was."""
