"""What an operator on a right decoder's rows is, and how one for cells becomes one for rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from generators.model import Case, Cell, Change, Logical, Message, Op, SourceType

Rows: TypeAlias = Sequence[OutputRow]
Image: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a decoder could know of a message: its case, the changes in it, the rows of the message
    that it read before, and the message itself.

    `changes` are those that the level has rows of.
    """

    case: Case
    changes: tuple[Change, ...]
    before: Rows = ()
    message: Message | None = None

    @property
    def text(self) -> str:
        """The message's value, a character for each byte; "" for none."""
        return ((self.message and self.message.value) or b"").decode("latin-1")

    def cells(self, row: OutputRow, side: str) -> Mapping[str, Cell]:
        """The owed cells of a row's image: an operator reads their types alone."""
        change = next((change for change in self.changes if change.row == row.row), None)
        return (change.image(side, self.case.level) if change else None) or {}


Alter: TypeAlias = Callable[[Rows, Seen], Rows]


@dataclass(frozen=True, slots=True)
class Operator:
    """A fault: `alter` makes a wrong decoder's rows of a right decoder's rows of one message; equal
    rows mean that the fault does not apply.

    `apt` are globs of the rules, without their format, that name the fault; another rule misleads.
    `logicals` are the types of the cells that it changes, () for rows as a whole.
    """

    name: str
    apt: tuple[str, ...]
    alter: Alter
    logicals: tuple[Logical, ...] = ()
    levels: tuple[int, ...] = (1, 2)

    def names(self, rule: str) -> bool:
        """Whether the rule names the fault."""
        return any(fnmatchcase(rule, glob) for glob in self.apt)


ImageChange: TypeAlias = Callable[[Image, Mapping[str, Cell], Seen], Image]
"""Another image for one, by the cells that it owes and what could be known of the message."""
CellChange: TypeAlias = Callable[[SourceType, Any], Any]
"""Another text (level one) or value (level two) for a value of a type; None for NULL, the same for
no change.
"""


def on_cells(change: CellChange, logicals: tuple[Logical, ...]) -> Alter:
    """Changes every value of these types, in both images."""

    def alter(image: Image, cells: Mapping[str, Cell], _seen: Seen) -> Image:
        changed = dict(_changed(image, cells))
        return {**image, **changed} if changed else image

    def _changed(image: Image, cells: Mapping[str, Cell]) -> Iterator[tuple[str, Any]]:
        for column, cell in cells.items():
            held = image.get(column)
            if held is not None and cell.type.logical in logicals:
                other = _other(cell.type, held)
                if repr(other) != repr(held):
                    yield column, other

    def _other(type: SourceType, held: Any) -> Any:
        if not isinstance(held, Typed):
            return change(type, held)
        other = change(type, held.value)
        return other if other is None or isinstance(other, Typed) else Typed(held.family, other)

    return on_images(alter)


def with_image(row: OutputRow, side: str, image: Image | None) -> OutputRow:
    """The row with another image on that side."""
    return replace(row, before=image) if side == "before" else replace(row, after=image)


def on_images(change: ImageChange) -> Alter:
    """Changes each image by itself; the very same one is no change."""

    def alter_row(row: OutputRow, seen: Seen) -> OutputRow:
        for side in ("before", "after"):
            image: Image | None = getattr(row, side)
            if (
                image is not None
                and (other := change(image, seen.cells(row, side), seen)) is not image
            ):
                row = with_image(row, side, other)
        return row

    return lambda rows, seen: [alter_row(row, seen) for row in rows]


def of_update(
    side: str, change: Callable[[Image, Image, OutputRow], Image]
) -> Callable[[OutputRow], OutputRow]:
    """Another image on that side of an UPDATE that has both, made of its before and after image."""

    def alter_row(row: OutputRow) -> OutputRow:
        if row.op != Op.UPDATE.value or row.before is None or row.after is None:
            return row
        return with_image(row, side, change(row.before, row.after, row))

    return alter_row


def changed(image: Image, other: Image) -> Image:
    """What of an image the other has not, or with another value."""
    return {
        name: held
        for name, held in image.items()
        if name not in other or repr(other[name]) != repr(held)
    }


def of_field(
    name: str, change: Callable[[Any, OutputRow], Any]
) -> Callable[[OutputRow], OutputRow]:
    """Another value of a field, unless it is NULL or empty."""

    def alter_row(row: OutputRow) -> OutputRow:
        held = row.fields.get(name)
        return replace(row, fields={**row.fields, name: change(held, row)}) if held else row

    return alter_row


def on_rows(change: Callable[[OutputRow], OutputRow | None]) -> Alter:
    """Changes each row by itself; None drops it."""
    return lambda rows, _seen: [other for row in rows if (other := change(row)) is not None]
