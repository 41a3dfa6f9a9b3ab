"""Formats with one JSON object for each row change of a MySQL table, written from a table of its members."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.connect import Raw
from generators.families.mysql_texts import TextForms, image
from generators.model import Cell, Change, History, Image, Kind, Layout, Logical, Message, Op, RowChange, State, Written

Member = Callable[[RowChange, Change], Any]
"""What a member holds, from the event and the row's change: a value for `json`, `Raw` text, or ABSENT, which leaves it out."""
ABSENT: Final = object()


def _nothing(_event: RowChange) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Flat:
    """How a format writes INSERT, UPDATE and DELETE.

    `members` stand in the order of the wire; `forms` spell values, those of `numbers` as JSON numbers. `tells` are fields of
    `Change` that a message tells, beside op, images and the commit time, which is whole in units of `unit` milliseconds.
    `whole_old`: the before image of an UPDATE has every column, not what changed alone.
    """

    members: Sequence[tuple[str, Member]]
    forms: TextForms
    tells: Callable[[RowChange], Mapping[str, Any]] = _nothing
    unit: int = 1
    numbers: frozenset[Logical] = frozenset()
    whole_old: bool = False

    def write(self, history: History, layout: Layout) -> list[Written]:
        """The messages of a history's row changes, one for each row, in order."""
        written = []
        for number, event in enumerate(history.events):
            if isinstance(event, RowChange) and event.op in (Op.INSERT, Op.UPDATE, Op.DELETE):
                for row in event.rows:
                    before, after = (image(event.table, side, self.forms) for side in (row.before, row.after))
                    change = self._change(event, self._numbered(before), self._numbered(after))
                    value = self._text(event, change).encode()
                    message = Message(layout.topic, 0, None, value, timestamp_ms=event.at.ms, event=number)
                    written.append(Written(message, (change,)))
        return written

    def _change(self, event: RowChange, before: Image | None, after: Image | None) -> Change:
        sent = before
        if before and after and not self.whole_old:
            sent = {n: cell if cell != after[n] else Cell(State.ABSENT, cell.type) for n, cell in before.items()}
        micros = event.at.ms // self.unit * self.unit * 1000
        told = self.tells(event)
        return Change(0, Kind.ROW, event.op, commit_time_us=micros, before=sent, after=after, full_before=before, **told)

    def _numbered(self, row: Image | None) -> Image | None:
        """The image with cells of `numbers` as JSON; a number leaves no doubt that its text leaves."""
        if row is None or not self.numbers:
            return row
        return {n: _number(c) if c.type.logical in self.numbers and c.text is not None else c for n, c in row.items()}

    def _text(self, event: RowChange, change: Change) -> str:
        members = ((name, held) for name, of in self.members if (held := of(event, change)) is not ABSENT)
        return _object({name: held.text if isinstance(held, Raw) else _json(held) for name, held in members})


def _number(cell: Cell) -> Cell:
    # MySQL's text of a number may begin with zeros, which JSON has not.
    text = str(cell.value) if isinstance(cell.value, int) else cell.text
    return replace(cell, state=State.VALUE, text=text, options=(), reason="", json=True)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{_json(name)}:{text}" for name, text in members.items()) + "}"


def cells(which: Callable[[Change], Image | None]) -> Member:
    """An object of the columns that an image has, without an image ABSENT."""

    def member(_event: RowChange, change: Change) -> Any:
        row = which(change)
        if row is None:
            return ABSENT
        there = {name: cell for name, cell in row.items() if cell.state is not State.ABSENT}
        return Raw(_object({name: cell.text or "" if cell.json else _json(cell.text) for name, cell in there.items()}))

    return member


ROW: Final = cells(lambda change: change.before if change.after is None else change.after)
"""The row after the change, of a DELETE the deleted one."""
OLD: Final = cells(lambda change: change.before if change.op is Op.UPDATE else None)
"""What an UPDATE's row was."""
